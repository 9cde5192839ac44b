/*
 * cursor.c -- queries whose rows are fetched piece by piece: DECLARE, FETCH, MOVE, CLOSE, and the
 * portals of a face.
 *
 * Cursors and portals share their names: FETCH knows a portal, and a face's Execute knows a cursor.
 * A portal of a query opens its plan at once, so that its rows are those of that moment. A portal
 * of any other statement that returns rows runs it at the first fetch, and has all rows in memory.
 *
 * A cursor keeps its plan open between two fetches, so that it needs no memory for its rows. All
 * statements of a session run in one sql_exec, one transaction, with one snapshot at a time. So
 * before any other statement begins, an open cursor brings the rest of its rows to memory
 * (sql_cursors_keep): no later statement of the transaction changes what the cursor returns. A
 * SCROLL cursor brings all of them there at its first fetch; WITH HOLD brings the rest at COMMIT.
 */
#include <base/clock.h>
#include <sql/exec/rowset.h>
#include <sql/session/session_internal.h>

#include <stdio.h>
#include <stdlib.h>

enum { CURSORS_MAX = 1000 };

struct sql_cursor {
	struct sql_cursor *next; /* of the session's; unlinked once it is dead */
	struct sql_session *s;
	char name[CAT_NAME_MAX + 1];   /* "" = a face's portal without a name */
	bool face;                     /* a face's portal: it frees the struct */
	struct sql_stmt *st;           /* its own, so is the plan; not that of a face's `later` */
	const struct sql_parsed *text; /* what pg_cursors shows: as long as st */
	int64_t made_us;
	struct sql_exec x; /* the session's, as it stood after the last fetch */
	bool running;      /* its plan has more rows, and is open */
	bool scroll, hold;
	bool outlives;                 /* it was committed, and lives on */
	bool dead;                     /* its transaction has ended, or it failed */
	bool broken;                   /* its plan failed: it has no more rows to give */
	bool later;                    /* the first fetch runs its statement */
	const struct cat_datum *given; /* with these parameters, the face's */
	unsigned ngiven;
	bool busy;                 /* its statement runs: what it has must stay */
	char tag[64];              /* of a statement that a fetch has run; "" = a query */
	struct sql_column *column; /* likewise; NULL = the plan's */
	unsigned columns;
	unsigned saves;         /* savepoints there were when it was made */
	int rows;               /* of the operator's current batch */
	int at;                 /* of them are fetched */
	struct nam_arena fixed; /* parameters, types */
	struct nam_arena kept;  /* rows in memory */
	struct nam_arena batch; /* one batch of them */
	struct sql_rowset *rs;  /* rows first, first + 1, ... of the answer; NULL = none is kept */
	uint64_t first;
	uint64_t pos; /* the row the cursor stands on, from 1; 0 = before the first */
	bool at_end;  /* it stands behind row pos, the last one */
	struct cat_datum *param;
};

static const struct sql_sink silent = { 0 };

/* ---- its plan ---------------------------------------------------------------------------- */

/* The session runs this cursor's plan from here to leave(). */
static void
enter(struct sql_cursor *c, const struct sql_sink *sink, struct cat_err *err)
{
	struct sql_session *s = c->s;
	s->x = c->x;
	s->x.sink = sink;
	s->x.err = s->x.env.err = err;
	s->x.deadline_ns = s->deadline_ns;
	s->x.turn_until_ns = 0;
}

static void
leave(struct sql_cursor *c)
{
	c->x = c->s->x;
	c->s->x.arena = c->s->arena;
}

static void
end_plan(struct sql_cursor *c)
{
	struct cat_err ignored;
	if (c->st == NULL || c->st->plan == NULL || c->x.arena == NULL)
		return;
	enter(c, &silent, &ignored);
	if (c->running)
		sql_close(&c->s->x, c->st->plan->root);
	sql_alone_end(c->s, c->st->plan);
	c->x.arena = NULL;
	c->running = false;
}

