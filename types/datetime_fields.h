/* datetime_fields.h -- a text about time as fields: shared by datetime_in.c and interval_in.c. */
#ifndef NAM_TYPES_DATETIME_FIELDS_H
#define NAM_TYPES_DATETIME_FIELDS_H

#include <types/value.h>

enum { CAT_FIELDS_MAX = 25, CAT_FIELDS_ROOM = 256 };

enum cat_field_kind { F_NUMBER, F_DATE, F_TIME, F_ZONE, F_WORD, F_SIGNED_WORD };

/* Each field ends in a 0; letters are small ones. */
struct cat_fields {
	char room[CAT_FIELDS_ROOM + 8];
	char *field[CAT_FIELDS_MAX];
	enum cat_field_kind kind[CAT_FIELDS_MAX];
	unsigned n;
};

/* False: the text has no such form, or more bytes than `room`. */
bool cat_fields_split(struct cat_fields *out, struct cat_str s, unsigned room);

/* As PostgreSQL's strtoint. False: it is not an int. */
bool cat_field_int(const char *s, char **end, int *out);
/* .ddd up to the end of the text, as a part of 1. False: it is something else. */
bool cat_field_fraction(const char *s, double *out);

#endif
