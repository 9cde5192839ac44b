/*
 * sim_sql.c -- catalog changes during traffic, many seeds: tables are made, changed, dropped and
 * made again while others read and write them, on a fabric that tears, delays and reorders, by
 * processes that stall and die.
 *
 *	sim_sql [--seed N | --seeds A-B] [--twice] [--verbose] [--trace]
 *
 * One seed decides everything. Exit 1: an answer that its definition cannot give (changes.h), an
 * error that a client could not expect, something stuck, or a load in which nothing happened.
 */
#include "changes.h"
#include "cluster.h"

#include <base/hash.h>
#include <base/log.h>
#include <base/rng.h>
#include <net/net.h>

#include <stdarg.h>
#include <time.h>

enum { CLIENTS = 6, OPS = 40, PROCS_MAX = 4, PAUSE_NS = 20000000, LONG_PAUSE_NS = 300000000, TEXT = 400 };

enum kind { READ, READ_TWICE, INSERT, COUNT, CREATE, DROP, ADD, REMOVE, REWRITE, ANALYZE, KINDS };
static const char *const kind_name[KINDS] = { "read", "read in one snapshot", "insert", "count", "create",
	"drop", "add a column", "drop a column", "another type", "analyze" };

struct shape {
	unsigned procs;
	uint32_t tear, reorder, delay, pause, crash;
	bool long_pauses;
};

struct client {
	struct run *run;
	unsigned number, p;
	struct nam_rng dice;
	struct speaker me;
	struct since since;
	bool lost; /* its process is out of the cluster */
};

struct run {
	struct cluster c;
	uint64_t seed;
	struct shape shape;
	struct model m;
	struct client client[CLIENTS];
	unsigned left; /* clients at work */
	uint64_t done[KINDS], refused[KINDS], unknown[KINDS];
	uint64_t recovered;
};

struct total {
	uint64_t done[KINDS], refused[KINDS], unknown[KINDS], answers, shown, recovered;
	struct net_sim_stats sim;
};

static bool trace, verbose;
static struct sql_parser *parser;

static struct shape
shape_of(uint64_t seed)
{
	struct nam_rng d;
	nam_rng_init(&d, nam_mix(seed) ^ 0xca7a106);
	struct shape s = { .procs = 2 + (unsigned)nam_rng_below(&d, PROCS_MAX - 1),
		.tear = (uint32_t)nam_rng_below(&d, 1000),
		.reorder = (uint32_t)nam_rng_below(&d, 1000) };
	s.delay = nam_rng_below(&d, 2) ? 1 + (uint32_t)nam_rng_below(&d, 200) : 0;
	s.pause = nam_rng_below(&d, 2) ? 100 + (uint32_t)nam_rng_below(&d, 2000) : 0;
	s.long_pauses = s.pause != 0 && nam_rng_below(&d, 3) == 0;
	s.crash = nam_rng_below(&d, 2) ? 500 + (uint32_t)nam_rng_below(&d, 8000) : 0;
	return s;
}

/* ---- asking ---- */

/* Errors of a client that meets others at work. */
static bool
is_to_be_expected(const char *e)
{
	static const char *const fine[] = { "40001", "40P01", "55P03", "42P01", "42703", "42P07", "42701" };
	for (size_t i = 0; i < sizeof fine / sizeof *fine; i++)
		if (strncmp(e, fine[i], 5) == 0)
			return true;
	return false;
}

