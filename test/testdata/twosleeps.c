/* Two lines of one function sleep, one three times as long as the other, and two others do. */
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

__attribute__((noinline)) void visited(void) { __asm__ volatile(""); }

int main(void) {
  static const struct timespec one = {.tv_nsec = 1000000}, three = {.tv_nsec = 3000000};
  for (int i = 0; i < 300; i++) {
    usleep(1000); // SHORT
    usleep(3000); // LONG
    syscall(SYS_nanosleep, &one, 0); // SHORT CALL
    syscall(SYS_nanosleep, &three, 0); // LONG CALL
    visited();
  }
  return 0;
}
