/* gather.c -- a fragment run by several workers: begun, shared, settled, and its rows in one
 * place. */
#include <base/assert.h>
#include <catalog/pages.h>
#include <sql/exec/gather.h>
#include <sql/exec/meter.h>
#include <sql/exec/state.h>

#include <stdlib.h>

/* For tests: a helper that does its parts, and leaves without an output. */
#ifndef SQL_GATHER_LEAVES
#define SQL_GATHER_LEAVES false
#endif

enum { PARTS_MAX = 8192, FAR_PARTS = 2048, TRIES = 3, FAR_FIRST_NS = 300000000 };

/* ---- what helpers borrow is ready --------------------------------------------------------- */

static bool
subs_ready(struct sql_exec *x, const struct sql_expr *e)
{
	if (e == NULL)
		return true;
	if (e->kind == SQL_SUB && !sql_sub_prepare(x, e->sub))
		return false;
	bool ok = true;
	for (unsigned k = 0; ok && k < e->nargs; k++)
		ok = subs_ready(x, e->args[k]);
	return ok;
}

static bool
all_ready(struct sql_exec *x, struct sql_expr *const *e, unsigned n)
{
	bool ok = true;
	for (unsigned k = 0; ok && k < n; k++)
		ok = subs_ready(x, e[k]);
	return ok;
}

static bool
node_ready(struct sql_exec *x, struct sql_node *n)
{
	if (!subs_ready(x, n->filter))
		return false;
	switch (n->kind) {
	case SQL_NODE_PROJECT:
		return all_ready(x, sql_op(project, n)->e, sql_op(project, n)->es);
	case SQL_NODE_EXPAND:
		return all_ready(x, sql_op(expand, n)->e, sql_op(expand, n)->keys);
	case SQL_NODE_JOIN: {
		struct sql_op_join *j = sql_op(join, n);
		return all_ready(x, j->key, j->keys) && subs_ready(x, j->on) && sql_join_ready(x, j);
	}
	case SQL_NODE_SEMI: {
		struct sql_op_semi *s = sql_op(semi, n);
		return all_ready(x, s->key, s->keys) && all_ready(x, s->outer, s->outers) &&
		       subs_ready(x, s->rest) && sql_sub_prepare(x, s->sub);
	}
	default:
		return true;
	}
}

/* The tables of its joins and the answers of its subqueries. */
static bool
pipe_ready(struct sql_exec *x, const struct sql_fragment *f)
{
	bool ok = true;
	for (struct sql_node *n = f->pipe; ok; n = n->child) {
		ok = node_ready(x, n);
		if (n->kind == SQL_NODE_SCAN)
			break;
	}
	if (ok && f->groups) {
		const struct sql_op_agg *o = sql_op(agg, f->at);
		ok = all_ready(x, o->key, o->keys);
		for (unsigned a = 0; ok && a < o->aggs; a++)
			ok = subs_ready(x, o->agg[a].arg) && subs_ready(x, o->agg[a].filter);
	}
	return ok;
}

/* A set that could not be made is asked row by row: that is for one worker. */
static bool
note_ready(struct sql_exec *x, struct sql_gather *g)
{
	unsigned n = 0, i = 0;
	for (const struct sql_sub *s = x->plan->subs; s != NULL; s = s->next)
		n++;
	if ((g->ready = calloc(n + 1, 1)) == NULL)
		return false;
	for (const struct sql_sub *s = x->plan->subs; s != NULL; s = s->next, i++) {
		if (s->run->failed)
			return false;
		g->ready[i] = s->run->done;
	}
	return true;
}

/* ---- the worker that has the statement --------------------------------------------------- */

static bool
grave(const struct cat_err *err)
{
	return memcmp(err->sqlstate, "57", 2) == 0 || memcmp(err->sqlstate, "53", 2) == 0 ||
	       memcmp(err->sqlstate, "58", 2) == 0;
}

static void
clear(struct sql_run_gather *r)
{
	free(r->g.part);
	free(r->g.ready);
	r->g.part = NULL;
	r->g.ready = NULL;
}

/* The table's parts. False: there are too few of them, or they cannot be had. */
static bool
take_parts(struct sql_exec *x, struct sql_run_gather *r, const struct sql_access *a)
{
	nam_status st = NAM_BUSY;
	for (unsigned i = 0; st == NAM_BUSY && i < TRIES; i++)
		st = cat_parts(
		    x->cat, x->t, a->tab, r->offered ? FAR_PARTS : PARTS_MAX, &r->g.part, &r->g.parts);
	return st == NAM_OK && (r->g.parts > 1 || (r->g.parts == 1 && x->team->first));
}

