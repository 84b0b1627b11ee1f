/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/* Progress points: counting their visits. */
#ifndef WHATIF_POINTS_H
#define WHATIF_POINTS_H

/*
 * A thread of the target visits a point, n times at once, and is delayed by cost
 * through its being counted. That is booked like any other delay, so what counting
 * costs does not show in the program's virtual time.
 */
static __always_inline void visit(struct thread *t, u64 point, u64 n, u64 cost)
{
	u64 now, at, had, bin;

	if (point >= MAX_POINTS)
		return;
	__sync_fetch_and_add(&visits[point], n);
	now = bpf_ktime_get_ns();
	if (!under_way(now))
		return;
	adopt(t);
	earn(t, now);
	/* Stamped with the thread's virtual time since the start. */
	at = now - control.start;
	had = t->account.level - control.global_start;
	bin = (at > had ? at - had : 0) >> control.bin_shift;
	if (bin < MAX_BINS)
		__sync_fetch_and_add(&bins[control.epoch & 1][point][bin], n);
	give(t, cost);
}

/* The cookie of a probe is its point, and which of the two costs it has. */
SEC("uprobe")
int on_point(struct pt_regs *ctx)
{
	struct thread *t = thread_of(bpf_get_current_task_btf());
	u64 cookie = bpf_get_attach_cookie(ctx);

	if (t)
		visit(t, cookie & 0xffffffff, 1, control.probe_cost[cookie >> 32 & 1]);
	return 0;
}

#endif
