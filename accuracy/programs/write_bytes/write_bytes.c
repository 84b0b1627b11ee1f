/*
 * Two pinned threads at a pthread barrier: one writes to a file in memory (some 3 ms a round, the target), the other
 * computes 1 ms. A write's time is the kernel's copying, page by page, so the target is not the line but the kernel's
 * generic_perform_write.
 *
 * Truth: as barrier's, by fewer writes (fewer bytes in each would stay in a cache). The kernel decides what copying
 * costs: measured.
 */
#include "../bench.h"
#include <pthread.h>
#include <sys/mman.h>

#define WRITES 32

static pthread_barrier_t barrier;
static char bytes[1 << 20];

static void *writer(void *unused) {
  pin(0);
  int fd = memfd_create("written", 0);
  if (fd < 0 || ftruncate(fd, sizeof bytes))
    die("making a file in memory");
  for (;;) {
    for (long i = shrunk(WRITES); i > 0; i--)
      if (pwrite(fd, bytes, sizeof bytes, 0) != sizeof bytes) // TARGET
        die("writing");
    pthread_barrier_wait(&barrier);
  }
  return unused;
}

static void *computer(void *unused) {
  pin(1);
  for (;;) {
    WORK(1000 * US);
    pthread_barrier_wait(&barrier);
    visit();
  }
  return unused;
}

int main(int argc, char **argv) {
  bench_init(argc, argv);
  memset(bytes, 1, sizeof bytes); /* or all pages would be the one page of zeros */
  pthread_barrier_init(&barrier, NULL, 2);
  pthread_t threads[2];
  pthread_create(&threads[0], NULL, writer, NULL);
  pthread_create(&threads[1], NULL, computer, NULL);
  pthread_join(threads[0], NULL);
}
