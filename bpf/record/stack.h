/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/*
 * Stacks. Each is written once, and records name it by a number: of a sample the hash of its
 * frames, of a place that of where the thread is in the program, and of its callers. A thread that
 * blocks or wakes another at a place that was met before needs no walk.
 */
#ifndef WHATIF_RECORD_STACK_H
#define WHATIF_RECORD_STACK_H

#include "../code/unwind.h"
#include "members.h"

/* Numbers of the files with code, and whether user space was told of one. */
struct file_key {
	u64 inode;
	u64 dev;
};
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1 << 12);
	__type(key, struct file_key);
	__type(value, u32);
} file_numbers SEC(".maps");
static u64 last_file;

/* What is known of an address: its frame, and the rule for its caller. */
struct address_key {
	u64 space;
	u64 address;
};
struct known_address {
	u64 frame;
	u64 stamp; /* see stamp_of_code */
	u32 rule;
	u32 pad;
};
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1 << 14);
	__type(key, struct address_key);
	__type(value, struct known_address);
} known_addresses SEC(".maps");

/*
 * Where some return addresses lie: 1 + the words above the stack pointer; 0: not known. Threads
 * enter the kernel at few places of a library: two lines of a function that wait one after the
 * other differ in nothing but where they are returned to.
 */
#define CALL_SITES 2
struct call_sites {
	u16 at[CALL_SITES];
};

/* Stacks and places that user space has. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1 << 15);
	__type(key, u64);
	__type(value, struct call_sites);
} known_stacks SEC(".maps");

/* What is known of call sites of the stack that is being followed on a core. */
struct sites_trail {
	struct call_sites sites;
	u64 sp;	    /* the innermost frame's */
	u32 file;   /* the innermost frame's */
	u32 placed; /* how many of sites are final */
};
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct sites_trail);
} sites_trails SEC(".maps");

/* The stack that is being followed on a core. Interrupts that follow one do not interrupt that. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct record_stack);
} trails SEC(".maps");

/* The place that user space is being told of: programs have little room for variables. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct record_place);
} told_places SEC(".maps");

static __always_inline u64 mix(u64 hash, u64 value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15;
	return hash ^ hash >> 29;
}

static __always_inline bool tell_place(u32 kind, u32 number, const struct place *place, u64 address)
{
	struct record_core *c = record_core();
	struct record_place *p;
	u32 zero = 0;

	p = bpf_map_lookup_elem(&told_places, &zero);
	if (!c || !p)
		return 0;
	__builtin_memset(&p->r, 0, sizeof(p->r));
	p->r.time = bpf_ktime_get_ns();
	p->r.kind = kind;
	p->r.extra = number;
	p->r.process = number_in(control.level, bpf_get_current_task_btf());
	p->place = *place;
	p->address = address;
	return put(c, p, sizeof(*p));
}

/* The number of a file; 0: there is no room for more. */
SUBPROGRAM u32 number_of_file(const struct place *place, u64 address)
{
	struct file_key key = {};
	u32 *known, number;

	if (!place)
		return 0;
	key.inode = place->inode;
	key.dev = place->dev;
	known = bpf_map_lookup_elem(&file_numbers, &key);
	if (known)
		return *known;
	number = __sync_fetch_and_add(&last_file, 1) + 1;
	if (number >= FILE_VDSO)
		return 0;
	if (bpf_map_update_elem(&file_numbers, &key, &number, BPF_NOEXIST)) {
		known = bpf_map_lookup_elem(&file_numbers, &key); /* another core was first */
		return known ? *known : 0;
	}
	if (!tell_place(RECORD_FILE, number, place, address))
		bpf_map_delete_elem(&file_numbers, &key);
	return number;
}

/*
 * The rule of a place, or RULES_PENDING. User space is asked once for each page, and once for each
 * address of generated code.
 */
SUBPROGRAM u32 rule_of_code(const struct place *place, u64 address)
{
	struct table asked = {}, *known;
	struct place page;
	u32 within = 0;
	long err;

	if (!place)
		return RULES_UNKNOWN;
	page = *place;
	if (page.dev != GENERATED && page.dev != BYTECODE) {
		within = page.offset & (TABLE_BYTES - 1);
		page.offset -= within;
	}
	known = bpf_map_lookup_elem(&tables, &page);
	if (known)
		return known->rows ? rule_in(known->first, known->rows, within) : RULES_PENDING;
	err = bpf_map_update_elem(&tables, &page, &asked, BPF_NOEXIST);
	if (err && err != -17 /* EEXIST */)
		return RULES_UNKNOWN;
	if (!err && !tell_place(RECORD_TABLE, 0, &page, address))
		bpf_map_delete_elem(&tables, &page);
	return RULES_PENDING;
}

