/*
 * copies_test.c -- which storage nodes have copies of a log, and which one's database counts: each
 * choice and each refusal; then three simulated nodes over lives of the cluster: a restorer that
 * dies between two publications, a node that is lost, one that comes back.
 */
#include "cluster_format.h"
#include "copies.h"

#include <base/fault.h>
#include <base/log.h>
#include <txn/testing/fixture.h>
#include <wal/testing/faulty.h>

/* ---- the choice ---- */

enum { MOST = 5 };

static struct {
	struct txn_copy_seen seen[MOST];
	unsigned n;
	uint64_t region[WAL_COPIES];
	struct nam_err err;
} now;

static void
clear(void)
{
	memset(&now, 0, sizeof now);
}

/* A node; life 0: its log is empty. */
static struct wal_line *
node(unsigned region, uint64_t database, uint32_t life, uint64_t cluster)
{
	struct txn_copy_seen *s = &now.seen[now.n++];
	*s = (struct txn_copy_seen){ .region = region, .name = "there", .has_log = true, .lives = life };
	s->line.published = life;
	s->line.cluster = cluster;
	s->line.copies.database = database;
	s->line.copies.copy[0] = life != 0 ? region : 0;
	return &s->line;
}

static void
is_one_of(struct wal_line *l, unsigned a, unsigned b, unsigned c)
{
	const uint32_t copy[WAL_COPIES] = { a, b, c };
	memcpy(l->copies.copy, copy, sizeof copy);
}

static void
chosen(unsigned a, unsigned b, unsigned c)
{
	nam_status st = txn_copies_choose(now.seen, now.n, now.region, &now.err);
	if (st != NAM_OK)
		fail_msg("%s", now.err.text);
	assert_int_equal(now.region[0], a);
	assert_int_equal(now.region[1], b);
	assert_int_equal(now.region[2], c);
	clear();
}

static void
refused(const char *why)
{
	assert_int_equal(txn_copies_choose(now.seen, now.n, now.region, &now.err), NAM_REFUSED);
	if (strstr(now.err.text, why) == NULL)
		fail_msg("%s", now.err.text);
	clear();
}

static void
test_no_database(void **state)
{
	(void)state;
	clear();
	chosen(0, 0, 0);
	node(2, 0, 0, 0);
	chosen(2, 0, 0);
	for (unsigned i = 1; i <= 4; i++)
		node(i, 0, 0, 0);
	now.seen[1].has_log = false;
	chosen(1, 3, 4);
	for (unsigned i = 1; i <= 5; i++)
		node(i, 0, 0, 0);
	chosen(1, 2, 3);
}

static void
test_newest(void **state)
{
	(void)state;
	/* One copy: it is the first, and others join it. */
	clear();
	node(1, 0, 0, 0);
	node(3, 7, 4, 40);
	chosen(3, 1, 0);
	/* Two copies, and one that has missed the last publication. */
	is_one_of(node(1, 7, 4, 40), 1, 2, 0);
	now.seen[0].lives = 5;
	struct wal_line *l = node(2, 7, 5, 50);
	is_one_of(l, 1, 2, 0);
	l->copies.former[0] = (struct wal_former){ .cluster = 40, .life = 4 };
	node(3, 0, 0, 0);
	chosen(2, 1, 3);
	/* Copies stay where they are: members before others. */
	node(1, 0, 0, 0);
	is_one_of(node(2, 7, 4, 40), 2, 4, 5);
	node(3, 0, 0, 0);
	is_one_of(node(4, 7, 4, 40), 2, 4, 5);
	is_one_of(node(5, 7, 4, 40), 2, 4, 5);
	chosen(2, 4, 5);
	/* One that was a copy long ago. */
	node(1, 7, 2, 20);
	l = node(2, 7, 9, 90);
	l->copies.former[0] = (struct wal_former){ .cluster = 80, .life = 8 };
	l->copies.former[1] = (struct wal_former){ .cluster = 70, .life = 7 };
	l->copies.former[2] = (struct wal_former){ .cluster = 30, .life = 3 };
	refused("has gone on without the other"); /* it may have: that is forgotten */
	/* A first life that one of two has not published. */
	node(1, 0, 0, 0);
	now.seen[0].lives = 1;
	is_one_of(node(2, 7, 1, 10), 1, 2, 0);
	chosen(2, 1, 0);
}

