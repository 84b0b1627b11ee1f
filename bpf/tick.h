/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/* The tick: cores meet, take their samples, book what these earn, and stop for debts. */
#ifndef WHATIF_TICK_H
#define WHATIF_TICK_H

#include "ticktimes.h"

static __always_inline u64 tick_time(u64 tick)
{
	return tick_due(tick, control.period, control.seed);
}

/* The last tick that has begun. */
static __always_inline u64 tick_at(u64 now)
{
	return last_tick(now, control.period, control.seed);
}

/*
 * Cores tick together, in any order, and what one of them finds makes others owe. A core looks at
 * its debt when all have come to the tick, or after this time, as the host may make a core late.
 */
#define TOGETHER_NS 40000

/*
 * In a placebo G grows at each tick as if an unseen core ran in the selected code all the time. All
 * threads are stopped for that, as for code that they have nothing to do with, and no point's
 * virtual time should show it.
 */
SUBPROGRAM int grow_for_placebo(u64 last, u64 tick)
{
	u64 from = tick_time(last), to = tick_time(tick);

	if (from < control.start)
		from = control.start;
	if (from < to && under_way(to) && control.processes)
		raise_global(control.global + (to - from) * control.rate / CREDIT_ONE);
	return 0;
}

/* Keeps what is owed as a tick begins. The first core that comes does it. */
static __always_inline void open_tick(u64 tick)
{
	u64 seen = control.opened;

	if (seen < tick && __sync_val_compare_and_swap(&control.opened, seen, tick) == seen) {
		control.global_before = control.global;
		if (control.placebo)
			grow_for_placebo(seen, tick);
	}
}

/*
 * The first core to come starts the count, and the others add themselves. A core that the host
 * keeps for a period in between may be counted for the next tick: then one core is not waited for.
 */
SUBPROGRAM int arrive(u64 tick)
{
	u64 seen = control.arrived;

	/* Once more where a core that was late for the tick before was counted just then. */
	for (int i = 0; i < 8 && seen >> 16 < tick; i++) {
		u64 old = __sync_val_compare_and_swap(&control.arrived, seen, tick << 16 | 1);

		if (old == seen)
			return 0;
		seen = old;
	}
	if (seen >> 16 == tick)
		__sync_fetch_and_add(&control.arrived, 1);
	return 0;
}

struct meeting {
	u64 tick;
	u64 end;
};

/* A core that is being stopped does not come. */
static long on_meeting(u32 i, struct meeting *m)
{
	return control.arrived + control.stopping >= (m->tick << 16) + control.cores ||
	       bpf_ktime_get_ns() >= m->end;
}

/*
 * In a baseline a tick earns nothing but its own cost, which is about the same on all cores. What
 * is left of that is paid at the next tick.
 */
static __always_inline void meet(u64 tick, u64 now)
{
	struct meeting m = { .tick = tick, .end = now + TOGETHER_NS };

	if (control.rate)
		bpf_loop(1 << 12, on_meeting, &m, 0);
}

/*
 * A sample that took longer was interrupted, by the host or otherwise, and that is no part of a
 * tick's cost.
 */
#define LONGEST_SAMPLING_NS 50000

/*
 * The same for reading a process's numbers, which may be many, in memory that was not touched for a
 * while.
 */
#define LONGEST_COUNTING_NS 200000

/* What a tick takes from the thread that it interrupts, besides a stop. */
static __always_inline u64 cost_of_tick(const struct core *c)
{
	return control.tick_cost + c->sampling;
}

/*
 * Books the tick's cost as a delay: sleeping threads get no ticks, and virtual time has none. A
 * thread that waits busily is exempt, because the delay would be charged to the threads that it
 * waits for.
 */
SUBPROGRAM int book_tick(struct core *c, struct thread *t, bool waits)
{
	u64 delay;

	if (!c || !t)
		return 0;
	delay = cost_of_tick(c);
	if (!waits)
		raise_level(t, delay);
	t->credit.began += delay;
	return 0;
}

/*
 * Books the time since begin, for which the tick has kept the thread, as a delay. More than most is
 * the host's doing.
 */
static __always_inline u64 book_delay_since(struct thread *t, u64 begin, u64 most)
{
	u64 now = bpf_ktime_get_ns(), took = now - begin;

	raise_level(t, lesser(took, most));
	t->credit.began += took; /* it did not run */
	return now;
}

