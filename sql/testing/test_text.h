/* test_text.h -- for tests: a value as text, <null> without one. */
#ifndef NAM_SQL_TEST_TEXT_H
#define NAM_SQL_TEST_TEXT_H

#include <types/value.h>

static inline const char *
test_text(struct cat_datum d, struct nam_arena *arena)
{
	if (d.null)
		return "<null>";
	struct cat_str s = cat_value_out(d.type, d.v, arena);
	return nam_arena_str(arena, s.p, s.len);
}

/* With its type before it. */
static inline const char *
test_typed_text(struct cat_datum d, struct nam_arena *arena)
{
	return nam_arena_printf(arena, "%s|%s", cat_type_name(d.type), test_text(d, arena));
}

#endif
