/*
 * guess.h -- the name that a wrong one may have been meant for, as PostgreSQL finds it for its
 * HINTs. Inside of sql.
 */
#ifndef NAM_SQL_GUESS_H
#define NAM_SQL_GUESS_H

#include <types/value.h>

enum {
	SQL_GUESS_FAR = 3,      /* a name that differs in more characters was not meant */
	SQL_GUESS_CHARS = 255,  /* longer names have no guess */
	SQL_GUESS_TRIES = 20000 /* names that are looked at for one guess */
};

struct sql_guess {
	uint32_t want[SQL_GUESS_CHARS]; /* the wrong name, character by character */
	unsigned chars, tries;
	unsigned distance;               /* of those found; above it nothing is taken */
	unsigned found;                  /* 0, 1 or 2; more than two that are as near are none */
	const char *owner[2], *match[2]; /* borrowed from the caller of sql_guess_try */
};

void sql_guess_init(struct sql_guess *g, const char *name);
/* Another name that is there. penalty: what is wrong beside it. */
void sql_guess_try(struct sql_guess *g, const char *owner, const char *name, unsigned penalty);
/* Characters that differ between two names, at most SQL_GUESS_FAR + 1. */
unsigned sql_guess_distance(const char *a, const char *b);

/* What was found as a HINT, or nothing; owners are "table", "view", ... */
void sql_guess_say_relations(const struct sql_guess *g, struct cat_err *err);

/* The column or columns that were found as a HINT; owners are tables. */
void sql_guess_say_columns(const struct sql_guess *g, struct cat_err *err);
#endif
