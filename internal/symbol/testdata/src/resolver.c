/* choose is what the dynamic linker asks, once, which function total is. */
static int total_plain(int n) { return n * 3; }

static int (*choose(void))(int) { return total_plain; }

int total(int) __attribute__((ifunc("choose")));

/* Of times the compiler makes two, and a function that chooses. */
__attribute__((target_clones("avx2", "default"))) int times(int n) { return n * 5; }

int main(int argc, char **argv) { (void)argv; return total(times(argc)); }
