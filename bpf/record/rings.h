/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/*
 * Where records go: a ring for each core, so that cores share no memory that an event writes. User
 * space looks into the rings now and then; it is not woken.
 */
#ifndef WHATIF_RECORD_RINGS_H
#define WHATIF_RECORD_RINGS_H

#include "record.h"

volatile struct record_control control;
LARGE struct record_core record_cores[MAX_CPUS];

const volatile u64 window_budget SEC(".rodata.budget")
= 1 << 16; /* records of a core in one window */

struct ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
};
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, MAX_CPUS);
	__type(key, u32);
	__array(values, struct ring);
} rings SEC(".maps");

/* Types without a map or variable, kept for the generated Go. */
enum record_kind record_kind_type __attribute__((unused));
enum record_condition record_condition_type __attribute__((unused));
enum record_cause record_cause_type __attribute__((unused));
enum record_object record_object_type __attribute__((unused));
enum record_limit record_limit_type __attribute__((unused));
const struct record_thread *record_thread_type __attribute__((unused));
const struct record_place *record_place_type __attribute__((unused));
const struct record_stack *record_stack_type __attribute__((unused));

static __always_inline struct record_core *record_core(void)
{
	u64 id = bpf_get_smp_processor_id();

	if (id >= MAX_CPUS)
		return 0;
	/* or it is multiplied before it is checked, and Linux 6.1 does not see that it was */
	barrier_var(id);
	return &record_cores[id & (MAX_CPUS - 1)];
}

static __always_inline bool put(struct record_core *c, void *record, u64 size)
{
	u32 id = bpf_get_smp_processor_id();
	void *ring = bpf_map_lookup_elem(&rings, &id);

	if (ring && !bpf_ringbuf_output(ring, record, size, BPF_RB_NO_WAKEUP))
		return 1;
	c->lost++;
	return 0;
}

/*
 * Whether events are recorded now. A window ends for all cores when one of them has used up its
 * room: what only some cores have recorded says little.
 */
static __always_inline bool is_recording(struct record_core *c, u64 now)
{
	u64 window = control.window;

	if (!window)
		return 0;
	if (c->window != window) {
		c->window = window;
		c->left = window_budget;
	}
	if (c->left)
		return 1;
	if (__sync_val_compare_and_swap(&control.window, window, 0) == window)
		control.closed = now;
	return 0;
}

/* Of so many records the time of one is taken: a prime, as programs do the same again and again. */
#define MEASURED 61

/* Writes what happened at a moment. */
static __always_inline void put_event(struct record_core *c, struct record *r, u64 size)
{
	u32 kind = r->kind & (RECORD_KINDS - 1);

	r->cpu = bpf_get_smp_processor_id();
	if (c->left) /* a probe can be interrupted */
		c->left--;
	put(c, r, size);
	if (c->written++ % MEASURED)
		return;
	/* or the compiler leaves the mask out, and the verifier wants to see it */
	barrier_var(kind);
	kind &= RECORD_KINDS - 1;
	c->measured[kind]++;
	c->spent[kind] += bpf_ktime_get_ns() - r->time;
}

#endif
