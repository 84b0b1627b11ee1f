/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/* What is kept of a thread about its process. */
#ifndef WHATIF_THREAD_PROCESS_H
#define WHATIF_THREAD_PROCESS_H

#include "../base/shared.h"

struct thread_process {
	u64 address_space; /* a number of whatif's own, which changes with every exec and fork */
	u64 memory;	   /* the memory descriptor that this is about; 0: any */
	u64 code_pages;	   /* when they were last looked at */
	u32 leaving;	   /* the thread leaves the target: see leaving.h */
	u32 forked;	   /* just now, and its numbers are not read yet: see on_fault */
	u32 preexisting;   /* it ran before whatif came */
	u32 uncounted;	   /* there was no room for its counters */
	u32 guest;	   /* it runs in another one's memory, and does not use its counters */
};

#endif
