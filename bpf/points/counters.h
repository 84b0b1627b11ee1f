/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/*
 * Progress points in the program's source: reads the numbers that the program counts in its own
 * memory. They are read in the process itself: at ticks, when a thread goes to sleep, and a last
 * time when nothing of the process can count any more. What was added since the last reading are
 * visits. Where the numbers are is looked up when the process has other code mapped, also that last
 * time.
 */
#ifndef WHATIF_COUNTERS_H
#define WHATIF_COUNTERS_H

#include "../code/mapping.h"
#include "../members/processes.h"
#include "visits.h"

/* Whether any are counted: without, the verifier leaves all of this out. */
SETTING counting;

/*
 * These maps are allocated as a whole. Memory for one more entry is not always available here, and
 * what a process counts would be lost.
 */

/* Which files have points, by file_key. User space fills it. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1 << 14);
	__type(key, struct place);
	__type(value, struct counter_file);
} files SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MAX_SOURCES);
	__type(key, u32);
	__type(value, struct source);
} sources SEC(".maps");

/* By address space. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1 << 14);
	__type(key, u64);
	__type(value, struct counters);
} counters SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_NAMES);
	__type(key, u64);
	__type(value, struct point_name);
} names SEC(".maps");

/* Initial values. */
struct counters no_counters;
struct counter_file no_file; /* FILE_ASKED */
struct point_name no_name;

/* By address space: held while a thread looks at what is mapped. */
u64 looking[256];
/* The address space that was last looked at in a slot, and in which second. */
u64 looked[256];

#define READ_NOW 0

/* By an index that is in range, though the verifier does not know it. */
static __always_inline struct object *object_of(struct counters *c, u64 i)
{
	barrier_var(i);
	return &c->object[i & (MAX_OBJECTS - 1)];
}

static __always_inline u32 value_number(u64 i)
{
	barrier_var(i);
	return i & (MAX_VALUES - 1);
}

struct reading {
	u64 space;
	u64 bias;
	u64 entries; /* of a table */
	u32 birth;   /* counting begins with what is in memory now */
	u32 first;   /* of the object's sources */
	u32 value;   /* of the object's values */
	u32 entry;   /* of a table: its value */
	u32 shards;
	u32 stride;
	u32 found[MAX_POINTS]; /* visits */
	u64 sum; /* of the entry that is read: a loop has little room for variables */
};

/* In one reading: nothing visits faster. The rest is left for the next one. */
#define MOST_VISITS (1ull << 28)

/* Takes what was added since the last reading: each visit is one reader's. */
static __always_inline u64 claim(u64 *value, u64 sum)
{
	u64 last = *value;

	for (int i = 0; i < 8; i++) {
		u64 seen;

		if (last != VALUE_UNKNOWN && sum <= last)
			return 0;
		if (last != VALUE_UNKNOWN && sum - last > MOST_VISITS)
			sum = last + MOST_VISITS;
		seen = __sync_val_compare_and_swap(value, last, sum);
		if (seen == last)
			return last == VALUE_UNKNOWN ? 0 : sum - last;
		last = seen;
	}
	return 0; /* others claim it as fast */
}

/* The sum of a point's numbers; an error if the first cannot be read, or is something else. */
SUBPROGRAM int sum_at(u64 at, u32 shards, u64 *sum)
{
	u64 n, mark;

	if (!sum || bpf_probe_read_user(&mark, sizeof(mark), (void *)(at + COUNTER_MARK_AT)) ||
	    mark != COUNTER_MARK)
		return -1;
	*sum = 0;
	for (u32 i = 0; i < MAX_SHARDS && i < shards; i++) {
		/* A Go program's numbers may lie in two pages, of which one was never written. */
		if (!bpf_probe_read_user(&n, sizeof(n), (void *)(at + i * COUNTER_STRIDE)))
			*sum += n;
	}
	return 0;
}

static __always_inline u32 points_of(u64 set)
{
	barrier_var(set);
	return point_sets[set & (MAX_SETS - 1)];
}

static __always_inline void find(struct reading *r, u32 set, u64 n)
{
	u32 points = points_of(set);

	/* Without branches, which the verifier would follow in all combinations. */
#pragma unroll
	for (u32 i = 0; i < MAX_POINTS; i++)
		r->found[i] += (u32)n & -(points >> i & 1);
}

