//go:build ignore

/* Checks waits that no event ends (vtime/estimates.h), against the truth. usage: estimates SEED */
#include "../../vtime/credit.h"
#include "../../vtime/estimates.h"
#include "../../vtime/level.h"
#include "check.h"

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
		MUST(raised >= level && raised <= others);
		MUST(spin_found(&spin, level, length, level - PERIOD) == level);
		ran += length;
		waited += spin_found(&spin, level, length, level + 2 * PERIOD) - level;
	}
	/* The share is rounded down each time that a tick is learned. */
	MUST(waited <= ran / one_in + ran / 50 && waited + ran / 50 >= ran / one_in);
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

int main(int argc, char **argv)
{
	read_seed(argc, argv);
	check_busy_waiting(2);
	check_busy_waiting(7);
	check_find_delay();
	for (u64 rate = CREDIT_ONE / 4; rate <= CREDIT_ONE; rate += CREDIT_ONE / 4) {
		check_replies(rate);
		check_timeouts(rate);
	}
	return 0;
}
