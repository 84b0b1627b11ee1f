/* Uses COZ's macros, and leaves a process behind in another session. When the file of the first argument exists, that
 * process runs another program, which writes its mappings to the second argument's file, its errors to the third's. */
#include <coz.h>
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static void nap(void) {
  nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

static int survive(char **argv) {
  int nothing = open("/dev/null", O_RDWR); // else a reader of the program's output would wait for this process, too
  if (setsid() < 0 || dup2(nothing, 0) < 0 || dup2(nothing, 1) < 0 || dup2(nothing, 2) < 0)
    return 1;
  for (int naps = 0; access(argv[1], F_OK) != 0; naps++) {
    if (naps > 60000)
      return 1;
    nap();
  }
  int out = open(argv[2], O_WRONLY | O_CREAT | O_TRUNC, 0666);
  int err = open(argv[3], O_WRONLY | O_CREAT | O_TRUNC, 0666);
  if (out < 0 || err < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0)
    return 1;
  execl("/bin/cat", "cat", "/proc/self/maps", "/no/such/file", NULL);
  return 1;
}

int main(int argc, char **argv) {
  if (argc != 4)
    return 2;
  if (fork() == 0)
    _exit(survive(argv));
  for (;;) {
    COZ_PROGRESS_NAMED("done");
    nap();
  }
}
