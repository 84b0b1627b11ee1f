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
#ifndef WHATIF_RETURN_DELAY_H
#define WHATIF_RETURN_DELAY_H

#include "../wake/polling.h"
#include "periodic.h"
#include "stop.h"

struct delay {
	struct core *core;
	struct thread *thread;
	bool expires;	/* another thread can wake it meanwhile */
	bool contender; /* another thread of the target wants the core */
	u64 begin;
	u64 since; /* of its account; it changes when the thread is switched out */
	u64 end;   /* at the latest */
	u64 level; /* when the delay began */
	u64 now;
	u64 debt;
	u64 updated; /* when debt was computed: there may be many cores to look at */
};

static __always_inline void update_debt(struct delay *h)
{
	h->updated = h->now;
	h->debt = account_debt(h->level + h->thread->lead, expected_global(h->now));
}

static long on_delay(u32 i, struct delay *h)
{
	/*
	 * It was switched out, by a kernel that preempts itself: from then on it waits for its
	 * core.
	 */
	if (h->thread->account.since != h->since)
		return 1;
	h->now = bpf_ktime_get_ns();
	if (h->now >= h->updated + PASS_NS)
		update_debt(h);
	show_level(h->core, h->thread, h->now - h->begin);
	if (h->core->expired.woken || h->now >= h->end || h->debt <= h->now - h->begin)
		return 1;
	if (!has_contender())
		return 0;
	h->contender = 1;
	return 1;
}

/* What was written before it said so can be read. */
static __always_inline bool is_woken(struct core *c)
{
	return __sync_val_compare_and_swap(&c->expired.woken, 1, 1);
}

static long on_woken(u32 i, struct delay *h)
{
	return is_woken(h->core);
}

/*
 * What a thread seems to owe that runs goroutines may be earned already by the goroutine that it
 * finds.
 */
static __always_inline bool may_have_earned(const struct thread *t)
{
	return t->host.has_slept && weight_of_waiting();
}

/* Gives whether the thread owes anything: then its delay begins. */
static __always_inline bool begin_delay(struct delay *h)
{
	struct thread *t = h->thread;

	h->core->expired.woken = 0;
	h->begin = h->now = bpf_ktime_get_ns();
	if (nobody_pays || !applies(RULE_RETURN_DELAYS) || may_have_earned(t) ||
	    !under_way(h->begin))
		return 0;
	enter_experiment(t);
	h->level = t->account.level;
	h->since = t->account.since;
	expect_nothing(h->core); /* it need not wait for itself */
	update_debt(h);
	if (!h->debt) {
		expect_earnings(h->core, t, h->now);
		return 0;
	}
	h->end = stop_end(h->begin);
	/* Ticks leave it alone: it does nothing that could be faster, and pays already. */
	t->delayed = 1;
	return 1;
}

static __always_inline void end_delay(struct delay *h)
{
	struct thread *t = h->thread;
	struct core *c = h->core;
	u64 paid;

	t->polling.debt -= lesser(t->polling.debt, h->now - h->begin); /* it has paid that */
	t->delayed = 0;
	c->delayed += h->now - h->begin;
	if (under_way(h->now) && h->debt <= h->now - h->begin)
		book_expected(h->updated);
	paid = account_paid(t->account.level, h->now - h->begin, control.global);
	if (h->expires && is_woken(c)) {
		polled_until_now(t);
		account_wait_until(&t->account, h->now, c->expired.level, WHY_WAITED);
		t->lead = c->expired.lead;
	}
	account_raise_to(&t->account, paid, WHY_RETURN_DELAYED);
	t->credit.began += h->now - h->begin; /* it did not run */
	show_level(c, t, 0);
	expect_earnings(c, t, bpf_ktime_get_ns());
}

/*
 * Other threads want the core, and no other core is free: they run after this thread instead of
 * before it. If it kept its debt, every thread that it wakes would inherit the debt, and would be
 * stopped while others need the core; on every cycle, as a thread that sleeps again at once never
 * pays. But what it does by the clock then comes too often in virtual time. Where latencies are
 * measured, what its requests owe is found when they end (wait_for_begin). A client that thinks and
 * asks a busy server hands out nothing and owes no more than that, as it waits for the answer.
 */
