/*
 * Two pinned threads meet at a pthread barrier. Both compute in the same function: one for 2 units where put
 * calls it, by way of another function, and for 1 where get does; the other for 1.5 units, called by get. Only
 * what put calls for is the target.
 *
 * Truth: a round lasts max(2(1-s) + 1, 1.5): 17, 33, 50, 50. Were the function faster whoever calls it, it
 * would be 25, 50, 75, 100.
 */
#include "../bench.h"
#include <pthread.h>

#define UNIT (1000 * US)
#define KEEP __attribute__((noinline, noclone))

static pthread_barrier_t barrier;

static KEEP void encode(long n) {
  WORK(n); // TARGET<put
}

/* The asm keeps calls from being the last thing that the caller does. */
static KEEP void encode_row(long n) {
  encode(n);
  __asm__ volatile("");
}

/* Nor may the compiler make one function of these two, which are the same but for this. */
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
