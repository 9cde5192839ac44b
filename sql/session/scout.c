/*
 * scout.c -- this process helps with a statement of another one: it finds the job on the board,
 * makes the statement's plan again at the same snapshot, proves that it is the same one, and runs a
 * fragment of it with all of its workers.
 *
 * What keeps the snapshot is the asking process's pin. If that process dies, its slot, and so its
 * pin, stays until its jobs are collected, which waits until their helpers have left (guard,
 * below). So the scout takes a place in the job before it reads, and leaves it last.
 */
#include <base/log.h>
#include <sql/session/offer.h>

#include <stdio.h>
#include <stdlib.h>

/* For tests: a helper that reads at a snapshot of its own. */
#ifndef SQL_HELP_NEWER
#define SQL_HELP_NEWER false
#endif

enum { OFFERS = 16, WATCH_NS = 2000000, WATCH_STACK = 64 << 10, ENTER_TRIES = 20, OWNERS = 4096 };

struct sql_scout {
	struct sql_scout_config cfg;
	struct net_worker *w;
	net_addr board;
	uint64_t calls; /* as looked at last */
	bool stuck;     /* in this door of the board: */
	unsigned door;
	_Atomic uint64_t helped, at; /* at: the snapshot that it reads at; 0 = none */
};

/* ---- while it helps ---------------------------------------------------------------------- */

/* A coroutine beside the helping one: ends the help if the job, or this process, does. */
struct watch {
	struct sql_scout *s;
	struct olap_job *job;
	_Atomic int *stop;
	bool over, ended;
};

static bool
stopped(const struct sql_scout *s)
{
	return s->cfg.stop != NULL && atomic_load_explicit(s->cfg.stop, memory_order_relaxed);
}

static void
watch(void *arg)
{
	struct watch *w = arg;
	while (!w->over) {
		if (stopped(w->s) || olap_job_ends(w->job) != NAM_OK)
			atomic_store(w->stop, 1);
		net_sleep(w->s->w, WATCH_NS);
	}
	w->ended = true;
}

/* ---- the plan ----------------------------------------------------------------------------- */

/* The offer's statement in its text. */
static const struct ast_stmt *
statement(const struct sql_offer *o, const struct sql_parsed *text)
{
	const struct ast_stmt *st = o->statement < text->stmts ? text->stmt[o->statement] : NULL;
	return st == NULL || !o->explained ? st : st->kind == AST_EXPLAIN ? st->inner : NULL;
}

/* Settings and roles of the asking session. */
static void
become(struct sql_session *s, const struct sql_offer *o)
{
	s->now = o->settings;
	s->login = o->login;
	s->budget.limit = (size_t)s->now.memory_kb << 10;
	s->costs_given = o->costs;
	s->costs = &s->costs_given;
	s->hint = o->hint;
	s->hints = o->hints;
	s->now_us = o->now_us;
}

/* Workers of this process, `most` at most, that find a core beside those that take part. */
static unsigned
room_for(struct sql_scout *sc, const struct sql_offer *o, struct olap_job *job, unsigned most)
{
	unsigned there = 0, came = 0;
	if (sc->cfg.greedy)
		return most;
	if (olap_job_others(job, &there, &came) != NAM_OK)
		return 0;
	/* Without the asking process's own helpers, and this one. */
	there = there > o->workers ? there - o->workers : 0;
	return sql_offer_room(o, most, there);
}

static void
run(struct sql_scout *sc, struct sql_session *s, const struct sql_offer *o, struct sql_plan *p,
    struct sql_gather *g, struct olap_job *job)
{
	static const struct sql_sink silent;
	struct cat_err err = { 0 };
	if (p->arenas > 0 && sql_arena(s, p->arenas - 1) == NULL)
		return;
	sql_prepare_exec(s, &silent, &err);
	s->x.saw = NULL;
	s->x.env.param = o->param;
	s->x.env.params = o->params;
	struct sql_fragment *f = sql_fragment_of(p, o->fragment);
	if (f == NULL || !sql_sub_start(&s->x, p))
		return;
	unsigned workers = sc->cfg.crew != NULL ? sc->cfg.crew->workers : 1;
	unsigned room = room_for(sc, o, job, workers);
	sql_team_lend(s, room);
	g->x = &s->x;
	g->plan = p;
	g->f = f;
	if (sql_gather_lead(&s->x, f, g, job))
		atomic_fetch_add(&sc->helped, 1);
	else
		nam_log(
		    NAM_LOG_DEBUG, "no help with a query of another process: %s %s", err.sqlstate, err.text);
}

