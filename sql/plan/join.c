/* join.c -- hash joins, and where conditions go around an outer join: down to the side they may
 * filter, no further. */
#include <sql/plan/cost.h>
#include <sql/plan/plan_internal.h>
#include <sql/plan/selectivity.h>

#include <math.h>

bool
sql_plan_joinable(
    const struct bind *b, const struct bind_cond *c, const struct sql_set *have, const struct sql_set *one)
{
	if (!sql_plan_open(b, c) || c->l == NULL)
		return false;
	bool either = (sql_set_within(&c->lmask, have) && sql_set_within(&c->rmask, one)) ||
		      (sql_set_within(&c->rmask, have) && sql_set_within(&c->lmask, one));
	return either && !sql_set_is_empty(&c->lmask) && !sql_set_is_empty(&c->rmask);
}

bool
sql_plan_place_keys(struct bind *b, struct sql_op_join *n)
{
	size_t most = n->build_cols + n->keys + 1;
	n->kept = sql_bind_take(b, most * sizeof *n->kept);
	n->build_at = sql_bind_take(b, most * sizeof *n->build_at);
	n->key_at = sql_bind_take(b, most * sizeof *n->key_at);
	if (n->kept == NULL || n->build_at == NULL || n->key_at == NULL)
		return false;
	for (unsigned c = 0; c < n->build_cols; c++) {
		n->kept[c] = n->build_col[c];
		n->build_at[c] = c;
	}
	n->build_width = n->build_cols;
	for (unsigned k = 0; k < n->keys; k++) {
		const struct sql_expr *e = n->build_key[k];
		unsigned c = n->build_cols;
		if (e->kind == SQL_COLUMN)
			for (c = 0; c < n->build_cols && n->build_col[c] != e->index;)
				c++;
		/* a varchar that is compared as char(n) is kept as both */
		if (c < n->build_cols && cat_type_is_str(e->type) && n->build_type[c] != e->type)
			c = n->build_cols;
		if (c == n->build_cols) {
			c = n->build_width++;
			n->kept[c] = SQL_KEPT_KEY;
			n->build_type[c] = e->type;
		}
		n->key_at[k] = c;
	}
	return true;
}

/* True if no two of its rows can have equal values of e[0..n). */
static bool
unique(const struct sql_node *side, struct sql_expr **e, unsigned n)
{
	const struct sql_access *a = side->kind == SQL_NODE_SCAN ? &sql_op(scan, side)->acc : NULL;
	const struct cat_table *tab = a ? a->tab : NULL;
	if (tab == NULL || tab->keys == 0)
		return false;
	for (unsigned k = 0; k < tab->keys; k++) {
		unsigned i = 0;
		while (i < n && (e[i]->kind != SQL_COLUMN || e[i]->index != a->base + tab->key[k]))
			i++;
		if (i == n)
			return false;
	}
	return true;
}

/*
 * True if the right side is the one to keep: the smaller one; but where each row of the other side
 * finds at most one partner, nothing has to be copied, which is worth keeping some more.
 */
static bool
keeps_right(const struct sql_node *left, struct sql_expr **lkey, const struct sql_node *right,
    struct sql_expr **rkey, unsigned keys)
{
	enum { WORTH = 4 };
	bool l = unique(left, lkey, keys), r = unique(right, rkey, keys);
	if (l == r || (left->est_rows <= CAT_BATCH && right->est_rows <= CAT_BATCH))
		return right->est_rows <= left->est_rows;
	return r ? right->est_rows <= left->est_rows * WORTH : right->est_rows * WORTH < left->est_rows;
}

/* If these keys of a side are all columns of a table's primary key: the share of pairs with one of
 * its rows, else 0. The columns of a key are not independent: there are as many keys as rows. */
static double
whole_share(struct bind *b, struct sql_expr *const *key, unsigned keys)
{
	unsigned table =
	    keys > 1 && key[0]->kind == SQL_COLUMN ? sql_bind_table_at(b, key[0]->index) : b->from.tables;
	if (table >= b->from.tables || b->from.table[table]->tab->keys < 2)
		return 0;
	const struct cat_table *tab = b->from.table[table]->tab;
	for (unsigned k = 0; k < tab->keys; k++) {
		bool found = false;
		for (unsigned i = 0; i < keys && !found; i++)
			found = key[i]->kind == SQL_COLUMN &&
				key[i]->index == b->from.table[table]->base + tab->key[k];
		if (!found)
			return 0;
	}
	return 1 / fmax(sql_sel_rows(b, table), 1);
}

