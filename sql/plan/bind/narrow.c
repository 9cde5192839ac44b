/*
 * narrow.c -- a scalar subquery's set for those outer rows alone that can pass.
 *
 * The set that answers such a subquery for all outer rows (sub.c) has every key that the tables
 * inside have. If the conditions of the query around, those of WHERE over the tied table alone, let
 * few of its rows pass, few of these keys are ever asked for. Then the subquery gets one condition
 * more: its keys are among those that
 *
 *     SELECT tied columns FROM tied table WHERE those conditions
 *
 * returns, which becomes a semijoin below the set's groups. (The "magic set" of the field.) If a
 * row outside does not pass, it may be told NULL instead of its answer, and falls anyway. So the
 * answer may only be compared, and may not be able to fail.
 */
#include <sql/expr/functions.h>
#include <sql/plan/bind/bind.h>
#include <sql/plan/selectivity.h>
#include <sql/plan/sub.h>

#define FEW_PASS    0.5
#define INSIDE_MORE 4 /* the tables inside have that many times the rows that pass */

/* ---- what is allowed ------------------------------------------------------------------ */

/* True if e is NULL, and does not fail, where all aggregates are NULL. */
static bool
null_of_nulls(const struct sql_expr *e)
{
	if (e->kind == SQL_CONST || e->kind == SQL_COLUMN)
		return true;
	if (e->kind != SQL_CALL || e->fn == NULL || (e->fn->flags & (SQL_FN_NULLS | SQL_FN_VOLATILE)) != 0)
		return false;
	for (unsigned k = 0; k < e->nargs; k++)
		if (!null_of_nulls(e->args[k]))
			return false;
	return true;
}

static bool
no_rows_is_null(const struct bind *b, const struct sql_expr *e)
{
	for (unsigned k = 0; k < b->agg.calls; k++) {
		enum sql_agg_kind kind = b->agg.call[k].kind;
		if (kind != SQL_SUM && kind != SQL_AVG && kind != SQL_MIN && kind != SQL_MAX)
			return false;
	}
	return null_of_nulls(e);
}

/* True if the operators of n compute the same each time, and nobody else reads their rows. */
static bool
repeats(const struct sql_node *n)
{
	bool reads = n->kind == SQL_NODE_SCAN || n->kind == SQL_NODE_INDEX || n->kind == SQL_NODE_GET;
	if ((!reads && n->kind != SQL_NODE_PROJECT) || n->with != NULL || n->build != NULL ||
	    (n->filter != NULL && (sql_expr_volatile(n->filter) || sql_expr_has_sub(n->filter))))
		return false;
	for (unsigned k = 0; n->kind == SQL_NODE_PROJECT && k < sql_op(project, n)->es; k++)
		if (sql_expr_volatile(sql_op(project, n)->e[k]))
			return false;
	return n->child == NULL ? reads : repeats(n->child);
}

/* True if e can be bound a second time where only its table is. */
static bool
may_move(const struct ast_expr *e, const struct bind_cond *c)
{
	if (e->kind == AST_SUB) {
		const struct sql_sub *s = c->e->kind == SQL_SUB ? c->e->sub : NULL;
		if (s == NULL || e->sub != AST_SUB_ANY || !s->once || e->select->with != NULL ||
		    e->select->locks > 0 || !repeats(s->root))
			return false;
	} else if (!sql_bind_may_share(e)) {
		return false;
	}
	if (e->kind == AST_COLUMN && e->len > 0)
		return false;
	for (unsigned k = 0; k < e->nargs; k++)
		if (e->args[k]->kind == AST_SUB || !may_move(e->args[k], c))
			return false;
	return true;
}

static bool
is_plain(const struct bind_table *t)
{
	return t->ast != NULL && t->ast->name != NULL && !t->ast->system && t->ast->func == NULL &&
	       t->sub == NULL && t->from == NULL && t->lateral == NULL && t->flats == 0 && !t->within &&
	       !t->joined && !t->view;
}

/* ---- the condition ---------------------------------------------------------------------- */

/* The column of up's FROM list that l, an expression over slots, is. NULL = it is none. */
static const struct sql_expr *
tied_column(const struct sql_sub *s, const struct sql_expr *l)
{
	for (unsigned k = 0; l->kind == SQL_OUTER && k < s->slots; k++)
		if (s->slot[k] == l->index)
			return s->tied[k]->kind == SQL_COLUMN ? s->tied[k] : NULL;
	return NULL;
}

/* Conditions of up over table k alone that may be asked elsewhere, into part; *pass: the share of
 * its rows for which they are true. */
static unsigned
conditions(struct bind *up, unsigned k, struct ast_expr **part, struct sql_expr **e, double *pass)
{
	struct sql_set one = sql_set_one(k);
	unsigned n = 0;
	for (unsigned i = 0; i < up->where.conds; i++) {
		const struct bind_cond *c = &up->where.cond[i];
		if (c->ast == NULL || c->home != 0 || !sql_set_equal(&c->mask, &one) ||
		    sql_bind_speaks_of_outer(c->e) || sql_expr_volatile(c->e) || !may_move(c->ast, c))
			continue;
		e[n] = c->e;
		part[n++] = (struct ast_expr *)c->ast;
	}
	*pass = n > 0 ? sql_sel_all(up, e, n) : 1;
	return n;
}