/* The hash of a table entry's name; 0: the name is not complete. */
static __always_inline u64 hash_name(u64 at)
{
	u64 hash = 0xcbf29ce484222325, word;

	if (bpf_probe_read_user(&word, sizeof(word), (void *)at) || word != COUNTER_MARK)
		return 0;
	for (u32 i = 0; i < sizeof(struct name); i += sizeof(word)) {
		if (bpf_probe_read_user(&word, sizeof(word), (void *)(at + sizeof(word) + i)))
			return 0;
		hash = (hash ^ word) * 0x9e3779b97f4a7c15;
		hash ^= hash >> 29;
	}
	return hash;
}

/*
 * The points of an entry, by its name. Visits from before these are known are kept with the name.
 */
SUBPROGRAM u32 count_named(u64 at, u64 n)
{
	struct point_name *known;
	u64 hash = hash_name(at);
	u32 set;

	if (!hash)
		return SET_UNKNOWN;
	known = bpf_map_lookup_elem(&names, &hash);
	if (!known) {
		long err = bpf_map_update_elem(&names, &hash, &no_name, BPF_NOEXIST);

		known = bpf_map_lookup_elem(&names, &hash);
		if (!known) {
			lose(this_core(), LOSS_COUNTERS);
			return SET_UNKNOWN;
		}
		if (!err) {
			bpf_probe_read_user(&known->name, sizeof(known->name),
					    (void *)(at + sizeof(u64)));
			barrier();
			known->complete = 1;
			tell(EVENT_NAMED, hash, 0);
		}
	}
	set = *(volatile u32 *)&known->set; /* once: user space may answer meanwhile */
	if (set == SET_UNKNOWN && n)
		__sync_fetch_and_add(&known->early, n);
	return set;
}

SUBPROGRAM int read_entry(u32 i, struct reading *r)
{
	struct counters *c;
	u64 at, n, space;
	u32 v;

	if (!r)
		return 1;
	space = r->space;
	c = bpf_map_lookup_elem(&counters, &space);
	at = r->entries + i * r->stride;
	v = r->entry + i;
	if (!c || i >= TABLE_VALUES || v >= MAX_VALUES)
		return 1;
	if (sum_at(at + sizeof(struct named), r->shards, &r->sum))
		return 0;
	v = value_number(v);
	if (r->birth) {
		c->value[v] = r->sum;
		return 0;
	}
	n = claim(&c->value[v], r->sum);
	if (!n)
		return 0;
	if (c->set[v] == SET_UNKNOWN) {
		u32 set = count_named(at, n);

		c->set[v] = set;
		if (set == SET_UNKNOWN)
			return 0;
	}
	find(r, c->set[v], n);
	return 0;
}

/* The kernel hands a loop's function only what is on the caller's own stack: here a pointer. */
static long on_entry(u32 i, struct reading **r)
{
	return read_entry(i, *r) != 0;
}

/* How many entries a table has, and where. A function of its own, for the stack that it needs. */
SUBPROGRAM int open_table(struct reading *r, u64 at)
{
	struct source_table table;

	if (!r || bpf_probe_read_user(&table, sizeof(table), (void *)at) ||
	    table.mark != COUNTER_MARK)
		return 0;
	r->entries = table.entries;
	r->shards = table.shards;
	r->stride = table.stride;
	return table.used > TABLE_VALUES ? TABLE_VALUES : table.used;
}

SUBPROGRAM int read_source(u32 i, struct reading *r)
{
	struct counters *c;
	struct source *s;
	u64 sum, space;
	u32 number, v;

	if (!r)
		return 1;
	space = r->space;
	number = r->first + i;
	c = bpf_map_lookup_elem(&counters, &space);
	s = bpf_map_lookup_elem(&sources, &number);
	if (!c || !s)
		return 1;
	v = r->value + s->value;
	if (v >= MAX_VALUES)
		return 1;
	v = value_number(v);
	if (!s->shards) {
		r->entry = v;
		bpf_loop(open_table(r, r->bias + s->address), on_entry, &r, 0);
		return 0;
	}
	if (sum_at(r->bias + s->address, s->shards, &sum))
		return 0;
	if (r->birth)
		c->value[v] = sum;
	else
		find(r, s->set, claim(&c->value[v], sum));
	return 0;
}

static long on_source(u32 i, struct reading *r)
{
	return read_source(i, r) != 0;
}

