/* convert.c -- libpg_query's statements to sql's tree. */
#include <sql/expr/expr.h>
#include <sql/parse/convert.h>

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

enum { SELECT_DEPTH = 3 };

static bool
alias(struct sql_convert *c, const PgQuery__Alias *a, struct ast_table *out)
{
	if (a == NULL)
		return true;
	out->alias = sql_convert_str(c, a->aliasname);
	out->renames = (unsigned)a->n_colnames;
	out->rename = sql_convert_take(c, out->renames * sizeof *out->rename);
	if (out->alias == NULL || out->rename == NULL)
		return false;
	for (unsigned i = 0; i < out->renames; i++)
		if ((out->rename[i] = sql_convert_str(c, sql_convert_word(a->colnames[i]))) == NULL)
			return false;
	return true;
}

/* system: it may be one of pg_catalog. */
static bool
range(struct sql_convert *c, const PgQuery__RangeVar *r, bool system, struct ast_table *out)
{
	*out = (struct ast_table){ .position = r->location >= 0 ? r->location + 1 : 0 };
	if (r->catalogname != NULL && r->catalogname[0])
		return sql_convert_no(c, "names of other databases are", r->location);
	out->schema = r->schemaname != NULL && r->schemaname[0];
	if (out->schema) {
		out->information = strcmp(r->schemaname, "information_schema") == 0;
		out->system = out->information || strcmp(r->schemaname, "pg_catalog") == 0;
	}
	if (out->system && !system) {
		cat_error(c->err, "42501", "permission denied: relations of \"%s\" can only be named in FROM",
		    r->schemaname);
		c->err->position = out->position;
		return false;
	}
	if (out->schema && (out->in = sql_convert_str(c, r->schemaname)) == NULL)
		return false;
	out->temp = r->relpersistence != NULL && r->relpersistence[0] == 't';
	out->name = out->alias = sql_convert_str(c, r->relname);
	if (out->name == NULL)
		return false;
	return alias(c, r->alias, out);
}

bool
sql_convert_range(struct sql_convert *c, const PgQuery__RangeVar *r, struct ast_table *out)
{
	return range(c, r, false, out);
}

static bool
subselect(struct sql_convert *c, const PgQuery__RangeSubselect *s, struct ast_table *out)
{
	*out = (struct ast_table){ .position = s->alias ? 0 : 1, .name = "", .alias = "" };
	out->lateral = s->lateral;
	if (s->subquery->node_case != PG_QUERY__NODE__NODE_SELECT_STMT)
		return sql_convert_no(c, "this kind of subquery in FROM is", -1);
	if (!alias(c, s->alias, out))
		return false;
	return (out->sub = sql_convert_select(c, s->subquery->select_stmt)) != NULL;
}

/* generate_series(a, b) [WITH ORDINALITY] */
static bool
function(struct sql_convert *c, const PgQuery__RangeFunction *r, struct ast_table *out)
{
	*out = (struct ast_table){ .ordinality = r->ordinality };
	const PgQuery__List *item = r->n_functions == 1 ? r->functions[0]->list : NULL;
	if (item == NULL || r->is_rowsfrom || r->n_coldeflist > 0)
		return sql_convert_no(c, "ROWS FROM and column definition lists are", -1);
	if (item->items[0]->node_case != PG_QUERY__NODE__NODE_FUNC_CALL)
		return sql_convert_no(c, "this kind of function in FROM is", -1);
	const struct ast_expr *f = sql_convert_expr(c, item->items[0]);
	if (f == NULL)
		return false;
	if (f->kind != AST_FUNC)
		return sql_convert_no(c, "this kind of function in FROM is", f->position - 1);
	if (f->schema != NULL) { /* the two that are always there have no such functions */
		bool there = strcmp(f->schema, "public") == 0 || strcmp(f->schema, "information_schema") == 0;
		if (there)
			cat_error(c->err, "42883", "function %s does not exist", f->text);
		else
			cat_error(c->err, "3F000", "schema \"%.63s\" does not exist", f->schema);
		c->err->position = f->position;
		return false;
	}
	out->func = f;
	out->name = out->alias = f->text;
	out->position = f->position;
	if (!alias(c, r->alias, out) || !sql_convert_each(c, item->items[0], out))
		return false;
	return sql_set_function(out->func->text) != NULL ||
	       sql_convert_no(
		   c, "functions in FROM that do not answer rows of one column are", f->position - 1);
}

struct from {
	struct ast_table *table;
	struct ast_join *join;
	unsigned tables, joins, cap;
};

static bool
grow(struct sql_convert *c, struct from *f)
{
	if (f->tables < f->cap && f->joins < f->cap)
		return true;
	unsigned cap = f->cap ? f->cap * 2 : 8;
	struct ast_table *t = sql_convert_take(c, cap * sizeof *t);
	struct ast_join *j = sql_convert_take(c, cap * sizeof *j);
	if (t == NULL || j == NULL)
		return false;
	if (f->tables)
		memcpy(t, f->table, f->tables * sizeof *t);
	if (f->joins)
		memcpy(j, f->join, f->joins * sizeof *j);
	f->table = t;
	f->join = j;
	f->cap = cap;
	return true;
}

