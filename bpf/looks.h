/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/*
 * Who sleeps for a while, looks whether it can go on, and sleeps again waits for something that nobody wakes it for: it
 * polls, or waits with a timeout. Until it finds that it has waited all the time.
 */
#ifndef WHATIF_LOOKS_H
#define WHATIF_LOOKS_H

/* In this stretch the thread has not run for more than a look, of which a tick may have been a part, preempted in between or not. */
static __always_inline bool looks(const struct thread *t, u64 now)
{
	return credit_length(&t->credit, now) < control.asked / 16 + control.tick_cost;
}

/* So many looks in a row are no chance: some sleep in two parts. */
#define POLLS 3
/* So many shorter rows in a row, and it does not poll there any more. */
#define STRAYS 8

/* Whether it looks if it can go on. */
static __always_inline bool may_find(const struct thread *t)
{
	return t->excused || t->made_at;
}

/*
 * The thread, which runs, has looked again and again whether it can go on, and now it does: it has found what it waited for, and
 * nobody has woken it. Whoever made that was running, so at about the official time: the thread has waited until then. Who slept in what is
 * sped up is there already; what it has found may have been made a little later. Not static: as step_out.
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
		/* Of what it owed as it woke up it may have paid some. */
		by = lesser(t->excused, account_debt(t->account.level, control.global));
		forgive(c, t, by);
	}
	if (may_find(t) && t->again < POLLS && ++t->strays > STRAYS)
		t->polls_at = 0;
	stands_no_more(t);
	return 0;
}

/*
 * What the thread, which goes to sleep, has done since a timeout ran out is work. But what it waits for again at the same place may come, in
 * virtual time, before that timeout would have run out: let_go_before. A goroutine's thread does what others have slept for.
 */
static __always_inline void works_on(struct thread *t, u64 place)
{
	if (!t->stands || place != t->credit.from || t->hosts)
		t->worked_since = 0;
	else if (!t->worked_since)
		t->worked_since = t->stands;
}

/* So many timeouts in a row, and it does what it does then for its own sake. */
#define FIRES 4

/* Whether a timeout has ended the thread's wait, but others do there often, and it may sleep there again soon: it may owe nothing then. */
static __always_inline bool works_meanwhile(const struct thread *t, u64 now)
{
	return t->timed && t->let_go_at == t->credit.from && t->fires < FIRES && credit_length(&t->credit, now) < control.asked;
}

/* One at this level lets the thread go on that has worked for timeouts. Not static: as step_out. */
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
 * A thread that was woken by the end of a timeout sleeps at the same place again: it waits for the
 * same still. Whoever lets it go on then would have done so in the first of these sleeps, had that been earlier
 * in virtual time; so it has waited since that began. Who slept in what is sped up has not, but looks for something all the same.
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

/* If who sleeps there goes on by itself, it has polled. In a loop around epoll a timeout is mostly a timer's, and what it does then has its time. */
static __always_inline bool polls(const struct thread *t, u32 call)
{
	return (is_sleep(call) || call == CALL_FUTEX) && (t->again >= POLLS || t->credit.from == t->polls_at);
}

/* The thread, which sleeps, is woken, and may have slept to look whether it can go on. Not static: as step_out. */
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
