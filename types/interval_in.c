/*
 * interval_in.c -- the forms in which people write spans of time: 1 year 2 days ago, 1-2 3 4:05:06,
 * P1Y2DT3H.
 *
 * PostgreSQL's rules, step by step: fields are read from the last one to the first, so that a unit
 * is known before its number.
 */
#include <types/datetime.h>
#include <types/datetime_fields.h>
#include <types/interval.h>

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define US_SECOND INT64_C(1000000)
#define US_MINUTE INT64_C(60000000)
#define US_HOUR   INT64_C(3600000000)

enum { WORD_MAX = 10 }; /* what of a word counts */

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
	U_OTHER, /* a word that says no span */
	U_AGO,
};

/* Units that a text has named: each once. */
enum {
	SECONDS = 1 << U_US | 1 << U_MS | 1 << U_SECOND,
	CLOCK = SECONDS | 1 << U_MINUTE | 1 << U_HOUR,
};

enum outcome { FINE, WRONG, TOO_BIG };

struct span {
	int64_t us;
	int year, month, day;
};

static enum unit
unit_of(const char *w)
{
	static const struct {
		const char *name;
		enum unit u;
	} names[] = { { "ago", U_AGO }, { "c", U_CENTURY }, { "cent", U_CENTURY }, { "centuries", U_CENTURY },
		{ "century", U_CENTURY }, { "d", U_DAY }, { "day", U_DAY }, { "days", U_DAY },
		{ "dec", U_DECADE }, { "decade", U_DECADE }, { "decades", U_DECADE }, { "decs", U_DECADE },
		{ "h", U_HOUR }, { "hour", U_HOUR }, { "hours", U_HOUR }, { "hr", U_HOUR }, { "hrs", U_HOUR },
		{ "m", U_MINUTE }, { "microsecon", U_US }, { "mil", U_MILLENNIUM },
		{ "millennia", U_MILLENNIUM }, { "millennium", U_MILLENNIUM }, { "millisecon", U_MS },
		{ "mils", U_MILLENNIUM }, { "min", U_MINUTE }, { "mins", U_MINUTE }, { "minute", U_MINUTE },
		{ "minutes", U_MINUTE }, { "mon", U_MONTH }, { "mons", U_MONTH }, { "month", U_MONTH },
		{ "months", U_MONTH }, { "ms", U_MS }, { "msec", U_MS }, { "msecond", U_MS },
		{ "mseconds", U_MS }, { "msecs", U_MS }, { "qtr", U_OTHER }, { "quarter", U_OTHER },
		{ "s", U_SECOND }, { "sec", U_SECOND }, { "second", U_SECOND }, { "seconds", U_SECOND },
		{ "secs", U_SECOND }, { "timezone", U_OTHER }, { "us", U_US }, { "usec", U_US },
		{ "usecond", U_US }, { "useconds", U_US }, { "usecs", U_US }, { "w", U_WEEK },
		{ "week", U_WEEK }, { "weeks", U_WEEK }, { "y", U_YEAR }, { "year", U_YEAR },
		{ "years", U_YEAR }, { "yr", U_YEAR }, { "yrs", U_YEAR } };
	for (size_t k = 0; k < sizeof names / sizeof *names; k++)
		if (strncmp(names[k].name, w, WORD_MAX) == 0)
			return names[k].u;
	return U_NONE;
}

/* ---- sums ------------------------------------------------------------------------------- */

static bool
add_int(int *to, int64_t v, int64_t scale)
{
	int64_t more;
	return !__builtin_mul_overflow(v, scale, &more) && more >= INT_MIN && more <= INT_MAX &&
	       !__builtin_add_overflow(*to, (int)more, to);
}

static bool
add_part_us(struct span *x, double part, int64_t scale)
{
	part *= (double)scale;
	int64_t us = (int64_t)part;
	part -= (double)us;
	us += (part > 0.5) - (part < -0.5);
	return !__builtin_add_overflow(x->us, us, &x->us);
}

