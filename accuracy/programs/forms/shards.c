/*
 * Four threads and eight locks. Each thread computes 0.3 ms, then 0.3 ms, the target, with a random one of the locks
 * held.
 *
 * Truth, if they were hardly ever in each other's way: 12.5, 25, 37.5, 50.
 */
#include "../bench.h"

static pthread_mutex_t shards[8];

static void *worker(void *seed) {
  unsigned state = (unsigned)(uintptr_t)seed;
  for (;;) {
    WORK(300 * US);
    pthread_mutex_t *shard = &shards[rand_r(&state) % 8];
    pthread_mutex_lock(shard);
    WORK(shrunk(300 * US)); // TARGET
    pthread_mutex_unlock(shard);
    visit();
  }
  return NULL;
}

int main(int argc, char **argv) {
  bench_init(argc, argv);
  pthread_t thread;
  for (int i = 0; i < 8; i++)
    pthread_mutex_init(&shards[i], NULL);
  for (uintptr_t i = 1; i < 4; i++)
    pthread_create(&thread, NULL, worker, (void *)i);
  worker((void *)4);
}
