/*
 * fabric.c -- the measured side of `namdb bench verbs`: one worker, `depth` operations out,
 * on random places.
 *
 * Where memory is mapped here (shm) an operation is over when it was posted, so there depth is the
 * length of a batch: that is how misses overlap. Elsewhere depth is the number of coroutines, each
 * with one operation out, and the provider sends together what they post in one round.
 *
 * On every node lie three areas: READs come from the first, where each word tells its place; WRITEs
 * go to the second and are read back after a slice; the words of the third are counted here too, so
 * that every CAS must succeed and every FETCH_ADD finds what the one before left.
 */
#include "verbs.h"

#include <base/clock.h>
#include <base/rng.h>
#include <net/provider/rdma.h>
#include <net/region_format.h>
#include <net/ring/service.h>
#include <net/secret.h>
#include <storage_node/sn.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	AREA = 64 << 20,
	CHUNK = 16 << 20, /* longer ones go as several operations: the most that one may move */
	CHUNKS = VERBS_SIZE_MAX / CHUNK,
	WORDS = 16384, /* of the third area, a line each */
	LINE = 64,
	SLACK = 8 << 20, /* the region's own things */
	RINGS = 16 << 20,
	EXTENTS = AREA / NET_EXTENT,
	STREAMS = 4, /* more than we have at a node */
};
#define PATTERN UINT64_C(0x9e3779b97f4a7c15)

struct area {
	net_addr at[EXTENTS]; /* in a row where some operation is longer than one */
	unsigned n;
};

struct place {
	struct area read, write, words;
	uint64_t count[WORDS];
};

struct verbs_fabric {
	struct sn_region *region;
	struct sn_server *server;
	struct verbs_thread thread;
	bool served;
	struct net *net;
	struct net_worker *w;
	enum net_kind kind;
	bool mapped, rows, channels; /* rows: extents have to lie in a row; channels: they are
				      * open */
	unsigned nodes;
	struct place *place;
	char *into, *from;  /* VERBS_OUT_MAX for READs; the pattern of WRITEs */
	struct net_op *ops; /* of all that may be out */
	uint64_t now_ns;    /* of this round, when told */
	bool told;
	nam_status status;
};

/* One of `depth` clients of a slice; where memory is mapped the only one. */
struct client {
	struct verbs_fabric *f;
	enum verbs_op op;
	uint32_t size;
	unsigned number, of, batch; /* client number of `of`, each with so many operations out */
	uint64_t end_ns, ops, wrong, last_ns;
	struct nam_hist *latency;
	nam_status status;
	net_addr wrote;
};

/* Before each look at the network. */
static void
round_over(void *arg)
{
	struct verbs_fabric *f = arg;
	f->told = false;
}

static void
serve(void *arg)
{
	struct nam_err err;
	if (sn_server_run(arg, &err) != NAM_OK)
		fprintf(stderr, "namdb bench: the storage node ended: %s\n", err.text);
}

/* ---- the areas ---- */

static nam_status
move(struct verbs_fabric *f, enum verbs_op op, net_addr at, char *buf, uint64_t len)
{
	nam_status st = NAM_OK;
	for (uint64_t done = 0; st == NAM_OK && done < len; done += CHUNK) {
		uint32_t n = len - done < CHUNK ? (uint32_t)(len - done) : CHUNK;
		st = op == VERBS_READ ? net_read1(f->w, net_plus(at, done), buf + done, n, NULL)
				      : net_write1(f->w, net_plus(at, done), buf + done, n, NULL);
	}
	return st;
}

/*
 * Extents in a row come from memory that was never in use; once given back they are single extents.
 * So a node of another process is asked for extents in a row only if a size needs them.
 */
static nam_status
take(struct verbs_fabric *f, unsigned region, unsigned extents, struct area *a)
{
	nam_status st = NAM_OK;
	if (f->rows) {
		st = net_extent_take(f->w, region, extents, &a->at[0]);
		for (unsigned i = 1; i < extents; i++)
			a->at[i] = net_plus(a->at[0], i * NET_EXTENT);
		a->n = st == NAM_OK ? extents : 0;
		return st;
	}
	while (a->n < extents && (st = net_extent_take(f->w, region, 1, &a->at[a->n])) == NAM_OK)
		a->n++;
	return st;
}

