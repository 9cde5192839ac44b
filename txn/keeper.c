/*
 * keeper.c -- keeps a worker's connections: one policy for every coroutine that finds one broken
 * (README, "Broken connections").
 *
 * A broken connection is replaced when a coroutine needs it: a transaction that begins or mends, a
 * mark in doubt, the heartbeat, a recovery. One coroutine of the worker, the keeper, asks for the
 * new connection; the others wait for its result:
 *
 *   granted      no verb of the old connection executes any more; words in doubt behind it can be
 *                READ. For the home node the oracle repeats its marks (tso_home_again)
 *   silent       the keeper asks again, after a pause of ten times as long as the request took;
 *                other processes may reach the node
 *   ended        the node's process has ended, or its memory came back empty: lost for all
 *                processes. If it is the home node, this process is lost with it
 *   fenced       another process has recovered this process: it gives itself up
 */
#include "txn_internal.h"

#include <base/log.h>

enum {
	LOOK_NS = 200000, /* a coroutine that waits for the keeper looks this often */
	PAUSE_NS = 1000000,
	PART = 10, /* requests to a silent node take at most such a part of the time */
	HURRY_NS = 20000000,
	PATIENCE_NS = 200000000, /* timeout of a node in doubt; or two thirds of a lease, if that is
				  * longer */
	ENTER_NS = 100000000,    /* so long a transaction that begins waits for a node that has just
				  * broken */
	SILENT_PART = 4,         /* of a lease: a beat that is out for so long is late */
	PULSE_PART = 16,         /* of a lease: the timeout of one dial */
	PULSE_NS = 10000000,
};

#define DOUBT_NS UINT64_C(30000000000)

static unsigned
home_of(const struct txn_worker *tw)
{
	return net_region_of(tw->db->cluster);
}

/* A node with connections is known to be broken before a verb fails. */
static bool
is_broken(const struct txn_worker *tw, unsigned region)
{
	return net_worker_broke(tw->w, region);
}

static void
give_up(struct txn_worker *tw)
{
	tso_abandon(tw->db->tso);
	tso_home_again(tw->tso, NAM_GONE);
}

/* A mapped region is lost without a message, and for good. */
static bool
answers(struct txn_worker *tw, unsigned region)
{
	uint64_t word;
	return !is_broken(tw, region) &&
	       net_read1(tw->w, net_at(region, 0), &word, sizeof word, NULL) != NAM_GONE;
}

static void
want_no_more(struct txn_keeper *k, unsigned region)
{
	net_set_drop(&k->wanted, region);
	k->wants = !net_set_none(&k->wanted);
}

/* Asks one node for a connection, and records the result. */
static void
ask(struct txn_worker *tw, unsigned region)
{
	struct txn_keeper *k = &tw->keeper;
	struct txn_kept *r = &k->region[region];
	struct txn_db *db = tw->db;
	uint64_t began = net_now_ns(tw->w);
	bool told = net_node_of(net_worker_net(tw->w), region)->lost;
	struct nam_err err;
	nam_status st = NAM_OK;
	if (net_membership(net_worker_net(tw->w)) == NET_FENCED)
		st = NAM_REFUSED;
	else if (answers(tw, region))
		st = NAM_EXPIRED; /* it is connected, and always was */
	else
		st = net_worker_reconnect(tw->w, region, &err);
	uint64_t now = net_now_ns(tw->w);
	switch (st) {
	case NAM_OK:
		atomic_store_explicit(&db->reached, true, memory_order_relaxed);
		if (told)
			nam_log(
			    NAM_LOG_WARN, "storage node %u is reached again, over a new connection", region);
		if (region == home_of(tw))
			tso_home_again(tw->tso, NAM_OK);
		/* fall through */
	case NAM_EXPIRED:
		want_no_more(k, region);
		*r = (struct txn_kept){ 0 };
		return;
	case NAM_GONE:
	case NAM_UNSUPPORTED:
		net_set_add(&k->ended, region);
		want_no_more(k, region);
		atomic_store(&db->ended, region);
		if (region == home_of(tw))
			give_up(tw);
		return;
	case NAM_REFUSED:
		k->fenced = true;
		k->wanted = (struct net_set){ { 0 } };
		k->wants = false;
		give_up(tw);
		return;
	default:
		r->pause_ns = PART * (now - began) > PAUSE_NS ? PART * (now - began) : PAUSE_NS;
		/* At first the loss may be short. */
		if (r->silent_ns == 0)
			r->silent_ns = now;
		if (now - r->silent_ns < HURRY_NS)
			r->pause_ns = PAUSE_NS;
		r->next_ns = now + r->pause_ns;
	}
}

/* Marks wait for home, and commits wait for those marks: for a limited time, and not while the
 * process closes. A recoverer makes them then. */
static bool
hopeless(const struct txn_worker *tw)
{
	uint64_t since = tw->keeper.region[home_of(tw)].silent_ns;
	return since != 0 && tso_in_doubt(tw->tso) &&
	       net_now_ns(tw->w) - since > (tw->leaving ? PATIENCE_NS : DOUBT_NS);
}

