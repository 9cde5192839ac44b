/*
 * queries.c -- `namdb bench sql`: questions over real CSV files, asked of namdb and of SQLite in memory in turn.
 *
 * Both hold the same rows under the same primary keys, and nothing else: no further index on
 * either side. SQLite gets its rows from our tables, is ANALYZEd, and keeps its statements prepared; we get the
 * text each time (the plan of a text is made anew, its parse is cached). Numbers of rows must agree.
 */
#include <base/clock.h>
#include <base/number.h>
#include <bench/bench.h>
#include <compute_node/cn.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <storage_node/sn.h>
#include <string.h>

enum { RUNS_MAX = 99, QUESTIONS_MAX = 64 };

static const struct table {
	const char *name, *columns, *key;
} tables[] = {
	{ "packages",
	    "package text, version text, section text, priority text, architecture text, source text, "
	    "installed_kib bigint, size_bytes bigint, description text",
	    "package" },
	{ "depends",
	    "id integer, package text, depends_on text, kind text, alternative integer, op text, version "
	    "text",
	    "id" },
	{ "cities",
	    "id integer, name text, country text, admin1 text, admin2 text, lat double precision, lng double "
	    "precision",
	    "id" },
	{ "countries",
	    "cca2 text, name text, region text, subregion text, capital text, area double precision, "
	    "landlocked "
	    "boolean, lat double precision, lng double precision, currency text",
	    "cca2" },
};
enum { TABLES = sizeof tables / sizeof *tables };

static const char *const questions[] = {
	"SELECT p.section, count(*), sum(q.size_bytes) FROM depends d JOIN packages p ON p.package = "
	"d.package JOIN "
	"packages q ON q.package = d.depends_on GROUP BY p.section ORDER BY p.section",
	"SELECT p.section, q.section, count(*) FROM depends d JOIN packages p ON p.package = d.package JOIN "
	"packages q "
	"ON q.package = d.depends_on WHERE p.section <> q.section GROUP BY p.section, q.section",
	"SELECT d.depends_on, count(*) AS n FROM depends d JOIN packages p ON p.package = d.depends_on WHERE "
	"d.kind = "
	"'depends' GROUP BY d.depends_on ORDER BY n DESC, d.depends_on LIMIT 25",
	"SELECT p.package, count(*) AS n, sum(q.installed_kib) FROM packages p JOIN depends d ON d.package = "
	"p.package "
	"JOIN packages q ON q.package = d.depends_on WHERE p.section = 'games' GROUP BY p.package ORDER BY n "
	"DESC, "
	"p.package LIMIT 20",
	"SELECT count(*) FROM depends d JOIN packages p ON p.package = d.package WHERE p.installed_kib > "
	"100000",
	"SELECT kind, count(*) FROM depends GROUP BY kind ORDER BY kind",
	"SELECT package, count(*) AS n FROM depends GROUP BY package ORDER BY n DESC, package LIMIT 10",
	"SELECT depends_on, count(*) FROM depends GROUP BY depends_on HAVING count(*) > 1000 ORDER BY 2 DESC",
	"SELECT count(*) FROM depends WHERE op IS NULL AND version IS NULL",
	"SELECT count(*) FROM depends WHERE depends_on LIKE 'lib%'",
	"SELECT count(DISTINCT depends_on) FROM depends",
	"SELECT section, count(*), sum(size_bytes), avg(installed_kib), max(size_bytes) FROM packages GROUP "
	"BY section "
	"ORDER BY section",
	"SELECT priority, section, count(*) FROM packages GROUP BY priority, section",
	"SELECT package, size_bytes FROM packages ORDER BY size_bytes DESC, package LIMIT 10",
	"SELECT count(*) FROM packages WHERE description LIKE '%library%'",
	"SELECT country, count(*) AS n FROM cities GROUP BY country ORDER BY n DESC, country LIMIT 20",
	"SELECT c.region, count(*), max(t.lat), min(t.lat) FROM cities t JOIN countries c ON t.country = "
	"c.cca2 GROUP BY "
	"c.region ORDER BY c.region",
	"SELECT name, lat, lng FROM cities WHERE lat > 60 AND lng > 20 ORDER BY lat DESC, name LIMIT 50",
	"SELECT count(*), avg(lat), min(lng), max(lng) FROM cities WHERE lat BETWEEN -10 AND 10",
	"SELECT name, count(*) AS n FROM cities GROUP BY name HAVING count(*) > 20 ORDER BY n DESC, name",
};
enum { QUESTIONS = sizeof questions / sizeof *questions };

