/*
 * guess.c -- the name that a wrong one may have been meant for.
 *
 * The rules are PostgreSQL's: a name is taken for the one meant if no more than
 * three characters, and no more than half of its own, were inserted, left out or replaced; the
 * nearest wins, two that are as near are both named, and three are none.
 */
#include <sql/compat/guess.h>

#include <stdio.h>

/*
 * Characters of a name into out. SQL_GUESS_CHARS + 1: there are more. What is no UTF-8 counts byte
 * by byte.
 */
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
 * Levenshtein's distance, at most max + 1. Only the cells that are no further than max off the
 * diagonal can matter, so it takes max * n steps, not n * n.
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
sql_guess_say_columns(const struct sql_guess *g, struct cat_err *err)
{
	say(g, "Perhaps you meant to reference the column \"%s.%s\".",
	    "Perhaps you meant to reference the column \"%s.%s\" or the column \"%s.%s\".", err);
}
