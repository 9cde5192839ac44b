/* tree.c -- the access path by the ordered index: one tree, a partition on each storage node. */
#include "tree.h"

#include <index/tree.h>
#include <net/local.h>
#include <net/sim/sim.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { LOAD_BATCH = 4096, RUN = 64 };

/* What a process has of it. */
struct part {
	struct ycsb_params *p;
	struct idx_tree *tree;
	net_addr anchor;
	_Atomic uint64_t scans;
	/* the first process's: memory that the tree has been given, and entries to be loaded */
	pthread_mutex_t lock; /* of extent, n and cap */
	net_addr *extent;
	unsigned n, cap;
	uint64_t *key, *at;
	unsigned waiting;
};

/* The first process's, for all: trees of a bench grow by its extents, whichever process asks. */
static nam_status
take(void *arg, struct net_worker *w, unsigned region, net_addr *out)
{
	struct part *s = arg;
	nam_status st = net_extent_take(w, region, 1, out);
	if (st != NAM_OK)
		return st;
	pthread_mutex_lock(&s->lock);
	if (s->n == s->cap) {
		unsigned cap = s->cap > 0 ? s->cap * 2 : 256;
		net_addr *more = realloc(s->extent, cap * sizeof *more);
		if (more != NULL) {
			s->extent = more;
			s->cap = cap;
		}
	}
	if (s->n < s->cap)
		s->extent[s->n++] = *out;
	else
		st = NAM_NOMEM; /* the extent is lost with the node's process */
	pthread_mutex_unlock(&s->lock);
	return st;
}

static nam_status
view(struct part *s, struct part *first)
{
	const struct idx_tree_memory mem = { .take = take, .arg = first };
	const struct idx_tree_options o = { .cache = s->p->cache, .levels = s->p->levels };
	s->tree = idx_tree_open(s->anchor, 1, &mem, &o);
	return s->tree != NULL ? NAM_OK : NAM_NOMEM;
}

static nam_status
make(void *self, const struct cn_place *pl, struct ycsb_params *p)
{
	struct part *s = self;
	unsigned region[NET_REGIONS], n = txn_db_regions(txn_worker_db(pl->txn), region, NET_REGIONS);
	struct idx_tree_part part[IDX_TREE_PARTS];
	static const char zeros[IDX_TREE_ANCHOR_BYTES];
	*s = (struct part){ .p = p, .lock = PTHREAD_MUTEX_INITIALIZER };
	s->key = malloc(LOAD_BATCH * sizeof *s->key);
	s->at = malloc(LOAD_BATCH * sizeof *s->at);
	if (s->key == NULL || s->at == NULL)
		return NAM_NOMEM;
	unsigned parts = p->parts > 0 ? p->parts : n;
	if (parts > IDX_TREE_PARTS)
		parts = IDX_TREE_PARTS;
	for (unsigned i = 0; i < parts; i++)
		part[i] = (struct idx_tree_part){ .region = region[i % n],
			.low = { bench_keys_at(&p->keys, p->records * i / parts) } };
	nam_status st = take(s, pl->net, region[0], &s->anchor);
	if (st == NAM_OK)
		st = net_write1(pl->net, s->anchor, zeros, sizeof zeros, NULL);
	const struct idx_tree_config cfg = { .words = 1, .parts = parts, .part = part };
	const struct idx_tree_memory mem = { .take = take, .arg = s };
	if (st == NAM_OK)
		st = idx_tree_create(pl->net, s->anchor, &cfg, &mem);
	if (st == NAM_UNSUPPORTED)
		fprintf(stderr, "namdb bench: the storage nodes host no ordered index\n");
	return st == NAM_OK ? view(s, s) : st;
}

static nam_status
join(void *self, void *first)
{
	struct part *s = self, *f = first;
	*s = (struct part){ .p = f->p, .anchor = f->anchor };
	return view(s, f);
}

/* Entries are sent many at a time; n = 0: those that wait. */
static nam_status
load(void *self, const struct cn_place *pl, const uint64_t *key, const uint64_t *at, uint64_t n)
{
	struct part *s = self;
	nam_status st = NAM_OK;
	for (uint64_t i = 0; st == NAM_OK && (i < n || (n == 0 && s->waiting > 0));) {
		for (; i < n && s->waiting < LOAD_BATCH; i++, s->waiting++) {
			s->key[s->waiting] = key[i];
			s->at[s->waiting] = at[i];
		}
		if (n > 0 && s->waiting < LOAD_BATCH)
			break;
		uint64_t done = 0;
		st = idx_tree_fill(pl->net, s->tree, s->key, s->at, s->waiting, s->p->fill, &done, NULL);
		s->waiting = 0;
	}
	return st;
}

static nam_status
find(void *self, const struct cn_place *pl, const uint64_t *key, uint64_t *at, unsigned n,
    struct net_counts *counts)
{
	struct part *s = self;
	struct idx_tree_probe probe[YCSB_BATCH_MAX];
	for (unsigned i = 0; i < n; i++) {
		probe[i].tree = s->tree;
		probe[i].key = &key[i];
		probe[i].leaves = NULL;
	}
	nam_status st = idx_tree_lookup(pl->net, probe, n, counts);
	for (unsigned i = 0; st == NAM_OK && i < n; i++) {
		st = probe[i].status == NAM_ABSENT ? NAM_OK : probe[i].status;
		at[i] = probe[i].status == NAM_OK ? probe[i].hit[0] : 0;
	}
	return st;
}

