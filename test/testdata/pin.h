/* Gives a thread a core of its own, if there are two. */
#ifndef _GNU_SOURCE
#error "define _GNU_SOURCE before all that is included"
#endif
#include <pthread.h>
#include <sched.h>

/* The calling thread goes to one of the cores that it may use: the first (0), the second (1), and so on. */
static void take_core(int which)
{
	cpu_set_t all, one;
	int core = 0;

	if (sched_getaffinity(0, sizeof all, &all) || CPU_COUNT(&all) < 2)
		return;
	for (which++; which; core++)
		if (CPU_ISSET(core, &all))
			which--;
	CPU_ZERO(&one);
	CPU_SET(core - 1, &one);
	pthread_setaffinity_np(pthread_self(), sizeof one, &one);
}