static bool
from_item(struct sql_convert *c, struct from *f, const PgQuery__Node *n)
{
	if (!grow(c, f))
		return false;
	switch (n->node_case) {
	case PG_QUERY__NODE__NODE_RANGE_VAR:
		return range(c, n->range_var, true, &f->table[f->tables++]);
	case PG_QUERY__NODE__NODE_RANGE_SUBSELECT:
		return subselect(c, n->range_subselect, &f->table[f->tables++]);
	case PG_QUERY__NODE__NODE_RANGE_FUNCTION:
		return function(c, n->range_function, &f->table[f->tables++]);
	case PG_QUERY__NODE__NODE_RANGE_TABLE_SAMPLE:
		return sql_convert_no(c, "TABLESAMPLE is", -1);
	case PG_QUERY__NODE__NODE_JOIN_EXPR:
		break;
	default:
		return sql_convert_no(c, "this kind of FROM item is", -1);
	}
	const PgQuery__JoinExpr *x = n->join_expr;
	enum ast_join_kind kind = x->jointype == PG_QUERY__JOIN_TYPE__JOIN_LEFT    ? AST_JOIN_LEFT
				  : x->jointype == PG_QUERY__JOIN_TYPE__JOIN_RIGHT ? AST_JOIN_RIGHT
				  : x->jointype == PG_QUERY__JOIN_TYPE__JOIN_FULL  ? AST_JOIN_FULL
										   : AST_JOIN_INNER;
	if (++c->depth > SQL_DEPTH_MAX)
		return cat_error(c->err, "54001", "stack depth limit exceeded");
	struct ast_join j = { .kind = kind, .first = f->tables, .natural = x->is_natural };
	if (!from_item(c, f, x->larg))
		return false;
	j.mid = f->tables;
	if (!from_item(c, f, x->rarg))
		return false;
	c->depth--;
	j.last = f->tables - 1;
	if (x->quals != NULL && (j.on = sql_convert_expr(c, x->quals)) == NULL)
		return false;
	struct ast_table name = { 0 };
	if (!alias(c, x->alias, &name))
		return false;
	j.alias = name.alias;
	j.rename = name.rename;
	j.renames = name.renames;
	if (x->join_using_alias != NULL &&
	    (j.using_alias = sql_convert_str(c, x->join_using_alias->aliasname)) == NULL)
		return false;
	j.usings = (unsigned)x->n_using_clause;
	if ((j.using_ = sql_convert_take(c, j.usings * sizeof *j.using_)) == NULL)
		return false;
	for (unsigned i = 0; i < j.usings; i++)
		if ((j.using_[i] = sql_convert_str(c, sql_convert_word(x->using_clause[i]))) == NULL)
			return false;
	if (!grow(c, f))
		return false;
	f->join[f->joins++] = j;
	return true;
}

static bool
targets(struct sql_convert *c, PgQuery__Node *const *list, size_t n, struct ast_target **out, unsigned *count)
{
	if ((*out = sql_convert_take(c, n * sizeof **out)) == NULL)
		return false;
	*count = (unsigned)n;
	for (size_t i = 0; i < n; i++) {
		const PgQuery__ResTarget *r = list[i]->res_target;
		struct ast_target *t = &(*out)[i];
		if (r->n_indirection > 0)
			return sql_convert_no(c, "assigning to a part of a column is", r->location);
		t->position = r->location >= 0 ? r->location + 1 : 0;
		if (r->name != NULL && r->name[0] && (t->name = sql_convert_str(c, r->name)) == NULL)
			return false;
		if (r->val != NULL && (t->e = sql_convert_expr(c, r->val)) == NULL)
			return false;
	}
	return true;
}

bool
sql_convert_order(struct sql_convert *c, PgQuery__Node *const *list, unsigned n, struct ast_order *out)
{
	for (unsigned i = 0; i < n; i++) {
		const PgQuery__SortBy *b = list[i]->sort_by;
		struct ast_order *o = &out[i];
		if (b->sortby_dir == PG_QUERY__SORT_BY_DIR__SORTBY_USING)
			return sql_convert_no(c, "ORDER BY ... USING is", b->location);
		o->desc = b->sortby_dir == PG_QUERY__SORT_BY_DIR__SORTBY_DESC;
		o->nulls_first = b->sortby_nulls == PG_QUERY__SORT_BY_NULLS__SORTBY_NULLS_FIRST ||
				 (o->desc && b->sortby_nulls != PG_QUERY__SORT_BY_NULLS__SORTBY_NULLS_LAST);
		if ((o->e = sql_convert_expr(c, b->node)) == NULL)
			return false;
	}
	return true;
}

static bool
order(struct sql_convert *c, const PgQuery__SelectStmt *s, struct ast_select *q)
{
	q->orders = (unsigned)s->n_sort_clause;
	if ((q->order = sql_convert_take(c, q->orders * sizeof *q->order)) == NULL)
		return false;
	return sql_convert_order(c, s->sort_clause, q->orders, q->order);
}

static bool
values(struct sql_convert *c, const PgQuery__SelectStmt *s, struct ast_select *q)
{
	q->rows = (unsigned)s->n_values_lists;
	for (unsigned r = 0; r < q->rows; r++) {
		const PgQuery__List *list = s->values_lists[r]->list;
		if (r == 0) {
			q->cols = (unsigned)list->n_items;
			q->values = sql_convert_take(c, (size_t)q->rows * q->cols * sizeof *q->values);
			if (q->values == NULL)
				return false;
		}
		if (list->n_items != q->cols)
			return cat_error(c->err, "42601", "VALUES lists must all be the same length");
		for (unsigned k = 0; k < q->cols; k++)
			if ((q->values[(size_t)r * q->cols + k] = sql_convert_expr(c, list->items[k])) ==
			    NULL)
				return false;
	}
	return true;
}

/*
 * Does the expression use more rows than one, or is it to be said for each row of a set?
 * left: nodes to look at, for
 * trees share what they repeat; beyond them the answer is yes.
 */
static bool
over_rows(const struct ast_expr *e, unsigned *left)
{
	enum sql_agg_kind k;
	if (*left == 0 || --*left == 0)
		return true;
	bool is =
	    e->kind == AST_WINDOW || e->kind == AST_SUB || /* with an aggregate of this query? */
	    (e->kind == AST_FUNC && (e->star || sql_agg_find(e->text, &k) || sql_set_function(e->text)));
	for (unsigned i = 0; i < e->nargs && !is; i++)
		is = over_rows(e->args[i], left);
	return is;
}