static __always_inline u64 start_at(const struct object *o)
{
	/* Its numbers were the parent's for some time: counting begins now. */
	return o->inherited ? VALUE_UNKNOWN : 0;
}

struct clearing {
	u64 space;
	u64 to;
	u32 first;
};

static long on_clear(u32 i, struct clearing *k)
{
	struct counters *c = bpf_map_lookup_elem(&counters, &k->space);
	u32 v = k->first + i;

	if (!c || v >= MAX_VALUES)
		return 1;
	v = value_number(v);
	c->value[v] = k->to;
	c->set[v] = SET_UNKNOWN;
	return 0;
}

/* Tells files apart: instead of an offset it has the time of the last change. */
static __always_inline struct place file_key(const struct object *o)
{
	struct place key = o->file;

	key.offset = o->changed;
	return key;
}

/*
 * Settles where a file is mapped and what of it is read, once user space has answered. A function
 * of its own, for its stack: kernels before 6.8 round each function's stack up to 32 bytes.
 */
static __noinline int settle(struct counters *c, u64 space, struct object *o)
{
	struct clearing k = { .space = space };
	struct place key = file_key(o);
	u64 offset, value;
	struct counter_file *f;

	f = bpf_map_lookup_elem(&files, &key);
	if (!f || f->state == FILE_ASKED)
		return 0;
	if (__sync_val_compare_and_swap(&o->state, OBJECT_ASKED, OBJECT_TAKEN) != OBJECT_ASKED)
		return 0; /* another core does it */
	/* Since its key was read another core may have freed it, and put another file there. */
	if (o->file.inode != key.inode || o->file.dev != key.dev || o->changed != key.offset) {
		o->state = OBJECT_ASKED;
		return 0;
	}
	offset = o->file.offset;
	value = o->value;
	if (f->state != FILE_COUNTS || o->from >= f->to || o->to <= f->from) {
		o->state = OBJECT_FREE;
		return 0;
	}
	if (o->values < f->values) { /* else it had them when it was mapped before */
		value = __sync_fetch_and_add(&c->values, f->values);
		if (value + f->values > MAX_VALUES) {
			lose(this_core(), LOSS_COUNTERS);
			o->state = OBJECT_FREE;
			return 0;
		}
		o->value = value;
		o->values = f->values;
	}
	k.to = start_at(o);
	k.first = value;
	bpf_loop(f->values, on_clear, &k, 0);
	o->first = f->first;
	o->sources = f->sources;
	o->bias = o->start - offset - f->ahead;
	barrier();
	o->state = OBJECT_COUNTS;
	return 0;
}

static long on_object(u32 i, struct reading *r)
{
	struct counters *c = bpf_map_lookup_elem(&counters, &r->space);
	struct object *o;

	if (!c || i >= MAX_OBJECTS)
		return 1;
	o = object_of(c, i);
	if (o->state == OBJECT_ASKED)
		settle(c, r->space, o);
	if (o->state != OBJECT_COUNTS)
		return 0;
	r->bias = o->bias;
	r->first = o->first;
	r->value = o->value;
	bpf_loop(o->sources & (MAX_SOURCES - 1), on_source, r, 0);
	return 0;
}

SUBPROGRAM int read_objects(struct thread *t, u32 birth)
{
	struct reading r = {};
	struct counters *c;

	if (!t)
		return 0;
	r.space = t->process.address_space;
	r.birth = birth;
	c = bpf_map_lookup_elem(&counters, &r.space);
	if (!c)
		return 0;
	bpf_loop(c->objects < MAX_OBJECTS ? c->objects : MAX_OBJECTS, on_object, &r, 0);
	for (u32 i = 0; i < MAX_POINTS; i++)
		if (r.found[i]) {
			visit_without_spans(t, i, r.found[i]);
			span_unseen(i, r.found[i], bpf_ktime_get_ns());
		}
	return 0;
}

static __always_inline struct counters *counters_of(u64 space, bool make)
{
	struct counters *c = bpf_map_lookup_elem(&counters, &space);
	long err;

	if (c || !make)
		return c;
	no_counters.users = 1;
	err = bpf_map_update_elem(&counters, &space, &no_counters, BPF_NOEXIST);
	/*
	 * Ticks still meet a thread that has ended, in its memory. When its process is gone, and
	 * its counters, new ones would count all visits again, and stay.
	 */
	if (!err && !process_of(bpf_get_current_task_btf())) {
		bpf_map_delete_elem(&counters, &space);
		return 0;
	}
	c = bpf_map_lookup_elem(&counters, &space);
	if (!c)
		lose(this_core(), LOSS_COUNTERS);
	return c;
}

