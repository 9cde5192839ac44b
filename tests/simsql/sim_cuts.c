/*
 * sim_cuts.c -- a database with a log, over cuts of the whole cluster, many seeds: SQL clients
 * work, processes stall and die, the power goes at any moment or at any call of the operating
 * system, also while the database is restored; then the cluster starts again with what the disk has
 * kept.
 *
 *	sim_cuts [--seed N | --seeds A-B | --minutes N] [--copies N] [--twice] [--twin NAME]
 *	         [--verbose] [--trace]
 *
 * One seed decides everything: CUT_LIVES lives of the cluster. Each restart is judged (cuts.h):
 * what was answered is there, what was told undone is not, what is there is closed under "has read"
 * and in the order of answers, numbers are not given out again; rows, keys, indexes and the catalog
 * agree. Storage nodes also end alone (cuts_nodes.c), and backups are made and restored
 * (cuts_backup.c). A seed is played in a process of its own, which leaves what a cut has left. Exit
 * 1: something was wrong, something was stuck, or a fault never fired.
 */
#include "cuts_run.h"

#include <base/fault.h>
#include <base/hash.h>
#include <base/log.h>
#include <catalog/restore.h>
#include <wal/testing/faulty.h>

#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LIVES = CUT_LIVES, PROCS_LEAST = 2, NODES = 2, STACK = 1 << 20, REGION = 48 << 20 };
enum { SEGMENT = CUT_SEGMENT, COPIES_EVERY = 3 /* seeds: one has two copies */ };
#define US       UINT64_C(1000)
#define MS       UINT64_C(1000000)
#define TRIES_NS (10000 * MS) /* of a process that comes back */

/* Of all seeds; in memory that the seeds' processes share. */
struct totals {
	uint64_t lives, judged, committed, checkpoints, restores, restorers_died, acked, lost_off,
	    unknown_here, unknown_lost, undone, recovered, cut_while_restoring, cut_at_calls, full, failed,
	    copied, disks_lost, lost_said, refused, falls, resets, opened_again, rejudged, backups,
	    backups_broken, backups_judged, until;
	struct net_sim_stats sim;
	uint64_t hash; /* of the seed played last */
};

static struct totals *totals;
static bool trace, verbose, twin;
static unsigned copies_forced; /* 0 = the seed says how many copies the log has */

static bool
choose_twin(const char *name)
{
#ifdef NAM_TWINS
	twin = nam_fault_choose(name);
#else
	(void)name;
	fprintf(stderr, "this build has no twins: ./go twins makes one that has\n");
#endif
	return twin;
}

/* With a space behind it. */
static const char *
twin_name(void)
{
	static char name[80];
#ifdef NAM_TWINS
	snprintf(name, sizeof name, "%s ", nam_fault_name[nam_fault_on]);
#endif
	return name;
}

static const char *
copies_name(void)
{
	static char name[32];
	if (copies_forced != 0)
		snprintf(name, sizeof name, "--copies %u ", copies_forced);
	return name;
}

/* ---- what a life is like ---- */

