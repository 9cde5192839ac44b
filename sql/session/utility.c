/* utility.c -- statements without a plan: CREATE, DROP, COPY, EXPLAIN, SET, SHOW. */
#include <base/clock.h>
#include <base/number.h>
#include <catalog/pages.h>
#include <sql/common/guess_relation.h>
#include <sql/compat/postgres.h>
#include <sql/session/session_internal.h>

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

/* ---- answers of one text column ------------------------------------------------------- */

bool
sql_text_rows(const struct sql_sink *sink, const char *name, const struct cat_str *line, unsigned n,
    struct nam_arena *arena, struct cat_err *err)
{
	struct sql_column col = { .type = CAT_TEXT, .typmod = -1 };
	struct cat_vec v;
	snprintf(col.name, sizeof col.name, "%s", name);
	if (!cat_vec_take(&v, CAT_TEXT, n, arena))
		return sql_no_memory(err);
	for (unsigned k = 0; k < n; k++) {
		v.null[k] = 0;
		v.s[k] = line[k];
	}
	struct sql_batch_view b = { .col = &v, .cols = 1, .n = n };
	if ((sink->begin == NULL || sink->begin(sink->arg, &col, 1)) &&
	    (sink->rows == NULL || sink->rows(sink->arg, &b)))
		return true;
	return cat_error(err, "57014", "canceling statement due to user request");
}

static bool
names_column(const struct cat_table *tab, const char *name, struct cat_err *err)
{
	for (unsigned k = 0; k < tab->columns; k++)
		if (strcmp(tab->column[k].name, name) == 0)
			return true;
	cat_error(
	    err, "42703", "column \"%s\" of relation \"%s\" does not exist", name, cat_local(tab->path));
	sql_guess_in_table(tab, name, err);
	return false;
}

/* The columns that a COPY names: in its list, and in FORCE_...; the latter must also be in the
 * list. */
static bool
copy_columns(const struct cat_table *tab, const struct ast_stmt *ast, struct cat_err *err)
{
	const struct ast_copy *k = &ast->copy;
	const struct {
		const struct ast_force *f;
		const char *name;
	} force[] = { { &k->force_quote, "FORCE_QUOTE" }, { &k->force_not_null, "FORCE_NOT_NULL" },
		{ &k->force_null, "FORCE_NULL" } };
	for (unsigned i = 0; i < ast->nnames; i++) {
		if (!names_column(tab, ast->names[i], err))
			return false;
		for (unsigned j = 0; j < i; j++)
			if (strcmp(ast->names[j], ast->names[i]) == 0)
				return cat_error(
				    err, "42701", "column \"%s\" specified more than once", ast->names[i]);
	}
	for (unsigned f = 0; f < sizeof force / sizeof *force; f++)
		for (unsigned i = 0; i < force[f].f->names; i++) {
			const char *name = force[f].f->name[i];
			bool in = ast->nnames == 0;
			if (!names_column(tab, name, err))
				return false;
			for (unsigned j = 0; j < ast->nnames; j++)
				in |= strcmp(ast->names[j], name) == 0;
			if (!in)
				return cat_error(err, "42P10", "%s column \"%s\" not referenced by COPY",
				    force[f].name, name);
		}
	return true;
}

static bool
copy(struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink, uint64_t *rows,
    struct cat_err *err)
{
	const struct cat_table *tab;
	if (ast->copy.file != NULL && s->cfg.no_files) {
		cat_error(err, "42501", "permission denied to COPY %s a file", ast->copy.to ? "to" : "from");
		snprintf(err->hint, sizeof err->hint,
		    "COPY to STDOUT or from STDIN. psql's \\copy command also works.");
		return false;
	}
	if (ast->copy.to && ast->table.name == NULL)
		return sql_copy_to(s, ast, sink, rows, err);
	nam_status st = cat_find(s->cfg.cat, s->t, ast->table.name, &tab);
	if (st != NAM_OK)
		return sql_status(err, st, NULL);
	if (tab == NULL) {
		cat_error(err, "42P01", "relation \"%s\" does not exist", sql_path_shown(ast->table.name));
		sql_guess_relation(s->cfg.cat, s->t, ast->table.name, sql_arena(s, 1), err);
		return false;
	}
	if (!copy_columns(tab, ast, err))
		return false;
	if (ast->copy.to)
		return sql_copy_to(s, ast, sink, rows, err);
	if (tab->kind != CAT_TABLE)
		return cat_error(err, "42809", "cannot copy to %s \"%s\"",
		    tab->kind == CAT_VIEW ? "view" : "sequence", cat_local(tab->path));
	if (tab->system)
		return cat_error(err, "42501", "permission denied for table %s", cat_local(tab->path));
	if (!sql_must_have(s, tab, CAT_MAY_INSERT, err))
		return false;
	struct sql_bind_in in = { .cat = s->cfg.cat, .t = s->t, .parser = s->cfg.parser };
	struct sql_plan *rules = sql_plan_rules(tab, &in, err);
	if (rules == NULL)
		return false;
	if (rules->uses_now)
		sql_now_us(s);
	sql_prepare_exec(s, sink, err);
	s->x.rules = rules->rules;
	bool ok = sql_copy(&s->x, ast, tab, rows);
	if (ok && *rows >= SQL_MANY)
		cat_rows_moved(s->cfg.cat, tab, (int64_t)*rows);
	sql_plan_free(rules);
	return ok;
}

