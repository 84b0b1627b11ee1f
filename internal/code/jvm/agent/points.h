/* SPDX-License-Identifier: MIT */
/*
 * Progress points in Java code. whatif rewrites the classes that have some: a call of a method is
 * inserted, which adds one to a counter. The agent hands classes to whatif and gives the VM what
 * comes back.
 *
 * At some points the moment of each visit matters: see whatif_timed.
 *
 * The counters are in a table in the agent's own memory, like those of COZ's library
 * (internal/coz/library/coz.c): whatif's kernel side finds it by the note, and reads it from
 * outside. The agent is never unloaded, so a call that stays behind counts in memory that is there.
 *
 * A session for points is one whose options begin with "points:". It has no events of compiled
 * code, and makes two connections to whatif's socket. The first is for commands, as in every
 * session. The second is for classes: a thread that loads a class, or the agent's own if a class is
 * changed that is loaded already, sends the class and waits for whatif, 2 s at most. Only classes
 * are sent that have certain bytes in them.
 *
 * Commands, besides those of agent.c:
 *	A	then "A  u64 address, u32 retired" comes back: the address of the first counter, and the
 *		number of counters that are not used any more; the next are 192 bytes apart
 *	H  bytes of a class
 *		defines the class that counts, for all others to see; whatif does that once in a VM
 *	B  bytes of a class
 *		provides the native methods of the class that counts; see bind_timed
 *	N  u32 event, text name
 *		names the next counter
 *	E  u8 on
 *		from now on visits that are counted call a native method, too, or do not any more
 *	P	counts for about 10 ms at the last counter, so that the kernel side reads the table
 *	W  u16 groups, of each: u8 pieces, of each: a text
 *		from now on classes are sent that have all pieces of a group in them; a piece that
 *		begins with a zero byte is the class's name
 *	L	tell of all classes that are loaded: "L", then to the packet's end: text signature,
 *		text source file
 *	T  to the packet's end: text signature
 *		have these classes changed, which are loaded already
 *	O	tell of methods that threads still run as they were before they were changed: "O", then to
 *		the packet's end: text signature, text name
 *
 * On the second connection: u32 size, text name ("com/shop/Cart", or ""), then the class in packets
 * of 32 KiB. The answer is a u32 size, then the new class in the same way; 0: it stays as it is.
 *
 * When the session ends all changed classes are changed back. If the VM refuses that, calls stay in
 * them: then the counters of this session are retired, as their numbers would be the next one's.
 */
#ifndef POINTS_H
#define POINTS_H

#include "../../../coz/library/counters.h"

enum {
	MOST_CLASS = 16 << 20,
	CLASS_PATIENCE = 2000, /* ms */
	MOST_FRAMES = 256,
	PULSE = 2000000,
	NO_TABLE = -2, /* another whatif counts points in this VM */
	WRONG = -3,    /* a command that makes no sense */
	NO_HELPER = -4, /* this VM cannot have the class that counts */
	FOUND = 0x80,	/* in the second byte of a length: see mark_found */
	MOST_CAPACITY = 60000, /* more references are not promised by the VM */
	BACK_ROUNDS = 3,
	BACK_PAUSE = 20, /* ms */
};

static struct counter counters[COUNTERS] __attribute__((aligned(64)));

/*
 * Where the moment of each visit matters, as at the ends of latencies, the call is one of a native
 * method instead. There is one for each number, TIMED_STRIDE bytes apart. It does nothing: whatif's
 * kernel side has a probe there. The key is in the third argument. While visits are recorded, those
 * that are counted come by there, too: the word behind a counter says so.
 */
#if defined(__x86_64__)
#define TIMED ".byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n ret\n" /* cheap to probe; no child runs it: see trap.Behind */
#else
#define TIMED "nop\n ret\n"
#endif
__asm__(".pushsection .text\n"
	".balign 16\n"
	".globl whatif_timed\n"
	".protected whatif_timed\n"
	".type whatif_timed, @function\n"
	"whatif_timed:\n"
	".rept 64\n"
	".balign 16\n"
	TIMED
	".endr\n"
	".balign 16\n"
	".size whatif_timed, . - whatif_timed\n"
	".popsection\n");

