//go:build ignore

// SPDX-License-Identifier: (MIT OR GPL-2.0)
/*
 * The kernel side of recording: it writes what the target does, and stops nothing. It has no loop
 * that waits, no timer, and no program that any other task would wait for.
 *
 *	record.h	what user space reads
 *	rings.h		where records go, and when
 *	hooks.h		visits of points that are no places in the program
 *	members.h	which processes are recorded
 *	calls.h		system calls that are points
 *	mappings.h	which file is mapped at an address
 *	stack.h		stacks, and places in the program
 *	objects.h	what threads wait at
 *	interrupts.h	what interrupts are about
 *	lines.h		how fast the program replaces what a core's caches have
 *	events.h	switches, wake-ups, samples and visits
 *	goroutines.h	the same of goroutines
 */
#include "base/program.h"

char LICENSE[] SEC("license")
= "Dual MIT/GPL";

#include "record/calls.h"
#include "record/events.h"
#include "record/goroutines.h"
