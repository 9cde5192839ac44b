/* exec.c -- pulling batches through a plan: access to tables, projection, limits. */
#include <base/aside.h>
#include <base/assert.h>
#include <catalog/pages.h>
#include <sql/exec/gather.h>
#include <sql/exec/meter.h>
#include <sql/exec/state.h>
#include <types/array.h>

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

/* On mapped memory no verb parks: a statement that computes for long would keep its worker from all
 * other coroutines. */
static void
give_way(struct sql_exec *x)
{
	uint64_t now = net_now_ns(x->net);
	if (x->turn_until_ns == 0) {
		x->turn_until_ns = now + x->turn_ns;
	} else if (now > x->turn_until_ns) {
		nam_co_yield();
		x->turn_until_ns = net_now_ns(x->net) + x->turn_ns;
	}
}

bool
sql_go_on(struct sql_exec *x)
{
	if (x->cancel != NULL && __atomic_load_n((const int *)x->cancel, __ATOMIC_RELAXED) != 0)
		return cat_error(x->err, "57014", "canceling statement due to user request");
	if (x->deadline_ns != 0 && net_now_ns(x->net) > x->deadline_ns)
		return cat_error(x->err, "57014", "canceling statement due to statement timeout");
	if (x->turn_ns != 0 && !nam_is_aside())
		give_way(x);
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
	if (x->env.floats != NULL)
		v.floats = *x->env.floats;
	x->sent += n;
	if (x->sink->rows != NULL && !x->sink->rows(x->sink->arg, &v))
		return cat_error(x->err, "57014", "canceling statement due to user request");
	return true;
}

/* sql_keep for rows sel[0..m) of the batch; NULL = all. */
static int
keep(struct sql_exec *x, struct sql_node *n, const uint16_t *sel, unsigned m, unsigned arena)
{
	n->sel = NULL;
	n->nsel = m;
	if (sel != NULL)
		n->sel = memcpy(n->selbuf, sel, m * sizeof *sel);
	if (n->filter == NULL || m == 0)
		return (int)m;
	x->env.arena = x->arena[arena];
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
	return keep(x, n, NULL, n->out.n, n->arena);
}

int
sql_keep_in(struct sql_exec *x, struct sql_node *n, unsigned arena)
{
	return keep(x, n, NULL, n->out.n, arena);
}

/* ---- access ------------------------------------------------------------------------ */

/* What was decoded into tmp is the batch. */
static void
show(struct sql_node *n, const struct sql_access *a, const struct cat_vec *tmp, unsigned rows)
{
	for (unsigned j = 0; j < a->wants; j++)
		n->out.col[a->base + a->want[j]] = tmp[j];
	n->out.n = rows;
}

void
sql_show_rows(struct sql_node *n, const struct cat_vec *tmp, unsigned rows)
{
	show(n, sql_node_access(n), tmp, rows);
}

/* Identifies the batch's rows, for an operator that locks them. */
static bool
name_rows(struct sql_exec *x, struct sql_node *n, const struct sql_access *a, const struct txn_row *row,
    unsigned rows)
{
	if (a->row_at == 0)
		return true;
	struct cat_vec *at = &n->out.col[a->row_at];
	for (unsigned i = 0; i < 2; i++)
		if (!cat_vec_take(&at[i], CAT_INT8, rows, x->arena[n->arena]))
			return sql_no_memory(x->err);
	for (unsigned k = 0; k < rows; k++) {
		at[0].i[k] = (int64_t)row[k].at.bits;
		at[1].i[k] = (int64_t)row[k].cid;
	}
	memset(at[0].null, 0, rows);
	memset(at[1].null, 0, rows);
	return true;
}

struct txn_row *
sql_rows_of(const struct sql_node *n)
{
	if (n->kind == SQL_NODE_INDEX)
		return sql_op(index, n)->run->rows;
	return n->kind == SQL_NODE_GET ? sql_op(get, n)->run->rows : sql_op(scan, n)->run->rows;
}

