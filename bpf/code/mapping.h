/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/* What is mapped at an address of the current process. */
#ifndef WHATIF_MAPPING_H
#define WHATIF_MAPPING_H

#include "../base/program.h"
#include "../base/places.h"
#include "../members/task.h"

SETTING page_shift = 12; /* of the machine's pages */

/*
 * What is known of an address holds while the process has as many pages of code mapped, and for a
 * second: a library may be unloaded, and another one of the same size loaded in its place. No hook
 * tells that which does not make every mapping of every process slower. So the stamp has the number
 * of pages.
 */
static __always_inline u64 stamp_of_code(struct task_struct *task)
{
	return stamp_of(memory_of(task)->exec_vm);
}

/*
 * Where it cannot be looked up, what was known is most likely still so: there are as many pages, or
 * it was a second ago at most.
 */
static __always_inline bool is_likely(u64 then, u64 now)
{
	return then >> 32 == now >> 32 || (u32)now - (u32)then <= 1;
}

struct mapping {
	struct place place; /* inode 0: of no file */
	u64 address;
	u32 vdso;	/* it is that: offset is from its beginning */
	u32 executable; /* code may run there */
};

static __always_inline void note_mapping(struct task_struct *task, struct vm_area_struct *vma,
					 struct mapping *m)
{
	struct file *file = vma->vm_file;

	m->executable = (vma->vm_flags & VM_EXEC) != 0;
	if (!file) {
		m->vdso = vma->vm_start == (u64)BPF_CORE_READ(task, mm, context.vdso);
		m->place.offset = m->address - vma->vm_start;
		return;
	}
	m->place.inode = BPF_CORE_READ(file, f_inode, i_ino);
	m->place.dev = BPF_CORE_READ(file, f_inode, i_sb, s_dev);
	m->place.offset = m->address - vma->vm_start + (vma->vm_pgoff << page_shift);
}

static long on_vma(struct task_struct *task, struct vm_area_struct *vma, struct mapping *m)
{
	note_mapping(task, vma, m);
	return 0;
}

/*
 * Which file user space itself has mapped at an address. stat may say something else: on
 * overlayfs and btrfs it has numbers of its own, and uprobes are set on what is below.
 */
SEC("syscall")
int identify(struct event *question)
{
	struct mapping m = { .address = question->address };
	long err = bpf_find_vma(bpf_get_current_task_btf(), m.address, on_vma, &m, 0);

	if (err)
		return err;
	question->place = m.place;
	return 0;
}

#endif
