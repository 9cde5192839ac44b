/*
 * verbs.c -- the storage node's end of queue pairs: it accepts them, and from then on the device
 * serves them.
 *
 * The CPU takes part in little: connection events, the receives that WRITE_WITH_IMM uses up, and
 * the messages of verbs_format.h for verbs that a device cannot execute. Where the device has
 * atomics it is the node's one atomics engine: then the node's own CPU never CASes a region word
 * either, and atomics of tcp peers go through a loopback queue pair.
 */
#include <base/clock.h>
#include <base/log.h>
#include <base/rng.h>
#include <net/exec.h>
#include <net/local.h>
#include <net/provider/rdma.h>
#include <net/provider/verbs_format.h>
#include <storage_node/ring_qp.h>
#include <storage_node/server_internal.h>
#include <storage_node/shard.h>

#include <errno.h>
#include <openssl/crypto.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
	RECVS = 16,
	SLOT = 64, /* bytes of a message buffer */
	SENDS = 8,
	PAGE = 4096,
	CONNECT_MS = 2000,
	ATOMIC_MS = 2000,
	MEND_MS = 200,        /* how long the loop may wait for a new loopback queue pair, ... */
	MEND_EVERY_MS = 2000, /* ... and how often */
};
static const uint64_t wr_reply = UINT64_MAX;

/* One queue pair. */
struct sn_qp {
	struct sn_qp_tag tag; /* first: what an id's context points to */
	struct rdma_cm_id *id;
	struct ibv_cq *cq;
	unsigned events; /* not acknowledged yet */
	struct ibv_mr *mr;
	char *page; /* RECVS message buffers, then one for the reply */
	struct sn_conn *conn;
};

struct sn_verbs {
	struct rdma_event_channel *ch;
	struct rdma_cm_id *listener;
	struct ibv_pd *pd;
	struct ibv_mr *mr; /* the region */
	struct ibv_comp_channel *done;
	struct net_rdma_caps caps;
	char address[48];
	unsigned port;
	bool device_atomics, removed;
	struct ibv_context *held;
	/*
	 * The loopback queue pair: both its ends. While own_ready is set, the thread that holds
	 * s->own_turn uses it, and may set own_broke; all else is done by the loop's thread, after
	 * it has cleared own_ready.
	 */
	bool own_ready;
	_Atomic(const char *) own_broke; /* why it broke, NULL = it did not */
	uint8_t own_token[NET_VERBS_TOKEN];
	struct rdma_event_channel *own_ch;
	struct rdma_cm_id *own_id;
	struct ibv_cq *own_cq;
	struct ibv_mr *own_mr;
	uint64_t *own_word;
	struct sn_qp *own_end;
	uint64_t own_again_ns; /* it broke: when to make it again, 0 = it is whole */
};

/* ---- one queue pair -------------------------------------------------------------- */

static void
qp_free(struct sn_qp *q)
{
	if (q == NULL)
		return;
	if (q->id != NULL && q->id->qp != NULL) {
		rdma_disconnect(q->id);
		rdma_destroy_qp(q->id);
	}
	if (q->cq != NULL) {
		ibv_ack_cq_events(q->cq, q->events);
		ibv_destroy_cq(q->cq);
	}
	if (q->mr != NULL)
		ibv_dereg_mr(q->mr);
	if (q->page != NULL)
		munmap(q->page, PAGE);
	if (q->id != NULL)
		rdma_destroy_id(q->id);
	free(q);
}

static bool
post_recv(struct sn_qp *q, uint64_t slot)
{
	struct ibv_sge at = { (uintptr_t)(q->page + slot * SLOT), SLOT, q->mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = slot, .sg_list = &at, .num_sge = 1 }, *bad;
	return ibv_post_recv(q->id->qp, &wr, &bad) == 0;
}

