/* view.c -- CREATE VIEW and DROP VIEW: a query's text with a name, and dependencies. */
#include <sql/command/temp.h>

#include <stdio.h>
#include <stdlib.h>

enum { CASCADE_MAX = 32 };

/* Its columns, from the query's. */
static bool
columns(struct cat_table *def, const struct ast_stmt *ast, const struct sql_plan *p, struct nam_arena *arena,
    struct cat_err *err)
{
	if (ast->nnames > p->columns)
		return cat_error(err, "42601", "CREATE VIEW specifies more column names than columns");
	if ((def->column = nam_arena_zero(arena, (p->columns + 1) * sizeof *def->column)) == NULL)
		return sql_no_memory(err);
	for (unsigned i = 0; i < p->columns; i++) {
		struct cat_column *c = &def->column[def->columns++];
		snprintf(
		    c->name, sizeof c->name, "%.63s", i < ast->nnames ? ast->names[i] : p->column[i].name);
		c->type = p->column[i].type;
		c->typmod = p->column[i].typmod;
		c->domain = p->column[i].domain;
		for (unsigned k = 0; k < i; k++)
			if (strcmp(def->column[k].name, c->name) == 0)
				return cat_error(
				    err, "42701", "column \"%s\" specified more than once", c->name);
	}
	return true;
}

/* True if it may replace `was`. */
static bool
replaces(const struct cat_table *was, const struct cat_table *def, struct cat_err *err)
{
	if (was->kind != CAT_VIEW)
		return cat_error(err, "42809", "\"%s\" is not a view", cat_local(was->path));
	if (def->columns < was->columns)
		return cat_error(err, "42P16", "cannot drop columns from view");
	for (unsigned i = 0; i < was->columns; i++) {
		const struct cat_column *a = &was->column[i], *b = &def->column[i];
		char old[CAT_TYPE_TEXT], new[CAT_TYPE_TEXT];
		if (strcmp(a->name, b->name) != 0)
			return cat_error(err, "42P16", "cannot change name of view column \"%s\" to \"%s\"",
			    a->name, b->name);
		if (a->domain != b->domain)
			return cat_error(err, "42P16",
			    "cannot change data type of view column \"%s\" to or from a domain", a->name);
		if (a->type != b->type || a->typmod != b->typmod)
			return cat_error(err, "42P16",
			    "cannot change data type of view column \"%s\" from %s to %s", a->name,
			    cat_type_full(a->type, a->typmod, old), cat_type_full(b->type, b->typmod, new));
	}
	return true;
}

static bool
uses(struct cat_table *def, const struct sql_plan *p, struct nam_arena *arena, struct cat_err *err)
{
	unsigned n = 0;
	for (const struct sql_use *u = p->use; u != NULL; u = u->next)
		n++;
	if ((def->use = nam_arena_zero(arena, (n + 1) * sizeof *def->use)) == NULL)
		return sql_no_memory(err);
	for (const struct sql_use *u = p->use; u != NULL; u = u->next) {
		bool known = false;
		for (unsigned i = 0; i < def->uses; i++)
			known |= strcmp(def->use[i], u->name) == 0;
		if (!known)
			snprintf(def->use[def->uses++], sizeof *def->use, "%s", u->name);
	}
	return true;
}

static bool
uses_temp(const struct cat_table *def)
{
	for (unsigned i = 0; i < def->uses; i++)
		if (sql_path_is_temp(def->use[i]))
			return true;
	return false;
}

static int
by_position(const void *a, const void *b)
{
	const struct sql_use *const *x = a, *const *y = b;
	return (*x)->position < (*y)->position ? -1 : (*x)->position > (*y)->position;
}

/* A query's text with the schemas of relations outside of public, so that search_path does not
 * matter any more. p: the plan of that text. NULL: no memory. */
