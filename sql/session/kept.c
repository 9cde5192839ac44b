/* kept.c -- settings of PostgreSQL that clients and scripts set: their values are checked, kept and
 * shown. All but extra_float_digits and synchronous_commit mean nothing here. SHOW ALL: all
 * settings there are. */
#include <sql/expr/functions.h>
#include <sql/session/session_internal.h>

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

/* A value is kept as 32 bits: of a switch 0 or 1, of a CHOICE its place in the list, of a REAL a
 * float. */
enum kind { SWITCH, CHOICE, NUMBER, KBYTES, MSECS, REAL, NANOS };

struct kept {
	const char *name;
	enum kind kind;
	double dflt, min, max;
	const char *choices; /* each between blanks */
	const char *about;
};

#define ON(n, about)                                                                                         \
	{                                                                                                    \
		n, SWITCH, 1, 0, 1, NULL, about                                                              \
	}
#define OFF(n, about)                                                                                        \
	{                                                                                                    \
		n, SWITCH, 0, 0, 1, NULL, about                                                              \
	}
#define WAY     "No effect: plans follow costs."
#define COST    "No effect: costs are measured."
#define INT_TOP 2147483647

static const struct kept kept[SQL_KEPT] = {
	[SQL_KEPT_FLOATS] = { "extra_float_digits", NUMBER, 1, -15, 3, NULL,
	    "Digits of floats as text; above 0: as many as they need." },
	ON("enable_async_append", WAY),
	ON("enable_bitmapscan", WAY),
	ON("enable_gathermerge", WAY),
	ON("enable_hashagg", WAY),
	ON("enable_hashjoin", WAY),
	ON("enable_incremental_sort", WAY),
	ON("enable_indexonlyscan", WAY),
	ON("enable_indexscan", WAY),
	ON("enable_material", WAY),
	ON("enable_memoize", WAY),
	ON("enable_mergejoin", WAY),
	ON("enable_nestloop", WAY),
	ON("enable_parallel_append", WAY),
	ON("enable_parallel_hash", WAY),
	ON("enable_partition_pruning", WAY),
	OFF("enable_partitionwise_aggregate", WAY),
	OFF("enable_partitionwise_join", WAY),
	ON("enable_seqscan", WAY),
	ON("enable_sort", WAY),
	ON("enable_tidscan", WAY),
	ON("geqo", WAY),
	ON("jit", "No effect: expressions run in vectors."),
	ON("check_function_bodies", "No effect: there are no functions of users."),
	ON("escape_string_warning", "No effect."),
	ON("row_security", "No effect: there are no policies."),
	ON("synchronize_seqscans", "No effect."),
	OFF("quote_all_identifiers", "No effect: nothing makes texts of SQL."),
	{ "plan_cache_mode", CHOICE, 0, 0, 0, " auto force_generic_plan force_custom_plan ",
	    "No effect: plans are generic." },
	{ "synchronous_commit", CHOICE, 2, 0, 0, " local remote_write on remote_apply off ",
	    "off: the answer to COMMIT does not wait for the disk. All others are on." },
	{ "constraint_exclusion", CHOICE, 0, 0, 0, " partition on off ", WAY },
	{ "debug_parallel_query", CHOICE, 0, 0, 0, " off on regress ", WAY },
	{ "force_parallel_mode", CHOICE, 0, 0, 0, " off on regress ", WAY },
	{ "xmloption", CHOICE, 0, 0, 0, " content document ", "No effect: there is no XML." },
	{ "work_mem", KBYTES, 4096, 64, INT_TOP, NULL, "No effect: namdb.statement_memory limits." },
	{ "maintenance_work_mem", KBYTES, 65536, 1024, INT_TOP, NULL,
	    "No effect: namdb.statement_memory limits." },
	{ "min_parallel_table_scan_size", NUMBER, 1024, 0, 715827882, NULL, WAY },
	{ "max_parallel_workers_per_gather", NUMBER, 2, 0, 1024, NULL, WAY },
	{ "effective_io_concurrency", NUMBER, 1, 0, 1000, NULL, "No effect." },
	{ "default_statistics_target", NUMBER, 100, 1, 10000, NULL, "No effect: 100." },
	{ "from_collapse_limit", NUMBER, 8, 1, INT_TOP, NULL, WAY },
	{ "join_collapse_limit", NUMBER, 8, 1, INT_TOP, NULL, WAY },
	{ "geqo_threshold", NUMBER, 12, 2, INT_TOP, NULL, WAY },
	{ "deadlock_timeout", MSECS, 1000, 1, INT_TOP, NULL, "No effect." },
	{ "seq_page_cost", REAL, 1, 0, 1.79769e+308, NULL, COST },
	{ "random_page_cost", REAL, 4, 0, 1.79769e+308, NULL, COST },
	{ "cpu_tuple_cost", REAL, 0.01, 0, 1.79769e+308, NULL, COST },
	{ "cpu_index_tuple_cost", REAL, 0.005, 0, 1.79769e+308, NULL, COST },
	{ "cpu_operator_cost", REAL, 0.0025, 0, 1.79769e+308, NULL, COST },
	{ "parallel_setup_cost", REAL, 1000, 0, 1.79769e+308, NULL, COST },
	{ "parallel_tuple_cost", REAL, 0.1, 0, 1.79769e+308, NULL, COST },
	{ "cursor_tuple_fraction", REAL, 0.1, 0, 1, NULL, WAY },
	{ "hash_mem_multiplier", REAL, 2, 1, 1000, NULL, WAY },
};

