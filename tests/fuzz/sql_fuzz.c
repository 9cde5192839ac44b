/*
 * sql_fuzz.c -- libFuzzer feeds SQL text to a whole embedded cluster: nothing may crash, hang or
 * leak, and what was committed before stays. Built with clang and
 * -DNAM_SANITIZE=fuzzer-no-link,address,undefined; ./go check runs it.
 */
#include <compute_node/cn.h>
#include <storage_node/sn.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *one, size_t one_size, const uint8_t *two, size_t two_size,
    uint8_t *out, size_t max, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);

enum {
	FRESH_TABLES = 128, /* texts after which the tables are made again, because most mutations
			     * of DROP and DELETE work */
	FRESH_CLUSTER =
	    20000 /* texts after which everything is: schemas and sequences are never given back in
		   * full */
};

static struct sn_region *region;
static struct cn *cn;
static struct cn_session *session;
static unsigned runs;
static bool full; /* the cluster had no room for what a text wanted */
static uint64_t seen;
static const char *copy; /* what COPY FROM STDIN reads: the part of the text behind @@ */
static size_t copy_len;

/* Looks at every value, so that a bad pointer is met here. */
static bool
rows(void *arg, const struct sql_batch_view *b)
{
	struct nam_arena a;
	(void)arg;
	nam_arena_init(&a, 0);
	for (unsigned r = 0; r < b->n; r++)
		for (unsigned c = 0; c < b->cols; c++) {
			if (b->col[c].null[r])
				continue;
			struct cat_str s = cat_value_out(b->col[c].type, cat_vec_at(&b->col[c], r), &a);
			for (uint32_t i = 0; i < s.len; i++)
				seen += (unsigned char)s.p[i];
		}
	nam_arena_fini(&a);
	return true;
}

static bool
copy_in(void *arg, const char **bytes, size_t *len)
{
	(void)arg;
	*bytes = copy;
	*len = copy_len;
	copy_len = 0;
	return true;
}

static bool
copy_out(void *arg, const char *bytes, size_t len)
{
	(void)arg;
	for (size_t i = 0; i < len; i++)
		seen += (unsigned char)bytes[i];
	return true;
}

static bool
run(const char *text, size_t len, struct cat_err *err)
{
	const struct sql_sink sink = { .rows = rows, .copy_in = copy_in, .copy_out = copy_out };
	return cn_exec(session, text, len, &sink, err);
}

static void
must(const char *text)
{
	struct cat_err err = { 0 };
	if (run(text, strlen(text), &err))
		return;
	fprintf(stderr, "sql_fuzz: %s: %s\n  in: %s\n", err.sqlstate, err.text, text);
	abort();
}

/* What may fail because of what ran before. */
static void
may(const char *text)
{
	struct cat_err err = { 0 };
	run(text, strlen(text), &err);
}

static void
start(void)
{
	struct nam_err err = { 0 };
	const struct sn_region_config rc = { .id = 1, .size = 192 << 20, .huge = SN_HUGE_OFF, .numa = -1 };
	if (sn_region_open(&region, &rc, &err) != NAM_OK)
		goto fail;
	struct net_local *local[2] = { sn_local(region), NULL };
	const struct cn_config cfg = {
		.local = local, .workers = 1, .statement_max = 64 << 10, .txn = { .vector = 1 << 16 }
	};
	if (cn_open(&cn, &cfg, &err) != NAM_OK || cn_session_open(cn, 0, &session) != NAM_OK)
		goto fail;
	must("CREATE TABLE keep_ (id integer PRIMARY KEY, v text); INSERT INTO keep_ VALUES (1, 'stays')");
	return;
fail:
	fprintf(stderr, "sql_fuzz: %s\n", err.text);
	abort();
}

static void
stop(void)
{
	cn_session_close(session);
	cn_close(cn);
	sn_region_close(region);
}

static const char *const name[] = { "t", "u", "j", "e", "n", "m", "p", "v", "w", "s", "vw", "sq", "x", "y",
	"a", "b", "z", "r", "q" };

