//go:build ignore

/*
 * Drives the ledger's arithmetic with random events, in user space, and checks
 * after each what must always hold. Prints what it did; fails with the first
 * broken rule. usage: simulate SEED EVENTS SLACK
 *
 * The world: each thread has a core of its own, as the rules for sharing one are
 * the same account_waited that waking uses.
 */
#include <stdio.h>
#include <stdlib.h>
#include "../vtime/credit.h"
#include "../vtime/estimates.h"
#include "../vtime/level.h"

#define THREADS 6
#define PERIOD 1000

struct thread {
	struct account account;
	struct spin spin;
	int blocked;
	u64 paid, credited, poll_debt; /* the three ways in which a level grows */
};

static struct thread threads[THREADS];
static u64 now = 1000000, global, start_global, events[6];
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

static u64 position(const struct thread *t)
{
	return now - t->account.level;
}

static void tick(struct thread *t, u64 d, u64 slack)
{
	u64 before = global, level = t->account.level, was = position(t);

	if (random_below(3) == 0) { /* in the selected code */
		struct credit c = {
			.began = now, .in = PERIOD, .hits = TICK_ONE, .ticks = TICK_ONE
		};
		u64 rate = d * CREDIT_ONE / PERIOD, due = credit_due(&c, now + PERIOD / 4, rate);

		/* Not more than s of what it ran, and all of it in time. */
		MUST(due <= PERIOD / 4 * rate / CREDIT_ONE, t);
		due += credit_hand_over(&c, now + PERIOD / 4, rate, PERIOD, 0);
		due += credit_hand_over(&c, now + 2 * PERIOD, rate, PERIOD, 0);
		MUST(due <= d && due + PERIOD / CREDIT_ONE + 1 >= d &&
			     c.carry == (s64)(PERIOD * rate / CREDIT_ONE - due),
		     t);
		t->account.level = level + due;
		t->credited += due;
		if (global < t->account.level)
			global = t->account.level;
		events[0]++;
	} else if (random_below(4) == 0) { /* waiting busily */
		t->spin.left = PERIOD;
		events[1]++;
		return;
	}
	u64 left = t->spin.left;
	level = t->account.level;
	t->account.level = spin_offset(&t->spin, level, global);
	t->poll_debt += t->account.level - level;
	MUST(t->account.level - level == left - t->spin.left, t);
	MUST(t->account.level <= global && (t->account.level == global || !t->spin.left), t);
	u64 debt = account_debt(t->account.level, before);
	if (debt > slack) {
		u64 took = debt - slack + random_below(300); /* stops last a little longer */

		level = t->account.level;
		now += took;
		t->account.level = account_paid(level, took, global);
		t->paid += t->account.level - level;
		/* A stop moves nobody on in virtual time, but for what it lasted too long. */
		MUST(position(t) <= was + 2 * PERIOD, t);
		events[2]++;
	}
}

static void block(struct thread *t)
{
	t->account.since = now;
	t->blocked = 1;
	events[3]++;
}

static void wake(struct thread *t, struct thread *by)
{
	u64 level = t->account.level, stood = t->account.since - level;

	if (by) {
		t->account.level = account_waited(&t->account, now, by->account.level);
		/* The later of its own position and its waker's. */
		u64 mine = position(t), theirs = position(by);
		MUST(mine >= stood && mine >= theirs, t);
		MUST(mine == stood || mine == theirs, t);
		events[4]++;
	} else {
		events[5]++; /* from outside: position moved with the clock */
	}
	if (t->account.level > level)
		t->poll_debt += t->account.level - level;
	t->blocked = 0;
	t->account.since = now;
}

/* Runs on this side until then, met by ticks at random moments. What that has earned. */
static u64 run(struct credit *c, u64 *next_tick, u64 until, enum side side, u64 rate)
{
	u64 earned = 0;

	for (; *next_tick < until; *next_tick += PERIOD * 7 / 8 + random_below(PERIOD / 4)) {
		credit_sample(c, credit_ran(c, *next_tick, 2 * PERIOD), side);
		earned += credit_due(c, *next_tick, rate);
	}
	return earned;
}