static bool
scan_room(struct sql_exec *x, struct sql_node *n)
{
	struct sql_op_scan *s = sql_op(scan, n);
	s->run->tmp = nam_arena_zero(x->plan_arena, (s->acc.wants + 1) * sizeof *s->run->tmp);
	return s->run->tmp != NULL;
}

/* True if a condition of the filter is NULL for this outer row. */
static bool
none_pass(const struct sql_exec *x, const struct sql_expr *e)
{
	bool none = e != NULL && sql_expr_null_outside(e, x->outer);
	for (unsigned k = 0; e != NULL && e->kind == SQL_AND && k < e->nargs && !none; k++)
		none = none_pass(x, e->args[k]);
	return none;
}

static bool
scan_begin(struct sql_exec *x, struct sql_node *n)
{
	struct sql_op_scan *s = sql_op(scan, n);
	struct sql_run_scan *r = s->run;
	const struct sql_access *a = &s->acc;
	nam_status st;
	if (!a->identify && none_pass(x, n->filter))
		return r->ended = true;
	if (a->identify) {
		r->rows = nam_arena_take(x->arena[n->arena + 1], CAT_BATCH * sizeof *r->rows);
		if (r->rows == NULL)
			return sql_no_memory(x->err);
		st = txn_scan_open(x->t, (struct txn_table *)&a->tab->store, &r->scan);
	} else if (x->source != NULL && x->source->scan == s) {
		r->source = x->source;
		st = cat_scan_open_parts(x->cat, x->t, a->tab, a->want, a->wants, r->source->raw, &r->read);
	} else {
		st = cat_scan_open(x->cat, x->t, a->tab, a->want, a->wants, &r->read);
	}
	if (st == NAM_OK)
		return true;
	r->scan = NULL;
	r->read = NULL;
	return sql_status(x->err, st, a->tab);
}

static void
scan_end(struct sql_node *n)
{
	struct sql_run_scan *r = sql_op(scan, n)->run;
	if (r == NULL)
		return; /* it was never opened */
	if (r->scan != NULL)
		txn_scan_close(r->scan);
	if (r->read != NULL)
		cat_scan_close(r->read);
	r->scan = NULL;
	r->read = NULL;
}

bool
sql_scan_again(struct sql_exec *x, struct sql_op_scan *s)
{
	scan_end(&s->node);
	s->run->ended = false;
	s->run->seen = 0;
	return scan_begin(x, &s->node);
}

/* The next part of the table that this worker takes. NAM_ABSENT: there are no more. */
static nam_status
next_part(struct sql_exec *x, struct sql_run_scan *r)
{
	struct sql_source *from = r->source;
	uint32_t i;
	nam_status st = olap_take(from->ph, &i);
	sql_progress_is(x, from->ph->taken, from->ph->morsels);
	if (st == NAM_OK)
		cat_scan_part(r->read, from->part[i], i > 0 ? from->part[i - 1] : 0);
	return st;
}

/* The next rows of a table, decoded: *got of them, of which *m count, in sel or all. */
static nam_status
scan_batch(struct sql_exec *x, struct sql_op_scan *s, unsigned *got, const uint16_t **sel, unsigned *m)
{
	struct sql_run_scan *r = s->run;
	const struct sql_access *a = &s->acc;
	struct nam_arena *arena = x->arena[s->node.arena];
	nam_status st;
	if (r->read != NULL) {
		st = cat_scan_next(r->read, r->tmp, got, sel, m, arena);
	} else {
		st = txn_scan_next(r->scan, r->rows, CAT_BATCH, got);
		*sel = NULL;
		*m = *got;
		if (st == NAM_OK && a->wants > 0)
			st = cat_rows_decode(a->tab, x->t, r->rows, *got, a->want, a->wants, r->tmp, arena);
	}
	if (st == NAM_OK && *got > 0) {
		show(&s->node, a, r->tmp, *got);
		if (!name_rows(x, &s->node, a, r->rows, *got))
			st = NAM_NOMEM;
	}
	return st;
}

