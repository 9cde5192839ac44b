/* tables.c -- TPC-C's tables on a compute node: made, opened by other processes, filled and
 * dropped. */
#include "tpcc.h"

#include <bench/mix.h>
#include <bench/ycsb/tree.h>

#include <stdlib.h>
#include <string.h>

enum { NUMBERS = 16, BATCH = 32, ORDERS_A_SECOND = 30000 /* of a worker, at most */ };
static_assert((int)TPCC_TABLES <= (int)NUMBERS, "numbers of a run");

const char *const bench_tpcc_table_names[TPCC_TABLES] = { "warehouse", "district", "customer", "history",
	"new_order", "orders", "order_line", "item", "stock", "newest" };
const uint32_t bench_tpcc_row_bytes[TPCC_TABLES] = { sizeof(struct tpcc_warehouse),
	sizeof(struct tpcc_district), sizeof(struct tpcc_customer), sizeof(struct tpcc_history),
	sizeof(struct tpcc_new_order), sizeof(struct tpcc_orders), sizeof(struct tpcc_line),
	sizeof(struct tpcc_item), sizeof(struct tpcc_stock), sizeof(struct tpcc_newest) };
const uint32_t bench_tpcc_key_bytes[TPCC_TABLES] = { 4, 8, 12, 0, 12, 12, 16, 4, 8, 12 };

/* ---- customers by name ----------------------------------------------------------------------- */

static void
name_key(int32_t w, int32_t d, const char last[16], const char first[16], uint64_t *words)
{
	words[0] = (uint64_t)(uint32_t)w << 32 | (uint32_t)d;
	idx_tree_key(last, 16, 2, words + 1);
	idx_tree_key(first, 16, 2, words + 3);
}

static bool
key_of_customer(const struct txn_order *o, const void *row, uint32_t len, uint64_t *words)
{
	const struct tpcc_customer *c = row;
	(void)o;
	if (len < sizeof *c)
		return false;
	name_key(c->w, c->d, c->last, c->first, words);
	return true;
}

void
bench_tpcc_name_range(
    int32_t w, int32_t d, const char last[16], uint64_t low[TPCC_NAME_WORDS], uint64_t high[TPCC_NAME_WORDS])
{
	char least[16], most[16];
	memset(least, 0, sizeof least);
	memset(most, 0xff, sizeof most);
	name_key(w, d, last, least, low);
	name_key(w, d, last, most, high);
}

/* ---- tables ---------------------------------------------------------------------------------- */

static bool
same_key(const struct txn_table *t, const void *row, uint32_t len, const void *key, uint32_t key_len)
{
	(void)t;
	return len >= key_len && memcmp(row, key, key_len) == 0;
}

static void
describe(struct tpcc_side *s, enum tpcc_table i)
{
	uint32_t id = s->table[i].id;
	net_addr anchor = s->table[i].anchor;
	s->by_name = (struct txn_order){
		.words = TPCC_NAME_WORDS, .key = key_of_customer, .options = { .cache = IDX_TREE_INNER }
	};
	s->table[i] = (struct txn_table){ .id = id,
		.anchor = anchor,
		.slots = 2,
		.row_max = bench_tpcc_row_bytes[i],
		.has_key = bench_tpcc_key_bytes[i] != 0,
		.same_key = same_key,
		.order = i == TPCC_CUSTOMER ? &s->by_name : NULL,
		.orders = i == TPCC_CUSTOMER };
}

nam_status
bench_tpcc_make(struct tpcc_side *s, const struct cn_place *pl)
{
	uint32_t id = UINT32_C(0x80000000) | (uint32_t)nam_rng_below(net_rng(pl->net), 0x07ffffff) * NUMBERS;
	nam_status st = NAM_OK;
	for (unsigned i = 0; st == NAM_OK && i < TPCC_TABLES; i++) {
		s->table[i] = (struct txn_table){ .id = id + i };
		describe(s, i);
		st = txn_table_create(pl->txn, &s->table[i]);
		if (st == NAM_OK)
			st = txn_table_open(txn_worker_db(pl->txn), &s->table[i]);
	}
	/* Indexes that the run would make grow have room from the start. */
	uint64_t orders = (uint64_t)s->p->warehouses * TPCC_DISTRICTS * s->p->customers +
			  (uint64_t)(s->p->seconds * ORDERS_A_SECOND);
	static const enum tpcc_table grows[] = { TPCC_ORDERS, TPCC_NEW_ORDER, TPCC_LINE };
	for (unsigned i = 0; st == NAM_OK && i < 3; i++)
		st = txn_table_reserve(
		    pl->txn, &s->table[grows[i]], grows[i] == TPCC_LINE ? orders * 10 : orders);
	return st;
}

nam_status
bench_tpcc_open(struct tpcc_side *s, const struct cn_place *pl)
{
	nam_status st = NAM_OK;
	for (unsigned i = 0; st == NAM_OK && i < TPCC_TABLES; i++) {
		describe(s, i);
		st = txn_table_open(txn_worker_db(pl->txn), &s->table[i]);
	}
	return st;
}

