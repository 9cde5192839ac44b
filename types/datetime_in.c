/*
 * datetime_in.c -- the forms in which people write dates, times of day and timestamps.
 *
 * PostgreSQL's rules, step by step: the text becomes fields (a number, a date, a time, a zone, a
 * word); each field says which parts it gives, and no part comes twice; then the parts are checked
 * together. DateStyle is MDY.
 */
#include <types/datetime.h>
#include <types/datetime_fields.h>
#include <types/tzfile.h>

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS_MAX = CAT_FIELDS_MAX, TEXT_MAX = 128 };

/* Parts that a field gives. */
enum {
	YEAR = 1 << 0,
	MONTH = 1 << 1,
	DAY = 1 << 2,
	HOUR = 1 << 3,
	MINUTE = 1 << 4,
	SECOND = 1 << 5,
	FRACTION = 1 << 6,
	ZONE = 1 << 7,
	YEAR_DAY = 1 << 8,
	NOON = 1 << 9, /* AM, PM */
	ERA = 1 << 10, /* AD, BC */
	WEEK_DAY = 1 << 11,
	SAVING = 1 << 12,
	RESERVED = 1 << 13, /* epoch, infinity */
	DATE_PARTS = YEAR | MONTH | DAY,
	SECOND_PARTS = SECOND | FRACTION,
	TIME_PARTS = HOUR | MINUTE | SECOND_PARTS,
};

/* What a word is. */
enum word_kind {
	W_UNKNOWN,
	W_IGNORED,
	W_MONTH,
	W_WEEK_DAY,
	W_NOON,
	W_ERA,
	W_ZONE,
	W_SAVING,
	W_UNIT, /* says what the next number is */
	W_ISO_TIME,
	W_DAY, /* of now: -1, 0, 1 */
	W_NOW,
	W_MIDNIGHT, /* allballs */
	W_SPECIAL,
};

enum unit { U_NONE, U_YEAR, U_MONTH, U_DAY, U_HOUR, U_MINUTE, U_SECOND, U_JULIAN, U_TIME, U_OTHER };
enum special { S_DATE, S_EPOCH, S_LATE, S_EARLY };
enum noon { N_24, N_AM, N_PM };

/* What may be wrong. */
enum wrong { OK, FORMAT, RANGE, MONTH_DAY_RANGE, ZONE_RANGE, ZONE_NAME, ZONE_LATER };

struct word {
	const char *name;
	enum word_kind kind;
	int value;
};

static const struct word words[] = {
	{ "+infinity", W_SPECIAL, S_LATE },
	{ "-infinity", W_SPECIAL, S_EARLY },
	{ "ad", W_ERA, 0 },
	{ "allballs", W_MIDNIGHT, 0 },
	{ "am", W_NOON, N_AM },
	{ "apr", W_MONTH, 4 },
	{ "april", W_MONTH, 4 },
	{ "at", W_IGNORED, 0 },
	{ "aug", W_MONTH, 8 },
	{ "august", W_MONTH, 8 },
	{ "bc", W_ERA, 1 },
	{ "d", W_UNIT, U_DAY },
	{ "dec", W_MONTH, 12 },
	{ "december", W_MONTH, 12 },
	{ "dow", W_UNIT, U_OTHER },
	{ "doy", W_UNIT, U_OTHER },
	{ "dst", W_SAVING, 3600 },
	{ "epoch", W_SPECIAL, S_EPOCH },
	{ "feb", W_MONTH, 2 },
	{ "february", W_MONTH, 2 },
	{ "fri", W_WEEK_DAY, 5 },
	{ "friday", W_WEEK_DAY, 5 },
	{ "gmt", W_ZONE, 0 },
	{ "h", W_UNIT, U_HOUR },
	{ "infinity", W_SPECIAL, S_LATE },
	{ "isodow", W_UNIT, U_OTHER },
	{ "isoyear", W_UNIT, U_OTHER },
	{ "j", W_UNIT, U_JULIAN },
	{ "jan", W_MONTH, 1 },
	{ "january", W_MONTH, 1 },
	{ "jd", W_UNIT, U_JULIAN },
	{ "jul", W_MONTH, 7 },
	{ "julian", W_UNIT, U_JULIAN },
	{ "july", W_MONTH, 7 },
	{ "jun", W_MONTH, 6 },
	{ "june", W_MONTH, 6 },
	{ "m", W_UNIT, U_MONTH },
	{ "mar", W_MONTH, 3 },
	{ "march", W_MONTH, 3 },
	{ "may", W_MONTH, 5 },
	{ "mm", W_UNIT, U_MINUTE },
	{ "mon", W_WEEK_DAY, 1 },
	{ "monday", W_WEEK_DAY, 1 },
	{ "nov", W_MONTH, 11 },
	{ "november", W_MONTH, 11 },
	{ "now", W_NOW, 0 },
	{ "oct", W_MONTH, 10 },
	{ "october", W_MONTH, 10 },
	{ "on", W_IGNORED, 0 },
	{ "pm", W_NOON, N_PM },
	{ "s", W_UNIT, U_SECOND },
	{ "sat", W_WEEK_DAY, 6 },
	{ "saturday", W_WEEK_DAY, 6 },
	{ "sep", W_MONTH, 9 },
	{ "sept", W_MONTH, 9 },
	{ "september", W_MONTH, 9 },
	{ "sun", W_WEEK_DAY, 0 },
	{ "sunday", W_WEEK_DAY, 0 },
	{ "t", W_ISO_TIME, U_TIME },
	{ "thu", W_WEEK_DAY, 4 },
	{ "thur", W_WEEK_DAY, 4 },
	{ "thurs", W_WEEK_DAY, 4 },
	{ "thursday", W_WEEK_DAY, 4 },
	{ "today", W_DAY, 0 },
	{ "tomorrow", W_DAY, 1 },
	{ "tue", W_WEEK_DAY, 2 },
	{ "tues", W_WEEK_DAY, 2 },
	{ "tuesday", W_WEEK_DAY, 2 },
	{ "uct", W_ZONE, 0 },
	{ "ut", W_ZONE, 0 },
	{ "utc", W_ZONE, 0 },
	{ "wed", W_WEEK_DAY, 3 },
	{ "wednesday", W_WEEK_DAY, 3 },
	{ "weds", W_WEEK_DAY, 3 },
	{ "y", W_UNIT, U_YEAR },
	{ "yesterday", W_DAY, -1 },
	{ "z", W_ZONE, 0 },
	{ "zulu", W_ZONE, 0 },
};