static int
find(const char *name)
{
	for (int k = 0; k < SQL_KEPT; k++)
		if (strcasecmp(kept[k].name, name) == 0)
			return k;
	return -1;
}

bool
sql_kept_commits_early(const int32_t *value)
{
	enum { OFF = 4 }; /* among its words */
	static _Atomic int place = -1;
	int k = atomic_load_explicit(&place, memory_order_relaxed);
	if (k < 0)
		atomic_store_explicit(&place, k = find("synchronous_commit"), memory_order_relaxed);
	return value[k] == OFF;
}

static int32_t
of_real(double d)
{
	float f = (float)d;
	int32_t bits;
	memcpy(&bits, &f, sizeof bits);
	return bits;
}

static int32_t
dflt(const struct kept *k)
{
	return k->kind == REAL ? of_real(k->dflt) : (int32_t)k->dflt;
}

void
sql_kept_init(int32_t *value)
{
	for (unsigned k = 0; k < SQL_KEPT; k++)
		value[k] = dflt(&kept[k]);
}

/* ---- values ------------------------------------------------------------------------------ */

bool
sql_parse_switch(const char *v, bool *out)
{
	static const char *const words[] = { "on", "true", "yes", "1", "off", "false", "no", "0" };
	size_t n = strlen(v);
	/* A beginning of the word will do, if no other word begins so. */
	for (unsigned i = 0; i < 8 && n > 0; i++) {
		bool o = words[i][0] == 'o';
		if (strncasecmp(words[i], v, n) == 0 && n <= strlen(words[i]) && (!o || n >= 2)) {
			*out = i < 4;
			return true;
		}
	}
	return false;
}

/* The word's place in the list; -1 = it is not in it. */
static int
place(const char *list, const char *word)
{
	size_t n = strlen(word);
	int at = 0;
	for (const char *p = list + 1; *p != 0; at++) {
		size_t len = strcspn(p, " ");
		if (len == n && strncasecmp(p, word, n) == 0)
			return at;
		p += len + 1;
	}
	return -1;
}

static bool
one_of(const struct kept *k, const char *v, int32_t *out, struct cat_err *err)
{
	bool on;
	int at = place(k->choices, v);
	if (at < 0 && sql_parse_switch(v, &on)) /* where they say on and off */
		at = place(k->choices, on ? "on" : "off");
	if (at >= 0) {
		*out = at;
		return true;
	}
	cat_error(err, "22023", "invalid value for parameter \"%s\": \"%.100s\"", k->name, v);
	char list[120];
	size_t n = 0;
	for (const char *p = k->choices + 1; *p != 0 && n + 3 < sizeof list; p++) {
		if (*p != ' ')
			list[n++] = *p;
		else if (p[1] != 0)
			n += (size_t)snprintf(list + n, 3, ", ");
	}
	list[n] = 0;
	snprintf(err->hint, sizeof err->hint, "Available values: %s.", list);
	return false;
}

