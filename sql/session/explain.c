/* explain.c -- EXPLAIN: plans a statement and, with ANALYZE, runs it under meters, from the begin
 * to the commit. */
#include <base/clock.h>
#include <sql/explain/explain.h>
#include <sql/session/session_internal.h>

#include <stdio.h>

/* What is explained: a plan, and whose it is. */
struct subject {
	const struct ast_stmt *ast;    /* EXPLAIN's statement */
	const struct sql_parsed *text; /* that has it */
	struct sql_plan *plan;
	bool own;              /* made here, else a prepared statement's */
	struct ast_stmt query; /* CREATE TABLE AS: its query as a statement */
	const struct cat_datum *given;
	unsigned ngiven;
};

static bool
plan(struct sql_session *s, struct subject *j, struct cat_err *err)
{
	const struct ast_stmt *ast = j->ast;
	if (ast->kind == AST_EXECUTE)
		return sql_named_plan(s, ast, &j->plan, &j->given, &j->ngiven, err);
	struct sql_bind_in in = { .cat = s->cfg.cat,
		.peers = s->cfg.peers,
		.cursors = sql_cursors_each,
		.session = s,
		.who = sql_who(s),
		.search = sql_search_text(s, s->search),
		.t = s->t,
		.parser = s->cfg.parser,
		.costs = sql_costs_renew(s),
		.join_order = s->now.join_order };
	j->own = true;
	if (ast->kind == AST_CREATE_AS) {
		j->query =
		    (struct ast_stmt){ .kind = AST_SELECT, .select = ast->select, .depth = ast->depth };
		ast = &j->query;
	}
	return (j->plan = sql_plan_make(ast, &in, err)) != NULL;
}

static bool
create_as(struct sql_session *s, struct subject *j, const struct sql_sink *sink, struct cat_err *err)
{
	struct nam_arena names;
	struct ast_stmt resolved;
	uint64_t rows = 0;
	nam_arena_init(&names, 0);
	bool ok = sql_resolve(s, j->ast, sink, &resolved, &names, err) &&
		  sql_create_as_run(s, &resolved, j->plan, sink, &rows, err);
	nam_arena_fini(&names);
	return ok;
}

static bool
run(struct sql_session *s, struct subject *j, const struct sql_sink *sink, struct cat_err *err)
{
	static const struct sql_sink silent;
	struct sql_plan *p = j->plan;
	uint64_t rows = 0;
	if (p->arenas > 0 && sql_arena(s, p->arenas - 1) == NULL)
		return sql_no_memory(err);
	if (!sql_meter_plan(p))
		return sql_no_memory(err);
	if (j->ast->kind == AST_CREATE_AS)
		return create_as(s, j, sink, err);
	for (unsigned i = 0; i < p->arenas; i++)
		nam_arena_reset(s->arena[i]);
	sql_take_now(s, p);
	sql_prepare_exec(s, &silent, err);
	s->x.env.param = j->given;
	s->x.env.params = j->ngiven;
	if (!sql_sub_start(&s->x, p))
		return false;
	sql_team_up(s, p, j->text);
	bool ok = sql_plan_run(s, p, &rows);
	s->gauge->statement.gave = s->x.sent;
	return ok;
}

/* Text as rows: a line each, or, of JSON, all in one. */
static bool
send(const struct sql_text *t, bool json, const struct sql_sink *sink, struct cat_err *err)
{
	struct sql_column col = { .name = "QUERY PLAN", .type = json ? CAT_JSON : CAT_TEXT, .typmod = -1 };
	bool ok = sink->begin == NULL || sink->begin(sink->arg, &col, 1);
	for (const char *at = t->p, *end = t->p + t->n; ok && at < end;) {
		struct cat_str line[256];
		uint8_t null[256] = { 0 };
		unsigned n = 0;
		while (n < 256 && at < end) {
			const char *stop = json ? end : memchr(at, '\n', (size_t)(end - at));
			stop = stop ? stop : end;
			line[n++] = (struct cat_str){ at, (uint32_t)(stop - at) };
			at = stop + 1;
		}
		struct cat_vec v = { .type = col.type, .null = null, .s = line };
		struct sql_batch_view b = { .col = &v, .cols = 1, .n = n };
		ok = sink->rows == NULL || sink->rows(sink->arg, &b);
	}
	if (ok && (sink->done == NULL || sink->done(sink->arg, "EXPLAIN", 0)))
		return true;
	return cat_error(err, "57014", "canceling statement due to user request");
}

