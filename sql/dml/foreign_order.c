/*
 * foreign_order.c -- the order in which ON UPDATE CASCADE follows keys, so that each row follows
 * one of them only.
 *
 * Rows of a key go to what it is now, some keys with each statement. If key a has become what key b
 * was, b's rows go first: else those of a would go on with them. Keys that follow one another in a
 * ring go with one statement.
 */
#include <sql/dml/foreign.h>

struct ordering {
	const struct fk *k;
	struct gone **g; /* in the order of the list */
	uint32_t n, mask;
	uint32_t *slot;        /* number of a key, plus 1, by what it was */
	uint32_t *next, *back; /* the key that was what this one is, and the other way; n = none */
	struct gone **out;
	uint32_t outs;
	uint8_t *done;
};

static uint64_t
hash_of(const struct ordering *o, const union cat_val *v)
{
	uint64_t hash = 0;
	for (unsigned i = 0; i < o->k->def->keys; i++)
		hash = cat_value_hash(o->k->parent->column[o->k->to[i]].type, v[i], hash);
	return hash;
}

/* The slot of the key that was v, or a free one. */
static uint32_t *
slot_of(const struct ordering *o, const union cat_val *v)
{
	for (uint32_t at = (uint32_t)hash_of(o, v) & o->mask;; at = (at + 1) & o->mask) {
		bool same = o->slot[at] != 0;
		for (unsigned i = 0; same && i < o->k->def->keys; i++)
			same = cat_value_cmp(o->k->parent->column[o->k->to[i]].type,
				   o->g[o->slot[at] - 1]->was[i], v[i]) == 0;
		if (same || o->slot[at] == 0)
			return &o->slot[at];
	}
}

/* Links each key with the one that was what it is now. */
static void
link_keys(struct ordering *o)
{
	for (uint32_t i = 0; i < o->n; i++)
		*slot_of(o, o->g[i]->was) = i + 1;
	for (uint32_t i = 0; i < o->n; i++)
		o->next[i] = o->back[i] = o->n;
	for (uint32_t i = 0; i < o->n; i++) {
		bool null = false;
		for (unsigned j = 0; j < o->k->def->keys; j++)
			null |= o->g[i]->null[j];
		uint32_t to = null ? 0 : *slot_of(o, o->g[i]->is);
		/* Of two that are the same now the second is not linked: a unique key ends that
		 * statement. */
		if (to != 0 && o->back[to - 1] == o->n) {
			o->next[i] = to - 1;
			o->back[to - 1] = i;
		}
	}
}

static void
put_out(struct ordering *o, uint32_t i)
{
	o->out[o->outs++] = o->g[i];
	o->done[i] = 1;
}

static void
set_in_order(struct ordering *o)
{
	for (uint32_t i = 0; i < o->n; i++)
		for (uint32_t at = o->next[i] == o->n ? i : o->n; at < o->n; at = o->back[at])
			put_out(o, at);
	for (uint32_t i = 0; i < o->n; i++) {
		uint32_t first = o->outs;
		for (uint32_t at = i; !o->done[at]; at = o->next[at])
			put_out(o, at);
		if (o->outs > first)
			o->out[first]->ring = o->outs - first;
	}
}

bool
sql_fk_order(struct sql_exec *x, struct sql_foreign *f, const struct fk *k, struct gone **list)
{
	struct ordering o = { .k = k, .mask = 15 };
	struct gone *rest = *list;
	for (; rest != NULL && rest->is != NULL; rest = rest->next)
		o.n++;
	while (o.mask < 2 * o.n)
		o.mask = 2 * o.mask + 1;
	o.g = nam_arena_take(&f->arena, (o.n + 1) * sizeof *o.g);
	o.out = nam_arena_take(&f->arena, (o.n + 1) * sizeof *o.out);
	o.slot = nam_arena_zero(&f->arena, (o.mask + 1u) * sizeof *o.slot);
	o.next = nam_arena_take(&f->arena, (o.n + 1) * sizeof *o.next);
	o.back = nam_arena_take(&f->arena, (o.n + 1) * sizeof *o.back);
	o.done = nam_arena_zero(&f->arena, o.n + 1);
	if (o.g == NULL || o.out == NULL || o.slot == NULL || o.next == NULL || o.back == NULL ||
	    o.done == NULL)
		return sql_no_memory(x->err);
	uint32_t n = 0;
	for (struct gone *g = *list; g != rest; g = g->next)
		o.g[n++] = g;
	link_keys(&o);
	set_in_order(&o);
	for (uint32_t i = 0; i < o.outs; i++)
		o.out[i]->next = i + 1 < o.outs ? o.out[i + 1] : rest;
	*list = o.outs > 0 ? o.out[0] : rest;
	return true;
}
