/*
 * sim_help.c -- processes that help with each other's queries, many seeds: on a fabric that tears,
 * delays and reorders, beside writers, by processes that stall and die at any verb.
 *
 *	sim_help [--seed N | --seeds A-B] [--verbose] [--unguarded] [--must-fail]
 *
 * --unguarded: a broken twin, in which recovery does not wait for helpers of the dead. --must-fail:
 * for twins, the exit code is the other one. One seed decides everything. Exit 1: an answer that no
 * snapshot gives, an error that a client could not expect, a helper that reads at a snapshot which
 * no pin keeps, a job that stays behind, something stuck, or a load in which nothing happened.
 */
#include "cluster.h"

#include <base/hash.h>
#include <base/log.h>
#include <base/rng.h>
#include <net/net.h>
#include <olap/olap.h>

#include <stdarg.h>
#include <time.h>

enum {
	PROCS = 4,
	ROWS = 1200,
	TOTAL = ROWS * 100,
	ASKS = 10,
	MOVES = 40,
	ROOT_BOARD = 7,
	PAUSE_NS = 20000000,
	LONG_PAUSE_NS = 300000000,
};

enum trouble { NONE, HELPERS_DIE, ALL_DIE, STALLS, LONG_STALLS, TROUBLES };
static const char *const trouble_name[TROUBLES] = { "nothing", "one dies", "all but one die", "stalls",
	"long stalls" };

struct member {
	struct run *run;
	unsigned p;
	struct sql_scout *scout;
	bool scouting;
};

struct client {
	struct run *run;
	unsigned number, p;
	struct nam_rng dice;
	struct speaker me;
	bool lost;
};

struct run {
	struct cluster c;
	uint64_t seed;
	enum trouble trouble;
	struct member member[PROCS];
	struct client client[2 * PROCS];
	unsigned left; /* clients at work */
	atomic_bool stop;
	uint64_t asked, answered, moved, helped, kept;
};

struct total {
	uint64_t asked, answered, moved, helped, kept, crashes, fences, pauses, torn;
};

static bool verbose, unguarded, must_fail;
static struct sql_parser *parser;

/* ---- helpers ---- */

static void
scout(void *arg)
{
	struct member *m = arg;
	struct place *at = &m->run->c.place[m->p];
	const struct sql_scout_config cfg = {
		.at = { at->tw, at->cat, parser }, .stop = &m->run->stop, .greedy = true
	};
	m->scouting = true;
	if (sql_scout_open(&cfg, &m->scout) != NAM_OK)
		return;
	while (!atomic_load(&m->run->stop) && !net_sim_crashed(at->net) && !net_sim_shut(at->net)) {
		sql_scout_look(m->scout);
		net_sleep(at->w, 200000);
	}
	m->scouting = false;
}

/* What a helper reads at, some pin keeps: no process may take what lies below for garbage. */
static void
judge_pins(struct run *r)
{
	for (unsigned p = 0; p < PROCS; p++) {
		struct member *m = &r->member[p];
		uint64_t at = m->scout != NULL ? sql_scout_reads_at(m->scout) : 0;
		if (at == 0 || net_sim_crashed(r->c.place[p].net) || net_sim_shut(r->c.place[p].net))
			continue;
		r->kept++;
		for (unsigned q = 0; q < PROCS; q++) {
			struct place *o = &r->c.place[q];
			if (o->db == NULL || net_sim_crashed(o->net) || net_sim_shut(o->net))
				continue;
			uint64_t mark = tso_watermark(txn_db_oracle(o->db));
			if (mark > at)
				cluster_bad(&r->c,
				    "process %u helps at snapshot %llu, and for process %u all below %llu is "
				    "garbage",
				    p, (unsigned long long)at, q, (unsigned long long)mark);
		}
	}
}

/* ---- clients ---- */

static bool
is_to_be_expected(const char *e)
{
	return strncmp(e, "40001", 5) == 0 || strncmp(e, "40P01", 5) == 0 || strncmp(e, "55P03", 5) == 0;
}

/* NULL = the statement failed. */
static const char *
say(struct client *k, const char *text)
{
	struct run *r = k->run;
	if (k->lost)
		return NULL;
	const char *a = speaker_ask(&k->me, text), *e = answer_error(a);
	if (net_sim_crashed(r->c.place[k->p].net) || net_sim_shut(r->c.place[k->p].net)) {
		k->lost = true;
		return NULL;
	}
	if (e == NULL)
		return a;
	bool out = strncmp(e, "08007", 5) == 0 || strncmp(e, "58030", 5) == 0 || strncmp(e, "40003", 5) == 0;
	k->lost = k->lost || (out && strncmp(e, "40003", 5) != 0);
	bool may = r->trouble != NONE;
	if (!is_to_be_expected(e) && !(may && out))
		cluster_bad(&r->c, "client %u: %s: %s", k->number, text, a);
	return NULL;
}

