/*
 * datefmt.c -- templates for dates, and to_char of timestamps and intervals by them.
 *
 * The rules are those of PostgreSQL's formatting. Names are English, as with lc_time C.
 */
#include <sql/expr/func/format/datefmt.h>
#include <sql/expr/func/table.h>
#include <types/datetime.h>
#include <types/interval.h>

#include <stdio.h>
#include <string.h>

/* Longer words before those that they begin with. */
static const struct sql_datefmt_word words[] = {
#define W(n, f, s, c, d)                                                                                     \
	{                                                                                                    \
		n, sizeof n - 1, f, s, c, d                                                                  \
	}
	W("A.D.", F_AD, DOTS, 0, false),
	W("A.M.", F_AM, DOTS, 0, false),
	W("AD", F_AD, UPPER, 0, false),
	W("AM", F_AM, UPPER, 0, false),
	W("B.C.", F_AD, DOTS, 0, false),
	W("BC", F_AD, UPPER, 0, false),
	W("CC", F_CC, 0, 0, true),
	W("DAY", F_DAY, UPPER, 0, false),
	W("DDD", F_DDD, 0, GREGORIAN, true),
	W("DD", F_DD, 0, GREGORIAN, true),
	W("DY", F_DY, UPPER, 0, false),
	W("Day", F_DAY, TITLE, 0, false),
	W("Dy", F_DY, TITLE, 0, false),
	W("D", F_D, 0, GREGORIAN, true),
	W("FF1", F_FF1, 0, 0, true),
	W("FF2", F_FF2, 0, 0, true),
	W("FF3", F_FF3, 0, 0, true),
	W("FF4", F_FF4, 0, 0, true),
	W("FF5", F_FF5, 0, 0, true),
	W("FF6", F_FF6, 0, 0, true),
	W("FX", F_FX, 0, 0, false),
	W("HH24", F_HH24, 0, 0, true),
	W("HH12", F_HH12, 0, 0, true),
	W("HH", F_HH12, 0, 0, true),
	W("IDDD", F_IDDD, 0, ISO_WEEKS, true),
	W("ID", F_ID, 0, ISO_WEEKS, true),
	W("IW", F_IW, 0, ISO_WEEKS, true),
	W("IYYY", F_IYYY, 0, ISO_WEEKS, true),
	W("IYY", F_IYY, 0, ISO_WEEKS, true),
	W("IY", F_IY, 0, ISO_WEEKS, true),
	W("I", F_I, 0, ISO_WEEKS, true),
	W("J", F_J, 0, 0, true),
	W("MI", F_MI, 0, 0, true),
	W("MM", F_MM, 0, GREGORIAN, true),
	W("MONTH", F_MONTH, UPPER, GREGORIAN, false),
	W("MON", F_MON, UPPER, GREGORIAN, false),
	W("MS", F_MS, 0, 0, true),
	W("Month", F_MONTH, TITLE, GREGORIAN, false),
	W("Mon", F_MON, TITLE, GREGORIAN, false),
	W("OF", F_OF, 0, 0, false),
	W("P.M.", F_AM, DOTS, 0, false),
	W("PM", F_AM, UPPER, 0, false),
	W("Q", F_Q, 0, 0, true),
	W("RM", F_RM, UPPER, GREGORIAN, false),
	W("SSSSS", F_SSSS, 0, 0, true),
	W("SSSS", F_SSSS, 0, 0, true),
	W("SS", F_SS, 0, 0, true),
	W("TZH", F_TZH, 0, 0, false),
	W("TZM", F_TZM, 0, 0, true),
	W("TZ", F_TZ, UPPER, 0, false),
	W("US", F_US, 0, 0, true),
	W("WW", F_WW, 0, GREGORIAN, true),
	W("W", F_W, 0, GREGORIAN, true),
	W("Y,YYY", F_Y_YYY, 0, GREGORIAN, true),
	W("YYYY", F_YYYY, 0, GREGORIAN, true),
	W("YYY", F_YYY, 0, GREGORIAN, true),
	W("YY", F_YY, 0, GREGORIAN, true),
	W("Y", F_Y, 0, GREGORIAN, true),
	W("a.d.", F_AD, LOWER_DOTS, 0, false),
	W("a.m.", F_AM, LOWER_DOTS, 0, false),
	W("ad", F_AD, LOWER, 0, false),
	W("am", F_AM, LOWER, 0, false),
	W("b.c.", F_AD, LOWER_DOTS, 0, false),
	W("bc", F_AD, LOWER, 0, false),
	W("cc", F_CC, 0, 0, true),
	W("day", F_DAY, LOWER, 0, false),
	W("ddd", F_DDD, 0, GREGORIAN, true),
	W("dd", F_DD, 0, GREGORIAN, true),
	W("dy", F_DY, LOWER, 0, false),
	W("d", F_D, 0, GREGORIAN, true),
	W("ff1", F_FF1, 0, 0, true),
	W("ff2", F_FF2, 0, 0, true),
	W("ff3", F_FF3, 0, 0, true),
	W("ff4", F_FF4, 0, 0, true),
	W("ff5", F_FF5, 0, 0, true),
	W("ff6", F_FF6, 0, 0, true),
	W("fx", F_FX, 0, 0, false),
	W("hh24", F_HH24, 0, 0, true),
	W("hh12", F_HH12, 0, 0, true),
	W("hh", F_HH12, 0, 0, true),
	W("iddd", F_IDDD, 0, ISO_WEEKS, true),
	W("id", F_ID, 0, ISO_WEEKS, true),
	W("iw", F_IW, 0, ISO_WEEKS, true),
	W("iyyy", F_IYYY, 0, ISO_WEEKS, true),
	W("iyy", F_IYY, 0, ISO_WEEKS, true),
	W("iy", F_IY, 0, ISO_WEEKS, true),
	W("i", F_I, 0, ISO_WEEKS, true),
	W("j", F_J, 0, 0, true),
	W("mi", F_MI, 0, 0, true),
	W("mm", F_MM, 0, GREGORIAN, true),
	W("month", F_MONTH, LOWER, GREGORIAN, false),
	W("mon", F_MON, LOWER, GREGORIAN, false),
	W("ms", F_MS, 0, 0, true),
	W("of", F_OF, 0, 0, false),
	W("p.m.", F_AM, LOWER_DOTS, 0, false),
	W("pm", F_AM, LOWER, 0, false),
	W("q", F_Q, 0, 0, true),
	W("rm", F_RM, LOWER, GREGORIAN, false),
	W("sssss", F_SSSS, 0, 0, true),
	W("ssss", F_SSSS, 0, 0, true),
	W("ss", F_SS, 0, 0, true),
	W("tzh", F_TZH, 0, 0, false),
	W("tzm", F_TZM, 0, 0, true),
	W("tz", F_TZ, LOWER, 0, false),
	W("us", F_US, 0, 0, true),
	W("ww", F_WW, 0, GREGORIAN, true),
	W("w", F_W, 0, GREGORIAN, true),
	W("y,yyy", F_Y_YYY, 0, GREGORIAN, true),
	W("yyyy", F_YYYY, 0, GREGORIAN, true),
	W("yyy", F_YYY, 0, GREGORIAN, true),
	W("yy", F_YY, 0, GREGORIAN, true),
	W("y", F_Y, 0, GREGORIAN, true),
#undef W
};

