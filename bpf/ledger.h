/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/*
 * The ledger's arithmetic, apart from the kernel: compiled into the BPF
 * programs and, by ledger_test.go, for user space.
 *
 * G, the global delay, is how much later than its official time everything
 * should be happening by now. An account's level is how much of G its owner has
 * had so far. So a thread's position in virtual time, the time of a world in
 * which the selected code is faster, is
 *
 *	now - level
 *
 * and the official virtual time is now - G. A thread whose level is below G is
 * ahead of the official time by its debt, G - level: it has done work that it
 * should not have reached yet, and must be stopped, or wait, for that long.
 *
 * Everything below follows from one rule, that of discrete event simulation:
 * what waits for something goes on at the later of the two virtual times, its
 * own and that of what it waited for.
 */
#ifndef WHATIF_LEDGER_H
#define WHATIF_LEDGER_H

/* A thread's or a core's account. All times in nanoseconds. */
struct account {
	u64 level; /* delay that it has had */
	u64 since; /* when it stopped running: from then on its position stands still */
	u64 epoch; /* the experiment that the two belong to */
};

static __always_inline u64 lesser(u64 a, u64 b)
{
	return a < b ? a : b;
}

/* A new experiment begins for everyone at the same position. */
static __always_inline void account_adopt(struct account *a, u64 epoch, u64 start, u64 global)
{
	if (a->epoch == epoch)
		return;
	a->epoch = epoch;
	a->level = global;
	if (a->since < start)
		a->since = start;
}

/* account_away is for how long the owner has stood still. */
static __always_inline u64 account_away(const struct account *a, u64 now)
{
	return now > a->since ? now - a->since : 0;
}

/*
 * account_waited is the level of one that stood still from since to now and was
 * let go on by someone at level releaser. While it stood still its level grew
 * with the clock, because its position did not; it need not be later than the
 * one that released it.
 */
static __always_inline u64 account_waited(const struct account *a, u64 now, u64 releaser)
{
	return lesser(a->level + account_away(a, now), releaser);
}

/* account_sleepless: who stood still has waited for nobody in virtual time: it would not have gone to sleep. */
static __always_inline bool account_sleepless(const struct account *a, u64 now, u64 releaser)
{
	u64 away = account_away(a, now);

	return !away || a->level + away <= releaser;
}

/* An idle core comes to itself within this; who got it later waited for another first. */
#define COMES_TO_ITSELF_NS 250000

/*
 * account_got_core is the level of one that could run since a->since and is given a core, which is at level core. It has
 * waited for that, but who was woken has not for one that stood idle since before (since idle; 0: it did not): what such a core takes to
 * come to itself it takes in the faster world, too.
 */
static __always_inline u64 account_got_core(const struct account *a, u64 now, u64 core, bool woken, u64 idle)
{
	bool waited = !woken || !idle || idle > a->since || now > a->since + COMES_TO_ITSELF_NS;

	return account_waited(a, waited ? now : a->since, core);
}

/*
 * A sample in the selected code stands for what the thread has run since its last
 * one, and of that it did s in no virtual time. Not for a period: who is stopped for
 * a part of each is sampled as often as before, and runs less; nor for what its core
 * has run, as the scheduler likes to take it from a thread when a stop is over. Where it
 * went in, though, it ran a half of that before, and where it goes out again a half of the
 * next, which is not the same if it is stopped on one side only, as others earn then.
 * That is made up for when it is out, so that it has earned in time what it deserves
 * where it lets others go on and nobody sees it. What counts is what a thread has earned when it hands over to another, and how many samples one stretch between
 * two hand-overs gets is chance, when it is not much longer than a period. But
 * stretches come in kinds: those that begin at one place and end at another, as
 * from being let into a lock to letting in the next, do much the same each time.
 * So at its end a stretch is given what its kind usually has in the selected
 * code, moved towards its own samples the more of them there are, and the less alike the kind's stretches are. Until then it
 * is given what its samples have shown, but never more than s of its length.
 */
