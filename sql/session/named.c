/*
 * named.c -- PREPARE, EXECUTE, DEALLOCATE: prepared statements with a name, kept by the session.
 *
 * A failed transaction does not take them back. What EXECUTE gives is cast to the
 * parameters' types by a query of its own.
 */
#include <base/hash.h>
#include <sql/session/session_internal.h>

#include <stdio.h>
#include <stdlib.h>

enum { NAMED_MAX = 200000, CHAINS_FIRST = 64 };

struct sql_named {
	struct sql_named *next; /* of its chain */
	char name[CAT_NAME_MAX + 1];
	struct sql_stmt *st;
	const struct ast_stmt *as; /* the PREPARE, which lives as long as st; NULL = it has none */
	struct nam_arena args;     /* of one execution */
	struct cat_datum *given;
};

/* Of one session, by name. */
struct sql_names {
	struct sql_named **chain;
	uint32_t chains, n; /* a power of two; names */
};

static struct sql_named **
chain_of(const struct sql_names *k, const char *name)
{
	return &k->chain[nam_hash(name, strlen(name), 0) & (k->chains - 1)];
}

/* Where the name stands; NULL: nowhere. */
static struct sql_named **
place_of(struct sql_session *s, const char *name, struct cat_err *err)
{
	char cut[CAT_NAME_MAX + 1];
	snprintf(cut, sizeof cut, "%s", name);
	struct sql_named **at = s->named != NULL ? chain_of(s->named, cut) : NULL;
	while (at != NULL && *at != NULL && strcmp((*at)->name, cut) != 0)
		at = &(*at)->next;
	if (at != NULL && *at != NULL)
		return at;
	if (err != NULL)
		cat_error(err, "26000", "prepared statement \"%s\" does not exist", cut);
	return NULL;
}

static struct sql_named *
find(struct sql_session *s, const char *name, struct cat_err *err)
{
	struct sql_named **at = place_of(s, name, err);
	return at != NULL ? *at : NULL;
}

static void
forget(struct sql_session *s, struct sql_named **at)
{
	struct sql_named *p = *at;
	*at = p->next;
	s->named->n--;
	sql_stmt_close(p->st);
	nam_arena_fini(&p->args);
	free(p);
}

void
sql_forget_named(struct sql_session *s)
{
	struct sql_names *k = s->named;
	if (k == NULL)
		return;
	for (uint32_t i = 0; i < k->chains; i++)
		while (k->chain[i] != NULL)
			forget(s, &k->chain[i]);
	free(k->chain);
	free(k);
	s->named = NULL;
}

/* Makes room for one name more. */
static bool
names_grow(struct sql_session *s)
{
	struct sql_names *k = s->named;
	if (k == NULL && (k = s->named = calloc(1, sizeof *k)) == NULL)
		return false;
	if (k->n < k->chains)
		return true;
	struct sql_names now = { .chains = k->chains != 0 ? 2 * k->chains : CHAINS_FIRST, .n = k->n };
	if ((now.chain = calloc(now.chains, sizeof(struct sql_named *))) == NULL)
		return false;
	for (uint32_t i = 0; i < k->chains; i++)
		for (struct sql_named *p = k->chain[i], *next; p != NULL; p = next) {
			struct sql_named **to = chain_of(&now, p->name);
			next = p->next;
			p->next = *to;
			*to = p;
		}
	free(k->chain);
	*k = now;
	return true;
}

/* A new name without its statement; NULL: *err says why. */
static struct sql_named *
room_for(struct sql_session *s, const char *name, struct cat_err *err)
{
	struct sql_named *p = NULL;
	if (find(s, name, NULL) != NULL)
		cat_error(err, "42P05", "prepared statement \"%.63s\" already exists", name);
	else if (s->named != NULL && s->named->n >= NAMED_MAX)
		cat_error(err, "53200", "more than %d prepared statements", NAMED_MAX);
	else if (!names_grow(s) || (p = calloc(1, sizeof *p)) == NULL)
		sql_no_memory(err);
	if (p == NULL)
		return NULL;
	snprintf(p->name, sizeof p->name, "%s", name);
	nam_arena_init(&p->args, 1 << 10);
	struct sql_named **to = chain_of(s->named, p->name);
	p->next = *to;
	*to = p;
	s->named->n++;
	return p;
}

