/*
 * out.c -- the words of EXPLAIN, as text and as JSON.
 *
 * As in PostgreSQL, rows and times of an operator are those of one execution, on average, with all
 * that is below it; how often it ran stands beside them. What it did on the fabric is said of all
 * executions: in the text without what is below it (so the lines add up), in JSON both.
 */
#include <sql/explain/explain.h>
#include <sql/plan/fragment.h>
#include <sql/plan/op.h>
#include <sql/plan/sub.h>

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>

enum { LONGEST = 16 << 10 }; /* of a list of keys */

static void indent(struct sql_text *t, unsigned depth);

void
sql_text_add(struct sql_text *t, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	int n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0 || t->failed)
		return;
	if (t->n + (size_t)n + 1 > t->cap) {
		size_t cap = (t->n + (size_t)n + 1) * 2;
		char *more = nam_arena_take(t->arena, cap);
		if (more == NULL) {
			t->failed = true;
			return;
		}
		if (t->n > 0)
			memcpy(more, t->p, t->n);
		t->p = more;
		t->cap = cap;
	}
	va_start(ap, fmt);
	vsnprintf(t->p + t->n, (size_t)n + 1, fmt, ap);
	va_end(ap);
	t->n += (size_t)n;
}

static void
quoted(struct sql_text *t, const char *s)
{
	sql_text_add(t, "\"");
	for (const unsigned char *p = (const void *)s; *p; p++)
		if (*p == '"' || *p == '\\')
			sql_text_add(t, "\\%c", *p);
		else if (*p < 0x20)
			sql_text_add(t, "\\u%04x", *p);
		else
			sql_text_add(t, "%c", *p);
	sql_text_add(t, "\"");
}

/* ---- figures ---------------------------------------------------------------------------- */

/* In one line, what is zero left out. */
static void
counts_text(struct sql_text *t, const struct net_counts *c)
{
	const struct {
		const char *name;
		uint64_t n;
	} figure[] = { { "read", c->verbs[NET_READ] },
		{ "write", c->verbs[NET_WRITE] + c->verbs[NET_WRITE_IMM] }, { "cas", c->verbs[NET_CAS] },
		{ "fetch_add", c->verbs[NET_FAA] }, { "round trips", c->round_trips },
		{ "bytes in", c->bytes_in }, { "bytes out", c->bytes_out } };
	bool any = false;
	for (unsigned i = 0; i < sizeof figure / sizeof *figure; i++)
		if (figure[i].n > 0) {
			sql_text_add(
			    t, "%s%s=%llu", any ? " " : "", figure[i].name, (unsigned long long)figure[i].n);
			any = true;
		}
	if (!any)
		sql_text_add(t, "nothing");
}

static void
counts_json(struct sql_text *t, const struct net_counts *c)
{
	sql_text_add(t,
	    "{\"READ\": %llu, \"WRITE\": %llu, \"CAS\": %llu, \"FETCH_ADD\": %llu, \"Round Trips\": %llu, "
	    "\"Bytes Read\": %llu, \"Bytes Written\": %llu}",
	    (unsigned long long)c->verbs[NET_READ],
	    (unsigned long long)(c->verbs[NET_WRITE] + c->verbs[NET_WRITE_IMM]),
	    (unsigned long long)c->verbs[NET_CAS], (unsigned long long)c->verbs[NET_FAA],
	    (unsigned long long)c->round_trips, (unsigned long long)c->bytes_in,
	    (unsigned long long)c->bytes_out);
}

static bool
did_nothing(const struct net_counts *c)
{
	return net_counts_verbs(c) == 0 && c->round_trips == 0;
}

static unsigned long long
kb(size_t bytes)
{
	return (unsigned long long)(bytes + 1023) / 1024;
}

/* What an operator has done by indexes: READs of nodes for each key or range, and of rows. */
static void
looks_text(struct sql_text *t, const struct txn_looks *l)
{
	uint64_t lookups = l->keys + l->ranges;
	sql_text_add(
	    t, "lookups=%llu nodes=%llu", (unsigned long long)lookups, (unsigned long long)l->node_reads);
	if (lookups > 0)
		sql_text_add(t, " (%.2f a lookup)", (double)l->node_reads / (double)lookups);
	sql_text_add(t, " rows=%llu", (unsigned long long)l->block_reads);
	if (l->word_reads > 0)
		sql_text_add(t, " words=%llu", (unsigned long long)l->word_reads);
}

