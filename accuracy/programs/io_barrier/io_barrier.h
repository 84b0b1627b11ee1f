/*
 * One thread reads pages from the disk, past the page cache, another computes, then they meet at a barrier: the
 * motivating case of BCOZ (OSDI'24). Faster reading is worth something only where it takes longer than the computing
 * (LONG_READ), and the other way round. In read.c the reading is the target, in work.c the computing.
 */
#ifndef IO_BARRIER_H
#define IO_BARRIER_H

#include "../meeting.h"
#include "../pages.h"

#ifdef LONG_READ
#define READS 60L
#define COMPUTES 1500
#else
#define READS 20L
#define COMPUTES 4000
#endif

#endif
