/* plan.c -- which way to the rows: keys before scans, small tables first, conditions as low as they go. */
#include "bind.h"

#include <stdio.h>
#include <stdlib.h>

enum { ROWS_GUESS = 1000 };

struct sql_node *
sql_plan_node(struct bind *b, enum sql_node_kind kind, struct sql_node *child, unsigned cols)
{
	struct sql_node *n = sql_bind_take(b, sizeof *n);
	if (n == NULL)
		return NULL;
	n->kind = kind;
	n->child = child;
	n->arena = b->plan->arenas;
	b->plan->arenas += 3;
	n->out.cols = cols;
	n->out.col = sql_bind_take(b, cols * sizeof *n->out.col);
	n->selbuf = sql_bind_take(b, CAT_BATCH * sizeof *n->selbuf);
	n->est = 1;
	return n->out.col && n->selbuf ? n : NULL;
}

static bool
filter(struct bind *b, struct sql_node *n, struct sql_expr **e, unsigned count)
{
	if (count == 0)
		return true;
	n->filter = count == 1 ? e[0] : sql_expr_make(b->a, SQL_AND, e, count, false, 0, b->err);
	return n->filter != NULL;
}

/* The value of a key column that this condition gives, NULL: none. given: tables whose rows are at hand. */
static struct sql_expr *
key_value(const struct bind_cond *c, unsigned index, enum cat_type type, uint64_t given)
{
	if (c->used || c->l == NULL)
		return NULL;
	for (int side = 0; side < 2; side++) {
		const struct sql_expr *col = side ? c->r : c->l;
		struct sql_expr *v = side ? c->l : c->r, *uv = side ? c->ul : c->ur;
		uint64_t mask = side ? c->lmask : c->rmask;
		if (col->kind != SQL_COLUMN || col->index != index || (mask & ~given) != 0)
			continue;
		if (v->type == type)
			return v;
		bool ints = cat_type_is_int(v->type) && cat_type_is_int(type);
		if (ints)
			return v;
		if (uv->type == type)
			return uv;
	}
	return NULL;
}

/* A condition `key IN (constants)`. */
static struct bind_cond *
key_list(struct bind *b, unsigned index, enum cat_type type)
{
	for (unsigned i = 0; i < b->conds; i++) {
		struct bind_cond *c = &b->cond[i];
		if (c->used || c->uin == NULL || c->in[0]->kind != SQL_COLUMN || c->in[0]->index != index)
			continue;
		bool ok = true;
		for (unsigned k = 1; k < c->ins && ok; k++) {
			enum cat_type t = c->in[k]->type;
			bool ints = cat_type_is_int(t) && cat_type_is_int(type);
			ok = t == type || ints || c->uin[k]->type == type;
		}
		if (ok)
			return c;
	}
	return NULL;
}

/* Keys for table k out of conditions over given tables. Marks the conditions used. NULL: no full key. */
static struct sql_expr **
full_key(struct bind *b, unsigned k, uint64_t given, unsigned *probes)
{
	const struct bind_table *t = &b->table[k];
	unsigned keys = t->tab->keys;
	*probes = 1;
	if (keys == 0)
		return NULL;
	struct sql_expr *found[CAT_KEY_MAX];
	struct bind_cond *by[CAT_KEY_MAX];
	unsigned i;
	for (i = 0; i < keys; i++) {
		unsigned col = t->tab->key[i];
		found[i] = NULL;
		for (unsigned c = 0; c < b->conds && found[i] == NULL; c++) {
			found[i] = key_value(&b->cond[c], t->base + col, t->tab->column[col].type, given);
			by[i] = &b->cond[c];
		}
		if (found[i] == NULL)
			break;
	}
	struct sql_expr **out = NULL;
	if (i == keys) {
		if ((out = sql_bind_take(b, keys * sizeof *out)) == NULL)
			return NULL;
		memcpy(out, found, keys * sizeof *out);
		for (i = 0; i < keys; i++)
			by[i]->used = true;
		return out;
	}
	if (keys != 1 || given != 0)
		return NULL;
	enum cat_type type = t->tab->column[t->tab->key[0]].type;
	struct bind_cond *c = key_list(b, t->base + t->tab->key[0], type);
	if (c == NULL || (out = sql_bind_take(b, (c->ins - 1) * sizeof *out)) == NULL)
		return NULL;
	for (unsigned v = 1; v < c->ins; v++) {
		enum cat_type vt = c->in[v]->type;
		bool ints = cat_type_is_int(vt) && cat_type_is_int(type);
		out[v - 1] = vt == type || ints ? c->in[v] : c->uin[v];
	}
	*probes = c->ins - 1;
	c->used = true;
	return out;
}

