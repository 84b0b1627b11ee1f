#include "zoo.h"

namespace {
struct Owl {
	uint64_t hoots;
	Owl(uint64_t h) : hoots(h) {}
	uint64_t hoot() const { return hoots ? zoo::mix(hoots) + Owl(hoots / 3).hoot() : 1; }
};

inline uint64_t listen(const Owl &o) { return o.hoot() * 3; }
} // namespace

extern "C" uint64_t bat(uint64_t x) { return zoo::mix(x) & 0xff; }

uint64_t night(uint64_t food) {
	return listen(Owl(food)) + bat(food) + zoo::Visit<short, 3>::all(food) + zoo::Visit<int, 2>::all(food);
}
