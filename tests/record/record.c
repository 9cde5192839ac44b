/*
 * record.c -- clients that record their operations and answers, for `namdb check`.
 *
 *	record --backend namdb|postgres --where STRING --workload
 *list|bank|register|checkout --level rc|rr|ser
 *	       [--cluster] --sessions N --first N --ms N --start NS --window MS
 *--keys N --seed N --out FILE
 *	       [--think MS] [--place N --row N] [--patient]
 *	record ... --setup | --final
 *
 * Each session is a thread with a connection. Before it begins a transaction, it writes a record of
 * status info, with all that the transaction may write, into FILE with one write(2). When the
 * transaction has ended, it writes another record with that id, which says how. So the file is true
 * even if the process is killed in between. FILE has neither first nor last line: histories.py puts
 * parts together.
 *
 * With --place and --row it also measures how long a process that dies or stalls holds up others:
 * probe.h.
 *
 * With --patient a session goes on when a connection to a storage node broke (58030): the next
 * transaction has a new one.
 *
 * `checkout` is like TPC-W's: it takes some of one to three items from stock, and writes an order
 * and its lines. For the judge it is a bank: a second account of each item holds what its lines say
 * was sold.
 *
 * Keys of `list` and `register` wander: at a time there are HOT of them, and every --window ms they
 * move on by one, so lists stay short.
 */
#include "probe.h"
#include "record.h"

#include <base/number.h>
#include <base/rng.h>

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
	HOT = 8,
	OPS_MAX = 4,
	BALANCE = 100,
	STOCK = 1000000,
	ITEMS_MAX = 3,
	LINE_MAX_BYTES = 1 << 20,
	SESSIONS_MAX = 64,
	BROKEN_MAX = 500
};

enum workload { LIST, BANK, REGISTER, CHECKOUT, WORKLOADS };
static const char *const workload_names[WORKLOADS] = { "list", "bank", "register", "checkout" };

static struct {
	const struct backend *backend;
	const char *where, *out;
	enum workload workload;
	bool cluster, setup, final, probes, patient;
	const char *begin; /* BEGIN with its level */
	const char *level; /* in SQL's words */
	unsigned sessions, first, keys, row, place;
	uint64_t ms, seed, start, window_ms, think_ms;
	int fd;
} cfg;

/* A line that grows. */
struct line {
	char *text;
	size_t n, cap;
};

static void __attribute__((format(printf, 2, 3))) say(struct line *l, const char *fmt, ...)
{
	va_list ap;
	for (;;) {
		va_start(ap, fmt);
		int n = vsnprintf(l->text + l->n, l->cap - l->n, fmt, ap);
		va_end(ap);
		if (n >= 0 && (size_t)n < l->cap - l->n) {
			l->n += (size_t)n;
			return;
		}
		l->cap = l->cap * 2 + (size_t)n + 1;
		l->text = realloc(l->text, l->cap);
		if (l->text == NULL)
			abort();
	}
}

struct op {
	bool read;
	unsigned key;
	int64_t value; /* appended; moved */
};

struct session {
	unsigned number;
	uint64_t id; /* of the transaction */
	struct nam_rng dice;
	void *conn;
	struct answer answer;
	struct line line, ops;
	uint64_t next, ok, fail, info;
	unsigned broken; /* transactions in a row that ended with 58030 */
	bool over;
	pthread_t thread;
};

static int64_t
now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static unsigned
dice(struct session *s, unsigned n)
{
	return (unsigned)nam_rng_below(&s->dice, n);
}

static bool
run(struct session *s, const char *fmt, ...)
{
	char sql[300];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(sql, sizeof sql, fmt, ap);
	va_end(ap);
	cfg.backend->run(s->conn, sql, &s->answer);
	return strcmp(s->answer.state, "00000") == 0;
}

/* Another transaction was in the way, so this one is gone for sure. */
static bool
gave_way(const struct session *s)
{
	static const char *const states[] = { "40001", "40P01", "55P03" };
	for (unsigned i = 0; i < 3; i++)
		if (strcmp(s->answer.state, states[i]) == 0)
			return true;
	return false;
}

