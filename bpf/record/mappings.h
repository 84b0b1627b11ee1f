/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/*
 * What is mapped at an address of the current process, from what was met before. In a context
 * without interrupts, as those of samples and switches are, the kernel looks up one mapping, and no
 * second one before interrupts are on again. So a stack in a process that has just begun would end
 * at its first frame, and a process that lives for milliseconds has hardly another sample.
 */
#ifndef WHATIF_RECORD_MAPPINGS_H
#define WHATIF_RECORD_MAPPINGS_H

#include "../code/mapping.h"
#include "../members/task.h"

/* So many mappings of an address space are kept: a program's code, and its libraries'. */
#define MAPPINGS 8

struct mapping_key {
	u64 space;
	u64 slot;
};
struct met_mapping {
	struct mapping m;
	u64 stamp; /* see stamp_of_code */
};
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1 << 13);
	__type(key, struct mapping_key);
	__type(value, struct met_mapping);
} met_mappings SEC(".maps");

/*
 * What is known of mappings holds while the process has as many pages of code mapped, and for a
 * second, as in code/walk.h.
 */
static __always_inline u64 stamp_of_code(struct task_struct *task)
{
	return memory_of(task)->exec_vm << 32 | (u32)(bpf_ktime_get_ns() >> 30);
}

/* Where it cannot be looked up, what was known a second ago is most likely still so. */
static __always_inline bool is_likely(u64 then, u64 now)
{
	return then >> 32 == now >> 32 || (u32)now - (u32)then <= 1;
}

/*
 * A forked process begins with its parent's mappings. Its stamp is another, as what uprobes map is
 * not copied.
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
		copy.stamp = stamp_of_child;
		bpf_map_update_elem(&met_mappings, &to, &copy, BPF_ANY);
	}
	return 0;
}

/* Finds the mapping at m->address. Else gives an error, which is -ENOENT if there is none. */
SUBPROGRAM int find_mapping(u64 space, u64 stamp, struct mapping *m)
{
	struct mapping_key key = { .space = space }, at = { .space = space };
	struct met_mapping *met, *known = 0, fresh = {};
	bool room = 0;
	long err;

	if (!m)
		return 0;
	/* which one is replaced where there is no room */
	at.slot = m->address >> 21 & (MAPPINGS - 1);
	for (u32 i = 0; i < MAPPINGS; i++) {
		key.slot = i;
		met = bpf_map_lookup_elem(&met_mappings, &key);
		if (met && m->address >= met->m.start && m->address < met->m.end) {
			known = met;
			at.slot = i;
			break;
		}
		if (!met && !room) {
			room = 1;
			at.slot = i;
		}
	}
	if (!known || known->stamp != stamp) {
		fresh.m.address = m->address;
		fresh.stamp = stamp;
		err = bpf_find_vma(bpf_get_current_task_btf(), m->address, on_vma, &fresh.m, 0);
		if (!err) {
			bpf_map_update_elem(&met_mappings, &at, &fresh, BPF_ANY);
			*m = fresh.m;
			return 0;
		}
		if (err == -2 /* ENOENT */ || !known || !is_likely(known->stamp, stamp))
			return err;
	}
	fresh.m = known->m;
	fresh.m.place.offset += m->address - known->m.address;
	fresh.m.address = m->address;
	*m = fresh.m;
	return 0;
}

#endif
