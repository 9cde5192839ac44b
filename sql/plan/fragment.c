/* fragment.c -- which parts of a plan several workers can run: from the top down, the highest
 * operator of each pipeline. */
#include <base/hash.h>
#include <sql/expr/functions.h>
#include <sql/plan/fragment.h>
#include <sql/plan/sub.h>

#include <string.h>

/* How an operator's rows are read: which columns. */
struct reader {
	struct sql_node *sort; /* helpers may sort by it before they give rows; NULL = none */
	uint8_t *of;           /* by column; NULL = they are not gathered here */
	unsigned n;
};

enum { ALIKE = 16 }; /* rows by a sort's first key: many */

struct search {
	struct sql_plan *p;
	struct sql_fragment **last;
	unsigned found;
	bool failed;
};

/* ---- expressions that give every worker the same value ---------------------------------- */

bool
sql_fn_is_steady(const struct sql_fn *fn)
{
	if (fn->flags & SQL_FN_EACH)
		return false;
	if (!(fn->flags & SQL_FN_VOLATILE))
		return true;
	/* now() and its kin: all have the transaction's time */
	enum cat_type t = fn->ret;
	return t == CAT_DATE || t == CAT_TIMESTAMP || t == CAT_TIMESTAMPTZ || t == CAT_TIME ||
	       t == CAT_INTERVAL;
}

static bool reads_with(const struct sql_node *n);

/* Its answers are found before the workers begin, and shared. */
static bool
sub_is_steady(const struct sql_sub *s)
{
	return s->once || (s->set != NULL && !s->varies && !reads_with(s->root));
}

static bool
steady(const struct sql_expr *e)
{
	if (e == NULL)
		return true;
	bool is = e->kind != SQL_OUTER &&
		  (e->kind != SQL_CALL || sql_fn_is_steady(e->call ? e->call->fn : e->fn)) &&
		  (e->kind != SQL_SUB || sub_is_steady(e->sub));
	for (unsigned k = 0; is && k < e->nargs; k++)
		is = steady(e->args[k]);
	return is;
}

static bool
all_steady(struct sql_expr *const *e, unsigned n)
{
	bool is = true;
	for (unsigned k = 0; is && k < n; k++)
		is = steady(e[k]);
	return is;
}

/* True if rows ask a subquery one by one: then workers do not share the set of all its answers. */
static bool
asks_singly(const struct sql_expr *e)
{
	bool does = e != NULL && e->kind == SQL_SUB && sql_sub_is_patient(e->sub);
	for (unsigned k = 0; e != NULL && !does && k < e->nargs; k++)
		does = asks_singly(e->args[k]);
	return does;
}

static bool
projects_singly(const struct sql_op_project *o)
{
	bool does = false;
	for (unsigned k = 0; k < o->es && !does; k++)
		does = asks_singly(o->e[k]);
	return does;
}

/* True if below n there is a reader of a query of WITH. */
static bool
reads_with(const struct sql_node *n)
{
	struct sql_node **k;
	bool is = n->kind == SQL_NODE_CTE || n->with != NULL;
	for (struct sql_inputs i = sql_sources(n); !is && (k = sql_input_next(&i)) != NULL;)
		is = reads_with(*k);
	return is;
}

/* ---- pipelines ------------------------------------------------------------------------ */

/* True if n passes batches of its child on, each by itself. */
static bool
passes(const struct sql_node *n)
{
	if (!steady(n->filter))
		return false;
	switch (n->kind) {
	case SQL_NODE_PROJECT:
		return all_steady(sql_op(project, n)->e, sql_op(project, n)->es) &&
		       !projects_singly(sql_op(project, n));
	case SQL_NODE_DERIVED:
	case SQL_NODE_UNNEST:
		return true;
	case SQL_NODE_EXPAND:
		return all_steady(sql_op(expand, n)->e, sql_op(expand, n)->keys);
	case SQL_NODE_JOIN: {
		const struct sql_op_join *j = sql_op(join, n);
		return !j->keep_build && j->share == NULL && steady(j->on) && all_steady(j->key, j->keys);
	}
	case SQL_NODE_SEMI: {
		const struct sql_op_semi *s = sql_op(semi, n);
		return !s->sub->varies && !reads_with(s->sub->root) && steady(s->rest) &&
		       all_steady(s->key, s->keys) && all_steady(s->outer, s->outers);
	}
	default:
		return false;
	}
}

