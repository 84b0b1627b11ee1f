/*
 * fsync_barrier: one thread writes and syncs a page sixty times, another computes 2 ms, then they meet at a barrier.
 * The target is the writing and syncing: fewer times.
 */
#include "../meeting.h"
#include <fcntl.h>

#define SYNCS 60L

int main(int argc, char **argv) {
  static char page[4096];
  const char *dir = getenv("BENCH_DIR");
  char name[4096];

  bench_init(argc, argv);
  snprintf(name, sizeof name, "%s/fsync_barrier.XXXXXX", dir ? dir : "/var/tmp");
  int fd = mkstemp(name);
  if (fd < 0)
    die("creating a file to sync");
  unlink(name);
  start_other(computing, 2000);
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
