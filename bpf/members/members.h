/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/*
 * Which threads belong to the target: those with storage (struct thread). Children get it at their
 * birth. What ran before whatif came is found by passes over all tasks. A chosen process is first
 * put among the processes, and from then on everything that it forks belongs to the target, whether
 * the pass has reached the forking thread or not. So one pass is enough, and no thread that is
 * forked meanwhile escapes.
 */
#ifndef WHATIF_MEMBERS_H
#define WHATIF_MEMBERS_H

#include "../code/deferred.h"
#include "../points/counters.h"
#include "../wake/goroutine_sleep.h"
#include "../wake/polling.h"

static __always_inline u64 new_space(void)
{
	return __sync_fetch_and_add(&spaces, 1) + 1;
}

/* A process is over, or leaves the target. Gives whether this call removed it. */
static __always_inline bool remove_process(struct task_struct *task)
{
	struct process *p = process_of(task);
	u32 tgid = task->tgid;
	bool exempt = p && p->exempt, goroutines = p && p->goroutines;

	/* Two last threads may both see that none is left: only one of them can delete. */
	if (!p || bpf_map_delete_elem(&processes, &tgid) || exempt)
		return 0;
	if (goroutines)
		forget_goroutines(tgid);
	return 1;
}

static __always_inline void one_process_less(void)
{
	control.ended = bpf_ktime_get_ns();
	__sync_fetch_and_sub(&control.processes, 1);
}

/* Adds a process; false: one of that number exists, or there is no room. */
static __always_inline bool add_process(struct task_struct *task, u64 space, u32 exempt, u64 flags)
{
	struct process p = {
		.space = space, .first_space = space, .number = number_of(task), .exempt = exempt
	};
	u32 tgid = task->tgid;
	long err = bpf_map_update_elem(&processes, &tgid, &p, flags);

	if (err && err != -17 /* EEXIST */)
		lose(this_core(), LOSS_PROCESS);
	if (!err && !exempt)
		__sync_fetch_and_add(&control.processes, 1);
	return !err;
}

/*
 * A thread that ran before belongs to the target from now on. Its past is unknown: it stands at
 * official virtual time, has waited for nothing and owes nothing, and what its process has counted
 * so far does not count.
 */
static __always_inline struct thread *join(struct task_struct *task, u64 space, bool fresh)
{
	struct thread *t = bpf_task_storage_get(&threads, task, 0, 0);
	u64 now;

	if (t)
		return t;
	t = bpf_task_storage_get(&threads, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!t)
		return 0;
	now = bpf_ktime_get_ns();
	account_open(&t->account, control.epoch, control.global, now);
	t->credit.began = now;
	t->turns.core = NO_CORE;
	t->process.address_space = space;
	t->process.memory = (u64)memory_of(task);
	t->process.preexisting = !fresh;
	/* It is in its parent's memory until it runs a program, and the parent counts there. */
	t->process.uncounted = t->process.guest = untrusted(task)->vfork_done != 0;
	__sync_fetch_and_add(&membership.joined, 1);
	return t;
}

/* What user space wants of a process, if it is the process that is meant. */
static __always_inline struct choice *choice_of(struct task_struct *task)
{
	u32 number = number_of(task);
	struct choice *c = bpf_map_lookup_elem(&chosen, &number);

	if (c && c->leaves)
		return 0; /* it is chosen for something else */
	if (!c || !c->start)
		return c;
	/* Otherwise the chosen process is gone, and this one has its number. */
	if (c->start != BPF_CORE_READ(task, group_leader, start_boottime) / 10000000)
		return 0;
	if (c->unique && bpf_core_field_exists(struct pid, ino) &&
	    c->unique != BPF_CORE_READ(task, group_leader, thread_pid, ino))
		return 0;
	return c;
}

/*
 * The address space of a process that belongs to the target, or does from now on; 0: it does not.
 */
static __always_inline u64 space_to_join(struct task_struct *task, bool *fresh)
{
	struct process *p = process_of(task);
	struct choice *c;

	if (p && !p->exempt)
		return p->space;
	c = choice_of(task);
	if (p && !(c && c->fresh))
		return 0;
	if (p)
		remove_process(task); /* whatif's own child, which becomes the target */
	if (c && c->exempt) {
		add_process(task, 0, 1, BPF_NOEXIST);
		return 0;
	}
	if (!c && membership.mode != MEMBERS_EVERYONE)
		return 0;
	if (c)
		*fresh = c->fresh;
	if (!add_process(task, new_space(), 0, BPF_NOEXIST)) {
		p = process_of(task); /* another thread has let it join just now */
		return p && !p->exempt ? p->space : 0;
	}
	/* If its last thread has come to its end meanwhile, no other code removes the process. */
	if (!untrusted(task)->signal->live.counter) {
		if (remove_process(task))
			one_process_less();
		return 0;
	}
	p = process_of(task);
	return p ? p->space : 0;
}

/* A pass over all tasks in whatif's namespace of process numbers. */
SEC("iter/task")
int join_threads(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	bool fresh = 0;
	u64 space;

	if (!task || is_kernels(task))
		return 0;
	if (!memory_of(task) || task->flags & PF_EXITING) {
		/*
		 * Other threads of the process may continue. One of them that runs a program now
		 * takes this one's number, and may be met under neither.
		 */
		if (membership.mode != MEMBERS_DESCEND && task->pid == task->tgid &&
		    untrusted(task)->signal->live.counter)
			space_to_join(task, &fresh);
		return 0;
	}
	if (bpf_task_storage_get(&threads, task, 0, 0))
		return 0;
	space = space_to_join(task, &fresh);
	if (space && !join(task, space, fresh))
		__sync_fetch_and_add(&membership.missed, 1);
	return 0;
}

