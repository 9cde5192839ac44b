/*
 * numfmt.c -- templates for numbers: to_char and to_number.
 *
 * PostgreSQL's rules, which are those of a cursor over the template beside one over the digits:
 * what a '9' writes depends on how many places the template has before the point and how many the
 * number fills.
 */
#include <sql/expr/func/table.h>
#include <types/numeric.h>

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum sign_word {
	N_COMMA,
	N_POINT,
	N_ZERO,
	N_NINE,
	N_BLANK,
	N_NOTHING,
	N_DECIMAL,
	N_EEEE,
	N_FILL,
	N_GROUP,
	N_CURRENCY,
	N_MINUS,
	N_PLUS,
	N_BRACKET,
	N_ROMAN,
	N_SIGN,
	N_ANCHORED,
	N_TH,
	N_MULTI
};

static const struct word {
	const char *name;
	uint8_t len, what;
	bool lower;
} words[] = {
#define W(n, w, l)                                                                                           \
	{                                                                                                    \
		n, sizeof n - 1, w, l                                                                        \
	}
	W(",", N_COMMA, false),
	W(".", N_POINT, false),
	W("0", N_ZERO, false),
	W("9", N_NINE, false),
	W("B", N_BLANK, false),
	W("C", N_NOTHING, false),
	W("D", N_DECIMAL, false),
	W("EEEE", N_EEEE, false),
	W("FM", N_FILL, false),
	W("G", N_GROUP, false),
	W("L", N_CURRENCY, false),
	W("MI", N_MINUS, false),
	W("PL", N_PLUS, false),
	W("PR", N_BRACKET, false),
	W("RN", N_ROMAN, false),
	W("SG", N_SIGN, false),
	W("SP", N_NOTHING, false),
	W("S", N_ANCHORED, false),
	W("TH", N_TH, false),
	W("V", N_MULTI, false),
	W("b", N_BLANK, true),
	W("c", N_NOTHING, true),
	W("d", N_DECIMAL, true),
	W("eeee", N_EEEE, true),
	W("fm", N_FILL, true),
	W("g", N_GROUP, true),
	W("l", N_CURRENCY, true),
	W("mi", N_MINUS, true),
	W("pl", N_PLUS, true),
	W("pr", N_BRACKET, true),
	W("rn", N_ROMAN, true),
	W("sg", N_SIGN, true),
	W("sp", N_NOTHING, true),
	W("s", N_ANCHORED, true),
	W("th", N_TH, true),
	W("v", N_MULTI, true),
#undef W
};

/* One step: a word, or a character. */
struct step {
	const struct word *word;
	const char *p;
	uint8_t len;
};

enum { ANCHOR_NONE, ANCHOR_FRONT, ANCHOR_BEHIND };

/* What a template says in all. */
struct layout {
	int pre, post, multi; /* digits before and behind the point, behind V */
	int anchor, anchored_at;
	int zero_start, zero_end;
	bool decimal, zero, fill, anchored, minus, plus, bracket, roman, multiply, exponent;
};

enum { TEMPLATE_MAX = 4096 };

static bool
syntax(const struct sql_env *env, const char *what)
{
	return cat_error(env->err, "42601", "%s", what);
}

