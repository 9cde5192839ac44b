/* stats.c -- why statements failed; what the sessions of all workers did, as Prometheus's lines. */
#include "pgwire_internal.h"

#include <base/clock.h>

#include <stdio.h>
#include <string.h>

enum { PG_EPOCH_S = 946684800 };

static uint64_t
get(const _Atomic uint64_t *from)
{
	return atomic_load_explicit(from, memory_order_relaxed);
}

/* ---- failures ------------------------------------------------------------------------ */

/* A class of SQLSTATEs, or one. */
static const struct cause {
	const char *state, *name;
} causes[CN_PG_CAUSES] = {
	[CN_PG_CONFLICT] = { "40001", "conflict" },
	[CN_PG_DEADLOCK] = { "40P01", "deadlock" },
	[CN_PG_LOCK_TIMEOUT] = { "55P03", "lock_timeout" },
	[CN_PG_CANCELED] = { "57", "canceled" },
	[CN_PG_CONSTRAINT] = { "23", "constraint" },
	[CN_PG_DATA] = { "22", "data" },
	[CN_PG_SYNTAX] = { "42", "syntax" },
	[CN_PG_MEMORY] = { "53", "memory" },
	[CN_PG_STORAGE] = { "58", "storage" },
	[CN_PG_DOUBT] = { "40003", "doubt" },
	[CN_PG_OTHER] = { "", "other" },
};

void
cn_pg_count_failure(struct cn_pg_conn *c, const char *sqlstate)
{
	unsigned k = 0;
	while (strncmp(causes[k].state, sqlstate, strlen(causes[k].state)) != 0)
		k++;
	sql_stat_add(&c->at->stats.failed[k], 1);
}

/* ---- metrics --------------------------------------------------------------------------- */

struct seen {
	unsigned state[CN_PG_WAITS_FAILED + 1];
	int64_t oldest_us;
};

static bool
see(void *to, const struct sql_activity *a)
{
	struct seen *s = to;
	bool failed = strcmp(a->state, "idle in transaction (aborted)") == 0;
	s->state[a->state[0] == 'a' ? CN_PG_ACTIVE
		 : failed           ? CN_PG_WAITS_FAILED
		 : a->state[4] != 0 ? CN_PG_WAITS_IN_BLOCK
				    : CN_PG_WAITS]++;
	if (a->xact_us != 0 && (s->oldest_us == 0 || a->xact_us < s->oldest_us))
		s->oldest_us = a->xact_us;
	return true;
}

static void
session_lines(struct cn_pg *pg, struct cn_lines *out)
{
	struct seen s = { 0 };
	pg->peers.each(pg, see, &s);
	cn_line(out,
	    "# HELP namdb_sessions Sessions of clients, by what they do.\n# TYPE namdb_sessions gauge\n");
	cn_line(out, "namdb_sessions{state=\"active\"} %u\n", s.state[CN_PG_ACTIVE]);
	cn_line(out, "namdb_sessions{state=\"idle\"} %u\n", s.state[CN_PG_WAITS]);
	cn_line(out, "namdb_sessions{state=\"idle_in_transaction\"} %u\n", s.state[CN_PG_WAITS_IN_BLOCK]);
	cn_line(out, "namdb_sessions{state=\"failed_transaction\"} %u\n", s.state[CN_PG_WAITS_FAILED]);
	int64_t now = nam_clock_wall_us() - INT64_C(1000000) * PG_EPOCH_S;
	cn_line(out,
	    "# HELP namdb_snapshot_age_seconds Age of the oldest open transaction of a session; 0 = none.\n"
	    "# TYPE namdb_snapshot_age_seconds gauge\nnamdb_snapshot_age_seconds %.6f\n",
	    s.oldest_us == 0 || s.oldest_us > now ? 0.0 : (double)(now - s.oldest_us) / 1e6);
}

static void
sum_of(struct cn_pg *pg, size_t offset, struct cn_lines *out, const char *name, const char *labels)
{
	uint64_t sum = 0;
	for (unsigned i = 0; i < pg->workers; i++)
		sum += get(
		    (const _Atomic uint64_t *)(const void *)((const char *)&pg->worker[i].stats + offset));
	cn_line(out, "%s%s %llu\n", name, labels, (unsigned long long)sum);
}

static void
time_lines(struct cn_pg *pg, size_t offset, struct cn_lines *out, const char *name, const char *help)
{
	uint64_t bucket[CN_PG_BUCKETS] = { 0 }, sum_us = 0, all = 0;
	for (unsigned i = 0; i < pg->workers; i++) {
		const struct cn_pg_times *t = (const void *)((const char *)&pg->worker[i].stats + offset);
		for (unsigned k = 0; k < CN_PG_BUCKETS; k++)
			bucket[k] += get(&t->bucket[k]);
		sum_us += get(&t->sum_us);
	}
	cn_line(out, "# HELP %s %s\n# TYPE %s histogram\n", name, help, name);
	for (unsigned k = 0; k < CN_PG_BUCKETS; k++) {
		all += bucket[k];
		if (k + 1 < CN_PG_BUCKETS)
			cn_line(out, "%s_bucket{le=\"%.6f\"} %llu\n", name, (double)(UINT64_C(1) << k) / 1e6,
			    (unsigned long long)all);
	}
	cn_line(out, "%s_bucket{le=\"+Inf\"} %llu\n%s_sum %.6f\n%s_count %llu\n", name,
	    (unsigned long long)all, name, (double)sum_us / 1e6, name, (unsigned long long)all);
}

void
cn_pg_metrics(void *arg, struct cn_lines *out)
{
	struct cn_pg *pg = arg;
	char label[64];
#define SUM(name, type, help, field, labels)                                                                 \
	(cn_line(out, "# HELP " name " " help "\n# TYPE " name " " type "\n"),                               \
	    sum_of(pg, offsetof(struct cn_pg_stats, field), out, name, labels))
	session_lines(pg, out);
	SUM("namdb_sessions_total", "counter", "Sessions begun.", began, "");
	SUM("namdb_transactions_total", "counter", "Transactions ended.", sql.commits, "{end=\"commit\"}");
	sum_of(pg, offsetof(struct cn_pg_stats, sql.rollbacks), out, "namdb_transactions_total",
	    "{end=\"rollback\"}");
	SUM("namdb_statement_retries_total", "counter", "Statements that ran again after a lost race.",
	    sql.retries, "");
	SUM("namdb_slow_statements_total", "counter", "Statements that log_min_duration_statement logged.",
	    slow, "");
#undef SUM
	cn_line(out, "# HELP namdb_failures_total Statements that failed, by cause.\n"
		     "# TYPE namdb_failures_total counter\n");
	for (unsigned k = 0; k < CN_PG_CAUSES; k++) {
		snprintf(label, sizeof label, "{cause=\"%s\"}", causes[k].name);
		sum_of(pg, offsetof(struct cn_pg_stats, failed) + k * sizeof(uint64_t), out,
		    "namdb_failures_total", label);
	}
	time_lines(pg, offsetof(struct cn_pg_stats, statements), out, "namdb_statement_seconds",
	    "Time of statements, without the network's.");
	time_lines(pg, offsetof(struct cn_pg_stats, blocks), out, "namdb_transaction_seconds",
	    "Time of transactions, from first statement to last answer.");
}