/* The types of PREPARE's parameters, those of users looked up. In an arena of the session. */
static const enum cat_type *
given_types(struct sql_session *s, const struct ast_stmt *ast, struct cat_err *err)
{
	struct nam_arena *arena = sql_arena(s, 0);
	enum cat_type *types = arena ? nam_arena_copy(arena, ast->types, ast->ntypes * sizeof *types) : NULL;
	if (types == NULL) {
		sql_no_memory(err);
		return NULL;
	}
	for (unsigned i = 0; i < ast->ntypes; i++) {
		struct cat_column c;
		if (!sql_column_of(s, ast->types[i], -1, &ast->named[i], &c, err))
			return NULL;
		types[i] = c.type;
	}
	return types;
}

static bool
prepare(struct sql_session *s, const struct sql_stmt *st, struct cat_err *err)
{
	const struct ast_stmt *ast = st->ast;
	const enum cat_type *types = ast->ntypes > 0 ? given_types(s, ast, err) : ast->types;
	struct sql_named *p = types != NULL ? room_for(s, ast->var, err) : NULL;
	if (p == NULL)
		return false;
	p->st = sql_stmt_new(s, sql_parsed_hold(st->parsed), ast->inner, types, ast->ntypes, err);
	p->as = ast;
	if (p->st != NULL && (!sql_has_plan(ast->inner) || sql_stmt_plan(s, p->st, err))) {
		p->st->described = true;
		return true;
	}
	forget(s, place_of(s, p->name, NULL));
	return false;
}

bool
sql_stmt_name(struct sql_session *s, const char *name, struct sql_stmt *st, struct cat_err *err)
{
	struct sql_named *p = room_for(s, name, err);
	if (p == NULL) {
		sql_stmt_close(st);
		return false;
	}
	p->st = st;
	return true;
}

struct sql_stmt *
sql_stmt_named(struct sql_session *s, const char *name, struct cat_err *err)
{
	struct sql_named *p = find(s, name, err);
	return p != NULL ? p->st : NULL;
}

const struct sql_stmt *
sql_named_find(struct sql_session *s, const char *name)
{
	return sql_stmt_named(s, name, NULL);
}

void
sql_stmt_unname(struct sql_session *s, const char *name)
{
	struct sql_named **at = place_of(s, name, NULL);
	if (at != NULL)
		forget(s, at);
}

static bool
take(void *arg, const struct sql_batch_view *b)
{
	struct sql_named *p = arg;
	for (unsigned c = 0; c < b->cols && b->n > 0; c++) {
		struct cat_datum *d = &p->given[c];
		d->type = b->col[c].type;
		d->null = b->col[c].null[0];
		d->v = cat_vec_at(&b->col[c], 0);
		if (!d->null)
			d->v = cat_value_copy(d->type, d->v, &p->args);
	}
	return true;
}

