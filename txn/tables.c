/*
 * tables.c -- a list of all tables, so that a table is released even if the process that makes or
 * drops it dies.
 *
 * The home's roster goes on with a word for each anchor in the cluster: set by CAS from 0 before
 * another process can know the table, emptied by CAS when all of its memory has gone back. After a
 * death has been counted, one process looks at all of them. If a table was closed by a process that
 * has ended, its release goes on. If an open table is not listed by the catalog, and neither its
 * maker nor the transaction that made it still exists, then it was dropped by a process that has
 * ended, or its making was never committed: it is dropped now.
 *
 * When is "not listed" a proof? The maker's word in the anchor is READ first: it is 0 (the
 * transaction that made the table has committed), or names a process that has ended and been
 * recovered. Then a CID is spent and waited for, so a snapshot taken then shows all that this
 * transaction committed. Numbers of tables never return. So if this snapshot does not show a
 * number, no later snapshot does, and all snapshots that can see the table are older: this snapshot
 * serves as the CID of the drop. The table may also be in the queue of a live process that dropped
 * it: only one process gets the table's sweep lock, and the later one finds another anchor there,
 * or none.
 */
#include "cluster_format.h"
#include "txn_internal.h"

#include <stdlib.h>
#include <string.h>

enum { PART = 512, TRIES = 64, SPREAD_NS = 100000000, WAIT_NS = 5000000, LOOKS = 3 };

/* ---- the words ---- */

struct place {
	net_addr at;   /* of the page's words */
	unsigned n;    /* how many */
	net_addr next; /* the word behind them */
};

static struct place
first_page(const struct txn_db *db)
{
	unsigned n = (NET_EXTENT - TXN_ROSTER_TABLES) / 8 - 1;
	net_addr at = net_plus(db->cluster, TXN_ROSTER_TABLES);
	return (struct place){ at, n, net_plus(at, 8 * (uint64_t)n) };
}

/* NAM_ABSENT: there is no further page. make: then it is made. */
static nam_status
next_page(struct txn_worker *tw, struct place *p, bool make)
{
	uint64_t bits = 0;
	nam_status st = net_read1(tw->w, p->next, &bits, 8, NULL);
	if (st == NAM_OK && bits == 0 && make) {
		net_addr fresh;
		st = net_extent_take(tw->w, net_region_of(tw->db->cluster), 1, &fresh);
		if (st == NAM_OK)
			st = net_cas1(tw->w, p->next, 0, fresh.bits, &bits, NULL);
		if (st == NAM_OK && bits != 0)
			net_extent_give(tw->w, fresh);
		else
			bits = fresh.bits;
	}
	if (st == NAM_OK && bits == 0)
		return NAM_ABSENT;
	unsigned n = NET_EXTENT / 8 - 1;
	*p = (struct place){ { bits }, n, net_plus((net_addr){ bits }, 8 * (uint64_t)n) };
	return st;
}

/* CAS of one word from `from` to `to`. NAM_ABSENT: no word is `from`. make: makes a further page if
 * there is no room. */
static nam_status
change(struct txn_worker *tw, uint64_t from, uint64_t to, bool make)
{
	uint64_t word[PART], seen;
	struct place p = first_page(tw->db);
	nam_status st = NAM_OK;
	for (unsigned tries = 0; st == NAM_OK && tries < TRIES;) {
		for (unsigned i = 0; i < p.n; i += PART) {
			unsigned k = p.n - i < PART ? p.n - i : PART;
			st = net_read1(tw->w, net_plus(p.at, 8 * (uint64_t)i), word, 8 * k, NULL);
			for (unsigned m = 0; st == NAM_OK && m < k; m++) {
				if (word[m] != from)
					continue;
				st = net_cas1(
				    tw->w, net_plus(p.at, 8 * (uint64_t)(i + m)), from, to, &seen, NULL);
				if (st != NAM_OK || seen == from)
					return st;
				tries++;
			}
			if (st != NAM_OK)
				return st;
		}
		st = next_page(tw, &p, make);
	}
	return st == NAM_OK ? NAM_BUSY : st;
}

nam_status
txn_tables_enter(struct txn_worker *tw, net_addr anchor)
{
	return change(tw, 0, anchor.bits, true);
}

nam_status
txn_tables_leave(struct txn_worker *tw, net_addr anchor)
{
	nam_status st = change(tw, anchor.bits, 0, false);
	return st == NAM_ABSENT ? NAM_OK : st;
}

