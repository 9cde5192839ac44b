/* tzfile.c -- TZif files: transitions, and the rule for the years behind them. */
#include <types/datetime.h>
#include <types/tzfile.h>

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { NAME_MAX_LEN = 64, FILE_MAX = 128 << 10, TYPES = 256, HEADER = 44, DAY = 86400, WEEK_HOURS = 167 };
static const char folder[] = "/usr/share/zoneinfo";

/* A day of a year at which the clock changes: Mm.w.d, Jn or n of POSIX's TZ. */
struct change {
	char kind; /* 'M', 'J', or 'n' */
	int month, week, day;
	int64_t time; /* seconds behind midnight, may be below zero */
};

/* What holds behind the last transition. */
struct rule {
	bool is, dst;
	int64_t std, summer; /* seconds east */
	struct change begin, end;
};

struct cat_zone {
	struct cat_zone *next;
	char name[NAME_MAX_LEN + 1];
	struct rule rule;
	uint32_t n;
	int32_t east[TYPES];
	int64_t *at; /* seconds since 1970 */
	uint8_t *type;
};

/* ---- POSIX's TZ --------------------------------------------------------------------------- */

struct text {
	const char *p, *end;
};

static bool
take(struct text *t, char c)
{
	if (t->p >= t->end || *t->p != c)
		return false;
	t->p++;
	return true;
}

static bool
number(struct text *t, int max, int *out)
{
	const char *from = t->p;
	*out = 0;
	while (t->p < t->end && *t->p >= '0' && *t->p <= '9' && *out <= max)
		*out = *out * 10 + (*t->p++ - '0');
	return t->p > from && *out <= max;
}

/* [+-]hh[:mm[:ss]] */
static bool
clock_in(struct text *t, int64_t *out)
{
	int h, m = 0, s = 0;
	bool minus = take(t, '-');
	if (!minus)
		take(t, '+');
	if (!number(t, WEEK_HOURS, &h) || (take(t, ':') && !number(t, 59, &m)) ||
	    (take(t, ':') && !number(t, 59, &s)))
		return false;
	*out = (int64_t)h * 3600 + m * 60 + s;
	if (minus)
		*out = -*out;
	return true;
}

/* The abbreviation, which nobody is shown. */
static bool
word(struct text *t)
{
	const char *from = t->p;
	if (take(t, '<')) {
		while (t->p < t->end && *t->p != '>')
			t->p++;
		return take(t, '>');
	}
	while (t->p < t->end && (*t->p | 32) >= 'a' && (*t->p | 32) <= 'z')
		t->p++;
	return t->p > from;
}

static bool
change_in(struct text *t, struct change *c)
{
	c->time = 7200;
	if (take(t, 'M')) {
		c->kind = 'M';
		if (!number(t, 12, &c->month) || !take(t, '.') || !number(t, 5, &c->week) || !take(t, '.') ||
		    !number(t, 6, &c->day) || c->month == 0 || c->week == 0)
			return false;
	} else {
		c->kind = take(t, 'J') ? 'J' : 'n';
		if (!number(t, 365, &c->day) || (c->kind == 'J' && c->day == 0))
			return false;
	}
	return !take(t, '/') || clock_in(t, &c->time);
}

static bool
rule_in(struct text t, struct rule *r)
{
	int64_t west;
	*r = (struct rule){ .is = t.p < t.end };
	if (!r->is)
		return true; /* none is known */
	if (!word(&t) || !clock_in(&t, &west))
		return false;
	r->std = -west;
	if (t.p == t.end)
		return true;
	if (!word(&t))
		return false;
	r->dst = true;
	r->summer = r->std + 3600;
	if (t.p < t.end && *t.p != ',') {
		if (!clock_in(&t, &west))
			return false;
		r->summer = -west;
	}
	return take(&t, ',') && change_in(&t, &r->begin) && take(&t, ',') && change_in(&t, &r->end) &&
	       t.p == t.end;
}

/* ---- seconds and years -------------------------------------------------------------------- */

static const int64_t since_1970 = INT64_C(10957) * DAY; /* of 2000-01-01 */

static int64_t
floor_div(int64_t a, int64_t b)
{
	return a / b - (a % b < 0);
}

