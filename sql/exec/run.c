/* run.c -- the surroundings of a plan that runs for a session: arenas, the clock, the session's
 * callbacks. */
#include <base/clock.h>
#include <sql/exec/run.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct nam_arena *
sql_arena(struct sql_session *s, unsigned i)
{
	if (i >= s->arenas) {
		unsigned n = i + 8;
		struct nam_arena **more = realloc(s->arena, n * sizeof *more);
		if (more == NULL)
			return NULL;
		s->arena = more;
		for (; s->arenas < n; s->arenas++) {
			if ((s->arena[s->arenas] = malloc(sizeof **more)) == NULL)
				return NULL;
			nam_arena_init(s->arena[s->arenas], 0);
			s->arena[s->arenas]->limit = (size_t)4 << 30;
			nam_arena_charge(s->arena[s->arenas], &s->budget);
		}
	}
	return s->arena[i];
}

static void
saw(void *arg, uint32_t table, uint64_t rows)
{
	struct sql_session *s = arg;
	cat_rows_saw(s->cfg.cat, table, rows);
}

void
sql_prepare_exec(struct sql_session *s, const struct sql_sink *sink, struct cat_err *err)
{
	struct sql_exec *x = &s->x;
	x->t = s->t;
	x->cat = s->cfg.cat;
	x->err = err;
	x->arena = s->arena;
	x->cancel = s->cfg.cancel;
	x->net = s->net;
	x->deadline_ns = s->deadline_ns;
	x->turn_ns = s->cfg.turn_ns;
	x->turn_until_ns = 0;
	x->team = NULL;
	x->source = NULL;
	x->bare = false;
	x->sink = sink;
	x->rules = NULL;
	x->sent = 0;
	x->again = false;
	x->gauge = s->gauge;
	x->saw = saw;
	x->saw_arg = s;
	x->progress = s->cfg.progress;
	sql_progress_is(x, 0, 0);
	x->env = (struct sql_env){ .session = s,
		.host = s->host,
		.dice = s->dice,
		.floats = &s->now.floats,
		.now_us = s->now_us,
		.err = err,
		.go_on = sql_worked,
		.go_on_arg = x };
}

void
sql_start_now(struct sql_session *s)
{
	s->now_us = s->statement_us;
	if (s->now_us == 0) /* a transaction of the session's own */
		s->now_us = nam_clock_wall_us() - INT64_C(946684800000000);
}

int64_t
sql_now_us(struct sql_session *s)
{
	if (s->now_us == 0)
		sql_start_now(s);
	return s->now_us;
}

void
sql_take_now(struct sql_session *s, const struct sql_plan *p)
{
	if (p->uses_now)
		sql_now_us(s);
}

bool
sql_may_write(const struct sql_session *s, const char *what, struct cat_err *err)
{
	return !(s->block == SQL_IDLE ? s->now.read_only : s->read_only) ||
	       cat_error(err, "25006", "cannot execute %s in a read-only transaction", what);
}

const char *
sql_search_text(const struct sql_session *s, char buf[SQL_SEARCH_MAX])
{
	const char *path = s->now.search_path;
	/* The names of a text without these letters are nobody's temporary schema. */
	if (s->temp[0] == 0 && strcasestr(path, "pg_temp") == NULL)
		return path;
	return sql_search_with(path, s->temp, buf, SQL_SEARCH_MAX);
}

void
sql_costs_in_force(const struct sql_settings *set, struct sql_costs *out)
{
	double c[SQL_COST_CONSTANTS];
	static_assert(sizeof c == sizeof *out, "a struct of doubles: session/cost.c names them");
	memcpy(c, set->standard_costs ? &sql_costs_standard : sql_costs_now(), sizeof c);
	for (unsigned k = 0; k < SQL_COST_CONSTANTS; k++)
		if (set->cost[k] >= 0)
			c[k] = set->cost[k];
	memcpy(out, c, sizeof c);
}

const struct sql_costs *
sql_costs_renew(struct sql_session *s)
{
	if (s->now.costs_given)
		sql_costs_in_force(&s->now, &s->costs_given);
	s->costs = s->now.costs_given      ? &s->costs_given
		   : s->now.standard_costs ? &sql_costs_standard
					   : sql_costs_now();
	return s->costs;
}
