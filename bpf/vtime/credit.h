/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/*
 * Run segments: what samples say that a thread has earned, and what is known of kinds of segments.
 */
#ifndef WHATIF_CREDIT_H
#define WHATIF_CREDIT_H

#include "weight.h"

/*
 * What a run segment has earned. A sample in the selected code stands for what the thread has run
 * since its last one, and s of that took no virtual time. It does not stand for a period: a thread
 * that is stopped for a part of each is sampled as often, and runs less. Nor does it stand for what
 * the core has run, as the scheduler likes to take a core away at the end of a stop.
 *
 * Where the thread entered the selected code in between, it ran half of the interval there; where
 * it left, half of the next one. The two differ where the thread is stopped on one side only. That
 * is made up for when the thread is out, so it has earned in time what it deserves when it hands
 * over unseen.
 *
 * What counts is what a thread has earned when it hands over. How many samples a segment between
 * two hand-overs gets is chance, if it is not much longer than a period. But segments come in
 * kinds: those that begin at one place and end at another, as from getting a lock to giving it
 * away, do much the same each time. So at its end a segment gets what its kind usually has in the
 * selected code, moved towards its own samples the more of them there are and the more segments of
 * the kind differ. Until then it gets what its samples have shown, and never more than s of its
 * length.
 */
struct credit {
	u64 earned;   /* in this segment */
	u64 expected; /* the part of it that was only expected, see expected.h */
	u64 ran;      /* in this segment, before began */
	u64 began;    /* when it last began to run, moved by the stops since */
	s64 carry;    /* due from earlier segments of unknown kinds; negative: given too much */
	/*
	 * what segments of known kinds have deserved since the last begin or end of a request,
	 * besides what was given
	 */
	s64 request_due;
	u64 from;     /* the place where the segment began */
	u64 in;	      /* weighted time in the selected code that this segment's samples stand for */
	u64 seen;     /* how long this segment was at its last sample */
	u64 rest;     /* time before this segment that no sample stands for yet */
	u64 entered;  /* what the sample that found the thread entering stands for; 0: it was in */
	u32 last;     /* enum side: where the last sample found the thread */
	u32 weight;   /* of the selected code there */
	s32 lost;     /* half of what was missing from a period after that, in parts of TICK_ONE */
	u32 hits;     /* weighted ticks of this segment in the selected code, as the next */
	u32 ticks;    /* in parts of TICK_ONE: ticks of this segment */
	u32 samples;  /* all of them */
	u32 segment;  /* the segment's number */
	u32 deferred; /* the last sample is deferred */
};

/* A sample whose side is not known yet, with what was known when it was taken. */
struct deferred_credit {
	u64 ran;
	s32 lost;
	u32 samples; /* including this one; if the number is the same later, it is still the last */
	u32 segment;
};

/*
 * What ticks have shown of a kind of segments. Each thread has its own kinds: another thread may do
 * something else between the same places.
 */
struct kind {
	u64 key;   /* where such segments begin and end, and the unit */
	s64 carry; /* due from earlier segments; negative: given too much */
	u32 hits;  /* weighted, in parts of TICK_ONE, as the next */
	u32 ticks;
	u32 above; /* how many more hits there were lately than before, and */
	u32 below; /* how many fewer, past what chance would do: see kind_changed */
	/* pairs of ticks in one segment, f * (1 - f) each, in parts of TICK_ONE, squared */
	u64 pairs;
	/* how much more the hits have varied than by chance, in the same unit: see kind_spread */
	s64 spread;
};

/* The kinds that a thread remembers. They are few, as most threads go round in a loop. */
#define KIND_SETS 4
#define KIND_WAYS 4
struct kinds {
	struct kind set[KIND_SETS][KIND_WAYS];
};

/* A tick without a stop on either side. A part of it is a small part of any weight, too. */
#define TICK_ONE 256
/* With fewer ticks nothing is known of a kind. */
#define KIND_KNOWN (4 * TICK_ONE)
/* From so many ticks on older ones count less. */
#define KIND_FULL (1024 * TICK_ONE)
/* With so many unexpected ticks a kind has changed. */
#define KIND_CHANGED_AT (4 * TICK_ONE)

