/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/* Follows a stack from frame to frame, and notes which units the code on it belongs to. */
#ifndef WHATIF_WALK_H
#define WHATIF_WALK_H

#include "../members/thread.h"
#include "../members/processes.h"
#include "chains.h"
#include "mapping.h"
#include "unwind.h"

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
	u64 stamp; /* see stamp_of_code */
};
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1 << 16);
	__type(key, struct address);
	__type(value, struct code);
} addresses SEC(".maps");

/* A function of its own, for its stack. */
SUBPROGRAM int ask_about(u32 kind, u64 address, const struct place *place)
{
	return tell(kind, address, place);
}

/* The unit or chain of a place, or UNIT_PENDING. User space is asked once for each place. */
static __always_inline u32 unit_of_place(const struct place *place, u64 address)
{
	u32 *known = bpf_map_lookup_elem(&places, place), unit = UNIT_PENDING;
	long err;

	if (known)
		return *known;
	err = bpf_map_update_elem(&places, place, &unit, BPF_NOEXIST);
	if (err && err != -17 /* EEXIST: another core was first */)
		lose(this_core(), LOSS_CODE);
	else if (!err && !ask_about(EVENT_PLACE, address, place))
		bpf_map_delete_elem(&places, place);
	return UNIT_PENDING;
}

/* A table that user space has been asked for. */
static const struct table no_table = {};

/* No code of the page can be a unit. A flag beside the rule: there is little room for variables. */
#define RULE_UNITLESS (1u << 16)

/*
 * The rule of a place, or RULES_PENDING, with that flag. User space is asked once for each page.
 * Afterwards *place is the page's.
 */
static __always_inline u32 rule_of_place(struct place *place, u64 address)
{
	u32 within = place->offset & (TABLE_BYTES - 1), rule;
	struct table *known;
	long err;

	place->offset -= within;
	known = bpf_map_lookup_elem(&tables, place);
	if (known) {
		rule = known->rows ? rule_in(known->first, known->rows, within) : RULES_PENDING;
		return known->unitless ? rule | RULE_UNITLESS : rule;
	}
	err = bpf_map_update_elem(&tables, place, &no_table, BPF_NOEXIST);
	if (err && err != -17 /* EEXIST */) {
		lose(this_core(), LOSS_CODE);
		return RULES_UNKNOWN;
	}
	if (!err && !ask_about(EVENT_TABLE, address, place))
		bpf_map_delete_elem(&tables, place);
	return RULES_PENDING;
}

/* Generated code has the rule that user space has given with its unit, or frame pointers. */
static __always_inline u32 rule_of_generated(const struct place *place)
{
	struct table *known = bpf_map_lookup_elem(&tables, place);

	return known && known->rows ? rule_in(known->first, known->rows, 0) : RULES_FRAME_POINTER;
}

static __always_inline bool is_unit(u32 unit)
{
	return unit != UNIT_PENDING && (unit & UNIT_NUMBER) != UNIT_NONE;
}

/* The walk ends here and does not need the caller's rule. */
static __always_inline bool ends_walk(u32 unit)
{
	return !whole_stacks && is_unit(unit);
}

static __always_inline void keep_code(const struct address *key, const struct code *code)
{
	struct code copy = *code; /* kernels before 6.3 take it from the stack only */

	bpf_map_update_elem(&addresses, key, &copy, BPF_ANY);
}

/*
 * What is known of an address of the current process. If it is known since another stamp, it is
 * asked about again, if possible. Gives 1 if it could not be looked up just now.
 */
SUBPROGRAM int code_at(u64 space, u64 address, u64 stamp, struct code *code)
{
	struct address key;
	struct mapping m = {};
	struct code *known;
	bool unitless;
	long err;

	if (!code)
		return 0;
	code->unit = UNIT_PENDING;
	code->rule = RULES_PENDING;
	key.space = space;
	key.address = address;
	known = bpf_map_lookup_elem(&addresses, &key);
	if (known && known->stamp == stamp) {
		*code = *known;
		return 0;
	}
	code->stamp = stamp;
	m.address = address;
	err = bpf_find_vma(bpf_get_current_task_btf(), address, on_vma, &m, 0);
	if (err == -2 /* ENOENT: not mapped */) {
		code->unit = UNIT_NONE;
		code->rule = RULES_UNKNOWN;
	} else if (err) { /* another thread holds the map's lock: next time */
		if (known && is_likely(known->stamp, stamp))
			*code = *known;
		return code->unit == UNIT_PENDING;
	} else if (m.vdso) {
		code->unit = UNIT_NONE;
		code->rule = rule_of_place(&m.place, address);
	} else if (!m.place.inode) {
		code->rule = RULES_FRAME_POINTER;
		code->unit = UNIT_NONE;
		if (m.executable) { /* else the stack was followed to no code */
			m.place.inode = space;
			m.place.offset = address;
			m.place.dev = NUMBER_GENERATED;
			code->unit = unit_of_place(&m.place, address);
			code->rule = rule_of_generated(&m.place);
		}
	} else {
		code->unit = unit_of_place(&m.place, address);
		if (!ends_walk(code->unit))
			code->rule = rule_of_place(&m.place, address);
	}
	unitless = code->rule & RULE_UNITLESS;
	code->rule &= ~RULE_UNITLESS;
	if (code->unit != UNIT_PENDING && (code->rule != RULES_PENDING || ends_walk(code->unit)))
		keep_code(&key, code);
	/* Not kept, as it is still unknown whether it waits busily. */
	if (code->unit == UNIT_PENDING && unitless)
		code->unit = UNIT_NONE;
	return 0;
}