static void
write_record(struct session *s, uint64_t id, int64_t begin, int64_t end, const char *status, const char *note)
{
	s->line.n = 0;
	say(&s->line, "{\"id\":%" PRIu64 ",\"session\":%u,\"process\":%d,\"begin\":%" PRId64, id, s->number,
	    (int)getpid(), begin);
	if (end != 0)
		say(&s->line, ",\"end\":%" PRId64, end);
	if (cfg.final)
		say(&s->line, ",\"final\":true");
	if (note[0] != 0)
		say(&s->line, ",\"note\":\"%s\"", note);
	say(&s->line, ",\"status\":\"%s\",\"ops\":[%s]}\n", status, s->ops.n ? s->ops.text : "");
	for (size_t at = 0; at < s->line.n;) {
		ssize_t n = write(cfg.fd, s->line.text + at, s->line.n - at);
		if (n < 0 && errno != EINTR) {
			perror(cfg.out);
			exit(1);
		}
		at += n > 0 ? (size_t)n : 0;
	}
}

/* ---- one operation ---- */

static void
note_op(struct session *s, const char *what, unsigned key)
{
	say(&s->ops, "%s[\"%s\",%u,", s->ops.n ? "," : "", what, key);
}

static void
note_write(struct session *s, const struct op *o)
{
	static const char *const what[] = { "append", "add", "w", "add" };
	note_op(s, what[cfg.workload], o->key);
	say(&s->ops, "%" PRId64 "]", cfg.workload == CHECKOUT ? -o->value : o->value);
	if (cfg.workload != CHECKOUT)
		return;
	note_op(s, "add", cfg.keys + o->key);
	say(&s->ops, "%" PRId64 "]", o->value);
}

/* Rows of (key, text) as they were read. A list is ",1,2,3"; a register that was never written is
 * NULL. */
static void
note_rows(struct session *s, const char *what)
{
	for (size_t i = 0; i < s->answer.rows; i++) {
		const char *text = s->answer.cell[2 * i + 1];
		note_op(s, what, (unsigned)strtoul(s->answer.cell[2 * i], NULL, 10));
		if (cfg.workload == LIST)
			say(&s->ops, "[%s]]", *text == ',' ? text + 1 : text);
		else
			say(&s->ops, "%s]", *text ? text : "null");
	}
}

/* Where it reads all, in two statements, so that a snapshot that moves shows.
 */
static bool
do_read(struct session *s, const struct op *o)
{
	switch (cfg.workload) {
	case LIST:
		return run(s, "SELECT k, v FROM la WHERE k = %u", o->key);
	case REGISTER:
		return run(s, "SELECT k, v FROM reg WHERE k = %u", o->key);
	case BANK:
		return run(s, "SELECT id, b FROM acct WHERE id < %u", cfg.keys / 2) &&
		       (note_rows(s, "r"), run(s, "SELECT id, b FROM acct WHERE id >= %u", cfg.keys / 2));
	default:
		return run(s, "SELECT i, n FROM stock") &&
		       (note_rows(s, "r"), run(s, "SELECT i + %u, sum(q) FROM lines GROUP BY i", cfg.keys));
	}
}

static bool
do_write(struct session *s, const struct op *o, unsigned nth)
{
	switch (cfg.workload) {
	case LIST:
		return run(s, "UPDATE la SET v = v || ',%" PRId64 "' WHERE k = %u", o->value, o->key);
	case REGISTER:
		/* Under a lock that is kept, so that the judge knows which version it is
     * that is overwritten. */
		return run(s, "SELECT k, v FROM reg WHERE k = %u FOR UPDATE", o->key) &&
		       (note_rows(s, "l"),
			   run(s, "UPDATE reg SET v = %" PRId64 " WHERE k = %u", o->value, o->key));
	case BANK:
		return run(s, "UPDATE acct SET b = b + %" PRId64 " WHERE id = %u", o->value, o->key);
	default:
		return (nth > 0 || run(s, "INSERT INTO orders VALUES (%" PRIu64 ")", s->id)) &&
		       run(s, "UPDATE stock SET n = n - %" PRId64 " WHERE i = %u", o->value, o->key) &&
		       run(s, "INSERT INTO lines VALUES (%" PRIu64 ", %u, %u, %" PRId64 ")", s->id, nth,
			   o->key, o->value);
	}
}

