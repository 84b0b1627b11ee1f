//go:build ignore

// SPDX-License-Identifier: (MIT OR GPL-2.0)
/*
 * The kernel side of whatif: who belongs to the target, what it runs, and the
 * ledger of virtual speed-ups. ARCHITECTURE.md explains the ledger; ledger.h
 * has its arithmetic.
 */
#include "kernel.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "ledger.h"
#include "shared.h"
#include "unwind.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

volatile struct control_page control;
struct core cores[MAX_CPUS];
u64 unit_samples[MAX_UNITS];
/* Visits by virtual time; the experiment's parity chooses the half. */
u32 bins[2][MAX_POINTS][MAX_BINS];
u64 visits[MAX_POINTS];

#include "chains.h"

/* A thread of the target: that it has one makes it one. */
struct thread {
	struct account account;
	struct credit credit;
	u64 address_space; /* numbered: changes with every exec and fork */
	struct waiting waiting; /* busily */
	u64 running;
	struct kinds kinds;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct thread);
} threads SEC(".maps");

/* Live processes of the target, to know when the last one is gone. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1 << 16);
	__type(key, u32);
	__type(value, u32);
} processes SEC(".maps");

/* Which unit a place belongs to, or its chain: filled by user space as places are sampled. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1 << 20);
	__type(key, struct place);
	__type(value, u32);
} places SEC(".maps");

/* The same by address, with the rule for its caller: a frame costs one look-up. */
struct address {
	u64 space;
	u64 address;
};
struct code {
	u32 unit;
	u32 rule;
};
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1 << 16);
	__type(key, struct address);
	__type(value, struct code);
} addresses SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} events SEC(".maps");

/* Types that no map or variable has, kept for the generated Go. */
const struct event *event_type __attribute__((unused));
enum loss loss_type __attribute__((unused));
enum limit limit_type __attribute__((unused));
enum event_kind event_kind_type __attribute__((unused));

enum hand_over {
	BY_SLEEPING,
	BY_WAKING,
	BY_FORKING,
};

static u64 spaces; /* address spaces numbered so far */

static __always_inline struct core *this_core(void)
{
	u32 id = bpf_get_smp_processor_id();

	if (id >= MAX_CPUS) {
		__sync_fetch_and_add(&cores[0].lost[LOSS_CPU], 1);
		return 0;
	}
	return &cores[id];
}

static __always_inline void lose(struct core *c, enum loss what)
{
	if (c)
		c->lost[what]++;
}

static __always_inline struct thread *thread_of(struct task_struct *t)
{
	return bpf_task_storage_get(&threads, t, 0, 0);
}

static __always_inline bool under_way(u64 now)
{
	return now < control.deadline;
}

static __always_inline void adopt_core(struct core *c)
{
	if (c->account.epoch != control.epoch)
		c->began = control.global_start;
	account_adopt(&c->account, control.epoch, control.start, control.global_start);
}

static __always_inline void begin_anew(struct thread *t)
{
	t->waiting.left = 0;
	t->credit.earned = t->credit.ran = t->credit.carry = 0;
	t->credit.hits = t->credit.ticks = 0;
	if (t->credit.began < control.start)
		t->credit.began = control.start;
}

static __always_inline void adopt(struct thread *t)
{
	if (t->account.epoch != control.epoch)
		begin_anew(t);
	account_adopt(&t->account, control.epoch, control.start, control.global_start);
}

/* G never falls, and is the largest level that a sample has made. */
static __always_inline void raise_global(u64 level)
{
	u64 g = control.global;

	for (int i = 0; i < 8 && g < level; i++) {
		u64 old = __sync_val_compare_and_swap(&control.global, g, level);
		if (old == g)
			return;
		g = old;
	}
}

/* Busy waiting, set against what the thread owes. */
static __always_inline void excuse(struct thread *t)
{
	if (t->waiting.left)
		t->account.level = waiting_spend(&t->waiting, t->account.level, control.global);
}

static __always_inline void give(struct thread *t, u64 due)
{
	if (!due)
		return;
	t->account.level += due;
	raise_global(t->account.level);
}

