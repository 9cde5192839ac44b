/* bind.c -- expressions: names to columns, types to parameters, aggregates out of expressions. */
#include <catalog/acl.h>
#include <sql/common/error.h>
#include <sql/common/path.h>
#include <sql/common/user_type.h>
#include <sql/compat/postgres.h>
#include <sql/expr/functions.h>
#include <sql/plan/bind/bind.h>
#include <sql/system/system.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { NODES_MAX = 1500000 };

void *
sql_bind_take(struct bind *b, size_t n)
{
	void *p = nam_arena_zero(b->a, n ? n : 1);
	if (p == NULL)
		cat_error(b->err, "53200", "out of memory");
	return p;
}

bool
sql_bind_fail(struct bind *b, int position, const char *sqlstate, const char *fmt, ...)
{
	char text[sizeof b->err->text];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	cat_error(b->err, sqlstate, "%s", text);
	b->err->position = position;
	return false;
}

/* ---- names --------------------------------------------------------------------- */

const char *
sql_bind_column_name(const struct bind_table *t, unsigned column)
{
	if (t->as != NULL)
		return t->as[column];
	if (t->ast != NULL && column < t->ast->renames)
		return t->ast->rename[column];
	return t->tab->column[column].name;
}

struct bind_table *
sql_bind_next_table(struct bind *b)
{
	if (b->from.tables == b->from.cap) {
		unsigned cap = b->from.cap ? b->from.cap * 2 : 4;
		struct bind_table **more = sql_bind_take(b, cap * sizeof *more);
		if (more == NULL)
			return NULL;
		if (b->from.tables > 0)
			memcpy(more, b->from.table, b->from.tables * sizeof *more);
		b->from.table = more;
		b->from.cap = cap;
	}
	struct bind_table *t = sql_bind_take(b, sizeof *t);
	if (t != NULL)
		b->from.table[b->from.tables++] = t;
	return t;
}

/* True if no alias was written for a table of the catalog. */
static bool
has_own_name(const struct ast_table *t, const struct cat_table *tab)
{
	return tab->store.id != 0 && t->alias == t->name;
}

/* Two tables of one name are told apart by their schemas, unless an alias hides those. */
static bool
are_of_two_schemas(const struct bind_table *x, const struct ast_table *t, const struct cat_table *tab)
{
	return x->alias == x->ast->name && has_own_name(x->ast, x->tab) && has_own_name(t, tab) &&
	       strcmp(x->tab->path, tab->path) != 0;
}

bool
sql_bind_in_schema(const struct bind_table *t, const char *schema)
{
	char its[CAT_NAME_MAX + 1];
	if (schema == NULL)
		return true;
	if (t->alias != t->ast->name)
		return false;
	if (t->tab->store.id == 0) /* a view */
		return t->ast->in != NULL && strcmp(t->ast->in, schema) == 0;
	cat_schema_of(t->tab->path, its);
	return strcmp(its, schema) == 0 || (strcmp(schema, "pg_temp") == 0 && sql_schema_is_temp(its));
}

/* The next FROM item, for a table of the catalog or one like it. */
static bool
add(struct bind *b, const struct ast_table *t, const struct cat_table *tab, struct sql_node *sub)
{
	for (unsigned k = 0; k < b->from.tables; k++)
		if (!b->from.table[k]->within && strcmp(b->from.table[k]->alias, t->alias) == 0 &&
		    !are_of_two_schemas(b->from.table[k], t, tab))
			return sql_bind_fail(
			    b, t->position, "42712", "table name \"%s\" specified more than once", t->alias);
	if (t->renames > tab->columns)
		return sql_bind_fail(b, t->position, "42P10",
		    "table \"%s\" has %u columns available but %u columns specified", t->alias, tab->columns,
		    t->renames);
	struct bind_table *bt = sql_bind_next_table(b);
	if (bt == NULL)
		return false;
	*bt =
	    (struct bind_table){ .tab = tab, .ast = t, .alias = t->alias, .sub = sub, .base = b->from.width };
	bt->used = sql_bind_take(b, tab->columns);
	bt->hidden = sql_bind_take(b, tab->columns);
	b->from.width += tab->columns;
	return bt->used != NULL && bt->hidden != NULL;
}

bool
sql_bind_add_source(struct bind *b, const struct ast_table *t, struct sql_node *sub,
    const struct sql_column *column, unsigned n)
{
	struct cat_table *tab = sql_bind_take(b, sizeof *tab);
	if (tab == NULL || (tab->column = sql_bind_take(b, n * sizeof *tab->column)) == NULL)
		return false;
	cat_path(CAT_PUBLIC_SCHEMA, t->alias, tab->path);
	tab->columns = (uint16_t)n;
	for (unsigned i = 0; i < n; i++) {
		tab->column[i].type = column[i].type;
		tab->column[i].typmod = column[i].typmod;
		tab->column[i].domain = column[i].domain;
		memcpy(tab->column[i].name, column[i].name, sizeof tab->column[i].name);
	}
	if (!add(b, t, tab, sub))
		return false;
	b->from.table[b->from.tables - 1]->made = column;
	return true;
}

bool
sql_bind_made_by(struct bind *b, uint32_t oid)
{
	struct bind_table *t = b->from.table[b->from.tables - 1];
	struct sql_column *column = sql_bind_take(b, t->tab->columns * sizeof *column);
	if (column == NULL)
		return false;
	for (unsigned i = 0; i < t->tab->columns; i++) {
		column[i].table = oid;
		column[i].number = (uint16_t)(i + 1);
	}
	t->made = column;
	return true;
}

void
sql_bind_origin(struct bind *b, const struct ast_expr *e, struct sql_column *out)
{
	unsigned k, c;
	bool cast = e != NULL && e->kind == AST_CAST && e->nargs == 1;
	if (cast)
		e = e->args[0];
	if (e == NULL || e->kind != AST_COLUMN)
		return;
	struct cat_err keep = *b->err;
	bool here = sql_bind_locate(b, e, &k, &c);
	*b->err = keep;
	/* A cast to the type that the column has does nothing. */
	if (here && cast) {
		const struct cat_column *of =
		    sql_bind_merged(b, k) == NULL ? &b->from.table[k]->tab->column[c] : NULL;
		here = of != NULL && of->type == out->type && of->typmod == out->typmod &&
		       of->domain == out->domain;
	}
	if (here && sql_bind_merged(b, k) != NULL) {
		sql_bind_origin(b, sql_bind_merged(b, k)->e, out);
	} else if (here) {
		const struct bind_table *t = b->from.table[k];
		out->table = t->made != NULL ? t->made[c].table : sql_oid_of(&t->tab->store);
		out->number = t->made != NULL ? t->made[c].number : (uint16_t)(c + 1);
	}
}

bool
sql_bind_need(struct bind *b, const struct cat_table *tab, uint16_t rights)
{
	struct sql_need *n = sql_bind_take(b, sizeof *n);
	if (n == NULL)
		return false;
	*n = (struct sql_need){ tab, b->plan->as, rights, NULL };
	*(b->plan->last_need ? b->plan->last_need : &b->plan->need) = n;
	b->plan->last_need = &n->next;
	return true;
}

