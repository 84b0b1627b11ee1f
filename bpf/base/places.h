/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/* Places in code, and how stacks are followed from there: what all kernel sides need of it. */
#ifndef WHATIF_PLACES_H
#define WHATIF_PLACES_H

#include "kernel.h"

enum limit {
	MAX_CPUS = 512,
	MAX_UNITS = 65536, /* a power of two */
	MAX_SELECTED = 16, /* units that are sped up at once */
	MAX_POINTS = 16,
	MAX_BINS = 2048, /* of an experiment's virtual time */
	MAX_CALLS = 512, /* system calls, a power of two */
	MAX_SPANS = 4,	 /* latencies */
	/* bins of durations in a factor of two: none is wider than 1/16 of what it counts */
	SPAN_OCTAVE = 16,
	SPAN_BINS = 640, /* up to 2^42 ns */
	/* times control.cap, with what others earn during the stop; see stop_end */
	LONGEST_STOP = 5,
	MAX_FRAMES = 256,
	MAX_KERNEL_FRAMES = 127, /* the kernel gives no more unless it is told to */
	/* Powers of two, so that an index can be masked. */
	MAX_RULES = 1 << 15,
	MAX_ROWS = 1 << 20,
	TABLE_BYTES = 4096, /* of a file: the part that one table describes */
	/* For units that depend on whole stacks: */
	MAX_CHAINS = 1 << 16,
	MAX_MEMBERS = 1 << 18, /* of all chains */
	LONGEST_CHAIN = 64,
	MAX_STACK_UNITS = 1 << 14,
	/* For progress points in the program's source: */
	MAX_SOURCES = 1 << 13, /* of all files */
	MAX_OBJECTS = 8,       /* files with such points that one process can have */
	MAX_VALUES = 128,      /* numbers of one process, a power of two */
	TABLE_VALUES = 64,     /* of those, for one table */
	MAX_NAMES = 1 << 12,
	MAX_SETS = 64, /* of points that one place visits, a power of two */
};

/*
 * Ticks may come more often than was asked for. Each sample counts this many parts of one, divided
 * by how often.
 */
#define SAMPLE_PARTS 4
/* What a thread waits for while it does not run. The end of the wait tells. */
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

/*
 * A place in code: the same for every process that maps the file. For the kernel's own code inode
 * is 0 and offset is the address. For code that a process has made in memory of no file, dev is
 * NUMBER_GENERATED, inode is the number of the address space and offset is the address. For code
 * that a Java VM interprets it is NUMBER_BYTECODE, and offset is the address of the bytecode.
 */
struct place {
	u64 inode;
	u64 offset; /* in the file */
	u32 dev;
	u32 pad;
};

enum event_kind {
	EVENT_NONE,
	EVENT_PLACE, /* a sample at a place that is not in the table yet */
	/*
	 * a process of the target runs another program now: its place; inode 0 if that is not known
	 */
	EVENT_EXEC,
	EVENT_TABLE, /* a stack led to a page of code that has no table yet */
	/* a file was mapped, and it is not known yet whether it has progress points */
	EVENT_MAPPED,
	EVENT_NAMED, /* a progress point has a name that is not known yet */
};

struct event {
	u32 kind;
	u32 tgid;
	u64 address; /* of the place, in that process; of a bytecode's method */
	struct place place;
};

/*
 * How to find the caller of the code at an address. internal/code/unwind makes rules from the
 * binary's own tables. The CFA, the canonical frame address, is the caller's stack pointer after
 * the return.
 */
enum rule_kind {
	RULE_UNKNOWN,
	RULE_END,	    /* there is no caller */
	RULE_CFA,	    /* the CFA is base + offset */
	RULE_CFA_AT,	    /* the CFA is what is read at base + offset, + add */
	RULE_SIGNAL,	    /* the registers are in the ucontext at the stack pointer */
	RULE_FRAME_POINTER, /* code without tables */
	RULE_INTERPRETER,   /* a Java VM's: by frame pointers; its frames have a bytecode */
};

enum rule_base {
	BASE_NONE,
	BASE_SP,
	BASE_FP,
	BASE_BX,
	BASE_OTHER = 16, /* + the register's number in DWARF: known in the innermost frame only */
};

/* Where the caller's value of a register is. */
enum rule_where {
	WHERE_SAME, /* in the register */
	WHERE_CFA,  /* at the CFA + n */
	WHERE_FP,   /* at the callee's frame pointer + n */
	WHERE_SP,   /* at the callee's stack pointer + n */
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

/* Rules that always exist, by their index. */
#define RULES_UNKNOWN 0
#define RULES_FRAME_POINTER 1
#define RULES_PENDING 0xffff /* user space has been asked */

/* A rule holds from this offset in its page on. */
struct row {
	u16 offset;
	u16 rule;
};

/* The rows of a page of a file. */
struct table {
	u32 first;
	u16 rows;     /* 0: user space has been asked */
	u16 unitless; /* no code in it can be a unit */
};

#endif
