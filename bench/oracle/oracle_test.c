/*
 * oracle_test.c -- one of three clients stalls for 10 s, or is idle, slow or dead, in virtual time:
 * for how long do the others' snapshots stall?
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
#include "oracle.h"

#include <base/rounds.h>

#include <cmocka.h>

enum {
	LEASE_MS = 100,
	/* A look counts for a quarter of a lease at most, so none is late here; a tick is 2 ms, a
	 * sweep 5, a recovery less than 5, and a hole needs two rounds of promises that no dead
	 * owner holds down. */
	RECOVERY_MS = 20,
	BETWEEN_LOOKS_MS = 10,
	BETWEEN_COMMITS_MS = 10, /* three clients, 200 commits a second each */
	FRESH_MS = BETWEEN_LOOKS_MS + BETWEEN_COMMITS_MS + 1,
	OPEN_MS = 50,
	TOLD_MS = 1, /* from a death until a storage node reports it: sim.c */
	PAUSE_MS = 10000,
};

static struct oracle_params
params(uint64_t seed)
{
	return (struct oracle_params){ .common = { .fabric = NET_SIM },
		.clients = 3,
		.rate = 200,
		.look_ms = BETWEEN_LOOKS_MS,
		.lease_ms = LEASE_MS,
		.open_ms = OPEN_MS,
		.before_s = 0.5,
		.pause_s = 10,
		.after_s = 0.5,
		.seed = seed };
}

static void
play_with(const struct oracle_params *p, enum oracle_case k, enum tso_scheme s, struct oracle_result *out)
{
	struct nam_err err = { 0 };
	struct oracle_run *r = bench_oracle_run_new(p, s, k);
	assert_non_null(r);
	nam_status st = bench_oracle_sim(r, &err);
	if (st != NAM_OK)
		fail_msg("%s", err.text);
	assert_true(bench_oracle_judge(r, out));
	printf("%-11s seed %u, %s: age %.1f ms before, %.1f ms then, mean %.1f; missing %.1f ms; %.0f "
	       "commits/s; %s\n",
	    bench_oracle_scheme_names[s], (unsigned)p->seed, bench_oracle_case_text(k), out->age_before_ms,
	    out->age_ms, out->during.mean_age_ms, out->missing_ms, out->during.commits_per_s,
	    out->shut_out ? "did not come back" : "came back");
	assert_int_equal(out->wrong, 0);
	free(out->bin);
	bench_oracle_run_free(r);
}

static void
play(enum oracle_case k, enum tso_scheme s, uint64_t seed, struct oracle_result *out)
{
	const struct oracle_params p = params(seed);
	play_with(&p, k, s, out);
	/* Two clients, a look every 10 ms: none was lost but what a lease, or open claims, take. */
	assert_true(out->looks > 2 * 1000);
	/* Before the pause both schemes are as fresh as looks and commits allow. */
	assert_true(out->age_before_ms < FRESH_MS);
	/* A mean lies below the greatest, and no snapshot is fresher than half the way to the next
	 * look. */
	assert_true(out->during.mean_age_ms < out->during.age_ms);
	assert_true(out->during.mean_missing_ms < out->during.missing_ms);
	assert_true(out->during.mean_age_ms > BETWEEN_LOOKS_MS / 2);
}

