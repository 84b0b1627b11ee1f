/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/* Going to sleep, waking, getting a core. */
#ifndef WHATIF_SCHEDULING_H
#define WHATIF_SCHEDULING_H

/*
 * Tasks outside the target have had the core since the target left it, and now a thread of the
 * target gets it. Outsiders that talk to the target have accounts of their own, and kernel threads
 * may work for anyone. The other tasks take their time in both worlds. But they come by the clock,
 * and so too often for virtual time: of what they took while a thread waited for the core, the
 * share that G has of the time is a delay like any other. While no thread waited the core was as
 * good as idle. The level may be above G after this, see settle_intrusion.
 */
__noinline int intrude(struct core *c, struct thread *t, u64 now)
{
	u64 begin, since, alone, took, grown, all;

	if (!c || !t || !c->intruded || !under_way(now))
		return 0;
	begin = c->away_since > control.start ? c->away_since : control.start;
	since = begin;
	if (!c->awaited && since < t->account.since)
		since = t->account.since;
	if (now <= since)
		since = now;
	alone = lesser(c->intruded, since - begin);
	took = lesser(c->intruded - alone, now - since);
	c->account.level = lesser(c->account.level + alone, control.global);
	grown = (control.global - control.global_start) >> 10;
	all = (now - control.start) >> 10;
	if (grown && grown <= all)
		c->account.level += took * grown / all;
	return 0;
}

/* G rises to what the thread has had of the intrusion; the core has had no more than G. */
static __always_inline void settle_intrusion(struct core *c, const struct thread *t)
{
	if (!c->intruded)
		return;
	raise_global(t->account.level);
	c->account.level = lesser(c->account.level, control.global);
}

/* The target leaves the core to other tasks; one of its threads may still want it. */
static __always_inline void leave_core(struct core *c, u64 now, bool awaited)
{
	c->away_since = now;
	c->awaited = awaited;
	c->intruded = 0;
}

/* The core has been idle all the time, if it was idle before. */
static __always_inline bool idles_on(struct core *c)
{
	if (!c->idle.since || c->idle.epoch != c->account.epoch)
		return 0;
	c->account = c->idle;
	return 1;
}

/*
 * The core was idle: its position stood still. G may have grown meanwhile by sped-up waiting, also
 * since any core last looked.
 */
__noinline int stood_idle(struct core *c, u64 now)
{
	if (!c)
		return 0;
	if (waiting_now())
		pass_waiting(now);
	c->account.level = account_waited(&c->account, now, control.global);
	return 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	struct core *c = this_core();
	struct thread *p, *n;
	u64 now, place;
	bool sleeps = 0;

	if (!c)
		return 0;
	now = bpf_ktime_get_ns();
	/* A core does not switch in an interrupt: correct a wrong count. */
	c->interrupts = c->source = 0;
	p = prev->pid ? thread_of(prev) : 0;
	n = next->pid ? thread_of(next) : 0;
	adopt_core(c);
	if (!c->left)
		c->left = now;
	if (p) {
		c->kept_until = now;
		runs(c, p, now);
		sleeps = !preempt && prev->__state;
		if (sleeps) {
			/* It may be long until a tick meets the process again. */
			if (counting)
				read_counters(p, control.sampled ? READ_NOW : control.asked / 4, AT_SWITCH);
			place = place_of(prev, BY_SLEEPING);
			sleeps_after_nap(p, place == p->credit.from && looks(p, now));
			waits_on(c, p, place, now);
			hand_over(p, place, now);
			p->free = 0;
			begin_wait(ctx, c, p, prev, place, now);
		} else {
			earn(p, now);
			credit_pause(&p->credit, now);
			p->sleepless = 1;
		}
		p->account.since = now;
		p->running = 0;
		show_level(c, p, 0);
		if (sleeps && p->again)
			c->level = 0;
		spare(c, p, sleeps);
		if (!sleeps || !p->again || !idles_on(c))
			c->idle.since = 0;
		else if (next->pid)
			stood_idle(c, now);
	} else if (!prev->pid) {
		c->idle = c->account;
		stood_idle(c, now);
	} else {
		/*
		 * An outsider that has left meanwhile starts at 0. What it ran has no variable: the
		 * stack would be too large for Linux 6.1.
		 */
		if (!c->foreign_since)
			c->foreign_since = now;
		if (!is_kernels(prev))
			c->kept_until = now;
		if (stranger_stops(prev, now))
			c->dealt += now - c->foreign_since;
		else if (!is_kernels(prev))
			c->intruded += now - c->foreign_since;
		c->foreign_since = c->idle.since = 0;
		intrude(c, n, now);
	}
	foresee_nothing_here();
	if (n) {
		adopt(n);
		c->foreign_since = 0; /* of a thread that has joined meanwhile */
		/* It was woken while it went to sleep. */
		if (n->wait.since)
			forget_wait(c, n, now);
		get_core(c, n, now);
		if (c->away_since) {
			settle_intrusion(c, n);
			leave_core(c, 0, 0);
		}
		begin_turn(c, n, now);
		if (!n->free)
			n->free = now - n->account.level;
		c->returns = n->hold;
		if (control.holds)
			c->outlook.advanced = 0; /* that was the previous thread's */
		foresee(c, n, now);
	} else if (!next->pid) {
		if (!c->idle.since)
			c->account.since = now;
		leave_core(c, 0, 0);
	} else {
		stranger_runs(next, now, c->account.level, !prev->pid);
		c->foreign_since = now;
		if (!c->away_since)
			leave_core(c, now, p && !sleeps);
	}
	return 0;
}

