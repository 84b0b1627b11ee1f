/* SPDX-License-Identifier: MIT */
/*
 * The agent tells whatif which code a Java VM has compiled: at which addresses, and which lines of
 * which methods are there, inlined ones too. As soon as somebody asks for these events the VM makes
 * tables for all places, where it makes them for safepoints only otherwise.
 *
 * The VM loads the agent by its attach mechanism ("load PATH true OPTIONS"). OPTIONS is the path of
 * a socket on which whatif listens, for packets (AF_UNIX, SOCK_SEQPACKET). Each load is a session
 * of its own, with a connection, a JVMTI environment, and a thread "whatif" that only waits for
 * packets from whatif. When the connection ends, as whatif does, in whatever way, the session ends:
 * there are no more events, and the thread is gone.
 *
 * Nothing here waits for whatif, with one exception: the agent's own thread, when whatif has asked
 * it for all code. If a packet finds no room, its record is lost. From then on nothing is told
 * until there is room for the packet X, whereupon whatif asks for all code again. The VM's thread
 * that reports code waits 10 ms at most, and only once.
 *
 * The protocol. All numbers are little-endian, without padding. A text is a u16 length and bytes,
 * in Java's modified UTF-8. A packet begins with a byte for its type, and has 32 KiB at most.
 *
 * From the agent:
 *	V  u32 version
 *		2; the first packet
 *	M  u64 method, text class ("LToy;"), name, signature, source file ("Toy.java", or ""),
 *	   then to the packet's end u16 bytecode, u16 line
 *		a method, before the code that it is in
 *	N  u64 method, then as the end of M
 *		more lines of it
 *	B  u64 method, then bytes to the packet's end
 *		its bytecodes, or more of them, behind its lines; none: the VM does not tell them
 *	C  u64 start, u32 size, u64 method, u32 places, u16 n, n times u64 method
 *		code; the methods that are in it, inlined or not, which have the numbers 0 to n-1
 *	P  u64 start, u16 n, n times (u32 offset, u16 depth, depth times (u16 number, u16 bytecode))
 *		n of the places of code: up to and including this offset it is code of the first
 *		method, which is inlined into the next; number 65535 is no known method
 *	U  u64 start
 *		code is gone
 *	D  u64 start, u32 size, text name
 *		code that is no method's: a stub, the interpreter
 *	X
 *		records were lost
 *	R  u8 command, s32 error
 *		a command is done; 0, or JVMTI's error
 *
 * From whatif, done one after the other:
 *	G	tell of all code that there is, by D, M, B, C and P, then R
 *	F	have all methods compiled anew, with tables for all places, then R. VMs that know on
 *		which classes code depends compile nothing anew
 *	T	n times u64 method: have the code anew that has methods of these methods' classes,
 *		then R
 *
 * A session whose options begin with "points:" is for progress points: see points.h.
 *
 * If the agent does not know a command it says R with error -1. New commands are cases of obey:
 * they run on the agent's thread, which may call the VM, and may block. A command's packet may have
 * data behind the type.
 */
#include "system.h"

#define EXPORTED __attribute__((visibility("default")))

enum {
	VERSION = 2,
	MOST_SESSIONS = 4,
	PACKET = 32 << 10,
	MOST_TEXT = 2 << 10,
	MOST_DEPTH = 256,
	MOST_CHANGED = 256 << 10, /* bytes of the names of classes that were changed */
	MOST_INLINED = 3000, /* methods of one piece of code: these fit in its packet */
	UNKNOWN = 0xffff,
	PATIENCE = 10, /* ms */
	TOO_EARLY = 9, /* of what Agent_OnAttach returns: the VM is still starting */

	LAST_CALLBACK = EVENT_DYNAMIC_CODE_GENERATED - FIRST_EVENT + 1,

	KNOWN = 1 << 16, /* methods that are remembered; a power of two */
};

/* What whatif was told of a method. */
struct known {
	method_id method; /* 0: a free entry */
	s64 end;	  /* its last bytecode: another one after somebody has redefined it */
	u32 stamp;	  /* the code in which it has the number */
	u32 number;
};

struct packet {
	u32 n;
	u8 bytes[PACKET];
};