struct credit {
	u64 earned; /* in this stretch */
	u64 advanced; /* of that, what was only expected, see foresee.h */
	u64 ran;    /* in this stretch, before began */
	u64 began;  /* when it last came to run, later by the stops since */
	s64 carry;  /* due from earlier stretches of unknown kinds, or given too much */
	s64 still;  /* what stretches of known kinds have deserved, since it last began or ended a request, besides what it was given */
	u64 from;   /* the place where the stretch began */
	u64 in;     /* running in the selected code that the samples of this stretch stand for */
	u64 seen;   /* how long this stretch was at its last sample */
	u64 rest;   /* running before this stretch that no sample stands for yet */
	u64 entered; /* what the sample that found it go in stands for; 0: it was in */
	u32 last;   /* enum side: where the last sample found it */
	s32 lost;   /* half of what was missing from a period after that, in parts of TICK_ONE */
	u32 hits;   /* ticks of this stretch in the selected code, in parts of TICK_ONE */
	u32 ticks;  /* ticks of this stretch */
	u32 samples; /* all of them */
	u32 stretch; /* its number */
	u32 open;    /* the last sample is put off */
};

/* A sample of which it is not known yet where it found the thread, and what was known when it was taken. */
struct put_off {
	u64 ran;
	s32 lost;
	u32 samples; /* with it; the same number later: it is still the last */
	u32 stretch;
};

/*
 * What ticks have shown of a kind of stretches. Each thread has its own: the
 * same places can be another's, that does something else in between.
 */
struct kind {
	u64 key;   /* where it begins and ends, and the unit */
	s64 carry; /* due from earlier stretches, or given too much */
	u32 hits;  /* in parts of TICK_ONE, as below */
	u32 ticks;
	u32 above; /* by how much lately more of its ticks were hits than before, and */
	u32 below; /* by how much fewer: past what chance would do, see kind_changed */
	u64 pairs; /* of ticks in one stretch, f * (1 - f) for each, in parts of TICK_ONE, squared */
	s64 unlike; /* by how much its hits have varied more than by chance: the same share of the pairs, see kind_unlike */
};

/* The kinds that a thread remembers: few, as most threads go round in a loop. */
#define KIND_SETS 4
#define KIND_WAYS 4
struct kinds {
	struct kind set[KIND_SETS][KIND_WAYS];
};

/* The rate is s in units of 1/CREDIT_ONE. */
#define CREDIT_ONE 1024
/* A tick without a stop on either side. */
#define TICK_ONE 64
/* Ticks of a kind below which nothing is known of it. */
#define KIND_KNOWN (4 * TICK_ONE)
/* Ticks of a kind at which the older ones begin to count less. */
#define KIND_FULL (1024 * TICK_ONE)
/* So many ticks of surprise, and a kind is another. */
#define KIND_OTHER (4 * TICK_ONE)

enum side {
	SIDE_UNKNOWN,
	SIDE_OUT,
	SIDE_IN, /* in the selected code */
};

static __always_inline u64 credit_length(const struct credit *c, u64 now)
{
	return c->ran + (now > c->began ? now - c->began : 0);
}

/* It is made to wait for a core: the stretch goes on when it has one. */
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

/* credit_ran is what was run since the last sample. More than most at a stretch is the host's doing. */
static __always_inline u64 credit_ran(struct credit *c, u64 now, u64 most)
{
	/* Who runs shortly is sampled seldom, and may have run for many periods by then. */
	u64 ran = lesser(c->rest, 8 * most) + lesser(credit_unsampled(c, now), most);

	c->rest = 0;
	c->seen = credit_length(c, now);
	return ran;
}

/*
 * credit_sample books a sample, which found the thread at side. Among its like it stands
 * for half of what lies between it and the last one, and, as nothing else is known yet, for
 * half of a period after it.
 */
static __always_inline void credit_sample(struct credit *c, u64 ran, enum side side)
{
	u32 part = TICK_ONE - c->lost;

	if (side == SIDE_IN) {
		c->in += ran;
		c->entered = c->last == SIDE_OUT ? ran : c->last == SIDE_IN ? c->entered : 0;
	} else if (side == SIDE_OUT && c->last == SIDE_IN) {
		c->in += ran / 2;
		c->in -= lesser(c->in, c->entered / 2);
	}
	c->last = side;
	c->lost = 0;
	c->open = 0;
	c->samples++;
	if (side == SIDE_UNKNOWN)
		return;
	c->ticks += part;
	c->hits += side == SIDE_IN ? part : 0;
}

