/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/*
 * Goroutines that wait for each other. Go hands over between them, and the kernel sees threads
 * only: a thread continues with a goroutine that another thread has left, and a woken one takes
 * another goroutine than the one that it left. So each goroutine has an account of its own while no
 * thread runs it. A thread is to goroutines what a core is to threads: without one it is idle, and
 * owes nothing.
 *
 * Probes tell where a goroutine parks, yields, is stopped or ends; where a goroutine or a new one
 * is put into a run queue; and where a thread begins to run one. Each costs some microseconds;
 * where that is too much user space takes them away again.
 */
#ifndef WHATIF_GOROUTINE_ACCOUNT_H
#define WHATIF_GOROUTINE_ACCOUNT_H

#include "../pay/return_delay.h"
#include "goroutine_sleep.h"

struct parked_key {
	u64 g;	   /* Go's struct for it */
	u64 space; /* its process, as long as that runs one program */
};

struct parked {
	struct account account;
	u64 lead;
	u64 from;	     /* the place where it waits */
	u32 ready;	     /* it can run */
	u32 by_timer;	     /* because of the clock */
	u32 would_not_sleep; /* in virtual time it did not have to wait */
	u32 too_soon;	     /* an enum soon */
};

/*
 * A goroutine that is forgotten here has the account of its thread, as all have that are not
 * followed.
 */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1 << 14);
	__type(key, struct parked_key);
	__type(value, struct parked);
} parked SEC(".maps");

static __always_inline struct parked *parked_of(const struct parked_key *key)
{
	struct parked *p = bpf_map_lookup_elem(&parked, key);

	if (p && p->account.epoch != control.epoch)
		p->lead = p->too_soon = 0;
	if (p)
		account_enter_experiment(&p->account, control.epoch, control.start,
					 control.global_start);
	return p;
}

/*
 * The code that parks, and its caller: stacks of goroutines are anywhere, so their addresses do not
 * matter. Other moments have one place each.
 */
static __always_inline u64 place_of_moment(const struct pt_regs *regs, enum go_moment moment)
{
	u64 frame = REGISTER_FP(regs), called = moment, caller = 0;

	if (moment == GO_PARKS && read_word(frame + 8, &called) && read_word(frame, &frame))
		read_word(frame + 8, &caller);
	return ((called ^ caller << 7) << 2 | BY_SLEEPING) * 0x9e3779b97f4a7c15;
}

/* The thread at a probe; 0: its goroutines are not followed. */
static __always_inline struct thread *at_probe(struct task_struct *task)
{
	struct thread *t = thread_of(task);

	__sync_fetch_and_add(t ? &control.follow_visits : &control.follow_visits_others, 1);
	return t && !t->process.leaving && applies(RULE_GOROUTINES) ? t : 0;
}

static __always_inline struct parked_key goroutine_in(struct pt_regs *ctx, const struct thread *t,
						      u32 number)
{
	return (struct parked_key) { .g = key_register(ctx, number),
				     .space = t->process.address_space };
}

/*
 * Adds n to the runnable goroutines and gives their number. One that is forgotten while it is
 * queued is never subtracted, and then no goroutine is delayed.
 */
static __always_inline s32 count_queued(s32 n)
{
	struct process *p = process_of(bpf_get_current_task_btf());

	if (!p)
		return 0;
	__sync_fetch_and_add(&p->queued, n);
	return *(volatile s32 *)&p->queued;
}

/* A goroutine that no thread runs gets an account: what the thread has now. */
static __always_inline void open_account(const struct parked_key *key, const struct thread *t,
					 struct parked *p, u64 now)
{
	account_copy(&p->account, &t->account);
	p->account.since = now;
	p->lead = t->lead;
	if (!bpf_map_update_elem(&parked, key, p, BPF_ANY) && p->ready)
		count_queued(1);
}

/* At the beginning of a function in which a goroutine leaves its thread. */
static __always_inline void goroutine_leaves(struct pt_regs *ctx, struct thread *t,
					     enum go_moment moment, u64 begin)
{
	/* Some functions run on the thread's own stack, and have the goroutine as an argument. */
	struct parked_key key = goroutine_in(
		ctx, t, moment == GO_YIELDS || moment == GO_STOPS ? 0 : GOROUTINE_REGISTER);
	/* A goroutine that yields waits for nothing. */
	struct parked p = { .from = place_of_moment(ctx, moment),
			    .ready = moment == GO_YIELDS,
			    .would_not_sleep = moment == GO_YIELDS,
			    .too_soon = t->wake.too_soon };

	hand_over(t, p.from, begin);
	t->timed.pending = 0; /* that was this goroutine's */
	if (moment != GO_ENDS)
		open_account(&key, t, &p, begin);
	account_copy(&t->host.idle_account, &t->account);
	t->host.idle_account.since = begin;
	t->host.goroutine = t->wake.too_soon = 0;
	book_probe(ctx, t, begin);
}

/*
 * At the beginning of runtime.runqput: the goroutine in the second argument can run from now on. If
 * a thread that looks for a goroutine does this with next=true, a timer has fired, which is like an
 * interrupt. With next=false it only moves a goroutine from another queue (as before Go 1.26 from
 * the queue of all threads), or has just left it: that says nothing new.
 */
