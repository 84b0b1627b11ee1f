/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/* Lets threads go that belong to no process of the target any more. */
#ifndef WHATIF_LEAVING_H
#define WHATIF_LEAVING_H

#include "members.h"

/* Whether the process is to leave. A later process with its number is another one. */
static __always_inline bool is_to_leave(struct task_struct *task, const struct process *p)
{
	u32 number = number_of(task);
	struct choice *c = bpf_map_lookup_elem(&chosen, &number);

	return c && !p->exempt && c->leaves == p->first_space;
}

SEC("iter/task")
int leave_threads(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct process *p;
	struct thread *t;

	if (!task) { /* those were all */
		forget_goroutines(0);
		return 0;
	}
	p = process_of(task);
	if (p && !is_to_leave(task, p))
		return 0;
	/* It may be at its end just now: only one call removes it. */
	if (p && remove_process(task))
		one_process_less();
	t = bpf_task_storage_get(&threads, task, 0, 0);
	if (!t)
		return 0;
	/*
	 * No other code ends the wait of a sleeping thread; a thread that goes to sleep just now
	 * reads this last.
	 */
	*(volatile u32 *)&t->process.leaving = 1;
	end_wait(this_core(), t, bpf_ktime_get_ns(), WAIT_UNKNOWN);
	drop_deferred(t);
	bpf_task_storage_delete(&deferred_samples, task);
	bpf_task_storage_delete(&threads, task);
	return 0;
}

#endif