static const struct sql_datefmt_word *
find_word(const char *p, uint32_t len)
{
	for (unsigned k = 0; k < sizeof words / sizeof *words; k++)
		if (words[k].name[0] == p[0] && words[k].len <= len &&
		    memcmp(words[k].name, p, words[k].len) == 0)
			return &words[k];
	return NULL;
}

static bool
at(struct cat_str f, uint32_t k, const char *two)
{
	return k + 2 <= f.len && memcmp(f.p + k, two, 2) == 0;
}

struct sql_datefmt_step *
sql_datefmt_steps(const struct sql_env *env, struct cat_str f, unsigned *n)
{
	struct sql_datefmt_step *s = nam_arena_zero(env->arena, ((size_t)f.len + 1) * sizeof *s);
	*n = 0;
	if (s == NULL) {
		sql_oom(env->err);
		return NULL;
	}
	bool quoted = false;
	for (uint32_t k = 0; k < f.len;) {
		struct sql_datefmt_step *x = &s[*n];
		if (quoted && f.p[k] == '"') {
			quoted = false;
			k++;
			continue;
		}
		if (!quoted) {
			if (at(f, k, "FM") || at(f, k, "fm") || at(f, k, "TM") || at(f, k, "tm")) {
				x->fill = f.p[k] == 'F' || f.p[k] == 'f';
				x->local = !x->fill;
				k += 2;
			}
			if (k < f.len && (x->word = find_word(f.p + k, f.len - k)) != NULL) {
				k += x->word->len;
				if (at(f, k, "TH") || at(f, k, "th")) {
					x->th = f.p[k] == 'T' ? 'T' : 't';
					k += 2;
				} else if (at(f, k, "SP")) {
					k += 2;
				}
				++*n;
				continue;
			}
			x->fill = x->local = false;
			if (k == f.len)
				break;
			if (f.p[k] == '"') {
				quoted = true;
				k++;
				continue;
			}
			if (f.p[k] == '\\' && k + 1 < f.len && f.p[k + 1] == '"')
				k++;
		} else if (f.p[k] == '\\' && k + 1 < f.len) {
			k++;
		}
		uint32_t from = k;
		sql_utf8_get(f, &k);
		x->p = f.p + from;
		x->len = (uint8_t)(k - from);
		x->separator = !quoted && sql_datefmt_separator(f.p[from]);
		x->space = !quoted && sql_datefmt_space(f.p[from]);
		++*n;
	}
	return s;
}