/* What the running thread's samples have earned it by now. */
static __always_inline void earn(struct thread *t, u64 now)
{
	excuse(t);
	if (under_way(now))
		give(t, credit_due(&t->credit, now, control.rate, control.delay));
}

/* A place where a stretch begins or ends: the system call, by its caller. */
static __always_inline u64 place_of(struct task_struct *task, enum hand_over how)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);

	/* The stack pointer, within its page, tells callers apart, in all threads alike. */
	return (REGISTER_IP(regs) << 14 | (REGISTER_SP(regs) & 0xfff) << 2 | how) * 0x9e3779b97f4a7c15;
}

/* The thread lets another go on, or goes to sleep: a stretch ends and the next begins. */
static __always_inline void hand_over(struct thread *t, struct task_struct *task, u64 now, enum hand_over how)
{
	u32 hits = t->credit.hits, ticks = t->credit.ticks;
	struct kind *k = 0;
	u64 to = 0, key = 0, due;

	excuse(t);
	if (control.unit) {
		to = place_of(task, how);
		key = (t->credit.from ^ control.unit) * 0xbf58476d1ce4e5b9 + to;
		key ^= key >> 32;
		k = kinds_find(&t->kinds, key);
	}
	t->credit.from = to;
	due = credit_hand_over(&t->credit, now, control.rate, control.delay, control.period, k);
	if (!under_way(now))
		return;
	give(t, due);
	if (key && ticks)
		kinds_learn(&t->kinds, key, hits, ticks);
}

/* ---- who belongs to the target ---- */

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child)
{
	struct thread *p = thread_of(parent), *t;
	u64 now;

	if (!p)
		return 0;
	t = bpf_task_storage_get(&threads, child, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!t) {
		lose(this_core(), LOSS_THREAD);
		return 0;
	}
	/* What delayed the parent delayed the birth of the child. */
	now = bpf_ktime_get_ns();
	adopt(p);
	hand_over(p, parent, now, BY_FORKING);
	t->account = p->account;
	t->account.since = now;
	__builtin_memset(&t->credit, 0, sizeof(t->credit));
	t->waiting.left = 0;
	t->running = 0;
	t->address_space = child->mm == parent->mm ? p->address_space
						   : __sync_fetch_and_add(&spaces, 1) + 1;
	if (child->pid == child->tgid) {
		u32 tgid = child->tgid, one = 1;

		__sync_fetch_and_add(&control.processes, 1);
		if (bpf_map_update_elem(&processes, &tgid, &one, BPF_ANY))
			lose(this_core(), LOSS_PROCESS);
	}
	return 0;
}

static __always_inline bool tell(u32 kind, u32 tgid, u64 address, const struct place *place)
{
	struct event *e = bpf_ringbuf_reserve(&events, sizeof(*e), 0);

	if (!e) {
		lose(this_core(), LOSS_EVENT);
		return 0;
	}
	e->kind = kind;
	e->tgid = tgid;
	e->address = address;
	if (place)
		e->place = *place;
	else
		__builtin_memset(&e->place, 0, sizeof(e->place));
	bpf_ringbuf_submit(e, 0);
	return 1;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct *task)
{
	struct thread *t = thread_of(task);

	if (!t)
		return 0;
	t->address_space = __sync_fetch_and_add(&spaces, 1) + 1;
	tell(EVENT_EXEC, task->tgid, 0, 0);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit, struct task_struct *task)
{
	u32 tgid = task->tgid;

	if (!thread_of(task) || task->signal->live.counter != 0)
		return 0;
	/* Two last threads may both see 0: only one of them can delete. */
	if (!bpf_map_delete_elem(&processes, &tgid))
		__sync_fetch_and_sub(&control.processes, 1);
	return 0;
}

/* ---- which unit a sample belongs to ---- */

struct mapping {
	struct place place; /* inode 0: of no file */
	u64 address;
	u32 vdso; /* it is that: offset is from its beginning */
};

