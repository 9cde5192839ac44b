/* meter.c -- charging operators for their work: see meter.h. */
#include <base/clock.h>
#include <sql/exec/meter.h>
#include <sql/plan/op.h>
#include <sql/plan/sub.h>

/* tests/e2e/explain_counts_test.c builds a twin of this file that forgets one kind of operator, and
 * must notice. */
#ifndef SQL_METER_BLIND
#define SQL_METER_BLIND (-2)
#endif

static void
sum(const struct sql_gauge *g, struct net_counts *out)
{
	*out = g->paid;
	if (g->t != NULL)
		net_counts_add(out, txn_counts(g->t));
}

void
sql_meter_minus(struct net_counts *c, const struct net_counts *b)
{
	for (unsigned i = 0; i < NET_CODES; i++)
		c->verbs[i] -= b->verbs[i];
	c->bytes_out -= b->bytes_out;
	c->bytes_in -= b->bytes_in;
	c->doorbells -= b->doorbells;
	c->round_trips -= b->round_trips;
	c->waited_ns -= b->waited_ns;
}

static void
add_between(struct net_counts *into, const struct net_counts *from, const struct net_counts *to)
{
	struct net_counts d = *to;
	sql_meter_minus(&d, from);
	net_counts_add(into, &d);
}

void
sql_meter_turn(struct sql_gauge *g, struct sql_meter *to)
{
	struct net_counts total;
	uint64_t ns = g->clock ? nam_clock_ns() : 0;
	sum(g, &total);
	if (g->now != NULL && g->now->kind != SQL_METER_BLIND) {
		add_between(&g->now->self, &g->at, &total);
		g->now->self_ns += ns - g->at_ns;
	}
	g->at = total;
	g->at_ns = ns;
	g->now = to;
}

void
sql_meter_account(struct sql_gauge *g, const struct txn *t)
{
	g->t = t;
}

void
sql_meter_enter(struct sql_gauge *g, struct sql_meter *m, struct sql_span *s)
{
	s->outside = g->now;
	sql_meter_turn(g, m);
	s->at = g->at;
	s->at_ns = g->at_ns;
}

void
sql_meter_leave(struct sql_gauge *g, struct sql_meter *m, const struct sql_span *s)
{
	sql_meter_turn(g, s->outside);
	add_between(&m->all, &s->at, &g->at);
	m->took_ns += g->at_ns - s->at_ns;
	if (m->fresh)
		m->first_ns += g->at_ns - s->at_ns;
}

/* ---- the plan's operators ------------------------------------------------------------- */

static bool
each(struct sql_node *n, bool (*fn)(void *arg, struct sql_node *n), void *arg)
{
	if (n == NULL)
		return true;
	struct sql_node **k;
	for (struct sql_inputs i = sql_inputs(n); (k = sql_input_next(&i)) != NULL;)
		if (!each(*k, fn, arg))
			return false;
	return fn(arg, n);
}

static bool
each_of_plan(const struct sql_plan *p, bool (*fn)(void *arg, struct sql_node *n), void *arg)
{
	bool ok = each(p->root, fn, arg);
	for (const struct sql_sub *s = p->subs; ok && s != NULL;
	     s = s->next) { /* a set that is joined is in the tree */
		ok = (s->joined && s->set == NULL) || each(s->root, fn, arg);
		ok = ok && (s->joined || each(s->set, fn, arg));
	}
	return ok;
}

static bool
give(void *arg, struct sql_node *n)
{
	struct sql_plan *p = arg;
	if (n->meter == NULL && (n->meter = nam_arena_zero(&p->arena, sizeof *n->meter)) == NULL)
		return false;
	*n->meter = (struct sql_meter){ .kind = (int)n->kind };
	return true;
}

bool
sql_meter_plan(struct sql_plan *p)
{
	return each_of_plan(p, give, p);
}

static bool
add(void *arg, struct sql_node *n)
{
	net_counts_add(arg, &n->meter->self);
	return true;
}

void
sql_meter_sum(const struct sql_plan *p, struct net_counts *out)
{
	*out = (struct net_counts){ 0 };
	each_of_plan(p, add, out);
}