/* The next batch, if the last one is used up. Rows that wait; 0 = the end; -1 = *err says why. */
static int
more(struct sql_cursor *c)
{
	if (c->at < c->rows)
		return c->rows - c->at;
	c->at = c->rows = 0;
	if (!c->running)
		return 0;
	c->rows = sql_next(&c->s->x, c->st->plan->root);
	if (c->rows > 0)
		return c->rows;
	int was = c->rows;
	sql_close(&c->s->x, c->st->plan->root);
	c->running = false;
	c->rows = 0;
	return was;
}

/* Its plan failed, or a fetch: it has no more rows to give. Returns false. */
static bool
broke(struct sql_cursor *c)
{
	end_plan(c);
	c->broken = true;
	c->rs = NULL;
	nam_arena_reset(&c->kept);
	return false;
}

/* Brings the rows that are not fetched to memory. */
static bool
keep(struct sql_cursor *c, struct cat_err *err)
{
	if (c->broken || (!c->running && c->at == c->rows))
		return true;
	const struct sql_node *root = c->st->plan->root;
	unsigned cols = c->st->plan->columns;
	enum cat_type *type = nam_arena_take(&c->fixed, (cols + 1) * sizeof *type);
	const struct cat_vec **col = nam_arena_take(&c->fixed, (cols + 1) * sizeof *col);
	if (type == NULL || col == NULL)
		return sql_no_memory(err);
	for (unsigned k = 0; k < cols; k++)
		type[k] = c->st->plan->column[k].type;
	if ((c->rs = sql_rowset_open(&c->kept, type, cols)) == NULL)
		return sql_no_memory(err);
	c->first = c->pos;
	int n;
	enter(c, &silent, err);
	while ((n = more(c)) > 0) {
		for (unsigned k = 0; k < cols; k++)
			col[k] = &root->out.col[k];
		if (!sql_rowset_add(c->rs, col, sql_sel(root) + c->at, (unsigned)n)) {
			n = sql_no_memory(err) ? 0 : -1;
			break;
		}
		c->at += n;
	}
	leave(c);
	if (n < 0)
		return broke(c);
	end_plan(c);
	return true;
}

/* ---- life -------------------------------------------------------------------------------- */

static void
unlink_cursor(struct sql_cursor *c)
{
	for (struct sql_cursor **at = &c->s->cursors; *at != NULL; at = &(*at)->next)
		if (*at == c) {
			*at = c->next;
			return;
		}
}

/* Its rows and its plan go. DECLARE's goes altogether; a portal's owner has yet to close it. While
 * its statement runs it only ceases to be known. */
static void
die(struct sql_cursor *c)
{
	unlink_cursor(c);
	c->dead = true;
	if (c->busy)
		return;
	end_plan(c);
	sql_stmt_close(c->st);
	c->st = NULL;
	c->rs = NULL;
	nam_arena_fini(&c->fixed);
	nam_arena_fini(&c->kept);
	nam_arena_fini(&c->batch);
	if (!c->face)
		free(c);
}

void
sql_cursor_close(struct sql_cursor *c)
{
	if (c == NULL)
		return;
	if (!c->face) {
		die(c);
		return;
	}
	if (!c->dead)
		die(c);
	free(c);
}

static struct sql_cursor *
find(const struct sql_session *s, const char *name, struct cat_err *err)
{
	char cut[CAT_NAME_MAX + 1];
	snprintf(cut, sizeof cut, "%s", name);
	struct sql_cursor *c = s->cursors;
	while (c != NULL && strcmp(c->name, cut) != 0)
		c = c->next;
	if (c == NULL && err != NULL)
		cat_error(err, "34000", "cursor \"%s\" does not exist", cut);
	return c;
}

bool
sql_cursors_keep(struct sql_session *s, struct cat_err *err)
{
	for (struct sql_cursor *c = s->cursors; c != NULL; c = c->next)
		if (!keep(c, err))
			return false;
	return true;
}

bool
sql_cursors_commit(struct sql_session *s, struct cat_err *err)
{
	for (struct sql_cursor *c = s->cursors, *next; c != NULL; c = next) {
		next = c->next;
		if (c->outlives)
			continue;
		if (!c->hold)
			die(c);
		else if (!keep(c, err))
			return false;
	}
	return true;
}

