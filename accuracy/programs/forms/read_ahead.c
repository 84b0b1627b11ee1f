/*
 * One thread reads 2 MiB at a time from a file that the kernel has in memory, into one of two buffers. Another computes
 * 0.8 ms, the target, and 0.3 ms for each.
 *
 * Truth is measured only: reading takes some 0.5 ms.
 */
#include "../bench.h"
#include "../queue.h"

#define PIECE (2 << 20)

static struct queue full = QUEUE(2), empty = QUEUE(2);
static int file;
static char buffers[2][PIECE];

static void *reader(void *unused) {
  for (int i = 0;; i = 1 - i) {
    queue_get(&empty);
    if (pread(file, buffers[i], PIECE, 0) != PIECE)
      die("reading");
    queue_put(&full);
  }
  return unused;
}

int main(int argc, char **argv) {
  bench_init(argc, argv);
  FILE *f = tmpfile();
  if (!f || fwrite(buffers, 1, PIECE, f) != PIECE || fflush(f))
    die("writing a file");
  file = fileno(f);
  queue_put(&empty);
  queue_put(&empty);
  pthread_t thread;
  if (pthread_create(&thread, NULL, reader, NULL))
    die("starting");
  for (;;) {
    queue_get(&full);
    WORK(shrunk(800 * US)); // TARGET
    WORK(300 * US);
    queue_put(&empty);
    visit();
  }
}
