/* quotes makes pages with offers, with two threads: while one renders a page, the other asks a supplier for the price. A
   page is done when both are. "quotes serve" is the supplier: a process of its own, which takes 1.5 ms for an answer. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static pthread_barrier_t asked;
static volatile uint64_t page;
static int supplier;

/* render makes the page. */
__attribute__((noinline)) static void render(void) {
  uint64_t pixel = page | 1;
  for (int i = 0; i < 600000; i++)
    pixel = (pixel * 16777619 ^ 77) % 4294967291;
  page = pixel;
}

/* price asks the supplier. */
__attribute__((noinline)) static int price(void) {
  int32_t euros = 1;
  if (write(supplier, &euros, sizeof euros) != sizeof euros)
    return -1;
  if (read(supplier, &euros, sizeof euros) != sizeof euros)
    return -1;
  return euros;
}

/* page_done is called once for each page. */
__attribute__((noinline)) void page_done(void) { __asm__ volatile(""); }

static void *asking(void *nothing) {
  while (price() > 0)
    pthread_barrier_wait(&asked);
  fprintf(stderr, "quotes: the supplier is gone\n");
  _exit(1);
  return nothing;
}

/* serve answers one shop after the other. */
static int serve(int fd, struct sockaddr_un *at) {
  struct timespec takes = {0, 1500000};
  unlink(at->sun_path);
  if (bind(fd, (struct sockaddr *)at, sizeof *at) || listen(fd, 1))
    return 1;
  for (int shop; (shop = accept(fd, NULL, NULL)) >= 0; close(shop))
    for (int32_t euros; read(shop, &euros, sizeof euros) == sizeof euros;) {
      nanosleep(&takes, NULL);
      if (send(shop, &euros, sizeof euros, MSG_NOSIGNAL) != sizeof euros)
        break;
    }
  return 1;
}

int main(int argc, char **argv) {
  struct sockaddr_un at = {.sun_family = AF_UNIX, .sun_path = "quotes.socket"};
  pthread_t thread;
  supplier = socket(AF_UNIX, SOCK_STREAM, 0);
  if (argc > 1 && !strcmp(argv[1], "serve"))
    return serve(supplier, &at);
  if (connect(supplier, (struct sockaddr *)&at, sizeof at)) {
    fprintf(stderr, "quotes: start \"quotes serve\" first, in this directory\n");
    return 1;
  }
  pthread_barrier_init(&asked, NULL, 2);
  if (pthread_create(&thread, NULL, asking, NULL))
    return 1;
  for (;;) {
    render();
    pthread_barrier_wait(&asked);
    page_done();
  }
}
