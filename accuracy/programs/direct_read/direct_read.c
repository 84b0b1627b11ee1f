/*
 * direct_read: reads forty pages from the disk, past the page cache, and computes 4 ms. The target is the reading: fewer
 * pages.
 */
#include "../bench.h"
#include <fcntl.h>

#define PAGES 40L
#define FILE_PAGES 1024L

int main(int argc, char **argv) {
  static char page[4096] __attribute__((aligned(4096)));
  const char *dir = getenv("BENCH_DIR");
  char name[4096];
  uint64_t at = 1;

  bench_init(argc, argv);
  snprintf(name, sizeof name, "%s/direct_read.XXXXXX", dir ? dir : "/var/tmp");
  int fd = mkstemp(name);
  if (fd < 0)
    die("creating a file to read");
  unlink(name);
  for (long i = 0; i < FILE_PAGES; i++)
    if (write(fd, page, sizeof page) != sizeof page)
      die("filling the file to read");
  if (fsync(fd) || fcntl(fd, F_SETFL, O_DIRECT))
    die("reading past the page cache");
  for (;;) {
    for (long i = shrunk(PAGES); i > 0; i--) {
      at = at * 6364136223846793005u + 1442695040888963407u;
      if (pread(fd, page, sizeof page, (off_t)((at >> 33) % FILE_PAGES * sizeof page)) != sizeof page) // TARGET
        die("reading");
    }
    WORK(4000 * US);
    visit();
  }
}
