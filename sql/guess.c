/*
 * guess.c -- the name that a wrong one may have been meant for.
 *
 * The rules are PostgreSQL's (parse_relation.c): a name is taken for the one meant if no more than three characters, and no
 * more than half of its own, were inserted, left out or replaced; the nearest wins, two that are as near are both named, and
 * three are none.
 */
#include "guess.h"
#include <sql/expr_internal.h>

#include <stdio.h>

/* Characters of a name into out. SQL_GUESS_CHARS + 1: there are more. What is no UTF-8 counts byte by byte. */
static unsigned
letters(const char *s, uint32_t out[SQL_GUESS_CHARS])
{
	unsigned n = 0;
	for (const unsigned char *p = (const void *)s; *p; n++) {
		if (n == SQL_GUESS_CHARS)
			return SQL_GUESS_CHARS + 1;
		uint32_t c = *p++;
		for (unsigned more = c < 0xc0 ? 0 : c < 0xe0 ? 1 : c < 0xf0 ? 2 : 3; more > 0; more--) {
			if ((*p & 0xc0) != 0x80)
				break;
			c = c << 8 | *p++;
		}
		out[n] = c;
	}
	return n;
}

/*
 * Levenshtein's distance, at most max + 1. Only the cells that are no further than max off the diagonal can matter, so it takes
 * max * n steps, not n * n.
 */
static unsigned
distance(const uint32_t *a, unsigned n, const uint32_t *b, unsigned m, unsigned max)
{
	unsigned row[2 * SQL_GUESS_FAR + 3];
	const unsigned wide = 2 * max + 1, far = max + 1;
	if ((n > m ? n - m : m - n) > max)
		return far;
	/* row[d] is the cell of column i + d - max */
	for (unsigned d = 0; d < wide; d++)
		row[d] = d < max ? far : d - max;
	for (unsigned i = 1; i <= n; i++) {
		unsigned best = far, left = far;
		for (unsigned d = 0; d < wide; d++) {
			unsigned j = i + d; /* column + max */
			unsigned up = d + 1 < wide ? row[d + 1] : far, diagonal = row[d], cell = far;
			if (j >= max && j - max <= m) {
				unsigned col = j - max;
				if (col == 0) {
					cell = i < far ? i : far;
				} else {
					cell = diagonal + (a[i - 1] != b[col - 1]);
					if (up + 1 < cell)
						cell = up + 1;
					if (left + 1 < cell)
						cell = left + 1;
					if (cell > far)
						cell = far;
				}
			}
			row[d] = left = cell;
			if (cell < best)
				best = cell;
		}
		if (best > max)
			return far;
	}
	return row[m + max - n];
}

unsigned
sql_guess_distance(const char *a, const char *b)
{
	uint32_t x[SQL_GUESS_CHARS], y[SQL_GUESS_CHARS];
	unsigned n = letters(a, x), m = letters(b, y);
	if (n > SQL_GUESS_CHARS || m > SQL_GUESS_CHARS)
		return SQL_GUESS_FAR + 1;
	return distance(x, n, y, m, SQL_GUESS_FAR);
}

void
sql_guess_init(struct sql_guess *g, const char *name)
{
	g->chars = letters(name, g->want);
	g->tries = g->found = 0;
	g->distance = SQL_GUESS_FAR;
}

void
sql_guess_try(struct sql_guess *g, const char *owner, const char *name, unsigned penalty)
{
	uint32_t have[SQL_GUESS_CHARS];
	if (g->chars > SQL_GUESS_CHARS || ++g->tries > SQL_GUESS_TRIES || penalty > g->distance)
		return;
	unsigned n = letters(name, have);
	if (n > SQL_GUESS_CHARS)
		return;
	unsigned max = g->distance - penalty, d = distance(g->want, g->chars, have, n, max);
	if (d > max || d > n / 2)
		return;
	d += penalty;
	if (d < g->distance || g->found == 0) {
		g->distance = d;
		g->found = 0;
	} else if (g->found == 2) {
		g->found = 0; /* only a nearer one will do */
		if (d == 0)
			g->tries = SQL_GUESS_TRIES;
		else
			g->distance = d - 1;
		return;
	}
	g->owner[g->found] = owner;
	g->match[g->found++] = name;
}

/* ---- relations ------------------------------------------------------------------------ */

void
sql_guess_relations_try(struct sql_guess *g, struct cat *cat, struct txn *t, struct nam_arena *arena)
{
	static const char *const kind[] = { "table", "view", "sequence" };
	const struct cat_table **list;
	unsigned n;
	if (cat == NULL || arena == NULL || cat_list(cat, t, &list, &n, arena) != NAM_OK)
		return;
	for (unsigned i = 0; i < n; i++)
		sql_guess_try(g, kind[list[i]->kind], list[i]->name, 0);
}

/* Two where their words fit, else the first. */
static void
say(const struct sql_guess *g, const char *one, const char *two, struct cat_err *err)
{
	int n = 0;
	if (g->found == 2)
		n = snprintf(
		    err->hint, sizeof err->hint, two, g->owner[0], g->match[0], g->owner[1], g->match[1]);
	if (g->found == 1 || n >= (int)sizeof err->hint)
		snprintf(err->hint, sizeof err->hint, one, g->owner[0], g->match[0]);
}

void
sql_guess_say_relations(const struct sql_guess *g, struct cat_err *err)
{
	say(g, "Perhaps you meant to reference the %s \"%s\".",
	    "Perhaps you meant to reference the %s \"%s\" or the %s \"%s\".", err);
}

void
sql_guess_relation(
    struct cat *cat, struct txn *t, const char *name, struct nam_arena *arena, struct cat_err *err)
{
	struct sql_guess g;
	sql_guess_init(&g, name);
	sql_guess_relations_try(&g, cat, t, arena);
	sql_guess_say_relations(&g, err);
}

void
sql_guess_say_columns(const struct sql_guess *g, struct cat_err *err)
{
	say(g, "Perhaps you meant to reference the column \"%s.%s\".",
	    "Perhaps you meant to reference the column \"%s.%s\" or the column \"%s.%s\".", err);
}

void
sql_guess_in_table(const struct cat_table *tab, const char *name, struct cat_err *err)
{
	struct sql_guess g;
	sql_guess_init(&g, name);
	for (unsigned c = 0; c < tab->columns; c++)
		sql_guess_try(&g, tab->name, tab->column[c].name, 0);
	sql_guess_say_columns(&g, err);
}

/* ---- functions ------------------------------------------------------------------------ */

/* Names come once for each signature: only the first of each counts. */
static void
try_function(struct sql_guess *g, const char *name, bool *there, const char *want)
{
	*there |= strcmp(name, want) == 0;
	for (unsigned k = 0; k < g->found; k++)
		if (strcmp(g->match[k], name) == 0)
			return;
	sql_guess_try(g, "function", name, 0);
}

bool
sql_guess_function(const char *name, struct cat_err *err)
{
	struct sql_guess g;
	bool there = false;
	const struct sql_fn *f;
	const char *agg;
	sql_guess_init(&g, name);
	for (unsigned t = 0; (f = sql_fn_table(t)) != NULL; t++)
		for (; f->name != NULL; f++)
			if (!(f->flags & SQL_FN_OP))
				try_function(&g, f->name, &there, name);
	for (unsigned k = 0; (agg = sql_agg_name(k)) != NULL; k++)
		try_function(&g, agg, &there, name);
	for (const struct sql_signature *s = sql_signatures; s->name != NULL; s++)
		try_function(&g, s->name, &there, name);
	if (there || g.found == 0)
		return false;
	sql_guess_say_relations(&g, err);
	return true;
}