/* Tables named so far; of CASCADE also those that refer to one of them. */
struct emptied {
	const char **name;
	int *at;
	unsigned n;
};

static bool
is_named(const struct emptied *e, unsigned n, const char *name)
{
	for (unsigned i = 0; i < n; i++)
		if (strcmp(e->name[i], name) == 0)
			return true;
	return false;
}

static bool
add_referrers(struct sql_session *s, struct emptied *e, const struct sql_sink *sink, struct cat_err *err)
{
	const struct cat_table *tab, **list;
	struct nam_arena *arena = sql_arena(s, 3);
	unsigned all;
	nam_status st = arena ? cat_list(s->cfg.cat, s->t, &list, &all, arena) : NAM_NOMEM;
	if (st != NAM_OK)
		return sql_status(err, st, NULL);
	const char **name = nam_arena_zero(arena, (e->n + all) * sizeof *name);
	int *at = nam_arena_zero(arena, (e->n + all) * sizeof *at);
	if (name == NULL || at == NULL)
		return sql_no_memory(err);
	memcpy(name, e->name, e->n * sizeof *name);
	memcpy(at, e->at, e->n * sizeof *at);
	e->name = name;
	e->at = at;
	for (unsigned i = 0; i < e->n; i++) {
		if ((st = cat_find(s->cfg.cat, s->t, e->name[i], &tab)) != NAM_OK)
			return sql_status(err, st, NULL);
		for (unsigned k = 0; tab != NULL && k < tab->referrers; k++) {
			if (is_named(e, e->n, tab->referrer[k].table))
				continue;
			sql_notice(sink, "NOTICE", "00000", "truncate cascades to table \"%s\"",
			    cat_local(tab->referrer[k].table));
			e->name[e->n++] = tab->referrer[k].table;
		}
	}
	return true;
}

/*
 * Each of several tables once. Below a savepoint rows go one by one (stmt.c), which needs a plan
 * for each.
 */
static bool
truncate_all(
    struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink, struct cat_err *err)
{
	struct emptied e = { ast->names, ast->name_at, ast->nnames };
	if (s->saves > 0)
		return cat_error(
		    err, "0A000", "TRUNCATE of several tables below a savepoint is not supported yet");
	if (ast->cascade && !add_referrers(s, &e, sink, err))
		return false;
	for (unsigned i = 0; i < e.n; i++) {
		const struct cat_table *tab;
		if (is_named(&e, i, e.name[i]))
			continue;
		nam_status st = cat_find(s->cfg.cat, s->t, e.name[i], &tab);
		if (st != NAM_OK)
			return sql_status(err, st, NULL);
		if (tab == NULL || tab->kind != CAT_TABLE) {
			cat_error(err, tab ? "42809" : "42P01",
			    tab ? "\"%s\" is not a table" : "relation \"%s\" does not exist",
			    tab ? cat_local(e.name[i]) : sql_path_shown(e.name[i]));
			err->position = e.at[i];
			return false;
		}
		if (tab->system)
			return cat_error(
			    err, "42501", "permission denied for table %s", cat_local(tab->path));
		if (!sql_must_have(s, tab, CAT_MAY_TRUNCATE, err))
			return false;
		st = cat_hold_to_end(s->cfg.cat, s->t, tab);
		if (st != NAM_OK)
			return sql_status(err, st, tab);
		if (!sql_foreign_may_truncate(tab, e.name, e.n, err))
			return false;
		nam_arena_reset(s->arena[0]);
		if (!sql_truncate(s, tab, s->arena[0], err))
			return false;
	}
	return true;
}

/* Comments have no reader, so none is kept. */
static bool
comment(struct sql_session *s, const struct ast_stmt *ast, struct cat_err *err)
{
	const struct cat_table *tab;
	bool type = strcmp(ast->var, "type") == 0;
	char path[CAT_PATH_MAX + 1];
	if (type)
		cat_path(CAT_PUBLIC_SCHEMA, ast->names[0], path);
	nam_status st = type ? cat_type_named(s->cfg.cat, s->t, path, &tab)
			     : cat_find(s->cfg.cat, s->t, ast->names[0], &tab);
	if (st != NAM_OK)
		return sql_status(err, st, NULL);
	if (tab == NULL && type)
		return cat_error(err, "42704", "type \"%s\" does not exist", ast->names[0]);
	if (tab == NULL)
		return cat_error(
		    err, "42P01", "relation \"%s\" does not exist", sql_path_shown(ast->names[0]));
	if (type)
		return sql_must_own(s, tab, err);
	if (!sql_must_own(s, tab, err))
		return false;
	if (strcmp(ast->var, "column") == 0)
		return names_column(tab, ast->names[1], err);
	const char *is = tab->kind == CAT_VIEW ? "view" : tab->kind == CAT_SEQUENCE ? "sequence" : "table";
	return strcmp(is, ast->var) == 0 ||
	       cat_error(err, "42809", "\"%s\" is not a %s", cat_local(ast->names[0]), ast->var);
}

