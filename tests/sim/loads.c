/*
 * loads.c -- transactions that are about something: lists, pairs, keys fought for, a shop, long
 * readers, little memory.
 *
 * All of them are rows like others, so history.c judges every read of theirs. Beside that each has
 * a judge of its own that knows nothing of timestamps: lists go to check/ as a history of appends,
 * glances at pairs must lie on one line, a key has one winner, and the shop's books agree in each
 * snapshot.
 */
#include "sim_txn.h"

#include <check/check.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { PAIRS = 2, CARTS = 3, LINES_MAX = 4096, LEAVE_MAX = 4, HOGS_MAX = 256 };

const char *const load_name[LOADS] = { "mixed", "lists", "fork", "once", "churn", "checkout", "long", "tiny",
	"drops" };

/* The history of appends as text, and the operations of each transaction that is under way. */
struct lists {
	FILE *out;
	char *text;
	size_t len;
	uint64_t n;
	struct {
		FILE *out;
		char *text;
		size_t len;
		unsigned n;
	} ops[CLIENTS];
};

static void *
need(void *p)
{
	if (p == NULL) {
		fprintf(stderr, "no memory for the loads\n");
		exit(1);
	}
	return p;
}

/* ---- lists ---- */

static const char *const promised[] = { "read-committed", "session-snapshot", "session-serializable" };

static FILE *
list_ops(struct session *s)
{
	struct lists *l = s->run->lists;
	if (l->ops[s->number].out == NULL)
		l->ops[s->number].out = need(open_memstream(&l->ops[s->number].text, &l->ops[s->number].len));
	if (l->ops[s->number].n++ > 0)
		fputc(',', l->ops[s->number].out);
	return l->ops[s->number].out;
}

/* A list that is full makes room for a new one, under a new key. */
static uint64_t
list_key(struct session *s)
{
	unsigned i = (unsigned)dice(s, 3);
	return LIST_AT + s->run->list_round[i] * 4 + i;
}

static nam_status
do_list(struct session *s)
{
	uint64_t key = list_key(s), element;
	struct txn_get g;
	struct row r;
	nam_status st = client_get(s, &key, 1, &g, &r);
	if (st != NAM_OK)
		return st;
	if (dice(s, 2)) {
		FILE *f = list_ops(s);
		s->run->worked.lists++;
		fprintf(f, "[\"r\",%" PRIu64 ",[", key);
		for (unsigned i = 0; i < r.count; i++) {
			memcpy(&element, r.fill + 8 * i, 8);
			fprintf(f, "%s%" PRIu64, i ? "," : "", element);
		}
		fputs("]]", f);
		return NAM_OK;
	}
	if (g.status == NAM_ABSENT) {
		st = client_insert(s, KEYED, &key, NULL, 1);
	} else {
		if ((st = client_lock(s, KEYED, &g.row, &r)) != NAM_OK)
			return st;
		if (r.count == LIST_MAX) {
			unsigned i = (unsigned)(key - LIST_AT) % 4, round = (unsigned)(key - LIST_AT) / 4;
			if (s->run->list_round[i] == round)
				s->run->list_round[i]++;
			return NAM_OK;
		}
		st = client_replace(s, KEYED, &g.row, &r, 0);
	}
	if (st != NAM_OK)
		return st;
	/* What was written is what was noted last. */
	fprintf(list_ops(s), "[\"append\",%" PRIu64 ",%" PRIu64 "]", key, s->h->op[s->h->n - 1].value);
	s->run->worked.appends++;
	return NAM_OK;
}

static void
list_ended(struct session *s, enum hist_end end)
{
	static const char *const status[] = { "info", "ok", "fail", "info" };
	struct lists *l = s->run->lists;
	if (l->ops[s->number].n == 0)
		return;
	fclose(l->ops[s->number].out);
	fprintf(l->out, "{\"id\":%" PRIu64 ",\"session\":%u,\"process\":%u,\"begin\":%" PRIu64, l->n++,
	    s->number, s->process, s->h->began);
	if (end != HIST_UNKNOWN)
		fprintf(l->out, ",\"end\":%" PRIu64, s->h->ended);
	fprintf(l->out, ",\"status\":\"%s\",\"ops\":[%s]}\n", status[end], l->ops[s->number].text);
	free(l->ops[s->number].text);
	l->ops[s->number].out = NULL;
	l->ops[s->number].text = NULL;
	l->ops[s->number].n = 0;
}

