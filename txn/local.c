/*
 * local.c -- commits of one process on the same record wait for each other here, not at the record.
 *
 * Two transactions of a process that change one record have a conflict, and the process can know
 * it: the second need not lock, claim a CID and write its write set to be told so by the storage
 * node. So a commit enters the records that it changes in a table of the process. If it finds
 * another commit there, it waits for its end. If that end is a version newer than the one it has
 * read, it is a conflict, without a verb.
 *
 * The table is a hint. A record's word decides, as ever: what is not in the table, or has been
 * waited for long enough, is locked by CAS. So a holder that stalls delays others for a moment
 * only, and no cycle of waits can last. A commit that waits holds no place of the table and no lock
 * of its own commit. Memory that is mapped here has no use for the table: there a CAS costs less.
 */
#include "txn_internal.h"

#include <stdlib.h>

enum {
	/* Of a process, by hash of the address. A record whose place is taken does without. */
	PLACES = 4096,
	WRITES_MAX = 32, /* a larger transaction does without */
	BASE_NS = 1000,
	CAP_NS = 8000,
	MOST_NS = 300000, /* some ten commits */
};

struct txn_local {
	_Alignas(64) atomic_flag busy; /* guards the rest, for some instructions */
	const struct txn *holder;      /* NULL: none commits */
	uint64_t at;                   /* the record that the rest is about */
	/* The newest version that a commit of this process gave it, 0 = unknown. */
	tso_cid cid;
};

nam_status
txn_local_open(struct txn_db *db)
{
	db->local = aligned_alloc(64, PLACES * sizeof *db->local);
	if (db->local == NULL)
		return NAM_NOMEM;
	for (unsigned i = 0; i < PLACES; i++)
		db->local[i] = (struct txn_local){ .busy = ATOMIC_FLAG_INIT };
	return NAM_OK;
}

void
txn_local_close(struct txn_db *db)
{
	free(db->local);
	db->local = NULL;
}

static struct txn_local *
place_of(struct txn_db *db, net_addr at)
{
	return &db->local[nam_mix(at.bits) % PLACES];
}

static void
hold(struct txn_local *p)
{
	while (atomic_flag_test_and_set_explicit(&p->busy, memory_order_acquire))
		;
}

static void
let_go(struct txn_local *p)
{
	atomic_flag_clear_explicit(&p->busy, memory_order_release);
}

/* NAM_OK: it is entered, or does without. NAM_BUSY: another commit holds the record. */
static nam_status
enter(struct txn *t, struct txn_write *w)
{
	struct txn_local *p = place_of(t->tw->db, w->at);
	nam_status st = NAM_OK;
	hold(p);
	if (p->holder == NULL) {
		if (p->at != w->at.bits) {
			p->at = w->at.bits;
			p->cid = 0;
		}
		if (p->cid > w->expect) {
			st = NAM_CONFLICT;
		} else {
			p->holder = t;
			w->local = true;
		}
	} else if (p->at == w->at.bits && p->holder != t) {
		st = NAM_BUSY;
	}
	let_go(p);
	return st;
}

void
txn_local_leave(struct txn *t, tso_cid cid)
{
	for (uint32_t i = 0; t->local > 0; i++) {
		struct txn_write *w = t->wr[i];
		if (!w->local)
			continue;
		struct txn_local *p = place_of(t->tw->db, w->at);
		hold(p);
		p->holder = NULL;
		if (cid != 0)
			p->cid = cid;
		let_go(p);
		w->local = false;
		t->local--;
	}
}

static nam_status
enter_all(struct txn *t)
{
	for (uint32_t i = 0; i < t->nwr; i++) {
		struct txn_write *w = t->wr[i];
		if ((w->kind != WR_UPDATE && w->kind != WR_DELETE) || w->has != TXN_FREE ||
		    (w->expect & REC_LOCK) != 0)
			continue;
		nam_status st = enter(t, w);
		t->local += w->local;
		if (st != NAM_OK) {
			txn_local_leave(t, 0);
			return st;
		}
	}
	return NAM_OK;
}

nam_status
txn_local_enter(struct txn *t)
{
	struct txn_worker *tw = t->tw;
	if (t->nwr > WRITES_MAX || t->iso == TXN_READ_COMMITTED || net_all_mapped(tw->w))
		return NAM_OK;
	struct net_backoff pause = { .base_ns = BASE_NS, .cap_ns = CAP_NS };
	nam_status st = enter_all(t);
	if (st == NAM_BUSY) {
		uint64_t until = net_now_ns(tw->w) + MOST_NS;
		net_admit_more(tw->w);
		do {
			net_back_off(tw->w, &pause);
			if ((st = txn_go_on(t)) == NAM_OK)
				st = enter_all(t);
		} while (st == NAM_BUSY && net_now_ns(tw->w) < until);
		net_admit_end(tw->w);
	}
	tw->stats.conflicts_here += st == NAM_CONFLICT;
	return st == NAM_BUSY ? NAM_OK : st;
}