/* Makes the tables of the seeds again. False if something is in their way. */
static bool
tables(void)
{
	static const char *const kind[] = { "VIEW", "TABLE", "SEQUENCE" };
	struct cat_err err = { 0 };
	char text[64];
	must("RESET ALL");
	for (unsigned k = 0; k < sizeof kind / sizeof *kind; k++)
		for (unsigned i = 0; i < sizeof name / sizeof *name; i++) {
			snprintf(text, sizeof text, "DROP %s IF EXISTS \"%s\" CASCADE", kind[k], name[i]);
			may(text);
		}
	may("DEALLOCATE ALL");
	static const char make[] =
	    "CREATE TABLE t (a integer PRIMARY KEY, b text, c numeric(10,2), d date, e double precision, f "
	    "boolean, "
	    "g bigint, h timestamp);"
	    "INSERT INTO t VALUES (1, 'one', 1.5, '2024-02-29', 0.5, true, 7, '2024-01-01 12:00:00'), "
	    "(2, NULL, NULL, NULL, NULL, NULL, NULL, NULL), "
	    "(3, 'drei', -2, '1999-12-31', 'NaN', false, -1, 'infinity');"
	    "CREATE TABLE u (k text PRIMARY KEY, a integer);"
	    "INSERT INTO u VALUES ('x', 1), ('y', 2), ('z', NULL);"
	    "CREATE TABLE j (id serial PRIMARY KEY, o json, i interval, y bytea, z timestamptz, q uuid, r "
	    "real, "
	    "m time, s smallint, v varchar(5) CHECK (v <> 'no'), n numeric NOT NULL DEFAULT 1);"
	    "INSERT INTO j (o, i, y, z, q, r, m, s, v) VALUES ('{\"a\": [1, {\"b\": null}]}', '1 mon 2 "
	    "days', "
	    "'\\x00ff', '2024-05-05 05:05+02', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 1.25, '23:59:59.5', "
	    "7, "
	    "'abc');"
	    "INSERT INTO j DEFAULT VALUES;"
	    "CREATE TABLE e (a integer, b integer);"
	    "CREATE TABLE m (x integer, y integer, z text, PRIMARY KEY (x, y));"
	    "INSERT INTO m SELECT i % 7, i, CASE WHEN i % 5 > 0 THEN 'z' || i % 3 END "
	    "FROM generate_series(1, 60) AS g(i)";
	return run(make, sizeof make - 1, &err);
}

static void
start_over(void)
{
	if (session != NULL)
		stop();
	start();
	full = false;
	if (!tables())
		abort();
}

/* Files of this machine are left alone: no COPY whose text could spell a path or a program. */
static bool
file_in_it(const uint8_t *data, size_t size)
{
	bool copies = false, path = false;
	for (size_t i = 0; i < size; i++) {
		copies |= i + 4 <= size && strncasecmp((const char *)data + i, "copy", 4) == 0;
		path |= data[i] == '/' || data[i] == '\\' || data[i] == '&' ||
			(i + 7 <= size && strncasecmp((const char *)data + i, "program", 7) == 0);
	}
	return copies && path;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cat_err err = { 0 };
	const char *text = (const char *)data, *behind = memmem(data, size, "@@", 2);
	size_t len = behind != NULL ? (size_t)(behind - text) : size;
	if (file_in_it(data, len))
		return -1;
	if (runs == 0)
		atexit(stop);
	if (full || runs % FRESH_CLUSTER == 0 || (runs % FRESH_TABLES == 0 && !tables()))
		start_over();
	/* No statement takes long, or much. */
	must("SET statement_timeout = 300; SET namdb.statement_memory = '200MB'; RESET namdb.process_memory");
	copy = behind != NULL ? behind + 2 : "";
	copy_len = behind != NULL ? size - len - 2 : 0;
	bool ok = run(text, len, &err);
	if (!ok && strlen(err.sqlstate) != 5) {
		fprintf(stderr, "sql_fuzz: an error without a SQLSTATE: \"%s\" %s\n", err.sqlstate, err.text);
		abort();
	}
	if (!ok && memcmp(err.sqlstate, "XX", 2) == 0) {
		fprintf(stderr, "sql_fuzz: an internal error: %s %s\n", err.sqlstate, err.text);
		abort();
	}
	full = !ok && strcmp(err.sqlstate, "53100") == 0;
	if (cn_session_state(session) != 'I')
		must("ROLLBACK");
	/* Now and then: whatever ran, the session and the cluster work. */
	if (++runs % 64 == 0 && !full) {
		must("RESET ALL; BEGIN; CREATE TABLE check_ (a integer); INSERT INTO check_ VALUES (1); "
		     "SELECT * FROM check_; ROLLBACK");
		if (!run("SELECT v FROM keep_ WHERE id = 1", 32, &err) && strcmp(err.sqlstate, "42P01") != 0)
			abort();
	}
	return 0;
}

/* ---- mutations that leave most texts grammatical: whole tokens are dropped, doubled, moved,
 * replaced ---- */

