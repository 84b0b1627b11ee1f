/*
 * swap A B SECONDS: computes in library A for so much processor time, unloads it, then computes for three times as
 * much in B, of the same size, at the same address.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return t.tv_sec + t.tv_nsec / 1e9;
}

__attribute__((noinline)) void visited(void) { __asm__ volatile(""); }

/* Returns where the library's code was. */
static void *run(const char *library, double seconds) {
  void *l = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  void (*work)(void) = l ? (void (*)(void))dlsym(l, "work") : NULL;
  if (!work) {
    fprintf(stderr, "%s\n", dlerror());
    exit(1);
  }
  for (double end = now() + seconds; now() < end; visited())
    work();
  if (dlclose(l))
    exit(1);
  return (void *)work;
}

int main(int argc, char **argv) {
  if (argc != 4)
    return 2;
  double seconds = atof(argv[3]);
  void *first = run(argv[1], seconds), *second = run(argv[2], 3 * seconds);
  printf("same %d\n", first == second);
  return 0;
}
