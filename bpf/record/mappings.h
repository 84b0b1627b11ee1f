/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/*
 * What is mapped at an address of the current process, from what was met before. Samples and
 * switches come with interrupts off. Then the kernel looks up one mapping, and no second one until
 * interrupts are on. In a new process each sample would so learn one address, and its stack would
 * end there.
 */
#ifndef WHATIF_RECORD_MAPPINGS_H
#define WHATIF_RECORD_MAPPINGS_H

#include "../code/mapping.h"

/* So many mappings of an address space are kept: a program's code, and its libraries'. */
#define MAPPINGS 8

struct mapping_key {
	u64 space;
	u64 slot;
};
struct met_mapping {
	struct mapping m;
	u64 start, end;
	u64 stamp; /* see stamp_of_code */
};
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1 << 13);
	__type(key, struct mapping_key);
	__type(value, struct met_mapping);
} met_mappings SEC(".maps");

/*
 * What is being looked up on a core: programs have little room for variables. An interrupt may look
 * something up meanwhile; then turn has grown.
 */
struct lookup {
	struct mapping m; /* the answer */
	struct met_mapping known, fresh;
	u64 turn;
};
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct lookup);
} lookups SEC(".maps");

static __always_inline struct lookup *lookup_here(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&lookups, &zero);
}

/* Begins to look up an address. */
static __always_inline u64 begin_lookup(struct lookup *l, u64 address)
{
	u64 turn = ++l->turn;

	barrier(); /* an interrupt from here on is seen */
	l->m = (struct mapping) { .address = address };
	return turn;
}

static __always_inline bool interrupted(const struct lookup *l, u64 turn)
{
	return *(volatile u64 *)&l->turn != turn;
}

/* The kernel hands this only what is on the caller's own stack: here a pointer. */
static long on_met(struct task_struct *task, struct vm_area_struct *vma, struct lookup **l)
{
	struct met_mapping *met = &(*l)->fresh;

	met->start = vma->vm_start;
	met->end = vma->vm_end;
	note_mapping(task, vma, &met->m);
	return 0;
}

/*
 * A forked process begins with its parent's mappings. It has fewer pages of code, as what uprobes
 * map is not copied.
 */
SUBPROGRAM int inherit_mappings(u64 parent, u64 stamp, u64 child, u64 stamp_of_child)
{
	struct mapping_key from = { .space = parent }, to = { .space = child };
	struct met_mapping *met, copy;

	for (u32 i = 0; i < MAPPINGS; i++) {
		from.slot = to.slot = i;
		met = bpf_map_lookup_elem(&met_mappings, &from);
		if (!met || !is_likely(met->stamp, stamp))
			continue;
		copy = *met;
		copy.stamp = stamp_of_child >> 32 << 32 | (u32)met->stamp;
		bpf_map_update_elem(&met_mappings, &to, &copy, BPF_ANY);
	}
	return 0;
}

/* Looks a mapping up where it is not known for sure. */
static __always_inline long look_up_mapping(struct lookup *l, u64 stamp)
{
	l->fresh = (struct met_mapping) { .m.address = l->m.address, .stamp = stamp };
	return bpf_find_vma(bpf_get_current_task_btf(), l->m.address, on_met, &l, 0);
}

/*
 * Finds the mapping at lookup_here()->m.address. Gives 1 if it could not be looked up and is most
 * likely this one, and an error if it is not known: -ENOENT if there is none.
 */
SUBPROGRAM int find_mapping(u64 space, u64 stamp, u64 turn)
{
	struct mapping_key key = { .space = space };
	struct lookup *l = lookup_here();
	struct met_mapping *met;
	bool room = 0;
	u64 slot;
	long err = 0;

	if (!l)
		return -2;
	l->known.end = 0;
	/* which one is replaced where there is no room */
	slot = l->m.address >> 21 & (MAPPINGS - 1);
	for (u32 i = 0; i < MAPPINGS; i++) {
		key.slot = i;
		met = bpf_map_lookup_elem(&met_mappings, &key);
		if (!met) {
			if (!room && !l->known.end)
				slot = i;
			room = 1;
			continue;
		}
		l->fresh = *met; /* another core may write it */
		if (l->m.address < l->fresh.start || l->m.address >= l->fresh.end)
			continue;
		l->known = l->fresh;
		slot = i;
		if (l->known.stamp == stamp)
			break;
	}
	if (!l->known.end || l->known.stamp != stamp) {
		key.slot = slot;
		err = look_up_mapping(l, stamp);
		if (interrupted(l, turn))
			return -16; /* EBUSY */
		if (!err) {
			bpf_map_update_elem(&met_mappings, &key, &l->fresh, BPF_ANY);
			if (interrupted(l, turn)) {
				bpf_map_delete_elem(&met_mappings, &key);
				return -16;
			}
			l->m = l->fresh.m;
			return 0;
		}
		if (err == -2 /* ENOENT */ && l->known.end)
			bpf_map_delete_elem(&met_mappings, &key);
		if (err == -2 || !l->known.end || !is_likely(l->known.stamp, stamp))
			return err;
	}
	l->known.m.place.offset += l->m.address - l->known.m.address;
	l->known.m.address = l->m.address;
	l->m = l->known.m;
	return err != 0;
}

#endif
