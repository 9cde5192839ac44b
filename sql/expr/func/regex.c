/* regex.c -- patterns to programs with relative jumps, and a simulation that keeps one thread per
 * state. */
#include <sql/expr/expr_internal.h>
#include <sql/expr/func/regex.h>

#include <ctype.h>
#include <string.h>

enum {
	OPS_MAX = 20000,
	DEPTH_MAX = 100,
	REPEAT_MAX = 255,
	SETS_MAX = 2000,
};

enum op { OP_CHAR, OP_ANY, OP_SET, OP_SPLIT, OP_JUMP, OP_SAVE, OP_AT, OP_MATCH };
enum at { AT_BEGIN, AT_END, AT_WORD_BEGIN, AT_WORD_END, AT_WORD_EDGE, AT_NO_EDGE };

struct sql_regex_op {
	uint32_t op;
	int32_t x, y; /* SPLIT: where to, x first. JUMP: x. CHAR: x. SET, SAVE, AT: x */
};

struct range {
	uint32_t lo, hi;
};

struct sql_regex_set {
	uint8_t low[16]; /* characters below 128 */
	bool negate, fold;
	uint16_t in, out; /* classes: bit per enum sql_char_class */
	unsigned ranges;
	struct range *range;
};

struct compile {
	struct sql_regex *re;
	struct nam_arena *arena;
	struct cat_err *err;
	const char *p, *end;
	unsigned op_cap, sets, set_cap, depth;
};

/* ---- compiling --------------------------------------------------------------------- */

static bool
bad(struct compile *c, const char *why)
{
	return cat_error(c->err, "2201B", "invalid regular expression: %s", why);
}

static bool
not_yet(struct compile *c, const char *what)
{
	return cat_error(c->err, "0A000", "%s in regular expressions are not supported yet", what);
}

static void *
grown(struct nam_arena *a, void *old, unsigned used, unsigned cap, size_t size)
{
	void *p = nam_arena_take(a, cap * size);
	if (p != NULL && used > 0)
		memcpy(p, old, used * size);
	return p;
}

/* Makes room for n operations at `at`. */
static bool
insert(struct compile *c, unsigned at, unsigned n)
{
	struct sql_regex *re = c->re;
	if (re->ops + n > OPS_MAX)
		return bad(c, "regular expression is too complex");
	if (re->ops + n > c->op_cap) {
		unsigned cap = c->op_cap ? c->op_cap * 2 : 32;
		while (cap < re->ops + n)
			cap *= 2;
		struct sql_regex_op *op = grown(c->arena, re->op, re->ops, cap, sizeof *op);
		if (op == NULL)
			return sql_oom(c->err);
		re->op = op;
		c->op_cap = cap;
	}
	memmove(re->op + at + n, re->op + at, (re->ops - at) * sizeof *re->op);
	re->ops += n;
	return true;
}

static bool
put(struct compile *c, unsigned at, enum op op, int32_t x, int32_t y)
{
	if (!insert(c, at, 1))
		return false;
	c->re->op[at] = (struct sql_regex_op){ op, x, y };
	return true;
}

static bool
emit(struct compile *c, enum op op, int32_t x, int32_t y)
{
	return put(c, c->re->ops, op, x, y);
}

static uint32_t
take(struct compile *c)
{
	uint32_t k = 0, ch = sql_utf8_get((struct cat_str){ c->p, (uint32_t)(c->end - c->p) }, &k);
	c->p += k;
	return ch;
}

static bool
set_holds(const struct sql_regex_set *s, uint32_t c)
{
	for (unsigned k = 0; k < s->ranges; k++)
		if (c >= s->range[k].lo && c <= s->range[k].hi)
			return true;
	for (unsigned k = 0; k < SQL_CHAR_CLASSES; k++) {
		if (s->in >> k & 1 && sql_char_is(c, k))
			return true;
		if (s->out >> k & 1 && !sql_char_is(c, k))
			return true;
	}
	return false;
}

