/* cast.c -- conversions between types: which there are, at which level, and how each is
 * computed. */
#include <sql/expr/func/array.h>
#include <sql/expr/func/json.h>
#include <types/datetime.h>
#include <types/enum.h>
#include <types/interval.h>
#include <types/numeric.h>

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static bool
int_to_float(struct sql_frame *f)
{
	const int64_t *x = f->arg[0].i;
	double *o = f->out->f;
	SQL_EACH(f, o[k] = (double)x[k]);
	return true;
}

static bool
int8_to_int4(struct sql_frame *f)
{
	const int64_t *x = f->arg[0].i;
	const uint8_t *null = f->out->null;
	int64_t *o = f->out->i, bad = 0;
	SQL_EACH(f, o[k] = x[k]; bad |= (int)(x[k] != (int32_t)x[k]) & !null[k]);
	return bad ? cat_error(f->env->err, "22003", "integer out of range") : true;
}

static bool
int_to_numeric(struct sql_row *r)
{
	return cat_num_from_int(r->a[0].i, &r->out.s, r->env->arena, r->env->err);
}

static bool
float_to_numeric(struct sql_row *r)
{
	return cat_num_from_double(r->a[0].f, &r->out.s, r->env->arena, r->env->err);
}

static bool
numeric_to_float(struct sql_row *r)
{
	return cat_num_to_double(r->a[0].s, &r->out.f, r->env->arena, r->env->err);
}

static bool
numeric_to_int(struct sql_row *r)
{
	return cat_num_to_int(r->a[0].s, r->e->type, &r->out.i, r->env->err);
}

static bool
float_to_int(struct sql_row *r)
{
	double x = rint(r->a[0].f); /* half to even, as PostgreSQL */
	double end = r->e->type == CAT_INT2 ? 0x1p15 : r->e->type == CAT_INT4 ? 0x1p31 : 0x1p63;
	if (!(x >= -end && x < end))
		return cat_error(r->env->err, "22003", "%s out of range", cat_type_name(r->e->type));
	r->out.i = (int64_t)x;
	return true;
}

static bool
int_to_int2(struct sql_row *r)
{
	r->out = r->a[0];
	return cat_int_fits(CAT_INT2, r->out.i) || cat_error(r->env->err, "22003", "smallint out of range");
}

static bool
int_to_real(struct sql_row *r)
{
	r->out.f = (double)(float)r->a[0].i;
	return true;
}

/* x was, and should be a float: not by becoming zero or infinite. */
static bool
real_of(double x, union cat_val *out, struct cat_err *err)
{
	out->f = (double)(float)x;
	if (isinf(out->f) && !isinf(x))
		return cat_error(err, "22003", "value out of range: overflow");
	return out->f != 0 || x == 0 || cat_error(err, "22003", "value out of range: underflow");
}

static bool
float_to_real(struct sql_row *r)
{
	return real_of(r->a[0].f, &r->out, r->env->err);
}

static bool
numeric_to_real(struct sql_row *r)
{
	struct cat_str s = cat_num_out(r->a[0].s, r->env->arena);
	return s.len == 0 ? sql_oom(r->env->err)
			  : cat_value_in(CAT_FLOAT4, -1, s, &r->out, r->env->arena, r->env->err);
}

/* The six digits that any real has. */
static bool
real_to_numeric(struct sql_row *r)
{
	char t[32];
	if (!isfinite(r->a[0].f))
		return cat_num_from_double(r->a[0].f, &r->out.s, r->env->arena, r->env->err);
	int n = snprintf(t, sizeof t, "%.6g", r->a[0].f);
	return cat_num_in((struct cat_str){ t, (uint32_t)n }, &r->out.s, r->env->arena, r->env->err);
}

static bool
bpchar_to_text(struct sql_row *r)
{
	return cat_value_canonical(CAT_BPCHAR, r->a[0].s, &r->out.s, r->env->arena);
}

static bool
char_to_text(struct sql_row *r)
{
	return cat_char_to_text(r->a[0].s, &r->out.s, r->env->arena) || sql_oom(r->env->err);
}

