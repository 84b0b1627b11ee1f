/*
 * C++20: the main thread releases a counting_semaphore for two others, computes 0.3 ms, and waits on a latch for both.
 * One of them computes 0.8 ms, the other 0.2 ms and 0.8 ms, the target. Then the main thread computes 0.4 ms alone.
 *
 * Truth: on two cores a round takes 0.4 ms and max(0.2 + 0.8(1-s), 0.8, (2.1 - 0.8s)/2): 7, 14, 18, 18 where the
 * scheduler is perfect.
 */
#include "../bench.h"
#include <latch>
#include <semaphore>
#include <thread>

static std::counting_semaphore<8> go[2] = {std::counting_semaphore<8>(0), std::counting_semaphore<8>(0)};
static std::latch *done;

static void plain() {
  for (;;) {
    go[0].acquire();
    WORK(800 * US);
    done->count_down();
  }
}

static void marked() {
  for (;;) {
    go[1].acquire();
    WORK(200 * US);
    WORK(shrunk(800 * US)); // TARGET
    done->count_down();
  }
}

int main(int argc, char **argv) {
  bench_init(argc, argv);
  std::thread(plain).detach();
  std::thread(marked).detach();
  std::latch *old = nullptr;
  for (;;) {
    std::latch *round = new std::latch(2);
    done = round;
    go[0].release();
    go[1].release();
    WORK(300 * US);
    round->wait();
    delete old; /* the last thread to count down may use it a moment longer */
    old = round;
    WORK(400 * US);
    visit();
  }
}
