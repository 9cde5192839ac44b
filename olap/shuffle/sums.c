/* sums.c -- the classical distributed aggregation of a node: all groups of its tuples in one table;
 * each goes to its node, and is added there. */
#include "shuffle_internal.h"

#include <stdlib.h>

enum { LEAST_BITS = 12, BATCH = 256, SLOT_WORDS = 1 + OLAP_AGGREGATES };

/* Groups into the table, which grows. */
static nam_status
add_all(struct olap_node *node, const uint64_t *g, uint64_t n)
{
	nam_status st = NAM_OK;
	for (uint64_t done = 0; st == NAM_OK && done < n;) {
		done += olap_groups_add(&node->groups, g + done * node->groups.words, n - done);
		if (done < n)
			st = olap_groups_grow(&node->groups, &node->memory);
	}
	shuffle_spent(node, olap_groups_far(&node->groups) ? OLAP_GROUP_FAR : OLAP_GROUP, n);
	return st;
}

static nam_status
gather(struct olap_node *node)
{
	const struct olap_shuffle *s = node->s;
	const char *t = s->tuples[0];
	uint64_t batch[BATCH * SLOT_WORDS];
	nam_status st = NAM_OK;
	for (uint64_t i = 0; st == NAM_OK && i < s->n[0];) {
		uint64_t *to = batch;
		unsigned n = 0;
		for (; n < BATCH && i < s->n[0]; n++, i++, t += s->width) {
			const uint64_t *from = (const uint64_t *)(const void *)t;
			*to++ = from[0];
			for (unsigned k = 0; k < s->aggregates; k++)
				*to++ = s->aggregate[k].op == OLAP_COUNT ? 1 : from[s->aggregate[k].word];
		}
		st = add_all(node, batch, n);
	}
	return st;
}

/* Each group of the table to fn. */
static nam_status
each_group(struct olap_node *node, nam_status (*fn)(struct olap_node *node, const uint64_t *g))
{
	struct olap_groups *g = &node->groups;
	nam_status st = g->odd ? fn(node, g->odd_slot) : NAM_OK;
	for (size_t i = 0; st == NAM_OK && i < (size_t)1 << g->bits; i++)
		if (g->slot[i * g->words] != GROUPS_EMPTY)
			st = fn(node, g->slot + i * g->words);
	return st;
}

static nam_status
send_group(struct olap_node *node, const uint64_t *g)
{
	return shuffle_put(node, 0, olap_hash(g[0]), g, node->width);
}

static nam_status
give_group(struct olap_node *node, const uint64_t *g)
{
	return node->s->groups(node->s->arg, g, 1);
}

nam_status
olap_shuffle_groups_send(struct olap_node *node)
{
	struct olap_groups *g = &node->groups;
	g->keys = 1;
	g->words = 1 + node->s->aggregates;
	for (unsigned k = 0; k < node->s->aggregates; k++)
		g->op[k] = node->s->aggregate[k].op;
	nam_status st = olap_groups_clear(g, &node->memory, LEAST_BITS, 0);
	if (st == NAM_OK)
		st = gather(node);
	if (st == NAM_OK)
		st = each_group(node, send_group);
	if (st == NAM_OK)
		shuffle_spent(node, OLAP_SEND, g->n);
	return st == NAM_OK ? olap_shuffle_end(node, 0) : st;
}

nam_status
olap_shuffle_groups(struct olap_node *node)
{
	struct shuffle_pile *p = &node->pile[0];
	unsigned bits = LEAST_BITS;
	/* Groups come in the order of the senders' tables, which is that of their hashes: a table
	 * that grew with them would have them all in one place. */
	while (bits < 31 && UINT64_C(1) << (bits - 1) < p->n)
		bits++;
	nam_status st = olap_groups_clear(&node->groups, &node->memory, bits, 0);
	if (st == NAM_OK)
		st = add_all(node, (const uint64_t *)(const void *)p->at, p->n);
	return st == NAM_OK ? each_group(node, give_group) : st;
}
