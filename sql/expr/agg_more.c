/* agg_more.c -- the rarer aggregates: of booleans and bits, variances and deviations,
 * string_agg. */
#include <base/aside.h>
#include <sql/expr/agg_state.h>
#include <types/array.h>
#include <types/jsonb.h>

#include <math.h>
#include <string.h>

/* Variance of doubles: Youngs and Cramer's way, as PostgreSQL. */
struct spread {
	double n, sum, squares;
};

struct joined {
	char *p;
	uint32_t len, room;
	uint64_t seen;
};

_Static_assert(sizeof(struct spread) <= SQL_AGG_BYTES && sizeof(struct joined) <= SQL_AGG_BYTES, "fits");
_Static_assert(sizeof(struct cat_array_build) <= SQL_AGG_BYTES, "fits");

bool
sql_agg_more_type(enum sql_agg_kind k, enum cat_type arg, enum cat_type *out)
{
	switch (k) {
	case SQL_BOOL_AND:
	case SQL_BOOL_OR:
		*out = CAT_BOOL;
		return arg == CAT_BOOL;
	case SQL_BIT_AND:
	case SQL_BIT_OR:
	case SQL_BIT_XOR:
		*out = arg;
		return cat_type_is_int(arg);
	case SQL_ARRAY_AGG:
		*out = cat_type_array_of(arg);
		return arg != CAT_UNKNOWN;
	case SQL_JSON_AGG:
	case SQL_JSON_OBJECT_AGG:
		*out = arg;
		return arg == CAT_JSON || arg == CAT_JSONB;
	case SQL_STRING_AGG:
		*out = arg;
		return arg == CAT_TEXT || arg == CAT_BYTEA;
	case SQL_CORR:
	case SQL_COVAR_POP:
	case SQL_COVAR_SAMP:
	case SQL_REGR_AVGX:
	case SQL_REGR_AVGY:
	case SQL_REGR_COUNT:
	case SQL_REGR_INTERCEPT:
	case SQL_REGR_R2:
	case SQL_REGR_SLOPE:
	case SQL_REGR_SXX:
	case SQL_REGR_SXY:
	case SQL_REGR_SYY:
		*out = k == SQL_REGR_COUNT ? CAT_INT8 : CAT_FLOAT8;
		return arg == CAT_BYTEA;
	default:
		*out = cat_type_is_float(arg) ? CAT_FLOAT8 : CAT_NUMERIC;
		return cat_type_category(arg) == 'N' && arg != CAT_OID && !cat_type_is_reg(arg);
	}
}

static bool
spread_add(struct spread *s, double x, struct cat_err *err)
{
	double n = s->n + 1, sum = s->sum + x, squares = s->squares;
	if (s->n > 0) {
		double t = x * n - sum;
		squares += t * t / (n * s->n);
		if (isinf(sum) || isinf(squares)) {
			if (!isinf(s->sum) && !isinf(x))
				return cat_error(err, "22003", "value out of range: overflow");
			squares = NAN;
		}
	} else if (isnan(x) || isinf(x)) {
		squares = NAN;
	}
	*s = (struct spread){ n, sum, squares };
	return true;
}

static bool
sums_add(struct sql_sums **s, enum cat_type type, const struct cat_vec *arg, unsigned k,
    struct nam_arena *arena, struct nam_arena *scratch, struct cat_err *err)
{
	if (*s == NULL && (*s = nam_arena_zero(arena, sizeof **s)) == NULL)
		return sql_oom(err);
	struct cat_str square;
	if (type == CAT_NUMERIC)
		return cat_num_sum_add(&(*s)->x, arg->s[k], arena, err) &&
		       cat_num_mul(arg->s[k], arg->s[k], &square, scratch, err) &&
		       cat_num_sum_add(&(*s)->xx, square, arena, err);
	int64_t x = arg->i[k], xx;
	if (!cat_num_sum_add_int(&(*s)->x, x, arena, err))
		return false;
	if (!__builtin_mul_overflow(x, x, &xx))
		return cat_num_sum_add_int(&(*s)->xx, xx, arena, err);
	return cat_num_from_int128((__int128)x * x, 0, &square, scratch, err) &&
	       cat_num_sum_add(&(*s)->xx, square, arena, err);
}

