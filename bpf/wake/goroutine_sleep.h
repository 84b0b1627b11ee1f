/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/*
 * Goroutines that sleep by the clock. Meanwhile their thread runs others, or waits in Go's
 * scheduler for any event: no thread waits in the user's line. So there are probes on time.Sleep,
 * which a goroutine begins on one thread and ends on any.
 *
 * A thread is to goroutines what a core is to threads: while it slept for lack of goroutines its
 * position stood still. So a goroutine continues at its own level, plus what its sleep was worth,
 * and the thread with it; but by no more than the thread has been idle, as it still owes what it
 * owes for other goroutines.
 */
#ifndef WHATIF_GOROUTINE_SLEEP_H
#define WHATIF_GOROUTINE_SLEEP_H

#include "waiting.h"

struct goroutine_key {
	u64 g; /* Go's struct for it */
	u32 tgid;
	u32 pad;
};

/* One that sleeps. */
struct goroutine {
	u64 since;
	u64 level; /* its thread's level when it began to sleep */
	u64 epoch; /* the experiment that the level belongs to */
	u32 unit;  /* 0: none */
	u32 pad;
};

/* The map has one entry unless sleeping counts. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1 << 16);
	__type(key, struct goroutine_key);
	__type(value, struct goroutine);
} goroutines SEC(".maps");

static __always_inline void count_sleeper(u32 unit, s64 n)
{
	grow_with_waiting(bpf_ktime_get_ns());
	__sync_fetch_and_add(&control.waiting[WAIT_SLEEP], n);
	if (unit)
		__sync_fetch_and_add(&unit_waits[unit & (MAX_UNITS - 1)].now, n);
}

/* Ends a goroutine's sleep. Of several callers one is told that it did. */
static __always_inline bool stop_sleeping(const struct goroutine_key *key, u32 unit)
{
	if (bpf_map_delete_elem(&goroutines, key))
		return 0;
	count_sleeper(unit, -1);
	return 1;
}

/* Forgets a sleeping goroutine of this process or, for 0, of a process that has left the target. */
SUBPROGRAM int forget_if(struct goroutine_key *asleep, u32 unit, u32 tgid)
{
	struct goroutine_key key;

	if (!asleep)
		return 0;
	key = *asleep;
	if (tgid ? key.tgid == tgid : !bpf_map_lookup_elem(&processes, &key.tgid))
		stop_sleeping(&key, unit);
	return 0;
}

static long on_asleep(void *map, struct goroutine_key *key, struct goroutine *g, u32 *tgid)
{
	struct goroutine_key copy = *key;

	forget_if(&copy, g->unit, *tgid);
	return 0;
}

/* Goroutines that sleep in a process that is over, or runs another program, do not come back. */
static __always_inline void forget_goroutines(u32 tgid)
{
	bpf_for_each_map_elem(&goroutines, on_asleep, &tgid, 0);
}

/*
 * A goroutine begins with the bounds of its stack. In other code, and in old Go's, the register
 * holds something else.
 */
static __always_inline bool is_goroutine(u64 g, u64 sp)
{
	u64 stack[2];

	return !bpf_probe_read_user(stack, sizeof(stack), (void *)g) && stack[0] < sp &&
	       sp <= stack[1];
}

/*
 * The unit of the code that has just called the function in whose first instruction the thread is.
 * A probe's program can be interrupted by programs that follow stacks on this core, and then its
 * result is not sure.
 */
static __noinline u32 unit_of_caller(struct thread *t, struct core *c)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct walk w = { .ended = ENDED_TOO_DEEP };
	u64 caller = 0;
	u32 unit;

	if (!t || !c || !memory_of(task))
		return UNIT_NONE;
	w.match.sample = ++c->walks;
	w.space = t->process.address_space;
	w.stamp = stamp_of_code(task);
	innermost_frame(task, &w.frame);
	if (w.frame.lr)
		caller = w.frame.lr;
	else if (!read_word(w.frame.sp, &caller))
		return UNIT_NONE;
	else
		w.frame.sp += 8;
	w.frame.exact = 0;
	if (arrived_at(&w.frame, caller) != STEP_CALLER)
		return UNIT_NONE;
	bpf_loop(MAX_FRAMES, on_frame, &w, 0);
	if (c->walks != w.match.sample)
		return UNIT_NONE;
	unit = unit_found(&w) & ~UNIT_SPINS;
	return unit == UNIT_PENDING ? UNIT_NONE : unit & UNIT_NUMBER;
}

/* Once for each thread: goroutines of the process may sleep, and still be there when it ends. */
static __always_inline void host(struct thread *t, struct task_struct *task)
{
	struct process *p;

	if (t->host.has_slept)
		return;
	t->host.has_slept = 1;
	p = process_of(task);
	if (p)
		p->goroutines = 1;
}