static bool
set_test(const struct sql_regex_set *s, uint32_t c)
{
	bool hit = set_holds(s, c);
	if (!hit && s->fold)
		hit = set_holds(s, sql_char_case(c, false)) || set_holds(s, sql_char_case(c, true));
	return hit != s->negate;
}

static bool
set_add(struct compile *c, struct sql_regex_set *s, uint32_t lo, uint32_t hi)
{
	if ((s->ranges & (s->ranges - 1)) == 0 && s->ranges != 1) {
		struct range *r =
		    grown(c->arena, s->range, s->ranges, s->ranges ? s->ranges * 2 : 2, sizeof *r);
		if (r == NULL)
			return sql_oom(c->err);
		s->range = r;
	}
	s->range[s->ranges++] = (struct range){ lo, hi };
	return true;
}

static bool
emit_set(struct compile *c, struct sql_regex_set *s)
{
	struct sql_regex *re = c->re;
	s->fold = re->fold;
	memset(s->low, 0, sizeof s->low);
	for (unsigned k = 0; k < 128; k++)
		if (set_test(s, k))
			s->low[k / 8] |= (uint8_t)(1 << k % 8);
	if (c->sets == SETS_MAX)
		return bad(c, "regular expression is too complex");
	if (c->sets == c->set_cap) {
		unsigned cap = c->set_cap ? c->set_cap * 2 : 4;
		struct sql_regex_set *set = grown(c->arena, re->set, c->sets, cap, sizeof *set);
		if (set == NULL)
			return sql_oom(c->err);
		re->set = set;
		c->set_cap = cap;
	}
	re->set[c->sets] = *s;
	return emit(c, OP_SET, (int32_t)c->sets++, 0);
}

/* \d \w \s and their opposites. */
static bool
class_escape(uint32_t ch, struct sql_regex_set *s)
{
	enum sql_char_class k;
	switch (ch | 0x20) {
	case 'd':
		k = SQL_CHAR_DIGIT;
		break;
	case 's':
		k = SQL_CHAR_SPACE;
		break;
	case 'w':
		k = SQL_CHAR_WORD;
		break;
	default:
		return false;
	}
	if (ch & 0x20)
		s->in |= (uint16_t)(1 << k);
	else
		s->out |= (uint16_t)(1 << k);
	return true;
}

static bool
hex(struct compile *c, unsigned least, unsigned most, uint32_t *out)
{
	unsigned n = 0;
	uint32_t v = 0;
	for (; n < most && c->p < c->end && isxdigit((unsigned char)*c->p); n++, c->p++)
		v = v * 16 +
		    (uint32_t)(isdigit((unsigned char)*c->p) ? *c->p - '0' : (*c->p | 0x20) - 'a' + 10);
	*out = v;
	if (n < least || v > 0x10ffff)
		return bad(c, "invalid escape \\ sequence");
	return true;
}

/* What follows a backslash and stands for one character. */
static bool
char_escape(struct compile *c, uint32_t ch, uint32_t *out)
{
	static const char from[] = "abBefnrtv0", to[] = "\a\b\\\033\f\n\r\t\v";
	if (ch >= 0x80 || !isalnum((int)ch)) {
		*out = ch;
		return true;
	}
	if (ch == 'x')
		return hex(c, 1, 255, out);
	if (ch == 'u')
		return hex(c, 4, 4, out);
	if (ch == 'U')
		return hex(c, 8, 8, out);
	const char *at = memchr(from, (int)ch, sizeof from - 1);
	if (at == NULL)
		return bad(c, "invalid escape \\ sequence");
	*out = (uint8_t)to[at - from]; /* \0 is the 0 at the end of to */
	return true;
}

