/*
 * lateral.c -- which operands of a FROM list are joined before a LATERAL item that uses some
 * of them.
 *
 * The item runs once for each row of what is joined before it. If the operands that it uses
 * make fewer rows alone than with all others, only they come first, and the item's columns may
 * then be what a hash join with the others goes by.
 */
#include <sql/plan/plan_internal.h>

/* So many times as few rows as all operands make: else the guess decides nothing. */
enum { WORTH = 2 };

static bool
keep_used(struct bind *b, bool **used)
{
	if ((*used = sql_bind_take(b, (b->where.conds + 1) * sizeof **used)) == NULL)
		return false;
	for (unsigned i = 0; i < b->where.conds; i++)
		(*used)[i] = b->where.cond[i].used;
	return true;
}

static void
give_back(struct bind *b, const bool *used)
{
	for (unsigned i = 0; i < b->where.conds; i++)
		b->where.cond[i].used = used[i];
}

bool
sql_plan_lateral_item(struct bind *b, struct plan_item *item, unsigned *items, unsigned k)
{
	struct plan_item *some = sql_bind_take(b, *items * sizeof *some),
			 *rest = sql_bind_take(b, *items * sizeof *rest);
	unsigned somes = 0, rests = 0;
	struct sql_set need = sql_plan_lateral_needs(b, b->from.table[k]->lateral), before = sql_set_none();
	bool *used;
	if (some == NULL || rest == NULL)
		return false;
	for (unsigned i = 0; i < *items; i++)
		if (sql_set_meets(&item[i].mask, &need))
			some[somes++] = item[i];
		else
			rest[rests++] = item[i];
	if (!keep_used(b, &used))
		return false;
	struct sql_node *left = *items > 0 ? sql_plan_order(b, item, *items, &before)
					   : sql_plan_node(b, SQL_NODE_ONE, NULL, b->from.width);
	if (left == NULL)
		return false;
	if (somes > 0 && rests > 0) {
		double all = left->est_rows;
		give_back(b, used);
		struct sql_node *few = sql_plan_order(b, some, somes, &before);
		if (few == NULL)
			return false;
		if (few->est_rows * WORTH <= all) {
			left = few;
		} else {
			give_back(b, used);
			if ((left = sql_plan_order(b, item, *items, &before)) == NULL)
				return false;
			rests = 0;
		}
	} else {
		rests = 0;
	}
	if ((left = sql_plan_lateral(b, left, &before, k, false)) == NULL)
		return false;
	for (unsigned i = 0; i < rests; i++)
		item[i] = rest[i];
	sql_set_put(&before, k);
	item[rests] = (struct plan_item){ .node = left, .mask = before, .table = SQL_TABLES_MAX };
	*items = rests + 1;
	return true;
}

/*
 * Makes the left side of a left join begin at table `low` or before: at the beginning of its
 * region, whose operands are joined by inner joins, or with the left join around it. The rows stay
 * the same, because conditions over both sides stay above. False: this cannot be; nothing changed.
 */
static bool
reach(struct bind *b, unsigned outer, unsigned low)
{
	struct bind_outer *o = &b->joins.outer[outer];
	unsigned region = sql_bind_region(b, o->first, o->last, outer), around = (region - 1) / 3;
	if (o->first <= low)
		return true;
	if (o->kind != AST_JOIN_LEFT)
		return false;
	if (region == 0) {
		o->first = 0;
		return true;
	}
	const struct bind_outer *a = &b->joins.outer[around];
	if ((region - 1) % 3 == 1) { /* the right side: what is left of the join is not at hand */
		if (a->mid <= low)
			o->first = a->mid;
		return a->mid <= low;
	}
	if (!reach(b, around, low))
		return false;
	o->first = a->first;
	return true;
}

void
sql_plan_widen(struct bind *b)
{
	for (unsigned k = 0; k < b->from.tables && b->joins.outers > 0; k++) {
		const struct sql_sub *s = b->from.table[k]->lateral;
		struct sql_set need = s != NULL ? sql_plan_lateral_needs(b, s) : sql_set_none();
		unsigned low = sql_set_first(&need, b->from.tables);
		unsigned region = low < b->from.tables ? sql_bind_region(b, k, k, UINT32_MAX) : 0;
		if (region == 0)
			continue;
		unsigned outer = (region - 1) / 3;
		const struct bind_outer *o = &b->joins.outer[outer];
		/* on the right it is the item of LEFT JOIN LATERAL, else that side's own join */
		if ((region - 1) % 3 == 0 || o->mid == o->last)
			reach(b, outer, low);
	}
}
