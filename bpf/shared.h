/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/*
 * What the BPF programs and whatif share. This is the only definition: the Go
 * types are generated from it.
 */
#ifndef WHATIF_SHARED_H
#define WHATIF_SHARED_H

enum limit {
	MAX_CPUS = 512,
	MAX_UNITS = 65536, /* a power of two */
	MAX_POINTS = 16,
	MAX_BINS = 2048, /* of an experiment's virtual time */
	MAX_CALLS = 512, /* system calls, a power of two */
	MAX_SPANS = 4, /* latencies */
	SPAN_OCTAVE = 16, /* bins of durations in a factor of two: none is wider than 1/16 of what it counts */
	SPAN_BINS = 640, /* up to 2^42 ns */
	LONGEST_STOP = 5, /* times control.cap, with what is earned meanwhile; see stop_end */
	MAX_FRAMES = 256,
	MAX_KERNEL_FRAMES = 127, /* more the kernel does not give, unless it is told to */
	/* Powers of two, so that an index can be masked. */
	MAX_RULES = 1 << 15,
	MAX_ROWS = 1 << 20,
	TABLE_BYTES = 4096, /* of a file, that a table is for */
	/* Where whole stacks are looked at: */
	MAX_CHAINS = 1 << 16,
	MAX_MEMBERS = 1 << 18, /* of all chains */
	LONGEST_CHAIN = 64,
	MAX_STACK_UNITS = 1 << 14,
	/* Of progress points in the program's source: */
	MAX_SOURCES = 1 << 13, /* of all files */
	MAX_OBJECTS = 8,	/* files with some, of a process */
	MAX_VALUES = 128,	/* numbers of a process, a power of two */
	TABLE_VALUES = 64,	/* of those, for one table */
	MAX_NAMES = 1 << 12,
	MAX_SETS = 64, /* of points that one place visits, a power of two */
};

/*
 * What a place has in place of a unit where whole stacks are looked at: what it
 * means for the units that depend on more than the first code in scope.
 */
struct chain {
	u32 own;	/* the unit of a sample that is in none of those; 0: none */
	u32 blamed;	/* a sample's time is this code's, if none further in is blamed */
	u32 first;	/* of its members, among all */
	u32 members;
};

/*
 * A unit that code at a place can be part of: a function anywhere on the stack, or
 * one called from another. It is a row of functions to be met from the inside out,
 * and how many have been met is its state; steps has 4 bits for each state, and in
 * them the next. later is the same where code further in was blamed.
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

/* What a visit can cost, besides the counting itself. */
enum cost {
	COST_EMULATED,	/* a probe on an instruction that the kernel emulates */
	COST_STEPPED,	/* or runs in a single step */
	COST_NOP,	/* or a long no-op: newer kernels emulate those, too */
	COST_RETURN,	/* a probe on a return, and on the entry as above */
	COST_RETURN_STEPPED,
	COST_MAX = 8,
};

/* What happens to a goroutine at a probe that is set for it, in the cookie in the place of a point. */
enum go_moment {
	GO_SLEEPS,
	GO_WAKES,
	GO_PARKS, /* it begins to wait */
	GO_YIELDS, /* it could run on, but others do */
	GO_STOPS, /* it is stopped, as by who collects garbage, until that lets it go on */
	GO_ENDS,
	GO_READY, /* it, or a new one, is put into a queue of those that can run */
	GO_RUNS, /* a thread begins to run it */
};

/* What follows begins on a cache line of its own. */
#define CACHE_LINE __attribute__((aligned(64)))

/* Ticks may come so many times as often as was asked for. Samples are counted in these parts of one in each period that was. */
#define SAMPLE_PARTS 4
/* What a thread waits for while it does not run: told by what ends the wait. */
enum wait_class {
	WAIT_OTHER,
	WAIT_DISK,  /* the kernel's block devices and file systems */
	WAIT_NET,   /* a network, or a process outside the target */
	WAIT_SLEEP, /* the clock */
	WAIT_LOCK,  /* another thread of the target, whatever it was asked for */
	WAIT_CHILD, /* the end of a child */
	WAIT_CPU,   /* a core */
	WAIT_CLASSES = 8,
};

/* Waiting in the code of a unit. */
struct waits {
	u64 ns[WAIT_CLASSES]; /* what is over */
	u64 now; /* threads that wait for what is expected to count as the unit's time */
};

