/*
 * Three threads read with a pthread_rwlock for 0.5 ms, the target, and compute 0.3 ms without it. A fourth thread,
 * which the lock prefers, writes for 0.2 ms and computes 0.4 ms. The reads are counted.
 *
 * Truth is measured only.
 */
#include "../bench.h"

static pthread_rwlock_t lock;

static void *reader(void *unused) {
  for (;;) {
    pthread_rwlock_rdlock(&lock);
    WORK(shrunk(500 * US)); // TARGET
    pthread_rwlock_unlock(&lock);
    WORK(300 * US);
    visit();
  }
  return unused;
}

int main(int argc, char **argv) {
  bench_init(argc, argv);
  pthread_rwlockattr_t attr;
  pthread_rwlockattr_init(&attr);
  pthread_rwlockattr_setkind_np(&attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
  pthread_rwlock_init(&lock, &attr);
  for (int i = 0; i < 3; i++) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, reader, NULL))
      die("starting");
  }
  for (;;) {
    pthread_rwlock_wrlock(&lock);
    WORK(200 * US);
    pthread_rwlock_unlock(&lock);
    WORK(400 * US);
  }
}
