/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/* Interrupts: to tell their wake-ups from those of threads. As in wake/interrupts.h. */
#ifndef WHATIF_RECORD_INTERRUPTS_H
#define WHATIF_RECORD_INTERRUPTS_H

#include "../wake/calls.h"
#include "rings.h"

static __always_inline int enter(enum interrupt about)
{
	struct record_core *c = record_core();

	if (!c)
		return 0;
	c->interrupts++;
	c->source = c->source << 4 | about;
	return 0;
}

static __always_inline int leave(void)
{
	struct record_core *c = record_core();

	if (!c || !c->interrupts)
		return 0;
	c->interrupts--;
	c->source >>= 4;
	return 0;
}

#define ENTERS(tracepoint, about)                                                                  \
	SEC("tp_btf/" #tracepoint)                                                                 \
	int record_##tracepoint(void *ctx)                                                         \
	{                                                                                          \
		return enter(about);                                                               \
	}
#define LEAVES(tracepoint)                                                                         \
	SEC("tp_btf/" #tracepoint)                                                                 \
	int record_##tracepoint(void *ctx)                                                         \
	{                                                                                          \
		return leave();                                                                    \
	}

ENTERS(hrtimer_expire_entry, FROM_TIMER)
LEAVES(hrtimer_expire_exit)
ENTERS(irq_handler_entry, FROM_DEVICE)
LEAVES(irq_handler_exit)
ENTERS(irq_work_entry, FROM_DEVICE)
LEAVES(irq_work_exit)

/*
 * Loopback packets are received in a softirq that runs at once, in the sender: the sender wakes
 * what the softirq wakes. Other packets come with an interrupt.
 */
static __always_inline bool is_senders(struct record_core *c, u32 vector)
{
	return vector == SOFTIRQ_NET_RX && c->sender &&
	       c->sender == (u32)bpf_get_current_pid_tgid();
}

SEC("tp_btf/softirq_entry")
int BPF_PROG(record_softirq_entry, u32 vector)
{
	struct record_core *c = record_core();

	return !c || is_senders(c, vector) ? 0 : enter(source_of(vector));
}

SEC("tp_btf/softirq_exit")
int BPF_PROG(record_softirq_exit, u32 vector)
{
	struct record_core *c = record_core();

	if (!c)
		return 0;
	if (!is_senders(c, vector))
		return leave();
	c->sender = 0;
	return 0;
}

SEC("tp_btf/netif_rx")
int BPF_PROG(record_netif_rx)
{
	struct record_core *c = record_core();

	if (c && !c->interrupts)
		c->sender = (u32)bpf_get_current_pid_tgid();
	return 0;
}

#endif
