/* session_test.c -- sessions beside each other, COPY, prepared statements, cancelling, and
 * statements built to hurt. */
#include "later.h"
#include "together.h"

#include <unistd.h>

/* ---- two sessions ------------------------------------------------------------------ */

static void
read_committed(void **state)
{
	(void)state;
	struct test_client a, b;
	struct later l;
	test_client_open(&a, &e, 0);
	test_client_open(&b, &e, 1);
	says(&a, "create table rc (id int primary key, v int, w text)", "CREATE TABLE");
	says(&a, "insert into rc values (1, 10, 'a'), (2, 20, 'b'), (3, 30, 'c')", "INSERT 0 3");
	says(&b, "select sum(v) from rc", "60; SELECT 1");
	/* an update waits for the lock, then sees the new version */
	says(&a, "begin; update rc set v = v + 1 where id = 1", "BEGIN UPDATE 1");
	says(&b, "select v from rc where id = 1", "10; SELECT 1");
	start(&l, &b, "update rc set v = v * 2 where id = 1 returning v");
	usleep(20000);
	says(&a, "commit", "COMMIT");
	assert_string_equal(wait_for(&l), "22; UPDATE 1");
	/* the condition is asked again */
	says(&a, "begin; update rc set v = 0 where id = 2", "BEGIN UPDATE 1");
	start(&l, &b, "delete from rc where v = 20");
	usleep(20000);
	says(&a, "commit", "COMMIT");
	assert_string_equal(wait_for(&l), "DELETE 0");
	/* gone meanwhile */
	says(&a, "begin; delete from rc where id = 3", "BEGIN DELETE 1");
	start(&l, &b, "update rc set v = 1");
	usleep(20000);
	says(&a, "commit", "COMMIT");
	assert_string_equal(wait_for(&l), "UPDATE 2");
	/* lock_timeout */
	says(&a, "begin; update rc set v = 5 where id = 1", "BEGIN UPDATE 1");
	says(&b, "set lock_timeout = '30ms'", "SET");
	says(&b, "update rc set v = 6 where id = 1", "ERROR 55P03: canceling statement due to lock timeout");
	says(&b, "set lock_timeout = 0", "SET");
	/* cancelling a waiter */
	start(&l, &b, "update rc set v = 6 where id = 1");
	usleep(30000);
	assert_string_equal(cancelled(&l), "ERROR 57014: canceling statement due to user request");
	says(&a, "rollback", "ROLLBACK");
	says(&b, "select id, v from rc order by id", "1|1;2|1; SELECT 2");
	says(&a, "drop table rc", "DROP TABLE");
	says(&b, "select * from rc", "ERROR 42P01: relation \"rc\" does not exist");
	test_client_close(&a);
	test_client_close(&b);
}

static void
deadlock(void **state)
{
	(void)state;
	struct test_client a, b;
	struct later l;
	test_client_open(&a, &e, 0);
	test_client_open(&b, &e, 1);
	says(&a, "create table dl (id int primary key, v int)", "CREATE TABLE");
	says(&a, "insert into dl values (1, 0), (2, 0)", "INSERT 0 2");
	says(&a, "begin; update dl set v = 1 where id = 1", "BEGIN UPDATE 1");
	says(&b, "begin; update dl set v = 2 where id = 2", "BEGIN UPDATE 1");
	start(&l, &b, "update dl set v = 2 where id = 1");
	usleep(20000);
	char mine[300];
	snprintf(mine, sizeof mine, "%s", ask(&a, "update dl set v = 1 where id = 2"));
	const char *theirs = wait_for(&l);
	const char *dead = "ERROR 40P01: deadlock detected";
	assert_true(strcmp(mine, dead) == 0 || strcmp(theirs, dead) == 0);
	assert_true(strcmp(mine, "UPDATE 1") == 0 || strcmp(theirs, "UPDATE 1") == 0);
	ask(&a, "commit");
	ask(&b, "commit");
	says(&a, "drop table dl", "DROP TABLE");
	test_client_close(&a);
	test_client_close(&b);
}

