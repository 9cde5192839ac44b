/* txn.c -- a transaction's beginning, its settings, and its end. */
#include "txn_internal.h"

#include <base/fault.h>

#include <stdlib.h>
#include <string.h>

/* ---- states ---- */

void
txn_goto(struct txn *t, enum txn_state to)
{
#define TO(s) (1u << TXN_##s)
	static const uint16_t next[TXN_STATES] = {
		[TXN_POOLED] = TO(OPEN),
		[TXN_OPEN] = TO(LOCKING) | TO(UNDOING) | TO(POOLED),
		[TXN_LOCKING] = TO(CHECKING) | TO(UNDOING),
		[TXN_CHECKING] = TO(WRITING) | TO(UNDOING),
		[TXN_WRITING] = TO(DECIDED) | TO(UNDOING),
		[TXN_DECIDED] = TO(MARKING) | TO(LEFT),
		[TXN_UNDOING] = TO(MARKING) | TO(POOLED) | TO(LEFT),
		[TXN_MARKING] = TO(MARKED),
		[TXN_MARKED] = TO(POOLED) | TO(LEFT),
	};
#undef TO
	/* A fault on purpose may take another way. */
	NAM_ASSERT((next[t->state] >> to & 1) != 0 || nam_fault_any());
	t->state = to;
}

/* ---- begin and end ---- */

static struct txn *
txn_new(struct txn_worker *tw)
{
	struct txn *t = tw->txn_pool;
	if (t != NULL) {
		tw->txn_pool = t->next;
		if (--tw->pooled < tw->pooled_least)
			tw->pooled_least = tw->pooled;
		return t;
	}
	t = calloc(1, sizeof *t);
	if (t != NULL)
		nam_arena_init(&t->arena, 32 << 10);
	return t;
}

/* Into the pool, whose first one is taken first: so the last ones are those not in use. */
static void
pool(struct txn_worker *tw, struct txn *t)
{
	t->next = tw->txn_pool;
	tw->txn_pool = t;
	tw->pooled++;
}

void
txn_pool_trim(struct txn_worker *tw)
{
	uint32_t stay = tw->pooled - tw->pooled_least, n = 0;
	struct txn **link = &tw->txn_pool;
	for (; *link != NULL && n < (stay > 0 ? stay : 1); link = &(*link)->next, n++) {
		struct txn *t = *link;
		txn_own_trim(t);
		nam_arena_trim(&t->arena);
	}
	for (struct txn *t = *link, *next; t != NULL; t = next) {
		next = t->next;
		txn_free(t);
	}
	*link = NULL;
	tw->pooled = tw->pooled_least = n;
}

void
txn_free(struct txn *t)
{
	nam_arena_fini(&t->arena);
	txn_own_free(t);
	free(t->scanned);
	free(t->ranged);
	free(t->claims);
	free(t->risen);
	idx_leaves_free(&t->leaves);
	free(t->guard);
	free(t);
}

void
txn_recycle(struct txn *t)
{
	struct txn_worker *tw = t->tw;
	txn_goto(t, TXN_POOLED);
	if (t->pinned)
		tso_unpin(tw->tso, &t->pin);
	if (t->held)
		tso_unpin(tw->tso, &t->hold);
	t->held = false;
	if (t->intent)
		txn_intent_give(tw, t->intent);
	if (t->sink)
		net_counts_add(t->sink, &t->counts);
	t->sink = NULL;
	nam_arena_reset(&t->arena);
	t->intent = NULL;
	t->lock = 0;
	t->pinned = t->claimed = t->cluster_visible = t->holding = t->finish = false;
	t->over_empty = t->latest = false;
	t->logged = 0;
	t->log_end = (struct wal_ends){ 0 };
	t->ahead = NULL;
	t->early = NULL;
	txn_marks_end(t);
	if (t->arena.budget != NULL)
		nam_arena_charge(&t->arena, NULL);
	idx_leaves_clear(&t->leaves);
	t->nentries = 0;
	if (t->nunchecked + t->nclaims + t->nrisen > 0)
		txn_claims_end(t);
	t->nwr = t->nblobs = t->nreads = t->nabsent = t->nscanned = t->nranged = t->nguards = 0;
	t->nrelied = t->nforbids = t->nasked = 0;
	txn_own_end(t);
	t->note = 0;
	t->waiter = NULL;
	t->more.bits = 0;
	t->limits = (struct txn_limits){ 0 };
	pool(tw, t);
	tw->open--;
}

void
txn_leave(struct txn *t)
{
	struct txn_worker *tw = t->tw;
	txn_goto(t, TXN_LEFT);
	tso_abandon(tw->db->tso);
	t->next = tw->left;
	tw->left = t;
	tw->intents -= t->intent != NULL;
	tw->open--;
}

/* An intent is used again only after a mark that has landed: else a recoverer of this process could
 * not repeat that mark. */
void
txn_through(struct txn *t)
{
	if (t->claim.op.status == NAM_OK)
		txn_recycle(t);
	else
		txn_leave(t);
}

void
txn_marked(void *arg)
{
	struct txn *t = arg;
	txn_goto(t, TXN_MARKED);
	if (t->waiter)
		nam_co_wake(t->waiter);
	else
		txn_through(t);
}

void
txn_mark_and_wait(struct txn *t, unsigned note)
{
	t->waiter = nam_co_self();
	txn_goto(t, TXN_MARKING);
	tso_mark(t->tw->tso, &t->claim, note, txn_marked, t);
	while (t->state != TXN_MARKED)
		nam_co_park();
	t->waiter = NULL;
}