static void
plan_and_run(struct sql_scout *sc, struct sql_session *s, const struct sql_offer *o, struct olap_job *job,
    struct sql_gather *g)
{
	struct cat_err err = { 0 };
	struct sql_parsed *text;
	if (cat_look(s->cfg.cat, s->t) != NAM_OK ||
	    !sql_parse(s->cfg.parser, o->text.p, o->text.len, &text, &err))
		return;
	struct sql_plan wanted = { .ast = statement(o, text), .param = o->types, .params = o->params };
	g->plan = &wanted;
	struct sql_plan *p = wanted.ast != NULL ? sql_plan_again(s, g, s) : NULL;
	if (p != NULL)
		run(sc, s, o, p, g, job);
	else
		nam_log(
		    NAM_LOG_DEBUG, "no help with a query of another process: its plan is another one here");
	sql_plan_free(p);
	sql_parsed_drop(text);
}

static void
help(struct sql_scout *sc, const struct sql_offer *o, struct olap_job *job)
{
	char user[CAT_NAME_MAX + 1];
	struct sql_gather g = { .number = o->number,
		.snapshot = o->snapshot,
		.at = olap_job_at(job),
		.part = o->part,
		.parts = o->parts };
	snprintf(user, sizeof user, "%.*s", (int)o->user.len, o->user.p);
	const struct sql_session_config cfg = { .tw = sc->cfg.at.tw,
		.cat = sc->cfg.at.cat,
		.parser = sc->cfg.at.parser,
		.cancel = &g.stop,
		.turn_ns = SQL_HELP_TURN_NS,
		.crew = sc->cfg.crew,
		.user = o->user.len > 0 ? user : NULL };
	struct sql_session *s;
	if (sql_session_open(&cfg, &s) != NAM_OK)
		return;
	struct watch w = { .s = sc, .job = job, .stop = &g.stop };
	if (nam_co_start(net_worker_sched(sc->w), watch, &w, WATCH_STACK) == NULL)
		goto out;
	become(s, o);
	struct txn_limits l = { .cancel = &g.stop, .budget = &s->budget };
	nam_status st = SQL_HELP_NEWER ? txn_begin_by(cfg.tw, TXN_REPEATABLE_READ, &l, &s->t)
				       : txn_begin_at(cfg.tw, o->snapshot, &l, &s->t);
	atomic_store(&sc->at, st == NAM_OK ? o->snapshot : 0);
	if (st == NAM_OK)
		plan_and_run(sc, s, o, job, &g);
	else
		s->t = NULL;
	w.over = true;
	struct net_backoff pause = { .base_ns = 10000, .cap_ns = 200000 };
	while (!w.ended)
		net_back_off(sc->w, &pause);
out:
	sql_session_close(s);
	atomic_store(&sc->at, 0);
}

/* The job's end waits for this process as long as the place says that it takes part. */
static void
leave(struct sql_scout *sc, struct olap_job *job)
{
	while (olap_job_try_leave(job) != NAM_OK) {
		if (stopped(sc) || net_membership(net_worker_net(sc->w)) == NET_FENCED) {
			olap_job_leave(job);
			return;
		}
		txn_reach(sc->cfg.at.tw);
		net_sleep(sc->w, 5 * WATCH_NS);
	}
}

/* ---- finding it ---------------------------------------------------------------------------- */

/* Enters the job and helps. The process is active meanwhile. */
static void
answer(struct sql_scout *sc, unsigned place)
{
	struct olap_job *job;
	struct nam_arena mem;
	struct sql_offer *o = NULL;
	uint32_t len;
	nam_status st = NAM_BUSY;
	for (unsigned i = 0; st == NAM_BUSY && i < ENTER_TRIES && !sc->stuck; i++) {
		st = olap_job_enter(sc->w, sc->board, place, &job, &sc->stuck);
		sc->door = place;
		if (st == NAM_BUSY)
			net_sleep(sc->w, WATCH_NS / 20);
	}
	if (st != NAM_OK)
		return;
	nam_arena_init(&mem, OLAP_PLAN);
	const void *plan = olap_job_plan(job, &len);
	if ((o = nam_arena_zero(&mem, sizeof *o)) != NULL && sql_offer_get(o, plan, len, &mem) &&
	    room_for(sc, o, job, 1) > 0)
		help(sc, o, job);
	nam_arena_fini(&mem);
	leave(sc, job);
}