/* The pattern goes on from extent to extent. */
static nam_status
fill(struct verbs_fabric *f, const struct area *a)
{
	uint64_t *word = (uint64_t *)(void *)f->into, k = 0;
	nam_status st = NAM_OK;
	for (unsigned i = 0; st == NAM_OK && i < a->n; i++) {
		for (size_t j = 0; j < NET_EXTENT / 8; j++)
			word[j] = k++ * PATTERN;
		st = net_write1(f->w, a->at[i], word, NET_EXTENT, NULL);
	}
	return st;
}

static void
furnish(void *arg)
{
	struct verbs_fabric *f = arg;
	for (unsigned i = 0; i < f->nodes && f->status == NAM_OK; i++) {
		struct place *pl = &f->place[i];
		unsigned region = net_node(f->net, i)->region;
		if ((f->status = take(f, region, EXTENTS, &pl->read)) == NAM_OK &&
		    (f->status = take(f, region, EXTENTS, &pl->write)) == NAM_OK &&
		    (f->status = take(f, region, WORDS * LINE / NET_EXTENT, &pl->words)) == NAM_OK &&
		    (f->status = fill(f, &pl->read)) == NAM_OK)
			f->status = fill(f, &pl->write);
	}
}

static nam_status
give(struct verbs_fabric *f, struct area *a)
{
	nam_status st = NAM_OK;
	while (st == NAM_OK && a->n > 0)
		st = net_extent_give(f->w, a->at[--a->n]);
	return st;
}

static void
clear_away(void *arg)
{
	struct verbs_fabric *f = arg;
	for (unsigned i = 0; i < f->nodes; i++) {
		struct place *pl = &f->place[i];
		if (give(f, &pl->read) != NAM_OK || give(f, &pl->write) != NAM_OK ||
		    give(f, &pl->words) != NAM_OK)
			return; /* the node is gone, and its memory with it */
	}
}

/* ---- opening ---- */

static nam_status
own_node(struct verbs_fabric *f, const struct verbs_params *p, void *secret, struct net_config *cfg,
    char address[160], struct nam_err *err)
{
	const struct sn_region_config rc = { .id = 1,
		.size = 2 * (uint64_t)AREA + WORDS * LINE + SLACK + RINGS,
		.cluster = p->common.cluster,
		.numa = -1,
		.embedded = p->embedded };
	nam_status st = sn_region_open(&f->region, &rc, err);
	if (st != NAM_OK)
		return st;
	sn_region_touch(f->region, 0, rc.size);
	static const struct net_service echo = { .id = NET_SERVICE_ECHO, .name = "echo", .fn = net_echo };
	const struct sn_serve_config vc = {
		.service = &echo, .services = 1, .ring_bytes = RINGS, .unpinned = p->pin_server < 0
	};
	if (p->op[VERBS_MESSAGE] && (st = sn_region_serve(f->region, &vc, err)) != NAM_OK)
		return st;
	if (p->embedded)
		return NAM_OK;
	char host[48] = "127.0.0.1";
	if (p->common.fabric == NET_VERBS && (st = net_rdma_address(NULL, host, err)) != NAM_OK)
		return st;
	snprintf(address, 160, strchr(host, ':') ? "[%s]:0" : "%s:0", host);
	const struct sn_server_config sc = { .listen = address,
		.cluster = p->common.cluster,
		.secret = secret,
		.secret_len = NET_SECRET_LEN,
		.rdma = p->common.fabric == NET_VERBS ? NULL : "off" };
	if ((st = sn_server_open(&f->server, f->region, &sc, err)) != NAM_OK)
		return st;
	if (!bench_verbs_thread_start(&f->thread, serve, f->server, p->pin_server))
		return nam_fail(err, NAM_NOMEM, "no thread for a storage node (%m)");
	f->served = true;
	snprintf(address, 160, "%s", sn_server_address(f->server));
	cfg->storage = address;
	return NAM_OK;
}

static nam_status
connect_to(struct verbs_fabric *f, const struct verbs_params *p, struct nam_err *err)
{
	unsigned char secret[NET_SECRET_LEN];
	char address[160];
	struct net_local *local[2] = { NULL, NULL };
	struct net_config cfg = { .storage = p->common.storage,
		.fabric = p->common.fabric,
		.cluster = p->common.cluster,
		.secret = secret,
		.secret_len = NET_SECRET_LEN };
	nam_status st;
	if (p->common.storage != NULL)
		st = net_secret_load(p->common.secret_file, secret, &cfg.secret_len, err);
	else {
		nam_random_bytes(secret, sizeof secret);
		st = own_node(f, p, secret, &cfg, address, err);
	}
	if (st != NAM_OK)
		return st;
	if (p->embedded) {
		local[0] = sn_local(f->region);
		cfg.local = local;
	}
	st = net_open(&f->net, &cfg, err);
	explicit_bzero(secret, sizeof secret);
	return st == NAM_OK ? net_worker_open(f->net, &f->w, err) : st;
}

