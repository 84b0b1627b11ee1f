/* SPDX-License-Identifier: MIT */
/*
 * Tells whatif of methods, and of the code that the VM makes of them: the packets M, N, B, C, P, U
 * and D of agent.c.
 */
#ifndef CODE_H
#define CODE_H

static void forget_methods(struct session *s)
{
	u32 i;

	for (i = 0; i < KNOWN; i++)
		s->known[i].method = 0;
	s->count = 0;
}

/* The entry of a method, or a free one for it. */
static struct known *find(struct session *s, method_id m)
{
	u64 hash = ((u64)m >> 3) * 0x9e3779b97f4a7c15;
	u32 i = hash >> 48;

	while (s->known[i % KNOWN].method && s->known[i % KNOWN].method != m)
		i++;
	return &s->known[i % KNOWN];
}

static void put_lines(struct session *s, method_id m)
{
	struct packet *p = &s->method;
	struct line *lines = 0;
	s32 n = 0, i;

	if ((*s->vm)->GetLineNumberTable(s->vm, m, &n, &lines))
		return;
	for (i = 0; i < n; i++) {
		if (p->n + 4 > PACKET) {
			if (!send_packet(s, p))
				break;
			begin(p, 'N');
			put(p, (u64)m, 8);
		}
		put(p, lines[i].location, 2);
		put(p, lines[i].line, 2);
	}
	(*s->vm)->Deallocate(s->vm, lines);
}

/* Where a method has loops follows from its bytecodes. */
static void put_bytecodes(struct session *s, method_id m)
{
	struct packet *p = &s->method;
	u8 *bytecodes = 0;
	s32 n = 0, i = 0;

	if ((*s->vm)->GetBytecodes(s->vm, m, &n, &bytecodes))
		return;
	while (i < n) {
		if (!send_packet(s, p))
			break;
		begin(p, 'B');
		put(p, (u64)m, 8);
		while (i < n && p->n < PACKET)
			put(p, bytecodes[i++], 1);
	}
	(*s->vm)->Deallocate(s->vm, bytecodes);
}

/* Tells what a method is; whether whatif knows it now. */
static int tell_method(struct session *s, method_id m)
{
	char *class = 0, *file = 0, *name = 0, *signature = 0;
	jni_env jni = 0;
	object declaring = 0;

	/* What the VM refuses, as of a class that is gone, stays empty. */
	(*s->machine)->GetEnv(s->machine, &jni, JNI_1_6);
	if (jni && !(*s->vm)->GetMethodDeclaringClass(s->vm, m, &declaring)) {
		(*s->vm)->GetClassSignature(s->vm, declaring, &class, 0);
		(*s->vm)->GetSourceFileName(s->vm, declaring, &file);
		(*jni)->DeleteLocalRef(jni, declaring);
	}
	(*s->vm)->GetMethodName(s->vm, m, &name, &signature, 0);
	begin(&s->method, 'M');
	put(&s->method, (u64)m, 8);
	put_text(&s->method, class);
	put_text(&s->method, name);
	put_text(&s->method, signature);
	put_text(&s->method, file);
	(*s->vm)->Deallocate(s->vm, (void *)class);
	(*s->vm)->Deallocate(s->vm, (void *)file);
	(*s->vm)->Deallocate(s->vm, (void *)name);
	(*s->vm)->Deallocate(s->vm, (void *)signature);
	put_lines(s, m);
	put_bytecodes(s, m);
	return send_packet(s, &s->method);
}