/* The scan that n's pipeline begins with; NULL = n does not end one. */
static struct sql_op_scan *
first_of(struct sql_node *n)
{
	for (; n->kind != SQL_NODE_SCAN; n = n->child)
		if (n->child == NULL || n->whole || !passes(n))
			return NULL;
	struct sql_op_scan *s = sql_op(scan, n);
	bool fit = !n->whole && !s->acc.identify && s->acc.row_at == 0 && steady(n->filter) &&
		   !s->acc.tab->system && s->acc.tab->kind == CAT_TABLE;
	return fit ? s : NULL;
}

static double
reads(const struct sql_op_scan *s)
{
	return s->node.est_seen > s->node.est_rows ? s->node.est_seen : s->node.est_rows;
}

bool
sql_agg_is_set(const struct sql_agg *g)
{
	if (!g->distinct || g->cols == 0)
		return false;
	switch (g->kind) {
	case SQL_COUNT:
		return true;
	case SQL_SUM:
	case SQL_AVG:
	case SQL_VAR_POP:
	case SQL_VAR_SAMP:
	case SQL_STDDEV_POP:
	case SQL_STDDEV_SAMP:
		return cat_type_is_int(g->arg_type) || g->arg_type == CAT_NUMERIC;
	case SQL_BIT_XOR:
		return cat_type_is_int(g->arg_type);
	default:
		return false;
	}
}

/* Which of equal values it was may show in a sum of numerics, unless all have one scale. */
static bool
set_splits(const struct sql_agg *g)
{
	return sql_agg_is_set(g) &&
	       (g->kind == SQL_COUNT || g->arg_type != CAT_NUMERIC || g->arg->typmod >= 0);
}

static bool
splits(const struct sql_op_agg *o)
{
	bool is = all_steady(o->key, o->keys);
	for (unsigned a = 0; is && a < o->aggs; a++) {
		const struct sql_agg *g = &o->agg[a];
		is = (!g->later || set_splits(g)) && sql_agg_splits(g->kind, g->arg_type) && steady(g->arg) &&
		     steady(g->filter);
	}
	return is;
}

/* ---- the search ------------------------------------------------------------------------- */

static struct sql_fragment *
add(struct search *f, struct sql_node *at, struct sql_node *pipe, struct sql_op_scan *scan)
{
	struct sql_fragment *x = nam_arena_zero(&f->p->arena, sizeof *x);
	if (x == NULL) {
		f->failed = true;
		return NULL;
	}
	*x = (struct sql_fragment){
		.number = f->found++, .at = at, .top = at, .pipe = pipe, .scan = scan, .rows = reads(scan)
	};
	*f->last = x;
	f->last = &x->next;
	at->fragment = x;
	return x;
}

/* Rows that a pipeline gives cost more on the way than they take to make, unless they are few or
 * much work. */
static bool
is_worth(const struct sql_node *n, const struct sql_op_scan *scan)
{
	bool joins = false;
	for (; n->kind != SQL_NODE_SCAN; n = n->child)
		joins |= n->kind == SQL_NODE_JOIN || n->kind == SQL_NODE_SEMI;
	return joins;
	(void)scan;
}

