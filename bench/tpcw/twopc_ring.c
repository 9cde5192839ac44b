/*
 * twopc_ring.c -- two-phase commit over two-sided messages, for real: each RM is a service on
 * a storage node (net/ring/service.h), which polls its rings.
 *
 * A client is a thread with a worker of its own and two coroutines: the client's, and its part of
 * the TM's. A service cannot call others, so the TM cannot be one: it lies in the process of the
 * clients, and what they say to each other is handed over. Nodes are threads of this process, too.
 */
#include "twopc.h"

#include <base/clock.h>
#include <net/provider/rdma.h>
#include <net/ring/service.h>
#include <net/secret.h>
#include <storage_node/sn.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SERVICE = 77, ADDRESS = 160, CALLS = 1024, HANDED = 16, STACK = 128 << 10, RINGS = 64 << 20 };

struct node {
	struct tpcw_twopc *run;
	unsigned number;
	struct net_service service;
	struct sn_region *region;
	struct sn_server *server;
	pthread_t thread;
	bool served;
};

struct call {
	struct net_call call;
	struct call *next;
	_Alignas(8) char request[TXN_TWOPC_MESSAGE_MAX], answer[TXN_TWOPC_MESSAGE_MAX];
};

/* A message handed over between client and TM. */
struct handed {
	struct handed *next;
	uint32_t len;
	_Alignas(8) char bytes[];
};

/* A client, or its part of the TM. */
struct role {
	struct client *of;
	unsigned self;
	struct nam_co *co;
	struct handed *in, **in_end;
	struct call *first, **end; /* calls under way */
};

struct client {
	struct ring *ring;
	struct tpcw_twopc_session *s;
	struct net_worker *w;
	pthread_t thread;
	bool started, failed;
	struct role role[TXN_TWOPC_RM];
};

struct ring {
	struct tpcw_twopc run;
	struct node node[TXN_TWOPC_RMS_MAX];
	struct net *net;
	struct client *client;
};

/* ---- the service ---- */

static void
answers(void *arg, unsigned to, const void *bytes, uint32_t len)
{
	struct net_request *rq = arg;
	(void)to; /* the one that called */
	if (len > rq->answer_max)
		return;
	memcpy(rq->answer, bytes, len);
	rq->answer_len = len;
}

static nam_status
serve_rm(void *arg, struct net_request *rq)
{
	struct node *n = arg;
	const struct txn_twopc_wire wire = { answers, rq };
	return txn_twopc_rm_take(n->run->rm[n->number], n->number, &wire, rq->bytes, rq->len);
}

static void *
serve_node(void *arg)
{
	struct node *n = arg;
	struct nam_err err;
	if (sn_server_run(n->server, &err) != NAM_OK)
		fprintf(stderr, "namdb bench: a storage node ended: %s\n", err.text);
	return NULL;
}

/* ---- a client and its TM ---- */

static void
fails(struct client *c, nam_status st)
{
	tpcw_twopc_took(c->s->run, st);
	c->failed = true;
}

static void
hand_over(struct role *to, const void *bytes, uint32_t len)
{
	struct handed *h = malloc(sizeof *h + len);
	if (h == NULL) {
		fails(to->of, NAM_NOMEM);
		return;
	}
	h->next = NULL;
	h->len = len;
	memcpy(h->bytes, bytes, len);
	*to->in_end = h;
	to->in_end = &h->next;
	if (to->co != NULL)
		nam_co_wake(to->co);
}

static void
sends(void *arg, unsigned to, const void *bytes, uint32_t len)
{
	struct role *r = arg;
	if (to < TXN_TWOPC_RM) {
		hand_over(&r->of->role[to], bytes, len);
		return;
	}
	struct call *c = aligned_alloc(8, sizeof *c);
	if (c == NULL) {
		fails(r->of, NAM_NOMEM);
		return;
	}
	memcpy(c->request, bytes, len);
	c->next = NULL;
	c->call = (struct net_call){ .region = to - (unsigned)TXN_TWOPC_RM + 1,
		.service = SERVICE,
		.request = c->request,
		.len = len,
		.cap = sizeof c->answer,
		.answer = c->answer };
	*r->end = c;
	r->end = &c->next;
	net_call_start(r->of->w, &c->call);
}

