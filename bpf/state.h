/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/* What the programs share: the page that user space sees, the threads of the target and what they earn. */
#ifndef WHATIF_STATE_H
#define WHATIF_STATE_H

volatile struct control_page control;
LARGE struct core cores[MAX_CPUS];
LARGE u64 unit_samples[MAX_UNITS]; /* in parts */
LARGE struct waits unit_waits[MAX_UNITS];
/* Visits by virtual time; the experiment's parity chooses the half. */
LARGE u32 bins[2][MAX_POINTS][MAX_BINS];
u64 visits[MAX_POINTS];
u64 spent[MAX_POINTS]; /* ns, on counting them */
/* The points, a bit each, that a system call visits: when it begins, and when it is over. */
u32 calls[2][MAX_CALLS];
struct span_point span_points[MAX_POINTS];
struct span_ends span_ends[MAX_SPANS];
/* What one place of the source visits: a bit for each point. Filled by user space, from SET_EMPTY + 1 on. */
u32 point_sets[MAX_SETS];
/* Durations; the experiment's parity chooses the half. */
u32 span_bins[2][MAX_SPANS][SPAN_BINS];
struct span_counts span_counts[2][MAX_SPANS];
/* How many were in between at ticks, by virtual time: twice that, + 1; 0: not known. */
LARGE u32 span_samples[2][MAX_SPANS][MAX_BINS];
u64 span_strangers[MAX_SPANS]; /* ends without a begin: begun before that could be seen */

static __always_inline void count_sample(u32 unit)
{
	barrier_var(unit); /* or what the verifier saw checked is not what is used */
	__sync_fetch_and_add(&unit_samples[unit & (MAX_UNITS - 1)], control.parts);
}

#include "chains.h"

/* Nothing is attached to the scheduler or to interrupts: nobody knows who deals with the target. */
SETTING samples_only = 0;

/* Nothing is compared: nothing is a delay, so nobody owes anything. */
SETTING nobody_pays = 0;

SETTING page_shift = 12; /* of the machine's pages */
SETTING possible_cores = MAX_CPUS; /* numbers that cores may have */

#define NO_CORE 0xffffffffu

/* Where in virtual time something began; at is 0 if nothing did. */
struct begun {
	u64 at;
	u64 ahead; /* of official virtual time, by what the thread owed */
	u32 epoch; /* the experiment's number, half of it: kernels before 6.3 have little stack */
	u32 by;    /* the thread */
};

/* What ended the waits that began at a place. */
struct habit {
	u64 place;
	u8 ends[WAIT_CLASSES];
};
#define HABITS 8 /* a power of two: threads wait at few places */

/* The thread waits. */
struct wait {
	u64 since; /* 0: it does not, or is not followed */
	u32 unit;  /* of the code that it waits in; 0: none, or not looked at */
	u8 expected; /* a class */
	u8 counted;  /* among those that wait in the unit, and of the class */
	u8 habit;
	u8 ended; /* 1 + the class that it was of, until the thread runs */
	u8 stopped; /* as it began */
};

enum held_for {
	HOLD_NOT,
	HOLD_SLEEPER,
	HOLD_EXPIRED, /* its timeout has run out */
};

/* Sleeps of a thread at one place that the clock ended: see timekeepers.h. */
struct naps {
	u64 place;
	u32 all;     /* halved, as those below, when they are NAPS_FULL */
	u32 errands; /* of them: it has let another go on at once */
	u32 worked;  /* of the others: it has not just looked, and slept again at the same place */
	u32 plain;   /* the last one was in a call that is for sleeping, and for nothing that may come earlier */
};
#define NAPS 4 /* a power of two: goroutines of several places share a thread */

/* What a thread does comes too soon, and too often, in virtual time. */
enum soon {
	SOON_NOT,
	SOON_BY_ANOTHER, /* who let it go on is one of the next */
	SOON_BY_ITSELF,  /* it slept by the clock and was let off what it owed: see let_off_sleeper */
};

