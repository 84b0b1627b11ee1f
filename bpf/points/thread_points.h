/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/* What is kept of a thread for progress points and latencies. */
#ifndef WHATIF_THREAD_POINTS_H
#define WHATIF_THREAD_POINTS_H

#include "../base/shared.h"

/* A position in virtual time at which something began; at is 0 if nothing did. */
struct begun {
	u64 at;
	u64 ahead; /* of official virtual time: what the thread owed */
	/* the lower half of the experiment's number: kernels before 6.3 have little stack */
	u32 epoch;
	u32 by; /* the thread's number */
};

struct requests {
	struct begun begun[MAX_SPANS];
	/* Its position when it last woke up, or began or ended a request; 0: it sleeps. */
	u64 available_since;
	u32 by_goroutine; /* the key of the visit that it makes is its goroutine */
};

#endif