/* A stretch of this kind ends, and the kind learns of it. What was still due. */
static u64 end_segment(struct credit *c, struct kinds *known, u64 key, u64 at, u64 rate)
{
	u32 hits = c->hits, ticks = c->ticks;
	u64 due = credit_hand_over(c, at, rate, PERIOD, kinds_find(known, key));

	if (ticks)
		kinds_learn(known, key, hits, ticks, 1);
	return due;
}

/*
 * Two kinds of stretches take turns, of any length: one all in the selected code,
 * one not at all. Once they are known each stretch must be given what it deserves,
 * also one that no tick met; and a kind of mixed stretches must be right on average.
 */
static void stretches(u64 d)
{
	u64 rate = d * CREDIT_ONE / PERIOD, at = 0, next_tick = 0, given = 0, deserved = 0;
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
		if (i < 2000)
			continue;
		given += due;
		deserved += selected * rate / CREDIT_ONE;
		if (key == 1)
			MUST(due + 2 >= length * rate / CREDIT_ONE, &threads[0]);
		if (key == 2)
			MUST(due <= 2 * d, &threads[0]);
	}
	MUST(given <= deserved + deserved / 50 && deserved <= given + given / 50, &threads[0]);
}

/*
 * Requests of one kind, from this long to that: what each comes to deserve, given or not, which is never less than nothing, nor more than it is. Where
 * all are alike, the shorter and the longer, that is the same share of each, whichever ticks it met; where each is all in the selected
 * code or not at all, it is what its own ticks say. They are off by so much on average, at most, and altogether by a twelfth, as of short ones few are met.
 */
static void requests(u64 shortest, u64 longest, bool alike, u64 off)
{
	u64 at = 0, next_tick = 0, error = 0, all = 0;
	struct kinds known = {};
	struct credit c = {};
	s64 sum = 0;

	for (int i = 0; i < 20000; i++) {
		u64 length = shortest + random_below(longest - shortest);
		u64 out = alike ? length / 3 : random_below(2) ? length : 0;
		u64 given = run(&c, &next_tick, at + out, SIDE_OUT, CREDIT_ONE);
		s64 wrong;

		given += run(&c, &next_tick, at + length, SIDE_IN, CREDIT_ONE);
		at += length;
		c.request_due = 0;
		given += end_segment(&c, &known, 1, at, CREDIT_ONE);
		wrong = (s64)given + c.request_due - (s64)(length - out);
		if (i < 2000)
			continue;
		MUST((s64)given + c.request_due >= 0 && (s64)given + c.request_due <= (s64)length,
		     &threads[0]);
		error += wrong < 0 ? -wrong : wrong;
		sum += wrong;
		all += length;
	}
	MUST(error / 18000 < off, &threads[0]);
	MUST((u64)(sum < 0 ? -sum : sum) < all / 12, &threads[0]);
}

/*
 * A thread that one in so many ticks meets waiting busily is taken to wait for that part of its time where they meet it
 * working; but not past the others.
 */
static void waits_busily(u32 one_in)
{
	u64 level = 100 * PERIOD, ran = 0, waited = 0;
	struct spin w = {};

	for (int i = 0; i < 20000; i++) {
		u64 length = PERIOD / 2 + random_below(PERIOD),
		    others = level + random_below(PERIOD / 2), found;

		spin_learn(&w, random_below(one_in) == 0);
		found = spin_found(&w, level, length, others);
		MUST(found >= level && found <= others, &threads[0]);
		MUST(spin_found(&w, level, length, level - PERIOD) == level, &threads[0]);
		ran += length;
		waited += spin_found(&w, level, length, level + 2 * PERIOD) - level;
	}
	/* What is learned is rounded down each time. */
	MUST(waited <= ran / one_in + ran / 50 && waited + ran / 50 >= ran / one_in, &threads[0]);
}

/*
 * A thread goes in and out of the selected code, a part of random length each time, and is
 * stopped at ticks that find it on one of the two sides, as others earn then. What it is found
 * to have run inside must be what it has, in stretches of unknown kinds and of a known one;
 * also where of so many percent of the samples inside, or of all, it is only known at the next, or later, where they were.
 */