/* NULL = the statement failed; *how says whether that is sure. */
static const char *
say(struct client *k, enum outcome *how, const char *text)
{
	struct run *r = k->run;
	if (k->lost) {
		*how = UNKNOWN;
		return NULL;
	}
	r->m.now++;
	const char *a = speaker_ask(&k->me, text), *e = answer_error(a);
	*how = DONE;
	/* A process that died before it answered has promised nothing: its commit may show or
	 * not. */
	if (net_sim_crashed(r->c.place[k->p].net)) {
		k->lost = true;
		*how = UNKNOWN;
		return NULL;
	}
	if (e == NULL)
		return a;
	/* Its outcome is unknown (08007), or its process has been fenced, is dead, or cannot reach
	 * a node. */
	bool out = strncmp(e, "08007", 5) == 0 || strncmp(e, "58030", 5) == 0;
	/* Committed, and not known to be visible everywhere (40003): the session goes on. */
	bool unseen = strncmp(e, "40003", 5) == 0;
	bool may = r->shape.crash != 0 || r->shape.long_pauses;
	*how = out || unseen ? UNKNOWN : REFUSED;
	k->lost = k->lost || out;
	if (!is_to_be_expected(e) && !(may && (unseen || (out && k->p != 0))))
		cluster_bad(&r->c, "client %u: %s: %s", k->number, text, a);
	return NULL;
}

/* Ends a block that failed, one way or another. */
static void
leave_block(struct client *k)
{
	enum outcome how;
	if (!k->lost && sql_session_state(k->me.sql) != 'I')
		say(k, &how, "ROLLBACK");
}

__attribute__((format(printf, 3, 4))) static const char *
sayf(struct client *k, enum outcome *how, const char *fmt, ...)
{
	char text[TEXT];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	return say(k, how, text);
}

/* Looks at a table, and judges. Returns its tag; 0 = there is none, or it is not known. */
static unsigned
look(struct client *k, unsigned name, enum outcome *how)
{
	struct run *r = k->run;
	const char *a = sayf(k, how, "SELECT * FROM t%u", name);
	if (a != NULL)
		return model_judge(&r->m, name, &k->since, a);
	if (*how == REFUSED && strncmp(k->me.t.err.sqlstate, "42P01", 5) == 0)
		model_judge(&r->m, name, &k->since, NULL);
	return 0;
}

/* ---- what clients do ---- */

static enum outcome
do_read(struct client *k, unsigned name)
{
	enum outcome how;
	look(k, name, &how);
	return how;
}

/* Twice in one snapshot, with what the catalog says between. */
static enum outcome
do_read_twice(struct client *k, unsigned name)
{
	struct run *r = k->run;
	enum outcome how;
	if (say(k, &how, "BEGIN ISOLATION LEVEL REPEATABLE READ") == NULL)
		return how;
	unsigned tag = look(k, name, &how);
	char first[4096], columns[1024] = "";
	snprintf(first, sizeof first, "%s", k->me.t.text);
	const char *a = how == DONE
			    ? sayf(k, &how,
				  "SELECT string_agg(c.name, '|' ORDER BY c.number) FROM nam_columns c, "
				  "nam_tables t WHERE c.table_id = t.id AND t.name = 't%u'",
				  name)
			    : NULL;
	if (a != NULL && (a = strchr(a, ':')) != NULL)
		snprintf(columns, sizeof columns, "%.*s", (int)strcspn(a + 1, ";"), a + 1);
	if (a != NULL && tag != 0 &&
	    (strlen(columns) != strcspn(first, ":") || memcmp(columns, first, strlen(columns)) != 0))
		cluster_bad(&r->c, "t%u has columns %s, and shows %.200s", name, columns, first);
	if (how == DONE && strlen(first) < sizeof first - 1) {
		net_sleep(r->c.place[k->p].w, nam_rng_below(&k->dice, 400000));
		unsigned again = look(k, name, &how);
		if (how != UNKNOWN && (again != tag || (tag != 0 && strcmp(first, k->me.t.text) != 0)))
			cluster_bad(
			    &r->c, "t%u in one snapshot: %.200s, and then %.200s", name, first, k->me.t.text);
	}
	if (how == DONE)
		say(k, &how, "COMMIT");
	leave_block(k);
	return how;
}