void
bench_tpcc_drop(struct tpcc_side *s, const struct cn_place *pl)
{
	struct bench_table all[TPCC_TABLES];
	for (unsigned i = 0; i < TPCC_TABLES; i++)
		all[i] = (struct bench_table){ .at = &s->table[i] };
	bench_tables_drop(pl, all, TPCC_TABLES);
}

struct txn_get
bench_tpcc_get(struct tpcc_side *s, enum tpcc_table table, const void *key)
{
	return bench_get(&s->table[table], key, bench_tpcc_key_bytes[table]);
}

struct txn_put
bench_tpcc_put(struct tpcc_side *s, enum tpcc_table table, const void *row)
{
	struct txn_put p =
	    bench_put(&s->table[table], row, bench_tpcc_row_bytes[table], bench_tpcc_key_bytes[table]);
	if (p.key_len == 0)
		p.key = NULL;
	return p;
}

/* ---- filling --------------------------------------------------------------------------------- */

/* Rows of one table that wait until a batch is full. */
struct waiting {
	unsigned n;
	char row[BATCH][sizeof(struct tpcc_customer)];
};
struct loading {
	struct tpcc_side *s;
	const struct cn_place *pl;
	bool insert;
	struct waiting table[TPCC_TABLES];
};

static nam_status
insert(struct loading *l, enum tpcc_table table)
{
	struct waiting *w = &l->table[table];
	struct txn_put put[BATCH];
	nam_status st = NAM_CONFLICT;
	/* Two keys of the same signature, inserted at the same moment, may meet in one empty
	 * block. */
	while (st == NAM_CONFLICT) {
		struct txn *t;
		if ((st = txn_begin(l->pl->txn, TXN_REPEATABLE_READ, &t)) != NAM_OK)
			return st;
		for (unsigned i = 0; i < w->n; i++)
			put[i] = bench_tpcc_put(l->s, table, w->row[i]);
		st = txn_insert(t, put, w->n);
		if (st == NAM_OK)
			st = txn_commit(t, NULL);
		else
			txn_abort(t);
	}
	return st;
}

/* Rows may have been deleted since. */
static nam_status
look(struct loading *l, enum tpcc_table table)
{
	struct waiting *w = &l->table[table];
	struct txn_get get[BATCH];
	struct nam_arena a;
	struct txn *t;
	nam_status st = txn_begin(l->pl->txn, TXN_REPEATABLE_READ, &t);
	if (st != NAM_OK)
		return st;
	nam_arena_init(&a, 64 << 10);
	for (unsigned i = 0; i < w->n; i++)
		get[i] = bench_tpcc_get(l->s, table, w->row[i]);
	st = txn_get(t, get, w->n, &a);
	txn_abort(t);
	nam_arena_fini(&a);
	return st;
}

static nam_status
pass_on(struct loading *l, enum tpcc_table table)
{
	struct waiting *w = &l->table[table];
	nam_status st = w->n == 0 ? NAM_OK : l->insert ? insert(l, table) : look(l, table);
	atomic_fetch_add_explicit(&l->s->loaded, w->n, memory_order_relaxed);
	w->n = 0;
	return st;
}

static nam_status
add(void *arg, enum tpcc_table table, const void *row)
{
	struct loading *l = arg;
	struct waiting *w = &l->table[table];
	if (!l->insert && table == TPCC_HISTORY)
		return NAM_OK;
	memcpy(w->row[w->n++], row, bench_tpcc_row_bytes[table]);
	return w->n == BATCH ? pass_on(l, table) : NAM_OK;
}

nam_status
bench_tpcc_load(struct tpcc_side *s, const struct cn_place *pl, unsigned part, bool insert)
{
	struct loading *l = malloc(sizeof *l);
	if (l == NULL)
		return NAM_NOMEM;
	l->s = s;
	l->pl = pl;
	l->insert = insert;
	for (unsigned i = 0; i < TPCC_TABLES; i++)
		l->table[i].n = 0;
	nam_status st = bench_tpcc_part(s->p, part, add, l);
	for (unsigned i = 0; st == NAM_OK && i < TPCC_TABLES; i++)
		st = pass_on(l, i);
	free(l);
	return st;
}

/* ---- how much memory ------------------------------------------------------------------------- */

uint64_t
bench_tpcc_bytes(const void *params)
{
	const struct tpcc_params *p = params;
	uint64_t orders = (uint64_t)p->warehouses * TPCC_DISTRICTS * p->customers;
	/* Two versions of a row, its head, its entry: an order with its lines, customer and
	 * history; stock; items. A second of a worker's time makes 100 MB of orders at most. */
	return orders * 7000 + (uint64_t)p->warehouses * p->items * 1000 + (uint64_t)p->items * 400 +
	       (uint64_t)(p->seconds * 150e6) + (UINT64_C(1) << 29);
}