static struct cut_shape
shape_of(uint64_t seed, unsigned number)
{
	struct nam_rng d;
	nam_rng_init(&d, nam_mix(seed * LIVES + number) ^ 0xc7);
	struct cut_shape s = { .procs =
				   PROCS_LEAST + (unsigned)nam_rng_below(&d, CLUSTER_PROCS - PROCS_LEAST - 2),
		.tear = (uint32_t)nam_rng_below(&d, 1000),
		.reorder = (uint32_t)nam_rng_below(&d, 1000),
		.ops = 5 + (unsigned)nam_rng_below(&d, 30),
		.power = nam_rng_below(&d, 4) != 0,
		.plain = nam_rng_below(&d, 3) != 0,
		.rings = nam_mix(seed ^ (uint64_t)number << 32) % 2 == 0 };
	s.delay = nam_rng_below(&d, 2) ? 1 + (uint32_t)nam_rng_below(&d, 200) : 0;
	s.pause = nam_rng_below(&d, 2) ? 100 + (uint32_t)nam_rng_below(&d, 2000) : 0;
	s.long_pauses = s.pause != 0 && nam_rng_below(&d, 3) == 0;
	s.crash = nam_rng_below(&d, 2) ? 200 + (uint32_t)nam_rng_below(&d, 6000) : 0;
	s.crash_open = nam_rng_below(&d, 3) == 0 ? 1 + (uint32_t)nam_rng_below(&d, 1500) : 0;
	s.disk_ns = nam_rng_below(&d, 3) == 0 ? 0 : nam_rng_below(&d, 400) * US;
	unsigned how = (unsigned)nam_rng_below(&d, 8);
	if (how < 4)
		s.cut_ns = (1 + nam_rng_below(&d, 30000)) * US;
	else if (how < 7)
		s.cut_call = 1 + nam_rng_below(&d, 400);
	if (nam_rng_below(&d, 8) == 0)
		s.room = 1 + nam_rng_below(&d, 2 * SEGMENT);
	if (nam_rng_below(&d, 8) == 0)
		s.fail_sync = 1 + nam_rng_below(&d, 100);
	if (number == 0)
		s.fail_sync = 0;
	s.breaks = nam_rng_below(&d, 3) == 0 ? 20 + (uint32_t)nam_rng_below(&d, 500) : 0;
	/* The first life makes its tables in peace. */
	s.early = number > 0 && nam_rng_below(&d, 2);
	if (number == 0)
		s.crash_open = s.cut_call = 0;
	if (number < LIVES && nam_rng_below(&d, 3) == 0) {
		s.falls = 1 + (unsigned)nam_rng_below(&d, CUT_FALLS);
		s.room = s.fail_sync = 0;
		s.cut_ns = nam_rng_below(&d, 2) ? (20 + nam_rng_below(&d, 400)) * MS : 0;
	}
	s.backs_up = number < LIVES && nam_rng_below(&d, 3) == 0;
	return s;
}

static unsigned
disks_of(uint64_t seed)
{
	return copies_forced != 0 ? copies_forced : nam_mix(seed ^ 0xc0) % COPIES_EVERY == 0 ? 2 : 1;
}

static unsigned
nodes_of(const struct cut_run *r)
{
	return r->disks > NODES ? r->disks : NODES;
}

/* ---- processes ---- */

struct member {
	struct cut_run *run;
	unsigned p;
};

/* It ends, as a compute node that cannot open the database does, or whose storage nodes have
 * ended. */
static void
leave(struct cut_run *r, unsigned p)
{
	struct place *at = &r->c.place[p];
	if (at->tw != NULL)
		txn_worker_close(at->tw);
	cat_close(at->cat);
	if (at->db != NULL)
		txn_db_close(at->w, at->db);
	at->cat = NULL;
	at->tw = NULL;
	at->db = NULL;
}

/* The database is not there. Beside nodes that end it comes back later, and then it must be. */
static void
not_open(struct cut_run *r, unsigned p, nam_status st, const struct nam_err *err)
{
	const struct cut_shape *s = &r->shape;
	bool faults = s->fail_sync != 0 || s->room != 0 || s->long_pauses || s->breaks;
	uint64_t now = net_sim_now_ns(r->c.sim);
	if (verbose)
		printf("    process %u: %s %s\n", p, nam_status_text(st), err->text);
	r->refused += r->mistaken && st == NAM_REFUSED;
	if (r->tried_ns[p] == 0)
		r->tried_ns[p] = now;
	bool late = !cut_nodes_pending(r) && now - r->tried_ns[p] > TRIES_NS;
	if (!faults && !r->mistaken && (r->falls == 0 || late))
		cluster_bad(
		    &r->c, "process %u cannot open the database: %s %s", p, nam_status_text(st), err->text);
}

