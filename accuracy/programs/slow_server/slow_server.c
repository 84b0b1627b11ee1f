/*
 * slow_server: a client asks a server for something and computes 1 ms with the answer. The server is a process of its
 * own, "slow_server client", which the suite starts: it is outside of what is profiled. It sleeps 2 ms for an answer,
 * like a server that asks a machine far away. The target is the line in which the client waits. The server's sleep
 * shrinks.
 */
#include "../bench.h"
#include "../partner.h"

static void answer(int fd) {
  for (long us; read(fd, &us, sizeof us) == sizeof us;) {
    SLEEP_US(us);
    if (write(fd, &us, sizeof us) != sizeof us)
      return;
  }
}

int main(int argc, char **argv) {
  if (argc == 2 && !strcmp(argv[1], "client")) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGPIPE, SIG_IGN);
    answer(connected());
    return 0;
  }
  bench_init(argc, argv);
  int fd = accept(listening_socket(), NULL, NULL);
  if (fd < 0)
    die("waiting for the server");
  for (;;) {
    long us = shrunk(2000);
    if (write(fd, &us, sizeof us) != sizeof us)
      die("asking");
    if (read(fd, &us, sizeof us) != sizeof us) // TARGET
      die("waiting for an answer");
    WORK(1000 * US);
    visit();
  }
}