/* Each answer is the same at each snapshot. */
static const struct {
	const char *ask, *want;
} invariant[] = {
	{ "SELECT sum(v), count(*) FROM acct", "120000|1200; SELECT 1" },
	{ "SELECT sum(s), sum(n) FROM (SELECT g, sum(v) s, count(*) n FROM acct GROUP BY g) x",
	    "120000|1200; SELECT 1" },
	{ "SELECT sum(v), count(*), max(name) FROM acct JOIN grp ON g = grp.id", "120000|1200|g6; SELECT 1" },
	{ "SELECT sum(v), count(*) FROM acct WHERE EXISTS (SELECT 1 FROM grp WHERE id = g)",
	    "120000|1200; SELECT 1" },
	{ "SELECT sum(v), count(*) FROM acct WHERE g <= (SELECT max(id) FROM grp)", "120000|1200; SELECT 1" },
	{ "SELECT sum(v), sum(n) / 1200 - 1000, count(*) FROM acct JOIN (SELECT g, count(*) * 7000 n FROM "
	  "acct "
	  "WHERE g < 3 GROUP BY g) x ON acct.g = x.g WHERE acct.g < 0",
	    "~|~|0; SELECT 1" },
	{ "SELECT count(*), sum(n) FROM (SELECT a.id, count(*) n FROM acct a JOIN acct b ON a.id = b.id "
	  "GROUP BY "
	  "a.id) x",
	    "1200|1200; SELECT 1" },
};

/* At one snapshot the answer with help is that without. */
static const char *const twice[] = {
	"SELECT g, sum(v), min(v), max(v), count(*) FROM acct GROUP BY g ORDER BY g",
	"SELECT id, v FROM acct ORDER BY v DESC, id LIMIT 7",
	"SELECT name, sum(v) FROM acct JOIN grp ON g = grp.id WHERE v <> 100 GROUP BY name ORDER BY name",
};

static void
ask_twice(struct client *k, const char *text)
{
	char with[4000];
	if (say(k, "BEGIN ISOLATION LEVEL REPEATABLE READ") == NULL)
		return;
	const char *a = say(k, text);
	snprintf(with, sizeof with, "%s", a != NULL ? a : "");
	if (a != NULL && say(k, "SET LOCAL namdb.parallel = 1") != NULL && (a = say(k, text)) != NULL) {
		if (strcmp(a, with) != 0)
			cluster_bad(
			    &k->run->c, "client %u: %s: with help %s, without %s", k->number, text, with, a);
		k->run->answered++;
	}
	if (!k->lost && sql_session_state(k->me.sql) != 'I')
		say(k, "ROLLBACK");
}

static void
asker(void *arg)
{
	struct client *k = arg;
	struct run *r = k->run;
	bool open = speaker_open(&k->me, &r->c, k->p);
	if (open)
		say(k, k->number % 2 ? "SET namdb.parallel_rows = 0; SET namdb.help = on"
				     : "SET namdb.parallel_rows = 0; SET namdb.help = wait");
	for (unsigned i = 0; open && i < ASKS && !k->lost && !r->c.bad; i++) {
		enum {
			INVARIANTS = sizeof invariant / sizeof *invariant,
			TWICE = sizeof twice / sizeof *twice
		};
		unsigned q = (unsigned)nam_rng_below(&k->dice, INVARIANTS + TWICE);
		r->asked++;
		if (q >= INVARIANTS) {
			ask_twice(k, twice[q - INVARIANTS]);
		} else {
			const char *a = say(k, invariant[q].ask);
			if (a != NULL && strcmp(a, invariant[q].want) != 0)
				cluster_bad(&r->c, "client %u: %s: %s", k->number, invariant[q].ask, a);
			r->answered += a != NULL;
		}
		if (!k->lost)
			net_sleep(r->c.place[k->p].w, nam_rng_below(&k->dice, 500000));
	}
	speaker_close(&k->me);
	r->left--;
}

static void
writer(void *arg)
{
	struct client *k = arg;
	struct run *r = k->run;
	char text[200];
	bool open = speaker_open(&k->me, &r->c, k->p);
	for (unsigned i = 0; open && i < MOVES && !k->lost && !r->c.bad; i++) {
		unsigned a = 1 + (unsigned)nam_rng_below(&k->dice, ROWS), b = 1 + (a + 400) % ROWS;
		snprintf(text, sizeof text,
		    "UPDATE acct SET v = v + CASE WHEN id = %u THEN 1 ELSE -1 END WHERE id IN (%u, %u)", a, a,
		    b);
		r->moved += say(k, text) != NULL;
		if (!k->lost)
			net_sleep(r->c.place[k->p].w, nam_rng_below(&k->dice, 300000));
	}
	speaker_close(&k->me);
	r->left--;
}

