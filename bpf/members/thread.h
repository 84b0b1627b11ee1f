/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/*
 * The threads of the target: what is kept for each of them, and what begins anew with an
 * experiment.
 */
#ifndef WHATIF_THREAD_H
#define WHATIF_THREAD_H

#include "../base/page.h"
#include "../vtime/credit.h"
#include "../vtime/estimates.h"

#define NO_CORE 0xffffffffu

/* A position in virtual time at which something began; at is 0 if nothing did. */
struct begun {
	u64 at;
	u64 ahead; /* of official virtual time: what the thread owed */
	/* the lower half of the experiment's number: kernels before 6.3 have little stack */
	u32 epoch;
	u32 by;    /* the thread's number */
};

/* What has ended the waits that began at a place. */
struct habit {
	u64 place;
	u8 ends[WAIT_CLASSES];
};
#define HABITS 8 /* a power of two: threads wait at few places */

/* A thread's current wait. */
struct wait {
	u64 since; /* 0: it does not wait, or the wait is not followed */
	u32 unit;  /* of the code that waits; 0: none, or not looked up */
	u8 expected; /* a class of waiting */
	u8 counted;  /* it is included in the counts of the unit and of the class */
	u8 habit;
	u8 ended; /* 1 + the class of the wait, from its end until the thread runs */
	u8 stopped; /* the thread was stopped when the wait began */
};

enum delay_kind {
	DELAY_NONE,
	DELAY_SLEEPER,
	DELAY_TIMEOUT, /* its timeout has ended */
};

/* A thread's sleeps at one place that the clock has ended: see periodic.h. */
struct timed_sleeps {
	u64 place;
	u32 all;     /* this and the next two are halved when it is SLEEPS_FULL */
	u32 handoffs; /* of them: the thread soon woke another one */
	u32 worked;  /* of the others: the thread did more than poll */
	u32 plain;   /* the last one was in a call that only sleeps */
};
#define SLEEP_PLACES 4 /* a power of two: goroutines of several places share a thread */

/* What a thread does comes too soon, and so too often, in virtual time. */
enum soon {
	SOON_NOT,
	SOON_BY_ANOTHER, /* a thread of the next kind has woken it */
	SOON_BY_ITSELF,  /* it slept by the clock and its debt was forgiven: see forgive_periodic */
};

/* A thread of the target. A task that has this storage belongs to the target. */
struct thread {
	/* What most switches need comes first, in few cache lines. */
	struct account account;
	u64 lead; /* the part of its debt that is not paid: see outsiders.h */
	struct credit credit;
	struct spin spin; /* busily */
	/* how much its level has grown on cores, by in_turns: running that took no virtual time */
	u64 share_used;
	u32 running;
	u32 core;   /* that it last ran on; NO_CORE: it competes for none */
	/* an enum delay_kind: why its return will be delayed, since it was last woken */
	u32 delay_kind;
	u32 by_timer; /* a timer was the last to wake it */
	u32 too_soon; /* an enum soon */
	/* the last sleep has earned it something, as it slept in what is sped up */
	u32 sleep_sped_up;
	u32 polls; /* how often in a row it has slept, polled and slept again: see continue_poll */
	/* a timer has woken it from a sleep that is sped up, and it has not continued since */
	u32 polls_sped_up;
	u32 would_not_sleep; /* in virtual time it has not gone to sleep since it last had a core */
	u32 short_polls; /* rows of polls since that were too short to tell */
	/* since when it has waited by polling; 0: another thread has woken it, or it ran */
	u64 polling_since;
	u64 poll_debt; /* forgiven if it continues without a wake-up: see finish_poll */
	/*
	 * the mean position at which what it would then find was made, see expected_find_delay; 0:
	 * it looks for nothing
	 */
	u64 found_position;
	u64 others_position; /* the mean position of the other running threads at its last poll */
	u64 poll_place; /* the place at which it was last seen to poll; 0: none */
	/*
	 * since when it has waited at one place, not counting its work after timeouts; 0: it has
	 * not
	 */
	u64 timeouts_since;
	u64 timeout_position;        /* the position at which the last of these timeouts ended */
	u64 woken_place;    /* the place at which another thread has ended such a wait; 0: none */
	u32 timeouts;        /* timeouts since then */
	struct timed_sleeps sleeps[SLEEP_PLACES];
	/*
	 * 1 + the index of the sleep that it has returned from, until it wakes another thread; 0:
	 * none
	 */
	u32 pending_sleep;
	u32 delayed;    /* it is delayed before it returns, see return_delay.h */
	u32 leaving; /* it leaves the target: see leaving.h */
	u64 address_space; /* a number of whatif's own, which changes with every exec and fork */
	u64 memory; /* the memory descriptor that this is about; 0: any */
	u64 code_pages; /* of its process, when they were last looked at */
	u32 forked;    /* its process was forked and its numbers are not read yet: see on_fault */
	u32 preexisting; /* it ran before whatif came */
	u32 uncounted;    /* its process has no counters for lack of room */
	u32 guest;   /* its process runs in another one's memory, and does not use its counters */
	u32 hosts_goroutines;   /* it has run goroutines that sleep */
	u32 by_goroutine; /* the key of the visit that it makes is its goroutine */
	u32 earns;   /* in this experiment its samples have earned it something */
	u32 deferred;    /* deferred samples, a bit each: see deferred.h */
	u32 last_deferred; /* 1 + the index of its last sample, if that is deferred */
	struct begun begun[MAX_SPANS];
	/* its position when it last woke up, or began or ended a request; 0: it sleeps */
	u64 available_since;
	struct kinds kinds;
	struct kind usual; /* all kinds of segments together */
	u64 family; /* 0: it was not forked within the target */
	struct wait wait;
	struct habit habits[HABITS];
	s64 reply_lead; /* how much too early it replies, on average: see replies.h */
	u32 goroutine; /* it runs a goroutine that it was seen to begin with */
	/* as its last goroutine left it; since 0: it runs another one */
	struct account idle_account;
	/*
	 * the goroutine that it finds next is to be delayed: something outside the target has woken
	 * it
	 */
	u32 delays_next;
	/* time for which it had no goroutine to run; set against its debt when it has one */
	u64 host_idle;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct thread);
} threads SEC(".maps");