void
sql_cursors_end(struct sql_session *s, bool committed)
{
	for (struct sql_cursor *c = s->cursors, *next; c != NULL; c = next) {
		next = c->next;
		if (committed && c->hold)
			c->outlives = true;
		else if (!c->outlives)
			die(c);
	}
}

void
sql_cursors_back_to(struct sql_session *s, unsigned saves)
{
	for (struct sql_cursor *c = s->cursors, *next; c != NULL; c = next) {
		next = c->next;
		if (!c->outlives && c->saves > saves)
			die(c);
	}
}

void
sql_cursors_released(struct sql_session *s, unsigned saves)
{
	for (struct sql_cursor *c = s->cursors; c != NULL; c = c->next)
		if (c->saves > saves)
			c->saves = saves;
}

void
sql_cursors_forget(struct sql_session *s)
{
	while (s->cursors != NULL)
		die(s->cursors);
}

void
sql_cursors_close_named(struct sql_session *s)
{
	for (struct sql_cursor *c = s->cursors, *next; c != NULL; c = next) {
		next = c->next;
		if (c->name[0] != 0 && !c->busy)
			die(c);
	}
}

/* ---- opening ----------------------------------------------------------------------------- */

/* Copies of the parameters in the types the plan wants. */
static bool
keep_parameters(struct sql_cursor *c, const struct cat_datum *param, unsigned n, struct cat_err *err)
{
	const struct cat_datum *given = sql_stmt_convert(c->st, param, n, err);
	if (given == NULL)
		return false;
	if ((c->param = nam_arena_take(&c->fixed, (c->st->params + 1) * sizeof *c->param)) == NULL)
		return sql_no_memory(err);
	for (unsigned i = 0; i < c->st->params; i++) {
		c->param[i] = given[i];
		if (!given[i].null)
			c->param[i].v = cat_value_copy(given[i].type, given[i].v, &c->fixed);
	}
	return true;
}

/* Opens the plan of c->st. */
static bool
open_plan(struct sql_cursor *c, const struct cat_datum *param, unsigned n, struct cat_err *err)
{
	struct sql_session *s = c->s;
	if (!sql_begin_statement(s, err) || !sql_stmt_plan(s, c->st, err) ||
	    !keep_parameters(c, param, n, err))
		return false;
	struct sql_plan *p = c->st->plan;
	if (p->kind != AST_SELECT)
		return cat_error(err, "0A000", "a cursor for this kind of statement is not supported yet");
	if (p->steps != NULL)
		return cat_error(
		    err, "0A000", "DECLARE CURSOR must not contain data-modifying statements in WITH");
	if (p->locks && !sql_may_write(s, "SELECT FOR UPDATE", err))
		return false;
	for (unsigned tries = 0;; tries++) {
		bool ok = sql_alone_begin(s, p, &p->arena, &silent, err);
		s->x.env.param = c->param;
		s->x.env.params = c->st->params;
		ok = ok && (c->running = sql_open(&s->x, p->root));
		leave(c);
		/* Rows are locked by one statement, which is done when another one begins. */
		if (ok && (!p->locks || keep(c, err)))
			return true;
		/* What was locked stays so: only the newest versions are to be read. */
		if (!c->x.again || tries == SQL_RETRIES || strcmp(err->sqlstate, "40001") != 0)
			return false;
		end_plan(c);
		nam_arena_reset(&c->kept);
		c->rs = NULL;
		sql_err_clear(err);
		if (!sql_begin_statement(s, err))
			return false;
	}
}

/* A cursor for st, which it takes, also when there is no memory for it: NULL. */
static struct sql_cursor *
new_cursor(struct sql_session *s, struct sql_stmt *st, const char *name, struct cat_err *err)
{
	unsigned count = 0;
	for (struct sql_cursor *k = s->cursors; k != NULL; k = k->next)
		count++;
	struct sql_cursor *c = count < CURSORS_MAX ? calloc(1, sizeof *c) : NULL;
	if (c == NULL) {
		sql_stmt_close(st);
		cat_error(err, "53200", "out of memory: %u cursors are open", count);
		return NULL;
	}
	snprintf(c->name, sizeof c->name, "%s", name);
	c->s = s;
	c->st = st;
	c->text = st->parsed;
	c->made_us = nam_clock_wall_us() - INT64_C(946684800000000);
	c->saves = s->saves;
	nam_arena_init(&c->fixed, 1 << 10);
	nam_arena_init(&c->kept, 0);
	nam_arena_init(&c->batch, 0);
	c->kept.limit = (size_t)4 << 30;
	nam_arena_charge(&c->kept, &s->budget);
	return c;
}

