/*
 * cluster.c -- which storage nodes make a cluster: found, or made out of empty ones
 * (cluster_format.h).
 *
 * A joining process first READs the membership words of all nodes named to it. It changes none
 * before they agree: all empty (it makes a cluster), or all members of one cluster and all of its
 * members. Every other case is refused, and the message says which nodes are missing and which do
 * not belong.
 */
#include "cluster_format.h"
#include "copies.h"
#include "txn_internal.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	LOOK_NS = 2000000,
	TIMEOUT_MS = 3000, /* an attempt that has not made its cluster by then is taken over; this
			    * harms no process but its own */
	ATTEMPTS = 20,
	LOOKS = 2, /* so many more looks before a refusal is reported */
};

/* One node. */
struct seen {
	uint64_t word;
	bool gone;   /* no answer: its connection has broken */
	net_addr at; /* where this process's own attempt puts the roster */
};

/* The state that a joining process has READ from the nodes named, in their order. */
struct look {
	struct net_worker *w;
	struct net *n;
	const struct txn_config *cfg;
	unsigned nodes;
	struct seen *seen; /* `nodes` of them */
	struct net_op *op; /* likewise, for a look */
	uint64_t mine;     /* the word of this process's own attempt, 0 = none */
	uint64_t number;   /* the number that its cluster will have */
	uint64_t first;    /* the number of its first attempt; the next one has the next number */
	unsigned attempts;
	unsigned refused; /* how often a refusal was due; the words have been READ again each
			   * time */
	struct nam_err *err;
};

static net_addr
member_at(unsigned region)
{
	return net_at(region, offsetof(struct net_super, root) + 8u * TXN_ROOT_MEMBER);
}

static const struct net_node_info *
node(const struct look *k, unsigned i)
{
	return net_node(k->n, i);
}

/* The place of a region in the list, UINT_MAX = it is not named. */
static unsigned
named(const struct look *k, uint64_t region)
{
	for (unsigned i = 0; i < k->nodes; i++)
		if (node(k, i)->region == region)
			return i;
	return UINT_MAX;
}

static nam_status
read_words(struct look *k)
{
	const struct net_op *op = k->op;
	struct net_batch b;
	net_batch_init(&b, k->w, k->op, k->nodes, NULL);
	for (unsigned i = 0; i < k->nodes; i++)
		net_read(&b, member_at(node(k, i)->region), &k->seen[i].word, 8);
	(void)net_run(&b);
	for (unsigned i = 0; i < k->nodes; i++) {
		k->seen[i].gone = op[i].status == NAM_GONE;
		if (k->seen[i].gone)
			k->seen[i].word = 0;
		if (op[i].status != NAM_OK && !k->seen[i].gone)
			return nam_fail(k->err, (nam_status)op[i].status, "storage node %u (%s): %s",
			    node(k, i)->region, node(k, i)->name, nam_status_text((nam_status)op[i].status));
	}
	return NAM_OK;
}

/* CAS of one node's word. *did: the word is `to` now. Updates k->word. */
static nam_status
set_word(struct look *k, unsigned i, uint64_t from, uint64_t to, bool *did)
{
	uint64_t seen = 0;
	nam_status st = net_cas1(k->w, member_at(node(k, i)->region), from, to, &seen, NULL);
	if (st != NAM_OK)
		return nam_fail(k->err, st, "storage node %u (%s): %s", node(k, i)->region, node(k, i)->name,
		    nam_status_text(st));
	*did = seen == from || seen == to;
	k->seen[i].word = *did ? to : seen;
	return NAM_OK;
}

/* Ends this process's own attempt, if it has one: no word names it any more. */
static void
let_go(struct look *k)
{
	uint64_t seen;
	/* The home's word last: the others are judged by it. */
	for (unsigned i = k->nodes; k->mine != 0 && i-- > 0;)
		if (net_cas1(k->w, member_at(node(k, i)->region), k->mine, 0, &seen, NULL) == NAM_OK &&
		    k->seen[i].word == k->mine)
			k->seen[i].word = seen == k->mine ? 0 : seen;
	k->mine = 0;
}

/* ---- what to say --------------------------------------------------------------- */

struct line {
	char text[400];
	size_t len;
	unsigned items, more;
};

static void
item(struct line *l, uint64_t region, const char *name)
{
	char one[160];
	int n = snprintf(one, sizeof one, "%snode %u (%.*s)", l->items > 0 ? ", " : "", (unsigned)region,
	    TXN_ROSTER_NAME, name);
	if (l->more > 0 || l->len + (size_t)n + 20 > sizeof l->text) {
		l->more++;
		return;
	}
	memcpy(l->text + l->len, one, (size_t)n + 1);
	l->len += (size_t)n;
	l->items++;
}

