/*
 * Spends its time in libraries without frame pointers, called from code without frame pointers.
 *
 *     stacks HOW LIBRARY    runs for SECONDS; LIBRARY is for dlopen
 *
 * All time of HOW belongs to the lines that are marked with its name. Some of these lines are in callbacks.
 */
#define _GNU_SOURCE
#include <alloca.h>
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#define SECONDS 0.6
#define KEEP __attribute__((noinline, noclone))
#define COUNT 20000

static volatile double sink;
static const char *library;
static int numbers[COUNT];
static char text[1 << 20], copy[1 << 20];

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t); // clock
  return t.tv_sec + t.tv_nsec / 1e9; // clock
}

static KEEP int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; } // qsort

static KEEP void use_qsort(void) {
  for (int i = 0; i < COUNT; i++) numbers[i] = i * 7919 % COUNT; // qsort
  qsort(numbers, COUNT, sizeof *numbers, compare); // qsort
}

static KEEP void use_memcpy(void) {
  for (int i = 0; i < 50; i++) memcpy(copy, text, sizeof text - (i & 15)); // memcpy
}

static KEEP void use_libm(void) {
  for (int i = 0; i < 20000; i++) sink = sin(i * 0.1) + exp(i * 1e-4) + pow(i, 0.3); // libm
}

static KEEP void use_deflate(void) {
  uLongf size = sizeof copy;
  compress2((Bytef *)copy, &size, (Bytef *)text, sizeof text / 4, 6); // deflate
}

static KEEP void use_printf(void) {
  for (int i = 0; i < 1000; i++) snprintf(copy, 64, "%.17g %d", i / 3.0, i); // printf
}

static KEEP void use_malloc(void) {
  static void *kept[500];
  for (int i = 0; i < 20000; i++) free(kept[i % 500]), kept[i % 500] = malloc(i * 37 % 5000 + 1); // malloc
}

static KEEP void map(void) {
  char *p = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0); // mmap
  munmap(p, 1 << 16); // mmap
}

static KEEP void use_mmap(void) {
  for (int i = 0; i < 100; i++) map(); // mmap
}

/* 200 frames, then libm. */
static KEEP double deep(int depth, double x) {
  if (depth == 0) {
    for (int i = 0; i < 20000; i++) x += sin(x); // deep
    return x;
  }
  return deep(depth - 1, x) + depth; // deep
}

static KEEP void use_deep(void) { sink = deep(200, 1); }

static KEEP void on_signal(int number) { // signal
  for (int i = 0; i < 20000; i++) sink = exp(i * 1e-4) * number; // signal
}

static KEEP void use_signal(void) {
  signal(SIGUSR1, on_signal); // signal
  raise(SIGUSR1); // signal
} // signal

static KEEP void use_alloca(void) {
  for (int n = 1; n < 50; n++) {
    char *p = alloca(n * 16);
    memset(p, n, n * 16);
    sink = p[n];
    for (int i = 0; i < 300; i++) sink = exp(i * 1e-3 + p[0]); // alloca
  }
}

/* gcc realigns the stack of this function, and keeps the address of its arguments in another register. */
static KEEP void use_realigned(void) {
  _Alignas(64) char buffer[256];
  char *p = alloca((int)sink % 2 + 64);
  memset(buffer, 1, sizeof buffer);
  p[0] = buffer[7];
  sink = p[0];
  for (int i = 0; i < 20000; i++) sink = exp(i * 1e-4 + buffer[i & 255]); // realigned
}

static KEEP void use_clock(void) {
  for (int i = 0; i < 20000; i++) sink = now(); // clock
}

static KEEP void use_dlopen(void) {
  void *handle = dlopen(library, RTLD_NOW);
  void (*spend)(void) = handle ? (void (*)(void))dlsym(handle, "spend") : NULL;
  if (!spend) {
    fprintf(stderr, "stacks: %s\n", dlerror());
    exit(1);
  }
  spend(); // dlopen
  dlclose(handle);
}

static KEEP void called_back(void) {
  for (int i = 0; i < 20000; i++) sink = exp(i * 1e-4); // jit
}

/* Code that is made at run time: it is in no file, and has frame pointers but no table. It loops, then calls back. */
static KEEP void use_jit(void) {
  static const unsigned char code[] = {
      0x55, 0x48, 0x89, 0xe5,       /* push %rbp; mov %rsp, %rbp */
      0xb9, 0x40, 0x0d, 0x03, 0x00, /* mov $200000, %ecx */
      0xff, 0xc9, 0x75, 0xfc,       /* 1: dec %ecx; jnz 1b */
      0xff, 0xd7, 0x5d, 0xc3,       /* call *%rdi; pop %rbp; ret */
  };
  static void (*made)(void (*)(void));
  if (!made) {
    void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(p, code, sizeof code);
    made = (void (*)(void (*)(void)))p;
  }
  made(called_back); // jit
}

/* A copy of the library, removed from the disk before its first sample. */
static KEEP void use_deleted(void) {
  static void (*spend)(void);
  char path[4096];
  if (!spend) {
    FILE *from = fopen(library, "r"), *to;
    snprintf(path, sizeof path, "%s.%d", library, getpid());
    to = fopen(path, "w");
    for (int c; (c = getc(from)) != EOF;)
      putc(c, to);
    fclose(from);
    fclose(to);
    void *handle = dlopen(path, RTLD_NOW);
    unlink(path);
    spend = (void (*)(void))dlsym(handle, "spend");
  }
  spend();
}

static KEEP void *in_thread(void *unused) {
  use_libm();
  return unused;
}

static KEEP void use_thread(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, in_thread, NULL); // libm
  pthread_join(thread, NULL); // libm
}

static const struct {
  const char *name;
  void (*use)(void);
} uses[] = {
    {"qsort", use_qsort},   {"memcpy", use_memcpy}, {"libm", use_libm},     {"deflate", use_deflate},
    {"printf", use_printf}, {"malloc", use_malloc}, {"mmap", use_mmap},     {"deep", use_deep},
    {"signal", use_signal}, {"alloca", use_alloca}, {"realigned", use_realigned}, {"clock", use_clock},
    {"dlopen", use_dlopen}, {"thread", use_thread},
    {"deleted", use_deleted}, {"jit", use_jit},
};

int main(int argc, char **argv) {
  double end = now() + SECONDS;
  library = argc > 2 ? argv[2] : NULL;
  for (size_t i = 0; i < sizeof text; i++)
    text[i] = "what if it were faster"[(i * i >> 7) % 22];
  for (size_t i = 0; argc > 1 && i < sizeof uses / sizeof *uses; i++)
    if (!strcmp(uses[i].name, argv[1])) {
      while (now() < end)
        uses[i].use();
      return 0;
    }
  fprintf(stderr, "usage: stacks HOW LIBRARY\n");
  return 2;
}
