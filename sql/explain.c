/* explain.c -- EXPLAIN: the plan in words; with ANALYZE, what running it took, operator by operator and on the fabric. */
#include "session_internal.h"

#include <base/clock.h>

enum { LINES = 200 };

static bool
run(struct sql_session *s, const struct ast_stmt *ast, struct sql_plan *p, struct cat_err *err)
{
	static const struct sql_sink nobody;
	uint64_t rows;
	if (p->arenas > 0 && sql_arena(s, p->arenas - 1) == NULL)
		return sql_no_memory(err);
	for (unsigned i = 0; i < p->arenas; i++)
		nam_arena_reset(s->arena[i]);
	sql_take_now(s, p);
	sql_prepare_exec(s, &nobody, err);
	sql_sub_start(&s->x, p);
	s->x.measure = true;
	s->x.clock = !ast->no_timing;
	bool ok = sql_plan_run(s, p, &rows);
	s->x.measure = s->x.clock = false;
	p->measured = true;
	p->timed = !ast->no_timing;
	return ok;
}

static void
say(struct cat_str *line, unsigned *n, const char *text)
{
	if (text != NULL && *n < LINES)
		line[(*n)++] = (struct cat_str){ text, (uint32_t)strlen(text) };
}

bool
sql_explain(
    struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink, struct cat_err *err)
{
	if (!sql_has_plan(ast->inner))
		return cat_error(err, "0A000", "EXPLAIN of this kind of statement is not supported yet");
	if (ast->analyze && ast->params > 0)
		return cat_error(err, "42P02", "there is no parameter $1");
	struct sql_bind_in in = {
		.cat = s->cfg.cat, .t = s->t, .parser = s->cfg.parser, .hint = s->hint, .hints = SQL_HINTS
	};
	uint64_t start = nam_clock_ns();
	struct sql_plan *p = sql_plan_make(ast->inner, &in, err);
	if (p == NULL)
		return false;
	uint64_t planned = nam_clock_ns();
	struct net_counts before, after;
	sql_session_counts(s, &before);
	bool ok = !ast->analyze || run(s, ast, p, err);
	sql_session_counts(s, &after);
	uint64_t done = nam_clock_ns();
	if (ok) {
		struct nam_arena *a = &p->arena; /* what the statement kept is not asked for again */
		struct cat_str line[LINES];
		unsigned n = sql_plan_text(p, line, LINES - 3, a);
		if (ast->analyze && !ast->no_summary) {
			say(line, &n,
			    nam_arena_printf(a, "Planning Time: %.3f ms", (double)(planned - start) / 1e6));
			say(line, &n,
			    nam_arena_printf(a, "Execution Time: %.3f ms", (double)(done - planned) / 1e6));
			say(line, &n,
			    nam_arena_printf(a,
				"Fabric: %llu verbs, %llu round trips, %llu bytes out, %llu bytes in",
				(unsigned long long)(net_counts_verbs(&after) - net_counts_verbs(&before)),
				(unsigned long long)(after.round_trips - before.round_trips),
				(unsigned long long)(after.bytes_out - before.bytes_out),
				(unsigned long long)(after.bytes_in - before.bytes_in)));
		}
		ok = sql_text_rows(sink, "QUERY PLAN", line, n, a, err);
	}
	sql_plan_free(p);
	return ok;
}
