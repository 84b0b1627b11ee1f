// Templates, lambdas, virtual calls and exceptions of the standard library.
#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

namespace shop {
namespace {
int discount(int total) { return total > 100 ? total / 10 : 0; }
}

struct Item {
	std::string name;
	int price;
	bool operator<(const Item &o) const { return price < o.price; }
};

class Visitor {
public:
	virtual ~Visitor() = default;
	virtual void visit(const Item &) = 0;
};

template <typename T> class Sum : public Visitor {
	T total{};
public:
	void visit(const Item &i) override { total += i.price; }
	T get() const { return total; }
};

class Cart {
	std::vector<Item> items;
	std::map<std::string, int> count;
	std::unordered_map<int, std::vector<std::string>> by_price;
public:
	Cart() { items.reserve(10); }
	~Cart() { items.clear(); }
	void add(std::string name, int price) {
		if (price < 0)
			throw std::invalid_argument("price of " + name);
		count[name]++;
		by_price[price].push_back(name);
		items.push_back({std::move(name), price});
	}
	void walk(Visitor &v) const {
		for (auto &i : items)
			v.visit(i);
	}
	template <typename F> int reduce(F f, int start) const {
		return std::accumulate(items.begin(), items.end(), start, [&](int a, const Item &i) { return f(a, i.price); });
	}
	std::string text() {
		std::sort(items.begin(), items.end());
		std::stable_sort(items.begin(), items.end(), [](const Item &a, const Item &b) { return a.name > b.name; });
		std::ostringstream out;
		for (auto &[name, n] : count)
			out << name << " x" << n << '\n';
		return out.str();
	}
};
}

int main(int argc, char **argv) {
	auto cart = std::make_unique<shop::Cart>();
	std::vector<std::function<int(int)>> steps;
	for (int i = 0; i < argc + 20; i++) {
		cart->add("item" + std::to_string(i % 7), i * 13 % 11);
		steps.push_back([i](int x) { return x * i + 1; });
	}
	try {
		cart->add(argv[0], -argc);
	} catch (const std::exception &e) {
		std::cerr << e.what() << '\n';
	}
	shop::Sum<long> sum;
	cart->walk(sum);
	int x = cart->reduce([](int a, int b) { return a ^ b; }, 1);
	for (auto &s : steps)
		x = s(x);
	std::regex word("([a-z]+)([0-9]*)");
	std::smatch m;
	std::string t = cart->text();
	bool found = std::regex_search(t, m, word);
	std::cout << t << sum.get() << ' ' << x << ' ' << shop::discount(x) << ' ' << found << '\n';
}