/* After the last sample so much was missing from a half of a period. */
static __always_inline void credit_shorten(struct credit *c, s32 lost)
{
	c->lost = lost;
	if (c->open || c->last == SIDE_UNKNOWN || c->ticks < TICK_ONE / 2)
		return;
	c->ticks -= c->lost;
	c->hits -= c->last == SIDE_IN ? c->lost : 0;
}

/* credit_stopped: after the stop that followed the last sample only so much is left until the next tick. */
static __always_inline void credit_stopped(struct credit *c, u64 left, u64 period)
{
	credit_shorten(c, TICK_ONE / 2 - (s32)(left * (TICK_ONE / 2) / period));
}

/*
 * credit_put_off keeps a sample until it is known where it found the thread. If the next comes before
 * that, it is to that as if there had been none: so nothing is known of a bound twice, or not at all.
 */
static __always_inline void credit_put_off(struct credit *c, u64 ran, struct put_off *p)
{
	p->ran = ran;
	p->lost = c->lost;
	p->samples = ++c->samples;
	p->stretch = c->stretch;
	c->lost = 0;
	c->open = 1;
}

/*
 * credit_late books the sample that was put off. If its stretch is over, what that still deserves is due from the
 * next, unless it has been given what its kind does.
 */
static __always_inline void credit_late(struct credit *c, const struct put_off *p, enum side side, u64 rate, bool given)
{
	s32 lost = c->lost;

	if (p->stretch != c->stretch) {
		if (side == SIDE_IN && !given)
			c->carry += p->ran * rate / CREDIT_ONE;
	} else if (p->samples == c->samples) {
		c->lost = p->lost;
		credit_sample(c, p->ran, side);
		credit_shorten(c, lost);
	} else { /* there were others since: their bounds are known, and its own is not */
		c->in += side == SIDE_IN ? p->ran : 0;
		c->ticks += TICK_ONE - p->lost;
		c->hits += side == SIDE_IN ? TICK_ONE - p->lost : 0;
	}
}

/* The next stretch begins. */
static __always_inline void credit_begin(struct credit *c, u64 now)
{
	c->rest += credit_unsampled(c, now);
	c->earned = c->advanced = c->ran = c->in = c->seen = 0;
	c->began = now;
	c->hits = c->ticks = 0;
	c->stretch++;
	c->open = 0;
}

/* credit_due takes what the running stretch has come to deserve. */
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
 * How different a kind's stretches are, from 0 to 1: the correlation of two ticks of one stretch. Were all alike, f * n of n ticks would be
 * hits but for chance, whose variance is n * f * (1 - f). Where they are not, each of the n * (n - 1) pairs of ticks adds f * (1 - f) times that.
 * Ticks that come at even distances vary less than by chance: then it is 0.
 */
#define UNLIKE_ONE 1024
/* A third is taken until some six stretches of three ticks have been seen. */
#define UNLIKE_KNOWN (8 * TICK_ONE * TICK_ONE)

static __always_inline u64 kind_unlike(const struct kind *k)
{
	s64 unlike = k->unlike + UNLIKE_KNOWN / 3;
	u64 all = k->pairs + UNLIKE_KNOWN;

	return unlike <= 0 ? 0 : lesser(unlike, all) * UNLIKE_ONE / all;
}

/* A stretch of several ticks tells how different they are. */
static __always_inline void kind_compare(struct kind *k, u32 hits, u32 ticks)
{
	u64 f, chance, more, expected;

	/* One tick is up to one and a half where the next comes late. */
	if (ticks <= 3 * TICK_ONE / 2 || k->ticks < KIND_KNOWN)
		return;
	f = lesser((u64)k->hits * UNLIKE_ONE / k->ticks, UNLIKE_ONE); /* threads of a family learn at once, and a part of the ticks may be lost */
	chance = f * (UNLIKE_ONE - f) / UNLIKE_ONE;
	expected = ticks * f / UNLIKE_ONE;
	more = hits > expected ? hits - expected : expected - hits;
	k->pairs += ticks * (u64)(ticks - TICK_ONE) * chance / UNLIKE_ONE;
	k->unlike += (s64)(more * more) - (s64)((u64)ticks * TICK_ONE * chance / UNLIKE_ONE);
}

