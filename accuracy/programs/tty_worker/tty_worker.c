/*
 * One thread sends bytes through a terminal and waits for them at its other end, then computes 0.5 ms. What comes between
 * is done by a thread of the kernel's: the target is its n_tty_receive_buf_common, which looks at each byte.
 *
 * Truth: by fewer bytes, but always one, so that everyone wakes up as often. What the kernel's thread takes for
 * one is for the kernel to decide: measured.
 */
#include "../bench.h"
#include <fcntl.h>
#include <termios.h>

#define BYTES 2048

int main(int argc, char **argv) {
  static char bytes[BYTES + 1];
  struct termios raw;
  bench_init(argc, argv);
  int in = posix_openpt(O_RDWR | O_NOCTTY);
  if (in < 0 || grantpt(in) || unlockpt(in))
    die("opening a terminal");
  int out = open(ptsname(in), O_RDWR | O_NOCTTY);
  if (out < 0 || tcgetattr(out, &raw))
    die("opening its other end");
  raw.c_lflag = 0;
  raw.c_iflag = ISTRIP; /* or it does not look at them */
  if (tcsetattr(out, TCSANOW, &raw))
    die("setting the terminal up");
  memset(bytes, 'x', sizeof bytes);
  pin(0);
  ssize_t n = shrunk(BYTES) + 1;
  for (;;) {
    for (int i = 0; i < 20; i++) {
      if (write(in, bytes, (size_t)n) != n) // TARGET
        die("writing to the terminal");
      for (ssize_t all = 0, got; all < n; all += got)
        if ((got = read(out, bytes, sizeof bytes)) <= 0)
          die("reading from the terminal");
    }
    WORK(500 * US);
    visit();
  }
}
