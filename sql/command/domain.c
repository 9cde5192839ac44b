/*
 * domain.c -- CREATE, ALTER and DROP DOMAIN.
 *
 * A change that forbids values holds the domain, the domains over it, and all tables that have a
 * column of one of them: no other transaction commits rows by a plan that knows the domain as it
 * was. What comes to use a domain gives the domain's row another version (sql_domain_use), so it
 * either waits for such a change, or is seen by it.
 */
#include <sql/command/alter.h>
#include <sql/command/grant.h>
#include <sql/command/type_text.h>
#include <sql/common/user_type.h>

#include <stdio.h>
#include <stdlib.h>

/* A statement about a domain, under way. */
struct change {
	struct sql_session *s;
	const struct ast_stmt *ast;
	const struct cat_table *dom; /* as it is, */
	struct cat_table def;        /* and is to be */
	const struct sql_sink *sink;
	struct nam_arena *arena;
	struct cat_err *err;
};

/* ---- finding and holding ------------------------------------------------------------------ */

static bool
find(struct sql_session *s, const char *name, const struct cat_table **out, struct cat_err *err)
{
	char path[CAT_PATH_MAX + 1];
	cat_path(CAT_PUBLIC_SCHEMA, name, path);
	nam_status st = cat_name_taken(s->cfg.cat, s->t, path, out);
	if (st != NAM_OK)
		return sql_status(err, st, NULL);
	/* a relation's rows have a type of its name, but no sequence or index has rows */
	if (*out != NULL && ((*out)->kind == CAT_SEQUENCE || (*out)->kind == CAT_INDEX))
		*out = NULL;
	return true;
}

/* Another transaction was faster: a new snapshot shows what it did. False: *err. */
static bool
again(struct sql_session *s, nam_status st, unsigned *tries, struct cat_err *err)
{
	if (st == NAM_CONFLICT && s->iso == TXN_READ_COMMITTED && (*tries)++ < SQL_RETRIES)
		st = txn_statement(s->t);
	return st == NAM_OK || sql_status(err, st, NULL);
}

/* The domain of that name, locked. */
static bool
hold(struct sql_session *s, const char *name, const struct cat_table **out, struct cat_err *err)
{
	for (unsigned tries = 0;;) {
		if (!find(s, name, out, err))
			return false;
		if (*out == NULL)
			return cat_error(err, "42704", "type \"%s\" does not exist", name);
		if ((*out)->kind != CAT_DOMAIN) {
			const char *said = sql_type_said(name, sql_arena(s, 1));
			return cat_error(err, "42809", "%s is not a domain", said ? said : name);
		}
		if (!sql_must_own(s, *out, err))
			return false;
		nam_status st = cat_type_hold(s->cfg.cat, s->t, *out);
		if (st == NAM_OK)
			return true;
		if (!again(s, st, &tries, err))
			return false;
	}
}

/* Views last; the oldest first. */
static int
by_id(const void *a, const void *b)
{
	const struct cat_table *const *x = a, *const *y = b;
	bool xv = (*x)->kind == CAT_VIEW, yv = (*y)->kind == CAT_VIEW;
	if (xv != yv)
		return xv ? 1 : -1;
	return (*x)->store.id < (*y)->store.id ? -1 : (*x)->store.id > (*y)->store.id;
}

/* Relations and types, in that order. */
struct all {
	const struct cat_table **item;
	unsigned n;
};

static nam_status
list(struct change *w, struct all *out)
{
	const struct cat_table **tab, **type;
	unsigned tabs, types;
	nam_status st = cat_list_types(w->s->cfg.cat, w->s->t, &type, &types, w->arena);
	if (st == NAM_OK)
		st = cat_list(w->s->cfg.cat, w->s->t, &tab, &tabs, w->arena);
	if (st != NAM_OK)
		return st;
	*out = (struct all){ nam_arena_take(w->arena, (types + tabs) * sizeof *out->item), types + tabs };
	if (out->item == NULL)
		return NAM_NOMEM;
	memcpy(out->item, type, types * sizeof *type);
	memcpy(out->item + types, tab, tabs * sizeof *tab);
	qsort(out->item, out->n, sizeof *out->item, by_id);
	return NAM_OK;
}

