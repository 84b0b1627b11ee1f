/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/* Visits of progress points that are no places in the program: system calls, ends of processes. */
#ifndef WHATIF_RECORD_HOOKS_H
#define WHATIF_RECORD_HOOKS_H

#include "../base/places.h"
#include "rings.h"

/* Records a visit by one of some hooks, and takes it from them. Not 0: there is none left. */
static long record_hook(u32 i, u32 *hooks)
{
	struct task_struct *task;
	struct record_core *c;
	struct record r = { .kind = RECORD_VISIT };
	u32 hook;

	if (i >= MAX_POINTS || !(*hooks >> i & 1))
		return 0;
	*hooks &= ~(1u << i);
	c = record_core();
	r.time = bpf_ktime_get_ns();
	if (!c || !is_recording(c, r.time))
		return 1;
	/* or the compiler leaves the mask out, and the verifier wants to see it */
	barrier_var(i);
	hook = control.hooks[i & (MAX_POINTS - 1)];
	task = bpf_get_current_task_btf();
	r.thread = task->pid;
	r.process = task->tgid;
	r.extra = hook;
	r.class = hook >> 16 & 15;
	c->hooked++;
	put_event(c, &r, sizeof(r));
	return !*hooks;
}

/* The running thread, which is the target's, passes some of control.hooks: a bit for each. */
static __always_inline void record_hooks(u32 hooks)
{
	if (hooks && control.window)
		bpf_loop(MAX_POINTS, record_hook, &hooks, 0);
}

#endif
