/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/*
 * Run segments: what a thread runs between two hand-overs, where it begins and ends, and what it
 * has earned.
 */
#ifndef WHATIF_SEGMENT_H
#define WHATIF_SEGMENT_H

#include "../base/registers.h"
#include "../pay/fair_share.h"
#include "expected.h"

enum hand_over {
	BY_SLEEPING,
	BY_WAKING,
	BY_FORKING,
	/* a request begins or ends, so what the thread deserves for it must be known */
	BY_VISITING,
};

/* See waiting.h. */
int forget_wait(struct core *c, struct thread *t, u64 now);

/*
 * A thread runs on this core. On some kernels a core now and then goes on from another task without
 * an event. Then all that is known is that the thread did not run before.
 */
static __always_inline void note_running(struct core *c, struct thread *t, u64 now)
{
	bool unseen = !t->running;

	if (control.delays_returns)
		take_expected(c, t);
	enter_experiment(t);
	if (!unseen || !c)
		return;
	core_enter_experiment(c);
	if (t->wait.since)
		forget_wait(c, t, now);
	c->foreign_since = c->away_since = c->intruded = 0;
	begin_turn(c, t, now);
}

/* Sets busy waiting against what the thread owes of global. */
static __always_inline void offset_spin(struct thread *t, u64 global)
{
	if (t->spin.left && applies(RULE_BUSY_WAITING))
		account_raise_to(&t->account, spin_offset(&t->spin, t->account.level, global),
				 WHY_SPUN);
}

/* Raises the thread's level, and G where needed: it has earned this, or was delayed. */
static __always_inline void raise_level(struct thread *t, u64 due, enum why why)
{
	if (!due || nobody_pays)
		return;
	account_raise(&t->account, due, why);
	raise_global(t->account.level);
}

static __always_inline void raise_earned(struct thread *t, u64 due)
{
	if (due)
		t->learned.earns = 1;
	raise_level(t, due, WHY_EARNED);
}

/* Books what the running thread's samples have earned by now. */
static __always_inline void earn(struct thread *t, u64 now)
{
	offset_spin(t, control.global);
	if (under_way(now))
		raise_earned(t, credit_due(&t->credit, now, control.rate));
}

/*
 * A place where a segment begins or ends: the system call and its caller; 0 where that does not
 * matter.
 */
static __always_inline u64 place_of(struct task_struct *task, enum hand_over how)
{
	struct pt_regs *regs;

	/*
	 * The place of a sleep says what a thread waits for, and the place of a fork which threads
	 * are alike, whatever is tried.
	 */
	if (!control.selection && how != BY_SLEEPING && how != BY_FORKING)
		return 0;
	regs = (struct pt_regs *)bpf_task_pt_regs(task);
	/* The stack pointer within its page tells callers apart, in all threads alike. */
	return (REGISTER_IP(regs) << 14 | (REGISTER_SP(regs) & 0xfff) << 2 | how) *
	       0x9e3779b97f4a7c15;
}

/* The kinds of the thread's family; 0: there is none. */
static __always_inline struct kinds *family_kinds(const struct thread *t)
{
	u64 family = t->learned.family; /* kernels before 6.3 read a key from the stack only */
	struct kinds *all;

	if (!family)
		return 0;
	all = bpf_map_lookup_elem(&families, &family);
	if (all)
		return all;
	bpf_map_update_elem(&families, &family, &nothing_known, BPF_NOEXIST);
	return bpf_map_lookup_elem(&families, &family);
}

/*
 * kinds_learn and credit_hand_over by themselves: end_segment comes to them in many ways, which
 * made nine of ten steps of the verifier, in each of the ten programs that have it.
 */
SUBPROGRAM int learn_kind(struct kinds *all, u64 key, u32 hits, u32 ticks, bool may_change)
{
	if (all)
		kinds_learn(all, key, hits, ticks, may_change);
	return 0;
}

SUBPROGRAM u64 due_for_segment(struct thread *t, struct kind *k, u64 now)
{
	return t ? credit_hand_over(&t->credit, now, control.rate, control.period, k) : 0;
}

/* See deferred.h. */
int learn_deferred(struct thread *t, u64 key, bool given);

/* Ends a segment that matters, at this place. */
SUBPROGRAM int end_segment(struct thread *t, u64 place, u64 now)
{
	u64 key = 0, due;
	struct kind *k = 0, *theirs;
	struct kinds *relatives = 0;
	u32 hits, ticks;

	if (!t)
		return 0;
	hits = t->credit.hits;
	ticks = t->credit.ticks;
	if (control.selection) {
		key = (t->credit.from ^ control.selection) * 0xbf58476d1ce4e5b9 + place;
		key ^= key >> 32;
		k = kinds_find(&t->learned.kinds, key);
		/*
		 * Members of a family differ: they are asked, and told, only while the thread's own
		 * kind is not known.
		 */
		if (!k || k->ticks < KIND_KNOWN)
			relatives = family_kinds(t);
		theirs = relatives ? kinds_find(relatives, key) : 0;
		if (theirs && theirs->ticks >= KIND_KNOWN)
			k = theirs;
	}
	due = due_for_segment(t, k, now);
	if (!under_way(now))
		return 0;
	raise_earned(t, due);
	if (key && ticks) {
		if (control.delays_returns)
			learn_usual(&t->learned.usual, hits, ticks);
		learn_kind(&t->learned.kinds, key, hits, ticks, 1);
		learn_kind(relatives, key, hits, ticks, 0);
	}
	if (key && t->deferral.samples)
		learn_deferred(t, key, k && k->ticks >= KIND_KNOWN);
	expect_earnings(this_core(), t, now);
	return 0;
}

/*
 * The current thread wakes another one or goes to sleep: its segment ends at this place, and the
 * next begins.
 */
static __always_inline void hand_over(struct thread *t, u64 place, u64 now)
{
	note_running(this_core(), t, now);
	offset_spin(t, control.global);
	if (control.rate || t->credit.ticks || t->deferral.samples) {
		end_segment(t, place, now);
	} else { /* most segments of a baseline: nothing to give or to learn */
		credit_begin(&t->credit, now);
	}
	t->credit.from = place;
}

/*
 * The running thread should have come later, by at most this: it owes that. Gives by how much its
 * level falls.
 */
static __always_inline u64 set_back(struct core *c, struct thread *t, u64 by)
{
	by = lesser(by, t->account.level - lesser(t->account.level, control.global_start));
	account_lower(&t->account, by);
	t->requests.available_since += t->requests.available_since ? by : 0;
	c->began_level -= lesser(by, c->began_level); /* this core gave it none of that */
	show_level(c, t, 0);
	expect_nothing_here(); /* it has another position now */
	return by;
}

/*
 * The running thread was free before the position until, and continues with something that exists
 * only from then on. So it should have waited, and owes the difference, at most most. Gives by how
 * much its level falls.
 */
static __always_inline u64 should_have_waited(struct core *c, struct thread *t, u64 until, u64 most)
{
	if (!t->requests.available_since || until <= t->requests.available_since)
		return 0;
	return set_back(c, t, lesser(until - t->requests.available_since, most));
}

#endif
