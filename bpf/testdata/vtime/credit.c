//go:build ignore

/* Checks what segments earn (vtime/credit.h, vtime/weight.h), against the truth. usage: credit SEED */
#include "../../vtime/credit.h"
#include "check.h"

/*
 * The thread runs until then, in selected code of this weight or, for 0, outside it. Ticks meet it
 * at random moments, about a period apart. Returns what the thread earns at these ticks.
 */
static u64 run_weighted(struct credit *c, u64 *next_tick, u64 until, u32 weight, u64 rate)
{
	enum side side = weight ? SIDE_IN : SIDE_OUT;
	u64 earned = 0;

	for (; *next_tick < until; *next_tick += PERIOD * 7 / 8 + random_below(PERIOD / 4)) {
		credit_sample(c, credit_ran(c, *next_tick, 2 * PERIOD), side, weight);
		earned += credit_due(c, *next_tick, rate);
	}
	return earned;
}

static u64 run(struct credit *c, u64 *next_tick, u64 until, enum side side, u64 rate)
{
	return run_weighted(c, next_tick, until, side == SIDE_IN ? WEIGHT_ONE : 0, rate);
}

/* Ends a segment of this kind, which learns from it. Returns what the segment still earns. */
static u64 end_segment(struct credit *c, struct kinds *known, u64 key, u64 at, u64 rate)
{
	u32 hits = c->hits, ticks = c->ticks;
	u64 due = credit_hand_over(c, at, rate, PERIOD, kinds_find(known, key));

	if (ticks)
		kinds_learn(known, key, hits, ticks, 1);
	return due;
}

/*
 * Segments of three kinds take turns: all in the selected code, all outside, and mixed by chance.
 * Their lengths are random. Once the kinds are known, a segment of the first two earns what it
 * deserves even if no tick meets it, and all segments together earn what they deserve. A period in
 * the selected code is worth so many ns.
 */
static void check_kinds(u64 worth)
{
	u64 rate = worth * CREDIT_ONE / PERIOD, at = 0, next_tick = 0, earned = 0, deserved = 0;
	struct kinds known = {};
	struct credit c = {};

	for (int i = 0; i < 20000; i++) {
		u64 length = 50 + random_below(3 * PERIOD), key = 1 + i % 3;
		u64 selected = key == 1	  ? length
			       : key == 2 ? 0
					  : length / 4 + random_below(length / 2);
		u64 due = run(&c, &next_tick, at + selected, SIDE_IN, rate);

		due += run(&c, &next_tick, at + length, SIDE_OUT, rate);
		at += length;
		due += end_segment(&c, &known, key, at, rate);
		MUST(due <= length * rate / CREDIT_ONE);
		if (i < 2000) /* the kinds are not known yet */
			continue;
		earned += due;
		deserved += selected * rate / CREDIT_ONE;
		if (key == 1)
			MUST(due + 2 >= length * rate / CREDIT_ONE);
		if (key == 2)
			MUST(due <= 2 * worth);
	}
	MUST(earned <= deserved + deserved / 50 && deserved <= earned + earned / 50);
}

/*
 * Requests of random lengths, each one segment of the same kind, at a speed-up of 100%. If they are
 * alike, a third of each is outside the selected code, whichever ticks meet it. Otherwise each is
 * inside or outside as a whole, and only its own ticks tell. A request is closed at what it earned
 * and what is still due for it. That is between 0 and its length, wrong by less than error on
 * average, and wrong by less than a twelfth in total: ticks meet few of the short requests.
 */
static void check_requests(u64 shortest, u64 longest, bool alike, u64 error)
{
	u64 at = 0, next_tick = 0, absolute = 0, all = 0;
	struct kinds known = {};
	struct credit c = {};
	s64 sum = 0;

	for (int i = 0; i < 20000; i++) {
		u64 length = shortest + random_below(longest - shortest);
		u64 outside = alike ? length / 3 : random_below(2) ? length : 0;
		u64 earned = run(&c, &next_tick, at + outside, SIDE_OUT, CREDIT_ONE);
		s64 closed_at, wrong;

		earned += run(&c, &next_tick, at + length, SIDE_IN, CREDIT_ONE);
		at += length;
		c.request_due = 0;
		earned += end_segment(&c, &known, 1, at, CREDIT_ONE);
		closed_at = (s64)earned + c.request_due;
		wrong = closed_at - (s64)(length - outside);
		if (i < 2000) /* the kind is not known yet */
			continue;
		MUST(closed_at >= 0 && closed_at <= (s64)length);
		absolute += wrong < 0 ? -wrong : wrong;
		sum += wrong;
		all += length;
	}
	MUST(absolute / 18000 < error);
	MUST((u64)(sum < 0 ? -sum : sum) < all / 12);
}