static bool
domain(struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink, char *tag, size_t max,
    struct cat_err *err)
{
	snprintf(tag, max, "%s DOMAIN",
	    ast->kind == AST_CREATE_DOMAIN  ? "CREATE"
	    : ast->kind == AST_ALTER_DOMAIN ? "ALTER"
					    : "DROP");
	return ast->kind == AST_CREATE_DOMAIN  ? sql_create_domain(s, ast, s->arena[0], err)
	       : ast->kind == AST_ALTER_DOMAIN ? sql_alter_domain(s, ast, sink, s->arena[0], err)
					       : sql_drop_domains(s, ast, sink, s->arena[0], err);
}

static bool
empty_arenas(struct sql_session *s)
{
	for (unsigned i = 0; i < 4; i++) {
		struct nam_arena *a = sql_arena(s, i);
		if (a == NULL)
			return false;
		nam_arena_reset(a);
	}
	return true;
}

/* Roles, their rights, and what they own. */
static bool
of_roles(struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink, char *tag,
    size_t max, struct cat_err *err)
{
	switch (ast->kind) {
	case AST_CREATE_ROLE:
	case AST_ALTER_ROLE:
	case AST_DROP_ROLE:
		snprintf(tag, max,
		    ast->kind == AST_CREATE_ROLE  ? "CREATE ROLE"
		    : ast->kind == AST_ALTER_ROLE ? "ALTER ROLE"
						  : "DROP ROLE");
		return sql_role(s, ast, sink, s->arena[0], err);
	case AST_GRANT:
	case AST_GRANT_ROLE:
		snprintf(tag, max, "%s%s", ast->grant.revoke ? "REVOKE" : "GRANT",
		    ast->kind == AST_GRANT_ROLE ? " ROLE" : "");
		return sql_grant(s, ast, sink, s->arena[0], err);
	case AST_OWNER:
		snprintf(tag, max, "ALTER %s",
		    ast->owned == AST_OWNED_TYPE       ? "TYPE"
		    : ast->owned == AST_OWNED_VIEW     ? "VIEW"
		    : ast->owned == AST_OWNED_SEQUENCE ? "SEQUENCE"
		    : ast->owned == AST_OWNED_SCHEMA   ? "SCHEMA"
						       : "TABLE");
		return sql_give(s, ast, sink, s->arena[0], err);
	case AST_REASSIGN_OWNED:
		snprintf(tag, max, "REASSIGN OWNED");
		return sql_reassign(s, ast, s->arena[0], err);
	case AST_DROP_OWNED:
		snprintf(tag, max, "DROP OWNED");
		return sql_drop_owned(s, ast, sink, s->arena[0], err);
	case AST_SET_ROLE:
		snprintf(tag, max, "%s", ast->reset ? "RESET" : "SET");
		return sql_set_role(s, ast, sink, err);
	default:
		snprintf(tag, max, "%s", "");
		return true;
	}
}

