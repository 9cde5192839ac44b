/*
 * guess_test.c -- the bounded distance against the whole table of a plain one; names of every
 * length; how much is looked at.
 */
#include <base/rng.h>
#include <sql/compat/guess.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static unsigned
plain(const char *a, const char *b)
{
	static unsigned cell[80][80];
	unsigned n = (unsigned)strlen(a), m = (unsigned)strlen(b);
	for (unsigned i = 0; i <= n; i++)
		for (unsigned j = 0; j <= m; j++) {
			unsigned least = i == 0   ? j
					 : j == 0 ? i
						  : cell[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
			if (i > 0 && cell[i - 1][j] + 1 < least)
				least = cell[i - 1][j] + 1;
			if (j > 0 && cell[i][j - 1] + 1 < least)
				least = cell[i][j - 1] + 1;
			cell[i][j] = least;
		}
	return cell[n][m];
}

/* b is a with up to four characters changed, left out or put in. */
static void
like(struct nam_rng *r, const char *a, char *b)
{
	strcpy(b, a);
	for (unsigned k = (unsigned)nam_rng_below(r, 5); k > 0; k--) {
		size_t n = strlen(b), at = (size_t)nam_rng_below(r, n + 1);
		char c = (char)('a' + nam_rng_below(r, 3));
		switch (nam_rng_below(r, 3)) {
		case 0:
			if (at < n)
				b[at] = c;
			break;
		case 1:
			if (at < n)
				memmove(b + at, b + at + 1, n - at);
			break;
		default:
			memmove(b + at + 1, b + at, n - at + 1);
			b[at] = c;
		}
	}
}

static void
distances(void **state)
{
	(void)state;
	struct nam_rng r;
	nam_rng_init(&r, 7);
	unsigned seen[SQL_GUESS_FAR + 2] = { 0 };
	for (unsigned i = 0; i < 200000; i++) {
		char a[80], b[80];
		unsigned n = (unsigned)nam_rng_below(&r, i % 3 ? 12 : 64);
		for (unsigned k = 0; k < n; k++)
			a[k] = (char)('a' + nam_rng_below(&r, 3));
		a[n] = 0;
		like(&r, a, b);
		unsigned want = plain(a, b), far = SQL_GUESS_FAR + 1;
		unsigned got = sql_guess_distance(a, b);
		assert_int_equal(got, want < far ? want : far);
		seen[got]++;
	}
	for (unsigned d = 0; d <= SQL_GUESS_FAR + 1; d++)
		assert_true(seen[d] > 1000);
	assert_int_equal(sql_guess_distance("gr\xc3\xb6\xc3\x9f"
					    "e",
			     "gr\xc3\xbc\xc3\x9f"
			     "e"),
	    1); /* characters, not bytes */
}

static void
best(const char *want, const char *const *have, unsigned n, const char *first, const char *second)
{
	struct sql_guess g;
	sql_guess_init(&g, want);
	for (unsigned k = 0; k < n; k++)
		sql_guess_try(&g, "t", have[k], 0);
	assert_int_equal(g.found, second ? 2 : first ? 1 : 0);
	if (first)
		assert_string_equal(g.match[0], first);
	if (second)
		assert_string_equal(g.match[1], second);
}

static void
choices(void **state)
{
	(void)state;
	const char *have[] = { "id", "name", "nane", "nama", "weight", "a" };
	best("nmae", have, 2, "name", NULL);
	best("nam", have, 3, "name", NULL); /* "nane" is two away */
	best("namx", have, 4, "name", "nama");
	/* three are none */
	best("namx", (const char *[]){ "name", "nama", "namb" }, 3, NULL, NULL);
	best("namx", (const char *[]){ "name", "nama", "namb", "namx" }, 4, "namx", NULL);
	best("b", have, 6, NULL, NULL); /* nothing of it is right */
	best("", have, 6, NULL, NULL);
	best("wght", have, 6, "weight", NULL);
	best("whatever", have, 6, NULL, NULL);
	/* As long as a name can be, and longer. */
	char name[64], other[64], more[SQL_GUESS_CHARS + 2];
	memset(name, 'n', 63);
	name[63] = 0;
	strcpy(other, name);
	other[10] = 'm';
	best(other, (const char *[]){ name }, 1, name, NULL);
	memset(more, 'n', sizeof more - 1);
	more[sizeof more - 1] = 0;
	best(more, (const char *[]){ more }, 1, NULL, NULL);
}

/* However many there are, no more than some are looked at. */
static void
many(void **state)
{
	(void)state;
	struct sql_guess g;
	sql_guess_init(&g, "name");
	for (unsigned k = 0; k < SQL_GUESS_TRIES; k++)
		sql_guess_try(&g, "t", "weight", 0);
	sql_guess_try(&g, "t", "names", 0);
	assert_int_equal(g.found, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(distances),
		cmocka_unit_test(choices),
		cmocka_unit_test(many),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