static int
scan_next(struct sql_exec *x, struct sql_node *n)
{
	struct sql_op_scan *s = sql_op(scan, n);
	struct sql_run_scan *r = s->run;
	const struct sql_access *a = &s->acc;
	while (!r->ended) {
		if (!sql_go_on(x))
			return -1;
		nam_arena_reset(x->arena[n->arena]);
		unsigned got = 0, m = 0;
		const uint16_t *sel = NULL;
		nam_status st = scan_batch(x, s, &got, &sel, &m);
		if (st != NAM_OK) {
			sql_status(x->err, st, a->tab);
			return -1;
		}
		if (got == 0 && r->source != NULL && (st = next_part(x, r)) != NAM_ABSENT) {
			if (st == NAM_OK)
				continue;
			sql_status(x->err, st, a->tab);
			return -1;
		}
		if (got == 0) {
			r->ended = true;
			if (r->source != NULL)
				r->source->seen += r->seen;
			else if (x->saw != NULL)
				x->saw(x->saw_arg, a->tab->store.id, r->seen);
			break;
		}
		r->seen += m;
		if (r->source == NULL)
			sql_progress_rows(x, n, r->seen);
		int kept = keep(x, n, sel, m, n->arena);
		if (kept != 0)
			return kept;
	}
	return 0;
}

/* ---- by key ------------------------------------------------------------------------ */

static bool
get_room(struct sql_exec *x, struct sql_node *n)
{
	struct sql_op_get *g = sql_op(get, n);
	struct sql_run_get *r = g->run;
	r->tmp = nam_arena_zero(x->plan_arena, (g->acc.wants + 1) * sizeof *r->tmp);
	if (g->keep_probe)
		r->missing = nam_arena_take(x->plan_arena, CAT_BATCH * sizeof *r->missing);
	return r->tmp != NULL && (!g->keep_probe || r->missing != NULL);
}

bool
sql_decode_rows(
    struct sql_exec *x, struct sql_node *n, const struct txn_row *row, unsigned rows, struct cat_vec *tmp)
{
	const struct sql_access *a = sql_node_access(n);
	if (a->wants > 0) {
		nam_status st =
		    cat_rows_decode(a->tab, x->t, row, rows, a->want, a->wants, tmp, x->arena[n->arena]);
		if (st != NAM_OK)
			return sql_status(x->err, st, a->tab);
	}
	show(n, a, tmp, rows);
	return name_rows(x, n, a, row, rows);
}

/* The batch of rows[0..rows) of the table. */
static bool
decode(struct sql_exec *x, struct sql_op_get *g, unsigned rows)
{
	return sql_decode_rows(x, &g->node, g->run->rows, rows, g->run->tmp);
}

