/*
 * A client and a server process, joined by a socketpair, unpinned. The client works 0.4 ms, asks and waits for the
 * answer. The server works 0.8 ms for it: the target.
 *
 * Truth: one of them works at a time. The gain is the target's share, two thirds of s, less the cost of the messages:
 * about 16, 32, 48, 64.
 */
#include "../bench.h"
#include <sys/socket.h>

static void serve(int fd) {
  for (;;) {
    receive_byte(fd);
    WORK(shrunk(800 * US)); // TARGET
    send_byte(fd);
  }
}

int main(int argc, char **argv) {
  bench_init(argc, argv);
  int fds[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds))
    die("making a socketpair");
  if (fork_child() == 0)
    serve(fds[1]);
  for (;;) {
    WORK(400 * US);
    send_byte(fds[0]);
    receive_byte(fds[0]);
    visit();
  }
}