static bool
do_op(struct session *s, const struct op *o, unsigned nth)
{
	bool ok = o->read ? do_read(s, o) : do_write(s, o, nth);
	if (ok && o->read)
		note_rows(s, "r");
	else if (ok)
		note_write(s, o);
	return ok;
}

/* ---- one transaction ---- */

static unsigned
plan(struct session *s, struct op *op, uint64_t id)
{
	if (cfg.workload == CHECKOUT) {
		if (dice(s, 12) == 0) {
			op[0] = (struct op){ .read = true };
			return 1;
		}
		unsigned items = 1 + dice(s, ITEMS_MAX), first = dice(s, cfg.keys);
		for (unsigned i = 0; i < items; i++)
			op[i] = (struct op){ .key = (first + i) % cfg.keys, .value = 1 + dice(s, 5) };
		return items;
	}
	if (cfg.workload == BANK) {
		unsigned from = dice(s, cfg.keys), to = dice(s, cfg.keys - 1);
		int64_t much = 1 + dice(s, 5);
		if (dice(s, 3) == 0) {
			op[0] = (struct op){ .read = true };
			return 1;
		}
		op[0] = (struct op){ .key = from, .value = -much };
		op[1] = (struct op){ .key = to + (to >= from), .value = much };
		return 2;
	}
	unsigned n = 1 + dice(s, OPS_MAX);
	unsigned window = (unsigned)((uint64_t)(now_ns() - (int64_t)cfg.start) / 1000000 / cfg.window_ms);
	for (unsigned i = 0; i < n; i++)
		op[i] = (struct op){ .read = dice(s, 2),
			.key = (window + dice(s, HOT)) % cfg.keys,
			.value = (int64_t)(id * OPS_MAX + i) };
	return n;
}

static void
transaction(struct session *s)
{
	struct op op[OPS_MAX];
	uint64_t id = s->id = (uint64_t)s->number * 10000000 + s->next++;
	unsigned n = plan(s, op, id), i = 0;
	bool alone = n == 1 && cfg.workload == LIST && dice(s, 2), writes = false;
	s->ops.n = 0;
	for (unsigned k = 0; k < n; k++)
		if (!op[k].read) {
			note_write(s, &op[k]);
			writes = true;
		}
	int64_t begin = now_ns();
	write_record(s, id, begin, 0, "info", "");
	s->ops.n = 0;
	const char *status = "ok";
	bool ok = alone || run(s, "%s", cfg.begin);
	while (ok && i < n && (ok = do_op(s, &op[i], i)))
		i++;
	if (ok && !alone) {
		ok = run(s, "COMMIT");
		alone = true; /* from here on the error tells */
	}
	char note[40] = "";
	if (!ok) {
		/* Rolled back for sure if COMMIT was never asked for, or says itself that
     * it lost. */
		status = !alone || gave_way(s) || !writes ? "fail" : "info";
		snprintf(note, sizeof note, "%s", s->answer.state);
		if (!gave_way(s))
			fprintf(stderr, "record: session %u: %s: %s\n", s->number, s->answer.state,
			    s->answer.message);
		if (status[0] == 'i') {
			s->ops.n = 0;
			for (unsigned k = 0; k < n; k++)
				if (!op[k].read)
					note_write(s, &op[k]);
		}
		bool broken =
		    cfg.patient && strcmp(s->answer.state, "58030") == 0 && ++s->broken < BROKEN_MAX;
		s->over = !broken && answer_is_over(&s->answer);
		if (!s->over)
			run(s, "ROLLBACK");
		if (broken)
			nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
	} else {
		s->broken = 0;
	}
	write_record(s, id, begin, now_ns(), status, note);
	s->ok += status[0] == 'o';
	s->fail += status[0] == 'f';
	s->info += status[0] == 'i';
}

