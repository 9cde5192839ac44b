/* agg.c -- count, sum, avg, min, max: 32 bytes of state a group. */
#include <base/assert.h>
#include <sql/compat/postgres.h>
#include <sql/expr/agg_state.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *name;
	enum sql_agg_kind kind;
} aggregates[] = { { "count", SQL_COUNT }, { "sum", SQL_SUM }, { "avg", SQL_AVG }, { "min", SQL_MIN },
	{ "max", SQL_MAX }, { "bool_and", SQL_BOOL_AND }, { "every", SQL_BOOL_AND },
	{ "bool_or", SQL_BOOL_OR }, { "bit_and", SQL_BIT_AND }, { "bit_or", SQL_BIT_OR },
	{ "bit_xor", SQL_BIT_XOR }, { "var_pop", SQL_VAR_POP }, { "var_samp", SQL_VAR_SAMP },
	{ "variance", SQL_VAR_SAMP }, { "stddev_pop", SQL_STDDEV_POP }, { "stddev_samp", SQL_STDDEV_SAMP },
	{ "stddev", SQL_STDDEV_SAMP }, { "string_agg", SQL_STRING_AGG }, { "array_agg", SQL_ARRAY_AGG },
	{ "json_agg", SQL_JSON_AGG }, { "jsonb_agg", SQL_JSON_AGG },
	{ "jsonb_object_agg", SQL_JSON_OBJECT_AGG }, { "json_object_agg", SQL_JSON_OBJECT_AGG },
	{ "corr", SQL_CORR }, { "covar_pop", SQL_COVAR_POP }, { "covar_samp", SQL_COVAR_SAMP },
	{ "regr_avgx", SQL_REGR_AVGX }, { "regr_avgy", SQL_REGR_AVGY }, { "regr_count", SQL_REGR_COUNT },
	{ "regr_intercept", SQL_REGR_INTERCEPT }, { "regr_r2", SQL_REGR_R2 },
	{ "regr_slope", SQL_REGR_SLOPE }, { "regr_sxx", SQL_REGR_SXX }, { "regr_sxy", SQL_REGR_SXY },
	{ "regr_syy", SQL_REGR_SYY } };

bool
sql_agg_find(const char *name, enum sql_agg_kind *out)
{
	for (unsigned k = 0; k < sizeof aggregates / sizeof *aggregates; k++) {
		if (strcmp(name, aggregates[k].name) == 0) {
			*out = aggregates[k].kind;
			return true;
		}
	}
	return false;
}

const char *
sql_agg_name(unsigned k)
{
	return k < sizeof aggregates / sizeof *aggregates ? aggregates[k].name : NULL;
}

static bool
small_int(enum cat_type t)
{
	return t == CAT_INT4 || t == CAT_INT2;
}

bool
sql_agg_type(enum sql_agg_kind k, enum cat_type arg, enum cat_type *out, int position, struct cat_err *err)
{
	static const char *const name[] = { "count", "count", "sum", "avg", "min", "max", "bool_and",
		"bool_or", "bit_and", "bit_or", "bit_xor", "var_pop", "var_samp", "stddev_pop", "stddev_samp",
		"string_agg", "array_agg", "json_agg", "json_object_agg", "corr", "covar_pop", "covar_samp",
		"regr_avgx", "regr_avgy", "regr_count", "regr_intercept", "regr_r2", "regr_slope", "regr_sxx",
		"regr_sxy", "regr_syy" };
	bool number = cat_type_category(arg) == 'N' && arg != CAT_OID && !cat_type_is_reg(arg);
	if (k == SQL_COUNT || k == SQL_COUNT_STAR) {
		*out = CAT_INT8;
		return true;
	}
	if ((k == SQL_SUM || k == SQL_AVG) && number) {
		*out = arg == CAT_FLOAT4 && k == SQL_SUM ? CAT_FLOAT4
		       : cat_type_is_float(arg)          ? CAT_FLOAT8
		       : small_int(arg) && k == SQL_SUM  ? CAT_INT8
							 : CAT_NUMERIC;
		return true;
	}
	if ((k == SQL_SUM || k == SQL_AVG) && arg == CAT_INTERVAL) {
		*out = arg;
		return true;
	}
	if ((k == SQL_MIN || k == SQL_MAX) && arg != CAT_BOOL && cat_type_category(arg) != 'U' &&
	    cat_type_is_ordered(arg)) {
		*out = arg == CAT_UNKNOWN ? CAT_TEXT : arg;
		return true;
	}
	if (k == SQL_ARRAY_AGG && cat_type_is_array(arg)) {
		cat_error(err, "0A000", "arrays of more than one dimension are not supported yet");
		err->position = position;
		return false;
	}
	if (k > SQL_MAX && sql_agg_more_type(k, arg, out))
		return true;
	bool several = arg == CAT_UNKNOWN && k != SQL_BOOL_AND && k != SQL_BOOL_OR;
	return sql_no_function(err, name[k], &arg, 1, several, position);
}

