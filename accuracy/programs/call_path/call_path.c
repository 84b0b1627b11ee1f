/*
 * Two pinned threads meet at a pthread barrier. Both compute in the same function. One thread computes 2 units where
 * put calls the function, by way of another one, and 1 unit where get calls it. The other thread computes 1.5 units,
 * and get calls it. The target is only what the function does for put.
 *
 * Truth: a round lasts max(2(1-s) + 1, 1.5): 17, 33, 50, 50. If the function were faster for all callers, it would be
 * 25, 50, 75, 100.
 */
#include "../bench.h"
#include <pthread.h>

#define UNIT (1000 * US)
#define KEEP __attribute__((noinline, noclone))

static pthread_barrier_t barrier;

static KEEP void encode(long n) {
  WORK(n); // TARGET<put
}

/* The asm after a call keeps the compiler from turning the call into a jump. */
static KEEP void encode_row(long n) {
  encode(n);
  __asm__ volatile("");
}

/* This keeps the compiler from merging these two functions, which are the same otherwise. */
static KEEP void put(long n) {
  encode_row(n);
  __asm__ volatile("# put");
}

static KEEP void get(long n) {
  encode_row(n);
  __asm__ volatile("# get");
}

static void *both(void *unused) {
  pin(0);
  for (;;) {
    put(shrunk(2 * UNIT));
    get(UNIT);
    pthread_barrier_wait(&barrier);
  }
  return unused;
}

static void *reader(void *unused) {
  pin(1);
  for (;;) {
    get(3 * UNIT / 2);
    pthread_barrier_wait(&barrier);
    visit();
  }
  return unused;
}

int main(int argc, char **argv) {
  bench_init(argc, argv);
  pthread_barrier_init(&barrier, NULL, 2);
  pthread_t threads[2];
  pthread_create(&threads[0], NULL, both, NULL);
  pthread_create(&threads[1], NULL, reader, NULL);
  pthread_join(threads[0], NULL);
}