static bool
start_job(struct sql_exec *x, struct sql_run_gather *r)
{
	struct nam_arena mem;
	uint32_t n = 0;
	nam_arena_init(&mem, OLAP_PLAN);
	void *plan = r->offered ? x->team->offer(x->team->arg, &r->g, &mem, &n) : NULL;
	r->offered = plan != NULL;
	/* A job that nobody is asked to share is not worth its making. */
	nam_status st = !r->offered && x->team->others == 0
			    ? NAM_ABSENT
			    : olap_job_make(x->net, x->team->board, plan != NULL ? plan : "",
				  plan != NULL ? n : 0, &r->job);
	nam_arena_fini(&mem);
	if (st != NAM_OK)
		return false;
	r->me = net_identity(net_worker_net(x->net));
	r->g.at = olap_job_at(r->job);
	st = olap_phase_begin(&r->ph, r->job, 0, r->g.parts);
	if (st == NAM_OK)
		return true;
	olap_job_end(r->job);
	return false;
}

/* Other processes that have nothing to do take part from now on, if there are any. */
static void
call_far(struct sql_exec *x, struct sql_run_gather *r)
{
	struct net_backoff pause = { .base_ns = 100000, .cap_ns = 1000000 };
	uint64_t until = net_now_ns(x->net) + FAR_FIRST_NS;
	unsigned there = 0, came = 0;
	/* Without it the query goes on alone. */
	if (olap_job_offer(r->job) != NAM_OK)
		return;
	while (x->team->far_first && (came == 0 || there > 0) && net_now_ns(x->net) < until) {
		if (olap_job_others(r->job, &there, &came) != NAM_OK)
			return;
		net_back_off(x->net, &pause);
	}
}

int
sql_gather_begin(struct sql_exec *x, struct sql_node *n)
{
	struct sql_fragment *f = n->fragment;
	if (f == NULL || x->team == NULL || f->rows < x->team->rows)
		return 0;
	if (f->run == NULL && (f->run = nam_arena_zero(x->plan_arena, sizeof *f->run)) == NULL)
		return sql_no_memory(x->err) ? 0 : -1;
	struct sql_run_gather *r = f->run;
	if (r->tried)
		return r->on;
	*r =
	    (struct sql_run_gather){ .tried = true, .offered = x->team->far && f->rows >= x->team->far_rows };
	if (!pipe_ready(x, f)) {
		if (grave(x->err))
			return -1;
		/* It may be the error of an answer that no row asks for. */
		*x->err = (struct cat_err){ 0 };
		return 0;
	}
	r->g = (struct sql_gather){ .x = x,
		.plan = x->plan,
		.f = f,
		.number = sql_plan_number(x->plan),
		.snapshot = txn_snapshot(x->t),
		.raw = f->scan->run->read == NULL || cat_scan_is_raw(f->scan->run->read) };
	if (!note_ready(x, &r->g) || !take_parts(x, r, &f->scan->acc) || !start_job(x, r)) {
		clear(r);
		return 0;
	}
	r->source = (struct sql_source){ .scan = f->scan, .ph = &r->ph, .part = r->g.part, .raw = r->g.raw };
	r->on = true;
	r->team = x->team;
	x->source = &r->source;
	if (!sql_scan_again(x, f->scan))
		return -1;
	if (r->offered)
		call_far(x, r);
	struct sql_team *team = x->team;
	team->call(team->arg, &r->g);
	return 1;
}

/* The pipeline from its beginning. */
static bool
rewind_pipe(struct sql_exec *x, struct sql_fragment *f)
{
	for (struct sql_node *n = f->pipe; n->kind != SQL_NODE_SCAN; n = n->child)
		if (n->kind == SQL_NODE_JOIN)
			sql_join_rewind(sql_op(join, n));
	x->source = &f->run->source;
	return sql_scan_again(x, f->scan);
}

static void
add_helped(void *arg, const void *result, uint32_t len)
{
	struct sql_run_gather *r = arg;
	struct sql_helped h;
	if (len < sizeof h)
		return;
	memcpy(&h, result, sizeof h);
	r->helped.seen += h.seen;
	r->helped.bytes += h.bytes;
	net_counts_add(&r->helped.counts, &h.counts);
	r->helpers++;
	for (unsigned i = 0; i < r->fars; i++)
		if (r->far[i] == h.process)
			return;
	if (h.process != r->me && r->fars < SQL_PROCESSES)
		r->far[r->fars++] = h.process;
}

static int
fail(struct sql_exec *x, struct sql_fragment *f, nam_status st)
{
	sql_status(x->err, st, f->scan->acc.tab);
	return -1;
}

/* A pipeline with an empty join ends without reading its scan: then the parts that nobody has taken
 * give nothing. */