static bool
named_class(struct compile *c, struct sql_regex_set *s)
{
	static const char *const names[SQL_CHAR_CLASSES] = { "alpha", "digit", "alnum", "upper", "lower",
		"space", "blank", "punct", "print", "graph", "cntrl", "xdigit", "word" };
	const char *close = memmem(c->p, (size_t)(c->end - c->p), ":]", 2);
	if (close == NULL)
		return bad(c, "brackets [] not balanced");
	size_t n = (size_t)(close - c->p);
	for (unsigned k = 0; k < SQL_CHAR_CLASSES; k++) {
		if (strlen(names[k]) == n && memcmp(names[k], c->p, n) == 0) {
			bool cased = strcmp(names[k], "upper") == 0 || strcmp(names[k], "lower") == 0;
			s->in |= (uint16_t)(1 << (cased && c->re->fold ? 0 : k)); /* 0: alpha */
			c->p = close + 2;
			return true;
		}
	}
	if (n == 1 && (*c->p == '<' || *c->p == '>'))
		return not_yet(c, "[[:<:]] and [[:>:]]");
	return bad(c, "invalid character class");
}

/* One end of a range, or a class by escape (then *one is false). */
static bool
member(struct compile *c, struct sql_regex_set *s, uint32_t *ch, bool *one)
{
	*one = true;
	*ch = take(c);
	if (*ch == '[' && c->p < c->end && (*c->p == '.' || *c->p == '='))
		return not_yet(c, "collating elements");
	if (*ch == '[' && c->p < c->end && *c->p == ':') {
		c->p++;
		*one = false;
		return named_class(c, s);
	}
	if (*ch != '\\')
		return true;
	if (c->p == c->end)
		return bad(c, "invalid escape \\ sequence");
	uint32_t e = take(c);
	if (class_escape(e, s)) {
		*one = false;
		return true;
	}
	return char_escape(c, e, ch);
}

static bool
bracket(struct compile *c)
{
	struct sql_regex_set s = { .ranges = 0 };
	if (c->p < c->end && *c->p == '^') {
		s.negate = true;
		c->p++;
	}
	for (bool first = true;; first = false) {
		if (c->p == c->end)
			return bad(c, "brackets [] not balanced");
		if (*c->p == ']' && !first)
			break;
		uint32_t lo, hi;
		bool one;
		if (!member(c, &s, &lo, &one))
			return false;
		hi = lo;
		if (c->end - c->p >= 2 && c->p[0] == '-' && c->p[1] != ']') {
			c->p++;
			if (!one)
				return bad(c, "invalid character range");
			if (!member(c, &s, &hi, &one))
				return false;
			if (!one || hi < lo)
				return bad(c, "invalid character range");
		}
		if (one && !set_add(c, &s, lo, hi))
			return false;
	}
	c->p++;
	return emit_set(c, &s);
}

static bool alternatives(struct compile *c);

static bool
group(struct compile *c)
{
	bool keeps = true;
	unsigned number = 0;
	if (c->end - c->p >= 2 && c->p[0] == '?') {
		if (c->p[1] != ':')
			return not_yet(c, "look-around and embedded options");
		c->p += 2;
		keeps = false;
	}
	if (++c->depth > DEPTH_MAX)
		return bad(c, "regular expression is too complex");
	if (keeps)
		number = c->re->groups++;
	keeps = keeps && number < SQL_REGEX_GROUPS;
	if (keeps && !emit(c, OP_SAVE, (int32_t)(2 * number), 0))
		return false;
	if (!alternatives(c))
		return false;
	if (c->p == c->end)
		return bad(c, "parentheses () not balanced");
	c->p++;
	c->depth--;
	return !keeps || emit(c, OP_SAVE, (int32_t)(2 * number + 1), 0);
}