bool
sql_bind_lookup(struct bind *b, const struct ast_table *t, const struct cat_table **out)
{
	/* The texts of views and rules name schemas other than public. */
	bool kept = b->plan->in_view > 0;
	const struct sql_looking in = { b->in->cat, b->in->t, kept ? NULL : b->in->search,
		kept ? NULL : b->in->who, b->in->search };
	char path[CAT_PATH_MAX + 1];
	*out = NULL;
	if (!t->path && b->in->find == NULL)
		return sql_path_find(&in, t->in, t->name, out, b->err);
	if (t->path)
		snprintf(path, sizeof path, "%s", t->name);
	else
		cat_path(t->in ? t->in : CAT_PUBLIC_SCHEMA, t->name, path);
	nam_status st =
	    b->in->find ? b->in->find(b->in->find_arg, path, out) : cat_find(b->in->cat, b->in->t, path, out);
	return st == NAM_OK || sql_status(b->err, st, NULL);
}

/* The relation of that name is not there. */
static bool
no_relation(struct bind *b, const struct ast_table *t)
{
	const char *name = t->path ? sql_path_shown(t->name) : t->name;
	const struct sql_looking in = { b->in->cat, b->in->t, NULL, NULL, b->in->search };
	const struct cat_table *schema;
	if (t->in != NULL && b->plan->kind == AST_TRUNCATE && b->in->cat != NULL &&
	    !sql_schema_of_names(&in, t->in, &schema, false, b->err)) {
		b->err->position = t->position;
		return false;
	}
	sql_bind_fail(b, t->position, "42P01", "relation \"%s%s%s\" does not exist", t->in ? t->in : "",
	    t->in ? "." : "", name);
	if (t->in == NULL)
		sql_bind_guess_relation(b, name);
	return false;
}

bool
sql_bind_add_table(struct bind *b, const struct ast_table *t)
{
	if (b->from.tables == SQL_TABLES_MAX)
		return sql_bind_fail(
		    b, t->position, "54011", "more than %d tables in a query", SQL_TABLES_MAX);
	if (t->sub != NULL)
		return sql_bind_add_derived(b, t);
	if (t->func != NULL)
		return sql_bind_add_function(b, t);
	bool ok;
	if (sql_bind_add_cte(b, t, &ok))
		return ok;
	const struct cat_table *tab;
	if (!sql_bind_lookup(b, t, &tab))
		return false;
	bool bare = t->in == NULL || t->system;
	if (tab == NULL && bare && strcmp(t->name, "nam_stats") == 0 && b->in->cat != NULL)
		return sql_bind_add_stats(b, t);
	if (tab == NULL && bare && strcmp(t->name, "nam_functions") == 0 && b->in->cat != NULL)
		return sql_bind_add_functions(b, t);
	/* The system's catalogs come before all but temporary relations. */
	bool hides = tab != NULL && strncmp(t->name, "pg_", 3) == 0 && !sql_path_is_temp(tab->path);
	if (bare && (tab == NULL || t->system || b->plan->in_system > 0 || hides) &&
	    ((!t->information && sql_bind_add_activity(b, t, &ok)) || sql_bind_add_system(b, t, &ok)))
		return ok;
	if (bare && !sql_bind_system_known(b, t, tab))
		return false;
	if (tab == NULL)
		return no_relation(b, t);
	if (b->plan->in_view == 0) {
		struct sql_use *u = sql_bind_take(b, sizeof *u);
		if (u == NULL)
			return false;
		*u = (struct sql_use){ tab->path, t->in == NULL ? t->position : 0, b->plan->use };
		b->plan->use = u;
	}
	bool dml = b->plan->kind != AST_SELECT && b->plan->tab == NULL && b->nest.level == 0;
	if (tab->kind == CAT_VIEW && dml)
		return sql_bind_fail(b, t->position, "0A000",
		    "changing rows through view \"%s\" is not supported yet", cat_local(tab->path));
	if (tab->kind == CAT_VIEW)
		return sql_bind_need(b, tab, CAT_MAY_SELECT) && sql_bind_add_view(b, t, tab);
	if (tab->kind == CAT_SEQUENCE) {
		return sql_bind_fail(b, t->position, dml ? "42809" : "0A000",
		    dml ? "cannot change sequence \"%s\""
			: "reading sequence \"%s\" as a table is not supported yet",
		    cat_local(tab->path));
	}
	if (tab->kind == CAT_INDEX)
		return sql_bind_fail(b, t->position, "42809", "cannot open relation \"%s\": it is an index",
		    cat_local(tab->path));
	sql_bind_sub_reads(b, tab);
	return (dml || sql_bind_need(b, tab, CAT_MAY_SELECT)) && add(b, t, tab, NULL);
}

/* schema: of qual, or NULL. */
static bool
find_column(struct bind *b, const char *schema, const char *qual, const char *name, int position,
    unsigned *table, unsigned *column)
{
	unsigned found = 0, alike = 0;
	bool table_seen = false, elsewhere = false;
	for (unsigned k = b->from.lo; k < b->from.hi; k++) {
		const struct bind_table *t = b->from.table[k];
		if (t->within || (qual != NULL && strcmp(qual, t->alias) != 0))
			continue;
		if (qual != NULL && !sql_bind_in_schema(t, schema)) {
			elsewhere = true;
			continue;
		}
		table_seen = true;
		alike += qual != NULL && t->alias == t->ast->name && has_own_name(t->ast, t->tab);
		for (unsigned c = 0; c < t->tab->columns; c++) {
			if (strcmp(sql_bind_column_name(t, c), name) != 0 ||
			    ((qual == NULL || t->joined) && t->hidden[c]))
				continue;
			*table = k;
			*column = c;
			found++;
		}
	}
	for (unsigned m = 0; schema == NULL && m < b->joins.mergeds; m++) {
		const struct bind_merged *g = &b->joins.merged[m];
		if (qual != NULL && (g->alias == NULL || strcmp(g->alias, qual) != 0))
			continue;
		if (g->hidden || g->first < b->from.lo || g->last >= b->from.hi || strcmp(g->name, name) != 0)
			continue;
		*table = SQL_TABLES_MAX + m;
		*column = 0;
		found++;
	}
	bool using_ = false;
	if (found == 0 && qual != NULL && schema == NULL &&
	    sql_bind_using_column(b, qual, name, table, column, &using_))
		found = 1;
	table_seen |= using_;
	if (found == 1 && *table < b->from.tables && b->from.table[*table] == b->plan->target)
		b->plan->reads_target = true;
	if (found == 1)
		return true;
	if (found > 1 && alike > 1)
		return sql_bind_fail(b, position, "42P09", "table reference \"%s\" is ambiguous", qual);
	if (found > 1)
		return sql_bind_fail(b, position, "42702", "column reference \"%s\" is ambiguous", name);
	bool tables = false;
	for (unsigned k = b->from.lo; k < b->from.hi; k++)
		tables |= !b->from.table[k]->within && b->from.table[k]->tab->store.id != 0 &&
			  (qual == NULL || strcmp(b->from.table[k]->alias, qual) == 0);
	if (tables && sql_system_column(name))
		return sql_bind_fail(b, position, "0A000", "system columns (%s) are not supported yet", name);
	if (qual == NULL)
		return sql_bind_fail(b, position, "42703", "column \"%s\" does not exist", name);
	if (table_seen)
		return sql_bind_fail(b, position, "42703", "column %s.%s does not exist", qual, name);
	return sql_bind_fail(b, position, "42P01",
	    elsewhere ? "invalid reference to FROM-clause entry for table \"%s\""
		      : "missing FROM-clause entry for table \"%s\"",
	    qual);
}