struct stop {
	struct core *core;
	const struct thread *thread;
	u64 now;
	u64 begin;
	u64 global; /* when the stop began */
	u64 fairness; /* and the part of it for fair turns */
	u64 room;   /* of the growth for fair turns, so much need not be paid in this stop */
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
	u64 now = bpf_ktime_get_ns();
	struct stop s = { .core = c, .thread = t, .now = begin, .begin = begin, .global = control.global, .fairness = control.fairness_growth, .end = end };

	s.want = debt;
	s.room = leads_share(c, t) ? SLICE_NS - deferrable(c, t, s.fairness) : 0;
	/*
	 * A thread that slept by the clock, in code that is not sped up, owes what has come about
	 * since. Another thread that waits for the core does not owe that, so it is paid only while
	 * no thread of the target wants the core. The tick has delayed this thread as it did the
	 * others.
	 */
	s.fresh = t->by_timer && !t->sleep_sped_up ? account_debt(control.global_before + cost_of_tick(c), control.global) : debt;
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
	t->account.level = account_paid(t->account.level, s.paid, control.global);
	t->credit.began += s.paid; /* it did not run */
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
	now = debt ? stop_core(p->core, t, p->begin, debt, p->end) : book_delay_since(t, p->begin, TOGETHER_NS);
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

/*
 * A sample in a kernel thread, which works for any task that asked. It is never stopped and has
 * kept up with official virtual time, from where it earns. A thread that it wakes goes on at its
 * level, and so does one that waits for its core. Gives whether the sample is in code that counts.
 */
static __always_inline bool sample_kernel_thread(struct core *c)
{
	struct task_struct *task = bpf_get_current_task_btf();
	u64 earned = control.period * control.rate / CREDIT_ONE;
	u32 point = 0, unit;
	struct outsider *s;

	if (!task->pid || !is_kernels(task))
		return 0;
	unit = unit_of_sample(0, c, &point, 1) & ~UNIT_SPINS;
	if (unit == UNIT_NONE || unit == UNIT_PENDING)
		return 0;
	c->samples += control.parts;
	if (!whole_stacks && unit < MAX_UNITS)
		count_sample(unit);
	if (unit != control.unit || !control.rate || !under_way(bpf_ktime_get_ns()))
		return 1;
	s = get_outsider(task);
	if (!s)
		return 1;
	/* What another core earns at this tick, this one earns at the same time. */
	if (s->account.level < control.global_before)
		s->account.level = control.global_before;
	s->account.level += earned;
	raise_global(s->account.level);
	core_enter_experiment(c);
	c->account.level = lesser(c->account.level + earned, control.global);
	return 1;
}

/*
 * A sample of a task that has nothing to do with the target. Switches would not tell in time: it
 * may have a core for seconds, and be seen only as it leaves.
 */
static __always_inline void sample_foreign(struct core *c)
{
	struct task_struct *task = bpf_get_current_task_btf();

	if (!samples_only && task->pid && task->tgid != membership.own && !outsider_of(task))
		c->foreign += control.period;
}

/*
 * A tick meets a thread at work that often waits busily: it has found what it waited for since the
 * last tick. The producer ran; where all other running threads have had what came about before this
 * tick, the producer has, too. So the thread goes on where they are, if it has waited for so long,
 * which is estimated from how often ticks find it waiting.
 */
SUBPROGRAM int found_while_spinning(struct thread *t, u64 ran)
{
	if (t && t->spin.share)
		t->account.level = spin_found(&t->spin, t->account.level, ran, lowest_level_of_others(control.global_before));
	return 0;
}

/* Takes a sample of what runs on this core, and does what follows from it for the thread. */
static __always_inline void sample(struct core *c, u64 tick)
{
	struct thread *t = thread_of(bpf_get_current_task_btf());
	u64 begin = bpf_ktime_get_ns(), ran, now;
	u32 unit, point = 0;
	u32 spins, spared; /* it waits busily; it must not be stopped */
	bool live;

	grow_with_waiting(begin);
	open_tick(tick);
	if (!t || t->delayed) {
		if (!t && !(kernel_code && sample_kernel_thread(c)))
			sample_foreign(c);
		arrive(tick);
		sample_spans();
		return;
	}
	note_running(c, t, begin);
	if (may_have_found(t) && !is_poll(t, begin))
		finish_poll(c, t);
	expect_nothing(c);
	if (t->deferred)
		settle_all_deferred(t, c);
	unit = unit_of_sample(t, c, &point, 1);
	c->samples += control.parts;
	spins = unit & UNIT_SPINS;
	if (spins)
		c->busy += control.parts;
	spared = spins;
	unit &= ~UNIT_SPINS;
	if (!whole_stacks && unit && unit < MAX_UNITS)
		count_sample(unit);
	now = bpf_ktime_get_ns();
	c->sampling = lesser(now - begin, LONGEST_SAMPLING_NS);
	live = !nobody_pays && under_way(now);
	if (live) {
		core_enter_experiment(c);
		enter_experiment(t);
		count_too_soon(c, t, unit);
	}
	ran = credit_ran(&t->credit, begin, 2 * control.period);
	pass(c, t, point, ran);
	if (live) {
		u64 most = lesser(ran, 2 * control.period); /* of that it may have waited */

		spared |= offset_host_idle(t);
		/*
		 * What was waited since the last tick does not excuse what is earned at this one.
		 */
		offset_spin(t, control.global_before);
		/*
		 * It has waited since its last sample. What it ran in earlier turns is included,
		 * and may have been work.
		 */
		t->spin.left = spins ? most : 0;
		if (unit != UNIT_PENDING) {
			if (!spins)
				found_while_spinning(t, most);
			spin_learn(&t->spin, spins);
			/* Waiting cannot be made faster. */
			credit_sample(&t->credit, ran, !spins && unit && unit == control.unit ? SIDE_IN : SIDE_OUT);
		} else {
			credit_unknown(t, ran);
		}
		earn(t, now);
		book_tick(c, t, spins);
	}
	if (live && control.rate && !spared) {
		u64 even = fairness_debt(c, t);

		raise_global(t->account.level);
		if (even)
			__sync_fetch_and_add(&control.fairness_growth, raise_global(t->account.level + even));
	}
	arrive(tick);
	if (counting) {
		/* All cores tick at once, and one of them is enough to read a process. */
		read_counters(t, control.sampled_spans ? TOGETHER_NS : control.asked_period / 2, 0);
		sample_spans();
	}
	if (!live)
		return;
	if (counting)
		now = book_delay_since(t, now, spins ? 0 : LONGEST_COUNTING_NS);
	/* A thread that polls may hold a lock that other threads want. */
	if (!spared && !((t->polls || may_have_found(t)) && is_poll(t, now)) && !works_on_timeouts(t, now)) {
		pay(c, t, tick, now);
		show_level(c, t, 0);
		settle_deferrable(c, t);
		expect_earnings(c, t, bpf_ktime_get_ns());
		return;
	}
	/* A stop during a wait would count twice, as paid and as waited. */
	meet(tick, now);
	offset_spin(t, control.global);
	settle_deferrable(c, t);
	c->debt = debt_of(t, t->account.level);
	book_delay_since(t, now, spins ? 0 : TOGETHER_NS); /* see book_tick */
	show_level(c, t, 0);
}

struct timer {
	struct bpf_timer timer;
	u64 tick; /* that it is set for */
	u32 parked; /* it is not set, see park */
	u32 counted; /* it is in control.cores or, while it is parked, in control.parked */
};
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MAX_CPUS);
	__type(key, u32);
	__type(value, struct timer);
} timers SEC(".maps");

