/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/* Blocking, waking, running. */
#ifndef WHATIF_SCHEDULING_H
#define WHATIF_SCHEDULING_H

/* The thread stops competing for the core, or has to wait for it. */
static __always_inline void spare(struct core *c, struct thread *t, u64 by, bool sleeps)
{
	t->spared += by;
	if (sleeps) {
		t->core = NO_CORE;
		c->spared = 0; /* those that are left will say */
	} else if (t->spared > c->spared) {
		c->spared = t->spared;
	}
}

/* Who begins to compete begins like the others, as the scheduler has it. */
static __always_inline void compete(struct core *c, struct thread *t)
{
	u32 id = bpf_get_smp_processor_id();

	if (t->core != id) {
		t->core = id;
		t->spared = c->spared;
	} else if (t->spared > c->spared) {
		c->spared = t->spared;
	}
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	struct core *c = this_core();
	struct thread *p, *n;
	u64 now, given;
	bool sleeps;

	if (!c)
		return 0;
	now = bpf_ktime_get_ns();
	/* A core in interrupts does not switch: mend a count gone wrong. */
	c->interrupts = 0;
	p = prev->pid ? thread_of(prev) : 0;
	n = next->pid ? thread_of(next) : 0;
	adopt_core(c);
	if (p) {
		adopt(p);
		sleeps = !preempt && prev->__state;
		if (sleeps) {
			/* It may be long until a tick meets the process again. */
			if (counting)
				read_counters(p, control.sampled ? READ_NOW : control.period / 4, AT_SWITCH);
			hand_over(p, place_of(prev, BY_SLEEPING), now);
		} else {
			earn(p, now);
			credit_pause(&p->credit, now);
		}
		p->account.since = now;
		p->running = 0;
		given = p->account.level > c->began ? p->account.level - c->began : 0;
		spare(c, p, given, sleeps);
		/*
		 * What the thread was given while it ran the core was given, too.
		 * The core does not take on the thread's position: one that is far
		 * ahead (it slept, and timers are not delayed) leaves a gap behind
		 * that others may fill.
		 */
		if (given)
			c->account.level = lesser(c->account.level + given, control.global);
	} else if (!prev->pid) {
		/* It stood idle: its position did not move. */
		c->account.level = account_waited(&c->account, now, control.global);
	} else {
		/* A foreign task takes its time in both worlds. */
		if (c->foreign_since)
			c->foreign += now - c->foreign_since;
	}
	if (n) {
		adopt(n);
		n->account.level = account_waited(&n->account, now, c->account.level);
		c->began = n->account.level;
		compete(c, n);
		n->credit.began = now;
		n->running = 1;
		c->returns = n->outside;
	} else if (!next->pid) {
		c->account.since = now;
	} else {
		c->foreign_since = now;
	}
	return 0;
}

SEC("tp_btf/sched_waking")
int BPF_PROG(on_waking, struct task_struct *task)
{
	struct core *c = this_core();
	struct thread *t, *waker;
	u64 now;

	if (!c)
		return 0;
	t = thread_of(task);
	if (!t)
		return 0;
	now = bpf_ktime_get_ns();
	adopt(t);
	waker = c->interrupts ? 0 : thread_of(bpf_get_current_task_btf());
	if (waker == t)
		return 0;
	if (waker) {
		t->outside = 0;
		adopt(waker);
		hand_over(waker, place_of(bpf_get_current_task_btf(), BY_WAKING), now);
		if (t->running)
			/* Caught on its way to sleep: it has not waited. */
			t->account.level = lesser(t->account.level, waker->account.level);
		else
			t->account.level = account_waited(&t->account, now, waker->account.level);
	} else {
		/*
		 * By a timer, a device or a stranger: what comes from outside
		 * keeps its distance, so the position moved with the clock.
		 */
		t->outside = 1;
	}
	t->account.since = now;
	return 0;
}

#endif
