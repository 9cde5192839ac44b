/* type.c -- CREATE, ALTER and DROP TYPE; types in the definitions that use them. */
#include <sql/command/command.h>
#include <sql/command/grant.h>
#include <sql/command/type_text.h>
#include <sql/common/error.h>
#include <sql/common/user_type.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool
sql_column_type(struct sql_session *s, enum cat_type type, const struct ast_named *named, enum cat_type *out,
    struct cat_err *err)
{
	*out = type;
	return cat_type_element(type) != CAT_NAMED || sql_type_named(s->cfg.cat, s->t, type, named->name,
							  named->schema, named->position, out, NULL, err);
}

bool
sql_type_is_taken(struct sql_session *s, const char *path, bool relation, struct cat_err *err)
{
	const struct cat_table *there;
	nam_status st = cat_name_taken(s->cfg.cat, s->t, path, &there);
	if (st != NAM_OK || there == NULL)
		return st == NAM_OK || sql_status(err, st, NULL);
	if (relation && !cat_kind_is_type(there->kind))
		return cat_error(err, "42P07", "relation \"%s\" already exists", cat_local(path));
	cat_error(err, "42710", "type \"%s\" already exists", cat_local(path));
	if (relation)
		snprintf(err->hint, sizeof err->hint,
		    "A relation has an associated type of the same name, so you must use a name that doesn't "
		    "conflict with any existing type.");
	return false;
}

/* ---- who uses a type ---------------------------------------------------------------------- */

/* The number of the first column of a type; columns = none. */
static unsigned
column_of(const struct cat_table *def, const struct cat_table *type)
{
	unsigned i = type->number == 0 ? def->columns : 0; /* a domain is no column's type */
	while (i < def->columns && cat_type_id(def->column[i].type) != type->number)
		i++;
	return i;
}

static bool
uses(const struct cat_table *def, const struct cat_table *type)
{
	const char *what, *name;
	char said[SQL_TYPE_SAID];
	return column_of(def, type) < def->columns ||
	       sql_any_text(def, sql_text_casts, sql_type_word(type, said), &what, &name);
}

/* *yes: the view reads a column of the type, so its text may say a label. */
static bool
reads(struct sql_session *s, const struct cat_table *view, const struct cat_table *type, bool *yes,
    struct cat_err *err)
{
	*yes = false;
	for (unsigned k = 0; k < view->uses && !*yes; k++) {
		const struct cat_table *of;
		nam_status st = cat_find(s->cfg.cat, s->t, view->use[k], &of);
		if (st != NAM_OK)
			return sql_status(err, st, NULL);
		*yes = of != NULL && column_of(of, type) < of->columns;
	}
	return true;
}

/* The row of a type is written, so that a DROP TYPE elsewhere waits, and then sees what uses it.
 * *moved: s->t has got a newer snapshot; *altered: and the type has another definition there. */
static bool
use(struct sql_session *s, const struct cat_table *type, bool *moved, bool *altered, struct cat_err *err)
{
	uint32_t id = type->store.id, generation = type->generation;
	enum cat_type t = cat_type_of(type);
	*moved = *altered = false;
	for (unsigned tries = 0;; tries++) {
		nam_status st = cat_type_use(s->cfg.cat, s->t, type);
		bool again = st == NAM_CONFLICT && s->iso == TXN_READ_COMMITTED && tries < SQL_RETRIES;
		if (!again)
			return st == NAM_OK || sql_status(err, st, NULL);
		*moved = true;
		if ((st = txn_statement(s->t)) != NAM_OK)
			return sql_status(err, st, NULL);
		if (!sql_type_of_id(s->cfg.cat, s->t, id, &type, err))
			return false;
		if (type == NULL)
			return cat_error(err, "42704", "type \"%s\" does not exist", cat_type_word(t));
		*altered |= type->generation != generation;
	}
}

