/* regex.c -- programs of regular expressions run over texts: a simulation that keeps one thread
 * per state. */
#include <sql/expr/func/regex_internal.h>

#include <ctype.h>
#include <string.h>

/* (?letters) at the beginning of a pattern. */
static bool
embedded(struct sql_re_compile *c, bool *literal)
{
	if (c->end - c->p < 3 || c->p[0] != '(' || c->p[1] != '?' || !isalpha((unsigned char)c->p[2]))
		return true;
	for (c->p += 2; c->p < c->end && isalpha((unsigned char)*c->p); c->p++) {
		if (strchr("bmnpwx", *c->p) != NULL)
			return cat_error(
			    c->err, "0A000", "regular expression option \"%c\" is not supported yet", *c->p);
		if (strchr("ceiqst", *c->p) == NULL)
			return sql_re_bad(c, "invalid embedded option");
		if (*c->p == 'c' || *c->p == 'i')
			c->re->fold = *c->p == 'i';
		*literal |= *c->p == 'q';
	}
	if (c->p == c->end || *c->p != ')')
		return sql_re_bad(c, "invalid embedded option");
	c->p++;
	return true;
}

/* What stands before a pattern: ***= or ***:, and options. */
static bool
prefixes(struct sql_re_compile *c, bool *literal)
{
	if (*literal)
		return true;
	if (c->end - c->p >= 3 && memcmp(c->p, "***", 3) == 0) {
		char kind = c->end - c->p >= 4 ? c->p[3] : 0;
		if (kind != '=' && kind != ':')
			return sql_re_bad(c, "quantifier operand invalid");
		c->p += 4;
		*literal = kind == '=';
	}
	return *literal || embedded(c, literal);
}

bool
sql_regex_compile(struct sql_regex *re, struct cat_str pattern, bool fold, bool literal,
    struct nam_arena *arena, struct cat_err *err)
{
	struct sql_re_compile c = {
		.re = re, .arena = arena, .err = err, .p = pattern.p, .end = pattern.p + pattern.len
	};
	struct sql_re_alt *whole;
	*re = (struct sql_regex){ .groups = 1, .fold = fold };
	return prefixes(&c, &literal) && sql_re_parse(&c, literal, &whole) && sql_re_build(&c, whole);
}

void
sql_regex_watch(
    struct sql_regex_run *r, bool (*go_on)(void *arg, uint64_t work), void *arg, struct cat_err *err)
{
	r->go_on = go_on;
	r->arg = arg;
	r->err = err;
}

void
sql_re_no_memory(struct sql_regex_run *r)
{
	if (!r->out_of_memory)
		sql_oom(r->err);
	r->out_of_memory = true;
}

bool
sql_regex_stopped(const struct sql_regex_run *r)
{
	return r->stopped || r->out_of_memory;
}

/* Every so many steps: a step costs as much as some 16 bytes elsewhere. */
bool
sql_re_still(struct sql_regex_run *r)
{
	enum { STEPS = 1 << 14 };
	if (r->steps >= STEPS && !r->stopped) {
		r->stopped = r->go_on != NULL && !r->go_on(r->arg, r->steps * 16);
		r->steps = 0;
	}
	return !r->stopped && !r->out_of_memory;
}

struct sql_regex_run *
sql_regex_room(const struct sql_regex *re, struct nam_arena *arena)
{
	struct sql_regex_run *r = nam_arena_zero(arena, sizeof *r);
	if (r == NULL)
		return NULL;
	r->arena = arena;
	struct sql_re_threads *both[2] = { &r->now, &r->next };
	for (unsigned k = 0; k < 2; k++) {
		both[k]->pc = nam_arena_take(arena, re->ops * sizeof *both[k]->pc);
		both[k]->cap = nam_arena_take(arena, (size_t)re->ops * SQL_RE_HELD * sizeof *both[k]->cap);
		if (both[k]->pc == NULL || both[k]->cap == NULL)
			return NULL;
	}
	r->seen = nam_arena_zero(arena, re->ops * sizeof *r->seen);
	r->todo = nam_arena_take(arena, ((size_t)re->ops * 2 + 2) * sizeof *r->todo);
	if (re->looks > 0 && (r->look = nam_arena_zero(arena, re->looks * sizeof *r->look)) == NULL)
		return NULL;
	return r->seen && r->todo ? r : NULL;
}

