/*
 * A server with a thread for each of three connections, and its three clients in threads of the same process, over TCP.
 * A client computes 0.2 ms and asks. The server computes 0.1 ms and 0.4 ms, the target.
 *
 * Truth: were the two cores always full a request would take (0.7 - 0.4s)/2 ms: 14, 29, 43, 57.
 */
#include "../bench.h"
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

static struct sockaddr_in address = {.sin_family = AF_INET};

static void at_once(int fd) {
  int one = 1;
  if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one))
    die("setting TCP_NODELAY");
}

static void start(void *(*run)(void *), long arg) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, run, (void *)arg))
    die("starting a thread");
}

static void *serve(void *arg) {
  int fd = (int)(long)arg;
  char message[64];
  while (recv(fd, message, sizeof message, MSG_WAITALL) > 0) {
    WORK(100 * US);
    WORK(shrunk(400 * US)); // TARGET
    if (send(fd, message, sizeof message, 0) < 0)
      die("answering");
  }
  return NULL;
}

static void *ask(void *unused) {
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  char message[64] = {0};
  if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address))
    die("connecting");
  at_once(fd);
  for (;;) {
    WORK(200 * US);
    if (send(fd, message, sizeof message, 0) < 0 || recv(fd, message, sizeof message, MSG_WAITALL) <= 0)
      die("asking");
    visit();
  }
  return unused;
}

int main(int argc, char **argv) {
  bench_init(argc, argv);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  if (fd < 0 || bind(fd, (struct sockaddr *)&address, length) ||
      getsockname(fd, (struct sockaddr *)&address, &length) || listen(fd, 8))
    die("listening");
  for (int i = 0; i < 3; i++)
    start(ask, 0);
  for (;;) {
    int client = accept(fd, NULL, NULL);
    if (client < 0)
      die("accepting");
    at_once(client);
    start(serve, client);
  }
}