/* User space runs this once, before it chooses: in which namespace its numbers are. */
SEC("syscall")
int find_namespace(void *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();

	membership.level = BPF_CORE_READ(task, thread_pid, level);
	membership.own = task->tgid;
	return 0;
}

/* The child of a thread that no pass has reached yet, or that does not belong to the target. */
static __always_inline void on_unknown_fork(struct task_struct *parent, struct task_struct *child)
{
	bool process = child->pid == child->tgid;
	struct process *p = process_of(parent);
	struct thread *t;
	u64 space;

	if (is_kernels(child))
		return;
	if (p && !p->exempt) {
		space = memory_of(child) == memory_of(parent) ? p->space : new_space();
		if (process && !add_process(child, space, 0, BPF_ANY))
			return;
	} else if (membership.mode == MEMBERS_EVERYONE && process) {
		space = new_space();
		if (!add_process(child, space, parent->tgid == membership.own, BPF_ANY) ||
		    parent->tgid == membership.own)
			return;
	} else {
		return;
	}
	t = join(child, space, 0);
	if (!t) {
		lose(this_core(), LOSS_THREAD);
		return;
	}
	/* The kernel does not say yet whether it is a vfork. */
	if (process && memory_of(child) == memory_of(parent))
		t->process.uncounted = t->process.guest = 1;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child)
{
	struct thread *p = thread_of(parent), *t;
	u64 now, place;

	if (!p) {
		if (membership.mode != MEMBERS_DESCEND)
			on_unknown_fork(parent, child);
		return 0;
	}
	t = bpf_task_storage_get(&threads, child, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!t) {
		lose(this_core(), LOSS_THREAD);
		return 0;
	}
	/* What delayed the parent delayed the child's birth. */
	now = bpf_ktime_get_ns();
	finish_poll(this_core(), p);
	place = place_of(parent, BY_FORKING);
	hand_over(p, place, now);
	account_copy(&t->account, &p->account);
	t->lead = p->lead;
	t->account.since = now;
	__builtin_memset(&t->credit, 0, sizeof(t->credit));
	t->learned.family = place ^ p->process.address_space * 0x9e3779b97f4a7c15;
	t->spin.left = 0;
	t->running = 0;
	t->turns.core = NO_CORE;
	t->turns.share_used = 0;
	t->process.address_space =
		memory_of(child) == memory_of(parent) ? p->process.address_space : new_space();
	t->process.forked = 0;
	t->process.uncounted = memory_of(child) == memory_of(parent) ? p->process.uncounted : 0;
	t->process.guest = memory_of(child) == memory_of(parent) ? p->process.guest : 0;
	if (counting)
		inherit_counters(p, t, child->pid == child->tgid);
	t->process.memory = (u64)memory_of(child);
	t->process.code_pages = p->process.code_pages;
	t->process.preexisting = p->process.preexisting;
	if (child->pid == child->tgid)
		add_process(child, t->process.address_space, 0, BPF_ANY);
	return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct *task)
{
	struct thread *t = thread_of(task);
	struct mapping m = {};
	struct process *p;
	bool fresh = 1;
	u64 space;

	if (!t) {
		/*
		 * No pass has reached it yet; or it was a kernel thread until now, as the kernel
		 * starts a program itself.
		 */
		if (membership.mode == MEMBERS_DESCEND)
			return 0;
		space = space_to_join(task, &fresh);
		t = space ? join(task, space, 1) : 0;
		if (!t)
			return 0;
	}
	if (counting)
		leave_counters(t);
	t->process.address_space = new_space();
	drop_deferred(t);
	p = process_of(task);
	if (p) {
		p->space = t->process.address_space;
		if (p->goroutines)
			forget_goroutines(task->tgid);
		p->goroutines = p->queued = 0;
	}
	t->host.has_slept = t->host.goroutine = t->host.delays_next = 0;
	t->host.idle_account.since = 0;
	t->process.memory = (u64)memory_of(task);
	t->process.code_pages = 0;
	t->process.forked = 0;
	t->process.preexisting = 0;
	t->process.guest = 0;
	t->process.uncounted = 0;
	/*
	 * Now no other thread can hold the map's lock. A program that is gone at once is met at no
	 * other time but its end.
	 */
	if (counting)
		look_at_memory(t, 0);
	/* If the map's lock cannot be had, user space finds the file by itself. */
	m.address = BPF_CORE_READ(task, mm, start_code);
	bpf_find_vma(task, m.address, on_vma, &m, 0);
	tell(EVENT_EXEC, m.address, &m.place);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit, struct task_struct *task)
{
	struct thread *t = thread_of(task);
	bool last = untrusted(task)->signal->live.counter == 0;

	/*
	 * whatif ends, by whatever signal. That may take a while, as it waits for cores that it has
	 * stopped itself.
	 */
	if (task->tgid == membership.own && untrusted(task)->signal->flags & SIGNAL_GROUP_EXIT)
		control.orphaned = 1;
	if (!t) {
		if (last && membership.mode != MEMBERS_DESCEND && remove_process(task))
			one_process_less();
		return 0;
	}
	drop_deferred(t);
	if (t->wait.since)
		forget_wait(this_core(), t, bpf_ktime_get_ns());
	/*
	 * Once no thread is in user space any more, what is read is all. Kernels before
	 * 6.16 come here when the memory is gone already.
	 */
	if (counting)
		read_counters(t, READ_NOW, AT_END);
	if (!last || !remove_process(task))
		return 0;
	if (counting)
		leave_counters(t);
	/* Before whatif may see that nothing of the target is left. */
	visit_all(t, control.exits, 0);
	one_process_less();
	return 0;
}

#endif
