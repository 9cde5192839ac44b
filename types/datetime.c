/* datetime.c -- calendar arithmetic, and the forms in which people write dates. */
#include <types/datetime.h>
#include <types/interval.h>
#include <types/tzfile.h>

#include <stdio.h>
#include <string.h>

enum { EPOCH_JULIAN = 2451545, UNIX_DAYS = -10957 };
#define DATE_MIN INT64_C(-2451545)   /* 4714-11-24 BC */
#define DATE_END INT64_C(2145031949) /* 5874898-01-01 */
#define TS_MIN   (DATE_MIN * CAT_US_PER_DAY)
#define TS_END   (INT64_C(106751983) * CAT_US_PER_DAY) /* 294277-01-01 */

static int64_t
floor_div(int64_t a, int64_t b)
{
	return a / b - (a % b < 0);
}

int64_t
cat_days(int64_t year, int month, int day)
{
	/* Years that begin in March have their leap day at the end. */
	int64_t y = year - (month <= 2);
	int64_t era = floor_div(y, 400), in_era = y - era * 400;
	int64_t doy = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
	return era * 146097 + in_era * 365 + in_era / 4 - in_era / 100 + doy - 730425;
}

void
cat_civil(int64_t days, int64_t *year, int *month, int *day)
{
	int64_t z = days + 730425, era = floor_div(z, 146097), doe = z - era * 146097;
	int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
	int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100), mp = (5 * doy + 2) / 153;
	*day = (int)(doy - (153 * mp + 2) / 5 + 1);
	*month = (int)(mp < 10 ? mp + 3 : mp - 9);
	*year = yoe + era * 400 + (*month <= 2);
}

bool
cat_date_valid(int64_t days)
{
	return cat_time_infinite(days) || (days >= DATE_MIN && days < DATE_END);
}

bool
cat_timestamp_valid(int64_t us)
{
	return cat_time_infinite(us) || (us >= TS_MIN && us < TS_END);
}

static int
month_days(int64_t year, int month)
{
	static const int8_t days[12] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
	return days[month - 1] + (month == 2 && leap);
}

/* ---- in ------------------------------------------------------------------------- */

struct scan {
	struct cat_str s;
	unsigned at;
	const char *type;
	int64_t num[3]; /* numbers not yet understood, and how many digits each had */
	unsigned digits[3], nums;
	int month; /* by name */
	bool has_date, has_time, bc, ad, pm, am, ymd, after_t;
	int special; /* 1 infinity, -1 -infinity, 2 epoch */
	int64_t year, hour, minute, second, us;
	int mon, day;
	int64_t julian;
	bool has_julian, has_zone;
	int64_t zone; /* seconds east of Greenwich */
	bool zone_range;
};

static bool
bad(const struct scan *c, struct cat_str whole, struct cat_err *err)
{
	struct cat_str zone;
	bool named = cat_zone_name_in(whole, &zone);
	if (named && memchr(zone.p, '/', zone.len) != NULL) {
		char low[64];
		uint32_t n = zone.len < sizeof low ? zone.len : (uint32_t)sizeof low;
		for (uint32_t k = 0; k < n; k++)
			low[k] = zone.p[k] >= 'A' && zone.p[k] <= 'Z' ? (char)(zone.p[k] | 32) : zone.p[k];
		return cat_error(err, "22023", "time zone \"%.*s\" not recognized", (int)n, low);
	}
	if (named)
		return cat_error(err, "0A000", "time zone \"%.*s\" is not supported yet",
		    (int)(zone.len > 60 ? 60 : zone.len), zone.p);
	return cat_error(err, "22007", "invalid input syntax for type %s: \"%.*s\"", c->type,
	    (int)(whole.len > 200 ? 200 : whole.len), whole.p);
}

static bool
field_range(struct cat_str whole, bool hint, struct cat_err *err)
{
	cat_error(err, "22008", "date/time field value out of range: \"%.*s\"",
	    (int)(whole.len > 200 ? 200 : whole.len), whole.p);
	if (hint)
		snprintf(err->hint, sizeof err->hint, "Perhaps you need a different \"datestyle\" setting.");
	return false;
}

static int
peek(const struct scan *c)
{
	return c->at < c->s.len ? (unsigned char)c->s.p[c->at] : 0;
}

static bool
digit(int ch)
{
	return ch >= '0' && ch <= '9';
}

static bool
letter(int ch)
{
	return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z');
}

/* A run of digits. False if they are too many for a number. */
static bool
number(struct scan *c, int64_t *v, unsigned *digits)
{
	*v = 0;
	*digits = 0;
	for (; digit(peek(c)); c->at++, (*digits)++) {
		if (*digits >= 17)
			return false;
		*v = *v * 10 + (peek(c) - '0');
	}
	return *digits > 0;
}

