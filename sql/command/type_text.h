/* type_text.h -- types and their labels in the texts of definitions: DEFAULT, CHECK, views. Inside
 * of command. */
#ifndef NAM_SQL_TYPE_TEXT_H
#define NAM_SQL_TYPE_TEXT_H

#include <sql/command/command.h>

enum { SQL_TYPE_SAID = 2 * CAT_NAME_MAX + 3 };
/* A type's name as a statement says it, quoted if it must be. */
const char *sql_type_word(const struct cat_table *type, char out[SQL_TYPE_SAID]);

/* True if the text casts to a type that is said so. */
bool sql_text_casts(const char *text, const char *said);
/* True if there is a text. */
bool sql_text_is(const char *text, const char *unused);
/* True if a text may cast to a type of a user. */
bool sql_text_may_cast(const char *text, const char *unused);
/* True if a text has the label as a literal, and more. What a literal alone is, as a DEFAULT, the
 * type of its column tells. */
bool sql_text_has_label(const char *text, const char *label);
/* Calls fn for the texts of a definition until it answers true. *what: whose text that is. */
bool sql_any_text(const struct cat_table *def, bool (*fn)(const char *text, const char *arg), const char *arg,
    const char **what, const char **name);

/* What a text is to say instead: another name of the type; or, said stays, another label. */
struct sql_retext {
	const char *said, *type;     /* type NULL: the same one */
	const char *label, *becomes; /* label NULL: none changes */
	uint32_t number;
};
/* def, a copy of a definition, gets its texts so; *changed: some have changed. A label is changed
 * where a cast says that it is one of the type, or as a DEFAULT of a column of the type. */
bool sql_retext(struct cat_table *def, const struct sql_retext *x, bool *changed, struct nam_arena *arena);

#endif