static void
keeper_main(void *worker)
{
	struct txn_worker *tw = worker;
	struct txn_keeper *k = &tw->keeper;
	net_account_to(&tw->background);
	while (k->wants && !tw->no_heart) {
		struct net_set left = k->wanted;
		for (unsigned region = 0; (region = net_set_next(&left, region)) < NET_REGIONS; region++) {
			if (net_set_has(&k->wanted, region) &&
			    net_now_ns(tw->w) >= k->region[region].next_ns && !k->asking) {
				k->asking = true;
				ask(tw, region);
				k->asking = false;
			}
		}
		/* A process that has given itself up makes no marks. */
		if (tso_abandoned(tw->db->tso) || hopeless(tw))
			tso_home_again(tw->tso, NAM_GONE);
		if (k->wants)
			net_sleep(tw->w, PAUSE_NS);
	}
	if (tso_in_doubt(tw->tso))
		tso_home_again(tw->tso, NAM_GONE);
	k->runs = false;
}

/* Records that a connection to that node is needed, and broken. */
static void
want(struct txn_worker *tw, unsigned region)
{
	struct txn_keeper *k = &tw->keeper;
	if (k->fenced || net_set_has(&k->ended, region))
		return;
	net_set_add(&k->wanted, region);
	k->wants = true;
	if (!k->runs)
		k->runs = nam_co_start(net_worker_sched(tw->w), keeper_main, tw, 0) != NULL;
}

/* NAM_OK: the connection is not broken. NAM_BUSY: it is, and a new one is being asked for. */
static nam_status
state(const struct txn_worker *tw, unsigned region)
{
	const struct txn_keeper *k = &tw->keeper;
	if (k->fenced)
		return NAM_REFUSED;
	if (net_set_has(&k->ended, region))
		return NAM_GONE;
	return net_set_has(&k->wanted, region) ? NAM_BUSY : NAM_OK;
}

static void
home_lost(void *worker)
{
	struct txn_worker *tw = worker;
	unsigned home = home_of(tw);
	want(tw, home);
	/* There is nothing to wait for, or no memory to wait with. */
	if (state(tw, home) != NAM_BUSY || !tw->keeper.runs)
		give_up(tw);
}

void
txn_keeper_open(struct txn_worker *tw)
{
	tw->keeper.ended = tw->db->empty;
	tso_on_home_lost(tw->tso, home_lost, tw);
}

void
txn_keeper_close(struct txn_worker *tw)
{
	while (tw->keeper.runs || tw->keeper.pulses)
		net_sleep(tw->w, LOOK_NS);
}

nam_status
txn_keep(struct txn_worker *tw, unsigned region, uint64_t until_ns)
{
	want(tw, region);
	nam_status st;
	while ((st = state(tw, region)) == NAM_BUSY && net_now_ns(tw->w) < until_ns && tw->keeper.runs)
		net_sleep(tw->w, LOOK_NS);
	return st;
}

nam_status
txn_keep_home(struct txn_worker *tw)
{
	return txn_keep(tw, home_of(tw), net_now_ns(tw->w) + tso_lease_ns(tw->db->tso));
}

nam_status
txn_reconnect(struct txn_worker *tw, net_addr at, uint64_t *until)
{
	uint64_t now = net_now_ns(tw->w), lease = tso_lease_ns(tw->db->tso) / 3 * 2;
	if (*until == 0)
		*until = now + (lease > PATIENCE_NS ? lease : PATIENCE_NS);
	else if (now >= *until && state(tw, net_region_of(at)) != NAM_GONE)
		return NAM_REFUSED;
	return txn_keep(tw, net_region_of(at), *until);
}

void
txn_reach(struct txn_worker *tw)
{
	const struct txn_keeper *k = &tw->keeper;
	struct net_set broken;
	if (__builtin_expect(!net_worker_broken(tw->w, &broken), 1))
		return;
	uint64_t now = net_now_ns(tw->w);
	broken = net_set_minus(&broken, &k->ended);
	for (unsigned region = 0; (region = net_set_next(&broken, region)) < NET_REGIONS; region++) {
		bool silent =
		    k->region[region].silent_ns != 0 && now - k->region[region].silent_ns > ENTER_NS;
		(void)txn_keep(tw, region, silent ? 0 : now + ENTER_NS);
	}
}

/*
 * A network may be silent for a while and then work again. TCP retransmits at growing intervals, so
 * a beat may arrive a second after the network is back: too late. So when a beat is out for a
 * quarter of a lease, the heart dials a new connection, again and again. It is granted as soon as
 * the node can be reached, and the beat that was out ends.
 */
