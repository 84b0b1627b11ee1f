/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/*
 * Delays threads that the clock has woken, before they return from their system call.
 *
 * A thread that a timer wakes for some microseconds, to hand out work and sleep again, is met by no
 * tick, so it would never pay. It would run ahead of virtual time by all of G, and its work would
 * come earlier and more often than it should. So it pays when it returns from its sleep, before it
 * does anything. Where no latencies are measured only periodic threads do (periodic.h).
 *
 * A thread that has waited for another one until a timeout ended pays in the same way. It may act
 * on the timeout: an interpreter's thread asks for the lock for which it has waited 5 ms, but in
 * virtual time the other thread has had the lock for less. In virtual time it is still waiting, and
 * can be woken: until its system call is over, its program takes it for a waiting thread, so a
 * thread that would wake it asks the kernel to (on_futex).
 *
 * A goroutine that waited for the clock pays as a thread begins to run it (goroutine_account.h),
 * instead of the thread that was woken to find it.
 *
 * It pays by keeping its core, and only while no other thread of the target wants that
 * (contention.h). The rest it still owes, or is forgiven (forgive_periodic). If it begins a request
 * meanwhile and another thread ends it, the request is known to be too early (wait_for_begin).
 */
#ifndef WHATIF_HOLD_H
#define WHATIF_HOLD_H

struct hold {
	struct core *core;
	struct thread *thread;
	bool expires; /* another thread can wake it meanwhile */
	bool rival; /* another thread of the target wants the core */
	u64 begin;
	u64 since; /* of its account; it changes when the thread is switched out */
	u64 end; /* at the latest */
	u64 level; /* when the delay began */
	u64 now;
	u64 debt;
	u64 looked; /* when debt was computed: there may be many cores to look at */
};

static __always_inline void look(struct hold *h)
{
	h->looked = h->now;
	h->debt = account_debt(h->level + h->thread->lead, foreseen_global(h->now));
}

static long on_hold(u32 i, struct hold *h)
{
	/*
	 * It was switched out, by a kernel that preempts itself: from then on it waits for its
	 * core.
	 */
	if (h->thread->account.since != h->since)
		return 1;
	h->now = bpf_ktime_get_ns();
	if (h->now >= h->looked + PASS_NS)
		look(h);
	show_level(h->core, h->thread, h->now - h->begin);
	if (h->core->expired.over || h->now >= h->end || h->debt <= h->now - h->begin)
		return 1;
	if (!has_rival())
		return 0;
	h->rival = 1;
	return 1;
}

/* What was written before it said so can be read. */
static __always_inline bool is_over(struct core *c)
{
	return __sync_val_compare_and_swap(&c->expired.over, 1, 1);
}

static long on_claimed(u32 i, struct hold *h)
{
	return is_over(h->core);
}

/*
 * What a thread seems to owe that runs goroutines may be earned already by the goroutine that it
 * finds.
 */
static __always_inline bool may_have_earned(const struct thread *t)
{
	return t->hosts && waiting_now();
}

/* Gives whether the thread owes anything: then its delay begins. */
static __always_inline bool begin_hold(struct hold *h)
{
	struct thread *t = h->thread;

	h->core->expired.over = 0;
	h->begin = h->now = bpf_ktime_get_ns();
	if (nobody_pays || may_have_earned(t) || !under_way(h->begin))
		return 0;
	adopt(t);
	h->level = t->account.level;
	h->since = t->account.since;
	foresee_nothing(h->core); /* it need not wait for itself */
	look(h);
	if (!h->debt) {
		foresee(h->core, t, h->now);
		return 0;
	}
	h->end = stop_end(h->begin);
	/* Ticks leave it alone: it does nothing that could be faster, and pays already. */
	t->held = 1;
	return 1;
}

static __always_inline void end_hold(struct hold *h)
{
	struct thread *t = h->thread;
	struct core *c = h->core;
	u64 level;

	t->excused -= lesser(t->excused, h->now - h->begin); /* it has paid that */
	t->held = 0;
	c->held += h->now - h->begin;
	if (under_way(h->now) && h->debt <= h->now - h->begin)
		advance(h->looked);
	level = account_paid(t->account.level, h->now - h->begin, control.global);
	if (h->expires && is_over(c)) {
		stood_until_now(t);
		t->account.level = account_waited(&t->account, h->now, c->expired.level);
		t->lead = c->expired.lead;
	}
	if (level > t->account.level)
		t->account.level = level;
	t->credit.began += h->now - h->begin; /* it did not run */
	show_level(c, t, 0);
	foresee(c, t, bpf_ktime_get_ns());
}

/*
 * Other threads want the core, and no other core is free: they run after this thread instead of
 * before it. If it kept its debt, every thread that it wakes would inherit the debt, and would be
 * stopped while others need the core; on every cycle, as a thread that sleeps again at once never
 * pays. But what it does by the clock then comes too often in virtual time. Where latencies are
 * measured, what its requests owe is found when they end (wait_for_begin). A client that thinks and
 * asks a busy server hands out nothing and owes no more than that, as it waits for the answer.
 */
