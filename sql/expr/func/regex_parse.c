/* regex_parse.c -- patterns to atoms with their quantifiers: the syntax of PostgreSQL's advanced
 * regular expressions. */
#include <sql/expr/func/regex_internal.h>

#include <ctype.h>
#include <string.h>

enum { REPEAT_MAX = 255, SETS_MAX = 2000 };

bool
sql_re_bad(struct sql_re_compile *c, const char *why)
{
	return cat_error(c->err, "2201B", "invalid regular expression: %s", why);
}

static bool
not_yet(struct sql_re_compile *c, const char *what)
{
	return cat_error(c->err, "0A000", "%s in regular expressions are not supported yet", what);
}

void *
sql_re_take(struct sql_re_compile *c, size_t size)
{
	void *p = nam_arena_zero(c->arena, size);
	if (p == NULL)
		sql_oom(c->err);
	return p;
}

static void *
grown(struct nam_arena *a, void *old, unsigned used, unsigned cap, size_t size)
{
	void *p = nam_arena_take(a, cap * size);
	if (p != NULL && used > 0)
		memcpy(p, old, used * size);
	return p;
}

static uint32_t
take(struct sql_re_compile *c)
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

bool
sql_re_set_test(const struct sql_regex_set *s, uint32_t c)
{
	bool hit = set_holds(s, c);
	if (!hit && s->fold)
		hit = set_holds(s, sql_char_case(c, false)) || set_holds(s, sql_char_case(c, true));
	return hit != s->negate;
}

static bool
set_add(struct sql_re_compile *c, struct sql_regex_set *s, uint32_t lo, uint32_t hi)
{
	if ((s->ranges & (s->ranges - 1)) == 0 && s->ranges != 1) {
		struct sql_re_range *r =
		    grown(c->arena, s->range, s->ranges, s->ranges ? s->ranges * 2 : 2, sizeof *r);
		if (r == NULL)
			return sql_oom(c->err);
		s->range = r;
	}
	s->range[s->ranges++] = (struct sql_re_range){ lo, hi };
	return true;
}

static bool
keep_set(struct sql_re_compile *c, struct sql_regex_set *s, struct sql_re_atom *a)
{
	struct sql_regex *re = c->re;
	s->fold = re->fold;
	memset(s->low, 0, sizeof s->low);
	for (unsigned k = 0; k < 128; k++)
		if (sql_re_set_test(s, k))
			s->low[k / 8] |= (uint8_t)(1 << k % 8);
	if (c->sets == SETS_MAX)
		return sql_re_bad(c, "regular expression is too complex");
	if (c->sets == c->set_cap) {
		unsigned cap = c->set_cap ? c->set_cap * 2 : 4;
		struct sql_regex_set *set = grown(c->arena, re->set, c->sets, cap, sizeof *set);
		if (set == NULL)
			return sql_oom(c->err);
		re->set = set;
		c->set_cap = cap;
	}
	re->set[c->sets] = *s;
	*a = (struct sql_re_atom){ .kind = RE_SET, .x = (int32_t)c->sets++ };
	return true;
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
hex(struct sql_re_compile *c, unsigned least, unsigned most, uint32_t *out)
{
	unsigned n = 0;
	uint32_t v = 0;
	for (; n < most && c->p < c->end && isxdigit((unsigned char)*c->p); n++, c->p++)
		v = v * 16 +
		    (uint32_t)(isdigit((unsigned char)*c->p) ? *c->p - '0' : (*c->p | 0x20) - 'a' + 10);
	*out = v;
	if (n < least || v > 0x10ffff)
		return sql_re_bad(c, "invalid escape \\ sequence");
	return true;
}

/* What follows a backslash and stands for one character. */
static bool
char_escape(struct sql_re_compile *c, uint32_t ch, uint32_t *out)
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
		return sql_re_bad(c, "invalid escape \\ sequence");
	*out = (uint8_t)to[at - from]; /* \0 is the 0 at the end of to */
	return true;
}

