/* interval.c -- operators and functions on intervals, times of day and timestamps with time
 * zone. */
#include <sql/expr/func/number.h>
#include <sql/expr/func/table.h>
#include <types/datetime.h>
#include <types/interval.h>
#include <types/numeric.h>
#include <types/tzfile.h>

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static bool
give(struct sql_row *r, struct cat_interval v)
{
	return cat_interval_store(v, &r->out.s, r->env->arena, r->env->err);
}

static struct cat_interval
span(const struct sql_row *r, unsigned k)
{
	return cat_interval_load(r->a[k].s);
}

/* ---- intervals ------------------------------------------------------------------- */

static bool
k_add(struct sql_row *r)
{
	struct cat_interval v;
	return cat_interval_add(span(r, 0), span(r, 1), &v, r->env->err) && give(r, v);
}

static bool
k_sub(struct sql_row *r)
{
	struct cat_interval v;
	return cat_interval_negate(span(r, 1), &v, r->env->err) &&
	       cat_interval_add(span(r, 0), v, &v, r->env->err) && give(r, v);
}

static bool
k_neg(struct sql_row *r)
{
	struct cat_interval v;
	return cat_interval_negate(span(r, 0), &v, r->env->err) && give(r, v);
}

static bool
k_times(struct sql_row *r)
{
	struct cat_interval v;
	return cat_interval_scale(span(r, 0), r->a[1].f, false, &v, r->env->err) && give(r, v);
}

static bool
k_times_left(struct sql_row *r)
{
	struct cat_interval v;
	return cat_interval_scale(span(r, 1), r->a[0].f, false, &v, r->env->err) && give(r, v);
}

static bool
k_divided(struct sql_row *r)
{
	struct cat_interval v;
	if (r->a[1].f == 0)
		return sql_div_zero(r->env->err);
	return cat_interval_scale(span(r, 0), r->a[1].f, true, &v, r->env->err) && give(r, v);
}

#define COMPARE(name, op)                                                                                    \
	static bool name(struct sql_row *r)                                                                  \
	{                                                                                                    \
		r->out.i = cat_value_cmp(CAT_INTERVAL, r->a[0], r->a[1]) op 0;                               \
		return true;                                                                                 \
	}
COMPARE(k_eq, ==)
COMPARE(k_ne, !=)
COMPARE(k_lt, <)
COMPARE(k_le, <=)
COMPARE(k_gt, >)
COMPARE(k_ge, >=)

static bool
justify(struct sql_row *r, bool hours, bool days)
{
	struct cat_interval v = span(r, 0);
	return cat_interval_justify(&v, hours, days, r->env->err) && give(r, v);
}

static bool
k_justify_hours(struct sql_row *r)
{
	return justify(r, true, false);
}

static bool
k_justify_days(struct sql_row *r)
{
	return justify(r, false, true);
}

static bool
k_justify_interval(struct sql_row *r)
{
	return justify(r, true, true);
}

static bool
k_trunc(struct sql_row *r)
{
	struct cat_interval v;
	return cat_interval_trunc(r->a[0].s, span(r, 1), &v, r->env->err) && give(r, v);
}

static bool
k_finite(struct sql_row *r)
{
	r->out.i = 1;
	return true;
}

static bool
part_of(struct sql_row *r, struct cat_part *p)
{
	if (r->e->args[1]->type == CAT_INTERVAL)
		return cat_extract_interval(span(r, 1), r->a[0].s, p, r->env->err);
	return cat_extract(r->e->args[1]->type, r->a[1].i, r->a[0].s, p, r->env->err);
}

static bool
k_extract(struct sql_row *r)
{
	struct cat_part p;
	return part_of(r, &p) && cat_num_from_int128(p.value, p.scale, &r->out.s, r->env->arena, r->env->err);
}

static bool
k_date_part(struct sql_row *r)
{
	struct cat_part p;
	if (!part_of(r, &p))
		return false;
	static const double unit[] = { 1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6 };
	r->out.f = (double)p.value / unit[p.scale];
	return true;
}

/* ---- moments and intervals ----------------------------------------------------------- */

static bool
k_ts_plus(struct sql_row *r)
{
	return cat_timestamp_add(r->a[0].i, span(r, 1), &r->out.i, r->env->err);
}

static bool
k_plus_ts(struct sql_row *r)
{
	return cat_timestamp_add(r->a[1].i, span(r, 0), &r->out.i, r->env->err);
}

static bool
k_ts_minus(struct sql_row *r)
{
	struct cat_interval v;
	return cat_interval_negate(span(r, 1), &v, r->env->err) &&
	       cat_timestamp_add(r->a[0].i, v, &r->out.i, r->env->err);
}

