/* select.c -- SELECT and VALUES: stars, joins, groups, order, limits. */
#include <sql/plan/bind/bind.h>
#include <sql/plan/sub.h>

#include <stdio.h>
#include <stdlib.h>

/* ---- the select list ---------------------------------------------------------------- */

static bool
push(struct bind *b, struct bind_list *l, struct ast_expr *e, const char *name)
{
	if (e == NULL)
		return false;
	if (l->n == CAT_COLUMNS_MAX)
		return sql_bind_fail(
		    b, 0, "54011", "target lists can have at most %d entries", CAT_COLUMNS_MAX);
	if (l->n == l->cap) {
		unsigned cap = l->cap ? l->cap * 2 : 16;
		struct ast_target *more = sql_bind_take(b, cap * sizeof *more);
		if (more == NULL)
			return false;
		if (l->n)
			memcpy(more, l->t, l->n * sizeof *more);
		l->t = more;
		l->cap = cap;
	}
	l->t[l->n++] = (struct ast_target){ .e = e, .name = name, .position = e->position };
	return true;
}

static bool
push_table(struct bind *b, struct bind_list *l, unsigned k, bool all, int position)
{
	for (unsigned c = 0; c < b->from.table[k]->tab->columns; c++)
		if ((all || !b->from.table[k]->hidden[c]) &&
		    !push(b, l, sql_bind_ast_column(b, k, c, position),
			sql_bind_column_name(b->from.table[k], c)))
			return false;
	return true;
}

static bool
push_refs(struct bind *b, struct bind_list *l, const struct bind_ref *ref, unsigned n, int position)
{
	for (unsigned k = 0; k < n; k++) {
		struct ast_expr *e = sql_bind_ast_column(b, ref[k].table, ref[k].column, position);
		if (e == NULL || !push(b, l, e, e->text))
			return false;
	}
	return true;
}

static bool
push_star(struct bind *b, struct bind_list *l, int position)
{
	if (b->from.tables == 0)
		return sql_bind_fail(b, position, "42601", "SELECT * with no tables specified is not valid");
	struct bind_ref *ref;
	unsigned n;
	return sql_bind_star(b, &ref, &n) && push_refs(b, l, ref, n, position);
}

/* t.* of a table of a query around this one. */
static bool
push_outside(struct bind *b, struct bind_list *l, const struct ast_expr *star)
{
	for (const struct bind *x = b->around.up; x != NULL; x = x->around.up)
		for (unsigned k = x->from.lo; k < x->from.hi; k++) {
			const struct bind_table *t = x->from.table[k];
			if (t->within || t->joined || strcmp(t->alias, star->qual) != 0 ||
			    !sql_bind_in_schema(t, star->schema))
				continue;
			for (unsigned c = 0; c < t->tab->columns; c++) {
				struct ast_expr *e = sql_bind_take(b, sizeof *e);
				if (e == NULL)
					return false;
				*e = (struct ast_expr){ .kind = AST_COLUMN,
					.position = star->position,
					.typmod = -1,
					.qual = star->qual,
					.schema = star->schema,
					.text = sql_bind_column_name(t, c) };
				if (!push(b, l, e, e->text))
					return false;
			}
			return true;
		}
	return sql_bind_fail(
	    b, star->position, "42P01", "missing FROM-clause entry for table \"%s\"", star->qual);
}

static bool
select_list(struct bind *b, const struct ast_select *q, struct bind_list *l)
{
	for (unsigned i = 0; i < q->targets; i++) {
		const struct ast_target *t = &q->target[i];
		if (t->e->kind != AST_STAR) {
			if (!push(b, l, t->e, t->name ? t->name : sql_bind_name_of(b, t->e)))
				return false;
			continue;
		}
		if (t->e->qual == NULL) {
			if (!push_star(b, l, t->e->position))
				return false;
			continue;
		}
		unsigned k = 0;
		struct bind_ref *ref;
		unsigned n;
		if (!sql_bind_join_star(b, t->e->qual, &ref, &n))
			return false;
		if (n > 0) {
			if (!push_refs(b, l, ref, n, t->e->position))
				return false;
			continue;
		}
		while (k < b->from.tables && (b->from.table[k]->within || b->from.table[k]->joined ||
						 strcmp(b->from.table[k]->alias, t->e->qual) != 0 ||
						 !sql_bind_in_schema(b->from.table[k], t->e->schema)))
			k++;
		if (k == b->from.tables && !push_outside(b, l, t->e))
			return false;
		if (k < b->from.tables && !push_table(b, l, k, true, t->e->position))
			return false;
	}
	return true;
}

