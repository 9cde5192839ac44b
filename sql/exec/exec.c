/* exec.c -- pulling batches through a plan: access to tables, projection, limits. */
#include <sql/exec/exec.h>
#include <sql/exec/meter.h>
#include <types/array.h>
#include <catalog/pages.h>
#include <sql/exec/rowset.h>

#include <base/assert.h>
#include <stdio.h>

const uint16_t *
sql_ident(void)
{
#define I4(n)   (n), (n) + 1, (n) + 2, (n) + 3
#define I16(n)  I4(n), I4((n) + 4), I4((n) + 8), I4((n) + 12)
#define I64(n)  I16(n), I16((n) + 16), I16((n) + 32), I16((n) + 48)
#define I256(n) I64(n), I64((n) + 64), I64((n) + 128), I64((n) + 192)
	static const uint16_t ident[CAT_BATCH] = { I256(0), I256(256), I256(512), I256(768) };
	return ident;
}

bool
sql_no_memory(struct cat_err *err)
{
	cat_error(err, "53200", "out of memory");
	snprintf(err->hint, sizeof err->hint,
	    "The statement keeps too many rows at once: see namdb.statement_memory and "
	    "namdb.process_memory.");
	return false;
}

bool
sql_go_on(struct sql_exec *x)
{
	if (x->cancel != NULL && __atomic_load_n((const int *)x->cancel, __ATOMIC_RELAXED) != 0)
		return cat_error(x->err, "57014", "canceling statement due to user request");
	if (x->deadline_ns != 0 && net_now_ns(x->net) > x->deadline_ns)
		return cat_error(x->err, "57014", "canceling statement due to statement timeout");
	return true;
}

bool
sql_worked(void *arg, uint64_t work)
{
	enum { LOOK = 1 << 20 };
	struct sql_exec *x = arg;
	if ((x->work += work) < LOOK)
		return true;
	x->work = 0;
	return sql_go_on(x);
}

bool
sql_gather(
    struct cat_vec *dst, const struct cat_vec *src, const uint16_t *idx, unsigned n, struct nam_arena *arena)
{
	if (!cat_vec_take(dst, src->type, n, arena))
		return false;
	if (cat_type_is_str(src->type))
		for (unsigned k = 0; k < n; k++)
			dst->s[k] = src->s[idx[k]];
	else
		for (unsigned k = 0; k < n; k++)
			dst->i[k] = src->i[idx[k]];
	for (unsigned k = 0; k < n; k++)
		dst->null[k] = src->null[idx[k]];
	return true;
}

bool
sql_send(
    struct sql_exec *x, const struct sql_batch *b, const uint16_t *sel, unsigned n, struct nam_arena *arena)
{
	struct cat_vec *col = b->col;
	if (sel != NULL && n < b->n) {
		if ((col = nam_arena_take(arena, (b->cols + 1) * sizeof *col)) == NULL)
			return sql_no_memory(x->err);
		for (unsigned c = 0; c < b->cols; c++)
			if (!sql_gather(&col[c], &b->col[c], sel, n, arena))
				return sql_no_memory(x->err);
	}
	struct sql_batch_view v = { .col = col, .cols = b->cols, .n = n };
	x->sent += n;
	if (x->sink->rows != NULL && !x->sink->rows(x->sink->arg, &v))
		return cat_error(x->err, "57014", "canceling statement due to user request");
	return true;
}

/* The same for rows sel[0..m) of it; NULL: all. */
static int
keep(struct sql_exec *x, struct sql_node *n, const uint16_t *sel, unsigned m)
{
	n->sel = NULL;
	n->nsel = m;
	if (sel != NULL)
		n->sel = memcpy(n->selbuf, sel, m * sizeof *sel);
	if (n->filter == NULL || m == 0)
		return (int)m;
	x->env.arena = x->arena[n->arena];
	int kept = sql_filter(n->filter, &n->out, n->sel, m, &x->env, n->selbuf);
	if (kept < 0)
		return -1;
	if (n->meter != NULL)
		n->meter->removed += m - (unsigned)kept;
	n->nsel = (unsigned)kept;
	if (n->nsel < n->out.n)
		n->sel = n->selbuf;
	return kept;
}

int
sql_keep(struct sql_exec *x, struct sql_node *n)
{
	return keep(x, n, NULL, n->out.n);
}

/* ---- access ------------------------------------------------------------------------ */

