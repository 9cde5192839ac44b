/* stmt.c -- prepared statements: bind, step, columns. Rows are looked at where the executor left
 * them. */
#include "lib_internal.h"

#include <base/arena.h>

#include <stdlib.h>
#include <string.h>

enum run { IDLE, RUNNING, ENDED };

/* A batch of rows in our own memory. */
struct kept {
	struct kept *next;
	struct sql_batch_view view;
};

struct namdb_stmt {
	struct namdb *db;               /* a reference */
	struct namdb_stmt *next, *prev; /* of db->stmts, while st is there */
	struct sql_stmt *st;            /* NULL = the handle was closed */
	struct cat_datum *param;        /* UNKNOWN: text in text[i] */
	char **text;
	unsigned params;
	struct sql_column *column; /* of the current run, or as prepared */
	unsigned columns, columns_cap;
	enum run run;
	const struct sql_batch_view *rows;
	unsigned row;
	struct nam_arena arena;        /* texts of the current row */
	struct nam_arena own;          /* what follows, when another statement had to run in
				        * between */
	struct kept *kept, **kept_end; /* kept: the batch being read */
	int last;                      /* what comes after it: NAMDB_DONE or NAMDB_ERROR */
	struct cat_err last_err;
	struct sql_sink sink;
	bool nomem;
};

/* ---- making and ending --------------------------------------------------------------- */

static bool
columns_are(struct namdb_stmt *st, const struct sql_column *col, unsigned n)
{
	if (n > st->columns_cap) {
		struct sql_column *more = realloc(st->column, n * sizeof *more);
		if (more == NULL)
			return false;
		st->column = more;
		st->columns_cap = n;
	}
	if (n > 0)
		memcpy(st->column, col, n * sizeof *col);
	st->columns = n;
	return true;
}

/* The statement under way is the running one. */
static bool
on_begin(void *arg, const struct sql_column *col, unsigned n)
{
	struct namdb_stmt *st = ((struct namdb *)arg)->running;
	st->nomem = !columns_are(st, col, n);
	return !st->nomem;
}

static bool
on_rows(void *arg, const struct sql_batch_view *b)
{
	(void)arg, (void)b; /* pulled: cn_next hands them over */
	return true;
}

static void
release(struct namdb_stmt *st)
{
	for (unsigned i = 0; st->text != NULL && i < st->params; i++)
		free(st->text[i]);
	free(st->text);
	free(st->param);
	free(st->column);
	nam_arena_fini(&st->arena);
	nam_arena_fini(&st->own);
	free(st);
}

/* Takes the statement's plan away. Inside, and the session is free. */
static void
forget(struct namdb_stmt *st)
{
	struct namdb *db = st->db;
	cn_forget(db->s, st->st);
	st->st = NULL;
	if (st->prev != NULL)
		st->prev->next = st->next;
	else
		db->stmts = st->next;
	if (st->next != NULL)
		st->next->prev = st->prev;
}

/* The rest will not be read. */
static void
drop_rows(struct namdb_stmt *st)
{
	if (st->db->running == st) {
		struct cat_err keep = st->db->err;
		cn_stop(st->db->s);
		st->db->err = keep;
		st->db->running = NULL;
	}
	st->rows = NULL;
	st->kept = NULL;
	nam_arena_reset(&st->own);
	nam_arena_reset(&st->arena);
}

void
lib_forget_all(struct namdb *db)
{
	if (db->running != NULL) {
		db->running->run = IDLE;
		drop_rows(db->running);
	}
	while (db->stmts != NULL)
		forget(db->stmts);
}

/* ---- rows that have to wait ------------------------------------------------------------ */

