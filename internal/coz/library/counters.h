/* SPDX-License-Identifier: MIT */
/*
 * Counters in a program that the profiler finds by the library's note, and reads from outside: see
 * struct source_table in bpf/base/shared.h. For libraries that need no other one.
 */
#ifndef COUNTERS_H
#define COUNTERS_H

#define COUNTER_MARK 0x9d3f5a41c6e27b18
#define COUNTERS 64

struct counter {
	__UINT64_TYPE__ mark; /* set when the name is complete */
	__UINT32_TYPE__ event;
	__UINT32_TYPE__ length;
	char name[112];
	/* A cache line of its own. COZ's programs get the address of count, and may use the next word. */
	__UINT64_TYPE__ count;
	__UINT64_TYPE__ backoff;
	__UINT64_TYPE__ counts; /* the mark again */
	__UINT64_TYPE__ pad[5];
};

struct counter_table {
	__UINT64_TYPE__ mark;
	struct counter *entries;
	__UINT32_TYPE__ used;
	__UINT32_TYPE__ shards;
	__UINT32_TYPE__ stride;
	__UINT32_TYPE__ pad;
};

/* The library's table, and the note that leads to it. */
#define COUNTER_TABLE(name)                                                                        \
	struct counter_table name                                                                  \
		__attribute__((visibility("hidden"), aligned(64))) = { COUNTER_MARK, 0, 0, 1,      \
								       sizeof(struct counter), 0 }; \
	__asm__(".pushsection .note.whatif, \"a\", %note\n"                                        \
		".balign 4\n"                                                                      \
		".4byte 7, 8, 2\n"                                                                 \
		".asciz \"whatif\"\n"                                                              \
		".balign 4\n"                                                                      \
		".8byte " #name " - .\n"                                                           \
		".popsection\n")

#endif