static void
test_missing(void **state)
{
	(void)state;
	clear();
	is_one_of(node(2, 7, 4, 40), 1, 2, 0);
	refused("namdb node lost 1");
	is_one_of(node(2, 7, 4, 40), 1, 2, 0);
	node(3, 0, 0, 0);
	refused("storage node 1 has a copy of the database of node 2 (there), perhaps a newer one, and is "
		"not among the "
		"nodes named");
	/* Named, but without its directory. */
	node(1, 0, 0, 0)->published = 0;
	now.seen[0].has_log = false;
	is_one_of(node(2, 7, 4, 40), 1, 2, 0);
	refused("was started without it: start it with the --data that it had");
	/* With an empty one, and with one from before. */
	node(1, 0, 0, 0);
	is_one_of(node(2, 7, 4, 40), 1, 2, 0);
	refused("end the node and say so with namdb node lost 1");
	node(1, 7, 3, 30);
	struct wal_line *l = node(2, 7, 4, 40);
	is_one_of(l, 1, 2, 0);
	l->copies.former[0] = (struct wal_former){ .cluster = 30, .life = 3 };
	refused("was started without it");
	/* Said to be lost: of two copies, of three. */
	l = node(2, 7, 4, 40);
	is_one_of(l, 1, 2, 0);
	l->copies.lost[0] = 1;
	chosen(2, 0, 0);
	is_one_of(node(1, 7, 4, 40), 1, 2, 3);
	l = node(3, 7, 4, 40);
	is_one_of(l, 1, 2, 3);
	l->copies.lost[0] = 2;
	chosen(1, 3, 0);
	/* What an older life's manifest says counts no more. */
	l = node(1, 7, 3, 30);
	now.seen[0].lives = 4;
	is_one_of(l, 1, 2, 3);
	l->copies.lost[0] = 3;
	l = node(2, 7, 4, 40);
	is_one_of(l, 1, 2, 3);
	l->copies.former[0] = (struct wal_former){ .cluster = 30, .life = 3 };
	refused("namdb node lost 3");
	/* Lost, and there all the same. */
	l = node(1, 7, 4, 40);
	is_one_of(l, 1, 2, 0);
	is_one_of(node(2, 7, 4, 40), 1, 2, 0);
	l->copies.lost[0] = 2;
	chosen(1, 2, 0);
}

static void
test_branches(void **state)
{
	(void)state;
	clear();
	node(1, 7, 4, 40);
	node(2, 8, 4, 40);
	refused("both have a database");
	node(1, 7, 4, 40);
	node(2, 7, 4, 41);
	refused("has gone on without the other");
	/* Each was told that the other is lost, and one has had more lives since. */
	node(1, 7, 5, 50)->copies.former[0] = (struct wal_former){ .cluster = 40, .life = 4 };
	struct wal_line *l = node(2, 7, 6, 61);
	l->copies.former[0] = (struct wal_former){ .cluster = 51, .life = 5 };
	l->copies.former[1] = (struct wal_former){ .cluster = 40, .life = 4 };
	refused("has gone on without the other");
	node(1, 7, 5, 50);
	l = node(2, 7, 7, 71);
	l->copies.former[0] = (struct wal_former){ .cluster = 61, .life = 6 };
	l->copies.former[1] = (struct wal_former){ .cluster = 40, .life = 4 };
	refused("has gone on without the other");
	/* Numbers of lives that nobody has published are left out. */
	node(1, 7, 4, 40);
	l = node(2, 7, 7, 71);
	l->copies.former[0] = (struct wal_former){ .cluster = 61, .life = 6 };
	l->copies.former[1] = (struct wal_former){ .cluster = 40, .life = 4 };
	chosen(2, 1, 0);
}