static void
add_rows(struct search *f, struct sql_node *n, const struct reader *by, struct sql_op_scan *scan)
{
	double most = reads(scan) / (is_worth(n, scan) ? 1 : 3);
	if (by->of == NULL || (by->sort == NULL && n->est_rows > most))
		return;
	struct sql_fragment *x = add(f, n, n, scan);
	unsigned *col = x ? nam_arena_take(&f->p->arena, (by->n + 1) * sizeof *col) : NULL;
	if (col == NULL) {
		f->failed = true;
		return;
	}
	x->col = col;
	for (unsigned c = 0; c < by->n && c < n->out.cols; c++)
		if (by->of[c])
			col[x->cols++] = c;
	if (by->sort != NULL)
		x->top = by->sort;
}

/*
 * True if rows are compared often: the first key is of a type whose values do not show in 8 bytes,
 * or many rows are alike by it. A sort by radix alone takes less time than its rows need on the
 * way.
 */
static bool
compares(const struct sql_op_sort *s)
{
	return !sql_sort_shows(s->type[s->order[0].col]) ||
	       (s->orders > 1 && s->est_values > 0 && s->node.est_rows >= ALIKE * s->est_values);
}

/* The scan of a sort's pipeline, if all of its rows are to be sorted and helpers are worth it. */
static struct sql_op_scan *
full_sort(const struct sql_op_sort *s)
{
	return s->most.limit == NULL && s->orders > 0 && compares(s) ? first_of(s->node.child) : NULL;
}

static void
add_runs(struct search *f, struct sql_op_sort *s, struct sql_op_scan *scan)
{
	struct sql_fragment *x = add(f, &s->node, s->node.child, scan);
	unsigned *col = x ? nam_arena_take(&f->p->arena, (s->cols + 1) * sizeof *col) : NULL;
	if (col == NULL) {
		f->failed = true;
		return;
	}
	x->runs = true;
	x->col = col;
	x->cols = s->cols;
	for (unsigned c = 0; c < s->cols; c++)
		col[c] = c;
}

static bool
read_some(struct search *f, struct reader *r, const struct sql_node *n)
{
	*r = (struct reader){ .of = nam_arena_zero(&f->p->arena, n->out.cols + 1), .n = n->out.cols };
	f->failed |= r->of == NULL;
	return r->of != NULL;
}

static void
ask(struct reader *r, const struct sql_expr *e)
{
	if (e == NULL)
		return;
	if (e->kind == SQL_COLUMN && e->index < r->n)
		r->of[e->index] = 1;
	for (unsigned k = 0; k < e->nargs; k++)
		ask(r, e->args[k]);
}

static bool
read_all(struct search *f, struct reader *r, const struct sql_node *n)
{
	if (!read_some(f, r, n))
		return false;
	memset(r->of, 1, r->n);
	return true;
}

static bool
read_build(struct search *f, struct reader *r, const struct sql_op_join *j)
{
	if (!read_some(f, r, j->node.build))
		return false;
	for (unsigned k = 0; k < j->keys; k++)
		ask(r, j->build_key[k]);
	for (unsigned c = 0; c < j->build_width; c++)
		if (j->kept[c] != SQL_KEPT_KEY)
			r->of[j->kept[c]] = 1;
	return true;
}

static bool
read_set(struct search *f, struct reader *r, const struct sql_sub *s, const struct sql_node *n)
{
	if (!s->hashed)
		return read_all(f, r, n);
	if (!read_some(f, r, n))
		return false;
	for (unsigned k = 0; k < s->keys; k++)
		ask(r, s->right[k]);
	for (unsigned c = 0; c < s->extra && c < r->n; c++)
		r->of[c] = 1;
	return true;
}

static bool
read_groups(struct search *f, struct reader *r, const struct sql_op_agg *o)
{
	if (!read_some(f, r, o->node.child))
		return false;
	for (unsigned k = 0; k < o->keys; k++)
		ask(r, o->key[k]);
	for (unsigned a = 0; a < o->aggs; a++) {
		const struct sql_agg *g = &o->agg[a];
		ask(r, g->arg);
		ask(r, g->separator);
		ask(r, g->filter);
		for (unsigned c = 0; c < g->cols; c++)
			ask(r, g->col[c]);
	}
	return true;
}

