/*
 * ring_qp.c -- the shard's end of a queue pair for answers: it WRITEs into a client's response ring
 * (net/ring/channel_verbs.c).
 *
 * Made by the server's thread when the client comes with its token (verbs.c), then given to a shard
 * with the connection beside it; from then on only that shard touches it. One exception: when the
 * device reports that the queue pair has ended, the server's thread ends the connection beside it
 * (sn_ring_qp_gone) while it holds that event. rdma_destroy_id waits for the event, so the shard
 * cannot free the queue pair meanwhile.
 */
#include <net/provider/rdma.h>
#include <storage_node/ring_qp.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { DEPTH = 128, SIGNAL_EVERY = 16, INLINE = 128 };

struct sn_ring_qp {
	struct sn_qp_tag tag; /* first */
	struct rdma_cm_id *id;
	struct ibv_pd *pd; /* the server's */
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	int fd;           /* a duplicate of the connection beside it */
	bool imm, broken; /* imm: the device has WRITE_WITH_IMM */
	unsigned depth, inline_max, out, unsignaled;
};

struct sn_ring_qp *
sn_ring_qp_new(struct rdma_cm_id *id, struct ibv_pd *pd, int fd)
{
	struct sn_ring_qp *q = calloc(1, sizeof *q);
	struct net_rdma_caps caps;
	if (q == NULL)
		return NULL;
	q->tag.ring = true;
	q->fd = -1;
	q->pd = pd;
	if (!net_rdma_caps(id->verbs, &caps)) {
		errno = ENODEV;
		goto fail;
	}
	q->imm = caps.imm;
	q->depth = caps.wr_max < DEPTH ? caps.wr_max : DEPTH;
	struct ibv_qp_init_attr a = { .qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = q->depth, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 } };
	if ((q->cq = ibv_create_cq(id->verbs, (int)q->depth + 1, q, NULL, 0)) == NULL)
		goto fail;
	a.send_cq = a.recv_cq = q->cq;
	/* No call tells how many bytes a device takes inline: ask for fewer until it agrees. */
	for (unsigned want = INLINE;; want /= 2) {
		a.cap.max_inline_data = want;
		if (rdma_create_qp(id, pd, &a) == 0)
			break;
		if (want < 8)
			goto fail;
	}
	q->id = id;
	q->inline_max = a.cap.max_inline_data;
	if (q->depth > a.cap.max_send_wr)
		q->depth = a.cap.max_send_wr;
	if ((q->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0)) >= 0)
		return q;
	rdma_destroy_qp(id);
	q->id = NULL;
fail:;
	int why = errno;
	sn_ring_qp_free(q);
	errno = why;
	return NULL;
}

void
sn_ring_qp_free(struct sn_ring_qp *q)
{
	if (q == NULL)
		return;
	if (q->id != NULL && q->id->qp != NULL) {
		rdma_disconnect(q->id);
		rdma_destroy_qp(q->id);
	}
	if (q->cq != NULL)
		ibv_destroy_cq(q->cq);
	if (q->mr != NULL)
		ibv_dereg_mr(q->mr);
	if (q->id != NULL)
		rdma_destroy_id(q->id);
	if (q->fd >= 0)
		close(q->fd);
	free(q);
}

void
sn_ring_qp_gone(struct sn_ring_qp *q)
{
	shutdown(q->fd, SHUT_RDWR);
}

bool
sn_ring_qp_register(struct sn_ring_qp *q, void *mirror, uint32_t bytes)
{
	q->mr = ibv_reg_mr(q->pd, mirror, bytes, 0);
	return q->mr != NULL;
}

/* Gives places back. */
static void
reap(struct sn_ring_qp *q)
{
	struct ibv_wc wc[16];
	int n;
	while (!q->broken && q->out > 0 && (n = ibv_poll_cq(q->cq, 16, wc)) != 0) {
		q->broken = n < 0;
		for (int i = 0; i < n; i++) {
			q->broken |= wc[i].status != IBV_WC_SUCCESS;
			q->out -= (unsigned)wc[i].wr_id; /* it, and the unsignaled ones before it */
		}
	}
}

static bool
post(struct sn_ring_qp *q, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;
	q->out++;
	q->unsignaled++;
	if (q->unsignaled >= SIGNAL_EVERY || q->unsignaled >= q->depth / 4) {
		wr->wr_id = q->unsignaled;
		wr->send_flags |= IBV_SEND_SIGNALED;
		q->unsignaled = 0;
	}
	q->broken |= ibv_post_send(q->id->qp, wr, &bad) != 0;
	return !q->broken;
}

enum sn_sent
sn_ring_qp_write(
    struct sn_ring_qp *q, const void *from, uint32_t len, uint64_t to, uint32_t rkey, bool announce)
{
	reap(q);
	if (q->broken)
		return SN_BROKEN;
	if (q->out + 2 > q->depth)
		return SN_LATER;
	struct ibv_sge at = { (uintptr_t)from, len, q->mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &at,
		.num_sge = 1,
		.opcode = announce && q->imm ? IBV_WR_RDMA_WRITE_WITH_IMM : IBV_WR_RDMA_WRITE,
		.send_flags = len <= q->inline_max ? IBV_SEND_INLINE : 0,
		.wr.rdma = { .remote_addr = to, .rkey = rkey } };
	bool ok = post(q, &wr);
	/* Behind the WRITE on the same queue pair: the WRITE has arrived when this completes. */
	if (ok && announce && !q->imm) {
		struct ibv_sge any = { (uintptr_t)from, 8, q->mr->lkey };
		struct ibv_send_wr news = { .sg_list = &any, .num_sge = 1, .opcode = IBV_WR_SEND };
		ok = post(q, &news);
	}
	return ok ? SN_SENT : SN_BROKEN;
}