/* Takes a word into the layout. */
static bool
learn(const struct sql_env *env, struct layout *l, unsigned what)
{
	static const char together[] = "cannot use \"V\" and decimal point together";
	if (l->exponent && what != N_EEEE)
		return syntax(env, "\"EEEE\" must be the last pattern used");
	switch ((enum sign_word)what) {
	case N_NINE:
		if (l->bracket)
			return syntax(env, "\"9\" must be ahead of \"PR\"");
		if (l->multiply)
			l->multi++;
		else if (l->decimal)
			l->post++;
		else
			l->pre++;
		return true;
	case N_ZERO:
		if (l->bracket)
			return syntax(env, "\"0\" must be ahead of \"PR\"");
		if (!l->zero && !l->decimal) {
			l->zero = true;
			l->zero_start = l->pre + 1;
		}
		if (l->decimal)
			l->post++;
		else
			l->pre++;
		l->zero_end = l->pre + l->post;
		return true;
	case N_POINT:
	case N_DECIMAL:
		if (l->decimal)
			return syntax(env, "multiple decimal points");
		if (l->multiply)
			return syntax(env, together);
		l->decimal = true;
		return true;
	case N_FILL:
		l->fill = true;
		return true;
	case N_ANCHORED:
		if (l->anchored)
			return syntax(env, "cannot use \"S\" twice");
		if (l->plus || l->minus || l->bracket)
			return syntax(env, "cannot use \"S\" and \"PL\"/\"MI\"/\"SG\"/\"PR\" together");
		if (!l->decimal) {
			l->anchor = ANCHOR_FRONT;
			l->anchored_at = l->pre;
			l->anchored = true;
		} else if (l->anchor == ANCHOR_NONE) {
			l->anchor = ANCHOR_BEHIND;
			l->anchored = true;
		}
		return true;
	case N_MINUS:
		if (l->anchored)
			return syntax(env, "cannot use \"S\" and \"MI\" together");
		l->minus = true;
		return true;
	case N_PLUS:
		if (l->anchored)
			return syntax(env, "cannot use \"S\" and \"PL\" together");
		l->plus = true;
		return true;
	case N_SIGN:
		if (l->anchored)
			return syntax(env, "cannot use \"S\" and \"SG\" together");
		l->minus = l->plus = true;
		return true;
	case N_BRACKET:
		if (l->anchored || l->plus || l->minus)
			return syntax(env, "cannot use \"PR\" and \"S\"/\"PL\"/\"MI\"/\"SG\" together");
		l->bracket = true;
		return true;
	case N_ROMAN:
		l->roman = true;
		return true;
	case N_MULTI:
		if (l->decimal)
			return syntax(env, together);
		l->multiply = true;
		return true;
	case N_EEEE:
		if (l->exponent)
			return syntax(env, "cannot use \"EEEE\" twice");
		if (l->fill || l->anchored || l->bracket || l->minus || l->plus || l->roman || l->multiply) {
			snprintf(env->err->detail, sizeof env->err->detail,
			    "\"EEEE\" may only be used together with digit and decimal point patterns.");
			return syntax(env, "\"EEEE\" is incompatible with other formats");
		}
		l->exponent = true;
		return true;
	default:
		return true;
	}
}

static struct step *
steps_of(const struct sql_env *env, struct cat_str f, unsigned *n, struct layout *l)
{
	struct step *s = NULL;
	*l = (struct layout){ 0 };
	*n = 0;
	if (f.len > TEMPLATE_MAX)
		cat_error(env->err, "54000", "a template for numbers may have %d bytes", TEMPLATE_MAX);
	else if ((s = nam_arena_zero(env->arena, (f.len + 1) * sizeof *s)) == NULL)
		sql_oom(env->err);
	bool quoted = false;
	for (uint32_t k = 0; s != NULL && k < f.len;) {
		struct step *x = &s[*n];
		if (!quoted) {
			for (unsigned i = 0; i < sizeof words / sizeof *words && x->word == NULL; i++)
				if (words[i].len <= f.len - k &&
				    memcmp(words[i].name, f.p + k, words[i].len) == 0)
					x->word = &words[i];
			if (x->word != NULL) {
				if (!learn(env, l, x->word->what))
					return NULL;
				k += x->word->len;
				++*n;
				continue;
			}
		}
		if (f.p[k] == '"') {
			quoted = !quoted;
			k++;
			continue;
		}
		if (f.p[k] == '\\' && k + 1 < f.len && (quoted || f.p[k + 1] == '"'))
			k++;
		uint32_t from = k;
		sql_utf8_get(f, &k);
		x->p = f.p + from;
		x->len = (uint8_t)(k - from);
		++*n;
	}
	return s;
}

/* ---- out ---------------------------------------------------------------------------------- */

/* The two cursors. */
struct pen {
	struct sql_writer w;
	struct layout l;
	const char *number, *at; /* digits, perhaps with a point, ended by 0 */
	const char *last;        /* the last digit behind the point that is no 0, or the
				  * point; NULL = all count */
	char sign;
	bool signed_, in;
	int blanks, count, place;
};

static bool
ends_with_point(const struct pen *p)
{
	return p->last != NULL && *p->last == '.';
}

/* A zero before the point that need not be there. */
static bool
leading_zero(const struct pen *p)
{
	return !p->l.zero && p->number == p->at && *p->number == '0' && p->l.post != 0;
}