static void
snapshots(void **state)
{
	(void)state;
	struct test_client a, b;
	test_client_open(&a, &e, 0);
	test_client_open(&b, &e, 1);
	says(&a, "create table si (id int primary key, v int)", "CREATE TABLE");
	says(&a, "insert into si values (1, 0), (2, 0)", "INSERT 0 2");
	says(&a, "begin isolation level repeatable read; select sum(v) from si", "BEGIN0; SELECT 1");
	says(&b, "update si set v = 7 where id = 1", "UPDATE 1");
	says(&a, "select sum(v) from si", "0; SELECT 1");
	says(&a, "update si set v = v + 1 where id = 1",
	    "ERROR 40001: could not serialize access due to concurrent update");
	says(&a, "select 1",
	    "ERROR 25P02: current transaction is aborted, commands ignored until end of transaction block");
	says(&a, "commit", "ROLLBACK");
	/* the same by scan */
	says(&a, "begin isolation level repeatable read; select sum(v) from si", "BEGIN7; SELECT 1");
	says(&b, "update si set v = 8 where id = 1", "UPDATE 1");
	says(&a, "update si set v = v + 1",
	    "ERROR 40001: could not serialize access due to concurrent update");
	says(&a, "rollback", "ROLLBACK");
	/* write skew: SERIALIZABLE refuses one of the two */
	says(&a, "begin isolation level serializable; select v from si where id = 1", "BEGIN8; SELECT 1");
	says(&b, "begin isolation level serializable; select v from si where id = 2", "BEGIN0; SELECT 1");
	says(&a, "update si set v = 1 where id = 2; commit", "UPDATE 1 COMMIT");
	const char *r = ask(&b, "update si set v = 1 where id = 1; commit");
	assert_non_null(strstr(r, "40001"));
	ask(&b, "rollback");
	says(&a, "drop table si", "DROP TABLE");
	test_client_close(&a);
	test_client_close(&b);
}

struct adder {
	struct test_client t;
	pthread_t thread;
	unsigned done;
};

static void *
add(void *arg)
{
	struct adder *a = arg;
	for (unsigned i = 0; i < 200; i++)
		if (strcmp(ask(&a->t, "update cnt set n = n + 1 where id = 1"), "UPDATE 1") == 0)
			a->done++;
	return NULL;
}

static void
increments(void **state)
{
	(void)state;
	struct test_client t;
	struct adder a[4];
	test_client_open(&t, &e, 0);
	says(&t, "create table cnt (id int primary key, n int)", "CREATE TABLE");
	says(&t, "insert into cnt values (1, 0)", "INSERT 0 1");
	for (unsigned i = 0; i < 4; i++) {
		a[i].done = 0;
		test_client_open(&a[i].t, &e, i % 2);
		pthread_create(&a[i].thread, NULL, add, &a[i]);
	}
	unsigned sum = 0;
	for (unsigned i = 0; i < 4; i++) {
		pthread_join(a[i].thread, NULL);
		sum += a[i].done;
		test_client_close(&a[i].t);
	}
	assert_int_equal(sum, 800);
	says(&t, "select n from cnt", "800; SELECT 1");
	says(&t, "drop table cnt", "DROP TABLE");
	test_client_close(&t);
}

/* ---- COPY ------------------------------------------------------------------------------ */

static const char *
copy(struct test_client *t, const char *how, const char *data, size_t piece)
{
	t->copy = data;
	t->copy_len = strlen(data);
	t->copy_piece = piece;
	return ask(t, how);
}