/* ---- a run ---- */

static bool
setup(struct cluster *c)
{
	static const char *const text[] = { "CREATE TABLE grp (id int PRIMARY KEY, name text)",
		"INSERT INTO grp SELECT i, 'g' || i FROM generate_series(0, 6) i",
		"CREATE TABLE acct (id int PRIMARY KEY, g int, v int, pad text)",
		"INSERT INTO acct SELECT i, i % 7, 100, repeat('x', 300) FROM generate_series(1, 1200) i",
		"ANALYZE acct", "ANALYZE grp" };
	struct speaker s;
	bool ok = speaker_open(&s, c, 0);
	for (unsigned i = 0; ok && i < sizeof text / sizeof *text; i++) {
		const char *a = speaker_ask(&s, text[i]);
		if (answer_error(a) != NULL)
			cluster_bad(c, "%s: %s", text[i], a);
	}
	speaker_close(&s);
	return ok && !c->bad;
}

static void
judge_end(struct run *r)
{
	struct tables_found found;
	struct speaker s;
	net_addr board = { 0 };
	uint64_t owner[64];
	unsigned n = 0;
	struct place *at = &r->c.place[0];
	if (!speaker_open(&s, &r->c, 0))
		return;
	speaker_ask(&s, "SET namdb.parallel = 1");
	const char *a = speaker_ask(&s, invariant[0].ask);
	if (strcmp(a, invariant[0].want) != 0)
		cluster_bad(&r->c, "at the end: %s", a);
	speaker_close(&s);
	tables_judge(&r->c, 0, &found);
	/* A helper that has died without news is fenced after a lease. */
	bool read = net_read1(at->w, txn_db_root(at->db, ROOT_BOARD), &board.bits, 8, NULL) == NAM_OK &&
		    board.bits != 0;
	for (unsigned i = 0; read && i < 100; i++) {
		read = olap_board_owners(at->w, board, owner, 64, &n) == NAM_OK;
		if (n == 0)
			break;
		net_sleep(at->w, OLAP_LEASE_NS / 20);
	}
	if (!read || n > 0)
		cluster_bad(&r->c, "jobs of %u processes are left", n);
}

static void
die(struct run *r, unsigned p, uint64_t most)
{
	struct net *n = r->c.place[p].net;
	net_sim_crash_at(r->c.sim, n, net_sim_verbs(n) + 1 + nam_rng_below(net_rng(r->c.place[0].w), most));
}

static bool
wait_all(struct run *r)
{
	struct cluster *c = &r->c;
	struct net_worker *w = c->place[0].w;
	uint64_t until = net_now_ns(w) + UINT64_C(200000000000);
	for (bool busy = true; busy;) {
		net_sleep(w, 200000);
		cluster_bury(c);
		judge_pins(r);
		busy = r->left > 0;
		if (!busy)
			atomic_store(&r->stop, true);
		for (unsigned p = 0; p < PROCS; p++)
			busy |= r->member[p].scouting;
		if (net_now_ns(w) > until) {
			cluster_bad(c, "%u clients are stuck", r->left);
			return false;
		}
	}
	return true;
}

static void
body(struct cluster *c)
{
	struct run *r = c->arg;
	struct net_worker *w = c->place[0].w;
	for (unsigned p = 0; p < PROCS; p++)
		if (!cluster_join(c, p, false))
			return;
	if (!setup(c))
		return;
	net_sim_faults(c->sim, true);
	for (unsigned p = 0; p < PROCS; p++) {
		r->member[p] = (struct member){ .run = r, .p = p };
		cluster_start(c, p, scout, &r->member[p]);
	}
	r->left = 2 * PROCS;
	for (unsigned i = 0; i < 2 * PROCS; i++) {
		struct client *k = &r->client[i];
		*k = (struct client){ .run = r, .number = i, .p = i % PROCS };
		nam_rng_init(&k->dice, r->seed * 2 * PROCS + i);
		cluster_start(c, k->p, i < PROCS ? asker : writer, k);
	}
	if (r->trouble == HELPERS_DIE)
		die(r, 1 + (unsigned)nam_rng_below(net_rng(w), PROCS - 1), 4000);
	for (unsigned p = 1; r->trouble == ALL_DIE && p < PROCS; p++)
		die(r, p, 6000);
	if (!wait_all(r))
		return;
	net_sim_faults(c->sim, false);
	for (unsigned p = 1; p < PROCS; p++)
		net_sim_crash_at(c->sim, c->place[p].net, 0);
	/* All processes go on, and dead ones are recovered. */
	net_sleep(w, 2 * LONG_PAUSE_NS);
	for (unsigned p = 0; p < PROCS; p++) {
		r->helped += sql_scout_helped(r->member[p].scout);
		sql_scout_close(r->member[p].scout);
	}
	if (!c->bad)
		judge_end(r);
}

