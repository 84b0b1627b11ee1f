/*
 * The main thread hands a worker a batch, sleeps 200 us, polls whether the batch is done, sleeps again, and so on. Then
 * it works itself. No thread ever wakes it: it finds what it waits for.
 *
 * Truth: 3 of 5 ms, and what sleeping overshoots: about 14, 29, 43, 57.
 */
#include "../bench.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t handed = PTHREAD_COND_INITIALIZER;
static enum { NOTHING, BATCH, DONE } state;

static void *worker(void *none) {
  (void)none;
  pin(1);
  for (;;) {
    pthread_mutex_lock(&mutex);
    while (state != BATCH)
      pthread_cond_wait(&handed, &mutex);
    pthread_mutex_unlock(&mutex);
    WORK(shrunk(3000 * US)); // TARGET
    WORK(500 * US);
    __atomic_store_n(&state, DONE, __ATOMIC_RELEASE);
  }
  return NULL;
}

int main(int argc, char **argv) {
  pthread_t thread;

  bench_init(argc, argv);
  if (pthread_create(&thread, NULL, worker, NULL))
    die("starting a thread");
  pin(0);
  for (;;) {
    pthread_mutex_lock(&mutex);
    state = BATCH;
    pthread_cond_signal(&handed);
    pthread_mutex_unlock(&mutex);
    while (__atomic_load_n(&state, __ATOMIC_ACQUIRE) != DONE)
      SLEEP_US(200);
    WORK(1500 * US);
    visit();
  }
}
