/* regex_fn.c -- ~ and its kin, regexp_replace and the like, SIMILAR TO. A constant pattern is
 * compiled once per plan. */
#include <sql/expr/expr_internal.h>
#include <sql/expr/func/regex.h>
#include <types/array.h>

#include <stdio.h>
#include <string.h>

enum { TEXT_MAX = 256 << 20 };

struct flags {
	bool all, fold, literal;
};

/* PostgreSQL's letters. */
static bool
read_flags(struct cat_str s, const char *fn, bool may_all, struct flags *f, struct cat_err *err)
{
	for (uint32_t k = 0; k < s.len; k++) {
		switch (s.p[k]) {
		case 'g':
			if (!may_all)
				return cat_error(
				    err, "22023", "%s() does not support the \"global\" option", fn);
			f->all = true;
			break;
		case 'i':
			f->fold = true;
			break;
		case 'c':
			f->fold = false;
			break;
		case 'q':
			f->literal = true;
			break;
		case 'e':
		case 's':
		case 't':
			break;
		case 'b':
		case 'm':
		case 'n':
		case 'p':
		case 'w':
		case 'x':
			return cat_error(
			    err, "0A000", "regular expression option \"%c\" is not supported yet", s.p[k]);
		default: {
			uint32_t to = k;
			sql_utf8_get(s, &to);
			return cat_error(err, "22023", "invalid regular expression option: \"%.*s\"",
			    (int)(to - k), s.p + k);
		}
		}
	}
	return true;
}

/* The argument with the flags: behind the pattern, or behind the replacement. */
static unsigned
flags_at(const struct sql_expr *e)
{
	return strcmp(e->fn->name, "regexp_replace") == 0 ? 3 : 2;
}

static bool
compile(const struct sql_expr *e, struct cat_str pattern, const struct cat_str *flags, struct sql_regex *re,
    struct flags *f, struct nam_arena *arena, struct cat_err *err)
{
	const char *name = e->fn->name;
	bool replace = strcmp(name, "regexp_replace") == 0 || strcmp(name, "regexp_matches") == 0;
	*f = (struct flags){ .fold = name[0] != 'r' && name[strlen(name) - 1] == '*' };
	return (flags == NULL || read_flags(*flags, name, replace, f, err)) &&
	       sql_regex_compile(re, pattern, f->fold, f->literal, arena, err);
}

struct prepared {
	struct sql_regex re;
	struct flags f;
};

void
sql_regex_prepare(struct nam_arena *a, struct sql_expr *e)
{
	const struct sql_expr *pattern = e->args[1];
	const struct sql_expr *flags = e->nargs > flags_at(e) ? e->args[flags_at(e)] : NULL;
	if (pattern->kind != SQL_CONST || pattern->value.null ||
	    (flags != NULL && (flags->kind != SQL_CONST || flags->value.null)))
		return;
	struct prepared *p = nam_arena_take(a, sizeof *p);
	struct cat_err ignored;
	if (p != NULL &&
	    compile(e, pattern->value.v.s, flags ? &flags->value.v.s : NULL, &p->re, &p->f, a, &ignored))
		e->list = p;
}

/* The program for each row, compiled when it is another one than for the row before. */
struct machine {
	struct sql_frame *frame;
	const struct prepared *p;
	struct prepared own;
	struct cat_str pattern, flags;
	bool has;
	struct sql_regex_run *run;
};

static bool
same_text(struct cat_str a, struct cat_str b)
{
	return a.len == b.len && memcmp(a.p, b.p, a.len) == 0;
}

static bool
machine_for(struct machine *m, unsigned k)
{
	struct sql_frame *f = m->frame;
	if (m->has && sql_regex_stopped(m->run))
		return false;
	if (m->has && f->e->list != NULL)
		return true;
	if (f->e->list != NULL) {
		m->p = f->e->list;
	} else {
		unsigned at = flags_at(f->e);
		bool flagged = f->nargs > at;
		struct cat_str pattern = f->arg[1].s[k & f->arg[1].mask];
		struct cat_str flags =
		    flagged ? f->arg[at].s[k & f->arg[at].mask] : (struct cat_str){ "", 0 };
		if (m->has && same_text(pattern, m->pattern) && same_text(flags, m->flags))
			return true;
		m->has = false;
		if (!compile(f->e, pattern, flagged ? &flags : NULL, &m->own.re, &m->own.f, f->env->arena,
			f->env->err))
			return false;
		m->pattern = pattern;
		m->flags = flags;
		m->p = &m->own;
	}
	if ((m->run = sql_regex_room(&m->p->re, f->env->arena)) == NULL)
		return sql_oom(f->env->err);
	sql_regex_watch(m->run, f->env->go_on, f->env->go_on_arg);
	m->has = true;
	return true;
}