static bool
text_to_char(struct sql_row *r)
{
	r->out.s = cat_char_from_text(r->a[0].s);
	return true;
}

static bool
char_to_int(struct sql_row *r)
{
	r->out.i = r->a[0].s.len > 0 ? (int8_t)r->a[0].s.p[0] : 0;
	return true;
}

static bool
int_to_char(struct sql_row *r)
{
	if (r->a[0].i < INT8_MIN || r->a[0].i > INT8_MAX)
		return cat_error(r->env->err, "22003", "\"char\" out of range");
	r->out.s = cat_char_of((unsigned char)r->a[0].i);
	return true;
}

static bool
int_to_bool(struct sql_row *r)
{
	r->out.i = r->a[0].i != 0;
	return true;
}

static bool
bool_to_text(struct sql_row *r)
{
	r->out.s = r->a[0].i ? (struct cat_str){ "true", 4 } : (struct cat_str){ "false", 5 };
	return true;
}

static bool
to_text(struct sql_row *r)
{
	r->out.s = sql_value_text(r->env, r->e->args[0]->type, r->a[0]);
	if (cat_type_is_enum(r->e->args[0]->type)) /* a label may be empty */
		return cat_enum_has(r->e->args[0]->type, r->a[0].i) ||
		       cat_error(r->env->err, "XX000", "a value of enum %s has no label",
			   cat_type_name(r->e->args[0]->type));
	return r->out.s.len > 0 || sql_oom(r->env->err); /* no value but a text is written as
							  * nothing */
}

/* True if the text says now, today, tomorrow or yesterday, maybe beside a time or a zone. */
static bool
asks_clock(enum cat_type type, struct cat_str s)
{
	int64_t out;
	bool clock = false;
	struct cat_err ignored;
	if (type == CAT_DATE || type == CAT_TIMESTAMP || type == CAT_TIMESTAMPTZ || type == CAT_TIME)
		cat_moment_in(type, s, NULL, &out, &clock, &ignored);
	return clock;
}

static bool
from_text(struct sql_row *r)
{
	struct cat_str s = r->a[0].s;
	bool clock;
	if (!asks_clock(r->e->type, s))
		return cat_value_in(r->e->type, -1, s, &r->out, r->env->arena, r->env->err);
	if (r->env->session == NULL) /* while constants are folded: it is no constant */
		return cat_error(r->env->err, "22007", "no clock for \"%.*s\"", (int)s.len, s.p);
	int64_t now = sql_env_now(r->env);
	return cat_moment_in(r->e->type, s, &now, &r->out.i, &clock, r->env->err);
}

/* 'today' as a literal: what it is depends on when it is asked. */
static const struct sql_fn fn_moment = {
	.name = "cast", .nargs = 1, .flags = SQL_FN_VOLATILE, .row = from_text
};

static bool
text_to_reg(struct sql_row *r)
{
	return sql_ask(r, SQL_ASK_REG_FIND);
}

static const struct sql_fn fn_text_to_reg = {
	.name = "cast", .nargs = 1, .flags = SQL_FN_VOLATILE, .row = text_to_reg
};

struct sql_expr *
sql_reg_literal(struct nam_arena *a, struct sql_expr *e, enum cat_type to, struct cat_err *err)
{
	struct sql_expr *text = e;
	if (e->kind == SQL_PARAM) {
		e->type = CAT_TEXT;
		e->told = to;
	} else {
		text =
		    sql_expr_const(a, (struct cat_datum){ .type = CAT_TEXT, .v = e->value.v }, e->position);
	}
	struct sql_expr *c = text ? sql_expr_call(a, &fn_text_to_reg, &text, 1, e->position, err) : NULL;
	if (c != NULL)
		c->type = to;
	return c;
}

struct sql_expr *
sql_reg_text(struct sql_expr *e)
{
	return e->kind == SQL_CALL && e->fn == &fn_text_to_reg && e->args[0]->type == CAT_TEXT ? e->args[0]
											       : e;
}

