/* Two pinned threads that compute and never wait: a visit each 2 ms of work. */
#include "measured.h"

static void *busy(void *cpu) {
  pin((int)(intptr_t)cpu);
  for (;;) {
    WORK(2000 * US);
    measured_visit();
  }
  return NULL;
}

int main(int argc, char **argv) {
  bench_init(argc, argv);
  for (intptr_t cpu = 0; cpu < 2; cpu++)
    start_thread(busy, (void *)cpu);
  measure();
}
