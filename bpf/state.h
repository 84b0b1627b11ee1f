/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/*
 * What the programs share: the page that user space sees, the target's threads and their accounts.
 */
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
/* The points, a bit each, that a system call visits when it begins and when it ends. */
u32 calls[2][MAX_CALLS];
struct span_point span_points[MAX_POINTS];
struct span_ends span_ends[MAX_SPANS];
/*
 * The points, a bit each, that one place in the source visits. User space fills them, from
 * SET_EMPTY + 1 on.
 */
u32 point_sets[MAX_SETS];
/* Durations; the experiment's parity chooses the half. */
u32 span_bins[2][MAX_SPANS][SPAN_BINS];
struct span_counts span_counts[2][MAX_SPANS];
/* Requests in progress at ticks, by virtual time: twice their number, + 1; 0: not known. */
LARGE u32 span_samples[2][MAX_SPANS][MAX_BINS];
u64 span_unbegun[MAX_SPANS]; /* ends without a begin: they began before begins could be seen */

static __always_inline void count_sample(u32 unit)
{
	/* or the compiler uses another copy than the one that the verifier saw checked */
	barrier_var(unit);
	__sync_fetch_and_add(&unit_samples[unit & (MAX_UNITS - 1)], control.parts);
}

#include "chains.h"

/*
 * Nothing is attached to the scheduler or to interrupts, so it is unknown which tasks talk to the
 * target.
 */
SETTING samples_only = 0;

/* Nothing is compared: nothing is a delay, and no thread owes anything. */
SETTING nobody_pays = 0;

SETTING page_shift = 12; /* of the machine's pages */
SETTING possible_cores = MAX_CPUS; /* the largest number of a core, + 1 */

#define NO_CORE 0xffffffffu

/* A position in virtual time at which something began; at is 0 if nothing did. */
struct begun {
	u64 at;
	u64 ahead; /* of official virtual time: what the thread owed */
	/* the lower half of the experiment's number: kernels before 6.3 have little stack */
	u32 epoch;
	u32 by;    /* the thread's number */
};

/* What has ended the waits that began at a place. */
struct habit {
	u64 place;
	u8 ends[WAIT_CLASSES];
};
#define HABITS 8 /* a power of two: threads wait at few places */

/* A thread's current wait. */
struct wait {
	u64 since; /* 0: it does not wait, or the wait is not followed */
	u32 unit;  /* of the code that waits; 0: none, or not looked up */
	u8 expected; /* a class of waiting */
	u8 counted;  /* it is included in the counts of the unit and of the class */
	u8 habit;
	u8 ended; /* 1 + the class of the wait, from its end until the thread runs */
	u8 stopped; /* the thread was stopped when the wait began */
};

enum delay_kind {
	DELAY_NONE,
	DELAY_SLEEPER,
	DELAY_TIMEOUT, /* its timeout has ended */
};

/* A thread's sleeps at one place that the clock has ended: see periodic.h. */
struct timed_sleeps {
	u64 place;
	u32 all;     /* this and the next two are halved when it is SLEEPS_FULL */
	u32 handoffs; /* of them: the thread soon woke another one */
	u32 worked;  /* of the others: the thread did more than poll */
	u32 plain;   /* the last one was in a call that only sleeps */
};
#define SLEEP_PLACES 4 /* a power of two: goroutines of several places share a thread */

/* What a thread does comes too soon, and so too often, in virtual time. */
enum soon {
	SOON_NOT,
	SOON_BY_ANOTHER, /* a thread of the next kind has woken it */
	SOON_BY_ITSELF,  /* it slept by the clock and its debt was forgiven: see forgive_periodic */
};

