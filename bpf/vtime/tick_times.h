/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/*
 * When ticks are due, apart from the kernel: internal/ledger/ticks_test.go compiles it for user
 * space.
 */
#ifndef WHATIF_TICK_TIMES_H
#define WHATIF_TICK_TIMES_H

#include "types.h"

/*
 * All cores tick at the same moments, one a period, each moved at random by up to a quarter of it.
 * At random, because a program with short regular rounds is otherwise met in the same state again
 * and again, all the more as the ticks themselves set its rhythm. Not by more, because the number
 * of ticks in a segment of a few periods is noise, and hand-overs turn noise into lost speed-up.
 * The same for all cores, because an interruption that hits all alike delays none more than the
 * others.
 *
 * That is not enough where the program's rounds or timers take about a multiple of a period. So
 * SWEEP ticks fall behind, evenly, by one to three periods, and the next SWEEP catch up: each sweep
 * meets all of a round. The number of periods varies, or rounds of some lengths would be in step
 * with it.
 */
#define SWEEP 16

static __always_inline u64 scatter(u64 x, u64 seed)
{
	x = x * 0x9e3779b97f4a7c15 + seed;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
	x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
	return x ^ (x >> 31);
}

/*
 * How many periods the ticks fall behind in the first of a pair of sweeps, and catch up in the
 * second.
 */
static __always_inline u64 swept(u64 pair, u64 seed)
{
	return 1 + scatter(~pair, seed) % 3;
}

static __always_inline u64 tick_due(u64 tick, u64 period, u64 seed)
{
	u64 i = tick % (2 * SWEEP),
	    behind = swept(tick / (2 * SWEEP), seed) * (i < SWEEP ? i : 2 * SWEEP - i);

	return tick * period + behind * period / SWEEP + scatter(tick, seed) % (period / 4);
}

/* The last tick that is due by now. */
static __always_inline u64 last_tick(u64 now, u64 period, u64 seed)
{
	/* A pair of sweeps begins and ends when it would without them. */
	u64 pair = now / period / (2 * SWEEP), by = swept(pair, seed), tick = pair * 2 * SWEEP;
	/* for what was rounded down */
	u64 since = now - tick * period + 1, slow = (SWEEP + by) * period;

	if (since < slow)
		tick += since * SWEEP / slow;
	else
		tick += SWEEP + (since - slow) * SWEEP / ((SWEEP - by) * period);
	return tick_due(tick, period, seed) <= now ? tick : tick - 1;
}

#endif