static bool
k_ts_diff(struct sql_row *r)
{
	struct cat_interval v;
	return cat_timestamp_diff(r->a[0].i, r->a[1].i, &v, r->env->err) && give(r, v);
}

static bool
k_date_plus(struct sql_row *r)
{
	int64_t us;
	return cat_date_to_timestamp(r->a[0].i, &us, r->env->err) &&
	       cat_timestamp_add(us, span(r, 1), &r->out.i, r->env->err);
}

static bool
k_plus_date(struct sql_row *r)
{
	int64_t us;
	return cat_date_to_timestamp(r->a[1].i, &us, r->env->err) &&
	       cat_timestamp_add(us, span(r, 0), &r->out.i, r->env->err);
}

static bool
k_date_minus(struct sql_row *r)
{
	int64_t us;
	struct cat_interval v;
	return cat_date_to_timestamp(r->a[0].i, &us, r->env->err) &&
	       cat_interval_negate(span(r, 1), &v, r->env->err) &&
	       cat_timestamp_add(us, v, &r->out.i, r->env->err);
}

static bool
k_age(struct sql_row *r)
{
	struct cat_interval v;
	return cat_timestamp_age(r->a[0].i, r->a[1].i, &v, r->env->err) && give(r, v);
}

/* From midnight of today. */
static bool
k_age_now(struct sql_row *r)
{
	struct cat_interval v;
	int64_t today = cat_timestamp_to_date(r->env->now_us) * CAT_US_PER_DAY;
	return cat_timestamp_age(today, r->a[0].i, &v, r->env->err) && give(r, v);
}

/* ---- times of day ------------------------------------------------------------------------ */

static int64_t
in_day(int64_t us)
{
	us %= CAT_US_PER_DAY;
	return us < 0 ? us + CAT_US_PER_DAY : us;
}

static bool
k_time_plus(struct sql_row *r)
{
	r->out.i = in_day(r->a[0].i + span(r, 1).us % CAT_US_PER_DAY);
	return true;
}

static bool
k_plus_time(struct sql_row *r)
{
	r->out.i = in_day(r->a[1].i + span(r, 0).us % CAT_US_PER_DAY);
	return true;
}

static bool
k_time_minus(struct sql_row *r)
{
	r->out.i = in_day(r->a[0].i - span(r, 1).us % CAT_US_PER_DAY);
	return true;
}

static bool
k_time_diff(struct sql_row *r)
{
	return give(r, (struct cat_interval){ r->a[0].i - r->a[1].i, 0, 0 });
}

static bool
moment(int64_t days, int64_t us, struct sql_row *r)
{
	if (!cat_date_to_timestamp(days, &r->out.i, r->env->err) || cat_time_infinite(days))
		return cat_time_infinite(days);
	r->out.i += us;
	return cat_timestamp_valid(r->out.i) || cat_error(r->env->err, "22008", "timestamp out of range");
}

static bool
k_date_time(struct sql_row *r)
{
	return moment(r->a[0].i, r->a[1].i, r);
}

static bool
k_time_date(struct sql_row *r)
{
	return moment(r->a[1].i, r->a[0].i, r);
}

static bool
k_make_time(struct sql_row *r)
{
	int64_t h = r->a[0].i, m = r->a[1].i;
	double s = r->a[2].f;
	if (h < 0 || m < 0 || m > 59 || h > 24 || !(s >= 0 && s <= 60) || (h == 24 && (m > 0 || s > 0)))
		return cat_error(
		    r->env->err, "22008", "time field value out of range: %d:%02d:%02g", (int)h, (int)m, s);
	r->out.i = (h * 60 + m) * 60000000 + (int64_t)rint(s * 1e6);
	return true;
}

/* ---- zones: UTC and fixed distances from it ------------------------------------------------- */

/* Microseconds east of Greenwich, or the zone of a name with a slash. '+02' in a name means west,
 * as POSIX has it; an interval means east. */