static long on_vma(struct task_struct *task, struct vm_area_struct *vma, struct mapping *m)
{
	struct file *file = vma->vm_file;

	if (!file) {
		m->vdso = vma->vm_start == (u64)BPF_CORE_READ(task, mm, context.vdso);
		m->place.offset = m->address - vma->vm_start;
		return 0;
	}
	m->place.inode = BPF_CORE_READ(file, f_inode, i_ino);
	m->place.dev = BPF_CORE_READ(file, f_inode, i_sb, s_dev);
	m->place.offset = m->address - vma->vm_start + (vma->vm_pgoff << 12);
	return 0;
}

/* The unit or chain of a place, or UNIT_PENDING; user space is asked once a place. */
static __always_inline u32 unit_of_place(const struct place *place, u64 address)
{
	u32 *known = bpf_map_lookup_elem(&places, place), unit = UNIT_PENDING;
	long err;

	if (known)
		return *known;
	err = bpf_map_update_elem(&places, place, &unit, BPF_NOEXIST);
	if (err && err != -17 /* EEXIST: another core was first */)
		lose(this_core(), LOSS_CODE);
	else if (!err && !tell(EVENT_PLACE, bpf_get_current_pid_tgid() >> 32, address, place))
		bpf_map_delete_elem(&places, place);
	return UNIT_PENDING;
}

/* The rule of a place, or RULES_PENDING; user space is asked once a page. */
static __always_inline u32 rule_of_place(const struct place *place, u64 address, bool *unitless)
{
	struct place page = *place;
	struct table asked = {}, *known;
	long err;

	page.offset &= ~(u64)(TABLE_BYTES - 1);
	known = bpf_map_lookup_elem(&tables, &page);
	if (known) {
		*unitless = known->unitless;
		return known->rows ? rule_in(known->first, known->rows, place->offset & (TABLE_BYTES - 1)) : RULES_PENDING;
	}
	err = bpf_map_update_elem(&tables, &page, &asked, BPF_NOEXIST);
	if (err && err != -17 /* EEXIST */) {
		lose(this_core(), LOSS_CODE);
		return RULES_UNKNOWN;
	}
	if (!err && !tell(EVENT_TABLE, bpf_get_current_pid_tgid() >> 32, address, &page))
		bpf_map_delete_elem(&tables, &page);
	return RULES_PENDING;
}

static __always_inline bool is_unit(u32 unit)
{
	return unit != UNIT_PENDING && (unit & ~UNIT_SPINS) != UNIT_NONE;
}

/* Its caller is not looked at, so it has no use for a rule. */
static __always_inline bool ends_walk(u32 unit)
{
	return !whole_stacks && is_unit(unit);
}

/* What is known of an address of the current process. Not static: as step_out. */
__noinline int code_at(u64 space, u64 address, struct code *code)
{
	struct address key;
	struct mapping m = {};
	struct code *known;
	bool unitless = 0;
	long err;

	if (!code)
		return 0;
	code->unit = UNIT_PENDING;
	code->rule = RULES_PENDING;
	key.space = space;
	key.address = address;
	known = bpf_map_lookup_elem(&addresses, &key);
	if (known) {
		*code = *known;
		return 0;
	}
	m.address = address;
	err = bpf_find_vma(bpf_get_current_task_btf(), address, on_vma, &m, 0);
	if (err == -2 /* ENOENT: not mapped */) {
		code->unit = UNIT_NONE;
		code->rule = RULES_UNKNOWN;
	} else if (err) { /* someone holds the map's lock: next time */
		lose(this_core(), LOSS_MAPPING);
		return 0;
	} else if (!m.place.inode) {
		/* Generated code keeps frame pointers, if anything. */
		code->unit = UNIT_NONE;
		code->rule = m.vdso ? rule_of_place(&m.place, address, &unitless) : RULES_FRAME_POINTER;
	} else {
		code->unit = unit_of_place(&m.place, address);
		if (!ends_walk(code->unit))
			code->rule = rule_of_place(&m.place, address, &unitless);
	}
	if (code->unit != UNIT_PENDING && (code->rule != RULES_PENDING || ends_walk(code->unit)))
		bpf_map_update_elem(&addresses, &key, code, BPF_ANY);
	/* Not kept, as whether it waits busily is still to be said. */
	if (code->unit == UNIT_PENDING && unitless)
		code->unit = UNIT_NONE;
	return 0;
}

