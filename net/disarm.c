/*
 * disarm.c -- a struct net gives up its nodes' memory for ever; and open nets in a child of fork.
 *
 * Disarming makes the answer GIVEN_UP of net/wire.h true (W6). Any thread of the process may be in
 * the middle of a verb on mapped memory. Order: `disarmed` is set; then every mapping of a node's
 * memory is replaced, in one system call that leaves no hole, by private zero pages. The call
 * returns when no CPU uses the old translation: an instruction of a verb has touched the node's
 * memory before that, or touches a private page after it. In the second case the thread finds
 * `disarmed` set when it looks after the instruction (post.c does so after each verb in place; a
 * reader of net_direct calls net_direct_stands), and then trusts no byte it has read, and no WRITE.
 * Half a WRITE may be in the node's memory, as after a death. Verbs over connections are stopped by
 * the node, which closes the connections.
 *
 * A child of fork shares its parent's sockets, and would share its memory. Region mappings are not
 * inherited (MADV_DONTFORK). In the child, before fork returns, zero pages take their place, the
 * sockets are closed, so that the nodes see the parent's end at once, and every net is fenced.
 * vfork and posix_spawn need none of it: the sockets close with exec.
 */
#include <net/ring/channel.h>

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

static pthread_mutex_t open_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t fork_once = PTHREAD_ONCE_INIT;
static struct net *open_nets;

/* Replaces the mapping, at no moment leaving a hole. */
static bool
replace(struct net_node *node)
{
	return mmap(node->base, node->info.size, PROT_READ | PROT_WRITE,
		   MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) != MAP_FAILED;
}

static void
give_up(struct net *n, const char *why)
{
	const char *none = NULL;
	atomic_compare_exchange_strong(&n->why, &none, why);
	atomic_store(&n->fenced, true);
	atomic_store(&n->disarmed, true);
	for (unsigned i = 0; i < n->count; i++)
		net_node_set_lost(n->node[i]);
}

bool
net_disarm(struct net *n, const char *why)
{
	bool all = true;
	give_up(n, why);
	for (unsigned i = 0; i < n->count; i++)
		all &= !n->node[i]->mapped || replace(n->node[i]);
	return all;
}

/* ---- fork -------------------------------------------------------------------------- */

static void
before_fork(void)
{
	pthread_mutex_lock(&open_lock);
}

static void
after_fork(void)
{
	pthread_mutex_unlock(&open_lock);
}

static void
shut(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* The child does not have the parent's other threads: it abandons their state. */
static void
abandon(struct net *n)
{
	n->forked = true;
	give_up(n,
	    "this process was forked from one that had the cluster open: it has to open the cluster again");
	atomic_store(&n->asking, 0);
	pthread_mutex_init(&n->workers_lock, NULL);
	n->asked_fn = NULL;
	for (unsigned i = 0; i < n->count; i++) {
		shut(&n->node[i]->control_fd);
		shut(&n->node[i]->life_fd);
		if (n->node[i]->mapped)
			replace(n->node[i]);
	}
	for (struct net_worker *w = n->first_worker; w != NULL; w = w->next_worker) {
		/* With the parent's eventfd, each process would wake the other's worker. */
		int own = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		if (own >= 0 && w->wake_fd >= 0)
			dup3(own, w->wake_fd, O_CLOEXEC);
		shut(&own);
		for (unsigned i = 0; i < w->async_count; i++)
			if (w->async[i]->p->abandon != NULL)
				w->async[i]->p->abandon(w->async[i]);
		for (struct net_channel *ch = w->channels; ch != NULL; ch = ch->next) {
			shut(&ch->fd);
			ch->broken = true;
		}
	}
	net_monitor_abandon(n);
}

static void
in_child(void)
{
	pthread_mutex_init(&open_lock, NULL);
	for (struct net *n = open_nets; n != NULL; n = n->next_open)
		abandon(n);
}

static void
on_fork(void)
{
	pthread_atfork(before_fork, after_fork, in_child);
}

void
net_disarm_enlist(struct net *n)
{
	pthread_once(&fork_once, on_fork);
	pthread_mutex_lock(&open_lock);
	n->next_open = open_nets;
	open_nets = n;
	pthread_mutex_unlock(&open_lock);
}

void
net_disarm_delist(struct net *n)
{
	pthread_mutex_lock(&open_lock);
	for (struct net **p = &open_nets; *p != NULL; p = &(*p)->next_open)
		if (*p == n) {
			*p = n->next_open;
			break;
		}
	pthread_mutex_unlock(&open_lock);
}

bool
net_lives_here(uint64_t identity)
{
	pthread_mutex_lock(&open_lock);
	const struct net *n = open_nets;
	while (n != NULL && (!n->has_local || n->identity != identity))
		n = n->next_open;
	pthread_mutex_unlock(&open_lock);
	return n != NULL;
}