/* True if the last row was not stopped in the middle. */
static bool
complete(const struct machine *m)
{
	return !m->has || !sql_regex_stopped(m->run);
}

static bool
k_match(struct sql_frame *f)
{
	struct machine m = { .frame = f };
	bool negate = f->e->fn->name[0] == '!';
	int64_t *o = f->out->i;
	SQL_EACH(
	    f, if (!f->out->null[k]) {
		    if (!machine_for(&m, k))
			    return false;
		    o[k] =
			sql_regex_find(m.run, &m.p->re, f->arg[0].s[k & f->arg[0].mask], 0, NULL) != negate;
	    });
	return complete(&m);
}

static bool
k_substr(struct sql_frame *f)
{
	struct machine m = { .frame = f };
	/* substring gives the first group, if there is one; regexp_substr the whole */
	bool inner = f->e->fn->name[0] == 's';
	struct cat_str *o = f->out->s;
	struct sql_regex_span span[SQL_REGEX_GROUPS];
	SQL_EACH(
	    f,
	    if (f->out->null[k]) {
		    o[k] = (struct cat_str){ "", 0 };
	    } else {
		    struct cat_str s = f->arg[0].s[k & f->arg[0].mask];
		    if (!machine_for(&m, k))
			    return false;
		    o[k] = (struct cat_str){ "", 0 };
		    unsigned g = inner && m.p->re.groups > 1;
		    if (!sql_regex_find(m.run, &m.p->re, s, 0, span) || span[g].from < 0 || span[g].to < 0)
			    f->out->null[k] = 1;
		    else
			    o[k] =
				(struct cat_str){ s.p + span[g].from, (uint32_t)(span[g].to - span[g].from) };
	    });
	return complete(&m);
}

/* Where to look on after a match; beyond the end: nowhere. */
static uint32_t
behind(struct cat_str s, const struct sql_regex_span *m)
{
	uint32_t at = (uint32_t)m->to;
	if (m->to > m->from)
		return at;
	if (at >= s.len)
		return s.len + 1;
	sql_utf8_get(s, &at);
	return at;
}

static bool
k_count(struct sql_frame *f)
{
	struct machine m = { .frame = f };
	struct sql_regex_span span[SQL_REGEX_GROUPS];
	int64_t *o = f->out->i;
	SQL_EACH(
	    f, if (!f->out->null[k]) {
		    struct cat_str s = f->arg[0].s[k & f->arg[0].mask];
		    if (!machine_for(&m, k))
			    return false;
		    o[k] = 0;
		    for (uint32_t at = 0; at <= s.len && sql_regex_find(m.run, &m.p->re, s, at, span); o[k]++)
			    at = behind(s, span);
	    });
	return complete(&m);
}

static bool
k_instr(struct sql_frame *f)
{
	struct machine m = { .frame = f };
	struct sql_regex_span span[SQL_REGEX_GROUPS];
	int64_t *o = f->out->i;
	SQL_EACH(
	    f, if (!f->out->null[k]) {
		    struct cat_str s = f->arg[0].s[k & f->arg[0].mask];
		    if (!machine_for(&m, k))
			    return false;
		    o[k] = sql_regex_find(m.run, &m.p->re, s, 0, span);
		    if (o[k] == 1)
			    for (int32_t j = 0; j < span[0].from; j++)
				    o[k] += ((uint8_t)s.p[j] & 0xc0) != 0x80;
	    });
	return complete(&m);
}

/* \1 is a group, \& all of it, \\ a backslash, and a backslash before anything else is itself. */
static bool
put_replacement(struct sql_writer *w, struct cat_str by, struct cat_str s, const struct sql_regex_span *span)
{
	for (uint32_t k = 0; k < by.len;) {
		const char *esc = memchr(by.p + k, '\\', by.len - k);
		uint32_t to = esc ? (uint32_t)(esc - by.p) : by.len;
		if (!sql_put(w, by.p + k, to - k))
			return false;
		if (esc == NULL)
			return true;
		char c = to + 1 < by.len ? by.p[to + 1] : 0;
		k = to + 2;
		unsigned g = c >= '1' && c <= '9' ? (unsigned)(c - '0') : 0;
		if (g > 0 || c == '&') {
			if (span[g].from >= 0 && span[g].to >= 0 &&
			    !sql_put(w, s.p + span[g].from, (size_t)(span[g].to - span[g].from)))
				return false;
			continue;
		}
		if (!sql_put(w, "\\", 1))
			return false;
		if (c != '\\')
			k = to + 1;
	}
	return true;
}