/* True if item `at` of the select list is named in GROUP BY. */
static bool
grouped_by(const struct ast_select *q, unsigned at)
{
	const struct ast_target *t = &q->target[at];
	for (unsigned k = 0; k < q->groups; k++) {
		const struct ast_expr *g = q->group[k];
		if ((g->kind == AST_INT && g->i == at + 1) ||
		    (g->kind == AST_COLUMN && g->qual == NULL &&
			strcmp(g->text, t->name ? t->name : t->e->text) == 0))
			return true;
	}
	return false;
}

/*
 * A select list with one generate_series comes to a product with it, which needs no memory. Where
 * windows, groups or DISTINCT ON see the rows before it, or others stand beside it, it stays what
 * it is (plan/bind/unnest.c).
 */
static bool
series(struct sql_convert *c, struct ast_select *q, struct from *f)
{
	unsigned found = 0, at = 0;
	unsigned left = 100000;
	bool other = q->ons > 0;
	for (unsigned i = 0; i < q->targets; i++) {
		const struct ast_expr *e = q->target[i].e;
		if (e->kind == AST_FUNC && strcmp(e->text, "generate_series") == 0 && found == 0) {
			at = i;
			found++;
			for (unsigned k = 0; k < e->nargs; k++)
				other |= over_rows(e->args[k], &left);
		} else {
			other |= (e->kind == AST_STAR && e->qual == NULL) || over_rows(e, &left);
		}
	}
	for (unsigned i = 0; i < q->orders; i++)
		other |= over_rows(q->order[i].e, &left);
	if (found == 0 || ((other || q->groups > 0) && !grouped_by(q, at)))
		return true;
	struct ast_expr *e = sql_convert_take(c, sizeof *e);
	if (e == NULL || !grow(c, f))
		return false;
	*e = (struct ast_expr){ .kind = AST_COLUMN,
		.position = q->target[at].e->position,
		.text = "generate_series",
		.qual = "generate_series()" };
	f->table[f->tables++] = (struct ast_table){
		.name = e->qual, .alias = e->qual, .func = q->target[at].e, .position = e->position
	};
	q->target[at].e = e;
	return true;
}

static struct ast_select *
select_(struct sql_convert *c, const PgQuery__SelectStmt *s)
{
	struct ast_select *q = sql_convert_take(c, sizeof *q);
	if (q == NULL)
		return NULL;
	if (s->into_clause != NULL && s->into_clause != c->into) {
		sql_convert_no_into(c, s->into_clause);
		return NULL;
	}
	if (!sql_convert_with(c, s->with_clause, &q->with))
		return NULL;
	if (sql_convert_is_set(s) && !sql_convert_set(c, s, q))
		return NULL;
	q->ties = s->limit_option == PG_QUERY__LIMIT_OPTION__LIMIT_OPTION_WITH_TIES;
	q->distinct = s->n_distinct_clause > 0;
	if (q->distinct && s->distinct_clause[0] != NULL &&
	    s->distinct_clause[0]->node_case != PG_QUERY__NODE__NODE__NOT_SET) {
		q->distinct = false;
		if (!sql_convert_exprs(c, s->distinct_clause, s->n_distinct_clause, &q->on, &q->ons))
			return NULL;
	}
	if (s->n_values_lists > 0 && !values(c, s, q))
		return NULL;
	struct from f = { 0 };
	for (size_t i = 0; i < s->n_from_clause; i++)
		if (!from_item(c, &f, s->from_clause[i]))
			return NULL;
	if (!sql_convert_windows(c, s->window_clause, s->n_window_clause))
		return NULL;
	q->window = c->window;
	q->windows = c->windows;
	unsigned listed = f.tables;
	if (!targets(c, s->target_list, s->n_target_list, &q->target, &q->targets))
		return NULL;
	if (!sql_convert_group(c, s, q) || !order(c, s, q) || !series(c, q, &f))
		return NULL;
	q->table = f.table;
	q->tables = f.tables;
	q->join = f.join;
	q->joins = f.joins;
	if (!sql_convert_locks(c, s, q, f.tables > listed))
		return NULL;
	if ((s->where_clause && (q->where = sql_convert_expr(c, s->where_clause)) == NULL) ||
	    (s->having_clause && (q->having = sql_convert_expr(c, s->having_clause)) == NULL) ||
	    (s->limit_count && (q->limit = sql_convert_expr(c, s->limit_count)) == NULL) ||
	    (s->limit_offset && (q->offset = sql_convert_expr(c, s->limit_offset)) == NULL))
		return NULL;
	return q;
}

struct ast_select *
sql_convert_select(struct sql_convert *c, const PgQuery__SelectStmt *s)
{
	/* the windows of a SELECT are its own alone */
	struct ast_expr **window = c->window;
	unsigned windows = c->windows;
	c->windows = 0;
	/* a query takes more stack than an operator */
	c->depth += SELECT_DEPTH;
	struct ast_select *q = NULL;
	struct sql_convert around = *c;
	if (c->depth > SQL_DEPTH_MAX)
		cat_error(c->err, "54001", "stack depth limit exceeded");
	else
		q = select_(c, s);
	c->window = around.window; /* an inner query's names end with it */
	c->windows = around.windows;
	c->depth -= SELECT_DEPTH;
	c->window = window;
	c->windows = windows;
	return q;
}

