/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/* Who belongs to no process of the target any more is let go. */
#ifndef WHATIF_LEAVING_H
#define WHATIF_LEAVING_H

SEC("iter/task")
int leave_threads(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct thread *t;

	if (!task) { /* those were all */
		forget_goroutines(0);
		return 0;
	}
	if (process_of(task))
		return 0;
	t = bpf_task_storage_get(&threads, task, 0, 0);
	if (!t)
		return 0;
	/* Nobody else tells that the wait of one that sleeps is over; who goes to sleep just now begins none. */
	*(volatile u32 *)&t->leaving = 1;
	end_wait(this_core(), t, bpf_ktime_get_ns(), WAIT_UNKNOWN);
	bpf_task_storage_delete(&threads, task);
	return 0;
}

#endif
