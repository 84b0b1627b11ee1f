/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/* Going to sleep, waking, getting a core. */
#ifndef WHATIF_SCHEDULING_H
#define WHATIF_SCHEDULING_H

#include "../code/deferred.h"
#include "../pay/periodic.h"
#include "../pay/tick.h"
#include "../points/counters.h"
#include "outsiders.h"
#include "polling.h"
#include "replies.h"

/*
 * Tasks outside the target have had the core since the target left it, and now a thread of the
 * target gets it. Outsiders that talk to the target have accounts of their own, and kernel threads
 * may work for anyone. Of what the other tasks took while a thread waited for the core, a share is
 * a delay, as they come by the clock. While no thread waited the core was as good as idle. The
 * level may be above G after this, see settle_intrusion.
 */
SUBPROGRAM int book_intrusion(struct core *c, struct thread *t, u64 now)
{
	u64 begin, since, alone, took;

	if (!c || !t || !c->intruded || !under_way(now) || !applies(RULE_INTRUSIONS))
		return 0;
	begin = c->away_since > control.start ? c->away_since : control.start;
	since = begin;
	if (!c->awaited && since < t->account.since)
		since = t->account.since;
	if (now <= since)
		since = now;
	alone = lesser(c->intruded, since - begin);
	took = lesser(c->intruded - alone, now - since);
	account_raise_core(&c->account, alone, control.global);
	account_raise(&c->account, share_of_delays(took, now), WHY_UNCOUNTED);
	return 0;
}

/* G rises to what the thread has had of the intrusion; the core has had no more than G. */
static __always_inline void settle_intrusion(struct core *c, const struct thread *t)
{
	if (!c->intruded)
		return;
	raise_global(t->account.level);
	account_raise_core(&c->account, 0, control.global);
}

/* The target leaves the core to other tasks; one of its threads may still want it. */
static __always_inline void leave_core(struct core *c, u64 now, bool awaited)
{
	c->away_since = now;
	c->awaited = awaited;
	c->intruded = 0;
}

/* The core has been idle all the time, if it was idle before. */
static __always_inline bool idle_again(struct core *c)
{
	if (!c->idle_account.since || c->idle_account.epoch != c->account.epoch)
		return 0;
	account_copy(&c->account, &c->idle_account);
	return 1;
}

/*
 * The core was idle: its position stood still. G may have grown meanwhile by sped-up waiting, also
 * since any core last looked.
 */
SUBPROGRAM int core_stood_idle(struct core *c, u64 now)
{
	if (!c)
		return 0;
	if (weight_of_waiting())
		grow_with_waiting(now);
	account_wait_until(&c->account, now, control.global, WHY_UNCOUNTED);
	return 0;
}

/* A thread of the target goes to sleep. */
static __always_inline void thread_sleeps(void *ctx, struct core *c, struct thread *t,
					  struct task_struct *task, u64 now)
{
	u64 place;

	/* It may be long until a tick meets the process again. */
	if (counting)
		read_counters(t, control.sampled_spans ? READ_NOW : control.asked_period / 4,
			      AT_SWITCH);
	place = place_of(task, BY_SLEEPING);
	sleeps_after_sleep(t, place == t->credit.from && is_poll(t, now));
	continue_poll(c, t, place, now);
	hand_over(t, place, now);
	t->requests.available_since = 0;
	begin_wait(ctx, c, t, task, place, now);
}

/* A thread of the target leaves its core: it sleeps, or has to wait for a core. */
static __always_inline void thread_leaves_core(void *ctx, struct core *c, struct thread *t,
					       struct task_struct *task, bool sleeps,
					       bool becomes_idle, u64 now)
{
	c->last_left = now;
	note_running(c, t, now);
	if (sleeps) {
		thread_sleeps(ctx, c, t, task, now);
	} else {
		earn(t, now);
		credit_pause(&t->credit, now);
		t->wake.would_not_sleep = 1;
	}
	t->account.since = now;
	t->running = 0;
	show_level(c, t, 0);
	if (sleeps && t->polling.polls)
		c->shown_level = 0;
	end_turn(c, t, sleeps);
	if (!sleeps || !t->polling.polls || !idle_again(c))
		c->idle_account.since = 0;
	else if (!becomes_idle)
		core_stood_idle(c, now);
}

/* A task outside the target leaves its core, perhaps to a thread of the target. */
static __always_inline void other_leaves_core(struct core *c, struct task_struct *task,
					      struct thread *next, u64 now)
{
	/* An outsider that has left meanwhile starts at 0. */
	if (!c->foreign_since)
		c->foreign_since = now;
	if (!is_kernels(task))
		c->last_left = now;
	/* What it ran has no variable: the stack would be too large for Linux 6.1. */
	if (outsider_leaves_core(task, now))
		c->dealt += now - c->foreign_since;
	else if (!is_kernels(task))
		c->intruded += now - c->foreign_since;
	c->foreign_since = c->idle_account.since = 0;
	book_intrusion(c, next, now);
}

