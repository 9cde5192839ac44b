/* ghj.c -- the grace hash join of a node: its tuples go to their nodes; what has come is joined by
 * a local radix join. */
#include "shuffle_internal.h"

#include <stdlib.h>

enum { BLOCK = 1024, FAST = 16 };

/*
 * The block's tuples that the other side's filter lets pass, by their numbers. How many. Where the
 * next number is put depends on all looks before; so the looks are made first, and their misses
 * overlap.
 */
static unsigned
passes(struct olap_node *node, unsigned side, const char *t, unsigned n, uint16_t *sel)
{
	const struct shuffle_filter f = node->filter[1 - side];
	uint8_t hit[BLOCK];
	unsigned k = 0;
	for (unsigned i = 0; node->s->filters && i < n; i++)
		hit[i] = shuffle_filter_has(
		    &f, olap_hash(*(const uint64_t *)(const void *)(t + (size_t)i * node->width)));
	for (unsigned i = 0; i < n; i++) {
		sel[k] = (uint16_t)i;
		k += !node->s->filters || hit[i] != 0;
	}
	if (node->s->filters)
		shuffle_spent(node, OLAP_FILTER_TEST, n);
	node->s->did.kept_out += n - k;
	return k;
}

static inline __attribute__((always_inline)) nam_status
put_all(struct olap_node *node, unsigned side, const char *t, const uint16_t *sel, unsigned n, uint32_t width)
{
	nam_status st = NAM_OK;
	for (unsigned i = 0; st == NAM_OK && i < n; i++) {
		const char *one = t + (size_t)sel[i] * width;
		st = shuffle_put(node, side, olap_hash(*(const uint64_t *)(const void *)one), one, width);
	}
	return st;
}

static nam_status
send_side(struct olap_node *node, unsigned side)
{
	const struct olap_shuffle *s = node->s;
	const char *t = s->tuples[side];
	uint16_t sel[BLOCK];
	nam_status st = NAM_OK;
	for (uint64_t left = s->n[side]; st == NAM_OK && left > 0;) {
		unsigned n = left < BLOCK ? (unsigned)left : BLOCK, k = passes(node, side, t, n, sel);
		st = s->width == FAST ? put_all(node, side, t, sel, k, FAST)
				      : put_all(node, side, t, sel, k, s->width);
		shuffle_spent(node, OLAP_SEND, k);
		t += (size_t)n * s->width;
		left -= n;
	}
	return st == NAM_OK ? olap_shuffle_end(node, side) : st;
}

nam_status
olap_shuffle_join_send(struct olap_node *node)
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
	nam_status st = olap_table_make(&l->table, &node->memory, &build, 1, node->width, hashed, false);
	shuffle_spent(node, OLAP_BUILD, build.n);
	if (st == NAM_OK)
		st = probe(l, other.at, other.n);
	if (st == NAM_OK)
		st = give(l); /* pairs point into the table */
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
		shuffle_spent(node, OLAP_SCATTER, all.n);
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
olap_shuffle_join(struct olap_node *node)
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
		st = join_piece(&l, (struct olap_piece){ pile[l.build].at, (uint32_t)pile[l.build].n },
		    (struct olap_piece){ pile[1 - l.build].at, (uint32_t)pile[1 - l.build].n }, 0);
	olap_table_free(&l.table);
	olap_area_free(&l.part[0]);
	olap_area_free(&l.part[1]);
	return st;
}
