/*
 * schema.c -- CREATE SCHEMA and DROP SCHEMA.
 *
 * Each transaction that makes a relation in a schema holds the schema, and so does DROP SCHEMA. So
 * what DROP SCHEMA then sees in the schema is all there will ever be in it.
 */
#include <sql/command/grant.h>
#include <sql/common/error.h>

#include <stdio.h>

#define DATABASE "namdb"

static bool
is_reserved(const char *name)
{
	return strncmp(name, "pg_", 3) == 0;
}

static bool
is_of_system(const char *name)
{
	return strcmp(name, "pg_catalog") == 0 || strcmp(name, "information_schema") == 0;
}

bool
sql_schema_held(struct sql_session *s, const struct cat_table **schema, struct cat_err *err)
{
	char name[CAT_NAME_MAX + 1];
	cat_schema_of((*schema)->path, name);
	s->ddl = true;
	nam_status st = cat_schema_hold(s->cfg.cat, s->t, *schema);
	if (st == NAM_OK && s->iso == TXN_READ_COMMITTED)
		st = txn_statement(s->t);
	if (st == NAM_OK)
		st = cat_schema_find(s->cfg.cat, s->t, name, schema);
	if (st == NAM_ABSENT || (st == NAM_OK && *schema == NULL))
		return cat_error(err, "3F000", "schema \"%.63s\" does not exist", name);
	return st == NAM_OK || sql_status(err, st, NULL);
}

bool
sql_create_schema(struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink,
    struct nam_arena *arena, struct cat_err *err)
{
	const char *owner = ast->owned_by ? sql_role_said(s, ast->var) : sql_who(s)->name;
	const char *name = ast->nnames > 0 ? ast->names[0] : owner;
	struct cat_column none[1] = { 0 };
	struct cat_table def = { .kind = CAT_SCHEMA, .column = none };
	const struct cat_table *there;
	bool yes;
	if (!sql_who(s)->super)
		return cat_error(err, "42501", "permission denied for database %s", DATABASE);
	if (!sql_role_held(s, owner, arena, err) ||
	    (ast->owned_by && !sql_is_member(s->cfg.cat, s->t, sql_who(s), owner, &yes, err)))
		return false;
	if (strlen(name) > CAT_NAME_MAX)
		return cat_error(err, "42622", "identifier \"%.80s\" is too long", name);
	if (is_reserved(name)) {
		cat_error(err, "42939", "unacceptable schema name \"%s\"", name);
		snprintf(
		    err->detail, sizeof err->detail, "The prefix \"pg_\" is reserved for system schemas.");
		return false;
	}
	if (name[0] == 0 || strchr(name, '.') != NULL)
		return cat_error(err, "0A000", "schema names with a dot are not supported yet");
	nam_status st = cat_schema_find(s->cfg.cat, s->t, name, &there);
	if (st != NAM_OK)
		return sql_status(err, st, NULL);
	bool taken = there != NULL || strcmp(name, CAT_PUBLIC_SCHEMA) == 0 || is_of_system(name);
	if (taken && ast->if_exists) {
		sql_notice(sink, "NOTICE", "42P06", "schema \"%s\" already exists, skipping", name);
		return true;
	}
	if (taken)
		return cat_error(err, "42P06", "schema \"%s\" already exists", name);
	cat_path(name, "", def.path);
	snprintf(def.owner, sizeof def.owner, "%s", owner);
	s->ddl = true;
	st = cat_create(s->cfg.cat, s->t, &def);
	if (st == NAM_DUPLICATE)
		return cat_error(err, "42P06", "schema \"%s\" already exists", name);
	return st == NAM_OK || sql_status(err, st, NULL);
}

/* ---- DROP ------------------------------------------------------------------------------- */

/* What is in a schema: views first, then tables and sequences. */
struct content {
	const struct cat_table **list;
	unsigned n;
};

static bool
content_of(
    struct sql_session *s, const char *name, struct content *c, struct nam_arena *a, struct cat_err *err)
{
	static const enum cat_kind order[] = { CAT_VIEW, CAT_TABLE, CAT_SEQUENCE };
	const struct cat_table **list;
	unsigned n;
	nam_status st = cat_list(s->cfg.cat, s->t, &list, &n, a);
	if (st != NAM_OK)
		return sql_status(err, st, NULL);
	*c = (struct content){ .list = nam_arena_take(a, (n + 1u) * sizeof *c->list) };
	if (c->list == NULL)
		return sql_no_memory(err);
	for (unsigned pass = 0; pass < sizeof order / sizeof *order; pass++)
		for (unsigned i = 0; i < n; i++) {
			char its[CAT_NAME_MAX + 1];
			cat_schema_of(list[i]->path, its);
			if (list[i]->kind == order[pass] && strcmp(its, name) == 0)
				c->list[c->n++] = list[i];
		}
	return true;
}

/* True for a sequence that goes with a table's column. */
static bool
is_part(const struct cat_table *tab)
{
	return tab->kind == CAT_SEQUENCE && tab->seq.owner != 0;
}

/* A line for each object that goes with no other one, with words around its name. How many there
 * are. */
