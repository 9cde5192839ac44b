/* resolve.c -- which overload a call means: PostgreSQL's rules for candidates, and its words when
 * there is none. */
#include <sql/compat/postgres.h>
#include <sql/expr/func/array.h>
#include <types/datetime.h>
#include <types/void.h>

#include <stdio.h>
#include <string.h>

enum { CANDIDATES_MAX = 64 };

/* A parameter of type CAT_ENUM takes any enum; all of a call's are the same one. */
static bool
accepts(enum cat_type param, enum cat_type given)
{
	const struct sql_fn *fn;
	if (param == CAT_ENUM && cat_type_is_enum(given))
		return true;
	return param == given || given == CAT_UNKNOWN || sql_cast_find(given, param, SQL_CAST_IMPLICIT, &fn);
}

struct search {
	const struct sql_fn *c[CANDIDATES_MAX];
	unsigned count;
	const enum cat_type *type;
	unsigned n;
};

/* Keeps the candidates with the highest score. */
static void
keep_best(struct search *s, unsigned (*score)(const struct sql_fn *, const struct search *))
{
	unsigned best = 0, m = 0;
	for (unsigned k = 0; k < s->count; k++) {
		unsigned v = score(s->c[k], s);
		if (v > best || m == 0) {
			best = v > best ? v : best;
			if (v >= best)
				m = 0;
		}
		if (v == best)
			s->c[m++] = s->c[k];
	}
	s->count = m;
}

static unsigned
exact(const struct sql_fn *f, const struct search *s)
{
	unsigned v = 0;
	for (unsigned k = 0; k < s->n; k++)
		v += s->type[k] != CAT_UNKNOWN && f->arg[k] == s->type[k];
	return v;
}

static unsigned
exact_or_preferred(const struct sql_fn *f, const struct search *s)
{
	unsigned v = 0;
	for (unsigned k = 0; k < s->n; k++)
		v += s->type[k] != CAT_UNKNOWN &&
		     (f->arg[k] == s->type[k] ||
			 (cat_type_preferred(f->arg[k]) &&
			     cat_type_category(f->arg[k]) == cat_type_category(s->type[k])));
	return v;
}

/* Untyped arguments: strings if any candidate takes one there, else the category on which all
 * agree. */
static void
by_category(struct search *s)
{
	char want[SQL_FN_ARGS] = { 0 };
	bool prefer[SQL_FN_ARGS] = { 0 };
	for (unsigned k = 0; k < s->n; k++) {
		if (s->type[k] != CAT_UNKNOWN)
			continue;
		char cat = cat_type_category(s->c[0]->arg[k]);
		for (unsigned j = 0; j < s->count; j++) {
			if (cat_type_category(s->c[j]->arg[k]) == 'S')
				cat = 'S';
			else if (cat_type_category(s->c[j]->arg[k]) != cat && cat != 'S')
				cat = '?';
		}
		if (cat == '?')
			return;
		want[k] = cat;
		for (unsigned j = 0; j < s->count; j++)
			prefer[k] |=
			    cat_type_category(s->c[j]->arg[k]) == cat && cat_type_preferred(s->c[j]->arg[k]);
	}
	unsigned m = 0;
	for (unsigned j = 0; j < s->count; j++) {
		bool keep = true;
		for (unsigned k = 0; k < s->n; k++)
			if (want[k])
				keep &= cat_type_category(s->c[j]->arg[k]) == want[k] &&
					(!prefer[k] || cat_type_preferred(s->c[j]->arg[k]));
		if (keep)
			s->c[m++] = s->c[j];
	}
	if (m > 0)
		s->count = m;
}

