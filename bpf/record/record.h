/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/* What the kernel side of recording and user space share: records, and what is recorded when. */
#ifndef WHATIF_RECORD_H
#define WHATIF_RECORD_H

#include "../base/program.h"
#include "../base/places.h"

/* What a record says. The fields that a kind uses are named behind it; all have time. */
enum record_kind {
	/*
	 * In a window, and after it begins for each thread: the thread is in a condition; cpu, and
	 * if it waits call, what it waits at, and place.
	 */
	RECORD_STATE,
	/* thread leaves this core to other, in a condition; then as above */
	RECORD_SWITCH,
	/* thread wakes other: cause, class; a thread of the target: place, and a futex */
	RECORD_WAKE,
	RECORD_SAMPLE, /* thread runs at place, which is a stack's number; object: see read_lines */
	RECORD_VISIT,  /* thread visits the point extra; class: its role; object: the key */
	/* Always: */
	RECORD_FORK, /* thread makes other, of process extra */
	RECORD_EXEC, /* thread runs another program */
	/*
	 * In a window, of goroutines: other and extra (from bit 32 on) are the goroutine's address.
	 * thread begins to run it; or, with a condition, runs it no more:
	 */
	RECORD_RUN,
	RECORD_PARK,  /* it waits from now on; place, object */
	/* it need not wait any more, or is new; class: it goes before others; place */
	RECORD_READY,
	/* Questions, and what records refer to: */
	RECORD_STACK, /* place, at object (address) and stack pointer; frames follow */
	RECORD_FILE,  /* file number extra is the place that follows */
	/*
	 * a stack led to a page without a table, or to code without a rule: the place that
	 * follows; of a bytecode address is that of the method
	 */
	RECORD_TABLE,
	RECORD_KINDS = 16, /* room for so many */
};

enum record_condition {
	CONDITION_RUNNING,
	CONDITION_RUNNABLE,
	CONDITION_WAITING,
	CONDITION_ENDED,
};

enum record_cause {
	BY_THREAD,
	BY_STRANGER,
	BY_TIMER,
	BY_DEVICE,
};

/* What a thread waits at. The numbers are those of package recording. */
enum record_object {
	OBJECT_UNKNOWN,
	OBJECT_FUTEX,
	OBJECT_PIPE,
	OBJECT_SOCKET,
	OBJECT_POLL,
	OBJECT_FILE,
	OBJECT_PROCESS,
	OBJECT_SHARED_FUTEX, /* of several processes: the object is its place in a file */
	OBJECT_POLL_CALL,    /* poll, select: the object is the address of the first argument */
	OBJECT_OF_RUNTIME,   /* Go's channels and locks: the address of the runtime's lock */
};

/* What a core runs besides threads of the target. */
#define THREAD_IDLE 0xffffffffu
#define THREAD_STRANGER 0xfffffffeu

struct record {
	u64 time;
	u64 place;
	u64 object;
	u32 thread;
	u32 other;
	u32 process; /* of thread; of other in a wake-up */
	u16 extra;   /* see enum record_kind */
	u16 cpu;
	u8 kind;
	u8 condition;
	u8 object_kind;
	u8 cause;
	u8 class;
	u8 pad[3];
};

/* STATE, FORK, EXEC */
struct record_thread {
	struct record r;
	char name[16];
};

/* FILE, TABLE */
struct record_place {
	struct record r;
	struct place place;
	u64 address; /* in the process */
};

#define RECORD_FRAMES 64

/*
 * A frame is the number of a file, from FRAME_FILE on, and an offset in it. File 0: an address in
 * no file. The code that a process has made in memory of no file counts as a file: its place has
 * the device GENERATED, inode is the number of the address space, and offset is the address. So
 * does what a Java VM interprets, with the device BYTECODE, and the bytecode's address.
 */
#define FRAME_FILE 48
#define FILE_VDSO 0xffffu
#define GENERATED 0x7fffffff /* these are numbers of the other kernel side, too */
#define BYTECODE 0x7ffffffe

struct record_stack {
	struct record r;
	u64 frames[RECORD_FRAMES]; /* the innermost first, as many as the record is long */
};

/* Written by user space, but for closed. */
struct record_control {
	u64 window; /* now: its number; 0: nothing is recorded but what is always */
	u64 closed; /* when a core had no room left in the window */
	u32 level;  /* depth of whatif's namespace of process numbers */
	u32 own;    /* whatif's own process */
	u64 secret; /* odd: addresses of the kernel do not become known */
	/* Points that are no places in the program, as cookies have them: see record_point. */
	u32 hooks[MAX_POINTS];
	u32 exits; /* which of them count ends of processes */
};

/* Of a core, on cache lines that no other core writes. */
struct record_core {
	u32 interrupts; /* depth of interrupt and softirq handlers */
	u32 source;	/* what they are about, innermost first: an enum interrupt in 4 bits each */
	u32 sender;	/* the thread that last put a packet on the loopback device */
	u32 walks;	/* stacks that were followed; see goroutines.h */
	u64 window; /* of which left is */
	u64 left;   /* records for which there is room in the window */
	u64 written;
	u64 lost;     /* that found no room in the ring */
	u64 measured[RECORD_KINDS]; /* records of which the time was taken: */
	u64 spent[RECORD_KINDS];    /* ns */
	u64 samples;
	u64 wakes;
	u64 switches;
	u64 unknown; /* stacks that ended before their outermost frame */
	u64 probed;  /* visits to probes on Go's runtime, of all processes with the binary */
	u64 visited; /* visits of points: by probes, */
	u64 hooked;  /* and by control.hooks */
} __attribute__((aligned(128)));

/* A process of the target. */
struct recorded_process {
	u64 space;  /* a number of whatif's own, which changes with every exec and fork */
	u64 ended;  /* its last thread has */
	u64 number; /* in whatif's namespace */
};

enum record_limit {
	RECORD_MAX_FRAMES = RECORD_FRAMES,
	RECORD_FRAME_FILE = FRAME_FILE,
	RECORD_FILE_VDSO = FILE_VDSO,
	RECORD_GENERATED = GENERATED,
	RECORD_BYTECODE = BYTECODE,
};

#endif
