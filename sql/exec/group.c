/*
 * group.c -- which group a row belongs to.
 *
 * Where a column of GROUP BY comes from the kept side of a join, the number of the kept row says as
 * much as the value does, and is quicker to look at: if all do, and from the same row, each kept
 * row's group is remembered; else each column's values are numbered (per kept row once), and the
 * numbers together are looked up.
 */
#include <base/hash.h>
#include <sql/exec/groups.h>
#include <sql/exec/state.h>

enum { CODED_MAX = 8 };

/* Things with hashes, numbered as they come: at most half of the slots are taken. */
struct numbers {
	uint32_t *slot; /* number + 1 */
	uint64_t *hash;
	uint32_t mask, n;
};

/* The values of one column, numbered. */
struct dictionary {
	struct numbers t;
	struct sql_rowset *rs;         /* value i is row i */
	const struct sql_rowset *from; /* the kept side */
	uint32_t *known;               /* number + 1 by kept row; the last one: no row */
};

struct sql_coded {
	const struct sql_rowset *from; /* all columns from the same row of it: */
	uint32_t *group;               /* group + 1 by kept row; the last one: no row */
	struct dictionary column[CODED_MAX];
	struct numbers t; /* tuples of numbers */
	uint32_t *tuple;  /* keys numbers and a group for each */
};

static bool
find(struct sql_exec *x, struct sql_op_agg *g, const struct cat_vec *key, uint16_t row, uint32_t *out)
{
	return sql_groups_one(g->run->set, key, row, sql_hash_row(key, g->keys, row), out) ||
	       sql_no_memory(x->err);
}

/* ---- by numbers ------------------------------------------------------------------ */

/* Number (or group) + 1 by row of rs, none known yet. */
static uint32_t *
per_row(struct sql_exec *x, const struct sql_op_agg *g, const struct sql_rowset *rs)
{
	uint32_t *p = nam_arena_zero(x->arena[g->node.arena + 1], ((size_t)rs->rows + 1) * sizeof *p);
	if (p == NULL)
		sql_no_memory(x->err);
	return p;
}

static const struct sql_origin *
origin(const struct sql_op_agg *g, unsigned key)
{
	const struct sql_expr *e = g->key[key];
	const struct sql_origin *o = g->node.child->origin;
	return o != NULL && e->kind == SQL_COLUMN && o[e->index].row != NULL ? &o[e->index] : NULL;
}

static bool
by_row(struct sql_exec *x, struct sql_op_agg *g, const struct cat_vec *key, const uint16_t *sel,
    unsigned rows, const struct sql_origin *o, uint32_t *group)
{
	struct sql_coded *c = g->run->coded;
	if (c->from == NULL) {
		if ((c->group = per_row(x, g, o->rs)) == NULL)
			return false;
		c->from = o->rs;
	}
	for (unsigned r = 0; r < rows; r++) {
		uint32_t *known = &c->group[o->row[sel[r]]];
		if (*known == 0) {
			if (!find(x, g, key, sel[r], &group[r]))
				return false;
			*known = group[r] + 1;
		}
		group[r] = *known - 1;
	}
	return true;
}

/* Room for one more. */
static bool
room(struct sql_exec *x, const struct sql_op_agg *g, struct numbers *t)
{
	if (t->slot != NULL && t->n < t->mask / 2)
		return true;
	struct nam_arena *keep = x->arena[g->node.arena + 1];
	uint32_t size = t->slot ? (t->mask + 1) * 2 : 64;
	uint32_t *slot = nam_arena_zero(keep, size * sizeof *slot);
	uint64_t *hash = nam_arena_take(keep, size / 2 * sizeof *hash);
	if (slot == NULL || hash == NULL)
		return sql_no_memory(x->err);
	if (t->n > 0)
		memcpy(hash, t->hash, t->n * sizeof *hash);
	for (uint32_t i = 0; i < t->n; i++) {
		uint32_t at = (uint32_t)hash[i] & (size - 1);
		while (slot[at] != 0)
			at = (at + 1) & (size - 1);
		slot[at] = i + 1;
	}
	t->slot = slot;
	t->hash = hash;
	t->mask = size - 1;
	return true;
}

/* The number of value k of a column. */
static bool
number(struct sql_exec *x, const struct sql_op_agg *g, struct dictionary *d, const struct cat_vec *v,
    uint16_t k, uint64_t hash, uint32_t *out)
{
	if (!room(x, g, &d->t))
		return false;
	uint32_t at = (uint32_t)hash & d->t.mask;
	for (; d->t.slot[at] != 0; at = (at + 1) & d->t.mask) {
		*out = d->t.slot[at] - 1;
		if (d->t.hash[*out] == hash && sql_same_row(d->rs, *out, 0, v, 1, k))
			return true;
	}
	if (!sql_rowset_add(d->rs, &v, &k, 1))
		return sql_no_memory(x->err);
	*out = d->t.n++;
	d->t.hash[*out] = hash;
	d->t.slot[at] = *out + 1;
	return true;
}