/* each: the value of key o->each - 1. */
static bool
get_key(struct sql_exec *x, const struct sql_op_get *o, struct sql_expr **e, const struct cat_datum *each,
    struct txn_get *g, bool *null, struct nam_arena *arena)
{
	union cat_val v[CAT_KEY_MAX];
	*null = false;
	for (unsigned k = 0; k < o->keys; k++) {
		struct cat_datum d;
		if (k + 1 == o->each)
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
	nam_status st = cat_key_encode(o->acc.tab, v, &key, &g->hash, arena);
	if (st != NAM_OK)
		return sql_status(x->err, st, o->acc.tab);
	g->table = (struct txn_table *)&o->acc.tab->store;
	g->key = key.p;
	g->key_len = key.len;
	return true;
}

static bool
fetch(struct sql_exec *x, const struct sql_op_get *o, struct txn_get *g, unsigned m, struct nam_arena *arena)
{
	nam_status st = txn_get(x->t, g, m, arena);
	for (unsigned k = 0; k < m && st == NAM_OK; k++)
		if (g[k].status != NAM_OK && g[k].status != NAM_ABSENT)
			st = g[k].status;
	return st == NAM_OK || sql_status(x->err, st, o->acc.tab);
}

/* Several constants may be the same key: a row comes once. Keeps the first of each; answers how
 * many. */
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

/* Every key to look up. */
static bool
get_open(struct sql_exec *x, struct sql_op_get *o, struct nam_arena *keep)
{
	struct sql_run_get *r = o->run;
	struct cat_array each = { 0 };
	struct cat_datum d = { .null = true };
	unsigned probes = o->probes, m = 0;
	x->env.arena = keep;
	if (o->each != 0) {
		if (!sql_eval_one(o->key[o->each - 1], &x->env, &d))
			return false;
		if (!d.null)
			cat_array_open(o->key[o->each - 1]->type, d.v.s, &each);
		probes = each.n;
	}
	struct txn_get *g = nam_arena_take(keep, probes * sizeof *g);
	r->rows = nam_arena_take(keep, (probes < CAT_BATCH ? probes : CAT_BATCH) * sizeof *r->rows);
	if (g == NULL || r->rows == NULL)
		return sql_no_memory(x->err);
	for (unsigned p = 0; p < probes; p++) {
		bool null;
		if (o->each != 0)
			d.null = !cat_array_at(&each, p, &d.v);
		if (!get_key(x, o, o->key + (o->each ? 0 : (size_t)p * o->keys), &d, &g[m], &null, keep))
			return false;
		m += !null;
	}
	if (m > 1 && (m = unique(g, m, keep)) == UINT32_MAX)
		return sql_no_memory(x->err);
	r->get = g;
	r->gets = m;
	r->opened = true;
	return true;
}

static int
get_consts(struct sql_exec *x, struct sql_op_get *o)
{
	struct sql_run_get *r = o->run;
	struct sql_node *n = &o->node;
	struct nam_arena *batch = x->arena[n->arena];
	if (!r->opened && !get_open(x, o, x->arena[n->arena + 1]))
		return -1;
	while (r->at < r->gets) {
		nam_arena_reset(batch);
		unsigned m = r->gets - r->at < CAT_BATCH ? r->gets - r->at : CAT_BATCH, found = 0;
		struct txn_get *g = r->get + r->at;
		r->at += m;
		if (!fetch(x, o, g, m, batch))
			return -1;
		for (unsigned k = 0; k < m; k++)
			if (g[k].status == NAM_OK)
				r->rows[found++] = g[k].row;
		if (found == 0)
			continue;
		if (!decode(x, o, found))
			return -1;
		int kept = sql_keep(x, n);
		if (kept != 0)
			return kept;
		if (!sql_go_on(x))
			return -1;
	}
	return 0;
}

/* Rows missing[0..misses) of the child's batch, which found no row: they come with NULLs. */
static int
get_nothing(struct sql_exec *x, struct sql_op_get *o)
{
	struct sql_node *n = &o->node;
	const struct sql_access *a = &o->acc;
	struct nam_arena *batch = x->arena[n->arena];
	const uint16_t *src = o->run->missing;
	unsigned m = o->run->misses;
	o->run->misses = 0;
	if (m == 0)
		return 0;
	nam_arena_reset(batch);
	bool ok = true;
	for (unsigned k = 0; ok && k < o->passes; k++)
		ok = sql_gather(&n->out.col[o->pass[k]], &n->child->out.col[o->pass[k]], src, m, batch);
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
get_child(struct sql_exec *x, struct sql_op_get *o)
{
	struct sql_run_get *r = o->run;
	struct sql_node *n = &o->node;
	const struct sql_access *a = &o->acc;
	struct nam_arena *batch = x->arena[n->arena];
	while (true) {
		if (o->keep_probe) {
			int kept = get_nothing(x, o);
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
		for (unsigned k = 0; k < o->keys; k++)
			if (!sql_eval(
				o->key[k], &n->child->out, n->child->sel, (unsigned)rows, &x->env, &key[k]))
				return -1;
		struct txn_get *g = nam_arena_take(batch, (unsigned)rows * sizeof *g);
		uint16_t *src = nam_arena_take(batch, (unsigned)rows * sizeof *src);
		r->rows = nam_arena_take(batch, (unsigned)rows * sizeof *r->rows);
		if (g == NULL || src == NULL || r->rows == NULL) {
			sql_no_memory(x->err);
			return -1;
		}
		unsigned m = 0, found = 0;
		for (int i = 0; i < rows; i++) {
			union cat_val v[CAT_KEY_MAX];
			bool null = false;
			for (unsigned k = 0; k < o->keys; k++) {
				null |= key[k].null[sel[i]];
				v[k] = cat_vec_at(&key[k], sel[i]);
			}
			if (null) {
				if (o->keep_probe)
					r->missing[r->misses++] = sel[i];
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
			src[m++] = sel[i];
		}
		if (m == 0)
			continue;
		if (!fetch(x, o, g, m, batch))
			return -1;
		for (unsigned k = 0; k < m; k++)
			if (g[k].status == NAM_OK) {
				r->rows[found] = g[k].row;
				src[found++] = src[k];
			} else if (o->keep_probe) {
				r->missing[r->misses++] = src[k];
			}
		if (found == 0)
			continue;
		if (!decode(x, o, found))
			return -1;
		for (unsigned k = 0; k < o->passes; k++)
			if (!sql_gather(
				&n->out.col[o->pass[k]], &n->child->out.col[o->pass[k]], src, found, batch)) {
				sql_no_memory(x->err);
				return -1;
			}
		int kept = sql_keep(x, n);
		if (kept != 0)
			return kept;
	}
}

static int
get_next(struct sql_exec *x, struct sql_node *n)
{
	struct sql_op_get *o = sql_op(get, n);
	return n->child != NULL ? get_child(x, o) : get_consts(x, o);
}

/* ---- without tables ------------------------------------------------------------------- */

static int
one_next(struct sql_exec *x, struct sql_node *n)
{
	struct sql_run_one *r = sql_op(one, n)->run;
	if (r->ended)
		return 0;
	r->ended = true;
	n->out.n = 1;
	return sql_keep(x, n);
}

static int
values_next(struct sql_exec *x, struct sql_node *n)
{
	const struct sql_op_values *v = sql_op(values, n);
	struct sql_run_values *run = v->run;
	struct nam_arena *a = x->arena[n->arena];
	nam_arena_reset(a);
	unsigned m = v->rows - run->at < CAT_BATCH ? v->rows - run->at : CAT_BATCH;
	if (m == 0)
		return 0;
	x->env.arena = a;
	for (unsigned c = 0; c < v->cols; c++) {
		if (!cat_vec_take(&n->out.col[c], v->e[c]->type, m, a)) {
			sql_no_memory(x->err);
			return -1;
		}
		for (unsigned r = 0; r < m; r++) {
			struct cat_datum d;
			if (!sql_eval_one(v->e[(size_t)(run->at + r) * v->cols + c], &x->env, &d))
				return -1;
			cat_vec_set(&n->out.col[c], r, d.v, d.null);
		}
	}
	run->at += m;
	n->out.n = m;
	return sql_keep(x, n);
}

static int
project_next(struct sql_exec *x, struct sql_node *n)
{
	const struct sql_op_project *p = sql_op(project, n);
	int rows = sql_next(x, n->child);
	if (rows <= 0)
		return rows;
	nam_arena_reset(x->arena[n->arena]);
	const struct sql_batch *in = &n->child->out;
	x->env.arena = x->arena[n->arena];
	for (unsigned k = 0; k < p->es; k++) {
		if (p->e[k]->kind == SQL_COLUMN) {
			n->out.col[k] = in->col[p->e[k]->index];
			n->out.col[k].type = p->e[k]->type; /* a cast may be of the name only */
		} else if (!sql_eval(p->e[k], in, n->child->sel, (unsigned)rows, &x->env, &n->out.col[k])) {
			return -1;
		}
	}
	n->out.n = in->n;
	n->sel = n->child->sel;
	n->nsel = n->child->nsel;
	return rows;
}

bool
sql_row_count(struct sql_exec *x, const struct sql_node *n, const struct sql_limits *most, uint64_t *left,
    uint64_t *skip)
{
	struct cat_datum d;
	*left = UINT64_MAX;
	*skip = 0;
	x->env.arena = x->arena[n->arena];
	if (most->offset != NULL) {
		if (!sql_eval_one(most->offset, &x->env, &d))
			return false;
		if (!d.null && d.v.i < 0)
			return cat_error(x->err, "2201X", "OFFSET must not be negative");
		if (!d.null)
			*skip = (uint64_t)d.v.i;
	}
	if (most->limit != NULL) {
		if (!sql_eval_one(most->limit, &x->env, &d))
			return false;
		if (!d.null && d.v.i < 0)
			return cat_error(x->err, "2201W", "LIMIT must not be negative");
		if (!d.null)
			*left = (uint64_t)d.v.i;
	}
	return true;
}

static bool
limit_room(struct sql_exec *x, struct sql_node *n)
{
	struct sql_op_limit *l = sql_op(limit, n);
	return !l->ties ||
	       (l->run->held = nam_arena_zero(x->plan_arena, (l->tied + 1) * sizeof *l->run->held)) != NULL;
}

static bool
limit_begin(struct sql_exec *x, struct sql_node *n)
{
	struct sql_op_limit *l = sql_op(limit, n);
	return sql_row_count(x, n, &l->most, &l->run->left, &l->run->skip);
}

static int
limit_next(struct sql_exec *x, struct sql_node *n)
{
	struct sql_op_limit *l = sql_op(limit, n);
	struct sql_run_limit *r = l->run;
	if (l->ties)
		return sql_ties_next(x, l);
	while (r->left > 0) {
		nam_arena_reset(x->arena[n->arena]); /* where sql_send puts what it moves */
		int rows = sql_next(x, n->child);
		if (rows <= 0)
			return rows;
		unsigned from = r->skip < (unsigned)rows ? (unsigned)r->skip : (unsigned)rows;
		r->skip -= from;
		unsigned m = (unsigned)rows - from;
		if (m > r->left)
			m = (unsigned)r->left;
		if (m == 0)
			continue;
		r->left -= m;
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

/* What a kind of operator is to those that run it. */
struct operation {
	int (*next)(struct sql_exec *x, struct sql_node *n);
	/* The running state: where the operator has it, its size, and where what is of one
	 * execution begins. */
	size_t at, size, once;
	bool (*room)(struct sql_exec *x, struct sql_node *n);  /* what of it is as long as
							        * the plan; NULL = nothing */
	bool (*begin)(struct sql_exec *x, struct sql_node *n); /* when it is opened; NULL = nothing
							        * is to do */
	void (*end)(struct sql_node *n);                       /* when it is closed */
	bool alone;                                            /* it opens build itself, or never */
};

#define RUN(kind, first)                                                                                     \
	.at = offsetof(struct sql_op_##kind, run), .size = sizeof(struct sql_run_##kind),                    \
	.once = offsetof(struct sql_run_##kind, first)
/* All of its state is room. */
#define ROOM(kind)                                                                                           \
	.at = offsetof(struct sql_op_##kind, run), .size = sizeof(struct sql_run_##kind),                    \
	.once = sizeof(struct sql_run_##kind)

static const struct operation operation[SQL_NODES] = {
	[SQL_NODE_ONE] = { one_next, RUN(one, ended) },
	[SQL_NODE_VALUES] = { values_next, RUN(values, at) },
	[SQL_NODE_SCAN] = { scan_next, RUN(scan, ended), scan_room, scan_begin, scan_end },
	[SQL_NODE_GET] = { get_next, RUN(get, opened), get_room },
	[SQL_NODE_INDEX] = { sql_index_next, RUN(index, opened), sql_index_room, .end = sql_index_end },
	[SQL_NODE_JOIN] = { sql_join_next, RUN(join, opened), sql_join_room },
	[SQL_NODE_AGG] = { sql_agg_next, RUN(agg, opened), sql_agg_room },
	[SQL_NODE_PROJECT] = { .next = project_next },
	[SQL_NODE_SORT] = { sql_sort_next, RUN(sort, opened) },
	[SQL_NODE_LIMIT] = { limit_next, RUN(limit, opened), limit_room, limit_begin },
	[SQL_NODE_APPEND] = { sql_append_next, RUN(append, opened) },
	[SQL_NODE_SETOP] = { sql_setop_next, RUN(setop, opened) },
	[SQL_NODE_SERIES] = { sql_series_next, RUN(series, opened) },
	[SQL_NODE_RECURSE] = { sql_recurse_next, RUN(recurse, opened), NULL, sql_recurse_begin,
	    .alone = true },
	[SQL_NODE_CTE] = { sql_cte_next, RUN(cte, at) },
	[SQL_NODE_DERIVED] = { .next = sql_derived_next },
	[SQL_NODE_WINDOW] = { sql_window_next, RUN(window, opened), sql_window_room },
	[SQL_NODE_LATERAL] = { sql_lateral_next, RUN(lateral, ended), sql_lateral_room, .alone = true },
	[SQL_NODE_SEMI] = { sql_semi_next, ROOM(semi), sql_semi_room, .alone = true },
	[SQL_NODE_EXPAND] = { sql_expand_next, RUN(expand, at), sql_expand_room },
	[SQL_NODE_UNNEST] = { sql_unnest_next, RUN(unnest, rows) },
	[SQL_NODE_LOCK] = { sql_lock_next, RUN(lock, opened) },
	[SQL_NODE_UNIQUE] = { sql_unique_next, RUN(unique, last) },
};

/* The operator's state, all of one execution zero; NULL = no memory. */
static void *
fresh_state(struct sql_exec *x, struct sql_node *n, const struct operation *o)
{
	void *run;
	char *at = (char *)n + o->at;
	memcpy(&run, at, sizeof run);
	if (run == NULL) {
		if ((run = nam_arena_zero(x->plan_arena, o->size)) == NULL)
			return NULL;
		memcpy(at, &run, sizeof run);
		if (o->room != NULL && !o->room(x, n)) {
			memset(at, 0, sizeof run);
			return NULL;
		}
	}
	return memset((char *)run + o->once, 0, o->size - o->once);
}

static bool
open_node(struct sql_exec *x, struct sql_node *n)
{
	const struct operation *o = &operation[n->kind];
	NAM_ASSERT(o->next != NULL); /* a kind without its row in operation[] */
	n->sel = NULL;
	for (struct sql_cte *c = n->with; c != NULL; c = c->next)
		if (!sql_with_begin(x, c))
			return sql_no_memory(x->err);
	if (o->size > 0 && fresh_state(x, n, o) == NULL)
		return sql_no_memory(x->err);
	if (n->fragment != NULL && n->fragment->run != NULL) {
		sql_gather_end(x, n);
		n->fragment->run->tried = false;
	}
	if (o->begin != NULL && !o->begin(x, n))
		return false;
	bool alone = o->alone || x->bare || (n->kind == SQL_NODE_JOIN && sql_op(join, n)->share != NULL);
	return (n->child == NULL || sql_open(x, n->child)) &&
	       (n->build == NULL || alone || sql_open(x, n->build));
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
	if (n->fragment != NULL)
		sql_gather_end(x, n);
	if (operation[n->kind].end != NULL)
		operation[n->kind].end(n);
	struct sql_node **k;
	for (struct sql_inputs i = sql_inputs(n); (k = sql_input_next(&i)) != NULL;)
		sql_close(x, *k);
}

static int
next(struct sql_exec *x, struct sql_node *n)
{
	if (!sql_go_on(x))
		return -1;
	if (n->fragment != NULL && x->team != NULL && !n->fragment->groups && !n->fragment->runs) {
		int several = sql_gather_begin(x, n);
		if (several != 0)
			return several < 0 ? -1 : sql_gather_next(x, n, operation[n->kind].next);
	}
	return operation[n->kind].next(x, n);
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
