/* fixture.h -- a simulated cluster for txn's tests: compute processes, two tables, rows, and
 * helpers that assert. */
#ifndef NAM_TXN_TESTING_FIXTURE_H
#define NAM_TXN_TESTING_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* cmocka after the four above */
#include <net/region_format.h>
#include <net/sim/sim.h>
#include <txn/txn_internal.h>
#include <wal/remote/host.h>

#include <cmocka.h>

struct row {
	uint64_t key;
	int64_t value;
	struct txn_blob blob;
	unsigned char fill[32];
};

enum { PROCS = 4 };
static bool fixture_bystander;                       /* process 0 recovers no other process */
static unsigned fixture_nodes;                       /* 0 = 3 */
static uint64_t fixture_byte_ps, fixture_latency_ns; /* how slow the network is, 0 = the default */
static const struct txn_order *fixture_order;        /* of the first table; its nodes host trees */
static unsigned fixture_orders;
static struct wal_dir *fixture_log; /* node 1 keeps a log there; NULL = the cluster has none */
static struct wal_dir *fixture_copy[WAL_COPIES - 1]; /* nodes 2 and 3 keep copies of it there */
/* Their commits go by rings; so large that three fit into the extent of the log's line. */
static bool fixture_rings;
enum { FIXTURE_NODES_MAX = 8, FIXTURE_RINGS_AT = 4096, FIXTURE_RING_BYTES = 16 << 10 };
struct fixture {
	struct net_sim *sim;
	struct idx_tree_host *host[FIXTURE_NODES_MAX + 1];
	struct net_service service[FIXTURE_NODES_MAX + 1][IDX_TREE_SERVICES];
	struct wal_host *log[WAL_COPIES];
	struct net_service served[WAL_COPIES][1 + IDX_TREE_SERVICES]; /* by nodes with a log */
	struct net *net[PROCS];
	struct net_worker *w[PROCS];
	struct net_worker *more; /* of any process: closed with the others */
	struct txn_db *db[PROCS];
	struct txn_worker *tw[PROCS];
	struct txn_table tab[PROCS], bare[PROCS];
	unsigned procs;
	unsigned slots;
	uint32_t vector;
	uint64_t region_bytes;
	void (*body)(struct fixture *);
	struct nam_arena a;
	bool ok;
};

static inline bool
row_same_key(const struct txn_table *t, const void *row, uint32_t len, const void *key, uint32_t key_len)
{
	(void)t;
	return len >= 8 && key_len == 8 && memcmp(row, key, 8) == 0;
}

static inline unsigned
row_blobs(const struct txn_table *t, const void *row, uint32_t len, struct txn_blob *out, unsigned max)
{
	(void)t;
	if (len < sizeof(struct row) || max == 0)
		return 0;
	memcpy(out, (const char *)row + offsetof(struct row, blob), sizeof *out);
	return out->len > 0;
}

/* For an order by value. Rows of negative value are not in it. */
static inline bool
row_by_value(const struct txn_order *o, const void *row, uint32_t len, uint64_t *words)
{
	struct row r;
	(void)o;
	if (len < sizeof r)
		return false;
	memcpy(&r, row, sizeof r);
	words[0] = (uint64_t)r.value;
	return r.value >= 0;
}

static inline struct row
mk(uint64_t key, int64_t value)
{
	struct row r = { .key = key, .value = value };
	memset(r.fill, (int)(value & 0xff), sizeof r.fill);
	return r;
}

static inline struct txn *
begin(struct fixture *fix, unsigned p, enum txn_iso iso)
{
	struct txn *t = NULL;
	assert_int_equal(txn_begin(fix->tw[p], iso, &t), NAM_OK);
	return t;
}