static bool
escape(struct compile *c, bool *constraint)
{
	static const char words[] = "AZmMyY";
	static const enum at means[] = { AT_BEGIN, AT_END, AT_WORD_BEGIN, AT_WORD_END, AT_WORD_EDGE,
		AT_NO_EDGE };
	struct sql_regex_set s = { .ranges = 0 };
	if (c->p == c->end)
		return bad(c, "invalid escape \\ sequence");
	uint32_t ch = take(c);
	if (class_escape(ch, &s))
		return emit_set(c, &s);
	const char *at = ch < 0x80 && ch ? strchr(words, (int)ch) : NULL;
	if (at != NULL) {
		*constraint = true;
		return emit(c, OP_AT, means[at - words], 0);
	}
	if (ch >= '1' && ch <= '9') {
		if (ch - '0' >= c->re->groups)
			return bad(c, "invalid backreference number");
		return not_yet(c, "back references");
	}
	return char_escape(c, ch, &ch) && emit(c, OP_CHAR, (int32_t)ch, 0);
}

static bool
number(struct compile *c, int *out)
{
	int v = 0;
	if (c->p == c->end || !isdigit((unsigned char)*c->p))
		return bad(c, c->p == c->end ? "braces {} not balanced" : "invalid repetition count(s)");
	for (; c->p < c->end && isdigit((unsigned char)*c->p); c->p++)
		if ((v = v * 10 + (*c->p - '0')) > REPEAT_MAX)
			return bad(c, "invalid repetition count(s)");
	*out = v;
	return true;
}

/* The operations from `at` on, at least `least` and at most `most` times (-1 = any number). */
static bool
repeat(struct compile *c, unsigned at, int least, int most)
{
	struct sql_regex *re = c->re;
	unsigned n = re->ops - at;
	if (n == 0)
		return true;
	if (most == 0) {
		re->ops = at;
		return true;
	}
	if (least == 0 && most < 0)
		return put(c, at, OP_SPLIT, 1, (int32_t)n + 2) && emit(c, OP_JUMP, -(int32_t)n - 1, 0);
	if (least == 1 && most < 0)
		return emit(c, OP_SPLIT, -(int32_t)n, 1);
	if (least == 0 && most == 1)
		return put(c, at, OP_SPLIT, 1, (int32_t)n + 1);
	unsigned more = most < 0 ? 0 : (unsigned)(most - least);
	if ((uint64_t)n * (unsigned)(most < 0 ? least : most) > OPS_MAX)
		return bad(c, "regular expression is too complex");
	struct sql_regex_op *body = nam_arena_take(c->arena, n * sizeof *body);
	if (body == NULL)
		return sql_oom(c->err);
	memcpy(body, re->op + at, n * sizeof *body);
	re->ops = at;
	for (int k = 0; k < least; k++) {
		unsigned to = re->ops;
		if (!insert(c, to, n))
			return false;
		memcpy(re->op + to, body, n * sizeof *body);
	}
	if (most < 0)
		return emit(c, OP_SPLIT, -(int32_t)n, 1);
	for (; more > 0; more--) {
		if (!emit(c, OP_SPLIT, 1, (int32_t)(more * (n + 1))))
			return false;
		unsigned to = re->ops;
		if (!insert(c, to, n))
			return false;
		memcpy(re->op + to, body, n * sizeof *body);
	}
	return true;
}

static bool
quantified(struct compile *c, unsigned at, bool constraint)
{
	int least, most;
	if (c->p == c->end)
		return true;
	switch (*c->p) {
	case '*':
		least = 0, most = -1;
		break;
	case '+':
		least = 1, most = -1;
		break;
	case '?':
		least = 0, most = 1;
		break;
	case '{':
		if (c->end - c->p >= 2 && isdigit((unsigned char)c->p[1]))
			break;
		return true;
	default:
		return true;
	}
	if (constraint)
		return bad(c, "quantifier operand invalid");
	if (*c->p++ == '{') {
		if (!number(c, &least))
			return false;
		most = least;
		if (c->p < c->end && *c->p == ',') {
			c->p++;
			most = -1;
			if (c->p < c->end && *c->p != '}' && !number(c, &most))
				return false;
			if (most >= 0 && most < least)
				return bad(c, "invalid repetition count(s)");
		}
		if (c->p == c->end)
			return bad(c, "braces {} not balanced");
		if (*c->p != '}')
			return bad(c, "invalid repetition count(s)");
		c->p++;
	}
	if (c->p < c->end && *c->p == '?')
		return not_yet(c, "non-greedy quantifiers");
	if (c->p < c->end &&
	    (strchr("*+", *c->p) || (*c->p == '{' && c->end - c->p > 1 && isdigit((unsigned char)c->p[1]))))
		return bad(c, "quantifier operand invalid");
	return repeat(c, at, least, most);
}

