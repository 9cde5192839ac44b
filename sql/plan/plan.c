/* plan.c -- which way to the rows: keys before scans, small tables first, conditions as low as they
 * go. */
#include <sql/common/rights.h>
#include <sql/parse/parse.h>
#include <sql/plan/bind/bind.h>
#include <sql/plan/cost.h>
#include <sql/plan/fragment.h>
#include <sql/plan/plan_internal.h>
#include <sql/plan/selectivity.h>
#include <sql/plan/sub.h>
#include <types/array.h>

#include <stdio.h>
#include <stdlib.h>

enum {
	ASKED_MAX = 200,
	ELEMENTS_GUESS = 10,
	/* each operator over FROM has room for all columns of all of its tables */
	PLAN_BYTES = 1 << 30
};

struct sql_node *
sql_plan_node(struct bind *b, enum sql_node_kind kind, struct sql_node *child, unsigned cols)
{
#define SIZE(KIND, kind) [SQL_NODE_##KIND] = sizeof(struct sql_op_##kind),
	static const size_t size[SQL_NODES] = { SQL_NODE_KINDS(SIZE) };
#undef SIZE
	struct sql_node *n = sql_bind_take(b, size[kind]);
	if (n == NULL)
		return NULL;
	n->kind = kind;
	n->child = child;
	n->arena = b->plan->arenas;
	b->plan->arenas += 3;
	n->out.cols = cols;
	n->out.col = sql_bind_take(b, cols * sizeof *n->out.col);
	n->selbuf = sql_bind_take(b, CAT_BATCH * sizeof *n->selbuf);
	n->est_rows = 1;
	return n->out.col && n->selbuf ? n : NULL;
}

struct sql_node *
sql_plan_project(struct bind *b, struct sql_node *child, struct sql_expr **e, unsigned n)
{
	struct sql_op_project *p = sql_new_project(b, child, n);
	if (p == NULL)
		return NULL;
	p->e = e;
	p->es = n;
	p->node.est_rows = child->est_rows;
	return &p->node;
}

struct sql_access *
sql_node_access(const struct sql_node *n)
{
	const struct sql_access *a = n->kind == SQL_NODE_SCAN      ? &sql_op(scan, n)->acc
				     : n->kind == SQL_NODE_GET     ? &sql_op(get, n)->acc
				     : n->kind == SQL_NODE_INDEX   ? &sql_op(index, n)->acc
				     : n->kind == SQL_NODE_DERIVED ? &sql_op(derived, n)->acc
				     : n->kind == SQL_NODE_LATERAL ? &sql_op(lateral, n)->acc
								   : NULL;
	return (struct sql_access *)(uintptr_t)a;
}

const struct sql_expr *
sql_node_on(const struct sql_node *n)
{
	return n->kind == SQL_NODE_JOIN      ? sql_op(join, n)->on
	       : n->kind == SQL_NODE_LATERAL ? sql_op(lateral, n)->on
					     : NULL;
}

struct sql_node **
sql_input_next(struct sql_inputs *i)
{
	for (struct sql_cte *c = i->with; c != NULL; c = i->with) {
		i->with = c->next;
		if (c->plan != NULL)
			return &c->plan;
	}
	while (i->at < 2) {
		struct sql_node **k = i->at++ == 0 ? &i->n->child : &i->n->build;
		if (*k != NULL)
			return k;
	}
	struct sql_op_append *a = i->n->kind == SQL_NODE_APPEND ? sql_op(append, i->n) : NULL;
	return a != NULL && i->at - 2 < a->kids ? &a->kid[i->at++ - 2] : NULL;
}

bool
sql_plan_filter(struct bind *b, struct sql_node *n, struct sql_expr **e, unsigned count)
{
	if (count == 0)
		return true;
	n->filter = count == 1 ? e[0] : sql_expr_make(b->a, SQL_AND, e, count, false, 0, b->err);
	return n->filter != NULL;
}

