/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/*
 * Latencies: how long it took, in virtual time, from a begin to its end. The two belong together
 * because they happen in one thread, or because both have the same key in one process.
 *
 * Durations are differences of positions, which continue from one experiment to the next. So what
 * began in an earlier experiment has its duration, too, a part of it at the earlier speed; such
 * durations are counted.
 */
#ifndef WHATIF_SPANS_H
#define WHATIF_SPANS_H

#include "../earn/segment.h"

struct begun_key {
	u64 key;
	u64 space; /* of the process: its number may be another process's by the time of the end */
	u64 span;
};

/*
 * What has begun and has a key. Begins that never end would fill it: the oldest goes, and its end,
 * if it comes after all, counts as one without a begin.
 */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1 << 16);
	__type(key, struct begun_key);
	__type(value, struct begun);
} begun_by_key SEC(".maps");

/*
 * The latest begins without a key, by number: where one thread takes requests from a queue, the
 * n-th to begin is the n-th to end. That tells whether virtual time had come to a request, not how
 * long it took.
 */
#define RECENT 256
struct numbered {
	struct begun begun;
	u64 number;
};
static struct numbered recent[MAX_SPANS][RECENT];
static u32 enders[MAX_SPANS]; /* the thread that ends them; NO_THREAD: there are several */
#define NO_THREAD 0xffffffffu

/*
 * The bin of a duration: its octave, and within it one of SPAN_OCTAVE parts. Below SPAN_OCTAVE each
 * ns has its own. Longer durations than all are in the last bin.
 */
SUBPROGRAM u32 span_bin(u64 ns)
{
	u32 octave = 0;
	u64 high = ns >> 5;

	if (ns < SPAN_OCTAVE)
		return ns;
	/* By halves: the position of the highest bit, from SPAN_OCTAVE's on. */
	if (high >> 32) {
		octave += 32;
		high >>= 32;
	}
	if (high >> 16) {
		octave += 16;
		high >>= 16;
	}
	if (high >> 8) {
		octave += 8;
		high >>= 8;
	}
	if (high >> 4) {
		octave += 4;
		high >>= 4;
	}
	if (high >> 2) {
		octave += 2;
		high >>= 2;
	}
	if (high >> 1) {
		octave += 1;
		high >>= 1;
	}
	octave += high;
	ns = (octave + 1) * SPAN_OCTAVE + (ns >> octave) % SPAN_OCTAVE;
	return ns < SPAN_BINS ? ns : SPAN_BINS - 1;
}

static __always_inline void number_begin(u64 span, const struct begun *b)
{
	u64 number = visits[span_ends[span].begin & (MAX_POINTS - 1)];
	struct numbered *n = &recent[span][number % RECENT];

	n->begun = *b;
	n->number = number;
}

/* The begin of what ends now, as far as order tells. */
static __always_inline bool begin_by_number(const struct thread *t, u64 span, struct begun *to)
{
	u64 number = visits[span_ends[span].end & (MAX_POINTS - 1)];
	struct numbered *n = &recent[span][number % RECENT];
	u32 me = bpf_get_current_pid_tgid(), ender = enders[span];

	if (!ender)
		enders[span] = me;
	else if (ender != me)
		enders[span] = NO_THREAD;
	/* A process that ran before has ended more requests than were seen to begin. */
	if (t->process.preexisting || enders[span] != me || n->number != number)
		return 0;
	*to = n->begun;
	return 1;
}

static __always_inline bool counts(u64 now)
{
	return under_way(now) && now - control.start >= control.span_from;
}

/*
 * Functions of their own, for the verifier and for kernels before 6.3, which have little stack. The
 * kernel's helpers take no part of a thread's own memory as a key.
 */
SUBPROGRAM int span_begin(struct thread *t, u64 span, const u64 *key, u64 now, u64 level)
{
	struct begun b = { .at = now - level,
			   .epoch = control.epoch,
			   .by = (u32)bpf_get_current_pid_tgid() };
	struct begun *old;
	bool counted = counts(now);

	if (!t || span >= MAX_SPANS)
		return 0;
	old = &t->requests.begun[span];
	b.ahead = debt_of(t, t->account.level);

	if (!key) {
		if (counted && old->at)
			__sync_fetch_and_add(&span_counts[control.epoch & 1][span].again, 1);
		*old = b;
		number_begin(span, &b);
		return 0;
	}
	struct begun_key k = { .key = *key, .space = t->process.address_space, .span = span };

	if (counted && bpf_map_lookup_elem(&begun_by_key, &k))
		__sync_fetch_and_add(&span_counts[control.epoch & 1][span].again, 1);
	if (bpf_map_update_elem(&begun_by_key, &k, &b, BPF_ANY))
		lose(this_core(), LOSS_SPAN);
	return 0;
}