/* *ended: it has ended by itself. */
static bool
open_database(struct cut_run *r, unsigned p, bool *ended)
{
	struct place *at = &r->c.place[p];
	struct txn_config cfg = { .vector = 4096, .ptr_cache_entries = 1024, .lease_ms = 100 };
	struct nam_err err = { 0 };
	bool restorer = false, restores = false;
	struct cat_restored restored;
	*ended = false;
	nam_status st = txn_db_open(at->w, &cfg, &at->db, &err);
	if (st == NAM_OK)
		sql_guard_helpers(at->db);
	if (st == NAM_OK)
		st = txn_worker_open(at->db, at->w, &at->tw);
	if (st == NAM_OK)
		st = txn_life(at->tw, NULL, &restorer, &restores, &err);
	if (st == NAM_OK)
		st = restorer ? cat_open_empty(at->tw, &at->cat) : cat_open(at->tw, &at->cat);
	if (st == NAM_OK && restores)
		st = cat_restore(at->cat, at->tw, &(struct cat_restoring){ 0 }, &restored, &err);
	/* The last rows may be on their way. */
	if (restores && r->shape.breaks != 0 && nam_rng_below(net_rng(at->w), 2))
		net_sim_break(r->c.sim, at->net, 1 + (unsigned)nam_rng_below(net_rng(at->w), nodes_of(r)));
	if (st == NAM_OK && restorer)
		st = txn_life_done(at->tw, NULL, &err);
	if (st != NAM_OK && restorer)
		txn_life_quit(at->tw);
	if (net_sim_crashed(at->net)) {
		r->restorers_died += restorer;
		return false;
	}
	r->restores += st == NAM_OK && restores;
	if (st == NAM_OK) {
		r->tried_ns[p] = 0;
		return true;
	}
	not_open(r, p, st, &err);
	*ended = true;
	return false;
}

static bool
set_up(struct cut_run *r, unsigned p)
{
	static const char *const text[] = {
		"SET namdb.visibility = 'cluster'",
		"CREATE TABLE acc (k int PRIMARY KEY, n bigint, who bigint, prev bigint, bal bigint)",
		"CREATE TABLE item (k int PRIMARY KEY, id bigint, body text)",
		"CREATE UNIQUE INDEX item_id ON item (id)",
		"CREATE TABLE child (id bigint PRIMARY KEY, k int REFERENCES item (k))",
		"CREATE SEQUENCE q",
		"CREATE SEQUENCE r",
		"SELECT nextval('q')",
		"SELECT nextval('r')",
		"CREATE TABLE done (id bigint PRIMARY KEY)",
		"INSERT INTO acc SELECT i, 0, 0, 0, 0 FROM generate_series(0, 5) i",
	};
	struct speaker me;
	bool ok = speaker_open(&me, &r->c, p);
	for (unsigned i = 0; ok && i < sizeof text / sizeof *text; i++) {
		const char *a = speaker_ask(&me, text[i]);
		/* A connection that broke before the peace began is found to be broken now. */
		if (answer_error(a) != NULL && strstr(a, "58030") != NULL)
			a = speaker_ask(&me, text[i]);
		ok = answer_error(a) == NULL;
		/* Rings of a connection that broke before may be found to be dead only now. */
		r->over = !ok && r->shape.breaks != 0;
		if (!ok && !r->over)
			cluster_bad(&r->c, "%s: %s", text[i], a);
	}
	speaker_close(&me);
	return ok;
}

