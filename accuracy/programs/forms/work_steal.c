/*
 * One thread puts forty tasks of 0.1 ms into its own deque and does them from one end; every fourth has another 0.2 ms
 * of work, the target. A second thread steals from the other end, and when there is nothing polls again after 50 us.
 * When all are done the first thread computes 1 ms.
 *
 * Truth: forty tasks are 6 ms of two processors, then 1 ms, of 4 ms in all: 6, 12.5, 19, 25.
 */
#include "../bench.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int bottom, top, undone;

static int task(int stolen) {
  int taken = -1;
  pthread_mutex_lock(&mutex);
  if (top < bottom)
    taken = stolen ? top++ : --bottom;
  pthread_mutex_unlock(&mutex);
  return taken;
}

static void run(int which) {
  WORK(100 * US);
  if (which % 4 == 0)
    WORK(shrunk(200 * US)); // TARGET
  __atomic_sub_fetch(&undone, 1, __ATOMIC_ACQ_REL);
}

static void *thief(void *unused) {
  for (;;) {
    int which = task(1);
    if (which < 0)
      SLEEP_US(50);
    else
      run(which);
  }
  return unused;
}

int main(int argc, char **argv) {
  bench_init(argc, argv);
  pthread_t thread;
  pthread_create(&thread, NULL, thief, NULL);
  for (;;) {
    pthread_mutex_lock(&mutex);
    top = 0;
    bottom = undone = 40;
    pthread_mutex_unlock(&mutex);
    for (int which; (which = task(0)) >= 0;)
      run(which);
    while (__atomic_load_n(&undone, __ATOMIC_ACQUIRE))
      sched_yield();
    WORK(1000 * US);
    visit();
  }
}
