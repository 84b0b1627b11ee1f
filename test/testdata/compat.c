/*
 * Calls writev 7 times, then getpid 1000 times by the kernel's entry for 32-bit programs, where
 * getpid has writev's number. Prints "no entry" where the kernel has no such entry.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static sigjmp_buf out;

static void refused(int signal) {
  (void)signal;
  siglongjmp(out, 1);
}

static long by_other_entry(long number) {
  long result;
  __asm__ volatile("int $0x80" : "=a"(result) : "a"(number) : "memory", "r8", "r9", "r10", "r11");
  return result;
}

int main(void) {
  signal(SIGSEGV, refused);
  if (sigsetjmp(out, 1) || by_other_entry(SYS_writev) != getpid()) {
    puts("no entry");
    return 0;
  }
  for (int i = 1; i < 1000; i++)
    by_other_entry(SYS_writev);
  for (int i = 0; i < 7; i++)
    if (writev(STDOUT_FILENO, NULL, 0) != 0)
      return 1;
  return 0;
}