struct parse {
	struct cat_fields f;
	bool time_only, date_only, drops_zone;
	const int64_t *now; /* or NULL: there is no clock */
	bool clock;         /* one is asked for */
	const char *name;   /* of a zone that is not there */

	unsigned seen;
	enum unit unit; /* what the next field is */
	enum special special;
	enum noon noon;
	bool bc, text_month, julian, two_digits, saving;
	int year, month, day, year_day;
	int hour, minute, second;
	int64_t us;
	int64_t west; /* seconds: of the zone */
	const struct cat_zone *zone;
};

/* ---- text to fields --------------------------------------------------------------------- */

static const struct word *
word_find(const char *w)
{
	for (unsigned k = 0; k < sizeof words / sizeof *words; k++)
		if (strcmp(words[k].name, w) == 0)
			return &words[k];
	return NULL;
}

struct text {
	const char *p, *end;
	char *to, *full;
	bool over;
};

static int
at(const struct text *t)
{
	return t->p < t->end ? (unsigned char)*t->p : 0;
}

static void
keep(struct text *t)
{
	if (t->to == t->full)
		t->over = true;
	else
		*t->to++ = (char)(at(t) < 0x80 ? tolower(at(t)) : at(t));
	t->p++;
}

static bool
is_digit(int c)
{
	return c >= '0' && c <= '9';
}

static bool
is_letter(int c)
{
	return c < 0x80 && isalpha(c);
}

static void
keep_digits(struct text *t)
{
	while (is_digit(at(t)))
		keep(t);
}

/* Begins with a digit. */
static enum cat_field_kind
numeric_field(struct text *t)
{
	keep_digits(t);
	if (at(t) == ':') {
		while (is_digit(at(t)) || at(t) == ':' || at(t) == '.')
			keep(t);
		return F_TIME;
	}
	int sep = at(t);
	if (sep != '-' && sep != '/' && sep != '.')
		return F_NUMBER;
	keep(t);
	if (!is_digit(at(t))) {
		while (is_letter(at(t)) || is_digit(at(t)) || at(t) == sep)
			keep(t);
		return F_DATE;
	}
	keep_digits(t);
	if (at(t) != sep)
		return sep == '.' ? F_NUMBER : F_DATE;
	while (is_digit(at(t)) || at(t) == sep)
		keep(t);
	return F_DATE;
}

/* Begins with a letter: a word, or a date or the name of a zone. */
static enum cat_field_kind
word_field(struct text *t, char *begin)
{
	while (is_letter(at(t)))
		keep(t);
	int c = at(t);
	*t->to = 0;
	const struct word *w = c == '+' || is_digit(c) ? word_find(begin) : NULL;
	bool zone = (c == '+' || is_digit(c)) && (w == NULL || w->kind == W_ZONE);
	if (c != '-' && c != '/' && c != '.' && !zone)
		return F_WORD;
	while (c == '+' || c == '-' || c == '/' || c == '_' || c == '.' || c == ':' || is_letter(c) ||
	       is_digit(c)) {
		keep(t);
		c = at(t);
	}
	return F_DATE;
}

