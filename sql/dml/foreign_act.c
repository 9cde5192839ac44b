/*
 * foreign_act.c -- what foreign keys do when a key goes: CASCADE and its kin are statements, each
 * for many keys, run beside the one that took the keys away.
 */
#include <sql/dml/foreign.h>
#include <sql/parse/parse.h>

#include <stdio.h>

static bool
referenced(struct sql_exec *x, const struct fk *k, const union cat_val *v, struct nam_arena *arena)
{
	cat_error(x->err, "23503",
	    "update or delete on table \"%s\" violates foreign key constraint \"%s\" on table \"%s\"",
	    cat_local(k->parent->path), k->def->name, cat_local(k->child->path));
	cat_error_about(x->err, cat_local(k->child->path), NULL, k->def->name);
	size_t at = sql_fk_words(x, k->parent, k->to, k->def->keys, v, arena);
	snprintf(x->err->detail + at, sizeof x->err->detail - at, ") is still referenced from table \"%s\".",
	    cat_local(k->child->path));
	return false;
}

/* ---- statements of its own -------------------------------------------------------------- */

/* Text that grows in an arena. */
struct text {
	struct nam_arena *arena;
	char *p;
	size_t len, cap;
	bool failed;
};

static void
add(struct text *t, const char *s, size_t len)
{
	if (t->len + len + 1 > t->cap) {
		size_t cap = (t->len + len + 1) * 2;
		char *p = nam_arena_take(t->arena, cap);
		if (p == NULL) {
			t->failed = true;
			return;
		}
		if (t->len > 0)
			memcpy(p, t->p, t->len);
		t->p = p;
		t->cap = cap;
	}
	memcpy(t->p + t->len, s, len);
	t->len += len;
	t->p[t->len] = 0;
}

static void
say(struct text *t, const char *s)
{
	add(t, s, strlen(s));
}

/* In quotes, which are doubled inside. */
static void
quoted(struct text *t, const char *s, size_t len, char quote)
{
	add(t, &quote, 1);
	for (size_t i = 0; i < len; i++) {
		if (s[i] == quote)
			add(t, &quote, 1);
		add(t, s + i, 1);
	}
	add(t, &quote, 1);
}

static void
name(struct text *t, const char *s)
{
	quoted(t, s, strlen(s), '"');
}

/* A table by its path. */
static void
relation(struct text *t, const char *path)
{
	const char *s = sql_path_text(path, t->arena);
	if (s == NULL)
		t->failed = true;
	else
		say(t, s);
}

static void
literal(struct text *t, enum cat_type type, union cat_val v)
{
	struct cat_str s = cat_value_out(type, v, t->arena);
	quoted(t, s.p, s.len, '\'');
}

static void
equals(struct text *t, const struct fk *k, const union cat_val *v)
{
	for (unsigned i = 0; i < k->def->keys; i++) {
		say(t, i ? " AND " : "");
		name(t, k->def->column[i]);
		say(t, " = ");
		literal(t, k->parent->column[k->to[i]].type, v[i]);
	}
}

/* " WHERE ...": rows of child that refer to one of the keys. */
static void
where(struct text *t, const struct fk *k, struct gone *const *g, unsigned n)
{
	say(t, " WHERE ");
	if (k->def->keys == 1) {
		name(t, k->def->column[0]);
		say(t, " IN (");
		for (unsigned i = 0; i < n; i++) {
			say(t, i ? ", " : "");
			literal(t, k->parent->column[k->to[0]].type, g[i]->was[0]);
		}
		say(t, ")");
		return;
	}
	for (unsigned i = 0; i < n; i++) {
		say(t, i ? " OR (" : "(");
		equals(t, k, g[i]->was);
		say(t, ")");
	}
}

/*
 * Runs a statement beside the one that runs. v NULL: it changes rows. Else it is a query, and *any
 * says whether it has a row, whose columns v gets, in memory of the text's arena.
 */
static bool
run(struct sql_exec *x, const struct text *t, const struct fk *k, union cat_val *v, bool *any)
{
	static const struct sql_sink silent;
	struct sql_session *s = x->env.session;
	struct sql_exec saved = s->x;
	struct sql_gauge *gauge = s->gauge;
	struct cat_err *err = x->err;
	struct sql_parsed *parsed;
	uint64_t rows;
	if (t->failed)
		return sql_no_memory(err);
	if (!sql_parse(s->cfg.parser, t->p, t->len, &parsed, err))
		return false;
	struct sql_bind_in in = { .cat = s->cfg.cat, .t = s->t, .parser = s->cfg.parser, .in_pieces = true };
	struct sql_plan *p = sql_plan_make(parsed->stmt[0], &in, err);
	s->gauge = NULL;
	bool ok = p != NULL && sql_alone_begin(s, p, &p->arena, &silent, err);
	if (ok && v == NULL) {
		ok = sql_plan_run(s, p, &rows);
	} else if (ok) {
		int got = sql_open(&s->x, p->root) ? sql_next(&s->x, p->root) : -1;
		*any = got > 0;
		ok = got >= 0;
		for (unsigned i = 0; ok && *any && i < k->def->keys; i++)
			v[i] = cat_value_copy(k->child->column[k->from[i]].type,
			    cat_vec_at(&p->root->out.col[i], sql_sel(p->root)[0]), t->arena);
		sql_close(&s->x, p->root);
	}
	if (p != NULL)
		sql_alone_end(s, p);
	sql_plan_free(p);
	sql_parsed_drop(parsed);
	s->x = saved;
	s->gauge = gauge;
	if (!ok)
		err->position = 0;
	return ok;
}

