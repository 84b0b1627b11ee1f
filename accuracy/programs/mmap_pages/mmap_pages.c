/*
 * Two pinned threads hand each other a turn by a pipe. One maps memory that the kernel has to fill with pages (the
 * target), the other computes for 2 ms. The mapping takes the place of the one before. So all of the work, giving the
 * old pages back and filling the new ones, is the kernel's in one call: the target is its vm_mmap_pgoff.
 *
 * Truth: by fewer mappings, each as large as before. With fewer pages in each, the other costs of a call would stay.
 * Nothing runs at the same time, so the gain grows with the speed-up evenly, to the target's share: measured.
 */
#include "../bench.h"
#include <pthread.h>
#include <sys/mman.h>

#define PAGE 4096
#define PAGES 64 /* too few for huge ones */
#define MAPPINGS 32

#define MAPPING (MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_POPULATE)

static int there[2], back[2];

static void *mapper(void *unused) {
  pin(0);
  char *at = (char *)mmap(NULL, PAGES * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED)
    die("finding room");
  for (;;) {
    receive_byte(there[0]);
    for (long i = shrunk(MAPPINGS); i > 0; i--)
      if (mmap(at, PAGES * PAGE, PROT_READ | PROT_WRITE, MAPPING, -1, 0) == MAP_FAILED) // TARGET
        die("mapping memory");
    send_byte(back[1]);
  }
  return unused;
}

int main(int argc, char **argv) {
  bench_init(argc, argv);
  if (pipe(there) || pipe(back))
    die("making pipes");
  pthread_t thread;
  pthread_create(&thread, NULL, mapper, NULL);
  pin(1);
  for (;;) {
    send_byte(there[1]);
    receive_byte(back[0]);
    WORK(2000 * US);
    visit();
  }
}