static bool
put(struct pen *p, char c)
{
	return sql_put_char(&p->w, c);
}

static bool
put_sign(struct pen *p)
{
	if (p->l.anchored) {
		if (p->l.anchor != ANCHOR_FRONT)
			return true;
		p->signed_ = true;
		return put(p, p->sign);
	}
	p->signed_ = true;
	if (p->l.bracket)
		return put(p, p->sign == '+' ? ' ' : '<');
	if (p->sign == '+')
		return p->l.fill || put(p, ' ');
	return p->sign != '-' || put(p, '-');
}

static bool
put_digit(struct pen *p, unsigned what)
{
	if (*p->at == '.') {
		if (!ends_with_point(p) || p->l.fill)
			return put(p, '.');
		return true;
	}
	if (p->last != NULL && p->at > p->last && what != N_ZERO)
		return true;
	if (leading_zero(p)) {
		if (!p->l.fill)
			return put(p, ' ');
		return !ends_with_point(p) || put(p, '0');
	}
	p->in = true;
	return put(p, *p->at);
}

/* What stands for a 9, a 0 or the point. */
static bool
put_place(struct pen *p, unsigned what)
{
	if (p->l.roman)
		return true;
	p->in = false;
	if (!p->signed_ && (p->place >= p->blanks || (p->l.zero && p->l.zero_start == p->place)) &&
	    (!leading_zero(p) || ends_with_point(p)) && !put_sign(p))
		return false;
	if (p->place < p->blanks && (p->l.zero_start > p->place || !p->l.zero)) {
		if (!p->l.fill && !put(p, ' '))
			return false;
	} else if (p->l.zero && p->place < p->blanks) {
		if (!put(p, '0'))
			return false;
		p->in = true;
	} else {
		if (!put_digit(p, what))
			return false;
		if (*p->at != 0)
			p->at++;
	}
	int end = p->count + (p->blanks ? 1 : 0) + (p->l.decimal ? 1 : 0);
	if (p->last != NULL && p->last == p->at)
		end = p->place;
	if (p->place + 1 == end) {
		if (p->signed_ && p->l.bracket) {
			if (!put(p, p->sign == '+' ? ' ' : '>'))
				return false;
		} else if (p->l.anchored && p->l.anchor == ANCHOR_BEHIND && !put(p, p->sign)) {
			return false;
		}
	}
	p->place++;
	return true;
}

static bool
put_roman(struct pen *p, bool lower)
{
	for (size_t n = strlen(p->number); !p->l.fill && n < 15; n++)
		if (!put(p, ' '))
			return false;
	for (const char *c = p->number; *c; c++)
		if (!put(p, lower && *c != '#' ? (char)(*c | 32) : *c))
			return false;
	return true;
}

static bool
put_th(struct pen *p, bool lower)
{
	static const char *const end[] = { "th", "st", "nd", "rd" };
	size_t n = strlen(p->number);
	if (p->l.roman || *p->number == '#' || p->sign == '-' || p->l.decimal || n == 0)
		return true;
	char c = p->number[n - 1];
	if (c < '0' || c > '9')
		return cat_error(p->w.env->err, "22P02", "\"%.60s\" is not a number", p->number);
	bool teen = n > 1 && p->number[n - 2] == '1';
	const char *e = end[!teen && c >= '1' && c <= '3' ? c - '0' : 0];
	return put(p, lower ? e[0] : (char)(e[0] - 32)) && put(p, lower ? e[1] : (char)(e[1] - 32));
}

static bool
put_word(struct pen *p, const struct word *w)
{
	switch ((enum sign_word)w->what) {
	case N_NINE:
	case N_ZERO:
	case N_POINT:
	case N_DECIMAL:
		return put_place(p, w->what);
	case N_COMMA:
	case N_GROUP:
		return p->in ? put(p, ',') : p->l.fill || put(p, ' ');
	case N_CURRENCY:
		return put(p, ' ');
	case N_ROMAN:
		return put_roman(p, w->lower);
	case N_TH:
		return put_th(p, w->lower);
	case N_MINUS:
		return p->sign == '-' ? put(p, '-') : p->l.fill || put(p, ' ');
	case N_PLUS:
		return p->sign == '+' ? put(p, '+') : p->l.fill || put(p, ' ');
	case N_SIGN:
		return put(p, p->sign);
	default:
		return true;
	}
}

