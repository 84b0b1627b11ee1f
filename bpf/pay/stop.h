/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/* Stops: a thread that owes keeps its core, and does nothing, until it has paid. */
#ifndef WHATIF_STOP_H
#define WHATIF_STOP_H

#include "../wake/waiting.h"
#include "contention.h"
#include "locks.h"
#include "stalls.h"

struct stop {
	struct core *core;
	const struct thread *thread;
	u64 now;
	u64 begin;
	u64 global;   /* when the stop began */
	u64 fairness; /* and the part of it for fair turns */
	u64 room;     /* of the growth for fair turns, so much need not be paid in this stop */
	u64 want;
	u64 paid;
	u64 end; /* at the latest */
	u64 turns;
	u64 fresh; /* of want, what is paid even if another thread of the target wants the core */
};

/* G grows with waiting at such steps at least: rounding down takes nothing from them. */
#define PASS_NS 1000

/*
 * One turn of a stop. What others earn meanwhile is paid in the same stop, as it may be their long
 * run, but for what fair turns add: see deferrable.
 */
static long on_turn(u32 i, struct stop *s)
{
	u64 grown;

	s->now = bpf_ktime_get_ns();
	if (s->now >= control.waited_until + PASS_NS)
		grow_with_waiting(s->now);
	s->turns++;
	grown = control.global - s->global;
	grown -= lesser(grown, lesser(control.fairness_growth - s->fairness, s->room));
	s->paid = s->now - s->begin;
	show_level(s->core, s->thread, s->paid);
	/*
	 * A task that outranks the thread gets the core at once. The rest is paid at the next tick.
	 */
	if (s->now >= s->end || s->paid >= s->want + grown || is_outranked())
		return 1;
	return s->paid >= s->fresh + grown && has_contender();
}

/*
 * Stops this core, until end at most. Interrupts stay enabled, and nothing else runs. Waiting for
 * other cores at the tick, since begin, was a stop already.
 */
static __always_inline u64 stop_core(struct core *c, struct thread *t, u64 begin, u64 debt, u64 end)
{
	u64 now = bpf_ktime_get_ns(), had = t->account.level;
	struct stop s = { .core = c,
			  .thread = t,
			  .now = begin,
			  .begin = begin,
			  .global = control.global,
			  .fairness = control.fairness_growth,
			  .end = end };

	s.want = debt;
	s.room = leads_share(c, t) ? SLICE_NS - deferrable(c, t, s.fairness) : 0;
	/*
	 * A thread that slept by the clock, in code that is not sped up, owes what has come about
	 * since. Another thread that waits for the core does not owe that, so it is paid only while
	 * no thread of the target wants the core. The tick has delayed this thread as it did the
	 * others.
	 */
	s.fresh = t->wake.by_timer && !t->wake.sleep_sped_up
			  ? account_debt(control.global_before + cost_of_tick(c), control.global)
			  : debt;
	if (debt > control.cap) {
		s.want = control.cap;
		lose(c, LOSS_CAPPED);
	}
	__sync_fetch_and_add(&control.stopping, 1);
	bpf_loop(1 << 23, on_turn, &s, 0);
	__sync_fetch_and_sub(&control.stopping, 1);
	c->stops++;
	c->stopped += s.now - begin;
	c->turns += s.turns;
	c->turning += s.now - now;
	account_pay(&t->account, s.paid, control.global, WHY_STOPPED);
	t->credit.began += s.paid; /* it did not run */
	/* What it stood still for, and did not owe, the host has kept the core for. */
	book_stall(t, s.paid - (t->account.level - had), s.now);
	return s.now;
}

/* One stop can last through so many ticks. */
#define STOP_TICKS 128

struct payment {
	struct core *core;
	struct thread *thread;
	u64 tick;
	u64 begin;
	u64 end; /* at the latest */
};

static long on_payment(u32 i, struct payment *p)
{
	struct thread *t = p->thread;
	u64 debt, now, tick;

	meet(p->tick, p->begin);
	debt = debt_of(t, t->account.level);
	if (!i)
		p->core->debt = debt;
	debt -= lesser(debt, deferrable(p->core, t, control.fairness_growth));
	now = debt ? stop_core(p->core, t, p->begin, debt, p->end)
		   : book_delay_since(t, p->begin, TOGETHER_NS);
	tick = tick_at(now);
	if (now >= p->end || tick <= p->tick)
		return 1;
	p->tick = tick;
	p->begin = now;
	open_tick(p->tick);
	arrive(p->tick);
	return 0;
}

/*
 * The thread meets the others at the tick and pays what it then owes. A tick that begins meanwhile
 * belongs to this stop, too: if the thread were let go in the middle of that tick, it would run for
 * a period with what others earn there unpaid. Waiting for the others is a delay for a thread that
 * owes nothing.
 *
 * Where everyone is stopped the machine must stay usable. After a stop, the core is not stopped for
 * as long as the stop took, so whatever else wants it can run: whatif and the user's shell, too.
 * What is owed then is paid later or never: of code that runs all the time at most half can be
 * paid.
 */
SUBPROGRAM int pay(struct core *c, struct thread *t, u64 tick, u64 begin)
{
	struct payment p = { .core = c, .thread = t, .tick = tick, .begin = begin };
	bool everyone = membership.mode == MEMBERS_EVERYONE;
	u64 now, next;

	if (!c || !t || (everyone && begin < c->unstopped_until))
		return 0;
	if (may_hold_locks(c)) {
		c->stops_deferred++;
		return 0;
	}
	p.end = stop_end(begin);
	bpf_loop(STOP_TICKS, on_payment, &p, 0);
	now = bpf_ktime_get_ns();
	next = tick_time(p.tick + 1);
	credit_stopped(&t->credit, next > now ? next - now : 0, control.period);
	if (everyone)
		c->unstopped_until = now + (now - begin);
	return 0;
}

#endif
