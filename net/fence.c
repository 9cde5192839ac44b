/*
 * fence.c -- net_fence_process in the real world: every node is asked, by a thread of its own so that no worker waits.
 *
 * A node asked over the wire answers as wire.h's W3 says, and it alone can know. A region of this very process
 * can be touched by this process only, so it is enough that nobody here has that identity.
 */
#include <net/remote_internal.h>

#include <base/assert.h>
#include <pthread.h>

/* Nets of this process that execute on its own regions. */
static pthread_mutex_t here_lock = PTHREAD_MUTEX_INITIALIZER;
static struct net *here;

void
net_fence_enlist(struct net *n)
{
	pthread_mutex_lock(&here_lock);
	n->next_here = here;
	here = n;
	pthread_mutex_unlock(&here_lock);
}

void
net_fence_delist(struct net *n)
{
	pthread_mutex_lock(&here_lock);
	for (struct net **p = &here; *p != NULL; p = &(*p)->next_here)
		if (*p == n) {
			*p = n->next_here;
			break;
		}
	pthread_mutex_unlock(&here_lock);
}

static bool
lives_here(uint64_t identity)
{
	pthread_mutex_lock(&here_lock);
	const struct net *n = here;
	while (n != NULL && n->identity != identity)
		n = n->next_here;
	pthread_mutex_unlock(&here_lock);
	return n != NULL;
}

/* On the stack of the coroutine that waits for it. */
struct job {
	struct net *net;
	uint64_t identity;
	struct nam_co *co;
	nam_status status;
	struct nam_err err;
	atomic_bool done; /* release, with status and err */
};

static void *
ask_all(void *arg)
{
	struct job *j = arg;
	struct nam_err err;
	j->status = NAM_OK;
	/* All of them, also behind one that fails: the fewer nodes are left to a zombie, the better. */
	for (unsigned i = 0; i < j->net->count; i++) {
		struct net_node *node = j->net->node[i];
		nam_status st = NAM_OK;
		if (node->host[0] != '\0')
			st = net_remote_fence(node, j->identity, &err);
		else if (lives_here(j->identity))
			st = nam_fail(
			    &err, NAM_UNSUPPORTED, "who is to be shut out lives in this very process");
		if (st != NAM_OK && j->status == NAM_OK) {
			j->status = st;
			j->err = err;
		}
	}
	atomic_store_explicit(&j->done, true, memory_order_release);
	nam_co_post(j->co);
	return NULL;
}

nam_status
net_real_fence(struct net_worker *w, uint64_t identity, uint64_t grace_ns, struct nam_err *err)
{
	(void)grace_ns;
	struct job j = { .net = w->net, .identity = identity, .co = nam_co_self() };
	pthread_t thread;
	if (pthread_create(&thread, NULL, ask_all, &j) != 0)
		return nam_fail(err, NAM_NOMEM, "no memory to shut a process out");
	while (!atomic_load_explicit(&j.done, memory_order_acquire))
		nam_co_park();
	/* It may still be posting to us, who must not end before. */
	pthread_join(thread, NULL);
	if (j.status != NAM_OK && err != NULL)
		*err = j.err;
	return j.status;
}