static double
unit_of(enum kind kind, const char *word)
{
	static const struct {
		enum kind kind;
		const char *word;
		double is;
	} units[] = { { KBYTES, "B", 1.0 / 1024 }, { KBYTES, "kB", 1 }, { KBYTES, "MB", 1024 },
		{ KBYTES, "GB", 1 << 20 }, { KBYTES, "TB", 1 << 30 }, { MSECS, "us", 0.001 },
		{ MSECS, "ms", 1 }, { MSECS, "s", 1000 }, { MSECS, "min", 60000 }, { MSECS, "h", 3600000 },
		{ MSECS, "d", 86400000 }, { NANOS, "ns", 1 } };
	for (unsigned i = 0; i < sizeof units / sizeof *units; i++)
		if (units[i].kind == kind && strcmp(units[i].word, word) == 0)
			return units[i].is;
	return *word == 0 ? 1 : 0;
}

static bool
number(const struct kept *k, const char *v, int32_t *out, struct cat_err *err)
{
	char *end;
	double x = strtod(v, &end);
	while (*end == ' ')
		end++;
	double unit = unit_of(k->kind, end);
	if (end == v || unit == 0 || isnan(x))
		return cat_error(err, "22023", "invalid value for parameter \"%s\": \"%.100s\"", k->name, v);
	x = k->kind == REAL ? x : rint(x * unit);
	if (x < k->min || x > k->max)
		return cat_error(err, "22023",
		    "%g%s is outside the valid range for parameter \"%s\" (%.12g .. %.12g)", x,
		    k->kind == KBYTES  ? " kB"
		    : k->kind == MSECS ? " ms"
				       : "",
		    k->name, k->min, k->max);
	*out = k->kind == REAL ? of_real(x) : (int32_t)x;
	return true;
}

bool
sql_kept_set(int32_t *value, const char *name, const char *v, bool *ok, struct cat_err *err)
{
	int at = find(name);
	if (at < 0)
		return false;
	const struct kept *k = &kept[at];
	bool on;
	*ok = true;
	if (v == NULL)
		value[at] = dflt(k);
	else if (k->kind == CHOICE)
		*ok = one_of(k, v, &value[at], err);
	else if (k->kind != SWITCH)
		*ok = number(k, v, &value[at], err);
	else if ((*ok = sql_parse_switch(v, &on)))
		value[at] = on;
	else
		cat_error(err, "22023", "parameter \"%s\" requires a Boolean value", k->name);
	return true;
}

const char *
sql_kept_text(const int32_t *value, const char *name, char *buf, size_t max)
{
	int at = find(name);
	if (at < 0)
		return NULL;
	const struct kept *k = &kept[at];
	int32_t v = value[at];
	float f;
	memcpy(&f, &v, sizeof f);
	switch (k->kind) {
	case SWITCH:
		return v ? "on" : "off";
	case CHOICE: {
		const char *p = k->choices + 1;
		for (; v > 0; v--)
			p += strcspn(p, " ") + 1;
		snprintf(buf, max, "%.*s", (int)strcspn(p, " "), p);
		return buf;
	}
	case KBYTES:
		return sql_kb_text((uint64_t)v, buf, max);
	case MSECS:
		return sql_ms_text((uint32_t)v, buf, max);
	case REAL:
		snprintf(buf, max, "%g", (double)f);
		return buf;
	default:
		snprintf(buf, max, "%d", v);
		return buf;
	}
}

/* ---- SHOW ALL ------------------------------------------------------------------------------ */