struct finding {
	u64 space;
	u64 round;
	struct object object;
	u32 at;	    /* + 1: where it is */
	u32 again;  /* + 1: where the file was before it was unmapped */
	u32 unused; /* + 1: a free one */
	u32 asked;  /* others are not known yet, and may become free */
	u32 inherited;
	u32 left; /* something has to be looked at again */
};

/* When a file was last changed: the next file with its number has another time. */
static __always_inline u64 changed_at(struct inode *inode)
{
	struct inode___before_6_11 *older = (void *)inode;
	struct inode___before_6_6 *oldest = (void *)inode;

	/* the highest bit of the nanoseconds is a mark */
	if (bpf_core_field_exists(inode->i_ctime_sec))
		return inode->i_ctime_sec * 1000000000 + (inode->i_ctime_nsec & 0x7fffffff);
	if (bpf_core_field_exists(older->__i_ctime))
		return older->__i_ctime.tv_sec * 1000000000 + older->__i_ctime.tv_nsec;
	return oldest->i_ctime.tv_sec * 1000000000 + oldest->i_ctime.tv_nsec;
}

static long on_find(u32 i, struct finding **finding)
{
	struct finding *f = *finding;
	u64 space = f->space;
	struct counters *c = bpf_map_lookup_elem(&counters, &space);
	struct object *o;

	if (!c || i >= MAX_OBJECTS || i >= c->objects)
		return 1;
	o = object_of(c, i);
	if (o->state == OBJECT_ASKED)
		f->asked = 1;
	if (o->state == OBJECT_FREE) {
		f->unused = i + 1;
	} else if (o->file.inode == f->object.file.inode && o->file.dev == f->object.file.dev) {
		if (o->state == OBJECT_GONE) {
			f->again = i + 1;
		} else if (o->start - o->file.offset == f->object.start - f->object.file.offset) {
			/* The kernel may keep one mapping in pieces whose protection differs. */
			o->from = lesser(o->from, f->object.from);
			o->to = o->to > f->object.to ? o->to : f->object.to;
			f->at = i + 1;
			return 1;
		}
	}
	return 0;
}

/* A file that can be executed is mapped. */
SUBPROGRAM int on_executable(struct finding *f)
{
	struct counter_file *known;
	struct counters *c;
	struct object *o;
	struct place key;
	u64 slot;
	long err;

	if (!f)
		return 0;
	key = file_key(&f->object);
	known = bpf_map_lookup_elem(&files, &key);
	if (known && known->state == FILE_PLAIN)
		return 0;
	c = counters_of(f->space, 1);
	if (!c)
		return 0;
	f->at = f->again = f->unused = f->asked = 0;
	bpf_loop(MAX_OBJECTS, on_find, &f, 0);
	if (f->at) {
		slot = f->at - 1;
		if (slot < MAX_OBJECTS)
			object_of(c, slot)->round = f->round;
		return 0;
	}
	slot = f->again	   ? f->again - 1
	       : f->unused ? f->unused - 1
			   : __sync_fetch_and_add(&c->objects, 1);
	if (slot >= MAX_OBJECTS) {
		/* Most of them will turn out to have no points. */
		if (f->asked)
			f->left = 1;
		else
			lose(this_core(), LOSS_COUNTERS);
		return 0;
	}
	o = object_of(c, slot);
	o->file = f->object.file;
	o->start = f->object.start;
	o->from = f->object.from;
	o->to = f->object.to;
	o->changed = f->object.changed;
	o->inherited = f->inherited;
	o->round = f->round;
	barrier();
	o->state = OBJECT_ASKED;
	if (known)
		return 0;
	err = bpf_map_update_elem(&files, &key, &no_file, BPF_NOEXIST);
	if (!err && !tell(EVENT_MAPPED, o->start, &key)) {
		bpf_map_delete_elem(&files, &key);
		o->state = OBJECT_FREE;
		f->left = 1;
	} else if (err && err != -17 /* EEXIST: asked meanwhile */) {
		o->state = OBJECT_FREE;
		lose(this_core(), LOSS_COUNTERS);
	}
	return 0;
}

