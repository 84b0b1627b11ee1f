/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/* A sample at a tick: what it earns the thread, and whether the thread then pays. */
#ifndef WHATIF_SAMPLE_H
#define WHATIF_SAMPLE_H

#include "../code/deferred.h"
#include "../pay/stop.h"
#include "../points/counters.h"
#include "../wake/outsiders.h"
#include "../wake/polling.h"

/*
 * A sample in a kernel thread, which works for any task that asked. It is never stopped and has
 * kept up with official virtual time, from where it earns. A thread that it wakes goes on at its
 * level, and so does one that waits for its core. Gives whether the sample is in code that counts.
 */
static __always_inline bool sample_kernel_thread(struct core *c)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct found found = {};
	u64 earned;
	u32 unit;
	struct outsider *s;

	if (!task->pid || !is_kernels(task))
		return 0;
	unit = unit_of_sample(0, c, &found, 1) & ~UNIT_SPINS;
	if (unit == UNIT_NONE || unit == UNIT_PENDING)
		return 0;
	c->samples += control.parts;
	if (!whole_stacks && unit < MAX_UNITS)
		count_sample(unit);
	earned = weighted(control.period, weight_of_code(found.weight)) * control.rate / CREDIT_ONE;
	if (!earned || !under_way(bpf_ktime_get_ns()))
		return 1;
	s = get_outsider(task);
	if (!s)
		return 1;
	/* What another core earns at this tick, this one earns at the same time. */
	account_raise_to(&s->account, control.global_before, WHY_UNCOUNTED);
	account_raise(&s->account, earned, WHY_UNCOUNTED);
	raise_global(s->account.level);
	core_enter_experiment(c);
	account_raise_core(&c->account, earned, control.global);
	return 1;
}

/*
 * A sample of a task that has nothing to do with the target. Switches would not tell in time: it
 * may have a core for seconds, and be seen only as it leaves.
 */
static __always_inline void sample_foreign(struct core *c)
{
	struct task_struct *task = bpf_get_current_task_btf();

	if (!samples_only && task->pid && task->tgid != membership.own && !outsider_of(task))
		c->foreign += control.period;
}

/*
 * A tick meets a thread at work that often waits busily: it has found what it waited for since the
 * last tick. The producer ran; where all other running threads have had what came about before this
 * tick, the producer has, too. So the thread goes on where they are, if it has waited for so long,
 * which is estimated from how often ticks find it waiting.
 */
SUBPROGRAM int found_while_spinning(struct thread *t, u64 ran)
{
	if (t && t->spin.share && applies(RULE_BUSY_WAITING))
		account_raise_to(&t->account,
				 spin_found(&t->spin, t->account.level, ran,
					    lowest_level_of_others(control.global_before)),
				 WHY_SPUN);
	return 0;
}

/* A sample, while it is taken. */
struct sample {
	u64 begin;
	u64 now; /* when its unit was known */
	u64 ran; /* what it stands for */
	u64 stalled; /* ns, before the tick */
	u32 unit;
	struct found found;
	bool live;   /* an experiment is under way */
	bool spins;  /* the thread waits busily */
	bool exempt; /* it must not be stopped */
};

/* Finds the unit of a sample, and counts it. */
static __always_inline void find_sample(struct core *c, struct thread *t, struct sample *s)
{
	struct found found = {};

	s->unit = unit_of_sample(t, c, &found, 1);
	s->found = found;
	s->spins = s->exempt = !!(s->unit & UNIT_SPINS);
	s->unit &= ~UNIT_SPINS;
	c->samples += control.parts;
	if (s->spins)
		c->busy += control.parts;
	if (!whole_stacks && s->unit && s->unit < MAX_UNITS)
		count_sample(s->unit);
	s->now = bpf_ktime_get_ns();
	c->sampling = lesser(s->now - s->begin, LONGEST_SAMPLING_NS);
}