/* Where the zeros at the end begin that a template with FM leaves away. */
static void
find_last(struct pen *p)
{
	const char *point = strchr(p->number, '.');
	if (point == NULL)
		return;
	p->last = point;
	for (const char *c = point + 1; *c; c++)
		if (*c != '0')
			p->last = c;
	if (p->l.zero_end > p->blanks) {
		int at = (int)strlen(p->number) - 1;
		if (at > p->l.zero_end - p->blanks)
			at = p->l.zero_end - p->blanks;
		if (p->last < p->number + at)
			p->last = p->number + at;
	}
}

/* Writes number, whose sign and blanks before it are known, by the template. */
static bool
write_out(struct sql_row *r, const struct step *s, unsigned n, struct layout l, const char *number,
    int blanks, char sign)
{
	struct pen p = { .w = { .env = r->env }, .l = l, .number = number, .at = number, .blanks = blanks };
	if (p.l.zero_start > 0)
		p.l.zero_start--;
	if (l.exponent) {
		r->out.s = (struct cat_str){ number, (uint32_t)strlen(number) };
		return true;
	}
	p.sign = sign;
	if (l.roman) {
		p.l = (struct layout){ .roman = true, .fill = l.fill };
		p.blanks = 0;
		p.sign = 0;
	}
	if (p.l.plus || p.l.minus) {
		p.signed_ = !(p.l.plus && !p.l.minus);
	} else {
		if (p.sign != '-' && p.l.fill)
			p.l.bracket = false;
		p.signed_ = p.sign == '+' && p.l.fill && !p.l.anchored;
		if (p.l.anchor == ANCHOR_FRONT && p.l.pre == p.l.anchored_at)
			p.l.anchor = ANCHOR_BEHIND;
	}
	p.count = p.l.post + p.l.pre - 1;
	if (p.l.fill && p.l.decimal)
		find_last(&p);
	if (!p.signed_ && p.blanks == 0)
		p.count++;
	for (unsigned k = 0; k < n; k++)
		if (s[k].word ? !put_word(&p, s[k].word) : !sql_put(&p.w, s[k].p, s[k].len))
			return false;
	r->out.s = sql_written(&p.w);
	/* digits that ran out end the text */
	const char *none = r->out.s.len ? memchr(r->out.s.p, 0, r->out.s.len) : NULL;
	if (none != NULL)
		r->out.s.len = (uint32_t)(none - r->out.s.p);
	return true;
}

static char *
copy(struct sql_row *r, const char *p, size_t n)
{
	char *out = nam_arena_str(r->env->arena, p, n);
	if (out == NULL)
		sql_oom(r->env->err);
	return out;
}

/* pre and post signs, for what does not fit. */
static char *
too_big(struct sql_row *r, int pre, int post, bool exponent)
{
	size_t n = (size_t)pre + (size_t)post + (exponent ? 6 : 1);
	char *out = nam_arena_take(r->env->arena, n + 1);
	if (out == NULL) {
		sql_oom(r->env->err);
		return NULL;
	}
	memset(out, '#', n);
	out[n] = 0;
	if (exponent)
		out[0] = ' ';
	out[exponent ? pre + 1 : pre] = '.';
	return out;
}

