/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/*
 * Goroutines that wait for each other. Go hands over between them, and the kernel sees threads only: a thread goes on with a goroutine that
 * another has left, and who is let go on takes another than the one that it has left itself. So each has an account of its own while no
 * thread runs it, and a thread is to goroutines what a core is to threads: where it has none it is idle, and owes nothing.
 *
 * There are probes on where a goroutine parks, yields or ends, where one is put into a queue of those that can run, by whoever lets it go on or has made it, and
 * where a thread begins to run one. Each costs some microseconds; where that is too much user space takes them away again.
 */
#ifndef WHATIF_PARKED_H
#define WHATIF_PARKED_H

struct parked_key {
	u64 g; /* Go's struct for it */
	u64 space; /* its process, while that runs one program */
};

struct parked {
	struct account account;
	u64 lead;
	u64 from; /* the place where it waits */
	u32 ready; /* it can run */
	u32 timed; /* since the clock said so */
	u32 sleepless; /* in virtual time it did not have to wait */
};

/* Those that are forgotten have the account of their thread, as all have that are not followed. */
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
		p->lead = 0;
	if (p)
		account_adopt(&p->account, control.epoch, control.start, control.global_start);
	return p;
}

/* Where the code that waits was called, and its caller: stacks of goroutines are anywhere. */
static __always_inline u64 place_of_park(const struct pt_regs *regs)
{
	u64 frame = REGISTER_FP(regs), called = 0, caller = 0;

	if (read_word(frame + 8, &called) && read_word(frame, &frame))
		read_word(frame + 8, &caller);
	return ((called ^ caller << 7) << 2 | BY_SLEEPING) * 0x9e3779b97f4a7c15;
}

/* Who comes to a probe; 0: nobody whose goroutines are followed. */
static __always_inline struct thread *comes_to_probe(struct task_struct *task)
{
	struct thread *t = thread_of(task);

	__sync_fetch_and_add(t ? &control.follow_visits : &control.follow_visits_others, 1);
	return t && !t->leaving ? t : 0;
}

/* A goroutine that no thread runs has from now on what the thread has. */
static __always_inline void stand_alone(const struct parked_key *key, const struct thread *t, u64 from, u32 ready, u64 now)
{
	struct parked p = { .account = t->account, .lead = t->lead, .from = from, .ready = ready };

	p.account.since = now;
	bpf_map_update_elem(&parked, key, &p, BPF_ANY);
}

enum leaves { PARKS, YIELDS, ENDS };

/* At the beginning of what a goroutine leaves its thread in. */
static __always_inline int goroutine_leaves(struct pt_regs *ctx, enum leaves how)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct thread *t = comes_to_probe(task);
	struct parked_key key = {};
	u64 begin, from;

	if (!t)
		return 0;
	begin = bpf_ktime_get_ns();
	from = place_of_park(ctx);
	hand_over(t, from, begin);
	/* It yields on a stack of the thread's own, and is an argument there. */
	key.g = key_register(ctx, how == YIELDS ? 0 : GOROUTINE_REGISTER);
	key.space = t->address_space;
	if (how != ENDS)
		stand_alone(&key, t, from, how == YIELDS, begin);
	t->left = t->account;
	t->left.since = begin;
	t->goroutine = 0;
	book_probe(ctx, t, begin);
	return 0;
}

/* At the beginning of runtime.runqput: the second argument can run from now on. A thread that has no goroutine lets it go on for the clock, as an interrupt does. */
static __always_inline int goroutine_ready(struct pt_regs *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct thread *t = comes_to_probe(task);
	struct parked_key key = {};
	struct parked *p;
	u64 begin, now;

	if (!t)
		return 0;
	begin = bpf_ktime_get_ns();
	adopt(t);
	if (t->goroutine) {
		note_errand(t, begin);
		hand_over(t, place_of(task, BY_WAKING), begin);
	}
	key.g = key_register(ctx, SECOND_GO_ARGUMENT);
	key.space = t->address_space;
	p = parked_of(&key);
	/* Or what the probe takes would be a part of what it was let go on by. */
	book_probe(ctx, t, begin);
	now = bpf_ktime_get_ns();
	if (p && !p->ready) {
		p->sleepless = 0;
		p->timed = !t->goroutine;
		if (t->goroutine) {
			p->sleepless = account_sleepless(&p->account, now, t->account.level);
			p->account.level = account_waited(&p->account, now, t->account.level);
			p->lead = t->lead;
		}
		p->account.since = now;
		p->ready = 1;
	} else if (!p && t->goroutine) {
		stand_alone(&key, t, 0, 1, now);
	}
	return 0;
}

/* The level of a goroutine that the thread begins to run. */
static __always_inline u64 level_of_next(struct thread *t, const struct parked *p, u64 now)
{
	u64 level = t->account.level;
	struct account left = t->left;

	/* From the network, or whatever: it waited for what the thread was let go on by. */
	if (!p->ready)
		return account_waited(&p->account, now, level);
	if (left.since) {
		account_adopt(&left, control.epoch, control.start, control.global_start);
		level = account_waited(&left, now, control.global);
	}
	return account_got_core(&p->account, now, level, !p->sleepless, left.since);
}

/*
 * The thread begins to run a goroutine, which may come from a nap. Whether it is held, as a thread is that comes back from a sleep (hold.h). The thread's
 * naps are of one place as long as its goroutines' are.
 */
static __always_inline bool wakes_up(struct thread *t, const struct parked *p)
{
	if (!p->ready)
		return t->brings;
	t->naps.awake = 0;
	if (!p->timed)
		return 0;
	nap(t);
	return pays_after_sleep(t);
}

/* At the beginning of runtime.execute. */
static __always_inline int goroutine_runs(struct pt_regs *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct thread *t = comes_to_probe(task);
	struct core *c = this_core();
	struct parked_key key = {};
	struct parked *p;
	u64 begin, level;
	bool held = 0;

	if (!t || !c)
		return 0;
	begin = bpf_ktime_get_ns();
	adopt(t);
	key.g = key_register(ctx, 0);
	key.space = t->address_space;
	p = parked_of(&key);
	if (p) {
		hand_over(t, p->from, begin);
		held = wakes_up(t, p);
		level = level_of_next(t, p, begin);
		adopt_core(c);
		/* Nothing that it was given on this core. */
		if (level > t->account.level)
			c->began += level - t->account.level;
		else
			c->began -= lesser(t->account.level - level, c->began);
		t->account.level = level;
		if (p->ready) /* else the thread was let go on by whom it waited for */
			t->lead = p->lead;
		t->free = begin - level;
		t->waiting.left = 0;
		t->rested = 0;
		stands_no_more(t);
		bpf_map_delete_elem(&parked, &key);
		show_level(c, t, 0);
	}
	t->goroutine = 1;
	t->left.since = 0;
	t->brings = 0;
	book_probe(ctx, t, begin);
	if (held)
		hold_goroutine(c, t);
	return 0;
}

PROBE(go_park, goroutine_leaves(ctx, PARKS))
PROBE(go_yield, goroutine_leaves(ctx, YIELDS))
PROBE(go_end, goroutine_leaves(ctx, ENDS))
PROBE(go_ready, goroutine_ready(ctx))
PROBE(go_run, goroutine_runs(ctx))

#endif
