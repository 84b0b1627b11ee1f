/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/*
 * The only file that changes a level. Each change has a reason; those of threads are counted, so a
 * profile says why threads were charged or not.
 */
#ifndef WHATIF_LEVEL_H
#define WHATIF_LEVEL_H

#include "account.h"

/* Why a level changed. */
enum why {
	WHY_UNCOUNTED,	    /* the account is no thread's */
	WHY_EARNED,	    /* the thread ran in the selected code */
	WHY_WAIT_SPED_UP,   /* it waited for what is sped up */
	WHY_EXPECTED,	    /* it is expected to have earned this: see expected.h */
	WHY_MEASURED,	    /* ticks and probes delayed it */
	WHY_STOPPED,	    /* it paid at a tick */
	WHY_RETURN_DELAYED, /* it paid before its system call returned */
	WHY_WAITED,	    /* it waited for another thread */
	WHY_WAITED_CORE,    /* it waited for a core */
	WHY_SPUN,	    /* it waited busily */
	WHY_POLLED,	    /* forgiven: it waited by polling */
	WHY_PERIODIC,	    /* forgiven: it is periodic, and its cores were wanted */
	WHY_GOROUTINE,	    /* it took on the level of its next goroutine */
	WHY_HOST_IDLE,	    /* it had no goroutine to run */
	WHY_SET_BACK,	    /* lowered: it should have waited */
	WHY_STALLED,	    /* the host kept its core */
	WHY_CAUGHT,	    /* lowered: it was woken while it went to sleep */
	WHY_MAX,
};

#ifdef __bpf__
static __always_inline void count_change(enum why why, s64 by); /* base/page.h */
#else
static inline void count_change(enum why why, s64 by) {}
#endif

static __always_inline void set_level(struct account *a, u64 level, enum why why)
{
	if (why != WHY_UNCOUNTED)
		count_change(why, level - a->level);
	a->level = level;
}

/* A new experiment begins for everyone at the same position. */
static __always_inline void account_enter_experiment(struct account *a, u64 epoch, u64 start,
						     u64 global)
{
	if (a->epoch == epoch)
		return;
	a->epoch = epoch;
	a->level = global;
	if (a->since < start)
		a->since = start;
}

/* An owner that is new stands at this level. */
static __always_inline void account_open(struct account *a, u64 epoch, u64 level, u64 now)
{
	a->epoch = epoch;
	a->level = level;
	a->since = now;
}

/* The owner stands where another one does: a child, or a goroutine that leaves its thread. */
static __always_inline void account_copy(struct account *a, const struct account *from)
{
	*a = *from;
}

/* The rule: what has stood still goes on no earlier than an owner at level releaser. */
static __always_inline void account_wait_until(struct account *a, u64 now, u64 releaser,
					       enum why why)
{
	set_level(a, account_waited(a, now, releaser), why);
}

static __always_inline void account_get_core(struct account *a, u64 now, u64 core, bool woken,
					     u64 idle)
{
	set_level(a, account_got_core(a, now, core, woken, idle), WHY_WAITED_CORE);
}

/* It was woken while it went to sleep: it has not waited, but goes on no earlier than its waker. */
static __always_inline void account_catch(struct account *a, u64 waker, enum why why)
{
	set_level(a, lesser(a->level, waker), why);
}

/* Earned, delayed or forgiven. */
static __always_inline void account_raise(struct account *a, u64 by, enum why why)
{
	set_level(a, a->level + by, why);
}

static __always_inline void account_raise_to(struct account *a, u64 level, enum why why)
{
	if (level > a->level)
		set_level(a, level, why);
}

/* The rule for a releaser that may have done something else meanwhile: the level does not fall. */
static __always_inline void account_may_have_waited(struct account *a, u64 now, u64 releaser,
						    enum why why)
{
	account_raise_to(a, account_waited(a, now, releaser), why);
}

/* It should have come later, and owes that. */
static __always_inline void account_lower(struct account *a, u64 by)
{
	set_level(a, a->level - by, WHY_SET_BACK);
}

/* It has stood still for took ns, to pay. */
static __always_inline void account_pay(struct account *a, u64 took, u64 global, enum why why)
{
	set_level(a, account_paid(a->level, took, global), why);
}

/* A thread takes on the level of its next goroutine. */
static __always_inline void account_move(struct account *a, u64 level)
{
	set_level(a, level, WHY_GOROUTINE);
}

/* A core has had what the thread on it was given, but is never later than G. */
static __always_inline void account_raise_core(struct account *a, u64 by, u64 global)
{
	set_level(a, lesser(a->level + by, global), WHY_UNCOUNTED);
}

#endif