struct walk {
	u64 space;
	struct frame frame;
	u32 unit;
	u32 pending; /* a unit further in is not known yet */
	u32 hidden;  /* nor whether the instruction itself waits busily */
	u32 ended;   /* one of these: */
	struct match match; /* where whole stacks are looked at */
};

enum ended {
	ENDED_TOO_DEEP,
	ENDED_IN_UNIT,
	ENDED_OUTERMOST,
	ENDED_PENDING,
	ENDED_STUCK,
};

static long on_frame(u32 i, struct walk *w)
{
	struct code code;
	int step;

	/* A return address may be the first of another line: look before it. */
	code_at(w->space, w->frame.exact ? w->frame.ip : w->frame.ip - 1, &code);
	if (code.unit == UNIT_PENDING) {
		/* Whose it is will be known next time: ask for what is further out, too. */
		w->pending = 1;
		if (!i)
			w->hidden = 1;
		w->match.blamed = 1;
	} else if (whole_stacks) {
		u32 number = code.unit & ~UNIT_SPINS;

		if (!i)
			w->unit = code.unit & UNIT_SPINS;
		if (number != UNIT_NONE && note_chain(&w->match, number)) {
			w->ended = ENDED_IN_UNIT;
			return 1;
		}
	} else {
		/* Where the instruction itself waits busily, so does the thread. */
		if (i)
			code.unit &= ~UNIT_SPINS;
		if (code.unit != UNIT_NONE) {
			w->unit = code.unit;
			w->ended = ENDED_IN_UNIT;
			return 1;
		}
	}
	if (code.rule == RULES_PENDING) {
		w->ended = ENDED_PENDING;
		return 1;
	}
	step = step_out(&w->frame, code.rule);
	if (step == STEP_CALLER)
		return 0;
	w->ended = step == STEP_OUTERMOST ? ENDED_OUTERMOST : ENDED_STUCK;
	return 1;
}

/*
 * Counts the sample for all units that its whole stack is in, and tells whether the
 * one that an experiment is about is among them.
 */
static __always_inline u32 unit_of_stack(struct walk *w)
{
	bool unknown = w->pending || w->ended == ENDED_PENDING;

	if (!unknown && !w->match.units && w->match.own)
		__sync_fetch_and_add(&unit_samples[w->match.own & (MAX_UNITS - 1)], 1);
	/* What is further out, or unknown, does not make it another's. */
	if (w->match.met && !w->hidden)
		return w->match.selected | w->unit;
	return unknown ? UNIT_PENDING : w->unit;
}

/* The first unit up the stack (COZ's rule), with the flag; or as unit_of_stack. */
static __always_inline u32 unit_of_sample(struct task_struct *task, struct thread *t, struct core *c)
{
	struct walk w = { .space = t->address_space, .match = { .sample = c->samples + 1, .selected = control.unit } };

	if (!task->mm) /* on its way out: nothing of the program is left */
		return UNIT_NONE;
	innermost_frame(task, &w.frame);
	bpf_loop(MAX_FRAMES, on_frame, &w, 0);
	if (w.ended == ENDED_STUCK || w.ended == ENDED_TOO_DEEP)
		lose(c, LOSS_STACK);
	if (w.ended == ENDED_PENDING)
		lose(c, LOSS_TABLE);
	if (whole_stacks)
		return unit_of_stack(&w);
	return w.pending || w.ended == ENDED_PENDING ? UNIT_PENDING : w.unit;
}

/* ---- the tick: sampling, crediting, stopping ---- */

