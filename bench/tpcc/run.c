/*
 * run.c -- TPC-C's five transactions on txn's own interface.
 *
 * All of them read at a snapshot, and what they read side by side shares doorbells. A New-Order
 * guesses the number of its order, so that the index lookups of its new rows go with its READs; a
 * wrong guess costs a round trip. A Delivery finds a district's oldest new_order by a hint: it is
 * the one that is there while the one before it is not. That is a proof because the numbers of a
 * district's new_orders have no gap (the third condition). If the hint fails, a binary search finds
 * it.
 */
#include "tpcc.h"

#include <stdlib.h>
#include <string.h>

enum {
	GETS = TPCC_RECENT * TPCC_LINES, /* of one call, at most */
	NAMESAKES = 64,                  /* of a district, that share a last name, at most */
	KEY = 4,                         /* numbers of a key */
};

struct run {
	struct tpcc_side *s;
	const struct cn_place *pl;
	const struct tpcc_order *o;
	struct nam_arena arena;
	struct net_counts *sink; /* may be NULL */
	struct txn *t;
	int64_t now;
	bool refused;
	int64_t answer; /* what the terminal would show, so that it is computed */
	int32_t number; /* New-Order: of the order */
	int32_t delivered[TPCC_DISTRICTS];
	struct net_counts counts; /* of the last attempt */
	unsigned gets;
	struct txn_get get[GETS];
	int32_t key[GETS][KEY];
	struct tpcc_line line[TPCC_LINES];
};

/* ---- reading --------------------------------------------------------------------------------- */

/* Adds a row to those that the next read_all reads. Its place in get[]. */
static unsigned
want(struct run *r, enum tpcc_table table, int32_t a, int32_t b, int32_t c, int32_t d)
{
	unsigned i = r->gets++;
	r->key[i][0] = a;
	r->key[i][1] = b;
	r->key[i][2] = c;
	r->key[i][3] = d;
	r->get[i] = bench_tpcc_get(r->s, table, r->key[i]);
	return i;
}

/* Reads the rows that are wanted, which must be there unless some may be absent, and wants none. */
static nam_status
read_all(struct run *r, const struct txn_put *ahead, unsigned n, bool absent)
{
	nam_status st = txn_get_ahead(r->t, r->get, r->gets, ahead, n, &r->arena);
	for (unsigned i = 0; st == NAM_OK && i < r->gets; i++)
		if (r->get[i].status != NAM_OK && !(absent && r->get[i].status == NAM_ABSENT))
			st = r->get[i].status == NAM_ABSENT ? NAM_CORRUPT : r->get[i].status;
	r->gets = 0;
	return st;
}

static const void *
row(const struct run *r, unsigned i)
{
	return r->get[i].row.bytes;
}

static nam_status
edit(struct run *r, unsigned i, void **bytes)
{
	return txn_edit(r->t, r->get[i].table, &r->get[i].row, bytes);
}

/* The customer in the middle of those with the drawn name, by first name. */
static nam_status
by_name(struct run *r, int32_t *c)
{
	uint64_t low[TPCC_NAME_WORDS], high[TPCC_NAME_WORDS];
	const struct tpcc_order *o = r->o;
	bench_tpcc_name_range(o->c_w, o->c_d, o->last, low, high);
	const struct idx_tree_range range = { .low = low, .high = high, .expect = 4 };
	struct txn_range *scan;
	struct txn_row found[NAMESAKES];
	int32_t who[NAMESAKES];
	unsigned n = 1, all = 0;
	nam_status st = txn_range_open(r->t, &r->s->table[TPCC_CUSTOMER], 0, &range, &scan);
	if (st != NAM_OK)
		return st;
	while (st == NAM_OK && n > 0 && all < NAMESAKES) {
		st = txn_range_next(scan, found, NAMESAKES - all, &n);
		for (unsigned i = 0; st == NAM_OK && i < n; i++)
			who[all++] = ((const struct tpcc_customer *)found[i].bytes)->c;
	}
	txn_range_close(scan);
	if (st == NAM_OK && all == 0)
		return NAM_CORRUPT; /* only names that exist are drawn */
	if (st == NAM_OK)
		*c = who[(all - 1) / 2];
	return st;
}

