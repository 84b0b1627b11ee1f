/*
 * Two threads ask and answer through eventfds: the client computes 0.3 ms, the server 0.5 ms, the target, and 0.2 ms.
 *
 * Truth: a request takes 1 - 0.5s ms, and waking: at most 12.5, 25, 37.5, 50.
 */
#include "../bench.h"
#include <sys/eventfd.h>

static int requests, answers;

static void post(int fd) {
  if (eventfd_write(fd, 1))
    die("writing to an eventfd");
}

static void await(int fd) {
  eventfd_t n;
  if (eventfd_read(fd, &n))
    die("reading an eventfd");
}

static void *server(void *unused) {
  for (;;) {
    await(requests);
    WORK(shrunk(500 * US)); // TARGET
    WORK(200 * US);
    post(answers);
  }
  return unused;
}

int main(int argc, char **argv) {
  bench_init(argc, argv);
  pthread_t thread;
  requests = eventfd(0, 0), answers = eventfd(0, 0);
  if (requests < 0 || answers < 0 || pthread_create(&thread, NULL, server, NULL))
    die("starting");
  for (;;) {
    WORK(300 * US);
    post(requests);
    await(answers);
    visit();
  }
}
