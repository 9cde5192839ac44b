/* paper.c -- a client of RSI as the NAM paper has it: its checkouts, verb by verb. */
#include "paper.h"

#include <base/fault.h>

#include <string.h>

enum {
	WINDOW = 1024,   /* marks of one READ */
	PAUSE_NS = 2000, /* after a CAS that failed; else clients that meet may go on meeting */
};

struct client {
	const struct cn_place *pl;
	struct tpcw_paper_side *side;
	const struct tpcw_paper *run;
	unsigned number;
	struct net_op op[TPCW_ITEMS * 2 + 1];
	struct net_batch b;
	uint64_t cid, snapshot;
	uint64_t used[NET_REGIONS]; /* orders in its areas */
	struct nam_rng rng;
	struct net_backoff pause;
	struct tpcw_paper_product product[TPCW_ITEMS];
	struct tpcw_paper_order order;
	uint8_t window[WINDOW];
};

/* ---- a checkout ------------------------------------------------------------------------------ */

/* Posts a step's verbs and waits: one doorbell for each node, or one verb after the other. */
static nam_status
step(struct client *c)
{
	nam_status st = NAM_OK;
	if (!c->run->one_at_a_time)
		return net_run(&c->b);
	for (unsigned i = 0; st == NAM_OK && i < c->b.n; i++) {
		struct net_batch one;
		net_batch_init(&one, c->b.w, &c->op[i], 1, c->b.acct);
		one.n = 1;
		st = net_run(&one);
	}
	c->b.n = 0;
	return st;
}

/* Finds the last mark before the first timestamp without one. */
static nam_status
take_snapshot(struct client *c)
{
	for (;;) {
		uint64_t left = c->run->marks - c->snapshot;
		uint32_t n = 0, len = left < WINDOW ? (uint32_t)left : WINDOW;
		net_read(&c->b, net_plus(c->run->mark, c->snapshot), c->window, len);
		nam_status st = step(c);
		if (st != NAM_OK)
			return st;
		while (n < len && c->window[n] != 0)
			n++;
		c->snapshot += n;
		if (n < len || n == left)
			return NAM_OK;
	}
}

/* Marks the client's timestamp, unsignaled, and goes on to its next one. */
static nam_status
mark(struct client *c)
{
	static const uint8_t used = 1;
	net_write(&c->b, net_plus(c->run->mark, c->cid - 1), &used, 1)->flags = NET_INLINE | NET_QUIET;
	net_post(&c->b);
	c->b.n = 0;
	c->cid += c->run->clients;
	return c->cid <= c->run->marks ? NAM_OK : NAM_FULL;
}

/*
 * With one slot, a snapshot that is older than a product cannot be served. If the product is also
 * newer than this client's timestamp, no snapshot gets there before that timestamp is marked. So
 * the aborted checkout uses it up.
 */
static nam_status
validate(struct client *c)
{
	nam_status st = NAM_OK;
	for (unsigned i = 0; i < TPCW_ITEMS; i++) {
		uint64_t word = c->product[i].word, cid = word & ~TPCW_PAPER_LOCK;
		if (word != cid || cid > c->snapshot)
			st = NAM_CONFLICT;
		if (cid > c->cid)
			return mark(c) == NAM_FULL ? NAM_FULL : NAM_CONFLICT;
	}
	return st;
}

static nam_status
lock(struct client *c, const struct tpcw_cart *cart)
{
	bool got[TPCW_ITEMS];
	unsigned all = 0;
	for (unsigned i = 0; i < TPCW_ITEMS; i++)
		net_cas(&c->b, tpcw_paper_product(c->run, cart->product[i]), c->product[i].word,
		    c->product[i].word | TPCW_PAPER_LOCK);
	nam_status st = step(c);
	if (st != NAM_OK)
		return st;
	for (unsigned i = 0; i < TPCW_ITEMS; i++)
		all += got[i] = c->op[i].seen == c->product[i].word || nam_fault(SLOT_UNVALIDATED);
	if (all == TPCW_ITEMS)
		return NAM_OK;
	for (unsigned i = 0; i < TPCW_ITEMS; i++)
		if (got[i])
			net_cas(&c->b, tpcw_paper_product(c->run, cart->product[i]),
			    c->product[i].word | TPCW_PAPER_LOCK, c->product[i].word);
	st = all != 0 ? step(c) : NAM_OK;
	net_back_off(c->b.w, &c->pause);
	return st == NAM_OK ? NAM_CONFLICT : st;
}

