/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/*
 * Deferred samples. The first sample at an instruction has to ask whose code that is, and the
 * answer comes a little later. In a program with much code, such as a compiler, that would be half
 * of all samples. So the addresses up the stack are kept, as far as they may matter, and looked up
 * again at the thread's next samples, while there is room.
 */
#ifndef WHATIF_DEFERRED_H
#define WHATIF_DEFERRED_H

#include "../points/visits.h"
#include "sample_unit.h"

/* A longer stack is a loss. */
#define MAX_TRAIL 128

/*
 * Innermost first. All addresses where whole stacks matter, otherwise from the first unknown one
 * on.
 */
struct trail {
	u64 addresses;
	u64 address[MAX_TRAIL];
};

/* One for each core, for the sample that is being taken or looked at again. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct trail);
} trails SEC(".maps");

/* A thread's deferred sample. */
struct deferred_sample {
	u64 epoch; /* the experiment in which it was taken; 0: none */
	u64 space; /* the address space of its addresses */
	u32 known; /* see struct walk */
	/*
	 * the rule for the caller of the last address was unknown, too: nothing is known beyond it
	 */
	u32 cut;
	u32 point;  /* 1 + the sampled point that it visits; 0: none is known yet */
	u32 visits; /* a visit that is not counted yet */
	u32 tries;  /* how often it was looked at again */
	/* the kind of its segment, once that is over; 0: it is not over, or has no kind */
	u64 kind;
	u32 given; /* its segment got what its kind deserves */
	struct deferred_credit credit;
	struct trail trail;
};
#define DEFERRED 3
struct deferred_samples {
	struct deferred_sample sample[DEFERRED];
};
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct deferred_samples);
} deferred_samples SEC(".maps");

/*
 * An answer that has not come after so many looks does not come: there was no room, or no way to
 * ask.
 */
#define MOST_TRIES 100

static __always_inline struct trail *this_trail(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&trails, &zero);
}

SUBPROGRAM int leave_trail(struct walk *w, u64 address)
{
	struct trail *trail = this_trail();
	u32 i;

	if (!w || !trail)
		return 0;
	i = w->trail++;
	if (i < MAX_TRAIL)
		trail->address[i] = address;
	return 0;
}

/* One of the current thread's deferred samples. */
static __always_inline struct deferred_sample *deferred_of(u32 i, u64 create)
{
	struct deferred_samples *all =
		bpf_task_storage_get(&deferred_samples, bpf_get_current_task_btf(), 0, create);

	barrier_var(i); /* or what the verifier saw checked is not what is used */
	return all && i < DEFERRED ? &all->sample[i] : 0;
}

/*
 * Keeps what a walk has found for the current thread's next samples. Without a free place it
 * replaces the oldest. Gives 0 if it cannot be kept.
 */
SUBPROGRAM int defer_sample(struct thread *t, struct core *c, const struct walk *w)
{
	struct trail *trail = this_trail();
	u32 i = 0, tries = 0;
	struct deferred_sample *l;

	if (!t || !w || !trail || w->trail > MAX_TRAIL)
		return 0;
	for (u32 k = 0; k < DEFERRED; k++) {
		if (!(t->deferral.samples >> k & 1)) {
			i = k;
			break;
		}
		l = deferred_of(k, 0);
		if (l && l->tries > tries) {
			i = k;
			tries = l->tries;
		}
	}
	l = deferred_of(i, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!l)
		return 0;
	if (t->deferral.samples >> i & 1)
		lose(c, l->cut ? LOSS_TABLE : LOSS_PLACE);
	trail->addresses = w->trail;
	l->epoch = 0;
	l->space = t->process.address_space;
	l->known = w->known;
	l->cut = w->ended == ENDED_PENDING;
	l->point = w->point;
	l->visits = 0;
	l->tries = 0;
	l->kind = l->given = 0;
	bpf_probe_read_kernel(&l->trail, sizeof(l->trail), trail);
	t->deferral.samples |= 1 << i;
	t->deferral.last = 1 + i;
	return 1;
}

/*
 * The segment that is over has a kind, which its deferred samples will teach something when they
 * are known.
 */
SUBPROGRAM int learn_deferred(struct thread *t, u64 key, bool given)
{
	struct deferred_samples *all =
		bpf_task_storage_get(&deferred_samples, bpf_get_current_task_btf(), 0, 0);

	if (!t || !all)
		return 0;
	for (int i = 0; i < DEFERRED; i++)
		if (t->deferral.samples >> i & 1 && all->sample[i].epoch == control.epoch &&
		    !all->sample[i].kind) {
			all->sample[i].kind = key;
			all->sample[i].given = given;
		}
	return 0;
}

/* Books a sample whose unit is not known, or not known yet. */
static __always_inline void credit_unknown(struct thread *t, u64 ran)
{
	struct deferred_sample *l = t->deferral.last ? deferred_of(t->deferral.last - 1, 0) : 0;

	if (l) {
		l->epoch = control.epoch;
		credit_defer(&t->credit, ran, &l->credit);
	} else {
		credit_sample(&t->credit, ran, SIDE_UNKNOWN, 0);
	}
}

/* What is known of a bytecode: it was asked about when it was met. */
SUBPROGRAM u32 known_bytecode(u64 space, u64 bytecode)
{
	struct place place = { .inode = space, .offset = bytecode, .dev = NUMBER_BYTECODE };
	u32 *known = bpf_map_lookup_elem(&places, &place);

	return known ? *known : UNIT_NONE;
}