static bool
push(struct scan *c, int64_t v, unsigned digits)
{
	if (c->nums == 3)
		return false;
	c->num[c->nums] = v;
	c->digits[c->nums++] = digits;
	return true;
}

/* .ffffff behind seconds, rounded to microseconds */
static void
fraction(struct scan *c)
{
	int64_t us = 0;
	unsigned n = 0;
	int next = 0; /* the seventh digit; 5 means a little more than half when others follow */
	for (c->at++; digit(peek(c)); c->at++, n++) {
		int d = peek(c) - '0';
		if (n < 6)
			us = us * 10 + d;
		else if (n == 6)
			next = d;
		else if (next == 5 && d > 0)
			next = 6;
	}
	for (; n < 6; n++)
		us *= 10;
	c->us = us + (next > 5 || (next == 5 && us % 2 != 0)); /* half to even */
}

/* Hour is read; at ':' */
static bool
clock_time(struct scan *c, int64_t hour)
{
	unsigned d;
	if (c->has_time)
		return false;
	c->has_time = true;
	c->hour = hour;
	c->at++;
	if (!number(c, &c->minute, &d) || d > 2)
		return false;
	if (peek(c) == ':') {
		c->at++;
		if (!number(c, &c->second, &d) || d > 2)
			return false;
		if (peek(c) == '.')
			fraction(c);
	}
	return true;
}

static bool
packed_time(struct scan *c, int64_t v, unsigned digits)
{
	if (c->has_time)
		return false;
	c->has_time = true;
	c->second = digits == 6 ? v % 100 : 0;
	if (digits == 6)
		v /= 100;
	c->minute = v % 100;
	c->hour = v / 100;
	if (digits == 6 && peek(c) == '.')
		fraction(c);
	return true;
}

static bool
packed_date(struct scan *c, int64_t v, unsigned digits)
{
	if (c->has_date || c->nums > 0 || c->month)
		return false;
	c->has_date = c->ymd = true;
	c->year = v / 10000;
	c->mon = (int)(v / 100 % 100);
	c->day = (int)(v % 100);
	if (digits == 6)
		c->year += c->year < 70 ? 2000 : 1900;
	return true;
}

static int
month_name(const char *w, unsigned n)
{
	static const char *const name[12] = { "january", "february", "march", "april", "may", "june", "july",
		"august", "september", "october", "november", "december" };
	if (n == 4 && memcmp(w, "sept", 4) == 0)
		return 9;
	for (int m = 0; m < 12; m++)
		if ((n == 3 || n == strlen(name[m])) && memcmp(w, name[m], n) == 0)
			return m + 1;
	return 0;
}

static bool
day_name(const char *w, unsigned n)
{
	static const char *const name[] = { "sunday", "monday", "tuesday", "wednesday", "thursday", "friday",
		"saturday", "tues", "wednes", "weds", "thur", "thurs" };
	for (unsigned k = 0; k < sizeof name / sizeof *name; k++)
		if (((n == 3 && k < 7) || n == strlen(name[k])) && memcmp(w, name[k], n) == 0)
			return true;
	return false;
}

static bool
whole_date(const struct scan *c)
{
	return c->has_date || c->has_julian || c->nums + (c->month != 0) == 3;
}

static bool
one_word(struct scan *c)
{
	char w[16];
	unsigned n = 0;
	unsigned start = c->at;
	while (letter(peek(c))) {
		if (n == sizeof w - 1)
			return false;
		w[n++] = (char)(peek(c) | 32);
		c->at++;
	}
	w[n] = 0;
	if (peek(c) == '.')
		c->at++;
	int m = month_name(w, n);
	if (m) {
		bool small = c->nums > 0 && c->digits[0] < 3;
		/* a number before it is a day then, one of two would be the month */
		if (c->month || (small && (c->nums == 2 || c->num[0] < 1 || c->num[0] > 31)))
			return false;
		c->month = m;
		if (peek(c) == '-' || peek(c) == '/')
			c->at++;
		return true;
	}
	if (day_name(w, n))
		return true;
	if (strcmp(w, "t") == 0 && digit(peek(c))) {
		c->after_t = true;
		return true;
	}
	if (strcmp(w, "j") == 0 && digit(peek(c))) {
		unsigned d;
		c->has_julian = true;
		return number(c, &c->julian, &d);
	}
	if (strcmp(w, "am") == 0)
		return c->am = true;
	if (strcmp(w, "pm") == 0)
		return c->pm = true;
	if (strcmp(w, "bc") == 0)
		return c->bc = true;
	if (strcmp(w, "ad") == 0)
		return c->ad = true;
	if (strcmp(w, "z") == 0 || strcmp(w, "zulu") == 0 || strcmp(w, "utc") == 0 || strcmp(w, "gmt") == 0)
		return (c->has_time || whole_date(c)) && !c->has_zone && (c->has_zone = true);
	if (strcmp(w, "allballs") == 0) /* midnight */
		return !c->has_time && (c->has_time = true);
	if (strcmp(w, "epoch") == 0)
		c->special = 2;
	else if (strcmp(w, "infinity") == 0)
		c->special = start > 0 && c->s.p[start - 1] == '-' ? -1 : 1;
	return c->special != 0;
}