/* ---- out -------------------------------------------------------------------------------- */

const char *const sql_month_names[12] = { "January", "February", "March", "April", "May", "June", "July",
	"August", "September", "October", "November", "December" };
const char *const sql_day_names[7] = { "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday",
	"Saturday" };
const char *const sql_roman_months[12] = { "XII", "XI", "X", "IX", "VIII", "VII", "VI", "V", "IV", "III",
	"II", "I" };

/* What there is to say: year 0 is 1 BC; of an interval each part has its sign. */
struct parts {
	int64_t year, mon, day, hour, min, sec, us, yday, date;
	unsigned wday;
	bool interval, zone;
};

/* Days since 2000-01-01 of the Monday of a date's ISO week; the year that week belongs to. */
static int64_t
iso_week(int64_t date, int64_t *year)
{
	int64_t monday = date - ((date + 5) % 7 + 7) % 7; /* 2000-01-01 was a Saturday */
	int month, day;
	cat_civil(monday + 3, year, &month, &day);
	return monday;
}

int64_t
sql_iso_year_start(int64_t year)
{
	int64_t fourth = cat_days(year, 1, 4);
	return fourth - ((fourth + 5) % 7 + 7) % 7;
}

static int64_t
shown_year(const struct parts *t, int64_t year)
{
	return t->interval || year > 0 ? year : 1 - year;
}

static bool
put_number(struct sql_writer *w, const struct sql_datefmt_step *s, int64_t v, unsigned width)
{
	char buf[48];
	int n;
	if (s->fill)
		width = 0;
	n = snprintf(buf, sizeof buf, "%0*lld", (int)width, (long long)v);
	if (s->th != 0) {
		static const char *const end[] = { "th", "st", "nd", "rd" };
		char last = buf[n - 1];
		bool teen = n > 1 && buf[n - 2] == '1';
		const char *e = end[!teen && last >= '1' && last <= '3' ? last - '0' : 0];
		buf[n++] = s->th == 'T' ? (char)(e[0] - 32) : e[0];
		buf[n++] = s->th == 'T' ? (char)(e[1] - 32) : e[1];
	}
	return sql_put(w, buf, (size_t)n);
}

/* So many digits, and a sign if v has one. */
static bool
put_signed(struct sql_writer *w, const struct sql_datefmt_step *s, int64_t v, unsigned digits)
{
	return put_number(w, s, v, digits + (v < 0));
}

/* A name in the style of its word, filled with blanks up to width. */
static bool
put_name(struct sql_writer *w, const struct sql_datefmt_step *s, const char *name, size_t n, unsigned width)
{
	char buf[16];
	for (size_t k = 0; k < n; k++) {
		char c = name[k];
		buf[k] = s->word->style == UPPER && c >= 'a'               ? (char)(c - 32)
			 : s->word->style == LOWER && c >= 'A' && c <= 'Z' ? (char)(c + 32)
									   : c;
	}
	while (!s->fill && !s->local && n < width)
		buf[n++] = ' ';
	return sql_put(w, buf, n);
}

/* One of the halves of a day, or of all years. */
static bool
put_half(struct sql_writer *w, const struct sql_datefmt_step *s, const char *upper)
{
	char buf[8];
	unsigned n = 0;
	bool dots = s->word->style == DOTS || s->word->style == LOWER_DOTS;
	bool lower = s->word->style == LOWER || s->word->style == LOWER_DOTS;
	for (unsigned k = 0; k < 2; k++) {
		buf[n++] = lower ? (char)(upper[k] + 32) : upper[k];
		if (dots)
			buf[n++] = '.';
	}
	return sql_put(w, buf, n);
}