/*
 * Two units that are sped up by different amounts: rate, and half or an eighth of it. A thread goes
 * through both and through other code, in segments of one kind or, if they do not hand over, in one
 * that never ends. It earns what it deserves, to 7%: segments of such different lengths and parts
 * give a single unit 6% too much, as what was given too early is carried on within bounds only.
 */
static void check_weights(u64 segment, bool hand_over, u32 weight)
{
	u64 rate = CREDIT_ONE * 3 / 4, at = 0, next_tick = 0, earned = 0, deserved = 0;
	struct kinds known = {};
	struct credit c = {};

	for (int i = 0; i < 20000; i++) {
		u64 first = random_below(segment), second = random_below(segment);

		earned += run_weighted(&c, &next_tick, at += first, WEIGHT_ONE, rate);
		earned += run_weighted(&c, &next_tick, at += second, weight, rate);
		earned += run_weighted(&c, &next_tick, at += random_below(segment), 0, rate);
		deserved += (first + weighted(second, weight)) * rate / CREDIT_ONE;
		if (hand_over)
			earned += end_segment(&c, &known, 1, at, rate);
	}
	if (earned * 100 > deserved * 107 || earned * 100 < deserved * 96) {
		printf("broken: two units, the second of weight %u, in segments of %lu earned %lu "
		       "of %lu\n",
		       weight, (unsigned long)segment, (unsigned long)earned,
		       (unsigned long)deserved);
		exit(1);
	}
}

/* What is sped up on top of something else, and what weights can be. */
static void check_on_top(void)
{
	MUST(weight_on_top(WEIGHT_ONE, 0, CREDIT_ONE) == WEIGHT_ONE);
	MUST(weight_on_top(0, 300, CREDIT_ONE / 2) == 300);
	/* 30% on top of 50% is 65%, relative to 65%. */
	MUST(weight_on_top(473, 788, 666) / 8 == WEIGHT_ONE / 8 - 1 ||
		     weight_on_top(473, 788, 666) / 8 == WEIGHT_ONE / 8);
	/* Twice all is all. */
	MUST(weight_on_top(WEIGHT_ONE, WEIGHT_ONE, CREDIT_ONE) == WEIGHT_ONE);
	MUST(weighted_ticks(TICK_ONE, WEIGHT_ONE) == TICK_ONE);
	MUST(weighted_ticks(-TICK_ONE / 2, WEIGHT_ONE) == -TICK_ONE / 2);
}

/*
 * A thread of a runtime: for a while all of its segments are in the selected code, then for a while
 * none are, and both look alike. In both states the thread earns what it deserves, except for
 * error percent of the time.
 */
static void check_changed_kinds(u64 segment, u64 error)
{
	u64 at = 0, next_tick = 0, earned[2] = {}, ran[2] = {};
	struct kinds known = {};
	struct credit c = {};
	bool in = 0;

	for (int i = 0; i < 20000; i++) {
		u64 length = segment / 2 + random_below(segment);

		if (random_below(200 * PERIOD / segment) == 0)
			in = !in;
		at += length;
		earned[in] += run(&c, &next_tick, at, in ? SIDE_IN : SIDE_OUT, CREDIT_ONE);
		earned[in] += end_segment(&c, &known, 1, at, CREDIT_ONE);
		ran[in] += length;
	}
	if (earned[0] * 100 > ran[0] * error || (ran[1] - earned[1]) * 100 > ran[1] * error) {
		printf("broken: stretches of %lu that change were given %.3f and %.3f of their "
		       "time, for 0 and 1\n",
		       (unsigned long)segment, (double)earned[0] / ran[0],
		       (double)earned[1] / ran[1]);
		exit(1);
	}
}

/*
 * One segment of five is all in the selected code, the others are outside. In each, at a random
 * moment, another thread pays for what this thread is expected to have earned, and that is booked
 * in advance. In the end this thread has earned what it deserves, to 3%.
 */
static void check_expected(u64 segment)
{
	u64 at = 0, next_tick = 0, earned = 0, deserved = 0;
	struct kinds known = {};
	struct credit c = {};

	for (int i = 0; i < 20000; i++) {
		u64 length = segment / 2 + random_below(segment),
		    booked_at = at + random_below(length), expected;
		bool in = random_below(5) == 0;
		enum side side = in ? SIDE_IN : SIDE_OUT;

		earned += run(&c, &next_tick, booked_at + 1, side, CREDIT_ONE);
		expected = credit_unsampled(&c, booked_at) / 5;
		c.earned += expected;
		c.expected += expected;
		at += length;
		earned += expected + run(&c, &next_tick, at, side, CREDIT_ONE);
		earned += end_segment(&c, &known, 1 + in, at, CREDIT_ONE);
		deserved += in ? length : 0;
	}
	if (earned * 100 > deserved * 103 || earned * 100 < deserved * 97) {
		printf("broken: with advances stretches of %lu were given %.3f of what they "
		       "deserve\n",
		       (unsigned long)segment, (double)earned / deserved);
		exit(1);
	}
}