bool
sql_bind_find_column(
    struct bind *b, const char *qual, const char *name, int position, unsigned *table, unsigned *column)
{
	return find_column(b, NULL, qual, name, position, table, column);
}

struct ast_expr *
sql_bind_ast_column(struct bind *b, unsigned table, unsigned column, int position)
{
	struct ast_expr *e = sql_bind_take(b, sizeof *e);
	if (e != NULL)
		*e = (struct ast_expr){ .kind = AST_COLUMN,
			.position = position,
			.typmod = -1,
			.len = table + 1,
			.i = column,
			.text = sql_bind_merged(b, table) != NULL
				    ? sql_bind_merged(b, table)->name
				    : sql_bind_column_name(b->from.table[table], column) };
	return e;
}

bool
sql_bind_locate_column(struct bind *b, const struct ast_expr *e, unsigned *table, unsigned *column)
{
	if (e->len > 0) {
		*table = e->len - 1;
		*column = (unsigned)e->i;
		return true;
	}
	return find_column(b, e->schema, e->qual, e->text, e->position, table, column);
}

bool
sql_bind_locate(struct bind *b, const struct ast_expr *e, unsigned *table, unsigned *column)
{
	if (sql_bind_locate_column(b, e, table, column))
		return true;
	/* If no query has a column of that name, it may be that of an item of FROM. */
	unsigned k = e->qual == NULL && strcmp(b->err->sqlstate, "42703") == 0 ? sql_bind_row_of(b, e->text)
									       : b->from.tables;
	if (k == b->from.tables || sql_bind_seen_outside(b, e))
		return false;
	const struct bind_table *t = b->from.table[k];
	if (t->ast->func == NULL || t->tab->columns != 1)
		return sql_bind_fail(b, e->position, "0A000", "whole-row references are not supported yet");
	*table = k; /* a row of a function of one column is that column's value */
	*column = 0;
	return true;
}

static bool
same_word(const char *x, const char *y)
{
	return x == y || (x != NULL && y != NULL && strcmp(x, y) == 0);
}

static bool
same_words(const char *const *x, const char *const *y, unsigned n)
{
	for (unsigned k = 0; k < n; k++)
		if (!same_word(x[k], y[k]))
			return false;
	return true;
}

/* Inside of subqueries with equal FROM lists, equal names have one meaning. */
static bool same_text(struct bind *b, const struct ast_expr *x, const struct ast_expr *y);

static bool
same_texts(struct bind *b, struct ast_expr *const *x, struct ast_expr *const *y, unsigned n)
{
	for (unsigned k = 0; k < n; k++)
		if (!same_text(b, x[k], y[k]))
			return false;
	return true;
}

static bool
same_query(struct bind *b, const struct ast_select *x, const struct ast_select *y)
{
	if (x == NULL || y == NULL)
		return x == y;
	if (x->with || y->with || x->sets || y->sets || x->locks || y->locks || x->gsets || y->gsets ||
	    x->targets != y->targets || x->tables != y->tables || x->joins != y->joins ||
	    x->groups != y->groups || x->orders != y->orders || x->ons != y->ons || x->rows != y->rows ||
	    x->cols != y->cols || x->distinct != y->distinct || x->ties != y->ties || x->windows ||
	    y->windows)
		return false;
	for (unsigned k = 0; k < x->tables; k++) {
		const struct ast_table *s = &x->table[k], *t = &y->table[k];
		if (!same_word(s->name, t->name) || !same_word(s->alias, t->alias) ||
		    s->ordinality != t->ordinality || s->lateral != t->lateral || s->renames != t->renames ||
		    s->schema != t->schema || !same_word(s->in, t->in) ||
		    !same_words(s->rename, t->rename, s->renames) || !same_text(b, s->func, t->func) ||
		    !same_query(b, s->sub, t->sub))
			return false;
	}
	for (unsigned k = 0; k < x->joins; k++) {
		const struct ast_join *s = &x->join[k], *t = &y->join[k];
		if (s->kind != t->kind || s->first != t->first || s->mid != t->mid || s->last != t->last ||
		    s->usings != t->usings || s->natural != t->natural || s->alias || t->alias ||
		    s->using_alias || t->using_alias || !same_words(s->using_, t->using_, s->usings) ||
		    !same_text(b, s->on, t->on))
			return false;
	}
	for (unsigned k = 0; k < x->targets; k++)
		if (!same_text(b, x->target[k].e, y->target[k].e) ||
		    !same_word(x->target[k].name, y->target[k].name))
			return false;
	for (unsigned k = 0; k < x->orders; k++)
		if (x->order[k].desc != y->order[k].desc ||
		    x->order[k].nulls_first != y->order[k].nulls_first ||
		    !same_text(b, x->order[k].e, y->order[k].e))
			return false;
	return same_text(b, x->where, y->where) && same_text(b, x->having, y->having) &&
	       same_text(b, x->limit, y->limit) && same_text(b, x->offset, y->offset) &&
	       same_texts(b, x->group, y->group, x->groups) && same_texts(b, x->on, y->on, x->ons) &&
	       same_texts(b, x->values, y->values, x->rows * x->cols);
}

/* But for names of columns. */
static bool
same_node(const struct ast_expr *x, const struct ast_expr *y)
{
	if (x->kind == AST_STRING)
		return x->len == y->len && memcmp(x->text, y->text, x->len) == 0;
	return same_word(x->text, y->text) && x->i == y->i && x->negate == y->negate && x->star == y->star &&
	       x->distinct == y->distinct && sql_bind_same_agg(x->agg, y->agg) &&
	       (x->kind != AST_WINDOW || sql_window_same(x->over, y->over)) &&
	       (x->kind != AST_CAST || (x->type == y->type && x->typmod == y->typmod &&
					   (x->named == NULL || y->named == NULL ||
					       same_word(x->named->name, y->named->name)))) &&
	       (x->kind != AST_SUB || x->sub == y->sub);
}

static bool
same_text(struct bind *b, const struct ast_expr *x, const struct ast_expr *y)
{
	if (x == NULL || y == NULL || x == y)
		return x == y;
	if (++b->nest.nodes > NODES_MAX || x->kind != y->kind || x->nargs != y->nargs || !same_node(x, y) ||
	    ((x->kind == AST_COLUMN || x->kind == AST_STAR) &&
		(!same_word(x->qual, y->qual) || !same_word(x->schema, y->schema) || x->len != y->len)) ||
	    (x->kind == AST_SUB && !same_query(b, x->select, y->select)))
		return false;
	return same_texts(b, x->args, y->args, x->nargs);
}

/* A look at the words alone, which tells most pairs apart: of many sums of columns each is
 * compared with all
 * others. Columns of two names are two columns. */