extern const u8 whatif_timed[];

enum { TIMED_STRIDE = 16 };

COUNTER_TABLE(whatif_points_table);

static u32 table_taken; /* by a session */
static u32 helper_defined, timed_bound;
static u32 retired; /* counters at which calls may count that were not taken out */

/* Reads a command. */
struct in {
	const u8 *at, *end;
};

static u32 get(struct in *in, u32 size)
{
	u32 n = 0, i;

	for (i = 0; i < size && in->at < in->end; i++)
		n |= (u32)*in->at++ << 8 * i;
	return n;
}

/* A text is a part of the command; 0: it is cut short. */
static const u8 *get_text(struct in *in, u32 *size)
{
	const u8 *text;

	*size = get(in, 2) & ~(FOUND << 8);
	if (*size > in->end - in->at)
		return 0;
	text = in->at;
	in->at += *size;
	return text;
}

static int same_bytes(const u8 *a, const u8 *b, u32 n)
{
	while (n && *a == *b)
		a++, b++, n--;
	return !n;
}

static int occurs(const u8 *piece, u32 n, const u8 *bytes, u32 size)
{
	u32 i;

	if (!n)
		return 1;
	for (i = 0; i + n <= size; i++)
		if (bytes[i] == *piece && same_bytes(bytes + i, piece, n))
			return 1;
	return 0;
}

static int is_name(const u8 *piece, u32 n, const char *name)
{
	u32 i;

	for (i = 0; name && i < n && name[i] && name[i] == (char)piece[i]; i++)
		;
	return name && i == n && !name[i];
}

/* Whether whatif wants to see a class. */
static int wanted(const struct session *s, const char *name, const u8 *bytes, u32 size)
{
	struct in in = { s->wanted, s->wanted + s->wanted_size };
	u32 groups = get(&in, 2);

	while (groups--) {
		u32 pieces = get(&in, 1), all = 1, n;

		while (pieces--) {
			const u8 *piece = get_text(&in, &n);

			if (!piece)
				return 0;
			all = all && (n && !*piece ? is_name(piece + 1, n - 1, name) :
						     occurs(piece, n, bytes, size));
		}
		if (all)
			return 1;
	}
	return 0;
}

/* The text in a list that is the class of a signature, with its L and ; or without; 0: there is none. */
static const u8 *listed(struct in in, const char *signature, int whole)
{
	u32 length = 0, n;
	const u8 *text;

	while (signature[length])
		length++;
	if (!whole) {
		if (length < 2)
			return 0;
		signature++;
		length -= 2;
	}
	while (in.at < in.end) {
		text = get_text(&in, &n);
		if (!text)
			return 0;
		if (n == length && same_bytes(text, (const u8 *)signature, n))
			return text;
	}
	return 0;
}

static struct in changed_names(struct session *s)
{
	struct in names = { s->changed, s->changed + s->changed_size };

	return names;
}

/* Remembers what has to be changed back: a signature without its L and ;, after its length. */
static void remember(struct session *s, const char *name)
{
	u32 n = 0, i;

	while (name[n] && n < MOST_TEXT)
		n++;
	if (name[n] || s->changed_size + 2 + n > MOST_CHANGED || listed(changed_names(s), name, 1))
		return; /* whatif asks for no change that finds no room */
	s->changed[s->changed_size++] = n;
	s->changed[s->changed_size++] = n >> 8;
	for (i = 0; i < n; i++)
		s->changed[s->changed_size++] = name[i];
}

/* Marks a name that has to be changed back as that of a class which the VM has. */
static void mark_found(struct session *s, const u8 *text)
{
	s->changed[text - s->changed - 1] |= FOUND;
}

/* Forgets the names that are marked. */
static void forget_found(struct session *s)
{
	u32 from = 0, to = 0, n, i;

	while (from + 2 <= s->changed_size) {
		u32 found = s->changed[from + 1] & FOUND;

		n = 2 + (s->changed[from] | (s->changed[from + 1] & ~FOUND) << 8);
		for (i = 0; i < n && !found; i++)
			s->changed[to++] = s->changed[from + i];
		from += n;
	}
	s->changed_size = to;
}