/* ---- GROUP BY ------------------------------------------------------------------------ */

bool
sql_bind_group_key(struct bind *b, const struct ast_expr *e, struct sql_expr *key)
{
	if (key == NULL)
		return false;
	if (b->agg.groups == b->agg.group_cap) {
		unsigned cap = b->agg.group_cap ? b->agg.group_cap * 2 : 16;
		const struct ast_expr **more = sql_bind_take(b, cap * sizeof *more);
		struct sql_expr **keys = sql_bind_take(b, cap * sizeof *keys);
		if (more == NULL || keys == NULL)
			return false;
		if (b->agg.groups) {
			memcpy(more, b->agg.group, b->agg.groups * sizeof *more);
			memcpy(keys, b->agg.key, b->agg.groups * sizeof *keys);
		}
		b->agg.group = more;
		b->agg.key = keys;
		b->agg.group_cap = cap;
	}
	b->agg.group[b->agg.groups] = e;
	b->agg.key[b->agg.groups++] = key;
	return true;
}

/* No item of the select list. */
#define NO_ITEM UINT32_MAX

/*
 * The group that e is: *at, if at is not NULL. item: the item of the select list that e is; of:
 * the items that the groups are. With GROUPING SETS two equal items are two groups, one of which
 * may be NULL in a set that has the other.
 */
static bool
add_group(struct bind *b, const struct ast_expr *e, unsigned *at, unsigned item, const unsigned *of)
{
	for (unsigned g = 0; g < b->agg.groups; g++)
		if ((item == NO_ITEM || of[g] == item) && sql_bind_same(b, b->agg.group[g], e)) {
			if (at != NULL)
				*at = g;
			return true;
		}
	struct sql_expr *k = sql_bind_expr(b, e);
	sql_bind_fix_param(b, k, CAT_TEXT);
	if (k == NULL || (k = sql_expr_default_type(b->a, k, b->err)) == NULL)
		return false;
	if (!sql_bind_ordered(b, k->type, "equality", e->position))
		return false;
	if (at != NULL)
		*at = b->agg.groups;
	return sql_bind_group_key(b, e, k);
}

/* Grouped by a whole primary key, the table's other columns depend on it: those used come
 * along. */
static bool depend_sub(struct bind *b, const struct ast_select *q, const struct sql_set *tables);

static bool
depend(struct bind *b, const struct ast_expr *e, const struct sql_set *tables)
{
	if (e == NULL)
		return true;
	if (++b->nest.nodes > 1000000)
		return sql_bind_fail(b, e->position, "54001", "statement too complex");
	if (e->kind == AST_COLUMN) {
		unsigned t, c;
		struct cat_err keep = *b->err;
		bool there = sql_bind_locate(b, e, &t, &c);
		*b->err = keep; /* it may be a name of the output */
		return !there || sql_bind_merged(b, t) != NULL || !sql_set_has(tables, t) ||
		       add_group(b, e, NULL, NO_ITEM, NULL);
	}
	if (e->kind == AST_SUB && !depend_sub(b, e->select, tables))
		return false;
	for (unsigned i = 0; i < e->nargs; i++)
		if (!depend(b, e->args[i], tables))
			return false;
	return true;
}

static bool
depend_all(struct bind *b, struct ast_expr *const *e, unsigned n, const struct sql_set *tables)
{
	for (unsigned i = 0; i < n; i++)
		if (!depend(b, e[i], tables))
			return false;
	return true;
}

/* What a subquery says of the columns: names of its own may come along for nothing, which changes
 * no group. */
static bool
depend_sub(struct bind *b, const struct ast_select *q, const struct sql_set *tables)
{
	for (unsigned i = 0; i < q->targets; i++)
		if (!depend(b, q->target[i].e, tables))
			return false;
	for (unsigned i = 0; i < q->orders; i++)
		if (!depend(b, q->order[i].e, tables))
			return false;
	for (unsigned i = 0; i < q->joins; i++)
		if (!depend(b, q->join[i].on, tables))
			return false;
	for (unsigned i = 0; i < q->tables; i++)
		if (q->table[i].sub != NULL && !depend_sub(b, q->table[i].sub, tables))
			return false;
	return depend(b, q->where, tables) && depend(b, q->having, tables) &&
	       depend_all(b, q->group, q->groups, tables) &&
	       depend_all(b, q->values, q->rows * q->cols, tables);
}

