/*
 * over.c -- the life of a cluster with a log is over when one of its nodes has lost its memory: the
 * other nodes reset theirs, and the database is restored from the log (life.c).
 *
 * Safe at each step. A node is asked by the incarnation that the roster names, so a request that
 * comes late ends no later cluster. As long as one node of the old life is left, its roster says
 * so, and each process that comes asks the same again; the home is the last one, because it knows
 * most. A process of the old life loses its connections with the nodes' memory: what it had not
 * logged is undone, what it had logged is restored.
 */
#include "cluster_format.h"
#include "txn_internal.h"

#include <base/fault.h>
#include <net/ring/service.h>

/* Has that member lost its memory? */
static bool
is_empty(struct net *n, const struct txn_roster_node *was)
{
	const struct net_node_info *node = net_node_of(n, (unsigned)was->region);
	return node != NULL && !atomic_load(&node->lost) && node->incarnation != was->incarnation;
}

/* *cause: a member that has lost its memory, NULL = none has. An empty node at another address may
 * be another node, and the cluster's may be well: NAM_REFUSED. */
static nam_status
find_empty(
    struct net *n, const struct txn_roster *r, const struct txn_roster_node **cause, struct nam_err *err)
{
	*cause = NULL;
	for (unsigned i = 0; i < r->nodes; i++) {
		const struct txn_roster_node *was = &r->node[i];
		if (!is_empty(n, was))
			continue;
		const char *name = net_node_of(n, (unsigned)was->region)->name;
		if (strlen(was->name) < TXN_ROSTER_NAME - 1 && !net_same_address(name, was->name))
			return nam_fail(err, NAM_REFUSED,
			    "storage node %u (%s) is empty, and the cluster's node %u was at %s: start it "
			    "there, "
			    "or restart all storage nodes",
			    (unsigned)was->region, name, (unsigned)was->region, was->name);
		*cause = was;
	}
	return NAM_OK;
}

/* Notes of the cluster's life, or of the one that it is restored from. */
nam_status
txn_over_lost(struct net_worker *w, const struct txn_roster *r, struct net_set *lost)
{
	struct net *n = net_worker_net(w);
	nam_status st = NAM_OK;
	*lost = (struct net_set){ { 0 } };
	for (unsigned i = 0; st == NAM_OK && i < WAL_COPIES && r->log[i] != 0; i++) {
		const struct net_node_info *node = net_node_of(n, (unsigned)r->log[i]);
		struct wal_line line;
		if (node == NULL || node->log == 0)
			continue;
		st = net_read1(w, net_at(node->region, node->log), &line, sizeof line, NULL);
		bool ours = line.cluster == r->number || line.cluster == r->from;
		for (unsigned k = 0; st == NAM_OK && ours && k < WAL_COPIES; k++)
			if (line.copies.lost[k] != 0 && line.copies.lost[k] < NET_REGIONS &&
			    net_node_of(n, line.copies.lost[k]) == NULL)
				net_set_add(lost, line.copies.lost[k]);
	}
	return st;
}

/* What the home says of the cluster's database. */
enum whole { WHOLE, NEVER_WHOLE, NOT_KNOWN };

static nam_status
was_whole(struct net_worker *w, const struct txn_roster *r, enum whole *out)
{
	*out = NOT_KNOWN;
	for (unsigned i = 0; i < r->nodes; i++) {
		const struct net_node_info *node =
		    net_node_of(net_worker_net(w), (unsigned)r->node[i].region);
		uint64_t life;
		if (r->node[i].region != r->home || node == NULL ||
		    node->incarnation != r->node[i].incarnation)
			continue;
		nam_status st =
		    net_read1(w, net_plus((net_addr){ r->node[i].roster }, offsetof(struct txn_roster, life)),
			&life, sizeof life, NULL);
		*out = life != 0 && (life & REC_LOCK) == 0 ? WHOLE : NEVER_WHOLE;
		return st;
	}
	return NAM_OK;
}

/*
 * What the cluster has committed must be in a log before its memory goes. If the database has never
 * been there (K6), nothing of it counts but what it was to be restored from: the roster remembers
 * that there was such a log, and nothing else does when all nodes are empty. If the home is gone,
 * it cannot say so; but the others' memory is of no use without it, and a log that has what the
 * cluster was made from is the right one.
 */
static nam_status
look_at_log(struct net_worker *w, const struct txn_roster *r, struct nam_err *err)
{
	enum whole whole;
	nam_status st = was_whole(w, r, &whole);
	bool none = whole == NEVER_WHOLE && (r->from == 0 || nam_fault(RESET_UNBORN));
	if (st == NAM_OK && (none || nam_fault(RESET_UNLOOKED)))
		return st;
	for (unsigned i = 0; st == NAM_OK && i < WAL_COPIES && r->log[i] != 0; i++) {
		const struct net_node_info *node = net_node_of(net_worker_net(w), (unsigned)r->log[i]);
		struct wal_report report;
		if (node == NULL || node->log == 0)
			continue;
		st = wal_log_ask(w, node->region, &report);
		if (st == NAM_OK && report.published != 0 &&
		    (report.cluster == r->number || (whole != WHOLE && report.cluster == r->from)))
			return st;
	}
	if (st != NAM_OK)
		return nam_fail(err, st, "the storage nodes do not say what the cluster's log has: %s",
		    nam_status_text(st));
	return nam_fail(err, NAM_REFUSED,
	    "storage node %u, which has the cluster's log, came back without the database: start it with the "
	    "--data that it had; or restart all storage nodes, to begin with what their directories have",
	    (unsigned)r->log[0]);
}

/* Asks one node. */
static nam_status
reset(struct net_worker *w, const struct txn_roster_node *was, struct nam_err *err)
{
	const struct net_node_info *node = net_node_of(net_worker_net(w), (unsigned)was->region);
	uint64_t none[1];
	uint32_t got;
	if (node == NULL || node->incarnation != was->incarnation)
		return NAM_OK;
	nam_status st = net_call(w, node->region, NET_SERVICE_RESET, &node->incarnation,
	    sizeof node->incarnation, none, sizeof none, &got);
	if (st == NAM_OK || st == NAM_GONE || st == NAM_REFUSED)
		return NAM_OK; /* its answer was lost, or another process was first */
	return nam_fail(err, st,
	    "the life of the cluster is over, and storage node %u (%s) cannot reset its memory (%s): restart "
	    "it, then the database is restored",
	    node->region, node->name, nam_status_text(st));
}

nam_status
txn_over(struct net_worker *w, const struct txn_roster *r, const struct net_set *lost, struct nam_err *err)
{
	struct net *n = net_worker_net(w);
	const struct txn_roster_node *cause;
	const char *what = "came back empty";
	if (r->log[0] == 0)
		return NAM_OK;
	nam_status st = find_empty(n, r, &cause, err);
	for (unsigned i = 0; st == NAM_OK && cause == NULL && i < r->nodes; i++)
		if (net_set_has(lost, (unsigned)r->node[i].region)) {
			cause = &r->node[i];
			what = "is lost for good";
		}
	if (st != NAM_OK || cause == NULL)
		return st;
	st = look_at_log(w, r, err);
	for (unsigned home = 0; home < 2; home++)
		for (unsigned i = 0; st == NAM_OK && i < r->nodes; i++)
			if ((r->node[i].region == r->home) == (home == 1))
				st = reset(w, &r->node[i], err);
	return st != NAM_OK ? st
			    : nam_fail(err, NAM_RESET,
				  "storage node %u (%s) %s: the cluster's storage nodes reset their memory, "
				  "and the database is restored",
				  (unsigned)cause->region, cause->name, what);
}