static bool
access_(struct bind *b, struct sql_node *n, unsigned k)
{
	const struct bind_table *t = &b->table[k];
	struct sql_access *a = &n->acc;
	a->tab = t->tab;
	a->alias = t->ast->alias;
	a->base = t->base;
	a->want = sql_bind_take(b, t->tab->columns * sizeof *a->want);
	a->tmp = sql_bind_take(b, t->tab->columns * sizeof *a->tmp);
	if (a->want == NULL || a->tmp == NULL)
		return false;
	for (unsigned c = 0; c < t->tab->columns; c++)
		if (t->used[c])
			a->want[a->wants++] = (uint16_t)c;
	return true;
}

/* Conditions over these tables alone go into n's filter. first: also those over no table at all. */
static bool
push_down(struct bind *b, struct sql_node *n, uint64_t tables, bool first)
{
	struct sql_expr **e = sql_bind_take(b, (b->conds + 1) * sizeof *e);
	unsigned count = 0;
	if (e == NULL)
		return false;
	for (unsigned i = 0; i < b->conds; i++) {
		struct bind_cond *c = &b->cond[i];
		if (c->used || (c->mask & ~tables) != 0 || (c->mask == 0 && !first))
			continue;
		c->used = true;
		e[count++] = c->e;
		n->est = c->l != NULL ? n->est / 10 : n->est / 3;
	}
	if (n->est < 1)
		n->est = 1;
	return filter(b, n, e, count);
}

/* A query in FROM: its batch takes its place in the wide one. */
static struct sql_node *
derived(struct bind *b, unsigned k, bool first)
{
	const struct bind_table *t = &b->table[k];
	struct sql_node *n = sql_plan_node(b, SQL_NODE_DERIVED, t->sub, b->width);
	if (n == NULL || !access_(b, n, k))
		return NULL;
	n->est = t->sub->est;
	return push_down(b, n, UINT64_C(1) << k, first) ? n : NULL;
}

static double
rows_of(const struct bind *b, unsigned k)
{
	for (unsigned i = 0; i < b->in->hints; i++)
		if (b->in->hint[i].table == b->table[k].tab->store.id)
			return (double)b->in->hint[i].rows + 1;
	return ROWS_GUESS;
}

/* The access to one table alone. */
static struct sql_node *
base_of(struct bind *b, unsigned k, bool first)
{
	unsigned probes;
	if (b->table[k].sub != NULL)
		return derived(b, k, first);
	struct sql_expr **key = full_key(b, k, 0, &probes);
	struct sql_node *n = sql_plan_node(b, key ? SQL_NODE_GET : SQL_NODE_SCAN, NULL, b->width);
	if (n == NULL || !access_(b, n, k))
		return NULL;
	n->key = key;
	n->keys = b->table[k].tab->keys;
	n->probes = probes;
	n->est = key ? probes : rows_of(b, k);
	return push_down(b, n, UINT64_C(1) << k, first) ? n : NULL;
}

static unsigned *
columns_of(struct bind *b, uint64_t tables, unsigned *count)
{
	unsigned *out = sql_bind_take(b, b->width * sizeof *out);
	*count = 0;
	for (unsigned k = 0; out != NULL && k < b->tables; k++)
		for (unsigned c = 0; (tables >> k & 1) && c < b->table[k].tab->columns; c++)
			if (b->table[k].used[c])
				out[(*count)++] = b->table[k].base + c;
	return out;
}

static enum cat_type
type_at(const struct bind *b, unsigned index)
{
	unsigned k = 0;
	while (index >= b->table[k].base + b->table[k].tab->columns)
		k++;
	return b->table[k].tab->column[index - b->table[k].base].type;
}

unsigned *
sql_plan_columns(struct bind *b, unsigned *count)
{
	return columns_of(b, UINT64_MAX, count);
}

enum cat_type
sql_plan_column_type(const struct bind *b, unsigned index)
{
	return type_at(b, index);
}

/* Rows of `left` find their rows of table k by its primary key. */
static struct sql_node *
lookup(struct bind *b, struct sql_node *left, uint64_t have, unsigned k, struct sql_expr **key)
{
	struct sql_node *n = sql_plan_node(b, SQL_NODE_GET, left, b->width);
	if (n == NULL || !access_(b, n, k))
		return NULL;
	n->key = key;
	n->keys = b->table[k].tab->keys;
	n->probes = 1;
	n->est = left->est;
	n->pass = columns_of(b, have, &n->passes);
	return n->pass && push_down(b, n, have | UINT64_C(1) << k, false) ? n : NULL;
}