static bool
zone_of(struct cat_str s, int64_t *us, const struct cat_zone **named, struct cat_err *err)
{
	*us = 0;
	*named = memchr(s.p, '/', s.len) != NULL ? cat_zone_find(s) : NULL;
	if (*named != NULL)
		return true;
	static const char *const utc[] = { "utc", "gmt", "z", "zulu", "etc/utc", "etc/gmt", "universal",
		"uct" };
	for (unsigned k = 0; k < sizeof utc / sizeof *utc; k++) {
		if (s.len == strlen(utc[k]) && strncasecmp(s.p, utc[k], s.len) == 0) {
			*us = 0;
			return true;
		}
	}
	struct cat_interval v;
	bool west = s.len > 1 && s.p[0] == '+', east = s.len > 1 && s.p[0] == '-';
	struct cat_str rest = { s.p + 1, s.len > 1 ? s.len - 1 : 0 };
	bool digits = (west || east) && rest.p[0] >= '0' && rest.p[0] <= '9' && rest.len <= 8;
	if (digits && cat_interval_in(rest, memchr(rest.p, ':', rest.len) ? -1 : CAT_FIELD_HOUR, &v, NULL) &&
	    v.days == 0 && v.months == 0 && v.us <= INT64_C(604800000000)) {
		*us = west ? -v.us : v.us;
		return true;
	}
	bool slash = memchr(s.p, '/', s.len) != NULL;
	if (!slash && (cat_zone_is_name(s) || cat_zone_is_posix(s)))
		return cat_error(err, "0A000", "time zone \"%.*s\" is not supported yet",
		    (int)(s.len > 60 ? 60 : s.len), s.p);
	return cat_error(
	    err, "22023", "time zone \"%.*s\" not recognized", (int)(s.len > 60 ? 60 : s.len), s.p);
}

bool
sql_zone_instant(const struct sql_row *r, struct cat_str zone, int64_t local, int64_t *out)
{
	struct cat_err *err = r->env->err;
	const struct cat_zone *z = NULL;
	unsigned part[3] = { 0 }, n = 0, digits = 0;
	int64_t east;
	if (zone.len > 0 && zone.p[0] >= '0' && zone.p[0] <= '9') {
		snprintf(err->hint, sizeof err->hint,
		    "Numeric time zones must have \"-\" or \"+\" as first character.");
		return cat_error(err, "22023", "invalid input syntax for type numeric time zone: \"%.*s\"",
		    (int)zone.len, zone.p);
	}
	bool sign = zone.len > 1 && (zone.p[0] == '+' || zone.p[0] == '-') && zone.len < 10;
	for (uint32_t k = 1; sign && k < zone.len; k++) {
		char c = zone.p[k];
		sign = (c == ':' && digits > 0 && n < 2) || (c >= '0' && c <= '9');
		n += c == ':';
		digits = c == ':' ? 0 : digits + 1;
		if (sign && c != ':')
			part[n] = part[n] * 10 + (unsigned)(c - '0');
	}
	if (sign && n == 0 && digits > 2) { /* hhmm */
		part[1] = part[0] % 100;
		part[0] /= 100;
	}
	if (sign && (part[0] > 15 || part[1] > 59 || part[2] > 59))
		return cat_error(
		    err, "22023", "numeric time zone \"%.*s\" out of range", (int)zone.len, zone.p);
	if (sign) {
		east = ((int64_t)part[0] * 60 + part[1]) * 60 + part[2];
		east *= zone.p[0] == '+' ? 1000000 : -1000000;
	} else if (!zone_of(zone, &east, &z, err)) {
		return false;
	}
	*out = z != NULL ? cat_zone_utc(z, local) : local - east;
	return cat_timestamp_valid(*out) || cat_error(err, "22008", "timestamp out of range");
}

static bool
shift(struct sql_row *r, int64_t v, int64_t by)
{
	r->out.i = v;
	if (cat_time_infinite(v))
		return true;
	r->out.i = v + by;
	return cat_timestamp_valid(r->out.i) || cat_error(r->env->err, "22008", "timestamp out of range");
}

static bool
k_zone_of_ts(struct sql_row *r)
{
	int64_t east, v = r->a[1].i;
	const struct cat_zone *z;
	if (!zone_of(r->a[0].s, &east, &z, r->env->err))
		return false;
	return shift(r, v, z != NULL && !cat_time_infinite(v) ? cat_zone_utc(z, v) - v : -east);
}

static bool
k_zone_of_tz(struct sql_row *r)
{
	int64_t east, v = r->a[1].i;
	const struct cat_zone *z;
	if (!zone_of(r->a[0].s, &east, &z, r->env->err))
		return false;
	return shift(r, v, z != NULL && !cat_time_infinite(v) ? cat_zone_local(z, v) - v : east);
}

