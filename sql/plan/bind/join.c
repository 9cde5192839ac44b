/*
 * join.c -- FROM: which columns joins merge, what `*` is, and which part of FROM each condition
 * filters.
 *
 * Regions: what WHERE filters is region 0; both sides of an outer join are regions of
 * their own, and so is its ON condition. The condition of an inner join belongs to
 * the region around it, so the inner joins of a region may be done in any order.
 */
#include <sql/expr/functions.h>
#include <sql/plan/bind/bind.h>

enum { NO_OUTER = UINT32_MAX };

unsigned
sql_bind_region(const struct bind *b, unsigned first, unsigned last, unsigned but)
{
	unsigned best = NO_OUTER;
	for (unsigned k = 0; k < b->joins.outers; k++) {
		const struct bind_outer *o = &b->joins.outer[k];
		if (k == but || o->kind == AST_JOIN_INNER || o->first > first || o->last < last)
			continue;
		if (o->mid > first && o->mid <= last)
			continue; /* that join itself */
		if (best == NO_OUTER ||
		    o->last - o->first < b->joins.outer[best].last - b->joins.outer[best].first)
			best = k;
	}
	if (best == NO_OUTER)
		return 0;
	return 1 + 3 * best + (first >= b->joins.outer[best].mid);
}

/* ---- what a condition rejects ---------------------------------------------------- */

/* The tables that of() gives for e's arguments; all: only those that it gives for each of them. */
static struct sql_set
of_args(const struct bind *b, const struct sql_expr *e, bool all,
    struct sql_set (*of)(const struct bind *b, const struct sql_expr *e))
{
	struct sql_set m = all ? sql_set_all() : sql_set_none();
	for (unsigned k = 0; k < e->nargs; k++) {
		struct sql_set one = of(b, e->args[k]);
		if (all)
			sql_set_keep(&m, &one);
		else
			sql_set_add(&m, &one);
	}
	return m;
}

struct sql_set
sql_bind_nulls(const struct bind *b, const struct sql_expr *e)
{
	switch (e->kind) {
	case SQL_COLUMN:
		return sql_bind_tables_of(b, e);
	case SQL_CALL:
		return e->fn->flags & SQL_FN_NULLS ? sql_set_none() : of_args(b, e, false, sql_bind_nulls);
	case SQL_NOT:
	case SQL_IN:
		return sql_bind_nulls(b, e->args[0]);
	case SQL_AND:
	case SQL_OR:
	case SQL_COALESCE:
		return of_args(b, e, true, sql_bind_nulls);
	default:
		return sql_set_none();
	}
}

struct sql_set
sql_bind_rejects(const struct bind *b, const struct sql_expr *e)
{
	switch (e->kind) {
	case SQL_AND:
		return of_args(b, e, false, sql_bind_rejects);
	case SQL_OR:
		return of_args(b, e, true, sql_bind_rejects);
	case SQL_IS_NULL:
		return e->negate ? sql_bind_nulls(b, e->args[0]) : sql_set_none();
	default:
		return sql_bind_nulls(b, e);
	}
}

/* ---- USING and NATURAL --------------------------------------------------------------- */

static bool
side(struct bind *b, unsigned lo, unsigned hi, const char *name, const char *which, unsigned *t, unsigned *c)
{
	b->from.lo = lo;
	b->from.hi = hi;
	if (sql_bind_find_column(b, NULL, name, 0, t, c))
		return true;
	if (strcmp(b->err->sqlstate, "42703") != 0)
		return strcmp(b->err->sqlstate, "42702") != 0
			   ? false
			   : sql_bind_fail(b, 0, "42702",
				 "common column name \"%s\" appears more than once in %s table", name, which);
	return sql_bind_fail(
	    b, 0, "42703", "column \"%s\" specified in USING clause does not exist in %s table", name, which);
}

