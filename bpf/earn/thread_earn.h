/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/* What is known of a thread's run segments. */
#ifndef WHATIF_THREAD_EARN_H
#define WHATIF_THREAD_EARN_H

#include "../vtime/credit.h"

struct learned {
	struct kinds kinds;
	struct kind usual; /* all kinds together, for what is expected (expected.h) */
	u64 family;	   /* whose kinds it shares; 0: it was not forked within the target */
	u32 earns;	   /* in this experiment its samples have earned it something */
};

#endif
