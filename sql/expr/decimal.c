/*
 * decimal.c -- numerics of a batch as integers over one power of ten, where they are so.
 *
 * Columns of numeric(p, s) hold values of one scale. Sums, differences and products of such
 * columns, comparisons of them, and sums over them need no byte of a numeric's form. Whatever does
 * not fit (a NaN, another scale, more than 63 bits) makes the caller evaluate as always, so an
 * answer, its scale included, and an error are those of the other way.
 */
#include <sql/expr/functions.h>
#include <types/numeric.h>

#include <string.h>

enum { SCALE_MAX = 18, KIND_NEGATIVE = 0x4000, KIND_MASK = 0xbfff };

static const int64_t power[SCALE_MAX + 1] = { 1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000,
	1000000000, 10000000000, 100000000000, 1000000000000, 10000000000000, 100000000000000,
	1000000000000000, 10000000000000000, 100000000000000000, 1000000000000000000 };

struct rows {
	const struct sql_batch *b;
	const uint16_t *sel;
	unsigned n;
	const struct sql_env *env;
	struct sql_decimals *memo; /* NULL = none */
};

static uint64_t
magnitude(const char *p, uint32_t len)
{
	uint32_t lo = 0, hi = 0;
	uint16_t a, b;
	if (len >= 4) {
		memcpy(&lo, p, 4);
		memcpy(&hi, p + len - 4, 4);
		return lo | (uint64_t)hi << 8 * (len - 4); /* bytes that are in both are equal */
	}
	if (len >= 2) {
		memcpy(&a, p, 2);
		memcpy(&b, p + len - 2, 2);
		return a | (uint32_t)b << 8 * (len - 2);
	}
	return len == 1 ? (uint8_t)*p : 0;
}

/* A numeric's head and value. False: it is special, or longer than 63 bits. */
static inline bool
take_apart(struct cat_str s, unsigned *scale, int64_t *v)
{
	uint16_t head;
	if (s.len < 2 || s.len > 10)
		return false;
	memcpy(&head, s.p, 2);
	uint64_t m = magnitude(s.p + 2, s.len - 2);
	if ((head & 0x8000) != 0 || m >> 63 != 0)
		return false;
	*scale = head & KIND_MASK;
	*v = (head & KIND_NEGATIVE) != 0 ? -(int64_t)m : (int64_t)m;
	return true;
}

static bool
room(const struct rows *r, struct sql_decimal *out)
{
	unsigned n = r->sel == NULL ? r->n : r->b->n;
	out->v = nam_arena_take(r->env->arena, n * sizeof *out->v);
	out->null = nam_arena_take(r->env->arena, n);
	out->mask = ~0u;
	return out->v != NULL && out->null != NULL;
}

static bool
load(const struct cat_vec *c, const struct rows *r, struct sql_decimal *out)
{
	unsigned scale, first = SCALE_MAX + 1;
	bool ok = room(r, out);
	uint8_t *null = out->null;
	if (!ok)
		return false;
	for (unsigned j = 0; j < r->n; j++) {
		unsigned k = r->sel ? r->sel[j] : j;
		null[k] = c->null[k];
		out->v[k] = 0;
		if (null[k])
			continue;
		if (!take_apart(c->s[k], &scale, &out->v[k]))
			return false;
		if (scale != first) {
			if (first <= SCALE_MAX || scale > SCALE_MAX)
				return false;
			first = scale;
		}
	}
	out->scale = first <= SCALE_MAX ? first : 0;
	return first <= SCALE_MAX; /* NULLs alone have no scale */
}

static bool decimal(const struct sql_expr *e, const struct rows *r, struct sql_decimal *out);

/* Integers as numerics. */
static bool
from_ints(const struct sql_expr *e, const struct rows *r, struct sql_decimal *out)
{
	struct cat_vec v;
	if (e->kind != SQL_COLUMN)
		return false;
	v = r->b->col[e->index];
	*out = (struct sql_decimal){ .v = v.i, .null = v.null, .mask = ~0u, .scale = 0 };
	return true;
}

