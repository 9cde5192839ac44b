/*
 * channel_verbs.c -- rings over RDMA: the response ring is registered memory of ours that the shard
 * WRITEs.
 *
 * Requests go by the worker's own queue pair, in order with all else it WRITEs. Answers come by a
 * second one, which belongs to the shard at its end and to this channel here, so neither end shares
 * a queue pair between threads. The client only receives on it: a WRITE_WITH_IMM, or an empty
 * message if the device has no WRITE_WITH_IMM. Only the seal proves a message in the ring,
 * announced or not.
 */
#include <base/clock.h>
#include <net/handshake.h>
#include <net/provider/rdma.h>
#include <net/provider/verbs_format.h>
#include <net/remote_internal.h>
#include <net/ring/channel.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { RECVS = 64, ACK_AT = 1000 };

struct ring_qp {
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_comp_channel *done;
	struct ibv_cq *cq;
	unsigned events; /* of done, not acknowledged yet */
	bool ended;      /* the connection beside it is over */
	struct ibv_mr *news_mr;
	uint64_t news; /* buffer for empty messages: some devices need one */
};

static void
qp_free(struct ring_qp *q)
{
	if (q->id != NULL && q->id->qp != NULL) {
		rdma_disconnect(q->id);
		rdma_destroy_qp(q->id);
	}
	if (q->cq != NULL) {
		ibv_ack_cq_events(q->cq, q->events);
		ibv_destroy_cq(q->cq);
	}
	if (q->done != NULL)
		ibv_destroy_comp_channel(q->done);
	if (q->mr != NULL)
		ibv_dereg_mr(q->mr);
	if (q->news_mr != NULL)
		ibv_dereg_mr(q->news_mr);
	if (q->pd != NULL)
		ibv_dealloc_pd(q->pd);
	if (q->id != NULL)
		rdma_destroy_id(q->id);
	if (q->ch != NULL)
		rdma_destroy_event_channel(q->ch);
	free(q);
}

static bool
post_recv(struct ring_qp *q)
{
	struct ibv_sge at = { (uintptr_t)&q->news, sizeof q->news, q->news_mr->lkey };
	struct ibv_recv_wr wr = { .sg_list = &at, .num_sge = 1 }, *bad;
	return ibv_post_recv(q->id->qp, &wr, &bad) == 0;
}

static bool
verbs_pull(struct net_channel *ch, const char **why)
{
	struct ring_qp *q = ch->priv;
	struct ibv_wc wc[16];
	int n;
	if (q->ended) {
		*why = "the connection was closed";
		return false;
	}
	while ((n = ibv_poll_cq(q->cq, 16, wc)) > 0)
		for (int i = 0; i < n; i++)
			if (wc[i].status != IBV_WC_SUCCESS || !post_recv(q)) {
				*why = "its queue pair has ended";
				return false;
			}
	if (n < 0)
		*why = "its completion queue is broken";
	return n >= 0 && net_channel_hear(ch, why);
}

/* Takes the events that have come and asks for the next: messages announced before are to be looked
 * for once more. */
static int
verbs_arm(struct net_channel *ch)
{
	struct ring_qp *q = ch->priv;
	struct pollfd p = { .fd = q->done->fd, .events = POLLIN };
	char byte;
	while (poll(&p, 1, 0) == 1) {
		struct ibv_cq *cq;
		void *tag;
		if (ibv_get_cq_event(q->done, &cq, &tag) != 0)
			break;
		if (++q->events >= ACK_AT) {
			ibv_ack_cq_events(q->cq, q->events);
			q->events = 0;
		}
	}
	ssize_t n = recv(ch->fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK);
	q->ended |=
	    n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR) || ibv_req_notify_cq(q->cq, 0) != 0;
	if (n > 0)
		ch->heard_ns = 0; /* a word */
	return q->done->fd;
}

static void
verbs_close(struct net_channel *ch)
{
	if (ch->priv != NULL)
		qp_free(ch->priv);
}

static const struct net_channel_ops verbs_ops = {
	.pull = verbs_pull, .tell = net_channel_tell, .arm = verbs_arm, .close = verbs_close
};

/* ---- opening ----------------------------------------------------------------------------- */

