/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/*
 * Latencies: how long it took, in virtual time, from a begin to its end. The two
 * belong together because they happen in one thread, or because both have the same
 * key in the same process.
 *
 * Durations are differences of positions, which go on from one experiment to the
 * next. So what began in an earlier one has its duration too, a part of it at the
 * earlier speed; it is counted how many those are.
 */
#ifndef WHATIF_SPANS_H
#define WHATIF_SPANS_H

struct begun_key {
	u64 key;
	u64 space; /* of the process: its number may be another's by the time of the end */
	u64 span;
};

/*
 * What has begun and has a key. What never ends would fill it: the oldest goes, and
 * its end, if it comes after all, is counted as one without a begin.
 */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1 << 16);
	__type(key, struct begun_key);
	__type(value, struct begun);
} begun_by_key SEC(".maps");

/*
 * The bin of a duration: the octave, and in it the SPAN_OCTAVE-th. Below SPAN_OCTAVE
 * each ns has its own. What is longer than all is in the last. Not static: as step_out.
 */
__noinline u32 span_bin(u64 ns)
{
	u32 octave = 0;
	u64 high = ns >> 5;

	if (ns < SPAN_OCTAVE)
		return ns;
	/* By halves: the position of the highest bit, from SPAN_OCTAVE's on. */
	if (high >> 32) { octave += 32; high >>= 32; }
	if (high >> 16) { octave += 16; high >>= 16; }
	if (high >> 8) { octave += 8; high >>= 8; }
	if (high >> 4) { octave += 4; high >>= 4; }
	if (high >> 2) { octave += 2; high >>= 2; }
	if (high >> 1) { octave += 1; high >>= 1; }
	octave += high;
	ns = (octave + 1) * SPAN_OCTAVE + (ns >> octave) % SPAN_OCTAVE;
	return ns < SPAN_BINS ? ns : SPAN_BINS - 1;
}

/* The kernel's helpers take no part of a thread's own memory for a key. */
static __always_inline void span_begin(struct thread *t, u32 span, const u64 *key, u64 position, bool counted)
{
	struct begun *old = &t->begun[span], now = { .at = position, .epoch = control.epoch };

	if (!key) {
		if (counted && old->at)
			__sync_fetch_and_add(&span_counts[control.epoch & 1][span].again, 1);
		*old = now;
		return;
	}
	struct begun_key k = { .key = *key, .space = t->address_space, .span = span };

	if (counted && bpf_map_lookup_elem(&begun_by_key, &k))
		__sync_fetch_and_add(&span_counts[control.epoch & 1][span].again, 1);
	if (bpf_map_update_elem(&begun_by_key, &k, &now, BPF_ANY))
		lose(this_core(), LOSS_SPAN);
}

/* Takes what has begun; false: nothing has. */
static __always_inline bool span_take(struct thread *t, u32 span, const u64 *key, struct begun *to)
{
	struct begun *b = &t->begun[span];

	if (!key) {
		*to = *b;
		b->at = 0;
		return to->at != 0;
	}
	struct begun_key k = { .key = *key, .space = t->address_space, .span = span };

	b = bpf_map_lookup_elem(&begun_by_key, &k);
	if (!b)
		return 0;
	*to = *b;
	/* Of two ends at once only one can have it. */
	return !bpf_map_delete_elem(&begun_by_key, &k);
}

static __always_inline void span_end(struct thread *t, u32 span, const u64 *key, u64 position, bool counted)
{
	struct span_counts *c = &span_counts[control.epoch & 1][span];
	struct begun b;
	bool found = span_take(t, span, key, &b);
	u64 took;
	u32 bin;

	if (!found)
		__sync_fetch_and_add(&span_strangers[span], 1);
	if (!counted)
		return;
	if (!found) {
		__sync_fetch_and_add(&c->unmatched, 1);
		return;
	}
	/*
	 * Less than nothing is a begin by a thread ahead of virtual time, or one that
	 * owed something when an experiment ended and was let off.
	 */
	took = position > b.at ? position - b.at : 0;
	__sync_fetch_and_add(&c->matched, 1);
	__sync_fetch_and_add(&c->total, took);
	if (b.epoch != control.epoch)
		__sync_fetch_and_add(&c->carried, 1);
	bin = span_bin(took);
	if (bin < SPAN_BINS)
		__sync_fetch_and_add(&span_bins[control.epoch & 1][span][bin], 1);
}

/* Of a point in the source n visits were met that nobody has seen happen. */
static __always_inline void span_late(u64 point, u64 n, u64 now)
{
	u32 span;

	if (point >= MAX_POINTS || span_points[point].role == SPAN_NONE)
		return;
	span = span_points[point].span;
	if (span < MAX_SPANS && under_way(now) && now - control.start >= control.span_from)
		__sync_fetch_and_add(&span_counts[control.epoch & 1][span].late, n);
}

/*
 * Of points in the source it is known how often they were visited, and not when. What
 * is counted when a process is looked at on its way to sleep is not evenly late: a
 * request that was begun and ended since the last look would have taken no time. So
 * the number in between is taken at ticks, which come at random moments, and from what
 * all cores have just read there; each stands for the virtual time up to the next, and
 * so belongs where the tick began, before anything was earned at it.
 */
/* Not static: the verifier looks at it once. */
__noinline int sample_spans(void)
{
	u64 now = bpf_ktime_get_ns(), at, had, bin;

	if (!control.sampled || !under_way(now))
		return 0;
	at = now - control.start;
	had = control.before > control.global_start ? control.before - control.global_start : 0;
	bin = (at > had ? at - had : 0) >> control.bin_shift;
	if (bin >= MAX_BINS)
		return 0;
	for (u32 i = 0; i < MAX_SPANS; i++)
		if (control.sampled >> i & 1)
			span_samples[control.epoch & 1][i][bin] =
				(u32)(visits[span_ends[i].begin & (MAX_POINTS - 1)] - visits[span_ends[i].end & (MAX_POINTS - 1)]) << 1 | 1;
	return 0;
}

/*
 * A visit of a point by t at level; key: 0 where thread tells what belongs together.
 * Not static: as step_out.
 */
__noinline int span_visit(struct thread *t, u64 point, const u64 *key, u64 now, u64 level)
{
	u32 role, span;
	bool counted;

	if (!t || point >= MAX_POINTS)
		return 0;
	role = span_points[point].role;
	span = span_points[point].span;
	if (role == SPAN_NONE || span >= MAX_SPANS)
		return 0;
	counted = under_way(now) && now - control.start >= control.span_from;
	if (role == SPAN_BEGIN)
		span_begin(t, span, key, now - level, counted);
	else
		span_end(t, span, key, now - level, counted);
	return 0;
}

#endif