static bool
other_column(const struct ast_expr *x, const struct ast_expr *y)
{
	enum { DEEP = 4 };
	for (unsigned k = 0; k < DEEP && x->kind == y->kind && x->nargs > 0 && y->nargs > 0; k++) {
		x = x->args[0];
		y = y->args[0];
	}
	return x->kind == AST_COLUMN && y->kind == AST_COLUMN && x->len == 0 && y->len == 0 &&
	       x->text != NULL && y->text != NULL && strcmp(x->text, y->text) != 0;
}

bool
sql_bind_same(struct bind *b, const struct ast_expr *x, const struct ast_expr *y)
{
	if (x == y)
		return true;
	if (other_column(x, y))
		return false;
	if (++b->nest.nodes > NODES_MAX || x->kind != y->kind || x->nargs != y->nargs)
		return false;
	switch (x->kind) {
	case AST_COLUMN: {
		unsigned tx, cx, ty, cy;
		struct cat_err keep = *b->err;
		bool here = sql_bind_locate(b, x, &tx, &cx), there = sql_bind_locate(b, y, &ty, &cy);
		bool same = here && there ? tx == ty && cx == cy
					  : !here && !there && x->len == 0 && y->len == 0 &&
						same_word(x->text, y->text) && same_word(x->qual, y->qual) &&
						same_word(x->schema, y->schema);
		*b->err = keep;
		return same;
	}
	case AST_SUB:
		if (!same_query(b, x->select, y->select))
			return false;
		break;
	case AST_STAR:
		return false;
	default:
		break;
	}
	if (!same_node(x, y))
		return false;
	for (unsigned k = 0; k < x->nargs; k++)
		if (!sql_bind_same(b, x->args[k], y->args[k]))
			return false;
	return true;
}

static void
tables_of(const struct bind *b, const struct sql_expr *e, struct sql_set *out)
{
	if (e->kind == SQL_COLUMN) {
		unsigned k = sql_bind_table_at(b, e->index);
		if (k < b->from.tables)
			sql_set_put(out, k);
		return;
	}
	for (unsigned i = 0; i < e->nargs; i++)
		tables_of(b, e->args[i], out);
}

struct sql_set
sql_bind_tables_of(const struct bind *b, const struct sql_expr *e)
{
	struct sql_set m = sql_set_none();
	tables_of(b, e, &m);
	return m;
}

bool
sql_bind_speaks_of_table(const struct bind *b, const struct sql_expr *e)
{
	if (e->kind == SQL_COLUMN && sql_bind_table_at(b, e->index) < b->from.tables)
		return true;
	for (unsigned i = 0; i < e->nargs; i++)
		if (sql_bind_speaks_of_table(b, e->args[i]))
			return true;
	return false;
}

/* ---- parameters ------------------------------------------------------------------ */

static bool
open_param(const struct sql_expr *e)
{
	return e->kind == SQL_PARAM && e->type == CAT_UNKNOWN;
}

void
sql_bind_learn(struct bind *b, const struct sql_expr *e)
{
	if (e == NULL || e->kind != SQL_PARAM)
		return;
	struct sql_plan *p = b->plan;
	if (e->vague) {
		p->vague = p->vague ? p->vague : e->index + 1;
		p->param_as[e->index].vague = true;
	}
	enum cat_type type = e->told != CAT_UNKNOWN ? e->told : e->type, *is = &p->param[e->index];
	struct sql_param_as *as = &p->param_as[e->index];
	bool varchar = cat_type_is_varchar(type, e->typmod);
	if (type == CAT_UNKNOWN || e->vague)
		return;
	if (*is == CAT_UNKNOWN) {
		*is = type;
		*as = (struct sql_param_as){ varchar ? CAT_VARCHAR : -1, e->domain, as->vague };
	} else if ((*is != type || cat_type_is_varchar(*is, as->typmod) != varchar ||
		       (e->domain != 0 && e->domain != as->domain)) &&
		   (p->torn == 0 || p->torn_typmod == BIND_TORN_AT_END)) {
		p->torn = e->index + 1;
		p->torn_type = type;
		p->torn_typmod = varchar ? CAT_VARCHAR : -1;
	}
}

void
sql_bind_learn_all(struct bind *b, struct sql_expr *const *e, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		sql_bind_learn(b, e[i]);
}

/* The maker that follows types what is regclass or one of its kin: those come as texts. */
void
sql_bind_fix_param(struct bind *b, struct sql_expr *e, enum cat_type type)
{
	if (e == NULL || !open_param(e) || type == CAT_UNKNOWN || cat_type_is_reg(type))
		return;
	e->type = type;
	sql_bind_learn(b, e);
}

void
sql_bind_fix_param_as(struct bind *b, struct sql_expr *e, enum cat_type type, int32_t typmod, uint32_t domain)
{
	if (e == NULL || !open_param(e))
		return;
	struct sql_plan *p = b->plan;
	bool first = p->param[e->index] == CAT_UNKNOWN;
	if (!first && p->param_as[e->index].domain != domain && p->torn == 0) {
		p->torn = e->index + 1;
		p->torn_type = type;
		p->torn_typmod = typmod;
	}
	if (cat_type_is_varchar(type, typmod))
		e->typmod = CAT_VARCHAR;
	sql_bind_fix_param(b, e, type);
	if (first)
		b->plan->param_as[e->index].domain = domain;
}

bool
sql_bind_params_settled(struct bind *b)
{
	struct sql_plan *p = b->plan;
	char is[CAT_TYPE_TEXT], other[CAT_TYPE_TEXT];
	if (p->torn != 0) {
		unsigned k = p->torn - 1;
		cat_error(b->err, "42P08", "inconsistent types deduced for parameter $%u", p->torn);
		snprintf(b->err->detail, sizeof b->err->detail, "%s versus %s",
		    cat_type_full(p->param[k], p->param_as[k].typmod, is),
		    cat_type_full(
			p->torn_type, p->torn_typmod == BIND_TORN_AT_END ? -1 : p->torn_typmod, other));
		return false;
	}
	/* A type from elsewhere is told before none at all. */
	for (unsigned i = 0; p->vague != 0 && p->param[p->vague - 1] == CAT_UNKNOWN && i < p->params; i++)
		if (p->param_as[i].vague && p->param[i] != CAT_UNKNOWN)
			p->vague = i + 1;
	bool known = p->vague != 0 && p->param[p->vague - 1] != CAT_UNKNOWN;
	if (p->vague != 0)
		return cat_error(b->err, known ? "42P08" : "42P18",
		    "could not determine data type of parameter $%u", p->vague);
	for (unsigned i = 0; !b->in->part && i < p->params; i++)
		if (p->param[i] == CAT_UNKNOWN)
			return cat_error(
			    b->err, "42P18", "could not determine data type of parameter $%u", i + 1);
	return true;
}

/* ---- expressions ------------------------------------------------------------------- */