static void
take(struct role *r, const void *bytes, uint32_t len)
{
	struct tpcw_twopc_session *s = r->of->s;
	nam_status st = r->self == TXN_TWOPC_CLIENT ? txn_twopc_client_take(s->client, bytes, len)
						    : txn_twopc_tm_take(s->tm, bytes, len);
	if (st != NAM_OK)
		fails(r->of, st);
}

/* Both go when the client has stopped and no transaction is open; else they wait for each
 * other. */
static bool
over(const struct client *c)
{
	return c->failed || (c->s->over && txn_twopc_tm_open_count(c->s->tm) == 0);
}

static void
role_main(void *arg)
{
	struct role *r = arg;
	struct client *c = r->of;
	r->co = nam_co_self();
	if (r->self == TXN_TWOPC_CLIENT)
		tpcw_twopc_begin(c->s);
	while (r->first != NULL || r->in != NULL || !over(c)) {
		if (r->in != NULL) {
			struct handed *h = r->in;
			r->in = h->next;
			if (r->in == NULL)
				r->in_end = &r->in;
			take(r, h->bytes, h->len);
			free(h);
		} else if (r->first != NULL) {
			struct call *call = r->first;
			nam_status st = net_call_wait(&call->call);
			r->first = call->next;
			if (r->first == NULL)
				r->end = &r->first;
			if (st != NAM_OK)
				fails(c, st);
			else if (call->call.got > 0)
				take(r, call->answer, call->call.got);
			free(call);
		} else {
			nam_co_park();
		}
	}
	/* the other one may wait for a message that does not come any more */
	r->co = NULL;
	for (unsigned i = 0; i < TXN_TWOPC_RM; i++)
		if (c->role[i].co != NULL)
			nam_co_wake(c->role[i].co);
}

static void *
client_main(void *arg)
{
	struct client *c = arg;
	const struct net_call_config cfg = { .mode = NET_POLLING };
	struct nam_err err;
	nam_status st = NAM_OK;
	for (unsigned r = 0; st == NAM_OK && r < c->s->run->rms; r++)
		st = net_call_open(c->w, r + 1, SERVICE, &cfg, &err);
	if (st != NAM_OK) {
		fprintf(stderr, "namdb bench: %s\n", err.text);
		fails(c, st);
		return NULL;
	}
	for (unsigned i = 0; i < TXN_TWOPC_RM; i++)
		if (nam_co_start(net_worker_sched(c->w), role_main, &c->role[i], STACK) == NULL)
			fails(c, NAM_NOMEM);
	net_worker_run(c->w, NULL, NULL);
	return NULL;
}

/* ---- open, close ---- */

static nam_status
node_open(struct ring *g, unsigned i, const struct tpcw_twopc_real *p, const unsigned char *secret,
    char address[ADDRESS], struct nam_err *err)
{
	struct node *n = &g->node[i];
	char host[48] = "127.0.0.1";
	*n = (struct node){ .run = &g->run, .number = i };
	n->service =
	    (struct net_service){ .id = SERVICE, .name = "resource manager", .fn = serve_rm, .arg = n };
	const struct sn_region_config rc = { .id = i + 1, .size = 2 * (uint64_t)RINGS, .numa = -1 };
	const struct sn_serve_config vc = {
		.service = &n->service, .services = 1, .ring_bytes = RINGS, .unpinned = true
	};
	nam_status st = p->fabric == NET_VERBS ? net_rdma_address(NULL, host, err) : NAM_OK;
	snprintf(address, ADDRESS, strchr(host, ':') ? "[%s]:0" : "%s:0", host);
	const struct sn_server_config sc = { .listen = address,
		.secret = secret,
		.secret_len = NET_SECRET_LEN,
		.rdma = p->fabric == NET_VERBS ? NULL : "off" };
	if (st == NAM_OK)
		st = sn_region_open(&n->region, &rc, err);
	if (st == NAM_OK)
		st = sn_region_serve(n->region, &vc, err);
	if (st == NAM_OK)
		st = sn_server_open(&n->server, n->region, &sc, err);
	if (st != NAM_OK)
		return st;
	if (pthread_create(&n->thread, NULL, serve_node, n) != 0)
		return nam_fail(err, NAM_NOMEM, "no thread for a storage node");
	n->served = true;
	snprintf(address, ADDRESS, "%s", sn_server_address(n->server));
	return NAM_OK;
}

