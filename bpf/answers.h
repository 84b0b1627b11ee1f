/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/*
 * Who lets one go on that waits for a message has mostly been asked for it. A server that always has a request to answer never
 * waits for one, so nobody lets it go on; and a client that slept by the clock between two requests asks too early in virtual time, by all
 * that has come about meanwhile. Then the answer may be there before the question. So the one who answers should have waited until it was asked, and
 * then for as long as the answer took. Not each time: they come in the order of real time, and the one who has slept for longest is ahead the most. In
 * their own order some would have come earlier than they do, so it is on average that answers must not be early. A message that
 * was begun before the other waited is no answer to him.
 *
 * Who has not slept by the clock is ahead by no more than what it pays at the next tick.
 */
#ifndef WHATIF_ANSWERS_H
#define WHATIF_ANSWERS_H

/* The position at which a thread that sleeps in this system call has asked; 0: it has not, or not early. timed: the clock woke it before. */
static __always_inline u64 asked_at(const struct account *a, u64 lead, bool timed, u32 call)
{
	return timed && is_reading(call) ? a->since - a->level - lead : 0;
}

/* A hand-over by the current thread, to one that has asked at this position, and waited since, or to another (0). Not static: as step_out. */
__noinline int hand_over_to(struct core *c, struct thread *t, u64 asked, u64 since, u64 now)
{
	u64 ran, level, took;

	if (!c || !t)
		return 0;
	ran = credit_length(&t->credit, now);
	/* It was begun before the other waited. */
	if (now - ran < since)
		asked = 0;
	ran -= lesser(ran, t->credit.earned); /* more may have been booked in advance */
	level = t->account.level;
	hand_over(t, place_of(bpf_get_current_task_btf(), BY_WAKING), now);
	if (!asked || !under_way(now))
		return 0;
	took = ran - lesser(ran, t->account.level - level);
	t->early = answered_early(t->early, asked + took - (now - t->account.level - t->lead));
	if (t->early > 0) {
		set_back(c, t, t->early);
		t->early = 0;
	}
	return 0;
}

#endif