static bool
of_interval(const struct sql_env *env)
{
	snprintf(env->err->hint, sizeof env->err->hint, "Intervals are not tied to specific calendar dates.");
	return cat_error(env->err, "22007", "invalid format specification for an interval value");
}

static bool
put_field(struct sql_writer *w, const struct sql_datefmt_step *s, const struct parts *t)
{
	static const int64_t tenth[] = { 100000, 10000, 1000, 100, 10, 1 };
	int64_t y = shown_year(t, t->year), v, iso;
	unsigned sign = y < 0; /* of the year itself, even where that of its ISO week is shown */
	switch ((enum field)s->word->field) {
	case F_AD:
		return t->interval ? of_interval(w->env) : put_half(w, s, t->year <= 0 ? "BC" : "AD");
	case F_AM:
		return put_half(w, s, t->hour % 24 >= 12 ? "PM" : "AM");
	case F_CC:
		v = t->interval ? t->year / 100 : t->year > 0 ? (t->year - 1) / 100 + 1 : t->year / 100 - 1;
		return v <= 99 && v >= -99 ? put_signed(w, s, v, 2) : put_number(w, s, v, 0);
	case F_DAY:
	case F_DY:
		if (t->interval)
			return of_interval(w->env);
		return s->word->field == F_DAY
			   ? put_name(w, s, sql_day_names[t->wday], strlen(sql_day_names[t->wday]), 9)
			   : put_name(w, s, sql_day_names[t->wday], 3, 0);
	case F_DDD:
		return put_number(w, s, t->yday, 3);
	case F_IDDD:
		iso_week(t->date, &iso);
		return put_number(w, s, t->date - sql_iso_year_start(iso) + 1, 3);
	case F_DD:
		return put_number(w, s, t->day, 2);
	case F_D:
		return t->interval ? of_interval(w->env) : put_number(w, s, t->wday + 1, 0);
	case F_ID:
		return t->interval ? of_interval(w->env) : put_number(w, s, t->wday ? t->wday : 7, 0);
	case F_FF1:
	case F_FF2:
	case F_FF3:
	case F_FF4:
	case F_FF5:
	case F_FF6:
	case F_MS:
	case F_US: {
		struct sql_datefmt_step wide = *s; /* FM takes nothing away here */
		unsigned n = s->word->field == F_MS   ? 3
			     : s->word->field == F_US ? 6
						      : (unsigned)(s->word->field - F_FF1 + 1);
		wide.fill = false;
		return put_number(w, &wide, t->us / tenth[n - 1], n);
	}
	case F_FX:
		return true;
	case F_HH24:
		return put_signed(w, s, t->hour, 2);
	case F_HH12:
		v = t->hour % 12 == 0 ? 12 : t->hour % 12;
		return put_number(w, s, v, t->hour >= 0 ? 2 : 3);
	case F_IW:
		v = iso_week(t->date, &iso);
		return put_number(w, s, (v - sql_iso_year_start(iso)) / 7 + 1, 2);
	case F_IYYY:
	case F_IYY:
	case F_IY:
	case F_I:
		iso_week(t->date, &iso);
		y = shown_year(t, iso);
		break;
	case F_J:
		return put_number(w, s, t->date + 2451545, 0);
	case F_MI:
		return put_signed(w, s, t->min, 2);
	case F_MM:
		return put_signed(w, s, t->mon, 2);
	case F_MONTH:
	case F_MON:
		if (t->interval)
			return of_interval(w->env);
		return s->word->field == F_MONTH ? put_name(w, s, sql_month_names[t->mon - 1],
						       strlen(sql_month_names[t->mon - 1]), 9)
						 : put_name(w, s, sql_month_names[t->mon - 1], 3, 0);
	case F_OF:
		return t->interval ? of_interval(w->env)
				   : sql_put(w, s->fill ? "+0" : "+00", s->fill ? 2 : 3);
	case F_Q:
		return t->mon == 0 || put_number(w, s, (t->mon - 1) / 3 + 1, 0);
	case F_RM:
		if (t->mon == 0 && t->year == 0)
			return true;
		v = t->mon == 0 ? (t->year >= 0 ? 0 : 11) : t->mon < 0 ? -(t->mon + 1) : 12 - t->mon;
		return put_name(w, s, sql_roman_months[v], strlen(sql_roman_months[v]), 4);
	case F_SSSS:
		return put_number(w, s, t->hour * 3600 + t->min * 60 + t->sec, 0);
	case F_SS:
		return put_signed(w, s, t->sec, 2);
	case F_TZH:
		return t->interval ? of_interval(w->env) : sql_put(w, "+00", 3);
	case F_TZM:
		return t->interval ? of_interval(w->env) : sql_put(w, "00", 2);
	case F_TZ:
		if (t->interval)
			return of_interval(w->env);
		return !t->zone || put_name(w, s, "UTC", 3, 0);
	case F_WW:
		return put_number(w, s, (t->yday - 1) / 7 + 1, 2);
	case F_W:
		return put_number(w, s, (t->day - 1) / 7 + 1, 0);
	case F_Y_YYY: {
		char buf[32];
		int n =
		    snprintf(buf, sizeof buf, "%lld,%03lld", (long long)(y / 1000), (long long)(y % 1000));
		struct sql_datefmt_step th = *s;
		if (s->th == 0)
			return sql_put(w, buf, (size_t)n);
		/* its ending is that of the last three digits */
		th.fill = false;
		return sql_put(w, buf, (size_t)n - 3) && put_number(w, &th, y % 1000, 3);
	}
	case F_YYYY:
	case F_YYY:
	case F_YY:
	case F_Y:
		break;
	}
	switch ((enum field)s->word->field) {
	case F_YYYY:
	case F_IYYY:
		return put_number(w, s, y, 4 + sign);
	case F_YYY:
	case F_IYY:
		return put_number(w, s, y % 1000, 3 + sign);
	case F_YY:
	case F_IY:
		return put_number(w, s, y % 100, 2 + sign);
	default:
		return put_number(w, s, y % 10, 1);
	}
}

