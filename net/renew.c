/*
 * renew.c -- replaces a worker's connection to a node, while the worker's other coroutines go on.
 *
 * A thread of its own dials, since that may take as long as a node is given to answer; the owner
 * swaps the endpoints. The node ends the old connection when it grants the new one, and not before:
 * so a connection that is only silent may still bring answers. If the node's control connection has
 * also ended, a new one is opened with it.
 */
#include <net/remote_internal.h>

#include <pthread.h>
#include <unistd.h>

/* On the stack of the waiting coroutine. */
struct dial {
	struct net_endpoint fresh;
	bool watched; /* false: simulated, or in this very process: there is no connection to
		       * watch */
	int control;  /* -1 = the present one stays */
	struct net_grant grant;
	nam_status status;
	struct nam_err err;
	struct nam_co *co;
	atomic_bool done; /* release, with all above */
};

/* Only a grant can say that this process is fenced. Else the node may be full, or this connection
 * may have been reset as well. */
static nam_status
ask(struct net_node *node, int *control, struct net_grant *grant, struct nam_err *err)
{
	nam_status st = net_remote_connect(node, NET_ROLE_CONTROL, control, grant, err);
	return st == NAM_REFUSED && grant->verdict != NET_NO_MORE ? NAM_TIMEOUT : st;
}

static void
dial(struct dial *d)
{
	struct net_node *node = d->fresh.node;
	d->control = -1;
	nam_status st = d->fresh.p->open(&d->fresh, &d->err);
	if ((st == NAM_GONE || st == NAM_REFUSED) && d->watched) {
		/* A device may be gone, or the node is full: ask at its TCP port which. */
		struct nam_err why;
		d->status = ask(node, &d->control, &d->grant, &why);
		if (d->status == NAM_OK) {
			close(d->control);
			d->control = -1;
			d->status = NAM_TIMEOUT;
		}
		return;
	}
	if (st == NAM_OK && d->watched && !net_monitor_watches(node)) {
		st = ask(node, &d->control, &d->grant, &d->err);
		if (st != NAM_OK)
			d->fresh.p->close(&d->fresh);
		else
			net_remote_life(node, &d->grant);
	}
	d->status = st;
}

static void *
dial_main(void *arg)
{
	struct dial *d = arg;
	dial(d);
	atomic_store_explicit(&d->done, true, memory_order_release);
	nam_co_post(d->co);
	return NULL;
}

/* In a coroutine it parks, so the worker's loop turns. */
static void
dial_beside(struct dial *d)
{
	pthread_t thread;
	d->co = nam_co_self();
	if (!d->watched || d->co == NULL || pthread_create(&thread, NULL, dial_main, d) != 0) {
		dial(d);
		return;
	}
	while (!atomic_load_explicit(&d->done, memory_order_acquire))
		nam_co_park();
	/* The thread may still be posting to this worker, which must not end before. */
	pthread_join(thread, NULL);
}

nam_status
net_worker_reconnect(struct net_worker *w, unsigned region, struct nam_err *err)
{
	return net_worker_renew(w, region, 0, err);
}

nam_status
net_worker_renew(struct net_worker *w, unsigned region, uint32_t most_ms, struct nam_err *err)
{
	struct net_endpoint *ep = region < NET_REGIONS ? w->ep[region] : NULL;
	if (ep == NULL)
		return nam_fail(err, NAM_INVALID, "there is no storage node %u", region);
	if (atomic_load(&w->net->disarmed))
		return nam_fail(err, NAM_REFUSED, "%s", net_membership_why(w->net));
	if (ep->base != NULL || ep->p->poll == NULL)
		return nam_fail(
		    err, NAM_UNSUPPORTED, "storage node %u is not reached over a connection", region);
	struct dial d = { .fresh = *ep, .watched = w->net->monitor != NULL };
	d.fresh.priv = NULL;
	d.fresh.dial_ms = most_ms;
	dial_beside(&d);
	if (d.status != NAM_OK) {
		if (err != NULL)
			*err = d.err;
		return d.status;
	}
	/* All verbs that were out have ended. */
	ep->broke = true;
	ep->p->poll(ep);
	ep->p->close(ep);
	ep->priv = d.fresh.priv;
	ep->quiet_status = NAM_OK;
	ep->broke = false;
	net_monitor_mended(ep->node);
	if (d.control >= 0)
		net_monitor_renew(ep->node, d.control);
	else if (!d.watched)
		atomic_store_explicit(&ep->node->info.lost, false, memory_order_relaxed);
	return NAM_OK;
}
