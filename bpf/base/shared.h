/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/*
 * What the BPF programs and user space share. It is the only definition: the Go types are generated
 * from it.
 */
#ifndef WHATIF_SHARED_H
#define WHATIF_SHARED_H

#include "../vtime/credit.h"
#include "../vtime/level.h"
#include "moments.h"
#include "places.h"

/*
 * What a place has instead of a unit when units depend on whole stacks: what code there means for
 * them.
 */
struct chain {
	u32 own;    /* the unit of a sample that is in none of the members; 0: none */
	u32 blamed; /* this code gets the sample's time, unless code further in is blamed */
	u32 first;  /* of its members, among the members of all chains */
	u32 members;
};

/*
 * A unit that code at a place can be part of: a function anywhere on the stack, or one that is
 * called from another. The unit is a row of functions, met from the inside out. Its state is how
 * many of them have been met. steps has 4 bits for each state, with the next state in them. later
 * is the same for places where code further in was blamed.
 */
#define STATE_MET 7 /* all of them */
struct member {
	u32 unit;
	u32 steps;
	u32 later;
};

/* How far a unit has come in a sample. */
struct progress {
	u32 sample;
	u32 state;
};

/* A unit that is sped up, and the weight of its time (vtime/weight.h). */
struct selected {
	u32 unit;
	u32 weight;
};

/* What a visit can cost, besides the counting itself. */
enum cost {
	COST_EMULATED, /* a probe on an instruction that the kernel emulates */
	COST_STEPPED,  /* or runs in a single step */
	COST_NOP,      /* or a long no-op: newer kernels emulate those, too */
	COST_RETURN,   /* a probe on a return, and on the entry as above */
	COST_RETURN_STEPPED,
	COST_MAX = 8,
};

/* The next field begins on a cache line of its own. */
#define CACHE_LINE __attribute__((aligned(64)))

/* Waiting in the code of one unit. */
struct waits {
	u64 ns[WAIT_CLASSES]; /* of waits that are over */
	u64 now; /* threads that wait now, where the wait is expected to count as the unit's time */
	u64 idle; /* from user space: its threads wait for work, and no wait is the unit's time */
};

/*
 * The experiment under way. User space writes it while deadline is 0, the kernel side reads it.
 * After the deadline nothing is earned, stopped or counted, whatever has become of user space. The
 * same holds after the lease, which user space renews for as long as its loop of experiments runs.
 */