static void
lists_open(struct run *r)
{
	struct lists *l = r->lists = need(calloc(1, sizeof *r->lists));
	l->out = need(open_memstream(&l->text, &l->len));
	fprintf(
	    l->out, "{\"history\":1,\"model\":\"list-append\",\"level\":\"%s\"}\n", promised[r->shape.lists]);
}

static void
lists_judge(struct run *r)
{
	struct lists *l = r->lists;
	fprintf(l->out, "{\"end\":%" PRIu64 "}\n", l->n);
	fclose(l->out);
	l->out = NULL;
	struct chk *c = need(chk_open());
	struct chk_options opt = { .level = CHK_UNSAID };
	enum chk_verdict v = chk_judge(c, "lists", l->text, l->len, &opt);
	if (v != CHK_CLEAN) {
		run_bad(r, "the lists are not what %s may show", promised[r->shape.lists]);
		chk_print(c, stdout);
	}
	chk_close(c);
}

/* ---- pairs: two keys that are written one by one ---- */

static nam_status
do_fork(struct session *s)
{
	uint64_t key[2] = { FORK_AT + 2 * dice(s, PAIRS) };
	struct txn_get g[2];
	struct row r[2];
	key[1] = key[0] + 1;
	if (s->number % 3 == 0) { /* a writer */
		key[0] += s->number / 3 % 2;
		nam_status st = client_get(s, key, 1, g, r);
		if (st == NAM_OK)
			st = client_lock(s, KEYED, &g[0].row, &r[0]);
		return st != NAM_OK ? st : client_replace(s, KEYED, &g[0].row, &r[0], r[0].balance + 1);
	}
	nam_status st = client_get(s, key, 2, g, r);
	if (st != NAM_OK)
		return st;
	struct run *run = s->run;
	if (run->glances == run->glances_cap) {
		run->glances_cap = run->glances_cap ? run->glances_cap * 2 : 256;
		run->glance = need(realloc(run->glance, run->glances_cap * sizeof *run->glance));
	}
	/* Pairs are kept apart by what lies between them. */
	int64_t pair = (int64_t)(key[0] - FORK_AT) << 32;
	run->glance[run->glances++] = (struct glance){ pair + r[0].balance, pair + r[1].balance };
	run->worked.glances++;
	return NAM_OK;
}

static int
by_first(const void *a, const void *b)
{
	const struct glance *x = a, *y = b;
	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return x->second < y->second ? -1 : x->second > y->second;
}

/* Of any two glances one is not older in either key. */
static void
forks_judge(struct run *r)
{
	if (r->glances > 0)
		qsort(r->glance, r->glances, sizeof *r->glance, by_first);
	for (size_t i = 1; i < r->glances; i++)
		if (r->glance[i].second < r->glance[i - 1].second) {
			run_bad(r,
			    "long fork: one reader saw versions %" PRId64 " and %" PRId64 ", another %" PRId64
			    " and %" PRId64,
			    r->glance[i - 1].first, r->glance[i - 1].second, r->glance[i].first,
			    r->glance[i].second);
			return;
		}
}

/* ---- a key has one winner ---- */

static nam_status
do_once(struct session *s)
{
	struct run *r = s->run;
	uint64_t key[2];
	unsigned n = 1 + (dice(s, 3) == 0), at = r->once;
	if (at + n > ONCE_MAX || s->onces + n > sizeof s->once / sizeof *s->once)
		return NAM_OK;
	if (s->onces > 0 && s->once[s->onces - 1] >= at) { /* it would refuse itself */
		r->once += r->once == at;
		return NAM_OK;
	}
	for (unsigned i = 0; i < n; i++)
		key[i] = ONCE_AT + at + i;
	nam_status st = client_insert(s, KEYED, key, NULL, n);
	for (unsigned i = 0; st == NAM_OK && i < n; i++)
		s->once[s->onces++] = at + i;
	if (st == NAM_DUPLICATE) {
		r->worked.refused++;
		if (n == 1)
			r->refused[at] = 1;
	}
	if (dice(s, 3) == 0 && r->once == at)
		r->once++;
	return st;
}