static nam_status
add(void *self, const struct cn_place *pl, uint64_t key, uint64_t at, struct net_counts *counts)
{
	struct idx_tree_entry e = { .tree = ((struct part *)self)->tree, .key = &key, .value = at };
	nam_status st = idx_tree_insert(pl->net, &e, 1, counts);
	return st == NAM_OK ? e.status : st;
}

static nam_status
scan(void *self, const struct cn_place *pl, uint64_t low, uint64_t *key, uint64_t *at, unsigned *n,
    struct net_counts *counts)
{
	struct part *s = self;
	const struct idx_tree_range range = { .low = &low, .expect = *n };
	struct idx_tree_scan *c = idx_tree_scan_open(s->tree, &range, NULL);
	unsigned want = *n, got = 0;
	atomic_fetch_add_explicit(&s->scans, 1, memory_order_relaxed);
	nam_status st = c != NULL ? NAM_OK : NAM_NOMEM;
	while (st == NAM_OK && got < want) {
		unsigned more = 0;
		st = idx_tree_scan_next(pl->net, c, key + got, at + got, want - got, &more, counts);
		if (more == 0)
			break;
		got += more;
	}
	if (c != NULL)
		idx_tree_scan_close(c);
	*n = got;
	return st;
}

static nam_status
counts(void *self, const struct cn_place *pl, struct ycsb_path_counts *out)
{
	struct part *s = self;
	struct idx_tree_counts c;
	struct idx_tree_shape shape;
	idx_tree_counts(s->tree, &c);
	*out = (struct ycsb_path_counts){ .lookups = c.lookups + atomic_load(&s->scans),
		.index_reads = c.leaf_reads + c.inner_reads,
		.fallbacks = c.fallbacks,
		.cache_bytes = c.cache_bytes,
		.table_bytes = c.table_bytes };
	if (pl == NULL)
		return NAM_OK;
	nam_status st = idx_tree_shape(pl->net, s->tree, &shape, NULL);
	if (st == NAM_OK) {
		out->trains = shape.trains;
		out->entries = shape.entries;
		out->inner_bytes = shape.inner_bytes;
	}
	return st;
}

static void
leave(void *self, const struct cn_place *pl, bool drop)
{
	struct part *s = self;
	if (s->tree != NULL)
		idx_tree_close(s->tree);
	if (drop && s->anchor.bits != 0)
		idx_tree_drop(pl->net, s->anchor);
	for (unsigned i = 0; drop && i < s->n; i += RUN)
		net_extents_give(pl->net, s->n - i < RUN ? s->n - i : RUN, &s->extent[i]);
	free(s->extent);
	free(s->key);
	free(s->at);
}

const struct ycsb_path bench_ycsb_tree = { .size = sizeof(struct part),
	.make = make,
	.load = load,
	.join = join,
	.find = find,
	.add = add,
	.scan = scan,
	.counts = counts,
	.leave = leave };

/* ---- hosting --------------------------------------------------------------------------------- */

nam_status
bench_tree_host(struct bench_tree_hosts *h, struct bench_embedded *e, struct nam_err *err)
{
	nam_status st = NAM_OK;
	for (unsigned i = 0; st == NAM_OK && i < BENCH_EMBEDDED_NODES; i++) {
		struct net_service service[IDX_TREE_SERVICES];
		h->host[i] = idx_tree_host_open(i + 1, e->local[i]->base, e->local[i]->size);
		if (h->host[i] == NULL)
			return nam_fail(err, NAM_NOMEM, "no memory for the ordered index");
		idx_tree_host_services(h->host[i], service);
		const struct sn_serve_config cfg = {
			.service = service, .services = IDX_TREE_SERVICES, .unpinned = true
		};
		st = sn_region_serve(e->region[i], &cfg, err);
	}
	return st;
}

nam_status
bench_tree_host_sim(struct bench_tree_hosts *h, struct net_sim *sim, unsigned nodes, uint64_t bytes)
{
	nam_status st = NAM_OK;
	for (unsigned i = 0; st == NAM_OK && i < nodes; i++) {
		/* the simulator borrows them */
		struct net_service *service = calloc(IDX_TREE_SERVICES, sizeof *service);
		h->service[i] = service;
		h->host[i] = idx_tree_host_open(i + 1, net_sim_memory(sim, i + 1), bytes);
		if (service == NULL || h->host[i] == NULL)
			return NAM_NOMEM;
		idx_tree_host_services(h->host[i], service);
		st = net_sim_serve(sim, i + 1, service, IDX_TREE_SERVICES);
	}
	return st;
}

void
bench_tree_unhost(struct bench_tree_hosts *h)
{
	for (unsigned i = 0; i < YCSB_HOSTS_MAX; i++) {
		if (h->host[i] != NULL)
			idx_tree_host_close(h->host[i]);
		free(h->service[i]);
	}
	*h = (struct bench_tree_hosts){ 0 };
}