static void
looks_json(struct sql_text *t, const struct txn_looks *l)
{
	uint64_t lookups = l->keys + l->ranges;
	sql_text_add(t,
	    "\"Index Reads\": {\"Lookups\": %llu, \"Nodes\": %llu, \"Nodes per Lookup\": %.2f, \"Rows\": "
	    "%llu, "
	    "\"Words\": %llu}",
	    (unsigned long long)lookups, (unsigned long long)l->node_reads,
	    lookups > 0 ? (double)l->node_reads / (double)lookups : 0, (unsigned long long)l->block_reads,
	    (unsigned long long)l->word_reads);
}

static bool
looked(const struct txn_looks *l)
{
	return l->keys + l->ranges > 0;
}

/* ---- what an operator is called ------------------------------------------------------------ */

static const char *
set_name(const struct sql_op_setop *s)
{
	return s->op == AST_EXCEPT ? s->all ? "Except All" : "Except"
	       : s->all            ? "Intersect All"
				   : "Intersect";
}

static const char *
join_name(const struct sql_op_join *j)
{
	if (!j->keep_probe && !j->keep_build)
		return j->keys == 0 ? "Nested Product" : "Hash Join";
	return !j->keep_build   ? j->keys ? "Hash Left Join" : "Nested Left Join"
	       : !j->keep_probe ? j->keys ? "Hash Right Join" : "Nested Right Join"
	       : j->keys        ? "Hash Full Join"
				: "Nested Full Join";
}

/* "Only": what is wanted comes out of the index's keys. */
static const char *
index_name(const struct sql_op_index *o)
{
	bool only = sql_index_only(o);
	if (o->legs > 0)
		return o->all ? "Index And Scan" : "Index Or Scan";
	if (o->node.child != NULL && o->keep_probe)
		return only ? "Left Index Only Lookup" : "Left Index Lookup";
	if (o->node.child != NULL)
		return only ? "Index Only Lookup" : "Index Lookup";
	return o->backward ? only ? "Index Only Scan Backward" : "Index Scan Backward"
	       : only      ? "Index Only Scan"
			   : "Index Scan";
}

/* The k-th index that n goes by; NULL: there are no more. */
static const char *
index_of(const struct sql_node *n, unsigned k)
{
	if (n->kind != SQL_NODE_INDEX)
		return NULL;
	const struct sql_op_index *o = sql_op(index, n);
	if (k >= (o->legs > 0 ? o->legs : 1))
		return NULL;
	return o->acc.tab->index[o->legs > 0 ? o->leg[k].index : o->index].name;
}

static const char *
name_of(const struct sql_node *n)
{
	static const char *const name[] = {
		[SQL_NODE_ONE] = "Result",
		[SQL_NODE_VALUES] = "Values",
		[SQL_NODE_SCAN] = "Seq Scan",
		[SQL_NODE_GET] = "Key Lookup",
		[SQL_NODE_INDEX] = "Index Scan",
		[SQL_NODE_JOIN] = "Hash Join",
		[SQL_NODE_AGG] = "Aggregate",
		[SQL_NODE_PROJECT] = "Project",
		[SQL_NODE_SORT] = "Sort",
		[SQL_NODE_LIMIT] = "Limit",
		[SQL_NODE_APPEND] = "Append",
		[SQL_NODE_SETOP] = "SetOp",
		[SQL_NODE_SERIES] = "Series",
		[SQL_NODE_RECURSE] = "Recursive Union",
		[SQL_NODE_CTE] = "CTE Scan",
		[SQL_NODE_DERIVED] = "Subquery Scan",
		[SQL_NODE_WINDOW] = "WindowAgg",
		[SQL_NODE_LATERAL] = "Nested Loop",
		[SQL_NODE_EXPAND] = "Grouping Sets",
		[SQL_NODE_UNNEST] = "ProjectSet",
		[SQL_NODE_UNIQUE] = "Unique",
		[SQL_NODE_LOCK] = "LockRows",
		[SQL_NODE_SEMI] = "Hash Semi Join",
	};
	const struct sql_op_agg *g;
	switch (n->kind) {
	case SQL_NODE_GET:
		return sql_op(get, n)->keep_probe ? "Left Key Lookup" : name[n->kind];
	case SQL_NODE_INDEX:
		return index_name(sql_op(index, n));
	case SQL_NODE_JOIN:
		return join_name(sql_op(join, n));
	case SQL_NODE_SEMI:
		return sql_op(semi, n)->anti ? "Hash Anti Join" : name[n->kind];
	case SQL_NODE_AGG:
		g = sql_op(agg, n);
		return g->keys == 0 ? "Aggregate" : g->aggs ? "HashAggregate" : "Distinct";
	case SQL_NODE_SETOP:
		return set_name(sql_op(setop, n));
	case SQL_NODE_SORT:
		return sql_op(sort, n)->presorted > 0        ? "Incremental Sort"
		       : sql_op(sort, n)->most.limit != NULL ? "Top-N Sort"
							     : name[n->kind];
	default:
		return name[n->kind];
	}
}