/* The types are still there: s->t may have got a newer snapshot since def was looked at. */
static bool
still_there(struct sql_session *s, const struct cat_table *def, const struct cat_table *const *list,
    unsigned n, struct cat_err *err)
{
	const char *what, *name;
	for (unsigned i = 0; i < def->columns; i++) {
		uint32_t id = cat_type_id(def->column[i].type);
		bool there = id == 0;
		for (unsigned k = 0; k < n && !there; k++)
			there = list[k]->number == id;
		if (!there)
			return cat_error(err, "42704", "type \"%s\" does not exist",
			    cat_type_word(cat_type_element(def->column[i].type)));
	}
	if (def->kind != CAT_TABLE || !sql_any_text(def, sql_text_may_cast, NULL, &what, &name))
		return true;
	struct sql_bind_in in = { .cat = s->cfg.cat, .t = s->t, .parser = s->cfg.parser };
	struct sql_plan *p = sql_plan_rules(def, &in, err);
	sql_plan_free(p);
	return p != NULL;
}

bool
sql_column_of(struct sql_session *s, enum cat_type type, int32_t typmod, const struct ast_named *named,
    struct cat_column *c, struct cat_err *err)
{
	const struct cat_table *def = NULL;
	c->type = type;
	c->typmod = typmod;
	c->domain = 0;
	if (cat_type_element(type) != CAT_NAMED)
		return true;
	if (!sql_type_named(
		s->cfg.cat, s->t, type, named->name, named->schema, named->position, &c->type, &def, err))
		return false;
	if (def->kind == CAT_DOMAIN) {
		c->typmod = def->column[0].typmod;
		c->domain = def->store.id;
	}
	return true;
}

/*
 * Gives the domain's row another version, so that its change or DROP elsewhere waits for s->t, and
 * then, by a snapshot that shows that version, sees what uses it.
 */
bool
sql_domain_use(struct sql_session *s, uint32_t id, bool again, struct cat_err *err)
{
	for (unsigned tries = 0;; tries++) {
		const struct cat_table *dom;
		nam_status st = cat_type_of_id(s->cfg.cat, s->t, id, &dom);
		if (st == NAM_OK && dom == NULL)
			return cat_error(err, "42704", "a type that is used here does not exist any more");
		if (st == NAM_OK && dom->store.guard.bits != 0)
			st = cat_type_alter(s->cfg.cat, s->t, dom, dom);
		if (again && st == NAM_CONFLICT && s->iso == TXN_READ_COMMITTED && tries < SQL_RETRIES &&
		    (st = txn_statement(s->t)) == NAM_OK)
			continue;
		return st == NAM_OK || sql_status(err, st, NULL);
	}
}

bool
sql_domains_use(struct sql_session *s, const struct cat_table *def, bool again, struct cat_err *err)
{
	for (unsigned i = 0; i < def->columns; i++)
		if (def->column[i].domain != 0 && !sql_domain_use(s, def->column[i].domain, again, err))
			return false;
	return true;
}

/* No newer snapshot is taken, for the view's columns have been bound at this one. */
bool
sql_view_types_use(struct sql_session *s, const struct cat_table *view, struct cat_err *err)
{
	for (unsigned i = 0; i < view->uses; i++) {
		const struct cat_table *dom;
		nam_status st = cat_type_named(s->cfg.cat, s->t, view->use[i], &dom);
		if (st != NAM_OK)
			return sql_status(err, st, NULL);
		if (dom != NULL && dom->kind == CAT_DOMAIN && !sql_domain_use(s, dom->store.id, false, err))
			return false;
	}
	return sql_domains_use(s, view, false, err);
}

