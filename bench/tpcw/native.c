/* native.c -- the checkout on txn's own interface: rows are structs, no SQL above. */
#include "tpcw.h"

#include <base/hash.h>
#include <bench/tables.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOAD_BATCH = 32 };

static bool
key8(const struct txn_table *t, const void *row, uint32_t len, const void *key, uint32_t key_len)
{
	(void)t;
	uint64_t a, b;
	if (len < 8 || key_len != 8)
		return false;
	memcpy(&a, row, 8);
	memcpy(&b, key, 8);
	return a == b;
}

static bool
key16(const struct txn_table *t, const void *row, uint32_t len, const void *key, uint32_t key_len)
{
	(void)t;
	return len >= 16 && key_len == 16 && memcmp(row, key, 16) == 0;
}

static nam_status
prepare(struct tpcw_side *s, const struct cn_place *pl)
{
	struct nam_rng *r = net_rng(pl->net);
	/* Ids far above the catalog's, new each run. */
	uint32_t id = UINT32_C(0x80000000) | (uint32_t)nam_rng_below(r, 0x3fffffff) * 2;
	struct txn_table *t[3] = { &s->product, &s->order, &s->line };
	static const uint32_t row[3] = { sizeof(struct tpcw_product), sizeof(struct tpcw_order),
		sizeof(struct tpcw_line) };
	nam_status st = NAM_OK;
	for (unsigned i = 0; st == NAM_OK && i < 3; i++) {
		*t[i] = (struct txn_table){ .id = id + i,
			.slots = 2,
			.row_max = row[i],
			.has_key = true,
			.same_key = i == 2 ? key16 : key8 };
		st = txn_table_create(pl->txn, t[i]);
		if (st == NAM_OK)
			st = txn_table_open(txn_worker_db(pl->txn), t[i]);
	}
	if (st == NAM_OK && s->p->orders != 0)
		st = txn_table_reserve(pl->txn, &s->order, s->p->orders);
	if (st == NAM_OK && s->p->orders != 0)
		st = txn_table_reserve(pl->txn, &s->line, s->p->orders * TPCW_ITEMS);
	s->opened = st == NAM_OK;
	return st;
}

nam_status
tpcw_native_warm(struct tpcw_side *s, const struct cn_place *pl, uint64_t from, uint64_t to)
{
	nam_status st = NAM_OK;
	struct nam_arena a;
	nam_arena_init(&a, 128 << 10);
	for (uint64_t i = from; st == NAM_OK && i < to;) {
		struct txn *t;
		struct txn_get get[LOAD_BATCH];
		int64_t id[LOAD_BATCH];
		unsigned n = 0;
		for (; n < LOAD_BATCH && i < to; n++, i++) {
			id[n] = (int64_t)i;
			get[n] = (struct txn_get){ .table = &s->product,
				.key = &id[n],
				.key_len = 8,
				.hash = nam_hash(&id[n], 8, s->product.id) };
		}
		st = txn_begin(pl->txn, TXN_REPEATABLE_READ, &t);
		if (st != NAM_OK)
			break;
		nam_arena_reset(&a);
		st = txn_get(t, get, n, &a);
		for (unsigned k = 0; st == NAM_OK && k < n; k++)
			st = get[k].status;
		txn_abort(t);
	}
	nam_arena_fini(&a);
	return st;
}

static nam_status
load(struct tpcw_side *s, const struct cn_place *pl, uint64_t from, uint64_t to, _Atomic uint64_t *done)
{
	struct tpcw_product *row = malloc(LOAD_BATCH * sizeof *row);
	struct txn_put put[LOAD_BATCH];
	nam_status st = row ? NAM_OK : NAM_NOMEM;
	for (uint64_t i = from; st == NAM_OK && i < to;) {
		struct txn *t;
		st = txn_begin(pl->txn, TXN_REPEATABLE_READ, &t);
		if (st != NAM_OK)
			break;
		uint64_t first = i;
		unsigned n = 0;
		for (; n < LOAD_BATCH && i < to; n++, i++) {
			tpcw_product_fill(&row[n], (int64_t)i);
			put[n] = (struct txn_put){ .table = &s->product,
				.key = &row[n].id,
				.key_len = 8,
				.hash = nam_hash(&row[n].id, 8, s->product.id),
				.bytes = &row[n],
				.len = sizeof row[n] };
		}
		st = txn_insert(t, put, n);
		if (st == NAM_OK)
			st = txn_commit(t, NULL);
		else
			txn_abort(t);
		/* Two keys of the same signature, inserted at the same moment, may meet in one
		 * empty block. */
		if (st == NAM_CONFLICT) {
			st = NAM_OK;
			i = first;
			n = 0;
		}
		atomic_fetch_add_explicit(done, n, memory_order_relaxed);
	}
	free(row);
	return st == NAM_OK ? tpcw_native_warm(s, pl, from, to) : st;
}

