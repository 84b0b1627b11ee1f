/*
 * Four threads and a lock that gives its holder the priority of its waiters (PTHREAD_PRIO_INHERIT). Each thread
 * computes 1 ms, and 1 ms with the lock held, the target.
 *
 * Truth is measured only: as `lock`.
 */
#include "../bench.h"

static pthread_mutex_t mutex;

static void *worker(void *unused) {
  for (;;) {
    WORK(1000 * US);
    pthread_mutex_lock(&mutex);
    WORK(shrunk(1000 * US)); // TARGET
    pthread_mutex_unlock(&mutex);
    visit();
  }
  return unused;
}

int main(int argc, char **argv) {
  bench_init(argc, argv);
  pthread_mutexattr_t inherits;
  pthread_mutexattr_init(&inherits);
  pthread_mutexattr_setprotocol(&inherits, PTHREAD_PRIO_INHERIT);
  pthread_mutex_init(&mutex, &inherits);
  pthread_t thread;
  for (int i = 1; i < 4; i++)
    pthread_create(&thread, NULL, worker, NULL);
  worker(NULL);
}