/* The numbers of column c's values. */
static bool
number_column(struct sql_exec *x, struct sql_op_agg *g, unsigned c, const struct cat_vec *v,
    const uint16_t *sel, unsigned rows, uint64_t *hash, uint32_t *out)
{
	struct dictionary *d = &g->run->coded->column[c];
	const struct sql_origin *o = origin(g, c);
	if (d->rs == NULL &&
	    (d->rs = sql_rowset_open(x->arena[g->node.arena + 1], &g->run->set->rs->type[c], 1)) == NULL)
		return sql_no_memory(x->err);
	if (o != NULL && d->from == NULL) {
		d->from = o->rs;
		if ((d->known = per_row(x, g, o->rs)) == NULL)
			return false;
	}
	if (o == NULL || d->from != o->rs) {
		sql_hash_rows(v, 1, sel, rows, hash);
		for (unsigned r = 0; r < rows; r++)
			if (!number(x, g, d, v, sel[r], hash[r], &out[r]))
				return false;
		return true;
	}
	for (unsigned r = 0; r < rows; r++) {
		uint32_t *known = &d->known[o->row[sel[r]]];
		if (*known == 0) {
			if (!number(x, g, d, v, sel[r], sql_hash_row(v, 1, sel[r]), &out[r]))
				return false;
			*known = out[r] + 1;
		}
		out[r] = *known - 1;
	}
	return true;
}

/* A tuple that was not there: its group is found by its values. */
static bool
new_tuple(struct sql_exec *x, struct sql_op_agg *g, const struct cat_vec *key, uint16_t row, uint64_t hash,
    uint32_t **tuple)
{
	struct sql_coded *c = g->run->coded;
	unsigned width = g->keys + 1;
	uint32_t cap = c->t.mask;
	if (!room(x, g, &c->t))
		return false;
	if (c->t.mask != cap) {
		uint32_t *more = nam_arena_take(
		    x->arena[g->node.arena + 1], (size_t)(c->t.mask + 1) / 2 * width * sizeof *more);
		if (more == NULL)
			return sql_no_memory(x->err);
		if (c->t.n > 0)
			memcpy(more, c->tuple, (size_t)c->t.n * width * sizeof *more);
		c->tuple = more;
	}
	uint32_t at = (uint32_t)hash & c->t.mask, i = c->t.n;
	*tuple = &c->tuple[(size_t)i * width];
	if (!find(x, g, key, row, &(*tuple)[g->keys]))
		return false;
	while (c->t.slot[at] != 0)
		at = (at + 1) & c->t.mask;
	c->t.slot[at] = i + 1;
	c->t.hash[i] = hash;
	c->t.n++;
	return true;
}

static bool
by_numbers(struct sql_exec *x, struct sql_op_agg *g, const struct cat_vec *key, const uint16_t *sel,
    unsigned rows, uint32_t *group)
{
	struct nam_arena *batch = x->arena[g->node.arena];
	struct sql_coded *c = g->run->coded;
	unsigned width = g->keys + 1;
	uint32_t *num[CODED_MAX];
	uint64_t *hash = nam_arena_take(batch, rows * sizeof *hash);
	if (hash == NULL)
		return sql_no_memory(x->err);
	for (unsigned k = 0; k < g->keys; k++) {
		if ((num[k] = nam_arena_take(batch, rows * sizeof *num[k])) == NULL)
			return sql_no_memory(x->err);
		if (!number_column(x, g, k, &key[k], sel, rows, hash, num[k]))
			return false;
	}
	for (unsigned r = 0; r < rows; r++) {
		uint64_t h = num[0][r];
		for (unsigned k = 1; k < g->keys; k++)
			h = nam_mix(h) + num[k][r];
		hash[r] = nam_mix(h);
	}
	for (unsigned r = 0; r < rows; r++) {
		uint32_t *tuple = NULL;
		uint32_t at = c->t.slot ? (uint32_t)hash[r] & c->t.mask : 0;
		for (; c->t.slot != NULL && c->t.slot[at] != 0; at = (at + 1) & c->t.mask) {
			uint32_t i = c->t.slot[at] - 1;
			bool same = c->t.hash[i] == hash[r];
			tuple = &c->tuple[(size_t)i * width];
			for (unsigned k = 0; same && k < g->keys; k++)
				same = tuple[k] == num[k][r];
			if (same)
				break;
			tuple = NULL;
		}
		if (tuple == NULL) {
			if (!new_tuple(x, g, key, sel[r], hash[r], &tuple))
				return false;
			for (unsigned k = 0; k < g->keys; k++)
				tuple[k] = num[k][r];
		}
		group[r] = tuple[g->keys];
	}
	return true;
}

bool
sql_group_find(struct sql_exec *x, struct sql_op_agg *g, const struct cat_vec *key, const uint16_t *sel,
    unsigned rows, uint32_t *group)
{
	const struct sql_origin *one = origin(g, 0);
	unsigned with = 0, same = 0;
	for (unsigned k = 0; k < g->keys; k++) {
		const struct sql_origin *o = origin(g, k);
		with += o != NULL;
		same += o != NULL && one != NULL && o->row == one->row;
	}
	if (with == 0 || g->keys > CODED_MAX)
		return sql_groups_find(g->run->set, key, sel, rows, group) || sql_no_memory(x->err);
	if (g->run->coded == NULL &&
	    (g->run->coded = nam_arena_zero(x->arena[g->node.arena + 1], sizeof *g->run->coded)) == NULL)
		return sql_no_memory(x->err);
	if (same < g->keys)
		return by_numbers(x, g, key, sel, rows, group);
	if (g->run->coded->from != NULL && g->run->coded->from != one->rs)
		return sql_groups_find(g->run->set, key, sel, rows, group) || sql_no_memory(x->err);
	return by_row(x, g, key, sel, rows, one, group);
}