static bool
connect_session(struct session *s)
{
	s->conn = cfg.backend->open(cfg.where, &s->answer);
	if (s->conn == NULL) {
		fprintf(stderr, "record: %s\n", s->answer.message);
		return false;
	}
	/* Also the level of statements outside transaction blocks. */
	bool ok = run(s, "SET default_transaction_isolation = '%s'", cfg.level) &&
		  run(s, "SET lock_timeout = '5s'") &&
		  (cfg.backend->settings == NULL || run(s, "%s", cfg.backend->settings)) &&
		  (!cfg.cluster || run(s, "SET namdb.visibility = 'cluster'"));
	if (!ok)
		fprintf(stderr, "record: %s: %s\n", s->answer.state, s->answer.message);
	return ok;
}

static void *
session_main(void *arg)
{
	struct session *s = arg;
	int64_t until = now_ns() + (int64_t)cfg.ms * 1000000;
	while (now_ns() < until && !s->over) {
		transaction(s);
		if (cfg.think_ms != 0)
			nanosleep(
			    &(struct timespec){ .tv_nsec = (long)dice(s, (unsigned)cfg.think_ms * 1000000) },
			    NULL);
	}
	return NULL;
}

/* ---- before and after ---- */

static bool
set_up(struct session *s)
{
	static const char *const table[WORKLOADS][3] = {
		{ "CREATE TABLE la (k integer PRIMARY KEY, v text NOT NULL)" },
		{ "CREATE TABLE acct (id integer PRIMARY KEY, b bigint NOT NULL)" },
		{ "CREATE TABLE reg (k integer PRIMARY KEY, v bigint)" },
		{ "CREATE TABLE stock (i integer PRIMARY KEY, n bigint NOT NULL)",
		    "CREATE TABLE orders (o bigint PRIMARY KEY)",
		    "CREATE TABLE lines (o bigint, l integer, i integer NOT NULL, q bigint "
		    "NOT NULL, PRIMARY KEY (o, l))" },
	};
	bool ok = true;
	for (unsigned i = 0; ok && i < 3 && table[cfg.workload][i] != NULL; i++)
		ok = run(s, "%s", table[cfg.workload][i]);
	/* Order 0 has a line of none of each item, so that each has a sum. */
	if (ok && cfg.workload == CHECKOUT)
		ok = run(s, "INSERT INTO orders VALUES (0)");
	for (unsigned k = 0; ok && k < cfg.keys; k++)
		switch (cfg.workload) {
		case LIST:
			ok = run(s, "INSERT INTO la VALUES (%u, '')", k);
			break;
		case BANK:
			ok = run(s, "INSERT INTO acct VALUES (%u, %d)", k, BALANCE);
			break;
		case REGISTER:
			ok = run(s, "INSERT INTO reg VALUES (%u, NULL)", k);
			break;
		default:
			ok = run(s, "INSERT INTO stock VALUES (%u, %d)", k, STOCK) &&
			     run(s, "INSERT INTO lines VALUES (0, %u, %u, 0)", k, k);
		}
	if (ok && cfg.probes)
		ok = probe_setup(cfg.backend, s->conn, &s->answer);
	if (!ok)
		fprintf(stderr, "record: %s: %s\n", s->answer.state, s->answer.message);
	return ok;
}

