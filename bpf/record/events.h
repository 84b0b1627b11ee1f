/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/* The events of a window: switches, wake-ups, samples, visits. */
#ifndef WHATIF_RECORD_EVENTS_H
#define WHATIF_RECORD_EVENTS_H

#include "interrupts.h"
#include "lines.h"
#include "objects.h"

/* What a core runs, as a record has it. */
static __always_inline u32 runs(struct task_struct *task, const struct recorded_process *m)
{
	return m ? task->pid : task->pid ? THREAD_STRANGER : THREAD_IDLE;
}

/* A thread of the target leaves its core. */
static __always_inline void set_left(struct record *r, struct task_struct *task,
				     const struct recorded_process *m, bool preempted)
{
	r->process = task->tgid;
	if (task->__state & TASK_DEAD) {
		r->condition = CONDITION_ENDED;
	} else if (preempted || !task->__state) {
		r->condition = CONDITION_RUNNABLE;
	} else {
		r->condition = CONDITION_WAITING;
		r->place = task->flags & PF_EXITING ? 0 : place_here(m->space);
		set_waited_for(r, task, 1);
	}
}

SEC("tp_btf/sched_switch")
int BPF_PROG(record_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	struct record_core *c = record_core();
	struct record r = { .kind = RECORD_SWITCH };
	struct recorded_process *p, *n;
	u32 ours = 0;

	if (!c)
		return 0;
	/* A core does not switch in an interrupt: correct a wrong count. */
	c->interrupts = c->source = 0;
	c->switches++;
	if (!control.window)
		return 0;
	r.time = bpf_ktime_get_ns();
	p = prev->pid ? member_of(prev) : 0;
	n = next->pid ? member_of(next) : 0;
	/* The verifier knows no or of pointers. */
	if (p)
		ours = 1;
	barrier_var(ours);
	if (n)
		ours = 1;
	barrier_var(ours);
	/* From one stranger to another. */
	if (!ours && prev->pid && next->pid)
		return 0;
	if (!is_recording(c, r.time))
		return 0;
	r.thread = runs(prev, p);
	r.other = runs(next, n);
	if (p)
		set_left(&r, prev, p, preempt);
	put_event(c, &r, sizeof(r));
	return 0;
}

SEC("tp_btf/sched_waking")
int BPF_PROG(record_waking, struct task_struct *task)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct record_core *c = record_core();
	struct record r = { .kind = RECORD_WAKE };
	struct recorded_process *waker = 0;
	u32 about;

	if (!c || !control.window || !member_of(task))
		return 0;
	r.time = bpf_ktime_get_ns();
	if (!is_recording(c, r.time))
		return 0;
	about = c->source & 15;
	r.other = task->pid;
	r.process = task->tgid;
	r.thread = THREAD_STRANGER;
	if (c->interrupts || !current->pid)
		r.cause = c->interrupts && about == FROM_TIMER ? BY_TIMER : BY_DEVICE;
	else
		waker = member_of(current);
	r.class = class_of_end(task, waker != 0, c->interrupts, about);
	if (waker) {
		r.cause = BY_THREAD;
		r.thread = current->pid;
		if (!(current->flags & PF_EXITING))
			r.place = place_here(waker->space);
		if (calling(current) == CALL_FUTEX)
			set_futex(&r, current, (struct pt_regs *)bpf_task_pt_regs(current), 1);
	} else if (!c->interrupts && current->pid) {
		r.cause = BY_STRANGER;
	}
	c->wakes++;
	put_event(c, &r, sizeof(r));
	return 0;
}

/* An event of the core's clock that counts the time in which it is busy. */
SEC("perf_event")
int record_sample(struct bpf_perf_event_data *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct record_core *c = record_core();
	struct record r = { .kind = RECORD_SAMPLE };
	struct recorded_process *m;

	if (!c || !task->pid)
		return 0;
	m = member_of(task);
	if (!m || !memory_of(task))
		return 0;
	r.time = bpf_ktime_get_ns();
	r.object = read_lines(c); /* also between windows, as it is about the time before */
	if (!is_recording(c, r.time))
		return 0;
	r.thread = task->pid;
	r.process = task->tgid;
	r.place = stack_of_sample(m->space);
	c->samples++;
	put_event(c, &r, sizeof(r));
	return 0;
}

/* A probe's cookie: the point, its role from bit 16 on, and from bit 24 1 + the key's register. */
static __always_inline int record_point(struct pt_regs *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct record_core *c = record_core();
	struct record r = { .kind = RECORD_VISIT };
	u64 cookie;

	if (!c || !control.window || !member_of(task))
		return 0;
	r.time = bpf_ktime_get_ns();
	if (!is_recording(c, r.time))
		return 0;
	cookie = bpf_get_attach_cookie(ctx);
	r.thread = task->pid;
	r.process = task->tgid;
	r.extra = cookie;
	r.class = cookie >> 16 & 15;
	if (cookie >> 24 & 0xff)
		r.object = key_register(ctx, (cookie >> 24 & 0xff) - 1);
	c->visited++;
	put_event(c, &r, sizeof(r));
	return 0;
}

PROBE(record_point, record_point(ctx))

/* A pass over all tasks, as a window begins: what the target's threads do. */
SEC("iter/task")
int record_states(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct record_core *c = record_core();
	struct record_thread t = { .r.kind = RECORD_STATE };
	struct recorded_process *m;

	if (!task || !c || is_kernels(task))
		return 0;
	m = member_of(task);
	if (!m || task->__state & TASK_DEAD)
		return 0;
	t.r.time = bpf_ktime_get_ns();
	t.r.thread = task->pid;
	t.r.process = task->tgid;
	/* These are int or u8. */
	if (BPF_CORE_READ_BITFIELD(task, on_cpu)) {
		t.r.condition = CONDITION_RUNNING;
		t.r.other = task->thread_info.cpu;
	} else if (BPF_CORE_READ_BITFIELD(task, on_rq)) {
		t.r.condition = CONDITION_RUNNABLE;
	} else {
		t.r.condition = CONDITION_WAITING;
		t.r.place = place_of_sleeper(task, m->space);
		set_waited_for(&t.r, task, 0);
	}
	name_thread(&t, task);
	put(c, &t, sizeof(t));
	return 0;
}

#endif
