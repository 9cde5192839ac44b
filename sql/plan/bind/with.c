/* with.c -- WITH: queries with names. Used once they go where their name stands; used more often
 * they run once. */
#include <sql/plan/bind/bind.h>
#include <sql/plan/sub.h>

#include <stdio.h>
#include <string.h>

bool
sql_bind_cte_names(struct bind *b, const struct ast_cte *c, struct bind_cte *out)
{
	if (c->renames > out->columns)
		return sql_bind_fail(b, c->position, "42P10",
		    "WITH query \"%s\" has %u columns available but %u columns specified", c->name,
		    out->columns, c->renames);
	for (unsigned i = 0; i < c->renames; i++)
		snprintf(out->column[i].name, sizeof out->column[i].name, "%s", c->rename[i]);
	return true;
}

static struct sql_node *
query(struct bind *b, const struct ast_cte *c, struct bind_cte *out)
{
	struct bind *child = sql_bind_child(b, c->position);
	struct sql_node *n = child ? sql_bind_child_select(b, child, c->q) : NULL;
	if (n == NULL)
		return NULL;
	out->column = child->answer.column;
	out->columns = child->answer.columns;
	out->deep = child->nest.deep;
	return n;
}

/* A query that may use itself. */
static struct sql_node *
recursive(struct bind *b, const struct ast_cte *c, struct bind_cte *out)
{
	const struct ast_select *q = c->q;
	struct bind_cte *self = sql_bind_take(b, sizeof *self);
	struct sql_node *n;
	if (self == NULL)
		return NULL;
	*self = (struct bind_cte){
		.name = c->name, .position = c->position, .sub = b->around.sub, .recursing = true
	};
	bool form = q->sets > 1 && q->set[q->sets - 1].op == AST_UNION;
	self->order = form && (q->orders > 0 || q->limit != NULL || q->offset != NULL);
	if (form && !self->order) {
		unsigned deep = b->nest.deep;
		b->nest.deep = 0;
		n = sql_bind_recursive(b, c, self, &out->column, &out->columns);
		out->deep = b->nest.deep;
		b->nest.deep = deep > b->nest.deep ? deep : b->nest.deep;
		return n;
	}
	self->why = !self->order    ? "does not have the form non-recursive-term UNION [ALL] recursive-term"
		    : q->orders > 0 ? "ORDER BY"
		    : q->limit != NULL ? "LIMIT"
				       : "OFFSET";
	self->next = b->nest.cte;
	b->nest.cte = self;
	n = query(b, c, out);
	b->nest.cte = self->next;
	return n;
}

static struct bind_cte *
one(struct bind *b, const struct ast_cte *c, bool may_recurse)
{
	struct bind_cte *out = sql_bind_take(b, sizeof *out);
	if (out == NULL || (out->run = sql_bind_take(b, sizeof *out->run)) == NULL)
		return NULL;
	struct sql_cte *r = out->run;
	out->name = r->name = c->name;
	out->sub = b->around.sub;
	if ((r->plan = may_recurse ? recursive(b, c, out) : query(b, c, out)) == NULL ||
	    !sql_bind_cte_names(b, c, out))
		return NULL;
	r->columns = out->columns;
	if ((r->type = sql_bind_take(b, r->columns * sizeof *r->type)) == NULL)
		return NULL;
	for (unsigned i = 0; i < r->columns; i++)
		r->type[i] = out->column[i].type;
	r->arena = b->plan->arenas++;
	return out;
}

static struct bind_cte *
for_later(struct bind *b, const struct ast_cte *c)
{
	struct bind_cte *out = sql_bind_take(b, sizeof *out);
	if (out == NULL || (out->run = sql_bind_take(b, sizeof *out->run)) == NULL)
		return NULL;
	out->name = c->name;
	out->sub = b->around.sub;
	out->later = c;
	return out;
}

bool
sql_bind_steps(struct bind *b, const struct sql_step *first)
{
	for (const struct sql_step *s = first; s != NULL; s = s->next) {
		struct bind_cte *c = sql_bind_take(b, sizeof *c);
		if (c == NULL)
			return false;
		*c = (struct bind_cte){ .name = s->name,
			.run = (struct sql_cte *)(uintptr_t)&s->rows,
			.column = s->column,
			.columns = s->columns,
			.step = s,
			.next = b->nest.cte };
		b->nest.cte = c;
	}
	return true;
}

