//go:build ignore

/*
 * Checks how a woken thread gets a core (account_got_core in vtime/level.h), against the truth.
 * usage: cores SEED
 */
#include "../../vtime/credit.h"
#include "../../vtime/level.h"
#include "check.h"

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

int main(int argc, char **argv)
{
	read_seed(argc, argv);
	for (u64 rate = CREDIT_ONE / 4; rate <= CREDIT_ONE; rate += CREDIT_ONE / 4) {
		check_idle_core(rate);
		check_meetings(rate);
	}
	return 0;
}