static void
select_any(struct text *t, const struct fk *k, struct gone *const *g, unsigned n)
{
	say(t, "SELECT ");
	for (unsigned i = 0; i < k->def->keys; i++) {
		say(t, i ? ", " : "");
		name(t, k->def->column[i]);
	}
	say(t, " FROM ");
	relation(t, k->child->path);
	where(t, k, g, n);
	say(t, " LIMIT 1");
}

/* No row of child refers to one of the keys. */
static bool
none_refers(struct sql_exec *x, struct sql_foreign *f, const struct fk *k, struct gone *const *g, unsigned n)
{
	struct text t = { .arena = &f->scratch };
	union cat_val v[CAT_KEY_MAX];
	bool any = false;
	select_any(&t, k, g, n);
	return run(x, &t, k, v, &any) && (!any || referenced(x, k, v, &f->scratch));
}

bool
sql_fk_has_row(
    struct sql_exec *x, struct sql_foreign *f, const struct fk *k, const union cat_val *v, bool *any)
{
	struct text t = { .arena = &f->scratch };
	struct gone g = { .was = (union cat_val *)(uintptr_t)v }, *one = &g;
	union cat_val is[CAT_KEY_MAX];
	select_any(&t, k, &one, 1);
	return run(x, &t, k, is, any);
}

static bool
cascade_delete(
    struct sql_exec *x, struct sql_foreign *f, const struct fk *k, struct gone *const *g, unsigned n)
{
	struct text t = { .arena = &f->scratch };
	say(&t, "DELETE FROM ");
	relation(&t, k->child->path);
	where(&t, k, g, n);
	return run(x, &t, k, NULL, NULL);
}

/* Every column of the foreign key becomes that. */
static bool
set_all(struct sql_exec *x, struct sql_foreign *f, const struct fk *k, struct gone *const *g, unsigned n,
    const char *value)
{
	struct text t = { .arena = &f->scratch };
	say(&t, "UPDATE ");
	relation(&t, k->child->path);
	for (unsigned i = 0; i < k->def->keys; i++) {
		say(&t, i ? ", " : " SET ");
		name(&t, k->def->column[i]);
		say(&t, value);
	}
	where(&t, k, g, n);
	return run(x, &t, k, NULL, NULL);
}

/* Rows follow the keys they refer to: all in one statement, because one key may become what another
 * was. */
static bool
cascade_update(
    struct sql_exec *x, struct sql_foreign *f, const struct fk *k, struct gone *const *g, unsigned n)
{
	struct text t = { .arena = &f->scratch };
	say(&t, "UPDATE ");
	relation(&t, k->child->path);
	for (unsigned i = 0; i < k->def->keys; i++) {
		const struct cat_column *c = &k->child->column[k->from[i]];
		enum cat_type type = k->parent->column[k->to[i]].type;
		char full[CAT_TYPE_TEXT];
		cat_type_full(c->type, c->typmod, full);
		say(&t, i ? ", " : " SET ");
		name(&t, c->name);
		say(&t, " = CASE");
		for (unsigned j = 0; j < n; j++) {
			say(&t, " WHEN ");
			equals(&t, k, g[j]->was);
			say(&t, " THEN CAST(");
			if (g[j]->null[i])
				say(&t, "NULL");
			else
				literal(&t, type, g[j]->is[i]);
			say(&t, " AS ");
			say(&t, full);
			say(&t, ")");
		}
		say(&t, " END");
	}
	where(&t, k, g, n);
	return run(x, &t, k, NULL, NULL);
}

/* Those of g[0..n) that no row of the referenced table has come to have. */
static bool
still_gone(struct sql_exec *x, struct sql_foreign *f, const struct fk *k, struct gone **g, unsigned *n)
{
	const union cat_val *v[SQL_FK_TOGETHER];
	bool found[SQL_FK_TOGETHER] = { false };
	struct txn_row *row = nam_arena_zero(&f->scratch, SQL_FK_TOGETHER * sizeof *row);
	unsigned m = 0;
	if (row == NULL)
		return sql_no_memory(x->err);
	for (unsigned i = 0; i < *n; i++)
		v[i] = g[i]->was;
	if (!sql_fk_look_up(x, k, v, *n, row, found, &f->scratch))
		return false;
	for (unsigned i = 0; i < *n; i++)
		if (!found[i])
			g[m++] = g[i];
	*n = m;
	return true;
}

bool
sql_fk_act(struct sql_exec *x, struct sql_foreign *f, const struct fk *k, enum cat_action action,
    struct gone **g, unsigned n)
{
	f->acted |= action != CAT_NO_ACTION && action != CAT_RESTRICT;
	switch (action) {
	case CAT_CASCADE:
		return g[0]->is != NULL ? cascade_update(x, f, k, g, n) : cascade_delete(x, f, k, g, n);
	case CAT_SET_NULL:
		return set_all(x, f, k, g, n, " = NULL");
	case CAT_SET_DEFAULT:
		return set_all(x, f, k, g, n, " = DEFAULT");
	case CAT_NO_ACTION:
		if (!still_gone(x, f, k, g, &n))
			return false;
		break;
	case CAT_RESTRICT:
		break;
	}
	return n == 0 || none_refers(x, f, k, g, n);
}
