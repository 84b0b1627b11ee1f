/*
 * Two pinned threads at a pthread barrier: one maps, touches and unmaps memory (some 3 ms a round, the target),
 * the other computes 2 ms. The target's time is the kernel's, and each unmapping makes the other core flush its
 * TLB.
 *
 * Truth: as barrier's, but the kernel decides what mapping costs, and while it unmaps it also disturbs the other
 * thread: measured.
 */
#include "../bench.h"
#include <pthread.h>
#include <sys/mman.h>

#define PAGES 8
#define BYTES (PAGES * 4096)

static pthread_barrier_t barrier;

static void map_and_unmap(void) {
  char *p = (char *)mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (p == MAP_FAILED)
    die("mapping memory");
  munmap(p, BYTES);
}

static void *mapper(void *unused) {
  pin(0);
  for (;;) {
    for (long i = shrunk(140); i > 0; i--) map_and_unmap(); // TARGET
    pthread_barrier_wait(&barrier);
  }
  return unused;
}

static void *computer(void *unused) {
  pin(1);
  for (;;) {
    WORK(2000 * US);
    pthread_barrier_wait(&barrier);
    visit();
  }
  return unused;
}

int main(int argc, char **argv) {
  bench_init(argc, argv);
  pthread_barrier_init(&barrier, NULL, 2);
  pthread_t threads[2];
  pthread_create(&threads[0], NULL, mapper, NULL);
  pthread_create(&threads[1], NULL, computer, NULL);
  pthread_join(threads[0], NULL);
}
