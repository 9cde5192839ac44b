/* cut.c -- two passes over a log: what undoes attempts behind its end, and which ones lie before it
 * (cut.h). */
#include "cut.h"

#include <base/fault.h>

#include <stdlib.h>
#include <string.h>

void
txn_cut_at(struct txn_cut *c, uint64_t end)
{
	*c = (struct txn_cut){ .end = end, .until = INT64_MAX };
}

void
txn_cut_until(struct txn_cut *c, uint64_t whole, int64_t until)
{
	*c = (struct txn_cut){ .whole = whole, .end = TXN_CUT_NO_END, .search = true, .until = until };
}

void
txn_cut_fini(struct txn_cut *c)
{
	free(c->name);
	c->name = NULL;
	c->names = c->cap = 0;
}

static nam_status
head_of(const void *bytes, uint32_t len, struct txn_logged *out)
{
	if (len < sizeof *out)
		return NAM_CORRUPT;
	memcpy(out, bytes, sizeof *out);
	return out->kind >= TXN_LOGGED_COMMIT && out->kind <= TXN_LOGGED_KEPT ? NAM_OK : NAM_CORRUPT;
}

static nam_status
note(struct txn_cut *c, const struct txn_logged *h)
{
	if (c->names == c->cap) {
		size_t cap = c->cap ? 2 * c->cap : 64;
		struct txn_cut_name *more = realloc(c->name, cap * sizeof *more);
		if (more == NULL)
			return NAM_NOMEM;
		c->name = more;
		c->cap = cap;
	}
	c->name[c->names++] = (struct txn_cut_name){ .record = *h };
	return NAM_OK;
}

nam_status
txn_cut_look(struct txn_cut *c, uint64_t position, const void *bytes, uint32_t len)
{
	struct txn_logged h;
	nam_status st = head_of(bytes, len, &h);
	if (st != NAM_OK)
		return st;
	bool commit = h.kind == TXN_LOGGED_COMMIT;
	if (c->search && c->end == TXN_CUT_NO_END) {
		if (position < c->whole || c->looked == 0)
			c->earliest = h.time > c->earliest ? h.time : c->earliest;
		else if (commit && h.time > c->until)
			c->end = position;
		if (c->end == TXN_CUT_NO_END)
			c->timeless |= commit && h.time == 0;
	}
	c->looked++;
	if (position < c->end) {
		c->latest = h.time > c->latest ? h.time : c->latest;
		return NAM_OK;
	}
	return h.kind == TXN_LOGGED_UNDONE ? note(c, &h) : NAM_OK;
}

bool
txn_cut_found(struct txn_cut *c)
{
	return !c->search || c->until >= c->earliest;
}

static int
by_name(const void *a, const void *b)
{
	const struct txn_logged *x = &((const struct txn_cut_name *)a)->record,
				*y = &((const struct txn_cut_name *)b)->record;
	if (x->lock != y->lock)
		return x->lock < y->lock ? -1 : 1;
	return (x->check > y->check) - (x->check < y->check);
}

nam_status
txn_cut_take(struct txn_cut *c, const void *bytes, uint32_t len)
{
	struct txn_cut_name key = { .before = false };
	nam_status st = head_of(bytes, len, &key.record);
	if (st != NAM_OK)
		return st;
	if (c->records++ == 0 && c->names > 0) {
		qsort(c->name, c->names, sizeof *c->name, by_name);
		/* Said twice, it is true once. */
		size_t n = 1;
		for (size_t i = 1; i < c->names; i++)
			if (by_name(&c->name[n - 1], &c->name[i]) != 0)
				c->name[n++] = c->name[i];
		c->names = n;
	}
	if (key.record.kind != TXN_LOGGED_COMMIT || c->names == 0)
		return NAM_OK;
	struct txn_cut_name *x = bsearch(&key, c->name, c->names, sizeof key, by_name);
	if (x != NULL)
		x->before = true;
	return NAM_OK;
}

const struct txn_logged *
txn_cut_undone(const struct txn_cut *c, size_t *i)
{
	while (*i < c->names && (!c->name[*i].before || nam_fault(BACKUP_UNTOLD)))
		(*i)++;
	return *i < c->names ? &c->name[(*i)++].record : NULL;
}
