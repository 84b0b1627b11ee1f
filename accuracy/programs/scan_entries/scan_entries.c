/*
 * One thread scans a directory (some 2 ms a round, the target) and then computes 1 ms. Another, independent thread
 * computes all the time, on the other processor. The target is the kernel's iterate_dir. The directory is
 * /proc/self/fd, which has an entry for each open file: nothing is left behind.
 *
 * Truth: by fewer entries. The gain grows with the speed-up evenly, to about two thirds: measured.
 */
#include "../bench.h"
#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#define ENTRIES 900 /* a process may have 1024 open files */

static void *other(void *unused) {
  pin(1);
  for (;;) WORK(1000 * US);
  return unused;
}

static void scan(int dir) {
  static char entries[64 << 10];
  if (lseek(dir, 0, SEEK_SET) < 0)
    die("going back to the beginning of /proc/self/fd");
  while (syscall(SYS_getdents64, dir, entries, sizeof entries) > 0) // TARGET
    ;
}

int main(int argc, char **argv) {
  bench_init(argc, argv);
  for (long i = shrunk(ENTRIES); i > 0; i--)
    if (dup(0) < 0)
      die("opening files");
  int dir = open("/proc/self/fd", O_RDONLY | O_DIRECTORY);
  if (dir < 0)
    die("opening /proc/self/fd");
  pthread_t thread;
  pthread_create(&thread, NULL, other, NULL);
  pin(0);
  for (;;) {
    for (int i = 0; i < 4; i++) scan(dir);
    WORK(1000 * US);
    visit();
  }
}
