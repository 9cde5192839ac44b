/*
 * text_fuzz.c -- libFuzzer feeds the parsers of texts that need no cluster: literals of every type,
 * json and its paths, regular expressions, the cutting of input into statements. The first byte
 * says which (text_seeds.txt); beyond not crashing, a value must come back from its own text, and
 * pieces of input must be cut as the whole is.
 */
#include <compute_node/split.h>
#include <sql/expr/func/regex.h>
#include <types/json.h>
#include <types/value.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check(bool ok, const char *what, enum cat_type type, struct cat_str text)
{
	if (ok)
		return;
	fprintf(stderr, "text_fuzz: %s: %s '%.*s'\n", what, cat_type_name(type), (int)text.len, text.p);
	abort();
}

static void
sound(bool ok, const struct cat_err *err)
{
	if (ok || (strlen(err->sqlstate) == 5 && memcmp(err->sqlstate, "XX", 2) != 0 && err->text[0] != 0))
		return;
	fprintf(stderr, "text_fuzz: a bad error: \"%s\" %s\n", err->sqlstate, err->text);
	abort();
}

static void
literal(enum cat_type type, int32_t typmod, struct cat_str in, struct nam_arena *a)
{
	struct cat_err err = { 0 };
	union cat_val v, again;
	struct cat_str canon, canon_again;
	bool ok = cat_value_in(type, typmod, in, &v, a, &err);
	sound(ok, &err);
	if (!ok)
		return;
	struct cat_str out = cat_value_out(type, v, a);
	check(out.p != NULL, "no text", type, in);
	check(cat_value_in(type, typmod, out, &again, a, &err), "its own text is refused", type, in);
	struct cat_str twice = cat_value_out(type, again, a);
	check(twice.len == out.len && memcmp(twice.p, out.p, out.len) == 0, "another text", type, in);
	v = cat_value_copy(type, v, a);
	if (cat_type_is_ordered(type)) {
		check(cat_value_cmp(type, v, again) == 0, "not equal to itself", type, in);
		check(cat_value_hash(type, v, 1) == cat_value_hash(type, again, 1), "another hash", type, in);
		if (cat_type_is_str(type)) {
			check(cat_value_canonical(type, v.s, &canon, a) &&
				  cat_value_canonical(type, again.s, &canon_again, a) &&
				  canon.len == canon_again.len &&
				  memcmp(canon.p, canon_again.p, canon.len) == 0,
			    "another canonical form", type, in);
		}
	}
	ok = cat_value_fit(type, 3, &v, a, &err);
	sound(ok, &err);
}

/* Everything that may be asked of a json; down to its parts. */
static void
json(struct cat_str text, struct cat_str name, unsigned deep, struct nam_arena *a)
{
	struct cat_err err = { 0 };
	struct cat_str part;
	sound(cat_json_text(text, &part, a, &err), &err);
	if (deep == 0)
		return;
	if (cat_json_member(text, name, &part, a))
		json(part, name, deep - 1, a);
	int64_t n = cat_json_kind(text) == CAT_JSON_ARRAY ? cat_json_length(text) : 0;
	for (int64_t i = -3; i <= n && i < 3; i++) {
		bool is = cat_json_element(text, i, &part);
		check(is == (i >= 0 ? i < n : -i <= n), "an element too many or too few", CAT_JSON, text);
		if (is) {
			check(part.p >= text.p && part.p + part.len <= text.p + text.len, "outside", CAT_JSON,
			    text);
			check(cat_json_check(part, &err), "a part that is not json", CAT_JSON, text);
			json(part, name, deep - 1, a);
		}
	}
}

static void
regex(struct cat_str pattern, struct cat_str text, unsigned how, struct nam_arena *a)
{
	struct cat_err err = { 0 };
	struct sql_regex re;
	struct sql_regex_span span[SQL_REGEX_GROUPS];
	bool ok = sql_regex_compile(&re, pattern, how & 1, (how & 6) == 6, a, &err);
	sound(ok, &err);
	if (!ok)
		return;
	struct sql_regex_run *r = sql_regex_room(&re, a);
	if (r == NULL)
		return;
	for (uint32_t from = 0; from <= text.len; from++) {
		bool is = sql_regex_find(r, &re, text, from, span);
		check(
		    is == sql_regex_find(r, &re, text, from, NULL), "found and not found", CAT_TEXT, pattern);
		if (!is)
			break;
		check(span[0].from >= (int32_t)from && span[0].to >= span[0].from &&
			  span[0].to <= (int32_t)text.len,
		    "a match outside", CAT_TEXT, pattern);
		for (unsigned g = 1; g < SQL_REGEX_GROUPS && g < re.groups; g++)
			check((span[g].from < 0 && span[g].to < 0) ||
				  (span[g].from >= span[0].from && span[g].to >= span[g].from &&
				      span[g].to <= span[0].to),
			    "a group outside", CAT_TEXT, pattern);
		from = (uint32_t)span[0].to;
	}
}

static void
split(const char *p, size_t n, size_t piece)
{
	struct cn_split one, two;
	cn_split_init(&one);
	cn_split_init(&two);
	for (size_t at = 0; at < n;) {
		bool end = false, end2 = false;
		size_t len = cn_split_feed(&one, p + at, n - at, &end), len2 = 0;
		while (len2 < n - at && !end2) {
			size_t more = n - at - len2 < piece ? n - at - len2 : piece;
			len2 += cn_split_feed(&two, p + at + len2, more, &end2);
		}
		check(len > 0 && len <= n - at && len == len2 && end == end2 &&
			  cn_split_where(&one) == cn_split_where(&two),
		    "cut otherwise in pieces", CAT_TEXT, (struct cat_str){ p, (uint32_t)n });
		at += len;
		if (!end)
			return;
		cn_split_init(&one);
		cn_split_init(&two);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct nam_arena a;
	if (size < 3)
		return -1;
	/* A copy of its own, so that one byte too far is seen. */
	size_t n = size - 3;
	char *copy = malloc(n + (n == 0));
	if (copy == NULL)
		return -1;
	memcpy(copy, data + 3, n);
	const char *cut = memmem(copy, n, "@@", 2);
	struct cat_str text = { copy, (uint32_t)n },
		       left = { copy, (uint32_t)(cut ? (size_t)(cut - copy) : n) };
	struct cat_str right = { cut ? cut + 2 : "", (uint32_t)(cut ? n - left.len - 2 : 0) };
	struct cat_err err = { 0 };
	/* 'A' json@@name, 'B' pattern@@text, 'C' statements; from 'D' on the types in their order,
	 * '1' behind it: arrays of them */
	unsigned how = (data[0] - 'A' + 256u) % (CAT_TYPES + 2);
	nam_arena_init(&a, 0);
	if (how == 0) {
		if (cat_json_check(left, &err))
			json(left, right, 4, &a);
		sound(cat_json_check(left, &err), &err);
	} else if (how == 1) {
		regex(left, right, data[1], &a);
	} else if (how == 2) {
		split(text.p, text.len, data[1] % 9 + 1u);
	} else {
		enum cat_type type = (enum cat_type)(how - 2);
		literal(data[1] & 1 ? cat_type_array_of(type) : type, -1, text, &a);
	}
	nam_arena_fini(&a);
	free(copy);
	return 0;
}
