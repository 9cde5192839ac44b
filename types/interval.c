/* interval.c -- spans of time: text in and out, arithmetic. */
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

/* ---- in ------------------------------------------------------------------------- */

enum unit {
	U_NONE,
	U_US,
	U_MS,
	U_SECOND,
	U_MINUTE,
	U_HOUR,
	U_DAY,
	U_WEEK,
	U_MONTH,
	U_YEAR,
	U_DECADE,
	U_CENTURY,
	U_MILLENNIUM,
};

enum outcome { FINE, WRONG, TOO_BIG };

struct scan {
	const char *p, *end;
	struct cat_interval v;
	unsigned seen; /* 1 << unit: each at most once */
};

/* A number with its sign: value and fraction have that sign both. */
struct number {
	int64_t whole;
	double fraction;
	bool negative, has_fraction;
};

static bool
digit(const struct scan *c)
{
	return c->p < c->end && *c->p >= '0' && *c->p <= '9';
}

static bool
letter(const struct scan *c)
{
	return c->p < c->end && ((*c->p >= 'a' && *c->p <= 'z') || (*c->p >= 'A' && *c->p <= 'Z'));
}

static bool
at(const struct scan *c, char ch)
{
	return c->p < c->end && *c->p == ch;
}

static void
blanks(struct scan *c)
{
	while (c->p < c->end && (*c->p == ' ' || (*c->p >= '\t' && *c->p <= '\r')))
		c->p++;
}

static enum outcome
digits(struct scan *c, int64_t *out)
{
	*out = 0;
	bool over = false;
	if (!digit(c))
		return WRONG;
	for (; digit(c); c->p++)
		over |=
		    __builtin_mul_overflow(*out, 10, out) || __builtin_add_overflow(*out, *c->p - '0', out);
	return over ? TOO_BIG : FINE;
}

/* .ffff */
static double
fraction(struct scan *c)
{
	char t[32] = "0.";
	unsigned n = 2;
	for (c->p++; digit(c); c->p++)
		if (n < sizeof t - 1)
			t[n++] = *c->p;
	t[n] = 0;
	return strtod(t, NULL);
}

static enum outcome
add(int32_t *to, int64_t x)
{
	int64_t sum;
	if (__builtin_add_overflow((int64_t)*to, x, &sum) || sum != (int32_t)sum)
		return TOO_BIG;
	*to = (int32_t)sum;
	return FINE;
}

static enum outcome
add_us(struct scan *c, int64_t x, int64_t unit)
{
	int64_t us;
	return __builtin_mul_overflow(x, unit, &us) || __builtin_add_overflow(c->v.us, us, &c->v.us) ? TOO_BIG
												     : FINE;
}

/* fraction * unit microseconds, rounded */
static enum outcome
part_us(struct scan *c, double f, int64_t unit)
{
	f *= (double)unit;
	int64_t us = (int64_t)f;
	f -= (double)us;
	return add_us(c, us + (f > 0.5) - (f < -0.5), 1);
}

static enum outcome
part_days(struct scan *c, double f, int days)
{
	f *= days;
	int whole = (int)f;
	enum outcome r = add(&c->v.days, whole);
	return r != FINE ? r : part_us(c, f - whole, CAT_US_PER_DAY);
}

static enum outcome
months(struct scan *c, struct number n, int64_t each)
{
	int64_t m;
	if (__builtin_mul_overflow(n.whole, each, &m))
		return TOO_BIG;
	enum outcome r = add(&c->v.months, m);
	return r != FINE ? r : add(&c->v.months, (int64_t)rint(n.fraction * (double)each));
}