/*
 * The experiment under way. User space writes it while deadline is 0, the
 * kernel side reads it. Past the deadline nothing is credited, stopped or
 * counted, whatever has become of user space. The same holds past the lease,
 * which user space renews for as long as its loop of experiments runs.
 */
struct control_page {
	u64 epoch;	/* number of the experiment, from 1 */
	u64 start;	/* when it began, on the monotonic clock */
	u64 deadline;	/* when it ends; 0: none is under way */
	u64 lease;	/* user space is at work until then, or it is stopped, hangs or is gone */
	u64 global_start; /* G when it began */
	u32 unit;	/* the unit that is, or in a baseline may next be, sped up; 0: none */
	u32 bin_shift;	/* a bin of visits is 2^bin_shift ns wide */
	u64 period;	/* P: between samples */
	u64 asked;	/* the period that was asked for: ticks may come more often since */
	u64 parts;	/* of SAMPLE_PARTS: what a sample counts, so that they are of that period all the same */
	u64 cap;	/* most that is paid at once of what is owed already */
	u64 rate;	/* s, in units of 1/CREDIT_ONE */
	u64 seed;	/* of the ticks' moments */
	u64 probe_cost[COST_MAX]; /* of a visit, by its enum cost */
	u64 tick_cost;	/* what a tick takes from whom it hits, besides the stop */
	u64 hook_cost[2]; /* of a visit: by a system call, at a tracepoint */
	u64 span_from;	/* durations are counted when so much of the experiment is over */
	u64 wait_class;	/* 1 + the class of waiting that is sped up, whatever the unit; 0: the unit is */
	u32 exits;	/* the points, a bit each, that an ending process visits */
	u32 patient;	/* user space looks by itself whether there are questions about code */
	u32 sampled;	/* the latencies, a bit each, of which an end is in the source, see sample_spans */
	u32 holds;	/* some are held (hold.h) */
	u32 sleepers;	/* they are those who were woken from outside, by the clock or whatever */
	u32 expired;	/* they are those whose timeouts have run out */
	u32 timekeepers; /* they are those who keep time (timekeepers.h) */
	u32 follows;	/* goroutines that wait for each other are followed (parked.h) */
	u32 unpinned;	/* the kernel cannot pin a timer to its core, see park */
	u32 sees_mode;	/* the kernel does not count how deep preemption is off, see locks.h */
	u32 placebo;	/* G grows by s of all the time, and nothing is sped up: see delay_for_nothing */
	/* Written by the kernel side, on cache lines of its own. */
	u64 global CACHE_LINE; /* G */
	u64 evened;	/* by how much it has grown for fair turns, see unfair */
	u64 processes CACHE_LINE; /* live processes of the target */
	u64 ended;	/* when one was over, last */
	u64 timeouts;	/* that ran out while a thread of the target waited for another */
	u64 time_kept; /* how often threads that keep time have (timekeepers.h): user space asks for holding by it */
	u64 follow_visits; /* of probes that follow goroutines, by the target's threads: user space asks for their rate */
	u64 follow_visits_others; /* by processes of the same binary that are not the target: it costs them as much */
	u64 held_expired; /* who is held after one now */
	u64 arrived CACHE_LINE; /* the last tick << 16, and how many cores have been through it */
	u64 cores;	/* that tick */
	u64 parked;	/* besides those: their clocks stand still while they are idle, see park */
	u64 stopping;	/* cores that are being stopped */
	u64 opened;	/* the last tick that a core came to */
	u64 before;	/* G as it began */
	u64 waited CACHE_LINE; /* until when G has grown with the waiting that is sped up */
	u64 grown;	/* the last experiment in which it has */
	u64 waiting[WAIT_CLASSES]; /* threads, by the class that is expected */
};

/*
 * Which processes belong to the target, besides those that its own fork. User space
 * chooses what the next look at all tasks is to take in.
 */
struct membership {
	u32 mode; /* enum membership_mode */
	u32 own;  /* whatif's own process: what it starts is nobody's child */
	u32 level; /* whatif's namespace of process numbers: all that user space tells and is told is in that */
	u32 pad;
	/* Written by the kernel side: */
	u64 joined; /* threads that were taken in by looks at all tasks */
	u64 missed; /* for which there was no memory just then */
};

enum membership_mode {
	MEMBERS_DESCEND,  /* only by fork, from the program that whatif started */
	MEMBERS_CHOSEN,	  /* and those chosen, which ran before */
	MEMBERS_EVERYONE, /* every process but those exempt */
};

