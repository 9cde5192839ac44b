/*
 * copy_fuzz.c -- libFuzzer feeds COPY ... FROM STDIN: two bytes choose the options, the rest is the input. What goes in
 * must come out by COPY ... TO STDOUT with the same options, go in again, and come out the same.
 */
#include "../e2e/embedded.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct embedded cluster;
static struct teller teller;

static void
stop(void)
{
	teller_close(&teller);
	embedded_close(&cluster);
}

static bool
copy(const char *sql, const char *input, size_t len, size_t piece)
{
	teller.copy = input;
	teller.copy_len = len;
	teller.copy_piece = piece;
	const char *said = ask(&teller, sql);
	const char *error = strstr(said, "ERROR ");
	if (error == NULL || teller.err.sqlstate[0] == 0)
		return true;
	if (strlen(teller.err.sqlstate) != 5 || memcmp(teller.err.sqlstate, "XX", 2) == 0) {
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
	teller.err.sqlstate[0] = 0;
	snprintf(
	    sql, sizeof sql, "COPY (SELECT a, b, c, d, e FROM f ORDER BY i) TO STDOUT WITH (%s)", options);
	if (!copy(sql, "", 0, 0)) {
		fprintf(stderr, "copy_fuzz: %s: %s\n", sql, teller.text);
		abort();
	}
	*len = teller.len;
	while (*len > 0 && teller.text[*len - 1] != '\n') /* " COPY 3" */
		--*len;
	char *out = malloc(*len + 1);
	if (out == NULL)
		abort();
	memcpy(out, teller.text, *len);
	out[*len] = 0;
	return out;
}

static void
must(const char *sql)
{
	teller.err.sqlstate[0] = 0;
	if (copy(sql, "", 0, 0))
		return;
	fprintf(stderr, "copy_fuzz: %s: %s\n", sql, teller.text);
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
	if (runs++ % 5000 == 0) { /* sequence and garbage begin anew */
		if (runs > 1)
			stop();
		else
			atexit(stop);
		embedded_open(&cluster, 128u << 20, 1);
		teller_open(&teller, &cluster, 0);
		must("CREATE TABLE f (i serial PRIMARY KEY, a text, b integer, c numeric, d date, e bytea)");
	}
	const char *o = options[data[0] % (sizeof options / sizeof *options)];
	snprintf(in, sizeof in, "COPY f (a, b, c, d, e) FROM STDIN WITH (%s)", o);
	must("DELETE FROM f");
	teller.err.sqlstate[0] = 0;
	if (!copy(in, (const char *)data + 2, size - 2, data[1]))
		return 0;
	size_t n, m;
	char *out = table(o, &n);
	must("DELETE FROM f");
	teller.err.sqlstate[0] = 0;
	if (!copy(in, out, n, 0)) {
		fprintf(stderr, "copy_fuzz: %s refuses what COPY TO wrote: %s\n%s\n", o, teller.text, out);
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
