/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/*
 * Progress points that are places in the kernel: system calls and tracepoints.
 *
 * These programs run with preemption off, so none is missed: the kernel leaves one out only where
 * it would interrupt itself on its core. A program that can be preempted (fentry) would be left out
 * for all tasks that come by meanwhile; one on perf's side of a tracepoint, wherever a task that
 * changes a map was preempted.
 */
#ifndef WHATIF_HOOKS_H
#define WHATIF_HOOKS_H

#include "../base/calls.h"
#include "visits.h"

static __always_inline int on_call(s64 number, u32 over)
{
	u32 points = marks_of_call(calls[over], number);
	struct thread *t;

	if (!points)
		return 0;
	t = thread_of(bpf_get_current_task_btf());
	if (t)
		visit_all(t, points, control.hook_cost[0]);
	return 0;
}

SEC("tp_btf/sys_enter")
int BPF_PROG(on_call_begin, struct pt_regs *regs, long number)
{
	return on_call(number, 0);
}

SEC("tp_btf/sys_exit")
int BPF_PROG(on_call_over, struct pt_regs *regs)
{
	return on_call(REGISTER_CALL(regs), 1);
}

/*
 * Set before loading. Each point has its own copy of the program: one would be left out while
 * another runs.
 */
const volatile u32 hooked_point SEC(".rodata.hook")
= 0;

/*
 * The running thread passes a tracepoint, but not a thread that was only interrupted; as in
 * on_waking.
 */
SEC("raw_tp")
int on_tracepoint(void *ctx)
{
	struct core *c = this_core();
	struct thread *t;

	if (!c || c->interrupts)
		return 0;
	t = thread_of(bpf_get_current_task_btf());
	if (t)
		visit(t, hooked_point, 1, control.hook_cost[1]);
	return 0;
}

#endif
