/*
 * Functions with known shares of the time, by their callers. A round is 100 pieces of work:
 *
 *     a 40          work 40
 *     b 20          middle 20, work 20
 *     rest 40       inlined 30 (inlined), again 10, of which 7.5 in calls of again by itself
 */
#define KEEP __attribute__((noinline, noclone))
#define INLINE static inline __attribute__((always_inline))
#define PIECE 40000L

static volatile unsigned long sink;

/* A macro, so all of its time is on the line that uses it. */
#define SPEND(n) do { unsigned long x_ = 1; for (long i_ = (n); i_ > 0; i_--) { x_ = x_ * 6364136223846793005u + 1; __asm__ volatile("" : "+r"(x_)); } sink = x_; } while (0)

static KEEP void work(long n) {
  SPEND(n); // WORK
}

/* The asm after each call keeps the compiler from turning it into a jump. */
static KEEP void a(void) {
  work(40 * PIECE); // CALL
  __asm__ volatile("");
}

static KEEP void middle(void) {
  work(20 * PIECE);
  __asm__ volatile("");
}

static KEEP void b(void) {
  middle();
  __asm__ volatile("");
}

INLINE void inlined(long n) {
  SPEND(n); // INLINED
}

static KEEP void again(int depth) {
  SPEND(25 * PIECE / 10); // AGAIN
  if (depth > 0)
    again(depth - 1);
  __asm__ volatile("");
}

static KEEP void rest(void) {
  inlined(30 * PIECE);
  again(3);
  __asm__ volatile("");
}

KEEP void visited(void) { __asm__ volatile(""); }

int main(void) {
  for (;;) {
    a();
    b();
    rest();
    visited();
  }
}
