/* The dynamic linker calls choose once, to get the function for total. */
static int total_plain(int n) { return n * 3; }

static int (*choose(void))(int) { return total_plain; }

int total(int) __attribute__((ifunc("choose")));

/* The compiler makes two versions of times, and a resolver. */
__attribute__((target_clones("avx2", "default"))) int times(int n) { return n * 5; }

int main(int argc, char **argv) { (void)argv; return total(times(argc)); }
