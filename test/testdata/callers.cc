// Functions with brackets in their names. A round is 100 pieces of work; a comment gives each function's part.
#define KEEP __attribute__((noinline, noclone))
#define PIECE 40000L

static volatile unsigned long sink;

static KEEP void work(long n) {
  unsigned long x = 1;
  for (; n > 0; n--) {
    x = x * 6364136223846793005u + 1;
    __asm__ volatile("" : "+r"(x));
  }
  sink = x;
}

template <typename T> KEEP void twice(T pieces) { // 30 and 20
  work(pieces * PIECE);
  __asm__ volatile("");
}

struct Thing {
  long pieces;
  KEEP bool operator<(const Thing &other) const { // 50
    work((pieces + other.pieces) * PIECE);
    __asm__ volatile("");
    return pieces < other.pieces;
  }
};

static KEEP bool less(const Thing &x, const Thing &y) { // 30 of them
  bool is = x < y;
  __asm__ volatile("");
  return is;
}

extern "C" KEEP void visited(void) { __asm__ volatile(""); }

int main() {
  Thing x{10}, y{20}, z{10};
  for (;;) {
    twice<int>(30);
    twice<long>(20);
    sink = less(x, y);
    sink = x < z;
    visited();
  }
}
