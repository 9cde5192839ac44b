/*
 * await.c -- waits, outside of a transaction, for memory that is about to come back.
 *
 * What a DROP, a DELETE or an UPDATE has left behind comes back when no snapshot can see it any
 * more. A transaction that finds all nodes full cannot wait for that for long: its own pin keeps
 * what became garbage behind its snapshot, and the CIDs of its collection. So it is rolled back,
 * and its session waits here, without a pin, while memory comes back; then it may begin again.
 */
#include "txn_internal.h"

enum { /* nanoseconds */
	LOOK_NS = 5000000,
	WAKE_NS = 20000000,
	USAGE_NS = 50000000,
	/* Without any progress: a snapshot may be open for long; or no garbage is known here, and
	 * only another process can have any. */
	PATIENCE_NS = 2000000000,
	PATIENCE_OTHERS_NS = 250000000,
	/* After a wait in vain: a node that is full for good answers at once. */
	IN_VAIN_NS = 5000000000,
	MUCH = 1024, /* pieces of garbage that are worth another wait before that */
};
#define MOST_NS UINT64_C(60000000000)

/* Of what takes round trips each piece counts twice: a deleted row's block is emptied first, and
 * waits again. */
static uint32_t
steps(const struct txn_worker *tw)
{
	return tw->junk[0].n + 2 * tw->junk[1].n;
}

uint64_t
txn_garbage(struct txn_worker *tw)
{
	struct txn_db *db = tw->db;
	uint64_t sum = steps(tw);
	unsigned n = atomic_load(&db->workers);
	for (unsigned i = 0; i < n && i < TXN_WORKERS_MAX; i++)
		if (i != tw->number)
			sum += atomic_load_explicit(&db->garbage[i], memory_order_relaxed);
	return sum;
}

void
txn_garbage_tell(struct txn_worker *tw)
{
	atomic_store_explicit(&tw->db->garbage[tw->number], steps(tw), memory_order_relaxed);
}

/* Of all nodes that answer. */
static void
usage(struct txn_worker *tw, uint64_t *used, uint64_t *empty)
{
	*used = *empty = 0;
	for (unsigned i = 0; i < tw->db->nregions; i++) {
		struct net_usage u;
		if (net_region_usage(tw->w, tw->db->regions[i], &u) != NAM_OK)
			continue;
		*used += u.in_use;
		*empty += u.given_back + u.never_used;
	}
}

bool
txn_is_crowded(struct txn_worker *tw)
{
	uint64_t used, empty;
	usage(tw, &used, &empty);
	return empty < used;
}

/* The watermark of an idle process may stand still. */
static void
wake(struct txn_worker *tw)
{
	struct tso_pin pin;
	(void)tso_pin_now(tw->tso, &pin);
	tso_unpin(tw->tso, &pin);
}

static bool
is_over(struct txn_worker *tw, const struct txn_limits *l, uint64_t began)
{
	uint64_t now = net_now_ns(tw->w);
	return tw->leaving || now - began > MOST_NS || (l->until_ns != 0 && now > l->until_ns) ||
	       (l->cancel != NULL && atomic_load(l->cancel) != 0);
}

bool
txn_await(struct txn_worker *tw, const struct txn_limits *l)
{
	uint64_t began = net_now_ns(tw->w), progress = began, wake_at = 0, look_at = began + USAGE_NS;
	uint64_t garbage = txn_garbage(tw), least = garbage, used, first, empty, most;
	bool own = garbage > 0;
	if (began < tw->in_vain_until && garbage < tw->in_vain_garbage + MUCH)
		return false;
	usage(tw, &used, &first);
	most = first;
	while (!is_over(tw, l, began) && (!own || garbage > 0)) {
		uint64_t now = net_now_ns(tw->w);
		garbage = txn_garbage(tw);
		progress = garbage < least ? now : progress;
		least = garbage < least ? garbage : least;
		if (now >= look_at) {
			usage(tw, &used, &empty);
			look_at = now + USAGE_NS;
			progress = empty >= most + TXN_CAME_BACK ? now : progress;
			most = empty >= most + TXN_CAME_BACK ? empty : most;
		}
		if (now - progress > (own ? PATIENCE_NS : PATIENCE_OTHERS_NS))
			break;
		if (now >= wake_at) {
			wake(tw);
			wake_at = now + WAKE_NS;
		}
		net_sleep(tw->w, LOOK_NS);
	}
	usage(tw, &used, &empty);
	bool more = empty >= first + TXN_CAME_BACK || most > first;
	/* Garbage that went to the tables' lists can be used as well, and is not empty memory. */
	bool gone = own && garbage == 0;
	if (!more) {
		tw->in_vain_until = net_now_ns(tw->w) + IN_VAIN_NS;
		tw->in_vain_garbage = garbage;
	}
	if (!more && !gone)
		return false;
	tw->starved_until = 0;
	return !is_over(tw, l, began);
}