/* A file that was not found again is unloaded. */
static long on_missed(u32 i, struct finding *f)
{
	struct counters *c = bpf_map_lookup_elem(&counters, &f->space);
	struct object *o;

	if (!c || i >= MAX_OBJECTS)
		return 1;
	o = object_of(c, i);
	if (o->round == f->round || o->state == OBJECT_FREE || o->state == OBJECT_TAKEN)
		return 0;
	o->state = o->values ? OBJECT_GONE : OBJECT_FREE;
	return 0;
}

static long on_looking(u32 i, u64 *space)
{
	return !looking[*space & 255];
}

/* A mapping of the current process. Gives how many pages of code it is. */
static __always_inline u64 find_file(struct finding *f, struct vm_area_struct *vma)
{
	u64 bytes = vma->vm_end - vma->vm_start;
	struct file *file = vma->vm_file;

	if (!(vma->vm_flags & VM_EXEC))
		return 0;
	if (file) {
		f->object.file.inode = file->f_inode->i_ino;
		f->object.file.dev = file->f_inode->i_sb->s_dev;
		f->object.file.offset = vma->vm_pgoff << page_shift;
		f->object.start = vma->vm_start;
		f->object.from = f->object.file.offset;
		f->object.to = f->object.from + bytes;
		f->object.changed = changed_at(file->f_inode);
		on_executable(f);
	}
	return vma->vm_flags & (VM_WRITE | VM_GROWSDOWN) ? 0 : bytes >> page_shift;
}

/*
 * Looks at what the current process has mapped. The number of its pages of code tells when that has
 * changed, so no hook is needed that every process would pay for. It is also looked at now and
 * then, as code may take the place of as much other code.
 */
SUBPROGRAM int look_at_memory(struct thread *t, u32 last)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct mm_struct *mm = memory_of(task);
	struct bpf_iter_task_vma all;
	struct vm_area_struct *vma;
	struct finding f = {};
	u64 pages, seen = 0, mark, *lock;

	/* Where the kernel cannot be asked what is mapped, user space asks for no counting. */
	if (!t || !mm || !bpf_iter_task_vma_new)
		return 0;
	pages = mm->exec_vm;
	f.space = t->process.address_space;
	mark = stamp_of(f.space);
	/* Threads come and go more often than code takes the place of as much other code. */
	if ((pages == t->process.code_pages && (last || looked[f.space & 255] == mark)) ||
	    t->process.uncounted || t->process.forked)
		return 0;
	f.inherited = t->process.preexisting;
	/* Two threads end at once: when one is through, nothing may be left to read. */
	if (last && looking[f.space & 255])
		bpf_loop(1 << 16, on_looking, &f.space, 0);
	lock = &looking[f.space & 255];
	if (__sync_val_compare_and_swap(lock, 0, 1))
		return 0; /* next time */
	f.round = bpf_ktime_get_ns();
	if (!bpf_iter_task_vma_new(&all, task, 0)) {
		while ((vma = bpf_iter_task_vma_next(&all)))
			seen += find_file(&f, vma);
	}
	bpf_iter_task_vma_destroy(&all);
	/*
	 * The iterator ends early, or does not begin, where a lock is taken: then there is a next
	 * time.
	 */
	if (seen == pages && !f.left) {
		t->process.code_pages = pages;
		looked[f.space & 255] = mark;
		t->process.preexisting = 0;
		if (counters_of(f.space, 0))
			bpf_loop(MAX_OBJECTS, on_missed, &f, 0);
	}
	*lock = 0;
	return 0;
}

/* False in the middle of an exec, when the memory is another already, and when it is gone. */
static __always_inline bool in_its_memory(struct thread *t)
{
	u64 mm = (u64)memory_of(bpf_get_current_task_btf());

	if (!t->process.memory)
		t->process.memory = mm;
	return mm && t->process.memory == mm;
}

#define AT_END 1    /* the last time */
#define AT_SWITCH 2 /* a run queue is locked: nothing new is looked for */