static void sides(u64 in, u64 out, u64 stop_in, u64 stop_out, u64 stretch, bool kinds, u64 late,
		  bool all, u64 percent)
{
	u64 ran = 0, inside = 0, found = 0, next_tick = 0, at = 0, ends = stretch, all_hits = 0,
	    all_ticks = 0, resets = 0;
	enum side late_side = SIDE_UNKNOWN;
	bool late_learns = 0;
	struct kinds known = {};
	struct deferred_credit deferred = {};
	struct credit c = {};

	for (u64 round = 0; round < 12000; round++) {
		bool out_now = round & 1;
		u64 usual = out_now ? out : in, left = usual / 2 + random_below(usual);

		while (left) {
			u64 step = lesser(left, lesser(ends - ran, next_tick - at)), took;

			at += step;
			ran += step;
			left -= step;
			inside += out_now ? 0 : step;
			if (ran == ends) {
				u32 hits = c.hits, ticks = c.ticks;

				found += c.in;
				credit_hand_over(&c, at, CREDIT_ONE, PERIOD,
						 kinds ? kinds_find(&known, 1) : 0);
				if (ticks) {
					struct kind *k = kinds_find(&known, 1);
					u32 before = k ? k->ticks : 0;

					kinds_learn(&known, 1, hits, ticks, 1);
					resets += before < KIND_FULL && k && k->ticks < before;
				}
				all_hits += hits;
				all_ticks += ticks;
				late_learns = late_side != SIDE_UNKNOWN;
				ends += stretch;
			}
			if (at < next_tick || !left)
				continue;
			if (late_side != SIDE_UNKNOWN && random_below(2)) {
				if (late_learns) {
					u32 part = TICK_ONE - deferred.lost,
					    hits = late_side == SIDE_IN ? part : 0;

					kinds_learn(&known, 1, hits, part, 1);
					all_hits += hits;
					all_ticks += part;
				}
				late_learns = 0;
				found -= c.carry;
				credit_settle(&c, &deferred, late_side, CREDIT_ONE, kinds);
				found += c.carry;
				late_side = SIDE_UNKNOWN;
			}
			if (late_side == SIDE_UNKNOWN && (all || !out_now) &&
			    random_below(100) < late) {
				late_side = out_now ? SIDE_OUT : SIDE_IN;
				credit_defer(&c, credit_ran(&c, at, 2 * PERIOD), &deferred);
			} else {
				credit_sample(&c, credit_ran(&c, at, 2 * PERIOD),
					      out_now ? SIDE_OUT : SIDE_IN);
			}
			took = out_now ? stop_out : stop_in;
			at += took;
			c.began += took;
			while (next_tick <= at)
				next_tick = (next_tick / PERIOD + 1) * PERIOD +
					    random_below(PERIOD / 4);
			credit_stopped(&c, next_tick - at, PERIOD);
		}
	}
	if (kinds)
		found = all_hits * ran / all_ticks;
	/* It does the same all the time. */
	if (resets * 300 * TICK_ONE > all_ticks) {
		printf("broken: %lu in, %lu out, stopped for %lu, %lu there: forgotten %lu times "
		       "in %lu ticks\n",
		       (unsigned long)in, (unsigned long)out, (unsigned long)stop_in,
		       (unsigned long)stop_out, (unsigned long)resets,
		       (unsigned long)all_ticks / TICK_ONE);
		exit(1);
	}
	if (found > inside + ran * percent / 100 || inside > found + ran * percent / 100) {
		printf("broken: %lu in, %lu out, stopped for %lu, %lu there: %.3f was inside, %.3f "
		       "found, %s, %lu%% of %s late\n",
		       (unsigned long)in, (unsigned long)out, (unsigned long)stop_in,
		       (unsigned long)stop_out, (double)inside / ran, (double)found / ran,
		       kinds ? "by kind" : "by samples", (unsigned long)late,
		       all ? "all" : "those inside");
		exit(1);
	}
}