static bool
word_at(struct cat_str t, uint32_t at)
{
	return at < t.len && sql_char_is(sql_utf8_get(t, &at), SQL_CHAR_WORD);
}

static bool
holds(enum sql_re_at what, struct cat_str t, uint32_t pos)
{
	if (what == AT_BEGIN)
		return pos == 0;
	if (what == AT_END)
		return pos == t.len;
	uint32_t prev = pos;
	while (prev > 0 && ((uint8_t)t.p[--prev] & 0xc0) == 0x80)
		;
	bool before = pos > 0 && word_at(t, prev), after = word_at(t, pos);
	switch (what) {
	case AT_WORD_BEGIN:
		return !before && after;
	case AT_WORD_END:
		return before && !after;
	case AT_WORD_EDGE:
		return before != after;
	default:
		return before == after;
	}
}

static bool looks(
    struct sql_regex_run *r, const struct sql_regex *re, unsigned k, struct cat_str t, uint32_t pos);

/* Everything that can be reached from pc without reading; r->cap: what the threads hold. pc
 * `end` is where a part of the program ends: it is kept as a thread. */
static void
follow(struct sql_regex_run *r, const struct sql_regex *re, struct sql_re_threads *to, uint32_t pc,
    uint32_t end, struct cat_str t, uint32_t pos)
{
	unsigned n = 0;
	r->todo[n++] = (int32_t)pc;
	while (n > 0) {
		int32_t at = r->todo[--n];
		if (r->seen[at] == r->round)
			continue;
		r->seen[at] = r->round;
		r->steps++;
		const struct sql_regex_op *o = &re->op[at];
		if ((uint32_t)at == end) {
			to->pc[to->n] = end;
			memcpy(to->cap + (size_t)to->n++ * SQL_RE_HELD, r->cap, sizeof r->cap);
			continue;
		}
		switch (o->op) {
		case OP_JUMP:
			r->todo[n++] = at + o->x;
			break;
		case OP_SPLIT:
			r->todo[n++] = at + o->y;
			r->todo[n++] = at + o->x;
			break;
		case OP_AT:
			if (holds((enum sql_re_at)o->x, t, pos))
				r->todo[n++] = at + 1;
			break;
		case OP_LOOK:
			if (looks(r, re, (unsigned)o->x, t, pos))
				r->todo[n++] = at + 1;
			break;
		default:
			to->pc[to->n] = (uint32_t)at;
			memcpy(to->cap + (size_t)to->n++ * SQL_RE_HELD, r->cap, sizeof r->cap);
		}
	}
}

static bool
reads(const struct sql_regex *re, const struct sql_regex_op *o, uint32_t c, uint32_t folded)
{
	switch (o->op) {
	case OP_CHAR:
		return folded == (uint32_t)o->x;
	case OP_ANY:
		return true;
	default: {
		const struct sql_regex_set *s = &re->set[o->x];
		return c < 128 ? s->low[c / 8] >> c % 8 & 1 : sql_re_set_test(s, c);
	}
	}
}

static void
new_round(struct sql_regex_run *r, const struct sql_regex *re)
{
	if (++r->round == 0) {
		memset(r->seen, 0, re->ops * sizeof *r->seen);
		r->round = 1;
	}
}