static bool
named_class(struct sql_re_compile *c, struct sql_regex_set *s)
{
	static const char *const names[SQL_CHAR_CLASSES] = { "alpha", "digit", "alnum", "upper", "lower",
		"space", "blank", "punct", "print", "graph", "cntrl", "xdigit", "word" };
	const char *close = memmem(c->p, (size_t)(c->end - c->p), ":]", 2);
	if (close == NULL)
		return sql_re_bad(c, "brackets [] not balanced");
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
	return sql_re_bad(c, "invalid character class");
}

/* One end of a range, or a class by escape (then *one is false). */
static bool
member(struct sql_re_compile *c, struct sql_regex_set *s, uint32_t *ch, bool *one)
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
		return sql_re_bad(c, "invalid escape \\ sequence");
	uint32_t e = take(c);
	if (class_escape(e, s)) {
		*one = false;
		return true;
	}
	return char_escape(c, e, ch);
}

static bool
bracket(struct sql_re_compile *c, struct sql_re_atom *a)
{
	struct sql_regex_set s = { .ranges = 0 };
	if (c->p < c->end && *c->p == '^') {
		s.negate = true;
		c->p++;
	}
	for (bool first = true;; first = false) {
		if (c->p == c->end)
			return sql_re_bad(c, "brackets [] not balanced");
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
				return sql_re_bad(c, "invalid character range");
			if (!member(c, &s, &hi, &one))
				return false;
			if (!one || hi < lo)
				return sql_re_bad(c, "invalid character range");
		}
		if (one && !set_add(c, &s, lo, hi))
			return false;
	}
	c->p++;
	return keep_set(c, &s, a);
}

static bool alternatives(struct sql_re_compile *c, struct sql_re_alt **out);

/* What stands between parentheses, and the closing one. */
static bool
enclosed(struct sql_re_compile *c, struct sql_re_alt **out)
{
	if (++c->depth > SQL_RE_DEPTH)
		return sql_re_bad(c, "regular expression is too complex");
	if (!alternatives(c, out))
		return false;
	if (c->p == c->end)
		return sql_re_bad(c, "parentheses () not balanced");
	c->p++;
	c->depth--;
	return true;
}

static bool
look_around(struct sql_re_compile *c, bool ahead, bool negate, struct sql_re_atom *a)
{
	struct sql_regex *re = c->re;
	if (re->looks == SQL_RE_LOOKS)
		return sql_re_bad(c, "regular expression is too complex");
	if (re->looks == 0 && (re->look = sql_re_take(c, SQL_RE_LOOKS * sizeof *re->look)) == NULL)
		return false;
	unsigned number = re->looks++;
	*a = (struct sql_re_atom){ .kind = RE_LOOK, .x = (int32_t)number };
	c->inside++;
	if (!enclosed(c, &a->inner))
		return false;
	c->inside--;
	re->look[number] = (struct sql_re_look){ .inner = a->inner, .ahead = ahead, .negate = negate };
	return true;
}

static bool
group(struct sql_re_compile *c, struct sql_re_atom *a)
{
	const char *p = c->p;
	size_t left = (size_t)(c->end - p);
	*a = (struct sql_re_atom){ .kind = RE_GROUP };
	if (left >= 2 && p[0] == '?') {
		bool behind = p[1] == '<';
		char what = behind && left >= 3 ? p[2] : p[1];
		if (what == '=' || what == '!') {
			c->p += 2 + behind;
			return look_around(c, !behind, what == '!', a);
		}
		if (p[1] != ':')
			return sql_re_bad(c, "quantifier operand invalid");
		c->p += 2;
		return enclosed(c, &a->inner);
	}
	if (c->inside > 0) /* keeps nothing */
		return enclosed(c, &a->inner);
	unsigned number = c->re->groups++;
	if (!enclosed(c, &a->inner))
		return false;
	if (number < SQL_REGEX_GROUPS) {
		a->group = number;
		c->closed[number] = a->inner;
	}
	return true;
}

