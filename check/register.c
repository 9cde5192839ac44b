/*
 * register.c -- rw-register: each write replaces the whole value.
 *
 * The order of versions is not seen. It is learned from transactions that read a key and then write
 * it: what they read comes before what they write; and from absence, which comes before every value
 * of a key that is never deleted.
 */
#include "check_internal.h"

#include <inttypes.h>

struct register_key {
	bool deleted; /* a transaction wrote null to it */
	/* of the transaction that is being looked at */
	uint32_t txn; /* + 1 */
	bool has_own, own_null, has_base, base_null;
	int64_t own, base;
};

/* A transaction read `version` and then wrote. Versions are writes, behind them the absence of each
 * key. */
struct successor {
	uint32_t version, txn, write;
};
struct external {
	uint32_t version, txn;
};

struct register_run {
	struct chk *c;
	struct register_key *key;
	struct successor *next;
	size_t nexts, next_cap;
	struct external *read;
	size_t reads, read_cap;
	uint32_t *count; /* of successors by version */
	struct chk_group *group;
};

static const char *
value_text(bool null, int64_t value, char *buf, size_t size)
{
	if (null)
		return "nothing";
	snprintf(buf, size, "%" PRId64, value);
	return buf;
}

static uint32_t
absent(const struct register_run *r, uint32_t key)
{
	return (uint32_t)r->c->n_writes + key;
}

/* Whose value is it? The version, or NONE if it has no place in the graph. */
static uint32_t
version_of(struct register_run *r, uint32_t txn, const struct chk_op *op)
{
	struct chk *c = r->c;
	if (op->null)
		return r->key[op->key].deleted ? NONE : absent(r, op->key);
	uint32_t w = chk_write_of(c, op->key, op->value);
	if (w == NONE) {
		chk_fault(c, "garbage", "", BREAKS_ALL, txn, NONE,
		    "%s read %" PRId64 " in key %s, which no transaction ever wrote", chk_txn_text(c, txn),
		    op->value, chk_key_text(c, op->key));
		return NONE;
	}
	const struct chk_write *by = &c->writes[w];
	if (by->txn == txn) {
		if (&c->ops[by->op] > op)
			chk_fault(c, "future read", "", BREAKS_ALL, txn, NONE,
			    "%s read %" PRId64 " in key %s before it wrote it", chk_txn_text(c, txn),
			    op->value, chk_key_text(c, op->key));
		return NONE;
	}
	if (c->txns[by->txn].status == TXN_FAIL) {
		chk_fault(c, "aborted read", "G1a", BREAKS_ALL, txn, by->txn,
		    "%s read %" PRId64 " in key %s, of %s, which was rolled back", chk_txn_text(c, txn),
		    op->value, chk_key_text(c, op->key), chk_txn_text(c, by->txn));
		return NONE;
	}
	if (!by->last) {
		chk_fault(c, "intermediate read", "G1b", BREAKS_ALL, txn, by->txn,
		    "%s read %" PRId64 " in key %s, of %s, which wrote it again after that",
		    chk_txn_text(c, txn), op->value, chk_key_text(c, op->key), chk_txn_text(c, by->txn));
		return NONE;
	}
	return w;
}

static void
read_value(struct register_run *r, uint32_t txn, const struct chk_op *op)
{
	struct chk *c = r->c;
	struct register_key *k = &r->key[op->key];
	char a[32], b[32];
	if (k->has_own) {
		if (op->null == k->own_null && (op->null || op->value == k->own))
			return;
		chk_fault(c, "internal", "", BREAKS_ALL, txn, NONE, "%s wrote %s to key %s and then read %s",
		    chk_txn_text(c, txn), value_text(k->own_null, k->own, a, sizeof a),
		    chk_key_text(c, op->key), value_text(op->null, op->value, b, sizeof b));
		return;
	}
	if (k->has_base && op->null == k->base_null && (op->null || op->value == k->base))
		return;
	if (k->has_base)
		chk_fault(c, "non-repeatable read", "", BREAKS_SNAPSHOT, txn, NONE,
		    "%s read key %s twice and saw %s, then %s", chk_txn_text(c, txn),
		    chk_key_text(c, op->key), value_text(k->base_null, k->base, a, sizeof a),
		    value_text(op->null, op->value, b, sizeof b));
	k->has_base = true;
	k->base_null = op->null;
	k->base = op->value;
	uint32_t v = version_of(r, txn, op);
	if (v == NONE)
		return;
	if (v < c->n_writes)
		chk_edge(c, c->writes[v].txn, txn, EDGE_WR, v);
	r->read = chk_grow(c, r->read, r->reads, &r->read_cap, sizeof *r->read);
	r->read[r->reads++] = (struct external){ v, txn };
}

static void
write_value(struct register_run *r, uint32_t txn, const struct chk_op *op)
{
	struct chk *c = r->c;
	struct register_key *k = &r->key[op->key];
	if (!k->has_own && k->has_base) {
		/* What it read is what its last write to this key replaces. */
		uint32_t v = k->base_null ? r->key[op->key].deleted ? NONE : absent(r, op->key)
					  : chk_write_of(c, op->key, k->base);
		if (v != NONE && (v >= c->n_writes || (c->txns[c->writes[v].txn].committed &&
							  c->writes[v].last && c->writes[v].txn != txn))) {
			r->next = chk_grow(c, r->next, r->nexts, &r->next_cap, sizeof *r->next);
			r->next[r->nexts++] = (struct successor){ v, txn, op->write };
		}
	}
	k->has_own = true;
	k->own_null = op->null;
	k->own = op->value;
}