/* What was decoded into acc.tmp is the batch. */
static void
show(struct sql_node *n, unsigned rows)
{
	struct sql_access *a = &n->acc;
	for (unsigned j = 0; j < a->wants; j++)
		n->out.col[a->base + a->want[j]] = a->tmp[j];
	n->out.n = rows;
}

/* For who locks them: which rows these are. */
static bool
name_rows(struct sql_exec *x, struct sql_node *n, unsigned rows)
{
	const struct sql_access *a = &n->acc;
	if (a->row_at == 0)
		return true;
	struct cat_vec *at = &n->out.col[a->row_at];
	for (unsigned i = 0; i < 2; i++)
		if (!cat_vec_take(&at[i], CAT_INT8, rows, x->arena[n->arena]))
			return sql_no_memory(x->err);
	for (unsigned k = 0; k < rows; k++) {
		at[0].i[k] = (int64_t)a->rows[k].at.bits;
		at[1].i[k] = (int64_t)a->rows[k].cid;
	}
	memset(at[0].null, 0, rows);
	memset(at[1].null, 0, rows);
	return true;
}

static bool
decode(struct sql_exec *x, struct sql_node *n, unsigned rows)
{
	struct sql_access *a = &n->acc;
	if (a->wants > 0) {
		nam_status st = cat_rows_decode(
		    a->tab, x->t, a->rows, rows, a->want, a->wants, a->tmp, x->arena[n->arena]);
		if (st != NAM_OK)
			return sql_status(x->err, st, a->tab);
	}
	show(n, rows);
	return name_rows(x, n, rows);
}

/* The next rows of a table, decoded: *got of them, of which *m count, in sel or all. */
static nam_status
scan_batch(struct sql_exec *x, struct sql_node *n, unsigned *got, const uint16_t **sel, unsigned *m)
{
	struct sql_access *a = &n->acc;
	struct nam_arena *arena = x->arena[n->arena];
	nam_status st;
	if (n->read != NULL) {
		st = cat_scan_next(n->read, a->tmp, got, sel, m, arena);
	} else {
		st = txn_scan_next(n->scan, a->rows, CAT_BATCH, got);
		*sel = NULL;
		*m = *got;
		if (st == NAM_OK && a->wants > 0)
			st = cat_rows_decode(a->tab, x->t, a->rows, *got, a->want, a->wants, a->tmp, arena);
	}
	if (st == NAM_OK && *got > 0) {
		show(n, *got);
		if (!name_rows(x, n, *got))
			st = NAM_NOMEM;
	}
	return st;
}

static int
scan_next(struct sql_exec *x, struct sql_node *n)
{
	struct sql_access *a = &n->acc;
	while (!n->ended) {
		if (!sql_go_on(x))
			return -1;
		nam_arena_reset(x->arena[n->arena]);
		unsigned got = 0, m = 0;
		const uint16_t *sel = NULL;
		nam_status st = scan_batch(x, n, &got, &sel, &m);
		if (st != NAM_OK) {
			sql_status(x->err, st, a->tab);
			return -1;
		}
		if (got == 0) {
			n->ended = true;
			if (x->saw != NULL)
				x->saw(x->saw_arg, a->tab->store.id, a->seen);
			break;
		}
		a->seen += m;
		int kept = keep(x, n, sel, m);
		if (kept != 0)
			return kept;
	}
	return 0;
}

/* each: the value of key n->each - 1. */
static bool
get_key(struct sql_exec *x, struct sql_node *n, struct sql_expr **e, const struct cat_datum *each,
    struct txn_get *g, bool *null, struct nam_arena *arena)
{
	union cat_val v[CAT_KEY_MAX];
	*null = false;
	for (unsigned k = 0; k < n->keys; k++) {
		struct cat_datum d;
		if (k + 1 == n->each)
			d = *each;
		else if (e[k]->kind == SQL_CONST)
			d = e[k]->value;
		else if (e[k]->kind == SQL_PARAM && e[k]->index < x->env.params)
			d = x->env.param[e[k]->index];
		else if (!sql_eval_one(e[k], &x->env, &d))
			return false;
		if (d.null)
			*null = true;
		v[k] = d.v;
	}
	if (*null)
		return true;
	struct cat_str key;
	nam_status st = cat_key_encode(n->acc.tab, v, &key, &g->hash, arena);
	if (st != NAM_OK)
		return sql_status(x->err, st, n->acc.tab);
	g->table = (struct txn_table *)&n->acc.tab->store;
	g->key = key.p;
	g->key_len = key.len;
	return true;
}