/* ---- New-Order ------------------------------------------------------------------------------- */

static _Atomic int32_t *
hint_of(_Atomic int32_t *all, int32_t w, int32_t d)
{
	return &all[(w - 1) * TPCC_DISTRICTS + d - 1];
}

static void
raise_to(_Atomic int32_t *at, int32_t to)
{
	int32_t was = atomic_load_explicit(at, memory_order_relaxed);
	while (was < to && !atomic_compare_exchange_weak(at, &was, to))
		;
}

static bool
original(const char data[50])
{
	return memmem(data, 50, "ORIGINAL", 8) != NULL;
}

struct newing {
	unsigned warehouse, district, customer, newest;
	unsigned item[TPCC_LINES], stock[TPCC_LINES];
	struct tpcc_orders order;
	struct tpcc_new_order open;
	struct txn_put put[TPCC_LINES + 2];
	unsigned puts;
};

/* The rows to be inserted, as far as their keys: number o. */
static void
new_keys(struct run *r, struct newing *x, int32_t o)
{
	const struct tpcc_order *w = r->o;
	x->order.w = x->open.w = w->w;
	x->order.d = x->open.d = w->d;
	x->order.o = x->open.o = o;
	x->puts = 0;
	x->put[x->puts++] = bench_tpcc_put(r->s, TPCC_ORDERS, &x->order);
	x->put[x->puts++] = bench_tpcc_put(r->s, TPCC_NEW_ORDER, &x->open);
	for (int32_t k = 0; k < w->lines; k++) {
		struct tpcc_line *l = &r->line[k];
		l->w = w->w;
		l->d = w->d;
		l->o = o;
		l->number = k + 1;
		x->put[x->puts++] = bench_tpcc_put(r->s, TPCC_LINE, l);
	}
}

static void
new_wants(struct run *r, struct newing *x)
{
	const struct tpcc_order *o = r->o;
	x->warehouse = want(r, TPCC_WAREHOUSE, o->w, 0, 0, 0);
	x->district = want(r, TPCC_DISTRICT, o->w, o->d, 0, 0);
	x->customer = want(r, TPCC_CUSTOMER, o->w, o->d, o->c, 0);
	x->newest = want(r, TPCC_NEWEST, o->w, o->d, o->c, 0);
	for (int32_t k = 0; k < o->lines; k++) {
		int32_t same = 0; /* one row of stock may serve two lines */
		while (same < k && (o->line[same].item != o->line[k].item ||
				       o->line[same].supply_w != o->line[k].supply_w))
			same++;
		x->item[k] = same < k ? x->item[same] : want(r, TPCC_ITEM, o->line[k].item, 0, 0, 0);
		x->stock[k] = same < k ? x->stock[same]
				       : want(r, TPCC_STOCK, o->line[k].supply_w, o->line[k].item, 0, 0);
	}
}

/* Line k: its stock and its row. */
static nam_status
new_line(struct run *r, struct newing *x, int32_t k, int64_t *sum)
{
	const struct tpcc_order *o = r->o;
	const struct tpcc_item *item = row(r, x->item[k]);
	void *bytes;
	nam_status st = edit(r, x->stock[k], &bytes);
	if (st != NAM_OK)
		return st;
	struct tpcc_stock *stock = bytes;
	int32_t quantity = o->line[k].quantity;
	stock->quantity -= stock->quantity >= quantity + 10 ? quantity : quantity - 91;
	stock->ytd += quantity;
	stock->order_cnt++;
	stock->remote_cnt += o->line[k].supply_w != o->w;
	struct tpcc_line *l = &r->line[k];
	l->item = o->line[k].item;
	l->supply_w = o->line[k].supply_w;
	l->quantity = quantity;
	l->delivery = 0;
	l->amount = quantity * item->price;
	memcpy(l->dist, stock->dist[o->d - 1], sizeof l->dist);
	r->answer += original(item->data) && original(stock->data); /* the line's 'B' or 'G' */
	*sum += l->amount;
	return NAM_OK;
}

