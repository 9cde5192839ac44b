/*
 * life.c -- a cluster with a log gets its database: one process restores it, the others wait
 * (cluster_format.h, K6).
 *
 * The restorer has a pin as long as it restores. So it is never taken for idle: if it stalls for
 * longer than a lease it is fenced, and only then does another process take its place, in a new
 * life of the log. What it had made until then is garbage as any dead process leaves it.
 */
#include "cluster_format.h"
#include "copies.h"
#include "txn_internal.h"

#include <base/fault.h>
#include <base/log.h>

#include <stdio.h>

enum { LOOK_NS = 5000000, TELL_NS = 2000000000, TELL_LOOKS = 40 };
#define FORGET_NS UINT64_C(10000000000)

static net_addr
life_at(const struct txn_db *db)
{
	return net_plus(db->cluster, offsetof(struct txn_roster, life));
}

static net_addr
restored_at(const struct txn_db *db)
{
	return net_plus(db->cluster, offsetof(struct txn_roster, restored));
}

/* The cluster is in use: remembers where its log is. */
static nam_status
join_life(struct txn_worker *tw, uint32_t life, struct nam_err *err)
{
	struct txn_db *db = tw->db;
	struct wal_log log = { .copies = db->wal_copies, .life = life };
	for (unsigned i = 0; i < log.copies; i++) {
		struct wal_report report;
		nam_status st = wal_log_ask(tw->w, db->wal_region[i], &report);
		if (st == NAM_OK && report.life != life)
			st = NAM_GONE;
		if (st != NAM_OK)
			return nam_fail(err, st,
			    "storage node %u, which has the cluster's log, has just come back empty: try "
			    "again, then the "
			    "database is restored",
			    db->wal_region[i]);
		log.copy[i].region = db->wal_region[i];
		log.copy[i].line.bits = report.line;
	}
	db->wal = log;
	return NAM_OK;
}

/* Each snapshot that is taken from now on, by any process, covers all that has been committed. */
static nam_status
all_marked(struct txn_worker *tw)
{
	tso_cid cid;
	nam_status st = txn_cid_spend(tw, 0, &cid);
	return st == NAM_OK ? tso_wait_for(tw->tso, cid) : st;
}

/* This process sees what a restorer before it has committed: it deletes that. */
static nam_status
see_all(struct txn_worker *tw, struct nam_err *err)
{
	nam_status st = all_marked(tw);
	return st == NAM_OK ? st
			    : nam_fail(err, st, "cannot see what a restorer before this one has left: %s",
				  nam_status_text(st));
}

/* The names of the nodes that have copies, for a message. */
static const char *
nodes_of(const struct txn_db *db, char text[64])
{
	int n = snprintf(text, 64, "%u", db->wal_region[0]);
	for (unsigned i = 1; i < db->wal_copies; i++)
		n += snprintf(text + n, 64 - (size_t)n, "%s%u", i + 1 < db->wal_copies ? ", " : " or ",
		    db->wal_region[i]);
	return text;
}

/* Lost nodes stay noted until they are part of the cluster again. */
static void
keep_lost(struct txn_db *db, const struct wal_copies *was)
{
	uint32_t *lost = db->life_copies.lost;
	for (unsigned i = 0; i < WAL_COPIES; i++) {
		unsigned n = 0;
		while (n < WAL_COPIES && lost[n] != 0 && lost[n] != was->lost[i])
			n++;
		if (was->lost[i] != 0 && n < WAL_COPIES && net_node_of(db->net, was->lost[i]) == NULL)
			lost[n] = was->lost[i];
	}
}

/* This process is the restorer. */
static nam_status
begin_life(struct txn_worker *tw, const atomic_bool *stop, bool *restores, struct nam_err *err)
{
	struct txn_db *db = tw->db;
	struct wal_report report;
	struct wal_line line = { 0 };
	char nodes[64];
	nam_status st = wal_log_ask(tw->w, db->wal_region[0], &report);
	if (st == NAM_OK)
		st = net_read1(tw->w, (net_addr){ report.line }, &line, sizeof line, NULL);
	if (st == NAM_OK)
		st = wal_log_begin(tw->w, db->wal_region, db->wal_copies, db->number, stop, &db->wal);
	*restores = st == NAM_OK && report.published != 0;
	/* Of the life that is read: a process before this one may have published it. */
	db->life_copies = txn_copies_next(&line, db->number, db->wal_region, db->wal_copies);
	keep_lost(db, &line.copies);
	/* One copy may have been told what another one was not. */
	for (unsigned i = 1; st == NAM_OK && i < db->wal_copies; i++) {
		struct wal_line other;
		st = net_read1(tw->w, db->wal.copy[i].line, &other, sizeof other, NULL);
		if (st == NAM_OK && other.published == line.published)
			keep_lost(db, &other.copies);
	}
	return st == NAM_OK ? st
			    : nam_fail(err, st, "the log of storage node %s cannot be written: %s",
				  nodes_of(db, nodes), nam_status_text(st));
}

