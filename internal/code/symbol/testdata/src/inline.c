// A small interpreter, written so that -O2 inlines it into itself in several
// levels, clones functions and splits cold paths off.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdint.h>

typedef struct node { struct node *left, *right; int key; long value; } node;
typedef struct { int op; long arg; } insn;

static inline long clamp(long v, long lo, long hi) {
	if (v < lo)
		return lo;
	if (v > hi)
		return hi;
	return v;
}

static inline long mix(long a, long b) {
	return clamp(a * 31 + b, -1000000, 1000000) ^ (b << 3);
}

static node *insert(node *n, int key, long value) {
	if (!n) {
		n = calloc(1, sizeof *n);
		if (!n) {
			fprintf(stderr, "no memory for key %d\n", key);
			abort();
		}
		n->key = key;
		n->value = value;
		return n;
	}
	if (key < n->key)
		n->left = insert(n->left, key, value);
	else if (key > n->key)
		n->right = insert(n->right, key, value);
	else
		n->value = mix(n->value, value);
	return n;
}

static long total(const node *n, int depth) {
	if (!n)
		return 0;
	return mix(n->value, depth) + total(n->left, depth + 1) + total(n->right, depth + 1);
}

static inline uint32_t crc_step(uint32_t crc, uint8_t byte) {
	crc ^= byte;
	for (int i = 0; i < 8; i++)
		crc = crc & 1 ? (crc >> 1) ^ 0xedb88320u : crc >> 1;
	return crc;
}

static uint32_t crc(const void *data, size_t n) {
	const uint8_t *p = data;
	uint32_t c = ~0u;
	while (n--)
		c = crc_step(c, *p++);
	return ~c;
}

static int by_arg(const void *a, const void *b) {
	const insn *x = a, *y = b;
	return (x->arg > y->arg) - (x->arg < y->arg);
}

#define OPS(X) X(0, +) X(1, -) X(2, *) X(3, ^) X(4, |) X(5, &)
static long run(const insn *code, size_t n, long acc) {
	for (size_t i = 0; i < n; i++) {
		switch (code[i].op) {
#define CASE(num, sign) case num: acc = clamp(acc sign code[i].arg, -(1L << 40), 1L << 40); break;
		OPS(CASE)
		default:
			fprintf(stderr, "bad instruction %d at %zu\n", code[i].op, i);
			exit(3);
		}
	}
	return acc;
}

struct matrix { double cell[8][8]; };
static struct matrix multiply(const struct matrix *a, const struct matrix *b) {
	struct matrix r;
	for (int i = 0; i < 8; i++)
		for (int j = 0; j < 8; j++) {
			double sum = 0;
			for (int k = 0; k < 8; k++)
				sum += a->cell[i][k] * b->cell[k][j];
			r.cell[i][j] = sum;
		}
	return r;
}

static char *reverse_words(char *s) {
	size_t n = strlen(s);
	for (size_t i = 0, j = n; i + 1 < j; i++) {
		char t = s[--j];
		s[j] = s[i];
		s[i] = t;
	}
	for (char *word = s; *word;) {
		char *end = strchr(word, ' ');
		if (!end)
			end = word + strlen(word);
		for (char *a = word, *b = end; a + 1 < b; a++) {
			char t = *--b;
			*b = *a;
			*a = t;
		}
		word = *end ? end + 1 : end;
	}
	return s;
}

int main(int argc, char **argv) {
	node *root = NULL;
	for (int i = 0; i < argc * 1000; i++)
		root = insert(root, (int)(crc(&i, sizeof i) % 5000), i);
	insn code[256];
	for (int i = 0; i < 256; i++)
		code[i] = (insn){i % 6, mix(i, argc)};
	qsort(code, 256, sizeof *code, by_arg);
	struct matrix m = {{{1, 2}, {3, 4}}};
	for (int i = 0; i < 5; i++)
		m = multiply(&m, &m);
	char line[] = "the quick brown fox jumps";
	printf("%ld %ld %g %s %u\n", total(root, 0), run(code, 256, argc), m.cell[0][1], reverse_words(line), crc(argv[0], strlen(argv[0])));
	return 0;
}
