/* text.c -- definitions as text, as pg_get_indexdef and its kin say them. */
#include <catalog/by_id.h>
#include <sql/common/error.h>
#include <sql/expr/functions.h>
#include <sql/system/rows.h>

#include <stdio.h>

static const char *
oom(const struct sql_system *s)
{
	cat_error(s->err, "53200", "out of memory");
	return NULL;
}

const char *
sql_system_ident(const struct sql_system *s, const char *name)
{
	const struct sql_env env = { .arena = s->a, .err = s->err };
	struct sql_writer w = { .env = &env };
	if (!sql_put_ident(&w, (struct cat_str){ name, (uint32_t)strlen(name) }))
		return NULL;
	const char *out = nam_arena_str(s->a, w.p, w.n);
	return out ? out : oom(s);
}

/* The schema and the name; the name alone if search_path leads from the name to `seen`. */
static const char *
said_in(const struct sql_system *s, const char *path, const char *seen)
{
	char schema[CAT_NAME_MAX + 1];
	bool ok;
	const char *name = sql_system_ident(s, cat_local(path));
	if (name == NULL || sql_system_sees(s, seen, &ok))
		return name;
	cat_schema_of(path, schema);
	const char *in = ok ? sql_system_ident(s, schema) : NULL;
	const char *out = in ? nam_arena_printf(s->a, "%s.%s", in, name) : NULL;
	return out || !ok ? out : oom(s);
}

const char *
sql_system_said(const struct sql_system *s, const struct sql_found *f)
{
	char path[CAT_PATH_MAX + 1];
	const char *name = sql_system_ident(s, f->name);
	if (f->tab == NULL) {
		const char *out = name == NULL || f->schema != SQL_OID_SCHEMA
				      ? name
				      : nam_arena_printf(s->a, "information_schema.%s", name);
		return out ? out : oom(s);
	}
	if (f->tab->system)
		return name;
	cat_beside(f->tab->path, f->name, path);
	return said_in(s, path, f->key ? f->tab->path : path);
}

const char *
sql_system_path_said(const struct sql_system *s, const char *path)
{
	return said_in(s, path, path);
}

/* "a, b DESC": column k of n by name(k). */
static bool
list(struct sql_writer *w, const struct sql_system *s, const char *const *name, unsigned n)
{
	for (unsigned k = 0; k < n; k++) {
		const char *id = sql_system_ident(s, name[k]);
		if (id == NULL || (k > 0 && !sql_put(w, ", ", 2)) || !sql_put(w, id, strlen(id)))
			return false;
	}
	return true;
}

static bool
words(struct sql_writer *w, const char *text)
{
	return sql_put(w, text, strlen(text));
}

static const char *
done(const struct sql_system *s, const struct sql_writer *w, bool ok)
{
	const char *out = ok ? nam_arena_str(s->a, w->p, w->n) : NULL;
	return !ok || out ? out : oom(s);
}

/* What is not the default for the direction. */
static const char *
order_of(const struct cat_index_column *k)
{
	return k->descending    ? (k->nulls_first ? " DESC" : " DESC NULLS LAST")
	       : k->nulls_first ? " NULLS FIRST"
				: "";
}

static bool
index_columns(
    struct sql_writer *w, const struct sql_system *s, const struct cat_table *t, const struct cat_index *ix)
{
	const char *name[CAT_KEY_MAX];
	for (unsigned k = 0; k < ix->keys; k++) {
		name[0] = t->column[ix->key[k].column].name;
		if ((k > 0 && !words(w, ", ")) || !list(w, s, name, 1) || !words(w, order_of(&ix->key[k])))
			return false;
	}
	for (unsigned k = 0; k < ix->includes; k++)
		name[k] = t->column[ix->include[k]].name;
	return words(w, ")") &&
	       (ix->includes == 0 ||
		   (words(w, " INCLUDE (") && list(w, s, name, ix->includes) && words(w, ")"))) &&
	       (!ix->nulls_equal || words(w, " NULLS NOT DISTINCT"));
}

/* The name of column number k, from 1. */
static const char *
one_column(const struct sql_system *s, const struct sql_found *f, int k)
{
	const struct cat_table *t = f->tab;
	if (f->key)
		return k <= t->keys ? sql_system_ident(s, t->column[t->key[k - 1]].name) : "";
	if (k <= f->index->keys)
		return sql_system_ident(s, t->column[f->index->key[k - 1].column].name);
	k -= f->index->keys;
	return k <= f->index->includes ? sql_system_ident(s, t->column[f->index->include[k - 1]].name) : "";
}

const char *
sql_system_indexdef(const struct sql_system *s, uint32_t oid, int column, bool *none)
{
	const struct sql_env env = { .arena = s->a, .err = s->err };
	struct sql_writer w = { .env = &env };
	struct sql_found f;
	*none = !sql_system_at(s, oid, &f) || (!f.key && f.index == NULL);
	if (*none)
		return NULL;
	if (column > 0)
		return one_column(s, &f, column);
	char schema[CAT_NAME_MAX + 1];
	cat_schema_of(f.tab->path, schema);
	const char *name = sql_system_ident(s, f.name), *of = sql_system_ident(s, cat_local(f.tab->path)),
		   *in = sql_system_ident(s, f.tab->system ? "pg_catalog" : schema);
	bool ok = name && of && in &&
		  words(&w, f.key || f.index->unique || f.index->primary ? "CREATE UNIQUE INDEX "
									 : "CREATE INDEX ") &&
		  words(&w, name) && words(&w, " ON ") && words(&w, in) && words(&w, ".") && words(&w, of) &&
		  words(&w, f.key ? " USING hash (" : " USING btree (");
	const char *key[CAT_KEY_MAX];
	for (unsigned k = 0; f.key && k < f.tab->keys; k++)
		key[k] = f.tab->column[f.tab->key[k]].name;
	ok = ok &&
	     (f.key ? list(&w, s, key, f.tab->keys) && words(&w, ")") : index_columns(&w, s, f.tab, f.index));
	return done(s, &w, ok);
}