struct control_page {
	u64 epoch;    /* number of the experiment, from 1 */
	u64 start;    /* when it began, on the monotonic clock */
	u64 deadline; /* when it ends; 0: no experiment is under way */
	/* user space promises to renew this; later it is stopped, hangs or is gone */
	u64 lease;
	u64 global_start; /* G when it began */
	/*
	 * the number of what is sped up, or may be next in a baseline; 0: nothing. For each number
	 * something else is known of the threads.
	 */
	u32 selection;
	u32 bin_shift;	  /* a bin of visits is 2^bin_shift ns wide */
	u64 period;	  /* P: between samples */
	/* the period that was asked for; ticks may come more often by now */
	u64 asked_period;
	u64 parts;		  /* of SAMPLE_PARTS: what one sample counts */
	u64 cap;		  /* most of an existing debt that one stop pays */
	u64 rate;  /* s, in units of 1/CREDIT_ONE: of what is sped up most */
	u64 scale; /* what s is, or may be next in a baseline: weights are relative to it */
	/* what the selection is, and the weight of its time; the rest is 0: */
	struct selected selected[MAX_SELECTED]; /* units */
	u32 selected_units;
	u32 code_weight;		/* of all code */
	u32 wait_weight[WAIT_CLASSES];	/* of waiting, whatever the unit */
	u64 seed;		  /* of the ticks' moments */
	u64 probe_cost[COST_MAX]; /* of a visit, by its enum cost */
	u64 tick_cost;	  /* what a tick takes on the mean of the cores, see struct core */
	u64 hook_cost[2]; /* of a visit: by a system call, at a tracepoint */
	u64 span_from;	  /* durations count from this moment of the experiment on */
	u32 exits;   /* the points, a bit each, that an ending process visits */
	u32 patient; /* user space polls for questions about code, so they do not wake it */
	/* the latencies, a bit each, with an end in the source, see sample_spans */
	u32 sampled_spans;
	/* some threads are delayed before they return from a system call (return_delay.h) */
	u32 delays_returns;
	/* these are all threads that something outside the target has woken */
	u32 delay_sleepers;
	u32 delay_timeouts; /* these are threads whose timeouts have ended */
	u32 delay_periodic; /* these are periodic threads (periodic.h) */
	/* goroutines that wait for each other are followed (goroutine_account.h) */
	u32 follows_goroutines;
	u32 unpinned;  /* the kernel cannot pin a timer to its core, see park */
	u32 sees_mode; /* the kernel does not count how deep preemption is off, see locks.h */
	/* G grows by s all the time, and nothing is sped up: see grow_for_placebo */
	u32 placebo;
	/* Written by the kernel side, on cache lines of its own. */
	u64 global CACHE_LINE;	  /* G */
	u64 fairness_growth;	  /* the part of G that fair turns have added, see fairness_debt */
	u64 orphaned;		  /* whatif is ending: nothing is done for it any more */
	u64 processes CACHE_LINE; /* live processes of the target */
	u64 ended;		  /* when one of them ended, last */
	u64 timeouts;		  /* ended while a thread of the target waited for another thread */
	/*
	 * how often periodic threads have been delayed or should have been: user space asks for
	 * return delays by it
	 */
	u64 periodic_seen;
	/* visits of goroutine probes by the target's threads: user space asks for their rate */
	u64 follow_visits;
	/* the same by other processes of the binary, which they cost as much */
	u64 follow_visits_others;
	u64 delayed_timeouts;	/* threads that are delayed after a timeout now */
	u64 arrived CACHE_LINE; /* the last tick << 16, and how many cores have come to it */
	u64 cores;		/* that come to that tick */
	u64 parked;   /* besides those: cores whose clock rests while they are idle, see park */
	u64 stopping; /* cores that are being stopped */
	u64 opened;   /* the last tick that any core has come to */
	u64 global_before;	     /* G as that tick began */
	u64 waited_until CACHE_LINE; /* G includes the waiting that is sped up until this moment */
	u64 waiting_grew;	     /* the last experiment in which waiting has made G grow */
	u64 waiting[WAIT_CLASSES];   /* threads that wait, by the class that is expected */
};

/*
 * Which processes belong to the target, besides those that its own fork. User space chooses what
 * the next pass over all tasks takes in.
 */
struct membership {
	u32 mode; /* enum membership_mode */
	u32 own;  /* whatif's own process, whose children do not inherit membership */
	/* depth of whatif's namespace of process numbers; user space speaks in those numbers */
	u32 level;
	u32 pad;
	/* Written by the kernel side: */
	u64 joined; /* threads that passes over all tasks have taken in */
	u64 missed; /* threads for which there was no memory */
};

enum membership_mode {
	MEMBERS_DESCEND,  /* only by fork, from the program that whatif started */
	MEMBERS_CHOSEN,	  /* and chosen processes, which ran before */
	MEMBERS_EVERYONE, /* every process that is not exempt */
};

/* What user space wants of the process with this number, if it is the one that started then. */
struct choice {
	u64 start;  /* in 10 ms since boot, as /proc has it; 0: any process with the number */
	u64 unique; /* as the process's pidfd has it; 0: not known */
	u32 leaves; /* the process with this first address space leaves the target */
	u32 fresh;  /* it has not run yet */
	u32 exempt; /* neither it nor its later threads are taken in */
	u32 pad;
};

