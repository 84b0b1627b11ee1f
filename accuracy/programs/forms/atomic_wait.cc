// A producer and a consumer with a C++20 atomic that counts the items, two at most. They wait with std::atomic::wait,
// which polls for a while before it sleeps. The producer works 0.5 ms an item, the consumer 0.8 ms, the target.
//
// Truth: an item takes max(0.8(1-s), 0.5) ms: 25, 37.5, 37.5, 37.5.
#include <atomic>

#include "../bench.h"

static std::atomic<int> filled{0};

static void *producer(void *unused) {
  for (;;) {
    WORK(500 * US);
    int n;
    while ((n = filled.load()) == 2)
      filled.wait(2);
    filled.fetch_add(1);
    filled.notify_one();
  }
  return unused;
}

int main(int argc, char **argv) {
  bench_init(argc, argv);
  pthread_t thread;
  if (pthread_create(&thread, NULL, producer, NULL))
    die("starting");
  for (;;) {
    while (filled.load() == 0)
      filled.wait(0);
    WORK(shrunk(800 * US)); // TARGET
    filled.fetch_sub(1);
    filled.notify_one();
    visit();
  }
}