nam_status
bench_verbs_fabric_open(struct verbs_fabric **out, const struct verbs_params *p, struct nam_err *err)
{
	struct verbs_fabric *f = calloc(1, sizeof *f);
	if (f == NULL)
		return nam_fail(err, NAM_NOMEM, "no memory");
	nam_status st = connect_to(f, p, err);
	if (st != NAM_OK)
		goto fail;
	net_worker_on_idle(f->w, round_over, f);
	f->nodes = net_node_count(f->net);
	for (unsigned i = 0; i < p->sizes; i++)
		f->rows |= p->size[i] > NET_EXTENT;
	f->kind = net_node(f->net, 0)->kind;
	f->place = calloc(f->nodes, sizeof *f->place);
	f->into = aligned_alloc(4096, VERBS_OUT_MAX);
	f->from = aligned_alloc(4096, VERBS_SIZE_MAX);
	f->ops = calloc(VERBS_DEPTH_MAX * (size_t)CHUNKS, sizeof *f->ops);
	if (f->place == NULL || f->into == NULL || f->from == NULL || f->ops == NULL) {
		st = nam_fail(err, NAM_NOMEM, "no memory");
		goto fail;
	}
	uint64_t *word = (uint64_t *)(void *)f->from;
	for (size_t k = 0; k < VERBS_SIZE_MAX / 8; k++)
		word[k] = ~k * PATTERN;
	if (nam_co_start(net_worker_sched(f->w), furnish, f, 0) == NULL)
		f->status = NAM_NOMEM;
	else
		net_worker_run(f->w, NULL, NULL);
	if ((st = f->status) != NAM_OK) {
		nam_fail(err, st,
		    "a storage node does not give the %u MiB that are read, written and counted there: %s",
		    2 * (AREA >> 20) + (WORDS * LINE >> 20), nam_status_text(st));
		goto fail;
	}
	f->mapped = net_direct(f->w, f->place[0].read.at[0], 8) != NULL;
	*out = f;
	return NAM_OK;
fail:
	bench_verbs_fabric_close(f);
	return st;
}

void
bench_verbs_fabric_close(struct verbs_fabric *f)
{
	if (f->w != NULL) {
		if (f->place != NULL && nam_co_start(net_worker_sched(f->w), clear_away, f, 0) != NULL)
			net_worker_run(f->w, NULL, NULL);
		net_worker_close(f->w);
	}
	if (f->net != NULL)
		net_close(f->net);
	if (f->served) {
		sn_server_stop(f->server);
		pthread_join(f->thread.id, NULL);
	}
	if (f->server != NULL)
		sn_server_close(f->server);
	if (f->region != NULL)
		sn_region_close(f->region);
	free(f->place);
	free(f->into);
	free(f->from);
	free(f->ops);
	free(f);
}

enum net_kind
bench_verbs_fabric_kind(const struct verbs_fabric *f)
{
	return f->kind;
}

bool
bench_verbs_fabric_served(const struct verbs_fabric *f)
{
	return f->served;
}

/* Its loop, and the thread that executes our verbs where they come over tcp. */
static unsigned
streams(const struct verbs_fabric *f, struct sn_stream_use use[STREAMS])
{
	unsigned n = f->server != NULL ? sn_server_streams(f->server, use, STREAMS) : 0;
	return n < STREAMS ? n : STREAMS;
}

static uint64_t
server_ns(const struct verbs_fabric *f)
{
	struct sn_stream_use use[STREAMS];
	uint64_t ns = f->served ? bench_verbs_thread_cpu_ns(&f->thread) : 0;
	for (unsigned n = streams(f, use); n > 0; n--)
		ns += use[n - 1].cpu_ns;
	return ns;
}

void
bench_verbs_fabric_core(struct verbs_fabric *f, cpu_set_t *server)
{
	struct sn_stream_use use[STREAMS];
	unsigned n = streams(f, use);
	for (unsigned i = 0; i < n; i++)
		bench_verbs_thread_core(use[i].tid, server);
	if (f->served && n == 0)
		bench_verbs_thread_core(atomic_load(&f->thread.tid), server);
}

/* ---- a slice ---- */