static bool
add_us(struct span *x, int64_t v, double part, int64_t scale)
{
	int64_t us;
	return !__builtin_mul_overflow(v, scale, &us) && !__builtin_add_overflow(x->us, us, &x->us) &&
	       add_part_us(x, part, scale);
}

static bool
add_part_days(struct span *x, double part, int scale)
{
	part *= scale;
	int days = (int)part;
	return !__builtin_add_overflow(x->day, days, &x->day) && add_part_us(x, part - days, CAT_US_PER_DAY);
}

static bool
add_years(struct span *x, int64_t v, double part, int scale)
{
	int months = (int)rint(part * scale * 12);
	return add_int(&x->year, v, scale) && !__builtin_add_overflow(x->month, months, &x->month);
}

/* v and a part of 1 of a unit. */
static enum outcome
add_unit(struct span *x, int64_t v, double part, enum unit u)
{
	bool ok;
	switch (u) {
	case U_US:
		ok = add_us(x, v, part, 1);
		break;
	case U_MS:
		ok = add_us(x, v, part, 1000);
		break;
	case U_SECOND:
		ok = add_us(x, v, part, US_SECOND);
		break;
	case U_MINUTE:
		ok = add_us(x, v, part, US_MINUTE);
		break;
	case U_HOUR:
		ok = add_us(x, v, part, US_HOUR);
		break;
	case U_DAY:
		ok = add_int(&x->day, v, 1) && add_part_us(x, part, CAT_US_PER_DAY);
		break;
	case U_WEEK:
		ok = add_int(&x->day, v, 7) && add_part_days(x, part, 7);
		break;
	case U_MONTH:
		ok = add_int(&x->month, v, 1) && add_part_days(x, part, 30);
		break;
	case U_YEAR:
		ok = add_years(x, v, part, 1);
		break;
	case U_DECADE:
		ok = add_years(x, v, part, 10);
		break;
	case U_CENTURY:
		ok = add_years(x, v, part, 100);
		break;
	case U_MILLENNIUM:
		ok = add_years(x, v, part, 1000);
		break;
	default:
		return WRONG;
	}
	return ok ? FINE : TOO_BIG;
}

/* ---- PostgreSQL's own form -------------------------------------------------------------- */

/* h:m, h:m:s, m:s.f; two fields are minutes and seconds where the type says so. */
static enum outcome
clock_time(struct span *x, const char *s, int32_t fields)
{
	char *end;
	int minute, second = 0;
	double part = 0;
	errno = 0;
	long long hour = strtoll(s, &end, 10);
	if (errno != 0)
		return TOO_BIG;
	if (*end != ':')
		return WRONG;
	if (!cat_field_int(end + 1, &end, &minute))
		return TOO_BIG;
	if (*end == '.' || (*end == 0 && fields == (CAT_FIELD_MINUTE | CAT_FIELD_SECOND))) {
		if (*end == '.' && !cat_field_fraction(end, &part))
			return WRONG;
		if (hour > INT_MAX || hour < INT_MIN)
			return TOO_BIG;
		second = minute;
		minute = (int)hour;
		hour = 0;
	} else if (*end == ':') {
		if (!cat_field_int(end + 1, &end, &second))
			return TOO_BIG;
		if (*end == '.' ? !cat_field_fraction(end, &part) : *end != 0)
			return WRONG;
	} else if (*end != 0) {
		return WRONG;
	}
	int64_t us = (int64_t)rint(part * 1000000), sum, of_hours;
	if (hour < 0 || minute < 0 || minute > 59 || second < 0 || second > 60 || us < 0 || us > US_SECOND)
		return TOO_BIG;
	sum = us + minute * US_MINUTE + second * US_SECOND;
	if (__builtin_mul_overflow(hour, US_HOUR, &of_hours) || __builtin_add_overflow(sum, of_hours, &x->us))
		return TOO_BIG;
	return FINE;
}

/* Of the last number, if it has no unit. */
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