static const char *
with_schemas(const char *text, const struct sql_plan *p, struct nam_arena *arena)
{
	unsigned n = 0, m = 0;
	size_t room = strlen(text) + 1, from = 0, at = 0;
	for (const struct sql_use *u = p->use; u != NULL; u = u->next)
		n++;
	const struct sql_use **use = nam_arena_take(arena, (n + 1) * sizeof *use);
	if (use == NULL)
		return NULL;
	for (const struct sql_use *u = p->use; u != NULL; u = u->next)
		if (u->position > 0 && !cat_in_public(u->name)) {
			use[m++] = u;
			room += 2 * CAT_NAME_MAX + 4;
		}
	char *out = nam_arena_take(arena, room);
	if (out == NULL)
		return NULL;
	if (m > 0)
		qsort(use, m, sizeof *use, by_position);
	for (unsigned i = 0; i < m; i++) {
		size_t to = (size_t)use[i]->position - 1;
		char schema[CAT_NAME_MAX + 1];
		if (i > 0 && use[i]->position == use[i - 1]->position)
			continue; /* a part of the tree that two places share */
		cat_schema_of(use[i]->name, schema);
		const char *quoted = sql_quote_name(schema, arena);
		if (quoted == NULL)
			return NULL;
		memcpy(out + at, text + from, to - from);
		at += to - from;
		at += (size_t)snprintf(out + at, room - at, "%s.", quoted);
		from = to;
	}
	strcpy(out + at, text + from);
	return out;
}

/* The text that the catalog keeps of the view's query, which p is the plan of. NULL: *err. */
static const char *
kept_text(struct sql_session *s, const struct ast_stmt *ast, const struct sql_plan *p,
    const struct sql_bind_in *in, struct nam_arena *arena, struct cat_err *err)
{
	bool elsewhere = false;
	const char *out = NULL;
	struct sql_parsed *parsed;
	for (const struct sql_use *u = p->use; u != NULL; u = u->next)
		elsewhere |= u->position > 0 && !cat_in_public(u->name);
	if (!elsewhere)
		return ast->text;
	if (!sql_parse(s->cfg.parser, ast->text, strlen(ast->text), &parsed, err))
		return NULL;
	struct sql_plan *again = sql_plan_make(parsed->stmt[0], in, err);
	if (again != NULL && (out = with_schemas(ast->text, again, arena)) == NULL)
		sql_no_memory(err);
	sql_plan_free(again);
	sql_parsed_drop(parsed);
	return out;
}

bool
sql_create_view(struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink,
    struct nam_arena *arena, struct cat_err *err)
{
	struct ast_stmt query = { .kind = AST_SELECT, .select = ast->select, .depth = ast->depth };
	const struct sql_looking look = sql_looking(s);
	struct sql_bind_in in = { .cat = s->cfg.cat,
		.t = s->t,
		.parser = s->cfg.parser,
		.who = look.who,
		.defines_view = true,
		.search = look.search };
	struct cat_table def = { .kind = CAT_VIEW };
	const struct cat_table *there;
	if (ast->params > 0)
		return cat_error(err, "42P02", "there is no parameter $%u", ast->params);
	snprintf(def.path, sizeof def.path, "%s", ast->table.name);
	nam_status st = cat_find(s->cfg.cat, s->t, def.path, &there);
	if (st != NAM_OK)
		return sql_status(err, st, NULL);
	struct sql_plan *p = sql_plan_make(&query, &in, err);
	if (p == NULL)
		return false;
	/* Casts are found in the catalog's texts as x::type. */
	if (p->enum_called) {
		sql_plan_free(p);
		return cat_error(
		    err, "0A000", "an enum's name as a function in views is not supported yet: write a cast");
	}
	bool ok = columns(&def, ast, p, arena, err) && uses(&def, p, arena, err) &&
		  (def.view = kept_text(s, ast, p, &in, arena, err)) != NULL &&
		  sql_view_types_use(s, &def, err);
	sql_plan_free(p);
	if (!ok)
		return false;
	if (!sql_path_is_temp(def.path) && uses_temp(&def)) {
		if (ast->table.in != NULL) {
			err->position = ast->table.position;
			return cat_error(
			    err, "42P16", "cannot create temporary relation in non-temporary schema");
		}
		sql_notice(
		    sink, "NOTICE", "00000", "view \"%s\" will be a temporary view", cat_local(def.path));
		char path[CAT_PATH_MAX + 1];
		if (!sql_temp_path(s, cat_local(def.path), path, err))
			return false;
		memcpy(def.path, path, sizeof def.path);
		if ((st = cat_find(s->cfg.cat, s->t, def.path, &there)) != NAM_OK)
			return sql_status(err, st, NULL);
	}
	if (there != NULL && !ast->replace)
		return cat_error(err, "42P07", "relation \"%s\" already exists", cat_local(def.path));
	if (there == NULL && !sql_type_is_taken(s, def.path, true, err))
		return false;
	for (unsigned i = 0; i < def.uses; i++)
		if (strcmp(def.use[i], def.path) == 0)
			return cat_error(err, "42P17",
			    "infinite recursion detected in rules for relation \"%s\"", cat_local(def.path));
	if (!sql_make_as(s, &def, ast->table.position, err) || !sql_types_use(s, &def, err))
		return false;
	s->ddl = true;
	if (there != NULL) {
		if (!sql_must_own(s, there, err) || !replaces(there, &def, err))
			return false;
		memcpy(def.owner, there->owner, sizeof def.owner);
		def.granted = there->granted;
		def.grants = there->grants;
		def.grant = there->grant;
		if ((st = cat_drop(s->cfg.cat, s->t, there)) != NAM_OK)
			return sql_status(err, st, NULL);
	}
	st = cat_create(s->cfg.cat, s->t, &def);
	if (st == NAM_DUPLICATE)
		return cat_error(err, "42P07", "relation \"%s\" already exists", cat_local(def.path));
	return st == NAM_OK || sql_status(err, st, NULL);
}

