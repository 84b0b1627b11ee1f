// Spends some time in libstdc++, called from code without frame pointers.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <iomanip>
#include <map>
#include <sstream>
#include <string>
#include <vector>

static volatile size_t sink;

__attribute__((noinline)) static void use_sort() {
  std::vector<std::string> v;
  for (int i = 0; i < 5000; i++)
    v.push_back(std::to_string(i * 7919 % 5003));
  std::sort(v.begin(), v.end());
  sink = v[17].size();
}

__attribute__((noinline)) static void use_map() {
  std::map<int, std::string> m;
  for (int i = 0; i < 5000; i++)
    m[i * 7919 % 5003] = "a value that is too long to lie in the string itself";
  sink = m.size();
}

__attribute__((noinline)) static void use_stream() {
  std::ostringstream out;
  for (int i = 0; i < 2000; i++)
    out << std::setprecision(12) << i / 3.0 << ' ' << i << '\n';
  sink = out.str().size();
}

__attribute__((noinline)) static void use_exceptions() {
  for (int i = 0; i < 200; i++)
    try {
      if (i >= 0)
        throw std::string("thrown");
    } catch (const std::string &s) {
      sink = s.size();
    }
}

int main(int argc, char **argv) {
  const char *how = argc > 1 ? argv[1] : "";
  void (*use)() = !strcmp(how, "sort") ? use_sort : !strcmp(how, "map") ? use_map : !strcmp(how, "stream") ? use_stream
    : !strcmp(how, "exceptions") ? use_exceptions : nullptr;
  if (!use) {
    std::fprintf(stderr, "usage: stacks sort|map|stream|exceptions\n");
    return 2;
  }
  for (auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(600); std::chrono::steady_clock::now() < end;)
    use();
}