void
txn_life_tell(struct txn_worker *tw, unsigned permille)
{
	const uint64_t word = permille;
	net_write1(tw->w, restored_at(tw->db), &word, sizeof word, NULL);
}

/* Another process restores. */
static void
tell_of_other(struct txn_worker *tw, const struct txn_life_wait *wait)
{
	uint64_t permille;
	if (wait != NULL && wait->told != NULL &&
	    net_read1(tw->w, restored_at(tw->db), &permille, sizeof permille, NULL) == NAM_OK)
		wait->told(wait->told_arg, permille < 1000 ? (unsigned)permille : 1000);
}

/* A storage node has lost its memory since this process has opened the cluster: perhaps all that
 * says what the restorer did, so that nobody can recover it. The life is over (over.c). */
static nam_status
look_for_empty(struct txn_db *db, struct nam_err *err)
{
	const struct net_set replaced = net_replaced(db->net);
	for (unsigned i = 0; i < net_node_count(db->net); i++) {
		const struct net_node_info *node = net_node(db->net, i);
		if (net_set_has(&replaced, node->region))
			return nam_fail(err, NAM_RESET,
			    "storage node %u (%s) came back empty before the database was restored",
			    node->region, node->name);
	}
	return NAM_OK;
}

nam_status
txn_life(struct txn_worker *tw, const struct txn_life_wait *wait, bool *restorer, bool *restores,
    struct nam_err *err)
{
	struct txn_db *db = tw->db;
	uint64_t waits = 0, since = net_now_ns(tw->w);
	*restorer = *restores = false;
	if (db->wal_copies == 0)
		return NAM_OK;
	for (unsigned looks = 0;; looks++) {
		uint64_t word, seen;
		bool ended = true;
		if (wait != NULL && wait->stop != NULL && atomic_load(wait->stop))
			return nam_fail(err, NAM_CANCELLED,
			    "the process was told to end before the database was restored");
		nam_status st = net_read1(tw->w, life_at(db), &word, sizeof word, NULL);
		if (st == NAM_OK && word != 0 && (word & REC_LOCK) == 0)
			return join_life(tw, (uint32_t)(word >> 1), err);
		if (st == NAM_OK && word != 0)
			st = tso_ended(tw->tso, txn_lock_owner(word), txn_lock_epoch(word), &ended);
		if (st == NAM_OK && (ended || nam_fault(RESTORER_LIVES))) {
			st = tso_pin_now(tw->tso, &db->life_pin);
			db->life_word =
			    txn_lock_word(tso_owner(db->tso), tso_epoch(db->tso), TXN_INTENT_INDEX, 0);
			if (st == NAM_OK)
				st = net_cas1(tw->w, life_at(db), word, db->life_word, &seen, NULL);
			if (st == NAM_OK && seen == word) {
				*restorer = true;
				txn_life_tell(tw, 0); /* not as far as one that has died */
				st = see_all(tw, err);
				if (st == NAM_OK)
					st = begin_life(tw, wait != NULL ? wait->stop : NULL, restores, err);
				if (st != NAM_OK)
					txn_life_quit(tw);
				return st;
			}
			tso_unpin(tw->tso, &db->life_pin);
		}
		if (st != NAM_OK)
			return nam_fail(err, st, "cannot read the cluster's record: %s", nam_status_text(st));
		if ((st = look_for_empty(db, err)) != NAM_OK)
			return st;
		uint64_t now = net_now_ns(tw->w);
		if (now - since > TELL_NS && word != waits) {
			nam_log(NAM_LOG_WARN, "another process restores the database; this one waits for it");
			waits = word;
		}
		if (looks % TELL_LOOKS == 0)
			tell_of_other(tw, wait);
		net_sleep(tw->w, LOOK_NS);
	}
}

