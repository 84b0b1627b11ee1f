// A library with a point in a template, for testdata/points.c.
#include "whatif.h"

template <class T> static void visit(T n) {
  while (n-- > 0)
    WHATIF_PROGRESS("visited");
}

extern "C" void work(int n) {
  visit<int>(n / 2);
  visit<long>(n - n / 2);
}
