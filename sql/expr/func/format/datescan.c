/*
 * datescan.c -- to_date and to_timestamp: text read by a template.
 *
 * Which field takes how much of the text, and which contradict each other, is as in PostgreSQL.
 */
#include <sql/expr/func/format/datefmt.h>
#include <sql/expr/func/table.h>
#include <types/datetime.h>

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

struct scan {
	const struct sql_env *env;
	struct cat_str s;
	uint32_t at;
	int calendar;
	unsigned digits; /* of a fraction of a second, as FFn says; 0 = all */
	int64_t hh, pm, mi, ss, ssss, d, dd, ddd, mm, ms, year, bc, ww, w, cc, j, us, yysz, tzh, tzm;
	int tzsign;
	bool twelve;
};

static char
peek(const struct scan *c)
{
	return c->at < c->s.len ? c->s.p[c->at] : 0;
}

/* Blanks; how many. */
static int64_t
skip_spaces(struct scan *c)
{
	uint32_t from = c->at;
	while (sql_datefmt_space(peek(c)))
		c->at++;
	return c->at - from;
}

static void
skip_char(struct scan *c)
{
	if (c->at < c->s.len)
		sql_utf8_get(c->s, &c->at);
}

static bool
fail(struct scan *c, const char *detail, const char *fmt, const char *a, int alen, const char *b)
{
	char text[200];
	snprintf(text, sizeof text, fmt, alen, a, b);
	if (detail != NULL)
		snprintf(c->env->err->detail, sizeof c->env->err->detail, "%s", detail);
	return cat_error(c->env->err, "22007", "%s", text);
}

static bool
set_int(struct scan *c, const struct sql_datefmt_step *s, int64_t *to, int64_t v)
{
	if (*to != 0 && *to != v)
		return fail(c, "This value contradicts a previous setting for the same field type.",
		    "conflicting values for \"%.*s\" field in formatting string", s->word->name, s->word->len,
		    "");
	*to = v;
	return true;
}

/* True if s is followed in the template by something that is surely no digit. Then its number may
 * be of any length. */
static bool
ends_number(const struct sql_datefmt_step *s, const struct sql_datefmt_step *end)
{
	if (s->th != 0)
		return true;
	if (++s == end)
		return true;
	if (s->word != NULL)
		return !s->word->digits;
	return !(s->len == 1 && s->p[0] >= '0' && s->p[0] <= '9');
}

/* A number of at most len characters, or of any length; *used: how many the text gave. */
static bool
take_int(struct scan *c, const struct sql_datefmt_step *s, const struct sql_datefmt_step *end, unsigned len,
    int64_t *to, unsigned *used)
{
	static const char fixed[] =
	    "If your source string is not fixed-width, try using the \"FM\" modifier.";
	uint32_t init = c->at;
	skip_spaces(c);
	uint32_t from = c->at, left = c->s.len - from, stop;
	bool any_length = s->fill || ends_number(s, end), minus;
	char detail[120];
	if (!any_length && left < len) {
		snprintf(
		    detail, sizeof detail, "Field requires %u characters, but only %u remain.", len, left);
		fail(c, detail, "source string too short for \"%.*s\" formatting field", s->word->name,
		    s->word->len, "");
		snprintf(c->env->err->hint, sizeof c->env->err->hint, "%s", fixed);
		return false;
	}
	stop = any_length || left < len ? c->s.len : from + len;
	uint32_t k = from;
	while (k < stop && sql_datefmt_space(c->s.p[k])) /* as strtol does */
		k++;
	minus = k < stop && c->s.p[k] == '-';
	k += k < stop && (c->s.p[k] == '-' || c->s.p[k] == '+');
	int64_t v = 0;
	uint32_t digits = k;
	for (; k < stop && c->s.p[k] >= '0' && c->s.p[k] <= '9'; k++)
		v = v < INT64_C(1) << 40 ? v * 10 + (c->s.p[k] - '0') : v;
	uint32_t shown = left < len ? left : len;
	if (k == digits)
		return c->at = init, fail(c, "Value must be an integer.", "invalid value \"%.*s\" for \"%s\"",
					 c->s.p + from, (int)shown, s->word->name);
	if (!any_length && k - from < len) {
		snprintf(detail, sizeof detail, "Field requires %u characters, but only %u could be parsed.",
		    len, k - from);
		fail(
		    c, detail, "invalid value \"%.*s\" for \"%s\"", c->s.p + from, (int)shown, s->word->name);
		snprintf(c->env->err->hint, sizeof c->env->err->hint, "%s", fixed);
		return false;
	}
	c->at = k;
	v = minus ? -v : v;
	if (v != (int32_t)v) {
		snprintf(c->env->err->detail, sizeof c->env->err->detail,
		    "Value must be in the range -2147483648 to 2147483647.");
		return cat_error(
		    c->env->err, "22008", "value for \"%s\" in source string is out of range", s->word->name);
	}
	*used = k - init;
	return to == NULL || set_int(c, s, to, v);
}