/*
 * Before this process has joined the log, its recoverer may meet what a dead restorer has left: no
 * commit of it counts, whatever the log has received. NAM_BUSY: the database is there, and this
 * process is about to join its log.
 */
nam_status
txn_life_unborn(struct txn_worker *tw)
{
	uint64_t word;
	nam_status st = net_read1(tw->w, life_at(tw->db), &word, sizeof word, NULL);
	return st == NAM_OK && (word & REC_LOCK) == 0 && word != 0 ? NAM_BUSY : st;
}

nam_status
txn_life_forget(struct txn_worker *tw, uint32_t first_table)
{
	struct txn_db *db = tw->db;
	uint64_t until = net_now_ns(tw->w) + FORGET_NS;
	uint32_t n;
	nam_status st = txn_tables_forget(tw, first_table, &n);
	if (st != NAM_OK || n == 0)
		return st;
	/* Garbage goes back when no snapshot is older, and the pin is one. If the process stalls
	 * meanwhile, it is taken for idle, and the others wait for it. */
	tso_unpin(tw->tso, &db->life_pin);
	while (txn_garbage(tw) > 0 && net_now_ns(tw->w) < until)
		net_sleep(tw->w, LOOK_NS);
	return tso_pin_now(tw->tso, &db->life_pin);
}

nam_status
txn_life_done(struct txn_worker *tw, const atomic_bool *stop, struct nam_err *err)
{
	struct txn_db *db = tw->db;
	uint64_t seen;
	/* A process that opens the database behind this one sees all of it. */
	nam_status st = all_marked(tw);
	if (st == NAM_OK)
		st = wal_log_publish(tw->w, &db->wal,
		    db->wal.copies > 1 || db->life_copies.lost[0] != 0 ? &db->life_copies : NULL, stop);
	if (st == NAM_OK)
		st = net_cas1(tw->w, life_at(db), db->life_word, 1 + 2 * (uint64_t)db->wal.life, &seen, NULL);
	if (st == NAM_OK && seen != db->life_word)
		st = NAM_REFUSED;
	if (st == NAM_OK)
		tso_unpin(tw->tso, &db->life_pin);
	return st == NAM_OK ? st
			    : nam_fail(err, st, "the database cannot be made durable: %s",
				  st == NAM_NO_SPACE
				      ? "its disk is full (make room on the file system of --data), or its "
					"files may not grow (ulimit -f)"
				  : st == NAM_CANCELLED ? "the process was told to end"
							: nam_status_text(st));
}

void
txn_life_closes(struct txn_worker *tw)
{
	struct txn_db *db = tw->db;
	if (db->life_kept && tw->number == 0 && db->life_by != tw)
		(void)tso_pin_now(tw->tso, &db->life_last);
}

void
txn_life_end(struct txn_worker *tw)
{
	struct txn_db *db = tw->db;
	uint64_t seen;
	if (!db->life_kept)
		return;
	if (tw->number == 0 || nam_fault(QUIT_EARLY))
		net_cas1(tw->w, life_at(db), db->life_word, 0, &seen, NULL);
	if (db->life_by == tw)
		tso_unpin(tw->tso, &db->life_pin);
	else if (tw->number == 0)
		tso_unpin(tw->tso, &db->life_last);
}

void
txn_life_quit(struct txn_worker *tw)
{
	struct txn_db *db = tw->db;
	db->life_by = tw;
	db->life_kept = true;
	if (nam_fault(QUIT_EARLY)) {
		txn_life_end(tw);
		db->life_kept = false;
		return;
	}
	/* What it leaves goes back only behind the pin. */
	tso_unpin(tw->tso, &db->life_pin);
	(void)tso_pin_now(tw->tso, &db->life_pin);
}

unsigned
txn_db_home(const struct txn_db *db)
{
	return net_region_of(db->cluster);
}

unsigned
txn_db_log_node(const struct txn_db *db)
{
	return db->wal_copies > 0 ? db->wal_region[0] : 0;
}

unsigned
txn_db_ended(const struct txn_db *db)
{
	return atomic_load(&db->ended);
}

bool
txn_db_has_log(const struct txn_db *db)
{
	return db->wal.copies != 0;
}