/*
 * What is known of the segment kinds of threads that one process has made at one place. A thread
 * that lives for one request learns nothing that it can use, but the next ones do the same.
 */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1 << 11);
	__type(key, u64);
	__type(value, struct kinds);
} families SEC(".maps");

static const struct kinds nothing_known;

static __always_inline struct thread *thread_of(struct task_struct *t)
{
	return bpf_task_storage_get(&threads, t, 0, 0);
}

static __always_inline void core_enter_experiment(struct core *c)
{
	if (c->account.epoch != control.epoch) {
		c->began_level = control.global_start;
		c->share_max = c->earner_share_max = 0;
		c->fairness_settled = control.fairness_growth;
	}
	account_enter_experiment(&c->account, control.epoch, control.start, control.global_start);
}

/* What the thread has to pay. */
static __always_inline u64 debt_of(const struct thread *t, u64 level)
{
	return account_debt(level + t->lead, control.global);
}

/* It has found what it polled for, or polls for something else. */
static __always_inline void stop_polling(struct thread *t)
{
	t->polling_since = t->poll_debt = t->found_position = t->polls = t->polls_sped_up = 0;
}

/* Another thread wakes it: it has waited for that since it began to poll. */
static __always_inline void polled_until_now(struct thread *t)
{
	if (t->polling_since)
		t->account.since = t->polling_since;
	stop_polling(t);
}

/* Forgets what it has and owes of an experiment that is over. */
static __always_inline void forget_experiment(struct thread *t)
{
	/* A thread that does not run has run until began. */
	u64 until = t->running && t->credit.began < control.start ? control.start : t->credit.began;

	t->lead = 0;
	t->host_idle = 0;
	t->spin.left = 0;
	stop_polling(t);
	t->share_used = 0;
	t->earns = 0;
	t->too_soon = 0;
	credit_begin(&t->credit, until);
	t->credit.carry = t->credit.request_due = t->reply_lead = 0;
	t->timeouts_since = 0;
	t->credit.last = SIDE_UNKNOWN; /* the unit is another */
}

static __always_inline void enter_experiment(struct thread *t)
{
	if (t->account.epoch != control.epoch)
		forget_experiment(t);
	account_enter_experiment(&t->account, control.epoch, control.start, control.global_start);
}

/* The value for a thread that is woken by one with this value. */
static __always_inline u32 too_soon_by(u32 soon)
{
	return soon == SOON_BY_ITSELF ? SOON_BY_ANOTHER : SOON_NOT;
}

/* Counts a sample of the thread in this unit, if the thread comes too soon. */
static __always_inline void count_too_soon(struct core *c, const struct thread *t, u32 unit)
{
	if (unit && unit == control.unit && t->too_soon)
		c->too_soon += control.parts;
}

#endif
