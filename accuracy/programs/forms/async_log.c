/*
 * Three workers and a logger. Three times a turn, a worker works 0.4 ms and puts a line into the logger's buffer of
 * sixteen. The logger takes all lines that are there at once and works 0.15 ms for each, the target.
 *
 * Truth: were the two cores always full a turn would take (1.2 + 0.45(1-s))/2 ms: 7, 14, 20, 27. They are not:
 * measured.
 */
#include "../bench.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t some = PTHREAD_COND_INITIALIZER, room = PTHREAD_COND_INITIALIZER;
static int lines;

static void *logger(void *unused) {
  for (;;) {
    pthread_mutex_lock(&lock);
    while (!lines)
      pthread_cond_wait(&some, &lock);
    int n = lines;
    lines = 0;
    pthread_cond_broadcast(&room);
    pthread_mutex_unlock(&lock);
    WORK(shrunk(150 * US) * n); // TARGET
  }
  return unused;
}

static void *worker(void *unused) {
  for (;;) {
    for (int k = 0; k < 3; k++) {
      WORK(400 * US);
      pthread_mutex_lock(&lock);
      while (lines == 16)
        pthread_cond_wait(&room, &lock);
      if (!lines++)
        pthread_cond_signal(&some);
      pthread_mutex_unlock(&lock);
    }
    visit();
  }
  return unused;
}

int main(int argc, char **argv) {
  bench_init(argc, argv);
  pthread_t thread;
  if (pthread_create(&thread, NULL, logger, NULL))
    die("starting");
  for (int k = 0; k < 2; k++)
    if (pthread_create(&thread, NULL, worker, NULL))
      die("starting");
  worker(NULL);
}