/* Gives a method a number in the code that is being told of, and tells of the method first. */
static u32 number_of(struct session *s, method_id m)
{
	struct known *k;
	s64 start, end = -1;

	if (!m || s->lost) /* what is being made is not sent */
		return UNKNOWN;
	k = find(s, m);
	if (k->method && k->stamp == s->stamp)
		return k->number;
	(*s->vm)->GetMethodLocation(s->vm, m, &start, &end);
	if (!k->method || k->end != end) {
		if (!tell_method(s, m))
			return UNKNOWN;
		s->count += !k->method;
		k->method = m;
		k->end = end;
	}
	k->stamp = s->stamp;
	k->number = UNKNOWN;
	if (s->inlined < MOST_INLINED) {
		k->number = s->inlined++;
		put(&s->code, (u64)m, 8);
	}
	return k->number;
}

static const struct places *inline_info(const void *compile_info)
{
	const struct places_header *h = compile_info;

	while (h && h->kind != INLINE_INFO)
		h = h->next;
	return (const void *)h;
}

/* Begins a packet with places of code, or ends one. */
static int flush_places(struct session *s, const void *start, u32 *n)
{
	struct packet *p = &s->code;

	if (*n) {
		p->bytes[9] = *n;
		p->bytes[10] = *n >> 8;
		if (!send_packet(s, p))
			return 0;
	}
	*n = 0;
	begin(p, 'P');
	put(p, (u64)start, 8);
	put(p, 0, 2);
	return 1;
}

static void put_places(struct session *s, const struct places *places, const u8 *start)
{
	u32 n = 0;
	s32 i, k, depth;

	flush_places(s, start, &n);
	for (i = 0; i < places->count; i++) {
		const struct place *at = &places->places[i];

		depth = at->depth < MOST_DEPTH ? at->depth : MOST_DEPTH;
		if (s->code.n + 6 + 4 * depth > PACKET && !flush_places(s, start, &n))
			return;
		n++;
		put(&s->code, (u8 *)at->address - start, 4);
		put(&s->code, depth, 2);
		for (k = 0; k < depth; k++) {
			put(&s->code, number_of(s, at->methods[k]), 2);
			put(&s->code, at->bytecodes[k], 2);
		}
	}
	flush_places(s, start, &n);
}

/* Numbers all methods of the places. */
static void put_inlined(struct session *s, const struct places *places)
{
	s32 i, k;

	for (i = 0; i < places->count; i++)
		for (k = 0; k < places->places[i].depth && k < MOST_DEPTH; k++)
			number_of(s, places->places[i].methods[k]);
}

static void compiled(jvmti_env vm, method_id method, s32 size, const void *start, s32 n,
		     const struct address_location *locations, const void *compile_info)
{
	struct session *s = session_of(vm);
	const struct places *places = inline_info(compile_info);
	struct packet *p;

	(void)n;
	(void)locations; /* they tell what the places tell, without what is inlined */
	if (!s || !enter(s))
		return;
	p = &s->code;
	if (s->count > KNOWN / 2)
		forget_methods(s);
	s->stamp++;
	s->inlined = 0;
	begin(p, 'C');
	put(p, (u64)start, 8);
	put(p, size, 4);
	put(p, (u64)method, 8);
	put(p, places ? places->count : 0, 4);
	put(p, 0, 2);
	number_of(s, method);
	if (places)
		put_inlined(s, places);
	p->bytes[25] = s->inlined;
	p->bytes[26] = s->inlined >> 8;
	if (send_packet(s, p) && places && places->count)
		put_places(s, places, start);
	unlock(&s->lock);
}

static void unloaded(jvmti_env vm, method_id method, const void *start)
{
	struct session *s = session_of(vm);

	(void)method;
	if (!s || !enter(s))
		return;
	begin(&s->code, 'U');
	put(&s->code, (u64)start, 8);
	send_packet(s, &s->code);
	unlock(&s->lock);
}

static void generated(jvmti_env vm, const char *name, const void *start, s32 size)
{
	struct session *s = session_of(vm);

	if (!s || !enter(s))
		return;
	begin(&s->code, 'D');
	put(&s->code, (u64)start, 8);
	put(&s->code, size, 4);
	put_text(&s->code, name);
	send_packet(s, &s->code);
	unlock(&s->lock);
}

#endif
