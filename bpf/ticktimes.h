/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/* When ticks are due. Apart from the kernel, as ledger.h: internal/ledger/ticks_test.go compiles it for user space. */
#ifndef WHATIF_TICKTIMES_H
#define WHATIF_TICKTIMES_H

/*
 * All cores tick at the same moments, one a period, each moved on at random by up
 * to a quarter of it. At random, because a program of short regular rounds is
 * otherwise met in the same state over and over, all the more as the ticks
 * themselves set its rhythm. Not by more, because how many ticks a stretch of a
 * few periods gets is noise, and hand-overs turn noise into lost speed-up. The
 * same for all, because an interruption that hits all cores alike delays nobody
 * more than the others.
 *
 * That is not enough where a program's rounds, or its timers, take about a period or a multiple: ticks would meet it in the same
 * state for long. So SWEEP ticks fall behind, evenly, by one, two or three periods, and the next SWEEP catch up:
 * each sweep meets all of a round. Not always by the same, or rounds of some lengths would be in step with that.
 */
#define SWEEP 16

static __always_inline u64 scatter(u64 x, u64 seed)
{
	x = x * 0x9e3779b97f4a7c15 + seed;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
	x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
	return x ^ (x >> 31);
}

/* By how many periods the ticks fall behind in one of a pair of sweeps, and catch up in the other. */
static __always_inline u64 swept(u64 pair, u64 seed)
{
	return 1 + scatter(~pair, seed) % 3;
}

static __always_inline u64 tick_due(u64 tick, u64 period, u64 seed)
{
	u64 i = tick % (2 * SWEEP), behind = swept(tick / (2 * SWEEP), seed) * (i < SWEEP ? i : 2 * SWEEP - i);

	return tick * period + behind * period / SWEEP + scatter(tick, seed) % (period / 4);
}

/* The last tick that is due by then. */
static __always_inline u64 last_tick(u64 now, u64 period, u64 seed)
{
	/* A pair of sweeps begins and ends when it would without them. */
	u64 pair = now / period / (2 * SWEEP), by = swept(pair, seed), tick = pair * 2 * SWEEP;
	u64 since = now - tick * period + 1 /* for what was rounded down */, slow = (SWEEP + by) * period;

	if (since < slow)
		tick += since * SWEEP / slow;
	else
		tick += SWEEP + (since - slow) * SWEEP / ((SWEEP - by) * period);
	return tick_due(tick, period, seed) <= now ? tick : tick - 1;
}

#endif
