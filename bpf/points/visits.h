/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/* Progress points: counting their visits. */
#ifndef WHATIF_VISITS_H
#define WHATIF_VISITS_H

#include "../base/registers.h"
#include "spans.h"

/*
 * A thread of the target visits a point, n times at once, and counting delays it by cost. That is
 * booked like any other delay, so it does not show in the program's virtual time. Without spans the
 * point must be no end of a latency: that spares the stack what those need.
 */
static __always_inline void visit_as(struct thread *t, u64 point, u64 n, u64 cost, const u64 *key,
				     bool spans)
{
	u64 now, at, had, bin;
	struct core *c;

	if (point >= MAX_POINTS)
		return;
	__sync_fetch_and_add(&visits[point], n);
	__sync_fetch_and_add(&spent[point], cost);
	now = bpf_ktime_get_ns();
	if (!under_way(now)) {
		if (spans)
			span_visit(t, point, key, now, control.global);
		return;
	}
	enter_experiment(t);
	if (!spans || span_points[point].role == SPAN_NONE)
		earn(t, now);
	else
		hand_over(t, place_of(bpf_get_current_task_btf(), BY_VISITING), now);
	if (spans)
		span_visit(t, point, key, now, t->account.level);
	/* Stamped with the thread's virtual time since the experiment began. */
	at = now - control.start;
	had = t->account.level - control.global_start;
	bin = (at > had ? at - had : 0) >> control.bin_shift;
	if (bin < MAX_BINS)
		__sync_fetch_and_add(&bins[control.epoch & 1][point][bin], n);
	if (spans && span_points[point].role != SPAN_NONE)
		t->requests.available_since = now - t->account.level;
	if (!cost)
		return;
	raise_level(t, cost, WHY_MEASURED);
	c = this_core();
	if (c)
		show_level(c, t, 0);
}

/* See polling.h. */
int finish_poll(struct core *c, struct thread *t);

SUBPROGRAM int visit_keyed(struct thread *t, u64 point, u64 n, u64 cost, const u64 *key)
{
	if (!t)
		return 0;
	finish_poll(this_core(), t);
	visit_as(t, point, n, cost, key, 1);
	return 0;
}

SUBPROGRAM int visit_without_spans(struct thread *t, u64 point, u64 n)
{
	if (t)
		visit_as(t, point, n, 0, 0, 0);
	return 0;
}

static __always_inline void visit(struct thread *t, u64 point, u64 n, u64 cost)
{
	visit_keyed(t, point, n, cost, 0);
}

struct visits {
	struct thread *thread;
	u32 points; /* left, a bit each */
	u64 cost;
};

static long on_visit(u32 i, struct visits *v)
{
	if (v->points >> i & 1) {
		visit(v->thread, i, 1, v->cost);
		v->cost = 0; /* nearly all of it is the way here */
		v->points &= ~(1u << i);
	}
	return !v->points;
}

/* Visits several points at once, a bit each. bpf_loop, as the verifier looks at its body once. */
static __always_inline void visit_all(struct thread *t, u32 points, u64 cost)
{
	struct visits v = { .thread = t, .points = points, .cost = cost };

	bpf_loop(MAX_POINTS, on_visit, &v, 0);
}

/*
 * What a visit itself takes, in an experiment. User space runs this, and subtracts what it counts.
 */
#define MEASURED_VISITS 1000
static struct thread measured;

static long on_measured(u32 i, void *none)
{
	visit(&measured, 0, 1, 0);
	return 0;
}

SEC("syscall")
int measure_visits(void *ctx)
{
	u64 begin = bpf_ktime_get_ns();

	bpf_loop(MEASURED_VISITS, on_measured, 0, 0);
	return (bpf_ktime_get_ns() - begin) / MEASURED_VISITS;
}

/* A probe's cookie has its point, its enum cost, and the register with the key. */
static __always_inline int visit_by_probe(struct pt_regs *ctx)
{
	struct thread *t = thread_of(bpf_get_current_task_btf());
	u64 cookie = bpf_get_attach_cookie(ctx), key;
	u32 keyed = cookie >> 40 & 0xff;

	if (!t)
		return 0;
	t->requests.by_goroutine = keyed == 1 + GOROUTINE_REGISTER;
	if (keyed)
		key = key_register(ctx, keyed - 1);
	visit_keyed(t, cookie & 0xffffffff, 1, cost_of(cookie), keyed ? &key : 0);
	return 0;
}

/* For both ways of attaching: one link for many probes, from Linux 6.6 on, or a link each. */
PROBE(probe, visit_by_probe(ctx))

/*
 * A sample in the line of a sampled point, which is 1 + its number: a period of running is a visit.
 */
static __always_inline void pass(struct core *c, struct thread *t, u32 point, u64 ran)
{
	u32 i = point - 1;

	barrier_var(i); /* or what the verifier saw checked is not what is used */
	if (i >= MAX_POINTS)
		return;
	ran += c->passed[i];
	if (ran >= control.asked_period)
		visit(t, i, ran / control.asked_period, 0);
	c->passed[i] = ran % control.asked_period;
}

#endif
