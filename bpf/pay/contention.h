/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/*
 * Which other tasks want this core. A stop for what one thread owes would delay another thread of
 * the target for what is not its own. Outsiders wait, as for anything else that runs.
 */
#ifndef WHATIF_CONTENTION_H
#define WHATIF_CONTENTION_H

#include "fair_share.h"

/* So many waiting tasks are looked at: the loop must end. */
#define CONTENDERS 16

/*
 * Whether a task waits for this core that the scheduler would run at once instead of the current
 * one: of the stop or deadline class, or of a higher real-time priority. A thread of the target
 * counts, too: it would be delayed for what the current thread owes. Two kinds of queued tasks
 * would not run: real-time tasks that have used up their share of the core, and real-time tasks
 * while the scheduler serves ordinary tasks (dl_server, which counts as a deadline task).
 */
SUBPROGRAM int is_outranked(void)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct task_struct *stop;
	u32 deadlines, served;
	struct rq *rq;

	rq = BPF_CORE_READ(task, se.cfs_rq, rq);
	if (BPF_CORE_READ(rq, nr_running) < 2)
		return 0;
	stop = BPF_CORE_READ(rq, stop);
	if (stop && BPF_CORE_READ_BITFIELD_PROBED(stop, on_rq)) /* int or u8 */
		return 1;
	served = bpf_core_field_exists(task->dl_server) && BPF_CORE_READ(task, dl_server);
	deadlines = BPF_CORE_READ(rq, dl.dl_nr_running);
	if (deadlines > served + (task->prio < 0))
		return 1;
	if (served || !BPF_CORE_READ(rq, rt.rt_nr_running))
		return 0;
	if (bpf_core_field_exists(rq->rt.rt_queued) && !BPF_CORE_READ(rq, rt.rt_queued))
		return 0;
	return BPF_CORE_READ(rq, rt.highest_prio.curr) < task->prio;
}

/* Whether another thread of the target waits for this core. */
SUBPROGRAM int has_contender(void)
{
	struct task_struct *task = bpf_get_current_task_btf(), *contender;
	struct list_head *head, *at;
	struct process *p;
	struct rq *rq;
	u32 tgid, urgent;

	rq = BPF_CORE_READ(task, se.cfs_rq, rq);
	if (!applies(RULE_CONTENTION) || BPF_CORE_READ(rq, nr_running) < 2)
		return 0;
	/*
	 * Where everyone is the target, whatif's own threads cannot be told apart; and real-time
	 * tasks are not in the list.
	 */
	urgent = BPF_CORE_READ(rq, rt.rt_nr_running) + BPF_CORE_READ(rq, dl.dl_nr_running);
	if (membership.mode == MEMBERS_EVERYONE || urgent > (task->prio < FIRST_FAIR_PRIORITY) ||
	    !bpf_core_field_exists(rq->cfs_tasks))
		return 1;
	/*
	 * Without the lock: if the list changes meanwhile a task may be missed, or the end. By
	 * processes, because the verifier knows no task in what was read from memory.
	 */
	head = at = (void *)rq + bpf_core_field_offset(struct rq, cfs_tasks);
	for (u32 i = 0; i < CONTENDERS; i++) {
		at = BPF_CORE_READ(at, next);
		if (!at || at == head)
			break;
		contender = (void *)at - bpf_core_field_offset(struct task_struct, se.group_node);
		tgid = BPF_CORE_READ(contender, tgid);
		p = contender == task ? 0 : bpf_map_lookup_elem(&processes, &tgid);
		if (!p || p->exempt)
			continue;
		if (bpf_core_field_exists(contender->se.sched_delayed) &&
		    BPF_CORE_READ(contender, se.sched_delayed))
			continue;
		return 1;
	}
	return 0;
}

struct crowd {
	u64 allowed; /* cores, a bit each */
	u32 busy;    /* of those */
};

static long on_busy_core(u32 i, struct crowd *crowd)
{
	struct shown s = shown_by(i);

	if (s.level && !s.left && crowd->allowed >> (i & 63) & 1)
		crowd->busy++;
	return 0;
}

/*
 * Whether threads of the target run on all cores that this thread may use. Others that want a core
 * may mostly use the same ones. With more than 64 cores a thread that may use some is treated as
 * one that may use all.
 */
SUBPROGRAM int is_crowded(void)
{
	struct task_struct *task = bpf_get_current_task_btf();
	u32 all = control.cores + control.parked;
	struct crowd crowd = { .allowed = possible_cores > 64 ? ~0ull : task->cpus_mask.bits[0] };

	if (!applies(RULE_CROWDS))
		return 0;
	if (task->nr_cpus_allowed == 1)
		return 1;
	bpf_loop(possible_cores, on_busy_core, &crowd, 0);
	return crowd.busy >= (possible_cores > 64 ? all : lesser(task->nr_cpus_allowed, all));
}

#endif
