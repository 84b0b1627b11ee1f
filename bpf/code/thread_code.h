/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/* What is kept of a thread's samples whose code is not known yet. */
#ifndef WHATIF_THREAD_CODE_H
#define WHATIF_THREAD_CODE_H

#include "../base/shared.h"

struct deferral {
	u32 samples; /* that are deferred, a bit each: see deferred.h */
	u32 last;    /* 1 + the index of its last sample, if that is deferred */
};

#endif