static bool
write_out(struct sql_row *r, const struct parts *t)
{
	struct sql_writer w = { .env = r->env };
	unsigned n;
	struct sql_datefmt_step *s = sql_datefmt_steps(r->env, r->a[1].s, &n);
	if (s == NULL)
		return false;
	for (unsigned k = 0; k < n; k++)
		if (s[k].word ? !put_field(&w, &s[k], t) : !sql_put(&w, s[k].p, s[k].len))
			return false;
	r->out.s = sql_written(&w);
	return true;
}

static void
split_time(struct parts *t, int64_t us)
{
	t->hour = us / 3600000000;
	t->min = us / 60000000 % 60;
	t->sec = us / 1000000 % 60;
	t->us = us % 1000000;
}

static bool
k_ts_to_char(struct sql_row *r)
{
	int64_t us = r->a[0].i;
	int month, day;
	if (r->a[1].s.len == 0 || cat_time_infinite(us))
		return r->out_null = true;
	struct parts t = { .date = cat_timestamp_to_date(us),
		.zone = r->e->args[0]->type == CAT_TIMESTAMPTZ };
	cat_civil(t.date, &t.year, &month, &day);
	t.mon = month;
	t.day = day;
	t.yday = t.date - cat_days(t.year, 1, 1) + 1;
	t.wday = (unsigned)(((t.date + 6) % 7 + 7) % 7);
	split_time(&t, us - t.date * CAT_US_PER_DAY);
	return write_out(r, &t);
}

static bool
k_interval_to_char(struct sql_row *r)
{
	struct cat_interval v = cat_interval_load(r->a[0].s);
	if (r->a[1].s.len == 0)
		return r->out_null = true;
	struct parts t = { .interval = true, .year = v.months / 12, .mon = v.months % 12, .day = v.days };
	t.yday = (int64_t)v.months * 30 + v.days;
	/* a month that is none counts as the one before January of its year */
	int64_t on = t.year * 12 + t.mon - 1, y = on / 12, m = on % 12;
	if (m < 0) {
		m += 12;
		y--;
	}
	t.date = cat_days(y, (int)m + 1, 1) + t.day - 1;
	split_time(&t, v.us);
	return write_out(r, &t);
}

#define T  CAT_TEXT
#define TS CAT_TIMESTAMP
#define TZ CAT_TIMESTAMPTZ

const struct sql_fn sql_fns_datefmt[] = {
	F("to_char", 2, T, k_ts_to_char, TS, T),
	F("to_char", 2, T, k_ts_to_char, TZ, T),
	F("to_char", 2, T, k_interval_to_char, CAT_INTERVAL, T),
	{ 0 },
};
