/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/* In which system call a task waits, and what interrupts it. */
#ifndef WHATIF_CALLS_H
#define WHATIF_CALLS_H

#include "../base/program.h"
#include "../base/registers.h"
#include "../base/places.h"

/* What an interrupt is about. */
enum interrupt {
	FROM_DEVICE,
	FROM_TIMER,
	FROM_NET,
	FROM_DISK,
};

static __always_inline u32 source_of(u32 vector)
{
	switch (vector) {
	case SOFTIRQ_TIMER:
	case SOFTIRQ_HRTIMER:
		return FROM_TIMER;
	case SOFTIRQ_NET_TX:
	case SOFTIRQ_NET_RX:
		return FROM_NET;
	case SOFTIRQ_BLOCK:
		return FROM_DISK;
	}
	return FROM_DEVICE;
}

#define TASK_UNINTERRUPTIBLE 2
#define TASK_STOPPED_OR_TRACED 0xc
#define TASK_DEAD 0x80
#define JOBCTL_TRAP_FREEZE (1ul << 23) /* a cgroup's freezer */

#if defined(__TARGET_ARCH_x86)
enum call {
	CALL_READ = 0,
	CALL_WRITE = 1,
	CALL_POLL = 7,
	CALL_READV = 19,
	CALL_WRITEV = 20,
	CALL_SELECT = 23,
	CALL_NANOSLEEP = 35,
	CALL_CONNECT = 42,
	CALL_ACCEPT = 43,
	CALL_SENDTO = 44,
	CALL_RECVFROM = 45,
	CALL_SENDMSG = 46,
	CALL_RECVMSG = 47,
	CALL_WAIT4 = 61,
	CALL_SEMOP = 65,
	CALL_MSGSND = 69,
	CALL_MSGRCV = 70,
	CALL_FUTEX = 202,
	CALL_SEMTIMEDOP = 220,
	CALL_CLOCK_NANOSLEEP = 230,
	CALL_EPOLL_WAIT = 232,
	CALL_MQ_SEND = 242,
	CALL_MQ_RECEIVE = 243,
	CALL_WAITID = 247,
	CALL_PSELECT6 = 270,
	CALL_PPOLL = 271,
	CALL_EPOLL_PWAIT = 281,
	CALL_ACCEPT4 = 288,
	CALL_EPOLL_PWAIT2 = 441,
};
#else
enum call {
	CALL_EPOLL_PWAIT = 22,
	CALL_READ = 63,
	CALL_WRITE = 64,
	CALL_READV = 65,
	CALL_WRITEV = 66,
	CALL_PSELECT6 = 72,
	CALL_PPOLL = 73,
	CALL_WAITID = 95,
	CALL_FUTEX = 98,
	CALL_NANOSLEEP = 101,
	CALL_CLOCK_NANOSLEEP = 115,
	CALL_MQ_SEND = 182,
	CALL_MQ_RECEIVE = 183,
	CALL_MSGRCV = 188,
	CALL_MSGSND = 189,
	CALL_SEMTIMEDOP = 192,
	CALL_SEMOP = 193,
	CALL_ACCEPT = 202,
	CALL_CONNECT = 203,
	CALL_SENDTO = 206,
	CALL_RECVFROM = 207,
	CALL_SENDMSG = 211,
	CALL_RECVMSG = 212,
	CALL_ACCEPT4 = 242,
	CALL_WAIT4 = 260,
	CALL_EPOLL_PWAIT2 = 441,
	/* Older calls that this processor does not have. */
	CALL_POLL = CALL_PPOLL,
	CALL_SELECT = CALL_PSELECT6,
	CALL_EPOLL_WAIT = CALL_EPOLL_PWAIT,
};
#endif
#define CALL_NONE 0xffffffffu

/*
 * The system call that a thread is in, by its number for 64-bit programs; CALL_NONE in a 32-bit
 * call.
 */
static __always_inline u32 calling(struct task_struct *task)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);

	return IN_COMPAT_CALL(&task->thread_info) ? CALL_NONE : REGISTER_CALL(regs);
}

/* The futex is private to its process: others wake it by the same address. */
#define FUTEX_PRIVATE 128

static __always_inline bool waits_for_futex(struct task_struct *task)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);

	return calling(task) == CALL_FUTEX && REGISTER_SECOND(regs) & FUTEX_PRIVATE;
}

/* A thread that waits for io_uring has in_iowait set, too, but signals may end that wait. */
static __always_inline bool waits_for_disk(struct task_struct *task)
{
	return task->__state & TASK_UNINTERRUPTIBLE && BPF_CORE_READ_BITFIELD(task, in_iowait);
}

/* By a signal, a debugger or a cgroup's freezer. */
static __always_inline bool is_stopped(struct task_struct *task)
{
	return task->__state & TASK_STOPPED_OR_TRACED || task->jobctl & JOBCTL_TRAP_FREEZE;
}

static __always_inline bool is_sleep(u32 call)
{
	return call == CALL_NANOSLEEP || call == CALL_CLOCK_NANOSLEEP;
}

/*
 * Whether a thread that sleeps in this call waits for a message, one of several, or a part of one.
 */
static __always_inline bool is_reading(u32 call)
{
	return call == CALL_READ || call == CALL_READV || call == CALL_RECVFROM ||
	       call == CALL_RECVMSG || call == CALL_POLL || call == CALL_PPOLL ||
	       call == CALL_SELECT || call == CALL_PSELECT6 || call == CALL_EPOLL_WAIT ||
	       call == CALL_EPOLL_PWAIT || call == CALL_EPOLL_PWAIT2;
}

/* Whether the call's first argument is a descriptor that the thread may wait at. */
static __always_inline bool has_descriptor(u32 call)
{
	return call == CALL_READ || call == CALL_READV || call == CALL_WRITE ||
	       call == CALL_WRITEV || call == CALL_RECVFROM || call == CALL_RECVMSG ||
	       call == CALL_SENDTO || call == CALL_SENDMSG || call == CALL_ACCEPT ||
	       call == CALL_ACCEPT4 || call == CALL_CONNECT || call == CALL_EPOLL_WAIT ||
	       call == CALL_EPOLL_PWAIT || call == CALL_EPOLL_PWAIT2 || call == CALL_MQ_SEND ||
	       call == CALL_MQ_RECEIVE;
}

/*
 * What a thread that is still asleep has waited for, by what wakes it: a thread of the target, an
 * interrupt about something, or another task.
 */
static __always_inline u32 class_of_end(struct task_struct *task, bool by_thread, bool interrupted,
					enum interrupt about)
{
	u32 call = calling(task);

	if (by_thread) {
		if (is_sleep(call)) /* by a signal */
			return WAIT_OTHER;
		return call == CALL_WAIT4 || call == CALL_WAITID ? WAIT_CHILD : WAIT_LOCK;
	}
	if (waits_for_disk(task))
		return WAIT_DISK;
	if (interrupted) {
		switch (about) {
		case FROM_TIMER:
			return WAIT_SLEEP;
		case FROM_NET:
			return WAIT_NET;
		case FROM_DISK:
			return WAIT_DISK;
		default:
			break;
		}
		return task->__state & TASK_UNINTERRUPTIBLE ||
				       BPF_CORE_READ_BITFIELD(task, in_iowait)
			       ? WAIT_DISK
			       : WAIT_OTHER;
	}
	/* A kernel thread or another program wakes it. */
	if (task->__state & TASK_UNINTERRUPTIBLE)
		return WAIT_DISK;
	return call == CALL_FUTEX || is_sleep(call) ? WAIT_OTHER : WAIT_NET;
}

#endif