static enum outcome
do_insert(struct client *k, unsigned name)
{
	struct model *m = &k->run->m;
	enum outcome how;
	if (m->rows + 1 == ROWS_MAX)
		return REFUSED;
	unsigned id = ++m->rows;
	struct planted *row = &m->row[id];
	row->life.begun = ++m->now;
	const char *a = sayf(k, &how,
	    "INSERT INTO t%u (id, tag) SELECT %u, tag FROM t%u WHERE id = 0 RETURNING tag", name, id, name);
	if (a != NULL) {
		row->tag = strncmp(a, "tag:", 4) == 0 ? (unsigned)strtoul(a + 4, NULL, 10) : 0;
		if (row->tag == 0 || row->tag > m->tags || m->tag[row->tag].name != name)
			cluster_bad(&k->run->c, "t%u had no row to go by: %s", name, a);
	}
	life_came(m, &row->life, how);
	return how;
}

static enum outcome
do_count(struct client *k, unsigned name)
{
	struct model *m = &k->run->m;
	enum outcome how;
	/* Which table it will be is not known before. */
	for (unsigned i = 1; i <= m->tags; i++)
		m->tag[i].counting += m->tag[i].name == name;
	unsigned before = m->tags;
	const char *a = sayf(k, &how, "UPDATE t%u SET n = n + 1 WHERE id = 0 RETURNING tag", name);
	unsigned tag = a != NULL && strncmp(a, "tag:", 4) == 0 ? (unsigned)strtoul(a + 4, NULL, 10) : 0;
	if (a != NULL && (tag == 0 || tag > m->tags || m->tag[tag].name != name))
		cluster_bad(&k->run->c, "t%u has no row to count in: %s", name, a);
	for (unsigned i = 1; i <= before && how != UNKNOWN; i++)
		m->tag[i].counting -= m->tag[i].name == name && i != tag;
	if (tag > before)
		m->tag[tag].counting++;
	if (tag != 0)
		m->tag[tag].counted++;
	m->now++;
	return how;
}

static enum outcome
do_create(struct client *k, unsigned name)
{
	struct model *m = &k->run->m;
	enum outcome how;
	if (m->tags + 1 == TAGS_MAX)
		return REFUSED;
	unsigned tag = ++m->tags;
	m->tag[tag] = (struct tag){ .name = name, .life.begun = ++m->now };
	/* Additions that are under way may find it. */
	for (unsigned i = 0; i < CLIENTS; i++)
		m->tag[tag].counting += CLIENTS;
	bool as = nam_rng_below(&k->dice, 3) == 0;
	say(k, &how, "BEGIN");
	if (how == DONE && as)
		sayf(k, &how, "CREATE TABLE t%u AS SELECT 0 AS id, %u AS tag, 0 AS n", name, tag);
	if (how == DONE && as)
		sayf(k, &how, "ALTER TABLE t%u ADD PRIMARY KEY (id), ALTER n SET DEFAULT 0", name);
	if (how == DONE && !as)
		sayf(k, &how, "CREATE TABLE t%u (id int PRIMARY KEY, tag int, n int DEFAULT 0)", name);
	if (how == DONE && !as)
		sayf(k, &how, "INSERT INTO t%u VALUES (0, %u)", name, tag);
	if (how == DONE)
		say(k, &how, "COMMIT");
	life_came(m, &m->tag[tag].life, how);
	leave_block(k);
	return how;
}

/* Begins a change. Returns the tag of the table; 0 = there is none. */
static unsigned
begin_change(struct client *k, unsigned name, enum outcome *how)
{
	const char *a = say(k, how, "BEGIN ISOLATION LEVEL REPEATABLE READ");
	if (a != NULL)
		a = sayf(k, how, "SELECT tag FROM t%u WHERE id = 0", name);
	unsigned tag = a != NULL && strncmp(a, "tag:", 4) == 0 ? (unsigned)strtoul(a + 4, NULL, 10) : 0;
	if (a != NULL && (tag == 0 || tag > k->run->m.tags || k->run->m.tag[tag].name != name))
		cluster_bad(&k->run->c, "t%u has no row: %s", name, a);
	return tag;
}

