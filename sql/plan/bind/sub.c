/* sub.c -- subqueries in expressions: the values that they need of the outer row, if any. */
#include <sql/plan/bind/bind.h>
#include <sql/plan/selectivity.h>
#include <sql/plan/sub.h>

#include <stdio.h>
#include <stdlib.h>

/* ---- columns of the queries around ------------------------------------------------- */

static bool
grow(struct bind *b, void *list, unsigned n, unsigned *cap, size_t size)
{
	void **p = list;
	if (n < *cap)
		return true;
	unsigned more = *cap ? *cap * 2 : 4;
	void *q = sql_bind_take(b, more * size);
	if (q == NULL)
		return false;
	if (n > 0)
		memcpy(q, *p, n * size);
	*p = q;
	*cap = more;
	return true;
}

/* The slot that holds x, an expression over the outer row. */
static bool
slot_of(struct bind *b, struct sql_sub *s, struct sql_expr *x, unsigned *out)
{
	unsigned cap = s->slot_cap;
	if (!grow(b, &s->slot, s->slots, &cap, sizeof *s->slot) ||
	    !grow(b, &s->tied, s->slots, &s->slot_cap, sizeof *s->tied))
		return false;
	*out = b->plan->outers++;
	s->slot[s->slots] = *out;
	s->tied[s->slots++] = x;
	return true;
}

/* True if that column was asked for before. */
static bool
has_slot(const struct sql_sub *s, const struct sql_expr *x, unsigned *out)
{
	for (unsigned i = 0; i < s->slots; i++) {
		const struct sql_expr *t = s->tied[i];
		if (t->kind == x->kind && t->index == x->index && t->type == x->type &&
		    (x->kind == SQL_COLUMN || x->kind == SQL_OUTER)) {
			*out = s->slot[i];
			return true;
		}
	}
	return false;
}

struct sql_expr *
sql_bind_outer(struct bind *b, const struct ast_expr *e)
{
	struct bind *up = b->around.up;
	struct sql_sub *s = b->around.sub;
	struct cat_err keep = *b->err;
	*b->err = (struct cat_err){ 0 };
	bool was = up->around.asked;
	up->around.asked = true;
	struct sql_expr *x = sql_bind_expr(up, e);
	up->around.asked = was;
	if (x == NULL)
		return NULL;
	*b->err = keep;
	unsigned slot;
	if (!has_slot(s, x, &slot) && !slot_of(b, s, x, &slot))
		return NULL;
	struct sql_expr *o = sql_expr_outer(b->a, slot, x->type, x->typmod, e->position);
	if (o != NULL)
		o->domain = x->domain;
	if (o == NULL || !grow(b, &s->tie, s->ties, &s->tie_cap, sizeof *s->tie)) {
		cat_error(b->err, "53200", "out of memory");
		return NULL;
	}
	s->tie[s->ties++] = o;
	return o;
}

bool
sql_bind_speaks_of_outer(const struct sql_expr *e)
{
	if (e->kind == SQL_OUTER)
		return true;
	for (unsigned i = 0; i < e->nargs; i++)
		if (sql_bind_speaks_of_outer(e->args[i]))
			return true;
	return false;
}

void
sql_bind_sub_reads(struct bind *b, const struct cat_table *tab)
{
	if (b->plan->tab != NULL && tab->store.id == b->plan->tab->store.id)
		for (struct sql_sub *s = b->around.sub; s != NULL; s = s->up)
			s->reads_target = true;
}

/* ---- ties that are equalities ---------------------------------------------------------- */

static unsigned
ties_in(const struct sql_sub *s, const struct sql_expr *e, bool *seen)
{
	unsigned n = 0;
	for (unsigned i = 0; e->kind == SQL_OUTER && i < s->ties; i++)
		if (s->tie[i] == e && !seen[i]) {
			seen[i] = true;
			n++;
		}
	for (unsigned i = 0; i < e->nargs; i++)
		n += ties_in(s, e->args[i], seen);
	return n;
}

/* True for l = r if one side uses outer columns alone, and the other inner columns alone. */
static bool
is_tie(const struct bind_cond *c)
{
	if (c->home != 0 || c->l == NULL || c->used ||
	    sql_set_is_empty(&c->lmask) == sql_set_is_empty(&c->rmask))
		return false;
	bool left = sql_set_is_empty(&c->lmask);
	const struct sql_expr *out = left ? c->l : c->r, *in = left ? c->r : c->l;
	return sql_bind_speaks_of_outer(out) && !sql_bind_speaks_of_outer(in);
}