static struct sql_expr *
number(struct bind *b, const struct ast_expr *e)
{
	struct cat_datum d = { .type = CAT_INT4 };
	if (e->kind == AST_INT) {
		d.v.i = e->i;
		return sql_expr_const(b->a, d, e->position);
	}
	/* a whole number beyond int4 is int8, beyond that numeric */
	bool neg = e->text[0] == '-';
	if (strpbrk(e->text, ".eExXnN") == NULL && strlen(e->text + neg) < 20) {
		__int128 v = 0;
		for (const char *s = e->text + neg; *s >= '0' && *s <= '9'; s++)
			v = v * 10 + (*s - '0');
		if (neg)
			v = -v;
		if (v >= INT64_MIN && v <= INT64_MAX) {
			d.v.i = (int64_t)v;
			if (d.v.i < INT32_MIN || d.v.i > INT32_MAX)
				d.type = CAT_INT8;
			return sql_expr_const(b->a, d, e->position);
		}
	}
	d.type = CAT_NUMERIC;
	struct cat_str s = { e->text, (uint32_t)strlen(e->text) };
	if (!cat_value_in(CAT_NUMERIC, -1, s, &d.v, b->a, b->err)) {
		b->err->position = e->position;
		return NULL;
	}
	return sql_expr_const(b->a, d, e->position);
}

/* True if the error was that there is no such column here, and a query around may have one. */
static bool
unknown(const struct bind *b, const struct ast_expr *e)
{
	const char *s = b->err->sqlstate;
	return (strcmp(s, "42703") == 0 && e->qual == NULL) || strcmp(s, "42P01") == 0;
}

/* An error, but told only if the query has no other one: sql_bind_select_rest. */
static struct sql_expr *
ungrouped(struct bind *b, const struct ast_expr *e, const struct bind_table *t, unsigned c)
{
	struct cat_datum none = { .type = t->tab->column[c].type, .null = true };
	struct cat_err keep = *b->err;
	if (b->agg.ungrouped == NULL) {
		sql_bind_fail(b, e->position, "42803",
		    b->around.asked ? "subquery uses ungrouped column \"%s.%s\" from outer query"
				    : "column \"%s.%s\" must appear in the GROUP BY clause or be used in an "
				      "aggregate function",
		    t->alias, sql_bind_column_name(t, c));
		b->agg.ungrouped = nam_arena_copy(b->a, b->err, sizeof *b->err);
		if (b->agg.ungrouped == NULL)
			return NULL;
		*b->err = keep;
	}
	none.v.s = (struct cat_str){ "", 0 };
	return sql_expr_const(b->a, none, e->position);
}

static struct sql_expr *
column(struct bind *b, const struct ast_expr *e)
{
	unsigned k, c;
	if (!sql_bind_locate(b, e, &k, &c)) {
		struct sql_expr *outer = b->around.up != NULL && unknown(b, e) ? sql_bind_outer(b, e) : NULL;
		if (outer == NULL && !b->around.asked)
			sql_bind_guess_column(b, e);
		return outer;
	}
	if (sql_bind_merged(b, k) != NULL)
		return sql_bind_expr(b, sql_bind_merged(b, k)->e);
	struct bind_table *t = b->from.table[k];
	if (b->agg.grouped && !b->agg.inside)
		return ungrouped(b, e, t, c);
	if (t->flats > 0)
		return sql_bind_pulled_column(b, t, c);
	t->used[c] = 1;
	const struct cat_column *col = &t->tab->column[c];
	struct sql_expr *x = sql_expr_column(b->a, t->base + c, col->type, col->typmod, e->position);
	if (x != NULL)
		x->domain = col->domain;
	return x;
}

bool
sql_bind_type(struct bind *b, enum cat_type type, const struct ast_named *named, enum cat_type *out,
    const struct cat_table **domain)
{
	*out = type;
	*domain = NULL;
	if (cat_type_element(type) != CAT_NAMED)
		return true;
	if (!sql_type_named(
		b->in->cat, b->in->t, type, named->name, named->schema, named->position, out, domain, b->err))
		return false;
	if ((*domain)->kind != CAT_DOMAIN)
		*domain = NULL;
	return true;
}

bool
sql_bind_args(struct bind *b, const struct ast_expr *e, struct sql_expr ***out)
{
	if ((*out = sql_bind_take(b, e->nargs * sizeof **out)) == NULL)
		return false;
	for (unsigned i = 0; i < e->nargs; i++)
		if (((*out)[i] = sql_bind_expr(b, e->args[i])) == NULL)
			return false;
	return true;
}

static struct sql_expr *
op(struct bind *b, const struct ast_expr *e)
{
	if (e->nargs == 2 && e->args[0]->kind == AST_COLLATE && e->args[1]->kind == AST_COLLATE &&
	    strcmp(e->args[0]->text, e->args[1]->text) != 0) {
		sql_bind_fail(b, e->args[1]->position, "42P21",
		    "collation mismatch between explicit collations \"%s\" and \"%s\"", e->args[0]->text,
		    e->args[1]->text);
		return NULL;
	}
	struct sql_expr *l = e->nargs == 2 ? sql_bind_expr(b, e->args[0]) : NULL;
	struct sql_expr *r = e->nargs == 2 && l == NULL ? NULL : sql_bind_expr(b, e->args[e->nargs - 1]);
	if (r == NULL)
		return NULL;
	struct sql_expr *x = sql_expr_op(b->a, e->text, l, r, e->position, b->err);
	sql_bind_learn(b, l);
	sql_bind_learn(b, r);
	return x;
}

/* A function of a schema that has none. */
static struct sql_expr *
elsewhere(struct bind *b, const struct ast_expr *e)
{
	struct sql_expr **a;
	if (sql_schema_is(b->in->cat, b->in->t, e->schema, e->position, b->err) && sql_bind_args(b, e, &a))
		sql_bind_no_function(b, e, a, e->nargs);
	return NULL;
}

static struct sql_expr *
func(struct bind *b, const struct ast_expr *e)
{
	enum sql_agg_kind kind;
	if (sql_agg_find(e->text, &kind))
		return sql_bind_aggregate(b, e, kind);
	if (strcmp(e->text, "grouping") == 0)
		return sql_bind_grouping(b, e);
	if (sql_set_function(e->text) && b->srf.call != e)
		return sql_bind_srf_call(b, e);
	if (sql_window_function(e->text)) {
		sql_bind_fail(b, e->position, "42809", "window function %s requires an OVER clause", e->text);
		return NULL;
	}
	if (e->star) {
		sql_bind_no_function(b, e, NULL, 0);
		return NULL;
	}
	struct sql_expr **a;
	if (sql_postgres_has(sql_postgres_aggregates, e->text)) {
		sql_bind_fail(b, e->position, "0A000", "aggregate %s is not supported yet", e->text);
		return NULL;
	}
	if (e->distinct || e->agg != NULL) {
		const char *what = e->distinct ? "DISTINCT" : e->agg->orders ? "ORDER BY" : "FILTER";
		sql_bind_fail(b, e->position, "42809", "%s specified, but %s is not an aggregate function",
		    what, e->text);
		return NULL;
	}
	if (!sql_bind_args(b, e, &a))
		return NULL;
	if (e->nargs == 1 && a[0]->domain != 0 && strcmp(e->text, "pg_typeof") == 0)
		return sql_bind_domain_name(b, a, e->position);
	if (e->nargs == 0 || strcmp(e->text, "age") == 0)
		b->plan->uses_now = true;
	bool open = e->nargs == 1 && open_param(a[0]);
	struct sql_expr *x = sql_expr_func(b->a, e->text, a, e->nargs, e->position, b->err);
	sql_bind_learn_all(b, a, e->nargs);
	for (unsigned k = 0; x != NULL && k < e->nargs; k++) /* its values are looked at */
		if (a[k]->kind == SQL_PARAM && a[k]->domain != 0 && sql_bind_domain(b, a[k]->domain) == NULL)
			return NULL;
	/* mood('ok'): a cast */
	const struct cat_table *type = NULL;
	char path[CAT_PATH_MAX + 1];
	cat_path(CAT_PUBLIC_SCHEMA, e->text, path);
	if (x != NULL || open || e->nargs != 1 || b->in->cat == NULL ||
	    strcmp(b->err->sqlstate, "42883") != 0 ||
	    cat_type_named(b->in->cat, b->in->t, path, &type) != NAM_OK || type == NULL)
		return x;
	if (type->kind == CAT_DOMAIN)
		return sql_bind_domain_call(b, a[0], type, e->position);
	const struct cat_err none = *b->err;
	b->plan->enum_called = true;
	x = sql_expr_cast(b->a, a[0], cat_type_of(type), -1, e->position, b->err);
	if (x == NULL && strcmp(b->err->sqlstate, "42846") == 0)
		*b->err = none;
	sql_bind_learn(b, a[0]);
	return x;
}

