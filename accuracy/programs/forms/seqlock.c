/*
 * One thread writes under a sequence lock, 0.3 ms, the target, and computes 0.6 ms; another waits until nobody writes, reads for 0.2 ms, again if it was written
 * meanwhile, and computes 0.05 ms.
 *
 * Truth is measured only. Who is stopped while it reads is sure to have to read again, and that nobody else waits for it nobody sees.
 */
#include "../bench.h"
#include <stdatomic.h>

static atomic_uint sequence;

static void *writer(void *unused) {
  pin(1);
  for (;;) {
    atomic_fetch_add(&sequence, 1);
    WORK(shrunk(300 * US)); // TARGET
    atomic_fetch_add(&sequence, 1);
    WORK(600 * US);
  }
  return unused;
}

int main(int argc, char **argv) {
  bench_init(argc, argv);
  pthread_t thread;
  pthread_create(&thread, NULL, writer, NULL);
  pin(0);
  for (;;) {
    unsigned begun;
    do {
      while ((begun = atomic_load(&sequence)) & 1)
        ;
      WORK(200 * US);
    } while (atomic_load(&sequence) != begun);
    WORK(50 * US);
    visit();
  }
}