/* date_trunc(part, instant, zone): by the zone's clock. */
static bool
k_trunc_in_zone(struct sql_row *r)
{
	int64_t east, v = r->a[1].i, local, cut;
	const struct cat_zone *z;
	if (cat_time_infinite(v))
		return cat_date_trunc(CAT_TIMESTAMPTZ, r->a[0].s, v, &r->out.i, r->env->err);
	if (!zone_of(r->a[2].s, &east, &z, r->env->err))
		return false;
	local = z != NULL ? cat_zone_local(z, v) : v + east;
	if (!cat_date_trunc(CAT_TIMESTAMPTZ, r->a[0].s, local, &cut, r->env->err))
		return false;
	/* an hour that the clock shows twice begins in the one that v is in */
	r->out.i = z != NULL && cat_date_part_is_long(r->a[0].s) ? cat_zone_utc(z, cut) : cut - (local - v);
	return cat_timestamp_valid(r->out.i) || cat_error(r->env->err, "22008", "timestamp out of range");
}

static bool
k_span_of_ts(struct sql_row *r)
{
	return shift(r, r->a[1].i, -span(r, 0).us);
}

static bool
k_span_of_tz(struct sql_row *r)
{
	return shift(r, r->a[1].i, span(r, 0).us);
}

#define IV CAT_INTERVAL
#define D  CAT_DATE
#define T  CAT_TIME
#define TS CAT_TIMESTAMP
#define TZ CAT_TIMESTAMPTZ
#define F8 CAT_FLOAT8
#define OP(op, a, b, ret, f)                                                                                 \
	{                                                                                                    \
		op, SQL_FN_OP, 2, { a, b }, ret, NULL, f                                                     \
	}

const struct sql_fn sql_fns_interval[] = {
	OP("+", IV, IV, IV, k_add),
	OP("-", IV, IV, IV, k_sub),
	{ "-", SQL_FN_OP, 1, { IV }, IV, NULL, k_neg },
	OP("*", IV, F8, IV, k_times),
	OP("*", F8, IV, IV, k_times_left),
	OP("/", IV, F8, IV, k_divided),
	OP("=", IV, IV, CAT_BOOL, k_eq),
	OP("<>", IV, IV, CAT_BOOL, k_ne),
	OP("<", IV, IV, CAT_BOOL, k_lt),
	OP("<=", IV, IV, CAT_BOOL, k_le),
	OP(">", IV, IV, CAT_BOOL, k_gt),
	OP(">=", IV, IV, CAT_BOOL, k_ge),
	OP("+", TS, IV, TS, k_ts_plus),
	OP("+", IV, TS, TS, k_plus_ts),
	OP("-", TS, IV, TS, k_ts_minus),
	OP("-", TS, TS, IV, k_ts_diff),
	OP("+", TZ, IV, TZ, k_ts_plus),
	OP("+", IV, TZ, TZ, k_plus_ts),
	OP("-", TZ, IV, TZ, k_ts_minus),
	OP("-", TZ, TZ, IV, k_ts_diff),
	OP("+", D, IV, TS, k_date_plus),
	OP("+", IV, D, TS, k_plus_date),
	OP("-", D, IV, TS, k_date_minus),
	OP("+", T, IV, T, k_time_plus),
	OP("+", IV, T, T, k_plus_time),
	OP("-", T, IV, T, k_time_minus),
	OP("-", T, T, IV, k_time_diff),
	OP("+", D, T, TS, k_date_time),
	OP("+", T, D, TS, k_time_date),
	F("extract", 2, CAT_NUMERIC, k_extract, CAT_TEXT, IV),
	F("extract", 2, CAT_NUMERIC, k_extract, CAT_TEXT, T),
	F("date_part", 2, F8, k_date_part, CAT_TEXT, IV),
	F("date_part", 2, F8, k_date_part, CAT_TEXT, T),
	F("date_trunc", 2, IV, k_trunc, CAT_TEXT, IV),
	F("justify_hours", 1, IV, k_justify_hours, IV),
	F("justify_days", 1, IV, k_justify_days, IV),
	F("justify_interval", 1, IV, k_justify_interval, IV),
	F("isfinite", 1, CAT_BOOL, k_finite, IV),
	F("age", 2, IV, k_age, TS, TS),
	F("age", 2, IV, k_age, TZ, TZ),
	{ "age", SQL_FN_VOLATILE, 1, { TS }, IV, NULL, k_age_now },
	{ "age", SQL_FN_VOLATILE, 1, { TZ }, IV, NULL, k_age_now },
	F("make_time", 3, T, k_make_time, CAT_INT4, CAT_INT4, F8),
	F("date_trunc", 3, TZ, k_trunc_in_zone, CAT_TEXT, TZ, CAT_TEXT),
	F("timezone", 2, TZ, k_zone_of_ts, CAT_TEXT, TS),
	F("timezone", 2, TS, k_zone_of_tz, CAT_TEXT, TZ),
	F("timezone", 2, TZ, k_span_of_ts, IV, TS),
	F("timezone", 2, TS, k_span_of_tz, IV, TZ),
	{ 0 },
};