static enum outcome
do_drop(struct client *k, unsigned name)
{
	struct model *m = &k->run->m;
	enum outcome how;
	unsigned tag = begin_change(k, name, &how);
	if (tag != 0) {
		m->tag[tag].life.going++;
		sayf(k, &how, "DROP TABLE t%u", name);
		if (how == DONE)
			say(k, &how, "COMMIT");
		life_went(m, &m->tag[tag].life, how);
	}
	leave_block(k);
	return how;
}

static enum outcome
do_add(struct client *k, unsigned name)
{
	struct model *m = &k->run->m;
	enum outcome how;
	unsigned tag = begin_change(k, name, &how);
	if (tag != 0 && m->marks + 1 < MARKS_MAX) {
		unsigned c = ++m->marks;
		m->mark[c] = (struct mark){ .tag = tag, .life.begun = ++m->now };
		sayf(k, &how, "ALTER TABLE t%u ADD COLUMN c%u int DEFAULT %u", name, c, c);
		const char *a =
		    how == DONE ? sayf(k, &how, "SELECT c%u FROM t%u WHERE id = 0", c, name) : NULL;
		if (a != NULL && strtoul(strchr(a, ':') + 1, NULL, 10) != c)
			cluster_bad(&k->run->c, "t%u shows a new column c%u as %s", name, c, a);
		if (how == DONE)
			say(k, &how, "COMMIT");
		life_came(m, &m->mark[c].life, how);
	}
	leave_block(k);
	return how;
}

static enum outcome
do_remove(struct client *k, unsigned name)
{
	struct model *m = &k->run->m;
	enum outcome how;
	unsigned tag = begin_change(k, name, &how), c = m->marks;
	while (tag != 0 && c > 0 &&
	       (m->mark[c].tag != tag || m->mark[c].life.there == 0 || m->mark[c].life.gone != 0))
		c--;
	if (tag != 0 && c > 0) {
		m->mark[c].life.going++;
		sayf(k, &how, "ALTER TABLE t%u DROP COLUMN c%u", name, c);
		if (how == DONE)
			say(k, &how, "COMMIT");
		life_went(m, &m->mark[c].life, how);
	}
	leave_block(k);
	return how;
}

/* Rewrites all rows; their values stay. */
static enum outcome
do_rewrite(struct client *k, unsigned name)
{
	enum outcome how;
	sayf(k, &how, "ALTER TABLE t%u ALTER n TYPE %s", name, nam_rng_below(&k->dice, 2) ? "bigint" : "int");
	return how;
}

static enum outcome
do_analyze(struct client *k, unsigned name)
{
	enum outcome how;
	sayf(k, &how, "ANALYZE t%u", name);
	return how;
}

static void
client_main(void *arg)
{
	static enum outcome (*const act[KINDS])(struct client * k, unsigned name) = { do_read, do_read_twice,
		do_insert, do_count, do_create, do_drop, do_add, do_remove, do_rewrite, do_analyze };
	static const unsigned odds[KINDS] = { 20, 10, 25, 15, 12, 5, 6, 3, 2, 2 };
	struct client *k = arg;
	struct run *r = k->run;
	bool open = speaker_open(&k->me, &r->c, k->p);
	enum outcome how;
	k->me.t.names = true;
	if (open)
		say(k, &how, "SET namdb.visibility = 'cluster'");
	for (unsigned i = 0; open && i < OPS && !k->lost && !r->c.bad; i++) {
		unsigned at = (unsigned)nam_rng_below(&k->dice, 100), kind = 0;
		while (at >= odds[kind])
			at -= odds[kind++];
		unsigned name = (unsigned)nam_rng_below(&k->dice, NAMES);
		model_since(&r->m, &k->since);
		how = act[kind](k, name);
		r->done[kind] += how == DONE;
		r->refused[kind] += how == REFUSED;
		r->unknown[kind] += how == UNKNOWN;
		if (r->m.wrong[0] != 0 && !r->c.bad)
			cluster_bad(&r->c, "client %u, %s: %s", k->number, kind_name[kind], r->m.wrong);
		if (!k->lost)
			net_sleep(r->c.place[k->p].w, nam_rng_below(&k->dice, 200000));
	}
	speaker_close(&k->me);
	r->left--;
}