static const char *
line(struct line *l)
{
	if (l->more > 0)
		snprintf(l->text + l->len, sizeof l->text - l->len, " and %u more", l->more);
	return l->text;
}

/* ---- joining ------------------------------------------------------------------- */

/* The place of this node among a roster's members, UINT_MAX = none. */
static unsigned
listed(const struct txn_roster *r, uint64_t region)
{
	for (unsigned i = 0; i < r->nodes; i++)
		if (r->node[i].region == region)
			return i;
	return UINT_MAX;
}

nam_status
txn_roster_get(struct net_worker *w, net_addr at, struct txn_roster *r)
{
	nam_status st = net_read1(w, at, r,
	    (uint32_t)offsetof(struct txn_roster, node) + TXN_ROSTER_INLINE * sizeof r->node[0], NULL);
	if (st == NAM_OK && (r->magic != TXN_ROSTER_MAGIC || r->nodes == 0 || r->nodes >= NET_REGIONS))
		return NAM_CORRUPT;
	if (st == NAM_OK && r->nodes > TXN_ROSTER_INLINE)
		st = net_read1(w, net_plus(at, txn_roster_nodes_at(r->nodes)), r->node,
		    (uint32_t)(r->nodes * sizeof r->node[0]), NULL);
	return st;
}

static nam_status
put_roster(struct net_worker *w, net_addr at, const struct txn_roster *r)
{
	const uint32_t head = offsetof(struct txn_roster, node);
	const uint32_t members = (uint32_t)(r->nodes * sizeof r->node[0]);
	if (r->nodes <= TXN_ROSTER_INLINE)
		return net_write1(w, at, r, head + TXN_ROSTER_INLINE * sizeof r->node[0], NULL);
	nam_status st = net_write1(w, net_plus(at, txn_roster_nodes_at(r->nodes)), r->node, members, NULL);
	return st != NAM_OK ? st : net_write1(w, at, r, head, NULL);
}

static nam_status
read_roster(struct look *k, unsigned i, struct txn_roster *r)
{
	nam_status st = txn_roster_get(k->w, (net_addr){ txn_member_roster(k->seen[i].word) }, r);
	if (st == NAM_OK && listed(r, r->home) == UINT_MAX)
		st = NAM_CORRUPT;
	for (unsigned m = 0; st == NAM_OK && m < r->nodes; m++)
		r->node[m].name[TXN_ROSTER_NAME - 1] = 0;
	return st == NAM_OK
		   ? st
		   : nam_fail(k->err, st, "cannot read the cluster's roster at storage node %u (%s): %s",
			 node(k, i)->region, node(k, i)->name, nam_status_text(st));
}

/* Collects members that are not named, and named nodes that are not members. */
static nam_status
compare_lists(struct look *k, unsigned by, const struct txn_roster *r, struct net_set *lost)
{
	struct line missing = { .len = 0 }, strange = { .len = 0 };
	bool all = true;
	*lost = (struct net_set){ { 0 } };
	for (unsigned m = 0; m < r->nodes; m++)
		all = all && named(k, r->node[m].region) != UINT_MAX;
	nam_status st = all ? NAM_OK : txn_over_lost(k->w, r, lost);
	if (st != NAM_OK)
		return nam_fail(
		    k->err, st, "cannot ask the storage nodes for their logs: %s", nam_status_text(st));
	for (unsigned m = 0; m < r->nodes; m++)
		if (named(k, r->node[m].region) == UINT_MAX &&
		    !net_set_has(lost, (unsigned)r->node[m].region))
			item(&missing, r->node[m].region, r->node[m].name);
	for (unsigned i = 0; i < k->nodes; i++)
		if (listed(r, node(k, i)->region) == UINT_MAX)
			item(&strange, node(k, i)->region, node(k, i)->name);
	if (missing.items == 0 && strange.items == 0)
		return NAM_OK;
	if (missing.items == 0)
		return nam_fail(k->err, NAM_REFUSED,
		    "not part of the cluster of node %u (%s): %s; leave that out of --storage",
		    node(k, by)->region, node(k, by)->name, line(&strange));
	if (strange.items == 0)
		return nam_fail(k->err, NAM_REFUSED,
		    "--storage must name all nodes of the cluster; missing: %s (if they are gone for good, "
		    "%s)",
		    line(&missing), r->log[0] != 0 ? "say so: namdb node lost ID" : "restart the others");
	missing.text[200] = strange.text[160] = 0;
	return nam_fail(k->err, NAM_REFUSED,
	    "--storage must name the nodes of one cluster, all and no others; missing: %s; not part of it: "
	    "%s",
	    line(&missing), line(&strange));
}