struct sql_expr *
sql_plan_key_value(const struct bind_cond *c, unsigned index, enum cat_type type, const struct sql_set *given)
{
	if (c->l == NULL)
		return NULL;
	for (int side = 0; side < 2; side++) {
		const struct sql_expr *col = side ? c->r : c->l;
		struct sql_expr *v = side ? c->l : c->r, *uv = side ? c->ul : c->ur;
		const struct sql_set *mask = side ? &c->lmask : &c->rmask;
		if (col->kind != SQL_COLUMN || col->index != index || !sql_set_within(mask, given))
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
	for (unsigned i = 0; i < b->where.conds; i++) {
		struct bind_cond *c = &b->where.cond[i];
		if (!sql_plan_open(b, c) || c->uin == NULL || c->in[0]->kind != SQL_COLUMN ||
		    c->in[0]->index != index)
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

/* The array of a condition `key = ANY (array)`, NULL = none. */
static struct sql_expr *
key_each(struct bind *b, unsigned index, enum cat_type type, struct bind_cond **by)
{
	for (unsigned i = 0; i < b->where.conds; i++) {
		struct bind_cond *c = &b->where.cond[i];
		if (!sql_plan_open(b, c) || !sql_expr_is_any(c->e) || c->e->args[0]->kind != SQL_COLUMN ||
		    c->e->args[0]->index != index || sql_bind_speaks_of_table(b, c->e->args[1]))
			continue;
		enum cat_type t = cat_type_element(c->e->args[1]->type);
		if (t != type && !(cat_type_is_int(t) && cat_type_is_int(type)))
			continue;
		*by = c;
		return c->e->args[1];
	}
	return NULL;
}

bool
sql_plan_may_give(const struct bind *b, const struct bind_cond *c, unsigned k)
{
	if (sql_plan_open(b, c))
		return true;
	struct sql_set one = sql_set_one(k);
	if (c->home != b->where.home || c->l == NULL || !sql_set_equal(&c->mask, &one))
		return false;
	const struct sql_expr *v = sql_set_is_empty(&c->lmask) ? c->l : c->r;
	return v->kind == SQL_CONST || v->kind == SQL_PARAM;
}

bool
sql_plan_has_key(const struct bind *b, unsigned k, const struct sql_set *given)
{
	const struct bind_table *t = b->from.table[k];
	unsigned i = 0, keys = cat_is_hashed(t->tab) ? t->tab->keys : 0;
	for (bool found = true; found && i < keys; i += found) {
		unsigned col = t->tab->key[i];
		found = false;
		for (unsigned c = 0; c < b->where.conds && !found; c++)
			found = sql_plan_may_give(b, &b->where.cond[c], k) &&
				sql_plan_key_value(&b->where.cond[c], t->base + col, t->tab->column[col].type,
				    given) != NULL;
	}
	return i > 0 && i == keys;
}

struct sql_expr **
sql_plan_full_key(struct bind *b, unsigned k, const struct sql_set *given, unsigned *probes, unsigned *each)
{
	const struct bind_table *t = b->from.table[k];
	unsigned keys = cat_is_hashed(t->tab) ? t->tab->keys : 0;
	*probes = 1;
	if (each != NULL)
		*each = 0;
	if (keys == 0)
		return NULL;
	struct sql_expr *found[CAT_KEY_MAX];
	struct bind_cond *by[CAT_KEY_MAX];
	unsigned i;
	for (i = 0; i < keys; i++) {
		unsigned col = t->tab->key[i];
		found[i] = NULL;
		for (unsigned c = 0; c < b->where.conds && found[i] == NULL; c++) {
			if (!sql_plan_may_give(b, &b->where.cond[c], k))
				continue;
			found[i] = sql_plan_key_value(
			    &b->where.cond[c], t->base + col, t->tab->column[col].type, given);
			by[i] = &b->where.cond[c];
		}
		if (found[i] == NULL && each != NULL && *each == 0 &&
		    (found[i] = key_each(b, t->base + col, t->tab->column[col].type, &by[i])) != NULL)
			*each = i + 1;
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
	if (each != NULL)
		*each = 0;
	if (keys != 1 || !sql_set_is_empty(given))
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

bool
sql_plan_access(struct bind *b, struct sql_access *a, unsigned k)
{
	const struct bind_table *t = b->from.table[k];
	a->tab = t->tab;
	a->alias = t->ast->alias;
	a->base = t->base;
	a->row_at = t->row_at;
	a->identify = t->row_at != 0;
	a->want = sql_bind_take(b, t->tab->columns * sizeof *a->want);
	if (a->want == NULL)
		return false;
	for (unsigned c = 0; c < t->tab->columns; c++)
		if (t->used[c])
			a->want[a->wants++] = (uint16_t)c;
	return true;
}

/* What it takes to ask a condition, in calls: a list of constants is looked through half. */
static double
effort(const struct sql_expr *e)
{
	double n = e->kind == SQL_CALL  ? 1
		   : e->kind == SQL_IN  ? e->nargs / 2.0
		   : e->kind == SQL_SUB ? 1e6
					: 0;
	for (unsigned k = 0; k < e->nargs; k++)
		n += effort(e->args[k]);
	return n;
}

/* Cheap ones first, else as they were written: as PostgreSQL does it, so that what fails is asked
 * after what protects it. */
static bool
cheap_first(struct bind *b, struct sql_expr **e, unsigned n)
{
	double *takes = sql_bind_take(b, n * sizeof *takes);
	if (takes == NULL)
		return false;
	for (unsigned i = 0; i < n; i++) {
		struct sql_expr *x = e[i];
		double t = effort(x);
		unsigned at = i;
		for (; at > 0 && takes[at - 1] > t; at--) {
			e[at] = e[at - 1];
			takes[at] = takes[at - 1];
		}
		e[at] = x;
		takes[at] = t;
	}
	return true;
}

/* Conditions over these tables alone go into n's filter. first: also those over no table at all. */
bool
sql_plan_push_down(struct bind *b, struct sql_node *n, const struct sql_set *tables, bool first)
{
	struct sql_expr **e = sql_bind_take(b, (b->where.conds + 1) * sizeof *e);
	struct sql_expr **strong = sql_bind_take(b, (b->where.conds + 1) * sizeof *strong);
	unsigned count = 0, strongs = 0;
	if (e == NULL || strong == NULL)
		return false;
	n->est_seen = n->est_rows;
	for (unsigned i = 0; i < b->where.conds; i++) {
		struct bind_cond *c = &b->where.cond[i];
		if (!sql_plan_open(b, c) || !sql_set_within(&c->mask, tables) ||
		    (!first && sql_set_is_empty(&c->mask)))
			continue;
		c->used = true;
		if (c->implied)
			continue;
		e[count++] = c->e;
		if (!c->weak)
			strong[strongs++] = c->e;
	}
	if (strongs > 0)
		n->est_rows *= sql_sel_all(b, strong, strongs);
	if (n->est_rows < 1)
		n->est_rows = 1;
	return cheap_first(b, e, count) && sql_plan_filter(b, n, e, count);
}

/* A query in FROM: its batch takes its place in the wide one. */
static struct sql_node *
derived(struct bind *b, unsigned k, bool first)
{
	struct bind_table *t = b->from.table[k];
	if (t->sub != NULL)
		t->sub->whole = true;
	else if (!sql_plan_push_into(b, k) || (t->sub = sql_plan_child(b, t->from)) == NULL)
		return NULL;
	struct sql_op_derived *n = sql_new_derived(b, t->sub, b->from.width);
	if (n == NULL || !sql_plan_access(b, &n->acc, k))
		return NULL;
	n->node.est_rows = t->sub->est_rows;
	struct sql_set one = sql_set_one(k);
	return sql_plan_push_down(b, &n->node, &one, first) ? &n->node : NULL;
}

static double
elements_of(const struct sql_expr *array)
{
	struct cat_array a;
	if (array->kind != SQL_CONST || array->value.null)
		return ELEMENTS_GUESS;
	cat_array_open(array->type, array->value.v.s, &a);
	return a.n + 1;
}

/* Notes which conditions the index asks that leads to the rows of one table: order.c may leave it
 * for a look-up. */
static void
note_led(struct bind *b, const struct sql_set *one)
{
	for (unsigned i = 0; i < b->where.conds; i++) {
		struct bind_cond *c = &b->where.cond[i];
		c->led |= c->used && c->home == b->where.home && sql_set_equal(&c->mask, one);
	}
}

/* The access to one table alone. */
static struct sql_node *
base_of(struct bind *b, unsigned k, bool first)
{
	unsigned probes, each;
	struct sql_set one = sql_set_one(k), none = sql_set_none();
	if (b->from.table[k]->sub != NULL || b->from.table[k]->from != NULL)
		return derived(b, k, first);
	struct sql_expr **key = sql_plan_full_key(b, k, &none, &probes, &each);
	struct sql_node *n = NULL;
	if (key != NULL) {
		struct sql_op_get *g = sql_new_get(b, NULL, b->from.width);
		if (g == NULL || !sql_plan_access(b, &g->acc, k))
			return NULL;
		g->key = key;
		g->keys = b->from.table[k]->tab->keys;
		g->probes = probes;
		g->each = each;
		n = &g->node;
		n->est_rows = each ? elements_of(key[each - 1]) : probes;
	} else if (!sql_plan_index(b, k, &n)) {
		return NULL;
	} else if (n == NULL) {
		struct sql_op_scan *s = sql_new_scan(b, NULL, b->from.width);
		if (s == NULL || !sql_plan_access(b, &s->acc, k))
			return NULL;
		n = &s->node;
		n->est_rows = sql_sel_rows(b, k);
	} else {
		note_led(b, &one);
	}
	if (!sql_plan_push_down(b, n, &one, first))
		return NULL;
	if (n->kind == SQL_NODE_INDEX)
		n->est_seen = sql_op(index, n)->est_found;
	return n;
}

unsigned *
sql_plan_columns_of(struct bind *b, const struct sql_set *tables, unsigned *count)
{
	unsigned *out = sql_bind_take(b, b->from.width * sizeof *out);
	*count = 0;
	for (unsigned k = 0; out != NULL && k < b->from.tables; k++)
		for (unsigned c = 0; sql_set_has(tables, k) && c < b->from.table[k]->tab->columns; c++)
			if (b->from.table[k]->used[c])
				out[(*count)++] = b->from.table[k]->base + c;
	for (unsigned k = 0; out != NULL && k < b->from.tables; k++)
		if (sql_set_has(tables, k) && b->from.table[k]->row_at != 0) {
			out[(*count)++] = b->from.table[k]->row_at;
			out[(*count)++] = b->from.table[k]->row_at + 1;
		}
	return out;
}

unsigned *
sql_plan_columns(struct bind *b, unsigned *count)
{
	struct sql_set all = sql_set_all();
	return sql_plan_columns_of(b, &all, count);
}

enum cat_type
sql_plan_column_type(const struct bind *b, unsigned index)
{
	if (b->from.rows_at != 0 && index >= b->from.rows_at)
		return CAT_INT8;
	unsigned k = sql_bind_table_at(b, index);
	return b->from.table[k]->tab->column[index - b->from.table[k]->base].type;
}

/* Rows of `left` find their rows of table k by its primary key. */
struct sql_node *
sql_plan_lookup(
    struct bind *b, struct sql_node *left, const struct sql_set *have, unsigned k, struct sql_expr **key)
{
	struct sql_op_get *n = sql_new_get(b, left, b->from.width);
	if (n == NULL || !sql_plan_access(b, &n->acc, k))
		return NULL;
	n->key = key;
	n->keys = b->from.table[k]->tab->keys;
	n->probes = 1;
	n->node.est_rows = left->est_rows;
	n->pass = sql_plan_columns_of(b, have, &n->passes);
	struct sql_set with = *have;
	sql_set_put(&with, k);
	return n->pass && sql_plan_push_down(b, &n->node, &with, false) ? &n->node : NULL;
}

struct sql_node *
sql_plan_region(struct bind *b, unsigned first, unsigned end, struct sql_set *have)
{
	struct plan_item *item = sql_bind_take(b, (end - first) * sizeof *item);
	unsigned items = 0, region = b->where.home;
	if (item == NULL || (end - first > 1 && !sql_plan_derive(b)))
		return NULL;
	for (unsigned k = first; k < end;) {
		if (b->from.table[k]->flats > 0) {
			k++;
			continue;
		}
		unsigned outer = sql_plan_outer_at(b, k, end);
		if (outer == b->joins.outers && b->from.table[k]->lateral != NULL) {
			if (!sql_plan_lateral_item(b, item, &items, k++))
				return NULL;
			continue;
		}
		struct plan_item *it = &item[items++];
		if (outer == b->joins.outers) {
			it->table = k;
			it->mask = sql_set_one(k);
			it->node = base_of(b, k, k == first);
			k++;
		} else {
			it->node = sql_plan_outer(b, outer, k == first, &it->mask);
			it->table = SQL_TABLES_MAX;
			k = b->joins.outer[outer].last + 1;
		}
		if (it->node == NULL)
			return NULL;
		b->where.home = region;
	}
	return sql_plan_order(b, item, items, have);
}

/* True if WHERE is known to be true for no row. */
static bool
never(const struct bind *b)
{
	bool is = false;
	for (unsigned i = 0; i < b->where.conds && !is; i++) {
		const struct sql_expr *e = b->where.cond[i].e;
		is = b->where.cond[i].home == 0 && e->kind == SQL_CONST &&
		     (e->value.null || e->value.v.i == 0);
	}
	return is;
}

struct sql_node *
sql_plan_from(struct bind *b)
{
	struct sql_node *n;
	struct sql_set have = sql_set_none();
	b->where.home = 0;
	if (b->from.tables == 0) {
		if ((n = sql_plan_node(b, SQL_NODE_ONE, NULL, 0)) == NULL)
			return NULL;
		return sql_plan_push_down(b, n, &have, true) ? n : NULL;
	}
	if (never(b)) {
		if ((n = sql_plan_node(b, SQL_NODE_ONE, NULL, b->from.width)) == NULL)
			return NULL;
		return sql_plan_push_down(b, n, &have, true) ? n : NULL;
	}
	sql_plan_reduce(b);
	sql_plan_widen(b);
	sql_plan_semi_begin(b);
	n = sql_plan_region(b, 0, b->from.tables, &have);
	return n != NULL ? sql_plan_semi(b, n) : NULL;
}

/* ---- the whole -------------------------------------------------------------------- */

static void
cost(struct sql_plan *p, const struct sql_costs *c)
{
	sql_cost_tree(c, p->root);
	for (struct sql_sub *s = p->subs; s != NULL; s = s->next) {
		sql_cost_tree(c, s->root);
		sql_cost_tree(c, s->set);
	}
	sql_plan_patience(p, c);
}

/* What the statement does to its target. */
static uint16_t
target_rights(const struct ast_stmt *st, const struct sql_plan *p)
{
	uint16_t read = p->reads_target ? CAT_MAY_SELECT : 0;
	switch (st->kind) {
	case AST_INSERT:
		if (p->conflict != NULL &&
		    (p->conflict->update || st->conflict->names > 0 || st->conflict->constraint != NULL))
			read = CAT_MAY_SELECT;
		return CAT_MAY_INSERT | read | (p->conflict && p->conflict->update ? CAT_MAY_UPDATE : 0);
	case AST_UPDATE:
		return CAT_MAY_UPDATE | read;
	case AST_DELETE:
		return CAT_MAY_DELETE | read;
	default:
		return st->kind == AST_TRUNCATE ? CAT_MAY_TRUNCATE : 0;
	}
}

/* May the statement's role do what it says? What a view reads, its owner has to be allowed. */
static bool
allowed(
    const struct ast_stmt *st, const struct sql_bind_in *in, const struct sql_plan *p, struct cat_err *err)
{
	const struct sql_need target = { p->tab, NULL, target_rights(st, p), p->need };
	uint16_t have;
	for (const struct sql_need *n = p->tab ? &target : p->need; n != NULL; n = n->next) {
		struct sql_who owner = { .super = false };
		/* nam_extras has defaults, views, and values out of tables: their statistics. */
		if (n->tab->system && n->as == NULL && !in->who->super &&
		    strcmp(n->tab->path, "nam_extras") == 0)
			return sql_denied(n->tab, err);
		if (n->tab->system || (n->as == NULL && in->who->super))
			continue;
		if (n->as != NULL)
			snprintf(owner.name, sizeof owner.name, "%s", n->as);
		if (!sql_rights(in->cat, in->t, n->as ? &owner : in->who, n->tab, n->rights, &have, err))
			return false;
		if ((n->rights & ~have) != 0)
			return sql_denied(n->tab, err);
	}
	return true;
}

struct sql_plan *
sql_plan_one(const struct ast_stmt *st, const struct sql_bind_in *in, struct cat_err *err)
{
	*err = (struct cat_err){ 0 };
	struct sql_plan *p = calloc(1, sizeof *p);
	if (p == NULL) {
		cat_error(err, "53200", "out of memory");
		return NULL;
	}
	nam_arena_init(&p->arena, 8 << 10);
	p->arena.limit = PLAN_BYTES;
	p->kind = st->kind;
	p->ast = st;
	p->params = st->params;
	struct nam_arena scratch;
	unsigned asked_left = ASKED_MAX;
	nam_arena_init(&scratch, 0);
	struct bind *b = nam_arena_zero(&scratch, sizeof *b);
	bool ok = b != NULL;
	if (ok) {
		b->scratch = &scratch;
		b->where.asked_left = &asked_left;
		b->a = &p->arena;
		b->err = err;
		b->in = in;
		b->plan = p;
		ok = (p->param = sql_bind_take(b, p->params * sizeof *p->param)) != NULL &&
		     (p->param_as = sql_bind_take(b, p->params * sizeof *p->param_as)) != NULL;
	}
	for (unsigned i = 0; ok && i < p->params; i++)
		p->param_as[i].typmod = -1;
	for (unsigned i = 0; ok && i < in->ntypes && i < p->params; i++)
		p->param[i] = in->types[i];
	ok = ok && sql_bind_steps(b, in->steps) && sql_bind_with(b, st->with, NULL);
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
	ok = ok && sql_bind_with_done(b, st->with, p->root) && sql_plan_prune_columns(b, p) &&
	     sql_plan_prune_output(b, p);
	/* a parameter of two types was found before whatever else is wrong */
	bool at_end = p->torn_typmod == BIND_TORN_AT_END;
	ok = (ok || (p->torn != 0 && !at_end && err->sqlstate[0] != 0)) && sql_bind_params_settled(b) && ok;
	ok = ok && (in->who == NULL || in->defines_view || allowed(st, in, p, err));
	if (ok && p->outers > 0)
		ok = (p->outer = sql_bind_take(b, p->outers * sizeof *p->outer)) != NULL;
	nam_arena_fini(&scratch);
	if (ok) {
		cost(p, in->costs ? in->costs : &sql_costs_standard);
		if (sql_plan_fragments(p, err))
			return p;
	}
	if (err->sqlstate[0] == 0)
		cat_error(err, "53200", "out of memory");
	sql_plan_free(p);
	return NULL;
}

struct sql_plan *
sql_plan_make(const struct ast_stmt *st, const struct sql_bind_in *in, struct cat_err *err)
{
	const struct ast_with *w = sql_with_of(st);
	*err = (struct cat_err){ 0 };
	if (!sql_with_changes(w))
		return sql_plan_one(st, in, err);
	if (in->may_change)
		return sql_plan_steps(st, in, err);
	cat_error(err, "0A000", "a WITH that changes rows is not supported in this statement yet");
	return NULL;
}

void
sql_plan_free(struct sql_plan *p)
{
	if (p == NULL)
		return;
	for (struct sql_kept *k = p->kept; k != NULL; k = k->next)
		sql_parsed_drop(k->parsed);
	sql_steps_free(p->steps);
	nam_arena_fini(&p->arena);
	free(p);
}
