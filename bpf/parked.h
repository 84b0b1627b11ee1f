/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/*
 * Goroutines that wait for each other. Go hands over between them, and the kernel sees threads only: a thread goes on with a goroutine that
 * another has left, and who is let go on takes another than the one that it has left itself. So each has an account of its own while no
 * thread runs it, and a thread is to goroutines what a core is to threads: where it has none it is idle, and owes nothing.
 *
 * There are probes on where a goroutine parks, yields, is stopped or ends, where one is put into a queue of those that can run, by whoever lets it go on or has made it, and
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
	u32 too_soon; /* as a thread is */
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
		p->lead = p->too_soon = 0;
	if (p)
		account_adopt(&p->account, control.epoch, control.start, control.global_start);
	return p;
}

/* Where the code that parks was called, and its caller: stacks of goroutines are anywhere. Who does not park has no such place: there is one for each kind of moment. */
static __always_inline u64 place_of_moment(const struct pt_regs *regs, enum go_moment moment)
{
	u64 frame = REGISTER_FP(regs), called = moment, caller = 0;

	if (moment == GO_PARKS && read_word(frame + 8, &called) && read_word(frame, &frame))
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

static __always_inline struct parked_key goroutine_in(struct pt_regs *ctx, const struct thread *t, u32 number)
{
	return (struct parked_key){ .g = key_register(ctx, number), .space = t->address_space };
}

/* One more can run, or one less: how many there are now. Who is forgotten meanwhile is never taken off, and then nobody is held. */
static __always_inline s32 count_queued(s32 n)
{
	struct process *p = process_of(bpf_get_current_task_btf());

	if (!p)
		return 0;
	__sync_fetch_and_add(&p->queued, n);
	return *(volatile s32 *)&p->queued;
}

/* A goroutine that no thread runs, as p says, has from now on what the thread has. */
static __always_inline void stand_alone(const struct parked_key *key, const struct thread *t, struct parked *p, u64 now)
{
	p->account = t->account;
	p->account.since = now;
	p->lead = t->lead;
	if (!bpf_map_update_elem(&parked, key, p, BPF_ANY) && p->ready)
		count_queued(1);
}

/* At the beginning of what a goroutine leaves its thread in. */
static __always_inline void goroutine_leaves(struct pt_regs *ctx, struct thread *t, enum go_moment moment, u64 begin)
{
	/* Some do on a stack of the thread's own, and are an argument there. */
	struct parked_key key = goroutine_in(ctx, t, moment == GO_YIELDS || moment == GO_STOPS ? 0 : GOROUTINE_REGISTER);
	/* Who yields waits for nobody. */
	struct parked p = { .from = place_of_moment(ctx, moment), .ready = moment == GO_YIELDS, .sleepless = moment == GO_YIELDS, .too_soon = t->too_soon };

	hand_over(t, p.from, begin);
	t->awake = 0; /* that was this one's */
	if (moment != GO_ENDS)
		stand_alone(&key, t, &p, begin);
	t->left = t->account;
	t->left.since = begin;
	t->goroutine = t->too_soon = 0;
	book_probe(ctx, t, begin);
}

/*
 * At the beginning of runtime.runqput: the second argument can run from now on. A thread that looks for a goroutine lets it go on for the clock, as an
 * interrupt does, if it is to run next; else it has found it elsewhere, as before Go 1.26 in the queue of all threads, or has just left it, and says nothing new.
 */
static __always_inline void goroutine_ready(struct pt_regs *ctx, struct thread *t, u64 begin)
{
	struct parked_key key = goroutine_in(ctx, t, SECOND_GO_ARGUMENT);
	struct parked *p, born = { .ready = 1 };
	bool looks = looks_for_goroutine(t);
	u32 too_soon = looks ? SOON_NOT : soon_by(t->too_soon);
	u64 now;

	if (looks && !(u8)key_register(ctx, THIRD_GO_ARGUMENT)) {
		book_probe(ctx, t, begin);
		return;
	}
	if (!looks) {
		wakes_after_nap(t, begin);
		hand_over(t, place_of(bpf_get_current_task_btf(), BY_WAKING), begin);
	}
	p = parked_of(&key);
	/* Or what the probe takes would be a part of what it was let go on by. */
	book_probe(ctx, t, begin);
	now = bpf_ktime_get_ns();
	if (!p && !looks) {
		born.too_soon = too_soon;
		stand_alone(&key, t, &born, now);
	} else if (p && !p->ready) {
		p->sleepless = 0;
		p->timed = looks;
		p->too_soon = too_soon;
		if (!looks) {
			p->sleepless = account_sleepless(&p->account, now, t->account.level);
			p->account.level = account_waited(&p->account, now, t->account.level);
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

/* The thread begins to run a goroutine, which may come from a nap: whether it is held, as a thread is that comes back from a sleep (hold.h). */
static __always_inline bool wakes_up(struct thread *t, const struct parked *p)
{
	t->awake = 0;
	if (!p || !p->ready)
		return t->brings;
	if (!p->timed)
		return 0;
	nap(t, 0);
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
	held = wakes_up(t, p);
	if (p) {
		level = level_of_next(t, p, begin);
		if (p->ready) { /* else the thread was let go on by whom it waited for */
			lead = p->lead;
			t->too_soon = p->too_soon;
			/*
			 * Others want one of Go's processors, too, and holding this one would keep it from them. So it is let off: then
			 * they run after it in place of before. But what it does by the clock comes too often in virtual time.
			 */
			if (count_queued(-1) > 0 && p->timed && level < control.global) {
				level = control.global;
				lead = held = 0;
				t->too_soon = SOON_BY_ITSELF;
			}
		}
		adopt_core(c);
		/* Nothing that it was given on this core. */
		if (level > t->account.level)
			c->began += level - t->account.level;
		else
			c->began -= lesser(t->account.level - level, c->began);
		t->account.level = level;
		t->lead = lead;
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
}

static __always_inline int goroutine_handed_over(struct pt_regs *ctx)
{
	struct thread *t = comes_to_probe(bpf_get_current_task_btf());
	enum go_moment moment = go_moment_of(ctx);
	u64 begin;

	if (!t)
		return 0;
	begin = bpf_ktime_get_ns();
	adopt(t);
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