/*
 * While user space is not heard of there is nothing to sample for, and ticks come at this distance.
 */
#define LAPSED_NS 100000000

/* Sets the timer to the next tick. */
static __always_inline int set_timer(struct timer *v)
{
	u64 now = bpf_ktime_get_ns(), at;

	v->tick = tick_at(lapsed(now) ? now + LAPSED_NS : now) + 1;
	at = tick_time(v->tick);
	if (at <= now) /* the period has become shorter meanwhile */
		at = now + 1;
	if (control.unpinned)
		return bpf_timer_start(&v->timer, at - now, 0);
	return bpf_timer_start(&v->timer, at, BPF_F_TIMER_ABS | BPF_F_TIMER_CPU_PIN);
}

/*
 * Kernels before 6.7 cannot pin a timer to its core: a timer that is set on an idle core moves to
 * another core, one that is set on a busy core stays. So a core's clock rests while the core is
 * idle, when there is nothing to sample, and is set again when a task runs.
 */
static __always_inline void park(struct timer *v)
{
	v->tick = 0;
	v->parked = 1;
	__sync_fetch_and_sub(&control.cores, 1);
	__sync_fetch_and_add(&control.parked, 1);
}

/* Attached only where timers cannot be pinned. */
SEC("tp_btf/sched_switch")
int BPF_PROG(on_leave_idle, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	u32 id = bpf_get_smp_processor_id();
	struct core *c = this_core();
	struct timer *v;

	if (!c || prev->pid || !next->pid || !control.period)
		return 0;
	v = bpf_map_lookup_elem(&timers, &id);
	if (!v || !v->parked)
		return 0;
	if (set_timer(v)) {
		lose(c, LOSS_TIMER);
		return 0;
	}
	v->parked = 0;
	__sync_fetch_and_sub(&control.parked, 1);
	__sync_fetch_and_add(&control.cores, 1);
	return 0;
}

