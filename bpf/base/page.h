/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/* The page that user space sees, and what every program does with it. */
#ifndef WHATIF_PAGE_H
#define WHATIF_PAGE_H

#include "rules.h"
#include "shared.h"

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

/*
 * Nothing is attached to the scheduler or to interrupts, so it is unknown which tasks talk to the
 * target.
 */
SETTING samples_only = 0;

/* Nothing is compared: nothing is a delay, and no thread owes anything. */
SETTING nobody_pays = 0;

SETTING possible_cores = MAX_CPUS; /* the largest number of a core, + 1 */

/* Types without a map or variable, kept for the generated Go. */
enum named_rule named_rule_type __attribute__((unused));
enum why why_type __attribute__((unused));
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

static __always_inline void count_sample(u32 unit)
{
	/* or the compiler uses another copy than the one that the verifier saw checked */
	barrier_var(unit);
	__sync_fetch_and_add(&unit_samples[unit & (MAX_UNITS - 1)], control.parts);
}

static __always_inline struct core *this_core(void)
{
	u32 id = bpf_get_smp_processor_id();

	if (id >= MAX_CPUS) {
		__sync_fetch_and_add(&cores[0].lost[LOSS_CPU], 1);
		return 0;
	}
	return &cores[id];
}

/* Counts a change of a thread's level. */
static __always_inline void count_change(enum why why, s64 by)
{
	struct core *c = this_core();

	if (c)
		c->changes[why] += by;
}

static __always_inline void lose(struct core *c, enum loss what)
{
	if (c)
		c->lost[what]++;
}

/* The time that a probe takes to reach its program, by the probe's cookie. */
static __always_inline u64 cost_of(u64 cookie)
{
	return control.probe_cost[cookie >> 32 & (COST_MAX - 1)];
}

/* User space has not renewed its lease, or is ending: nothing may be done for it. */
static __always_inline bool lapsed(u64 now)
{
	return now >= control.lease || control.orphaned;
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

	return control.orphaned ? now : lesser(end, lesser(control.deadline, control.lease));
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

#endif