/*
 * All cores tick at the same moments, one a period, each moved on at random by up
 * to a quarter of it. At random, because a program of short regular rounds is
 * otherwise met in the same state over and over, all the more as the ticks
 * themselves set its rhythm. Not by more, because how many ticks a stretch of a
 * few periods gets is noise, and hand-overs turn noise into lost speed-up. The
 * same for all, because an interruption that hits all cores alike delays nobody
 * more than the others.
 */
static __always_inline u64 tick_time(u64 interval)
{
	u64 x = interval * 0x9e3779b97f4a7c15 + control.seed;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
	x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
	x ^= x >> 31;
	return interval * control.period + x % (control.period / 4);
}

struct stop {
	u64 now;
	u64 begin;
	u64 global; /* G at the beginning */
	u64 want;
	u64 end; /* at the latest */
	u64 turns;
};

/* What others earn meanwhile is paid in the same stop: it may be their long run. */
static long on_turn(u32 i, struct stop *s)
{
	s->now = bpf_ktime_get_ns();
	s->turns++;
	return s->now >= s->end ||
	       stop_with_tick(s->now - s->begin, control.tick_cost, control.period) >= s->want + (control.global - s->global);
}

/*
 * Stops this core: interrupts stay on, nothing else runs on it. Waiting for the
 * others at the tick, since begin, was a stop already.
 */
static __always_inline void stop(struct core *c, struct thread *t, u64 begin, u64 debt)
{
	struct stop s = { .now = begin, .begin = begin, .global = control.global };

	s.want = debt;
	if (debt > control.cap) {
		s.want = control.cap;
		lose(c, LOSS_CAPPED);
	}
	s.end = lesser(begin + LONGEST_STOP * control.cap, control.deadline);
	__sync_fetch_and_add(&control.stopping, 1);
	bpf_loop(1 << 23, on_turn, &s, 0);
	__sync_fetch_and_sub(&control.stopping, 1);
	c->stops++;
	c->stopped += s.now - begin;
	c->turns += s.turns;
	t->account.level = account_paid(t->account.level, stop_with_tick(s.now - begin, control.tick_cost, control.period), control.global);
	t->credit.began += s.now - begin; /* it did not run */
}

/*
 * Cores tick together, but not in any order, and what one finds the others owe:
 * a debt is looked at when all have been through the tick, or soon anyway, as a
 * core may be late by whatever the host pleases.
 */
#define TOGETHER_NS 15000

static __always_inline void arrive(u64 tick)
{
	u64 seen = control.arrived;

	for (int i = 0; i < 8; i++) {
		u64 mine = seen >> 16 == tick ? seen + 1 : tick << 16 | 1;
		u64 old = __sync_val_compare_and_swap(&control.arrived, seen, mine);

		if (old == seen)
			return;
		seen = old;
	}
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

static __always_inline void meet(u64 tick, u64 now)
{
	struct meeting m = { .tick = tick, .end = now + TOGETHER_NS };

	bpf_loop(1 << 12, on_meeting, &m, 0);
}

/* A sample of what runs on this core, and what follows from it for the thread. */
static __always_inline void sample(struct core *c, u64 tick)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct thread *t = thread_of(task);
	u64 now, debt;
	u32 unit, spins, known = 1;

	if (!t) {
		arrive(tick);
		return;
	}
	unit = unit_of_sample(task, t, c);
	c->samples++;
	spins = unit & UNIT_SPINS;
	if ((unit & ~UNIT_SPINS) == UNIT_PENDING) {
		c->unresolved++;
		unit = UNIT_NONE;
		spins = 0;
		known = 0;
	}
	unit &= ~UNIT_SPINS;
	if (!whole_stacks && unit && unit < MAX_UNITS)
		__sync_fetch_and_add(&unit_samples[unit], 1);
	if (spins)
		c->spinning++;

	now = bpf_ktime_get_ns();
	if (!under_way(now)) {
		arrive(tick);
		return;
	}
	adopt(t);
	excuse(t);
	t->waiting.left = spins ? control.period : 0;
	t->credit.ticks += known;
	/* Waiting cannot be made faster. */
	if (!spins && unit && unit == control.unit)
		t->credit.hits++;
	earn(t, now);
	arrive(tick);
	if (control.rate)
		meet(tick, now);
	excuse(t);
	debt = account_debt(t->account.level, control.global);
	c->debt = debt;
	/* A stop within a wait would count twice: as paid, and as waited. */
	if (spins)
		return;
	if (debt)
		stop(c, t, now, debt);
}

