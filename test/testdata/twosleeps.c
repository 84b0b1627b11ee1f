/* Two lines of one function sleep, one three times as long as the other. */
#include <unistd.h>

__attribute__((noinline)) void visited(void) { __asm__ volatile(""); }

int main(void) {
  for (int i = 0; i < 400; i++) {
    usleep(1000); // SHORT
    usleep(3000); // LONG
    visited();
  }
  return 0;
}
