/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/*
 * Follows a stack to its callers, by the binaries' own tables, or by frame pointers where there are
 * none.
 *
 * Tables come from user space, a page of a file at a time, when a stack first leads there. Until
 * then the walk ends there. What is found out about an address is kept by address, so in the long
 * run a frame costs one look-up and one read of the stack.
 */
#ifndef WHATIF_UNWIND_H
#define WHATIF_UNWIND_H

#include "../base/program.h"
#include "../base/registers.h"
#include "../base/places.h"

/* User space writes them, from the front; all pages of all files share them. */
LARGE struct rule rules[MAX_RULES];
LARGE struct row rows[MAX_ROWS];

/* By page: a place whose offset is a multiple of TABLE_BYTES. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1 << 16);
	__type(key, struct place);
	__type(value, struct table);
} tables SEC(".maps");

enum rule_kind rule_kind_type __attribute__((unused));
enum rule_base rule_base_type __attribute__((unused));
enum rule_where rule_where_type __attribute__((unused));

/* The rule of an offset in a page. Tables have no more rows than bytes. */
SUBPROGRAM int rule_in(u32 first, u32 n, u32 offset)
{
	u32 low = first, high = first + n;

	for (int i = 0; i < 13 && high - low > 1; i++) {
		u32 middle = (low + high) / 2;

		if (rows[middle & (MAX_ROWS - 1)].offset <= offset)
			low = middle;
		else
			high = middle;
	}
	return rows[low & (MAX_ROWS - 1)].rule;
}

static __always_inline bool is_interpreter(u32 rule)
{
	return rule < MAX_RULES && rules[rule & (MAX_RULES - 1)].kind == RULE_INTERPRETER;
}

/* A register of the caller: read only when it is needed. */
struct followed {
	u64 value;
	u64 at; /* where it is saved; 0: value is valid */
};

#define NOWHERE 1 /* as an address: reading there fails */

struct frame {
	u64 ip;
	u64 sp;
	struct followed fp;
	struct followed bx;
	u64 lr;	   /* while exact */
	u32 exact; /* ip is where the thread was interrupted, not a return address */
	u32 innermost;
};

enum step {
	STEP_CALLER,	/* the frame is the caller's now */
	STEP_OUTERMOST, /* there is none */
	STEP_STUCK,
};

/*
 * The stack is read a piece at a time: that takes hardly longer than a word, and frames are small.
 * One for each core, for the sample that is being taken.
 */
#define PIECE_WORDS 32
#define PIECE_BELOW 8 /* words: a frame's return address is read first, and is the highest */
#define NO_PIECE (1UL << 63)

struct piece {
	u64 at;
	u64 words[PIECE_WORDS];
};
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct piece);
} pieces SEC(".maps");

static __always_inline void forget_piece(void)
{
	u32 zero = 0;
	struct piece *p = bpf_map_lookup_elem(&pieces, &zero);

	if (p)
		p->at = NO_PIECE;
}

/* Reads a word of the user's memory; false where there is none. */
SUBPROGRAM int read_word(u64 at, u64 *value)
{
	u32 zero = 0;
	struct piece *p = bpf_map_lookup_elem(&pieces, &zero);
	u64 word;

	if (!p || !value)
		return 0;
	word = (at - p->at) / 8;
	if (at & 7)
		return !bpf_probe_read_user(value, sizeof(*value), (void *)at);
	if (word >= PIECE_WORDS) {
		p->at = at - 8 * PIECE_BELOW;
		word = PIECE_BELOW;
		if (bpf_probe_read_user(p->words, sizeof(p->words), (void *)p->at)) {
			p->at = NO_PIECE;
			return !bpf_probe_read_user(value, sizeof(*value), (void *)at);
		}
	}
	*value = p->words[word & (PIECE_WORDS - 1)];
	return 1;
}

static __always_inline bool value_of(struct followed *r)
{
	if (!r->at)
		return 1;
	if (!read_word(r->at, &r->value))
		return 0;
	r->at = 0;
	return 1;
}

static __always_inline void innermost_frame(struct task_struct *task, struct frame *f)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);

	f->ip = REGISTER_IP(regs);
	f->sp = REGISTER_SP(regs);
	f->fp.value = REGISTER_FP(regs);
	f->fp.at = 0;
	f->bx.value = REGISTER_BX(regs);
	f->bx.at = 0;
	f->lr = REGISTER_LR(regs);
	f->exact = 1;
	f->innermost = 1;
	forget_piece();
}

/* A register that calls do not keep: known only where the thread was interrupted. */
static __always_inline bool other_register(u32 number, u64 *value)
{
	u64 regs = bpf_task_pt_regs(bpf_get_current_task_btf());
	u32 word = register_words[number & 31];

	return !bpf_probe_read_kernel(value, sizeof(*value), (void *)(regs + 8 * word));
}

static __always_inline enum step arrived_at(struct frame *f, u64 return_address)
{
	f->ip = RETURN_ADDRESS(return_address);
	f->innermost = 0;
	return f->ip ? STEP_CALLER : STEP_OUTERMOST;
}