/* What an operation is about, to be looked at when it is over. */
struct mark {
	struct net_op *op;
	uint64_t *word; /* READ: its first word in our buffer; else the word's count */
	uint64_t expect;
};

static net_addr
in_area(const struct area *a, uint64_t offset)
{
	return net_plus(a->at[offset / NET_EXTENT], offset % NET_EXTENT);
}

static void
add_words(struct client *c, struct net_batch *b, unsigned i, struct mark *m)
{
	struct verbs_fabric *f = c->f;
	/* Places of one operation in flight each, so that its count is known. */
	unsigned out = c->of * c->batch, mine = c->number * c->batch + i;
	uint64_t at = nam_rng_below(net_rng(c->f->w), WORDS / out) * out + mine;
	struct place *pl = &f->place[f->nodes == 1 ? 0 : nam_rng_below(net_rng(f->w), f->nodes)];
	net_addr word = in_area(&pl->words, at * LINE);
	*m = (struct mark){ .word = &pl->count[at], .expect = pl->count[at] };
	m->op = c->op == VERBS_CAS ? net_cas(b, word, m->expect, m->expect + 1) : net_faa(b, word, 1);
}

static void
add_bytes(struct client *c, struct net_batch *b, unsigned i, struct mark *m)
{
	struct verbs_fabric *f = c->f;
	const struct place *pl = &f->place[f->nodes == 1 ? 0 : nam_rng_below(net_rng(f->w), f->nodes)];
	/* No place of a short one goes over an extent's end. */
	uint64_t span = c->size <= NET_EXTENT ? NET_EXTENT : AREA, per = span / c->size;
	uint64_t k = nam_rng_below(net_rng(f->w), AREA / span * per), at = k / per * span + k % per * c->size;
	net_addr where = in_area(c->op == VERBS_READ ? &pl->read : &pl->write, at);
	char *buf = c->op == VERBS_READ ? f->into + (c->number * c->batch + i) * (size_t)c->size : f->from;
	*m = (struct mark){ .word = (uint64_t *)(void *)buf, .expect = at / 8 * PATTERN };
	c->wrote = where;
	for (uint32_t done = 0; done < c->size; done += CHUNK) {
		uint32_t n = c->size - done < CHUNK ? c->size - done : CHUNK;
		m->op = net_op_add(
		    b, c->op == VERBS_READ ? NET_READ : NET_WRITE, net_plus(where, done), buf + done, n);
	}
}

static void
judge(struct client *c, const struct mark *m)
{
	switch (c->op) {
	case VERBS_READ: {
		size_t last = c->size / 8 - 1;
		c->wrong += m->word[0] != m->expect || m->word[last] != m->expect + last * PATTERN;
		break;
	}
	case VERBS_CAS:
	case VERBS_FAA:
		c->wrong += m->op->seen != m->expect;
		*m->word = m->expect + 1;
		break;
	default:
		break; /* a WRITE's answer says nothing: see read_back */
	}
}

/* What one look at the network brought was there at one time: one look at the clock, as the peer
 * does. */
static uint64_t
time_of_round(struct verbs_fabric *f)
{
	if (f->mapped || !f->told)
		f->now_ns = nam_clock_ns();
	f->told = true;
	return f->now_ns;
}

static void
client(void *arg)
{
	struct client *c = arg;
	unsigned chunks = (c->size + CHUNK - 1) / CHUNK;
	struct mark mark[VERBS_DEPTH_MAX];
	struct net_batch b;
	net_batch_init(
	    &b, c->f->w, c->f->ops + (size_t)c->number * c->batch * chunks, c->batch * chunks, NULL);
	uint64_t now = nam_clock_ns();
	/* At least once: on a busy machine the time can be over before it began, and nothing has no
	 * rate. */
	while ((now < c->end_ns || c->ops == 0) &&
	       !atomic_load_explicit(&bench_verbs_stop, memory_order_relaxed)) {
		for (unsigned i = 0; i < c->batch; i++)
			(c->op >= VERBS_CAS ? add_words : add_bytes)(c, &b, i, &mark[i]);
		if ((c->status = net_run(&b)) != NAM_OK)
			return;
		uint64_t then = now;
		now = time_of_round(c->f);
		nam_hist_add(c->latency, now - then); /* the ops of a batch are over together */
		for (unsigned i = 0; i < c->batch; i++)
			judge(c, &mark[i]);
		c->ops += c->batch;
	}
	c->last_ns = now;
}

/* Opens a channel to each node's echo service: once, before the first message. In event mode an
 * idle channel costs nothing. */