/* ---- a run ---- */

static void
judge_end(struct run *r)
{
	struct tables_found found;
	struct client *k = &r->client[0];
	enum outcome how;
	if (!speaker_open(&k->me, &r->c, 0))
		return;
	k->me.t.names = true;
	k->lost = false;
	model_since(&r->m, &k->since);
	for (unsigned name = 0; name < NAMES; name++)
		look(k, name, &how);
	if (r->m.wrong[0] != 0)
		cluster_bad(&r->c, "at the end: %s", r->m.wrong);
	tables_judge(&r->c, 0, &found);
	catalog_judge(&k->me);
	speaker_close(&k->me);
}

static void
body(struct cluster *c)
{
	struct run *r = c->arg;
	struct net_worker *w = c->place[0].w;
	for (unsigned p = 0; p < c->procs; p++)
		if (!cluster_join(c, p, false))
			return;
	net_sim_faults(c->sim, true);
	for (unsigned p = 1; p < c->procs && r->shape.crash != 0; p++) {
		struct net *n = c->place[p].net;
		net_sim_crash_at(c->sim, n, net_sim_verbs(n) + 1 + nam_rng_below(net_rng(w), r->shape.crash));
	}
	r->left = CLIENTS;
	for (unsigned i = 0; i < CLIENTS; i++) {
		struct client *k = &r->client[i];
		*k = (struct client){ .run = r, .number = i, .p = i % c->procs };
		nam_rng_init(&k->dice, r->seed * CLIENTS + i);
		cluster_start(c, k->p, client_main, k);
	}
	for (uint64_t until = net_now_ns(w) + UINT64_C(60000000000); r->left > 0;) {
		net_sleep(w, 200000);
		cluster_bury(c);
		if (net_now_ns(w) > until) {
			cluster_bad(c, "%u clients are stuck", r->left);
			return;
		}
	}
	net_sim_faults(c->sim, false);
	for (unsigned p = 1; p < c->procs; p++)
		net_sim_crash_at(c->sim, c->place[p].net, 0);
	net_sleep(w, 2 * LONG_PAUSE_NS); /* all processes go on, and dead ones have been
					  * recovered */
	for (unsigned p = 0; p < c->procs; p++) {
		struct txn_stats st;
		txn_worker_stats(c->place[p].tw, &st);
		r->recovered += st.recovered;
	}
	judge_end(r);
}

static bool
run_seed(uint64_t seed, struct total *total, uint64_t *hash)
{
	struct run *r = calloc(1, sizeof *r);
	if (r == NULL)
		return false;
	r->seed = seed;
	r->shape = shape_of(seed);
	const struct shape *s = &r->shape;
	r->c.parser = parser;
	r->c.body = body;
	r->c.arg = r;
	r->c.faults_later = true;
	const struct net_sim_config cfg = { .seed = seed,
		.nodes = 3,
		.region_bytes = 64 << 20,
		.tear_permille = s->tear,
		.reorder_permille = s->reorder,
		.delay_permille = s->delay,
		.pause_ppm = s->pause,
		.pause_ns = s->long_pauses ? LONG_PAUSE_NS : PAUSE_NS,
		.sheltered = s->long_pauses ? 1 : 0,
		.trace = trace };
	bool good = cluster_run(&r->c, &cfg, s->procs);
	*hash = r->c.hash;
	if (!good || verbose)
		printf("%s: seed %llu (%u processes, tear %u, reorder %u, late %u, pauses %u%s, crashes %u), "
		       "%llu answers "
		       "judged, hash %016llx\n",
		    good ? "ok" : "FAILED", (unsigned long long)seed, s->procs, s->tear, s->reorder, s->delay,
		    s->pause, s->long_pauses ? " (long)" : "", s->crash, (unsigned long long)r->m.answers,
		    (unsigned long long)*hash);
	for (unsigned i = 0; i < KINDS; i++) {
		total->done[i] += r->done[i];
		total->refused[i] += r->refused[i];
		total->unknown[i] += r->unknown[i];
	}
	total->answers += r->m.answers;
	total->shown += r->m.shown;
	total->recovered += r->recovered;
	net_sim_stats_add(&total->sim, &r->c.stats);
	if (r->c.ended)
		free(r);
	return good;
}