static const char *
join_type(const struct sql_node *n)
{
	if (n->kind == SQL_NODE_GET)
		return n->child == NULL ? NULL : sql_op(get, n)->keep_probe ? "Left" : "Inner";
	if (n->kind == SQL_NODE_INDEX)
		return n->child == NULL ? NULL : sql_op(index, n)->keep_probe ? "Left" : "Inner";
	if (n->kind == SQL_NODE_SEMI)
		return sql_op(semi, n)->anti ? "Anti" : "Semi";
	if (n->kind != SQL_NODE_JOIN)
		return NULL;
	const struct sql_op_join *j = sql_op(join, n);
	return j->keep_probe && j->keep_build ? "Full"
	       : j->keep_probe                ? "Left"
	       : j->keep_build                ? "Right"
					      : "Inner";
}

static const char *
change_of(const struct sql_plan *p)
{
	return p->kind == AST_INSERT ? "Insert" : p->kind == AST_UPDATE ? "Update" : "Delete";
}

static const char *
way_of(const struct sql_sub *s)
{
	return s->set && s->patience == 0 ? "hashed"
	       : s->set                   ? "per row, then hashed"
	       : s->hashed                ? "hashed"
	       : s->once                  ? "once"
					  : "per row";
}

/* Bytes of a subquery's answers that are kept. */
static size_t
kept_by(const struct sql_report *r, const struct sql_sub *s)
{
	return r->gauge == NULL ? 0 : r->memory[s->arena + 1]->used + r->memory[s->arena + 2]->used;
}

static double
per_loop(uint64_t ns, uint64_t loops)
{
	return loops == 0 ? 0 : (double)ns / 1e6 / (double)loops;
}

/*
 * VERBOSE: the k-th column that comes out, NULL: there is none. Of the operator on top those of the
 * answer, of one that reads a table those that it reads of it.
 */
static const char *
output_of(const struct sql_report *r, const struct sql_node *n, unsigned k, char buf[2 * CAT_NAME_MAX + 2])
{
	if (!r->how->verbose)
		return NULL;
	if (n == r->plan->root && r->plan->kind == AST_SELECT)
		return k < r->plan->columns ? r->plan->column[k].name : NULL;
	if (n->kind != SQL_NODE_SCAN && n->kind != SQL_NODE_GET && n->kind != SQL_NODE_INDEX)
		return NULL;
	const struct sql_access *a = sql_node_access(n);
	if (k >= a->wants)
		return NULL;
	snprintf(
	    buf, 2 * CAT_NAME_MAX + 2, "%.*s.%s", CAT_NAME_MAX, a->alias, a->tab->column[a->want[k]].name);
	return buf;
}

/* ---- text
 * ------------------------------------------------------------------------------------- */

/* Guessed: until the first row comes out. */
static double
first_cost(const struct sql_node *n)
{
	double first = n->child != NULL ? first_cost(n->child) : 0;
	switch (n->kind) {
	case SQL_NODE_SORT:
	case SQL_NODE_AGG:
	case SQL_NODE_SETOP:
	case SQL_NODE_WINDOW: /* all rows are read first */
		first = n->child != NULL ? n->child->est_cost : 0;
		break;
	case SQL_NODE_JOIN:
	case SQL_NODE_SEMI: /* the build side is */
		first += n->build != NULL ? n->build->est_cost : 0;
		break;
	default:
		break;
	}
	return first < n->est_cost ? first : n->est_cost;
}

static void
costs_text(const struct sql_report *r, struct sql_text *t, const struct sql_node *n)
{
	if (r->how->costs)
		sql_text_add(t, "  (cost=%.2f..%.2f rows=%.0f width=%u)", first_cost(n), n->est_cost,
		    n->est_rows, n->est_width);
}

static void
actual_text(const struct sql_report *r, struct sql_text *t, const struct sql_meter *m)
{
	if (m == NULL || r->gauge == NULL)
		return;
	if (m->opens == 0) {
		sql_text_add(t, " (never executed)");
		return;
	}
	sql_text_add(t, " (actual ");
	if (r->how->timing)
		sql_text_add(
		    t, "time=%.3f..%.3f ", per_loop(m->first_ns, m->opens), per_loop(m->took_ns, m->opens));
	sql_text_add(
	    t, "rows=%.0f loops=%llu)", (double)m->gave / (double)m->opens, (unsigned long long)m->opens);
}