/* Books a sample: the thread's level is then what it has earned and been delayed. */
static __always_inline void book_sample(struct core *c, struct thread *t, struct sample *s)
{
	u64 most = lesser(s->ran, 2 * control.period); /* of that it may have waited */
	/* Waiting cannot be made faster. */
	u32 weight = s->spins ? 0 : weight_of_code(s->found.weight);

	s->exempt |= offset_host_idle(t);
	/* What was waited since the last tick does not excuse what is earned at this one. */
	offset_spin(t, control.global_before);
	/*
	 * It has waited since its last sample. What it ran in earlier turns is included, and may
	 * have been work.
	 */
	t->spin.left = s->spins ? most + s->stalled + booked_cost(c) : 0;
	if (s->unit != UNIT_PENDING) {
		if (!s->spins)
			found_while_spinning(t, most);
		spin_learn(&t->spin, s->spins);
		credit_sample(&t->credit, s->ran, weight ? SIDE_IN : SIDE_OUT, weight);
	} else {
		credit_unknown(t, s->ran);
	}
	earn(t, s->now);
	if (!s->spins)
		book_stall(t, s->stalled, s->now);
	book_tick(c, t, s->spins);
}

/* G rises to what the thread has, and by what makes turns fair. */
static __always_inline void raise_global_by_sample(struct core *c, struct thread *t)
{
	u64 even = fairness_debt(c, t);

	raise_global(t->account.level);
	if (even)
		__sync_fetch_and_add(&control.fairness_growth,
				     raise_global(t->account.level + even));
}

/* The thread pays what it owes, unless it must not be stopped. */
static __always_inline void pay_at_tick(struct core *c, struct thread *t, const struct sample *s,
					u64 tick, u64 now)
{
	/* A thread that polls may hold a lock that other threads want. */
	bool polls = (t->polling.polls || may_have_found(t)) && is_poll(t, now);

	if (!s->exempt && !polls && !works_on_timeouts(t, now)) {
		pay(c, t, tick, now);
		show_level(c, t, 0);
		settle_deferrable(c, t);
		expect_earnings(c, t, bpf_ktime_get_ns());
		return;
	}
	/* A stop during a wait would count twice, as paid and as waited. */
	meet(tick, now);
	offset_spin(t, control.global);
	settle_deferrable(c, t);
	c->debt = debt_of(t, t->account.level);
	book_delay_since(t, now, s->spins ? 0 : TOGETHER_NS); /* see book_tick */
	show_level(c, t, 0);
}

/* A tick of a core that runs no thread of the target, or one that pays already. */
static __always_inline void sample_others(struct core *c, bool target, u64 tick)
{
	if (!target && !(kernel_code && sample_kernel_thread(c)))
		sample_foreign(c);
	arrive(tick);
	sample_spans();
}

/* Takes a sample of what runs on this core, and does what follows from it for the thread. */
static __always_inline void sample(struct core *c, u64 tick)
{
	struct thread *t = thread_of(bpf_get_current_task_btf());
	struct sample s = { .begin = bpf_ktime_get_ns() };
	u64 now;

	grow_with_waiting(s.begin);
	open_tick(tick);
	if (!t || t->delayed) {
		sample_others(c, t != 0, tick);
		return;
	}
	note_running(c, t, s.begin);
	if (may_have_found(t) && !is_poll(t, s.begin))
		finish_poll(c, t);
	expect_nothing(c);
	if (t->deferral.samples)
		settle_all_deferred(t, c);
	find_sample(c, t, &s);
	now = s.now;
	s.live = !nobody_pays && under_way(now);
	if (s.live) {
		core_enter_experiment(c);
		enter_experiment(t);
		count_too_soon(c, t, s.found.weight);
	}
	s.stalled = stalled_at_tick(t, tick, c->raised);
	s.ran = credit_ran(&t->credit, s.begin, 2 * control.period);
	pass(c, t, s.found.point, s.ran);
	if (s.live)
		book_sample(c, t, &s);
	if (s.live && control.rate && !s.exempt)
		raise_global_by_sample(c, t);
	arrive(tick);
	if (counting) {
		/* All cores tick at once, and one of them is enough to read a process. */
		read_counters(t, control.sampled_spans ? TOGETHER_NS : control.asked_period / 2, 0);
		sample_spans();
	}
	if (!s.live)
		return;
	if (counting)
		now = book_delay_since(t, now, s.spins ? 0 : LONGEST_COUNTING_NS);
	pay_at_tick(c, t, &s, tick, now);
}

#endif
