/*
 * verbs.c -- the provider for RDMA devices: one reliable queue pair per worker and node, through
 * librdmacm.
 *
 * A post only queues; the doorbell (ring) turns what is queued into one chain of work requests, as
 * far as credits go: places in the send queue, READs and atomics that the two ends agreed on, room
 * for staging, and a cap that adapts to the device. Completions give credits back and send the
 * remaining queue.
 *
 * The device reads and writes registered memory only: `stage`, a ring. A WRITE that is not inline
 * is copied into it, a READ is copied out of it. A queue pair executes and completes in order, so
 * one signaled completion proves everything before it: staging, buffers and places are given back
 * then, never earlier. Only requests that a coroutine waits for, and one in every so many, are
 * signaled.
 *
 * Allocates when a worker connects, and when more is queued than ever was before.
 */
#include <base/assert.h>
#include <base/clock.h>
#include <net/load.h>
#include <net/provider/rdma.h>
#include <net/provider/verbs_format.h>
#include <net/remote_internal.h>
#include <net/ring/channel.h>

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
	STAGE = 2 << 20, /* of staging, unless the machine has little memory */
	STAGE_LEAST = 512 << 10,
	PIECE = 128 << 10, /* longer READs and WRITEs go in pieces */
	SHORT = 64,        /* and READs that are not longer, where a page ends (caps.page_reads) */
	PAGE = 4096,
	DEPTH = 256, /* work requests out on one queue pair */
	CHAIN = 32,  /* work requests of one doorbell */
	SIGNAL_EVERY = 32,
	INLINE = 128, /* asked of the device; it may grant less */
	QUEUE_FIRST = 256,
	RECVS = 4,
	RECV_BYTES = 64,
	FLUSH_AT = 1024,    /* of staging: the target of flushes, which is never read */
	STAGE_FIRST = 4096, /* staging begins here */
	CAP_MIN = 8,
	CAP_EPOCH = 512, /* completions between two looks at the cap */
	WONDER_NS = 10000000,
};
static const uint64_t wr_recv = UINT64_MAX;

/* An op that was posted: to be turned into work requests. Copies the fields that may change before
 * it is sent. */
struct want {
	struct net_batch *b; /* NULL: quiet, no completion is reported */
	struct net_op *op;
	uint8_t code, flags;
	uint32_t len, sent; /* bytes that are in work requests already */
	uint64_t at, arg, wanted;
	const char *from; /* WRITE: NULL if the bytes are in the op itself */
	char here[NET_INLINE_MAX];
};

enum kind { FLY_READ, FLY_WRITE, FLY_ATOMIC, FLY_FLUSH, FLY_ASK };

/* A work request that is out. */
struct fly {
	struct net_batch *b; /* gets this completion; NULL = none */
	struct net_op *op;
	char *into; /* READ: where the piece goes */
	uint32_t stage, len, took;
	uint8_t kind, code;
	bool quiet, rd;
};

struct verbs {
	int fd; /* the TCP connection beside it: the queue pair ends with it */
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id;
	struct ibv_context *held;
	struct ibv_td *td;
	struct ibv_pd *pd, *parent;
	struct ibv_comp_channel *done;
	struct ibv_cq *cq;
	unsigned events; /* of done, not acknowledged yet */
	struct ibv_mr *mr;
	struct net_rdma_caps caps;
	uint64_t base; /* of the region, there */
	uint32_t rkey;
	bool device_atomics;
	unsigned inline_max, depth, rd_max, signal_every;

	bool broken, removed; /* removed: the device itself */
	uint64_t progress_ns, timeout_ns, wondered_ns;
	/* posted, not in work requests yet: queue[head .. tail), modulo cap */
	struct want *queue;
	size_t head, tail, queue_cap;
	/* out: fly[gone .. next), modulo DEPTH; the number is the wr_id */
	struct fly fly[DEPTH];
	uint64_t gone, next, sent; /* sent: completed before this one, asks that wait for a reply
				    * included */
	unsigned unsignaled, rd_out, rd_unsignaled;
	/* staging, bytes ever taken and given back */
	char *stage;
	size_t stage_len;
	uint64_t taken, given;
	/* an ask that waits for its reply; nothing leaves until then */
	bool asking, replied;
	struct net_verbs_reply reply;
	/* how many to have out: climbs while that helps */
	unsigned cap, cap_done;
	int cap_step;
	bool cap_met;
	uint64_t cap_since_ns;
	double cap_rate;
};

static void
break_off(struct net_endpoint *ep, const char *why)
{
	struct verbs *v = ep->priv;
	if (v->broken)
		return;
	v->broken = true;
	net_node_broke(ep, why);
}

/* ---- connecting ------------------------------------------------------------------ */

/*
 * Gives all resources back to the device. After that no posted request is sent, and no bytes arrive
 * in our memory. The removal of a device waits for this.
 */
