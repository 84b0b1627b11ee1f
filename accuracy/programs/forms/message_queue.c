/*
 * A parent and a child process with a POSIX message queue of four between them. The sender works 1 ms a message, the
 * receiver 1.6 ms, the target.
 *
 * Truth: 25, 37.5, 37.5, 37.5.
 */
#include "../bench.h"
#include <fcntl.h>
#include <mqueue.h>

int main(int argc, char **argv) {
  bench_init(argc, argv);
  char name[32], message[8];
  struct mq_attr attributes = {.mq_maxmsg = 4, .mq_msgsize = sizeof message};
  snprintf(name, sizeof name, "/bench-%d", getpid());
  mqd_t queue = mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, &attributes);
  if (queue == (mqd_t)-1 || mq_unlink(name))
    die("making a message queue");
  if (!fork_child())
    for (;;) {
      WORK(1000 * US);
      if (mq_send(queue, "x", 1, 0))
        die("sending");
    }
  for (;;) {
    if (mq_receive(queue, message, sizeof message, NULL) < 0)
      die("receiving");
    WORK(shrunk(1600 * US)); // TARGET
    visit();
  }
}
