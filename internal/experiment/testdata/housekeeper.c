/*
 * Two threads have a lock for most of the time, by turns; a third sleeps 2 ms and has it for a while then.
 */
#include <pthread.h>
#include <time.h>
#include "compute.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noinline)) void done(void) { __asm__ volatile(""); }

static void *first(void *unused) {
	for (;;) {
		pthread_mutex_lock(&lock);
		COMPUTE(200000); /* WORK */
		pthread_mutex_unlock(&lock);
		COMPUTE(50000);
		done();
	}
	return unused;
}

static void *second(void *unused) {
	for (;;) {
		pthread_mutex_lock(&lock);
		COMPUTE(200000);
		pthread_mutex_unlock(&lock);
		COMPUTE(50000);
		done();
	}
	return unused;
}

int main(void) {
	pthread_t thread;

	if (pthread_create(&thread, 0, first, 0) || pthread_create(&thread, 0, second, 0))
		return 1;
	for (;;) {
		nanosleep(&(struct timespec){.tv_nsec = 2000000}, 0);
		pthread_mutex_lock(&lock);
		COMPUTE(300000);
		pthread_mutex_unlock(&lock);
	}
}
