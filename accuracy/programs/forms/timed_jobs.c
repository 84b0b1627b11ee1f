/*
 * A thread sleeps 3 ms, hands a job to another, and sleeps again. The job takes 0.5 ms, and 1 ms, the target. With
 * BY_CLOCK the thread sleeps until a time that it has computed from the last one, so equally often, whatever happens.
 *
 * Truth by arithmetic: 0, as no job comes earlier.
 */
#include "../bench.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static long jobs;

static void *worker(void *unused) {
  for (;;) {
    pthread_mutex_lock(&mutex);
    while (!jobs)
      pthread_cond_wait(&filled, &mutex);
    jobs--;
    pthread_mutex_unlock(&mutex);
    WORK(500 * US);
    WORK(shrunk(1000 * US)); // TARGET
    visit();
  }
  return unused;
}

int main(int argc, char **argv) {
  bench_init(argc, argv);
  pthread_t thread;
  if (pthread_create(&thread, NULL, worker, NULL))
    die("starting a thread");
  struct timespec next;
  clock_gettime(CLOCK_MONOTONIC, &next);
  for (;;) {
#ifdef BY_CLOCK
    next = later(next, 3000);
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
#else
    SLEEP_US(3000);
#endif
    pthread_mutex_lock(&mutex);
    jobs++;
    pthread_cond_signal(&filled);
    pthread_mutex_unlock(&mutex);
  }
}