static inline nam_status
insert_row(struct txn *t, struct txn_table *tab, const struct row *r)
{
	struct txn_put p = { .table = tab, .bytes = r, .len = sizeof *r };
	if (tab->has_key) {
		p.key = &r->key;
		p.key_len = 8;
		p.hash = nam_hash(&r->key, 8, tab->id);
	}
	return txn_insert(t, &p, 1);
}

static inline nam_status
insert(struct txn *t, struct txn_table *tab, uint64_t key, int64_t value)
{
	struct row r = mk(key, value);
	return insert_row(t, tab, &r);
}

static inline nam_status
get(struct fixture *fix, struct txn *t, struct txn_table *tab, uint64_t key, struct txn_row *row,
    struct row *out)
{
	struct txn_get g = { .table = tab, .key = &key, .key_len = 8, .hash = nam_hash(&key, 8, tab->id) };
	nam_status st = txn_get(t, &g, 1, &fix->a);
	if (st != NAM_OK)
		return st;
	if (g.status == NAM_OK) {
		assert_int_equal(g.row.len, sizeof *out);
		memcpy(out, g.row.bytes, sizeof *out);
		assert_int_equal(out->key, key);
		for (unsigned i = 0; i < sizeof out->fill; i++)
			assert_int_equal(out->fill[i], (unsigned char)out->value);
		*row = g.row;
	}
	return g.status;
}

/* The value of a key, or -1 when there is none. */
static inline int64_t
value_of(struct fixture *fix, struct txn *t, struct txn_table *tab, uint64_t key)
{
	struct txn_row row;
	struct row r;
	nam_status st = get(fix, t, tab, key, &row, &r);
	assert_true(st == NAM_OK || st == NAM_ABSENT);
	return st == NAM_OK ? r.value : -1;
}

static inline nam_status
set(struct fixture *fix, struct txn *t, struct txn_table *tab, uint64_t key, int64_t value)
{
	struct txn_row row;
	struct row r;
	nam_status st = get(fix, t, tab, key, &row, &r);
	if (st == NAM_OK)
		st = txn_lock(t, tab, &row);
	r = mk(key, value);
	return st == NAM_OK ? txn_update(t, tab, &row, &r, sizeof r) : st;
}

static inline nam_status
del(struct fixture *fix, struct txn *t, struct txn_table *tab, uint64_t key)
{
	struct txn_row row;
	struct row r;
	nam_status st = get(fix, t, tab, key, &row, &r);
	if (st == NAM_OK)
		st = txn_lock(t, tab, &row);
	return st == NAM_OK ? txn_delete(t, tab, &row) : st;
}

/* Commits with cluster-wide visibility: every process's next snapshot shows it. */
static inline void
commit_all(struct txn *t)
{
	txn_set_cluster_visible(t, true);
	assert_int_equal(txn_commit(t, NULL), NAM_OK);
}

/* Keys 0..n-1 with value v, visible to all processes. */
static inline void
fill(struct fixture *fix, uint64_t n, int64_t v)
{
	struct txn *t = begin(fix, 0, TXN_REPEATABLE_READ);
	for (uint64_t k = 0; k < n; k++)
		assert_int_equal(insert(t, &fix->tab[0], k, v), NAM_OK);
	commit_all(t);
}