/* A thread of the target: that it has one makes it one. */
struct thread {
	/* What most switches need comes first: it is in few cache lines. */
	struct account account;
	u64 lead; /* of what it owes, that is not paid: see strangers.h */
	struct credit credit;
	struct waiting waiting; /* busily */
	u64 spared; /* by how much its level has grown on cores, as in_turns: running that took no virtual time */
	u32 running;
	u32 core;   /* that it was last on; NO_CORE: it competes for none */
	u32 hold; /* an enum held_for: why it is to be held, since it was last woken */
	u32 timed; /* it was last woken by a timer */
	u32 too_soon; /* an enum soon */
	u32 given; /* it was given that sleep, as what it slept in is sped up */
	u32 again; /* how often in a row it has slept, looked, and slept again: see waits_on */
	u32 sped; /* it was last woken by a timer, from a sleep that is sped up, and has not gone on since */
	u32 sleepless; /* in virtual time it has not gone to sleep since it last had a core */
	u32 strays; /* rows since that were too short to tell */
	u64 stands; /* since when it has waited so; 0: it was last woken by others, or ran */
	u64 excused; /* of what it owes, if it goes on by itself: see go_on */
	u64 made_at; /* the position at which what it then finds was made, on average: see found_late; 0: it does not look for any */
	u64 others_at; /* the position of those that ran, or had until then, as it looked last */
	u64 polls_at; /* the place at which it was last seen to poll; 0: none */
	u64 worked_since; /* since when it has waited at one place but for what it did when timeouts ran out; 0: it has not */
	u64 fired;        /* the position at which the last of these ran out */
	u64 let_go_at;    /* the place at which others have ended such a wait; 0: none */
	u32 fires;        /* timeouts since they did */
	struct naps naps[NAPS];
	u32 awake;   /* 1 + from which of them, and has let nobody go on yet; 0: from none */
	u32 held;    /* it is being held, see hold.h */
	u32 leaving; /* it is let go: see leaving.h */
	u64 address_space; /* numbered: changes with every exec and fork */
	u64 memory; /* the memory descriptor that this is about; 0: whatever it has */
	u64 code_pages; /* that its process had mapped when they were looked at */
	u32 born;    /* a process by a fork: see on_fault */
	u32 present; /* it was there before it was watched */
	u32 lost;    /* there was no room for its process's counters */
	u32 guest;   /* its process runs in another's memory, and is no user of its counters */
	u32 hosts;   /* goroutines that sleep */
	u32 by_goroutine; /* the key of the visit that it makes is its goroutine */
	u32 earns;   /* in this experiment its samples have earned it something */
	u32 late;    /* samples that are put off, a bit each: see late.h */
	u32 last_late; /* 1 + which the last sample is; 0: it is not put off */
	struct begun begun[MAX_SPANS];
	u64 free; /* its position when it last woke up, or began or ended a request; 0: it sleeps */
	struct kinds kinds;
	struct kind usual; /* of all kinds together */
	u64 family; /* 0: it was not born into the target */
	struct wait wait;
	struct habit habits[HABITS];
	s64 early; /* by how much too early it answers, on average: see answers.h */
	u32 goroutine; /* it runs one that it was seen to begin with */
	struct account left; /* as its last goroutine left it; since 0: it has had another since */
	u32 brings; /* the goroutine that it finds is to be held: the thread was woken from outside to look for one */
	u64 rested; /* while it had no goroutine to run: set against what it owes when it has one */
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct thread);
} threads SEC(".maps");

/*
 * What is known of the kinds of stretches of threads and processes that were made at one place by one process: who
 * lives for a request learns nothing that it has use for, but those after it do the same.
 */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1 << 11);
	__type(key, u64);
	__type(value, struct kinds);
} families SEC(".maps");

static const struct kinds nothing_known;

