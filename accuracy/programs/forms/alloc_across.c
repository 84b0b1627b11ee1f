/*
 * One thread makes lists of 400 pieces of memory of all sizes, and computes 0.3 ms, the target. Another frees them and
 * computes 0.2 ms.
 *
 * Truth is measured only.
 */
#include "../bench.h"
#include "../queue.h"

#define PIECES 400

static struct queue full = QUEUE(4), empty = QUEUE(4);
static void *lists[4][PIECES];

static void *maker(void *unused) {
  uint32_t x = 1;
  for (int i = 0;; i = (i + 1) % 4) {
    queue_get(&empty);
    for (int k = 0; k < PIECES; k++) {
      x = x * 1664525 + 1013904223;
      lists[i][k] = malloc(16 + (x >> 20));
      memset(lists[i][k], 1, 16);
    }
    WORK(shrunk(300 * US)); // TARGET
    queue_put(&full);
  }
  return unused;
}

int main(int argc, char **argv) {
  bench_init(argc, argv);
  for (int i = 0; i < 4; i++)
    queue_put(&empty);
  pthread_t thread;
  if (pthread_create(&thread, NULL, maker, NULL))
    die("starting");
  for (int i = 0;; i = (i + 1) % 4) {
    queue_get(&full);
    for (int k = 0; k < PIECES; k++)
      free(lists[i][k]);
    WORK(200 * US);
    queue_put(&empty);
    visit();
  }
}
