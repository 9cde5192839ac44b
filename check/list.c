/*
 * list.c -- list-append: every read shows how its key came to be, so the order of its versions is
 * seen, not guessed.
 *
 * The longest read of a key is the order of its versions; every other read has to be a prefix of
 * it. Elements of transactions that were rolled back, or that no transaction appended, are faults
 * and are skipped for the graph.
 */
#include "check_internal.h"

#include <inttypes.h>
#include <string.h>

struct list_key {
	size_t list;      /* the longest read */
	uint32_t n;       /* its elements */
	uint32_t by;      /* its reader; NONE = this key was never read */
	uint32_t *writer; /* of each element: chk.writes, or NONE for one that has no place in the
			   * graph */
	uint32_t final;   /* elements of the final read */
	bool has_final;
	uint32_t final_by;
	struct chk_group unread; /* appends that committed and were never read ... */
	uint32_t unread_by;      /* ... and the first who did one having read all that was read; +
				  * 1 */
	/* of the transaction that is being looked at */
	uint32_t txn, own, read_n; /* txn + 1 */
	size_t own_last;
	bool has_base;
	uint32_t base_n;
	size_t base; /* elements of others that it saw first */
};

struct own {
	int64_t value;
	size_t before; /* the one before it on the same key */
};

struct list_run {
	struct chk *c;
	struct list_key *key;
	uint32_t stamp;
	struct own *own; /* appends of the transaction at hand */
	size_t owns, own_cap;
};

/* Checks one element that was read: did a transaction append it? */
static uint32_t
element(struct list_run *r, uint32_t txn, uint32_t key, int64_t value)
{
	struct chk *c = r->c;
	uint32_t w = chk_write_of(c, key, value);
	if (w == NONE) {
		chk_fault(c, "garbage", "", BREAKS_ALL, txn, NONE,
		    "%s read %" PRId64 " in key %s, which no transaction ever appended", chk_txn_text(c, txn),
		    value, chk_key_text(c, key));
		return NONE;
	}
	if (c->writes[w].seen == r->stamp) {
		chk_fault(c, "duplicate", "", BREAKS_ALL, txn, c->writes[w].txn,
		    "%s read %" PRId64 " twice in key %s, where it was appended once", chk_txn_text(c, txn),
		    value, chk_key_text(c, key));
		return NONE;
	}
	c->writes[w].seen = r->stamp;
	if (c->txns[c->writes[w].txn].status == TXN_FAIL) {
		chk_fault(c, "aborted read", "G1a", BREAKS_ALL, txn, c->writes[w].txn,
		    "%s read %" PRId64 " in key %s, of %s, which was rolled back", chk_txn_text(c, txn),
		    value, chk_key_text(c, key), chk_txn_text(c, c->writes[w].txn));
		return NONE;
	}
	return w;
}

static void
longest_reads(struct list_run *r)
{
	struct chk *c = r->c;
	for (size_t k = 0; k < c->n_keys; k++)
		r->key[k].by = NONE;
	for (uint32_t t = 0; t < c->n; t++)
		for (size_t i = c->txns[t].op; c->txns[t].committed && i < c->txns[t].op + c->txns[t].n;
		     i++) {
			const struct chk_op *op = &c->ops[i];
			struct list_key *k = &r->key[op->key];
			if (op->kind != OP_READ_LIST)
				continue;
			if (k->by == NONE || op->n > k->n) {
				k->by = t;
				k->n = op->n;
				k->list = op->list;
			}
			if (c->txns[t].final) {
				k->final = op->n;
				k->has_final = true;
				k->final_by = t;
			}
		}
	for (uint32_t i = 0; i < c->n_keys; i++) {
		struct list_key *k = &r->key[i];
		if (k->by == NONE)
			continue;
		k->writer = chk_take(c, k->n, sizeof *k->writer);
		r->stamp++;
		for (uint32_t e = 0; e < k->n; e++) {
			uint32_t w = k->writer[e] = element(r, k->by, i, c->elems[k->list + e]);
			if (w != NONE)
				c->writes[w].pos = e;
		}
	}
}