/* Finds out about an address of the current process. */
SUBPROGRAM int look_up(u64 space, u64 address, u64 stamp, struct known_address *found)
{
	struct address_key key = { .space = space, .address = address };
	struct known_address *known, copy;
	struct lookup *l = lookup_here();
	struct mapping *m = l ? &l->m : 0;
	u64 file, turn;
	long err;

	if (!found || !m)
		return 0;
	known = bpf_map_lookup_elem(&known_addresses, &key);
	if (known && known->stamp == stamp) {
		*found = *known;
		return 0;
	}
	found->stamp = stamp;
	found->frame = address & ((1ull << FRAME_FILE) - 1);
	found->rule = RULES_UNKNOWN;
	turn = begin_lookup(l, address);
	err = find_mapping(space, stamp, turn);
	if (err < 0) {
		/*
		 * Another thread holds the map's lock, or an interrupt came: what was known is most
		 * likely still so.
		 */
		if (err != -2 /* ENOENT */ && known)
			*found = *known;
		else if (err != -2)
			found->rule = RULES_PENDING;
		return 0;
	}
	if (m->vdso) {
		found->frame = (u64)FILE_VDSO << FRAME_FILE | m->place.offset;
		found->rule = rule_of_code(&m->place, address);
	} else if (!m->place.inode && !m->executable) {
		found->rule = RULES_FRAME_POINTER; /* the stack was followed to no code */
	} else {
		if (!m->place.inode) {
			m->place.inode = space;
			m->place.offset = address;
			m->place.dev = GENERATED;
		}
		file = number_of_file(&m->place, address);
		found->frame = file << FRAME_FILE | m->place.offset;
		found->rule = rule_of_code(&m->place, address);
	}
	if (interrupted(l, turn)) { /* key: the stack has no room to keep address so long */
		found->frame = key.address & ((1ull << FRAME_FILE) - 1);
		found->rule = RULES_PENDING;
		return 0;
	}
	if (!err && found->rule != RULES_PENDING) {
		copy = *found; /* kernels before 6.3 take it from the stack only */
		bpf_map_update_elem(&known_addresses, &key, &copy, BPF_ANY);
	}
	return 0;
}

struct following {
	u64 space;
	u64 stamp;
	u64 hash;
	struct frame frame;
	u32 frames;
	u32 stuck;   /* there are callers, but they could not be found */
	u32 pending; /* or not yet */
	u32 sites;   /* it is of a place, so call sites are kept */
};

/* The frame of the bytecode that the interpreter of a Java VM is at; 0: it is at none. */
SUBPROGRAM u64 frame_of_bytecode(struct following *f)
{
	struct place place = { .dev = BYTECODE };
	u64 method = 0;

	if (!f)
		return 0;
	place.inode = f->space;
	place.offset = bytecode_of(&f->frame, &method) & ((1ull << FRAME_FILE) - 1);
	if (!place.offset)
		return 0;
	rule_of_code(&place, method); /* for the question */
	return (u64)number_of_file(&place, method) << FRAME_FILE | place.offset;
}

/*
 * Keeps where frame i is returned to: for the first frame outside of the innermost one's file,
 * which is where a program calls a library, and the next; where all is one file, for frames 1 and
 * 2. A word that is not the return address is none.
 */
SUBPROGRAM int keep_call_site(u32 i, struct following *f, u64 frame)
{
	struct sites_trail *s;
	u64 word = 0, at;
	u32 n, zero = 0;

	s = bpf_map_lookup_elem(&sites_trails, &zero);
	if (!f || !s)
		return 0;
	if (!i) {
		__builtin_memset(s, 0, sizeof(*s));
		s->file = frame >> FRAME_FILE;
		s->sp = f->frame.sp;
		return 0;
	}
	if (s->placed >= CALL_SITES)
		return 0;
	if (!s->placed && frame >> FRAME_FILE != s->file) {
		s->placed = 1;
		s->sites.at[0] = s->sites.at[1] = 0;
	} else if (s->placed) {
		s->placed = 2;
	}
	n = s->placed ? s->placed - 1 : i - 1;
	at = f->frame.sp - 8;
	if (n >= CALL_SITES || !read_word(at, &word) || word != f->frame.ip)
		return 0;
	at = (at - s->sp) / 8 + 1;
	/* two assignments, as the verifier forgets that n was checked */
	if (at && at < 1 << 16 && n)
		s->sites.at[1] = at;
	else if (at && at < 1 << 16)
		s->sites.at[0] = at;
	return 0;
}

