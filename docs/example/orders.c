/* orders handles the orders of a made-up shop, with two threads: while one signs an order, the other parses it, prices
   it and prints the bill. An order is done when both are. orders N handles N orders; orders alone goes on for ever. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIZE = 1 << 16 };

static unsigned char order[SIZE];
uint32_t fields[SIZE], prices[SIZE], bill[SIZE];
static pthread_barrier_t arrived, handled;
static volatile uint64_t signature;

/* sign computes what the order is known by. */
__attribute__((noinline)) static void sign(void) {
  uint64_t hash = 1;
  for (int i = 0; i < SIZE; i++)
    hash = (hash * 16777619 ^ order[i]) % 4294967291 * 40503 % 4294967279;
  signature = hash;
}

/* parse cuts the order into fields. */
__attribute__((noinline)) static void parse(void) {
  uint32_t field = 1;
  for (int i = 0; i < SIZE; i++)
    fields[i] = field = (field * 31 + order[i]) % 65521 * 3 % 65519;
}

/* price looks the price of each field up. */
__attribute__((noinline)) static void price(void) {
  uint32_t sum = 1;
  for (int i = 0; i < SIZE; i++)
    prices[i] = sum = (sum + fields[i] * 7) % 65519;
}

/* print_bill writes the bill. */
__attribute__((noinline)) static void print_bill(void) {
  uint32_t line = 1;
  for (int i = 0; i < SIZE; i++)
    bill[i] = line = (line * 17 + prices[i]) % 65497;
}

/* order_done is called once for each order. */
__attribute__((noinline)) void order_done(void) { __asm__ volatile(""); }

static void *signer(void *nothing) {
  for (;;) {
    pthread_barrier_wait(&arrived);
    sign();
    pthread_barrier_wait(&handled);
  }
  return nothing;
}

int main(int argc, char **argv) {
  long orders = argc > 1 ? atol(argv[1]) : -1;
  pthread_t thread;
  for (int i = 0; i < SIZE; i++)
    order[i] = (unsigned char)rand();
  pthread_barrier_init(&arrived, NULL, 2);
  pthread_barrier_init(&handled, NULL, 2);
  pthread_create(&thread, NULL, signer, NULL);
  for (long n = 0; n != orders; n++) {
    pthread_barrier_wait(&arrived);
    parse();
    price();
    print_bill();
    pthread_barrier_wait(&handled);
    order_done();
  }
  return 0;
}