static bool
names(struct sql_convert *c, PgQuery__Node *const *list, size_t n, struct ast_stmt *st)
{
	st->nnames = (unsigned)n;
	st->names = sql_convert_take(c, n * sizeof *st->names);
	st->name_at = sql_convert_take(c, n * sizeof *st->name_at);
	if (st->names == NULL || st->name_at == NULL)
		return false;
	for (size_t i = 0; i < n; i++) {
		const char *w = sql_convert_word(list[i]);
		if (list[i]->node_case == PG_QUERY__NODE__NODE_RES_TARGET) {
			const PgQuery__ResTarget *r = list[i]->res_target;
			if (r->n_indirection > 0)
				return sql_convert_no(c, "assigning to a part of a column is", r->location);
			w = r->name;
			st->name_at[i] = r->location + 1;
		}
		if (w == NULL)
			return sql_convert_no(c, "this kind of name is", -1);
		if ((st->names[i] = sql_convert_str(c, w)) == NULL)
			return false;
	}
	return true;
}

/* The table that is changed: never a name of WITH. */
static bool
target(struct sql_convert *c, const PgQuery__RangeVar *r, struct ast_stmt *st)
{
	bool ok = sql_convert_range(c, r, &st->table);
	st->table.schema = true;
	return ok;
}

static bool
insert(struct sql_convert *c, const PgQuery__InsertStmt *s, struct ast_stmt *st)
{
	st->kind = AST_INSERT;
	if (!sql_convert_with(c, s->with_clause, &st->with) || !target(c, s->relation, st))
		return false;
	if (s->on_conflict_clause != NULL && !sql_convert_conflict(c, s->on_conflict_clause, &st->conflict))
		return false;
	if (s->override == PG_QUERY__OVERRIDING_KIND__OVERRIDING_USER_VALUE)
		st->overriding = 'u';
	else if (s->override == PG_QUERY__OVERRIDING_KIND__OVERRIDING_SYSTEM_VALUE)
		st->overriding = 's';
	if (!names(c, s->cols, s->n_cols, st))
		return false;
	if (s->select_stmt == NULL) { /* DEFAULT VALUES: a row of nothing */
		if ((st->select = sql_convert_take(c, sizeof *st->select)) == NULL)
			return false;
		st->select->rows = 1;
	} else if ((st->select = sql_convert_select(c, s->select_stmt->select_stmt)) == NULL) {
		return false;
	}
	return targets(c, s->returning_list, s->n_returning_list, &st->returning, &st->returnings);
}

static bool
update(struct sql_convert *c, const PgQuery__UpdateStmt *s, struct ast_stmt *st)
{
	st->kind = AST_UPDATE;
	if (!sql_convert_with(c, s->with_clause, &st->with) || !target(c, s->relation, st))
		return false;
	if (s->n_from_clause > 0 &&
	    (st->from = sql_convert_from(c, s->from_clause, s->n_from_clause)) == NULL)
		return false;
	if (!sql_convert_sets(c, s->target_list, s->n_target_list, &st->set, &st->sets))
		return false;
	if (s->where_clause != NULL && (st->where = sql_convert_expr(c, s->where_clause)) == NULL)
		return false;
	return targets(c, s->returning_list, s->n_returning_list, &st->returning, &st->returnings);
}

static bool
delete_(struct sql_convert *c, const PgQuery__DeleteStmt *s, struct ast_stmt *st)
{
	st->kind = AST_DELETE;
	if (!sql_convert_with(c, s->with_clause, &st->with) || !target(c, s->relation, st))
		return false;
	if (s->n_using_clause > 0 &&
	    (st->from = sql_convert_from(c, s->using_clause, s->n_using_clause)) == NULL)
		return false;
	if (s->where_clause != NULL && (st->where = sql_convert_expr(c, s->where_clause)) == NULL)
		return false;
	return targets(c, s->returning_list, s->n_returning_list, &st->returning, &st->returnings);
}

/* BEGIN's and SET TRANSACTION's options. DEFERRABLE lets a transaction wait for a snapshot in which
 * it cannot fail; without the wait it is one like any other. */
static bool
modes(PgQuery__Node *const *list, size_t n, struct ast_stmt *st)
{
	for (size_t i = 0; i < n; i++) {
		if (list[i]->node_case != PG_QUERY__NODE__NODE_DEF_ELEM)
			continue;
		const PgQuery__DefElem *d = list[i]->def_elem;
		const char *w = sql_convert_word(d->arg);
		if (strcmp(d->defname, "transaction_isolation") == 0 && w != NULL) {
			/* READ UNCOMMITTED is READ COMMITTED, as in PostgreSQL */
			st->iso = strcmp(w, "serializable") == 0      ? AST_ISO_SER
				  : strcmp(w, "repeatable read") == 0 ? AST_ISO_RR
								      : AST_ISO_RC;
		} else if (strcmp(d->defname, "transaction_read_only") == 0) {
			st->read_only = d->arg != NULL && d->arg->node_case == PG_QUERY__NODE__NODE_A_CONST &&
					d->arg->a_const->val_case == PG_QUERY__A__CONST__VAL_IVAL &&
					d->arg->a_const->ival->ival != 0;
			st->read_write = !st->read_only;
		}
	}
	return true;
}

static bool
transaction(struct sql_convert *c, const PgQuery__TransactionStmt *s, struct ast_stmt *st)
{
	if (s->chain)
		return sql_convert_no(c, "AND CHAIN is", -1);
	switch (s->kind) {
	case PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_START:
		st->start = true; /* fallthrough */
	case PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_BEGIN:
		st->kind = AST_BEGIN;
		return modes(s->options, s->n_options, st);
	case PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_COMMIT:
		st->kind = AST_COMMIT;
		return true;
	case PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_ROLLBACK:
		st->kind = AST_ROLLBACK;
		return true;
	case PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_SAVEPOINT:
		st->kind = AST_SAVEPOINT;
		return (st->var = sql_convert_str(c, s->savepoint_name)) != NULL;
	case PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_RELEASE:
		st->kind = AST_RELEASE;
		return (st->var = sql_convert_str(c, s->savepoint_name)) != NULL;
	case PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_ROLLBACK_TO:
		st->kind = AST_ROLLBACK_TO;
		return (st->var = sql_convert_str(c, s->savepoint_name)) != NULL;
	default:
		return sql_convert_no(c, "two-phase commit by PREPARE TRANSACTION is", -1);
	}
}

