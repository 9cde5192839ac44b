/* cost.c -- namdb.cost_*: the constants of costs that a session gives in the place of the measured
 * ones. */
#include <sql/plan/cost.h>
#include <sql/session/session_internal.h>

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#define PREFIX "namdb.cost_"
enum { NS_MOST = 1000000000 };

/* In the order of struct sql_costs and settings.cost. bytes: kept so, else in nanoseconds. */
static const struct constant {
	const char *name;
	bool bytes;
} constants[] = { { "trip", false }, { "verb", false }, { "byte", false }, { "row", false },
	{ "value", false }, { "hash_near", false }, { "hash_far", false }, { "cache", true } };
enum { CONSTANTS = sizeof constants / sizeof *constants };
_Static_assert((int)CONSTANTS == (int)SQL_COST_CONSTANTS, "a setting for each");
_Static_assert(offsetof(struct sql_costs, cache) == (CONSTANTS - 1) * sizeof(double), "in their order");

static int
find(const char *name)
{
	size_t n = sizeof PREFIX - 1;
	for (int k = 0; strncasecmp(name, PREFIX, n) == 0 && k < CONSTANTS; k++)
		if (strcasecmp(name + n, constants[k].name) == 0)
			return k;
	return -1;
}

void
sql_cost_settings_init(struct sql_settings *set)
{
	set->costs_given = false;
	for (unsigned k = 0; k < CONSTANTS; k++)
		set->cost[k] = -1;
}

const struct sql_costs *
sql_costs_of(const struct sql_session *s)
{
	return s->costs;
}

static double
unit_of(const struct constant *c, const char *word)
{
	static const struct {
		bool bytes;
		const char *word;
		double is;
	} units[] = { { false, "", 1 }, { false, "ns", 1 }, { false, "us", 1e3 }, { false, "ms", 1e6 },
		{ false, "s", 1e9 }, { true, "", 1024 }, { true, "B", 1 }, { true, "kB", 1024 },
		{ true, "MB", 0x1p20 }, { true, "GB", 0x1p30 }, { true, "TB", 0x1p40 } };
	for (unsigned i = 0; i < sizeof units / sizeof *units; i++)
		if (units[i].bytes == c->bytes && strcmp(units[i].word, word) == 0)
			return units[i].is;
	return 0;
}

static bool
parse(const struct constant *c, const char *name, const char *v, double *out, struct cat_err *err)
{
	char *end;
	double x = strtod(v, &end), most = c->bytes ? 0x1p53 : NS_MOST;
	while (*end == ' ')
		end++;
	double unit = unit_of(c, end);
	if (end == v || unit == 0)
		return cat_error(err, "22023", "invalid value for parameter \"%s\": \"%.100s\"", name, v);
	x *= unit;
	if (!(x >= 0 && x <= most))
		return cat_error(err, "22023",
		    "%.100s is outside the valid range for parameter \"%s\" (-1, 0 .. %s)", v, name,
		    c->bytes ? "8192TB" : "1s");
	*out = x + 0.0; /* -0 too */
	return true;
}

bool
sql_cost_setting_set(struct sql_settings *set, const char *name, const char *v, bool *ok, struct cat_err *err)
{
	int at = find(name);
	double value = -1;
	if (at < 0)
		return false;
	*ok = v == NULL || strcmp(v, "-1") == 0 || parse(&constants[at], name, v, &value, err);
	if (!*ok)
		return true;
	set->cost[at] = value;
	set->costs_given = false;
	for (unsigned k = 0; k < CONSTANTS; k++)
		set->costs_given |= set->cost[k] >= 0;
	return true;
}

const char *
sql_cost_setting_text(const struct sql_settings *set, const char *name, char *buf, size_t max)
{
	int at = find(name);
	if (at < 0)
		return NULL;
	double c[CONSTANTS];
	struct sql_costs all;
	sql_costs_in_force(set, &all);
	memcpy(c, &all, sizeof c);
	if (constants[at].bytes)
		return sql_kb_text((uint64_t)(c[at] / 1024 + 0.5), buf, max);
	snprintf(buf, max, "%.10gns", c[at]);
	return buf;
}
