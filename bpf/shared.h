/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/*
 * What the BPF programs and whatif share. This is the only definition: the Go
 * types are generated from it.
 */
#ifndef WHATIF_SHARED_H
#define WHATIF_SHARED_H

enum limit {
	MAX_CPUS = 512,
	MAX_UNITS = 65536,
	MAX_POINTS = 16,
	MAX_BINS = 2048, /* of an experiment's virtual time */
	LONGEST_STOP = 5, /* times control.cap, with what is earned meanwhile */
	MAX_FRAMES = 128, /* a power of two, so that an index can be masked */
};

/*
 * The experiment under way. User space writes it while deadline is 0, the
 * kernel side reads it. Past the deadline nothing is credited, stopped or
 * counted, whatever has become of user space.
 */
struct control_page {
	u64 epoch;	/* number of the experiment, from 1 */
	u64 start;	/* when it began, on the monotonic clock */
	u64 deadline;	/* when it ends; 0: none is under way */
	u64 global_start; /* G when it began */
	u64 delay;	/* d: what a sample in the unit is worth */
	u32 unit;	/* the selected unit; 0: none */
	u32 bin_shift;	/* a bin of visits is 2^bin_shift ns wide */
	u64 period;	/* P: between samples */
	u64 cap;	/* most that is paid at once of what is owed already */
	u64 rate;	/* s, in units of 1/CREDIT_ONE */
	u64 seed;	/* of the ticks' moments */
	u64 probe_cost[2]; /* of a visit: emulated, single-stepped */
	u64 pad[2];
	/* Written by the kernel side, on cache lines of its own. */
	u64 global;	/* G */
	u64 pad2[7];
	u64 processes;	/* live processes of the target */
	u64 pad3[7];
	u64 arrived;	/* the last tick << 16, and how many cores have been through it */
	u64 cores;	/* that tick */
	u64 stopping;	/* cores that are being stopped */
	u64 pad4[5];
};

/* Everything that went wrong in the kernel, counted. */
enum loss {
	LOSS_NONE,
	LOSS_THREAD,	/* a thread of the target could not be given an account */
	LOSS_PROCESS,	/* a process did not fit in the table of processes */
	LOSS_EVENT,	/* an event for user space did not fit in the ring */
	LOSS_STACK,	/* a sample's stack could not be read */
	LOSS_MAPPING,	/* the mapping around an address could not be looked up */
	LOSS_CODE,	/* an address did not fit in the table of code */
	LOSS_CAPPED,	/* a stop was longer than the cap allows */
	LOSS_TIMER,	/* the next tick could not be set */
	LOSS_CPU,	/* a CPU beyond MAX_CPUS */
	LOSS_MAX,
};

/* One core. Written by that core alone. */
struct core {
	struct account account; /* since: when it went idle */
	u64 began; /* level that the running thread began with */
	u64 foreign_since;
	u64 debt;	/* of the thread that ticked last */
	u32 interrupts;	/* depth of interrupt and softirq handlers */
	u32 sender;	/* thread that last put a packet on the loopback device */
	u64 samples;	/* of the target */
	u64 unresolved;	/* samples whose unit is not known yet */
	u64 spinning;	/* samples in busy waiting */
	u64 hits;	/* samples credited */
	u64 stops;
	u64 stopped;	/* ns */
	u64 turns;	/* of the stopping loop */
	u64 foreign;	/* ns that tasks outside the target ran */
	u64 wakes;	/* wakes of threads of the target by threads of the target */
	u64 outside_wakes; /* by interrupts, and by others */
	u64 lost[LOSS_MAX];
};

/* A place in the code, the same for every process that maps it. */
struct place {
	u64 inode;
	u64 offset; /* in the file */
	u32 dev;
	u32 pad;
};

/* What is known of a place: a unit, or one of these; and the flag. */
#define UNIT_NONE 0		 /* out of scope: look at the caller */
#define UNIT_PENDING 0x7fffffffu /* asked user space */
#define UNIT_SPINS 0x80000000u	 /* flag: a busy-waiting loop */

enum event_kind {
	EVENT_NONE,
	EVENT_PLACE, /* a place was sampled that is not in the table yet */
	EVENT_EXEC,  /* a process of the target runs another program now */
};

struct event {
	u32 kind;
	u32 tgid;
	u64 address; /* of the place, in that process */
	struct place place;
};

#endif
