/*
 * copy_fuzz.c -- libFuzzer feeds COPY ... FROM STDIN: two bytes choose the options, the rest is the
 * input. What goes in must come out by COPY ... TO STDOUT with the same options, go in again, and
 * come out the same.
 */
#include "../e2e/embedded.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct embedded cluster;
static struct test_client client;

static void
stop(void)
{
	test_client_close(&client);
	embedded_close(&cluster);
}

static bool
copy(const char *sql, const char *input, size_t len, size_t piece)
{
	client.copy = input;
	client.copy_len = len;
	client.copy_piece = piece;
	const char *said = ask(&client, sql);
	const char *error = strstr(said, "ERROR ");
	if (error == NULL || client.err.sqlstate[0] == 0)
		return true;
	if (strlen(client.err.sqlstate) != 5 || memcmp(client.err.sqlstate, "XX", 2) == 0) {
		fprintf(stderr, "copy_fuzz: a bad error: %s\n", said);
		abort();
	}
	return false;
}

/* What COPY TO STDOUT says, without the tag behind it. */
static char *
table(const char *options, size_t *len)
{
	char sql[256];
	client.err.sqlstate[0] = 0;
	snprintf(
	    sql, sizeof sql, "COPY (SELECT a, b, c, d, e FROM f ORDER BY i) TO STDOUT WITH (%s)", options);
	if (!copy(sql, "", 0, 0)) {
		fprintf(stderr, "copy_fuzz: %s: %s\n", sql, client.text);
		abort();
	}
	*len = client.len;
	while (*len > 0 && client.text[*len - 1] != '\n') /* " COPY 3" */
		--*len;
	char *out = malloc(*len + 1);
	if (out == NULL)
		abort();
	memcpy(out, client.text, *len);
	out[*len] = 0;
	return out;
}

static void
must(const char *sql)
{
	client.err.sqlstate[0] = 0;
	if (copy(sql, "", 0, 0))
		return;
	fprintf(stderr, "copy_fuzz: %s: %s\n", sql, client.text);
	abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const options[] = { "FORMAT csv", "FORMAT text", "FORMAT csv, HEADER",
		"FORMAT csv, DELIMITER ';', QUOTE '''', ESCAPE '!'", "FORMAT csv, NULL 'n', DELIMITER '|'",
		"FORMAT text, DELIMITER ',', NULL ''", "FORMAT text, NULL 'nil'",
		"FORMAT csv, QUOTE '!', ESCAPE '\"'" };
	static unsigned runs;
	char in[256];
	if (size < 2)
		return -1;
	if (runs++ % 5000 == 0) { /* sequence and garbage start over */
		if (runs > 1)
			stop();
		else
			atexit(stop);
		embedded_open(&cluster, 128u << 20, 1);
		test_client_open(&client, &cluster, 0);
		must("CREATE TABLE f (i serial PRIMARY KEY, a text, b integer, c numeric, d date, e bytea)");
	}
	const char *o = options[data[0] % (sizeof options / sizeof *options)];
	snprintf(in, sizeof in, "COPY f (a, b, c, d, e) FROM STDIN WITH (%s)", o);
	must("DELETE FROM f");
	client.err.sqlstate[0] = 0;
	if (!copy(in, (const char *)data + 2, size - 2, data[1]))
		return 0;
	size_t n, m;
	char *out = table(o, &n);
	must("DELETE FROM f");
	client.err.sqlstate[0] = 0;
	if (!copy(in, out, n, 0)) {
		fprintf(stderr, "copy_fuzz: %s refuses what COPY TO wrote: %s\n%s\n", o, client.text, out);
		abort();
	}
	char *again = table(o, &m);
	if (n != m || memcmp(out, again, n) != 0) {
		fprintf(stderr, "copy_fuzz: %s: not the same again:\n%s----\n%s", o, out, again);
		abort();
	}
	free(out);
	free(again);
	return 0;
}