static nam_status
new_order(struct run *r)
{
	const struct tpcc_order *o = r->o;
	struct newing x;
	void *bytes;
	int64_t sum = 0;
	int32_t guess = atomic_load_explicit(hint_of(r->s->next_o, o->w, o->d), memory_order_relaxed);
	new_wants(r, &x);
	new_keys(r, &x, guess);
	unsigned all = r->gets;
	nam_status st = read_all(r, x.put, guess != 0 ? x.puts : 0, true);
	for (unsigned i = 0; st == NAM_OK && i < all; i++)
		if (r->get[i].status == NAM_ABSENT) {
			r->refused = o->unused_item;
			return r->refused ? NAM_OK : NAM_CORRUPT;
		}
	if (st != NAM_OK || (st = edit(r, x.district, &bytes)) != NAM_OK)
		return st;
	struct tpcc_district *district = bytes;
	r->number = district->next_o++;
	if (r->number != guess)
		new_keys(r, &x, r->number);
	x.order = (struct tpcc_orders){ .w = o->w,
		.d = o->d,
		.o = r->number,
		.c = o->c,
		.entry = r->now,
		.ol_cnt = o->lines,
		.all_local = 1 };
	for (int32_t k = 0; st == NAM_OK && k < o->lines; k++) {
		x.order.all_local &= o->line[k].supply_w == o->w;
		st = new_line(r, &x, k, &sum);
	}
	if (st != NAM_OK || (st = edit(r, x.newest, &bytes)) != NAM_OK)
		return st;
	((struct tpcc_newest *)bytes)->o = r->number;
	const struct tpcc_warehouse *warehouse = row(r, x.warehouse);
	const struct tpcc_customer *customer = row(r, x.customer);
	r->answer +=
	    sum * (10000 - customer->discount) / 10000 * (10000 + warehouse->tax + district->tax) / 10000;
	return txn_insert(r->t, x.put, x.puts);
}

/* ---- Payment --------------------------------------------------------------------------------- */

/* Bad credit: the payment's numbers in front of what the row says, which moves to the right. */
static void
note(struct tpcc_customer *c, const struct tpcc_order *o)
{
	char text[96];
	const int64_t number[6] = { c->c, c->d, c->w, o->d, o->w, o->amount };
	unsigned n = 0;
	for (unsigned i = 0; i < 6; i++) {
		char digit[20];
		unsigned k = 0;
		int64_t v = number[i];
		do
			digit[k++] = (char)('0' + v % 10);
		while ((v /= 10) > 0);
		while (k > 0)
			text[n++] = digit[--k];
		text[n++] = ' ';
	}
	memmove(c->data + n, c->data, sizeof c->data - n);
	memcpy(c->data, text, n);
}