static bool
add_dependent(struct bind *b, const struct ast_select *q, const struct bind_list *l, const unsigned *leaf)
{
	struct sql_set tables = sql_set_none();
	for (unsigned k = 0; k < b->from.tables; k++) {
		const struct bind_table *t = b->from.table[k];
		unsigned have = 0;
		for (unsigned i = 0; i < t->tab->keys; i++)
			have += sql_bind_in_all_gsets(b, q, leaf, t->base + t->tab->key[i]);
		if (t->tab->keys > 0 && have == t->tab->keys)
			sql_set_put(&tables, k);
	}
	if (sql_set_is_empty(&tables))
		return true;
	for (unsigned i = 0; i < l->n; i++)
		if (!depend(b, l->t[i].e, &tables))
			return false;
	for (unsigned i = 0; i < q->orders; i++)
		if (!depend(b, q->order[i].e, &tables))
			return false;
	for (unsigned i = 0; i < q->windows; i++)
		if (!depend(b, q->window[i], &tables))
			return false;
	return depend(b, q->having, &tables);
}

static bool
is_constant(const struct ast_expr *e)
{
	return e->kind == AST_STRING || e->kind == AST_NUMBER || e->kind == AST_NULL || e->kind == AST_BOOL;
}

/*
 * leaf: of each expression of GROUP BY the group; of: of each group the item of the select list,
 * if there is one.
 */
static bool
groups(struct bind *b, const struct ast_select *q, const struct bind_list *l, unsigned *leaf, unsigned *of)
{
	b->agg.not_in = "GROUP BY";
	for (unsigned i = 0; i < q->groups; i++) {
		const struct ast_expr *e = q->group[i];
		unsigned item = NO_ITEM;
		if (e->kind == AST_INT) {
			if (e->i < 1 || e->i > l->n)
				return sql_bind_fail(b, e->position, "42P10",
				    "GROUP BY position %lld is not in select list", (long long)e->i);
			item = (unsigned)e->i - 1;
			e = l->t[item].e;
		} else if (is_constant(e)) {
			return sql_bind_fail(b, e->position, "42601", "non-integer constant in GROUP BY");
		} else if (e->kind == AST_COLUMN && e->qual == NULL && e->len == 0) {
			/* a column of the input first, then a name of the output */
			unsigned t, c;
			struct cat_err keep = *b->err;
			if (!sql_bind_find_column(b, NULL, e->text, e->position, &t, &c) &&
			    strcmp(b->err->sqlstate, "42703") == 0)
				for (unsigned k = 0; k < l->n; k++)
					if (l->t[k].name && strcmp(l->t[k].name, e->text) == 0) {
						e = l->t[item = k].e;
						break;
					}
			*b->err = keep;
		}
		for (unsigned k = 0; q->gsets > 0 && k < l->n && item == NO_ITEM; k++)
			if (sql_bind_same(b, l->t[k].e, e))
				item = k;
		if (sql_bind_has_agg(b, e))
			return sql_bind_fail(
			    b, e->position, "42803", "aggregate functions are not allowed in GROUP BY");
		if (!add_group(b, e, &leaf[i], q->gsets > 0 ? item : NO_ITEM, of))
			return false;
		of[leaf[i]] = item;
	}
	return true;
}

/* ---- putting it together ---------------------------------------------------------------- */

static bool
out_push(struct bind *b, struct bind_out *o, struct sql_expr *e)
{
	if (o->n == o->cap) {
		unsigned cap = o->cap ? o->cap * 2 : 16;
		struct sql_expr **more = sql_bind_take(b, cap * sizeof *more);
		if (more == NULL)
			return false;
		const struct ast_expr **ast = sql_bind_take(b, cap * sizeof *ast);
		if (ast == NULL)
			return false;
		if (o->n) {
			memcpy(more, o->e, o->n * sizeof *more);
			memcpy(ast, o->ast, o->n * sizeof *ast);
		}
		o->ast = ast;
		o->e = more;
		o->cap = cap;
	}
	o->e[o->n++] = e;
	return true;
}