static void
transactions(struct register_run *r)
{
	struct chk *c = r->c;
	for (uint32_t t = 0; t < c->n; t++) {
		const struct chk_txn *x = &c->txns[t];
		for (size_t i = x->op; x->committed && i < x->op + x->n; i++) {
			const struct chk_op *op = &c->ops[i];
			struct register_key *k = &r->key[op->key];
			if (k->txn != t + 1)
				*k = (struct register_key){ .deleted = k->deleted, .txn = t + 1 };
			if (op->kind == OP_WRITE)
				write_value(r, t, op);
			else
				read_value(r, t, op);
		}
	}
}

/* Two transactions replaced the same version. Absence counts only for those that read it before
 * they wrote. */
static void
lost_updates(struct register_run *r)
{
	struct chk *c = r->c;
	size_t versions = c->n_writes + c->n_keys;
	uint32_t *first = chk_take(c, versions, sizeof *first); /* successor + 1 */
	for (size_t i = 0; i < r->nexts; i++) {
		const struct successor *s = &r->next[i];
		const struct chk_txn *t = &c->txns[s->txn];
		if (first[s->version] == 0) {
			first[s->version] = (uint32_t)i + 1;
			continue;
		}
		const struct successor *o = &r->next[first[s->version] - 1];
		if (o->txn == s->txn || t->level == CHK_READ_COMMITTED)
			continue;
		chk_fault(c, "lost update", "G-single", BREAKS_SNAPSHOT, o->txn, s->txn,
		    "%s and %s read the same version of key %s, and both wrote it", chk_txn_text(c, o->txn),
		    chk_txn_text(c, s->txn), chk_key_text(c, c->writes[s->write].key));
	}
	chk_drop(c, first);
}

/* Successors by version; all committed writers of a key come after its absence. */
static void
groups(struct register_run *r)
{
	struct chk *c = r->c;
	size_t versions = c->n_writes + c->n_keys;
	r->group = chk_take(c, versions, sizeof *r->group);
	for (size_t i = 0; i < r->nexts; i++)
		if (r->next[i].version < c->n_writes)
			r->group[r->next[i].version].n++;
	for (uint32_t w = 0; w < c->n_writes; w++)
		if (c->writes[w].last && c->txns[c->writes[w].txn].committed)
			r->group[absent(r, c->writes[w].key)].n++;
	for (size_t v = 0; v < versions; v++) {
		struct chk_group *g = &r->group[v];
		if (g->n == 0)
			continue;
		g->member = chk_take(c, g->n, sizeof *g->member);
		g->write = chk_take(c, g->n, sizeof *g->write);
		g->n = 0;
	}
	for (size_t i = 0; i < r->nexts; i++) {
		struct chk_group *g = &r->group[r->next[i].version];
		if (r->next[i].version >= c->n_writes)
			continue;
		g->member[g->n] = r->next[i].txn;
		g->write[g->n++] = r->next[i].write;
	}
	for (uint32_t w = 0; w < c->n_writes; w++) {
		struct chk_group *g = &r->group[absent(r, c->writes[w].key)];
		if (!c->writes[w].last || !c->txns[c->writes[w].txn].committed)
			continue;
		g->member[g->n] = c->writes[w].txn;
		g->write[g->n++] = w;
	}
	for (size_t v = 0; v < versions; v++)
		if (r->group[v].n > 0)
			chk_group(c, &r->group[v]);
}

/* The final read shows what a transaction before it had replaced. */
static void
lost_writes(struct register_run *r)
{
	struct chk *c = r->c;
	for (size_t i = 0; i < r->reads; i++) {
		const struct external *e = &r->read[i];
		const struct chk_group *g = &r->group[e->version];
		for (uint32_t k = 0; c->txns[e->txn].final && k < g->n; k++) {
			const struct chk_txn *t = &c->txns[g->member[k]];
			if (g->member[k] == e->txn || !t->has_end || t->end > c->txns[e->txn].begin)
				continue;
			chk_fault(c, "lost write", "", BREAKS_ALL, g->member[k], e->txn,
			    "%s wrote key %s and was told so, but the final read (%s) shows what was there "
			    "before",
			    chk_txn_text(c, g->member[k]), chk_key_text(c, c->writes[g->write[k]].key),
			    chk_txn_text(c, e->txn));
		}
	}
}

void
chk_register(struct chk *c)
{
	struct register_run r = { .c = c, .key = chk_take(c, c->n_keys, sizeof *r.key) };
	for (size_t w = 0; w < c->n_writes; w++)
		r.key[c->writes[w].key].deleted |= c->ops[c->writes[w].op].null;
	transactions(&r);
	lost_updates(&r);
	groups(&r);
	for (size_t i = 0; i < r.reads; i++)
		chk_edge_group(c, r.read[i].txn, &r.group[r.read[i].version], EDGE_RW);
	for (size_t i = 0; i < r.nexts; i++)
		if (r.next[i].version < c->n_writes)
			chk_edge(
			    c, c->writes[r.next[i].version].txn, r.next[i].txn, EDGE_WW, r.next[i].write);
	lost_writes(&r);
	chk_cycles(c);
}
