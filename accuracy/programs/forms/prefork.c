/*
 * Two forked servers take connections from one socket. Three clients, threads of a third process, connect again for each
 * request. A server computes 0.15 ms and 0.25 ms, the target, a client 0.1 ms.
 *
 * Truth: were the cores always full a request would take (0.5 - 0.25s)/2 ms, and connecting: at most 12.5, 25, 37.5,
 * 50.
 */
#include "../bench.h"
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>

static struct sockaddr_un address = {.sun_family = AF_UNIX};
static socklen_t size;

static void *client(void *unused) {
  for (;;) {
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, size))
      die("connecting");
    send_byte(fd);
    receive_byte(fd);
    close(fd);
    WORK(100 * US);
    visit();
  }
  return unused;
}

static void serve(int listening) {
  for (;;) {
    int fd = accept(listening, NULL, NULL);
    if (fd < 0)
      die("accepting");
    receive_byte(fd);
    WORK(150 * US);
    WORK(shrunk(250 * US)); // TARGET
    send_byte(fd);
    close(fd);
  }
}

int main(int argc, char **argv) {
  bench_init(argc, argv);
  /* A name that is no file's: its first byte is 0. */
  int length = snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "whatif-prefork-%d", getpid());
  size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
  int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  if (fd < 0 || bind(fd, (struct sockaddr *)&address, size) || listen(fd, 16))
    die("listening");
  for (int i = 0; i < 2; i++)
    if (!fork_child())
      serve(fd);
  pthread_t thread;
  for (int i = 0; i < 2; i++)
    pthread_create(&thread, NULL, client, NULL);
  client(NULL);
}
