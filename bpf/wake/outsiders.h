/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/*
 * Outsiders: threads outside the target that talk to it, such as a server's clients. They have
 * accounts. They are never stopped and earn nothing, but they wait and wake by the same rule. A
 * client that waits for each answer is as late as the answers are. One that never waits for the
 * server is no later than before, and a server that has to wait for its requests gains nothing by
 * its own speed.
 *
 * What a thread owes because an outsider came early it pays once. If that did not delay the
 * outsider, its next request comes as early again, and a thread that paid for each of them would
 * earn more after each stop, for no gain. So such a lead is handed on, too. What the thread still
 * has to pay when it answers is no lead: a hundred requests may pass between two ticks.
 *
 * Without an account an outsider would count as one that lags behind by as much as the thread that
 * it wakes.
 */
#ifndef WHATIF_OUTSIDERS_H
#define WHATIF_OUTSIDERS_H

#include "../members/processes.h"
#include "../members/thread.h"
#include "../code/kernel_code.h"

struct outsider {
	struct account account;
	u32 running;
	u32 by_timer; /* the clock was the last to wake it */
	/* of the debt of the next thread that it wakes, at most so much need not be paid */
	u64 lead;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct outsider);
} outsiders SEC(".maps");

static __always_inline struct outsider *entered(struct outsider *s)
{
	if (!s)
		return 0;
	if (s->account.epoch != control.epoch)
		s->lead = 0;
	account_enter_experiment(&s->account, control.epoch, control.start, control.global_start);
	return s;
}

static __always_inline struct outsider *outsider_of(struct task_struct *task)
{
	return entered(bpf_task_storage_get(&outsiders, task, 0, 0));
}

/*
 * Kernel threads work for whichever task asked last, and are like interrupts, unless their own code
 * may be sped up: then a thread that waits for them may wait less.
 */
static __always_inline bool is_kernel_thread(struct task_struct *task)
{
	return kernel_code && task->pid && is_kernels(task);
}

/* The thread talks to the target from now on. */
static __always_inline struct outsider *get_outsider(struct task_struct *task)
{
	/* Threads of the target tell whatif things, too: that matters to neither. */
	if ((!memory_of(task) && !is_kernel_thread(task)) || task->tgid == membership.own ||
	    !applies(RULE_OUTSIDERS))
		return 0;
	return entered(bpf_task_storage_get(&outsiders, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE));
}

/* The task leaves its core. Gives whether it is an outsider that talks to the target. */
static __always_inline bool outsider_leaves_core(struct task_struct *task, u64 now)
{
	struct outsider *s = outsider_of(task);

	if (!s)
		return 0;
	s->account.since = now;
	s->running = 0;
	return 1;
}

/*
 * It has had what it waited for the core. But a core that other programs keep busy is at an early
 * level, and lets the outsider run at once, so the outsider is not lowered to that. It has not
 * waited for an idle core, which wakes up as slowly in virtual time.
 */
static __always_inline void outsider_gets_core(struct task_struct *task, u64 now, u64 core_level,
					       bool idle)
{
	struct outsider *s = outsider_of(task);

	if (!s)
		return;
	if (!idle)
		account_may_have_waited(&s->account, now, core_level, WHY_UNCOUNTED);
	s->running = 1;
}

/* A thread at level waker, which has still to pay unpaid of what it owes, wakes the outsider. */
static __always_inline void outsider_woken(struct outsider *s, u64 now, u64 waker, u64 unpaid)
{
	u64 debt;

	if (s->running)
		/* Woken while it went to sleep: it has not waited. */
		account_catch(&s->account, waker, WHY_UNCOUNTED);
	else
		account_wait_until(&s->account, now, waker, WHY_UNCOUNTED);
	s->account.since = now;
	debt = account_debt(s->account.level, control.global);
	s->lead = debt - lesser(debt, unpaid);
}

/* What a thread at this level that the outsider wakes need not pay. */
static __always_inline u64 outsider_lead(struct outsider *s, u64 level)
{
	u64 debt = account_debt(level, control.global), lead = lesser(debt, s->lead);

	s->lead = debt;
	return applies(RULE_OUTSIDER_LEADS) ? lead : 0;
}

#endif
