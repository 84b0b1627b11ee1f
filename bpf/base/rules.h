/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/*
 * Rules that can be switched off when whatif starts, each by itself, to measure what it is worth
 * (WHATIF_WITHOUT=polling, see internal/ledger/rules.go). Not among them: the principle that a
 * woken thread goes on no earlier than what woke it, what keeps the machine safe, and what only
 * counts.
 *
 * Some need another one: without return delays there are none of timeouts and periodic threads,
 * without polling no timeout work, without outsiders no leads and replies.
 */
#ifndef WHATIF_RULES_H
#define WHATIF_RULES_H

#include "program.h"

/* Each is applied in the file that its comment names, and described in docs/design. */
enum named_rule {
	/*
	 * pay/tick.h (0004): the time that a tick takes from a running thread counts as a delay of
	 * that thread.
	 */
	RULE_BOOKED_TICKS,
	/*
	 * wake/scheduling.h (0004): tasks outside the target take a core while a thread of the
	 * target waits for it. G's share of that time counts as a delay.
	 */
	RULE_INTRUSIONS,
	/*
	 * pay/stalls.h (0048): the host keeps a core for itself. G's share of that time counts as a
	 * delay of the thread there.
	 */
	RULE_STALLS,
	/*
	 * wake/waiting.h (0005): a thread gets an idle core. It has not waited for the time that
	 * the core took to wake up.
	 */
	RULE_IDLE_CORES,
	/* earn/sample.h, earn/segment.h (0006): a thread that waits busily has waited. */
	RULE_BUSY_WAITING,
	/* wake/polling.h (0007): a thread that sleeps, polls and sleeps again is still waiting. */
	RULE_POLLING,
	/*
	 * wake/scheduling.h (0008): a timeout ends a thread's wait for a futex. The thread is
	 * delayed before it returns.
	 */
	RULE_TIMEOUT_DELAYS,
	/*
	 * wake/polling.h (0008): a thread works after a timeout, in a loop of events, and is then
	 * woken at the same place. The wake-up may come before the timeout in virtual time.
	 */
	RULE_TIMEOUT_WORK,
	/* pay/return_delay.h (0009): the clock wakes a thread, which pays before it returns. */
	RULE_RETURN_DELAYS,
	/* pay/periodic.h (0009): threads that hand out work after timed sleeps are recognised. */
	RULE_PERIODIC,
	/*
	 * pay/contention.h (0009): another thread of the target wants the core, so a sleeping
	 * thread does not keep it to pay.
	 */
	RULE_CONTENTION,
	/* pay/contention.h (0009): all cores are wanted: a sleeping thread's debt is forgiven. */
	RULE_CROWDS,
	/*
	 * earn/expected.h (0009): a delay includes what running threads are expected to have
	 * earned.
	 */
	RULE_EXPECTED,
	/*
	 * pay/fair_share.h (0010): threads that share a core are stopped in their turns, so that
	 * each has its share of virtual time.
	 */
	RULE_FAIR_TURNS,
	/* pay/fair_share.h (0010): the thread with the largest share may pay that later. */
	RULE_DEFERRED_FAIRNESS,
	/* wake/outsiders.h (0011): threads outside the target that talk to it have accounts. */
	RULE_OUTSIDERS,
	/* wake/outsiders.h (0011): what is owed because an outsider came early is paid once. */
	RULE_OUTSIDER_LEADS,
	/* wake/replies.h (0011): a reply does not come before its question in virtual time. */
	RULE_REPLIES,
	/* wake/goroutine_account.h (0012): goroutines have accounts while no thread runs them. */
	RULE_GOROUTINES,
	/* wake/waiting.h (0012): a thread that slept for lack of goroutines owes less. */
	RULE_HOST_IDLE,
	RULES
};

/* A bit for each. */
SETTING rules_off = 0;

static __always_inline bool applies(enum named_rule rule)
{
	return !(rules_off >> rule & 1);
}

#endif