/* By frame pointers; the outermost is 0. It may lead to another stack, as Go's do. */
static __always_inline enum step step_frame_pointer(struct frame *f)
{
	u64 frame, next, address;

	if (!value_of(&f->fp))
		return STEP_STUCK;
	if (!f->fp.value)
		return STEP_OUTERMOST;
	frame = f->fp.value;
	if (!read_word(frame + 8, &address) || !read_word(frame, &next))
		return STEP_STUCK;
	f->sp = frame + 16;
	f->fp.value = next;
	f->bx.at = NOWHERE;
	f->exact = 0;
	return arrived_at(f, address);
}

/*
 * A frame of HotSpot's interpreter, from its frame pointer on, on x86-64: the same from Java 8 to
 * 25.
 */
#define INTERPRETER_SENDER (-8) /* the caller's stack pointer: the frame has its arguments */
#define INTERPRETER_METHOD (-24)
#define INTERPRETER_BYTECODE (-64) /* while it has called something */
#define INTERPRETER_REGISTER 13	   /* otherwise */

static __always_inline enum step step_interpreter(struct frame *f)
{
	u64 frame, sender = 0;
	enum step step;

	if (!value_of(&f->fp))
		return STEP_STUCK;
	frame = f->fp.value;
	if (!read_word(frame + INTERPRETER_SENDER, &sender))
		return STEP_STUCK;
	step = step_frame_pointer(f);
	if (step == STEP_CALLER && sender > frame)
		f->sp = sender;
	return step;
}

/*
 * The bytecode that a frame of the interpreter is at, and the method that it is of; 0: it has none,
 * as below native methods.
 */
SUBPROGRAM u64 bytecode_of(struct frame *f, u64 *method)
{
	u64 bytecode = 0;

	if (!f || !method || !value_of(&f->fp) ||
	    !read_word(f->fp.value + INTERPRETER_METHOD, method))
		return 0;
	if (f->innermost && f->exact)
		return other_register(INTERPRETER_REGISTER, &bytecode) ? bytecode : 0;
	return read_word(f->fp.value + INTERPRETER_BYTECODE, &bytecode) ? bytecode : 0;
}

static __always_inline enum step step_signal(struct frame *f)
{
	u64 frame = f->sp, ip;

	if (!read_word(frame + SIGNAL_IP, &ip) || !read_word(frame + SIGNAL_LR, &f->lr) ||
	    !read_word(frame + SIGNAL_SP, &f->sp))
		return STEP_STUCK;
	f->fp.at = frame + SIGNAL_FP;
	f->bx.at = frame + SIGNAL_BX;
	f->exact = 1;
	return arrived_at(f, ip);
}

static __always_inline bool find_cfa(struct frame *f, const struct rule *r, u64 *cfa)
{
	u64 base;

	if (r->base == BASE_SP) {
		base = f->sp;
	} else if (r->base == BASE_FP) {
		if (!value_of(&f->fp))
			return 0;
		base = f->fp.value;
	} else if (r->base == BASE_BX) {
		if (!value_of(&f->bx))
			return 0;
		base = f->bx.value;
	} else {
		if (r->base < BASE_OTHER || !f->innermost ||
		    !other_register(r->base - BASE_OTHER, &base))
			return 0;
	}
	*cfa = base + r->offset;
	if (r->kind == RULE_CFA_AT) {
		if (!read_word(*cfa, cfa))
			return 0;
		*cfa += r->add;
	}
	/* Stacks grow down. Only a function that saves nothing has an empty frame. */
	return *cfa > f->sp || (*cfa == f->sp && f->exact);
}

static __always_inline void follow(struct followed *g, u32 where, s32 n, u64 cfa, u64 sp, u64 fp)
{
	if (where == WHERE_CFA)
		g->at = cfa + n;
	else if (where == WHERE_FP)
		g->at = fp + n;
	else if (where == WHERE_SP)
		g->at = sp + n;
	else if (where != WHERE_SAME)
		g->at = NOWHERE;
}

static __always_inline enum step step_table(struct frame *f, const struct rule *r)
{
	u64 cfa, next, fp = 0;

	if (!find_cfa(f, r, &cfa))
		return STEP_STUCK;
	if (r->ra) {
		/* A new thread, just out of clone, has a stack that nothing was written to. */
		if (!read_word(cfa + r->ra, &next))
			return f->innermost ? STEP_OUTERMOST : STEP_STUCK;
	} else if (f->exact) {
		next = f->lr;
	} else {
		return STEP_STUCK;
	}
	if (r->fp_where == WHERE_FP || r->bx_where == WHERE_FP) {
		if (!value_of(&f->fp))
			return STEP_STUCK;
		fp = f->fp.value;
	}
	follow(&f->fp, r->fp_where, r->fp, cfa, f->sp, fp);
	follow(&f->bx, r->bx_where, r->bx, cfa, f->sp, fp);
	f->sp = cfa;
	f->exact = 0;
	return arrived_at(f, next);
}

/* Makes the frame the caller's. */
SUBPROGRAM int step_out(struct frame *f, u32 number)
{
	const struct rule *r = &rules[number & (MAX_RULES - 1)];

	if (!f)
		return STEP_STUCK;
	switch (r->kind) {
	case RULE_CFA:
	case RULE_CFA_AT:
		return step_table(f, r);
	case RULE_FRAME_POINTER:
		return step_frame_pointer(f);
	case RULE_INTERPRETER:
		return step_interpreter(f);
	case RULE_SIGNAL:
		return step_signal(f);
	case RULE_END:
		return STEP_OUTERMOST;
	}
	return STEP_STUCK;
}

#endif
