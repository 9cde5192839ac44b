/* terms.c -- how an operator finds its rows, and what that takes of the network, memory and CPU:
 * as estimated, and as it was. */
#include <sql/explain/explain.h>
#include <sql/plan/fragment.h>
#include <sql/plan/op.h>

/* True if workers share the pipeline that n is a part of. */
static bool
in_pipeline(const struct sql_report *r, const struct sql_node *n)
{
	for (const struct sql_fragment *f = r->plan->fragments; f != NULL; f = f->next) {
		if (sql_explain_sharing(r, f->at) == 0)
			continue;
		for (const struct sql_node *p = f->pipe; p != NULL; p = p->child) {
			if (p == n)
				return true;
			if (p->kind == SQL_NODE_SCAN)
				break;
		}
	}
	return false;
}

static const char *
of_join(const struct sql_report *r, const struct sql_op_join *j)
{
	bool shared = in_pipeline(r, &j->node);
	if (j->keys == 0)
		return shared ? "all pairs, the second input kept once for all workers"
			      : "all pairs, the second input kept";
	return shared ? "hash table of the second input, made once and shared by all workers"
		      : "hash table of the second input";
}

/* Of one worker alone, the operator's name says it. */
static const char *
of_groups(const struct sql_report *r, const struct sql_node *n)
{
	if (sql_explain_sharing(r, n) == 0)
		return NULL;
	return sql_op(agg, n)->keys > 0 ? "hash table of the groups of each worker, put together"
					: "one group of each worker, put together";
}

static const char *
algorithm(const struct sql_report *r, const struct sql_node *n)
{
	switch (n->kind) {
	case SQL_NODE_GET:
		return n->child ? "keys of many rows looked up together" : NULL;
	case SQL_NODE_INDEX:
		return n->child ? "keys of many rows sought in the index together" : NULL;
	case SQL_NODE_JOIN:
		return of_join(r, sql_op(join, n));
	case SQL_NODE_SEMI:
		return in_pipeline(r, n) ? "hash table of the subquery's rows, shared by all workers"
					 : "hash table of the subquery's rows";
	case SQL_NODE_LATERAL:
		return "the second input again for each row";
	case SQL_NODE_AGG:
		return of_groups(r, n);
	default:
		return NULL;
	}
}

static void
estimated(struct sql_text *t, const struct sql_terms *e)
{
	sql_text_add(t, "network %.2f us, memory %.2f us, CPU %.2f us", e->network, e->memory, e->cpu);
}

/* ns: with what was waited. */
static void
took(struct sql_text *t, uint64_t ns, uint64_t waited_ns, uint64_t loops)
{
	double all = (double)ns / 1e3 / (double)loops, waited = (double)waited_ns / 1e3 / (double)loops;
	if (all < waited)
		all = waited;
	sql_text_add(t, "network %.2f us, memory and CPU %.2f us", waited, all - waited);
}

static bool
is_timed(const struct sql_report *r)
{
	return r->gauge != NULL && r->how->timing;
}

const char *
sql_explain_fact(const struct sql_report *r, struct sql_text *t, const struct sql_node *n, enum sql_fact f)
{
	static const char *const name[] = { "Algorithm", "Cost", "Took" };
	const struct sql_meter *m = n->meter;
	const char *way = f == SQL_FACT_ALGORITHM ? algorithm(r, n) : NULL;
	if (!r->how->verbose)
		return NULL;
	if (way != NULL)
		sql_text_add(t, "%s", way);
	else if (f == SQL_FACT_COST && r->how->costs)
		estimated(t, &n->est_own);
	else if (f == SQL_FACT_TOOK && is_timed(r) && m != NULL && m->opens > 0)
		took(t, m->self_ns, m->self.waited_ns, m->opens);
	else
		return NULL;
	return name[f];
}

static void
terms_json(struct sql_text *t, const char *name, const struct sql_terms *e)
{
	sql_text_add(t, "\"%s\": {\"Network\": %.2f, \"Memory\": %.2f, \"CPU\": %.2f}", name, e->network,
	    e->memory, e->cpu);
}

void
sql_explain_terms_json(struct sql_text *t, const struct sql_node *n)
{
	terms_json(t, "Cost Exclusive", &n->est_own);
	sql_text_add(t, ", ");
	terms_json(t, "Cost Inclusive", &n->est_all);
}

void
sql_explain_terms_end(const struct sql_report *r, struct sql_text *t)
{
	const struct sql_gauge *g = r->gauge;
	if (r->plan->root != NULL && r->how->costs) {
		sql_text_add(t, "Estimated Time: ");
		estimated(t, &r->plan->root->est_all);
		sql_text_add(t, "\n");
	}
	if (is_timed(r)) {
		sql_text_add(t, "Actual Time: ");
		took(t, r->ran_ns, r->operators.waited_ns + g->statement.self.waited_ns, 1);
		sql_text_add(t, "\n");
	}
}
