// Two threads compute, three steps and two, and meet at a barrier. main visits once a round.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_barrier_t barrier;
static volatile unsigned sink;
static long rounds;

__attribute__((noinline)) void longer(long n)
{
	for (volatile long i = 0; i < n; i++)
		sink += i; // LONGER
}

__attribute__((noinline)) void shorter(long n)
{
	for (volatile long i = 0; i < n; i++)
		;
}

__attribute__((noinline)) void visited(void)
{
	__asm__ volatile("" ::: "memory");
}

static void *other(void *unused)
{
	for (long i = 0; i < rounds; i++) {
		shorter(400000);
		pthread_barrier_wait(&barrier);
	}
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	rounds = argc > 1 ? atol(argv[1]) : 1000;
	pthread_barrier_init(&barrier, 0, 2);
	pthread_create(&thread, 0, other, 0);
	for (long i = 0; i < rounds; i++) {
		longer(600000);
		pthread_barrier_wait(&barrier);
		visited();
	}
	pthread_join(thread, 0);
	printf("visits %ld\n", rounds);
	return 0;
}
