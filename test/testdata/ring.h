/* A ring of io_uring, for one request at a time. */
#ifndef RING_H
#define RING_H

#include <linux/io_uring.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct {
  int fd;
  unsigned *tail, *taken;
  struct io_uring_cqe *answers; /* mask + 1 of them */
  unsigned mask;
} ring;

/* Returns the request, to be filled in, or NULL if the kernel gives no ring. */
static struct io_uring_sqe *make_ring(void) {
  struct io_uring_params p = {0};
  ring.fd = (int)syscall(SYS_io_uring_setup, 1, &p);
  if (ring.fd < 0 || !(p.features & IORING_FEAT_SINGLE_MMAP))
    return NULL;
  char *queue = mmap(NULL, p.cq_off.cqes + p.cq_entries * sizeof(struct io_uring_cqe), PROT_READ | PROT_WRITE, MAP_SHARED, ring.fd, IORING_OFF_SQ_RING);
  struct io_uring_sqe *request = mmap(NULL, sizeof *request, PROT_READ | PROT_WRITE, MAP_SHARED, ring.fd, IORING_OFF_SQES);
  if (queue == MAP_FAILED || request == MAP_FAILED)
    return NULL;
  ring.tail = (unsigned *)(queue + p.sq_off.tail);
  ring.taken = (unsigned *)(queue + p.cq_off.head);
  ring.answers = (struct io_uring_cqe *)(queue + p.cq_off.cqes);
  ring.mask = *(unsigned *)(queue + p.cq_off.ring_mask);
  ((unsigned *)(queue + p.sq_off.array))[0] = 0;
  return request;
}

#endif