static bool
read_project(struct search *f, struct reader *r, const struct sql_op_project *o)
{
	if (!read_some(f, r, o->node.child))
		return false;
	for (unsigned k = 0; k < o->es; k++)
		ask(r, o->e[k]);
	ask(r, o->node.filter);
	return true;
}

static const struct reader nothing;
static void visit(struct search *f, struct sql_node *n, const struct reader *by);

/* The other sides of a pipeline's joins; then whatever is below it. */
static void
visit_sides(struct search *f, struct sql_node *n, bool pipe)
{
	struct reader r = nothing;
	if (n->kind == SQL_NODE_JOIN && n->build != NULL && !n->build->whole &&
	    read_build(f, &r, sql_op(join, n)))
		visit(f, n->build, &r);
	else if (n->kind == SQL_NODE_SEMI && read_set(f, &r, sql_op(semi, n)->sub, n->build))
		visit(f, n->build, &r);
	else if (n->kind == SQL_NODE_SETOP || n->kind == SQL_NODE_JOIN)
		visit(f, n->build, &nothing);
	if (n->child == NULL)
		return;
	if (pipe)
		visit_sides(f, n->child, n->child->kind != SQL_NODE_SCAN);
	else if (n->kind == SQL_NODE_SORT && read_all(f, &r, n->child)) {
		r.sort = sql_op(sort, n)->most.limit != NULL && steady(sql_op(sort, n)->most.limit) &&
				 steady(sql_op(sort, n)->most.offset)
			     ? n
			     : NULL;
		visit(f, n->child, &r);
	} else if (n->kind == SQL_NODE_AGG && read_groups(f, &r, sql_op(agg, n)))
		visit(f, n->child, &r);
	else
		visit(f, n->child, &nothing);
}

static void
visit(struct search *f, struct sql_node *n, const struct reader *by)
{
	if (n == NULL || f->failed)
		return;
	for (const struct sql_cte *c = n->with; c != NULL; c = c->next)
		visit(f, c->plan, &nothing);
	struct sql_op_scan *scan = NULL;
	if (n->kind == SQL_NODE_APPEND)
		for (unsigned k = 0; k < sql_op(append, n)->kids; k++)
			visit(f, sql_op(append, n)->kid[k], &nothing);
	if (n->kind == SQL_NODE_LATERAL || n->kind == SQL_NODE_RECURSE || n->kind == SQL_NODE_LOCK)
		return;
	if (n->kind == SQL_NODE_AGG && !n->whole && splits(sql_op(agg, n)) &&
	    (scan = first_of(n->child)) != NULL) {
		struct sql_fragment *x = add(f, n, n->child, scan);
		if (x != NULL)
			x->groups = true;
		visit_sides(f, n->child, n->child->kind != SQL_NODE_SCAN);
		return;
	}
	if (n->kind == SQL_NODE_SORT && !n->whole && (scan = full_sort(sql_op(sort, n))) != NULL) {
		add_runs(f, sql_op(sort, n), scan);
		visit_sides(f, n->child, n->child->kind != SQL_NODE_SCAN);
		return;
	}
	scan = first_of(n);
	if (scan != NULL)
		add_rows(f, n, by, scan);
	struct reader r;
	if (scan == NULL && n->kind == SQL_NODE_PROJECT && !n->whole && by->of != NULL && by->sort == NULL &&
	    projects_singly(sql_op(project, n)) && read_project(f, &r, sql_op(project, n))) {
		visit(f, n->child, &r);
		return;
	}
	visit_sides(f, n, scan != NULL && n->kind != SQL_NODE_SCAN);
}

/* The answer's columns, where all of them are a projection's. */
static void
visit_root(struct search *f, struct sql_node *n)
{
	struct reader r = nothing;
	if (n != NULL && n->kind == SQL_NODE_PROJECT && !read_all(f, &r, n))
		return;
	visit(f, n, &r);
}