/* The day of a change, since 1970. */
static int64_t
day_of(const struct change *c, int64_t year)
{
	int64_t first = cat_days(year, 1, 1) + since_1970 / DAY;
	bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
	if (c->kind == 'n')
		return first + c->day;
	if (c->kind == 'J')
		return first + c->day - 1 + (leap && c->day >= 60);
	first = cat_days(year, c->month, 1) + since_1970 / DAY;
	int64_t weekday = floor_div(first + 4, 7) * -7 + first + 4; /* 1970-01-01 was a Thursday */
	int64_t day = first + (c->day - weekday + 7) % 7 + (c->week - 1) * 7;
	int64_t next = cat_days(c->month == 12 ? year + 1 : year, c->month == 12 ? 1 : c->month + 1, 1) +
		       since_1970 / DAY;
	return day >= next ? day - 7 : day;
}

/* When summer time begins and ends in a year, seconds since 1970 UTC. */
static void
changes_of(const struct rule *r, int64_t year, int64_t *begin, int64_t *end)
{
	*begin = day_of(&r->begin, year) * DAY + r->begin.time - r->std;
	*end = day_of(&r->end, year) * DAY + r->end.time - r->summer;
}

static int64_t
year_of(int64_t t)
{
	int64_t year;
	int month, day;
	cat_civil(floor_div(t - since_1970, DAY), &year, &month, &day);
	return year;
}

static int64_t
rule_east(const struct rule *r, int64_t t)
{
	int64_t begin, end;
	if (!r->dst)
		return r->std;
	changes_of(r, year_of(t + r->std), &begin, &end);
	bool summer = begin < end ? t >= begin && t < end : t >= begin || t < end;
	return summer ? r->summer : r->std;
}

/* ---- a zone ------------------------------------------------------------------------------- */

