/*
 * Two threads put items of 0.5 ms into a queue of eight. Two others take them and compute 0.7 ms, the target, and 0.1
 * ms for each. There are more threads than cores.
 *
 * Truth: were the two cores always full an item would take (1.3 - 0.7s)/2 ms: 13, 27, 40, 54.
 */
#include "../bench.h"

#define ROOM 8

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER, emptied = PTHREAD_COND_INITIALIZER;
static int items;

static void *maker(void *unused) {
  for (;;) {
    WORK(500 * US);
    pthread_mutex_lock(&mutex);
    while (items == ROOM)
      pthread_cond_wait(&emptied, &mutex);
    items++;
    pthread_cond_signal(&filled);
    pthread_mutex_unlock(&mutex);
  }
  return unused;
}

static void *taker(void *unused) {
  for (;;) {
    pthread_mutex_lock(&mutex);
    while (items == 0)
      pthread_cond_wait(&filled, &mutex);
    items--;
    pthread_cond_signal(&emptied);
    pthread_mutex_unlock(&mutex);
    WORK(shrunk(700 * US)); // TARGET
    WORK(100 * US);
    visit();
  }
  return unused;
}

int main(int argc, char **argv) {
  bench_init(argc, argv);
  pthread_t thread;
  if (pthread_create(&thread, NULL, maker, NULL) || pthread_create(&thread, NULL, maker, NULL) || pthread_create(&thread, NULL, taker, NULL))
    die("starting");
  taker(NULL);
}