static struct sql_expr *
settled(struct bind *b, struct sql_expr *e)
{
	bool torn = b->plan->torn != 0;
	sql_bind_fix_param(b, e, CAT_TEXT);
	if (!torn && b->plan->torn != 0)
		b->plan->torn_typmod = BIND_TORN_AT_END;
	return e ? sql_expr_default_type(b->a, e, b->err) : NULL;
}

bool
sql_bind_ordered(struct bind *b, enum cat_type t, const char *what, int position)
{
	if (cat_type_is_ordered(t))
		return true;
	sql_bind_fail(
	    b, position, "42883", "could not identify an %s operator for type %s", what, cat_type_name(t));
	if (what[0] == 'o')
		snprintf(b->err->hint, sizeof b->err->hint,
		    "Use an explicit ordering operator or modify the query.");
	return false;
}

/* The column of the projection that an item of ORDER BY or DISTINCT ON is; maybe a new, hidden
 * one. */
static bool
sort_column(struct bind *b, const struct ast_select *q, const struct bind_list *l, struct bind_out *o,
    const struct ast_expr *e, const char *what, unsigned *col)
{
	*col = UINT32_MAX;
	if (e->kind == AST_INT) {
		if (e->i < 1 || e->i > l->n)
			return sql_bind_fail(b, e->position, "42P10",
			    "%s position %lld is not in select list", what, (long long)e->i);
		*col = (unsigned)e->i - 1;
		return true;
	}
	if (is_constant(e))
		return sql_bind_fail(b, e->position, "42601", "non-integer constant in %s", what);
	if (e->kind == AST_COLUMN && e->qual == NULL)
		for (unsigned t = 0; t < l->n; t++) {
			if (l->t[t].name == NULL || strcmp(l->t[t].name, e->text) != 0)
				continue;
			if (*col != UINT32_MAX && !sql_bind_same(b, l->t[*col].e, l->t[t].e))
				return sql_bind_fail(
				    b, e->position, "42702", "%s \"%s\" is ambiguous", what, e->text);
			*col = *col == UINT32_MAX ? t : *col;
		}
	for (unsigned t = 0; t < l->n && *col == UINT32_MAX; t++)
		if (sql_bind_same(b, l->t[t].e, e))
			*col = t;
	for (unsigned t = l->n; t < o->n && *col == UINT32_MAX; t++)
		if (o->ast[t] != NULL && sql_bind_same(b, o->ast[t], e))
			*col = t;
	if (*col != UINT32_MAX)
		return true;
	if (q->sets > 0 && e->kind == AST_COLUMN)
		return sql_bind_find_column(
		    b, e->qual, e->text, e->position, &(unsigned){ 0 }, &(unsigned){ 0 });
	if (q->sets > 0) {
		while (e->kind == AST_OP && e->nargs == 2)
			e = e->args[0];
		sql_bind_fail(b, e->position, "0A000", "invalid UNION/INTERSECT/EXCEPT ORDER BY clause");
		snprintf(b->err->detail, sizeof b->err->detail,
		    "Only result column names can be used, not expressions or functions.");
		snprintf(b->err->hint, sizeof b->err->hint,
		    "Add the expression/function to every SELECT, or move the UNION into a FROM "
		    "clause.");
		return false;
	}
	if (q->rows > 0)
		return sql_bind_fail(
		    b, e->position, "0A000", "%s expressions over VALUES are not supported yet", what);
	if (q->distinct)
		return sql_bind_fail(b, e->position, "42P10",
		    "for SELECT DISTINCT, ORDER BY expressions must appear in select list");
	b->win.ok = true;
	b->srf.now = b->srf.all;
	struct sql_expr *x = settled(b, sql_bind_expr(b, e));
	b->win.ok = false;
	b->srf.now = NULL;
	*col = o->n;
	if (x == NULL || !sql_bind_srf_item(b, x, e->position) || !out_push(b, o, x))
		return false;
	o->ast[*col] = e;
	return true;
}

