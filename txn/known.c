/*
 * known.c -- entries of ordered indexes that have led to a live row: what this process saw last.
 *
 * An entry (key, block) is a hint. It is a row's if the version that a snapshot shows is live and
 * has the key. A version never changes, so this has to be found out once for each of them: the
 * process remembers the CID of the block's newest version, if that one was live and had the key.
 * Later a READ of the block's word, 8 bytes, answers: if it is that CID, the newest version is
 * still that one (R3), because no word returns to an old value (R6). If it is a lock or another
 * CID, or if the snapshot is older than the CID, the block has to be READ.
 *
 *	slot:  entry ^ CID 8 | CID 8      all zero: empty
 *
 * A slot is direct-mapped by its entry's name, a hash of the tree, the key and the block. Its words
 * are stored and loaded one by one, without an order: halves of two puts give a third name. The
 * hash has a seed that the process has drawn, so that no client can make two entries with one
 * name.
 */
#include "txn_internal.h"

#include <sys/mman.h>

enum { SLOTS = 1 << 20 };

struct txn_known {
	uint64_t seed;
	struct {
		_Atomic uint64_t name, cid;
	} slot[SLOTS];
};

/* Untouched memory costs nothing. NULL = no memory: nothing is remembered. */
static struct txn_known *
known_of(struct txn_worker *tw)
{
	struct txn_db *db = tw->db;
	struct txn_known *k = atomic_load_explicit(&db->known, memory_order_acquire), *none = NULL;
	if (k != NULL)
		return k;
	k = mmap(NULL, sizeof *k, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (k == MAP_FAILED)
		return NULL;
	k->seed = nam_rng_next(net_rng(tw->w));
	if (atomic_compare_exchange_strong(&db->known, &none, k))
		return k;
	munmap(k, sizeof *k);
	return none;
}

void
txn_known_close(struct txn_db *db)
{
	struct txn_known *k = atomic_load(&db->known);
	if (k != NULL)
		munmap(k, sizeof *k);
}

uint64_t
txn_known_entry(
    struct txn_worker *tw, const struct txn_table_view *v, unsigned i, const uint64_t *key, net_addr at)
{
	const struct txn_known *k = known_of(tw);
	return nam_fold(nam_hash(key, 8u * v->order[i].words, k != NULL ? k->seed : 0),
	    nam_mix(at.bits) ^ nam_mix(v->tree_name[i] + 1));
}

tso_cid
txn_known_get(struct txn_worker *tw, uint64_t entry)
{
	struct txn_known *k = known_of(tw);
	if (k == NULL)
		return 0;
	uint64_t cid = atomic_load_explicit(&k->slot[entry % SLOTS].cid, memory_order_relaxed);
	uint64_t name = atomic_load_explicit(&k->slot[entry % SLOTS].name, memory_order_relaxed);
	return (name ^ cid) == entry ? cid : 0;
}

void
txn_known_put(struct txn_worker *tw, uint64_t entry, tso_cid cid)
{
	struct txn_known *k = known_of(tw);
	if (k == NULL)
		return;
	atomic_store_explicit(&k->slot[entry % SLOTS].cid, cid, memory_order_relaxed);
	atomic_store_explicit(&k->slot[entry % SLOTS].name, entry ^ cid, memory_order_relaxed);
}
