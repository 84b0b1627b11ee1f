/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/* Progress points that are system calls, for both kernel sides. */
#ifndef WHATIF_BASE_CALLS_H
#define WHATIF_BASE_CALLS_H

#include "places.h"
#include "program.h"
#include "registers.h"

/*
 * What a system call of the running thread counts for, by the call's number: a bit each. The thread
 * may be of any process, and most calls are no point. Calls by the entry for 32-bit programs are
 * not counted, as in the kernel's own tracepoints.
 */
static __always_inline u32 marks_of_call(const volatile u32 *marks, s64 number)
{
	u32 found;

	if (number < 0 || number >= MAX_CALLS)
		return 0;
	found = marks[number & (MAX_CALLS - 1)];
	return found && !IN_COMPAT_CALL(&bpf_get_current_task_btf()->thread_info) ? found : 0;
}

#endif
