/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/* The clock: a timer for each core. */
#ifndef WHATIF_CLOCK_H
#define WHATIF_CLOCK_H

#include "sample.h"

struct timer {
	struct bpf_timer timer;
	u64 tick;    /* that it is set for */
	u32 parked;  /* it is not set, see park */
	u32 counted; /* it is in control.cores or, while it is parked, in control.parked */
};
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MAX_CPUS);
	__type(key, u32);
	__type(value, struct timer);
} timers SEC(".maps");

/*
 * While user space is not heard of there is nothing to sample for, and ticks come at this distance.
 */
#define LAPSED_NS 100000000

/* Sets the timer to the next tick. */
static __always_inline int set_timer(struct timer *v)
{
	u64 now = bpf_ktime_get_ns(), at;

	v->tick = tick_at(lapsed(now) ? now + LAPSED_NS : now) + 1;
	at = tick_time(v->tick);
	if (at <= now) /* the period has become shorter meanwhile */
		at = now + 1;
	if (control.unpinned)
		return bpf_timer_start(&v->timer, at - now, 0);
	return bpf_timer_start(&v->timer, at, BPF_F_TIMER_ABS | BPF_F_TIMER_CPU_PIN);
}

/*
 * Kernels before 6.7 cannot pin a timer to its core: a timer that is set on an idle core moves to
 * another core, one that is set on a busy core stays. So a core's clock rests while the core is
 * idle, when there is nothing to sample, and is set again when a task runs.
 */
static __always_inline void park(struct timer *v)
{
	v->tick = 0;
	v->parked = 1;
	__sync_fetch_and_sub(&control.cores, 1);
	__sync_fetch_and_add(&control.parked, 1);
}

/* Attached only where timers cannot be pinned. */
SEC("tp_btf/sched_switch")
int BPF_PROG(on_leave_idle, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	u32 id = bpf_get_smp_processor_id();
	struct core *c = this_core();
	struct timer *v;

	if (!c || prev->pid || !next->pid || !control.period)
		return 0;
	v = bpf_map_lookup_elem(&timers, &id);
	if (!v || !v->parked)
		return 0;
	if (set_timer(v)) {
		lose(c, LOSS_TIMER);
		return 0;
	}
	v->parked = 0;
	__sync_fetch_and_sub(&control.parked, 1);
	__sync_fetch_and_add(&control.cores, 1);
	return 0;
}

/* A hard interrupt raises the softirq in which this core's timer runs. */
SEC("tp_btf/softirq_raise")
int BPF_PROG(on_softirq_raise, u32 vector)
{
	u32 id = bpf_get_smp_processor_id();
	struct core *c;
	struct timer *v;
	u64 now;

	if (vector != SOFTIRQ_HRTIMER || !control.period)
		return 0; /* most */
	now = bpf_ktime_get_ns();
	c = this_core();
	v = bpf_map_lookup_elem(&timers, &id);
	/* It may be another timer's softirq. */
	if (!c || !v || c->raised || !v->tick || now < tick_time(v->tick))
		return 0;
	c->raised = now;
	if (kernel_code)
		take_kernel_stack(ctx, STACK_OF_TICK);
	return 0;
}

/* Runs as a softirq, so with interrupts enabled, in the interrupted thread. */
static int on_tick(void *map, u32 *key, struct timer *v)
{
	struct core *c = this_core();

	u64 now = bpf_ktime_get_ns();

	if (!c || !control.period)
		return 0;
	if (*key != bpf_get_smp_processor_id()) {
		/*
		 * The timer is another core's, which was taken off line or is to have no timers.
		 * User space starts its clock again (ledger/lease.go).
		 */
		lose(c, LOSS_TIMER);
		park(v);
		return 0;
	}
	c->ticked = now;
	if (!lapsed(now))
		sample(c, v->tick);
	forget_kernel_stack();
	c->raised = 0;
	if (control.unpinned && !bpf_get_current_task_btf()->pid)
		park(v);
	else if (set_timer(v))
		lose(c, LOSS_TIMER);
	return 0;
}

static __always_inline int start_timer(void)
{
	u32 id = bpf_get_smp_processor_id();
	struct core *c = this_core();
	struct timer *v = bpf_map_lookup_elem(&timers, &id);
	int err;

	if (!c || !v)
		return -34; /* ERANGE */
	err = bpf_timer_init(&v->timer, &timers, 1 /* CLOCK_MONOTONIC */);
	if (err && err != -16 /* EBUSY: it is */)
		return err;
	err = bpf_timer_set_callback(&v->timer, on_tick);
	if (err)
		return err;
	err = set_timer(v);
	if (err)
		return err;
	c->ticked = bpf_ktime_get_ns();
	if (v->parked)
		__sync_fetch_and_sub(&control.parked, 1);
	if (v->parked || !v->counted)
		__sync_fetch_and_add(&control.cores, 1);
	v->parked = 0;
	v->counted = 1;
	return 0;
}

/*
 * User space runs this on every core, once, and again where the clock has stopped, and reads the
 * result. Any iterator would do, at its end: iterators run on demand and may not sleep. Kernels
 * from 7.3 on let no program that may sleep have a callback that samples.
 */
SEC("iter/bpf_map")
int start_clock(struct bpf_iter__bpf_map *ctx)
{
	s32 err;

	if (ctx->map)
		return 0;
	err = start_timer();
	bpf_seq_write(ctx->meta->seq, &err, sizeof(err));
	return 0;
}

#endif