/* Begins with a sign: a zone, or a word. False: neither. */
static bool
signed_field(struct text *t, enum cat_field_kind *kind)
{
	keep(t);
	while (at(t) == ' ' || (at(t) >= '\t' && at(t) <= '\r'))
		t->p++;
	int c = at(t);
	if (!is_digit(c) && !is_letter(c))
		return false;
	*kind = is_digit(c) ? F_ZONE : F_SIGNED_WORD;
	while (*kind == F_ZONE ? is_digit(c) || c == ':' || c == '.' || c == '-' : is_letter(c)) {
		keep(t);
		c = at(t);
	}
	return true;
}

bool
cat_fields_split(struct cat_fields *f, struct cat_str s, unsigned room)
{
	struct text t = { s.p, s.p + s.len, f->room, f->room + room, false };
	while (t.p < t.end) {
		int c = at(&t);
		if (c == ' ' || (c >= '\t' && c <= '\r')) {
			t.p++;
			continue;
		}
		if (f->n == FIELDS_MAX)
			return false;
		char *begin = t.to;
		enum cat_field_kind kind = F_NUMBER;
		if (is_digit(c)) {
			kind = numeric_field(&t);
		} else if (c == '.') {
			keep(&t);
			keep_digits(&t);
		} else if (is_letter(c)) {
			kind = word_field(&t, begin);
		} else if (c == '+' || c == '-') {
			if (!signed_field(&t, &kind))
				return false;
		} else if (c < 0x80 && ispunct(c)) {
			t.p++;
			continue;
		} else {
			return false;
		}
		if (t.over || t.to == t.full)
			return false;
		*t.to++ = 0;
		f->field[f->n] = begin;
		f->kind[f->n++] = kind;
	}
	return true;
}

/* ---- numbers ---------------------------------------------------------------------------- */

bool
cat_field_int(const char *s, char **end, int *out)
{
	errno = 0;
	long v = strtol(s, end, 10);
	*out = (int)v;
	return errno == 0 && v >= INT_MIN && v <= INT_MAX;
}

bool
cat_field_fraction(const char *s, double *out)
{
	char *end;
	*out = 0;
	if (s[1] == 0)
		return true;
	errno = 0;
	*out = strtod(s, &end);
	return *end == 0 && errno == 0;
}

static enum wrong
fraction_us(const char *s, int64_t *us)
{
	double part;
	bool is = cat_field_fraction(s, &part);
	*us = (int64_t)rint(part * 1000000);
	return is ? OK : FORMAT;
}

/* Behind a sign: hh, hhmm, hh:mm, hh:mm:ss. */
static enum wrong
zone_number(struct parse *x, const char *s)
{
	char *end;
	int h, m = 0, sec = 0;
	if (*s != '+' && *s != '-')
		return FORMAT;
	if (!cat_field_int(s + 1, &end, &h))
		return ZONE_RANGE;
	if (*end == ':') {
		if (!cat_field_int(end + 1, &end, &m) || (*end == ':' && !cat_field_int(end + 1, &end, &sec)))
			return ZONE_RANGE;
	} else if (*end == 0 && strlen(s) > 3) {
		m = h % 100;
		h /= 100;
	}
	if (h < 0 || h > 15 || m < 0 || m > 59 || sec < 0 || sec > 59)
		return ZONE_RANGE;
	x->west = ((h * 60 + m) * 60 + sec) * (*s == '-' ? 1 : -1);
	return *end != 0 ? FORMAT : OK;
}

/* hh:mm[:ss[.fff]] */
static enum wrong
clock_time(struct parse *x, const char *s, unsigned *gives)
{
	char *end;
	*gives = TIME_PARTS;
	errno = 0;
	long long h = strtoll(s, &end, 10);
	if (errno != 0)
		return RANGE;
	if (*end != ':')
		return FORMAT;
	x->second = 0;
	x->us = 0;
	if (!cat_field_int(end + 1, &end, &x->minute))
		return RANGE;
	enum wrong w = OK;
	if (*end == '.') { /* minutes and seconds */
		w = fraction_us(end, &x->us);
		if (h > INT_MAX || h < INT_MIN)
			return RANGE;
		x->second = x->minute;
		x->minute = (int)h;
		h = 0;
	} else if (*end == ':') {
		if (!cat_field_int(end + 1, &end, &x->second))
			return RANGE;
		w = *end == '.' ? fraction_us(end, &x->us) : *end != 0 ? FORMAT : OK;
	} else if (*end != 0) {
		return FORMAT;
	}
	if (w != OK)
		return w;
	if (h < 0 || h > INT_MAX || x->minute < 0 || x->minute > 59 || x->second < 0 || x->second > 60)
		return RANGE;
	x->hour = (int)h;
	return OK;
}