/* DISCARD or UNLISTEN. */
static enum ast_discard
discard(const PgQuery__Node *n)
{
	if (n->node_case == PG_QUERY__NODE__NODE_UNLISTEN_STMT)
		return AST_UNLISTEN;
	PgQuery__DiscardMode what = n->discard_stmt->target;
	return what == PG_QUERY__DISCARD_MODE__DISCARD_PLANS       ? AST_DISCARD_PLANS
	       : what == PG_QUERY__DISCARD_MODE__DISCARD_SEQUENCES ? AST_DISCARD_SEQUENCES
	       : what == PG_QUERY__DISCARD_MODE__DISCARD_TEMP      ? AST_DISCARD_TEMP
								   : AST_DISCARD_ALL;
}

/* True if it means itself without quotes. */
static bool
is_plain(const char *w)
{
	size_t n = strspn(w, "abcdefghijklmnopqrstuvwxyz_0123456789$");
	return w[0] != 0 && w[n] == 0 && w[0] != '$' && (w[0] < '0' || w[0] > '9');
}

/* A name in quotes, those inside doubled. */
static const char *
quoted(struct sql_convert *c, const char *w)
{
	char *out = nam_arena_take(c->arena, 2 * strlen(w) + 3), *to = out;
	if (out == NULL)
		return NULL;
	*to++ = '"';
	for (; *w != 0; w++) {
		if (*w == '"')
			*to++ = '"';
		*to++ = *w;
	}
	*to++ = '"';
	*to = 0;
	return out;
}

/* The values of a setting that is a list, as SHOW writes them; names: of schemas. */
static const char *
listed(struct sql_convert *c, const PgQuery__VariableSetStmt *s, bool names)
{
	const char *all = "";
	for (size_t i = 0; i < s->n_args && all != NULL; i++) {
		const char *w = sql_convert_word(s->args[i]);
		if (w == NULL) {
			sql_convert_no(c, "this kind of value in SET is", -1);
			return NULL;
		}
		if (names && !is_plain(w))
			w = quoted(c, w);
		if (w == NULL)
			all = NULL;
		else
			all = nam_arena_printf(c->arena, "%s%s%s", all, i ? ", " : "", w);
	}
	if (all == NULL)
		cat_error(c->err, "53200", "out of memory");
	return all;
}

static bool
set(struct sql_convert *c, const PgQuery__VariableSetStmt *s, struct ast_stmt *st)
{
	st->kind = AST_SET;
	st->local = s->is_local;
	if (s->kind == PG_QUERY__VARIABLE_SET_KIND__VAR_SET_MULTI) {
		if (strcmp(s->name, "TRANSACTION") != 0 && strcmp(s->name, "SESSION CHARACTERISTICS") != 0)
			return sql_convert_no(c, "SET TRANSACTION SNAPSHOT is", -1);
		st->kind = AST_SET_TRANSACTION;
		st->session_default = s->name[0] == 'S';
		return modes(s->args, s->n_args, st);
	}
	if (s->kind == PG_QUERY__VARIABLE_SET_KIND__VAR_RESET_ALL) {
		st->reset = true;
		return true;
	}
	if ((st->var = sql_convert_str(c, s->name)) == NULL)
		return false;
	if (sql_convert_is_role(s->name))
		st->kind = AST_SET_ROLE;
	if (s->kind == PG_QUERY__VARIABLE_SET_KIND__VAR_RESET)
		st->reset = true;
	if (s->kind != PG_QUERY__VARIABLE_SET_KIND__VAR_SET_VALUE)
		return true;
	bool path = strcasecmp(s->name, "search_path") == 0;
	if (path || (s->n_args != 1 && strcasecmp(s->name, "datestyle") == 0))
		return (st->value = listed(c, s, path)) != NULL;
	if (s->n_args != 1) {
		cat_error(c->err, "22023", "SET %.63s takes only one argument", s->name);
		return false;
	}
	const PgQuery__Node *a = s->args[0];
	const char *w = sql_convert_word(a);
	char num[32];
	if (w == NULL && a->node_case == PG_QUERY__NODE__NODE_A_CONST) {
		const PgQuery__AConst *k = a->a_const;
		if (k->val_case == PG_QUERY__A__CONST__VAL_IVAL) {
			snprintf(num, sizeof num, "%d", k->ival->ival);
			w = num;
		} else if (k->val_case == PG_QUERY__A__CONST__VAL_FVAL) {
			w = k->fval->fval;
		}
	}
	if (w == NULL)
		return sql_convert_no(c, "this kind of value in SET is", -1);
	return (st->value = sql_convert_str(c, w)) != NULL;
}

static bool
truncate_(struct sql_convert *c, const PgQuery__TruncateStmt *s, struct ast_stmt *st)
{
	st->kind = AST_TRUNCATE;
	if (s->restart_seqs)
		return sql_convert_no(c, "TRUNCATE ... RESTART IDENTITY is", -1);
	st->cascade = s->behavior == PG_QUERY__DROP_BEHAVIOR__DROP_CASCADE;
	if (s->n_relations == 1 && !st->cascade)
		return sql_convert_range(c, s->relations[0]->range_var, &st->table);
	st->kind = AST_TRUNCATE_ALL;
	st->nnames = (unsigned)s->n_relations;
	st->names = sql_convert_take(c, st->nnames * sizeof *st->names);
	st->name_in = sql_convert_take(c, st->nnames * sizeof *st->name_in);
	st->name_at = sql_convert_take(c, st->nnames * sizeof *st->name_at);
	if (st->names == NULL || st->name_in == NULL || st->name_at == NULL)
		return false;
	for (unsigned i = 0; i < st->nnames; i++) {
		if (!sql_convert_range(c, s->relations[i]->range_var, &st->table))
			return false;
		st->names[i] = st->table.name;
		st->name_in[i] = st->table.in;
		st->name_at[i] = st->table.position;
	}
	return true;
}

