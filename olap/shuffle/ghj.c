/* ghj.c -- the grace hash join of a node: its tuples go to their nodes; what has come is joined by a
 * local radix join. */
#include "shuffle_internal.h"

#include <stdlib.h>

enum { SPENT = 65536 };

static nam_status
send_side(struct olap_node *node, unsigned side)
{
	struct olap_shuffle *s = node->s;
	const struct shuffle_filter *f = s->filters ? &node->filter[1 - side] : NULL;
	const char *t = s->tuples[side];
	uint64_t passed = 0;
	nam_status st = NAM_OK;
	for (uint64_t i = 0; st == NAM_OK && i < s->n[side]; i++, t += s->width) {
		uint64_t hash = olap_hash(*(const uint64_t *)(const void *)t);
		if (f == NULL || shuffle_filter_has(f, hash)) {
			passed++;
			st = shuffle_put(node, side, hash, t);
		}
		/* In pieces, so that in virtual time messages leave as they are made. */
		if (i % SPENT == SPENT - 1 || i + 1 == s->n[side]) {
			if (f != NULL)
				shuffle_spent(node, OLAP_FILTER_TEST, i % SPENT + 1);
			shuffle_spent(node, OLAP_PARTITION, passed);
			s->did.kept_out += i % SPENT + 1 - passed;
			passed = 0;
		}
	}
	if (st == NAM_OK)
		shuffle_end(node, side);
	return st;
}

nam_status
shuffle_join_send(struct olap_node *node)
{
	nam_status st = send_side(node, 0);
	return st == NAM_OK ? send_side(node, 1) : st;
}

/* ---- the local join ---- */

struct local {
	struct olap_node *node;
	struct olap_table table;
	struct olap_area part[2];
	struct olap_pairs out;
	unsigned build;
};

static nam_status
give(struct local *l)
{
	nam_status st = l->out.n > 0 ? l->node->s->pairs(l->node->s->arg, &l->out) : NAM_OK;
	l->out.n = 0;
	return st;
}

static nam_status
probe(struct local *l, const char *t, uint64_t n)
{
	const struct olap_table *tab = &l->table;
	uint32_t width = l->node->width;
	const void **mine = l->build == 0 ? l->out.right : l->out.left;
	const void **other = l->build == 0 ? l->out.left : l->out.right;
	nam_status st = NAM_OK;
	for (uint64_t i = 0; st == NAM_OK && i < n; i++, t += width) {
		uint64_t key = *(const uint64_t *)(const void *)t;
		uint32_t b = olap_bucket(tab, key);
		for (uint32_t at = tab->off[b]; st == NAM_OK && at < tab->off[b + 1]; at++) {
			const char *u = tab->tuples + (size_t)at * width;
			if (*(const uint64_t *)(const void *)u != key)
				continue;
			mine[l->out.n] = t;
			other[l->out.n] = u;
			if (++l->out.n == OLAP_PAIRS)
				st = give(l);
		}
	}
	return st;
}

static nam_status
join_piece(struct local *l, struct olap_piece build, struct olap_piece other, unsigned hashed)
{
	struct olap_node *node = l->node;
	nam_status st =
	    olap_table_make(&l->table, &node->memory, &build, 1, node->width, hashed, false);
	if (st == NAM_OK)
		st = probe(l, other.at, other.n);
	if (st == NAM_OK)
		st = give(l); /* pairs point into the table */
	shuffle_spent(node, OLAP_BUILD, build.n);
	shuffle_spent(node, OLAP_PROBE, other.n);
	return st;
}

static nam_status
join_parts(struct local *l, unsigned bits)
{
	struct olap_node *node = l->node;
	uint32_t start[2][(1 << OLAP_LOCAL_BITS) + 2], width = node->width;
	nam_status st = NAM_OK;
	for (unsigned i = 0; st == NAM_OK && i < 2; i++) {
		const struct olap_piece all = { node->pile[i].at, (uint32_t)node->pile[i].n };
		st = olap_local_pass(&l->part[i], &node->memory, &all, 1, width, 0, bits, start[i]);
		shuffle_spent(node, OLAP_PARTITION, all.n);
	}
	for (uint32_t p = 0; st == NAM_OK && p < 1u << bits; p++) {
		struct olap_piece piece[2];
		for (unsigned i = 0; i < 2; i++)
			piece[i] = (struct olap_piece){ l->part[i].at + (size_t)start[i][p] * width,
				start[i][p + 1] - start[i][p] };
		st = join_piece(l, piece[l->build], piece[1 - l->build], bits);
	}
	return st;
}

nam_status
shuffle_join(struct olap_node *node)
{
	struct local l = { .node = node };
	const struct shuffle_pile *pile = node->pile;
	if (pile[0].n > UINT32_MAX / 2 || pile[1].n > UINT32_MAX / 2)
		return NAM_NOMEM;
	l.build = pile[0].n < pile[1].n ? 0 : 1;
	uint64_t bytes = pile[l.build].n * node->width;
	unsigned bits = 0;
	while (bits < OLAP_LOCAL_BITS && bytes >> bits > OLAP_CACHE)
		bits++;
	nam_status st = NAM_OK;
	if (bits > 1)
		st = join_parts(&l, bits);
	else
		st = join_piece(&l,
		    (struct olap_piece){ pile[l.build].at, (uint32_t)pile[l.build].n },
		    (struct olap_piece){ pile[1 - l.build].at, (uint32_t)pile[1 - l.build].n }, 0);
	olap_table_free(&l.table);
	olap_area_free(&l.part[0]);
	olap_area_free(&l.part[1]);
	return st;
}