const struct sql_column sql_show_all_columns[3] = { { .name = "name", .type = CAT_TEXT, .typmod = -1 },
	{ .name = "setting", .type = CAT_TEXT, .typmod = -1 },
	{ .name = "description", .type = CAT_TEXT, .typmod = -1 } };

/* Those that have an effect, or one value only. */
enum access { FIXED, OWN, SUPER }; /* FIXED: nobody sets it; SUPER: a superuser does */
static const struct other {
	const char *name, *about;
	enum access access;
	enum { TEXT, BOOL, ENUM, INTEGER, MEMORY, TIME, COST_NS, COST_BYTES } type;
	const char *choices;
} others[] = {
	{ "application_name", "What pg_stat_activity shows of the client.", OWN, TEXT, NULL },
	{ "bytea_output", "How binary strings are written.", OWN, ENUM, "hex" },
	{ "client_encoding", "The encoding of texts.", OWN, TEXT, NULL },
	{ "client_min_messages", "Notices below this level are not sent.", OWN, ENUM,
	    "debug5|debug4|debug3|debug2|debug1|log|notice|warning|error" },
	{ "DateStyle", "How dates are written.", OWN, TEXT, NULL },
	{ "default_transaction_isolation", "The isolation level of new transactions.", OWN, ENUM,
	    "serializable|repeatable read|read committed|read uncommitted" },
	{ "default_transaction_read_only", "Whether new transactions are read only.", OWN, BOOL, NULL },
	{ "idle_in_transaction_session_timeout", "A session ends that is idle for longer in a transaction.",
	    OWN, TIME, NULL },
	{ "idle_session_timeout", "A session ends that is idle for longer.", OWN, TIME, NULL },
	{ "in_hot_standby", "Whether it is a standby.", FIXED, BOOL, NULL },
	{ "integer_datetimes", "Whether dates are integers.", FIXED, BOOL, NULL },
	{ "IntervalStyle", "How intervals are written.", OWN, ENUM, "postgres" },
	{ "is_superuser", "Whether the session's role is a superuser.", FIXED, BOOL, NULL },
	{ "lock_timeout", "A statement waits for a lock no longer.", OWN, TIME, NULL },
	{ "log_min_duration_statement", "Statements that take so long are logged.", SUPER, TIME, NULL },
	{ "max_identifier_length", "Bytes of a name.", FIXED, INTEGER, NULL },
	{ "max_index_keys", "Columns of a key.", FIXED, INTEGER, NULL },
	{ "namdb.cost_byte", "Cost of a byte over the fabric; -1: as measured.", OWN, COST_NS, NULL },
	{ "namdb.cost_cache", "Bytes of hash tables that the cache holds; -1: as measured.", OWN, COST_BYTES,
	    NULL },
	{ "namdb.cost_hash_far", "Cost of asking a hash table in memory; -1: as measured.", OWN, COST_NS,
	    NULL },
	{ "namdb.cost_hash_near", "Cost of asking a hash table in the cache; -1: as measured.", OWN, COST_NS,
	    NULL },
	{ "namdb.cost_row", "Cost of finding a visible row; -1: as measured.", OWN, COST_NS, NULL },
	{ "namdb.cost_trip", "Cost of a round trip over the fabric; -1: as measured.", OWN, COST_NS, NULL },
	{ "namdb.cost_value", "Cost of a value that is read or compared; -1: as measured.", OWN, COST_NS,
	    NULL },
	{ "namdb.cost_verb", "Cost of a further verb of a round trip; -1: as measured.", OWN, COST_NS, NULL },
	{ "namdb.costs", "The costs that plans use.", OWN, ENUM, "measured|standard" },
	{ "namdb.join_order", "The order of joins: by cost, or by dice.", OWN, TEXT, NULL },
	{ "namdb.primary_key", "How primary keys of new tables are kept.", OWN, ENUM, "hash|ordered" },
	{ "namdb.process_memory", "Memory that all sessions together may hold.", SUPER, MEMORY, NULL },
	{ "namdb.scan_memory", "Memory for decoded columns.", SUPER, MEMORY, NULL },
	{ "namdb.statement_memory", "Memory that a statement may hold.", OWN, MEMORY, NULL },
	{ "namdb.visibility", "What a commit's answer waits for.", OWN, ENUM, "session|cluster" },
	{ "password_encryption", "How passwords are kept.", FIXED, ENUM, "scram-sha-256" },
	{ "search_path", "Schemas in which names are looked up.", OWN, TEXT, NULL },
	{ "server_encoding", "The encoding of texts in the database.", FIXED, TEXT, NULL },
	{ "server_version", "The version of PostgreSQL that namdb follows.", FIXED, TEXT, NULL },
	{ "server_version_num", "The same as a number.", FIXED, INTEGER, NULL },
	{ "standard_conforming_strings", "Whether a backslash is an ordinary character.", OWN, BOOL, NULL },
	{ "statement_timeout", "A statement runs no longer.", OWN, TIME, NULL },
	{ "TimeZone", "The session's time zone.", OWN, TEXT, NULL },
	{ "transaction_isolation", "The isolation level of this transaction.", OWN, ENUM,
	    "serializable|repeatable read|read committed|read uncommitted" },
	{ "transaction_read_only", "Whether this transaction is read only.", OWN, BOOL, NULL },
	{ "namdb.help", "Whether other compute processes help with a query.", OWN, ENUM, "off|on|wait" },
	{ "namdb.parallel", "Workers that share a query; 0: all of the process.", OWN, INTEGER, NULL },
	{ "namdb.parallel_rows", "A query over fewer rows has one worker.", OWN, INTEGER, NULL },
};
enum { OTHERS = sizeof others / sizeof *others };