/* By its number: a process to be taken in, if it is the one that began then. */
struct choice {
	u64 start; /* in 10 ms since boot, as /proc has it; 0: whichever has the number */
	u64 unique; /* as its pidfd has it; 0: not known */
	u32 leaves; /* the process, by what it was born as, is to belong to the target no more */
	u32 fresh; /* it has not run yet */
	u32 exempt; /* it is not to be taken in, nor are its threads to come */
	u32 pad;
};

/* A process that was taken in, or is exempt. */
struct process {
	u64 space; /* of its address space */
	u32 born;  /* the first of those, which no other process of that number has; half of it, as kernels before 6.3 have little stack */
	u32 number; /* as user space knows it */
	u16 exempt;
	u16 goroutines; /* of it have slept */
	s32 queued; /* goroutines in queues for Go's processors; those from the network are not counted */
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

/* What was seen of a latency in an experiment, but for its first part. */
struct span_counts {
	u64 total;	/* the duration of ends with their begin, which are in the bins, ns */
	u64 unmatched;	/* ends without a begin */
	u64 again;	/* begins where one was open already, which is forgotten */
	u64 carried;	/* of those in the bins: had begun before the experiment */
	u64 late;	/* begins and ends that were only counted: when they happened is not known */
};

/* Everything that went wrong in the kernel, counted. */
enum loss {
	LOSS_NONE,
	LOSS_THREAD,	/* a thread of the target could not be given an account */
	LOSS_PROCESS,	/* a process did not fit in the table of processes */
	LOSS_EVENT,	/* an event for user space did not fit in the ring */
	LOSS_STACK,	/* a sample's stack could not be followed to its end */
	LOSS_MAPPING,	/* the mapping around an address could not be looked up */
	LOSS_CODE,	/* an address did not fit in the table of code */
	LOSS_CAPPED,	/* a stop was longer than the cap allows */
	LOSS_TIMER,	/* the next tick could not be set */
	LOSS_CPU,	/* a CPU beyond MAX_CPUS */
	LOSS_COUNTERS,	/* a progress point of the source could not be counted: too many in its process, or names */
	LOSS_TABLE,	/* a sample's stack was followed up to code whose table was still to come */
	LOSS_SPAN,	/* a begin could not be remembered */
	LOSS_LAST,	/* a process ended and what it had counted last could not be read */
	LOSS_KERNEL,	/* what the kernel was doing at a tick could not be seen */
	LOSS_PLACE,	/* a sample was the first in its code, whose unit did not come in time */
	LOSS_GOROUTINE,	/* a goroutine that sleeps did not fit in the table of those */
	LOSS_MAX,
};

/*
 * Where the level of the thread that runs on a core will be found to be, if that goes on as it usually does:
 * level + share * (now - since). See foresee.h.
 */
struct outlook {
	u64 level;
	u64 since; /* 0: nothing is expected */
	u64 share; /* in parts of CREDIT_ONE */
	u64 booked; /* the level that the thread has by now */
	u64 advanced; /* what others have booked for it since */
};

/* A wait whose timeout has run out, see hold.h. */
struct expired {
	u64 at;		/* the futex that was waited for, in user space; 0: none, or somebody has let it go on */
	u64 process;
	u64 over;	/* somebody would have let it go on since, at that level */
	u64 level;
	u64 lead;
};

/* One core. Written by that core alone, but for outlook.booked, outlook.advanced, and expired. */
struct core {
	struct account account CACHE_LINE; /* since: when it went idle */
	struct account idle; /* as it was when the thread that runs got it; since 0: it did not stand idle then */
	u64 began; /* level that the running thread began with */
	u64 level; /* of the target's thread that ran last, with its lead, as of a switch, a stop, a hold, a tick or a visit; 0: none has, or it looks for what others make */
	u64 left; /* when that left; 0: it runs */
	u64 spared; /* the most that one who competes for the core was, see struct thread */
	u64 measure; /* the same of those that earn */
	u64 evened; /* control.evened, but for what of it the thread that runs need not pay yet, see let_off */
	u64 foreign_since;
	u64 kept_until; /* when a task that is not the kernel's left it last */
	u64 away_since; /* since when others than the target have it; 0: they do not, or it is idle */
	u64 intruded; /* ns of that, by those that the target has nothing to do with */
	u32 awaited; /* it was taken from a thread of the target */
	u32 pad;
	u64 debt;	/* of the thread that ticked last */
	u32 interrupts;	/* depth of interrupt and softirq handlers */
	u32 sender;	/* thread that last put a packet on the loopback device */
	u32 in_kernel;	/* so its last tick met it; known only where control.sees_mode */
	u32 returns;	/* who runs is to be held, and has not left its system call */
	u32 receives;	/* packets from elsewhere: the depth at which they are handled */
	u32 source;	/* the interrupts that it is in, innermost first: an enum interrupt in 4 bits each */
	u32 walks;	/* stacks followed, as a mark of each */
	u64 samples;	/* of the target, in parts */
	u64 too_soon;	/* those of them in the selected unit by threads that come too often, see let_off_sleeper */
	u64 busy;	/* those of them that met a thread which waits busily */
	u64 stops;
	u64 stopped;	/* ns */
	u64 held;	/* ns, that cores were kept by who came back from a sleep */
	u64 turns;	/* of the stopping loop */
	u64 turning;	/* ns, for which it ran: others are waited for outside it */
	u64 sampling;	/* ns, that the last sample took of its thread: a part of what a tick costs */
	u64 ticked;	/* when its clock came last */
	u64 put_off;	/* stops that had to wait, as the kernel may have had locks, see locks.h */
	u64 free_until;	/* where everyone is stopped: it is not, so long */
	u64 passed[MAX_POINTS]; /* ns in the lines of sampled points, since the last visit */
	u64 foreign;	/* ns, by samples, of tasks that are neither the target's nor whatif's, and do not deal with the target */
	u64 dealt;	/* ns, by switches, of tasks outside the target that deal with it */
	u64 wakes;	/* of threads of the target */
	u64 network_wakes; /* those of them that a packet from elsewhere made */
	u64 waited[WAIT_CLASSES]; /* ns, of waits that ended here, summed over threads */
	u64 lost[LOSS_MAX];
	struct outlook outlook;
	struct expired expired; /* of who is held here */
};

/*
 * A place in the code, the same for every process that maps it. Of the kernel's own
 * code inode is 0, and offset the address.
 */
struct place {
	u64 inode;
	u64 offset; /* in the file */
	u32 dev;
	u32 pad;
};

/*
 * What is known of a place: a unit (or chain), or one of these; besides the flag, and,
 * from UNIT_POINT_SHIFT on, 1 + the sampled point whose line it is; 0: none.
 */
#define UNIT_NONE 0		 /* out of scope: look at the caller */
#define UNIT_PENDING 0x7fffffffu /* asked user space */
#define UNIT_SPINS 0x80000000u	 /* flag: a busy-waiting loop */
#define UNIT_POINT_SHIFT 24
#define UNIT_NUMBER 0xffffffu

/* For user space, which is given no macros. */
enum shared_number {
	NUMBER_CREDIT_ONE = CREDIT_ONE,
	NUMBER_SAMPLE_PARTS = SAMPLE_PARTS,
	NUMBER_STATE_MET = STATE_MET,
	NUMBER_UNIT_POINT_SHIFT = UNIT_POINT_SHIFT,
};

enum event_kind {
	EVENT_NONE,
	EVENT_PLACE, /* a place was sampled that is not in the table yet */
	EVENT_EXEC,  /* a process of the target runs another program now: its place; inode 0 if that is not known */
	EVENT_TABLE, /* a stack led to a page of code whose table is not there yet */
	EVENT_MAPPED, /* a file was mapped of which it is not known whether it has progress points */
	EVENT_NAMED, /* a progress point has a name that is not known yet */
};

struct event {
	u32 kind;
	u32 tgid;
	u64 address; /* of the place, in that process */
	struct place place;
};

/*
 * Progress points in the program's source count in the program's own memory
 * (whatif.h, point/, rust/whatif, and coz/ for programs with COZ's macros). A
 * point's visits are the sum of some numbers, each on a cache line of its own,
 * with a mark behind the first: what lacks it is something else by now.
 */
#define COUNTER_MARK 0x9d3f5a41c6e27b18ull
#define COUNTER_MARK_AT 16 /* bytes after the first number */
#define COUNTER_STRIDE 64
#define MAX_SHARDS 16

/* One of a file, by the address that the file gives it. */
struct source {
	u64 address;
	u64 site;   /* address of the instruction that is passed before each visit */
	u32 set;    /* of points that it visits */
	u32 shards; /* 0: it is a table */
	u32 value;  /* its place, or the first of its places, among those of the file */
	u32 pad;
};

/* Numbers of sets that are not made of points. */
#define SET_UNKNOWN 0 /* user space has not said it */
#define SET_EMPTY 1   /* not to be counted */

/*
 * Points that get their names while the program runs are in a table: this, and
 * its entries, each a named and then the numbers. The mark is in its first word;
 * entries are never taken out again.
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
	char text[112]; /* of a longer one, the end; the rest is 0 */
};
struct named {
	u64 mark; /* set last */
	struct name name;
};