struct sql_expr *
sql_moment(struct nam_arena *a, struct sql_expr *e, enum cat_type to, struct cat_err *err)
{
	if (!asks_clock(to, e->value.v.s))
		return NULL;
	struct sql_expr *text =
	    sql_expr_const(a, (struct cat_datum){ .type = CAT_TEXT, .v = e->value.v }, e->position);
	struct sql_expr *c = text ? sql_expr_call(a, &fn_moment, &text, 1, e->position, err) : NULL;
	if (c != NULL)
		c->type = to;
	return c;
}

static bool
date_to_timestamp(struct sql_row *r)
{
	return cat_date_to_timestamp(r->a[0].i, &r->out.i, r->env->err);
}

static bool
timestamp_to_date(struct sql_row *r)
{
	r->out.i = cat_timestamp_to_date(r->a[0].i);
	return true;
}

static bool
timestamp_to_time(struct sql_row *r)
{
	int64_t day = cat_timestamp_to_date(r->a[0].i);
	r->out_null = cat_time_infinite(day);
	r->out.i = r->out_null ? 0 : r->a[0].i - day * CAT_US_PER_DAY;
	return true;
}

static bool
time_to_interval(struct sql_row *r)
{
	struct cat_interval v = { .us = r->a[0].i };
	return cat_interval_store(v, &r->out.s, r->env->arena, r->env->err);
}

static bool
interval_to_time(struct sql_row *r)
{
	int64_t us = cat_interval_load(r->a[0].s).us % CAT_US_PER_DAY;
	r->out.i = us < 0 ? us + CAT_US_PER_DAY : us;
	return true;
}

static bool
fit_assign(struct sql_row *r)
{
	r->out = r->a[0];
	return cat_value_fit(r->e->type, r->e->typmod, &r->out, r->env->arena, r->env->err);
}

/* An explicit cast cuts. */
static bool
cut(struct sql_row *r, enum cat_type type, union cat_val *v)
{
	int32_t typmod = r->e->typmod;
	if (type == CAT_TEXT || type == CAT_BPCHAR) {
		struct cat_str s = v->s;
		uint32_t k = 0;
		for (int32_t n = 0; k < s.len && n < typmod; n++)
			for (k++; k < s.len && ((uint8_t)s.p[k] & 0xc0) == 0x80; k++)
				;
		v->s.len = k;
	}
	return cat_value_fit(type, typmod, v, r->env->arena, r->env->err);
}

static bool
fit_explicit(struct sql_row *r)
{
	r->out = r->a[0];
	if (!cat_type_is_array(r->e->type))
		return cut(r, r->e->type, &r->out);
	struct sql_elements x;
	if (!sql_array_load(r->env, r->e->type, r->a[0].s, 0, &x))
		return false;
	for (uint32_t k = 0; k < x.a.n; k++)
		if (!x.null[k] && !cut(r, x.a.elem, &x.v[k]))
			return false;
	return sql_array_store(r, x.a.lower, x.v, x.null, x.a.n, &r->out.s);
}

static bool
int_to_oid(struct sql_row *r)
{
	int64_t x = r->a[0].i;
	if (x < INT32_MIN || x > UINT32_MAX || (x < 0 && r->e->args[0]->type == CAT_INT8))
		return cat_error(r->env->err, "22003", "OID out of range");
	r->out.i = (uint32_t)x;
	return true;
}

static bool
oid_to_int4(struct sql_row *r)
{
	r->out.i = (int32_t)(uint32_t)r->a[0].i;
	return true;
}

static bool
reg_to_oid(struct sql_row *r)
{
	r->out.i = cat_reg_oid(r->a[0].s.p, r->a[0].s.len);
	if (r->e->type == CAT_INT4)
		r->out.i = (int32_t)(uint32_t)r->out.i;
	return true;
}

/* The first 63 bytes of a text. */
static bool
text_to_name(struct sql_row *r)
{
	return cat_value_in(CAT_NAME, -1, r->a[0].s, &r->out, r->env->arena, r->env->err);
}

