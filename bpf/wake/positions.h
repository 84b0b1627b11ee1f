/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/* The positions of the target's threads that run, on all cores, or that ran until a moment ago. */
#ifndef WHATIF_POSITIONS_H
#define WHATIF_POSITIONS_H

#include "../members/thread.h"

/* Shows the other cores where the thread on this core stands. */
static __always_inline void show_level(struct core *c, const struct thread *t, u64 paid)
{
	c->shown_level = t->account.level + t->lead + paid;
}

/* What another core shows. */
struct shown {
	u64 level; /* 0: no thread of the target has run there */
	u64 left;  /* since when none does; 0: one does */
};

/*
 * Until a core says which thread runs now, that thread has not continued. So what is said last is
 * read first. Processors that reorder reads may find a running thread at the level of the one
 * before it: one poll or one tick is then off by that.
 */
static __always_inline struct shown shown_by(u32 core)
{
	const volatile struct core *c = &cores[core & (MAX_CPUS - 1)];
	u64 left = c->shown_left, level = c->shown_level, start = control.global_start;

	if (level && level < start) /* from an experiment that is over */
		level = start;
	return (struct shown) { .level = level, .left = left };
}

struct others {
	u64 now;
	/*
	 * added up; their number is above AHEAD_BITS, as the verifier would follow a number of its
	 * own
	 */
	u64 ahead;
};
#define AHEAD_BITS 48

static long on_other(u32 i, struct others *o)
{
	struct shown s = shown_by(i);
	u64 ahead;

	if (!s.level)
		return 0;
	ahead = account_debt(s.level, control.global);
	if (s.left)
		ahead -= lesser(ahead, o->now - lesser(s.left, o->now));
	if (ahead || !s.left)
		o->ahead += ahead + (1ull << AHEAD_BITS);
	return 0;
}

/*
 * The mean position of the threads that run, or that have run until now in virtual time. One of
 * them makes what a polling thread looks for.
 */
SUBPROGRAM u64 mean_position_of_others(u64 now)
{
	struct others o = { .now = now };
	u64 others;

	bpf_loop(possible_cores, on_other, &o, 0);
	others = o.ahead >> AHEAD_BITS;
	return now - control.global +
	       (others ? (o.ahead & ((1ull << AHEAD_BITS) - 1)) / others : 0);
}

struct least {
	u64 level;
	u32 core; /* that is left out */
	bool any;
};

static long on_least(u32 i, struct least *l)
{
	struct shown s = shown_by(i);

	if (i == l->core || !s.level || s.left)
		return 0;
	l->any = 1;
	l->level = lesser(l->level, s.level);
	return 0;
}

/* The lowest level of the threads that run on other cores, at most this one; 0: none runs. */
static __always_inline u64 lowest_level_of_others(u64 most)
{
	struct least l = { .level = most, .core = bpf_get_smp_processor_id() };

	bpf_loop(possible_cores, on_least, &l, 0);
	return l.any ? l.level : 0;
}

#endif
