/*
 * SQLite's own benchmark, speedtest1.c of its source tree, again and again in one process. A visit is a whole round of
 * its tests. It prints nothing, and runs until it is ended.
 *
 *     speedtest SIZE    the benchmark's --size; 100 is the usual one, for several seconds
 */
#include <stdio.h>
#include <stdlib.h>

#define SQLITE_SPEEDTEST1_WASM /* its main may be called again */
#define main speedtest_main
#include "speedtest1.c"
#undef main

__attribute__((noinline, noclone)) void progress_done(void) { __asm__ volatile(""); }

int main(int argc, char **argv) {
  if (argc != 2 || !freopen("/dev/null", "w", stdout)) {
    fprintf(stderr, "usage: %s SIZE\n", argv[0]);
    return 2;
  }
  for (;;) {
    char *arguments[] = {argv[0], "--size", argv[1], ":memory:", NULL};
    speedtest_main(4, arguments);
    progress_done();
  }
}