/* ast's names are paths. */
static bool
utility(struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink, char *tag, size_t max,
    uint64_t *rows, struct cat_err *err)
{
	bool ok;
	if (!empty_arenas(s))
		return sql_no_memory(err);
	switch (ast->kind) {
	case AST_CREATE_TABLE:
		snprintf(tag, max, "CREATE TABLE");
		return sql_create_table(s, ast, sink, s->arena[0], err);
	case AST_CREATE_AS:
		return sql_create_as(s, ast, sink, tag, max, rows, err);
	case AST_DROP_TABLE:
		snprintf(tag, max, "DROP TABLE");
		return sql_drop_relations(s, ast, CAT_TABLE, sink, err);
	case AST_CREATE_INDEX:
		snprintf(tag, max, "CREATE INDEX");
		return sql_create_index(s, ast, sink, err);
	case AST_DROP_INDEX:
		snprintf(tag, max, "DROP INDEX");
		return sql_drop_index(s, ast, sink, err);
	case AST_RENAME_INDEX:
		snprintf(tag, max, "ALTER INDEX");
		return sql_rename_index(s, ast, sink, err);
	case AST_CREATE_SEQUENCE:
		snprintf(tag, max, "CREATE SEQUENCE");
		return sql_create_sequence(s, ast, sink, err);
	case AST_DROP_SEQUENCE:
		snprintf(tag, max, "DROP SEQUENCE");
		return sql_drop_sequence(s, ast, sink, err);
	case AST_CREATE_VIEW:
		snprintf(tag, max, "CREATE VIEW");
		return sql_create_view(s, ast, sink, s->arena[0], err);
	case AST_DROP_VIEW:
		snprintf(tag, max, "DROP VIEW");
		return sql_drop_relations(s, ast, CAT_VIEW, sink, err);
	case AST_ALTER_TABLE:
		snprintf(tag, max, "ALTER %s",
		    ast->alters != 1                                ? "TABLE"
		    : ast->alter[0].renames == AST_RENAMES_VIEW     ? "VIEW"
		    : ast->alter[0].renames == AST_RENAMES_SEQUENCE ? "SEQUENCE"
								    : "TABLE");
		return sql_alter_table(s, ast, sink, s->arena[0], err);
	case AST_CREATE_DOMAIN:
	case AST_ALTER_DOMAIN:
	case AST_DROP_DOMAIN:
		return domain(s, ast, sink, tag, max, err);
	case AST_ANALYZE:
		snprintf(tag, max, ast->vacuum ? "VACUUM" : "ANALYZE");
		return sql_analyze(s, ast, sink, err);
	case AST_TRUNCATE_ALL:
		snprintf(tag, max, "TRUNCATE TABLE");
		return truncate_all(s, ast, sink, err);
	case AST_CREATE_ENUM:
		snprintf(tag, max, "CREATE TYPE");
		return sql_create_enum(s, ast, s->arena[0], err);
	case AST_ALTER_ENUM:
		snprintf(tag, max, "ALTER TYPE");
		return sql_alter_enum(s, ast, sink, s->arena[0], err);
	case AST_RENAME_TYPE:
		snprintf(tag, max, "ALTER TYPE");
		return sql_rename_type(s, ast, s->arena[0], err);
	case AST_DROP_TYPE:
		snprintf(tag, max, "DROP TYPE");
		return sql_drop_types(s, ast, sink, s->arena[0], err);
	case AST_CREATE_SCHEMA:
		snprintf(tag, max, "CREATE SCHEMA");
		return sql_create_schema(s, ast, sink, s->arena[0], err);
	case AST_DROP_SCHEMA:
		snprintf(tag, max, "DROP SCHEMA");
		return sql_drop_schema(s, ast, sink, s->arena[0], err);
	case AST_COMMENT:
		snprintf(tag, max, "COMMENT");
		return comment(s, ast, err);
	case AST_COPY:
		ok = copy(s, ast, sink, rows, err);
		snprintf(tag, max, "COPY %llu", (unsigned long long)*rows);
		return ok;
	default:
		return of_roles(s, ast, sink, tag, max, err);
	}
}

bool
sql_utility(struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink, char *tag,
    size_t max, uint64_t *rows, struct cat_err *err)
{
	struct nam_arena names;
	struct ast_stmt resolved;
	for (unsigned i = 0; i < 4; i++) {
		struct nam_arena *a = sql_arena(s, i);
		if (a == NULL)
			return sql_no_memory(err);
		nam_arena_reset(a);
	}
	nam_arena_init(&names, 0);
	bool ok = sql_resolve(s, ast, sink, &resolved, &names, err) &&
		  utility(s, &resolved, sink, tag, max, rows, err);
	nam_arena_fini(&names);
	return ok;
}

enum { PARALLEL_ROWS = 20000 };

/* ---- settings --------------------------------------------------------------------------- */

void
sql_settings_init(struct sql_settings *set)
{
	*set = (struct sql_settings){ .iso = TXN_READ_COMMITTED,
		.memory_kb = 4u << 20,
		.parallel = 0,
		.parallel_rows = PARALLEL_ROWS,
		.help = SQL_HELP_ON };
	strcpy(set->client_min_messages, "notice");
	strcpy(set->search_path, "\"$user\", public");
	sql_cost_settings_init(set);
	sql_kept_init(set->kept);
}

void
sql_settings_begin(struct sql_session *s)
{
	sql_settings_init(&s->start);
	s->start.log_slow = s->cfg.log_slow;
	s->start.log_slow_ms = s->cfg.log_slow_ms;
	sql_settings_reset(s);
}

void
sql_settings_reset(struct sql_session *s)
{
	s->session = s->start;
	s->now = s->session;
}

static const char *const iso_name[] = { "read committed", "repeatable read", "serializable" };

static bool
parse_ms(const char *name, const char *v, uint32_t *out, struct cat_err *err)
{
	char *end;
	double x = strtod(v, &end);
	while (*end == ' ')
		end++;
	double unit = *end == 0 || strcmp(end, "ms") == 0 ? 1
		      : strcmp(end, "us") == 0            ? 0.001
		      : strcmp(end, "s") == 0             ? 1000
		      : strcmp(end, "min") == 0           ? 60000
		      : strcmp(end, "h") == 0             ? 3600000
		      : strcmp(end, "d") == 0             ? 86400000
							  : 0;
	if (end == v || unit == 0)
		return cat_error(err, "22023", "invalid value for parameter \"%s\": \"%.100s\"", name, v);
	x *= unit;
	if (!(x >= 0 && x <= 2147483647))
		return cat_error(err, "22023",
		    "%.100s is outside the valid range for parameter \"%s\" (0 .. 2147483647)", v, name);
	*out = (uint32_t)(x + 0.5);
	return true;
}