/* Copies rows from..n of a batch. */
static bool
keep(struct namdb_stmt *st, const struct sql_batch_view *b, unsigned from)
{
	struct kept *k = nam_arena_take(&st->own, sizeof *k);
	struct cat_vec *col = nam_arena_take(&st->own, (b->cols + 1) * sizeof *col);
	if (k == NULL || col == NULL)
		return false;
	for (unsigned c = 0; c < b->cols; c++) {
		if (!cat_vec_take(&col[c], b->col[c].type, b->n - from, &st->own))
			return false;
		for (unsigned r = from; r < b->n; r++) {
			bool null = b->col[c].null[r];
			union cat_val x = cat_vec_at(&b->col[c], r);
			if (!null)
				x = cat_value_copy(b->col[c].type, x, &st->own);
			cat_vec_set(&col[c], r - from, x, null);
		}
	}
	*k = (struct kept){ NULL, { col, b->cols, b->n - from, b->floats } };
	*st->kept_end = k;
	st->kept_end = &k->next;
	return true;
}

void
lib_end_statement(struct namdb *db)
{
	struct namdb_stmt *st = db->running;
	const struct sql_batch_view *rows;
	enum cn_next next = CN_ROWS;
	if (st == NULL)
		return;
	st->kept_end = &st->kept;
	bool ok = st->rows == NULL || keep(st, st->rows, st->row);
	while (ok && (next = cn_next(db->s, &rows)) == CN_ROWS)
		ok = rows->n == 0 || keep(st, rows, 0);
	st->last = ok && next == CN_DONE ? NAMDB_DONE : NAMDB_ERROR;
	st->last_err = db->err;
	if (!ok) {
		cn_stop(db->s);
		cat_error(&st->last_err, "53200", "out of memory");
	}
	st->rows = st->kept != NULL ? &st->kept->view : NULL;
	st->row = 0;
	db->running = NULL;
}

static int
prepare(struct namdb *db, const char *sql, namdb_stmt **out)
{
	const struct sql_column *col;
	const enum cat_type *types;
	struct namdb_stmt *st = calloc(1, sizeof *st);
	if (st == NULL) {
		cat_error(&db->err, "53200", "out of memory");
		return NAMDB_ERROR;
	}
	nam_arena_init(&st->arena, 4096);
	nam_arena_init(&st->own, 0);
	st->db = db;
	if (!cn_prepare(db->s, sql, strlen(sql), &st->st, &db->err)) {
		release(st);
		return NAMDB_ERROR;
	}
	st->params = sql_stmt_params(st->st, &types);
	st->param = calloc(st->params + 1, sizeof *st->param);
	st->text = calloc(st->params + 1, sizeof *st->text);
	unsigned n = sql_stmt_columns(st->st, &col);
	if (st->param == NULL || st->text == NULL || !columns_are(st, col, n)) {
		cn_forget(db->s, st->st);
		release(st);
		cat_error(&db->err, "53200", "out of memory");
		return NAMDB_ERROR;
	}
	for (unsigned i = 0; i < st->params; i++)
		st->param[i] = (struct cat_datum){ .type = CAT_UNKNOWN, .null = true, .v.s = { "", 0 } };
	lib_sink(db, &st->sink);
	st->sink.begin = on_begin;
	st->sink.rows = on_rows;
	db->refs++;
	st->next = db->stmts;
	if (st->next != NULL)
		st->next->prev = st;
	db->stmts = st;
	*out = st;
	return NAMDB_OK;
}

int
namdb_prepare(namdb *db, const char *sql, namdb_stmt **out)
{
	if (out == NULL)
		return NAMDB_MISUSE;
	*out = NULL;
	if (sql == NULL || !lib_enter(db))
		return NAMDB_MISUSE;
	lib_end_statement(db);
	lib_clear(db);
	int rc = prepare(db, sql, out);
	lib_leave(db);
	return rc;
}

void
namdb_finalize(namdb_stmt *st)
{
	if (st == NULL)
		return;
	struct namdb *db = st->db;
	if (lib_enter(db)) {
		drop_rows(st);
		lib_end_statement(db); /* the session does one thing at a time */
		forget(st);
		lib_leave(db);
	} else if (db->open) {
		return; /* another thread is inside */
	}
	release(st);
	lib_drop(db);
}

/* ---- parameters --------------------------------------------------------------------------- */

unsigned
namdb_param_count(const namdb_stmt *st)
{
	return st != NULL ? st->params : 0;
}

