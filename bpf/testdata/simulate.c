//go:build ignore

/*
 * Tests the arithmetic of bpf/vtime in user space. The BPF programs include the same headers. This
 * program drives them with random events and checks the rules that must hold after each.
 *
 * TestLedgerArithmetic in bpf/ledger_test.go compiles it and runs it with many seeds. By hand, in
 * bpf/:
 *
 *	gcc -O2 -Wall -Werror -o /tmp/simulate testdata/simulate.c
 *	/tmp/simulate SEED EVENTS SLACK
 *
 * SEED starts the random numbers. EVENTS is the number of events in check_events, where a debt of
 * up to SLACK ns is not paid. The status is 0 if all rules held; 1 at the first broken one, with a
 * line "broken: ..."; 2 for wrong arguments; 3 if some kind of event never happened.
 *
 * The file's parts, in order: the model, its events, the checks, the cases.
 *
 * To add a case, call a check with other values at the end of run_cases. All cases draw from one
 * sequence of random numbers: put elsewhere, a new case changes the numbers of those after it.
 *
 * To add a check, write a function check_NAME. It simulates many events with random_below, compares
 * the result with the truth, and fails by MUST or with a line "broken: ...". Call it in run_cases.
 * Then take the rule out of bpf/vtime, and see the check fail.
 */
#include <stdio.h>
#include <stdlib.h>
#include "../vtime/credit.h"
#include "../vtime/estimates.h"
#include "../vtime/level.h"

/*
 * The model: threads with accounts, a clock, and G. Each thread has a core of its own, because
 * waiting for a core is the same account_waited as waiting for a thread. check_events uses all of
 * the model; each other check has a small world of its own, and only takes its random numbers here.
 */
#define THREADS 6
#define PERIOD 1000

struct thread {
	struct account account;
	struct spin spin;
	bool sleeping;
};

static struct thread threads[THREADS];
static u64 now = 1000000, global = 5000; /* global is G */

enum event {
	EVENT_HIT,	    /* a tick met a thread in the selected code */
	EVENT_BUSY_WAIT,    /* a tick met a thread that waits busily */
	EVENT_STOP,	    /* a thread was stopped for its debt */
	EVENT_SLEEP,	    /* a thread went to sleep */
	EVENT_WAKE,	    /* another thread woke it */
	EVENT_WAKE_OUTSIDE, /* a timer or a device woke it */
	EVENT_MAX,
};

static u64 events[EVENT_MAX]; /* how often each happened */

static u64 seed;

static u64 random_below(u64 n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % n;
}

