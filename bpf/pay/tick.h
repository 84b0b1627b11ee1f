/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/* The tick: cores meet, and each waits for what the others book. */
#ifndef WHATIF_TICK_H
#define WHATIF_TICK_H

#include "../earn/segment.h"
#include "../vtime/tick_times.h"

static __always_inline u64 tick_time(u64 tick)
{
	return tick_due(tick, control.period, control.seed);
}

/* The last tick that has begun. */
static __always_inline u64 tick_at(u64 now)
{
	return last_tick(now, control.period, control.seed);
}

/*
 * Cores tick together, in any order, and what one of them finds makes others owe. A core looks at
 * its debt when all have come to the tick, or after this time, as the host may make a core late.
 */
#define TOGETHER_NS 40000

/*
 * In a placebo G grows at each tick as if an unseen core ran in the selected code all the time. All
 * threads are stopped for that, as for code that they have nothing to do with, and no point's
 * virtual time should show it.
 */
SUBPROGRAM int grow_for_placebo(u64 last, u64 tick)
{
	u64 from = tick_time(last), to = tick_time(tick);

	if (from < control.start)
		from = control.start;
	if (from < to && under_way(to) && control.processes)
		raise_global(control.global + (to - from) * control.rate / CREDIT_ONE);
	return 0;
}

/* Keeps what is owed as a tick begins. The first core that comes does it. */
static __always_inline void open_tick(u64 tick)
{
	u64 seen = control.opened;

	if (seen < tick && __sync_val_compare_and_swap(&control.opened, seen, tick) == seen) {
		control.global_before = control.global;
		if (control.placebo)
			grow_for_placebo(seen, tick);
	}
}

/*
 * The first core to come starts the count, and the others add themselves. A core that the host
 * keeps for a period in between may be counted for the next tick: then one core is not waited for.
 */
SUBPROGRAM int arrive(u64 tick)
{
	u64 seen = control.arrived;

	/* Once more where a core that was late for the tick before was counted just then. */
	for (int i = 0; i < 8 && seen >> 16 < tick; i++) {
		u64 old = __sync_val_compare_and_swap(&control.arrived, seen, tick << 16 | 1);

		if (old == seen)
			return 0;
		seen = old;
	}
	if (seen >> 16 == tick)
		__sync_fetch_and_add(&control.arrived, 1);
	return 0;
}

/*
 * What comes by the clock takes its time in both worlds. But an experiment lasts longer than the
 * virtual time that it stands for, and has more of it. So the share that G has of the experiment is
 * a delay.
 */
static __always_inline u64 share_of_delays(u64 took, u64 now)
{
	u64 grown = (control.global - control.global_start) >> 10;
	u64 all = (now - control.start) >> 10;

	return grown <= all && all ? took * grown / all : 0;
}

struct meeting {
	u64 tick;
	u64 end;
};

/* A core that is being stopped does not come. */
static long on_meeting(u32 i, struct meeting *m)
{
	return control.arrived + control.stopping >= (m->tick << 16) + control.cores ||
	       bpf_ktime_get_ns() >= m->end;
}

/*
 * In a baseline a tick earns nothing but its own cost, which is about the same on all cores. What
 * is left of that is paid at the next tick.
 */
static __always_inline void meet(u64 tick, u64 now)
{
	struct meeting m = { .tick = tick, .end = now + TOGETHER_NS };

	if (control.rate)
		bpf_loop(1 << 12, on_meeting, &m, 0);
}

/*
 * A sample that took longer was interrupted, by the host or otherwise, and that is no part of a
 * tick's cost.
 */
#define LONGEST_SAMPLING_NS 50000

/*
 * The same for reading a process's numbers, which may be many, in memory that was not touched for a
 * while.
 */
#define LONGEST_COUNTING_NS 200000

/* What a tick takes from the thread that it interrupts, besides a stop. */
static __always_inline u64 cost_of_tick(const struct core *c)
{
	return c->tick_cost + c->sampling;
}

/* As much of that is a delay. */
static __always_inline u64 booked_cost(const struct core *c)
{
	return applies(RULE_BOOKED_TICKS) ? cost_of_tick(c) : 0;
}

/*
 * Books the tick's cost as a delay: sleeping threads get no ticks, and virtual time has none. A
 * thread that waits busily is exempt, because the delay would be charged to the threads that it
 * waits for.
 */
SUBPROGRAM int book_tick(struct core *c, struct thread *t, bool waits)
{
	u64 delay;

	if (!c || !t)
		return 0;
	delay = cost_of_tick(c);
	if (!waits && applies(RULE_BOOKED_TICKS))
		raise_level(t, delay, WHY_MEASURED);
	t->credit.began += delay;
	return 0;
}

/*
 * Books the time since begin, for which the tick has kept the thread, as a delay. More than most is
 * the host's doing.
 */
static __always_inline u64 book_delay_since(struct thread *t, u64 begin, u64 most)
{
	u64 now = bpf_ktime_get_ns(), took = now - begin;

	raise_level(t, lesser(took, most), WHY_MEASURED);
	t->credit.began += took; /* it did not run */
	return now;
}

#endif