static struct sql_cursor *
link_cursor(struct sql_cursor *c)
{
	c->next = c->s->cursors;
	return c->s->cursors = c;
}

/* A cursor for a query of its own. Takes st. */
static struct sql_cursor *
make(struct sql_session *s, struct sql_stmt *st, const char *name, const struct cat_datum *param, unsigned n,
    bool scroll, bool hold, struct cat_err *err)
{
	struct sql_cursor *c = new_cursor(s, st, name, err);
	if (c == NULL)
		return NULL;
	c->scroll = scroll;
	c->hold = hold;
	if (open_plan(c, param, n, err))
		return link_cursor(c); /* only now: no other statement has to keep its rows */
	c->face = false;
	sql_cursor_close(c);
	return NULL;
}

/* True if its rows can come from an open plan. */
static bool
is_query(const struct sql_stmt *st)
{
	return st->ast->kind == AST_SELECT && st->plan != NULL && st->plan->steps == NULL;
}

bool
sql_portal_open(struct sql_session *s, const char *name, struct sql_stmt *st, const struct cat_datum *param,
    unsigned n, struct sql_cursor **out, struct cat_err *err)
{
	sql_err_clear(err);
	sql_clock_start(s);
	*out = NULL;
	if (s->block == SQL_FAILED && !sql_may_end(st->ast->kind))
		return cat_error(err, "25P02",
		    "current transaction is aborted, commands ignored until end of transaction block");
	if (name[0] != 0 && find(s, name, NULL) != NULL) {
		cat_error(err, "42P03", "cursor \"%.63s\" already exists", name);
	} else if (is_query(st)) {
		struct sql_stmt *own =
		    sql_stmt_new(s, sql_parsed_hold(st->parsed), st->ast, st->types, st->params, err);
		if (own != NULL)
			*out = make(s, own, name, param, n, false, false, err);
	} else if ((*out = new_cursor(s, sql_stmt_hold(st), name, err)) != NULL) {
		(*out)->later = true;
		(*out)->given = param;
		(*out)->ngiven = n;
		link_cursor(*out);
	}
	if (*out == NULL) {
		sql_err_place(err, st->parsed->text, st->parsed->len);
		sql_abort(s);
		return false;
	}
	(*out)->face = true;
	return true;
}

bool
sql_cursor_dead(const struct sql_cursor *c)
{
	return c->dead;
}

void
sql_cursor_busy(struct sql_cursor *c, bool busy)
{
	c->busy = busy;
	c->broken = true; /* such a statement runs once */
	if (!busy && c->dead)
		die(c);
}

/* ---- statements that a fetch runs ----------------------------------------------------------- */

/* Where the rows of such a statement go. */
struct collecting {
	struct sql_cursor *c;
	const struct sql_sink *client;
	bool full;
};

static bool
collect_columns(void *arg, const struct sql_column *col, unsigned n)
{
	struct collecting *w = arg;
	struct sql_cursor *c = w->c;
	enum cat_type *type = nam_arena_take(&c->fixed, (n + 1) * sizeof *type);
	c->column = nam_arena_copy(&c->fixed, col, n * sizeof *col);
	c->columns = n;
	for (unsigned k = 0; type != NULL && k < n; k++)
		type[k] = col[k].type;
	c->rs = type != NULL && c->column != NULL ? sql_rowset_open(&c->kept, type, n) : NULL;
	w->full = c->rs == NULL;
	return !w->full;
}