#define MUST(rule, t)                                                                              \
	do {                                                                                       \
		if (!(rule)) {                                                                     \
			printf("broken: %s: thread %d, level %lu, global %lu, now %lu\n", #rule,   \
			       (int)((t)-threads), (unsigned long)(t)->account.level,              \
			       (unsigned long)global, (unsigned long)now);                         \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

/* The thread's position in virtual time. */
static u64 position(const struct thread *t)
{
	return now - t->account.level;
}

/* All threads enter an experiment. */
static void enter_experiment(void)
{
	for (int i = 0; i < THREADS; i++) {
		account_enter_experiment(&threads[i].account, 1, now, global);
		MUST(threads[i].account.level == global && threads[i].account.since == now,
		     &threads[i]);
	}
}

/*
 * The events of the model: what a tick does, how a thread falls asleep and wakes up.
 */

/*
 * A sample in the selected code stands for a period, and is worth so many ns. Its segment is only a
 * quarter of a period long. The next segment is longer, and gets the rest.
 */
static void earn(struct thread *t, u64 worth)
{
	struct credit c = { .began = now, .in = PERIOD, .hits = TICK_ONE, .ticks = TICK_ONE };
	u64 rate = worth * CREDIT_ONE / PERIOD, due = credit_due(&c, now + PERIOD / 4, rate);

	/* A segment earns at most s of its length. */
	MUST(due <= PERIOD / 4 * rate / CREDIT_ONE, t);
	due += credit_hand_over(&c, now + PERIOD / 4, rate, PERIOD, 0);
	due += credit_hand_over(&c, now + 2 * PERIOD, rate, PERIOD, 0);
	/* Both together earn all, except for what is rounded down. */
	MUST(due <= worth && due + PERIOD / CREDIT_ONE + 1 >= worth &&
		     c.carry == (s64)(PERIOD * rate / CREDIT_ONE - due),
	     t);
	t->account.level += due;
	if (global < t->account.level)
		global = t->account.level;
	events[EVENT_HIT]++;
}

/* What the thread has waited busily is set against its debt. */
static void offset_spin(struct thread *t)
{
	u64 left = t->spin.left, level = t->account.level;

	t->account.level = spin_offset(&t->spin, level, global);
	MUST(t->account.level - level == left - t->spin.left, t);
	MUST(t->account.level <= global && (t->account.level == global || !t->spin.left), t);
}

/* The thread is stopped for its debt, except for slack. A stop lasts a little longer than that. */
static void stop(struct thread *t, u64 debt, u64 slack)
{
	u64 took;

	if (debt <= slack)
		return;
	took = debt - slack + random_below(300);
	now += took;
	t->account.level = account_paid(t->account.level, took, global);
	events[EVENT_STOP]++;
}

/*
 * A tick meets the thread in the selected code, where a sample is worth so many ns, or waiting
 * busily, or elsewhere. Then the thread pays what it owed before the sample.
 */
static void tick(struct thread *t, u64 worth, u64 slack)
{
	u64 global_before = global, position_before = position(t);

	if (random_below(3) == 0) {
		earn(t, worth);
	} else if (random_below(4) == 0) {
		t->spin.left = PERIOD;
		events[EVENT_BUSY_WAIT]++;
		return;
	}
	offset_spin(t);
	stop(t, account_debt(t->account.level, global_before), slack);
	/* A stop moves no thread on in virtual time, except by what it lasted too long. */
	MUST(position(t) <= position_before + 2 * PERIOD, t);
}

static void fall_asleep(struct thread *t)
{
	t->account.since = now;
	t->sleeping = 1;
	events[EVENT_SLEEP]++;
}

/* The thread wakes up. by is 0 where a timer or a device wakes it: the level stays as it is. */
static void wake(struct thread *t, struct thread *by)
{
	u64 asleep = t->account.since - t->account.level; /* its position meanwhile */

	if (by) {
		u64 own, waker;

		t->account.level = account_waited(&t->account, now, by->account.level);
		own = position(t);
		waker = position(by);
		/* The thread goes on at the later of its own position and its waker's. */
		MUST(own >= asleep && own >= waker, t);
		MUST(own == asleep || own == waker, t);
		events[EVENT_WAKE]++;
	} else {
		events[EVENT_WAKE_OUTSIDE]++;
	}
	t->sleeping = 0;
	t->account.since = now;
}

/*
 * The events of run segments, for the checks of credit.h.
 */

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
 * The checks of what segments earn (credit.h).
 */

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
		MUST(due <= length * rate / CREDIT_ONE, &threads[0]);
		if (i < 2000) /* the kinds are not known yet */
			continue;
		earned += due;
		deserved += selected * rate / CREDIT_ONE;
		if (key == 1)
			MUST(due + 2 >= length * rate / CREDIT_ONE, &threads[0]);
		if (key == 2)
			MUST(due <= 2 * worth, &threads[0]);
	}
	MUST(earned <= deserved + deserved / 50 && deserved <= earned + earned / 50, &threads[0]);
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
		MUST(closed_at >= 0 && closed_at <= (s64)length, &threads[0]);
		absolute += wrong < 0 ? -wrong : wrong;
		sum += wrong;
		all += length;
	}
	MUST(absolute / 18000 < error, &threads[0]);
	MUST((u64)(sum < 0 ? -sum : sum) < all / 12, &threads[0]);
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
	if (earned * 100 > deserved * 107 || earned * 100 < deserved * 97) {
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
	MUST(weight_on_top(WEIGHT_ONE, 0, CREDIT_ONE) == WEIGHT_ONE, &threads[0]);
	MUST(weight_on_top(0, 300, CREDIT_ONE / 2) == 300, &threads[0]);
	/* 30% on top of 50% is 65%, relative to 65%. */
	MUST(weight_on_top(473, 788, 666) / 8 == WEIGHT_ONE / 8 - 1 ||
		     weight_on_top(473, 788, 666) / 8 == WEIGHT_ONE / 8,
	     &threads[0]);
	/* Twice all is all. */
	MUST(weight_on_top(WEIGHT_ONE, WEIGHT_ONE, CREDIT_ONE) == WEIGHT_ONE, &threads[0]);
	MUST(weighted_ticks(TICK_ONE, WEIGHT_ONE) == TICK_ONE, &threads[0]);
	MUST(weighted_ticks(-TICK_ONE / 2, WEIGHT_ONE) == -TICK_ONE / 2, &threads[0]);
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

/*
 * The checks of waits that no event ends (estimates.h).
 */

/*
 * One tick in one_in finds a thread waiting busily. Another tick finds it working. Then the thread
 * is taken to have waited for that share of the time since the last tick, but its level is not
 * raised above the level of the others.
 */
static void check_busy_waiting(u32 one_in)
{
	u64 level = 100 * PERIOD, ran = 0, waited = 0;
	struct spin spin = {};

	for (int i = 0; i < 20000; i++) {
		u64 length = PERIOD / 2 + random_below(PERIOD),
		    others = level + random_below(PERIOD / 2), raised;

		spin_learn(&spin, random_below(one_in) == 0);
		raised = spin_found(&spin, level, length, others);
		MUST(raised >= level && raised <= others, &threads[0]);
		MUST(spin_found(&spin, level, length, level - PERIOD) == level, &threads[0]);
		ran += length;
		waited += spin_found(&spin, level, length, level + 2 * PERIOD) - level;
	}
	/* The share is rounded down each time that a tick is learned. */
	MUST(waited <= ran / one_in + ran / 50 && waited + ran / 50 >= ran / one_in, &threads[0]);
}

/*
 * A poll finds an item that was made anywhere between two positions, some ms or some seconds apart.
 * expected_find_delay gives the mean over all of them.
 */
static void check_find_delay(void)
{
	for (int i = 0; i < 1000; i++) {
		u64 scale = i & 1 ? 1000 : 1;
		u64 at = 1ull << 40, from = at - 5000000 * scale + random_below(10000000 * scale),
		    to = from + 100000 + random_below(5000000 * scale);
		u64 delay = expected_find_delay(at, from, to);
		double mean = 0, near = 3000 * scale;

		for (int k = 0; k < 1000; k++) {
			double made = from + (to - from) * (k + 0.5) / 1000;

			mean += made > at ? (made - at) / 1000 : 0;
		}
		if (delay + near < mean || delay > mean + near) {
			printf("broken: found %lu late, %.0f on average\n", (unsigned long)delay,
			       mean);
			exit(1);
		}
	}
}

/*
 * An event loop waits for what another thread makes in some periods, of which rate is earned. Each
 * wait has a timeout of a period, after which the loop works for an eighth of a period. The loop
 * goes on at the position at which it would if the other thread were really that fast, except for
 * such work, which may have begun in one world and not in the other.
 */
static void check_timeouts(u64 rate)
{
	enum { WORKS = PERIOD / 8 };
	struct account loop = { .since = PERIOD }, maker = {};
	u64 at = PERIOD, global_level = 0;

	for (int i = 0; i < 10000; i++) {
		u64 took = 2 * PERIOD + random_below(6 * PERIOD), end = at + took, began = at,
		    timeout_position = 0, stood, made, found, truly;

		/* Really as fast: what the loop does when the other is done, it ends first. */
		stood = at - loop.level;
		maker.level += took * rate / CREDIT_ONE;
		made = end - maker.level;
		for (truly = stood; truly + PERIOD < made; truly += PERIOD + WORKS)
			;
		truly = truly > made ? truly : made;
		/* Virtually: each timeout that ends by the clock before the other is done. */
		loop.since = at;
		for (at += PERIOD; at < end; at += PERIOD) {
			timeout_position = at - loop.level;
			at += WORKS;
			loop.since = at;
		}
		end = loop.since > end ? loop.since : end; /* it works as the other is done */
		loop.since = waiting_began(&loop, began, timeout_position, end, maker.level);
		loop.level = account_waited(&loop, end, maker.level);
		found = end - loop.level;
		if (found > truly + 2 * WORKS || found + 2 * WORKS < truly) {
			printf("broken: let go on at %lu, truly %lu, made at %lu\n",
			       (unsigned long)found, (unsigned long)truly, (unsigned long)made);
			exit(1);
		}
		/* Both go on from there, and have paid. */
		maker.level = loop.level;
		global_level = loop.level > global_level ? loop.level : global_level;
		at = end;
	}
	if (global_level == 0)
		exit(1);
}

/*
 * A server works for forty clients, which think by the clock between two requests. Of its work rate
 * is earned. Returns the virtual time between two replies. The clients ask early, by what the
 * server has earned while they thought. A server that never waits for them learns that from its
 * replies only: if replies_wait, it is set back where they are early on average.
 */
static u64 reply_time(u64 work, u64 rate, bool replies_wait)
{
	enum { CLIENTS = 40, THINKS = 20 * PERIOD, REPLIES = 20000 };
	struct client {
		struct account account;
		u64 asks; /* when it asks next */
	} clients[CLIENTS] = {};
	u64 at = 100 * PERIOD, begins = at, earned = 0; /* earned is G */
	struct account server = {};
	s64 early = 0;

	for (int i = 0; i < CLIENTS; i++)
		clients[i].asks = at + random_below(THINKS);
	for (int i = 0; i < REPLIES; i++) {
		struct client *c = clients;
		u64 took = work / 2 + random_below(work + 1), due = took * rate / CREDIT_ONE, asked,
		    debt;

		for (int k = 1; k < CLIENTS; k++)
			c = clients[k].asks < c->asks ? &clients[k] : c;
		if (c->asks > at) { /* the server waits for it */
			server.since = at;
			at = c->asks;
			server.level = account_waited(&server, at, c->account.level);
		}
		c->account.since = c->asks;
		asked = c->asks - c->account.level;
		at += took;
		server.level += due;
		earned = server.level > earned ? server.level : earned;
		early = mean_earliness(early, asked + took - due - (at - server.level));
		if (replies_wait && early > 0) {
			server.level -= lesser(early, server.level);
			early = 0;
		}
		c->account.level = account_waited(&c->account, at, server.level);
		c->asks = at + THINKS / 2 + random_below(THINKS);
		debt = account_debt(server.level, earned);
		server.level = account_paid(server.level, debt, earned);
		at += debt;
	}
	return (at - earned - begins) / REPLIES;
}

/*
 * Clients ask for twice as much as the server can do. Virtually faster, it replies as often as one
 * that is really faster, to a twelfth. If replies could be early, a server so fast that it has to
 * wait for its clients would reply far too often.
 */
static void check_replies(u64 rate)
{
	u64 really = reply_time(PERIOD - PERIOD * rate / CREDIT_ONE, 0, 1),
	    virtually = reply_time(PERIOD, rate, 1), with_early = reply_time(PERIOD, rate, 0);
	bool waits = rate > CREDIT_ONE / 2; /* for its clients, if it is as fast */

	if (virtually > really + really / 12 || really > virtually + really / 12 ||
	    (waits && with_early > really * 2 / 3)) {
		printf("broken: with %.2f earned an answer takes %lu, really %lu, and %lu where "
		       "answers may be early\n",
		       (double)rate / CREDIT_ONE, (unsigned long)virtually, (unsigned long)really,
		       (unsigned long)with_early);
		exit(1);
	}
}

/*
 * The checks of how a woken thread gets a core (account_got_core).
 */

/*
 * A thread reads from a device, again and again, while another thread earns. Its core is idle
 * during each read, and takes a while to wake up. No thread waits for the reader, so its reads take
 * as long in virtual time as without the earnings, though it pays its debt only now and then. Were
 * it taken to have waited for the core, the core's waking up would pay a part of its debt.
 *
 * The thread has waited for the core if it was not woken by the answer, if the core was not idle
 * then, or if it took too long to wake up.
 */
static void check_idle_core(u64 rate)
{
	enum {
		TAKES = PERIOD / 20,
		WAKES = PERIOD / 100,
		READS = 10000,
		TOO_LONG = 2 * IDLE_CORE_WAKES_NS
	};
	struct account reader = { .level = 1 }, core = { .level = 1 };
	u64 at = PERIOD, earned = 1, passed, begins = at - earned;

	for (int i = 0; i < READS; i++) {
		core.since = at;
		at += TAKES;
		reader.since = at; /* a device's answer leaves the level as it is */
		at += WAKES;
		earned += (TAKES + WAKES) * rate / CREDIT_ONE;
		core.level = account_waited(&core, at, earned);
		reader.level = account_got_core(&reader, at, core.level, true, core.since);
		if (random_below(30))
			continue;
		at += account_debt(reader.level, earned);
		reader.level = earned;
	}
	at += account_debt(reader.level, earned);
	passed = at - earned - begins;
	if (passed != (u64)READS * (TAKES + WAKES)) {
		printf("broken: %d reads took %lu in virtual time\n", READS, (unsigned long)passed);
		exit(1);
	}
	reader = (struct account) { .level = 1, .since = at };
	core.level = WAKES / 2;
	if (account_got_core(&reader, at + WAKES, core.level, true, 0) != core.level ||
	    account_got_core(&reader, at + WAKES, core.level, true, at + 1) != core.level ||
	    account_got_core(&reader, at + WAKES, core.level, false, at) != core.level ||
	    account_got_core(&reader, at + TOO_LONG, core.level, true, at) != core.level) {
		printf("broken: a core that had not stood idle for it all the time was not waited "
		       "for\n");
		exit(1);
	}
}

/*
 * Two threads meet, again and again; of the longer one's work rate is earned. The first to come
 * sleeps, and is woken on an idle core, which takes a while to wake up. At high rates the longer
 * one comes first in virtual time, and the other one would not have slept. The meetings take as
 * long as if the longer one were really that fast.
 */
static void check_meetings(u64 rate)
{
	enum {
		LONGER = PERIOD * 3 / 10,
		SHORTER = PERIOD / 5,
		WAKES = PERIOD / 50,
		MEETINGS = 1000
	};
	u64 due = LONGER * rate / CREDIT_ONE;
	u64 at[2] = { PERIOD, PERIOD }, truly[2] = { PERIOD, PERIOD }, earned = 0, end;
	struct account pair[2] = {};

	for (int i = 0; i < MEETINGS; i++) {
		int last, first;
		struct account *sleeper, core;
		bool would_not_sleep;

		/* Really as fast. */
		truly[0] += LONGER - due;
		truly[1] += SHORTER;
		last = truly[1] >= truly[0];
		truly[!last] = truly[last] + WAKES;
		/* Virtually. */
		at[0] += LONGER;
		at[1] += SHORTER;
		pair[0].level += due;
		earned = pair[0].level > earned ? pair[0].level : earned;
		last = at[1] >= at[0];
		first = !last;
		sleeper = &pair[first];
		sleeper->since = at[first];
		core = *sleeper;
		would_not_sleep = account_would_not_sleep(sleeper, at[last], pair[last].level);
		sleeper->level = account_waited(sleeper, at[last], pair[last].level);
		sleeper->since = at[last];
		at[first] = at[last] + WAKES;
		core.level = account_waited(&core, at[first], earned);
		sleeper->level = account_got_core(sleeper, at[first], core.level, !would_not_sleep,
						  core.since);
		for (int k = 0; k < 2; k++) {
			at[k] += account_debt(pair[k].level, earned);
			pair[k].level = earned;
		}
	}
	end = at[1] - earned;
	if (end > truly[1] + 2 * PERIOD || truly[1] > end + 2 * PERIOD) {
		printf("broken: with %.2f earned %d meetings took until %lu, truly %lu\n",
		       (double)rate / CREDIT_ONE, MEETINGS, (unsigned long)end,
		       (unsigned long)truly[1]);
		exit(1);
	}
}

/*
 * The check of all events of the model. No level is ever above G. At the end all threads pay, and
 * their levels are equal.
 */
static void check_events(u64 count, u64 slack)
{
	for (u64 i = 0; i < count; i++) {
		struct thread *t = &threads[random_below(THREADS)],
			      *by = &threads[random_below(THREADS)];

		now += random_below(PERIOD / 2);
		if (t->sleeping)
			wake(t, by->sleeping ? 0 : by);
		else if (random_below(4) == 0)
			fall_asleep(t);
		else
			tick(t, random_below(PERIOD + 1), slack);
		for (int k = 0; k < THREADS; k++)
			MUST(threads[k].account.level <= global, &threads[k]);
	}
	for (int i = 0; i < THREADS; i++) {
		struct thread *t = &threads[i];
		u64 debt = account_debt(t->account.level, global);

		t->account.level = account_paid(t->account.level, debt, global);
		MUST(t->account.level == global, t);
	}
}

/*
 * The cases.
 */

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

static void run_cases(u64 count, u64 slack)
{
	check_kinds(PERIOD / 2);
	check_kinds(PERIOD);
	check_requests(PERIOD * 9 / 10, 2 * PERIOD, true, PERIOD / 10);
	check_requests(3 * PERIOD, 6 * PERIOD, false, PERIOD / 2);
	check_requests(PERIOD / 20, PERIOD / 8, true, PERIOD / 100);
	check_busy_waiting(2);
	check_busy_waiting(7);
	check_changed_kinds(PERIOD / 2, 6);
	check_changed_kinds(PERIOD, 6);
	check_changed_kinds(2 * PERIOD, 6);
	check_find_delay();
	for (u64 rate = CREDIT_ONE / 4; rate <= CREDIT_ONE; rate += CREDIT_ONE / 4) {
		check_replies(rate);
		check_timeouts(rate);
		check_idle_core(rate);
		check_meetings(rate);
	}
	check_expected(PERIOD);
	check_expected(2 * PERIOD);
	check_on_top();
	for (u32 weight = WEIGHT_ONE / 8; weight <= WEIGHT_ONE / 2; weight *= 4) {
		check_weights(PERIOD / 5, 1, weight);
		check_weights(3 * PERIOD, 1, weight);
		check_weights(3 * PERIOD, 0, weight);
	}
	check_expected(5 * PERIOD);
	crossing_cases();
	check_events(count, slack);
}

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	seed = strtoull(argv[1], 0, 10) * 0x9e3779b97f4a7c15 + 1;
	enter_experiment();
	run_cases(strtoull(argv[2], 0, 10), strtoull(argv[3], 0, 10));
	printf("ok: hits %lu, busy waits %lu, stops %lu, blocks %lu, wakes %lu, outside %lu\n",
	       (unsigned long)events[EVENT_HIT], (unsigned long)events[EVENT_BUSY_WAIT],
	       (unsigned long)events[EVENT_STOP], (unsigned long)events[EVENT_SLEEP],
	       (unsigned long)events[EVENT_WAKE], (unsigned long)events[EVENT_WAKE_OUTSIDE]);
	for (int i = 0; i < EVENT_MAX; i++)
		if (!events[i])
			return 3;
	return 0;
}