/* COMMENT ON a relation or a column: that it exists is all that is asked. */
static bool
comment(struct sql_convert *c, const PgQuery__CommentStmt *s, struct ast_stmt *st)
{
	static const struct {
		PgQuery__ObjectType type;
		const char *word;
	} kinds[] = { { PG_QUERY__OBJECT_TYPE__OBJECT_TABLE, "table" },
		{ PG_QUERY__OBJECT_TYPE__OBJECT_VIEW, "view" },
		{ PG_QUERY__OBJECT_TYPE__OBJECT_SEQUENCE, "sequence" },
		{ PG_QUERY__OBJECT_TYPE__OBJECT_COLUMN, "column" } };
	st->kind = AST_COMMENT;
	if (s->objtype == PG_QUERY__OBJECT_TYPE__OBJECT_TYPE)
		return sql_convert_own_type(c, s->object, st);
	for (unsigned k = 0; k < sizeof kinds / sizeof *kinds; k++)
		if (s->objtype == kinds[k].type)
			st->var = kinds[k].word;
	const PgQuery__List *l =
	    s->object != NULL && s->object->node_case == PG_QUERY__NODE__NODE_LIST ? s->object->list : NULL;
	if (st->var == NULL || l == NULL)
		return sql_convert_no(c, "COMMENT on this kind of object is", -1);
	size_t own = strcmp(st->var, "column") == 0 ? 2 : 1;
	const char *schema = l->n_items > own ? sql_convert_word(l->items[l->n_items - own - 1]) : NULL;
	if (l->n_items < own || l->n_items > own + 1)
		return sql_convert_no(c, "this kind of name is", -1);
	st->nnames = (unsigned)own;
	if ((st->names = sql_convert_take(c, own * sizeof *st->names)) == NULL ||
	    (st->name_in = sql_convert_take(c, own * sizeof *st->name_in)) == NULL ||
	    (schema != NULL && (st->name_in[0] = sql_convert_str(c, schema)) == NULL))
		return false;
	for (size_t i = 0; i < own; i++)
		if ((st->names[i] = sql_convert_str(c, sql_convert_word(l->items[l->n_items - own + i]))) ==
		    NULL)
			return false;
	return true;
}

/* An option's value, PostgreSQL's way: nothing is true. */
static bool
option_bool(struct sql_convert *c, const PgQuery__DefElem *d, bool *out)
{
	const char *w = sql_convert_word(d->arg);
	*out = true;
	if (d->arg == NULL || (w != NULL && (strcasecmp(w, "true") == 0 || strcasecmp(w, "on") == 0)))
		return true;
	*out = false;
	if (w != NULL && (strcasecmp(w, "false") == 0 || strcasecmp(w, "off") == 0))
		return true;
	const PgQuery__Node *a = d->arg;
	int number = a->node_case == PG_QUERY__NODE__NODE_INTEGER ? a->integer->ival
		     : a->node_case == PG_QUERY__NODE__NODE_A_CONST &&
			     a->a_const->val_case == PG_QUERY__A__CONST__VAL_IVAL
			 ? a->a_const->ival->ival
			 : -1;
	*out = number == 1;
	return number == 0 || number == 1 ||
	       cat_error(c->err, "42601", "%.63s requires a Boolean value", d->defname);
}

static bool
explain_format(struct sql_convert *c, const PgQuery__DefElem *d, struct ast_explain *e)
{
	const char *w = sql_convert_word(d->arg);
	e->json = w != NULL && strcasecmp(w, "json") == 0;
	if (e->json || (w != NULL && strcasecmp(w, "text") == 0))
		return true;
	if (w != NULL && (strcasecmp(w, "xml") == 0 || strcasecmp(w, "yaml") == 0))
		return sql_convert_no(c, "EXPLAIN's FORMAT XML and YAML are", d->location);
	cat_error(c->err, "22023", "unrecognized value for EXPLAIN option \"format\": \"%.63s\"", w ? w : "");
	c->err->position = d->location >= 0 ? d->location + 1 : 0;
	return false;
}

static bool
explain(struct sql_convert *c, const PgQuery__ExplainStmt *s, struct ast_stmt *st)
{
	struct ast_explain *e = &st->explain;
	bool timing = false, summary = false, buffers = false; /* said */
	const struct {
		const char *name;
		bool *value, *said;
	} option[] = { { "analyze", &e->analyze, NULL }, { "verbose", &e->verbose, NULL },
		{ "costs", &e->costs, NULL }, { "timing", &e->timing, &timing },
		{ "summary", &e->summary, &summary }, { "buffers", &e->buffers, &buffers } };
	enum { OPTIONS = sizeof option / sizeof *option };
	st->kind = AST_EXPLAIN;
	e->costs = true;
	for (size_t i = 0; i < s->n_options; i++) {
		const PgQuery__DefElem *d = s->options[i]->def_elem;
		unsigned k = 0;
		if (strcmp(d->defname, "format") == 0) {
			if (!explain_format(c, d, e))
				return false;
			continue;
		}
		if (strcmp(d->defname, "wal") == 0 || strcmp(d->defname, "settings") == 0)
			return sql_convert_no(c, "this option of EXPLAIN is", d->location);
		while (k < OPTIONS && strcmp(d->defname, option[k].name) != 0)
			k++;
		if (k == OPTIONS) {
			cat_error(c->err, "42601", "unrecognized EXPLAIN option \"%.63s\"", d->defname);
			c->err->position = d->location >= 0 ? d->location + 1 : 0;
			return false;
		}
		if (!option_bool(c, d, option[k].value))
			return false;
		if (option[k].said != NULL)
			*option[k].said = true;
	}
	if (timing && e->timing && !e->analyze)
		return cat_error(c->err, "22023", "EXPLAIN option TIMING requires ANALYZE");
	e->timing = timing ? e->timing : e->analyze;
	e->terms = !summary || e->summary;
	e->summary = summary ? e->summary : e->analyze;
	e->buffers = buffers ? e->buffers : e->analyze;
	return (st->inner = sql_convert_stmt(c, s->query)) != NULL;
}

