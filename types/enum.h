/*
 * enum.h -- labels of the types that CREATE TYPE ... AS ENUM makes, as this process knows them.
 *
 * A value is one number, so that indexes, hashes and sorts need not know labels:
 *
 *	63   62 ......... 40   39 ........ 0
 *	+---+----------------+----------------+
 *	| 0 | id of the type |      key       |
 *	+---+----------------+----------------+
 *
 * A process may have the catalogs of several clusters open, so an id alone is no type. Each catalog
 * has a tag, and cat_type_id is a number that this process gives to the tag and the id. Numbers
 * never leave the process.
 *
 * Keys are in the order of the labels. A new label between two others has a key between theirs.
 * What a process knows of a type only grows newer: cat_enum_learn takes a definition if its
 * generation is newer than the known one. No key is given out twice and none is taken away, so a
 * newer definition has the labels of all older values. Any thread.
 */
#ifndef NAM_TYPES_ENUM_H
#define NAM_TYPES_ENUM_H

#include <types/value.h>

enum { CAT_LABEL_MAX = 63 };
#define CAT_ENUM_KEY_END (INT64_C(1) << 40)

struct cat_label {
	char name[CAT_LABEL_MAX + 1];
	int64_t key; /* 1 .. CAT_ENUM_KEY_END - 1 */
};

/* A type, immutable. */
struct cat_enum {
	uint32_t id, number, generation;
	unsigned labels;
	const struct cat_label *label;  /* by key */
	const struct cat_label **named; /* by name */
	const char *name;               /* as in the catalog */
	const char *said, *array_said;  /* quoted if it must be; with [] */
	const char *array_name;         /* _name */
	const struct cat_enum *older;
};

/* Each catalog that is open in this process holds the map; the last one that leaves empties it. */
void cat_enum_hold(void);
void cat_enum_leave(void);
/* The number of a type; 0 = no memory. */
uint32_t cat_enum_number(uint32_t tag, uint32_t id);
/* The id of a number, which is that of its catalog's rows. */
uint32_t cat_enum_id(uint32_t number);
/* The number of a type of that id, if the process knows one, and one only; else 0. */
uint32_t cat_enum_only(uint32_t id);
/* NULL = this process does not know it. It stays valid while the map is held. */
const struct cat_enum *cat_enum_find(uint32_t number);
/* False: no memory. label: by key. */
bool cat_enum_learn(
    uint32_t number, uint32_t generation, const char *name, const struct cat_label *label, unsigned labels);

/*
 * The type has been dropped, no definition of that generation or an older one is in use: forgets
 * its labels, unless it knows a newer definition. A reader that still has a struct cat_enum may use
 * it until CAT_ENUM_LIMBO more types have been forgotten.
 */
enum { CAT_ENUM_LIMBO = 256 };
void cat_enum_forget(uint32_t number, uint32_t generation);

static inline int64_t
cat_enum_value(uint32_t id, int64_t key)
{
	return (int64_t)id << 40 | key;
}
/* The place of a value among the labels of its type; labels = it is none of them. */
unsigned cat_enum_place(const struct cat_enum *e, int64_t value);
static inline bool
cat_enum_has(enum cat_type type, int64_t value)
{
	const struct cat_enum *e = cat_enum_find(cat_type_id(type));
	return e != NULL && cat_enum_place(e, value) < e->labels;
}
/* The key of a new label between those at place - 1 and place. 0 = there is no room. */
int64_t cat_enum_between(const struct cat_label *label, unsigned labels, unsigned place);
/* The keys of a new type's labels. */
void cat_enum_spread(struct cat_label *label, unsigned labels);

/* 22P02: no label of the type. */
bool cat_enum_in(enum cat_type type, struct cat_str in, int64_t *out, struct cat_err *err);
/* "???": the process does not know the label. */
struct cat_str cat_enum_out(enum cat_type type, int64_t value, struct nam_arena *arena);
/* Writes a name as a statement has to write it, quoted or not, without a 0; how long it is. out
 * NULL: only that. */
size_t cat_enum_quote(const char *name, char *out);
/* The names of a type or of its array: as messages say it, and as the catalog has it. */
const char *cat_enum_said(enum cat_type t);
const char *cat_enum_word(enum cat_type t);

#endif
