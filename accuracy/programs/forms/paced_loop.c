/*
 * An event loop works for 0.3 ms whenever a timerfd's 2 ms are over. Now and then a thread that computes 20 ms for
 * something else, the target, sends it an event.
 *
 * Truth: 0.
 */
#include "../bench.h"
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>

static int event;

static void *other(void *unused) {
  uint64_t one = 1;
  for (;;) {
    WORK(shrunk(20000 * US)); // TARGET
    WORK(20000 * US);
    if (write(event, &one, sizeof one) != sizeof one)
      die("writing an event");
  }
  return unused;
}

int main(int argc, char **argv) {
  bench_init(argc, argv);
  struct itimerspec each = {{0, 2000000}, {0, 2000000}};
  int epoll = epoll_create1(0), timer = timerfd_create(CLOCK_MONOTONIC, 0);
  event = eventfd(0, 0);
  struct epoll_event ticks = {.events = EPOLLIN, .data.fd = timer}, news = {.events = EPOLLIN, .data.fd = event}, e;
  if (epoll < 0 || timer < 0 || event < 0 || timerfd_settime(timer, 0, &each, NULL) || epoll_ctl(epoll, EPOLL_CTL_ADD, timer, &ticks) ||
      epoll_ctl(epoll, EPOLL_CTL_ADD, event, &news))
    die("making events");
  pthread_t thread;
  if (pthread_create(&thread, NULL, other, NULL))
    die("starting");
  for (;;) {
    uint64_t n;
    if (epoll_wait(epoll, &e, 1, -1) != 1 || read(e.data.fd, &n, sizeof n) != sizeof n)
      die("reading an event");
    if (e.data.fd != timer)
      continue;
    WORK(300 * US);
    visit();
  }
}
