/* analyze.c -- ANALYZE: takes a sample of a table's rows, and writes each column's statistics into
 * the catalog. */
#include <base/hash.h>
#include <base/rng.h>
#include <catalog/stats.h>
#include <sql/command/command.h>
#include <sql/common/guess_relation.h>
#include <sql/compat/postgres.h>
#include <sql/plan/cost.h>

#include <stdio.h>
#include <stdlib.h>

enum {
	SAMPLE = 30000,          /* rows, as many as PostgreSQL takes for 100 parts */
	SAMPLE_BYTES = 24 << 20, /* of values kept: a table of many columns gets a smaller sample */
	LONG = CAT_STATS_BYTES + 8,
};

/* One column of the sample. Values point to memory of their own, LONG bytes at most. */
struct column {
	unsigned number;
	enum cat_type type;
	uint32_t *room; /* of strings: bytes that slot's value has room for */
	union cat_val *v;
	uint8_t *null; /* 2: a value too long to be kept */
	double width;  /* sum over the rows seen */
	uint64_t seen;
};

struct sample {
	struct nam_arena *arena;
	struct column *col;
	unsigned cols, size;
	uint64_t rows;
	struct nam_rng rng;
};

/* ---- collecting ------------------------------------------------------------------------ */

/* Keeps v in a slot. A text too long is cut, and its hash put behind, so that unlike ones stay
 * unlike. */
static bool
keep(struct sample *s, struct column *c, unsigned slot, union cat_val v, bool null)
{
	c->null[slot] = null;
	if (null)
		return true;
	c->seen++;
	if (!cat_type_is_str(c->type)) {
		c->width += sql_cost_type_width(c->type, -1);
		c->v[slot] = v;
		return true;
	}
	c->width += v.s.len;
	bool cut = v.s.len > CAT_STATS_BYTES;
	if (cut && !cat_stats_may_cut(c->type)) {
		c->null[slot] = 2;
		return true;
	}
	uint32_t len = cut ? LONG : v.s.len;
	char *to = (char *)(uintptr_t)c->v[slot].s.p;
	if (len > c->room[slot]) {
		if ((to = nam_arena_take(s->arena, len)) == NULL)
			return false;
		c->room[slot] = len;
	}
	/* Bytes at no address are not even none: memcpy and memcmp want one. */
	if (to == NULL)
		to = (char *)(uintptr_t) "";
	if (len > 0)
		memcpy(to, v.s.p, cut ? CAT_STATS_BYTES : len);
	if (cut) {
		uint64_t h = nam_hash(v.s.p, v.s.len, 0);
		memcpy(to + CAT_STATS_BYTES, &h, sizeof h);
	}
	c->v[slot].s = (struct cat_str){ to, len };
	return true;
}

static bool
sample_open(struct sample *s, const struct cat_table *tab, const struct ast_force *of)
{
	s->col = nam_arena_zero(s->arena, (tab->columns + 1u) * sizeof *s->col);
	if (s->col == NULL)
		return false;
	for (unsigned c = 0; c < tab->columns; c++) {
		bool asked = of == NULL || of->names == 0;
		for (unsigned k = 0; !asked && k < of->names; k++)
			asked = strcmp(of->name[k], tab->column[c].name) == 0;
		if (asked)
			s->col[s->cols++] = (struct column){ .number = c, .type = tab->column[c].type };
	}
	size_t bytes = s->cols * (sizeof *s->col->v + LONG + 8);
	s->size = bytes > SAMPLE_BYTES / SAMPLE ? (unsigned)(SAMPLE_BYTES / (bytes + 1)) : SAMPLE;
	for (unsigned i = 0; i < s->cols; i++) {
		struct column *c = &s->col[i];
		bool str = cat_type_is_str(c->type);
		if ((c->v = nam_arena_take(s->arena, s->size * sizeof *c->v)) == NULL ||
		    (c->null = nam_arena_take(s->arena, s->size)) == NULL ||
		    (str && (c->room = nam_arena_zero(s->arena, s->size * sizeof *c->room)) == NULL))
			return false;
	}
	nam_rng_init(&s->rng, tab->store.id); /* the same rows, the same sample */
	return true;
}

/* Of a batch of rows those that come into the sample, and where to: each row seen is as likely as
 * any other. */
static unsigned
choose(struct sample *s, struct txn_row *rows, unsigned n, unsigned *slot)
{
	unsigned m = 0;
	for (unsigned k = 0; k < n; k++) {
		uint64_t at = s->rows++;
		if (at >= s->size)
			at = nam_rng_below(&s->rng, at + 1);
		if (at >= s->size)
			continue;
		rows[m] = rows[k];
		slot[m++] = (unsigned)at;
	}
	return m;
}

