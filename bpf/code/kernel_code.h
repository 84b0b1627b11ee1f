/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/*
 * Samples in the kernel's own code, where that may be sped up (--kernel).
 *
 * The tick itself is a softirq: the kernel may be in code that keeps softirqs off, or in another
 * softirq, and then the tick comes when that is over. So the stack is taken in the hard interrupt
 * that raises the tick; only code that keeps interrupts off is met at its end. The kernel follows
 * its own stacks. The interrupt's frames are left out, up to where it came in.
 *
 * The addresses stay here and in whatif's memory: a unit is a function's name.
 */
#ifndef WHATIF_KERNEL_CODE_H
#define WHATIF_KERNEL_CODE_H

#include "walk.h"

SETTING kernel_code = 0; /* may be sped up */

/* Where all ways into the kernel begin; and the functions that put threads to sleep. */
const volatile u64 entry_begin SEC(".rodata.settings")
= 0, entry_end SEC(".rodata.settings")
= 0;
const volatile u64 sleep_begin SEC(".rodata.settings")
= 0, sleep_end SEC(".rodata.settings")
= 0;

/* One for each core, innermost first. The map has one small entry unless it is needed. */
struct kernel_stack {
	/* by the interrupt, for a tick that has not come yet: the thread that was interrupted */
	u64 taken;
	u64 frames;
	u64 ip[MAX_KERNEL_FRAMES];
};
enum kernel_stack_of {
	STACK_OF_TICK,
	STACK_OF_WAIT,
};
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 2);
	__type(key, u32);
	__type(value, struct kernel_stack);
} kernel_stacks SEC(".maps");

/*
 * Where each function begins, in ascending order, and where one ends that none follows. Where lines
 * are wanted the map is empty, and each address is asked about by itself.
 */
const volatile u32 kernel_functions SEC(".rodata.settings")
= 0; /* entries */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64);
} kernel_function SEC(".maps");

/* What stands for an address: the beginning of its function, if that is known. */
SUBPROGRAM u64 kernel_place(u64 address)
{
	u32 low = 0, high = kernel_functions, at;
	u64 *begin, found = address;

	for (int i = 0; i < 22 && low < high; i++) {
		at = (low + high) / 2;
		begin = bpf_map_lookup_elem(&kernel_function, &at);
		if (!begin)
			break;
		if (*begin <= address) {
			found = *begin;
			low = at + 1;
		} else {
			high = at;
		}
	}
	return found;
}

/* In a program at a tracepoint. */
static __always_inline void take_kernel_stack(void *ctx, enum kernel_stack_of of)
{
	u32 which = of;
	struct kernel_stack *s = bpf_map_lookup_elem(&kernel_stacks, &which);
	long got;

	if (!s)
		return;
	got = bpf_get_stack(ctx, s->ip, sizeof(s->ip), 0);
	s->taken = (u32)bpf_get_current_pid_tgid();
	s->frames = got > 0 ? got / sizeof(s->ip[0]) : 0;
}

static __always_inline bool in_entry(u64 address)
{
	return address >= entry_begin && address < entry_end;
}

static __always_inline bool in_sleep(u64 address)
{
	return address >= sleep_begin && address < sleep_end;
}

/* What is known of an address of the kernel. */
SUBPROGRAM int kernel_code_at(u64 address, struct code *code)
{
	struct address key = { .space = SPACE_KERNEL, .address = address };
	struct place place = {};
	struct code *known;

	if (!code)
		return 0;
	known = bpf_map_lookup_elem(&addresses, &key);
	if (known) {
		*code = *known;
		return 0;
	}
	place.offset = kernel_place(address);
	code->stamp = 0;
	code->rule = RULES_UNKNOWN;
	code->unit = unit_of_place(&place, place.offset);
	if (code->unit != UNIT_PENDING)
		keep_code(&key, code);
	return 0;
}

SUBPROGRAM int look_at_kernel_frame(u32 i, struct walk *w)
{
	u32 which;
	struct kernel_stack *s;
	struct code code;
	u64 address;
	bool exact;

	if (!w)
		return 1;
	which = w->kernel_stack;
	s = bpf_map_lookup_elem(&kernel_stacks, &which);
	if (!s || i >= s->frames)
		return 1;
	barrier_var(i); /* or what the verifier saw checked is not what is used */
	if (i >= MAX_KERNEL_FRAMES)
		return 1;
	address = s->ip[i];
	/* Behind an entry is the interrupted instruction, not a call. */
	exact = w->entered;
	w->entered = in_entry(address);
	if (!w->begun) {
		w->begun = which == STACK_OF_TICK ? in_entry(address) : in_sleep(address);
		return 0;
	}
	if (which == STACK_OF_WAIT && w->begun == 1 && in_sleep(address))
		return 0;
	w->begun = 2;
	if (!exact)
		address--;
	kernel_code_at(address, &code);
	keep_address(w, &code, address);
	return note_code(w, &code, 0);
}

static long on_kernel_frame(u32 i, struct walk *w)
{
	return look_at_kernel_frame(i, w) != 0;
}

/* Follows the stack in the kernel. User space's stack is behind it. */
static __always_inline void walk_kernel(struct walk *w, enum kernel_stack_of of)
{
	u32 which = of;
	struct kernel_stack *s = bpf_map_lookup_elem(&kernel_stacks, &which);

	if (!s)
		return;
	/* The tick may have come with another timer, or be left to the kernel's softirq thread. */
	if (of == STACK_OF_TICK && s->taken != (u32)bpf_get_current_pid_tgid()) {
		/* This leaves out the code of the scheduler and of locks. */
		long got = bpf_get_task_stack(bpf_get_current_task_btf(), s->ip, sizeof(s->ip), 0);

		s->frames = got > 0 ? got / sizeof(s->ip[0]) : 0;
	}
	w->kernel_stack = of;
	bpf_loop(MAX_KERNEL_FRAMES, on_kernel_frame, w, 0);
}

/* The tick for which a stack was taken is over. */
static __always_inline void forget_kernel_stack(void)
{
	u32 which = STACK_OF_TICK;
	struct kernel_stack *s;

	if (!kernel_code)
		return;
	s = bpf_map_lookup_elem(&kernel_stacks, &which);
	if (s)
		s->taken = s->frames = 0;
}

#endif
