/*
 * extent.c -- taking and giving extents, by verbs on the superblock alone: it works on every
 * provider.
 *
 * The free stack is Treiber's, with a tag beside the top (N3). A pop READs the list of the extents
 * below the top from the top extent, which another taker may already be overwriting; then the tag
 * has moved and the CAS fails, so the list READ does not matter. The stack below an extent does not
 * change while the extent is on it: so the extent can hold the numbers of the next ones and their
 * count, and one CAS pops or pushes many.
 */
#include <net/provider.h>

#include <string.h>

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

/* N1: a recycled extent reads as zeros before it is used again. */
static nam_status
zero_extents(struct net_worker *w, unsigned n, const net_addr *at)
{
	static const char zeros[NET_EXTENT / ZERO_OPS];
	struct net_op ops[8 * ZERO_OPS];
	struct net_batch b;
	nam_status st = NAM_OK;
	net_batch_init(&b, w, ops, 8 * ZERO_OPS, NULL);
	for (unsigned k = 0; st == NAM_OK && k < n; k++) {
		for (unsigned i = 0; i < ZERO_OPS; i++)
			net_write(&b, net_plus(at[k], i * sizeof zeros), zeros, sizeof zeros);
		if (b.n == b.cap || k + 1 == n)
			st = net_run(&b);
	}
	return st;
}

/* Pops up to n extents with one CAS: the top names those below it. NAM_ABSENT: the stack is
 * empty. */
static nam_status
pop(struct net_worker *w, const struct net_node_info *node, unsigned n, net_addr *out, unsigned *got)
{
	net_addr head_at = word(node->region, offsetof(struct net_super, free_head));
	struct net_free top;
	uint64_t head;
	*got = 0;
	nam_status st = net_read1(w, head_at, &head, 8, NULL);
	for (int i = 0; st == NAM_OK && i < TRIES; i++) {
		uint64_t number = head & UINT32_MAX, seen;
		if (number == 0)
			return NAM_ABSENT;
		if (!number_sound(node, number))
			return NAM_CORRUPT;
		net_addr at = net_at(node->region, number * NET_EXTENT);
		if ((st = net_read1(w, at, &top, sizeof top, NULL)) != NAM_OK)
			return st;
		unsigned k = 1;
		while (k < n && k < NET_FREE_NEXT && number_sound(node, top.next[k - 1]))
			k++;
		if ((st = net_cas1(w, head_at, head, stack_word(head, top.next[k - 1]), &seen, NULL)) !=
		    NAM_OK)
			return st;
		if (seen == head) {
			out[0] = at;
			for (unsigned m = 1; m < k; m++)
				out[m] = net_at(node->region, top.next[m - 1] * NET_EXTENT);
			*got = k;
			return NAM_OK;
		}
		head = seen;
	}
	return st != NAM_OK ? st : NAM_BUSY;
}

/* Takes up to n extents that were never used. NAM_FULL: there is none. */
static nam_status
fresh(struct net_worker *w, const struct net_node_info *node, unsigned n, net_addr *out, unsigned *got)
{
	net_addr bump_at = word(node->region, offsetof(struct net_super, bump));
	uint64_t bump;
	*got = 0;
	/* READ first, so that a full region's bump does not rise without end (N2 allows overshoot,
	 * not wrap). */
	nam_status st = net_read1(w, bump_at, &bump, 8, NULL);
	if (st != NAM_OK)
		return st;
	uint64_t left = bump < node->size ? (node->size - bump) / NET_EXTENT : 0;
	if (left == 0)
		return NAM_FULL;
	n = n < left ? n : (unsigned)left;
	if ((st = net_faa1(w, bump_at, n * NET_EXTENT, &bump, NULL)) != NAM_OK)
		return st;
	if (bump < NET_EXTENT || bump % NET_EXTENT != 0)
		return NAM_CORRUPT;
	for (; *got < n && bump < node->size && node->size - bump >= NET_EXTENT; bump += NET_EXTENT)
		out[(*got)++] = net_at(node->region, bump);
	return *got > 0 ? NAM_OK : NAM_FULL;
}