enum side {
	SIDE_UNKNOWN,
	SIDE_OUT,
	SIDE_IN, /* in the selected code */
};

static __always_inline u64 credit_length(const struct credit *c, u64 now)
{
	return c->ran + (now > c->began ? now - c->began : 0);
}

/* The thread waits for a core: the segment continues when it has one. */
static __always_inline void credit_pause(struct credit *c, u64 now)
{
	c->ran = credit_length(c, now);
	c->began = now;
}

static __always_inline u64 credit_unsampled(const struct credit *c, u64 now)
{
	u64 length = credit_length(c, now);

	return length > c->seen ? length - c->seen : 0;
}

/* What was run since the last sample. More than most at a stretch is the host's doing. */
static __always_inline u64 credit_ran(struct credit *c, u64 now, u64 most)
{
	/*
	 * A thread that runs for moments is sampled seldom, and may have run for many periods by
	 * then.
	 */
	u64 ran = lesser(c->rest, 8 * most) + lesser(credit_unsampled(c, now), most);

	c->rest = 0;
	c->seen = credit_length(c, now);
	return ran;
}

/*
 * Books a sample that found the thread at side, in selected code of this weight. On average it
 * stands for half of what lies between it and the last one and, as nothing else is known yet, for
 * half of a period after it.
 */
static __always_inline void credit_sample(struct credit *c, u64 ran, enum side side, u32 weight)
{
	u32 part = TICK_ONE - c->lost;

	if (side == SIDE_IN) {
		u64 in = weighted(ran, c->last == SIDE_IN ? (c->weight + weight) / 2 : weight);

		c->in += in;
		c->entered = c->last == SIDE_OUT ? in : c->last == SIDE_IN ? c->entered : 0;
	} else if (side == SIDE_OUT && c->last == SIDE_IN) {
		c->in += weighted(ran / 2, c->weight);
		c->in -= lesser(c->in, c->entered / 2);
	}
	c->last = side;
	c->weight = weight;
	c->lost = 0;
	c->deferred = 0;
	c->samples++;
	if (side == SIDE_UNKNOWN)
		return;
	c->ticks += part;
	c->hits += side == SIDE_IN ? weighted_ticks(part, weight) : 0;
}

/* After the last sample so much of half a period was missing. */
static __always_inline void credit_shorten(struct credit *c, s32 lost)
{
	c->lost = lost;
	if (c->deferred || c->last == SIDE_UNKNOWN || c->ticks < TICK_ONE / 2)
		return;
	c->ticks -= c->lost;
	c->hits -= c->last == SIDE_IN ? weighted_ticks(c->lost, c->weight) : 0;
}

/* After the stop that followed the last sample only so much is left until the next tick. */
static __always_inline void credit_stopped(struct credit *c, u64 left, u64 period)
{
	credit_shorten(c, TICK_ONE / 2 - (s32)(left * (TICK_ONE / 2) / period));
}

/*
 * Keeps a sample until its side is known. If the next sample comes first, it is booked as if this
 * one had never been: so no bound is known twice, or not at all.
 */
static __always_inline void credit_defer(struct credit *c, u64 ran, struct deferred_credit *p)
{
	p->ran = ran;
	p->lost = c->lost;
	p->samples = ++c->samples;
	p->segment = c->segment;
	c->lost = 0;
	c->deferred = 1;
}

/*
 * Books a deferred sample of this weight; 0: it is out. If its segment is over, what that still
 * deserves is due from the next one, unless it got what its kind deserves.
 */
static __always_inline void credit_settle(struct credit *c, const struct deferred_credit *p,
					  u32 weight, u64 rate, bool given)
{
	enum side side = weight ? SIDE_IN : SIDE_OUT;
	s32 lost = c->lost;

	if (p->segment != c->segment) {
		if (!given)
			c->carry += weighted(p->ran, weight) * rate / CREDIT_ONE;
	} else if (p->samples == c->samples) {
		c->lost = p->lost;
		credit_sample(c, p->ran, side, weight);
		credit_shorten(c, lost);
	} else { /* others came since: their bounds are known, its own are not */
		c->in += weighted(p->ran, weight);
		c->ticks += TICK_ONE - p->lost;
		c->hits += weighted_ticks(TICK_ONE - p->lost, weight);
	}
}

