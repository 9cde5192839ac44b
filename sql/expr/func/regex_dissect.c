/*
 * regex_dissect.c -- a match divided among the parts of its pattern, so that groups hold what
 * PostgreSQL gives them: each part takes as much as it can, or as little if it is not greedy,
 * earlier ones first, and gives way when what follows finds no match.
 */
#include <sql/expr/func/regex_internal.h>

#include <string.h>

struct dissect {
	struct sql_regex_run *r;
	const struct sql_regex *re;
	struct cat_str t;
	struct sql_regex_span *span;
	unsigned depth;
};

static bool part(struct dissect *d, const struct sql_re_node *n, uint32_t from, uint32_t to);

static bool
reads_all(struct dissect *d, const struct sql_re_node *n, uint32_t from, uint32_t to)
{
	return sql_re_reach(d->r, d->re, n, d->t, from, to, to, false, NULL) == (int32_t)to;
}

/* Forgets what groups of the part hold. */
static void
forget(struct dissect *d, const struct sql_re_node *n)
{
	if (!(n->flags & SQL_RE_CAP))
		return;
	if (n->group > 0 && n->kind != NODE_BACK)
		d->span[n->group] = (struct sql_regex_span){ -1, -1 };
	for (const struct sql_re_node *k = n->child; k != NULL; k = k->sibling)
		forget(d, k);
}

/* Memory for this level of the tree. It lasts until the level asks again. */
static void *
room(struct dissect *d, size_t bytes)
{
	struct sql_regex_run *r = d->r;
	if (r->level == NULL)
		r->level = nam_arena_zero(r->arena, (d->re->height + 1) * sizeof *r->level);
	struct sql_re_level *l = r->level != NULL ? &r->level[d->depth] : NULL;
	if (l != NULL && l->bytes < bytes) {
		l->p = nam_arena_take(r->arena, bytes * 2);
		l->bytes = l->p != NULL ? bytes * 2 : 0;
	}
	if (l == NULL || l->p == NULL) {
		sql_re_no_memory(r);
		return NULL;
	}
	return l->p;
}

/* Zeroed bits for each place of n bytes, and one. */
static uint8_t *
bits(struct dissect *d, uint32_t n)
{
	uint8_t *p = room(d, n / 8 + 1);
	if (p != NULL)
		memset(p, 0, n / 8 + 1);
	return p;
}

static bool
concat(struct dissect *d, const struct sql_re_node *n, uint32_t from, uint32_t to)
{
	const struct sql_re_node *left = n->child, *right = left->sibling;
	bool shorter = (left->flags & SQL_RE_SHORTER) != 0;
	uint8_t *ends = bits(d, to - from);
	if (ends == NULL || sql_re_reach(d->r, d->re, left, d->t, from, from, to, true, ends) < 0)
		return false;
	for (uint32_t k = 0; k <= to - from && sql_re_still(d->r); k++) {
		uint32_t mid = shorter ? k : to - from - k;
		if (!(ends[mid / 8] >> mid % 8 & 1) || !reads_all(d, right, from + mid, to))
			continue;
		if (part(d, left, from, from + mid) && part(d, right, from + mid, to))
			return true;
		forget(d, left);
		forget(d, right);
	}
	return false;
}

static bool
alternative(struct dissect *d, const struct sql_re_node *n, uint32_t from, uint32_t to)
{
	for (const struct sql_re_node *k = n->child; k != NULL && sql_re_still(d->r); k = k->sibling)
		if (reads_all(d, k, from, to) && part(d, k, from, to))
			return true;
	return false;
}

/* One byte more or less, to where a character begins. */
static uint32_t
step(const struct dissect *d, uint32_t at, bool on)
{
	do
		at += on ? 1u : -1u;
	while (at > 0 && at < d->t.len && ((uint8_t)d->t.p[at] & 0xc0) == 0x80);
	return at;
}

/* A repetition in the making: end[k] is where the k-th one ends, end[0] where the first begins. */
struct repeat {
	const struct sql_re_node *n;
	uint32_t *end, to, limit;
	unsigned k, verified, least, most;
	bool shorter;
};

/* True if all repetitions that were not looked at yet can be divided. */
static bool
verify(struct dissect *d, struct repeat *p)
{
	for (unsigned i = p->verified + 1; i <= p->k; i++) {
		forget(d, p->n->child);
		if (!part(d, p->n->child, p->end[i - 1], p->end[i]))
			return false;
		p->verified = i;
	}
	return true;
}

/* Another end for the last repetition, or for one before it; k is 0 when there is none left. */
static void
go_back(struct dissect *d, struct repeat *p)
{
	for (; p->k > 0; p->k--) {
		uint32_t before = p->end[p->k - 1], is = p->end[p->k];
		if (p->shorter) {
			if (is < p->to) {
				p->limit = step(d, is, true);
				return;
			}
		} else if (is > before) {
			p->limit = step(d, is, false);
			if (p->limit > before || (p->k < p->least && p->least - p->k >= p->to - before))
				return;
		}
	}
}

