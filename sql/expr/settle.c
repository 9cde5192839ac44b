/*
 * settle.c -- the types of untyped arguments: PostgreSQL's choice among the functions and operators
 * that it has of a name.
 *
 * The rules are those of func_match_argtypes and func_select_candidate of PostgreSQL, over all its
 * signatures (compat/postgres_names.c): the ones that namdb does not have take part, because they
 * make a call ambiguous. The choice says only what the untyped arguments are. The overload is then
 * looked up among namdb's own (resolve.c).
 */
#include <sql/compat/postgres.h>
#include <sql/expr/functions.h>

#include <string.h>

enum { ARGS_MAX = 8, SIGNATURES_MAX = 96, WANTS_MAX = 2 * SIGNATURES_MAX };

/* A parameter of a signature. */
enum poly {
	PLAIN,
	ANY,
	ELEMENT,
	NONARRAY,
	ENUM,
	ARRAY,
	NO_VALUE,
	COMPATIBLE,
	COMPATIBLE_NONARRAY,
	COMPATIBLE_ARRAY
};
struct want {
	const char *word; /* len bytes */
	uint8_t len, poly;
	char category;
	bool preferred;
	int32_t type; /* enum cat_type; UNKNOWN: polymorphic, or namdb has no such type */
};
struct search {
	struct want of[WANTS_MAX];    /* n for each signature: the stack of a session stays small */
	uint8_t kept[SIGNATURES_MAX]; /* those still in question */
	unsigned count, n;
	enum cat_type type[ARGS_MAX];
	bool varchar[ARGS_MAX];
};

/* The parameters of signature i. */
static struct want *
signature(struct search *s, unsigned i)
{
	return &s->of[i * s->n];
}

static bool
is_word(const struct want *w, const char *word)
{
	return strlen(word) == w->len && memcmp(word, w->word, w->len) == 0;
}

static bool
one_of(const struct want *w, const char *const *words)
{
	for (; *words != NULL; words++)
		if (is_word(w, *words))
			return true;
	return false;
}

static enum poly
poly_of(const struct want *w)
{
	static const struct {
		const char *word;
		enum poly is;
	} polys[] = { { "any", ANY }, { "anyelement", ELEMENT }, { "anynonarray", NONARRAY },
		{ "anyenum", ENUM }, { "anyarray", ARRAY }, { "anycompatible", COMPATIBLE },
		{ "anycompatiblenonarray", COMPATIBLE_NONARRAY },
		{ "anycompatiblearray", COMPATIBLE_ARRAY } };
	for (unsigned k = 0; k < sizeof polys / sizeof *polys; k++)
		if (is_word(w, polys[k].word))
			return polys[k].is;
	return NO_VALUE; /* ranges */
}

/* Categories of the types that namdb does not have. */
static char
foreign_category(const struct want *w)
{
	static const char
	    *const dates[] = { "timetz", NULL },
		   *const numbers[] = { "money", "regprocedure", "regoper", "regoperator", "regcollation",
			   "regconfig", "regdictionary", NULL },
		   *const shapes[] = { "box", "circle", "line", "lseg", "path", "point", "polygon", NULL },
		   *const nets[] = { "inet", "cidr", NULL }, *const bits[] = { "bit", "varbit", NULL };
	if (w->word[0] == '_')
		return 'A';
	if (one_of(w, dates))
		return 'D';
	if (one_of(w, numbers))
		return 'N';
	if (one_of(w, shapes))
		return 'G';
	if (one_of(w, nets))
		return 'I';
	if (is_word(w, "record"))
		return 'P';
	return one_of(w, bits) ? 'V' : 'U';
}

static struct want
want_of(const char *word, size_t len)
{
	struct want w = { .word = word, .len = (uint8_t)len };
	char name[64];
	if (len > 3 && memcmp(word, "any", 3) == 0) {
		w.poly = (uint8_t)poly_of(&w);
		w.category = 'P';
		return w;
	}
	if (len == 3 && memcmp(word, "any", 3) == 0) {
		w.poly = ANY;
		w.category = 'P';
		return w;
	}
	if (len < sizeof name) {
		memcpy(name, word, len);
		name[len] = 0;
		w.type = cat_type_find(name);
	}
	w.category = w.type != CAT_UNKNOWN ? cat_type_category((enum cat_type)w.type) : foreign_category(&w);
	w.preferred = w.type != CAT_UNKNOWN ? cat_type_preferred((enum cat_type)w.type)
					    : is_word(&w, "inet") || is_word(&w, "varbit");
	return w;
}