static bool
fetch(struct sql_exec *x, struct sql_node *n, struct txn_get *g, unsigned m, struct nam_arena *arena)
{
	nam_status st = txn_get(x->t, g, m, arena);
	for (unsigned k = 0; k < m && st == NAM_OK; k++)
		if (g[k].status != NAM_OK && g[k].status != NAM_ABSENT)
			st = g[k].status;
	return st == NAM_OK || sql_status(x->err, st, n->acc.tab);
}

/* Several constants may be the same key: a row comes once. Keeps the first of each; answers how many. */
static unsigned
unique(struct txn_get *g, unsigned m, struct nam_arena *arena)
{
	uint32_t mask = 4;
	while (mask < m * 2)
		mask *= 2;
	uint32_t *slot = nam_arena_zero(arena, mask * sizeof *slot);
	if (slot == NULL)
		return UINT32_MAX;
	mask--;
	unsigned out = 0;
	for (unsigned k = 0; k < m; k++) {
		uint32_t h = (uint32_t)(g[k].hash >> 7) & mask;
		while (slot[h] != 0) {
			const struct txn_get *o = &g[slot[h] - 1];
			if (o->hash == g[k].hash && o->key_len == g[k].key_len &&
			    memcmp(o->key, g[k].key, o->key_len) == 0)
				break;
			h = (h + 1) & mask;
		}
		if (slot[h] != 0)
			continue;
		g[out] = g[k];
		slot[h] = ++out;
	}
	return out;
}

/* Every key to look up, into n->bucket. */
static bool
get_open(struct sql_exec *x, struct sql_node *n, struct nam_arena *keep)
{
	struct cat_array each = { 0 };
	struct cat_datum d = { .null = true };
	unsigned probes = n->probes, m = 0;
	x->env.arena = keep;
	if (n->each != 0) {
		if (!sql_eval_one(n->key[n->each - 1], &x->env, &d))
			return false;
		if (!d.null)
			cat_array_open(n->key[n->each - 1]->type, d.v.s, &each);
		probes = each.n;
	}
	struct txn_get *g = nam_arena_take(keep, probes * sizeof *g);
	n->acc.rows = nam_arena_take(keep, (probes < CAT_BATCH ? probes : CAT_BATCH) * sizeof *n->acc.rows);
	if (g == NULL || n->acc.rows == NULL)
		return sql_no_memory(x->err);
	for (unsigned p = 0; p < probes; p++) {
		bool null;
		if (n->each != 0)
			d.null = !cat_array_at(&each, p, &d.v);
		if (!get_key(x, n, n->key + (n->each ? 0 : (size_t)p * n->keys), &d, &g[m], &null, keep))
			return false;
		m += !null;
	}
	if (m > 1 && (m = unique(g, m, keep)) == UINT32_MAX)
		return sql_no_memory(x->err);
	n->bucket = (void *)g;
	n->groups = m;
	n->at = 0;
	n->opened = true;
	return true;
}

static int
get_consts(struct sql_exec *x, struct sql_node *n)
{
	struct sql_access *a = &n->acc;
	struct nam_arena *batch = x->arena[n->arena];
	if (!n->opened && !get_open(x, n, x->arena[n->arena + 1]))
		return -1;
	struct txn_get *g = (void *)n->bucket;
	while (n->at < n->groups) {
		nam_arena_reset(batch);
		unsigned m = n->groups - n->at < CAT_BATCH ? n->groups - n->at : CAT_BATCH, found = 0;
		g = (struct txn_get *)(void *)n->bucket + n->at;
		n->at += m;
		if (!fetch(x, n, g, m, batch))
			return -1;
		for (unsigned k = 0; k < m; k++)
			if (g[k].status == NAM_OK)
				a->rows[found++] = g[k].row;
		if (found == 0)
			continue;
		if (!decode(x, n, found))
			return -1;
		int kept = sql_keep(x, n);
		if (kept != 0)
			return kept;
		if (!sql_go_on(x))
			return -1;
	}
	return 0;
}