/* A thread of the target gets a core. */
static __always_inline void thread_gets_core(struct core *c, struct thread *t, u64 now)
{
	enter_experiment(t);
	c->foreign_since = 0; /* of a thread that has joined meanwhile */
	/* It was woken while it went to sleep. */
	if (t->wait.since)
		forget_wait(c, t, now);
	get_core(c, t, now);
	if (c->away_since) {
		settle_intrusion(c, t);
		leave_core(c, 0, 0);
	}
	begin_turn(c, t, now);
	if (!t->requests.available_since)
		t->requests.available_since = now - t->account.level;
	c->return_delay_due = t->wake.delay_kind;
	if (control.delays_returns)
		c->expected.booked_by_others = 0; /* that was the previous thread's */
	expect_earnings(c, t, now);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	struct core *c = this_core();
	struct thread *p, *n;
	bool sleeps;
	u64 now;

	if (!c)
		return 0;
	now = bpf_ktime_get_ns();
	/* A core does not switch in an interrupt: correct a wrong count. */
	c->interrupts = c->source = 0;
	p = prev->pid ? thread_of(prev) : 0;
	n = next->pid ? thread_of(next) : 0;
	core_enter_experiment(c);
	if (!c->shown_left)
		c->shown_left = now;
	sleeps = p && !preempt && prev->__state;
	if (p) {
		thread_leaves_core(ctx, c, p, prev, sleeps, !next->pid, now);
	} else if (!prev->pid) {
		account_copy(&c->idle_account, &c->account);
		core_stood_idle(c, now);
	} else {
		other_leaves_core(c, prev, n, now);
	}
	expect_nothing_here();
	if (n) {
		thread_gets_core(c, n, now);
	} else if (!next->pid) {
		if (!c->idle_account.since)
			c->account.since = now;
		leave_core(c, 0, 0);
	} else {
		outsider_gets_core(next, now, c->account.level, !prev->pid);
		c->foreign_since = now;
		if (!c->away_since)
			leave_core(c, now, p && !sleeps);
	}
	return 0;
}

/* A thread of the target, or an outsider that talks to it, wakes an outsider. */
static __always_inline void wake_outsider(struct core *c, struct task_struct *task)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct thread *waker;
	struct outsider *s, *other;
	u64 now, asked;

	if (c->interrupts) {
		/* An interrupt wakes it: its position moved with the clock. */
		s = outsider_of(task);
		if (s) {
			s->account.since = bpf_ktime_get_ns();
			s->by_timer = (c->source & 15) == FROM_TIMER;
		}
		return;
	}
	waker = thread_of(current);
	other = waker ? 0 : outsider_of(current);
	if (!waker && !other) {
		s = outsider_of(task);
		if (s)
			s->by_timer = 0;
		return;
	}
	/* For outsiders, a kernel thread is like an interrupt. */
	if (other && is_kernel_thread(current) && !is_kernel_thread(task))
		return;
	s = get_outsider(task);
	if (!s || s == other)
		return;
	now = bpf_ktime_get_ns();
	asked = asked_position(&s->account, s->lead,
			       s->by_timer && !s->running && !is_kernels(task), calling(task));
	s->by_timer = 0;
	if (waker) {
		finish_poll(c, waker);
		wakes_after_sleep(waker, now);
		hand_over_reply(c, waker, asked, s->account.since, now);
		outsider_woken(s, now, waker->account.level, debt_of(waker, waker->account.level));
	} else {
		outsider_woken(s, now, other->account.level,
			       account_debt(other->account.level + other->lead, control.global));
	}
}

/* Whether and why a thread that is woken from outside the target is delayed before it returns. */
static __always_inline u32 delay_after(struct thread *t, struct task_struct *task)
{
	if (t->wake.by_timer && waits_for_futex(task)) {
		__sync_fetch_and_add(&control.timeouts, 1);
		if (control.delay_timeouts && applies(RULE_TIMEOUT_DELAYS))
			return DELAY_TIMEOUT;
	}
	return pays_after_sleep(t) ? DELAY_SLEEPER : DELAY_NONE;
}

/* A thread's sleep is over: does it still wait by polling? */
static __always_inline void note_poll_wake(struct core *c, struct thread *t, bool woken, u64 due)
{
	if (woken)
		polled_until_now(t);
	else if ((c->source & 15) != FROM_TIMER) {
		stop_polling(t); /* a packet is something to work on */
	} else if (due) {
		t->polling.since = 0; /* the sleep takes its own time */
		t->polling.sped_up = 1;
	} else if (applies(RULE_POLLING) && !t->running && !t->polling.since && !is_periodic(t)) {
		t->polling.since = t->account.since;
		t->polling.sped_up = 0;
	}
}