/* True if a value of that type becomes the parameter's without being told to. */
static bool
becomes(enum cat_type given, const struct want *w)
{
	static const char *const regs[] = { "regprocedure", "regoper", "regoperator", "regcollation",
		"regconfig", "regdictionary", NULL };
	const struct sql_fn *fn;
	enum cat_type to = (enum cat_type)w->type;
	if (given == CAT_UNKNOWN)
		return true;
	if (to == CAT_UNKNOWN)
		return (given == CAT_TIME && is_word(w, "timetz")) ||
		       ((cat_type_is_int(given) || given == CAT_OID) && one_of(w, regs));
	if (given == CAT_BPCHAR && to == CAT_NAME)
		return true;
	return given == to || sql_cast_find(given, to, SQL_CAST_IMPLICIT, &fn);
}

/* The wider one of two types of one category; UNKNOWN: there is none. */
static enum cat_type
wider(enum cat_type t, enum cat_type u)
{
	const struct sql_fn *fn;
	if (t == CAT_UNKNOWN || u == CAT_UNKNOWN || t == u)
		return t == CAT_UNKNOWN ? u : t;
	if (cat_type_category(t) != cat_type_category(u))
		return CAT_UNKNOWN;
	bool up = sql_cast_find(t, u, SQL_CAST_IMPLICIT, &fn),
	     down = sql_cast_find(u, t, SQL_CAST_IMPLICIT, &fn);
	if (!up && !down)
		return CAT_UNKNOWN;
	return !cat_type_preferred(t) && up && !down ? u : t;
}

/* What polymorphic parameters of a signature stand for; UNKNOWN: no argument says it. */
struct meaning {
	enum cat_type element, compatible;
};

/* True if the types of the arguments agree with the polymorphic parameters. */
static bool
agree(const struct want *w, const enum cat_type *type, unsigned n, struct meaning *m)
{
	enum cat_type of_array = CAT_UNKNOWN;
	bool nonarray = false, label = false, plain = false;
	*m = (struct meaning){ CAT_UNKNOWN, CAT_UNKNOWN };
	for (unsigned k = 0; k < n; k++) {
		enum cat_type t = type[k];
		enum poly is = (enum poly)w[k].poly;
		if (is == NO_VALUE && t != CAT_UNKNOWN)
			return false;
		nonarray |= is == NONARRAY;
		plain |= is == COMPATIBLE_NONARRAY;
		label |= is == ENUM;
		if (t == CAT_UNKNOWN || is == PLAIN || is == ANY)
			continue;
		bool array = is == ARRAY || is == COMPATIBLE_ARRAY;
		if (array && !cat_type_is_array(t))
			return false;
		t = array ? cat_type_element(t) : t;
		if (is == COMPATIBLE || is == COMPATIBLE_NONARRAY || is == COMPATIBLE_ARRAY) {
			if ((m->compatible = wider(m->compatible, t)) == CAT_UNKNOWN)
				return false;
			continue;
		}
		enum cat_type *have = array ? &of_array : &m->element;
		if (*have != CAT_UNKNOWN && *have != t)
			return false;
		*have = t;
	}
	if (of_array != CAT_UNKNOWN && m->element != CAT_UNKNOWN && of_array != m->element)
		return false;
	m->element = m->element != CAT_UNKNOWN ? m->element : of_array;
	return !(nonarray && cat_type_is_array(m->element)) && !(label && !cat_type_is_enum(m->element)) &&
	       !(plain && cat_type_is_array(m->compatible));
}

static bool
takes(const struct want *w, const enum cat_type *type, unsigned n)
{
	struct meaning m;
	for (unsigned k = 0; k < n; k++)
		if (w[k].poly == PLAIN && !becomes(type[k], &w[k]))
			return false;
	return agree(w, type, n, &m);
}

/* One signature, "(int4,text?,any*)", as n parameters. False: it has another number. */
static bool
read_signature(const char *p, unsigned n, struct want *w)
{
	unsigned k = 0;
	for (p++; *p != ')';) {
		size_t len = strcspn(p, ",)?*");
		const char *end = p + strcspn(p, ",)");
		if (k == n && p[len] != '?')
			return false;
		struct want one = want_of(p, len);
		if (k < n)
			w[k++] = one;
		while (p[len] == '*' && k < n)
			w[k++] = one;
		p = end + (*end == ',');
	}
	return k == n;
}

