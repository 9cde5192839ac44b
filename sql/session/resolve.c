/*
 * resolve.c -- names of relations in statements without a plan: they become paths of the catalog,
 * through search_path, before a command sees them. The binder does the same for plans.
 */
#include <sql/command/temp.h>
#include <sql/session/session_internal.h>

struct resolving {
	struct sql_session *s;
	struct sql_looking look;
	const struct sql_sink *sink;
	struct nam_arena *a;
	struct cat_err *err;
	bool if_exists; /* a schema that is not there is no error */
};

/* The path of a relation that may be there. NULL: *err. */
static const char *
lookup(struct resolving *r, const char *in, const char *name)
{
	char path[CAT_PATH_MAX + 1];
	const struct cat_table *tab;
	if (in != NULL && !sql_schema_of_names(&r->look, in, &tab, r->if_exists, r->err))
		return NULL;
	if (!sql_path_find(&r->look, in, name, &tab, r->err))
		return NULL;
	if (tab == NULL)
		sql_path_nowhere(in, name, path);
	else
		memcpy(path, tab->path, sizeof path);
	const char *out = nam_arena_str(r->a, path, strlen(path));
	if (out == NULL)
		sql_no_memory(r->err);
	return out;
}

/* search_path may lead to the session's first temporary relation now. */
static bool
renewed(struct resolving *r)
{
	r->look = sql_looking(r->s);
	return true;
}

static bool
old_table(struct resolving *r, struct ast_table *t)
{
	if (t->path)
		return true;
	t->path = true;
	if ((t->name = lookup(r, t->in, t->name)) != NULL)
		return true;
	if (strcmp(r->err->sqlstate, "3F000") == 0)
		r->err->position = t->position;
	return false;
}

/* CREATE TEMP TABLE names a schema. */
static bool
not_temporary(struct resolving *r, const struct ast_table *t)
{
	const struct cat_table *schema;
	if (sql_schema_find(&r->look, t->in, &schema, false, r->err))
		cat_error(r->err, "42P16", "cannot create temporary relation in non-temporary schema");
	r->err->position = t->position;
	return false;
}

/* True if search_path begins with pg_temp: then new relations are temporary. */
static bool
temp_first(const struct resolving *r)
{
	const char *text = r->s->now.search_path;
	char first[CAT_NAME_MAX + 1];
	return sql_search_next(&text, r->look.who, first) && strcmp(first, "pg_temp") == 0;
}

static bool
new_table(struct resolving *r, struct ast_table *t)
{
	char path[CAT_PATH_MAX + 1];
	if (t->path)
		return true;
	t->path = true;
	bool own = t->in != NULL && (strcmp(t->in, "pg_temp") == 0 || strcmp(t->in, r->s->temp) == 0);
	if (t->in != NULL && !own && sql_schema_is_temp(t->in)) {
		const struct cat_table *schema;
		if (sql_schema_find(&r->look, t->in, &schema, false, r->err))
			cat_error(r->err, "42P16",
			    "cannot create relations in temporary schemas of other sessions");
		r->err->position = t->position;
		return false;
	}
	if (t->temp && t->in != NULL && !own)
		return not_temporary(r, t);
	if (t->temp || own || (t->in == NULL && temp_first(r)))
		return sql_temp_path(r->s, t->name, path, r->err) &&
		       ((t->name = nam_arena_str(r->a, path, strlen(path))) != NULL || sql_no_memory(r->err));
	if (sql_path_new(&r->look, t->in, t->name, path, r->err))
		return (t->name = nam_arena_str(r->a, path, strlen(path))) != NULL || sql_no_memory(r->err);
	if (strcmp(r->err->sqlstate, "3F000") == 0)
		r->err->position = t->position;
	return false;
}

/* DROP says of which schemas there are none. *skip: IF EXISTS has said so. */
static bool
schema_there(struct resolving *r, const char *in, bool if_exists, bool *skip)
{
	const struct cat_table *schema;
	*skip = false;
	if (in == NULL || strcmp(in, CAT_PUBLIC_SCHEMA) == 0 || strcmp(in, "pg_catalog") == 0 ||
	    strcmp(in, "information_schema") == 0)
		return true;
	if (!sql_schema_of_names(&r->look, in, &schema, if_exists, r->err))
		return false;
	*skip = schema == NULL;
	if (*skip)
		sql_notice(r->sink, "NOTICE", "00000", "schema \"%.63s\" does not exist, skipping", in);
	return true;
}

/* The first n names of a statement. */
static bool
names(struct resolving *r, struct ast_stmt *st, unsigned n, bool drop)
{
	const char **out = nam_arena_take(r->a, (st->nnames + 1u) * sizeof *out);
	unsigned kept = 0;
	if (out == NULL)
		return sql_no_memory(r->err);
	for (unsigned i = 0; i < st->nnames; i++) {
		const char *in = st->name_in ? st->name_in[i] : NULL;
		bool skip = false;
		if (drop && !schema_there(r, in, st->if_exists, &skip))
			return false;
		if (skip)
			continue;
		if ((out[kept++] = i < n ? lookup(r, in, st->names[i]) : st->names[i]) == NULL) {
			r->err->position = st->name_at ? st->name_at[i] : 0;
			return false;
		}
	}
	st->names = out;
	st->nnames = kept;
	return true;
}

/* The sequence's name in nextval('name'), as a default is often written; else NULL. */
static const struct ast_expr *
drawn_from(const struct ast_expr *e)
{
	if (e == NULL || e->kind != AST_FUNC || strcmp(e->text, "nextval") != 0 || e->nargs != 1)
		return NULL;
	const struct ast_expr *x = e->args[0];
	if (x->kind == AST_CAST && x->type == CAT_REGCLASS)
		x = x->args[0];
	return x->kind == AST_STRING ? x : NULL;
}

