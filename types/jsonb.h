/*
 * jsonb.h -- jsonb: JSON whose text is canonical.
 *
 * PostgreSQL's normal form: one blank behind "," and ":", none elsewhere; of members of one name
 * the last; members in the order of their names' lengths, then bytes; numbers as numeric writes
 * them; no escapes but those that are needed. So what json.h finds in such a text is such a text.
 * No recursion. Any thread.
 */
#ifndef NAM_TYPES_JSONB_H
#define NAM_TYPES_JSONB_H

#include <types/json.h>

/* The canonical text of any JSON. 22P02; 22P05: a character that no text has; 22003: a number that
 * no numeric is; 54001. */
bool cat_jsonb_in(struct cat_str text, struct cat_str *out, struct nam_arena *arena, struct cat_err *err);
/* A text as a JSON string, with its quotes. False: no memory. */
bool cat_jsonb_string(struct cat_str text, struct cat_str *out, struct nam_arena *arena);
/* PostgreSQL's order: null < string < number < boolean < array < object; of arrays and objects the
 * one with more parts is greater; numbers by their values. Of canonical texts. */
int cat_jsonb_cmp(struct cat_str a, struct cat_str b);
uint64_t cat_jsonb_hash(struct cat_str json, uint64_t seed);

#endif