static __always_inline void let_off_sleeper(struct core *c, struct thread *t)
{
	if (control.sleepers || !runs_errands(t) || !is_crowded())
		return;
	t->lead = 0;
	forgive(c, t, account_debt(t->account.level, control.global));
	t->too_soon = SOON_BY_ITSELF;
	foresee(c, t, bpf_ktime_get_ns());
}

/* At the end of a system call, with its result. */
static __always_inline void hold(struct core *c, long result)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct thread *t = thread_of(task);
	struct hold h = { .core = c, .thread = t };
	u64 at = 0;
	u32 kind;

	c->returns = 0;
	if (!t || !t->hold)
		return;
	kind = t->hold;
	t->hold = HOLD_NOT;
	/* A wait that a timer's signal ends is no timeout. */
	if (kind == HOLD_EXPIRED && result != -110 /* ETIMEDOUT */)
		kind = control.sleepers ? HOLD_SLEEPER : HOLD_NOT;
	if (kind == HOLD_NOT)
		return;
	/*
	 * The thread's debt is no goroutine's: the one that it finds is delayed instead. But a
	 * plain sleep is only a pause between two searches.
	 */
	if (looks_for_goroutine(t)) {
		if (!is_sleep(calling(task)))
			t->brings = 1;
		return;
	}
	if (!begin_hold(&h))
		return;
	h.expires = kind == HOLD_EXPIRED;
	if (h.expires) {
		c->expired.process = task->tgid;
		at = REGISTER_FIRST((struct pt_regs *)bpf_task_pt_regs(task));
		c->expired.at = at;
		__sync_fetch_and_add(&control.held_expired, 1);
	}
	bpf_loop(1 << 23, on_hold, &h, 0);
	if (h.expires) {
		__sync_fetch_and_sub(&control.held_expired, 1);
		/* The thread that has just woken this one tells its level in a moment. */
		if (__sync_val_compare_and_swap(&c->expired.at, at, 0) != at)
			bpf_loop(1 << 10, on_claimed, &h, 0);
	}
	end_hold(&h);
	if (h.rival && !h.expires)
		let_off_sleeper(c, t);
}

/* Delays a goroutine that waited for the clock, as a thread begins to run it. */
static __always_inline void hold_goroutine(struct core *c, struct thread *t)
{
	struct hold h = { .core = c, .thread = t };

	if (!begin_hold(&h))
		return;
	bpf_loop(1 << 23, on_hold, &h, 0);
	end_hold(&h);
}

/*
 * All sleeps by the clock are system calls, and at the end of one the thread holds nothing of the
 * kernel's that others may wait for. A call by a thread that was not woken from outside pays only
 * for the look at the core.
 */
SEC("tp_btf/sys_exit")
int BPF_PROG(on_sys_exit, struct pt_regs *regs, long result)
{
	struct core *c = this_core();

	if (c && c->returns)
		hold(c, result);
	return 0;
}

enum futex {
	FUTEX_WAKE = 1,
	FUTEX_UNLOCK_PI = 7,
	FUTEX_WAKE_BITSET = 10,
	FUTEX_OPERATIONS = 127,
};

/* A program's request to wake threads that wait for a futex. */
struct futex_wake {
	u64 at;
	u32 process;
	u32 left; /* so many may still be woken */
	struct thread *thread; /* that asks */
	u32 handed_over; /* once, for all of them */
};

static long on_expired(u32 i, struct futex_wake *w)
{
	struct expired *e = &cores[i & (MAX_CPUS - 1)].expired;

	if (e->process != w->process || *(volatile u64 *)&e->at != w->at)
		return 0;
	if (!w->handed_over) {
		w->handed_over = 1;
		rested(w->thread); /* or the thread would hand on what it only seems to owe */
		hand_over(w->thread, place_of(bpf_get_current_task_btf(), BY_WAKING), bpf_ktime_get_ns());
	}
	if (__sync_val_compare_and_swap(&e->at, w->at, 0) != w->at)
		return 0;
	e->level = w->thread->account.level;
	e->lead = w->thread->lead;
	__sync_val_compare_and_swap(&e->over, 0, 1); /* the order matters */
	return !--w->left;
}

/* Wakes threads that are delayed though they have waited for this futex until their timeout. */
SEC("tp_btf/sys_enter")
int BPF_PROG(on_futex, struct pt_regs *regs, long call)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct core *c = this_core();
	struct futex_wake w = { .process = task->tgid };
	u32 operation;

	if (!c || !control.held_expired || call != CALL_FUTEX)
		return 0;
	w.thread = thread_of(task);
	if (!w.thread)
		return 0;
	w.at = REGISTER_FIRST(regs);
	operation = REGISTER_SECOND(regs) & FUTEX_OPERATIONS;
	if (operation == FUTEX_WAKE || operation == FUTEX_WAKE_BITSET)
		w.left = REGISTER_THIRD(regs);
	else if (operation == FUTEX_UNLOCK_PI)
		w.left = 1;
	if (w.left)
		bpf_loop(possible_cores, on_expired, &w, 0);
	return 0;
}

#endif
