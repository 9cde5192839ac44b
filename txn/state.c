/* state.c -- a storage node's state, seen from outside of the cluster (state.h). */
#include "cluster_format.h"
#include "record_format.h"
#include "state.h"
#include "txn_internal.h"

#include <stdio.h>
#include <stdlib.h>

static nam_status
judge_roster(const struct txn_roster *r, unsigned region, struct txn_node_state *out)
{
	if (r->magic != TXN_ROSTER_MAGIC || r->home == 0 || r->home >= NET_REGIONS)
		return NAM_CORRUPT;
	out->member = TXN_MEMBER;
	out->cluster = r->number;
	out->home = (unsigned)r->home;
	out->nodes = (unsigned)r->nodes;
	if (out->home != region)
		return NAM_OK;
	for (unsigned i = 0; i < WAL_COPIES; i++)
		out->log_region[i] = (unsigned)r->log[i];
	out->permille = r->restored < 1000 ? (unsigned)r->restored : 1000;
	if (r->log[0] == 0 || (r->life != 0 && (r->life & REC_LOCK) == 0)) /* K6 */
		out->database = TXN_DATABASE_OPEN;
	else
		out->database = r->life == 0 ? TXN_DATABASE_CLOSED : TXN_DATABASE_RESTORING;
	return NAM_OK;
}

static nam_status
look_at_roster(struct net_worker *w, unsigned region, uint64_t at, struct txn_node_state *out)
{
	const uint32_t head = offsetof(struct txn_roster, node);
	const net_addr addr = { at };
	if (net_region_of(addr) != region)
		return NAM_CORRUPT;
	struct txn_roster *roster = malloc(sizeof *roster); /* too large for a stack */
	if (roster == NULL)
		return NAM_NOMEM;
	nam_status st = net_read1(w, addr, roster, head, NULL);
	if (st == NAM_OK)
		st = judge_roster(roster, region, out);
	free(roster);
	return st;
}

nam_status
txn_look_at_node(struct net_worker *w, unsigned region, struct txn_node_state *out)
{
	struct net_super super;
	const uint32_t head = offsetof(struct net_super, root) + 8u * (TXN_ROOT_MEMBER + 1);
	*out = (struct txn_node_state){ .member = TXN_NO_MEMBER };
	nam_status st = net_read1(w, net_at(region, 0), &super, head, NULL);
	if (st == NAM_OK && super.log != 0) {
		st = net_read1(w, net_at(region, super.log), &out->log, sizeof out->log, NULL);
		out->has_log = st == NAM_OK;
	}
	if (st != NAM_OK)
		return st;
	const uint64_t word = super.root[TXN_ROOT_MEMBER];
	if (txn_member_is_making(word))
		out->member = TXN_MEMBER_IN_THE_MAKING;
	else if (word != 0)
		st = look_at_roster(w, region, word, out);
	return st;
}

nam_status
txn_look_for_member(struct net_worker *w, unsigned region, unsigned node, bool *is, char *at, size_t max)
{
	const net_addr word_at = net_at(region, offsetof(struct net_super, root) + 8u * TXN_ROOT_MEMBER);
	struct txn_roster *roster = malloc(sizeof *roster);
	uint64_t word;
	nam_status st = roster != NULL ? net_read1(w, word_at, &word, sizeof word, NULL) : NAM_NOMEM;
	*is = false;
	at[0] = 0;
	if (st == NAM_OK && txn_member_roster(word) != 0)
		st = txn_roster_get(w, (net_addr){ word }, roster);
	for (unsigned i = 0; st == NAM_OK && txn_member_roster(word) != 0 && i < roster->nodes; i++)
		if (roster->node[i].region == node) {
			*is = true;
			snprintf(at, max, "%.*s", TXN_ROSTER_NAME - 1, roster->node[i].name);
		}
	free(roster);
	return st;
}