static nam_status
take_rest(struct olap_phase *ph)
{
	uint32_t i;
	nam_status st;
	while ((st = olap_take(ph, &i)) == NAM_OK)
		;
	return st == NAM_ABSENT ? NAM_OK : st;
}

int
sql_gather_settle(struct sql_exec *x, struct sql_node *n)
{
	struct sql_fragment *f = n->fragment;
	struct sql_run_gather *r = f->run;
	struct olap_source from;
	nam_status st = take_rest(&r->ph);
	if (st == NAM_OK)
		st = olap_publish(&r->ph, NULL, NULL, 0);
	if (st == NAM_OK)
		st = olap_settle(&r->ph);
	if (st == NAM_BUSY)
		return rewind_pipe(x, f) ? 1 : -1;
	if (st == NAM_OK)
		st = olap_phase_results(&r->ph, add_helped, r);
	if (st != NAM_OK)
		return fail(x, f, st);
	if (x->saw != NULL)
		x->saw(x->saw_arg, f->scan->acc.tab->store.id, r->source.seen + r->helped.seen);
	olap_phase_source(&r->ph, SQL_STREAM_WIDTH, 0, &from);
	st = f->runs ? sql_runs_begin(r->job, &from, sql_op(sort, n)->cols, &r->runs)
		     : sql_stream_begin(r->job, &from, &r->in);
	r->settled = true;
	return st == NAM_OK ? 0 : fail(x, f, st);
}

int
sql_gather_next_of(struct sql_exec *x, struct sql_node *n, struct sql_stream_in *in, struct sql_bytes_in *c)
{
	struct sql_fragment *f = n->fragment;
	nam_status st = sql_go_on(x) ? sql_stream_next(in, c) : NAM_CANCELLED;
	if (st == NAM_ABSENT)
		return 0;
	if (st == NAM_CANCELLED && x->err->sqlstate[0] != 0)
		return -1;
	return st == NAM_OK ? 1 : fail(x, f, st);
}

int
sql_gather_record(struct sql_exec *x, struct sql_node *n, struct sql_bytes_in *c)
{
	return sql_gather_next_of(x, n, &n->fragment->run->in, c);
}

/* Rows of helpers, as n's batch. */
static int
others(struct sql_exec *x, struct sql_node *n)
{
	struct sql_fragment *f = n->fragment;
	struct sql_bytes_in c;
	unsigned rows = 0;
	int more = sql_gather_record(x, n, &c);
	if (more <= 0)
		return more;
	nam_arena_reset(x->arena[n->arena]);
	nam_status st = sql_rows_get(&c, n->out.col, f->col, f->cols, &rows, x->arena[n->arena]);
	if (st != NAM_OK)
		return fail(x, f, st);
	n->out.n = n->nsel = rows;
	n->sel = NULL;
	if (n->kind == SQL_NODE_JOIN)
		memset(sql_op(join, n)->run->origin, 0, n->out.cols * sizeof *n->origin);
	else
		n->origin = NULL;
	return (int)rows;
}

int
sql_gather_next(struct sql_exec *x, struct sql_node *n, int (*own)(struct sql_exec *, struct sql_node *))
{
	struct sql_run_gather *r = n->fragment->run;
	while (!r->settled) {
		int rows = own(x, n);
		if (rows != 0)
			return rows;
		if (sql_gather_settle(x, n) < 0)
			return -1;
	}
	return others(x, n);
}

/* For EXPLAIN ANALYZE. */
static void
note(const struct sql_run_gather *r, struct sql_meter *m)
{
	if (m == NULL)
		return;
	m->workers = 1 + r->helpers;
	m->processes = 1 + r->fars;
	m->parts = r->g.parts;
	m->others_rows += r->helped.seen;
	m->others_bytes += r->helped.bytes;
	net_counts_add(&m->others, &r->helped.counts);
}

void
sql_gather_end(struct sql_exec *x, struct sql_node *n)
{
	struct sql_run_gather *r = n->fragment->run;
	if (r == NULL || !r->on)
		return;
	r->on = false;
	atomic_store(&r->g.stop, 1);
	if (!r->settled || r->offered)
		olap_job_stop(r->job, r->settled ? NAM_GONE : NAM_CANCELLED);
	r->team->dismiss(r->team->arg, &r->g);
	sql_stream_end(&r->in);
	sql_runs_end(r->runs);
	r->runs = NULL;
	olap_phase_end(&r->ph);
	const struct net_counts *counts = olap_job_counts(r->job);
	if (r->team->counts != NULL)
		net_counts_add(r->team->counts, counts);
	if (x->gauge != NULL) {
		net_counts_add(&x->gauge->paid, counts);
		note(r, n->meter);
	}
	/* If it fails, the job's extents stay until this process ends and is recovered. */
	olap_job_end(r->job);
	clear(r);
}