/* inside[0..n) IN (SELECT outside[0..n) FROM t WHERE part[0] AND ...) */
static struct ast_expr *
condition(struct bind *b, const struct bind_table *t, const unsigned *inside, const unsigned *outside,
    unsigned n, struct ast_expr **part, unsigned parts)
{
	struct ast_expr *in = sql_bind_take(b, sizeof *in), *all = sql_bind_take(b, sizeof *all);
	struct ast_select *q = sql_bind_take(b, sizeof *q);
	struct ast_table *from = sql_bind_take(b, sizeof *from);
	struct ast_target *target = sql_bind_take(b, n * sizeof *target);
	struct ast_expr **args = sql_bind_take(b, n * sizeof *args);
	if (in == NULL || all == NULL || q == NULL || from == NULL || target == NULL || args == NULL)
		return NULL;
	*from = *t->ast;
	for (unsigned k = 0; k < n; k++) {
		unsigned mine = sql_bind_table_at(b, inside[k]);
		struct ast_expr *c = sql_bind_take(b, sizeof *c);
		args[k] = sql_bind_ast_column(b, mine, inside[k] - b->from.table[mine]->base, 0);
		if (c == NULL || args[k] == NULL)
			return NULL;
		*c = (struct ast_expr){ .kind = AST_COLUMN,
			.typmod = -1,
			.len = 1, /* the one table there */
			.i = outside[k] - t->base,
			.text = sql_bind_column_name(t, outside[k] - t->base) };
		target[k] = (struct ast_target){ .e = c, .name = c->text };
	}
	*all = (struct ast_expr){ .kind = AST_AND, .typmod = -1, .nargs = parts, .args = part };
	*q = (struct ast_select){
		.target = target, .targets = n, .table = from, .tables = 1, .where = parts > 1 ? all : part[0]
	};
	*in = (struct ast_expr){ .kind = AST_SUB,
		.typmod = -1,
		.sub = AST_SUB_ANY,
		.text = "=",
		.args = args,
		.nargs = n,
		.select = q };
	return in;
}

/* Binds it as a condition of b's WHERE, whose other clauses are bound. */
static bool
add(struct bind *b, const struct ast_expr *e)
{
	const char *not_in = b->agg.not_in;
	bool grouped = b->agg.grouped;
	struct bind_srf *now = b->srf.now;
	bool windows = b->win.ok;
	b->agg.not_in = "WHERE";
	b->agg.grouped = false;
	b->srf.now = NULL;
	b->win.ok = false;
	b->where.home = 0;
	bool ok = sql_bind_conds(b, e);
	b->agg.not_in = not_in;
	b->agg.grouped = grouped;
	b->srf.now = now;
	b->win.ok = windows;
	return ok;
}

bool
sql_bind_narrow(struct bind *b, struct sql_expr *const *left, struct sql_expr *const *key, unsigned keys,
    const struct sql_expr *answer)
{
	struct bind *up = b->around.up;
	const struct sql_sub *s = b->around.sub;
	if (!b->around.narrow || up->joins.outers > 0 || b->plan->tab != NULL || b->plan->locks ||
	    !no_rows_is_null(b, answer))
		return true;
	unsigned of = up->from.tables, n = 0, most = up->where.conds + 1;
	unsigned *inside = sql_bind_take(b, keys * sizeof *inside),
		 *outside = sql_bind_take(b, keys * sizeof *outside);
	struct ast_expr **part = sql_bind_take(b, most * sizeof *part);
	struct sql_expr **e = sql_bind_take(b, most * sizeof *e);
	if (inside == NULL || outside == NULL || part == NULL || e == NULL)
		return false;
	double pass = 1, most_inside = 0;
	unsigned parts = 0;
	for (unsigned i = 0; i < keys; i++) {
		const struct sql_expr *c = tied_column(s, left[i]);
		if (c == NULL || key[i]->kind != SQL_COLUMN)
			continue;
		unsigned k = sql_bind_table_at(up, c->index), mine = sql_bind_table_at(b, key[i]->index);
		if (k == up->from.tables || mine == b->from.tables || !is_plain(up->from.table[k]) ||
		    (n > 0 && k != of))
			continue;
		if (n == 0 && (parts = conditions(up, k, part, e, &pass)) == 0)
			continue;
		of = k;
		inside[n] = key[i]->index;
		outside[n++] = c->index;
		double rows = sql_sel_rows(b, mine);
		most_inside = rows > most_inside ? rows : most_inside;
	}
	if (n == 0 || pass > FEW_PASS || most_inside < INSIDE_MORE * pass * sql_sel_rows(up, of))
		return true;
	const struct ast_expr *in = condition(b, up->from.table[of], inside, outside, n, part, parts);
	return in != NULL && add(b, in);
}
