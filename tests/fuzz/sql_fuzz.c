/*
 * sql_fuzz.c -- libFuzzer feeds SQL text to a whole embedded cluster: nothing may crash, hang or leak, and what
 * was committed before stays. Built with clang and -DNAM_SANITIZE=fuzzer-no-link,address,undefined; ./go check runs it.
 */
#include <compute_node/cn.h>
#include <stdio.h>
#include <stdlib.h>
#include <storage_node/sn.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);

static struct sn_region *region;
static struct cn *cn;
static struct cn_session *session;
static unsigned runs;
static uint64_t rows_seen;

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
				rows_seen += (unsigned char)s.p[i];
		}
	nam_arena_fini(&a);
	return true;
}

static bool
run(const char *text, size_t len, struct cat_err *err)
{
	const struct sql_sink sink = { .rows = rows };
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
	must("CREATE TABLE keep (id integer PRIMARY KEY, v text); INSERT INTO keep VALUES (1, 'stays')");
	must("CREATE TABLE t (a integer PRIMARY KEY, b text, c numeric(10,2), d date, e double precision, f "
	     "boolean, g bigint, h "
	     "timestamp); INSERT INTO t VALUES (1, 'one', 1.5, '2024-02-29', 0.5, true, 7, '2024-01-01 "
	     "12:00:00'), "
	     "(2, NULL, NULL, NULL, NULL, NULL, NULL, NULL), (3, 'drei', -2, '1999-12-31', 'NaN', false, -1, "
	     "'infinity')");
	must("CREATE TABLE u (k text PRIMARY KEY, a integer); INSERT INTO u VALUES ('x', 1), ('y', 2), ('z', "
	     "NULL)");
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

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cat_err err = { 0 };
	if (runs == 0) {
		start();
		atexit(stop);
	}
	/* No files of this machine, and no statement that takes long. */
	for (size_t i = 0; i + 4 <= size; i++)
		if (strncasecmp((const char *)data + i, "copy", 4) == 0)
			return -1;
	must("SET statement_timeout = 300");
	bool ok = run((const char *)data, size, &err);
	if (!ok && strlen(err.sqlstate) != 5) {
		fprintf(stderr, "sql_fuzz: an error without a SQLSTATE: \"%s\" %s\n", err.sqlstate, err.text);
		abort();
	}
	if (!ok && memcmp(err.sqlstate, "XX", 2) == 0) {
		fprintf(stderr, "sql_fuzz: an internal error: %s %s\n", err.sqlstate, err.text);
		abort();
	}
	if (cn_session_state(session) != 'I')
		must("ROLLBACK");
	/* Now and then: whatever ran, the session and the cluster work. */
	if (++runs % 64 == 0) {
		must("BEGIN; CREATE TABLE check_ (a integer); INSERT INTO check_ VALUES (1); SELECT * FROM "
		     "check_; ROLLBACK");
		if (!run("SELECT v FROM keep WHERE id = 1", 31, &err) && strcmp(err.sqlstate, "42P01") != 0)
			abort();
	}
	return 0;
}

/* ---- mutations that leave most texts grammatical: whole tokens are dropped, doubled, moved, replaced ---- */

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
	"$1", "DEFAULT", "ON CONFLICT (a) DO NOTHING", "AS x", "generate_series(1, 5)" };

/* Where the token at p ends: a word, a number, a quoted text, or one other character; blanks before it belong to it. */
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
