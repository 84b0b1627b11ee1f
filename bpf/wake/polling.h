/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/*
 * A thread that sleeps for a while, polls whether it can continue, and sleeps again waits for
 * something that no wake-up announces. Until it finds it, it has waited all the time.
 */
#ifndef WHATIF_POLLING_H
#define WHATIF_POLLING_H

#include "waiting.h"

/* In this segment the thread has run no longer than a poll, which may include a tick. */
static __always_inline bool is_poll(const struct thread *t, u64 now)
{
	return credit_length(&t->credit, now) < control.asked_period / 16 + control.tick_cost;
}

/* So many polls in a row are no chance: some threads sleep in two parts. */
#define POLLS_KNOWN 3
/* After so many shorter rows in a row the thread does not poll at that place any more. */
#define SHORT_POLLS 8

/* Whether it polls, and may have found something. */
static __always_inline bool may_have_found(const struct thread *t)
{
	return t->polling.debt || t->polling.found_position;
}

/*
 * The running thread has polled again and again, and now continues: it has found what it waited for
 * without a wake-up. The producer was running, at about official time, so the thread has waited
 * until then. A thread that slept in what is sped up is there already; what it found may have been
 * made a little later.
 */
SUBPROGRAM int finish_poll(struct core *c, struct thread *t)
{
	u64 by;

	if (!c || !t)
		return 0;
	enter_experiment(t);
	if (t->polling.found_position)
		should_have_waited(c, t, t->polling.found_position, ~0ull);
	if (t->polling.debt) {
		/* It may have paid a part of what it owed when it woke up. */
		by = lesser(t->polling.debt, account_debt(t->account.level, control.global));
		forgive(c, t, by, WHY_POLLED);
	}
	if (may_have_found(t) && t->polling.polls < POLLS_KNOWN &&
	    ++t->polling.short_rows > SHORT_POLLS)
		t->polling.place = 0;
	stop_polling(t);
	return 0;
}

/*
 * What the thread, which goes to sleep, has done since a timeout is work. But in virtual time what
 * it waits for at the same place may come before that timeout ends: see woken_before_timeout. A
 * thread that runs goroutines works for those that have slept.
 */
static __always_inline void note_timeout_work(struct thread *t, u64 place)
{
	if (!applies(RULE_TIMEOUT_WORK) || !t->polling.since || place != t->credit.from ||
	    t->host.has_slept)
		t->timeouts.since = 0;
	else if (!t->timeouts.since)
		t->timeouts.since = t->polling.since;
}

/* After so many timeouts in a row the thread does its work for the work's own sake. */
#define TIMEOUTS_OWN 4

/*
 * Whether a timeout has ended the thread's wait, while other threads often end its waits there, and
 * it may soon sleep there again: it may owe nothing then.
 */
static __always_inline bool works_on_timeouts(const struct thread *t, u64 now)
{
	return t->wake.by_timer && t->timeouts.woken_place == t->credit.from &&
	       t->timeouts.count < TIMEOUTS_OWN &&
	       credit_length(&t->credit, now) < control.asked_period;
}

/* A thread at this level wakes one that has worked on timeouts. */
SUBPROGRAM int woken_before_timeout(struct thread *t, u64 now, u64 level)
{
	if (!t)
		return 0;
	t->timeouts.woken_place = t->credit.from;
	t->timeouts.count = 0;
	t->account.since =
		waiting_began(&t->account, t->timeouts.since, t->timeouts.position, now, level);
	t->timeouts.since = 0;
	return 0;
}

/*
 * A thread that a timeout has woken sleeps at the same place again: it is still waiting for the
 * same. A later wake-up would have come in its first sleep, if it had been earlier in virtual time;
 * so the thread has waited since that began. A thread that slept in what is sped up has not, but it
 * polls as well.
 */
static __always_inline void continue_poll(struct core *c, struct thread *t, u64 place, u64 now)
{
	if (!(t->polling.since || t->polling.sped_up) || place != t->credit.from ||
	    !is_poll(t, now)) {
		note_timeout_work(t, place);
		finish_poll(c, t);
		return;
	}
	if (++t->polling.polls >= POLLS_KNOWN) {
		t->polling.place = place;
		t->polling.short_rows = 0;
	}
}

/*
 * If a thread that sleeps here continues by itself, it has polled. In a loop around epoll a timeout
 * is mostly a timer's, and what the loop does then takes its time.
 */
static __always_inline bool may_poll(const struct thread *t, u32 call)
{
	return applies(RULE_POLLING) && (is_sleep(call) || call == CALL_FUTEX) &&
	       (t->polling.polls >= POLLS_KNOWN || t->credit.from == t->polling.place);
}

/* A thread that sleeps is woken, and may have slept in order to poll. */
SUBPROGRAM int expect_poll(struct thread *t, u32 call, u64 now)
{
	u64 position, others;
	bool may;

	if (!t)
		return 0;
	if (t->wake.by_timer) {
		t->timeouts.position = now - t->account.level;
		t->timeouts.count++;
	}
	may = may_poll(t, call);
	t->polling.debt = may && t->polling.since
				  ? lesser(now - t->polling.since,
					   account_debt(t->account.level, control.global))
				  : 0;
	t->polling.found_position = 0;
	if (!t->polling.sped_up || !(may || t->polling.polls))
		return 0;
	position = now - t->account.level - t->lead; /* when what it owes is paid */
	others = mean_position_of_others(now);
	if (may)
		t->polling.found_position =
			position + t->lead +
			expected_find_delay(
				position, t->polling.polls ? t->polling.others_position : position,
				others);
	t->polling.others_position = others;
	return 0;
}

#endif