static void
line(struct sql_text *t, unsigned depth, const char *what)
{
	sql_text_add(t, "%*s%s%s", (int)depth * 2, "", depth ? "-> " : "", what);
}

/* A line about the operator above it. */
static void
detail(struct sql_text *t, unsigned depth, const char *what)
{
	sql_text_add(t, "%*s%s", (int)depth * 2 + (depth ? 3 : 0) + 2, "", what);
}

static void
details_text(const struct sql_report *r, struct sql_text *t, const struct sql_meter *m, unsigned depth)
{
	if (m == NULL || r->gauge == NULL || m->opens == 0)
		return;
	if (m->unpaired > 0) {
		detail(t, depth, "Rows Removed by Join Filter: ");
		sql_text_add(t, "%.0f\n", (double)m->unpaired / (double)m->opens);
	}
	if (m->removed > 0) {
		detail(t, depth, "Rows Removed by Filter: ");
		sql_text_add(t, "%.0f\n", (double)m->removed / (double)m->opens);
	}
	if (r->how->buffers && !did_nothing(&m->self)) {
		detail(t, depth, "Fabric: ");
		counts_text(t, &m->self);
		sql_text_add(t, "\n");
	}
	if (r->how->buffers && looked(&m->looks)) {
		detail(t, depth, "Index Reads: ");
		looks_text(t, &m->looks);
		sql_text_add(t, "\n");
	}
	if (r->how->buffers && m->peak > 0) {
		detail(t, depth, "Memory: ");
		sql_text_add(t, "%llukB\n", kb(m->peak));
	}
}

/* What this process keeps of the indexes that n goes by, to find leaves without a READ. */
static void
caches_text(const struct sql_report *r, struct sql_text *t, const struct sql_node *n, unsigned depth)
{
	const char *name;
	if (n->kind != SQL_NODE_INDEX || n->meter == NULL || r->gauge == NULL || !r->how->buffers ||
	    !looked(&n->meter->looks))
		return;
	const struct sql_op_index *o = sql_op(index, n);
	detail(t, depth, "Index Cache: ");
	for (unsigned k = 0; (name = index_of(n, k)) != NULL; k++) {
		struct idx_tree_counts c;
		txn_order_counts(&o->acc.tab->store, o->legs > 0 ? o->leg[k].index : o->index, &c);
		sql_text_add(t, "%s%s%s%s %llukB", k > 0 ? ", " : "", o->legs > 0 ? name : "",
		    o->legs > 0 ? " " : "", idx_tree_cache_name(c.cache), kb(c.cache_bytes + c.table_bytes));
		if (c.cache == IDX_TREE_LEARNED || c.cache == IDX_TREE_ONDEMAND || c.cache == IDX_TREE_MODELS)
			sql_text_add(t, " (model error: %u leaves)", c.model_error);
	}
	sql_text_add(t, "\n");
}

unsigned
sql_explain_sharing(const struct sql_report *r, const struct sql_node *n)
{
	return n->fragment != NULL && r->workers > 1 && n->fragment->rows >= r->parallel_rows ? r->workers
											      : 0;
}

static void
workers_text(const struct sql_report *r, struct sql_text *t, const struct sql_node *n, unsigned depth)
{
	const struct sql_meter *m = n->meter;
	if (sql_explain_sharing(r, n) != 0) {
		detail(t, depth, "Workers Planned: ");
		sql_text_add(t, "%u\n", sql_explain_sharing(r, n));
	}
	if (r->gauge == NULL || m == NULL || m->workers == 0)
		return;
	char of[40] = "of them";
	if (m->processes > 1)
		snprintf(of, sizeof of, "of %u processes", m->processes);
	detail(t, depth, "Workers: ");
	sql_text_add(t, "%u %s shared %u parts of %s; the others read %llu rows and gave %llu bytes\n",
	    m->workers, of, m->parts, cat_local(n->fragment->scan->acc.tab->path),
	    (unsigned long long)m->others_rows, (unsigned long long)m->others_bytes);
	if (!r->how->buffers)
		return;
	detail(t, depth, "Fabric of Others: ");
	counts_text(t, &m->others);
	sql_text_add(t, "\n");
}

static void
workers_json(const struct sql_report *r, struct sql_text *t, const struct sql_node *n, unsigned depth)
{
	const struct sql_meter *m = n->meter;
	if (sql_explain_sharing(r, n) != 0) {
		indent(t, depth);
		sql_text_add(t, "\"Workers Planned\": %u", sql_explain_sharing(r, n));
	}
	if (r->gauge == NULL || m == NULL || m->workers == 0)
		return;
	indent(t, depth);
	sql_text_add(t,
	    "\"Workers\": %u, \"Processes\": %u, \"Parts\": %u, \"Rows Read by Others\": %llu, \"Bytes "
	    "Gathered\": %llu",
	    m->workers, m->processes, m->parts, (unsigned long long)m->others_rows,
	    (unsigned long long)m->others_bytes);
	if (!r->how->buffers)
		return;
	indent(t, depth);
	sql_text_add(t, "\"Fabric of Others\": ");
	counts_json(t, &m->others);
}

