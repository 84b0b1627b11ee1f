/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/* Finds the unit of a sample. */
#ifndef WHATIF_SAMPLE_UNIT_H
#define WHATIF_SAMPLE_UNIT_H

#include "kernel_code.h"

/*
 * Counts the sample for all units that its whole stack is in. Gives a selected unit if one is
 * among them.
 */
static __always_inline u32 unit_of_stack(struct walk *w)
{
	bool unknown = w->pending || w->ended == ENDED_PENDING;

	if (!unknown && !w->match.units && w->match.own && w->match.counted)
		count_sample(w->match.own);
	/* What is further out, or unknown, does not change that. */
	if (w->match.met && !w->hidden)
		return w->match.met | w->unit;
	return unknown ? UNIT_PENDING : w->unit;
}

/* The result of following a stack. */
static __always_inline u32 unit_found(struct walk *w)
{
	if (whole_stacks)
		return unit_of_stack(w);
	return w->pending || w->ended == ENDED_PENDING ? UNIT_PENDING : w->unit;
}

/* The weight of the selected units that a walk has found; unit is its result. */
static __always_inline u32 weight_found(const struct walk *w, u32 unit)
{
	unit &= UNIT_NUMBER;
	if (whole_stacks)
		return unit && unit == w->match.met ? w->match.weight : 0;
	return unit ? weight_of_unit(unit) : 0;
}

/* Why a unit is not known. */
static __always_inline enum loss loss_of(const struct walk *w)
{
	return w->busy ? LOSS_MAPPING : w->pending ? LOSS_PLACE : LOSS_TABLE;
}

/* Follows the stack of the current thread, which has one in user space if t is not 0. */
static __always_inline void follow_stack(struct walk *w, struct thread *t, bool counted)
{
	struct task_struct *task = bpf_get_current_task_btf();

	if (kernel_code) {
		walk_kernel(w, counted ? STACK_OF_TICK : STACK_OF_WAIT);
		if (w->ended == ENDED_IN_UNIT)
			return;
		w->ended = ENDED_OUTERMOST;
	}
	/* no memory: it is on its way out, and nothing of the program is left */
	if (!t || !memory_of(task))
		return;
	w->space = t->process.address_space;
	w->stamp = stamp_of_code(task);
	w->ended = ENDED_TOO_DEEP;
	innermost_frame(task, &w->frame);
	bpf_loop(MAX_FRAMES, on_frame, w, 0);
}

/* What is found with the unit of a sample. */
struct found {
	u32 point;  /* 1 + the sampled point whose line it is in; 0: none */
	u32 weight; /* of the selected units that it is in */
};

/*
 * The first unit up the stack (COZ's rule), with the flag; or as unit_of_stack. And what else is
 * found. t is 0 for a task that only runs in the kernel.
 */
SUBPROGRAM u32 unit_of_sample(struct thread *t, struct core *c, struct found *found, bool counted)
{
	struct walk w = { .ended = ENDED_OUTERMOST, .trailed = counted };
	u32 unit;

	if (!c || !found)
		return UNIT_NONE;
	w.match.sample = ++c->walks;
	w.match.counted = counted;
	follow_stack(&w, t, counted);
	found->point = w.point;
	if (counted && (w.ended == ENDED_STUCK || w.ended == ENDED_TOO_DEEP))
		lose(c, LOSS_STACK);
	if (kernel_code && counted && t && !w.begun)
		lose(c, LOSS_KERNEL);
	unit = unit_found(&w);
	found->weight = weight_found(&w, unit);
	if (counted && t) {
		t->deferral.last = 0;
		/* Also if it is in the experiment's unit: there are others further out. */
		if (w.pending && defer_sample(t, c, &w))
			return unit;
	}
	if (unit == UNIT_PENDING && (counted || w.busy))
		lose(c, loss_of(&w));
	return unit;
}

#endif