static bool
piece(struct compile *c)
{
	unsigned at = c->re->ops;
	bool constraint = false, ok;
	uint32_t ch = take(c);
	switch (ch) {
	case '(':
		ok = group(c);
		break;
	case '[':
		ok = bracket(c);
		break;
	case '.':
		ok = emit(c, OP_ANY, 0, 0);
		break;
	case '^':
	case '$':
		constraint = true;
		ok = emit(c, OP_AT, ch == '^' ? AT_BEGIN : AT_END, 0);
		break;
	case '\\':
		ok = escape(c, &constraint);
		break;
	case '*':
	case '+':
	case '?':
		return bad(c, "quantifier operand invalid");
	case '{':
		if (c->p < c->end && isdigit((unsigned char)*c->p))
			return bad(c, "quantifier operand invalid");
		/* fall through */
	default:
		ok = emit(c, OP_CHAR, (int32_t)ch, 0);
	}
	return ok && quantified(c, at, constraint);
}

static bool
alternatives(struct compile *c)
{
	int32_t jump = -1; /* the last one to the end; each knows the one before */
	for (;;) {
		unsigned at = c->re->ops;
		while (c->p < c->end && *c->p != '|' && *c->p != ')')
			if (!piece(c))
				return false;
		if (c->p == c->end || *c->p == ')')
			break;
		c->p++;
		if (!put(c, at, OP_SPLIT, 1, (int32_t)(c->re->ops - at + 2)) || !emit(c, OP_JUMP, jump, 0))
			return false;
		jump = (int32_t)c->re->ops - 1;
	}
	while (jump >= 0) {
		int32_t before = c->re->op[jump].x;
		c->re->op[jump].x = (int32_t)c->re->ops - jump;
		jump = before;
	}
	return true;
}

bool
sql_regex_compile(struct sql_regex *re, struct cat_str pattern, bool fold, bool literal,
    struct nam_arena *arena, struct cat_err *err)
{
	struct compile c = {
		.re = re, .arena = arena, .err = err, .p = pattern.p, .end = pattern.p + pattern.len
	};
	*re = (struct sql_regex){ .groups = 1, .fold = fold };
	if (!literal && pattern.len >= 3 && memcmp(pattern.p, "***", 3) == 0)
		return not_yet(&c, "directors (***)");
	while (literal && c.p < c.end)
		if (!emit(&c, OP_CHAR, (int32_t)take(&c), 0))
			return false;
	if (!alternatives(&c))
		return false;
	if (c.p < c.end)
		return bad(&c, "parentheses () not balanced");
	for (unsigned k = 0; fold && k < re->ops; k++)
		if (re->op[k].op == OP_CHAR)
			re->op[k].x = (int32_t)sql_char_case((uint32_t)re->op[k].x, false);
	return emit(&c, OP_MATCH, 0, 0);
}

/* ---- matching ---------------------------------------------------------------------- */

/* Threads in order of preference: operations that wait for a character, and what their groups
 * hold. */
struct threads {
	uint32_t *pc;
	int32_t *cap;
	unsigned n;
};

struct todo {
	int32_t pc, slot, old; /* pc < 0: put old back into slot */
};