static int send_all(int fd, const u8 *bytes, u32 n)
{
	while (n) {
		u32 part = n < PACKET ? n : PACKET;
		long r = send_now(fd, bytes, part);

		if (r == -EAGAIN) {
			if (!wait_for(fd, WRITABLE, CLASS_PATIENCE))
				return 0;
		} else if (r != -EINTR) {
			if (r != part)
				return 0;
			bytes += part;
			n -= part;
		}
	}
	return 1;
}

static int receive_all(int fd, u8 *bytes, u32 n)
{
	while (n) {
		long r;

		if (!wait_for(fd, READABLE, CLASS_PATIENCE))
			return 0;
		r = receive(fd, bytes, n < PACKET ? n : PACKET);
		if (r == -EINTR)
			continue;
		if (r <= 0)
			return 0;
		bytes += r;
		n -= r;
	}
	return 1;
}

/* Hands a class to whatif; 0: the connection is of no use any more. */
static int exchange(struct session *s, const char *name, const u8 *bytes, u32 size, s32 *new_size,
		    u8 **new_bytes)
{
	struct packet *p = &s->class_packet;
	u8 *changed = 0;
	u8 answer[4];
	u32 n;

	p->n = 0;
	put(p, size, 4);
	put_text(p, name ? name : "");
	if (!send_all(s->classes, p->bytes, p->n) || !send_all(s->classes, bytes, size) ||
	    !receive_all(s->classes, answer, sizeof(answer)))
		return 0;
	n = answer[0] | answer[1] << 8 | answer[2] << 16 | (u32)answer[3] << 24;
	if (!n)
		return 1;
	if (n > MOST_CLASS || (*s->vm)->Allocate(s->vm, n, &changed))
		return 0;
	if (!receive_all(s->classes, changed, n)) {
		(*s->vm)->Deallocate(s->vm, changed);
		return 0;
	}
	*new_size = n;
	*new_bytes = changed;
	if (name)
		remember(s, name);
	return 1;
}

/* A class is loaded, or changed. */
static void class_loaded(jvmti_env vm, jni_env jni, object redefined, object loader,
			 const char *name, object domain, s32 size, const u8 *bytes, s32 *new_size,
			 u8 **new_bytes)
{
	struct session *s = session_of(vm);

	(void)jni;
	(void)redefined;
	(void)loader;
	(void)domain;
	if (!s || s->classes < 0 || size <= 0 || size > MOST_CLASS || !wanted(s, name, bytes, size) ||
	    !lock_within(&s->class_lock, CLASS_PATIENCE))
		return;
	if (s->classes >= 0 && !exchange(s, name, bytes, size, new_size, new_bytes)) {
		system_call(SYS_CLOSE, s->classes, 0, 0, 0, 0, 0); /* whatif learns by this */
		s->classes = -1;
	}
	unlock(&s->class_lock);
}

static s32 tell_address(struct session *s)
{
	begin(&s->code, 'A');
	put(&s->code, (u64)&counters[0].count, 8);
	put(&s->code, retired, 4);
	send_packet(s, &s->code);
	return 0;
}

/* The name of the class that counts: java/lang/Whatif$ and the address of the first counter. */
static void name_helper(char name[64])
{
	static const char begin[] = "java/lang/Whatif$";
	u64 address = (u64)&counters[0].count;
	u32 n, digits = 1;

	for (n = 0; begin[n]; n++)
		name[n] = begin[n];
	while (digits < 16 && address >> 4 * digits)
		digits++;
	while (digits--)
		name[n++] = "0123456789abcdef"[address >> 4 * digits & 15];
	name[n] = 0;
}