static bool
exact_add(enum cat_type type, const struct cat_vec *arg, const uint16_t *sel, unsigned n, void *const *state,
    unsigned step, struct nam_arena *arena, struct cat_err *err)
{
	struct nam_arena scratch;
	nam_arena_init(&scratch, 16 << 10);
	bool ok = true;
	for (unsigned j = 0; j < n && ok; j++) {
		unsigned k = sel ? sel[j] : j;
		if (!arg->null[k])
			ok = sums_add(state[j & step], type, arg, k, arena, &scratch, err);
	}
	nam_arena_fini(&scratch);
	return ok;
}

static void
bits_add(enum sql_agg_kind kind, struct sql_bits *b, int64_t x)
{
	if (!b->seen)
		b->i = x;
	else if (kind == SQL_BOOL_AND || kind == SQL_BIT_AND)
		b->i &= x;
	else if (kind == SQL_BIT_XOR)
		b->i ^= x;
	else
		b->i |= x;
	b->seen = 1;
}

static bool
append(struct joined *j, struct cat_str s, struct nam_arena *arena, struct cat_err *err)
{
	if (s.len > (UINT32_C(1) << 30) - j->len)
		return cat_error(err, "54000", "out of memory: a text may have at most 1 GiB");
	if (j->len + s.len > j->room) {
		uint32_t room = (j->len + s.len) * 2 < 64 ? 64 : (j->len + s.len) * 2;
		char *p = nam_arena_take(arena, room);
		if (p == NULL)
			return sql_oom(err);
		bool went = nam_aside_for(j->len);
		if (j->len)
			memcpy(p, j->p, j->len);
		nam_aside_end(went);
		j->p = p;
		j->room = room;
	}
	if (s.len)
		memcpy(j->p + j->len, s.p, s.len);
	j->len += s.len;
	return true;
}

/* One more row of json_agg or json_object_agg. */
static bool
json_add(struct joined *j, struct cat_str s, struct nam_arena *arena, struct cat_err *err)
{
	bool line = s.len > 0 && s.p[0] == SQL_JSON_LINE;
	if (j->seen && !append(j, (struct cat_str){ ", \n ", line ? 4 : 2 }, arena, err))
		return false;
	s.p += line;
	s.len -= line;
	j->seen = 1;
	return append(j, s, arena, err);
}

bool
sql_agg_more_add(enum sql_agg_kind kind, enum cat_type type, const struct cat_vec *arg, const uint16_t *sel,
    unsigned n, void *const *state, unsigned step, struct nam_arena *arena, struct cat_err *err)
{
	bool spread = kind >= SQL_VAR_POP && kind <= SQL_STDDEV_SAMP, pair = sql_agg_is_pair(kind);
	if (spread && !cat_type_is_float(type))
		return exact_add(type, arg, sel, n, state, step, arena, err);
	for (unsigned j = 0; j < n; j++) {
		unsigned k = sel ? sel[j] : j;
		if (kind == SQL_ARRAY_AGG) {
			if (!cat_array_push(
				state[j & step], type, cat_vec_at(arg, k), arg->null[k], arena, err))
				return false;
			continue;
		}
		if (kind == SQL_JSON_AGG || kind == SQL_JSON_OBJECT_AGG) {
			if (!json_add(state[j & step], arg->s[k], arena, err))
				return false;
			continue;
		}
		if (arg->null[k])
			continue;
		if (pair && !sql_agg_pair_add(state[j & step], arg->s[k], arena, err))
			return false;
		if (pair)
			continue;
		if (!spread)
			bits_add(kind, state[j & step], arg->i[k]);
		else if (!spread_add(state[j & step], arg->f[k], err))
			return false;
	}
	return true;
}

bool
sql_agg_add_text(const struct cat_vec *text, const struct cat_vec *separator, const uint16_t *sel, unsigned n,
    void *const *state, struct nam_arena *arena, struct cat_err *err)
{
	for (unsigned r = 0; r < n; r++) {
		unsigned k = sel ? sel[r] : r;
		struct joined *j = state[r];
		if (text->null[k])
			continue;
		if (j->seen && !separator->null[k] && !append(j, separator->s[k], arena, err))
			return false;
		if (!append(j, text->s[k], arena, err))
			return false;
		j->seen = 1;
	}
	return true;
}