static enum outcome
put(struct scan *c, struct number n, enum unit u)
{
	enum outcome r;
	int64_t w;
	/* a second, milliseconds and microseconds fill one field */
	if (c->seen & 1u << u)
		return WRONG;
	c->seen |= 1u << u;
	switch (u) {
	case U_US:
		r = add_us(c, n.whole, 1);
		return r != FINE ? r : add_us(c, (int64_t)rint(n.fraction), 1);
	case U_MS:
		r = add_us(c, n.whole, 1000);
		return r != FINE ? r : part_us(c, n.fraction, 1000);
	case U_SECOND:
		r = add_us(c, n.whole, US_SECOND);
		return r != FINE ? r : part_us(c, n.fraction, US_SECOND);
	case U_MINUTE:
		r = add_us(c, n.whole, US_MINUTE);
		return r != FINE ? r : part_us(c, n.fraction, US_MINUTE);
	case U_HOUR:
		r = add_us(c, n.whole, US_HOUR);
		return r != FINE ? r : part_us(c, n.fraction, US_HOUR);
	case U_DAY:
		r = add(&c->v.days, n.whole);
		return r != FINE ? r : part_us(c, n.fraction, CAT_US_PER_DAY);
	case U_WEEK:
		if (__builtin_mul_overflow(n.whole, 7, &w))
			return TOO_BIG;
		r = add(&c->v.days, w);
		return r != FINE ? r : part_days(c, n.fraction, 7);
	case U_MONTH:
		r = add(&c->v.months, n.whole);
		return r != FINE ? r : part_days(c, n.fraction, 30);
	case U_YEAR:
		return months(c, n, 12);
	case U_DECADE:
		return months(c, n, 120);
	case U_CENTURY:
		return months(c, n, 1200);
	case U_MILLENNIUM:
		return months(c, n, 12000);
	default:
		return WRONG;
	}
}

static enum unit
unit_of(const char *w, size_t n)
{
	static const struct {
		const char *name;
		enum unit u;
	} names[] = { { "microseconds", U_US }, { "microsecond", U_US }, { "us", U_US }, { "usec", U_US },
		{ "usecs", U_US }, { "usecond", U_US }, { "useconds", U_US }, { "milliseconds", U_MS },
		{ "millisecond", U_MS }, { "ms", U_MS }, { "msec", U_MS }, { "msecs", U_MS },
		{ "msecond", U_MS }, { "mseconds", U_MS }, { "s", U_SECOND }, { "sec", U_SECOND },
		{ "secs", U_SECOND }, { "second", U_SECOND }, { "seconds", U_SECOND }, { "m", U_MINUTE },
		{ "min", U_MINUTE }, { "mins", U_MINUTE }, { "minute", U_MINUTE }, { "minutes", U_MINUTE },
		{ "h", U_HOUR }, { "hr", U_HOUR }, { "hrs", U_HOUR }, { "hour", U_HOUR }, { "hours", U_HOUR },
		{ "d", U_DAY }, { "day", U_DAY }, { "days", U_DAY }, { "w", U_WEEK }, { "week", U_WEEK },
		{ "weeks", U_WEEK }, { "mon", U_MONTH }, { "mons", U_MONTH }, { "month", U_MONTH },
		{ "months", U_MONTH }, { "y", U_YEAR }, { "yr", U_YEAR }, { "yrs", U_YEAR },
		{ "year", U_YEAR }, { "years", U_YEAR }, { "dec", U_DECADE }, { "decs", U_DECADE },
		{ "decade", U_DECADE }, { "decades", U_DECADE }, { "c", U_CENTURY }, { "cent", U_CENTURY },
		{ "century", U_CENTURY }, { "centuries", U_CENTURY }, { "mil", U_MILLENNIUM },
		{ "mils", U_MILLENNIUM }, { "millennium", U_MILLENNIUM }, { "millenniums", U_MILLENNIUM },
		{ "millennia", U_MILLENNIUM } };
	for (size_t k = 0; k < sizeof names / sizeof *names; k++)
		if (strlen(names[k].name) == n && strncasecmp(names[k].name, w, n) == 0)
			return names[k].u;
	return U_NONE;
}