static bool
invalid(const char *name, const char *v, struct cat_err *err)
{
	return cat_error(err, "22023", "invalid value for parameter \"%s\": \"%.100s\"", name, v);
}

static bool
unknown(const char *name, struct cat_err *err)
{
	char low[64];
	size_t n = 0;
	for (; name[n] && n + 1 < sizeof low; n++)
		low[n] = (char)tolower((unsigned char)name[n]);
	low[n] = 0;
	if (sql_postgres_has(sql_postgres_settings, low))
		return cat_error(err, "0A000", "parameter %s is not supported yet", low);
	return cat_error(err, "42704", "unrecognized configuration parameter \"%.63s\"", name);
}

static bool
path(struct sql_settings *set, const char *v, struct cat_err *err)
{
	if (!sql_search_ok(v)) {
		cat_error(err, "22023", "invalid value for parameter \"search_path\": \"%.100s\"", v);
		snprintf(err->detail, sizeof err->detail, "List syntax is invalid.");
		return false;
	}
	if (strlen(v) >= sizeof set->search_path)
		return cat_error(err, "0A000", "a search_path of more than %zu bytes is not supported yet",
		    sizeof set->search_path - 1);
	strcpy(set->search_path, v);
	return true;
}

static bool
log_slow(struct sql_session *s, struct sql_settings *set, const char *v, struct cat_err *err)
{
	static const char name[] = "log_min_duration_statement";
	if (!sql_who(s)->super)
		return cat_error(err, "42501", "permission denied to set parameter \"%s\"", name);
	set->log_slow = v != NULL ? strcmp(v, "-1") != 0 : s->cfg.log_slow;
	if (v == NULL)
		set->log_slow_ms = s->cfg.log_slow_ms;
	return v == NULL || !set->log_slow || parse_ms(name, v, &set->log_slow_ms, err);
}

/* Further settings. *known: true if it is one of them. */
static bool
assign_more(struct sql_session *s, struct sql_settings *set, const char *name, const char *v, bool *known,
    struct cat_err *err)
{
	struct sql_settings fresh;
	sql_settings_init(&fresh);
	bool dro = strcasecmp(name, "default_transaction_read_only") == 0;
	if (dro || strcasecmp(name, "transaction_read_only") == 0) {
		bool on = false;
		if (v != NULL && !sql_parse_switch(v, &on))
			return cat_error(err, "22023", "parameter \"%s\" requires a Boolean value", name);
		if (dro)
			set->read_only = on;
		else if (!on && s->read_only && s->block != SQL_IDLE && s->t != NULL)
			return cat_error(
			    err, "25001", "transaction read-write mode must be set before any query");
		else
			s->read_only = on;
		return true;
	}
	if (strcasecmp(name, "log_min_duration_statement") == 0)
		return log_slow(s, set, v, err);
	if (strcasecmp(name, "search_path") == 0)
		return path(set, v ? v : fresh.search_path, err);
	if (strcasecmp(name, "role") == 0 || strcasecmp(name, "session_authorization") == 0) {
		if (v == NULL || (strcasecmp(name, "role") == 0 && strcasecmp(v, "none") == 0))
			return true;
		return cat_error(err, "0A000", "%s can only be set by a statement, SET %s", name,
		    strcasecmp(name, "role") == 0 ? "ROLE" : "SESSION AUTHORIZATION");
	}
	if (strcasecmp(name, "application_name") == 0) {
		snprintf(set->application_name, sizeof set->application_name, "%.63s", v ? v : "");
		return true;
	}
	if (strcasecmp(name, "client_min_messages") == 0) {
		snprintf(set->client_min_messages, sizeof set->client_min_messages, "%.15s",
		    v ? v : fresh.client_min_messages);
		return true;
	}
	*known = false;
	return true;
}

/* The setting of that name, if it is a limit on time, in milliseconds; NULL = it is not. */
static uint32_t *
time_limit(struct sql_settings *set, const char *name)
{
	if (strcasecmp(name, "lock_timeout") == 0)
		return &set->lock_timeout_ms;
	if (strcasecmp(name, "statement_timeout") == 0)
		return &set->statement_timeout_ms;
	if (strcasecmp(name, "idle_session_timeout") == 0)
		return &set->idle_timeout_ms;
	if (strcasecmp(name, "idle_in_transaction_session_timeout") == 0)
		return &set->idle_block_timeout_ms;
	return NULL;
}

