/*
 * cluster_format.h -- which storage nodes make a cluster: one word and one record on each of them.
 *
 * Root word 0 of every node (net/region_format.h) is its *membership word*:
 *
 * 	0                                   empty: the node belongs to no cluster.
 * 	63 one | 62..53 home | 52..40 attempt | 39..0 identity
 * 	                                    a process of that identity makes a cluster out of it,
 *                                          whose home is that region.
 * 	address                             the node is a member: its roster is there (region of the
 *                                          node itself).
 *
 * The *roster* is struct txn_roster, in extents of its own on each member: the cluster's number,
 * its members and their rosters. One extent takes 64 members; the members of a larger cluster
 * begin with the second extent, and up to 1,023 of them take two. The home's roster is the cluster
 * record: its roots and counters are used, those of the other rosters are not.
 *
 * In the first extent of the home's roster, from TXN_ROSTER_TABLES on: a word for each table's
 * anchor, 0 = none, changed by CAS. The last word of the extent names, by CAS from 0, an extent
 * full of further anchor words, and so on (tables.c).
 *
 * Root word 1 of every node is the stack of its free places for anchors (places.c).
 *
 * Always true
 *   K1  A membership word changes by CAS only; once it is an address, it never changes. A roster
 *       never changes, except for the home's roots and counters.
 *   K2  An attempt (identity and attempt together) takes the words of all its nodes, the home's
 *       first, before it writes anything another process looks at. Each attempt has a number of its
 *       own.
 *   K3  The home's word decides: the CAS of it from the attempt to the roster's address makes the
 *       cluster. If the home does not name an attempt any more, that attempt makes no cluster, and
 *       another attempt may take its other words.
 *   K4  After K3, a process that meets a member's word which still names the attempt sets it to
 *       that member's roster. No process joins before all members have their rosters.
 *   K5  So a maker may die or stall at any step without harm. Before K3, another attempt takes its
 *       words over, and its late WRITEs land in extents that belong to it alone. After K3, another
 *       process finishes its work.
 *   K6  A cluster with a log is used only when `life` says that its database is there: 1 + 2 x the
 *       life. Before, `life` names the one process that restores it, by a CAS from 0 or from the
 *       word of a restorer that has ended and been recovered. It is set when all that the
 *       restorer has committed is marked, so each process that sees it sees the whole database.
 *       A restorer that fails sets it to 0 when its last worker has no memory at hand any more: the
 *       next one makes tables of the same numbers, perhaps with the same anchors.
 *   K7  The copies of the log are chosen before K3, with all words taken, and never change
 *       (copies.h).
 *   K8  When a node of a cluster with a log has lost its memory, the cluster's life is over: the
 *       other nodes reset theirs, but only if a log has what the cluster has committed, and each
 *       only if its incarnation is the one that the roster names (over.c). A process reaches
 *       memory of no other incarnation than it knew, so what it knew ends with its handle.
 */
#ifndef NAM_TXN_CLUSTER_FORMAT_H
#define NAM_TXN_CLUSTER_FORMAT_H

#include <net/net.h>
#include <net/region_format.h>
#include <wal/wal_format.h>

#define TXN_ROSTER_MAGIC UINT64_C(0x325245545352544e)
enum {
	TXN_ROOT_MEMBER = 0,
	TXN_ROOT_PLACES = 1,  /* free places for anchors of tables (places.c) */
	TXN_ROSTER_ROOTS = 8, /* of the first line; further ones follow */
	TXN_ROSTER_MORE = 7,
	TXN_ROSTER_NAME = 104,
	TXN_ATTEMPT_BITS = 13,
	TXN_ROSTER_INLINE = 64, /* members that fit into the first extent, before the tables */
	TXN_ROSTER_TABLES = 16 << 10
};

struct txn_roster_node {
	uint64_t region;
	uint64_t incarnation;
	uint64_t roster;            /* its address there */
	char name[TXN_ROSTER_NAME]; /* as the maker's user wrote it; cut off where it is longer */
};

struct txn_roster {
	uint64_t magic;
	uint64_t number; /* random, the cluster's */
	uint64_t maker;  /* the word of the attempt that made it */
	uint64_t oracle;
	uint64_t home; /* region */
	uint64_t nodes;
	uint64_t deaths; /* how often memory of tables may have been left behind */
	uint64_t wanted; /* how often a process found all nodes full */
	uint64_t root[TXN_ROSTER_ROOTS];
	uint64_t looked; /* how many deaths there had been when a process last looked at all tables
			  * for those left behind */
	uint64_t more[TXN_ROSTER_MORE]; /* roots 8 to 14 */

	uint64_t log[WAL_COPIES]; /* regions of the storage nodes that have copies of the cluster's
				   * log, 0 = no further one; the first is read by a restorer */
	uint64_t life;            /* life.c: 0; the restorer's lock word; or 1 + 2 x the life */
	uint64_t restored;        /* permille, as the restorer says; decides nothing */
	uint64_t from;            /* number of the cluster whose database the log had when this one
				   * was made, 0 = it had none */
	uint64_t pad[2];

	struct txn_roster_node node[NET_REGIONS];
};
static_assert(offsetof(struct txn_roster, root) == 64, "roots have a line of their own");
static_assert(offsetof(struct txn_roster, node) + TXN_ROSTER_INLINE * sizeof(struct txn_roster_node) <=
		  TXN_ROSTER_TABLES,
    "a roster and the words of tables share an extent");
static_assert(NET_REGION_BITS + TXN_ATTEMPT_BITS + NET_IDENTITY_BITS == 63, "an attempt's word");

/* Where the members lie, from the roster on. */
static inline uint64_t
txn_roster_nodes_at(uint64_t nodes)
{
	return nodes <= TXN_ROSTER_INLINE ? offsetof(struct txn_roster, node) : NET_EXTENT;
}
/* Extents, in a row. */
static inline unsigned
txn_roster_extents(uint64_t nodes)
{
	uint64_t bytes = nodes <= TXN_ROSTER_INLINE ? 0 : nodes * sizeof(struct txn_roster_node);
	return 1 + (unsigned)((bytes + NET_EXTENT - 1) / NET_EXTENT);
}

#define TXN_MEMBER_MAKING (UINT64_C(1) << 63)

static inline uint64_t
txn_member_making(unsigned home, uint64_t attempt, uint64_t identity)
{
	return TXN_MEMBER_MAKING | (uint64_t)home << (63 - NET_REGION_BITS) |
	       (attempt & ((1u << TXN_ATTEMPT_BITS) - 1)) << NET_IDENTITY_BITS | identity;
}
static inline bool
txn_member_is_making(uint64_t word)
{
	return (word & TXN_MEMBER_MAKING) != 0;
}
static inline unsigned
txn_member_home(uint64_t word)
{
	return (unsigned)(word >> (63 - NET_REGION_BITS)) & (NET_REGIONS - 1);
}
static inline uint64_t
txn_member_identity(uint64_t word)
{
	return word & ((UINT64_C(1) << NET_IDENTITY_BITS) - 1);
}
/* The address of its roster, 0 = none. */
static inline uint64_t
txn_member_roster(uint64_t word)
{
	return txn_member_is_making(word) ? 0 : word;
}

#endif