/* A queue pair on id, with receives posted. NULL with errno; id stays the caller's then. */
static struct sn_qp *
qp_new(struct sn_verbs *v, struct rdma_cm_id *id, struct sn_conn *conn)
{
	struct sn_qp *q = calloc(1, sizeof *q);
	if (q == NULL)
		return NULL;
	void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	q->page = page != MAP_FAILED ? page : NULL;
	q->conn = conn;
	struct ibv_qp_init_attr a = { .qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = SENDS, .max_recv_wr = RECVS, .max_send_sge = 1, .max_recv_sge = 1 } };
	if (q->page == NULL || (q->mr = ibv_reg_mr(v->pd, q->page, PAGE, IBV_ACCESS_LOCAL_WRITE)) == NULL ||
	    (q->cq = ibv_create_cq(id->verbs, RECVS + SENDS, q, v->done, 0)) == NULL ||
	    ibv_req_notify_cq(q->cq, 0) != 0)
		goto fail;
	a.send_cq = a.recv_cq = q->cq;
	if (rdma_create_qp(id, v->pd, &a) != 0)
		goto fail;
	q->id = id;
	for (uint64_t i = 0; i < RECVS; i++)
		if (!post_recv(q, i)) {
			rdma_destroy_qp(id);
			q->id = NULL;
			goto fail;
		}
	return q;
fail:;
	int why = errno;
	qp_free(q);
	errno = why;
	return NULL;
}

static bool
accept_peer(
    struct sn_server *s, struct sn_verbs *v, struct rdma_cm_id *id, const struct rdma_conn_param *asked)
{
	struct net_verbs_offer offer = { .magic = NET_VERBS_MAGIC,
		.base = (uintptr_t)s->base,
		.size = s->size,
		.incarnation = s->shake.incarnation,
		.rkey = v->mr->rkey,
		.device_atomics = v->device_atomics };
	unsigned rd = asked->initiator_depth; /* 0 = this kind of device does not tell */
	if (rd == 0 || rd > v->caps.rd_in)
		rd = v->caps.rd_in;
	struct rdma_conn_param p = { .private_data = &offer,
		.private_data_len = sizeof offer,
		.responder_resources = (uint8_t)rd,
		.initiator_depth = 1,
		.retry_count = NET_RDMA_RETRY,
		.rnr_retry_count = 7 };
	net_rdma_timeout(id);
	return rdma_accept(id, &p) == 0;
}

static struct sn_conn *
find_token(struct sn_server *s, const uint8_t token[NET_VERBS_TOKEN])
{
	for (struct sn_conn *c = s->peers; c != NULL; c = c->list[SN_ALL].next)
		if ((c->role == NET_ROLE_VERBS || c->role == NET_ROLE_RINGS_VERBS) && c->qp == NULL &&
		    !c->cut && CRYPTO_memcmp(c->token, token, NET_VERBS_TOKEN) == 0)
			return c;
	return NULL;
}

/* A queue pair for answers to that peer. Takes id. */
static void
take_ring(struct sn_server *s, struct sn_conn *c, struct rdma_cm_id *id, const struct rdma_conn_param *asked)
{
	struct sn_verbs *v = s->verbs;
	struct sn_ring_qp *ring = id->verbs == v->listener->verbs ? sn_ring_qp_new(id, v->pd, c->fd) : NULL;
	id->context = ring;
	if (ring != NULL && accept_peer(s, v, id, asked)) {
		/* The client sends requests only once it is connected, so its shard need not wait
		 * for that. */
		sn_server_hand_over(s, c, ring);
		return;
	}
	sn_server_complain(s, c->name, strerror(errno));
	rdma_reject(id, NULL, 0);
	if (ring != NULL)
		sn_ring_qp_free(ring);
	else
		rdma_destroy_id(id);
}

/* V2: only with a token that a proven peer was given, once. Takes e->id, keeps or destroys it. */
static void
take_request(struct sn_server *s, struct rdma_cm_event *e)
{
	struct sn_verbs *v = s->verbs;
	struct rdma_cm_id *id = e->id;
	struct rdma_conn_param asked = e->param.conn;
	struct net_verbs_hello hello = { 0 };
	if (asked.private_data_len >= sizeof hello)
		memcpy(&hello, asked.private_data, sizeof hello);
	rdma_ack_cm_event(e);
	bool sound = hello.magic == NET_VERBS_MAGIC && hello.region == s->shake.region;
	/* Only while this node is connecting to itself: without a loopback connection its token was
	 * never drawn. */
	bool own = sound && v->own_id != NULL && v->own_end == NULL &&
		   CRYPTO_memcmp(v->own_token, hello.token, sizeof hello.token) == 0;
	struct sn_conn *c = sound && !own ? find_token(s, hello.token) : NULL;
	const char *why = NULL;
	struct sn_qp *q = NULL;
	if (c != NULL && c->role == NET_ROLE_RINGS_VERBS) {
		take_ring(s, c, id, &asked);
		return;
	}
	if (c == NULL && !own)
		why = "it comes without a token";
	else if (id->verbs != v->listener->verbs)
		why = "it comes by another device; a node has one atomics engine";
	else if ((q = qp_new(v, id, c)) == NULL)
		why = strerror(errno);
	else if (id->context = q, !accept_peer(s, v, id, &asked))
		why = strerror(errno);
	if (why != NULL) {
		sn_server_complain(s, c != NULL ? c->name : "an RDMA peer", why);
		rdma_reject(id, NULL, 0);
		if (q != NULL)
			qp_free(q);
		else
			rdma_destroy_id(id);
		return;
	}
	if (own)
		v->own_end = q;
	else
		c->qp = q;
}

