/* load_test.c -- the formula with the paper's numbers, its edges, and the load of this machine. */
#include <net/load.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

/* k = 0.7, S = 50 MB, B = 100 Gbit/s, T = 32 GB: RDMA-Mongo 4.2. */
static const size_t S = 50000 * (size_t)4096 / 4; /* about 50 MB, whole pages */
static const uint64_t B = UINT64_C(100000000000), second = 1000000000;

static struct net_load
papers(double used_gbit, double used_gb)
{
	char text[128];
	snprintf(text, sizeof text, "MemTotal: %.0f kB\nMemFree: 1 kB\nMemAvailable: %.0f kB\n", 32e6,
	    (32 - used_gb) * 1e6);
	return (struct net_load){ .memory_free = net_load_memory(text),
		.network_free = net_load_port((uint64_t)(used_gbit * 1e9 / 8), second, B) };
}

static void
near(double got, double want)
{
	if (got < want - 1e-6 || got > want + 1e-6)
		fail_msg("%g where %g is due", got, want);
}

static void
formula(void **state)
{
	(void)state;
	/* Busy Gbit/s, busy GB, and by hand M / S: (1 - THR/B)(1 - U/T), times 0.7 where that is
	 * below a quarter. */
	static const struct {
		double gbit, gb, part;
	} row[] = {
		{ 0, 0, 1 },
		{ 50, 0, 1 }, /* 0.5 is left */
		{ 0, 16, 1 },
		{ 50, 16, 1 }, /* 0.25: not below the threshold */
		{ 60, 16, 0.7 * 0.2 },
		{ 50, 24, 0.7 * 0.125 },
		{ 80, 28, 0.7 * 0.025 },
		{ 90, 8, 0.7 * 0.075 },
		{ 10, 30, 0.7 * 0.05625 },
		{ 99, 31, 0.7 * 0.0003125 },
	};
	for (unsigned i = 0; i < sizeof row / sizeof *row; i++) {
		struct net_load load = papers(row[i].gbit, row[i].gb);
		near(load.memory_free, 1 - row[i].gb / 32);
		near(load.network_free, 1 - row[i].gbit / 100);
		size_t want = row[i].part == 1 ? S : (size_t)(row[i].part * (double)S);
		size_t got = net_buffer_for(&load, S, 4096);
		assert_true(got % 4096 == 0);
		assert_true(got <= want + 1 && got + 4097 >= want);
	}
}

static void
edges(void **state)
{
	(void)state;
	struct net_load load = { 0, 1 };
	/* nothing left: the floor */
	assert_int_equal(net_buffer_for(&load, 1 << 20, 64 << 10), 64 << 10);
	load = (struct net_load){ 1, 0 };
	assert_int_equal(net_buffer_for(&load, 1 << 20, 64 << 10), 64 << 10);
	load = (struct net_load){ 1, 1 };
	assert_int_equal(net_buffer_for(&load, 1 << 20, 64 << 10), 1 << 20);
	/* The less is left, the smaller the size. */
	size_t before = SIZE_MAX;
	for (int i = 100; i >= 0; i--) {
		load = (struct net_load){ i / 100.0, 1 };
		size_t size = net_buffer_for(&load, 2 << 20, 512 << 10);
		assert_true(size <= before && size >= 512 << 10 && size <= 2 << 20);
		before = size;
	}
	near(net_load_memory(""), 1);
	near(net_load_memory("MemTotal: 100 kB\n"), 1);
	near(net_load_memory("MemTotal: 0 kB\nMemAvailable: 0 kB\n"), 1);
	near(net_load_memory("MemTotal: 100 kB\nMemAvailable: 200 kB\n"), 1);
	near(net_load_memory("MemTotal: rubbish\nMemAvailable: rubbish\n"), 1);
	near(net_load_memory("MemTotal: 100 kB\nMemAvailable: 0 kB\n"), 0);
	near(net_load_port(1000, 0, B), 1); /* the first look knows no rate */
	near(net_load_port(1000, second, 0), 1);
	near(net_load_port(UINT64_MAX / 16, second, B), 0); /* more than the port can carry: wrong
							     * counters */
}

/* On any machine the values make sense, and are about the same a moment later. */
static void
here(void **state)
{
	(void)state;
	struct net_load a, b;
	net_load_now(&a);
	net_load_now(&b);
	assert_true(a.memory_free > 0 && a.memory_free < 1);
	assert_true(a.network_free >= 0 && a.network_free <= 1);
	near(a.memory_free, b.memory_free);
	near(a.network_free, b.network_free);
	size_t size = net_buffer_size(2 << 20, 512 << 10);
	assert_true(size >= 512 << 10 && size <= 2 << 20);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(formula),
		cmocka_unit_test(edges),
		cmocka_unit_test(here),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