static void
hide(struct bind *b, unsigned t, unsigned c)
{
	if (sql_bind_merged(b, t) != NULL)
		sql_bind_merged(b, t)->hidden = true;
	else
		b->from.table[t]->hidden[c] = 1;
}

/* One more column that stands for others. */
static bool
merge(struct bind *b, const struct ast_join *j, const char *name, struct ast_expr *e, unsigned *at)
{
	if (b->joins.mergeds % 16 == 0) {
		struct bind_merged *more = sql_bind_take(b, (b->joins.mergeds + 16) * sizeof *more);
		if (more == NULL)
			return false;
		if (b->joins.mergeds)
			memcpy(more, b->joins.merged, b->joins.mergeds * sizeof *more);
		b->joins.merged = more;
	}
	*at = SQL_TABLES_MAX + b->joins.mergeds;
	b->joins.merged[b->joins.mergeds++] =
	    (struct bind_merged){ .name = name, .e = e, .first = j->first, .last = j->last };
	return true;
}

static struct ast_expr *
over(struct bind *b, struct ast_expr of, struct ast_expr *x, struct ast_expr *y)
{
	struct ast_expr *e = sql_bind_take(b, sizeof *e), **args = sql_bind_take(b, 2 * sizeof *args);
	if (e == NULL || args == NULL)
		return NULL;
	args[0] = x;
	args[1] = y;
	*e = of;
	e->nargs = y ? 2 : 1;
	e->args = args;
	return e;
}

/*
 * The merged column has the type that both have in common. It is the left one (behind a RIGHT JOIN
 * the right one, behind a FULL JOIN whichever is there); an inner join takes the one that has that
 * type already.
 */
static bool
merged_column(
    struct bind *b, const struct ast_join *a, struct bind_using *u, struct ast_expr *l, struct ast_expr *r)
{
	struct sql_expr *x = sql_bind_expr(b, l), *y = x ? sql_bind_expr(b, r) : NULL, *pair[2] = { x, y };
	if (y == NULL || !sql_expr_unify(b->a, pair, 2, "JOIN/USING", b->err))
		return false;
	int32_t typmod = sql_expr_typmod(pair, 2);
	bool is_left = pair[0] == x && x->typmod == typmod, is_right = pair[1] == y && y->typmod == typmod;
	struct ast_expr of = { .kind = AST_COALESCE, .typmod = -1 };
	if (a->kind == AST_JOIN_FULL) {
		struct ast_expr *e = over(b, of, l, r);
		return e != NULL && merge(b, a, l->text, e, &u->mt);
	}
	bool right = a->kind == AST_JOIN_RIGHT || (a->kind == AST_JOIN_INNER && !is_left && is_right);
	u->mt = right ? u->rt : u->lt;
	if (right ? is_right : is_left)
		return true;
	of = (struct ast_expr){ .kind = AST_CAST, .type = pair[0]->type, .typmod = typmod };
	struct ast_expr *e = over(b, of, right ? r : l, NULL);
	return e != NULL && merge(b, a, l->text, e, &u->mt);
}

static bool
use(struct bind *b, struct bind_join *j, const char *name)
{
	struct bind_using u;
	const struct ast_join *a = j->ast;
	if (!side(b, a->first, a->mid, name, "left", &u.lt, &u.lc) ||
	    !side(b, a->mid, a->last + 1, name, "right", &u.rt, &u.rc))
		return false;
	struct ast_expr *l = sql_bind_ast_column(b, u.lt, u.lc, 0),
			*r = sql_bind_ast_column(b, u.rt, u.rc, 0);
	if (l == NULL || r == NULL || !merged_column(b, a, &u, l, r) || !sql_bind_cond_eq(b, l, r, 0))
		return false;
	j->use[j->uses++] = u;
	return true;
}

static void
hide_used(struct bind *b, const struct bind_join *j)
{
	for (unsigned k = 0; k < j->uses; k++) {
		const struct bind_using *u = &j->use[k];
		if (u->mt != u->lt)
			hide(b, u->lt, u->lc);
		if (u->mt != u->rt)
			hide(b, u->rt, u->rc);
	}
}

