/* date.c -- functions and operators on dates and timestamps; with intervals: interval.c. */
#include <sql/expr/functions.h>
#include <types/datetime.h>
#include <types/numeric.h>

#include <math.h>
#include <string.h>
#include <strings.h>

static bool
move(struct sql_row *r, int64_t days, int64_t by)
{
	if (cat_time_infinite(days)) {
		r->out.i = days;
		return true;
	}
	r->out.i = days + by; /* both far from 2^63: a date is valid, by is an int4 */
	return cat_date_valid(r->out.i) || cat_error(r->env->err, "22008", "date out of range");
}

static bool
k_date_plus(struct sql_row *r)
{
	return move(r, r->a[0].i, r->a[1].i);
}

static bool
k_plus_date(struct sql_row *r)
{
	return move(r, r->a[1].i, r->a[0].i);
}

static bool
k_date_minus(struct sql_row *r)
{
	return move(r, r->a[0].i, -r->a[1].i);
}

static bool
k_date_diff(struct sql_row *r)
{
	if (cat_time_infinite(r->a[0].i) || cat_time_infinite(r->a[1].i))
		return cat_error(r->env->err, "22008", "cannot subtract infinite dates");
	r->out.i = r->a[0].i - r->a[1].i;
	return true;
}

/* A time's parts of its zone: known words, but a timestamp has none. */
static bool
of_zone(struct sql_row *r)
{
	static const char *const words[] = { "timezone", "timezone_h", "timezone_hour", "timezone_m",
		"timezone_minute" };
	struct cat_str s = r->a[0].s;
	for (unsigned k = 0; k < sizeof words / sizeof *words; k++)
		if (s.len == strlen(words[k]) && strncasecmp(s.p, words[k], s.len) == 0)
			return true;
	return false;
}

static bool
no_zone(struct sql_row *r, enum cat_type type)
{
	return cat_error(r->env->err, "0A000", "unit \"%.*s\" not supported for type %s", (int)r->a[0].s.len,
	    r->a[0].s.p, cat_type_name(type));
}

/* Days since 4714 BC, and the fraction of the day as a quotient of numerics. */
static bool
julian(struct sql_row *r)
{
	struct nam_arena *a = r->env->arena;
	struct cat_err *err = r->env->err;
	struct cat_str day, us, unit, part;
	int64_t t = r->a[1].i, days = cat_timestamp_to_date(t);
	return cat_num_from_int(days + 2451545, &day, a, err) &&
	       cat_num_from_int(t - days * CAT_US_PER_DAY, &us, a, err) &&
	       cat_num_from_int(CAT_US_PER_DAY, &unit, a, err) && cat_num_div(us, unit, &part, a, err) &&
	       cat_num_add(day, part, &r->out.s, a, err);
}

static bool
is_julian(const struct sql_row *r)
{
	return !cat_time_infinite(r->a[1].i) && r->a[0].s.len == 6 &&
	       strncasecmp(r->a[0].s.p, "julian", 6) == 0;
}

static bool
k_extract(struct sql_row *r)
{
	struct cat_part p;
	enum cat_type type = r->e->args[1]->type;
	if (of_zone(r))
		return no_zone(r, type);
	if ((type == CAT_TIMESTAMP || type == CAT_TIMESTAMPTZ) && is_julian(r))
		return julian(r);
	if (!cat_extract(r->e->args[1]->type, r->a[1].i, r->a[0].s, &p, r->env->err))
		return false;
	r->out_null = p.null;
	if (p.null)
		return true;
	if (p.inf)
		return cat_num_in((struct cat_str){ p.inf > 0 ? "Infinity" : "-Infinity", p.inf > 0 ? 8 : 9 },
		    &r->out.s, r->env->arena, r->env->err);
	return cat_num_from_int128(p.value, p.scale, &r->out.s, r->env->arena, r->env->err);
}

/* date_part: the older one, in double precision, and a date counts as a timestamp. */
static bool
k_date_part(struct sql_row *r)
{
	struct cat_part p;
	if (of_zone(r))
		return no_zone(r, CAT_TIMESTAMP);
	if (is_julian(r)) {
		int64_t days = cat_timestamp_to_date(r->a[1].i), us = r->a[1].i - days * CAT_US_PER_DAY;
		double seconds = (double)(us / 1000000) + (double)(us % 1000000) / 1e6;
		r->out.f = (double)(days + 2451545) + seconds / 86400.0;
		return true;
	}
	if (!cat_extract(CAT_TIMESTAMP, r->a[1].i, r->a[0].s, &p, r->env->err))
		return false;
	r->out_null = p.null;
	static const double unit[] = { 1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9 };
	r->out.f = p.inf ? (p.inf > 0 ? INFINITY : -INFINITY) : (double)p.value / unit[p.scale];
	return true;
}

