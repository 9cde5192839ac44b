/* stmt.c -- prepared statements: plans kept, made again when the catalog changed, and run. */
#include <base/clock.h>
#include <base/hash.h>
#include <sql/plan/cost.h>
#include <sql/session/session_internal.h>

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

bool
sql_has_plan(const struct ast_stmt *ast)
{
	return ast->kind == AST_SELECT || ast->kind == AST_INSERT || ast->kind == AST_UPDATE ||
	       ast->kind == AST_DELETE || ast->kind == AST_TRUNCATE;
}

struct sql_stmt *
sql_stmt_new(struct sql_session *s, struct sql_parsed *parsed, const struct ast_stmt *ast,
    const enum cat_type *types, unsigned n, struct cat_err *err)
{
	struct sql_stmt *st = calloc(1, sizeof *st);
	unsigned params = ast ? ast->params : 0;
	if (st != NULL) {
		st->given = calloc(n + 1, sizeof *st->given);
		st->types = calloc(params + 1, sizeof *st->types);
		st->param = calloc(params + 1, sizeof *st->param);
		nam_arena_init(&st->fixed, 1 << 10);
	}
	if (st == NULL || st->given == NULL || st->types == NULL || st->param == NULL) {
		if (st != NULL) {
			free(st->given);
			free(st->types);
			free(st->param);
		}
		free(st);
		sql_parsed_drop(parsed);
		cat_error(err, "53200", "out of memory");
		return NULL;
	}
	if (n > 0)
		memcpy(st->given, types, n * sizeof *types);
	st->ngiven = n;
	st->refs = 1;
	st->s = s;
	st->parsed = parsed;
	st->ast = ast;
	st->params = params;
	return st;
}

void
sql_stmt_close(struct sql_stmt *st)
{
	if (st == NULL || --st->refs > 0)
		return;
	sql_plan_free(st->plan);
	sql_parsed_drop(st->parsed);
	nam_arena_fini(&st->fixed);
	free(st->given);
	free(st->types);
	free(st->param);
	free(st);
}

struct sql_stmt *
sql_stmt_hold(struct sql_stmt *st)
{
	st->refs++;
	return st;
}

bool
sql_stmt_ends(const struct sql_stmt *st)
{
	return sql_may_end(st->ast->kind);
}

const char *
sql_stmt_nothing(const struct sql_stmt *st)
{
	switch (st->ast->kind) {
	case AST_INSERT:
		return "INSERT 0 0";
	case AST_UPDATE:
		return "UPDATE 0";
	case AST_DELETE:
		return "DELETE 0";
	case AST_SHOW:
		return "SHOW";
	case AST_EXPLAIN:
		return "EXPLAIN";
	case AST_FETCH:
		return "FETCH 0";
	default:
		return "SELECT 0";
	}
}

const char *
sql_stmt_text(const struct sql_stmt *st, size_t *len)
{
	*len = st->parsed->len;
	return st->parsed->text;
}

unsigned
sql_stmt_params(const struct sql_stmt *st, const enum cat_type **types)
{
	*types = st->types;
	return st->params;
}

uint32_t
sql_stmt_param_oid(const struct sql_stmt *st, unsigned i)
{
	const struct sql_param_as *as = st->plan != NULL ? &st->plan->param_as[i] : NULL;
	if (as != NULL && as->domain != 0)
		return SQL_FIRST_OID + as->domain;
	return cat_type_oid(st->types[i], as != NULL ? as->typmod : -1);
}

/* A number of the settings that plans depend on. */
static uint64_t
planned_by(const struct sql_session *s, const char *path)
{
	uint64_t costs = s->now.costs_given ? nam_hash(s->now.cost, sizeof s->now.cost, 1) : 0;
	return (uint64_t)s->now.join_order << 31 ^ (uint64_t)s->now.standard_costs << 63 ^
	       nam_hash(path, strlen(path), 0) ^ costs;
}

static bool
same_columns(const struct sql_plan *x, const struct sql_plan *y)
{
	bool same = x->columns == y->columns;
	for (unsigned k = 0; k < x->columns && same; k++)
		same = strcmp(x->column[k].name, y->column[k].name) == 0 &&
		       x->column[k].type == y->column[k].type && x->column[k].typmod == y->column[k].typmod;
	return same;
}