/* True if domain `of` is id, or a domain over it. */
static bool
is_over(const struct all *all, uint32_t of, uint32_t id)
{
	for (unsigned depth = 0; of != 0 && of != id && depth <= all->n; depth++) {
		uint32_t below = 0;
		for (unsigned i = 0; i < all->n; i++)
			if (all->item[i]->kind == CAT_DOMAIN && all->item[i]->store.id == of)
				below = all->item[i]->column[0].domain;
		of = below;
	}
	return of == id;
}

/* A table with such a column, or a domain over the domain. */
static bool
uses(const struct change *w, const struct all *all, const struct cat_table *t)
{
	for (unsigned c = 0; (t->kind == CAT_TABLE || t->kind == CAT_DOMAIN) && c < t->columns; c++)
		if (t->column[c].domain != 0 && is_over(all, t->column[c].domain, w->dom->store.id))
			return true;
	return false;
}

/* The next of all that a snapshot shows gets held; *more false: there was none left. */
static nam_status
hold_one(struct change *w, unsigned *done, bool *more)
{
	struct cat *cat = w->s->cfg.cat;
	struct all all;
	unsigned k = 0;
	nam_status st = list(w, &all);
	*more = false;
	for (unsigned i = 0; st == NAM_OK && i < all.n; i++) {
		const struct cat_table *t = all.item[i];
		if (!uses(w, &all, t) || k++ < *done)
			continue;
		*more = true;
		++*done;
		return t->kind == CAT_TABLE ? cat_hold(cat, w->s->t, t) : cat_type_hold(cat, w->s->t, t);
	}
	return st;
}

/* Holds all that uses the domain. Nothing comes to use it any more, for its row is locked. */
static bool
hold_users(struct change *w)
{
	unsigned done = 0, tries = 0;
	for (bool more = true; more;) {
		nam_status st = hold_one(w, &done, &more);
		if (st == NAM_OK)
			continue;
		if (!again(w->s, st, &tries, w->err))
			return false;
		done = 0; /* what is held already is held again at once */
		more = true;
	}
	return true;
}

/* Another definition of all that uses the domain, though it says the same: plans made before do not
 * commit rows any more. */
static bool
touch_users(struct change *w)
{
	struct cat *cat = w->s->cfg.cat;
	struct all all;
	nam_status st = list(w, &all);
	for (unsigned i = 0; st == NAM_OK && i < all.n; i++) {
		const struct cat_table *t = all.item[i];
		if (uses(w, &all, t))
			st = t->kind == CAT_TABLE ? cat_alter(cat, w->s->t, t, t)
						  : cat_type_alter(cat, w->s->t, t, t);
	}
	return st == NAM_OK || sql_status(w->err, st, NULL);
}

/* ---- rows there are ----------------------------------------------------------------------- */

/* Column c of tab has no value that a new constraint forbids. check NULL: NOT NULL. */
static bool
column_passes(struct change *w, const struct cat_table *tab, unsigned c, const char *check)
{
	const char *column = sql_quote_name(tab->column[c].name, w->arena);
	const char *table = sql_path_text(tab->path, w->arena);
	char *text = NULL;
	bool bad;
	if (column != NULL && table != NULL)
		text = nam_arena_printf(w->arena,
		    check ? "SELECT 1 FROM (SELECT %s AS value FROM %s) AS v WHERE NOT (%s) LIMIT 1"
			  : "SELECT 1 FROM (SELECT %s AS value FROM %s) AS v WHERE value IS NULL%s LIMIT 1",
		    column, table, check ? check : "");
	if (text == NULL)
		return sql_no_memory(w->err);
	if (!sql_any_of(w->s, text, &bad, w->sink, w->err))
		return false;
	if (!bad)
		return true;
	if (check == NULL)
		cat_error(w->err, "23502", "column \"%s\" of table \"%s\" contains null values",
		    tab->column[c].name, cat_local(tab->path));
	else
		cat_error(w->err, "23514",
		    "column \"%s\" of table \"%s\" contains values that violate the new constraint",
		    tab->column[c].name, cat_local(tab->path));
	return cat_error_about(w->err, cat_local(tab->path), tab->column[c].name, NULL);
}