static bool
order_by(struct bind *b, const struct ast_select *q, const struct bind_list *l, struct bind_out *o,
    struct sql_sort_key *keys)
{
	b->agg.not_in = "ORDER BY";
	for (unsigned i = 0; i < q->orders; i++) {
		struct sql_sort_key *k = &keys[i];
		*k =
		    (struct sql_sort_key){ .desc = q->order[i].desc, .nulls_first = q->order[i].nulls_first };
		if (!sort_column(b, q, l, o, q->order[i].e, "ORDER BY", &k->col))
			return false;
		if (k->col < o->n &&
		    !sql_bind_ordered(b, o->e[k->col]->type, "ordering", q->order[i].e->position))
			return false;
	}
	return true;
}

/* DISTINCT ON: its columns come first in the order, so rows alike in them come one after the
 * other. */
static bool
distinct_on(struct bind *b, const struct ast_select *q, const struct bind_list *l, struct bind_out *o,
    struct sql_sort_key *keys, unsigned *orders, unsigned **on, unsigned *ons)
{
	b->agg.not_in = "DISTINCT ON";
	*orders = q->orders;
	*ons = 0;
	if ((*on = sql_bind_take(b, q->ons * sizeof **on)) == NULL)
		return false;
	for (unsigned i = 0; i < q->ons; i++) {
		unsigned col, k = 0;
		if (!sort_column(b, q, l, o, q->on[i], "DISTINCT ON", &col))
			return false;
		while (k < *ons && (*on)[k] != col)
			k++;
		if (k == *ons)
			(*on)[(*ons)++] = col;
	}
	unsigned found = 0;
	bool other = false, late = false;
	for (unsigned k = 0; k < q->orders; k++) {
		bool in = false, before = false;
		for (unsigned i = 0; i < *ons; i++)
			in |= (*on)[i] == keys[k].col;
		for (unsigned j = 0; j < k; j++)
			before |= keys[j].col == keys[k].col;
		if (before)
			continue;
		late |= in && other;
		found += in;
		other |= !in;
	}
	if (late || (other && found < *ons))
		return sql_bind_fail(b, q->on[0]->position, "42P10",
		    "SELECT DISTINCT ON expressions must match initial ORDER BY expressions");
	for (unsigned i = 0; i < *ons; i++) {
		bool there = false;
		for (unsigned k = 0; k < *orders; k++)
			there |= keys[k].col == (*on)[i];
		if (!there)
			keys[(*orders)++] = (struct sql_sort_key){ .col = (*on)[i] };
	}
	return true;
}

static struct sql_expr *
row_count(struct bind *b, const struct ast_expr *e, const char *what)
{
	if (sql_bind_has_agg(b, e)) {
		sql_bind_fail(b, e->position, "42803", "aggregate functions are not allowed in %s", what);
		return NULL;
	}
	unsigned lo = b->from.lo, hi = b->from.hi;
	bool grouped = b->agg.grouped;
	b->from.lo = b->from.hi = 0;
	b->agg.grouped = false;
	b->agg.not_in = what;
	struct sql_expr *x = sql_bind_expr_as(b, e, CAT_INT8);
	b->from.lo = lo;
	b->from.hi = hi;
	b->agg.grouped = grouped;
	if (x == NULL) {
		if (strcmp(b->err->sqlstate, "42703") == 0)
			sql_bind_fail(
			    b, e->position, "42P10", "argument of %s must not contain variables", what);
		return NULL;
	}
	return sql_expr_assign(b->a, x, CAT_INT8, -1, what, e->position, b->err);
}

static bool
answer_columns(struct bind *b, const struct bind_list *l, const struct bind_out *o, bool quiet)
{
	b->answer.columns = l->n;
	if ((b->answer.column = sql_bind_take(b, l->n * sizeof *b->answer.column)) == NULL)
		return false;
	if (!quiet) {
		b->plan->columns = b->answer.columns;
		b->plan->column = b->answer.column;
	}
	for (unsigned i = 0; i < l->n; i++) {
		struct sql_column *c = &b->answer.column[i];
		snprintf(c->name, sizeof c->name, "%s", l->t[i].name ? l->t[i].name : "?column?");
		c->type = o->e[i]->type;
		c->typmod = o->e[i]->typmod;
		c->domain = o->e[i]->domain;
		sql_bind_origin(b, l->t[i].e, c);
	}
	return true;
}