/* If all known arguments have one type, the unknown ones have it as well. */
static void
by_company(struct search *s)
{
	enum cat_type t = CAT_UNKNOWN;
	for (unsigned k = 0; k < s->n; k++) {
		if (s->type[k] == CAT_UNKNOWN)
			continue;
		if (t != CAT_UNKNOWN && t != s->type[k])
			return;
		t = s->type[k];
	}
	if (t == CAT_UNKNOWN)
		return;
	const struct sql_fn *found = NULL;
	for (unsigned j = 0; j < s->count; j++) {
		bool all = true;
		for (unsigned k = 0; k < s->n; k++)
			all &= accepts(s->c[j]->arg[k], t);
		if (all && found != NULL)
			return;
		if (all)
			found = s->c[j];
	}
	if (found) {
		s->c[0] = found;
		s->count = 1;
	}
}

static bool
stringy(enum cat_type t)
{
	return t == CAT_TEXT || t == CAT_BPCHAR || t == CAT_UNKNOWN || t == CAT_NAME || t == CAT_CHAR;
}

static const struct sql_fn *const tables[] = { sql_fns_compare, sql_fns_number, sql_fns_text, sql_fns_date,
	sql_fns_interval, sql_fns_binary, sql_fns_regex, sql_fns_json, sql_fns_jsonb, sql_fns_trig,
	sql_fns_array, sql_fns_string, sql_fns_math, sql_fns_session, sql_fns_datefmt, sql_fns_datescan,
	sql_fns_numfmt, sql_fns_when, sql_fns_json_make, sql_fns_system, sql_fns_enum, sql_fns_like,
	sql_fns_encoding, sql_fns_size, sql_fns_json_turn };

const struct sql_fn *
sql_fn_table(unsigned t)
{
	return t < sizeof tables / sizeof *tables ? tables[t] : NULL;
}

/* The enum that the arguments of a call are, or 0: none is one, or they are different ones. */
static enum cat_type
enum_of(const enum cat_type *type, unsigned n)
{
	enum cat_type found = CAT_UNKNOWN;
	for (unsigned k = 0; k < n; k++) {
		if (!cat_type_is_enum(type[k]))
			continue;
		if (found != CAT_UNKNOWN && found != type[k])
			return CAT_UNKNOWN;
		found = type[k];
	}
	return found;
}

/* The overload meant; NULL: *ambiguous says whether there were several. */
static const struct sql_fn *
find(const char *name, bool op, const enum cat_type *type, unsigned n, bool *ambiguous)
{
	struct search s = { .type = type, .n = n };
	enum cat_type assume[SQL_FN_ARGS] = { CAT_UNKNOWN, CAT_UNKNOWN, CAT_UNKNOWN };
	bool one_enum = enum_of(type, n < SQL_FN_ARGS ? n : SQL_FN_ARGS) != CAT_UNKNOWN;
	*ambiguous = false;
	for (unsigned k = 0; k < n && k < SQL_FN_ARGS; k++)
		assume[k] = one_enum && cat_type_is_enum(type[k]) ? CAT_ENUM : type[k];
	if (op && n == 2 && (type[0] == CAT_UNKNOWN) != (type[1] == CAT_UNKNOWN))
		assume[0] = assume[1] = type[0] == CAT_UNKNOWN ? type[1] : type[0];
	for (unsigned t = 0; t < sizeof tables / sizeof *tables; t++) {
		for (const struct sql_fn *f = tables[t]; f->name != NULL; f++) {
			if (f->name[0] != name[0] || !!(f->flags & SQL_FN_OP) != op ||
			    strcmp(f->name, name) != 0)
				continue;
			if (f->flags & SQL_FN_ANY) {
				bool text = n == 0 || stringy(type[0]) || !(f->flags & SQL_FN_TEXT1);
				if (text && (n == f->nargs || (n > f->nargs && !(f->flags & SQL_FN_EXACT))))
					return f;
				continue;
			}
			if (f->nargs != n)
				continue;
			bool same = true, can = true;
			for (unsigned k = 0; k < n; k++) {
				can &= f->arg[k] != CAT_ENUM || one_enum;
				same &= f->arg[k] == assume[k];
				can &= accepts(f->arg[k], type[k]);
			}
			if (same)
				return f;
			if (can && s.count < CANDIDATES_MAX)
				s.c[s.count++] = f;
		}
	}
	if (s.count == 0)
		return NULL;
	if (s.count > 1)
		keep_best(&s, exact);
	if (s.count > 1)
		keep_best(&s, exact_or_preferred);
	if (s.count > 1)
		by_category(&s);
	if (s.count > 1)
		by_company(&s);
	*ambiguous = s.count > 1;
	return s.count == 1 ? s.c[0] : NULL;
}

