/*
 * Fork and exec, RATE a second, 4 children alive at a time, of this same file, a position-independent
 * executable: it is loaded at another address each time. Each child works on one line for a while and visits
 * once; it says through a pipe where it was loaded.
 *
 *     execs RATE SECONDS [vfork]    with vfork the child visits before its exec too
 */
#include "scale.h"

static int child(int fd) {
  uintptr_t here = (uintptr_t)&child;
  WORK(300 * US); // TARGET
  progress_done();
  return write(fd, &here, sizeof here) == sizeof here ? 0 : 1;
}

/* A visit in the child of a vfork, which runs in its parent's memory. */
static pid_t vfork_exec(char **args) {
  pid_t pid = vfork();
  if (pid < 0)
    die("forking");
  if (pid == 0) {
    progress_done();
    execv("/proc/self/exe", args);
    _exit(1);
  }
  return pid;
}

static pid_t fork_exec(char **args) {
  pid_t pid = fork_child();
  if (pid == 0) {
    execv("/proc/self/exe", args);
    _exit(1);
  }
  return pid;
}

/* Takes one child's address: the layouts that have been seen, and how many are different. */
static int is_new(uintptr_t address) {
  enum { SLOTS = 1 << 18 };
  static uintptr_t seen[SLOTS];
  static long used;
  size_t i = (address >> 12) * 0x9e3779b97f4a7c15u % SLOTS;
  for (; seen[i]; i = (i + 1) % SLOTS)
    if (seen[i] == address)
      return 0;
  if (used++ > SLOTS / 2)
    return 0; /* enough to know */
  seen[i] = address;
  return 1;
}

static int collect(int fd, pid_t pid) {
  uintptr_t address = 0;
  reap(pid);
  if (read(fd, &address, sizeof address) != sizeof address)
    die("reading a child's address");
  return is_new(address);
}

int main(int argc, char **argv) {
  double rate, seconds;
  pid_t alive[4];
  int fds[2];
  char fd[16];
  long n = 0, layouts = 0;
  if (argc == 3 && strcmp(argv[1], "child") == 0)
    return child(atoi(argv[2]));
  scale_init(argc, argv, &rate, &seconds);
  int vforks = argc > 3;
  if (pipe(fds))
    die("making a pipe");
  snprintf(fd, sizeof fd, "%d", fds[1]);
  char *args[] = {argv[0], "child", fd, NULL};
  for (; elapsed() < seconds; n++) {
    pace(rate, n);
    if (n >= 4)
      layouts += collect(fds[0], alive[n % 4]);
    alive[n % 4] = vforks ? vfork_exec(args) : fork_exec(args);
  }
  for (long i = n > 4 ? n - 4 : 0; i < n; i++)
    layouts += collect(fds[0], alive[i % 4]);
  report(vforks ? 2 * n : n);
  printf("layouts %ld\n", layouts);
}