static nam_status
all_anchors(struct txn_worker *tw, struct txn_free *out)
{
	uint64_t word[PART];
	struct place p = first_page(tw->db);
	nam_status st = NAM_OK;
	while (st == NAM_OK) {
		for (unsigned i = 0; st == NAM_OK && i < p.n; i += PART) {
			unsigned k = p.n - i < PART ? p.n - i : PART;
			st = net_read1(tw->w, net_plus(p.at, 8 * (uint64_t)i), word, 8 * k, NULL);
			for (unsigned m = 0; st == NAM_OK && m < k; m++)
				if (word[m] != 0 && !txn_free_push(out, word[m]))
					st = NAM_NOMEM;
		}
		if (st == NAM_OK)
			st = next_page(tw, &p, false);
	}
	return st == NAM_ABSENT ? NAM_OK : st;
}

/* ---- tables that were left behind ---- */

uint64_t
txn_tables_maker(const struct txn_worker *tw)
{
	return txn_lock_word(tso_owner(tw->db->tso), tso_epoch(tw->db->tso), TXN_INTENT_GC, 0);
}

nam_status
txn_table_made(struct txn_worker *tw, const struct txn_table *t)
{
	static const uint64_t none;
	struct tso_pin pin;
	nam_status st = tso_pin_now(tw->tso, &pin);
	if (st == NAM_OK) {
		txn_at_hand(tw);
		st = net_write1(
		    tw->w, net_plus(t->anchor, offsetof(struct txn_anchor, maker)), &none, 8, NULL);
	}
	tso_unpin(tw->tso, &pin);
	return st;
}

void
txn_on_orphan(struct txn_db *db,
    nam_status (*listed)(void *arg, struct txn *t, uint32_t table, net_addr anchor, bool *yes), void *arg)
{
	db->listed_arg = arg;
	atomic_store(&db->listed, listed);
}

void
txn_on_gone(struct txn_db *db, nam_status (*gone)(void *arg, struct txn_worker *tw), void *arg)
{
	db->gone_arg = arg;
	atomic_store(&db->gone, gone);
}

static bool
has_ended(struct txn_worker *tw, uint64_t word)
{
	bool ended = false;
	return tso_ended(tw->tso, txn_lock_owner(word), txn_lock_epoch(word), &ended) == NAM_OK && ended;
}

uint64_t
txn_process(const struct txn_worker *tw)
{
	return txn_tables_maker(tw);
}

bool
txn_process_ended(struct txn_worker *tw, uint64_t process)
{
	return has_ended(tw, process);
}

struct orphan {
	net_addr anchor;
	uint32_t table;
};

/* READs an anchor. True: the table may have been left behind. *closed: it was closed, by a process
 * that has ended. *held: another process makes it or gives it back, and has not ended. */
static bool
suspect(struct txn_worker *tw, net_addr anchor, struct orphan *o, bool *closed, bool *held)
{
	struct txn_anchor a;
	*closed = false;
	if (net_read1(tw->w, anchor, &a, sizeof a, NULL) != NAM_OK)
		return false;
	*o = (struct orphan){ anchor, (uint32_t)a.table };
	*closed = a.magic == TXN_ANCHOR_CLOSED && a.sweeper != 0;
	uint64_t whose = *closed ? a.sweeper : a.maker;
	if (!*closed && (a.magic != TXN_ANCHOR_MAGIC || !a.listed))
		return false;
	if (!*closed && whose == 0) {
		/* The place may be another table's since the list was READ, and a READ may mix its
		 * old words and the new one's: a second one, behind it, does not. */
		struct txn_anchor again;
		return net_read1(tw->w, anchor, &again, sizeof again, NULL) == NAM_OK &&
		       again.magic == a.magic && again.table == a.table && again.listed && again.maker == 0;
	}
	if (has_ended(tw, whose))
		return true;
	*held |= txn_lock_owner(whose) != tso_owner(tw->db->tso);
	return false;
}

/* Drops those of n tables that the catalog does not list. */
static nam_status
judge(struct txn_worker *tw, const struct orphan *o, unsigned n)
{
	tso_cid cid;
	struct tso_pin pin;
	struct txn *t;
	nam_status (*listed)(void *, struct txn *, uint32_t, net_addr, bool *) = atomic_load(&tw->db->listed);
	if (n == 0 || listed == NULL)
		return NAM_OK;
	nam_status st = tso_pin_now(tw->tso, &pin);
	if (st == NAM_OK)
		st = txn_cid_spend(tw, 0, &cid);
	tso_unpin(tw->tso, &pin);
	if (st == NAM_OK)
		st = tso_wait_for(tw->tso, cid);
	if (st != NAM_OK || (st = txn_begin(tw, TXN_REPEATABLE_READ, &t)) != NAM_OK)
		return st;
	for (unsigned i = 0; st == NAM_OK && i < n; i++) {
		bool yes = true;
		st = listed(tw->db->listed_arg, t, o[i].table, o[i].anchor, &yes);
		if (st == NAM_OK && !yes)
			txn_junk_add(tw, (struct txn_junk){ .kind = JUNK_TABLE,
					     .cid = txn_snapshot(t),
					     .at = o[i].anchor,
					     .len = o[i].table });
		txn_give_way(tw);
	}
	txn_abort(t);
	return st;
}

