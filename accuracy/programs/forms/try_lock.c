/*
 * Two threads, each on its core, that do 0.1 ms of something else as long as a lock is not to be had at once: 0.4 ms with the lock, the
 * target, and 0.3 ms without. Nothing tells that a thread that computes is waiting.
 *
 * Truth: measured only, as it depends on when the lock is tried for.
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
