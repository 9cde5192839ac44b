/*
 * pgwire_fuzz.c -- libFuzzer's bytes as messages and as values of PostgreSQL's protocol: what is
 * taken apart lies inside of the message, and a value that is accepted comes back from its own
 * binary form.
 */
#include <base/arena.h>
#include <compute_node/pgwire/pgwire_internal.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
need(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "pgwire_fuzz: %s\n", what);
	abort();
}

/* A text that a reader gave: within the message, or the empty one of a bad reader. */
static void
inside(const char *p, const char *body, size_t n)
{
	need(*p == 0 || (p >= body && p + strlen(p) < body + n), "a text outside of its message");
}

static void
messages(const char *body, size_t n)
{
	struct cn_pg_parse p;
	struct cn_pg_bind b;
	struct cn_pg_named d;
	struct cn_pg_execute e;
	const char *name, *value;
	if (cn_pg_take_parse(body, n, &p)) {
		inside(p.name, body, n);
		inside(p.text, body, n);
		need(p.types == 0 || p.type + (size_t)p.types * 4 <= body + n, "types outside");
	}
	if (cn_pg_take_bind(body, n, &b)) {
		inside(b.portal, body, n);
		inside(b.name, body, n);
		struct cn_pg_reader r = b.values;
		for (unsigned i = 0; i < b.params; i++) {
			uint32_t len = cn_pg_get32(&r);
			if (len != UINT32_MAX)
				cn_pg_get_bytes(&r, len);
			cn_pg_format(&b.in, i);
			cn_pg_format(&b.out, i);
		}
		need(cn_pg_whole(&r), "the values of a Bind are whole");
	}
	if (cn_pg_take_named(body, n, &d))
		inside(d.name, body, n);
	if (cn_pg_take_execute(body, n, &e))
		inside(e.portal, body, n);
	cn_pg_first(body, n);
	struct cn_pg_reader r = cn_pg_reader(body, n);
	while (cn_pg_next_pair(&r, &name, &value)) {
		inside(name, body, n);
		inside(value, body, n);
	}
	if (n >= 4)
		need(cn_pg_body(body, 1000) <= 1000, "a length within its limit");
}

static void
value(enum cat_type t, const char *bytes, size_t n, bool binary)
{
	static struct nam_arena arena;
	struct cn_pg_out once = { 0 }, twice = { 0 };
	struct cat_str in = { bytes, (uint32_t)n };
	union cat_val v = { .i = 0 }, again = { .i = 0 };
	struct cat_err err = { 0 };
	if (arena.chunk_bytes == 0)
		nam_arena_init(&arena, 0);
	nam_arena_reset(&arena);
	bool ok = binary ? cn_pg_binary_in(t, in, &v, &arena, &err) : cn_pg_text_in(t, in, &v, &arena, &err);
	need(ok || err.sqlstate[0] != 0, "a refused value has its reason");
	if (ok) {
		cn_pg_binary_out(&once, t, v, &arena);
		cn_pg_text_out(&twice, t, v, &arena);
		need(!once.failed && !twice.failed, "memory");
		cn_pg_out_empty(&twice, SIZE_MAX);
		need(cn_pg_binary_in(
			 t, (struct cat_str){ once.p + 4, (uint32_t)once.len - 4 }, &again, &arena, &err),
		    "a value's binary form is accepted");
		cn_pg_binary_out(&twice, t, again, &arena);
		need(once.len == twice.len && memcmp(once.p, twice.p, once.len) == 0, "the same binary form");
	}
	cn_pg_out_fini(&once);
	cn_pg_out_fini(&twice);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 2)
		return -1;
	/* A copy of its own, so that a step outside is seen. */
	char *bytes = malloc(size);
	need(bytes != NULL, "memory");
	memcpy(bytes, data + 2, size - 2);
	enum cat_type t = (enum cat_type)(1 + data[0] % (CAT_TYPES - 1));
	if (data[1] & 2)
		t = cat_type_array_of(t);
	if (data[1] & 4)
		messages(bytes, size - 2);
	else
		value(t, bytes, size - 2, data[1] & 1);
	free(bytes);
	return 0;
}
