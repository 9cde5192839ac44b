/*
 * tpch.c -- `namdb bench tpch`: TPC-H's data made, loaded, and its 22 questions asked, of us and
 * of PostgreSQL or DuckDB.
 *
 * Beside PostgreSQL time is CPU time: of the whole process here, storage and heartbeat included; of
 * the session's process there. Beside DuckDB, which runs in this process on as many threads as
 * namdb has workers, it is the time until the answer is there.
 */
#include "tpch.h"

#include <base/clock.h>
#include <base/number.h>
#include <bench/bench.h>
#include <bench/olap/duckdb.h>
#include <bench/peer_postgres.h>
#include <compute_node/cn.h>
#include <storage_node/sn.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_LEN = 4096, TIMEOUT_S = 600, ANALYZED_MAX = 64 };
/* Storage that a hundredth of a scale needs, with its versions; and what there must be anyhow. */
#define REGION_PER_SCALE (UINT64_C(80) << 20)
#define REGION_LEAST     (UINT64_C(512) << 20)

struct params {
	unsigned scale, runs, timeout_s, workers;
	uint64_t seed, pool_mib;
	bool only[TPCH_QUERIES], some;
	const char *out; /* a directory for the files; NULL = a temporary one */
	bool peer, duckdb, json, show;
};

struct figure {
	bool ran, peer_ran, same;
	unsigned rows;
	double ours_s, peer_s, ratio;
};

struct run {
	struct params p;
	char dir[PATH_LEN];
	bool own_dir;
	struct sn_region *region;
	struct cn *cn;
	struct cn_session *s;
	struct peer_postgres *peer;
	struct peer_duckdb *duckdb;
	struct bench_text ours, theirs;
	uint64_t rows[TPCH_TABLES];
	double load_s, peer_load_s;
	struct figure f[TPCH_QUERIES];
};

/* The time that counts. */
static double
time_s(const struct run *r)
{
	return r->p.duckdb ? (double)nam_clock_ns() / 1e9 : bench_cpu_seconds();
}

/* ---- files ------------------------------------------------------------------------------ */

static void
file_name(const struct run *r, enum tpch_table t, char *into, size_t size)
{
	snprintf(into, size, "%s/%s.tbl", r->dir, tpch_definitions[t].name);
}

static bool
write_table(struct run *r, const struct tpch *g, enum tpch_table t)
{
	char name[PATH_LEN + 32], item[TPCH_ITEM_BYTES];
	file_name(r, t, name, sizeof name);
	FILE *f = fopen(name, "w");
	bool ok = f != NULL;
	int64_t items = tpch_items(g, t);
	for (int64_t i = 0; ok && i < items; i++) {
		unsigned rows;
		size_t n = tpch_item(g, t, i, item, &rows);
		ok = fwrite(item, 1, n, f) == n;
		r->rows[t] += rows;
		if (i % 10000 == 0)
			bench_progress(
			    "%s: %lld of %lld", tpch_definitions[t].name, (long long)i, (long long)items);
	}
	if (f != NULL)
		ok &= fclose(f) == 0;
	if (!ok)
		fprintf(stderr, "namdb bench: %s: %s\n", name, strerror(errno));
	return ok;
}

static bool
write_files(struct run *r)
{
	struct tpch g;
	if (r->p.out != NULL) {
		if (mkdir(r->p.out, 0755) != 0 && errno != EEXIST) {
			fprintf(stderr, "namdb bench: %s: %s\n", r->p.out, strerror(errno));
			return false;
		}
		if (realpath(r->p.out, r->dir) == NULL)
			return false;
	} else {
		snprintf(r->dir, sizeof r->dir, "/tmp/namdb-tpch-XXXXXX");
		/* another user's PostgreSQL reads the files */
		if (mkdtemp(r->dir) == NULL || chmod(r->dir, 0755) != 0) {
			fprintf(stderr, "namdb bench: %s: %s\n", r->dir, strerror(errno));
			return false;
		}
		r->own_dir = true;
	}
	if (strchr(r->dir, '\'') != NULL) {
		fprintf(stderr, "namdb bench: a quote in the name of --out\n");
		return false;
	}
	uint64_t t0 = nam_clock_ns();
	bool ok = tpch_open(&g, r->p.scale, r->p.seed, r->p.pool_mib << 20);
	if (!ok)
		fprintf(stderr, "namdb bench: no memory for the pool of comments\n");
	for (unsigned t = 0; ok && t < TPCH_TABLES; t++)
		ok = write_table(r, &g, t);
	tpch_close(&g);
	bench_progress_end(
	    "made scale %.2f in %.1f s", r->p.scale / 100.0, (double)(nam_clock_ns() - t0) / 1e9);
	return ok;
}

