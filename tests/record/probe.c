/* probe.c -- see probe.h. Each probe is a thread with a connection of its own. */
#include "probe.h"

#include <base/number.h>
#include <base/rng.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LINE = 400, PULSE_MS = 20, SAMPLE_MS = 10, HOLD_MS = 60 };

static struct probe_config cfg;
static int out_fd;
static int64_t until;

/* What the thread that hears stdin hands on; 0 = nothing. */
struct errand {
	pthread_mutex_t lock;
	pthread_cond_t given;
	unsigned row[PROBE_ROWS];
	unsigned n;
};

struct probe {
	void (*main)(struct probe *p);
	void *conn;
	struct answer answer;
	struct nam_rng dice;
	struct errand errand;
	pthread_t thread;
	char kind; /* of an errand: 'w' or 'r' */
};

static int64_t
now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void
nap(unsigned ms)
{
	nanosleep(&(struct timespec){ .tv_nsec = (long)ms * 1000000 }, NULL);
}

/* One write(2): a line is there, or it is not. */
static void __attribute__((format(printf, 1, 2))) note(const char *fmt, ...)
{
	char line[LINE];
	va_list ap;
	va_start(ap, fmt);
	int n = vsnprintf(line, sizeof line, fmt, ap);
	va_end(ap);
	if (n < 0 || n >= LINE || write(out_fd, line, (size_t)n) != n)
		abort();
}

static bool __attribute__((format(printf, 2, 3))) run(struct probe *p, const char *fmt, ...)
{
	char sql[200];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(sql, sizeof sql, fmt, ap);
	va_end(ap);
	cfg.backend->run(p->conn, sql, &p->answer);
	return strcmp(p->answer.state, "00000") == 0;
}

/* After an error: whether there is any use in going on. */
static bool
goes_on(struct probe *p)
{
	if (answer_is_over(&p->answer))
		return false;
	run(p, "ROLLBACK");
	return true;
}

static void
hold(struct probe *p)
{
	while (now_ns() < until) {
		if (!run(p, "BEGIN") || !run(p, "UPDATE held SET n = n + 1 WHERE k = %u", cfg.row)) {
			if (!goes_on(p))
				return;
			continue;
		}
		note("h %" PRId64 "\n", now_ns());
		nap(1 + (unsigned)nam_rng_below(&p->dice, HOLD_MS));
		note("H %" PRId64 "\n", now_ns());
		if (!run(p, "COMMIT") && !goes_on(p))
			return;
	}
}

static void
pulse(struct probe *p)
{
	for (; now_ns() < until; nap(PULSE_MS)) {
		if (run(p, "UPDATE pulse SET n = n + 1 WHERE k = %u RETURNING k, n", cfg.place)) {
			if (p->answer.rows == 1)
				note("p %u %s %" PRId64 "\n", cfg.place, p->answer.cell[1], now_ns());
		} else if (!goes_on(p)) {
			return;
		}
	}
}

static void
sample(struct probe *p)
{
	for (; now_ns() < until; nap(SAMPLE_MS)) {
		int64_t begin = now_ns();
		if (!run(p, "SELECT k, n FROM pulse")) {
			if (!goes_on(p))
				return;
			continue;
		}
		char seen[LINE / 2] = "";
		size_t n = 0;
		for (size_t i = 0; i < p->answer.rows && n < sizeof seen; i++)
			n += (size_t)snprintf(seen + n, sizeof seen - n, " %s:%s", p->answer.cell[2 * i],
			    p->answer.cell[2 * i + 1]);
		note("s %" PRId64 " %" PRId64 "%s\n", begin, now_ns(), seen);
	}
}

/* The probe retries as fast as it can, to see the moment the row is free. */
static void
fetch(struct probe *p)
{
	struct errand *e = &p->errand;
	for (;;) {
		pthread_mutex_lock(&e->lock);
		while (e->n == 0)
			pthread_cond_wait(&e->given, &e->lock);
		unsigned row = e->row[0];
		memmove(e->row, e->row + 1, --e->n * sizeof e->row[0]);
		pthread_mutex_unlock(&e->lock);
		if (row == PROBE_ROWS)
			return;
		int64_t begin = now_ns();
		const char *how = p->kind == 'w' ? "READ COMMITTED" : "REPEATABLE READ";
		bool ok = false, over = false;
		while (!ok && !over && now_ns() - begin < INT64_C(10000000000)) {
			ok = run(p, "BEGIN ISOLATION LEVEL %s", how) &&
			     run(p, "UPDATE held SET n = n + 1 WHERE k = %u", row) && run(p, "COMMIT");
			if (ok)
				break;
			/* Its own state, not that of the ROLLBACK. */
			char state[6];
			memcpy(state, p->answer.state, sizeof state);
			over = !goes_on(p);
			memcpy(p->answer.state, state, sizeof state);
			if (!over)
				nap(1);
		}
		note("%c %u %" PRId64 " %" PRId64 " %s\n", p->kind, row, begin, now_ns(), p->answer.state);
		if (over)
			return;
	}
}