/*
 * nullif(x, y) answers x as x = y has it: as a number of the wider type, and never as a varchar.
 * arg: those of CASE WHEN x = y THEN NULL ELSE x END.
 */
static bool
null_if(struct bind *b, const struct ast_expr *e, struct sql_expr **arg)
{
	struct sql_expr *x = arg[2], *y = NULL;
	enum cat_type as = arg[0]->kind == SQL_CALL ? arg[0]->args[0]->type : CAT_UNKNOWN;
	bool text = cat_type_category(x->type) == 'S';
	if (cat_type_category(x->type) == 'N' && as == CAT_UNKNOWN) {
		if ((y = sql_bind_expr(b, e->args[0]->args[1])) == NULL)
			return false;
		as = y->type;
	}
	bool wider = cat_type_category(x->type) == 'N' && !cat_type_is_float(x->type) &&
		     (cat_type_is_float(as) || as == CAT_NUMERIC);
	if ((wider || (text && cat_type_category(as) == 'S')) && as != x->type)
		arg[2] = sql_expr_cast(b->a, x, as == CAT_FLOAT4 ? CAT_FLOAT8 : as, -1, x->position, b->err);
	else if (x->type == CAT_TEXT)
		arg[2] = sql_expr_name(b->a, x, -1, b->err);
	/* NULL is of the type, so that it does not matter to the length */
	if (arg[2] != NULL && arg[1]->type == CAT_UNKNOWN && arg[2]->type != CAT_UNKNOWN)
		arg[1] = sql_expr_cast(b->a, arg[1], arg[2]->type, arg[2]->typmod, e->position, b->err);
	return arg[1] != NULL && arg[2] != NULL;
}

/* IS NULL takes a parameter without giving it a type. */
static void
vague(struct sql_expr *e)
{
	e->vague |= open_param(e);
}

/* x IS DISTINCT FROM y, as sql_convert_distinct writes it. */
static bool
is_distinct_test(const struct ast_expr *e)
{
	return e->kind == AST_CASE && e->nargs == 5 && e->args[0]->kind == AST_IS_NULL &&
	       e->args[4]->kind == AST_OP && e->args[4]->nargs == 2 &&
	       e->args[4]->args[0] == e->args[0]->args[0];
}

static bool
is_of(struct bind *b, const struct sql_expr *x, enum cat_type type, const char *what)
{
	return x->type == type || x->type == CAT_UNKNOWN ||
	       sql_bind_fail(b, x->position, "42804", "argument of %s must be type %s, not type %s", what,
		   cat_type_name(type), cat_type_name(x->type));
}

static const char *
condition_of(const struct ast_expr *e)
{
	return e->kind == AST_CASE  ? "CASE/WHEN"
	       : e->kind == AST_AND ? "AND"
	       : e->kind == AST_OR  ? "OR"
				    : "NOT";
}

/* Arguments one after the other, as PostgreSQL types them: what is a condition, at once. */
static bool
operands(struct bind *b, const struct ast_expr *e, struct sql_expr ***out)
{
	bool logic = e->kind == AST_AND || e->kind == AST_OR || e->kind == AST_NOT;
	if ((*out = sql_bind_take(b, e->nargs * sizeof **out)) == NULL)
		return false;
	/* the comparison says what x and y are, IS NULL does not */
	if (is_distinct_test(e) && ((*out)[4] = sql_bind_expr(b, e->args[4])) == NULL)
		return false;
	for (unsigned i = 0; i < e->nargs; i++) {
		bool condition = logic || (e->kind == AST_CASE && i % 2 == 0 && i + 1 < e->nargs);
		if ((*out)[i] == NULL && ((*out)[i] = sql_bind_expr(b, e->args[i])) == NULL)
			return false;
		if (!condition)
			continue;
		sql_bind_fix_param(b, (*out)[i], CAT_BOOL);
		if (!is_of(b, (*out)[i], CAT_BOOL, condition_of(e)))
			return false;
	}
	return true;
}

static struct sql_expr *
many(struct bind *b, const struct ast_expr *e)
{
	struct sql_expr **a;
	if (!operands(b, e, &a))
		return NULL;
	enum sql_expr_kind kind;
	switch (e->kind) {
	case AST_AND:
	case AST_OR:
	case AST_NOT:
		kind = e->kind == AST_AND ? SQL_AND : e->kind == AST_OR ? SQL_OR : SQL_NOT;
		if (e->nargs == 1 && e->kind != AST_NOT)
			return a[0];
		break;
	case AST_IS_NULL:
		kind = SQL_IS_NULL;
		vague(a[0]);
		break;
	case AST_CASE:
		kind = SQL_CASE;
		if (e->text != NULL && e->nargs == 3 && strcmp(e->text, "nullif") == 0 && !null_if(b, e, a))
			return NULL;
		break;
	case AST_COALESCE:
		kind = SQL_COALESCE;
		break;
	default:
		kind = SQL_IN;
	}
	struct sql_expr *x = sql_expr_make(b->a, kind, a, e->nargs, e->negate, e->position, b->err);
	sql_bind_learn_all(b, a, e->nargs);
	return x;
}

static struct sql_expr *
param(struct bind *b, const struct ast_expr *e)
{
	unsigned i = (unsigned)e->i - 1;
	enum cat_type type = sql_bind_is_held(b, e) ? CAT_UNKNOWN : b->plan->param[i];
	const struct sql_param_as *as = &b->plan->param_as[i];
	bool reg = cat_type_is_reg(type);
	struct sql_expr *x = sql_expr_param(b->a, i, reg ? CAT_UNKNOWN : type, e->position);
	if (x == NULL || reg)
		return x != NULL ? sql_expr_cast(b->a, x, type, -1, e->position, b->err) : NULL;
	x->typmod = type != CAT_UNKNOWN ? as->typmod : -1;
	return as->domain != 0 ? sql_bind_of_domain(b, x, as->domain) : x;
}

