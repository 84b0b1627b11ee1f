/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/* What every BPF program is written with. */
#ifndef WHATIF_PROGRAM_H
#define WHATIF_PROGRAM_H

#include "kernel.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

/*
 * Hidden from the library that loads the programs, which copies what it sees; see ledger/page.go.
 */
#define LARGE __attribute__((visibility("hidden")))

/*
 * Set before loading; the verifier leaves out what is not needed. Not in .rodata, where clang 14
 * mixes up the types with those of constants.
 */
#define SETTING const volatile u32 SEC(".rodata.settings")

/*
 * A function that the verifier checks once, by itself, not with all that its arguments may be at
 * each of its calls. It may not trust its pointers.
 */
#define SUBPROGRAM __noinline

/*
 * What is run at user space's probes. One link sets all of a file's, from Linux 6.6 on; before,
 * each has one of its own. The kernel wants programs for either kind, so each handler is two of
 * them.
 */

/* Programs on_NAME and on_single_NAME. The expression has the registers as ctx. */
#define PROBE(name, result)                                                                        \
	SEC("uprobe.multi")                                                                        \
	int on_##name(struct pt_regs *ctx)                                                         \
	{                                                                                          \
		return result;                                                                     \
	}                                                                                          \
                                                                                                   \
	SEC("uprobe")                                                                              \
	int on_single_##name(struct pt_regs *ctx)                                                  \
	{                                                                                          \
		return result;                                                                     \
	}

/*
 * A number that changes once a second, about: something that is checked now and then is checked at
 * most once for each such number.
 */
static __always_inline u64 stamp_of(u64 number)
{
	return number << 32 | (u32)(bpf_ktime_get_ns() >> 30);
}

#endif
