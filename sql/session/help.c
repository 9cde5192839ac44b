/*
 * help.c -- workers of this process help with a statement of another one's: they make its plan
 * again, prove that it is the same one, and run a fragment of it. And what workers of other
 * processes must know to do likewise (scout.c).
 */
#include <sql/session/offer.h>

#include <stdlib.h>

enum { FIRST_NS = 50000000, FAR_ROWS = 16, FAR_MOST = 62 };

/* A call for help. The first worker takes it, or its caller takes it back. */
enum call_state { CALL_OPEN, CALL_TAKEN, CALL_OVER };
struct sql_call {
	_Atomic unsigned refs;
	_Atomic int state; /* enum call_state */
	struct sql_gather *g;
	struct sql_call *next;
};

static void
drop(struct sql_call *c)
{
	if (atomic_fetch_sub(&c->refs, 1) == 1)
		free(c);
}

static bool
take(struct sql_call *c)
{
	int open = CALL_OPEN;
	return atomic_compare_exchange_strong(&c->state, &open, CALL_TAKEN);
}

/* ---- a helper --------------------------------------------------------------------------- */

/* The plan of g's statement, made here. NULL: it cannot be made, or it is another one. */
struct sql_plan *
sql_plan_again(struct sql_session *s, const struct sql_gather *g, const struct sql_session *theirs)
{
	struct cat_err err = { 0 };
	char path[SQL_SEARCH_MAX];
	struct sql_bind_in in = { .cat = s->cfg.cat,
		.t = s->t,
		.parser = s->cfg.parser,
		.types = g->plan->param,
		.ntypes = g->plan->params,
		.costs = sql_costs_of(theirs),
		.search = sql_search_text(theirs, path),
		.who = sql_who(theirs),
		.hint = theirs->hint,
		.hints = theirs->hints,
		.join_order = theirs->now.join_order };
	struct sql_plan *p = sql_plan_make(g->plan->ast, &in, &err);
	if (p != NULL && sql_plan_number(p) == g->number)
		return p;
	sql_plan_free(p);
	return NULL;
}

struct sql_fragment *
sql_fragment_of(const struct sql_plan *p, unsigned number)
{
	struct sql_fragment *f = p->fragments;
	while (f != NULL && f->number != number)
		f = f->next;
	return f;
}

static void
run_fragment(
    struct sql_session *s, struct sql_plan *p, const struct sql_gather *g, const struct sql_session *theirs)
{
	static const struct sql_sink silent;
	struct cat_err err = { 0 };
	struct olap_job *job;
	if (p->arenas > 0 && sql_arena(s, p->arenas - 1) == NULL)
		return;
	s->now_us = theirs->now_us;
	sql_prepare_exec(s, &silent, &err);
	s->x.saw = NULL;
	s->x.env.param = g->x->env.param;
	s->x.env.params = g->x->env.params;
	struct sql_fragment *f = sql_fragment_of(p, g->f->number);
	if (f == NULL || !sql_sub_start(&s->x, p) || olap_job_join(s->net, g->at, &job) != NAM_OK)
		return;
	sql_gather_help(&s->x, f, g, job);
	olap_job_leave(job);
}

static void
help(const struct sql_place *at, const struct sql_gather *g)
{
	const struct sql_session *theirs = g->x->env.session;
	const struct sql_session_config cfg = { .tw = at->tw,
		.cat = at->cat,
		.parser = at->parser,
		.cancel = &g->stop,
		.turn_ns = SQL_HELP_TURN_NS,
		.user = theirs->cfg.user,
		.role_id = theirs->cfg.role_id };
	struct sql_session *s;
	if (sql_session_open(&cfg, &s) != NAM_OK)
		return;
	s->now = theirs->now;
	s->budget.limit = (size_t)s->now.memory_kb << 10;
	struct txn_limits l = { .cancel = &g->stop, .budget = &s->budget };
	if (txn_begin_at(at->tw, g->snapshot, &l, &s->t) == NAM_OK) {
		struct sql_plan *p = sql_plan_again(s, g, theirs);
		if (p != NULL)
			run_fragment(s, p, g, theirs);
		sql_plan_free(p);
	} else {
		s->t = NULL;
	}
	sql_session_close(s);
}

static void
answer(const struct sql_place *at, void *call)
{
	struct sql_call *c = call;
	if (take(c)) {
		help(at, c->g);
		atomic_store(&c->state, CALL_OVER);
	}
	drop(c);
}

/* ---- the session that is helped ---------------------------------------------------------- */

/* Until all helpers have done what there is, or it takes too long. */
static void
wait_for_others(struct sql_session *s, const struct sql_gather *g)
{
	struct net_backoff pause = { .base_ns = 2000, .cap_ns = 100000, .yields = 200, .hold = 8 };
	uint64_t until = net_now_ns(s->net) + FIRST_NS;
	for (const struct sql_call *c = g->calls; c != NULL; c = c->next)
		while (atomic_load(&c->state) != CALL_OVER && net_now_ns(s->net) < until)
			net_back_off(s->net, &pause);
}

static void
call(void *arg, struct sql_gather *g)
{
	struct sql_session *s = arg;
	const struct sql_crew *crew = s->cfg.crew;
	for (unsigned k = 0; k < s->team.others; k++) {
		struct sql_call *c = calloc(1, sizeof *c);
		if (c == NULL)
			return;
		*c = (struct sql_call){ .refs = 2, .g = g, .next = g->calls };
		if (!crew->start(crew->arg, k, answer, c)) {
			free(c);
			return;
		}
		g->calls = c;
	}
	if (s->team.first)
		wait_for_others(s, g);
}

