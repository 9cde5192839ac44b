/* left.c -- the storage nodes that are left of a cluster (left.h). */
#include "at_node.h"
#include "left.h"

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
	unsigned region;
	struct txn_node_state *state;
};

static nam_status
look(struct net_worker *w, const struct net_node_info *node, void *arg)
{
	const struct question *q = arg;
	/* Another node may be at that address now. */
	return node->region == q->region ? txn_look_at_node(w, node->region, q->state) : NAM_ABSENT;
}

static bool
ask(const char *address, unsigned region, const struct cn_config *cfg, struct txn_node_state *out)
{
	const struct net_config nc = {
		.fabric = cfg->fabric,
		.cluster = cfg->cluster,
		.secret = cfg->secret,
		.secret_len = cfg->secret_len,
		.connect_ms = CONNECT_MS,
	};
	struct question q = { region, out };
	struct nam_err err;
	return cli_at_node(address, &nc, look, &q, &err) == NAM_OK;
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
