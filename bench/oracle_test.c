/*
 * oracle_test.c -- one of three clients stalls for 10 s, in virtual time: for how long do the
 * others' snapshots stall?
 *
 * Both schemes, side by side. The greatest age that may be met is reckoned here from the parts that
 * the oracle's README names, not taken from what the bench once printed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
/* cmocka after the four above */
#include "oracle_internal.h"

#include <cmocka.h>

enum {
	LEASE_MS = 100,
	/* A look counts for a quarter of a lease at most, so none is late here; a tick is 2 ms, a
	 * sweep 5, a recovery less than 5, and a hole needs two rounds of promises that no dead
	 * owner holds down. */
	RECOVERY_MS = 20,
	BETWEEN_LOOKS_MS = 10,
	BETWEEN_COMMITS_MS = 10, /* three clients, 200 commits a second each */
};

static void
play(enum oracle_moment m, enum tso_scheme s, uint64_t seed, struct oracle_result *out)
{
	const struct oracle_params p = { .common = { .fabric = NET_SIM },
		.clients = 3,
		.rate = 200,
		.lease_ms = LEASE_MS,
		.before_s = 0.5,
		.pause_s = 10,
		.after_s = 0.5,
		.seed = seed };
	struct nam_err err = { 0 };
	struct oracle_run *r = bench_oracle_run_new(&p, s, m);
	assert_non_null(r);
	nam_status st = bench_oracle_sim(r, &err);
	if (st != NAM_OK)
		fail_msg("%s", err.text);
	assert_true(bench_oracle_judge(r, out));
	printf("%-11s %-6s seed %u: age %.1f ms before, %.1f ms then; missing %.1f ms; %s\n",
	    bench_oracle_scheme_names[s], bench_oracle_moment_names[m], (unsigned)seed, out->age_before_ms,
	    out->age_ms, out->missing_ms, out->shut_out ? "fenced" : "came back");
	assert_int_equal(out->wrong, 0);
	/* Two clients, a look every 10 ms: none was lost but what a lease takes. */
	assert_true(out->looks > 2 * 1000);
	/* Before the pause both schemes are as fresh as looks and commits allow. */
	assert_true(out->age_before_ms < BETWEEN_LOOKS_MS + BETWEEN_COMMITS_MS + 1);
	free(out->bin);
	bench_oracle_run_free(r);
}

static void
test_claimed(void **state)
{
	(void)state;
	struct oracle_result o;
	for (uint64_t seed = 1; seed <= 3; seed++)
		for (unsigned m = 0; m < ORACLE_MOMENTS; m++) {
			play((enum oracle_moment)m, TSO_CLAIM, seed, &o);
			bool rest = m == ORACLE_AT_REST;
			double most =
			    BETWEEN_LOOKS_MS + BETWEEN_COMMITS_MS + (rest ? 1 : LEASE_MS + RECOVERY_MS);
			assert_true(o.age_ms < most);
			assert_true(o.missing_ms < most);
			/* It did stand in the way until its lease was over, else this shows
			 * nothing. */
			assert_true(rest || o.age_ms > LEASE_MS);
			assert_int_equal(o.shut_out, !rest);
			/* In the last second of the pause the two commit as if nothing were. */
			assert_true(o.row[o.rows - 2].commits_per_s > 2 * 200 * 0.95);
		}
}

static void
test_preassigned(void **state)
{
	(void)state;
	struct oracle_result o;
	for (uint64_t seed = 1; seed <= 3; seed++)
		for (unsigned m = 0; m < ORACLE_MOMENTS; m++) {
			play((enum oracle_moment)m, TSO_PREASSIGNED, seed, &o);
			assert_true(o.age_ms >= 9900);
			assert_true(o.missing_ms >= 9900);
			assert_false(o.shut_out);
			/* Only snapshots freeze: a client that needs no newer one goes on. */
			assert_true(o.row[o.rows - 2].commits_per_s > 2 * 200 * 0.95);
		}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_claimed),
		cmocka_unit_test(test_preassigned),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
