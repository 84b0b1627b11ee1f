/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/*
 * Threads that run errands: the clock wakes them, they hand something out, which others that wait for it go on with, and
 * sleep again, all within a tick's distance. No tick makes them pay; and what they hand out comes too early in virtual
 * time, as they slept by the clock. So they are held (hold.h). Who polls is not: it sleeps until it finds something.
 */
#ifndef WHATIF_ERRANDS_H
#define WHATIF_ERRANDS_H

#define TIMER_ABSTIME 1

/* Naps that are remembered; fewer tell nothing. */
#define NAPS_FULL 32
#define NAPS_FEW 4

/* One of three naps ends so: others may be busy still, and then nobody has to be let go on. */
static __always_inline bool runs_errands(const struct thread *t)
{
	return t->naps.all >= NAPS_FEW && 3 * t->naps.errands >= t->naps.all;
}

/*
 * Until when it sleeps it may have said once and for all. By then no less virtual time has passed that it might be held for:
 * it would find the next time past, and hand out as much in less of it.
 */
static __always_inline bool by_appointment(struct task_struct *task, u32 call)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);

	return call == CALL_READ || (call == CALL_CLOCK_NANOSLEEP && REGISTER_SECOND(regs) & TIMER_ABSTIME);
}

/* A thread that sleeps is woken by the clock. */
static __always_inline void nap(struct thread *t, struct task_struct *task)
{
	struct naps *n = &t->naps;

	if (n->place != t->credit.from) {
		n->place = t->credit.from;
		n->all = n->errands = 0;
	}
	n->awake = !by_appointment(task, calling(task));
	if (++n->all < NAPS_FULL)
		return;
	n->all /= 2;
	n->errands /= 2;
}

/* The thread lets another go on, or a stranger. Not static: as step_out. */
__noinline int hand_out(struct thread *t, u64 now)
{
	if (!t || !t->naps.awake)
		return 0;
	t->naps.awake = 0;
	if (now - t->account.since >= control.period)
		return 0;
	t->naps.errands++;
	if (runs_errands(t))
		__sync_fetch_and_add(&control.handed_out, 1);
	return 0;
}

#endif
