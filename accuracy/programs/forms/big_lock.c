/*
 * An interpreter's lock. Two threads compute with it held, in steps of 0.1 ms. A thread that has waited 2 ms for the
 * lock asks for it, and the other one releases it after its step. After twenty steps one of the threads also computes 1
 * ms without the lock; its steps are the target.
 *
 * Truth is measured only.
 */
#include "../bench.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t let_go = PTHREAD_COND_INITIALIZER, taken = PTHREAD_COND_INITIALIZER;
static int held, wanted;
static unsigned long switches;

static void take(void) {
  pthread_mutex_lock(&mutex);
  while (held) {
    struct timespec until = from_now(CLOCK_REALTIME, 2000);
    unsigned long before = switches;
    if (pthread_cond_timedwait(&let_go, &mutex, &until) == ETIMEDOUT && held && switches == before)
      __atomic_store_n(&wanted, 1, __ATOMIC_RELAXED);
  }
  held = 1;
  switches++;
  wanted = 0;
  pthread_cond_signal(&taken);
  pthread_mutex_unlock(&mutex);
}

static void give(void) {
  pthread_mutex_lock(&mutex);
  held = 0;
  pthread_cond_signal(&let_go);
  pthread_mutex_unlock(&mutex);
}

/* A thread that was asked for the lock waits until the other one has it. */
static void step_ended(void) {
  if (!__atomic_load_n(&wanted, __ATOMIC_RELAXED))
    return;
  unsigned long before = switches;
  give();
  pthread_mutex_lock(&mutex);
  while (switches == before)
    pthread_cond_wait(&taken, &mutex);
  pthread_mutex_unlock(&mutex);
  take();
}

static void *other(void *unused) {
  take();
  for (;;) {
    WORK(100 * US);
    step_ended();
  }
  return unused;
}

int main(int argc, char **argv) {
  bench_init(argc, argv);
  pthread_t thread;
  pthread_create(&thread, NULL, other, NULL);
  for (;;) {
    take();
    for (int i = 0; i < 20; i++) {
      WORK(shrunk(100 * US)); // TARGET
      step_ended();
    }
    give();
    WORK(1000 * US);
    visit();
  }
}
