/*
 * Waits in known ways, on a line for each way, some times; then makes a visit. usage: waits ROUNDS, with a socket as
 * standard input that answers each byte with one byte, late.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ring.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;
static int turn;

__attribute__((noinline)) void visited(void) { __asm__ volatile(""); }

static void ms(long n)
{
	struct timespec t = { 0, n * 1000000 };

	nanosleep(&t, 0);
}

/* Answers each byte, 2 ms late. */
static void *answer(void *rounds)
{
	for (long i = (long)rounds; i > 0; i--) {
		pthread_mutex_lock(&lock);
		while (turn != 1)
			pthread_cond_wait(&turned, &lock);
		pthread_mutex_unlock(&lock);
		ms(2);
		pthread_mutex_lock(&lock);
		turn = 0;
		pthread_cond_signal(&turned);
		pthread_mutex_unlock(&lock);
	}
	return 0;
}

/* Each request of the ring is a timeout of 2 ms. */
static void time_by_ring(void)
{
	static struct __kernel_timespec two = { 0, 2000000 };
	struct io_uring_sqe *request = make_ring();

	if (!request)
		exit(2);
	request->opcode = IORING_OP_TIMEOUT;
	request->addr = (unsigned long)&two;
	request->len = 1;
}

int main(int argc, char **argv)
{
	static char page[4096] __attribute__((aligned(4096)));
	struct timespec two = { 0, 2000000 }, ten = { 0, 10000000 };
	char name[] = "/var/tmp/waits.XXXXXX", byte;
	long rounds = atol(argv[argc - 1]);
	pthread_t other;
	int fd = mkstemp(name), status;

	if (fd < 0 || unlink(name))
		return 1;
	time_by_ring();
	pthread_create(&other, 0, answer, (void *)rounds);
	for (long i = 0; i < rounds; i++) {
		pid_t child;

		nanosleep(&two, 0); /* SLEEPS */

		if (write(0, "?", 1) != 1)
			return 1;
		if (read(0, &byte, 1) != 1) /* READS */
			return 1;
		memset(page, i, sizeof page);
		if (pwrite(fd, page, sizeof page, 0) != sizeof page)
			return 1;
		if (fsync(fd)) /* SYNCS */
			return 1;
		child = fork();
		if (!child) {
			ms(2);
			_exit(0);
		}
		if (waitpid(child, &status, 0) != child) /* CHILD */
			return 1;
		*ring.tail += 1;
		if (syscall(SYS_io_uring_enter, ring.fd, 1, 1, IORING_ENTER_GETEVENTS, 0, 0) != 1) /* RING */
			return 1;
		*ring.taken += 1;
		child = fork();
		if (!child) {
			ms(1);
			kill(getppid(), SIGSTOP);
			ms(20);
			kill(getppid(), SIGCONT);
			_exit(0);
		}
		nanosleep(&ten, 0); /* STOPPED */
		waitpid(child, &status, 0);
		pthread_mutex_lock(&lock);
		turn = 1;
		pthread_cond_signal(&turned);
		while (turn != 0)
			pthread_cond_wait(&turned, &lock); /* LOCKS */
		pthread_mutex_unlock(&lock);
		visited();
	}
	pthread_join(other, 0);
	return 0;
}