/* Provides the native methods t0, t1 and so on. It is a native method itself. */
static void provide_timed(jni_env jni, object unused)
{
	char helper[64];
	object class;
	struct native all[COUNTERS];
	char names[COUNTERS][4];
	s32 i;

	(void)unused;
	for (i = 0; i < COUNTERS; i++) {
		char *name = names[i];

		*name++ = 't';
		if (i >= 10)
			*name++ = '0' + i / 10;
		*name++ = '0' + i % 10;
		*name = 0;
		all[i].name = names[i];
		all[i].signature = "(J)V";
		all[i].function = whatif_timed + TIMED_STRIDE * i;
	}
	name_helper(helper);
	class = (*jni)->FindClass(jni, helper);
	if (class && !(*jni)->RegisterNatives(jni, class, all, COUNTERS))
		timed_bound = 1;
	else
		(*jni)->ExceptionClear(jni);
}

/*
 * Has provide_timed called. The VM prints a warning if anything but its own library provides native
 * methods of a class in its own library, and goes by the Java code that runs. So there is a class
 * that has nothing but a method, "run", which calls a native one, "bind". It is in no module.
 */
static s32 bind_timed(jni_env jni, u32 n, const u8 *bytes)
{
	static const struct native bind = { "bind", "()V", provide_timed };
	method_id run;
	object class;

	if (timed_bound)
		return 0;
	class = (*jni)->DefineClass(jni, 0, 0, bytes, n);
	if (class && !(*jni)->RegisterNatives(jni, class, &bind, 1)) {
		run = (*jni)->GetStaticMethodID(jni, class, "run", "()V");
		if (run)
			(*jni)->CallStaticVoidMethodA(jni, class, run, 0);
	}
	(*jni)->ExceptionClear(jni);
	if (class)
		(*jni)->DeleteLocalRef(jni, class);
	return timed_bound ? 0 : NO_HELPER;
}

static s32 define_helper(struct session *s, jni_env jni, u32 n)
{
	object class;

	if (helper_defined)
		return 0;
	class = (*jni)->DefineClass(jni, 0, 0, s->command + 1, n - 1);
	/* It is initialised now, which fails if the JVM's library is older than Java 9. */
	if (class && (*jni)->GetStaticMethodID(jni, class, "h0", "()V"))
		helper_defined = 1;
	else
		(*jni)->ExceptionClear(jni);
	if (class)
		(*jni)->DeleteLocalRef(jni, class);
	return helper_defined ? 0 : NO_HELPER;
}

static s32 name_counter(struct in in)
{
	u32 event = get(&in, 4), used = whatif_points_table.used, n, i;
	const u8 *name = get_text(&in, &n);
	struct counter *c;

	if (!name || retired + used >= COUNTERS || n >= sizeof(c->name))
		return WRONG;
	c = &counters[retired + used];
	c->event = event;
	c->length = n;
	for (i = 0; i < sizeof(c->name); i++)
		c->name[i] = i < n ? name[i] : 0;
	__atomic_store_n(&c->count, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&c->backoff, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&c->counts, COUNTER_MARK, __ATOMIC_RELEASE);
	__atomic_store_n(&c->mark, COUNTER_MARK, __ATOMIC_RELEASE);
	__atomic_store_n(&whatif_points_table.entries, &counters[retired], __ATOMIC_RELEASE);
	__atomic_store_n(&whatif_points_table.used, used + 1, __ATOMIC_RELEASE);
	return 0;
}

/* Has visits that are counted call their native methods, or not. */
static s32 each_visit(u32 on)
{
	u32 i;

	if (on && !timed_bound)
		return WRONG;
	for (i = 0; i < COUNTERS; i++)
		__atomic_store_n(&counters[i].backoff, on, __ATOMIC_RELEASE);
	return 0;
}

static s32 pulse(void)
{
	u32 used = whatif_points_table.used, i;

	if (!used)
		return WRONG;
	for (i = 0; i < PULSE; i++)
		__atomic_fetch_add(&counters[retired + used - 1].count, 1, __ATOMIC_RELAXED);
	return 0;
}

static s32 want(struct session *s, struct in in)
{
	u32 n = in.end - in.at, i;

	if (s->wanted_size)
		return WRONG; /* other threads read it */
	for (i = 0; i < n; i++)
		s->wanted[i] = in.at[i];
	s->wanted_size = n;
	return (*s->vm)->SetEventNotificationMode(s->vm, EVENT_ON, EVENT_CLASS_FILE_LOAD_HOOK, 0);
}

