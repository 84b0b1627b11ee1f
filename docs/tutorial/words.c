/* words counts the words of a made-up book, with two threads: one reads pages and cuts them into words, the other looks
   each word up and counts it. words N counts N pages and says how long that took; words alone goes on for ever. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { PAGE = 1 << 16, QUEUE = 8, VOCABULARY = 2000, BUCKETS = 64 };

struct word {
  uint64_t hash;
  long count;
  struct word *next;
};

struct page {
  int words;
  uint64_t hash[PAGE];
  unsigned char text[PAGE];
};

static struct word *table[BUCKETS];
static unsigned char book[PAGE];
static struct page queue[QUEUE];
static long first, last; /* page n is in queue[n % QUEUE] */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t moved = PTHREAD_COND_INITIALIZER;

/* read_page cuts the text into words, and keeps a hash of each: two rounds, so that no two words have the same. */
__attribute__((noinline)) static void read_page(struct page *p) {
  uint64_t hash = 0;
  p->words = 0;
  for (int i = 0; i < PAGE; i++) {
    p->text[i] = book[i];
    if (book[i] == ' ') {
      p->hash[p->words++] = hash;
      hash = 0;
    } else {
      hash = ((hash * 257 + book[i]) % 1000000000039 ^ hash >> 7) * 263 % 999999999989;
    }
  }
}

/* find gives the word with a hash; it is new if it was not there. */
__attribute__((noinline)) static struct word *find(uint64_t hash) {
  struct word *w = table[hash % BUCKETS];
  while (w != NULL && w->hash != hash) w = w->next;
  if (w == NULL) {
    w = calloc(1, sizeof *w);
    w->hash = hash;
    w->next = table[hash % BUCKETS];
    table[hash % BUCKETS] = w;
  }
  return w;
}

/* checksum is what a page is known by. */
__attribute__((noinline)) static uint64_t checksum(const struct page *p) {
  uint64_t sum = 0;
  for (int i = 0; i < PAGE; i += 2)
    sum = (sum * 257 + p->text[i] * 31 + p->text[i + 1]) % 4294967291;
  return sum;
}

/* process_page counts the words of a page. */
__attribute__((noinline)) static uint64_t process_page(const struct page *p) {
  for (int i = 0; i < p->words; i++)
    find(p->hash[i])->count++;
  return checksum(p);
}

static void *reader(void *pages) {
  for (;;) {
    pthread_mutex_lock(&lock);
    while (last - first == QUEUE)
      pthread_cond_wait(&moved, &lock);
    pthread_mutex_unlock(&lock);
    read_page(&queue[last % QUEUE]);
    pthread_mutex_lock(&lock);
    last++;
    pthread_cond_signal(&moved);
    pthread_mutex_unlock(&lock);
  }
  return pages;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec / 1e9;
}

int main(int argc, char **argv) {
  long pages = argc > 1 ? atol(argv[1]) : -1;
  char vocabulary[VOCABULARY][16];
  for (int i = 0; i < VOCABULARY; i++)
    snprintf(vocabulary[i], sizeof vocabulary[i], "%d", rand() % 1000000000);
  for (int i = 0; i < PAGE - 16;)
    i += sprintf((char *)book + i, "%s ", vocabulary[rand() % VOCABULARY]);
  pthread_t thread;
  pthread_create(&thread, NULL, reader, NULL);
  double began = now();
  uint64_t sum = 0;
  while (first != pages) {
    pthread_mutex_lock(&lock);
    while (first == last)
      pthread_cond_wait(&moved, &lock);
    pthread_mutex_unlock(&lock);
    sum += process_page(&queue[first % QUEUE]);
    pthread_mutex_lock(&lock);
    first++;
    pthread_cond_signal(&moved);
    pthread_mutex_unlock(&lock);
  }
  printf("%ld pages in %.1f s, %.0f a second (checksum %lx)\n", pages, now() - began, pages / (now() - began), (unsigned long)sum);
  return 0;
}
