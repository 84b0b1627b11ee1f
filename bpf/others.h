/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/* Where the threads of the target stand that run, on all cores, or that ran until a moment ago. */
#ifndef WHATIF_OTHERS_H
#define WHATIF_OTHERS_H

/* Where the target's thread stands that runs on this core, for others. */
static __always_inline void show_level(struct core *c, const struct thread *t, u64 paid)
{
	c->level = t->account.level + t->lead + paid;
}

/* Of another core. */
struct shown {
	u64 level; /* 0: none of the target's has run there */
	u64 left;  /* since when none does; 0: one does */
};

/*
 * While it is not said who runs now it has not run on: so what is said last is read first. Processors that reorder that may find
 * one who runs at the level of the one before: one look or one tick is off by that.
 */
static __always_inline struct shown shown_by(u32 core)
{
	const volatile struct core *c = &cores[core & (MAX_CPUS - 1)];
	u64 left = c->left, level = c->level, start = control.global_start;

	if (level && level < start) /* an experiment's that is over */
		level = start;
	return (struct shown){ .level = level, .left = left };
}

struct others {
	u64 now;
	u64 ahead; /* how many there are is in what is above the sum: a number that the verifier knows it would follow */
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
 * The position of those that run, on average, or that have run until now in virtual time: of whom one makes what others look for. Not static: as step_out.
 */
__noinline u64 others_are_at(u64 now)
{
	struct others o = { .now = now };
	u64 others;

	bpf_loop(possible_cores, on_other, &o, 0);
	others = o.ahead >> AHEAD_BITS;
	return now - control.global + (others ? (o.ahead & ((1ull << AHEAD_BITS) - 1)) / others : 0);
}

struct least {
	u64 level;
	u32 core; /* that is not looked at */
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

/* The least level of those that run on other cores, and at most this one; 0: none does. */
static __always_inline u64 least_of_others(u64 most)
{
	struct least l = { .level = most, .core = bpf_get_smp_processor_id() };

	bpf_loop(possible_cores, on_least, &l, 0);
	return l.any ? l.level : 0;
}

#endif