/* Adds two texts to a packet that may be sent before. */
static void put_pair(struct session *s, char type, const char *a, const char *b)
{
	if (s->code.n + 2 * MOST_TEXT + 4 > PACKET) {
		send_packet(s, &s->code);
		begin(&s->code, type);
	}
	put_text(&s->code, a);
	put_text(&s->code, b);
}

/*
 * Begins to make many references, which leave_references gives back. Until then no function of JNI
 * is called: with -Xcheck:jni it would warn of so many.
 */
static s32 make_references(jni_env jni) { return (*jni)->PushLocalFrame(jni, 16); }
static void leave_references(jni_env jni) { (*jni)->PopLocalFrame(jni, 0); }

static s32 list_classes(struct session *s)
{
	object *classes = 0;
	s32 n = 0, i, error;
	char *signature, *file;

	begin(&s->code, 'L');
	error = (*s->vm)->GetLoadedClasses(s->vm, &n, &classes);
	if (error)
		return error;
	for (i = 0; i < n; i++) {
		if ((*s->vm)->GetClassSignature(s->vm, classes[i], &signature, 0))
			continue;
		if (signature[0] == 'L') { /* else it is an array */
			file = 0;
			(*s->vm)->GetSourceFileName(s->vm, classes[i], &file);
			put_pair(s, 'L', signature, file);
			(*s->vm)->Deallocate(s->vm, (void *)file);
		}
		(*s->vm)->Deallocate(s->vm, (void *)signature);
	}
	(*s->vm)->Deallocate(s->vm, (void *)classes);
	send_packet(s, &s->code);
	return 0;
}

static void swap(object *a, object *b)
{
	object was = *a;

	*a = *b;
	*b = was;
}

/* Puts the classes of a list in front, and gives their number. */
static s32 choose(struct session *s, object *classes, s32 n, struct in names, int whole)
{
	s32 i, chosen = 0;
	const u8 *text;
	char *signature;
	u8 can;

	for (i = 0; i < n; i++) {
		if ((*s->vm)->GetClassSignature(s->vm, classes[i], &signature, 0))
			continue;
		can = 0;
		text = listed(names, signature, whole);
		if (text && !(*s->vm)->IsModifiableClass(s->vm, classes[i], &can) && can)
			swap(&classes[chosen++], &classes[i]);
		if (text && !whole)
			mark_found(s, text);
		(*s->vm)->Deallocate(s->vm, (void *)signature);
	}
	return chosen;
}

/* Has classes changed, all at once: the VM stops for each time. If it refuses that, one by one. */
static s32 retransform(struct session *s, jni_env jni, struct in names, int whole)
{
	object *classes = 0;
	s32 all = 0, n, i, one, error = (*s->vm)->GetLoadedClasses(s->vm, &all, &classes);

	if (error)
		return error;
	n = choose(s, classes, all, names, whole);
	/* Other agents call functions of JNI when classes are changed: see make_references. */
	(*jni)->EnsureLocalCapacity(jni, all < MOST_CAPACITY ? all : MOST_CAPACITY);
	for (i = n; i < all; i++)
		(*jni)->DeleteLocalRef(jni, classes[i]);
	if (n)
		error = (*s->vm)->RetransformClasses(s->vm, n, classes);
	if (error && n > 1) {
		error = 0;
		for (i = 0; i < n; i++) {
			one = (*s->vm)->RetransformClasses(s->vm, 1, &classes[i]);
			error = one ? one : error;
		}
	}
	(*s->vm)->Deallocate(s->vm, (void *)classes);
	return error;
}

static void tell_frame(struct session *s, method_id m)
{
	char *name = 0, *signature = 0;
	object class = 0;
	u8 obsolete = 0;

	if ((*s->vm)->IsMethodObsolete(s->vm, m, &obsolete) || !obsolete ||
	    (*s->vm)->GetMethodDeclaringClass(s->vm, m, &class))
		return;
	(*s->vm)->GetClassSignature(s->vm, class, &signature, 0);
	(*s->vm)->GetMethodName(s->vm, m, &name, 0, 0);
	put_pair(s, 'O', signature, name);
	(*s->vm)->Deallocate(s->vm, (void *)signature);
	(*s->vm)->Deallocate(s->vm, (void *)name);
}