/* A thread that enters and leaves the selected code again and again. */
struct crossings {
	u64 in, out;	       /* the mean time inside, and outside */
	u64 stop_in, stop_out; /* for how long a tick that meets it inside, or outside, stops it */
	u64 segment;	       /* the length of its segments */
	bool kinds;	       /* their kind is learned */
	u64 deferred;	       /* the share of samples that are deferred, in percent ... */
	bool defer_all;	       /* ... of all samples; 0: of those inside */
	u64 error;	       /* allowed, in percent of what the thread runs */
};

/* What is known of such a thread. */
struct crosser {
	struct credit credit;
	struct kinds kinds;
	struct deferred_credit deferred;
	enum side deferred_side; /* SIDE_UNKNOWN: no sample is deferred */
	bool deferred_segment_ended;
	u64 found;	 /* the time inside, by samples */
	u64 hits, ticks; /* the same by ticks: hits of ticks */
	u64 forgotten;	 /* how often the kind was taken to have changed */
};

/* The thread's segment ends. */
static void end_crosser_segment(struct crosser *t, const struct crossings *is, u64 at)
{
	u32 hits = t->credit.hits, ticks = t->credit.ticks;

	t->found += t->credit.in;
	credit_hand_over(&t->credit, at, CREDIT_ONE, PERIOD,
			 is->kinds ? kinds_find(&t->kinds, 1) : 0);
	if (ticks) {
		struct kind *k = kinds_find(&t->kinds, 1);
		u32 before = k ? k->ticks : 0;

		kinds_learn(&t->kinds, 1, hits, ticks, 1);
		t->forgotten += before < KIND_FULL && k && k->ticks < before;
	}
	t->hits += hits;
	t->ticks += ticks;
	t->deferred_segment_ended = t->deferred_side != SIDE_UNKNOWN;
}

/* The side of the deferred sample becomes known. If its segment is over, the kind learns it now. */
static void settle_crosser(struct crosser *t, const struct crossings *is)
{
	if (t->deferred_segment_ended) {
		u32 part = TICK_ONE - t->deferred.lost,
		    hits = t->deferred_side == SIDE_IN ? part : 0;

		kinds_learn(&t->kinds, 1, hits, part, 1);
		t->hits += hits;
		t->ticks += part;
	}
	t->deferred_segment_ended = 0;
	t->found -= t->credit.carry;
	credit_settle(&t->credit, &t->deferred, t->deferred_side == SIDE_IN ? WEIGHT_ONE : 0,
		      CREDIT_ONE, is->kinds);
	t->found += t->credit.carry;
	t->deferred_side = SIDE_UNKNOWN;
}

/* A tick meets the thread at this side. Its sample may be deferred until a later tick. */
static void sample_crosser(struct crosser *t, const struct crossings *is, u64 at, enum side side)
{
	if (t->deferred_side != SIDE_UNKNOWN && random_below(2))
		settle_crosser(t, is);
	if (t->deferred_side == SIDE_UNKNOWN && (is->defer_all || side == SIDE_IN) &&
	    random_below(100) < is->deferred) {
		t->deferred_side = side;
		credit_defer(&t->credit, credit_ran(&t->credit, at, 2 * PERIOD), &t->deferred);
	} else {
		credit_sample(&t->credit, credit_ran(&t->credit, at, 2 * PERIOD), side,
			      WEIGHT_ONE);
	}
}

/* Prints what is broken, and where. */
static void print_crossings(const struct crossings *is)
{
	printf("broken: %lu in, %lu out, stopped for %lu, %lu there: ", (unsigned long)is->in,
	       (unsigned long)is->out, (unsigned long)is->stop_in, (unsigned long)is->stop_out);
}

/*
 * A thread enters and leaves the selected code, and is stopped at ticks for what others earn, on
 * one side more than on the other. Its samples, or its kind, show how long it has run inside, to
 * the allowed error. The side of some samples becomes known later.
 */
