/* interval.c -- spans of time: output, arithmetic. */
#include <types/datetime.h>
#include <types/interval.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define US_HOUR   INT64_C(3600000000)
#define US_MINUTE INT64_C(60000000)
#define US_SECOND INT64_C(1000000)

bool
cat_interval_store(struct cat_interval v, struct cat_str *out, struct nam_arena *arena, struct cat_err *err)
{
	char *p = nam_arena_take(arena, sizeof v);
	if (p == NULL) {
		*out = (struct cat_str){ "", 0 };
		return cat_error(err, "53200", "out of memory");
	}
	memcpy(p, &v, sizeof v);
	*out = (struct cat_str){ p, sizeof v };
	return true;
}

struct cat_interval
cat_interval_fit(struct cat_interval v, int32_t f)
{
	if (f < 0 || f == CAT_FIELD_ALL || f & CAT_FIELD_SECOND)
		return v;
	int64_t keep = f & CAT_FIELD_MINUTE ? US_MINUTE : f & CAT_FIELD_HOUR ? US_HOUR : 0;
	v.us = keep ? v.us / keep * keep : 0;
	if (f & (CAT_FIELD_YEAR | CAT_FIELD_MONTH))
		v.days = 0;
	if (f == CAT_FIELD_YEAR)
		v.months = v.months / 12 * 12;
	return v;
}

/* ---- out ------------------------------------------------------------------------- */

static unsigned
put_field(char *to, unsigned n, int64_t v, const char *unit, bool *before)
{
	if (v == 0)
		return n;
	n += (unsigned)snprintf(to + n, CAT_INTERVAL_CHARS - n, "%s%s%lld %s%s", n ? " " : "",
	    *before && v > 0 ? "+" : "", (long long)v, unit, v != 1 ? "s" : "");
	*before = v < 0;
	return n;
}

unsigned
cat_interval_out(struct cat_interval v, char *to)
{
	bool before = false;
	unsigned n = put_field(to, 0, v.months / 12, "year", &before);
	n = put_field(to, n, v.months % 12, "mon", &before);
	n = put_field(to, n, v.days, "day", &before);
	if (n > 0 && v.us == 0)
		return n;
	uint64_t us = v.us < 0 ? 0 - (uint64_t)v.us : (uint64_t)v.us;
	n += (unsigned)snprintf(to + n, CAT_INTERVAL_CHARS - n, "%s%s%02llu:%02u:%02u", n ? " " : "",
	    v.us < 0 ? "-"
	    : before ? "+"
		     : "",
	    (unsigned long long)(us / US_HOUR), (unsigned)(us / US_MINUTE % 60),
	    (unsigned)(us / US_SECOND % 60));
	unsigned rest = (unsigned)(us % US_SECOND);
	if (rest != 0) {
		n += (unsigned)snprintf(to + n, CAT_INTERVAL_CHARS - n, ".%06u", rest);
		while (to[n - 1] == '0')
			n--;
	}
	return n;
}

/* ---- arithmetic --------------------------------------------------------------------- */

__int128
cat_interval_span(struct cat_interval v)
{
	return ((__int128)v.months * 30 + v.days) * CAT_US_PER_DAY + v.us;
}

static bool
too_big(struct cat_err *err)
{
	return cat_error(err, "22008", "interval out of range");
}

bool
cat_interval_add(struct cat_interval a, struct cat_interval b, struct cat_interval *out, struct cat_err *err)
{
	bool over = __builtin_add_overflow(a.months, b.months, &out->months);
	over |= __builtin_add_overflow(a.days, b.days, &out->days);
	over |= __builtin_add_overflow(a.us, b.us, &out->us);
	return !over || too_big(err);
}

bool
cat_interval_negate(struct cat_interval a, struct cat_interval *out, struct cat_err *err)
{
	if (a.months == INT32_MIN || a.days == INT32_MIN || a.us == INT64_MIN)
		return too_big(err);
	*out = (struct cat_interval){ -a.us, -a.days, -a.months };
	return true;
}

/* Rounded to microseconds of a second, as seconds. */
static double
whole_us(double seconds)
{
	return rint(seconds * 1e6) / 1e6;
}

bool
cat_interval_scale(
    struct cat_interval a, double by, bool divide, struct cat_interval *out, struct cat_err *err)
{
	/* Parts of a month become days, parts of a day time: never the other way. */
	double m = divide ? a.months / by : a.months * by, d = divide ? a.days / by : a.days * by;
	if (!(m >= INT32_MIN && m <= INT32_MAX && d >= INT32_MIN && d <= INT32_MAX))
		return too_big(err);
	out->months = (int32_t)m;
	out->days = (int32_t)d;
	double month_days = (m - out->months) * 30;
	month_days = whole_us(month_days);
	double seconds = (d - out->days + month_days - (double)(int64_t)month_days) * 86400;
	seconds = whole_us(seconds);
	if (fabs(seconds) >= 86400) {
		if (__builtin_add_overflow(out->days, (int)(seconds / 86400), &out->days))
			return too_big(err);
		seconds -= (int)(seconds / 86400) * 86400.0;
	}
	if (__builtin_add_overflow(out->days, (int)month_days, &out->days))
		return too_big(err);
	double us = rint((divide ? (double)a.us / by : (double)a.us * by) + seconds * 1e6);
	if (!(us >= -9223372036854775808.0 && us < 9223372036854775808.0))
		return too_big(err);
	out->us = (int64_t)us;
	return true;
}

