/* lateral.c -- FROM items that use items before them: their queries as subqueries, the operator
 * that runs them. */
#include <sql/plan/bind/bind.h>
#include <sql/plan/plan_internal.h>
#include <sql/plan/sub.h>

struct bind *
sql_bind_lateral_child(struct bind *b, int position, struct sql_sub **out)
{
	struct bind *in = sql_bind_child(b, position);
	struct sql_sub *s = sql_bind_take(b, sizeof *s);
	if (in == NULL || s == NULL)
		return NULL;
	if (b->around.level + 1 > SQL_SUB_LEVELS) {
		sql_bind_fail(b, position, "54001", "stack depth limit exceeded");
		return NULL;
	}
	s->kind = AST_SUB_SCALAR;
	s->up = b->around.sub;
	in->around.up = b;
	in->around.sub = s;
	in->around.level = b->around.level + 1;
	*out = s;
	b->from.lo = 0;
	b->from.hi = b->from.tables;
	return in;
}

bool
sql_bind_lateral_done(struct bind *b, struct sql_sub *s, struct sql_node *root, unsigned from)
{
	s->root = root;
	if (!sql_bind_own_arenas(b, s, from))
		return false;
	/* what it needs of no row beside it, but of one outside of the whole query, is the same for
	 * all rows */
	b->from.table[b->from.tables - 1]->lateral = s->slots > 0 ? s : NULL;
	return true;
}

struct sql_set
sql_plan_lateral_needs(const struct bind *b, const struct sql_sub *s)
{
	struct sql_set m = sql_set_none();
	for (unsigned k = 0; k < s->slots; k++) {
		struct sql_set one = sql_bind_tables_of(b, s->tied[k]);
		sql_set_add(&m, &one);
	}
	return m;
}

struct sql_node *
sql_plan_lateral(
    struct bind *b, struct sql_node *left, const struct sql_set *have, unsigned k, bool keep_left)
{
	struct sql_sub *s = b->from.table[k]->lateral;
	struct sql_set need = sql_plan_lateral_needs(b, s), with = *have;
	struct sql_op_lateral *n = sql_new_lateral(b, left, b->from.width);
	if (n == NULL || !sql_plan_access(b, &n->acc, k))
		return NULL;
	if (b->from.rows_at != 0) {
		sql_bind_fail(b, 0, "0A000", "FOR UPDATE and FOR SHARE beside LATERAL are not supported yet");
		return NULL;
	}
	if (!sql_set_within(&need, have)) {
		sql_bind_fail(b, b->from.table[k]->ast->position, "0A000",
		    "LATERAL over the other side of this kind of join is not supported yet");
		return NULL;
	}
	n->sub = s;
	n->node.build = s->root;
	n->keep_probe = keep_left;
	n->pass = sql_plan_columns_of(b, have, &n->passes);
	n->type = sql_bind_take(b, (n->passes + 1) * sizeof *n->type);
	if (n->pass == NULL || n->type == NULL)
		return NULL;
	for (unsigned i = 0; i < n->passes; i++)
		n->type[i] = sql_plan_column_type(b, n->pass[i]);
	n->node.est_rows = left->est_rows * s->root->est_rows;
	sql_set_put(&with, k);
	if (!sql_plan_push_down(b, &n->node, &with, false))
		return NULL;
	if (keep_left) { /* the condition says which partners match, not which rows come out */
		n->on = n->node.filter;
		n->node.filter = NULL;
		if (n->node.est_rows < left->est_rows)
			n->node.est_rows = left->est_rows;
	}
	return &n->node;
}