/* Reads what a step has kept. */
static bool
read_step(struct bind *b, const struct ast_table *t, const struct bind_cte *c)
{
	const struct sql_plan *p = c->step->plan;
	if (p->kind != AST_SELECT && c->columns == 0)
		return sql_bind_fail(
		    b, t->position, "0A000", "WITH query \"%s\" does not have a RETURNING clause", c->name);
	struct sql_op_cte *n = sql_new_cte(b, NULL, c->columns);
	if (n == NULL)
		return false;
	n->cte = c->run;
	n->node.est_rows = p->root != NULL ? p->root->est_rows : 1;
	return sql_bind_add_source(b, t, &n->node, c->column, c->columns);
}

/* Of c and the queries before it, n in all: the last one that is before each mistake and is not
 * bound yet; NULL = there is none. */
static struct bind_cte *
to_look_at(struct bind_cte *c, unsigned *n)
{
	unsigned left = *n;
	for (struct bind_cte *k = c; left > 0; left--, k = k->next)
		if (k->wrong) {
			c = k->next;
			*n = left - 1;
		}
	for (; *n > 0 && c->later == NULL; c = c->next)
		--*n;
	return *n > 0 ? c : NULL;
}

/* Binds those that are not bound yet, the last one first, since it may read those before it. What
 * is told at the end is the mistake of the first one that has one. */
static bool
bind_rest(struct bind *b)
{
	struct cat_err keep = *b->err;
	unsigned n = b->nest.withs;
	bool ok = true;
	for (struct bind_cte *c = b->nest.with; (c = to_look_at(c, &n)) != NULL;) {
		const struct ast_cte *said = c->later;
		b->nest.cte = c->next;
		c->later = NULL;
		*b->err = (struct cat_err){ 0 };
		c->wrong = query(b, said, c) == NULL || !sql_bind_cte_names(b, said, c);
		if (c->wrong)
			keep = *b->err;
		ok &= !c->wrong;
	}
	*b->err = keep;
	return ok;
}

bool
sql_bind_with_told_first(struct bind *b)
{
	const char *state = b->err->sqlstate;
	if (strncmp(state, "53", 2) != 0 && strncmp(state, "54", 2) != 0 && strncmp(state, "57", 2) != 0)
		bind_rest(b);
	return false;
}

bool
sql_bind_with(struct bind *b, const struct ast_with *w, const struct ast_select *q)
{
	if (w == NULL)
		return true;
	for (unsigned i = 0; i < w->n; i++) {
		const struct ast_cte *c = &w->cte[i];
		if (c->change != NULL)
			return sql_bind_fail(b, c->position, "0A000",
			    "WITH clause containing a data-modifying statement must be at the top level");
		for (unsigned k = 0; k < i; k++)
			if (strcmp(w->cte[k].name, c->name) == 0)
				return sql_bind_fail(b, c->position, "42712",
				    "WITH query name \"%s\" specified more than once", c->name);
	}
	bool *once = sql_bind_said_once(b, w, q);
	unsigned *order = once ? sql_bind_with_order(b->a, w, b->err) : NULL;
	if (order == NULL || !sql_bind_recursion_is_sound(w, order, b->err))
		return false;
	b->nest.with = NULL;
	b->nest.withs = 0;
	for (unsigned n = 0; n < w->n; n++) {
		const struct ast_cte *c = &w->cte[order[n]];
		struct bind_cte *made = once[order[n]] ? for_later(b, c) : one(b, c, w->recursive);
		if (made == NULL)
			return sql_bind_with_told_first(b);
		if (c->materialize)
			made->run->refs = 1; /* as if it had another reader */
		made->next = b->nest.cte;
		b->nest.cte = made;
		b->nest.with = made;
		b->nest.withs++;
	}
	return true;
}

/* What reads the rows that plan would have kept reads plan. */
static void
put_in_place(struct sql_node *n, const struct sql_node *reader, struct sql_node *plan)
{
	struct sql_node **k;
	for (struct sql_inputs i = sql_inputs(n); (k = sql_input_next(&i)) != NULL;)
		if (*k == reader)
			*k = plan;
		else
			put_in_place(*k, reader, plan);
}

