/*
 * selectivity.c -- shares of rows, from ANALYZE's statistics.
 *
 * A comparison of a column with a constant is looked up among the common values and in the
 * histogram. Any other condition over one column is asked of these values themselves: what share
 * of them it lets pass. Without statistics there are only guesses: a tenth for an equality,
 * a third for the rest; a column that an index begins with has more different values, each of them
 * one of a unique index. Conditions are taken as independent, but for two bounds of one column.
 */
#include <catalog/catalog.h>
#include <catalog/stats.h>
#include <sql/expr/functions.h>
#include <sql/plan/selectivity.h>
#include <types/numeric.h>

#include <math.h>

static const double GUESS_EQUAL = 0.1, GUESS = 1.0 / 3, GUESS_RANGE = 0.005, LEAST = 1e-9;
enum { ROWS_GUESS = 1000, DISTINCT_GUESS = 200, PAIRS = 8, IN_MAX = 1000 };

static double
clamp(double s)
{
	return s >= 1 ? 1 : s > LEAST ? s : LEAST;
}

/* ---- columns --------------------------------------------------------------------------- */

struct column {
	unsigned index;
	enum cat_type type;
	const struct cat_stats *stats; /* NULL = none */
	double rows;                   /* of the table it is a column of */
	bool unique;
	bool leads; /* an index begins with it */
};

double
sql_plan_rows(struct cat *c, const struct cat_table *t)
{
	double rows;
	if (c != NULL && cat_rows_seen(c, t, &rows))
		return rows + 1;
	return t->analyzed ? t->rows + 1 : ROWS_GUESS;
}

double
sql_sel_rows(struct bind *b, unsigned k)
{
	const struct bind_table *t = b->from.table[k];
	if (t->sub != NULL)
		return t->sub->est_rows;
	if (t->from != NULL)
		return ROWS_GUESS;
	for (unsigned i = 0; i < b->in->hints; i++)
		if (b->in->hint[i].table == t->tab->store.id)
			return (double)b->in->hint[i].rows + 1;
	return sql_plan_rows(b->in->cat, t->tab);
}

static bool
column_at(struct bind *b, unsigned index, struct column *out)
{
	unsigned k = sql_bind_table_at(b, index);
	if (k == b->from.tables)
		return false;
	struct bind_table *t = b->from.table[k];
	unsigned c = index - t->base;
	const struct cat_column *col = &t->tab->column[c];
	*out = (struct column){ .index = index, .type = col->type, .rows = sql_sel_rows(b, k) };
	if (t->from != NULL && t->from->from.tables > 0) {
		/* what the query in FROM passes on of a column of its own */
		const struct sql_expr *e = t->from->answer.output[c];
		bool grouped = t->from->agg.grouped;
		if (grouped && e->kind == SQL_COLUMN && e->index < t->from->agg.groups)
			e = t->from->agg.key[e->index];
		else if (grouped)
			return true;
		struct column in;
		if (e->kind == SQL_COLUMN && e->type == col->type && column_at(t->from, e->index, &in)) {
			out->stats = in.stats;
			out->unique =
			    grouped ? t->from->agg.groups == 1 : in.unique && t->from->from.tables == 1;
		}
		return true;
	}
	out->unique = t->tab->keys == 1 && t->tab->key[0] == c;
	for (unsigned i = 0; i < t->tab->indexes; i++) {
		const struct cat_index *ix = &t->tab->index[i];
		if (!ix->valid || ix->key[0].column != c)
			continue;
		out->leads |= col->type != CAT_BOOL; /* two values are no many */
		out->unique |= ix->unique && ix->keys == 1 && !ix->nulls_equal;
	}
	if (col->stats == NULL)
		return true;
	if (t->stats == NULL &&
	    (t->stats = nam_arena_zero(b->scratch, t->tab->columns * sizeof *t->stats)) == NULL)
		return true;
	if (t->stats[c] == NULL)
		t->stats[c] = cat_stats_read(col->stats, col->type, b->scratch);
	out->stats = t->stats[c];
	return true;
}