static nam_status
make_qp(struct ring_qp *q, struct net_channel *ch, struct nam_err *err)
{
	const char *name = ch->ep->node->info.name;
	struct ibv_qp_init_attr a = { .qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 1, .max_recv_wr = RECVS, .max_send_sge = 1, .max_recv_sge = 1 } };
	if ((q->pd = ibv_alloc_pd(q->id->verbs)) == NULL ||
	    (q->done = ibv_create_comp_channel(q->id->verbs)) == NULL ||
	    (q->cq = ibv_create_cq(q->id->verbs, RECVS + 1, q, q->done, 0)) == NULL)
		return nam_fail(
		    err, NAM_IO, "%s: the RDMA device gives no queues for rings: %s", name, strerror(errno));
	q->mr = ibv_reg_mr(q->pd, ch->in.ring, ch->in_most, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	q->news_mr = ibv_reg_mr(q->pd, &q->news, sizeof q->news, IBV_ACCESS_LOCAL_WRITE);
	if (q->mr == NULL || q->news_mr == NULL)
		return nam_fail(err, NAM_NOMEM,
		    "%s: cannot register a ring of %u KiB: %s; raise the memlock limit (ulimit -l unlimited)",
		    name, ch->in_most >> 10, strerror(errno));
	a.send_cq = a.recv_cq = q->cq;
	if (rdma_create_qp(q->id, q->pd, &a) != 0)
		return nam_fail(err, NAM_IO, "%s: the RDMA device gives no queue pair for rings: %s", name,
		    strerror(errno));
	for (unsigned i = 0; i < RECVS; i++)
		if (!post_recv(q))
			return nam_fail(
			    err, NAM_IO, "%s: the RDMA device takes no receives: %s", name, strerror(errno));
	return NAM_OK;
}

static nam_status
connect_qp(struct ring_qp *q, struct net_channel *ch, const struct net_grant *grant, uint64_t until,
    struct nam_err *err)
{
	struct net_node *node = ch->ep->node;
	const char *name = node->info.name, *from = node->net->rdma_from;
	char port[8];
	snprintf(port, sizeof port, "%u", grant->rdma_port);
	if ((q->ch = net_rdma_channel()) == NULL || rdma_create_id(q->ch, &q->id, q, RDMA_PS_TCP) != 0)
		return nam_fail(err, NAM_UNSUPPORTED, "no RDMA devices here (%s)", strerror(errno));
	nam_status st =
	    net_rdma_resolve(q->ch, q->id, *from != '\0' ? from : NULL, grant->rdma, port, until, name, err);
	if (st != NAM_OK)
		return st;
	net_rdma_timeout(q->id);
	if ((st = make_qp(q, ch, err)) != NAM_OK)
		return st;
	struct net_verbs_hello hello = { .magic = NET_VERBS_MAGIC, .region = node->info.region };
	memcpy(hello.token, grant->token, sizeof hello.token);
	struct rdma_conn_param p = { .private_data = &hello,
		.private_data_len = sizeof hello,
		.initiator_depth = 1,
		.responder_resources = 1,
		.retry_count = NET_RDMA_RETRY,
		.rnr_retry_count = 7 };
	struct rdma_cm_event *e;
	if (rdma_connect(q->id, &p) != 0)
		return nam_fail(err, errno == EADDRINUSE ? NAM_BUSY : NAM_GONE, "%s: no RDMA connection: %s",
		    name, strerror(errno));
	if ((st = net_rdma_expect(q->ch, RDMA_CM_EVENT_ESTABLISHED, until, name, &e, err)) == NAM_OK)
		rdma_ack_cm_event(e);
	return st;
}

static nam_status
try_open(struct net_channel *ch, unsigned service, uint64_t until, struct nam_err *err)
{
	struct net_grant grant;
	struct ring_qp *q = calloc(1, sizeof *q);
	if (q == NULL)
		return nam_fail(err, NAM_NOMEM, "no memory for a channel");
	nam_status st = net_remote_connect(ch->ep->node, NET_ROLE_RINGS_VERBS, &ch->fd, &grant, err);
	if (st == NAM_OK)
		st = connect_qp(q, ch, &grant, until, err);
	if (st == NAM_OK)
		st = net_channel_ask(ch, NET_RING_VERBS, service, q->mr->rkey, until, err);
	if (st == NAM_OK) {
		ch->priv = q;
		ch->ops = &verbs_ops;
		return NAM_OK;
	}
	qp_free(q);
	if (ch->fd >= 0)
		close(ch->fd);
	ch->fd = -1;
	return st;
}

nam_status
net_channel_open_verbs(struct net_channel *ch, unsigned service, uint64_t until, struct nam_err *err)
{
	ch->in.ring = calloc(1, ch->in_most);
	ch->in_ours = true;
	if (ch->in.ring == NULL)
		return nam_fail(err, NAM_NOMEM, "no memory for a channel");
	nam_status st;
	/* soft-iWARP takes a port of this host that another process may have taken just before. */
	while ((st = try_open(ch, service, until, err)) == NAM_BUSY && nam_clock_ns() < until) {
		struct timespec nap = { 0, 5000000 };
		nanosleep(&nap, NULL);
	}
	return st == NAM_BUSY ? NAM_GONE : st;
}
