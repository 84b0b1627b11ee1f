/*
 * Two threads, each on a core of its own, share a mutex: 0.03 ms with it, the target, and 0.02 ms without.
 *
 * Truth: nearly all of a round is one thread waking the other, which takes longer than the work, and ends when the lock
 * is mostly free. So the gain jumps from some 15% to more than 50% between s = 25% and 50%, and to 80% at 100%. What is
 * measured at 0% cannot show that.
 */
#include "../bench.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *second) {
  pin(second != NULL);
  for (;;) {
    WORK(20 * US);
    pthread_mutex_lock(&mutex);
    WORK(shrunk(30 * US)); // TARGET
    pthread_mutex_unlock(&mutex);
    visit();
  }
  return NULL;
}

int main(int argc, char **argv) {
  bench_init(argc, argv);
  pthread_t thread;
  pthread_create(&thread, NULL, worker, &thread);
  worker(NULL);
}