/* The first one that has opened the database: nothing goes wrong but a cut. */
static void
judge(struct cut_run *r, unsigned p, uint64_t of)
{
	struct cut_seen *seen = calloc(1, sizeof *seen);
	struct tables_found found;
	if (seen == NULL)
		abort();
	r->judging = true;
	r->judging_of = of;
	net_sim_faults(r->c.sim, false);
	for (unsigned i = 1; i <= r->shape.procs; i++)
		net_sim_crash_at(r->c.sim, r->c.place[i].net, 0);
	if (!r->m->made) {
		if (set_up(r, p)) {
			r->m->made = true;
			r->m->q_high = 1;
			cut_r_is(r->m, 1);
		}
	} else {
		cut_read_all(r, p, seen);
		tables_judge(&r->c, p, &found);
		if (!r->over && !r->c.bad && !cut_judge(r->m, seen))
			cluster_bad(&r->c, "%s", r->m->wrong);
	}
	free(seen);
	if (r->over)
		return;
	if (r->shape.room != 0)
		cut_disks_room(r);
	r->rejudged += r->judged;
	r->judging = false;
	r->judged = true;
	r->judged_of = of;
	if (r->judged_at == 0)
		r->judged_at = net_sim_now_ns(r->c.sim);
	net_sim_faults(r->c.sim, true);
}

static void
start_clients(struct cut_run *r, unsigned p)
{
	for (unsigned i = 0; i < CUT_CLIENTS; i++) {
		struct cut_client *k = &r->client[i];
		if (1 + i % r->shape.procs != p)
			continue;
		*k = (struct cut_client){ .run = r, .number = i, .p = p };
		nam_rng_init(&k->dice, nam_mix(r->seed * LIVES + r->number) + i + 1000 * r->rejudged);
		r->left++;
		cluster_start(&r->c, p, cut_client, k);
	}
}

/* Its clients have come to their ends, and its backup. */
static bool
is_idle(const struct cut_run *r, unsigned p)
{
	const struct cut_backup *k = &r->backup;
	bool idle = k->p != p || k->whole || k->broken;
	for (unsigned i = 0; i < CUT_CLIENTS; i++)
		idle = idle && (1 + i % r->shape.procs != p || r->client[i].over);
	return idle;
}

/* Beside the clients of the first process that has the database open. */
static void
start_backup(struct cut_run *r, unsigned p)
{
	if (!r->shape.backs_up || r->backup.p != 0)
		return;
	r->backup.p = p;
	r->left++;
	cluster_start(&r->c, p, cut_backup_main, r);
}

/* With the database open, to the end of its life. */
static void
live(struct cut_run *r, unsigned p)
{
	struct place *at = &r->c.place[p];
	const uint64_t of = net_node_of(at->net, txn_db_home(at->db))->incarnation;
	if (r->judged_of != of && !(r->judging && r->judging_of == of) && !cut_life_over(r, p))
		judge(r, p, of);
	while (r->judged_of != of && !net_sim_crashed(at->net) && !cut_life_over(r, p))
		net_sleep(at->w, 100 * US);
	if (r->judged_of != of)
		return;
	if (r->shape.crash != 0 && p > 1) {
		uint64_t verbs = net_sim_verbs(at->net) + 1 + nam_rng_below(net_rng(at->w), r->shape.crash);
		net_sim_crash_at(r->c.sim, at->net, verbs);
	}
	start_backup(r, p);
	start_backup(r, p);
	start_clients(r, p);
	r->opened++;
	while (r->shape.falls > 0 && !net_sim_crashed(at->net) &&
	       (!is_idle(r, p) || (cut_nodes_pending(r) && !cut_life_over(r, p))))
		net_sleep(at->w, 200 * US);
}

static void
member_main(void *arg)
{
	struct member *me = arg;
	struct cut_run *r = me->run;
	struct place *at = &r->c.place[me->p];
	bool ended;
	net_sleep(at->w, nam_rng_below(net_rng(at->w), 3000) * US);
	bool open = open_database(r, me->p, &ended);
	if (open)
		live(r, me->p);
	if (r->shape.falls > 0 && open && !net_sim_crashed(at->net) && cut_life_over(r, me->p))
		ended = true;
	if (ended) {
		leave(r, me->p);
		bool died = net_sim_crashed(at->net);
		net_sim_crash(r->c.sim, at->net);
		bool late =
		    r->tried_ns[me->p] != 0 && net_sim_now_ns(r->c.sim) - r->tried_ns[me->p] > TRIES_NS;
		if (r->falls > 0 && !died && !late)
			r->again_ns[me->p] =
			    net_sim_now_ns(r->c.sim) + nam_rng_below(net_rng(at->w), 20 * MS);
	}
	free(me);
	r->left--;
}

