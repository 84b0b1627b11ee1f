/*
 * A producer and a consumer with room for four items between them, counted by POSIX semaphores. The producer works 0.6
 * ms an item, the consumer 1 ms, the target.
 *
 * Truth: an item takes max(1-s, 0.6) ms: 25, 40, 40, 40.
 */
#include "../bench.h"
#include <semaphore.h>

static sem_t full, empty;

static void *producer(void *unused) {
  for (;;) {
    WORK(600 * US);
    sem_wait(&empty);
    sem_post(&full);
  }
  return unused;
}

int main(int argc, char **argv) {
  bench_init(argc, argv);
  pthread_t thread;
  if (sem_init(&full, 0, 0) || sem_init(&empty, 0, 4) || pthread_create(&thread, NULL, producer, NULL))
    die("starting");
  for (;;) {
    sem_wait(&full);
    WORK(shrunk(1000 * US)); // TARGET
    sem_post(&empty);
    visit();
  }
}
