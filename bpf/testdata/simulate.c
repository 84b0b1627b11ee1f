//go:build ignore

/*
 * Drives the ledger's arithmetic with random events, in user space, and checks
 * after each what must always hold. Prints what it did; fails with the first
 * broken rule. usage: simulate SEED EVENTS SLACK
 *
 * The world: each thread has a core of its own, as the rules for sharing one are
 * the same account_waited that waking uses.
 */
#include <stdio.h>
#include <stdlib.h>
#include <stdint.h>

typedef uint32_t u32;
typedef uint64_t u64;
typedef int64_t s64;
#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif
#include "../ledger.h"

#define THREADS 6
#define PERIOD 1000

struct thread {
	struct account account;
	struct waiting waiting;
	int blocked;
	u64 paid, credited, excused; /* the three ways in which a level grows */
};

static struct thread threads[THREADS];
static u64 now = 1000000, global, start_global, events[6];
static u64 seed;

static u64 random_below(u64 n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % n;
}

#define MUST(rule, t)                                                                             \
	do {                                                                                      \
		if (!(rule)) {                                                                    \
			printf("broken: %s: thread %d, level %lu, global %lu, now %lu\n", #rule, \
			       (int)((t) - threads), (unsigned long)(t)->account.level,           \
			       (unsigned long)global, (unsigned long)now);                        \
			exit(1);                                                                  \
		}                                                                                 \
	} while (0)

static u64 position(const struct thread *t)
{
	return now - t->account.level;
}

static void tick(struct thread *t, u64 d, u64 slack)
{
	u64 before = global, level = t->account.level, was = position(t);

	if (random_below(3) == 0) { /* in the selected code */
		struct credit c = { .began = now, .in = PERIOD, .hits = 1, .ticks = 1 };
		u64 rate = d * CREDIT_ONE / PERIOD, due = credit_due(&c, now + PERIOD / 4, rate);

		/* Not more than s of what it ran, and all of it in time. */
		MUST(due <= PERIOD / 4 * rate / CREDIT_ONE, t);
		due += credit_hand_over(&c, now + PERIOD / 4, rate, PERIOD, 0);
		due += credit_hand_over(&c, now + 2 * PERIOD, rate, PERIOD, 0);
		MUST(due <= d && due + PERIOD / CREDIT_ONE + 1 >= d && c.carry == (s64)(PERIOD * rate / CREDIT_ONE - due), t);
		t->account.level = level + due;
		t->credited += due;
		if (global < t->account.level)
			global = t->account.level;
		events[0]++;
	} else if (random_below(4) == 0) { /* waiting busily */
		t->waiting.left = PERIOD;
		events[1]++;
		return;
	}
	u64 left = t->waiting.left;
	level = t->account.level;
	t->account.level = waiting_spend(&t->waiting, level, global);
	t->excused += t->account.level - level;
	MUST(t->account.level - level == left - t->waiting.left, t);
	MUST(t->account.level <= global && (t->account.level == global || !t->waiting.left), t);
	u64 debt = account_debt(t->account.level, before);
	if (debt > slack) {
		u64 took = debt - slack + random_below(300); /* stops last a little longer */

		level = t->account.level;
		now += took;
		t->account.level = account_paid(level, took, global);
		t->paid += t->account.level - level;
		/* A stop moves nobody on in virtual time, but for what it lasted too long. */
		MUST(position(t) <= was + 2 * PERIOD, t);
		events[2]++;
	}
}

static void block(struct thread *t)
{
	t->account.since = now;
	t->blocked = 1;
	events[3]++;
}

static void wake(struct thread *t, struct thread *by)
{
	u64 level = t->account.level, stood = t->account.since - level;

	if (by) {
		t->account.level = account_waited(&t->account, now, by->account.level);
		/* The later of its own position and its waker's. */
		u64 mine = position(t), theirs = position(by);
		MUST(mine >= stood && mine >= theirs, t);
		MUST(mine == stood || mine == theirs, t);
		events[4]++;
	} else {
		events[5]++; /* from outside: position moved with the clock */
	}
	if (t->account.level > level)
		t->excused += t->account.level - level;
	t->blocked = 0;
	t->account.since = now;
}

