/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/* What a thread waits at, by the system call that it is in. */
#ifndef WHATIF_RECORD_OBJECTS_H
#define WHATIF_RECORD_OBJECTS_H

#include "../code/mapping.h"
#include "../wake/calls.h"
#include "stack.h"

#define MODE_TYPE 0xf000
#define MODE_PIPE 0x1000
#define MODE_SOCKET 0xc000

static __always_inline void set_object(struct record *r, enum record_object kind, u64 object)
{
	r->object_kind = kind;
	r->object = object;
}

/*
 * A file by its descriptor. Pipes and sockets have numbers of their own. All files without a name
 * (epoll, eventfd, timerfd) have the same number: they are told apart by where the kernel has them,
 * which must not become known.
 */
static __always_inline void set_file(struct record *r, struct task_struct *task, u32 descriptor)
{
	struct files_struct *files = BPF_CORE_READ(task, files);
	struct file **all, *file = 0;
	struct inode *inode;
	u16 mode;

	if (!files || descriptor >= BPF_CORE_READ(files, fdt, max_fds))
		return;
	all = BPF_CORE_READ(files, fdt, fd);
	if (bpf_probe_read_kernel(&file, sizeof(file), all + descriptor) || !file)
		return;
	inode = BPF_CORE_READ(file, f_inode);
	mode = BPF_CORE_READ(inode, i_mode) & MODE_TYPE;
	if (mode == MODE_PIPE)
		set_object(r, OBJECT_PIPE, BPF_CORE_READ(inode, i_ino));
	else if (mode == MODE_SOCKET)
		set_object(r, OBJECT_SOCKET, BPF_CORE_READ(inode, i_ino));
	else if (mode)
		set_object(r, OBJECT_FILE, BPF_CORE_READ(inode, i_ino));
	else
		set_object(r, OBJECT_POLL, mix(control.secret, (u64)file));
}

/* A futex by its address, or by its place if several processes may have it. */
static __always_inline void set_futex(struct record *r, struct task_struct *task,
				      struct pt_regs *regs, bool current)
{
	u64 address = REGISTER_FIRST(regs);
	struct mapping m = { .address = address };

	set_object(r, OBJECT_FUTEX, address);
	if (REGISTER_SECOND(regs) & FUTEX_PRIVATE || !current)
		return;
	if (!bpf_find_vma(task, address, on_vma, &m, 0) && m.place.inode)
		set_object(r, OBJECT_SHARED_FUTEX,
			   mix(mix(m.place.inode, m.place.dev), m.place.offset));
}

/*
 * System V's message queues and sets of semaphores have numbers in a namespace. Each type of
 * message that is waited for is a queue of its own, and so is room for others; each semaphore is an
 * object.
 */
static __always_inline void set_ipc(struct record *r, struct task_struct *task,
				    enum record_object kind, u64 number, u64 which)
{
	u64 space = mix(control.secret, (u64)BPF_CORE_READ(task, nsproxy, ipc_ns));

	set_object(r, kind, mix(mix(mix(space, kind), number), which));
}
#define ROOM (~0ull)

/* Of a thread that is not the current one the semaphore is not known. */
static __always_inline void set_semaphore(struct record *r, struct task_struct *task,
					  struct pt_regs *regs, bool current)
{
	u16 number; /* the first field of struct sembuf */

	if (current &&
	    !bpf_probe_read_user(&number, sizeof(number), (void *)REGISTER_SECOND(regs)))
		set_ipc(r, task, OBJECT_SHARED_FUTEX, REGISTER_FIRST(regs), number);
}

/* What a thread waits at. Of a thread that is not the current one less is known. */
static __always_inline void set_waited_for(struct record *r, struct task_struct *task, bool current)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	u32 call = calling(task);

	r->extra = call;
	if (call == CALL_FUTEX)
		set_futex(r, task, regs, current);
	else if (call == CALL_WAIT4 || call == CALL_WAITID)
		set_object(r, OBJECT_PROCESS, task->tgid);
	else if (call == CALL_POLL || call == CALL_PPOLL || call == CALL_SELECT ||
		 call == CALL_PSELECT6)
		set_object(r, OBJECT_POLL_CALL, REGISTER_FIRST(regs));
	else if (call == CALL_MSGRCV)
		set_ipc(r, task, OBJECT_PIPE, REGISTER_FIRST(regs), REGISTER_FOURTH(regs));
	else if (call == CALL_MSGSND)
		set_ipc(r, task, OBJECT_PIPE, REGISTER_FIRST(regs), ROOM);
	else if (call == CALL_SEMOP || call == CALL_SEMTIMEDOP)
		set_semaphore(r, task, regs, current);
	else if (has_descriptor(call))
		set_file(r, task, REGISTER_FIRST(regs));
}

#endif
