// wait_* contains a wait, work_* does not.
#define _GNU_SOURCE
#include <sched.h>
#include <stdatomic.h>

atomic_int turn;
volatile int flag;
volatile long total;

int relax(void) { return sched_yield(); }
void relax_and_add(void) { sched_yield(); total += 3; }
void relax_and_wake(void) { sched_yield(); atomic_fetch_add(&turn, 3); }
int relax_and_count(void) { sched_yield(); return ++flag; }

void wait_turn(int mine) { while (atomic_load_explicit(&turn, memory_order_acquire) != mine) sched_yield(); }
void wait_flag(void) { while (!flag) sched_yield(); }
void wait_either(void) { do sched_yield(); while (!flag && atomic_load(&turn) < 3); }
void wait_lock(void) { while (atomic_exchange(&turn, 1)) sched_yield(); }
void wait_wrapped(void) { while (!flag) relax(); }

/* Work that yields the core now and then. */
unsigned long work_politely(unsigned long x, int n) {
  for (int i = 0; i < n; i++) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    sched_yield();
  }
  return x;
}
void work_counts(void) { while (!flag) { sched_yield(); total++; } }
void work_calls(void) { while (!flag) relax_and_count(); }
void work_adds(void) { while (!flag) relax_and_add(); }
void work_wakes(void) { while (!flag) relax_and_wake(); }
static void (*hook)(void) = (void (*)(void))relax;
void set_hook(void) { hook = relax_and_add; }
void work_hook(void) { while (!flag) hook(); }
void work_either(int a) {
  void (*f)(void) = relax_and_add;
  if (__builtin_expect(a, 1)) f = (void (*)(void))sched_yield;
  else sched_getcpu();
  while (!flag) f();
}
void work_other(void) { while (!flag) sched_getcpu(); }

int main(void) { return 0; }
