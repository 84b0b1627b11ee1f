/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/* What is kept of a thread for the time when it pays. */
#ifndef WHATIF_THREAD_PAY_H
#define WHATIF_THREAD_PAY_H

#include "../base/shared.h"

#define NO_CORE 0xffffffffu

/* Its turns on a core that it shares (fair_share.h). */
struct turns {
	/* How much its level has grown on cores, by in_turns: running that took no virtual time. */
	u64 share_used;
	u32 core; /* that it last ran on; NO_CORE: it competes for none */
};

/* Sleeps at one place that the clock has ended (periodic.h). */
struct timed_sleeps {
	u64 place;
	u32 all;      /* this and the next two are halved when it is SLEEPS_FULL */
	u32 handoffs; /* of them: the thread soon woke another one */
	u32 worked;   /* of the others: the thread did more than poll */
	u32 plain;    /* the last one was in a call that only sleeps */
};
#define SLEEP_PLACES 4 /* a power of two: goroutines of several places share a thread */

struct timed {
	struct timed_sleeps sleeps[SLEEP_PLACES];
	/* 1 + the index of the sleep that it has returned from, until it wakes another thread. */
	u32 pending;
};

#endif