static unsigned
describe(const struct content *c, const char *before, const char *behind, char *out, size_t max)
{
	unsigned n = 0, others = 0;
	size_t at = 0;
	for (unsigned i = 0; i < c->n; i++) {
		const char *name = sql_path_shown(c->list[i]->path), *kind = sql_kind_name(c->list[i]);
		if (is_part(c->list[i]))
			continue;
		n++;
		if (at + strlen(before) + strlen(behind) + strlen(name) + 48 < max)
			at += (size_t)snprintf(out + at, max - at, "%s%s%s %s%s", at > 0 ? "\n" : "", before,
			    kind, name, behind);
		else
			others++;
	}
	if (others > 0)
		snprintf(out + at, max - at, "\nand %u other object%s", others, others > 1 ? "s" : "");
	return n;
}

static bool
refuse(const char *name, const struct content *c, bool several, struct cat_err *err)
{
	char behind[CAT_NAME_MAX + 32];
	snprintf(behind, sizeof behind, " depends on schema %s", name);
	if (several)
		cat_error(err, "2BP01", "cannot drop desired object(s) because other objects depend on them");
	else
		cat_error(err, "2BP01", "cannot drop schema %s because other objects depend on it", name);
	describe(c, "", behind, err->detail, sizeof err->detail);
	snprintf(err->hint, sizeof err->hint, "Use DROP ... CASCADE to drop the dependent objects too.");
	return false;
}

/* One NOTICE for all that goes with it. */
static void
notice(const struct content *c, const struct sql_sink *sink)
{
	struct cat_err text = { 0 };
	unsigned n = describe(c, "", "", text.detail, sizeof text.detail);
	if (n == 1)
		sql_notice(sink, "NOTICE", "00000", "drop cascades to %s", text.detail);
	else if (n > 1)
		sql_notice(sink, "NOTICE", "00000", "drop cascades to %u other objects", n);
}

static bool
drop_kind(struct sql_session *s, const struct content *c, enum cat_kind kind, const struct sql_sink *sink,
    struct nam_arena *a, struct cat_err *err)
{
	struct ast_stmt drop = { .if_exists = true, .cascade = true, .whoever = true };
	struct sql_sink quiet = *sink;
	quiet.notice = NULL;
	if ((drop.names = nam_arena_take(a, (c->n + 1u) * sizeof *drop.names)) == NULL)
		return sql_no_memory(err);
	for (unsigned i = 0; i < c->n; i++)
		if (c->list[i]->kind == kind && !is_part(c->list[i]))
			drop.names[drop.nnames++] =
			    nam_arena_str(a, c->list[i]->path, strlen(c->list[i]->path));
	if (drop.nnames == 0)
		return true;
	return kind == CAT_SEQUENCE ? sql_drop_sequence(s, &drop, &quiet, err)
				    : sql_drop_relations(s, &drop, kind, &quiet, err);
}

bool
sql_schema_wipe(struct sql_session *s, const struct cat_table *schema, const struct ast_stmt *ast,
    const struct sql_sink *sink, struct nam_arena *a, struct cat_err *err)
{
	struct content c;
	char name[CAT_NAME_MAX + 1];
	cat_schema_of(schema->path, name);
	if (!sql_schema_held(s, &schema, err) || !content_of(s, name, &c, a, err))
		return false;
	if (c.n > 0 && !ast->cascade)
		return refuse(name, &c, ast->nnames > 1, err);
	notice(&c, sink);
	if (!drop_kind(s, &c, CAT_VIEW, sink, a, err) || !drop_kind(s, &c, CAT_TABLE, sink, a, err) ||
	    !drop_kind(s, &c, CAT_SEQUENCE, sink, a, err))
		return false;
	/* Dropping tables may have moved the snapshot, and the schema's struct with it. */
	nam_status st = cat_schema_find(s->cfg.cat, s->t, name, &schema);
	if (st == NAM_OK)
		st = schema ? cat_drop(s->cfg.cat, s->t, schema) : NAM_CONFLICT;
	if (st == NAM_ABSENT)
		st = NAM_CONFLICT;
	return st == NAM_OK || sql_status(err, st, NULL);
}

static bool
drop_one(struct sql_session *s, const struct ast_stmt *ast, const char *name, const struct sql_sink *sink,
    struct nam_arena *a, struct cat_err *err)
{
	const struct sql_looking look = sql_looking(s);
	const struct cat_table *schema;
	if (is_of_system(name))
		return cat_error(err, "2BP01",
		    "cannot drop schema %s because it is required by the database system", name);
	if (strcmp(name, CAT_PUBLIC_SCHEMA) == 0)
		return cat_error(err, "0A000", "dropping schema public is not supported");
	if (!sql_schema_find(&look, name, &schema, ast->if_exists, err))
		return false;
	if (schema == NULL) {
		sql_notice(sink, "NOTICE", "00000", "schema \"%s\" does not exist, skipping", name);
		return true;
	}
	if (!ast->whoever && !sql_must_own(s, schema, err))
		return false;
	return sql_schema_wipe(s, schema, ast, sink, a, err);
}

bool
sql_drop_schema(struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink,
    struct nam_arena *arena, struct cat_err *err)
{
	for (unsigned i = 0; i < ast->nnames; i++)
		if (!drop_one(s, ast, ast->names[i], sink, arena, err))
			return false;
	return true;
}