static nam_status
open_channels(struct verbs_fabric *f, struct nam_err *err)
{
	nam_status st = NAM_OK;
	const struct net_call_config cc = { .mode = NET_EVENTS,
		.request_bytes = 4 * VERBS_MESSAGE_MAX,
		.response_bytes = 4 * VERBS_MESSAGE_MAX };
	for (unsigned i = 0; !f->channels && i < f->nodes && st == NAM_OK; i++)
		st = net_call_open(f->w, net_node(f->net, i)->region, NET_SERVICE_ECHO, &cc, err);
	f->channels = st == NAM_OK;
	return st;
}

static void
talker(void *arg)
{
	struct client *c = arg;
	unsigned region = net_node(c->f->net, c->number % c->f->nodes)->region;
	char *answer = c->f->into + (size_t)c->number * c->size;
	const uint64_t *asked = (const uint64_t *)(const void *)c->f->from + c->number,
		       *told = (void *)answer;
	size_t last = c->size / 8 - 1;
	uint64_t now = nam_clock_ns();
	while (now < c->end_ns && !atomic_load_explicit(&bench_verbs_stop, memory_order_relaxed)) {
		uint32_t got = 0;
		c->status =
		    net_call(c->f->w, region, NET_SERVICE_ECHO, asked, c->size, answer, c->size, &got);
		if (c->status != NAM_OK)
			return;
		uint64_t then = now;
		now = nam_clock_ns();
		nam_hist_add(c->latency, now - then);
		c->wrong += got != c->size || told[0] != asked[0] || told[last] != asked[last];
		c->ops++;
	}
	c->last_ns = now;
}

/* What the client wrote last must lie there. */
static void
read_back(void *arg)
{
	struct client *c = arg;
	c->status = move(c->f, VERBS_READ, c->wrote, c->f->into, c->size);
	c->wrong += c->status == NAM_OK && memcmp(c->f->into, c->f->from, c->size) != 0;
}

nam_status
bench_verbs_fabric_run(struct verbs_fabric *f, enum verbs_op op, uint32_t size, unsigned depth,
    double seconds, struct nam_hist *latency_ns, struct verbs_slice *out, struct nam_err *err)
{
	static struct client cl[VERBS_DEPTH_MAX];
	bool message = op == VERBS_MESSAGE;
	unsigned n = f->mapped && !message ? 1 : depth;
	nam_status st = message ? open_channels(f, err) : NAM_OK;
	if (st != NAM_OK)
		return st;
	uint64_t server = server_ns(f), cpu = bench_verbs_cpu_ns(), all = bench_verbs_process_ns();
	uint64_t begin = nam_clock_ns(), last = begin;
	*out = (struct verbs_slice){ 0 };
	for (unsigned i = 0; i < n; i++) {
		cl[i] = (struct client){ .f = f,
			.op = op,
			.size = size,
			.number = i,
			.of = n,
			.batch = f->mapped && !message ? depth : 1,
			.end_ns = begin + (uint64_t)(seconds * 1e9),
			.latency = latency_ns };
		if (nam_co_start(net_worker_sched(f->w), message ? talker : client, &cl[i], 128 << 10) ==
		    NULL)
			st = NAM_NOMEM;
	}
	net_worker_run(f->w, NULL, NULL);
	out->client_ns = bench_verbs_cpu_ns() - cpu;
	if (message && f->region != NULL) /* the shard has no clock that we could ask: all that was
					   * not us */
		out->server_ns = bench_verbs_process_ns() - all - out->client_ns;
	else if (f->served)
		out->server_ns = server_ns(f) - server;
	for (unsigned i = 0; i < n; i++) {
		last = cl[i].last_ns > last ? cl[i].last_ns : last;
		st = st == NAM_OK ? cl[i].status : st;
	}
	out->seconds = (double)(last - begin) / 1e9;
	for (unsigned i = 0; st == NAM_OK && i < n; i++) {
		if (op == VERBS_WRITE && cl[i].ops > 0) {
			if (nam_co_start(net_worker_sched(f->w), read_back, &cl[i], 0) == NULL)
				st = NAM_NOMEM;
			net_worker_run(f->w, NULL, NULL);
			st = st == NAM_OK ? cl[i].status : st;
		}
		out->ops += cl[i].ops;
		out->wrong += cl[i].wrong;
	}
	return st == NAM_OK ? st
			    : nam_fail(err, st, "%s of %u bytes: %s", bench_verbs_op_name(op), size,
				  nam_status_text(st));
}
