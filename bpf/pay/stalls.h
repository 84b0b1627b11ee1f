/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/*
 * Stalls (0048): the host keeps a core, and the thread on it stands still. Only late interrupts
 * show that.
 */
#ifndef WHATIF_STALLS_H
#define WHATIF_STALLS_H

#include "tick.h"

/* A timer's interrupt comes up to some 50 us late on an idle host, and seldom 200. */
#define STALL_NS 200000

/*
 * For how long a stall has kept this tick's interrupt from the thread, which did not run meanwhile.
 * The softirq may come later, as the thread's own work in the kernel keeps it.
 */
SUBPROGRAM u64 stalled_at_tick(struct thread *t, u64 tick, u64 interrupt)
{
	u64 since = tick_time(tick);

	if (!t || !applies(RULE_STALLS))
		return 0;
	if (since < t->credit.began)
		since = t->credit.began;
	if (interrupt < since + STALL_NS)
		return 0;
	t->credit.began += interrupt - since;
	return interrupt - since;
}

/* A stall comes by the clock, like other tasks that take a core. */
SUBPROGRAM int book_stall(struct thread *t, u64 took, u64 now)
{
	if (t && took >= STALL_NS && applies(RULE_STALLS) && under_way(now))
		raise_level(t, share_of_delays(took, now), WHY_STALLED);
	return 0;
}

#endif