static int
bind(namdb_stmt *st, unsigned i, struct cat_datum d, char *text)
{
	if (st == NULL || i < 1 || i > st->params || !lib_enter(st->db)) {
		free(text);
		return NAMDB_MISUSE;
	}
	int rc = NAMDB_MISUSE;
	if (st->db->running != st) {
		free(st->text[i - 1]);
		st->text[i - 1] = text;
		st->param[i - 1] = d;
		rc = NAMDB_OK;
	} else {
		free(text);
	}
	lib_leave(st->db);
	return rc;
}

int
namdb_bind_null(namdb_stmt *st, unsigned i)
{
	return bind(st, i, (struct cat_datum){ .type = CAT_UNKNOWN, .null = true, .v.s = { "", 0 } }, NULL);
}

int
namdb_bind_bool(namdb_stmt *st, unsigned i, int value)
{
	return bind(st, i, (struct cat_datum){ .type = CAT_BOOL, .v.i = value != 0 }, NULL);
}

int
namdb_bind_int64(namdb_stmt *st, unsigned i, int64_t value)
{
	return bind(st, i, (struct cat_datum){ .type = CAT_INT8, .v.i = value }, NULL);
}

int
namdb_bind_double(namdb_stmt *st, unsigned i, double value)
{
	return bind(st, i, (struct cat_datum){ .type = CAT_FLOAT8, .v.f = value }, NULL);
}

int
namdb_bind_text(namdb_stmt *st, unsigned i, const char *text, ptrdiff_t len)
{
	if (text == NULL)
		return len <= 0 ? namdb_bind_null(st, i) : NAMDB_MISUSE;
	size_t n = len < 0 ? strlen(text) : (size_t)len;
	if (n > UINT32_MAX / 2)
		return NAMDB_MISUSE;
	char *copy = malloc(n + 1);
	if (copy == NULL)
		return NAMDB_ERROR;
	memcpy(copy, text, n);
	copy[n] = 0;
	return bind(st, i, (struct cat_datum){ .type = CAT_UNKNOWN, .v.s = { copy, (uint32_t)n } }, copy);
}

/* ---- running ------------------------------------------------------------------------------- */

static int
step(namdb_stmt *st)
{
	struct namdb *db = st->db;
	nam_arena_reset(&st->arena);
	if (st->run == RUNNING && st->rows != NULL && ++st->row < st->rows->n)
		return NAMDB_ROW;
	if (st->run == RUNNING && db->running != st) { /* in our own memory */
		st->row = 0;
		st->kept = st->kept != NULL ? st->kept->next : NULL;
		st->rows = st->kept != NULL ? &st->kept->view : NULL;
		if (st->rows != NULL)
			return NAMDB_ROW;
		st->run = ENDED;
		nam_arena_reset(&st->own);
		db->err = st->last_err;
		return st->last;
	}
	if (st->run != RUNNING) {
		lib_end_statement(db);
		lib_clear(db);
		drop_rows(st);
		st->nomem = false;
		db->running = st;
		cn_run(db->s, st->st, st->param, st->params, &st->sink, &db->err);
		st->run = RUNNING;
	}
	enum cn_next next;
	do
		next = cn_next(db->s, &st->rows);
	while (next == CN_ROWS && st->rows->n == 0);
	st->row = 0;
	if (next == CN_ROWS)
		return NAMDB_ROW;
	db->running = NULL;
	st->rows = NULL;
	st->run = ENDED;
	if (st->nomem)
		cat_error(&db->err, "53200", "out of memory");
	return next == CN_DONE ? NAMDB_DONE : NAMDB_ERROR;
}

int
namdb_step(namdb_stmt *st)
{
	if (st == NULL || !lib_enter(st->db))
		return NAMDB_MISUSE;
	int rc = step(st);
	lib_leave(st->db);
	return rc;
}

int
namdb_reset(namdb_stmt *st)
{
	if (st == NULL || !lib_enter(st->db))
		return NAMDB_MISUSE;
	drop_rows(st);
	st->run = IDLE;
	lib_leave(st->db);
	return NAMDB_OK;
}

/* ---- columns
 * ----------------------------------------------------------------------------------- */

unsigned
namdb_column_count(const namdb_stmt *st)
{
	return st != NULL ? st->columns : 0;
}