struct membership membership;

/* Live processes of the target, to know when the last one is gone; and those exempt. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1 << 16);
	__type(key, u32);
	__type(value, struct process);
} processes SEC(".maps");

/* By their numbers in whatif's namespace. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1 << 16);
	__type(key, u32);
	__type(value, struct choice);
} chosen SEC(".maps");

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
	u64 stamp; /* see stamp_of */
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
enum wait_class wait_class_type __attribute__((unused));
enum loss loss_type __attribute__((unused));
enum cost cost_type __attribute__((unused));
enum go_moment go_moment_type __attribute__((unused));
enum limit limit_type __attribute__((unused));
enum shared_number shared_number_type __attribute__((unused));
enum span_role span_role_type __attribute__((unused));
enum event_kind event_kind_type __attribute__((unused));
enum file_state file_state_type __attribute__((unused));
enum object_state object_state_type __attribute__((unused));
const struct source_table *source_table_type __attribute__((unused));
const struct named *named_type __attribute__((unused));
enum membership_mode membership_mode_type __attribute__((unused));
const struct name_answer *name_answer_type __attribute__((unused));

enum hand_over {
	BY_SLEEPING,
	BY_WAKING,
	BY_FORKING,
	BY_VISITING, /* a request begins or ends: what the thread deserves for it must be known */
};

static u64 spaces; /* address spaces numbered so far */
#define SPACE_KERNEL 0 /* none of theirs */

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

/*
 * For pointers in a task: what is read through this one is not trusted. Of each that is read through one that is trusted the verifier asks whether that is,
 * too, by names that it looks for among all of the kernel's types, which was a quarter of a start. Since 6.2.
 */
static __always_inline struct task_struct *untrusted(struct task_struct *task)
{
	return bpf_rdonly_cast ? bpf_rdonly_cast(task, bpf_core_type_id_kernel(struct task_struct)) : task;
}

static __always_inline struct mm_struct *memory_of(struct task_struct *task)
{
	return untrusted(task)->mm;
}

static __always_inline struct thread *thread_of(struct task_struct *t)
{
	return bpf_task_storage_get(&threads, t, 0, 0);
}

static __always_inline struct process *process_of(struct task_struct *task)
{
	u32 tgid = task->tgid;

	return bpf_map_lookup_elem(&processes, &tgid);
}

/* Tasks that run no user's code, and of which no hook tells when they are made. */
static __always_inline bool is_kernels(struct task_struct *task)
{
	return task->flags & (PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER);
}

/*
 * A number with the second, about, behind it: what is only now and then looked at anew, of whatever has the
 * number, is at most once in each.
 */
static __always_inline u64 stamp_of(u64 number)
{
	return number << 32 | (u32)(bpf_ktime_get_ns() >> 30);
}

/* What it costs to come to a probe's program, by the probe's cookie. */
static __always_inline u64 cost_of(u64 cookie)
{
	return control.probe_cost[cookie >> 32 & (COST_MAX - 1)];
}

/* User space has not been heard of for too long: nothing is done in its name. */
static __always_inline bool lapsed(u64 now)
{
	return now >= control.lease;
}

static __always_inline bool under_way(u64 now)
{
	return now < control.deadline && !lapsed(now);
}

/* No stop is longer, whatever the period: meanwhile the core serves no packet, no timer and no other thread. */
#define LONGEST_STOP_NS 20000000

/* When a stop ends that begins now, at the latest. */
static __always_inline u64 stop_end(u64 now)
{
	u64 end = now + lesser(LONGEST_STOP * control.cap, LONGEST_STOP_NS);

	return lesser(end, lesser(control.deadline, control.lease));
}

static __always_inline void adopt_core(struct core *c)
{
	if (c->account.epoch != control.epoch) {
		c->began = control.global_start;
		c->spared = c->measure = 0;
		c->evened = control.evened;
	}
	account_adopt(&c->account, control.epoch, control.start, control.global_start);
}

