/*
 * A third stage feeds two heavy ones. They are joined by bounded queues, and the heavy ones are pinned to a core each:
 * 6 ms of target, then 4.5 ms. The feeder does almost nothing.
 *
 * Truth: an item takes max(6(1-s), 4.5) ms. The target is the slowest stage only until it is a quarter faster, then
 * nothing more is to be gained from it: 25, 25, 25, 25. The knee is at the first level.
 */
#include "../bench.h"
#include "../queue.h"

static struct queue first = QUEUE(2), second = QUEUE(2);

static void *feed(void *unused) {
  for (;;)
    queue_put(&first);
  return unused;
}

static void *slowest(void *unused) {
  pin(0);
  for (;;) {
    queue_get(&first);
    WORK(shrunk(6000 * US)); // TARGET
    queue_put(&second);
  }
  return unused;
}

static void *second_slowest(void *unused) {
  pin(1);
  for (;;) {
    queue_get(&second);
    WORK(4500 * US);
    visit();
  }
  return unused;
}

int main(int argc, char **argv) {
  bench_init(argc, argv);
  pthread_t threads[3];
  pthread_create(&threads[0], NULL, feed, NULL);
  pthread_create(&threads[1], NULL, slowest, NULL);
  pthread_create(&threads[2], NULL, second_slowest, NULL);
  pthread_join(threads[0], NULL);
}