/*
 * One checkout. It changes each product that it reads, so it needs no snapshot (txn_begin_latest),
 * and the keys of its order are looked up beside the products. With --snapshot it is a transaction
 * like any other, which may also read what it leaves alone.
 */
static nam_status
checkout(struct tpcw_side *s, const struct cn_place *pl, const struct tpcw_cart *c, struct nam_arena *a,
    struct net_counts *counts, int64_t now_ns)
{
	struct txn *t;
	struct txn_get get[TPCW_ITEMS];
	uint64_t line_hash[TPCW_ITEMS], order_hash = nam_hash(&c->order, 8, s->order.id);
	txn_expect(pl->txn, &s->order, order_hash, true);
	for (unsigned i = 0; i < TPCW_ITEMS; i++) {
		int64_t key[2] = { c->order, i + 1 };
		line_hash[i] = nam_hash(key, sizeof key, s->line.id);
		txn_expect(pl->txn, &s->line, line_hash[i], true);
		get[i] = (struct txn_get){ .table = &s->product,
			.key = &c->product[i],
			.key_len = 8,
			.hash = nam_hash(&c->product[i], 8, s->product.id) };
		txn_expect(pl->txn, &s->product, get[i].hash, false);
	}
	struct txn_put put[TPCW_ITEMS + 1] = { { .table = &s->order, .key = &c->order, .hash = order_hash } };
	for (unsigned i = 0; i < TPCW_ITEMS; i++)
		put[i + 1] =
		    (struct txn_put){ .table = &s->line, .key = &line_hash[i], .hash = line_hash[i] };
	nam_status st = s->p->snapshot ? txn_begin(pl->txn, TXN_REPEATABLE_READ, &t)
				       : txn_begin_latest(pl->txn, NULL, &t);
	if (st != NAM_OK)
		return st;
	st = txn_get_ahead(t, get, TPCW_ITEMS, put, s->p->snapshot ? 0 : TPCW_ITEMS + 1, a);
	if (s->p->work_us != 0)
		net_sleep(pl->net, s->p->work_us * UINT64_C(1000));
	struct tpcw_line line[TPCW_ITEMS];
	struct tpcw_order order = { .id = c->order, .customer = c->customer, .placed_us = now_ns };
	for (unsigned i = 0; st == NAM_OK && i < TPCW_ITEMS; i++) {
		if (get[i].status != NAM_OK) {
			st = NAM_CORRUPT; /* every product exists */
			break;
		}
		void *bytes;
		st = txn_edit(t, &s->product, &get[i].row, &bytes);
		if (st != NAM_OK)
			break;
		struct tpcw_product *p = bytes;
		p->stock -= c->quantity[i];
		p->sold += c->quantity[i];
		order.total_cents += p->price_cents * c->quantity[i];
		line[i] = (struct tpcw_line){ c->order, i + 1, c->product[i], c->quantity[i], p->price_cents,
			"as ordered" };
		put[i + 1] = (struct txn_put){ .table = &s->line,
			.key = &line[i],
			.key_len = 16,
			.hash = line_hash[i],
			.bytes = &line[i],
			.len = sizeof line[i] };
	}
	memcpy(order.ship_to, "to the customer's address", 26);
	put[0] = (struct txn_put){ .table = &s->order,
		.key = &order.id,
		.key_len = 8,
		.hash = order_hash,
		.bytes = &order,
		.len = sizeof order };
	if (st == NAM_OK)
		st = txn_insert(t, put, TPCW_ITEMS + 1);
	const struct net_counts *used = txn_counts(t);
	if (st != NAM_OK) {
		net_counts_add(counts, used);
		txn_abort(t);
		return st;
	}
	/* t is gone after the commit: its counters are read by the sink below. */
	txn_set_counts_sink(t, counts);
	return txn_commit(t, NULL);
}

static void
client(struct tpcw_side *s, const struct cn_place *pl, unsigned number, struct bench_slice *out,
    const atomic_bool *stop)
{
	struct nam_arena a;
	struct nam_rng r;
	nam_arena_init(&a, 32 << 10);
	nam_rng_init(&r, s->p->seed + number * 7919u + (uint64_t)atomic_load(&s->next_order));
	int64_t next = 0, end = 0;
	struct net_counts *counts = &s->counts[number];
	*counts = (struct net_counts){ 0 };
	uint64_t ended = net_now_ns(pl->net);
	while (out->commits < out->most && !atomic_load_explicit(stop, memory_order_relaxed) &&
	       !atomic_load_explicit(&s->full, memory_order_relaxed)) {
		if (next == end) {
			next = atomic_fetch_add(&s->next_order, 4096);
			end = next + 4096;
		}
		struct tpcw_cart c;
		tpcw_cart_fill(&c, &r, s->p, next++);
		uint64_t began = ended; /* closed loop: the next begins when the last has been
					 * answered */
		for (;;) {
			nam_arena_reset(&a);
			nam_status st = checkout(s, pl, &c, &a, counts, (int64_t)began);
			if (st == NAM_OK)
				break;
			if (st == NAM_FULL) {
				atomic_store(&s->full, true);
				goto done;
			}
			if (st != NAM_CONFLICT) {
				if (out->errors++ == 0)
					fprintf(stderr, "namdb bench: checkout: %s\n", nam_status_text(st));
				goto done;
			}
			out->aborts++;
		}
		out->commits++;
		ended = net_now_ns(pl->net);
		nam_hist_add(&out->latency_ns, ended - began);
	}
done:
	out->counts = *counts;
	nam_arena_fini(&a);
}