void
cut_member_start(struct cut_run *r, unsigned p)
{
	struct member *m = malloc(sizeof *m);
	if (m == NULL)
		abort();
	*m = (struct member){ r, p };
	r->left++;
	cluster_start(&r->c, p, member_main, m);
}

/* ---- a life ---- */

/* Watches; has no part in the database. */
static void
watch_main(void *arg)
{
	struct cut_run *r = arg;
	struct net_worker *w = r->c.place[0].w;
	for (unsigned p = 1; p <= r->shape.procs; p++) {
		if (r->shape.crash_open != 0 && (p < r->shape.procs))
			net_sim_crash_at(
			    r->c.sim, r->c.place[p].net, 1 + nam_rng_below(net_rng(w), r->shape.crash_open));
		cut_member_start(r, p);
	}
	/* Some seconds: restores and recoveries have their time. */
	bool busy = false;
	for (uint64_t until = net_now_ns(w) + 60000 * MS; (r->left > 0 || busy) && !r->c.bad;) {
		net_sleep(w, 200 * US);
		busy = cut_nodes_step(r);
		cluster_bury(&r->c);
		if (net_now_ns(w) > until) {
			cluster_bad(&r->c, "%u clients are stuck", r->left);
			break;
		}
	}
	/* Quiet for a while: what no client waits for is flushed. Or not. */
	if (nam_rng_below(net_rng(w), 2))
		net_sleep(w, nam_rng_below(net_rng(w), 400) * MS);
	r->over = true;
}

static bool
is_over(void *arg)
{
	struct cut_run *r = arg;
	uint64_t now = net_sim_now_ns(r->c.sim), from = r->shape.early ? r->begin_ns : r->judged_at;
	return r->over || r->c.bad || cut_disks_stopped(r) ||
	       (r->shape.cut_ns != 0 && from != 0 && now >= from + r->shape.cut_ns);
}

static void
count(struct cut_run *r)
{
	struct net_sim_stats s;
	net_sim_stats(r->c.sim, &s);
	totals->lives++;
	totals->committed += r->committed;
	totals->checkpoints += r->checkpoints;
	totals->restores += r->restores;
	totals->restorers_died += r->restorers_died;
	totals->full += r->full;
	totals->failed += r->failed;
	totals->cut_while_restoring += r->number > 0 && !r->judged;
	totals->cut_at_calls += cut_disks_stopped(r);
	totals->copied += r->disks > 1;
	totals->falls += r->falls;
	totals->resets += r->resets;
	totals->opened_again += r->opened_again;
	totals->rejudged += r->rejudged;
	net_sim_stats_add(&totals->sim, &s);
	for (unsigned p = 1; p <= r->shape.procs; p++) {
		struct txn_stats st;
		if (r->c.place[p].tw == NULL)
			continue;
		txn_worker_stats(r->c.place[p].tw, &st);
		totals->recovered += st.recovered;
	}
	totals->hash = nam_mix(totals->hash ^ net_sim_trace_hash(r->c.sim));
}

/* What is there in the last life is only looked at. */
static void
calm(struct cut_shape *s)
{
	s->ops = s->falls = 0;
	s->cut_ns = s->cut_call = s->crash_open = s->fail_sync = 0;
	s->room = 0;
	s->long_pauses = s->backs_up = false;
	s->pause = s->breaks = 0;
}

static void
show_life(const struct cut_run *r)
{
	const struct cut_shape *s = &r->shape;
	printf("  (crash %u, breaks %u, pause %u%s, late %u, disk %llu us, fail %llu, room %llu)\n", s->crash,
	    s->breaks, s->pause, s->long_pauses ? " long" : "", s->delay,
	    (unsigned long long)s->disk_ns / 1000, (unsigned long long)s->fail_sync,
	    (unsigned long long)s->room);
	printf("  life %u: %u processes, %u opened, judged %d, %u committed, %u checkpoints, %.1f ms, cut at "
	       "%s%s\n",
	    r->number, s->procs, r->opened, r->judged, r->committed, r->checkpoints,
	    (double)net_sim_now_ns(r->c.sim) / 1e6, cut_disks_stopped(r) ? "a call" : "a time",
	    s->power ? ", with its power" : "");
}