static bool
collect_rows(void *arg, const struct sql_batch_view *b)
{
	struct collecting *w = arg;
	struct sql_rowset *rs = w->c->rs;
	const struct cat_vec **col = nam_arena_take(&w->c->batch, (b->cols + 1) * sizeof *col);
	uint16_t *sel = nam_arena_take(&w->c->batch, (b->n + 1) * sizeof *sel);
	for (unsigned k = 0; col != NULL && k < b->cols; k++)
		col[k] = &b->col[k];
	for (unsigned k = 0; sel != NULL && k < b->n; k++)
		sel[k] = (uint16_t)k;
	w->full = col == NULL || sel == NULL || rs == NULL || !sql_rowset_add(rs, col, sel, b->n);
	nam_arena_reset(&w->c->batch);
	return !w->full;
}

static bool
collect_tag(void *arg, const char *tag, uint64_t rows)
{
	struct collecting *w = arg;
	(void)rows;
	snprintf(w->c->tag, sizeof w->c->tag, "%s", tag);
	return true;
}

static void
pass_notice(void *arg, const char *severity, const char *sqlstate, const char *text)
{
	const struct collecting *w = arg;
	if (w->client->notice != NULL)
		w->client->notice(w->client->arg, severity, sqlstate, text);
}

/* Runs the statement, inside the transaction that is open. */
static bool
run_now(struct sql_cursor *c, const struct sql_sink *client, struct cat_err *err)
{
	struct collecting w = { .c = c, .client = client };
	const struct sql_sink sink = { .arg = &w,
		.begin = collect_columns,
		.rows = collect_rows,
		.done = collect_tag,
		.notice = pass_notice };
	const struct sql_column *col;
	if (sql_stmt_columns(c->st, &col) == 0)
		return cat_error(err, "XX000", "unsupported portal strategy");
	c->later = false;
	c->busy = true;
	bool ok = sql_stmt_one(c->s, c->st, c->given, c->ngiven, &sink, err, false);
	c->busy = false;
	if (w.full)
		ok = sql_no_memory(err);
	if (c->dead)
		die(c);
	return ok && (c->rs != NULL || cat_error(err, "55000", "portal \"%s\" cannot be run", c->name));
}

/* ---- fetching ------------------------------------------------------------------------------ */

/* The next rows of the plan, at most n of them. -1: *err says why not. */
static int
stream(struct sql_cursor *c, uint64_t n, bool send, const struct sql_sink *sink, struct cat_err *err)
{
	enter(c, sink, err);
	int have = more(c);
	if (have > 0) {
		struct sql_node *root = c->st->plan->root;
		if (n < (uint64_t)have)
			have = (int)n;
		if (send && !sql_send(&c->s->x, &root->out, sql_sel(root) + c->at, (unsigned)have, &c->batch))
			have = -1;
		else
			c->at += have;
	}
	if (c->batch.used > 0)
		nam_arena_reset(&c->batch);
	leave(c);
	return have;
}

/* Rows in memory from row number `from` (from 0) on, or down from there. -1: *err says why not. */
static int
recall(struct sql_cursor *c, uint64_t from, uint64_t n, bool back, bool send, const struct sql_sink *sink,
    struct cat_err *err)
{
	uint32_t row[CAT_BATCH];
	unsigned cols = c->rs->cols, m = n < CAT_BATCH ? (unsigned)n : CAT_BATCH;
	uint64_t have = back ? from + 1 - c->first : c->rs->rows - (from - c->first);
	if (have < m)
		m = (unsigned)have;
	if (!send || m == 0)
		return (int)m;
	for (unsigned k = 0; k < m; k++)
		row[k] = (uint32_t)(back ? from - c->first - k : from - c->first + k);
	struct cat_vec *v = nam_arena_take(&c->batch, (cols + 1) * sizeof *v);
	for (unsigned k = 0; v != NULL && k < cols; k++)
		if (!sql_rowset_gather(c->rs, k, row, m, &v[k], &c->batch))
			v = NULL;
	if (v == NULL)
		return sql_no_memory(err) ? 0 : -1;
	const struct sql_batch_view b = { .col = v, .cols = cols, .n = m, .floats = c->s->now.floats };
	bool ok = sink->rows == NULL || sink->rows(sink->arg, &b);
	nam_arena_reset(&c->batch);
	return ok || cat_error(err, "57014", "canceling statement due to user request") ? (int)m : -1;
}

