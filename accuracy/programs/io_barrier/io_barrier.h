/*
 * One thread reads pages from the disk, past the page cache, another computes, then they meet at a barrier: the motivating case of
 * BCOZ (OSDI'24). Faster reading is worth something only where it takes longer than the computing (LONG_READ), and the other way
 * round. read.c and work.c ask for the one and the other.
 */
#ifndef IO_BARRIER_H
#define IO_BARRIER_H

#include "../bench.h"
#include <fcntl.h>
#include <pthread.h>

#ifdef LONG_READ
#define READS 60L
#define COMPUTES 1500
#else
#define READS 20L
#define COMPUTES 4000
#endif

#define FILE_PAGES 1024L

static char page[4096] __attribute__((aligned(4096)));
static pthread_barrier_t both;
static uint64_t next_page = 1;
static int file;

/* In one expression, so that the line that reads is the one that uses it. */
#define READ_PAGE()                                                                                                                        \
  (next_page = next_page * 6364136223846793005u + 1442695040888963407u,                                                                    \
   pread(file, page, sizeof page, (off_t)((next_page >> 33) % FILE_PAGES * sizeof page)))

static void open_pages(void) {
  const char *dir = getenv("BENCH_DIR");
  char name[4096];

  snprintf(name, sizeof name, "%s/io_barrier.XXXXXX", dir ? dir : "/var/tmp");
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

static void *other(void *none);

static void meet_other(int argc, char **argv) {
  pthread_t thread;

  bench_init(argc, argv);
  open_pages();
  pthread_barrier_init(&both, NULL, 2);
  if (pthread_create(&thread, NULL, other, NULL))
    die("starting a thread");
}

#endif