/* A process that was taken in, or is exempt. */
struct process {
	u64 space; /* of its address space */
	/*
	 * the number of its first address space, which no other process of that number has; the
	 * lower half only, as kernels before 6.3 have little stack
	 */
	u32 first_space;
	u32 number; /* its process number for user space */
	u16 exempt;
	u16 goroutines; /* some of its goroutines have slept */
	s32 queued;	/* goroutines in run queues; those from the network are not counted */
};

/* What a progress point is to a latency: where it begins, or ends. */
enum span_role {
	SPAN_NONE,
	SPAN_BEGIN,
	SPAN_END,
};
struct span_point {
	u32 role;
	u32 span;
};
struct span_ends {
	u32 begin; /* points */
	u32 end;
};

/* What was seen of a latency in an experiment, without its first part. */
struct span_counts {
	u64 total;     /* durations in the bins, added up, ns */
	u64 unmatched; /* ends without a begin */
	u64 again;     /* begins while another one was open, which is then forgotten */
	u64 carried;   /* durations in the bins that began before the experiment */
	u64 unseen;    /* begins and ends that were only counted: their moments are unknown */
};

/* Everything that went wrong in the kernel, counted. */
enum loss {
	LOSS_NONE,
	LOSS_THREAD,  /* a thread of the target could not be given an account */
	LOSS_PROCESS, /* a process did not fit in the table of processes */
	LOSS_EVENT,   /* an event for user space did not fit in the ring */
	LOSS_STACK,   /* a sample's stack could not be followed to its end */
	LOSS_MAPPING, /* the mapping around an address could not be looked up */
	LOSS_CODE,    /* an address did not fit in the table of code */
	LOSS_CAPPED,  /* a stop was longer than the cap allows */
	LOSS_TIMER,   /* the next tick could not be set */
	LOSS_CPU,     /* a CPU beyond MAX_CPUS */
	/* a progress point of the source could not be counted: too many in its process, or names */
	LOSS_COUNTERS,
	LOSS_TABLE,	/* a sample's stack was followed up to code whose table was still to come */
	LOSS_SPAN,	/* a begin could not be remembered */
	LOSS_LAST,	/* a process ended and what it had counted last could not be read */
	LOSS_KERNEL,	/* what the kernel was doing at a tick could not be seen */
	LOSS_PLACE,	/* a sample was the first in its code, whose unit did not come in time */
	LOSS_GOROUTINE, /* a goroutine that sleeps did not fit in the table of those */
	LOSS_MAX,
};

/*
 * Where the level of the thread that runs on a core will turn out to be, if it continues as usual:
 * level + share * (now - since). See expected.h.
 */
struct expectation {
	u64 level;
	u64 since;	      /* 0: nothing is expected */
	u64 share;	      /* in parts of CREDIT_ONE */
	u64 booked;	      /* the thread's level with what is booked so far */
	u64 booked_by_others; /* what other cores have booked for it since */
};

/* A wait whose timeout has ended, while its thread is delayed. See return_delay.h. */
struct expired {
	/* the futex's address in user space; 0: none, or another thread has woken this one */
	u64 at;
	u64 process;
	u64 woken; /* another thread has woken it, at this level */
	u64 level;
	u64 lead;
};

/*
 * One core. Only the core itself writes it, except for expected.booked, expected.booked_by_others
 * and expired.
 */