/*
 * Two kinds of stretches take turns, of any length: one all in the selected code,
 * one not at all. Once they are known each stretch must be given what it deserves,
 * also one that no tick met; and a kind of mixed stretches must be right on average.
 */
static void stretches(u64 d)
{
	u64 rate = d * CREDIT_ONE / PERIOD, at = 0, next_tick = 0, given = 0, deserved = 0;
	struct kinds known = {};
	struct credit c = {};

	for (int i = 0; i < 20000; i++) {
		u64 length = 50 + random_below(3 * PERIOD), key = 1 + i % 3, inside = 0;
		u64 selected = key == 1 ? length : key == 2 ? 0 : length / 4 + random_below(length / 2);
		struct kind *k;
		u64 due;
		u32 hits, ticks;

		for (; next_tick < at + length; next_tick += PERIOD * 7 / 8 + random_below(PERIOD / 4)) {
			c.ticks++;
			if (next_tick < at + selected) {
				c.hits++;
				c.in += PERIOD;
			}
			inside += credit_due(&c, next_tick, rate);
		}
		at += length;
		hits = c.hits;
		ticks = c.ticks;
		k = kinds_find(&known, key);
		due = inside + credit_hand_over(&c, at, rate, PERIOD, k);
		if (ticks)
			kinds_learn(&known, key, hits, ticks);
		MUST(due <= length * rate / CREDIT_ONE, &threads[0]);
		if (i < 2000)
			continue;
		given += due;
		deserved += selected * rate / CREDIT_ONE;
		if (key == 1)
			MUST(due + 2 >= length * rate / CREDIT_ONE, &threads[0]);
		if (key == 2)
			MUST(due <= 2 * d, &threads[0]);
	}
	MUST(given <= deserved + deserved / 50 && deserved <= given + given / 50, &threads[0]);
}

int main(int argc, char **argv)
{
	u64 n, slack;

	if (argc != 4)
		return 2;
	seed = strtoull(argv[1], 0, 10) * 0x9e3779b97f4a7c15 + 1;
	n = strtoull(argv[2], 0, 10);
	slack = strtoull(argv[3], 0, 10);
	global = start_global = 5000;
	for (int i = 0; i < THREADS; i++) {
		account_adopt(&threads[i].account, 1, now, global);
		MUST(threads[i].account.level == global && threads[i].account.since == now, &threads[i]);
	}
	stretches(PERIOD / 2);
	stretches(PERIOD);
	for (u64 i = 0; i < n; i++) {
		struct thread *t = &threads[random_below(THREADS)], *by = &threads[random_below(THREADS)];

		now += random_below(PERIOD / 2);
		if (t->blocked)
			wake(t, by->blocked ? 0 : by);
		else if (random_below(4) == 0)
			block(t);
		else
			tick(t, random_below(PERIOD + 1), slack);
		for (int k = 0; k < THREADS; k++)
			MUST(threads[k].account.level <= global, &threads[k]);
	}
	/*
	 * At the end everyone pays: pauses, own samples and what was excused by
	 * waiting are then the same for all, less what a thread inherited from
	 * one that was ahead.
	 */
	for (int i = 0; i < THREADS; i++) {
		struct thread *t = &threads[i];

		u64 debt = account_debt(t->account.level, global);
		t->account.level = account_paid(t->account.level, debt, global);
		MUST(t->account.level == global, t);
	}
	printf("ok: hits %lu, busy waits %lu, stops %lu, blocks %lu, wakes %lu, outside %lu\n", (unsigned long)events[0],
	       (unsigned long)events[1], (unsigned long)events[2], (unsigned long)events[3], (unsigned long)events[4],
	       (unsigned long)events[5]);
	for (int i = 0; i < 6; i++)
		if (!events[i])
			return 3;
	return 0;
}