/* Texts have that order anyway. What has no type gets one by what is around it. */
static struct sql_expr *
collate(struct bind *b, const struct ast_expr *e)
{
	const struct ast_expr *of = e->args[0];
	struct sql_expr *x = sql_bind_expr(b, of);
	bool param = of->kind == AST_PARAM &&
		     ((unsigned)of->i > b->in->ntypes || b->in->types[of->i - 1] == CAT_UNKNOWN);
	if (x == NULL || x->type == CAT_UNKNOWN || param)
		return x;
	if (cat_type_category(cat_type_element(x->type)) == 'S')
		return x;
	sql_bind_fail(
	    b, e->position, "42804", "collations are not supported by type %s", cat_type_name(x->type));
	return NULL;
}

static struct sql_expr *
as(struct bind *b, const struct ast_expr *e)
{
	struct sql_expr *x = sql_bind_expr_as(b, e->args[0], e->type);
	if (x == NULL || (e->text != NULL && !is_of(b, x, e->type, e->text)))
		return NULL;
	return x->type == CAT_UNKNOWN ? sql_expr_cast(b->a, x, e->type, -1, x->position, b->err) : x;
}

static struct sql_expr *
rows(struct bind *b, const struct ast_expr *e)
{
	struct bind_held held;
	struct sql_expr *x =
	    sql_bind_hold(b, &held, e->args + 1, e->nargs - 1) ? sql_bind_expr(b, e->args[0]) : NULL;
	sql_bind_let_go(b, &held);
	return x;
}

/* EXECUTE assigns its arguments to the parameters. */
static bool
may_be_argument(struct bind *b, const struct ast_expr *e, const struct sql_expr *x, enum cat_type type)
{
	const struct sql_fn *fn;
	return e->i == 0 || x->type == type || x->type == CAT_UNKNOWN ||
	       sql_cast_find(x->type, type, SQL_CAST_ASSIGN, &fn) ||
	       sql_bind_fail(b, e->position, "42804",
		   "parameter $%d of type %s cannot be coerced to the expected type %s", (int)e->i,
		   cat_type_name(x->type), cat_type_name(type));
}

static struct sql_expr *
cast(struct bind *b, const struct ast_expr *e)
{
	enum cat_type type;
	const struct cat_table *domain;
	if (!sql_bind_type(b, e->type, e->named, &type, &domain))
		return NULL;
	int32_t typmod = domain != NULL ? domain->column[0].typmod : e->typmod;
	struct sql_expr *x;
	if (e->args[0]->kind == AST_ARRAY && cat_type_is_array(type))
		x = sql_bind_array_as(b, e->args[0], type, typmod);
	else
		x = sql_bind_expr(b, e->args[0]);
	if (x != NULL && !may_be_argument(b, e, x, type))
		return NULL;
	if (x != NULL && domain != NULL)
		return sql_bind_to_domain(b, x, domain, e->position);
	if (x == NULL || (e->args[0]->kind == AST_ARRAY && cat_type_is_array(type)))
		return x;
	struct sql_expr *was = x;
	bool open = open_param(was);
	x = sql_expr_cast(b->a, x, type, typmod, e->position, b->err);
	if (open && cat_type_is_varchar(type, typmod))
		was->typmod = CAT_VARCHAR;
	sql_bind_learn(b, was);
	if (x != NULL && x->domain != 0) { /* its values are not the domain's any more */
		if ((x = nam_arena_copy(b->a, x, sizeof *x)) == NULL)
			sql_bind_fail(b, 0, "53200", "out of memory");
		else
			x->domain = 0;
	}
	return x;
}

static struct sql_expr *
group_key(struct bind *b, unsigned g, int position)
{
	const struct sql_expr *key = b->agg.key[g];
	struct sql_expr *x = sql_expr_column(b->a, g, key->type, key->typmod, position);
	if (x != NULL)
		x->domain = key->domain;
	return x;
}

/* True for a merged column of a FULL JOIN. A group of that is no column, so subqueries do not
 * see it: PostgreSQL 15 refuses them. */
static bool
is_computed(struct bind *b, const struct ast_expr *e)
{
	unsigned t, c;
	struct cat_err keep = *b->err;
	bool is = e->kind == AST_COLUMN && b->joins.mergeds > 0 && sql_bind_locate(b, e, &t, &c) &&
		  sql_bind_merged(b, t) != NULL;
	*b->err = keep;
	return is;
}

struct sql_expr *
sql_bind_expr(struct bind *b, const struct ast_expr *e)
{
	if (++b->nest.nodes > NODES_MAX) {
		sql_bind_fail(b, e->position, "54001", "statement too complex");
		return NULL;
	}
	if (b->agg.grouped && !b->agg.inside && !(b->around.asked && is_computed(b, e)))
		for (unsigned g = 0; g < b->agg.groups; g++)
			if (sql_bind_same(b, b->agg.group[g], e))
				return group_key(b, g, e->position);
	struct cat_datum d = { 0 };
	struct sql_expr *out = NULL;
	switch (e->kind) {
	case AST_NULL:
		d.null = true;
		d.v.s = (struct cat_str){ "", 0 };
		return sql_expr_const(b->a, d, e->position);
	case AST_INT:
	case AST_NUMBER:
		return number(b, e);
	case AST_STRING:
		d.v.s = (struct cat_str){ e->text, e->len };
		return sql_expr_const(b->a, d, e->position);
	case AST_BOOL:
		d.type = CAT_BOOL;
		d.v.i = e->i;
		return sql_expr_const(b->a, d, e->position);
	case AST_PARAM:
		return param(b, e);
	case AST_COLUMN:
		return column(b, e);
	case AST_COLLATE:
		return collate(b, e);
	case AST_AS:
		return as(b, e);
	case AST_ROWS:
		return rows(b, e);
	case AST_STAR:
		sql_bind_fail(b, e->position, e->qual ? "0A000" : "42601",
		    e->qual ? "whole-row references are not supported yet" : "a star is not allowed here");
		return NULL;
	case AST_SUB:
		out = sql_bind_sub(b, e, false);
		break;
	case AST_OP:
		out = op(b, e);
		break;
	case AST_FUNC:
		out = e->schema != NULL ? elsewhere(b, e) : func(b, e);
		break;
	case AST_CAST:
		out = cast(b, e);
		break;
	case AST_ARRAY:
		out = sql_bind_array(b, e);
		break;
	case AST_INDEX:
		out = sql_bind_index(b, e);
		break;
	case AST_ANY:
		out = sql_bind_any(b, e);
		break;
	case AST_WINDOW:
		return e->schema != NULL ? elsewhere(b, e) : sql_bind_window(b, e);
	case AST_DEFAULT:
		sql_bind_fail(b, e->position, "42601", "DEFAULT is not allowed in this context");
		return NULL;
	default:
		out = many(b, e);
	}
	if (out == NULL && b->err->position == 0)
		b->err->position = e->position;
	return out;
}

struct sql_expr *
sql_bind_expr_as(struct bind *b, const struct ast_expr *e, enum cat_type type)
{
	struct sql_expr *x = sql_bind_expr(b, e);
	sql_bind_fix_param(b, x, type);
	return x;
}