/* Is a node with a member's id part of another cluster? */
static bool
strangers(const struct look *k, const struct txn_roster *r)
{
	for (unsigned i = 0; i < k->nodes; i++) {
		unsigned m = listed(r, node(k, i)->region);
		uint64_t roster = txn_member_roster(k->seen[i].word);
		if (m != UINT_MAX && roster != 0 && roster != r->node[m].roster)
			return true;
	}
	return false;
}

/*
 * Node `by` is a member of a cluster. NAM_OK: all nodes named are members of it, and all members
 * are named. NAM_BUSY: a word changed meanwhile.
 */
static nam_status
join(struct look *k, unsigned by, struct txn_roster *r)
{
	struct net_set lost;
	nam_status st = read_roster(k, by, r);
	if (st == NAM_OK)
		st = compare_lists(k, by, r, &lost);
	if (st == NAM_OK && !strangers(k, r))
		st = txn_over(k->w, r, &lost, k->err);
	if (st != NAM_OK)
		return st;
	unsigned home = named(k, r->home);
	for (unsigned i = 0; i < k->nodes; i++) {
		unsigned m = listed(r, node(k, i)->region);
		uint64_t roster = txn_member_roster(k->seen[i].word);
		bool did;
		if (k->seen[i].word == r->node[m].roster || k->seen[i].gone)
			continue;
		if (k->seen[i].word == r->maker) {
			/* K4. The home names the cluster, else no member would. */
			if ((st = set_word(k, i, r->maker, r->node[m].roster, &did)) != NAM_OK)
				return st;
			if (!did)
				return NAM_BUSY;
			continue;
		}
		if (k->seen[i].word == 0 && i != home)
			continue; /* the node came back empty: its incarnation shows it as well */
		if (k->seen[i].word == 0)
			return nam_fail(k->err, NAM_GONE,
			    "storage node %u (%s), the cluster's home, came back empty: the cluster's data "
			    "is lost; "
			    "restart all its storage nodes",
			    node(k, i)->region, node(k, i)->name);
		if (roster == 0)
			return nam_fail(k->err, NAM_REFUSED,
			    "storage node %u (%s) came back empty, and another process is making a cluster "
			    "out of it",
			    node(k, i)->region, node(k, i)->name);
		return nam_fail(k->err, NAM_REFUSED,
		    "storage nodes %u (%s) and %u (%s) belong to different clusters: name those of one",
		    node(k, by)->region, node(k, by)->name, node(k, i)->region, node(k, i)->name);
	}
	return NAM_OK;
}

/* ---- making -------------------------------------------------------------------- */

/* The word of another process's attempt that may still make its cluster, 0 = none. */
static uint64_t
under_way(const struct look *k)
{
	for (unsigned i = 0; i < k->nodes; i++) {
		if (!txn_member_is_making(k->seen[i].word) || k->seen[i].word == k->mine)
			continue;
		unsigned home = named(k, txn_member_home(k->seen[i].word));
		/* K3: an attempt that its home does not name any more makes no cluster. */
		if (home == UINT_MAX || k->seen[home].word == k->seen[i].word)
			return k->seen[i].word;
	}
	return 0;
}

/* Takes the words of all nodes, the home's first. *all: it has all of them. */
static nam_status
take_words(struct look *k, bool *all)
{
	unsigned home = node(k, 0)->region;
	*all = true;
	k->number = nam_rng_next(net_rng(k->w));
	if (k->attempts == 0)
		k->first = k->number;
	k->mine = txn_member_making(home, k->first + k->attempts++, net_identity(k->n));
	for (unsigned i = 0; i < k->nodes && *all; i++) {
		nam_status st = set_word(k, i, k->seen[i].word, k->mine, all);
		if (st != NAM_OK)
			return st;
	}
	return NAM_OK;
}

