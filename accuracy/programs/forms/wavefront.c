/*
 * Four workers take cells of a grid of 6 by 6 from a list, under a lock with one condition. A cell is in the list when
 * its neighbours above and to the left are done. A cell takes 0.3 ms, and on the diagonal 0.8 ms more, the target. A
 * grid is a visit.
 *
 * Truth: measured only.
 */
#include "../bench.h"

#define SIDE 6
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int missing[SIDE * SIDE], list[SIDE * SIDE], listed, left;

static void begin(void) {
  for (int k = 0; k < SIDE * SIDE; k++)
    missing[k] = (k % SIDE > 0) + (k / SIDE > 0);
  left = SIDE * SIDE;
  list[listed++] = 0;
}

static void met(int cell) {
  if (!--missing[cell])
    list[listed++] = cell;
}

static void *worker(void *unused) {
  pthread_mutex_lock(&lock);
  for (;;) {
    while (!listed)
      pthread_cond_wait(&changed, &lock);
    int cell = list[--listed];
    pthread_mutex_unlock(&lock);
    WORK(300 * US);
    if (cell % SIDE == cell / SIDE)
      WORK(shrunk(800 * US)); // TARGET
    pthread_mutex_lock(&lock);
    if (cell % SIDE < SIDE - 1)
      met(cell + 1);
    if (cell / SIDE < SIDE - 1)
      met(cell + SIDE);
    if (!--left) {
      begin();
      visit();
    }
    pthread_cond_broadcast(&changed);
  }
  return unused;
}

int main(int argc, char **argv) {
  bench_init(argc, argv);
  begin();
  for (int k = 0; k < 3; k++) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, worker, NULL))
      die("starting");
  }
  worker(NULL);
}
