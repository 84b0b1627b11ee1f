/* A library that is loaded late. */
#include <math.h>

static volatile double sink;

void spend(void);

void spend(void) {
  for (int i = 0; i < 200000; i++)
    sink = exp(i * 1e-5) + sin(i);
}