static s32 tell_old_frames(struct session *s)
{
	struct stack *stacks = 0;
	s32 n = 0, i, k, error;

	begin(&s->code, 'O');
	error = (*s->vm)->GetAllStackTraces(s->vm, MOST_FRAMES, &stacks, &n);
	if (error)
		return error;
	for (i = 0; i < n; i++)
		for (k = 0; k < stacks[i].count; k++)
			tell_frame(s, stacks[i].frames[k].method);
	(*s->vm)->Deallocate(s->vm, stacks);
	send_packet(s, &s->code);
	return 0;
}

static s32 obey_points(struct session *s, jni_env jni, u32 n)
{
	struct in in = { s->command + 1, s->command + n };
	s32 error = WRONG;

	switch (s->command[0]) {
	case 'A':
		return tell_address(s);
	case 'H':
		return define_helper(s, jni, n);
	case 'B':
		return bind_timed(jni, n - 1, s->command + 1);
	case 'N':
		return name_counter(in);
	case 'E':
		return each_visit(get(&in, 1));
	case 'P':
		return pulse();
	case 'W':
		return want(s, in);
	case 'S': /* see start.h */
		s->go = 1;
		return 0;
	}
	if (make_references(jni))
		return WRONG;
	switch (s->command[0]) {
	case 'L':
		error = list_classes(s);
		break;
	case 'T':
		error = retransform(s, jni, in, 1);
		break;
	case 'O':
		error = tell_old_frames(s);
		break;
	}
	leave_references(jni);
	return error;
}

/* Ends the connection for classes. After this none is changed: a thread may be in the middle of it. */
static void end_classes(struct session *s)
{
	while (!lock_within(&s->class_lock, PATIENCE))
		;
	if (s->classes >= 0)
		system_call(SYS_CLOSE, s->classes, 0, 0, 0, 0, 0);
	s->classes = -1;
	unlock(&s->class_lock);
}

/*
 * Changes classes back. One that a thread is just loading is in the VM only some time after it was
 * changed, so those that are not there are looked for again.
 */
static void leave_points(struct session *s, jni_env jni)
{
	s32 error = 0;
	u32 i;

	(*s->vm)->SetEventNotificationMode(s->vm, EVENT_OFF, EVENT_CLASS_FILE_LOAD_HOOK, 0);
	end_classes(s);
	for (i = 0; i < BACK_ROUNDS && s->changed_size && !error; i++) {
		if (i)
			sleep_ms(BACK_PAUSE);
		error = make_references(jni);
		if (error)
			break;
		error = retransform(s, jni, changed_names(s), 0);
		leave_references(jni);
		forget_found(s);
	}
	if (error)
		retired += whatif_points_table.used;
}

/* The session has no more points. */
static void end_points(struct session *s)
{
	u32 i;

	end_classes(s);
	if (!s->has_table)
		return;
	each_visit(0);
	/* In the next session the counters have other names: nothing may be read of them until then. */
	__atomic_store_n(&whatif_points_table.used, 0, __ATOMIC_RELEASE);
	for (i = 0; i < COUNTERS; i++)
		counters[i].mark = counters[i].counts = 0;
	s->has_table = 0;
	__atomic_store_n(&table_taken, 0, __ATOMIC_RELEASE);
}

static s32 start_points(struct session *s, const char *socket)
{
	struct capabilities can = { { bit(CAN_GENERATE_ALL_CLASS_HOOK_EVENTS) |
				      bit(CAN_RETRANSFORM_CLASSES) | bit(CAN_GET_SOURCE_FILE_NAME) } };

	s->wanted_size = s->changed_size = 0;
	if (!try_lock(&table_taken))
		return NO_TABLE;
	s->has_table = 1;
	s->classes = connect_session(s, socket);
	if (s->classes < 0)
		return 6;
	return (*s->vm)->AddCapabilities(s->vm, &can) ? 3 : 0;
}

#endif