/* Options of VACUUM, which has nothing to do here. */
static bool
vacuum_option(const char *name)
{
	static const char *const all[] = { "full", "freeze", "disable_page_skipping", "index_cleanup",
		"process_toast", "truncate", "parallel" };
	for (unsigned k = 0; k < sizeof all / sizeof *all; k++)
		if (strcmp(all[k], name) == 0)
			return true;
	return false;
}

static bool
analyze(struct sql_convert *c, const PgQuery__VacuumStmt *s, struct ast_stmt *st)
{
	bool skip;
	st->kind = AST_ANALYZE;
	st->vacuum = s->is_vacuumcmd;
	for (size_t i = 0; i < s->n_options; i++) {
		const PgQuery__DefElem *d = s->options[i]->def_elem;
		bool *to = strcmp(d->defname, "verbose") == 0 ? &st->verbose : NULL;
		if (strcmp(d->defname, "skip_locked") == 0)
			to = &skip;
		if (st->vacuum && strcmp(d->defname, "analyze") == 0)
			to = &st->analyze;
		if (st->vacuum && vacuum_option(d->defname))
			continue;
		if (to == NULL) {
			cat_error(c->err, "42601", "unrecognized %s option \"%.63s\"",
			    st->vacuum ? "VACUUM" : "ANALYZE", d->defname);
			c->err->position = d->location + 1;
			return false;
		}
		if (!option_bool(c, d, to))
			return false;
	}
	st->names = sql_convert_take(c, s->n_rels * sizeof *st->names);
	st->name_in = sql_convert_take(c, s->n_rels * sizeof *st->name_in);
	st->name_at = sql_convert_take(c, s->n_rels * sizeof *st->name_at);
	st->of = sql_convert_take(c, s->n_rels * sizeof *st->of);
	if (st->names == NULL || st->name_in == NULL || st->name_at == NULL || st->of == NULL)
		return false;
	for (size_t i = 0; i < s->n_rels; i++) {
		const PgQuery__VacuumRelation *r = s->rels[i]->vacuum_relation;
		struct ast_table t;
		struct ast_force *of = &st->of[i];
		const char *in = r->relation->schemaname;
		bool catalog = in != NULL && strcmp(in, "pg_catalog") == 0;
		if (!range(c, r->relation, catalog, &t))
			return false;
		st->names[i] = t.name;
		st->name_in[i] = catalog ? NULL : t.in; /* pg_... is the system's */
		st->name_at[i] = t.position;
		of->names = (unsigned)r->n_va_cols;
		if (of->names > 0 && st->vacuum && !st->analyze)
			return cat_error(c->err, "0A000",
			    "ANALYZE option must be specified when a column list is provided");
		if ((of->name = sql_convert_take(c, r->n_va_cols * sizeof *of->name)) == NULL)
			return false;
		for (size_t k = 0; k < r->n_va_cols; k++)
			if ((of->name[k] = sql_convert_str(c, sql_convert_word(r->va_cols[k]))) == NULL)
				return false;
	}
	st->nnames = (unsigned)s->n_rels;
	return true;
}

static const char *
feature(PgQuery__Node__NodeCase k)
{
	switch (k) {
	case PG_QUERY__NODE__NODE_ALTER_SEQ_STMT:
		return "ALTER SEQUENCE is";
	case PG_QUERY__NODE__NODE_CREATE_FUNCTION_STMT:
	case PG_QUERY__NODE__NODE_DO_STMT:
	case PG_QUERY__NODE__NODE_CALL_STMT:
		return "functions and procedures are";
	case PG_QUERY__NODE__NODE_CREATE_TRIG_STMT:
		return "triggers are";
	case PG_QUERY__NODE__NODE_ALTER_OBJECT_SCHEMA_STMT:
		return "ALTER ... SET SCHEMA is";
	case PG_QUERY__NODE__NODE_CREATEDB_STMT:
	case PG_QUERY__NODE__NODE_DROPDB_STMT:
		return "CREATE and DROP DATABASE are";
	case PG_QUERY__NODE__NODE_ALTER_DEFAULT_PRIVILEGES_STMT:
		return "ALTER DEFAULT PRIVILEGES is";
	case PG_QUERY__NODE__NODE_CREATE_EXTENSION_STMT:
		return "extensions are";
	case PG_QUERY__NODE__NODE_COMPOSITE_TYPE_STMT:
		return "types of your own are";
	case PG_QUERY__NODE__NODE_LISTEN_STMT:
	case PG_QUERY__NODE__NODE_NOTIFY_STMT:
		return "LISTEN and NOTIFY are";
	case PG_QUERY__NODE__NODE_LOCK_STMT:
		return "LOCK is";
	case PG_QUERY__NODE__NODE_MERGE_STMT:
		return "MERGE is";
	default:
		return "this kind of statement is";
	}
}

static bool
execute(struct sql_convert *c, const PgQuery__ExecuteStmt *s, struct ast_stmt *st)
{
	st->kind = AST_EXECUTE;
	return (st->var = sql_convert_str(c, s->name)) != NULL &&
	       sql_convert_exprs(c, s->params, s->n_params, &st->args, &st->nargs);
}

static bool
deallocate(struct sql_convert *c, const PgQuery__DeallocateStmt *s, struct ast_stmt *st)
{
	st->kind = AST_DEALLOCATE;
	return s->name == NULL || s->name[0] == 0 || (st->var = sql_convert_str(c, s->name)) != NULL;
}

