/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/*
 * Threads that keep time: they sleep for as long as they want to, do something, and sleep again. What they owe after that is to be paid
 * before they do it, and no tick may come until they sleep again: what they hand out would come too early in virtual time, and who
 * wants the lock that they have meanwhile would wait while they pay. So they are held (hold.h).
 *
 * Who polls is not: it sleeps until it finds something, and mostly it just looks, and sleeps at the same place again. A call in which
 * a thread may also wait for others, until a timeout, is no sleep for the time unless the thread lets others go on after it.
 */
#ifndef WHATIF_TIMEKEEPERS_H
#define WHATIF_TIMEKEEPERS_H

/* Naps that are remembered: who changes its ways is soon known. Of fewer than NAPS_FEW a third is chance. */
#define NAPS_FULL 32
#define NAPS_FEW 4

static __always_inline struct naps *naps_at(struct thread *t, u32 i)
{
	barrier_var(i); /* or what the verifier saw checked is not what is used */
	return &t->naps[i & (NAPS - 1)];
}

/* Which of the thread's naps are those of the place where it last began to wait; or which are to be forgotten for it. */
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

/* One of three is: others may be busy still, and then nobody has to be let go on. */
static __always_inline bool are_errands(const struct naps *n)
{
	return n->all >= NAPS_FEW && 3 * n->errands >= n->all;
}

/* Or after hardly any of them it only looked. */
static __always_inline bool are_for_the_time(const struct naps *n)
{
	return are_errands(n) || (n->plain && n->all >= NAPS_FEW && 8 * (n->errands + n->worked) >= 7 * n->all);
}

/* Whether the thread, which is back from its sleep, and has done nothing since, runs errands there. */
static __always_inline bool runs_errands(struct thread *t)
{
	return t->awake && are_errands(naps_at(t, t->awake - 1));
}

/* Whether the thread keeps time where it last began to wait. Not static: as step_out. */
__noinline int keeps_time(struct thread *t)
{
	struct naps *n;

	if (!t)
		return 0;
	n = naps_at(t, naps_here(t));
	return n->place == t->credit.from && are_for_the_time(n);
}

/* A thread that sleeps is woken by the clock; plain: from a call that is for nothing else. Not static: as step_out. */
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

/* Whether who is back from its sleep is held: where latencies are measured all are. */
static __always_inline bool pays_after_sleep(struct thread *t)
{
	return control.sleepers || (control.timekeepers && t->awake && are_for_the_time(naps_at(t, t->awake - 1)));
}

/* What the thread has done since its nap. */
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

/* The thread lets another go on, or a stranger: if it has run for less than a period since a nap, that was an errand. Not static: as step_out. */
__noinline int wakes_after_nap(struct thread *t, u64 now)
{
	if (t && t->awake)
		end_nap(t, credit_length(&t->credit, now) < control.asked);
	return 0;
}

/* The thread goes to sleep, and may only have looked whether it can go on. Not static: as step_out. */
__noinline int sleeps_after_nap(struct thread *t, bool looks)
{
	if (t && t->awake && !looks)
		end_nap(t, 0);
	if (t)
		t->awake = 0;
	return 0;
}

#endif