static bool
time_over(const struct parse *x)
{
	return x->hour < 0 || x->hour > 24 || x->minute < 0 || x->minute > 59 || x->second < 0 ||
	       x->second > 60 || x->us < 0 || x->us > 1000000 ||
	       ((x->hour * 60 + x->minute) * INT64_C(60) + x->second) * 1000000 + x->us > CAT_US_PER_DAY;
}

/* As atoi, of digits. */
static int
run_together(const char *s, size_t n)
{
	char part[TEXT_MAX + FIELDS_MAX + 8];
	memcpy(part, s, n);
	part[n] = 0;
	return (int)strtol(part, NULL, 10);
}

/* Digits without separators: [yy]yymmdd, hhmm, hhmmss[.fff]. seen: what the others have given. */
static enum wrong
long_number(struct parse *x, const char *s, unsigned seen, unsigned *gives)
{
	const char *dot = strchr(s, '.');
	size_t n = dot ? (size_t)(dot - s) : strlen(s);
	if (dot != NULL && dot[1] != 0) {
		errno = 0;
		double part = strtod(dot, NULL);
		if (errno != 0)
			return FORMAT;
		x->us = (int64_t)rint(part * 1000000);
	} else if (dot != NULL) {
		x->us = 0;
	} else if ((seen & DATE_PARTS) != DATE_PARTS && n >= 6) {
		*gives = DATE_PARTS;
		x->day = run_together(s + n - 2, 2);
		x->month = run_together(s + n - 4, 2);
		x->year = run_together(s, n - 4);
		x->two_digits |= n == 6;
		return OK;
	}
	if ((seen & TIME_PARTS) == TIME_PARTS || (n != 6 && n != 4))
		return FORMAT;
	*gives = TIME_PARTS;
	x->second = n == 6 ? run_together(s + 4, 2) : 0;
	x->minute = run_together(s + 2, 2);
	x->hour = run_together(s, 2);
	return OK;
}

/* ---- dates ------------------------------------------------------------------------------ */

/* The next number of a date, by what is known of it. */
static void
date_number(struct parse *x, int v, bool wide, bool text_month, unsigned seen, unsigned *gives)
{
	unsigned have = seen & DATE_PARTS;
	if (have == (YEAR | MONTH) && text_month && wide && x->two_digits) {
		x->day = x->year; /* the number before was the day */
		x->year = v;
		x->two_digits = false;
		*gives = DAY;
		return;
	}
	if ((have == 0 && wide) || (have == MONTH && text_month && wide) || have == (MONTH | DAY))
		*gives = YEAR;
	else if (have == 0 || have == YEAR || have == DAY)
		*gives = MONTH;
	else
		*gives = DAY;
	*(*gives == YEAR ? &x->year : *gives == MONTH ? &x->month : &x->day) = v;
}

/* A number that may be any part. */
static enum wrong
short_number(struct parse *x, const char *s, bool text_month, unsigned seen, unsigned *gives)
{
	char *end;
	int v;
	size_t n = strlen(s);
	*gives = 0;
	if (!cat_field_int(s, &end, &v))
		return RANGE;
	if (end == s)
		return FORMAT;
	if (*end == '.') {
		if (end - s > 2)
			return long_number(x, s, seen | DATE_PARTS, gives);
		enum wrong w = fraction_us(end, &x->us);
		if (w != OK)
			return w;
	} else if (*end != 0) {
		return FORMAT;
	}
	if (n == 3 && (seen & DATE_PARTS) == YEAR && v >= 1 && v <= 366) {
		*gives = YEAR_DAY | MONTH | DAY;
		x->year_day = v;
		return OK;
	}
	if ((seen & DATE_PARTS) == DATE_PARTS)
		return long_number(x, s, seen, gives);
	if ((seen & DATE_PARTS) == (YEAR | DAY))
		return FORMAT;
	date_number(x, v, n >= 3, text_month, seen, gives);
	if (*gives == YEAR)
		x->two_digits = n <= 2;
	return OK;
}

/* Parts with separators between them: 1999-01-08, 8/jan/1999, 1999.008 */
static enum wrong
date_field(struct parse *x, char *s, unsigned seen, unsigned *gives)
{
	char *part[FIELDS_MAX];
	unsigned n = 0, one;
	bool text_month = false;
	*gives = 0;
	while (*s != 0 && n < FIELDS_MAX) {
		while (*s != 0 && !isalnum((unsigned char)*s))
			s++;
		if (*s == 0)
			return FORMAT;
		part[n++] = s;
		bool digits = is_digit(*s);
		while (digits ? is_digit(*s) : is_letter((unsigned char)*s))
			s++;
		if (*s != 0)
			*s++ = 0;
	}
	for (unsigned k = 0; k < n; k++) {
		if (is_digit(*part[k]))
			continue;
		const struct word *w = word_find(part[k]);
		part[k] = w != NULL && w->kind == W_IGNORED ? part[k] : NULL;
		if (part[k] != NULL)
			continue;
		if (w == NULL || w->kind != W_MONTH || (seen & MONTH))
			return FORMAT;
		x->month = w->value;
		text_month = true;
		seen |= MONTH;
		*gives |= MONTH;
	}
	for (unsigned k = 0; k < n; k++) {
		if (part[k] == NULL)
			continue;
		enum wrong w = short_number(x, part[k], text_month, seen, &one);
		if (w != OK)
			return w;
		if (seen & one)
			return FORMAT;
		seen |= one;
		*gives |= one;
	}
	return (seen & ~(unsigned)(YEAR_DAY | ZONE)) != DATE_PARTS ? FORMAT : OK;
}

