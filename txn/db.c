/* db.c -- a compute process joins a cluster, or makes one out of empty storage nodes. */
#include "cluster_format.h"
#include "txn_internal.h"

#include <net/region_format.h>

#include <stdlib.h>
#include <string.h>

__attribute__((constructor)) static void
fold_layout(void)
{
	idx_layout_fold();
	net_layout_fold("txn.record", sizeof(struct rec_slot) << 16 | sizeof(struct rec_archive) << 8 | 5);
	net_layout_fold(
	    "txn.anchor", UINT64_C(7) << 32 | sizeof(struct txn_anchor) << 16 | TXN_ANCHOR_LEDGER);
	net_layout_fold("txn.intent",
	    (uint64_t)TXN_GC_COUNT_BITS << 48 | (uint64_t)TXN_GENERATION_BITS << 40 |
		(uint64_t)TXN_EPOCH_BITS << 32 | TXN_INTENT_BYTES << 8 | sizeof(struct txn_intent_entry));
	net_layout_fold("txn.cluster", UINT64_C(8) << 32 | sizeof(struct txn_roster));
}

/* A node whose memory is not the memory that the cluster was made of is lost, whatever it holds
 * now. */
static void
find_empty(struct net *n, const struct txn_roster *r, struct net_set *empty, struct nam_err *err)
{
	for (unsigned i = 0; i < r->nodes; i++) {
		const struct net_node_info *info = net_node_of(n, (unsigned)r->node[i].region);
		if (info->incarnation == r->node[i].incarnation)
			continue;
		net_declare_replaced(n, info->region);
		net_set_add(empty, info->region);
		nam_fail(err, NAM_OK,
		    "storage node %u (%s) came back empty: what lay there is lost, statements that "
		    "need it fail",
		    info->region, info->name);
	}
}

/* Takes over the log of our slot, or makes it if there is none. No transaction of this process is
 * open. */
static nam_status
attach(void *arg, struct net_worker *w)
{
	struct txn_db *db = arg;
	net_addr at = tso_log_at(db->tso, tso_owner(db->tso)), log;
	nam_status st = net_read1(w, at, &log.bits, sizeof log.bits, NULL);
	if (st == NAM_OK && log.bits == 0) {
		st = NAM_FULL;
		for (unsigned i = 0; st == NAM_FULL && i < db->nregions; i++)
			st =
			    net_extent_take(w, db->regions[(tso_owner(db->tso) + i) % db->nregions], 1, &log);
		if (st == NAM_FULL)
			st = txn_extent_kept(db, w, tso_owner(db->tso), &log);
		if (st == NAM_OK)
			st = net_write1(w, at, &log.bits, sizeof log.bits, NULL);
	}
	if (st != NAM_OK)
		return st;
	db->log = log;
	atomic_store(&db->intents, 0);
	atomic_store(&db->served, 0);
	txn_stocks_owner(db);
	return NAM_OK;
}

nam_status
txn_db_open(struct net_worker *w, const struct txn_config *cfg, struct txn_db **out, struct nam_err *err)
{
	struct net *n = net_worker_net(w);
	struct txn_db *db = calloc(1, sizeof *db);
	struct txn_roster *r = malloc(sizeof *r);
	nam_status st = NAM_NOMEM;
	if (err)
		*err = (struct nam_err){ .status = NAM_OK };
	if (db == NULL || r == NULL ||
	    (db->regions = calloc(net_node_count(n), sizeof *db->regions)) == NULL) {
		st = nam_fail(err, NAM_NOMEM, "out of memory");
		goto fail;
	}
	/* All members are named (cluster.c), and a cluster's members never change. */
	db->region_max = net_node(n, net_node_count(n) - 1)->region;
	pthread_mutex_init(&db->lock, NULL);
	db->net = n;
	db->tick_us = cfg->tick_us ? cfg->tick_us : 2000;
	db->order_cache = cfg->order_cache;
	db->bystander = cfg->bystander;
	db->since_ns = net_now_ns(w);
	db->split = cfg->split;
	db->ptrs = idx_ptrs_open(cfg->ptr_cache_entries ? cfg->ptr_cache_entries : 1u << 20, db->region_max);
	if (db->ptrs == NULL) {
		st = nam_fail(err, NAM_NOMEM, "out of memory");
		goto fail;
	}
	if (txn_local_open(db) != NAM_OK || txn_turns_open(db) != NAM_OK) {
		st = nam_fail(err, NAM_NOMEM, "out of memory");
		goto fail;
	}
	if ((st = txn_cluster_find(w, cfg, r, err)) != NAM_OK)
		goto fail;
	for (unsigned i = 0; i < r->nodes; i++)
		if (r->node[i].region == r->home)
			db->cluster.bits = r->node[i].roster;
	find_empty(n, r, &db->empty, err);
	for (unsigned i = 0; i < WAL_COPIES && r->log[i] != 0; i++)
		db->wal_region[db->wal_copies++] = (unsigned)r->log[i];
	db->number = r->number != 0 ? r->number : 1;
	for (unsigned i = 0; i < net_node_count(n); i++)
		if (!net_node(n, i)->lost)
			db->regions[db->nregions++] = net_node(n, i)->region;
	db->deaths = net_plus(db->cluster, offsetof(struct txn_roster, deaths));
	db->wanted = net_plus(db->cluster, offsetof(struct txn_roster, wanted));
	st = tso_join(w, (net_addr){ r->oracle }, &db->tso);
	if (st != NAM_OK) {
		nam_fail(err, st, "cannot join the cluster: %s",
		    st == NAM_FULL ? "all owner slots are taken by other compute processes"
				   : nam_status_text(st));
		goto fail;
	}
	if ((st = attach(db, w)) != NAM_OK) {
		nam_fail(err, st, "no memory for this process's log: %s", nam_status_text(st));
		tso_leave(w, db->tso);
		goto fail;
	}
	tso_on_attach(db->tso, attach, db);
	free(r);
	*out = db;
	return NAM_OK;
fail:
	if (db != NULL) {
		if (db->tso)
			tso_close(db->tso);
		if (db->ptrs)
			idx_ptrs_close(db->ptrs);
		free(db->regions);
		txn_local_close(db);
		txn_turns_close(db);
		pthread_mutex_destroy(&db->lock);
	}
	free(r);
	free(db);
	return st;
}