size_t
bench_tpcc_entries(const void *params)
{
	const struct tpcc_params *p = params;
	return (size_t)p->warehouses * (p->items + TPCC_DISTRICTS * p->customers * (size_t)20) * 2 +
	       (1 << 20);
}

/* ---- as one of the two ways into namdb ------------------------------------------------------- */

static nam_status
find_and_open(struct tpcc_side *s, const struct cn_place *pl)
{
	nam_status st = bench_tpcc_find(s, pl);
	return st == NAM_OK ? bench_tpcc_open(s, pl) : st;
}

static nam_status
loaded(struct tpcc_side *s, const struct cn_place *pl, bool tell)
{
	return tell ? bench_tpcc_tell(s, pl) : NAM_OK;
}

static nam_status
drop_all(struct tpcc_side *s, const struct cn_place *pl, bool told)
{
	bench_tpcc_drop(s, pl);
	return told ? bench_tpcc_forget(pl) : NAM_OK;
}

const struct tpcc_ops bench_tpcc_native = { .make = bench_tpcc_make,
	.open = find_and_open,
	.load = bench_tpcc_load,
	.loaded = loaded,
	.client = bench_tpcc_client,
	.check = bench_tpcc_check,
	.drop = drop_all,
	.bytes = bench_tpcc_bytes };

/* ---- as a user of the simulator -------------------------------------------------------------- */

static struct bench_tree_hosts hosts;

static nam_status
host(const void *params, struct net_sim *sim, unsigned nodes, uint64_t region)
{
	(void)params;
	return bench_tree_host_sim(&hosts, sim, nodes, region);
}

static void
unhost(const void *params)
{
	(void)params;
	bench_tree_unhost(&hosts);
}

static void
begin(void *side, const struct bench_sim *p, unsigned machine, struct net_counts *counts)
{
	struct tpcc_side *s = side;
	(void)machine;
	s->p = &bench_tpcc_params;
	s->counts = counts;
	s->seed = p->seed;
}

static unsigned
tables(void *side, struct txn_table *out[BENCH_SIM_TABLES])
{
	struct tpcc_side *s = side;
	for (unsigned i = 0; i < TPCC_TABLES; i++)
		out[i] = &s->table[i];
	return TPCC_TABLES;
}

static nam_status
prepare(void *side, const struct cn_place *pl)
{
	return bench_tpcc_make(side, pl);
}

static nam_status
every(struct tpcc_side *s, const struct cn_place *pl, bool insert)
{
	nam_status st = NAM_OK;
	unsigned n = bench_tpcc_parts(s->p);
	for (unsigned i = 0; st == NAM_OK && i < n; i++) {
		st = bench_tpcc_load(s, pl, i, insert);
		bench_progress("%s %3u %%", insert ? "loading" : "reading", i * 100 / n);
	}
	bench_progress_end(NULL);
	return st;
}

static nam_status
warm(void *side, const struct cn_place *pl)
{
	return every(side, pl, false);
}

static nam_status
load(void *side, const struct cn_place *pl)
{
	nam_status st = every(side, pl, true);
	return st == NAM_OK ? warm(side, pl) : st;
}

static const char *
full(void *side)
{
	return atomic_load(&((struct tpcc_side *)side)->full) ? "the storage nodes are full" : NULL;
}

static void
drop(void *side, const struct cn_place *pl)
{
	bench_tpcc_drop(side, pl);
}

static bool
take(void *params, int letter, char *v)
{
	struct tpcc_params *p = params;
	unsigned n;
	switch (letter) {
	case 'W':
		return bench_take_numbers(v, 1, TPCC_WAREHOUSES, &p->warehouses, 1, &n);
	case 'z':
		p->customers = strcmp(v, "spec") == 0 ? 3000 : 300;
		p->items = strcmp(v, "spec") == 0 ? 100000 : 10000;
		return strcmp(v, "spec") == 0 || strcmp(v, "small") == 0;
	default:
		return false;
	}
}

static void
usage(FILE *to)
{
	fprintf(to,
	    "usage: namdb bench tpcc --sim MODEL [options]\n"
	    "TPC-C's full mix in virtual time on machines of a model: fdr4x, cx6 or xstore.\n"
	    "  --warehouses N   warehouses (default 1)\n"
	    "  --size S         small (default: 300 customers a district, 10000 items) or spec (3000,\n"
	    "                   100000)\n");
	bench_sim_usage(to, "1,8,64", "1+2", "0.005");
}

const struct bench_sim_user bench_tpcc_user = { .bench = "tpcc",
	.params = &bench_tpcc_params,
	.side_size = sizeof(struct tpcc_side),
	.usage = usage,
	.take = take,
	.bytes = bench_tpcc_bytes,
	.entries = bench_tpcc_entries,
	.host = host,
	.unhost = unhost,
	.begin = begin,
	.tables = tables,
	.prepare = prepare,
	.load = load,
	.warm = warm,
	.client = bench_tpcc_client,
	.full = full,
	.check = bench_tpcc_check,
	.drop = drop,
	.more = bench_mix_more };
