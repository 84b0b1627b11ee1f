/*
 * A server of one thread, and clients that send the next request when they have the answer. The clients are processes
 * of their own, "served client", which the suite starts itself: they are outside of what is profiled, so they are not
 * stopped. With -DINSIDE the server forks them, and they are stopped like the rest.
 *
 * An answer costs the server 0.8 ms; 0.6 of them are the target.
 *
 * One client, which works 0.4 ms between an answer and the next request. Truth: half of s: 12.5, 25, 37.5, 50.
 *
 * -DSLEEPING: four clients, which sleep for 4 ms: the server is busy for 60% of the time. They hardly wait for it, so
 * there is little to be gained; measured only.
 *
 * -DCROWD: fifty clients, which sleep for 15 to 45 ms, at random: more than the server can answer, until it is half as
 * fast again; measured only.
 *
 * -DBUSY: one client with four connections. It works 1.2 ms for each answer, and always has one to work on. Truth:
 * nothing.
 */
#include "../bench.h"
#include "../partner.h"
#include <sys/epoll.h>

#ifdef SLEEPING
#define CLIENTS 4
#define CONNECTIONS 1
#elif defined CROWD
#define CLIENTS 50
#define CONNECTIONS 1
#elif defined BUSY
#define CLIENTS 1
#define CONNECTIONS 4
#else
#define CLIENTS 1
#define CONNECTIONS 1
#endif

/* Returns a connection that is ready to be read, one at a time. */
static int ready(int epoll) {
  struct epoll_event e;
  while (epoll_wait(epoll, &e, 1, -1) != 1)
    if (errno != EINTR)
      die("waiting for a message");
  return e.data.fd;
}

static void watch(int epoll, int fd) {
  struct epoll_event e = {.events = EPOLLIN, .data.fd = fd};
  if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e))
    die("watching a connection");
}

static void ask(void) {
  int epoll = epoll_create1(0);
  for (int i = 0; i < CONNECTIONS; i++) {
    int fd = connected();
    watch(epoll, fd);
    send_byte(fd);
  }
  for (;;) {
    int fd = ready(epoll);
    receive_byte(fd); /* the client ends with the server */
#ifdef SLEEPING
    usleep(4000);
#elif defined CROWD
    usleep(15000 + rand() % 30000);
#elif defined BUSY
    WORK(1200 * US);
#else
    WORK(400 * US);
#endif
    send_byte(fd);
  }
}

static void ask_all(void) {
  signal(SIGPIPE, SIG_IGN);
  for (int i = 1; i < CLIENTS; i++)
    if (fork_child() == 0) {
      srand(i);
      break;
    }
  ask();
}

static void serve(int listening) {
  int epoll = epoll_create1(0);
  for (int i = 0; i < CLIENTS * CONNECTIONS; i++) {
    int fd = accept(listening, NULL, NULL);
    if (fd < 0)
      die("accepting a connection");
    watch(epoll, fd);
  }
  for (;;) {
    int fd = ready(epoll);
    receive_byte(fd);
    WORK(200 * US);
    WORK(shrunk(600 * US)); // TARGET
    send_byte(fd);
    visit();
  }
}

int main(int argc, char **argv) {
  if (argc == 2 && !strcmp(argv[1], "client")) {
    char *any[] = {argv[0], "0", "1"};
    bench_init(3, any);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    ask_all();
  }
  bench_init(argc, argv);
  int listening = listening_socket();
#ifdef INSIDE
  if (fork_child() == 0)
    ask_all();
#endif
  serve(listening);
}
