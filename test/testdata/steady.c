/* One thread does the same again and again, in one line; each time is a visit. */
static volatile unsigned long odd = 0x9e3779b97f4a7c15;

__attribute__((noinline)) void done(void) { __asm__ volatile(""); }

int main(void) {
  for (;;) {
    unsigned long x = 1, by = odd;
    for (long i = 0; i < 500000; i++) x = x * by + 1; /* TARGET */
    odd = x | 1;
    done();
  }
}
