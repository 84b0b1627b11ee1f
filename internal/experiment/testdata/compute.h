#ifndef COMPUTE_H
#define COMPUTE_H

/*
 * Computes for about so many ns, four cycles each. In registers: a step through memory takes one cycle on some processors, and six on others. A macro, so
 * that all of it is on the line that uses it.
 */
#define COMPUTE(ns)                                                                                                    \
	do {                                                                                                           \
		unsigned long x_ = 1;                                                                                  \
		__asm__ volatile("" : "+r"(x_));                                                                       \
		for (long left_ = (ns); left_ > 0; left_--)                                                            \
			x_ = x_ * 6364136223846793005u + 1;                                                            \
		__asm__ volatile("" : : "r"(x_));                                                                      \
	} while (0)

#endif