nam_status
net_extents_take(struct net_worker *w, unsigned region, unsigned n, bool zeros, net_addr *out, unsigned *got)
{
	const struct net_node_info *node = net_node_of(net_worker_net(w), region);
	*got = 0;
	if (node == NULL || n == 0)
		return NAM_INVALID;
	while (*got < n) {
		unsigned k;
		nam_status st = pop(w, node, n - *got, out + *got, &k);
		if (st == NAM_OK && zeros)
			st = zero_extents(w, k, out + *got);
		/* If the stack is too busy, do not wait for it: there is fresh memory. */
		else if (st == NAM_ABSENT || st == NAM_BUSY)
			st = fresh(w, node, n - *got, out + *got, &k);
		if (st != NAM_OK)
			return st;
		*got += k;
	}
	return NAM_OK;
}

nam_status
net_extent_take(struct net_worker *w, unsigned region, unsigned n, net_addr *out)
{
	const struct net_node_info *node = net_node_of(net_worker_net(w), region);
	if (node == NULL || n == 0 || n > node->size / NET_EXTENT)
		return node != NULL && n != 0 ? NAM_FULL : NAM_INVALID;
	if (n == 1)
		return net_extents_take(w, region, 1, true, out, &(unsigned){ 0 });
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
		/* Too few are left for this call, and no other process finds them behind the bump:
		 * keep them. */
		for (; bump < node->size && node->size - bump >= NET_EXTENT; bump += NET_EXTENT)
			(void)net_extent_give(w, net_at(region, bump));
		return NAM_FULL;
	}
	*out = net_at(region, bump);
	return NAM_OK;
}

/* Onto the stack with one CAS. n <= NET_FREE_NEXT, of one region. */
static nam_status
push(struct net_worker *w, const struct net_node_info *node, unsigned n, const net_addr *at)
{
	net_addr head_at = word(node->region, offsetof(struct net_super, free_head));
	struct net_op ops[NET_FREE_NEXT + 1];
	struct net_free top, mine[NET_FREE_NEXT];
	struct net_batch b;
	uint64_t head;
	nam_status st = net_read1(w, head_at, &head, 8, NULL);
	while (st == NAM_OK) {
		uint32_t number = (uint32_t)head;
		memset(&top, 0, sizeof top);
		if (number != 0 && !number_sound(node, number))
			return NAM_CORRUPT;
		if (number != 0 && (st = net_read1(w, net_at(node->region, number * NET_EXTENT), &top,
					sizeof top, NULL)) != NAM_OK)
			return st;
		net_batch_init(&b, w, ops, NET_FREE_NEXT + 1, NULL);
		for (unsigned i = 0; i < n; i++) {
			const struct net_free *below = i == 0 ? &top : &mine[i - 1];
			mine[i].next[0] = number;
			memcpy(mine[i].next + 1, below->next, sizeof below->next - sizeof below->next[0]);
			mine[i].depth = below->depth + 1;
			number = (uint32_t)(net_offset_of(at[i]) / NET_EXTENT);
			net_write(&b, at[i], &mine[i], sizeof mine[i]);
		}
		struct net_op *cas = net_cas(&b, head_at, head, stack_word(head, number));
		st = net_run(&b);
		if (st != NAM_OK || cas->seen == head)
			break;
		head = cas->seen;
	}
	return st;
}

/* ---- the reserve ---- */

unsigned
net_reserve_most(const struct net_node_info *node)
{
	uint64_t part = node->size / NET_EXTENT / 32;
	return part < NET_RESERVE ? (unsigned)part : NET_RESERVE;
}

static net_addr
reserve_at(unsigned region, unsigned i)
{
	return word(region, offsetof(struct net_super, reserve) + 8u * i);
}