static void
facts_text(const struct sql_report *r, struct sql_text *t, const struct sql_node *n, unsigned depth)
{
	for (enum sql_fact f = 0; f < SQL_FACTS; f++) {
		struct sql_text text = { .arena = t->arena };
		const char *name = sql_explain_fact(r, &text, n, f);
		t->failed |= text.failed;
		if (name == NULL || t->failed)
			continue;
		detail(t, depth, name);
		sql_text_add(t, ": %s\n", text.p);
	}
}

static unsigned
presorted(const struct sql_node *n)
{
	return n->kind == SQL_NODE_SORT ? sql_op(sort, n)->presorted : 0;
}

/* What it sorts or groups by; as: the first keys alone, under that name. */
static void
keys_text(const struct sql_report *r, struct sql_text *t, const struct sql_node *n, unsigned depth,
    const char *as, unsigned most)
{
	struct sql_text all = { .arena = t->arena };
	const char *name = sql_explain_key(r, &all, n, 0);
	if (name == NULL)
		return;
	size_t before = all.n;
	for (unsigned k = 1; k < most && before < LONGEST; k++) {
		sql_text_add(&all, ", ");
		if (sql_explain_key(r, &all, n, k) == NULL)
			break;
		before = all.n;
	}
	t->failed |= all.failed;
	if (t->failed)
		return;
	for (size_t i = 0; i < before; i++)
		if (all.p[i] == '\n')
			all.p[i] = ' ';
	detail(t, depth, as != NULL ? as : name);
	sql_text_add(t, ": %.*s%s\n", (int)before, all.p, before < LONGEST ? "" : ", ...");
}

static void
keys_json(const struct sql_report *r, struct sql_text *t, const struct sql_node *n, unsigned depth,
    const char *as, unsigned most)
{
	const char *name;
	bool any = false;
	for (unsigned k = 0; k < most; k++, any = true) {
		struct sql_text one = { .arena = t->arena };
		if ((name = sql_explain_key(r, &one, n, k)) == NULL)
			break;
		t->failed |= one.failed;
		if (t->failed)
			return;
		if (!any) {
			indent(t, depth);
			sql_text_add(t, "\"%s\": [", as != NULL ? as : name);
		}
		sql_text_add(t, any ? ", " : "");
		quoted(t, one.p);
	}
	if (any)
		sql_text_add(t, "]");
}

static void
conditions_text(const struct sql_report *r, struct sql_text *t, const struct sql_node *n, unsigned depth)
{
	for (enum sql_condition c = 0; c < SQL_CONDITIONS; c++) {
		struct sql_text text = { .arena = t->arena };
		const char *name = sql_explain_condition(r, &text, n, c);
		t->failed |= text.failed;
		if (name == NULL || t->failed)
			continue;
		detail(t, depth, name);
		sql_text_add(t, ": ");
		/* a constant may have line ends, a line of the answer not */
		for (size_t k = 0; k < text.n; k++)
			if (text.p[k] == '\n')
				text.p[k] = ' ';
		sql_text_add(t, "%s\n", text.p);
	}
}

static void
tree_text(const struct sql_report *r, struct sql_text *t, const struct sql_node *n, unsigned depth)
{
	for (const struct sql_cte *c = n->with; c != NULL; c = c->next) {
		line(t, depth, "CTE ");
		sql_text_add(t, "%s\n", c->name);
		tree_text(r, t, c->plan, depth + 1);
	}
	line(t, depth, name_of(n));
	const struct sql_access *a = sql_node_access(n);
	bool named = a != NULL && a->alias != NULL && strcmp(a->alias, cat_local(a->tab->path)) != 0;
	const char *index;
	for (unsigned k = 0; (index = index_of(n, k)) != NULL; k++)
		sql_text_add(t, "%s%s", k == 0 ? " using " : ", ", index);
	if (a != NULL)
		sql_text_add(
		    t, " on %s%s%s", cat_local(a->tab->path), named ? " " : "", named ? a->alias : "");
	else if (n->kind == SQL_NODE_CTE)
		sql_text_add(t, " on %s", sql_op(cte, n)->cte->name);
	costs_text(r, t, n);
	actual_text(r, t, n->meter);
	sql_text_add(t, "\n");
	char buf[2 * CAT_NAME_MAX + 2];
	const char *column;
	for (unsigned k = 0; (column = output_of(r, n, k, buf)) != NULL; k++) {
		if (k == 0)
			detail(t, depth, "Output: ");
		sql_text_add(t, "%s%s", k ? ", " : "", column);
	}
	if (output_of(r, n, 0, buf) != NULL)
		sql_text_add(t, "\n");
	keys_text(r, t, n, depth, NULL, UINT_MAX);
	if (presorted(n) > 0)
		keys_text(r, t, n, depth, "Presorted Key", presorted(n));
	conditions_text(r, t, n, depth);
	facts_text(r, t, n, depth);
	details_text(r, t, n->meter, depth);
	caches_text(r, t, n, depth);
	workers_text(r, t, n, depth);
	struct sql_node **k;
	for (struct sql_inputs i = sql_sources(n); (k = sql_input_next(&i)) != NULL;)
		tree_text(r, t, *k, depth + 1);
}

