/* choose is what the dynamic linker asks, once, which function total is. */
static int total_plain(int n) { return n * 3; }

static int (*choose(void))(int) { return total_plain; }

int total(int) __attribute__((ifunc("choose")));

int main(int argc, char **argv) { (void)argv; return total(argc); }
