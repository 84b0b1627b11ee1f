/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/*
 * A thread that sleeps for a while, polls whether it can continue, and sleeps again waits for
 * something that no wake-up announces. Until it finds it, it has waited all the time.
 */
#ifndef WHATIF_LOOKS_H
#define WHATIF_LOOKS_H

/* In this segment the thread has run no longer than a poll, which may include a tick. */
static __always_inline bool looks(const struct thread *t, u64 now)
{
	return credit_length(&t->credit, now) < control.asked / 16 + control.tick_cost;
}

/* So many polls in a row are no chance: some threads sleep in two parts. */
#define POLLS 3
/* After so many shorter rows in a row the thread does not poll at that place any more. */
#define STRAYS 8

/* Whether it polls, and may have found something. */
static __always_inline bool may_find(const struct thread *t)
{
	return t->excused || t->made_at;
}

/*
 * The running thread has polled again and again, and now continues: it has found what it waited for
 * without a wake-up. The producer was running, at about official time, so the thread has waited
 * until then. A thread that slept in what is sped up is there already; what it found may have been
 * made a little later.
 */
__noinline int go_on(struct core *c, struct thread *t)
{
	u64 by;

	if (!c || !t)
		return 0;
	adopt(t);
	if (t->made_at)
		should_have_waited(c, t, t->made_at, ~0ull);
	if (t->excused) {
		/* It may have paid a part of what it owed when it woke up. */
		by = lesser(t->excused, account_debt(t->account.level, control.global));
		forgive(c, t, by);
	}
	if (may_find(t) && t->again < POLLS && ++t->strays > STRAYS)
		t->polls_at = 0;
	stands_no_more(t);
	return 0;
}

/*
 * What the thread, which goes to sleep, has done since a timeout is work. But in virtual time what
 * it waits for at the same place may come before that timeout ends: see woken_before_timeout. A
 * thread that runs goroutines works for those that have slept.
 */
static __always_inline void works_on(struct thread *t, u64 place)
{
	if (!t->stands || place != t->credit.from || t->hosts)
		t->worked_since = 0;
	else if (!t->worked_since)
		t->worked_since = t->stands;
}

/* After so many timeouts in a row the thread does its work for the work's own sake. */
#define FIRES 4

/*
 * Whether a timeout has ended the thread's wait, while other threads often end its waits there, and
 * it may soon sleep there again: it may owe nothing then.
 */
static __always_inline bool works_meanwhile(const struct thread *t, u64 now)
{
	return t->timed && t->let_go_at == t->credit.from && t->fires < FIRES && credit_length(&t->credit, now) < control.asked;
}

/* A thread at this level wakes one that has worked on timeouts. */
__noinline int let_go_before(struct thread *t, u64 now, u64 level)
{
	if (!t)
		return 0;
	t->let_go_at = t->credit.from;
	t->fires = 0;
	t->account.since = waited_since(&t->account, t->worked_since, t->fired, now, level);
	t->worked_since = 0;
	return 0;
}

/*
 * A thread that a timeout has woken sleeps at the same place again: it is still waiting for the
 * same. A later wake-up would have come in its first sleep, if it had been earlier in virtual time;
 * so the thread has waited since that began. A thread that slept in what is sped up has not, but it
 * polls as well.
 */
static __always_inline void waits_on(struct core *c, struct thread *t, u64 place, u64 now)
{
	if (!(t->stands || t->sped) || place != t->credit.from || !looks(t, now)) {
		works_on(t, place);
		go_on(c, t);
		return;
	}
	if (++t->again >= POLLS) {
		t->polls_at = place;
		t->strays = 0;
	}
}

/*
 * If a thread that sleeps here continues by itself, it has polled. In a loop around epoll a timeout
 * is mostly a timer's, and what the loop does then takes its time.
 */
static __always_inline bool polls(const struct thread *t, u32 call)
{
	return (is_sleep(call) || call == CALL_FUTEX) && (t->again >= POLLS || t->credit.from == t->polls_at);
}

/* A thread that sleeps is woken, and may have slept in order to poll. */
__noinline int expect_look(struct thread *t, u32 call, u64 now)
{
	u64 position, others;
	bool may;

	if (!t)
		return 0;
	if (t->timed) {
		t->fired = now - t->account.level;
		t->fires++;
	}
	may = polls(t, call);
	t->excused = may && t->stands ? lesser(now - t->stands, account_debt(t->account.level, control.global)) : 0;
	t->made_at = 0;
	if (!t->sped || !(may || t->again))
		return 0;
	position = now - t->account.level - t->lead; /* when what it owes is paid */
	others = others_are_at(now);
	if (may)
		t->made_at = position + t->lead + found_late(position, t->again ? t->others_at : position, others);
	t->others_at = others;
	return 0;
}

#endif
