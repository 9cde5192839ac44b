/* usage.c -- how much of a region's memory is in use, by READs of its superblock. */
#include <net/provider.h>

#include <string.h>

enum { TRIES = 100 };

/* The top of the free stack says how many extents have been given back (N4), while it is the
 * top. */
static nam_status
read_depth(struct net_worker *w, unsigned region, uint64_t extents, uint64_t head, uint64_t *depth)
{
	const net_addr head_at = net_at(region, offsetof(struct net_super, free_head));
	struct net_free top;
	nam_status st = NAM_OK;
	*depth = 0;
	for (unsigned i = 0; st == NAM_OK && (head & UINT32_MAX) != 0 && i < TRIES; i++) {
		uint64_t seen = head;
		if ((head & UINT32_MAX) >= extents)
			return NAM_CORRUPT;
		net_addr at = net_at(region, (head & UINT32_MAX) * NET_EXTENT);
		st = net_read1(w, at, &top, sizeof top, NULL);
		if (st == NAM_OK)
			st = net_read1(w, head_at, &head, sizeof head, NULL);
		if (st == NAM_OK && head == seen) {
			*depth = top.depth;
			break;
		}
	}
	return st;
}

nam_status
net_region_usage(struct net_worker *w, unsigned region, struct net_usage *out)
{
	const struct net_node_info *node = net_node_of(net_worker_net(w), region);
	uint64_t reserve[NET_RESERVE] = { 0 }, depth;
	struct net_super super = { 0 };
	if (node == NULL)
		return NAM_INVALID;
	nam_status st = net_read1(w, net_at(region, 0), &super, offsetof(struct net_super, root), NULL);
	if (st == NAM_OK)
		st = read_depth(w, region, node->size / NET_EXTENT, super.free_head, &depth);
	if (st == NAM_OK)
		st = net_read1(
		    w, net_at(region, offsetof(struct net_super, reserve)), reserve, sizeof reserve, NULL);
	if (st != NAM_OK)
		return st;
	for (unsigned i = 0; i < NET_RESERVE; i++)
		depth += reserve[i] > NET_RESERVE_WANTS;
	uint64_t bump = super.bump < node->size ? super.bump : node->size;
	uint64_t back = depth < bump / NET_EXTENT ? depth * NET_EXTENT : 0;
	*out = (struct net_usage){ .in_use = bump - back,
		.given_back = back,
		.never_used = node->size - bump,
		.beat = super.beat,
		.beat_wall_us = super.beat_wall_us,
		.cpu_permille = super.cpu_permille,
		.peers = super.peers };
	return NAM_OK;
}