static bool
bpchar_to_name(struct sql_row *r)
{
	struct cat_str s;
	return cat_value_canonical(CAT_BPCHAR, r->a[0].s, &s, r->env->arena) &&
	       cat_value_in(CAT_NAME, -1, s, &r->out, r->env->arena, r->env->err);
}

/* From a number: the session knows the catalog. */
static bool
number_to_reg(struct sql_row *r)
{
	return sql_ask(r, SQL_ASK_REG_NAME);
}

#define ONE(id, f) static const struct sql_fn id = { .name = "cast", .nargs = 1, .row = f }
#define VEC(id, f) static const struct sql_fn id = { .name = "cast", .nargs = 1, .vec = f }
VEC(fn_int_to_float, int_to_float);
VEC(fn_int8_to_int4, int8_to_int4);
ONE(fn_int_to_numeric, int_to_numeric);
ONE(fn_float_to_numeric, float_to_numeric);
ONE(fn_numeric_to_float, numeric_to_float);
ONE(fn_numeric_to_int, numeric_to_int);
ONE(fn_float_to_int, float_to_int);
ONE(fn_int_to_bool, int_to_bool);
ONE(fn_int_to_int2, int_to_int2);
ONE(fn_int_to_real, int_to_real);
ONE(fn_float_to_real, float_to_real);
ONE(fn_numeric_to_real, numeric_to_real);
ONE(fn_real_to_numeric, real_to_numeric);
ONE(fn_bpchar_to_text, bpchar_to_text);
ONE(fn_bpchar_to_name, bpchar_to_name);
ONE(fn_bool_to_text, bool_to_text);
ONE(fn_to_text, to_text);
ONE(fn_from_text, from_text);
ONE(fn_date_to_timestamp, date_to_timestamp);
ONE(fn_timestamp_to_date, timestamp_to_date);
ONE(fn_timestamp_to_time, timestamp_to_time);
ONE(fn_time_to_interval, time_to_interval);
ONE(fn_interval_to_time, interval_to_time);
ONE(fn_int_to_oid, int_to_oid);
ONE(fn_oid_to_int4, oid_to_int4);
ONE(fn_reg_to_oid, reg_to_oid);
ONE(fn_text_to_name, text_to_name);
ONE(fn_text_to_char, text_to_char);
ONE(fn_char_to_text, char_to_text);
ONE(fn_char_to_int, char_to_int);
ONE(fn_int_to_char, int_to_char);
static const struct sql_fn fn_number_to_reg = {
	.name = "cast", .nargs = 1, .flags = SQL_FN_VOLATILE, .row = number_to_reg
};
static const struct sql_fn fn_same = { .name = "same" };

bool
sql_cast_is_int_to_numeric(const struct sql_fn *fn)
{
	return fn == &fn_int_to_numeric;
}

const struct sql_fn sql_fn_fit_assign = { .name = "fit", .nargs = 1, .row = fit_assign };
const struct sql_fn sql_fn_fit_explicit = { .name = "fit", .nargs = 1, .row = fit_explicit };

struct cast {
	const struct sql_fn *fn;
	enum sql_cast_level level;
};

/* To and from regclass and its kin; NULL: neither is one. */
static const struct cast *
reg(enum cat_type from, enum cat_type to)
{
	static const struct cast to_oid = { &fn_reg_to_oid, SQL_CAST_IMPLICIT },
				 to_int = { &fn_reg_to_oid, SQL_CAST_ASSIGN },
				 number = { &fn_number_to_reg, SQL_CAST_IMPLICIT },
				 name = { &fn_text_to_reg, SQL_CAST_IMPLICIT },
				 said = { &fn_text_to_reg, SQL_CAST_EXPLICIT };
	if (cat_type_is_reg(from) && (to == CAT_OID || to == CAT_INT8 || to == CAT_INT4))
		return to == CAT_OID ? &to_oid : &to_int;
	if (!cat_type_is_reg(to) || from == to)
		return NULL;
	if (from == CAT_OID || cat_type_is_int(from))
		return &number;
	if (from == CAT_UNKNOWN || (from == CAT_TEXT && to == CAT_REGCLASS))
		return &name;
	return from == CAT_TEXT || from == CAT_NAME || from == CAT_BPCHAR ? &said : NULL;
}

