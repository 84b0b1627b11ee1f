/*
 * direct_read: reads forty pages from the disk, past the page cache, and computes 4 ms. The target is the reading:
 * fewer pages.
 *
 * With -DWAITING the target is only the waiting for the disk: what the kernel would have computed for the pages that
 * are left out, the program still computes.
 */
#include "../pages.h"

#define PAGES 40L

#ifdef WAITING
static double cpu_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return t.tv_sec * 1e9 + t.tv_nsec;
}

/* Returns the steps of WORK that take as long as the processor's work for a page. */
static long steps_of_page(void) {
  const long pages = 2000, steps = 20000 * US;
  double begin = cpu_ns(), read;
  for (long i = 0; i < pages; i++)
    if (READ_PAGE() != sizeof page)
      die("reading");
  read = cpu_ns() - begin;
  begin = cpu_ns();
  WORK(steps);
  return steps * (read / pages) / (cpu_ns() - begin);
}
#else
static long steps_of_page(void) { return 0; }
#endif

int main(int argc, char **argv) {
  bench_init(argc, argv);
  open_pages();
  const long pages = shrunk(PAGES), left_out = pages < PAGES ? (PAGES - pages) * steps_of_page() : 0;
  for (;;) {
    for (long i = pages; i > 0; i--)
      if (READ_PAGE() != sizeof page) // TARGET
        die("reading");
    WORK(left_out);
    WORK(4000 * US);
    visit();
  }
}