/* A number is read and a separator follows: 1999-01-08, 1/8/1999, 08-Jan-1999, 1999.008 */
static bool
separated_date(struct scan *c, int64_t v, unsigned d)
{
	char sep = (char)peek(c);
	if (c->nums > 0 || c->has_date || !push(c, v, d))
		return false;
	while (peek(c) == sep && c->nums < 3) {
		c->at++;
		if (letter(peek(c)) && c->month == 0) {
			char w[12];
			unsigned n = 0;
			for (; letter(peek(c)) && n < sizeof w; c->at++)
				w[n++] = (char)(peek(c) | 32);
			c->month = month_name(w, n);
			if (c->month == 0 || c->nums == 2)
				return false;
			continue;
		}
		if (!number(c, &v, &d) || !push(c, v, d))
			return false;
	}
	if (c->month == 0 && c->nums == 2) {
		/* year and day of the year */
		if (c->digits[0] < 4 || c->digits[1] != 3)
			return false;
		c->has_julian = true;
		if (c->num[1] < 1 || c->num[1] > 366 || c->num[0] > 5874897)
			return false;
		c->julian = cat_days(c->num[0], 1, 1) + c->num[1] - 1 + EPOCH_JULIAN;
		c->nums = 0;
	}
	return true;
}

/* Behind the sign: hh, hhmm, hhmmss, hh:mm, hh:mm:ss. */
static bool
zone(struct scan *c, bool west)
{
	int64_t h, m = 0, s = 0;
	unsigned d;
	if (c->has_zone || !number(c, &h, &d))
		return false;
	if (peek(c) == ':') {
		c->at++;
		if (d > 2 || !number(c, &m, &d) || d > 2)
			return false;
		if (peek(c) == ':') {
			c->at++;
			if (!number(c, &s, &d) || d > 2)
				return false;
		}
	} else if (d > 4) {
		s = h % 100;
		m = h / 100 % 100;
		h /= 10000;
	} else if (d > 2) {
		m = h % 100;
		h /= 100;
	}
	c->has_zone = true;
	c->zone_range = h > 15 || m > 59 || s > 59;
	c->zone = ((h * 60 + m) * 60 + s) * (west ? -1 : 1);
	return true;
}

static bool
tokens(struct scan *c)
{
	while (c->at < c->s.len) {
		int ch = peek(c);
		int64_t v;
		unsigned d;
		if (ch == ' ' || ch == ',' || (ch >= '\t' && ch <= '\r')) {
			c->at++;
		} else if (letter(ch)) {
			if (!one_word(c))
				return false;
		} else if (digit(ch)) {
			if (!number(c, &v, &d))
				return false;
			ch = peek(c);
			if (ch == ':') {
				if (d > 2 || !clock_time(c, v))
					return false;
			} else if (c->after_t && (d == 6 || d == 4)) {
				if (!packed_time(c, v, d))
					return false;
			} else if ((ch == '-' || ch == '/' || ch == '.') && c->month == 0 && !c->has_date &&
				   c->nums == 0) {
				if (!separated_date(c, v, d))
					return false;
			} else if ((d == 8 || d == 6) && !c->has_date && c->nums == 0 && c->month == 0 &&
				   !c->has_julian) {
				if (!packed_date(c, v, d))
					return false;
			} else if (d == 6 && (c->has_date || c->nums == 3 || c->has_julian)) {
				if (!packed_time(c, v, d))
					return false;
			} else {
				if (c->has_date || !push(c, v, d))
					return false;
				if (ch == '-' || ch == '/')
					c->at++; /* Jan-08-1999 */
			}
		} else if ((ch == '+' || ch == '-') && c->at + 1 < c->s.len) {
			c->at++;
			if (letter(peek(c)))
				continue; /* -infinity: one_word looks back */
			/*
			 * behind a date alone a minus has a blank before it, else it would be one
			 * more part
			 */
			bool date = whole_date(c) && (ch == '+' || c->s.p[c->at - 2] == ' ');
			if ((!c->has_time && !date) || !zone(c, ch == '-'))
				return false;
		} else {
			return false;
		}
	}
	return true;
}

