/*
 * A parent and a child process, each on a core of its own, with two tokens that go round. The child works 2 ms a token
 * (the target), the parent 1.2 ms. An option of the compiler chooses how they wake each other:
 *
 *   -DTCP      a byte through a loopback TCP connection
 *   -DEVENTFD  an eventfd that counts like a semaphore
 *   -DSIGNAL   a queued signal, taken by sigwait
 *   -DMUTEX    a mutex and a condition variable in shared memory: futexes
 *   -DPOSIX    a POSIX semaphore in shared memory
 *   -DSYSV     a SysV semaphore
 *   -DEPOLL    a byte through a UNIX socket, waited for with epoll
 *   -DURING    the same, read by io_uring; the process waits for the completion
 *   -DEXIT     the child's end: there is a new child for each token, and the parent waits for it
 *
 * Truth: a token takes max(2(1-s), 1.2) ms: 25, 40, 40, 40; with EXIT less by what fork and exit cost.
 */
#include "../bench.h"
#include <sys/mman.h>

/* Each process has an end. */
enum { CHILD, PARENT, SIDES };

static inline void *shared(size_t size) {
  void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED)
    die("mapping shared memory");
  return p;
}

#if defined(TCP)
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

static int ends[SIDES]; /* each process reads its own, and the other process writes to it */

static void prepare(void) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  socklen_t size = sizeof address;
  int one = 1, listening = socket(AF_INET, SOCK_STREAM, 0);
  ends[PARENT] = socket(AF_INET, SOCK_STREAM, 0);
  if (bind(listening, (struct sockaddr *)&address, size) || listen(listening, 1) ||
      getsockname(listening, (struct sockaddr *)&address, &size) || connect(ends[PARENT], (struct sockaddr *)&address, size))
    die("connecting over loopback");
  ends[CHILD] = accept(listening, NULL, NULL);
  for (int i = 0; i < SIDES; i++)
    if (setsockopt(ends[i], IPPROTO_TCP, TCP_NODELAY, &one, sizeof one))
      die("setting a connection up");
}
static void tell(int side) { send_byte(ends[!side]); }
static void hear(int side) { receive_byte(ends[side]); }

#elif defined(EVENTFD)
#include <sys/eventfd.h>

static int ends[SIDES];

static void prepare(void) {
  for (int i = 0; i < SIDES; i++)
    if ((ends[i] = eventfd(0, EFD_SEMAPHORE)) < 0)
      die("making an eventfd");
}
static void tell(int side) {
  if (eventfd_write(ends[side], 1))
    die("writing to an eventfd");
}
static void hear(int side) {
  eventfd_t one;
  if (eventfd_read(ends[side], &one))
    die("reading an eventfd");
}

#elif defined(SIGNAL)
static pid_t *processes;
static sigset_t told;

static void prepare(void) {
  processes = shared(SIDES * sizeof *processes);
  processes[PARENT] = getpid();
  sigemptyset(&told);
  sigaddset(&told, SIGRTMIN); /* such signals queue */
  sigprocmask(SIG_BLOCK, &told, NULL);
}
static void tell(int side) {
  if (kill(processes[side], SIGRTMIN))
    die("sending a signal");
}
static void hear(int side) {
  int signal;
  (void)side;
  if (sigwait(&told, &signal))
    die("waiting for a signal");
}

#elif defined(MUTEX)
static struct {
  pthread_mutex_t mutex;
  pthread_cond_t more;
  int count;
} *ends;

static void prepare(void) {
  pthread_mutexattr_t mutex;
  pthread_condattr_t more;
  ends = shared(SIDES * sizeof *ends);
  pthread_mutexattr_init(&mutex);
  pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED);
  pthread_condattr_init(&more);
  pthread_condattr_setpshared(&more, PTHREAD_PROCESS_SHARED);
  for (int i = 0; i < SIDES; i++)
    if (pthread_mutex_init(&ends[i].mutex, &mutex) || pthread_cond_init(&ends[i].more, &more))
      die("making a shared mutex");
}
static void tell(int side) {
  pthread_mutex_lock(&ends[side].mutex);
  ends[side].count++;
  pthread_cond_signal(&ends[side].more);
  pthread_mutex_unlock(&ends[side].mutex);
}
static void hear(int side) {
  pthread_mutex_lock(&ends[side].mutex);
  while (!ends[side].count)
    pthread_cond_wait(&ends[side].more, &ends[side].mutex);
  ends[side].count--;
  pthread_mutex_unlock(&ends[side].mutex);
}

#elif defined(POSIX)
#include <semaphore.h>

static sem_t *ends;

static void prepare(void) {
  ends = shared(SIDES * sizeof *ends);
  for (int i = 0; i < SIDES; i++)
    if (sem_init(&ends[i], 1, 0))
      die("making a semaphore");
}
static void tell(int side) {
  if (sem_post(&ends[side]))
    die("posting a semaphore");
}
static void hear(int side) {
  if (sem_wait(&ends[side]))
    die("waiting for a semaphore");
}

#elif defined(SYSV)
#include <sys/sem.h>

static int semaphores;