static bool
k_date_trunc(struct sql_row *r)
{
	if (of_zone(r))
		return no_zone(r, r->e->type);
	return cat_date_trunc(r->e->type, r->a[0].s, r->a[1].i, &r->out.i, r->env->err);
}

static bool
k_now(struct sql_row *r)
{
	r->out.i = r->env->now_us;
	return true;
}

static bool
k_today(struct sql_row *r)
{
	r->out.i = cat_timestamp_to_date(r->env->now_us);
	return true;
}

static bool
k_make_date(struct sql_row *r)
{
	int64_t y = r->a[0].i, m = r->a[1].i, d = r->a[2].i;
	bool bc = y < 0;
	static const int8_t last[13] = { 0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	int64_t year = bc ? y + 1 : y;
	bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
	if (y == 0 || m < 1 || m > 12 || d < 1 || d > last[m] - (m == 2 && !leap))
		return cat_error(r->env->err, "22008", "date field value out of range: %d-%02d-%02d", (int)y,
		    (int)m, (int)d);
	int64_t days = year > 6000000 || year < -6000000 ? INT64_C(1) << 40 : cat_days(year, (int)m, (int)d);
	if (!cat_date_valid(days))
		return cat_error(
		    r->env->err, "22008", "date out of range: %d-%02d-%02d", (int)y, (int)m, (int)d);
	r->out.i = days;
	return true;
}

static bool
k_isfinite(struct sql_row *r)
{
	r->out.i = !cat_time_infinite(r->a[0].i);
	return true;
}

#define D  CAT_DATE
#define TS CAT_TIMESTAMP
#define TZ CAT_TIMESTAMPTZ
#define NOW(name)                                                                                            \
	{                                                                                                    \
		name, SQL_FN_VOLATILE, 0, { 0 }, TZ, NULL, k_now                                             \
	}

const struct sql_fn sql_fns_date[] = {
	{ "+", SQL_FN_OP, 2, { D, CAT_INT4 }, D, NULL, k_date_plus },
	{ "+", SQL_FN_OP, 2, { CAT_INT4, D }, D, NULL, k_plus_date },
	{ "-", SQL_FN_OP, 2, { D, CAT_INT4 }, D, NULL, k_date_minus },
	{ "-", SQL_FN_OP, 2, { D, D }, CAT_INT4, NULL, k_date_diff },
	{ "extract", 0, 2, { CAT_TEXT, D }, CAT_NUMERIC, NULL, k_extract },
	{ "extract", 0, 2, { CAT_TEXT, TS }, CAT_NUMERIC, NULL, k_extract },
	{ "extract", 0, 2, { CAT_TEXT, TZ }, CAT_NUMERIC, NULL, k_extract },
	{ "date_part", 0, 2, { CAT_TEXT, TZ }, CAT_FLOAT8, NULL, k_date_part },
	{ "date_trunc", 0, 2, { CAT_TEXT, TZ }, TZ, NULL, k_date_trunc },
	{ "isfinite", 0, 1, { TZ }, CAT_BOOL, NULL, k_isfinite },
	{ "date_part", 0, 2, { CAT_TEXT, TS }, CAT_FLOAT8, NULL, k_date_part },
	{ "date_trunc", 0, 2, { CAT_TEXT, TS }, TS, NULL, k_date_trunc },
	{ "make_date", 0, 3, { CAT_INT4, CAT_INT4, CAT_INT4 }, D, NULL, k_make_date },
	{ "isfinite", 0, 1, { D }, CAT_BOOL, NULL, k_isfinite },
	{ "isfinite", 0, 1, { TS }, CAT_BOOL, NULL, k_isfinite },
	NOW("now"),
	NOW("current_timestamp"),
	{ "localtimestamp", SQL_FN_VOLATILE, 0, { 0 }, TS, NULL, k_now },
	NOW("transaction_timestamp"),
	{ "current_date", SQL_FN_VOLATILE, 0, { 0 }, D, NULL, k_today },
	{ 0 },
};