static void
julian_day(struct parse *x, int64_t day)
{
	int64_t year;
	cat_civil(day - 2451545, &year, &x->month, &x->day);
	x->year = (int)year;
	x->julian = true;
}

/* ---- zones by name ---------------------------------------------------------------------- */

/* GMT-4: four hours east, as POSIX has it. ZONE_LATER: it has a name for the summer, too. */
static enum wrong
posix_zone(struct parse *x, const char *s)
{
	char *end;
	int h, m = 0, sec = 0;
	unsigned k = 0;
	while (s[k] != 0 && !is_digit(s[k]) && s[k] != ',' && s[k] != '-' && s[k] != '+')
		k++;
	if (k == 0)
		return ZONE_NAME;
	bool minus = s[k] == '-';
	k += s[k] == '+' || s[k] == '-';
	if (!is_digit(s[k]) || !cat_field_int(s + k, &end, &h) || h > 167)
		return ZONE_NAME;
	if (*end == ':' && (!is_digit(end[1]) || !cat_field_int(end + 1, &end, &m) || m > 59))
		return ZONE_NAME;
	if (*end == ':' && (!is_digit(end[1]) || !cat_field_int(end + 1, &end, &sec) || sec > 60))
		return ZONE_NAME;
	x->west = ((h * INT64_C(60) + m) * 60 + sec) * (minus ? -1 : 1);
	return *end == 0 ? OK : is_letter((unsigned char)*end) ? ZONE_LATER : ZONE_NAME;
}

/* The name of a zone. ZONE_LATER: PostgreSQL has it, and namdb has not, which matters only where
 * the zone does. */
static enum wrong
zone_name(struct parse *x, const char *s)
{
	struct cat_str name = { s, (uint32_t)strlen(s) };
	bool slash = memchr(s, '/', name.len) != NULL;
	if (slash && (x->zone = cat_zone_find(name)) != NULL)
		return OK;
	x->name = s;
	enum wrong w = !slash && cat_zone_is_name(name) ? ZONE_LATER : posix_zone(x, s);
	return w == ZONE_LATER && x->drops_zone ? OK : w;
}

/* ---- fields to parts -------------------------------------------------------------------- */

/* A field of digits and signs, or a zone with a /, where a date might stand as well. */
static enum wrong
date_or_zone(struct parse *x, unsigned k, unsigned *gives)
{
	char *s = x->f.field[k];
	enum wrong w;
	bool date = x->time_only
			? k == 0 && x->f.n >= 2 && (x->f.kind[x->f.n - 1] == F_DATE || x->f.kind[1] == F_TIME)
			: x->unit == U_NONE && (x->seen & (MONTH | DAY)) != (MONTH | DAY);
	if (!x->time_only && x->unit == U_JULIAN) {
		char *end;
		int v;
		if (!cat_field_int(s, &end, &v) || v < 0)
			return RANGE;
		julian_day(x, v);
		x->unit = U_NONE;
		*gives = DATE_PARTS | TIME_PARTS | ZONE;
		return zone_number(x, end);
	}
	if (date)
		return date_field(x, s, x->seen, gives);
	if (!is_digit(*s) && x->unit == U_NONE) {
		*gives = ZONE;
		return zone_name(x, s);
	}
	if (x->unit != U_NONE && x->unit != U_TIME)
		return FORMAT;
	x->unit = U_NONE;
	char *minus = strchr(s, '-');
	if ((x->seen & TIME_PARTS) == TIME_PARTS || minus == NULL)
		return FORMAT;
	if ((w = zone_number(x, minus)) != OK)
		return w;
	*minus = 0;
	w = long_number(x, s, x->seen | (x->time_only ? DATE_PARTS : 0), gives);
	*gives |= ZONE;
	return w;
}

