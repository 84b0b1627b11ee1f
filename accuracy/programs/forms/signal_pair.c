/*
 * Two threads take turns, each on a processor of its own, by signals that they wait for with sigwaitinfo. One works 1.2
 * ms, the other 0.8 ms, the target.
 *
 * Truth: 10, 20, 30, 40.
 */
#include "../bench.h"

static pthread_t first, second;
static sigset_t turn;

static void wait_turn(void) {
  while (sigwaitinfo(&turn, NULL) < 0 && errno == EINTR)
    ;
}

static void *other(void *unused) {
  pin(1);
  for (;;) {
    wait_turn();
    WORK(shrunk(800 * US)); // TARGET
    pthread_kill(first, SIGUSR1);
  }
  return unused;
}

int main(int argc, char **argv) {
  bench_init(argc, argv);
  pin(0);
  sigemptyset(&turn);
  sigaddset(&turn, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &turn, NULL);
  first = pthread_self();
  pthread_create(&second, NULL, other, NULL);
  for (;;) {
    WORK(1200 * US);
    pthread_kill(second, SIGUSR1);
    wait_turn();
    visit();
  }
}