/* The rows of all keys: operators as sql_bind_select would make them, n columns and then the
 * keys. */
static struct sql_node *
all_rows(struct bind *b, struct sql_expr **out, unsigned n, struct sql_expr **key, unsigned keys)
{
	b->wish = (struct bind_wish){ 0 }; /* all of them are read: no order helps */
	struct sql_node *from = sql_plan_from(b);
	struct sql_expr **e = sql_bind_take(b, (b->agg.calls + n + keys) * sizeof *e);
	if (from == NULL || e == NULL)
		return NULL;
	bool over_groups = b->agg.grouped && b->around.sub->kind != AST_SUB_EXISTS;
	if (over_groups) {
		struct sql_op_agg *g = sql_new_agg(b, from, keys + b->agg.calls);
		if (g == NULL)
			return NULL;
		g->key = key;
		g->keys = keys;
		g->agg = b->agg.call;
		g->aggs = b->agg.calls;
		g->node.est_rows = sql_sel_groups(b, key, keys, from->est_rows);
		/* what is made of aggregates was bound as if there were no keys: so these go
		 * behind */
		struct sql_expr **turn = sql_bind_take(b, (b->agg.calls + keys) * sizeof *turn);
		if (turn == NULL)
			return NULL;
		for (unsigned i = 0; i < b->agg.calls + keys; i++) {
			bool agg = i < b->agg.calls;
			turn[i] = sql_expr_column(b->a, agg ? keys + i : i - b->agg.calls,
			    agg ? b->agg.call[i].type : key[i - b->agg.calls]->type, -1, 0);
			if (turn[i] == NULL)
				return NULL;
		}
		if ((from = sql_plan_project(b, &g->node, turn, b->agg.calls + keys)) == NULL)
			return NULL;
	}
	if (n > 0) /* EXISTS keeps none */
		memcpy(e, out, n * sizeof *e);
	for (unsigned i = 0; i < keys; i++) {
		e[n + i] =
		    over_groups ? sql_expr_column(b->a, b->agg.calls + i, key[i]->type, -1, 0) : key[i];
		if (e[n + i] == NULL)
			return NULL;
	}
	return sql_plan_project(b, from, e, n + keys);
}

/* A condition that EXISTS asks of a row inside beside an outer row, when it is no tie. */
static bool
is_rest(const struct sql_sub *s, const struct bind_cond *c)
{
	return s->kind == AST_SUB_EXISTS && c->home == 0 && !c->pushed && !c->implied && !is_tie(c) &&
	       sql_bind_speaks_of_outer(c->e) && !sql_expr_has_sub(c->e) && !sql_expr_volatile(c->e);
}

/* Columns of b's FROM list that e reads: to[] is where they will be, NULL = nowhere yet. */
static bool
place_columns(struct bind *b, const struct sql_expr *e, struct sql_expr **to, unsigned keys,
    struct sql_expr **out, unsigned *n)
{
	if (e->kind == SQL_COLUMN && to[e->index] == NULL) {
		out[*n] = sql_expr_column(b->a, e->index, e->type, e->typmod, 0);
		to[e->index] = sql_expr_column(b->a, keys + *n, e->type, e->typmod, 0);
		if (out[*n] == NULL || to[e->index] == NULL)
			return cat_error(b->err, "53200", "out of memory");
		++*n;
	}
	for (unsigned i = 0; i < e->nargs; i++)
		if (!place_columns(b, e->args[i], to, keys, out, n))
			return false;
	return true;
}

/* The set of an EXISTS: of the select list nothing, but the columns that the rest of its
 * conditions reads. */
static bool
rest_of_exists(struct bind *b, struct sql_expr **rest, unsigned rests, unsigned keys, struct sql_expr ***out,
    unsigned *n)
{
	struct sql_sub *s = b->around.sub;
	*n = 0;
	if (rests == 0)
		return true;
	struct sql_expr **to = sql_bind_take(b, b->from.width * sizeof *to);
	if (to == NULL || (*out = sql_bind_take(b, b->from.width * sizeof **out)) == NULL)
		return false;
	for (unsigned i = 0; i < rests; i++)
		if (!place_columns(b, rest[i], to, keys, *out, n))
			return false;
	for (unsigned i = 0; i < rests; i++)
		if ((rest[i] = sql_expr_substitute(b->a, rest[i], 0, b->from.width, to)) == NULL)
			return cat_error(b->err, "53200", "out of memory");
	s->extra = *n;
	s->rest = rests == 1 ? rest[0] : sql_expr_make(b->a, SQL_AND, rest, rests, false, 0, b->err);
	return s->rest != NULL;
}

