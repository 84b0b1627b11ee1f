/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/*
 * Waiting that can be sped up. A thread that waits in the selected code is like one that runs there
 * on a core of its own: its wait takes less virtual time, so G grows while it waits, and all others
 * are stopped for that. Several threads that wait there at once earn once, as several cores in one
 * line do.
 *
 * Which waiting counts as a unit's time depends on what is waited for, and only the end of the wait
 * tells that. Until then the class is expected to be the usual one at this place. Where that is
 * wrong, G has grown for no thread, or has to grow at the end: a delay that hits all alike, and no
 * gain.
 */
#ifndef WHATIF_WAITING_H
#define WHATIF_WAITING_H

#include "../code/sample_unit.h"
#include "../earn/segment.h"
#include "calls.h"

/* No class: nothing is known. */
#define WAIT_UNKNOWN (WAIT_CLASSES - 1)

/* What a thread that is still asleep has waited for, by what wakes it. */
static __always_inline u32 class_of_wake(struct core *c, struct task_struct *task,
					 struct thread *waker)
{
	return class_of_end(task, waker != 0, c->interrupts, c->source & 15);
}

static __always_inline struct habit *habit_at(struct thread *t, u32 i)
{
	return &t->habits[i & (HABITS - 1)];
}

/* The habit for a wait at this place; an empty one if the place was not met lately. */
static __always_inline u32 find_habit(struct thread *t, u64 place)
{
	u32 i = place >> 60 & (HABITS - 1);
	struct habit *h = habit_at(t, i);

	if (h->place != place) {
		__builtin_memset(h, 0, sizeof(*h));
		h->place = place;
	}
	return i;
}

#define HABIT_FULL 16

static __always_inline void learn_habit(struct habit *h, u32 class)
{
	u8 *n = &h->ends[class & (WAIT_CLASSES - 1)];

	if (++*n < HABIT_FULL)
		return;
	for (int i = 0; i < WAIT_CLASSES; i++)
		h->ends[i] /= 2;
}

static __noinline u32 expected_class(struct task_struct *task, struct habit *h)
{
	u32 class = WAIT_UNKNOWN, most = 0;

	if (waits_for_disk(task))
		return WAIT_DISK;
	for (u32 i = 0; i < WAIT_CLASSES; i++)
		if (h->ends[i] > most) {
			most = h->ends[i];
			class = i;
		}
	if (most)
		return class;
	return is_sleep(calling(task)) ? WAIT_SLEEP : WAIT_UNKNOWN;
}

/*
 * G grows by s for the time in which threads have waited for what is sped up. Called before any
 * thread begins or ends to wait.
 */
static __always_inline void grow_with_waiting(u64 now)
{
	u64 seen = control.waited_until;
	u32 weight;

	if (!waits_followed || !control.rate || !under_way(now) || seen >= now)
		return;
	/*
	 * Read before this core claims the interval: a thread that begins or ends to wait has come
	 * here first.
	 */
	weight = weight_of_waiting();
	if (__sync_val_compare_and_swap(&control.waited_until, seen, now) != seen)
		return; /* another core does it */
	if (seen < control.start)
		seen = control.start;
	if (seen < now && weight) {
		control.waiting_grew = control.epoch;
		__sync_fetch_and_add(&control.global,
				     weighted(now - seen, weight) * control.rate / CREDIT_ONE);
	}
}

/* The thread runs no goroutine: it looks for one, or waits for one. */
static __always_inline bool looks_for_goroutine(const struct thread *t)
{
	return control.follows_goroutines && t->host.idle_account.since;
}

/*
 * A thread that runs goroutines wakes up. Like an idle core, it may have slept for lack of work. It
 * sleeps a millisecond or so at a time, and several times until a goroutine's sleep is over.
 */
static __always_inline void count_host_idle(struct thread *t, u64 now)
{
	u64 away = account_away(&t->account, now);

	grow_with_waiting(now);
	t->host.idle_ns =
		lesser(t->host.idle_ns + away, account_debt(t->account.level, control.global));
}

/*
 * A tick meets a thread that runs goroutines, or it wakes a thread to run some. If it has just
 * slept, it may be about to wake a goroutine that sleeps in the selected code. It must not be
 * stopped for what that sleep has earned: at 100% it would be stopped until the goroutine is woken.
 */
static __always_inline bool offset_host_idle(struct thread *t)
{
	u64 by = t->host.idle_ns;

	t->host.idle_ns = 0;
	if (!by || !weight_of_waiting() || !applies(RULE_HOST_IDLE))
		return 0;
	account_raise(&t->account, lesser(by, account_debt(t->account.level, control.global)),
		      WHY_HOST_IDLE);
	return 1;
}

static __always_inline u32 unit_of_wait(void *ctx, struct thread *t, struct core *c)
{
	struct found found = {};
	u32 unit;

	if (kernel_code)
		take_kernel_stack(ctx, STACK_OF_WAIT);
	unit = unit_of_sample(t, c, &found, 0) & ~UNIT_SPINS;
	if (unit == UNIT_PENDING)
		return UNIT_NONE;
	unit &= UNIT_NUMBER;
	return unit_waits[unit & (MAX_UNITS - 1)].idle ? UNIT_NONE : unit;
}

