/*
 * sleep_eight: eight threads sleep 4 ms in one line and compute 200 µs each. All of them sleep less in it, but time
 * that they save together counts once.
 */
#include "../bench.h"

static void *sleeping(void *none) {
  (void)none;
  for (;;) {
    SLEEP_US(shrunk(4000)); // TARGET
    WORK(200 * US);
    visit();
  }
  return NULL;
}

int main(int argc, char **argv) {
  pthread_t thread;

  bench_init(argc, argv);
  for (int i = 0; i < 7; i++)
    if (pthread_create(&thread, NULL, sleeping, NULL))
      die("starting a thread");
  sleeping(NULL);
}