static nam_status
payment(struct run *r)
{
	const struct tpcc_order *o = r->o;
	int32_t c = o->c;
	void *bytes;
	nam_status st = o->by_name ? by_name(r, &c) : NAM_OK;
	if (st != NAM_OK)
		return st;
	unsigned at = want(r, TPCC_WAREHOUSE, o->w, 0, 0, 0);
	want(r, TPCC_DISTRICT, o->w, o->d, 0, 0);
	want(r, TPCC_CUSTOMER, o->c_w, o->c_d, c, 0);
	if ((st = read_all(r, NULL, 0, false)) != NAM_OK || (st = edit(r, at, &bytes)) != NAM_OK)
		return st;
	struct tpcc_warehouse *w = bytes;
	w->ytd += o->amount;
	if ((st = edit(r, at + 1, &bytes)) != NAM_OK)
		return st;
	struct tpcc_district *d = bytes;
	d->ytd += o->amount;
	if ((st = edit(r, at + 2, &bytes)) != NAM_OK)
		return st;
	struct tpcc_customer *customer = bytes;
	customer->balance -= o->amount;
	customer->ytd_payment += o->amount;
	customer->payment_cnt++;
	if (memcmp(customer->credit, "BC", 2) == 0)
		note(customer, o);
	struct tpcc_history paid = { .c_w = o->c_w,
		.c_d = o->c_d,
		.c = c,
		.w = o->w,
		.d = o->d,
		.amount = o->amount,
		.date = r->now };
	memcpy(paid.data, w->name, sizeof w->name);
	memset(paid.data + 10, ' ', 4);
	memcpy(paid.data + 14, d->name, sizeof d->name);
	r->answer += customer->balance;
	struct txn_put put = bench_tpcc_put(r->s, TPCC_HISTORY, &paid);
	return txn_insert(r->t, &put, 1);
}

/* ---- Order-Status ---------------------------------------------------------------------------- */

static nam_status
order_status(struct run *r)
{
	const struct tpcc_order *o = r->o;
	int32_t c = o->c;
	nam_status st = o->by_name ? by_name(r, &c) : NAM_OK;
	if (st != NAM_OK)
		return st;
	unsigned at = want(r, TPCC_CUSTOMER, o->w, o->d, c, 0);
	want(r, TPCC_NEWEST, o->w, o->d, c, 0);
	if ((st = read_all(r, NULL, 0, false)) != NAM_OK)
		return st;
	r->answer += ((const struct tpcc_customer *)row(r, at))->balance;
	int32_t number = ((const struct tpcc_newest *)row(r, at + 1))->o;
	want(r, TPCC_ORDERS, o->w, o->d, number, 0);
	if ((st = read_all(r, NULL, 0, false)) != NAM_OK)
		return st;
	int32_t lines = ((const struct tpcc_orders *)row(r, 0))->ol_cnt;
	for (int32_t k = 1; k <= lines; k++)
		want(r, TPCC_LINE, o->w, o->d, number, k);
	if ((st = read_all(r, NULL, 0, false)) != NAM_OK)
		return st;
	for (int32_t k = 0; k < lines; k++)
		r->answer += ((const struct tpcc_line *)row(r, (unsigned)k))->amount;
	return NAM_OK;
}

/* ---- Delivery -------------------------------------------------------------------------------- */

/* The oldest new_order of district d by search: *o, 0 = there is none. */
static nam_status
search_oldest(struct run *r, int32_t d, int32_t *o)
{
	want(r, TPCC_DISTRICT, r->o->w, d, 0, 0);
	nam_status st = read_all(r, NULL, 0, false);
	if (st != NAM_OK)
		return st;
	int32_t low = 1, end = ((const struct tpcc_district *)row(r, 0))->next_o, high = end;
	while (low < high) { /* below low none is there, from high on all are */
		int32_t middle = low + (high - low) / 2;
		want(r, TPCC_NEW_ORDER, r->o->w, d, middle, 0);
		if ((st = read_all(r, NULL, 0, true)) != NAM_OK)
			return st;
		if (r->get[0].status == NAM_OK)
			high = middle;
		else
			low = middle + 1;
	}
	*o = low < end ? low : 0;
	return NAM_OK;
}

static nam_status
find_oldest(struct run *r)
{
	int32_t w = r->o->w, hint[TPCC_DISTRICTS];
	bool proved[TPCC_DISTRICTS];
	for (int32_t d = 0; d < TPCC_DISTRICTS; d++) {
		hint[d] = atomic_load_explicit(hint_of(r->s->oldest, w, d + 1), memory_order_relaxed);
		want(r, TPCC_NEW_ORDER, w, d + 1, hint[d] - 1, 0);
		want(r, TPCC_NEW_ORDER, w, d + 1, hint[d], 0);
	}
	nam_status st = read_all(r, NULL, 0, true);
	for (unsigned d = 0; d < TPCC_DISTRICTS; d++)
		proved[d] = r->get[2 * d].status == NAM_ABSENT && r->get[2 * d + 1].status == NAM_OK;
	for (int32_t d = 0; st == NAM_OK && d < TPCC_DISTRICTS; d++) {
		r->delivered[d] = hint[d];
		if (!proved[d])
			st = search_oldest(r, d + 1, &r->delivered[d]);
	}
	return st;
}

