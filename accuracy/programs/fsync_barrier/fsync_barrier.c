/*
 * fsync_barrier: one thread writes and syncs a page sixty times, another computes 2 ms, then they meet at a barrier. The target is the
 * writing and syncing: fewer times.
 */
#include "../bench.h"
#include <fcntl.h>

#define SYNCS 60L

static pthread_barrier_t both;

static void *computing(void *none) {
  (void)none;
  for (;;) {
    WORK(2000 * US);
    pthread_barrier_wait(&both);
  }
  return NULL;
}

int main(int argc, char **argv) {
  static char page[4096];
  const char *dir = getenv("BENCH_DIR");
  char name[4096];
  pthread_t thread;

  bench_init(argc, argv);
  snprintf(name, sizeof name, "%s/fsync_barrier.XXXXXX", dir ? dir : "/var/tmp");
  int fd = mkstemp(name);
  if (fd < 0)
    die("creating a file to sync");
  unlink(name);
  pthread_barrier_init(&both, NULL, 2);
  if (pthread_create(&thread, NULL, computing, NULL))
    die("starting a thread");
  for (;;) {
    for (long i = shrunk(SYNCS); i > 0; i--) {
      page[0]++;
      if (pwrite(fd, page, sizeof page, 0) != sizeof page || fdatasync(fd)) // TARGET
        die("writing and syncing");
    }
    pthread_barrier_wait(&both);
    visit();
  }
}