/* SELECT CAST(argument AS the parameter's type), ...: with the casts of an assignment. */
static bool
arguments(struct sql_session *s, struct sql_named *p, const struct ast_stmt *ast, struct cat_err *err)
{
	const enum cat_type *type;
	unsigned n = sql_stmt_params(p->st, &type);
	if (ast->nargs != n) {
		cat_error(err, "42601", "wrong number of parameters for prepared statement \"%s\"", p->name);
		snprintf(
		    err->detail, sizeof err->detail, "Expected %u parameters but got %u.", n, ast->nargs);
		return false;
	}
	nam_arena_reset(&p->args);
	p->given = nam_arena_zero(&p->args, (n + 1) * sizeof *p->given);
	struct ast_target *t = nam_arena_zero(&p->args, (n + 1) * sizeof *t);
	struct ast_expr *cast = nam_arena_zero(&p->args, (n + 1) * sizeof *cast);
	if (p->given == NULL || t == NULL || cast == NULL)
		return sql_no_memory(err);
	for (unsigned i = 0; i < n; i++) {
		cast[i] = (struct ast_expr){ .kind = AST_CAST,
			.position = ast->args[i]->position,
			.nargs = 1,
			.type = type[i],
			.typmod = -1,
			.i = i + 1,
			.args = &ast->args[i] };
		/* a type by its name: it may be a domain */
		if (p->as != NULL && i < p->as->ntypes && cat_type_element(p->as->types[i]) == CAT_NAMED) {
			cast[i].type = p->as->types[i];
			cast[i].named = &p->as->named[i];
		}
		t[i].e = &cast[i];
	}
	if (n == 0)
		return true;
	nam_status looked = cat_look(s->cfg.cat, s->t);
	if (looked != NAM_OK)
		return sql_status(err, looked, NULL);
	struct ast_select q = { .target = t, .targets = n };
	const struct ast_stmt select = { .kind = AST_SELECT, .select = &q };
	struct sql_bind_in in = { .cat = s->cfg.cat,
		.t = s->t,
		.parser = s->cfg.parser,
		.who = sql_who(s),
		.search = sql_search_text(s, s->search) };
	struct sql_plan *plan = sql_plan_make(&select, &in, err);
	if (plan == NULL)
		return false;
	const struct sql_sink sink = { .arg = p, .rows = take };
	uint64_t rows;
	bool ok = plan->arenas == 0 || sql_arena(s, plan->arenas - 1) != NULL || sql_no_memory(err);
	if (ok) {
		for (unsigned i = 0; i < plan->arenas; i++)
			nam_arena_reset(s->arena[i]);
		sql_take_now(s, plan);
		sql_prepare_exec(s, &sink, err);
		ok = sql_sub_start(&s->x, plan) && sql_plan_run(s, plan, &rows);
	}
	sql_plan_free(plan);
	return ok;
}

bool
sql_named_execute(struct sql_session *s, const struct sql_stmt *st, const struct sql_sink *sink,
    struct cat_err *err, bool last)
{
	struct sql_named *p = find(s, st->ast->var, err);
	if (p == NULL || (st->ast->nargs > 0 && !sql_begin_statement(s, err)) ||
	    !arguments(s, p, st->ast, err)) {
		sql_abort(s);
		return false;
	}
	bool ok = sql_stmt_run(s, p->st, p->given, p->st->params, sink, err, last);
	if (!ok)
		err->position = 0; /* of another text */
	return ok;
}

bool
sql_named_plan(struct sql_session *s, const struct ast_stmt *ast, struct sql_plan **plan,
    const struct cat_datum **given, unsigned *n, struct cat_err *err)
{
	struct sql_named *p = find(s, ast->var, err);
	if (p == NULL || !arguments(s, p, ast, err))
		return false;
	if (!sql_has_plan(p->st->ast))
		return cat_error(err, "0A000", "EXPLAIN of this kind of statement is not supported yet");
	if (!sql_stmt_plan(s, p->st, err))
		return false;
	*plan = p->st->plan;
	*given = p->given;
	*n = p->st->params;
	return true;
}

bool
sql_named(struct sql_session *s, const struct sql_stmt *st, char *tag, size_t max, struct cat_err *err)
{
	const struct ast_stmt *ast = st->ast;
	if (ast->kind == AST_PREPARE) {
		snprintf(tag, max, "PREPARE");
		return prepare(s, st, err);
	}
	snprintf(tag, max, ast->var ? "DEALLOCATE" : "DEALLOCATE ALL");
	if (ast->var == NULL) {
		sql_forget_named(s);
		return true;
	}
	struct sql_named **at = place_of(s, ast->var, err);
	if (at == NULL)
		return false;
	forget(s, at);
	return true;
}