static struct probe probes[] = { { .main = hold }, { .main = pulse }, { .main = sample },
	{ .main = fetch, .kind = 'w' }, { .main = fetch, .kind = 'r' } };
enum { PROBES = sizeof probes / sizeof probes[0] };

static void
give(struct probe *p, unsigned row)
{
	struct errand *e = &p->errand;
	pthread_mutex_lock(&e->lock);
	if (e->n < PROBE_ROWS)
		e->row[e->n++] = row;
	pthread_cond_signal(&e->given);
	pthread_mutex_unlock(&e->lock);
}

/* Rows to go for, a line each. */
static void *
hear(void *arg)
{
	char line[40];
	uint64_t row;
	(void)arg;
	while (fgets(line, sizeof line, stdin) != NULL) {
		line[strcspn(line, "\n")] = 0;
		if (!nam_number(line, 0, PROBE_ROWS - 1, &row))
			continue;
		for (unsigned i = 0; i < PROBES; i++)
			if (probes[i].kind != 0)
				give(&probes[i], (unsigned)row);
	}
	return NULL;
}

static void *
probe_main(void *arg)
{
	struct probe *p = arg;
	p->main(p);
	return NULL;
}

bool
probe_setup(const struct backend *b, void *conn, struct answer *a)
{
	static const char *const sql[] = {
		"CREATE TABLE held (k integer PRIMARY KEY, n bigint NOT NULL)",
		"CREATE TABLE pulse (k integer PRIMARY KEY, n bigint NOT NULL)",
	};
	char text[120];
	bool ok = true;
	for (unsigned i = 0; ok && i < 2; i++) {
		b->run(conn, sql[i], a);
		ok = strcmp(a->state, "00000") == 0;
	}
	for (unsigned i = 0; ok && i < 2; i++) {
		snprintf(text, sizeof text, "INSERT INTO %s SELECT i, 0 FROM generate_series(0, %d) i",
		    i ? "pulse" : "held", (i ? PROBE_PLACES : PROBE_ROWS) - 1);
		b->run(conn, text, a);
		ok = strcmp(a->state, "00000") == 0;
	}
	return ok;
}

bool
probe_start(const struct probe_config *config)
{
	char path[1000];
	cfg = *config;
	until = now_ns() + (int64_t)cfg.ms * 1000000;
	snprintf(path, sizeof path, "%s.probe", cfg.out);
	out_fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (out_fd < 0) {
		perror(path);
		return false;
	}
	for (unsigned i = 0; i < PROBES; i++) {
		struct probe *p = &probes[i];
		pthread_mutex_init(&p->errand.lock, NULL);
		pthread_cond_init(&p->errand.given, NULL);
		nam_rng_init(&p->dice, cfg.seed * 31 + cfg.row * PROBES + i);
		answer_reset(&p->answer);
		p->conn = cfg.backend->open(cfg.where, &p->answer);
		if (p->conn == NULL || !run(p, "SET lock_timeout = '10s'")) {
			fprintf(stderr, "record: %s: %s\n", p->answer.state, p->answer.message);
			return false;
		}
	}
	pthread_t ear;
	for (unsigned i = 0; i < PROBES; i++)
		if (pthread_create(&probes[i].thread, NULL, probe_main, &probes[i]) != 0)
			abort();
	if (pthread_create(&ear, NULL, hear, NULL) != 0)
		abort();
	pthread_detach(ear);
	return true;
}

void
probe_join(void)
{
	for (unsigned i = 0; i < PROBES; i++) {
		struct probe *p = &probes[i];
		if (p->kind != 0)
			give(p, PROBE_ROWS);
		pthread_join(p->thread, NULL);
		cfg.backend->close(p->conn);
		answer_reset(&p->answer);
		free(p->answer.cell);
	}
	close(out_fd);
}