/* How many transitions are at or before t. */
static uint32_t
passed(const struct cat_zone *z, int64_t t)
{
	uint32_t low = 0, high = z->n;
	while (low < high) {
		uint32_t mid = (low + high) / 2;
		if (z->at[mid] <= t)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static int64_t
east(const struct cat_zone *z, int64_t t)
{
	uint32_t k = passed(z, t);
	if (k == z->n && z->rule.is)
		return rule_east(&z->rule, t);
	return z->east[k == 0 ? 0 : z->type[k - 1]];
}

/* The first change behind t; false: there is none. */
static bool
next_change(const struct cat_zone *z, int64_t t, int64_t *at)
{
	uint32_t k = passed(z, t);
	if (k < z->n) {
		*at = z->at[k];
		return true;
	}
	if (!z->rule.is || !z->rule.dst)
		return false;
	int64_t year = year_of(t);
	*at = INT64_MAX;
	for (int64_t y = year - 1; y <= year + 1; y++) {
		int64_t c[2];
		changes_of(&z->rule, y, &c[0], &c[1]);
		for (unsigned i = 0; i < 2; i++)
			if (c[i] > t && c[i] < *at)
				*at = c[i];
	}
	return *at != INT64_MAX;
}

int64_t
cat_zone_local(const struct cat_zone *z, int64_t utc)
{
	return utc + east(z, floor_div(utc, 1000000) + since_1970) * 1000000;
}

int64_t
cat_zone_utc(const struct cat_zone *z, int64_t local)
{
	int64_t t = floor_div(local, 1000000) + since_1970, change;
	int64_t before = east(z, t - DAY), after = before;
	if (next_change(z, t - DAY, &change))
		after = east(z, change);
	else
		change = INT64_MAX;
	int64_t x = t - before, y = t - after;
	bool is_after = x < change && y < change ? false : x > change && y >= change ? true : x <= y;
	return local - (is_after ? after : before) * 1000000;
}

/* ---- files -------------------------------------------------------------------------------- */

static int64_t
big(const unsigned char *p, unsigned bytes)
{
	uint64_t v = (p[0] & 0x80) != 0 ? UINT64_MAX : 0;
	for (unsigned k = 0; k < bytes; k++)
		v = v << 8 | p[k];
	return (int64_t)v;
}

struct counts {
	uint64_t isut, isstd, leap, time, type, chars;
};

/* The header at p, and how many bytes follow it when times have `width` bytes. */
static bool
header(const unsigned char *p, size_t n, unsigned width, struct counts *c, uint64_t *body)
{
	if (n < HEADER || memcmp(p, "TZif", 4) != 0)
		return false;
	uint64_t *to[] = { &c->isut, &c->isstd, &c->leap, &c->time, &c->type, &c->chars };
	for (unsigned k = 0; k < 6; k++)
		*to[k] = (uint32_t)big(p + 20 + 4 * k, 4);
	*body = c->time * (width + 1) + c->type * 6 + c->chars + c->leap * (width + 4) + c->isstd + c->isut;
	return *body <= n - HEADER;
}

struct cat_zone *
cat_zone_read(const unsigned char *p, size_t n)
{
	enum { OLD = 4, WIDE = 8 };
	struct counts c;
	uint64_t body;
	if (!header(p, n, OLD, &c, &body) || p[4] < '2')
		return NULL;
	p += HEADER + body;
	n -= HEADER + body;
	if (!header(p, n, WIDE, &c, &body) || c.type == 0 || c.type > TYPES || c.time > FILE_MAX ||
	    c.leap > 0) /* no second here is a leap second */
		return NULL;
	struct cat_zone *z = calloc(1, sizeof *z + c.time * (sizeof *z->at + 1));
	if (z == NULL)
		return NULL;
	z->n = (uint32_t)c.time;
	z->at = (int64_t *)(z + 1);
	z->type = (uint8_t *)(z->at + z->n);
	const unsigned char *at = p + HEADER, *type = at + c.time * WIDE, *info = type + c.time;
	bool good = true;
	for (uint32_t k = 0; k < z->n; k++) {
		z->at[k] = big(at + k * (size_t)WIDE, WIDE);
		z->type[k] = type[k];
		good &= type[k] < c.type && (k == 0 || z->at[k] > z->at[k - 1]);
	}
	for (uint32_t k = 0; k < c.type; k++) {
		z->east[k] = (int32_t)big(info + k * (size_t)6, 4);
		good &= z->east[k] > -2 * DAY && z->east[k] < 2 * DAY;
	}
	/* The rule stands between two line ends. */
	const char *foot = (const char *)p + HEADER + body, *end = (const char *)p + n;
	const char *stop =
	    foot < end && *foot == '\n' ? memchr(foot + 1, '\n', (size_t)(end - foot - 1)) : NULL;
	good = good && stop != NULL && rule_in((struct text){ foot + 1, stop }, &z->rule);
	if (good)
		return z;
	free(z);
	return NULL;
}

/* Replaces each part of a path by the name in its folder that differs in case only. */
static bool
right_case(char *path, size_t root)
{
	for (char *part = path + root + 1;;) {
		char *slash = strchr(part, '/');
		bool found = false;
		part[-1] = 0;
		if (slash != NULL)
			*slash = 0;
		DIR *d = opendir(path);
		for (struct dirent *e; d != NULL && !found && (e = readdir(d)) != NULL;) {
			found = strcasecmp(e->d_name, part) == 0;
			if (found)
				memcpy(part, e->d_name, strlen(part));
		}
		if (d != NULL)
			closedir(d);
		part[-1] = '/';
		if (!found || slash == NULL)
			return found;
		*slash = '/';
		part = slash + 1;
	}
}

static struct cat_zone *
load(const char *name)
{
	char path[sizeof folder + NAME_MAX_LEN + 1];
	snprintf(path, sizeof path, "%s/%s", folder, name);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 && right_case(path, sizeof folder - 1))
		fd = open(path, O_RDONLY | O_CLOEXEC);
	unsigned char *p = fd >= 0 ? malloc(FILE_MAX) : NULL;
	ssize_t n = 0, got = 1;
	while (p != NULL && got > 0 && n < FILE_MAX)
		if ((got = read(fd, p + n, (size_t)(FILE_MAX - n))) > 0)
			n += got;
	if (fd >= 0)
		close(fd);
	struct cat_zone *z = p != NULL && got == 0 ? cat_zone_read(p, (size_t)n) : NULL;
	free(p);
	if (z != NULL)
		snprintf(z->name, sizeof z->name, "%s", name);
	return z;
}

const struct cat_zone *
cat_zone_find(struct cat_str s)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static struct cat_zone *all;
	char name[NAME_MAX_LEN + 1];
	if (s.len == 0 || s.len > NAME_MAX_LEN)
		return NULL;
	for (uint32_t k = 0; k < s.len; k++) {
		char c = s.p[k], before = k > 0 ? s.p[k - 1] : '/';
		bool letter = ((c | 32) >= 'a' && (c | 32) <= 'z') || (c >= '0' && c <= '9');
		/* Each part of the path begins with a letter or a digit. */
		if (!letter && (before == '/' || strchr("_-+/", c) == NULL))
			return NULL;
		name[k] = c;
	}
	name[s.len] = 0;
	if (name[s.len - 1] == '/')
		return NULL;
	pthread_mutex_lock(&lock);
	struct cat_zone *z = all;
	while (z != NULL && strcasecmp(z->name, name) != 0)
		z = z->next;
	if (z == NULL && (z = load(name)) != NULL) {
		z->next = all;
		all = z;
	}
	pthread_mutex_unlock(&lock);
	return z;
}
