/*
 * Two processes with a mutex and a condition in memory that they share, and room for four items. One works 0.6 ms an
 * item, the other 1 ms, the target.
 *
 * Truth: an item takes max(1-s, 0.6) ms: 25, 40, 40, 40.
 */
#include "../bench.h"
#include <sys/mman.h>

struct shared {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  int ready;
};

static struct shared *make(void) {
  struct shared *s = mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  pthread_mutexattr_t mutex;
  pthread_condattr_t cond;
  if (s == MAP_FAILED || pthread_mutexattr_init(&mutex) || pthread_condattr_init(&cond) ||
      pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED) ||
      pthread_condattr_setpshared(&cond, PTHREAD_PROCESS_SHARED) || pthread_mutex_init(&s->lock, &mutex) ||
      pthread_cond_init(&s->changed, &cond))
    die("sharing memory");
  return s;
}

/* Waits while the number of items is unlike, and adds n. */
static void add(struct shared *s, int unlike, int n) {
  pthread_mutex_lock(&s->lock);
  while (s->ready == unlike)
    pthread_cond_wait(&s->changed, &s->lock);
  s->ready += n;
  pthread_cond_signal(&s->changed);
  pthread_mutex_unlock(&s->lock);
}

int main(int argc, char **argv) {
  bench_init(argc, argv);
  struct shared *s = make();
  if (!fork_child())
    for (;;) {
      WORK(600 * US);
      add(s, 4, 1);
    }
  for (;;) {
    add(s, 0, -1);
    WORK(shrunk(1000 * US)); // TARGET
    visit();
  }
}
