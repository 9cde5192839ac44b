/* embedded.h -- a cluster inside of a test: one region in this process, one compute node, sessions that answer in text. */
#ifndef NAM_TESTS_EMBEDDED_H
#define NAM_TESTS_EMBEDDED_H

#include <compute_node/cn.h>
#include <storage_node/sn.h>

#include <limits.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>
#include <cmocka.h>

struct embedded {
	struct sn_region *region;
	struct cn *cn;
};

static void
embedded_open(struct embedded *e, uint64_t size, unsigned workers)
{
	struct nam_err err = { 0 };
	struct sn_region_config rc = { .id = 1, .size = size, .huge = SN_HUGE_OFF, .numa = -1 };
	if (sn_region_open(&e->region, &rc, &err) != NAM_OK) {
		fprintf(stderr, "region: %s\n", err.text);
		exit(1);
	}
	struct net_local *local[2] = { sn_local(e->region), NULL };
	struct cn_config cfg = { .local = local, .workers = workers, .txn = { .vector = 1 << 16 } };
	if (cn_open(&e->cn, &cfg, &err) != NAM_OK) {
		fprintf(stderr, "compute node: %s\n", err.text);
		exit(1);
	}
}

static void
embedded_close(struct embedded *e)
{
	cn_close(e->cn);
	sn_region_close(e->region);
}

/* A session, and what it answered: rows with '|' between values and ';' after each, then the tag; or the error. */
struct teller {
	struct cn_session *s;
	struct cat_err err;
	char *text;
	size_t len, cap;
	unsigned cols;
	enum cat_type type[64];
	const char *copy; /* input for COPY FROM STDIN */
	size_t copy_len, copy_piece;
	bool names; /* column names, too */
	char notice[400];
};

static void
tell(struct teller *t, const char *s, size_t n)
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

static bool
tell_begin(void *arg, const struct sql_column *col, unsigned n)
{
	struct teller *t = arg;
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

static bool
tell_rows(void *arg, const struct sql_batch_view *b)
{
	struct teller *t = arg;
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

static bool
tell_done(void *arg, const char *tag, uint64_t rows)
{
	(void)rows;
	struct teller *t = arg;
	tell(t, " ", 1);
	tell(t, tag, strlen(tag));
	return true;
}

static void
tell_notice(void *arg, const char *severity, const char *sqlstate, const char *text)
{
	struct teller *t = arg;
	snprintf(t->notice, sizeof t->notice, "%s %s %s", severity, sqlstate, text);
}

static bool
tell_copy(void *arg, const char **bytes, size_t *len)
{
	struct teller *t = arg;
	*bytes = t->copy;
	*len = t->copy_piece && t->copy_piece < t->copy_len ? t->copy_piece : t->copy_len;
	t->copy += *len;
	t->copy_len -= *len;
	return true;
}

static bool
tell_copied(void *arg, const char *bytes, size_t len)
{
	tell(arg, bytes, len);
	return true;
}

static void
teller_open(struct teller *t, struct embedded *e, unsigned worker)
{
	memset(t, 0, sizeof *t);
	if (cn_session_open(e->cn, worker, &t->s) != NAM_OK)
		exit(1);
}

static void
teller_close(struct teller *t)
{
	cn_session_close(t->s);
	free(t->text);
}

/* What `text` answers. Valid until the next call. */
static const char *
ask(struct teller *t, const char *text)
{
	struct sql_sink sink = { .arg = t,
		.begin = tell_begin,
		.rows = tell_rows,
		.done = tell_done,
		.notice = tell_notice,
		.copy_in = tell_copy,
		.copy_out = tell_copied };
	t->len = 0;
	t->notice[0] = 0;
	tell(t, "", 0);
	if (!cn_exec(t->s, text, strlen(text), &sink, &t->err)) {
		char line[1200];
		int n = snprintf(line, sizeof line, " ERROR %s: %s", t->err.sqlstate, t->err.text);
		tell(t, line, (size_t)n < sizeof line ? (size_t)n : sizeof line - 1);
	}
	return t->text[0] == ' ' ? t->text + 1 : t->text;
}

#endif
