/* regex_fn.c -- ~ and its kin, regexp_replace and the like, SIMILAR TO. A constant pattern is
 * compiled once per plan. */
#include <sql/expr/func/regex.h>
#include <sql/expr/functions.h>
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

/* The arguments of a function behind text and pattern, by their letters: r replacement, s start, n
 * which match, e end option, f flags, g group. */
static const char *
form_of(const struct sql_expr *e)
{
	static const struct {
		const char *name, *form;
	} forms[] = { { "regexp_replace", "rsnf" }, { "regexp_count", "sf" }, { "regexp_instr", "snefg" },
		{ "regexp_substr", "snfg" } };
	if (strcmp(e->fn->name, "regexp_replace") == 0 && e->nargs == 4 && e->args[3]->type == CAT_TEXT)
		return "rf";
	for (unsigned k = 0; k < sizeof forms / sizeof *forms; k++)
		if (strcmp(forms[k].name, e->fn->name) == 0)
			return forms[k].form;
	return "f";
}

/* The argument of that letter; e's number of arguments: it has none. */
static unsigned
place_of(const struct sql_expr *e, char letter)
{
	const char *form = form_of(e), *at = strchr(form, letter);
	unsigned k = at != NULL ? 2 + (unsigned)(at - form) : e->nargs;
	return k < e->nargs ? k : e->nargs;
}