struct timer {
	struct bpf_timer timer;
	u64 tick; /* that it is set for */
};
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MAX_CPUS);
	__type(key, u32);
	__type(value, struct timer);
} timers SEC(".maps");

/* The first tick that lies ahead. */
static __always_inline int set_timer(struct core *c, struct timer *v)
{
	u64 now = bpf_ktime_get_ns(), next = now / control.period;
	int err;

	if (tick_time(next) <= now)
		next++;

	v->tick = next;
	err = bpf_timer_start(&v->timer, tick_time(next), BPF_F_TIMER_ABS | BPF_F_TIMER_CPU_PIN);
	if (err)
		lose(c, LOSS_TIMER);
	return err;
}

/* Runs as a softirq, so with interrupts on, in whatever thread was interrupted. */
static int on_tick(void *map, u32 *key, struct timer *v)
{
	struct core *c = this_core();

	if (!c || !control.period)
		return 0;
	sample(c, v->tick);
	set_timer(c, v);
	return 0;
}

/* Run once on every core, from user space. */
SEC("syscall")
int start_clock(void *ctx)
{
	u32 id = bpf_get_smp_processor_id();
	struct core *c = this_core();
	struct timer *v = bpf_map_lookup_elem(&timers, &id);
	int err;

	if (!c || !v || !control.period)
		return -1;
	err = bpf_timer_init(&v->timer, &timers, 1 /* CLOCK_MONOTONIC */);
	if (err && err != -16 /* EBUSY: it is */)
		return err;
	err = bpf_timer_set_callback(&v->timer, on_tick);
	if (err)
		return err;
	__sync_fetch_and_add(&control.cores, 1);
	return set_timer(c, v);
}

/* ---- interrupts, to tell their wake-ups from those of threads ---- */

SEC("tp_btf/hrtimer_expire_entry")
int BPF_PROG(on_hrtimer_entry)
{
	struct core *c = this_core();

	if (c)
		c->interrupts++;
	return 0;
}

SEC("tp_btf/hrtimer_expire_exit")
int BPF_PROG(on_hrtimer_exit)
{
	struct core *c = this_core();

	if (c && c->interrupts)
		c->interrupts--;
	return 0;
}

SEC("tp_btf/irq_handler_entry")
int BPF_PROG(on_irq_entry)
{
	struct core *c = this_core();

	if (c)
		c->interrupts++;
	return 0;
}

SEC("tp_btf/irq_handler_exit")
int BPF_PROG(on_irq_exit)
{
	struct core *c = this_core();

	if (c && c->interrupts)
		c->interrupts--;
	return 0;
}

#define SOFTIRQ_NET_RX 3 /* not in the UAPI */

/*
 * Loopback packets are received in a softirq that runs at once, in the sender:
 * what it wakes the sender wakes. Other packets come with an interrupt.
 */
static __always_inline bool delivers_loopback(struct core *c, u32 vector)
{
	return vector == SOFTIRQ_NET_RX && c->sender && c->sender == (u32)bpf_get_current_pid_tgid();
}

SEC("tp_btf/softirq_entry")
int BPF_PROG(on_softirq_entry, u32 vector)
{
	struct core *c = this_core();

	if (c && !delivers_loopback(c, vector))
		c->interrupts++;
	return 0;
}

SEC("tp_btf/softirq_exit")
int BPF_PROG(on_softirq_exit, u32 vector)
{
	struct core *c = this_core();

	if (!c)
		return 0;
	if (delivers_loopback(c, vector))
		c->sender = 0;
	else if (c->interrupts)
		c->interrupts--;
	return 0;
}

SEC("tp_btf/netif_rx")
int BPF_PROG(on_netif_rx)
{
	struct core *c = this_core();

	if (c && !c->interrupts && thread_of(bpf_get_current_task_btf()))
		c->sender = (u32)bpf_get_current_pid_tgid();
	return 0;
}

