/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/*
 * Goroutines. Go's runtime hands threads from one goroutine to the next, and the kernel sees
 * threads only. Probes on the runtime tell which goroutine a thread runs, and which one lets
 * another go on; they are those of wake/goroutine_account.h. User space follows what they say.
 *
 * A probe's program can be interrupted by a sample, or lose its core: what it follows on a stack is
 * believed only if no other stack was followed on the core meanwhile.
 */
#ifndef WHATIF_RECORD_GOROUTINES_H
#define WHATIF_RECORD_GOROUTINES_H

#include "../base/moments.h"
#include "stack.h"

/* A goroutine is named by its address in the process, of 48 bits. */
static __always_inline void set_goroutine(struct record *r, u64 g)
{
	r->other = g;
	r->extra = g >> 32;
}

/*
 * Of so many callers the return addresses say where in the program a goroutine is. Making a
 * goroutine ready takes seven calls of the runtime.
 */
#define GO_CALLERS 10

/* By frame pointers, which lead from the thread's own stack to that of its goroutine. */
SUBPROGRAM u64 callers_of_goroutine(u64 hash, u64 frame)
{
	for (int i = 0; i < GO_CALLERS; i++) {
		u64 called = 0, next = 0;

		if (!frame || !read_word(frame + 8, &called) || !read_word(frame, &next))
			break;
		hash = mix(hash, called);
		frame = next;
	}
	return hash;
}

/*
 * The number of the place at which a probe has met the current goroutine. Its stack may be
 * anywhere, so the stack pointer says nothing.
 */
SUBPROGRAM u64 place_of_goroutine(u64 space)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	struct record_core *c = record_core();
	struct following f = {};
	u64 number;
	u32 walk;

	if (!c)
		return 0;
	walk = ++c->walks;
	forget_piece();
	number = callers_of_goroutine(mix(mix(3, space), REGISTER_IP(regs)), REGISTER_FP(regs));
	if (*(volatile u32 *)&c->walks != walk)
		return 0;
	if (bpf_map_lookup_elem(&known_stacks, &number))
		return number;
	follow_stack(&f, task, space);
	/* follow_stack counts itself. */
	if (!f.pending && *(volatile u32 *)&c->walks == walk + 1)
		tell_stack(number, REGISTER_IP(regs), 0, f.frames);
	return number;
}

static __always_inline int record_moment(struct pt_regs *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct record_core *c = record_core();
	enum go_moment moment = (u32)bpf_get_attach_cookie(ctx);
	struct record r = { .kind = RECORD_RUN };
	struct recorded_process *m;

	if (!c)
		return 0;
	c->probed++;
	if (!control.window)
		return 0;
	m = member_of(task);
	r.time = bpf_ktime_get_ns();
	if (!m || !is_recording(c, r.time))
		return 0;
	r.thread = task->pid;
	r.process = task->tgid;
	if (moment == GO_RUNS) {
		set_goroutine(&r, key_register(ctx, 0));
	} else if (moment == GO_READY) {
		r.kind = RECORD_READY;
		set_goroutine(&r, key_register(ctx, SECOND_GO_ARGUMENT));
		r.class = (u8)key_register(ctx, THIRD_GO_ARGUMENT);
		r.place = place_of_goroutine(m->space);
	} else if (moment == GO_PARKS) {
		r.kind = RECORD_PARK;
		set_goroutine(&r, key_register(ctx, GOROUTINE_REGISTER));
		r.object = key_register(ctx, SECOND_GO_ARGUMENT);
		r.object_kind = r.object ? OBJECT_OF_RUNTIME : OBJECT_UNKNOWN;
		r.place = place_of_goroutine(m->space);
	} else {
		/* Functions on the thread's own stack have the goroutine as an argument. */
		set_goroutine(&r, key_register(ctx, moment == GO_ENDS ? GOROUTINE_REGISTER : 0));
		r.condition = moment == GO_ENDS ? CONDITION_ENDED : CONDITION_RUNNABLE;
	}
	put_event(c, &r, sizeof(r));
	return 0;
}

PROBE(record_moment, record_moment(ctx))

#endif