/* With s->t open: a plan for the catalog as t sees it. */
bool
sql_stmt_plan(struct sql_session *s, struct sql_stmt *st, struct cat_err *err)
{
	uint64_t version = cat_version(s->cfg.cat, s->t);
	const char *path = sql_search_text(s, s->search);
	uint64_t drift = cat_drift(s->cfg.cat) ^ planned_by(s, path);
	const struct sql_costs *costs = sql_costs_renew(s);
	if (st->plan != NULL && st->version == version && st->drift == drift && !st->plan->momentary &&
	    sql_who_same(&st->who, sql_who(s)))
		return true;
	struct sql_plan *was = st->plan;
	nam_status looked = cat_look(s->cfg.cat, s->t);
	if (looked != NAM_OK)
		return sql_status(err, looked, NULL);
	struct sql_bind_in in = { .cat = s->cfg.cat,
		.t = s->t,
		.parser = s->cfg.parser,
		.types = st->given,
		.ntypes = st->ngiven,
		.costs = costs,
		.peers = s->cfg.peers,
		.cursors = sql_cursors_each,
		.session = s,
		.may_change = true,
		.who = sql_who(s),
		.search = path,
		.join_order = s->now.join_order };
	st->plan = sql_plan_make(st->ast, &in, err);
	if (st->plan != NULL && !sql_names_exist(s, st->ast, err)) {
		sql_plan_free(st->plan);
		st->plan = NULL;
	}
	bool same = st->plan == NULL || was == NULL || !st->described || same_columns(was, st->plan);
	if (st->plan == NULL || !same) {
		sql_plan_free(st->plan);
		st->plan = was; /* so that it is known what was told */
		st->version = UINT64_MAX;
		return !same && cat_error(err, "0A000", "cached plan must not change result type");
	}
	sql_plan_free(was);
	/* Reading the catalog may have brought a newer one to light; then the next execution plans
	 * again. */
	st->version = version;
	st->drift = drift;
	st->who = *sql_who(s);
	for (unsigned i = 0; i < st->params; i++)
		st->types[i] = st->plan->param[i];
	return st->plan->arenas == 0 || sql_arena(s, st->plan->arenas - 1) != NULL || sql_no_memory(err);
}

bool
sql_prepare(struct sql_session *s, const char *text, size_t len, const enum cat_type *types, unsigned n,
    struct sql_stmt **out, struct cat_err *err)
{
	sql_err_clear(err);
	struct sql_parsed *p;
	if (!sql_parse(s->cfg.parser, text, len, &p, err)) {
		sql_err_place(err, text, len);
		sql_abort(s);
		return false;
	}
	if (p->stmts > 1) {
		sql_parsed_drop(p);
		sql_abort(s);
		return cat_error(err, "42601", "cannot insert multiple commands into a prepared statement");
	}
	static const struct ast_stmt nothing = { .kind = AST_EMPTY };
	struct sql_stmt *st = sql_stmt_new(s, p, p->stmts ? p->stmt[0] : &nothing, types, n, err);
	if (st == NULL)
		return false;
	bool ok = true;
	sql_clock_start(s);
	if (s->block == SQL_FAILED && !sql_may_end(st->ast->kind)) {
		ok = cat_error(err, "25P02",
		    "current transaction is aborted, commands ignored until end of transaction block");
	} else if (sql_has_plan(st->ast)) {
		ok = sql_begin_statement(s, err) && sql_stmt_plan(s, st, err);
		if (!ok)
			sql_abort(s);
		else if (s->block == SQL_IDLE)
			ok = sql_commit(s, err);
	} else if (st->ast->kind == AST_DECLARE) {
		ok = sql_begin_statement(s, err) && sql_declare_types(s, st, err);
		if (!ok)
			sql_abort(s);
		else if (s->block == SQL_IDLE)
			ok = sql_commit(s, err);
	}
	if (!ok) {
		sql_err_place(err, text, len);
		sql_stmt_close(st);
		return false;
	}
	st->described = true;
	bool show = st->ast->kind == AST_SHOW, explain = st->ast->kind == AST_EXPLAIN;
	if (show || explain) {
		st->shown.type = CAT_TEXT;
		st->shown.typmod = -1;
		snprintf(st->shown.name, sizeof st->shown.name, "%s", show ? st->ast->var : "QUERY PLAN");
	}
	*out = st;
	return true;
}