/* The threads of r->now, which are at pos, read the character there: r->next. *next: behind it. */
static void
advance(struct sql_regex_run *r, const struct sql_regex *re, uint32_t end, struct cat_str t, uint32_t pos,
    uint32_t *next)
{
	uint32_t c, folded;
	*next = pos;
	c = sql_utf8_get(t, next);
	folded = re->fold ? sql_char_case(c, false) : c;
	new_round(r, re);
	r->next.n = 0;
	for (unsigned k = 0; k < r->now.n; k++) {
		const struct sql_regex_op *o = &re->op[r->now.pc[k]];
		if (r->now.pc[k] == end || o->op == OP_MATCH || !reads(re, o, c, folded))
			continue;
		memcpy(r->cap, r->now.cap + (size_t)k * SQL_RE_HELD, sizeof r->cap);
		follow(r, re, &r->next, r->now.pc[k] + 1, end, t, *next);
	}
	struct sql_re_threads swap = r->now;
	r->now = r->next;
	r->next = swap;
}

static bool
has_matched(const struct sql_regex_run *r, uint32_t end)
{
	for (unsigned k = 0; k < r->now.n; k++)
		if (r->now.pc[k] == end)
			return true;
	return false;
}

int32_t
sql_re_reach(struct sql_regex_run *r, const struct sql_regex *re, const struct sql_re_node *n,
    struct cat_str t, uint32_t at, uint32_t least, uint32_t stop, bool last, uint8_t *ends)
{
	int32_t found = -1;
	uint32_t pos = at, next;
	new_round(r, re);
	r->now.n = 0;
	follow(r, re, &r->now, n->from, n->to, t, pos);
	for (;; pos = next) {
		r->steps++;
		if (!sql_re_still(r))
			return -1;
		if (pos >= least && has_matched(r, n->to)) {
			found = (int32_t)pos;
			if (ends != NULL)
				ends[(pos - at) / 8] |= (uint8_t)(1 << (pos - at) % 8);
			if (!last)
				return found;
		}
		if (pos >= stop || r->now.n == 0)
			return found;
		advance(r, re, n->to, t, pos, &next);
	}
}

/* True if what the look-behind looks for ends at pos. Of any length: the threads of the place that
 * was asked about before go on. */
static bool
ends_at(struct sql_regex_run *r, const struct sql_regex *re, const struct sql_re_look *l, struct cat_str t,
    uint32_t pos)
{
	uint32_t from = pos, next;
	bool goes_on = l->width < 0 && r->has_place && r->place <= pos;
	if (goes_on)
		from = r->place;
	for (int64_t n = goes_on ? 0 : l->width; from > 0 && n != 0; n--)
		while (from > 0 && ((uint8_t)t.p[--from] & 0xc0) == 0x80)
			;
	if (!goes_on) {
		r->now.n = 0;
		new_round(r, re);
		follow(r, re, &r->now, l->from, l->to, t, from);
	}
	for (; from < pos && sql_re_still(r); from = next) {
		r->steps++;
		advance(r, re, l->to, t, from, &next);
		follow(r, re, &r->now, l->from, l->to, t, next);
	}
	r->has_place = l->width < 0;
	r->place = pos;
	return has_matched(r, l->to);
}

/* True if the look-around k, at pos, finds what it looks for, or the contrary. */
static bool
looks(struct sql_regex_run *r, const struct sql_regex *re, unsigned k, struct cat_str t, uint32_t pos)
{
	const struct sql_re_look *l = &re->look[k];
	struct sql_re_node part = { .from = l->from, .to = l->to };
	bool is = false;
	if (r->look[k] == NULL) {
		if ((r->look[k] = sql_regex_room(re, r->arena)) == NULL) {
			sql_re_no_memory(r);
			return false;
		}
		sql_regex_watch(r->look[k], r->go_on, r->arg, r->err);
	}
	struct sql_regex_run *in = r->look[k];
	if (l->ahead) {
		is = sql_re_reach(in, re, &part, t, pos, pos, t.len, false, NULL) >= 0;
	} else {
		is = ends_at(in, re, l, t, pos);
	}
	r->stopped |= in->stopped;
	r->out_of_memory |= in->out_of_memory;
	return is != l->negate;
}

