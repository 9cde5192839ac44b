/* group.c -- GROUPING SETS: every row once per set, with the keys that are not in it NULL;
 * GROUPING(). */
#include <sql/expr/functions.h>
#include <sql/plan/bind/bind.h>

#include <string.h>

/* A set's number is one more key, which tells rows of one set from those of another. */
static struct ast_expr number = { .kind = AST_DEFAULT, .typmod = -1, .text = "grouping set" };

bool
sql_bind_gsets(struct bind *b, const struct ast_select *q, const unsigned *leaf)
{
	unsigned g = b->agg.groups, n = 0;
	uint8_t *in = sql_bind_take(b, (size_t)q->gsets * (g + 1));
	if (in == NULL)
		return false;
	memset(in, 0, (size_t)q->gsets * (g + 1));
	for (unsigned s = 0; s < q->gsets; s++) {
		uint8_t *set = in + (size_t)n * g;
		memset(set, 0, g);
		for (unsigned k = 0; k < q->groups; k++)
			set[leaf[k]] |= q->gset[(size_t)s * q->groups + k];
		/* keys that no GROUP BY names depend on ones that are in every set */
		for (unsigned k = 0; k < g; k++) {
			bool named = false;
			for (unsigned i = 0; i < q->groups && !named; i++)
				named = leaf[i] == k;
			set[k] |= !named;
		}
		bool again = false;
		for (unsigned i = 0; q->gset_distinct && i < n && !again; i++)
			again = memcmp(in + (size_t)i * g, set, g) == 0;
		n += !again;
	}
	if (!sql_bind_group_key(b, &number, sql_expr_column(b->a, b->from.width + g, CAT_INT8, -1, 0)))
		return false;
	b->agg.gset = in;
	b->agg.gsets = n;
	return true;
}

bool
sql_bind_in_all_gsets(const struct bind *b, const struct ast_select *q, const unsigned *leaf, unsigned column)
{
	unsigned sets = q->gsets > 0 ? q->gsets : 1, has = 0;
	for (unsigned s = 0; s < sets && has == s; s++)
		for (unsigned k = 0; k < q->groups && has == s; k++) {
			const struct sql_expr *key = b->agg.key[leaf[k]];
			bool in = q->gsets == 0 || q->gset[(size_t)s * q->groups + k];
			has += in && key->kind == SQL_COLUMN && key->index == column;
		}
	return has == sets;
}

struct sql_node *
sql_bind_gset_node(struct bind *b, struct sql_node *child)
{
	if (b->agg.gsets == 0)
		return child;
	unsigned keys = b->agg.groups - 1, base = child->out.cols;
	struct sql_op_expand *n = sql_new_expand(b, child, base + keys + 1);
	if (n == NULL || (n->e = sql_bind_take(b, (keys + 1) * sizeof *n->e)) == NULL)
		return NULL;
	n->keys = keys;
	n->sets = b->agg.gsets;
	n->in = b->agg.gset;
	n->node.est_rows = child->est_rows * b->agg.gsets;
	for (unsigned k = 0; k < keys; k++) {
		const struct sql_expr *e = b->agg.key[k];
		n->e[k] = b->agg.key[k];
		b->agg.key[k] = sql_expr_column(b->a, base + k, e->type, e->typmod, e->position);
		if (b->agg.key[k] == NULL)
			return NULL;
		b->agg.key[k]->domain = e->domain;
	}
	b->agg.key[keys]->index = base + keys;
	return &n->node;
}

/* Bit n - 1 - k: argument k is not in the row's set. */
static bool
k_grouping(struct sql_row *r)
{
	int32_t mask = 0;
	uint64_t at = (uint64_t)r->a[0].i * sizeof mask;
	if (at + sizeof mask <= r->a[1].s.len)
		memcpy(&mask, r->a[1].s.p + at, sizeof mask);
	r->out.i = mask;
	return true;
}
static const struct sql_fn fn_grouping = { "grouping", 0, 2, { CAT_INT8, CAT_BYTEA }, CAT_INT4, NULL,
	k_grouping };

struct sql_expr *
sql_bind_grouping(struct bind *b, const struct ast_expr *e)
{
	unsigned group[31];
	if (sql_bind_is_outside(b, e))
		return sql_bind_outer(b, e);
	if (b->agg.inside) {
		sql_bind_fail(b, e->position, "42803", "aggregate function calls cannot be nested");
		return NULL;
	}
	if (!b->agg.grouped) {
		sql_bind_fail(b, e->position, "42803", "grouping operations are not allowed in %s",
		    b->agg.not_in ? b->agg.not_in : "this place");
		return NULL;
	}
	if (e->nargs > 31) {
		sql_bind_fail(b, e->position, "54023", "GROUPING must have fewer than 32 arguments");
		return NULL;
	}
	for (unsigned k = 0; k < e->nargs; k++) {
		group[k] = 0;
		while (group[k] < b->agg.groups && !sql_bind_same(b, b->agg.group[group[k]], e->args[k]))
			group[k]++;
		if (group[k] == b->agg.groups) {
			sql_bind_fail(b, e->args[k]->position, "42803",
			    "arguments to GROUPING must be grouping expressions of the associated query "
			    "level");
			return NULL;
		}
	}
	struct cat_datum d = { .type = CAT_INT4 };
	if (b->agg.gsets == 0)
		return sql_expr_const(b->a, d, e->position);
	int32_t *mask = sql_bind_take(b, b->agg.gsets * sizeof *mask);
	if (mask == NULL)
		return NULL;
	for (unsigned s = 0; s < b->agg.gsets; s++) {
		mask[s] = 0;
		for (unsigned k = 0; k < e->nargs; k++)
			mask[s] = mask[s] << 1 | !b->agg.gset[(size_t)s * (b->agg.groups - 1) + group[k]];
	}
	d = (struct cat_datum){ .type = CAT_BYTEA,
		.v.s = { (const char *)mask, b->agg.gsets * (uint32_t)sizeof *mask } };
	struct sql_expr *args[2] = { sql_expr_column(b->a, b->agg.groups - 1, CAT_INT8, -1, e->position),
		sql_expr_const(b->a, d, e->position) };
	if (args[0] == NULL || args[1] == NULL)
		return NULL;
	return sql_expr_call(b->a, &fn_grouping, args, 2, e->position, b->err);
}
