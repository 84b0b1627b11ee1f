/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/*
 * The threads of the target: what is kept for each of them, and what begins anew with an
 * experiment.
 */
#ifndef WHATIF_THREAD_H
#define WHATIF_THREAD_H

#include "../base/page.h"
#include "../code/thread_code.h"
#include "../earn/thread_earn.h"
#include "../pay/thread_pay.h"
#include "../points/thread_points.h"
#include "../vtime/credit.h"
#include "../vtime/estimates.h"
#include "../wake/thread_wake.h"
#include "thread_process.h"

/*
 * A thread of the target: a task that has this storage belongs to the target. What most switches
 * need comes first, in few cache lines.
 */
struct thread {
	struct account account;
	u64 lead; /* the part of its debt that is not paid: see outsiders.h */
	struct credit credit;
	struct spin spin;
	struct turns turns;
	u32 running;
	u32 delayed; /* just now, before its system call returns: see return_delay.h */
	struct wake_up wake;
	struct polling polling;
	struct timeout_wait timeouts;
	struct timed timed;
	struct thread_process process;
	struct deferral deferral;
	struct requests requests;
	struct learned learned;
	struct wait wait;
	struct habit habits[HABITS];
	s64 reply_lead; /* how much too early it replies, on average: see replies.h */
	struct goroutine_host host;
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
	t->polling.since = t->polling.debt = t->polling.found_position = t->polling.polls =
		t->polling.sped_up = 0;
}

/* Another thread wakes it: it has waited for that since it began to poll. */
static __always_inline void polled_until_now(struct thread *t)
{
	if (t->polling.since)
		t->account.since = t->polling.since;
	stop_polling(t);
}

/* Forgets what it has and owes of an experiment that is over. */
static __always_inline void forget_experiment(struct thread *t)
{
	/* A thread that does not run has run until began. */
	u64 until = t->running && t->credit.began < control.start ? control.start : t->credit.began;

	t->lead = 0;
	t->host.idle_ns = 0;
	t->spin.left = 0;
	stop_polling(t);
	t->turns.share_used = 0;
	t->learned.earns = 0;
	t->wake.too_soon = 0;
	credit_begin(&t->credit, until);
	t->credit.carry = t->credit.request_due = t->reply_lead = 0;
	t->timeouts.since = 0;
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

/* Counts a sample in selected units of this weight, if the thread comes too soon. */
static __always_inline void count_too_soon(struct core *c, const struct thread *t, u32 weight)
{
	if (weight && t->wake.too_soon)
		c->too_soon += control.parts;
}

#endif
