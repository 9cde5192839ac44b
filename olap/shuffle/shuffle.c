/* shuffle.c -- a node's messages and its states. */
#include "shuffle_internal.h"

#include <stdlib.h>
#include <string.h>

/* ---- sending ---- */

void
olap_shuffle_send(struct olap_node *node, unsigned to, enum shuffle_kind kind, unsigned side, uint32_t first,
    const void *bytes, uint32_t len)
{
	struct olap_shuffle *s = node->s;
	struct shuffle_out *o = &node->out[to];
	const struct shuffle_head h = { .magic = SHUFFLE_MAGIC,
		.kind = (uint16_t)kind,
		.side = (uint16_t)side,
		.from = s->self,
		.bytes = len,
		.first = first,
		.number = o->number++ };
	memcpy(o->bytes, &h, sizeof h);
	if (bytes != NULL)
		memcpy(o->bytes + sizeof h, bytes, len);
	s->did.bytes += sizeof h + len;
	s->wire.send(s->wire.arg, to, o->bytes, (uint32_t)sizeof h + len);
}

static void
send_tuples(struct olap_node *node, unsigned to, unsigned side)
{
	struct shuffle_out *o = &node->out[to];
	if (o->used == 0)
		return;
	node->s->did.sent[side] += o->used / node->width;
	olap_shuffle_send(node, to, SHUFFLE_TUPLES, side, 0, NULL, o->used);
	o->used = 0;
}

/* Room for so many bytes; what is there stays. */
static nam_status
room(struct olap_node *node, struct shuffle_pile *p, uint64_t bytes)
{
	struct olap_area more = { 0 };
	nam_status st = bytes > p->area.size ? olap_area_need(&more, &node->memory, bytes) : NAM_OK;
	if (st != NAM_OK || more.at == NULL)
		return st;
	if (p->n > 0)
		memcpy(more.at, p->at, p->n * node->width);
	node->memory.used -= p->area.size;
	olap_area_free(&p->area);
	p->area = more;
	p->at = more.at;
	return NAM_OK;
}

nam_status
olap_shuffle_keep(struct olap_node *node, unsigned side, const void *tuples, uint64_t n)
{
	struct shuffle_pile *p = &node->pile[side];
	uint64_t bytes = (p->n + n) * node->width;
	nam_status st = bytes > p->area.size ? room(node, p, bytes + bytes / 2) : NAM_OK;
	if (st != NAM_OK || n == 0)
		return st;
	memcpy(p->at + p->n * node->width, tuples, n * node->width);
	p->n += n;
	return NAM_OK;
}

nam_status
olap_shuffle_full(struct olap_node *node, unsigned to, unsigned side)
{
	struct shuffle_out *o = &node->out[to];
	nam_status st = NAM_OK;
	if (to == node->s->self)
		st = olap_shuffle_keep(
		    node, side, o->bytes + sizeof(struct shuffle_head), o->used / node->width);
	else
		send_tuples(node, to, side);
	o->used = 0;
	return st;
}

nam_status
olap_shuffle_end(struct olap_node *node, unsigned side)
{
	nam_status st = olap_shuffle_full(node, node->s->self, side);
	for (unsigned i = 0; i < node->s->nodes; i++) {
		if (i == node->s->self)
			continue;
		send_tuples(node, i, side);
		olap_shuffle_send(node, i, SHUFFLE_END, side, 0, NULL, 0);
	}
	node->pile[side].ends++;
	return st;
}

/* ---- taking ---- */

nam_status
olap_node_take(struct olap_node *node, const void *bytes, uint32_t len)
{
	const struct shuffle_head *h = bytes;
	const char *payload = (const char *)bytes + sizeof *h;
	nam_status st;
	if (len < sizeof *h || h->magic != SHUFFLE_MAGIC || h->bytes != len - sizeof *h ||
	    h->from >= node->s->nodes || h->from == node->s->self || h->side >= node->sides ||
	    h->number != node->out[h->from].taken)
		return NAM_CORRUPT;
	node->out[h->from].taken++;
	switch (h->kind) {
	case SHUFFLE_TUPLES:
		if (h->bytes % node->width != 0)
			return NAM_CORRUPT;
		st = olap_shuffle_keep(node, h->side, payload, h->bytes / node->width);
		shuffle_spent(node, OLAP_COPY, h->bytes);
		return st;
	case SHUFFLE_END:
		return ++node->pile[h->side].ends <= node->s->nodes ? NAM_OK : NAM_CORRUPT;
	case SHUFFLE_PART:
	case SHUFFLE_FILTER:
		return olap_shuffle_filter_take(node, h, (const uint64_t *)(const void *)payload);
	default:
		return NAM_CORRUPT;
	}
}