static inline void
fixture_main(void *arg)
{
	struct fixture *fix = arg;
	struct txn_config cfg = { .vector = fix->vector, .ptr_cache_entries = 4096, .lease_ms = 100 };
	for (unsigned p = 0; p < fix->procs; p++) {
		struct nam_err err;
		cfg.bystander = p == 0 && fixture_bystander;
		assert_int_equal(txn_db_open(fix->w[p], &cfg, &fix->db[p], &err), NAM_OK);
		assert_int_equal(txn_worker_open(fix->db[p], fix->w[p], &fix->tw[p]), NAM_OK);
		if (fixture_log != NULL) {
			bool restorer, restores;
			assert_int_equal(txn_life(fix->tw[p], NULL, &restorer, &restores, &err), NAM_OK);
			assert_int_equal(restorer, p == 0);
			if (restorer)
				assert_int_equal(txn_life_done(fix->tw[p], NULL, &err), NAM_OK);
		}
	}
	fix->tab[0] = (struct txn_table){ .id = 1,
		.slots = (uint16_t)fix->slots,
		.row_max = sizeof(struct row),
		.has_key = true,
		.same_key = row_same_key,
		.blobs = row_blobs,
		.order = fixture_order,
		.orders = fixture_orders };
	fix->bare[0] = (struct txn_table){ .id = 2, .row_max = sizeof(struct row) };
	assert_int_equal(txn_table_create(fix->tw[0], &fix->tab[0]), NAM_OK);
	assert_int_equal(txn_table_create(fix->tw[0], &fix->bare[0]), NAM_OK);
	for (unsigned p = 0; p < fix->procs; p++) {
		fix->tab[p] = fix->tab[0];
		fix->bare[p] = fix->bare[0];
	}
	for (unsigned p = 0; p < fix->procs; p++) {
		assert_int_equal(txn_table_open(fix->db[p], &fix->tab[p]), NAM_OK);
		assert_int_equal(txn_table_open(fix->db[p], &fix->bare[p]), NAM_OK);
	}
	fix->body(fix);
	for (unsigned p = fix->procs; p-- > 0;) {
		if (fix->tw[p] != NULL)
			txn_worker_close(fix->tw[p]);
		txn_table_close(fix->db[p], &fix->tab[p]);
		txn_table_close(fix->db[p], &fix->bare[p]);
		txn_db_close(fix->w[p], fix->db[p]);
	}
	fix->ok = true;
}

static inline struct wal_dir *
fixture_log_of(unsigned node)
{
	return node == 1 ? fixture_log : node <= WAL_COPIES ? fixture_copy[node - 2] : NULL;
}

/* That node keeps a log: its services are the log and, if there are orders, trees. */
static inline void
fixture_serve_log(struct fixture *fix, unsigned node, struct net_service *service, unsigned n)
{
	struct net_service *all = fix->served[node - 1]; /* borrowed by the simulator */
	struct net_super *super = net_sim_memory(fix->sim, node);
	struct nam_err err;
	super->log = super->bump;
	super->bump += NET_EXTENT;
	const struct wal_host_config cfg = {
		.log = { .dir = fixture_log_of(node), .node = node, .segment_bytes = 1 << 20 },
		.line = (struct wal_line *)(void *)((char *)super + super->log),
		.line_at = net_at(node, super->log),
		.rings = fixture_rings ? (char *)super + super->log + FIXTURE_RINGS_AT : NULL,
		.rings_at = net_at(node, super->log + FIXTURE_RINGS_AT),
		.rings_bytes = NET_EXTENT - FIXTURE_RINGS_AT,
		.ring_bytes = FIXTURE_RING_BYTES,
		.rings_any = true,
	};
	assert_int_equal(wal_host_open(&fix->log[node - 1], &cfg, &err), NAM_OK);
	if (n > 0)
		memcpy(all, service, n * sizeof *service);
	wal_host_service(fix->log[node - 1], &all[n]);
	assert_int_equal(net_sim_serve(fix->sim, node, all, n + 1), NAM_OK);
}