static bool
look(struct sql_scout *sc)
{
	unsigned place[OFFERS], n = 0;
	uint64_t calls = 0;
	struct txn *t;
	if (sc->board.bits == 0 &&
	    (sql_board(txn_worker_db(sc->cfg.at.tw), sc->w, &sc->board) != NAM_OK || sc->board.bits == 0))
		return false;
	if (olap_board_calls(sc->w, sc->board, &calls) != NAM_OK || calls == sc->calls)
		return false;
	/* A call that comes while the worker is busy is answered later, if the job still asks. */
	if (txn_worker_busy(sc->cfg.at.tw) > 0 ||
	    olap_board_offers(sc->w, sc->board, place, OFFERS, &n) != NAM_OK)
		return false;
	sc->calls = calls;
	if (n == 0)
		return false;
	/* An idle process wakes first, and waits for a snapshot here and nowhere else. */
	if (txn_begin(sc->cfg.at.tw, TXN_READ_COMMITTED, &t) != NAM_OK)
		return false;
	for (unsigned i = 0; i < n && !stopped(sc); i++)
		answer(sc, place[i]);
	txn_abort(t);
	return true;
}

bool
sql_scout_look(struct sql_scout *sc)
{
	txn_reach(sc->cfg.at.tw);
	if (sc->stuck && olap_door_leave(sc->w, sc->board, sc->door) != NAM_OK)
		return false;
	sc->stuck = false;
	return look(sc);
}

nam_status
sql_scout_open(const struct sql_scout_config *cfg, struct sql_scout **out)
{
	struct sql_scout *s = calloc(1, sizeof *s);
	if (s == NULL)
		return NAM_NOMEM;
	s->cfg = *cfg;
	s->w = txn_worker_net(cfg->at.tw);
	*out = s;
	return NAM_OK;
}

void
sql_scout_close(struct sql_scout *s)
{
	free(s);
}

uint64_t
sql_scout_helped(const struct sql_scout *s)
{
	return atomic_load(&s->helped);
}

uint64_t
sql_scout_reads_at(const struct sql_scout *s)
{
	return atomic_load(&s->at);
}

/* ---- helpers of the dead ------------------------------------------------------------------- */

/* Of owner[0..n), those that are not among living[0..k). */
static unsigned
keep_dead(uint64_t *owner, unsigned n, const uint64_t *living, unsigned k)
{
	unsigned dead = 0;
	for (unsigned i = 0; i < n; i++) {
		bool lives = false;
		for (unsigned j = 0; j < k; j++)
			lives |= owner[i] == living[j];
		if (!lives)
			owner[dead++] = owner[i];
	}
	return dead;
}

/*
 * The board first, then the slots: a process that makes a job has a slot. So an owner without one
 * has died, or has left, and then its jobs have ended. A job of a dead maker that another recoverer
 * collects is waited for as well (NAM_BUSY), whichever of them recovers the maker.
 */
static nam_status
guard(void *arg, struct txn_worker *tw)
{
	struct net_worker *w = txn_worker_net(tw);
	unsigned n = 0, k = 0, jobs;
	net_addr board = { 0 };
	(void)arg;
	nam_status st = sql_board(txn_worker_db(tw), w, &board);
	if (st != NAM_OK || board.bits == 0)
		return st;
	uint64_t *owner = malloc(2 * OWNERS * sizeof *owner), *living = owner + OWNERS;
	st = owner != NULL ? olap_board_owners(w, board, owner, OWNERS, &n) : NAM_NOMEM;
	if (st == NAM_OK && n > 0)
		st = tso_living(txn_worker_tso(tw), living, OWNERS, &k);
	if (st == NAM_OK && (n = keep_dead(owner, n, living, k)) > 0)
		st = olap_board_collect(w, board, owner, n, &jobs);
	free(owner);
	return st;
}

void
sql_guard_helpers(struct txn_db *db)
{
	txn_on_gone(db, guard, NULL);
}