static bool
replace(struct machine *m, struct cat_str s, struct cat_str by, struct cat_str *out)
{
	struct sql_writer w = { .p = "", .env = m->frame->env };
	struct sql_regex_span span[SQL_REGEX_GROUPS];
	uint32_t done = 0;
	bool any = false;
	for (uint32_t at = 0; at <= s.len && sql_regex_find(m->run, &m->p->re, s, at, span);) {
		any = true;
		if (!sql_put(&w, s.p + done, (uint32_t)span[0].from - done) ||
		    !put_replacement(&w, by, s, span))
			return false;
		done = (uint32_t)span[0].to;
		at = behind(s, span);
		if (!m->p->f.all)
			break;
	}
	if (any && !sql_put(&w, s.p + done, s.len - done))
		return false;
	*out = any ? (struct cat_str){ w.p, (uint32_t)w.n } : s;
	return true;
}

static bool
k_replace(struct sql_frame *f)
{
	struct machine m = { .frame = f };
	struct cat_str *o = f->out->s;
	SQL_EACH(
	    f,
	    if (f->out->null[k]) {
		    o[k] = (struct cat_str){ "", 0 };
	    } else {
		    if (!machine_for(&m, k) ||
			!replace(&m, f->arg[0].s[k & f->arg[0].mask], f->arg[2].s[k & f->arg[2].mask], &o[k]))
			    return false;
	    });
	return complete(&m);
}

/* SIMILAR TO's pattern as a regular expression: % and _ are .* and ., the rest of SQL's signs are
 * the same there. */
static bool
similar(struct sql_row *r, struct cat_str s, struct cat_str esc, struct cat_str *out)
{
	struct sql_writer w = { .p = "", .env = r->env };
	uint32_t one = 0;
	if (esc.len > 0)
		sql_utf8_get(esc, &one);
	if (one != esc.len) {
		snprintf(r->env->err->hint, sizeof r->env->err->hint,
		    "Escape string must be empty or one character.");
		cat_error(r->env->err, "22025", "invalid escape string");
		return false;
	}
	if (!sql_put(&w, "^(?:", 4))
		return false;
	bool bracket = false;
	for (uint32_t k = 0; k < s.len;) {
		uint32_t at = k;
		sql_utf8_get(s, &k);
		const char *p = s.p + at;
		size_t n = k - at;
		if (esc.len > 0 && n == esc.len && memcmp(p, esc.p, n) == 0) {
			if (k == s.len)
				return cat_error(
				    r->env->err, "22025", "LIKE pattern must not end with escape character");
			at = k;
			sql_utf8_get(s, &k);
			if (s.p[at] == '"')
				return cat_error(
				    r->env->err, "0A000", "SUBSTRING ... SIMILAR is not supported yet");
			if (!sql_put(&w, "\\", 1) || !sql_put(&w, s.p + at, k - at))
				return false;
			continue;
		}
		bool ok;
		if (bracket) {
			bracket = *p != ']';
			ok = (*p != '\\' || sql_put(&w, "\\", 1)) && sql_put(&w, p, n);
		} else if (*p == '[') {
			bracket = true;
			ok = sql_put(&w, p, 1);
		} else if (*p == '%') {
			ok = sql_put(&w, ".*", 2);
		} else if (*p == '_') {
			ok = sql_put(&w, ".", 1);
		} else if (*p == '(') {
			ok = sql_put(&w, "(?:", 3);
		} else if (*p == '\\' || *p == '.' || *p == '^' || *p == '$') {
			ok = sql_put(&w, "\\", 1) && sql_put(&w, p, 1);
		} else {
			ok = sql_put(&w, p, n);
		}
		if (!ok)
			return false;
	}
	if (!sql_put(&w, ")$", 2))
		return false;
	*out = (struct cat_str){ w.p, (uint32_t)w.n };
	return true;
}

static bool
k_similar(struct sql_row *r)
{
	return similar(r, r->a[0].s, r->n > 1 ? r->a[1].s : (struct cat_str){ "\\", 1 }, &r->out.s);
}