/* A number behind a word that says what it is. */
static enum wrong
named_number(struct parse *x, const char *s, unsigned *gives)
{
	char *end;
	int v;
	enum unit unit = x->unit;
	enum wrong w = OK;
	x->unit = U_NONE;
	if (!cat_field_int(s, &end, &v))
		return RANGE;
	if (*end == '.' ? unit != U_JULIAN && unit != U_TIME && unit != U_SECOND : *end != 0)
		return FORMAT;
	switch (unit) {
	case U_YEAR:
		x->year = v;
		*gives = YEAR;
		break;
	case U_MONTH: /* behind an hour: minutes */
		*gives = (x->seen & MONTH) && (x->seen & HOUR) ? MINUTE : MONTH;
		*(*gives == MONTH ? &x->month : &x->minute) = v;
		break;
	case U_DAY:
		x->day = v;
		*gives = DAY;
		break;
	case U_HOUR:
		x->hour = v;
		*gives = HOUR;
		break;
	case U_MINUTE:
		x->minute = v;
		*gives = MINUTE;
		break;
	case U_SECOND:
		x->second = v;
		*gives = *end == '.' ? SECOND_PARTS : SECOND;
		w = *end == '.' ? fraction_us(end, &x->us) : OK;
		break;
	case U_JULIAN:
		if (v < 0)
			return RANGE;
		*gives = DATE_PARTS;
		julian_day(x, v);
		if (*end == '.') {
			double part;
			if (!cat_field_fraction(end, &part))
				return FORMAT;
			int64_t us = (int64_t)(part * (double)CAT_US_PER_DAY);
			x->hour = (int)(us / 3600000000);
			x->minute = (int)(us / 60000000 % 60);
			x->second = (int)(us / 1000000 % 60);
			x->us = us % 1000000;
			*gives |= TIME_PARTS;
		}
		break;
	case U_TIME:
		w = long_number(x, s, x->seen | DATE_PARTS, gives);
		if (w == OK && *gives != TIME_PARTS)
			w = FORMAT;
		break;
	default:
		w = FORMAT;
	}
	return w;
}

static enum wrong
number_field(struct parse *x, unsigned k, unsigned *gives)
{
	char *s = x->f.field[k];
	const char *dot = strchr(s, '.');
	size_t n = strlen(s);
	if (x->unit != U_NONE)
		return named_number(x, s, gives);
	if (x->time_only) {
		unsigned seen = x->seen | DATE_PARTS;
		if (dot != NULL && k == 0 && x->f.n >= 2 && x->f.kind[x->f.n - 1] == F_DATE)
			return date_field(x, s, x->seen, gives);
		if (dot != NULL ? dot - s > 2 : n > 4)
			return long_number(x, s, seen, gives);
		return dot != NULL ? FORMAT : short_number(x, s, false, seen, gives);
	}
	if (dot != NULL && (x->seen & DATE_PARTS) == 0)
		return date_field(x, s, x->seen, gives);
	if (dot != NULL ? dot - s > 2 : n >= 6 && (!(x->seen & DATE_PARTS) || !(x->seen & TIME_PARTS)))
		return long_number(x, s, x->seen, gives);
	return short_number(x, s, x->text_month, x->seen, gives);
}

/* now, today and their kin. */
static enum wrong
of_clock(struct parse *x, const struct word *w, unsigned *gives)
{
	x->clock = true;
	if (x->time_only && w->kind == W_DAY)
		return FORMAT;
	int64_t now = x->now != NULL ? *x->now : 0;
	int64_t day = cat_timestamp_to_date(now), us = now - day * CAT_US_PER_DAY, year;
	if (!x->time_only) {
		cat_civil(day + w->value, &year, &x->month, &x->day);
		x->year = (int)year;
		x->special = S_DATE;
	}
	*gives = x->time_only ? TIME_PARTS : w->kind == W_DAY ? DATE_PARTS : DATE_PARTS | TIME_PARTS | ZONE;
	if (w->kind == W_NOW) {
		x->hour = (int)(us / 3600000000);
		x->minute = (int)(us / 60000000 % 60);
		x->second = (int)(us / 1000000 % 60);
		x->us = us % 1000000;
	}
	return OK;
}

static enum wrong
month_word(struct parse *x, int month, unsigned *gives)
{
	*gives = MONTH;
	if (x->time_only)
		return FORMAT;
	/* what was taken for the month is the day then */
	if ((x->seen & MONTH) && !x->text_month && !(x->seen & DAY) && x->month >= 1 && x->month <= 31) {
		x->day = x->month;
		*gives = DAY;
	}
	x->text_month = true;
	x->month = month;
	return OK;
}