static void
once_judge(struct run *r)
{
	for (unsigned i = 0; i < ONCE_MAX; i++) {
		bool there = hist_value_at(r->hist, KEYED, ONCE_AT + i, UINT64_MAX) != 0;
		if (r->won[i] > 1)
			run_bad(r, "%u transactions inserted key %u", r->won[i], ONCE_AT + i);
		if ((r->won[i] > 0 || r->refused[i]) && !there)
			run_bad(r, "key %u was inserted, or is said to be there, and is not", ONCE_AT + i);
	}
}

/* ---- one key that all clients insert and delete ---- */

static nam_status
do_churn(struct session *s)
{
	uint64_t key = CHURN_AT;
	struct txn_get g;
	struct row r;
	nam_status st = client_get(s, &key, 1, &g, &r);
	if (st != NAM_OK)
		return st;
	if (g.status == NAM_ABSENT)
		return client_insert(s, KEYED, &key, NULL, 1);
	st = client_lock(s, KEYED, &g.row, &r);
	if (st == NAM_ABSENT)
		return client_insert(s, KEYED, &key, NULL, 1);
	if (st != NAM_OK)
		return st;
	return dice(s, 3) ? client_erase(s, KEYED, &g.row, &r) : client_replace(s, KEYED, &g.row, &r, 0);
}

/* ---- a shop ---- */

static int64_t
line_of(unsigned order, unsigned item, unsigned amount)
{
	return (int64_t)order << 24 | (int64_t)item << 16 | amount;
}

static nam_status
cart_add(struct session *s)
{
	uint64_t key = CART_AT + dice(s, CARTS) * 16 + dice(s, ITEMS);
	int64_t amount = 1 + (int64_t)dice(s, 9);
	struct txn_get g;
	struct row r;
	nam_status st = client_get(s, &key, 1, &g, &r);
	if (st == NAM_OK && g.status == NAM_ABSENT)
		return client_insert(s, KEYED, &key, &amount, 1);
	if (st == NAM_OK)
		st = client_lock(s, KEYED, &g.row, &r);
	if (st == NAM_ABSENT)
		return NAM_OK; /* bought meanwhile */
	return st != NAM_OK ? st : client_replace(s, KEYED, &g.row, &r, amount);
}

/* Reads a cart, takes what it says from the stock, writes the order and its lines, empties the
 * cart. */
static nam_status
checkout(struct session *s)
{
	uint64_t cart = CART_AT + dice(s, CARTS) * 16, key[ITEMS], stock[ITEMS], id[ITEMS];
	struct txn_get g[ITEMS], h[ITEMS];
	struct row r[ITEMS], what[ITEMS];
	int64_t line[ITEMS], lines = 0;
	unsigned order = ++s->run->order, n = 0;
	for (unsigned i = 0; i < ITEMS; i++)
		key[i] = cart + i;
	nam_status st = client_get(s, key, ITEMS, g, r);
	for (unsigned i = 0; st == NAM_OK && i < ITEMS; i++) {
		if (g[i].status == NAM_ABSENT)
			continue;
		st = client_lock(s, KEYED, &g[i].row, &r[i]);
		if (st == NAM_ABSENT) { /* bought meanwhile */
			st = NAM_OK;
			continue;
		}
		if (st != NAM_OK)
			return st;
		stock[n] = STOCK_AT + i;
		id[n] = ++s->run->next_id;
		line[n] = line_of(order, i, (unsigned)r[i].balance);
		n++;
		if ((st = client_erase(s, KEYED, &g[i].row, &r[i])) != NAM_OK)
			return st;
	}
	if (st != NAM_OK || n == 0)
		return st;
	if ((st = client_get(s, stock, n, h, what)) != NAM_OK)
		return st;
	for (unsigned i = 0; i < n; i++) {
		if (h[i].status != NAM_OK) {
			run_bad(s->run, "item %" PRIu64 " is gone", stock[i]);
			return NAM_CORRUPT;
		}
		st = client_lock(s, KEYED, &h[i].row, &what[i]);
		if (st == NAM_OK)
			st = client_replace(
			    s, KEYED, &h[i].row, &what[i], what[i].balance - (line[i] & 0xffff));
		if (st != NAM_OK)
			return st;
	}
	uint64_t order_key = ORDER_AT + order;
	lines = n;
	st = client_insert(s, KEYED, &order_key, &lines, 1);
	if (st == NAM_OK)
		st = client_insert(s, BARE, id, line, n);
	s->orders += st == NAM_OK;
	return st;
}

