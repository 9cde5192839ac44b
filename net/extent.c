/*
 * extent.c -- taking and giving extents, by verbs on the superblock alone: it works on every provider.
 *
 * The free stack is Treiber's, with a tag beside the top (N3). A pop READs the
 * link in the extent's first word, which another taker may already be writing
 * over; then the tag has moved and the CAS fails, so what was read does not matter.
 */
#include <net/net_internal.h>

enum { TRIES = 1000, ZERO_OPS = 4 };

static net_addr
word(unsigned region, size_t offset)
{
	return net_at(region, offset);
}

static uint64_t
stack_word(uint64_t old, uint64_t number)
{
	uint64_t tag = (old >> 32) + 1;
	return tag << 32 | number;
}

static bool
number_sound(const struct net_node_info *node, uint64_t number)
{
	return number != 0 && number < node->size / NET_EXTENT;
}

/* N1: a recycled extent reads as zeros before anybody may use it. */
static nam_status
zero_extent(struct net_worker *w, net_addr at)
{
	static const char zeros[NET_EXTENT / ZERO_OPS];
	struct net_op ops[ZERO_OPS];
	struct net_batch b;
	net_batch_init(&b, w, ops, ZERO_OPS, NULL);
	for (unsigned i = 0; i < ZERO_OPS; i++)
		net_write(&b, net_plus(at, i * sizeof zeros), zeros, sizeof zeros);
	return net_run(&b);
}

/* NAM_ABSENT: the stack is empty. */
static nam_status
pop_extent(struct net_worker *w, const struct net_node_info *node, net_addr *out)
{
	net_addr head_at = word(node->region, offsetof(struct net_super, free_head));
	uint64_t head;
	nam_status st = net_read1(w, head_at, &head, 8, NULL);
	for (int i = 0; st == NAM_OK && i < TRIES; i++) {
		uint64_t number = head & UINT32_MAX, below, seen;
		if (number == 0)
			return NAM_ABSENT;
		if (!number_sound(node, number))
			return NAM_CORRUPT;
		net_addr at = net_at(node->region, number * NET_EXTENT);
		if ((st = net_read1(w, at, &below, 8, NULL)) != NAM_OK)
			return st;
		uint64_t next = below & UINT32_MAX;
		if ((st = net_cas1(w, head_at, head, stack_word(head, next), &seen, NULL)) != NAM_OK)
			return st;
		if (seen == head) {
			*out = at;
			return zero_extent(w, at);
		}
		head = seen;
	}
	return st != NAM_OK ? st : NAM_BUSY;
}

nam_status
net_extent_take(struct net_worker *w, unsigned region, unsigned n, net_addr *out)
{
	const struct net_node_info *node = net_node_of(net_worker_net(w), region);
	if (node == NULL || n == 0 || n > node->size / NET_EXTENT)
		return node != NULL && n != 0 ? NAM_FULL : NAM_INVALID;
	if (n == 1) {
		nam_status st = pop_extent(w, node, out);
		/* Too busy a stack is no reason to wait: there is fresh memory. */
		if (st != NAM_ABSENT && st != NAM_BUSY)
			return st;
	}
	/* Look first, so that a full region's bump does not climb for ever (N2 allows overshoot, not wrap). */
	net_addr bump_at = word(region, offsetof(struct net_super, bump));
	uint64_t bump, need = n * NET_EXTENT;
	nam_status st = net_read1(w, bump_at, &bump, 8, NULL);
	if (st != NAM_OK)
		return st;
	if (bump > node->size || need > node->size - bump)
		return NAM_FULL;
	if ((st = net_faa1(w, bump_at, need, &bump, NULL)) != NAM_OK)
		return st;
	if (bump < NET_EXTENT || bump % NET_EXTENT != 0)
		return NAM_CORRUPT;
	if (bump > node->size || need > node->size - bump) {
		/* Too few are left for us, and behind the bump nobody else finds them any more. */
		for (; bump < node->size && node->size - bump >= NET_EXTENT; bump += NET_EXTENT)
			(void)net_extent_give(w, net_at(region, bump));
		return NAM_FULL;
	}
	*out = net_at(region, bump);
	return NAM_OK;
}

nam_status
net_extent_give(struct net_worker *w, net_addr extent)
{
	const struct net_node_info *node = net_node_of(net_worker_net(w), net_region_of(extent));
	uint64_t off = net_offset_of(extent), number = off / NET_EXTENT;
	if (node == NULL || off % NET_EXTENT != 0 || !number_sound(node, number))
		return NAM_INVALID;
	net_addr head_at = word(node->region, offsetof(struct net_super, free_head));
	uint64_t head, seen;
	nam_status st = net_read1(w, head_at, &head, 8, NULL);
	while (st == NAM_OK) {
		if ((st = net_write1(w, extent, &head, 8, NULL)) != NAM_OK)
			break;
		if ((st = net_cas1(w, head_at, head, stack_word(head, number), &seen, NULL)) != NAM_OK)
			break;
		if (seen == head)
			return NAM_OK;
		head = seen;
	}
	return st;
}
