/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/*
 * Threads that run errands: the clock wakes them, they hand something out, which others that wait for it go on with, and
 * sleep again, all within a tick's distance. No tick makes them pay; and what they hand out comes too early in virtual
 * time, as they slept by the clock. So they are held (hold.h). Who polls is not: it sleeps until it finds something.
 */
#ifndef WHATIF_ERRANDS_H
#define WHATIF_ERRANDS_H

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

/* One of three naps ends so: others may be busy still, and then nobody has to be let go on. */
static __always_inline bool are_errands(const struct naps *n)
{
	return n->all >= NAPS_FEW && 3 * n->errands >= n->all;
}

/* Whether the thread sleeps for the time where it last began to wait, and not to look whether it can go on. Not static: as step_out. */
__noinline int sleeps_between_errands(struct thread *t)
{
	struct naps *n;

	if (!t)
		return 0;
	n = naps_at(t, naps_here(t));
	return n->place == t->credit.from && are_errands(n);
}

/* A thread that sleeps is woken by the clock. Not static: as step_out. */
__noinline int nap(struct thread *t)
{
	struct naps *n;
	u32 i;

	if (!t)
		return 0;
	i = naps_here(t);
	n = naps_at(t, i);
	if (n->place != t->credit.from) {
		n->place = t->credit.from;
		n->all = n->errands = 0;
	}
	t->awake = 1 + i;
	if (++n->all < NAPS_FULL)
		return 0;
	n->all /= 2;
	n->errands /= 2;
	return 0;
}

/* Whether who is back from its sleep is held: where latencies are measured all are. */
static __always_inline bool pays_after_sleep(struct thread *t)
{
	return control.sleepers || (control.errands && t->awake && are_errands(naps_at(t, t->awake - 1)));
}

/* The thread lets another go on, or a stranger: if it has run for less than a period since a nap, that was an errand. Not static: as step_out. */
__noinline int note_errand(struct thread *t, u64 now)
{
	struct naps *n;

	if (!t || !t->awake)
		return 0;
	n = naps_at(t, t->awake - 1);
	t->awake = 0;
	if (credit_length(&t->credit, now) >= control.asked)
		return 0;
	n->errands++;
	if (are_errands(n))
		__sync_fetch_and_add(&control.errands_run, 1);
	return 0;
}

#endif