bool
sql_types_use(struct sql_session *s, const struct cat_table *def, struct cat_err *err)
{
	const struct cat_table **list;
	struct nam_arena arena;
	unsigned n = 0;
	nam_arena_init(&arena, 4 << 10);
	nam_status st = cat_list_types(s->cfg.cat, s->t, &list, &n, &arena);
	bool ok = st == NAM_OK || sql_status(err, st, NULL);
	for (unsigned i = 0; ok && i < n; i++) {
		char said[SQL_TYPE_SAID];
		const char *what, *name;
		bool yes;
		if (list[i]->kind == CAT_DOMAIN) { /* of a view: sql_view_types_use */
			if (def->kind != CAT_VIEW && list[i]->store.id != def->store.id &&
			    sql_any_text(def, sql_text_casts, sql_type_word(list[i], said), &what, &name))
				ok = sql_domain_use(s, list[i]->store.id, true, err);
			continue;
		}
		ok = reads(s, def, list[i], &yes, err);
		if (!ok || (!yes && !uses(def, list[i])))
			continue;
		bool moved, altered;
		ok = use(s, list[i], &moved, &altered, err);
		/* A label that a text says may have another name now. A view's columns have been
		 * bound before. */
		bool texts = altered && sql_any_text(def, sql_text_is, NULL, &what, &name);
		if (ok && (texts || (moved && def->kind == CAT_VIEW)))
			ok = sql_status(err, NAM_CONFLICT, NULL);
	}
	ok = ok && still_there(s, def, list, n, err);
	nam_arena_fini(&arena);
	return ok;
}

/*
 * Before a type is dropped, or gets another name or a label another name: what uses it is looked at
 * behind this, and no other transaction makes more of it until s->t ends.
 */
static bool
hold(struct sql_session *s, const struct cat_table **type, struct cat_err *err)
{
	uint32_t id = (*type)->store.id;
	bool own = (*type)->store.guard.bits == 0, moved, altered;
	char path[CAT_PATH_MAX + 1];
	memcpy(path, (*type)->path, sizeof path);
	s->ddl = true;
	if (!use(s, *type, &moved, &altered, err))
		return false;
	nam_status st = s->iso == TXN_READ_COMMITTED && !own ? txn_statement(s->t) : NAM_OK;
	if (st != NAM_OK)
		return sql_status(err, st, NULL);
	if (!sql_type_of_id(s->cfg.cat, s->t, id, type, err))
		return false;
	return (*type != NULL && strcmp((*type)->path, path) == 0) ||
	       cat_error(err, "42704", "type \"%s\" does not exist", cat_local(path));
}

/* ---- CREATE, ALTER -------------------------------------------------------------------------- */

static bool
good_label(const char *label, struct cat_err *err)
{
	if (strlen(label) <= CAT_LABEL_MAX)
		return true;
	cat_error(err, "42602", "invalid enum label \"%.200s\"", label);
	snprintf(err->detail, sizeof err->detail, "Labels must be %d bytes or less.", CAT_LABEL_MAX);
	return false;
}

static int
by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

bool
sql_create_enum(
    struct sql_session *s, const struct ast_stmt *ast, struct nam_arena *arena, struct cat_err *err)
{
	struct cat_table def = { .kind = CAT_ENUM_TYPE, .labels = ast->nnames };
	if (strlen(ast->table.name) > CAT_NAME_MAX)
		return cat_error(err, "42622", "identifier \"%.80s\" is too long", ast->table.name);
	cat_path(CAT_PUBLIC_SCHEMA, ast->table.name, def.path);
	if (!sql_type_is_taken(s, def.path, false, err) || !sql_make_as(s, &def, 0, err))
		return false;
	if ((def.label = nam_arena_zero(arena, (ast->nnames + 1u) * sizeof *def.label)) == NULL)
		return sql_no_memory(err);
	const char **sorted = nam_arena_take(arena, (ast->nnames + 1u) * sizeof *sorted);
	if (sorted == NULL)
		return sql_no_memory(err);
	for (unsigned i = 0; i < ast->nnames; i++) {
		if (!good_label(ast->names[i], err))
			return false;
		strcpy(def.label[i].name, ast->names[i]);
		sorted[i] = ast->names[i];
	}
	qsort(sorted, ast->nnames, sizeof *sorted, by_text);
	for (unsigned i = 1; i < ast->nnames; i++)
		if (strcmp(sorted[i - 1], sorted[i]) == 0) {
			cat_error(err, "23505",
			    "duplicate key value violates unique constraint \"pg_enum_typid_label_index\"");
			return cat_error_about(err, "pg_enum", NULL, "pg_enum_typid_label_index");
		}
	cat_enum_spread(def.label, def.labels);
	s->ddl = true;
	nam_status st = cat_create(s->cfg.cat, s->t, &def);
	if (st == NAM_DUPLICATE)
		return cat_error(err, "42710", "type \"%s\" already exists", cat_local(def.path));
	if (st == NAM_INVALID)
		return cat_error(err, "54000",
		    "the definition is too long, or the cluster has had too many tables and types");
	return st == NAM_OK || sql_status(err, st, NULL);
}

