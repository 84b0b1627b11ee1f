/* Threads that come and go, RATE a second; some 16 are alive at a time. Each visits once. */
#include "scale.h"

static long visits;

static void *brief(void *unused) {
  work_and_visit(&visits);
  return unused;
}

int main(int argc, char **argv) {
  double rate, seconds;
  pthread_t alive[16];
  long n = 0;
  scale_init(argc, argv, &rate, &seconds);
  for (; elapsed() < seconds; n++) {
    pace(rate, n);
    if (n >= 16)
      pthread_join(alive[n % 16], NULL);
    if (pthread_create(&alive[n % 16], NULL, brief, NULL))
      die("creating a thread");
  }
  for (long i = n > 16 ? n - 16 : 0; i < n; i++)
    pthread_join(alive[i % 16], NULL);
  report(visits);
}