static void
remove_files(const struct run *r)
{
	char name[PATH_LEN + 32];
	for (unsigned t = 0; t < TPCH_TABLES; t++) {
		file_name(r, t, name, sizeof name);
		unlink(name);
	}
	rmdir(r->dir);
}

/* ---- both databases ------------------------------------------------------------------------ */

static bool
take_rows(void *arg, const struct sql_batch_view *b)
{
	struct bench_text *t = arg;
	struct nam_arena a;
	nam_arena_init(&a, 0);
	for (unsigned r = 0; r < b->n; r++) {
		for (unsigned c = 0; c < b->cols; c++) {
			const struct cat_vec *v = &b->col[c];
			struct cat_str s = { "\\N", 2 };
			if (!v->null[r])
				s = cat_value_out(v->type, cat_vec_at(v, r), &a);
			if (c > 0)
				bench_text_add(t, "|", 1);
			bench_text_add(t, s.p, s.len);
		}
		bench_text_add(t, "\n", 1);
	}
	t->rows += b->n;
	nam_arena_fini(&a);
	return true;
}

static bool
ask(struct run *r, const char *sql)
{
	struct sql_sink sink = { .arg = &r->ours, .rows = take_rows };
	struct cat_err err = { 0 };
	bench_text_clear(&r->ours);
	if (cn_exec(r->s, sql, strlen(sql), &sink, &err))
		return true;
	bench_progress_end("namdb bench: %s: %s\n  in: %.120s", err.sqlstate, err.text, sql);
	return false;
}

static bool
both(struct run *r, const char *sql)
{
	return ask(r, sql) && (r->peer == NULL || peer_postgres_ask(r->peer, sql, NULL));
}

static bool
load_duckdb(struct run *r, const struct tpch_definition *d, const char *file)
{
	char sql[PATH_LEN + 256];
	snprintf(sql, sizeof sql, "CREATE TABLE %s (%s, PRIMARY KEY (%s))", d->name, d->columns, d->key);
	if (!peer_duckdb_ask(r->duckdb, sql, NULL, 0))
		return false;
	snprintf(sql, sizeof sql, "COPY %s FROM '%s' (DELIMITER '|', HEADER false, QUOTE '', ESCAPE '')",
	    d->name, file);
	double t0 = time_s(r);
	bool ok = peer_duckdb_ask(r->duckdb, sql, NULL, 0);
	r->peer_load_s += time_s(r) - t0;
	return ok;
}

/* An answer of DuckDB's as a text. */
static void
take_value(void *arg, unsigned column, unsigned columns, const char *text)
{
	struct bench_text *t = arg;
	if (text == NULL)
		text = "\\N";
	bench_text_add(t, text, strlen(text));
	bench_text_add(t, column + 1 < columns ? "|" : "\n", 1);
	t->rows += column + 1 == columns;
}

/* The peer's answer into r->theirs, and its time. */
static bool
ask_peer(struct run *r, const char *sql, double *s)
{
	uint64_t ns = 0;
	if (r->peer != NULL) {
		double t0 = peer_postgres_cpu(r->peer);
		bool ok = peer_postgres_ask(r->peer, sql, &r->theirs);
		*s = peer_postgres_cpu(r->peer) - t0;
		return ok;
	}
	bench_text_clear(&r->theirs);
	bool ok = peer_duckdb_rows(r->duckdb, sql, take_value, &r->theirs, &ns);
	*s = (double)ns / 1e9;
	return ok;
}

