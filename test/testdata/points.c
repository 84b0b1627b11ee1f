/*
 * Progress points in the source where they are hard to count.
 *
 *     points HOW... [LIBRARY...]
 *
 * One after the other. With exec the program goes on as another one, and libraries takes what comes
 * after it: both can only come last.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "whatif.h"

static void must(int ok, const char *what) {
  if (ok)
    return;
  perror(what);
  exit(1);
}

static void visits(long n) {
  while (n-- > 0)
    WHATIF_PROGRESS("visited");
}

static void *visit(void *n) {
  visits((long)n);
  return NULL;
}

static void *forever(void *unused) {
  pause();
  return unused;
}

/* Children visit 1000 times in two threads, and are killed. */
static void killed(int n) {
  while (n-- > 0) {
    int status;
    pid_t pid = fork();
    must(pid >= 0, "fork");
    if (pid == 0) {
      pthread_t t;
      must(pthread_create(&t, NULL, visit, (void *)600) == 0, "a thread");
      visits(400);
      pthread_join(t, NULL);
      kill(getpid(), SIGKILL);
    }
    must(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status), "a child");
  }
}

/* A thread that is not the process's first executes another program. */
static void *exec(void *self) {
  visits(100);
  execl(self, self, "rest", (char *)NULL);
  exit(1);
}

static void threads_exec(void) {
  pthread_t a, b;
  visits(100);
  must(pthread_create(&a, NULL, forever, NULL) == 0, "a thread");
  must(pthread_create(&b, NULL, exec, "/proc/self/exe") == 0, "a thread");
  pthread_join(b, NULL);
}

/* A process forks while its other threads visit all the time. */
static volatile int stop;

static void *busy(void *n) {
  while (!stop) {
    visits(1);
    ++*(long *)n;
  }
  return NULL;
}

static void busy_forks(void) {
  pthread_t t[2];
  long n[2] = {0, 0}, children = 0;
  for (int i = 0; i < 2; i++)
    must(pthread_create(&t[i], NULL, busy, &n[i]) == 0, "a thread");
  for (int i = 0; i < 50; i++) {
    pid_t pid = fork();
    must(pid >= 0, "fork");
    if (pid == 0) {
      visits(10);
      _exit(0);
    }
    children += 10;
    must(waitpid(pid, NULL, 0) == pid, "a child");
  }
  stop = 1;
  for (int i = 0; i < 2; i++)
    pthread_join(t[i], NULL);
  printf("visits %ld\n", n[0] + n[1] + children);
  fflush(stdout);
}

/* Loads libraries together. Each visits 250 times before whatif has had time to look at it, and 250 times after. */
static void libraries(char **paths) {
  void *lib[16];
  int n = 0;
  for (; n < 16 && paths[n]; n++) {
    lib[n] = dlopen(paths[n], RTLD_NOW | RTLD_LOCAL);
    if (!lib[n]) {
      fprintf(stderr, "%s\n", dlerror());
      exit(1);
    }
  }
  for (int twice = 0; twice < 2; twice++) {
    for (int i = 0; i < n; i++) {
      void (*work)(int);
      *(void **)&work = dlsym(lib[i], "work");
      work(250);
    }
    for (clock_t begin = clock(); clock() - begin < CLOCKS_PER_SEC / 4;)
      ;
  }
}

/* Gives the program several pages of code. */
__asm__(".pushsection .text\npadding: .zero 65536, 0x90\n.popsection");
extern char padding[];

/* Splits the mapping of the program's code into several, and maps more code, which makes whatif look again. */
static void split(void) {
  char *page = (char *)(((uintptr_t)padding + 32768) & -4096);
  for (int twice = 0; twice < 2; twice++) {
    visits(500);
    for (clock_t begin = clock(); clock() - begin < CLOCKS_PER_SEC / 4;)
      ;
    must(mlock(page, 4096) == 0, "a page that stays");
    must(mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED, "code");
  }
}

int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    const char *how = argv[i];
    if (strcmp(how, "killed") == 0)
      killed(20);
    else if (strcmp(how, "exec") == 0)
      threads_exec();
    else if (strcmp(how, "rest") == 0)
      visits(100);
    else if (strcmp(how, "busyforks") == 0)
      busy_forks();
    else if (strcmp(how, "libraries") == 0) {
      libraries(argv + i + 1);
      return 0;
    } else if (strcmp(how, "split") == 0)
      split();
    else
      return 2;
  }
  return argc < 2;
}