void
sn_verbs_end(struct sn_conn *c)
{
	qp_free(c->qp);
	c->qp = NULL;
}

/* Closes the loopback queue pair: verbs that were out on it are not executed later either. */
static void
own_close(struct sn_verbs *v)
{
	qp_free(v->own_end);
	if (v->own_id != NULL && v->own_id->qp != NULL)
		rdma_destroy_qp(v->own_id);
	if (v->own_cq != NULL)
		ibv_destroy_cq(v->own_cq);
	if (v->own_mr != NULL)
		ibv_dereg_mr(v->own_mr);
	if (v->own_word != NULL)
		munmap(v->own_word, PAGE);
	if (v->own_id != NULL)
		rdma_destroy_id(v->own_id);
	if (v->own_ch != NULL)
		rdma_destroy_event_channel(v->own_ch);
	v->own_end = NULL;
	v->own_cq = NULL;
	v->own_mr = NULL;
	v->own_word = NULL;
	v->own_id = NULL;
	v->own_ch = NULL;
}

/* It broke, or is late: no answer of it is waited for any more, and no late verb executes. */
static void
own_lost(struct sn_server *s, const char *why)
{
	struct sn_verbs *v = s->verbs;
	nam_log(NAM_LOG_WARN,
	    "storage node %u: the loopback connection of %s broke (%s): atomics of tcp peers fail until it "
	    "is "
	    "back",
	    (unsigned)s->shake.region, v->caps.device, why);
	pthread_mutex_lock(&s->own_turn);
	v->own_ready = false;
	v->own_broke = NULL;
	pthread_mutex_unlock(&s->own_turn);
	own_close(v);
	v->own_again_ns = nam_clock_ns();
}

/* V1: every queue pair ends before the CPU takes over atomics. The kernel waits until this process
 * has released the device. */
static void
device_gone(struct sn_server *s)
{
	nam_log(NAM_LOG_ERROR,
	    "storage node %u: the RDMA device %s was removed; peers may come back over tcp (--fabric tcp or "
	    "auto)",
	    (unsigned)s->shake.region, s->verbs->caps.device);
	for (struct sn_conn *c = s->peers, *next; c != NULL; c = next) {
		next = c->list[SN_ALL].next;
		if (c->role == NET_ROLE_VERBS)
			sn_server_end(s, c);
	}
	s->verbs->removed = true;
	sn_verbs_close(s);
}

void
sn_verbs_events(struct sn_server *s)
{
	struct sn_verbs *v = s->verbs;
	struct rdma_cm_event *e;
	bool gone = false;
	while (v != NULL && rdma_get_cm_event(v->ch, &e) == 0) {
		struct sn_qp *q =
		    e->id != v->listener && e->event != RDMA_CM_EVENT_CONNECT_REQUEST ? e->id->context : NULL;
		if (q != NULL && q->tag.ring) {
			/* A shard has it, and cannot free it before the event is given back. */
			if (e->event != RDMA_CM_EVENT_ESTABLISHED && e->event != RDMA_CM_EVENT_TIMEWAIT_EXIT)
				sn_ring_qp_gone((struct sn_ring_qp *)(void *)q);
			rdma_ack_cm_event(e);
			continue;
		}
		switch (e->event) {
		case RDMA_CM_EVENT_CONNECT_REQUEST:
			take_request(s, e);
			continue;
		case RDMA_CM_EVENT_ESTABLISHED:
		case RDMA_CM_EVENT_TIMEWAIT_EXIT:
			rdma_ack_cm_event(e);
			continue;
		case RDMA_CM_EVENT_DEVICE_REMOVAL:
			gone = true;
			break;
		default:
			break;
		}
		rdma_ack_cm_event(e);
		/* Every other event of a connection is its end; the TCP connection beside it ends
		 * as well. */
		if (q != NULL && q == v->own_end)
			own_lost(s, "it was closed");
		else if (q != NULL && q->conn != NULL)
			sn_server_end(s, q->conn);
	}
	if (gone)
		device_gone(s);
}

