/*
 * elsewhere: programs with another bottleneck on another machine.
 *
 *     elsewhere CASE PERCENT SECONDS    visits as programs of bench.h do, with CASE's target shrunk
 *     elsewhere serve PORT              answers at PORT of loopback, outside of what is profiled
 *
 * The other machine is made by doing more: of each class of time as much as takes 1/ratio as long
 * here. ON_CPU, ON_DISK and ON_NET are the ratios. The server and threads that read pages wait
 * longer, and threads repeat their work. What cannot be multiplied, such as the processor's time
 * for a system call, stays as it is.
 *
 * With NET_BYTES the server answers at once, with so many bytes for each millisecond that it would
 * have waited: for a loopback with a slow queue (tbf).
 */
#include "../../programs/bench.h"
#include "../../programs/pages.h"
#include "../../programs/queue.h"
#include <arpa/inet.h>
#include <math.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

static double on_cpu = 1, on_disk = 1, on_net = 1;
static long net_bytes;
static int port;

static double ratio(const char *name) {
  const char *text = getenv(name);
  return text ? atof(text) : 1;
}

/* So many microseconds of work, and so many repetitions, as they are on the machine. */
#define CPU(us) ((long)((double)((us) * US) / on_cpu))
#define TIMES(n) (lround((double)(n) / on_cpu))

static int64_t clock_of(clockid_t which) {
  struct timespec t;
  clock_gettime(which, &t);
  return t.tv_sec * 1000000000L + t.tv_nsec;
}

/* Of reading a page the processor's time, and the time until the thread runs again: both in ns. */
static int64_t page_cpu, wake_late;

static void sleep_until(int64_t at) {
  struct timespec t = {at / 1000000000L, at % 1000000000L};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
    ;
}

/* Measures what a slower disk leaves as it is. */
static void measure_reading(void) {
  enum { TIMES = 200 };
  int64_t used = clock_of(CLOCK_THREAD_CPUTIME_ID);
  prctl(PR_SET_TIMERSLACK, 1);
  for (int i = 0; i < TIMES; i++)
    if (READ_PAGE() != sizeof page)
      die("reading");
  page_cpu = (clock_of(CLOCK_THREAD_CPUTIME_ID) - used) / TIMES;
  for (int i = 0; i < TIMES; i++) {
    int64_t at = clock_of(CLOCK_MONOTONIC) + 50000;
    sleep_until(at);
    wake_late += (clock_of(CLOCK_MONOTONIC) - at) / TIMES;
  }
}

/* Lets the wait of a read that has begun then be as long as it is on the machine. */
static void disk_waits(int64_t began) {
  if (on_disk == 1)
    return;
  int64_t now = clock_of(CLOCK_MONOTONIC), waited = now - began - page_cpu - wake_late;
  if (waited > 0)
    sleep_until(now + (int64_t)((double)waited * (1 / on_disk - 1)) - wake_late);
}

struct request {
  int32_t us, bytes;
};

static int connection(void) {
  struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;
  a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof a))
    die("connecting");
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  return fd;
}

static void whole(int fd, void *to, size_t n) {
  if (recv(fd, to, n, MSG_WAITALL) != (ssize_t)n)
    die("receiving");
}

/* Asks the server for something that takes it so many microseconds here. */
static void ask(int fd, long us) {
  static __thread char answer[1 << 18];
  struct request r = {(int32_t)((double)us / on_net), 4};
  if (net_bytes)
    r = (struct request){0, (int32_t)(net_bytes * us / 1000)};
  if (send(fd, &r, sizeof r, 0) != sizeof r)
    die("sending");
  whole(fd, answer, (size_t)r.bytes);
}

static void *answering(void *fd) {
  static char answer[1 << 18];
  struct request r;
  prctl(PR_SET_TIMERSLACK, 1);
  while (recv((int)(intptr_t)fd, &r, sizeof r, MSG_WAITALL) == sizeof r) {
    SLEEP_US(r.us);
    if (send((int)(intptr_t)fd, answer, (size_t)r.bytes, MSG_NOSIGNAL) != r.bytes)
      break;
  }
  close((int)(intptr_t)fd);
  return NULL;
}

