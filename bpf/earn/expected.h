/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/*
 * What running threads have earned that no sample has shown yet. G is behind by it at any moment,
 * on average by what is earned in half a period. A thread that runs on pays it after the next tick.
 * But a thread that returns from a sleep, hands out work and sleeps again would be ahead by it each
 * time, and its work would be in a queue too early. So that thread is delayed for what is expected,
 * too. What it paid for is booked for the threads that are expected to have earned it, as a part of
 * what their segment has earned. If a segment turns out not to deserve that, its thread gets less
 * later (credit.expected).
 */
#ifndef WHATIF_EXPECTED_H
#define WHATIF_EXPECTED_H

#include "../members/thread.h"

/* Adds to the kind that stands for all segments. */
static __always_inline void learn_usual(struct kind *k, u32 hits, u32 ticks)
{
	if (k->key != control.selection) {
		k->key = control.selection;
		k->hits = k->ticks = 0;
	}
	kind_count(k, hits, ticks);
}

/* The thread on this core does not earn, or what it has earned is about to be booked. */
static __always_inline void expect_nothing(struct core *c)
{
	if (control.delays_returns)
		__sync_lock_test_and_set(&c->expected.since, 0);
}

/* The same for the core that this runs on. */
SUBPROGRAM int expect_nothing_here(void)
{
	expect_nothing(&cores[bpf_get_smp_processor_id() & (MAX_CPUS - 1)]);
	return 0;
}

/* From now on the thread on this core earns what it usually does. */
SUBPROGRAM int expect_earnings(struct core *c, const struct thread *t, u64 now)
{
	struct expectation *o;
	u64 ran;

	if (!control.delays_returns || !c || !t || !applies(RULE_EXPECTED))
		return 0;
	o = &c->expected;
	__sync_lock_test_and_set(&o->since, 0);
	if (!control.rate || t->learned.usual.key != control.selection ||
	    t->learned.usual.ticks < KIND_KNOWN)
		return 0;
	/* It has run this part of its segment, for which no sample stands yet, before now. */
	ran = credit_unsampled(&t->credit, now);
	o->level = o->booked = t->account.level;
	o->share = (u64)t->learned.usual.hits * control.rate / t->learned.usual.ticks;
	__sync_lock_test_and_set(&o->since, now > ran ? now - ran : now);
	return 0;
}

/* Takes what other cores have booked for the thread on this core. */
SUBPROGRAM int take_expected(struct core *c, struct thread *t)
{
	u64 due;

	if (!c || !t || !c->expected.booked_by_others)
		return 0;
	expect_nothing(c);
	due = __sync_lock_test_and_set(&c->expected.booked_by_others, 0);
	if (t->account.epoch != control.epoch || !t->running)
		return 0; /* it was booked for another thread */
	due = lesser(due, account_debt(t->account.level, control.global));
	account_raise(&t->account, due, WHY_EXPECTED);
	t->credit.earned += due;
	t->credit.expected += due;
	t->learned.earns = 1;
	return 0;
}

static __always_inline u64 expected_level(volatile struct expectation *o, u64 now)
{
	u64 since = o->since, level = o->level, share = o->share;

	if (!since || since != o->since || since < control.start || now <= since)
		return 0;
	return level + (now - since) * share / CREDIT_ONE;
}

struct farthest {
	u64 now;
	u64 level; /* the highest that any core is expected to be at */
};

static long on_expected(u32 i, struct farthest *l)
{
	u64 level = expected_level(&cores[i & (MAX_CPUS - 1)].expected, l->now);

	if (level > l->level)
		l->level = level;
	return 0;
}

/* What G will turn out to have been by now. */
static __always_inline u64 expected_global(u64 now)
{
	struct farthest l = { .now = now, .level = control.global };

	bpf_loop(possible_cores, on_expected, &l, 0);
	return l.level;
}

static long on_advance(u32 i, struct farthest *l)
{
	struct expectation *o = &cores[i & (MAX_CPUS - 1)].expected;
	u64 level = expected_level(o, l->now), had = o->booked;

	/* If two cores do this at once, one of them books it. */
	if (level <= l->level || level <= had ||
	    __sync_val_compare_and_swap(&o->booked, had, level) != had)
		return 0;
	raise_global(level);
	__sync_fetch_and_add(&o->booked_by_others, level - had);
	return 0;
}

/*
 * A thread was delayed for what is expected: books it for the threads that are expected to be ahead
 * of G.
 */
static __always_inline void book_expected(u64 now)
{
	struct farthest l = { .now = now, .level = control.global };

	bpf_loop(possible_cores, on_advance, &l, 0);
}

#endif