/* At most n rows forward; *got: how many there were. */
static bool
forward(struct sql_cursor *c, uint64_t n, bool send, const struct sql_sink *sink, uint64_t *got,
    struct cat_err *err)
{
	*got = 0;
	if (c->later && !run_now(c, sink, err))
		return false;
	if (c->scroll && c->rs == NULL && !keep(c, err))
		return false;
	while (!c->at_end && *got < n) {
		uint64_t want = n - *got;
		int m = c->rs != NULL ? recall(c, c->pos, want, false, send, sink, err)
				      : stream(c, want, send, sink, err);
		if (m < 0)
			return false;
		if (m == 0)
			c->at_end = true;
		c->pos += (unsigned)m;
		*got += (unsigned)m;
	}
	return true;
}

static bool
forward_only(struct cat_err *err)
{
	cat_error(err, "55000", "cursor can only scan forward");
	snprintf(err->hint, sizeof err->hint, "Declare it with SCROLL option to enable backward scan.");
	return false;
}

static bool
backward(struct sql_cursor *c, uint64_t n, bool send, const struct sql_sink *sink, uint64_t *got,
    struct cat_err *err)
{
	*got = 0;
	if (!c->scroll)
		return forward_only(err);
	if (c->rs == NULL && !keep(c, err))
		return false;
	uint64_t stands = c->pos + c->at_end; /* rows before it: stands - 1 */
	while (*got < n && stands > 1) {
		int m = recall(c, stands - 2, n - *got, true, send, sink, err);
		if (m < 0)
			return false;
		stands -= (unsigned)m;
		*got += (unsigned)m;
	}
	if (*got > 0 || n > 0)
		c->at_end = false;
	c->pos = *got < n ? 0 : stands;
	return true;
}

static bool
rewind_to_start(struct sql_cursor *c, struct cat_err *err)
{
	if (c->pos == 0 && !c->at_end)
		return true;
	if (!c->scroll)
		return forward_only(err);
	c->pos = 0;
	c->at_end = false;
	return true;
}

/* The row it stands on, once more. */
static bool
once_more(struct sql_cursor *c, bool send, const struct sql_sink *sink, uint64_t *got, struct cat_err *err)
{
	*got = c->pos > 0 && !c->at_end;
	if (!send || *got == 0)
		return true;
	if (!c->scroll)
		return forward_only(err);
	return recall(c, c->pos - 1, 1, false, true, sink, err) == 1;
}

static bool
absolute(struct sql_cursor *c, int64_t n, bool send, const struct sql_sink *sink, uint64_t *got,
    struct cat_err *err)
{
	uint64_t skipped;
	if (n > 0) {
		uint64_t to = (uint64_t)n - 1;
		if ((to < c->pos + c->at_end || c->at_end) && !rewind_to_start(c, err))
			return false;
		return forward(c, to - c->pos, false, sink, &skipped, err) &&
		       forward(c, 1, send, sink, got, err);
	}
	*got = 0;
	if (n == 0)
		return rewind_to_start(c, err);
	uint64_t back = (uint64_t)(-(n + 1));
	return forward(c, UINT64_MAX, false, sink, &skipped, err) &&
	       (back == 0 || backward(c, back, false, sink, &skipped, err)) &&
	       backward(c, 1, send, sink, got, err);
}

static bool
relative(struct sql_cursor *c, int64_t n, bool send, const struct sql_sink *sink, uint64_t *got,
    struct cat_err *err)
{
	uint64_t skipped;
	if (n == 0)
		return once_more(c, send, sink, got, err);
	if (n > 0)
		return forward(c, (uint64_t)n - 1, false, sink, &skipped, err) &&
		       forward(c, 1, send, sink, got, err);
	uint64_t back = (uint64_t)(-(n + 1));
	return (back == 0 || backward(c, back, false, sink, &skipped, err)) &&
	       backward(c, 1, send, sink, got, err);
}

