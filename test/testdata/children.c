// children N [exec]: one child after another computes for 5 ms, or runs this program anew, which computes for 10 ms.
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compute.h"

__attribute__((noinline)) void longer(double ns)
{
	COMPUTE(ns);
	__asm__ volatile("" ::: "memory"); // so that main's call is no jump
}

__attribute__((noinline)) void visited(void)
{
	__asm__ volatile("" ::: "memory");
}

int main(int argc, char **argv)
{
	int anew = argc > 2 && !strcmp(argv[2], "exec");
	long children = argc > 1 ? atol(argv[1]) : 0;

	if (!children) {
		longer(10e6);
		return 0;
	}
	for (long i = 0; i < children; i++) {
		int status;

		if (!fork()) {
			if (anew)
				execl("/proc/self/exe", argv[0], "0", (char *)0);
			else
				longer(5e6);
			_exit(anew);
		}
		if (wait(&status) < 0 || status)
			return 1;
		visited();
	}
	return 0;
}