struct sql_regex_run {
	struct threads now, next;
	uint32_t *seen; /* per operation: the round that has met it */
	uint32_t round;
	struct todo *todo;
	int32_t cap[2 * SQL_REGEX_GROUPS], best[2 * SQL_REGEX_GROUPS];
	unsigned caps;
	uint64_t steps; /* of threads, since go_on was last asked */
	bool stopped;
	bool (*go_on)(void *arg, uint64_t work); /* or NULL */
	void *arg;
};

void
sql_regex_watch(struct sql_regex_run *r, bool (*go_on)(void *arg, uint64_t work), void *arg)
{
	r->go_on = go_on;
	r->arg = arg;
}

bool
sql_regex_stopped(const struct sql_regex_run *r)
{
	return r->stopped;
}

/* Every so many steps: a step costs as much as some 16 bytes elsewhere. */
static bool
still(struct sql_regex_run *r)
{
	enum { STEPS = 1 << 14 };
	if (r->steps >= STEPS && !r->stopped) {
		r->stopped = r->go_on != NULL && !r->go_on(r->arg, r->steps * 16);
		r->steps = 0;
	}
	return !r->stopped;
}

struct sql_regex_run *
sql_regex_room(const struct sql_regex *re, struct nam_arena *arena)
{
	struct sql_regex_run *r = nam_arena_zero(arena, sizeof *r);
	if (r == NULL)
		return NULL;
	r->caps = 2 * (re->groups < SQL_REGEX_GROUPS ? re->groups : SQL_REGEX_GROUPS);
	struct threads *both[2] = { &r->now, &r->next };
	for (unsigned k = 0; k < 2; k++) {
		both[k]->pc = nam_arena_take(arena, re->ops * sizeof *both[k]->pc);
		both[k]->cap = nam_arena_take(arena, (size_t)re->ops * r->caps * sizeof *both[k]->cap);
		if (both[k]->pc == NULL || both[k]->cap == NULL)
			return NULL;
	}
	r->seen = nam_arena_zero(arena, re->ops * sizeof *r->seen);
	r->todo = nam_arena_take(arena, ((size_t)re->ops * 2 + 2) * sizeof *r->todo);
	return r->seen && r->todo ? r : NULL;
}

static bool
word_at(struct cat_str t, uint32_t at)
{
	return at < t.len && sql_char_is(sql_utf8_get(t, &at), SQL_CHAR_WORD);
}

static bool
holds(enum at what, struct cat_str t, uint32_t pos)
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

