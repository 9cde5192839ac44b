/* create_as.c -- CREATE TABLE ... AS and SELECT ... INTO: a table of a query's columns, filled with
 * its rows. */
#include <sql/command/command.h>
#include <sql/compat/postgres.h>
#include <sql/dml/dml.h>

#include <stdio.h>

/* Its columns, from the query's. */
static bool
columns(struct cat_table *def, const struct ast_stmt *ast, const struct sql_plan *p, struct nam_arena *arena,
    struct cat_err *err)
{
	if (ast->nnames > p->columns)
		return cat_error(err, "42601", "too many column names were specified");
	if (p->columns == 0)
		return cat_error(err, "0A000", "tables without columns are not supported yet");
	if (p->columns > CAT_COLUMNS_MAX)
		return cat_error(err, "54011", "tables can have at most %d columns", CAT_COLUMNS_MAX);
	if ((def->column = nam_arena_zero(arena, p->columns * sizeof *def->column)) == NULL)
		return sql_no_memory(err);
	for (unsigned i = 0; i < p->columns; i++) {
		struct cat_column *c = &def->column[def->columns++];
		const char *name = i < ast->nnames ? ast->names[i] : p->column[i].name;
		if (strlen(name) > CAT_NAME_MAX)
			return cat_error(err, "42622", "identifier \"%.80s\" is too long", name);
		if (sql_system_column(name))
			return cat_error(
			    err, "42701", "column name \"%s\" conflicts with a system column name", name);
		strcpy(c->name, name);
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

/* The query's rows into the table. The query began before there was a table, so it never meets
 * them. */
static bool
fill(struct sql_session *s, struct sql_plan *p, const struct cat_table *tab, uint64_t *rows,
    struct cat_err *err)
{
	static const struct sql_sink silent;
	struct nam_arena *arena = sql_arena(s, p->arenas);
	if (arena == NULL)
		return sql_no_memory(err);
	for (unsigned i = 0; i < p->arenas; i++)
		nam_arena_reset(s->arena[i]);
	sql_take_now(s, p);
	sql_prepare_exec(s, &silent, err);
	int n = -1;
	if (sql_sub_start(&s->x, p) && sql_open(&s->x, p->root))
		while ((n = sql_next(&s->x, p->root)) > 0) {
			const struct sql_batch *from = &p->root->out;
			const uint16_t *sel = sql_sel(p->root);
			bool ok = true;
			for (unsigned at = 0, m; ok && at < (unsigned)n; at += m) {
				m = (unsigned)n - at < SQL_INSERT_ROWS ? (unsigned)n - at : SQL_INSERT_ROWS;
				nam_arena_reset(arena);
				struct sql_batch b = { .cols = tab->columns, .n = m };
				b.col = nam_arena_take(arena, tab->columns * sizeof *b.col);
				ok = b.col != NULL;
				for (unsigned c = 0; ok && c < tab->columns; c++)
					ok = sql_gather(&b.col[c], &from->col[c], sel + at, m, arena);
				ok = ok ? sql_insert_batch(&s->x, tab, &b, arena) : sql_no_memory(err);
			}
			if (!ok) {
				n = -1;
				break;
			}
			*rows += (unsigned)n;
		}
	sql_close(&s->x, p->root);
	return n == 0;
}

static bool
create(struct sql_session *s, const struct ast_stmt *ast, struct sql_plan *p, const struct sql_sink *sink,
    bool *made, uint64_t *rows, struct cat_err *err)
{
	struct cat_table def = { .store.slots = (uint16_t)ast->versions, .on_commit = ast->on_commit };
	const struct cat_table *tab;
	snprintf(def.path, sizeof def.path, "%s", ast->table.name);
	nam_status st = cat_find(s->cfg.cat, s->t, def.path, &tab);
	if (st != NAM_OK)
		return sql_status(err, st, NULL);
	if (tab != NULL && ast->if_exists) {
		sql_notice(
		    sink, "NOTICE", "42P07", "relation \"%s\" already exists, skipping", cat_local(def.path));
		return true;
	}
	if (tab != NULL)
		return cat_error(err, "42P07", "relation \"%s\" already exists", cat_local(def.path));
	if (!sql_type_is_taken(s, def.path, true, err))
		return false;
	if (ast->key_kind != AST_KEY_UNSAID)
		return sql_key_is_missing(cat_local(def.path), err);
	if (!sql_make_as(s, &def, ast->table.position, err))
		return false;
	if (!columns(&def, ast, p, &p->arena, err) || !cat_table_layout(&def, err) ||
	    !sql_types_use(s, &def, err) || !sql_domains_use(s, &def, false, err))
		return false;
	s->ddl = true;
	s->on_commit |= ast->on_commit != 0;
	st = cat_create(s->cfg.cat, s->t, &def);
	if (st == NAM_DUPLICATE)
		return cat_error(err, "42P07", "relation \"%s\" already exists", cat_local(def.path));
	if (st == NAM_OK)
		st = cat_find(s->cfg.cat, s->t, def.path, &tab);
	if (st != NAM_OK)
		return sql_status(err, st, NULL);
	*made = !ast->no_data;
	return ast->no_data || fill(s, p, tab, rows, err);
}

bool
sql_create_as_run(struct sql_session *s, const struct ast_stmt *ast, struct sql_plan *p,
    const struct sql_sink *sink, uint64_t *rows, struct cat_err *err)
{
	bool made;
	return create(s, ast, p, sink, &made, rows, err);
}

bool
sql_create_as(struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink, char *tag,
    size_t max, uint64_t *rows, struct cat_err *err)
{
	struct ast_stmt query = { .kind = AST_SELECT, .select = ast->select, .depth = ast->depth };
	struct sql_bind_in in = { .cat = s->cfg.cat,
		.t = s->t,
		.parser = s->cfg.parser,
		.costs = sql_costs_renew(s),
		.who = sql_who(s),
		.search = sql_search_text(s, s->search),
		.join_order = s->now.join_order };
	bool made = false;
	if (ast->params > 0)
		return cat_error(err, "42P02", "there is no parameter $%u", ast->params);
	struct sql_plan *p = sql_plan_make(&query, &in, err);
	if (p == NULL)
		return false;
	bool ok = create(s, ast, p, sink, &made, rows, err);
	sql_plan_free(p);
	if (made)
		snprintf(tag, max, "SELECT %llu", (unsigned long long)*rows);
	else
		snprintf(tag, max, "CREATE TABLE AS");
	return ok;
}
