/*
 * patience.c -- how many outer rows a subquery answers one by one before it finds the answers
 * to all of them.
 *
 * Where one answer takes as long as all do, because both read the same table, none. Where an
 * answer is a look-up, as many as take as long as the set would: whatever then comes, no more
 * than twice the time of the better way is spent. Where hardly any row is expected to ask, a few:
 * a guess may be wrong. Where all rows that are expected to ask take a small part of the set's
 * time, twice as many.
 */
#include <sql/plan/cost.h>
#include <sql/plan/plan_internal.h>
#include <sql/plan/sub.h>

#include <math.h>

enum { PATIENT = 256, IMPATIENT = 4, ALIKE = 2, MUCH = 4 };

/* The answers to `rows` rows take less than the set, which takes as long as `even` of them. */
static unsigned
patience_of(double rows, double even)
{
	double most = rows * MUCH < even ? fmin(fmax(2 * rows, PATIENT), 1 << 30) : PATIENT;
	return (unsigned)fmax(fmin(even, most), IMPATIENT);
}

/* The subqueries in e are asked by so many rows more. */
static void
asked_in(const struct sql_expr *e, double rows)
{
	if (e == NULL)
		return;
	if (e->kind == SQL_SUB)
		((struct sql_sub *)e->sub)->asked_est += rows;
	for (unsigned k = 0; k < e->nargs; k++)
		asked_in(e->args[k], rows);
}

/* By what an operator computes besides its filter, for each of so many rows. */
static void
asked_over(const struct sql_node *n, double rows)
{
	if (n->kind == SQL_NODE_JOIN)
		asked_in(sql_op(join, n)->on, INFINITY);
	if (n->kind == SQL_NODE_LATERAL)
		asked_in(sql_op(lateral, n)->on, INFINITY);
	if (n->kind == SQL_NODE_PROJECT)
		for (unsigned k = 0; k < sql_op(project, n)->es; k++)
			asked_in(sql_op(project, n)->e[k], rows);
	if (n->kind != SQL_NODE_AGG)
		return;
	const struct sql_op_agg *o = sql_op(agg, n);
	for (unsigned k = 0; k < o->keys; k++)
		asked_in(o->key[k], rows);
	for (unsigned k = 0; k < o->aggs; k++) {
		asked_in(o->agg[k].arg, rows);
		asked_in(o->agg[k].filter, rows);
	}
}

static void
asked_by(const struct sql_node *n, double times)
{
	if (n == NULL)
		return;
	double in = n->child != NULL ? n->child->est_rows : n->est_rows;
	if (n->kind == SQL_NODE_SCAN || n->kind == SQL_NODE_GET || n->kind == SQL_NODE_INDEX ||
	    n->kind == SQL_NODE_JOIN)
		in = n->est_seen > n->est_rows ? n->est_seen : n->est_rows;
	asked_in(n->filter, in * times);
	asked_over(n, in * times);
	struct sql_node **k;
	for (const struct sql_cte *c = n->with; c != NULL; c = c->next)
		asked_by(c->plan, 1);
	for (struct sql_inputs i = sql_sources(n); (k = sql_input_next(&i)) != NULL;)
		asked_by(*k, n->kind == SQL_NODE_LATERAL && *k == n->build ? INFINITY : times);
}

void
sql_plan_patience(struct sql_plan *p, const struct sql_costs *c)
{
	for (struct sql_sub *s = p->subs; s != NULL; s = s->next)
		s->asked_est = 0;
	asked_by(p->root, 1);
	for (const struct sql_sub *s = p->subs; s != NULL; s = s->next) {
		asked_by(s->root, s->once ? 1 : INFINITY);
		asked_by(s->set, 1);
	}
	for (struct sql_sub *s = p->subs; s != NULL; s = s->next) {
		if (s->set == NULL)
			continue;
		struct sql_cost_side no_probe = { 0 }, kept = { s->set->est_rows, 0, s->set->est_width };
		double one = s->root->est_cost;
		double all = s->set->est_cost + sql_cost_join(c, &no_probe, &kept, s->keys, 0);
		/* without a count, any number of rows may ask */
		double rows = s->asked_est > 0 ? s->asked_est : INFINITY, even = all / one;
		if (rows * one < all)
			s->patience = patience_of(rows, even);
		else
			s->patience = even < ALIKE ? 0 : even < PATIENT ? (unsigned)even : PATIENT;
	}
}