static bool
in_list(const struct ast_stmt *ast, const char *name)
{
	for (unsigned i = 0; i < ast->nnames; i++)
		if (strcmp(ast->names[i], name) == 0)
			return true;
	return false;
}

static bool
dependents(struct sql_session *s, const struct cat_table *tab, const struct ast_stmt *ast,
    const struct sql_sink *sink, unsigned depth, struct cat_err *err)
{
	const struct cat_table **list;
	unsigned n;
	struct nam_arena *arena = sql_arena(s, 1);
	if (depth > CASCADE_MAX)
		return cat_error(err, "54001", "stack depth limit exceeded");
	nam_status st = arena ? cat_list(s->cfg.cat, s->t, &list, &n, arena) : NAM_NOMEM;
	for (unsigned i = 0; st == NAM_OK && i < n; i++) {
		bool reads = false;
		for (unsigned k = 0; list[i]->kind == CAT_VIEW && k < list[i]->uses; k++)
			reads |= strcmp(list[i]->use[k], tab->path) == 0;
		const struct cat_table *still = NULL;
		if (!reads || in_list(ast, list[i]->path))
			continue;
		if ((st = cat_find(s->cfg.cat, s->t, list[i]->path, &still)) != NAM_OK || still != list[i])
			continue; /* gone by way of another one */
		const char *kind = tab->kind == CAT_VIEW ? "view" : "table";
		if (!ast->cascade) {
			cat_error(err, "2BP01", "cannot drop %s %s because other objects depend on it", kind,
			    sql_path_shown(tab->path));
			snprintf(err->detail, sizeof err->detail, "view %s depends on %s %s",
			    sql_path_shown(list[i]->path), kind, sql_path_shown(tab->path));
			snprintf(err->hint, sizeof err->hint,
			    "Use DROP ... CASCADE to drop the dependent objects too.");
			return false;
		}
		if (!dependents(s, list[i], ast, sink, depth + 1, err))
			return false;
		sql_notice(
		    sink, "NOTICE", "00000", "drop cascades to view %s", sql_path_shown(list[i]->path));
		st = cat_drop(s->cfg.cat, s->t, list[i]);
	}
	return st == NAM_OK || sql_status(err, st, NULL);
}

bool
sql_has_dependents(struct sql_session *s, const struct cat_table *tab, bool *out, struct cat_err *err)
{
	const struct cat_table **list;
	unsigned n;
	struct nam_arena *arena = sql_arena(s, 1);
	nam_status st = arena ? cat_list(s->cfg.cat, s->t, &list, &n, arena) : NAM_NOMEM;
	*out = false;
	for (unsigned i = 0; st == NAM_OK && i < n; i++)
		for (unsigned k = 0; list[i]->kind == CAT_VIEW && k < list[i]->uses; k++)
			*out |= strcmp(list[i]->use[k], tab->path) == 0;
	return st == NAM_OK || sql_status(err, st, NULL);
}

bool
sql_drop_dependents(struct sql_session *s, const struct cat_table *tab, const struct ast_stmt *ast,
    const struct sql_sink *sink, struct cat_err *err)
{
	return dependents(s, tab, ast, sink, 0, err);
}