static bool
fetch(struct sql_cursor *c, const struct ast_fetch *f, const struct sql_sink *sink, uint64_t *got,
    struct cat_err *err)
{
	bool send = !f->move;
	int64_t n = f->count;
	if (f->way == AST_FETCH_ABSOLUTE)
		return absolute(c, n, send, sink, got, err);
	if (f->way == AST_FETCH_RELATIVE)
		return relative(c, n, send, sink, got, err);
	if (n == 0)
		return once_more(c, send, sink, got, err);
	bool back = f->way == AST_FETCH_BACKWARD;
	bool all = n == INT64_MAX;
	if (n < 0) {
		back = !back;
		n = n == INT64_MIN ? INT64_MAX : -n;
	}
	uint64_t most = all ? UINT64_MAX : (uint64_t)n;
	return back ? backward(c, most, send, sink, got, err) : forward(c, most, send, sink, got, err);
}

/* What a fetch needs of the transaction: limits, but no new snapshot. */
static void
renew(struct sql_cursor *c)
{
	if (c->s->t != NULL && !c->outlives)
		sql_renew_limits(c->s);
}

bool
sql_cursor_fetch(struct sql_cursor *c, uint64_t rows, const struct sql_sink *sink, uint64_t *got, bool *end,
    struct cat_err *err)
{
	sql_err_clear(err);
	struct sql_session *s = c->s;
	if (s->block == SQL_FAILED)
		return cat_error(err, "25P02",
		    "current transaction is aborted, commands ignored until end of transaction block");
	if (c->dead)
		return cat_error(err, "34000", "portal \"%s\" does not exist", c->name);
	sql_clock_start(s);
	renew(c);
	if (c->broken || c->busy)
		return cat_error(err, "55000", "portal \"%s\" cannot be run", c->name);
	bool ok = forward(c, rows == 0 ? UINT64_MAX : rows, true, sink, got, err);
	*end = ok && (rows == 0 || *got < rows);
	if (!ok) {
		sql_judge_damage(s, 0, err);
		broke(c);
		sql_abort(s);
	}
	return ok;
}

/* ---- statements ---------------------------------------------------------------------------- */

bool
sql_declare_types(struct sql_session *s, struct sql_stmt *st, struct cat_err *err)
{
	struct sql_stmt *own =
	    sql_stmt_new(s, sql_parsed_hold(st->parsed), st->ast->inner, st->given, st->ngiven, err);
	bool ok = own != NULL && sql_stmt_plan(s, own, err);
	for (unsigned i = 0; ok && i < st->params; i++)
		st->types[i] = own->types[i];
	sql_stmt_close(own);
	return ok;
}

static bool
may_declare(struct sql_session *s, const struct ast_stmt *ast, struct cat_err *err)
{
	const struct ast_cursor *c = &ast->cursor;
	if (c->scroll && c->no_scroll)
		return cat_error(err, "42P11", "cannot specify both SCROLL and NO SCROLL");
	if (c->binary)
		return cat_error(err, "0A000", "binary cursors are not supported yet");
	if (ast->inner->select->locks > 0 && (c->hold || c->scroll)) {
		cat_error(err, "0A000", "DECLARE %s ... FOR UPDATE is not supported",
		    c->hold ? "CURSOR WITH HOLD" : "SCROLL CURSOR");
		snprintf(err->detail, sizeof err->detail,
		    c->hold ? "Holdable cursors must be READ ONLY."
			    : "Scrollable cursors must be READ ONLY.");
		return false;
	}
	if (s->block == SQL_IDLE && !c->hold)
		return cat_error(err, "25P01", "DECLARE CURSOR can only be used in transaction blocks");
	if (find(s, ast->var, NULL) != NULL)
		return cat_error(err, "42P03", "cursor \"%.63s\" already exists", ast->var);
	return true;
}

static bool
declare(struct sql_session *s, const struct sql_stmt *st, const struct cat_datum *param, unsigned n,
    struct cat_err *err)
{
	const struct ast_stmt *ast = st->ast;
	if (ast->var[0] == 0)
		return cat_error(err, "34000", "invalid cursor name: must not be empty");
	if (!may_declare(s, ast, err))
		return false;
	struct sql_stmt *own =
	    sql_stmt_new(s, sql_parsed_hold(st->parsed), ast->inner, st->given, st->ngiven, err);
	return own != NULL &&
	       make(s, own, ast->var, param, n, ast->cursor.scroll, ast->cursor.hold, err) != NULL;
}