/* A read that is no prefix of the longest one: its own elements, or the order, are wrong. */
static void
diverges(struct list_run *r, uint32_t txn, const struct chk_op *op, uint32_t same)
{
	struct chk *c = r->c;
	const struct list_key *k = &r->key[op->key];
	uint64_t before = c->faults;
	bool known = true;
	r->stamp++;
	for (uint32_t e = 0; e < op->n; e++)
		known = element(r, txn, op->key, c->elems[op->list + e]) != NONE && known;
	if (known && before == c->faults)
		chk_fault(c, "incompatible order", "", BREAKS_ALL, txn, k->by,
		    "%s and %s read key %s in two orders: element %u is %" PRId64 " for one and %" PRId64
		    " for the other, and neither read is a beginning of the other",
		    chk_txn_text(c, txn), chk_txn_text(c, k->by), chk_key_text(c, op->key), same + 1,
		    c->elems[op->list + same], c->elems[k->list + same]);
}

/* ---- one transaction ---- */

/* True if a read ends with the elements that its transaction appended before it. */
static bool
ends_with_own(const struct list_run *r, const struct chk_op *op, uint32_t own)
{
	size_t i = r->key[op->key].own_last;
	for (uint32_t k = 0; k < own; k++, i = r->own[i].before)
		if (op->n <= k || r->c->elems[op->list + op->n - k - 1] != r->own[i].value)
			return false;
	return true;
}

/* Edges from and to a transaction that saw the first n elements of a key, of others' making. */
static void
external(struct list_run *r, uint32_t txn, const struct chk_op *op, uint32_t n)
{
	struct chk *c = r->c;
	struct list_key *k = &r->key[op->key];
	uint32_t i = n;
	while (i > 0 && k->writer[i - 1] == NONE)
		i--;
	if (i > 0) {
		const struct chk_write *w = &c->writes[k->writer[i - 1]];
		chk_edge(c, w->txn, txn, EDGE_WR, k->writer[i - 1]);
		if (i == n && !w->last && w->txn != txn)
			chk_fault(c, "intermediate read", "G1b", BREAKS_ALL, txn, w->txn,
			    "%s read key %s up to %" PRId64 " of %s, which appended more to it after that",
			    chk_txn_text(c, txn), chk_key_text(c, op->key), c->ops[w->op].value,
			    chk_txn_text(c, w->txn));
	}
	for (i = n; i < k->n && k->writer[i] == NONE; i++)
		;
	if (i < k->n)
		chk_edge(c, txn, c->writes[k->writer[i]].txn, EDGE_RW, k->writer[i]);
	else
		chk_edge_group(c, txn, &k->unread, EDGE_RW);
}

static void
read_list(struct list_run *r, uint32_t txn, const struct chk_op *op)
{
	struct chk *c = r->c;
	struct list_key *k = &r->key[op->key];
	uint32_t same = 0, own = k->own;
	while (same < op->n && c->elems[op->list + same] == c->elems[k->list + same])
		same++;
	if (same < op->n)
		diverges(r, txn, op, same);
	if (!ends_with_own(r, op, own)) {
		chk_fault(c, "internal", "", BREAKS_ALL, txn, NONE,
		    "%s read key %s without its own appends at the end", chk_txn_text(c, txn),
		    chk_key_text(c, op->key));
		own = 0;
	}
	uint32_t base_n = op->n - own;
	k->read_n = op->n;
	if (k->has_base && base_n == k->base_n &&
	    memcmp(c->elems + op->list, c->elems + k->base, (size_t)base_n * sizeof *c->elems) == 0)
		return;
	if (k->has_base)
		chk_fault(c, "non-repeatable read", "", BREAKS_SNAPSHOT, txn, NONE,
		    "%s read key %s twice and saw %u elements of others, then %u", chk_txn_text(c, txn),
		    chk_key_text(c, op->key), k->base_n, base_n);
	k->has_base = true;
	k->base_n = base_n;
	k->base = op->list;
	if (same >= base_n)
		external(r, txn, op, base_n);
}

