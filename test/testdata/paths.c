/*
 * paths N [COMMAND...]     visits N times, about every half a millisecond, then has a shell run each command
 *
 * It exits with 1 if one of them fails.
 */
#include <stdlib.h>
#include <unistd.h>

__attribute__((noinline)) void visited(void) { __asm__ volatile(""); }

int main(int argc, char **argv) {
  for (long n = atol(argv[1]); n > 0; n--) {
    visited();
    usleep(500);
  }
  for (int i = 2; i < argc; i++)
    if (system(argv[i]))
      return 1;
  return 0;
}
