/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/* Stretches of threads that run: where they begin and end, and what they are given for them. */
#ifndef WHATIF_STRETCH_H
#define WHATIF_STRETCH_H

/* See waiting.h. */
int forget_wait(struct core *c, struct thread *t, u64 now);

/*
 * A thread that runs has come to run on this core. There are kernels on which a core goes on from some task to
 * another without a word: then all that is known is that it did not run before.
 */
static __always_inline void runs(struct core *c, struct thread *t, u64 now)
{
	bool unseen = !t->running;

	if (control.holds)
		take_advance(c, t);
	adopt(t);
	if (!unseen || !c)
		return;
	adopt_core(c);
	if (t->wait.since)
		forget_wait(c, t, now);
	c->foreign_since = c->away_since = c->intruded = 0;
	begin_turn(c, t, now);
}

/* Busy waiting, set against what the thread owes of global. */
static __always_inline void excuse(struct thread *t, u64 global)
{
	if (t->waiting.left)
		t->account.level = waiting_spend(&t->waiting, t->account.level, global);
}

/* Earned, or a delay. */
static __always_inline void give(struct thread *t, u64 due)
{
	if (!due || nobody_pays)
		return;
	t->account.level += due;
	raise_global(t->account.level);
}

static __always_inline void give_earned(struct thread *t, u64 due)
{
	if (due)
		t->earns = 1;
	give(t, due);
}

/* What the running thread's samples have earned it by now. */
static __always_inline void earn(struct thread *t, u64 now)
{
	excuse(t, control.global);
	if (under_way(now))
		give_earned(t, credit_due(&t->credit, now, control.rate));
}

/* A place where a stretch begins or ends: the system call, by its caller. 0 where that does not matter. */
static __always_inline u64 place_of(struct task_struct *task, enum hand_over how)
{
	struct pt_regs *regs;

	/* Where a thread sleeps says what it waits for, where it was made who is like it, whatever is tried. */
	if (!control.unit && how != BY_SLEEPING && how != BY_FORKING)
		return 0;
	regs = (struct pt_regs *)bpf_task_pt_regs(task);
	/* The stack pointer, within its page, tells callers apart, in all threads alike. */
	return (REGISTER_IP(regs) << 14 | (REGISTER_SP(regs) & 0xfff) << 2 | how) * 0x9e3779b97f4a7c15;
}

/* The kinds of the thread's family; 0: there is none. */
static __always_inline struct kinds *relatives_of(const struct thread *t)
{
	u64 family = t->family; /* kernels before 6.3 take it from the stack only */
	struct kinds *all;

	if (!family)
		return 0;
	all = bpf_map_lookup_elem(&families, &family);
	if (all)
		return all;
	bpf_map_update_elem(&families, &family, &nothing_known, BPF_NOEXIST);
	return bpf_map_lookup_elem(&families, &family);
}

/* See late.h. */
int learn_late(struct thread *t, u64 key, bool given);

/* A stretch that is of consequence ends at this place. Not static: as step_out. */
__noinline int end_stretch(struct thread *t, u64 place, u64 now)
{
	u64 key = 0, due;
	struct kind *k = 0, *theirs;
	struct kinds *relatives = 0;
	u32 hits, ticks;

	if (!t)
		return 0;
	hits = t->credit.hits;
	ticks = t->credit.ticks;
	if (control.unit) {
		key = (t->credit.from ^ control.unit) * 0xbf58476d1ce4e5b9 + place;
		key ^= key >> 32;
		k = kinds_find(&t->kinds, key);
		/* Others of the family may be of another mind: their word is taken, and told them, only while there is no own. */
		if (!k || k->ticks < KIND_KNOWN)
			relatives = relatives_of(t);
		theirs = relatives ? kinds_find(relatives, key) : 0;
		if (theirs && theirs->ticks >= KIND_KNOWN)
			k = theirs;
	}
	due = credit_hand_over(&t->credit, now, control.rate, control.period, k);
	if (!under_way(now))
		return 0;
	give_earned(t, due);
	if (key && ticks) {
		if (control.holds)
			learn_usual(&t->usual, hits, ticks);
		kinds_learn(&t->kinds, key, hits, ticks, 1);
		if (relatives)
			kinds_learn(relatives, key, hits, ticks, 0);
	}
	if (key && t->late)
		learn_late(t, key, k && k->ticks >= KIND_KNOWN);
	foresee(this_core(), t, now);
	return 0;
}

/* The current thread lets another go on, or goes to sleep: a stretch ends at this place and the next begins. */
static __always_inline void hand_over(struct thread *t, u64 place, u64 now)
{
	runs(this_core(), t, now);
	excuse(t, control.global);
	if (control.rate || t->credit.ticks || t->late) {
		end_stretch(t, place, now);
	} else { /* most stretches of a baseline: nothing to give or to learn */
		credit_begin(&t->credit, now);
	}
	t->credit.from = place;
}

/* The thread, which runs, should have come later, by so much at most: it owes that. By how much its level falls. */
static __always_inline u64 set_back(struct core *c, struct thread *t, u64 by)
{
	by = lesser(by, t->account.level - lesser(t->account.level, control.global_start));
	t->account.level -= by;
	t->free += t->free ? by : 0;
	c->began -= lesser(by, c->began); /* nothing that it was given on this core */
	show_level(c, t, 0);
	foresee_nothing_here(); /* it stands elsewhere */
	return by;
}

/*
 * The thread, which runs, was free before this position, and goes on with what is there only from then on: it should have waited, and owes the
 * difference, but no more than most of it. By how much its level falls.
 */
static __always_inline u64 should_have_waited(struct core *c, struct thread *t, u64 until, u64 most)
{
	if (!t->free || until <= t->free)
		return 0;
	return set_back(c, t, lesser(until - t->free, most));
}

#endif