/* What a digit says behind a backslash: a group, or a character by its octal number. */
static bool
back_reference(struct sql_re_compile *c, uint32_t ch, struct sql_re_atom *a)
{
	const char *first = c->p;
	unsigned n = ch - '0', v = 0, k = 0;
	while (c->p < c->end && isdigit((unsigned char)*c->p) && n <= 255)
		n = n * 10 + (unsigned)(*c->p++ - '0');
	if (c->p > first && n >= c->re->groups) { /* octal */
		c->p = first - 1;
		for (; k < 3 && c->p < c->end && *c->p >= '0' && *c->p <= '7' && v * 8 <= 255; k++)
			v = v * 8 + (unsigned)(*c->p++ - '0');
		*a = (struct sql_re_atom){ .kind = RE_CHAR, .x = (int32_t)v };
		return k > 0 || sql_re_bad(c, "invalid escape \\ sequence");
	}
	if (n >= SQL_REGEX_GROUPS)
		return not_yet(c, "back references beyond \\9");
	if (c->closed[n] == NULL || c->inside > 0)
		return sql_re_bad(c, "invalid backreference number");
	*a = (struct sql_re_atom){ .kind = RE_BACK, .x = (int32_t)n, .inner = c->closed[n] };
	return true;
}

static bool
escape(struct sql_re_compile *c, struct sql_re_atom *a)
{
	static const char words[] = "AZmMyY";
	static const enum sql_re_at means[] = { AT_BEGIN, AT_END, AT_WORD_BEGIN, AT_WORD_END, AT_WORD_EDGE,
		AT_NO_EDGE };
	struct sql_regex_set s = { .ranges = 0 };
	if (c->p == c->end)
		return sql_re_bad(c, "invalid escape \\ sequence");
	uint32_t ch = take(c);
	if (class_escape(ch, &s))
		return keep_set(c, &s, a);
	const char *at = ch < 0x80 && ch ? strchr(words, (int)ch) : NULL;
	if (at != NULL) {
		*a = (struct sql_re_atom){ .kind = RE_AT, .x = means[at - words] };
		return true;
	}
	if (ch >= '1' && ch <= '9')
		return back_reference(c, ch, a);
	*a = (struct sql_re_atom){ .kind = RE_CHAR };
	return char_escape(c, ch, &ch) && (a->x = (int32_t)ch, true);
}

static bool
number(struct sql_re_compile *c, int *out)
{
	int v = 0;
	if (c->p == c->end || !isdigit((unsigned char)*c->p))
		return sql_re_bad(
		    c, c->p == c->end ? "braces {} not balanced" : "invalid repetition count(s)");
	for (; c->p < c->end && isdigit((unsigned char)*c->p); c->p++)
		if ((v = v * 10 + (*c->p - '0')) > REPEAT_MAX)
			return sql_re_bad(c, "invalid repetition count(s)");
	*out = v;
	return true;
}

static bool
quantified(struct sql_re_compile *c, struct sql_re_piece *p)
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
	p->prefer = SQL_RE_LONGER;
	if (p->atom.kind == RE_AT || p->atom.kind == RE_LOOK)
		return sql_re_bad(c, "quantifier operand invalid");
	if (*c->p++ == '{') {
		if (!number(c, &least))
			return false;
		most = least;
		p->prefer = 0; /* {m} leaves it to the atom */
		if (c->p < c->end && *c->p == ',') {
			c->p++;
			most = SQL_RE_INF;
			p->prefer = SQL_RE_LONGER;
			if (c->p < c->end && *c->p != '}' && !number(c, &most))
				return false;
			if (most >= 0 && most < least)
				return sql_re_bad(c, "invalid repetition count(s)");
		}
		if (c->p == c->end)
			return sql_re_bad(c, "braces {} not balanced");
		if (*c->p != '}')
			return sql_re_bad(c, "invalid repetition count(s)");
		c->p++;
	}
	if (c->p < c->end && *c->p == '?') {
		c->p++;
		p->prefer = p->prefer ? SQL_RE_SHORTER : 0;
	}
	if (c->p < c->end &&
	    (strchr("*+?", *c->p) || (*c->p == '{' && c->end - c->p > 1 && isdigit((unsigned char)c->p[1]))))
		return sql_re_bad(c, "quantifier operand invalid");
	p->least = least;
	p->most = most;
	return true;
}