/* A thread of the target wakes another one, which asked at this position and waited since. */
static __always_inline void hand_over_to_woken(struct core *c, struct thread *t,
					       struct thread *waker, u64 asked, u64 waited, u64 now)
{
	if (!looks_for_goroutine(t)) /* that one was counted */
		c->hand_overs++;
	t->wake.delay_kind = t->wake.by_timer = t->host.delays_next = 0;
	finish_poll(c, waker);
	t->wake.too_soon = too_soon_by(waker->wake.too_soon);
	wakes_after_sleep(waker, now);
	offset_host_idle(waker); /* or it would hand on what it only seems to owe */
	hand_over_reply(c, waker, asked, waited, now);
}

/*
 * A timer, a device or an outsider wakes a thread. What comes from a timer or a device keeps its
 * distance, so the thread's position moved with the clock.
 */
static __always_inline void note_wake_from_outside(struct core *c, struct thread *t,
						   struct task_struct *task, u64 due)
{
	c->network_wakes += c->receives && c->receives == c->interrupts;
	t->wake.by_timer = (c->source & 15) == FROM_TIMER;
	t->wake.sleep_sped_up = !!due;
	if (t->wake.by_timer && !looks_for_goroutine(t))
		count_timed_sleep(t, is_sleep(calling(task)));
	t->wake.delay_kind = delay_after(t, task);
}

/* The rule: a woken thread goes on no earlier than what woke it, which stands at level. */
static __always_inline void go_on_with_waker(struct thread *t, u64 now, u64 level)
{
	if (t->timeouts.since)
		woken_before_timeout(t, now, level);
	if (t->running) {
		/* Woken while it went to sleep: it has not waited. */
		account_catch(&t->account, level, WHY_CAUGHT);
		return;
	}
	t->wake.would_not_sleep = account_would_not_sleep(&t->account, now, level);
	account_wait_until(&t->account, now, level, WHY_WAITED);
}

/* The thread's wait, before which it was at level before, has earned it due. */
static __always_inline void earn_wait(struct thread *t, struct outsider *s, u64 before, u64 due)
{
	/* Without the sped-up wait the level may have fallen, if the waker is further ahead. */
	if (!due || before + due <= t->account.level)
		return;
	control.waiting_grew = control.epoch;
	account_raise_to(&t->account, before + due, WHY_WAIT_SPED_UP);
	raise_global(t->account.level);
	/* An outsider that was waited for would have come earlier by as much. */
	if (s && !is_kernels(bpf_get_current_task_btf()))
		account_raise_to(&s->account, t->account.level, WHY_UNCOUNTED);
}

SEC("tp_btf/sched_waking")
int BPF_PROG(on_waking, struct task_struct *task)
{
	struct core *c = this_core();
	struct thread *t, *waker;
	struct outsider *s;
	u64 now, before, due, asked, waited;

	if (!c)
		return 0;
	t = thread_of(task);
	if (!t) {
		wake_outsider(c, task);
		return 0;
	}
	now = bpf_ktime_get_ns();
	enter_experiment(t);
	waker = c->interrupts ? 0 : thread_of(bpf_get_current_task_btf());
	if (waker == t)
		return 0;
	c->wakes++;
	before = t->account.level;
	asked = asked_position(&t->account, t->lead,
			       t->wake.by_timer && !t->running && !t->host.has_slept &&
				       !t->polling.since,
			       calling(task));
	waited = t->account.since;
	if (t->host.has_slept && !t->running)
		count_host_idle(t, now);
	due = end_wait(c, t, now, t->wait.since ? class_of_wake(c, task, waker) : WAIT_UNKNOWN);
	s = c->interrupts || waker ? 0 : get_outsider(bpf_get_current_task_btf());
	note_poll_wake(c, t, waker || s, due);
	t->timed.pending = 0;
	t->wake.would_not_sleep = t->wake.too_soon = 0;
	if (waker) {
		hand_over_to_woken(c, t, waker, asked, waited, now);
		go_on_with_waker(t, now, waker->account.level);
		t->lead = waker->lead;
	} else {
		note_wake_from_outside(c, t, task, due);
		if (s && is_kernel_thread(bpf_get_current_task_btf())) {
			/* It may have worked for others, and never stops: what it saved counts. */
			if (!t->running)
				account_may_have_waited(&t->account, now, s->account.level,
							WHY_WAITED);
		} else if (s) {
			go_on_with_waker(t, now, s->account.level);
			t->lead = outsider_lead(s, t->account.level);
		}
	}
	earn_wait(t, s, before, due);
	expect_poll(t, calling(task), now);
	t->account.since = now;
	return 0;
}

#endif