static bool
using_(struct bind *b, struct bind_join *j)
{
	const struct ast_join *a = j->ast;
	if ((j->use = sql_bind_take(b, a->usings * sizeof *j->use)) == NULL)
		return false;
	for (unsigned k = 0; k < a->usings; k++) {
		for (unsigned i = 0; i < k; i++)
			if (strcmp(a->using_[i], a->using_[k]) == 0)
				return sql_bind_fail(b, 0, "42701",
				    "column name \"%s\" appears more than once in USING clause",
				    a->using_[k]);
		if (!use(b, j, a->using_[k]))
			return false;
	}
	hide_used(b, j);
	return true;
}

static bool columns(struct bind *b, unsigned first, unsigned last, struct bind_ref *out, unsigned *n);

/* The columns that both sides name, in the left side's order. */
static bool
natural(struct bind *b, struct bind_join *j)
{
	const struct ast_join *a = j->ast;
	unsigned max = b->from.width + b->joins.mergeds, n = 0;
	struct bind_ref *left =
	    sql_bind_take(b, ((size_t)b->from.width * 2 + b->joins.mergeds) * sizeof *left);
	if (left == NULL || (j->use = sql_bind_take(b, max * sizeof *j->use)) == NULL ||
	    !columns(b, a->first, a->mid - 1, left, &n))
		return false;
	for (unsigned k = 0; k < n; k++) {
		const struct bind_merged *m = sql_bind_merged(b, left[k].table);
		const char *name =
		    m != NULL ? m->name : sql_bind_column_name(b->from.table[left[k].table], left[k].column);
		unsigned t, c;
		struct cat_err keep = *b->err;
		b->from.lo = a->mid;
		b->from.hi = a->last + 1;
		bool there =
		    sql_bind_find_column(b, NULL, name, 0, &t, &c) || strcmp(b->err->sqlstate, "42702") == 0;
		*b->err = keep;
		if (there && !use(b, j, name))
			return false;
	}
	hide_used(b, j);
	return true;
}

/* ---- the star -------------------------------------------------------------------------- */

/* Where the column is that two became. */
static struct bind_ref
merged(const struct bind_using *u)
{
	return (struct bind_ref){ u->mt, u->mt == u->rt ? u->rc : u->mt == u->lt ? u->lc : 0 };
}

/* Of tables first..last, which are one table or one join: columns merged by it, then the left
 * side's, the right's. */
static bool
columns(struct bind *b, unsigned first, unsigned last, struct bind_ref *out, unsigned *n)
{
	if (first + b->from.table[last]->flats == last) {
		for (unsigned c = 0; c < b->from.table[last]->tab->columns; c++)
			out[(*n)++] = (struct bind_ref){ last, c };
		return true;
	}
	const struct bind_join *j = NULL;
	for (unsigned k = 0; k < b->joins.n && j == NULL; k++)
		if (b->joins.join[k].ast->first == first && b->joins.join[k].ast->last == last)
			j = &b->joins.join[k];
	if (j == NULL)
		return sql_bind_fail(b, 0, "XX000", "a join is missing");
	for (unsigned k = 0; k < j->uses; k++)
		out[(*n)++] = merged(&j->use[k]);
	for (unsigned right = 0; right < 2; right++) {
		unsigned from = *n, to = from;
		if (!(right ? columns(b, j->ast->mid, last, out, n)
			    : columns(b, first, j->ast->mid - 1, out, n)))
			return false;
		for (unsigned k = from; k < *n; k++) {
			bool gone = false;
			for (unsigned u = 0; u < j->uses && !gone; u++)
				gone = right ? out[k].table == j->use[u].rt && out[k].column == j->use[u].rc
					     : out[k].table == j->use[u].lt && out[k].column == j->use[u].lc;
			if (!gone)
				out[to++] = out[k];
		}
		*n = to;
	}
	return true;
}

