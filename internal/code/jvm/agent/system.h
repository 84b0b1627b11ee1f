/* SPDX-License-Identifier: MIT */
/*
 * System calls, so that the agent needs no C library: one file is for old and new ones, and for
 * musl's.
 */
#ifndef SYSTEM_H
#define SYSTEM_H

#include "vm.h"

#if defined(__x86_64__)
enum {
	SYS_CLOSE = 3, SYS_MMAP = 9, SYS_MUNMAP = 11, SYS_SOCKET = 41, SYS_CONNECT = 42,
	SYS_SENDTO = 44, SYS_RECVFROM = 45, SYS_SHUTDOWN = 48, SYS_SETSOCKOPT = 54,
	SYS_GETSOCKOPT = 55, SYS_GETEUID = 107, SYS_GETTID = 186, SYS_FUTEX = 202, SYS_PPOLL = 271,
};

static long system_call(long n, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}
#elif defined(__aarch64__)
enum {
	SYS_CLOSE = 57, SYS_PPOLL = 73, SYS_FUTEX = 98, SYS_GETTID = 178, SYS_SOCKET = 198,
	SYS_CONNECT = 203, SYS_SENDTO = 206, SYS_RECVFROM = 207, SYS_SETSOCKOPT = 208,
	SYS_GETSOCKOPT = 209, SYS_GETEUID = 175, SYS_SHUTDOWN = 210, SYS_MUNMAP = 215,
	SYS_MMAP = 222,
};

static long system_call(long n, long a, long b, long c, long d, long e, long f)
{
	register long x8 __asm__("x8") = n;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ volatile("svc 0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory");
	return x0;
}
#else
#error "no system calls for this processor"
#endif

enum { EINTR = 4, EAGAIN = 11 };

struct timespec {
	s64 seconds, nanoseconds;
};

/* Called by compilers, also where no C library is used. */
void *memcpy(void *to, const void *from, __SIZE_TYPE__ n)
{
	u8 *t = to;
	const u8 *f = from;

	while (n--)
		*t++ = *f++;
	return to;
}

void *memset(void *to, int c, __SIZE_TYPE__ n)
{
	u8 *t = to;

	while (n--)
		*t++ = c;
	return to;
}

static void *map_memory(u64 size)
{
	const int access = 3 /* read, write */, kind = 0x22 /* private, anonymous */;
	long p = system_call(SYS_MMAP, 0, size, access, kind, -1, 0);

	return p < 0 ? 0 : (void *)p;
}

static void unmap_memory(void *p, u64 size)
{
	system_call(SYS_MUNMAP, (long)p, size, 0, 0, 0, 0);
}

static u32 thread_id(void) { return system_call(SYS_GETTID, 0, 0, 0, 0, 0, 0); }

static void sleep_ms(u32 ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

	system_call(SYS_PPOLL, 0, 0, (long)&t, 0, 0, 0);
}

/* Connects a socket of packets, with a large buffer, to a path; negative: an error. */
static int connect_to(const char *path)
{
	struct {
		u16 family;
		char path[108];
	} name = { 1 /* AF_UNIX */, "" };
	u32 i, size = 4 << 20;
	long r;
	int fd;

	for (i = 0; path[i]; i++) {
		if (i == sizeof(name.path) - 1)
			return -1;
		name.path[i] = path[i];
	}
	fd = system_call(SYS_SOCKET, 1, 02000005 /* SOCK_SEQPACKET, SOCK_CLOEXEC */, 0, 0, 0, 0);
	if (fd < 0)
		return fd;
	system_call(SYS_SETSOCKOPT, fd, 1 /* SOL_SOCKET */, 7 /* SO_SNDBUF */, (long)&size,
		    sizeof(size), 0);
	do
		r = system_call(SYS_CONNECT, fd, (long)&name, sizeof(name), 0, 0, 0);
	while (r == -EINTR);
	if (r == 0)
		return fd;
	system_call(SYS_CLOSE, fd, 0, 0, 0, 0, 0);
	return r;
}

/* Whether root, or this process's own user, listens at the other end of a connection. */
static int is_trusted(int fd)
{
	struct {
		s32 pid;
		u32 uid, gid;
	} peer = { 0, 0, 0 };
	u32 size = sizeof(peer);

	if (system_call(SYS_GETSOCKOPT, fd, 1 /* SOL_SOCKET */, 17 /* SO_PEERCRED */, (long)&peer,
			(long)&size, 0) ||
	    size != sizeof(peer))
		return 0;
	return peer.uid == 0 || peer.uid == (u32)system_call(SYS_GETEUID, 0, 0, 0, 0, 0, 0);
}

/* Sends without waiting, and without a signal where nobody reads. */
static long send_now(int fd, const void *packet, u32 n)
{
	const int flags = 0x4040; /* MSG_NOSIGNAL, MSG_DONTWAIT */

	return system_call(SYS_SENDTO, fd, (long)packet, n, flags, 0, 0);
}

static long receive(int fd, void *packet, u32 n)
{
	return system_call(SYS_RECVFROM, fd, (long)packet, n, 0, 0, 0);
}

enum { READABLE = 1 /* POLLIN */, WRITABLE = 4 /* POLLOUT */ };

/* Waits until something can be received, or sent; 0: the time was over before. */
static int wait_for(int fd, u16 event, u32 ms)
{
	struct {
		s32 fd;
		u16 events, happened;
	} p = { fd, event, 0 };
	struct timespec t = { ms / 1000, ms % 1000 * 1000000 };
	long r;

	do
		r = system_call(SYS_PPOLL, (long)&p, 1, (long)&t, 0, 0, 0);
	while (r == -EINTR);
	return r > 0;
}

/* A lock: 0 is free, 1 taken, 2 taken and perhaps waited for. */
static int try_lock(u32 *lock)
{
	u32 free = 0;

	return __atomic_compare_exchange_n(lock, &free, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

/* Takes the lock if that is possible within some ms, which it may exceed a little. */
static int lock_within(u32 *lock, u32 ms)
{
	struct timespec t = { 0, 1000000 };
	u32 i;

	if (try_lock(lock))
		return 1;
	for (i = 0; i <= ms; i++) {
		if (__atomic_exchange_n(lock, 2, __ATOMIC_ACQUIRE) == 0)
			return 1;
		system_call(SYS_FUTEX, (long)lock, 128 /* wait, private */, 2, (long)&t, 0, 0);
	}
	return __atomic_exchange_n(lock, 2, __ATOMIC_ACQUIRE) == 0;
}

static void unlock(u32 *lock)
{
	if (__atomic_exchange_n(lock, 0, __ATOMIC_RELEASE) == 2)
		system_call(SYS_FUTEX, (long)lock, 129 /* wake, private */, 1, 0, 0, 0);
}

#endif