static long on_trail(u32 i, struct walk *w)
{
	struct trail *trail = this_trail();
	struct code code;
	bool instruction;
	u64 address;

	if (!trail || i >= trail->addresses)
		return 1;
	barrier_var(i); /* or what the verifier saw checked is not what is used */
	if (i >= MAX_TRAIL)
		return 1;
	address = trail->address[i];
	w->match.counted = i >= w->known && !w->pending; /* those before have been counted */
	w->trail = i + 1;
	if (kernel_code && address >> 63) {
		kernel_code_at(address, &code);
		return note_code(w, &code, 0) != 0;
	}
	instruction = address & TRAIL_INSTRUCTION;
	if (address & TRAIL_BYTECODE)
		code.unit = known_bytecode(w->space, address & TRAIL_ADDRESS);
	else if (code_at(w->space, address & TRAIL_ADDRESS, w->stamp, &code))
		w->busy = 1;
	return note_code(w, &code, instruction) != 0;
}

/*
 * Looks again at a deferred sample of the current thread. Gives its unit, as unit_of_sample, and
 * the weight of its selected units; UNIT_PENDING: still unknown.
 */
SUBPROGRAM u32 unit_of_deferred(struct thread *t, struct core *c, struct deferred_sample *l,
				u32 *weight)
{
	struct walk w = { .ended = ENDED_OUTERMOST };
	u32 unit;
	struct task_struct *task = bpf_get_current_task_btf();
	struct trail *trail = this_trail();

	if (!t || !c || !l || !trail || !weight)
		return UNIT_PENDING;
	l->tries++;
	w.space = l->space;
	if (w.space != t->process.address_space || !memory_of(task))
		return UNIT_PENDING;
	w.known = l->known;
	w.match.sample = ++c->walks;
	w.stamp = stamp_of_code(task);
	bpf_probe_read_kernel(trail, sizeof(*trail), &l->trail);
	bpf_loop(MAX_TRAIL, on_trail, &w, 0);
	if (w.point && !l->point)
		l->visits = 1;
	if (!l->point)
		l->point = w.point;
	if (w.pending) {
		if (w.known > l->known)
			l->known = w.known;
		return UNIT_PENDING;
	}
	/* More than this will never be known. */
	if (l->cut && w.ended == ENDED_OUTERMOST)
		w.ended = ENDED_PENDING;
	l->tries = MOST_TRIES;
	unit = unit_found(&w);
	*weight = weight_found(&w, unit);
	return unit;
}

/* Books a deferred sample whose unit is known now. */
SUBPROGRAM int book_deferred(struct thread *t, struct core *c, struct deferred_sample *l, u32 unit,
			     u32 weight)
{
	u32 spins = unit & UNIT_SPINS, part, hits;
	struct kinds *relatives;
	struct kind *k;

	if (!t || !c || !l)
		return 0;
	unit &= ~UNIT_SPINS;
	if (!whole_stacks && unit && unit < MAX_UNITS)
		count_sample(unit);
	if (l->epoch != control.epoch || !under_way(bpf_ktime_get_ns()))
		return 0;
	if (l->visits)
		pass(c, t, l->point, l->credit.ran);
	part = TICK_ONE - l->credit.lost;
	count_too_soon(c, t, weight); /* as it is now: mostly it has not changed */
	weight = spins ? 0 : weight_of_code(weight);
	hits = weighted_ticks(part, weight);
	if (l->kind) {
		k = kinds_find(&t->learned.kinds, l->kind);
		relatives = !k || k->ticks < KIND_KNOWN ? family_kinds(t) : 0;
		learn_kind(&t->learned.kinds, l->kind, hits, part, 1);
		learn_kind(relatives, l->kind, hits, part, 0);
	}
	credit_settle(&t->credit, &l->credit, weight, control.rate, l->given);
	return 0;
}

/* Looks again at a deferred sample; 0: it may be known later. */
static __always_inline bool settle_deferred(struct thread *t, struct core *c,
					    struct deferred_sample *l)
{
	u32 weight = 0, unit = unit_of_deferred(t, c, l, &weight);

	if ((unit & ~UNIT_SPINS) != UNIT_PENDING) {
		book_deferred(t, c, l, unit, weight);
		return 1;
	}
	if (l->tries < MOST_TRIES)
		return 0;
	lose(c, l->cut ? LOSS_TABLE : LOSS_PLACE);
	return 1;
}

/* The current thread's next sample has come: what became of its deferred ones? */
SUBPROGRAM int settle_all_deferred(struct thread *t, struct core *c)
{
	struct deferred_samples *all =
		bpf_task_storage_get(&deferred_samples, bpf_get_current_task_btf(), 0, 0);

	if (!t || !c || !all)
		return 0;
	/* With several the order makes little difference. */
	for (int i = 0; i < DEFERRED; i++)
		if (t->deferral.samples >> i & 1 && settle_deferred(t, c, &all->sample[i]))
			t->deferral.samples &= ~(1 << i);
	return 0;
}

/* There is no next sample, or the addresses have another meaning. */
static __always_inline void drop_deferred(struct thread *t)
{
	for (int i = 0; i < DEFERRED; i++)
		if (t->deferral.samples >> i & 1)
			lose(this_core(), LOSS_PLACE);
	t->deferral.samples = 0;
}

#endif