static void
let_go(struct verbs *v)
{
	if (v->id != NULL && v->id->qp != NULL) {
		rdma_disconnect(v->id);
		rdma_destroy_qp(v->id);
	}
	if (v->cq != NULL) {
		ibv_ack_cq_events(v->cq, v->events);
		ibv_destroy_cq(v->cq);
	}
	if (v->done != NULL)
		ibv_destroy_comp_channel(v->done);
	if (v->mr != NULL)
		ibv_dereg_mr(v->mr);
	if (v->parent != NULL)
		ibv_dealloc_pd(v->parent);
	if (v->td != NULL)
		ibv_dealloc_td(v->td);
	if (v->pd != NULL)
		ibv_dealloc_pd(v->pd);
	if (v->id != NULL)
		rdma_destroy_id(v->id);
	if (v->ch != NULL)
		rdma_destroy_event_channel(v->ch);
	if (v->fd >= 0)
		close(v->fd);
	if (v->held != NULL)
		net_rdma_release(v->held, v->removed);
	v->held = NULL;
	v->cq = NULL;
	v->done = NULL;
	v->mr = NULL;
	v->parent = v->pd = NULL;
	v->td = NULL;
	v->id = NULL;
	v->ch = NULL;
	v->fd = -1;
	v->events = 0;
}

static void
verbs_free(struct verbs *v)
{
	let_go(v);
	if (v->stage != NULL)
		munmap(v->stage, v->stage_len);
	free(v->queue);
	free(v);
}

/* A doorbell of its own for this worker if the device has them; else a shared one. */
static struct ibv_pd *
own_doorbell(struct verbs *v)
{
	struct ibv_td_init_attr ta = { 0 };
	v->td = ibv_alloc_td(v->id->verbs, &ta);
	if (v->td == NULL)
		return v->pd;
	struct ibv_parent_domain_init_attr pa = { .pd = v->pd, .td = v->td };
	v->parent = ibv_alloc_parent_domain(v->id->verbs, &pa);
	return v->parent != NULL ? v->parent : v->pd;
}

static bool
post_recv(struct verbs *v, unsigned slot)
{
	struct ibv_sge at = { (uintptr_t)(v->stage + slot * RECV_BYTES), RECV_BYTES, v->mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = wr_recv - slot, .sg_list = &at, .num_sge = 1 }, *bad;
	return ibv_post_recv(v->id->qp, &wr, &bad) == 0;
}

static bool
is_recv(uint64_t wr_id)
{
	return wr_id > wr_recv - RECVS;
}

static nam_status
make_queue_pair(struct verbs *v, const char *name, struct nam_err *err)
{
	const char *what = "a protection domain";
	if ((v->pd = ibv_alloc_pd(v->id->verbs)) == NULL)
		goto fail;
	struct ibv_pd *pd = own_doorbell(v);
	v->mr = ibv_reg_mr(v->pd, v->stage, v->stage_len, IBV_ACCESS_LOCAL_WRITE);
	if (v->mr == NULL)
		return net_rdma_unregistered(err, v->caps.device, name, v->stage_len, "");
	what = "a completion queue";
	v->depth = v->caps.wr_max < DEPTH ? v->caps.wr_max : DEPTH;
	if ((v->done = ibv_create_comp_channel(v->id->verbs)) == NULL ||
	    (v->cq = ibv_create_cq(v->id->verbs, (int)v->depth + RECVS, v, v->done, 0)) == NULL)
		goto fail;
	what = "a queue pair";
	struct ibv_qp_init_attr a = { .qp_type = IBV_QPT_RC,
		.send_cq = v->cq,
		.recv_cq = v->cq,
		.cap = {
		    .max_send_wr = v->depth, .max_recv_wr = RECVS, .max_send_sge = 1, .max_recv_sge = 1 } };
	/* No call tells how many bytes a device takes inline: ask for fewer until it agrees. */
	for (unsigned want = INLINE;; want /= 2) {
		a.cap.max_inline_data = want;
		if (rdma_create_qp(v->id, pd, &a) == 0)
			break;
		if (want < 8)
			goto fail;
	}
	v->inline_max = a.cap.max_inline_data;
	if (v->depth > a.cap.max_send_wr)
		v->depth = a.cap.max_send_wr;
	for (unsigned i = 0; i < RECVS; i++)
		if (!post_recv(v, i)) {
			what = "a receive";
			goto fail;
		}
	return NAM_OK;
fail:
	return nam_fail(
	    err, NAM_IO, "%s: %s gives no %s: %s", name, v->caps.device, what + 2, strerror(errno));
}