static bool
ts_range(struct cat_err *err)
{
	return cat_error(err, "22008", "timestamp out of range");
}

static int64_t
day_of(int64_t us)
{
	return us / CAT_US_PER_DAY - (us % CAT_US_PER_DAY < 0);
}

static int
last_day(int64_t year, int month)
{
	return (int)(cat_days(month == 12 ? year + 1 : year, month == 12 ? 1 : month + 1, 1) -
		     cat_days(year, month, 1));
}

bool
cat_timestamp_add(int64_t us, struct cat_interval by, int64_t *out, struct cat_err *err)
{
	*out = us;
	if (cat_time_infinite(us))
		return true;
	if (by.months != 0) {
		int64_t days = day_of(us), rest = us - days * CAT_US_PER_DAY, year;
		int month, day;
		cat_civil(days, &year, &month, &day);
		int64_t m = year * 12 + (month - 1) + by.months;
		year = m / 12 - (m % 12 < 0);
		month = (int)(m - year * 12) + 1;
		if (year > 300000 || year < -5000)
			return ts_range(err);
		int last = last_day(year, month);
		us = cat_days(year, month, day < last ? day : last) * CAT_US_PER_DAY + rest;
		if (!cat_timestamp_valid(us))
			return ts_range(err);
	}
	int64_t days_us;
	if (__builtin_mul_overflow((int64_t)by.days, CAT_US_PER_DAY, &days_us) ||
	    __builtin_add_overflow(us, days_us, &us) || !cat_timestamp_valid(us) || cat_time_infinite(us) ||
	    __builtin_add_overflow(us, by.us, &us) || !cat_timestamp_valid(us) || cat_time_infinite(us))
		return ts_range(err);
	*out = us;
	return true;
}

bool
cat_timestamp_diff(int64_t a, int64_t b, struct cat_interval *out, struct cat_err *err)
{
	if (cat_time_infinite(a) || cat_time_infinite(b))
		return cat_error(err, "22008", "cannot subtract infinite timestamps");
	int64_t d;
	if (__builtin_sub_overflow(a, b, &d))
		return too_big(err);
	*out = (struct cat_interval){ d % CAT_US_PER_DAY, (int32_t)(d / CAT_US_PER_DAY), 0 };
	return true;
}

bool
cat_timestamp_age(int64_t a, int64_t b, struct cat_interval *out, struct cat_err *err)
{
	if (cat_time_infinite(a) || cat_time_infinite(b))
		return ts_range(err);
	bool swapped = a < b;
	if (swapped) {
		int64_t t = a;
		a = b;
		b = t;
	}
	int64_t da = day_of(a), db = day_of(b), ya, yb;
	int ma, mb, daya, dayb;
	cat_civil(da, &ya, &ma, &daya);
	cat_civil(db, &yb, &mb, &dayb);
	int64_t us = (a - da * CAT_US_PER_DAY) - (b - db * CAT_US_PER_DAY), mon = (ya - yb) * 12 + ma - mb;
	int days = daya - dayb;
	if (us < 0) {
		us += CAT_US_PER_DAY;
		days--;
	}
	if (days < 0) {
		/* the month of the earlier one lends its days */
		days += last_day(yb, mb);
		mon--;
	}
	*out = (struct cat_interval){ us, days, (int32_t)mon };
	return swapped ? cat_interval_negate(*out, out, err) : true;
}

bool
cat_interval_justify(struct cat_interval *v, bool hours, bool days, struct cat_err *err)
{
	if (hours) {
		if (__builtin_add_overflow(v->days, (int32_t)(v->us / CAT_US_PER_DAY), &v->days))
			return too_big(err);
		v->us %= CAT_US_PER_DAY;
	}
	if (days) {
		if (__builtin_add_overflow(v->months, v->days / 30, &v->months))
			return too_big(err);
		v->days %= 30;
	}
	if (days && v->months > 0 && (v->days < 0 || (v->days == 0 && v->us < 0 && hours))) {
		v->days += 30;
		v->months--;
	} else if (days && v->months < 0 && (v->days > 0 || (v->days == 0 && v->us > 0 && hours))) {
		v->days -= 30;
		v->months++;
	}
	if (hours && v->days > 0 && v->us < 0) {
		v->us += CAT_US_PER_DAY;
		v->days--;
	} else if (hours && v->days < 0 && v->us > 0) {
		v->us -= CAT_US_PER_DAY;
		v->days++;
	}
	return true;
}
