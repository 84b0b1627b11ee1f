/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/* The processes of the target, and what user space is told about them. */
#ifndef WHATIF_PROCESSES_H
#define WHATIF_PROCESSES_H

#include "../base/page.h"

struct membership membership;

/* Live processes of the target, to know when the last one is gone, and exempt processes. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1 << 16);
	__type(key, u32);
	__type(value, struct process);
} processes SEC(".maps");

/* By process number in whatif's namespace. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1 << 16);
	__type(key, u32);
	__type(value, struct choice);
} chosen SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} events SEC(".maps");

static u64 spaces;     /* the last number given to an address space */
#define SPACE_KERNEL 0 /* for the kernel's own code */

/*
 * Reads through this pointer are not trusted. For each read through a trusted one the verifier
 * looks for up to four names among all kernel types, which was a quarter of the start-up time.
 * Since 6.2.
 */
static __always_inline struct task_struct *untrusted(struct task_struct *task)
{
	return bpf_rdonly_cast ? bpf_rdonly_cast(task, bpf_core_type_id_kernel(struct task_struct))
			       : task;
}

static __always_inline struct mm_struct *memory_of(struct task_struct *task)
{
	return untrusted(task)->mm;
}

static __always_inline struct process *process_of(struct task_struct *task)
{
	u32 tgid = task->tgid;

	return bpf_map_lookup_elem(&processes, &tgid);
}

/* Tasks that run no code of users. No hook tells that they are made. */
static __always_inline bool is_kernels(struct task_struct *task)
{
	return task->flags & (PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER);
}

/*
 * A number that changes once a second, about: something that is checked now and then is checked at
 * most once for each such number.
 */
static __always_inline u64 stamp_of(u64 number)
{
	return number << 32 | (u32)(bpf_ktime_get_ns() >> 30);
}

/* The number that user space has for a process. */
static __always_inline u32 number_of(struct task_struct *task)
{
	struct task_struct *leader = untrusted(task)->group_leader;
	struct pid *pid;
	u32 level = membership.level, number = 0, outermost = task->tgid;

	/* or one load serves both uses, and they are of two kinds of memory */
	barrier_var(outermost);
	if (!level)
		return outermost;
	pid = BPF_CORE_READ(leader, thread_pid);
	if (pid && level <= BPF_CORE_READ(pid, level))
		bpf_probe_read_kernel(&number, sizeof(number),
				      (void *)pid + bpf_core_field_offset(struct pid, numbers) +
					      level * bpf_core_type_size(struct upid) +
					      bpf_core_field_offset(struct upid, nr));
	return number;
}

/* Tells user space something about the current process. */
static __always_inline bool tell(u32 kind, u64 address, const struct place *place)
{
	struct event *e = bpf_ringbuf_reserve(&events, sizeof(*e), 0);

	if (!e) {
		lose(this_core(), LOSS_EVENT);
		return 0;
	}
	e->kind = kind;
	e->tgid = number_of(bpf_get_current_task_btf());
	e->address = address;
	if (place)
		e->place = *place;
	else
		__builtin_memset(&e->place, 0, sizeof(e->place));
	/* By itself the ring wakes only a reader who has read everything before. */
	bpf_ringbuf_submit(e, !control.patient				   ? 0
			      : kind == EVENT_PLACE || kind == EVENT_TABLE ? BPF_RB_NO_WAKEUP
									   : BPF_RB_FORCE_WAKEUP);
	return 1;
}

#endif