/* Everything that can be reached from pc without reading; r->cap: the groups so far. */
static void
follow(struct sql_regex_run *r, const struct sql_regex *re, struct threads *to, uint32_t pc, struct cat_str t,
    uint32_t pos)
{
	unsigned n = 0;
	r->todo[n++] = (struct todo){ (int32_t)pc, 0, 0 };
	while (n > 0) {
		struct todo d = r->todo[--n];
		if (d.pc < 0) {
			r->cap[d.slot] = d.old;
			continue;
		}
		if (r->seen[d.pc] == r->round)
			continue;
		r->seen[d.pc] = r->round;
		const struct sql_regex_op *o = &re->op[d.pc];
		switch (o->op) {
		case OP_JUMP:
			r->todo[n++] = (struct todo){ d.pc + o->x, 0, 0 };
			break;
		case OP_SPLIT:
			r->todo[n++] = (struct todo){ d.pc + o->y, 0, 0 };
			r->todo[n++] = (struct todo){ d.pc + o->x, 0, 0 };
			break;
		case OP_AT:
			if (holds((enum at)o->x, t, pos))
				r->todo[n++] = (struct todo){ d.pc + 1, 0, 0 };
			break;
		case OP_SAVE:
			r->todo[n++] = (struct todo){ -1, o->x, r->cap[o->x] };
			r->todo[n++] = (struct todo){ d.pc + 1, 0, 0 };
			r->cap[o->x] = (int32_t)pos;
			break;
		default:
			to->pc[to->n] = (uint32_t)d.pc;
			memcpy(to->cap + (size_t)to->n * r->caps, r->cap, r->caps * sizeof *r->cap);
			to->n++;
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
		return c < 128 ? s->low[c / 8] >> c % 8 & 1 : set_test(s, c);
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

bool
sql_regex_find(struct sql_regex_run *r, const struct sql_regex *re, struct cat_str t, uint32_t from,
    struct sql_regex_span *span)
{
	bool found = false, anchored = re->op[0].op == OP_AT && re->op[0].x == AT_BEGIN;
	r->now.n = 0;
	new_round(r, re);
	for (uint32_t pos = from;;) {
		r->steps += r->now.n + 1;
		if (!still(r))
			return false;
		if (!found && !(anchored && pos > 0)) {
			for (unsigned k = 0; k < r->caps; k++)
				r->cap[k] = -1;
			r->cap[0] = (int32_t)pos;
			follow(r, re, &r->now, 0, t, pos);
		}
		if (r->now.n == 0 && (found || (anchored && pos > 0)))
			break;
		uint32_t next = pos, c = 0, folded = 0;
		if (pos < t.len) {
			c = sql_utf8_get(t, &next);
			folded = re->fold ? sql_char_case(c, false) : c;
		}
		new_round(r, re);
		r->next.n = 0;
		for (unsigned k = 0; k < r->now.n; k++) {
			const struct sql_regex_op *o = &re->op[r->now.pc[k]];
			const int32_t *cap = r->now.cap + (size_t)k * r->caps;
			if (found && cap[0] > r->best[0])
				continue;
			if (o->op == OP_MATCH) {
				if (span == NULL)
					return true;
				if (!found || (int32_t)pos > r->best[1]) {
					memcpy(r->best, cap, r->caps * sizeof *cap);
					r->best[1] = (int32_t)pos;
					found = true;
				}
				continue;
			}
			if (pos < t.len && reads(re, o, c, folded)) {
				memcpy(r->cap, cap, r->caps * sizeof *cap);
				follow(r, re, &r->next, r->now.pc[k] + 1, t, next);
			}
		}
		struct threads swap = r->now;
		r->now = r->next;
		r->next = swap;
		if (pos == t.len)
			break;
		pos = next;
	}
	if (found)
		for (unsigned k = 0; k < SQL_REGEX_GROUPS; k++)
			span[k] = 2 * k < r->caps
				      ? (struct sql_regex_span){ r->best[2 * k], r->best[2 * k + 1] }
				      : (struct sql_regex_span){ -1, -1 };
	return found;
}

/* ---- three programs, one after the other ------------------------------------------- */

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
	follow(r, &x->re[k], &r->next, 0, x->text, pos);
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
		const int32_t *held = r->now.cap + (size_t)t * r->caps;
		if (cap != NULL && cap[0] <= held[0]) {
			enter(x, k, cap, next);
			cap = NULL;
		}
		const struct sql_regex_op *o = &x->re[k].op[r->now.pc[t]];
		if (o->op == OP_MATCH || !reads(&x->re[k], o, c, c))
			continue;
		memcpy(r->cap, held, r->caps * sizeof *held);
		follow(r, &x->re[k], &r->next, r->now.pc[t] + 1, x->text, next);
	}
	if (cap != NULL)
		enter(x, k, cap, next);
	struct threads swap = r->now;
	r->now = r->next;
	r->next = swap;
	for (unsigned t = 0; t < r->now.n; t++) {
		if (x->re[k].op[r->now.pc[t]].op == OP_MATCH) {
			memcpy(out, r->now.cap + (size_t)t * r->caps, 2 * sizeof *out);
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
		if (!still(run[0]))
			return false;
		if (next == t.len && (!first || t.len == 0)) {
			*middle = (struct sql_regex_span){ cap[0], cap[1] };
			return is;
		}
		pos = next;
		first = false;
	}
}