/*
 * A thread that runs what is to be run is in the selected code all of the time for a while, and
 * then not at all, with the same stretches. Each while must be given what it deserves.
 */
static void changes(u64 stretch, u64 most)
{
	u64 at = 0, next_tick = 0, given[2] = {}, deserved[2] = {};
	struct kinds known = {};
	struct credit c = {};
	bool in = 0;

	for (int i = 0; i < 20000; i++) {
		u64 length = stretch / 2 + random_below(stretch);

		if (random_below(200 * PERIOD / stretch) == 0)
			in = !in;
		at += length;
		given[in] += run(&c, &next_tick, at, in ? SIDE_IN : SIDE_OUT, CREDIT_ONE);
		given[in] += end_segment(&c, &known, 1, at, CREDIT_ONE);
		deserved[in] += length;
	}
	if (given[0] * 100 > deserved[0] * most ||
	    (deserved[1] - given[1]) * 100 > deserved[1] * most) {
		printf("broken: stretches of %lu that change were given %.3f and %.3f of their "
		       "time, for 0 and 1\n",
		       (unsigned long)stretch, (double)given[0] / deserved[0],
		       (double)given[1] / deserved[1]);
		exit(1);
	}
}

/*
 * One stretch of five is all in the selected code, the others never are. Where somebody is held in the middle of one, what all of
 * them do on average is booked in advance: in the end the thread has been given what it deserves.
 */
static void advances(u64 stretch)
{
	u64 at = 0, next_tick = 0, given = 0, deserved = 0;
	struct kinds known = {};
	struct credit c = {};

	for (int i = 0; i < 20000; i++) {
		u64 length = stretch / 2 + random_below(stretch), held = at + random_below(length),
		    due;
		bool in = random_below(5) == 0;
		enum side side = in ? SIDE_IN : SIDE_OUT;

		given += run(&c, &next_tick, held + 1, side, CREDIT_ONE);
		due = credit_unsampled(&c, held) / 5;
		c.earned += due;
		c.expected += due;
		at += length;
		given += due + run(&c, &next_tick, at, side, CREDIT_ONE);
		given += end_segment(&c, &known, 1 + in, at, CREDIT_ONE);
		deserved += in ? length : 0;
	}
	if (given * 100 > deserved * 103 || given * 100 < deserved * 97) {
		printf("broken: with advances stretches of %lu were given %.3f of what they "
		       "deserve\n",
		       (unsigned long)stretch, (double)given / deserved);
		exit(1);
	}
}

/* What is found was made anywhere between two positions, in ns. */
static void finds(void)
{
	for (int i = 0; i < 1000; i++) {
		u64 scale = i & 1 ? 1000 : 1; /* of some ms, and of some seconds */
		u64 at = 1ull << 40, from = at - 5000000 * scale + random_below(10000000 * scale),
		    to = from + 100000 + random_below(5000000 * scale);
		u64 late = expected_find_delay(at, from, to);
		double mean = 0, near = 3000 * scale;

		for (int k = 0; k < 1000; k++) {
			double made = from + (to - from) * (k + 0.5) / 1000;

			mean += made > at ? (made - at) / 1000 : 0;
		}
		if (late + near < mean || late > mean + near) {
			printf("broken: found %lu late, %.0f on average\n", (unsigned long)late,
			       mean);
			exit(1);
		}
	}
}

/*
 * A server works for forty clients, who think by the clock between two requests: of its work, rate is earned. The virtual time that an answer takes on average. They ask early, by
 * what the server has earned while they thought; if it never waits for them only its answers tell.
 */