static void thread(void *(*run)(void *), void *argument) {
  pthread_t t;
  if (pthread_create(&t, NULL, run, argument))
    die("starting a thread");
}

static void serve(void) {
  struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;
  a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof a) || listen(fd, 16))
    die("listening");
  for (;;) {
    int client = accept(fd, NULL, NULL);
    setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    thread(answering, (void *)(intptr_t)client);
  }
}

/* Two matrices of N x N, decomposed again and again from the same values. */
#define N 40
static double origin[N][N];

static void make_matrix(void) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      origin[i][j] = i == j ? N + 1 : 1.0 / (1 + i + j);
}

static __attribute__((noinline)) void decompose_lu(long times) {
  static double a[N][N];
  for (; times > 0; times--) {
    memcpy(a, origin, sizeof a);
    for (int k = 0; k < N; k++)
      for (int i = k + 1; i < N; i++) {
        a[i][k] /= a[k][k];
        for (int j = k + 1; j < N; j++)
          a[i][j] -= a[i][k] * a[k][j];
      }
    __asm__ volatile("" : : "r"(a) : "memory");
  }
}

static __attribute__((noinline)) void decompose_cholesky(long times) {
  static double a[N][N];
  for (; times > 0; times--) {
    memcpy(a, origin, sizeof a);
    for (int j = 0; j < N; j++) {
      for (int k = 0; k < j; k++)
        a[j][j] -= a[j][k] * a[j][k];
      a[j][j] = sqrt(a[j][j]);
      for (int i = j + 1; i < N; i++) {
        for (int k = 0; k < j; k++)
          a[i][j] -= a[i][k] * a[j][k];
        a[i][j] /= a[j][j];
      }
    }
    __asm__ volatile("" : : "r"(a) : "memory");
  }
}

/* STREAM's triad, over arrays that no cache holds. */
static __attribute__((noinline)) void stream(long times) {
  enum { PART = 64 * 1024, PARTS = 128 };
  static double *a, *b, *c;
  static int at;
  if (!a) {
    a = calloc(PART * PARTS, sizeof *a);
    b = calloc(PART * PARTS, sizeof *b);
    c = calloc(PART * PARTS, sizeof *c);
    if (!a || !b || !c)
      die("allocating");
    memset(b, 1, PART * PARTS * sizeof *b), memset(c, 1, PART * PARTS * sizeof *c);
  }
  for (; times > 0; times--, at = (at + 1) % PARTS)
    for (long i = (long)at * PART; i < (long)(at + 1) * PART; i++)
      a[i] = b[i] + 3 * c[i];
}

static pthread_barrier_t both;
static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;

static void meet(void) { pthread_barrier_wait(&both); }

/* The other thread of cases in which two meet. */
static void *cholesky(void *unused) {
  for (;; meet())
    decompose_cholesky(TIMES(55));
  return unused;
}

static void *streaming(void *unused) {
  for (;; meet())
    stream(TIMES(4));
  return unused;
}

static void *asking(void *us) {
  for (int fd = connection();; meet())
    ask(fd, (intptr_t)us);
  return NULL;
}

static void *computing(void *us) {
  for (;; meet())
    WORK(CPU((intptr_t)us));
  return NULL;
}

static void *sleeping(void *us) {
  for (;; meet())
    SLEEP_US((intptr_t)us);
  return NULL;
}

static void with_lu(void *(*other)(void *), long us) {
  thread(other, (void *)us);
  for (;; visit()) {
    decompose_lu(TIMES(shrunk(100)));
    meet();
  }
}

static void lu_cholesky(void) { with_lu(cholesky, 0); }
static void lu_stream(void) { with_lu(streaming, 0); }
static void lu_net(void) { with_lu(asking, 1500); }

static void disk_compute(void) {
  thread(computing, (void *)3000);
  for (;; visit()) {
    for (long n = shrunk(32); n > 0; n--) {
      int64_t began = clock_of(CLOCK_MONOTONIC);
      if (READ_PAGE() != sizeof page) // TARGET disk_compute
        die("reading");
      disk_waits(began);
    }
    meet();
  }
}