static bool
rows_pass(struct change *w, const char *check)
{
	struct all all;
	nam_status st = list(w, &all);
	if (st != NAM_OK)
		return sql_status(w->err, st, NULL);
	for (unsigned i = 0; i < all.n; i++) {
		const struct cat_table *t = all.item[i];
		for (unsigned c = 0; t->kind == CAT_TABLE && c < t->columns; c++)
			if (t->column[c].domain != 0 &&
			    is_over(&all, t->column[c].domain, w->dom->store.id) &&
			    !column_passes(w, t, c, check))
				return false;
	}
	return true;
}

/* ---- constraints -------------------------------------------------------------------------- */

static int
by_name(const void *a, const void *b)
{
	return strcmp(((const struct cat_check *)a)->name, ((const struct cat_check *)b)->name);
}

static struct cat_check *
check_named(struct cat_table *def, const char *name)
{
	for (unsigned i = 0; i < def->checks; i++)
		if (strcmp(def->check[i].name, name) == 0)
			return &def->check[i];
	return NULL;
}

/* A CHECK's name, said or chosen. */
static bool
name_check(struct cat_table *def, const struct ast_check *k, char out[CAT_NAME_MAX + 1], struct cat_err *err)
{
	if (k->name != NULL && strlen(k->name) > CAT_NAME_MAX)
		return cat_error(err, "42622", "identifier \"%.80s\" is too long", k->name);
	if (k->name != NULL && check_named(def, k->name) != NULL)
		return cat_error(err, "42710", "constraint \"%s\" for domain \"%s\" already exists", k->name,
		    cat_local(def->path));
	if (k->name != NULL) {
		snprintf(out, CAT_NAME_MAX + 1, "%s", k->name);
		return true;
	}
	for (unsigned n = 0; n == 0 || check_named(def, out) != NULL; n++) {
		char label[24];
		int len = n == 0 ? snprintf(label, sizeof label, "_check")
				 : snprintf(label, sizeof label, "_check%u", n);
		snprintf(out, CAT_NAME_MAX + 1, "%.*s%s", CAT_NAME_MAX - len, cat_local(def->path), label);
	}
	return true;
}

static bool
add_check(struct change *w, const struct ast_check *k)
{
	struct sql_bind_in in = { .cat = w->s->cfg.cat, .t = w->s->t, .parser = w->s->cfg.parser };
	struct cat_check to = { .text = k->text, .not_valid = k->not_valid };
	if (!name_check(&w->def, k, to.name, w->err) || !sql_plan_try(&w->def, NULL, 0, k, 1, &in, w->err))
		return false;
	w->def.check[w->def.checks++] = to;
	return true;
}

/* DEFAULT NULL is none, unless a domain below might say otherwise. */
static const char *
default_text(const struct cat_column *value, const struct ast_expr *e, const char *text)
{
	return e != NULL && e->kind == AST_NULL && value->domain == 0 ? NULL : text;
}

/* True if DEFAULT e can be bound; messages call the column by the domain's name. */
static bool
good_default(struct change *w, struct ast_expr *e)
{
	struct sql_bind_in in = { .cat = w->s->cfg.cat, .t = w->s->t, .parser = w->s->cfg.parser };
	struct cat_table as = w->def;
	struct cat_column column = w->def.column[0];
	const char *own = cat_local(w->def.path);
	struct ast_column said = { .name = own, .dflt = e };
	snprintf(column.name, sizeof column.name, "%s", own);
	column.dflt = NULL;
	column.not_null = false;
	as.column = &column;
	as.checks = 0;
	return e == NULL || sql_plan_try(&as, &said, 1, NULL, 0, &in, w->err);
}

