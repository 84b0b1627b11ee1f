/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/*
 * What is kept of a thread's sleeps and wake-ups.
 *
 *	         on_switch                 on_waking                 on_switch
 *	runs ────────────────▶ sleeps ────────────────▶ can run ────────────────▶ runs
 *	     begin_wait, or        end_wait; the level goes         get_core; it goes on at
 *	     continue_poll         where the policy table says      the core's position, if later
 */
#ifndef WHATIF_THREAD_WAKE_H
#define WHATIF_THREAD_WAKE_H

#include "../base/shared.h"
#include "../vtime/account.h"

/* What a thread does comes too soon, and so too often, in virtual time. */
enum soon {
	SOON_NOT,
	SOON_BY_ANOTHER, /* a thread of the next kind has woken it */
	SOON_BY_ITSELF,	 /* it slept by the clock and its debt was forgiven: see forgive_periodic */
};

/* Why a thread is delayed before its system call returns. */
enum delay_kind {
	DELAY_NONE,
	DELAY_SLEEPER, /* something outside the target has woken it */
	DELAY_TIMEOUT, /* its timeout has ended */
};

/* How the thread was last woken. */
struct wake_up {
	u32 delay_kind;	     /* an enum delay_kind: its return is to be delayed */
	u32 by_timer;	     /* a timer woke it */
	u32 too_soon;	     /* an enum soon */
	u32 sleep_sped_up;   /* the sleep has earned it something, as it slept in what is sped up */
	u32 would_not_sleep; /* in virtual time it has not gone to sleep since it last had a core */
};

/*
 * A thread that sleeps, polls and sleeps again at one place (polling.h). It begins with the first
 * sleep that a timer ends, and ends with another thread's wake-up (polled_until_now), or when the
 * thread continues by itself (finish_poll).
 */
struct polling {
	u32 polls;	/* in a row: see continue_poll */
	u32 sped_up;	/* it sleeps in what is sped up */
	u32 short_rows; /* rows of polls since that were too short to tell */
	u64 since;	/* since when it has waited by polling; 0: it does not */
	u64 debt;	/* forgiven if it continues by itself: see finish_poll */
	/*
	 * The mean position at which what it would then find was made, see expected_find_delay; 0:
	 * it looks for nothing.
	 */
	u64 found_position;
	u64 others_position; /* the mean position of the other running threads at its last poll */
	u64 place;	     /* where it was last seen to poll; 0: nowhere */
};

/* A thread that works when a timeout ends, and waits at the same place again (polling.h). */
struct timeout_wait {
	u64 since;	 /* when it began to wait there, not counting that work; 0: it does not */
	u64 position;	 /* at which its last timeout ended */
	u64 woken_place; /* where another thread has ended such a wait; 0: nowhere */
	u32 count;	 /* timeouts since then */
};

/* What has ended the waits that began at a place. */
struct habit {
	u64 place;
	u8 ends[WAIT_CLASSES];
};
#define HABITS 8 /* a power of two: threads wait at few places */

/* The current wait (waiting.h). */
struct wait {
	u64 since;   /* 0: there is none, or it is not followed */
	u32 unit;    /* of the code that waits; 0: none, or not looked up */
	u8 expected; /* a class of waiting */
	u8 counted;  /* it is included in the counts of the unit and of the class */
	u8 habit;
	u8 ended;   /* 1 + the class of the wait, from its end until the thread runs */
	u8 stopped; /* the thread was stopped when the wait began */
};

/* A thread that runs goroutines: to them it is what a core is to threads (goroutine_account.h). */
struct goroutine_host {
	u32 has_slept; /* one of its goroutines */
	u32 goroutine; /* it runs one that it was seen to begin with */
	/* As its last goroutine left it; since 0: it runs another one. */
	struct account idle_account;
	/* The next goroutine is delayed: something outside the target woke the thread. */
	u32 delays_next;
	/* For so long it had no goroutine to run; set against its debt when it has one. */
	u64 idle_ns;
};

#endif
