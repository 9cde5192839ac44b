/* set.c -- UNION, INTERSECT, EXCEPT: from left to right, each pair of columns brought to one
 * type. */
#include <sql/plan/bind/bind.h>
#include <sql/plan/bind/scope.h>

static const char *
name_of(enum ast_setop op)
{
	return op == AST_UNION ? "UNION" : op == AST_EXCEPT ? "EXCEPT" : "INTERSECT";
}

/* What the queries so far come to. */
struct so_far {
	struct sql_node **kid; /* to be put one after the other */
	unsigned kids;
	bool distinct; /* and then each row once */
	const struct sql_column *col;
	unsigned cols;
};

static struct sql_node *
once(struct bind *b, struct sql_node *child, const struct sql_column *col, unsigned n)
{
	struct sql_op_agg *d = sql_new_agg(b, child, n);
	if (d == NULL || (d->key = sql_bind_take(b, n * sizeof *d->key)) == NULL)
		return NULL;
	for (unsigned i = 0; i < n; i++)
		if ((d->key[i] = sql_expr_column(b->a, i, col[i].type, col[i].typmod, 0)) == NULL)
			return NULL;
	d->keys = n;
	d->node.est_rows = child->est_rows / 2 + 1;
	return &d->node;
}

/* All so far as one node. */
static struct sql_node *
whole(struct bind *b, struct so_far *s)
{
	struct sql_node *n = s->kid[0];
	if (s->kids > 1) {
		struct sql_op_append *a;
		if (!sql_bind_deeper(b, b->nest.deep, 0) || (a = sql_new_append(b, NULL, s->cols)) == NULL ||
		    (a->kid = sql_bind_take(b, s->kids * sizeof *a->kid)) == NULL)
			return NULL;
		memcpy(a->kid, s->kid, s->kids * sizeof *a->kid);
		a->kids = s->kids;
		a->node.est_rows = 0;
		for (unsigned i = 0; i < s->kids; i++)
			a->node.est_rows += s->kid[i]->est_rows;
		n = &a->node;
	}
	if (s->distinct && (n = once(b, n, s->col, s->cols)) == NULL)
		return NULL;
	s->kid[0] = n;
	s->kids = 1;
	s->distinct = false;
	return n;
}

static struct bind *
begin(struct bind *b, const struct ast_select *q)
{
	struct bind *c = sql_bind_child(b, 0);
	if (c == NULL)
		return NULL;
	c->nest.nodes = b->nest.nodes;
	c->answer.keep_unknown = true;
	bool ok = sql_bind_select_begin(c, q);
	b->nest.nodes = c->nest.nodes;
	return ok ? c : NULL;
}

static bool
rest(struct bind *b, struct bind *c)
{
	c->nest.nodes = b->nest.nodes;
	bool ok = sql_bind_select_rest(c, true);
	b->nest.nodes = c->nest.nodes;
	return ok && sql_bind_deeper(b, c->nest.deep, 0);
}

/*
 * Column i of both sides in one type. A literal without a type is made over where it stands, any
 * other expression is cast above its query (*cast: is that so?).
 */
static bool
match(struct bind *b, struct sql_column *col, struct bind *left, struct bind_branch *r, unsigned i,
    const char *what)
{
	struct bind *right = r->b;
	struct sql_expr *l = left ? left->answer.output[i] : NULL, *x = right->answer.output[i];
	int at = l ? l->position : 0;
	enum cat_type lt = l ? l->type : col[i].type, rt = x->type;
	int32_t ltm = l ? l->typmod : col[i].typmod;
	if (l != NULL)
		sql_bind_fix_param_as(b, l, rt == CAT_UNKNOWN ? CAT_TEXT : rt, x->typmod, 0);
	sql_bind_fix_param_as(b, x, lt == CAT_UNKNOWN ? CAT_TEXT : lt, ltm, 0);
	lt = l ? l->type : lt;
	ltm = l ? l->typmod : ltm;
	rt = x->type;
	struct sql_expr *pair[2] = { l, x };
	uint32_t ldomain = l ? l->domain : col[i].domain;
	if (lt != CAT_UNKNOWN)
		pair[0] = sql_expr_column(b->a, i, lt, ltm, at);
	if (rt != CAT_UNKNOWN)
		pair[1] = sql_expr_column(b->a, i, rt, x->typmod, x->position);
	if (pair[0] == NULL || pair[1] == NULL || !sql_expr_unify(b->a, pair, 2, what, b->err))
		return false;
	if (!(r->op->op == AST_UNION && r->op->all) &&
	    !sql_bind_ordered(b, pair[0]->type, "equality", x->position))
		return false;
	col[i].type = pair[0]->type;
	/* a cast of a column to varchar, or to text, is one of its name only */
	col[i].typmod = sql_expr_typmod(pair, 2);
	col[i].domain = ldomain == x->domain ? ldomain : 0;
	if (lt == CAT_UNKNOWN)
		left->answer.output[i] = pair[0];
	if (rt == CAT_UNKNOWN)
		right->answer.output[i] = pair[1];
	r->lcast |= lt != CAT_UNKNOWN && pair[0]->kind != SQL_COLUMN;
	r->rcast |= rt != CAT_UNKNOWN && pair[1]->kind != SQL_COLUMN;
	r->le[i] = lt != CAT_UNKNOWN ? pair[0] : sql_expr_column(b->a, i, pair[0]->type, -1, 0);
	r->re[i] = rt != CAT_UNKNOWN ? pair[1] : sql_expr_column(b->a, i, pair[1]->type, -1, 0);
	return r->le[i] != NULL && r->re[i] != NULL;
}