static const char *const piece[] = { "NULL", "a", "b", "c", "d", "e", "f", "g", "h", "k", "t", "u", "t.a",
	"u.a", "0", "1", "-1", "2.5", "1e308", "'x'", "''", "'2024-02-29'", "true", "*", ",", "(", ")", "=",
	"<>", "<", "||", "+", "-", "/", "%", "AND", "OR", "NOT", "IS NULL", "(SELECT a FROM u)",
	"(SELECT max(a) FROM t)", "EXISTS (SELECT 1 FROM u WHERE u.a = t.a)", "count(*)", "count(DISTINCT b)",
	"sum(g)", "avg(c)", "min(d)", "sum(a) OVER (ORDER BY a)", "rank() OVER ()",
	"CASE WHEN f THEN a ELSE g END", "COALESCE(b, 'n')", "a::text", "b::integer", "c::bigint",
	"g::numeric(5,2)", "LEFT JOIN u ON u.a = t.a", "FULL JOIN u USING (a)", "WHERE a > 1", "GROUP BY f",
	"HAVING count(*) > 1", "ORDER BY 1", "LIMIT 1", "OFFSET 1", "UNION ALL SELECT a FROM t",
	"EXCEPT SELECT a FROM u", "DISTINCT", "FILTER (WHERE a > 1)", "(VALUES (1), (2)) AS v(a)",
	"(SELECT a, b FROM t) AS s", "IN (1, NULL, 3)", "BETWEEN 1 AND 2", "LIKE '%o%'", "RETURNING *", ";",
	"$1", "DEFAULT", "ON CONFLICT (a) DO NOTHING", "AS x", "generate_series(1, 5)", "j", "m", "x", "y",
	"z", "j.o", "m.z", "o", "i", "q", "m.x", "-9223372036854775808", "2147483647", "1e-400", "0.1::real",
	"'NaN'::float8", "'infinity'::timestamp", "'-infinity'::date", "interval '1 mon -3 days 04:05'",
	"'{\"a\": [1, 2]}'::json", "o -> 'a'", "o #>> '{a,0}'", "'\\x00'::bytea", "b ~ '(o|n)+e?$'",
	"regexp_replace(b, 'n', '\\&\\1', 'g')", "b SIMILAR TO '%(o|e)_'", "substring(b FROM 2 FOR -1)",
	"repeat(b, 1000)", "lpad(b, 9, '')", "extract(epoch FROM h)", "date_trunc('month', h)", "h - d",
	"d + 1", "h AT TIME ZONE '+05:30'", "round(c, -1)", "c / 3", "c % 0.7", "g / 0", "1 / a", "sqrt(-a)",
	"a % 2 = 0", "LATERAL (SELECT t.a + 1 AS x) AS l", "LATERAL", "WITH ORDINALITY", "CROSS JOIN u",
	"NATURAL JOIN u", "RIGHT JOIN m ON m.x = a", "GROUP BY ROLLUP (a, f)", "GROUP BY CUBE (a, b)",
	"GROUP BY GROUPING SETS ((a), (b, f), ())", "GROUPING(a)", "ARRAY[1, 2, NULL]", "'{1,2}'::integer[]",
	"array_agg(a)", "unnest(ARRAY[1, 2])", "a = ANY (ARRAY[1, 2])", "(ARRAY[1, 2])[1]", "ROW(1, 2)",
	"(a, b)", "ROWS BETWEEN 1 PRECEDING AND 2 FOLLOWING",
	"RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW", "GROUPS 1 PRECEDING EXCLUDE TIES",
	"OVER (PARTITION BY f ORDER BY a DESC)", "OVER w", "WINDOW w AS (PARTITION BY b)",
	"lag(a, 2, 0) OVER (ORDER BY a)", "ntile(3) OVER (ORDER BY y)", "string_agg(b, ',' ORDER BY a DESC)",
	"INTERSECT ALL SELECT x FROM m", "UNION SELECT 1", "(SELECT a FROM t AS t2 WHERE t2.a = t.a)",
	"a NOT IN (SELECT y FROM m)", "a > ALL (SELECT x FROM m)", "(a, g) IN (SELECT x, y FROM m)",
	"DISTINCT ON (f)", "ASC NULLS FIRST", "USING (a)", "nextval('sq')",
	"ON CONFLICT (x, y) DO UPDATE SET z = excluded.z WHERE m.y > 2", "SET a = a + 1",
	"FROM m WHERE m.x = a", "VALUES (1, 2)", "PRIMARY KEY", "NOT NULL", "CHECK (a > 0)", "REFERENCES t",
	"UNIQUE", "serial", "integer", "varchar(3)", "numeric(5,2)", "timestamptz", "EXPLAIN",
	"EXPLAIN ANALYZE", "MATERIALIZED", "WITH w AS (SELECT 1 AS a)",
	"WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 5)", "r", "w",
	"IF EXISTS", "IF NOT EXISTS", "CASCADE", "COLLATE \"C\"", "FOR UPDATE", "TABLESAMPLE", "nosuch",
	"t.*", "count(*) OVER ()", "now()", "current_date", "CAST(a AS smallint)", "NULLIF(a, 1)",
	"greatest(a, g, NULL)", "concat_ws(',', a, b, c)", "format('%s', b)", "to_char(h, 'YYYY-MM')",
	"md5(b)", "overlay(b PLACING 'x' FROM 2)", "POSITION('n' IN b)", "trim(BOTH 'e' FROM b)", "gcd(a, 6)",
	"width_bucket" };