static void
keep(struct search *s, unsigned (*score)(const struct want *, const struct search *))
{
	unsigned best = 0, m = 0;
	for (unsigned j = 0; j < s->count; j++) {
		unsigned v = score(signature(s, s->kept[j]), s);
		if (v > best) {
			best = v;
			m = 0;
		}
		if (v == best)
			s->kept[m++] = s->kept[j];
	}
	s->count = m;
}

static unsigned
exact(const struct want *w, const struct search *s)
{
	unsigned v = 0;
	for (unsigned k = 0; k < s->n; k++)
		v += s->type[k] != CAT_UNKNOWN && w[k].poly == PLAIN && w[k].type == (int32_t)s->type[k];
	return v;
}

static unsigned
exact_or_preferred(const struct want *w, const struct search *s)
{
	unsigned v = exact(w, s);
	for (unsigned k = 0; k < s->n; k++)
		v += s->type[k] != CAT_UNKNOWN && w[k].type != (int32_t)s->type[k] && w[k].preferred &&
		     w[k].category == cat_type_category(s->type[k]);
	return v;
}

/* The category of untyped argument k: strings if any candidate takes one, else what all agree on.
 * 0: they do not. */
static char
category_of(const struct search *s, unsigned k, bool *preferred)
{
	char category = 0;
	bool conflict = false;
	for (unsigned j = 0; j < s->count; j++) {
		const struct want *w = &s->of[s->kept[j] * s->n + k];
		if (category == 0 || (w->category != category && w->category == 'S')) {
			category = w->category;
			*preferred = w->preferred;
		} else if (w->category == category) {
			*preferred |= w->preferred;
		} else {
			conflict = true;
		}
	}
	return conflict && category != 'S' ? 0 : category;
}

static void
by_category(struct search *s)
{
	char category[ARGS_MAX] = { 0 };
	bool preferred[ARGS_MAX] = { false };
	uint8_t left[SIGNATURES_MAX];
	unsigned m = 0;
	for (unsigned k = 0; k < s->n; k++)
		if (s->type[k] == CAT_UNKNOWN && (category[k] = category_of(s, k, &preferred[k])) == 0)
			return;
	for (unsigned j = 0; j < s->count; j++) {
		const struct want *w = signature(s, s->kept[j]);
		bool fits = true;
		for (unsigned k = 0; k < s->n; k++)
			if (s->type[k] == CAT_UNKNOWN)
				fits &= w[k].category == category[k] && (!preferred[k] || w[k].preferred);
		if (fits)
			left[m++] = s->kept[j];
	}
	if (m > 0) {
		memcpy(s->kept, left, m);
		s->count = m;
	}
}

/* If all known arguments have one type, the untyped ones have it as well. */
static void
by_company(struct search *s)
{
	enum cat_type all[ARGS_MAX], t = CAT_UNKNOWN;
	unsigned found = 0, which = 0;
	for (unsigned k = 0; k < s->n; k++) {
		if (s->type[k] != CAT_UNKNOWN && t != CAT_UNKNOWN && s->type[k] != t)
			return;
		t = s->type[k] != CAT_UNKNOWN ? s->type[k] : t;
	}
	if (t == CAT_UNKNOWN)
		return;
	for (unsigned k = 0; k < s->n; k++)
		all[k] = t;
	for (unsigned j = 0; j < s->count && found < 2; j++)
		if (takes(signature(s, s->kept[j]), all, s->n)) {
			which = s->kept[j];
			found++;
		}
	if (found == 1) {
		s->kept[0] = (uint8_t)which;
		s->count = 1;
	}
}

/* The signature meant: one is left, or none, or several. */
static void
choose(struct search *s, const char *p)
{
	unsigned all = 0;
	for (; *p == '(' && all < SIGNATURES_MAX && (all + 1) * s->n <= WANTS_MAX; p = strchr(p, ')') + 1)
		if (read_signature(p, s->n, signature(s, all)) && takes(signature(s, all), s->type, s->n))
			s->kept[s->count++] = (uint8_t)all++;
	if (s->count > 1)
		keep(s, exact);
	if (s->count > 1)
		keep(s, exact_or_preferred);
	if (s->count > 1)
		by_category(s);
	if (s->count > 1)
		by_company(s);
}

/* A binary operator beside one untyped argument: first of all, that is of the other's type. */
static bool
beside(const char *p, enum cat_type type)
{
	for (; *p == '('; p = strchr(p, ')') + 1) {
		struct want w[2];
		if (read_signature(p, 2, w) && w[0].poly == PLAIN && w[1].poly == PLAIN &&
		    w[0].type == (int32_t)type && w[1].type == (int32_t)type)
			return true;
	}
	return false;
}