/* ---- lives ---- */

enum { LIVES_MOST = 8 };
static struct wal_dir *disk[WAL_COPIES];

/* One life of a cluster of three nodes. */
static struct life {
	bool without[WAL_COPIES];  /* the node is started without its disk */
	unsigned lost[WAL_COPIES]; /* to that node is said that this one is lost, 0 = nothing */
	unsigned publish;          /* the restorer dies behind so many publications; 0 = it lives */
	/* what came of it */
	nam_status st, lost_st[WAL_COPIES];
	struct nam_err err;
	struct wal_log log;
	struct wal_line line[WAL_COPIES];
	bool restores;
	bool early; /* another process might restore before the one that could not has closed */
	unsigned first;
} life;

struct town {
	struct net_sim *sim;
	struct net *net;
	struct net_worker *w;
	struct wal_host *host[WAL_COPIES];
	struct net_service service[WAL_COPIES];
	bool ended;
};

static uint64_t
life_word(struct town *t, const struct txn_db *db)
{
	uint64_t word;
	net_addr at = net_plus(db->cluster, offsetof(struct txn_roster, life));
	assert_int_equal(net_read1(t->w, at, &word, sizeof word, NULL), NAM_OK);
	return word;
}

static void
live(void *arg)
{
	struct town *t = arg;
	struct txn_config cfg = { .vector = 1024, .ptr_cache_entries = 1024, .lease_ms = 100 };
	struct txn_db *db = NULL;
	struct txn_worker *tw;
	bool restorer;
	for (unsigned i = 0; i < WAL_COPIES; i++)
		if (life.lost[i] != 0)
			life.lost_st[i] = wal_log_lost(t->w, i + 1, life.lost[i]);
	life.st = txn_db_open(t->w, &cfg, &db, &life.err);
	if (life.st == NAM_OK) {
		assert_int_equal(txn_worker_open(db, t->w, &tw), NAM_OK);
		assert_int_equal(txn_life(tw, NULL, &restorer, &life.restores, &life.err), NAM_OK);
		assert_true(restorer);
		life.log = db->wal;
		life.first = txn_db_log_node(db);
		struct wal_log some = db->wal;
		if (life.publish != 0 && life.publish < some.copies) {
			some.copies = life.publish;
			assert_int_equal(wal_log_publish(t->w, &some, &db->life_copies, NULL), NAM_OK);
			txn_life_quit(tw);
			/* No other process restores while this one still has memory at hand. */
			life.early = (life_word(t, db) & REC_LOCK) == 0;
		} else {
			assert_int_equal(txn_life_done(tw, NULL, &life.err), NAM_OK);
		}
		bool quits = db->life_kept;
		txn_worker_close(tw);
		assert_true(!quits || life_word(t, db) == 0);
		txn_db_close(t->w, db);
	}
	t->ended = true;
}