struct session {
	u32 used, lock;
	int fd;	     /* negative: it is over */
	u32 thread;  /* of the agent */
	u32 lost;    /* whatif has to be told that records were lost */
	u32 waiting; /* the agent's thread waits for whatif, with the lock */
	u32 dying;   /* the VM is about to end */
	u32 early;   /* from the VM's start: whatif may be gone, see start.h */
	jvmti_env vm;
	java_vm machine;
	struct known *known;
	u32 count, stamp, inlined;
	struct packet method, code; /* a method is told while code is being made */
	u8 command[PACKET];

	/* of a session for progress points: see points.h */
	u32 points, has_table, go, class_lock;
	int classes; /* the connection for classes; negative: it is over */
	struct packet class_packet;
	u32 wanted_size, changed_size;
	u8 wanted[PACKET], changed[MOST_CHANGED];
};

/* They are never freed: a thread of the VM may still be in a callback when a session is over. */
static struct session sessions[MOST_SESSIONS];

static void put(struct packet *p, u64 value, u32 size)
{
	for (; size && p->n < PACKET; size--, value >>= 8)
		p->bytes[p->n++] = value;
}

static void put_text(struct packet *p, const char *text)
{
	u32 n = 0, i;

	while (text && text[n] && n < MOST_TEXT)
		n++;
	put(p, n, 2);
	for (i = 0; i < n; i++)
		put(p, text[i], 1);
}

static void begin(struct packet *p, char type)
{
	p->n = 0;
	put(p, type, 1);
}

/* Sends a packet; whether it is on its way. */
static int send_bytes(struct session *s, const void *bytes, u32 n)
{
	int own = thread_id() == s->thread, waited = 0;
	long r;

	for (;;) {
		r = s->fd < 0 ? -1 : send_now(s->fd, bytes, n);
		if (r >= 0)
			return 1;
		if (r == -EINTR)
			continue;
		if (r != -EAGAIN || (!own && waited++))
			return 0;
		s->waiting = own;
		wait_for(s->fd, WRITABLE, own ? 1000 : PATIENCE);
		s->waiting = 0;
	}
}

static int send_packet(struct session *s, const struct packet *p)
{
	if (s->lost)
		return 0;
	if (send_bytes(s, p->bytes, p->n))
		return 1;
	s->lost = 1;
	return 0;
}

/* Begins a record, with the lock; 0: there is nobody to tell. */
static int enter(struct session *s)
{
	if (s->waiting || !lock_within(&s->lock, PATIENCE)) {
		if (thread_id() != s->thread) {
			s->lost = 1;
			return 0;
		}
		while (!lock_within(&s->lock, PATIENCE))
			;
	}
	/* Without patience: it has run out already. */
	if (s->fd >= 0 && s->lost && send_now(s->fd, "X", 1) == 1)
		s->lost = 0;
	if (s->fd >= 0 && !s->lost)
		return 1;
	unlock(&s->lock);
	return 0;
}

static struct session *session_of(jvmti_env vm)
{
	void *s = 0;

	return (*vm)->GetEnvironmentLocalStorage(vm, &s) ? 0 : s;
}

#include "code.h"

/* At its end the VM waits for threads in native code, so the agent's thread has to be gone. */
static void vm_ends(jvmti_env vm, jni_env jni)
{
	struct session *s = session_of(vm);
	u32 i;

	(void)jni;
	if (!s)
		return;
	s->dying = 1;
	system_call(SYS_SHUTDOWN, s->fd, 2, 0, 0, 0, 0);
	for (i = 0; i < 100 && __atomic_load_n(&s->thread, __ATOMIC_ACQUIRE); i++)
		sleep_ms(1);
}

static s32 all_code(struct session *s)
{
	s32 error;

	while (!lock_within(&s->lock, PATIENCE))
		;
	forget_methods(s);
	unlock(&s->lock);
	error = (*s->vm)->GenerateEvents(s->vm, EVENT_DYNAMIC_CODE_GENERATED);
	return error ? error : (*s->vm)->GenerateEvents(s->vm, EVENT_COMPILED_METHOD_LOAD);
}

/*
 * Has all methods compiled anew. Where no agent was there from the beginning, older VMs do not know
 * on which classes code depends: at the first redefinition of any class they throw all code away.
 */
static s32 flush_all(struct session *s, jni_env jni)
{
	object class = (*jni)->FindClass(jni, "java/lang/Override"); /* it has no code */
	s32 error;

	if (!class) {
		(*jni)->ExceptionClear(jni);
		return -1;
	}
	error = (*s->vm)->RetransformClasses(s->vm, 1, &class);
	(*jni)->DeleteLocalRef(jni, class);
	return error;
}