static void
copy_stdin(void **state)
{
	(void)state;
	struct test_client t;
	test_client_open(&t, &e, 0);
	says(&t, "create table cp (id int primary key, a text, b numeric(6,2))", "CREATE TABLE");
	const char *data = "\xef\xbb\xbfid,a,b\r\n1,\"x, \"\"y\"\"\r\nz\",1.005\r\n2,,\r\n3,\"\",-7\r\n";
	for (size_t piece = 3; piece < 60; piece += 2) { /* a torn byte order mark is not looked
							  * for */
		/* the same keys, at once */
		says(&t, "delete from cp", piece == 3 ? "DELETE 0" : "DELETE 3");
		assert_string_equal(copy(&t, "copy cp from stdin csv header", data, piece), "COPY 3");
		says(&t, "select * from cp order by id", "1|x, \"y\"\r\nz|1.01;2|~|~;3||-7.00; SELECT 3");
	}
	says(&t, "delete from cp", "DELETE 3");
	const char *text = "1\ta\\tb\\\\\\N\t\\N\n2\t\\N\t3\n\\.\n";
	for (size_t piece = 1; piece < 30; piece++) {
		assert_string_equal(copy(&t, "copy cp from stdin", text, piece), "COPY 2");
		says(&t, "select * from cp order by id", "1|a\tb\\N|~;2|~|3.00; SELECT 2");
		says(&t, "delete from cp", "DELETE 2");
	}
	static const struct {
		const char *data, *answer, *context;
	} bad[] = {
		{ "1,a,1\n2,b\n", "22P04: missing data for column \"b\"", "COPY cp, line 2: \"2,b\"" },
		{ "1,a,1\n2,b,2,3\n", "22P04: extra data after last expected column",
		    "COPY cp, line 2: \"2,b,2,3\"" },
		{ "1,a,1\nx,b,2\n", "22P02: invalid input syntax for type integer: \"x\"",
		    "COPY cp, line 2, column id: \"x\"" },
		{ "1,\"a\n\n", "22P04: unterminated CSV quoted field", "COPY cp, line 1: \"1,\"a\n\n\"" },
		{ "1,a,1\n,b,2\n",
		    "23502: null value in column \"id\" of relation \"cp\" violates not-null constraint",
		    "COPY cp, line 2: \",b,2\"" },
		{ "1,a,1\n2,b,3\n1,c,4\n",
		    "23505: duplicate key value violates unique constraint \"cp_pkey\"", "COPY cp, line 3" },
		{ "1,a,99999\n", "22003: numeric field overflow", "COPY cp, line 1, column b: \"99999\"" },
		{ "1,\xc3(,1\n", "22021: invalid byte sequence for encoding \"UTF8\": 0xc3 0x28",
		    "COPY cp, line 1" },
		{ "1,a,1\n2,a\rb,1\n", "22P04: unquoted carriage return found in data", "COPY cp, line 2" },
		{ "\n", "22P04: missing data for column \"a\"", "COPY cp, line 1: \"\"" },
		{ "1,a,1\r\n2,b,2\n", "22P04: unquoted newline found in data", "COPY cp, line 2" },
		{ "1,a,1\r2,b,2\n", "22P04: unquoted newline found in data", "COPY cp, line 2" },
	};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		const char *r = copy(&t, "copy cp from stdin with (format csv)", bad[i].data, 4);
		if (!starts_with(r, "ERROR ") || strcmp(r + 6, bad[i].answer) != 0)
			fail_msg("case %zu: %s", i, r);
		if (strcmp(t.err.context, bad[i].context) != 0)
			fail_msg("case %zu: %s", i, t.err.context);
		says(&t, "select count(*) from cp", "0; SELECT 1");
	}
	/* many rows, in several chunks; then one bad line far behind leaves nothing */
	char *big = malloc(40000 * 16 + 64), *p = big;
	for (unsigned i = 0; i < 40000; i++)
		p += sprintf(p, "%u,r%u,1\n", i, i);
	assert_string_equal(copy(&t, "copy cp from stdin csv", big, 8192), "COPY 40000");
	says(&t, "select count(*), sum(id), max(a) from cp", "40000|799980000|r9999; SELECT 1");
	says(&t, "select a from cp where id = 39999", "r39999; SELECT 1");
	says(&t, "truncate cp", "TRUNCATE TABLE");
	says(&t, "select count(*) from cp", "0; SELECT 1");
	says(&t, "drop table cp; create table cp (id int primary key, a text, b numeric(6,2))",
	    "DROP TABLE CREATE TABLE");
	sprintf(p, "1,again,2\n");
	assert_true(starts_with(copy(&t, "copy cp from stdin csv", big, 0), "ERROR 23505"));
	assert_string_equal(t.err.detail, "Key (id)=(1) already exists.");
	assert_string_equal(t.err.context, "COPY cp, line 40001");
	says(&t, "select count(*) from cp", "0; SELECT 1");
	free(big);
	says(&t, "drop table cp", "DROP TABLE");
	test_client_close(&t);
}

/* ---- statements built to hurt -------------------------------------------------------------- */

static char *
repeat(const char *head, const char *unit, unsigned n, const char *tail)
{
	size_t h = strlen(head), u = strlen(unit), t = strlen(tail);
	char *s = malloc(h + u * n + t + 1), *p = s;
	memcpy(p, head, h);
	p += h;
	for (unsigned i = 0; i < n; i++, p += u)
		memcpy(p, unit, u);
	memcpy(p, tail, t + 1);
	return s;
}

static const char *
ask_many(struct test_client *t, const char *head, const char *unit, unsigned n, const char *tail)
{
	char *s = repeat(head, unit, n, tail);
	const char *r = ask(t, s);
	free(s);
	return r;
}

