/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/*
 * User space's registers, as the kernel keeps them, and as it puts them on the stack for a signal
 * handler. Everything that the unwinder knows about processors is here.
 */
#ifndef WHATIF_REGISTERS_H
#define WHATIF_REGISTERS_H

#include "kernel.h"

/*
 * key_register reads the register with this DWARF number, among those that pass arguments and the
 * one with Go's goroutine. The compiler must not merge several loads into one: a probe's registers
 * can be read at fixed places only.
 */
#define KEY_REGISTER(n, field)                                                                     \
	if (number == n) {                                                                         \
		u64 value = regs->field;                                                           \
                                                                                                   \
		asm volatile("" : "+r"(value));                                                    \
		return value;                                                                      \
	}

#if defined(__TARGET_ARCH_x86)

struct pt_regs {
	unsigned long r14;
	unsigned long bp;
	unsigned long bx;
	unsigned long orig_ax;
	unsigned long r10;
	unsigned long r9;
	unsigned long r8;
	unsigned long ax;
	unsigned long cx;
	unsigned long dx;
	unsigned long si;
	unsigned long di;
	unsigned long ip;
	unsigned long cs;
	unsigned long sp;
} TARGET_IN_KERNEL;

/* The interrupt with these registers has interrupted user space. */
#define MET_USER_SPACE(regs) ((BPF_CORE_READ(regs, cs) & 3) == 3)

#define REGISTER_IP(regs) ((regs)->ip)
#define REGISTER_SP(regs) ((regs)->sp)
#define REGISTER_FP(regs) ((regs)->bp)
#define REGISTER_BX(regs) ((regs)->bx)
/* A system call's arguments */
#define REGISTER_FIRST(regs) ((regs)->di)
#define REGISTER_SECOND(regs) ((regs)->si)
#define REGISTER_THIRD(regs) ((regs)->dx)
#define REGISTER_FOURTH(regs) ((regs)->r10)
#define REGISTER_LR(regs) 0
#define GOROUTINE_REGISTER 14
#define SECOND_GO_ARGUMENT 3
#define THIRD_GO_ARGUMENT 2

static __always_inline u64 key_register(const struct pt_regs *regs, u32 number)
{
	KEY_REGISTER(0, ax)
	KEY_REGISTER(1, dx)
	KEY_REGISTER(2, cx)
	KEY_REGISTER(3, bx)
	KEY_REGISTER(4, si)
	KEY_REGISTER(5, di)
	KEY_REGISTER(8, r8)
	KEY_REGISTER(9, r9)
	KEY_REGISTER(14, r14)
	return 0;
}

/* The index of each DWARF register in struct pt_regs, in words. */
static const u8 register_words[32] = { 10, 12, 11, 5, 13, 14, 4, 19, 9, 8, 7, 6, 3, 2, 1, 0, 16 };

/* Offsets from the stack pointer with which the handler returns. */
#define SIGNAL_FP 120
#define SIGNAL_BX 128
#define SIGNAL_SP 160
#define SIGNAL_IP 168
#define SIGNAL_LR 168 /* there is none */

#define RETURN_ADDRESS(value) (value)

/* The system call that returns: -1 after a return from a signal handler. */
#define REGISTER_CALL(regs) ((s64)(regs)->orig_ax)
/* TS_COMPAT: the call used the entry for 32-bit programs, whose numbers differ. */
#define IN_COMPAT_CALL(info) ((info)->status & 2)

#elif defined(__TARGET_ARCH_arm64)

struct pt_regs {
	u64 regs[31];
	u64 sp;
	u64 pc;
	u64 pstate;
	s32 syscallno;
	u64 orig_x0;
} TARGET_IN_KERNEL;

/* The interrupt with these registers has interrupted user space, which is exception level 0. */
#define MET_USER_SPACE(regs) (!(BPF_CORE_READ(regs, pstate) & 0xc))

#define REGISTER_IP(regs) ((regs)->pc)
#define REGISTER_SP(regs) ((regs)->sp)
#define REGISTER_FP(regs) ((regs)->regs[29])
/* A system call's arguments */
#define REGISTER_FIRST(regs) ((regs)->orig_x0)
#define REGISTER_SECOND(regs) ((regs)->regs[1])
#define REGISTER_THIRD(regs) ((regs)->regs[2])
#define REGISTER_FOURTH(regs) ((regs)->regs[3])
#define REGISTER_BX(regs) 0
#define REGISTER_LR(regs) ((regs)->regs[30])
#define GOROUTINE_REGISTER 28
#define SECOND_GO_ARGUMENT 1
#define THIRD_GO_ARGUMENT 2

static __always_inline u64 key_register(const struct pt_regs *regs, u32 number)
{
	KEY_REGISTER(0, regs[0])
	KEY_REGISTER(1, regs[1])
	KEY_REGISTER(2, regs[2])
	KEY_REGISTER(3, regs[3])
	KEY_REGISTER(4, regs[4])
	KEY_REGISTER(5, regs[5])
	KEY_REGISTER(28, regs[28])
	return 0;
}

static const u8 register_words[32] = { 0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
				       11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
				       22, 23, 24, 25, 26, 27, 28, 29, 30, 31 };

/* The frame begins with a siginfo; regs[0] is 184 bytes into the ucontext. */
#define SIGNAL_FP (128 + 184 + 29 * 8)
#define SIGNAL_BX SIGNAL_FP /* there is none */
#define SIGNAL_LR (128 + 184 + 30 * 8)
#define SIGNAL_SP (128 + 184 + 31 * 8)
#define SIGNAL_IP (128 + 184 + 32 * 8)

/* Pointer authentication puts a signature into the upper bits. */
#define RETURN_ADDRESS(value) ((value) & ((1UL << 48) - 1))

#define REGISTER_CALL(regs) ((s64)(regs)->syscallno)
/* TIF_32BIT */
#define IN_COMPAT_CALL(info) ((info)->flags & 1 << 22)

#else
#error "the unwinder does not know this processor's registers"
#endif

#endif