/* ---- CREATE ------------------------------------------------------------------------------- */

bool
sql_create_domain(
    struct sql_session *s, const struct ast_stmt *ast, struct nam_arena *arena, struct cat_err *err)
{
	const struct ast_column *said = &ast->column[0];
	struct cat_column value = { .name = "value", .not_null = said->not_null };
	struct change w = { .s = s, .ast = ast, .arena = arena, .err = err };
	const struct cat_table *below;
	w.def = (struct cat_table){ .kind = CAT_DOMAIN, .columns = 1, .column = &value };
	if (ast->params > 0)
		return cat_error(err, "42P02", "there is no parameter $%u", ast->params);
	if (strlen(ast->table.name) > CAT_NAME_MAX)
		return cat_error(err, "42622", "identifier \"%.80s\" is too long", ast->table.name);
	const struct sql_looking look = sql_looking(s);
	if (!sql_path_new(&look, ast->table.in, ast->table.name, w.def.path, err))
		return false;
	if (!cat_in_public(w.def.path))
		return cat_error(err, "0A000", "types in schemas other than public are not supported yet");
	if (!sql_make_as(s, &w.def, 0, err))
		return false;
	nam_status st;
	if (!sql_type_is_taken(s, w.def.path, false, err))
		return false;
	if (!sql_column_of(s, said->type, said->typmod, &said->named, &value, err))
		return false;
	s->ddl = true;
	if (!sql_domains_use(s, &w.def, true, err))
		return false;
	value.dflt = default_text(&value, said->dflt, said->dflt_text);
	if (value.domain != 0 && value.dflt == NULL) {
		st = cat_type_of_id(s->cfg.cat, s->t, value.domain, &below);
		if (st != NAM_OK)
			return sql_status(err, st, NULL);
		value.dflt = below != NULL ? below->column[0].dflt : NULL;
	}
	if ((w.def.check = nam_arena_zero(arena, (ast->checks + 1) * sizeof *w.def.check)) == NULL)
		return sql_no_memory(err);
	if (!good_default(&w, said->dflt))
		return false;
	for (unsigned i = 0; i < ast->checks; i++) {
		if (!add_check(&w, &ast->check[i]))
			return false;
		w.def.check[i].not_valid = false; /* there are no values yet */
	}
	qsort(w.def.check, w.def.checks, sizeof *w.def.check, by_name);
	if (!sql_types_use(s, &w.def, err))
		return false;
	st = cat_create(s->cfg.cat, s->t, &w.def);
	if (st == NAM_DUPLICATE)
		return cat_error(err, "42710", "type \"%s\" already exists", cat_local(w.def.path));
	return st == NAM_OK || sql_status(err, st, NULL);
}

/* ---- ALTER -------------------------------------------------------------------------------- */

static bool
no_such(struct change *w, const char *name)
{
	return cat_error(w->err, "42704", "constraint \"%s\" of domain \"%s\" does not exist", name,
	    cat_local(w->dom->path));
}

static bool
drop_check(struct change *w, const struct ast_alter *k)
{
	struct cat_table *def = &w->def;
	struct cat_check *c = check_named(def, k->name);
	if (c == NULL && !k->if_exists)
		return no_such(w, k->name);
	if (c == NULL) {
		sql_notice(w->sink, "NOTICE", "00000",
		    "constraint \"%s\" of domain \"%s\" does not exist, skipping", k->name,
		    cat_local(def->path));
		return true;
	}
	memmove(c, c + 1, (size_t)(def->check + def->checks - c - 1) * sizeof *c);
	def->checks--;
	return true;
}

