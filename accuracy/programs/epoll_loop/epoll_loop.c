/*
 * A server's loop: one thread waits with epoll for four clients, threads of the same process with a socket each. For
 * each request it computes for 0.4 ms, the target, and 0.2 ms. A client computes for 0.3 ms, asks, and waits for the
 * answer.
 *
 * Truth: a request takes max(0.6-0.4s, (0.9-0.4s)/2) ms on a perfect scheduler: 17, 33, 50, 58.
 */
#include "../bench.h"
#include <fcntl.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/socket.h>

static int pairs[4][2];

static void *client(void *arg) {
  int fd = pairs[(long)arg][0];
  for (;;) {
    WORK(300 * US);
    send_byte(fd);
    receive_byte(fd);
    visit();
  }
  return NULL;
}

int main(int argc, char **argv) {
  bench_init(argc, argv);
  int all = epoll_create1(0);
  pthread_t threads[4];
  for (long i = 0; i < 4; i++) {
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pairs[i]) || fcntl(pairs[i][1], F_SETFL, O_NONBLOCK))
      die("making sockets");
    struct epoll_event e = {.events = EPOLLIN, .data.fd = pairs[i][1]};
    if (epoll_ctl(all, EPOLL_CTL_ADD, pairs[i][1], &e))
      die("watching a socket");
    pthread_create(&threads[i], NULL, client, (void *)i);
  }
  for (;;) {
    struct epoll_event ready[4];
    int n = epoll_wait(all, ready, 4, -1);
    for (int i = 0; i < n; i++) {
      receive_byte(ready[i].data.fd);
      WORK(shrunk(400 * US)); // TARGET
      WORK(200 * US);
      send_byte(ready[i].data.fd);
    }
  }
}