/* What a wait from since to now has earned in the experiment. */
static __always_inline u64 worth_of_wait(u32 unit, u32 class, u64 since, u64 now)
{
	if (since < control.start)
		since = control.start;
	if (!control.rate || !under_way(now) || now <= since)
		return 0;
	return weighted(now - since, weight_of_wait(unit, class)) * control.rate / CREDIT_ONE;
}

static __always_inline void has_waited(struct core *c, u32 unit, u32 class, u64 ns)
{
	c->waited[class] += ns;
	if (unit)
		__sync_fetch_and_add(&unit_waits[unit].ns[class], ns);
}

/* Ends the thread's wait. Gives by how much its level grows through it. */
static __always_inline u64 end_wait(struct core *c, struct thread *t, u64 now, u32 class)
{
	u64 since = t->wait.since;
	u32 unit = t->wait.unit & (MAX_UNITS - 1);

	if (!waits_followed || !since)
		return 0;
	/*
	 * A pass over all tasks, which ends waits of threads that leave the target, may run at the
	 * same time.
	 */
	if (__sync_val_compare_and_swap(&t->wait.since, since, 0) != since)
		return 0;
	class &= WAIT_CLASSES - 1;
	/* The freezer ends its stop before the wake-up. */
	if (t->wait.stopped && class != WAIT_UNKNOWN)
		class = WAIT_OTHER;
	if (class != WAIT_UNKNOWN) {
		learn_habit(habit_at(t, t->wait.habit), class);
		has_waited(c, unit, class, now > since ? now - since : 0);
		t->wait.ended = 1 + class;
	}
	if (t->wait.counted) {
		grow_with_waiting(now);
		__sync_fetch_and_sub(&control.waiting[t->wait.expected & (WAIT_CLASSES - 1)], 1);
		if (unit)
			__sync_fetch_and_sub(&unit_waits[unit].now, 1);
	}
	return worth_of_wait(unit, class, since, now);
}

/* Ends a wait whose end nothing has seen. */
SUBPROGRAM int forget_wait(struct core *c, struct thread *t, u64 now)
{
	if (c && t)
		end_wait(c, t, now, WAIT_UNKNOWN);
	return 0;
}

/*
 * The thread goes to sleep. A wake-up may come while this is being written: it then sees no
 * beginning and does nothing, and the wait ends when the thread runs.
 */
static __always_inline void begin_wait(void *ctx, struct core *c, struct thread *t,
				       struct task_struct *task, u64 place, u64 now)
{
	u32 class, unit;

	t->wait.ended = 0;
	/*
	 * Now and then the thread was not seen running. It must not count twice, as its wait ends
	 * once.
	 */
	if (t->wait.since)
		forget_wait(c, t, now);
	/* On its way out nothing of the program waits any more. */
	if (!waits_followed || t->process.leaving || task->flags & PF_EXITING ||
	    task->__state & TASK_DEAD)
		return;
	t->wait.habit = find_habit(t, place);
	t->wait.stopped = is_stopped(task);
	class = t->wait.stopped ? WAIT_OTHER : expected_class(task, habit_at(t, t->wait.habit));
	t->wait.expected = class;
	t->wait.counted = class != WAIT_UNKNOWN && waits_followed >> class & 1;
	unit = class == WAIT_UNKNOWN || waits_counted >> class & 1 ? unit_of_wait(ctx, t, c) : 0;
	t->wait.unit = unit;
	if (t->wait.counted) {
		grow_with_waiting(now);
		__sync_fetch_and_add(&control.waiting[class & (WAIT_CLASSES - 1)], 1);
		if (unit)
			__sync_fetch_and_add(&unit_waits[unit & (MAX_UNITS - 1)].now, 1);
	}
	/* It is 0. What follows is read after it can be seen. */
	__sync_fetch_and_add(&t->wait.since, now);
	/* The pass that removed the thread has seen no wait to end. */
	if (*(volatile u32 *)&t->process.leaving)
		forget_wait(c, t, now);
}

/*
 * A thread that could run gets a core. Until an idle core has woken up, or kernel threads that may
 * have worked for the thread have left, the thread is still waiting for what it waited for.
 */
static __always_inline void get_core(struct core *c, struct thread *t, u64 now)
{
	u64 since = t->account.since, level = t->account.level, due;
	u32 unit = 0, class = WAIT_CPU;

	account_get_core(&t->account, now, c->account.level, !t->wake.would_not_sleep,
			 applies(RULE_IDLE_CORES) ? c->idle_account.since : 0);
	if (!waits_followed)
		return;
	if (c->last_left <= since && t->wait.ended) {
		class = (t->wait.ended - 1) & (WAIT_CLASSES - 1);
		unit = t->wait.unit & (MAX_UNITS - 1);
	}
	t->wait.ended = 0;
	has_waited(c, unit, class, now > since ? now - since : 0);
	due = worth_of_wait(unit, class, since, now);
	if (due && level + due > t->account.level) {
		control.waiting_grew = control.epoch;
		account_raise_to(&t->account, level + due, WHY_WAIT_SPED_UP);
		raise_global(t->account.level);
	}
}

#endif
