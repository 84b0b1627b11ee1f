/* Makes the kernel work. Mostly it writes to a file in memory, three times from one function, once from another; with
 * "udp" it sends packets to itself. The kernel's threads work for it with "tty" (bytes through a terminal), with "ring"
 * (one of io_uring's workers writes), and with "writeback" (pages are written to the disk). */
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

#include "ring.h"

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

/* The request asks for a worker. */
__attribute__((noinline)) static void through_ring(void) {
  ++*ring.tail;
  check(syscall(SYS_io_uring_enter, ring.fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) == 1, "waiting for the ring");
  check(ring.answers[*ring.taken & ring.mask].res == SIZE, "writing by the ring");
  ++*ring.taken;
}

/* The flusher writes, and the caller waits. */
__attribute__((noinline)) static void through_flusher(void) {
  for (int i = 0; i < 16; i++)
    check(pwrite(file, bytes, SIZE, (off_t)i * SIZE) == SIZE, "writing");
  check(!syncfs(file), "having it written");
}

static void open_memory(void) {
  file = memfd_create("written", 0);
  check(file >= 0 && !ftruncate(file, SIZE), "making a file in memory");
}

static void open_ring(void) {
  struct io_uring_sqe *request = make_ring();
  check(request != NULL, "making a ring");
  open_memory();
  *request = (struct io_uring_sqe){.opcode = IORING_OP_WRITE, .flags = IOSQE_ASYNC, .fd = file, .addr = (unsigned long)bytes, .len = SIZE};
}

static void open_disk(void) {
  char name[] = "/var/tmp/kernelcode.XXXXXX";
  file = mkstemp(name);
  check(file >= 0 && !unlink(name), "making a file on the disk");
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

static void write_in_memory(void) {
  for (int i = 0; i < 20; i++) {
    often();
    rarely();
  }
}

static const struct {
  const char *name;
  void (*open)(void), (*work)(void);
} kinds[] = {
    {"", open_memory, write_in_memory},     {"udp", open_udp, packets},
    {"tty", open_terminal, through_terminal}, {"ring", open_ring, through_ring},
    {"writeback", open_disk, through_flusher},
};

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  memset(bytes, 'x', sizeof bytes);
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    if (strcmp(what, kinds[i].name))
      continue;
    kinds[i].open();
    for (;;) {
      kinds[i].work();
      visited();
    }
  }
  return 2;
}