static bool
collect(struct sql_session *s, const struct cat_table *tab, struct sample *out, struct cat_err *err)
{
	struct nam_arena *batch = s->arena[1];
	struct txn_scan *scan;
	struct txn_row *rows = nam_arena_take(out->arena, CAT_BATCH * sizeof *rows);
	unsigned *slot = nam_arena_take(out->arena, CAT_BATCH * sizeof *slot), n;
	uint16_t *want = nam_arena_take(out->arena, (out->cols + 1) * sizeof *want);
	struct cat_vec *vec = nam_arena_take(out->arena, (out->cols + 1) * sizeof *vec);
	if (rows == NULL || slot == NULL || want == NULL || vec == NULL)
		return sql_no_memory(err);
	for (unsigned i = 0; i < out->cols; i++)
		want[i] = (uint16_t)out->col[i].number;
	nam_status st = txn_scan_open(s->t, (struct txn_table *)(uintptr_t)&tab->store, &scan);
	if (st != NAM_OK)
		return sql_status(err, st, tab);
	bool ok = true;
	while (ok) {
		nam_arena_reset(batch);
		if (!(ok = sql_go_on(&s->x)))
			break;
		if ((st = txn_scan_next(scan, rows, CAT_BATCH, &n)) != NAM_OK || n == 0)
			break;
		n = choose(out, rows, n, slot);
		if (n > 0 &&
		    (st = cat_rows_decode(tab, s->t, rows, n, want, out->cols, vec, batch)) != NAM_OK)
			break;
		for (unsigned i = 0; ok && i < out->cols; i++)
			for (unsigned k = 0; ok && k < n; k++)
				ok = keep(out, &out->col[i], slot[k], cat_vec_at(&vec[i], k),
					 vec[i].null[k]) ||
				     sql_no_memory(err);
	}
	txn_scan_close(scan);
	return ok && (st == NAM_OK || sql_status(err, st, tab));
}

/* ---- what it says ---------------------------------------------------------------------- */

/* Rows of the sample that are alike: n of them, from place `first` of the sorted values on. */
struct run {
	unsigned first, n;
};

static int
by_value(const void *a, const void *b, void *arg)
{
	const enum cat_type *type = arg;
	return cat_value_cmp(*type, *(const union cat_val *)a, *(const union cat_val *)b);
}

static int
by_count(const void *a, const void *b)
{
	const struct run *x = a, *y = b;
	return x->n != y->n ? (x->n < y->n ? 1 : -1) : x->first < y->first ? -1 : x->first > y->first;
}

static bool
is_cut(const struct column *c, union cat_val v)
{
	return cat_stats_may_cut(c->type) && v.s.len == LONG;
}

/* As it goes into the catalog: whole characters, without the hash. */
static union cat_val
shown(const struct column *c, union cat_val v)
{
	if (!is_cut(c, v))
		return v;
	v.s.len = CAT_STATS_BYTES;
	while (c->type == CAT_TEXT && v.s.len > 0 && ((unsigned char)v.s.p[v.s.len] & 0xc0) == 0x80)
		v.s.len--;
	return v;
}

/* How many distinct values a table has, of whose sample n values are d distinct ones, once of them
 * f1 (Haas and Stokes, 1998: the Duj1 estimator). rows: of the table that have a value. */
static double
distinct(double n, double d, double f1, double rows)
{
	if (d == 0 || n >= rows)
		return d;
	if (f1 >= n) /* all unlike */
		return rows;
	double est = n * d / (n - f1 + f1 * n / rows);
	return est < d ? d : est > rows ? rows : est;
}

/* Values of runs that are not among the common ones, divided into equally many: v is sorted. */
static void
histogram(struct cat_stats *st, const struct column *c, union cat_val *v, const struct run *run,
    unsigned runs, const bool *common)
{
	unsigned left = 0, kept = 0;
	for (unsigned r = 0; r < runs; r++) {
		if (common[r])
			continue;
		kept++;
		for (unsigned k = 0; k < run[r].n; k++)
			v[left++] = v[run[r].first + k];
	}
	if (kept < 2)
		return;
	st->bounds = kept < CAT_STATS_BOUNDS ? kept : CAT_STATS_BOUNDS;
	for (unsigned i = 0; i < st->bounds; i++)
		st->bound[i] = shown(c, v[(uint64_t)i * (left - 1) / (st->bounds - 1)]);
}

