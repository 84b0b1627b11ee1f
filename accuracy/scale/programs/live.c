/* RATE threads alive at the same time, for SECONDS; each visits once a second or so, and sleeps meanwhile. */
#include "scale.h"

static long visits, ready;
static volatile double seconds = 1e9; /* nobody ends before all have begun */

static void *sleeper(void *argument) {
  long number = (long)(intptr_t)argument;
  __atomic_add_fetch(&ready, 1, __ATOMIC_RELAXED);
  do {
    /* 0.5 to 1.5 s: spread out, and the same in every run. */
    long ms = 500 + number * 7919 % 1000;
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&t, NULL);
    work_and_visit(&visits);
    number++;
  } while (elapsed() < seconds);
  return NULL;
}

/* How many threads this process has, as the kernel says. */
static long threads_now(void) {
  FILE *f = fopen("/proc/self/status", "r");
  char line[256];
  long n = -1;
  if (!f)
    die("reading /proc/self/status");
  while (fgets(line, sizeof line, f))
    if (sscanf(line, "Threads: %ld", &n) == 1)
      break;
  fclose(f);
  return n;
}

int main(int argc, char **argv) {
  double rate, length;
  scale_init(argc, argv, &rate, &length);
  long n = (long)rate;
  pthread_t *threads = calloc((size_t)n, sizeof *threads);
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 32 << 10);
  for (long i = 0; i < n; i++)
    if (pthread_create(&threads[i], &small, sleeper, (void *)(intptr_t)i)) {
      errno = EAGAIN;
      die("creating all threads");
    }
  while (__atomic_load_n(&ready, __ATOMIC_RELAXED) < n)
    usleep(1000);
  long live = threads_now() - 1;
  seconds = elapsed() + length;
  for (long i = 0; i < n; i++)
    pthread_join(threads[i], NULL);
  report(visits);
  printf("live %ld\n", live);
}
