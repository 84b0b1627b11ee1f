/*
 * One thread prepares a round, 0.5 ms, and wakes three others, which all wait for the same condition. Each of them does
 * 0.8 ms, the target, and 0.4 ms more. When all are done the first thread prepares the next round.
 *
 * Truth: where the scheduler shares two cores evenly among three a round takes 0.5 + 3(1.2-0.8s)/2 ms: 13, 26, 39, 52.
 */
#include "../bench.h"
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t begun = PTHREAD_COND_INITIALIZER, done = PTHREAD_COND_INITIALIZER;
static long round_now;
static int working;

static void *worker(void *unused) {
  for (long seen = 0;;) {
    pthread_mutex_lock(&mutex);
    while (round_now == seen)
      pthread_cond_wait(&begun, &mutex);
    seen = round_now;
    pthread_mutex_unlock(&mutex);
    WORK(shrunk(800 * US)); // TARGET
    WORK(400 * US);
    pthread_mutex_lock(&mutex);
    if (--working == 0)
      pthread_cond_signal(&done);
    pthread_mutex_unlock(&mutex);
  }
  return unused;
}

int main(int argc, char **argv) {
  bench_init(argc, argv);
  pthread_t threads[3];
  for (int i = 0; i < 3; i++)
    pthread_create(&threads[i], NULL, worker, NULL);
  for (;;) {
    WORK(500 * US);
    pthread_mutex_lock(&mutex);
    working = 3;
    round_now++;
    pthread_cond_broadcast(&begun);
    while (working)
      pthread_cond_wait(&done, &mutex);
    pthread_mutex_unlock(&mutex);
    visit();
  }
}