/* A thread of the target, or an outsider that talks to it, wakes an outsider. */
static __always_inline void wake_stranger(struct core *c, struct task_struct *task)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct thread *waker;
	struct stranger *s, *other;
	u64 now, asked;

	if (c->interrupts) {
		/* An interrupt wakes it: its position moved with the clock. */
		s = stranger_of(task);
		if (s) {
			s->account.since = bpf_ktime_get_ns();
			s->timed = (c->source & 15) == FROM_TIMER;
		}
		return;
	}
	waker = thread_of(current);
	other = waker ? 0 : stranger_of(current);
	if (!waker && !other) {
		s = stranger_of(task);
		if (s)
			s->timed = 0;
		return;
	}
	/* For outsiders, a kernel thread is like an interrupt. */
	if (other && is_kernel_thread(current) && !is_kernel_thread(task))
		return;
	s = meet_stranger(task);
	if (!s || s == other)
		return;
	now = bpf_ktime_get_ns();
	asked = asked_at(&s->account, s->lead, s->timed && !s->running && !is_kernels(task), calling(task));
	s->timed = 0;
	if (waker) {
		go_on(c, waker);
		wakes_after_nap(waker, now);
		hand_over_to(c, waker, asked, s->account.since, now);
		stranger_wakes(s, now, waker->account.level, debt_of(waker, waker->account.level));
	} else {
		stranger_wakes(s, now, other->account.level, account_debt(other->account.level + other->lead, control.global));
	}
}

/* Whether and why a thread that is woken from outside the target is delayed before it returns. */
static __always_inline u32 hold_after(struct thread *t, struct task_struct *task)
{
	if (t->timed && waits_for_futex(task)) {
		__sync_fetch_and_add(&control.timeouts, 1);
		if (control.expired)
			return HOLD_EXPIRED;
	}
	return pays_after_sleep(t) ? HOLD_SLEEPER : HOLD_NOT;
}

SEC("tp_btf/sched_waking")
int BPF_PROG(on_waking, struct task_struct *task)
{
	struct core *c = this_core();
	struct thread *t, *waker;
	struct stranger *s;
	u64 now, level, before, due, asked, waited;

	if (!c)
		return 0;
	t = thread_of(task);
	if (!t) {
		wake_stranger(c, task);
		return 0;
	}
	now = bpf_ktime_get_ns();
	adopt(t);
	waker = c->interrupts ? 0 : thread_of(bpf_get_current_task_btf());
	if (waker == t)
		return 0;
	c->wakes++;
	before = t->account.level;
	asked = asked_at(&t->account, t->lead, t->timed && !t->running && !t->hosts && !t->stands, calling(task));
	waited = t->account.since;
	if (t->hosts && !t->running)
		rest(t, now);
	due = end_wait(c, t, now, t->wait.since ? class_of_wake(c, task, waker) : WAIT_UNKNOWN);
	s = c->interrupts || waker ? 0 : meet_stranger(bpf_get_current_task_btf());
	if (waker || s)
		stood_until_now(t);
	else if ((c->source & 15) != FROM_TIMER) {
		stands_no_more(t); /* a packet is something to work on */
	} else if (due) {
		t->stands = 0; /* the sleep takes its own time */
		t->sped = 1;
	} else if (!t->running && !t->stands && !keeps_time(t)) {
		t->stands = t->account.since;
		t->sped = 0;
	}
	t->awake = 0;
	t->sleepless = 0;
	t->too_soon = 0;
	if (waker) {
		t->hold = t->timed = t->brings = 0;
		go_on(c, waker);
		t->too_soon = soon_by(waker->too_soon);
		wakes_after_nap(waker, now);
		rested(waker); /* or the thread would hand on what it only seems to owe */
		hand_over_to(c, waker, asked, waited, now);
		level = waker->account.level;
	} else {
		/*
		 * A timer or a device wakes it. What comes from outside keeps its distance, so the
		 * thread's position moved with the clock.
		 */
		c->network_wakes += c->receives && c->receives == c->interrupts;
		t->timed = (c->source & 15) == FROM_TIMER;
		t->given = !!due;
		if (t->timed && !looks_for_goroutine(t))
			nap(t, is_sleep(calling(task)));
		t->hold = hold_after(t, task);
		level = s ? s->account.level : t->account.level;
	}
	if (s && is_kernel_thread(bpf_get_current_task_btf())) {
		/*
		 * The kernel thread may have worked for others until now, and never stops: only
		 * what it saved counts.
		 */
		level = account_waited(&t->account, now, level);
		if (level > t->account.level && !t->running)
			t->account.level = level;
	} else if (waker || s) {
		if (t->worked_since)
			let_go_before(t, now, level);
		if (t->running)
			/* Woken while it went to sleep: it has not waited. */
			t->account.level = lesser(t->account.level, level);
		else {
			t->sleepless = account_sleepless(&t->account, now, level);
			t->account.level = account_waited(&t->account, now, level);
		}
		t->lead = s ? stranger_leads(s, t->account.level) : waker->lead;
	}
	/*
	 * Without the sped-up wait the level may have fallen, if the waker is further in virtual
	 * time.
	 */
	if (due && before + due > t->account.level) {
		control.grown = control.epoch;
		t->account.level = before + due;
		raise_global(t->account.level);
		/* An outsider that was waited for would have come earlier by as much. */
		if (s && s->account.level < t->account.level && !is_kernels(bpf_get_current_task_btf()))
			s->account.level = t->account.level;
	}
	expect_look(t, calling(task), now);
	t->account.since = now;
	return 0;
}

#endif
