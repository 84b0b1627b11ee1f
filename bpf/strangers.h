/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/*
 * Accounts of threads outside of the target that it deals with, as the clients of a
 * server. They are never stopped and earn nothing, but what they wait for and what
 * waits for them follows the same rule. A client that waits for each answer is as
 * late as the answer was; one that never waits for the server is no later than it
 * was, and a server that has to wait for its requests gets nothing for its own speed.
 *
 * What a thread owes because a stranger was not stopped it pays once. If that did not
 * delay the stranger its next request comes as early again, and a thread that pays for
 * each of them would earn more after each stop, for nobody. Such a lead is handed on, too.
 * What the thread has not paid yet when it answers is no lead: a hundred requests may pass
 * from one tick to the next, at which it pays.
 *
 * Without an account a stranger would count as one that lags behind by as much as
 * the thread that it wakes.
 */
#ifndef WHATIF_STRANGERS_H
#define WHATIF_STRANGERS_H

struct stranger {
	struct account account;
	u32 running;
	u32 timed; /* it was last woken by the clock */
	u64 lead; /* of what the thread that it lets go on next owes, so much at most need not be paid */
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct stranger);
} strangers SEC(".maps");

static __always_inline struct stranger *adopted(struct stranger *s)
{
	if (!s)
		return 0;
	if (s->account.epoch != control.epoch)
		s->lead = 0;
	account_adopt(&s->account, control.epoch, control.start, control.global_start);
	return s;
}

static __always_inline struct stranger *stranger_of(struct task_struct *task)
{
	return adopted(bpf_task_storage_get(&strangers, task, 0, 0));
}

/*
 * Threads of the kernel work for whoever asked last, and are like interrupts, unless what
 * they run may be sped up: then who waits for them may have to wait less.
 */
static __always_inline bool is_kernel_thread(struct task_struct *task)
{
	return kernel_code && task->pid && is_kernels(task);
}

/* The thread deals with the target from now on. */
static __always_inline struct stranger *meet_stranger(struct task_struct *task)
{
	/* Whatif is told things by whom it profiles: that is of no consequence to either. */
	if ((!memory_of(task) && !is_kernel_thread(task)) || task->tgid == membership.own)
		return 0;
	return adopted(bpf_task_storage_get(&strangers, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE));
}

/* Whether it is one that the target deals with. */
static __always_inline bool stranger_stops(struct task_struct *task, u64 now)
{
	struct stranger *s = stranger_of(task);

	if (!s)
		return 0;
	s->account.since = now;
	s->running = 0;
	return 1;
}

/*
 * What it waited for the core it has had. But a core that others outside of the target keep
 * busy is at an early level, and they let the stranger run at once: it is not lowered to that. For a core that
 * stood idle it has not waited: waking one takes as long in virtual time.
 */
static __always_inline void stranger_runs(struct task_struct *task, u64 now, u64 core_level, bool idle)
{
	struct stranger *s = stranger_of(task);
	u64 level;

	if (!s)
		return;
	if (!idle) {
		level = account_waited(&s->account, now, core_level);
		if (level > s->account.level)
			s->account.level = level;
	}
	s->running = 1;
}

/* Let go on by one at level waker, which has still to pay unpaid of what it owes. */
static __always_inline void stranger_wakes(struct stranger *s, u64 now, u64 waker, u64 unpaid)
{
	u64 debt;

	if (s->running)
		/* Caught on its way to sleep: it has not waited. */
		s->account.level = lesser(s->account.level, waker);
	else
		s->account.level = account_waited(&s->account, now, waker);
	s->account.since = now;
	debt = account_debt(s->account.level, control.global);
	s->lead = debt - lesser(debt, unpaid);
}

/* What a thread at this level, woken by the stranger, need not pay. */
static __always_inline u64 stranger_leads(struct stranger *s, u64 level)
{
	u64 debt = account_debt(level, control.global), lead = lesser(debt, s->lead);

	s->lead = debt;
	return lead;
}

#endif