/* One of the parts that escape and " divide a pattern into. */
struct part {
	struct sql_regex re;
	struct sql_regex_run *run;
};

static bool
part_make(struct sql_row *r, struct cat_str pattern, struct cat_str esc, struct part *out)
{
	struct cat_str text;
	if (!similar(r, pattern, esc, &text) ||
	    !sql_regex_compile(&out->re, text, false, false, r->env->arena, r->env->err))
		return false;
	if ((out->run = sql_regex_room(&out->re, r->env->arena)) == NULL)
		return sql_oom(r->env->err);
	sql_regex_watch(out->run, r->env->go_on, r->env->go_on_arg);
	return true;
}

/* True if bytes from..to of the text are such a part. */
static bool
part_is(struct part *p, struct cat_str s, uint32_t from, uint32_t to)
{
	struct cat_str x = { s.p + from, to - from };
	return sql_regex_find(p->run, &p->re, x, 0, NULL);
}

static bool
character_begins(struct cat_str s, uint32_t at)
{
	return at == s.len || ((unsigned char)s.p[at] & 0xc0) != 0x80;
}

/* The first part as short as can be, then the second one as long as can be, which is the answer. */
static void
cut_similar(struct sql_row *r, struct part *p)
{
	struct cat_str s = r->a[0].s;
	r->out_null = true;
	for (uint32_t i = 0; i <= s.len; i++) {
		if (!character_begins(s, i) || !part_is(&p[0], s, 0, i))
			continue;
		for (uint32_t j = s.len + 1; j-- > i;)
			if (character_begins(s, j) && part_is(&p[2], s, j, s.len) &&
			    part_is(&p[1], s, i, j)) {
				r->out.s = (struct cat_str){ s.p + i, j - i };
				r->out_null = false;
				return;
			}
	}
}

/* substring(x from pattern for escape), substring(x similar pattern escape e) */
static bool
k_substring_similar(struct sql_row *r)
{
	struct cat_str pattern = r->a[1].s, esc = r->a[2].s, piece[3] = { pattern, { "", 0 }, { "", 0 } };
	unsigned n = 1;
	for (uint32_t k = 0; esc.len > 0 && k + esc.len < pattern.len; k++) {
		if (memcmp(pattern.p + k, esc.p, esc.len) != 0)
			continue;
		k += esc.len;
		if (pattern.p[k] != '"')
			continue; /* what is escaped is no escape itself */
		if (n == 3)
			return cat_error(r->env->err, "2200C",
			    "SQL regular expression may not contain more than two escape-double-quote "
			    "separators");
		const char *from = piece[n - 1].p, *next = pattern.p + k + 1;
		piece[n - 1].len = (uint32_t)(pattern.p + k - esc.len - from);
		piece[n++] = (struct cat_str){ next, (uint32_t)(pattern.p + pattern.len - next) };
	}
	if (n == 1) { /* all of it, or nothing */
		piece[1] = pattern;
		piece[0].len = 0;
	}
	struct part part[3];
	for (unsigned k = 0; k < 3; k++)
		if (!part_make(r, piece[k], esc, &part[k]))
			return false;
	cut_similar(r, part);
	for (unsigned k = 0; k < 3; k++)
		if (sql_regex_stopped(part[k].run))
			return false;
	return true;
}

/* ---- arrays ---------------------------------------------------------------------------- */

static struct cat_str
part(struct cat_str s, int32_t from, int32_t to)
{
	return (struct cat_str){ s.p + from, (uint32_t)(to - from) };
}

/* The groups of a match, or all of it when there are none. */
static bool
groups(const struct machine *m, struct cat_str s, const struct sql_regex_span *span, struct cat_str *out)
{
	union cat_val v[SQL_REGEX_GROUPS];
	bool null[SQL_REGEX_GROUPS];
	const struct sql_env *env = m->frame->env;
	unsigned first = m->p->re.groups > 1, n = 0;
	if (m->p->re.groups > SQL_REGEX_GROUPS)
		return cat_error(env->err, "0A000", "more than %d groups of a match are not supported yet",
		    SQL_REGEX_GROUPS - 1);
	for (unsigned g = first; g < m->p->re.groups; g++, n++) {
		null[n] = span[g].from < 0 || span[g].to < 0;
		if (!null[n])
			v[n].s = part(s, span[g].from, span[g].to);
	}
	return cat_array_make(CAT_TEXT, 1, v, null, n, out, env->arena, env->err);
}

