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
#ifndef WHATIF_TIMEKEEPERS_H
#define WHATIF_TIMEKEEPERS_H

/*
 * Sleeps that are remembered: a thread that changes its ways is soon known. Of fewer than
 * SLEEPS_FEW a third is chance.
 */
#define NAPS_FULL 32
#define NAPS_FEW 4

static __always_inline struct naps *naps_at(struct thread *t, u32 i)
{
	barrier_var(i); /* or what the verifier saw checked is not what is used */
	return &t->naps[i & (NAPS - 1)];
}

/*
 * The index of the sleeps at the place where the thread last began to wait, or of those to be
 * forgotten for it.
 */
static __always_inline u32 naps_here(const struct thread *t)
{
	u32 least = t->naps[0].all, which = 0;

	for (u32 i = 0; i < NAPS; i++) {
		if (t->naps[i].place == t->credit.from)
			return i;
		if (t->naps[i].all < least) {
			least = t->naps[i].all;
			which = i;
		}
	}
	return which;
}

/* One of three is enough: others may be busy still, and need no wake-up. */
static __always_inline bool are_errands(const struct naps *n)
{
	return n->all >= NAPS_FEW && 3 * n->errands >= n->all;
}

/* Or the thread did more than poll after nearly all of them. */
static __always_inline bool are_for_the_time(const struct naps *n)
{
	return are_errands(n) || (n->plain && n->all >= NAPS_FEW && 8 * (n->errands + n->worked) >= 7 * n->all);
}

/*
 * Whether the thread, which has returned from its sleep and done nothing yet, hands something out
 * after sleeps there.
 */
static __always_inline bool runs_errands(struct thread *t)
{
	return t->awake && are_errands(naps_at(t, t->awake - 1));
}

/* Whether the thread is periodic at the place where it last began to wait. */
__noinline int keeps_time(struct thread *t)
{
	struct naps *n;

	if (!t)
		return 0;
	n = naps_at(t, naps_here(t));
	return n->place == t->credit.from && are_for_the_time(n);
}

/* The clock wakes a sleeping thread. plain: its call does nothing but sleep. */
__noinline int nap(struct thread *t, bool plain)
{
	struct naps *n;
	u32 i;

	if (!t)
		return 0;
	i = naps_here(t);
	n = naps_at(t, i);
	if (n->place != t->credit.from) {
		n->place = t->credit.from;
		n->all = n->errands = n->worked = 0;
	}
	n->plain = plain;
	t->awake = 1 + i;
	if (++n->all < NAPS_FULL)
		return 0;
	n->all /= 2;
	n->errands /= 2;
	n->worked /= 2;
	return 0;
}

/* Whether a thread that returns from its sleep is delayed. Where latencies are measured all are. */
static __always_inline bool pays_after_sleep(struct thread *t)
{
	return control.sleepers || (control.timekeepers && t->awake && are_for_the_time(naps_at(t, t->awake - 1)));
}

/* Notes what the thread has done since its sleep. */
static __always_inline void end_nap(struct thread *t, bool errand)
{
	struct naps *n = naps_at(t, t->awake - 1);

	t->awake = 0;
	if (errand)
		n->errands++;
	else
		n->worked++;
	if (are_for_the_time(n))
		__sync_fetch_and_add(&control.time_kept, 1);
}

/*
 * The thread wakes another one, or an outsider. If it has run for less than a period since its
 * sleep, it has handed something out.
 */
__noinline int wakes_after_nap(struct thread *t, u64 now)
{
	if (t && t->awake)
		end_nap(t, credit_length(&t->credit, now) < control.asked);
	return 0;
}

/* The thread goes to sleep, and may only have polled. */
__noinline int sleeps_after_nap(struct thread *t, bool looks)
{
	if (t && t->awake && !looks)
		end_nap(t, 0);
	if (t)
		t->awake = 0;
	return 0;
}

#endif
