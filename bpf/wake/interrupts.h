/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/* Interrupts: to tell their wake-ups from those of threads. */
#ifndef WHATIF_INTERRUPTS_H
#define WHATIF_INTERRUPTS_H

#include "outsiders.h"
#include "waiting.h"

/* One interrupt may come within another: each has 4 bits of the source. */
static __always_inline void enter_interrupt(struct core *c, enum interrupt source)
{
	c->interrupts++;
	c->source = c->source << 4 | source;
}

static __always_inline void leave_interrupt(struct core *c)
{
	if (!c->interrupts)
		return;
	c->interrupts--;
	c->source >>= 4;
}

SEC("tp_btf/hrtimer_expire_entry")
int BPF_PROG(on_hrtimer_entry)
{
	struct core *c = this_core();

	if (c)
		enter_interrupt(c, FROM_TIMER);
	return 0;
}

SEC("tp_btf/hrtimer_expire_exit")
int BPF_PROG(on_hrtimer_exit)
{
	struct core *c = this_core();

	if (c)
		leave_interrupt(c);
	return 0;
}

SEC("tp_btf/irq_handler_entry")
int BPF_PROG(on_irq_entry)
{
	struct core *c = this_core();

	if (c)
		enter_interrupt(c, FROM_DEVICE);
	return 0;
}

SEC("tp_btf/irq_handler_exit")
int BPF_PROG(on_irq_exit)
{
	struct core *c = this_core();

	if (c)
		leave_interrupt(c);
	return 0;
}

/*
 * irq_work: what cannot be done at once is done in an interrupt that the core raises for itself.
 * Readers of tracing buffers are woken so. On arm64 it is one of the interrupts above, and has no
 * such tracepoint.
 */
SEC("tp_btf/irq_work_entry")
int BPF_PROG(on_irq_work_entry)
{
	struct core *c = this_core();

	if (c)
		enter_interrupt(c, FROM_DEVICE);
	return 0;
}

SEC("tp_btf/irq_work_exit")
int BPF_PROG(on_irq_work_exit)
{
	struct core *c = this_core();

	if (c)
		leave_interrupt(c);
	return 0;
}

/*
 * Loopback packets are received in a softirq that runs at once, in the sender: the sender wakes
 * what the softirq wakes. Other packets come with an interrupt.
 */
static __always_inline bool delivers_loopback(struct core *c, u32 vector)
{
	return vector == SOFTIRQ_NET_RX && c->sender &&
	       c->sender == (u32)bpf_get_current_pid_tgid();
}

SEC("tp_btf/softirq_entry")
int BPF_PROG(on_softirq_entry, u32 vector)
{
	struct core *c = this_core();

	if (!c || delivers_loopback(c, vector))
		return 0;
	enter_interrupt(c, source_of(vector));
	if (vector == SOFTIRQ_NET_RX)
		c->receives = c->interrupts;
	return 0;
}

SEC("tp_btf/softirq_exit")
int BPF_PROG(on_softirq_exit, u32 vector)
{
	struct core *c = this_core();

	if (!c)
		return 0;
	if (delivers_loopback(c, vector))
		c->sender = 0;
	else
		leave_interrupt(c);
	if (vector == SOFTIRQ_NET_RX)
		c->receives = 0;
	return 0;
}

SEC("tp_btf/netif_rx")
int BPF_PROG(on_netif_rx)
{
	struct core *c = this_core();

	if (c && !c->interrupts &&
	    (thread_of(bpf_get_current_task_btf()) || outsider_of(bpf_get_current_task_btf())))
		c->sender = (u32)bpf_get_current_pid_tgid();
	return 0;
}

#endif
