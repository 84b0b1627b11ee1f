/*
 * direct_read: reads forty pages from the disk, past the page cache, and computes 4 ms. The target is the reading: fewer
 * pages.
 */
#include "../pages.h"

#define PAGES 40L

int main(int argc, char **argv) {
  bench_init(argc, argv);
  open_pages();
  for (;;) {
    for (long i = shrunk(PAGES); i > 0; i--)
      if (READ_PAGE() != sizeof page) // TARGET
        die("reading");
    WORK(4000 * US);
    visit();
  }
}