/* h:m, h:m:s, m:s.f; the first number is read, at ':' */
static enum outcome
clock_part(struct scan *c, struct number n, int32_t fields)
{
	int64_t a, b = 0;
	double f = 0;
	bool third = false;
	if (n.has_fraction || c->seen & (1u << U_HOUR | 1u << U_MINUTE | 1u << U_SECOND))
		return WRONG;
	c->seen |= 1u << U_HOUR | 1u << U_MINUTE | 1u << U_SECOND;
	c->p++;
	enum outcome r = digits(c, &a);
	if (r != FINE)
		return r;
	if (at(c, ':')) {
		c->p++;
		third = true;
		if ((r = digits(c, &b)) != FINE)
			return r;
	}
	bool dot = at(c, '.');
	if (dot)
		f = fraction(c);
	int64_t h = n.negative ? -n.whole : n.whole;
	/* two fields are hours and minutes, but minutes and seconds where the seconds have a
	 * fraction or the type says so */
	if (!third && (dot || fields == (CAT_FIELD_MINUTE | CAT_FIELD_SECOND))) {
		b = a;
		a = h;
		h = 0;
	}
	if (a > 59 || b > 60)
		return TOO_BIG;
	int64_t s = n.negative ? -1 : 1;
	if ((r = add_us(c, s * h, US_HOUR)) != FINE || (r = add_us(c, s * a, US_MINUTE)) != FINE ||
	    (r = add_us(c, s * b, US_SECOND)) != FINE)
		return r;
	return part_us(c, (double)s * f, US_SECOND);
}

/* Of a number without a unit at the end of the text. */
static enum unit
lowest(int32_t fields)
{
	if (fields < 0 || fields & CAT_FIELD_SECOND)
		return U_SECOND;
	return fields & CAT_FIELD_MINUTE  ? U_MINUTE
	       : fields & CAT_FIELD_HOUR  ? U_HOUR
	       : fields & CAT_FIELD_DAY   ? U_DAY
	       : fields & CAT_FIELD_MONTH ? U_MONTH
					  : U_YEAR;
}

static enum outcome
signed_number(struct scan *c, struct number *n)
{
	enum outcome r = FINE;
	*n = (struct number){ 0 };
	if (at(c, '-') || at(c, '+'))
		n->negative = *c->p++ == '-';
	blanks(c);
	if (!at(c, '.'))
		r = digits(c, &n->whole);
	else if (c->p + 1 >= c->end || c->p[1] < '0' || c->p[1] > '9')
		r = WRONG;
	if (r != FINE)
		return r;
	if (at(c, '.')) {
		n->fraction = fraction(c);
		n->has_fraction = true;
	}
	if (n->negative) {
		n->whole = -n->whole;
		n->fraction = -n->fraction;
	}
	return FINE;
}

/*
 * The rest of a number: -10-15 behind a year, :30:20 behind hours; or the number was all of it,
 * in digits without them.
 */
static enum outcome
iso_parts(struct scan *c, struct number n, unsigned len, bool time)
{
	static const enum unit day[3] = { U_YEAR, U_MONTH, U_DAY }, clock[3] = { U_HOUR, U_MINUTE, U_SECOND };
	const enum unit *unit = time ? clock : day;
	int64_t packed = n.whole;
	enum outcome r;
	if (!at(c, time ? ':' : '-') && len == (time ? 6 : 8)) {
		struct number part[3] = { { .whole = packed / 10000 }, { .whole = packed / 100 % 100 },
			{ .whole = packed % 100 } };
		for (unsigned k = 0; k < 3; k++)
			if ((r = put(c, part[k], unit[k])) != FINE)
				return r;
		return FINE;
	}
	r = put(c, n, unit[0]);
	for (unsigned k = 1; k < 3 && r == FINE && at(c, time ? ':' : '-'); k++) {
		struct number m = { 0 };
		c->p++;
		if ((r = digits(c, &m.whole)) != FINE)
			return r;
		if (at(c, '.') && unit[k] == U_SECOND)
			m.fraction = fraction(c);
		r = put(c, m, unit[k]);
	}
	return r;
}

/* P1Y2M3DT4H5M6S, P0001-02-03T04:05:06, P00010203T040506 */
static enum outcome
iso(struct scan *c)
{
	bool time = false, any = false;
	for (c->p++; c->p < c->end; any = true) {
		struct number n;
		if (at(c, 'T') && !time) {
			time = true;
			c->p++;
			continue;
		}
		unsigned len = 0;
		while (c->p + len < c->end && c->p[len] >= '0' && c->p[len] <= '9')
			len++;
		enum outcome r = signed_number(c, &n);
		if (r != FINE)
			return r;
		if (c->p == c->end || at(c, time ? ':' : '-') || (at(c, 'T') && !time)) {
			if ((r = iso_parts(c, n, len, time)) != FINE)
				return r;
			if (c->p < c->end && (time || !at(c, 'T')))
				return WRONG;
			continue;
		}
		char u = *c->p++;
		enum unit unit = U_NONE;
		if (time)
			unit = u == 'H' ? U_HOUR : u == 'M' ? U_MINUTE : u == 'S' ? U_SECOND : U_NONE;
		else
			unit = u == 'Y'   ? U_YEAR
			       : u == 'M' ? U_MONTH
			       : u == 'W' ? U_WEEK
			       : u == 'D' ? U_DAY
					  : U_NONE;
		if ((r = put(c, n, unit)) != FINE)
			return r;
	}
	return any ? FINE : WRONG;
}