/* A setting that has one value only. */
static bool
assign_fixed(const char *name, const char *v, struct cat_err *err)
{
	static const struct {
		const char *name, *value, *also;
	} fixed[] = {
		{ "client_encoding", "unicode", "SQL_ASCII" },
		{ "client_encoding", "UTF8", "utf-8" },
		{ "datestyle", "ISO", "ISO, MDY" },
		{ "timezone", "Etc/UTC", "UCT" },
		{ "timezone", "UTC", "GMT" },
		{ "intervalstyle", "postgres", "postgres" },
		{ "bytea_output", "hex", "hex" },
		{ "default_tablespace", "", "pg_default" },
		{ "default_table_access_method", "heap", "heap" },
		{ "standard_conforming_strings", "on", "true" },
	};
	for (unsigned i = 0; i < sizeof fixed / sizeof *fixed; i++) {
		if (strcasecmp(name, fixed[i].name) != 0)
			continue;
		if (v == NULL || strcasecmp(v, fixed[i].value) == 0 || strcasecmp(v, fixed[i].also) == 0)
			return true;
		if (i + 1 < sizeof fixed / sizeof *fixed && strcmp(fixed[i].name, fixed[i + 1].name) == 0)
			continue;
		return cat_error(
		    err, "0A000", "%s other than %s is not supported yet", fixed[i].name, fixed[i].value);
	}
	return unknown(name, err);
}

/* deflt: the level of later transactions. */
static bool
assign_isolation(struct sql_session *s, struct sql_settings *set, const char *name, const char *v, bool deflt,
    struct cat_err *err)
{
	enum txn_iso iso = TXN_READ_COMMITTED;
	if (v != NULL && strcasecmp(v, iso_name[1]) == 0)
		iso = TXN_REPEATABLE_READ;
	else if (v != NULL && strcasecmp(v, iso_name[2]) == 0)
		iso = TXN_SERIALIZABLE;
	else if (v != NULL && strcasecmp(v, iso_name[0]) != 0 && strcasecmp(v, "read uncommitted") != 0)
		return invalid(name, v, err);
	if (deflt) {
		set->iso = iso;
		return true;
	}
	if (s->t != NULL && iso != s->iso)
		return cat_error(
		    err, "25001", "SET TRANSACTION ISOLATION LEVEL must be called before any query");
	s->iso = iso;
	return true;
}

/* One setting into set. v NULL = its default. */
static bool
assign(struct sql_session *s, struct sql_settings *set, const char *name, const char *v, struct cat_err *err)
{
	struct sql_settings fresh;
	sql_settings_init(&fresh);
	if (strcasecmp(name, "namdb.visibility") == 0) {
		if (v != NULL && strcasecmp(v, "session") != 0 && strcasecmp(v, "cluster") != 0)
			return invalid(name, v, err);
		set->cluster = v != NULL && strcasecmp(v, "cluster") == 0;
		if (s->t != NULL)
			txn_set_cluster_visible(s->t, set->cluster);
		return true;
	}
	bool deflt = strcasecmp(name, "default_transaction_isolation") == 0;
	if (deflt || strcasecmp(name, "transaction_isolation") == 0)
		return assign_isolation(s, set, name, v, deflt, err);
	uint32_t *limit = time_limit(set, name);
	if (limit != NULL)
		return v == NULL ? (*limit = 0, true) : parse_ms(name, v, limit, err);
	if (strcasecmp(name, "namdb.statement_memory") == 0)
		return v == NULL ? (set->memory_kb = fresh.memory_kb, true)
				 : sql_parse_kb("namdb.statement_memory", v, &set->memory_kb, err);
	bool whole = strcasecmp(name, "namdb.process_memory") == 0;
	if ((whole || strcasecmp(name, "namdb.scan_memory") == 0) && !sql_who(s)->super)
		return cat_error(err, "42501", "permission denied to set parameter \"%s\"", name);
	if (whole) {
		uint64_t kb = 0;
		if (v != NULL && !sql_parse_kb("namdb.process_memory", v, &kb, err))
			return false;
		__atomic_store_n(&sql_process_memory.limit, (size_t)kb << 10, __ATOMIC_RELAXED);
		return true;
	}
	if (strcasecmp(name, "namdb.scan_memory") == 0) {
		uint64_t kb = cat_pages_default() >> 10;
		if (v != NULL && !sql_parse_kb("namdb.scan_memory", v, &kb, err))
			return false;
		cat_pages_limit(s->cfg.cat, (size_t)kb << 10);
		return true;
	}
	if (strcasecmp(name, "namdb.join_order") == 0) {
		char *end = "";
		unsigned long n = v != NULL && strcasecmp(v, "cost") != 0 ? strtoul(v, &end, 10) : 0;
		if (*end != 0 || n > UINT32_MAX || (v != NULL && (v[0] == 0 || v[0] == '-')))
			return invalid(name, v, err);
		set->join_order = (uint32_t)n;
		return true;
	}
	if (strcasecmp(name, "namdb.parallel") == 0 || strcasecmp(name, "namdb.parallel_rows") == 0) {
		bool rows = strlen(name) > sizeof "namdb.parallel" - 1;
		uint64_t n = rows ? PARALLEL_ROWS : 1;
		if (v != NULL && !nam_number(v, 0, rows ? UINT32_MAX : 64, &n))
			return invalid(name, v, err);
		if (rows)
			set->parallel_rows = n;
		else
			set->parallel = (uint32_t)n;
		return true;
	}
	if (strcasecmp(name, "namdb.help") == 0) {
		bool on = true;
		if (v != NULL && strcasecmp(v, "wait") == 0) {
			set->help = SQL_HELP_WAIT;
			return true;
		}
		if (v != NULL && !sql_parse_switch(v, &on))
			return invalid(name, v, err);
		set->help = on ? SQL_HELP_ON : SQL_HELP_OFF;
		return true;
	}
	if (strcasecmp(name, "namdb.costs") == 0) {
		if (v != NULL && strcasecmp(v, "measured") != 0 && strcasecmp(v, "standard") != 0)
			return invalid(name, v, err);
		set->standard_costs = v != NULL && strcasecmp(v, "standard") == 0;
		return true;
	}
	if (strcasecmp(name, "namdb.primary_key") == 0) {
		enum ast_key_kind kind = v != NULL ? sql_key_kind(v) : AST_KEY_HASH;
		if (kind == AST_KEY_UNSAID)
			return invalid(name, v, err);
		set->keys_ordered = kind == AST_KEY_ORDERED;
		return true;
	}
	bool known = true, ok;
	if (sql_cost_setting_set(set, name, v, &ok, err) || sql_kept_set(set->kept, name, v, &ok, err)) {
		set->floats = cat_floats(set->kept[SQL_KEPT_FLOATS]);
		return ok;
	}
	ok = assign_more(s, set, name, v, &known, err);
	if (known)
		return ok;
	if (sql_custom_is(name))
		return sql_custom_set(s, set, name, v, err);
	return assign_fixed(name, v, err);
}