/* A column, maybe as a wider type. */
static bool
column_of(struct bind *b, const struct sql_expr *e, struct column *out)
{
	const struct sql_fn *fn;
	if (e->kind == SQL_CALL && e->nargs == 1 &&
	    sql_cast_find(e->args[0]->type, e->type, SQL_CAST_IMPLICIT, &fn) && fn == e->fn)
		e = e->args[0];
	return e->kind == SQL_COLUMN && column_at(b, e->index, out);
}

static double
distinct(const struct column *c)
{
	if (c->stats != NULL && c->stats->distinct != 0)
		return c->stats->distinct > 0 ? c->stats->distinct : -c->stats->distinct * c->rows;
	return c->unique ? c->rows : 0;
}

static double
common(const struct cat_stats *s)
{
	double sum = 0;
	for (unsigned i = 0; i < s->mcvs; i++)
		sum += s->freq[i];
	return sum;
}

/* What is left when NULLs and common values are taken away. */
static double
rest(const struct cat_stats *s)
{
	double r = 1 - s->null_frac - common(s);
	return r > 0 ? r : 0;
}

/* ---- comparisons with a constant -------------------------------------------------------- */

/* On one scale with the other types of its kind. */
static bool
number(enum cat_type type, union cat_val v, struct nam_arena *arena, double *out)
{
	struct cat_err err;
	if (type == CAT_NUMERIC)
		return cat_num_to_double(v.s, out, arena, &err) && *out == *out;
	if (cat_type_is_str(type))
		return false;
	*out = cat_type_is_float(type) ? v.f : type == CAT_DATE ? (double)v.i * 86400e6 : (double)v.i;
	return *out == *out;
}

/* Is a value of the column less (-1), equal, or greater than the constant? 2 = unknown. */
static int
order(struct bind *b, enum cat_type type, union cat_val v, const struct cat_datum *d)
{
	double x, y;
	if (type == d->type)
		return cat_value_cmp(type, v, d->v);
	if (!number(type, v, b->scratch, &x) || !number(d->type, d->v, b->scratch, &y))
		return 2;
	return x < y ? -1 : x > y;
}

static double
equal(struct bind *b, const struct column *c, const struct cat_datum *d)
{
	const struct cat_stats *s = c->stats;
	double n = distinct(c);
	if (s == NULL)
		return n > 0 ? 1 / n : c->leads ? 1 / fmax(fmin(c->rows, DISTINCT_GUESS), 1) : GUESS_EQUAL;
	for (unsigned i = 0; d != NULL && i < s->mcvs; i++)
		if (order(b, c->type, s->mcv[i], d) == 0)
			return s->freq[i];
	if (d == NULL) /* a parameter: any of them */
		return n >= 1 ? (1 - s->null_frac) / n : GUESS_EQUAL;
	double others = n - s->mcvs;
	return others >= 1 ? rest(s) / others : rest(s) > 0 && n == 0 ? GUESS_EQUAL : 0.5 / c->rows;
}

