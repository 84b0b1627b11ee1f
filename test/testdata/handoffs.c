/*
 * A thread sleeps 3 ms, hands a job to another, and sleeps again. The job takes up to about half of that time. Each
 * has a core, if there are two: a thread pays before its return only if no other thread of the target wants the core.
 */
#define _GNU_SOURCE
#include <time.h>
#include "compute.h"
#include "pin.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static int jobs;

__attribute__((noinline)) void done(void) { __asm__ volatile(""); }

static void *working(void *unused) {
	take_core(0);
	for (;;) {
		pthread_mutex_lock(&mutex);
		while (!jobs)
			pthread_cond_wait(&filled, &mutex);
		jobs--;
		pthread_mutex_unlock(&mutex);
		COMPUTE(1000000); /* WORK */
		done();
	}
	return unused;
}

int main(void) {
	pthread_t thread;

	if (pthread_create(&thread, 0, working, 0))
		return 1;
	take_core(1);
	for (;;) {
		nanosleep(&(struct timespec){.tv_nsec = 3000000}, 0);
		pthread_mutex_lock(&mutex);
		jobs++;
		pthread_cond_signal(&filled);
		pthread_mutex_unlock(&mutex);
	}
}