/* The text of a default of that table: a sequence's name gets its schema. */
static bool
dflt(struct resolving *r, const char *path, const struct ast_expr *e, const char **text)
{
	const struct ast_expr *x = drawn_from(e);
	char schema[CAT_NAME_MAX + 1], name[CAT_NAME_MAX + 1];
	const struct cat_table *tab;
	if (x == NULL || !sql_path_parse((struct cat_str){ x->text, x->len }, schema, name))
		return true;
	if (!sql_path_find(&r->look, schema[0] ? schema : NULL, name, &tab, r->err))
		return false;
	if (tab == NULL || tab->kind != CAT_SEQUENCE)
		return true;
	if (sql_path_is_temp(tab->path) && !sql_path_is_temp(path)) {
		cat_error(r->err, "0A000",
		    "a default of a table that is not temporary cannot use a temporary sequence");
		r->err->position = x->position;
		return false;
	}
	return (*text = sql_nextval_text(tab->path, r->a)) != NULL || sql_no_memory(r->err);
}

static bool
defaults(struct resolving *r, struct ast_stmt *st)
{
	struct ast_column *col = nam_arena_copy(r->a, st->column, st->columns * sizeof *col);
	struct ast_alter *alter = nam_arena_copy(r->a, st->alter, st->alters * sizeof *alter);
	if ((st->columns > 0 && col == NULL) || (st->alters > 0 && alter == NULL))
		return sql_no_memory(r->err);
	for (unsigned i = 0; i < st->columns; i++)
		if (!dflt(r, st->table.name, col[i].dflt, &col[i].dflt_text))
			return false;
	for (unsigned i = 0; i < st->alters; i++)
		if (alter[i].kind == AST_SET_DEFAULT && !dflt(r, st->table.name, alter[i].e, &alter[i].text))
			return false;
	st->column = col;
	st->alter = alter;
	return true;
}

/* The tables that foreign keys refer to. One that is made by the statement may be among them: the
 * new table is found as any other one of its schema. */
static bool
foreigns(struct resolving *r, struct ast_stmt *st, const struct ast_table *written)
{
	struct ast_foreign *k = nam_arena_copy(r->a, st->foreign, st->foreigns * sizeof *k);
	bool making = st->kind == AST_CREATE_TABLE;
	if (st->foreigns > 0 && k == NULL)
		return sql_no_memory(r->err);
	for (unsigned i = 0; i < st->foreigns; i++) {
		struct ast_table *t = &k[i].table;
		bool bare = t->in == NULL;
		bool own = making && strcmp(t->name, written->name) == 0 && bare && written->in == NULL;
		const char *name = t->name, *in = t->in;
		if (!own && !old_table(r, t))
			return false;
		if (making && !own && strcmp(name, written->name) == 0 && sql_path_is_nowhere(t->name))
			own = true; /* one of the two is written with its schema */
		if (making && !own && !bare) {
			char path[CAT_PATH_MAX + 1];
			cat_path(in, name, path);
			own = strcmp(path, st->table.name) == 0;
		}
		if (own)
			t->name = st->table.name;
	}
	st->foreign = k;
	return true;
}

static bool
owner(struct resolving *r, struct ast_stmt *st)
{
	struct ast_seq *q = nam_arena_copy(r->a, st->seq, sizeof *q);
	if (q == NULL)
		return sql_no_memory(r->err);
	if (q->owner != NULL && (q->owner = lookup(r, q->owner_in, q->owner)) == NULL)
		return false;
	st->seq = q;
	return true;
}

static bool
resolve(struct resolving *r, struct ast_stmt *st)
{
	const struct ast_table written = st->table;
	switch (st->kind) {
	case AST_CREATE_TABLE:
		return new_table(r, &st->table) && renewed(r) && defaults(r, st) && foreigns(r, st, &written);
	case AST_CREATE_AS:
	case AST_CREATE_VIEW:
		return new_table(r, &st->table);
	case AST_CREATE_SEQUENCE:
		return new_table(r, &st->table) && renewed(r) && owner(r, st);
	case AST_ALTER_TABLE:
		return old_table(r, &st->table) && defaults(r, st) && foreigns(r, st, &written);
	case AST_CREATE_INDEX:
		return old_table(r, &st->table);
	case AST_COPY:
		return st->table.name == NULL || old_table(r, &st->table);
	case AST_OWNER:
		return st->owned == AST_OWNED_SCHEMA || st->owned == AST_OWNED_TYPE ||
		       old_table(r, &st->table);
	case AST_DROP_TABLE:
	case AST_DROP_VIEW:
	case AST_DROP_SEQUENCE:
	case AST_DROP_INDEX:
		return names(r, st, st->nnames, true);
	case AST_RENAME_INDEX:
		return names(r, st, 1, false);
	case AST_COMMENT:
		return strcmp(st->var, "type") == 0 || names(r, st, 1, false);
	case AST_TRUNCATE_ALL:
	case AST_ANALYZE:
		return names(r, st, st->nnames, false);
	case AST_GRANT:
		return st->grant.all_in_schema ||
		       (st->grant.on != AST_ON_TABLE && st->grant.on != AST_ON_SEQUENCE) ||
		       names(r, st, st->nnames, false);
	default:
		return true;
	}
}

bool
sql_resolve(struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink,
    struct ast_stmt *out, struct nam_arena *arena, struct cat_err *err)
{
	struct resolving r = { .s = s, .look = sql_looking(s), .sink = sink, .a = arena, .err = err };
	r.if_exists = ast->if_exists && ast->kind != AST_CREATE_TABLE && ast->kind != AST_CREATE_SEQUENCE &&
		      ast->kind != AST_CREATE_INDEX;
	*out = *ast;
	return resolve(&r, out);
}