/* Between json and jsonb, and from jsonb; NULL: another cast. */
static const struct cast *
json(enum cat_type from, enum cat_type to)
{
	static const struct cast made = { &fn_from_text, SQL_CAST_ASSIGN },
				 same = { &fn_same, SQL_CAST_ASSIGN },
				 truth = { &sql_fn_jsonb_to_bool, SQL_CAST_EXPLICIT },
				 number = { &sql_fn_jsonb_to_number, SQL_CAST_EXPLICIT };
	if (from == CAT_JSON && to == CAT_JSONB)
		return &made;
	if (from != CAT_JSONB)
		return NULL;
	if (to == CAT_JSON || to == CAT_BOOL)
		return to == CAT_JSON ? &same : &truth;
	bool counts = to == CAT_INT2 || to == CAT_INT4 || to == CAT_INT8 || to == CAT_NUMERIC;
	return counts || cat_type_is_float(to) ? &number : NULL;
}

bool
sql_cast_find(enum cat_type from, enum cat_type to, enum sql_cast_level level, const struct sql_fn **fn)
{
#define I SQL_CAST_IMPLICIT
#define A SQL_CAST_ASSIGN
#define E SQL_CAST_EXPLICIT
	static const struct cast casts[CAT_TYPES][CAT_TYPES] = {
		[CAT_BOOL] = { [CAT_INT4] = { &fn_same, E },
		    [CAT_TEXT] = { &fn_bool_to_text, A },
		    [CAT_BPCHAR] = { &fn_bool_to_text, A } },
		[CAT_INT2] = { [CAT_INT4] = { &fn_same, I },
		    [CAT_OID] = { &fn_int_to_oid, I },
		    [CAT_INT8] = { &fn_same, I },
		    [CAT_FLOAT4] = { &fn_int_to_float, I },
		    [CAT_FLOAT8] = { &fn_int_to_float, I },
		    [CAT_NUMERIC] = { &fn_int_to_numeric, I } },
		[CAT_INT4] = { [CAT_BOOL] = { &fn_int_to_bool, E },
		    [CAT_CHAR] = { &fn_int_to_char, E },
		    [CAT_INT2] = { &fn_int_to_int2, A },
		    [CAT_INT8] = { &fn_same, I },
		    [CAT_OID] = { &fn_int_to_oid, I },
		    [CAT_FLOAT4] = { &fn_int_to_real, I },
		    [CAT_FLOAT8] = { &fn_int_to_float, I },
		    [CAT_NUMERIC] = { &fn_int_to_numeric, I } },
		[CAT_INT8] = { [CAT_INT2] = { &fn_int_to_int2, A },
		    [CAT_INT4] = { &fn_int8_to_int4, A },
		    [CAT_OID] = { &fn_int_to_oid, I },
		    [CAT_FLOAT4] = { &fn_int_to_real, I },
		    [CAT_FLOAT8] = { &fn_int_to_float, I },
		    [CAT_NUMERIC] = { &fn_int_to_numeric, I } },
		[CAT_FLOAT4] = { [CAT_INT2] = { &fn_float_to_int, A },
		    [CAT_INT4] = { &fn_float_to_int, A },
		    [CAT_INT8] = { &fn_float_to_int, A },
		    [CAT_FLOAT8] = { &fn_same, I },
		    [CAT_NUMERIC] = { &fn_real_to_numeric, A } },
		[CAT_FLOAT8] = { [CAT_INT2] = { &fn_float_to_int, A },
		    [CAT_INT4] = { &fn_float_to_int, A },
		    [CAT_INT8] = { &fn_float_to_int, A },
		    [CAT_FLOAT4] = { &fn_float_to_real, A },
		    [CAT_NUMERIC] = { &fn_float_to_numeric, A } },
		[CAT_NUMERIC] = { [CAT_INT2] = { &fn_numeric_to_int, A },
		    [CAT_INT4] = { &fn_numeric_to_int, A },
		    [CAT_INT8] = { &fn_numeric_to_int, A },
		    [CAT_FLOAT4] = { &fn_numeric_to_real, I },
		    [CAT_FLOAT8] = { &fn_numeric_to_float, I } },
		[CAT_OID] = { [CAT_INT4] = { &fn_oid_to_int4, A }, [CAT_INT8] = { &fn_same, A } },
		[CAT_INT2V] = { [CAT_INT2] = { &fn_same, I },
		    [CAT_INT4] = { &fn_same, I },
		    [CAT_INT8] = { &fn_same, I } },
		[CAT_OIDV] = { [CAT_OID] = { &fn_same, I }, [CAT_INT8] = { &fn_same, I } },
		[CAT_NAME] = { [CAT_TEXT] = { &fn_same, I }, [CAT_BPCHAR] = { &fn_same, A } },
		[CAT_CHAR] = { [CAT_TEXT] = { &fn_char_to_text, I },
		    [CAT_BPCHAR] = { &fn_char_to_text, A },
		    [CAT_INT4] = { &fn_char_to_int, E } },
		[CAT_TEXT] = { [CAT_BPCHAR] = { &fn_same, I },
		    [CAT_NAME] = { &fn_text_to_name, I },
		    [CAT_CHAR] = { &fn_text_to_char, A } },
		[CAT_BPCHAR] = { [CAT_TEXT] = { &fn_bpchar_to_text, I },
		    [CAT_NAME] = { &fn_bpchar_to_name, I },
		    [CAT_CHAR] = { &fn_text_to_char, A } },
		[CAT_DATE] = { [CAT_TIMESTAMP] = { &fn_date_to_timestamp, I },
		    [CAT_TIMESTAMPTZ] = { &fn_date_to_timestamp, I } },
		[CAT_TIMESTAMP] = { [CAT_DATE] = { &fn_timestamp_to_date, A },
		    [CAT_TIMESTAMPTZ] = { &fn_same, I },
		    [CAT_TIME] = { &fn_timestamp_to_time, A } },
		[CAT_TIMESTAMPTZ] = { [CAT_DATE] = { &fn_timestamp_to_date, A },
		    [CAT_TIMESTAMP] = { &fn_same, A },
		    [CAT_TIME] = { &fn_timestamp_to_time, A } },
		[CAT_TIME] = { [CAT_INTERVAL] = { &fn_time_to_interval, I } },
		[CAT_INTERVAL] = { [CAT_TIME] = { &fn_interval_to_time, A } },
		[CAT_UNKNOWN] = { [CAT_TEXT] = { &fn_same, I }, [CAT_BPCHAR] = { &fn_same, I } },
	};
	/* any type to text, text to any type; a column of untyped literals holds text */
	static const struct cast out = { &fn_to_text, A }, in = { &fn_from_text, E },
				 open = { &fn_from_text, I };
	static const struct cast none = { NULL, SQL_CAST_IMPLICIT };
	bool arrays = cat_type_is_array(from) || cat_type_is_array(to);
	if (cat_type_is_array(from) && cat_type_is_array(to)) {
		*fn = &sql_fn_array_cast;
		const struct sql_fn *each;
		return from == to ||
		       sql_cast_find(cat_type_element(from), cat_type_element(to), level, &each);
	}
	const struct cast *c = arrays ? &none : reg(from, to);
	if (c == NULL)
		c = json(from, to);
	if (c == NULL)
		c = cat_type_id(from) != 0 || cat_type_id(to) != 0 ? &none : &casts[from][to];
	if (c->fn == NULL && from != to) {
		if (from == CAT_UNKNOWN)
			c = &open;
		else if (cat_type_category(to) == 'S')
			c = &out;
		else if (cat_type_category(from) == 'S')
			c = &in;
	}
#undef I
#undef A
#undef E
	if (c->fn == NULL || to == CAT_UNKNOWN || c->level > level)
		return false;
	*fn = c->fn == &fn_same ? NULL : c->fn;
	return true;
}