/*
 * Mark addresses in a trail: that of the program's own instruction, and those of bytecodes.
 * Addresses above these are the kernel's.
 */
#define TRAIL_INSTRUCTION (1UL << 62)
#define TRAIL_BYTECODE (1UL << 61)
#define TRAIL_ADDRESS (TRAIL_BYTECODE - 1)

struct walk {
	u64 space;
	u64 stamp;
	struct frame frame;
	u32 unit;
	u32 pending; /* a unit further in is not known yet */
	u32 hidden;  /* it is unknown, too, whether the instruction itself waits busily */
	u32 point;   /* 1 + the sampled point whose line it is; 0: none */
	/* Small, or the stack is too large for Linux 6.1. */
	u16 ended; /* one of these: */
	/* In the kernel: */
	u16 kernel_stack; /* which one is followed */
	u16 begun;	  /* 1: leaving frames of whatif or the scheduler; 2: they are left */
	u16 entered;	  /* the frame before is where the kernel was entered */
	u16 busy;	  /* an address could not be looked up just now */
	u16 trailed;	  /* its addresses are kept as far as they may be needed, see deferred.h */
	u32 trail;	  /* the number of addresses kept */
	/* of them, those before the first unknown one: the sample has been counted for them */
	u32 known;
	struct match match; /* where whole stacks matter */
};

enum ended {
	ENDED_TOO_DEEP,
	ENDED_IN_UNIT,
	ENDED_OUTERMOST,
	ENDED_PENDING,
	ENDED_STUCK,
};

/*
 * Notes what the code of one more frame is; 1: nothing further out matters. instruction: it is the
 * program's own instruction.
 */
SUBPROGRAM int note_code(struct walk *w, const struct code *code, bool instruction)
{
	u32 unit;

	if (!w || !code)
		return 1;
	unit = code->unit;
	if (unit != UNIT_PENDING && !w->point && !w->match.blamed)
		w->point = (unit & ~UNIT_SPINS) >> UNIT_POINT_SHIFT;
	if (unit == UNIT_PENDING) {
		/*
		 * Its unit will be known later. What is further out is asked for, too, and counted
		 * then.
		 */
		if (!w->pending)
			w->known = w->trail ? w->trail - 1 : 0;
		w->pending = 1;
		w->match.counted = 0;
		if (instruction)
			w->hidden = 1;
		w->match.blamed = 1;
	} else if (whole_stacks) {
		u32 number = unit & UNIT_NUMBER;

		w->unit |= unit & UNIT_SPINS;
		/* Behind unknown code anything may matter. */
		if (number != UNIT_NONE && note_chain(&w->match, number) && !w->pending) {
			w->ended = ENDED_IN_UNIT;
			return 1;
		}
	} else {
		/*
		 * If the instruction itself, or a polling function of a library, waits busily, so
		 * does the thread.
		 */
		unit &= UNIT_NUMBER | UNIT_SPINS;
		if (unit != UNIT_NONE) {
			w->unit = unit;
			w->ended = ENDED_IN_UNIT;
			return 1;
		}
	}
	return 0;
}

/* See deferred.h. */
int leave_trail(struct walk *w, u64 address);
int defer_sample(struct thread *t, struct core *c, const struct walk *w);

/* Keeps an address of the walk, as far as it may be needed. */
static __always_inline void keep_address(struct walk *w, const struct code *code, u64 address)
{
	if (w->trailed && (whole_stacks || w->pending || code->unit == UNIT_PENDING))
		leave_trail(w, address);
}

/* The unit of a bytecode, as unit_of_place. */
SUBPROGRAM u32 unit_of_bytecode(u64 space, u64 bytecode, u64 method)
{
	struct place place = { .inode = space, .offset = bytecode, .dev = NUMBER_BYTECODE };

	return unit_of_place(&place, method);
}

SUBPROGRAM int look_at_frame(u32 i, struct walk *w)
{
	struct code code;
	u64 address, bytecode, method = 0;
	int step;

	if (!w)
		return 1;
	/* A return address may be the first of another line: look before it. */
	address = w->frame.exact ? w->frame.ip : w->frame.ip - 1;
	if (code_at(w->space, address, w->stamp, &code))
		w->busy = 1;
	address &= TRAIL_ADDRESS;
	if (is_interpreter(code.rule)) {
		bytecode = bytecode_of(&w->frame, &method) & TRAIL_ADDRESS;
		if (bytecode) {
			code.unit = unit_of_bytecode(w->space, bytecode, method);
			address = bytecode | TRAIL_BYTECODE;
		}
	}
	keep_address(w, &code, address | (i ? 0 : TRAIL_INSTRUCTION));
	if (note_code(w, &code, !i))
		return 1;
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

static long on_frame(u32 i, struct walk *w)
{
	return look_at_frame(i, w) != 0;
}

#endif
