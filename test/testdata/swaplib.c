/* Compiled twice: the same code on different lines. */
volatile long odd = 3, result;
#ifdef FIRST
void work(void) {
  long x = 1, by = odd;
  for (long n = 0; n < 100000; n++)
    x = x * by + by; /* FIRST */
  result = x;
}
#else
void work(void) {
  long x = 1, by = odd;
  for (long n = 0; n < 100000; n++)
    x = x * by + by; /* SECOND */
  result = x;
}
#endif