/* The leftmost match, and of those the longest or shortest one: r->best. */
static bool
leftmost(struct sql_regex_run *r, const struct sql_regex *re, struct cat_str t, uint32_t from, bool any)
{
	const uint32_t end = re->tree->to;
	bool found = false, anchored = re->op[0].op == OP_AT && re->op[0].x == AT_BEGIN && end > 0;
	r->now.n = 0;
	new_round(r, re);
	for (uint32_t pos = from, next;; pos = next) {
		r->steps += r->now.n + 1;
		if (!sql_re_still(r))
			return false;
		if (!found && !(anchored && pos > 0)) {
			r->cap[0] = (int32_t)pos;
			follow(r, re, &r->now, 0, end, t, pos);
		}
		unsigned kept = 0;
		for (unsigned k = 0; k < r->now.n; k++) {
			int32_t began = r->now.cap[(size_t)k * SQL_RE_HELD];
			if (found && (began > r->best[0] || (began == r->best[0] && re->shorter)))
				continue;
			if (r->now.pc[k] == end) {
				found = true;
				r->best[0] = began;
				r->best[1] = (int32_t)pos;
				continue;
			}
			r->now.pc[kept] = r->now.pc[k];
			memmove(r->now.cap + (size_t)kept++ * SQL_RE_HELD,
			    r->now.cap + (size_t)k * SQL_RE_HELD, sizeof r->cap);
		}
		r->now.n = kept;
		if ((found && (any || kept == 0)) || (kept == 0 && anchored) || pos >= t.len)
			return found;
		advance(r, re, end, t, pos, &next);
	}
}

/* A match that begins at `begin`, and that the tree can be divided for. */
static bool
proved_at(struct sql_regex_run *r, const struct sql_regex *re, struct cat_str t, uint32_t begin,
    struct sql_regex_span *span)
{
	uint32_t least = begin, stop = t.len;
	for (;;) {
		int32_t end = sql_re_reach(r, re, re->tree, t, begin, least, stop, !re->shorter, NULL);
		if (end < 0)
			return false;
		if (sql_re_dissect(r, re, t, begin, (uint32_t)end, span))
			return true;
		if (!sql_re_still(r) || (re->shorter ? (uint32_t)end >= stop : (uint32_t)end <= begin))
			return false;
		if (re->shorter) {
			least = (uint32_t)end + 1;
			continue;
		}
		for (stop = (uint32_t)end - 1; stop > begin && ((uint8_t)t.p[stop] & 0xc0) == 0x80;)
			stop--;
	}
}

/*
 * With back references a match of the automaton may be none. It says where the first match may
 * end; each place up to there may be where one begins. As in PostgreSQL, after such a place in
 * vain the end of the text is not tried for itself.
 */
static bool
proved(struct sql_regex_run *r, const struct sql_regex *re, struct cat_str t, uint32_t from,
    struct sql_regex_span *span)
{
	do {
		if (!leftmost(r, re, t, from, true))
			return false;
		for (uint32_t most = (uint32_t)r->best[1]; from <= most;) {
			if (proved_at(r, re, t, from, span))
				return true;
			if (!sql_re_still(r) || from >= t.len)
				return false;
			sql_utf8_get(t, &from);
		}
	} while (from < t.len);
	return false;
}

/* Another text: what look-behinds have read counts for nothing. */
static void
other_text(struct sql_regex_run *r, const struct sql_regex *re)
{
	r->has_place = false;
	for (unsigned k = 0; k < re->looks; k++)
		if (r->look[k] != NULL)
			other_text(r->look[k], re);
}