/* Order number o of district d: the rows found, from get[at] on: new_order, orders; then lines and
 * customer. */
static nam_status
deliver(struct run *r, unsigned at, unsigned lines_at, int32_t lines, unsigned customer)
{
	void *bytes;
	int64_t sum = 0;
	nam_status st = txn_delete(r->t, r->get[at].table, &r->get[at].row);
	if (st == NAM_OK && (st = edit(r, at + 1, &bytes)) == NAM_OK)
		((struct tpcc_orders *)bytes)->carrier = r->o->carrier;
	for (int32_t k = 0; st == NAM_OK && k < lines; k++)
		if ((st = edit(r, lines_at + (unsigned)k, &bytes)) == NAM_OK) {
			struct tpcc_line *l = bytes;
			l->delivery = r->now;
			sum += l->amount;
		}
	if (st == NAM_OK && (st = edit(r, customer, &bytes)) == NAM_OK) {
		struct tpcc_customer *c = bytes;
		c->balance += sum;
		c->delivery_cnt++;
	}
	return st;
}

static nam_status
delivery(struct run *r)
{
	unsigned at[TPCC_DISTRICTS], lines_at[TPCC_DISTRICTS], customer[TPCC_DISTRICTS];
	int32_t lines[TPCC_DISTRICTS], w = r->o->w;
	nam_status st = find_oldest(r);
	if (st != NAM_OK)
		return st;
	for (int32_t d = 0; d < TPCC_DISTRICTS; d++) {
		if (r->delivered[d] == 0)
			continue;
		at[d] = want(r, TPCC_NEW_ORDER, w, d + 1, r->delivered[d], 0);
		want(r, TPCC_ORDERS, w, d + 1, r->delivered[d], 0);
	}
	unsigned first = r->gets;
	if ((st = read_all(r, NULL, 0, false)) != NAM_OK)
		return st;
	/* The rows read so far stay in get[]: the next ones go behind them. */
	r->gets = first;
	for (int32_t d = 0; d < TPCC_DISTRICTS; d++) {
		if (r->delivered[d] == 0)
			continue;
		const struct tpcc_orders *o = row(r, at[d] + 1);
		lines[d] = o->ol_cnt;
		lines_at[d] = r->gets;
		for (int32_t k = 1; k <= lines[d]; k++)
			want(r, TPCC_LINE, w, d + 1, r->delivered[d], k);
		customer[d] = want(r, TPCC_CUSTOMER, w, d + 1, o->c, 0);
	}
	unsigned n = r->gets - first;
	r->gets = 0;
	st = txn_get(r->t, r->get + first, n, &r->arena);
	for (unsigned i = first; st == NAM_OK && i < first + n; i++)
		st = r->get[i].status == NAM_ABSENT ? NAM_CORRUPT : r->get[i].status;
	for (unsigned d = 0; st == NAM_OK && d < TPCC_DISTRICTS; d++)
		if (r->delivered[d] != 0)
			st = deliver(r, at[d], lines_at[d], lines[d], customer[d]);
	return st;
}

/* ---- Stock-Level ----------------------------------------------------------------------------- */

static int
by_number(const void *a, const void *b)
{
	int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
	return x < y ? -1 : x > y;
}