struct core {
	struct account account CACHE_LINE; /* since: when it became idle */
	/*
	 * the account as it was when the running thread got the core; since 0: the core was not
	 * idle then
	 */
	struct account idle_account;
	u64 began_level; /* the running thread's level when it got the core */
	/*
	 * level plus lead of the last target thread on this core, as of its last switch, stop,
	 * return delay, tick or visit; 0: there was none, or it is polling
	 */
	u64 shown_level;
	u64 shown_left; /* when that thread left the core; 0: it runs */
	/* the largest share_used of the threads that compete for the core, see struct thread */
	u64 share_max;
	u64 earner_share_max; /* the same among threads that earn */
	/*
	 * control.fairness_growth, less the part that the running thread may still owe, see
	 * deferrable
	 */
	u64 fairness_settled;
	u64 foreign_since;
	u64 last_left; /* when a task last left it that is no kernel thread */
	/* since when tasks outside the target have it; 0: they do not, or it is idle */
	u64 away_since;
	u64 intruded; /* the part of that, ns, by tasks that have nothing to do with the target */
	u32 awaited;  /* a thread of the target was preempted for them */
	u32 pad;
	u64 debt;	/* of the thread that the last tick met */
	u32 interrupts; /* depth of interrupt and softirq handlers */
	u32 sender;	/* the thread that last put a packet on the loopback device */
	/* the last tick has met it in the kernel; known only with control.sees_mode */
	u32 in_kernel;
	/* the running thread is to be delayed before its system call returns */
	u32 return_delay_due;
	u32 receives; /* the interrupt depth at which packets from elsewhere are handled */
	/* what its interrupts are about, innermost first: an enum interrupt in 4 bits each */
	u32 source;
	u32 walks;   /* stacks followed; each walk is marked with its number */
	u64 samples; /* of the target, in parts */
	/*
	 * samples in the selected unit by threads that come too often in virtual time, see
	 * forgive_periodic
	 */
	u64 too_soon;
	u64 busy; /* samples of threads that wait busily */
	u64 stops;
	u64 stopped;  /* ns */
	u64 delayed;  /* ns, for which threads were delayed before they returned */
	u64 turns;    /* of the stopping loop */
	u64 turning;  /* ns in the stopping loop, without waiting for other cores */
	/*
	 * ns that a tick takes from the thread that it interrupts, besides samples and stops. User
	 * space measures it.
	 */
	u64 tick_cost;
	u64 sampling; /* ns that the last sample took from its thread */
	u64 ticked;   /* when its clock last ticked */
	u64 raised;   /* when the tick's interrupt came, until its softirq has run; else 0 */
	/* stops that had to wait because the kernel had preemption off, see locks.h */
	u64 stops_deferred;
	u64 unstopped_until;	/* where everyone is stopped: no stop before this moment */
	u64 passed[MAX_POINTS]; /* ns in the lines of sampled points since their last visit */
	/*
	 * ns, by samples, of tasks that are neither the target's nor whatif's and do not talk to
	 * the target
	 */
	u64 foreign;
	u64 dealt;		  /* ns, by switches, of tasks outside the target that talk to it */
	u64 wakes;		  /* of threads of the target */
	u64 hand_overs;		  /* a thread or a goroutine of it let another one go on */
	u64 network_wakes;	  /* those that a packet from another machine caused */
	u64 waited[WAIT_CLASSES]; /* ns of waits that ended here, summed over threads */
	u64 changes[WHY_MAX];	  /* of its threads' levels, ns: the sum for each reason */
	u64 lost[LOSS_MAX];
	struct expectation expected;
	struct expired expired; /* of the thread that is delayed here */
};

/*
 * What is known of a place: a unit (or chain), or one of these numbers; besides it a flag and, from
 * UNIT_POINT_SHIFT on, 1 + the sampled point whose line it is (0: none).
 */
#define UNIT_NONE 0		 /* out of scope: look at the caller */
#define UNIT_PENDING 0x7fffffffu /* user space has been asked */
#define UNIT_SPINS 0x80000000u	 /* flag: the instruction is in a busy-waiting loop */
#define UNIT_POINT_SHIFT 24
#define UNIT_NUMBER 0xffffffu

/* For user space, which gets no macros. */
enum shared_number {
	NUMBER_CREDIT_ONE = CREDIT_ONE,
	NUMBER_WEIGHT_ONE = WEIGHT_ONE,
	NUMBER_SAMPLE_PARTS = SAMPLE_PARTS,
	NUMBER_STATE_MET = STATE_MET,
	NUMBER_UNIT_POINT_SHIFT = UNIT_POINT_SHIFT,
	NUMBER_GENERATED = 0x7fffffff, /* the numbers of no device */
	NUMBER_BYTECODE = 0x7ffffffe,
};