static void
append(struct list_run *r, uint32_t txn, const struct chk_op *op)
{
	struct chk *c = r->c;
	struct list_key *k = &r->key[op->key];
	uint32_t pos = op->write == NONE ? NONE : c->writes[op->write].pos;
	if (pos != NONE && pos < k->read_n)
		chk_fault(c, "future read", "", BREAKS_ALL, txn, NONE,
		    "%s read %" PRId64 " in key %s before it appended it", chk_txn_text(c, txn), op->value,
		    chk_key_text(c, op->key));
	/* If two transactions read the whole list and their appends were never read, one of them
	 * came first, and the other did not see it. */
	if (pos == NONE && k->has_base && k->base_n == k->n && k->unread_by != txn + 1) {
		if (k->unread_by != 0)
			chk_fault(c, "lost update", "G-single", BREAKS_SNAPSHOT, k->unread_by - 1, txn,
			    "%s and %s read the same elements of key %s, and both appended to it",
			    chk_txn_text(c, k->unread_by - 1), chk_txn_text(c, txn),
			    chk_key_text(c, op->key));
		k->unread_by = txn + 1;
	}
	r->own = chk_grow(c, r->own, r->owns, &r->own_cap, sizeof *r->own);
	r->own[r->owns] = (struct own){ op->value, k->own_last };
	k->own_last = r->owns++;
	k->own++;
}

static void
transactions(struct list_run *r)
{
	struct chk *c = r->c;
	for (uint32_t t = 0; t < c->n; t++) {
		const struct chk_txn *x = &c->txns[t];
		if (!x->committed)
			continue;
		r->owns = 0;
		for (size_t i = x->op; i < x->op + x->n; i++) {
			struct list_key *k = &r->key[c->ops[i].key];
			if (k->txn != t + 1) {
				k->txn = t + 1;
				k->own = k->read_n = 0;
				k->has_base = false;
			}
			if (c->ops[i].kind == OP_READ_LIST)
				read_list(r, t, &c->ops[i]);
			else
				append(r, t, &c->ops[i]);
		}
	}
}

/* ---- versions ---- */

/* Appends that committed and were never read come after all that were read. */
static void
unread(struct list_run *r)
{
	struct chk *c = r->c;
	for (uint32_t w = 0; w < c->n_writes; w++)
		if (c->writes[w].pos == NONE && c->txns[c->writes[w].txn].committed)
			r->key[c->writes[w].key].unread.n++;
	for (size_t i = 0; i < c->n_keys; i++) {
		struct chk_group *g = &r->key[i].unread;
		g->member = chk_take(c, g->n, sizeof *g->member);
		g->write = chk_take(c, g->n, sizeof *g->write);
		g->n = 0;
	}
	for (uint32_t w = 0; w < c->n_writes; w++) {
		if (c->writes[w].pos != NONE || !c->txns[c->writes[w].txn].committed)
			continue;
		struct chk_group *g = &r->key[c->writes[w].key].unread;
		g->member[g->n] = c->writes[w].txn;
		g->write[g->n++] = w;
	}
	for (size_t i = 0; i < c->n_keys; i++)
		chk_group(c, &r->key[i].unread);
}

static void
versions(struct list_run *r)
{
	struct chk *c = r->c;
	for (uint32_t i = 0; i < c->n_keys; i++) {
		const struct list_key *k = &r->key[i];
		uint32_t before = NONE;
		for (uint32_t e = 0; k->by != NONE && e < k->n; e++) {
			uint32_t w = k->writer[e];
			if (w == NONE)
				continue;
			if (before != NONE)
				chk_edge(c, c->writes[before].txn, c->writes[w].txn, EDGE_WW, w);
			before = w;
		}
		if (before != NONE)
			chk_edge_group(c, c->writes[before].txn, &k->unread, EDGE_WW);
	}
}

/* Answered appends that the final reads do not show. */
static void
lost(struct list_run *r)
{
	struct chk *c = r->c;
	for (uint32_t i = 0; i < c->n_writes; i++) {
		const struct chk_write *w = &c->writes[i];
		const struct list_key *k = &r->key[w->key];
		const struct chk_txn *t = &c->txns[w->txn];
		if (!k->has_final || !t->committed || (w->pos != NONE && w->pos < k->final) ||
		    (t->has_end && t->end > c->txns[k->final_by].begin))
			continue;
		chk_fault(c, "lost write", "", BREAKS_ALL, w->txn, k->final_by,
		    "%s appended %" PRId64 " to key %s and %s, but the final read (%s) does not show it",
		    chk_txn_text(c, w->txn), c->ops[w->op].value, chk_key_text(c, w->key),
		    t->status == TXN_OK ? "was told so" : "others saw it commit",
		    chk_txn_text(c, k->final_by));
	}
}

void
chk_list(struct chk *c)
{
	struct list_run r = { .c = c, .key = chk_take(c, c->n_keys, sizeof *r.key) };
	longest_reads(&r);
	unread(&r);
	versions(&r);
	transactions(&r);
	lost(&r);
	chk_cycles(c);
}
