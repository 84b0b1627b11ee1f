/* Eight threads sleep in one line. In between each computes for less than a period. */
#include <pthread.h>
#include <time.h>
#include "compute.h"

__attribute__((noinline)) void slept(void) { __asm__ volatile(""); }

static void *sleeping(void *unused) {
	for (;;) {
		nanosleep(&(struct timespec){.tv_nsec = 4000000}, 0); /* SLEEPS */
		COMPUTE(200000);
		slept();
	}
	return unused;
}

int main(void) {
	pthread_t thread;

	for (int i = 0; i < 7; i++)
		if (pthread_create(&thread, 0, sleeping, 0))
			return 1;
	sleeping(0);
}