/* What is known of a name, by its hash. */
struct point_name {
	u32 set; /* of points; SET_UNKNOWN: asked user space */
	u32 complete; /* the name is */
	u64 early; /* visits before it was known */
	struct name name;
};

/* Of a file, whether it has such points. */
struct counter_file {
	u32 state;
	u32 first;	/* of its sources */
	u32 sources;
	u32 values;	/* that it needs in a process */
	u64 from, to;	/* the part of the file that is mapped as code */
	u64 ahead;	/* by how much addresses are ahead of offsets there */
};
enum file_state {
	FILE_ASKED, /* user space */
	FILE_PLAIN, /* it has none */
	FILE_COUNTS,
};

/* A file with points, or of which that is not known, that an address space has mapped. */
struct object {
	struct place file; /* and the offset at which it is mapped */
	u64 start;	   /* address of that */
	u64 from, to;	   /* the part of the file that is mapped as code, so far from its addresses */
	u64 changed;	   /* see file_key */
	u64 bias;	   /* what is added to the file's addresses */
	u64 state;
	u32 first, sources;
	u32 value;	   /* the first of its places among values */
	u32 values;
	u64 inherited;	   /* its numbers were another's before it was known, or not watched */
	u64 round;	   /* when it was last found */
};
enum object_state {
	OBJECT_FREE,
	OBJECT_ASKED,
	OBJECT_TAKEN, /* a core works on it */
	OBJECT_COUNTS,
	OBJECT_GONE, /* unmapped: for the file if it is mapped again */
};