/* ---- states ---- */

static bool
all_ends(const struct olap_node *node)
{
	bool all = true;
	for (unsigned i = 0; i < node->sides; i++)
		all &= node->pile[i].ends == node->s->nodes;
	return all;
}

static nam_status
begin(struct olap_node *node)
{
	struct olap_shuffle *s = node->s;
	if (s->pairs == NULL) {
		node->state = SHUFFLE_WAIT;
		return olap_shuffle_groups_send(node);
	}
	if (!s->filters) {
		node->state = SHUFFLE_WAIT;
		return olap_shuffle_join_send(node);
	}
	for (unsigned i = 0; i < 2; i++) {
		olap_shuffle_filter_fill(node, i);
		olap_shuffle_filter_send(node, i, SHUFFLE_PART);
	}
	node->state = SHUFFLE_PARTS;
	return NAM_OK;
}

nam_status
olap_node_step(struct olap_node *node)
{
	struct shuffle_filter *f = node->filter;
	unsigned nodes = node->s->nodes;
	nam_status st = NAM_OK;
	if (node->state == SHUFFLE_BEGIN)
		st = begin(node);
	if (st == NAM_OK && node->state == SHUFFLE_PARTS && f[0].parts == nodes && f[1].parts == nodes) {
		olap_shuffle_filter_send(node, 0, SHUFFLE_FILTER);
		olap_shuffle_filter_send(node, 1, SHUFFLE_FILTER);
		node->state = SHUFFLE_FILTERS;
	}
	if (st == NAM_OK && node->state == SHUFFLE_FILTERS && f[0].slices == nodes && f[1].slices == nodes) {
		node->state = SHUFFLE_WAIT;
		st = olap_shuffle_join_send(node);
	}
	if (st == NAM_OK && node->state == SHUFFLE_WAIT && all_ends(node)) {
		node->state = SHUFFLE_OVER;
		st = node->s->pairs != NULL ? olap_shuffle_join(node) : olap_shuffle_groups(node);
	}
	return st == NAM_OK && node->state != SHUFFLE_OVER ? NAM_BUSY : st;
}

/* ---- begin and end ---- */

static bool
fits(const struct olap_shuffle *s)
{
	bool ok = s->nodes > 0 && s->nodes <= OLAP_NODES_MAX && s->self < s->nodes && s->width >= 8 &&
		  s->width % 8 == 0 && s->width <= OLAP_WIDTH_MAX && s->aggregates <= OLAP_AGGREGATES &&
		  s->filter_bits <= 64 && (s->pairs == NULL) != (s->groups == NULL);
	for (unsigned k = 0; ok && k < s->aggregates; k++)
		ok = s->aggregate[k].op == OLAP_COUNT || (s->aggregate[k].word + 1) * 8 <= s->width;
	return ok && !(s->filters && s->pairs == NULL);
}

nam_status
olap_node_open(struct olap_shuffle *s, struct olap_node **out)
{
	if (!fits(s))
		return NAM_INVALID;
	struct olap_node *node = calloc(1, sizeof *node);
	if (node == NULL)
		return NAM_NOMEM;
	memset(&s->did, 0, sizeof s->did);
	node->s = s;
	node->sides = s->pairs != NULL ? 2 : 1;
	node->width = s->pairs != NULL ? s->width : 8 * (1 + s->aggregates);
	node->memory.limit = SIZE_MAX / 2;
	node->out = calloc(s->nodes, sizeof *node->out);
	nam_status st = node->out != NULL ? NAM_OK : NAM_NOMEM;
	for (unsigned i = 0; st == NAM_OK && s->filters && i < 2; i++)
		st = olap_shuffle_filter_open(node, i);
	/* Keys fall evenly to the nodes, but for heavy ones. */
	for (unsigned i = 0; st == NAM_OK && i < 2; i++)
		if (s->all[i] > 0)
			st = room(node, &node->pile[i], s->all[i] / s->nodes * 9 / 8 * s->width);
	/* Touched before the work begins, as a region's memory is. */
	for (unsigned i = 0; st == NAM_OK && i < 2; i++)
		if (node->pile[i].at != NULL)
			memset(node->pile[i].at, 0, node->pile[i].area.size);
	if (st == NAM_OK)
		*out = node;
	else
		olap_node_close(node);
	return st;
}

void
olap_node_close(struct olap_node *node)
{
	if (node == NULL)
		return;
	for (unsigned i = 0; i < 2; i++) {
		olap_area_free(&node->pile[i].area);
		olap_area_free(&node->filter[i].area);
	}
	olap_groups_free(&node->groups);
	free(node->out);
	free(node);
}