/* Rows bucket[0..groups) of the child's batch, which found no row: they come with NULLs. */
static int
get_nothing(struct sql_exec *x, struct sql_node *n)
{
	struct sql_access *a = &n->acc;
	struct nam_arena *batch = x->arena[n->arena];
	const uint16_t *src = (void *)n->bucket;
	unsigned m = n->groups;
	n->groups = 0;
	if (m == 0)
		return 0;
	nam_arena_reset(batch);
	bool ok = true;
	for (unsigned k = 0; ok && k < n->passes; k++)
		ok = sql_gather(&n->out.col[n->pass[k]], &n->child->out.col[n->pass[k]], src, m, batch);
	for (unsigned j = 0; ok && j < a->wants; j++)
		ok = sql_nulls(&n->out.col[a->base + a->want[j]], a->tab->column[a->want[j]].type, m, batch);
	if (!ok) {
		sql_no_memory(x->err);
		return -1;
	}
	n->out.n = m;
	return sql_keep(x, n);
}

static int
get_child(struct sql_exec *x, struct sql_node *n)
{
	struct sql_access *a = &n->acc;
	struct nam_arena *batch = x->arena[n->arena];
	if (!n->opened && n->keep_probe) {
		n->opened = true;
		n->groups = 0;
		n->bucket = nam_arena_take(x->arena[n->arena + 1], CAT_BATCH * sizeof(uint16_t));
		if (n->bucket == NULL) {
			sql_no_memory(x->err);
			return -1;
		}
	}
	while (true) {
		if (n->keep_probe) {
			int kept = get_nothing(x, n);
			if (kept != 0)
				return kept;
		}
		int rows = sql_next(x, n->child);
		if (rows <= 0)
			return rows;
		nam_arena_reset(batch);
		const uint16_t *sel = sql_sel(n->child);
		struct cat_vec key[CAT_KEY_MAX];
		x->env.arena = batch;
		for (unsigned k = 0; k < n->keys; k++)
			if (!sql_eval(
				n->key[k], &n->child->out, n->child->sel, (unsigned)rows, &x->env, &key[k]))
				return -1;
		struct txn_get *g = nam_arena_take(batch, (unsigned)rows * sizeof *g);
		uint16_t *src = nam_arena_take(batch, (unsigned)rows * sizeof *src);
		a->rows = nam_arena_take(batch, (unsigned)rows * sizeof *a->rows);
		if (g == NULL || src == NULL || a->rows == NULL) {
			sql_no_memory(x->err);
			return -1;
		}
		unsigned m = 0, found = 0;
		for (int r = 0; r < rows; r++) {
			union cat_val v[CAT_KEY_MAX];
			bool null = false;
			for (unsigned k = 0; k < n->keys; k++) {
				null |= key[k].null[sel[r]];
				v[k] = cat_vec_at(&key[k], sel[r]);
			}
			if (null) {
				if (n->keep_probe)
					((uint16_t *)(void *)n->bucket)[n->groups++] = sel[r];
				continue;
			}
			struct cat_str bytes;
			nam_status st = cat_key_encode(a->tab, v, &bytes, &g[m].hash, batch);
			if (st != NAM_OK) {
				sql_status(x->err, st, a->tab);
				return -1;
			}
			g[m].table = (struct txn_table *)&a->tab->store;
			g[m].key = bytes.p;
			g[m].key_len = bytes.len;
			src[m++] = sel[r];
		}
		if (m == 0)
			continue;
		if (!fetch(x, n, g, m, batch))
			return -1;
		for (unsigned k = 0; k < m; k++)
			if (g[k].status == NAM_OK) {
				a->rows[found] = g[k].row;
				src[found++] = src[k];
			} else if (n->keep_probe) {
				((uint16_t *)(void *)n->bucket)[n->groups++] = src[k];
			}
		if (found == 0)
			continue;
		if (!decode(x, n, found))
			return -1;
		for (unsigned k = 0; k < n->passes; k++)
			if (!sql_gather(
				&n->out.col[n->pass[k]], &n->child->out.col[n->pass[k]], src, found, batch)) {
				sql_no_memory(x->err);
				return -1;
			}
		int kept = sql_keep(x, n);
		if (kept != 0)
			return kept;
	}
}

/* ---- without tables ------------------------------------------------------------------- */

static int
one_next(struct sql_exec *x, struct sql_node *n)
{
	if (n->ended)
		return 0;
	n->ended = true;
	n->out.n = 1;
	return sql_keep(x, n);
}

