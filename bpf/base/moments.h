/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/* Moments in the life of a goroutine: for experiments (wake/) and for recording (record/). */
#ifndef WHATIF_MOMENTS_H
#define WHATIF_MOMENTS_H

/*
 * What a probe on a Go runtime function means. It is in the probe's cookie, where other probes have
 * a point.
 */
enum go_moment {
	GO_SLEEPS,
	GO_WAKES,
	GO_PARKS,  /* it begins to wait */
	GO_YIELDS, /* it could run on, but lets others run */
	/* it is stopped until another goroutine, such as the garbage collector, lets it continue */
	GO_STOPS,
	GO_ENDS,
	GO_READY, /* it, or a new goroutine, is put into a run queue */
	GO_RUNS,  /* a thread begins to run it */
};

#endif