/* In a cluster with high ids an index entry has fewer bits for an offset (hash_format.h). */
static nam_status
check_sizes(struct look *k)
{
	unsigned max = node(k, k->nodes - 1)->region;
	uint64_t most = idx_region_bytes(max);
	for (unsigned i = 0; i < k->nodes; i++)
		if (node(k, i)->size > most)
			return nam_fail(k->err, NAM_REFUSED,
			    "storage node %u (%s) offers %llu GiB: in a cluster with a node %u each may "
			    "offer "
			    "at most %llu GiB; give the nodes lower ids, or this one a smaller --size",
			    node(k, i)->region, node(k, i)->name,
			    (unsigned long long)(node(k, i)->size >> 30), max,
			    (unsigned long long)(most >> 30));
	return NAM_OK;
}

/* The nodes that will have copies of the cluster's log. *region 0: none can keep one. */
static nam_status
choose_logs(struct look *k, uint64_t region[WAL_COPIES], uint64_t *from)
{
	struct txn_copy_seen *seen = calloc(k->nodes, sizeof *seen);
	nam_status st = seen != NULL ? NAM_OK : NAM_NOMEM;
	for (unsigned i = 0; st == NAM_OK && i < k->nodes; i++) {
		seen[i].region = node(k, i)->region;
		seen[i].name = node(k, i)->name;
		seen[i].has_log = node(k, i)->log != 0;
		struct wal_report report = { 0 };
		if (seen[i].has_log)
			st = wal_log_ask(k->w, node(k, i)->region, &report);
		seen[i].lives = report.lives;
		if (seen[i].has_log && st == NAM_OK)
			st = net_read1(k->w, net_at(node(k, i)->region, node(k, i)->log), &seen[i].line,
			    sizeof seen[i].line, NULL);
	}
	if (st != NAM_OK)
		nam_fail(k->err, st, "cannot ask the storage nodes for their logs: %s", nam_status_text(st));
	else
		st = txn_copies_choose(seen, k->nodes, region, k->err);
	*from = 0;
	for (unsigned i = 0; st == NAM_OK && i < k->nodes; i++)
		if (seen[i].region == region[0] && seen[i].line.published != 0)
			*from = seen[i].line.cluster;
	free(seen);
	return st;
}

/* With all words taken (K2). NAM_BUSY: another process took the home's word over. */
static nam_status
make(struct look *k, struct txn_roster *r)
{
	net_addr oracle;
	unsigned home = node(k, 0)->region, taken = 0, extents = txn_roster_extents(k->nodes);
	bool did = false;
	uint64_t log[WAL_COPIES], from;
	nam_status st = check_sizes(k);
	if (st == NAM_OK)
		st = choose_logs(k, log, &from);
	if (st != NAM_OK)
		return st;
	st = tso_format(k->w, home, k->cfg->vector, k->cfg->scheme, k->cfg->clients, k->cfg->lease_ms,
	    k->cfg->lanes, &oracle);
	memset(r, 0, sizeof *r);
	for (; st == NAM_OK && taken < k->nodes; taken += st == NAM_OK)
		st = net_extent_take(k->w, node(k, taken)->region, extents, &k->seen[taken].at);
	for (unsigned i = 0; st == NAM_OK && i < k->nodes; i++)
		st = net_reserve_fill(k->w, node(k, i)->region);
	if (st == NAM_OK) {
		r->magic = TXN_ROSTER_MAGIC;
		r->number = k->number;
		r->maker = k->mine;
		r->oracle = oracle.bits;
		r->home = home;
		memcpy(r->log, log, sizeof r->log);
		r->nodes = k->nodes;
		r->from = from;
	}
	for (unsigned i = 0; st == NAM_OK && i < k->nodes; i++) {
		r->node[i] = (struct txn_roster_node){ node(k, i)->region, node(k, i)->incarnation,
			k->seen[i].at.bits, "" };
		snprintf(
		    r->node[i].name, sizeof r->node[i].name, "%.*s", TXN_ROSTER_NAME - 1, node(k, i)->name);
	}
	for (unsigned i = 0; st == NAM_OK && i < k->nodes; i++)
		st = put_roster(k->w, k->seen[i].at, r);
	if (st != NAM_OK)
		return nam_fail(
		    k->err, st, "cannot make a cluster out of these storage nodes: %s", nam_status_text(st));
	if ((st = set_word(k, 0, k->mine, k->seen[0].at.bits, &did)) == NAM_OK && !did) { /* K3 */
		for (unsigned i = 0; i < taken; i++)
			for (unsigned e = 0; e < extents; e++)
				(void)net_extent_give(
				    k->w, net_plus(k->seen[i].at, e * (uint64_t)NET_EXTENT));
		return NAM_BUSY;
	}
	/* The cluster is made, or may be (a CAS without an answer): from here on this attempt does
	 * not give its nodes back. */
	uint64_t mine = k->mine;
	k->mine = 0;
	for (unsigned i = 1; st == NAM_OK && i < k->nodes; i++)
		st = set_word(k, i, mine, k->seen[i].at.bits, &did);
	return st;
}