struct sql_node *
sql_plan_hash_join(struct bind *b, struct sql_node *left, const struct sql_set *lmask, struct sql_node *right,
    const struct sql_set *rmask, enum ast_join_kind kind)
{
	struct sql_op_join *n = sql_new_join(b, NULL, b->from.width);
	if (n == NULL)
		return NULL;
	struct sql_expr **lkey = sql_bind_take(b, (b->where.conds + 1) * sizeof *lkey);
	struct sql_expr **rkey = sql_bind_take(b, (b->where.conds + 1) * sizeof *rkey);
	if (lkey == NULL || rkey == NULL)
		return NULL;
	double share = 1;
	for (unsigned i = 0; i < 2 * b->where.conds; i++) {
		/* those that are said, then, when there are none, those that follow */
		struct bind_cond *c = &b->where.cond[i % b->where.conds];
		if (!sql_plan_joinable(b, c, lmask, rmask) ||
		    c->implied != (i >= b->where.conds && n->keys == 0))
			continue;
		share *= sql_sel_join(b, c->l, c->r);
		bool l_is_left = sql_set_within(&c->lmask, lmask);
		lkey[n->keys] = l_is_left ? c->ul : c->ur;
		rkey[n->keys++] = l_is_left ? c->ur : c->ul;
		c->used = true;
	}
	share = fmax(share, fmax(whole_share(b, lkey, n->keys), whole_share(b, rkey, n->keys)));
	bool build_right = keeps_right(left, lkey, right, rkey, n->keys);
	bool keep_left = kind == AST_JOIN_LEFT || kind == AST_JOIN_FULL;
	bool keep_right = kind == AST_JOIN_RIGHT || kind == AST_JOIN_FULL;
	n->node.child = build_right ? left : right;
	n->node.build = build_right ? right : left;
	n->keep_probe = build_right ? keep_left : keep_right;
	n->keep_build = build_right ? keep_right : keep_left;
	n->key = build_right ? lkey : rkey;
	n->build_key = build_right ? rkey : lkey;
	n->probe_col = sql_plan_columns_of(b, build_right ? lmask : rmask, &n->probe_cols);
	n->build_col = sql_plan_columns_of(b, build_right ? rmask : lmask, &n->build_cols);
	n->build_type = sql_bind_take(b, (n->build_cols + n->keys) * sizeof *n->build_type);
	n->probe_type = sql_bind_take(b, n->probe_cols * sizeof *n->probe_type);
	if (n->probe_col == NULL || n->build_col == NULL || n->build_type == NULL || n->probe_type == NULL)
		return NULL;
	for (unsigned i = 0; i < n->probe_cols; i++)
		n->probe_type[i] = sql_plan_column_type(b, n->probe_col[i]);
	for (unsigned i = 0; i < n->build_cols; i++)
		n->build_type[i] = sql_plan_column_type(b, n->build_col[i]);
	if (!sql_plan_place_keys(b, n))
		return NULL;
	n->node.est_rows = left->est_rows * right->est_rows * share;
	n->node.est_rows = n->node.est_rows < 1 ? 1 : n->node.est_rows;
	struct sql_set both = sql_set_or(lmask, rmask);
	if (!sql_plan_push_down(b, &n->node, &both, false))
		return NULL;
	if (kind != AST_JOIN_INNER) { /* the rest of ON says which pairs match, not which rows come
				       * out */
		n->on = n->node.filter;
		n->node.filter = NULL;
		if (keep_left && n->node.est_rows < left->est_rows)
			n->node.est_rows = left->est_rows;
		if (keep_right && n->node.est_rows < right->est_rows)
			n->node.est_rows = right->est_rows;
	}
	return &n->node;
}

/* ---- outer joins ----------------------------------------------------------------- */

static void
add_rejected(const struct bind *b, const struct bind_cond *c, struct sql_set *m)
{
	struct sql_set more = sql_bind_rejects(b, c->e);
	sql_set_add(m, &more);
}

/* Tables that a condition of outer join o's surroundings rejects when they are NULL. */
static struct sql_set
rejected(const struct bind *b, unsigned o)
{
	struct sql_set m = sql_set_none();
	while (true) {
		const struct bind_outer *j = &b->joins.outer[o];
		unsigned region = sql_bind_region(b, j->first, j->last, o);
		for (unsigned i = 0; i < b->where.conds; i++)
			if (b->where.cond[i].home == region)
				add_rejected(b, &b->where.cond[i], &m);
		if (region == 0)
			return m;
		/* the join around it: what is above filters the side it preserves, its ON the other
		 * side */
		unsigned around = (region - 1) / 3;
		bool right = (region - 1) % 3 == 1;
		enum ast_join_kind kind = b->joins.outer[around].kind;
		if (kind == AST_JOIN_FULL)
			return m;
		if (right == (kind == AST_JOIN_LEFT)) {
			for (unsigned i = 0; i < b->where.conds; i++)
				if (b->where.cond[i].home == 3 + 3 * around)
					add_rejected(b, &b->where.cond[i], &m);
			return m;
		}
		o = around;
	}
}

