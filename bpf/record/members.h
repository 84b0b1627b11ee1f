/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/* Which processes are recorded: those that user space chooses, and what they fork. */
#ifndef WHATIF_RECORD_MEMBERS_H
#define WHATIF_RECORD_MEMBERS_H

#include "../members/task.h"
#include "hooks.h"
#include "mappings.h"
#include "rings.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1 << 16);
	__type(key, u32);
	__type(value, struct recorded_process);
} members SEC(".maps");

/* By process number in whatif's namespace. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1 << 16);
	__type(key, u32);
	__type(value, u32);
} recorded SEC(".maps");

u64 member_count;
static u64 spaces; /* the last number given to an address space */

static __always_inline struct recorded_process *member_of(struct task_struct *task)
{
	u32 tgid = task->tgid;

	return bpf_map_lookup_elem(&members, &tgid);
}

static __always_inline u64 another_space(void)
{
	return __sync_fetch_and_add(&spaces, 1) + 1;
}

static __always_inline struct recorded_process *add_member(struct task_struct *task, u64 space)
{
	struct recorded_process m = { .space = space };
	u32 tgid = task->tgid;

	m.number = number_in(control.level, task);
	if (!bpf_map_update_elem(&members, &tgid, &m, BPF_NOEXIST))
		__sync_fetch_and_add(&member_count, 1);
	return member_of(task);
}

static __always_inline void name_thread(struct record_thread *t, struct task_struct *task)
{
	bpf_probe_read_kernel(t->name, sizeof(t->name), task->comm);
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(record_fork, struct task_struct *parent, struct task_struct *child)
{
	struct record_core *c = record_core();
	struct record_thread t = {};
	struct recorded_process *m = member_of(parent);
	u64 space;

	if (!m || !c || is_kernels(child))
		return 0;
	space = memory_of(child) == memory_of(parent) ? m->space : another_space();
	if (child->tgid != parent->tgid)
		add_member(child, space);
	if (space != m->space)
		inherit_mappings(m->space, stamp_of_code(parent), space, stamp_of_code(child));
	t.r.time = bpf_ktime_get_ns();
	t.r.kind = RECORD_FORK;
	t.r.thread = parent->pid;
	t.r.other = child->pid;
	t.r.process = child->tgid;
	t.r.cpu = bpf_get_smp_processor_id();
	name_thread(&t, child);
	put(c, &t, sizeof(t));
	return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(record_exec, struct task_struct *task)
{
	struct record_core *c = record_core();
	struct record_thread t = {};
	struct recorded_process *m = member_of(task);
	struct lookup *l = lookup_here();

	if (!m || !c || !l)
		return 0;
	m->space = another_space();
	/* Interrupts are on: samples need not look up the program's own code. */
	find_mapping(m->space, stamp_of_code(task),
		     begin_lookup(l, BPF_CORE_READ(task, mm, start_code)));
	t.r.time = bpf_ktime_get_ns();
	t.r.kind = RECORD_EXEC;
	t.r.thread = task->pid;
	t.r.process = task->tgid;
	t.r.cpu = bpf_get_smp_processor_id();
	name_thread(&t, task);
	put(c, &t, sizeof(t));
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(record_exit, struct task_struct *task)
{
	struct recorded_process *m = member_of(task);

	if (!m || untrusted(task)->signal->live.counter ||
	    __sync_val_compare_and_swap(&m->ended, 0, 1))
		return 0;
	record_hooks(control.exits);
	__sync_fetch_and_sub(&member_count, 1);
	return 0;
}

/* Until now the last thread was on its way out: it has waked its parent, and left its core. */
SEC("tp_btf/sched_process_free")
int BPF_PROG(record_free, struct task_struct *task)
{
	u32 tgid = task->tgid;

	if (task->pid == tgid)
		bpf_map_delete_elem(&members, &tgid);
	return 0;
}

/* User space runs this once, before it chooses: in which namespace its numbers are. */
SEC("syscall")
int find_level(void *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();

	control.level = BPF_CORE_READ(task, thread_pid, level);
	control.own = task->tgid;
	return 0;
}

/* A pass over all tasks takes in the processes that user space has chosen. */
SEC("iter/task")
int record_join(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	u32 number;

	if (!task || is_kernels(task) || !memory_of(task))
		return 0;
	number = number_in(control.level, task);
	if (bpf_map_lookup_elem(&recorded, &number) && !member_of(task))
		add_member(task, another_space());
	return 0;
}

#endif