/* ---- messages ----------------------------------------------------------------------- */

static bool
execute(struct sn_server *s, const struct net_verbs_ask *a, uint64_t *seen)
{
	net_addr at = { a->at };
	uint64_t off = net_offset_of(at);
	*seen = 0;
	if (net_region_of(at) != s->shake.region || off > s->size)
		return false;
	if (a->code == NET_WRITE_IMM) {
		sn_server_immediate(s, a->arg);
		return true;
	}
	if (s->verbs->device_atomics || s->size - off < 8 || (off & 7) != 0)
		return false;
	if (a->code == NET_CAS)
		*seen = net_exec_cas(s->base + off, a->arg, a->want);
	else if (a->code == NET_FAA)
		*seen = net_exec_faa(s->base + off, a->arg);
	else
		return false;
	return true;
}

/* Takes messages of a peer's queue pair. NULL = all is well; "": it is closed; else the reason to
 * drop it. */
static const char *
hear(struct sn_server *s, struct sn_qp *q, const struct ibv_wc *wc)
{
	if (wc->status == IBV_WC_WR_FLUSH_ERR)
		return "";
	if (wc->status == IBV_WC_LOC_LEN_ERR)
		return "its message is longer than any may be";
	if (wc->status != IBV_WC_SUCCESS)
		return ibv_wc_status_str(wc->status);
	if (wc->wr_id == wr_reply)
		return NULL;
	if (wc->wr_id >= RECVS)
		return "our device completes what was not posted";
	if (wc->opcode == IBV_WC_RECV_RDMA_WITH_IMM) {
		sn_server_immediate(s, ntohl(wc->imm_data));
		return post_recv(q, wc->wr_id) ? NULL : "our device takes no more receives";
	}
	if (wc->byte_len != sizeof(struct net_verbs_ask))
		return "its message has not the length of a request";
	struct net_verbs_ask ask;
	memcpy(&ask, q->page + wc->wr_id * SLOT, sizeof ask);
	atomic_fetch_add_explicit(&s->count.asks, 1, memory_order_relaxed);
	/* A peer has one ask out, so the one reply buffer is free again. */
	struct net_verbs_reply *reply = (void *)(q->page + RECVS * SLOT);
	reply->ok = 1;
	if (!execute(s, &ask, &reply->seen))
		return "its message makes no sense";
	struct ibv_sge at = { (uintptr_t)reply, sizeof *reply, q->mr->lkey };
	struct ibv_send_wr wr = { .wr_id = wr_reply,
		.sg_list = &at,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED },
			   *bad;
	if (!post_recv(q, wc->wr_id))
		return "our device takes no more receives";
	return ibv_post_send(q->id->qp, &wr, &bad) == 0 ? NULL : "it takes no more replies";
}

void
sn_verbs_completions(struct sn_server *s)
{
	struct sn_verbs *v = s->verbs;
	if (v == NULL)
		return;
	struct pollfd p = { .fd = v->done->fd, .events = POLLIN };
	while (poll(&p, 1, 0) == 1) {
		struct ibv_cq *cq;
		void *tag;
		if (ibv_get_cq_event(v->done, &cq, &tag) != 0)
			return;
		struct sn_qp *q = tag;
		q->events++;
		/* Ask for the next event first: a message that comes during this look then raises
		 * an event. */
		const char *why = ibv_req_notify_cq(cq, 0) == 0 ? NULL : "our completion queue is broken";
		struct ibv_wc wc[8];
		int n;
		while (why == NULL && (n = ibv_poll_cq(cq, 8, wc)) != 0) {
			why = n > 0 ? NULL : "our completion queue is broken";
			for (int i = 0; i < n && why == NULL; i++)
				why = hear(s, q, &wc[i]);
		}
		/* Both free q. */
		if (why != NULL && q == v->own_end)
			own_lost(s, why);
		else if (why != NULL && *why == '\0')
			sn_server_end(s, q->conn);
		else if (why != NULL)
			sn_server_drop(s, q->conn, why);
	}
}

