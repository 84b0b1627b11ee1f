// Two processes that tell each other by System V's message queues and semaphores, and by POSIX's queues.
//
// usage: ipc rounds

#include <mqueue.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compute.h"

struct message {
	long type;
	char text[8];
};

static int queue, semaphores;
static mqd_t there, back;

static void must(int result, const char *what)
{
	if (result >= 0)
		return;
	perror(what);
	exit(1);
}

__attribute__((noinline)) void visited(void) { __asm__ volatile(""); }

static void tell(long type)
{
	struct message m = { type, "" };

	must(msgsnd(queue, &m, sizeof(m.text), 0), "msgsnd");
}

static void hear(long type)
{
	struct message m;

	must(msgrcv(queue, &m, sizeof(m.text), type, 0), "msgrcv");
}

static void change(int by)
{
	struct sembuf b = { 0, by, 0 };

	must(semop(semaphores, &b, 1), "semop");
}

static void answer(int rounds)
{
	char text[8];

	for (int i = 0; i < rounds; i++) {
		hear(1);
		COMPUTE(100e3);
		tell(2);
		COMPUTE(100e3);
		change(1);
		must(mq_receive(there, text, sizeof(text), 0), "mq_receive");
		COMPUTE(100e3);
		must(mq_send(back, text, sizeof(text), 0), "mq_send");
	}
	exit(0);
}

static void ask(int rounds)
{
	char text[8] = "";

	for (int i = 0; i < rounds; i++) {
		tell(1);
		hear(2);
		change(-1);
		COMPUTE(100e3);
		must(mq_send(there, text, sizeof(text), 0), "mq_send");
		must(mq_receive(back, text, sizeof(text), 0), "mq_receive");
		visited();
	}
}

static mqd_t open_queue(const char *which)
{
	struct mq_attr small = { .mq_maxmsg = 1, .mq_msgsize = 8 };
	char name[64];
	mqd_t q;

	snprintf(name, sizeof(name), "/whatif-test-%d-%s", getpid(), which);
	q = mq_open(name, O_CREAT | O_EXCL | O_RDWR, 0600, &small);
	must(q, "mq_open");
	must(mq_unlink(name), "mq_unlink");
	return q;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1000;
	pid_t child;

	must(queue = msgget(IPC_PRIVATE, 0600), "msgget");
	must(semaphores = semget(IPC_PRIVATE, 1, 0600), "semget");
	there = open_queue("there");
	back = open_queue("back");
	must(child = fork(), "fork");
	if (!child)
		answer(rounds);
	ask(rounds);
	must(waitpid(child, 0, 0), "waitpid");
	msgctl(queue, IPC_RMID, 0);
	semctl(semaphores, 0, IPC_RMID);
	return 0;
}