static int
values_next(struct sql_exec *x, struct sql_node *n)
{
	struct nam_arena *a = x->arena[n->arena];
	nam_arena_reset(a);
	unsigned m = n->rows - n->at < CAT_BATCH ? n->rows - n->at : CAT_BATCH;
	if (m == 0)
		return 0;
	x->env.arena = a;
	for (unsigned c = 0; c < n->es; c++) {
		if (!cat_vec_take(&n->out.col[c], n->e[c]->type, m, a)) {
			sql_no_memory(x->err);
			return -1;
		}
		for (unsigned r = 0; r < m; r++) {
			struct cat_datum d;
			if (!sql_eval_one(n->e[(size_t)(n->at + r) * n->es + c], &x->env, &d))
				return -1;
			cat_vec_set(&n->out.col[c], r, d.v, d.null);
		}
	}
	n->at += m;
	n->out.n = m;
	return sql_keep(x, n);
}

static int
project_next(struct sql_exec *x, struct sql_node *n)
{
	int rows = sql_next(x, n->child);
	if (rows <= 0)
		return rows;
	nam_arena_reset(x->arena[n->arena]);
	const struct sql_batch *in = &n->child->out;
	x->env.arena = x->arena[n->arena];
	for (unsigned k = 0; k < n->es; k++) {
		if (n->e[k]->kind == SQL_COLUMN)
			n->out.col[k] = in->col[n->e[k]->index];
		else if (!sql_eval(n->e[k], in, n->child->sel, (unsigned)rows, &x->env, &n->out.col[k]))
			return -1;
	}
	n->out.n = in->n;
	n->sel = n->child->sel;
	n->nsel = n->child->nsel;
	return rows;
}

bool
sql_row_count(struct sql_exec *x, struct sql_node *n)
{
	struct cat_datum d;
	n->left = UINT64_MAX;
	n->skip = 0;
	x->env.arena = x->arena[n->arena];
	if (n->limit != NULL) {
		if (!sql_eval_one(n->limit, &x->env, &d))
			return false;
		if (!d.null && d.v.i < 0)
			return cat_error(x->err, "2201W", "LIMIT must not be negative");
		if (!d.null)
			n->left = (uint64_t)d.v.i;
	}
	if (n->offset != NULL) {
		if (!sql_eval_one(n->offset, &x->env, &d))
			return false;
		if (!d.null && d.v.i < 0)
			return cat_error(x->err, "2201X", "OFFSET must not be negative");
		if (!d.null)
			n->skip = (uint64_t)d.v.i;
	}
	return true;
}

static int
limit_next(struct sql_exec *x, struct sql_node *n)
{
	while (n->left > 0) {
		nam_arena_reset(x->arena[n->arena]); /* where sql_send puts what it moves */
		int rows = sql_next(x, n->child);
		if (rows <= 0)
			return rows;
		unsigned from = n->skip < (unsigned)rows ? (unsigned)n->skip : (unsigned)rows;
		n->skip -= from;
		unsigned m = (unsigned)rows - from;
		if (m > n->left)
			m = (unsigned)n->left;
		if (m == 0)
			continue;
		n->left -= m;
		const uint16_t *sel = sql_sel(n->child);
		memcpy(n->out.col, n->child->out.col, n->out.cols * sizeof *n->out.col);
		n->out.n = n->child->out.n;
		memcpy(n->selbuf, sel + from, m * sizeof *n->selbuf);
		n->sel = n->selbuf;
		n->nsel = m;
		return (int)m;
	}
	return 0;
}

/* ---- all ----------------------------------------------------------------------------- */

static bool
open_node(struct sql_exec *x, struct sql_node *n)
{
	n->opened = n->ended = false;
	n->at = 0;
	n->sel = NULL;
	n->rs = NULL;
	n->scan = NULL;
	n->read = NULL;
	n->acc.seen = 0;
	for (struct sql_cte *c = n->with; c != NULL; c = c->next)
		c->rs = NULL;
	if (n->kind == SQL_NODE_SCAN) {
		struct sql_access *a = &n->acc;
		nam_status st;
		if (a->identify) {
			a->rows = nam_arena_take(x->arena[n->arena + 1], CAT_BATCH * sizeof *a->rows);
			if (a->rows == NULL)
				return sql_no_memory(x->err);
			st = txn_scan_open(x->t, (struct txn_table *)&a->tab->store, &n->scan);
		} else {
			st = cat_scan_open(x->cat, x->t, a->tab, a->want, a->wants, &n->read);
		}
		if (st != NAM_OK) {
			n->scan = NULL;
			n->read = NULL;
			return sql_status(x->err, st, a->tab);
		}
	}
	if (n->kind == SQL_NODE_LIMIT && !sql_row_count(x, n))
		return false;
	return (n->child == NULL || sql_open(x, n->child)) &&
	       (n->build == NULL || n->share != NULL || n->kind == SQL_NODE_RECURSE ||
		   n->kind == SQL_NODE_LATERAL || n->kind == SQL_NODE_SEMI || sql_open(x, n->build));
}