static enum wrong
word_part(struct parse *x, const char *s, unsigned *gives)
{
	const struct word *w = word_find(s);
	*gives = 0;
	if (w == NULL) {
		*gives = ZONE;
		enum wrong z = zone_name(x, s);
		return z == ZONE_NAME ? FORMAT : z;
	}
	switch (w->kind) {
	case W_IGNORED:
		return OK;
	case W_MONTH:
		return month_word(x, w->value, gives);
	case W_WEEK_DAY:
		*gives = WEEK_DAY;
		return x->time_only ? FORMAT : OK;
	case W_NOON:
		*gives = NOON;
		x->noon = (enum noon)w->value;
		return OK;
	case W_ERA:
		*gives = ERA;
		x->bc = w->value != 0;
		return OK;
	case W_ZONE:
		*gives = ZONE;
		x->west = 0;
		return OK;
	case W_SAVING:
		*gives = SAVING;
		x->west -= w->value;
		return OK;
	case W_ISO_TIME:
		if (!x->time_only && (x->seen & DATE_PARTS) != DATE_PARTS)
			return FORMAT;
		/* fall through */
	case W_UNIT: {
		bool twice = x->unit != U_NONE;
		x->unit = (enum unit)w->value;
		return twice ? FORMAT : OK;
	}
	case W_DAY:
	case W_NOW:
		return of_clock(x, w, gives);
	case W_MIDNIGHT:
		*gives = TIME_PARTS | ZONE;
		x->hour = x->minute = x->second = 0;
		x->west = 0;
		return OK;
	default:
		*gives = RESERVED;
		x->special = (enum special)w->value;
		return x->time_only ? FORMAT : OK;
	}
}

static enum wrong
one_field(struct parse *x, unsigned k, unsigned *gives)
{
	enum wrong w;
	*gives = 0;
	switch (x->f.kind[k]) {
	case F_DATE:
		return date_or_zone(x, k, gives);
	case F_TIME:
		if (x->unit != U_NONE) {
			if (x->unit != U_TIME)
				return FORMAT;
			x->unit = U_NONE;
		}
		w = clock_time(x, x->f.field[k], gives);
		return w == OK && !x->time_only && time_over(x) ? RANGE : w;
	case F_ZONE:
		*gives = ZONE;
		return zone_number(x, x->f.field[k]);
	case F_NUMBER:
		return number_field(x, k, gives);
	default:
		return word_part(x, x->f.field[k], gives);
	}
}

/* ---- parts to a moment ------------------------------------------------------------------ */

static int
month_days(int64_t year, int month)
{
	static const int8_t days[12] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
	return days[month - 1] + (month == 2 && leap);
}

static enum wrong
check_date(struct parse *x)
{
	if ((x->seen & YEAR) && !x->julian) {
		if (x->year < 0 || (x->year == 0 && (x->bc || !x->two_digits)))
			return RANGE; /* there is no year 0 */
		if (x->bc)
			x->year = 1 - x->year;
		else if (x->two_digits)
			x->year += x->year < 70 ? 2000 : x->year < 100 ? 1900 : 0;
	}
	if (x->seen & YEAR_DAY) {
		int64_t year;
		cat_civil(cat_days(x->year, 1, 1) + x->year_day - 1, &year, &x->month, &x->day);
		x->year = (int)year;
	}
	if ((x->seen & MONTH) && (x->month < 1 || x->month > 12))
		return MONTH_DAY_RANGE;
	if ((x->seen & DAY) && (x->day < 1 || x->day > 31))
		return MONTH_DAY_RANGE;
	if ((x->seen & DATE_PARTS) == DATE_PARTS && x->day > month_days(x->year, x->month))
		return RANGE;
	return OK;
}

static enum wrong
check_together(struct parse *x)
{
	enum wrong w = check_date(x);
	if (w != OK)
		return w;
	if (x->noon != N_24 && x->hour > 12)
		return RANGE;
	if (x->noon == N_AM && x->hour == 12)
		x->hour = 0;
	else if (x->noon == N_PM && x->hour != 12)
		x->hour += 12;
	if (x->time_only) {
		if (time_over(x))
			return RANGE;
		if ((x->seen & TIME_PARTS) != TIME_PARTS)
			return FORMAT;
		return x->zone != NULL && (x->seen & DATE_PARTS) != DATE_PARTS ? FORMAT : OK;
	}
	if ((x->seen & DATE_PARTS) != DATE_PARTS)
		return FORMAT;
	return (x->seen & SAVING) && (x->zone != NULL || !(x->seen & ZONE)) ? FORMAT : OK;
}

static enum wrong
understand(struct parse *x, struct cat_str s)
{
	unsigned gives, room = TEXT_MAX + (x->date_only ? 0 : FIELDS_MAX);
	enum wrong w = cat_fields_split(&x->f, s, room) ? OK : FORMAT;
	for (unsigned k = 0; w == OK && k < x->f.n; k++) {
		w = one_field(x, k, &gives);
		if (w == OK && (gives & x->seen))
			w = FORMAT;
		x->seen |= gives;
	}
	if (w == OK && x->unit != U_NONE)
		w = FORMAT;
	if (w == OK && x->f.n == 0)
		w = FORMAT;
	return w != OK || x->special != S_DATE ? w : check_together(x);
}