static char *
roman_of(struct sql_row *r, int64_t v)
{
	static const char *const ones[] = { "", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX" };
	static const char *const tens[] = { "", "X", "XX", "XXX", "XL", "L", "LX", "LXX", "LXXX", "XC" };
	static const char *const hundreds[] = { "", "C", "CC", "CCC", "CD", "D", "DC", "DCC", "DCCC", "CM" };
	char buf[24];
	if (v < 1 || v > 3999)
		snprintf(buf, sizeof buf, "###############");
	else
		snprintf(buf, sizeof buf, "%.*s%s%s%s", (int)(v / 1000), "MMM", hundreds[v / 100 % 10],
		    tens[v / 10 % 10], ones[v % 10]);
	return copy(r, buf, strlen(buf));
}

/* text: the number as digits, perhaps after a '-'. */
static bool
lay_out(struct sql_row *r, const struct step *s, unsigned n, struct layout l, char *text)
{
	char sign = '+';
	if (*text == '-') {
		sign = '-';
		text++;
	}
	int before = (int)strcspn(text, "."), blanks = 0;
	if (before < l.pre)
		blanks = l.pre - before;
	else if (before > l.pre && (text = too_big(r, l.pre, l.post, false)) == NULL)
		return false;
	return write_out(r, s, n, l, text, blanks, sign);
}

static bool
ten_to(struct sql_row *r, int by, struct cat_str *out)
{
	char buf[16];
	struct cat_str t = { buf, (uint32_t)snprintf(buf, sizeof buf, "1e%d", by) };
	return cat_num_in(t, out, r->env->arena, r->env->err);
}

/* d.ddde+nn */
static char *
scientific(struct sql_row *r, struct cat_str v, int post)
{
	struct nam_arena *a = r->env->arena;
	struct cat_str t = cat_num_out(v, a), by, digits;
	uint32_t k = 0, point = t.len;
	int exponent = 0;
	for (uint32_t i = 0; i < t.len && point == t.len; i++)
		if (t.p[i] == '.')
			point = i;
	while (k < t.len && (t.p[k] == '-' || t.p[k] == '0' || t.p[k] == '.'))
		k++;
	if (k < t.len)
		exponent = k < point ? (int)(point - k) - 1 : -(int)(k - point);
	if (!ten_to(r, -exponent, &by) || !cat_num_mul(v, by, &v, a, r->env->err))
		return NULL;
	if (!cat_num_round(v, post, &v, a, r->env->err))
		return NULL;
	digits = cat_num_out(v, a);
	char *out = nam_arena_printf(a, "%s%.*se%+03d", digits.len && digits.p[0] == '-' ? "" : " ",
	    (int)digits.len, digits.p, exponent);
	if (out == NULL)
		sql_oom(r->env->err);
	return out;
}

static char *
exponential(struct sql_row *r, double v, int post)
{
	char *text = nam_arena_printf(r->env->arena, "%+.*e", post, v);
	if (text == NULL)
		sql_oom(r->env->err);
	else if (*text == '+')
		*text = ' ';
	return text;
}

static bool
k_numeric_to_char(struct sql_row *r)
{
	struct layout l;
	unsigned n;
	struct cat_str v = r->a[0].s, by;
	struct nam_arena *a = r->env->arena;
	struct step *s = steps_of(r->env, r->a[1].s, &n, &l);
	if (s == NULL)
		return false;
	bool special = cat_num_is_nan(v) || cat_num_is_inf(v);
	char *text;
	if (l.roman) {
		int64_t i;
		if (special)
			return cat_error(r->env->err, "0A000", "cannot convert %s to integer",
			    cat_num_is_nan(v) ? "NaN" : "infinity");
		if (!cat_num_to_int(v, CAT_INT4, &i, r->env->err))
			return false;
		return (text = roman_of(r, i)) != NULL && write_out(r, s, n, l, text, 0, 0);
	}
	if (l.exponent) {
		text = special ? too_big(r, l.pre, l.post, true) : scientific(r, v, l.post);
		return text != NULL && write_out(r, s, n, l, text, 0, 0);
	}
	if (l.multiply) {
		if (!ten_to(r, l.multi, &by) || !cat_num_mul(v, by, &v, a, r->env->err))
			return false;
		l.pre += l.multi;
	}
	if (!special && !cat_num_round(v, l.post, &v, a, r->env->err))
		return false;
	struct cat_str t = cat_num_out(v, a);
	return (text = copy(r, t.p, t.len)) != NULL && lay_out(r, s, n, l, text);
}

static bool
k_int_to_char(struct sql_row *r)
{
	struct layout l;
	unsigned n;
	int64_t v = r->a[0].i;
	bool four = r->e->args[0]->type != CAT_INT8;
	struct step *s = steps_of(r->env, r->a[1].s, &n, &l);
	if (s == NULL)
		return false;
	char *text;
	if (l.roman && v != (int32_t)v)
		return cat_error(r->env->err, "22003", "integer out of range");
	if (l.roman)
		return (text = roman_of(r, v)) != NULL && write_out(r, s, n, l, text, 0, 0);
	if (l.exponent && four)
		return (text = exponential(r, (double)v, l.post)) != NULL &&
		       write_out(r, s, n, l, text, 0, 0);
	if (l.exponent) {
		struct cat_str num;
		if (!cat_num_from_int(v, &num, r->env->arena, r->env->err))
			return false;
		return (text = scientific(r, num, l.post)) != NULL && write_out(r, s, n, l, text, 0, 0);
	}
	for (int k = 0; l.multiply && k < l.multi; k++)
		if (__builtin_mul_overflow(v, 10, &v) || (four && v != (int32_t)v))
			return cat_error(
			    r->env->err, "22003", "%s out of range", four ? "integer" : "bigint");
	l.pre += l.multi;
	text = nam_arena_printf(r->env->arena, "%lld%s%.*d", (long long)v, l.post ? "." : "", l.post, 0);
	if (text == NULL)
		return sql_oom(r->env->err);
	if (l.post == 0)
		text[strlen(text)] = 0;
	return lay_out(r, s, n, l, text);
}

static bool
k_float_to_char(struct sql_row *r)
{
	struct layout l;
	unsigned n;
	double v = r->a[0].f;
	struct step *s = steps_of(r->env, r->a[1].s, &n, &l);
	if (s == NULL)
		return false;
	char *text;
	if (l.roman) {
		double whole = rint(v);
		if (isnan(v) || isinf(v))
			whole = 0;
		if (!(whole >= INT32_MIN && whole <= INT32_MAX))
			return cat_error(r->env->err, "22003", "integer out of range");
		return (text = roman_of(r, (int64_t)whole)) != NULL && write_out(r, s, n, l, text, 0, 0);
	}
	if (l.exponent) {
		text = isnan(v) || isinf(v) ? too_big(r, l.pre, l.post, true) : exponential(r, v, l.post);
		return text != NULL && write_out(r, s, n, l, text, 0, 0);
	}
	if (l.multiply) {
		v *= pow(10, l.multi);
		l.pre += l.multi;
	}
	int digits = snprintf(NULL, 0, "%.0f", fabs(v));
	int wide = r->e->args[0]->type == CAT_FLOAT4 ? FLT_DIG : DBL_DIG;
	if (digits >= wide)
		l.post = 0;
	else if (digits + l.post > wide)
		l.post = wide - digits;
	if (isnan(v))
		text = copy(r, "NaN", 3);
	else if (isinf(v))
		text = copy(r, v > 0 ? "Infinity" : "-Infinity", v > 0 ? 8 : 9);
	else if ((text = nam_arena_printf(r->env->arena, "%.*f", l.post, v)) == NULL)
		sql_oom(r->env->err);
	return text != NULL && lay_out(r, s, n, l, text);
}

/* ---- in ------------------------------------------------------------------------------------- */

struct reader {
	struct layout l;
	struct cat_str s;
	uint32_t at;
	char *digits; /* digits[0]: the sign */
	uint32_t n;
	int pre, post;
	bool point;
};

static bool
spent(const struct reader *c)
{
	return c->at >= c->s.len;
}

static char
now(const struct reader *c)
{
	return spent(c) ? 0 : c->s.p[c->at];
}

static bool
digit(char c)
{
	return c >= '0' && c <= '9';
}

/* A sign behind the last digit. */
static void
sign_behind(struct reader *c, bool read)
{
	if (c->l.anchored && read && c->at + 1 < c->s.len && !digit(c->s.p[c->at + 1])) {
		char next = c->s.p[c->at + 1];
		if (next == '-' || next == '+') {
			c->digits[0] = next;
			c->at++;
		}
	} else if (!read && !c->l.anchored && (c->l.plus || c->l.minus) && (now(c) == '-' || now(c) == '+')) {
		c->digits[0] = now(c);
	}
}

/* What a 9, a 0 or the point takes: at stays on its last character. */
static void
take_place(struct reader *c, unsigned what)
{
	bool read = false;
	if (now(c) == ' ')
		c->at++;
	if (spent(c))
		return;
	if (c->digits[0] == ' ' && (what == N_ZERO || what == N_NINE) && c->pre + c->post == 0) {
		if (c->l.anchored && c->l.anchor == ANCHOR_FRONT) {
			if (now(c) == '-' || now(c) == '+')
				c->digits[0] = c->s.p[c->at++];
		} else if (now(c) == '-' || (c->l.bracket && now(c) == '<')) {
			c->digits[0] = '-';
			c->at++;
		} else if (now(c) == '+') {
			c->digits[0] = '+';
			c->at++;
		}
	}
	if (spent(c))
		return;
	if (digit(now(c))) {
		if (c->point && c->post == c->l.post)
			return;
		c->digits[c->n++] = now(c);
		if (c->point)
			c->post++;
		else
			c->pre++;
		read = true;
	} else if (c->l.decimal && !c->point && now(c) == '.') {
		c->digits[c->n++] = '.';
		c->point = read = true;
	}
	if (c->digits[0] == ' ' && c->pre + c->post > 0)
		sign_behind(c, read);
}

/* At most n characters that can be no part of a number. */
static void
skip(struct reader *c, unsigned n)
{
	while (n-- > 0 && !spent(c) && strchr("0123456789.,+-", now(c)) == NULL)
		sql_utf8_get(c->s, &c->at);
}

static bool
k_to_number(struct sql_row *r)
{
	struct reader c = { .s = r->a[0].s, .n = 1 };
	struct nam_arena *a = r->env->arena;
	unsigned n;
	struct cat_str f = r->a[1].s;
	if (f.len == 0)
		return r->out_null = true;
	struct step *s = steps_of(r->env, f, &n, &c.l);
	if (s == NULL)
		return false;
	if (c.l.exponent)
		return cat_error(r->env->err, "0A000", "\"EEEE\" not supported for input");
	if (c.l.roman)
		return cat_error(r->env->err, "0A000", "\"RN\" not supported for input");
	if ((c.digits = nam_arena_take(a, (size_t)n + 2)) == NULL)
		return sql_oom(r->env->err);
	c.digits[0] = ' ';
	for (unsigned k = 0; k < n && !spent(&c); k++) {
		unsigned what = s[k].word ? s[k].word->what : N_NOTHING;
		if (s[k].word == NULL) {
			sql_utf8_get(c.s, &c.at);
			continue;
		}
		switch (what) {
		case N_NINE:
		case N_ZERO:
		case N_POINT:
		case N_DECIMAL:
			take_place(&c, what);
			break;
		case N_COMMA:
		case N_GROUP:
			if (c.l.fill || now(&c) != ',')
				continue;
			break;
		case N_MINUS:
		case N_PLUS:
		case N_SIGN:
			if ((now(&c) == '-' && what != N_PLUS) || (now(&c) == '+' && what != N_MINUS)) {
				c.digits[0] = now(&c);
				break;
			}
			skip(&c, 1);
			continue;
		case N_CURRENCY:
			skip(&c, 1);
			continue;
		case N_TH:
			if (!c.l.decimal && c.digits[0] != '-')
				skip(&c, 2);
			continue;
		default:
			continue;
		}
		c.at++;
	}
	if (c.digits[c.n - 1] == '.')
		c.n--;
	int precision = c.l.pre + c.l.multi + c.post;
	struct cat_str v, by;
	if (!cat_num_in((struct cat_str){ c.digits, c.n }, &v, a, r->env->err))
		return false;
	if (precision < 1 || precision > 1000 || c.post > 1000)
		return cat_error(
		    r->env->err, "22023", "NUMERIC precision %d must be between 1 and 1000", precision);
	if (!cat_num_fit(v, precision << 16 | c.post, &v, a, r->env->err))
		return false;
	struct cat_str ten;
	if (c.l.multiply &&
	    (!cat_num_from_int(10, &ten, a, r->env->err) ||
		!cat_num_from_int(-c.l.multi, &by, a, r->env->err) ||
		!cat_num_power(ten, by, &by, a, r->env->err) || !cat_num_mul(v, by, &v, a, r->env->err)))
		return false;
	r->out.s = v;
	return true;
}

#define T CAT_TEXT

const struct sql_fn sql_fns_numfmt[] = {
	F("to_char", 2, T, k_int_to_char, CAT_INT4, T),
	F("to_char", 2, T, k_int_to_char, CAT_INT8, T),
	F("to_char", 2, T, k_float_to_char, CAT_FLOAT4, T),
	F("to_char", 2, T, k_float_to_char, CAT_FLOAT8, T),
	F("to_char", 2, T, k_numeric_to_char, CAT_NUMERIC, T),
	F("to_number", 2, CAT_NUMERIC, k_to_number, T, T),
	{ 0 },
};
