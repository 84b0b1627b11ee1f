/*
 * Two threads take tasks from a list, twenty a round, and meet when all are done. A task takes 0.2 ms; the last but two
 * takes 3 ms, the target.
 *
 * Truth: the long task begins after 1.7 ms, when 17 others are done, and the last two are done after 2.1: 16, 32, 48,
 * 57.
 */
#include "../bench.h"

#define TASKS 20

static pthread_barrier_t barrier;
static int next;

static void round_of(void) {
  for (;;) {
    int task = __atomic_fetch_add(&next, 1, __ATOMIC_RELAXED);
    if (task >= TASKS)
      return;
    if (task == TASKS - 3)
      WORK(shrunk(3000 * US)); // TARGET
    else
      WORK(200 * US);
  }
}

static void *worker(void *unused) {
  for (;;) {
    pthread_barrier_wait(&barrier);
    round_of();
    pthread_barrier_wait(&barrier);
  }
  return unused;
}

int main(int argc, char **argv) {
  bench_init(argc, argv);
  pthread_barrier_init(&barrier, NULL, 2);
  pthread_t thread;
  if (pthread_create(&thread, NULL, worker, NULL))
    die("starting");
  for (;;) {
    next = 0;
    pthread_barrier_wait(&barrier);
    round_of();
    pthread_barrier_wait(&barrier);
    visit();
  }
}
