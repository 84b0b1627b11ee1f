/*
 * Clients of memcached or of a web server, and how long their requests took.
 *
 *     clients memcached|http PORT CLIENTS RATE SECONDS [SERVER ARGUMENT...]
 *
 * Each client is a thread with a connection of its own. It sends a request, and the next one when it has the answer. Of
 * memcached nine of ten get a key, and the tenth sets one; all keys are set before. Of a web server all get /page.html,
 * which has to end with "</html>" and a newline, and to be short. RATE is the number of requests a second of all clients together; 0: as
 * many as are answered. With a RATE, a request that could not be sent in time, as the answer before it was late, counts
 * from the time when it was due.
 *
 * When the load begins it prints "loading". It ends after SECONDS, or at SIGTERM, and prints "visits N seconds T
 * p50 T p95 T p99 T". With a SERVER it starts that first, and the server ends with it.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define KEYS 20000
#define VALUE 200
#define MOST_CLIENTS 64

static struct {
  int web, port, clients;
  double rate, seconds;
} load;

static volatile sig_atomic_t over;

static void end(int signal) { over = signal; }

static void die(const char *doing) {
  fprintf(stderr, "clients: %s: %s\n", doing, strerror(errno));
  exit(1);
}

static int64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static void sleep_until(int64_t ns) {
  struct timespec t = {ns / 1000000000, ns % 1000000000};
  while (!over && clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
    ;
}

/* Waits up to five seconds for the server. */
static int connected(void) {
  struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)load.port)};
  int one = 1;
  a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  for (int i = 0; i < 500; i++) {
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0)
      die("making a socket");
    if (!connect(fd, (struct sockaddr *)&a, sizeof a)) {
      setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
      return fd;
    }
    close(fd);
    usleep(10000);
  }
  die("connecting");
  return -1;
}

/* Sends a request, and reads until an answer ends with one of these words. */
static void ask(int fd, const char *request, size_t length, const char *last) {
  char answer[4096];
  size_t got = 0, tail = strlen(last);
  if (write(fd, request, length) != (ssize_t)length)
    die("sending a request");
  while (got < tail || memcmp(answer + got - tail, last, tail)) {
    ssize_t n = read(fd, answer + got, sizeof answer - got);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      die("reading an answer");
    got += (size_t)n;
  }
}

static void set_key(int fd, unsigned key) {
  char request[VALUE + 64];
  int head = snprintf(request, sizeof request, "set key%07u 0 0 %d\r\n", key, VALUE);
  memset(request + head, 'a' + (int)(key % 26), VALUE);
  memcpy(request + head + VALUE, "\r\n", 2);
  ask(fd, request, (size_t)head + VALUE + 2, "STORED\r\n");
}

static void get_key(int fd, unsigned key) {
  char request[32];
  ask(fd, request, (size_t)snprintf(request, sizeof request, "get key%07u\r\n", key), "END\r\n");
}

static void get_page(int fd) {
  static const char request[] = "GET /page.html HTTP/1.1\r\nHost: localhost\r\n\r\n";
  ask(fd, request, sizeof request - 1, "</html>\n");
}

struct client {
  pthread_t thread;
  unsigned seed;
  int64_t *took; /* ns, of each request */
  long requests, room;
};

static void keep(struct client *c, int64_t ns) {
  if (c->requests == c->room) {
    c->room = 2 * c->room + 4096;
    c->took = realloc(c->took, (size_t)c->room * sizeof *c->took);
    if (!c->took)
      die("keeping latencies");
  }
  c->took[c->requests++] = ns;
}

static void *request_all(void *argument) {
  struct client *c = argument;
  int fd = connected();
  int64_t begun = now_ns(), step = load.rate > 0 ? (int64_t)(1e9 * load.clients / load.rate) : 0;
  int64_t due = begun + (int64_t)c->seed * step / load.clients;
  prctl(PR_SET_TIMERSLACK, 1UL);
  while (!over) {
    int64_t from = now_ns();
    if ((double)(from - begun) >= load.seconds * 1e9)
      break;
    if (step && from < due) {
      sleep_until(due);
      from = now_ns();
    } else if (step) {
      from = due;
    }
    due += step;
    unsigned key = (unsigned)rand_r(&c->seed) % KEYS;
    if (load.web)
      get_page(fd);
    else if (rand_r(&c->seed) % 10 == 0)
      set_key(fd, key);
    else
      get_key(fd, key);
    keep(c, now_ns() - from);
  }
  return NULL;
}

static int compare(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return x < y ? -1 : x > y;
}

static void print_all(struct client *clients, double seconds) {
  struct client all = {0};
  for (int i = 0; i < load.clients; i++)
    for (long k = 0; k < clients[i].requests; k++)
      keep(&all, clients[i].took[k]);
  if (!all.requests) {
    fprintf(stderr, "clients: no request was answered\n");
    exit(1);
  }
  qsort(all.took, (size_t)all.requests, sizeof *all.took, compare);
  printf("visits %ld seconds %.6f", all.requests, seconds);
  for (int i = 0; i < 3; i++) {
    const int percent[] = {50, 95, 99};
    printf(" p%d %.9f", percent[i], (double)all.took[all.requests * percent[i] / 100] / 1e9);
  }
  printf("\n");
}

int main(int argc, char **argv) {
  static struct client clients[MOST_CLIENTS];
  if (argc < 6 || (strcmp(argv[1], "memcached") && strcmp(argv[1], "http"))) {
    fprintf(stderr, "usage: %s memcached|http PORT CLIENTS RATE SECONDS [SERVER ARGUMENT...]\n", argv[0]);
    return 2;
  }
  load.web = !strcmp(argv[1], "http");
  load.port = atoi(argv[2]);
  load.clients = atoi(argv[3]);
  load.rate = atof(argv[4]);
  load.seconds = atof(argv[5]);
  if (load.clients < 1 || load.clients > MOST_CLIENTS || load.rate < 0 || !(load.seconds > 0)) {
    fprintf(stderr, "clients: 1 to %d clients, a rate of 0 or more and some seconds are needed\n", MOST_CLIENTS);
    return 2;
  }
  signal(SIGTERM, end);
  if (argc > 6 && fork() == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    execv(argv[6], argv + 6);
    die("starting the server");
  }
  int fd = connected();
  for (unsigned key = 0; key < KEYS && !over && !load.web; key++)
    set_key(fd, key);
  close(fd);
  printf("loading\n");
  fflush(stdout);
  int64_t begun = now_ns();
  for (int i = 0; i < load.clients; i++) {
    clients[i].seed = (unsigned)i;
    if (pthread_create(&clients[i].thread, NULL, request_all, &clients[i]))
      die("creating a thread");
  }
  for (int i = 0; i < load.clients; i++)
    pthread_join(clients[i].thread, NULL);
  print_all(clients, (double)(now_ns() - begun) / 1e9);
  return 0;
}