void
txn_db_close(struct net_worker *w, struct txn_db *db)
{
	tso_leave(w, db->tso);
	net_on_asked(db->net, NULL, NULL);
	tso_close(db->tso);
	idx_ptrs_close(db->ptrs);
	txn_known_close(db);
	txn_local_close(db);
	txn_turns_close(db);
	txn_stocks_end(db);
	pthread_mutex_destroy(&db->lock);
	free(db->regions);
	free(db);
}

struct tso *
txn_db_oracle(struct txn_db *db)
{
	return db->tso;
}

net_addr
txn_db_root(struct txn_db *db, unsigned i)
{
	NAM_ASSERT(i < TXN_ROSTER_ROOTS + TXN_ROSTER_MORE);
	size_t at = i < TXN_ROSTER_ROOTS ? offsetof(struct txn_roster, root) + 8u * i
					 : offsetof(struct txn_roster, more) + 8u * (i - TXN_ROSTER_ROOTS);
	return net_plus(db->cluster, at);
}

unsigned
txn_db_regions(const struct txn_db *db, unsigned *regions, unsigned max)
{
	unsigned n = db->nregions < max ? db->nregions : max;
	memcpy(regions, db->regions, n * sizeof *regions);
	return n;
}

/* ---- workers ---- */

static void
heartbeat(void *worker)
{
	struct txn_worker *tw = worker;
	struct txn_db *db = tw->db;
	net_account_to(&tw->background);
	while (!tw->no_heart) {
		tw->beat_ns = net_now_ns(tw->w);
		nam_status st = tso_tick(tw->tso);
		tw->beat_ns = 0;
		/* A broken connection is replaced, and the heart beats on. Home may be silent for
		 * long: other coroutines replace it. */
		if (st == NAM_GONE && !tso_abandoned(db->tso)) {
			st = txn_keep_home(tw);
			if (st == NAM_OK || st == NAM_BUSY)
				continue;
			st = NAM_GONE;
		}
		if (st != NAM_OK) {
			atomic_store(&db->failed, (int)st);
			if (st == NAM_GONE) {
				tso_abandon(db->tso);
				break;
			}
		}
		/* No transaction runs in this process: beat slowly, but often enough for the
		 * lease. */
		net_sleep(tw->w, (tso_is_idle(db->tso) ? 5 : 1) * (uint64_t)db->tick_us * 1000);
	}
	tw->helpers--;
}