static u64 served(u64 work, u64 rate, bool averages)
{
	enum { CLIENTS = 40, THINKS = 20 * PERIOD, ANSWERS = 20000 };
	struct client {
		struct account account;
		u64 asks;
	} clients[CLIENTS] = {};
	u64 at = 100 * PERIOD, begins = at, all = 0; /* all that is earned: G */
	struct account server = {};
	s64 early = 0;

	for (int i = 0; i < CLIENTS; i++)
		clients[i].asks = at + random_below(THINKS);
	for (int i = 0; i < ANSWERS; i++) {
		struct client *c = clients;
		u64 took = work / 2 + random_below(work + 1), due = took * rate / CREDIT_ONE, asked,
		    debt;

		for (int k = 1; k < CLIENTS; k++)
			c = clients[k].asks < c->asks ? &clients[k] : c;
		if (c->asks > at) { /* it waits to be asked */
			server.since = at;
			at = c->asks;
			server.level = account_waited(&server, at, c->account.level);
		}
		c->account.since = c->asks;
		asked = c->asks - c->account.level;
		at += took;
		server.level += due;
		all = server.level > all ? server.level : all;
		early = mean_earliness(early, asked + took - due - (at - server.level));
		if (averages && early > 0) {
			server.level -= lesser(early, server.level);
			early = 0;
		}
		c->account.level = account_waited(&c->account, at, server.level);
		c->asks = at + THINKS / 2 + random_below(THINKS);
		debt = account_debt(server.level, all);
		server.level = account_paid(server.level, debt, all);
		at += debt;
	}
	return (at - all - begins) / ANSWERS;
}

/* They ask for twice as much as it can do, until it is faster: as of one that really is, and far from it if answers may be early. */
static void answers(u64 rate)
{
	u64 really = served(PERIOD - PERIOD * rate / CREDIT_ONE, 0, 1),
	    virtually = served(PERIOD, rate, 1), by_waiting = served(PERIOD, rate, 0);
	bool waits = rate > CREDIT_ONE / 2; /* for them to ask, if it is as fast */

	if (virtually > really + really / 12 || really > virtually + really / 12 ||
	    (waits && by_waiting > really * 2 / 3)) {
		printf("broken: with %.2f earned an answer takes %lu, really %lu, and %lu where "
		       "answers may be early\n",
		       (double)rate / CREDIT_ONE, (unsigned long)virtually, (unsigned long)really,
		       (unsigned long)by_waiting);
		exit(1);
	}
}

/*
 * A loop waits for what another makes in some periods, of which rate is earned, and works for an eighth of a period whenever it has waited for one: where it is
 * let go on is where it would have been were the other as fast, but for such work that is begun or not.
 */
static void timeouts(u64 rate)
{
	enum { WORKS = PERIOD / 8 };
	struct account loop = { .since = PERIOD }, maker = {};
	u64 at = PERIOD, all = 0;

	for (int i = 0; i < 10000; i++) {
		u64 took = 2 * PERIOD + random_below(6 * PERIOD), end = at + took, began = at,
		    timeout_position = 0, stood, made, position, truly;

		/* Really as fast: what it does as the other is through it ends. */
		stood = at - loop.level;
		maker.level += took * rate / CREDIT_ONE;
		made = end - maker.level;
		for (truly = stood; truly + PERIOD < made; truly += PERIOD + WORKS)
			;
		truly = truly > made ? truly : made;
		/* By the clock: each timeout that runs out before the end. */
		loop.since = at;
		for (at += PERIOD; at < end; at += PERIOD) {
			timeout_position = at - loop.level;
			at += WORKS;
			loop.since = at;
		}
		end = loop.since > end ? loop.since : end; /* it works as the other is through */
		loop.since = waiting_began(&loop, began, timeout_position, end, maker.level);
		loop.level = account_waited(&loop, end, maker.level);
		position = end - loop.level;
		if (position > truly + 2 * WORKS || position + 2 * WORKS < truly) {
			printf("broken: let go on at %lu, truly %lu, made at %lu\n",
			       (unsigned long)position, (unsigned long)truly, (unsigned long)made);
			exit(1);
		}
		/* Both go on from there, and all is paid. */
		maker.level = loop.level;
		all = loop.level > all ? loop.level : all;
		at = end;
	}
	if (all == 0)
		exit(1);
}

/*
 * One reads from a device, again and again, on a core of its own that comes to itself each time, while another earns. Nobody waits for that, so
 * it has come as far as if there were nothing to earn, though it pays now and then only; else it would save the core's way up whenever it owes.
 * Where a third has the core when the answer comes, that was waited for, up to where the third is.
 */
