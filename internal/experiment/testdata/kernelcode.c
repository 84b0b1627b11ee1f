/* Work of the kernel's: mostly writing to a file in memory, three times from one function and once from
 * another; with "udp" packets to itself; with "tty" bytes through a terminal, which a thread of the kernel's
 * handles. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

#define SIZE (256 << 10)

static char bytes[SIZE];
static int file, terminal;

__attribute__((noinline)) void visited(void) { __asm__ volatile(""); }

static void check(int ok, const char *doing) {
  if (ok)
    return;
  perror(doing);
  exit(1);
}

__attribute__((noinline)) static void often(void) {
  for (int i = 0; i < 3; i++)
    check(pwrite(file, bytes, SIZE, 0) == SIZE, "writing"); // OFTEN
  __asm__ volatile("");
}

__attribute__((noinline)) static void rarely(void) {
  check(pwrite(file, bytes, SIZE, 0) == SIZE, "writing"); // RARELY
  __asm__ volatile("");
}

__attribute__((noinline)) static void packets(void) {
  for (int i = 0; i < 100; i++) {
    check(send(file, bytes, 1000, 0) == 1000, "sending"); // SENDS
    check(recv(file, bytes, sizeof bytes, 0) == 1000, "receiving");
  }
}

__attribute__((noinline)) static void through_terminal(void) {
  check(write(file, bytes, 2048) == 2048, "writing to the terminal");
  for (ssize_t n = 0, got; n < 2048; n += got)
    check((got = read(terminal, bytes, sizeof bytes)) > 0, "reading from the terminal");
}

static void open_udp(void) {
  struct sockaddr_in self = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof self;
  file = socket(AF_INET, SOCK_DGRAM, 0);
  check(file >= 0 && !bind(file, (struct sockaddr *)&self, size), "opening a socket");
  check(!getsockname(file, (struct sockaddr *)&self, &size) && !connect(file, (struct sockaddr *)&self, size), "connecting it");
}

static void open_terminal(void) {
  struct termios raw;
  file = posix_openpt(O_RDWR | O_NOCTTY);
  check(file >= 0 && !grantpt(file) && !unlockpt(file), "opening a terminal");
  terminal = open(ptsname(file), O_RDWR | O_NOCTTY);
  check(terminal >= 0 && !tcgetattr(terminal, &raw), "opening its other end");
  raw.c_lflag = 0;
  raw.c_iflag = ISTRIP; /* each byte is looked at */
  check(!tcsetattr(terminal, TCSANOW, &raw), "setting it up");
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  memset(bytes, 'x', sizeof bytes);
  if (!strcmp(what, "udp")) {
    open_udp();
  } else if (!strcmp(what, "tty")) {
    open_terminal();
  } else {
    file = memfd_create("written", 0);
    check(file >= 0 && !ftruncate(file, SIZE), "making a file in memory");
  }
  for (;;) {
    if (!strcmp(what, "udp")) {
      packets();
    } else if (!strcmp(what, "tty")) {
      through_terminal();
    } else {
      for (int i = 0; i < 20; i++) {
        often();
        rarely();
      }
    }
    visited();
  }
}
