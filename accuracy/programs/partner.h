/* partner.h: a program of the suite and its partner, another process of the same file, meet at a socket. */
#ifndef PARTNER_H
#define PARTNER_H

#include "bench.h"
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>

/* The server's address, in the abstract namespace. Each program's file has its own. */
static socklen_t address(struct sockaddr_un *a) {
  char file[4096];
  ssize_t n = readlink("/proc/self/exe", file, sizeof file);
  if (n < 0)
    die("finding the program's file");
  uint64_t hash = 14695981039346656037u;
  for (ssize_t i = 0; i < n; i++)
    hash = (hash ^ (unsigned char)file[i]) * 1099511628211u;
  memset(a, 0, sizeof *a);
  a->sun_family = AF_UNIX;
  int length = snprintf(a->sun_path + 1, sizeof a->sun_path - 1, "whatif-partner-%016llx", (unsigned long long)hash);
  return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
}

/* Waits until there is a server. */
__attribute__((unused)) static int connected(void) {
  struct sockaddr_un a;
  socklen_t length = address(&a);
  int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  if (fd < 0)
    die("making a socket");
  while (connect(fd, (struct sockaddr *)&a, length)) {
    if (errno != ECONNREFUSED && errno != EAGAIN)
      die("connecting");
    usleep(2000);
  }
  return fd;
}

__attribute__((unused)) static int listening_socket(void) {
  struct sockaddr_un a;
  socklen_t length = address(&a);
  int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  if (fd < 0 || bind(fd, (struct sockaddr *)&a, length) || listen(fd, 16))
    die("listening");
  return fd;
}

#endif