/* For a disk that is really limited: limits count for a tenth of a second. */
static void disk_limited(void) {
  thread(computing, (void *)250000);
  for (;; visit()) {
    for (long n = shrunk(120); n > 0; n--)
      if (READ_PAGE() != sizeof page) // TARGET disk_limited
        die("reading");
    meet();
  }
}

static void two_nets(void) {
  thread(asking, (void *)2000);
  int fd = connection();
  for (;; visit()) {
    WORK(CPU(shrunk(1200))); // TARGET two_nets
    ask(fd, 1000);
    meet();
  }
}

static struct queue first = QUEUE(8), second = QUEUE(8);

static void *stage_computes(void *unused) {
  for (;;) {
    WORK(CPU(1500));
    queue_put(&first);
  }
  return unused;
}

static void *stage_reads(void *unused) {
  for (;;) {
    queue_get(&first);
    for (long n = shrunk(16); n > 0; n--) {
      int64_t began = clock_of(CLOCK_MONOTONIC);
      if (READ_PAGE() != sizeof page) // TARGET pipeline
        die("reading");
      disk_waits(began);
    }
    queue_put(&second);
  }
  return unused;
}

static void pipeline(void) {
  thread(stage_computes, NULL);
  thread(stage_reads, NULL);
  for (int fd = connection();; visit()) {
    queue_get(&second);
    ask(fd, 1200);
  }
}

static void *writer(void *unused) {
  for (;; visit()) {
    WORK(CPU(shrunk(1500))); // TARGET lock_disk
    pthread_mutex_lock(&one);
    for (long n = 0; n < 4; n++)
      if (pwrite(file, page, sizeof page, n * 4096) != sizeof page)
        die("writing");
    pthread_mutex_unlock(&one);
  }
  return unused;
}

static void lock_disk(void) {
  thread(writer, NULL);
  thread(writer, NULL);
  writer(NULL);
}

static void sleep_compute(void) {
  thread(sleeping, (void *)3000);
  for (;; visit()) {
    WORK(CPU(shrunk(2000))); // TARGET sleep_compute
    meet();
  }
}

static void *one_of_crowd(void *unused) {
  for (int fd = connection();; visit()) {
    WORK(CPU(shrunk(1000))); // TARGET crowd
    WORK(CPU(1000));
    ask(fd, 2000);
  }
  return unused;
}

static void crowd(void) {
  for (int i = 0; i < 5; i++)
    thread(one_of_crowd, NULL);
  one_of_crowd(NULL);
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    void (*run)(void);
    int disk;
  } cases[] = {{"lu_cholesky", lu_cholesky, 0}, {"lu_stream", lu_stream, 0}, {"lu_net", lu_net, 0},
               {"disk_compute", disk_compute, 1},
               {"disk_limited", disk_limited, 1}, {"two_nets", two_nets, 0}, {"pipeline", pipeline, 1},
               {"lock_disk", lock_disk, 1}, {"sleep_compute", sleep_compute, 0}, {"crowd", crowd, 0}};
  const char *bytes = getenv("NET_BYTES"), *at = getenv("NET_PORT");
  port = at ? atoi(at) : 0;
  if (argc == 3 && !strcmp(argv[1], "serve")) {
    port = atoi(argv[2]);
    serve();
  }
  if (argc != 4) {
    fprintf(stderr, "usage: %s CASE PERCENT SECONDS, or %s serve PORT\n", argv[0], argv[0]);
    return 2;
  }
  on_cpu = ratio("ON_CPU"), on_disk = ratio("ON_DISK"), on_net = ratio("ON_NET");
  net_bytes = bytes ? atol(bytes) : 0;
  bench_init(argc - 1, argv + 1);
  make_matrix();
  pthread_barrier_init(&both, NULL, 2);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    if (!strcmp(cases[i].name, argv[1])) {
      if (cases[i].disk) {
        open_pages();
        measure_reading();
      }
      cases[i].run();
    }
  fprintf(stderr, "%s: no case %s\n", argv[0], argv[1]);
  return 2;
}