/* ---- constraints ---------------------------------------------------------------------- */

static const char *
action(char a)
{
	switch (a) {
	case CAT_RESTRICT:
		return "RESTRICT";
	case CAT_CASCADE:
		return "CASCADE";
	case CAT_SET_NULL:
		return "SET NULL";
	case CAT_SET_DEFAULT:
		return "SET DEFAULT";
	default:
		return NULL;
	}
}

static bool
foreign_key(
    struct sql_writer *w, const struct sql_system *s, const struct cat_table *t, const struct cat_foreign *f)
{
	const char *name[CAT_KEY_MAX], *refers[CAT_KEY_MAX];
	const char *to = sql_system_path_said(s, f->table), *del = action(f->on_delete),
		   *up = action(f->on_update);
	for (unsigned k = 0; k < f->keys; k++) {
		name[k] = t->column[f->number[k]].name;
		refers[k] = f->refers[k];
	}
	return to != NULL && words(w, "FOREIGN KEY (") && list(w, s, name, f->keys) &&
	       words(w, ") REFERENCES ") && words(w, to) && words(w, "(") && list(w, s, refers, f->keys) &&
	       words(w, ")") && (up == NULL || (words(w, " ON UPDATE ") && words(w, up))) &&
	       (del == NULL || (words(w, " ON DELETE ") && words(w, del)));
}

static bool
unique_key(
    struct sql_writer *w, const struct sql_system *s, const struct cat_table *t, const struct cat_index *ix)
{
	const char *name[CAT_KEY_MAX];
	for (unsigned k = 0; k < ix->keys; k++)
		name[k] = t->column[ix->key[k].column].name;
	return words(w, "UNIQUE ") && (!ix->nulls_equal || words(w, "NULLS NOT DISTINCT ")) &&
	       words(w, "(") && list(w, s, name, ix->keys) && words(w, ")");
}

static bool
primary_key(struct sql_writer *w, const struct sql_system *s, const struct cat_table *t)
{
	const char *name[CAT_KEY_MAX];
	for (unsigned k = 0; k < t->keys; k++)
		name[k] = t->column[t->key[k]].name;
	return words(w, "PRIMARY KEY (") && list(w, s, name, t->keys) && words(w, ")");
}

static bool
check(struct sql_writer *w, const struct cat_table *t, const struct cat_check *c, sql_system_said_fn *said,
    void *arg)
{
	const char *as = said ? said(arg, t, c->text) : c->text;
	return as != NULL && words(w, "CHECK (") && words(w, as) &&
	       words(w, c->not_valid ? ") NOT VALID" : ")");
}

/* The constraint of t that has that number, as text. *none: t has none of it. */
static const char *
constraint_of(const struct sql_system *s, const struct cat_table *t, uint32_t oid, sql_system_said_fn *said,
    void *arg, bool *none)
{
	const struct sql_env env = { .arena = s->a, .err = s->err };
	struct sql_writer w = { .env = &env };
	struct sql_constraint c;
	char buf[CAT_NAME_MAX + 8];
	unsigned n = 0;
	while ((*none = !sql_constraint_at(t, n, &c, buf)) == false && c.oid != oid)
		n++;
	if (*none)
		return NULL;
	bool ok = c.kind == 'p'   ? primary_key(&w, s, t)
		  : c.kind == 'c' ? check(&w, t, &t->check[c.k], said, arg)
		  : c.kind == 'f' ? foreign_key(&w, s, t, &t->foreign[c.k])
				  : unique_key(&w, s, t, &t->index[c.k]);
	return done(s, &w, ok);
}

const char *
sql_system_constraintdef(
    const struct sql_system *s, uint32_t oid, sql_system_said_fn *said, void *arg, bool *none)
{
	const struct cat_table *t, **type;
	struct sql_system all = *s;
	unsigned types;
	nam_status st = cat_of_id(s->cat, s->t, sql_constraint_of(oid), &t);
	*none = st == NAM_OK;
	if (!*none) {
		sql_status(s->err, st, NULL);
		return NULL;
	}
	const char *def = t != NULL ? constraint_of(s, t, oid, said, arg, none) : NULL;
	if (!*none)
		return def;
	/* A number is too short for all numbers of tables, or there is no such constraint. */
	*none = false;
	if (!sql_system_open(&all) || !sql_system_types(s, &type, &types))
		return NULL;
	*none = true;
	for (unsigned i = 0; *none && i < all.tabs + types; i++)
		def = constraint_of(s, i < all.tabs ? all.tab[i] : type[i - all.tabs], oid, said, arg, none);
	return def;
}

/* ---- sequences ------------------------------------------------------------------------ */

const struct cat_table *
sql_system_serial(const struct sql_system *s, const struct cat_table *t, const char *column)
{
	for (unsigned c = 0; c < t->columns; c++) {
		if (strcmp(t->column[c].name, column) != 0 || t->column[c].dflt == NULL)
			continue;
		for (unsigned i = 0; i < s->tabs; i++) {
			const struct cat_table *q = s->tab[i];
			if (q->kind != CAT_SEQUENCE || q->seq.owner != t->store.id)
				continue;
			const char *call = sql_nextval_text(q->path, s->a);
			if (call != NULL && strcmp(t->column[c].dflt, call) == 0)
				return q;
		}
	}
	return NULL;
}