static bool
summary(uint64_t first, uint64_t last, uint64_t failed, const struct total *t)
{
	bool empty = t->answers == 0;
	printf("seeds %llu-%llu: %llu failed, %.1f s of processor time\n", (unsigned long long)first,
	    (unsigned long long)last, (unsigned long long)failed, (double)clock() / CLOCKS_PER_SEC);
	printf("  %llu answers judged, with %llu rows; %llu verbs, %llu READs torn, %llu late, %llu pauses, "
	       "%llu "
	       "processes died, %llu connections ended by fences, %llu owners recovered\n",
	    (unsigned long long)t->answers, (unsigned long long)t->shown, (unsigned long long)t->sim.verbs,
	    (unsigned long long)t->sim.reads_torn, (unsigned long long)t->sim.delays,
	    (unsigned long long)t->sim.pauses, (unsigned long long)t->sim.crashes,
	    (unsigned long long)t->sim.fences, (unsigned long long)t->recovered);
	for (unsigned i = 0; i < KINDS; i++) {
		printf("  %s: %llu done, %llu refused, %llu unknown\n", kind_name[i],
		    (unsigned long long)t->done[i], (unsigned long long)t->refused[i],
		    (unsigned long long)t->unknown[i]);
		empty = empty || t->done[i] == 0;
	}
	if (last - first >= 19 && (empty || t->sim.delays == 0 || t->sim.pauses == 0 || t->sim.crashes == 0 ||
				      t->sim.fences == 0 || t->recovered == 0)) {
		printf("FAILED: something never happened\n");
		return false;
	}
	return failed == 0;
}

int
main(int argc, char **argv)
{
	uint64_t first = 1, last = 100, failed = 0;
	bool twice = false;
	struct total total = { 0 };
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--trace") == 0)
			trace = true;
		else if (strcmp(argv[i], "--verbose") == 0)
			verbose = true;
		else if (strcmp(argv[i], "--twice") == 0)
			twice = true;
		else if (!cluster_seeds(argc, argv, &i, &first, &last)) {
			fprintf(stderr,
			    "usage: sim_sql [--seed N | --seeds A-B] [--twice] [--verbose] [--trace]\n");
			return 2;
		}
	}
	if (sql_parser_open(0, &parser) != NAM_OK)
		return 1;
	sql_parser_blocks(parser);
	nam_log_level_set(NAM_LOG_ERROR);
	for (uint64_t seed = first; seed <= last && failed < 10; seed++) {
		uint64_t hash = 0, again = 0;
		bool good = run_seed(seed, &total, &hash);
		if (good && twice) {
			struct total other = { 0 };
			good = run_seed(seed, &other, &again) && hash == again;
			if (!good)
				printf("FAILED: seed %llu played again differs: %016llx, %016llx\n",
				    (unsigned long long)seed, (unsigned long long)hash,
				    (unsigned long long)again);
		}
		failed += !good;
		fflush(stdout);
	}
	bool good = summary(first, last, failed, &total);
	sql_parser_close(parser);
	printf("sim_sql: seeds %llu-%llu: %s\n", (unsigned long long)first, (unsigned long long)last,
	    good ? "ok" : "FAILED");
	return !good;
}