/* Where the token at p ends: a word, a number, a quoted text, or one other character; blanks before
 * it belong to it. */
static size_t
token(const uint8_t *p, size_t n)
{
	size_t i = 0;
	while (i < n && p[i] == ' ')
		i++;
	if (i < n && p[i] == '\'') {
		for (i++; i < n && p[i] != '\''; i++)
			;
		return i < n ? i + 1 : n;
	}
	size_t from = i;
	while (i < n && ((p[i] | 32) - 'a' < 26u || p[i] - '0' < 10u || p[i] == '_' || p[i] == '.'))
		i++;
	return i > from ? i : i < n ? i + 1 : n;
}

size_t
LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
	enum { TOKENS = 512 };
	size_t at[TOKENS + 1], n = 0;
	if (seed % 8 == 0 || size > 60000)
		return LLVMFuzzerMutate(data, size, max);
	srand(seed);
	for (size_t i = 0; i < size && n < TOKENS; i += token(data + i, size - i))
		at[n++] = i;
	if (n == 0)
		return LLVMFuzzerMutate(data, size, max);
	at[n] = size;
	char out[65536];
	size_t len = 0, from = (size_t)rand() % n, to = from + 1 + (size_t)rand() % 3;
	to = to > n ? n : to;
	const char *text = piece[(size_t)rand() % (sizeof piece / sizeof *piece)];
	char mid[256] = "";
	int how = rand() % 5;
	size_t other = (size_t)rand() % n;
	if (how == 1 || how == 2) /* put a piece in, or in the place of some tokens */
		snprintf(mid, sizeof mid, " %s ", text);
	if (how == 3) /* a token from elsewhere, in the place of some */
		snprintf(mid, sizeof mid, "%.*s", (int)(at[other + 1] - at[other]),
		    (const char *)data + at[other]);
	if (how == 4) /* in brackets */
		snprintf(mid, sizeof mid, " (%.*s)", (int)(at[to] - at[from]), (const char *)data + at[from]);
	memcpy(out, data, at[from]);
	len = at[from];
	memcpy(out + len, mid, strlen(mid));
	len += strlen(mid);
	size_t rest = how == 1 ? at[from] : at[to];
	memcpy(out + len, data + rest, size - rest);
	len += size - rest;
	len = len > max ? max : len;
	memcpy(data, out, len);
	return len;
}

/* A stretch of tokens from one text, brackets and all that they hold, into the other in the place
 * of such a one. */
static void
stretch(const uint8_t *p, size_t n, size_t *from, size_t *to)
{
	size_t want = n > 0 ? (size_t)rand() % n : 0, i = 0, depth = 0;
	while (i < n && i + token(p + i, n - i) <= want)
		i += token(p + i, n - i);
	*from = i;
	unsigned left = 1 + (unsigned)rand() % 6;
	while (i < n && (left > 0 || depth > 0)) {
		size_t more = token(p + i, n - i);
		char last = (char)p[i + more - 1];
		if (last == ')' && depth == 0)
			break;
		depth = last == '(' ? depth + 1 : last == ')' ? depth - 1 : depth;
		left -= left > 0;
		i += more;
	}
	*to = i;
}

size_t
LLVMFuzzerCustomCrossOver(const uint8_t *one, size_t one_size, const uint8_t *two, size_t two_size,
    uint8_t *out, size_t max, unsigned seed)
{
	size_t from, to, with, until;
	srand(seed);
	stretch(one, one_size, &from, &to);
	stretch(two, two_size, &with, &until);
	size_t rest = one_size - to;
	if (from + (until - with) + rest > max)
		return 0;
	memcpy(out, one, from);
	memcpy(out + from, two + with, until - with);
	memcpy(out + from + (until - with), one + to, rest);
	return from + (until - with) + rest;
}