/* Begins, plans, runs, commits; every verb on the way is in one of g's meters. */
static bool
explain(struct sql_session *s, struct subject *j, struct sql_report *r, struct sql_gauge *g, bool commit,
    const struct sql_sink *sink, struct sql_text *out, struct cat_err *err)
{
	bool analyze = r->how->analyze;
	g->clock = true;
	sql_meter_account(g, s->t);
	sql_meter_turn(g, &g->begin);
	struct net_counts before = g->at;
	bool ok = sql_begin_statement(s, err);
	sql_meter_account(g, s->t);
	sql_meter_turn(g, &g->planning);
	uint64_t start = nam_clock_ns();
	ok = ok && plan(s, j, err);
	uint64_t planned = nam_clock_ns();
	r->plan = j->plan;
	r->workers = sql_team_size(s);
	r->parallel_rows = (double)s->now.parallel_rows;
	r->planned_ns = planned - start;
	g->clock = r->how->timing;
	sql_meter_turn(g, &g->statement);
	if (ok && analyze) {
		ok = run(s, j, sink, err);
		r->ran_ns = nam_clock_ns() - planned;
	}
	sql_meter_turn(g, &g->commit);
	r->memory = s->arena;
	g->statement.took_ns = r->ran_ns;
	g->statement.opens = analyze;
	g->statement.all = g->statement.self;
	if (ok) {
		if (analyze)
			sql_meter_sum(j->plan, &r->operators);
		net_counts_add(&g->statement.all, &r->operators);
		sql_explain_names(j->plan);
		sql_explain_plan(r, out);
	}
	if (ok && commit) {
		/* To the last verb, also those behind the answer. */
		txn_set_finish(s->t, analyze);
		if (analyze)
			txn_set_counts_sink(s->t, &g->paid);
		ok = sql_commit(s, err);
		r->committed = ok;
	} else if (!ok) {
		sql_abort(s);
	}
	if (s->t == NULL)
		sql_meter_account(g, NULL);
	sql_meter_turn(g, NULL);
	r->total = g->at;
	sql_meter_minus(&r->total, &before);
	if (ok)
		sql_explain_end(r, out);
	return ok && (!out->failed || sql_no_memory(err));
}

bool
sql_explain(struct sql_session *s, const struct sql_stmt *st, const struct sql_sink *sink,
    struct cat_err *err, bool last)
{
	const struct ast_stmt *ast = st->ast;
	struct subject j = { .ast = ast->inner, .text = st->parsed };
	struct sql_report r = { .how = &ast->explain, .floats = s->now.floats };
	struct sql_gauge g = { .clock = false };
	struct nam_arena arena;
	struct sql_text out = { .arena = &arena };
	enum ast_stmt_kind k = ast->inner->kind;
	if ((!sql_has_plan(ast->inner) && k != AST_EXECUTE && k != AST_CREATE_AS) || k == AST_TRUNCATE) {
		sql_abort(s);
		return cat_error(err, "0A000", "EXPLAIN of this kind of statement is not supported yet");
	}
	if (ast->params > 0 && k != AST_EXECUTE && (r.how->analyze || k == AST_CREATE_AS)) {
		sql_abort(s);
		return cat_error(err, "42P02", "there is no parameter $1");
	}
	nam_arena_init(&arena, 8 << 10);
	nam_arena_charge(&arena, &s->budget);
	g.begin.kind = g.planning.kind = g.statement.kind = g.commit.kind = SQL_METER_PHASE;
	if (r.how->analyze) {
		r.gauge = s->gauge = &g;
		net_account_to(&g.paid);
	}
	bool commit = s->block == SQL_IDLE || (s->block == SQL_IMPLICIT && last);
	bool ok = explain(s, &j, &r, &g, commit, sink, &out, err);
	s->gauge = s->x.gauge = NULL;
	if (r.gauge != NULL)
		net_account_to(NULL);
	if (j.own)
		sql_plan_free(j.plan);
	if (k == AST_EXECUTE)
		err->position = 0; /* of another text */
	ok = ok && send(&out, r.how->json, sink, err);
	nam_arena_fini(&arena);
	return ok;
}