/* True if a time follows, or a number of hours. Then a number before it without a unit means
 * days. */
static bool
hours_follow(const struct scan *c, int32_t fields)
{
	const char *q = c->p + (at(c, '-') || at(c, '+'));
	while (q < c->end && ((*q >= '0' && *q <= '9') || *q == '.'))
		q++;
	if (q < c->end && *q == ':')
		return true;
	while (q < c->end && *q == ' ')
		q++;
	if (q == c->end)
		return lowest(fields) == U_HOUR;
	const char *w = q;
	while (q < c->end && ((*q >= 'a' && *q <= 'z') || (*q >= 'A' && *q <= 'Z')))
		q++;
	return unit_of(w, (size_t)(q - w)) == U_HOUR;
}

static enum outcome
fields_of(struct scan *c, int32_t fields)
{
	bool any = false, ago = false;
	for (blanks(c); c->p < c->end; blanks(c)) {
		struct number n;
		if (at(c, '@')) {
			c->p++;
			continue;
		}
		if (letter(c)) {
			const char *w = c->p;
			while (letter(c))
				c->p++;
			if (!any || ago || c->p - w != 3 || strncasecmp(w, "ago", 3) != 0)
				return WRONG;
			ago = true;
			continue;
		}
		if (ago)
			return WRONG;
		enum outcome r = signed_number(c, &n);
		if (r != FINE)
			return r;
		any = true;
		if (at(c, ':')) {
			if ((r = clock_part(c, n, fields)) != FINE)
				return r;
			continue;
		}
		if (at(c, '-') && !n.has_fraction) {
			int64_t m;
			c->p++;
			if ((r = digits(c, &m)) != FINE)
				return r;
			if (m > 11)
				return TOO_BIG;
			struct number mon = { .whole = n.negative ? -m : m };
			if ((r = put(c, n, U_YEAR)) != FINE || (r = put(c, mon, U_MONTH)) != FINE)
				return r;
			continue;
		}
		blanks(c);
		const char *w = c->p;
		while (letter(c))
			c->p++;
		enum unit u = U_NONE;
		if (c->p > w && !(c->p - w == 3 && strncasecmp(w, "ago", 3) == 0)) {
			u = unit_of(w, (size_t)(c->p - w));
			if (u == U_NONE)
				return WRONG;
		} else {
			/* the days before a time, or the last number */
			c->p = w;
			if (c->p == c->end || letter(c)) {
				u = lowest(fields);
			} else {
				if (!hours_follow(c, fields))
					return WRONG;
				u = U_DAY;
			}
		}
		if ((r = put(c, n, u)) != FINE)
			return r;
	}
	if (!any)
		return WRONG;
	if (ago) {
		struct cat_err ignored;
		if (!cat_interval_negate(c->v, &c->v, &ignored))
			return TOO_BIG;
	}
	return FINE;
}

bool
cat_interval_in(struct cat_str text, int32_t fields, struct cat_interval *out, struct cat_err *err)
{
	struct scan c = { .p = text.p, .end = text.p + text.len };
	int shown = (int)(text.len > 200 ? 200 : text.len);
	blanks(&c);
	while (c.end > c.p && (c.end[-1] == ' ' || (c.end[-1] >= '\t' && c.end[-1] <= '\r')))
		c.end--;
	if (fields == CAT_FIELD_ALL)
		fields = -1;
	enum outcome r = at(&c, 'P') ? iso(&c) : fields_of(&c, fields);
	if (r == TOO_BIG)
		return cat_error(err, "22015", "interval field value out of range: \"%.*s\"", shown, text.p);
	if (r == WRONG)
		return cat_error(
		    err, "22007", "invalid input syntax for type interval: \"%.*s\"", shown, text.p);
	*out = cat_interval_fit(c.v, fields);
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
