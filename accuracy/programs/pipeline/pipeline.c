/*
 * Three stages joined by bounded queues (mutex and condition variables), unpinned: 1, 4 and 1.5 units of work. The
 * slowest, in the middle, is the target.
 *
 * Truth: an item takes max(4(1-s), 1.5, (6.5-4s)/2) units: first the target is the slowest stage, then the two cores
 * are full: about 25, 44, 56, 63.
 *
 * -DFINE: the same with 100 us in the target instead of 4 ms, and pinned, the target alone on its core, because at this
 * scale the scheduler's placement would make the truth random. An item then takes max(4(1-s), 1 + 1.5) units: 25, 37.5,
 * 37.5, 37.5.
 */
#include "../bench.h"
#include "../queue.h"

#ifdef FINE
#define UNIT (25 * US)
#define PLACE(cpu) pin(cpu)
#else
#define UNIT (1000 * US)
#define PLACE(cpu) (void)0
#endif

static struct queue first = QUEUE(8), second = QUEUE(8);

static void *produce(void *unused) {
  PLACE(1);
  for (;;) {
    WORK(1 * UNIT);
    queue_put(&first);
  }
  return unused;
}

static void *transform(void *unused) {
  PLACE(0);
  for (;;) {
    queue_get(&first);
    WORK(shrunk(4 * UNIT)); // TARGET
    queue_put(&second);
  }
  return unused;
}

static void *consume(void *unused) {
  PLACE(1);
  for (;;) {
    queue_get(&second);
    WORK(also_shrunk(3 * UNIT / 2)); // ALSO
    visit();
  }
  return unused;
}

int main(int argc, char **argv) {
  bench_init(argc, argv);
  pthread_t threads[3];
  pthread_create(&threads[0], NULL, produce, NULL);
  pthread_create(&threads[1], NULL, transform, NULL);
  pthread_create(&threads[2], NULL, consume, NULL);
  pthread_join(threads[0], NULL);
}