static void
test_claimed(void **state)
{
	(void)state;
	struct oracle_result o;
	for (uint64_t seed = 1; seed <= nam_rounds(3, 2, 1); seed++)
		for (unsigned m = 0; m < ORACLE_MOMENTS; m++) {
			play((enum oracle_case)m, TSO_CLAIM, seed, &o);
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
	for (uint64_t seed = 1; seed <= nam_rounds(3, 2, 1); seed++)
		for (unsigned m = 0; m < ORACLE_MOMENTS; m++) {
			play((enum oracle_case)m, TSO_PREASSIGNED, seed, &o);
			assert_true(o.age_ms >= 9900);
			assert_true(o.missing_ms >= 9900);
			assert_false(o.shut_out);
			/* Only snapshots freeze: a client that needs no newer one goes on. */
			assert_true(o.row[o.rows - 2].commits_per_s > 2 * 200 * 0.95);
		}
}

/* Claimed: what another client does costs what that client has open, and no more. */
static void
test_claimed_others(void **state)
{
	(void)state;
	struct oracle_result o;
	for (uint64_t seed = 1; seed <= nam_rounds(3, 2, 1); seed++)
		for (unsigned k = ORACLE_NONE; k < ORACLE_CASES; k++) {
			play((enum oracle_case)k, TSO_CLAIM, seed, &o);
			double most = FRESH_MS;
			if (k == ORACLE_SLOW)
				most += OPEN_MS;
			else if (k == ORACLE_DEAD)
				most += TOLD_MS + RECOVERY_MS;
			assert_true(o.age_ms < most);
			assert_true(o.missing_ms < most);
			/* The slow one did stand in the way. */
			assert_true(k != ORACLE_SLOW || o.age_ms > OPEN_MS);
			assert_int_equal(o.shut_out, k == ORACLE_DEAD);
			assert_true(o.after.age_ms < most);
			/* What is offered is taken; while a claim is open, each of the others
			 * has one commit, and makes up for it afterwards. */
			assert_true(o.during.commits_per_s > 2 * 200 * 0.95);
			assert_true(o.after.commits_per_s > 2 * 200 * 0.95);
		}
}

/* The twin of the dead client above: if no storage node reports its death, others wait for its
 * lease. So the bound above is one that can be missed. */
static void
test_claimed_untold(void **state)
{
	(void)state;
	struct oracle_result o;
	for (uint64_t seed = 1; seed <= nam_rounds(3, 2, 1); seed++) {
		struct oracle_params p = params(seed);
		p.untold = true;
		play_with(&p, ORACLE_DEAD, TSO_CLAIM, &o);
		assert_true(o.age_ms > LEASE_MS);
		assert_true(o.age_ms < FRESH_MS + LEASE_MS + RECOVERY_MS);
		assert_true(o.shut_out);
	}
}

/* Dealt out: the prefix is where the client is that has done least. */
static void
test_preassigned_others(void **state)
{
	(void)state;
	struct oracle_result o;
	/* A client that commits for 1 % of the time it is watched: 99 % of it is missing. */
	const double rarely = PAUSE_MS * (1 - 2.0 / ORACLE_RARELY);
	for (uint64_t seed = 1; seed <= nam_rounds(3, 2, 1); seed++) {
		play(ORACLE_NONE, TSO_PREASSIGNED, seed, &o);
		assert_true(o.age_ms < FRESH_MS);
		assert_true(o.missing_ms < FRESH_MS + BETWEEN_COMMITS_MS);
		for (unsigned k = ORACLE_IDLE; k < ORACLE_CASES; k++) {
			bool rare = k == ORACLE_RARE || k == ORACLE_SLOW;
			play((enum oracle_case)k, TSO_PREASSIGNED, seed, &o);
			assert_true(o.during.missing_ms > (rare ? rarely : PAUSE_MS - 100));
			assert_true(o.during.mean_missing_ms > rarely / 2);
			/* Nor does it end: a client as fast as the others never makes up for
			 * what it was behind, and a dead one's ids stay open. */
			assert_true(o.after.mean_missing_ms > rarely);
			if (k == ORACLE_DEAD)
				assert_true(o.after.age_ms > PAUSE_MS + 400);
			if (k == ORACLE_IDLE || k == ORACLE_DEAD)
				assert_true(o.during.age_ms > PAUSE_MS - 100);
			assert_int_equal(o.shut_out, k == ORACLE_DEAD);
			assert_true(o.during.commits_per_s > 2 * 200 * 0.95);
		}
	}
}

/* On a model: as many commits as the machines allow, and snapshots every ms. */
static void
test_model(void **state)
{
	(void)state;
	struct oracle_result none[ORACLE_SCHEMES], o;
	struct oracle_params p = params(1);
	p.model = net_sim_model_find("fdr4x");
	p.rate = 0;
	p.look_ms = 1;
	p.open_ms = 5;
	p.before_s = p.after_s = 0.1;
	p.pause_s = 0.2;
	for (unsigned s = 0; s < ORACLE_SCHEMES; s++) {
		play_with(&p, ORACLE_NONE, (enum tso_scheme)s, &none[s]);
		/* A commit needs some round trips of 2 us each: snapshot, row and write set, claim
		 * or not, commit line; two clients. */
		assert_true(none[s].during.commits_per_s > 2 * 1e6 / 30);
		assert_true(none[s].during.commits_per_s < 2 * 1e6 / 4);
		assert_true(none[s].age_ms < 2);
	}
	/* Numbers dealt out save the FETCH_ADD's round trip. */
	assert_true(none[TSO_PREASSIGNED].during.commits_per_s > none[TSO_CLAIM].during.commits_per_s);
	play_with(&p, ORACLE_SLOW, TSO_CLAIM, &o);
	assert_true(o.age_ms < 1 + 5 + 1);
	/* A client waits for its own commits: so the slow one's time is theirs. */
	assert_true(o.during.commits_per_s < none[TSO_CLAIM].during.commits_per_s / 2);
	play_with(&p, ORACLE_DEAD, TSO_CLAIM, &o);
	assert_true(o.age_ms < 1 + TOLD_MS + RECOVERY_MS);
	assert_true(o.after.commits_per_s > none[TSO_CLAIM].after.commits_per_s * 0.95);
	play_with(&p, ORACLE_SLOW, TSO_PREASSIGNED, &o);
	assert_true(o.during.mean_missing_ms > 200 * 0.45);
	assert_true(o.during.commits_per_s > none[TSO_PREASSIGNED].during.commits_per_s * 0.95);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_claimed),
		cmocka_unit_test(test_preassigned),
		cmocka_unit_test(test_claimed_others),
		cmocka_unit_test(test_claimed_untold),
		cmocka_unit_test(test_preassigned_others),
		cmocka_unit_test(test_model),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
