/*
 * Three threads compute in steps of 0.1 ms. After sixty steps in all each one stops where it is. When the last has
 * stopped another thread computes 2 ms, the target, before they continue.
 *
 * Truth: the steps take 3 ms of both processors: 10, 20, 30, 40.
 */
#include "../bench.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t parked = PTHREAD_COND_INITIALIZER, resumed = PTHREAD_COND_INITIALIZER;
static int steps, waiting, stops;

static void *worker(void *unused) {
  for (;;) {
    WORK(100 * US);
    if (__atomic_add_fetch(&steps, 1, __ATOMIC_RELAXED) < 60)
      continue;
    pthread_mutex_lock(&mutex);
    waiting++;
    pthread_cond_signal(&parked);
    for (int stop = stops; stop == stops;)
      pthread_cond_wait(&resumed, &mutex);
    pthread_mutex_unlock(&mutex);
  }
  return unused;
}

int main(int argc, char **argv) {
  bench_init(argc, argv);
  pthread_t thread;
  for (int i = 0; i < 3; i++)
    pthread_create(&thread, NULL, worker, NULL);
  pthread_mutex_lock(&mutex);
  for (;;) {
    while (waiting < 3)
      pthread_cond_wait(&parked, &mutex);
    waiting = 0;
    WORK(shrunk(2000 * US)); // TARGET
    __atomic_store_n(&steps, 0, __ATOMIC_RELAXED);
    stops++;
    pthread_cond_broadcast(&resumed);
    visit();
  }
}