bool
sql_plan_fragments(struct sql_plan *p, struct cat_err *err)
{
	struct search f = { .p = p, .last = &p->fragments };
	if (p->kind != AST_SELECT || p->locks)
		return true;
	visit_root(&f, p->root);
	for (struct sql_sub *s = p->subs; s != NULL; s = s->next) {
		struct reader r = nothing;
		if (s->once && s->kind == AST_SUB_SCALAR)
			visit(&f, s->root, &nothing);
		if (s->set != NULL && !s->joined && read_set(&f, &r, s, s->set))
			visit(&f, s->set, &r);
	}
	return !f.failed || cat_error(err, "53200", "out of memory");
}

/* ---- a plan's number ------------------------------------------------------------------ */

static uint64_t
mix(uint64_t h, uint64_t v)
{
	return nam_mix(h ^ v) + h * 31;
}

static uint64_t
mix_bytes(uint64_t h, const void *p, size_t n)
{
	return mix(h, nam_hash(p, n, 7));
}

static uint64_t
mix_expr(uint64_t h, const struct sql_expr *e)
{
	if (e == NULL)
		return mix(h, 1);
	h = mix(h, (uint64_t)e->kind << 32 ^ (uint64_t)e->type << 16 ^ e->nargs);
	h = mix(h, (uint64_t)e->index << 1 ^ e->negate);
	if (e->kind == SQL_CALL)
		h = mix_bytes(h, e->fn->name, strlen(e->fn->name));
	if (e->kind == SQL_CONST && !e->value.null && cat_type_is_str(e->value.type))
		h = mix_bytes(h, e->value.v.s.p, e->value.v.s.len);
	else if (e->kind == SQL_CONST)
		h = mix(h, e->value.null ? 2 : (uint64_t)e->value.v.i);
	for (unsigned k = 0; k < e->nargs; k++)
		h = mix_expr(h, e->args[k]);
	return h;
}

static uint64_t
mix_all(uint64_t h, struct sql_expr *const *e, unsigned n)
{
	h = mix(h, n);
	for (unsigned k = 0; k < n; k++)
		h = mix_expr(h, e[k]);
	return h;
}

static uint64_t
mix_access(uint64_t h, const struct sql_access *a)
{
	if (a == NULL || a->tab == NULL)
		return h;
	h = mix(h, (uint64_t)a->tab->store.id << 32 ^ a->tab->generation);
	h = mix(h, (uint64_t)a->base << 32 ^ a->row_at << 1 ^ a->identify);
	return mix_bytes(h, a->want, a->wants * sizeof *a->want);
}

static uint64_t
mix_agg(uint64_t h, const struct sql_op_agg *o)
{
	h = mix_all(h, o->key, o->keys);
	for (unsigned a = 0; a < o->aggs; a++) {
		const struct sql_agg *g = &o->agg[a];
		h = mix(h, (uint64_t)g->kind << 32 ^ (uint64_t)g->arg_type << 8 ^ g->distinct);
		h = mix_expr(mix_expr(mix_expr(h, g->arg), g->filter), g->separator);
	}
	return h;
}