static void reads(u64 rate)
{
	enum {
		TAKES = PERIOD / 20,
		WAKES = PERIOD / 100,
		READS = 10000,
		KEPT = 2 * IDLE_CORE_WAKES_NS
	};
	struct account reader = { .level = 1 }, core = { .level = 1 };
	u64 at = PERIOD, all = 1, stood, begins = at - all;

	for (int i = 0; i < READS; i++) {
		core.since = at;
		at += TAKES;
		reader.since = at; /* what comes from a device keeps its distance */
		at += WAKES;
		all += (TAKES + WAKES) * rate / CREDIT_ONE;
		core.level = account_waited(&core, at, all);
		reader.level = account_got_core(&reader, at, core.level, true, core.since);
		if (random_below(30))
			continue;
		at += account_debt(reader.level, all);
		reader.level = all;
	}
	at += account_debt(reader.level, all);
	stood = at - all - begins;
	if (stood != (u64)READS * (TAKES + WAKES)) {
		printf("broken: %d reads took %lu in virtual time\n", READS, (unsigned long)stood);
		exit(1);
	}
	reader = (struct account) { .level = 1, .since = at };
	core.level = WAKES / 2;
	if (account_got_core(&reader, at + WAKES, core.level, true, 0) != core.level ||
	    account_got_core(&reader, at + WAKES, core.level, true, at + 1) != core.level ||
	    account_got_core(&reader, at + WAKES, core.level, false, at) != core.level ||
	    account_got_core(&reader, at + KEPT, core.level, true, at) != core.level) {
		printf("broken: a core that had not stood idle for it all the time was not waited "
		       "for\n");
		exit(1);
	}
}

/*
 * Two meet, again and again, and rate of what the longer does is earned. Who comes first sleeps, and is woken onto a core that
 * stood idle. Fast enough, the longer is the one that sleeps, and the other need not: as if it really were so.
 */
static void meetings(u64 rate)
{
	enum {
		LONGER = PERIOD * 3 / 10,
		SHORTER = PERIOD / 5,
		WAKES = PERIOD / 50,
		MEETINGS = 1000
	};
	u64 due = LONGER * rate / CREDIT_ONE;
	u64 at[2] = { PERIOD, PERIOD }, truly[2] = { PERIOD, PERIOD }, all = 0, position;
	struct account threads[2] = {};

	for (int i = 0; i < MEETINGS; i++) {
		int last, first;
		struct account *sleeper, core;
		bool would_not_sleep;

		truly[0] += LONGER - due;
		truly[1] += SHORTER;
		last = truly[1] >= truly[0];
		truly[!last] = truly[last] + WAKES;
		at[0] += LONGER;
		at[1] += SHORTER;
		threads[0].level += due;
		all = threads[0].level > all ? threads[0].level : all;
		last = at[1] >= at[0];
		first = !last;
		sleeper = &threads[first];
		sleeper->since = at[first];
		core = *sleeper;
		would_not_sleep = account_would_not_sleep(sleeper, at[last], threads[last].level);
		sleeper->level = account_waited(sleeper, at[last], threads[last].level);
		sleeper->since = at[last];
		at[first] = at[last] + WAKES;
		core.level = account_waited(&core, at[first], all);
		sleeper->level = account_got_core(sleeper, at[first], core.level, !would_not_sleep,
						  core.since);
		for (int k = 0; k < 2; k++) {
			at[k] += account_debt(threads[k].level, all);
			threads[k].level = all;
		}
	}
	position = at[1] - all;
	if (position > truly[1] + 2 * PERIOD || truly[1] > position + 2 * PERIOD) {
		printf("broken: with %.2f earned %d meetings took until %lu, truly %lu\n",
		       (double)rate / CREDIT_ONE, MEETINGS, (unsigned long)position,
		       (unsigned long)truly[1]);
		exit(1);
	}
}