/* Plays it; the power is cut at its end. */
static void
play(void)
{
	static uint64_t seed = 1;
	struct town t = { 0 };
	const struct net_sim_config cfg = { .seed = seed++, .nodes = 3, .region_bytes = 4 << 20 };
	const struct wal_line *line[WAL_COPIES] = { NULL };
	assert_int_equal(net_sim_open(&t.sim, &cfg), NAM_OK);
	for (unsigned i = 0; i < WAL_COPIES; i++) {
		struct net_super *super = net_sim_memory(t.sim, i + 1);
		if (life.without[i])
			continue;
		super->log = super->bump;
		super->bump += NET_EXTENT;
		const struct wal_host_config host = {
			.log = { .dir = disk[i], .node = i + 1, .segment_bytes = 1 << 20 },
			.line = (struct wal_line *)(void *)((char *)super + super->log),
			.line_at = net_at(i + 1, super->log),
		};
		line[i] = host.line;
		assert_int_equal(wal_host_open(&t.host[i], &host, &life.err), NAM_OK);
		wal_host_service(t.host[i], &t.service[i]);
		assert_int_equal(net_sim_serve(t.sim, i + 1, &t.service[i], 1), NAM_OK);
	}
	assert_int_equal(net_sim_attach(t.sim, &t.net), NAM_OK);
	assert_int_equal(net_worker_open(t.net, &t.w, NULL), NAM_OK);
	assert_non_null(nam_co_start(net_worker_sched(t.w), live, &t, 256 << 10));
	assert_true(net_sim_run(t.sim, NULL, NULL));
	assert_true(t.ended);
	for (unsigned i = 0; i < WAL_COPIES; i++)
		if (line[i] != NULL)
			life.line[i] = *line[i];
	net_worker_close(t.w);
	net_close(t.net);
	net_sim_close(t.sim);
	for (unsigned i = 0; i < WAL_COPIES; i++) {
		wal_host_drop(t.host[i]);
		wal_faulty_cut(disk[i]);
	}
}

static void
open_disks(uint64_t seed)
{
	for (unsigned i = 0; i < WAL_COPIES; i++)
		disk[i] = wal_faulty_open(seed + i);
}

static void
close_disks(void)
{
	for (unsigned i = 0; i < WAL_COPIES; i++)
		wal_faulty_close(disk[i]);
}

static void
test_restorer_dies(void **state)
{
	(void)state;
	open_disks(1);
	life = (struct life){ 0 };
	play();
	assert_int_equal(life.log.copies, 3);
	assert_int_equal(life.log.life, 1);
	assert_false(life.restores);
	const uint64_t database = life.line[0].copies.database;
	assert_int_not_equal(database, 0);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(life.line[i].published, 1);
		assert_memory_equal(&life.line[i].copies, &life.line[0].copies, sizeof(struct wal_copies));
		assert_int_equal(life.line[i].copies.copy[i], i + 1);
	}
	/* It publishes on one copy, then on two: the greater life counts, and all go on with it. */
	for (unsigned n = 1; n <= 2; n++) {
		life = (struct life){ .publish = n };
		play();
		assert_false(life.early);
		assert_int_equal(life.log.life, 2 * n);
		for (unsigned i = 0; i < 3; i++)
			assert_int_equal(life.line[i].published, i < n ? 2 * n : 2 * n - 1);
		life = (struct life){ 0 };
		play();
		assert_true(life.restores);
		assert_int_equal(life.first, 1);
		assert_int_equal(life.log.life, 2 * n + 1);
		for (unsigned i = 0; i < 3; i++) {
			assert_int_equal(life.line[i].published, 2 * n + 1);
			assert_int_equal(life.line[i].copies.database, database);
			assert_int_equal(life.line[i].copies.former[0].life, 2 * n);
			assert_int_equal(life.line[i].copies.former[1].life, 2 * n - 1);
		}
	}
	/* Those that have missed it are no database by themselves. */
	life = (struct life){ .publish = 1 };
	play();
	life = (struct life){ .without = { true } };
	play();
	assert_int_equal(life.st, NAM_REFUSED);
	assert_non_null(strstr(life.err.text, "namdb node lost 1"));
	life = (struct life){ .without = { true }, .lost = { 0, 1, 0 } };
	play();
	assert_int_equal(life.st, NAM_OK);
	assert_int_equal(life.log.copies, 2);
	assert_int_equal(life.line[1].copies.copy[1], 3);
	/* It is one of the nodes again. */
	assert_int_equal(life.line[1].copies.lost[0], 0);
	close_disks();
}

