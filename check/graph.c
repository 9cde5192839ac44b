/*
 * graph.c -- which transaction comes before which, and the cycles that must not be.
 *
 * Nodes are committed transactions; edges are ww, wr, rw (Adya), session order and real time. Where
 * a transaction comes before many (a group), or time orders all transactions, helper nodes keep the
 * number of edges linear: the edge into a helper has the type, those from there on are EDGE_PASS.
 *
 * Snapshot isolation forbids every cycle without two rw edges in a row (also around its joint). The
 * search for one uses a graph of twice the nodes: (v, 0) v was not reached by rw; (v, 1) it was,
 * and no rw leaves it.
 */
#include "check_internal.h"

#include <stdlib.h>
#include <string.h>

/* ---- making it ---- */

void
chk_edge(struct chk *c, uint32_t from, uint32_t to, enum chk_edge_type type, uint32_t write)
{
	if (from == to)
		return;
	c->edges = chk_grow(c, c->edges, c->n_edges, &c->edges_cap, sizeof *c->edges);
	c->edges[c->n_edges++] = (struct chk_edge){ from, to, write, (uint8_t)type };
}

static uint32_t
helpers(struct chk *c, uint32_t n)
{
	if (n > UINT32_MAX / 4 - c->nodes)
		chk_stop(c, "%s: too many transactions", c->name);
	c->nodes += n;
	return c->nodes - n;
}

struct member {
	uint32_t txn, write;
};

static int
by_txn(const void *a, const void *b)
{
	const struct member *x = a, *y = b;
	return x->txn < y->txn ? -1 : x->txn > y->txn;
}

enum { FEW = 3 };

void
chk_group(struct chk *c, struct chk_group *g)
{
	struct member *m = chk_take(c, g->n, sizeof *m);
	uint32_t n = 0;
	for (uint32_t i = 0; i < g->n; i++)
		m[i] = (struct member){ g->member[i], g->write[i] };
	qsort(m, g->n, sizeof *m, by_txn);
	for (uint32_t i = 0; i < g->n; i++)
		if (i == 0 || m[i].txn != m[i - 1].txn) {
			g->member[n] = m[i].txn;
			g->write[n++] = m[i].write;
		}
	chk_drop(c, m);
	g->n = n;
	if (n <= FEW)
		return;
	/* up + i leads to members i, i + 1, ...; down + i to i, i - 1, ... */
	g->up = helpers(c, n);
	g->down = helpers(c, n);
	for (uint32_t i = 0; i < n; i++) {
		chk_edge(c, g->up + i, g->member[i], EDGE_PASS, g->write[i]);
		chk_edge(c, g->down + i, g->member[i], EDGE_PASS, g->write[i]);
		if (i > 0) {
			chk_edge(c, g->up + i - 1, g->up + i, EDGE_PASS, NONE);
			chk_edge(c, g->down + i, g->down + i - 1, EDGE_PASS, NONE);
		}
	}
}

void
chk_edge_group(struct chk *c, uint32_t from, const struct chk_group *g, enum chk_edge_type type)
{
	if (g->n <= FEW) {
		for (uint32_t i = 0; i < g->n; i++)
			chk_edge(c, from, g->member[i], type, g->write[i]);
		return;
	}
	uint32_t lo = 0, hi = g->n;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (g->member[mid] < from)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == g->n || g->member[lo] != from) {
		chk_edge(c, from, g->up, type, NONE);
		return;
	}
	if (lo > 0)
		chk_edge(c, from, g->down + lo - 1, type, NONE);
	if (lo + 1 < g->n)
		chk_edge(c, from, g->up + lo + 1, type, NONE);
}

/* An unknown transaction may have committed long after its client gave up: nothing comes after
 * it. */
static void
session_order(struct chk *c)
{
	uint32_t before = NONE;
	for (size_t i = 0; i < c->live; i++) {
		uint32_t t = c->by_session[i];
		if (i > 0 && c->txns[c->by_session[i - 1]].session != c->txns[t].session)
			before = NONE;
		if (!c->txns[t].committed)
			continue;
		if (before != NONE)
			chk_edge(c, before, t, EDGE_SO, NONE);
		if (c->txns[t].status == TXN_OK)
			before = t;
	}
}

int
chk_by_moment(const void *a, const void *b)
{
	const struct chk_moment *x = a, *y = b;
	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return x->txn < y->txn ? -1 : x->txn > y->txn;
}

