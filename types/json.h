/*
 * json.h -- json as text that was looked at once: is it JSON, and where in it is a member or an
 * element.
 *
 * The text stays as it was written. All but cat_json_check take text that cat_json_check has seen;
 * other bytes give some answer, and nothing is read outside of them. No recursion. Any thread.
 */
#ifndef NAM_CATALOG_JSON_H
#define NAM_CATALOG_JSON_H

#include <types/value.h>

enum cat_json_kind {
	CAT_JSON_NULL,
	CAT_JSON_BOOL,
	CAT_JSON_NUMBER,
	CAT_JSON_STRING,
	CAT_JSON_ARRAY,
	CAT_JSON_OBJECT
};

/* 22P02 with a detail; 54001 when it is too deep. */
bool cat_json_check(struct cat_str text, struct cat_err *err);
enum cat_json_kind cat_json_kind(struct cat_str json);
/* The last member of that name, element `at` (from the end when negative): false when there is
 * none. */
bool cat_json_member(struct cat_str json, struct cat_str name, struct cat_str *out, struct nam_arena *arena);
bool cat_json_element(struct cat_str json, int64_t at, struct cat_str *out);
/* Elements of an array. */
int64_t cat_json_length(struct cat_str json);
/* The members of an object, the elements of an array, in the order of the text. */
struct cat_json_walk {
	const char *p, *end;
	bool object, more;
};
/* False: it is neither. */
bool cat_json_walk(struct cat_json_walk *w, struct cat_str json);
/* False: there are no more. key: with its quotes; not set for an array. */
bool cat_json_next(struct cat_json_walk *w, struct cat_str *key, struct cat_str *value);
/* A string without its quotes and escapes (22P05: not a character), anything else as it is
 * written. */
bool cat_json_text(struct cat_str json, struct cat_str *out, struct nam_arena *arena, struct cat_err *err);
/* True if each escape of its strings is a character: 22P02 a lone surrogate, 22P05 \u0000. */
bool cat_json_unescapes(struct cat_str json, struct cat_err *err);

#endif
