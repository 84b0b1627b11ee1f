/* Hardly runs, and never calls its function. */
#include <unistd.h>

__attribute__((noinline)) void never_called(void) { __asm__ volatile(""); }

int main(int argc, char **argv) {
  for (;;) {
    usleep(100000);
    if (argc > 100)
      never_called();
  }
}