static struct sql_node *
values(struct bind *b, const struct ast_select *q, struct bind_list *l, struct bind_out *o)
{
	struct sql_expr **e = sql_bind_take(b, (size_t)q->rows * q->cols * sizeof *e);
	struct sql_expr **col = sql_bind_take(b, q->rows * sizeof *col);
	struct sql_expr **raw = sql_bind_take(b, q->rows * sizeof *raw);
	struct sql_op_values *n = sql_new_values(b, NULL, q->cols);
	if (e == NULL || col == NULL || raw == NULL || n == NULL)
		return NULL;
	b->agg.not_in = "VALUES";
	for (size_t k = 0; k < (size_t)q->rows * q->cols; k++)
		if ((e[k] = sql_bind_expr(b, q->values[k])) == NULL)
			return NULL;
	for (unsigned c = 0; c < q->cols; c++) {
		for (unsigned r = 0; r < q->rows; r++)
			col[r] = e[(size_t)r * q->cols + c];
		memcpy(raw, col, q->rows * sizeof *raw);
		if (q->rows > 1 ? !sql_expr_unify(b->a, col, q->rows, "VALUES", b->err)
				: (col[0] = settled(b, col[0])) == NULL)
			return NULL;
		sql_bind_learn_all(b, raw, q->rows);
		for (unsigned r = 0; r < q->rows; r++)
			if ((e[(size_t)r * q->cols + c] = settled(b, col[r])) == NULL)
				return NULL;
		struct ast_expr *name = sql_bind_take(b, sizeof *name);
		char *text = nam_arena_printf(b->a, "column%u", c + 1);
		if (name == NULL || text == NULL)
			return NULL;
		*name = (struct ast_expr){ .kind = AST_DEFAULT, .text = text };
		struct sql_expr *x = sql_expr_column(b->a, c, col[0]->type, sql_expr_typmod(col, q->rows), 0);
		if (!push(b, l, name, text) || x == NULL || !out_push(b, o, x))
			return NULL;
	}
	n->e = e;
	n->cols = q->cols;
	n->rows = q->rows;
	n->node.est_rows = q->rows;
	return &n->node;
}

static bool
is_grouped(struct bind *b, const struct ast_select *q)
{
	if (q->groups > 0 || q->gsets > 0 || q->having != NULL)
		return true;
	for (unsigned i = 0; i < q->targets; i++)
		if (sql_bind_has_agg(b, q->target[i].e))
			return true;
	for (unsigned i = 0; i < q->orders; i++)
		if (sql_bind_has_agg(b, q->order[i].e))
			return true;
	for (unsigned i = 0; i < q->windows; i++)
		if (sql_bind_has_agg(b, q->window[i]))
			return true;
	for (unsigned i = 0; i < q->ons; i++)
		if (sql_bind_has_agg(b, q->on[i]))
			return true;
	return false;
}

static bool
set(struct bind *b, const struct ast_select *q, struct bind_query *w)
{
	struct sql_column *col;
	unsigned n;
	if ((w->set = sql_bind_set(b, q, &col, &n)) == NULL)
		return false;
	for (unsigned i = 0; i < n; i++) {
		struct ast_expr *name = sql_bind_take(b, sizeof *name);
		struct sql_expr *x = sql_expr_column(b->a, i, col[i].type, col[i].typmod, 0);
		if (name == NULL || x == NULL)
			return false;
		x->domain = col[i].domain;
		*name = (struct ast_expr){ .kind = AST_DEFAULT, .text = col[i].name, .i = i };
		if (!push(b, &w->l, name, name->text) || !out_push(b, &w->o, x))
			return false;
	}
	return true;
}

static bool
note_used(struct bind *b)
{
	for (unsigned k = 0; k < b->from.tables; k++) {
		struct bind_table *t = b->from.table[k];
		if ((t->was_used = sql_bind_take(b, t->tab->columns)) == NULL)
			return false;
		memcpy(t->was_used, t->used, t->tab->columns);
	}
	return true;
}

