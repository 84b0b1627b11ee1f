/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/* Progress points that are system calls. */
#ifndef WHATIF_RECORD_CALLS_H
#define WHATIF_RECORD_CALLS_H

#include "../base/calls.h"
#include "hooks.h"
#include "members.h"

/* By number, at their begin and at their end: which of control.hooks count. Set by user space. */
volatile u32 call_hooks[2][MAX_CALLS];

static __always_inline int record_call(s64 number, u32 over)
{
	u32 hooks = marks_of_call(call_hooks[over], number);

	if (hooks && member_of(bpf_get_current_task_btf()))
		record_hooks(hooks);
	return 0;
}

SEC("tp_btf/sys_enter")
int BPF_PROG(record_call_begin, struct pt_regs *regs, long number)
{
	return record_call(number, 0);
}

SEC("tp_btf/sys_exit")
int BPF_PROG(record_call_over, struct pt_regs *regs)
{
	return record_call(REGISTER_CALL(regs), 1);
}

#endif
