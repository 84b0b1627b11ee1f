/*
 * One thread makes items, of 0.1 ms each. Another waits for sixteen of them, or for 2 ms if that is shorter. Then it
 * computes 0.3 ms, and 0.15 ms for each item, the target. At most sixteen items may wait.
 *
 * Truth is measured only.
 */
#include "../bench.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER, fewer = PTHREAD_COND_INITIALIZER;
static int items;

static void *maker(void *unused) {
  for (;;) {
    WORK(100 * US);
    pthread_mutex_lock(&mutex);
    while (items == 16)
      pthread_cond_wait(&fewer, &mutex);
    if (++items == 16)
      pthread_cond_signal(&more);
    pthread_mutex_unlock(&mutex);
  }
  return unused;
}

int main(int argc, char **argv) {
  bench_init(argc, argv);
  pthread_t thread;
  pthread_create(&thread, NULL, maker, NULL);
  for (;;) {
    struct timespec until = from_now(CLOCK_REALTIME, 2000);
    pthread_mutex_lock(&mutex);
    while (items < 16 && pthread_cond_timedwait(&more, &mutex, &until) != ETIMEDOUT)
      ;
    int batch = items;
    items = 0;
    pthread_cond_signal(&fewer);
    pthread_mutex_unlock(&mutex);
    WORK(300 * US);
    for (int i = 0; i < batch; i++) {
      WORK(shrunk(150 * US)); // TARGET
      visit();
    }
  }
}