static void
hurtful(void **state)
{
	(void)state;
	struct test_client t;
	test_client_open(&t, &e, 0);
	/* as deep as allowed: binding and evaluating it must fit on a session's stack */
	says(&t, "create table h (id int primary key, v int)", "CREATE TABLE");
	says(&t, "insert into h values (1, 1)", "INSERT 0 1");
	assert_string_equal(ask_many(&t, "select v", " + v", 290, " from h"), "291; SELECT 1");
	assert_string_equal(ask_many(&t, "select ", "- ", 290, "v from h"), "1; SELECT 1");
	assert_string_equal(ask_many(&t, "select 0", " + 1", 290, ""), "290; SELECT 1");
	assert_string_equal(ask_many(&t, "select ", "not ", 290, "(v = 1) from h"), "t; SELECT 1");
	char *open = repeat("select ", "coalesce(", 290, "v"), *all = repeat(open, ", 0)", 290, " from h");
	assert_string_equal(ask(&t, all), "1; SELECT 1");
	free(open);
	free(all);
	/* subtrees that double at every level */
	open = repeat("select ", "nullif(", 60, "v");
	all = repeat(open, ", 5)", 60, " from h");
	assert_true(starts_with(ask(&t, all), "ERROR 54001"));
	free(open);
	free(all);
	open = repeat("select count(*) from h group by ", "nullif(", 60, "v");
	all = repeat(open, ", 5)", 60, "");
	assert_true(starts_with(ask(&t, all), "ERROR 54001"));
	free(open);
	free(all);
	assert_true(starts_with(ask_many(&t, "select 1", "+1", 100000, ""), "ERROR 54001"));
	assert_true(starts_with(ask_many(&t, "select '", "x", 2000000, "'"), "ERROR 54000"));
	/* wide is fine */
	assert_string_equal(ask_many(&t, "select v from h where id in (0", ",1", 60000, ")"), "1; SELECT 1");
	assert_string_equal(
	    ask_many(&t, "select v from h where id = 7", " or id = 1", 10000, ""), "1; SELECT 1");
	char *rows = malloc(60000 * 16 + 64), *p = rows + sprintf(rows, "insert into h values (0,0)");
	for (int i = 2; i < 60000; i++)
		p += sprintf(p, ",(%d,%d)", i, -i);
	says(&t, rows, "INSERT 0 59999");
	free(rows);
	says(&t, "select count(*), min(v) from h", "60000|-59999; SELECT 1");
	/* an answer without a reader */
	struct later l;
	start(&l, &t, "select count(*) from h a, h b, h c where a.v + b.v < c.v");
	usleep(100000);
	assert_string_equal(cancelled(&l), "ERROR 57014: canceling statement due to user request");
	says(&t, "set statement_timeout = 50", "SET");
	says(&t, "select count(*) from h a, h b, h c where a.v + b.v < c.v",
	    "ERROR 57014: canceling statement due to statement timeout");
	says(&t, "set statement_timeout = 0", "SET");
	says(&t, "select v from h where id = 59999", "-59999; SELECT 1");
	says(&t, "drop table h", "DROP TABLE");
	test_client_close(&t);
}

static void
long_values(void **state)
{
	(void)state;
	struct test_client t;
	test_client_open(&t, &e, 0);
	says(&t, "create table lv (id int primary key, a text, b text)", "CREATE TABLE");
	char *s = repeat("insert into lv values (1, '", "0123456789", 50000, "', 'short')");
	says(&t, s, "INSERT 0 1");
	free(s);
	says(&t, "select length(a), b from lv", "500000|short; SELECT 1");
	says(&t, "update lv set b = 'other' where id = 1", "UPDATE 1");
	says(&t, "select length(a), b, substring(a from 499991) from lv where id = 1",
	    "500000|other|0123456789; SELECT 1");
	says(&t, "update lv set a = a || a", "UPDATE 1");
	says(&t, "select length(a) from lv", "1000000; SELECT 1");
	says(&t, "begin; update lv set a = 'x'; rollback", "BEGIN UPDATE 1 ROLLBACK");
	says(&t, "select length(a), count(*) from lv group by a", "1000000|1; SELECT 1");
	says(&t, "select length(x.a) from lv x join lv y on x.a = y.a order by x.a", "1000000; SELECT 1");
	says(&t, "drop table lv", "DROP TABLE");
	test_client_close(&t);
}

