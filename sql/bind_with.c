/* bind_with.c -- WITH: queries with names. Used once they go where their name stands; used more often they run once. */
#include "bind.h"

#include <stdio.h>

static bool
rename_columns(struct bind *b, const struct ast_cte *c, struct bind_cte *out)
{
	if (c->renames > out->columns)
		return sql_bind_fail(b, c->position, "42P10",
		    "WITH query \"%s\" has %u columns available but %u columns specified", c->name,
		    out->columns, c->renames);
	for (unsigned i = 0; i < c->renames; i++)
		snprintf(out->column[i].name, sizeof out->column[i].name, "%s", c->rename[i]);
	return true;
}

static struct bind_cte *
one(struct bind *b, const struct ast_cte *c)
{
	struct bind_cte *out = sql_bind_take(b, sizeof *out);
	struct bind *child = sql_bind_child(b, c->position);
	if (out == NULL || child == NULL || (out->run = sql_bind_take(b, sizeof *out->run)) == NULL)
		return NULL;
	struct sql_cte *r = out->run;
	out->name = r->name = c->name;
	if ((r->plan = sql_bind_child_select(b, child, c->q)) == NULL)
		return NULL;
	out->column = child->column;
	out->columns = r->columns = child->columns;
	out->deep = child->deep;
	out->sub = b->sub;
	if (!rename_columns(b, c, out))
		return NULL;
	if ((r->type = sql_bind_take(b, r->columns * sizeof *r->type)) == NULL)
		return NULL;
	for (unsigned i = 0; i < r->columns; i++)
		r->type[i] = out->column[i].type;
	r->arena = b->plan->arenas++;
	return out;
}

bool
sql_bind_with(struct bind *b, const struct ast_with *w)
{
	for (unsigned i = 0; w != NULL && i < w->n; i++) {
		const struct ast_cte *c = &w->cte[i];
		for (unsigned k = 0; k < i; k++)
			if (strcmp(w->cte[k].name, c->name) == 0)
				return sql_bind_fail(b, c->position, "42712",
				    "WITH query name \"%s\" specified more than once", c->name);
		struct bind_cte *made = one(b, c);
		if (made == NULL)
			return false;
		if (c->materialize)
			made->run->refs = 1; /* as if somebody else read it */
		made->next = b->cte;
		b->cte = made;
	}
	return true;
}

bool
sql_bind_with_done(struct bind *b, const struct ast_with *w, struct sql_node *root)
{
	for (unsigned i = 0; w != NULL && i < w->n; i++) {
		struct sql_cte *r = b->cte->run;
		if (r->refs == 1 && r->reader != NULL) {
			*r->reader = *r->plan; /* nobody else knows that node */
		} else if (r->refs > 0 && r->reader != NULL) {
			if (root == NULL)
				return sql_bind_fail(b, w->cte[i].position, "0A000",
				    "a WITH query used more than once in VALUES is not supported yet");
			r->next = root->with;
			root->with = r;
		}
		b->cte = b->cte->next;
	}
	return true;
}

bool
sql_bind_add_cte(struct bind *b, const struct ast_table *t, bool *ok)
{
	struct bind_cte *c = t->schema ? NULL : b->cte;
	while (c != NULL && strcmp(c->name, t->name) != 0)
		c = c->next;
	if (c == NULL)
		return false;
	struct sql_node *n = sql_plan_node(b, SQL_NODE_CTE, NULL, c->columns);
	*ok = false;
	if (n == NULL)
		return true;
	n->cte = c->run;
	n->est = c->run->plan->est;
	c->run->reader = n;
	c->run->refs += c->sub == b->sub ? 1 : 2; /* a subquery may run often: this one shall not */
	*ok = sql_bind_deeper(b, c->deep, t->position) && sql_bind_add_source(b, t, n, c->column, c->columns);
	return true;
}