struct books {
	int64_t item[ITEMS];
	int32_t missing[LINES_MAX]; /* lines of each order that have not been seen */
	unsigned strange;
};

static void
book(void *arg, unsigned table, const struct row *r)
{
	struct books *b = arg;
	uint64_t order = table == KEYED ? r->key - ORDER_AT : (uint64_t)r->balance >> 24;
	bool stock = table == KEYED && r->key >= STOCK_AT && r->key < STOCK_AT + ITEMS;
	if (table == BARE ? r->balance == 0 : r->key < ORDER_AT && !stock)
		return;
	if (stock) {
		b->item[r->key - STOCK_AT] += r->balance;
		return;
	}
	if (order >= LINES_MAX || (table == BARE && (r->balance >> 16 & 0xff) >= ITEMS)) {
		b->strange++;
		return;
	}
	b->missing[order] += table == KEYED ? (int32_t)r->balance : -1;
	if (table == BARE)
		b->item[r->balance >> 16 & 0xff] += r->balance & 0xffff;
}

nam_status
load_books(struct session *s)
{
	struct books *b = need(calloc(1, sizeof *b));
	nam_status st = client_scan(s, KEYED, false, book, b);
	if (st == NAM_OK)
		st = client_scan(s, BARE, false, book, b);
	for (unsigned i = 0; st == NAM_OK && i < ITEMS; i++)
		if (b->item[i] != STOCK)
			run_bad(s->run, "of item %u %" PRId64 " are in stock or sold, right is %d", i,
			    b->item[i], STOCK);
	for (unsigned i = 0; st == NAM_OK && i < LINES_MAX; i++)
		if (b->missing[i] != 0)
			run_bad(s->run, "order %u has %d lines too few", i, b->missing[i]);
	if (st == NAM_OK && b->strange > 0)
		run_bad(s->run, "%u orders or lines that were never written", b->strange);
	free(b);
	s->run->worked.books += st == NAM_OK;
	return st;
}

static nam_status
do_checkout(struct session *s)
{
	if (s->run->order + 1 < LINES_MAX && dice(s, 3) == 0)
		return checkout(s);
	/* Both scans in one snapshot: READ COMMITTED has that within a statement. */
	return dice(s, 40) == 0 ? load_books(s) : cart_add(s);
}

/* ---- long readers of what others change all the time ---- */

static nam_status
do_long(struct session *s)
{
	if (s->number % 3 != 0)
		return client_touch(s);
	nam_status st = NAM_OK;
	for (unsigned n = 6 + (unsigned)dice(s, 10); st == NAM_OK && n > 0; n--) {
		uint64_t key[2] = { 0, 1 };
		struct txn_get g[2];
		struct row r[2];
		st = client_get(s, key, 2, g, r);
		net_sleep(s->w, dice(s, 2000000));
	}
	return st == NAM_OK ? client_scan(s, KEYED, false, NULL, NULL) : st;
}

/* ---- little memory ---- */

/* All clients have begun by then, and have something to delete. */
static void
hog_main(void *arg)
{
	struct run *r = arg;
	struct net_worker *w = r->place[0].w[0];
	unsigned from = (unsigned)nam_rng_below(net_rng(w), COMMITTED_LEAST / 2);
	while (r->committed < from && r->clients_left > 0 && !r->bad)
		net_sleep(w, 20000);
	for (unsigned region = 1; region <= 3; region++) {
		nam_status st = NAM_OK;
		unsigned first = (unsigned)r->hogs;
		while (st == NAM_OK && r->hogs < HOGS_MAX)
			if ((st = net_extent_take(w, region, 1, &r->hog[r->hogs])) == NAM_OK)
				r->hogs++;
		for (uint64_t n = nam_rng_below(net_rng(w), LEAVE_MAX); n > 0 && r->hogs > first; n--)
			(void)net_extent_give(w, r->hog[--r->hogs]);
	}
	r->hogging = false;
}