static bool
run_seed(uint64_t seed, struct total *total)
{
	struct run *r = calloc(1, sizeof *r);
	struct nam_rng d;
	if (r == NULL)
		return false;
	nam_rng_init(&d, nam_mix(seed) ^ 0x6e1b);
	r->seed = seed;
	r->trouble = (enum trouble)(seed % TROUBLES);
	r->c.parser = parser;
	r->c.body = body;
	r->c.arg = r;
	r->c.faults_later = true;
	r->c.unguarded = unguarded;
	const struct net_sim_config cfg = { .seed = seed,
		.nodes = 3,
		.region_bytes = 64 << 20,
		.tear_permille = (uint32_t)nam_rng_below(&d, 1000),
		.reorder_permille = (uint32_t)nam_rng_below(&d, 1000),
		.delay_permille = (uint32_t)nam_rng_below(&d, 100),
		.pause_ppm = r->trouble == STALLS        ? 500
			     : r->trouble == LONG_STALLS ? 200
							 : 0,
		.pause_ns = r->trouble == LONG_STALLS ? LONG_PAUSE_NS : PAUSE_NS,
		.sheltered = 1 };
	bool good = cluster_run(&r->c, &cfg, PROCS);
	if (!good || verbose)
		printf("%s: seed %llu (%s): %llu asked, %llu answered, %llu helped, %llu moves\n",
		    good ? "ok" : "FAILED", (unsigned long long)seed, trouble_name[r->trouble],
		    (unsigned long long)r->asked, (unsigned long long)r->answered,
		    (unsigned long long)r->helped, (unsigned long long)r->moved);
	total->asked += r->asked;
	total->answered += r->answered;
	total->moved += r->moved;
	total->helped += r->helped;
	total->kept += r->kept;
	total->torn += r->c.stats.reads_torn;
	total->pauses += r->c.stats.pauses;
	total->crashes += r->c.stats.crashes;
	total->fences += r->c.stats.fences;
	if (r->c.ended)
		free(r);
	return good;
}

static bool
summary(uint64_t seeds, uint64_t failed, const struct total *t)
{
	printf(
	    "%llu seeds: %llu failed, %.1f s of processor time\n"
	    "  %llu questions asked, %llu answered, %llu times a process took part, %llu looks at its pin; "
	    "%llu rows "
	    "moved; %llu READs torn, %llu pauses, %llu processes died, %llu connections ended by fences\n",
	    (unsigned long long)seeds, (unsigned long long)failed, (double)clock() / CLOCKS_PER_SEC,
	    (unsigned long long)t->asked, (unsigned long long)t->answered, (unsigned long long)t->helped,
	    (unsigned long long)t->kept, (unsigned long long)t->moved, (unsigned long long)t->torn,
	    (unsigned long long)t->pauses, (unsigned long long)t->crashes, (unsigned long long)t->fences);
	if (seeds >= 20 && failed == 0 &&
	    (t->answered == 0 || t->helped == 0 || t->kept == 0 || t->crashes == 0 || t->pauses == 0)) {
		printf("FAILED: something never happened\n");
		return false;
	}
	return failed == 0;
}

int
main(int argc, char **argv)
{
	uint64_t first = 1, last = 50, failed = 0;
	struct total total = { 0 };
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--verbose") == 0)
			verbose = true;
		else if (strcmp(argv[i], "--unguarded") == 0)
			unguarded = true;
		else if (strcmp(argv[i], "--must-fail") == 0)
			must_fail = true;
		else if (!cluster_seeds(argc, argv, &i, &first, &last)) {
			fprintf(stderr, "usage: sim_help [--seed N | --seeds A-B] [--verbose] [--unguarded] "
					"[--must-fail]\n");
			return 2;
		}
	}
	if (sql_parser_open(0, &parser) != NAM_OK)
		return 1;
	sql_parser_blocks(parser);
	nam_log_level_set(NAM_LOG_ERROR);
	for (uint64_t seed = first; seed <= last && failed < (must_fail ? 1 : 5); seed++) {
		failed += !run_seed(seed, &total);
		fflush(stdout);
	}
	bool good = summary(last - first + 1, failed, &total);
	sql_parser_close(parser);
	printf("sim_help: seeds %llu-%llu: %s\n", (unsigned long long)first, (unsigned long long)last,
	    good ? "ok" : "FAILED");
	return must_fail ? failed == 0 : !good;
}
