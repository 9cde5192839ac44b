/* recursive.c -- WITH RECURSIVE: a query over its own last answer, until there is no new one. */
#include <sql/plan/bind/bind.h>
#include <sql/plan/sub.h>

#include <stdio.h>

/* All but the last query of the chain. */
static struct sql_node *
base(struct bind *b, const struct ast_select *q, struct sql_column **column, unsigned *columns)
{
	struct ast_select *part = sql_bind_take(b, sizeof *part);
	struct bind *child = sql_bind_child(b, 0);
	if (part == NULL || child == NULL)
		return NULL;
	*part = *q;
	part->with = NULL; /* it is bound */
	part->sets--;
	struct sql_node *n = sql_bind_child_select(b, child, part->sets > 1 ? part : q->set[0].q);
	*column = child->answer.column;
	*columns = child->answer.columns;
	return n;
}

/* The last term's column i in the type of the column, which it may not change if it is
 * recursive. */
static struct sql_expr *
match(struct bind *b, const struct ast_cte *c, struct bind *in, unsigned i, const struct bind_cte *self,
    struct sql_expr **left)
{
	struct sql_column *col = &self->column[i];
	struct sql_expr *x = in->answer.output[i];
	sql_bind_fix_param_as(b, x, col->type, col->typmod, 0);
	enum cat_type type = x->type;
	struct sql_expr *pair[2] = { sql_expr_column(b->a, i, col->type, col->typmod, 0), x };
	if (type != CAT_UNKNOWN)
		pair[1] = sql_expr_column(b->a, i, type, x->typmod, x->position);
	if (pair[0] == NULL || pair[1] == NULL || !sql_expr_unify(b->a, pair, 2, "UNION", b->err))
		return NULL;
	*left = pair[0];
	int32_t typmod = sql_expr_typmod(pair, 2);
	if ((pair[0]->type != col->type || typmod != col->typmod) && self->selves > 0) {
		char first[CAT_TYPE_TEXT], all[CAT_TYPE_TEXT];
		sql_bind_fail(b, 0, "42804",
		    "recursive query \"%s\" column %u has type %s in non-recursive term but type %s overall",
		    c->name, i + 1, cat_type_full(col->type, col->typmod, first),
		    cat_type_full(pair[0]->type, typmod, all));
		snprintf(b->err->hint, sizeof b->err->hint,
		    "Cast the output of the non-recursive term to the correct type.");
		return NULL;
	}
	if (col->domain != x->domain && col->domain != 0 && self->selves > 0)
		return sql_bind_fail(b, x->position, "42804",
			   "recursive query \"%s\" column %u is of a domain in non-recursive term but not "
			   "overall",
			   c->name, i + 1),
		       NULL;
	col->domain = col->domain == x->domain ? col->domain : 0;
	col->type = pair[0]->type;
	col->typmod = typmod;
	col->table = 0;
	col->number = 0;
	if (type != CAT_UNKNOWN)
		return pair[1];
	in->answer.output[i] = pair[1];
	return sql_expr_column(b->a, i, col->type, -1, 0);
}

static struct sql_node *
term(struct bind *b, const struct ast_cte *c, const struct ast_select *q, const struct bind_cte *self,
    struct sql_expr **left)
{
	struct bind *in = sql_bind_child(b, c->position);
	if (in == NULL)
		return NULL;
	in->nest.nodes = b->nest.nodes;
	in->answer.keep_unknown = true;
	if (!sql_bind_select_begin(in, q))
		return NULL;
	if (in->answer.columns != self->columns) {
		sql_bind_fail(b, in->answer.columns > 0 ? in->answer.output[0]->position : 0, "42601",
		    "each UNION query must have the same number of columns");
		return NULL;
	}
	if (in->agg.grouped && in->agg.calls > 0 && self->selves > 0) {
		sql_bind_fail(b, in->agg.call[0].ast->position, "42P19",
		    "aggregate functions are not allowed in a recursive query's recursive term");
		return NULL;
	}
	struct sql_expr **e = sql_bind_take(b, in->answer.columns * sizeof *e);
	if (e == NULL)
		return NULL;
	for (unsigned i = 0; i < in->answer.columns; i++)
		if ((e[i] = match(b, c, in, i, self, &left[i])) == NULL)
			return NULL;
	struct sql_node *n = sql_bind_select_end(in, true);
	b->nest.nodes = in->nest.nodes;
	if (n == NULL || !sql_bind_deeper(b, in->nest.deep, 0))
		return NULL;
	return sql_plan_project(b, n, e, in->answer.columns);
}

struct sql_node *
sql_bind_recursive(struct bind *b, const struct ast_cte *c, struct bind_cte *self, struct sql_column **column,
    unsigned *columns)
{
	const struct ast_select *q = c->q;
	struct bind_cte *around = b->nest.cte;
	self->next = around;
	b->nest.cte = self;
	/* A WITH of its own: what the recursive term reads of it again and again is kept. */
	struct bind_cte *with = b->nest.with;
	unsigned withs = b->nest.withs;
	bool ok = sql_bind_with(b, q->with, NULL);
	b->nest.with = with;
	b->nest.withs = withs;
	if (!ok)
		return NULL;
	for (struct bind_cte *w = b->nest.cte; w != self; w = w->next)
		w->run->refs = 1;
	struct sql_node *first = base(b, q, column, columns);
	struct sql_cte *work = sql_bind_take(b, sizeof *work);
	struct sql_sub *own = sql_bind_take(b, sizeof *own);
	if (first == NULL || work == NULL || own == NULL)
		return NULL;
	self->run = work;
	self->column = *column;
	self->columns = *columns;
	self->deep = b->nest.deep;
	if (!sql_bind_cte_names(b, c, self))
		return NULL;
	work->plan = first; /* whose number of rows is what a reader may expect */
	work->name = c->name;
	work->columns = *columns;
	work->arena = b->plan->arenas;
	b->plan->arenas += 2;
	struct sql_expr **left = sql_bind_take(b, *columns * sizeof *left);
	if (left == NULL || (work->type = sql_bind_take(b, *columns * sizeof *work->type)) == NULL)
		return NULL;
	unsigned from = b->plan->arenas;
	struct sql_node *again = term(b, c, q->set[q->sets - 1].q, self, left);
	if (again == NULL)
		return NULL;
	bool cast = false;
	for (unsigned i = 0; i < *columns; i++) {
		work->type[i] = (*column)[i].type;
		cast |= left[i]->kind != SQL_COLUMN;
	}
	if (cast && (first = sql_plan_project(b, first, left, *columns)) == NULL)
		return NULL;
	struct sql_op_recurse *n;
	if (!sql_bind_own_arenas(b, own, from) || (n = sql_new_recurse(b, first, *columns)) == NULL)
		return NULL;
	n->node.build = again;
	n->all = q->set[q->sets - 1].all;
	n->again = self->selves > 0;
	n->work = work;
	n->own = own->arenas;
	n->owns = own->narenas;
	n->node.est_rows = first->est_rows * 10;
	bool done = sql_bind_with_done(b, q->with, &n->node);
	b->nest.cte = around;
	return done ? &n->node : NULL;
}