static bool
joinable(const struct bind_cond *c, uint64_t have, uint64_t one)
{
	if (c->used || c->l == NULL || c->lmask == 0 || c->rmask == 0)
		return false;
	return ((c->lmask & ~have) == 0 && (c->rmask & ~one) == 0) ||
	       ((c->rmask & ~have) == 0 && (c->lmask & ~one) == 0);
}

static struct sql_node *
hash_join(struct bind *b, struct sql_node *left, uint64_t have, struct sql_node *right, unsigned k)
{
	uint64_t one = UINT64_C(1) << k;
	struct sql_node *n = sql_plan_node(b, SQL_NODE_JOIN, NULL, b->width);
	if (n == NULL)
		return NULL;
	bool build_right = right->est <= left->est;
	n->child = build_right ? left : right;
	n->build = build_right ? right : left;
	n->key = sql_bind_take(b, (b->conds + 1) * sizeof *n->key);
	n->build_key = sql_bind_take(b, (b->conds + 1) * sizeof *n->build_key);
	if (n->key == NULL || n->build_key == NULL)
		return NULL;
	for (unsigned i = 0; i < b->conds; i++) {
		struct bind_cond *c = &b->cond[i];
		if (!joinable(c, have, one))
			continue;
		bool l_is_left = (c->lmask & ~have) == 0;
		struct sql_expr *le = l_is_left ? c->ul : c->ur, *re = l_is_left ? c->ur : c->ul;
		n->key[n->keys] = build_right ? le : re;
		n->build_key[n->keys++] = build_right ? re : le;
		c->used = true;
	}
	n->probe_col = columns_of(b, build_right ? have : one, &n->probe_cols);
	n->build_col = columns_of(b, build_right ? one : have, &n->build_cols);
	n->build_type = sql_bind_take(b, (n->build_cols + n->keys) * sizeof *n->build_type);
	if (n->probe_col == NULL || n->build_col == NULL || n->build_type == NULL)
		return NULL;
	for (unsigned i = 0; i < n->build_cols; i++)
		n->build_type[i] = type_at(b, n->build_col[i]);
	for (unsigned i = 0; i < n->keys; i++)
		n->build_type[n->build_cols + i] = n->build_key[i]->type;
	n->est = n->keys == 0 ? left->est * right->est : left->est > right->est ? left->est : right->est;
	return push_down(b, n, have | one, false) ? n : NULL;
}

struct sql_node *
sql_plan_from(struct bind *b)
{
	struct sql_node *base[SQL_TABLES_MAX] = { 0 }, *n;
	if (b->tables == 0) {
		if ((n = sql_plan_node(b, SQL_NODE_ONE, NULL, 0)) == NULL)
			return NULL;
		return push_down(b, n, 0, true) ? n : NULL;
	}
	for (unsigned k = 0; k < b->tables; k++)
		if ((base[k] = base_of(b, k, k == 0)) == NULL)
			return NULL;
	unsigned start = 0;
	for (unsigned k = 1; k < b->tables; k++)
		if (base[k]->est < base[start]->est)
			start = k;
	n = base[start];
	uint64_t have = UINT64_C(1) << start;
	for (unsigned joined = 1; joined < b->tables; joined++) {
		unsigned best = SQL_TABLES_MAX;
		bool best_tied = false;
		for (unsigned k = 0; k < b->tables; k++) {
			if (have >> k & 1)
				continue;
			bool tied = false;
			for (unsigned i = 0; i < b->conds && !tied; i++)
				tied = joinable(&b->cond[i], have, UINT64_C(1) << k);
			if (best == SQL_TABLES_MAX || (tied && !best_tied) ||
			    (tied == best_tied && base[k]->est < base[best]->est)) {
				best = k;
				best_tied = tied;
			}
		}
		struct sql_expr **key = NULL;
		unsigned probes;
		/* A few rows look their partners up; many are better hashed. */
		if (base[best]->kind == SQL_NODE_SCAN && base[best]->filter == NULL &&
		    n->est * 4 < base[best]->est)
			key = full_key(b, best, have, &probes);
		n = key ? lookup(b, n, have, best, key) : hash_join(b, n, have, base[best], best);
		if (n == NULL)
			return NULL;
		have |= UINT64_C(1) << best;
	}
	return n;
}