/* The type that an ALTER TYPE names, which the current role owns. */
static bool
find_own(
    struct sql_session *s, const struct ast_stmt *ast, const struct cat_table **type, struct cat_err *err)
{
	char path[CAT_PATH_MAX + 1];
	cat_path(CAT_PUBLIC_SCHEMA, ast->table.name, path);
	nam_status st = cat_type_named(s->cfg.cat, s->t, path, type);
	if (st != NAM_OK)
		return sql_status(err, st, NULL);
	if (*type != NULL && !sql_must_own(s, *type, err))
		return false;
	if (*type != NULL && (*type)->kind == CAT_DOMAIN)
		return ast->kind == AST_ALTER_ENUM
			   ? cat_error(err, "42809", "%s is not an enum", cat_local((*type)->path))
			   : cat_error(err, "0A000",
				 "ALTER TYPE of a domain is not supported yet; use ALTER DOMAIN");
	if (*type != NULL)
		return true;
	enum cat_type is = cat_type_find(ast->table.name);
	return is != CAT_UNKNOWN && ast->kind == AST_ALTER_ENUM
		   ? cat_error(err, "42809", "%s is not an enum", cat_type_name(is))
		   : cat_error(err, "42704", "type \"%s\" does not exist", ast->table.name);
}

static bool
become(struct sql_session *s, const struct cat_table *type, const struct cat_table *def, struct cat_err *err)
{
	s->ddl = true;
	nam_status st = cat_type_alter(s->cfg.cat, s->t, type, def);
	if (st == NAM_DUPLICATE)
		return cat_error(err, "42710", "type \"%s\" already exists", cat_local(def->path));
	return st == NAM_OK || sql_status(err, st, NULL);
}

static unsigned
place_of(const struct cat_table *type, const char *label)
{
	unsigned i = 0;
	while (i < type->labels && strcmp(type->label[i].name, label) != 0)
		i++;
	return i;
}

/* Definitions that say the type, or a label of it, say the new name. */
static bool
retext_all(struct sql_session *s, const struct cat_table *type, const struct sql_retext *x,
    struct nam_arena *arena, struct cat_err *err)
{
	const struct cat_table **list;
	const char *what, *name;
	unsigned n;
	nam_status st = cat_list_owned(s->cfg.cat, s->t, &list, &n, arena);
	if (st != NAM_OK)
		return sql_status(err, st, NULL);
	for (unsigned i = 0; i < n; i++) {
		struct cat_table def = *list[i];
		bool near, changed = false;
		if (list[i]->system)
			continue;
		if (!reads(s, list[i], type, &near, err))
			return false;
		near |= uses(list[i], type);
		if (near && !sql_retext(&def, x, &changed, arena))
			return sql_no_memory(err);
		/* whether such a literal is a label, the text does not say */
		if (near && x->label != NULL &&
		    sql_any_text(&def, sql_text_has_label, x->label, &what, &name))
			return cat_error(err, "0A000",
			    "renaming an enum label that %s %s says without a cast is not supported yet",
			    what, name);
		if (changed && (st = cat_grant_as(s->cfg.cat, s->t, list[i], &def)) != NAM_OK)
			return sql_status(err, st, NULL);
	}
	return true;
}

