/*
 * Two threads, each on its core, and a lock that they try. While it is taken, a thread does 0.1 ms of something else
 * and tries again. Each works 0.4 ms with the lock, the target, and 0.3 ms without. Nothing tells that a thread that
 * computes is waiting.
 *
 * Truth: measured only, as it depends on when a thread tries the lock.
 */
#include "../bench.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *run(void *which) {
  pin((int)(long)which);
  for (;;) {
    while (pthread_mutex_trylock(&lock))
      WORK(100 * US);
    WORK(shrunk(400 * US)); // TARGET
    pthread_mutex_unlock(&lock);
    WORK(300 * US);
    visit();
  }
  return which;
}

int main(int argc, char **argv) {
  bench_init(argc, argv);
  pthread_t thread;
  if (pthread_create(&thread, NULL, run, (void *)1))
    die("starting");
  run((void *)0);
}
