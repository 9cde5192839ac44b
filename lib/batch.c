/* batch.c -- many rows at once: written down as COPY reads them, then one COPY. */
#include "lib_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct namdb_batch {
	struct namdb *db; /* a reference */
	char *sql;
	char *text;
	size_t len, cap, given;
	bool first, nomem; /* first: no field of this row yet */
};

enum { PIECE = 1 << 20 };

int
namdb_batch_begin(namdb *db, const char *table, const char *columns, namdb_batch **out)
{
	if (out == NULL)
		return NAMDB_MISUSE;
	*out = NULL;
	if (table == NULL || !lib_enter(db))
		return NAMDB_MISUSE;
	struct namdb_batch *b = calloc(1, sizeof *b);
	size_t n = strlen(table) + (columns != NULL ? strlen(columns) : 0) + 40;
	lib_clear(db);
	if (b == NULL || (b->sql = malloc(n)) == NULL) {
		free(b);
		cat_error(&db->err, "53200", "out of memory");
		lib_leave(db);
		return NAMDB_ERROR;
	}
	snprintf(b->sql, n, columns != NULL ? "COPY %s (%s) FROM STDIN" : "COPY %s%s FROM STDIN", table,
	    columns != NULL ? columns : "");
	b->db = db;
	b->first = true;
	db->refs++;
	*out = b;
	lib_leave(db);
	return NAMDB_OK;
}

/* Room for n more bytes. NULL = no memory, now and for the rest of this batch. */
static char *
room(struct namdb_batch *b, size_t n)
{
	if (b->len + n > b->cap) {
		size_t cap = b->cap ? b->cap * 2 : 4096;
		while (cap < b->len + n)
			cap *= 2;
		char *more = b->nomem ? NULL : realloc(b->text, cap);
		if (more == NULL) {
			b->nomem = true;
			return NULL;
		}
		b->text = more;
		b->cap = cap;
	}
	return b->text + b->len;
}

static int
field(namdb_batch *b, const char *bytes, size_t n, bool plain)
{
	if (b == NULL || !lib_enter(b->db))
		return NAMDB_MISUSE;
	char *to = room(b, 2 * n + 2), *end = to;
	if (to != NULL) {
		if (!b->first)
			*end++ = '\t';
		for (size_t i = 0; i < n; i++) {
			static const char special[] = "\\\n\r\t", name[] = "\\nrt";
			const char *at = plain || bytes[i] == 0 ? NULL : strchr(special, bytes[i]);
			if (at != NULL)
				*end++ = '\\';
			*end++ = at != NULL ? name[at - special] : bytes[i];
		}
		b->len += (size_t)(end - to);
		b->first = false;
	}
	lib_leave(b->db);
	return to != NULL ? NAMDB_OK : NAMDB_ERROR;
}

int
namdb_batch_null(namdb_batch *b)
{
	return field(b, "\\N", 2, true);
}

int
namdb_batch_int64(namdb_batch *b, int64_t value)
{
	char s[24];
	return field(b, s, (size_t)snprintf(s, sizeof s, "%lld", (long long)value), true);
}

int
namdb_batch_double(namdb_batch *b, double value)
{
	char s[40];
	if (isnan(value))
		return field(b, "NaN", 3, true);
	if (isinf(value))
		return value > 0 ? field(b, "Infinity", 8, true) : field(b, "-Infinity", 9, true);
	return field(b, s, (size_t)snprintf(s, sizeof s, "%.17g", value), true);
}

int
namdb_batch_text(namdb_batch *b, const char *text, ptrdiff_t len)
{
	if (text == NULL)
		return len <= 0 ? namdb_batch_null(b) : NAMDB_MISUSE;
	return field(b, text, len < 0 ? strlen(text) : (size_t)len, false);
}

int
namdb_batch_row(namdb_batch *b)
{
	if (b == NULL || !lib_enter(b->db))
		return NAMDB_MISUSE;
	char *to = room(b, 1);
	if (to != NULL) {
		*to = '\n';
		b->len++;
		b->first = true;
	}
	lib_leave(b->db);
	return to != NULL ? NAMDB_OK : NAMDB_ERROR;
}

static bool
copy_in(void *arg, const char **bytes, size_t *len)
{
	struct namdb_batch *b = ((struct namdb *)arg)->batch;
	size_t left = b->len - b->given;
	*bytes = b->text + b->given;
	*len = left < PIECE ? left : PIECE;
	b->given += *len;
	return true;
}

static void
give_up(struct namdb_batch *b)
{
	struct namdb *db = b->db;
	free(b->sql);
	free(b->text);
	free(b);
	lib_drop(db);
}

int
namdb_batch_end(namdb_batch *b)
{
	if (b == NULL)
		return NAMDB_MISUSE;
	struct namdb *db = b->db;
	if (!lib_enter(db)) {
		if (!db->open)
			give_up(b);
		return NAMDB_MISUSE;
	}
	int rc = NAMDB_ERROR;
	if (b->nomem) {
		cat_error(&db->err, "53200", "out of memory: %zu bytes of rows were kept", b->len);
	} else if (!b->first) {
		cat_error(&db->err, "22P04", "the last row has not been ended: namdb_batch_row ends it");
	} else {
		struct sql_sink sink;
		lib_end_statement(db);
		lib_clear(db);
		lib_sink(db, &sink);
		sink.copy_in = copy_in;
		db->batch = b;
		if (cn_exec(db->s, b->sql, strlen(b->sql), &sink, &db->err))
			rc = NAMDB_OK;
	}
	db->batch = NULL;
	lib_leave(db);
	give_up(b);
	return rc;
}

void
namdb_batch_abort(namdb_batch *b)
{
	if (b == NULL)
		return;
	struct namdb *db = b->db;
	bool in = lib_enter(db);
	if (!in && db->open)
		return; /* another thread is inside */
	if (in)
		lib_leave(db);
	give_up(b);
}