unsigned
sql_stmt_columns(const struct sql_stmt *st, const struct sql_column **columns)
{
	if (st->ast->kind == AST_SHOW && strcasecmp(st->ast->var, "all") == 0) {
		*columns = sql_show_all_columns;
		return 3;
	}
	if (st->shown.name[0] != 0) {
		*columns = &st->shown;
		return 1;
	}
	if (st->ast->kind == AST_FETCH) {
		const struct sql_cursor *c =
		    st->ast->fetch.move ? NULL : sql_cursor_named(st->s, st->ast->var);
		*columns = NULL;
		return c != NULL ? sql_cursor_columns(c, columns) : 0;
	}
	if (st->ast->kind == AST_EXECUTE)
		st = sql_named_find(st->s, st->ast->var);
	*columns = st != NULL && st->plan != NULL ? st->plan->column : NULL;
	if (*columns == NULL)
		return 0;
	return st->plan->columns;
}

/* regclass and its kin go into a plan as texts, which it looks up. */
enum cat_type
sql_param_sent(enum cat_type type)
{
	return cat_type_is_reg(type) ? CAT_TEXT : type;
}

/* ---- running --------------------------------------------------------------------------- */

/* True for the name of a table or sequence. */
static bool
is_relation(struct sql_session *s, struct cat_str text, struct cat_err *err)
{
	const struct sql_looking in = sql_looking(s);
	char schema[CAT_NAME_MAX + 1], name[CAT_NAME_MAX + 1];
	const struct cat_table *tab = NULL;
	bool is = sql_path_parse(text, schema, name) &&
		  sql_path_find(&in, schema[0] ? schema : NULL, name, &tab, err) && tab != NULL;
	sql_err_clear(err);
	return is;
}

/* A name that regclass or one of its kin does not know is told before later parameters, and whether
 * the parameter is used or not. */
static bool
names_are_known(struct sql_stmt *st, const struct cat_datum *param, unsigned n, struct cat_err *err)
{
	struct sql_env env = { .arena = &st->fixed, .err = err, .session = st->s, .host = st->s->host };
	for (unsigned i = 0; i < n; i++) {
		struct cat_datum name = { .v = param[i].v }, out;
		if (!cat_type_is_reg(st->types[i]) || param[i].null ||
		    (param[i].type != CAT_TEXT && param[i].type != CAT_UNKNOWN) ||
		    (st->types[i] == CAT_REGCLASS && is_relation(st->s, name.v.s, err)))
			continue;
		struct sql_expr *e = sql_expr_const(&st->fixed, name, 0);
		if (e == NULL)
			return sql_no_memory(err);
		if ((e = sql_expr_cast(&st->fixed, e, st->types[i], -1, 0, err)) == NULL ||
		    !sql_eval_one(e, &env, &out))
			return false;
	}
	return true;
}

/* A parameter of a domain is one of its values, whether it is used or not. */
static bool
domains_hold(struct sql_session *s, struct sql_plan *p, const struct cat_datum *given, struct cat_err *err)
{
	for (unsigned i = 0; i < p->params; i++) {
		const struct sql_bound_domain *k = p->param_as[i].domain != 0 ? p->domain : NULL;
		while (k != NULL && k->d.id != p->param_as[i].domain)
			k = k->next;
		if (k == NULL || (k->d.checks == 0 && !k->d.not_null))
			continue;
		struct nam_arena *a = sql_arena(s, 0);
		struct sql_expr *e = a ? sql_expr_const(a, given[i], 0) : NULL;
		struct cat_datum out;
		if (e == NULL)
			return sql_no_memory(err);
		s->x.env.arena = a;
		if ((e = sql_expr_domain(a, e, &k->d, err)) == NULL || !sql_eval_one(e, &s->x.env, &out))
			return false;
	}
	return true;
}