/* ---- the check: from outside, by scans ---- */

struct pair {
	int64_t order, number;
};

static int
by_pair(const void *x, const void *y)
{
	const struct pair *a = x, *b = y;
	if (a->order != b->order)
		return a->order < b->order ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

static uint64_t
check(struct tpcw_side *s, const struct cn_place *pl)
{
	struct txn *t;
	struct txn_scan *scan;
	struct txn_row row[64];
	unsigned n;
	uint64_t bad = 0, products = 0, wrong_stock = 0, lines = 0, cap = 1 << 16, orders = 0, locked = 0,
		 torn = 0;
	int64_t sold = 0, ordered = 0;
	struct pair *pair = malloc(cap * sizeof *pair);
	if (pair == NULL || bench_tables_begin(pl, &t) != NAM_OK)
		return bench_complain("cannot begin", 1);
	if (txn_scan_open(t, &s->product, &scan) != NAM_OK)
		return bench_complain("cannot scan", 1);
	while (txn_scan_next(scan, row, 64, &n) == NAM_OK && n > 0)
		for (unsigned i = 0; i < n; i++) {
			const struct tpcw_product *p = row[i].bytes;
			products++;
			sold += p->sold;
			wrong_stock += p->stock + p->sold != TPCW_STOCK;
		}
	txn_scan_close(scan);
	if (txn_scan_open(t, &s->line, &scan) != NAM_OK)
		return bench_complain("cannot scan", 1);
	while (txn_scan_next(scan, row, 64, &n) == NAM_OK && n > 0)
		for (unsigned i = 0; i < n; i++) {
			const struct tpcw_line *l = row[i].bytes;
			if (lines == cap) {
				struct pair *more = realloc(pair, (cap *= 2) * sizeof *pair);
				if (more == NULL)
					return bench_complain("out of memory", 1);
				pair = more;
			}
			ordered += l->quantity;
			pair[lines++] = (struct pair){ l->order, l->number };
		}
	txn_scan_close(scan);
	qsort(pair, lines, sizeof *pair, by_pair);
	for (uint64_t i = 0; i < lines; i++)
		torn += pair[i].number != (int64_t)(i % TPCW_ITEMS) + 1 ||
			pair[i].order != pair[i / TPCW_ITEMS * TPCW_ITEMS].order;
	if (txn_scan_open(t, &s->order, &scan) != NAM_OK)
		return bench_complain("cannot scan", 1);
	uint64_t without = 0;
	while (txn_scan_next(scan, row, 64, &n) == NAM_OK && n > 0)
		for (unsigned i = 0; i < n; i++, orders++) {
			struct pair want = { ((const struct tpcw_order *)row[i].bytes)->id, 1 };
			without += bsearch(&want, pair, lines, sizeof *pair, by_pair) == NULL;
		}
	txn_scan_close(scan);
	struct txn_table *all[3] = { &s->product, &s->order, &s->line };
	for (unsigned i = 0; i < 3; i++) {
		uint64_t k = 0;
		if (txn_table_locks(t, all[i], &k) != NAM_OK)
			k = 1;
		locked += k;
	}
	bad += bench_complain("products missing or twice",
	    products > s->p->products ? products - s->p->products : s->p->products - products);
	bad += bench_complain("products whose stock and sold do not add up", wrong_stock);
	bad += bench_complain("stock sold differs from order lines", sold != ordered);
	bad += bench_complain("orders whose lines are not 1, 2, 3", torn);
	bad += bench_complain("orders without lines", without);
	bad += bench_complain("lines without orders", lines != orders * TPCW_ITEMS);
	bad += bench_complain("records still locked", locked);
	fprintf(stderr, "check: %llu products, %llu orders, %llu lines, %lld sold: %s\n",
	    (unsigned long long)products, (unsigned long long)orders, (unsigned long long)lines,
	    (long long)sold, bad ? "WRONG" : "all holds");
	free(pair);
	txn_commit(t, NULL);
	return bad;
}

static void
finish(struct tpcw_side *s, const struct cn_place *pl)
{
	struct txn_table *all[3] = { &s->product, &s->order, &s->line };
	if (!s->opened)
		return;
	for (unsigned i = 0; i < 3; i++) {
		txn_table_close(txn_worker_db(pl->txn), all[i]);
		txn_table_free(pl->txn, all[i], tso_prefix(txn_db_oracle(txn_worker_db(pl->txn))));
	}
}

const struct tpcw_ops tpcw_native = { prepare, load, client, check, finish };