bool
sql_bind_told_first(struct bind *b, const struct ast_select *q, bool all)
{
	struct cat_err keep = *b->err;
	struct bind_list l = { 0 };
	if (strncmp(keep.sqlstate, "53", 2) == 0 || strncmp(keep.sqlstate, "54", 2) == 0)
		return false;
	*b->err = (struct cat_err){ 0 };
	bool ok = select_list(b, q, &l) && sql_bind_srf_begin(b);
	b->agg.groups = 0;
	b->agg.grouped = ok && is_grouped(b, q);
	b->win.ok = true;
	b->agg.not_in = "the select list";
	for (unsigned i = 0; ok && i < l.n; i++)
		ok = sql_bind_expr(b, l.t[i].e) != NULL;
	b->win.ok = false;
	b->agg.not_in = "HAVING";
	ok = ok && (!all || q->having == NULL || sql_bind_expr_as(b, q->having, CAT_BOOL) != NULL);
	struct sql_sort_key *key = ok && all ? sql_bind_take(b, (q->orders + 1) * sizeof *key) : NULL;
	struct bind_out o = { 0 };
	for (unsigned i = 0; key != NULL && ok && i < l.n; i++) {
		struct cat_datum one = { .type = CAT_INT4, .v.i = 1 };
		ok = out_push(b, &o, sql_expr_const(b->a, one, 0));
	}
	ok = ok && (key == NULL || order_by(b, q, &l, &o, key));
	if (ok)
		*b->err = keep;
	return false;
}

/*
 * The select list of an EXISTS is valid, and that is all that counts: its columns are not read.
 * Unless its calls decide how many rows there are.
 */
static bool
forget_list(struct bind *b, const struct ast_select *q, struct bind_out *o, unsigned ties)
{
	struct cat_datum one = { .type = CAT_INT4, .v.i = 1 };
	if (b->agg.grouped || b->srf.all->sets > 0 || b->win.all != NULL || q->distinct || q->ons > 0 ||
	    q->orders > 0)
		return true;
	b->around.sub->ties = ties;
	for (unsigned k = 0; k < b->from.tables; k++)
		memcpy(b->from.table[k]->used, b->from.table[k]->was_used, b->from.table[k]->tab->columns);
	for (unsigned i = 0; i < o->n; i++)
		if ((o->e[i] = sql_expr_const(b->a, one, o->e[i]->position)) == NULL)
			return cat_error(b->err, "53200", "out of memory");
	return true;
}

/* An item of the select list. A parameter by itself gets no type by what comes later. */
static struct sql_expr *
list_item(struct bind *b, const struct ast_select *q, const struct ast_expr *e)
{
	bool bare = false;
	for (unsigned i = 0; e->kind == AST_PARAM && b->answer.bare != NULL && i < q->targets; i++)
		bare |= q->target[i].e == e && b->answer.bare[i];
	return bare ? sql_expr_param(b->a, (unsigned)e->i - 1, CAT_UNKNOWN, e->position)
		    : sql_bind_expr(b, e);
}

static bool
begin(struct bind *b, const struct ast_select *q)
{
	struct bind_query *w = sql_bind_take(b, sizeof *w);
	if (w == NULL)
		return false;
	b->answer.query = w;
	w->q = q;
	if (q->locks > 0)
		b->plan->locks = true;
	if (q->sets > 0) {
		if (!set(b, q, w))
			return false;
	} else if (q->rows > 0) {
		if ((w->source = values(b, q, &w->l, &w->o)) == NULL)
			return false;
	} else {
		if (!sql_bind_from(b, q) || !select_list(b, q, &w->l) ||
		    ((b->from.lazy || b->around.exists) && !note_used(b)))
			return false;
		bool grouped = is_grouped(b, q);
		unsigned *leaf = sql_bind_take(b, (q->groups + 1) * sizeof *leaf);
		unsigned *of = sql_bind_take(b, (q->groups + 1) * sizeof *of), named;
		if (leaf == NULL || of == NULL)
			return false;
		if (!groups(b, q, &w->l, leaf, of))
			return sql_bind_told_first(b, q, true);
		named = b->agg.groups;
		if (!add_dependent(b, q, &w->l, leaf))
			return false;
		if ((q->groups > 0 || q->gsets > 1) && q->gsets > 0 && !sql_bind_gsets(b, q, leaf))
			return false;
		b->agg.grouped = grouped;
		unsigned ties = b->around.sub ? b->around.sub->ties : 0;
		if (!sql_bind_srf_begin(b))
			return false;
		for (unsigned i = 0; i < w->l.n; i++) {
			b->agg.not_in = "the select list";
			b->win.ok = true;
			unsigned g = 0;
			while (g < named && (q->gsets == 0 || of[g] != i))
				g++;
			const struct ast_expr *item = w->l.t[i].e;
			struct sql_expr *e = g == named ? list_item(b, q, item)
							: sql_expr_column(b->a, g, b->agg.key[g]->type,
							      b->agg.key[g]->typmod, item->position);
			b->win.ok = false;
			if (e != NULL && !sql_bind_srf_item(b, e, w->l.t[i].e->position))
				return false;
			if (e != NULL && e->type == CAT_UNKNOWN && i < b->answer.into_maps && !q->distinct) {
				const struct cat_column *c = &b->answer.into->column[b->answer.into_map[i]];
				struct sql_expr *was = e;
				sql_bind_fix_param_as(b, e, c->type, c->typmod, c->domain);
				e = sql_expr_assign(
				    b->a, e, c->type, c->typmod, c->name, w->l.t[i].e->position, b->err);
				sql_bind_learn(b, was);
			}
			if (e == NULL || e->type != CAT_UNKNOWN || !b->answer.keep_unknown)
				e = settled(b, e);
			if (e == NULL || !out_push(b, &w->o, e))
				return false;
		}
		b->srf.now = NULL;
		if (b->around.exists && !forget_list(b, q, &w->o, ties))
			return false;
		if (q->having != NULL) {
			b->agg.not_in = "HAVING";
			w->having = sql_bind_expr_as(b, q->having, CAT_BOOL);
			if (w->having == NULL)
				return false;
			if (w->having->type != CAT_BOOL) {
				sql_bind_fail(b, q->having->position, "42804",
				    "argument of HAVING must be type boolean, not type %s",
				    cat_type_name(w->having->type));
				return false;
			}
		}
	}
	b->answer.columns = w->l.n;
	b->answer.output = w->o.e;
	return true;
}