/* The next segment begins. */
static __always_inline void credit_begin(struct credit *c, u64 now)
{
	c->rest += credit_unsampled(c, now);
	c->earned = c->expected = c->ran = c->in = c->seen = 0;
	c->began = now;
	c->hits = c->ticks = 0;
	c->segment++;
	c->deferred = 0;
}

/* Takes what the current segment has come to deserve. */
static __always_inline u64 credit_due(struct credit *c, u64 now, u64 rate)
{
	s64 want = c->in * rate / CREDIT_ONE + c->carry;
	u64 room = credit_length(c, now) * rate / CREDIT_ONE, due;

	if (want <= (s64)c->earned || room <= c->earned)
		return 0;
	due = lesser(want, room) - c->earned;
	c->earned += due;
	return due;
}

/*
 * How much a kind's segments differ, from 0 to 1: the correlation of two ticks of one segment. If
 * all were alike, f * n of n ticks would be hits except for chance, whose variance is n * f * (1 -
 * f). If they differ, each of the n * (n - 1) pairs of ticks adds f * (1 - f) times the
 * correlation. Ticks at even distances vary less than by chance; then it is 0.
 */
#define SPREAD_ONE 1024
/* A third is assumed until some six segments of three ticks have been seen. */
#define SPREAD_KNOWN (8 * TICK_ONE * TICK_ONE)

static __always_inline u64 kind_spread(const struct kind *k)
{
	s64 spread = k->spread + SPREAD_KNOWN / 3;
	u64 all = k->pairs + SPREAD_KNOWN;

	return spread <= 0 ? 0 : lesser(spread, all) * SPREAD_ONE / all;
}

/* A segment with several ticks tells how much segments differ. */
static __always_inline void kind_compare(struct kind *k, u32 hits, u32 ticks)
{
	u64 f, chance, more, expected;

	/* One tick counts up to one and a half where the next is late. */
	if (ticks <= 3 * TICK_ONE / 2 || k->ticks < KIND_KNOWN)
		return;
	/* threads of a family learn at once, so a part of the ticks may be lost */
	f = lesser((u64)k->hits * SPREAD_ONE / k->ticks, SPREAD_ONE);
	chance = f * (SPREAD_ONE - f) / SPREAD_ONE;
	expected = ticks * f / SPREAD_ONE;
	more = hits > expected ? hits - expected : expected - hits;
	k->pairs += ticks * (u64)(ticks - TICK_ONE) * chance / SPREAD_ONE;
	k->spread += (s64)(more * more) - (s64)((u64)ticks * TICK_ONE * chance / SPREAD_ONE);
}

/*
 * The time that a segment of this kind spent in the selected code. With f the share of the kind's
 * ticks there, it is f * length + w * P * (hits - f * ticks). w is smaller the fewer ticks there
 * are and the more alike segments are: for n ticks and a correlation of r it is n * r / (1 + (n -
 * 1) * r). The second term is 0 on average, so the sum over all segments is right for any w.
 */
static __always_inline s64 kind_time(const struct kind *k, const struct credit *c, u64 length,
				     u64 period)
{
	u64 all = k->ticks, in = k->hits;
	u64 spread = kind_spread(k), seen = c->ticks * spread;
	u64 own = seen ? seen * period / (seen + (SPREAD_ONE - spread) * TICK_ONE) : 0;
	u64 plus = in * length + own * c->hits / TICK_ONE * all;
	u64 minus = own * c->ticks / TICK_ONE * in;

	return plus > minus ? (s64)((plus - minus) / all) : -(s64)((minus - plus) / all);
}

static __always_inline s64 at_most(s64 x, s64 most)
{
	return x > most ? most : x < -most ? -most : x;
}