/* One read of everything, the last word. */
static bool
read_all(struct session *s)
{
	static const char *const all[] = { "SELECT k, v FROM la", "SELECT id, b FROM acct",
		"SELECT k, v FROM reg", "SELECT i, n FROM stock" };
	int64_t begin = now_ns();
	s->ops.n = 0;
	bool ok = run(s, "%s", all[cfg.workload]);
	size_t rows = s->answer.rows;
	if (ok)
		note_rows(s, "r");
	if (ok && cfg.workload == CHECKOUT &&
	    (ok = run(s, "SELECT i + %u, sum(q) FROM lines GROUP BY i", cfg.keys)))
		note_rows(s, "r");
	if (!ok) {
		fprintf(stderr, "record: %s: %s\n", s->answer.state, s->answer.message);
		return false;
	}
	write_record(s, (uint64_t)s->number * 10000000, begin, now_ns(), "ok", "");
	if (cfg.workload == CHECKOUT) {
		ok = run(s, "SELECT (SELECT count(*) FROM orders WHERE o NOT IN (SELECT o FROM "
			    "lines)), "
			    "(SELECT count(*) FROM lines WHERE o NOT IN (SELECT o FROM orders))");
		if (!ok || strcmp(s->answer.cell[0], "0") != 0 || strcmp(s->answer.cell[1], "0") != 0) {
			fprintf(stderr, "record: orders without lines, or lines without an order: %s\n",
			    ok ? s->answer.cell[0] : s->answer.message);
			return false;
		}
	}
	return rows == cfg.keys;
}

static int
usage(const char *what)
{
	fprintf(stderr, "record: %s; tests/record/record.c says how it is used\n", what);
	return 2;
}

static const struct option known[] = {
	{ "backend", required_argument, NULL, 'b' },
	{ "where", required_argument, NULL, 'w' },
	{ "workload", required_argument, NULL, 'k' },
	{ "level", required_argument, NULL, 'l' },
	{ "cluster", no_argument, NULL, 'c' },
	{ "sessions", required_argument, NULL, 's' },
	{ "first", required_argument, NULL, 'f' },
	{ "ms", required_argument, NULL, 't' },
	{ "start", required_argument, NULL, 'z' },
	{ "window", required_argument, NULL, 'm' },
	{ "keys", required_argument, NULL, 'n' },
	{ "seed", required_argument, NULL, 'r' },
	{ "out", required_argument, NULL, 'o' },
	{ "row", required_argument, NULL, 'R' },
	{ "think", required_argument, NULL, 'T' },
	{ "place", required_argument, NULL, 'P' },
	{ "patient", no_argument, NULL, 'p' },
	{ "setup", no_argument, NULL, 'S' },
	{ "final", no_argument, NULL, 'F' },
	{ 0 },
};
static const struct {
	const char *name, *sql, *begin;
} levels[] = {
	{ "rc", "read committed", "BEGIN ISOLATION LEVEL READ COMMITTED" },
	{ "rr", "repeatable read", "BEGIN ISOLATION LEVEL REPEATABLE READ" },
	{ "ser", "serializable", "BEGIN ISOLATION LEVEL SERIALIZABLE" },
};