static bool
rename_check(struct change *w, const struct ast_alter *k)
{
	struct cat_check *c = check_named(&w->def, k->name);
	const char *said = sql_type_said(cat_local(w->def.path), w->arena);
	if (said == NULL)
		return sql_no_memory(w->err);
	if (c == NULL)
		return cat_error(
		    w->err, "42704", "constraint \"%s\" for domain %s does not exist", k->name, said);
	if (strlen(k->to) > CAT_NAME_MAX)
		return cat_error(w->err, "42622", "identifier \"%.80s\" is too long", k->to);
	if (check_named(&w->def, k->to) != NULL)
		return cat_error(
		    w->err, "42710", "constraint \"%s\" for domain %s already exists", k->to, said);
	snprintf(c->name, sizeof c->name, "%s", k->to);
	return true;
}

static bool
rename_(struct change *w, const struct ast_alter *k)
{
	bool read;
	if (strlen(k->to) > CAT_NAME_MAX)
		return cat_error(w->err, "42622", "identifier \"%.80s\" is too long", k->to);
	char path[CAT_PATH_MAX + 1];
	cat_path(CAT_PUBLIC_SCHEMA, k->to, path);
	if (!sql_type_is_taken(w->s, path, false, w->err))
		return false;
	if (!sql_has_dependents(w->s, w->dom, &read, w->err))
		return false;
	struct all all;
	char said[SQL_TYPE_SAID];
	const char *what, *name;
	nam_status st = list(w, &all);
	if (st != NAM_OK)
		return sql_status(w->err, st, NULL);
	for (unsigned i = 0; i < all.n && !read; i++)
		read = sql_any_text(all.item[i], sql_text_casts, sql_type_word(w->dom, said), &what, &name);
	if (read)
		return cat_error(w->err, "0A000",
		    "renaming a domain that a default, a check or a view names is not supported yet");
	memcpy(w->def.path, path, sizeof w->def.path);
	return true;
}

/* *forbids: values that were right may not be any more. *check: that condition; NULL: NOT NULL, or
 * none, *ask false. */
static bool
apply(struct change *w, const struct ast_alter *k, bool *forbids, bool *ask, const char **check)
{
	struct cat_check *c;
	*forbids = *ask = false;
	*check = NULL;
	switch (k->kind) {
	case AST_SET_DEFAULT:
		w->def.column[0].dflt = default_text(&w->def.column[0], k->e, k->text);
		return good_default(w, k->e);
	case AST_SET_NOT_NULL:
		*forbids = *ask = !w->def.column[0].not_null;
		w->def.column[0].not_null = true;
		return true;
	case AST_DROP_NOT_NULL:
		w->def.column[0].not_null = false;
		return true;
	case AST_ADD_CHECK:
		*forbids = true;
		*ask = !w->ast->check[k->index].not_valid;
		*check = w->ast->check[k->index].text;
		return add_check(w, &w->ast->check[k->index]);
	case AST_DROP_CONSTRAINT:
		return drop_check(w, k);
	case AST_VALIDATE:
		if ((c = check_named(&w->def, k->name)) == NULL)
			return no_such(w, k->name);
		*forbids = *ask = c->not_valid;
		*check = c->text;
		c->not_valid = false;
		return true;
	case AST_RENAME_CONSTRAINT:
		return rename_check(w, k);
	default:
		return rename_(w, k);
	}
}

bool
sql_alter_domain(struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink,
    struct nam_arena *arena, struct cat_err *err)
{
	const struct ast_alter *k = &ast->alter[0];
	struct change w = { .s = s, .ast = ast, .sink = sink, .arena = arena, .err = err };
	struct cat_column value;
	const char *check;
	bool forbids, ask;
	if (ast->params > 0)
		return cat_error(err, "42P02", "there is no parameter $%u", ast->params);
	if (!hold(s, ast->table.name, &w.dom, err))
		return false;
	s->ddl = true;
	if (k->kind == AST_SET_OWNER)
		return sql_give_to(s, w.dom, sql_role_said(s, ast->var), arena, err);
	w.def = *w.dom;
	value = w.dom->column[0];
	w.def.column = &value;
	w.def.check = nam_arena_zero(arena, (w.dom->checks + ast->checks + 1) * sizeof *w.def.check);
	if (w.def.check == NULL)
		return sql_no_memory(err);
	if (w.dom->checks > 0)
		memcpy(w.def.check, w.dom->check, w.dom->checks * sizeof *w.def.check);
	if (!apply(&w, k, &forbids, &ask, &check) || (forbids && !hold_users(&w)) ||
	    (ask && !rows_pass(&w, check)) || (forbids && !touch_users(&w)))
		return false;
	qsort(w.def.check, w.def.checks, sizeof *w.def.check, by_name);
	if (!sql_types_use(s, &w.def, err))
		return false;
	nam_status st = cat_type_alter(s->cfg.cat, s->t, w.dom, &w.def);
	if (st == NAM_DUPLICATE)
		return cat_error(err, "42710", "type \"%s\" already exists", cat_local(w.def.path));
	return st == NAM_OK || sql_status(err, st, NULL);
}