/* Edges from a transaction to those that began after it ended: of all, or of each process. */
static void
time_order(struct chk *c, bool by_process, enum chk_edge_type type)
{
	struct chk_moment *end = chk_take(c, c->live, sizeof *end),
			  *begin = chk_take(c, c->live, sizeof *begin);
	uint32_t ends = 0, begins = 0;
	for (size_t i = 0; i < c->live; i++) {
		uint32_t n = c->by_session[i];
		const struct chk_txn *t = &c->txns[n];
		int64_t group = by_process ? t->process : 0;
		if (!t->committed)
			continue;
		begin[begins++] = (struct chk_moment){ group, t->begin, n };
		if (t->status == TXN_OK)
			end[ends++] = (struct chk_moment){ group, t->end, n };
	}
	qsort(end, ends, sizeof *end, chk_by_moment);
	qsort(begin, begins, sizeof *begin, chk_by_moment);
	uint32_t clock = helpers(c, ends), k = 0;
	for (uint32_t i = 0; i < ends; i++) {
		chk_edge(c, end[i].txn, clock + i, type, NONE);
		if (i > 0 && end[i - 1].group == end[i].group)
			chk_edge(c, clock + i - 1, clock + i, EDGE_PASS, NONE);
	}
	for (uint32_t i = 0; i < begins; i++) {
		while (k < ends && (end[k].group < begin[i].group ||
				       (end[k].group == begin[i].group && end[k].at < begin[i].at)))
			k++;
		if (k > 0 && end[k - 1].group == begin[i].group)
			chk_edge(c, clock + k - 1, begin[i].txn, EDGE_PASS, NONE);
	}
	chk_drop(c, end);
	chk_drop(c, begin);
}

/* Edges in the order of where they come from. */
static void
sort_edges(struct chk *c)
{
	size_t *at = chk_take(c, (size_t)c->nodes + 2, sizeof *at);
	struct chk_edge *e = chk_take(c, c->n_edges, sizeof *e);
	for (size_t i = 0; i < c->n_edges; i++)
		at[c->edges[i].from + 2]++;
	for (uint32_t v = 0; v < c->nodes; v++)
		at[v + 2] += at[v + 1];
	for (size_t i = 0; i < c->n_edges; i++)
		e[at[c->edges[i].from + 1]++] = c->edges[i];
	chk_drop(c, c->edges);
	c->edges = e;
	c->edge_at = at;
}

/* ---- walking it ---- */

/* Which edges count, and whether two rw in a row do. */
struct walk {
	unsigned types;
	bool apart; /* nodes are (v, state) = 2 v + state */
};

/* Where e leads from node v of the walk, or NONE. */
static uint32_t
step_to(const struct walk *w, const struct chk_edge *e, uint32_t v)
{
	if (e->type == EDGE_PASS)
		return w->apart ? e->to * 2 + (v & 1) : e->to;
	if (!(w->types >> e->type & 1))
		return NONE;
	if (!w->apart)
		return e->to;
	if (e->type != EDGE_RW)
		return e->to * 2;
	return v & 1 ? NONE : e->to * 2 + 1;
}

static uint32_t
plain(const struct walk *w, uint32_t v)
{
	return w->apart ? v / 2 : v;
}

struct frame {
	uint32_t v;
	size_t edge;
};

/*
 * Tarjan, without recursion. comp[v]: which component v is in, 1.., and 0 for a component of one
 * node, which no cycle goes through (no edge leads back to its own node). Returns how many there
 * are.
 */
static uint32_t
components(struct chk *c, const struct walk *w, uint32_t *comp)
{
	uint32_t n = w->apart ? c->nodes * 2 : c->nodes, clock = 0, found = 0;
	uint32_t *num = chk_take(c, n, sizeof *num), *low = chk_take(c, n, sizeof *low);
	uint32_t *stack = chk_take(c, n, sizeof *stack), top = 0;
	struct frame *call = chk_take(c, (size_t)n + 1, sizeof *call);
	memset(comp, 0xff, n * sizeof *comp); /* NONE: still on the stack, or not seen */
	for (uint32_t root = 0; root < n; root++) {
		if (num[root] != 0)
			continue;
		uint32_t depth = 0;
		call[depth++] = (struct frame){ root, c->edge_at[plain(w, root)] };
		num[root] = low[root] = ++clock;
		stack[top++] = root;
		while (depth > 0) {
			struct frame *f = &call[depth - 1];
			uint32_t v = f->v;
			if (f->edge < c->edge_at[plain(w, v) + 1]) {
				uint32_t to = step_to(w, &c->edges[f->edge++], v);
				if (to == NONE)
					continue;
				if (num[to] == 0) {
					num[to] = low[to] = ++clock;
					stack[top++] = to;
					call[depth++] = (struct frame){ to, c->edge_at[plain(w, to)] };
				} else if (comp[to] == NONE && num[to] < low[v]) {
					low[v] = num[to];
				}
				continue;
			}
			if (--depth > 0 && low[v] < low[call[depth - 1].v])
				low[call[depth - 1].v] = low[v];
			if (low[v] != num[v])
				continue;
			uint32_t name = stack[top - 1] == v ? 0 : ++found, member;
			do {
				member = stack[--top];
				comp[member] = name;
			} while (member != v);
		}
	}
	chk_drop(c, num);
	chk_drop(c, low);
	chk_drop(c, stack);
	chk_drop(c, call);
	return found;
}