/* Brings AM and PM into the hour, and microseconds of the day together. */
static bool
time_of_day(struct scan *c, struct cat_str whole, int64_t *us, struct cat_err *err)
{
	if (c->am || c->pm) {
		if (!c->has_time)
			return bad(c, whole, err);
		if (c->hour > 12 || (c->am && c->pm))
			return field_range(whole, false, err);
		c->hour = c->hour % 12 + (c->pm ? 12 : 0);
	}
	if (c->hour > 24 || c->minute > 59 || c->second > 60 ||
	    (c->hour == 24 && (c->minute || c->second || c->us)))
		return field_range(whole, false, err);
	if (c->zone_range)
		return cat_error(err, "22009", "time zone displacement out of range: \"%.*s\"",
		    (int)(whole.len > 200 ? 200 : whole.len), whole.p);
	*us = ((c->hour * 60 + c->minute) * 60 + c->second) * 1000000 + c->us;
	return true;
}

/* Text to days and microseconds of the day. special stays in c. */
static bool
date_time(struct scan *c, struct cat_str whole, int64_t *days, int64_t *us, struct cat_err *err)
{
	c->s = whole;
	if (!tokens(c))
		return bad(c, whole, err);
	if (c->special) {
		if (c->has_date || c->has_time || c->nums || c->month || c->has_julian)
			return bad(c, whole, err);
		*days = c->special == 2 ? UNIX_DAYS : 0;
		*us = 0;
		return true;
	}
	if (c->has_julian) {
		if (c->nums || c->month || c->has_date || c->bc)
			return bad(c, whole, err);
		*days = c->julian - EPOCH_JULIAN;
	} else {
		unsigned ydigits = 4;
		if (!c->has_date) {
			if (c->nums != (c->month ? 2 : 3))
				return bad(c, whole, err);
			int y, m = -1, d;
			if (c->month)
				y = c->digits[0] >= 3 ? 0 : 1, d = 1 - y;
			else if (c->digits[0] >= 3)
				y = 0, m = 1, d = 2;
			else
				m = 0, d = 1, y = 2;
			c->year = c->num[y];
			ydigits = c->digits[y];
			int64_t mon = m < 0 ? c->month : c->num[m];
			c->mon = mon > 1000 ? 1000 : (int)mon;
			c->day = c->num[d] > 1000 ? 1000 : (int)c->num[d];
		}
		if (c->bc && c->ad)
			return bad(c, whole, err);
		if (ydigits <= 2 && !c->bc)
			c->year += c->year < 70 ? 2000 : 1900;
		if (c->year == 0)
			return field_range(whole, false, err);
		if (c->bc)
			c->year = 1 - c->year;
		if (c->mon < 1 || c->mon > 12 || c->day < 1 || c->day > 31)
			return field_range(whole, true, err);
		if (c->day > month_days(c->year, c->mon))
			return field_range(whole, false, err);
		if (c->year > 10000000 || c->year < -10000)
			*days = DATE_END;
		else
			*days = cat_days(c->year, c->mon, c->day);
	}
	return time_of_day(c, whole, us, err);
}

bool
cat_time_in(struct cat_str text, int64_t *us, struct cat_err *err)
{
	struct scan c = { .s = text, .type = "time", .after_t = memchr(text.p, ':', text.len) == NULL };
	if (!tokens(&c) || !c.has_time || c.special ||
	    (c.nums != 0 && c.nums != 3 && !(c.month && c.nums == 2)))
		return bad(&c, text, err);
	return time_of_day(&c, text, us, err);
}

enum { NAMED_MAX = 128 };

/* The zone that a text names, as Europe/Paris; the rest of the text goes to buf. NULL: none. */
static const struct cat_zone *
named_zone(struct cat_str text, char buf[NAMED_MAX], struct cat_str *rest)
{
	struct cat_str name;
	if (text.len > NAMED_MAX || memchr(text.p, '/', text.len) == NULL || !cat_zone_name_in(text, &name) ||
	    memchr(name.p, '/', name.len) == NULL)
		return NULL;
	const struct cat_zone *z = cat_zone_find(name);
	uint32_t front = (uint32_t)(name.p - text.p), back = text.len - front - name.len;
	memcpy(buf, text.p, front);
	memcpy(buf + front, name.p + name.len, back);
	*rest = (struct cat_str){ buf, front + back };
	return z;
}