/* A hard interrupt raises the softirq in which this core's timer runs. */
SEC("tp_btf/softirq_raise")
int BPF_PROG(on_softirq_raise, u32 vector)
{
	u32 id = bpf_get_smp_processor_id(), which = STACK_OF_TICK;
	struct kernel_stack *s;
	struct timer *v;

	if (vector != SOFTIRQ_HRTIMER || !control.period)
		return 0;
	v = bpf_map_lookup_elem(&timers, &id);
	s = bpf_map_lookup_elem(&kernel_stacks, &which);
	/* It may be another timer's softirq. */
	if (!v || !s || s->taken || !v->tick || bpf_ktime_get_ns() < tick_time(v->tick))
		return 0;
	take_kernel_stack(ctx, STACK_OF_TICK);
	return 0;
}

/* Runs as a softirq, so with interrupts enabled, in the interrupted thread. */
static int on_tick(void *map, u32 *key, struct timer *v)
{
	struct core *c = this_core();

	u64 now = bpf_ktime_get_ns();

	if (!c || !control.period)
		return 0;
	if (*key != bpf_get_smp_processor_id()) {
		/*
		 * The timer is another core's, which was taken off line or is to have no timers.
		 * User space starts its clock again (ledger/lease.go).
		 */
		lose(c, LOSS_TIMER);
		park(v);
		return 0;
	}
	c->ticked = now;
	if (!lapsed(now))
		sample(c, v->tick);
	forget_kernel_stack();
	if (control.unpinned && !bpf_get_current_task_btf()->pid)
		park(v);
	else if (set_timer(v))
		lose(c, LOSS_TIMER);
	return 0;
}

static __always_inline int start_timer(void)
{
	u32 id = bpf_get_smp_processor_id();
	struct core *c = this_core();
	struct timer *v = bpf_map_lookup_elem(&timers, &id);
	int err;

	if (!c || !v)
		return -34; /* ERANGE */
	err = bpf_timer_init(&v->timer, &timers, 1 /* CLOCK_MONOTONIC */);
	if (err && err != -16 /* EBUSY: it is */)
		return err;
	err = bpf_timer_set_callback(&v->timer, on_tick);
	if (err)
		return err;
	err = set_timer(v);
	if (err)
		return err;
	c->ticked = bpf_ktime_get_ns();
	if (v->parked)
		__sync_fetch_and_sub(&control.parked, 1);
	if (v->parked || !v->counted)
		__sync_fetch_and_add(&control.cores, 1);
	v->parked = 0;
	v->counted = 1;
	return 0;
}

/*
 * User space runs this on every core, once, and again where the clock has stopped, and reads the
 * result. Any iterator would do, at its end: iterators run on demand and may not sleep. Kernels
 * from 7.3 on let no program that may sleep have a callback that samples.
 */
SEC("iter/bpf_map")
int start_clock(struct bpf_iter__bpf_map *ctx)
{
	s32 err;

	if (ctx->map)
		return 0;
	err = start_timer();
	bpf_seq_write(ctx->meta->seq, &err, sizeof(err));
	return 0;
}

#endif