/* What the thread has to pay. */
static __always_inline u64 debt_of(const struct thread *t, u64 level)
{
	return account_debt(level + t->lead, control.global);
}

/* It waits for nothing any more, or for something else. */
static __always_inline void stands_no_more(struct thread *t)
{
	t->stands = t->excused = t->made_at = t->again = t->sped = 0;
}

/* Another lets it go on: since it stands so it has waited for that. */
static __always_inline void stood_until_now(struct thread *t)
{
	if (t->stands)
		t->account.since = t->stands;
	stands_no_more(t);
}

/* What it has, and owes, of an experiment that is over ends. */
static __always_inline void begin_anew(struct thread *t)
{
	/* Who does not run has run until then. */
	u64 until = t->running && t->credit.began < control.start ? control.start : t->credit.began;

	t->lead = 0;
	t->rested = 0;
	t->waiting.left = 0;
	stands_no_more(t);
	t->spared = 0;
	t->earns = 0;
	t->too_soon = 0;
	credit_begin(&t->credit, until);
	t->credit.carry = t->credit.still = t->early = 0;
	t->worked_since = 0;
	t->credit.last = SIDE_UNKNOWN; /* the unit is another */
}

static __always_inline void adopt(struct thread *t)
{
	if (t->account.epoch != control.epoch)
		begin_anew(t);
	account_adopt(&t->account, control.epoch, control.start, control.global_start);
}

/* The soon of whom one lets go on. */
static __always_inline u32 soon_by(u32 soon)
{
	return soon == SOON_BY_ITSELF ? SOON_BY_ANOTHER : SOON_NOT;
}

/* A sample of the thread's in that unit. */
static __always_inline void count_too_soon(struct core *c, const struct thread *t, u32 unit)
{
	if (unit && unit == control.unit && t->too_soon)
		c->too_soon += control.parts;
}

/* G never falls, and is the largest level that a sample has made. By how much it was raised. Not static: as step_out. */
__noinline u64 raise_global(u64 level)
{
	u64 g = control.global;

	for (int i = 0; i < 8 && g < level; i++) {
		u64 old = __sync_val_compare_and_swap(&control.global, g, level);
		if (old == g)
			return level - g;
		g = old;
	}
	return 0;
}

/* The number that a process has for user space. */
static __always_inline u32 number_of(struct task_struct *task)
{
	struct task_struct *leader = untrusted(task)->group_leader;
	struct pid *pid;
	u32 level = membership.level, number = 0, outermost = task->tgid;

	barrier_var(outermost); /* or one load is made for both, of two kinds of memory */
	if (!level)
		return outermost;
	pid = BPF_CORE_READ(leader, thread_pid);
	if (pid && level <= BPF_CORE_READ(pid, level))
		bpf_probe_read_kernel(&number, sizeof(number),
				      (void *)pid + bpf_core_field_offset(struct pid, numbers) +
					      level * bpf_core_type_size(struct upid) + bpf_core_field_offset(struct upid, nr));
	return number;
}

/* About the current process. */
static __always_inline bool tell(u32 kind, u64 address, const struct place *place)
{
	struct event *e = bpf_ringbuf_reserve(&events, sizeof(*e), 0);

	if (!e) {
		lose(this_core(), LOSS_EVENT);
		return 0;
	}
	e->kind = kind;
	e->tgid = number_of(bpf_get_current_task_btf());
	e->address = address;
	if (place)
		e->place = *place;
	else
		__builtin_memset(&e->place, 0, sizeof(e->place));
	/* By itself the ring wakes only whoever has read all that came before. */
	bpf_ringbuf_submit(e, !control.patient ? 0 : kind == EVENT_PLACE || kind == EVENT_TABLE ? BPF_RB_NO_WAKEUP : BPF_RB_FORCE_WAKEUP);
	return 1;
}

#endif