/* The arenas that are this operator's own. */
static size_t
memory_of(const struct sql_exec *x, const struct sql_node *n)
{
	return x->arena[n->arena]->used + x->arena[n->arena + 1]->used + x->arena[n->arena + 2]->used;
}

bool
sql_open(struct sql_exec *x, struct sql_node *n)
{
	struct sql_meter *m = n->meter;
	if (m == NULL || x->gauge == NULL)
		return open_node(x, n);
	struct sql_span span;
	sql_meter_enter(x->gauge, m, &span);
	m->opens++;
	m->fresh = true;
	bool ok = open_node(x, n);
	sql_meter_leave(x->gauge, m, &span);
	return ok;
}

void
sql_close(struct sql_exec *x, struct sql_node *n)
{
	if (n->scan != NULL)
		txn_scan_close(n->scan);
	if (n->read != NULL)
		cat_scan_close(n->read);
	n->scan = NULL;
	n->read = NULL;
	if (n->child != NULL)
		sql_close(x, n->child);
	if (n->build != NULL)
		sql_close(x, n->build);
	for (unsigned i = 0; i < n->kids; i++)
		sql_close(x, n->kid[i]);
	for (struct sql_cte *c = n->with; c != NULL; c = c->next)
		sql_close(x, c->plan);
}

static int
next(struct sql_exec *x, struct sql_node *n)
{
	if (!sql_go_on(x))
		return -1;
	switch (n->kind) {
	case SQL_NODE_ONE:
		return one_next(x, n);
	case SQL_NODE_VALUES:
		return values_next(x, n);
	case SQL_NODE_SCAN:
		return scan_next(x, n);
	case SQL_NODE_GET:
		return n->child ? get_child(x, n) : get_consts(x, n);
	case SQL_NODE_JOIN:
		return sql_join_next(x, n);
	case SQL_NODE_AGG:
		return sql_agg_next(x, n);
	case SQL_NODE_PROJECT:
		return project_next(x, n);
	case SQL_NODE_SORT:
		return sql_sort_next(x, n);
	case SQL_NODE_LOCK:
		return sql_lock_next(x, n);
	case SQL_NODE_UNIQUE:
		return sql_unique_next(x, n);
	case SQL_NODE_LIMIT:
		return n->ties ? sql_ties_next(x, n) : limit_next(x, n);
	case SQL_NODE_APPEND:
		return sql_append_next(x, n);
	case SQL_NODE_SETOP:
		return sql_setop_next(x, n);
	case SQL_NODE_UNNEST:
		return sql_unnest_next(x, n);
	case SQL_NODE_SERIES:
		return sql_series_next(x, n);
	case SQL_NODE_RECURSE:
		return sql_recurse_next(x, n);
	case SQL_NODE_CTE:
		return sql_cte_next(x, n);
	case SQL_NODE_LATERAL:
		return sql_lateral_next(x, n);
	case SQL_NODE_SEMI:
		return sql_semi_next(x, n);
	case SQL_NODE_EXPAND:
		return sql_expand_next(x, n);
	case SQL_NODE_DERIVED:
		return sql_derived_next(x, n);
	case SQL_NODE_WINDOW:
		return sql_window_next(x, n);
	}
	return 0;
}

int
sql_next(struct sql_exec *x, struct sql_node *n)
{
	struct sql_meter *m = n->meter;
	if (m == NULL || x->gauge == NULL)
		return next(x, n);
	struct sql_span span;
	sql_meter_enter(x->gauge, m, &span);
	int rows = next(x, n);
	sql_meter_leave(x->gauge, m, &span);
	m->fresh = false;
	if (rows > 0)
		m->gave += (unsigned)rows;
	size_t used = memory_of(x, n);
	if (used > m->peak)
		m->peak = used;
	return rows;
}