/* What RESET gives: the value that the session began with, perhaps in buf; NULL: the default. */
static const char *
start_of(struct sql_session *s, const char *name, char *buf, size_t max)
{
	struct sql_settings boot;
	char other[SQL_KNOWN_TEXT];
	sql_settings_init(&boot);
	const char *start = sql_setting_in(s, &s->start, name, buf, max);
	const char *usual = sql_setting_in(s, &boot, name, other, sizeof other);
	return start != NULL && usual != NULL && strcmp(start, usual) != 0 ? start : NULL;
}

bool
sql_session_set(struct sql_session *s, const char *name, const char *value, struct cat_err *err)
{
	struct sql_settings next = s->now;
	sql_err_clear(err);
	if (!assign(s, &next, name, value, err) || !assign(s, &s->session, name, value, err) ||
	    !assign(s, &s->start, name, value, err))
		return false;
	s->now = next;
	return true;
}

const char *
sql_session_setting(struct sql_session *s, const char *name, char *buf, size_t max)
{
	return sql_setting(s, name, buf, max);
}

bool
sql_set_config(struct sql_session *s, const char *name, const char *value, bool local, struct cat_err *err)
{
	struct sql_settings next = s->now;
	char start[SQL_KNOWN_TEXT];
	if (value == NULL)
		value = start_of(s, name, start, sizeof start);
	if (!assign(s, &next, name, value, err))
		return false;
	if (!local)
		assign(s, &s->session, name, value, err);
	if (!local || s->block != SQL_IDLE)
		s->now = next;
	return true;
}

bool
sql_set(struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink, struct cat_err *err)
{
	sql_custom_tidy(s);
	if (ast->var == NULL) {
		enum txn_iso iso = s->iso;
		const struct sql_who role = s->now.role, session_role = s->now.session_role;
		sql_settings_reset(s);
		s->now.role = s->session.role = role;
		s->now.session_role = s->session.session_role = session_role;
		s->iso = iso;
	} else {
		if (ast->local && s->block == SQL_IDLE)
			sql_notice(
			    sink, "WARNING", "25P01", "SET LOCAL can only be used in transaction blocks");
		struct sql_settings next = s->now;
		char start[SQL_KNOWN_TEXT];
		const char *value =
		    ast->value != NULL ? ast->value : start_of(s, ast->var, start, sizeof start);
		if (!assign(s, &next, ast->var, value, err))
			return false;
		if (!ast->local) {
			assign(s, &s->session, ast->var, value, err);
			s->now = next;
		} else if (s->block != SQL_IDLE) {
			s->now = next;
		}
	}
	if (sink->done == NULL || sink->done(sink->arg, ast->reset ? "RESET" : "SET", 0))
		return true;
	return cat_error(err, "57014", "canceling statement due to user request");
}

const char *
sql_ms_text(uint32_t ms, char *buf, size_t max)
{
	if (ms == 0)
		return "0";
	if (ms % 60000 == 0)
		snprintf(buf, max, "%umin", ms / 60000);
	else if (ms % 1000 == 0)
		snprintf(buf, max, "%us", ms / 1000);
	else
		snprintf(buf, max, "%ums", ms);
	return buf;
}

const char *
sql_setting(struct sql_session *s, const char *name, char *buf, size_t max)
{
	return sql_setting_in(s, &s->now, name, buf, max);
}