static bool
range8(struct cat_err *err)
{
	return cat_error(err, "22003", "bigint out of range");
}

/* An infinity that no argument brought. */
static bool
overflow(double sum, double was, double x)
{
	return isinf(sum) && !isinf(was) && !isinf(x);
}

static bool
float_over(struct cat_err *err)
{
	return cat_error(err, "22003", "value out of range: overflow");
}

static bool
best_text(struct sql_best *b, struct cat_str s, struct nam_arena *arena, struct cat_err *err)
{
	if (!b->seen || s.len > b->room) {
		uint32_t room = s.len < 16 ? 16 : s.len + s.len / 2;
		b->p = nam_arena_take(arena, room);
		if (b->p == NULL) {
			b->seen = 0;
			return sql_oom(err);
		}
		b->room = room;
	}
	memcpy(b->p, s.p, s.len);
	b->len = s.len;
	b->seen = 1;
	return true;
}

bool
sql_better_str(enum cat_type type, struct sql_best *b, struct cat_str s, int sign, struct nam_arena *arena,
    struct cat_err *err)
{
	union cat_val x = { .s = s }, y = { .s = { b->p, b->len } };
	if (b->seen && cat_value_cmp(type, x, y) * sign <= 0)
		return true;
	return best_text(b, s, arena, err);
}

static inline bool
float_less(double x, double y)
{
	return !(x != x) && ((x < y) | (y != y)); /* NaN is greatest */
}

bool
sql_float_less(double x, double y)
{
	return float_less(x, y);
}

/* Every row that is not NULL: k is the row, p the state. */
#define ROWS(BODY)                                                                                           \
	for (unsigned j = 0; j < n; j++) {                                                                   \
		unsigned k = sel ? sel[j] : j;                                                               \
		if (arg->null[k])                                                                            \
			continue;                                                                            \
		void *p = state[j & step];                                                                   \
		BODY;                                                                                        \
	}

/* state[j & step]: step ~0 for a state each, 0 when all rows share state[0]. */
static bool
add(enum sql_agg_kind kind, enum cat_type type, const struct cat_vec *arg, const uint16_t *sel, unsigned n,
    void *const *state, unsigned step, struct nam_arena *arena, struct cat_err *err)
{
	switch (kind) {
	case SQL_COUNT_STAR:
		if (step == 0)
			((struct sql_tally *)state[0])->n += n;
		else
			for (unsigned j = 0; j < n; j++)
				((struct sql_tally *)state[j])->n++;
		return true;
	case SQL_COUNT:
		ROWS(((struct sql_tally *)p)->n++);
		return true;
	case SQL_SUM:
	case SQL_AVG:
		if (small_int(type) && kind == SQL_SUM) {
			ROWS(struct sql_tally *t = p; t->n++;
			     if (__builtin_add_overflow(t->i, arg->i[k], &t->i)) return range8(err));
		} else if (type == CAT_INTERVAL) {
			ROWS(struct sql_spans *v = p; v->n++;
			     if (!cat_interval_add(
				     v->sum, cat_interval_load(arg->s[k]), &v->sum, err)) return false);
		} else if (cat_type_is_int(type)) {
			ROWS(if (!cat_num_sum_add_int(p, arg->i[k], arena, err)) return false);
		} else if (type == CAT_FLOAT4 && kind == SQL_SUM) {
			/* PostgreSQL adds reals as reals */
			ROWS(struct sql_tally *t = p; double was = t->f; t->n++;
			     t->f = (double)(float)(t->f + arg->f[k]);
			     if (overflow(t->f, was, arg->f[k])) return float_over(err));
		} else if (cat_type_is_float(type)) {
			ROWS(struct sql_tally *t = p; double was = t->f; t->n++; t->f += arg->f[k];
			     if (overflow(t->f, was, arg->f[k])) return float_over(err));
		} else {
			ROWS(if (!cat_num_sum_add(p, arg->s[k], arena, err)) return false);
		}
		return true;
	case SQL_MIN:
	case SQL_MAX:
		break;
	default:
		return sql_agg_more_add(kind, type, arg, sel, n, state, step, arena, err);
	}
	int sign = kind == SQL_MAX ? 1 : -1;
	if (cat_type_is_str(type))
		ROWS(if (!sql_better_str(type, p, arg->s[k], sign, arena, err)) return false)
	else if (cat_type_is_float(type))
		ROWS(struct sql_best *b = p; double x = arg->f[k];
		     if (!b->seen || (sign > 0 ? float_less(b->f, x) : float_less(x, b->f))) {
			     b->f = x;
			     b->seen = 1;
		     })
	else
		ROWS(struct sql_best *b = p; int64_t x = arg->i[k];
		     if (!b->seen || (sign > 0 ? x > b->i : x < b->i)) {
			     b->i = x;
			     b->seen = 1;
		     })
	return true;
}