/* ---- a helper --------------------------------------------------------------------------- */

static void
borrow(struct sql_exec *x, const struct sql_fragment *f, const struct sql_gather *g)
{
	const struct sql_sub *from = g->plan->subs;
	unsigned i = 0;
	for (struct sql_sub *s = x->plan->subs; s != NULL; s = s->next, from = from->next, i++)
		if (g->ready[i])
			sql_sub_borrow(s, from);
	struct sql_node *theirs = g->f->pipe;
	for (struct sql_node *n = f->pipe; n->kind != SQL_NODE_SCAN; n = n->child, theirs = theirs->child)
		if (n->kind == SQL_NODE_JOIN)
			sql_join_borrow(sql_op(join, n), sql_op(join, theirs));
}

/* The rows of the fragment's top, as records. */
static bool
put_rows(struct sql_exec *x, struct sql_fragment *f, struct sql_stream_out *out)
{
	struct nam_arena mem;
	int rows;
	bool ok = true;
	nam_arena_init(&mem, 0);
	while (ok && (rows = sql_next(x, f->top)) > 0) {
		struct sql_bytes w = { .arena = &mem };
		nam_arena_reset(&mem);
		ok = sql_rows_put(&w, f->top->out.col, f->col, f->cols, sql_sel(f->top), (unsigned)rows) &&
		     sql_stream_put(out, w.p, w.n) == NAM_OK;
	}
	nam_arena_fini(&mem);
	return ok && rows == 0;
}

/* One participant's share, and its output. The operators are open. */
static bool
share(struct sql_exec *x, struct sql_fragment *f, struct sql_source *source, struct olap_job *job)
{
	struct sql_stream_out out = { 0 };
	struct sql_helped helped = { .process = net_identity(net_worker_net(x->net)) };
	bool ok = sql_stream_open(job, &out) == NAM_OK &&
		  (f->groups ? sql_agg_put_groups(x, sql_op(agg, f->at), &out) : put_rows(x, f, &out));
	helped.seen = source->seen;
	helped.bytes = out.sent;
	helped.counts = *txn_counts(x->t);
	net_counts_add(&helped.counts, olap_job_counts(job));
	ok = ok && !SQL_GATHER_LEAVES && take_rest(source->ph) == NAM_OK &&
	     sql_stream_flush(&out) == NAM_OK &&
	     olap_publish(source->ph, out.wr, &helped, sizeof helped) == NAM_OK;
	olap_writer_close(out.wr);
	return ok;
}

bool
sql_gather_help(struct sql_exec *x, struct sql_fragment *f, const struct sql_gather *g, struct olap_job *job)
{
	struct olap_phase ph;
	if (olap_phase_begin(&ph, job, 0, g->parts) != NAM_OK)
		return false;
	struct sql_source source = { .scan = f->scan, .ph = &ph, .part = g->part, .raw = g->raw };
	x->source = &source; // cppcheck-suppress autoVariables -- x ends with this call's fragment
	x->bare = true;
	bool ok = sql_open(x, f->top);
	if (ok) {
		borrow(x, f, g);
		ok = share(x, f, &source, job);
	}
	sql_close(x, f->top);
	olap_phase_end(&ph);
	return ok;
}

/* What the pipeline looks into is there. */
static bool
lead(struct sql_exec *x, struct sql_fragment *f, struct sql_gather *g, struct olap_job *job)
{
	struct olap_phase ph;
	struct sql_team *team = x->team;
	if (team == NULL || olap_phase_begin(&ph, job, 0, g->parts) != NAM_OK)
		return false;
	g->raw = f->scan->run->read == NULL || cat_scan_is_raw(f->scan->run->read);
	struct sql_source source = { .scan = f->scan, .ph = &ph, .part = g->part, .raw = g->raw };
	x->source = &source; // cppcheck-suppress autoVariables -- x ends with this call's fragment
	x->team = NULL;
	x->bare = true;
	bool ok = sql_scan_again(x, f->scan) && olap_job_come(job) == NAM_OK;
	if (ok) {
		team->call(team->arg, g);
		ok = share(x, f, &source, job);
		team->dismiss(team->arg, g);
	}
	olap_phase_end(&ph);
	return ok;
}

bool
sql_gather_lead(struct sql_exec *x, struct sql_fragment *f, struct sql_gather *g, struct olap_job *job)
{
	bool ok = sql_open(x, f->top) && pipe_ready(x, f) && note_ready(x, g) && lead(x, f, g, job);
	sql_close(x, f->top);
	free(g->ready);
	g->ready = NULL;
	return ok;
}
