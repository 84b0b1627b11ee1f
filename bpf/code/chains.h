/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/*
 * Units that depend on a sample's whole stack: functions with all that they call, and functions as
 * far as they are called from others.
 *
 * A place's chain names the units for which code there matters. User space makes it once, when the
 * place is first sampled. Each unit counts a sample once, however often it is on the stack.
 */
#ifndef WHATIF_CHAINS_H
#define WHATIF_CHAINS_H

#include "selection.h"

SETTING whole_stacks = 0;
SETTING enough = 0;	 /* most units that a sample can be in; 0: any number */
SETTING blamed_only = 0; /* all of them begin with the code that is blamed */

/* The maps have one entry each unless whole stacks matter. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MAX_CHAINS);
	__type(key, u32);
	__type(value, struct chain);
} chains SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MAX_MEMBERS);
	__type(key, u32);
	__type(value, struct member);
} members SEC(".maps");

/* By unit. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, MAX_STACK_UNITS);
	__type(key, u32);
	__type(value, struct progress);
} progress SEC(".maps");

/* A sample, while its stack is followed. */
struct match {
	u32 sample;   /* its number on this core */
	u32 counted;  /* its units count it: it is no wait */
	u32 met;      /* the first selected unit that it is in; 0: none yet */
	u32 weight;   /* of all selected units that it is in */
	u32 units;    /* the number of its units */
	u32 begun;    /* a unit may still be met */
	u32 blamed;   /* code further in was blamed */
	u32 own;      /* the unit of that code */
};

/* Notes what a place means for one unit. */
SUBPROGRAM int note_member(struct match *m, u32 number)
{
	struct member *b = bpf_map_lookup_elem(&members, &number);
	struct progress *p;
	u32 unit, weight;

	if (!m || !b)
		return 0;
	unit = b->unit;
	p = bpf_map_lookup_elem(&progress, &unit);
	if (!p)
		return 0;
	if (p->sample != m->sample) {
		p->sample = m->sample;
		p->state = 0;
	}
	if (p->state == STATE_MET)
		return 0;
	p->state = (m->blamed ? b->later : b->steps) >> 4 * (p->state & 7) & 7;
	if (p->state)
		m->begun = 1;
	if (p->state != STATE_MET)
		return 0;
	if (m->counted)
		count_sample(unit);
	m->units++;
	weight = weight_of_unit(unit);
	if (weight && !m->met)
		m->met = unit;
	m->weight = weight_on_top(m->weight, weight, control.scale);
	return 0;
}

/* Notes what a place means; true: nothing more can be learned. */
SUBPROGRAM int note_chain(struct match *m, u32 number)
{
	struct chain *c = bpf_map_lookup_elem(&chains, &number);

	if (!m || !c)
		return 0;
	for (u32 i = 0; i < LONGEST_CHAIN && i < c->members; i++)
		note_member(m, c->first + i);
	if (c->blamed && !m->blamed) {
		m->blamed = 1;
		m->own = c->own;
	}
	if (enough && m->units >= enough)
		return 1;
	return blamed_only && m->blamed && !m->begun;
}

#endif