/* ---- prepared statements
 * ---------------------------------------------------------------------- */

struct prepared {
	_Atomic int done;
	char wrong[1000];
};

struct sum {
	uint64_t rows;
	int64_t last;
	char tag[40];
};

static bool
sum_rows(void *arg, const struct sql_batch_view *b)
{
	struct sum *s = arg;
	s->rows += b->n;
	if (b->cols > 0 && !cat_type_is_str(b->col[0].type))
		s->last = b->col[0].i[b->n - 1];
	return true;
}

static bool
sum_done(void *arg, const char *tag, uint64_t rows)
{
	(void)rows;
	snprintf(((struct sum *)arg)->tag, sizeof((struct sum *)arg)->tag, "%s", tag);
	return true;
}

#define CHECK(x)                                                                                             \
	do {                                                                                                 \
		if (!(x)) {                                                                                  \
			snprintf(p->wrong, sizeof p->wrong, "line %d: %s (%s %s)", __LINE__, #x,             \
			    err.sqlstate, err.text);                                                         \
			goto out;                                                                            \
		}                                                                                            \
	} while (0)

static bool
prepare(struct sql_session *s, const char *text, struct sql_stmt **out, struct cat_err *err)
{
	return sql_prepare(s, text, strlen(text), NULL, 0, out, err);
}