struct side {
	struct cn_session *s;
	struct cat_err err;
	uint64_t rows;
	/* copying a table to SQLite */
	sqlite3_stmt *ins;
	bool ok;
};

static bool
count_rows(void *arg, const struct sql_batch_view *b)
{
	struct side *s = arg;
	s->rows += b->n;
	return true;
}

static bool
copy_rows(void *arg, const struct sql_batch_view *b)
{
	struct side *s = arg;
	struct nam_arena a;
	nam_arena_init(&a, 0);
	for (unsigned r = 0; s->ok && r < b->n; r++) {
		for (unsigned c = 0; c < b->cols; c++) {
			const struct cat_vec *v = &b->col[c];
			union cat_val x = cat_vec_at(v, r);
			int at = (int)c + 1;
			if (v->null[r])
				sqlite3_bind_null(s->ins, at);
			else if (v->type == CAT_FLOAT8)
				sqlite3_bind_double(s->ins, at, x.f);
			else if (v->type == CAT_INT4 || v->type == CAT_INT8 || v->type == CAT_BOOL)
				sqlite3_bind_int64(s->ins, at, x.i);
			else {
				struct cat_str t = v->type == CAT_TEXT ? x.s : cat_value_out(v->type, x, &a);
				sqlite3_bind_text(s->ins, at, t.p, (int)t.len, SQLITE_TRANSIENT);
			}
		}
		s->ok = sqlite3_step(s->ins) == SQLITE_DONE;
		sqlite3_reset(s->ins);
	}
	nam_arena_fini(&a);
	return s->ok;
}

static bool
ask(struct side *s, const char *sql, bool (*rows)(void *, const struct sql_batch_view *))
{
	struct sql_sink sink = { .arg = s, .rows = rows };
	s->rows = 0;
	if (cn_exec(s->s, sql, strlen(sql), &sink, &s->err))
		return true;
	fprintf(stderr, "namdb bench: %s: %s\n  in: %s\n", s->err.sqlstate, s->err.text, sql);
	return false;
}

static bool
lite(sqlite3 *db, const char *sql)
{
	if (sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK)
		return true;
	fprintf(stderr, "namdb bench: sqlite: %s\n", sqlite3_errmsg(db));
	return false;
}

/* Loads a file into our table, and our table into SQLite's. */
static bool
load(struct side *s, sqlite3 *db, const struct table *t, const char *dir)
{
	char sql[PATH_MAX + 400];
	fprintf(stderr, "loading %s\n", t->name);
	snprintf(sql, sizeof sql, "CREATE TABLE %s (%s, PRIMARY KEY (%s))", t->name, t->columns, t->key);
	if (!ask(s, sql, NULL) || !lite(db, sql))
		return false;
	if (strchr(dir, '\'') != NULL) {
		fprintf(stderr, "namdb bench: a quote in the name of --data\n");
		return false;
	}
	snprintf(
	    sql, sizeof sql, "COPY %s FROM '%s/%s.csv' WITH (FORMAT csv, HEADER)", t->name, dir, t->name);
	if (!ask(s, sql, NULL))
		return false;
	unsigned columns = 1;
	for (const char *p = t->columns; *p; p++)
		columns += *p == ',';
	int n = snprintf(sql, sizeof sql, "INSERT INTO %s VALUES (?", t->name);
	for (unsigned i = 1; i < columns; i++)
		n += snprintf(sql + n, sizeof sql - (size_t)n, ", ?");
	snprintf(sql + n, sizeof sql - (size_t)n, ")");
	s->ok = lite(db, "BEGIN") && sqlite3_prepare_v2(db, sql, -1, &s->ins, NULL) == SQLITE_OK;
	snprintf(sql, sizeof sql, "SELECT * FROM %s", t->name);
	bool ok = s->ok && ask(s, sql, copy_rows) && s->ok;
	sqlite3_finalize(s->ins);
	return ok && lite(db, "COMMIT");
}