bool
sql_bind_star(struct bind *b, struct bind_ref **out, unsigned *n)
{
	*n = 0;
	/* a join puts its merged columns before those of its sides, at most once for each join
	 * around */
	if ((*out = sql_bind_take(b, ((size_t)b->from.width * 2 + b->joins.mergeds) * sizeof **out)) == NULL)
		return false;
	for (unsigned k = 0; k < b->from.tables;) {
		unsigned last = k;
		while (b->from.table[last]->within)
			last++;
		for (unsigned j = 0; j < b->joins.n; j++)
			if (b->joins.join[j].ast->first == k && b->joins.join[j].ast->last > last)
				last = b->joins.join[j].ast->last;
		if (!columns(b, k, last, *out, n))
			return false;
		k = last + 1;
	}
	return true;
}

/* ---- FROM ------------------------------------------------------------------------------ */

/* The tables of a join that has an alias are known by that one only; its columns may have new
 * names. */
static bool
rename_join(struct bind *b, const struct ast_join *a)
{
	struct bind_ref *ref = sql_bind_take(b, ((size_t)b->from.width * 2 + b->joins.mergeds) * sizeof *ref);
	unsigned n = 0;
	if (ref == NULL || !columns(b, a->first, a->last, ref, &n))
		return false;
	if (a->renames > n)
		return sql_bind_fail(b, 0, "42P10",
		    "join expression \"%s\" has %u columns available but %u columns specified", a->alias, n,
		    a->renames);
	for (unsigned k = 0; k < b->from.tables; k++)
		if ((k < a->first || k > a->last) && !b->from.table[k]->within &&
		    strcmp(b->from.table[k]->alias, a->alias) == 0)
			return sql_bind_fail(
			    b, 0, "42712", "table name \"%s\" specified more than once", a->alias);
	for (unsigned k = a->first; k <= a->last; k++) {
		struct bind_table *t = b->from.table[k];
		unsigned cols = t->tab->columns;
		const char **as = sql_bind_take(b, cols * sizeof *as);
		if (as == NULL)
			return false;
		for (unsigned c = 0; c < cols; c++)
			as[c] = sql_bind_column_name(t, c);
		t->as = as;
		t->alias = a->alias;
		t->joined = true;
	}
	for (unsigned m = 0; m < b->joins.mergeds; m++)
		if (b->joins.merged[m].first >= a->first && b->joins.merged[m].last <= a->last)
			b->joins.merged[m].alias = a->alias;
	for (unsigned k = 0; k < a->renames; k++) {
		if (sql_bind_merged(b, ref[k].table) != NULL)
			sql_bind_merged(b, ref[k].table)->name = a->rename[k];
		else
			b->from.table[ref[k].table]->as[ref[k].column] = a->rename[k];
	}
	return true;
}

bool
sql_bind_join_star(struct bind *b, const char *alias, struct bind_ref **out, unsigned *n)
{
	*n = 0;
	for (unsigned k = b->joins.n; k-- > 0;) {
		const struct ast_join *a = b->joins.join[k].ast;
		bool own = a->alias != NULL && strcmp(a->alias, alias) == 0 &&
			   strcmp(b->from.table[a->first]->alias, alias) == 0;
		bool of_using = a->using_alias != NULL && strcmp(a->using_alias, alias) == 0;
		if (!own && !of_using)
			continue;
		if ((*out = sql_bind_take(
			 b, ((size_t)b->from.width * 2 + b->joins.mergeds) * sizeof **out)) == NULL)
			return false;
		if (own)
			return columns(b, a->first, a->last, *out, n);
		for (unsigned u = 0; u < b->joins.join[k].uses; u++)
			(*out)[(*n)++] = merged(&b->joins.join[k].use[u]);
		return true;
	}
	return true;
}