static nam_status
connect_queue_pair(struct verbs *v, struct net_node *node, const struct net_grant *grant, uint64_t until,
    struct nam_err *err)
{
	const char *name = node->info.name, *from = node->net->rdma_from;
	char port[8];
	snprintf(port, sizeof port, "%u", grant->rdma_port);
	if ((v->ch = net_rdma_channel()) == NULL || rdma_create_id(v->ch, &v->id, v, RDMA_PS_TCP) != 0)
		return nam_fail(err, NAM_UNSUPPORTED,
		    "no RDMA devices here (%s); use --fabric tcp, or see namdb doctor", strerror(errno));
	nam_status st =
	    net_rdma_resolve(v->ch, v->id, *from != '\0' ? from : NULL, grant->rdma, port, until, name, err);
	if (st != NAM_OK)
		return st;
	if (!net_rdma_caps(v->id->verbs, &v->caps))
		return nam_fail(err, NAM_GONE, "%s: the RDMA device does not answer", name);
	v->held = v->id->verbs;
	net_rdma_hold(v->id);
	net_rdma_timeout(v->id);
	if ((st = make_queue_pair(v, name, err)) != NAM_OK)
		return st;
	struct net_verbs_hello hello = { .magic = NET_VERBS_MAGIC, .region = node->info.region };
	memcpy(hello.token, grant->token, sizeof hello.token);
	struct rdma_conn_param p = { .private_data = &hello,
		.private_data_len = sizeof hello,
		.initiator_depth = (uint8_t)v->caps.rd_out,
		.responder_resources = 1, /* the peer READs nothing from us */
		.retry_count = NET_RDMA_RETRY,
		.rnr_retry_count = 7 };
	struct rdma_cm_event *e;
	if (rdma_connect(v->id, &p) != 0)
		return nam_fail(err, errno == EADDRINUSE ? NAM_BUSY : NAM_GONE, "%s: no RDMA connection: %s",
		    name, strerror(errno));
	if ((st = net_rdma_expect(v->ch, RDMA_CM_EVENT_ESTABLISHED, until, name, &e, err)) != NAM_OK)
		return st;
	struct net_verbs_offer offer = { 0 };
	if (e->param.conn.private_data_len >= sizeof offer)
		memcpy(&offer, e->param.conn.private_data, sizeof offer);
	v->rd_max = e->param.conn.initiator_depth;
	if (v->rd_max == 0 || v->rd_max > v->caps.rd_out)
		v->rd_max = v->caps.rd_out;
	rdma_ack_cm_event(e);
	if (offer.magic != NET_VERBS_MAGIC || offer.incarnation != node->info.incarnation ||
	    offer.size != node->info.size)
		return nam_fail(err, NAM_REFUSED, "%s offers another region over RDMA than over TCP", name);
	v->base = offer.base;
	v->rkey = offer.rkey;
	v->device_atomics = offer.device_atomics != 0;
	if (v->device_atomics && !v->caps.atomics)
		return nam_fail(err, NAM_UNSUPPORTED,
		    "%s has its atomics done by its device, and %s here has none; use --fabric tcp", name,
		    v->caps.device);
	return NAM_OK;
}

/* One request, waited for; before the first op. */
static nam_status
test_one(struct verbs *v, enum ibv_wr_opcode code, uint64_t offset, uint32_t len, uint64_t arg,
    const char *name, uint64_t until, struct nam_err *err)
{
	struct ibv_sge sge = { (uintptr_t)(v->stage + STAGE_FIRST), len, v->mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge,
		.num_sge = 1,
		.opcode = code,
		.send_flags = IBV_SEND_SIGNALED },
			   *bad;
	if (code == IBV_WR_RDMA_READ) {
		wr.wr.rdma.remote_addr = v->base + offset;
		wr.wr.rdma.rkey = v->rkey;
	} else {
		wr.wr.atomic.remote_addr = v->base + offset;
		wr.wr.atomic.rkey = v->rkey;
		wr.wr.atomic.compare_add = wr.wr.atomic.swap = arg;
	}
	struct ibv_wc wc = { 0 };
	int rc = ibv_post_send(v->id->qp, &wr, &bad);
	if (rc != 0)
		return nam_fail(err, NAM_GONE, "%s: %s does not take a request: %s", name, v->caps.device,
		    strerror(rc < 0 ? -rc : rc));
	while ((rc = ibv_poll_cq(v->cq, 1, &wc)) == 0) {
		if (nam_clock_ns() >= until)
			return nam_fail(err, NAM_GONE, "%s does not answer over RDMA in time", name);
		struct timespec nap = { 0, 20000 };
		nanosleep(&nap, NULL);
	}
	if (rc < 0 || wc.status != IBV_WC_SUCCESS)
		return nam_fail(err, NAM_GONE, "%s: an RDMA request failed: %s", name,
		    rc < 0 ? "the completion queue is broken" : ibv_wc_status_str(wc.status));
	return NAM_OK;
}

/* READs the superblock, CASes a known word with itself: tests that the memory is there and that
 * atomics answer in our byte order. */