/* Reads the process of a thread, which runs here, unless it was read less than after ago. */
static __always_inline void read_counters(struct thread *t, u64 after, int where)
{
	u64 space = t->process.address_space, last, now;
	struct counters *c;

	if (!in_its_memory(t)) {
		if (where == AT_END && memory_of(bpf_get_current_task_btf()))
			lose(this_core(), LOSS_LAST);
		return;
	}
	if (where != AT_SWITCH)
		look_at_memory(t, where == AT_END);
	/* There is no next time: try once more, as the lock is rarely taken twice. */
	if (where == AT_END &&
	    t->process.code_pages != memory_of(bpf_get_current_task_btf())->exec_vm) {
		look_at_memory(t, 1);
		if (t->process.code_pages != memory_of(bpf_get_current_task_btf())->exec_vm &&
		    !t->process.uncounted)
			lose(this_core(), LOSS_LAST);
	}
	c = bpf_map_lookup_elem(&counters, &space);
	if (!c)
		return;
	now = bpf_ktime_get_ns();
	last = c->read;
	if (after) {
		/* Ticks meet the process on all cores at once: one of them reads. */
		if (now - last < after && now >= last)
			return;
		if (__sync_val_compare_and_swap(&c->read, last, now) != last)
			return;
	}
	/* A tick may meet a child on its way out of fork, too. */
	read_objects(t, t->process.forked);
}

/* A process does not use an address space any more. */
static __always_inline void leave_counters(struct thread *t)
{
	u64 space = t->process.address_space;
	struct counters *c = bpf_map_lookup_elem(&counters, &space);

	if (c && !t->process.guest && __sync_fetch_and_sub(&c->users, 1) == 1)
		bpf_map_delete_elem(&counters, &space);
}

static long on_inherited(u32 i, u64 *space)
{
	struct counters *c = bpf_map_lookup_elem(&counters, space);
	struct object *o;

	if (!c || i >= MAX_OBJECTS)
		return 1;
	o = object_of(c, i);
	if (o->state == OBJECT_TAKEN) /* just then */
		o->state = OBJECT_ASKED;
	/* What was counted before its place is known is not the child's. */
	o->inherited = o->state == OBJECT_ASKED;
	return 0;
}

/*
 * A child has its parent's numbers, as they were when its memory was copied, a
 * moment ago. Other threads of the parent may have counted since: see on_fault.
 */
static __always_inline void inherit_counters(struct thread *parent, struct thread *child,
					     bool process)
{
	u64 space = child->process.address_space;
	struct counters *of, *c;

	if (space == parent->process.address_space) {
		if (!process)
			return;
		of = counters_of(space, 0);
		if (of)
			__sync_fetch_and_add(&of->users, 1);
		child->process.guest = !of;
		return;
	}
	read_counters(parent, READ_NOW, 0);
	of = counters_of(parent->process.address_space, 0);
	if (!of)
		return;
	if (bpf_map_update_elem(&counters, &space, of, BPF_ANY)) {
		lose(this_core(), LOSS_COUNTERS);
		child->process.uncounted = 1;
		return;
	}
	c = counters_of(space, 0);
	if (!c)
		return;
	c->users = 1;
	bpf_loop(MAX_OBJECTS, on_inherited, &space, 0);
	child->process.forked = 1;
	looked[space & 255] = stamp_of(space); /* by the parent */
}

/*
 * A forked process faults when it first writes to any page. Before that its numbers are what it was
 * born with.
 */
SEC("tp_btf/page_fault_user")
int BPF_PROG(on_fault, unsigned long address, struct pt_regs *regs, unsigned long error)
{
	struct thread *t = thread_of(bpf_get_current_task_btf());

	if (counting && t && t->process.forked) {
		t->process.forked = 0;
		read_objects(t, 1);
	}
	return 0;
}

/*
 * A process is about to run another program. Its other threads end next, and what they count until
 * then is read at their ends.
 */
SEC("tp_btf/sched_prepare_exec")
int BPF_PROG(on_prepare_exec, struct task_struct *task, struct linux_binprm *program)
{
	struct thread *t = thread_of(task);

	if (counting && t)
		read_counters(t, READ_NOW, 0);
	return 0;
}

/* User space runs this, as it would itself overwrite what is counted meanwhile. */
SEC("syscall")
int answer_name(struct name_answer *answer)
{
	struct point_name *known;
	u64 hash = answer->hash;

	known = bpf_map_lookup_elem(&names, &hash);
	if (!known)
		return -2;
	known->set = answer->set;
	return 0;
}

#endif