/* What an operator has besides: of those that a pipeline may have. */
static uint64_t
mix_kind(uint64_t h, const struct sql_node *n)
{
	switch (n->kind) {
	case SQL_NODE_PROJECT:
		return mix_all(h, sql_op(project, n)->e, sql_op(project, n)->es);
	case SQL_NODE_AGG:
		return mix_agg(h, sql_op(agg, n));
	case SQL_NODE_JOIN: {
		const struct sql_op_join *j = sql_op(join, n);
		h = mix(h, (uint64_t)j->keep_probe << 1 ^ j->keep_build);
		h = mix_all(mix_all(h, j->key, j->keys), j->build_key, j->keys);
		h = mix_bytes(h, j->build_col, j->build_cols * sizeof *j->build_col);
		h = mix_bytes(h, j->probe_col, j->probe_cols * sizeof *j->probe_col);
		h = mix_bytes(h, j->kept, j->build_width * sizeof *j->kept);
		return mix_expr(h, j->on);
	}
	case SQL_NODE_SEMI: {
		const struct sql_op_semi *s = sql_op(semi, n);
		h = mix(h, s->anti);
		return mix_expr(mix_all(h, s->key, s->keys), s->rest);
	}
	case SQL_NODE_EXPAND: {
		const struct sql_op_expand *o = sql_op(expand, n);
		return mix_bytes(mix_all(h, o->e, o->keys), o->in, (size_t)o->sets * o->keys);
	}
	case SQL_NODE_SORT: {
		const struct sql_op_sort *s = sql_op(sort, n);
		for (unsigned k = 0; k < s->orders; k++)
			h = mix(h,
			    (uint64_t)s->order[k].col << 2 ^ s->order[k].desc << 1 ^ s->order[k].nulls_first);
		return mix_expr(mix_expr(h, s->most.limit), s->most.offset);
	}
	default:
		return h;
	}
}

static uint64_t
mix_node(uint64_t h, const struct sql_node *n)
{
	struct sql_node **k;
	if (n == NULL)
		return mix(h, 3);
	h = mix(h, (uint64_t)n->kind << 40 ^ (uint64_t)n->arena << 20 ^ n->out.cols);
	h = mix_expr(h, n->filter);
	h = mix_kind(mix_access(h, sql_node_access(n)), n);
	for (struct sql_inputs i = sql_inputs(n); (k = sql_input_next(&i)) != NULL;)
		h = mix_node(h, *k);
	return h;
}

uint64_t
sql_plan_number(const struct sql_plan *p)
{
	uint64_t h = mix_node(mix(p->arenas, p->params), p->root);
	for (const struct sql_sub *s = p->subs; s != NULL; s = s->next)
		h = mix_node(mix_node(h, s->root), s->joined ? NULL : s->set);
	for (const struct sql_fragment *f = p->fragments; f != NULL; f = f->next) {
		h = mix(h, (uint64_t)f->groups << 63 ^ (uint64_t)f->runs << 62 ^ (uint64_t)f->cols << 32 ^
			       f->scan->acc.tab->store.id);
		/* Where it begins and ends may hang on a guess. */
		h = mix(h, (uint64_t)f->at->arena << 32 ^ f->pipe->arena);
		h = mix(h, (uint64_t)f->top->arena << 32 ^ f->scan->node.arena);
		for (unsigned i = 0; f->col != NULL && i < f->cols; i++)
			h = mix(h, f->col[i]);
	}
	return h;
}

/* ---- its tables ----------------------------------------------------------------------- */

struct tables {
	struct cat *c;
	struct sql_hint *out;
	unsigned max, n;
	bool full;
};

static void
add_table(struct tables *t, const struct cat_table *tab)
{
	for (unsigned i = 0; i < t->n; i++)
		if (t->out[i].table == tab->store.id)
			return;
	if (t->n == t->max)
		t->full = true;
	else
		t->out[t->n++] = (struct sql_hint){ tab->store.id, (uint64_t)(sql_plan_rows(t->c, tab) - 1) };
}

static void
add_tables(struct tables *t, const struct sql_node *n)
{
	struct sql_node **k;
	if (n == NULL)
		return;
	const struct sql_access *a = sql_node_access(n);
	if (a != NULL && a->tab != NULL)
		add_table(t, a->tab);
	for (struct sql_inputs i = sql_inputs(n); (k = sql_input_next(&i)) != NULL;)
		add_tables(t, *k);
}

unsigned
sql_plan_hints(const struct sql_plan *p, struct cat *c, struct sql_hint *out, unsigned max)
{
	struct tables t = { .c = c, .out = out, .max = max };
	add_tables(&t, p->root);
	for (const struct sql_sub *s = p->subs; s != NULL; s = s->next) {
		add_tables(&t, s->root);
		add_tables(&t, s->set);
	}
	return t.full ? 0 : t.n;
}