/* What has been counted of an address space. */
struct counters {
	u64 users; /* processes that have it */
	u64 read;  /* when last */
	u64 objects;
	u64 values;
	struct object object[MAX_OBJECTS];
	u64 value[MAX_VALUES];
	u8 set[MAX_VALUES]; /* of an entry of a table: as in point_name */
};
#define VALUE_UNKNOWN (~0ull) /* whatever is read first is where counting begins */

/* What user space tells of a name. */
struct name_answer {
	u64 hash;
	u32 set;
	u32 pad;
};

/*
 * How to find the caller of the code at an address; made of the binary's own
 * tables by internal/unwind, which says more. The CFA, the canonical frame
 * address, is the caller's stack pointer after the return.
 */
enum rule_kind {
	RULE_UNKNOWN,
	RULE_END,	/* there is no caller */
	RULE_CFA,	/* the CFA is base + offset */
	RULE_CFA_AT,	/* the CFA is what is read at base + offset, + add */
	RULE_SIGNAL,	/* the registers are in the ucontext at the stack pointer */
	RULE_FRAME_POINTER, /* code without tables */
};

enum rule_base {
	BASE_NONE,
	BASE_SP,
	BASE_FP,
	BASE_BX,
	BASE_OTHER = 16, /* + its number in DWARF: known in the innermost frame only */
};

/* Where the value is that a register has in the caller. */
enum rule_where {
	WHERE_SAME,	/* in the register */
	WHERE_CFA,	/* at the CFA + n */
	WHERE_FP,	/* at the callee's frame pointer + n */
	WHERE_SP,	/* at the callee's stack pointer + n */
	WHERE_GONE,
};

struct rule {
	u8 kind;
	u8 base;
	u8 fp_where;
	u8 bx_where;
	s32 offset;
	s32 add;
	s32 fp;
	s32 bx;
	s32 ra; /* the return address is at the CFA + this; 0: in the link register */
};

/* The rules that are always there, by their place among all. */
#define RULES_UNKNOWN 0
#define RULES_FRAME_POINTER 1
#define RULES_PENDING 0xffff /* asked user space */

/* From this offset in its page on a rule holds. */
struct row {
	u16 offset;
	u16 rule;
};

/* The rows of a page of a file. */
struct table {
	u32 first;
	u16 rows; /* 0: asked user space */
	u16 unitless; /* nothing in it can be a unit */
};

#endif