void
loads_hog(struct run *r)
{
	if (!(r->shape.loads >> TINY & 1))
		return;
	r->hog = need(calloc(HOGS_MAX, sizeof *r->hog));
	r->hogging = true;
	nam_co_start(net_worker_sched(r->place[0].w[0]), hog_main, r, 64 << 10);
}

void
loads_let(struct run *r)
{
	while (r->hogging)
		net_sleep(r->place[0].w[0], 100000);
	while (r->hogs > 0)
		(void)net_extent_give(r->place[0].w[0], r->hog[--r->hogs]);
	free(r->hog);
	r->hog = NULL;
}

/* A client that is told that memory is full deletes some rows; all others fill it. */
static nam_status
do_tiny(struct session *s)
{
	uint64_t id[3];
	nam_status st = NAM_OK;
	if (s->wants_room) {
		net_sleep(s->w, dice(s, 6000000)); /* what was deleted before is given back by and
						    * by */
		for (unsigned i = 0; st == NAM_OK && i < 4; i++)
			st = client_scan(s, BARE, true, NULL, NULL);
		s->wants_room = st != NAM_OK;
		return st;
	}
	if (dice(s, 4) == 0)
		return client_touch(s);
	unsigned n = 1 + (unsigned)dice(s, 3);
	for (unsigned i = 0; i < n; i++)
		id[i] = ++s->run->next_id;
	st = client_insert(s, BARE, id, NULL, n);
	s->rows += st == NAM_OK ? n : 0;
	return st;
}

/* ---- all of them ---- */

nam_status
loads_fill(struct run *r, nam_status (*add)(void *arg, uint64_t key, int64_t balance), void *arg)
{
	nam_status st = NAM_OK;
	if (r->shape.loads >> LISTS & 1)
		lists_open(r);
	for (unsigned i = 0; st == NAM_OK && i < 2 * PAIRS && (r->shape.loads >> FORK & 1); i++)
		st = add(arg, FORK_AT + i, 0);
	for (unsigned i = 0; st == NAM_OK && i < ITEMS && (r->shape.loads >> CHECKOUT & 1); i++)
		st = add(arg, STOCK_AT + i, STOCK);
	for (unsigned i = 0; i < LOADS; i++)
		r->worked.runs[i] += r->shape.loads >> i & 1;
	return st;
}

nam_status
load_statement(struct session *s)
{
	switch (s->load) {
	case LISTS:
		return do_list(s);
	case FORK:
		return do_fork(s);
	case ONCE:
		return do_once(s);
	case CHURN:
		return do_churn(s);
	case CHECKOUT:
		return do_checkout(s);
	case LONG:
		return do_long(s);
	case TINY:
		return do_tiny(s);
	case DROPS:
		return drops_statement(s);
	case MIXED:
	case LOADS:
		break;
	}
	return NAM_OK;
}

void
load_ended(struct session *s, enum hist_end end)
{
	struct worked *k = &s->run->worked;
	drops_ended(s, end);
	if (s->number >= CLIENTS)
		return;
	if (s->load == LISTS)
		list_ended(s, end);
	if (end != HIST_COMMITTED)
		return;
	k->committed[s->load]++;
	for (unsigned i = 0; i < s->onces; i++)
		s->run->won[s->once[i]]++;
	k->won += s->onces;
	k->orders += s->orders;
	k->after_full += k->full > 0 ? s->rows : 0;
}

void
loads_judge(struct run *r)
{
	if (r->lists != NULL)
		lists_judge(r);
	forks_judge(r);
	once_judge(r);
}

void
loads_close(struct run *r)
{
	struct lists *l = r->lists;
	for (unsigned i = 0; l != NULL && i < CLIENTS; i++)
		if (l->ops[i].out != NULL) {
			fclose(l->ops[i].out);
			free(l->ops[i].text);
		}
	if (l != NULL)
		free(l->text);
	free(l);
	free(r->glance);
	free(r->hog);
}