static bool
rename_label(struct sql_session *s, const struct cat_table *type, const struct ast_enum *e,
    struct nam_arena *arena, struct cat_err *err)
{
	struct cat_table def = *type;
	unsigned at = place_of(type, e->beside);
	if (at == type->labels)
		return cat_error(err, "22023", "\"%s\" is not an existing enum label", e->beside);
	if (place_of(type, e->name) < type->labels)
		return cat_error(err, "42710", "enum label \"%s\" already exists", e->name);
	char said[SQL_TYPE_SAID];
	const struct sql_retext x = { .said = sql_type_word(type, said),
		.label = e->beside,
		.becomes = e->name,
		.number = type->number };
	if (!retext_all(s, type, &x, arena, err))
		return false;
	def.label = nam_arena_copy(arena, type->label, type->labels * sizeof *def.label);
	if (def.label == NULL)
		return sql_no_memory(err);
	strcpy(def.label[at].name, e->name);
	return become(s, type, &def, err);
}

bool
sql_alter_enum(struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink,
    struct nam_arena *arena, struct cat_err *err)
{
	const struct ast_enum *e = &ast->label;
	const struct cat_table *type;
	if (!find_own(s, ast, &type, err) || !good_label(e->name, err))
		return false;
	if (e->rename)
		return hold(s, &type, err) && rename_label(s, type, e, arena, err);
	if (place_of(type, e->name) < type->labels) {
		if (!ast->if_exists)
			return cat_error(err, "42710", "enum label \"%s\" already exists", e->name);
		sql_notice(sink, "NOTICE", "42710", "enum label \"%s\" already exists, skipping", e->name);
		return true;
	}
	unsigned at = e->beside != NULL ? place_of(type, e->beside) : type->labels;
	if (e->beside != NULL && at == type->labels)
		return cat_error(err, "22023", "\"%s\" is not an existing enum label", e->beside);
	at += e->beside != NULL && e->after;
	if (e->beside == NULL && place_of(type, "") + 1 < type->labels)
		return cat_error(
		    err, "0A000", "ADD VALUE to an enum with an empty label is not supported yet");
	struct cat_table def = *type;
	def.label = nam_arena_zero(arena, (type->labels + 1u) * sizeof *def.label);
	if (def.label == NULL)
		return sql_no_memory(err);
	if (at > 0)
		memcpy(def.label, type->label, at * sizeof *def.label);
	if (at < type->labels)
		memcpy(def.label + at + 1, type->label + at, (type->labels - at) * sizeof *def.label);
	strcpy(def.label[at].name, e->name);
	def.label[at].key = cat_enum_between(type->label, type->labels, at);
	def.labels++;
	if (def.label[at].key == 0)
		return cat_error(err, "54000",
		    "there is no room for another label at this place of enum \"%s\"", cat_local(type->path));
	return become(s, type, &def, err);
}

bool
sql_rename_type(
    struct sql_session *s, const struct ast_stmt *ast, struct nam_arena *arena, struct cat_err *err)
{
	const struct cat_table *type;
	char said[SQL_TYPE_SAID], becomes[SQL_TYPE_SAID], path[CAT_PATH_MAX + 1];
	cat_path(CAT_PUBLIC_SCHEMA, ast->var, path);
	if (!find_own(s, ast, &type, err) || !sql_type_is_taken(s, path, false, err))
		return false;
	if (strlen(ast->var) > CAT_NAME_MAX)
		return cat_error(err, "42622", "identifier \"%.80s\" is too long", ast->var);
	if (!hold(s, &type, err))
		return false;
	struct cat_table def = *type;
	memcpy(def.path, path, sizeof def.path);
	const struct sql_retext x = { .said = sql_type_word(type, said),
		.type = sql_type_word(&def, becomes),
		.number = type->number };
	return retext_all(s, type, &x, arena, err) && become(s, type, &def, err);
}

bool
sql_give_type(struct sql_session *s, const struct ast_stmt *ast, struct nam_arena *arena, struct cat_err *err)
{
	const struct cat_table *type;
	return find_own(s, ast, &type, err) && sql_give_to(s, type, sql_role_said(s, ast->var), arena, err);
}