static void
prepared_body(const struct cn_place *place, void *arg)
{
	struct prepared *p = arg;
	struct sql_session *s;
	struct cat_err err = { 0 };
	struct sum sum = { 0 };
	struct sql_sink sink = { .arg = &sum, .rows = sum_rows, .done = sum_done };
	struct sql_session_config cfg = { .tw = place->txn, .cat = place->cat, .parser = place->parser };
	struct sql_stmt *ins = NULL, *sel = NULL, *upd = NULL, *in = NULL, *bad = NULL, *lim = NULL,
			*eq = NULL;
	const enum cat_type *type;
	const struct sql_column *col;
	if (sql_session_open(&cfg, &s) != NAM_OK)
		goto end;
	const char *ddl = "create table pp (id int primary key, v bigint, t varchar(3), d date)";
	CHECK(sql_execute(s, ddl, strlen(ddl), &sink, &err));
	CHECK(prepare(s, "insert into pp values ($1, $2 + 1, $3, $4)", &ins, &err));
	CHECK(sql_stmt_params(ins, &type) == 4);
	CHECK(type[0] == CAT_INT4 && type[2] == CAT_TEXT && type[3] == CAT_DATE);
	CHECK(prepare(s, "select v, t, d from pp where id = $1", &sel, &err));
	CHECK(sql_stmt_params(sel, &type) == 1 && type[0] == CAT_INT4);
	CHECK(sql_stmt_columns(sel, &col) == 3 && col[0].type == CAT_INT8 && strcmp(col[1].name, "t") == 0 &&
	      col[1].typmod == 3);
	CHECK(prepare(s, "update pp set v = v - $1 where id = $2", &upd, &err));
	CHECK(prepare(s, "select v from pp where id in ($1, $2, $1)", &in, &err));
	CHECK(prepare(s, "select v from pp order by v desc limit $1 offset $2", &lim, &err));
	CHECK(sql_stmt_params(lim, &type) == 2 && type[0] == CAT_INT8);
	CHECK(prepare(s, "select $1 = $2", &eq, &err));
	CHECK(sql_stmt_params(eq, &type) == 2 && type[0] == CAT_TEXT && type[1] == CAT_TEXT);
	CHECK(!prepare(s, "select $1 is null", &bad, &err) && strcmp(err.sqlstate, "42P18") == 0);
	CHECK(!prepare(s, "select 1; select 2", &bad, &err) && strcmp(err.sqlstate, "42601") == 0);
	struct cat_datum d[4] = { { .type = CAT_INT4 }, { .type = CAT_INT4 }, { .type = CAT_TEXT },
		{ .type = CAT_UNKNOWN } };
	for (int i = 0; i < 10; i++) {
		d[0].v.i = i;
		d[1].v.i = i * 100 - 1;
		d[2].v.s = (struct cat_str){ "abc", 3 };
		d[3].v.s = (struct cat_str){ "2024-02-29", 10 }; /* text of the type asked for */
		CHECK(sql_run(s, ins, d, 4, &sink, &err));
	}
	CHECK(strcmp(sum.tag, "INSERT 0 1") == 0);
	d[0].v.i = 77;
	d[2].v.s = (struct cat_str){ "abcd", 4 };
	CHECK(!sql_run(s, ins, d, 4, &sink, &err) && strcmp(err.sqlstate, "22001") == 0);
	CHECK(!sql_run(s, ins, d, 3, &sink, &err) && strcmp(err.sqlstate, "08P01") == 0);
	d[0] = (struct cat_datum){ .type = CAT_INT8, .v.i = 3 };
	CHECK(sql_run(s, sel, d, 1, &sink, &err) && sum.rows == 1 && sum.last == 300);
	d[0].v.i = INT64_C(5000000000);
	CHECK(!sql_run(s, sel, d, 1, &sink, &err) && strcmp(err.sqlstate, "22003") == 0);
	d[0] = (struct cat_datum){ .type = CAT_INT4, .null = true };
	CHECK(sql_run(s, sel, d, 1, &sink, &err) && sum.rows == 1);
	d[0] = (struct cat_datum){ .type = CAT_INT8, .v.i = 5 };
	d[1] = (struct cat_datum){ .type = CAT_INT4, .v.i = 3 };
	CHECK(sql_run(s, upd, d, 2, &sink, &err) && strcmp(sum.tag, "UPDATE 1") == 0);
	d[0] = d[1];
	CHECK(sql_run(s, sel, d, 1, &sink, &err) && sum.last == 295);
	sum.rows = 0;
	d[1].v.i = 9;
	CHECK(sql_run(s, in, d, 2, &sink, &err) && sum.rows == 2);
	d[0].v.i = 9;
	sum.rows = 0;
	CHECK(sql_run(s, in, d, 2, &sink, &err) && sum.rows == 1);
	d[0] = (struct cat_datum){ .type = CAT_INT8, .v.i = 1 };
	d[1] = (struct cat_datum){ .type = CAT_INT8, .v.i = 2 };
	sum.rows = 0;
	CHECK(sql_run(s, lim, d, 2, &sink, &err) && sum.rows == 1 && sum.last == 700);
	/* the plan follows the catalog */
	const char *again =
	    "drop table pp; create table pp (v bigint, id text primary key, t varchar(3), d date); "
	    "insert into pp values (42, 'k', 'x', '2020-01-01')";
	CHECK(sql_execute(s, again, strlen(again), &sink, &err));
	d[0] = (struct cat_datum){ .type = CAT_TEXT, .v.s = { "k", 1 } };
	CHECK(sql_run(s, sel, d, 1, &sink, &err) && sum.last == 42);
	CHECK(sql_stmt_params(sel, &type) == 1 && type[0] == CAT_TEXT);
	/* but the client was told its columns */
	const char *other = "alter table pp alter t type text";
	CHECK(sql_execute(s, other, strlen(other), &sink, &err));
	CHECK(!sql_run(s, sel, d, 1, &sink, &err) && strcmp(err.sqlstate, "0A000") == 0);
	other = "alter table pp alter t type varchar(3)";
	CHECK(sql_execute(s, other, strlen(other), &sink, &err));
	CHECK(sql_run(s, sel, d, 1, &sink, &err) && sum.last == 42);
	const char *gone = "drop table pp";
	CHECK(sql_execute(s, gone, strlen(gone), &sink, &err));
	CHECK(
	    !sql_run(s, sel, d, 1, &sink, &err) && strcmp(err.sqlstate, "42P01") == 0 && err.position == 21);
out:
	sql_stmt_close(ins);
	sql_stmt_close(sel);
	sql_stmt_close(upd);
	sql_stmt_close(in);
	sql_stmt_close(lim);
	sql_stmt_close(eq);
	sql_session_close(s);
end:
	p->done = 1;
}

static void
prepared(void **state)
{
	(void)state;
	static struct prepared p;
	assert_int_equal(cn_start(e.cn, 0, prepared_body, &p, 0), NAM_OK);
	while (!p.done)
		usleep(1000);
	assert_string_equal(p.wrong, "");
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(read_committed), cmocka_unit_test(deadlock),
		cmocka_unit_test(snapshots), cmocka_unit_test(increments), cmocka_unit_test(copy_stdin),
		cmocka_unit_test(hurtful), cmocka_unit_test(long_values), cmocka_unit_test(prepared) };
	return cmocka_run_group_tests(tests, cluster_setup, cluster_teardown);
}
