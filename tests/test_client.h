/* test_client.h -- a session's answers, as text that a test can compare. */
#ifndef NAM_TESTS_TEST_CLIENT_H
#define NAM_TESTS_TEST_CLIENT_H

#include <sql/sql.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cn_session;

/* A session, and what it answered: rows with '|' between values and ';' after each, then the tag;
 * or the error. */
struct test_client {
	struct cn_session *s;
	struct cat_err err;
	char *text;
	size_t len, cap;
	unsigned cols;
	enum cat_type type[64];
	const char *copy; /* input for COPY FROM STDIN */
	size_t copy_len, copy_piece;
	bool names; /* also column names */
	char notice[400];
};

static inline void
tell(struct test_client *t, const char *s, size_t n)
{
	if (t->len + n + 1 > t->cap) {
		t->cap = (t->len + n + 1) * 2;
		t->text = realloc(t->text, t->cap);
		if (t->text == NULL)
			exit(1);
	}
	memcpy(t->text + t->len, s, n);
	t->len += n;
	t->text[t->len] = 0;
}

static inline bool
tell_begin(void *arg, const struct sql_column *col, unsigned n)
{
	struct test_client *t = arg;
	t->cols = n;
	for (unsigned i = 0; i < n && i < 64; i++) {
		t->type[i] = col[i].type;
		if (t->names) {
			tell(t, col[i].name, strlen(col[i].name));
			tell(t, i + 1 < n ? "|" : ":", 1);
		}
	}
	return true;
}

static inline bool
tell_rows(void *arg, const struct sql_batch_view *b)
{
	struct test_client *t = arg;
	struct nam_arena a;
	nam_arena_init(&a, 0);
	for (unsigned r = 0; r < b->n; r++) {
		for (unsigned c = 0; c < b->cols; c++) {
			if (c > 0)
				tell(t, "|", 1);
			if (b->col[c].null[r]) {
				tell(t, "~", 1);
				continue;
			}
			struct cat_str s = cat_value_out(b->col[c].type, cat_vec_at(&b->col[c], r), &a);
			tell(t, s.p, s.len);
		}
		tell(t, ";", 1);
	}
	nam_arena_fini(&a);
	return true;
}

static inline bool
tell_done(void *arg, const char *tag, uint64_t rows)
{
	(void)rows;
	struct test_client *t = arg;
	tell(t, " ", 1);
	tell(t, tag, strlen(tag));
	return true;
}

static inline void
tell_notice(void *arg, const char *severity, const char *sqlstate, const char *text)
{
	struct test_client *t = arg;
	snprintf(t->notice, sizeof t->notice, "%s %s %s", severity, sqlstate, text);
}

static inline bool
tell_copy(void *arg, const char **bytes, size_t *len)
{
	struct test_client *t = arg;
	*bytes = t->copy;
	*len = t->copy_piece && t->copy_piece < t->copy_len ? t->copy_piece : t->copy_len;
	t->copy += *len;
	t->copy_len -= *len;
	return true;
}

static inline bool
tell_copied(void *arg, const char *bytes, size_t len)
{
	tell(arg, bytes, len);
	return true;
}

static inline struct sql_sink
test_client_sink(struct test_client *t)
{
	return (struct sql_sink){ .arg = t,
		.begin = tell_begin,
		.rows = tell_rows,
		.done = tell_done,
		.notice = tell_notice,
		.copy_in = tell_copy,
		.copy_out = tell_copied };
}

/* Before a call with that sink, and behind it: what was answered. Valid until the next one. */
static inline void
test_client_begin(struct test_client *t)
{
	t->len = 0;
	t->notice[0] = 0;
	tell(t, "", 0);
}

static inline const char *
test_client_end(struct test_client *t, bool ok)
{
	if (!ok) {
		char line[1200];
		int n = snprintf(line, sizeof line, " ERROR %s: %s", t->err.sqlstate, t->err.text);
		tell(t, line, (size_t)n < sizeof line ? (size_t)n : sizeof line - 1);
	}
	return t->text[0] == ' ' ? t->text + 1 : t->text;
}

#endif