static void check_crossings(const struct crossings *is)
{
	u64 ran = 0, inside = 0, next_tick = 0, at = 0, segment_end = is->segment;
	struct crosser t = {};

	for (u64 round = 0; round < 12000; round++) {
		enum side side = round & 1 ? SIDE_OUT : SIDE_IN;
		u64 mean = side == SIDE_OUT ? is->out : is->in,
		    left = mean / 2 + random_below(mean);

		while (left) {
			u64 step = lesser(left, lesser(segment_end - ran, next_tick - at)), took;

			at += step;
			ran += step;
			left -= step;
			inside += side == SIDE_IN ? step : 0;
			if (ran == segment_end) {
				end_crosser_segment(&t, is, at);
				segment_end += is->segment;
			}
			if (at < next_tick || !left)
				continue;
			sample_crosser(&t, is, at, side);
			took = side == SIDE_OUT ? is->stop_out : is->stop_in;
			at += took;
			t.credit.began += took;
			while (next_tick <= at)
				next_tick = (next_tick / PERIOD + 1) * PERIOD +
					    random_below(PERIOD / 4);
			credit_stopped(&t.credit, next_tick - at, PERIOD);
		}
	}
	if (is->kinds)
		t.found = t.hits * ran / t.ticks;
	/* The thread does the same all the time, so its kind hardly ever seems to change. */
	if (t.forgotten * 300 * TICK_ONE > t.ticks) {
		print_crossings(is);
		printf("forgotten %lu times in %lu ticks\n", (unsigned long)t.forgotten,
		       (unsigned long)t.ticks / TICK_ONE);
		exit(1);
	}
	if (t.found > inside + ran * is->error / 100 || inside > t.found + ran * is->error / 100) {
		print_crossings(is);
		printf("%.3f was inside, %.3f found, %s, %lu%% of %s late\n", (double)inside / ran,
		       (double)t.found / ran, is->kinds ? "by kind" : "by samples",
		       (unsigned long)is->deferred, is->defer_all ? "all" : "those inside");
		exit(1);
	}
}

/* crossing_cases runs each with and without kinds and deferred samples. */
static const struct crossings crossings[] = {
	{ .in = 4 * PERIOD, .out = 2 * PERIOD, .segment = 9 * PERIOD },
	{ .in = 4 * PERIOD, .out = 2 * PERIOD, .stop_out = PERIOD * 2 / 3, .segment = 9 * PERIOD },
	{ .in = 4 * PERIOD, .out = 2 * PERIOD, .stop_in = PERIOD / 2, .segment = 9 * PERIOD },
	{ .in = 2 * PERIOD, .out = 2 * PERIOD, .stop_out = PERIOD * 9 / 10, .segment = 9 * PERIOD },
	/*
	 * These allow 4 percent more: a thread that stays for less than a period may enter and
	 * leave between two samples.
	 */
	{ .in = PERIOD / 4, .out = PERIOD / 4, .segment = PERIOD / 2, .error = 4 },
	{ .in = PERIOD,
	  .out = PERIOD * 2 / 3,
	  .stop_in = PERIOD / 8,
	  .stop_out = PERIOD / 2,
	  .segment = 9 * PERIOD,
	  .error = 4 },
};

static void crossing_cases(void)
{
	for (int i = 0; i < 8; i++) {
		bool kinds = i & 1, defer_all = i & 4;
		u64 deferred = i & 2 ? 60 : 0;
		/*
		 * A kind knows its last thousand ticks only. What a stop took from the period after
		 * a deferred sample is not known.
		 */
		u64 error = kinds ? 5 + deferred / 20 : 1 + deferred / 30;

		for (u64 k = 0; k < sizeof crossings / sizeof *crossings; k++) {
			struct crossings is = crossings[k];

			is.kinds = kinds;
			is.deferred = deferred;
			is.defer_all = defer_all;
			is.error += error;
			check_crossings(&is);
		}
	}
}

int main(int argc, char **argv)
{
	read_seed(argc, argv);
	check_kinds(PERIOD / 2);
	check_kinds(PERIOD);
	check_requests(PERIOD * 9 / 10, 2 * PERIOD, true, PERIOD / 10);
	check_requests(3 * PERIOD, 6 * PERIOD, false, PERIOD / 2);
	check_requests(PERIOD / 20, PERIOD / 8, true, PERIOD / 100);
	check_changed_kinds(PERIOD / 2, 6);
	check_changed_kinds(PERIOD, 6);
	check_changed_kinds(2 * PERIOD, 6);
	check_expected(PERIOD);
	check_expected(2 * PERIOD);
	check_expected(5 * PERIOD);
	check_on_top();
	for (u32 weight = WEIGHT_ONE / 8; weight <= WEIGHT_ONE / 2; weight *= 4) {
		check_weights(PERIOD / 5, 1, weight);
		check_weights(3 * PERIOD, 1, weight);
		check_weights(3 * PERIOD, 0, weight);
	}
	crossing_cases();
	return 0;
}
