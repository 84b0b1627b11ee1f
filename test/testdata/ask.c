/* A thread that has waited 2 ms for a lock asks for it. The other thread keeps it for some 10 ms, asked or not. */
#include <errno.h>
#include <pthread.h>
#include <time.h>
#include "compute.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t let_go = PTHREAD_COND_INITIALIZER;
static int held;

__attribute__((noinline)) void had_to_ask(void) { __asm__ volatile(""); }
__attribute__((noinline)) void went_on(void) { __asm__ volatile(""); }

static void take(void) {
	pthread_mutex_lock(&mutex);
	while (held) {
		struct timespec until;

		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += 2000000;
		if (until.tv_nsec >= 1000000000) {
			until.tv_sec++;
			until.tv_nsec -= 1000000000;
		}
		if (pthread_cond_timedwait(&let_go, &mutex, &until) == ETIMEDOUT && held)
			had_to_ask();
	}
	held = 1;
	pthread_mutex_unlock(&mutex);
}

static void give(void) {
	pthread_mutex_lock(&mutex);
	held = 0;
	pthread_cond_signal(&let_go);
	pthread_mutex_unlock(&mutex);
}

static void *other(void *unused) {
	for (;;) {
		take();
		give();
		went_on();
		nanosleep(&(struct timespec){.tv_nsec = 300000}, 0);
	}
	return unused;
}

int main(void) {
	pthread_t thread;
	pthread_create(&thread, 0, other, 0);
	for (;;) {
		take();
		COMPUTE(10000000); /* WORK */
		give();
		nanosleep(&(struct timespec){.tv_nsec = 500000}, 0);
	}
}