/* Takes the begin; false: there is none. */
static __always_inline bool span_take(struct thread *t, u64 span, const u64 *key, struct begun *to)
{
	struct begun *b = &t->requests.begun[span];

	if (!key) {
		*to = *b;
		b->at = 0;
		return to->at != 0;
	}
	struct begun_key k = { .key = *key, .space = t->process.address_space, .span = span };

	b = bpf_map_lookup_elem(&begun_by_key, &k);
	if (!b)
		return 0;
	*to = *b;
	/* Of two ends at once only one can have it. */
	return !bpf_map_delete_elem(&begun_by_key, &k);
}

/*
 * The request was begun by a thread ahead of virtual time that could not be delayed
 * (return_delay.h), and this thread was free before virtual time had come to it. It found the
 * request in a queue, and should have waited for it: it goes on at the later of the two positions,
 * and owes the difference. A goroutine that changes threads waits for nothing.
 */
static __always_inline u64 wait_for_begin(struct thread *t, const struct begun *b)
{
	struct core *here = this_core();

	if (!here || !b->ahead || b->epoch != (u32)control.epoch ||
	    b->by == (u32)bpf_get_current_pid_tgid())
		return 0;
	return should_have_waited(here, t, b->at, b->ahead);
}

SUBPROGRAM int span_end(struct thread *t, u64 span, const u64 *key, u64 now, u64 level)
{
	u64 position = now - level, took;
	struct span_counts *c;
	struct begun b = {};
	bool found, queued;
	u32 bin;

	if (!t || span >= MAX_SPANS)
		return 0;
	c = &span_counts[control.epoch & 1][span];
	found = span_take(t, span, key, &b);
	queued = key && !t->requests.by_goroutine;

	if (!found) {
		__sync_fetch_and_add(&span_unbegun[span], 1);
		queued = !key && begin_by_number(t, span, &b);
	}
	if (queued && under_way(now))
		position += wait_for_begin(t, &b);
	if (!counts(now))
		return 0;
	if (!found) {
		__sync_fetch_and_add(&c->unmatched, 1);
		return 0;
	}
	/*
	 * Less than nothing: the thread that began it was ahead of virtual time, or owed something
	 * when an experiment ended.
	 */
	took = position > b.at ? position - b.at : 0;
	__sync_fetch_and_add(&c->total, took);
	if (b.epoch != (u32)control.epoch)
		__sync_fetch_and_add(&c->carried, 1);
	bin = span_bin(took);
	if (bin < SPAN_BINS)
		__sync_fetch_and_add(&span_bins[control.epoch & 1][span][bin], 1);
	return 0;
}

/* n visits of a point in the source were counted whose moments are unknown. */
static __always_inline void span_unseen(u64 point, u64 n, u64 now)
{
	u32 span;

	if (point >= MAX_POINTS || span_points[point].role == SPAN_NONE)
		return;
	span = span_points[point].span;
	if (span < MAX_SPANS && counts(now))
		__sync_fetch_and_add(&span_counts[control.epoch & 1][span].unseen, n);
}

/*
 * For points in the source the number of visits is known, not their moments. What is counted when a
 * process goes to sleep is not evenly late: a request that began and ended since the last reading
 * would have taken no time. So the number of requests in progress is taken at ticks, which come at
 * random moments, from what all cores have just read. Each such number stands for the virtual time
 * up to the next tick, and belongs where its tick began, before anything was earned at it.
 */
SUBPROGRAM int sample_spans(void)
{
	u64 now = bpf_ktime_get_ns(), at, had, bin;

	if (!control.sampled_spans || !under_way(now))
		return 0;
	at = now - control.start;
	had = control.global_before > control.global_start
		      ? control.global_before - control.global_start
		      : 0;
	bin = (at > had ? at - had : 0) >> control.bin_shift;
	if (bin >= MAX_BINS)
		return 0;
	for (u32 i = 0; i < MAX_SPANS; i++)
		if (control.sampled_spans >> i & 1)
			span_samples[control.epoch & 1][i][bin] =
				(u32)(visits[span_ends[i].begin & (MAX_POINTS - 1)] -
				      visits[span_ends[i].end & (MAX_POINTS - 1)])
					<< 1 |
				1;
	return 0;
}

/* A visit of a point by t at level; key: 0 where the thread tells what belongs together. */
static __always_inline void span_visit(struct thread *t, u64 point, const u64 *key, u64 now,
				       u64 level)
{
	u32 role = span_points[point].role, span = span_points[point].span;

	if (role == SPAN_BEGIN)
		span_begin(t, span, key, now, level);
	else if (role == SPAN_END)
		/* what it deserves for the request, given or not */
		span_end(t, span, key, now, level + t->credit.request_due);
	else
		return;
	t->credit.request_due = 0;
}

#endif