const char *
namdb_column_name(const namdb_stmt *st, unsigned i)
{
	return st != NULL && i < st->columns ? st->column[i].name : NULL;
}

const char *
namdb_column_typename(const namdb_stmt *st, unsigned i)
{
	return st != NULL && i < st->columns ? cat_type_name(st->column[i].type) : NULL;
}

/* The value in the current row. NULL = there is no such value, or it is NULL. */
static const struct cat_vec *
value(const namdb_stmt *st, unsigned i, union cat_val *out)
{
	if (st == NULL || st->rows == NULL || i >= st->rows->cols || st->rows->col[i].null[st->row])
		return NULL;
	const struct cat_vec *v = &st->rows->col[i];
	*out = cat_vec_at(v, st->row);
	return v;
}

int
namdb_column_kind(const namdb_stmt *st, unsigned i)
{
	union cat_val x;
	const struct cat_vec *v = value(st, i, &x);
	if (v == NULL)
		return NAMDB_NULL;
	switch (v->type) {
	case CAT_BOOL:
		return NAMDB_BOOL;
	case CAT_INT2:
	case CAT_INT4:
	case CAT_INT8:
		return NAMDB_INT64;
	case CAT_FLOAT4:
	case CAT_FLOAT8:
		return NAMDB_DOUBLE;
	default:
		return NAMDB_TEXT;
	}
}

static bool
text_of(const struct cat_vec *v, union cat_val x, uint8_t floats, struct nam_arena *a, struct cat_str *out)
{
	*out = v->type == CAT_TEXT ? x.s : cat_value_show(v->type, x, floats, a);
	return out->p != NULL;
}

/* A number out of a text (numeric, text) by way of a small copy. */
static double
number_of(const struct cat_vec *v, union cat_val x, int64_t *whole)
{
	char small[64];
	struct nam_arena a;
	struct cat_str s;
	double f = 0;
	nam_arena_init(&a, 256);
	if (text_of(v, x, 0, &a, &s) && s.len < sizeof small) {
		memcpy(small, s.p, s.len);
		small[s.len] = 0;
		f = strtod(small, NULL);
		*whole = strtoll(small, NULL, 10);
	}
	nam_arena_fini(&a);
	return f;
}

int64_t
namdb_column_int64(const namdb_stmt *st, unsigned i)
{
	union cat_val x;
	int64_t n = 0;
	const struct cat_vec *v = value(st, i, &x);
	switch (v != NULL ? namdb_column_kind(st, i) : NAMDB_NULL) {
	case NAMDB_BOOL:
	case NAMDB_INT64:
		return x.i;
	case NAMDB_DOUBLE:
		return x.f >= -9.2e18 && x.f <= 9.2e18 ? (int64_t)x.f : 0;
	case NAMDB_TEXT:
		number_of(v, x, &n);
		return n;
	default:
		return 0;
	}
}

double
namdb_column_double(const namdb_stmt *st, unsigned i)
{
	union cat_val x;
	int64_t n = 0;
	const struct cat_vec *v = value(st, i, &x);
	switch (v != NULL ? namdb_column_kind(st, i) : NAMDB_NULL) {
	case NAMDB_BOOL:
	case NAMDB_INT64:
		return (double)x.i;
	case NAMDB_DOUBLE:
		return x.f;
	case NAMDB_TEXT:
		return number_of(v, x, &n);
	default:
		return 0;
	}
}

const char *
namdb_column_bytes(namdb_stmt *st, unsigned i, size_t *len)
{
	union cat_val x;
	struct cat_str s;
	const struct cat_vec *v = value(st, i, &x);
	if (len != NULL)
		*len = 0;
	if (v == NULL || !text_of(v, x, st->rows->floats, &st->arena, &s))
		return NULL;
	if (len != NULL)
		*len = s.len;
	return s.p;
}

const char *
namdb_column_text(namdb_stmt *st, unsigned i)
{
	size_t len;
	const char *s = namdb_column_bytes(st, i, &len);
	return s != NULL ? nam_arena_str(&st->arena, s, len) : NULL;
}
