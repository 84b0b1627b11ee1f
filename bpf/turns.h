/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/*
 * Threads that share a core in turns: what each has earned in its turns, and what makes turns fair
 * in virtual time.
 */
#ifndef WHATIF_TURNS_H
#define WHATIF_TURNS_H

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
__noinline u64 weight_in_turns(void)
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

static __always_inline void measure(struct core *c, const struct thread *t)
{
	if (t->spared > c->spared)
		c->spared = t->spared;
	if (t->earns && t->spared > c->measure)
		c->measure = t->spared;
}

/*
 * The thread has the core from now on. A thread that begins to compete starts like the others, as
 * in the scheduler.
 */
__noinline int begin_turn(struct core *c, struct thread *t, u64 now)
{
	u32 id = bpf_get_smp_processor_id();

	if (!c || !t)
		return 0;
	c->began = t->account.level;
	c->evened = control.evened;
	if (t->core != id) {
		t->core = id;
		t->spared = c->spared;
	} else {
		measure(c, t);
	}
	show_level(c, t, 0);
	*(volatile u64 *)&c->left = 0; /* after the level: see shown_by */
	t->credit.began = now;
	t->running = 1;
	return 0;
}

/* The current thread stops competing for the core, or has to wait for it. */
__noinline int spare(struct core *c, struct thread *t, bool sleeps)
{
	u64 given;

	if (!c || !t)
		return 0;
	given = t->account.level > c->began ? t->account.level - c->began : 0;
	/*
	 * What the thread was given while it ran, the core was given, too. The core does not take
	 * on the thread's position: a thread that is far ahead, after a sleep that nothing delayed,
	 * leaves a gap behind that others may fill.
	 */
	if (given)
		c->account.level = lesser(c->account.level + given, control.global);
	if (sleeps) {
		t->core = NO_CORE;
		c->spared = c->measure = 0; /* the threads that are left will set them again */
		return 0;
	}
	if (given)
		t->spared += in_turns(given, weight_in_turns());
	measure(c, t);
	return 0;
}

/* About how far the scheduler lets one thread be ahead of another. */
#define SLICE_NS 4000000

/*
 * Forgives a part of the thread's debt. The core has not given it that: began_level moves along,
 * for end_turn.
 */
static __always_inline void forgive(struct core *c, struct thread *t, u64 by)
{
	t->account.level += by;
	c->began += by;
	t->free -= t->free ? by : 0;
	show_level(c, t, 0);
}

/*
 * Whether the thread has earned the most of those that share the core: fair turns are measured by
 * it.
 */
static __always_inline bool sets_measure(const struct core *c, const struct thread *t)
{
	return t->earns && c->measure && t->spared >= c->measure;
}

/*
 * The part of its debt, at most, that the thread with the largest share may defer: what came about
 * since it got the core so that others get no more than their share. It may earn as much, or sit it
 * out while others have the core. If it were stopped for that, it would gain more share, and others
 * would be stopped for that again.
 */
static __always_inline u64 let_off(const struct core *c, const struct thread *t, u64 evened)
{
	return sets_measure(c, t) ? lesser(evened - c->evened, SLICE_NS) : 0;
}

/* What it has paid, earned or waited for it may not defer again. */
static __always_inline void settle_let_off(struct core *c, const struct thread *t)
{
	u64 evened = control.evened;

	c->evened = evened - lesser(let_off(c, t, evened), debt_of(t, t->account.level));
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
 * done where waiting is sped up: what a waiting thread was spared it was spared off the core, and
 * the others owe it nothing for that.
 */
__noinline u64 unfair(struct core *c, struct thread *t)
{
	u64 weight, spared, owed, room;

	if (!c || !t || !c->measure || control.grown == control.epoch || bpf_core_type_exists(struct irqtime))
		return 0;
	weight = weight_in_turns();
	spared = t->spared;
	if (t->account.level > c->began)
		spared += in_turns(t->account.level - c->began, weight);
	if (c->measure <= spared)
		return 0;
	owed = out_of_turns(c->measure - spared, weight);
	room = t->earns ? SLICE_NS : ROOM_BESIDE_EARNERS_NS;
	return owed > room ? lesser(owed - room, control.cap) : 0;
}

#endif