static unsigned
flags_at(const struct sql_expr *e)
{
	return place_of(e, 'f');
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

/* What the arguments of a row say beside text, pattern and flags. */
struct asked {
	uint32_t from; /* byte of the text where the search begins; beyond its end: nowhere */
	int64_t which; /* the match, from 1 on; 0: all */
	bool end;      /* where it ends, not where it begins */
	unsigned group;
};

static bool
bad_value(struct sql_frame *f, const char *what, int64_t v)
{
	return cat_error(
	    f->env->err, "22023", "invalid value for parameter \"%s\": %lld", what, (long long)v);
}

static bool
number_of(
    struct sql_frame *f, unsigned k, char letter, const char *what, int64_t least, int64_t most, int64_t *v)
{
	unsigned at = place_of(f->e, letter);
	if (at == f->e->nargs)
		return true;
	*v = f->arg[at].i[k & f->arg[at].mask];
	return (*v >= least && *v <= most) || bad_value(f, what, *v);
}

static bool
ask(struct sql_frame *f, unsigned k, struct asked *a)
{
	int64_t start = 1, end = 0, group = 0;
	struct cat_str s = f->arg[0].s[k & f->arg[0].mask];
	a->which = 1;
	if (!number_of(f, k, 's', "start", 1, INT32_MAX, &start) ||
	    !number_of(f, k, 'n', "n", f->e->fn->name[7] == 'r' ? 0 : 1, INT32_MAX, &a->which) ||
	    !number_of(f, k, 'e', "endoption", 0, 1, &end) ||
	    !number_of(f, k, 'g', "subexpr", 0, INT32_MAX, &group))
		return false;
	a->end = end != 0;
	a->group = group < SQL_REGEX_GROUPS ? (unsigned)group : SQL_REGEX_GROUPS;
	for (a->from = 0; start > 1 && a->from < s.len; start--)
		sql_utf8_get(s, &a->from);
	if (start > 1)
		a->from = s.len + 1;
	return true;
}

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
	sql_regex_watch(m->run, f->env->go_on, f->env->go_on_arg, f->env->err);
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

/* The match that is asked for. False: there are not so many. */
static bool
find_asked(struct machine *m, struct cat_str s, const struct asked *a, struct sql_regex_span *span)
{
	uint32_t at = a->from;
	for (int64_t n = 1; at <= s.len && sql_regex_find(m->run, &m->p->re, s, at, span); n++) {
		if (n == a->which)
			return true;
		at = behind(s, span);
	}
	return false;
}

/* The group asked for; false: the pattern has not so many, or it took no part. */
static bool
group_of(const struct machine *m, unsigned g, const struct sql_regex_span *span)
{
	return g < m->p->re.groups && g < SQL_REGEX_GROUPS && span[g].from >= 0 && span[g].to >= 0;
}

/* substring gives the first group, if there is one; regexp_substr the one asked for. */
static bool
k_substr(struct sql_frame *f)
{
	struct machine m = { .frame = f };
	bool inner = f->e->fn->name[0] == 's';
	struct cat_str *o = f->out->s;
	struct sql_regex_span span[SQL_REGEX_GROUPS];
	struct asked a;
	SQL_EACH(
	    f, o[k] = (struct cat_str){ "", 0 }; if (!f->out->null[k]) {
		    struct cat_str s = f->arg[0].s[k & f->arg[0].mask];
		    if (!ask(f, k, &a) || !machine_for(&m, k))
			    return false;
		    unsigned g = inner ? m.p->re.groups > 1 : a.group;
		    if (!find_asked(&m, s, &a, span) || !group_of(&m, g, span))
			    f->out->null[k] = 1;
		    else
			    o[k] =
				(struct cat_str){ s.p + span[g].from, (uint32_t)(span[g].to - span[g].from) };
	    });
	return complete(&m);
}

static bool
k_count(struct sql_frame *f)
{
	struct machine m = { .frame = f };
	struct sql_regex_span span[SQL_REGEX_GROUPS];
	struct asked a;
	int64_t *o = f->out->i;
	SQL_EACH(
	    f, if (!f->out->null[k]) {
		    struct cat_str s = f->arg[0].s[k & f->arg[0].mask];
		    if (!ask(f, k, &a) || !machine_for(&m, k))
			    return false;
		    o[k] = 0;
		    for (uint32_t at = a.from; at <= s.len && sql_regex_find(m.run, &m.p->re, s, at, span);
			 o[k]++)
			    at = behind(s, span);
	    });
	return complete(&m);
}

/* Which character of the text is at the byte, from 1 on. */
static int64_t
place(struct cat_str s, int32_t byte)
{
	int64_t n = 1;
	for (int32_t j = 0; j < byte; j++)
		n += ((uint8_t)s.p[j] & 0xc0) != 0x80;
	return n;
}

static bool
k_instr(struct sql_frame *f)
{
	struct machine m = { .frame = f };
	struct sql_regex_span span[SQL_REGEX_GROUPS];
	struct asked a;
	int64_t *o = f->out->i;
	SQL_EACH(
	    f, if (!f->out->null[k]) {
		    struct cat_str s = f->arg[0].s[k & f->arg[0].mask];
		    if (!ask(f, k, &a) || !machine_for(&m, k))
			    return false;
		    o[k] = 0;
		    if (find_asked(&m, s, &a, span) && group_of(&m, a.group, span))
			    o[k] = place(s, a.end ? span[a.group].to : span[a.group].from);
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
replace(struct machine *m, struct cat_str s, struct cat_str by, const struct asked *a, struct cat_str *out)
{
	struct sql_writer w = { .p = "", .env = m->frame->env };
	struct sql_regex_span span[SQL_REGEX_GROUPS];
	uint32_t done = 0;
	int64_t n = 0;
	bool any = false, all = a->which == 0;
	for (uint32_t at = a->from; at <= s.len && sql_regex_find(m->run, &m->p->re, s, at, span);) {
		if (!all && ++n < a->which) {
			at = behind(s, span);
			continue;
		}
		any = true;
		if (!sql_put(&w, s.p + done, (uint32_t)span[0].from - done) ||
		    !put_replacement(&w, by, s, span))
			return false;
		done = (uint32_t)span[0].to;
		at = behind(s, span);
		if (!all)
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
	struct asked a;
	SQL_EACH(
	    f,
	    if (f->out->null[k]) {
		    o[k] = (struct cat_str){ "", 0 };
	    } else {
		    if (!ask(f, k, &a) || !machine_for(&m, k))
			    return false;
		    if (m.p->f.all && place_of(f->e, 'n') == f->e->nargs)
			    a.which = 0; /* the flag g counts where the match is not told */
		    if (!replace(
			    &m, f->arg[0].s[k & f->arg[0].mask], f->arg[2].s[k & f->arg[2].mask], &a, &o[k]))
			    return false;
	    });
	return complete(&m);
}

/* SIMILAR TO's pattern as regular expressions: one for each part that escape and " divide it
 * into. */
struct similar {
	struct sql_writer part[3];
	unsigned parts;
	unsigned brackets; /* that are open */
	unsigned inside;   /* characters since the first of them, ^ counts with it: 1, 2; then 3 */
};

/* The character at byte `at`, n bytes of them, where no bracket is open: % and _ are .* and ., the
 * rest of SQL's signs are the same there. */
static bool
put_similar(struct sql_writer *w, const char *p, size_t n)
{
	switch (*p) {
	case '%':
		return sql_put(w, ".*", 2);
	case '_':
		return sql_put(w, ".", 1);
	case '(':
		return sql_put(w, "(?:", 3);
	case '\\':
	case '.':
	case '^':
	case '$':
		return sql_put(w, "\\", 1) && sql_put(w, p, 1);
	default:
		return sql_put(w, p, n);
	}
}

/* What follows an escape: a character without its meaning, or a "; it ends a part. */
static bool
put_escaped(struct sql_row *r, struct similar *x, const char *p, size_t n)
{
	if (*p != '"' || x->brackets > 0) {
		x->inside = 3;
		return sql_put(&x->part[x->parts - 1], "\\", 1) && sql_put(&x->part[x->parts - 1], p, n);
	}
	if (x->parts == 3)
		return cat_error(r->env->err, "2200C",
		    "SQL regular expression may not contain more than two escape-double-quote separators");
	x->part[x->parts++] = (struct sql_writer){ .p = "", .env = r->env };
	return true;
}

/* A character within brackets: ] as the first one, or behind ^, does not close them. */
static bool
put_bracketed(struct similar *x, struct sql_writer *w, const char *p, size_t n)
{
	if (*p == ']' && x->inside > 2)
		x->brackets--;
	else if (*p == '[')
		x->brackets++;
	x->inside = *p == '^' && x->inside < 3 ? x->inside + 1 : 3;
	return (*p != '\\' || sql_put(w, "\\", 1)) && sql_put(w, p, n);
}

static bool
similar(struct sql_row *r, struct cat_str s, struct cat_str esc, struct similar *x)
{
	uint32_t one = 0;
	if (esc.len > 0)
		sql_utf8_get(esc, &one);
	if (one != esc.len) {
		cat_error(r->env->err, "22025", "invalid escape string");
		snprintf(r->env->err->hint, sizeof r->env->err->hint,
		    "Escape string must be empty or one character.");
		return false;
	}
	*x = (struct similar){ .part = { { .p = "", .env = r->env } }, .parts = 1 };
	bool escaped = false;
	for (uint32_t k = 0; k < s.len;) {
		uint32_t at = k;
		sql_utf8_get(s, &k);
		const char *p = s.p + at;
		size_t n = k - at;
		struct sql_writer *w = &x->part[x->parts - 1];
		bool ok = true;
		if (escaped) {
			ok = put_escaped(r, x, p, n);
			escaped = false;
		} else if (esc.len > 0 && n == esc.len && memcmp(p, esc.p, n) == 0) {
			escaped = true; /* an escape at the end says nothing */
		} else if (x->brackets > 0) {
			ok = put_bracketed(x, w, p, n);
		} else if (*p == '[') {
			x->brackets = x->inside = 1;
			ok = sql_put(w, p, 1);
		} else {
			ok = put_similar(w, p, n);
		}
		if (!ok)
			return false;
	}
	return true;
}

/* All parts as one regular expression, for the whole text. */
static bool
similar_whole(struct sql_row *r, const struct similar *x, struct cat_str *out)
{
	struct sql_writer w = { .p = "", .env = r->env };
	if (!sql_put(&w, "^", 1))
		return false;
	for (unsigned k = 0; k < x->parts; k++)
		if (!sql_put(&w, "(?:", 3) || !sql_put(&w, x->part[k].p, x->part[k].n) ||
		    !sql_put(&w, ")", 1))
			return false;
	if (!sql_put(&w, "$", 1))
		return false;
	*out = sql_written(&w);
	return true;
}

static bool
k_similar(struct sql_row *r)
{
	struct similar x;
	struct cat_str esc = r->n > 1 ? r->a[1].s : (struct cat_str){ "\\", 1 };
	return similar(r, r->a[0].s, esc, &x) && similar_whole(r, &x, &r->out.s);
}

/* A program of r's, and room to run it in. */
static bool
similar_compile(struct sql_row *r, struct cat_str pattern, struct sql_regex *re, struct sql_regex_run **run)
{
	if (!sql_regex_compile(re, pattern, false, false, r->env->arena, r->env->err))
		return false;
	if ((*run = sql_regex_room(re, r->env->arena)) == NULL)
		return sql_oom(r->env->err);
	sql_regex_watch(*run, r->env->go_on, r->env->go_on_arg, r->env->err);
	return true;
}

/* Without separators: all of the text, or the first group, which only brackets can hide. */
static bool
similar_undivided(struct sql_row *r, const struct similar *x, struct sql_regex_span *out, bool *found)
{
	struct sql_regex re;
	struct sql_regex_run *run;
	struct sql_regex_span span[SQL_REGEX_GROUPS];
	struct cat_str pattern;
	if (!similar_whole(r, x, &pattern) || !similar_compile(r, pattern, &re, &run))
		return false;
	*found = sql_regex_find(run, &re, r->a[0].s, 0, span);
	*out = span[re.groups > 1];
	*found = *found && out->from >= 0 && out->to >= 0;
	return !sql_regex_stopped(run);
}

/* The first part as short as can be, then the second one as long as can be, which is the answer. */
static bool
similar_divided(struct sql_row *r, const struct similar *x, struct sql_regex_span *out, bool *found)
{
	struct sql_regex re[3];
	struct sql_regex_run *run[3];
	for (unsigned k = 0; k < 3; k++) {
		struct sql_writer w = { .p = "", .env = r->env };
		if (!sql_put(&w, "(?:", 3) || (k < x->parts && !sql_put(&w, x->part[k].p, x->part[k].n)) ||
		    !sql_put(&w, ")", 1) || !similar_compile(r, sql_written(&w), &re[k], &run[k]))
			return false;
	}
	*found = sql_regex_three(run, re, r->a[0].s, out);
	return !sql_regex_stopped(run[0]);
}

/* substring(x from pattern for escape), substring(x similar pattern escape e) */
static bool
k_substring_similar(struct sql_row *r)
{
	struct similar x;
	struct sql_regex_span span;
	bool found;
	if (!similar(r, r->a[1].s, r->a[2].s, &x) ||
	    !(x.parts == 1 ? similar_undivided : similar_divided)(r, &x, &span, &found))
		return false;
	r->out_null = !found;
	if (found)
		r->out.s = (struct cat_str){ r->a[0].s.p + span.from, (uint32_t)(span.to - span.from) };
	return true;
}

/* ---- arrays ------------------------------------------------------------------------------ */

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
	return complete(&m);
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
	return complete(&m);
}

#define T CAT_TEXT
#define B CAT_BOOL
#define I CAT_INT4
#define A (CAT_ARRAY | CAT_TEXT)
#define MATCH(op, type)                                                                                      \
	{                                                                                                    \
		op, SQL_FN_OP | SQL_FN_REGEX, 2, { type, T }, B, k_match, NULL                               \
	}
#define V(name, n, ret, f, ...)                                                                              \
	{                                                                                                    \
		name, SQL_FN_REGEX, n, { __VA_ARGS__ }, ret, f, NULL                                         \
	}

const struct sql_fn sql_fns_regex[] = {
	MATCH("~", T),
	MATCH("~*", T),
	MATCH("!~", T),
	MATCH("!~*", T),
	/* the blanks at the end of a char(n) count here */
	MATCH("~", CAT_BPCHAR),
	MATCH("~*", CAT_BPCHAR),
	MATCH("!~", CAT_BPCHAR),
	MATCH("!~*", CAT_BPCHAR),
	V("regexp_like", 2, B, k_match, T, T),
	V("regexp_like", 3, B, k_match, T, T, T),
	V("regexp_count", 2, I, k_count, T, T),
	V("regexp_count", 3, I, k_count, T, T, I),
	V("regexp_count", 4, I, k_count, T, T, I, T),
	V("regexp_instr", 2, I, k_instr, T, T),
	V("regexp_instr", 3, I, k_instr, T, T, I),
	V("regexp_instr", 4, I, k_instr, T, T, I, I),
	V("regexp_instr", 5, I, k_instr, T, T, I, I, I),
	V("regexp_instr", 6, I, k_instr, T, T, I, I, I, T),
	V("regexp_instr", 7, I, k_instr, T, T, I, I, I, T, I),
	V("regexp_substr", 2, T, k_substr, T, T),
	V("regexp_substr", 3, T, k_substr, T, T, I),
	V("regexp_substr", 4, T, k_substr, T, T, I, I),
	V("regexp_substr", 5, T, k_substr, T, T, I, I, T),
	V("regexp_substr", 6, T, k_substr, T, T, I, I, T, I),
	V("substring", 2, T, k_substr, T, T),
	V("regexp_match", 2, A, k_groups, T, T),
	V("regexp_match", 3, A, k_groups, T, T, T),
	V("regexp_matches", 2, A, k_all, T, T),
	V("regexp_matches", 3, A, k_all, T, T, T),
	V("regexp_split_to_array", 2, A, k_all, T, T),
	V("regexp_split_to_array", 3, A, k_all, T, T, T),
	V("regexp_replace", 3, T, k_replace, T, T, T),
	V("regexp_replace", 4, T, k_replace, T, T, T, T),
	V("regexp_replace", 4, T, k_replace, T, T, T, I),
	V("regexp_replace", 5, T, k_replace, T, T, T, I, I),
	V("regexp_replace", 6, T, k_replace, T, T, T, I, I, T),
	{ "substring", 0, 3, { T, T, T }, T, NULL, k_substring_similar },
	{ "similar_to_escape", 0, 1, { T }, T, NULL, k_similar },
	{ "similar_to_escape", 0, 2, { T, T }, T, NULL, k_similar },
	{ 0 },
};