static bool
k_groups(struct sql_frame *f)
{
	struct machine m = { .frame = f };
	struct sql_regex_span span[SQL_REGEX_GROUPS];
	struct cat_str *o = f->out->s;
	SQL_EACH(
	    f, struct cat_str s = f->arg[0].s[k & f->arg[0].mask]; o[k] = (struct cat_str){ "", 0 };
	    if (!f->out->null[k]) {
		    if (!machine_for(&m, k))
			    return false;
		    f->out->null[k] = !sql_regex_find(m.run, &m.p->re, s, 0, span);
		    if (!f->out->null[k] && !groups(&m, s, span, &o[k]))
			    return false;
	    });
	return true;
}

/* regexp_matches: an array for each match; regexp_split_to_array: what lies between matches. An
 * empty match where the one before ended, or at either end, parts nothing. */
static bool
k_all(struct sql_frame *f)
{
	struct machine m = { .frame = f };
	bool split = strcmp(f->e->fn->name, "regexp_split_to_array") == 0;
	struct sql_regex_span span[SQL_REGEX_GROUPS];
	struct nam_arena *arena = f->env->arena;
	struct cat_str *o = f->out->s;
	SQL_EACH(
	    f, struct cat_str s = f->arg[0].s[k & f->arg[0].mask]; o[k] = (struct cat_str){ "", 0 };
	    if (!f->out->null[k]) {
		    struct cat_array_build all = { 0 };
		    union cat_val v;
		    int32_t done = 0;
		    if (!machine_for(&m, k))
			    return false;
		    for (uint32_t at = 0; at <= s.len && sql_regex_find(m.run, &m.p->re, s, at, span);
			 at = behind(s, span)) {
			    bool empty = span[0].from == span[0].to;
			    if (split && empty && (span[0].from == done || (uint32_t)span[0].from == s.len))
				    continue;
			    v.s = part(s, done, span[0].from);
			    done = span[0].to;
			    if ((!split && !groups(&m, s, span, &v.s)) ||
				!cat_array_push(&all, CAT_TEXT, v, false, arena, f->env->err))
				    return false;
			    if (!split && !m.p->f.all)
				    break;
		    }
		    v.s = part(s, done, (int32_t)s.len);
		    if ((split && !cat_array_push(&all, CAT_TEXT, v, false, arena, f->env->err)) ||
			!cat_array_make(CAT_TEXT, 1, all.v, all.null, all.n, &o[k], arena, f->env->err))
			    return false;
	    });
	return true;
}

#define T CAT_TEXT
#define B CAT_BOOL
#define A (CAT_ARRAY | CAT_TEXT)
#define MATCH(op)                                                                                            \
	{                                                                                                    \
		op, SQL_FN_OP | SQL_FN_REGEX, 2, { T, T }, B, k_match, NULL                                  \
	}
#define V(name, n, ret, f, ...)                                                                              \
	{                                                                                                    \
		name, SQL_FN_REGEX, n, { __VA_ARGS__ }, ret, f, NULL                                         \
	}

const struct sql_fn sql_fns_regex[] = {
	MATCH("~"),
	MATCH("~*"),
	MATCH("!~"),
	MATCH("!~*"),
	V("regexp_like", 2, B, k_match, T, T),
	V("regexp_like", 3, B, k_match, T, T, T),
	V("regexp_count", 2, CAT_INT4, k_count, T, T),
	V("regexp_instr", 2, CAT_INT4, k_instr, T, T),
	V("regexp_substr", 2, T, k_substr, T, T),
	V("substring", 2, T, k_substr, T, T),
	V("regexp_match", 2, A, k_groups, T, T),
	V("regexp_match", 3, A, k_groups, T, T, T),
	V("regexp_matches", 2, A, k_all, T, T),
	V("regexp_matches", 3, A, k_all, T, T, T),
	V("regexp_split_to_array", 2, A, k_all, T, T),
	V("regexp_split_to_array", 3, A, k_all, T, T, T),
	V("regexp_replace", 3, T, k_replace, T, T, T),
	V("regexp_replace", 4, T, k_replace, T, T, T, T),
	{ "substring", 0, 3, { T, T, T }, T, NULL, k_substring_similar },
	{ "similar_to_escape", 0, 1, { T }, T, NULL, k_similar },
	{ "similar_to_escape", 0, 2, { T, T }, T, NULL, k_similar },
	{ 0 },
};