/* ---- DROP ----------------------------------------------------------------------------------- */

/* A column of the type, or a view that has one, or a domain over it, goes. */
static bool
drop_user(struct sql_session *s, const struct cat_table *of, unsigned column, const struct sql_sink *sink,
    struct nam_arena *arena, struct cat_err *err)
{
	const char *name = nam_arena_str(arena, of->path, strlen(of->path));
	if (name == NULL)
		return sql_no_memory(err);
	if (of->kind == CAT_DOMAIN) {
		name = cat_local(name);
		const struct ast_stmt drop = {
			.kind = AST_DROP_DOMAIN, .names = &name, .nnames = 1, .cascade = true
		};
		sql_notice(sink, "NOTICE", "00000", "drop cascades to type %s", name);
		return sql_drop_domains(s, &drop, sink, arena, err);
	}
	if (of->kind == CAT_VIEW) {
		const struct ast_stmt drop = {
			.kind = AST_DROP_VIEW, .names = &name, .nnames = 1, .cascade = true
		};
		sql_notice(sink, "NOTICE", "00000", "drop cascades to view %s", sql_path_shown(name));
		return sql_drop_relations(s, &drop, CAT_VIEW, sink, err);
	}
	const char *gone = nam_arena_str(arena, of->column[column].name, strlen(of->column[column].name));
	struct ast_alter one = { .kind = AST_DROP_COLUMN, .name = gone, .cascade = true };
	const struct ast_stmt alter = {
		.kind = AST_ALTER_TABLE, .table = { .name = name, .path = true }, .alter = &one, .alters = 1
	};
	if (gone == NULL)
		return sql_no_memory(err);
	sql_notice(
	    sink, "NOTICE", "00000", "drop cascades to column %s of table %s", gone, sql_path_shown(name));
	return sql_alter_table(s, &alter, sink, arena, err);
}

/* One line for each thing that uses the type. */
static void
say_users(
    const struct cat_table *type, const struct cat_table *const *list, unsigned n, char *out, size_t max)
{
	const char *what, *name;
	char quoted[SQL_TYPE_SAID];
	const char *said = sql_type_word(type, quoted);
	size_t at = 0;
	for (unsigned k = 0; k < 2 * n; k++) { /* tables first */
		const struct cat_table *of = list[k % n];
		if ((of->kind == CAT_VIEW) != (k >= n))
			continue;
		for (unsigned c = 0; of->kind == CAT_TABLE && c < of->columns; c++)
			if (cat_type_id(of->column[c].type) == type->number && at < max)
				at += (size_t)snprintf(out + at, max - at,
				    "%scolumn %s of table %s depends on type %s", at > 0 ? "\n" : "",
				    of->column[c].name, sql_path_shown(of->path),
				    cat_type_name(of->column[c].type));
		bool has = column_of(of, type) < of->columns;
		if (at >= max || (has && of->kind == CAT_TABLE) || !uses(of, type))
			continue;
		if (of->kind != CAT_TABLE)
			at += (size_t)snprintf(out + at, max - at, "%s%s %s depends on type %s",
			    at > 0 ? "\n" : "", sql_kind_name(of), sql_path_shown(of->path), said);
		else if (sql_any_text(of, sql_text_casts, said, &what, &name))
			at += (size_t)snprintf(out + at, max - at, "%s%s %s %s table %s depends on type %s",
			    at > 0 ? "\n" : "", what, name, what[0] == 'c' ? "on" : "of",
			    sql_path_shown(of->path), said);
	}
}

static bool
in_the_way(const struct cat_table *type, const struct cat_table *const *list, unsigned n, struct cat_err *err)
{
	char said[SQL_TYPE_SAID];
	cat_error(err, "2BP01", "cannot drop type %s because other objects depend on it",
	    sql_type_word(type, said));
	say_users(type, list, n, err->detail, sizeof err->detail);
	snprintf(err->hint, sizeof err->hint, "Use DROP ... CASCADE to drop the dependent objects too.");
	return false;
}

