/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/*
 * Who else wants a core. What a thread owes is no affair of the target's others that wait for its core: they would be
 * delayed for it. Who is of no target has no virtual time, and waits as for anything else that runs.
 */
#ifndef WHATIF_RIVALS_H
#define WHATIF_RIVALS_H

/* So many are looked at. */
#define RIVALS 16

/* Whether another thread of the target waits for this core. Not static: as step_out. */
__noinline int has_rival(void)
{
	struct task_struct *task = bpf_get_current_task_btf(), *rival;
	struct list_head *head, *at;
	struct process *p;
	struct rq *rq;
	u32 tgid;

	rq = BPF_CORE_READ(task, se.cfs_rq, rq);
	if (BPF_CORE_READ(rq, nr_running) < 2)
		return 0;
	/* Where all belong to it, and where those are that have precedence. */
	if (membership.mode == MEMBERS_EVERYONE || BPF_CORE_READ(rq, rt.rt_nr_running) || BPF_CORE_READ(rq, dl.dl_nr_running))
		return 1;
	/* It may change meanwhile: then one is not seen, or the end is not. */
	head = at = (void *)rq + bpf_core_field_offset(struct rq, cfs_tasks);
	for (u32 i = 0; i < RIVALS; i++) {
		at = BPF_CORE_READ(at, next);
		if (!at || at == head)
			break;
		rival = (void *)at - bpf_core_field_offset(struct task_struct, se.group_node);
		tgid = BPF_CORE_READ(rival, tgid);
		p = rival == task ? 0 : bpf_map_lookup_elem(&processes, &tgid);
		if (p && !p->exempt)
			return 1;
	}
	return 0;
}

#endif