bool
sql_bind_using_column(
    struct bind *b, const char *alias, const char *name, unsigned *table, unsigned *column, bool *known)
{
	for (unsigned k = 0; k < b->joins.n; k++) {
		const struct bind_join *j = &b->joins.join[k];
		if (j->ast->using_alias == NULL || strcmp(j->ast->using_alias, alias) != 0 ||
		    b->from.table[j->ast->first]->joined || j->ast->first < b->from.lo ||
		    j->ast->last >= b->from.hi)
			continue;
		*known = true;
		for (unsigned u = 0; u < j->uses; u++) {
			if (strcmp(j->ast->using_[u], name) != 0)
				continue;
			*table = merged(&j->use[u]).table;
			*column = merged(&j->use[u]).column;
			return true;
		}
	}
	return false;
}

/* Items first[k]..last[k] of FROM are tables. */
struct places {
	unsigned *first, *last;
};

static bool
join(struct bind *b, const struct ast_join *said, const struct places *at, unsigned *outer)
{
	struct bind_join *j = &b->joins.join[b->joins.n++];
	struct ast_join *a = nam_arena_copy(b->a, said, sizeof *said);
	if (a == NULL)
		return cat_error(b->err, "53200", "out of memory");
	a->first = at->first[said->first];
	a->mid = at->first[said->mid];
	a->last = at->last[said->last];
	j->ast = a;
	b->where.home = said->kind != AST_JOIN_INNER ? 3 + 3 * (*outer)++
						     : sql_bind_region(b, said->first, said->last, NO_OUTER);
	b->agg.not_in = "JOIN conditions";
	if ((a->usings > 0 && !using_(b, j)) || (a->natural && !natural(b, j)))
		return false;
	b->from.lo = a->first;
	b->from.hi = a->last + 1;
	if (a->on != NULL && !sql_bind_conds(b, a->on))
		return false;
	b->from.lo = 0;
	b->from.hi = b->from.tables;
	b->where.home = 0;
	return a->alias == NULL || rename_join(b, a);
}

bool
sql_bind_from(struct bind *b, const struct ast_select *q)
{
	struct places at = { sql_bind_take(b, q->tables * sizeof *at.first),
		sql_bind_take(b, q->tables * sizeof *at.last) };
	if ((b->joins.join = sql_bind_take(b, q->joins * sizeof *b->joins.join)) == NULL ||
	    (b->joins.outer = sql_bind_take(b, q->joins * sizeof *b->joins.outer)) == NULL ||
	    at.first == NULL || at.last == NULL)
		return false;
	for (unsigned k = 0; k < q->joins; k++) {
		const struct ast_join *a = &q->join[k];
		if (a->kind != AST_JOIN_INNER)
			b->joins.outer[b->joins.outers++] =
			    (struct bind_outer){ a->kind, a->first, a->mid, a->last };
	}
	b->from.flattens = q->locks == 0;
	b->from.items = q->tables;
	b->from.of = q;
	/* a join as soon as its tables are there: what comes behind may use it */
	unsigned joined = 0, outer = 0;
	for (unsigned k = 0; k < q->tables; k++) {
		b->from.item = k;
		at.first[k] = b->from.tables;
		if (!sql_bind_add_table(b, &q->table[k]))
			return false;
		at.last[k] = b->from.tables - 1;
		for (; joined < q->joins && q->join[joined].last <= k; joined++)
			if (!join(b, &q->join[joined], &at, &outer))
				return false;
	}
	b->from.lo = 0;
	b->from.hi = b->from.tables;
	b->where.home = 0;
	if (!sql_bind_list_params(b, q))
		return false;
	b->agg.not_in = "WHERE";
	if (q->where != NULL && !sql_bind_conds(b, q->where))
		return !b->answer.where_first && sql_bind_told_first(b, q, false);
	return sql_bind_pulled_outers(b, at.first, at.last);
}