static bool
begins(const struct scan *c, const char *name, size_t n)
{
	return c->s.len - c->at >= n && strncasecmp(c->s.p + c->at, name, n) == 0;
}

/* Which of the names the text goes on with: whole, or their first len letters. */
static bool
take_name(struct scan *c, const struct sql_datefmt_step *s, const char *const *names, unsigned n, size_t len,
    int64_t *out)
{
	for (unsigned k = 0; k < n && c->at < c->s.len; k++) {
		size_t m = len ? len : strlen(names[k]);
		if (begins(c, names[k], m)) {
			c->at += (uint32_t)m;
			*out = k;
			return true;
		}
	}
	uint32_t end = c->at;
	while (end < c->s.len && !sql_datefmt_space(c->s.p[end]))
		end++;
	return fail(c, "The given value did not match any of the allowed values for this field.",
	    "invalid value \"%.*s\" for \"%s\"", c->s.p + c->at, (int)(end - c->at), s->word->name);
}

static bool
take_year(
    struct scan *c, const struct sql_datefmt_step *s, const struct sql_datefmt_step *end, unsigned digits)
{
	unsigned used;
	int64_t y = 0;
	if (!take_int(c, s, end, digits, &y, &used))
		return false;
	if (digits < 4 && used < 4)
		y += y < 70 ? 2000 : y < 100 ? 1900 : y < 520 ? 2000 : y < 1000 ? 1000 : 0;
	c->yysz = digits;
	return set_int(c, s, &c->year, y);
}

/* Y,YYY */
static bool
take_thousands(struct scan *c, const struct sql_datefmt_step *s)
{
	char buf[32];
	int thousands, rest, used = 0;
	snprintf(buf, sizeof buf, "%.*s", (int)(c->s.len - c->at), c->s.p + c->at);
	if (sscanf(buf, "%9d,%03d%n", &thousands, &rest, &used) < 2)
		return fail(c, NULL, "invalid input string for \"%.*s\"%s", s->word->name, s->word->len, "");
	c->at += (uint32_t)used;
	c->yysz = 4;
	return set_int(c, s, &c->year, (int64_t)thousands * 1000 + rest);
}

