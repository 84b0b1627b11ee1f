//go:build ignore

/*
 * Drives threads with accounts, a clock and G with random events, and checks the rules of
 * vtime/level.h after each. Each thread has a core of its own, because waiting for a core is the
 * same account_waited as waiting for a thread. The status is 3 if some kind of event never happened.
 * usage: events SEED
 */
#include "../../vtime/credit.h"
#include "../../vtime/estimates.h"
#include "../../vtime/level.h"
#include "check.h"

#define THREADS 6
#define EVENTS 200000

struct thread {
	struct account account;
	struct spin spin;
	bool sleeping;
};

static struct thread threads[THREADS];
static u64 now = 1000000, global = 5000; /* global is G */

enum event {
	EVENT_HIT,	    /* a tick met a thread in the selected code */
	EVENT_BUSY_WAIT,    /* a tick met a thread that waits busily */
	EVENT_STOP,	    /* a thread was stopped for its debt */
	EVENT_SLEEP,	    /* a thread went to sleep */
	EVENT_WAKE,	    /* another thread woke it */
	EVENT_WAKE_OUTSIDE, /* a timer or a device woke it */
	EVENT_MAX,
};

static u64 events[EVENT_MAX]; /* how often each happened */

/* The thread's position in virtual time. */
static u64 position(const struct thread *t)
{
	return now - t->account.level;
}

/* All threads enter an experiment. */
static void enter_experiment(void)
{
	for (int i = 0; i < THREADS; i++) {
		account_enter_experiment(&threads[i].account, 1, now, global);
		MUST(threads[i].account.level == global && threads[i].account.since == now);
	}
}

/*
 * A sample in the selected code stands for a period, and is worth so many ns. Its segment is only a
 * quarter of a period long. The next segment is longer, and gets the rest.
 */
static void earn(struct thread *t, u64 worth)
{
	struct credit c = { .began = now, .in = PERIOD, .hits = TICK_ONE, .ticks = TICK_ONE };
	u64 rate = worth * CREDIT_ONE / PERIOD, due = credit_due(&c, now + PERIOD / 4, rate);

	/* A segment earns at most s of its length. */
	MUST(due <= PERIOD / 4 * rate / CREDIT_ONE);
	due += credit_hand_over(&c, now + PERIOD / 4, rate, PERIOD, 0);
	due += credit_hand_over(&c, now + 2 * PERIOD, rate, PERIOD, 0);
	/* Both together earn all, except for what is rounded down. */
	MUST(due <= worth && due + PERIOD / CREDIT_ONE + 1 >= worth &&
		     c.carry == (s64)(PERIOD * rate / CREDIT_ONE - due));
	t->account.level += due;
	if (global < t->account.level)
		global = t->account.level;
	events[EVENT_HIT]++;
}

/* What the thread has waited busily is set against its debt. */
static void offset_spin(struct thread *t)
{
	u64 left = t->spin.left, level = t->account.level;

	t->account.level = spin_offset(&t->spin, level, global);
	MUST(t->account.level - level == left - t->spin.left);
	MUST(t->account.level <= global && (t->account.level == global || !t->spin.left));
}

/* The thread is stopped for its debt, except for slack. A stop lasts a little longer than that. */
static void stop(struct thread *t, u64 debt, u64 slack)
{
	u64 took;

	if (debt <= slack)
		return;
	took = debt - slack + random_below(300);
	now += took;
	t->account.level = account_paid(t->account.level, took, global);
	events[EVENT_STOP]++;
}

/*
 * A tick meets the thread in the selected code, where a sample is worth so many ns, or waiting
 * busily, or elsewhere. Then the thread pays what it owed before the sample.
 */
static void tick(struct thread *t, u64 worth, u64 slack)
{
	u64 global_before = global, position_before = position(t);

	if (random_below(3) == 0) {
		earn(t, worth);
	} else if (random_below(4) == 0) {
		t->spin.left = PERIOD;
		events[EVENT_BUSY_WAIT]++;
		return;
	}
	offset_spin(t);
	stop(t, account_debt(t->account.level, global_before), slack);
	/* A stop moves no thread on in virtual time, except by what it lasted too long. */
	MUST(position(t) <= position_before + 2 * PERIOD);
}

static void fall_asleep(struct thread *t)
{
	t->account.since = now;
	t->sleeping = 1;
	events[EVENT_SLEEP]++;
}

/* The thread wakes up. by is 0 where a timer or a device wakes it: the level stays as it is. */
static void wake(struct thread *t, struct thread *by)
{
	u64 asleep = t->account.since - t->account.level; /* its position meanwhile */

	if (by) {
		u64 own, waker;

		t->account.level = account_waited(&t->account, now, by->account.level);
		own = position(t);
		waker = position(by);
		/* The thread goes on at the later of its own position and its waker's. */
		MUST(own >= asleep && own >= waker);
		MUST(own == asleep || own == waker);
		events[EVENT_WAKE]++;
	} else {
		events[EVENT_WAKE_OUTSIDE]++;
	}
	t->sleeping = 0;
	t->account.since = now;
}

/*
 * The check of all events of the model. No level is ever above G. At the end all threads pay, and
 * their levels are equal.
 */
static void check_events(u64 slack)
{
	for (int i = 0; i < EVENTS; i++) {
		struct thread *t = &threads[random_below(THREADS)],
			      *by = &threads[random_below(THREADS)];

		now += random_below(PERIOD / 2);
		if (t->sleeping)
			wake(t, by->sleeping ? 0 : by);
		else if (random_below(4) == 0)
			fall_asleep(t);
		else
			tick(t, random_below(PERIOD + 1), slack);
		for (int k = 0; k < THREADS; k++)
			MUST(threads[k].account.level <= global);
	}
	for (int i = 0; i < THREADS; i++) {
		struct thread *t = &threads[i];
		u64 debt = account_debt(t->account.level, global);

		t->account.level = account_paid(t->account.level, debt, global);
		MUST(t->account.level == global);
	}
}

int main(int argc, char **argv)
{
	static const u64 slacks[] = { 0, PERIOD, 4 * PERIOD };

	read_seed(argc, argv);
	enter_experiment();
	for (u64 i = 0; i < sizeof slacks / sizeof *slacks; i++)
		check_events(slacks[i]);
	for (int i = 0; i < EVENT_MAX; i++)
		if (!events[i])
			return 3;
	return 0;
}