static __always_inline void forgive_periodic(struct core *c, struct thread *t)
{
	if (control.delay_sleepers || !hands_off_after_sleep(t) || !is_crowded())
		return;
	t->lead = 0;
	forgive(c, t, account_debt(t->account.level, control.global), WHY_PERIODIC);
	t->wake.too_soon = SOON_BY_ITSELF;
	expect_earnings(c, t, bpf_ktime_get_ns());
}

/* At the end of a system call, with its result. */
static __always_inline void delay_return(struct core *c, long result)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct thread *t = thread_of(task);
	struct delay h = { .core = c, .thread = t };
	u64 at = 0;
	u32 kind;

	c->return_delay_due = 0;
	if (!t || !t->wake.delay_kind)
		return;
	kind = t->wake.delay_kind;
	t->wake.delay_kind = DELAY_NONE;
	/* A wait that a timer's signal ends is no timeout. */
	if (kind == DELAY_TIMEOUT && result != -110 /* ETIMEDOUT */)
		kind = control.delay_sleepers ? DELAY_SLEEPER : DELAY_NONE;
	if (kind == DELAY_NONE)
		return;
	/*
	 * The thread's debt is no goroutine's: the one that it finds is delayed instead. But a
	 * plain sleep is only a pause between two searches.
	 */
	if (looks_for_goroutine(t)) {
		if (!is_sleep(calling(task)))
			t->host.delays_next = 1;
		return;
	}
	if (!begin_delay(&h))
		return;
	h.expires = kind == DELAY_TIMEOUT;
	if (h.expires) {
		c->expired.process = task->tgid;
		at = REGISTER_FIRST((struct pt_regs *)bpf_task_pt_regs(task));
		c->expired.at = at;
		__sync_fetch_and_add(&control.delayed_timeouts, 1);
	}
	bpf_loop(1 << 23, on_delay, &h, 0);
	if (h.expires) {
		__sync_fetch_and_sub(&control.delayed_timeouts, 1);
		/* The thread that has just woken this one tells its level in a moment. */
		if (__sync_val_compare_and_swap(&c->expired.at, at, 0) != at)
			bpf_loop(1 << 10, on_woken, &h, 0);
	}
	end_delay(&h);
	if (h.contender && !h.expires)
		forgive_periodic(c, t);
}

/* Delays a goroutine that waited for the clock, as a thread begins to run it. */
static __always_inline void delay_goroutine(struct core *c, struct thread *t)
{
	struct delay h = { .core = c, .thread = t };

	if (!begin_delay(&h))
		return;
	bpf_loop(1 << 23, on_delay, &h, 0);
	end_delay(&h);
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

	if (c && c->return_delay_due)
		delay_return(c, result);
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
	u32 left;	       /* so many may still be woken */
	struct thread *thread; /* that asks */
	u32 handed_over;       /* once, for all of them */
};

static long on_expired(u32 i, struct futex_wake *w)
{
	struct expired *e = &cores[i & (MAX_CPUS - 1)].expired;

	if (e->process != w->process || *(volatile u64 *)&e->at != w->at)
		return 0;
	if (!w->handed_over) {
		w->handed_over = 1;
		/* or the thread would hand on what it only seems to owe */
		offset_host_idle(w->thread);
		hand_over(w->thread, place_of(bpf_get_current_task_btf(), BY_WAKING),
			  bpf_ktime_get_ns());
	}
	if (__sync_val_compare_and_swap(&e->at, w->at, 0) != w->at)
		return 0;
	e->level = w->thread->account.level;
	e->lead = w->thread->lead;
	__sync_val_compare_and_swap(&e->woken, 0, 1); /* the order matters */
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

	if (!c || !control.delayed_timeouts || call != CALL_FUTEX)
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