/* ---- finding ------------------------------------------------------------------- */

/* One look. NAM_BUSY: look again, at once or after a pause. */
static nam_status
look(struct look *k, struct txn_roster *r, uint64_t *waits, uint64_t *since)
{
	unsigned by = 0;
	nam_status st = read_words(k);
	if (st != NAM_OK)
		return st;
	while (by < k->nodes && txn_member_roster(k->seen[by].word) == 0)
		by++;
	if (by < k->nodes)
		return join(k, by, r);
	for (unsigned i = 0; i < k->nodes; i++)
		if (k->seen[i].gone)
			return nam_fail(k->err, NAM_GONE, "storage node %u (%s): %s", node(k, i)->region,
			    node(k, i)->name, nam_status_text(NAM_GONE));
	uint64_t other = under_way(k), now = net_now_ns(k->w);
	if (other != *waits) {
		*waits = other;
		*since = now;
	}
	if (other != 0) {
		bool late = now - *since > TIMEOUT_MS * UINT64_C(1000000) ||
			    net_heard_of(k->w, txn_member_identity(other)) != NET_UNHEARD;
		if (!late) {
			let_go(k); /* two attempts that each hold a word that the other needs would
				    * both wait */
			return NAM_BUSY;
		}
	}
	/* Only the home knows whether an attempt's cluster was made. */
	for (unsigned i = 0; i < k->nodes; i++)
		if (txn_member_is_making(k->seen[i].word) &&
		    named(k, txn_member_home(k->seen[i].word)) == UINT_MAX)
			return nam_fail(k->err, NAM_REFUSED,
			    "storage node %u (%s) was to be part of a cluster whose home is node %u, and is "
			    "not yet: "
			    "name node %u in --storage, too, or restart this one",
			    node(k, i)->region, node(k, i)->name, txn_member_home(k->seen[i].word),
			    txn_member_home(k->seen[i].word));
	bool all;
	let_go(k);
	if ((st = take_words(k, &all)) != NAM_OK || !all)
		return st != NAM_OK ? st : NAM_BUSY;
	return make(k, r);
}

static nam_status
find(struct net_worker *w, struct look *k, struct txn_roster *r)
{
	struct nam_err *err = k->err;
	uint64_t waits = 0, since = 0;
	nam_status st;
	for (;;) {
		st = look(k, r, &waits, &since);
		if (st == NAM_OK)
			break;
		if (st == NAM_BUSY && k->attempts < ATTEMPTS) {
			net_sleep(w, LOOK_NS + nam_rng_below(net_rng(w), LOOK_NS));
			continue;
		}
		/* The words of different nodes were READ at different moments: words that
		 * contradict each other may agree when they are READ again. */
		if ((st == NAM_REFUSED || st == NAM_GONE) && k->refused++ < LOOKS)
			continue;
		let_go(k);
		if (st == NAM_BUSY)
			st = nam_fail(err, NAM_BUSY,
			    "other processes are making clusters out of these storage nodes: start again, "
			    "with one list");
		return st;
	}
	/* The home's roster is the record. */
	unsigned home = named(k, r->home);
	net_addr at = { r->node[listed(r, r->home)].roster };
	if (k->seen[home].gone)
		return nam_fail(err, NAM_GONE, "storage node %u (%s): %s", node(k, home)->region,
		    node(k, home)->name, nam_status_text(NAM_GONE));
	if ((st = txn_roster_get(w, at, r)) != NAM_OK)
		return nam_fail(err, st, "cannot read the cluster's record: %s", nam_status_text(st));
	return NAM_OK;
}

nam_status
txn_cluster_find(
    struct net_worker *w, const struct txn_config *cfg, struct txn_roster *r, struct nam_err *err)
{
	struct look k = { .w = w, .n = net_worker_net(w), .cfg = cfg, .err = err };
	nam_status st = NAM_NOMEM;
	k.nodes = net_node_count(k.n);
	k.seen = calloc(k.nodes, sizeof *k.seen);
	k.op = calloc(k.nodes, sizeof *k.op);
	if (k.seen == NULL || k.op == NULL)
		nam_fail(err, NAM_NOMEM, "out of memory");
	else
		st = find(w, &k, r);
	free(k.seen);
	free(k.op);
	return st;
}