/* Arguments brought to the parameters' types, and the call. */
static struct sql_expr *
call(struct nam_arena *a, const struct sql_fn *f, struct sql_expr **args, unsigned n, int position,
    struct cat_err *err)
{
	enum cat_type label = CAT_UNKNOWN;
	for (unsigned k = 0; k < n && !(f->flags & SQL_FN_ANY); k++)
		if (f->arg[k] == CAT_ENUM && cat_type_is_enum(args[k]->type))
			label = args[k]->type;
	if (n > 0 && f->flags & SQL_FN_TEXT1 &&
	    (args[0] = sql_expr_coerce(a, args[0], CAT_TEXT, SQL_CAST_IMPLICIT, err)) == NULL)
		return NULL;
	for (unsigned k = 0; k < n; k++) {
		if (f->flags & SQL_FN_ANY)
			continue;
		enum cat_type to = f->arg[k] == CAT_ENUM ? label : f->arg[k];
		if ((args[k] = sql_expr_coerce(a, args[k], to, SQL_CAST_IMPLICIT, err)) == NULL)
			return NULL;
	}
	struct sql_expr *e = sql_expr_call(a, f, args, n, position, err);
	if (e != NULL && cat_type_element(f->ret) == CAT_ENUM)
		e->type = cat_type_is_array(f->ret) ? cat_type_array_of(label) : label;
	if (e != NULL && (strcmp(f->name, "setseed") == 0 || strncmp(f->name, "pg_sleep", 8) == 0))
		e->typmod = CAT_VOID;
	if (e != NULL && f->flags & SQL_FN_REGEX)
		sql_regex_prepare(a, e);
	return sql_expr_fold(a, e);
}

/* varchar beside char(n) is compared as that, which text is not: none of them is text itself. */
static bool
as_char(struct nam_arena *a, const char *op, struct sql_expr **arg, struct cat_err *err)
{
	if (strspn(op, "<>=") != strlen(op))
		return true;
	for (unsigned k = 0; k < 2; k++)
		if (arg[k]->type == CAT_TEXT && arg[k]->typmod >= CAT_VARCHAR &&
		    arg[1 - k]->type == CAT_BPCHAR &&
		    (arg[k] = sql_expr_coerce(a, arg[k], CAT_BPCHAR, SQL_CAST_IMPLICIT, err)) == NULL)
			return false;
	return true;
}

/*
 * A date that is compared with a constant timestamp: the same comparison with a date, which needs
 * no cast of each row, and which an index knows. *op becomes the operator.
 */
static bool
as_date(struct nam_arena *a, const char **op, struct sql_expr **args)
{
	bool turned = args[0]->kind == SQL_CONST;
	struct sql_expr *at = args[turned ? 0 : 1];
	if (at->kind != SQL_CONST || at->type != CAT_TIMESTAMP || at->value.null ||
	    args[turned]->kind == SQL_CONST || args[turned]->type != CAT_DATE)
		return true;
	int64_t t = at->value.v.i, day = t / CAT_US_PER_DAY - (t % CAT_US_PER_DAY < 0);
	bool whole = cat_time_infinite(t) || t % CAT_US_PER_DAY == 0;
	bool less = strcmp(*op, turned ? ">" : "<") == 0, least = strcmp(*op, turned ? "<=" : ">=") == 0;
	bool more = strcmp(*op, turned ? "<" : ">") == 0, most = strcmp(*op, turned ? ">=" : "<=") == 0;
	bool equal = strcmp(*op, "=") == 0 || strcmp(*op, "<>") == 0;
	if (!less && !least && !more && !most && !(equal && whole))
		return true;
	if (!whole && less) /* it may be that day */
		*op = turned ? ">=" : "<=";
	if (!whole && least) /* it may not */
		*op = turned ? "<" : ">";
	struct cat_datum d = { .type = CAT_DATE, .v.i = cat_time_infinite(t) ? t : day };
	return (args[turned ? 0 : 1] = sql_expr_const(a, d, at->position)) != NULL;
}