/* No type has arrays of arrays for elements. */
static bool
no_array_of(enum cat_type array, int position, struct cat_err *err)
{
	cat_error(err, "42704", "could not find array type for data type %s", cat_type_name(array));
	err->position = position;
	return false;
}

/* True if an array parameter's elements would be arrays. */
static bool
nests(const struct want *w, const struct meaning *m)
{
	return (w->poly == ARRAY && cat_type_is_array(m->element)) ||
	       (w->poly == COMPATIBLE_ARRAY && cat_type_is_array(m->compatible));
}

/* The type of an untyped argument for which that parameter was chosen; UNKNOWN: it keeps none. */
static enum cat_type
meant(const struct want *w, const struct meaning *m)
{
	enum cat_type compatible = m->compatible != CAT_UNKNOWN ? m->compatible : CAT_TEXT;
	switch (w->poly) {
	case PLAIN:
		return (enum cat_type)w->type;
	case ELEMENT:
	case NONARRAY:
	case ENUM:
		return m->element;
	case ARRAY:
		return m->element != CAT_UNKNOWN && !cat_type_is_array(m->element)
			   ? cat_type_array_of(m->element)
			   : CAT_UNKNOWN;
	case COMPATIBLE:
	case COMPATIBLE_NONARRAY:
		return compatible;
	case COMPATIBLE_ARRAY:
		return cat_type_is_array(compatible) ? CAT_UNKNOWN : cat_type_array_of(compatible);
	default:
		return CAT_UNKNOWN;
	}
}

static bool
none(struct search *s, const char *name, bool op, int position, struct cat_err *err)
{
	bool several = s->count > 1;
	return op ? sql_no_operator(err, name, s->type, s->n, several, position)
		  : sql_no_function(err, name, s->type, s->n, several, position);
}

static bool
lacks_type(const struct want *w, struct cat_err *err, int position)
{
	cat_error(err, "0A000", "type %.*s is not supported yet", (int)w->len, w->word);
	err->position = position;
	return false;
}

/* True if the first argument that says what the polymorphic parameters are is a varchar. */
static bool
first_is_varchar(const struct search *s, const struct want *w)
{
	for (unsigned k = 0; k < s->n; k++)
		if (w[k].poly != PLAIN && w[k].poly != ANY && s->type[k] != CAT_UNKNOWN)
			return s->varchar[k];
	return false;
}

/* to[k]: the type of untyped argument k by the signature chosen; UNKNOWN: it keeps none. */
static bool
decide(struct search *s, enum cat_type *to, bool *varchar, int position, struct cat_err *err)
{
	const struct want *w = signature(s, s->kept[0]);
	struct meaning m;
	agree(w, s->type, s->n, &m);
	for (unsigned k = 0; k < s->n; k++) {
		to[k] = s->type[k] == CAT_UNKNOWN ? meant(&w[k], &m) : s->type[k];
		varchar[k] = is_word(&w[k], "varchar") || (w[k].poly != PLAIN && first_is_varchar(s, w));
		if (to[k] != CAT_UNKNOWN || w[k].poly == ANY)
			continue;
		if (nests(&w[k], &m))
			return no_array_of(w[k].poly == ARRAY ? m.element : m.compatible, position, err);
		if (w[k].poly == PLAIN)
			return lacks_type(&w[k], err, position);
		cat_error(
		    err, "42804", "could not determine polymorphic type because input has type unknown");
		err->position = position;
		return false;
	}
	return true;
}

/* The untyped arguments in those types. */
static bool
give(struct nam_arena *a, struct sql_expr **args, unsigned n, const enum cat_type *to, const bool *varchar,
    struct cat_err *err)
{
	for (unsigned k = 0; k < n; k++) {
		if (args[k]->type != CAT_UNKNOWN || to[k] == CAT_UNKNOWN)
			continue;
		if ((args[k] = sql_expr_coerce(a, args[k], to[k], SQL_CAST_IMPLICIT, err)) == NULL)
			return false;
		if (args[k]->kind == SQL_PARAM && varchar[k] && cat_type_element(to[k]) == CAT_TEXT)
			args[k]->typmod = CAT_VARCHAR;
	}
	return true;
}

static bool
is_element(const struct want *w)
{
	return w->poly == ELEMENT || w->poly == NONARRAY || w->poly == COMPATIBLE ||
	       w->poly == COMPATIBLE_NONARRAY;
}

