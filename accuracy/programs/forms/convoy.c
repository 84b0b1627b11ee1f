/*
 * One thread wakes four others for a job each, with one condition. Each computes 0.2 ms with the queue's lock held, the
 * target, and 0.3 ms after that. Then the first thread computes 0.1 ms.
 *
 * Truth is measured only: the four stand in line for the lock, and the next one has to be woken first.
 */
#include "../bench.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER, done = PTHREAD_COND_INITIALIZER;
static int jobs, unfinished;

static void *worker(void *unused) {
  for (;;) {
    pthread_mutex_lock(&mutex);
    while (!jobs)
      pthread_cond_wait(&more, &mutex);
    jobs--;
    WORK(shrunk(200 * US)); // TARGET
    pthread_mutex_unlock(&mutex);
    WORK(300 * US);
    pthread_mutex_lock(&mutex);
    if (!--unfinished)
      pthread_cond_signal(&done);
    pthread_mutex_unlock(&mutex);
  }
  return unused;
}

int main(int argc, char **argv) {
  bench_init(argc, argv);
  pthread_t thread;
  for (int i = 0; i < 4; i++)
    pthread_create(&thread, NULL, worker, NULL);
  for (;;) {
    pthread_mutex_lock(&mutex);
    jobs = unfinished = 4;
    pthread_cond_broadcast(&more);
    while (unfinished)
      pthread_cond_wait(&done, &mutex);
    pthread_mutex_unlock(&mutex);
    WORK(100 * US);
    visit();
  }
}