/* ---- blocking, waking, running ---- */

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	struct core *c = this_core();
	struct thread *p, *n;
	u64 now;

	if (!c)
		return 0;
	now = bpf_ktime_get_ns();
	/* A core in interrupts does not switch: mend a count gone wrong. */
	c->interrupts = 0;
	p = prev->pid ? thread_of(prev) : 0;
	n = next->pid ? thread_of(next) : 0;
	adopt_core(c);
	if (p) {
		adopt(p);
		if (!preempt && prev->__state) {
			hand_over(p, prev, now, BY_SLEEPING);
		} else {
			earn(p, now);
			credit_pause(&p->credit, now);
		}
		p->account.since = now;
		p->running = 0;
		/*
		 * What the thread was given while it ran the core was given, too.
		 * The core does not take on the thread's position: one that is far
		 * ahead (it slept, and timers are not delayed) leaves a gap behind
		 * that others may fill.
		 */
		if (p->account.level > c->began)
			c->account.level = lesser(c->account.level + p->account.level - c->began, control.global);
	} else if (!prev->pid) {
		/* It stood idle: its position did not move. */
		c->account.level = account_waited(&c->account, now, control.global);
	} else {
		/* A foreign task takes its time in both worlds. */
		if (c->foreign_since)
			c->foreign += now - c->foreign_since;
	}
	if (n) {
		adopt(n);
		n->account.level = account_waited(&n->account, now, c->account.level);
		c->began = n->account.level;
		n->credit.began = now;
		n->running = 1;
	} else if (!next->pid) {
		c->account.since = now;
	} else {
		c->foreign_since = now;
	}
	return 0;
}

SEC("tp_btf/sched_waking")
int BPF_PROG(on_waking, struct task_struct *task)
{
	struct core *c = this_core();
	struct thread *t, *waker;
	u64 now;

	if (!c)
		return 0;
	t = thread_of(task);
	if (!t)
		return 0;
	now = bpf_ktime_get_ns();
	adopt(t);
	waker = c->interrupts ? 0 : thread_of(bpf_get_current_task_btf());
	if (waker == t)
		return 0;
	if (waker) {
		c->wakes++;
		adopt(waker);
		hand_over(waker, bpf_get_current_task_btf(), now, BY_WAKING);
		if (t->running)
			/* Caught on its way to sleep: it has not waited. */
			t->account.level = lesser(t->account.level, waker->account.level);
		else
			t->account.level = account_waited(&t->account, now, waker->account.level);
	} else {
		/*
		 * By a timer, a device or a stranger: what comes from outside
		 * keeps its distance, so the position moved with the clock.
		 */
		c->outside_wakes++;
	}
	t->account.since = now;
	return 0;
}

/* ---- progress points ---- */

/*
 * The cookie of a probe is its point, and which of the two costs it has: a probe
 * delays the thread that runs into it by that, and that is booked like any other
 * delay. So what the probes cost does not show in the program's virtual time.
 */
SEC("uprobe")
int on_point(struct pt_regs *ctx)
{
	struct thread *t = thread_of(bpf_get_current_task_btf());
	u64 cookie = bpf_get_attach_cookie(ctx), point = cookie & 0xffffffff, now, at, had, bin;

	if (!t || point >= MAX_POINTS)
		return 0;
	__sync_fetch_and_add(&visits[point], 1);
	now = bpf_ktime_get_ns();
	if (!under_way(now))
		return 0;
	adopt(t);
	earn(t, now);
	/* Stamped with the thread's virtual time since the start. */
	at = now - control.start;
	had = t->account.level - control.global_start;
	bin = (at > had ? at - had : 0) >> control.bin_shift;
	if (bin < MAX_BINS)
		__sync_fetch_and_add(&bins[control.epoch & 1][point][bin], 1);
	t->account.level += control.probe_cost[cookie >> 32 & 1];
	raise_global(t->account.level);
	return 0;
}
