/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/*
 * Several things sped up at once, each by its own amount. An experiment has one rate: the largest
 * amount by which any time in it is sped up. Time that is sped up by less has a weight below 1.
 */
#ifndef WHATIF_WEIGHT_H
#define WHATIF_WEIGHT_H

#include "account.h"

/* The rate is s in units of 1/CREDIT_ONE. */
#define CREDIT_ONE 1024
#define WEIGHT_ONE 1024

/* What time of this weight is worth. */
static __always_inline u64 weighted(u64 time, u32 weight)
{
	return time * weight / WEIGHT_ONE;
}

/* The same for ticks, which may be less than none. */
static __always_inline s32 weighted_ticks(s32 ticks, u32 weight)
{
	return (ticks * (s32)weight + WEIGHT_ONE / 2) >> 10;
}

/*
 * The weight of time that is sped up for two reasons: of what the first leaves, the second takes
 * its part. scale is the rate that weights are relative to.
 */
static __always_inline u32 weight_on_top(u32 a, u32 b, u64 scale)
{
	u64 both = (u64)a * b / WEIGHT_ONE * scale / CREDIT_ONE;

	return lesser(a + b - both, WEIGHT_ONE);
}

#endif