enum { ALL = OTHERS + SQL_KEPT };
/* One of the two. */
struct line {
	const char *name, *about;
	const struct kept *kept;
	const struct other *other;
};

static int
by_name(const void *x, const void *y)
{
	return strcasecmp(((const struct line *)x)->name, ((const struct line *)y)->name);
}

/* All settings by name; sorted once in the life of a process. */
static struct line all[ALL];
_Static_assert((int)ALL <= (int)SQL_KNOWN_MOST, "pg_settings has room for each");
_Static_assert(sizeof((struct sql_settings *)0)->search_path <= SQL_KNOWN_TEXT, "and for the longest value");

static void
sort_all(void)
{
	for (unsigned k = 0; k < OTHERS; k++)
		all[k] = (struct line){ others[k].name, others[k].about, NULL, &others[k] };
	for (unsigned k = 0; k < SQL_KEPT; k++)
		all[OTHERS + k] = (struct line){ kept[k].name, kept[k].about, &kept[k], NULL };
	qsort(all, ALL, sizeof *all, by_name);
}

static const struct line *
all_by_name(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, sort_all);
	return all;
}

bool
sql_show_all(struct sql_session *s, const struct sql_sink *sink, struct nam_arena *a, struct cat_err *err)
{
	const struct line *line = all_by_name();
	struct cat_vec v[3];
	unsigned n = ALL;
	for (unsigned c = 0; c < 3; c++)
		if (!cat_vec_take(&v[c], CAT_TEXT, n, a))
			return sql_no_memory(err);
	for (unsigned k = 0; k < n; k++) {
		char buf[64];
		const char *is = sql_setting(s, line[k].name, buf, sizeof buf);
		const char *copy = nam_arena_str(a, is ? is : "", is ? strlen(is) : 0);
		if (copy == NULL)
			return sql_no_memory(err);
		const char *cell[3] = { line[k].name, copy, line[k].about };
		for (unsigned c = 0; c < 3; c++) {
			v[c].null[k] = 0;
			v[c].s[k] = (struct cat_str){ cell[c], (uint32_t)strlen(cell[c]) };
		}
	}
	const struct sql_batch_view b = { .col = v, .cols = 3, .n = n };
	if ((sink->begin == NULL || sink->begin(sink->arg, sql_show_all_columns, 3)) &&
	    (sink->rows == NULL || sink->rows(sink->arg, &b)) &&
	    (sink->done == NULL || sink->done(sink->arg, "SHOW", n)))
		return true;
	return cat_error(err, "57014", "canceling statement due to user request");
}

