/*
 * Two pinned threads at a pthread barrier: one computes 3 ms a round, the other 2 ms, which is the target.
 *
 * Truth: no thread ever waits for the target: 0, 0, 0, 0. Yet it is two fifths of all the time on the processors, and
 * an ordinary profiler would show that.
 */
#include "../bench.h"
#include <pthread.h>

static pthread_barrier_t barrier;

static void *critical(void *unused) {
  pin(0);
  for (;;) {
    WORK(3000 * US);
    pthread_barrier_wait(&barrier);
    visit();
  }
  return unused;
}

static void *with_slack(void *unused) {
  pin(1);
  for (;;) {
    WORK(shrunk(2000 * US)); // TARGET
    pthread_barrier_wait(&barrier);
  }
  return unused;
}

int main(int argc, char **argv) {
  bench_init(argc, argv);
  pthread_barrier_init(&barrier, NULL, 2);
  pthread_t threads[2];
  pthread_create(&threads[0], NULL, critical, NULL);
  pthread_create(&threads[1], NULL, with_slack, NULL);
  pthread_join(threads[0], NULL);
}
