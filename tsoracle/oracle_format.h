/*
 * oracle_format.h -- the oracle as every compute process sees it in the home node's memory.
 *
 *   anchor (struct tso_anchor, 256 B) -> lanes (K words, a line each), owners (`slots` x 128 B)
 *   and vector (V bytes)
 *
 *   lane k (0..K-1, K a power of two): the least CID that lane k may still give out, always = k
 *   mod K. A FETCH_ADD of m * K gives m CIDs with stride K. K = 1: the one lane is `counter`.
 *
 *   vector[c mod V]:      7             6           5..0
 *                    +--------------+-------------+----------+
 *                    | catalog note | memory note | lap of c | lap(c) = 1 + (c / V) mod 63, never 0
 *                    +--------------+-------------+----------+
 *   If the byte shows another lap than c's, c is not marked yet. No byte is ever cleared.
 *
 *   owner word:   63..62    61..40      39..0
 *               +-------+----------+----------+
 *               | state |  epoch   | identity |   state: 0 free, 1 active, 2 idle, 3 sealed
 *               +-------+----------+----------+
 *   identity: net_identity() of the owner (active, idle) or of the one recoverer (sealed); 0
 *   (free).
 *
 * Access
 *   lanes      any process: FETCH_ADD of a multiple of K, CAS upwards by a multiple of K. Either
 *              gives the CIDs that the word passes to this process alone.
 *   hint       any process: CAS upwards; a prefix that was true once. A joiner starts there.
 *   high       any process: CAS upwards; slots at or above it were never used.
 *   owner word CAS only. free -> active by a joiner (epoch + 1); active <-> idle by its owner;
 *              active -> free by its owner (leave); idle -> free by any process, when the beat has
 *              not moved for ten leases: an idle owner holds no lock, claim or snapshot (T9);
 *              active -> sealed by a process that has fenced the owner; sealed -> sealed by a
 *              process that has fenced the recoverer named; sealed -> free by the recoverer named,
 *              when all is recovered.
 *   log        belongs to the slot, for ever: the next owner of the slot takes the log over.
 *   promises   the owner alone, one WRITE. check covers epoch and slot, so a line written by a
 *              process that lost the slot meanwhile proves nothing and is ignored.
 *   vector     mark of c: the process that claimed c; or any process, when c is below every live
 *              `open`.
 *
 * Always true
 *   T1  mark(c) set  =>  every verb of c has executed, or never will.
 *   T2  each promise of one (slot, epoch) only rises; a mix of two of its lines is below the later.
 * T3  a snapshot is never below the published `oldest` of its owner, or of the owner that it
 * helps.
 *   T4  c is used only when c - V <= min(seen) over live slots: no process READs or marks lap - 1
 *       of it. A slot is live if it is active or sealed: the promises of a free or an idle one do
 *       not count, here and in T1 - T5.
 *   T5  hint and `seen` of every live slot are prefixes: all CIDs up to them are marked.
 *   T6  A sealed slot's owner is fenced: no verb of it executes any more, anywhere.
 *   T7  An epoch of a slot comes once: a slot whose epochs are used up is not taken again.
 *   T8  Each `seen` in a slot, of its present or a former owner, was a prefix once; the greatest of
 *       them and of hint never falls: a new owner's first line begins there. (Except after a late
 *       line of an idle owner whose slot has another owner by now; the next beat of that owner, or
 *       its recoverer, repairs it.)
 *   T9  An idle owner has no verb under way, in any worker, but READs of this page's slots and
 *       anchor and the WRITE of its promises; it READs and WRITEs no mark. From the CAS idle ->
 *       active on its line counts again, and it begins at the greatest number of T8, READ behind
 *       that CAS.
 *   T10 A CID is given out when its lane's word passes it. A prefix covers no CID that has not been
 *       given out: all lanes have passed each prefix.
 *   T11 A claim is greater than its floor and than every prefix that any process had READ before
 *       the claim was posted. With K > 1 it need not be greater than other claims before it.
 */
#ifndef NAM_TSORACLE_ORACLE_FORMAT_H
#define NAM_TSORACLE_ORACLE_FORMAT_H

#include <net/net.h>
#include <tsoracle/tsoracle.h>

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define TSO_MAGIC UINT64_C(0x3130304f53544e00)