/* ---- the whole -------------------------------------------------------------------- */

struct sql_plan *
sql_plan_make(const struct ast_stmt *st, const struct sql_bind_in *in, struct cat_err *err)
{
	*err = (struct cat_err){ 0 };
	struct sql_plan *p = calloc(1, sizeof *p);
	if (p == NULL) {
		cat_error(err, "53200", "out of memory");
		return NULL;
	}
	nam_arena_init(&p->arena, 8 << 10);
	p->kind = st->kind;
	p->ast = st;
	p->params = st->params;
	struct bind *b = nam_arena_zero(&p->arena, sizeof *b);
	bool ok = b != NULL;
	if (ok) {
		b->a = &p->arena;
		b->err = err;
		b->in = in;
		b->plan = p;
		ok = (p->param = sql_bind_take(b, p->params * sizeof *p->param)) != NULL;
	}
	for (unsigned i = 0; ok && i < in->ntypes && i < p->params; i++)
		p->param[i] = in->types[i];
	if (ok)
		switch (st->kind) {
		case AST_SELECT:
			ok = (p->root = sql_bind_select(b, st->select, false)) != NULL;
			break;
		case AST_INSERT:
			ok = sql_bind_insert(b, st);
			break;
		case AST_UPDATE:
			ok = sql_bind_update(b, st);
			break;
		default:
			ok = sql_bind_delete(b, st);
		}
	for (unsigned i = 0; ok && i < p->params; i++)
		if (p->param[i] == CAT_UNKNOWN)
			ok = cat_error(err, "42P18", "could not determine data type of parameter $%u", i + 1);
	if (ok)
		return p;
	if (err->sqlstate[0] == 0)
		cat_error(err, "53200", "out of memory");
	sql_plan_free(p);
	return NULL;
}

void
sql_plan_free(struct sql_plan *p)
{
	if (p == NULL)
		return;
	nam_arena_fini(&p->arena);
	free(p);
}

/* ---- EXPLAIN ------------------------------------------------------------------------ */

struct text {
	struct cat_str *line;
	unsigned n, max;
	struct nam_arena *arena;
};

static void
say(struct text *t, unsigned depth, const char *what, const struct sql_node *n, const char *more)
{
	if (t->n == t->max)
		return;
	char *s =
	    nam_arena_printf(t->arena, "%*s%s%s%s%s  (rows=%.0f)%s", (int)(depth * 2), "", depth ? "-> " : "",
		what, n->acc.tab ? " on " : "", n->acc.tab ? n->acc.tab->name : "", n->est, more);
	if (s != NULL)
		t->line[t->n++] = (struct cat_str){ s, (uint32_t)strlen(s) };
}

static void
tree(struct text *t, const struct sql_node *n, unsigned depth)
{
	static const char *const name[] = { "Result", "Values", "Seq Scan", "Key Lookup", "Hash Join",
		"Aggregate", "Project", "Sort",
		"Limit", [SQL_NODE_DERIVED] = "Subquery Scan", [SQL_NODE_WINDOW] = "WindowAgg" };
	const char *what = name[n->kind];
	if (n->kind == SQL_NODE_JOIN && n->keys == 0)
		what = "Nested Product";
	if (n->kind == SQL_NODE_AGG)
		what = n->keys == 0 ? "Aggregate" : n->aggs ? "HashAggregate" : "Distinct";
	if (n->kind == SQL_NODE_SORT && n->limit != NULL)
		what = "Top-N Sort";
	say(t, depth, what, n, n->filter ? "  Filter: yes" : "");
	if (n->child != NULL)
		tree(t, n->child, depth + 1);
	if (n->build != NULL)
		tree(t, n->build, depth + 1);
}

unsigned
sql_plan_text(const struct sql_plan *p, struct cat_str *line, unsigned max, struct nam_arena *arena)
{
	struct text t = { .line = line, .max = max, .arena = arena };
	unsigned depth = 0;
	if (p->kind != AST_SELECT) {
		char *s = nam_arena_printf(arena, "%s on %s",
		    p->kind == AST_INSERT   ? "Insert"
		    : p->kind == AST_UPDATE ? "Update"
					    : "Delete",
		    p->tab->name);
		if (s != NULL && max > 0)
			line[t.n++] = (struct cat_str){ s, (uint32_t)strlen(s) };
		depth = 1;
	}
	if (p->root != NULL)
		tree(&t, p->root, depth);
	return t.n;
}