/* ---- the loopback queue pair ----------------------------------------------------------- */

/* Connects to our own listener, as both ends in turn. On failure own_close. */
static nam_status
connect_own(struct sn_server *s, struct sn_verbs *v, unsigned ms, struct nam_err *err)
{
	char port[8];
	snprintf(port, sizeof port, "%u", v->port);
	uint64_t until = nam_clock_ns() + (uint64_t)ms * 1000000;
	struct rdma_cm_event *e;
	nam_random_bytes(v->own_token, sizeof v->own_token);
	if ((v->own_ch = net_rdma_channel()) == NULL ||
	    rdma_create_id(v->own_ch, &v->own_id, NULL, RDMA_PS_TCP) != 0)
		return nam_fail(err, NAM_IO, "cannot make a loopback connection: %s", strerror(errno));
	nam_status st =
	    net_rdma_resolve(v->own_ch, v->own_id, v->address, v->address, port, until, "loopback", err);
	if (st != NAM_OK)
		return st;
	net_rdma_timeout(v->own_id);
	void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	v->own_word = page != MAP_FAILED ? page : NULL;
	struct ibv_qp_init_attr a = { .qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 4, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 } };
	if (v->own_word == NULL ||
	    (v->own_mr = ibv_reg_mr(v->pd, v->own_word, PAGE, IBV_ACCESS_LOCAL_WRITE)) == NULL ||
	    (v->own_cq = ibv_create_cq(v->own_id->verbs, 8, NULL, NULL, 0)) == NULL)
		return nam_fail(err, NAM_IO, "cannot make a loopback connection: %s", strerror(errno));
	a.send_cq = a.recv_cq = v->own_cq;
	struct net_verbs_hello hello = { .magic = NET_VERBS_MAGIC, .region = s->shake.region };
	memcpy(hello.token, v->own_token, sizeof hello.token);
	struct rdma_conn_param p = { .private_data = &hello,
		.private_data_len = sizeof hello,
		.initiator_depth = 1,
		.responder_resources = 1,
		.retry_count = NET_RDMA_RETRY,
		.rnr_retry_count = 7 };
	if (rdma_create_qp(v->own_id, v->pd, &a) != 0 || rdma_connect(v->own_id, &p) != 0)
		return nam_fail(err, NAM_IO, "cannot make a loopback connection: %s", strerror(errno));
	/* Other peers may connect at the same listener meanwhile; they are served as well. */
	while (v->own_end == NULL && nam_clock_ns() < until) {
		struct pollfd knock = { .fd = v->ch->fd, .events = POLLIN };
		if (poll(&knock, 1, 10) == 1)
			sn_verbs_events(s);
		if (s->verbs == NULL)
			return nam_fail(err, NAM_IO, "the device was removed");
	}
	if (v->own_end == NULL)
		return nam_fail(err, NAM_IO, "the loopback connection was refused");
	if ((st = net_rdma_expect(v->own_ch, RDMA_CM_EVENT_ESTABLISHED, until, "loopback", &e, err)) !=
	    NAM_OK)
		return st;
	rdma_ack_cm_event(e);
	pthread_mutex_lock(&s->own_turn);
	v->own_ready = true;
	pthread_mutex_unlock(&s->own_turn);
	return NAM_OK;
}

void
sn_verbs_mend(struct sn_server *s)
{
	struct sn_verbs *v = s->verbs;
	struct nam_err err;
	if (v == NULL || !v->device_atomics)
		return;
	const char *why = v->own_broke; /* once it is set no thread keeps own_turn for long */
	if (why != NULL)
		own_lost(s, why);
	if (v->own_again_ns == 0 || nam_clock_ns() < v->own_again_ns)
		return;
	v->own_again_ns = 0;
	if (connect_own(s, v, MEND_MS, &err) == NAM_OK) {
		nam_log(NAM_LOG_WARN, "storage node %u: the loopback connection of %s is back",
		    (unsigned)s->shake.region, v->caps.device);
	} else if (s->verbs != NULL) {
		own_close(v);
		v->own_again_ns = nam_clock_ns() + (uint64_t)MEND_EVERY_MS * 1000000;
	}
}

