// wait_*: every instruction on a cycle is part of a busy-wait.
// work_*: none is.
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

struct node { struct node *next; int v; };

atomic_int x;
volatile int flag;
volatile unsigned char byte_flag;
atomic_bool ready;
atomic_flag tas = ATOMIC_FLAG_INIT;
atomic_int lock_word;
atomic_long total;
atomic_uint next_ticket, serving;
pthread_spinlock_t spin;
volatile long counter;
int table[64];

void wait_load(int k) { while (atomic_load(&x) != k) {} }
void wait_acquire(void) { while (!atomic_load_explicit(&x, memory_order_acquire)) {} }
void wait_bool(void) { while (!atomic_load(&ready)) {} }
void wait_volatile(void) { while (!flag) {} }
void wait_byte(void) { while (!byte_flag) {} }
void wait_bit(int n) { while (!(flag & (1 << (n & 31)))) {} }
void wait_either(void) { while (!flag && atomic_load(&x) < 3) {} }
void wait_range(int lo, int hi) { int v; do v = atomic_load(&x); while (v < lo || v > hi); }
void wait_pause(void) { while (!atomic_load_explicit(&x, memory_order_acquire)) __builtin_ia32_pause(); }
void wait_pause_volatile(void) { while (!flag) __builtin_ia32_pause(); }
void wait_xchg(void) { while (atomic_exchange(&lock_word, 1)) {} }
void wait_tas(void) { while (atomic_flag_test_and_set(&tas)) {} }
void wait_cas(void) { int e = 0; while (!atomic_compare_exchange_strong(&lock_word, &e, 1)) e = 0; }
void wait_cas_weak(int id) { int e; do e = 0; while (!atomic_compare_exchange_weak(&lock_word, &e, id)); }
void wait_sync_cas(int *p) { while (!__sync_bool_compare_and_swap(p, 0, 1)) {} }
void wait_ttas(void) {
	for (;;) {
		while (atomic_load_explicit(&lock_word, memory_order_relaxed)) {}
		if (!atomic_exchange(&lock_word, 1))
			return;
	}
}
void wait_ttas_pause(void) {
	while (atomic_exchange(&lock_word, 1))
		while (atomic_load_explicit(&lock_word, memory_order_relaxed))
			__builtin_ia32_pause();
}
void wait_ticket(void) {
	unsigned me = atomic_fetch_add(&next_ticket, 1);
	while (atomic_load(&serving) != me) {}
}
void wait_pointer(atomic_int *p) { while (!atomic_load(p)) {} }
void wait_field(struct { int pad; _Atomic(void *) head; } *q) { while (!atomic_load(&q->head)) {} }
void wait_element(volatile int *a, int i) { while (a[i] == 0) {} }
void wait_fence(void) { while (!flag) atomic_thread_fence(memory_order_seq_cst); }
void publish(volatile int *);
void wait_local(void) {
	volatile int done = 0;
	publish(&done);
	while (!done) {}
}

long work_count(long n) { volatile long i; for (i = 0; i < n; i++) {} return i; }
long work_count_asm(long n) { long i; for (i = 0; i < n; i++) __asm__ volatile(""); return i; }
long work_global_counter(long n) { while (counter < n) counter++; return counter; }
long work_down(volatile long n) { while (n--) {} return n; }
long work_lcg(long x, long n) { for (long i = 0; i < n; i++) x = x * 3 + 1; return x; }
long work_collatz(long x) { long n = 0; while (x != 1) { x = x & 1 ? 3 * x + 1 : x / 2; n++; } return n; }
size_t work_strlen(const char *s) { const char *p = s; while (*p) { p++; __asm__ volatile(""); } return p - s; }
void work_copy(char *d, const char *s, size_t n) { while (n--) { *d++ = *s++; __asm__ volatile("" ::: "memory"); } }
int work_list(struct node *n) { int s = 0; while (n) { s += n->v; n = n->next; } return s; }
struct node *work_find(struct node *n, int v) { while (n && n->v != v) n = n->next; return n; }
int work_sum(const int *a, int n) { int s = 0; for (int i = 0; i < n; i++) s += a[i]; return s; }
int work_search(const volatile int *a, int v) { int i = 0; while (a[i] != v) i++; return i; }
void work_fill(volatile int *a, int n) { for (int i = 0; i < n; i++) a[i] = i; }
void work_atomic_add(int n) { for (int i = 0; i < n; i++) atomic_fetch_add(&total, 1); }
void work_increment(void) { int v; do v = atomic_load(&x); while (!atomic_compare_exchange_weak(&x, &v, v + 1)); }
void work_increment2(void) { int v = atomic_load(&x); while (!atomic_compare_exchange_weak(&x, &v, v + 1)) {} }
void work_push(_Atomic(struct node *) *head, struct node *n) {
	struct node *old = atomic_load(head);
	do n->next = old; while (!atomic_compare_exchange_weak(head, &old, n));
}
void callee(void);
void work_poll(void) { while (!flag) callee(); }
void work_bubble(int *a, int n) {
	for (int i = 0; i < n; i++)
		for (int j = 0; j + 1 < n; j++)
			if (a[j] > a[j + 1]) { int t = a[j]; a[j] = a[j + 1]; a[j + 1] = t; }
}
unsigned work_crc(const unsigned char *p, size_t n) {
	unsigned c = ~0u;
	while (n--) {
		c ^= *p++;
		for (int i = 0; i < 8; i++)
			c = c & 1 ? (c >> 1) ^ 0xedb88320u : c >> 1;
	}
	return c;
}
long work_clock(unsigned long until) { long n = 0; while (__builtin_ia32_rdtsc() < until) { n = flag; } return n; }
unsigned long work_clock_plain(unsigned long until) { unsigned long t; do t = __builtin_ia32_rdtsc(); while (t < until); return t; }
void work_heartbeat(volatile int *beat) { while (!flag) *beat = 1; }
double work_float(int n) { double s = 0; for (int i = 1; i <= n; i++) s += 1.0 / i; return s; }
long work_gcd(long a, long b) { while (b) { long t = a % b; a = b; b = t; } return a; }
// A worker: it waits, then works, forever. The work is no wait.
void mixed_worker(long *out) {
	long sum = 0;
	for (int i = 0; i < 1000; i++) {
		while (atomic_load(&x) != i)
			__builtin_ia32_pause();
		sum = sum * 31 + table[i & 63];
		*out = sum;
	}
}
