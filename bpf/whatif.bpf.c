//go:build ignore

// SPDX-License-Identifier: (MIT OR GPL-2.0)
/*
 * The kernel side of whatif. Each directory answers one question:
 *
 *	base	what is shared with user space, and with the kernel?
 *	vtime	the ledger's arithmetic: positions in virtual time
 *	members	which threads and processes are profiled?
 *	code	whose code is this address?
 *	earn	what has this thread earned?
 *	wake	what lets a thread continue, and when in virtual time?
 *	pay	when is a debt paid, deferred or forgiven?
 *	points	progress points and latencies
 *
 * ARCHITECTURE.md explains the ledger and its words.
 */
#include "base/program.h"

char LICENSE[] SEC("license")
= "Dual MIT/GPL";

#include "base/sessions.h"
#include "code/deferred.h"
#include "earn/clock.h"
#include "members/leaving.h"
#include "members/members.h"
#include "pay/return_delay.h"
#include "points/hooks.h"
#include "points/sites.h"
#include "wake/goroutine_account.h"
#include "wake/interrupts.h"
#include "wake/scheduling.h"