/* ---- DROP --------------------------------------------------------------------------------- */

static bool
in_list(const struct ast_stmt *ast, const char *name)
{
	for (unsigned i = 0; i < ast->nnames; i++)
		if (strcmp(ast->names[i], name) == 0)
			return true;
	return false;
}

static bool drop(struct change *w, const struct cat_table *dom);

/* One more thing that depends on the domain, for the error's detail. */
static bool
refuse(struct change *w, const struct cat_table *dom, const char *what)
{
	struct cat_err *err = w->err;
	size_t at = strlen(err->detail), max = sizeof err->detail;
	const char *said = sql_type_said(cat_local(dom->path), w->arena);
	if (said == NULL)
		return sql_no_memory(err);
	if (err->sqlstate[0] == 0) {
		if (w->ast->nnames > 1)
			cat_error(err, "2BP01",
			    "cannot drop desired object(s) because other objects depend on them");
		else
			cat_error(
			    err, "2BP01", "cannot drop type %s because other objects depend on it", said);
		snprintf(
		    err->hint, sizeof err->hint, "Use DROP ... CASCADE to drop the dependent objects too.");
	}
	if (at + strlen(what) + strlen(said) + 24 < max)
		snprintf(
		    err->detail + at, max - at, "%s%s depends on type %s", at > 0 ? "\n" : "", what, said);
	return true;
}

/* A column of the domain goes, as by ALTER TABLE. */
static bool
drop_column(struct change *w, const struct cat_table *tab, const char *column)
{
	struct ast_alter k = { .kind = AST_DROP_COLUMN, .name = column, .cascade = true };
	struct ast_stmt how = { .kind = AST_ALTER_TABLE,
		.alter = &k,
		.alters = 1,
		.table = { .name = tab->path, .alias = cat_local(tab->path), .schema = true, .path = true } };
	sql_notice(w->sink, "NOTICE", "00000", "drop cascades to column %s of table %s", column,
	    sql_path_shown(tab->path));
	return sql_alter_table(w->s, &how, w->sink, w->arena, w->err);
}

/* A DEFAULT or CHECK of t that casts to the domain. */
static bool
dependent_text(struct change *w, const struct cat_table *dom, const struct cat_table *t)
{
	char said[SQL_TYPE_SAID], what[2 * CAT_NAME_MAX + CAT_PATH_MAX + 40];
	const char *whose, *name;
	if (t->kind == CAT_VIEW || t->store.id == dom->store.id ||
	    !sql_any_text(t, sql_text_casts, sql_type_word(dom, said), &whose, &name) ||
	    (t->kind == CAT_DOMAIN && in_list(w->ast, cat_local(t->path))))
		return true;
	if (w->ast->cascade)
		return cat_error(w->err, "0A000",
		    "DROP DOMAIN ... CASCADE of a domain that %s \"%s\" uses in a rule is not supported yet",
		    sql_kind_name(t), sql_path_shown(t->path));
	if (t->kind == CAT_DOMAIN)
		snprintf(what, sizeof what, "type %s", sql_path_shown(t->path));
	else
		snprintf(what, sizeof what, "%s %s %s table %s", whose, name, whose[0] == 'c' ? "on" : "of",
		    sql_path_shown(t->path));
	return refuse(w, dom, what);
}