const struct cat_datum *
sql_stmt_convert(struct sql_stmt *st, const struct cat_datum *param, unsigned n, struct cat_err *err)
{
	if (n < st->params) {
		cat_error(err, "08P01", "%u parameters given, the statement needs %u", n, st->params);
		return NULL;
	}
	bool same = true;
	for (unsigned i = 0; i < st->params && same; i++)
		same = param[i].type == sql_param_sent(st->types[i]);
	if (same)
		return param ? param : st->param;
	nam_arena_reset(&st->fixed);
	for (unsigned i = 0; i < st->params; i++) {
		struct cat_datum *d = &st->param[i];
		enum cat_type want = sql_param_sent(st->types[i]), have = param[i].type;
		*d = param[i];
		d->type = want;
		if (d->null || have == want) {
			if (d->null)
				d->v.s = (struct cat_str){ "", 0 };
			continue;
		}
		bool ints = cat_type_is_int(have) && cat_type_is_int(want);
		if (ints && cat_int_fits(want, d->v.i))
			continue;
		/* anything else by way of its text */
		if (cat_type_is_reg(have) && want == CAT_TEXT) {
			d->v.i = cat_reg_oid(d->v.s.p, d->v.s.len);
			have = CAT_OID;
		}
		struct cat_str s =
		    have == CAT_UNKNOWN || have == CAT_TEXT ? d->v.s : cat_value_out(have, d->v, &st->fixed);
		struct cat_err why = { 0 };
		if (!cat_value_in(want, -1, s, &d->v, &st->fixed, &why)) {
			if (names_are_known(st, param, i, err))
				*err = why;
			return NULL;
		}
	}
	return st->param;
}

static void
tag_of(const struct ast_stmt *ast, uint64_t rows, char *out)
{
	const char *word = ast->kind == AST_SELECT   ? "SELECT "
			   : ast->kind == AST_INSERT ? "INSERT 0 "
			   : ast->kind == AST_UPDATE ? "UPDATE "
			   : ast->kind == AST_DELETE ? "DELETE "
						     : "TRUNCATE TABLE";
	size_t n = strlen(word);
	memcpy(out, word, n);
	if (ast->kind != AST_TRUNCATE) {
		char digits[20];
		unsigned d = 0;
		do
			digits[d++] = (char)('0' + rows % 10);
		while ((rows /= 10) != 0);
		while (d > 0)
			out[n++] = digits[--d];
	}
	out[n] = 0;
}

static bool
execute(struct sql_session *s, struct sql_stmt *st, const struct cat_datum *param, unsigned n,
    const struct sql_sink *sink, struct cat_err *err, uint64_t *rows, bool *begun)
{
	if (!sql_begin_statement(s, err) || !sql_stmt_plan(s, st, err))
		return false;
	struct sql_plan *p = st->plan;
	const struct cat_datum *given = sql_stmt_convert(st, param, n, err);
	if (given == NULL || !names_are_known(st, given, st->params, err))
		return false;
	for (unsigned i = 0; i < p->arenas; i++)
		if (s->arena[i]->used > 0)
			nam_arena_reset(s->arena[i]);
	sql_take_now(s, p);
	sql_prepare_exec(s, sink, err);
	if (!domains_hold(s, p, given, err))
		return false;
	if (p->kind == AST_TRUNCATE) {
		nam_status held = cat_hold_to_end(s->cfg.cat, s->t, p->tab);
		if (held != NAM_OK)
			return sql_status(err, held, p->tab);
		struct nam_arena *a = sql_arena(s, 0);
		if (a == NULL)
			return sql_no_memory(err);
		if (!sql_foreign_may_truncate(p->tab, NULL, 0, err))
			return false;
		if (s->saves == 0)
			return sql_truncate(s, p->tab, a, err);
	}
	bool refers =
	    p->kind != AST_SELECT && p->tab != NULL && (p->tab->foreigns > 0 || p->tab->referrers > 0);
	s->stmt_mark = s->block != SQL_IDLE && (p->steps || p->conflict || p->from || refers ||
						   (p->locks && p->kind != AST_SELECT))
			   ? txn_mark(s->t)
			   : 0;
	s->upserts |= p->conflict != NULL;
	if (p->steps != NULL) {
		if (!sql_steps_run(s, p, given, st->params, err))
			return false;
		sql_prepare_exec(s, sink, err);
	}
	s->x.env.param = given;
	s->x.env.params = st->params;
	if (!sql_sub_start(&s->x, p))
		return false;
	if (p->fragments != NULL && p->steps == NULL)
		sql_team_up(s, p, st->parsed);
	if (p->columns > 0 || p->kind == AST_SELECT) {
		if (!*begun && sink->begin != NULL && !sink->begin(sink->arg, p->column, p->columns))
			return cat_error(err, "57014", "canceling statement due to user request");
		*begun = true;
	}
	bool ok = sql_plan_run(s, p, rows);
	if (p->steps != NULL)
		sql_steps_end(p);
	return ok;
}

