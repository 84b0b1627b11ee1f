/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/*
 * May a core be stopped where a tick has met it? A thread that has one of the kernel's spinning
 * locks has preemption off. If its core were stopped, every core that wants the lock would spin as
 * long, other programs' too, and some with interrupts off. So its debt waits for a later tick.
 *
 * A kernel that counts how deep preemption is off (CONFIG_PREEMPT_COUNT) tells it. On other kernels
 * a core is stopped only where the tick has interrupted user space.
 */
#ifndef WHATIF_LOCKS_H
#define WHATIF_LOCKS_H

#include "../base/page.h"
#include "../base/registers.h"

/* Where the kernel keeps the count. */
enum preempt_count {
	PREEMPT_COUNT_UNKNOWN,
	PREEMPT_COUNT_CORE,   /* in a variable that each core has */
	PREEMPT_COUNT_THREAD, /* in the thread */
};
SETTING preempt_count_kept = PREEMPT_COUNT_UNKNOWN;

/*
 * Offsets of per-core variables from the core's run queue, to which a thread leads. User space
 * finds them in the kernel's types. The verifier lets programs use such variables by name only
 * where the kernel lists all symbols.
 */
const volatile s64 preempt_count_at SEC(".rodata.settings")
= 0, irq_regs_at SEC(".rodata.settings")
= 0;

static __always_inline void *of_this_core(s64 at)
{
	struct task_struct *task = (void *)bpf_get_current_task();

	return (void *)BPF_CORE_READ(task, se.cfs_rq, rq) + at;
}

/* How deep preemption is off. The bits above are the softirqs and interrupts that are served. */
#define PREEMPT_DEPTH 0xff

struct thread_info___counting {
	/* in the lower half; the upper half tells whether another thread wants the core */
	u64 preempt_count;
} TARGET_IN_KERNEL;

struct task_struct___counting {
	struct thread_info___counting thread_info;
} TARGET_IN_KERNEL;

static __always_inline u32 preempt_depth(void)
{
	u32 count = 0;

	if (preempt_count_kept == PREEMPT_COUNT_CORE) {
		bpf_probe_read_kernel(&count, sizeof(count), of_this_core(preempt_count_at));
	} else if (preempt_count_kept == PREEMPT_COUNT_THREAD) {
		struct task_struct___counting *task = (void *)bpf_get_current_task();

		count = (u32)BPF_CORE_READ(task, thread_info.preempt_count);
	}
	return count & PREEMPT_DEPTH;
}

/* User space runs this once, where the kernel has preemption off: a kernel that counts shows it. */
SEC("raw_tp")
int see_preempt_count(void *ctx)
{
	return preempt_depth();
}

/*
 * Attached only where nothing is counted. The tick is a softirq, and by then it is not known what
 * the hard interrupt has met. So this program looks at it in the interrupt that raises the softirq.
 */
SEC("tp_btf/softirq_raise")
int BPF_PROG(on_raise_see_mode, u32 vector)
{
	struct core *c = this_core();
	struct pt_regs *regs = 0;

	if (!c || vector != SOFTIRQ_HRTIMER)
		return 0;
	/* A kernel with neither is stopped wherever a tick meets it. */
	if (irq_regs_at)
		bpf_probe_read_kernel(&regs, sizeof(regs), of_this_core(irq_regs_at));
	c->in_kernel = irq_regs_at && (!regs || !MET_USER_SPACE(regs));
	return 0;
}

static __always_inline bool may_hold_locks(const struct core *c)
{
	return control.sees_mode ? c->in_kernel : preempt_depth();
}

#endif
