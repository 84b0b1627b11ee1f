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

static long on_met(struct task_struct *task, struct vm_area_struct *vma, struct met_mapping *met)
{
	met->start = vma->vm_start;
	met->end = vma->vm_end;
	return on_vma(task, vma, &met->m);
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

/*
 * Finds the mapping at m->address. Gives 1 if it could not be looked up and is most likely this
 * one, and an error if it is not known: -ENOENT if there is none.
 */
SUBPROGRAM int find_mapping(u64 space, u64 stamp, struct mapping *m)
{
	struct mapping_key key = { .space = space }, at = { .space = space };
	struct met_mapping *met, known = {}, fresh = {};
	bool room = 0;
	long err;

	if (!m)
		return 0;
	/* which one is replaced where there is no room */
	at.slot = m->address >> 21 & (MAPPINGS - 1);
	for (u32 i = 0; i < MAPPINGS; i++) {
		key.slot = i;
		met = bpf_map_lookup_elem(&met_mappings, &key);
		if (!met) {
			if (!room && !known.end)
				at.slot = i;
			room = 1;
			continue;
		}
		fresh = *met; /* another core may write it */
		if (m->address < fresh.start || m->address >= fresh.end)
			continue;
		known = fresh;
		at.slot = i;
		if (known.stamp == stamp)
			break;
	}
	err = 0;
	if (!known.end || known.stamp != stamp) {
		fresh = (struct met_mapping) { .m.address = m->address, .stamp = stamp };
		err = bpf_find_vma(bpf_get_current_task_btf(), m->address, on_met, &fresh, 0);
		if (!err) {
			bpf_map_update_elem(&met_mappings, &at, &fresh, BPF_ANY);
			*m = fresh.m;
			return 0;
		}
		if (err == -2 /* ENOENT */ && known.end)
			bpf_map_delete_elem(&met_mappings, &at);
		if (err == -2 || !known.end || !is_likely(known.stamp, stamp))
			return err;
	}
	known.m.place.offset += m->address - known.m.address;
	known.m.address = m->address;
	*m = known.m;
	return err != 0;
}

#endif
