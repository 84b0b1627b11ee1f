/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/*
 * Where a latency needs the moment of a visit in the source, there is a probe on the no-op in front
 * of it. The visit is counted there, and what the program then adds to its number is taken as read.
 * So each visit counts once, also where only some of a point's places, or of a program's processes,
 * have probes.
 */
#ifndef WHATIF_SITES_H
#define WHATIF_SITES_H

#include "counters.h"

struct site_visit {
	struct thread *thread;
	u32 points; /* left, a bit each */
	u32 source;
	u64 at;	    /* the site's address; for a table, the entry's */
	u64 counts; /* 1, or 0 if the number will tell of the visit */
	u64 cost;
	u64 key;
	u32 keyed;
	u32 set;
};

/*
 * The index of a table's entry among those of its object. VALUE_UNKNOWN: it is in another object.
 */
static __noinline u64 entry_value(struct site_visit *v, u64 table)
{
	struct reading r = {};
	u64 used, i;

	if (!v)
		return VALUE_UNKNOWN;
	used = open_table(&r, table);
	if (!used || !r.stride || v->at < r.entries)
		return VALUE_UNKNOWN;
	i = (v->at - r.entries) / r.stride;
	return i < used && r.entries + i * r.stride == v->at ? i : VALUE_UNKNOWN;
}

/* Takes the number behind a site as read, if this object has the site. */
static __noinline int take_visit(struct site_visit *v, u32 i)
{
	struct counters *c;
	struct object *o;
	struct source *s;
	u64 value;

	if (!v || !v->thread)
		return 0;
	c = bpf_map_lookup_elem(&counters, &v->thread->process.address_space);
	s = bpf_map_lookup_elem(&sources, &v->source);
	if (!c || !s || i >= MAX_OBJECTS)
		return 0;
	o = object_of(c, i);
	if (o->state != OBJECT_COUNTS || v->source - o->first >= o->sources)
		return 0;
	value = o->value + s->value;
	if (s->shards) {
		if (o->bias + s->site != v->at)
			return 0;
	} else {
		u64 entry = entry_value(v, o->bias + s->address);

		if (entry == VALUE_UNKNOWN)
			return 0;
		value += entry;
		if (value >= MAX_VALUES)
			return 0;
		if (c->set[value_number(value)] == SET_UNKNOWN) {
			u32 set = count_named(v->at, 0);

			c->set[value_number(value)] = set;
		}
		v->set = c->set[value_number(value)];
	}
	if (value >= MAX_VALUES || c->value[value_number(value)] == VALUE_UNKNOWN)
		return 1;
	/* If the name is not known yet, the number will tell. */
	if (v->set != SET_UNKNOWN) {
		__sync_fetch_and_add(&c->value[value_number(value)], 1);
		v->counts = 1;
	}
	return 1;
}

static long on_taking(u32 i, struct site_visit *v)
{
	return take_visit(v, i);
}

static long on_site_visit(u32 i, struct site_visit *v)
{
	if (v->points >> i & 1) {
		visit_keyed(v->thread, i, v->counts, v->cost, v->keyed ? &v->key : 0);
		v->cost = 0;
		v->points &= ~(1u << i);
	}
	return !v->points;
}

/*
 * Besides what any probe's cookie has, this one has the source + 1; for a table's function it has 1
 * + the register with the entry, instead of the point.
 */
static __always_inline int visit_site(struct pt_regs *ctx)
{
	struct site_visit v = { .thread = thread_of(bpf_get_current_task_btf()) };
	u64 cookie = bpf_get_attach_cookie(ctx);
	struct source *s;

	if (!counting || !v.thread)
		return 0;
	v.source = (cookie >> 48) - 1;
	s = bpf_map_lookup_elem(&sources, &v.source);
	if (!s)
		return 0;
	v.set = s->set;
	v.keyed = cookie >> 40 & 0xff;
	v.thread->requests.by_goroutine = v.keyed == 1 + GOROUTINE_REGISTER;
	if (v.keyed)
		v.key = key_register(ctx, v.keyed - 1);
	if ((u32)cookie)
		v.at = key_register(ctx, (u32)cookie - 1);
	else
		v.at = REGISTER_IP(ctx);
	v.cost = cost_of(cookie);
	/*
	 * It is not known yet with what numbers a process begins that was just forked, see
	 * on_fault.
	 */
	if (!v.thread->process.forked) {
		/*
		 * Its memory was not looked at yet. The program that whatif starts becomes a member
		 * after its exec, and where it nearly always sleeps no tick may meet it for dozens
		 * of requests. Only then: a probe can be interrupted while it holds the lock of
		 * that look, for longer than a tick can.
		 */
		if (!v.thread->process.code_pages)
			read_counters(v.thread, READ_NOW, 0);
		bpf_loop(MAX_OBJECTS, on_taking, &v, 0);
	}
	v.points = points_of(v.set);
	bpf_loop(MAX_POINTS, on_site_visit, &v, 0);
	return 0;
}

PROBE(site, visit_site(ctx))

#endif
