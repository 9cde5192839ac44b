/* simple.c -- two cheap models: a bank whose sum is constant, and sets that only grow. */
#include "check_internal.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- bank: every snapshot of all accounts holds the total ---- */

struct account {
	uint32_t txn; /* + 1: the one being looked at */
	bool has_base;
	int64_t own, base; /* money added by this transaction; balance without it */
	bool has_final;
	int64_t final;
};

static int64_t
minus(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a - (uint64_t)b);
}

static void
bank_txn(struct chk *c, struct account *account, uint32_t t)
{
	const struct chk_txn *x = &c->txns[t];
	size_t seen = 0;
	__int128 sum = 0;
	for (size_t i = x->op; i < x->op + x->n; i++) {
		const struct chk_op *op = &c->ops[i];
		struct account *k = &account[op->key];
		if (k->txn != t + 1) {
			k->txn = t + 1;
			k->has_base = false;
			k->own = 0;
		}
		if (op->kind == OP_ADD) {
			k->own = minus(k->own, minus(0, op->value));
			continue;
		}
		int64_t base = minus(op->value, k->own);
		if (k->has_base && k->base != base)
			chk_fault(c, "non-repeatable read", "", BREAKS_SNAPSHOT, t, NONE,
			    "%s read account %s twice: without its own transfers %" PRId64 ", then %" PRId64,
			    chk_txn_text(c, t), chk_key_text(c, op->key), k->base, base);
		if (!k->has_base) {
			seen++;
			sum += base;
		}
		k->has_base = true;
		k->base = base;
		if (x->final) {
			k->has_final = true;
			k->final = op->value;
		}
	}
	if (seen == c->n_keys && seen > 0 && sum != c->total)
		chk_fault(c, "wrong total", "", BREAKS_SNAPSHOT, t, NONE,
		    "%s read all %zu accounts: they hold %" PRId64 ", right is %" PRId64, chk_txn_text(c, t),
		    c->n_keys, (int64_t)sum, c->total);
}

void
chk_bank(struct chk *c)
{
	struct account *account = chk_take(c, c->n_keys, sizeof *account);
	__int128 sum = 0;
	size_t finals = 0;
	for (uint32_t t = 0; t < c->n; t++)
		if (c->txns[t].committed)
			bank_txn(c, account, t);
	for (size_t i = 0; i < c->n_keys; i++) {
		finals += account[i].has_final;
		sum += account[i].final;
	}
	if (finals == c->n_keys && finals > 0 && sum != c->total)
		chk_fault(c, "lost money", "", BREAKS_ALL, NONE, NONE,
		    "at the end the accounts hold %" PRId64 ", right is %" PRId64, (int64_t)sum, c->total);
}

/* ---- set: what was added is there, for later transactions ---- */

/* One read of a set by a committed transaction. */
struct look {
	uint32_t key, txn, n;
	size_t list;
};

struct set_run {
	struct chk *c;
	struct look *look;
	size_t looks, look_cap;
	uint32_t stamp;
};

static int
by_size(const void *a, const void *b)
{
	const struct look *x = a, *y = b;
	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	if (x->n != y->n)
		return x->n < y->n ? -1 : 1;
	return x->txn < y->txn ? -1 : x->txn > y->txn;
}

/* Marks the elements of a read; says what cannot be one. */
static void
mark(struct set_run *r, const struct look *l)
{
	struct chk *c = r->c;
	r->stamp++;
	for (uint32_t i = 0; i < l->n; i++) {
		int64_t value = c->elems[l->list + i];
		uint32_t w = chk_write_of(c, l->key, value);
		if (w != NONE && c->writes[w].seen != r->stamp) {
			c->writes[w].seen = r->stamp;
			uint32_t by = c->writes[w].txn;
			if (c->txns[by].status == TXN_FAIL)
				chk_fault(c, "aborted read", "G1a", BREAKS_ALL, l->txn, by,
				    "%s found %" PRId64 " in set %s, of %s, which was rolled back",
				    chk_txn_text(c, l->txn), value, chk_key_text(c, l->key),
				    chk_txn_text(c, by));
		} else {
			chk_fault(c, w == NONE ? "garbage" : "duplicate", "", BREAKS_ALL, l->txn, NONE,
			    "%s found %" PRId64 " in set %s, %s", chk_txn_text(c, l->txn), value,
			    chk_key_text(c, l->key),
			    w == NONE ? "which no transaction ever added" : "and again in the same read");
		}
	}
}

/* True if w is in the read that was marked last. */
static bool
marked(const struct set_run *r, uint32_t w)
{
	return r->c->writes[w].seen == r->stamp;
}

/* Of two reads of one moment each, one holds the other. A transaction that added to the set has its
 * own view. */
static void
nested(struct set_run *r)
{
	struct chk *c = r->c;
	const struct look *small = NULL;
	qsort(r->look, r->looks, sizeof *r->look, by_size);
	for (size_t i = 0; i < r->looks; i++) {
		const struct look *big = &r->look[i];
		mark(r, big);
		if (c->txns[big->txn].wrote)
			continue;
		for (uint32_t k = 0; small != NULL && small->key == big->key && k < small->n; k++) {
			int64_t value = c->elems[small->list + k];
			uint32_t w = chk_write_of(c, small->key, value);
			if (w == NONE || marked(r, w) || c->txns[c->writes[w].txn].status == TXN_FAIL)
				continue;
			/* The other one is no smaller, so it also holds a value that is not
			 * here. */
			chk_fault(c, "long fork", "G-nonadjacent", BREAKS_SNAPSHOT, small->txn, big->txn,
			    "%s and %s read set %s: each holds elements that the other does not, such as "
			    "%" PRId64,
			    chk_txn_text(c, small->txn), chk_txn_text(c, big->txn),
			    chk_key_text(c, small->key), value);
			break;
		}
		small = big;
	}
}