/* The whole text of string_agg, json_agg or json_object_agg, and of the latter two the jsonb. */
static bool
joined_result(enum sql_agg_kind kind, enum cat_type type, const struct joined *j, struct cat_datum *out,
    struct nam_arena *arena, struct cat_err *err)
{
	static const struct {
		const char *before, *behind;
	} list = { "[", "]" }, object = { "{ ", " }" }, text = { "", "" };
	const __typeof__(text) *around = kind == SQL_STRING_AGG ? &text
					 : kind == SQL_JSON_AGG ? &list
								: &object;
	uint32_t edge = (uint32_t)strlen(around->before);
	uint64_t len = j->len + UINT64_C(2) * edge;
	out->null = !j->seen;
	out->v.s = (struct cat_str){ "", 0 };
	if (out->null || len == 0)
		return true;
	char *p = nam_arena_take(arena, len);
	if (p == NULL)
		return sql_oom(err);
	bool jsonb = kind != SQL_STRING_AGG && type == CAT_JSONB;
	bool went = nam_aside_for(jsonb ? 8 * len : len);
	memcpy(p, around->before, edge);
	if (j->len > 0)
		memcpy(p + edge, j->p, j->len);
	memcpy(p + edge + j->len, around->behind, edge);
	out->v.s = (struct cat_str){ p, (uint32_t)len };
	bool ok = !jsonb || cat_jsonb_in(out->v.s, &out->v.s, arena, err);
	nam_aside_end(went);
	return ok;
}

/* (n sum(x^2) - sum(x)^2) / (n (n - 1)), or / n^2; with PostgreSQL's scales. */
static bool
exact_spread(enum sql_agg_kind kind, const struct sql_sums *s, struct cat_str *out, struct nam_arena *arena,
    struct cat_err *err)
{
	bool sample = kind == SQL_VAR_SAMP || kind == SQL_STDDEV_SAMP;
	bool root = kind == SQL_STDDEV_POP || kind == SQL_STDDEV_SAMP;
	struct cat_str sum, squares, n, m, a, c, top, bottom, var;
	if (!cat_num_sum_get(&s->x, &sum, arena, err) || !cat_num_sum_get(&s->xx, &squares, arena, err) ||
	    !cat_num_from_int((int64_t)s->x.n, &n, arena, err) ||
	    !cat_num_from_int((int64_t)s->x.n - sample, &m, arena, err))
		return false;
	if (s->x.nan || s->x.plus_inf || s->x.minus_inf)
		return cat_num_in((struct cat_str){ "NaN", 3 }, out, arena, err);
	if (!cat_num_mul(sum, sum, &a, arena, err) || !cat_num_mul(n, squares, &c, arena, err) ||
	    !cat_num_sub(c, a, &top, arena, err) || !cat_num_mul(n, m, &bottom, arena, err))
		return false;
	if (cat_num_sign(top) <= 0)
		return cat_num_from_int(0, out, arena, err);
	if (!cat_num_div(top, bottom, &var, arena, err))
		return false;
	if (root)
		return cat_num_sqrt_to(var, cat_num_scale(var), out, arena, err);
	*out = var;
	return true;
}

bool
sql_agg_more_result(enum sql_agg_kind kind, enum cat_type type, const void *state, struct cat_datum *out,
    struct nam_arena *arena, struct cat_err *err)
{
	const struct sql_bits *b = state;
	const struct joined *j = state;
	const struct cat_array_build *all = state;
	const struct spread *f = state;
	const struct sql_sums *s;
	bool sample = kind == SQL_VAR_SAMP || kind == SQL_STDDEV_SAMP;
	if (sql_agg_is_pair(kind)) {
		sql_agg_pair_result(kind, state, out);
		return true;
	}
	switch (kind) {
	case SQL_STRING_AGG:
	case SQL_JSON_AGG:
	case SQL_JSON_OBJECT_AGG:
		return joined_result(kind, type, j, out, arena, err);
	case SQL_ARRAY_AGG:
		out->null = all->n == 0;
		out->v.s = (struct cat_str){ "", 0 };
		return out->null || cat_array_make(type, 1, all->v, all->null, all->n, &out->v.s, arena, err);
	case SQL_VAR_POP:
	case SQL_VAR_SAMP:
	case SQL_STDDEV_POP:
	case SQL_STDDEV_SAMP:
		break;
	default:
		out->null = !b->seen;
		out->v.i = b->i;
		return true;
	}
	if (cat_type_is_float(type)) {
		out->null = f->n <= sample;
		if (out->null)
			return true;
		double v = f->squares / (f->n - sample);
		out->v.f = kind == SQL_STDDEV_POP || kind == SQL_STDDEV_SAMP ? sqrt(v) : v;
		return true;
	}
	memcpy(&s, state, sizeof s);
	out->v.s = (struct cat_str){ "", 0 };
	out->null = s == NULL || s->x.n <= sample;
	return out->null || exact_spread(kind, s, &out->v.s, arena, err);
}
