/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/*
 * Holding those that sleep by the clock. A timer's thread that wakes up for some
 * microseconds, hands out work and sleeps again is met by no tick, so it never
 * paid: it ran ahead of virtual time by all of G, and what it handed out came
 * earlier and more often than it should have, to a worker that had it already and
 * need not wait for it. So it pays when it comes back from its sleep, before it does
 * anything.
 *
 * It pays by keeping its core, and only while nobody else wants that: who waits
 * for the core would be delayed for what is not his. What is left it owes; what it begins
 * meanwhile and another ends is known to be too early (wait_for_begin).
 */
#ifndef WHATIF_HOLD_H
#define WHATIF_HOLD_H

struct hold {
	struct task_struct *task;
	struct thread *thread;
	u64 begin;
	u64 end; /* at the latest */
	u64 level; /* at the beginning */
	u64 now;
	u64 debt;
	u64 looked; /* when it was so much: there may be many cores to look at */
};

static __always_inline void look(struct hold *h)
{
	h->looked = h->now;
	h->debt = account_debt(h->level + h->thread->lead, foreseen_global(h->now));
}

static long on_hold(u32 i, struct hold *h)
{
	h->now = bpf_ktime_get_ns();
	if (h->now >= h->looked + PASS_NS)
		look(h);
	return h->now >= h->end || h->debt <= h->now - h->begin ||
	       h->task->se.cfs_rq->rq->nr_running > 1;
}

static __always_inline void hold(struct core *c)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct thread *t = thread_of(task);
	struct hold h = { .task = task, .thread = t };
	u64 level;

	c->returns = 0;
	if (!t || !t->outside)
		return;
	t->outside = 0;
	if (!control.rate)
		return;
	/* It may be a goroutine that comes back, which has earned what the thread seems to owe. */
	if (t->hosts && waiting_now())
		return;
	h.begin = h.now = bpf_ktime_get_ns();
	if (!under_way(h.begin))
		return;
	adopt(t);
	h.level = t->account.level;
	foresee_nothing(c); /* for itself it need not wait */
	look(&h);
	if (!h.debt) {
		foresee(c, t, h.now);
		return;
	}
	h.end = lesser(h.begin + LONGEST_STOP * control.cap, control.deadline);
	/* Ticks leave it alone: it does nothing that could be faster, and pays already. */
	t->held = 1;
	bpf_loop(1 << 23, on_hold, &h, 0);
	t->held = 0;
	c->held += h.now - h.begin;
	if (under_way(h.now) && h.debt <= h.now - h.begin)
		advance(h.looked);
	level = account_paid(h.level, h.now - h.begin, control.global);
	if (level > t->account.level)
		t->account.level = level;
	t->credit.began += h.now - h.begin; /* it did not run */
	foresee(c, t, h.now);
}

/*
 * All that sleeps by the clock does so in a system call, and at its end the thread
 * has nothing of the kernel's that others may wait for. A call by a thread that was
 * not woken from outside pays for no more than the look at the core.
 */
SEC("tp_btf/sys_exit")
int BPF_PROG(on_sys_exit)
{
	struct core *c = this_core();

	if (c && c->returns)
		hold(c);
	return 0;
}

#endif
