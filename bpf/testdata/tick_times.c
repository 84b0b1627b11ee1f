//go:build ignore

/*
 * Checks in user space when ticks are due. Fails with the first broken rule. Otherwise it prints
 * "TICK DUE" for some ticks, which TestTickTimes (internal/ledger) compares with the Go side.
 * usage: tick_times PERIOD SEED
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "../vtime/tick_times.h"

#define TICKS 32000
#define AT_ONCE 320 /* ticks of an experiment */

/*
 * How unevenly ticks meet a program's rounds: how far the share of ticks in the first third of a
 * round is from a third, as the root mean square over experiments. A fair sample has 0.026.
 */
static double unevenness(u64 first, u64 period, u64 seed, double round)
{
	double sum = 0;

	for (u64 at = first; at < first + TICKS; at += AT_ONCE) {
		int met = 0;

		for (u64 i = at; i < at + AT_ONCE; i++)
			met += fmod(tick_due(i, period, seed), round) < round / 3;
		sum += pow((double)met / AT_ONCE - 1.0 / 3, 2);
	}
	return sqrt(sum / (TICKS / AT_ONCE));
}

int main(int argc, char **argv)
{
	u64 period, seed, first, last;

	if (argc != 3)
		return 2;
	period = strtoull(argv[1], 0, 10);
	seed = strtoull(argv[2], 0, 10);
	first = 1000000000000000 / period;
	last = tick_due(first - 1, period, seed);
	for (u64 i = first; i < first + TICKS; i++) {
		u64 due = tick_due(i, period, seed);

		if (due < last + period / 2 || due > last + period * 3 / 2) {
			printf("%lu ns from tick %lu to the next\n", (unsigned long)(due - last),
			       (unsigned long)i - 1);
			return 1;
		}
		if (last_tick(due - 1, period, seed) != i - 1 ||
		    last_tick(due, period, seed) != i ||
		    last_tick(due + period / 3, period, seed) != i) {
			printf("tick %lu is not found\n", (unsigned long)i);
			return 1;
		}
		last = due;
	}
	for (double part = 0.45; part < 4.05; part += 0.025) {
		double by = unevenness(first, period, seed, part * period);

		if (by > 0.06 /* twice a fair sample's, and a little */) {
			printf("of rounds of %.4f periods the first third gets %.3f more or less "
			       "than a third of the ticks\n",
			       part, by);
			return 1;
		}
	}
	for (u64 i = first; i < first + 100; i++)
		printf("%lu %lu\n", (unsigned long)i, (unsigned long)tick_due(i, period, seed));
	return 0;
}