static void
plan_text(const struct sql_report *r, struct sql_text *t)
{
	const struct sql_plan *p = r->plan;
	unsigned depth = 0;
	if (p->kind != AST_SELECT) {
		sql_text_add(t, "%s on %s", change_of(p), cat_local(p->tab->path));
		actual_text(r, t, r->gauge ? &r->gauge->statement : NULL);
		sql_text_add(t, "\n");
		details_text(r, t, r->gauge ? &r->gauge->statement : NULL, 0);
		depth = 1;
	}
	if (p->root != NULL)
		tree_text(r, t, p->root, depth);
	unsigned number = 0;
	for (const struct sql_sub *s = p->subs; s != NULL; s = s->next) {
		if (s->joined)
			continue;
		sql_text_add(t, "%*sSubPlan %u (%s)\n", (int)depth * 2 + 2, "", ++number, way_of(s));
		if (r->how->buffers && kept_by(r, s) > 0)
			sql_text_add(t, "%*sMemory: %llukB\n", (int)depth * 2 + 4, "", kb(kept_by(r, s)));
		tree_text(r, t, s->root, depth + 2);
		if (s->set != NULL)
			tree_text(r, t, s->set, depth + 2);
	}
}

static void
phase_text(struct sql_text *t, const char *when, const struct net_counts *c)
{
	sql_text_add(t, "Fabric %s: ", when);
	counts_text(t, c);
	sql_text_add(t, "\n");
}

/* ---- JSON
 * ---------------------------------------------------------------------------------------- */

static void
indent(struct sql_text *t, unsigned depth)
{
	sql_text_add(t, ",\n%*s", (int)depth * 2, "");
}

static void
word(struct sql_text *t, unsigned depth, const char *key, const char *value)
{
	if (value == NULL)
		return;
	indent(t, depth);
	sql_text_add(t, "\"%s\": ", key);
	quoted(t, value);
}

static void
actual_json(const struct sql_report *r, struct sql_text *t, const struct sql_meter *m, bool on, bool filter,
    unsigned depth)
{
	if (m == NULL || r->gauge == NULL)
		return;
	uint64_t loops = m->opens ? m->opens : 1;
	if (r->how->timing) {
		indent(t, depth);
		sql_text_add(t, "\"Actual Startup Time\": %.3f, \"Actual Total Time\": %.3f",
		    per_loop(m->first_ns, m->opens), per_loop(m->took_ns, m->opens));
	}
	indent(t, depth);
	sql_text_add(t, "\"Actual Rows\": %.0f, \"Actual Loops\": %llu", (double)m->gave / (double)loops,
	    (unsigned long long)m->opens);
	if (on) {
		indent(t, depth);
		sql_text_add(t, "\"Rows Removed by Join Filter\": %.0f", (double)m->unpaired / (double)loops);
	}
	if (filter) {
		indent(t, depth);
		sql_text_add(t, "\"Rows Removed by Filter\": %.0f", (double)m->removed / (double)loops);
	}
	indent(t, depth);
	sql_text_add(t, "\"Rows of All Loops\": %llu", (unsigned long long)m->gave);
	if (r->how->timing) {
		indent(t, depth);
		sql_text_add(t,
		    "\"Inclusive Time of All Loops\": %.3f, \"Exclusive Time of All Loops\": %.3f, "
		    "\"Network Time of All Loops\": %.3f",
		    (double)m->took_ns / 1e6, (double)m->self_ns / 1e6, (double)m->self.waited_ns / 1e6);
	}
	if (!r->how->buffers)
		return;
	indent(t, depth);
	sql_text_add(t, "\"Peak Memory\": %llu", kb(m->peak));
	indent(t, depth);
	sql_text_add(t, "\"Fabric Exclusive\": ");
	counts_json(t, &m->self);
	indent(t, depth);
	sql_text_add(t, "\"Fabric Inclusive\": ");
	counts_json(t, &m->all);
	if (looked(&m->looks)) {
		indent(t, depth);
		looks_json(t, &m->looks);
	}
}