/* The texts of a column's statistics. */
static const char *
describe(struct sample *s, struct column *c, struct nam_arena *scratch)
{
	unsigned taken = s->rows < s->size ? (unsigned)s->rows : s->size, n = 0, nulls = 0, runs = 0,
		 once = 0;
	struct cat_stats st = { .width = c->seen ? c->width / (double)c->seen : 0 };
	union cat_val *v = nam_arena_take(scratch, (taken + 1) * sizeof *v);
	struct run *run = nam_arena_take(scratch, (taken + 1) * sizeof *run);
	struct run *most = nam_arena_take(scratch, (taken + 1) * sizeof *most);
	bool *common = nam_arena_zero(scratch, (taken + 1) * sizeof *common);
	st.mcv = nam_arena_take(scratch, CAT_STATS_MCVS * sizeof *st.mcv);
	st.freq = nam_arena_take(scratch, CAT_STATS_MCVS * sizeof *st.freq);
	st.bound = nam_arena_take(scratch, CAT_STATS_BOUNDS * sizeof *st.bound);
	if (v == NULL || run == NULL || most == NULL || common == NULL || st.mcv == NULL || st.freq == NULL ||
	    st.bound == NULL)
		return NULL;
	unsigned wide = 0;
	for (unsigned k = 0; k < taken; k++) {
		nulls += c->null[k] == 1;
		wide += c->null[k] == 2;
		if (c->null[k] == 0)
			v[n++] = c->v[k];
	}
	st.null_frac = taken ? (double)nulls / taken : 0;
	if (!cat_type_is_ordered(c->type) || n == 0)
		return cat_stats_write(&st, c->type, s->arena);
	qsort_r(v, n, sizeof *v, by_value, &c->type);
	for (unsigned k = 0; k < n; k++) {
		if (k > 0 && cat_value_cmp(c->type, v[k - 1], v[k]) == 0) {
			run[runs - 1].n++;
			continue;
		}
		run[runs++] = (struct run){ k, 1 };
	}
	/* those that every hundredth row has are known; the rest is estimated. Long values count as
	 * unlike all others */
	unsigned heavy = 0, heavy_rows = 0;
	for (unsigned r = 0; r < runs; r++) {
		once += run[r].n == 1;
		if (run[r].n > 1 && run[r].n * UINT64_C(100) > n) {
			heavy++;
			heavy_rows += run[r].n;
		}
	}
	double rest = n + wide - heavy_rows, rows = (double)s->rows * rest / taken;
	double d = heavy + distinct(rest, runs + wide - heavy, once + wide, rows);
	st.distinct = d > 0.1 * (double)s->rows ? -d / (double)s->rows : d;

	/* common: all values, if they are few and each was met again; else those met clearly more
	 * often than the average */
	memcpy(most, run, runs * sizeof *most);
	qsort(most, runs, sizeof *most, by_count);
	bool all = runs <= CAT_STATS_MCVS && wide == 0 && (once == 0 || taken == s->rows) && d <= runs;
	double average = n / (d < 1 ? 1 : d), least = average * 1.25 < 2 ? 2 : average * 1.25;
	for (unsigned i = 0; i < runs && st.mcvs < CAT_STATS_MCVS; i++) {
		if (!all && most[i].n < least)
			break;
		if (is_cut(c, v[most[i].first]))
			continue;
		st.freq[st.mcvs] = (double)most[i].n / taken;
		st.mcv[st.mcvs++] = v[most[i].first];
		for (unsigned lo = 0, hi = runs; lo < hi;) {
			unsigned mid = (lo + hi) / 2;
			if (run[mid].first == most[i].first)
				common[mid] = true;
			if (run[mid].first <= most[i].first)
				lo = mid + 1;
			else
				hi = mid;
		}
	}
	/* a key whose values are all there once has no common ones, even when the table is small */
	if (all && once == runs && runs > 1) {
		st.mcvs = 0;
		memset(common, 0, runs * sizeof *common);
	}
	histogram(&st, c, v, run, runs, common);
	return cat_stats_write(&st, c->type, s->arena);
}

/* ---- the statement --------------------------------------------------------------------- */

static bool
columns_there(const struct cat_table *tab, const struct ast_force *of, struct cat_err *err)
{
	for (unsigned k = 0; k < of->names; k++) {
		bool there = false;
		for (unsigned c = 0; c < tab->columns && !there; c++)
			there = strcmp(tab->column[c].name, of->name[k]) == 0;
		if (!there)
			return cat_error(err, "42703", "column \"%s\" of relation \"%s\" does not exist",
			    of->name[k], cat_local(tab->path));
		for (unsigned i = 0; i < k; i++)
			if (strcmp(of->name[i], of->name[k]) == 0)
				return cat_error(err, "42701",
				    "column \"%s\" of relation \"%s\" appears more than once", of->name[k],
				    cat_local(tab->path));
	}
	return true;
}