static inline void
run_lab(unsigned procs, unsigned slots, uint64_t seed, uint64_t region_bytes, uint32_t vector,
    void (*body)(struct fixture *))
{
	struct fixture *fix = calloc(1, sizeof *fix);
	assert_non_null(fix);
	fix->procs = procs;
	fix->slots = slots;
	fix->body = body;
	fix->vector = vector;
	nam_arena_init(&fix->a, 0);
	struct net_sim_config cfg = { .seed = seed,
		.nodes = fixture_nodes != 0 ? fixture_nodes : 3,
		.region_bytes = region_bytes,
		.latency_ns = fixture_latency_ns,
		.byte_ps = fixture_byte_ps,
		.tear_permille = 300,
		.reorder_permille = 300 };
	assert_int_equal(net_sim_open(&fix->sim, &cfg), NAM_OK);
	for (unsigned r = 1; fixture_orders > 0 && r <= cfg.nodes && r <= FIXTURE_NODES_MAX; r++) {
		fix->host[r] = idx_tree_host_open(r, net_sim_memory(fix->sim, r), cfg.region_bytes);
		assert_non_null(fix->host[r]);
		idx_tree_host_services(fix->host[r], fix->service[r]);
		if (fixture_log_of(r) != NULL)
			continue;
		assert_int_equal(net_sim_serve(fix->sim, r, fix->service[r], IDX_TREE_SERVICES), NAM_OK);
	}
	for (unsigned r = 1; r <= cfg.nodes && r <= WAL_COPIES; r++)
		if (fixture_log_of(r) != NULL)
			fixture_serve_log(
			    fix, r, fix->service[r], fixture_orders > 0 ? IDX_TREE_SERVICES : 0);
	for (unsigned p = 0; p < procs; p++) {
		assert_int_equal(net_sim_attach(fix->sim, &fix->net[p]), NAM_OK);
		assert_int_equal(net_worker_open(fix->net[p], &fix->w[p], NULL), NAM_OK);
	}
	assert_non_null(nam_co_start(net_worker_sched(fix->w[0]), fixture_main, fix, 256 << 10));
	assert_true(net_sim_run(fix->sim, NULL, NULL));
	assert_true(fix->ok);
	if (fix->more != NULL)
		net_worker_close(fix->more);
	for (unsigned p = 0; p < procs; p++) {
		net_worker_close(fix->w[p]);
		net_close(fix->net[p]);
	}
	net_sim_close(fix->sim);
	/* As a cut of power does: what is not flushed is gone. */
	for (unsigned i = 0; i < WAL_COPIES; i++)
		wal_host_drop(fix->log[i]);
	for (unsigned r = 1; r <= FIXTURE_NODES_MAX; r++)
		if (fix->host[r] != NULL)
			idx_tree_host_close(fix->host[r]);
	nam_arena_fini(&fix->a);
	free(fix);
}

static inline void
run_sized(
    unsigned procs, unsigned slots, uint64_t seed, uint64_t region_bytes, void (*body)(struct fixture *))
{
	run_lab(procs, slots, seed, region_bytes, region_bytes < 4 << 20 ? 1024 : 0, body);
}

/* With a vector so short that it wraps many times. */
static inline void
run_wrapping(unsigned procs, unsigned slots, uint64_t seed, uint32_t vector, void (*body)(struct fixture *))
{
	run_lab(procs, slots, seed, 16 << 20, vector, body);
}

static inline void
run(unsigned procs, unsigned slots, uint64_t seed, void (*body)(struct fixture *))
{
	run_sized(procs, slots, seed, 16 << 20, body);
}

/* Runs a body on several seeds and slot counts. */
static inline void
run_some(unsigned procs, void (*body)(struct fixture *))
{
	for (uint64_t seed = 1; seed <= 6; seed++)
		run(procs, 2 + (unsigned)seed % 3, seed, body);
}

/* Number of free extents on all nodes. */
static inline unsigned
at_nodes(struct fixture *fix)
{
	unsigned sum = 0;
	for (unsigned r = 1; r <= 3; r++) {
		const char *mem = net_sim_memory(fix->sim, r);
		const struct net_super *s = (const void *)mem;
		uint64_t number = s->free_head & UINT32_MAX;
		if (number != 0)
			sum += (unsigned)((const struct net_free *)(const void *)(mem + number * NET_EXTENT))
				   ->depth;
		if (s->bump < s->size)
			sum += (unsigned)((s->size - s->bump) / NET_EXTENT);
	}
	return sum;
}

#endif