static void tree_json(const struct sql_report *r, struct sql_text *t, const struct sql_node *n,
    const char *relation, const char *subplan, unsigned depth);

/* One more in a list of plans. */
static void
member(const struct sql_report *r, struct sql_text *t, const struct sql_node *n, const char *relation,
    const char *subplan, unsigned depth, bool *any)
{
	if (n == NULL)
		return;
	if (!*any) {
		indent(t, depth);
		sql_text_add(t, "\"Plans\": [\n%*s", (int)(depth + 1) * 2, "");
	} else {
		indent(t, depth + 1);
	}
	*any = true;
	tree_json(r, t, n, relation, subplan, depth + 1);
}

static void
subplans_json(const struct sql_report *r, struct sql_text *t, unsigned depth, bool *any)
{
	unsigned number = 0;
	for (const struct sql_sub *s = r->plan->subs; s != NULL; s = s->next) {
		char name[80];
		if (s->joined)
			continue;
		snprintf(
		    name, sizeof name, "%s %u (%s)", s->once ? "InitPlan" : "SubPlan", ++number, way_of(s));
		member(r, t, s->root, s->once ? "InitPlan" : "SubPlan", name, depth, any);
		member(r, t, s->set, "SubPlan", name, depth, any);
	}
}

/* PostgreSQL's word for one index; a list of several. */
static void
indexes_json(struct sql_text *t, unsigned in, const struct sql_node *n)
{
	const char *name = index_of(n, 0);
	if (index_of(n, 1) == NULL) {
		word(t, in, "Index Name", name);
		return;
	}
	indent(t, in);
	sql_text_add(t, "\"Index Names\": [");
	for (unsigned k = 0; (name = index_of(n, k)) != NULL; k++) {
		sql_text_add(t, k > 0 ? ", " : "");
		quoted(t, name);
	}
	sql_text_add(t, "]");
}

static void
tree_json(const struct sql_report *r, struct sql_text *t, const struct sql_node *n, const char *relation,
    const char *subplan, unsigned depth)
{
	bool any = false;
	unsigned in = depth + 1;
	sql_text_add(t, "{\n%*s\"Node Type\": ", (int)in * 2, "");
	quoted(t, name_of(n));
	word(t, in, "Parent Relationship", relation);
	word(t, in, "Subplan Name", subplan);
	word(t, in, "Join Type", join_type(n));
	struct sql_text way = { .arena = t->arena };
	const char *fact = sql_explain_fact(r, &way, n, SQL_FACT_ALGORITHM);
	t->failed |= way.failed;
	word(t, in, fact, fact ? way.p : NULL);
	if (n->kind == SQL_NODE_AGG)
		word(t, in, "Strategy", sql_op(agg, n)->keys == 0 ? "Plain" : "Hashed");
	const struct sql_access *a = sql_node_access(n);
	if (a != NULL) {
		indexes_json(t, in, n);
		word(t, in, "Relation Name", cat_local(a->tab->path));
		word(t, in, "Alias", a->alias);
	}
	if (n->kind == SQL_NODE_CTE)
		word(t, in, "CTE Name", sql_op(cte, n)->cte->name);
	if (r->how->costs) {
		indent(t, in);
		sql_text_add(t, "\"Startup Cost\": %.2f, ", first_cost(n));
		sql_text_add(t, "\"Total Cost\": %.2f, \"Plan Rows\": %.0f, \"Plan Width\": %u", n->est_cost,
		    n->est_rows, n->est_width);
		indent(t, in);
		sql_explain_terms_json(t, n);
	}
	char buf[2 * CAT_NAME_MAX + 2];
	const char *column;
	for (unsigned k = 0; (column = output_of(r, n, k, buf)) != NULL; k++) {
		if (k == 0) {
			indent(t, in);
			sql_text_add(t, "\"Output\": [");
		}
		sql_text_add(t, k ? ", " : "");
		quoted(t, column);
	}
	if (output_of(r, n, 0, buf) != NULL)
		sql_text_add(t, "]");
	keys_json(r, t, n, in, NULL, UINT_MAX);
	if (presorted(n) > 0)
		keys_json(r, t, n, in, "Presorted Key", presorted(n));
	for (enum sql_condition c = 0; c < SQL_CONDITIONS; c++) {
		struct sql_text text = { .arena = t->arena };
		const char *name = sql_explain_condition(r, &text, n, c);
		t->failed |= text.failed;
		if (!t->failed && name != NULL)
			word(t, in, name, text.p);
	}
	actual_json(r, t, n->meter, sql_node_on(n) != NULL, n->filter != NULL, in);
	workers_json(r, t, n, in);
	for (const struct sql_cte *c = n->with; c != NULL; c = c->next) {
		char name[CAT_NAME_MAX + 8];
		snprintf(name, sizeof name, "CTE %s", c->name);
		member(r, t, c->plan, "InitPlan", name, in, &any);
	}
	member(r, t, n->child, n->kind == SQL_NODE_DERIVED ? "Subquery" : "Outer", NULL, in, &any);
	member(r, t, n->build, "Inner", NULL, in, &any);
	struct sql_node **k;
	for (struct sql_inputs i = sql_sources(n); (k = sql_input_next(&i)) != NULL;)
		if (*k != n->child && *k != n->build)
			member(r, t, *k, "Member", NULL, in, &any);
	if (n == r->plan->root && r->plan->kind == AST_SELECT)
		subplans_json(r, t, in, &any);
	sql_text_add(t, any ? "\n%*s]\n%*s}" : "\n%*s%*s}", any ? (int)in * 2 : 0, "", (int)depth * 2, "");
}