/* Fills cfg. 0: go on; else the exit code. */
static int
options(int argc, char **argv)
{
	uint64_t sessions = 1, first = 1, keys = 0, row = 0, place = 0;
	for (int o; (o = getopt_long(argc, argv, "", known, NULL)) != -1;) {
		bool ok = true;
		switch (o) {
		case 'b':
			cfg.backend = strcmp(optarg, "namdb") == 0      ? &backend_namdb
				      : strcmp(optarg, "postgres") == 0 ? &backend_postgres
									: NULL;
			break;
		case 'w':
			cfg.where = optarg;
			break;
		case 'k':
			while (cfg.workload < WORKLOADS && strcmp(optarg, workload_names[cfg.workload]) != 0)
				cfg.workload++;
			ok = cfg.workload < WORKLOADS;
			break;
		case 'l':
			for (unsigned i = 0; i < 3; i++)
				if (strcmp(optarg, levels[i].name) == 0) {
					cfg.level = levels[i].sql;
					cfg.begin = levels[i].begin;
				}
			break;
		case 'c':
			cfg.cluster = true;
			break;
		case 's':
			ok = nam_number(optarg, 1, SESSIONS_MAX, &sessions);
			break;
		case 'f':
			ok = nam_number(optarg, 0, 1000000, &first);
			break;
		case 't':
			ok = nam_number(optarg, 0, 1000000000, &cfg.ms);
			break;
		case 'z':
			ok = nam_number(optarg, 0, INT64_MAX, &cfg.start);
			break;
		case 'm':
			ok = nam_number(optarg, 1, 1000000000, &cfg.window_ms);
			break;
		case 'n':
			ok = nam_number(optarg, 2, 1000000, &keys);
			break;
		case 'r':
			ok = nam_number(optarg, 0, UINT64_MAX, &cfg.seed);
			break;
		case 'o':
			cfg.out = optarg;
			break;
		case 'R':
			ok = nam_number(optarg, 0, PROBE_ROWS - 1, &row);
			break;
		case 'T':
			ok = nam_number(optarg, 0, 1000, &cfg.think_ms);
			break;
		case 'P':
			ok = cfg.probes = nam_number(optarg, 0, PROBE_PLACES - 1, &place);
			break;
		case 'p':
			cfg.patient = true;
			break;
		case 'S':
			cfg.setup = true;
			break;
		case 'F':
			cfg.final = true;
			break;
		default:
			return usage("unknown option");
		}
		if (!ok)
			return usage(optarg);
	}
	if (cfg.backend == NULL || cfg.where == NULL || cfg.level == NULL || keys == 0 || cfg.out == NULL ||
	    cfg.window_ms == 0)
		return usage("--backend, --where, --level, --window, --keys and --out are needed");
	cfg.sessions = cfg.setup || cfg.final ? 1 : (unsigned)sessions;
	cfg.first = (unsigned)first;
	cfg.keys = (unsigned)keys;
	cfg.row = (unsigned)row;
	cfg.place = (unsigned)place;
	return 0;
}

int
main(int argc, char **argv)
{
	int code = options(argc, argv);
	if (code != 0)
		return code;
	cfg.fd = open(cfg.out, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (cfg.fd < 0) {
		perror(cfg.out);
		return 1;
	}
	/* Static: what they have is no leak where an error ends the process. */
	static struct session *s;
	bool ok = (s = calloc(cfg.sessions, sizeof *s)) != NULL;
	for (unsigned i = 0; ok && i < cfg.sessions; i++) {
		s[i].number = cfg.first + i;
		nam_rng_init(&s[i].dice, cfg.seed * 1000003 + s[i].number);
		answer_reset(&s[i].answer);
		ok = connect_session(&s[i]);
	}
	if (ok && cfg.setup)
		ok = set_up(&s[0]);
	else if (ok && cfg.final)
		ok = read_all(&s[0]);
	if (!ok)
		return 1;
	const struct probe_config probing = { cfg.backend, cfg.where, cfg.out, cfg.row, cfg.place, cfg.ms,
		cfg.seed };
	bool probes = cfg.probes && !cfg.setup && !cfg.final;
	if (probes && !probe_start(&probing))
		return 1;
	uint64_t sum[3] = { 0 };
	bool over = false;
	for (unsigned i = 0; i < cfg.sessions && !cfg.setup && !cfg.final; i++)
		if (pthread_create(&s[i].thread, NULL, session_main, &s[i]) != 0)
			abort();
	for (unsigned i = 0; i < cfg.sessions; i++) {
		if (!cfg.setup && !cfg.final)
			pthread_join(s[i].thread, NULL);
		over = over || s[i].over;
		sum[0] += s[i].ok;
		sum[1] += s[i].fail;
		sum[2] += s[i].info;
		cfg.backend->close(s[i].conn);
		answer_reset(&s[i].answer);
		free(s[i].answer.cell);
		free(s[i].line.text);
		free(s[i].ops.text);
	}
	free(s);
	close(cfg.fd);
	if (probes)
		probe_join();
	printf("%" PRIu64 " ok, %" PRIu64 " fail, %" PRIu64 " info\n", sum[0], sum[1], sum[2]);
	return over;
}
