/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/*
 * Replies that come before their questions. A thread that wakes one which waits for a message has
 * mostly been asked by it. A server that always has a request never waits for one, so no client
 * wakes it; and a client that slept by the clock between two requests asks too early in virtual
 * time, by all that has come about meanwhile. Then the reply may be there before the question. So
 * the replying thread should have waited until it was asked, and then for as long as the reply
 * took. Not for each single reply: they come in the order of real time, and the client that has
 * slept longest is ahead the most. In virtual order some would have come earlier, so it is on
 * average that replies must not be early. A message that was begun before the other thread waited
 * is no reply to it.
 *
 * A client that has not slept by the clock is ahead by no more than what it pays at the next tick.
 */
#ifndef WHATIF_REPLIES_H
#define WHATIF_REPLIES_H

#include "waiting.h"

/*
 * The position at which a thread that sleeps in this call has asked; 0: it has not, or not early.
 * by_timer: the clock had woken it before.
 */
static __always_inline u64 asked_position(const struct account *a, u64 lead, bool by_timer,
					  u32 call)
{
	return by_timer && is_reading(call) ? a->since - a->level - lead : 0;
}

/*
 * The current thread hands over to one that has asked at position asked (0: it has not) and waited
 * since.
 */
SUBPROGRAM int hand_over_reply(struct core *c, struct thread *t, u64 asked, u64 since, u64 now)
{
	u64 ran, level, took;

	if (!c || !t)
		return 0;
	ran = credit_length(&t->credit, now);
	/* It was begun before the other thread waited. */
	if (now - ran < since || !applies(RULE_REPLIES))
		asked = 0;
	ran -= lesser(ran, t->credit.earned); /* more may have been booked in advance */
	level = t->account.level;
	hand_over(t, place_of(bpf_get_current_task_btf(), BY_WAKING), now);
	if (!asked || !under_way(now))
		return 0;
	took = ran - lesser(ran, t->account.level - level);
	t->reply_lead =
		mean_earliness(t->reply_lead, asked + took - (now - t->account.level - t->lead));
	if (t->reply_lead > 0) {
		set_back(c, t, t->reply_lead);
		t->reply_lead = 0;
	}
	return 0;
}

#endif