/* The products' words, and with them the locks, go with their bytes. */
static nam_status
install(struct client *c, const struct tpcw_cart *cart, unsigned node, uint64_t now_ns)
{
	struct tpcw_paper_order *o = &c->order;
	net_addr to = net_plus(c->run->area[c->number * c->run->nodes + node], c->used[node] * sizeof *o);
	o->word = c->cid;
	o->row = (struct tpcw_order){
		.id = cart->order, .customer = cart->customer, .placed_us = (int64_t)now_ns
	};
	memcpy(o->row.ship_to, "to the customer's address", 26);
	for (unsigned i = 0; i < TPCW_ITEMS; i++) {
		struct tpcw_paper_product *p = &c->product[i];
		p->word = c->cid;
		p->row.stock -= cart->quantity[i];
		p->row.sold += cart->quantity[i];
		o->row.total_cents += p->row.price_cents * cart->quantity[i];
		o->line[i].word = c->cid;
		o->line[i].row = (struct tpcw_line){ cart->order, i + 1, cart->product[i], cart->quantity[i],
			p->row.price_cents, "as ordered" };
		net_write(&c->b, tpcw_paper_product(c->run, cart->product[i]), p, sizeof *p);
		net_write(&c->b, net_plus(to, offsetof(struct tpcw_paper_order, line[i])), &o->line[i],
		    sizeof o->line[i]);
	}
	net_write(&c->b, to, o, offsetof(struct tpcw_paper_order, line));
	nam_status st = step(c);
	c->used[node] += st == NAM_OK;
	return st;
}

static nam_status
checkout(struct client *c, const struct tpcw_cart *cart, uint64_t now_ns)
{
	unsigned node = (unsigned)nam_rng_below(&c->rng, c->run->nodes);
	if (c->used[node] == c->run->orders)
		return NAM_FULL;
	nam_status st = take_snapshot(c);
	if (st != NAM_OK)
		return st;
	for (unsigned i = 0; i < TPCW_ITEMS; i++)
		net_read(&c->b, tpcw_paper_product(c->run, cart->product[i]), &c->product[i],
		    sizeof c->product[i]);
	if ((st = step(c)) != NAM_OK || (st = validate(c)) != NAM_OK)
		return st;
	if (c->run->tpcw.work_us != 0)
		net_sleep(c->pl->net, c->run->tpcw.work_us * 1000);
	if ((st = lock(c, cart)) != NAM_OK || (st = install(c, cart, node, now_ns)) != NAM_OK)
		return st;
	c->side->orders++;
	return mark(c);
}

void
tpcw_paper_client(
    void *side, const struct cn_place *pl, unsigned number, struct bench_slice *out, const atomic_bool *stop)
{
	struct tpcw_paper_side *s = side;
	struct client c = { .pl = pl, .side = s, .run = s->run, .number = number, .cid = number + 1 };
	uint64_t began = net_now_ns(pl->net);
	int64_t order = 1 + ((int64_t)number << 40);
	nam_status st = NAM_OK;
	nam_rng_init(&c.rng, s->run->tpcw.seed + number * UINT64_C(7919));
	s->counts[number] = (struct net_counts){ 0 };
	net_batch_init(&c.b, pl->net, c.op, sizeof c.op / sizeof c.op[0], &s->counts[number]);
	while (st == NAM_OK && !atomic_load_explicit(stop, memory_order_relaxed)) {
		struct tpcw_cart cart;
		tpcw_cart_fill(&cart, &c.rng, &s->run->tpcw, order++);
		c.pause = (struct net_backoff){ .base_ns = PAUSE_NS, .cap_ns = 16 * PAUSE_NS, .dice = true };
		/* once clients stop, a snapshot may be as new as it ever gets */
		while ((st = checkout(&c, &cart, began)) == NAM_CONFLICT &&
		       !atomic_load_explicit(stop, memory_order_relaxed))
			out->aborts++;
		if (st != NAM_OK)
			break;
		out->commits++;
		uint64_t now = net_now_ns(pl->net);
		nam_hist_add(&out->latency_ns, now - began);
		began = now;
	}
	if (st == NAM_FULL)
		s->full = true;
	else if (st != NAM_OK && st != NAM_CONFLICT && out->errors++ == 0)
		fprintf(stderr, "namdb bench: checkout: %s\n", nam_status_text(st));
	out->counts = s->counts[number];
}