static u64 bit(u32 n) { return 1ULL << n; }

/* Connects a session to whatif; negative: an error. */
static int connect_session(const struct session *s, const char *socket)
{
	int fd = connect_to(socket);

	if (fd < 0 || !s->early || is_trusted(fd))
		return fd;
	system_call(SYS_CLOSE, fd, 0, 0, 0, 0, 0);
	return -1;
}

#include "points.h"
#include "start.h"

/* Has all code compiled anew that has methods of the classes of some methods. */
static s32 flush_classes(struct session *s, jni_env jni, const u8 *ids, u32 n)
{
	s32 error, first = 0;
	object class;
	method_id m;

	for (; n >= sizeof(m); n -= sizeof(m), ids += sizeof(m)) {
		memcpy(&m, ids, sizeof(m));
		class = 0;
		error = (*s->vm)->GetMethodDeclaringClass(s->vm, m, &class);
		if (!error) {
			error = (*s->vm)->RetransformClasses(s->vm, 1, &class);
			(*jni)->DeleteLocalRef(jni, class);
		}
		first = first ? first : error;
	}
	return first;
}

static s32 obey(struct session *s, jni_env jni, u32 n)
{
	if (s->points)
		return obey_points(s, jni, n);
	switch (s->command[0]) {
	case 'G':
		return all_code(s);
	case 'F':
		return flush_all(s, jni);
	case 'T':
		return flush_classes(s, jni, s->command + 1, n - 1);
	}
	return -1;
}

static void answer(struct session *s, u8 command, s32 error)
{
	struct packet *p = &s->code;

	while (!lock_within(&s->lock, PATIENCE))
		;
	begin(p, 'R');
	put(p, command, 1);
	put(p, error, 4);
	/* The agent's thread waits for room. */
	if (s->lost && send_bytes(s, "X", 1))
		s->lost = 0;
	send_packet(s, p);
	unlock(&s->lock);
}

static void events(struct session *s, s32 mode)
{
	(*s->vm)->SetEventNotificationMode(s->vm, mode, EVENT_VM_DEATH, 0);
	if (s->points)
		return;
	(*s->vm)->SetEventNotificationMode(s->vm, mode, EVENT_COMPILED_METHOD_LOAD, 0);
	(*s->vm)->SetEventNotificationMode(s->vm, mode, EVENT_COMPILED_METHOD_UNLOAD, 0);
	(*s->vm)->SetEventNotificationMode(s->vm, mode, EVENT_DYNAMIC_CODE_GENERATED, 0);
}

/* Ends a session. After this a callback finds that there is nobody to tell. */
static void end(struct session *s)
{
	if (s->vm && !s->dying)
		events(s, EVENT_OFF);
	while (!lock_within(&s->lock, PATIENCE))
		;
	if (s->fd >= 0)
		system_call(SYS_CLOSE, s->fd, 0, 0, 0, 0, 0);
	s->fd = -1;
	if (s->known)
		unmap_memory(s->known, KNOWN * sizeof(*s->known));
	s->known = 0;
	unlock(&s->lock);
	if (s->points)
		end_points(s);
	if (s->dying) { /* the VM waits for this */
		__atomic_store_n(&s->thread, 0, __ATOMIC_RELEASE);
		return;
	}
	if (s->vm)
		(*s->vm)->DisposeEnvironment(s->vm);
	__atomic_store_n(&s->used, 0, __ATOMIC_RELEASE);
}

static void run(jvmti_env vm, jni_env jni, void *arg)
{
	struct session *s = arg;
	long n;

	(void)vm;
	s->thread = thread_id();
	for (;;) {
		n = receive(s->fd, s->command, sizeof(s->command));
		if (n == -EINTR)
			continue;
		if (n <= 0 || s->dying)
			break;
		answer(s, s->command[0], obey(s, jni, n));
	}
	if (s->points && !s->dying)
		leave_points(s, jni);
	end(s);
}