/* True if b's query has an expression that must be computed again for each row. Then it must run
 * for each outer row. */
static bool
computes_anew(const struct bind *b, struct sql_expr *const *out, unsigned n)
{
	bool does = false;
	for (unsigned i = 0; i < b->where.conds; i++)
		does |= sql_expr_volatile(b->where.cond[i].e);
	for (unsigned i = 0; i < b->agg.calls; i++) {
		const struct sql_agg *g = &b->agg.call[i];
		does |= (g->arg != NULL && sql_expr_volatile(g->arg)) ||
			(g->filter != NULL && sql_expr_volatile(g->filter));
	}
	for (unsigned i = 0; i < n; i++)
		does |= sql_expr_volatile(out[i]);
	return does;
}

bool
sql_bind_sub_set(struct bind *b, const struct ast_select *q, struct sql_expr **out, unsigned n)
{
	struct sql_sub *s = b->around.sub;
	bool scalar = s->kind == AST_SUB_SCALAR;
	/* whether there is a row depends neither on what it says, nor on what its groups are,
	 * nor on how many are asked for, if it is one at least */
	bool exists = s->kind == AST_SUB_EXISTS;
	bool some = exists && q->limit != NULL &&
		    (q->limit->kind == AST_NULL || (q->limit->kind == AST_INT && q->limit->i > 0));
	bool groups = q->groups > 0 || b->agg.groups > 0;
	bool only_groups = exists && groups && b->agg.calls == 0 && b->agg.gsets == 0;
	if (exists)
		n = 0;
	if (s->ties == 0 || s->varies || b->joins.outers > 0 || (b->win.all != NULL && !exists) ||
	    (b->srf.all != NULL && b->srf.all->sets > 0) || q->with != NULL || (groups && !only_groups) ||
	    (q->ons > 0 && !exists) || q->having != NULL || (q->limit != NULL && !some) ||
	    q->offset != NULL || (b->agg.grouped != scalar && !only_groups) || computes_anew(b, out, n))
		return true;
	bool *seen = sql_bind_take(b, s->ties * sizeof *seen);
	struct sql_expr **left = sql_bind_take(b, (b->where.conds + 1) * sizeof *left);
	struct sql_expr **key = sql_bind_take(b, (b->where.conds + 1) * sizeof *key);
	struct sql_expr **rest = sql_bind_take(b, (b->where.conds + 1) * sizeof *rest);
	if (seen == NULL || left == NULL || key == NULL || rest == NULL)
		return false;
	unsigned found = 0, keys = 0, rests = 0;
	for (unsigned i = 0; i < b->where.conds; i++) {
		struct bind_cond *c = &b->where.cond[i];
		c->used = c->pushed;
		if (is_rest(s, c)) {
			found += ties_in(s, c->e, seen);
			rest[rests++] = c->e;
		}
		if (!is_tie(c))
			continue;
		found += ties_in(s, c->l, seen) + ties_in(s, c->r, seen);
		bool out_left = sql_set_is_empty(&c->lmask);
		left[keys] = out_left ? c->ul : c->ur;
		key[keys++] = out_left ? c->ur : c->ul;
	}
	if (found < s->ties || keys == 0 || keys + (scalar || exists ? 0 : n) > SQL_SUB_KEYS)
		return true;
	if (scalar && !sql_bind_narrow(b, left, key, keys, out[0]))
		return false;
	for (unsigned i = 0; i < b->where.conds; i++)
		b->where.cond[i].used =
		    b->where.cond[i].pushed || is_tie(&b->where.cond[i]) || is_rest(s, &b->where.cond[i]);
	s->extra = scalar ? 1 : 0;
	if (s->kind == AST_SUB_EXISTS && !rest_of_exists(b, rest, rests, keys, &out, &n))
		return false;
	if ((s->set = all_rows(b, out, n, key, keys)) == NULL ||
	    (s->right = sql_bind_take(b, keys * sizeof *s->right)) == NULL)
		return false;
	for (unsigned i = 0; i < keys; i++)
		if ((s->right[i] = sql_expr_column(b->a, n + i, key[i]->type, -1, 0)) == NULL)
			return cat_error(b->err, "53200", "out of memory");
	s->left = left;
	s->keys = keys;
	return true;
}

