/*
 * Three threads on one processor. One sleeps 3 ms and hands a job of 1 ms to the second. The third works in what is
 * left, 0.2 ms at a time. A thread that sleeps by the clock cannot pay before it returns, because the processor is
 * always wanted.
 *
 * The target is half of the third thread's work, and the third thread makes the progress. With TARGET_IN_JOB the job is
 * the target, and with PROGRESS_IN_JOB the second thread makes the progress.
 *
 * Truth by arithmetic: for the third thread, 12.5, 25, 37.5 and 50 by its own work, and what the job takes if the job
 * is the target; 0 for the jobs, as none comes earlier.
 */
#include "../bench.h"

static void target(long n) {
  WORK(shrunk(n)); // TARGET
}

static void other(long n) { WORK(n); }

#ifdef TARGET_IN_JOB
#define JOB target
#define FILL other
#else
#define JOB other
#define FILL target
#endif

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
    JOB(1000 * US);
#ifdef PROGRESS_IN_JOB
    visit();
#endif
  }
  return unused;
}

static void *filler(void *unused) {
  for (;;) {
    WORK(100 * US);
    FILL(100 * US);
#ifndef PROGRESS_IN_JOB
    visit();
#endif
  }
  return unused;
}

int main(int argc, char **argv) {
  bench_init(argc, argv);
  pin(0);
  pthread_t thread;
  if (pthread_create(&thread, NULL, worker, NULL) || pthread_create(&thread, NULL, filler, NULL))
    die("starting a thread");
  for (;;) {
    SLEEP_US(3000);
    pthread_mutex_lock(&mutex);
    jobs++;
    pthread_cond_signal(&filled);
    pthread_mutex_unlock(&mutex);
  }
}
