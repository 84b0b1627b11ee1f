#ifndef COMPUTE_H
#define COMPUTE_H

#include <stdlib.h>
#include <time.h>

/*
 * Computes for about so many ns. Only in registers: a step through memory takes one cycle on some processors, and six
 * on others. A macro, so all of its time is on the line that uses it.
 */
#define COMPUTE(ns)                                                                                                    \
	do {                                                                                                           \
		unsigned long x_ = 1;                                                                                  \
		__asm__ volatile("" : "+r"(x_));                                                                       \
		for (long left_ = (long)((ns) * compute_steps); left_ > 0; left_--)                                    \
			x_ = x_ * 6364136223846793005u + 1;                                                            \
		__asm__ volatile("" : : "r"(x_));                                                                      \
	} while (0)

static double compute_steps = 1; /* steps per ns */

/* Finds out how fast the processor is, as bench_calibrate in accuracy/programs/bench.h does. */
__attribute__((constructor)) static void compute_calibrate(void)
{
	const char *scale = getenv("WHATIF_CALIBRATION");
	double best = 0, factor = scale ? atof(scale) : 1;

	for (int i = 0; i < 40; i++) {
		struct timespec begin, end;

		clock_gettime(CLOCK_MONOTONIC, &begin);
		COMPUTE(100000);
		clock_gettime(CLOCK_MONOTONIC, &end);
		double took = (end.tv_sec - begin.tv_sec) * 1e9 + (end.tv_nsec - begin.tv_nsec);
		if (i == 0 || took < best)
			best = took;
	}
	compute_steps = 100000 / best * (factor > 0 ? factor : 1);
}

#endif
