/*
 * Two threads take turns. Each polls every 100 us whether it is its turn, so neither is ever woken by the other.
 *
 * Truth: 2 of 3.5 ms, and what sleeping overshoots: about 14, 27, 41, 56.
 */
#include "../bench.h"

static int turn;

static void await(int whose) {
  while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) != whose)
    SLEEP_US(100);
}

static void *other(void *none) {
  (void)none;
  pin(1);
  for (;;) {
    await(1);
    WORK(shrunk(2000 * US)); // TARGET
    __atomic_store_n(&turn, 0, __ATOMIC_RELEASE);
  }
  return NULL;
}

int main(int argc, char **argv) {
  pthread_t thread;

  bench_init(argc, argv);
  if (pthread_create(&thread, NULL, other, NULL))
    die("starting a thread");
  pin(0);
  for (;;) {
    await(0);
    WORK(1500 * US);
    visit();
    __atomic_store_n(&turn, 1, __ATOMIC_RELEASE);
  }
}