/* Untyped parameters beside values of one domain are of that domain, where any type will do. */
static void
give_domain(const struct search *s, struct sql_expr **args)
{
	const struct want *w = &s->of[s->kept[0] * s->n];
	uint32_t domain = 0;
	bool first = true, one = true;
	for (unsigned k = 0; k < s->n; k++) {
		if (w[k].poly == PLAIN || w[k].poly == ANY || s->type[k] == CAT_UNKNOWN)
			continue;
		one &= first || args[k]->domain == domain;
		domain = args[k]->domain;
		first = false;
	}
	for (unsigned k = 0; one && domain != 0 && k < s->n; k++)
		if (s->type[k] == CAT_UNKNOWN && args[k]->kind == SQL_PARAM && is_element(&w[k]))
			args[k]->domain = domain;
}

/* False: no argument is untyped, or there are too many of them. */
static bool
begin(struct search *s, const enum cat_type *type, unsigned n)
{
	bool open = false;
	s->count = 0;
	s->n = n;
	if (n > ARGS_MAX)
		return false;
	for (unsigned k = 0; k < n; k++)
		open |= type[k] == CAT_UNKNOWN;
	memset(s->varchar, 0, sizeof s->varchar);
	memcpy(s->type, type, n * sizeof *type);
	return open;
}

static bool
search_op(
    struct search *s, const char *op, enum cat_type *to, bool *varchar, int position, struct cat_err *err)
{
	const char *p = sql_postgres_find(sql_postgres_operators, op, '(');
	memcpy(to, s->type, s->n * sizeof *to);
	if (p == NULL)
		return true;
	if (s->n == 2 && (s->type[0] == CAT_UNKNOWN) != (s->type[1] == CAT_UNKNOWN)) {
		enum cat_type t = s->type[0] == CAT_UNKNOWN ? s->type[1] : s->type[0];
		if (beside(p, t)) {
			to[0] = to[1] = t;
			return true;
		}
	}
	choose(s, p);
	return s->count == 1 ? decide(s, to, varchar, position, err) : none(s, op, true, position, err);
}

bool
sql_settle_types(
    const char *op, const enum cat_type type[2], enum cat_type to[2], int position, struct cat_err *err)
{
	struct search s;
	bool varchar[ARGS_MAX];
	to[0] = type[0];
	to[1] = type[1];
	return !begin(&s, type, 2) || search_op(&s, op, to, varchar, position, err);
}

bool
sql_settle_op(struct nam_arena *a, const char *op, struct sql_expr **args, unsigned n, int position,
    struct cat_err *err)
{
	struct search s;
	enum cat_type type[2] = { args[0]->type, args[n - 1]->type }, to[ARGS_MAX];
	bool varchar[ARGS_MAX] = { false };
	return !begin(&s, type, n) ||
	       (search_op(&s, op, to, varchar, position, err) && give(a, args, n, to, varchar, err));
}

bool
sql_settle_func(struct nam_arena *a, const char *name, struct sql_expr **args, unsigned n, int position,
    struct cat_err *err)
{
	struct search s;
	enum cat_type type[ARGS_MAX], to[ARGS_MAX];
	bool varchar[ARGS_MAX] = { false };
	for (unsigned k = 0; k < n && k < ARGS_MAX; k++)
		type[k] = args[k]->type;
	if (!begin(&s, type, n))
		return true;
	if (n == 1 && (to[0] = cat_type_find(name)) != CAT_UNKNOWN &&
	    (args[0]->kind != SQL_PARAM || cat_type_category(to[0]) == 'S')) {
		/* date('...'): a cast in the clothes of a function */
		varchar[0] = strcmp(name, "varchar") == 0;
		return give(a, args, n, to, varchar, err);
	}
	/* Those with WITHIN GROUP have become functions of arrays. */
	bool within = strncmp(name, "percentile_", 11) == 0 || strcmp(name, "mode") == 0;
	for (unsigned k = 0; k < n; k++)
		s.varchar[k] = cat_type_is_varchar(args[k]->type, args[k]->typmod);
	const char *p = within ? NULL : sql_postgres_find(sql_postgres_functions, name, '(');
	if (p == NULL)
		return true;
	choose(&s, p);
	if (s.count != 1)
		return none(&s, name, false, position, err);
	give_domain(&s, args);
	return decide(&s, to, varchar, position, err) && give(a, args, n, to, varchar, err);
}