/* With own_turn held. */
static bool
own_atomic(struct sn_server *s, uint8_t code, uint64_t offset, uint64_t arg, uint64_t want, uint64_t *seen)
{
	struct sn_verbs *v = s->verbs;
	if (!v->own_ready || v->own_broke != NULL)
		return false;
	struct ibv_sge at = { (uintptr_t)v->own_word, 8, v->own_mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &at,
		.num_sge = 1,
		.opcode = code == NET_CAS ? IBV_WR_ATOMIC_CMP_AND_SWP : IBV_WR_ATOMIC_FETCH_AND_ADD,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.atomic = { .remote_addr = (uintptr_t)s->base + offset,
		    .compare_add = arg,
		    .swap = want,
		    .rkey = v->mr->rkey } },
			   *bad;
	struct ibv_wc wc;
	uint64_t until = 0;
	int n = 0;
	const char *why = NULL;
	if (ibv_post_send(v->own_id->qp, &wr, &bad) != 0)
		why = "it takes no requests";
	while (why == NULL && (n = ibv_poll_cq(v->own_cq, 1, &wc)) == 0) {
		uint64_t now = nam_clock_ns();
		if (until == 0)
			until = now + (uint64_t)ATOMIC_MS * 1000000;
		else if (now > until)
			why = "it does not answer";
	}
	if (why == NULL && (n < 0 || wc.status != IBV_WC_SUCCESS))
		why = n < 0 ? "its completion queue is broken" : ibv_wc_status_str(wc.status);
	v->own_broke = why;
	*seen = *v->own_word;
	return why == NULL;
}

bool
sn_verbs_atomic(
    struct sn_server *s, uint8_t code, uint64_t offset, uint64_t arg, uint64_t want, uint64_t *seen)
{
	bool ok = true;
	pthread_mutex_lock(&s->own_turn);
	if (sn_verbs_device_atomics(s))
		ok = own_atomic(s, code, offset, arg, want, seen);
	else /* the device was removed while this thread waited for its turn */
		*seen = code == NET_CAS ? net_exec_cas(s->base + offset, arg, want)
					: net_exec_faa(s->base + offset, arg);
	pthread_mutex_unlock(&s->own_turn);
	return ok;
}

/* ---- opening ---------------------------------------------------------------------------- */

/* Binds a fresh listener to a port that the connection manager chooses. */
static bool
bind_listener(struct sn_verbs *v, const char *address)
{
	struct rdma_addrinfo hint = { .ai_port_space = RDMA_PS_TCP,
		.ai_flags = RAI_NUMERICHOST | RAI_PASSIVE | RAI_NOROUTE },
			     *at = NULL;
	if (v->listener != NULL)
		rdma_destroy_id(v->listener);
	v->listener = NULL;
	if (rdma_create_id(v->ch, &v->listener, NULL, RDMA_PS_TCP) != 0 ||
	    rdma_getaddrinfo(address, NULL, &hint, &at) != 0)
		return false;
	bool bound = rdma_bind_addr(v->listener, at->ai_src_addr) == 0 && v->listener->verbs != NULL;
	int why = errno;
	rdma_freeaddrinfo(at);
	errno = why;
	return bound;
}

/* On iWARP the port is one of TCP's, and another process may have it: then try another one. */
static bool
listen_somewhere(struct sn_verbs *v, const char *address)
{
	enum { TRIES = 20 };
	for (unsigned i = 0; i < TRIES; i++) {
		if (rdma_listen(v->listener, 64) == 0)
			return true;
		if (errno != EADDRINUSE || !bind_listener(v, address))
			return false;
	}
	return false;
}