void
sql_plan_reduce(struct bind *b)
{
	for (bool again = b->joins.outers > 0; again;) {
		again = false;
		for (unsigned k = 0; k < b->joins.outers; k++) {
			struct bind_outer *o = &b->joins.outer[k];
			if (o->kind == AST_JOIN_INNER)
				continue;
			struct sql_set m = rejected(b, k), l = sql_set_range(o->first, o->mid),
				       r = sql_set_range(o->mid, o->last + 1);
			bool left = sql_set_meets(&m, &l), right = sql_set_meets(&m, &r);
			enum ast_join_kind was = o->kind;
			if (o->kind == AST_JOIN_FULL && left)
				o->kind = right ? AST_JOIN_INNER : AST_JOIN_LEFT;
			else if (o->kind == AST_JOIN_FULL && right)
				o->kind = AST_JOIN_RIGHT;
			else if ((o->kind == AST_JOIN_LEFT && right) || (o->kind == AST_JOIN_RIGHT && left))
				o->kind = AST_JOIN_INNER;
			if (o->kind == was)
				continue;
			again = true;
			if (o->kind != AST_JOIN_INNER)
				continue;
			unsigned region = sql_bind_region(b, o->first, o->last, k);
			for (unsigned i = 0; i < b->where.conds; i++)
				if (b->where.cond[i].home > 3 * k && b->where.cond[i].home <= 3 * k + 3)
					b->where.cond[i].home = region;
		}
	}
}

unsigned
sql_plan_outer_at(const struct bind *b, unsigned first, unsigned end)
{
	unsigned best = b->joins.outers;
	for (unsigned k = 0; k < b->joins.outers; k++) {
		const struct bind_outer *o = &b->joins.outer[k];
		if (o->kind == AST_JOIN_INNER || o->first != first || o->last >= end)
			continue;
		if (best == b->joins.outers || o->last > b->joins.outer[best].last)
			best = k;
	}
	return best;
}

/* Moves conditions of one region that use these tables only to another. constant: also those of no
 * table. */
static void
move(struct bind *b, unsigned from, unsigned to, const struct sql_set *only, bool constant)
{
	for (unsigned i = 0; i < b->where.conds; i++) {
		struct bind_cond *c = &b->where.cond[i];
		if (c->home == from && !c->used && sql_set_within(&c->mask, only) &&
		    (constant || !sql_set_is_empty(&c->mask)))
			c->home = to;
	}
}

/* Few rows of the side that stays find the other side's by an index, when that is all that ON
 * says. */
static struct sql_node *
outer_index(
    struct bind *b, struct sql_node *stay, const struct sql_set *mask, struct sql_node *other, unsigned table)
{
	const struct sql_costs *c = b->in->costs ? b->in->costs : &sql_costs_standard;
	struct plan_index_join j;
	if (other->kind != SQL_NODE_SCAN || other->filter != NULL ||
	    sql_op(scan, other)->acc.tab->indexes == 0 || !sql_plan_index_join(b, table, mask, &j) ||
	    j.keys == 0 || !j.exact || !sql_cost_few(stay->est_rows * j.rows, other->est_rows))
		return NULL;
	unsigned conds = 0;
	for (unsigned i = 0; i < b->where.conds; i++)
		conds += sql_plan_open(b, &b->where.cond[i]);
	if (conds != j.keys)
		return NULL;
	sql_cost_tree(c, stay);
	sql_cost_tree(c, other);
	struct sql_cost_side l = { stay->est_rows, 0, stay->est_width };
	struct sql_cost_side r = { other->est_rows, 0, other->est_width };
	const struct sql_access *a = &sql_op(scan, other)->acc;
	if (sql_cost_index_join(c, a->tab, l.rows, j.rows, j.full, a->wants) >=
	    other->est_cost + sql_cost_join(c, &l, &r, 1, l.rows))
		return NULL;
	struct sql_node *n = sql_plan_index_lookup(b, stay, mask, table, &j);
	if (n != NULL)
		sql_op(index, n)->keep_probe = true;
	return n;
}