/* Puts up to n extents into words of the reserve that are `empty`. *used: how many. */
static nam_status
stock(struct net_worker *w, const struct net_node_info *node, uint64_t empty, unsigned n, const net_addr *at,
    unsigned *used)
{
	uint64_t there[NET_RESERVE], seen;
	unsigned most = net_reserve_most(node);
	*used = 0;
	if (most == 0)
		return NAM_OK;
	nam_status st = net_read1(w, reserve_at(node->region, 0), there, most * 8, NULL);
	for (unsigned i = 0; st == NAM_OK && i < most && *used < n; i++) {
		if (there[i] != empty)
			continue;
		st = net_cas1(w, reserve_at(node->region, i), empty, net_offset_of(at[*used]), &seen, NULL);
		*used += st == NAM_OK && seen == empty;
	}
	return st;
}

nam_status
net_reserve_fill(struct net_worker *w, unsigned region)
{
	const struct net_node_info *node = net_node_of(net_worker_net(w), region);
	net_addr at[NET_RESERVE];
	unsigned got = 0, used = 0;
	if (node == NULL)
		return NAM_INVALID;
	if (net_reserve_most(node) == 0)
		return NAM_OK;
	nam_status st = net_extents_take(w, region, net_reserve_most(node), false, at, &got);
	if (st == NAM_OK || st == NAM_FULL)
		st = stock(w, node, 0, got, at, &used);
	/* Another process has filled the words that are in use already. */
	if (st == NAM_OK && used < got)
		st = net_extents_give(w, got - used, at + used);
	return st;
}

nam_status
net_reserve_take(struct net_worker *w, unsigned region, net_addr *out)
{
	const struct net_node_info *node = net_node_of(net_worker_net(w), region);
	uint64_t there[NET_RESERVE], seen;
	if (node == NULL)
		return NAM_INVALID;
	unsigned most = net_reserve_most(node);
	if (most == 0)
		return NAM_FULL;
	nam_status st = net_read1(w, reserve_at(region, 0), there, most * 8, NULL);
	for (unsigned i = 0; st == NAM_OK && i < most; i++) {
		if (there[i] <= NET_RESERVE_WANTS)
			continue;
		if (there[i] % NET_EXTENT != 0 || !number_sound(node, there[i] / NET_EXTENT))
			return NAM_CORRUPT;
		st = net_cas1(w, reserve_at(region, i), there[i], NET_RESERVE_WANTS, &seen, NULL);
		if (st != NAM_OK || seen != there[i])
			continue;
		*out = net_at(region, there[i]);
		return zero_extents(w, 1, out);
	}
	return st == NAM_OK ? NAM_FULL : st;
}

/* ---- giving back ---- */

nam_status
net_extents_give(struct net_worker *w, unsigned n, const net_addr *extent)
{
	nam_status worst = NAM_OK;
	for (unsigned i = 0; i < n;) {
		unsigned region = net_region_of(extent[i]), k = 0;
		const struct net_node_info *node = net_node_of(net_worker_net(w), region);
		for (; i + k < n && k < NET_FREE_NEXT && net_region_of(extent[i + k]) == region; k++) {
			uint64_t off = net_offset_of(extent[i + k]);
			if (node == NULL || off % NET_EXTENT != 0 || !number_sound(node, off / NET_EXTENT))
				return NAM_INVALID;
		}
		unsigned kept;
		nam_status st = stock(w, node, NET_RESERVE_WANTS, k, extent + i, &kept);
		if (st == NAM_OK && kept < k)
			st = push(w, node, k - kept, extent + i + kept);
		worst = worst == NAM_OK ? st : worst; /* extents of other regions may still go
						       * back */
		i += k;
	}
	return worst;
}

nam_status
net_extent_give(struct net_worker *w, net_addr extent)
{
	return net_extents_give(w, 1, &extent);
}