/* Types but text that have a || of their own. */
static bool
has_concat(enum cat_type t)
{
	return t == CAT_BYTEA || t == CAT_JSONB;
}

struct sql_expr *
sql_expr_op(struct nam_arena *a, const char *op, struct sql_expr *left, struct sql_expr *right, int position,
    struct cat_err *err)
{
	if (strcmp(op, "!=") == 0)
		op = "<>";
	struct sql_expr *args[2] = { left ? left : right, right };
	unsigned n = left ? 2 : 1;
	if (!sql_settle_op(a, op, args, n, position, err))
		return NULL;
	if (n == 2 && !as_char(a, op, args, err))
		return NULL;
	if (n == 2 && !as_date(a, &op, args)) {
		cat_error(err, "53200", "out of memory");
		return NULL;
	}
	enum cat_type type[2] = { args[0]->type, args[1]->type };
	/* An array beside json has names. */
	bool json = type[0] == CAT_JSON || type[0] == CAT_JSONB;
	bool ambiguous = false;
	bool array = n == 2 && !json && (cat_type_is_array(type[0]) || cat_type_is_array(type[1]));
	const struct sql_fn *f = NULL;
	if (array) {
		bool no_such;
		struct sql_expr *e = sql_array_op(a, op, args, position, &no_such, err);
		if (e != NULL || !no_such)
			return e;
	}
	bool own = n == 2 && (has_concat(type[0]) || has_concat(type[1])) &&
		   (type[0] == CAT_UNKNOWN || type[1] == CAT_UNKNOWN);
	if (n == 2 && strcmp(op, "||") == 0 && !own && !array && (stringy(type[0]) || stringy(type[1]))) {
		/* text || anything: as text */
		for (unsigned k = 0; k < 2; k++) {
			if ((args[k] = sql_expr_coerce(a, args[k], CAT_TEXT, SQL_CAST_EXPLICIT, err)) == NULL)
				return NULL;
			type[k] = CAT_TEXT;
		}
	}
	if (!array)
		f = find(op, true, type, n, &ambiguous);
	if (f == NULL) {
		sql_no_operator(err, op, type, n, ambiguous, position);
		return NULL;
	}
	return call(a, f, args, n, position, err);
}

static struct sql_expr *
extreme(
    struct nam_arena *a, bool greatest, struct sql_expr **args, unsigned n, int position, struct cat_err *err)
{
	if (n == 1)
		return sql_expr_default_type(a, args[0], err);
	if (!sql_expr_unify(a, args, n, greatest ? "GREATEST" : "LEAST", err))
		return NULL;
	struct sql_expr *e =
	    sql_expr_call(a, greatest ? &sql_fn_greatest : &sql_fn_least, args, n, position, err);
	if (e == NULL)
		return NULL;
	e->type = args[0]->type;
	e->typmod = sql_expr_typmod(args, n);
	return sql_expr_fold(a, e);
}

static struct sql_expr *
null_if(struct nam_arena *a, struct sql_expr **args, int position, struct cat_err *err)
{
	struct sql_expr *three[3] = { sql_expr_op(a, "=", args[0], args[1], position, err) };
	struct cat_datum null = { .type = CAT_UNKNOWN, .null = true };
	if (three[0] == NULL)
		return NULL;
	three[1] = sql_expr_const(a, null, position);
	three[2] = args[0];
	if (three[1] == NULL) {
		sql_oom(err);
		return NULL;
	}
	return sql_expr_make(a, SQL_CASE, three, 3, false, position, err);
}