static bool
load_table(struct run *r, enum tpch_table t)
{
	const struct tpch_definition *d = &tpch_definitions[t];
	char name[PATH_LEN + 32], sql[PATH_LEN + 256];
	snprintf(sql, sizeof sql, "CREATE TABLE %s (%s, PRIMARY KEY (%s))", d->name, d->columns, d->key);
	if (!both(r, sql))
		return false;
	file_name(r, t, name, sizeof name);
	snprintf(sql, sizeof sql, "COPY %s FROM '%s' WITH (FORMAT text, DELIMITER '|')", d->name, name);
	bench_progress("loading %s", d->name);
	double t0 = time_s(r);
	if (!ask(r, sql))
		return false;
	r->load_s += time_s(r) - t0;
	if (r->duckdb != NULL && !load_duckdb(r, d, name))
		return false;
	if (r->peer == NULL)
		return true;
	t0 = peer_postgres_cpu(r->peer);
	bool ok = peer_postgres_ask(r->peer, sql, NULL);
	for (unsigned i = 0; ok && i < 3 && d->index[i] != NULL; i++) {
		snprintf(sql, sizeof sql, "CREATE INDEX ON %s (%s)", d->name, d->index[i]);
		ok = peer_postgres_ask(r->peer, sql, NULL);
	}
	r->peer_load_s += peer_postgres_cpu(r->peer) - t0;
	return ok;
}

static bool
load(struct run *r)
{
	char sql[ANALYZED_MAX];
	bool ok = true;
	if (!ask(r, "SET namdb.parallel = 0"))
		return false;
	snprintf(sql, sizeof sql, "SET statement_timeout = '%us'", r->p.timeout_s);
	for (unsigned t = 0; ok && t < TPCH_TABLES; t++)
		ok = load_table(r, t);
	for (unsigned t = 0; ok && t < TPCH_TABLES; t++) {
		char analyze[ANALYZED_MAX];
		snprintf(analyze, sizeof analyze, "ANALYZE %s", tpch_definitions[t].name);
		ok = both(r, analyze);
	}
	bench_progress_end("loaded: %.1f s of CPU", r->load_s);
	return ok && both(r, sql);
}

static bool
open_ours(struct run *r)
{
	struct nam_err err = { 0 };
	const struct sn_region_config rc = {
		.id = 1, .size = REGION_LEAST + r->p.scale * REGION_PER_SCALE, .numa = -1, .embedded = true
	};
	bool ok = sn_region_open(&r->region, &rc, &err) == NAM_OK;
	if (ok) {
		struct net_local *local[2] = { sn_local(r->region), NULL };
		const struct cn_config cfg = { .local = local, .workers = r->p.workers, .measure = true };
		ok = cn_open(&r->cn, &cfg, &err) == NAM_OK && cn_session_open(r->cn, 0, &r->s) == NAM_OK;
	}
	if (!ok)
		fprintf(stderr, "namdb bench: %s\n", err.text);
	return ok;
}

static void
close_all(struct run *r)
{
	cn_session_close(r->s);
	if (r->cn != NULL)
		cn_close(r->cn);
	if (r->region != NULL)
		sn_region_close(r->region);
	if (r->peer != NULL)
		peer_postgres_close(r->peer);
	peer_duckdb_close(r->duckdb);
	bench_text_free(&r->ours);
	bench_text_free(&r->theirs);
	if (r->own_dir)
		remove_files(r);
}

/* ---- questions ------------------------------------------------------------------------------ */