bool
cat_date_in(struct cat_str text, int64_t *days, struct cat_err *err)
{
	char buf[NAMED_MAX];
	struct cat_str rest;
	const struct cat_zone *named = named_zone(text, buf, &rest); /* a date drops it */
	if (named != NULL)
		text = rest;
	struct scan c = { .type = "date" };
	int64_t d, us;
	if (!date_time(&c, text, &d, &us, err))
		return false;
	if (c.special == 1 || c.special == -1) {
		*days = c.special == 1 ? INT64_MAX : INT64_MIN;
		return true;
	}
	if (!cat_date_valid(d))
		return cat_error(err, "22008", "date out of range: \"%.*s\"",
		    (int)(text.len > 200 ? 200 : text.len), text.p);
	if (named != NULL && c.has_zone)
		return bad(&c, text, err);
	*days = d;
	return true;
}

static bool
moment_in(struct cat_str text, bool zoned, int64_t *out, struct cat_err *err)
{
	char buf[NAMED_MAX];
	struct cat_str rest;
	const struct cat_zone *named = named_zone(text, buf, &rest);
	if (named != NULL)
		text = rest;
	struct scan c = { .type = zoned ? "timestamp with time zone" : "timestamp" };
	int64_t d, us;
	if (!date_time(&c, text, &d, &us, err))
		return false;
	if (c.special == 1 || c.special == -1) {
		*out = c.special == 1 ? INT64_MAX : INT64_MIN;
		return true;
	}
	if (named != NULL && c.has_zone)
		return bad(&c, text, err);
	if (zoned)
		us -= c.zone * 1000000;
	if (!cat_date_valid(d) || d >= TS_END / CAT_US_PER_DAY ||
	    !cat_timestamp_valid(d * CAT_US_PER_DAY + us))
		return cat_error(err, "22008", "timestamp out of range: \"%.*s\"",
		    (int)(text.len > 200 ? 200 : text.len), text.p);
	*out = d * CAT_US_PER_DAY + us;
	if (zoned && named != NULL)
		*out = cat_zone_utc(named, *out);
	return true;
}

bool
cat_timestamp_in(struct cat_str text, int64_t *us, struct cat_err *err)
{
	return moment_in(text, false, us, err);
}

bool
cat_timestamptz_in(struct cat_str text, int64_t *us, struct cat_err *err)
{
	return moment_in(text, true, us, err);
}

/* ---- out ---------------------------------------------------------------------------- */

static unsigned
put2(char *to, int v)
{
	to[0] = (char)('0' + v / 10 % 10);
	to[1] = (char)('0' + v % 10);
	return 2;
}

static unsigned
put_year(char *to, int64_t year)
{
	char t[20];
	unsigned n = 0, k = 0;
	do
		t[n++] = (char)('0' + year % 10);
	while ((year /= 10) != 0 || n < 4);
	while (n > 0)
		to[k++] = t[--n];
	return k;
}

static unsigned
put_infinity(int64_t v, char *to)
{
	unsigned n = v == INT64_MAX ? 8 : 9;
	memcpy(to, n == 8 ? "infinity" : "-infinity", n);
	return n;
}

static unsigned
put_date(int64_t days, char *to, bool *bc)
{
	int64_t y;
	int m, d;
	cat_civil(days, &y, &m, &d);
	*bc = y <= 0;
	unsigned n = put_year(to, y > 0 ? y : 1 - y);
	to[n++] = '-';
	n += put2(to + n, m);
	to[n++] = '-';
	n += put2(to + n, d);
	return n;
}

static unsigned
put_bc(char *to, bool bc)
{
	if (bc)
		memcpy(to, " BC", 3);
	return bc ? 3 : 0;
}

unsigned
cat_date_out(int64_t days, char *to)
{
	bool bc;
	if (!cat_date_valid(days)) /* only bytes that were not ours */
		days = days < 0 ? INT64_MIN : INT64_MAX;
	if (cat_time_infinite(days))
		return put_infinity(days, to);
	unsigned n = put_date(days, to, &bc);
	return n + put_bc(to + n, bc);
}

unsigned
cat_time_out(int64_t us, char *to)
{
	unsigned n = 0;
	uint64_t u = (uint64_t)us % (uint64_t)(CAT_US_PER_DAY + 1); /* only bytes that were
								     * not ours are more */
	int sec = (int)(u / 1000000), frac = (int)(u % 1000000);
	n += put2(to + n, sec / 3600);
	to[n++] = ':';
	n += put2(to + n, sec / 60 % 60);
	to[n++] = ':';
	n += put2(to + n, sec % 60);
	if (frac) {
		to[n++] = '.';
		for (int unit = 100000; frac > 0; unit /= 10) {
			to[n++] = (char)('0' + frac / unit);
			frac %= unit;
		}
	}
	return n;
}

