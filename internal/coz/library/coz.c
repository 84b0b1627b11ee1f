/* SPDX-License-Identifier: MIT */
/*
 * The function that COZ's macros look for in the running program: it returns a counter
 * for a name. The library is preloaded into such programs, needs no other library, and
 * does nothing until the function is called. The counters are in a table, which the
 * profiler finds by the note and reads from outside: see struct source_table in
 * bpf/base/shared.h.
 */
typedef __UINT64_TYPE__ u64;
typedef __UINT32_TYPE__ u32;

#define MARK 0x9d3f5a41c6e27b18
#define ENTRIES 64

struct entry {
	u64 mark; /* set when the name is complete */
	u32 event;
	u32 length;
	char name[112];
	/* A cache line of its own. The program gets the address of count, and may use the next word. */
	u64 count;
	u64 backoff;
	u64 counts; /* the mark again */
	u64 pad[5];
};

static struct entry entries[ENTRIES] __attribute__((aligned(64)));

struct {
	u64 mark;
	struct entry *entries;
	u32 used;
	u32 shards;
	u32 stride;
	u32 pad;
} whatif_coz_table __attribute__((visibility("hidden"), aligned(64))) = { MARK, 0, 0, 1, sizeof(struct entry), 0 };

__asm__(".pushsection .note.whatif, \"a\", %note\n"
	".balign 4\n"
	".4byte 7, 8, 2\n"
	".asciz \"whatif\"\n"
	".balign 4\n"
	".8byte whatif_coz_table - .\n"
	".popsection\n");

/* Keeps the end of a long name, such as a path and a line: the end differs most. */
static const char *tail(const char *name, u32 *length)
{
	u64 n = 0;

	while (name[n])
		n++;
	*length = n < sizeof(entries[0].name) ? n : sizeof(entries[0].name) - 1;
	return name + n - *length;
}

static int same(const struct entry *e, u32 event, const char *name, u32 length)
{
	if (__atomic_load_n(&e->mark, __ATOMIC_ACQUIRE) != MARK || e->event != event || e->length != length)
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
	struct entry *e;
	u32 length, used = __atomic_load_n(&whatif_coz_table.used, __ATOMIC_ACQUIRE), n;

	if (!name)
		return 0;
	name = tail(name, &length);
	for (u32 i = 0; i < used && i < ENTRIES; i++)
		if (same(&entries[i], event, name, length))
			return &entries[i].count;
	if (used >= ENTRIES)
		return 0;
	__atomic_store_n(&whatif_coz_table.entries, entries, __ATOMIC_RELEASE);
	n = __atomic_fetch_add(&whatif_coz_table.used, 1, __ATOMIC_ACQ_REL);
	if (n >= ENTRIES)
		return 0;
	e = &entries[n];
	e->event = event;
	e->length = length;
	for (u32 i = 0; i < length; i++)
		*(volatile char *)&e->name[i] = name[i]; /* or the compiler calls memcpy */
	__atomic_store_n(&e->mark, MARK, __ATOMIC_RELEASE);
	__atomic_store_n(&e->counts, MARK, __ATOMIC_RELEASE);
	return &e->count;
}
