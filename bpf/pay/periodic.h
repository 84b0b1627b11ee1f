/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/*
 * Periodic threads: they sleep for a time, do something, and sleep again. What they owe then must
 * be paid before they do it, and no tick may come until they sleep again: what they hand out would
 * come too early in virtual time, and a thread that wants their lock would wait while they pay. So
 * they are delayed before they return (return_delay.h).
 *
 * A polling thread is not periodic: it sleeps until it finds something, and mostly just polls and
 * sleeps at the same place again. A call that waits for others with a timeout is no timed sleep,
 * unless the thread then wakes others.
 */
#ifndef WHATIF_PERIODIC_H
#define WHATIF_PERIODIC_H

#include "../members/thread.h"

/*
 * Sleeps that are remembered: a thread that changes its ways is soon known. Of fewer than
 * SLEEPS_FEW a third is chance.
 */
#define SLEEPS_FULL 32
#define SLEEPS_FEW 4

static __always_inline struct timed_sleeps *sleeps_at(struct thread *t, u32 i)
{
	barrier_var(i); /* or what the verifier saw checked is not what is used */
	return &t->timed.sleeps[i & (SLEEP_PLACES - 1)];
}

/*
 * The index of the sleeps at the place where the thread last began to wait, or of those to be
 * forgotten for it.
 */
static __always_inline u32 sleeps_here(const struct thread *t)
{
	u32 least = t->timed.sleeps[0].all, which = 0;

	for (u32 i = 0; i < SLEEP_PLACES; i++) {
		if (t->timed.sleeps[i].place == t->credit.from)
			return i;
		if (t->timed.sleeps[i].all < least) {
			least = t->timed.sleeps[i].all;
			which = i;
		}
	}
	return which;
}

/* One of three is enough: others may be busy still, and need no wake-up. */
static __always_inline bool hand_off(const struct timed_sleeps *n)
{
	return applies(RULE_PERIODIC) && n->all >= SLEEPS_FEW && 3 * n->handoffs >= n->all;
}

/* Or the thread did more than poll after nearly all of them. */
static __always_inline bool are_periodic(const struct timed_sleeps *n)
{
	return hand_off(n) || (applies(RULE_PERIODIC) && n->plain && n->all >= SLEEPS_FEW &&
			       8 * (n->handoffs + n->worked) >= 7 * n->all);
}

/*
 * Whether the thread, which has returned from its sleep and done nothing yet, hands something out
 * after sleeps there.
 */
static __always_inline bool hands_off_after_sleep(struct thread *t)
{
	return t->timed.pending && hand_off(sleeps_at(t, t->timed.pending - 1));
}

/* Whether the thread is periodic at the place where it last began to wait. */
SUBPROGRAM int is_periodic(struct thread *t)
{
	struct timed_sleeps *n;

	if (!t)
		return 0;
	n = sleeps_at(t, sleeps_here(t));
	return n->place == t->credit.from && are_periodic(n);
}

/* The clock wakes a sleeping thread. plain: its call does nothing but sleep. */
SUBPROGRAM int count_timed_sleep(struct thread *t, bool plain)
{
	struct timed_sleeps *n;
	u32 i;

	if (!t)
		return 0;
	i = sleeps_here(t);
	n = sleeps_at(t, i);
	if (n->place != t->credit.from) {
		n->place = t->credit.from;
		n->all = n->handoffs = n->worked = 0;
	}
	n->plain = plain;
	t->timed.pending = 1 + i;
	if (++n->all < SLEEPS_FULL)
		return 0;
	n->all /= 2;
	n->handoffs /= 2;
	n->worked /= 2;
	return 0;
}

/* Whether a thread that returns from its sleep is delayed. Where latencies are measured all are. */
static __always_inline bool pays_after_sleep(struct thread *t)
{
	return control.delay_sleepers || (control.delay_periodic && t->timed.pending &&
					  are_periodic(sleeps_at(t, t->timed.pending - 1)));
}

/* Notes what the thread has done since its sleep. */
static __always_inline void classify_sleep(struct thread *t, bool handoff)
{
	struct timed_sleeps *n = sleeps_at(t, t->timed.pending - 1);

	t->timed.pending = 0;
	if (handoff)
		n->handoffs++;
	else
		n->worked++;
	if (are_periodic(n))
		__sync_fetch_and_add(&control.periodic_seen, 1);
}

/*
 * The thread wakes another one, or an outsider. If it has run for less than a period since its
 * sleep, it has handed something out.
 */
SUBPROGRAM int wakes_after_sleep(struct thread *t, u64 now)
{
	if (t && t->timed.pending)
		classify_sleep(t, credit_length(&t->credit, now) < control.asked_period);
	return 0;
}

/* The thread goes to sleep, and may only have polled. */
SUBPROGRAM int sleeps_after_sleep(struct thread *t, bool looks)
{
	if (t && t->timed.pending && !looks)
		classify_sleep(t, 0);
	if (t)
		t->timed.pending = 0;
	return 0;
}

#endif
