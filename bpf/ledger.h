/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/*
 * The ledger's arithmetic, apart from the kernel: compiled into the BPF
 * programs and, by ledger_test.go, for user space.
 *
 * G, the global delay, is how much later than its official time everything
 * should be happening by now. An account's level is how much of G its owner has
 * had so far. So a thread's position in virtual time, the time of a world in
 * which the selected code is faster, is
 *
 *	now - level
 *
 * and the official virtual time is now - G. A thread whose level is below G is
 * ahead of the official time by its debt, G - level: it has done work that it
 * should not have reached yet, and must be stopped, or wait, for that long.
 *
 * Everything below follows from one rule, that of discrete event simulation:
 * what waits for something goes on at the later of the two virtual times, its
 * own and that of what it waited for.
 */
#ifndef WHATIF_LEDGER_H
#define WHATIF_LEDGER_H

/* A thread's or a core's account. All times in nanoseconds. */
struct account {
	u64 level; /* delay that it has had */
	u64 since; /* when it stopped running: from then on its position stands still */
	u64 epoch; /* the experiment that the two belong to */
};

static __always_inline u64 lesser(u64 a, u64 b)
{
	return a < b ? a : b;
}

/* A new experiment begins for everyone at the same position. */
static __always_inline void account_adopt(struct account *a, u64 epoch, u64 start, u64 global)
{
	if (a->epoch == epoch)
		return;
	a->epoch = epoch;
	a->level = global;
	if (a->since < start)
		a->since = start;
}

/*
 * account_waited is the level of one that stood still from since to now and was
 * let go on by someone at level releaser. While it stood still its level grew
 * with the clock, because its position did not; it need not be later than the
 * one that released it.
 */
static __always_inline u64 account_waited(const struct account *a, u64 now, u64 releaser)
{
	u64 away = now > a->since ? now - a->since : 0;

	return lesser(a->level + away, releaser);
}

/*
 * A sample in the selected code stands for a period of running in which the
 * thread did in no virtual time what took it d. It cannot all have been where it
 * was seen if the thread does not run as long as that between two hand-overs to
 * others: no stretch between hand-overs earns more than s = d / period of its
 * length. How long the present one will be is not known when it is sampled: what
 * it has lasted, and as much again as half a usual one has. What is over comes
 * due in the stretches that follow.
 */
struct credit {
	u64 pending;
	u64 earned;  /* in this stretch */
	u64 began;   /* the stretch, less the stops in it */
	u64 usually; /* a stretch lasts, a running mean */
};

/* The rate is s in units of 1/CREDIT_ONE. */
#define CREDIT_ONE 1024

/* credit_due takes what has come due, while the thread ran, by now. */
static __always_inline u64 credit_due(struct credit *c, u64 now, u64 rate, u64 period)
{
	u64 length = now > c->began ? now - c->began : 0, room, due;

	if (!c->pending)
		return 0;
	room = (length + lesser(c->usually, period) / 2) * rate / CREDIT_ONE;
	due = room > c->earned ? lesser(c->pending, room - c->earned) : 0;
	c->earned += due;
	c->pending -= due;
	return due;
}

/* A stretch ends and the next begins. */
static __always_inline void credit_hand_over(struct credit *c, u64 now)
{
	u64 length = now > c->began ? now - c->began : 0;

	c->usually = (3 * c->usually + length) / 4;
	c->began = now;
	c->earned = 0;
}

static __always_inline u64 account_debt(u64 level, u64 global)
{
	return global > level ? global - level : 0;
}

/*
 * account_paid is the level after a stop of took ns. What exceeds the debt is
 * not booked: it is the host's doing, and would have hit the thread anyway.
 */
static __always_inline u64 account_paid(u64 level, u64 took, u64 global)
{
	return level >= global ? level : lesser(level + took, global);
}

/*
 * A thread that waits busily, for someone who cannot be seen, is only seen
 * waiting at ticks. That stands for a period of waiting, to be set against what
 * it is found to owe at that tick and until the next; not later: waiting does not
 * excuse a debt that comes up when it is over.
 */
struct waiting {
	u64 left;
};

/* waiting_spend is the level after what was waited has been set against the debt. */
static __always_inline u64 waiting_spend(struct waiting *w, u64 level, u64 global)
{
	u64 spent = lesser(w->left, account_debt(level, global));

	w->left -= spent;
	return level + spent;
}

#endif
