/*
 * Three readers share a lock with a writer. Each reads for 0.5 ms with it and works for 0.5 ms without it. The writer
 * writes for 0.6 ms, the target, and works for 0.4 ms.
 *
 * Truth: measured only. Readers go first, as is glibc's default, so the writer depends on chance.
 */
#include "../bench.h"
#include <pthread.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static void *reader(void *unused) {
  for (;;) {
    pthread_rwlock_rdlock(&lock);
    WORK(500 * US);
    pthread_rwlock_unlock(&lock);
    WORK(500 * US);
    visit();
  }
  return unused;
}

static void *writer(void *unused) {
  for (;;) {
    pthread_rwlock_wrlock(&lock);
    WORK(shrunk(600 * US)); // TARGET
    pthread_rwlock_unlock(&lock);
    WORK(400 * US);
    visit();
  }
  return unused;
}

int main(int argc, char **argv) {
  bench_init(argc, argv);
  pthread_t threads[4];
  for (int i = 0; i < 4; i++)
    pthread_create(&threads[i], NULL, i ? reader : writer, NULL);
  pthread_join(threads[0], NULL);
}
