/* datetime.c -- calendar arithmetic, output, and parts of moments. */
#include <types/datetime.h>
#include <types/interval.h>

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
		out->value = date ? (days - UNIX_DAYS) * 86400 : v - (__int128)UNIX_DAYS * CAT_US_PER_DAY;
		out->scale = date ? 0 : 6;
		return true;
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
		out->value = us * 1000000 + v.us;
		out->scale = 6;
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
cat_date_part_is_long(struct cat_str name)
{
	enum part p = part_find(name);
	return p >= P_DAY && p <= P_MILLENNIUM;
}

bool
cat_date_trunc(enum cat_type type, struct cat_str name, int64_t v, int64_t *out, struct cat_err *err)
{
	enum part p = part_find(name);
	if (p == P_NONE || p > P_MILLENNIUM)
		return bad_part(name, false, cat_type_name(type), err);
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
