/*
 * queue.h: a bounded queue that holds nothing but a number of items, on a mutex and two condition variables, for
 * one thread at either end. A full queue must be half empty before it takes more. Otherwise a fast producer
 * would sleep and be woken once an item, and where an item takes only 100 us the programs would measure
 * wake-ups.
 */
#ifndef QUEUE_H
#define QUEUE_H

#include <pthread.h>

struct queue {
  pthread_mutex_t mutex;
  pthread_cond_t filled, emptied;
  int items, capacity;
};

#define QUEUE(capacity)                                                                                                \
  {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, capacity}

static void queue_put(struct queue *q) {
  pthread_mutex_lock(&q->mutex);
  while (q->items == q->capacity)
    pthread_cond_wait(&q->emptied, &q->mutex);
  q->items++;
  pthread_cond_signal(&q->filled);
  pthread_mutex_unlock(&q->mutex);
}

static void queue_get(struct queue *q) {
  pthread_mutex_lock(&q->mutex);
  while (q->items == 0)
    pthread_cond_wait(&q->filled, &q->mutex);
  q->items--;
  if (q->items == q->capacity / 2)
    pthread_cond_signal(&q->emptied);
  pthread_mutex_unlock(&q->mutex);
}

#endif
