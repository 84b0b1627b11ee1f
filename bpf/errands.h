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

/* One of three naps ends so: others may be busy still, and then nobody has to be let go on. */
static __always_inline bool runs_errands(const struct thread *t)
{
	return t->naps.all >= NAPS_FEW && 3 * t->naps.errands >= t->naps.all;
}

/* A thread that sleeps is woken by the clock. */
static __always_inline void nap(struct thread *t)
{
	struct naps *n = &t->naps;

	if (n->place != t->credit.from) {
		n->place = t->credit.from;
		n->all = n->errands = 0;
	}
	n->awake = 1;
	if (++n->all < NAPS_FULL)
		return;
	n->all /= 2;
	n->errands /= 2;
}

/* Whether who is back from its sleep is held: where latencies are measured all are. */
static __always_inline bool pays_after_sleep(const struct thread *t)
{
	return control.sleepers || (control.errands && t->naps.awake && runs_errands(t));
}

/* The thread lets another go on, or a stranger: if it has run for less than a period since a nap, that was an errand. Not static: as step_out. */
__noinline int note_errand(struct thread *t, u64 now)
{
	if (!t || !t->naps.awake)
		return 0;
	t->naps.awake = 0;
	if (credit_length(&t->credit, now) >= control.asked)
		return 0;
	t->naps.errands++;
	if (runs_errands(t))
		__sync_fetch_and_add(&control.errands_run, 1);
	return 0;
}

#endif
