/* session.c -- functions that ask the session, the clock or the dice. */
#include <base/clock.h>
#include <sql/expr/functions.h>
#include <types/array.h>
#include <types/datetime.h>
#include <types/interval.h>

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

static const int64_t EPOCH_US = INT64_C(946684800000000); /* 2000-01-01, after 1970 */

/* ---- the dice: xoroshiro128**, seeded as PostgreSQL does ---------------------------------- */

static uint64_t
rotate(uint64_t x, int by)
{
	return x << by | x >> (64 - by);
}

static uint64_t
splitmix(uint64_t *state)
{
	uint64_t v = *state += UINT64_C(0x9e3779b97f4a7c15);
	v = (v ^ v >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	v = (v ^ v >> 27) * UINT64_C(0x94d049bb133111eb);
	return v ^ v >> 31;
}

static void
seed(uint64_t s[2], uint64_t from)
{
	s[0] = splitmix(&from);
	s[1] = splitmix(&from);
}

static bool
k_random(struct sql_row *r)
{
	uint64_t *s = r->env->dice, from;
	if (s[0] == 0 && s[1] == 0) {
		if (getrandom(&from, sizeof from, 0) != (ssize_t)sizeof from)
			return cat_error(r->env->err, "XX000", "could not generate random values");
		seed(s, from);
	}
	uint64_t a = s[0], b = s[1] ^ a, v = rotate(a * 5, 7) * 9;
	s[0] = rotate(a, 24) ^ b ^ b << 16;
	s[1] = rotate(b, 37);
	r->out.f = ldexp((double)(v >> 12), -52);
	return true;
}

static bool
k_setseed(struct sql_row *r)
{
	double x = r->a[0].f;
	if (!(x >= -1 && x <= 1))
		return cat_error(
		    r->env->err, "22023", "setseed parameter %g is out of allowed range [-1,1]", x);
	seed(r->env->dice, (uint64_t)(int64_t)((double)((UINT64_C(1) << 52) - 1) * x));
	r->out.s = (struct cat_str){ "", 0 };
	return true;
}

/* ---- the clock -------------------------------------------------------------------------- */

static bool
k_clock(struct sql_row *r)
{
	r->out.i = nam_clock_wall_us() - EPOCH_US;
	return true;
}

static bool
k_statement(struct sql_row *r)
{
	r->out.i = r->env->host != NULL ? r->env->host->statement_us(r->env->session) : r->env->now_us;
	return true;
}

/* A NaN sleeps as little as a time that has passed. */
static bool
k_sleep(struct sql_row *r)
{
	r->out.s = (struct cat_str){ "", 0 };
	return !(r->a[0].f > 0) || sql_host_of(r->env)->sleep(r->env->session, r->a[0].f, r->env->err);
}

static bool
k_sleep_for(struct sql_row *r)
{
	struct cat_interval v = cat_interval_load(r->a[0].s);
	double us = (double)v.us + ((double)v.days + 30.0 * (double)v.months) * (double)CAT_US_PER_DAY;
	r->out.s = (struct cat_str){ "", 0 };
	return !(us > 0) || sql_host_of(r->env)->sleep(r->env->session, us / 1e6, r->env->err);
}

static bool
k_sleep_until(struct sql_row *r)
{
	double us = (double)r->a[0].i - (double)(nam_clock_wall_us() - EPOCH_US);
	r->out.s = (struct cat_str){ "", 0 };
	return !(us > 0) || sql_host_of(r->env)->sleep(r->env->session, us / 1e6, r->env->err);
}

static bool
k_timeofday(struct sql_row *r)
{
	int64_t us = nam_clock_wall_us();
	time_t t = (time_t)(us / 1000000);
	struct tm tm;
	char day[32], *p = nam_arena_take(r->env->arena, 64);
	if (p == NULL)
		return sql_oom(r->env->err);
	gmtime_r(&t, &tm);
	strftime(day, sizeof day, "%a %b %d %H:%M:%S", &tm);
	int n = snprintf(p, 64, "%s.%06d %04d UTC", day, (int)(us % 1000000), tm.tm_year + 1900);
	r->out.s = (struct cat_str){ p, (uint32_t)n };
	return true;
}

/* ---- user and version ------------------------------------------------------------------------ */

static bool
said(struct sql_row *r, const char *s)
{
	r->out.s = (struct cat_str){ s, (uint32_t)strlen(s) };
	return true;
}

static bool
k_name(struct sql_row *r)
{
	return said(r, "namdb");
}

static bool
k_session_user(struct sql_row *r)
{
	char buf[64];
	return said(
	    r, sql_host_of(r->env)->setting(r->env->session, "session_authorization", buf, sizeof buf));
}

static bool
k_user(struct sql_row *r)
{
	char buf[64];
	const char *user = sql_host_of(r->env)->setting(r->env->session, "role", buf, sizeof buf);
	if (user != NULL && strcmp(user, "none") != 0)
		return said(r, user);
	return k_session_user(r);
}

static bool
k_version(struct sql_row *r)
{
	return said(r, "PostgreSQL 15.0 (namdb)");
}

static bool
k_encoding(struct sql_row *r)
{
	return said(r, "UTF8");
}

/* 6 is PostgreSQL's number of UTF8. */
static bool
k_encoding_by_id(struct sql_row *r)
{
	return said(r, r->a[0].i == 6 ? "UTF8" : "");
}

static bool
k_pid(struct sql_row *r)
{
	r->out.i = r->env->host ? sql_host_of(r->env)->pid(r->env->session) : getpid();
	return true;
}

static bool
signal_session(struct sql_row *r, bool end)
{
	bool done = false;
	if (r->env->host != NULL &&
	    !sql_host_of(r->env)->signal(r->env->session, (int32_t)r->a[0].i, end, &done, r->env->err))
		return false;
	r->out.i = done;
	return true;
}

static bool
k_cancel(struct sql_row *r)
{
	return signal_session(r, false);
}

static bool
k_terminate(struct sql_row *r)
{
	return signal_session(r, true);
}

static bool
k_false(struct sql_row *r)
{
	r->out.i = 0;
	return true;
}

static bool
k_typeof(struct sql_row *r)
{
	enum { UNKNOWN = 705 };
	const struct sql_expr *e = r->e->args[0];
	const struct sql_domain *d = r->e->list;
	const char *name = d != NULL ? d->name : cat_type_said(e->type, e->typmod);
	uint32_t oid = d != NULL                ? SQL_FIRST_OID + d->id
		       : e->type == CAT_UNKNOWN ? UNKNOWN
						: cat_type_oid(e->type, e->typmod);
	struct cat_str s = { name, (uint32_t)strlen(name) };
	return cat_reg_make(oid, s, &r->out.s, r->env->arena) || sql_oom(r->env->err);
}

static bool
k_setting(struct sql_row *r)
{
	char name[64], buf[64];
	struct cat_str s = r->a[0].s;
	snprintf(name, sizeof name, "%.*s", (int)s.len, s.p);
	const char *v =
	    s.len < sizeof name ? sql_host_of(r->env)->setting(r->env->session, name, buf, sizeof buf) : NULL;
	if (v == NULL && r->n > 1 && r->a[1].i)
		return r->out_null = true;
	if (v == NULL)
		return cat_error(
		    r->env->err, "42704", "unrecognized configuration parameter \"%.63s\"", name);
	const char *kept = nam_arena_str(r->env->arena, v, strlen(v));
	return kept ? said(r, kept) : sql_oom(r->env->err);
}

/* A column of pg_settings, "pg_settings.name" and its kin, as an array (system/views.c). */
static bool
k_settings(struct sql_row *r)
{
	const struct sql_env *env = r->env;
	const char *column = strchr(r->e->fn->name, '.') + 1;
	union cat_val v[SQL_KNOWN_MOST];
	bool null[SQL_KNOWN_MOST];
	unsigned n = 0;
	struct sql_known is;
	if (env->host == NULL)
		return cat_error(env->err, "0A000", "settings are not supported here yet");
	for (; n < SQL_KNOWN_MOST && sql_host_of(env)->known(env->session, n, &is); n++) {
		const struct {
			const char *column, *value;
		} cell[] = { { "name", is.name }, { "setting", is.setting }, { "unit", is.unit },
			{ "short_desc", is.about }, { "context", is.context }, { "vartype", is.vartype },
			{ "min_val", is.min }, { "max_val", is.max }, { "choices", is.choices },
			{ "boot_val", is.boot } };
		const char *p = NULL;
		for (unsigned k = 0; k < sizeof cell / sizeof *cell; k++)
			if (strcmp(cell[k].column, column) == 0)
				p = cell[k].value;
		null[n] = p == NULL;
		const char *copy = p ? nam_arena_str(env->arena, p, strlen(p)) : "";
		if (copy == NULL)
			return sql_oom(env->err);
		v[n].s = (struct cat_str){ copy, (uint32_t)strlen(copy) };
	}
	return cat_array_make(CAT_TEXT, 1, v, null, n, &r->out.s, env->arena, env->err);
}

/* The new value, as SHOW has it. */
static bool
k_set_config(struct sql_row *r)
{
	char name[64], value[256], buf[64];
	const struct sql_env *env = r->env;
	if (r->null[0])
		return cat_error(env->err, "22004", "SET requires parameter name");
	if (r->a[0].s.len >= sizeof name || (!r->null[1] && r->a[1].s.len >= sizeof value))
		return cat_error(env->err, "22023", "invalid value for parameter: it is too long");
	snprintf(name, sizeof name, "%.*s", (int)r->a[0].s.len, r->a[0].s.p);
	if (!r->null[1])
		snprintf(value, sizeof value, "%.*s", (int)r->a[1].s.len, r->a[1].s.p);
	if (env->host == NULL)
		return cat_error(env->err, "0A000", "settings are not supported here yet");
	if (!sql_host_of(env)->set(
		env->session, name, r->null[1] ? NULL : value, !r->null[2] && r->a[2].i, env->err))
		return false;
	const char *v = sql_host_of(env)->setting(env->session, name, buf, sizeof buf);
	const char *kept = nam_arena_str(env->arena, v ? v : "", v ? strlen(v) : 0);
	return kept ? said(r, kept) : sql_oom(env->err);
}

/* ---- sequences ------------------------------------------------------------------------------- */

static bool
no_host(struct sql_row *r)
{
	return cat_error(r->env->err, "0A000", "sequences are not supported here yet");
}

/* The sequence that a call is about: a text, or the name in a regclass. */
static bool
of_sequence(struct sql_row *r, bool (*ask)(struct sql_row *))
{
	union cat_val a[3];
	struct sql_row named = *r;
	memcpy(a, r->a, r->n * sizeof *a);
	if (r->e->args[0]->type == CAT_REGCLASS)
		a[0].s =
		    (struct cat_str){ a[0].s.p + sizeof(uint32_t), a[0].s.len - (uint32_t)sizeof(uint32_t) };
	named.a = a;
	bool ok = ask(&named);
	r->out = named.out;
	return ok;
}

static bool
k_nextval(struct sql_row *r)
{
	return r->env->host ? of_sequence(r, sql_host_of(r->env)->nextval) : no_host(r);
}

static bool
k_currval(struct sql_row *r)
{
	return r->env->host ? of_sequence(r, sql_host_of(r->env)->currval) : no_host(r);
}

static bool
k_lastval(struct sql_row *r)
{
	if (r->env->host == NULL)
		return cat_error(r->env->err, "55000", "lastval is not yet defined in this session");
	return sql_host_of(r->env)->lastval(r);
}

static bool
set(struct sql_row *r)
{
	return sql_host_of(r->env)->setval(r, r->n < 3 || r->a[2].i != 0);
}

static bool
k_setval(struct sql_row *r)
{
	return r->env->host ? of_sequence(r, set) : no_host(r);
}

enum { EACH = SQL_FN_VOLATILE | SQL_FN_EACH };
#define T  CAT_TEXT
#define TS (CAT_ARRAY | CAT_TEXT)
#define F(name, flags, n, ret, f, ...)                                                                       \
	{                                                                                                    \
		name, flags, n, { __VA_ARGS__ }, ret, NULL, f                                                \
	}

const struct sql_fn sql_fns_session[] = {
	F("random", EACH, 0, CAT_FLOAT8, k_random, 0),
	F("setseed", EACH, 1, T, k_setseed, CAT_FLOAT8),
	F("clock_timestamp", EACH, 0, CAT_TIMESTAMPTZ, k_clock, 0),
	F("statement_timestamp", EACH, 0, CAT_TIMESTAMPTZ, k_statement, 0),
	F("pg_sleep", EACH, 1, T, k_sleep, CAT_FLOAT8),
	F("pg_sleep_for", EACH, 1, T, k_sleep_for, CAT_INTERVAL),
	F("pg_sleep_until", EACH, 1, T, k_sleep_until, CAT_TIMESTAMPTZ),
	F("timeofday", EACH, 0, T, k_timeofday, 0),
	F("current_user", SQL_FN_VOLATILE, 0, CAT_NAME, k_user, 0),
	F("current_role", SQL_FN_VOLATILE, 0, CAT_NAME, k_user, 0),
	F("session_user", SQL_FN_VOLATILE, 0, CAT_NAME, k_session_user, 0),
	F("user", SQL_FN_VOLATILE, 0, CAT_NAME, k_user, 0),
	F("current_catalog", 0, 0, CAT_NAME, k_name, 0),
	F("current_database", 0, 0, CAT_NAME, k_name, 0),
	F("version", 0, 0, T, k_version, 0),
	F("pg_client_encoding", 0, 0, CAT_NAME, k_encoding, 0),
	F("pg_backend_pid", SQL_FN_VOLATILE, 0, CAT_INT4, k_pid, 0),
	F("pg_cancel_backend", EACH, 1, CAT_BOOL, k_cancel, CAT_INT4),
	F("pg_terminate_backend", EACH, 1, CAT_BOOL, k_terminate, CAT_INT4),
	F("pg_is_in_recovery", 0, 0, CAT_BOOL, k_false, 0),
	F("pg_encoding_to_char", 0, 1, CAT_NAME, k_encoding_by_id, CAT_INT4),
	F("pg_typeof", SQL_FN_ANY | SQL_FN_NULLS | SQL_FN_EXACT, 1, CAT_REGTYPE, k_typeof, 0),
	F("current_setting", SQL_FN_VOLATILE, 1, T, k_setting, T),
	F("current_setting", SQL_FN_VOLATILE, 2, T, k_setting, T, CAT_BOOL),
	F("pg_settings.name", SQL_FN_VOLATILE, 0, TS, k_settings, 0),
	F("pg_settings.setting", SQL_FN_VOLATILE, 0, TS, k_settings, 0),
	F("pg_settings.unit", SQL_FN_VOLATILE, 0, TS, k_settings, 0),
	F("pg_settings.short_desc", SQL_FN_VOLATILE, 0, TS, k_settings, 0),
	F("pg_settings.context", SQL_FN_VOLATILE, 0, TS, k_settings, 0),
	F("pg_settings.vartype", SQL_FN_VOLATILE, 0, TS, k_settings, 0),
	F("pg_settings.min_val", SQL_FN_VOLATILE, 0, TS, k_settings, 0),
	F("pg_settings.max_val", SQL_FN_VOLATILE, 0, TS, k_settings, 0),
	F("pg_settings.choices", SQL_FN_VOLATILE, 0, TS, k_settings, 0),
	F("pg_settings.boot_val", SQL_FN_VOLATILE, 0, TS, k_settings, 0),
	F("set_config", EACH | SQL_FN_NULLS, 3, T, k_set_config, T, T, CAT_BOOL),
	F("nextval", EACH, 1, CAT_INT8, k_nextval, T),
	F("currval", EACH, 1, CAT_INT8, k_currval, T),
	F("lastval", EACH, 0, CAT_INT8, k_lastval, 0),
	F("setval", EACH, 2, CAT_INT8, k_setval, T, CAT_INT8),
	F("setval", EACH, 3, CAT_INT8, k_setval, T, CAT_INT8, CAT_BOOL),
	F("nextval", EACH, 1, CAT_INT8, k_nextval, CAT_REGCLASS),
	F("currval", EACH, 1, CAT_INT8, k_currval, CAT_REGCLASS),
	F("setval", EACH, 2, CAT_INT8, k_setval, CAT_REGCLASS, CAT_INT8),
	F("setval", EACH, 3, CAT_INT8, k_setval, CAT_REGCLASS, CAT_INT8, CAT_BOOL),
	{ NULL, 0, 0, { 0 }, 0, NULL, NULL },
};

int64_t
sql_env_now(const struct sql_env *env)
{
	return env->now_us != 0 || env->host == NULL ? env->now_us : sql_host_of(env)->now_us(env->session);
}