static bool
refuse(const struct parse *x, enum wrong w, enum cat_type type, struct cat_str s, struct cat_err *err)
{
	int n = s.len > 200 ? 200 : (int)s.len;
	switch (w) {
	case RANGE:
	case MONTH_DAY_RANGE:
		cat_error(err, "22008", "date/time field value out of range: \"%.*s\"", n, s.p);
		if (w == MONTH_DAY_RANGE && err != NULL)
			snprintf(err->hint, sizeof err->hint,
			    "Perhaps you need a different \"datestyle\" setting.");
		return false;
	case ZONE_RANGE:
		return cat_error(err, "22009", "time zone displacement out of range: \"%.*s\"", n, s.p);
	case ZONE_NAME:
		return cat_error(err, "22023", "time zone \"%.100s\" not recognized", x->name);
	case ZONE_LATER:
		return cat_error(err, "0A000", "time zone \"%.60s\" is not supported yet", x->name);
	default:
		return cat_error(err, "22007", "invalid input syntax for type %s: \"%.*s\"",
		    type == CAT_TIMESTAMP ? "timestamp"
		    : type == CAT_TIME    ? "time"
					  : cat_type_name(type),
		    n, s.p);
	}
}

/* From the year on: dates that there are, and few more. */
static bool
is_julian(const struct parse *x)
{
	return (x->year > -4713 || (x->year == -4713 && x->month >= 11)) &&
	       (x->year < 5874898 || (x->year == 5874898 && x->month < 6));
}

static bool
beyond(const char *what, struct cat_str s, struct cat_err *err)
{
	return cat_error(
	    err, "22008", "%s out of range: \"%.*s\"", what, s.len > 200 ? 200 : (int)s.len, s.p);
}

bool
cat_moment_in(
    enum cat_type type, struct cat_str s, const int64_t *now, int64_t *out, bool *clock, struct cat_err *err)
{
	struct parse x = { .time_only = type == CAT_TIME,
		.date_only = type == CAT_DATE,
		.drops_zone = type == CAT_DATE || type == CAT_TIMESTAMP,
		.now = now };
	enum wrong w = understand(&x, s);
	*clock = x.clock;
	if (w != OK)
		return refuse(&x, w, type, s, err);
	if (x.clock && now == NULL)
		return cat_error(err, "22007", "no clock for \"%.*s\"", s.len > 200 ? 200 : (int)s.len, s.p);
	if (x.special == S_LATE || x.special == S_EARLY) {
		*out = x.special == S_LATE ? INT64_MAX : INT64_MIN;
		return true;
	}
	int64_t us = ((x.hour * 60 + x.minute) * INT64_C(60) + x.second) * 1000000 + x.us;
	if (type == CAT_TIME) {
		*out = us;
		return true;
	}
	if (x.special == S_EPOCH) {
		*out = type == CAT_DATE ? -10957 : -10957 * CAT_US_PER_DAY;
		return true;
	}
	const char *what = type == CAT_DATE ? "date" : "timestamp";
	if (!is_julian(&x))
		return beyond(what, s, err);
	int64_t days = cat_days(x.year, x.month, x.day), at;
	if (type == CAT_DATE) {
		if (!cat_date_valid(days))
			return beyond(what, s, err);
		*out = days;
		return true;
	}
	if (__builtin_mul_overflow(days, CAT_US_PER_DAY, &at) || __builtin_add_overflow(at, us, &at))
		return beyond(what, s, err);
	if (type == CAT_TIMESTAMPTZ && x.zone != NULL)
		at = cat_zone_utc(x.zone, at);
	else if (type == CAT_TIMESTAMPTZ && __builtin_add_overflow(at, x.west * 1000000, &at))
		return beyond(what, s, err);
	if (cat_time_infinite(at) || !cat_timestamp_valid(at))
		return beyond(what, s, err);
	*out = at;
	return true;
}

bool
cat_date_in(struct cat_str text, int64_t *days, struct cat_err *err)
{
	bool clock;
	return cat_moment_in(CAT_DATE, text, NULL, days, &clock, err);
}

bool
cat_timestamp_in(struct cat_str text, int64_t *us, struct cat_err *err)
{
	bool clock;
	return cat_moment_in(CAT_TIMESTAMP, text, NULL, us, &clock, err);
}

bool
cat_timestamptz_in(struct cat_str text, int64_t *us, struct cat_err *err)
{
	bool clock;
	return cat_moment_in(CAT_TIMESTAMPTZ, text, NULL, us, &clock, err);
}

bool
cat_time_in(struct cat_str text, int64_t *us, struct cat_err *err)
{
	bool clock;
	return cat_moment_in(CAT_TIME, text, NULL, us, &clock, err);
}
