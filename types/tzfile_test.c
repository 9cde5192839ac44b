/* tzfile_test.c -- zones' files: a made one, cut and changed bytes, and what the system has. */
#include <base/rng.h>
#include <types/datetime.h>
#include <types/tzfile.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void
put(unsigned char **p, int64_t v, unsigned bytes)
{
	for (unsigned k = bytes; k-- > 0;)
		*(*p)++ = (unsigned char)((uint64_t)v >> 8 * k);
}

static void
head(unsigned char **p, unsigned times, unsigned types)
{
	memcpy(*p, "TZif2", 5);
	memset(*p + 5, 0, 15);
	*p += 20;
	const unsigned counts[] = { 0, 0, 0, times, types, 0 };
	for (unsigned k = 0; k < 6; k++)
		put(p, counts[k], 4);
}

/* An hour east; from 2000-01-01 on the rule of central Europe. */
static size_t
make(unsigned char buf[512], const char *rule)
{
	unsigned char *p = buf;
	head(&p, 0, 1);
	memset(p, 0, 6);
	p += 6;
	head(&p, 1, 2);
	put(&p, 946684800, 8);
	put(&p, 1, 1);
	for (int k = 0; k < 2; k++) {
		put(&p, k == 0 ? 3208 : 3600, 4);
		put(&p, 0, 2);
	}
	size_t n = strlen(rule);
	*p++ = '\n';
	memcpy(p, rule, n);
	p[n] = '\n';
	return (size_t)(p - buf) + n + 1;
}

static int64_t
us(const char *text)
{
	int64_t v;
	assert_true(cat_timestamp_in((struct cat_str){ text, (uint32_t)strlen(text) }, &v, NULL));
	return v;
}

static void
clocks(const struct cat_zone *z, const char *utc, const char *local)
{
	assert_true(cat_zone_local(z, us(utc)) == us(local));
	assert_true(cat_zone_utc(z, us(local)) == us(utc));
}

static void
made(void **state)
{
	unsigned char buf[512];
	(void)state;
	struct cat_zone *z = cat_zone_read(buf, make(buf, "CET-1CEST,M3.5.0,M10.5.0/3"));
	assert_non_null(z);
	clocks(z, "1900-01-01 00:00", "1900-01-01 00:53:28");
	clocks(z, "2024-01-31 22:59:59.5", "2024-01-31 23:59:59.5");
	clocks(z, "2024-03-31 00:59:59", "2024-03-31 01:59:59");
	clocks(z, "2024-03-31 01:00", "2024-03-31 03:00");
	clocks(z, "2024-07-01 00:00", "2024-07-01 02:00");
	clocks(z, "2024-10-27 01:00", "2024-10-27 02:00"); /* the second time */
	assert_true(cat_zone_local(z, us("2024-10-27 00:00")) == us("2024-10-27 02:00"));
	assert_true(cat_zone_utc(z, us("2024-03-31 02:30")) == us("2024-03-31 01:30"));
	clocks(z, "2525-07-01 00:00", "2525-07-01 02:00");
	free(z);
	/* South of the equator; Julian days; names in brackets; no summer time; no rule. */
	z = cat_zone_read(buf, make(buf, "<-03>3<-02>,J290/0,J47/0"));
	clocks(z, "2024-01-15 02:00", "2024-01-15 00:00");
	clocks(z, "2024-07-15 03:00", "2024-07-15 00:00");
	free(z);
	z = cat_zone_read(buf, make(buf, "IST-5:30"));
	clocks(z, "2024-07-15 00:00", "2024-07-15 05:30");
	free(z);
	z = cat_zone_read(buf, make(buf, ""));
	clocks(z, "2024-07-15 00:00", "2024-07-15 01:00");
	free(z);
	static const char *const bad[] = { "C-1", "-1", "CET", "CET-1CEST", "CET-1CEST,M13.5.0,M10.5.0",
		"CET-1CEST,M3.0.0,M10.5.0", "CET-1CEST,M3.5.7,M10.5.0", "CET-1CEST,J0,J5", "CET-1CEST,M3.5.0",
		"CET-1CEST,M3.5.0,M10.5.0/200", "<CET-1", "CET-1CEST,M3.5.0,M10.5.0x", "CET-1:99" };
	for (unsigned k = 1; k < sizeof bad / sizeof *bad; k++)
		assert_null(cat_zone_read(buf, make(buf, bad[k])));
}

static void
damaged(void **state)
{
	unsigned char buf[512], other[512];
	size_t n = make(buf, "CET-1CEST,M3.5.0,M10.5.0/3");
	struct nam_rng r;
	unsigned good = 0;
	(void)state;
	for (size_t k = 0; k < n; k++) {
		unsigned char *cut = malloc(k + 1); /* so that reading behind it is seen */
		memcpy(cut, buf, k);
		assert_null(cat_zone_read(cut, k));
		free(cut);
	}
	nam_rng_init(&r, 3);
	for (unsigned i = 0; i < 200000; i++) {
		memcpy(other, buf, n);
		for (unsigned k = 0; k < 1 + nam_rng_below(&r, 3); k++)
			other[nam_rng_below(&r, n)] = (unsigned char)nam_rng_next(&r);
		struct cat_zone *z = cat_zone_read(other, n);
		if (z == NULL)
			continue;
		good++;
		int64_t at = (int64_t)(nam_rng_next(&r) % UINT64_C(10000000000000000));
		int64_t off = cat_zone_local(z, at) - at;
		assert_true(off > -INT64_C(10) * 86400000000 && off < INT64_C(10) * 86400000000);
		(void)cat_zone_utc(z, at);
		free(z);
	}
	assert_true(good > 1000);
}

static void
names(void **state)
{
	static const char *const none[] = { "", "/etc/passwd", "../etc/passwd", "Europe/../Europe/Berlin",
		"Europe/", "Europe//Berlin", ".", "Europe/Ber lin", "Europe/Nowhere", "tzdata.zi" };
	(void)state;
	for (unsigned k = 0; k < sizeof none / sizeof *none; k++)
		assert_null(cat_zone_find((struct cat_str){ none[k], (uint32_t)strlen(none[k]) }));
	const struct cat_zone *z = cat_zone_find((struct cat_str){ "Europe/Berlin", 13 });
	if (z == NULL)
		skip(); /* there are no files of zones here */
	assert_ptr_equal(cat_zone_find((struct cat_str){ "eUROPE/berlin", 13 }), z);
	clocks(z, "2024-07-01 10:00", "2024-07-01 12:00");
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(made), cmocka_unit_test(damaged),
		cmocka_unit_test(names) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
