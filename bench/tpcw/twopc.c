/* twopc.c -- checkouts by clients of two-phase commit, and the check of what they left. */
#include "twopc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The table of a key is in its top bits. */
static const uint64_t order_bit = UINT64_C(1) << 62, line_bit = UINT64_C(2) << 62;

enum { SESSION_SHIFT = 40 };

/* ---- a client ---- */

static void
next(struct tpcw_twopc_session *s)
{
	uint64_t key[TPCW_ITEMS];
	if (atomic_load_explicit(&s->run->stop, memory_order_relaxed)) {
		s->over = true;
		return;
	}
	tpcw_cart_fill(&s->cart, &s->rng, s->run->p, s->orders++);
	for (unsigned i = 0; i < TPCW_ITEMS; i++)
		key[i] = (uint64_t)s->cart.product[i];
	s->step = TPCW_TWOPC_READ;
	txn_twopc_read(s->client, key, TPCW_ITEMS);
}

static nam_status
fill(struct tpcw_twopc_session *s)
{
	const struct tpcw_cart *c = &s->cart;
	struct tpcw_order order = {
		.id = c->order, .customer = c->customer, .placed_us = (int64_t)s->ended_ns
	};
	nam_status st = NAM_OK;
	memcpy(order.ship_to, "to the customer's address", 26);
	for (unsigned i = 0; st == NAM_OK && i < TPCW_ITEMS; i++) {
		struct tpcw_product p;
		uint32_t len;
		const void *record = txn_twopc_record(s->client, i, &len);
		if (len != sizeof p)
			return NAM_CORRUPT;
		memcpy(&p, record, sizeof p);
		p.stock -= c->quantity[i];
		p.sold += c->quantity[i];
		order.total_cents += p.price_cents * c->quantity[i];
		st = txn_twopc_update(s->client, i, &p, sizeof p);
		const struct tpcw_line line = { c->order, i + 1, c->product[i], c->quantity[i], p.price_cents,
			"as ordered" };
		if (st == NAM_OK)
			st = txn_twopc_insert(
			    s->client, line_bit | (uint64_t)(c->order * 4 + i + 1), &line, sizeof line);
	}
	if (st == NAM_OK)
		st = txn_twopc_insert(s->client, order_bit | (uint64_t)c->order, &order, sizeof order);
	return st;
}

/* An aborted checkout is not tried again: its customer is told, and the next one's turn comes. */
static void
done(void *arg, nam_status st)
{
	struct tpcw_twopc_session *s = arg;
	if (st == NAM_OK && s->step == TPCW_TWOPC_READ) {
		s->run->work(s);
		if ((st = fill(s)) == NAM_OK) {
			s->step = TPCW_TWOPC_COMMIT;
			txn_twopc_commit(s->client);
			return;
		}
	}
	if (st != NAM_OK && st != NAM_CONFLICT) {
		tpcw_twopc_took(s->run, st);
		s->over = true;
		return;
	}
	bool counts = atomic_load_explicit(&s->run->counting, memory_order_relaxed);
	s->slice.aborts += counts && st == NAM_CONFLICT;
	if (st == NAM_CONFLICT && s->step == TPCW_TWOPC_READ) {
		s->step = TPCW_TWOPC_SNAPSHOT;
		txn_twopc_snapshot(s->client);
		return;
	}
	if (st == NAM_OK && s->step == TPCW_TWOPC_COMMIT) {
		uint64_t now = s->run->now_ns(s);
		if (counts) {
			s->slice.commits++;
			nam_hist_add(&s->slice.latency_ns, now - s->ended_ns);
		}
		s->ended_ns = now;
	}
	next(s);
}

void
tpcw_twopc_begin(struct tpcw_twopc_session *s)
{
	s->ended_ns = s->run->now_ns(s);
	next(s);
}

void
tpcw_twopc_took(struct tpcw_twopc *t, nam_status st)
{
	if (st != NAM_OK && atomic_fetch_add(&t->bad, 1) == 0)
		fprintf(stderr, "namdb bench: two-phase commit: %s\n", nam_status_text(st));
}

/* ---- open, close ---- */

nam_status
tpcw_twopc_open(struct tpcw_twopc *t, const struct tpcw_params *p, unsigned rms, unsigned sessions)
{
	nam_status st = NAM_OK;
	t->p = p;
	t->rms = rms;
	t->session = calloc(sessions, sizeof *t->session);
	if (t->session == NULL)
		return NAM_NOMEM;
	t->sessions = sessions;
	for (unsigned r = 0; st == NAM_OK && r < rms; r++)
		st = txn_twopc_rm_open(&t->rm[r], p->products / rms);
	if (st == NAM_OK)
		st = txn_twopc_clock_open(&t->clock);
	for (uint64_t i = 0; st == NAM_OK && i < p->products; i++) {
		struct tpcw_product row;
		tpcw_product_fill(&row, (int64_t)i);
		st = txn_twopc_rm_load(t->rm[txn_twopc_home(i, rms)], i, &row, sizeof row);
	}
	return st;
}

