/*
 * Each of four threads prepares a transaction, 0.6 ms, the target, and waits until it is written. If no thread is
 * writing, a waiting thread writes all transactions that are there: 0.2 ms of computing and 1 ms of sleep, as a disk
 * would take.
 *
 * Truth is measured only.
 */
#include "../bench.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t written = PTHREAD_COND_INITIALIZER;
static long last, done;
static int writing;

static void commit(void) {
  pthread_mutex_lock(&mutex);
  long mine = ++last;
  while (done < mine) {
    if (writing) {
      pthread_cond_wait(&written, &mutex);
      continue;
    }
    long all = last;
    writing = 1;
    pthread_mutex_unlock(&mutex);
    WORK(200 * US);
    SLEEP_US(1000);
    pthread_mutex_lock(&mutex);
    writing = 0;
    done = all;
    pthread_cond_broadcast(&written);
  }
  pthread_mutex_unlock(&mutex);
}

static void *client(void *unused) {
  for (;;) {
    WORK(shrunk(600 * US)); // TARGET
    commit();
    visit();
  }
  return unused;
}

int main(int argc, char **argv) {
  bench_init(argc, argv);
  for (int i = 0; i < 3; i++) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, client, NULL))
      die("starting");
  }
  client(NULL);
}