/* Share of the histogram below d. */
static double
below(struct bind *b, const struct column *c, const struct cat_datum *d)
{
	const struct cat_stats *s = c->stats;
	unsigned lo = 0, hi = s->bounds; /* bounds before lo are less, those from hi on are not */
	while (lo < hi) {
		unsigned mid = (lo + hi) / 2;
		int o = order(b, c->type, s->bound[mid], d);
		if (o == 2)
			return GUESS;
		if (o < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	double least = 0.01 / (s->bounds - 1), x, y, v, in = 0.5;
	if (lo == 0)
		return least;
	if (lo == s->bounds)
		return 1 - least;
	if (number(c->type, s->bound[lo - 1], b->scratch, &x) &&
	    number(c->type, s->bound[lo], b->scratch, &y) && number(d->type, d->v, b->scratch, &v) && y > x)
		in = (v - x) / (y - x);
	double out = (lo - 1 + in) / (s->bounds - 1);
	return out < least ? least : out > 1 - least ? 1 - least : out;
}

/* column < d (or <=); greater: > (or >=). */
static double
range(struct bind *b, const struct column *c, const struct cat_datum *d, bool greater, bool or_equal)
{
	const struct cat_stats *s = c->stats;
	if (s == NULL || d == NULL || (s->mcvs == 0 && s->bounds == 0))
		return GUESS;
	double sum = 0;
	for (unsigned i = 0; i < s->mcvs; i++) {
		int o = order(b, c->type, s->mcv[i], d);
		if (o == 2)
			return GUESS;
		if (o == 0 ? or_equal : (o > 0) == greater)
			sum += s->freq[i];
	}
	double part = s->bounds > 1 ? below(b, c, d) : 0.5;
	return sum + rest(s) * (greater ? 1 - part : part);
}

/* ---- conditions asked of the values we know --------------------------------------------- */

/* Only this column, and nothing that changes or costs. */
static bool
speaks_of_one(const struct sql_expr *e, unsigned *index, unsigned *nodes)
{
	if (++*nodes > 200)
		return false;
	if (e->kind == SQL_COLUMN) {
		bool ok = *index == UINT32_MAX || *index == e->index;
		*index = e->index;
		return ok;
	}
	if (e->kind == SQL_PARAM || e->kind == SQL_OUTER || e->kind == SQL_SUB ||
	    (e->kind == SQL_CALL && (e->fn->flags & SQL_FN_VOLATILE)))
		return false;
	for (unsigned i = 0; i < e->nargs; i++)
		if (!speaks_of_one(e->args[i], index, nodes))
			return false;
	return true;
}

/* The share for which e is true, e being about one column. -1 = it cannot be found out. */
static double
asked(struct bind *b, const struct sql_expr *e)
{
	unsigned index = UINT32_MAX, nodes = 0;
	struct column c;
	if (e->type != CAT_BOOL || !speaks_of_one(e, &index, &nodes) || index == UINT32_MAX ||
	    !column_at(b, index, &c) || c.stats == NULL)
		return -1;
	if (*b->where.asked_left == 0)
		return -1;
	--*b->where.asked_left;
	const struct cat_stats *s = c.stats;
	unsigned n = s->mcvs + s->bounds + 1;
	struct cat_err ignored = { 0 };
	uint64_t left = SQL_BUDGET;
	struct sql_env env = {
		.arena = b->scratch, .err = &ignored, .go_on = sql_budget, .go_on_arg = &left
	};
	struct sql_batch in = { .cols = index + 1, .n = n };
	struct cat_vec *v, out;
	if ((s->bounds == 0 && s->mcvs == 0) ||
	    (in.col = nam_arena_zero(b->scratch, in.cols * sizeof *in.col)) == NULL ||
	    !cat_vec_take(v = &in.col[index], c.type, n, b->scratch))
		return -1;
	union cat_val nothing = { 0 };
	for (unsigned i = 0; i < s->mcvs; i++)
		cat_vec_set(v, i, s->mcv[i], false);
	for (unsigned i = 0; i < s->bounds; i++)
		cat_vec_set(v, s->mcvs + i, s->bound[i], false);
	if (cat_type_is_str(c.type))
		nothing.s = (struct cat_str){ "", 0 };
	cat_vec_set(v, n - 1, nothing, true);
	if (!sql_eval(e, &in, NULL, n, &env, &out) || left == 0)
		return -1;
	double sum = 0;
	unsigned passed = 0;
	for (unsigned i = 0; i < s->mcvs; i++)
		if (!out.null[i] && out.i[i])
			sum += s->freq[i];
	for (unsigned i = s->mcvs; i < n - 1; i++)
		passed += !out.null[i] && out.i[i];
	if (!out.null[n - 1] && out.i[n - 1])
		sum += s->null_frac;
	if (s->bounds == 0)
		return sum;
	double part = passed ? (double)passed / s->bounds : 0.5 / s->bounds;
	return sum + rest(s) * part;
}

/* column LIKE 'prefix...': by the histogram, when the values we know are too few to say. */
static double
like(struct bind *b, const struct sql_expr *e)
{
	struct column c;
	const struct sql_expr *p = e->args[1];
	double s = asked(b, e);
	if (s < 0 || p->kind != SQL_CONST || p->value.null || !column_of(b, e->args[0], &c) ||
	    c.type != CAT_TEXT || c.stats->bounds < 2 || s >= 2.0 / c.stats->bounds)
		return s < 0 ? GUESS : s;
	struct cat_str w = p->value.v.s;
	uint32_t n = 0;
	while (n < w.len && w.p[n] != '%' && w.p[n] != '_' && w.p[n] != '\\')
		n++;
	char *next = n > 0 ? nam_arena_copy(b->scratch, w.p, n) : NULL;
	if (next == NULL || (unsigned char)next[n - 1] == 0xff)
		return s;
	next[n - 1]++;
	struct cat_datum lo = { .type = CAT_TEXT, .v.s = { w.p, n } };
	struct cat_datum hi = { .type = CAT_TEXT, .v.s = { next, n } };
	double between = rest(c.stats) * (below(b, &c, &hi) - below(b, &c, &lo));
	if (n + 1 < w.len || w.p[n] != '%')
		between /= 5; /* there is more to match */
	return between > s ? between : s;
}

/* ---- any condition ---------------------------------------------------------------------- */

static double share(struct bind *b, const struct sql_expr *e, unsigned depth);

/* `column op constant` or turned around. *op: as if the column were on the left. */
static bool
comparison(struct bind *b, const struct sql_expr *e, struct column *c, const struct cat_datum **d, char *op,
    bool *or_equal)
{
	if (e->kind != SQL_CALL || e->nargs != 2 || !(e->fn->flags & SQL_FN_OP))
		return false;
	const char *name = e->fn->name;
	*op = name[0];
	*or_equal = name[1] == '=';
	if (!(strchr("<>=", name[0]) != NULL && name[0] != 0 &&
		(name[1] == 0 || strcmp(name + 1, "=") == 0 || strcmp(name, "<>") == 0)))
		return false;
	if (strcmp(name, "<>") == 0)
		*op = '!';
	for (unsigned side = 0; side < 2; side++) {
		const struct sql_expr *v = e->args[1 - side];
		if (v->rows || !column_of(b, e->args[side], c))
			continue;
		*d = v->kind == SQL_CONST ? &v->value : NULL;
		if (side == 1 && (*op == '<' || *op == '>'))
			*op = *op == '<' ? '>' : '<';
		return true;
	}
	return false;
}

static double
call(struct bind *b, const struct sql_expr *e)
{
	struct column c, o;
	const struct cat_datum *d;
	char op;
	bool or_equal;
	if (comparison(b, e, &c, &d, &op, &or_equal)) {
		if (d != NULL && d->null)
			return 0;
		double nulls = c.stats ? c.stats->null_frac : 0;
		if (op == '=')
			return equal(b, &c, d);
		if (op == '!')
			return c.stats ? 1 - nulls - equal(b, &c, d) : GUESS;
		return range(b, &c, d, op == '>', or_equal);
	}
	if ((e->fn->flags & SQL_FN_OP) && e->nargs == 2 && strcmp(e->fn->name, "~~") == 0)
		return like(b, e);
	if ((e->fn->flags & SQL_FN_OP) && e->nargs == 2 && strcmp(e->fn->name, "=") == 0 &&
	    column_of(b, e->args[0], &c) && column_of(b, e->args[1], &o) && distinct(&c) > 0 &&
	    distinct(&o) > 0)
		return 1 / fmax(distinct(&c), distinct(&o));
	double s = asked(b, e);
	return s >= 0 ? s : (e->fn->flags & SQL_FN_OP) && strcmp(e->fn->name, "=") == 0 ? GUESS_EQUAL : GUESS;
}

static double
in_list(struct bind *b, const struct sql_expr *e)
{
	struct column c;
	double sum = 0;
	if (!column_of(b, e->args[0], &c))
		return GUESS;
	if (c.stats == NULL && !c.unique && !c.leads)
		return GUESS;
	for (unsigned i = 1; i < e->nargs && i <= IN_MAX && sum < 1; i++)
		if (e->args[i]->kind != SQL_CONST || !e->args[i]->value.null)
			sum += equal(b, &c, e->args[i]->kind == SQL_CONST ? &e->args[i]->value : NULL);
	sum *=
	    /* of a long list the first ones speak */
	    e->nargs > IN_MAX + 1 ? (e->nargs - 1.0) / IN_MAX : 1;
	double all = 1 - (c.stats ? c.stats->null_frac : 0);
	return !e->negate ? fmin(sum, all) : fmax(all - sum, 0);
}

static double
share(struct bind *b, const struct sql_expr *e, unsigned depth)
{
	struct column c;
	double s = 0;
	if (depth > 50)
		return GUESS;
	switch (e->kind) {
	case SQL_CONST:
		return !e->value.null && e->value.v.i ? 1 : 0;
	case SQL_AND:
		return sql_sel_all(b, e->args, e->nargs);
	case SQL_OR:
		for (unsigned i = 0; i < e->nargs; i++) {
			double t = clamp(share(b, e->args[i], depth + 1));
			s += t - s * t;
		}
		return s;
	case SQL_NOT:
		if ((s = asked(b, e)) >= 0)
			return s;
		return 1 - share(b, e->args[0], depth + 1);
	case SQL_IS_NULL:
		if (column_of(b, e->args[0], &c) && c.stats != NULL)
			return e->negate ? 1 - c.stats->null_frac : c.stats->null_frac;
		return (s = asked(b, e)) >= 0 ? s : GUESS;
	case SQL_COLUMN:
		if (column_at(b, e->index, &c) && c.stats != NULL) {
			struct cat_datum yes = { .type = CAT_BOOL, .v.i = 1 };
			return equal(b, &c, &yes);
		}
		return 0.5;
	case SQL_IN:
		return in_list(b, e);
	case SQL_CALL:
		return call(b, e);
	default:
		return (s = asked(b, e)) >= 0 ? s : GUESS;
	}
}

double
sql_sel_all(struct bind *b, struct sql_expr *const *e, unsigned n)
{
	/* lower and upper bounds of the same column: what is between them */
	struct {
		unsigned index;
		double lo, hi, nulls;
	} pair[PAIRS];
	unsigned pairs = 0;
	double s = 1;
	for (unsigned i = 0; i < n; i++) {
		struct column c;
		const struct cat_datum *d;
		char op = 0;
		bool or_equal;
		double t = share(b, e[i], 1);
		bool bound = comparison(b, e[i], &c, &d, &op, &or_equal) && (op == '<' || op == '>');
		unsigned p = 0;
		while (bound && p < pairs && pair[p].index != c.index)
			p++;
		if (!bound || p == PAIRS) {
			s *= clamp(t);
			continue;
		}
		if (p == pairs) {
			pair[pairs].index = c.index;
			pair[pairs].lo = pair[pairs].hi = 2;
			pair[pairs++].nulls = c.stats ? c.stats->null_frac : 0;
		}
		double *side = op == '>' ? &pair[p].lo : &pair[p].hi;
		*side = t < *side ? t : *side;
	}
	for (unsigned p = 0; p < pairs; p++) {
		double lo = pair[p].lo, hi = pair[p].hi, t;
		if (lo > 1 || hi > 1)
			t = fmin(lo, hi);
		else if (lo == GUESS && hi == GUESS)
			t = lo * hi;
		else if ((t = lo + hi + pair[p].nulls - 1) <= 0)
			t = fmin(GUESS_RANGE, fmin(lo, hi));
		s *= clamp(t);
	}
	return clamp(s);
}

/* ---- joins and groups -------------------------------------------------------------------- */

double
sql_sel_distinct(struct bind *b, const struct sql_expr *e)
{
	struct column c;
	if (!e->rows)
		return 1;
	if (e->kind == SQL_COLUMN)
		return column_at(b, e->index, &c) ? distinct(&c) : 0;
	/* at most as many as what it is made of */
	double n = 1;
	for (unsigned i = 0; i < e->nargs; i++)
		n *= sql_sel_distinct(b, e->args[i]);
	return n;
}

/* Common values of both sides meet, the rest spreads evenly. */
static double
meet(struct bind *b, const struct column *l, const struct column *r, double nl, double nr)
{
	const struct cat_stats *x = l->stats, *y = r->stats;
	double both = 0, lmatch = 0, rmatch = 0;
	unsigned matches = 0;
	for (unsigned i = 0; i < x->mcvs; i++)
		for (unsigned k = 0; k < y->mcvs; k++) {
			const struct cat_datum d = { .type = r->type, .v = y->mcv[k] };
			if (order(b, l->type, x->mcv[i], &d) != 0)
				continue;
			both += x->freq[i] * y->freq[k];
			lmatch += x->freq[i];
			rmatch += y->freq[k];
			matches++;
			break;
		}
	double lalone = fmax(common(x) - lmatch, 0), ralone = fmax(common(y) - rmatch, 0);
	double lrest = rest(x), rrest = rest(y);
	double lothers = nl - x->mcvs, rothers = nr - y->mcvs;
	double s1 = both, s2 = both;
	if (rothers >= 1)
		s1 += lalone * rrest / rothers;
	if (nr - matches >= 1)
		s1 += lrest * (rrest + ralone) / (nr - matches);
	if (lothers >= 1)
		s2 += ralone * lrest / lothers;
	if (nl - matches >= 1)
		s2 += rrest * (lrest + lalone) / (nl - matches);
	return fmin(s1, s2);
}

double
sql_sel_join(struct bind *b, const struct sql_expr *l, const struct sql_expr *r)
{
	double nl = sql_sel_distinct(b, l), nr = sql_sel_distinct(b, r), rows[2] = { 0, 0 };
	struct column cl, cr;
	bool lcol = column_of(b, l, &cl), rcol = column_of(b, r, &cr);
	if (lcol && rcol && cl.stats != NULL && cr.stats != NULL && nl > 0 && nr > 0 && cl.stats->mcvs > 0 &&
	    cr.stats->mcvs > 0)
		return clamp(meet(b, &cl, &cr, nl, nr));
	double nulls = (1 - (lcol && cl.stats ? cl.stats->null_frac : 0)) *
		       (1 - (rcol && cr.stats ? cr.stats->null_frac : 0));
	unsigned tables = b->from.tables;
	/* tables that are not known: each row of the larger one finds one of the smaller one */
	for (unsigned side = 0; side < 2 && (nl <= 0 || nr <= 0); side++) {
		struct sql_set m = sql_bind_tables_of(b, side ? r : l);
		for (unsigned k = sql_set_first(&m, tables); k < tables; k = sql_set_next(&m, k, tables))
			rows[side] = fmax(rows[side], sql_sel_rows(b, k));
	}
	double n;
	if (nl > 0 && nr > 0)
		n = fmax(nl, nr);
	else if (nl > 0)
		n = fmax(nl, fmin(rows[1], DISTINCT_GUESS));
	else if (nr > 0)
		n = fmax(nr, fmin(rows[0], DISTINCT_GUESS));
	else
		n = fmin(rows[0], rows[1]);
	return clamp(nulls / fmax(n, 1));
}

/* True if e uses that column, and no other. */
static bool
speaks_of_only(const struct sql_expr *e, unsigned index, bool *any)
{
	if (e->kind == SQL_COLUMN) {
		*any = true;
		return e->index == index;
	}
	for (unsigned k = 0; k < e->nargs; k++)
		if (!speaks_of_only(e->args[k], index, any))
			return false;
	return true;
}

/* Of a column's values, the share that conditions on it alone leave. A tie to an outer row leaves
 * one for each of these, which may be all. */
static double
left_of(struct bind *b, unsigned index)
{
	double share = 1;
	for (unsigned i = 0; i < b->where.conds; i++) {
		struct sql_expr *e = b->where.cond[i].e;
		bool any = false;
		if (speaks_of_only(e, index, &any) && any && b->where.cond[i].home == 0 &&
		    !sql_bind_speaks_of_outer(e))
			share *= sql_sel_all(b, &e, 1);
	}
	return share;
}

double
sql_sel_groups(struct bind *b, struct sql_expr *const *e, unsigned n, double rows)
{
	double all = 1, of = 1, left = 1;
	bool known = true;
	for (unsigned i = 0; i < n; i++) {
		double d = sql_sel_distinct(b, e[i]);
		struct column c;
		if (column_of(b, e[i], &c))
			of = fmax(of, c.rows);
		if (d > 0 && e[i]->kind == SQL_COLUMN) {
			double share = left_of(b, e[i]->index);
			left *= share;
			d = fmax(d * share, 1);
		}
		known &= d > 0;
		/* NULLs are a group of their own: one more does not matter */
		if (d > 0)
			all = fmin(all * d, 1e15);
	}
	/* values met when so many rows of a table are drawn, or so many out of any number */
	of = fmax(of * left, 1);
	double seen = all > of     ? all * -expm1(-rows / all)
		      : rows >= of ? all
				   : all * -expm1(of / all * log1p(-rows / of));
	if (!known)
		seen = fmax(seen, rows / 4 + 1);
	return fmax(fmin(seen, rows), 1);
}
