/*
 * Three processes, as in a shell's pipe. One writes blocks of 64 KiB, for 0.5 ms of work each. One reads them, works
 * 0.2 ms and 0.8 ms, the target, and writes them on. One reads them and works 0.3 ms. Copying comes on top.
 *
 * Truth: on two cores that are always full about (1.8 - 0.8s)/2 of a block's time: 11, 22, 33, 44, less what copying
 * takes.
 */
#include "../bench.h"

#define BLOCK 65536
static char block[BLOCK];

static void take(int from) {
  for (ssize_t had = 0, n; had < BLOCK; had += n)
    if ((n = read(from, block + had, BLOCK - had)) <= 0)
      die("reading");
}

static void pass(int to) {
  for (ssize_t had = 0, n; had < BLOCK; had += n)
    if ((n = write(to, block + had, BLOCK - had)) <= 0)
      die("writing");
}

int main(int argc, char **argv) {
  bench_init(argc, argv);
  int in[2], out[2];
  if (pipe(in) || pipe(out))
    die("pipe");
  if (!fork()) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) {
      WORK(500 * US);
      pass(in[1]);
    }
  }
  if (!fork()) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) {
      take(in[0]);
      WORK(200 * US);
      WORK(shrunk(800 * US)); // TARGET
      pass(out[1]);
    }
  }
  for (;;) {
    take(out[0]);
    WORK(300 * US);
    visit();
  }
}