bool
sql_agg_add(enum sql_agg_kind kind, enum cat_type type, const struct cat_vec *arg, const uint16_t *sel,
    unsigned n, void *const *state, struct nam_arena *arena, struct cat_err *err)
{
	NAM_ASSERT(arg != NULL || kind == SQL_COUNT_STAR);
	return add(kind, type, arg, sel, n, state, ~0u, arena, err);
}

/* Sums of a few rows of integers, without a look at the state for each. */
static bool
add_ints(const struct cat_vec *arg, const uint16_t *sel, unsigned n, __int128 *sum, uint64_t *count)
{
	int64_t lo = 0, seen = 0;
	__int128 all = 0;
	for (unsigned j = 0; j < n; j++) {
		unsigned k = sel ? sel[j] : j;
		int64_t keep = -(int64_t)(arg->null[k] == 0);
		seen -= keep;
		if (__builtin_add_overflow(lo, arg->i[k] & keep, &lo)) {
			/* lo holds the wrapped sum: what is lost is 2^64, with the sign of the
			 * addend */
			all += arg->i[k] < 0 ? -((__int128)1 << 64) : (__int128)1 << 64;
		}
	}
	*sum = all + lo;
	*count = (uint64_t)seen;
	return seen > 0;
}

bool
sql_agg_add_all(enum sql_agg_kind kind, enum cat_type type, const struct cat_vec *arg, const uint16_t *sel,
    unsigned n, void *state, struct nam_arena *arena, struct cat_err *err)
{
	NAM_ASSERT(arg != NULL || kind == SQL_COUNT_STAR);
	__int128 sum;
	uint64_t count;
	if ((kind == SQL_SUM || kind == SQL_AVG) && cat_type_is_int(type)) {
		if (!add_ints(arg, sel, n, &sum, &count))
			return true;
		if (small_int(type) && kind == SQL_SUM) {
			struct sql_tally *t = state;
			t->n += (int64_t)count;
			return __builtin_add_overflow(t->i, (int64_t)sum, &t->i) ? range8(err) : true;
		}
		struct cat_num_sum *s = state;
		__int128 was = (__int128)((unsigned __int128)s->hi << 64 | s->lo), now;
		if (!__builtin_add_overflow(was, sum, &now)) { /* 2^63 rows of the largest int8
							        * fit */
			s->lo = (uint64_t)now;
			s->hi = (uint64_t)((unsigned __int128)now >> 64);
			s->n += count;
			return true;
		}
	}
	return add(kind, type, arg, sel, n, &state, 0, arena, err);
}

bool
sql_agg_result(enum sql_agg_kind kind, enum cat_type type, const void *state, struct cat_datum *out,
    struct nam_arena *arena, struct cat_err *err)
{
	const struct sql_tally *t = state;
	const struct cat_num_sum *s = state;
	const struct sql_best *b = state;
	enum cat_type ret;
	if (!sql_agg_type(kind, type, &ret, 0, err))
		return false;
	*out = (struct cat_datum){ .type = ret };
	switch (kind) {
	case SQL_COUNT_STAR:
	case SQL_COUNT:
		out->v.i = t->n;
		return true;
	case SQL_SUM:
	case SQL_AVG:
		if (cat_type_is_float(type) || (small_int(type) && kind == SQL_SUM)) {
			out->null = t->n == 0;
			if (cat_type_is_float(type))
				out->v.f = kind == SQL_AVG ? t->f / (double)t->n : t->f;
			else
				out->v.i = t->i;
			return true;
		}
		if (type == CAT_INTERVAL) {
			const struct sql_spans *v = state;
			struct cat_interval x = v->sum;
			out->null = v->n == 0;
			out->v.s = (struct cat_str){ "", 0 };
			if (out->null)
				return true;
			return (kind == SQL_SUM || cat_interval_scale(x, (double)v->n, true, &x, err)) &&
			       cat_interval_store(x, &out->v.s, arena, err);
		}
		out->null = s->n == 0;
		out->v.s = (struct cat_str){ "", 0 };
		if (out->null)
			return true;
		struct cat_str sum, count;
		if (!cat_num_sum_get(s, &sum, arena, err))
			return false;
		out->v.s = sum;
		if (kind == SQL_SUM)
			return true;
		return cat_num_from_int((int64_t)s->n, &count, arena, err) &&
		       cat_num_div(sum, count, &out->v.s, arena, err);
	case SQL_MIN:
	case SQL_MAX:
		break;
	default:
		return sql_agg_more_result(kind, type, state, out, arena, err);
	}
	out->null = !b->seen;
	if (cat_type_is_str(type)) {
		out->v.s = (struct cat_str){ "", 0 };
		if (b->seen) {
			const char *p = nam_arena_copy(arena, b->p, b->len);
			if (p == NULL)
				return sql_oom(err);
			out->v.s = (struct cat_str){ p, b->len };
		}
	} else {
		out->v.i = b->i;
	}
	return true;
}