/* Both to one scale. */
static bool
rescale(const struct rows *r, struct sql_decimal *d, unsigned scale)
{
	struct sql_decimal to = { .scale = scale };
	int64_t by = power[scale - d->scale];
	bool lost = false;
	if (d->mask == 0) {
		d->scale = scale;
		return !__builtin_mul_overflow(d->one, by, &d->one);
	}
	if (!room(r, &to))
		return false;
	SQL_EACH(r, lost |= __builtin_mul_overflow(d->v[k], by, &to.v[k]));
	to.null = d->null;
	*d = to;
	return !lost;
}

static bool
arithmetic(enum sql_decimal_op op, struct sql_decimal *x, struct sql_decimal *y, const struct rows *r,
    struct sql_decimal *out)
{
	unsigned scale = x->scale > y->scale ? x->scale : y->scale;
	bool lost = false;
	if (op == SQL_DECIMAL_MUL)
		scale = x->scale + y->scale;
	if (scale > SCALE_MAX || !room(r, out))
		return false;
	if (op != SQL_DECIMAL_MUL &&
	    ((x->scale < scale && !rescale(r, x, scale)) || (y->scale < scale && !rescale(r, y, scale))))
		return false;
	const int64_t *a = x->mask != 0 ? x->v : &x->one, *b = y->mask != 0 ? y->v : &y->one;
	const uint8_t none = 0, *an = x->mask != 0 ? x->null : &none, *bn = y->mask != 0 ? y->null : &none;
	unsigned am = x->mask, bm = y->mask;
	int64_t *v = out->v;
	/* An overflow in a NULL row is a needless way back, and no more. */
	if (op == SQL_DECIMAL_MUL)
		SQL_EACH(r, lost |= __builtin_mul_overflow(a[k & am], b[k & bm], &v[k]));
	else if (op == SQL_DECIMAL_ADD)
		SQL_EACH(r, lost |= __builtin_add_overflow(a[k & am], b[k & bm], &v[k]));
	else
		SQL_EACH(r, lost |= __builtin_sub_overflow(a[k & am], b[k & bm], &v[k]));
	SQL_EACH(r, out->null[k] = an[k & am] | bn[k & bm]);
	out->scale = scale;
	return !lost;
}

static bool
call(const struct sql_expr *e, const struct rows *r, struct sql_decimal *out)
{
	struct sql_decimal x, y;
	enum sql_decimal_op op = sql_decimal_op_of(e->fn);
	if (op == SQL_DECIMAL_INT)
		return from_ints(e->args[0], r, out);
	if (op == SQL_DECIMAL_NONE || e->nargs != 2)
		return false;
	return decimal(e->args[0], r, &x) && decimal(e->args[1], r, &y) && arithmetic(op, &x, &y, r, out);
}

static bool
constant(const struct sql_expr *e, struct sql_decimal *out)
{
	unsigned scale;
	if (e->kind != SQL_CONST || e->value.null || !take_apart(e->value.v.s, &scale, &out->one) ||
	    scale > SCALE_MAX)
		return false;
	out->scale = scale;
	out->mask = 0;
	return true;
}

/* They certainly have the same value in every row. */
static bool
same(const struct sql_expr *a, const struct sql_expr *b)
{
	if (a == b)
		return true;
	if (a->kind != b->kind || a->type != b->type)
		return false;
	if (a->kind == SQL_COLUMN)
		return a->index == b->index;
	if (a->kind == SQL_CONST)
		return !a->value.null && !b->value.null && cat_type_is_str(a->type) &&
		       a->value.v.s.len == b->value.v.s.len &&
		       memcmp(a->value.v.s.p, b->value.v.s.p, a->value.v.s.len) == 0;
	if (a->kind != SQL_CALL || a->fn != b->fn || a->nargs != b->nargs ||
	    sql_decimal_op_of(a->fn) == SQL_DECIMAL_NONE)
		return false;
	for (unsigned i = 0; i < a->nargs; i++)
		if (!same(a->args[i], b->args[i]))
			return false;
	return true;
}

/* e's value in the batch, if it has been asked for before. */
static struct sql_decimal_kept *
remembered(const struct sql_expr *e, const struct rows *r)
{
	for (unsigned i = 0; r->memo != NULL && i < r->memo->n; i++)
		if (same(r->memo->kept[i].e, e))
			return &r->memo->kept[i];
	return NULL;
}