static bool
close_named(struct sql_session *s, const struct ast_stmt *ast, struct cat_err *err)
{
	if (ast->var == NULL) {
		sql_cursors_close_named(s);
		return true;
	}
	struct sql_cursor *c = find(s, ast->var, err);
	if (c != NULL && c->busy)
		return cat_error(err, "24000", "cannot drop active portal \"%s\"", c->name);
	if (c != NULL)
		die(c);
	return c != NULL;
}

static bool
fetch_named(struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink, uint64_t *got,
    struct cat_err *err)
{
	struct sql_cursor *c = find(s, ast->var, err);
	if (c == NULL)
		return false;
	if (c->broken || c->busy)
		return cat_error(err, "55000", "portal \"%s\" cannot be run", c->name);
	renew(c);
	const struct sql_column *col;
	unsigned cols = sql_cursor_columns(c, &col);
	if (!ast->fetch.move && sink->begin != NULL && !sink->begin(sink->arg, col, cols))
		return cat_error(err, "57014", "canceling statement due to user request");
	if (fetch(c, &ast->fetch, sink, got, err))
		return true;
	return broke(c);
}

struct sql_cursor *
sql_cursor_named(const struct sql_session *s, const char *name)
{
	return name[0] != 0 ? find(s, name, NULL) : NULL;
}

unsigned
sql_cursor_columns(const struct sql_cursor *c, const struct sql_column **columns)
{
	if (c->column == NULL)
		return sql_stmt_columns(c->st, columns);
	*columns = c->column;
	return c->columns;
}

void
sql_cursor_tag(const struct sql_cursor *c, uint64_t rows, char *out, size_t max)
{
	size_t n = strlen(c->tag);
	while (n > 0 && c->tag[n - 1] >= '0' && c->tag[n - 1] <= '9')
		n--;
	if (n > 0 && c->tag[n] == 0)
		snprintf(out, max, "%s", c->tag);
	else
		snprintf(out, max, "%.*s%llu", n > 0 ? (int)n : 7, n > 0 ? c->tag : "SELECT ",
		    (unsigned long long)rows);
}

void
sql_cursors_each(
    const struct sql_session *s, bool (*fn)(void *to, const struct sql_cursor_shown *c), void *to)
{
	bool more = true;
	for (const struct sql_cursor *c = s->cursors; c != NULL && more; c = c->next) {
		const struct sql_cursor_shown shown = { .name = c->name,
			.text = c->text->text,
			.len = c->text->len,
			.hold = c->hold,
			.scroll = c->scroll,
			.made_us = c->made_us };
		more = fn(to, &shown);
	}
}

bool
sql_cursor_stmt(struct sql_session *s, const struct sql_stmt *st, const struct cat_datum *param, unsigned n,
    const struct sql_sink *sink, struct cat_err *err, bool last)
{
	const struct ast_stmt *ast = st->ast;
	bool alone = s->block == SQL_IDLE, ok;
	uint64_t got = 0;
	char tag[48];
	if (ast->kind == AST_DECLARE) {
		ok = declare(s, st, param, n, err);
		snprintf(tag, sizeof tag, "DECLARE CURSOR");
	} else if (ast->kind == AST_CLOSE) {
		ok = close_named(s, ast, err);
		snprintf(tag, sizeof tag, ast->var != NULL ? "CLOSE CURSOR" : "CLOSE CURSOR ALL");
	} else {
		ok = fetch_named(s, ast, sink, &got, err);
		snprintf(
		    tag, sizeof tag, "%s %llu", ast->fetch.move ? "MOVE" : "FETCH", (unsigned long long)got);
	}
	if (!ok)
		sql_judge_damage(s, 0, err);
	if (!ok)
		sql_abort(s);
	else if ((alone && s->t != NULL) || (s->block == SQL_IMPLICIT && last))
		ok = sql_commit(s, err);
	if (!ok)
		return false;
	if (sink->done == NULL || sink->done(sink->arg, tag, got))
		return true;
	return cat_error(err, "57014", "canceling statement due to user request");
}
