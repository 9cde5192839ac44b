/* left.c -- the storage nodes that are left of a cluster (left.h). */
#include "left.h"

#include <net/net.h>
#include <txn/state.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CONNECT_MS = 300 };

struct cli_nodes {
	unsigned n;
	struct {
		unsigned region;
		char name[sizeof((struct net_node_info *)NULL)->name];
	} node[];
};

struct cli_nodes *
cli_nodes_of(struct cn *cn)
{
	unsigned n = net_node_count(cn_net(cn));
	struct cli_nodes *k = calloc(1, sizeof *k + n * sizeof k->node[0]);
	if (k == NULL)
		return NULL;
	for (k->n = 0; k->n < n; k->n++) {
		const struct net_node_info *info = net_node(cn_net(cn), k->n);
		k->node[k->n].region = info->region;
		memcpy(k->node[k->n].name, info->name, sizeof info->name);
	}
	return k;
}

void
cli_nodes_free(struct cli_nodes *known)
{
	free(known);
}

/* A node that is asked. */
struct question {
	struct net_worker *w;
	unsigned region;
	nam_status status;
	struct txn_node_state state;
};

static void
look(void *arg)
{
	struct question *q = arg;
	q->status = txn_look_at_node(q->w, q->region, &q->state);
}

/* False: it does not answer, or is another node. */
static bool
ask(const char *address, unsigned region, const struct cn_config *cfg, struct txn_node_state *out)
{
	const struct net_config nc = {
		.storage = address,
		.fabric = cfg->fabric,
		.cluster = cfg->cluster,
		.secret = cfg->secret,
		.secret_len = cfg->secret_len,
		.connect_ms = CONNECT_MS,
	};
	struct question q = { .region = region, .status = NAM_GONE };
	struct net *net;
	struct nam_err err;
	if (net_open(&net, &nc, &err) != NAM_OK)
		return false;
	if (net_node_of(net, region) != NULL && net_worker_open(net, &q.w, &err) == NAM_OK) {
		if (nam_co_start(net_worker_sched(q.w), look, &q, 0) != NULL)
			net_worker_run(q.w, NULL, NULL);
		net_worker_close(q.w);
	}
	net_close(net);
	*out = q.state;
	return q.status == NAM_OK;
}

/* The list without the lost ones. NULL: no memory. */
static char *
without(const struct cli_nodes *k, const struct net_set *gone, char *lost, size_t max)
{
	char *list = calloc(k->n, sizeof k->node[0].name + 1);
	size_t at = 0;
	for (unsigned i = 0; list != NULL && i < k->n; i++)
		if (net_set_has(gone, k->node[i].region))
			snprintf(lost, max, "storage node %u (%s) is lost for good, as an operator has said",
			    k->node[i].region, k->node[i].name);
		else
			at += (size_t)sprintf(list + at, "%s%s", at > 0 ? "," : "", k->node[i].name);
	return list;
}

char *
cli_nodes_left(const struct cli_nodes *known, const struct cn_config *cfg, char *lost, size_t max)
{
	struct net_set gone = { { 0 } };
	uint64_t newest = 0;
	struct txn_node_state *s = calloc(known->n, sizeof *s);
	bool *answers = calloc(known->n, sizeof *answers);
	bool asked = s != NULL && answers != NULL;
	for (unsigned i = 0; asked && i < known->n; i++) {
		answers[i] = ask(known->node[i].name, known->node[i].region, cfg, &s[i]);
		if (answers[i] && s[i].has_log && s[i].log.published > newest)
			newest = s[i].log.published;
	}
	/* What one copy of the newest life has noted. */
	for (unsigned i = 0; asked && newest != 0 && i < known->n; i++)
		for (unsigned k = 0;
		     answers[i] && s[i].has_log && s[i].log.published == newest && k < known->n; k++)
			if (wal_ids_have(s[i].log.copies.lost, known->node[k].region))
				net_set_add(&gone, known->node[k].region);
	/* One that was said to be lost answers: the opening judges it. */
	for (unsigned i = 0; asked && i < known->n; i++)
		if (answers[i])
			net_set_drop(&gone, known->node[i].region);
	free(answers);
	free(s);
	return net_set_none(&gone) ? NULL : without(known, &gone, lost, max);
}
