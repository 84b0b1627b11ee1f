/*
 * One thread writes under a sequence lock, 0.3 ms, the target, and computes 0.6 ms. Another waits until there is no
 * writing, reads for 0.2 ms, reads again if there was a write meanwhile, and computes 0.05 ms.
 *
 * Truth: two reads fit between two writes, and a third is always begun in vain: a visit takes (0.9 - 0.3s)/2 ms: 8, 17,
 * 25, 33. A thread that is stopped while it reads nearly always has to read again. That looks like work, and nothing
 * tells that it waits.
 */
#include "../bench.h"

static unsigned sequence;

static void *writer(void *unused) {
  pin(1);
  for (;;) {
    __atomic_add_fetch(&sequence, 1, __ATOMIC_SEQ_CST);
    WORK(shrunk(300 * US)); // TARGET
    __atomic_add_fetch(&sequence, 1, __ATOMIC_SEQ_CST);
    WORK(600 * US);
  }
  return unused;
}

int main(int argc, char **argv) {
  bench_init(argc, argv);
  pthread_t thread;
  pthread_create(&thread, NULL, writer, NULL);
  pin(0);
  for (;;) {
    unsigned begun;
    do {
      while ((begun = __atomic_load_n(&sequence, __ATOMIC_SEQ_CST)) & 1)
        __builtin_ia32_pause();
      WORK(200 * US);
    } while (__atomic_load_n(&sequence, __ATOMIC_SEQ_CST) != begun);
    WORK(50 * US);
    visit();
  }
}
