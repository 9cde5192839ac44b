/* crowd_test.c -- the place that most strangers come from loses its oldest one. */
#include <base/crowd.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static uint64_t
origin(const char *text)
{
	struct sockaddr_storage a = { 0 };
	struct sockaddr_in *v4 = (struct sockaddr_in *)&a;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&a;
	a.ss_family = strchr(text, ':') ? AF_INET6 : AF_INET;
	assert_int_equal(
	    inet_pton(a.ss_family, text, a.ss_family == AF_INET ? (void *)&v4->sin_addr : &v6->sin6_addr), 1);
	return nam_crowd_origin(&a);
}

static void
places_are_told_apart(void **state)
{
	(void)state;
	struct sockaddr_storage local = { .ss_family = AF_UNIX };
	assert_int_equal(nam_crowd_origin(&local), 0);
	assert_int_equal(origin("10.0.0.1"), origin("10.0.0.1"));
	assert_int_not_equal(origin("10.0.0.1"), origin("10.0.0.2"));
	assert_int_equal(origin("10.0.0.1"), origin("::ffff:10.0.0.1"));
	assert_int_equal(origin("2001:db8:1:2::1"), origin("2001:db8:1:2:ffff::9"));
	assert_int_not_equal(origin("2001:db8:1:2::1"), origin("2001:db8:1:3::1"));
}

static void
the_oldest_of_the_largest_group_goes(void **state)
{
	(void)state;
	struct nam_crowd c = { 0 };
	struct nam_in_crowd one = { 0 }, many[1000] = { 0 }, late = { 0 };
	assert_null(nam_crowd_first_to_go(&c));
	assert_true(nam_crowd_enter(&c, &one, 1));
	for (unsigned i = 0; i < 1000; i++)
		assert_true(nam_crowd_enter(&c, &many[i], 2));
	assert_true(nam_crowd_enter(&c, &late, 3));
	assert_int_equal(c.count, 1002);
	/* The oldest of all stays, and those that are alone. */
	for (unsigned i = 0; i < 999; i++) {
		assert_ptr_equal(nam_crowd_first_to_go(&c), &many[i]);
		nam_crowd_leave(&c, &many[i]);
	}
	/* Of groups of one size, the one whose oldest came first. */
	assert_ptr_equal(nam_crowd_first_to_go(&c), &one);
	nam_crowd_leave(&c, &one);
	nam_crowd_leave(&c, &one);
	assert_ptr_equal(nam_crowd_first_to_go(&c), &many[999]);
	nam_crowd_leave(&c, &late);
	nam_crowd_leave(&c, &many[999]);
	assert_int_equal(c.count, 0);
	assert_null(nam_crowd_first_to_go(&c));
}

static void
any_order_of_leaving(void **state)
{
	(void)state;
	enum { N = 600, PLACES = 300 };
	static struct nam_in_crowd m[N];
	struct nam_crowd c = { 0 };
	for (unsigned i = 0; i < N; i++)
		assert_true(nam_crowd_enter(&c, &m[i], i % PLACES * UINT64_C(0x100000001)));
	for (unsigned i = 0; i < N; i += 3)
		nam_crowd_leave(&c, &m[i]);
	unsigned left = c.count;
	assert_int_equal(left, N - N / 3);
	for (struct nam_in_crowd *f; (f = nam_crowd_first_to_go(&c)) != NULL; left--)
		nam_crowd_leave(&c, f);
	assert_int_equal(left, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(places_are_told_apart),
		cmocka_unit_test(the_oldest_of_the_largest_group_goes),
		cmocka_unit_test(any_order_of_leaving),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
