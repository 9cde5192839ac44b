/* groups.c -- which of the rows before was like this one? */
#include <sql/exec/groups.h>

enum { SLOTS_LEAST = 512 };

static bool
grow(struct sql_groups *s)
{
	uint64_t slots = s->slot != NULL ? (s->mask + 1) * 2 : SLOTS_LEAST;
	struct sql_group_slot *slot = nam_arena_zero(s->arena, slots * sizeof *slot);
	uint64_t *hash = nam_arena_take(s->arena, slots / 2 * sizeof *hash);
	if (slot == NULL || hash == NULL)
		return false;
	if (s->n > 0)
		memcpy(hash, s->hash, s->n * sizeof *hash);
	for (uint32_t g = 0; g < s->n; g++) {
		uint64_t i = hash[g] & (slots - 1);
		while (slot[i].group != 0)
			i = (i + 1) & (slots - 1);
		slot[i] = (struct sql_group_slot){ (uint32_t)(hash[g] >> 32), g + 1 };
	}
	s->slot = slot;
	s->hash = hash;
	s->mask = slots - 1;
	return true;
}

bool
sql_groups_open(struct sql_groups *g, struct nam_arena *arena, const enum cat_type *type, unsigned keys)
{
	*g = (struct sql_groups){ .arena = arena, .keys = keys };
	g->exact = keys == 1 && sql_hash_exact(type[0]);
	return (g->rs = sql_rowset_open(arena, type, keys)) != NULL && grow(g);
}

static bool
add(struct sql_groups *s, const struct cat_vec *key, uint16_t row)
{
	const struct cat_vec *few[16], **col = few;
	if (s->keys > 16 && (col = nam_arena_take(s->arena, s->keys * sizeof *col)) == NULL)
		return false;
	for (unsigned c = 0; c < s->keys; c++)
		col[c] = &key[c];
	return sql_rowset_add(s->rs, col, &row, 1);
}

bool
sql_groups_one(struct sql_groups *s, const struct cat_vec *key, uint16_t row, uint64_t hash, uint32_t *group)
{
	uint64_t i = hash & s->mask;
	for (; s->slot[i].group != 0; i = (i + 1) & s->mask)
		if (s->slot[i].tag == (uint32_t)(hash >> 32) &&
		    sql_same_row(s->rs, s->slot[i].group - 1, 0, key, s->keys, row)) {
			*group = s->slot[i].group - 1;
			return true;
		}
	if (!add(s, key, row))
		return false;
	s->hash[s->n] = hash;
	s->slot[i] = (struct sql_group_slot){ (uint32_t)(hash >> 32), s->n + 1 };
	*group = s->n++;
	return s->n <= s->mask / 2 || grow(s);
}

bool
sql_groups_find(
    struct sql_groups *s, const struct cat_vec *key, const uint16_t *sel, unsigned n, uint32_t *group)
{
	uint64_t h[CAT_BATCH];
	sql_hash_rows(key, s->keys, sel, n, h);
	for (unsigned k = 0; k < n; k++)
		__builtin_prefetch(&s->slot[h[k] & s->mask]);
	/* the first group that may be it */
	for (unsigned k = 0; k < n; k++) {
		const struct sql_group_slot *t = &s->slot[h[k] & s->mask];
		group[k] = t->tag == (uint32_t)(h[k] >> 32) ? t->group : 0;
		if (group[k] == 0)
			continue;
		if (s->exact) {
			__builtin_prefetch(&s->hash[group[k] - 1]);
			continue;
		}
		const struct cat_vec *v = sql_rowset_col(s->rs, group[k] - 1, 0);
		unsigned at = (group[k] - 1) % CAT_BATCH;
		__builtin_prefetch(
		    cat_type_is_str(v->type) ? (const void *)&v->s[at] : (const void *)&v->i[at]);
	}
	for (unsigned k = 0; k < n; k++) {
		bool is = group[k] != 0;
		if (is && s->exact && !key->null[sel[k]])
			is = s->hash[group[k] - 1] == h[k] && h[k] != SQL_HASH_NULL;
		else if (is)
			is = sql_same_row(s->rs, group[k] - 1, 0, key, s->keys, sel[k]);
		if (is)
			group[k]--;
		else if (!sql_groups_one(s, key, sel[k], h[k], &group[k]))
			return false;
	}
	return true;
}