static bool
close_(struct sql_convert *c, const PgQuery__ClosePortalStmt *s, struct ast_stmt *st)
{
	st->kind = AST_CLOSE;
	return s->portalname[0] == 0 || (st->var = sql_convert_str(c, s->portalname)) != NULL;
}

struct ast_stmt *
sql_convert_stmt(struct sql_convert *c, const PgQuery__Node *n)
{
	struct ast_stmt *st = sql_convert_take(c, sizeof *st);
	if (st == NULL)
		return NULL;
	bool ok = true;
	switch (n->node_case) {
	case PG_QUERY__NODE__NODE_SELECT_STMT:
		ok = sql_convert_query(c, n->select_stmt, st);
		break;
	case PG_QUERY__NODE__NODE_INSERT_STMT:
		ok = insert(c, n->insert_stmt, st);
		break;
	case PG_QUERY__NODE__NODE_UPDATE_STMT:
		ok = update(c, n->update_stmt, st);
		break;
	case PG_QUERY__NODE__NODE_DELETE_STMT:
		ok = delete_(c, n->delete_stmt, st);
		break;
	case PG_QUERY__NODE__NODE_TRUNCATE_STMT:
		ok = truncate_(c, n->truncate_stmt, st);
		break;
	case PG_QUERY__NODE__NODE_COPY_STMT:
		ok = sql_convert_copy(c, n->copy_stmt, st);
		break;
	case PG_QUERY__NODE__NODE_CREATE_STMT:
	case PG_QUERY__NODE__NODE_DROP_STMT:
	case PG_QUERY__NODE__NODE_CREATE_SEQ_STMT:
	case PG_QUERY__NODE__NODE_VIEW_STMT:
	case PG_QUERY__NODE__NODE_CREATE_TABLE_AS_STMT:
	case PG_QUERY__NODE__NODE_ALTER_TABLE_STMT:
	case PG_QUERY__NODE__NODE_RENAME_STMT:
		ok = sql_convert_ddl(c, n, st);
		break;
	case PG_QUERY__NODE__NODE_CREATE_DOMAIN_STMT:
	case PG_QUERY__NODE__NODE_ALTER_DOMAIN_STMT:
	case PG_QUERY__NODE__NODE_CREATE_ENUM_STMT:
	case PG_QUERY__NODE__NODE_ALTER_ENUM_STMT:
	case PG_QUERY__NODE__NODE_ALTER_OWNER_STMT:
		ok = sql_convert_own_type(c, n, st);
		break;
	case PG_QUERY__NODE__NODE_INDEX_STMT:
		ok = sql_convert_index(c, n->index_stmt, st);
		break;
	case PG_QUERY__NODE__NODE_TRANSACTION_STMT:
		ok = transaction(c, n->transaction_stmt, st);
		break;
	case PG_QUERY__NODE__NODE_VARIABLE_SET_STMT:
		ok = set(c, n->variable_set_stmt, st);
		break;
	case PG_QUERY__NODE__NODE_VARIABLE_SHOW_STMT:
		st->kind = AST_SHOW;
		ok = (st->var = sql_convert_str(c, n->variable_show_stmt->name)) != NULL;
		break;
	case PG_QUERY__NODE__NODE_PREPARE_STMT:
		ok = sql_convert_prepare(c, n->prepare_stmt, st);
		break;
	case PG_QUERY__NODE__NODE_EXECUTE_STMT:
		ok = execute(c, n->execute_stmt, st);
		break;
	case PG_QUERY__NODE__NODE_DEALLOCATE_STMT:
		ok = deallocate(c, n->deallocate_stmt, st);
		break;
	case PG_QUERY__NODE__NODE_DECLARE_CURSOR_STMT:
		ok = sql_convert_declare(c, n->declare_cursor_stmt, st);
		break;
	case PG_QUERY__NODE__NODE_FETCH_STMT:
		ok = sql_convert_fetch(c, n->fetch_stmt, st);
		break;
	case PG_QUERY__NODE__NODE_DISCARD_STMT:
	case PG_QUERY__NODE__NODE_UNLISTEN_STMT:
		*st = (struct ast_stmt){ .kind = AST_DISCARD, .discard = discard(n) };
		break;
	case PG_QUERY__NODE__NODE_CHECK_POINT_STMT:
		*st = (struct ast_stmt){ .kind = AST_CHECKPOINT };
		break;
	case PG_QUERY__NODE__NODE_CLOSE_PORTAL_STMT:
		ok = close_(c, n->close_portal_stmt, st);
		break;
	case PG_QUERY__NODE__NODE_EXPLAIN_STMT:
		ok = explain(c, n->explain_stmt, st);
		break;
	case PG_QUERY__NODE__NODE_COMMENT_STMT:
		ok = comment(c, n->comment_stmt, st);
		break;
	case PG_QUERY__NODE__NODE_CREATE_SCHEMA_STMT:
	case PG_QUERY__NODE__NODE_CREATE_ROLE_STMT:
	case PG_QUERY__NODE__NODE_ALTER_ROLE_STMT:
	case PG_QUERY__NODE__NODE_DROP_ROLE_STMT:
	case PG_QUERY__NODE__NODE_GRANT_STMT:
	case PG_QUERY__NODE__NODE_GRANT_ROLE_STMT:
	case PG_QUERY__NODE__NODE_REASSIGN_OWNED_STMT:
	case PG_QUERY__NODE__NODE_DROP_OWNED_STMT:
		ok = sql_convert_role(c, n, st);
		break;
	case PG_QUERY__NODE__NODE_VACUUM_STMT:
		ok = analyze(c, n->vacuum_stmt, st);
		break;
	default:
		ok = sql_convert_no(c, feature(n->node_case), -1);
	}
	return ok ? st : NULL;
}