/* A thread of the target. A task that has this storage belongs to the target. */
struct thread {
	/* What most switches need comes first, in few cache lines. */
	struct account account;
	u64 lead; /* the part of its debt that is not paid: see outsiders.h */
	struct credit credit;
	struct spin spin; /* busily */
	/* how much its level has grown on cores, by in_turns: running that took no virtual time */
	u64 share_used;
	u32 running;
	u32 core;   /* that it last ran on; NO_CORE: it competes for none */
	u32 delay_kind; /* an enum delay_kind: why its return will be delayed, since it was last woken */
	u32 by_timer; /* a timer was the last to wake it */
	u32 too_soon; /* an enum soon */
	u32 sleep_sped_up; /* the last sleep has earned it something, as it slept in what is sped up */
	u32 polls; /* how often in a row it has slept, polled and slept again: see continue_poll */
	/* a timer has woken it from a sleep that is sped up, and it has not continued since */
	u32 polls_sped_up;
	u32 would_not_sleep; /* in virtual time it has not gone to sleep since it last had a core */
	u32 short_polls; /* rows of polls since that were too short to tell */
	/* since when it has waited by polling; 0: another thread has woken it, or it ran */
	u64 polling_since;
	u64 poll_debt; /* forgiven if it continues without a wake-up: see finish_poll */
	/*
	 * the mean position at which what it would then find was made, see expected_find_delay; 0:
	 * it looks for nothing
	 */
	u64 found_position;
	u64 others_position; /* the mean position of the other running threads at its last poll */
	u64 poll_place; /* the place at which it was last seen to poll; 0: none */
	/*
	 * since when it has waited at one place, not counting its work after timeouts; 0: it has
	 * not
	 */
	u64 timeouts_since;
	u64 timeout_position;        /* the position at which the last of these timeouts ended */
	u64 woken_place;    /* the place at which another thread has ended such a wait; 0: none */
	u32 timeouts;        /* timeouts since then */
	struct timed_sleeps sleeps[SLEEP_PLACES];
	/*
	 * 1 + the index of the sleep that it has returned from, until it wakes another thread; 0:
	 * none
	 */
	u32 pending_sleep;
	u32 delayed;    /* it is delayed before it returns, see return_delay.h */
	u32 leaving; /* it leaves the target: see leaving.h */
	u64 address_space; /* a number of whatif's own, which changes with every exec and fork */
	u64 memory; /* the memory descriptor that this is about; 0: any */
	u64 code_pages; /* of its process, when they were last looked at */
	u32 forked;    /* its process was forked and its numbers are not read yet: see on_fault */
	u32 preexisting; /* it ran before whatif came */
	u32 uncounted;    /* its process has no counters for lack of room */
	u32 guest;   /* its process runs in another one's memory, and does not use its counters */
	u32 hosts_goroutines;   /* it has run goroutines that sleep */
	u32 by_goroutine; /* the key of the visit that it makes is its goroutine */
	u32 earns;   /* in this experiment its samples have earned it something */
	u32 deferred;    /* deferred samples, a bit each: see deferred.h */
	u32 last_deferred; /* 1 + the index of its last sample, if that is deferred */
	struct begun begun[MAX_SPANS];
	u64 available_since; /* its position when it last woke up, or began or ended a request; 0: it sleeps */
	struct kinds kinds;
	struct kind usual; /* all kinds of segments together */
	u64 family; /* 0: it was not forked within the target */
	struct wait wait;
	struct habit habits[HABITS];
	s64 reply_lead; /* how much too early it replies, on average: see replies.h */
	u32 goroutine; /* it runs a goroutine that it was seen to begin with */
	struct account idle_account; /* as its last goroutine left it; since 0: it runs another one */
	/*
	 * the goroutine that it finds next is to be delayed: something outside the target has woken
	 * it
	 */
	u32 delays_next;
	/* time for which it had no goroutine to run; set against its debt when it has one */
	u64 host_idle;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct thread);
} threads SEC(".maps");

/*
 * What is known of the segment kinds of threads that one process has made at one place. A thread
 * that lives for one request learns nothing that it can use, but the next ones do the same.
 */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1 << 11);
	__type(key, u64);
	__type(value, struct kinds);
} families SEC(".maps");

static const struct kinds nothing_known;

struct membership membership;

/* Live processes of the target, to know when the last one is gone, and exempt processes. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1 << 16);
	__type(key, u32);
	__type(value, struct process);
} processes SEC(".maps");

/* By process number in whatif's namespace. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1 << 16);
	__type(key, u32);
	__type(value, struct choice);
} chosen SEC(".maps");

/* The unit of each place, or its chain. User space fills it as places are sampled. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1 << 20);
	__type(key, struct place);
	__type(value, u32);
} places SEC(".maps");

/* The same by address, with the rule for the caller: a frame costs one look-up. */
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

/* Types without a map or variable, kept for the generated Go. */
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
	/* a request begins or ends, so what the thread deserves for it must be known */
	BY_VISITING,
};

static u64 spaces; /* the last number given to an address space */
#define SPACE_KERNEL 0 /* for the kernel's own code */

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
 * Reads through this pointer are not trusted. For each read through a trusted one the verifier
 * looks for up to four names among all kernel types, which was a quarter of the start-up time.
 * Since 6.2.
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

/* Tasks that run no user's code, and whose making no hook tells. */
static __always_inline bool is_kernels(struct task_struct *task)
{
	return task->flags & (PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER);
}

/*
 * A number that changes once a second, about: something that is checked now and then is checked at
 * most once for each such number.
 */
