/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/* Who belongs to the target. */
#ifndef WHATIF_MEMBERS_H
#define WHATIF_MEMBERS_H

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child)
{
	struct thread *p = thread_of(parent), *t;
	u64 now;

	if (!p)
		return 0;
	t = bpf_task_storage_get(&threads, child, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!t) {
		lose(this_core(), LOSS_THREAD);
		return 0;
	}
	/* What delayed the parent delayed the birth of the child. */
	now = bpf_ktime_get_ns();
	adopt(p);
	hand_over(p, place_of(parent, BY_FORKING), now);
	t->account = p->account;
	t->lead = p->lead;
	t->account.since = now;
	__builtin_memset(&t->credit, 0, sizeof(t->credit));
	t->waiting.left = 0;
	t->running = 0;
	t->core = NO_CORE;
	t->spared = 0;
	t->address_space = child->mm == parent->mm ? p->address_space
						   : __sync_fetch_and_add(&spaces, 1) + 1;
	t->born = 0;
	t->lost = child->mm == parent->mm ? p->lost : 0;
	t->guest = child->mm == parent->mm ? p->guest : 0;
	if (counting)
		inherit_counters(p, t, child->pid == child->tgid);
	t->memory = (u64)child->mm;
	t->code_pages = p->code_pages;
	t->present = p->present;
	if (child->pid == child->tgid) {
		u32 tgid = child->tgid, one = 1;

		__sync_fetch_and_add(&control.processes, 1);
		if (bpf_map_update_elem(&processes, &tgid, &one, BPF_ANY))
			lose(this_core(), LOSS_PROCESS);
	}
	return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct *task)
{
	struct thread *t = thread_of(task);
	struct mapping m = {};

	if (!t)
		return 0;
	if (counting)
		leave_counters(t);
	t->address_space = __sync_fetch_and_add(&spaces, 1) + 1;
	t->memory = (u64)task->mm;
	t->code_pages = 0;
	t->born = 0;
	t->present = 0;
	t->guest = 0;
	t->lost = 0;
	/* If the map's lock is not to be had user space finds out by itself which file it is. */
	m.address = BPF_CORE_READ(task, mm, start_code);
	bpf_find_vma(task, m.address, on_vma, &m, 0);
	tell(EVENT_EXEC, task->tgid, m.address, &m.place);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit, struct task_struct *task)
{
	struct thread *t = thread_of(task);
	u32 tgid = task->tgid;
	bool last;

	if (!t)
		return 0;
	/*
	 * Once no thread is in user space any more, what is read is all. Kernels before
	 * 6.16 come here when the memory is gone already.
	 */
	last = task->signal->live.counter == 0;
	if (counting)
		read_counters(t, READ_NOW, AT_END);
	if (!last)
		return 0;
	/* Two last threads may both see 0: only one of them can delete. */
	if (bpf_map_delete_elem(&processes, &tgid))
		return 0;
	if (counting)
		leave_counters(t);
	/* Before whatif may see that nothing of the target is left. */
	visit_all(t, control.exits, 0);
	__sync_fetch_and_sub(&control.processes, 1);
	return 0;
}

#endif