static bool
decimal(const struct sql_expr *e, const struct rows *r, struct sql_decimal *out)
{
	if (e->type != CAT_NUMERIC)
		return false;
	if (!e->rows)
		return constant(e, out);
	const struct sql_decimal_kept *k = remembered(e, r);
	if (k != NULL) {
		*out = k->d;
		return k->is;
	}
	bool ok = e->kind == SQL_COLUMN ? load(&r->b->col[e->index], r, out)
		  : e->kind == SQL_CALL ? call(e, r, out)
					: false;
	if (r->memo != NULL && r->memo->n < SQL_DECIMALS)
		r->memo->kept[r->memo->n++] = (struct sql_decimal_kept){ e, ok, *out };
	return ok;
}

bool
sql_decimal(const struct sql_expr *e, const struct sql_batch *b, const uint16_t *sel, unsigned n,
    const struct sql_env *env, struct sql_decimals *memo, struct sql_decimal *out)
{
	const struct rows r = { b, sel, n, env, memo };
	return e->rows && n > 0 && decimal(e, &r, out);
}

bool
sql_decimal_compare(const struct sql_expr *e, const struct sql_batch *b, const uint16_t *sel, unsigned n,
    const struct sql_env *env, struct cat_vec *out)
{
	const struct rows r = { b, sel, n, env, NULL };
	enum sql_decimal_test test = sql_decimal_test_of(e->fn);
	struct sql_decimal x, y;
	if (test == SQL_DECIMAL_NO_TEST || n == 0 || !decimal(e->args[0], &r, &x) ||
	    !decimal(e->args[1], &r, &y))
		return false;
	unsigned scale = x.scale > y.scale ? x.scale : y.scale;
	if ((x.scale < scale && !rescale(&r, &x, scale)) || (y.scale < scale && !rescale(&r, &y, scale)) ||
	    !cat_vec_take(out, CAT_BOOL, sel == NULL ? n : b->n, env->arena))
		return false;
	const int64_t *u = x.mask != 0 ? x.v : &x.one, *w = y.mask != 0 ? y.v : &y.one;
	const uint8_t none = 0, *un = x.mask != 0 ? x.null : &none, *wn = y.mask != 0 ? y.null : &none;
	unsigned um = x.mask, wm = y.mask;
	/* As a sign and what is asked of it: one loop for all tests. */
	bool less = test == SQL_DECIMAL_LT || test == SQL_DECIMAL_LE || test == SQL_DECIMAL_NE;
	bool equal = test == SQL_DECIMAL_EQ || test == SQL_DECIMAL_LE || test == SQL_DECIMAL_GE;
	bool more = test == SQL_DECIMAL_GT || test == SQL_DECIMAL_GE || test == SQL_DECIMAL_NE;
	SQL_EACH(&r, int64_t p = u[k & um]; int64_t q = w[k & wm];
		 out->i[k] = (less & (p < q)) | (equal & (p == q)) | (more & (p > q));
		 out->null[k] = un[k & um] | wn[k & wm]);
	return true;
}

bool
sql_agg_add_decimal(const struct sql_decimal *d, const uint16_t *sel, unsigned n, void *const *state,
    struct nam_arena *arena, struct cat_err *err)
{
	for (unsigned j = 0; j < n; j++) {
		unsigned k = sel ? sel[j] : j;
		if (!d->null[k] && !cat_num_sum_add_scaled(state[j], d->v[k], d->scale, arena, err))
			return false;
	}
	return true;
}

bool
sql_agg_add_decimal_all(const struct sql_decimal *d, const uint16_t *sel, unsigned n, void *state,
    struct nam_arena *arena, struct cat_err *err)
{
	__int128 sum = 0; /* of at most CAT_BATCH values of 63 bits */
	uint64_t seen = 0;
	for (unsigned j = 0; j < n; j++) {
		unsigned k = sel ? sel[j] : j;
		int64_t keep = -(int64_t)(d->null[k] == 0);
		seen -= (uint64_t)keep;
		sum += d->v[k] & keep;
	}
	const struct cat_num_sum x = { .lo = (uint64_t)sum,
		.hi = (uint64_t)((unsigned __int128)sum >> 64),
		.n = seen,
		.scale = d->scale };
	return cat_num_sum_merge(state, &x, arena, err);
}