static nam_status
self_test(struct verbs *v, struct net_node *node, uint64_t until, struct nam_err *err)
{
	const char *name = node->info.name;
	nam_status st = test_one(v, IBV_WR_RDMA_READ, 0, 64, 0, name, until, err);
	const struct net_super *super = (const void *)(v->stage + STAGE_FIRST);
	if (st == NAM_OK && (super->magic != NET_MAGIC || super->region != node->info.region ||
				super->incarnation != node->info.incarnation))
		st = nam_fail(err, NAM_REFUSED, "%s: its RDMA address leads to another memory", name);
	if (st != NAM_OK || !v->device_atomics)
		return st;
	st = test_one(
	    v, IBV_WR_ATOMIC_CMP_AND_SWP, offsetof(struct net_super, magic), 8, NET_MAGIC, name, until, err);
	uint64_t seen;
	memcpy(&seen, v->stage + STAGE_FIRST, 8);
	if (st == NAM_OK && seen != NET_MAGIC)
		st = nam_fail(err, NAM_UNSUPPORTED,
		    "%s: %s answers a compare-and-swap of %016llx with %016llx%s; its atomics cannot be "
		    "used, use "
		    "--fabric tcp",
		    name, v->caps.device, (unsigned long long)NET_MAGIC, (unsigned long long)seen,
		    seen == __builtin_bswap64(NET_MAGIC) ? " (big-endian)" : "");
	return st;
}

