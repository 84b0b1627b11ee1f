/*
 * Sleeps in short turns until SIGTERM comes. Then it starts a child and ends with status 9. As a shell does, it catches
 * the signal, and its child undoes that only a moment after the fork: a signal that comes before is lost. The child
 * goes on for some minutes, if nobody ends it.
 */
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static volatile sig_atomic_t told;

static void on_term(int sig) { told = 1; }

int main(void) {
  struct sigaction catch = {.sa_handler = on_term}; /* system calls are not restarted */
  sigaction(SIGTERM, &catch, NULL);
  while (!told)
    usleep(20000);
  pid_t child = fork();
  if (child) {
    printf("%d\n", child);
    return 9;
  }
  told = 0;
  usleep(20000);
  signal(SIGTERM, SIG_DFL);
  for (int i = 0; i < 15000; i++)
    usleep(20000);
}