static void
plan_json(const struct sql_report *r, struct sql_text *t)
{
	const struct sql_plan *p = r->plan;
	sql_text_add(t, "[\n  {\n    \"Plan\": ");
	if (p->kind == AST_SELECT) {
		tree_json(r, t, p->root, NULL, NULL, 2);
		return;
	}
	bool any = false;
	sql_text_add(t, "{\n      \"Node Type\": \"ModifyTable\"");
	word(t, 3, "Operation", change_of(p));
	word(t, 3, "Relation Name", cat_local(p->tab->path));
	actual_json(r, t, r->gauge ? &r->gauge->statement : NULL, false, false, 3);
	member(r, t, p->root, "Outer", NULL, 3, &any);
	subplans_json(r, t, 3, &any);
	sql_text_add(t, any ? "\n      ]\n    }" : "\n    }");
}

static void
phase_json(struct sql_text *t, const char *when, const struct net_counts *c, bool last)
{
	sql_text_add(t, "      \"%s\": ", when);
	counts_json(t, c);
	sql_text_add(t, last ? "\n" : ",\n");
}

/* ---- all
 * ------------------------------------------------------------------------------------------ */

void
sql_explain_plan(const struct sql_report *r, struct sql_text *out)
{
	if (r->how->json)
		plan_json(r, out);
	else
		plan_text(r, out);
}

void
sql_explain_end(const struct sql_report *r, struct sql_text *out)
{
	bool json = r->how->json, fabric = r->gauge != NULL && r->how->buffers;
	if (r->how->terms && !json)
		sql_explain_terms_end(r, out);
	if (r->how->summary) {
		sql_text_add(out, json ? ",\n    \"Planning Time\": %.3f" : "Planning Time: %.3f ms\n",
		    (double)r->planned_ns / 1e6);
		if (r->gauge != NULL)
			sql_text_add(out,
			    json ? ",\n    \"Execution Time\": %.3f" : "Execution Time: %.3f ms\n",
			    (double)r->ran_ns / 1e6);
	}
	if (fabric && (json || r->how->summary)) {
		const struct sql_gauge *g = r->gauge;
		bool change = r->plan->kind != AST_SELECT;
		struct net_counts operators = r->operators;
		if (change)
			net_counts_add(&operators, &g->statement.self);
		if (json) {
			sql_text_add(out, ",\n    \"Fabric\": {\n");
			phase_json(out, "Begin", &g->begin.self, false);
			phase_json(out, "Planning", &g->planning.self, false);
			phase_json(out, "Operators", &operators, false);
			if (!change)
				phase_json(out, "Statement", &g->statement.self, false);
			if (r->committed)
				phase_json(out, "Commit", &g->commit.self, false);
			phase_json(out, "Total", &r->total, true);
			sql_text_add(out, "    }");
		} else {
			phase_text(out, "at begin", &g->begin.self);
			if (!did_nothing(&g->planning.self))
				phase_text(out, "while planning", &g->planning.self);
			phase_text(out, "of operators", &operators);
			if (!change && !did_nothing(&g->statement.self))
				phase_text(out, "of the statement", &g->statement.self);
			if (r->committed)
				phase_text(out, "at commit", &g->commit.self);
			phase_text(out, "in all", &r->total);
		}
	}
	if (json)
		sql_text_add(out, "\n  }\n]");
}