/* ---- the shortest way ---- */

struct search {
	struct chk *c;
	const struct walk *walk;
	const uint32_t *comp; /* stay inside of one component */
	uint32_t *mark;       /* generation that saw a node */
	uint32_t *by;         /* its predecessor in that generation */
	size_t *edge;         /* the edge taken */
	uint32_t *queue;
	uint32_t generation;
};

/*
 * The shortest way from start back to start inside of its component; first: the edge to begin with,
 * or SIZE_MAX for any. False if there is none, or the budget is spent.
 */
static bool
shortest(struct search *s, uint32_t start, size_t first, uint32_t first_to)
{
	struct chk *c = s->c;
	uint32_t head = 0, tail = 0, in = s->comp[start];
	s->generation++;
	if (first == SIZE_MAX) {
		s->queue[tail++] = start;
	} else {
		s->mark[first_to] = s->generation;
		s->by[first_to] = start;
		s->edge[first_to] = first;
		s->queue[tail++] = first_to;
	}
	while (head < tail) {
		uint32_t v = s->queue[head++], p = plain(s->walk, v);
		for (size_t i = c->edge_at[p]; i < c->edge_at[p + 1]; i++) {
			if (c->budget == 0)
				return false;
			c->budget--;
			uint32_t next = step_to(s->walk, &c->edges[i], v);
			if (next == NONE || s->comp[next] != in || s->mark[next] == s->generation)
				continue;
			s->mark[next] = s->generation;
			s->by[next] = v;
			s->edge[next] = i;
			if (next == start)
				return true;
			s->queue[tail++] = next;
		}
	}
	return false;
}

/* The way just found, with helper nodes taken out: its steps, written to out if that is not
 * NULL. */
static uint32_t
way(const struct search *s, uint32_t start, struct chk_step *out)
{
	uint32_t n = 0, v = start, write = NONE, to = plain(s->walk, start);
	do {
		const struct chk_edge *e = &s->c->edges[s->edge[v]];
		v = s->by[v];
		if (write == NONE)
			write = e->write;
		if (e->type == EDGE_PASS)
			continue;
		if (out != NULL)
			out[n] = (struct chk_step){ e->from, to, write, e->type };
		n++;
		to = e->from;
		write = NONE;
	} while (v != start);
	for (uint32_t i = 0; out != NULL && i < n / 2; i++) {
		struct chk_step x = out[i];
		out[i] = out[n - 1 - i];
		out[n - 1 - i] = x;
	}
	return n;
}

/* ---- classes of cycles ---- */

enum class { G0, G1C, G_APART, G2, CLASSES };
enum { PLAIN, SESSION, TIME, ORDERS };
static const unsigned class_types[CLASSES] = { WW, WW | WR, WW | WR | RW, WW | WR | RW };
static const unsigned order_types[ORDERS] = { 0, SO, SO | RT };

static struct walk
walk_of(unsigned class, unsigned order)
{
	return (struct walk){ class_types[class] | order_types[order], class == G_APART };
}

/* The levels that forbid it. */
static unsigned
breaks_of(unsigned class, unsigned order)
{
	static const unsigned by_class[CLASSES] = { BREAKS_ALL, BREAKS_ALL, BREAKS_SNAPSHOT,
		BREAKS_SERIALIZABLE };
	static const unsigned by_order[ORDERS] = { BREAKS_ALL, BREAKS_SESSION, BREAKS_STRONG };
	return by_class[class] & by_order[order];
}