/* In a transaction block: if a statement lost a race and its client has seen no row of it, it is
 * undone and may run again. */
static bool
once_more(struct sql_session *s, struct cat_err *err)
{
	if (s->x.sent > 0 || s->iso != TXN_READ_COMMITTED || strcmp(err->sqlstate, "40001") != 0 ||
	    txn_rollback_to(s->t, s->stmt_mark) != NAM_OK)
		return false;
	sql_count_retry(s);
	sql_err_clear(err);
	return true;
}

static bool
run_to_end(struct sql_session *s, struct sql_stmt *st, const struct cat_datum *param, unsigned n,
    const struct sql_sink *sink, struct cat_err *err, bool last)
{
	uint64_t rows = 0;
	bool begun = false;
	bool alone = s->block == SQL_IDLE, first = sql_is_first(s);
	unsigned full = 0, names = 0;
	for (unsigned tries = 0;; tries++) {
		s->stmt_mark = 0;
		bool ok = execute(s, st, param, n, sink, err, &rows, &begun);
		if (!ok)
			sql_judge_damage(s, 0, err);
		if (!ok && first && s->x.sent == 0 &&
		    (sql_name_again(s, st->ast, names++, err) || sql_room_again(s, full++, err))) {
			sql_err_clear(err);
			continue;
		}
		if (!ok && s->stmt_mark != 0 && tries < SQL_RETRIES && once_more(s, err))
			continue;
		/* A step has changed rows: such a statement runs again from its beginning only. */
		bool whole = st->plan != NULL && st->plan->steps != NULL;
		if (!ok && !whole && s->x.again && st->plan != NULL && st->plan->kind == AST_SELECT &&
		    s->x.sent == 0 && tries < SQL_RETRIES && strcmp(err->sqlstate, "40001") == 0) {
			sql_count_retry(s);
			sql_err_clear(err); /* what was locked stays so */
			continue;
		}
		if (!ok)
			sql_abort(s);
		else if (alone || (s->block == SQL_IMPLICIT && last))
			ok = sql_commit(s, err);
		if (ok)
			break;
		if (alone && sql_room_again(s, full++, err)) {
			sql_err_clear(err);
			continue;
		}
		/* If a statement outside a transaction block lost a race and its client has seen no
		 * row of it, it runs again. */
		if (!alone || tries == SQL_RETRIES || s->x.sent > 0 || s->now.iso != TXN_READ_COMMITTED ||
		    strcmp(err->sqlstate, "40001") != 0)
			return false;
		sql_count_retry(s);
		sql_err_clear(err);
	}
	char tag[48];
	tag_of(st->ast, rows, tag);
	if (sink->done == NULL || sink->done(sink->arg, tag, rows))
		return true;
	return cat_error(err, "57014", "canceling statement due to user request");
}

/* A session that is open must not keep what a large statement took: no other may follow. */
bool
sql_stmt_run(struct sql_session *s, struct sql_stmt *st, const struct cat_datum *param, unsigned n,
    const struct sql_sink *sink, struct cat_err *err, bool last)
{
	enum { LARGE = 1 << 20 };
	bool ok = run_to_end(s, st, param, n, sink, err, last);
	for (unsigned i = 0; i < s->arenas; i++)
		if (s->arena[i]->used > LARGE)
			nam_arena_trim(s->arena[i]);
	return ok;
}