/*
 * The time that a stretch of this kind spent in the selected code: with f the
 * share of the kind's ticks there, f * length + w * P * (hits - f * ticks), with w
 * the smaller the fewer ticks it has, and the more alike the kind's stretches are: for n ticks and a correlation of r it is n * r / (1 + (n - 1) * r).
 * The second term is 0 on average, so the sum over all stretches is right for any w.
 */
static __always_inline s64 kind_time(const struct kind *k, const struct credit *c, u64 length, u64 period)
{
	u64 all = k->ticks, in = k->hits;
	u64 unlike = kind_unlike(k), seen = c->ticks * unlike;
	u64 own = seen ? seen * period / (seen + (UNLIKE_ONE - unlike) * TICK_ONE) / TICK_ONE : 0;
	u64 plus = in * length + own * c->hits * all, minus = own * c->ticks * in;

	return plus > minus ? (s64)((plus - minus) / all) : -(s64)((minus - plus) / all);
}

static __always_inline s64 at_most(s64 x, s64 most)
{
	return x > most ? most : x < -most ? -most : x;
}

/*
 * credit_hand_over ends a stretch and gives what is still due for it. What cannot
 * be given in its length, or was given too much, is carried on to the next of its
 * kind. k: 0 where the kind is new.
 */
static __always_inline u64 credit_hand_over(struct credit *c, u64 now, u64 rate, u64 period, struct kind *k)
{
	u64 length = credit_length(c, now), room = length * rate / CREDIT_ONE, due = 0, owed, back;
	s64 want = c->in * rate / CREDIT_ONE, most = 2 * (s64)(period * rate / CREDIT_ONE);
	bool known = k && k->ticks >= KIND_KNOWN;

	if (known) {
		s64 in = kind_time(k, c, length, period);

		want = in < 0 ? -(s64)((u64)-in * rate / CREDIT_ONE) : (s64)((u64)in * rate / CREDIT_ONE);
		/* Of a request it is no more than there was, and not less than nothing. */
		c->still += want > 0 ? (s64)lesser(want, room) : 0;
	}
	want += c->carry + (known ? k->carry : 0);
	if (want > (s64)c->earned && room > c->earned)
		due = lesser(want, room) - c->earned;
	want -= c->earned + due;
	if (known) {
		c->still -= c->earned + due;
		/* What was expected of it, or of earlier ones, and has not come the thread pays back whatever it does next. */
		owed = c->advanced + (c->carry < 0 ? (u64)-c->carry : 0);
		back = want < 0 ? lesser(-want, owed) : 0;
		k->carry = at_most(want + (s64)back, most);
		c->carry = at_most(-(s64)back, most);
	} else {
		c->carry = at_most(want, most);
	}
	credit_begin(c, now);
	if (known) { /* samples to come stand for nothing of this one */
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
 * kind_changed: the thread does something else now between the same two places, as those do that run
 * whatever is to be run: a runtime's threads, its goroutines. What was known of it would be
 * wrong for as long as it took to learn. (Page's test: what exceeds the expected share
 * by more than a quarter adds up.)
 */
static __always_inline bool kind_changed(struct kind *k, u32 hits, u32 ticks)
{
	s64 more = (s64)hits - (s64)((u64)ticks * k->hits / k->ticks);
	s64 above = k->above + more - ticks / 4, below = k->below - more - ticks / 4;

	k->above = above > 0 ? above : 0;
	k->below = below > 0 ? below : 0;
	return k->above > KIND_OTHER || k->below > KIND_OTHER;
}

static __always_inline void kind_count(struct kind *k, u32 hits, u32 ticks)
{
	if (k->ticks >= KIND_FULL) {
		k->ticks /= 2;
		k->hits /= 2;
		k->pairs /= 2;
		k->unlike >>= 1;
	}
	k->ticks += ticks;
	k->hits += hits;
}

/*
 * kinds_learn adds a stretch. A kind that is new takes the place of what is known least. Not of one mind are
 * the members of a family, and they learn all at once: for them no kind changes.
 */
static __always_inline void kinds_learn(struct kinds *all, u64 key, u32 hits, u32 ticks, bool may_change)
{
	struct kind *set = all->set[key % KIND_SETS], *k = kinds_find(all, key);

	if (!k) {
		k = set;
		for (int i = 0; i < KIND_WAYS; i++) {
			set[i].hits /= 2; /* or what is never met again would stay */
			set[i].ticks /= 2;
			if (set[i].ticks < k->ticks)
				k = &set[i];
		}
		*k = (struct kind){ .key = key };
	}
	kind_compare(k, hits, ticks);
	if (may_change && k->ticks >= KIND_KNOWN && kind_changed(k, hits, ticks)) {
		k->hits = k->ticks = 0;
		k->above = k->below = 0;
	}
	kind_count(k, hits, ticks);
}

static __always_inline u64 account_debt(u64 level, u64 global)
{
	return global > level ? global - level : 0;
}

/*
 * account_paid is the level after a stop of took ns. What exceeds the debt is
 * not booked: it is the host's doing, and would have hit the thread anyway.
 */
static __always_inline u64 account_paid(u64 level, u64 took, u64 global)
{
	return level >= global ? level : lesser(level + took, global);
}

/*
 * A thread that waits busily, for someone who cannot be seen, is only seen
 * waiting at ticks. That stands for what it has run since its last sample, to be set against what
 * it is found to owe at that tick and until the next; not later: waiting does not
 * excuse a debt that comes up when it is over. What it waits between two ticks that
 * meet it working is known by how often they do not.
 */
struct waiting {
	u32 left;
	u32 often; /* how much of its time ticks have found it waiting so lately, of OFTEN_ONE */
};

#define OFTEN_ONE 1024

static __always_inline void waiting_learn(struct waiting *w, bool now)
{
	w->often = (7 * w->often + (now ? OFTEN_ONE : 0)) / 8;
}

/*
 * waiting_found is the level of one that is met working, after it ran that long since the last tick: of that it has waited as much
 * as it usually does, for those of whom the last one is at level others.
 */
static __always_inline u64 waiting_found(const struct waiting *w, u64 level, u64 ran, u64 others)
{
	return level + lesser(ran * w->often / OFTEN_ONE, account_debt(level, others));
}

/* waiting_spend is the level after what was waited has been set against the debt. */
static __always_inline u64 waiting_spend(struct waiting *w, u64 level, u64 global)
{
	u64 spent = lesser(w->left, account_debt(level, global));

	w->left -= spent;
	return level + spent;
}

/*
 * Who finds what it has looked for goes on at the position at which that was made. By whom is not known, but where he was as it was looked for before, and
 * where he is now: it was made in between, anywhere. found_late is by how much later that is, on average, than position, where the one who finds it is; what was made
 * before that is found at once.
 */
static __always_inline u64 found_late(u64 position, u64 from, u64 to)
{
	u64 late;

	if (to <= position)
		return 0;
	if (from >= position)
		return (to - position + (from - position)) / 2;
	late = (to - position) >> 10; /* or its square would be too large after some seconds */
	return late * late / (((to - from) >> 10) + 1) * 512;
}

/*
 * Who has worked since a timeout ran out, as event loops do, and waits at the same place again is let go on by one at this level. If that is before
 * the last timeout ran out, at position fired, it has waited since the first wait began: what it did then it would not have had to do, or do now.
 */
static __always_inline u64 waited_since(const struct account *a, u64 began, u64 fired, u64 now, u64 level)
{
	return now - level < fired ? began : a->since;
}

/* The average of how early a thread answers is over so many answers, about, as a power of two. */
#define ANSWERS_SHIFT 3
/* One that was asked for longer ago is not to count for all. */
#define MOST_LATE_NS 50000000ll

/* answered_early is that average after another answer, early by so much; late, where it is negative. Above 0 the thread should have waited by as much. */
static __always_inline s64 answered_early(s64 average, s64 early)
{
	early = early < -MOST_LATE_NS ? -MOST_LATE_NS : early;
	return average + (early >> ANSWERS_SHIFT) - (average >> ANSWERS_SHIFT);
}

#endif
