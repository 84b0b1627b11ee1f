/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/* The integers of this directory, whose arithmetic is also compiled for user space, by tests. */
#ifndef WHATIF_TYPES_H
#define WHATIF_TYPES_H

#ifdef __bpf__
#include "../base/program.h"
#else
#include <stdbool.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;
typedef int64_t s64;
#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif
#endif

#endif