static bool
take_field(
    struct scan *c, const struct sql_datefmt_step *s, const struct sql_datefmt_step *end, int64_t extra)
{
	static const char *const halves[] = { "am", "pm" }, *const dotted[] = { "a.m.", "p.m." },
				 *const eras[] = { "ad", "bc" }, *const dotted_eras[] = { "a.d.", "b.c." };
	static const int64_t up[] = { 0, 100000, 10000, 1000, 100, 10, 1 };
	const struct sql_datefmt_word *w = s->word;
	bool dots = w->style == DOTS || w->style == LOWER_DOTS;
	unsigned used, n;
	int64_t v = 0;
	if (w->calendar != ANY_CALENDAR && c->calendar != ANY_CALENDAR && c->calendar != w->calendar) {
		snprintf(c->env->err->hint, sizeof c->env->err->hint,
		    "Do not mix Gregorian and ISO week date conventions in a formatting template.");
		return cat_error(c->env->err, "22007", "invalid combination of date conventions");
	}
	if (w->calendar != ANY_CALENDAR)
		c->calendar = w->calendar;
	switch ((enum field)w->field) {
	case F_FX:
		return true;
	case F_AM:
		c->twelve = true;
		return take_name(c, s, dots ? dotted : halves, 2, 0, &v) && set_int(c, s, &c->pm, v);
	case F_AD:
		return take_name(c, s, dots ? dotted_eras : eras, 2, 0, &v) && set_int(c, s, &c->bc, v);
	case F_HH12:
		c->twelve = true;
		return take_int(c, s, end, 2, &c->hh, &used);
	case F_HH24:
		return take_int(c, s, end, 2, &c->hh, &used);
	case F_MI:
		return take_int(c, s, end, 2, &c->mi, &used);
	case F_SS:
		return take_int(c, s, end, 2, &c->ss, &used);
	case F_MS:
		if (!take_int(c, s, end, 3, &c->ms, &used))
			return false;
		c->ms *= used == 1 ? 100 : used == 2 ? 10 : 1;
		return true;
	case F_FF1:
	case F_FF2:
	case F_FF3:
	case F_FF4:
	case F_FF5:
	case F_FF6:
	case F_US:
		n = w->field == F_US ? 6 : (unsigned)(w->field - F_FF1 + 1);
		c->digits = w->field == F_US ? c->digits : n;
		if (!take_int(c, s, end, n, &c->us, &used))
			return false;
		c->us *= used < 6 ? up[used] : 1;
		return true;
	case F_SSSS:
		return take_int(c, s, end, w->len, &c->ssss, &used);
	case F_TZ:
	case F_OF:
		return cat_error(
		    c->env->err, "0A000", "formatting field \"%s\" is only supported in to_char", w->name);
	case F_TZH:
		if (peek(c) == '+' || peek(c) == '-' || peek(c) == ' ')
			c->tzsign = c->s.p[c->at++] == '-' ? -1 : 1;
		else
			c->tzsign = extra > 0 && c->at > 0 && c->s.p[c->at - 1] == '-' ? -1 : 1;
		return take_int(c, s, end, 2, &c->tzh, &used);
	case F_TZM:
		if (c->tzsign == 0)
			c->tzsign = 1;
		return take_int(c, s, end, 2, &c->tzm, &used);
	case F_MONTH:
		return take_name(c, s, sql_month_names, 12, 0, &v) && set_int(c, s, &c->mm, v + 1);
	case F_MON:
		return take_name(c, s, sql_month_names, 12, 3, &v) && set_int(c, s, &c->mm, v + 1);
	case F_MM:
		return take_int(c, s, end, 2, &c->mm, &used);
	case F_DAY:
	case F_DY:
		if (!take_name(c, s, sql_day_names, 7, w->field == F_DAY ? 0 : 3, &v) ||
		    !set_int(c, s, &c->d, v))
			return false;
		c->d++;
		return true;
	case F_DDD:
	case F_IDDD:
		return take_int(c, s, end, 3, &c->ddd, &used);
	case F_DD:
		return take_int(c, s, end, 2, &c->dd, &used);
	case F_D:
		return take_int(c, s, end, 1, &c->d, &used);
	case F_ID:
		if (!take_int(c, s, end, 1, &c->d, &used))
			return false;
		if (++c->d > 7)
			c->d = 1;
		return true;
	case F_WW:
	case F_IW:
		return take_int(c, s, end, 2, &c->ww, &used);
	case F_W:
		return take_int(c, s, end, 1, &c->w, &used);
	case F_Q:
		return take_int(c, s, end, 1, NULL, &used);
	case F_CC:
		return take_int(c, s, end, 2, &c->cc, &used);
	case F_J:
		return take_int(c, s, end, 1, &c->j, &used);
	case F_RM:
		return take_name(c, s, sql_roman_months, 12, 0, &v) && set_int(c, s, &c->mm, 12 - v);
	case F_Y_YYY:
		return take_thousands(c, s);
	case F_YYYY:
	case F_IYYY:
		return take_year(c, s, end, 4);
	case F_YYY:
	case F_IYY:
		return take_year(c, s, end, 3);
	case F_YY:
	case F_IY:
		return take_year(c, s, end, 2);
	case F_Y:
	case F_I:
		return take_year(c, s, end, 1);
	}
	return true;
}