unsigned
cat_timestamp_out(int64_t us, char *to)
{
	if (cat_time_infinite(us))
		return put_infinity(us, to);
	int64_t days = floor_div(us, CAT_US_PER_DAY), rest = us - days * CAT_US_PER_DAY;
	bool bc;
	unsigned n = put_date(days, to, &bc);
	to[n++] = ' ';
	n += cat_time_out(rest, to + n);
	return n + put_bc(to + n, bc);
}

unsigned
cat_timestamptz_out(int64_t us, char *to)
{
	unsigned n = cat_timestamp_out(us, to);
	if (cat_time_infinite(us))
		return n;
	bool bc = to[n - 1] == 'C';
	n -= bc ? 3 : 0;
	memcpy(to + n, "+00", 3);
	return n + 3 + put_bc(to + n + 3, bc);
}

/* ---- conversions and parts --------------------------------------------------------------- */

bool
cat_date_to_timestamp(int64_t days, int64_t *us, struct cat_err *err)
{
	if (cat_time_infinite(days)) {
		*us = days;
		return true;
	}
	if (days < DATE_MIN || days >= TS_END / CAT_US_PER_DAY)
		return cat_error(err, "22008", "date out of range for timestamp");
	*us = days * CAT_US_PER_DAY;
	return true;
}

int64_t
cat_timestamp_to_date(int64_t us)
{
	return cat_time_infinite(us) ? us : floor_div(us, CAT_US_PER_DAY);
}

enum part {
	P_NONE,
	P_MICROSECONDS,
	P_MILLISECONDS,
	P_SECOND,
	P_MINUTE,
	P_HOUR,
	P_DAY,
	P_WEEK,
	P_MONTH,
	P_QUARTER,
	P_YEAR,
	P_DECADE,
	P_CENTURY,
	P_MILLENNIUM,
	/* not for date_trunc */
	P_DOW,
	P_ISODOW,
	P_DOY,
	P_ISOYEAR,
	P_JULIAN,
	P_EPOCH,
};

static enum part
part_find(struct cat_str s)
{
	static const struct {
		const char *name;
		enum part part;
	} names[] = { { "microseconds", P_MICROSECONDS }, { "microsecond", P_MICROSECONDS },
		{ "us", P_MICROSECONDS }, { "usec", P_MICROSECONDS }, { "usecs", P_MICROSECONDS },
		{ "useconds", P_MICROSECONDS }, { "milliseconds", P_MILLISECONDS },
		{ "millisecond", P_MILLISECONDS }, { "ms", P_MILLISECONDS }, { "msec", P_MILLISECONDS },
		{ "msecs", P_MILLISECONDS }, { "second", P_SECOND }, { "seconds", P_SECOND },
		{ "sec", P_SECOND }, { "secs", P_SECOND }, { "s", P_SECOND }, { "minute", P_MINUTE },
		{ "minutes", P_MINUTE }, { "min", P_MINUTE }, { "mins", P_MINUTE }, { "m", P_MINUTE },
		{ "hour", P_HOUR }, { "hours", P_HOUR }, { "hr", P_HOUR }, { "hrs", P_HOUR }, { "h", P_HOUR },
		{ "day", P_DAY }, { "days", P_DAY }, { "d", P_DAY }, { "week", P_WEEK }, { "weeks", P_WEEK },
		{ "w", P_WEEK }, { "month", P_MONTH }, { "months", P_MONTH }, { "mon", P_MONTH },
		{ "mons", P_MONTH }, { "quarter", P_QUARTER }, { "qtr", P_QUARTER }, { "year", P_YEAR },
		{ "years", P_YEAR }, { "yr", P_YEAR }, { "yrs", P_YEAR }, { "y", P_YEAR },
		{ "decade", P_DECADE }, { "decades", P_DECADE }, { "dec", P_DECADE }, { "decs", P_DECADE },
		{ "century", P_CENTURY }, { "centuries", P_CENTURY }, { "cent", P_CENTURY },
		{ "c", P_CENTURY }, { "millennium", P_MILLENNIUM }, { "millennia", P_MILLENNIUM },
		{ "mil", P_MILLENNIUM }, { "mils", P_MILLENNIUM }, { "dow", P_DOW }, { "isodow", P_ISODOW },
		{ "doy", P_DOY }, { "isoyear", P_ISOYEAR }, { "julian", P_JULIAN }, { "jd", P_JULIAN },
		{ "j", P_JULIAN }, { "epoch", P_EPOCH } };
	for (unsigned k = 0; k < sizeof names / sizeof *names; k++)
		if (s.len == strlen(names[k].name) && strncasecmp(s.p, names[k].name, s.len) == 0)
			return names[k].part;
	return P_NONE;
}