bool
sql_bind_select_begin(struct bind *b, const struct ast_select *q)
{
	return sql_bind_with(b, q->with, q) && (begin(b, q) || sql_bind_with_told_first(b));
}

static bool
rest(struct bind *b, bool quiet)
{
	struct bind_query *w = b->answer.query;
	const struct ast_select *q = w->q;
	struct bind_out *o = &w->o;
	if ((w->key = sql_bind_take(b, ((size_t)q->orders + q->ons) * sizeof *w->key)) == NULL)
		return false;
	for (unsigned i = 0; i < o->n; i++)
		if (o->e[i]->type == CAT_UNKNOWN && (o->e[i] = settled(b, o->e[i])) == NULL)
			return false;
	if (!answer_columns(b, &w->l, o, quiet))
		return false;
	w->shown = o->n;
	if (!order_by(b, q, &w->l, o, w->key) || !sql_bind_window_defs(b, q))
		return false;
	if ((q->limit && q->limit->kind != AST_NULL &&
		(w->limit = row_count(b, q->limit, "LIMIT")) == NULL) ||
	    (q->offset && (w->offset = row_count(b, q->offset, "OFFSET")) == NULL))
		return false;
	w->keys = q->orders;
	if (q->ons > 0 && !distinct_on(b, q, &w->l, o, w->key, &w->keys, &w->on, &w->ons))
		return false;
	for (unsigned i = 0; q->distinct && i < o->n; i++)
		if (!sql_bind_ordered(b, o->e[i]->type, "equality", o->e[i]->position))
			return false;
	w->rows_at = o->n;
	if (w->source == NULL && w->set == NULL && !sql_bind_locks(b, q))
		return false;
	for (unsigned i = b->from.rows_at; i != 0 && i < b->from.width; i++) {
		struct sql_expr *row = sql_expr_column(b->a, i, CAT_INT8, -1, 0);
		if (row == NULL || !out_push(b, o, row))
			return false;
	}
	if (b->agg.ungrouped != NULL) {
		*b->err = *b->agg.ungrouped;
		return false;
	}
	return true;
}

bool
sql_bind_select_rest(struct bind *b, bool quiet)
{
	return rest(b, quiet) || sql_bind_with_told_first(b);
}

struct sql_node *
sql_bind_select_end(struct bind *b, bool quiet)
{
	return sql_bind_select_rest(b, quiet) ? sql_plan_select(b) : NULL;
}

struct sql_node *
sql_bind_select(struct bind *b, const struct ast_select *q, bool quiet)
{
	return sql_bind_select_begin(b, q) ? sql_bind_select_end(b, quiet) : NULL;
}