void
txn_pulse(void *worker)
{
	struct txn_worker *tw = worker;
	struct txn_keeper *k = &tw->keeper;
	uint64_t lease = tso_lease_ns(tw->db->tso);
	unsigned home = home_of(tw);
	struct nam_err err;
	net_account_to(&tw->background);
	while (!tw->no_heart && !tso_abandoned(tw->db->tso)) {
		net_sleep(tw->w, PULSE_NS);
		if (tw->beat_ns == 0 || net_now_ns(tw->w) - tw->beat_ns < lease / SILENT_PART ||
		    is_broken(tw, home) || k->asking)
			continue;
		k->asking = true;
		nam_status st =
		    net_worker_renew(tw->w, home, (uint32_t)(lease / PULSE_PART / 1000000) + 1, &err);
		k->asking = false;
		if (st == NAM_OK)
			tso_home_again(tw->tso, NAM_OK);
		else if (st == NAM_REFUSED)
			give_up(tw);
		else if (st == NAM_UNSUPPORTED)
			break;
	}
	k->pulses = false;
}

/* ---- locks outside of transactions ---- */

nam_status
txn_again(struct txn_worker *tw, net_addr at, uint64_t *until)
{
	nam_status st = txn_reconnect(tw, at, until);
	if (st == NAM_OK)
		return NAM_OK;
	/* A node that is lost for all took the lock with it. */
	if (st != NAM_GONE)
		txn_doubt(tw);
	return NAM_GONE;
}

nam_status
txn_again_all(struct txn_worker *tw, uint64_t *until)
{
	nam_status st = NAM_OK;
	struct net_set broken;
	if (!net_worker_broken(tw->w, &broken))
		return NAM_OK;
	broken = net_set_minus(&broken, &tw->keeper.ended);
	for (unsigned r = 0; st == NAM_OK && (r = net_set_next(&broken, r)) < NET_REGIONS; r++)
		st = txn_again(tw, net_at(r, 0), until);
	return st;
}

/* After a CAS that ended with NAM_GONE. */
static nam_status
cas_again(struct txn_worker *tw, net_addr at, uint64_t expect, uint64_t want, uint64_t *seen)
{
	uint64_t until = 0;
	nam_status st = NAM_GONE;
	while (st == NAM_GONE) {
		if ((st = txn_again(tw, at, &until)) != NAM_OK)
			return st;
		st = net_cas1(tw->w, at, expect, want, seen, NULL);
		if (st == NAM_OK && *seen == want)
			*seen = expect; /* the CAS before had done it */
	}
	return st;
}

nam_status
txn_sure_cas(struct txn_worker *tw, net_addr at, uint64_t expect, uint64_t want, uint64_t *seen)
{
	nam_status st = net_cas1(tw->w, at, expect, want, seen, NULL);
	return st == NAM_GONE ? cas_again(tw, at, expect, want, seen) : st;
}

void
txn_sure_cas_all(struct txn_worker *tw, struct txn_cas *c, unsigned n)
{
	struct net_op op[TXN_CAS_MAX];
	struct net_batch b;
	if (n == 0)
		return;
	NAM_ASSERT(n <= TXN_CAS_MAX);
	net_batch_init(&b, tw->w, op, n, NULL);
	for (unsigned i = 0; i < n; i++)
		net_cas(&b, c[i].at, c[i].expect, c[i].want);
	(void)net_run(&b);
	for (unsigned i = 0; i < n; i++) {
		c[i].st = op[i].status;
		c[i].seen = op[i].seen;
		if (c[i].st == NAM_GONE)
			c[i].st = cas_again(tw, c[i].at, c[i].expect, c[i].want, &c[i].seen);
	}
}

nam_status
txn_sure_write(struct txn_worker *tw, net_addr at, const void *from, uint32_t len)
{
	uint64_t until = 0;
	nam_status st = net_write1(tw->w, at, from, len, NULL);
	while (st == NAM_GONE && (st = txn_again(tw, at, &until)) == NAM_OK)
		st = net_write1(tw->w, at, from, len, NULL);
	return st;
}

nam_status
txn_claim_sure(struct txn_worker *tw, struct tso_claim *c, tso_cid floor)
{
	nam_status st;
	do {
		tso_claim_start(tw->tso, c, floor, NULL);
		st = tso_claim_wait(tw->tso, c);
	} while (st == NAM_GONE && !tso_abandoned(tw->db->tso) && !tw->leaving &&
		 ((st = txn_keep_home(tw)) == NAM_OK || st == NAM_BUSY));
	return st;
}

void
txn_doubt(struct txn_worker *tw)
{
	atomic_store_explicit(&tw->db->doubt, true, memory_order_relaxed);
}

void
txn_index_doubt(struct txn_worker *tw, const struct idx_hash *ix)
{
	if (idx_hash_in_doubt(ix))
		txn_doubt(tw);
}

void
txn_doubts(struct txn_worker *tw)
{
	struct txn_db *db = tw->db;
	if (__builtin_expect(!atomic_load_explicit(&db->doubt, memory_order_relaxed), 1))
		return;
	txn_reach(tw);
	if (!atomic_load_explicit(&db->reached, memory_order_relaxed) ||
	    atomic_exchange(&db->stuck_told, true))
		return;
	nam_log(NAM_LOG_WARN,
	    "a connection broke under a lock that only this process's end frees: it has to connect again");
	tso_abandon(db->tso);
}