static void
dismiss(void *arg, struct sql_gather *g)
{
	struct sql_session *s = arg;
	struct net_backoff pause = { .base_ns = 2000, .cap_ns = 500000, .yields = 200, .hold = 8 };
	for (struct sql_call *c = g->calls, *next; c != NULL; c = next) {
		next = c->next;
		if (!take(c))
			while (atomic_load(&c->state) != CALL_OVER)
				net_back_off(s->net, &pause);
		drop(c);
	}
	g->calls = NULL;
}

/* ---- other processes ------------------------------------------------------------------- */

nam_status
sql_board(struct txn_db *db, struct net_worker *w, net_addr *board)
{
	return net_read1(w, txn_db_root(db, SQL_ROOT_BOARD), &board->bits, sizeof board->bits, NULL);
}

/* The cluster's board of jobs, made by the first process that needs it. */
static bool
find_board(struct sql_session *s)
{
	struct txn_db *db = txn_worker_db(s->cfg.tw);
	net_addr is = { 0 }, made;
	if (sql_board(db, s->net, &is) != NAM_OK)
		return false;
	if (is.bits == 0) {
		if (olap_board_make(s->net, &made) != NAM_OK)
			return false;
		if (net_cas1(s->net, txn_db_root(db, SQL_ROOT_BOARD), 0, made.bits, &is.bits, NULL) != NAM_OK)
			return false;
		if (is.bits != 0)
			olap_board_drop(s->net, made);
		else
			is = made;
	}
	s->team.board = is;
	return true;
}

/* The statement of its text that the plan is of. False: none is. */
static bool
find_statement(const struct sql_parsed *text, const struct ast_stmt *ast, struct sql_offer *o)
{
	for (o->statement = 0; text != NULL && o->statement < text->stmts; o->statement++) {
		const struct ast_stmt *st = text->stmt[o->statement];
		o->explained = st->kind == AST_EXPLAIN && st->inner == ast;
		if (st == ast || o->explained)
			return true;
	}
	return false;
}

static void *
offer(void *arg, const struct sql_gather *g, struct nam_arena *a, uint32_t *n)
{
	struct sql_session *s = arg;
	struct sql_hint hint[SQL_OFFER_HINTS];
	const char *user = s->cfg.user ? s->cfg.user : "";
	unsigned hints = sql_plan_hints(g->plan, s->cfg.cat, hint, SQL_OFFER_HINTS);
	struct sql_offer o = { .snapshot = g->snapshot,
		.number = g->number,
		.now_us = s->now_us,
		.workers = s->team.others + 1,
		.most = s->now.parallel == 0 ? FAR_MOST : s->now.parallel - 1 - s->team.others,
		.fragment = g->f->number,
		.settings = s->now,
		.login = s->login,
		.costs = *sql_costs_of(s),
		.user = { user, (uint32_t)strlen(user) },
		.types = g->plan->param,
		.param = (struct cat_datum *)(uintptr_t)s->x.env.param,
		.params = g->plan->params,
		.hint = hint,
		.hints = hints,
		.part = g->part,
		.parts = g->parts };
	/* Settings of programs stay in this process. */
	o.settings.custom = NULL;
	if (o.most == 0 || hints == 0 || !sql_fragment_is_fixed(g->plan, g->f) ||
	    !find_statement(s->running, g->plan->ast, &o))
		return NULL;
	o.text = (struct cat_str){ s->running->text, (uint32_t)s->running->len };
	sql_offer_here(&o);
	return sql_offer_put(&o, OLAP_PLAN, a, n);
}

unsigned
sql_team_size(const struct sql_session *s)
{
	unsigned n = s->cfg.crew != NULL ? s->cfg.crew->workers : 1, most = s->now.parallel;
	return most == 0 || most > n ? n : most;
}

void
sql_team_up(struct sql_session *s, const struct sql_plan *p, const struct sql_parsed *text)
{
	unsigned size = sql_team_size(s);
	/* A session's temporary relations are its own; a process alone has nobody to ask. */
	bool far = s->now.help != SQL_HELP_OFF && s->now.parallel != 1 && text != NULL && s->temp[0] == 0 &&
		   tso_slots_used(txn_db_oracle(txn_worker_db(s->cfg.tw))) > 1;
	s->x.team = NULL;
	if (p->fragments == NULL || p->momentary || (size < 2 && !far) || s->ddl || !txn_only_reads(s->t))
		return;
	if (s->team.board.bits == 0 && !find_board(s))
		return;
	s->running = text;
	s->team.others = size - 1;
	s->team.first = s->now.parallel_rows == 0;
	s->team.far = far;
	s->team.far_first = s->now.help == SQL_HELP_WAIT;
	s->team.far_rows = s->team.far_first ? 0 : FAR_ROWS * (double)s->now.parallel_rows;
	s->team.counts = &s->counts;
	s->team.rows = size > 1 ? (double)s->now.parallel_rows : s->team.far_rows;
	s->team.arg = s;
	s->team.offer = offer;
	s->team.call = call;
	s->team.dismiss = dismiss;
	s->x.team = &s->team;
}

void
sql_team_lend(struct sql_session *s, unsigned workers)
{
	s->team = (struct sql_team){ .others = workers > 0 ? workers - 1 : 0,
		.counts = &s->counts,
		.rows = (double)s->now.parallel_rows,
		.board = s->team.board,
		.arg = s,
		.call = call,
		.dismiss = dismiss };
	s->x.team = s->team.board.bits != 0 || find_board(s) ? &s->team : NULL;
}