/* Nothing uses the type any more, or it is an error. */
static bool
free_of_users(struct sql_session *s, const struct cat_table *type, bool cascade, const struct sql_sink *sink,
    struct nam_arena *arena, struct cat_err *err)
{
	for (;;) {
		const struct cat_table **list, *found = NULL;
		unsigned n;
		nam_status st = cat_list_owned(s->cfg.cat, s->t, &list, &n, arena);
		if (st != NAM_OK)
			return sql_status(err, st, NULL);
		/* columns of tables first: views that read them go with them */
		for (unsigned i = 0; i < n && found == NULL; i++)
			if (list[i]->kind == CAT_TABLE && column_of(list[i], type) < list[i]->columns)
				found = list[i];
		for (unsigned i = 0; i < n && found == NULL; i++)
			if (uses(list[i], type))
				found = list[i];
		if (found == NULL)
			return true;
		unsigned column = column_of(found, type);
		if (!cascade)
			return in_the_way(type, list, n, err);
		if (found->kind != CAT_VIEW && column == found->columns)
			return cat_error(err, "0A000",
			    "DROP TYPE ... CASCADE of a type that %s \"%s\" uses in a rule is not "
			    "supported yet",
			    sql_kind_name(found), cat_local(found->path));
		if (!drop_user(s, found, column, sink, arena, err))
			return false;
	}
}

static bool
drop_one(struct sql_session *s, const char *name, const struct ast_stmt *ast, const struct sql_sink *sink,
    struct nam_arena *arena, struct cat_err *err)
{
	const struct cat_table *type, *relation;
	char path[CAT_PATH_MAX + 1];
	cat_path(CAT_PUBLIC_SCHEMA, name, path);
	nam_status st = cat_name_taken(s->cfg.cat, s->t, path, &type);
	relation = type != NULL && !cat_kind_is_type(type->kind) ? type : NULL;
	if (st != NAM_OK)
		return sql_status(err, st, NULL);
	if (relation != NULL && (relation->kind == CAT_TABLE || relation->kind == CAT_VIEW)) {
		cat_error(err, "2BP01", "cannot drop type %s because %s %s requires it", name,
		    sql_kind_name(relation), name);
		snprintf(err->hint, sizeof err->hint, "You can drop %s %s instead.", sql_kind_name(relation),
		    name);
		return false;
	}
	if (type == NULL || relation != NULL) {
		if (!ast->if_exists)
			return cat_error(err, "42704", "type \"%s\" does not exist", name);
		sql_notice(sink, "NOTICE", "00000", "type \"%s\" does not exist, skipping", name);
		return true;
	}
	if (!sql_must_own(s, type, err))
		return false;
	if (!hold(s, &type, err) || !free_of_users(s, type, ast->cascade, sink, arena, err))
		return false;
	st = cat_drop(s->cfg.cat, s->t, type);
	if (st == NAM_ABSENT)
		return cat_error(err, "42704", "type \"%s\" does not exist", name);
	return st == NAM_OK || sql_status(err, st, NULL);
}

bool
sql_drop_types(struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink,
    struct nam_arena *arena, struct cat_err *err)
{
	bool domains = false;
	for (unsigned i = 0; i < ast->nnames; i++) {
		const struct cat_table *type;
		char path[CAT_PATH_MAX + 1];
		cat_path(CAT_PUBLIC_SCHEMA, ast->names[i], path);
		nam_status st = cat_type_named(s->cfg.cat, s->t, path, &type);
		if (st != NAM_OK)
			return sql_status(err, st, NULL);
		domains |= type != NULL && type->kind == CAT_DOMAIN;
	}
	if (domains && ast->nnames > 1)
		return cat_error(err, "0A000", "DROP TYPE of a domain among others is not supported yet");
	if (domains)
		return sql_drop_domains(s, ast, sink, arena, err);
	for (unsigned i = 0; i < ast->nnames; i++)
		if (!drop_one(s, ast->names[i], ast, sink, arena, err))
			return false;
	return true;
}
