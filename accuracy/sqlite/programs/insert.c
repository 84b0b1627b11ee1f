/*
 * insert.c: threads that insert rows into SQLite databases, as fast as they can.
 *
 *     insert private CHANGE PERCENT SECONDS    each of two threads has a database of its own
 *     insert shared CHANGE PERCENT SECONDS     both have one, and take turns: a lock around each transaction
 *
 * CHANGE is one of those of changes.go, or none, and PERCENT how much of it: with 0 nothing is changed. It runs
 * SECONDS after its first transaction, then prints "visits N seconds T". The databases are in /dev/shm: what is to
 * be measured is SQLite, not a disk. A transaction is always the same work: ROWS rows, and what was written
 * before is deleted whenever there are FULL transactions of it, so that trees do not grow.
 */
#include "../../programs/bench.h"
#include "sqlite3.h"
#include <pthread.h>

enum { THREADS = 2, ROWS = 100, FULL = 50, PAYLOAD = 200 };

/* How much is changed, in percent; all but the last are read by the changed library. */
int change_checksum, change_seek, change_write, change_fill;

static const struct change {
  const char *name;
  int *percent;
} changes[] = {
    {"checksum", &change_checksum}, {"seek", &change_seek}, {"write", &change_write}, {"fill", &change_fill}, {"none", NULL},
};

static pthread_mutex_t writer = PTHREAD_MUTEX_INITIALIZER;
static char directory[] = "/dev/shm/whatif-sqlite-XXXXXX";

struct row {
  char key[32];
  unsigned char payload[PAYLOAD];
};

struct database {
  sqlite3 *db;
  sqlite3_stmt *begin, *insert, *commit, *clear;
  long transactions;
};

__attribute__((noreturn)) static void refuse(struct database *d, const char *doing) {
  fprintf(stderr, "insert: %s: %s\n", doing, sqlite3_errmsg(d->db));
  exit(1);
}

static sqlite3_stmt *prepare(struct database *d, const char *sql) {
  sqlite3_stmt *s;
  if (sqlite3_prepare_v2(d->db, sql, -1, &s, NULL))
    refuse(d, sql);
  return s;
}

static void open_database(struct database *d, int number) {
  char path[64];
  snprintf(path, sizeof path, "%s/%d.db", directory, number);
  if (sqlite3_open(path, &d->db))
    refuse(d, path);
  if (sqlite3_exec(d->db,
                   "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;"
                   "CREATE TABLE rows(id INTEGER PRIMARY KEY, key TEXT, payload BLOB); CREATE INDEX by_key ON rows(key)",
                   NULL, NULL, NULL))
    refuse(d, "creating the table");
  /* They stay open, so nothing is left behind however the program ends. */
  for (const char *const *suffix = (const char *[]){"", "-wal", "-shm", NULL}; *suffix; suffix++) {
    char name[72];
    snprintf(name, sizeof name, "%s%s", path, *suffix);
    if (unlink(name))
      die(name);
  }
  d->begin = prepare(d, "BEGIN IMMEDIATE");
  d->insert = prepare(d, "INSERT INTO rows(key, payload) VALUES(?, ?)");
  d->commit = prepare(d, "COMMIT");
  d->clear = prepare(d, "DELETE FROM rows");
}

static void step(struct database *d, sqlite3_stmt *s) {
  if (sqlite3_step(s) != SQLITE_DONE)
    refuse(d, sqlite3_sql(s));
  sqlite3_reset(s);
}

static void insert_row(struct database *d, const struct row *r) {
  sqlite3_bind_text(d->insert, 1, r->key, -1, SQLITE_STATIC);
  sqlite3_bind_blob(d->insert, 2, r->payload, sizeof r->payload, SQLITE_STATIC);
  step(d, d->insert);
}

static void write_rows(struct database *d, const struct row *rows) {
  step(d, d->begin);
  if (d->transactions++ % FULL == 0)
    step(d, d->clear);
  for (int i = 0; i < ROWS; i++)
    insert_row(d, &rows[i]);
  step(d, d->commit);
}

static uint64_t next(uint64_t *state) { return *state = *state * 6364136223846793005u + 1442695040888963407u; }

/* The application's own work for a row. */
__attribute__((noinline)) static void fill(unsigned char *payload, uint64_t *state) {
  for (int i = PAYLOAD * change_fill / 100; i < PAYLOAD; i++)
    payload[i] = next(state) >> 56;
}

static void make_row(struct row *r, uint64_t *state) {
  fill(r->payload, state);
  snprintf(r->key, sizeof r->key, "%016llx", (unsigned long long)next(state));
}

struct job {
  struct database *database;
  pthread_mutex_t *lock; /* NULL: nobody else has the database */
  int number;
};

static void *insert_all(void *arg) {
  struct job *job = arg;
  struct row *rows = malloc(ROWS * sizeof *rows);
  uint64_t state = job->number;
  for (;;) {
    for (int i = 0; i < ROWS; i++)
      make_row(&rows[i], &state);
    if (job->lock)
      pthread_mutex_lock(job->lock);
    write_rows(job->database, rows);
    if (job->lock)
      pthread_mutex_unlock(job->lock);
    visit();
  }
  return NULL;
}

static int *percent_of(const char *name) {
  static int ignored;
  for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
    if (!strcmp(name, changes[i].name))
      return changes[i].percent ? changes[i].percent : &ignored;
  return NULL;
}

int main(int argc, char **argv) {
  int *percent = argc == 5 ? percent_of(argv[2]) : NULL;
  if (!percent || (strcmp(argv[1], "private") && strcmp(argv[1], "shared"))) {
    fprintf(stderr, "usage: %s private|shared checksum|seek|write|fill|none PERCENT SECONDS\n", argv[0]);
    return 2;
  }
  int shared = !strcmp(argv[1], "shared");
  bench_init(argc - 2, argv + 2);
  *percent = bench.percent;
  if (!mkdtemp(directory))
    die("making a directory for the databases");
  static struct database databases[THREADS];
  static struct job jobs[THREADS];
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++) {
    jobs[i] = (struct job){&databases[shared ? 0 : i], shared ? &writer : NULL, i + 1};
    if (!shared || i == 0)
      open_database(&databases[i], i);
  }
  if (rmdir(directory))
    die(directory);
  for (int i = 0; i < THREADS; i++)
    pthread_create(&threads[i], NULL, insert_all, &jobs[i]);
  pthread_join(threads[0], NULL);
}