/* What a read has to show: the additions that were acknowledged before it began, of all or of its
 * session. */
struct due {
	bool *write;     /* is it one of them? */
	uint32_t *count; /* of them, by key */
};

/* Says which of them is not there. Without a place for one more finding it is only counted. */
static void
tell_missing(struct set_run *r, const struct look *l, const struct due *due, const char *name,
    unsigned breaks, const char *where)
{
	struct chk *c = r->c;
	uint32_t w = 0;
	if (!(breaks >> c->level & 1) || c->n_found >= c->opt.witnesses) {
		chk_fault(c, name, "", breaks, l->txn, NONE, " ");
		return;
	}
	while (!due->write[w] || c->writes[w].key != l->key || marked(r, w))
		w++;
	chk_fault(c, name, "", breaks, c->writes[w].txn, l->txn,
	    "%s added %" PRId64
	    " to set %s and was told so, but %s%s, which began after that, does not show it",
	    chk_txn_text(c, c->writes[w].txn), c->ops[c->writes[w].op].value, chk_key_text(c, l->key), where,
	    chk_txn_text(c, l->txn));
}

/* True if a read shows every value that it must. */
static bool
shows(struct set_run *r, const struct look *l, const struct due *due)
{
	struct chk *c = r->c;
	uint32_t n = 0;
	r->stamp++;
	for (uint32_t i = 0; i < l->n; i++) {
		uint32_t w = chk_write_of(c, l->key, c->elems[l->list + i]);
		if (w == NONE || marked(r, w))
			continue;
		c->writes[w].seen = r->stamp;
		n += due->write[w];
	}
	return n == due->count[l->key];
}

struct moment {
	int64_t at;
	uint32_t what;
};

static int
by_moment(const void *a, const void *b)
{
	const struct moment *x = a, *y = b;
	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return x->what < y->what ? -1 : x->what > y->what;
}

/* A read must show the values that were acknowledged before it began, to any session: always in the
 * final read, else for levels with real time. */
static void
real_time(struct set_run *r, struct due *due)
{
	struct chk *c = r->c;
	struct moment *added = chk_take(c, c->n_writes, sizeof *added),
		      *began = chk_take(c, r->looks, sizeof *began);
	size_t n = 0, k = 0;
	for (uint32_t w = 0; w < c->n_writes; w++)
		if (c->txns[c->writes[w].txn].status == TXN_OK)
			added[n++] = (struct moment){ c->txns[c->writes[w].txn].end, w };
	for (uint32_t i = 0; i < r->looks; i++)
		began[i] = (struct moment){ c->txns[r->look[i].txn].begin, i };
	qsort(added, n, sizeof *added, by_moment);
	qsort(began, r->looks, sizeof *began, by_moment);
	for (size_t i = 0; i < r->looks; i++) {
		const struct look *l = &r->look[began[i].what];
		for (; k < n && added[k].at < began[i].at; k++) {
			due->write[added[k].what] = true;
			due->count[c->writes[added[k].what].key]++;
		}
		if (shows(r, l, due))
			continue;
		if (c->txns[l->txn].final)
			tell_missing(r, l, due, "lost write", BREAKS_ALL, "the final read, ");
		else
			tell_missing(r, l, due, "real time broken", BREAKS_STRONG, "");
	}
	for (size_t i = 0; i < k; i++) {
		due->write[added[i].what] = false;
		due->count[c->writes[added[i].what].key] = 0;
	}
	chk_drop(c, added);
	chk_drop(c, began);
}

/* The same in each session. */
static void
sessions(struct set_run *r, struct due *due)
{
	struct chk *c = r->c;
	uint32_t *told = chk_take(c, c->n_writes, sizeof *told), n = 0;
	for (size_t i = 0; i < c->live; i++) {
		uint32_t t = c->by_session[i];
		const struct chk_txn *x = &c->txns[t];
		if (i > 0 && c->txns[c->by_session[i - 1]].session != x->session)
			while (n > 0) {
				due->write[told[--n]] = false;
				due->count[c->writes[told[n]].key] = 0;
			}
		for (size_t k = x->op; x->committed && k < x->op + x->n; k++) {
			const struct chk_op *op = &c->ops[k];
			struct look l = { op->key, t, op->n, op->list };
			if (op->kind == OP_READ_LIST && !x->final && !shows(r, &l, due))
				tell_missing(
				    r, &l, due, "session broken", BREAKS_SESSION, "in the same session ");
		}
		for (size_t k = x->op; x->status == TXN_OK && k < x->op + x->n; k++) {
			uint32_t w = c->ops[k].write;
			if (w == NONE)
				continue;
			due->write[w] = true;
			due->count[c->writes[w].key]++;
			told[n++] = w;
		}
	}
	chk_drop(c, told);
}

void
chk_set(struct chk *c)
{
	struct set_run r = { .c = c };
	for (uint32_t t = 0; t < c->n; t++)
		for (size_t i = c->txns[t].op; c->txns[t].committed && i < c->txns[t].op + c->txns[t].n;
		     i++) {
			const struct chk_op *op = &c->ops[i];
			if (op->kind != OP_READ_LIST)
				continue;
			r.look = chk_grow(c, r.look, r.looks, &r.look_cap, sizeof *r.look);
			r.look[r.looks++] = (struct look){ op->key, t, op->n, op->list };
		}
	if (r.looks == 0)
		return;
	struct due due = { chk_take(c, c->n_writes, sizeof *due.write),
		chk_take(c, c->n_keys, sizeof *due.count) };
	nested(&r);
	real_time(&r, &due);
	sessions(&r, &due);
}
