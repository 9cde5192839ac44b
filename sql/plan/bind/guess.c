/*
 * guess.c -- a HINT for a name that does not exist: the possible name that looks most like it.
 */
#include <sql/common/guess_relation.h>
#include <sql/plan/bind/bind.h>

#include <stdio.h>

enum { GUESSES_MAX = 16 }; /* of one statement: an error may be made and forgotten many times */

/* The table's own name, where it has an alias, names nothing. */
static bool
hidden_by_alias(struct bind *b, const char *qual)
{
	for (const struct bind *p = b; p != NULL; p = p->around.up)
		for (unsigned k = 0; k < p->from.tables; k++) {
			const struct bind_table *t = p->from.table[k];
			if (t->within || t->ast == NULL || t->ast->name == NULL || t->alias == NULL ||
			    strcmp(t->ast->name, qual) != 0 || strcmp(t->alias, qual) == 0)
				continue;
			snprintf(b->err->text, sizeof b->err->text,
			    "invalid reference to FROM-clause entry for table \"%s\"", qual);
			snprintf(b->err->hint, sizeof b->err->hint,
			    "Perhaps you meant to reference the table alias \"%s\".", t->alias);
			return true;
		}
	return false;
}

/* PostgreSQL looks for a column that is missing in each relation that the query or one around it
 * reads. So it may meet two of that name in one. */
static bool
is_ambiguous(struct bind *b, const char *name)
{
	for (const struct bind *p = b; p != NULL; p = p->around.up)
		for (unsigned k = 0; k < p->from.tables; k++) {
			const struct bind_table *t = p->from.table[k];
			unsigned n = 0;
			for (unsigned c = 0; !t->within && c < t->tab->columns; c++)
				n += !t->hidden[c] && strcmp(sql_bind_column_name(t, c), name) == 0;
			if (n > 1)
				return true;
		}
	return false;
}

void
sql_bind_guess_column(struct bind *b, const struct ast_expr *e)
{
	struct sql_guess g;
	if (strcmp(b->err->sqlstate, "42703") == 0 && e->text != NULL) {
		b->plan->unknown_column = e->text;
		if (is_ambiguous(b, e->text)) {
			sql_bind_fail(
			    b, e->position, "42702", "column reference \"%s\" is ambiguous", e->text);
			return;
		}
	}
	bool missing = strcmp(b->err->sqlstate, "42P01") == 0;
	if ((!missing && strcmp(b->err->sqlstate, "42703") != 0) || e->text == NULL ||
	    b->plan->guesses++ >= GUESSES_MAX)
		return;
	if (missing && e->qual != NULL && hidden_by_alias(b, e->qual))
		return;
	sql_guess_init(&g, e->text);
	for (const struct bind *p = b; p != NULL; p = p->around.up)
		for (unsigned k = 0; k < p->from.tables; k++) {
			const struct bind_table *t = p->from.table[k];
			if (t->within || t->alias == NULL)
				continue;
			unsigned penalty = e->qual != NULL ? sql_guess_distance(e->qual, t->alias) : 0;
			for (unsigned c = 0; c < t->tab->columns && penalty <= SQL_GUESS_FAR; c++)
				if (!t->hidden[c])
					sql_guess_try(&g, t->alias, sql_bind_column_name(t, c), penalty);
		}
	sql_guess_say_columns(&g, b->err);
}

void
sql_bind_guess_relation(struct bind *b, const char *name)
{
	struct sql_guess g;
	if (b->plan->guesses++ >= GUESSES_MAX)
		return;
	sql_guess_init(&g, name);
	for (const struct bind_cte *c = b->nest.cte; c != NULL; c = c->next)
		sql_guess_try(&g, "WITH query", c->name, 0);
	sql_guess_relations_try(&g, b->in->cat, b->in->t, b->a);
	sql_guess_say_relations(&g, b->err);
}
