/* pages.h: reads random pages of a file from the disk, past the page cache. */
#ifndef PAGES_H
#define PAGES_H

#include "bench.h"
#include <fcntl.h>

#define FILE_PAGES 1024L

static char page[4096] __attribute__((aligned(4096)));
static uint64_t next_page = 1;
static int file;

/* One expression, so that all of it is on the line that uses it. */
#define READ_PAGE()                                                                                                                        \
  (next_page = next_page * 6364136223846793005u + 1442695040888963407u,                                                                    \
   pread(file, page, sizeof page, (off_t)((next_page >> 33) % FILE_PAGES * sizeof page)))

static void open_pages(void) {
  const char *dir = getenv("BENCH_DIR");
  char name[4096];

  snprintf(name, sizeof name, "%s/pages.XXXXXX", dir ? dir : "/var/tmp");
  file = mkstemp(name);
  if (file < 0)
    die("creating a file to read");
  unlink(name);
  for (long i = 0; i < FILE_PAGES; i++)
    if (write(file, page, sizeof page) != sizeof page)
      die("filling the file to read");
  if (fsync(file) || fcntl(file, F_SETFL, O_DIRECT))
    die("reading past the page cache");
}

#endif
