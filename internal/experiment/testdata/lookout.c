/*
 * A thread computes 1.5 ms and says so in memory. Another looks for that, and sleeps 0.1 ms between two looks; then it computes 0.5 ms and lets the first go on. It
 * sleeps most of the time, and however little it slept it would find nothing earlier than it is made: a round takes 2 ms and half of a sleep.
 */
#define _GNU_SOURCE
#include <semaphore.h>
#include <stdatomic.h>
#include <time.h>
#include "compute.h"
#include "pin.h"

static atomic_int made;
static sem_t taken;

__attribute__((noinline)) void done(void) { __asm__ volatile(""); }

static void *making(void *unused)
{
	take_core(0);
	for (;;) {
		COMPUTE(1500000);
		atomic_store(&made, 1);
		while (sem_wait(&taken))
			;
	}
	return unused;
}

int main(void)
{
	pthread_t thread;

	sem_init(&taken, 0, 0);
	if (pthread_create(&thread, 0, making, 0))
		return 1;
	take_core(1);
	for (;;) {
		for (;;) {
			COMPUTE(20000);
			if (atomic_load(&made))
				break;
			nanosleep(&(struct timespec){.tv_nsec = 100000}, 0); /* SLEEP */
		}
		atomic_store(&made, 0);
		COMPUTE(500000);
		done();
		sem_post(&taken);
	}
}
