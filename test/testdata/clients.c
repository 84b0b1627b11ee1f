/*
 * A server, and a client that is not its child:
 *	clients server ADDRESS
 *	clients waits ADDRESS	sends the next request when it has the answer
 *	clients works ADDRESS	keeps four requests on their way, and works ten times as long as the server on each
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "compute.h"

__attribute__((noinline, noclone)) void answered(void)
{
	asm volatile("");
}

static void die(const char *doing)
{
	perror(doing);
	exit(1);
}

/* Each on a core of its own: otherwise a client that works would wait for the server's core. */
static void pin(int last)
{
	cpu_set_t allowed, one;
	int cpu = last ? CPU_SETSIZE - 1 : 0;

	if (sched_getaffinity(0, sizeof allowed, &allowed))
		die("reading the allowed processors");
	while (!CPU_ISSET(cpu, &allowed))
		cpu += last ? -1 : 1;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (sched_setaffinity(0, sizeof one, &one))
		die("choosing a processor");
}

int main(int argc, char **argv)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	char request = 0;

	if (argc != 3)
		return 2;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	strncpy(a.sun_path, argv[2], sizeof a.sun_path - 1);
	if (!strcmp(argv[1], "server")) {
		pin(1);
		if (bind(fd, (struct sockaddr *)&a, sizeof a) || listen(fd, 1))
			die("listening");
		fd = accept(fd, 0, 0);
		while (read(fd, &request, 1) == 1) {
			COMPUTE(200000); /* WORK */
			if (write(fd, &request, 1) != 1)
				break;
			answered();
		}
		return 0;
	}
	while (connect(fd, (struct sockaddr *)&a, sizeof a))
		usleep(2000);
	int works = !strcmp(argv[1], "works");
	if (works)
		pin(0);
	for (int i = 0; i < (works ? 4 : 1); i++)
		if (write(fd, &request, 1) != 1)
			die("asking");
	while (read(fd, &request, 1) == 1) {
		COMPUTE(works ? 2000000 : 50000);
		if (write(fd, &request, 1) != 1)
			break;
	}
	return 0;
}
