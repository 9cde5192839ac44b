/* at_node.c -- one storage node, its READs, and away again. */
#include "at_node.h"

struct visit {
	nam_status (*fn)(struct net_worker *w, const struct net_node_info *node, void *arg);
	void *arg;
	struct net_worker *w;
	const struct net_node_info *node;
	nam_status status;
};

static void
visit(void *arg)
{
	struct visit *v = arg;
	v->status = v->fn(v->w, v->node, v->arg);
}

nam_status
cli_at_node(const char *address, const struct net_config *cfg,
    nam_status (*fn)(struct net_worker *w, const struct net_node_info *node, void *arg), void *arg,
    struct nam_err *err)
{
	struct net_config one = *cfg;
	struct visit v = { .fn = fn, .arg = arg };
	struct net *net;
	one.storage = address;
	nam_status st = net_open(&net, &one, err);
	if (st != NAM_OK)
		return st;
	v.node = net_node(net, 0);
	st = net_worker_open(net, &v.w, err);
	if (st == NAM_OK) {
		if (nam_co_start(net_worker_sched(v.w), visit, &v, 0) == NULL)
			v.status = nam_fail(err, NAM_NOMEM, "no memory");
		else
			net_worker_run(v.w, NULL, NULL);
		net_worker_close(v.w);
		st = v.status;
	}
	net_close(net);
	return st;
}