/* ---- pg_settings --------------------------------------------------------------------------- */

/* A size or a time as its number of units, which pg_settings shows; other values as they are. */
static const char *
in_units(const char *shown, enum kind kind, char *buf)
{
	char *end;
	double x = strtod(shown, &end);
	while (*end == ' ')
		end++;
	double unit = kind == KBYTES || kind == MSECS || kind == NANOS ? unit_of(kind, end) : 0;
	if (unit == 0 || end == shown) {
		snprintf(buf, SQL_KNOWN_TEXT, "%s", shown);
		return buf;
	}
	snprintf(buf, SQL_KNOWN_TEXT, kind == NANOS ? "%.10g" : "%.0f", kind == NANOS ? x : rint(x * unit));
	return buf;
}

static const char *
bound(double x, enum kind kind, char *buf)
{
	snprintf(buf, SQL_KNOWN_TEXT, kind == REAL ? "%g" : "%.0f", x);
	return buf;
}

/* " a b " as a|b; NULL = it has no choices. */
static const char *
choices_of(const struct kept *k, char *buf)
{
	if (k->choices == NULL)
		return NULL;
	size_t n = strlen(k->choices) - 2;
	snprintf(buf, SQL_KNOWN_TEXT, "%.*s", (int)n, k->choices + 1);
	for (char *p = buf; (p = strchr(p, ' ')) != NULL;)
		*p = '|';
	return buf;
}

static enum kind
kind_of(const struct other *o)
{
	return o->type == MEMORY || o->type == COST_BYTES ? KBYTES
	       : o->type == TIME                          ? MSECS
	       : o->type == COST_NS                       ? NANOS
							  : CHOICE;
}

bool
sql_setting_known(struct sql_session *s, unsigned k, struct sql_known *out)
{
	static const char *const types[] = { "string", "bool", "enum", "integer", "integer", "integer",
		"real", "integer" };
	const struct line *line = all_by_name();
	char shown[64];
	if (k >= ALL)
		return false;
	const struct kept *own = line[k].kept;
	const struct other *other = line[k].other;
	enum kind kind = own ? own->kind : kind_of(other);
	bool number = own ? kind > CHOICE : other->type >= INTEGER;
	*out = (struct sql_known){ .name = line[k].name, .about = line[k].about };
	const char *is = sql_setting(s, out->name, shown, sizeof shown);
	out->setting = in_units(is ? is : "", kind, out->buf[0]);
	/* The session's own stay as they are: its helpers read them. */
	struct sql_settings fresh;
	sql_settings_init(&fresh);
	fresh.role = s->now.role;
	fresh.session_role = s->now.session_role;
	is = sql_setting_in(s, &fresh, out->name, shown, sizeof shown);
	out->boot = in_units(is ? is : "", kind, out->buf[1]);
	out->unit = kind == KBYTES ? "kB" : kind == MSECS ? "ms" : kind == NANOS ? "ns" : NULL;
	out->vartype = !own             ? types[other->type]
		       : kind == SWITCH ? "bool"
		       : kind == CHOICE ? "enum"
		       : kind == REAL   ? "real"
					: "integer";
	out->context = own || other->access == OWN ? "user"
		       : other->access == SUPER    ? "superuser"
						   : "internal";
	out->choices = own ? choices_of(own, out->buf[2]) : other->choices;
	if (number && own != NULL) {
		out->min = bound(own->min, kind, out->buf[2]);
		out->max = bound(own->max, kind, out->buf[3]);
	} else if (number && other->access == FIXED) {
		out->min = out->max = out->setting;
	} else if (number && kind == MSECS) {
		out->min = strcmp(out->name, "log_min_duration_statement") == 0 ? "-1" : "0";
		out->max = "2147483647";
	} else if (number && other->type >= COST_NS) {
		out->min = "-1";
		out->max = kind == NANOS ? "1000000000" : "8796093022208";
	}
	return true;
}
