/*
 * fence.c -- net_fence_process in the real world: every node is asked, by a thread for each, so
 * that no worker waits, and a node that does not answer holds up nobody but itself.
 *
 * First all nodes ask the process whether it lives, if the caller grants it time; nothing is done
 * to it by that (W5 of net/wire.h), so an answer at one node is not late because another node was
 * quicker. Then all of them fence it.
 *
 * A node that shuts out answers as W3 says, and it alone can know. A region of this very process
 * can be touched by this process only, so it is enough that no net here has that identity.
 */
#include <net/remote_internal.h>

#include <stdlib.h>

struct job {
	struct net *net;
	uint64_t identity, grace_ns;
	struct nam_co *co;
	atomic_uint left; /* legs that have not ended; release, with their results */
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

/* All of them, also beside one that fails: the fewer nodes are left to a zombie, the better. */
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
			l->status = nam_fail(&l->err, NAM_NOMEM, "no memory to shut a process out");
		}
		n++;
	}
	while (atomic_load_explicit(&j->left, memory_order_acquire) != 0)
		nam_co_park();
	for (unsigned i = 0; i < n; i++) {
		struct leg *l = &j->leg[i];
		/* It may still be posting to us, who must not end before. */
		if (l->started)
			pthread_join(l->thread, NULL);
		/* That it lives is worth more than that another node cannot tell. */
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
		return nam_fail(err, NAM_NOMEM, "no memory to shut a process out");
	*j = (struct job){ .net = w->net, .identity = identity, .grace_ns = grace_ns, .co = nam_co_self() };
	nam_status st = grace_ns != 0 ? all_nodes(j, err) : NAM_OK;
	/* Where a node could not ask, the process may live, and it would take that node, too, to
	 * come to a conclusion. */
	if (st == NAM_OK) {
		j->grace_ns = 0;
		st = all_nodes(j, err);
	}
	free(j);
	if (local && net_lives_here(identity) && st == NAM_OK)
		st = nam_fail(err, NAM_UNSUPPORTED, "who is to be shut out lives in this very process");
	return st;
}
