/* What the checks of bpf/vtime have in common: random numbers, and how a broken rule is told. */
#ifndef WHATIF_CHECK_H
#define WHATIF_CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include "../../vtime/types.h"

/* A sampling period. Times have no unit here: only their ratios count. */
#define PERIOD 1000

static u64 seed;

static u64 random_below(u64 n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % n;
}

#define MUST(rule)                                                                                 \
	do {                                                                                       \
		if (!(rule)) {                                                                     \
			printf("broken: %s (%s:%d)\n", #rule, __FILE__, __LINE__);                 \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

/* Reads the only argument of a program of checks: the seed. */
static void read_seed(int argc, char **argv)
{
	if (argc != 2)
		exit(2);
	seed = strtoull(argv[1], 0, 10) * 0x9e3779b97f4a7c15 + 1;
}

#endif
