/* filter.c -- Bloom filters of all nodes' keys: each node adds its own, slice by slice (S3). */
#include "shuffle_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PROBES = 2 };

uint64_t
olap_filter_bytes(uint64_t keys, unsigned bits)
{
	uint64_t words = (keys * (bits != 0 ? bits : OLAP_FILTER_BITS) + 63) / 64;
	return 8 * (words < UINT32_MAX ? words + 1 : UINT32_MAX);
}

/* Keys fall into words by chance, so a word has k of them by Poisson's law. */
double
olap_filter_error(unsigned bits)
{
	double mean = 64.0 / (bits != 0 ? bits : OLAP_FILTER_BITS), share = exp(-mean), error = 0;
	for (unsigned k = 0; k < 256; k++) {
		double set = 1 - pow(1 - 1 / 64.0, PROBES * (double)k);
		error += share * pow(set, PROBES);
		share *= mean / (k + 1);
	}
	return error;
}

nam_status
olap_shuffle_filter_open(struct olap_node *node, unsigned side)
{
	struct shuffle_filter *f = &node->filter[side];
	f->words = (uint32_t)(olap_filter_bytes(node->s->all[side], node->s->filter_bits) / 8);
	nam_status st = olap_area_need(&f->area, &node->memory, (size_t)f->words * 8);
	f->word = (uint64_t *)(void *)f->area.at;
	if (st == NAM_OK)
		memset(f->word, 0, (size_t)f->words * 8);
	return st;
}

void
olap_shuffle_filter_fill(struct olap_node *node, unsigned side)
{
	struct shuffle_filter *f = &node->filter[side];
	const char *t = node->s->tuples[side];
	for (uint64_t i = 0; i < node->s->n[side]; i++, t += node->s->width) {
		uint64_t m = shuffle_mixed(olap_hash(*(const uint64_t *)(const void *)t));
		f->word[shuffle_word(f, m)] |= shuffle_bits(m);
	}
	shuffle_spent(node, OLAP_FILTER_ADD, node->s->n[side]);
	f->parts++;
}

static uint32_t
slice(const struct olap_node *node, const struct shuffle_filter *f, unsigned i)
{
	return (uint32_t)((uint64_t)f->words * i / node->s->nodes);
}

void
olap_shuffle_filter_send(struct olap_node *node, unsigned side, enum shuffle_kind kind)
{
	struct shuffle_filter *f = &node->filter[side];
	unsigned self = node->s->self;
	for (unsigned to = 0; to < node->s->nodes; to++) {
		unsigned which = kind == SHUFFLE_PART ? to : self;
		uint32_t at = slice(node, f, which), end = slice(node, f, which + 1);
		while (to != self && at < end) {
			uint32_t n = end - at < OLAP_MESSAGE / 8 ? end - at : OLAP_MESSAGE / 8;
			olap_shuffle_send(node, to, kind, side, at, f->word + at, n * 8);
			node->s->did.filter_bytes += n * 8;
			at += n;
		}
		/* A filter may have fewer words than there are nodes. */
		if (to != self && slice(node, f, which) == end)
			olap_shuffle_send(node, to, kind, side, end, NULL, 0);
	}
	if (kind == SHUFFLE_FILTER)
		f->slices++;
}

nam_status
olap_shuffle_filter_take(struct olap_node *node, const struct shuffle_head *h, const uint64_t *words)
{
	struct shuffle_filter *f = &node->filter[h->side];
	bool part = h->kind == SHUFFLE_PART;
	unsigned which = part ? node->s->self : h->from;
	uint32_t begin = slice(node, f, which), end = slice(node, f, which + 1), n = h->bytes / 8;
	uint32_t *at = part ? &f->part_at[h->from] : &f->slice_at[h->from];
	/* S1: words come in their order, so no word is missing. */
	if (f->word == NULL || h->bytes % 8 != 0 || h->first != begin + *at || n > end - h->first ||
	    (n == 0 && begin != end))
		return NAM_CORRUPT;
	for (uint32_t i = 0; i < n; i++) {
		if (part)
			f->word[h->first + i] |= words[i];
		else
			f->word[h->first + i] = words[i];
	}
	shuffle_spent(node, OLAP_COPY, h->bytes);
	*at += n;
	if (begin + *at == end)
		*(part ? &f->parts : &f->slices) += 1;
	return NAM_OK;
}
