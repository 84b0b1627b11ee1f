#include "zoo.h"
#include <cstdio>

int main(int argc, char **argv) {
	uint64_t food = argc;
	for (int i = 0; i < 10; i++) {
		food ^= zoo::Visit<int, 6>::all(food);
		food ^= zoo::Visit<long, 4>::all(food);
		food ^= zoo::Visit<double, 4>::all(food);
		food ^= zoo::Visit<zoo::Key, 5>::all(food);
		food += night(food);
	}
	printf("%s %llx\n", argv[0], (unsigned long long)food);
}
