/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/*
 * Threads that share a core in turns: what each has earned in its turns, and what makes turns fair
 * in virtual time.
 */
#ifndef WHATIF_FAIR_SHARE_H
#define WHATIF_FAIR_SHARE_H

#include "../members/processes.h"
#include "../wake/positions.h"

/* The weight of nice 0, as the scheduler counts on 64 bits. */
#define NICE_0_WEIGHT (1 << 20)

/* Real-time threads have lower numbers: they do not take turns. */
#define FIRST_FAIR_PRIORITY 100

/* So many nested groups are looked at: sessions, services, slices. */
#define MAX_GROUPS 6

/*
 * The share of its core that the running task gets among all that want it: its weight, times its
 * group's part of the group above, and so on. 0: it takes no turns.
 */
SUBPROGRAM u64 weight_in_turns(void)
{
	const struct task_struct *task = untrusted(bpf_get_current_task_btf());
	const struct sched_entity *group;
	const struct cfs_rq *queue;
	u64 weight = task->se.load.weight, all;

	if (task->prio < FIRST_FAIR_PRIORITY)
		return 0;
	if (!bpf_core_field_exists(task->se.parent))
		return weight;
	group = task->se.parent;
	queue = task->se.cfs_rq;
	for (int i = 0; i < MAX_GROUPS && group; i++) {
		all = queue->load.weight;
		if (all)
			weight = weight * group->load.weight / all;
		queue = group->cfs_rq;
		group = group->parent;
	}
	return weight ? weight : 1;
}

/* Time on a core as the scheduler counts it for sharing: slower for tasks with more weight. */
static __always_inline u64 in_turns(u64 ns, u64 weight)
{
	return weight ? ns * NICE_0_WEIGHT / weight : 0;
}

/* The inverse of in_turns. */
static __always_inline u64 out_of_turns(u64 turns, u64 weight)
{
	return (turns >> 10) * weight / (NICE_0_WEIGHT >> 10);
}

static __always_inline void update_shares(struct core *c, const struct thread *t)
{
	if (t->turns.share_used > c->share_max)
		c->share_max = t->turns.share_used;
	if (t->learned.earns && t->turns.share_used > c->earner_share_max)
		c->earner_share_max = t->turns.share_used;
}

/*
 * The thread has the core from now on. A thread that begins to compete starts like the others, as
 * in the scheduler.
 */
SUBPROGRAM int begin_turn(struct core *c, struct thread *t, u64 now)
{
	u32 id = bpf_get_smp_processor_id();

	if (!c || !t)
		return 0;
	c->began_level = t->account.level;
	c->fairness_settled = control.fairness_growth;
	if (t->turns.core != id) {
		t->turns.core = id;
		t->turns.share_used = c->share_max;
	} else {
		update_shares(c, t);
	}
	show_level(c, t, 0);
	*(volatile u64 *)&c->shown_left = 0; /* after the level: see shown_by */
	t->credit.began = now;
	t->running = 1;
	return 0;
}

/* The current thread stops competing for the core, or has to wait for it. */
SUBPROGRAM int end_turn(struct core *c, struct thread *t, bool sleeps)
{
	u64 given;

	if (!c || !t)
		return 0;
	given = t->account.level > c->began_level ? t->account.level - c->began_level : 0;
	/*
	 * What the thread was given while it ran, the core was given, too. The core does not take
	 * on the thread's position: a thread that is far ahead, after a sleep that nothing delayed,
	 * leaves a gap behind that others may fill.
	 */
	if (given)
		account_raise_core(&c->account, given, control.global);
	if (sleeps) {
		t->turns.core = NO_CORE;
		/* the threads that are left will set them again */
		c->share_max = c->earner_share_max = 0;
		return 0;
	}
	if (given)
		t->turns.share_used += in_turns(given, weight_in_turns());
	update_shares(c, t);
	return 0;
}

/* About how far the scheduler lets one thread be ahead of another. */
#define SLICE_NS 4000000

/*
 * Forgives a part of the thread's debt. The core has not given it that: began_level moves along,
 * for end_turn.
 */
static __always_inline void forgive(struct core *c, struct thread *t, u64 by, enum why why)
{
	account_raise(&t->account, by, why);
	c->began_level += by;
	t->requests.available_since -= t->requests.available_since ? by : 0;
	show_level(c, t, 0);
}

/*
 * Whether the thread has earned the most of those that share the core: fair turns are measured by
 * it.
 */
static __always_inline bool leads_share(const struct core *c, const struct thread *t)
{
	return t->learned.earns && c->earner_share_max &&
	       t->turns.share_used >= c->earner_share_max;
}

/*
 * The part of its debt, at most, that the thread with the largest share may defer: what came about
 * since it got the core so that others get no more than their share. It may earn as much, or sit it
 * out while others have the core. If it were stopped for that, it would gain more share, and others
 * would be stopped for that again.
 */
static __always_inline u64 deferrable(const struct core *c, const struct thread *t,
				      u64 fairness_growth)
{
	return applies(RULE_DEFERRED_FAIRNESS) && leads_share(c, t)
		       ? lesser(fairness_growth - c->fairness_settled, SLICE_NS)
		       : 0;
}

/* What it has paid, earned or waited for it may not defer again. */
static __always_inline void settle_deferrable(struct core *c, const struct thread *t)
{
	u64 fairness_growth = control.fairness_growth;

	c->fairness_settled = fairness_growth - lesser(deferrable(c, t, fairness_growth),
						       debt_of(t, t->account.level));
}

/*
 * A thread that earns nothing cannot have the largest share. It needs less room, which each such
 * thread would be ahead by at an experiment's end.
 */
#define ROOM_BESIDE_EARNERS_NS 1000000

/*
 * Threads that compete for a core share it by weight, in real time: a thread whose code is
 * virtually faster would get its share of virtual time for less. So the others are stopped in their
 * turns for as much as it earned in its own. That delays all alike, so it shows in no point's
 * virtual time: only in how much of it each thread has the core.
 *
 * Where the scheduler does not count a stop as a part of the turn this would be in vain. Nor is it
 * done where waiting is sped up: a waiting thread saved its time while it had no core, so it took
 * no share from the others.
 */
SUBPROGRAM u64 fairness_debt(struct core *c, struct thread *t)
{
	u64 weight, used, owed, room;

	if (!c || !t || !c->earner_share_max || control.waiting_grew == control.epoch ||
	    bpf_core_type_exists(struct irqtime) || !applies(RULE_FAIR_TURNS))
		return 0;
	weight = weight_in_turns();
	used = t->turns.share_used;
	if (t->account.level > c->began_level)
		used += in_turns(t->account.level - c->began_level, weight);
	if (c->earner_share_max <= used)
		return 0;
	owed = out_of_turns(c->earner_share_max - used, weight);
	room = t->learned.earns ? SLICE_NS : ROOM_BESIDE_EARNERS_NS;
	return owed > room ? lesser(owed - room, control.cap) : 0;
}

#endif