/* ---- a subquery ---------------------------------------------------------------------------- */

/* The operators' arenas: those given out since `from`, but for what subqueries inside keep. */
bool
sql_bind_own_arenas(struct bind *b, struct sql_sub *s, unsigned from)
{
	unsigned n = b->plan->arenas - from;
	uint8_t *other = sql_bind_take(b, n);
	if (other == NULL || (s->arenas = sql_bind_take(b, n * sizeof *s->arenas)) == NULL)
		return false;
	for (const struct sql_sub *i = b->plan->subs; i != NULL; i = i->next) {
		if (i->arena < from)
			continue;
		memset(other + (i->arena - from), 1, 3);
		for (unsigned k = 0; k < i->narenas; k++)
			other[i->arenas[k] - from] = 1;
	}
	for (unsigned k = 0; k < n; k++)
		if (!other[k])
			s->arenas[s->narenas++] = from + k;
	return true;
}

/* One comparison of ANY or ALL in all: = of rows is AND, <> is OR. */
static struct sql_expr *
comparison(struct bind *b, struct sql_sub *s, const struct ast_expr *e, struct sql_expr **test,
    const struct sql_column *col)
{
	bool eq = strcmp(e->text, "=") == 0, ne = strcmp(e->text, "<>") == 0;
	if (e->nargs > 1 && !eq && !ne) {
		sql_bind_fail(
		    b, e->position, "0A000", "row comparisons with %s are not supported yet", e->text);
		return NULL;
	}
	struct sql_expr **one = sql_bind_take(b, e->nargs * sizeof *one);
	struct sql_expr **left = sql_bind_take(b, (s->keys + e->nargs) * sizeof *left);
	struct sql_expr **right = sql_bind_take(b, (s->keys + e->nargs) * sizeof *right);
	if (one == NULL || left == NULL || right == NULL)
		return NULL;
	bool hash = (s->once || s->set) &&
		    ((eq && s->kind == AST_SUB_ANY) || (ne && s->kind == AST_SUB_ALL)) &&
		    e->nargs + s->keys <= SQL_SUB_KEYS;
	for (unsigned i = 0; i < e->nargs; i++) {
		struct sql_expr *l = test[i], *r = sql_expr_column(b->a, i, col[i].type, col[i].typmod, 0);
		unsigned slot;
		if (r == NULL)
			return NULL;
		enum cat_type of[2] = { l->type, r->type }, to[2];
		if (l->type == CAT_UNKNOWN && !sql_settle_types(e->text, of, to, e->position, b->err))
			return NULL;
		sql_bind_fix_param(b, l, l->type == CAT_UNKNOWN ? to[0] : l->type);
		if (l->kind != SQL_CONST) {
			if (!has_slot(s, l, &slot) && !slot_of(b, s, l, &slot))
				return NULL;
			if ((l = sql_expr_outer(b->a, slot, l->type, l->typmod, l->position)) == NULL)
				return NULL;
		}
		if ((one[i] = sql_expr_op(b->a, e->text, l, r, e->position, b->err)) == NULL)
			return NULL;
		if (one[i]->type != CAT_BOOL) {
			sql_bind_fail(b, e->position, "42804",
			    "row comparison operator must yield type boolean, not type %s",
			    cat_type_name(one[i]->type));
			return NULL;
		}
		struct sql_expr *pair[2] = { l, r };
		struct cat_err ignored;
		if (cat_type_category(l->type) == 'S' && one[i]->kind == SQL_CALL && one[i]->nargs == 2) {
			/* text and char(n): what the operator compares */
			pair[0] = one[i]->args[0];
			pair[1] = one[i]->args[1];
		}
		if (hash && !sql_expr_unify(b->a, pair, 2, "=", &ignored))
			hash = false;
		left[i] = pair[0];
		right[i] = pair[1];
	}
	/* ties that became keys stand behind the columns of the answer */
	for (unsigned i = 0; i < s->keys; i++) {
		left[e->nargs + i] = s->left[i];
		right[e->nargs + i] = s->right[i];
	}
	if (!hash)
		s->set = NULL;
	s->hashed = hash;
	s->negate = ne;
	s->left = left;
	s->right = right;
	s->keys += e->nargs;
	if (e->nargs == 1)
		return one[0];
	return sql_expr_make(b->a, eq ? SQL_AND : SQL_OR, one, e->nargs, false, e->position, b->err);
}

