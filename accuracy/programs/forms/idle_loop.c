/*
 * An event loop hands work to a thread, 4 ms, the target, and works 2 ms itself for the result. After each 3 ms without
 * an event it works 0.3 ms on something else. With half of the target gone no timeout would run out.
 *
 * -DOFTEN: after each millisecond, 0.2 ms.
 *
 * Truth: a round takes 4(1-s) + 2 ms, and a little more where the event comes during the other work: 17, 33, 50, 67.
 */
#include "../bench.h"
#include <sys/epoll.h>
#include <sys/eventfd.h>

#ifdef OFTEN
#define TIMEOUT 1
#define OTHER (200 * US)
#else
#define TIMEOUT 3
#define OTHER (300 * US)
#endif

static int there, back;

static void await(int fd) {
  uint64_t n;
  if (read(fd, &n, sizeof n) != sizeof n)
    die("reading an event");
}

static void tell(int fd) {
  uint64_t one = 1;
  if (write(fd, &one, sizeof one) != sizeof one)
    die("writing an event");
}

static void *worker(void *unused) {
  for (;;) {
    await(there);
    WORK(shrunk(4000 * US)); // TARGET
    tell(back);
  }
  return unused;
}

int main(int argc, char **argv) {
  bench_init(argc, argv);
  struct epoll_event e = {.events = EPOLLIN};
  int epoll = epoll_create1(0);
  there = eventfd(0, 0);
  back = eventfd(0, 0);
  if (epoll < 0 || there < 0 || back < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, back, &e))
    die("making events");
  pthread_t thread;
  if (pthread_create(&thread, NULL, worker, NULL))
    die("starting");
  tell(there);
  for (;;) {
    if (epoll_wait(epoll, &e, 1, TIMEOUT) != 1) {
      WORK(OTHER);
      continue;
    }
    await(back);
    WORK(2000 * US);
    visit();
    tell(there);
  }
}