/* Room for one more atom with its quantifier. NULL: there are too many, or no memory. */
static struct sql_re_piece *
one_more(struct sql_re_compile *c)
{
	if (++c->pieces > SQL_RE_OPS) {
		sql_re_bad(c, "regular expression is too complex");
		return NULL;
	}
	return sql_re_take(c, sizeof(struct sql_re_piece));
}

static bool
piece(struct sql_re_compile *c, struct sql_re_piece *p)
{
	uint32_t ch = take(c);
	bool ok = true;
	p->least = p->most = 1;
	switch (ch) {
	case '(':
		if (c->end - c->p >= 2 && c->p[0] == '?' && c->p[1] == '#') { /* a comment */
			const char *close = memchr(c->p, ')', (size_t)(c->end - c->p));
			c->p = close != NULL ? close + 1 : c->end;
			p->most = 0;
			return close != NULL || sql_re_bad(c, "parentheses () not balanced");
		}
		ok = group(c, &p->atom);
		break;
	case '[':
		ok = bracket(c, &p->atom);
		break;
	case '.':
		p->atom.kind = RE_ANY;
		break;
	case '^':
	case '$':
		p->atom = (struct sql_re_atom){ .kind = RE_AT, .x = ch == '^' ? AT_BEGIN : AT_END };
		break;
	case '\\':
		ok = escape(c, &p->atom);
		break;
	case '*':
	case '+':
	case '?':
		return sql_re_bad(c, "quantifier operand invalid");
	case '{':
		if (c->p < c->end && isdigit((unsigned char)*c->p))
			return sql_re_bad(c, "quantifier operand invalid");
		/* fall through */
	default:
		p->atom = (struct sql_re_atom){ .kind = RE_CHAR, .x = (int32_t)ch };
	}
	return ok && quantified(c, p);
}

static bool
alternatives(struct sql_re_compile *c, struct sql_re_alt **out)
{
	if ((*out = sql_re_take(c, sizeof **out)) == NULL)
		return false;
	struct sql_re_branch **branch = &(*out)->first;
	for (;;) {
		if ((*branch = sql_re_take(c, sizeof **branch)) == NULL)
			return false;
		struct sql_re_piece **next = &(*branch)->first;
		while (c->p < c->end && *c->p != '|' && *c->p != ')') {
			struct sql_re_piece *p = one_more(c);
			if (p == NULL || !piece(c, p))
				return false;
			if (p->most == 0)
				continue; /* {0} cancels everything */
			*next = p;
			next = &p->next;
		}
		if (c->p == c->end || *c->p == ')')
			return true;
		c->p++;
		branch = &(*branch)->next;
	}
}

bool
sql_re_parse(struct sql_re_compile *c, bool literal, struct sql_re_alt **out)
{
	if (!literal) {
		if (!alternatives(c, out))
			return false;
		return c->p == c->end || sql_re_bad(c, "parentheses () not balanced");
	}
	struct sql_re_branch *b = sql_re_take(c, sizeof *b);
	if (b == NULL || (*out = sql_re_take(c, sizeof **out)) == NULL)
		return false;
	(*out)->first = b;
	for (struct sql_re_piece **next = &b->first; c->p < c->end; next = &(*next)->next) {
		if ((*next = one_more(c)) == NULL)
			return false;
		**next = (struct sql_re_piece){
			.atom = { .kind = RE_CHAR, .x = (int32_t)take(c) }, .least = 1, .most = 1
		};
	}
	return true;
}
