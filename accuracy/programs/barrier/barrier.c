/*
 * Two pinned threads meet at a pthread barrier. One computes 3 units a round, the other 2, and the slower one is the
 * target.
 *
 * Truth: a round lasts max(3(1-s), 2). The gain grows as s until the other thread is the slower one, and stays at a
 * third from s = 33% on: 25, 33, 33, 33.
 *
 * -DFINE: the same with rounds of 150 us instead of 3 ms, so that a round is much shorter than a sampling period.
 */
#include "../bench.h"
#include <pthread.h>

#ifdef FINE
#define UNIT (50 * US)
#else
#define UNIT (1000 * US)
#endif

static pthread_barrier_t barrier;

static void *slow(void *unused) {
  pin(0);
  for (;;) {
    WORK(shrunk(3 * UNIT)); // TARGET
    pthread_barrier_wait(&barrier);
  }
  return unused;
}

static void *fast(void *unused) {
  pin(1);
  for (;;) {
    WORK(also_shrunk(2 * UNIT)); // ALSO
    pthread_barrier_wait(&barrier);
    visit();
  }
  return unused;
}

int main(int argc, char **argv) {
  bench_init(argc, argv);
  pthread_barrier_init(&barrier, NULL, 2);
  pthread_t threads[2];
  pthread_create(&threads[0], NULL, slow, NULL);
  pthread_create(&threads[1], NULL, fast, NULL);
  pthread_join(threads[0], NULL);
}
