// Templates that are instantiated many times and inlined into each other, in
// more than one unit, without headers that take seconds to compile.
#pragma once
#include <cstddef>
#include <cstdint>

namespace zoo {

struct Key {
	int32_t a;
	int16_t b;
	bool operator<(const Key &o) const { return a != o.a ? a < o.a : b < o.b; }
	Key operator+(const Key &o) const { return {a + o.a, int16_t(b ^ o.b)}; }
	explicit operator uint64_t() const { return uint64_t(a) * 31 + b; }
};

inline uint64_t mix(uint64_t x) {
	x ^= x >> 33;
	x *= 0xff51afd7ed558ccdULL;
	return x ^ x >> 29;
}

template <typename T> struct Make {
	static T from(uint64_t x) { return T(x % 1000); }
};

template <> struct Make<Key> {
	static Key from(uint64_t x) { return {int32_t(x % 97), int16_t(x % 13)}; }
};

template <typename T> inline void exchange(T &a, T &b) {
	T c = a;
	a = b;
	b = c;
}

template <typename T, int N> class Array {
	T cells[N];
	int used = 0;

public:
	bool full() const { return used == N; }
	int size() const { return used; }
	T &operator[](int i) { return cells[i % N]; }
	const T &operator[](int i) const { return cells[i % N]; }
	void push(const T &x) {
		if (full())
			shift();
		cells[used++] = x;
	}
	void shift() {
		for (int i = 1; i < used; i++)
			cells[i - 1] = cells[i];
		used--;
	}
	template <typename F> void each(F f) const {
		for (int i = 0; i < used; i++)
			f(cells[i]);
	}
};

template <typename T, int N, typename Less> void insertion(Array<T, N> &a, Less less) {
	for (int i = 1; i < a.size(); i++)
		for (int j = i; j > 0 && less(a[j], a[j - 1]); j--)
			exchange(a[j], a[j - 1]);
}

template <typename T, int N, typename Less> void sift(Array<T, N> &a, int from, int size, Less less) {
	for (int child; (child = 2 * from + 1) < size; from = child) {
		if (child + 1 < size && less(a[child], a[child + 1]))
			child++;
		if (!less(a[from], a[child]))
			return;
		exchange(a[from], a[child]);
	}
}

template <typename T, int N, typename Less> void heapsort(Array<T, N> &a, Less less) {
	for (int i = a.size() / 2; i >= 0; i--)
		sift(a, i, a.size(), less);
	for (int i = a.size() - 1; i > 0; i--) {
		exchange(a[0], a[i]);
		sift(a, 0, i, less);
	}
}

template <typename T, int N> struct Tree {
	struct Node {
		T value;
		int left, right;
	};
	Node nodes[N];
	int count = 0;

	int add(const T &x, int at = 0) {
		if (count == 0 || count == N)
			return put(x);
		for (;;) {
			int &next = x < nodes[at].value ? nodes[at].left : nodes[at].right;
			if (next < 0)
				return next = put(x);
			at = next;
		}
	}
	int put(const T &x) {
		if (count == N)
			count = 0;
		nodes[count] = {x, -1, -1};
		return count++;
	}
	template <typename F> void walk(int at, F &f) const {
		if (at < 0 || at >= count)
			return;
		walk(nodes[at].left, f);
		f(nodes[at].value);
		walk(nodes[at].right, f);
	}
};

template <int R, int C, typename T> struct Matrix {
	T cells[R][C];
	template <int D> void multiply(const Matrix<R, D, T> &a, const Matrix<D, C, T> &b) {
		for (int i = 0; i < R; i++)
			for (int j = 0; j < C; j++) {
				T sum = a.cells[i][0];
				for (int k = 0; k < D; k++)
					sum = sum + b.cells[k][j];
				cells[i][j] = sum;
			}
	}
};

class Animal {
public:
	virtual ~Animal() {}
	virtual uint64_t feed(uint64_t food) = 0;
};

template <typename T, int N> class Cage : public Animal {
	Array<T, N> inside;
	Tree<T, N> seen;

public:
	uint64_t feed(uint64_t food) override {
		for (int i = 0; i < N; i++) {
			food = mix(food);
			inside.push(Make<T>::from(food));
			seen.add(Make<T>::from(food >> 7));
		}
		if (food & 1)
			heapsort(inside, [](const T &x, const T &y) { return x < y; });
		else
			insertion(inside, [](const T &x, const T &y) { return y < x; });
		Matrix<2, N % 3 + 1, T> a;
		Matrix<N % 3 + 1, 3, T> b;
		for (auto &row : a.cells)
			for (auto &cell : row)
				cell = inside[int(food % N)];
		for (auto &row : b.cells)
			for (auto &cell : row)
				cell = inside[int(food % 3)];
		Matrix<2, 3, T> c;
		c.multiply(a, b);
		uint64_t sum = uint64_t(c.cells[1][2]);
		inside.each([&sum](const T &x) { sum += mix(uint64_t(x)); });
		auto add = [&sum](const T &x) { sum ^= uint64_t(x); };
		seen.walk(0, add);
		return sum;
	}
};

template <typename T, int N> struct Visit {
	static uint64_t all(uint64_t food) {
		Cage<T, N> cage;
		Animal *a = &cage;
		return a->feed(food) ^ Visit<T, N - 1>::all(food + N);
	}
};

template <typename T> struct Visit<T, 0> {
	static uint64_t all(uint64_t food) { return mix(food); }
};

} // namespace zoo

uint64_t night(uint64_t food);