/* True if a subquery in this place of a statement that changes rows sees its earlier changes. */
static bool
place(struct bind *b, struct sql_sub *s, int position)
{
	if (b->nest.level > 0 || b->plan->tab == NULL || !s->reads_target)
		return true;
	if (b->agg.not_in != NULL && strcmp(b->agg.not_in, "WHERE") == 0)
		return true;
	s->early = s->once || s->set != NULL;
	return s->early ||
	       sql_bind_fail(b, position, "0A000",
		   "correlated subqueries over the table that is changed are not supported here yet");
}

struct sql_expr *
sql_bind_sub(struct bind *b, const struct ast_expr *e, bool two)
{
	struct sql_expr **test = sql_bind_take(b, (e->nargs + 1) * sizeof *test);
	struct sql_sub *s = sql_bind_take(b, sizeof *s);
	struct bind *in = sql_bind_child(b, e->position);
	bool compared = b->where.compared == e;
	b->where.compared = NULL;
	if (test == NULL || s == NULL || in == NULL)
		return NULL;
	if (b->around.no_sub != NULL) {
		sql_bind_fail(b, e->position, "0A000", "cannot use subquery in %s", b->around.no_sub);
		return NULL;
	}
	if (b->around.level + 1 > SQL_SUB_LEVELS) {
		sql_bind_fail(b, e->position, "54001", "stack depth limit exceeded");
		return NULL;
	}
	s->kind = e->sub;
	s->up = b->around.sub;
	in->around.up = b;
	in->around.sub = s;
	in->around.level = b->around.level + 1;
	for (unsigned i = 0; i < e->nargs; i++)
		if ((test[i] = sql_bind_expr(b, e->args[i])) == NULL) {
			/* a mistake inside is told before */
			struct cat_err keep = *b->err;
			if (sql_bind_child_query(b, in, e->select))
				*b->err = keep;
			return NULL;
		}
	in->around.narrow = compared;
	in->around.exists = s->kind == AST_SUB_EXISTS;
	in->around.unnest = s->kind == AST_SUB_EXISTS || s->kind == AST_SUB_SCALAR ||
			    (two && s->kind == AST_SUB_ANY && strcmp(e->text, "=") == 0);
	in->around.unnest &= e->select->locks == 0; /* as many rows are locked as are asked about */
	s->two = in->around.unnest;
	unsigned from = b->plan->arenas;
	if ((s->root = sql_bind_child_select(b, in, e->select)) == NULL)
		return NULL;
	s->once = s->ties == 0 && !s->varies;
	if (!sql_bind_own_arenas(b, s, from))
		return NULL;
	s->arena = b->plan->arenas;
	b->plan->arenas += 3;
	s->next = b->plan->subs;
	b->plan->subs = s;
	enum cat_type type = CAT_BOOL;
	int32_t typmod = -1;
	if (s->kind == AST_SUB_SCALAR || s->kind == AST_SUB_ARRAY) {
		if (in->answer.columns != 1) {
			sql_bind_fail(b, e->position, "42601", "subquery must return only one column");
			return NULL;
		}
		type = in->answer.column[0].type;
		typmod = in->answer.column[0].typmod;
		if (s->kind == AST_SUB_ARRAY && !sql_array_of(type, &type, b->err)) {
			b->err->position = e->position;
			return NULL;
		}
	} else if (s->kind != AST_SUB_EXISTS) {
		if (in->answer.columns != e->nargs) {
			sql_bind_fail(b, e->position, "42601", "subquery has too %s columns",
			    in->answer.columns > e->nargs ? "many" : "few");
			return NULL;
		}
		if ((s->cmp = comparison(b, s, e, test, in->answer.column)) == NULL)
			return NULL;
	}
	if (s->set != NULL && s->kind != AST_SUB_ANY)
		s->hashed = true;
	if (!place(b, s, e->position))
		return NULL;
	struct sql_expr *x = sql_expr_sub(b->a, s, type, typmod, s->tied, s->slots, e->position, b->err);
	if (x != NULL && s->kind == AST_SUB_SCALAR)
		x->domain = in->answer.column[0].domain;
	return x;
}
