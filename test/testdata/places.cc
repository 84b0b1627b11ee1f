/*
 * Does what places.c does, for statements that only C++ has. Next to each place that is marked
 * with a name, a line of its own counts the executions of that place.
 *
 *     places N     prints "NAME COUNT" for each place
 */
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

static volatile struct {
  long templated, lambda, range, caught, made, method, generic;
} own;

static volatile long sink;

__attribute__((noinline)) long work(long x) {
  __asm__ volatile("" : "+r"(x));
  return x * 3 + 1;
}

/* Three instances, two of them also inlined. */
template <typename T> struct Shop {
  std::vector<T> goods;
  long add(T what) {
    own.templated++;
    goods.push_back(what); // templated
    return static_cast<long>(goods.size());
  }
};

template <typename F> __attribute__((noinline)) static void each(const std::vector<long> &v, F f) {
  for (long x : v)
    f(x);
}

struct Made {
  long x;
  explicit Made(long from) {
    own.made++;
    x = work(from); // made
  }
  virtual ~Made() { sink = sink + x; }
  virtual long method(long y) {
    own.method++;
    return work(x + y); // method
  }
};

struct Other : Made {
  using Made::Made;
};

__attribute__((noinline)) static void thrower(long x) {
  if (x % 4 == 0)
    throw x;
  sink = work(x);
}

template <typename A, typename B> static long generic(A a, B b) {
  own.generic++;
  return work(static_cast<long>(a)) + static_cast<long>(b); // generic
}

int main(int argc, char **argv) {
  long n = argc > 1 ? atol(argv[1]) : 10;
  Shop<int> ints;
  Shop<double> doubles;
  Shop<std::string> strings;
  std::vector<long> v;
  for (long i = 0; i < n; i++) {
    sink = ints.add(static_cast<int>(i)) + doubles.add(1.5);
    if (i % 2)
      sink = strings.add("some text that is too long to be stored in the string");
    v.push_back(i);
    try {
      thrower(i);
    } catch (long x) {
      own.caught++;
      sink = work(x) * 2; // caught
    }
    Made one(i);
    Other two(i + 1);
    Made *m = i % 3 ? &one : &two;
    sink = m->method(i);
    sink = generic(i, 2.5) + generic('a', i) + generic(1.5, 1.5);
  }
  each(v, [](long x) {
    own.lambda++;
    sink = work(x) + sink; // lambda
  });
  for (long x : v) {
    own.range++;
    sink = sink + work(x); // range
  }
#define PRINT(what) printf(#what " %ld\n", own.what)
  PRINT(templated), PRINT(lambda), PRINT(range), PRINT(caught), PRINT(made), PRINT(method), PRINT(generic);
  return 0;
}