/* *held: another look is needed. */
static nam_status
look_at_tables(struct txn_worker *tw, bool *held)
{
	struct txn_free all = { 0 };
	struct orphan *o = NULL;
	uint32_t n = 0, cap = 0;
	struct tso_pin pin;
	*held = false;
	/* Under a pin the slot stays ours while tables found are put into our queue. */
	nam_status st = tso_pin_now(tw->tso, &pin);
	if (st == NAM_OK) {
		txn_at_hand(tw);
		st = all_anchors(tw, &all);
	}
	for (uint32_t i = 0; st == NAM_OK && i < all.n && !tw->leaving; i++) {
		struct orphan x;
		bool closed;
		if (suspect(tw, (net_addr){ all.item[i] }, &x, &closed, held)) {
			if (closed)
				txn_junk_add(tw,
				    (struct txn_junk){ .kind = JUNK_TABLE, .at = x.anchor, .len = x.table });
			else if (txn_grow((void **)&o, n, &cap, sizeof *o))
				o[n++] = x;
		}
		txn_give_way(tw);
	}
	tso_unpin(tw->tso, &pin);
	*held |= tw->leaving; /* it may have stopped before the end */
	if (st == NAM_OK)
		st = judge(tw, o, n);
	free(o);
	free(all.item);
	return st;
}

nam_status
txn_tables_forget(struct txn_worker *tw, uint32_t first, uint32_t *n)
{
	struct txn_free all = { 0 };
	nam_status st = all_anchors(tw, &all);
	*n = 0;
	for (uint32_t i = 0; st == NAM_OK && i < all.n; i++) {
		struct txn_anchor a;
		st = net_read1(tw->w, (net_addr){ all.item[i] }, &a, sizeof a, NULL);
		if (st != NAM_OK || a.table < first ||
		    (a.magic != TXN_ANCHOR_MAGIC && a.magic != TXN_ANCHOR_CLOSED))
			continue;
		txn_junk_add(
		    tw, (struct txn_junk){
			    .kind = JUNK_TABLE, .at = (net_addr){ all.item[i] }, .len = (uint32_t)a.table });
		++*n;
	}
	free(all.item);
	return st;
}

/* Writes into the cluster record how many deaths this look covers. A look that began later may have
 * ended earlier. */
static void
say_looked(struct txn_worker *tw, net_addr at, uint64_t looked, uint64_t deaths)
{
	struct tso_pin pin;
	uint64_t seen;
	nam_status st = tso_pin_now(tw->tso, &pin);
	while (st == NAM_OK && looked < deaths) {
		st = net_cas1(tw->w, at, looked, deaths, &seen, NULL);
		if (seen == looked)
			break;
		looked = seen;
	}
	tso_unpin(tw->tso, &pin);
}

void
txn_orphans(struct txn_worker *tw, uint64_t deaths)
{
	net_addr at = net_plus(tw->db->cluster, offsetof(struct txn_roster, looked));
	uint64_t looked = 0;
	bool held = false;
	/* All processes hear of a death at once, and one look is enough. */
	net_sleep(tw->w, nam_rng_below(net_rng(tw->w), SPREAD_NS));
	nam_status st = net_read1(tw->w, at, &looked, 8, NULL);
	if (st != NAM_OK || looked >= deaths || tw->leaving)
		return;
	st = look_at_tables(tw, &held);
	if (st == NAM_OK && !tw->leaving)
		say_looked(tw, at, looked, deaths);
	/* A process that closes counts its death before its slot is free: until then its tables
	 * look like those of a live process. A lease later it has left, or will be found dead. */
	for (unsigned n = 1; st == NAM_OK && held && n < LOOKS && !tw->leaving; n++) {
		uint64_t until = net_now_ns(tw->w) + tso_lease_ns(tw->db->tso);
		while (net_now_ns(tw->w) < until && !tw->leaving)
			net_sleep(tw->w, WAIT_NS);
		if (!tw->leaving)
			st = look_at_tables(tw, &held);
	}
	/* Another process takes the look over when it hears of our end. */
	if (held && tw->leaving)
		atomic_store(&tw->db->leaves_memory, true);
}
