/*
 * Two threads hand a token to each other. The thread without it polls for up to 0.3 ms and then sleeps on a futex. One
 * thread works 0.2 ms with the token and 0.5 ms without, the other 0.6 ms with it, the target, and 0.1 ms without.
 *
 * Truth: a round takes 0.8 - 0.6s ms, and no less than the first thread's own 0.7: 12.5, 12.5, 12.5, 12.5.
 */
#include "../bench.h"
#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/syscall.h>

static atomic_int turn, sleeping;

static void await(int whose) {
  for (int k = 0; k < 3000; k++) {
    if (atomic_load_explicit(&turn, memory_order_acquire) == whose)
      return;
    for (int i = 0; i < 8; i++)
#if defined(__x86_64__)
      __builtin_ia32_pause();
#else
      __asm__ volatile("yield");
#endif
  }
  while (atomic_load(&turn) != whose) {
    atomic_store(&sleeping, 1);
    syscall(SYS_futex, &turn, FUTEX_WAIT_PRIVATE, !whose, NULL, NULL, 0);
  }
}

static void give(int whom) {
  atomic_store(&turn, whom);
  if (atomic_exchange(&sleeping, 0))
    syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void *other(void *unused) {
  pin(1);
  for (;;) {
    await(1);
    WORK(shrunk(600 * US)); // TARGET
    give(0);
    WORK(100 * US);
  }
  return unused;
}

int main(int argc, char **argv) {
  bench_init(argc, argv);
  pthread_t thread;
  if (pthread_create(&thread, NULL, other, NULL))
    die("starting");
  pin(0);
  for (;;) {
    await(0);
    WORK(200 * US);
    give(1);
    WORK(500 * US);
    visit();
  }
}