static void prepare(void) {
  /* In a namespace of its own: when the processes end, in whatever way, the kernel removes it. */
  if (unshare(CLONE_NEWIPC))
    die("leaving the namespace for semaphores");
  semaphores = semget(IPC_PRIVATE, SIDES, 0600);
  if (semaphores < 0)
    die("making semaphores");
}
static void change(int side, short by) {
  struct sembuf change = {.sem_num = (unsigned short)side, .sem_op = by};
  if (semop(semaphores, &change, 1))
    die("changing a semaphore");
}
static void tell(int side) { change(side, 1); }
static void hear(int side) { change(side, -1); }

#elif defined(EPOLL) || defined(URING)
#include <sys/socket.h>

static int ends[SIDES];

static void prepare(void) {
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
    die("making a socketpair");
}
static void tell(int side) { send_byte(ends[!side]); }

#ifdef EPOLL
#include <sys/epoll.h>

static void hear(int side) {
  static int polled; /* each process has its own */
  struct epoll_event readable = {.events = EPOLLIN};
  if (!polled && ((polled = epoll_create1(0)) < 0 || epoll_ctl(polled, EPOLL_CTL_ADD, ends[side], &readable)))
    die("setting epoll up");
  if (epoll_wait(polled, &readable, 1, -1) != 1)
    die("waiting with epoll");
  receive_byte(ends[side]);
}
#else
#include <linux/io_uring.h>
#include <sys/syscall.h>

static struct {
  int fd;
  unsigned *tail, *mask, *array;       /* of requests */
  unsigned *done, *done_tail, *done_mask; /* of completions */
  struct io_uring_sqe *asked;
  struct io_uring_cqe *answers;
} ring;

static void set_up_ring(void) {
  struct io_uring_params p = {0};
  ring.fd = (int)syscall(SYS_io_uring_setup, 1, &p);
  if (ring.fd < 0)
    die("setting io_uring up");
  char *asking = mmap(NULL, p.sq_off.array + p.sq_entries * sizeof(unsigned), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_POPULATE, ring.fd, IORING_OFF_SQ_RING);
  char *answering = mmap(NULL, p.cq_off.cqes + p.cq_entries * sizeof(struct io_uring_cqe), PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_POPULATE, ring.fd, IORING_OFF_CQ_RING);
  ring.asked = mmap(NULL, p.sq_entries * sizeof *ring.asked, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring.fd,
                    IORING_OFF_SQES);
  if (asking == MAP_FAILED || answering == MAP_FAILED || ring.asked == MAP_FAILED)
    die("mapping io_uring's rings");
  ring.tail = (unsigned *)(asking + p.sq_off.tail);
  ring.mask = (unsigned *)(asking + p.sq_off.ring_mask);
  ring.array = (unsigned *)(asking + p.sq_off.array);
  ring.done = (unsigned *)(answering + p.cq_off.head);
  ring.done_tail = (unsigned *)(answering + p.cq_off.tail);
  ring.done_mask = (unsigned *)(answering + p.cq_off.ring_mask);
  ring.answers = (struct io_uring_cqe *)(answering + p.cq_off.cqes);
}

static void hear(int side) {
  static char byte;
  if (!ring.asked)
    set_up_ring();
  unsigned i = *ring.tail & *ring.mask;
  ring.asked[i] = (struct io_uring_sqe){.opcode = IORING_OP_READ, .fd = ends[side], .addr = (uintptr_t)&byte, .len = 1};
  ring.array[i] = i;
  __atomic_store_n(ring.tail, *ring.tail + 1, __ATOMIC_RELEASE);
  if (syscall(SYS_io_uring_enter, ring.fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) != 1)
    die("waiting for io_uring");
  if (__atomic_load_n(ring.done_tail, __ATOMIC_ACQUIRE) == *ring.done)
    die("finding io_uring's answer");
  if (ring.answers[*ring.done & *ring.done_mask].res != 1)
    _exit(1); /* the other side is gone */
  __atomic_store_n(ring.done, *ring.done + 1, __ATOMIC_RELEASE);
}
#endif

#elif !defined(EXIT)
#error one of the kinds has to be chosen
#endif

static void childs_work(void) {
  WORK(shrunk(2000 * US)); // TARGET
}

static void parents_work(void) { WORK(1200 * US); }

#ifdef EXIT
#include <sys/wait.h>

/* A child begins on its parent's core and has to leave it at once. So the first of both to run moves it. */
static void to_the_other_core(pid_t child) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(bench.cpus[0], &set);
  if (sched_setaffinity(child, sizeof set, &set))
    die("pinning a child");
}

int main(int argc, char **argv) {
  bench_init(argc, argv);
  pin(1);
  for (;;) {
    pid_t child = fork_child();
    to_the_other_core(child);
    if (child == 0) {
      childs_work();
      _exit(0);
    }
    parents_work();
    if (wait(NULL) < 0)
      die("waiting for the child");
    visit();
  }
}
#else
int main(int argc, char **argv) {
  bench_init(argc, argv);
  prepare();
  pid_t child = fork_child();
  if (child == 0) {
    pin(0);
    for (;;) {
      hear(CHILD);
      childs_work();
      tell(PARENT);
    }
  }
#ifdef SIGNAL
  processes[CHILD] = child;
#endif
  pin(1);
  tell(CHILD);
  tell(CHILD);
  for (;;) {
    hear(PARENT);
    parents_work();
    tell(CHILD);
    visit();
  }
}
#endif