/* A number of *u, or years-months. *gives: the units that it names. */
static enum outcome
number(struct span *x, const char *s, enum unit *u, unsigned *gives)
{
	char *end;
	double part = 0;
	errno = 0;
	int64_t v = strtoll(s, &end, 10);
	if (errno == ERANGE)
		return TOO_BIG;
	if (*end == '-') {
		int months;
		if (!cat_field_int(end + 1, &end, &months) || months < 0 || months >= 12)
			return TOO_BIG;
		if (*end != 0)
			return WRONG;
		*u = U_MONTH;
		if (__builtin_mul_overflow(v, 12, &v) ||
		    __builtin_add_overflow(v, *s == '-' ? -months : months, &v))
			return TOO_BIG;
	} else if (*end == '.') {
		if (!cat_field_fraction(end, &part))
			return WRONG;
		part = *s == '-' ? -part : part;
	} else if (*end != 0) {
		return WRONG;
	}
	enum outcome r = add_unit(x, v, part, *u);
	*gives = *u == U_SECOND && part != 0 ? (unsigned)SECONDS : 1u << *u;
	if (*u == U_HOUR)
		*u = U_DAY; /* of the number before */
	return r;
}

static enum outcome
one_field(struct span *x, const struct cat_fields *f, unsigned k, int32_t fields, enum unit *u, bool *ago,
    unsigned *gives)
{
	const char *s = f->field[k];
	enum outcome r;
	*gives = 0;
	switch (f->kind[k]) {
	case F_TIME:
		*gives = CLOCK;
		*u = U_DAY;
		return clock_time(x, s, fields);
	case F_WORD:
	case F_SIGNED_WORD:
		*u = unit_of(s);
		*ago |= *u == U_AGO;
		return *u == U_NONE ? WRONG : FINE;
	case F_ZONE:
		if (strchr(s, ':') != NULL && (r = clock_time(x, s + 1, fields)) == FINE) {
			x->us = *s == '-' ? -x->us : x->us;
			*gives = CLOCK;
			*u = U_DAY;
			return FINE;
		}
		/* fall through */
	default:
		if (*u == U_NONE)
			*u = lowest(fields);
		return number(x, s, u, gives);
	}
}

static enum outcome
by_fields(struct span *x, struct cat_str s, int32_t fields)
{
	struct cat_fields f = { .n = 0 };
	enum unit u = U_NONE;
	bool ago = false;
	unsigned seen = 0, gives;
	if (!cat_fields_split(&f, s, CAT_FIELDS_ROOM))
		return WRONG;
	for (unsigned k = f.n; k-- > 0;) {
		enum outcome r = one_field(x, &f, k, fields, &u, &ago, &gives);
		if (r != FINE)
			return r;
		if (seen & gives)
			return WRONG;
		seen |= gives;
	}
	if (seen == 0)
		return WRONG;
	if (!ago)
		return FINE;
	if (x->us == INT64_MIN || x->day == INT_MIN || x->month == INT_MIN || x->year == INT_MIN)
		return TOO_BIG;
	*x = (struct span){ -x->us, -x->year, -x->month, -x->day };
	return FINE;
}

/* ---- ISO 8601 --------------------------------------------------------------------------- */

static enum outcome
iso_number(const char **s, int64_t *whole, double *part)
{
	char *end;
	if (**s != '-' && **s != '.' && (**s < '0' || **s > '9'))
		return WRONG;
	errno = 0;
	double v = strtod(*s, &end);
	if (end == *s || errno != 0)
		return WRONG;
	if (!(v >= -1.0e15 && v <= 1.0e15))
		return TOO_BIG;
	*s = end;
	*whole = (int64_t)v;
	*part = v - (double)*whole;
	return FINE;
}

/* Digits of the number at s. */
static size_t
iso_width(const char *s)
{
	return strspn(s + (*s == '-'), "0123456789");
}

/*
 * The forms without letters: 0001-02-03 and 10:20:30, whose first number is read, and *s is behind
 * what ended it; or that number was all of it, in `width` digits.
 */
