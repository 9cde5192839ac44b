/* functions.c -- pg_proc, and a function's signature in the words of psql's \df. */
#include <base/assert.h>
#include <sql/expr/functions.h>
#include <sql/system/rows.h>

#include <pthread.h>
#include <stdio.h>

#define PROC                                                                                                 \
	"oid oid, proname name, pronamespace oid, proowner oid, prolang oid, procost float4, "               \
	"prorows float4, provariadic oid, prosupport regproc, prokind char, prosecdef bool, "                \
	"proleakproof bool, proisstrict bool, proretset bool, provolatile char, proparallel char, "          \
	"pronargs int2, pronargdefaults int2, prorettype oid, proargtypes oidvector, proallargtypes "        \
	"_oid, proargmodes _char, proargnames _text, proargdefaults text, protrftypes _oid, prosrc "         \
	"text, probin text, prosqlbody text, proconfig _text, proacl _text"

/* ---- one after the other -------------------------------------------------------------- */

/* Which function, aggregate or signature: one of fn, agg, more. */
struct one {
	const struct sql_fn *fn;
	const char *agg;
	enum sql_agg_kind kind;
	enum cat_type arg; /* of an aggregate; UNKNOWN = fixed words */
	unsigned form;     /* of an aggregate with fixed words */
	const struct sql_signature *more;
};

static bool
has_signature(const char *name)
{
	for (const struct sql_signature *s = sql_signatures; s->name != NULL; s++)
		if (strcmp(s->name, name) == 0)
			return true;
	return false;
}

/* How many forms an aggregate has whose words are fixed; 0: one for each type. */
static unsigned
fixed_forms(enum sql_agg_kind k)
{
	return k == SQL_COUNT || k == SQL_STRING_AGG ? 2
	       : k == SQL_JSON_AGG || k == SQL_JSON_OBJECT_AGG || k == SQL_ARRAY_AGG || sql_agg_is_pair(k)
		   ? 1
		   : 0;
}

static bool
takes(enum sql_agg_kind kind, unsigned t)
{
	enum cat_type out;
	struct cat_err none;
	return t != CAT_UNKNOWN && cat_type_is_known(t) && !cat_type_is_array((enum cat_type)t) &&
	       t != CAT_INT2V && t != CAT_OIDV && sql_agg_type(kind, (enum cat_type)t, &out, 0, &none);
}

/* All of them, found once in the life of a process. */
enum { MOST = 3000 };
static struct {
	struct one one[MOST];
	unsigned n;
} all;

static void
keep(struct one o)
{
	NAM_ASSERT(all.n < MOST);
	all.one[all.n++] = o;
}

static void
keep_aggregate(struct one o)
{
	unsigned forms = fixed_forms(o.kind);
	for (o.form = 0; o.form < forms; o.form++)
		keep(o);
	o.form = 0;
	for (unsigned t = 0; forms == 0 && t < CAT_ENUM; t++)
		if (takes(o.kind, t)) {
			o.arg = (enum cat_type)t;
			keep(o);
		}
}

static void
find_all(void)
{
	const struct sql_fn *f;
	const char *name;
	for (unsigned t = 0; (f = sql_fn_table(t)) != NULL; t++)
		for (; f->name != NULL; f++)
			if (!(f->flags & SQL_FN_OP) && !has_signature(f->name) &&
			    strchr(f->name, '.') == NULL) /* a part of another one */
				keep((struct one){ .fn = f });
	for (unsigned i = 0; (name = sql_agg_name(i)) != NULL; i++) {
		struct one o = { .agg = name };
		if (sql_agg_find(name, &o.kind))
			keep_aggregate(o);
	}
	for (const struct sql_signature *s = sql_signatures; s->name != NULL; s++)
		keep((struct one){ .more = s });
}

static bool
nth(unsigned k, struct one *out)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, find_all);
	if (k >= all.n)
		return false;
	*out = all.one[k];
	return true;
}

/* ---- words ---------------------------------------------------------------------------- */

static const char *
type_name(enum cat_type t)
{
	return t == CAT_UNKNOWN ? "\"any\"" : cat_type_name(t);
}

static const char *
arguments_of(const struct sql_fn *f, struct nam_arena *a)
{
	char text[300] = "";
	size_t at = 0;
	for (unsigned k = 0; k < f->nargs && at < sizeof text; k++)
		at += (size_t)snprintf(text + at, sizeof text - at, "%s%s", k ? ", " : "",
		    f->flags & SQL_FN_ANY ? k == 0 && f->flags & SQL_FN_TEXT1 ? "text" : "\"any\""
					  : type_name(f->arg[k]));
	if (f->flags & SQL_FN_ANY && !(f->flags & SQL_FN_EXACT) && at < sizeof text)
		snprintf(text + at, sizeof text - at, "%sVARIADIC \"any\"", f->nargs ? ", " : "");
	return nam_arena_str(a, text, strlen(text));
}