/* Says what a cycle is. */
static void
name_cycle(const struct chk *c, const struct chk_step *s, uint32_t n, char *name, char *class, size_t size,
    unsigned *breaks)
{
	unsigned of[EDGE_PASS] = { 0 };
	bool adjacent = false, one_key = true;
	for (uint32_t i = 0; i < n; i++) {
		const struct chk_step *next = &s[(i + 1) % n];
		of[s[i].type]++;
		adjacent = adjacent || (s[i].type == EDGE_RW && next->type == EDGE_RW);
		one_key = one_key && s[i].write != NONE && next->write != NONE &&
			  c->writes[s[i].write].key == c->writes[next->write].key;
	}
	unsigned order = of[EDGE_RT] ? TIME : of[EDGE_SO] ? SESSION : PLAIN;
	unsigned kind = of[EDGE_RW] == 0 ? of[EDGE_WR] ? G1C : G0 : adjacent ? G2 : G_APART;
	const char *g = kind == G0         ? "G0"
			: kind == G1C      ? "G1c"
			: kind == G2       ? "G2-item"
			: of[EDGE_RW] == 1 ? "G-single"
					   : "G-nonadjacent";
	const char *word = kind == G0 ? "write cycle" : kind == G1C ? "circular information flow" : g;
	if (order != PLAIN)
		word = order == TIME ? "real time broken" : "session broken";
	else if (n == 2 && of[EDGE_RW] == 2)
		word = one_key ? "lost update" : "write skew";
	else if (n == 2 && of[EDGE_RW] == 1)
		word = of[EDGE_WW] && one_key ? "lost update" : "read skew";
	else if (n == 4 && kind == G_APART && of[EDGE_RW] == 2 && of[EDGE_WR] == 2)
		word = "long fork";
	snprintf(name, size, "%s", word);
	snprintf(class, size, "%s%s", g, order == TIME ? "-realtime" : order == SESSION ? "-session" : "");
	*breaks = breaks_of(kind, order);
}

static void
tell_cycle(struct search *s, uint32_t start)
{
	struct chk *c = s->c;
	uint32_t n = way(s, start, NULL);
	struct chk_step *step = chk_take(c, n, sizeof *step);
	char *name = chk_take(c, 2, 32), *class = name + 32;
	unsigned breaks;
	way(s, start, step);
	name_cycle(c, step, n, name, class, 32, &breaks);
	chk_fault_cycle(c, name, class, breaks, step, n);
}

enum { TRIES = 64 };

/* A short cycle through some of the members of a component, told as a finding. */
static void
explain(struct search *s, const uint32_t *member, uint32_t n, unsigned class, unsigned order)
{
	struct chk *c = s->c;
	const struct walk *whole = s->walk, no_rw = { s->walk->types & ~(unsigned)RW, s->walk->apart };
	uint32_t best = NONE, best_n = NONE;
	size_t best_edge = SIZE_MAX;
	/* With one rw edge and nothing but others from there back. */
	for (uint32_t i = 0, tries = 0; class == G_APART && i < n && tries < TRIES && best_n > 2; i++) {
		uint32_t v = member[i], p = plain(whole, v);
		if (v & 1 || p >= c->n)
			continue;
		for (size_t e = c->edge_at[p]; e < c->edge_at[p + 1]; e++) {
			if (c->edges[e].type != EDGE_RW || s->comp[c->edges[e].to * 2 + 1] != s->comp[v])
				continue;
			s->walk = &no_rw;
			tries++;
			if (shortest(s, v, e, c->edges[e].to * 2 + 1)) {
				uint32_t len = way(s, v, NULL);
				if (len < best_n) {
					best = v;
					best_edge = e;
					best_n = len;
				}
			}
		}
	}
	if (best != NONE) {
		shortest(s, best, best_edge, c->edges[best_edge].to * 2 + 1);
		tell_cycle(s, best);
		s->walk = whole;
		return;
	}
	s->walk = whole;
	uint32_t stride = n / TRIES + 1;
	for (uint32_t i = 0; i < n && best_n > 2; i += stride) {
		/* The next member that is a transaction, and not only one between two rw. */
		uint32_t k = i;
		while (k < n && (plain(whole, member[k]) >= c->n || (whole->apart && member[k] & 1)))
			k++;
		if (k == n || !shortest(s, member[k], SIZE_MAX, NONE))
			continue;
		uint32_t len = way(s, member[k], NULL);
		if (len < best_n) {
			best = member[k];
			best_n = len;
		}
	}
	c->budget += best != NONE ? (uint64_t)1 << 40 : 0; /* it is there: this once, whatever it
							    * costs */
	if (best != NONE && shortest(s, best, SIZE_MAX, NONE)) {
		tell_cycle(s, best);
		c->budget -= c->budget >= (uint64_t)1 << 40 ? (uint64_t)1 << 40 : c->budget;
		return;
	}
	static const char *const names[CLASSES] = { "G0", "G1c", "G-nonadjacent", "G2-item" };
	chk_fault(c, "cycle", names[class], breaks_of(class, order), NONE, NONE,
	    "%u nodes lie on cycles too long to be shown", n);
}