SUBPROGRAM int follow_frame(u32 i, struct following *f)
{
	struct known_address a = {};
	struct record_stack *s;
	u64 bytecode;
	u32 zero = 0;
	int step;

	if (!f)
		return 1;
	s = bpf_map_lookup_elem(&trails, &zero);
	if (!s || i >= RECORD_FRAMES)
		return 1;
	/* A return address may be the first of another line: look before it. */
	look_up(f->space, f->frame.exact ? f->frame.ip : f->frame.ip - 1, f->stamp, &a);
	if (is_interpreter(a.rule)) {
		bytecode = frame_of_bytecode(f);
		a.frame = bytecode ? bytecode : a.frame;
	}
	f->frames = i + 1;
	/* or the compiler leaves the mask out: i was checked, but the verifier has forgotten it */
	barrier_var(i);
	s->frames[i & (RECORD_FRAMES - 1)] = a.frame;
	if (f->sites)
		keep_call_site(i, f, a.frame);
	f->hash = mix(f->hash, a.frame);
	if (a.rule == RULES_PENDING) {
		f->pending = 1;
		return 1;
	}
	step = step_out(&f->frame, a.rule);
	f->stuck = step == STEP_STUCK;
	return step != STEP_CALLER;
}

static long on_followed(u32 i, struct following *f)
{
	return follow_frame(i, f) != 0;
}

/* Follows the user's stack of the current thread, into trails. */
static __always_inline void follow_stack(struct following *f, struct task_struct *task, u64 space)
{
	struct record_core *c = record_core();

	if (c)
		c->walks++;
	f->space = space;
	f->stamp = stamp_of_code(task);
	f->hash = 1;
	innermost_frame(task, &f->frame);
	bpf_loop(RECORD_FRAMES, on_followed, f, 0);
}

/* The return addresses of some call sites, as one number. */
static __always_inline u64 callers_at(const struct call_sites *s, u64 sp)
{
	u64 sum = 0, word, at;

	for (int i = 0; i < CALL_SITES; i++) {
		word = 0;
		at = sp + 8 * (u64)s->at[i] - 8;
		if (s->at[i])
			bpf_probe_read_user(&word, sizeof(word), (void *)at);
		sum = mix(sum, word);
	}
	return sum;
}

/* Writes the stack in trails under a number, with where the thread was. */
SUBPROGRAM int tell_stack(u64 number, u64 ip, u64 sp, u32 frames)
{
	struct record_core *c = record_core();
	struct record_stack *s;
	u32 zero = 0;
	struct call_sites sites; /* kernels before 6.3 take it from the stack only */
	struct sites_trail *called;
	u64 size;

	s = bpf_map_lookup_elem(&trails, &zero);
	called = bpf_map_lookup_elem(&sites_trails, &zero);
	if (!c || !s || !called || frames > RECORD_FRAMES)
		return 0;
	sites = called->sites;
	__builtin_memset(&s->r, 0, sizeof(s->r));
	s->r.time = sp;
	s->r.kind = RECORD_STACK;
	s->r.place = number;
	s->r.object = ip;
	size = sizeof(s->r) + 8 * (u64)frames;
	barrier_var(size); /* the verifier wants to see that it is checked */
	if (size <= sizeof(*s) && put(c, s, size))
		bpf_map_update_elem(&known_stacks, &number, &sites, BPF_ANY);
	return 0;
}

/* The number of the stack of a sample of the current thread; 0: it is not known yet. */
SUBPROGRAM u64 stack_of_sample(u64 space)
{
	struct record_core *c = record_core();
	struct following f = {};

	follow_stack(&f, bpf_get_current_task_btf(), space);
	if (c && (f.stuck || f.pending))
		c->unknown++;
	if (!bpf_map_lookup_elem(&known_stacks, &f.hash))
		tell_stack(f.hash, 0, 0, f.frames);
	return f.hash;
}

/*
 * The number of a place with its callers, from that without them; 0: where these are to be found is
 * not known.
 */
SUBPROGRAM u64 number_by_callers(u64 number, u64 sp)
{
	struct call_sites *known = bpf_map_lookup_elem(&known_stacks, &number);

	return known ? mix(number, callers_at(known, sp)) : 0;
}

/* The number of the place at which the current thread has entered the kernel. */
SUBPROGRAM u64 place_here(u64 space)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	u64 ip = REGISTER_IP(regs), sp = REGISTER_SP(regs);
	u64 place = mix(mix(mix(2, space), ip), sp), number = number_by_callers(place, sp);
	struct following f = { .sites = 1 };

	if (number && bpf_map_lookup_elem(&known_stacks, &number))
		return number;
	follow_stack(&f, task, space);
	if (f.pending)
		return number ? number : place;
	if (!number) {
		tell_stack(place, ip, sp, f.frames);
		number = number_by_callers(place, sp);
		if (!number)
			return place; /* there was no room */
	}
	tell_stack(number, ip, sp, f.frames);
	return number;
}

/*
 * The number of the place of a thread that sleeps. Its stack is told when it sleeps there again.
 * Its callers are not known: they are taken for the first that were met there.
 */
static __always_inline u64 place_of_sleeper(struct task_struct *task, u64 space)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);

	return mix(mix(mix(2, space), REGISTER_IP(regs)), REGISTER_SP(regs));
}

#endif
