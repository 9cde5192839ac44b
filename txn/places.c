/*
 * places.c -- where the anchors of tables lie: an extent has 16 places for them.
 *
 * Each region has a stack of free places. Root word TXN_ROOT_PLACES of its superblock is the top:
 *
 *	63 tag, +1 with each change, 28 | 27 number of a place (its offset / 4 Ki), 0 = none, 0
 *
 * A free place begins with the number of the place below it, WRITTEN before the CAS that pushes it.
 * The tag makes the CAS of a process fail whose picture of the stack is old. A region that is lost
 * takes its stack along; places of other regions are not concerned. An extent of places never goes
 * back: so many tables there have been at once. A process that dies between the CAS that takes a
 * place and its entry in the list of tables (tables.c), or between the end of that entry and the
 * CAS that gives the place back, leaves one place that nobody uses; so does a connection that
 * breaks under that CAS. One that breaks while an extent is made into places leaves 16.
 */
#include "cluster_format.h"
#include "txn_internal.h"

#include <base/fault.h>

#include <string.h>

enum { PLACE_BITS = 28, A_PLACE = TXN_ANCHOR_BYTES, PLACES = NET_EXTENT / A_PLACE };
static_assert(NET_REGION_SIZE_MAX / A_PLACE <= UINT64_C(1) << PLACE_BITS, "a number names each place");

static net_addr
top_at(unsigned region)
{
	return net_at(region, offsetof(struct net_super, root) + 8u * TXN_ROOT_PLACES);
}
static uint64_t
number_of(net_addr place)
{
	return net_offset_of(place) / A_PLACE;
}
static net_addr
place_of(unsigned region, uint64_t number)
{
	return net_at(region, number * A_PLACE);
}
static uint64_t
top_number(uint64_t top)
{
	return top & ((UINT64_C(1) << PLACE_BITS) - 1);
}
static uint64_t
top_next(uint64_t top, uint64_t number)
{
	uint64_t changes = (top >> PLACE_BITS) + (nam_fault(PLACE_UNTAGGED) ? 0 : 1);
	return changes << PLACE_BITS | number;
}

/* Pushes a chain of places, of which each but the last names the one below it. */
static nam_status
push(struct net_worker *w, net_addr first, net_addr last)
{
	net_addr at = top_at(net_region_of(first));
	uint64_t top, seen;
	nam_status st = net_read1(w, at, &top, 8, NULL);
	while (st == NAM_OK) {
		const uint64_t below = top_number(top);
		if ((st = net_write1(w, last, &below, 8, NULL)) == NAM_OK)
			st = net_cas1(w, at, top, top_next(top, number_of(first)), &seen, NULL);
		if (st == NAM_OK && seen == top)
			break;
		top = seen;
	}
	return st;
}

/* *out at 0: the stack is empty. */
static nam_status
pop(struct net_worker *w, unsigned region, net_addr *out)
{
	net_addr at = top_at(region);
	uint64_t top, seen, below;
	nam_status st = net_read1(w, at, &top, 8, NULL);
	out->bits = 0;
	while (st == NAM_OK && top_number(top) != 0) {
		net_addr place = place_of(region, top_number(top));
		/* If another process has taken it meanwhile, `below` is rubbish, and the CAS
		 * fails. */
		if ((st = net_read1(w, place, &below, 8, NULL)) == NAM_OK)
			st = net_cas1(w, at, top, top_next(top, top_number(below)), &seen, NULL);
		if (st == NAM_OK && seen == top) {
			*out = place;
			break;
		}
		top = seen;
	}
	return st;
}

/* The first place of an extent is the caller's, the others are free. */
static nam_status
split(struct net_worker *w, net_addr extent)
{
	struct net_op op[PLACES];
	uint64_t below[PLACES];
	struct net_batch b;
	net_batch_init(&b, w, op, PLACES, NULL);
	for (unsigned i = 1; i + 1 < PLACES; i++) {
		net_addr place = net_plus(extent, (uint64_t)i * A_PLACE);
		below[i] = number_of(place) + 1;
		net_write(&b, place, &below[i], 8);
	}
	nam_status st = net_run(&b);
	return st == NAM_OK ? push(w, net_plus(extent, A_PLACE), net_plus(extent, NET_EXTENT - A_PLACE)) : st;
}

static nam_status
take_of(struct net_worker *w, unsigned region, net_addr *out)
{
	static const char zeros[A_PLACE];
	nam_status st = pop(w, region, out);
	if (st == NAM_OK && out->bits != 0)
		return net_write1(w, *out, zeros, sizeof zeros, NULL);
	if (st == NAM_OK && (st = net_extent_take(w, region, 1, out)) == NAM_OK)
		st = split(w, *out);
	return st;
}

nam_status
txn_place_take(struct txn_db *db, struct net_worker *w, unsigned start, bool vital, net_addr *out)
{
	nam_status st = NAM_FULL;
	for (unsigned i = 0; (st == NAM_FULL || st == NAM_GONE) && i < db->nregions; i++)
		st = take_of(w, db->regions[(start + i) % db->nregions], out);
	if ((st == NAM_FULL || st == NAM_GONE) && vital &&
	    (st = txn_extent_kept(db, w, start, out)) == NAM_OK)
		st = split(w, *out);
	return st;
}

nam_status
txn_place_give(struct net_worker *w, net_addr place)
{
	return push(w, place, place);
}