static int
by_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

static double
median(double *v, unsigned n)
{
	qsort(v, n, sizeof *v, by_double);
	return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

struct figure {
	unsigned number; /* of the question, from 1 */
	double ours_ms, theirs_ms, ratio;
	uint64_t rows;
	bool same;
};

static bool
measure(struct side *s, sqlite3 *db, const char *sql, unsigned runs, struct figure *f)
{
	double ours[RUNS_MAX], theirs[RUNS_MAX], ratio[RUNS_MAX];
	sqlite3_stmt *q = NULL;
	if (sqlite3_prepare_v2(db, sql, -1, &q, NULL) != SQLITE_OK) {
		fprintf(stderr, "namdb bench: sqlite: %s\n  in: %s\n", sqlite3_errmsg(db), sql);
		return false;
	}
	f->same = true;
	for (unsigned i = 0; i <= runs; i++) { /* the first warms and does not count */
		uint64_t t0 = nam_clock_ns(), theirs_rows = 0;
		if (!ask(s, sql, count_rows)) {
			sqlite3_finalize(q);
			return false;
		}
		uint64_t t1 = nam_clock_ns();
		while (sqlite3_step(q) == SQLITE_ROW)
			theirs_rows++;
		uint64_t t2 = nam_clock_ns();
		sqlite3_reset(q);
		f->rows = s->rows;
		f->same = f->same && s->rows == theirs_rows;
		if (i == 0)
			continue;
		ours[i - 1] = (double)(t1 - t0) / 1e6;
		theirs[i - 1] = (double)(t2 - t1) / 1e6;
		ratio[i - 1] = theirs[i - 1] / ours[i - 1];
	}
	sqlite3_finalize(q);
	f->ours_ms = median(ours, runs);
	f->theirs_ms = median(theirs, runs);
	f->ratio = median(ratio, runs);
	return true;
}

static void
report(const struct figure *f, unsigned n, bool json, uint64_t differ)
{
	double ratio[QUESTIONS_MAX], low = f[0].ratio;
	for (unsigned i = 0; i < n; i++) {
		ratio[i] = f[i].ratio;
		low = f[i].ratio < low ? f[i].ratio : low;
	}
	double mid = median(ratio, n);
	if (json) {
		printf("{\"bench\": \"sql\", \"questions\": [");
		for (unsigned i = 0; i < n; i++)
			printf("%s{\"number\": %u, \"rows\": %llu, \"ours_ms\": %.4f, \"sqlite_ms\": %.4f, "
			       "\"ratio\": "
			       "%.3f}",
			    i ? ", " : "", f[i].number, (unsigned long long)f[i].rows, f[i].ours_ms,
			    f[i].theirs_ms, f[i].ratio);
		printf("], \"metrics\": {\"ratio_min\": %.3f, \"ratio_median\": %.3f, \"check_errors\": "
		       "%llu}}\n",
		    low, mid, (unsigned long long)differ);
		return;
	}
	printf("   #     rows    namdb ms   sqlite ms    ratio  question\n");
	for (unsigned i = 0; i < n; i++)
		printf("%4u %8llu %11.3f %11.3f %8.2f  %.100s%s\n", f[i].number,
		    (unsigned long long)f[i].rows, f[i].ours_ms, f[i].theirs_ms, f[i].ratio,
		    questions[f[i].number - 1], f[i].same ? "" : "   NOT AS MANY ROWS");
	printf("  ratio_min    %8.2f\n  ratio_median %8.2f\n  check_errors %8llu\n", low, mid,
	    (unsigned long long)differ);
}

static void
usage(FILE *to)
{
	fprintf(to, "usage: namdb bench sql --data DIR [options]\n"
		    "Questions over the CSV files packages, depends, cities and countries in DIR, asked of "
		    "namdb (one "
		    "worker,\nstorage in this process) and of SQLite in memory, in turn. ratio: SQLite's "
		    "time over ours.\n"
		    "  --data DIR   where the files lie\n"
		    "  --runs N     runs of each question, medians are reported (default 5)\n"
		    "  --only N     question N alone\n"
		    "  --json       one object on stdout\n");
}

int
bench_sql(int argc, char **argv)
{
	static const struct option opt[] = { { "data", 1, NULL, 'd' }, { "runs", 1, NULL, 'r' },
		{ "only", 1, NULL, 'o' }, { "json", 0, NULL, 'j' }, { "help", 0, NULL, 'h' }, { 0 } };
	const char *dir = NULL;
	char full[PATH_MAX];
	unsigned runs = 5, only = 0;
	uint64_t value = 0;
	bool json = false;
	optind = 0;
	for (int c; (c = getopt_long(argc, argv, "h", opt, NULL)) != -1;) {
		bool ok = true;
		if (c == 'd')
			dir = optarg;
		else if (c == 'r')
			ok = nam_number(optarg, 1, RUNS_MAX, &value), runs = (unsigned)value;
		else if (c == 'o')
			ok = nam_number(optarg, 1, QUESTIONS, &value), only = (unsigned)value;
		else if (c == 'j')
			json = true;
		else if (c == 'h') {
			usage(stdout);
			return 0;
		} else
			return 2;
		if (!ok) {
			fprintf(stderr, "namdb bench: '%s' is not a value for this option\n", optarg);
			return 2;
		}
	}
	if (dir == NULL || optind < argc) {
		usage(stderr);
		return 2;
	}
	if (realpath(dir, full) == NULL) {
		fprintf(stderr, "namdb bench: %s: %s\n", dir, strerror(errno));
		return 2;
	}
	struct nam_err err = { 0 };
	struct sn_region *region = NULL;
	struct cn *cn = NULL;
	struct side s = { 0 };
	sqlite3 *db = NULL;
	struct figure f[QUESTIONS_MAX] = { 0 };
	unsigned n = 0;
	uint64_t differ = 0;
	const struct sn_region_config rc = {
		.id = 1, .size = UINT64_C(1) << 30, .numa = -1, .embedded = true
	};
	bool ok = sn_region_open(&region, &rc, &err) == NAM_OK;
	if (ok) {
		struct net_local *local[2] = { sn_local(region), NULL };
		const struct cn_config cfg = { .local = local, .workers = 1 };
		ok = cn_open(&cn, &cfg, &err) == NAM_OK && cn_session_open(cn, 0, &s.s) == NAM_OK;
	}
	if (!ok)
		fprintf(stderr, "namdb bench: %s\n", err.text);
	ok = ok && sqlite3_open(":memory:", &db) == SQLITE_OK;
	for (unsigned i = 0; ok && i < TABLES; i++)
		ok = load(&s, db, &tables[i], full);
	ok = ok && lite(db, "ANALYZE");
	for (unsigned i = 0; ok && i < QUESTIONS; i++) {
		if (only != 0 && i + 1 != only)
			continue;
		f[n].number = i + 1;
		ok = measure(&s, db, questions[i], runs, &f[n]);
		differ += !f[n].same;
		n += only == 0 || i + 1 == only;
	}
	if (ok)
		report(f, n, json, differ);
	fflush(stdout);
	sqlite3_close(db);
	cn_session_close(s.s);
	if (cn != NULL)
		cn_close(cn);
	if (region != NULL)
		sn_region_close(region);
	return ok && differ == 0 ? 0 : 1;
}