/* Members of each component, one after the other. */
static void
explain_all(struct chk *c, unsigned class, unsigned order, bool *explained)
{
	struct walk w = walk_of(class, order);
	uint32_t n = w.apart ? c->nodes * 2 : c->nodes;
	uint32_t *comp = chk_take(c, n, sizeof *comp);
	uint32_t found = components(c, &w, comp);
	uint32_t *at = chk_take(c, (size_t)found + 2, sizeof *at), *member = chk_take(c, n, sizeof *member);
	bool *known = chk_take(c, (size_t)found + 1, 1);
	for (uint32_t v = 0; v < n; v++) {
		at[comp[v] + 1] += comp[v] != 0;
		known[comp[v]] = known[comp[v]] || explained[plain(&w, v)];
	}
	for (uint32_t i = 1; i <= found; i++)
		at[i + 1] += at[i];
	for (uint32_t v = 0; v < n; v++)
		if (comp[v] != 0)
			member[at[comp[v]]++] = v;
	/* Now at[i] is where component i ends. */
	struct search s = { .c = c, .walk = &w, .comp = comp };
	s.mark = chk_take(c, n, sizeof *s.mark);
	s.by = chk_take(c, n, sizeof *s.by);
	s.edge = chk_take(c, n, sizeof *s.edge);
	s.queue = chk_take(c, n, sizeof *s.queue);
	for (uint32_t i = 1; i <= found; i++) {
		uint32_t from = i == 1 ? 0 : at[i - 1];
		if (!known[i] && c->n_found >= c->opt.witnesses)
			chk_fault(
			    /* only counted */
			    c, "cycle", "", breaks_of(class, order), NONE, NONE, " ");
		else if (!known[i])
			explain(&s, member + from, at[i] - from, class, order);
		for (uint32_t k = from; k < at[i]; k++)
			explained[plain(&w, member[k])] = true;
	}
	chk_drop(c, comp);
	chk_drop(c, at);
	chk_drop(c, member);
	chk_drop(c, known);
	chk_drop(c, s.mark);
	chk_drop(c, s.by);
	chk_drop(c, s.edge);
	chk_drop(c, s.queue);
}

void
chk_cycles(struct chk *c)
{
	session_order(c);
	if (c->processes)
		time_order(c, true, EDGE_SO);
	time_order(c, false, EDGE_RT);
	sort_edges(c);
	/* Each class is a part of the next, each order of the next: a graph without cycles has no
	 * part with one. */
	enum { UNKNOWN, ACYCLIC, CYCLIC } is[CLASSES][ORDERS] = { { UNKNOWN } };
	for (unsigned k = CLASSES; k-- > 0;)
		for (unsigned o = ORDERS; o-- > 0;) {
			if (is[k][o] == UNKNOWN) {
				struct walk w = walk_of(k, o);
				uint32_t *comp = chk_take(c, w.apart ? c->nodes * 2 : c->nodes, sizeof *comp);
				is[k][o] = components(c, &w, comp) > 0 ? CYCLIC : ACYCLIC;
				chk_drop(c, comp);
			}
			for (unsigned i = 0; is[k][o] == ACYCLIC && i <= k; i++)
				for (unsigned j = 0; j <= o; j++)
					is[i][j] = ACYCLIC;
			if (is[k][o] == CYCLIC)
				c->broken |= breaks_of(k, o);
		}
	bool *explained = chk_take(c, c->nodes, 1);
	c->budget = UINT64_C(40000000);
	for (unsigned o = 0; o < ORDERS; o++)
		for (unsigned k = 0; k < CLASSES; k++)
			if (is[k][o] == CYCLIC && breaks_of(k, o) >> c->level & 1)
				explain_all(c, k, o, explained);
	chk_drop(c, explained);
}
