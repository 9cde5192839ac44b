/* when.c -- dates, times and spans made of numbers; bins; overlaps. */
#include <sql/expr/functions.h>
#include <types/datetime.h>
#include <types/interval.h>

#include <math.h>

static struct cat_interval
span(const struct sql_row *r, unsigned k)
{
	return cat_interval_load(r->a[k].s);
}

static bool
give(struct sql_row *r, struct cat_interval v)
{
	return cat_interval_store(v, &r->out.s, r->env->arena, r->env->err);
}

static bool
out_of_range(struct sql_row *r)
{
	return cat_error(r->env->err, "22008", "timestamp out of range");
}

/* make_timestamp(year, month, day, hour, min, sec) */
static bool
k_make_timestamp(struct sql_row *r)
{
	static const int8_t last[13] = { 0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	int64_t y = r->a[0].i, m = r->a[1].i, d = r->a[2].i, h = r->a[3].i, mi = r->a[4].i;
	double s = r->a[5].f;
	int64_t year = y < 0 ? y + 1 : y;
	bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
	if (y == 0 || m < 1 || m > 12 || d < 1 || d > last[m] - (m == 2 && !leap))
		return cat_error(r->env->err, "22008", "date field value out of range: %d-%02d-%02d", (int)y,
		    (int)m, (int)d);
	if (year > 6000000 || year < -5000 || !cat_date_valid(cat_days(year, (int)m, (int)d)))
		return cat_error(
		    r->env->err, "22008", "date out of range: %d-%02d-%02d", (int)y, (int)m, (int)d);
	int64_t us = isnan(s) || s < 0 || s > 60 ? -1 : (int64_t)rint(s * 1000000);
	if (h < 0 || mi < 0 || mi > 59 || us < 0 || h > 24 || (h == 24 && (mi > 0 || us > 0)))
		return cat_error(
		    r->env->err, "22008", "time field value out of range: %d:%02d:%02g", (int)h, (int)mi, s);
	bool fits = !__builtin_mul_overflow(cat_days(year, (int)m, (int)d), CAT_US_PER_DAY, &r->out.i) &&
		    !__builtin_add_overflow(r->out.i, (h * 60 + mi) * 60000000 + us, &r->out.i);
	return (fits && cat_timestamp_valid(r->out.i)) ||
	       cat_error(r->env->err, "22008", "timestamp out of range: %d-%02d-%02d %d:%02d:%02g", (int)y,
		   (int)m, (int)d, (int)h, (int)mi, s);
}

/* make_timestamptz(..., zone) */
static bool
k_make_in_zone(struct sql_row *r)
{
	return k_make_timestamp(r) && sql_zone_instant(r, r->a[6].s, r->out.i, &r->out.i);
}

/* make_interval(years, months, weeks, days, hours, mins, secs) */
static bool
k_make_interval(struct sql_row *r)
{
	double secs = r->a[6].f;
	int64_t months = r->a[0].i * 12 + r->a[1].i, days = r->a[2].i * 7 + r->a[3].i;
	double us = rint(secs * 1000000);
	if (isinf(secs) || isnan(secs) || months != (int32_t)months || days != (int32_t)days ||
	    fabs(us) >= 0x1p62)
		return cat_error(r->env->err, "22008", "interval out of range");
	struct cat_interval v = { .months = (int32_t)months,
		.days = (int32_t)days,
		.us = (r->a[4].i * 60 + r->a[5].i) * 60000000 + (int64_t)us };
	return give(r, v);
}

/* date_bin(stride, ts, origin): the beginning of the bin that ts is in. */
static bool
k_date_bin(struct sql_row *r)
{
	struct cat_interval v = span(r, 0);
	int64_t t = r->a[1].i, origin = r->a[2].i, stride, diff;
	if (cat_time_infinite(t)) {
		r->out.i = t;
		return true;
	}
	if (cat_time_infinite(origin))
		return cat_error(r->env->err, "22008", "origin out of range");
	if (v.months != 0)
		return cat_error(r->env->err, "0A000",
		    "timestamps cannot be binned into intervals containing months or years");
	if (__builtin_mul_overflow((int64_t)v.days, CAT_US_PER_DAY, &stride) ||
	    __builtin_add_overflow(stride, v.us, &stride))
		return cat_error(r->env->err, "22008", "interval out of range");
	if (stride <= 0)
		return cat_error(r->env->err, "22008", "stride must be greater than zero");
	if (__builtin_sub_overflow(t, origin, &diff))
		return cat_error(r->env->err, "22008", "interval out of range");
	int64_t rest = diff % stride;
	r->out.i = t - rest;
	if (rest < 0 && __builtin_sub_overflow(r->out.i, stride, &r->out.i))
		return out_of_range(r);
	return cat_timestamp_valid(r->out.i) || out_of_range(r);
}

/* ---- OVERLAPS: two spans of time, each from one end to the other or of a length -------------- */

struct period {
	int64_t from, to;
	bool from_null, to_null;
};

/* The end that is there comes first, the smaller one if both are. False if neither is. */
static bool
order(struct period *p)
{
	if (p->from_null && p->to_null)
		return false;
	if (p->from_null || (!p->to_null && p->from > p->to)) {
		struct period q = { p->to, p->from, p->to_null, p->from_null };
		*p = q;
	}
	return true;
}

static bool
overlaps(struct sql_row *r, struct period x, struct period y)
{
	if (!order(&x) || !order(&y))
		return r->out_null = true;
	if (x.from == y.from) {
		/* both begin at once: they overlap, if one of the other ends is known */
		r->out_null = x.to_null || y.to_null;
		r->out.i = 1;
		return true;
	}
	if (x.from < y.from) {
		struct period z = x;
		x = y;
		y = z;
	}
	/* y began before x: does it last until x begins? */
	r->out.i = !y.to_null && x.from < y.to;
	r->out_null = y.to_null || (!r->out.i && x.to_null);
	return true;
}

/* Argument k and the one behind it: an end, or how long it lasts. */
static bool
period_of(struct sql_row *r, unsigned k, struct period *p)
{
	enum cat_type type = r->e->args[k]->type;
	*p = (struct period){ r->a[k].i, 0, r->null[k], r->null[k + 1] };
	if (r->e->args[k + 1]->type != CAT_INTERVAL) {
		p->to = r->a[k + 1].i;
		return true;
	}
	p->to_null |= p->from_null;
	if (p->to_null)
		return true;
	if (type == CAT_TIME) {
		p->to = (p->from + span(r, k + 1).us) % CAT_US_PER_DAY;
		p->to += p->to < 0 ? CAT_US_PER_DAY : 0;
		return true;
	}
	return cat_timestamp_add(p->from, span(r, k + 1), &p->to, r->env->err);
}

static bool
k_overlaps(struct sql_row *r)
{
	struct period x, y;
	return period_of(r, 0, &x) && period_of(r, 2, &y) && overlaps(r, x, y);
}

#define TS CAT_TIMESTAMP
#define TZ CAT_TIMESTAMPTZ
#define V  CAT_INTERVAL
#define I  CAT_INT4
#define F(name, flags, n, ret, f, ...)                                                                       \
	{                                                                                                    \
		name, flags, n, { __VA_ARGS__ }, ret, NULL, f                                                \
	}
#define OVERLAPS(t)                                                                                          \
	F("overlaps", SQL_FN_NULLS, 4, CAT_BOOL, k_overlaps, t, t, t, t),                                    \
	    F("overlaps", SQL_FN_NULLS, 4, CAT_BOOL, k_overlaps, t, V, t, t),                                \
	    F("overlaps", SQL_FN_NULLS, 4, CAT_BOOL, k_overlaps, t, t, t, V),                                \
	    F("overlaps", SQL_FN_NULLS, 4, CAT_BOOL, k_overlaps, t, V, t, V)

const struct sql_fn sql_fns_when[] = {
	F("make_timestamp", 0, 6, TS, k_make_timestamp, I, I, I, I, I, CAT_FLOAT8),
	F("make_timestamptz", 0, 6, TZ, k_make_timestamp, I, I, I, I, I, CAT_FLOAT8),
	F("make_timestamptz", 0, 7, TZ, k_make_in_zone, I, I, I, I, I, CAT_FLOAT8, CAT_TEXT),
	F("make_interval", 0, 7, V, k_make_interval, I, I, I, I, I, I, CAT_FLOAT8),
	F("date_bin", 0, 3, TS, k_date_bin, V, TS, TS),
	F("date_bin", 0, 3, TZ, k_date_bin, V, TZ, TZ),
	OVERLAPS(TS),
	OVERLAPS(TZ),
	OVERLAPS(CAT_TIME),
	{ 0 },
};