struct tso_anchor {
	uint64_t magic;
	uint64_t vector;      /* V, a power of two */
	uint64_t vector_at;   /* net_addr bits */
	uint64_t owners_at;   /* net_addr bits */
	uint64_t scheme;      /* enum tso_scheme */
	uint64_t clients;     /* TSO_PREASSIGNED: how many share the CIDs */
	uint64_t client_next; /* TSO_PREASSIGNED: FETCH_ADD hands out places */
	uint64_t lease_ns;    /* an owner whose beat stalls for this long has lapsed */
	uint64_t counter;     /* K = 1: next CID, view in the high bits; else not used */
	uint64_t slots;       /* owner slots: at least TSO_OWNERS_MIN, at most TSO_OWNERS */
	uint64_t lanes;       /* K: a power of two, at most TSO_LANES */
	uint64_t lanes_at;    /* net_addr bits; the lanes lie TSO_LANE_BYTES apart */
	uint64_t pad1[4];
	uint64_t hint;
	uint64_t high;
	uint64_t pad2[14];
};
static_assert(sizeof(struct tso_anchor) == 256, "oracle anchor is a layout");
static_assert(offsetof(struct tso_anchor, counter) == 64, "the counter has its own line");

struct tso_promises {
	uint64_t beat; /* rises with each tick */
	uint64_t oldest, open, seen;
	uint64_t epoch;
	uint64_t check; /* over the five words above and the slot number */
};

struct tso_owner_slot {
	uint64_t word;
	uint64_t log; /* net_addr bits of the slot's log directory, 0 = none yet */
	uint64_t pad0[6];
	struct tso_promises promises;
	uint64_t pad1[2];
};
static_assert(sizeof(struct tso_owner_slot) == 128, "owner slot is a layout");

#define TSO_COUNT_BITS 48
#define TSO_COUNT_MASK ((UINT64_C(1) << TSO_COUNT_BITS) - 1)

enum {
	TSO_FREE = 0,
	TSO_ACTIVE = 1,
	TSO_IDLE = 2,
	TSO_SEALED = 3,
	TSO_IDENTITY_BITS = NET_IDENTITY_BITS,
	TSO_EPOCH_BITS = 22,
	TSO_EPOCH_MAX = (1 << TSO_EPOCH_BITS) - 1,
	TSO_LAPS = 63,
	TSO_LANE_BYTES = 64,
	TSO_LAP_MASK = 0x3f, /* of a mark byte; the two bits above are its notes */
	TSO_MARK_CATALOG = 0x80,
	TSO_MARK_MEMORY = 0x40,
};
static_assert(2 + TSO_EPOCH_BITS + TSO_IDENTITY_BITS == 64, "owner word is a layout");

static inline uint64_t
tso_word(unsigned state, unsigned epoch, uint64_t identity)
{
	return (uint64_t)state << 62 | (uint64_t)(epoch & TSO_EPOCH_MAX) << TSO_IDENTITY_BITS | identity;
}
static inline uint64_t
tso_word_identity(uint64_t w)
{
	return w & ((UINT64_C(1) << TSO_IDENTITY_BITS) - 1);
}
static inline unsigned
tso_word_state(uint64_t w)
{
	return (unsigned)(w >> 62);
}
static inline unsigned
tso_word_epoch(uint64_t w)
{
	return (unsigned)(w >> TSO_IDENTITY_BITS) & TSO_EPOCH_MAX;
}
static inline uint8_t
tso_lap(uint64_t cid, uint64_t vector)
{
	return (uint8_t)(1 + ((cid & TSO_COUNT_MASK) / vector) % TSO_LAPS);
}
/* The least CID of lane k (of n) that is not below `from`. */
static inline uint64_t
tso_lane_cid(unsigned n, unsigned k, uint64_t from)
{
	return from + ((k - from) & (n - 1));
}
/* The byte that marks cid; note: TSO_NOTE_CATALOG, TSO_NOTE_MEMORY, both, or 0. */
static inline uint8_t
tso_mark_byte(uint64_t cid, uint64_t vector, unsigned note)
{
	return (uint8_t)(tso_lap(cid, vector) | (note & TSO_NOTE_CATALOG ? TSO_MARK_CATALOG : 0) |
			 (note & TSO_NOTE_MEMORY ? TSO_MARK_MEMORY : 0));
}

#endif
