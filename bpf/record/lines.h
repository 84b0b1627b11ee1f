/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/*
 * How fast the program replaces what a core has in its own caches. At each sample the core reads a
 * few cache lines that it has read some samples ago, and takes the time. If the program has
 * fetched so much from memory meanwhile that they were replaced, that takes several times as long.
 * No counters in hardware are needed, which most virtual machines lack.
 */
#ifndef WHATIF_RECORD_LINES_H
#define WHATIF_RECORD_LINES_H

#include "rings.h"

/*
 * Lines of a group are read one after the other, each when the one before is there: hardware cannot
 * fetch them together. They are far from each other, so that it does not foresee them either.
 */
#define GROUP_LINES 8
/* Between two lines of a group are those of others, two cache lines each: it fetches pairs. */
#define SLOTS 24
#define SLOT_WORDS 16
#define LINE_WORDS (SLOTS * SLOT_WORDS)
#define WORDS (GROUP_LINES * LINE_WORDS)

/* Groups are read again after 1, 4 and 16 samples. */
#define YOUNG 1
#define OLD 4
#define OLDEST 16
#define GROUPS (YOUNG + OLD + OLDEST)

/* Of a core. Its switches tell whether the same thread ran since the last samples. */
struct line_reader {
	u64 words[WORDS]; /* all 0 */
	u64 switches;
	u32 samples; /* in a row */
	u32 turn;
};
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct line_reader);
} line_readers SEC(".maps");

/* Reads a group; ns, at least 1, at most 16 bits of them. */
SUBPROGRAM u64 read_group(u32 group)
{
	struct line_reader *l;
	u64 at = 0, slot = group * 5 % SLOTS, begin, index, took;
	u32 zero = 0;

	l = bpf_map_lookup_elem(&line_readers, &zero);
	if (!l || group >= GROUPS)
		return 0;
	begin = bpf_ktime_get_ns();
#pragma unroll
	for (int i = 0; i < GROUP_LINES; i++) {
		index = at * LINE_WORDS + slot * SLOT_WORDS;
		barrier_var(index); /* the verifier wants to see that it is checked */
		if (index >= WORDS)
			return 0;
		/* A word is 0, but the core does not know it before it has the line. */
		at = (5 * at + 3 + l->words[index]) & (GROUP_LINES - 1);
	}
	took = bpf_ktime_get_ns() - begin + (at & 1); /* needs the last line */
	return took < 1 ? 1 : took > 0xffff ? 0xffff : took;
}

/*
 * What reading takes at a sample of the current thread: ns of the young group in bits 0 to 15, of
 * the old one from 16 on, of the oldest one from 32 on. 0: something else has run since it was
 * read. From 48 on: of the young one, at once again. That is what it takes from the nearest cache.
 */
static __always_inline u64 read_lines(const struct record_core *c)
{
	struct line_reader *l;
	u64 young, again, old, oldest;
	u32 zero = 0, turn;

	l = bpf_map_lookup_elem(&line_readers, &zero);
	if (!l)
		return 0;
	if (l->switches != c->switches)
		l->samples = 0;
	l->switches = c->switches;
	turn = l->turn++;
	young = read_group(0);
	again = read_group(0);
	old = read_group(YOUNG + turn % OLD);
	oldest = read_group(YOUNG + OLD + turn % OLDEST);
	if (l->samples < YOUNG)
		young = 0;
	if (l->samples < OLD)
		old = 0;
	if (l->samples < OLDEST)
		oldest = 0;
	l->samples++;
	return young | old << 16 | oldest << 32 | again << 48;
}

#endif