nam_status
sn_verbs_open(struct sn_server *s, const char *address, struct nam_err *err)
{
	struct sn_verbs *v = calloc(1, sizeof *v);
	if (v == NULL)
		return nam_fail(err, NAM_NOMEM, "no memory for RDMA");
	s->verbs = v;
	snprintf(v->address, sizeof v->address, "%s", address);
	const char *what = NULL;
	if ((v->ch = net_rdma_channel()) == NULL)
		what = "no RDMA devices";
	else if (!bind_listener(v, address))
		what = "no RDMA device behind that address";
	else if (!net_rdma_caps(v->listener->verbs, &v->caps))
		what = "the device does not answer";
	if (what == NULL) {
		v->held = v->listener->verbs;
		net_rdma_hold(v->listener);
		if ((v->pd = ibv_alloc_pd(v->held)) == NULL ||
		    (v->done = ibv_create_comp_channel(v->held)) == NULL)
			what = "the device gives no protection domain";
	}
	int why = errno;
	nam_status st = NAM_OK;
	if (what != NULL)
		st = nam_fail(err, NAM_UNSUPPORTED, "--rdma %s: %s (%s); see namdb doctor", address, what,
		    strerror(why));
	v->device_atomics = v->caps.atomics;
	/* Never with relaxed ordering: WRITEs must arrive in the order they were posted. */
	int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE |
		     (v->device_atomics ? IBV_ACCESS_REMOTE_ATOMIC : 0);
	if (st == NAM_OK && (v->mr = ibv_reg_mr(v->pd, s->base, s->size, access)) == NULL)
		st = net_rdma_unregistered(
		    err, v->caps.device, "the region", s->size, ", or give a smaller --size");
	if (st == NAM_OK && !listen_somewhere(v, address))
		st = nam_fail(err, NAM_IO, "cannot listen over RDMA at %s: %s", address, strerror(errno));
	v->port = st == NAM_OK ? ntohs(rdma_get_src_port(v->listener)) : 0;
	if (st == NAM_OK && v->device_atomics)
		st = connect_own(s, v, CONNECT_MS, err);
	if (st == NAM_OK)
		atomic_store(&s->device_atomics, v->device_atomics);
	else
		sn_verbs_close(s);
	return st;
}

void
sn_verbs_close(struct sn_server *s)
{
	struct sn_verbs *v = s->verbs;
	if (v == NULL)
		return;
	/* Queue pairs of shards belong to our protection domain. */
	if (sn_region_shards(s->region) != NULL)
		sn_shards_drop_queue_pairs(sn_region_shards(s->region));
	/* Until the lock is given back the loopback queue pair is gone and the CPU has not begun
	 * (V1). */
	pthread_mutex_lock(&s->own_turn);
	own_close(v);
	s->verbs = NULL;
	atomic_store_explicit(&s->device_atomics, false, memory_order_release);
	pthread_mutex_unlock(&s->own_turn);
	if (v->mr != NULL)
		ibv_dereg_mr(v->mr);
	if (v->done != NULL)
		ibv_destroy_comp_channel(v->done);
	if (v->pd != NULL)
		ibv_dealloc_pd(v->pd);
	if (v->listener != NULL)
		rdma_destroy_id(v->listener);
	if (v->ch != NULL)
		rdma_destroy_event_channel(v->ch);
	if (v->held != NULL)
		net_rdma_release(v->held, v->removed);
	free(v);
}

int
sn_verbs_event_fd(const struct sn_server *s)
{
	return s->verbs->ch->fd;
}

int
sn_verbs_completion_fd(const struct sn_server *s)
{
	return s->verbs->done->fd;
}

bool
sn_verbs_device_atomics(const struct sn_server *s)
{
	return atomic_load_explicit(&s->device_atomics, memory_order_acquire);
}

void
sn_verbs_grant(struct sn_server *s, struct sn_conn *c, struct net_grant *grant)
{
	if (s->verbs == NULL)
		return;
	snprintf(grant->rdma, sizeof grant->rdma, "%s", s->verbs->address);
	grant->rdma_port = s->verbs->port;
	if (c->role == NET_ROLE_VERBS || c->role == NET_ROLE_RINGS_VERBS) {
		nam_random_bytes(c->token, sizeof c->token);
		memcpy(grant->token, c->token, sizeof grant->token);
	}
}

const char *
sn_verbs_words(const struct sn_server *s, char out[160])
{
	snprintf(out, 160, "rdma %s by %s, atomics by the %s", s->verbs->address, s->verbs->caps.device,
	    s->verbs->device_atomics ? "device" : "CPU");
	return out;
}