static nam_status
stock_level(struct run *r)
{
	const struct tpcc_order *o = r->o;
	int32_t item[GETS], items = 0, lines[TPCC_RECENT];
	want(r, TPCC_DISTRICT, o->w, o->d, 0, 0);
	nam_status st = read_all(r, NULL, 0, false);
	if (st != NAM_OK)
		return st;
	int32_t from = ((const struct tpcc_district *)row(r, 0))->next_o - TPCC_RECENT;
	for (int32_t i = 0; i < TPCC_RECENT; i++)
		want(r, TPCC_ORDERS, o->w, o->d, from + i, 0);
	if ((st = read_all(r, NULL, 0, false)) != NAM_OK)
		return st;
	for (unsigned i = 0; i < TPCC_RECENT; i++)
		lines[i] = ((const struct tpcc_orders *)row(r, i))->ol_cnt;
	for (int32_t i = 0; i < TPCC_RECENT; i++)
		for (int32_t k = 1; k <= lines[i]; k++)
			want(r, TPCC_LINE, o->w, o->d, from + i, k);
	unsigned n = r->gets;
	if ((st = read_all(r, NULL, 0, false)) != NAM_OK)
		return st;
	for (unsigned i = 0; i < n; i++)
		item[i] = ((const struct tpcc_line *)row(r, i))->item;
	qsort(item, n, sizeof *item, by_number);
	for (unsigned i = 0; i < n; i++)
		if (i == 0 || item[i] != item[i - 1]) {
			want(r, TPCC_STOCK, o->w, item[i], 0, 0);
			items++;
		}
	if ((st = read_all(r, NULL, 0, false)) != NAM_OK)
		return st;
	for (int32_t i = 0; i < items; i++)
		r->answer += ((const struct tpcc_stock *)row(r, (unsigned)i))->quantity < o->threshold;
	return NAM_OK;
}

/* ---- a client -------------------------------------------------------------------------------- */

static nam_status
body(struct run *r)
{
	switch (r->o->what) {
	case TPCC_NEW:
		return new_order(r);
	case TPCC_PAYMENT:
		return payment(r);
	case TPCC_STATUS:
		return order_status(r);
	case TPCC_DELIVERY:
		return delivery(r);
	default:
		return stock_level(r);
	}
}

static void
expect(struct run *r)
{
	const struct tpcc_order *o = r->o;
	if (o->what != TPCC_NEW)
		return;
	for (int32_t k = 0; k < o->lines; k++) {
		int32_t key[2] = { o->line[k].supply_w, o->line[k].item };
		struct txn_get stock = bench_tpcc_get(r->s, TPCC_STOCK, key);
		struct txn_get item = bench_tpcc_get(r->s, TPCC_ITEM, &key[1]);
		txn_expect(r->pl->txn, stock.table, stock.hash, false);
		txn_expect(r->pl->txn, item.table, item.hash, false);
	}
}

/* Rows that the transaction changes and others of the warehouse change as well. Deliveries change
 * the oldest new_orders of the warehouse: its key stands for them. */
static void
take_turn(struct run *r, struct txn_turn *turn)
{
	const struct tpcc_order *o = r->o;
	const int32_t key[2] = { o->w, o->d };
	turn->n = 0;
	if (o->what == TPCC_PAYMENT)
		turn->hash[turn->n++] = bench_tpcc_get(r->s, TPCC_WAREHOUSE, key).hash;
	if (o->what == TPCC_PAYMENT || o->what == TPCC_NEW)
		turn->hash[turn->n++] = bench_tpcc_get(r->s, TPCC_DISTRICT, key).hash;
	if (o->what == TPCC_DELIVERY)
		turn->hash[turn->n++] = bench_tpcc_get(r->s, TPCC_WAREHOUSE, key).hash + 1;
	txn_turn_take(r->pl->txn, turn);
}

/* The transaction has committed: what this process now knows of the districts. */
static void
learn(struct run *r)
{
	const struct tpcc_order *o = r->o;
	if (o->what == TPCC_NEW)
		raise_to(hint_of(r->s->next_o, o->w, o->d), r->number + 1);
	for (int32_t d = 1; o->what == TPCC_DELIVERY && d <= TPCC_DISTRICTS; d++)
		if (r->delivered[d - 1] != 0)
			raise_to(hint_of(r->s->oldest, o->w, d), r->delivered[d - 1] + 1);
}