/* ---- conditions ---------------------------------------------------------------------- */

struct bind_cond *
sql_bind_cond_add(struct bind *b)
{
	if (b->where.conds == b->where.cap) {
		unsigned cap = b->where.cap ? b->where.cap * 2 : 4;
		struct bind_cond *more = sql_bind_take(b, cap * sizeof *more);
		if (more == NULL)
			return NULL;
		if (b->where.conds)
			memcpy(more, b->where.cond, b->where.conds * sizeof *more);
		b->where.cond = more;
		b->where.cap = cap;
	}
	struct bind_cond *c = &b->where.cond[b->where.conds++];
	c->home = b->where.home; /* the rest of it is zeros */
	return c;
}

bool
sql_bind_cond_eq(struct bind *b, const struct ast_expr *l, const struct ast_expr *r, int position)
{
	struct sql_expr *x, *y, *e;
	if ((x = sql_bind_expr(b, l)) == NULL || (y = sql_bind_expr(b, r)) == NULL ||
	    (e = sql_expr_op(b->a, "=", x, y, position, b->err)) == NULL)
		return false;
	sql_bind_learn(b, x);
	sql_bind_learn(b, y);
	struct sql_expr *pair[2] = { x, y };
	struct cat_err ignored;
	if (e->kind == SQL_CALL && e->nargs == 2) {
		/* what the operator compares, which is not always of the common type: text and
		 * char(n), real and numeric */
		pair[0] = e->args[0];
		pair[1] = e->args[1];
	}
	bool unified = sql_expr_unify(b->a, pair, 2, "=", &ignored);
	struct bind_cond *c = sql_bind_cond_add(b);
	if (c == NULL)
		return false;
	c->e = e;
	if (e->kind == SQL_CONST) /* NULL = a: it uses no table any more */
		return true;
	tables_of(b, x, &c->lmask);
	tables_of(b, y, &c->rmask);
	c->mask = sql_set_or(&c->lmask, &c->rmask);
	if (unified) {
		c->l = x;
		c->r = y;
		c->ul = pair[0];
		c->ur = pair[1];
	}
	return true;
}

static bool
cond_in(struct bind *b, const struct ast_expr *e)
{
	struct bind_cond c = { .ins = e->nargs, .home = b->where.home };
	if (!sql_bind_args(b, e, &c.in))
		return false;
	c.uin = sql_bind_take(b, e->nargs * sizeof *c.uin);
	struct sql_expr **own = sql_bind_take(b, e->nargs * sizeof *own);
	if (c.uin == NULL || own == NULL)
		return false;
	memcpy(c.uin, c.in, e->nargs * sizeof *c.uin);
	memcpy(own, c.in, e->nargs * sizeof *own);
	if ((c.e = sql_expr_make(b->a, SQL_IN, own, e->nargs, false, e->position, b->err)) == NULL)
		return false;
	sql_bind_learn_all(b, c.in, e->nargs);
	struct cat_err ignored;
	if (!sql_expr_unify(b->a, c.uin, e->nargs, "IN", &ignored))
		c.uin = NULL;
	for (unsigned i = 0; i < e->nargs; i++) {
		tables_of(b, c.in[i], &c.mask);
		if (i > 0 && sql_bind_speaks_of_table(b, c.in[i]))
			c.uin = NULL;
	}
	if (c.e->kind == SQL_CONST) {
		c.in = c.uin = NULL;
		c.ins = 0;
		c.mask = sql_set_none();
	}
	struct bind_cond *to = sql_bind_cond_add(b);
	if (to != NULL)
		*to = c;
	return to != NULL;
}

/* The scalar subquery that is one side of a comparison. */
static const struct ast_expr *
compared(const struct ast_expr *e)
{
	bool test = e->kind == AST_OP && e->nargs == 2 && e->text[strspn(e->text, "=<>")] == 0;
	for (unsigned k = 0; test && k < 2; k++)
		if (e->args[k]->kind == AST_SUB && e->args[k]->sub == AST_SUB_SCALAR)
			return e->args[k];
	return NULL;
}

/* The last condition is written so. */
static bool
note(struct bind *b, const struct ast_expr *e)
{
	b->where.cond[b->where.conds - 1].ast = e;
	return true;
}

/* a <= c AND (a < c OR (a = c AND ...)): what a comparison of rows has become (convert_row.c). */
static bool
compares_rows(const struct ast_expr *e)
{
	if (e->nargs != 2 || e->args[0]->kind != AST_OP || e->args[1]->kind != AST_OR)
		return false;
	const struct ast_expr *weak = e->args[0], *less = e->args[1]->args[0];
	return weak->nargs == 2 && less->kind == AST_OP && less->nargs == 2 &&
	       weak->args[0] == less->args[0] && weak->args[1] == less->args[1] &&
	       strcmp(weak->text + 1, "=") == 0 && less->text[0] == weak->text[0] && less->text[1] == 0;
}

bool
sql_bind_conds(struct bind *b, const struct ast_expr *e)
{
	if (e->kind == AST_AND) {
		unsigned first = b->where.conds;
		for (unsigned i = 0; i < e->nargs; i++)
			if (!sql_bind_conds(b, e->args[i]))
				return false;
		if (compares_rows(e) && first < b->where.conds && b->where.cond[first].ast == e->args[0])
			b->where.cond[first].weak = true;
		return true;
	}
	if (e->kind == AST_ROWS) {
		struct bind_held held;
		bool ok = sql_bind_hold(b, &held, e->args + 1, e->nargs - 1) && sql_bind_conds(b, e->args[0]);
		sql_bind_let_go(b, &held);
		return ok;
	}
	if (b->agg.not_in != NULL && strcmp(b->agg.not_in, "WHERE") == 0)
		b->where.compared = compared(e);
	if (e->kind == AST_OP && e->nargs == 2 && strcmp(e->text, "=") == 0)
		return sql_bind_cond_eq(b, e->args[0], e->args[1], e->position) && note(b, e);
	if (e->kind == AST_IN && !e->negate)
		return cond_in(b, e) && note(b, e);
	if (e->kind == AST_OR && (e = sql_bind_or_common(b, e)) == NULL)
		return false;
	struct sql_expr *x = e->kind == AST_SUB ? sql_bind_sub(b, e, true) : sql_bind_expr_as(b, e, CAT_BOOL);
	if (x == NULL)
		return false;
	if (x->type == CAT_UNKNOWN)
		x = sql_expr_cast(b->a, x, CAT_BOOL, -1, e->position, b->err);
	if (x == NULL)
		return false;
	if (x->type != CAT_BOOL)
		return sql_bind_fail(b, e->position, "42804",
		    "argument of %s must be type boolean, not type %s",
		    b->agg.not_in == NULL                           ? "WHERE"
		    : strcmp(b->agg.not_in, "JOIN conditions") == 0 ? "JOIN/ON"
								    : b->agg.not_in,
		    cat_type_name(x->type));
	struct bind_cond *c = sql_bind_cond_add(b);
	if (c == NULL)
		return false;
	c->e = x;
	c->ast = e;
	c->mask = sql_bind_tables_of(b, x);
	return sql_bind_or_parts(b, x, &c->mask);
}