/* r has shape, model, disks, seed, number. */
static bool
play_run(struct cut_run *r, struct sql_parser *parser)
{
	uint64_t seed = r->seed;
	unsigned number = r->number;
	bool last = number == LIVES;
	r->c.parser = parser;
	r->c.arg = r;
	const struct cut_shape *s = &r->shape;
	const struct net_sim_config cfg = { .seed = nam_mix(seed * (LIVES + 1) + number),
		.nodes = nodes_of(r),
		.region_bytes = REGION,
		.tear_permille = s->tear,
		.reorder_permille = s->reorder,
		.delay_permille = s->delay,
		.pause_ppm = s->pause,
		.pause_ns = s->long_pauses ? 300 * MS : 20 * MS,
		.lose_ppm = s->breaks,
		.sheltered = 2,
		.trace = trace };
	cut_disks_begin(r);
	if (r->mistaken)
		r->shape.falls = 0;
	cut_nodes_begin(r, nodes_of(r));
	bool opened = cluster_open(&r->c, &cfg, 1 + s->procs, cut_disks_serve);
	if (opened) {
		cluster_start(&r->c, 0, watch_main, r);
		r->begin_ns = net_sim_now_ns(r->c.sim);
		if (!net_sim_run(r->c.sim, is_over, r) && !r->over)
			cluster_bad(&r->c, "all processes wait and nothing can happen any more");
	}
	if (!opened && r->over)
		r->c.bad = false;
	if (last && opened && !r->judged)
		cluster_bad(&r->c, "the database was not opened");
	count(r);
	if (verbose)
		show_life(r);
	cut_disks_end(r);
	totals->disks_lost += r->disks_lost;
	totals->lost_said += r->lost_said;
	totals->refused += r->refused;
	return !r->c.bad;
}

/* The backup of a life: a cluster of its own on a directory that is made out of it. */
static bool
play_backup(struct cut_run *of, struct sql_parser *parser)
{
	totals->backups += of->backup.whole;
	totals->backups_broken += of->backup.broken;
	if (!of->backup.whole)
		return true;
	struct cut_run *r = calloc(1, sizeof *r);
	struct cut_disk *disk = calloc(1, sizeof *disk);
	if (r == NULL || disk == NULL || (disk->dir = cut_backup_restore(of)) == NULL)
		return !of->c.bad;
	r->shape = (struct cut_shape){ .procs = PROCS_LEAST, .tear = 300, .reorder = 300, .power = true };
	r->m = of->backup.to;
	r->disk = disk;
	r->disks = 1;
	r->seed = of->seed;
	r->number = LIVES;
	bool good = play_run(r, parser);
	totals->backups_judged += r->judged;
	totals->until += of->backup.until != 0 && r->judged;
	if (!good)
		printf("  ... of the backup of life %u%s\n", of->number,
		    of->backup.until != 0 ? ", up to a moment" : "");
	return good;
}

static bool
play_life(
    struct cut_model *m, struct cut_disk *disk, uint64_t seed, unsigned number, struct sql_parser *parser)
{
	struct cut_run *r = calloc(1, sizeof *r);
	if (r == NULL)
		return false;
	r->shape = shape_of(seed, number);
	if (number == LIVES)
		calm(&r->shape);
	r->m = m;
	r->disk = disk;
	r->disks = disks_of(seed);
	r->shape.ill = r->disks > 1 ? (unsigned)(nam_mix(seed * LIVES + number) >> 20) % r->disks : 0;
	r->seed = seed;
	r->number = number;
	return play_run(r, parser) && play_backup(r, parser);
}

