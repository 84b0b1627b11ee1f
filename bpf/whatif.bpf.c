//go:build ignore

// SPDX-License-Identifier: (MIT OR GPL-2.0)
/*
 * The kernel side of whatif: who belongs to the target, what it runs, and the
 * ledger of virtual speed-ups. ARCHITECTURE.md explains the ledger; ledger.h
 * has its arithmetic.
 */
#include "kernel.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "ledger.h"
#include "shared.h"

/* Hidden from the library that loads the programs, which makes copies of what it sees; see page.go. */
#define LARGE __attribute__((visibility("hidden")))

#include "unwind.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

#include "state.h"
#include "probes.h"
#include "others.h"
#include "turns.h"
#include "expect_earnings.h"
#include "stretch.h"
#include "spans.h"
#include "points.h"
#include "counters.h"
#include "sites.h"
#include "hooks.h"
#include "mapping.h"
#include "code.h"
#include "late.h"
#include "waiting.h"
#include "looks.h"
#include "goroutines.h"
#include "members.h"
#include "leaving.h"
#include "outsiders.h"
#include "answers.h"
#include "rivals.h"
#include "timekeepers.h"
#include "locks.h"
#include "tick.h"
#include "interrupts.h"
#include "scheduling.h"
#include "hold.h"
#include "parked.h"
#include "sessions.h"