static bool
scan(struct scan *c, const struct sql_datefmt_step *s, const struct sql_datefmt_step *end)
{
	bool exact = false;
	int64_t extra = 0; /* characters skipped beyond what the template says */
	const struct sql_datefmt_step *first = s;
	for (; s < end && c->at < c->s.len; s++) {
		bool fx = s->word != NULL && s->word->field == F_FX;
		if (!exact && !fx && (s->word != NULL || s == first))
			extra += skip_spaces(c);
		if (s->word == NULL && (s->space || s->separator)) {
			if (exact) {
				skip_char(c);
			} else {
				extra--;
				if (sql_datefmt_space(peek(c)) || sql_datefmt_separator(peek(c))) {
					c->at++;
					extra++;
				}
			}
			continue;
		}
		if (s->word == NULL) {
			if (!exact && extra > 0)
				extra--;
			else
				skip_char(c);
			continue;
		}
		if (c->at == c->s.len)
			break;
		exact |= fx;
		if (!take_field(c, s, end, extra))
			return false;
		if (s->th != 0 && s->word->digits) {
			skip_char(c);
			skip_char(c);
		}
		if (!exact)
			extra = skip_spaces(c);
	}
	return true;
}

static bool
out_of_range(struct scan *c)
{
	return cat_error(c->env->err, "22008", "date/time field value out of range: \"%.*s\"",
	    (int)(c->s.len > 200 ? 200 : c->s.len), c->s.p);
}

/* The year that what was read means; year 0 is 1 BC. */
static bool
year_of(const struct scan *c, int64_t *year)
{
	int64_t cc = c->bc ? -c->cc : c->cc;
	*year = 0;
	if (c->year != 0 && c->cc != 0 && c->yysz <= 2) {
		int64_t y = c->year % 100;
		*year = y == 0    ? cc * 100 + (cc >= 0 ? 0 : 1)
			: cc >= 0 ? y + (cc - 1) * 100
				  : (cc + 1) * 100 - y + 1;
	} else if (c->year != 0) {
		*year = c->bc ? -c->year : c->year;
		if (*year < 0)
			++*year;
	} else if (c->cc != 0) {
		*year = cc >= 0 ? (cc - 1) * 100 + 1 : cc * 100 + 1;
	} else {
		return false;
	}
	return true;
}

static bool
leap(int64_t y)
{
	return y % 4 == 0 && (y % 100 != 0 || y % 400 == 0);
}