static nam_status
try_open(struct net_endpoint *ep, uint64_t until, struct nam_err *err)
{
	struct net_node *node = ep->node;
	struct verbs *v = calloc(1, sizeof *v);
	if (v == NULL)
		return nam_fail(err, NAM_NOMEM, "no memory for a connection");
	v->fd = -1;
	v->queue = malloc((v->queue_cap = QUEUE_FIRST) * sizeof *v->queue);
	v->stage_len = net_buffer_size(STAGE, STAGE_LEAST);
	void *stage = mmap(NULL, v->stage_len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	v->stage = stage != MAP_FAILED ? stage : NULL;
	struct net_grant grant;
	nam_status st = NAM_OK;
	if (v->queue == NULL || v->stage == NULL)
		st = nam_fail(err, NAM_NOMEM, "no memory for a connection");
	if (st == NAM_OK)
		st = net_remote_connect_endpoint(ep, NET_ROLE_VERBS, &v->fd, &grant, err);
	if (st == NAM_OK && grant.rdma[0] == '\0')
		st = nam_fail(
		    err, NAM_UNSUPPORTED, "%s does not offer RDMA; use --fabric tcp", node->info.name);
	if (st == NAM_OK)
		st = connect_queue_pair(v, node, &grant, until, err);
	if (st == NAM_OK)
		st = self_test(v, node, until, err);
	if (st != NAM_OK) {
		verbs_free(v);
		return st;
	}
	v->given = v->taken = STAGE_FIRST;
	v->timeout_ns = TIMEOUT_CONNECTS * (uint64_t)node->net->connect_ms * 1000000;
	v->signal_every = v->depth / 4 < SIGNAL_EVERY ? v->depth / 4 : SIGNAL_EVERY;
	v->cap = v->depth / 2;
	v->cap_step = 1;
	v->cap_since_ns = nam_clock_ns();
	ep->priv = v;
	return NAM_OK;
}

static nam_status
verbs_open(struct net_endpoint *ep, struct nam_err *err)
{
	uint64_t until = nam_clock_ns() + (uint64_t)ep->node->net->connect_ms * 1000000;
	nam_status st;
	/* soft-iWARP takes a port of this host that another process may have taken just before. */
	while ((st = try_open(ep, until, err)) == NAM_BUSY && nam_clock_ns() < until) {
		struct timespec nap = { 0, 5000000 };
		nanosleep(&nap, NULL);
	}
	return st == NAM_BUSY ? NAM_GONE : st;
}

static void
verbs_close(struct net_endpoint *ep)
{
	verbs_free(ep->priv);
	ep->priv = NULL;
}

/* ---- sending ------------------------------------------------------------------------ */

/* Room for len bytes in one piece, or NULL. *took is the amount to give back. */
static char *
stage_take(struct verbs *v, uint32_t len, uint32_t *took)
{
	uint64_t room = v->stage_len - STAGE_FIRST;
	uint32_t need = (len + 63) & ~63u;
	uint64_t at = (v->taken - STAGE_FIRST) % room;
	uint32_t waste = at + need > room ? (uint32_t)(room - at) : 0;
	if (v->taken + waste + need - v->given > room)
		return NULL;
	char *p = v->stage + STAGE_FIRST + (waste != 0 ? 0 : at);
	*took = waste + need;
	v->taken += *took;
	return p;
}

/* One chain of work requests in the making. */
struct chain {
	struct ibv_send_wr wr[CHAIN + 1];
	struct ibv_sge sge[CHAIN + 1];
	unsigned n;
};

static struct ibv_send_wr *
chain_add(struct verbs *v, struct chain *c, struct fly f, void *at, uint32_t len)
{
	struct ibv_send_wr *wr = &c->wr[c->n];
	c->sge[c->n] = (struct ibv_sge){ (uintptr_t)at, len, v->mr->lkey };
	*wr = (struct ibv_send_wr){ .wr_id = v->next, .sg_list = &c->sge[c->n], .num_sge = len != 0 };
	if (c->n > 0)
		c->wr[c->n - 1].next = wr;
	c->n++;
	v->fly[v->next++ % DEPTH] = f;
	v->unsignaled++;
	if (f.rd) {
		v->rd_out++;
		v->rd_unsignaled++;
	}
	return wr;
}

static void
signal_last(struct verbs *v, struct chain *c)
{
	c->wr[c->n - 1].send_flags |= IBV_SEND_SIGNALED;
	v->unsignaled = v->rd_unsignaled = 0;
}

/* The next piece of the first op in the queue. False: no credit for it now. */
static bool
add_piece(struct verbs *v, struct chain *c, struct want *q)
{
	uint64_t there = v->base + net_offset_of((net_addr){ q->at }) + q->sent;
	unsigned fence = q->flags & NET_FENCE && q->sent == 0 ? IBV_SEND_FENCE : 0;
	/* If the device's fences cannot be relied on, wait here for the requests that the fence
	 * would wait for. */
	if (fence != 0 && !v->caps.fences) {
		if (v->rd_out != 0)
			return false;
		fence = 0;
	}
	struct fly f = { .op = q->op, .code = q->code, .quiet = q->b == NULL };
	struct ibv_send_wr *wr;
	bool atomic = q->code == NET_CAS || q->code == NET_FAA;
	bool ask =
	    atomic ? !v->device_atomics : q->code == NET_WRITE_IMM && !v->caps.imm && q->sent == q->len;
	if (ask && (q->code != NET_WRITE_IMM || q->sent == q->len)) {
		struct net_verbs_ask *a;
		f.kind = FLY_ASK;
		f.b = q->b;
		if ((a = (void *)stage_take(v, sizeof *a, &f.took)) == NULL)
			return false;
		*a = (struct net_verbs_ask){ q->code, q->at, q->arg, q->wanted };
		wr = chain_add(v, c, f, a, sizeof *a);
		wr->opcode = IBV_WR_SEND;
		wr->send_flags = fence;
		v->asking = true;
		v->replied = false;
		/* If completions of SENDs overtake those of READs, the reply proves all: it came by
		 * one stream. */
		if (!v->caps.early_writes)
			signal_last(v, c);
		q->sent = q->len + 1; /* all of it */
		return true;
	}
	/* If WRITEs complete early, each must be able to get a flush, which is a READ. */
	if ((atomic || q->code == NET_READ || v->caps.early_writes) && v->rd_out >= v->rd_max)
		return false;
	if (atomic) {
		char *at = stage_take(v, 8, &f.took);
		if (at == NULL)
			return false;
		f.kind = FLY_ATOMIC;
		f.b = q->b;
		f.rd = true;
		f.stage = (uint32_t)(at - v->stage);
		wr = chain_add(v, c, f, at, 8);
		wr->opcode = q->code == NET_CAS ? IBV_WR_ATOMIC_CMP_AND_SWP : IBV_WR_ATOMIC_FETCH_AND_ADD;
		wr->wr.atomic.remote_addr = there;
		wr->wr.atomic.rkey = v->rkey;
		wr->wr.atomic.compare_add = q->arg;
		wr->wr.atomic.swap = q->wanted;
		wr->send_flags = fence;
		q->sent = q->len + 1;
		return true;
	}
	uint32_t len = q->len - q->sent < PIECE ? q->len - q->sent : PIECE;
	if (q->code == NET_READ && v->caps.page_reads && len <= SHORT && PAGE - there % PAGE < len)
		len = (uint32_t)(PAGE - there % PAGE);
	bool last = q->sent + len == q->len;
	/* A WRITE_IMM that goes as a message ends with the message. */
	bool message = q->code == NET_WRITE_IMM && !v->caps.imm;
	f.len = len;
	f.b = last && !message ? q->b : NULL;
	if (q->code == NET_READ && len != 0) {
		char *at = stage_take(v, len, &f.took);
		if (at == NULL)
			return false;
		f.kind = FLY_READ;
		f.rd = true;
		f.stage = (uint32_t)(at - v->stage);
		f.into = (char *)q->op->buf + q->sent;
		wr = chain_add(v, c, f, at, len);
		wr->opcode = IBV_WR_RDMA_READ;
	} else {
		const char *from = q->from != NULL ? q->from + q->sent : q->here;
		bool fits = len <= v->inline_max;
		char *at = (char *)(uintptr_t)from;
		if (!fits) {
			if ((at = stage_take(v, len, &f.took)) == NULL)
				return false;
			memcpy(at, from, len);
		}
		f.kind = FLY_WRITE;
		wr = chain_add(v, c, f, at, len);
		wr->opcode = IBV_WR_RDMA_WRITE;
		if (last && q->code == NET_WRITE_IMM && v->caps.imm) {
			wr->opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
			wr->imm_data = htonl((uint32_t)q->arg);
		}
		wr->send_flags = fits && len != 0 ? IBV_SEND_INLINE : 0;
	}
	wr->wr.rdma.remote_addr = there;
	wr->wr.rdma.rkey = v->rkey;
	wr->send_flags |= fence;
	q->sent += len;
	if (last && !message)
		q->sent = q->len + 1;
	return true;
}

/*
 * On such a device a completion of a WRITE proves nothing, but a READ behind it does. If a
 * coroutine waits for the last of the chain, or if it has to prove earlier requests, it is
 * signaled.
 */
static void
seal(struct verbs *v, struct chain *c)
{
	const struct fly *f = &v->fly[(v->next - 1) % DEPTH];
	if (v->caps.early_writes && f->kind == FLY_WRITE) {
		struct fly flush = { .kind = FLY_FLUSH, .rd = true, .quiet = true };
		struct ibv_send_wr *wr = chain_add(v, c, flush, v->stage + FLUSH_AT, 8);
		wr->opcode = IBV_WR_RDMA_READ;
		wr->wr.rdma.remote_addr = v->base;
		wr->wr.rdma.rkey = v->rkey;
	}
	signal_last(v, c);
}

/* Turns the queue into work requests, as far as credits go, one doorbell per chain. */
static void
verbs_ring(struct net_endpoint *ep)
{
	struct verbs *v = ep->priv;
	/* One place is kept for the flush that early_writes needs. */
	unsigned spare = v->caps.early_writes ? 1 : 0;
	while (!v->broken && !v->asking && v->head != v->tail) {
		struct chain c;
		c.n = 0;
		bool stuck = false, owed = false;
		while (!stuck && c.n < CHAIN && !v->asking && v->head != v->tail) {
			uint64_t out = v->next - v->gone;
			/* The queue is stuck only if something out will complete: quiet ops alone
			 * are few and unsignaled. */
			if (v->unsignaled < out && (out + spare >= v->depth || out >= v->cap)) {
				v->cap_met |= out >= v->cap;
				stuck = true;
				break;
			}
			struct want *q = &v->queue[v->head & (v->queue_cap - 1)];
			if ((stuck = !add_piece(v, &c, q)))
				break;
			owed |= q->b != NULL;
			if (q->sent > q->len)
				v->head++;
			if (!v->asking && !v->caps.early_writes &&
			    (v->unsignaled >= v->signal_every || v->rd_unsignaled > v->rd_max / 2))
				signal_last(v, &c);
		}
		if (c.n == 0)
			break; /* completions will call again */
		/* Quiet ops alone need no completion yet; but a stuck queue needs completions to go
		 * on. */
		if (!v->asking && (c.wr[c.n - 1].send_flags & IBV_SEND_SIGNALED) == 0 &&
		    (owed || stuck || v->head != v->tail || v->caps.early_writes ||
			v->unsignaled >= v->signal_every))
			seal(v, &c);
		struct ibv_send_wr *bad = NULL;
		if (v->progress_ns == 0)
			v->progress_ns = nam_clock_ns(); /* the timeout begins */
		int rc = ibv_post_send(v->id->qp, c.wr, &bad);
		if (rc != 0) {
			break_off(ep, strerror(rc < 0 ? -rc : rc));
			return;
		}
		if (stuck)
			break;
	}
}

static bool
queue_grow(struct verbs *v)
{
	struct want *more = malloc(2 * v->queue_cap * sizeof *more);
	if (more == NULL)
		return false;
	size_t n = 0;
	while (v->head != v->tail)
		more[n++] = v->queue[v->head++ & (v->queue_cap - 1)];
	free(v->queue);
	v->queue = more;
	v->queue_cap *= 2;
	v->head = 0;
	v->tail = n;
	return true;
}

static void
verbs_post(struct net_endpoint *ep, struct net_batch *b, struct net_op *op)
{
	struct verbs *v = ep->priv;
	bool quiet = op->flags & NET_QUIET;
	nam_status st = v->broken                                             ? NAM_GONE
			: v->tail - v->head == v->queue_cap && !queue_grow(v) ? NAM_NOMEM
									      : NAM_OK;
	if (st != NAM_OK) {
		net_op_refuse(ep, b, op, st);
		return;
	}
	struct want *q = &v->queue[v->tail++ & (v->queue_cap - 1)];
	q->b = quiet ? NULL : b;
	q->op = quiet ? NULL : op;
	q->code = op->code;
	q->flags = op->flags;
	q->len = op->code == NET_CAS || op->code == NET_FAA ? 8 : op->len;
	q->sent = 0;
	q->at = op->at.bits;
	q->arg = op->arg;
	q->wanted = op->want;
	q->from = op->buf;
	if ((op->flags & NET_INLINE) != 0 && op->len != 0) {
		memcpy(q->here, op->buf, op->len);
		q->from = NULL;
	}
}

/* ---- completions ----------------------------------------------------------------------- */

/* The oldest work request is over. */
static int
finish_first(struct net_endpoint *ep, nam_status st)
{
	struct verbs *v = ep->priv;
	NAM_ASSERT(v->gone != v->next);
	struct fly *f = &v->fly[v->gone++ % DEPTH];
	v->given += f->took;
	v->rd_out -= f->rd;
	if (st == NAM_OK) {
		if (f->kind == FLY_READ)
			memcpy(f->into, v->stage + f->stage, f->len);
		else if (f->kind == FLY_ATOMIC && f->op != NULL)
			memcpy(&f->op->seen, v->stage + f->stage, 8);
		else if (f->kind == FLY_ASK && f->op != NULL)
			f->op->seen = v->reply.seen;
	} else if (f->quiet && f->kind != FLY_FLUSH) {
		net_quiet_failed(ep, st);
	}
	if (f->b == NULL)
		return 0;
	net_op_done(ep, f->b, f->op, st);
	return 1;
}

/* Adapts to the device: more requests out as long as that makes it faster, fewer when not. */
static void
adapt(struct verbs *v, unsigned done)
{
	v->cap_done += done;
	if (v->cap_done < CAP_EPOCH)
		return;
	uint64_t now = nam_clock_ns();
	double rate = (double)v->cap_done / (double)(now - v->cap_since_ns + 1);
	if (v->cap_met) {
		if (rate < v->cap_rate * 0.99)
			v->cap_step = -v->cap_step;
		unsigned by = v->cap / 8 + 1;
		if (v->cap_step > 0)
			v->cap = v->cap + by < v->depth ? v->cap + by : v->depth;
		else
			v->cap = v->cap > CAP_MIN + by ? v->cap - by : CAP_MIN;
	}
	v->cap_rate = rate;
	v->cap_met = false;
	v->cap_done = 0;
	v->cap_since_ns = now;
}

/* An ask is over when it has left and its reply is here. */
static int
finish_ask(struct net_endpoint *ep, bool sent)
{
	struct verbs *v = ep->priv;
	if (!sent || !v->replied)
		return 0;
	v->asking = false;
	if (v->reply.ok != 1)
		break_off(ep, "it does not understand a request");
	return finish_first(ep, v->reply.ok == 1 ? NAM_OK : NAM_GONE);
}

/* The first ask is out and nothing lies before it: its SEND has completed. */
static bool
ask_sent(const struct verbs *v, uint64_t proven)
{
	return v->asking && v->gone != v->next && v->fly[v->gone % DEPTH].kind == FLY_ASK && v->gone < proven;
}

/* The queue pair is broken; the channel or the device may know the cause. */
static void
failed(struct net_endpoint *ep, enum ibv_wc_status st)
{
	struct verbs *v = ep->priv;
	bool ended;
	const char *why = net_rdma_news(v->ch, v->id->verbs, &ended, &v->removed);
	break_off(ep, why != NULL ? why : net_rdma_failure(st));
}

static void
verbs_news(struct net_endpoint *ep)
{
	struct verbs *v = ep->priv;
	bool ended;
	if (v->broken)
		return;
	const char *why = net_rdma_news(v->ch, v->id->verbs, &ended, &v->removed);
	if (ended)
		break_off(ep, why);
}

static int
take(struct net_endpoint *ep, const struct ibv_wc *wc, uint64_t *proven)
{
	struct verbs *v = ep->priv;
	int done = 0;
	if (is_recv(wc->wr_id)) {
		unsigned slot = (unsigned)(wr_recv - wc->wr_id);
		if (wc->status != IBV_WC_SUCCESS) {
			failed(ep, wc->status);
			return 0;
		}
		if (!v->asking || v->replied || wc->byte_len != sizeof v->reply) {
			break_off(ep, "it answers what was not asked");
			return 0;
		}
		memcpy(&v->reply, v->stage + slot * RECV_BYTES, sizeof v->reply);
		v->replied = true;
		if (v->caps.early_writes) {
			v->unsignaled = v->rd_unsignaled = 0;
			*proven = v->next;
			while (v->fly[v->gone % DEPTH].kind != FLY_ASK)
				done += finish_first(ep, NAM_OK);
		}
		if (!post_recv(v, slot))
			break_off(ep, "the device takes no more receives");
		return done;
	}
	if (wc->wr_id < v->gone || wc->wr_id >= v->next) {
		break_off(ep, "the device completes what was not posted");
		return 0;
	}
	*proven = wc->status == IBV_WC_SUCCESS ? wc->wr_id + 1 : wc->wr_id;
	/* In order: everything before it has completed. */
	while (v->gone < *proven && v->fly[v->gone % DEPTH].kind != FLY_ASK)
		done += finish_first(ep, NAM_OK);
	if (wc->status != IBV_WC_SUCCESS)
		failed(ep, wc->status);
	return done;
}

/* Requests are out and nothing comes: the channel may know why; else the timeout ends them. */
static void
wonder(struct net_endpoint *ep)
{
	struct verbs *v = ep->priv;
	uint64_t now = nam_clock_ns();
	if (now - v->progress_ns > v->timeout_ns) {
		break_off(ep, "it does not answer any more");
	} else if (now - v->progress_ns > WONDER_NS && now - v->wondered_ns > WONDER_NS) {
		v->wondered_ns = now;
		verbs_news(ep);
	}
}

static int
verbs_poll(struct net_endpoint *ep)
{
	struct verbs *v = ep->priv;
	if (v->gone == v->next && v->head == v->tail && !v->broken)
		return 0;
	int done = 0, n = 0;
	while (!v->broken && v->gone != v->next) {
		struct ibv_wc wc[16];
		n = ibv_poll_cq(v->cq, 16, wc);
		if (n < 0)
			break_off(ep, "its completion queue is broken");
		if (n <= 0)
			break;
		v->progress_ns = nam_clock_ns();
		uint64_t proven = 0, before = v->gone;
		for (int i = 0; i < n && !v->broken; i++) {
			done += take(ep, &wc[i], &proven);
			if (proven > v->sent)
				v->sent = proven;
			if (ask_sent(v, v->sent))
				done += finish_ask(ep, true);
		}
		adapt(v, (unsigned)(v->gone - before));
		if (n < 16)
			break;
	}
	if (!v->broken && n == 0 && v->gone != v->next)
		wonder(ep);
	if (!v->broken && (net_node_lost(ep->node) || ep->broke))
		break_off(ep, "it was declared lost");
	if (!v->broken && v->head != v->tail)
		verbs_ring(ep);
	if (v->broken) {
		/* Requests that were out may or may not have executed, but execute no more; queued
		 * ones were not sent. */
		let_go(v);
		while (v->gone != v->next)
			done += finish_first(ep, NAM_GONE);
		while (v->head != v->tail) {
			struct want q = v->queue[v->head++ & (v->queue_cap - 1)];
			if (q.b != NULL) {
				net_op_done(ep, q.b, q.op, NAM_GONE);
				done++;
			} else {
				net_quiet_failed(ep, NAM_GONE);
			}
		}
	}
	if (v->gone == v->next)
		v->progress_ns = 0;
	return done;
}

static int
verbs_fd(struct net_endpoint *ep, short *events)
{
	struct verbs *v = ep->priv;
	if (v->broken || (v->gone == v->next && v->head == v->tail))
		return -1;
	/* Takes the events that have come, asks for the next, and looks once more: earlier
	 * completions raise no event. */
	struct pollfd p = { .fd = v->done->fd, .events = POLLIN };
	while (poll(&p, 1, 0) == 1) {
		struct ibv_cq *cq;
		void *tag;
		if (ibv_get_cq_event(v->done, &cq, &tag) != 0)
			break;
		if (++v->events >= 1000) {
			ibv_ack_cq_events(v->cq, v->events);
			v->events = 0;
		}
	}
	if (ibv_req_notify_cq(v->cq, 0) != 0) {
		break_off(ep, "its completion queue is broken");
		return -1;
	}
	verbs_poll(ep);
	*events = POLLIN;
	return v->broken ? -1 : v->done->fd;
}

static int
verbs_idle_fd(struct net_endpoint *ep)
{
	struct verbs *v = ep->priv;
	return v->broken ? -1 : v->ch->fd;
}

/* The queue pair is the parent's, and the child does not need its device's descriptors: closes only
 * the socket. */
static void
verbs_abandon(struct net_endpoint *ep)
{
	struct verbs *v = ep->priv;
	if (v->fd >= 0)
		close(v->fd);
	v->fd = -1;
	v->broken = true;
}

static void
verbs_node_close(struct net_node *node)
{
	if (node->control_fd >= 0)
		close(node->control_fd);
}

const struct net_provider net_provider_verbs = {
	.kind = NET_VERBS,
	.open = verbs_open,
	.close = verbs_close,
	.post = verbs_post,
	.ring = verbs_ring,
	.poll = verbs_poll,
	.fd = verbs_fd,
	.channel = net_channel_open_verbs,
	.idle_fd = verbs_idle_fd,
	.news = verbs_news,
	.node_close = verbs_node_close,
	.abandon = verbs_abandon,
};
