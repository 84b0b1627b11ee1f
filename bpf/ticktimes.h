/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/* When ticks are: apart from the kernel, as ledger.h. */
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
 * That is not enough where the rounds take about a period, or a multiple of one, as timers do: whatever the ticks meet they
 * would meet for long. So they are slow for SWEEP ticks, in which they fall behind by one, two, or three
 * periods, and fast for as many, in which they catch up: in each they come by all of a round.
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
static __always_inline u64 tick_before(u64 now, u64 period, u64 seed)
{
	u64 pair = now / period / (2 * SWEEP), by = swept(pair, seed), tick = pair * 2 * SWEEP;
	u64 since = now - tick * period + 1 /* for what was rounded down */, slow = (SWEEP + by) * period;

	if (since < slow)
		tick += since * SWEEP / slow;
	else
		tick += SWEEP + (since - slow) * SWEEP / ((SWEEP - by) * period);
	return tick_due(tick, period, seed) <= now ? tick : tick - 1;
}

#endif