static void
aggregate_words(const struct one *o, struct sql_signed *out)
{
	enum cat_type type;
	struct cat_err none;
	if (o->arg != CAT_UNKNOWN) {
		sql_agg_type(o->kind, o->arg, &type, 0, &none);
		out->result = cat_type_name(type);
		out->arguments = cat_type_name(o->arg);
		return;
	}
	bool second = o->form > 0;
	switch (o->kind) {
	case SQL_COUNT:
		out->result = "bigint";
		out->arguments = second ? "\"any\"" : "";
		break;
	case SQL_STRING_AGG:
		out->result = second ? "bytea" : "text";
		out->arguments = second ? "bytea, bytea" : "text, text";
		break;
	case SQL_ARRAY_AGG:
		out->result = "anyarray";
		out->arguments = "anynonarray";
		break;
	case SQL_REGR_COUNT:
		out->result = "bigint";
		out->arguments = "double precision, double precision";
		break;
	case SQL_JSON_AGG:
	case SQL_JSON_OBJECT_AGG:
		out->result = "json";
		out->arguments = o->kind == SQL_JSON_AGG ? "anyelement" : "\"any\", \"any\"";
		break;
	default:
		out->result = "double precision";
		out->arguments = "double precision, double precision";
	}
}

static const char *
name_of(const struct one *o)
{
	return o->fn ? o->fn->name : o->agg ? o->agg : o->more->name;
}

bool
sql_system_signature(unsigned k, struct sql_signed *out, struct nam_arena *a)
{
	struct one o;
	if (!nth(k, &o))
		return false;
	*out = (struct sql_signed){ .name = name_of(&o),
		.type = o.fn    ? "func"
			: o.agg ? "agg"
				: o.more->type };
	if (a == NULL)
		return true;
	if (o.fn != NULL) {
		out->result = type_name(o.fn->ret);
		out->arguments = arguments_of(o.fn, a);
		return out->arguments != NULL;
	}
	if (o.agg != NULL) {
		aggregate_words(&o, out);
		return true;
	}
	out->result = o.more->result;
	out->arguments = o.more->arguments;
	return true;
}

const char *
sql_system_function(struct nam_arena *a, uint32_t oid, enum sql_function_part part)
{
	struct sql_signed s;
	if (oid < SQL_OID_FUNCTION || oid >= SQL_OID_FIRST ||
	    !sql_system_signature(oid - SQL_OID_FUNCTION, &s, a))
		return NULL;
	return part == SQL_FUNCTION_NAME ? s.name : part == SQL_FUNCTION_RESULT ? s.result : s.arguments;
}

uint32_t
sql_system_function_oid(const char *name)
{
	struct one o;
	for (unsigned k = 0; nth(k, &o); k++)
		if (strcmp(name_of(&o), name) == 0)
			return SQL_OID_FUNCTION + k;
	return 0;
}

/* ---- pg_proc -------------------------------------------------------------------------- */

enum { INTERNAL_LANGUAGE = 12 };

/* The types in a list of words: "integer, text". Returns how many, ANY beyond what is known. */
static unsigned
types_in(struct nam_arena *a, const char *list, int64_t oid[SQL_FN_ARGS])
{
	unsigned n = 0;
	for (const char *p = list; *p != 0 && n < SQL_FN_ARGS;) {
		size_t len = strcspn(p, ",");
		struct cat_str word = { p, (uint32_t)len };
		if (len > 9 && strncmp(p, "VARIADIC ", 9) == 0)
			word = (struct cat_str){ p + 9, (uint32_t)len - 9 };
		if (word.len > 2 && word.p[0] == '"' && memcmp(word.p, "\"char\"", 6) != 0)
			word = (struct cat_str){ word.p + 1, word.len - 2 };
		oid[n++] = sql_system_type_oid(a, word);
		p += len;
		p += strspn(p, ", ");
	}
	return n;
}

static void
proc(struct sql_rows *r, unsigned k, const struct one *o, const struct sql_signed *s)
{
	int64_t arg[SQL_FN_ARGS], result[SQL_FN_ARGS] = { 0 };
	bool set = strncmp(s->result, "SETOF ", 6) == 0;
	unsigned n = types_in(r->in->a, s->arguments, arg);
	types_in(r->in->a, s->result + (set ? 6 : 0), result);
	bool volatile_ = o->fn && o->fn->flags & SQL_FN_EACH,
	     stable = o->fn && o->fn->flags & SQL_FN_VOLATILE;
	row_int(r, SQL_OID_FUNCTION + k);
	row_text(r, s->name);
	row_int(r, SQL_OID_CATALOG);
	row_int(r, SQL_OID_OWNER);
	row_int(r, INTERNAL_LANGUAGE);
	row_real(r, 1);
	row_real(r, set ? 1000 : 0);
	row_int(r, 0);
	row_no_regs(r, 1);
	row_char(r, s->type[0]); /* func, agg, window */
	row_ints(r, 2, false);
	row_int(r, o->fn && !(o->fn->flags & SQL_FN_NULLS));
	row_int(r, set);
	row_char(r, volatile_ ? 'v' : stable ? 's' : 'i');
	row_char(r, 's');
	row_int(r, n);
	row_int(r, 0);
	row_int(r, result[0]);
	sql_row_array(r, CAT_OIDV, 0, arg, n);
	row_null(r, 5);
	row_text(r, s->name);
	row_null(r, 4);
}

static bool
proc_rows(struct sql_rows *r)
{
	struct one o;
	struct sql_signed s;
	for (unsigned k = 0; nth(k, &o); k++) {
		if (!sql_system_signature(k, &s, r->in->a))
			return cat_error(r->in->err, "53200", "out of memory");
		proc(r, k, &o, &s);
	}
	return true;
}

const struct sql_relation sql_relations_function[] = {
	{ "pg_proc", 1255, PROC, proc_rows, NULL, SQL_IN_CATALOG, false },
	{ NULL, 0, NULL, NULL, NULL, SQL_IN_CATALOG, false },
};
