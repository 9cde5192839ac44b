/*
 * fence.c -- net_fence_process in the real world: one thread for each node sends the request, so
 * that no worker waits, and a node that does not answer does not delay the others.
 *
 * If the caller grants a grace, first all nodes ask the process whether it lives; that changes
 * nothing (W5 of net/wire.h), so an answer at one node does not come too late because another node
 * was quicker. Then all of them fence it.
 *
 * A node that fences answers as W3 demands; only the node itself can know that. A region of this
 * very process can be touched by this process only, so it is enough that no net here has that
 * identity.
 */
#include <net/remote_internal.h>

#include <stdlib.h>

struct job {
	struct net *net;
	uint64_t identity, grace_ns;
	struct nam_co *co;
	atomic_uint left; /* nodes that have not finished; release, with their results */
	struct leg {
		struct job *job;
		struct net_node *node;
		pthread_t thread;
		bool started;
		nam_status status;
		struct nam_err err;
	} leg[NET_REGIONS];
};

static void *
go(void *arg)
{
	struct leg *l = arg;
	struct job *j = l->job;
	l->status = j->grace_ns != 0 ? net_remote_ask(l->node, j->identity, j->grace_ns, &l->err)
				     : net_remote_fence(l->node, j->identity, &l->err);
	struct nam_co *co = j->co;
	atomic_fetch_sub_explicit(&j->left, 1, memory_order_release);
	/* It waits for this thread, so it has not ended. */
	nam_co_post(co);
	return NULL;
}

/* Fences on all nodes, even if one fails: so the fenced process can reach as few nodes as
 * possible. */
static nam_status
all_nodes(struct job *j, struct nam_err *err)
{
	unsigned n = 0;
	nam_status st = NAM_OK;
	atomic_store(&j->left, 0);
	for (unsigned i = 0; i < j->net->count; i++) {
		struct net_node *node = j->net->node[i];
		struct leg *l = &j->leg[n];
		if (node->host[0] == '\0')
			continue;
		*l = (struct leg){ .job = j, .node = node };
		atomic_fetch_add(&j->left, 1);
		l->started = pthread_create(&l->thread, NULL, go, l) == 0;
		if (!l->started) {
			atomic_fetch_sub(&j->left, 1);
			l->status = nam_fail(&l->err, NAM_NOMEM, "no memory to fence a process");
		}
		n++;
	}
	while (atomic_load_explicit(&j->left, memory_order_acquire) != 0)
		nam_co_park();
	for (unsigned i = 0; i < n; i++) {
		struct leg *l = &j->leg[i];
		/* The thread may still be posting to this worker, which must not end before. */
		if (l->started)
			pthread_join(l->thread, NULL);
		/* One node's answer that the process lives counts more than another node's
		 * failure. */
		if (l->status == NAM_OK || (st != NAM_OK && l->status != NAM_BUSY))
			continue;
		st = l->status;
		if (err != NULL)
			*err = l->err;
	}
	return st;
}

nam_status
net_real_fence(struct net_worker *w, uint64_t identity, uint64_t grace_ns, struct nam_err *err)
{
	bool local = false;
	for (unsigned i = 0; i < w->net->count; i++)
		local |= w->net->node[i]->host[0] == '\0';
	struct job *j = calloc(1, sizeof *j);
	if (j == NULL)
		return nam_fail(err, NAM_NOMEM, "no memory to fence a process");
	*j = (struct job){ .net = w->net, .identity = identity, .grace_ns = grace_ns, .co = nam_co_self() };
	nam_status st = grace_ns != 0 ? all_nodes(j, err) : NAM_OK;
	/* If a node could not ask, the process may live, and fencing it would need that node's
	 * answer as well. */
	if (st == NAM_OK) {
		j->grace_ns = 0;
		st = all_nodes(j, err);
	}
	free(j);
	if (local && net_lives_here(identity) && st == NAM_OK)
		st = nam_fail(err, NAM_UNSUPPORTED, "the process to be fenced is this very process");
	return st;
}
