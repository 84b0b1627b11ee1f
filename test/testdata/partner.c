/*
 * partner asks|answers, with a socket as standard input. "asks" writes to the socket, waits for the answer and
 * computes. "answers" sleeps 2 ms before each answer. Both run on the first core that they may use.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "compute.h"

__attribute__((noinline)) void answered(void) { __asm__ volatile(""); }

int main(int argc, char **argv) {
	cpu_set_t all, one;
	int core = 0;
	char c = 0;

	if (argc != 2 || sched_getaffinity(0, sizeof all, &all))
		return 1;
	while (!CPU_ISSET(core, &all))
		core++;
	CPU_ZERO(&one);
	CPU_SET(core, &one);
	if (sched_setaffinity(0, sizeof one, &one))
		return 1;
	if (!strcmp(argv[1], "answers")) {
		while (read(0, &c, 1) == 1 && !nanosleep(&(struct timespec){.tv_nsec = 2000000}, 0) && write(0, &c, 1) == 1)
			;
		return 0;
	}
	for (;;) {
		if (write(0, &c, 1) != 1 || read(0, &c, 1) != 1) /* WAITS */
			return 1;
		COMPUTE(1300000);
		answered();
	}
}
