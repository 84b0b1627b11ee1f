/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/* What the kernel knows of a task's process. */
#ifndef WHATIF_TASK_H
#define WHATIF_TASK_H

#include "../base/program.h"

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

/* Tasks that run no code of users. No hook tells that they are made. */
static __always_inline bool is_kernels(struct task_struct *task)
{
	return task->flags & (PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER);
}

/* The number that a task's process has in the namespace of process numbers of this depth. */
static __always_inline u32 number_in(u32 level, struct task_struct *task)
{
	struct task_struct *leader = untrusted(task)->group_leader;
	struct pid *pid;
	u32 number = 0, outermost = task->tgid;

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

#endif