static __always_inline u64 stamp_of(u64 number)
{
	return number << 32 | (u32)(bpf_ktime_get_ns() >> 30);
}

/* The time that a probe takes to reach its program, by the probe's cookie. */
static __always_inline u64 cost_of(u64 cookie)
{
	return control.probe_cost[cookie >> 32 & (COST_MAX - 1)];
}

/* User space has not renewed its lease: nothing may be done for it. */
static __always_inline bool lapsed(u64 now)
{
	return now >= control.lease;
}

static __always_inline bool under_way(u64 now)
{
	return now < control.deadline && !lapsed(now);
}

/*
 * No stop is longer, whatever the period: the core serves no packet, no timer and no other thread
 * meanwhile.
 */
#define LONGEST_STOP_NS 20000000

/* When a stop that begins now must end. */
static __always_inline u64 stop_end(u64 now)
{
	u64 end = now + lesser(LONGEST_STOP * control.cap, LONGEST_STOP_NS);

	return lesser(end, lesser(control.deadline, control.lease));
}

static __always_inline void core_enter_experiment(struct core *c)
{
	if (c->account.epoch != control.epoch) {
		c->began_level = control.global_start;
		c->share_max = c->earner_share_max = 0;
		c->fairness_settled = control.fairness_growth;
	}
	account_enter_experiment(&c->account, control.epoch, control.start, control.global_start);
}

/* What the thread has to pay. */
static __always_inline u64 debt_of(const struct thread *t, u64 level)
{
	return account_debt(level + t->lead, control.global);
}

/* It has found what it polled for, or polls for something else. */
static __always_inline void stop_polling(struct thread *t)
{
	t->polling_since = t->poll_debt = t->found_position = t->polls = t->polls_sped_up = 0;
}

/* Another thread wakes it: it has waited for that since it began to poll. */
static __always_inline void polled_until_now(struct thread *t)
{
	if (t->polling_since)
		t->account.since = t->polling_since;
	stop_polling(t);
}

/* Forgets what it has and owes of an experiment that is over. */
static __always_inline void forget_experiment(struct thread *t)
{
	/* A thread that does not run has run until began. */
	u64 until = t->running && t->credit.began < control.start ? control.start : t->credit.began;

	t->lead = 0;
	t->host_idle = 0;
	t->spin.left = 0;
	stop_polling(t);
	t->share_used = 0;
	t->earns = 0;
	t->too_soon = 0;
	credit_begin(&t->credit, until);
	t->credit.carry = t->credit.request_due = t->reply_lead = 0;
	t->timeouts_since = 0;
	t->credit.last = SIDE_UNKNOWN; /* the unit is another */
}

static __always_inline void enter_experiment(struct thread *t)
{
	if (t->account.epoch != control.epoch)
		forget_experiment(t);
	account_enter_experiment(&t->account, control.epoch, control.start, control.global_start);
}

/* The value for a thread that is woken by one with this value. */
static __always_inline u32 too_soon_by(u32 soon)
{
	return soon == SOON_BY_ITSELF ? SOON_BY_ANOTHER : SOON_NOT;
}

/* Counts a sample of the thread in this unit, if the thread comes too soon. */
static __always_inline void count_too_soon(struct core *c, const struct thread *t, u32 unit)
{
	if (unit && unit == control.unit && t->too_soon)
		c->too_soon += control.parts;
}

/* Raises G to a level. G never falls. Gives by how much it was raised. */
SUBPROGRAM u64 raise_global(u64 level)
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

/* The number that user space has for a process. */
static __always_inline u32 number_of(struct task_struct *task)
{
	struct task_struct *leader = untrusted(task)->group_leader;
	struct pid *pid;
	u32 level = membership.level, number = 0, outermost = task->tgid;

	/* or one load serves both uses, and they are of two kinds of memory */
	barrier_var(outermost);
	if (!level)
		return outermost;
	pid = BPF_CORE_READ(leader, thread_pid);
	if (pid && level <= BPF_CORE_READ(pid, level))
		bpf_probe_read_kernel(&number, sizeof(number),
				      (void *)pid + bpf_core_field_offset(struct pid, numbers) +
					      level * bpf_core_type_size(struct upid) + bpf_core_field_offset(struct upid, nr));
	return number;
}

/* Tells user space something about the current process. */
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
	/* By itself the ring wakes only a reader who has read everything before. */
	bpf_ringbuf_submit(e, !control.patient ? 0 : kind == EVENT_PLACE || kind == EVENT_TABLE ? BPF_RB_NO_WAKEUP : BPF_RB_FORCE_WAKEUP);
	return 1;
}

#endif
