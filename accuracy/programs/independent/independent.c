/*
 * Seven independent threads on two cores, unpinned. Each round is 4 ms of target and 2 ms of other
 * work.
 *
 * Truth: the cores are always full, so a round costs what it computes: two thirds of s: 17, 33, 50, 67,
 * wherever the scheduler puts the threads. A profiler that lets threads sleep instead of stopping cores
 * gets this wrong: while one thread sleeps another one uses its core.
 *
 * BESIDE: another program, which is not profiled and has nothing to do with this one, uses a fifth of
 * both cores, by the clock. The truth is the same: what is left of the cores is always used.
 */
#include "../bench.h"
#include <pthread.h>

static void *worker(void *unused) {
  for (;;) {
    WORK(shrunk(4000 * US)); // TARGET
    WORK(also_shrunk(2000 * US)); // ALSO
    visit();
  }
  return unused;
}

#ifdef BESIDE
static void *beside(void *cpu) {
  pin((int)(intptr_t)cpu);
  for (;;) {
    WORK(2000 * US);
    SLEEP_US(8000);
  }
  return NULL;
}

static void stand_beside(char *name) {
  char *args[] = {name, "0", "1"};
  pthread_t thread;

  prctl(PR_SET_PDEATHSIG, SIGKILL);
  bench_init(3, args);
  if (pthread_create(&thread, NULL, beside, (void *)1))
    die("starting a thread");
  beside((void *)0);
}
#endif

int main(int argc, char **argv) {
#ifdef BESIDE
  if (argc == 2 && !strcmp(argv[1], "client"))
    stand_beside(argv[0]);
#endif
  bench_init(argc, argv);
  pthread_t threads[7];
  for (int i = 0; i < 7; i++)
    pthread_create(&threads[i], NULL, worker, NULL);
  pthread_join(threads[0], NULL);
}