/*
 * Ends a segment and gives what is still due for it. What cannot be given within its length, or was
 * given too much, is carried to the next of its kind. k is 0 where the kind is new.
 */
static __always_inline u64 credit_hand_over(struct credit *c, u64 now, u64 rate, u64 period,
					    struct kind *k)
{
	u64 length = credit_length(c, now), room = length * rate / CREDIT_ONE, due = 0, owed, back;
	s64 want = c->in * rate / CREDIT_ONE, most = 2 * (s64)(period * rate / CREDIT_ONE);
	bool known = k && k->ticks >= KIND_KNOWN;

	if (known) {
		s64 in = kind_time(k, c, length, period);

		want = in < 0 ? -(s64)((u64)-in * rate / CREDIT_ONE)
			      : (s64)((u64)in * rate / CREDIT_ONE);
		/* A request deserves no more than its length, and not less than nothing. */
		c->request_due += want > 0 ? (s64)lesser(want, room) : 0;
	}
	want += c->carry + (known ? k->carry : 0);
	if (want > (s64)c->earned && room > c->earned)
		due = lesser(want, room) - c->earned;
	want -= c->earned + due;
	if (known) {
		c->request_due -= c->earned + due;
		/*
		 * What was expected of this segment or of earlier ones, and has not come, the
		 * thread pays back whatever it does next.
		 */
		owed = c->expected + (c->carry < 0 ? (u64)-c->carry : 0);
		back = want < 0 ? lesser(-want, owed) : 0;
		k->carry = at_most(want + (s64)back, most);
		c->carry = at_most(-(s64)back, most);
	} else {
		c->carry = at_most(want, most);
	}
	credit_begin(c, now);
	if (known) { /* later samples stand for nothing of this segment */
		c->rest = 0;
		c->last = SIDE_UNKNOWN;
	}
	return due;
}

static __always_inline struct kind *kinds_find(struct kinds *all, u64 key)
{
	struct kind *set = all->set[key % KIND_SETS];

	for (int i = 0; i < KIND_WAYS; i++)
		if (set[i].key == key)
			return &set[i];
	return 0;
}

/*
 * The thread does something else now between the same two places, as threads of a runtime do that
 * run one goroutine after another. What was known would be wrong for as long as it took to learn.
 * (Page's test: what exceeds the expected share by more than a quarter adds up.)
 */
static __always_inline bool kind_changed(struct kind *k, u32 hits, u32 ticks)
{
	s64 more = (s64)hits - (s64)((u64)ticks * k->hits / k->ticks);
	s64 above = k->above + more - ticks / 4, below = k->below - more - ticks / 4;

	k->above = above > 0 ? above : 0;
	k->below = below > 0 ? below : 0;
	return k->above > KIND_CHANGED_AT || k->below > KIND_CHANGED_AT;
}

static __always_inline void kind_count(struct kind *k, u32 hits, u32 ticks)
{
	if (k->ticks >= KIND_FULL) {
		k->ticks /= 2;
		k->hits /= 2;
		k->pairs /= 2;
		k->spread >>= 1;
	}
	k->ticks += ticks;
	k->hits += hits;
}

/*
 * Adds a segment. A new kind takes the place of the one that is known least. Members of a family
 * differ and learn at once: for them no kind changes.
 */
static __always_inline void kinds_learn(struct kinds *all, u64 key, u32 hits, u32 ticks,
					bool may_change)
{
	struct kind *set = all->set[key % KIND_SETS], *k = kinds_find(all, key);

	if (!k) {
		k = set;
		for (int i = 0; i < KIND_WAYS; i++) {
			set[i].hits /= 2; /* or a kind that never comes again would stay */
			set[i].ticks /= 2;
			if (set[i].ticks < k->ticks)
				k = &set[i];
		}
		*k = (struct kind) { .key = key };
	}
	kind_compare(k, hits, ticks);
	if (may_change && k->ticks >= KIND_KNOWN && kind_changed(k, hits, ticks)) {
		k->hits = k->ticks = 0;
		k->above = k->below = 0;
	}
	kind_count(k, hits, ticks);
}

#endif