bool
sql_bind_with_done(struct bind *b, const struct ast_with *w, struct sql_node *root)
{
	/* another one may have the name of one; that one must be valid as well */
	struct bind_cte *top = b->nest.cte;
	if (w != NULL && b->nest.with == top && !bind_rest(b))
		return false;
	b->nest.cte = top;
	for (unsigned i = 0; w != NULL && i < w->n; i++) {
		struct sql_cte *r = b->nest.cte->run;
		if (r->refs == 1 && r->reader != NULL) {
			if (root != NULL)
				put_in_place(root, r->reader, r->plan);
		} else if (r->refs > 0 && r->reader != NULL) {
			if (root == NULL)
				return sql_bind_fail(b, w->cte[i].position, "0A000",
				    "a WITH query used more than once in VALUES is not supported yet");
			r->next = root->with;
			root->with = r;
		}
		b->nest.cte = b->nest.cte->next;
	}
	return true;
}

/* True if an outer join may make the FROM item that is bound now NULL. */
static bool
may_be_missing(const struct bind *b)
{
	bool may = false;
	for (unsigned k = 0; k < b->joins.outers; k++) {
		const struct bind_outer *o = &b->joins.outer[k];
		bool left = b->from.item >= o->first && b->from.item < o->mid,
		     right = b->from.item >= o->mid && b->from.item <= o->last;
		may |= (left && o->kind != AST_JOIN_LEFT) || (right && o->kind != AST_JOIN_RIGHT);
	}
	return may;
}

/* A recursive query uses itself. */
static bool
may_speak(struct bind *b, struct bind_cte *c, int position)
{
	if (c->order)
		return sql_bind_fail(
		    b, position, "0A000", "%s in a recursive query is not implemented", c->why);
	if (c->why != NULL)
		return sql_bind_fail(b, c->position, "42P19", "recursive query \"%s\" %s", c->name, c->why);
	/* recursion.c has told it of other places than FROM */
	if (c->run != NULL && b->around.sub != c->sub)
		return sql_bind_fail(
		    b, position, "0A000", "a recursive reference in a LATERAL query is not supported yet");
	const char *where = c->run == NULL      ? "within its non-recursive term"
			    : may_be_missing(b) ? "within an outer join"
			    : c->selves++ > 0   ? "more than once"
						: NULL;
	return where == NULL || sql_bind_fail(b, position, "42P19",
				    "recursive reference to query \"%s\" must not appear %s", c->name, where);
}

/* Where it is used, a query of WITH is one in FROM: it sees what its WITH saw. */
static bool
bind_now(struct bind *b, const struct ast_table *t, struct bind_cte *c)
{
	const struct ast_cte *said = c->later;
	struct bind *child = sql_bind_child(b, said->position);
	if (child == NULL)
		return false;
	c->later = NULL;
	child->nest.cte = c->next;
	sql_bind_may_flatten(b, child, said->q);
	c->wrong = true;
	if (!sql_bind_child_query(b, child, said->q))
		return false;
	c->column = child->answer.column;
	c->columns = child->answer.columns;
	if (!sql_bind_cte_names(b, said, c))
		return false;
	c->wrong = false;
	return sql_bind_add_query(b, t, child);
}

bool
sql_bind_add_cte(struct bind *b, const struct ast_table *t, bool *ok)
{
	struct bind_cte *c = t->schema ? NULL : b->nest.cte;
	while (c != NULL && strcmp(c->name, t->name) != 0)
		c = c->next;
	if (c == NULL)
		return false;
	*ok = false;
	if (c->step != NULL) {
		*ok = read_step(b, t, c);
		return true;
	}
	if (c->later != NULL) {
		*ok = bind_now(b, t, c);
		return true;
	}
	if (!c->recursing && c->run->plan == NULL) {
		sql_bind_fail(b, t->position, "XX000", "a WITH query is spoken of once more");
		return true;
	}
	if (c->recursing && !may_speak(b, c, t->position))
		return true;
	struct sql_op_cte *n = sql_new_cte(b, NULL, c->columns);
	if (n == NULL)
		return true;
	n->cte = c->run;
	n->node.est_rows = c->run->plan->est_rows;
	c->run->reader = &n->node;
	for (struct sql_sub *s = b->around.sub; s != NULL && s != c->sub; s = s->up)
		s->varies |= c->sub != NULL && (c->sub->ties > 0 || c->sub->varies);
	c->run->refs += c->sub == b->around.sub ? 1 : 2; /* a subquery may run often: this one shall
							  * not */
	*ok = sql_bind_deeper(b, c->deep, t->position) &&
	      sql_bind_add_source(b, t, &n->node, c->column, c->columns);
	return true;
}