/* Likewise by primary key. */
static struct sql_node *
outer_lookup(
    struct bind *b, struct sql_node *stay, const struct sql_set *mask, struct sql_node *other, unsigned table)
{
	const struct sql_costs *c = b->in->costs ? b->in->costs : &sql_costs_standard;
	if (other->kind != SQL_NODE_SCAN || other->filter != NULL ||
	    !sql_cost_few(stay->est_rows, other->est_rows))
		return NULL;
	sql_cost_tree(c, stay);
	sql_cost_tree(c, other);
	struct sql_cost_side l = { stay->est_rows, 0, stay->est_width };
	struct sql_cost_side r = { other->est_rows, 0, other->est_width };
	if (sql_cost_lookup(c, sql_op(scan, other)->acc.tab, l.rows, sql_op(scan, other)->acc.wants) >=
	    other->est_cost + sql_cost_join(c, &l, &r, 1, l.rows))
		return NULL;
	unsigned conds = 0, probes;
	for (unsigned i = 0; i < b->where.conds; i++)
		conds += sql_plan_open(b, &b->where.cond[i]);
	if (conds != b->from.table[table]->tab->keys)
		return NULL;
	struct sql_expr **key = sql_plan_full_key(b, table, mask, &probes, NULL);
	struct sql_node *n = key ? sql_plan_lookup(b, stay, mask, table, key) : NULL;
	if (n != NULL)
		sql_op(get, n)->keep_probe = true;
	return n;
}

/* True if tables first..end-1 are a single operand. */
static bool
alone(const struct bind *b, unsigned first, unsigned end, unsigned *one)
{
	unsigned n = 0;
	for (unsigned k = first; k < end; k++)
		if (b->from.table[k]->flats == 0) {
			*one = k;
			n++;
		}
	return n == 1;
}

struct sql_node *
sql_plan_outer(struct bind *b, unsigned outer, bool first, struct sql_set *mask)
{
	const struct bind_outer *o = &b->joins.outer[outer];
	unsigned around = b->where.home, left = 1 + 3 * outer, right = left + 1, on = left + 2, one;
	struct sql_set lt = sql_set_range(o->first, o->mid), rt = sql_set_range(o->mid, o->last + 1), have;
	bool lateral =
	    o->kind == AST_JOIN_LEFT && o->mid == o->last && b->from.table[o->mid]->lateral != NULL;
	if (o->kind == AST_JOIN_LEFT) {
		move(b, around, left, &lt, first);
		if (!lateral)
			move(b, on, right, &rt, true);
	} else if (o->kind == AST_JOIN_RIGHT) {
		move(b, around, right, &rt, first);
		move(b, on, left, &lt, true);
	}
	struct sql_node *l, *r, *n = NULL;
	b->where.home = left;
	if ((l = sql_plan_region(b, o->first, o->mid, &have)) == NULL)
		return NULL;
	b->where.home = right;
	if (lateral)
		r = NULL;
	else if ((r = sql_plan_region(b, o->mid, o->last + 1, &have)) == NULL)
		return NULL;
	/* all of ON: keys, or what pairs must fulfil; a condition over no table counts among the
	 * latter */
	b->where.home = on;
	for (unsigned i = 0; i < b->where.conds; i++)
		if (b->where.cond[i].home == on && sql_set_is_empty(&b->where.cond[i].mask))
			b->where.cond[i].mask = lt;
	if (lateral)
		n = sql_plan_lateral(b, l, &lt, o->mid, true);
	else if (o->kind == AST_JOIN_LEFT && alone(b, o->mid, o->last + 1, &one))
		n = outer_lookup(b, l, &lt, r, one);
	else if (o->kind == AST_JOIN_RIGHT && alone(b, o->first, o->mid, &one))
		n = outer_lookup(b, r, &rt, l, one);
	if (n == NULL && o->kind == AST_JOIN_LEFT && !lateral && alone(b, o->mid, o->last + 1, &one))
		n = outer_index(b, l, &lt, r, one);
	else if (n == NULL && o->kind == AST_JOIN_RIGHT && alone(b, o->first, o->mid, &one))
		n = outer_index(b, r, &rt, l, one);
	if (n == NULL && (lateral || (n = sql_plan_hash_join(b, l, &lt, r, &rt, o->kind)) == NULL))
		return NULL;
	b->where.home = around;
	*mask = sql_set_or(&lt, &rt);
	return sql_plan_push_down(b, n, mask, first) ? n : NULL;
}
