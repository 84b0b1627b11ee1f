/* SPDX-License-Identifier: MIT */
/*
 * The function that COZ's macros look for in the running program: it returns a counter
 * for a name. The library is preloaded into such programs, needs no other library, and
 * does nothing until the function is called. The counters are in a table, which the
 * profiler finds by the note and reads from outside: see struct source_table in
 * bpf/base/shared.h.
 */
#include "counters.h"

typedef __UINT64_TYPE__ u64;
typedef __UINT32_TYPE__ u32;

static struct counter entries[COUNTERS] __attribute__((aligned(64)));

COUNTER_TABLE(whatif_coz_table);

/* Keeps the end of a long name, such as a path and a line: the end differs most. */
static const char *tail(const char *name, u32 *length)
{
	u64 n = 0;

	while (name[n])
		n++;
	*length = n < sizeof(entries[0].name) ? n : sizeof(entries[0].name) - 1;
	return name + n - *length;
}

static int same(const struct counter *e, u32 event, const char *name, u32 length)
{
	if (__atomic_load_n(&e->mark, __ATOMIC_ACQUIRE) != COUNTER_MARK || e->event != event ||
	    e->length != length)
		return 0;
	for (u32 i = 0; i < length; i++)
		if (e->name[i] != name[i])
			return 0;
	return 1;
}

/*
 * The program calls it once for each place in the source, possibly in signal handlers, so
 * it takes no lock. Two threads may create two counters of one name; the profiler adds
 * them up.
 */
__attribute__((visibility("default"))) void *_coz_get_counter(int event, const char *name)
{
	struct counter *e;
	u32 length, used = __atomic_load_n(&whatif_coz_table.used, __ATOMIC_ACQUIRE), n;

	if (!name)
		return 0;
	name = tail(name, &length);
	for (u32 i = 0; i < used && i < COUNTERS; i++)
		if (same(&entries[i], event, name, length))
			return &entries[i].count;
	if (used >= COUNTERS)
		return 0;
	__atomic_store_n(&whatif_coz_table.entries, entries, __ATOMIC_RELEASE);
	n = __atomic_fetch_add(&whatif_coz_table.used, 1, __ATOMIC_ACQ_REL);
	if (n >= COUNTERS)
		return 0;
	e = &entries[n];
	e->event = event;
	e->length = length;
	for (u32 i = 0; i < length; i++)
		*(volatile char *)&e->name[i] = name[i]; /* or the compiler calls memcpy */
	__atomic_store_n(&e->mark, COUNTER_MARK, __ATOMIC_RELEASE);
	__atomic_store_n(&e->counts, COUNTER_MARK, __ATOMIC_RELEASE);
	return &e->count;
}
