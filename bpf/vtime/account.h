/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/*
 * The ledger's arithmetic, apart from the kernel: compiled into the BPF programs and, by
 * ledger_test.go, for user space.
 *
 * G, the global delay, is how much later than in the faster world everything happens by now. An
 * account's level is the part of G that its owner has had so far. So a thread's position in virtual
 * time, the time of a world in which the selected code is faster, is
 *
 *	now - level
 *
 * and official virtual time is now - G. A thread whose level is below G is ahead of official time
 * by its debt, G - level: it has done work that it should not have reached yet, and must be
 * stopped, or wait, for that long.
 *
 * Everything below follows from one rule, that of discrete event simulation: what waits for
 * something goes on at the later of two positions, its own and that of what it waited for.
 */
#ifndef WHATIF_ACCOUNT_H
#define WHATIF_ACCOUNT_H

#include "types.h"

/* A thread's or a core's account. All times are in nanoseconds. */
struct account {
	u64 level; /* the delay that it has had */
	u64 since; /* when it stopped running: its position stands still from then on */
	u64 epoch; /* the experiment that both belong to */
};

static __always_inline u64 lesser(u64 a, u64 b)
{
	return a < b ? a : b;
}

/* For how long the owner has stood still. */
static __always_inline u64 account_away(const struct account *a, u64 now)
{
	return now > a->since ? now - a->since : 0;
}

/*
 * The level after standing still from since to now, ended by an owner at level releaser. The
 * position stood still, so the level grew with the clock, but never above the releaser's.
 */
static __always_inline u64 account_waited(const struct account *a, u64 now, u64 releaser)
{
	return lesser(a->level + account_away(a, now), releaser);
}

/*
 * The owner has waited for nothing in virtual time: in the faster world it would not have gone to
 * sleep.
 */
static __always_inline bool account_would_not_sleep(const struct account *a, u64 now, u64 releaser)
{
	u64 away = account_away(a, now);

	return !away || a->level + away <= releaser;
}

/*
 * An idle core wakes up within this; a thread that took longer has waited for another thread first.
 */
#define IDLE_CORE_WAKES_NS 250000

/*
 * The level of a thread that could run since a->since and gets a core, which is at level core. The
 * thread has waited for that core. One exception: a woken thread has not waited for a core that was
 * idle since before (since idle; 0: it was not). Such a core needs its time to wake up in the
 * faster world, too.
 */
static __always_inline u64 account_got_core(const struct account *a, u64 now, u64 core, bool woken,
					    u64 idle)
{
	bool waited = !woken || !idle || idle > a->since || now > a->since + IDLE_CORE_WAKES_NS;

	return account_waited(a, waited ? now : a->since, core);
}

static __always_inline u64 account_debt(u64 level, u64 global)
{
	return global > level ? global - level : 0;
}

/*
 * The level after a stop of took ns. What exceeds the debt is not booked: the host did that, and
 * would have done it anyway.
 */
static __always_inline u64 account_paid(u64 level, u64 took, u64 global)
{
	return level >= global ? level : lesser(level + took, global);
}

#endif