static bool
analyze_table(struct sql_session *s, const struct cat_table *tab, const struct ast_force *of, bool verbose,
    const struct sql_sink *sink, struct cat_err *err)
{
	struct nam_arena *arena = s->arena[0], *scratch = s->arena[2];
	nam_arena_reset(arena);
	struct sample sample = { .arena = arena };
	if (verbose)
		sql_notice(sink, "INFO", "00000", "analyzing \"%s%s\"",
		    cat_in_public(tab->path) ? "public." : "", sql_path_shown(tab->path));
	if (!sample_open(&sample, tab, of))
		return sql_no_memory(err);
	if (!collect(s, tab, &sample, err))
		return false;
	struct cat_table def = *tab;
	def.column = nam_arena_copy(arena, tab->column, tab->columns * sizeof *def.column);
	if (def.column == NULL)
		return sql_no_memory(err);
	def.analyzed = true;
	def.rows = (double)sample.rows;
	for (unsigned i = 0; i < sample.cols; i++) {
		nam_arena_reset(scratch);
		const char *text = describe(&sample, &sample.col[i], scratch);
		if (text == NULL)
			return sql_no_memory(err);
		def.column[sample.col[i].number].stats = text;
		if (!sql_go_on(&s->x))
			return false;
	}
	if (verbose)
		sql_notice(sink, "INFO", "00000",
		    "\"%s\": scanned all rows, containing %llu live rows; %llu rows in sample",
		    cat_local(tab->path), (unsigned long long)sample.rows,
		    (unsigned long long)(sample.rows < sample.size ? sample.rows : sample.size));
	s->x.saw(s->x.saw_arg, tab->store.id, sample.rows);
	s->ddl = true;
	nam_status st = cat_describe(s->cfg.cat, s->t, tab, &def);
	return st == NAM_OK || sql_status(err, st, tab);
}

/* Tables of other roles are left out, with a warning. False and !*ok: *err. */
static bool
owned(struct sql_session *s, const struct cat_table *tab, const struct sql_sink *sink, bool *ok,
    struct cat_err *err)
{
	bool yes;
	*ok = sql_acts_as(s->cfg.cat, s->t, sql_who(s), cat_owner(tab), &yes, err);
	if (*ok && !yes)
		sql_notice(sink, "WARNING", "42501",
		    "skipping \"%s\" --- only table or database owner can analyze it", cat_local(tab->path));
	return *ok && yes;
}

static bool
all_tables(
    struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink, struct cat_err *err)
{
	const struct cat_table **list;
	unsigned n;
	bool ok = true;
	nam_status st = cat_list(s->cfg.cat, s->t, &list, &n, s->arena[3]);
	if (st != NAM_OK)
		return sql_status(err, st, NULL);
	for (unsigned i = 0; i < n; i++)
		if (list[i]->kind == CAT_TABLE && !list[i]->system && owned(s, list[i], sink, &ok, err) &&
		    !analyze_table(s, list[i], NULL, ast->verbose, sink, err))
			return false;
		else if (!ok)
			return false;
	return true;
}

bool
sql_analyze(
    struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink, struct cat_err *err)
{
	bool ok = true, only = ast->vacuum && !ast->analyze; /* there are no dead rows to collect */
	if (ast->vacuum && s->block != SQL_IDLE)
		return cat_error(err, "25001", "VACUUM cannot run inside a transaction block");
	sql_prepare_exec(s, sink, err);
	if (ast->nnames == 0)
		return only || all_tables(s, ast, sink, err);
	for (unsigned i = 0; i < ast->nnames; i++) {
		const struct cat_table *tab;
		nam_status st = cat_find(s->cfg.cat, s->t, ast->names[i], &tab);
		if (st != NAM_OK)
			return sql_status(err, st, NULL);
		/* PostgreSQL's catalogs have no rows of their own here. */
		const char *name = cat_local(ast->names[i]);
		if (tab == NULL && strncmp(name, "pg_", 3) == 0 && sql_postgres_has(sql_postgres_types, name))
			continue;
		if (tab == NULL) {
			cat_error(
			    err, "42P01", "relation \"%s\" does not exist", sql_path_shown(ast->names[i]));
			sql_guess_relation(s->cfg.cat, s->t, ast->names[i], sql_arena(s, 1), err);
			err->position = ast->name_at[i];
			return false;
		}
		if (tab->kind != CAT_TABLE || tab->system) {
			sql_notice(sink, "WARNING", "00000",
			    "skipping \"%s\" --- cannot analyze non-tables or special system tables",
			    cat_local(tab->path));
			continue;
		}
		if (!owned(s, tab, sink, &ok, err)) {
			if (!ok)
				return false;
			continue;
		}
		if (!columns_there(tab, &ast->of[i], err) ||
		    (!only && !analyze_table(s, tab, &ast->of[i], ast->verbose, sink, err)))
			return false;
	}
	return true;
}