nam_status
txn_worker_open(struct txn_db *db, struct net_worker *w, struct txn_worker **out)
{
	struct txn_worker *tw = calloc(1, sizeof *tw);
	if (tw == NULL)
		return NAM_NOMEM;
	tw->db = db;
	tw->w = w;
	tw->joins = tso_joins(db->tso);
	tw->intent_rests_end = &tw->intent_rests;
	tw->number = atomic_fetch_add(&db->workers, 1);
	tw->rr = (unsigned)nam_rng_below(net_rng(w), 64);
	if (tw->number >= TXN_WORKERS_MAX) {
		free(tw);
		return NAM_FULL;
	}
	tw->keeper.region = calloc(db->region_max + 1, sizeof *tw->keeper.region);
	nam_status st = tw->keeper.region != NULL ? tso_worker_open(db->tso, w, &tw->tso) : NAM_NOMEM;
	if (st != NAM_OK) {
		free(tw->keeper.region);
		free(tw);
		return st;
	}
	txn_keeper_open(tw);
	struct nam_sched *s = net_worker_sched(w);
	/* A beat must never wait for a collector, a recovery or a sweep: on mapped memory no verb
	 * parks. */
	bool beats = tw->number == 0, recovers = tw->number == (db->split ? 1 : 0),
	     sweeps = db->split ? tw->number > 1 : beats;
	if (!(beats && db->split) && nam_co_start(s, txn_gc, tw, 0) != NULL)
		tw->helpers++;
	if (beats && nam_co_start(s, heartbeat, tw, 0) != NULL)
		tw->helpers++;
	/* If the process gives itself up, coroutines of other workers must not lose their verbs for
	 * that. */
	if (beats && db->split)
		tw->keeper.pulses = nam_co_start(s, txn_pulse, tw, 0) != NULL;
	if (recovers && !db->bystander && nam_co_start(s, txn_recoverer, tw, 0) != NULL)
		tw->helpers++;
	if (sweeps && !db->bystander && nam_co_start(s, txn_reclaim, tw, 128 << 10) != NULL)
		tw->helpers++;
	*out = tw;
	return NAM_OK;
}

void
txn_ending(struct txn_db *db, uint64_t until_ns)
{
	atomic_store(&db->end_by, until_ns);
}

enum {
	CLOSE_LOOK_NS = 100000, /* helpers look at `stopping` each few milliseconds */
};
#define CLOSE_GC_NS UINT64_C(2000000000) /* how long garbage may still be collected at the end */

void
txn_worker_close(struct txn_worker *tw)
{
	tw->leaving = true;
	txn_life_closes(tw);
	struct net_backoff pause = { .base_ns = CLOSE_LOOK_NS, .cap_ns = CLOSE_LOOK_NS };
	while (tw->open > 0)
		net_back_off(tw->w, &pause);
	tw->gc_end = net_now_ns(tw->w) + CLOSE_GC_NS;
	/* The workers close one after the other. */
	uint64_t by = atomic_load(&tw->db->end_by);
	if (by != 0 && tw->gc_end > by)
		tw->gc_end = by;
	tw->gc_woke = 0;
	tw->stopping = true;
	while (tw->helpers > (tw->number == 0 ? 1 : 0) && !atomic_load(&tw->db->failed))
		net_back_off(tw->w, &pause);
	/* Memory that is not given back is found by the next sweep, and tables by the next look at
	 * all of them: both only after this process has ended. So worker 0, which closes last,
	 * counts one death for all workers. */
	if (!txn_tables_hand_over(tw) || tw->junk[0].n + tw->junk[1].n > 0)
		atomic_store(&tw->db->leaves_memory, true);
	if (tw->number == 0 && atomic_load(&tw->db->leaves_memory) && !atomic_load(&tw->db->failed))
		(void)txn_death(tw);
	if (!atomic_load(&tw->db->failed))
		wal_rings_give_back(tw->w, &tw->db->wal, &tw->rings);
	txn_life_end(tw);
	tw->no_heart = true;
	while (tw->helpers > 0)
		net_back_off(tw->w, &pause);
	txn_keeper_close(tw);
	free(tw->keeper.region);
	tso_worker_close(tw->tso);
	struct txn **end = &tw->txn_pool;
	while (*end != NULL)
		end = &(*end)->next;
	*end = tw->left;
	for (struct txn *t = tw->txn_pool, *next; t != NULL; t = next) {
		next = t->next;
		if (t->intent != NULL)
			free(t->intent);
		txn_free(t);
	}
	txn_intents_drop(tw);
	txn_junk_drop(tw);
	txn_allocs_drop(tw);
	free(tw->junk[0].item);
	free(tw->junk[1].item);
	free(tw);
}

struct net_worker *
txn_worker_net(struct txn_worker *tw)
{
	return tw->w;
}

struct tso_worker *
txn_worker_tso(struct txn_worker *tw)
{
	return tw->tso;
}

struct txn_db *
txn_worker_db(struct txn_worker *tw)
{
	return tw->db;
}

unsigned
txn_worker_busy(const struct txn_worker *tw)
{
	return (unsigned)tw->open;
}

void
txn_worker_background(const struct txn_worker *tw, struct net_counts *out)
{
	*out = tw->background;
}

void
txn_worker_stats(const struct txn_worker *tw, struct txn_stats *out)
{
	*out = tw->stats;
}
