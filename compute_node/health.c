/* health.c -- whether the process can serve a client, asked of its workers: each reads a role, as
 * a client that comes in makes it do. */
#include <base/clock.h>
#include <compute_node/cn_internal.h>
#include <compute_node/question.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	WAIT_MS = 2000,
	PROBES_MAX = 256, /* that have not ended: workers that hang get no more */
};

static _Atomic unsigned probes;

struct question {
	struct cn_question q;
	struct cn *cn;
	bool serves;
	char why[400];
};

static void
end(struct cn_question *q)
{
	free((struct question *)(void *)q);
}

static void
probe(const struct cn_place *place, void *arg)
{
	struct question *q = arg;
	struct cat_role role;
	struct cat_err err = { 0 };
	bool found;
	const uint64_t until = net_now_ns(place->net) + WAIT_MS * UINT64_C(1000000);
	bool ok = cn_enter_by(q->cn, place, CAT_FIRST_ROLE, false, NULL, until, &role, &found, &err);
	pthread_mutex_lock(&q->q.lock);
	q->serves |= ok;
	if (!ok && q->why[0] == 0)
		snprintf(q->why, sizeof q->why, "%s", err.detail[0] != 0 ? err.detail : err.text);
	cn_question_answer(&q->q);
	atomic_fetch_sub(&probes, 1);
}

bool
cn_serves(struct cn *cn, char *why, size_t max)
{
	if (net_membership(cn->net) == NET_FENCED) {
		snprintf(why, max, "%s", net_membership_why(cn->net));
		return false;
	}
	struct question *q = calloc(1, sizeof *q);
	if (q == NULL) {
		snprintf(why, max, "out of memory");
		return false;
	}
	cn_question_init(&q->q, end);
	q->cn = cn;
	pthread_mutex_lock(&q->q.lock);
	for (unsigned i = 0; i < cn->workers && atomic_load(&probes) < PROBES_MAX; i++) {
		atomic_fetch_add(&probes, 1);
		if (!cn_question_ask(cn, i, &q->q, probe))
			atomic_fetch_sub(&probes, 1);
	}
	cn_question_wait(&q->q, WAIT_MS, &q->serves);
	bool serves = q->serves;
	snprintf(why, max, "%s", q->why[0] != 0 ? q->why : "no worker answers: a storage node may hang");
	pthread_mutex_unlock(&q->q.lock);
	cn_question_drop(&q->q);
	return serves;
}

/* A mapped node is lost when its process has ended. One that is reached over a connection may be
 * back, unless other memory was met at its address. */
static bool
has_ended(const struct net_node_info *node)
{
	return node != NULL &&
	       (atomic_load(&node->replaced) || (atomic_load(&node->lost) && node->kind == NET_SHM));
}

bool
cn_lost(struct cn *cn, char *why, size_t max)
{
	const struct net_node_info *home = net_node_of(cn->net, txn_db_home(cn->db));
	const struct net_node_info *node = has_ended(home) ? home : NULL;
	/* The memory of any node is restored with all of the database. */
	for (unsigned i = 0; txn_db_has_log(cn->db) && node == NULL && i < net_node_count(cn->net); i++)
		if (has_ended(net_node(cn->net, i)))
			node = net_node(cn->net, i);
	if (txn_db_has_log(cn->db) && node == NULL && txn_db_ended(cn->db) != 0)
		node = net_node_of(cn->net, txn_db_ended(cn->db));
	if (node == NULL && tso_abandoned(txn_db_oracle(cn->db)))
		node = home;
	if (node == NULL)
		return false;
	snprintf(why, max, "storage node %u (%s) is lost for this process", node->region, node->name);
	return true;
}