static nam_status
nodes_open(struct ring *g, const struct tpcw_twopc_real *p, struct nam_err *err)
{
	unsigned char secret[NET_SECRET_LEN];
	char all[TXN_TWOPC_RMS_MAX * ADDRESS] = "";
	nam_status st = NAM_OK;
	nam_random_bytes(secret, sizeof secret);
	for (unsigned i = 0; st == NAM_OK && i < p->rms; i++) {
		char address[ADDRESS];
		size_t at = strlen(all);
		st = node_open(g, i, p, secret, address, err);
		if (st == NAM_OK)
			snprintf(all + at, sizeof all - at, "%s%s", i > 0 ? "," : "", address);
	}
	const struct net_config cfg = {
		.storage = all, .fabric = p->fabric, .secret = secret, .secret_len = sizeof secret
	};
	if (st == NAM_OK)
		st = net_open(&g->net, &cfg, err);
	explicit_bzero(secret, sizeof secret);
	return st;
}

static nam_status
client_open(struct ring *g, unsigned i, struct nam_err *err)
{
	struct client *c = &g->client[i];
	*c = (struct client){ .ring = g, .s = &g->run.session[i] };
	*c->s = (struct tpcw_twopc_session){ .run = &g->run, .number = i };
	for (unsigned k = 0; k < TXN_TWOPC_RM; k++) {
		struct role *r = &c->role[k];
		*r = (struct role){ .of = c, .self = k };
		r->in_end = &r->in;
		r->end = &r->first;
	}
	const struct txn_twopc_wire client = { sends, &c->role[TXN_TWOPC_CLIENT] };
	const struct txn_twopc_wire tm = { sends, &c->role[TXN_TWOPC_TM] };
	nam_status st = tpcw_twopc_session_open(c->s, &client, &tm);
	if (st != NAM_OK)
		return nam_fail(err, st, "no memory for a client");
	return net_worker_open(g->net, &c->w, err);
}

static void
ring_close(struct ring *g, unsigned clients, unsigned nodes)
{
	for (unsigned i = 0; g->client != NULL && i < clients; i++)
		if (g->client[i].w != NULL)
			net_worker_close(g->client[i].w);
	if (g->net != NULL)
		net_close(g->net);
	for (unsigned i = 0; i < nodes; i++) {
		struct node *n = &g->node[i];
		if (n->served) {
			sn_server_stop(n->server);
			pthread_join(n->thread, NULL);
		}
		if (n->server != NULL)
			sn_server_close(n->server);
		if (n->region != NULL)
			sn_region_close(n->region);
	}
}

static uint64_t
now_ns(struct tpcw_twopc_session *s)
{
	(void)s;
	return nam_clock_ns();
}

static void
work(struct tpcw_twopc_session *s)
{
	(void)s; /* what it computes takes its time */
}

static void
run_all(struct tpcw_twopc_real *p, struct ring *g, nam_status *st, struct nam_err *err)
{
	for (unsigned i = 0; *st == NAM_OK && i < p->clients; i++) {
		struct client *c = &g->client[i];
		c->started = pthread_create(&c->thread, NULL, client_main, c) == 0;
		if (!c->started)
			*st = nam_fail(err, NAM_NOMEM, "no thread for %u clients", p->clients);
	}
	if (*st == NAM_OK)
		tpcw_twopc_count(&g->run, p);
	atomic_store(&g->run.stop, true);
	for (unsigned i = 0; i < p->clients; i++)
		if (g->client[i].started)
			pthread_join(g->client[i].thread, NULL);
}

nam_status
tpcw_twopc_ring(struct tpcw_twopc_real *p, struct nam_err *err)
{
	struct ring *g = calloc(1, sizeof *g);
	if (g == NULL || (g->client = calloc(p->clients, sizeof *g->client)) == NULL) {
		free(g);
		return nam_fail(err, NAM_NOMEM, "no memory");
	}
	g->run.now_ns = now_ns;
	g->run.work = work;
	nam_status st = tpcw_twopc_open(&g->run, p->tpcw, p->rms, p->clients);
	if (st != NAM_OK)
		nam_fail(err, st, "%s", nam_status_text(st));
	else
		st = nodes_open(g, p, err);
	for (unsigned i = 0; st == NAM_OK && i < p->clients; i++)
		st = client_open(g, i, err);
	run_all(p, g, &st, err);
	ring_close(g, p->clients, p->rms);
	if (st == NAM_OK)
		tpcw_twopc_sum(&g->run, p);
	tpcw_twopc_close(&g->run);
	free(g->client);
	free(g);
	return st;
}