/* What was read as a date, and as microseconds of that day. */
static bool
conclude(struct scan *c, int64_t *date, int64_t *us)
{
	static const int8_t last[13] = { 0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	int64_t hour = c->ssss / 3600, min = c->ssss / 60 % 60, sec = c->ssss % 60, year;
	int month = 1, day = 1;
	bool have_year, have_month = false, have_day = false;
	sec = c->ss ? c->ss : sec;
	min = c->mi ? c->mi : min;
	hour = c->hh ? c->hh : hour;
	if (c->twelve) {
		if (hour < 1 || hour > 12) {
			snprintf(c->env->err->hint, sizeof c->env->err->hint,
			    "Use the 24-hour clock, or give an hour between 1 and 12.");
			return cat_error(
			    c->env->err, "22007", "hour \"%d\" is invalid for the 12-hour clock", (int)hour);
		}
		hour = c->pm && hour < 12 ? hour + 12 : !c->pm && hour == 12 ? 0 : hour;
	}
	have_year = year_of(c, &year);
	if (year > 6000000 || year < -5000)
		return out_of_range(c);
	if (c->j != 0) {
		if (c->j < 0)
			return out_of_range(c);
		cat_civil(c->j - 2451545, &year, &month, &day);
		have_year = have_month = have_day = true;
	}
	if (c->ww != 0 && c->calendar == ISO_WEEKS) {
		if (c->ww > 1000000 || c->ww < -1000000)
			return out_of_range(c);
		/* days count from Sunday = 1 here */
		int64_t on = c->d == 0 ? 0 : c->d == 1 ? 6 : c->d - 2;
		cat_civil(sql_iso_year_start(year) + (c->ww - 1) * 7 + on, &year, &month, &day);
		have_year = have_month = have_day = true;
	} else if (c->ww != 0) {
		c->ddd = (c->ww - 1) * 7 + 1;
	}
	if (c->w != 0)
		c->dd = (c->w - 1) * 7 + 1;
	if (c->dd != 0) {
		if (c->dd < 1 || c->dd > 31)
			return out_of_range(c);
		day = (int)c->dd;
		have_day = true;
	}
	if (c->mm != 0) {
		if (c->mm < 1 || c->mm > 12)
			return out_of_range(c);
		month = (int)c->mm;
		have_month = true;
	}
	if (c->ddd != 0 && (month <= 1 || day <= 1)) {
		if (year == 0 && !c->bc)
			return cat_error(
			    c->env->err, "22007", "cannot calculate day of year without year information");
		if (c->ddd < 1 || c->ddd > (c->calendar == ISO_WEEKS ? 100000 : leap(year) ? 366 : 365))
			return out_of_range(c);
		int64_t y;
		int m, d;
		if (c->calendar == ISO_WEEKS) {
			cat_civil(sql_iso_year_start(year) + c->ddd - 1, &year, &month, &day);
			have_year = true;
		} else {
			cat_civil(cat_days(year, 1, 1) + c->ddd - 1, &y, &m, &d);
			month = month <= 1 ? m : month;
			day = day <= 1 ? d : day;
		}
		have_month = have_day = true;
	}
	if (have_year && have_month && have_day && day > last[month] - (month == 2 && !leap(year)))
		return out_of_range(c);
	int64_t fraction = c->ms * 1000 + c->us;
	if (hour < 0 || hour >= 24 || min < 0 || min >= 60 || sec < 0 || sec >= 60 || fraction < 0 ||
	    fraction >= 1000000)
		return out_of_range(c);
	if (c->tzsign != 0 && (c->tzh < 0 || c->tzh > 15 || c->tzm < 0 || c->tzm >= 60))
		return cat_error(c->env->err, "22009", "time zone displacement out of range: \"%.*s\"",
		    (int)(c->s.len > 200 ? 200 : c->s.len), c->s.p);
	*date = cat_days(year, month, day);
	*us = ((hour * 60 + min) * 60 + sec) * 1000000 + fraction;
	return true;
}

static bool
read_in(struct sql_row *r, struct scan *c, int64_t *date, int64_t *us)
{
	unsigned n;
	*c = (struct scan){ .env = r->env, .s = r->a[0].s };
	struct sql_datefmt_step *s = sql_datefmt_steps(r->env, r->a[1].s, &n);
	return s != NULL && scan(c, s, s + n) && conclude(c, date, us);
}

static bool
k_to_date(struct sql_row *r)
{
	struct scan c;
	int64_t date, us;
	if (!read_in(r, &c, &date, &us))
		return false;
	if (!cat_date_valid(date))
		return cat_error(r->env->err, "22008", "date out of range: \"%.*s\"",
		    (int)(c.s.len > 200 ? 200 : c.s.len), c.s.p);
	r->out.i = date;
	return true;
}

static bool
k_to_timestamp(struct sql_row *r)
{
	struct scan c;
	int64_t date, us;
	if (!read_in(r, &c, &date, &us))
		return false;
	if (!cat_date_valid(date) || !cat_date_to_timestamp(date, &r->out.i, r->env->err))
		return cat_error(r->env->err, "22008", "timestamp out of range");
	r->out.i += us - c.tzsign * (c.tzh * 60 + c.tzm) * 60000000;
	for (int64_t unit = 1, k = c.digits; c.digits > 0 && k <= 6; k++, unit *= 10)
		if (k == 6) {
			int64_t half = r->out.i < 0 ? -(unit / 2) : unit / 2;
			r->out.i = (r->out.i + half) / unit * unit;
		}
	return cat_timestamp_valid(r->out.i) || cat_error(r->env->err, "22008", "timestamp out of range");
}

/* Seconds since 1970. */
static bool
k_from_epoch(struct sql_row *r)
{
	double s = r->a[0].f;
	if (isinf(s)) {
		r->out.i = s > 0 ? INT64_MAX : INT64_MIN;
		return true;
	}
	if (isnan(s))
		return cat_error(r->env->err, "22008", "timestamp cannot be NaN");
	if (s < -210866803200.0 || s >= 9224318016000.0)
		return cat_error(r->env->err, "22008", "timestamp out of range: \"%g\"", s);
	r->out.i = (int64_t)rint((s - 946684800.0) * 1000000.0);
	return cat_timestamp_valid(r->out.i) ||
	       cat_error(r->env->err, "22008", "timestamp out of range: \"%g\"", s);
}

#define T  CAT_TEXT
#define TZ CAT_TIMESTAMPTZ

const struct sql_fn sql_fns_datescan[] = {
	F("to_date", 2, CAT_DATE, k_to_date, T, T),
	F("to_timestamp", 2, TZ, k_to_timestamp, T, T),
	F("to_timestamp", 1, TZ, k_from_epoch, CAT_FLOAT8),
	{ 0 },
};