const char *
sql_setting_in(struct sql_session *s, const struct sql_settings *set, const char *name, char *buf, size_t max)
{
	if (strcasecmp(name, "namdb.visibility") == 0)
		return set->cluster ? "cluster" : "session";
	if (strcasecmp(name, "default_transaction_isolation") == 0)
		return iso_name[set->iso];
	if (strcasecmp(name, "transaction_isolation") == 0)
		return iso_name[s->block == SQL_IDLE ? set->iso : s->iso];
	if (strcasecmp(name, "namdb.statement_memory") == 0)
		return sql_kb_text(set->memory_kb, buf, max);
	if (strcasecmp(name, "namdb.process_memory") == 0)
		return sql_kb_text(
		    __atomic_load_n(&sql_process_memory.limit, __ATOMIC_RELAXED) >> 10, buf, max);
	if (strcasecmp(name, "namdb.scan_memory") == 0)
		return sql_kb_text(cat_pages_limited(s->cfg.cat) >> 10, buf, max);
	if (strcasecmp(name, "namdb.join_order") == 0) {
		snprintf(buf, max, "%u", set->join_order);
		return set->join_order ? buf : "cost";
	}
	if (strcasecmp(name, "namdb.parallel") == 0 || strcasecmp(name, "namdb.parallel_rows") == 0) {
		bool rows = strlen(name) > sizeof "namdb.parallel" - 1;
		snprintf(buf, max, "%llu", (unsigned long long)(rows ? set->parallel_rows : set->parallel));
		return buf;
	}
	if (strcasecmp(name, "namdb.help") == 0)
		return set->help == SQL_HELP_OFF ? "off" : set->help == SQL_HELP_ON ? "on" : "wait";
	if (strcasecmp(name, "namdb.costs") == 0)
		return set->standard_costs ? "standard" : "measured";
	if (strcasecmp(name, "namdb.primary_key") == 0)
		return set->keys_ordered ? "ordered" : "hash";
	const uint32_t *limit = time_limit((struct sql_settings *)(uintptr_t)set, name);
	if (limit != NULL)
		return sql_ms_text(*limit, buf, max);
	if (strcasecmp(name, "log_min_duration_statement") == 0)
		return set->log_slow ? sql_ms_text(set->log_slow_ms, buf, max) : "-1";
	if (strcasecmp(name, "search_path") == 0)
		return set->search_path;
	if (strcasecmp(name, "role") == 0)
		return set->role.name[0] ? set->role.name : "none";
	if (strcasecmp(name, "session_authorization") == 0)
		return set->session_role.name[0] ? set->session_role.name
		       : s->cfg.user             ? s->cfg.user
						 : "namdb";
	if (strcasecmp(name, "is_superuser") == 0)
		return sql_who(s)->super ? "on" : "off";
	if (strcasecmp(name, "password_encryption") == 0)
		return "scram-sha-256";
	if (strcasecmp(name, "default_transaction_read_only") == 0)
		return set->read_only ? "on" : "off";
	if (strcasecmp(name, "transaction_read_only") == 0)
		return (s->block == SQL_IDLE ? set->read_only : s->read_only) ? "on" : "off";
	if (strcasecmp(name, "application_name") == 0)
		return set->application_name;
	if (strcasecmp(name, "client_min_messages") == 0)
		return set->client_min_messages;
	static const char *const fixed[][2] = { { "client_encoding", "UTF8" }, { "server_encoding", "UTF8" },
		{ "datestyle", "ISO, MDY" }, { "timezone", "UTC" }, { "standard_conforming_strings", "on" },
		{ "integer_datetimes", "on" }, { "intervalstyle", "postgres" }, { "in_hot_standby", "off" },
		{ "server_version", "15.0 (namdb)" }, { "server_version_num", "150000" },
		{ "bytea_output", "hex" }, { "max_identifier_length", "63" }, { "max_index_keys", "32" },
		{ "default_tablespace", "" }, { "default_table_access_method", "heap" } };
	for (unsigned i = 0; i < sizeof fixed / sizeof *fixed; i++)
		if (strcasecmp(name, fixed[i][0]) == 0)
			return fixed[i][1];
	const char *cost = sql_cost_setting_text(set, name, buf, max);
	if (cost == NULL && sql_custom_is(name))
		return sql_custom_text(s, set, name);
	return cost ? cost : sql_kept_text(set->kept, name, buf, max);
}

bool
sql_show(struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink, struct cat_err *err)
{
	char buf[32];
	struct nam_arena *a = sql_arena(s, 0);
	if (a == NULL)
		return sql_no_memory(err);
	nam_arena_reset(a);
	if (strcasecmp(ast->var, "all") == 0)
		return sql_show_all(s, sink, a, err);
	const char *v = sql_setting(s, ast->var, buf, sizeof buf);
	if (v == NULL)
		return unknown(ast->var, err);
	struct cat_str line = { v, (uint32_t)strlen(v) };
	if (!sql_text_rows(sink, ast->var, &line, 1, a, err))
		return false;
	if (sink->done == NULL || sink->done(sink->arg, "SHOW", 1))
		return true;
	return cat_error(err, "57014", "canceling statement due to user request");
}
