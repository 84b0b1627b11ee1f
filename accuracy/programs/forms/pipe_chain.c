/*
 * Three processes in a chain of pipes, by blocks of 4 KiB: 0.2 ms, 0.5 ms, the target, and 0.3 ms a block.
 *
 * Truth: were the cores always full a block would take max(0.5(1-s), (1 - 0.5s)/2) ms: 12.5, 25, 37.5, 50.
 */
#include "../bench.h"

static char block[4096];

static void receive(int fd) {
  for (size_t got = 0; got < sizeof block;) {
    ssize_t n = read(fd, block + got, sizeof block - got);
    if (n <= 0)
      _exit(0);
    got += (size_t)n;
  }
}

static void send_on(int fd) {
  for (size_t sent = 0; sent < sizeof block;) {
    ssize_t n = write(fd, block + sent, sizeof block - sent);
    if (n <= 0)
      _exit(0);
    sent += (size_t)n;
  }
}

int main(int argc, char **argv) {
  bench_init(argc, argv);
  int first[2], second[2];
  if (pipe(first) || pipe(second))
    die("making pipes");
  if (!fork_child())
    for (;;) {
      WORK(200 * US);
      send_on(first[1]);
    }
  if (!fork_child())
    for (;;) {
      receive(first[0]);
      WORK(shrunk(500 * US)); // TARGET
      send_on(second[1]);
    }
  for (;;) {
    receive(second[0]);
    WORK(300 * US);
    visit();
  }
}