/* Starts the agent's thread; it is no thread that the program sees. */
static s32 start_thread(struct session *s, jni_env jni)
{
	object class = (*jni)->FindClass(jni, "java/lang/Thread"), thread = 0;
	union value name;
	method_id make;
	s32 error = -1;

	if (!class)
		goto out;
	make = (*jni)->GetMethodID(jni, class, "<init>", "(Ljava/lang/String;)V");
	if (!make)
		goto out;
	name.l = (*jni)->NewStringUTF(jni, "whatif");
	if (name.l)
		thread = (*jni)->NewObjectA(jni, class, make, &name);
	if (thread)
		error = (*s->vm)->RunAgentThread(s->vm, thread, run, s, LOWEST_PRIORITY);
	if (name.l)
		(*jni)->DeleteLocalRef(jni, name.l);
out:
	if (!thread)
		(*jni)->ExceptionClear(jni);
	else
		(*jni)->DeleteLocalRef(jni, thread);
	if (class)
		(*jni)->DeleteLocalRef(jni, class);
	return error;
}

static s32 prepare(struct session *s)
{
	struct capabilities needed = { { bit(CAN_GET_SOURCE_FILE_NAME) | bit(CAN_GET_LINE_NUMBERS) |
					 bit(CAN_GENERATE_COMPILED_METHOD_LOAD_EVENTS) } };
	struct capabilities wanted = { { bit(CAN_RETRANSFORM_CLASSES) } };
	struct capabilities bytecodes = { { bit(CAN_GET_BYTECODES) } };
	struct callbacks c = { { 0 } };
	s32 phase = 0;

	if ((*s->machine)->GetEnv(s->machine, &s->vm, JVMTI_1_2) ||
	    (*s->vm)->GetPhase(s->vm, &phase) || phase != PHASE_LIVE)
		return TOO_EARLY;
	if (!s->points) {
		if ((*s->vm)->AddCapabilities(s->vm, &needed))
			return 3;
		(*s->vm)->AddCapabilities(s->vm, &wanted); /* without it, F fails */
		(*s->vm)->AddCapabilities(s->vm, &bytecodes); /* without it, nothing says B */
	}
	c.functions[EVENT_VM_DEATH - FIRST_EVENT] = (void *)vm_ends;
	c.functions[EVENT_CLASS_FILE_LOAD_HOOK - FIRST_EVENT] = (void *)class_loaded;
	c.functions[EVENT_COMPILED_METHOD_LOAD - FIRST_EVENT] = (void *)compiled;
	c.functions[EVENT_COMPILED_METHOD_UNLOAD - FIRST_EVENT] = (void *)unloaded;
	c.functions[EVENT_DYNAMIC_CODE_GENERATED - FIRST_EVENT] = (void *)generated;
	if ((*s->vm)->SetEnvironmentLocalStorage(s->vm, s) ||
	    (*s->vm)->SetEventCallbacks(s->vm, &c, LAST_CALLBACK * sizeof(void *)))
		return 4;
	if (s->points)
		return 0;
	s->known = map_memory(KNOWN * sizeof(*s->known));
	return s->known ? 0 : 5;
}

static s32 start(struct session *s, java_vm machine, const char *socket, u32 early)
{
	static const char for_points[] = "points:";
	static const u8 hello[] = { 'V', VERSION, 0, 0, 0 };
	jni_env jni;
	s32 error;

	s->machine = machine;
	s->vm = 0;
	s->thread = s->lost = s->waiting = s->dying = s->count = s->go = 0;
	s->early = early;
	s->classes = -1;
	s->points = same_bytes((const u8 *)socket, (const u8 *)for_points, sizeof(for_points) - 1);
	if (s->points)
		socket += sizeof(for_points) - 1;
	s->fd = connect_session(s, socket);
	if (s->fd < 0)
		return 6;
	error = prepare(s);
	if (!error && s->points)
		error = start_points(s, socket);
	if (error)
		return error;
	if ((*machine)->GetEnv(machine, &jni, JNI_1_6) || send_now(s->fd, hello, sizeof(hello)) < 0)
		return 7;
	events(s, EVENT_ON);
	return start_thread(s, jni) ? 8 : 0;
}

static s32 begin_session(java_vm machine, const char *options, u32 early, struct session **begun)
{
	struct session *s;
	u32 i;
	s32 error;

	for (i = 0; i < MOST_SESSIONS; i++) {
		s = &sessions[i];
		if (!try_lock(&s->used))
			continue;
		error = start(s, machine, options, early);
		if (error)
			end(s);
		*begun = s;
		return error;
	}
	return 1;
}

/* Called by the VM for each load. What it returns is in the reply to whatif. */
EXPORTED s32 Agent_OnAttach(java_vm machine, char *options, void *reserved)
{
	struct session *s;

	(void)reserved;
	return begin_session(machine, options ? options : "", 0, &s);
}