/* latest: with a pin at the prefix that this process knows, instead of a snapshot. */
static nam_status
begin(struct txn_worker *tw, enum txn_iso iso, bool latest, const struct txn_limits *l, struct txn **out)
{
	/* txn_life comes first: what this process commits has to be in the log. */
	if (tw->db->wal_copies != 0 && tw->db->wal.copies == 0)
		return NAM_REFUSED;
	struct txn *t = txn_new(tw);
	if (t == NULL)
		return NAM_NOMEM;
	txn_goto(t, TXN_OPEN);
	tw->open++;
	t->tw = tw;
	t->iso = iso;
	t->latest = latest;
	t->floor = latest ? tso_last_answered(tw->db->tso) : 0;
	t->cid = 0;
	t->sync = tw->db->wal.copies != 0;
	memset(&t->counts, 0, sizeof t->counts);
	t->looks = (struct txn_looks){ 0 };
	if (l != NULL)
		txn_set_limits(t, l);
	struct tso_timeout p = txn_timeout(&t->limits);
	/* The READ of a snapshot parks. On mapped memory nothing else does before the claim: a
	 * retry would keep its worker from the transaction whose lock it has met. */
	if (latest && net_all_mapped(tw->w))
		nam_co_yield();
	net_admit(tw->w);
	nam_status st =
	    latest ? tso_pin_now(tw->tso, &t->pin) : tso_snapshot_by(tw->tso, &t->pin, &p, &t->counts);
	net_admit_end(tw->w);
	/* A pin that failed is the caller's to take back, a snapshot that failed is none. */
	t->pinned = st == NAM_OK || latest;
	if (st == NAM_OK)
		txn_at_hand(tw);
	if (st != NAM_OK) {
		txn_recycle(t);
		return st;
	}
	*out = t;
	return NAM_OK;
}

nam_status
txn_begin_by(struct txn_worker *tw, enum txn_iso iso, const struct txn_limits *l, struct txn **out)
{
	return begin(tw, iso, false, l, out);
}

nam_status
txn_begin_at(struct txn_worker *tw, tso_cid at, const struct txn_limits *l, struct txn **out)
{
	struct txn *t = txn_new(tw);
	if (t == NULL)
		return NAM_NOMEM;
	txn_goto(t, TXN_OPEN);
	tw->open++;
	t->tw = tw;
	t->iso = TXN_REPEATABLE_READ;
	t->latest = false;
	t->floor = 0;
	t->cid = 0;
	t->sync = tw->db->wal.copies != 0;
	memset(&t->counts, 0, sizeof t->counts);
	if (l != NULL)
		txn_set_limits(t, l);
	/* A snapshot of another process: this one has walked over its notes before it reads. */
	struct tso_timeout p = txn_timeout(&t->limits);
	nam_status st = tso_wait_for_by(tw->tso, at, &p);
	if (st == NAM_OK) {
		st = tso_pin_at(tw->tso, &t->pin, at);
		t->pinned = true;
	}
	if (st == NAM_OK)
		*out = t;
	else
		txn_recycle(t);
	return st;
}

bool
txn_only_reads(const struct txn *t)
{
	return t->nwr == 0 && !t->latest && t->iso != TXN_SERIALIZABLE;
}

nam_status
txn_begin_latest(struct txn_worker *tw, const struct txn_limits *l, struct txn **out)
{
	return begin(tw, TXN_REPEATABLE_READ, true, l, out);
}

nam_status
txn_begin(struct txn_worker *tw, enum txn_iso iso, struct txn **out)
{
	return txn_begin_by(tw, iso, NULL, out);
}

nam_status
txn_statement(struct txn *t)
{
	if (t->iso != TXN_READ_COMMITTED)
		return NAM_OK;
	if (t->ahead != NULL)
		t->ahead->n = 0;
	if (nam_fault(STOCKED_CID) && t->claimed) { /* it would hold up the snapshot taken now */
		txn_mark_and_wait(t, 0);
		t->claimed = false;
		txn_goto(t, TXN_OPEN);
	}
	/* Once it has written, its first snapshot stays pinned: until it ends, no table that it has
	 * written may be given back (a DROP by another process waits for the watermark). */
	if (t->pinned && !t->held && (t->nwr > 0 || t->nblobs > 0)) {
		tso_hold(t->tw->tso, &t->pin, &t->hold);
		t->held = true;
	} else if (t->pinned) {
		tso_unpin(t->tw->tso, &t->pin);
	}
	t->pinned = false;
	struct tso_timeout p = txn_timeout(&t->limits);
	nam_status st = tso_snapshot_by(t->tw->tso, &t->pin, &p, &t->counts);
	t->pinned = st == NAM_OK;
	return st;
}

tso_cid
txn_snapshot(const struct txn *t)
{
	return t->pin.at;
}

tso_cid
txn_cid(const struct txn *t)
{
	return t->cid;
}

struct txn_worker *
txn_worker_of(const struct txn *t)
{
	return t->tw;
}

const struct net_counts *
txn_counts(const struct txn *t)
{
	return &t->counts;
}

void
txn_set_counts_sink(struct txn *t, struct net_counts *into)
{
	t->sink = into;
}

void
txn_set_finish(struct txn *t, bool on)
{
	t->finish = on;
}

void
txn_set_limits(struct txn *t, const struct txn_limits *l)
{
	t->limits = *l;
	if (t->arena.budget != l->budget)
		nam_arena_charge(&t->arena, l->budget);
}

const struct txn_limits *
txn_limits_of(const struct txn *t)
{
	return &t->limits;
}

void
txn_set_note(struct txn *t, unsigned note)
{
	t->note |= note;
}

void
txn_set_cluster_visible(struct txn *t, bool on)
{
	t->cluster_visible = on;
}

uint32_t
txn_last_commit_round_trips(const struct txn_worker *tw)
{
	return tw->last_round_trips;
}