static bool
play_seed(uint64_t seed)
{
	struct sql_parser *parser;
	struct cut_model *m = calloc(1, sizeof *m);
	struct cut_disk disk[WAL_COPIES] = { 0 };
	bool made = true;
	for (unsigned i = 0; i < disks_of(seed); i++)
		made = (disk[i].dir = wal_faulty_open(seed + 1000003 * i)) != NULL && made;
	if (m == NULL || !made || sql_parser_open(0, &parser) != NAM_OK)
		return false;
	sql_parser_blocks(parser);
	m->next = 1;
	bool good = true;
	totals->hash = 0;
	/* Connections may break before any process has made the tables: nothing is to be judged. */
	for (unsigned i = 0; i <= LIVES && good && (i == 0 || m->made); i++)
		good = play_life(m, disk, seed, i, parser);
	totals->judged += m->judged;
	totals->acked += m->acked;
	totals->lost_off += m->lost_off;
	totals->unknown_here += m->unknown_here;
	totals->unknown_lost += m->unknown_lost;
	totals->undone += m->undone;
	printf("%s", !good ? "" : verbose ? "ok\n" : "");
	fflush(stdout);
	return good;
}

/* ---- seeds ---- */

/* What a cut leaves behind goes with the process. */
static bool
run_seed(uint64_t seed)
{
	int status = 0;
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0)
		_exit(play_seed(seed) ? 0 : 1);
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return false;
	if (WIFSIGNALED(status))
		printf("  seed %llu ended with signal %d\n", (unsigned long long)seed, WTERMSIG(status));
	/* A twin that crashed in the broken place has shown nothing. */
	if (WIFSIGNALED(status) && twin)
		exit(2);
	bool good = WIFEXITED(status) && WEXITSTATUS(status) == 0;
	if (!good)
		printf("FAILED: seed %llu\n", (unsigned long long)seed);
	return good;
}

/* A line of figures: names and numbers, to NULL. False: one of them is 0. */
struct figure {
	const char *name;
	uint64_t n;
};

static bool
show_figures(const struct figure *f)
{
	bool all = true;
	for (printf("  "); f->name != NULL; f++) {
		printf("%llu %s%s", (unsigned long long)f->n, f->name, f[1].name != NULL ? ", " : "\n");
		all = all && f->n > 0;
	}
	return all;
}

static bool
summary(uint64_t first, uint64_t last, uint64_t failed, double seconds)
{
	const struct totals *t = totals;
	uint64_t seeds = last - first + 1;
	const struct figure life[] = { { "lives", t->lives }, { "restarts judged", t->judged },
		{ "transactions committed", t->committed }, { "checkpoints", t->checkpoints },
		{ "restores", t->restores }, { "restorers died", t->restorers_died },
		{ "cuts before a restart was judged", t->cut_while_restoring },
		{ "cuts at a call of the disk", t->cut_at_calls }, { NULL, 0 } };
	const struct figure cut[] = { { "acknowledged before a cut", t->acked },
		{ "of them did not wait and were lost", t->lost_off },
		{ "without an answer were there", t->unknown_here },
		{ "without an answer were not", t->unknown_lost }, { "told undone", t->undone },
		{ "refused by a full disk", t->full }, { "by a disk that had failed", t->failed },
		{ NULL, 0 } };
	const struct figure copies[] = { { "lives with copies of the log", t->copied },
		{ "disks lost for good", t->disks_lost }, { "copies told lost", t->lost_said }, { NULL, 0 } };
	const struct figure sim[] = { { "verbs", t->sim.verbs }, { "READs torn", t->sim.reads_torn },
		{ "late", t->sim.delays }, { "pauses", t->sim.pauses },
		{ "connections broken", t->sim.breaks }, { "processes died", t->sim.crashes },
		{ "connections ended by fences", t->sim.fences }, { "owners recovered", t->recovered },
		{ NULL, 0 } };
	printf("seeds %llu-%llu: %llu failed, %.1f s, %.1f seeds/s\n", (unsigned long long)first,
	    (unsigned long long)last, (unsigned long long)failed, seconds, (double)seeds / seconds);
	const struct figure nodes[] = { { "storage nodes ended alone", t->falls },
		{ "reset their memory", t->resets },
		{ "processes opened the database again", t->opened_again },
		{ "restores judged beside processes that lived on", t->rejudged }, { NULL, 0 } };
	const struct figure backups[] = { { "backups", t->backups },
		{ "that were not made", t->backups_broken }, { "restored and judged", t->backups_judged },
		{ "of them up to a moment", t->until }, { NULL, 0 } };
	bool all = show_figures(life);
	all = show_figures(backups) && all;
	all = show_figures(nodes) && all;
	all = show_figures(cut) && all;
	all = show_figures(sim) && all;
	all = (copies_forced == 1 || show_figures(copies)) && all;
	printf("  %llu processes refused beside an old copy\n", (unsigned long long)t->refused);
	if (failed == 0 && seeds >= 100 && !all) {
		printf("FAILED: something never happened\n");
		return false;
	}
	return failed == 0;
}