/* What depends on the domain by way of t. */
static bool
dependent(struct change *w, const struct cat_table *dom, const struct cat_table *t)
{
	bool reads = false;
	for (unsigned i = 0; t->kind == CAT_VIEW && i < t->uses; i++)
		reads |= strcmp(t->use[i], dom->path) == 0;
	for (unsigned c = 0; c < t->columns; c++) {
		if (t->column[c].domain != dom->store.id)
			continue;
		reads |= t->kind != CAT_TABLE;
		if (t->kind != CAT_TABLE)
			break;
		char what[3 * CAT_NAME_MAX + 24];
		snprintf(
		    what, sizeof what, "column %s of table %s", t->column[c].name, sql_path_shown(t->path));
		if (!w->ast->cascade && !refuse(w, dom, what))
			return false;
		if (w->ast->cascade) {
			const struct cat_table *still;
			char name[CAT_NAME_MAX + 1];
			memcpy(name, t->column[c].name, sizeof name);
			if (!drop_column(w, t, name))
				return false;
			nam_status st = cat_find(w->s->cfg.cat, w->s->t, t->path, &still);
			if (st != NAM_OK)
				return sql_status(w->err, st, NULL);
			return still == NULL || dependent(w, dom, still);
		}
	}
	if (!reads)
		return dependent_text(w, dom, t);
	if (t->kind == CAT_DOMAIN && in_list(w->ast, cat_local(t->path)))
		return true;
	char what[CAT_PATH_MAX + 8];
	snprintf(
	    what, sizeof what, "%s %s", t->kind == CAT_DOMAIN ? "type" : "view", sql_path_shown(t->path));
	if (!w->ast->cascade)
		return refuse(w, dom, what);
	sql_notice(w->sink, "NOTICE", "00000", "drop cascades to %s", what);
	if (t->kind == CAT_DOMAIN)
		return hold(w->s, cat_local(t->path), &t, w->err) && drop(w, t);
	if (!sql_drop_dependents(w->s, t, w->ast, w->sink, w->err))
		return false;
	nam_status st = cat_drop(w->s->cfg.cat, w->s->t, t);
	return st == NAM_OK || sql_status(w->err, st, NULL);
}

/* Drops a domain that is held, and what depends on it. */
static bool
drop(struct change *w, const struct cat_table *dom)
{
	struct sql_session *s = w->s;
	struct all all;
	nam_status st = list(w, &all);
	for (unsigned i = 0; st == NAM_OK && i < all.n; i++) {
		const struct cat_table *t = all.item[i], *still;
		/* it may be gone by way of another one */
		st = cat_name_taken(s->cfg.cat, s->t, t->path, &still);
		if (st == NAM_OK && still != NULL && still->store.id == t->store.id &&
		    !dependent(w, dom, still))
			return false;
	}
	if (st != NAM_OK)
		return sql_status(w->err, st, NULL);
	if (w->err->sqlstate[0] != 0)
		return false;
	st = cat_drop(s->cfg.cat, s->t, dom);
	return st == NAM_OK || sql_status(w->err, st, NULL);
}

bool
sql_drop_domains(struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink,
    struct nam_arena *arena, struct cat_err *err)
{
	struct change w = { .s = s, .ast = ast, .sink = sink, .arena = arena, .err = err };
	sql_err_clear(err);
	for (unsigned i = 0; i < ast->nnames; i++) {
		const struct cat_table *dom;
		if (!find(s, ast->names[i], &dom, err))
			return false;
		if (dom == NULL && ast->if_exists) {
			sql_notice(
			    sink, "NOTICE", "00000", "type \"%s\" does not exist, skipping", ast->names[i]);
			continue;
		}
		if (dom != NULL && dom->kind != CAT_DOMAIN)
			return cat_error(err, "42809", "\"%s\" is not a domain", ast->names[i]);
		if (!hold(s, ast->names[i], &dom, err))
			return false;
		s->ddl = true;
		if (!drop(&w, dom))
			return false;
	}
	return true;
}