static void
test_lost(void **state)
{
	(void)state;
	open_disks(11);
	life = (struct life){ .without = { false, false, true } };
	play();
	assert_int_equal(life.log.copies, 2);
	/* What can be said, and what not. */
	life = (struct life){ .without = { true }, .lost = { 0, 2, 0 } };
	play();
	assert_int_equal(life.lost_st[1], NAM_REFUSED);
	assert_int_equal(life.st, NAM_REFUSED);
	life = (struct life){ .without = { true }, .lost = { 0, 3, 1 } };
	play();
	assert_int_equal(life.lost_st[1], NAM_OK); /* also of one without a copy */
	assert_int_equal(life.lost_st[2], NAM_ABSENT);
	assert_int_equal(life.st, NAM_REFUSED);
	/* Node 1 is lost: node 2 goes on, and node 3 gets a copy. */
	life = (struct life){ .without = { true }, .lost = { 0, 1, 0 } };
	play();
	assert_int_equal(life.lost_st[1], NAM_OK);
	assert_int_equal(life.st, NAM_OK);
	assert_int_equal(life.first, 2);
	assert_int_equal(life.log.copies, 2);
	assert_int_equal(life.log.copy[1].region, 3);
	uint32_t last = life.log.life;
	/* It comes back: alone it is refused, with the others it gets what they have. */
	life = (struct life){ .without = { false, true, true } };
	play();
	assert_int_equal(life.st, NAM_REFUSED);
	assert_non_null(strstr(life.err.text, "namdb node lost 2"));
	life = (struct life){ 0 };
	play();
	assert_int_equal(life.st, NAM_OK);
	assert_int_equal(life.first, 2);
	assert_int_equal(life.log.copies, 3);
	assert_int_equal(life.line[0].published, last + 1);
	assert_int_equal(life.line[0].copies.former[0].life, last);
	close_disks();
}

/* Each of two copies is told that the other one is lost, and goes on. */
static void
test_two_branches(void **state)
{
	(void)state;
	open_disks(21);
	life = (struct life){ .without = { false, false, true } };
	play();
	life = (struct life){ .without = { true, false, true }, .lost = { 0, 1, 0 } };
	play();
	assert_int_equal(life.st, NAM_OK);
	life = (struct life){ .without = { false, true, true }, .lost = { 2, 0, 0 } };
	play();
	assert_int_equal(life.st, NAM_OK);
	life = (struct life){ 0 };
	play();
	assert_int_equal(life.st, NAM_REFUSED);
	assert_non_null(strstr(life.err.text, "has gone on without the other"));
	/* One more life of one of them does not hide it. */
	life = (struct life){ .without = { false, true, true } };
	play();
	assert_int_equal(life.st, NAM_OK);
	life = (struct life){ 0 };
	play();
	assert_int_equal(life.st, NAM_REFUSED);
	assert_non_null(strstr(life.err.text, "has gone on without the other"));
	close_disks();
}

#ifdef NAM_TWINS
static void
test_twins(void **state)
{
	(void)state;
	open_disks(31);
	life = (struct life){ 0 };
	play();
	nam_fault_on = NAM_FAULT_QUIT_EARLY;
	life = (struct life){ .publish = 1 };
	play();
	printf("fault %s: another process may restore before a restorer has closed\n",
	    nam_fault_name[nam_fault_on]);
	nam_fault_on = NAM_FAULT_NONE;
	assert_true(life.early);
	close_disks();
}
#endif

int
main(void)
{
	nam_log_level_set(NAM_LOG_ERROR);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_database),
		cmocka_unit_test(test_newest),
		cmocka_unit_test(test_missing),
		cmocka_unit_test(test_branches),
		cmocka_unit_test(test_restorer_dies),
		cmocka_unit_test(test_lost),
		cmocka_unit_test(test_two_branches),
#ifdef NAM_TWINS
		cmocka_unit_test(test_twins),
#endif
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