bool
sql_regex_find(struct sql_regex_run *r, const struct sql_regex *re, struct cat_str t, uint32_t from,
    struct sql_regex_span *span)
{
	struct sql_regex_span own[SQL_REGEX_GROUPS];
	other_text(r, re);
	if (re->refers)
		return proved(r, re, t, from, span != NULL ? span : own) && sql_re_still(r);
	if (!leftmost(r, re, t, from, span == NULL) || !sql_re_still(r))
		return false;
	return span == NULL || sql_re_dissect(r, re, t, (uint32_t)r->best[0], (uint32_t)r->best[1], span);
}

/* ---- three programs, one after the other ------------------------------------------------- */

/*
 * The threads of each program are kept in order of preference. What they hold: cap[0], where the
 * first match ended; cap[1], where the second one did. A thread that comes from the program before
 * goes where its place among the others is, and a state is the first one's that meets it.
 */
struct three {
	struct sql_regex_run *const *run;
	const struct sql_regex *re;
	struct cat_str text;
};

static void
enter(const struct three *x, unsigned k, const int32_t *cap, uint32_t pos)
{
	struct sql_regex_run *r = x->run[k];
	memcpy(r->cap, cap, 2 * sizeof *cap);
	follow(r, &x->re[k], &r->next, 0, x->re[k].tree->to, x->text, pos);
}

/* Program k's threads behind the character at pos; those that enter it hold `cap`, or NULL. The
 * character is c, where next is behind pos. True if the program has matched: *out is what the best
 * thread holds then. */
static bool
one_of_three(const struct three *x, unsigned k, uint32_t c, uint32_t next, bool first, const int32_t *cap,
    int32_t *out)
{
	struct sql_regex_run *r = x->run[k];
	new_round(r, &x->re[k]);
	r->next.n = 0;
	for (unsigned t = 0; t < r->now.n && !first; t++) {
		const int32_t *held = r->now.cap + (size_t)t * SQL_RE_HELD;
		if (cap != NULL && cap[0] <= held[0]) {
			enter(x, k, cap, next);
			cap = NULL;
		}
		const struct sql_regex_op *o = &x->re[k].op[r->now.pc[t]];
		if (o->op == OP_MATCH || !reads(&x->re[k], o, c, c))
			continue;
		memcpy(r->cap, held, sizeof r->cap);
		follow(r, &x->re[k], &r->next, r->now.pc[t] + 1, x->re[k].tree->to, x->text, next);
	}
	if (cap != NULL)
		enter(x, k, cap, next);
	struct sql_re_threads swap = r->now;
	r->now = r->next;
	r->next = swap;
	for (unsigned t = 0; t < r->now.n; t++) {
		if (x->re[k].op[r->now.pc[t]].op == OP_MATCH) {
			memcpy(out, r->now.cap + (size_t)t * SQL_RE_HELD, 2 * sizeof *out);
			return true;
		}
	}
	return false;
}

bool
sql_regex_three(struct sql_regex_run *const run[3], const struct sql_regex re[3], struct cat_str t,
    struct sql_regex_span *middle)
{
	struct three x = { .run = run, .re = re, .text = t };
	bool first = true;
	for (uint32_t pos = 0;;) {
		uint32_t c = 0, next = pos;
		if (!first)
			c = sql_utf8_get(t, &next);
		int32_t cap[2] = { -1, -1 };
		bool is = one_of_three(&x, 0, c, next, first, first ? cap : NULL, cap);
		cap[0] = (int32_t)next;
		is = one_of_three(&x, 1, c, next, first, is ? cap : NULL, cap);
		cap[1] = (int32_t)next;
		is = one_of_three(&x, 2, c, next, first, is ? cap : NULL, cap);
		run[0]->steps += run[0]->now.n + run[1]->now.n + run[2]->now.n + 1;
		if (!sql_re_still(run[0]))
			return false;
		if (next == t.len && (!first || t.len == 0)) {
			*middle = (struct sql_regex_span){ cap[0], cap[1] };
			return is;
		}
		pos = next;
		first = false;
	}
}