/* Those that find a sequence by its name faster than a regclass of that name is made. */
static bool
takes_sequence(const char *name)
{
	return strcmp(name, "nextval") == 0 || strcmp(name, "currval") == 0 || strcmp(name, "setval") == 0;
}

struct sql_expr *
sql_expr_func(struct nam_arena *a, const char *name, struct sql_expr **in, unsigned n, int position,
    struct cat_err *err)
{
	struct sql_expr *few[SQL_ARGS_INLINE], **args = few;
	enum cat_type type[SQL_FN_ARGS] = { CAT_UNKNOWN, CAT_UNKNOWN, CAT_UNKNOWN };
	if (n > SQL_ARGS_INLINE && (args = nam_arena_take(a, n * sizeof *args)) == NULL) {
		sql_oom(err);
		return NULL;
	}
	if (n > 0)
		memcpy(args, in, n * sizeof *args);
	if (n > 0 && (strcmp(name, "greatest") == 0 || strcmp(name, "least") == 0))
		return extreme(a, name[0] == 'g', args, n, position, err);
	if (n > 0 && strcmp(name, "coalesce") == 0)
		return sql_expr_make(a, SQL_COALESCE, args, n, false, position, err);
	if (n == 2 && strcmp(name, "nullif") == 0)
		return null_if(a, args, position, err);
	bool ambiguous, no_such;
	if (!sql_settle_func(a, name, args, n, position, err))
		return NULL;
	if (n > 0 && takes_sequence(name))
		args[0] = sql_reg_text(args[0]);
	for (unsigned k = 0; k < n && k < SQL_FN_ARGS; k++)
		type[k] = args[k]->type;
	if (sql_array_function(name)) {
		struct sql_expr *e = sql_array_call(a, name, args, n, position, &no_such, err);
		if (e != NULL || !no_such)
			return e;
	}
	const struct sql_fn *f = find(name, false, type, n, &ambiguous);
	if (f != NULL && f->flags & SQL_FN_ANY && type[0] == CAT_UNKNOWN && n == 1 &&
	    strcmp(name, "to_json") == 0) {
		cat_error(
		    err, "42804", "could not determine polymorphic type because input has type unknown");
		return NULL;
	}
	/* these tell that a literal is untyped */
	bool bare = f != NULL && n == 1 && args[0]->kind == SQL_CONST &&
		    (strcmp(name, "pg_typeof") == 0 || strcmp(name, "pg_column_size") == 0);
	for (unsigned k = 0; f != NULL && f->flags & SQL_FN_ANY && k < n; k++)
		if (args[k]->kind == SQL_PARAM && args[k]->type == CAT_UNKNOWN)
			args[k]->vague = true;
	if (f != NULL && f->flags & SQL_FN_ANY && !bare) {
		for (unsigned k = 0; k < n; k++)
			if ((args[k] = sql_expr_default_type(a, args[k], err)) == NULL)
				return NULL;
	}
	if (f != NULL)
		return call(a, f, args, n, position, err);
	enum cat_type to;
	const struct sql_fn *fn;
	/* date(x), int4(x), text(x): a cast in the clothes of a function */
	if (n == 1 && (to = cat_type_find(name)) != CAT_UNKNOWN &&
	    (type[0] == to || type[0] == CAT_UNKNOWN || sql_cast_find(type[0], to, SQL_CAST_EXPLICIT, &fn)))
		return sql_expr_cast(a, args[0], to, -1, position, err);
	enum cat_type *said = n > SQL_FN_ARGS ? nam_arena_take(a, n * sizeof *said) : type;
	if (said == NULL) {
		sql_oom(err);
		return NULL;
	}
	for (unsigned k = 0; k < n; k++)
		said[k] = in[k]->type;
	sql_no_function(err, name, said, n, ambiguous, position);
	return NULL;
}