static bool
bad_part(struct cat_str s, bool known, const char *type, struct cat_err *err)
{
	return cat_error(err, known ? "0A000" : "22023", "unit \"%.*s\" not %s for type %s",
	    (int)(s.len > 60 ? 60 : s.len), s.p, known ? "supported" : "recognized", type);
}

/* Monday of the week of days. 2000-01-01 was a Saturday. */
static int64_t
monday(int64_t days)
{
	return days - (days + 5 - floor_div(days + 5, 7) * 7);
}

/* First day of ISO week 1 of year y: the Monday of the week with January 4. */
static int64_t
iso_year_start(int64_t y)
{
	return monday(cat_days(y, 1, 4));
}

static int64_t
iso_year(int64_t days)
{
	int64_t y;
	int m, d;
	cat_civil(monday(days) + 3, &y, &m, &d); /* its Thursday decides */
	return y;
}

bool
cat_extract(enum cat_type type, int64_t v, struct cat_str name, struct cat_part *out, struct cat_err *err)
{
	enum part p = part_find(name);
	bool date = type == CAT_DATE;
	const char *tname = cat_type_name(type);
	*out = (struct cat_part){ 0 };
	if (p == P_NONE)
		return bad_part(name, false, tname, err);
	if (date && p >= P_MICROSECONDS && p <= P_HOUR)
		return bad_part(name, true, tname, err);
	if (type == CAT_TIME && !(p >= P_MICROSECONDS && p <= P_HOUR) && p != P_EPOCH)
		return bad_part(name, true, tname, err);
	if (type == CAT_TIME && p == P_EPOCH) {
		out->value = v;
		out->scale = 6;
		return true;
	}
	if (cat_time_infinite(v)) {
		out->inf = v == INT64_MAX ? 1 : -1;
		out->null = !(p == P_YEAR || p == P_DECADE || p == P_CENTURY || p == P_MILLENNIUM ||
			      p == P_JULIAN || p == P_ISOYEAR || p == P_EPOCH);
		return true;
	}
	int64_t days = date ? v : floor_div(v, CAT_US_PER_DAY), us = date ? 0 : v - days * CAT_US_PER_DAY;
	int64_t year, r;
	int mon, day;
	cat_civil(days, &year, &mon, &day);
	int64_t shown = year > 0 ? year : year - 1; /* there is no year 0 */
	switch (p) {
	case P_MICROSECONDS:
		r = us % 60000000;
		break;
	case P_MILLISECONDS:
		r = us % 60000000;
		out->scale = 3;
		break;
	case P_SECOND:
		r = us % 60000000;
		out->scale = 6;
		break;
	case P_MINUTE:
		r = us / 60000000 % 60;
		break;
	case P_HOUR:
		r = us / 3600000000;
		break;
	case P_DAY:
		r = day;
		break;
	case P_WEEK:
		r = (days - iso_year_start(iso_year(days))) / 7 + 1;
		break;
	case P_MONTH:
		r = mon;
		break;
	case P_QUARTER:
		r = (mon - 1) / 3 + 1;
		break;
	case P_YEAR:
		r = shown;
		break;
	case P_DECADE:
		r = floor_div(year, 10);
		break;
	case P_CENTURY:
		r = year > 0 ? (year + 99) / 100 : -((99 - (year - 1)) / 100);
		break;
	case P_MILLENNIUM:
		r = year > 0 ? (year + 999) / 1000 : -((999 - (year - 1)) / 1000);
		break;
	case P_DOW:
		r = (days - monday(days) + 1) % 7;
		break;
	case P_ISODOW:
		r = days - monday(days) + 1;
		break;
	case P_DOY:
		r = days - cat_days(year, 1, 1) + 1;
		break;
	case P_ISOYEAR:
		r = iso_year(days);
		r -= r <= 0;
		break;
	case P_JULIAN:
		r = days + EPOCH_JULIAN;
		if (!date && us) {
			/* a fraction of a day, rounded to 20 places there; 9 hold in an int64 */
			r = r * 1000000000 +
			    (int64_t)(((__int128)us * 1000000000 + CAT_US_PER_DAY / 2) / CAT_US_PER_DAY);
			out->scale = 9;
		}
		break;
	default:
		r = date ? (days - UNIX_DAYS) * 86400 : v - UNIX_DAYS * CAT_US_PER_DAY;
		out->scale = date ? 0 : 6;
		break;
	}
	out->value = r;
	return true;
}

