/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/*
 * The first sample at an instruction. Whose that is has to be asked, and the answer
 * comes a little later. Of a program with much code, a compiler, that would be half of all
 * samples. So the addresses up the stack are kept, as far as they may matter, and the sample
 * is put off until the thread's next: then they are looked up again; and once more at those after
 * that, while there is room.
 */
#ifndef WHATIF_LATE_H
#define WHATIF_LATE_H

/* More are a loss. */
#define MAX_TRAIL 128

/* Innermost first. Where whole stacks are looked at all of them, otherwise from the first on that is not known. */
struct trail {
	u64 addresses;
	u64 address[MAX_TRAIL];
};

/* Of a core, for the sample that is being taken, or looked at once more. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct trail);
} trails SEC(".maps");

/* A sample that a thread has put off. */
struct late {
	u64 epoch;   /* the experiment that it was taken in */
	u64 space;   /* that the addresses are of */
	u32 known;   /* see struct walk */
	u32 pending; /* the rule for the caller of the last address was not known either: nothing is known of that */
	struct put_off put_off;
	struct trail trail;
};
#define LATES 3
struct lates {
	struct late late[LATES];
};
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct lates);
} lates SEC(".maps");

static __always_inline struct trail *this_trail(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&trails, &zero);
}

/* Not static: as step_out. */
__noinline int leave_trail(struct walk *w, u64 address)
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

/* The place of the sample that the current thread has put off last; 0: there is no room. */
static __always_inline struct late *last_late(struct thread *t, u64 create)
{
	struct lates *all = bpf_task_storage_get(&lates, bpf_get_current_task_btf(), 0, create);
	u32 i = t->next_late;

	barrier_var(i); /* or what the verifier saw checked is not what is used */
	return all && i < LATES ? &all->late[i] : 0;
}

/* Keeps what a walk has found for the current thread's next samples; 0: it cannot be. Not static: as step_out. */
__noinline int put_off_sample(struct thread *t, struct core *c, const struct walk *w)
{
	struct trail *trail = this_trail();
	struct late *l;
	u32 bit;

	if (!t || !w || !trail || !w->pending || w->trail > MAX_TRAIL)
		return 0;
	t->next_late = t->next_late + 1 < LATES ? t->next_late + 1 : 0;
	bit = 1 << t->next_late;
	l = last_late(t, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!l)
		return 0;
	if (t->late & bit)
		lose(c, LOSS_PLACE);
	trail->addresses = w->trail;
	l->epoch = 0;
	l->space = t->address_space;
	l->known = w->known;
	l->pending = w->ended == ENDED_PENDING;
	bpf_probe_read_kernel(&l->trail, sizeof(l->trail), trail);
	t->late |= bit;
	return 1;
}

/* Books a sample whose unit is not known, or not known yet. */
static __always_inline void credit_unknown(struct thread *t, u64 ran)
{
	struct late *l = t->late >> t->next_late & 1 ? last_late(t, 0) : 0;

	if (l) {
		l->epoch = control.epoch;
		credit_put_off(&t->credit, ran, &l->put_off);
	} else {
		credit_sample(&t->credit, ran, SIDE_UNKNOWN);
	}
}

/* Not static: as step_out. */
__noinline int look_at_trail(u32 i, struct walk *w)
{
	struct trail *trail = this_trail();
	struct code code;
	bool instruction;
	u64 address;

	if (!w || !trail || i >= trail->addresses)
		return 1;
	barrier_var(i); /* or what the verifier saw checked is not what is used */
	if (i >= MAX_TRAIL)
		return 1;
	address = trail->address[i];
	w->match.counted = i >= w->known && !w->pending; /* those before were */
	w->trail = i + 1;
	if (address >> 63) {
		kernel_code_at(address, &code);
		return note_code(w, &code, 0);
	}
	instruction = address & TRAIL_INSTRUCTION;
	if (code_at(w->space, address & ~TRAIL_INSTRUCTION, w->stamp, &code))
		w->busy = 1;
	return note_code(w, &code, instruction);
}

static long on_trail(u32 i, struct walk *w)
{
	return look_at_trail(i, w) != 0;
}

/* The unit of the sample that the current thread has put off, as unit_of_sample. Not static: as step_out. */
__noinline u32 unit_of_late(struct thread *t, struct core *c, struct late *l)
{
	struct walk w = { .ended = ENDED_OUTERMOST };
	struct task_struct *task = bpf_get_current_task_btf();
	struct trail *trail = this_trail();

	if (!t || !c || !l || !trail)
		return UNIT_PENDING;
	w.space = l->space;
	if (w.space != t->address_space || !task->mm)
		return UNIT_PENDING;
	w.known = l->known;
	w.match.sample = ++c->walks;
	w.match.selected = control.unit;
	w.stamp = stamp_of(task->mm->exec_vm);
	bpf_probe_read_kernel(trail, sizeof(*trail), &l->trail);
	bpf_loop(MAX_TRAIL, on_trail, &w, 0);
	if (l->pending && w.ended == ENDED_OUTERMOST)
		w.ended = ENDED_PENDING;
	l->known = w.known;
	return unit_found(&w);
}

/* A sample that the current thread has put off is looked at again; 0: its unit is still not known. */
static __always_inline bool settle_one(struct thread *t, struct core *c, struct late *l)
{
	u32 unit = unit_of_late(t, c, l), spins;

	spins = unit & UNIT_SPINS;
	unit &= ~UNIT_SPINS;
	if (unit == UNIT_PENDING)
		return 0;
	if (!whole_stacks && unit && unit < MAX_UNITS)
		__sync_fetch_and_add(&unit_samples[unit & (MAX_UNITS - 1)], 1);
	if (under_way(bpf_ktime_get_ns()) && l->epoch == control.epoch)
		credit_late(&t->credit, &l->put_off, !spins && unit && unit == control.unit ? SIDE_IN : SIDE_OUT);
	return 1;
}

/* The next sample of the current thread has come: what became of those that were put off? Not static: as step_out. */
__noinline int settle_all(struct thread *t, struct core *c)
{
	struct lates *all = bpf_task_storage_get(&lates, bpf_get_current_task_btf(), 0, 0);

	if (!t || !c || !all)
		return 0;
	/* If there are several it makes little difference which is first. */
	for (int i = 0; i < LATES; i++)
		if (t->late >> i & 1 && settle_one(t, c, &all->late[i]))
			t->late &= ~(1 << i);
	return 0;
}

/* There is no next sample, or its addresses are others'. */
static __always_inline void give_up_late(struct thread *t)
{
	for (int i = 0; i < LATES; i++)
		if (t->late >> i & 1)
			lose(this_core(), LOSS_PLACE);
	t->late = 0;
}

#endif