int main(int argc, char **argv)
{
	u64 n, slack;

	if (argc != 4)
		return 2;
	seed = strtoull(argv[1], 0, 10) * 0x9e3779b97f4a7c15 + 1;
	n = strtoull(argv[2], 0, 10);
	slack = strtoull(argv[3], 0, 10);
	global = start_global = 5000;
	for (int i = 0; i < THREADS; i++) {
		account_enter_experiment(&threads[i].account, 1, now, global);
		MUST(threads[i].account.level == global && threads[i].account.since == now,
		     &threads[i]);
	}
	stretches(PERIOD / 2);
	stretches(PERIOD);
	requests(PERIOD * 9 / 10, 2 * PERIOD, true, PERIOD / 10);
	requests(3 * PERIOD, 6 * PERIOD, false, PERIOD / 2);
	requests(PERIOD / 20, PERIOD / 8, true, PERIOD / 100);
	waits_busily(2);
	waits_busily(7);
	changes(PERIOD / 2, 6);
	changes(PERIOD, 6);
	changes(2 * PERIOD, 6);
	finds();
	for (u64 rate = CREDIT_ONE / 4; rate <= CREDIT_ONE; rate += CREDIT_ONE / 4) {
		answers(rate);
		timeouts(rate);
		reads(rate);
		meetings(rate);
	}
	advances(PERIOD);
	advances(2 * PERIOD);
	advances(5 * PERIOD);
	for (int i = 0; i < 8; i++) {
		bool kinds = i & 1, all = i & 4;
		/*
		 * What a kind is known to do is of its last thousand ticks. Of a sample that is known late
		 * it is not known how much was missing from the period after it.
		 */
		u64 late = i & 2 ? 60 : 0, percent = kinds ? 5 + late / 20 : 1 + late / 30;

		sides(4 * PERIOD, 2 * PERIOD, 0, 0, 9 * PERIOD, kinds, late, all, percent);
		sides(4 * PERIOD, 2 * PERIOD, 0, PERIOD * 2 / 3, 9 * PERIOD, kinds, late, all,
		      percent);
		sides(4 * PERIOD, 2 * PERIOD, PERIOD / 2, 0, 9 * PERIOD, kinds, late, all, percent);
		sides(2 * PERIOD, 2 * PERIOD, 0, PERIOD * 9 / 10, 9 * PERIOD, kinds, late, all,
		      percent);
		/* Shorter than a period there may be two bounds between samples: not as exact. */
		sides(PERIOD / 4, PERIOD / 4, 0, 0, PERIOD / 2, kinds, late, all, percent + 4);
		sides(PERIOD, PERIOD * 2 / 3, PERIOD / 8, PERIOD / 2, 9 * PERIOD, kinds, late, all,
		      percent + 4);
	}
	for (u64 i = 0; i < n; i++) {
		struct thread *t = &threads[random_below(THREADS)],
			      *by = &threads[random_below(THREADS)];

		now += random_below(PERIOD / 2);
		if (t->blocked)
			wake(t, by->blocked ? 0 : by);
		else if (random_below(4) == 0)
			block(t);
		else
			tick(t, random_below(PERIOD + 1), slack);
		for (int k = 0; k < THREADS; k++)
			MUST(threads[k].account.level <= global, &threads[k]);
	}
	/*
	 * At the end everyone pays: pauses, own samples and what was excused by
	 * waiting are then the same for all, less what a thread inherited from
	 * one that was ahead.
	 */
	for (int i = 0; i < THREADS; i++) {
		struct thread *t = &threads[i];

		u64 debt = account_debt(t->account.level, global);
		t->account.level = account_paid(t->account.level, debt, global);
		MUST(t->account.level == global, t);
	}
	printf("ok: hits %lu, busy waits %lu, stops %lu, blocks %lu, wakes %lu, outside %lu\n",
	       (unsigned long)events[0], (unsigned long)events[1], (unsigned long)events[2],
	       (unsigned long)events[3], (unsigned long)events[4], (unsigned long)events[5]);
	for (int i = 0; i < 6; i++)
		if (!events[i])
			return 3;
	return 0;
}
