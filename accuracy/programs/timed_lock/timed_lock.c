/*
 * Two threads take turns with one lock. They wait for it with a timeout of 2 ms, and wait again when that is over (as
 * Python's threads do for the interpreter). One has the lock for 8 ms, the target, the other for 2.
 *
 * Truth: each thread does its other work while the other one has the lock: 8 of 10 ms until no thread has to wait for
 * long: 20, 40, 60, 75. The timeouts come by the clock, in the middle of the target. But a thread that goes on behind
 * the target in virtual time would have gone on before any timeout.
 */
#include "../bench.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t dropped;
static int taken;

static void take(void) {
  pthread_mutex_lock(&mutex);
  while (taken) {
    struct timespec until = from_now(CLOCK_MONOTONIC, 2000);
    pthread_cond_timedwait(&dropped, &mutex, &until);
  }
  taken = 1;
  pthread_mutex_unlock(&mutex);
}

static void drop(void) {
  pthread_mutex_lock(&mutex);
  taken = 0;
  pthread_cond_signal(&dropped);
  pthread_mutex_unlock(&mutex);
}

static void *other(void *unused) {
  pin(1);
  for (;;) {
    take();
    WORK(shrunk(8000 * US)); // TARGET
    drop();
    WORK(1000 * US);
  }
  return unused;
}

int main(int argc, char **argv) {
  bench_init(argc, argv);
  pthread_condattr_t monotonic;
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_cond_init(&dropped, &monotonic);
  pthread_t thread;
  pthread_create(&thread, NULL, other, NULL);
  pin(0);
  for (;;) {
    take();
    WORK(2000 * US);
    drop();
    WORK(500 * US);
    visit();
  }
}
