/*
 * queries.c -- `namdb bench sql`: questions over real CSV files, asked of namdb and of SQLite in
 * memory in turn.
 *
 * Both hold the same rows under the same primary keys, and nothing else: no further index on either
 * side, but SQLite may make its automatic ones. SQLite gets its rows from namdb's tables, is
 * ANALYZEd, and keeps its statements prepared; namdb gets the text each time (it caches the parse
 * of a text, and makes the plan again). Answers must agree: as many rows, and equal values in every
 * column but those of doubles.
 */
#include "questions.h"

#include <base/clock.h>
#include <base/hash.h>
#include <base/number.h>
#include <bench/bench.h>
#include <compute_node/cn.h>
#include <storage_node/sn.h>

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS_MAX = 16, QUESTION_SHOWN = 150 };

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

struct side {
	struct cn_session *s;
	struct cat_err err;
	uint64_t rows;
	uint64_t sum[COLUMNS_MAX]; /* over the values of a column, in any order */
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
sum_rows(void *arg, const struct sql_batch_view *b)
{
	struct side *s = arg;
	struct nam_arena a;
	nam_arena_init(&a, 0);
	for (unsigned c = 0; c < b->cols && c < COLUMNS_MAX; c++)
		for (unsigned r = 0; r < b->n; r++) {
			const struct cat_vec *v = &b->col[c];
			struct cat_str t = { "", 0 };
			if (!v->null[r])
				t = cat_value_out(v->type, cat_vec_at(v, r), &a);
			s->sum[c] += nam_hash(t.p, t.len, v->null[r]);
		}
	s->rows += b->n;
	nam_arena_fini(&a);
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

struct figure {
	unsigned number; /* of the question, from 1 */
	double ours_ms, theirs_ms, ratio;
	uint64_t rows;
	bool same;
};

/* Asks both once: that warms, and shows whether they agree. */
static bool
compare(struct side *s, sqlite3_stmt *q, const char *sql, struct figure *f)
{
	uint64_t sum[COLUMNS_MAX] = { 0 }, rows = 0;
	bool exact[COLUMNS_MAX];
	int cols = sqlite3_column_count(q);
	cols = cols < COLUMNS_MAX ? cols : COLUMNS_MAX;
	memset(exact, 1, sizeof exact);
	memset(s->sum, 0, sizeof s->sum);
	if (!ask(s, sql, sum_rows))
		return false;
	for (; sqlite3_step(q) == SQLITE_ROW; rows++)
		for (int c = 0; c < cols; c++) {
			const unsigned char *t = sqlite3_column_text(q, c);
			size_t n = (size_t)sqlite3_column_bytes(q, c);
			exact[c] &= sqlite3_column_type(q, c) != SQLITE_FLOAT;
			sum[c] += nam_hash(t ? (const void *)t : "", n, t == NULL);
		}
	sqlite3_reset(q);
	f->rows = s->rows;
	f->same = rows == s->rows;
	for (int c = 0; c < cols; c++)
		f->same &= !exact[c] || sum[c] == s->sum[c];
	return true;
}

static bool
measure(struct side *s, sqlite3 *db, const char *sql, unsigned runs, struct figure *f)
{
	double ours[BENCH_RUNS_MAX], theirs[BENCH_RUNS_MAX], ratio[BENCH_RUNS_MAX];
	sqlite3_stmt *q = NULL;
	if (sqlite3_prepare_v2(db, sql, -1, &q, NULL) != SQLITE_OK) {
		fprintf(stderr, "namdb bench: sqlite: %s\n  in: %s\n", sqlite3_errmsg(db), sql);
		return false;
	}
	bool ok = compare(s, q, sql, f);
	for (unsigned i = 0; ok && i < runs; i++) {
		uint64_t t0 = nam_clock_ns();
		ok = ask(s, sql, count_rows);
		uint64_t t1 = nam_clock_ns();
		while (sqlite3_step(q) == SQLITE_ROW)
			continue;
		uint64_t t2 = nam_clock_ns();
		sqlite3_reset(q);
		ours[i] = (double)(t1 - t0) / 1e6;
		theirs[i] = (double)(t2 - t1) / 1e6;
		ratio[i] = theirs[i] / ours[i];
	}
	sqlite3_finalize(q);
	if (!ok)
		return false;
	f->ours_ms = bench_median(ours, runs);
	f->theirs_ms = bench_median(theirs, runs);
	f->ratio = bench_median(ratio, runs);
	return true;
}

/* The words of a question as long as there is room for them. */
static void
say_question(const char *sql, bool same)
{
	int n = (int)strlen(sql);
	if (n > QUESTION_SHOWN)
		printf("%.*s...", QUESTION_SHOWN - 3, sql);
	else
		printf("%s", sql);
	printf("%s\n", same ? "" : "   ANOTHER ANSWER");
}

static void
report(const struct bench_list *l, const struct figure *f, unsigned n)
{
	printf("%s: %s\n   #     rows    namdb ms   sqlite ms    ratio  question\n", l->name, l->what);
	for (unsigned i = 0; i < n; i++) {
		printf("%4u %8llu %11.3f %11.3f %8.2f  ", f[i].number, (unsigned long long)f[i].rows,
		    f[i].ours_ms, f[i].theirs_ms, f[i].ratio);
		say_question(l->sql[f[i].number - 1], f[i].same);
	}
}

static void
report_json(const struct bench_list *l, const struct figure *f, unsigned n)
{
	for (unsigned i = 0; i < n; i++) /* no question has a quote or a backslash in it: see
					  * questions.c */
		printf("%s{\"list\": \"%s\", \"number\": %u, \"sql\": \"%s\", \"rows\": %llu, "
		       "\"ours_ms\": %.4f, \"sqlite_ms\": %.4f, \"ratio\": %.3f, \"same_answer\": %s}",
		    i ? ", " : "", l->name, f[i].number, l->sql[f[i].number - 1],
		    (unsigned long long)f[i].rows, f[i].ours_ms, f[i].theirs_ms, f[i].ratio,
		    f[i].same ? "true" : "false");
}

/* What is judged of one list. */
static void
summary(const struct bench_list *l, const struct figure *f, unsigned n, bool json)
{
	double ratio[BENCH_QUESTIONS_MAX], low = f[0].ratio;
	unsigned slower = 0, differ = 0;
	for (unsigned i = 0; i < n; i++) {
		ratio[i] = f[i].ratio;
		low = f[i].ratio < low ? f[i].ratio : low;
		slower += f[i].ratio < 1;
		differ += !f[i].same;
	}
	double mid = bench_median(ratio, n);
	if (json)
		printf("\"%s\": {\"questions\": %u, \"ratio_min\": %.3f, \"ratio_median\": %.3f, \"slower\": "
		       "%u, "
		       "\"check_errors\": %u}",
		    l->name, n, low, mid, slower, differ);
	else
		printf(
		    "%-8s %2u questions   ratio_min %.2f   ratio_median %.2f   slower %u   check_errors %u\n",
		    l->name, n, low, mid, slower, differ);
}

struct asked {
	const struct bench_list *list;
	struct figure f[BENCH_QUESTIONS_MAX];
	unsigned n;
};

static void
tell(const struct asked *a, unsigned lists, bool json)
{
	if (json)
		printf("{\"bench\": \"sql\", \"questions\": [");
	for (unsigned i = 0; i < lists; i++) {
		if (json && i > 0)
			printf(", ");
		(json ? report_json : report)(a[i].list, a[i].f, a[i].n);
	}
	if (json)
		printf("], \"metrics\": {");
	for (unsigned i = 0; i < lists; i++) {
		if (json && i > 0)
			printf(", ");
		summary(a[i].list, a[i].f, a[i].n, json);
	}
	if (json)
		printf("}}\n");
}

static void
usage(FILE *to)
{
	fprintf(to,
	    "usage: namdb bench sql --data DIR [options]\n"
	    "Questions over the CSV files packages, depends, cities and countries in DIR, asked of namdb "
	    "(one "
	    "worker,\nstorage in this process) and of SQLite in memory, in turn. ratio: SQLite's time over "
	    "ours.\n"
	    "  --data DIR   where the files lie\n"
	    "  --list NAME  joins, singles, or all (default joins)\n"
	    "  --runs N     runs of each question, medians are reported (default 5)\n"
	    "  --only N     question N alone\n"
	    "  --json       one object on stdout\n");
}

static bool
is_list(const char *name)
{
	bool is = strcmp(name, "all") == 0;
	for (unsigned i = 0; i < BENCH_LISTS; i++)
		is |= strcmp(name, bench_lists[i].name) == 0;
	return is;
}

/* The questions of one list, or the one that is asked for alone. */
static bool
ask_list(
    struct side *s, sqlite3 *db, const struct bench_list *l, unsigned only, unsigned runs, struct asked *a)
{
	a->list = l;
	for (unsigned i = 0; i < l->n; i++) {
		if (only != 0 && i + 1 != only)
			continue;
		a->f[a->n].number = i + 1;
		if (!measure(s, db, l->sql[i], runs, &a->f[a->n++]))
			return false;
	}
	return true;
}

int
bench_sql(int argc, char **argv)
{
	static const struct option opt[] = { { "data", 1, NULL, 'd' }, { "runs", 1, NULL, 'r' },
		{ "only", 1, NULL, 'o' }, { "list", 1, NULL, 'l' }, { "json", 0, NULL, 'j' },
		{ "help", 0, NULL, 'h' }, { 0 } };
	const char *dir = NULL, *list = "joins";
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
			ok = nam_number(optarg, 1, BENCH_RUNS_MAX, &value), runs = (unsigned)value;
		else if (c == 'o')
			ok = nam_number(optarg, 1, BENCH_QUESTIONS_MAX, &value), only = (unsigned)value;
		else if (c == 'l')
			ok = is_list(list = optarg);
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
	struct asked asked[BENCH_LISTS] = { 0 };
	unsigned lists = 0;
	bool same = true;
	const struct sn_region_config rc = {
		.id = 1, .size = UINT64_C(1) << 30, .numa = -1, .embedded = true
	};
	bool ok = sn_region_open(&region, &rc, &err) == NAM_OK;
	if (ok) {
		struct net_local *local[2] = { sn_local(region), NULL };
		const struct cn_config cfg = { .local = local, .workers = 1, .measure = true };
		ok = cn_open(&cn, &cfg, &err) == NAM_OK && cn_session_open(cn, 0, &s.s) == NAM_OK;
	}
	if (!ok)
		fprintf(stderr, "namdb bench: %s\n", err.text);
	ok = ok && sqlite3_open(":memory:", &db) == SQLITE_OK && lite(db, "PRAGMA case_sensitive_like = 1");
	for (unsigned i = 0; ok && i < TABLES; i++)
		ok = load(&s, db, &tables[i], full);
	ok = ok && lite(db, "ANALYZE");
	for (unsigned i = 0; ok && i < BENCH_LISTS; i++) {
		const struct bench_list *l = &bench_lists[i];
		if ((strcmp(list, "all") != 0 && strcmp(list, l->name) != 0) || only > l->n)
			continue;
		struct asked *a = &asked[lists++];
		ok = ask_list(&s, db, l, only, runs, a);
		for (unsigned k = 0; k < a->n; k++)
			same &= a->f[k].same;
	}
	if (ok)
		tell(asked, lists, json);
	fflush(stdout);
	sqlite3_close(db);
	cn_session_close(s.s);
	if (cn != NULL)
		cn_close(cn);
	if (region != NULL)
		sn_region_close(region);
	return ok && same ? 0 : 1;
}