static int
by_line(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The lines of a text in order; their ends become 0. */
static char **
lines_of(struct bench_text *t)
{
	char **line = calloc(t->rows + 1, sizeof *line);
	char *at = t->p;
	for (unsigned i = 0; line != NULL && i < t->rows; i++) {
		line[i] = at;
		at += strcspn(at, "\n");
		*at++ = 0;
	}
	if (line != NULL)
		qsort(line, t->rows, sizeof *line, by_line);
	return line;
}

/*
 * True if both texts have equal rows. Rows that ORDER BY finds equal may come in any order. Spoils
 * both texts.
 */
static bool
same(struct bench_text *a, struct bench_text *b)
{
	if (a->full || b->full || a->rows != b->rows || a->len != b->len)
		return false;
	if (a->len == 0 || memcmp(a->p, b->p, a->len) == 0)
		return true;
	char **x = lines_of(a), **y = lines_of(b);
	bool is = x != NULL && y != NULL;
	for (unsigned i = 0; is && i < a->rows; i++)
		is = strcmp(x[i], y[i]) == 0;
	free(x);
	free(y);
	return is;
}

/* True if two values are one: numbers may differ behind their twelfth digit, because DuckDB divides
 * decimals as doubles. */
static bool
one_value(const char *a, size_t n, const char *b, size_t m)
{
	char x[64], y[64], *xe, *ye;
	/* values of char(n) come with blanks or without */
	while (n > 0 && a[n - 1] == ' ')
		n--;
	while (m > 0 && b[m - 1] == ' ')
		m--;
	if (n == m && memcmp(a, b, n) == 0)
		return true;
	if (n == 0 || m == 0 || n >= sizeof x || m >= sizeof y)
		return false;
	snprintf(x, sizeof x, "%.*s", (int)n, a);
	snprintf(y, sizeof y, "%.*s", (int)m, b);
	double p = strtod(x, &xe), q = strtod(y, &ye);
	return *xe == 0 && *ye == 0 && fabs(p - q) <= 1e-9 * (fabs(p) + fabs(q));
}

static bool
one_line(const char *a, const char *b)
{
	for (;;) {
		size_t n = strcspn(a, "|"), m = strcspn(b, "|");
		if (!one_value(a, n, b, m) || a[n] != b[m])
			return false;
		if (a[n] == 0)
			return true;
		a += n + 1;
		b += m + 1;
	}
}

/* As same(), of values. Rows come in the order of their text. */
static bool
alike(struct bench_text *a, struct bench_text *b)
{
	if (a->full || b->full || a->rows != b->rows)
		return false;
	if (a->rows == 0)
		return true;
	char **x = lines_of(a), **y = lines_of(b);
	bool is = x != NULL && y != NULL;
	for (unsigned i = 0; is && i < a->rows; i++)
		is = one_line(x[i], y[i]);
	free(x);
	free(y);
	return is;
}

static bool
measure(struct run *r, unsigned q)
{
	double ours[BENCH_RUNS_MAX], theirs[BENCH_RUNS_MAX], ratio[BENCH_RUNS_MAX];
	struct figure *f = &r->f[q];
	f->ran = true;
	f->same = f->peer_ran = r->peer != NULL || r->duckdb != NULL;
	for (unsigned i = 0; i < r->p.runs; i++) {
		bench_progress("question %u, run %u of %u", q + 1, i + 1, r->p.runs);
		double t0 = time_s(r);
		if (!ask(r, tpch_queries[q]))
			return f->ran = f->same = false;
		ours[i] = time_s(r) - t0;
		f->rows = r->ours.rows;
		if (i == 0 && r->p.show)
			printf("-- %u\n%.*s", q + 1, (int)r->ours.len, r->ours.p ? r->ours.p : "");
		if (!f->peer_ran)
			continue;
		f->peer_ran = ask_peer(r, tpch_queries[q], &theirs[i]);
		/* how much we cost beside PostgreSQL; how fast we are beside DuckDB */
		ratio[i] = theirs[i] <= 0 ? 0 : r->p.duckdb ? theirs[i] / ours[i] : ours[i] / theirs[i];
		f->same &=
		    f->peer_ran && (r->p.duckdb ? alike(&r->ours, &r->theirs) : same(&r->ours, &r->theirs));
	}
	f->ours_s = bench_median(ours, r->p.runs);
	if (f->peer_ran) {
		f->peer_s = bench_median(theirs, r->p.runs);
		f->ratio = bench_median(ratio, r->p.runs);
	}
	return true;
}

static void
table(const struct run *r)
{
	printf("   #     rows    namdb ms%s\n", r->peer     ? " postgres ms    ratio"
						: r->duckdb ? "   duckdb ms    ratio"
							    : "");
	for (unsigned q = 0; q < TPCH_QUERIES; q++) {
		const struct figure *f = &r->f[q];
		if (r->p.some && !r->p.only[q])
			continue;
		if (!f->ran) {
			printf("%4u        -           -\n", q + 1);
			continue;
		}
		printf("%4u %8u %11.1f", q + 1, f->rows, f->ours_s * 1e3);
		if (f->peer_ran)
			printf(" %11.1f %8.2f", f->peer_s * 1e3, f->ratio);
		printf("%s\n", f->peer_ran && !f->same ? "   ANOTHER ANSWER" : "");
	}
}

static void
table_json(const struct run *r)
{
	const char *comma = "";
	printf("{\"bench\": \"tpch\", \"params\": {\"scale\": %.2f, \"seed\": %llu, \"runs\": %u}, "
	       "\"questions\": [",
	    r->p.scale / 100.0, (unsigned long long)r->p.seed, r->p.runs);
	for (unsigned q = 0; q < TPCH_QUERIES; q++) {
		const struct figure *f = &r->f[q];
		if (!f->ran)
			continue;
		printf("%s{\"number\": %u, \"rows\": %u, \"%s\": %.3f", comma, q + 1, f->rows,
		    r->p.duckdb ? "ms" : "cpu_ms", f->ours_s * 1e3);
		if (f->peer_ran)
			printf(", \"%s\": %.3f, \"ratio\": %.4f, \"same_answer\": %s",
			    r->p.duckdb ? "peer_duckdb_ms" : "peer_postgres_cpu_ms", f->peer_s * 1e3,
			    f->ratio, f->same ? "true" : "false");
		printf("}");
		comma = ", ";
	}
	printf("], \"metrics\": {");
}

/* Answers how many checks failed. */
static unsigned
report(const struct run *r)
{
	struct bench_metrics m = { r->p.json, "" };
	unsigned asked = 0, ran = 0, bad = 0, peers = 0;
	double ours = 0, logs = 0, peer_logs = 0, ratio_logs = 0, worst = 0, least = 1e9;
	bool wall = r->p.duckdb;
	(r->p.json ? table_json : table)(r);
	for (unsigned q = 0; q < TPCH_QUERIES; q++) {
		const struct figure *f = &r->f[q];
		asked += !r->p.some || r->p.only[q];
		if (!f->ran)
			continue;
		ran++;
		ours += f->ours_s;
		logs += log(f->ours_s);
		if (!f->peer_ran)
			continue;
		peers++;
		bad += !f->same;
		peer_logs += log(f->peer_s);
		ratio_logs += log(f->ratio);
		worst = f->ratio > worst ? f->ratio : worst;
		least = f->ratio < least ? f->ratio : least;
	}
	bad += asked - ran;
	bench_metric(&m, wall ? "load_s" : "load_cpu_s", r->load_s);
	if (wall)
		bench_metric(&m, "peer_duckdb_load_s", r->peer_load_s);
	if (r->peer != NULL)
		bench_metric(&m, "peer_postgres_load_cpu_s", r->peer_load_s);
	if (ran > 0) {
		bench_metric(&m, wall ? "questions_s" : "questions_cpu_s", ours);
		bench_metric(
		    &m, wall ? "question_geomean_ms" : "question_cpu_geomean_ms", exp(logs / ran) * 1e3);
	}
	if (peers > 0) {
		bench_metric(&m, wall ? "peer_duckdb_geomean_ms" : "peer_postgres_cpu_geomean_ms",
		    exp(peer_logs / peers) * 1e3);
		bench_metric(&m, "ratio_geomean", exp(ratio_logs / peers));
		bench_metric(&m, wall ? "ratio_min" : "ratio_max", wall ? least : worst);
	}
	bench_metric(&m, "check_errors", bad);
	if (r->p.json)
		printf("}}\n");
	return bad;
}

/* ---- options -------------------------------------------------------------------------------- */

static void
usage(FILE *to)
{
	fprintf(to,
	    "usage: namdb bench tpch [options]\n"
	    "TPC-H's data, made as its specification says, loaded (one worker, storage in this process), and "
	    "its "
	    "22\nquestions with the parameters of validation. Times are CPU time.\n"
	    "  --scale F, --sf F  0.01 to 100, hundredths (default 0.1)\n"
	    "  --seed N         of the data (default 1)\n"
	    "  --queries LIST   only these, as in 1,6,21\n"
	    "  --runs N         runs of each question, medians are reported (default 3)\n"
	    "  --timeout S      seconds after which a question has failed (default %d)\n"
	    "  --workers N      worker threads (default 1; of DuckDB likewise)\n"
	    "  --peer postgres  ask a PostgreSQL 15 in a temporary directory those questions, in turn\n"
	    "  --peer duckdb    ask DuckDB, in this process; times are those until the answer is there, and\n"
	    "                   the ratio is DuckDB's time over namdb's\n"
	    "  --out DIR        keep the data there (NAME.tbl, for COPY with DELIMITER '|')\n"
	    "  --only-data      with --out: make the data and end\n"
	    "  --pool MIB       text that comments are cut from (default 300, as specified)\n"
	    "  --show           print the answers\n"
	    "  --json           one object on stdout\n",
	    TIMEOUT_S);
}

static bool
take_scale(const char *s, unsigned *out)
{
	char *end;
	double x = strtod(s, &end) * 100;
	if (end == s || *end != 0 || !(x >= TPCH_SCALE_MIN && x <= TPCH_SCALE_MAX) ||
	    fabs(x - round(x)) > 1e-6)
		return false;
	*out = (unsigned)round(x);
	return true;
}

static bool
take(struct params *p, int letter, char *value, bool *data)
{
	unsigned q[TPCH_QUERIES], n;
	uint64_t x = 0;
	bool ok = true;
	switch (letter) {
	case 's':
		return take_scale(value, &p->scale);
	case 'e':
		return nam_number(value, 0, UINT64_MAX, &p->seed);
	case 'q':
		ok = bench_take_numbers(value, 1, TPCH_QUERIES, q, TPCH_QUERIES, &n);
		for (unsigned i = 0; ok && i < n; i++)
			p->only[q[i] - 1] = p->some = true;
		return ok;
	case 'r':
		ok = nam_number(value, 1, BENCH_RUNS_MAX, &x);
		p->runs = (unsigned)x;
		return ok;
	case 't':
		ok = nam_number(value, 1, 1000000, &x);
		p->timeout_s = (unsigned)x;
		return ok;
	case 'p':
		p->peer = strcmp(value, "postgres") == 0;
		p->duckdb = strcmp(value, "duckdb") == 0;
		return p->peer || p->duckdb;
	case 'k':
		ok = nam_number(value, 1, 62, &x);
		p->workers = (unsigned)x;
		return ok;
	case 'o':
		p->out = value;
		return true;
	case 'm':
		return nam_number(value, 1, 4096, &p->pool_mib);
	case 'd':
		return *data = true;
	case 'w':
		return p->show = true;
	default:
		return p->json = true;
	}
}

/* 0: go on; else exit code + 1. */
static int
options(int argc, char **argv, struct params *p, bool *data)
{
	static const struct option opt[] = { { "scale", 1, NULL, 's' }, { "sf", 1, NULL, 's' },
		{ "seed", 1, NULL, 'e' }, { "queries", 1, NULL, 'q' }, { "runs", 1, NULL, 'r' },
		{ "timeout", 1, NULL, 't' }, { "peer", 1, NULL, 'p' }, { "out", 1, NULL, 'o' },
		{ "only-data", 0, NULL, 'd' }, { "pool", 1, NULL, 'm' }, { "show", 0, NULL, 'w' },
		{ "workers", 1, NULL, 'k' }, { "json", 0, NULL, 'j' }, { "help", 0, NULL, 'h' }, { 0 } };
	*p = (struct params){ .scale = 10,
		.seed = 1,
		.runs = 3,
		.workers = 1,
		.timeout_s = TIMEOUT_S,
		.pool_mib = TPCH_POOL_BYTES >> 20 };
	optind = 0;
	for (int c; (c = getopt_long(argc, argv, "h", opt, NULL)) != -1;) {
		if (c == '?')
			return 3;
		if (c == 'h') {
			usage(stdout);
			return 1;
		}
		if (!take(p, c, optarg, data)) {
			fprintf(stderr, "namdb bench: '%s' is not a value for this option\n", optarg);
			return 3;
		}
	}
	if (optind < argc)
		return bench_bad_use("tpch", "there is a word too many");
	if (*data && p->out == NULL)
		return bench_bad_use("tpch", "--only-data goes with --out");
	return 0;
}

int
bench_tpch(int argc, char **argv)
{
	static struct run r;
	bool data = false;
	r = (struct run){ 0 };
	int code = options(argc, argv, &r.p, &data);
	if (code != 0)
		return code - 1;
	if (r.p.peer && (r.peer = peer_postgres_open()) == NULL)
		return 1;
	const char *why;
	if (r.p.duckdb && (r.duckdb = peer_duckdb_open(r.p.workers, &why)) == NULL) {
		fprintf(stderr, "namdb bench: no DuckDB: %s\n", why);
		r.p.duckdb = false;
	}
	bool ok = write_files(&r);
	if (ok && !data) {
		ok = open_ours(&r) && load(&r);
		for (unsigned q = 0; ok && q < TPCH_QUERIES; q++)
			if (!r.p.some || r.p.only[q])
				measure(&r, q);
		bench_progress_end(NULL);
		ok = ok && report(&r) == 0;
	}
	fflush(stdout);
	close_all(&r);
	return ok ? 0 : 1;
}
