/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/* The processes of the target, and what user space is told about them. */
#ifndef WHATIF_PROCESSES_H
#define WHATIF_PROCESSES_H

#include "../base/page.h"
#include "task.h"

struct membership membership;

/* Live processes of the target, to know when the last one is gone, and exempt processes. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1 << 16);
	__type(key, u32);
	__type(value, struct process);
} processes SEC(".maps");

/* By process number in whatif's namespace. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1 << 16);
	__type(key, u32);
	__type(value, struct choice);
} chosen SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} events SEC(".maps");

static u64 spaces;     /* the last number given to an address space */
#define SPACE_KERNEL 0 /* for the kernel's own code */

static __always_inline struct process *process_of(struct task_struct *task)
{
	u32 tgid = task->tgid;

	return bpf_map_lookup_elem(&processes, &tgid);
}

/* The number that user space has for a process. */
static __always_inline u32 number_of(struct task_struct *task)
{
	return number_in(membership.level, task);
}

/* Tells user space something about the current process. */
static __always_inline bool tell(u32 kind, u64 address, const struct place *place)
{
	u32 tgid = number_of(bpf_get_current_task_btf());
	struct event *e = bpf_ringbuf_reserve(&events, sizeof(*e), 0);

	if (!e) {
		lose(this_core(), LOSS_EVENT);
		return 0;
	}
	e->kind = kind;
	e->tgid = tgid;
	e->address = address;
	if (place)
		e->place = *place;
	else
		__builtin_memset(&e->place, 0, sizeof(e->place));
	/* By itself the ring wakes only a reader who has read everything before. */
	bpf_ringbuf_submit(e, !control.patient				   ? 0
			      : kind == EVENT_PLACE || kind == EVENT_TABLE ? BPF_RB_NO_WAKEUP
									   : BPF_RB_FORCE_WAKEUP);
	return 1;
}

#endif
