/*
 * A server with an open loop. Requests come by the clock, whatever has become of earlier ones, and wait in a queue. One
 * thread serves them, in 2 ms on average, of which 1.4 are the target. The times between them are random, and the same
 * in each run. The server is busy for two thirds of the time.
 *
 * Truth: as many requests come as before, so throughput stays, but they wait for less. In a queue at a utilisation of
 * 0.65 with a service time of S (1 - 0.7 s) they wait far less than that: by the formula of Pollaczek and Khinchine the
 * mean latency falls by about 30, 52, 68 and 79%.
 *
 * -DTWO: twice as many requests, and two threads that serve them.
 */
#include "../bench.h"
#include <pthread.h>

#ifdef TWO
#define SERVERS 2
#else
#define SERVERS 1
#endif
#define GAP_US 4000.0 /* between two requests, on average */
#define WAITING 4096

static struct {
  pthread_mutex_t mutex;
  pthread_cond_t filled;
  unsigned long first, last;
} queue = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0};

static struct {
  int64_t came;
  int kind;
} requests[WAITING];

/* The latency's two points have the request as their argument. It identifies the request while it is in the system. */
__attribute__((noinline, noclone)) static void request_begin(long request) {
  __asm__ volatile("# begin" : : "r"(request)); /* another text, or the compiler merges the two functions */
}

__attribute__((noinline, noclone)) static void request_end(long request) { __asm__ volatile("# end" : : "r"(request)); }

static double uniform(uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return ((double)(*state >> 11) + 0.5) / 9007199254740992.0;
}

/* The natural logarithm of 0 to 1 without a library: by the exponent, and a series in (m-1)/(m+1). */
static double logarithm(double x) {
  int halves = 0;
  while (x < 0.5) {
    x *= 2;
    halves++;
  }
  double y = (x - 1) / (x + 1), sum = 0, power = y;
  for (int k = 1; k < 40; k += 2) {
    sum += power / k;
    power *= y * y;
  }
  return 2 * sum - halves * 0.6931471805599453;
}

static void *serve(void *unused) {
  for (;;) {
    pthread_mutex_lock(&queue.mutex);
    while (queue.first == queue.last)
      pthread_cond_wait(&queue.filled, &queue.mutex);
    unsigned long n = queue.first++;
    pthread_mutex_unlock(&queue.mutex);
    int64_t came = requests[n % WAITING].came;
    int kind = requests[n % WAITING].kind;
    WORK((300 + 300 * kind) * US);
    WORK(shrunk((600 + 900 * kind) * US)); // TARGET
    request_end((long)n);
    answered(monotonic_ns() - came);
  }
  return unused;
}

int main(int argc, char **argv) {
  bench_init(argc, argv);
  pthread_t threads[SERVERS];
  for (int i = 0; i < SERVERS; i++)
    pthread_create(&threads[i], NULL, serve, NULL);
  uint64_t state = 88172645463325252u;
  for (unsigned long n = 0;; n++) {
    double gap = -logarithm(uniform(&state)) * GAP_US / SERVERS;
    struct timespec t = {0, (long)(1000 * gap)};
    nanosleep(&t, NULL);
    int kind = uniform(&state) < 0.5;
    pthread_mutex_lock(&queue.mutex);
    if (n - queue.first >= WAITING)
      die("serving as many requests as come");
    requests[n % WAITING].came = monotonic_ns();
    requests[n % WAITING].kind = kind;
    request_begin((long)n);
    queue.last = n + 1;
    pthread_cond_signal(&queue.filled);
    pthread_mutex_unlock(&queue.mutex);
  }
}
