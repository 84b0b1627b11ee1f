/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/*
 * Waits whose end no event shows, and what is known of them on average: busy waiting, polling,
 * timeouts, replies.
 */
#ifndef WHATIF_ESTIMATES_H
#define WHATIF_ESTIMATES_H

#include "account.h"

/*
 * A thread that waits busily is only seen waiting at ticks. A tick that finds it waiting stands for
 * what the thread has run since its last sample. That is set against what the thread owes at this
 * tick and until the next; not later, because waiting does not excuse a debt that comes up when it
 * is over. How long a thread has waited between two ticks that find it working is estimated from
 * how often ticks find it waiting.
 */
struct spin {
	u32 left;
	u32 share; /* the part of its time that ticks have found it waiting lately, of SPIN_ONE */
};

#define SPIN_ONE 1024

static __always_inline void spin_learn(struct spin *w, bool now)
{
	w->share = (7 * w->share + (now ? SPIN_ONE : 0)) / 8;
}

/*
 * The level of a thread that a tick finds working, ran ns after the last one. Of that it has waited
 * the part that it usually does, for threads of which the last is at level others.
 */
static __always_inline u64 spin_found(const struct spin *w, u64 level, u64 ran, u64 others)
{
	return level + lesser(ran * w->share / SPIN_ONE, account_debt(level, others));
}

/* The level after what was waited has been set against the debt. */
static __always_inline u64 spin_offset(struct spin *w, u64 level, u64 global)
{
	u64 spent = lesser(w->left, account_debt(level, global));

	w->left -= spent;
	return level + spent;
}

/*
 * A thread that finds what it polled for goes on at the position at which that was made. The
 * producer is unknown. Its position at the previous poll (from) and at this one (to) are known, and
 * the item is taken to be made uniformly between them. The result is how much later than position
 * that is, on average; what was made before position is found at once.
 */
static __always_inline u64 expected_find_delay(u64 position, u64 from, u64 to)
{
	u64 late;

	if (to <= position)
		return 0;
	if (from >= position)
		return (to - position + (from - position)) / 2;
	late = (to - position) >> 10; /* or its square overflows after some seconds */
	return late * late / (((to - from) >> 10) + 1) * 512;
}

/*
 * A thread that has worked after a timeout, as event loops do, and waits at the same place again is
 * woken by one at this level. If that is before the last timeout ended, at position fired, the
 * thread has waited since its first wait began: it would not have had to do that work yet.
 */
static __always_inline u64 waiting_began(const struct account *a, u64 began, u64 timeout_position,
					 u64 now, u64 level)
{
	return now - level < timeout_position ? began : a->since;
}

/* The mean is over so many replies, about, as a power of two. */
#define REPLIES_SHIFT 3
/* A reply to an older question is not to count for all. */
#define MOST_LATE_REPLY_NS 50000000ll

/*
 * The mean of how early a thread replies, after another reply; negative: late. Above 0 the thread
 * should have waited by as much.
 */
static __always_inline s64 mean_earliness(s64 average, s64 early)
{
	early = early < -MOST_LATE_REPLY_NS ? -MOST_LATE_REPLY_NS : early;
	return average + (early >> REPLIES_SHIFT) - (average >> REPLIES_SHIFT);
}

#endif