/* An end for repetition k that the automaton knows, in the order of the preference. */
static bool
place(struct dissect *d, struct repeat *p)
{
	uint32_t before = p->end[p->k - 1];
	int32_t at;
	if (p->shorter) {
		/* an empty one only if it is needed */
		if (p->limit == before && p->limit != p->to &&
		    (p->k >= p->least || p->least - p->k < p->to - p->limit))
			p->limit = step(d, p->limit, true);
		if (p->k >= p->most)
			p->limit = p->to;
		at = sql_re_reach(d->r, d->re, p->n->child, d->t, before, p->limit, p->to, false, NULL);
	} else {
		at = sql_re_reach(d->r, d->re, p->n->child, d->t, before, before, p->limit, true, NULL);
	}
	p->end[p->k] = (uint32_t)at;
	return at >= 0;
}

static bool
repeated(struct dissect *d, const struct sql_re_node *n, uint32_t from, uint32_t to)
{
	struct repeat p = { .n = n, .to = to, .k = 1, .shorter = (n->child->flags & SQL_RE_SHORTER) != 0 };
	bool none = n->least <= 0 && from == to; /* none at all will do: at once, or else */
	if (none && p.shorter)
		return true;
	p.least = n->least <= 0 ? 1 : (unsigned)n->least;
	p.most = to - from;
	if (n->most != SQL_RE_INF && p.most > (unsigned)n->most)
		p.most = (unsigned)n->most;
	p.most = p.most < p.least ? p.least : p.most;
	if ((p.end = room(d, (p.most + (size_t)2) * sizeof *p.end)) == NULL)
		return false;
	p.end[0] = from;
	p.limit = p.shorter ? from : to;
	while (p.k > 0 && sql_re_still(d->r)) {
		bool found = place(d, &p);
		if (!found) {
			p.k--;
			go_back(d, &p);
			continue;
		}
		if (p.verified >= p.k)
			p.verified = p.k - 1;
		uint32_t is = p.end[p.k];
		if (is == to) {
			if (p.k >= p.least && verify(d, &p))
				return true;
			go_back(d, &p);
			continue;
		}
		if (p.k >= p.most) {
			p.k--;
			go_back(d, &p);
			continue;
		}
		/* an empty one only if it is needed */
		if (!p.shorter && is == p.end[p.k - 1] && (p.k >= p.least || p.least - p.k < to - is)) {
			go_back(d, &p);
			continue;
		}
		p.k++;
		p.limit = p.shorter ? is : to;
	}
	forget(d, n->child);
	return none;
}

static bool
same(const struct dissect *d, uint32_t a, uint32_t b, uint32_t n)
{
	struct cat_str x = { d->t.p + a, n }, y = { d->t.p + b, n };
	if (!d->re->fold)
		return memcmp(x.p, y.p, n) == 0;
	for (uint32_t i = 0, j = 0; i < n && j < n;)
		if (sql_char_case(sql_utf8_get(x, &i), false) != sql_char_case(sql_utf8_get(y, &j), false))
			return false;
	return true;
}

/* What a group holds, least to most times. */
static bool
back(struct dissect *d, const struct sql_re_node *n, uint32_t from, uint32_t to)
{
	struct sql_regex_span s = d->span[n->group];
	uint32_t size = (uint32_t)(s.to - s.from), all = to - from;
	if (s.from < 0)
		return false;
	if (size == 0)
		return all == 0;
	if (all == 0)
		return n->least <= 0;
	if (all % size != 0 || all / size < (uint32_t)n->least ||
	    (n->most != SQL_RE_INF && all / size > (uint32_t)n->most))
		return false;
	for (uint32_t at = from; at < to; at += size)
		if (!same(d, (uint32_t)s.from, at, size))
			return false;
	d->r->steps += all / 16;
	return true;
}

static bool
part(struct dissect *d, const struct sql_re_node *n, uint32_t from, uint32_t to)
{
	bool is = true;
	d->depth++;
	switch (n->kind) {
	case NODE_PLAIN:
		break;
	case NODE_CONCAT:
		is = concat(d, n, from, to);
		break;
	case NODE_ALT:
		is = alternative(d, n, from, to);
		break;
	case NODE_GROUP:
		is = part(d, n->child, from, to);
		break;
	case NODE_REPEAT:
		is = repeated(d, n, from, to);
		break;
	case NODE_BACK:
		is = back(d, n, from, to);
	}
	d->depth--;
	if (is && n->group > 0 && n->kind != NODE_BACK)
		d->span[n->group] = (struct sql_regex_span){ (int32_t)from, (int32_t)to };
	return is && sql_re_still(d->r);
}

bool
sql_re_dissect(struct sql_regex_run *r, const struct sql_regex *re, struct cat_str t, uint32_t from,
    uint32_t to, struct sql_regex_span *span)
{
	struct dissect d = { .r = r, .re = re, .t = t, .span = span };
	for (unsigned k = 0; k < SQL_REGEX_GROUPS; k++)
		span[k] = (struct sql_regex_span){ -1, -1 };
	span[0] = (struct sql_regex_span){ (int32_t)from, (int32_t)to };
	return part(&d, re->tree, from, to);
}