bool
cat_extract_interval(struct cat_interval v, struct cat_str name, struct cat_part *out, struct cat_err *err)
{
	enum part p = part_find(name);
	const char *tname = cat_type_name(CAT_INTERVAL);
	*out = (struct cat_part){ 0 };
	int year = v.months / 12, mon = v.months % 12;
	switch (p) {
	case P_NONE:
		return bad_part(name, false, tname, err);
	case P_MICROSECONDS:
	case P_MILLISECONDS:
	case P_SECOND:
		out->value = v.us % 60000000;
		out->scale = p == P_SECOND ? 6 : p == P_MILLISECONDS ? 3 : 0;
		return true;
	case P_MINUTE:
		out->value = v.us / 60000000 % 60;
		return true;
	case P_HOUR:
		out->value = v.us / 3600000000;
		return true;
	case P_DAY:
		out->value = v.days;
		return true;
	case P_MONTH:
		out->value = mon;
		return true;
	case P_QUARTER:
		out->value = mon / 3 + 1;
		return true;
	case P_YEAR:
		out->value = year;
		return true;
	case P_DECADE:
		out->value = year / 10;
		return true;
	case P_CENTURY:
		out->value = year / 100;
		return true;
	case P_MILLENNIUM:
		out->value = year / 1000;
		return true;
	case P_EPOCH: {
		/* a year is 365.25 days, a month 30 */
		__int128 us = (__int128)year * 31557600 + ((int64_t)mon * 30 + v.days) * INT64_C(86400);
		us = us * 1000000 + v.us;
		out->scale = us == (int64_t)us ? 6 : 0;
		out->value = (int64_t)(us == (int64_t)us ? us : us / 1000000);
		return true;
	}
	default:
		return bad_part(name, true, tname, err);
	}
}

bool
cat_interval_trunc(struct cat_str name, struct cat_interval v, struct cat_interval *out, struct cat_err *err)
{
	enum part p = part_find(name);
	static const int64_t us[] = { [P_MICROSECONDS] = 1,
		[P_MILLISECONDS] = 1000,
		[P_SECOND] = 1000000,
		[P_MINUTE] = 60000000,
		[P_HOUR] = 3600000000 };
	static const int months[] = { [P_MONTH] = 1,
		[P_QUARTER] = 3,
		[P_YEAR] = 12,
		[P_DECADE] = 120,
		[P_CENTURY] = 1200,
		[P_MILLENNIUM] = 12000 };
	if (p == P_NONE || p == P_WEEK || p > P_MILLENNIUM)
		return bad_part(name, p != P_NONE, cat_type_name(CAT_INTERVAL), err);
	*out = v;
	if (p <= P_HOUR) {
		out->us -= v.us % us[p];
		return true;
	}
	out->us = 0;
	if (p != P_DAY) {
		out->days = 0;
		out->months -= v.months % months[p];
	}
	return true;
}

bool
cat_date_trunc(struct cat_str name, int64_t v, int64_t *out, struct cat_err *err)
{
	enum part p = part_find(name);
	if (p == P_NONE || p > P_MILLENNIUM)
		return bad_part(name, false, "timestamp without time zone", err);
	*out = v;
	if (cat_time_infinite(v))
		return true;
	static const int64_t unit[] = { [P_MICROSECONDS] = 1,
		[P_MILLISECONDS] = 1000,
		[P_SECOND] = 1000000,
		[P_MINUTE] = 60000000,
		[P_HOUR] = 3600000000,
		[P_DAY] = CAT_US_PER_DAY };
	if (p <= P_DAY) {
		*out = floor_div(v, unit[p]) * unit[p];
		return true;
	}
	int64_t days = floor_div(v, CAT_US_PER_DAY), year;
	int mon, day;
	cat_civil(days, &year, &mon, &day);
	switch (p) {
	case P_WEEK:
		days = monday(days);
		break;
	case P_MONTH:
		days = cat_days(year, mon, 1);
		break;
	case P_QUARTER:
		days = cat_days(year, (mon - 1) / 3 * 3 + 1, 1);
		break;
	case P_YEAR:
		days = cat_days(year, 1, 1);
		break;
	case P_DECADE:
		days = cat_days(floor_div(year, 10) * 10, 1, 1);
		break;
	case P_CENTURY:
		days = cat_days(floor_div(year - 1, 100) * 100 + 1, 1, 1);
		break;
	default:
		days = cat_days(floor_div(year - 1, 1000) * 1000 + 1, 1, 1);
		break;
	}
	if (!cat_timestamp_valid(days * CAT_US_PER_DAY))
		return cat_error(err, "22008", "timestamp out of range");
	*out = days * CAT_US_PER_DAY;
	return true;
}