nam_status
tpcw_twopc_session_open(
    struct tpcw_twopc_session *s, const struct txn_twopc_wire *client, const struct txn_twopc_wire *tm)
{
	struct tpcw_twopc *t = s->run;
	nam_rng_init(&s->rng, t->p->seed + s->number * UINT64_C(7919));
	s->orders = 1 + ((int64_t)s->number << SESSION_SHIFT);
	nam_status st = txn_twopc_client_open(&s->client, s->number, t->rms, client, done, s);
	return st == NAM_OK ? txn_twopc_tm_open(&s->tm, t->clock, t->rms, tm) : st;
}

void
tpcw_twopc_close(struct tpcw_twopc *t)
{
	for (unsigned i = 0; i < t->sessions; i++) {
		txn_twopc_client_close(t->session[i].client);
		txn_twopc_tm_close(t->session[i].tm);
	}
	for (unsigned r = 0; r < t->rms; r++)
		txn_twopc_rm_close(t->rm[r]);
	txn_twopc_clock_close(t->clock);
	free(t->session);
}

/* ---- the check, from outside ---- */

struct look {
	uint64_t products, orders, lines, cap, wrong_stock, locked, unsorted;
	int64_t sold, ordered;
	uint64_t *line; /* their keys */
	uint64_t *order, order_cap;
	bool full;
};

static void
push(struct look *l, uint64_t **list, uint64_t *n, uint64_t *cap, uint64_t v)
{
	if (*n == *cap) {
		uint64_t more = *cap != 0 ? 2 * *cap : 4096;
		uint64_t *room = realloc(*list, more * sizeof *room);
		if (room == NULL) {
			l->full = true;
			return;
		}
		*list = room;
		*cap = more;
	}
	(*list)[(*n)++] = v;
}

static void
seen(void *arg, const struct txn_twopc_seen *r)
{
	struct look *l = arg;
	l->locked += r->locked || r->cid == 0;
	if (r->cid == 0)
		return; /* prepared, and not decided: it has no bytes yet */
	if (r->key >> 62 == 0) {
		const struct tpcw_product *p = r->record;
		l->products++;
		l->sold += p->sold;
		l->wrong_stock += r->len != sizeof *p || p->stock + p->sold != TPCW_STOCK;
	} else if (r->key >> 62 == 1) {
		push(l, &l->order, &l->orders, &l->order_cap, r->key & (order_bit - 1));
	} else {
		const struct tpcw_line *n = r->record;
		l->ordered += n->quantity;
		push(l, &l->line, &l->lines, &l->cap, r->key & (order_bit - 1));
	}
}

static int
by_number(const void *x, const void *y)
{
	uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
	return a < b ? -1 : a > b;
}

uint64_t
tpcw_twopc_check(const struct tpcw_twopc *t)
{
	struct look l = { 0 };
	for (unsigned r = 0; r < t->rms; r++)
		txn_twopc_rm_walk(t->rm[r], seen, &l);
	if (l.full)
		return bench_complain("out of memory", 1);
	qsort(l.order, l.orders, sizeof *l.order, by_number);
	qsort(l.line, l.lines, sizeof *l.line, by_number);
	uint64_t torn = 0;
	for (uint64_t i = 0; i < l.orders && l.lines == l.orders * TPCW_ITEMS; i++)
		for (unsigned k = 0; k < TPCW_ITEMS; k++)
			torn += l.line[i * TPCW_ITEMS + k] != l.order[i] * 4 + k + 1;
	uint64_t bad = bench_complain("products missing or twice",
	    l.products > t->p->products ? l.products - t->p->products : t->p->products - l.products);
	bad += bench_complain("products whose stock and sold do not add up", l.wrong_stock);
	bad += bench_complain("stock sold differs from order lines", l.sold != l.ordered);
	bad +=
	    bench_complain("lines without orders, or orders without lines", l.lines != l.orders * TPCW_ITEMS);
	bad += bench_complain("orders whose lines are not 1, 2, 3", torn);
	bad += bench_complain("records still locked", l.locked);
	fprintf(stderr, "check: %llu products, %llu orders, %llu lines, %lld sold: %s\n",
	    (unsigned long long)l.products, (unsigned long long)l.orders, (unsigned long long)l.lines,
	    (long long)l.sold, bad ? "WRONG" : "all holds");
	free(l.order);
	free(l.line);
	return bad;
}