static nam_status
in_turn(struct run *r)
{
	nam_arena_reset(&r->arena);
	expect(r);
	nam_status st = txn_begin(r->pl->txn, TXN_REPEATABLE_READ, &r->t);
	if (st != NAM_OK)
		return st;
	if (r->sink != NULL)
		txn_set_counts_sink(r->t, r->sink);
	r->refused = false;
	r->gets = 0;
	st = body(r);
	r->counts = *txn_counts(r->t);
	if (st == NAM_OK && !r->refused) {
		st = txn_commit(r->t, NULL);
		if (st == NAM_OK && r->o->what != TPCC_STATUS && r->o->what != TPCC_LEVEL)
			r->counts.round_trips += txn_last_commit_round_trips(r->pl->txn);
		if (st == NAM_OK)
			learn(r);
	} else {
		txn_abort(r->t);
	}
	/* Another New-Order of the district has taken the number. */
	return st == NAM_DUPLICATE ? NAM_CONFLICT : st;
}

/* One attempt. */
static nam_status
attempt(struct run *r)
{
	struct txn_turn turn;
	take_turn(r, &turn);
	nam_status st = in_turn(r);
	txn_turn_leave(r->pl->txn, &turn);
	return st;
}

/* Until it has committed, or was refused. */
static nam_status
carry_out(void *arg, const struct tpcc_order *o, int64_t now, const atomic_bool *stop, struct tpcc_done *done)
{
	struct run *r = arg;
	struct net_backoff pause = { 0 };
	nam_status st;
	r->o = o;
	r->now = now;
	for (unsigned tries = 1; (st = attempt(r)) == NAM_CONFLICT; tries++) {
		done->aborts++;
		if (stop != NULL && atomic_load_explicit(stop, memory_order_relaxed))
			break;
		bench_tpcc_pause(r->pl, tries, &pause);
	}
	done->refused = r->refused;
	done->round_trips = r->counts.round_trips;
	if (st != NAM_OK && st != NAM_CONFLICT && st != NAM_FULL)
		fprintf(
		    stderr, "namdb bench: TPC-C, %s: %s\n", bench_tpcc_names[o->what], nam_status_text(st));
	return st;
}

static struct run *
run_open(struct tpcc_side *s, const struct cn_place *pl, struct net_counts *sink)
{
	struct run *r = calloc(1, sizeof *r);
	if (r == NULL)
		return NULL;
	r->s = s;
	r->pl = pl;
	r->sink = sink;
	nam_arena_init(&r->arena, 256 << 10);
	return r;
}

static void
run_close(struct run *r)
{
	nam_arena_fini(&r->arena);
	free(r);
}

nam_status
bench_tpcc_once(struct tpcc_side *s, const struct cn_place *pl, const struct tpcc_order *o, bool *refused,
    uint64_t *round_trips)
{
	struct tpcc_done done = { 0 };
	struct run *r = run_open(s, pl, NULL);
	if (r == NULL)
		return NAM_NOMEM;
	nam_status st = carry_out(r, o, (int64_t)(net_now_ns(pl->net) / 1000) + 1, NULL, &done);
	*refused = done.refused;
	*round_trips = done.round_trips;
	run_close(r);
	return st;
}

void
bench_tpcc_client(
    void *side, const struct cn_place *pl, unsigned number, struct bench_slice *out, const atomic_bool *stop)
{
	struct tpcc_side *s = side;
	struct run *r = run_open(s, pl, &s->counts[number]);
	if (r == NULL) {
		out->errors++;
		fprintf(stderr, "namdb bench: TPC-C: no memory\n");
		return;
	}
	bench_tpcc_loop(s, pl, number, out, stop, &(struct tpcc_hand){ r, carry_out });
	run_close(r);
}