static bool
combine(struct bind *b, struct so_far *s, const struct ast_set *op, struct sql_node *right)
{
	if (op->op == AST_UNION) {
		/* a distinct end makes the steps before it superfluous */
		if (op->all && s->distinct && whole(b, s) == NULL)
			return false;
		s->distinct |= !op->all;
		s->kid[s->kids++] = right;
		return true;
	}
	struct sql_node *left = whole(b, s);
	if (left == NULL || !sql_bind_deeper(b, b->nest.deep, 0))
		return false;
	struct sql_op_setop *n = sql_new_setop(b, left, s->cols);
	if (n == NULL || (n->type = sql_bind_take(b, s->cols * sizeof *n->type)) == NULL)
		return false;
	for (unsigned i = 0; i < s->cols; i++)
		n->type[i] = s->col[i].type;
	n->node.build = right;
	n->op = op->op;
	n->all = op->all;
	n->cols = s->cols;
	n->node.est_rows =
	    op->op == AST_INTERSECT && right->est_rows < left->est_rows ? right->est_rows : left->est_rows;
	s->kid[0] = &n->node;
	return true;
}

/* A branch is bound where the relations are seen that are made of those before it. A column that it
 * misses is ambiguous if one of them has two of its name (guess.c). False. */
static bool
missed(struct bind *b, const struct ast_select *q, unsigned before)
{
	const struct bind_seen at = { .b = b, .cte = b->nest.cte };
	const struct cat_err was = *b->err;
	const char *name = b->plan->unknown_column;
	bool is = false;
	if (strcmp(was.sqlstate, "42703") != 0 || name == NULL)
		return false;
	for (unsigned k = 0; k < before; k++) {
		const struct bind_names *names = sql_bind_query_names(&at, q->set[k].q);
		unsigned n = 0;
		for (unsigned i = 0; i < names->n; i++)
			n += strcmp(names->name[i], name) == 0;
		is |= n > 1;
	}
	*b->err = was;
	return is ? sql_bind_fail(b, was.position, "42702", "column reference \"%s\" is ambiguous", name)
		  : false;
}

struct bind_set *
sql_bind_set(struct bind *b, const struct ast_select *q, struct sql_column **column, unsigned *columns)
{
	struct bind_set *s = sql_bind_take(b, sizeof *s);
	struct bind *first = begin(b, q->set[0].q);
	if (s == NULL || first == NULL || (s->branch = sql_bind_take(b, q->sets * sizeof *s->branch)) == NULL)
		return NULL;
	s->cols = first->answer.columns;
	s->branches = q->sets;
	s->branch[0].b = first;
	struct sql_column *col = sql_bind_take(b, s->cols * sizeof *col);
	if (col == NULL)
		return NULL;
	for (unsigned k = 1; k < q->sets; k++) {
		const struct ast_set *op = &q->set[k];
		struct bind_branch *r = &s->branch[k];
		struct bind *next = r->b = begin(b, op->q);
		if (next == NULL) {
			if (first->agg.ungrouped != NULL) /* told when its query ends */
				*b->err = *first->agg.ungrouped;
			else
				(void)missed(b, q, k);
			return NULL;
		}
		if (next->answer.columns != s->cols) {
			sql_bind_fail(b, next->answer.columns > 0 ? next->answer.output[0]->position : 0,
			    "42601", "each %s query must have the same number of columns", name_of(op->op));
			return NULL;
		}
		r->op = op;
		r->le = sql_bind_take(b, s->cols * sizeof *r->le);
		r->re = sql_bind_take(b, s->cols * sizeof *r->re);
		r->was = sql_bind_take(b, s->cols * sizeof *r->was);
		r->now = sql_bind_take(b, s->cols * sizeof *r->now);
		if (r->le == NULL || r->re == NULL || r->was == NULL || r->now == NULL)
			return NULL;
		memcpy(r->was, col, s->cols * sizeof *col);
		for (unsigned i = 0; i < s->cols; i++)
			if (!match(b, col, k == 1 ? first : NULL, r, i, name_of(op->op)))
				return NULL;
		if (k == 1) {
			if (!rest(b, first))
				return NULL;
			for (unsigned i = 0; i < s->cols; i++)
				memcpy(col[i].name, first->answer.column[i].name, sizeof col[i].name);
		}
		memcpy(r->now, col, s->cols * sizeof *col);
		if (!rest(b, next))
			return NULL;
	}
	s->col = *column = col;
	*columns = s->cols;
	return s;
}

struct sql_node *
sql_plan_set(struct bind *b, struct bind_set *set)
{
	struct so_far s = { .kid = sql_bind_take(b, set->branches * sizeof *s.kid), .cols = set->cols };
	if (s.kid == NULL)
		return NULL;
	for (unsigned k = 0; k < set->branches; k++) {
		const struct bind_branch *r = &set->branch[k];
		struct sql_node *right = sql_plan_child(b, r->b);
		if (right == NULL ||
		    (r->rcast && (right = sql_plan_project(b, right, r->re, s.cols)) == NULL))
			return NULL;
		if (k == 0) {
			s.kid[s.kids++] = right;
			continue;
		}
		if (r->lcast) {
			s.col = r->was; /* below the casts rows are as they were */
			if (whole(b, &s) == NULL ||
			    (s.kid[0] = sql_plan_project(b, s.kid[0], r->le, s.cols)) == NULL)
				return NULL;
		}
		s.col = r->now;
		if (!combine(b, &s, r->op, right))
			return NULL;
	}
	return whole(b, &s);
}