int
main(int argc, char **argv)
{
	uint64_t first = 1, last = 20, failed = 0, minutes = 0, seed;
	bool twice = false;
	struct timespec a, b;
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--trace") == 0)
			trace = true;
		else if (strcmp(argv[i], "--verbose") == 0)
			verbose = true;
		else if (strcmp(argv[i], "--twice") == 0)
			twice = true;
		else if (strcmp(argv[i], "--minutes") == 0 && i + 1 < argc && atoi(argv[i + 1]) > 0)
			minutes = (uint64_t)atoi(argv[++i]);
		else if (strcmp(argv[i], "--copies") == 0 && i + 1 < argc && atoi(argv[i + 1]) > 0 &&
			 atoi(argv[i + 1]) <= WAL_COPIES)
			copies_forced = (unsigned)atoi(argv[++i]);
		else if (strcmp(argv[i], "--twin") == 0 && i + 1 < argc && choose_twin(argv[i + 1]))
			i++;
		else if (!cluster_seeds(argc, argv, &i, &first, &last)) {
			fprintf(stderr, "usage: sim_cuts [--seed N | --seeds A-B | --minutes N] [--copies N] "
					"[--twice] [--twin NAME] [--verbose] "
					"[--trace]\n");
			return 2;
		}
	}
	totals = mmap(NULL, sizeof *totals, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (totals == MAP_FAILED)
		return 1;
	nam_log_level_set(NAM_LOG_ERROR);
	clock_gettime(CLOCK_MONOTONIC, &a);
	if (minutes > 0) {
		first = nam_mix((uint64_t)time(NULL)) >> 24;
		last = UINT64_MAX;
	}
	for (seed = first; seed <= last && failed < (twin ? 1 : 10); seed++) {
		bool good = run_seed(seed);
		uint64_t hash = totals->hash;
		if (good && twice && (!run_seed(seed) || totals->hash != hash)) {
			printf("FAILED: seed %llu played again differs\n", (unsigned long long)seed);
			good = false;
		}
		if (!good && failed++ == 0)
			printf("first failing seed: %llu; play it again with: sim_cuts %s%s%s--seed %llu\n",
			    (unsigned long long)seed, twin ? "--twin " : "", twin ? twin_name() : "",
			    copies_name(), (unsigned long long)seed);
		clock_gettime(CLOCK_MONOTONIC, &b);
		if (minutes > 0 && (uint64_t)(b.tv_sec - a.tv_sec) >= 60 * minutes)
			last = seed;
	}
	clock_gettime(CLOCK_MONOTONIC, &b);
	double seconds = (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) / 1e9;
	bool good = summary(first, seed - 1, failed, seconds);
	printf("sim_cuts: seeds %llu-%llu: %s\n", (unsigned long long)first, (unsigned long long)seed - 1,
	    good ? "ok" : "FAILED");
	return !good;
}