static enum outcome
iso_row(struct span *x, const char **s, char ended, int64_t v, double part, const enum unit unit[3], char sep,
    bool packed)
{
	enum outcome r;
	if (packed && ended != sep) {
		if ((r = add_unit(x, v / 10000, 0, unit[0])) != FINE ||
		    (r = add_unit(x, v / 100 % 100, 0, unit[1])) != FINE ||
		    (r = add_unit(x, v % 100, 0, unit[2])) != FINE)
			return r;
		return add_part_us(x, part, unit[2] == U_DAY ? CAT_US_PER_DAY : 1) ? FINE : TOO_BIG;
	}
	if ((r = add_unit(x, v, part, unit[0])) != FINE || ended != sep)
		return r;
	for (unsigned k = 1; k < 3; k++) {
		if ((r = iso_number(s, &v, &part)) != FINE || (r = add_unit(x, v, part, unit[k])) != FINE)
			return r;
		if (**s == 0 || (sep == '-' && **s == 'T'))
			return FINE;
		if (k == 2 || **s != sep)
			return WRONG;
		++*s;
	}
	return WRONG;
}

/* s: behind the P */
static enum outcome
iso(struct span *x, const char *s)
{
	static const enum unit date[3] = { U_YEAR, U_MONTH, U_DAY }, time[3] = { U_HOUR, U_MINUTE, U_SECOND };
	bool clock = false, any = false;
	while (*s != 0) {
		if (*s == 'T') {
			clock = true;
			any = false;
			s++;
			continue;
		}
		const char *begin = s, *letter;
		int64_t v;
		double part;
		enum outcome r = iso_number(&s, &v, &part);
		if (r != FINE)
			return r;
		char end = *s;
		static const char of_date[] = "YMWD", of_time[] = "HMS";
		static const enum unit named_date[] = { U_YEAR, U_MONTH, U_WEEK, U_DAY };
		letter = end != 0 ? strchr(clock ? of_time : of_date, end) : NULL;
		if (letter != NULL) {
			r = add_unit(
			    x, v, part, clock ? time[letter - of_time] : named_date[letter - of_date]);
			if (r != FINE)
				return r;
			s++;
			any = true;
			continue;
		}
		char sep = clock ? ':' : '-';
		if (end != 0 && end != sep && (clock || end != 'T'))
			return WRONG;
		if (any)
			return WRONG;
		s += end == sep;
		r = iso_row(
		    x, &s, end, v, part, clock ? time : date, sep, iso_width(begin) == (clock ? 6 : 8));
		if (r != FINE || clock || *s == 0)
			return r;
	}
	return FINE;
}

/* ---- both ------------------------------------------------------------------------------- */

bool
cat_interval_in(struct cat_str text, int32_t fields, struct cat_interval *out, struct cat_err *err)
{
	struct span x = { 0 };
	int shown = (int)(text.len > 200 ? 200 : text.len);
	if (fields == CAT_FIELD_ALL)
		fields = -1;
	enum outcome r = by_fields(&x, text, fields);
	if (r == WRONG && text.len >= 2 && *text.p == 'P' && text.len < CAT_FIELDS_ROOM) {
		char whole[CAT_FIELDS_ROOM];
		memcpy(whole, text.p, text.len);
		whole[text.len] = 0;
		x = (struct span){ 0 };
		r = iso(&x, whole + 1);
	}
	if (r == TOO_BIG)
		return cat_error(err, "22015", "interval field value out of range: \"%.*s\"", shown, text.p);
	if (r == WRONG)
		return cat_error(
		    err, "22007", "invalid input syntax for type interval: \"%.*s\"", shown, text.p);
	int64_t months = x.year * INT64_C(12) + x.month;
	if (months != (int32_t)months)
		return cat_error(err, "22008", "interval out of range");
	struct cat_interval v = { .us = x.us, .days = x.day, .months = (int32_t)months };
	*out = cat_interval_fit(v, fields);
	return true;
}