/*
 * Progress points in the program's source count in the program's own memory (whatif.h, point/,
 * rust/whatif, and coz/ for programs with COZ's macros). A point's visits are the sum of some
 * numbers, each on a cache line of its own. Behind the first is a mark: memory without it is
 * something else by now.
 */
#define COUNTER_MARK 0x9d3f5a41c6e27b18ull
#define COUNTER_MARK_AT 16 /* bytes after the first number */
#define COUNTER_STRIDE 64
#define MAX_SHARDS 16

/* One point of a file, by the address that the file gives it. */
struct source {
	u64 address;
	u64 site;   /* address of the instruction that is passed before each visit */
	u32 set;    /* of points that it visits */
	u32 shards; /* 0: it is a table */
	u32 value;  /* the index of its number, or of its first one, among those of the file */
	u32 pad;
};

/* Sets that are not made of points. */
#define SET_UNKNOWN 0 /* user space has not answered yet */
#define SET_EMPTY 1   /* not to be counted */

/*
 * Points that get their names while the program runs are in a table: this header and its entries,
 * each a struct named and its numbers. The mark is in the first word. Entries are never removed.
 */
struct source_table {
	u64 mark;
	u64 entries; /* address */
	u32 used;
	u32 shards;
	u32 stride; /* from one entry to the next */
	u32 pad;
};

struct name {
	u32 event;
	u32 length;
	char text[112]; /* the end of a longer name; unused bytes are 0 */
};
struct named {
	u64 mark; /* written last */
	struct name name;
};

/* What is known of a name, by its hash. */
struct point_name {
	u32 set;      /* of points; SET_UNKNOWN: user space has been asked */
	u32 complete; /* the name is stored completely */
	u64 early;    /* visits before its points were known */
	struct name name;
};

/* Whether a file has such points. */
struct counter_file {
	u32 state;
	u32 first; /* of its sources */
	u32 sources;
	u32 values;   /* that it needs in each process */
	u64 from, to; /* the part of the file that is mapped as code */
	u64 ahead;    /* addresses minus offsets in that part */
};
enum file_state {
	FILE_ASKED, /* user space has been asked */
	FILE_PLAIN, /* it has no points */
	FILE_COUNTS,
};

/* A file with points, or with points unknown yet, that an address space has mapped. */
struct object {
	struct place file; /* and the offset at which it is mapped */
	u64 start;	   /* address of that */
	/* the part of the file that is mapped as code, as far as its mappings show */
	u64 from, to;
	u64 changed; /* see file_key */
	u64 bias;    /* added to the file's addresses */
	u64 state;
	u32 first, sources;
	u32 value; /* the first of its places among values */
	u32 values;
	/* its numbers counted for another process before it was known, or were not watched */
	u64 inherited;
	u64 round; /* the pass that last found it */
};
enum object_state {
	OBJECT_FREE,
	OBJECT_ASKED,
	OBJECT_TAKEN, /* a core is working on it */
	OBJECT_COUNTS,
	OBJECT_GONE, /* unmapped; kept for the file in case it is mapped again */
};

/* What has been counted in an address space. */
struct counters {
	u64 users; /* processes that have it */
	u64 read;  /* when it was last read */
	u64 objects;
	u64 values;
	struct object object[MAX_OBJECTS];
	u64 value[MAX_VALUES];
	u8 set[MAX_VALUES]; /* of an entry of a table: as in point_name */
};
#define VALUE_UNKNOWN (~0ull) /* counting begins with the number that is read first */

/* What user space tells of a name. */
struct name_answer {
	u64 hash;
	u32 set;
	u32 pad;
};

#endif