static __always_inline void goroutine_ready(struct pt_regs *ctx, struct thread *t, u64 begin)
{
	struct parked_key key = goroutine_in(ctx, t, SECOND_GO_ARGUMENT);
	struct parked *p, born = { .ready = 1 };
	bool looks = looks_for_goroutine(t);
	u32 too_soon = looks ? SOON_NOT : too_soon_by(t->wake.too_soon);
	struct core *c = this_core();
	u64 now;

	if (looks && !(u8)key_register(ctx, THIRD_GO_ARGUMENT)) {
		book_probe(ctx, t, begin);
		return;
	}
	if (!looks) {
		if (c)
			c->hand_overs++;
		wakes_after_sleep(t, begin);
		hand_over(t, place_of(bpf_get_current_task_btf(), BY_WAKING), begin);
	}
	p = parked_of(&key);
	/* Or the probe's time would be a part of what woke the goroutine. */
	book_probe(ctx, t, begin);
	now = bpf_ktime_get_ns();
	if (!p && !looks) {
		born.too_soon = too_soon;
		open_account(&key, t, &born, now);
	} else if (p && !p->ready) {
		p->would_not_sleep = 0;
		p->by_timer = looks;
		p->too_soon = too_soon;
		if (!looks) {
			p->would_not_sleep =
				account_would_not_sleep(&p->account, now, t->account.level);
			account_wait_until(&p->account, now, t->account.level, WHY_UNCOUNTED);
			p->lead = t->lead;
		}
		p->account.since = now;
		p->ready = 1;
		count_queued(1);
	}
}

/* The level of a goroutine that the thread begins to run. */
static __always_inline u64 level_of_next(struct thread *t, const struct parked *p, u64 now)
{
	u64 level = t->account.level;
	struct account left = t->host.idle_account;

	/*
	 * The network, or something else unseen, has woken it: it waited for what has woken the
	 * thread.
	 */
	if (!p->ready)
		return account_waited(&p->account, now, level);
	if (left.since) {
		account_enter_experiment(&left, control.epoch, control.start, control.global_start);
		level = account_waited(&left, now, control.global);
	}
	return account_got_core(&p->account, now, level, !p->would_not_sleep, left.since);
}

/*
 * The thread begins to run a goroutine that may have slept. Gives whether it is delayed, as a
 * thread is that returns from a sleep (return_delay.h).
 */
static __always_inline bool runs_after_sleep(struct thread *t, const struct parked *p)
{
	t->timed.pending = 0;
	if (!p || !p->ready)
		return t->host.delays_next;
	if (!p->by_timer)
		return 0;
	count_timed_sleep(t, 0);
	return pays_after_sleep(t);
}

/* At the beginning of runtime.execute. */
static __always_inline void goroutine_runs(struct pt_regs *ctx, struct thread *t, u64 begin)
{
	struct parked_key key = goroutine_in(ctx, t, 0);
	struct parked *p = parked_of(&key);
	struct core *c = this_core();
	u64 level, lead = t->lead;
	bool held;

	if (!c)
		return;
	if (p)
		hand_over(t, p->from, begin);
	held = runs_after_sleep(t, p);
	if (p) {
		level = level_of_next(t, p, begin);
		if (p->ready) { /* else what it waited for has woken the thread */
			lead = p->lead;
			t->wake.too_soon = p->too_soon;
			/*
			 * Other goroutines want a processor of Go's, too, and delaying this one
			 * would keep this processor from them. So its debt is forgiven: the others
			 * run after it instead of before it. But what it does by the clock then
			 * comes too often in virtual time.
			 */
			if (count_queued(-1) > 0 && p->by_timer && level < control.global) {
				level = control.global;
				lead = held = 0;
				t->wake.too_soon = SOON_BY_ITSELF;
			}
		}
		core_enter_experiment(c);
		/* This core gave it none of that. */
		if (level > t->account.level)
			c->began_level += level - t->account.level;
		else
			c->began_level -= lesser(t->account.level - level, c->began_level);
		account_move(&t->account, level);
		t->lead = lead;
		t->requests.available_since = begin - level;
		t->spin.left = 0;
		t->host.idle_ns = 0;
		stop_polling(t);
		bpf_map_delete_elem(&parked, &key);
		show_level(c, t, 0);
	}
	t->host.goroutine = 1;
	t->host.idle_account.since = 0;
	t->host.delays_next = 0;
	book_probe(ctx, t, begin);
	if (held)
		delay_goroutine(c, t);
}

static __always_inline int goroutine_handed_over(struct pt_regs *ctx)
{
	struct thread *t = at_probe(bpf_get_current_task_btf());
	enum go_moment moment = go_moment_of(ctx);
	u64 begin;

	if (!t)
		return 0;
	begin = bpf_ktime_get_ns();
	enter_experiment(t);
	if (moment == GO_RUNS)
		goroutine_runs(ctx, t, begin);
	else if (moment == GO_READY)
		goroutine_ready(ctx, t, begin);
	else
		goroutine_leaves(ctx, t, moment, begin);
	return 0;
}

PROBE(go_handover, goroutine_handed_over(ctx))

#endif
