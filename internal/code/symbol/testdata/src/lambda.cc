// Functions of types without a name. None of them has a linkage name where gcc inlines it.
#include <cstdio>

struct Server {
    int handle(int n);
};

namespace {
int quiet(int n) { return n * 3; }
}

static volatile int sink;

template <class F> __attribute__((noinline)) static void twice(F f) {
    f(1);
    f(2);
}

int Server::handle(int n) {
    auto add = [&](int by) {
        auto inner = [&] { sink = sink + by; };
        inner();
        n += by;
    };
    add(n);
    return n;
}

struct Inline {
    int handle(int n) {
        twice([&](int by) { sink = sink + n * by; });
        return n;
    }
};

int main(int argc, char **) {
    struct {
        int run(int n) { return n ^ sink; }
    } worker;
    twice([&](int n) {
        sink = sink + n * argc;
        std::printf("%d\n", sink);
    });
    return worker.run(Server().handle(argc)) + quiet(argc) + Inline().handle(argc);
}
