// Half of the time is in a function of so many instructions that ticks hardly meet any of them twice.
// The other half is in a small loop.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

// By the assembler, because compilers take minutes for a function of that size.
#ifdef __x86_64__
#define STEP "imulq $3, %0\nrorq $7, %0\naddq $5, %0\n"
#else
#define STEP "add %0, %0, #5\nror %0, %0, #7\neor %0, %0, #16\n"
#endif
#define STEPS 10000
#define TEXT(x) #x
#define MANY(n, what) ".rept " TEXT(n) "\n" what ".endr\n"

__attribute__((noinline)) uint64_t large(uint64_t x)
{
	__asm__ volatile(MANY(10000, STEP) : "+r"(x));
	return x;
}

__attribute__((noinline)) uint64_t small(uint64_t x)
{
	for (int i = 0; i < STEPS / 10; i++)
		__asm__ volatile(MANY(10, STEP) : "+r"(x));
	return x;
}

__attribute__((noinline)) void progress_done(void) { __asm__ volatile(""); }

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 1;
	struct timespec begin, now;
	uint64_t x = 1;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	do {
		for (int i = 0; i < 100; i++)
			x = small(large(x));
		progress_done();
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (now.tv_sec - begin.tv_sec + (now.tv_nsec - begin.tv_nsec) / 1e9 < seconds);
	printf("%lu\n", (unsigned long)x);
	return 0;
}
