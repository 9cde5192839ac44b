/*
 * index_only.c -- rows that come out of an index's keys.
 *
 * If all columns that the operator wants are in the key, txn READs a row's block only if it has to
 * (struct txn_only). A key may not tell a value: if it was cut in the index, or is a zero that may
 * be a negative one. Then the row is READ and decoded as of any other plan.
 */
#include <sql/exec/index_only.h>

static bool
enough(void *arg, const uint64_t *key)
{
	const struct sql_index_told *k = arg;
	union cat_val v[CAT_KEY_MAX];
	bool null[CAT_KEY_MAX];
	return cat_index_values(k->tab, k->ix, key, k->keys, k->need, v, null, NULL);
}

/* True if each key tells the columns, whatever their values. */
static bool
certain(const struct sql_index_told *k)
{
	for (unsigned i = 0; i < k->keys; i++)
		if (k->need[i] && cat_type_is_float(k->tab->column[k->ix->key[i].column].type))
			return false;
	return k->keys <= cat_index_sure(k->tab, k->ix);
}

bool
sql_index_told_room(struct sql_exec *x, struct sql_op_index *o)
{
	const struct sql_access *a = &o->acc;
	struct sql_index_told *k;
	if (!sql_index_only(o))
		return true;
	if ((o->run->told = k = nam_arena_zero(x->plan_arena, sizeof *k)) == NULL)
		return false;
	k->tab = a->tab;
	k->ix = &a->tab->index[o->index];
	for (unsigned j = 0; j < a->wants; j++) {
		unsigned i = 0;
		while (k->ix->key[i].column != a->want[j])
			i++;
		k->at[j] = (uint8_t)i;
		k->need[i] = true;
		k->keys = i + 1 > k->keys ? i + 1 : k->keys;
	}
	k->ask = (struct txn_only){ certain(k) ? NULL : enough, k };
	return true;
}

bool
sql_index_decode(struct sql_exec *x, struct sql_op_index *o, const struct txn_row *row, unsigned rows)
{
	const struct sql_index_told *k = o->run->told;
	const struct sql_access *a = &o->acc;
	struct cat_vec *col = o->run->tmp;
	struct nam_arena *arena = x->arena[o->node.arena];
	for (unsigned j = 0; j < a->wants; j++)
		if (!cat_vec_take(&col[j], k->tab->column[a->want[j]].type, rows, arena))
			return sql_no_memory(x->err);
	for (unsigned i = 0; i < rows; i++) {
		union cat_val v[CAT_KEY_MAX];
		bool null[CAT_KEY_MAX];
		if (!cat_index_values(k->tab, k->ix, row[i].key, k->keys, k->need, v, null, arena))
			return sql_no_memory(x->err); /* the key has told them before */
		for (unsigned j = 0; j < a->wants; j++)
			cat_vec_set(&col[j], i, v[k->at[j]], null[k->at[j]]);
	}
	sql_show_rows(&o->node, col, rows);
	return true;
}