/* Following a stack takes less: a longer probe was made to wait for a core. */
#define LONGEST_PROBE_NS 20000

/* Books the way to the probe's program, and the program itself, as a delay. */
static __always_inline void book_probe(struct pt_regs *ctx, struct thread *t, u64 begin)
{
	u64 cost = cost_of(bpf_get_attach_cookie(ctx)), now = bpf_ktime_get_ns();

	if (under_way(now))
		raise_level(t, cost + lesser(now - begin, LONGEST_PROBE_NS), WHY_MEASURED);
}

static __always_inline enum go_moment go_moment_of(struct pt_regs *ctx)
{
	return (u32)bpf_get_attach_cookie(ctx);
}

/* At the first instruction of time.Sleep, with its argument. */
static __always_inline int goroutine_sleeps(struct pt_regs *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct thread *t = thread_of(task);
	struct core *c = this_core();
	struct goroutine_key key = {};
	struct goroutine g = {}, *before;
	u64 begin;

	if (!t || !c || t->process.leaving)
		return 0;
	begin = bpf_ktime_get_ns();
	enter_experiment(t);
	hand_over(t, place_of(task, BY_SLEEPING), begin);
	key.g = key_register(ctx, GOROUTINE_REGISTER);
	if ((s64)key_register(ctx, 0) > 0 && is_goroutine(key.g, REGISTER_SP(ctx))) {
		key.tgid = task->tgid;
		host(t, task);
		/* A probe was missed. */
		before = bpf_map_lookup_elem(&goroutines, &key);
		if (before)
			stop_sleeping(&key, before->unit);
		g.unit = unit_of_caller(t, c) & (MAX_UNITS - 1);
		book_probe(ctx, t, begin);
		g.since = begin = bpf_ktime_get_ns();
		g.level = t->account.level;
		g.epoch = t->account.epoch;
		/*
		 * Counted first: a thread that leaves the target sees either the one or the other.
		 */
		count_sleeper(g.unit, 1);
		if (bpf_map_update_elem(&goroutines, &key, &g, BPF_NOEXIST)) {
			count_sleeper(g.unit, -1);
			lose(c, LOSS_GOROUTINE);
		} else if (*(volatile u32 *)&t->process.leaving) {
			stop_sleeping(&key, g.unit);
		}
		return 0;
	}
	book_probe(ctx, t, begin);
	return 0;
}

/*
 * The thread continues with a goroutine that stands at level: by no more than it has been idle,
 * where it is not known to have its goroutine's account (goroutine_account.h).
 */
static __always_inline void level_up_to(struct core *c, struct thread *t, u64 level)
{
	u64 rise;

	if (level <= t->account.level)
		return;
	rise = level - t->account.level;
	if (!control.follows_goroutines || !t->host.goroutine) {
		rise = lesser(rise, t->host.idle_ns);
		t->host.idle_ns -= rise;
	}
	account_raise(&t->account, rise, WHY_WAIT_SPED_UP);
	c->began_level += rise; /* it did not run for that */
	raise_global(t->account.level);
}

/* Where time.Sleep returns. */
static __always_inline int goroutine_wakes(struct pt_regs *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct thread *t = thread_of(task);
	struct core *c = this_core();
	struct goroutine_key key = {};
	struct goroutine g, *found;
	u64 begin, level, worth;

	if (!t || !c)
		return 0;
	begin = bpf_ktime_get_ns();
	enter_experiment(t);
	hand_over(t, place_of(task, BY_WAKING), begin);
	key.g = key_register(ctx, GOROUTINE_REGISTER);
	key.tgid = task->tgid;
	host(t, task);
	found = bpf_map_lookup_elem(&goroutines, &key);
	if (found) {
		g = *found;
		if (stop_sleeping(&key, g.unit)) {
			if (g.unit)
				__sync_fetch_and_add(
					&unit_waits[g.unit & (MAX_UNITS - 1)].ns[WAIT_SLEEP],
					begin - g.since);
			level = g.epoch == t->account.epoch ? g.level : control.global_start;
			worth = worth_of_wait(g.unit, WAIT_SLEEP, g.since, begin);
			if (worth) {
				control.waiting_grew = control.epoch;
				level += worth;
			}
			level_up_to(c, t, level);
		}
	}
	book_probe(ctx, t, begin);
	return 0;
}

PROBE(go_sleep, go_moment_of(ctx) == GO_SLEEPS ? goroutine_sleeps(ctx) : goroutine_wakes(ctx))

#endif
