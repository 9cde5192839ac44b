/* convert_expr.c -- libpg_query's expressions to sql's tree, with fewer kinds of nodes. */
#include <sql/compat/postgres.h>
#include <sql/parse/convert.h>
#include <types/interval.h>

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

void *
sql_convert_take(struct sql_convert *c, size_t n)
{
	void *p = nam_arena_zero(c->arena, n ? n : 1);
	if (p == NULL)
		cat_error(c->err, "53200", "out of memory while parsing");
	return p;
}

const char *
sql_convert_str(struct sql_convert *c, const char *s)
{
	char *p = s ? nam_arena_str(c->arena, s, strlen(s)) : NULL;
	if (s != NULL && p == NULL)
		cat_error(c->err, "53200", "out of memory while parsing");
	return p;
}

bool
sql_convert_no(struct sql_convert *c, const char *feature, int location)
{
	cat_error(c->err, "0A000", "%s not supported yet", feature);
	c->err->position = location >= 0 ? location + 1 : 0;
	return false;
}

static struct ast_expr *
no(struct sql_convert *c, const char *feature, int location)
{
	sql_convert_no(c, feature, location);
	return NULL;
}

const char *
sql_convert_word(const PgQuery__Node *n)
{
	if (n == NULL)
		return NULL;
	if (n->node_case == PG_QUERY__NODE__NODE_STRING)
		return n->string->sval;
	if (n->node_case == PG_QUERY__NODE__NODE_A_CONST &&
	    n->a_const->val_case == PG_QUERY__A__CONST__VAL_SVAL)
		return n->a_const->sval->sval;
	return NULL;
}

struct ast_expr *
sql_convert_node(struct sql_convert *c, enum ast_kind kind, int location, unsigned nargs)
{
	struct ast_expr *e = sql_convert_take(c, sizeof *e);
	if (e == NULL)
		return NULL;
	e->kind = kind;
	e->position = location >= 0 ? location + 1 : 0;
	e->typmod = -1;
	e->nargs = nargs;
	if (nargs > 0 && (e->args = sql_convert_take(c, nargs * sizeof *e->args)) == NULL)
		return NULL;
	return e;
}

static struct ast_expr *
node1(struct sql_convert *c, enum ast_kind kind, int location, struct ast_expr *a)
{
	struct ast_expr *e = sql_convert_node(c, kind, location, 1);
	if (e != NULL)
		e->args[0] = a;
	return e;
}

static struct ast_expr *
node2(struct sql_convert *c, enum ast_kind kind, int location, struct ast_expr *a, struct ast_expr *b)
{
	struct ast_expr *e = sql_convert_node(c, kind, location, 2);
	if (e != NULL) {
		e->args[0] = a;
		e->args[1] = b;
	}
	return e;
}

/* a, of that type if it has none; words: it must be of it, there. */
static struct ast_expr *
of_type(struct sql_convert *c, enum cat_type type, const char *words, struct ast_expr *a)
{
	struct ast_expr *e = node1(c, AST_AS, a->position - 1, a);
	if (e != NULL) {
		e->type = type;
		e->text = words;
	}
	return e;
}

static struct ast_expr *
op2(struct sql_convert *c, const char *op, int location, struct ast_expr *a, struct ast_expr *b)
{
	struct ast_expr *e = node2(c, AST_OP, location, a, b);
	if (e != NULL)
		e->text = op;
	return e;
}

static struct ast_expr *
boolean(struct sql_convert *c, int location, bool value)
{
	struct ast_expr *e = sql_convert_node(c, AST_BOOL, location, 0);
	if (e != NULL)
		e->i = value;
	return e;
}

bool
sql_convert_exprs(
    struct sql_convert *c, PgQuery__Node *const *list, size_t n, struct ast_expr ***out, unsigned *count)
{
	if ((*out = sql_convert_take(c, n * sizeof **out)) == NULL)
		return false;
	*count = (unsigned)n;
	for (size_t i = 0; i < n; i++)
		if (((*out)[i] = sql_convert_expr(c, list[i])) == NULL)
			return false;
	return true;
}

static struct ast_expr *
constant(struct sql_convert *c, const PgQuery__AConst *k)
{
	if (k->isnull)
		return sql_convert_node(c, AST_NULL, k->location, 0);
	struct ast_expr *e;
	switch (k->val_case) {
	case PG_QUERY__A__CONST__VAL_IVAL:
		if ((e = sql_convert_node(c, AST_INT, k->location, 0)) != NULL)
			e->i = k->ival->ival;
		return e;
	case PG_QUERY__A__CONST__VAL_FVAL:
		if ((e = sql_convert_node(c, AST_NUMBER, k->location, 0)) != NULL)
			e->text = sql_convert_str(c, k->fval->fval);
		return e && e->text ? e : NULL;
	case PG_QUERY__A__CONST__VAL_BOOLVAL:
		return boolean(c, k->location, k->boolval->boolval);
	case PG_QUERY__A__CONST__VAL_SVAL:
		if ((e = sql_convert_node(c, AST_STRING, k->location, 0)) == NULL ||
		    (e->text = sql_convert_str(c, k->sval->sval)) == NULL)
			return NULL;
		e->len = (uint32_t)strlen(e->text);
		return e;
	case PG_QUERY__A__CONST__VAL_BSVAL:
		return no(c, "bit strings are", k->location);
	default:
		return sql_convert_node(c, AST_NULL, k->location, 0);
	}
}

static struct ast_expr *
column(struct sql_convert *c, const PgQuery__ColumnRef *r)
{
	const char *part[4] = { 0 };
	bool star = false;
	if (r->n_fields == 0 || r->n_fields > 4)
		return no(c, "names of more than four parts are", r->location);
	for (size_t i = 0; i < r->n_fields; i++) {
		if (r->fields[i]->node_case == PG_QUERY__NODE__NODE_A_STAR)
			star = true;
		else if ((part[i] = sql_convert_word(r->fields[i])) == NULL)
			return no(c, "this kind of name is", r->location);
	}
	size_t n = r->n_fields, from = 0;
	if (n > 3)
		return no(c, "names of other databases are", r->location);
	from = n == 3;
	n -= from;
	struct ast_expr *e = sql_convert_node(c, star ? AST_STAR : AST_COLUMN, r->location, 0);
	if (e == NULL)
		return NULL;
	/* Relations of the system are not told apart by their schemas. */
	if (from == 1 && strcmp(part[0], "pg_catalog") != 0 && strcmp(part[0], "information_schema") != 0 &&
	    (e->schema = sql_convert_str(c, part[0])) == NULL)
		return NULL;
	if (n == 2 && (e->qual = sql_convert_str(c, part[from])) == NULL)
		return NULL;
	if (!star && (e->text = sql_convert_str(c, part[from + n - 1])) == NULL)
		return NULL;
	return e;
}

static int32_t
typmod_at(const PgQuery__TypeName *t, size_t i)
{
	const PgQuery__Node *n = t->typmods[i];
	if (n->node_case == PG_QUERY__NODE__NODE_A_CONST &&
	    n->a_const->val_case == PG_QUERY__A__CONST__VAL_IVAL)
		return n->a_const->ival->ival;
	return INT32_MIN;
}

bool
sql_convert_collation(struct sql_convert *c, const PgQuery__CollateClause *k)
{
	static const char *const bytes[] = { "C", "POSIX", "default", "ucs_basic" };
	const char *name = k->n_collname > 0 ? sql_convert_word(k->collname[k->n_collname - 1]) : NULL;
	for (unsigned i = 0; name != NULL && i < sizeof bytes / sizeof *bytes; i++)
		if (strcmp(name, bytes[i]) == 0)
			return true;
	char what[120];
	snprintf(what, sizeof what, "collation \"%.63s\" is", name ? name : "");
	/* those of a locale: de_DE, de_DE.utf8, de-x-icu */
	if (name == NULL || strchr(name, '_') != NULL || strstr(name, "-x-icu") != NULL)
		return sql_convert_no(c, what, k->location);
	cat_error(c->err, "42704", "collation \"%.63s\" for encoding \"UTF8\" does not exist", name);
	c->err->position = k->location + 1;
	return false;
}

static bool
element_type(struct sql_convert *c, const PgQuery__TypeName *t, enum cat_type *type, int32_t *typmod,
    struct ast_named *named)
{
	*typmod = -1;
	*named = (struct ast_named){ 0 };
	const char *name = t->n_names ? sql_convert_word(t->names[t->n_names - 1]) : NULL;
	if (name == NULL)
		return sql_convert_no(c, "this type is", t->location);
	char what[120];
	if (t->n_array_bounds > 1 || (t->n_array_bounds == 1 && name[0] == '_'))
		return sql_convert_no(c, "arrays of more than one dimension are", t->location);
	if (t->setof || t->pct_type)
		return sql_convert_no(c, "SETOF and %TYPE are", t->location);
	const char *schema = t->n_names == 2 ? sql_convert_word(t->names[0]) : NULL;
	bool in_public = schema != NULL && strcmp(schema, "public") == 0;
	bool nowhere = schema != NULL && !in_public && strcmp(schema, "pg_catalog") != 0;
	if (nowhere) {
		*type = CAT_NAMED;
		*named = (struct ast_named){ .name = sql_convert_str(c, name),
			.position = t->location >= 0 ? t->location + 1 : 0,
			.schema = sql_convert_str(c, schema) };
		return named->name != NULL && named->schema != NULL;
	}
	*type = in_public ? CAT_UNKNOWN : cat_type_find(name);
	if (*type == CAT_UNKNOWN) {
		if (!in_public && sql_postgres_has(sql_postgres_types, name)) {
			const char *say = strcmp(name, "char") == 0     ? "\"char\""
					  : strcmp(name, "timetz") == 0 ? "time with time zone"
									: name;
			snprintf(what, sizeof what, "type %s is", say);
			return sql_convert_no(c, what, t->location);
		}
		int at = t->location >= 0 ? t->location + 1 : 0;
		bool catalog = schema != NULL && !in_public;
		if (catalog || t->n_typmods > 0) {
			if (catalog)
				cat_error(
				    c->err, "42704", "type \"%.63s.%.63s\" does not exist", schema, name);
			else
				cat_error(c->err, "42704", "type \"%.63s\" does not exist", name);
			c->err->position = at;
			return false;
		}
		*type = CAT_NAMED;
		*named = (struct ast_named){ sql_convert_str(c, name), at, in_public ? "public" : NULL };
		return named->name != NULL;
	}
	if (t->n_typmods == 0) {
		if (strcmp(name, "varchar") == 0 || strcmp(name, "_varchar") == 0)
			*typmod = CAT_VARCHAR;
		return true;
	}
	int32_t a = typmod_at(t, 0), b = t->n_typmods > 1 ? typmod_at(t, 1) : 0;
	if ((strcmp(name, "varchar") == 0 || *type == CAT_BPCHAR) && t->n_typmods == 1) {
		const char *said = *type == CAT_BPCHAR ? "char" : name;
		if (a < 1)
			cat_error(c->err, "22023", "length for type %s must be at least 1", said);
		else if (a > 10485760)
			cat_error(c->err, "22023", "length for type %s cannot exceed 10485760", said);
		else {
			*typmod = a;
			return true;
		}
	} else if (*type == CAT_NUMERIC && t->n_typmods <= 2) {
		if (a < 1 || a > 1000)
			cat_error(c->err, "22023", "NUMERIC precision %d must be between 1 and 1000", a);
		else if (b < 0)
			return sql_convert_no(c, "negative scales of numeric are", t->location);
		else if (b > a)
			return sql_convert_no(c, "numeric scales beyond the precision are", t->location);
		else {
			*typmod = a << 16 | b;
			return true;
		}
	} else if (*type == CAT_TIMESTAMP || *type == CAT_TIMESTAMPTZ || *type == CAT_TIME) {
		return a == 6 || sql_convert_no(c, "timestamp precisions other than 6 are", t->location);
	} else if (*type == CAT_INTERVAL) {
		if (t->n_typmods > 1 && b != 6)
			return sql_convert_no(c, "interval precisions other than 6 are", t->location);
		*typmod = a == CAT_FIELD_ALL ? -1 : a;
		return true;
	} else {
		cat_error(c->err, "42601", "type modifier is not allowed for type \"%.63s\"", name);
	}
	c->err->position = t->location >= 0 ? t->location + 1 : 0;
	return false;
}

bool
sql_convert_type(struct sql_convert *c, const PgQuery__TypeName *t, enum cat_type *type, int32_t *typmod,
    struct ast_named *named)
{
	if (!element_type(c, t, type, typmod, named))
		return false;
	if (t->n_array_bounds > 0)
		*type = cat_type_array_of(*type);
	return true;
}

static struct ast_expr *
cast(struct sql_convert *c, const PgQuery__TypeCast *t)
{
	enum cat_type type;
	int32_t typmod;
	struct ast_named *named = sql_convert_take(c, sizeof *named);
	if (named == NULL || t->type_name == NULL ||
	    !sql_convert_type(c, t->type_name, &type, &typmod, named))
		return NULL;
	struct ast_expr *a = sql_convert_expr(c, t->arg);
	struct ast_expr *e =
	    a ? node1(c, AST_CAST, t->location >= 0 ? t->location : a->position - 1, a) : NULL;
	if (e != NULL) {
		e->type = type;
		e->typmod = typmod;
		e->named = named;
		/* the column's name, when it has no other */
		e->text =
		    sql_convert_str(c, sql_convert_word(t->type_name->names[t->type_name->n_names - 1]));
	}
	return e && e->text ? e : NULL;
}

struct ast_expr *
sql_convert_distinct(struct sql_convert *c, int at, struct ast_expr *a, struct ast_expr *b, bool distinct)
{
	/* CASE WHEN a IS NULL THEN b IS NOT NULL WHEN b IS NULL THEN true ELSE a <> b END */
	struct ast_expr *e = sql_convert_node(c, AST_CASE, at, 5);
	struct ast_expr *an = node1(c, AST_IS_NULL, at, a), *bn = node1(c, AST_IS_NULL, at, b);
	struct ast_expr *bnn = node1(c, AST_IS_NULL, at, b), *t = boolean(c, at, distinct);
	struct ast_expr *ne = op2(c, distinct ? "<>" : "=", at, a, b);
	if (!e || !an || !bn || !bnn || !t || !ne)
		return NULL;
	bnn->negate = distinct;
	e->text = "?column?";
	e->args[0] = an;
	e->args[1] = bnn;
	e->args[2] = bn;
	e->args[3] = t;
	e->args[4] = ne;
	return e;
}

/* a between lo and hi, or outside; symmetric: or between hi and lo. */
static struct ast_expr *
between(struct sql_convert *c, int at, struct ast_expr *a, const PgQuery__Node *range, bool inside,
    bool symmetric)
{
	if (range == NULL || range->node_case != PG_QUERY__NODE__NODE_LIST || range->list->n_items != 2)
		return no(c, "this kind of BETWEEN is", at);
	struct ast_expr *lo = sql_convert_expr(c, range->list->items[0]);
	struct ast_expr *hi = lo ? sql_convert_expr(c, range->list->items[1]) : NULL;
	if (hi == NULL)
		return NULL;
	struct ast_expr *way[2] = { NULL, NULL };
	for (unsigned k = 0; k < (symmetric ? 2 : 1); k++) {
		struct ast_expr *l = op2(c, inside ? ">=" : "<", at, a, k ? hi : lo);
		struct ast_expr *h = l ? op2(c, inside ? "<=" : ">", at, a, k ? lo : hi) : NULL;
		if (h == NULL || (way[k] = node2(c, inside ? AST_AND : AST_OR, at, l, h)) == NULL)
			return NULL;
	}
	return symmetric ? node2(c, inside ? AST_OR : AST_AND, at, way[0], way[1]) : way[0];
}

static struct ast_expr *
a_expr(struct sql_convert *c, const PgQuery__AExpr *x)
{
	const char *schema = x->n_name == 2 ? sql_convert_word(x->name[0]) : NULL;
	const char *op = x->n_name == 1 ? sql_convert_word(x->name[0]) : NULL;
	int at = x->location;
	if (schema != NULL && strcmp(schema, "pg_catalog") == 0) /* OPERATOR(pg_catalog.~) */
		op = sql_convert_word(x->name[1]);
	switch (x->kind) {
	case PG_QUERY__A__EXPR__KIND__AEXPR_OP_ANY:
	case PG_QUERY__A__EXPR__KIND__AEXPR_OP_ALL:
		return sql_convert_any(c, x, op, x->kind == PG_QUERY__A__EXPR__KIND__AEXPR_OP_ALL);
	default:
		break;
	}
	if (op == NULL)
		return no(c, "operators with a schema are", at);
	if (sql_convert_is_row(x))
		return sql_convert_row_expr(c, x, op);
	struct ast_expr *l = x->lexpr ? sql_convert_expr(c, x->lexpr) : NULL;
	if (x->lexpr != NULL && l == NULL)
		return NULL;
	if (x->kind == PG_QUERY__A__EXPR__KIND__AEXPR_IN) {
		if (x->rexpr == NULL || x->rexpr->node_case != PG_QUERY__NODE__NODE_LIST)
			return no(c, "this kind of IN is", at);
		const PgQuery__List *list = x->rexpr->list;
		struct ast_expr *e = sql_convert_node(c, AST_IN, at, (unsigned)list->n_items + 1);
		if (e == NULL)
			return NULL;
		e->negate = strcmp(op, "<>") == 0;
		e->args[0] = l;
		for (size_t i = 0; i < list->n_items; i++)
			if ((e->args[i + 1] = sql_convert_expr(c, list->items[i])) == NULL)
				return NULL;
		return e;
	}
	switch (x->kind) {
	case PG_QUERY__A__EXPR__KIND__AEXPR_BETWEEN:
		return between(c, at, l, x->rexpr, true, false);
	case PG_QUERY__A__EXPR__KIND__AEXPR_NOT_BETWEEN:
		return between(c, at, l, x->rexpr, false, false);
	case PG_QUERY__A__EXPR__KIND__AEXPR_BETWEEN_SYM:
		return between(c, at, l, x->rexpr, true, true);
	case PG_QUERY__A__EXPR__KIND__AEXPR_NOT_BETWEEN_SYM:
		return between(c, at, l, x->rexpr, false, true);
	default:
		break;
	}
	struct ast_expr *r = sql_convert_expr(c, x->rexpr);
	if (r == NULL)
		return NULL;
	switch (x->kind) {
	case PG_QUERY__A__EXPR__KIND__AEXPR_DISTINCT:
	case PG_QUERY__A__EXPR__KIND__AEXPR_NOT_DISTINCT: {
		bool differs = x->kind == PG_QUERY__A__EXPR__KIND__AEXPR_DISTINCT;
		if (l->kind != AST_NULL && r->kind != AST_NULL)
			return sql_convert_distinct(c, at, l, r, differs);
		struct ast_expr *e = node1(c, AST_IS_NULL, at, r->kind == AST_NULL ? l : r);
		if (e != NULL)
			e->negate = differs;
		return e;
	}
	case PG_QUERY__A__EXPR__KIND__AEXPR_NULLIF: {
		struct ast_expr *e = sql_convert_node(c, AST_CASE, at, 3);
		if (e == NULL || (e->args[0] = op2(c, "=", at, l, r)) == NULL ||
		    (e->args[1] = sql_convert_node(c, AST_NULL, at, 0)) == NULL)
			return NULL;
		e->args[2] = l;
		e->text = "nullif";
		return e;
	}
	case PG_QUERY__A__EXPR__KIND__AEXPR_OP:
	case PG_QUERY__A__EXPR__KIND__AEXPR_LIKE:
	case PG_QUERY__A__EXPR__KIND__AEXPR_ILIKE:
	case PG_QUERY__A__EXPR__KIND__AEXPR_SIMILAR: /* x ~ similar_to_escape(y) */
		break;
	default:
		return no(c, "this kind of expression is", at);
	}
	const char *name = strcmp(op, "!=") == 0 ? "<>" : sql_convert_str(c, op);
	if (name == NULL)
		return NULL;
	if (l == NULL) { /* -5 is a constant, so that -2147483648 is an integer */
		if (strcmp(name, "-") == 0 && r->kind == AST_INT) {
			r->i = -r->i;
			r->position = at + 1;
			return r;
		}
		if (strcmp(name, "-") == 0 && r->kind == AST_NUMBER && r->text[0] != '-') {
			char *t = sql_convert_take(c, strlen(r->text) + 2);
			if (t == NULL)
				return NULL;
			sprintf(t, "-%s", r->text);
			r->text = t;
			r->position = at + 1;
			return r;
		}
		struct ast_expr *e = node1(c, AST_OP, at, r);
		if (e != NULL)
			e->text = name;
		return e;
	}
	return op2(c, name, at, l, r);
}

/* x LIKE y ESCAPE z comes as x ~~ pg_catalog.like_escape(y, z): of constants, y with z's replaced
 * by backslashes. */
static struct ast_expr *
like_escape(struct sql_convert *c, struct ast_expr *e)
{
	const struct ast_expr *y = e->args[0], *z = e->args[1];
	if (y->kind != AST_STRING || z->kind != AST_STRING)
		return e;
	size_t zlen = z->len;
	unsigned chars = 0;
	for (size_t i = 0; i < zlen; i++)
		chars += ((unsigned char)z->text[i] & 0xc0) != 0x80;
	if (chars > 1) {
		cat_error(c->err, "22025", "invalid escape string");
		snprintf(c->err->hint, sizeof c->err->hint, "Escape string must be empty or one character.");
		c->err->position = z->position;
		return NULL;
	}
	struct ast_expr *out = sql_convert_node(c, AST_STRING, y->position - 1, 0);
	char *to = out ? sql_convert_take(c, (size_t)y->len * 2 + 1) : NULL;
	if (to == NULL)
		return NULL;
	out->text = to;
	bool after = false;
	for (size_t i = 0; i < y->len;) {
		if (zlen > 0 && !after && y->len - i >= zlen && memcmp(y->text + i, z->text, zlen) == 0) {
			*to++ = '\\';
			after = true;
			i += zlen;
			continue;
		}
		if (y->text[i] == '\\' && !after)
			*to++ = '\\';
		*to++ = y->text[i++];
		after = false;
	}
	out->len = (uint32_t)(to - out->text);
	return out;
}

/* ORDER BY and FILTER of an aggregate, behind its arguments. */
static bool
agg_more(struct sql_convert *c, const PgQuery__FuncCall *f, struct ast_expr *e)
{
	struct ast_agg *g = sql_convert_take(c, sizeof *g);
	unsigned orders = (unsigned)f->n_agg_order, n = e->nargs + orders + (f->agg_filter != NULL);
	struct ast_expr **args = sql_convert_take(c, n * sizeof *args);
	if (g == NULL || args == NULL || (g->order = sql_convert_take(c, orders * sizeof *g->order)) == NULL)
		return false;
	if (e->nargs)
		memcpy(args, e->args, e->nargs * sizeof *args);
	g->fargs = e->nargs;
	g->orders = orders;
	g->filter = f->agg_filter != NULL;
	if (!sql_convert_order(c, f->agg_order, orders, g->order))
		return false;
	for (unsigned k = 0; k < orders; k++)
		args[g->fargs + k] = g->order[k].e;
	if (g->filter && (args[n - 1] = sql_convert_expr(c, f->agg_filter)) == NULL)
		return false;
	e->agg = g;
	e->args = args;
	e->nargs = n;
	return true;
}

static struct ast_expr *
func(struct sql_convert *c, const PgQuery__FuncCall *f)
{
	int at = f->location;
	const char *name = f->n_funcname ? sql_convert_word(f->funcname[f->n_funcname - 1]) : NULL;
	if (name == NULL)
		return no(c, "this kind of function name is", at);
	if (f->agg_within_group)
		return sql_convert_within(c, name, f);
	if (!sql_convert_may_be_plain(c, name, f->n_args, at))
		return NULL;
	if (f->func_variadic)
		return no(c, "VARIADIC is", at);
	struct ast_expr *e = sql_convert_node(c, AST_FUNC, at, 0);
	if (e == NULL || (e->text = sql_convert_str(c, name)) == NULL)
		return NULL;
	const char *schema = f->n_funcname == 2 ? sql_convert_word(f->funcname[0]) : NULL;
	bool helper = schema != NULL && strcmp(schema, "information_schema") == 0 && name[0] == '_';
	if (schema != NULL && strcmp(schema, "pg_catalog") != 0 && !helper &&
	    ((e->schema = sql_convert_str(c, schema)) == NULL ||
		(e->text = nam_arena_printf(c->arena, "%.63s.%.63s", schema, name)) == NULL))
		return NULL;
	e->star = f->agg_star;
	e->distinct = f->agg_distinct;
	if (!sql_convert_args(c, f, e))
		return NULL;
	if (f->over == NULL && (f->agg_filter != NULL || f->n_agg_order > 0) && !agg_more(c, f, e))
		return NULL;
	if (f->over != NULL)
		return sql_convert_over(c, e, f);
	return schema != NULL && strcmp(name, "like_escape") == 0 && e->nargs == 2 ? like_escape(c, e) : e;
}

static struct ast_expr *
case_expr(struct sql_convert *c, const PgQuery__CaseExpr *x)
{
	int at = x->location;
	struct ast_expr *arg = x->arg ? sql_convert_expr(c, x->arg) : NULL;
	if (x->arg != NULL && arg == NULL)
		return NULL;
	/* the comparisons do not say what it is */
	bool bare =
	    arg != NULL && (arg->kind == AST_PARAM || arg->kind == AST_STRING || arg->kind == AST_NULL);
	if (bare && (arg = of_type(c, CAT_TEXT, NULL, arg)) == NULL)
		return NULL;
	struct ast_expr *e = sql_convert_node(c, AST_CASE, at, (unsigned)x->n_args * 2 + 1);
	if (e == NULL)
		return NULL;
	for (size_t i = 0; i < x->n_args; i++) {
		const PgQuery__CaseWhen *w = x->args[i]->case_when;
		struct ast_expr *when = sql_convert_expr(c, w->expr);
		if (when != NULL && arg != NULL)
			when = op2(c, "=", w->location, arg, when);
		e->args[2 * i] = when;
		if (when == NULL || (e->args[2 * i + 1] = sql_convert_expr(c, w->result)) == NULL)
			return NULL;
	}
	struct ast_expr *last =
	    x->defresult ? sql_convert_expr(c, x->defresult) : sql_convert_node(c, AST_NULL, at, 0);
	e->args[e->nargs - 1] = last;
	return last ? e : NULL;
}

static struct ast_expr *
bool_test(struct sql_convert *c, const PgQuery__BooleanTest *b)
{
	int at = b->location;
	static const char *const words[] = { [PG_QUERY__BOOL_TEST_TYPE__IS_TRUE] = "IS TRUE",
		[PG_QUERY__BOOL_TEST_TYPE__IS_NOT_TRUE] = "IS NOT TRUE",
		[PG_QUERY__BOOL_TEST_TYPE__IS_FALSE] = "IS FALSE",
		[PG_QUERY__BOOL_TEST_TYPE__IS_NOT_FALSE] = "IS NOT FALSE",
		[PG_QUERY__BOOL_TEST_TYPE__IS_UNKNOWN] = "IS UNKNOWN",
		[PG_QUERY__BOOL_TEST_TYPE__IS_NOT_UNKNOWN] = "IS NOT UNKNOWN" };
	struct ast_expr *a = sql_convert_expr(c, b->arg), *e;
	if (a == NULL || (a = of_type(c, CAT_BOOL, words[b->booltesttype], a)) == NULL)
		return NULL;
	bool value, negate;
	switch (b->booltesttype) {
	case PG_QUERY__BOOL_TEST_TYPE__IS_TRUE:
		value = false, negate = false;
		break;
	case PG_QUERY__BOOL_TEST_TYPE__IS_NOT_TRUE:
		value = false, negate = true;
		break;
	case PG_QUERY__BOOL_TEST_TYPE__IS_FALSE:
		value = true, negate = true;
		break;
	case PG_QUERY__BOOL_TEST_TYPE__IS_NOT_FALSE:
		value = true, negate = false;
		break;
	default:
		if ((e = node1(c, AST_IS_NULL, at, a)) != NULL)
			e->negate = b->booltesttype == PG_QUERY__BOOL_TEST_TYPE__IS_NOT_UNKNOWN;
		return e;
	}
	struct ast_expr *k = boolean(c, at, value);
	e = k ? node2(c, AST_COALESCE, at, a, k) : NULL;
	if (e != NULL)
		e->text = "?column?";
	return e && negate ? node1(c, AST_NOT, at, e) : e;
}

static struct ast_expr *
sql_value(struct sql_convert *c, const PgQuery__SQLValueFunction *f)
{
	struct ast_expr *now = sql_convert_node(c, AST_FUNC, f->location, 0);
	if (now == NULL)
		return NULL;
	now->text = "now";
	now->qual = "current_timestamp"; /* its column's name */
	if (f->op == PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_LOCALTIMESTAMP)
		now->text = now->qual = "localtimestamp";
	if (f->op == PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_TIMESTAMP ||
	    f->op == PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_LOCALTIMESTAMP)
		return now;
	bool date = f->op == PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_DATE;
	if (date || f->op == PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_LOCALTIME) {
		struct ast_expr *e = node1(c, AST_CAST, f->location, now);
		if (e != NULL)
			e->type = date ? CAT_DATE : CAT_TIME;
		now->qual = date ? "current_date" : "localtime";
		return e;
	}
	static const struct {
		PgQuery__SQLValueFunctionOp op;
		const char *name;
	} names[] = {
		{ PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_ROLE, "current_role" },
		{ PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_USER, "current_user" },
		{ PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_USER, "user" },
		{ PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_SESSION_USER, "session_user" },
		{ PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_CATALOG, "current_catalog" },
		{ PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_SCHEMA, "current_schema" },
	};
	for (size_t k = 0; k < sizeof names / sizeof *names; k++)
		if (f->op == names[k].op) {
			now->text = now->qual = names[k].name;
			return now;
		}
	return no(c, "CURRENT_TIME is", f->location);
}

static struct ast_expr *
bool_expr(struct sql_convert *c, const PgQuery__BoolExpr *b)
{
	enum ast_kind kind = b->boolop == PG_QUERY__BOOL_EXPR_TYPE__AND_EXPR  ? AST_AND
			     : b->boolop == PG_QUERY__BOOL_EXPR_TYPE__OR_EXPR ? AST_OR
									      : AST_NOT;
	struct ast_expr *e = sql_convert_node(c, kind, b->location, 0);
	if (e == NULL)
		return NULL;
	return sql_convert_exprs(c, b->args, b->n_args, &e->args, &e->nargs) ? e : NULL;
}

/* A subquery in an expression. x NOT IN (...) comes as NOT (x = ANY (...)). */
static struct ast_expr *
sub_link(struct sql_convert *c, const PgQuery__SubLink *s)
{
	struct ast_expr *e = sql_convert_node(c, AST_SUB, s->location, 0);
	if (e == NULL)
		return NULL;
	switch (s->sub_link_type) {
	case PG_QUERY__SUB_LINK_TYPE__EXISTS_SUBLINK:
		e->sub = AST_SUB_EXISTS;
		break;
	case PG_QUERY__SUB_LINK_TYPE__ANY_SUBLINK:
		e->sub = AST_SUB_ANY;
		break;
	case PG_QUERY__SUB_LINK_TYPE__ALL_SUBLINK:
		e->sub = AST_SUB_ALL;
		break;
	case PG_QUERY__SUB_LINK_TYPE__EXPR_SUBLINK:
		e->sub = AST_SUB_SCALAR;
		break;
	case PG_QUERY__SUB_LINK_TYPE__ARRAY_SUBLINK:
		e->sub = AST_SUB_ARRAY;
		break;
	default:
		return no(c, "this kind of subquery is", s->location);
	}
	if (s->testexpr != NULL) {
		const PgQuery__Node *t = s->testexpr;
		if (t->node_case == PG_QUERY__NODE__NODE_ROW_EXPR) {
			if (!sql_convert_exprs(
				c, t->row_expr->args, t->row_expr->n_args, &e->args, &e->nargs))
				return NULL;
		} else {
			struct ast_expr *x = sql_convert_expr(c, t);
			if (x == NULL || (e->args = sql_convert_take(c, sizeof *e->args)) == NULL)
				return NULL;
			e->args[0] = x;
			e->nargs = 1;
		}
		const char *op = "=";
		if (s->n_oper_name > 0 &&
		    (s->n_oper_name != 1 || (op = sql_convert_word(s->oper_name[0])) == NULL))
			return no(c, "operators with a schema are", s->location);
		e->text = strcmp(op, "!=") == 0 ? "<>" : sql_convert_str(c, op);
		if (e->text == NULL)
			return NULL;
	}
	if (s->subselect == NULL || s->subselect->node_case != PG_QUERY__NODE__NODE_SELECT_STMT)
		return no(c, "this kind of subquery is", s->location);
	return (e->select = sql_convert_select(c, s->subselect->select_stmt)) ? e : NULL;
}

static struct ast_expr *
convert(struct sql_convert *c, const PgQuery__Node *n)
{
	struct ast_expr *e, *a;
	switch (n->node_case) {
	case PG_QUERY__NODE__NODE_A_CONST:
		return constant(c, n->a_const);
	case PG_QUERY__NODE__NODE_COLUMN_REF:
		return column(c, n->column_ref);
	case PG_QUERY__NODE__NODE_PARAM_REF:
		if (n->param_ref->number < 1 || n->param_ref->number > 65535) {
			cat_error(c->err, "42P02", "there is no parameter $%d", n->param_ref->number);
			c->err->position = n->param_ref->location + 1;
			return NULL;
		}
		if ((e = sql_convert_node(c, AST_PARAM, n->param_ref->location, 0)) == NULL)
			return NULL;
		e->i = n->param_ref->number;
		if (c->params < (unsigned)e->i)
			c->params = (unsigned)e->i;
		return e;
	case PG_QUERY__NODE__NODE_A_EXPR:
		return a_expr(c, n->a_expr);
	case PG_QUERY__NODE__NODE_BOOL_EXPR:
		return bool_expr(c, n->bool_expr);
	case PG_QUERY__NODE__NODE_FUNC_CALL:
		return func(c, n->func_call);
	case PG_QUERY__NODE__NODE_TYPE_CAST:
		return cast(c, n->type_cast);
	case PG_QUERY__NODE__NODE_CASE_EXPR:
		return case_expr(c, n->case_expr);
	case PG_QUERY__NODE__NODE_COALESCE_EXPR:
		if ((e = sql_convert_node(c, AST_COALESCE, n->coalesce_expr->location, 0)) == NULL)
			return NULL;
		return sql_convert_exprs(
			   c, n->coalesce_expr->args, n->coalesce_expr->n_args, &e->args, &e->nargs)
			   ? e
			   : NULL;
	case PG_QUERY__NODE__NODE_NULL_TEST:
		if (n->null_test->arg->node_case == PG_QUERY__NODE__NODE_ROW_EXPR)
			return sql_convert_row_null(c, n->null_test->arg->row_expr,
			    n->null_test->nulltesttype == PG_QUERY__NULL_TEST_TYPE__IS_NOT_NULL);
		if ((a = sql_convert_expr(c, n->null_test->arg)) == NULL ||
		    (e = node1(c, AST_IS_NULL, n->null_test->location, a)) == NULL)
			return NULL;
		e->negate = n->null_test->nulltesttype == PG_QUERY__NULL_TEST_TYPE__IS_NOT_NULL;
		return e;
	case PG_QUERY__NODE__NODE_BOOLEAN_TEST:
		return bool_test(c, n->boolean_test);
	case PG_QUERY__NODE__NODE_SQLVALUE_FUNCTION:
		return sql_value(c, n->sqlvalue_function);
	case PG_QUERY__NODE__NODE_SET_TO_DEFAULT:
		return sql_convert_node(c, AST_DEFAULT, n->set_to_default->location, 0);
	case PG_QUERY__NODE__NODE_SUB_LINK:
		return sub_link(c, n->sub_link);
	case PG_QUERY__NODE__NODE_MIN_MAX_EXPR:
		if ((e = sql_convert_node(c, AST_FUNC, n->min_max_expr->location, 0)) == NULL)
			return NULL;
		e->text = n->min_max_expr->op == PG_QUERY__MIN_MAX_OP__IS_GREATEST ? "greatest" : "least";
		return sql_convert_exprs(
			   c, n->min_max_expr->args, n->min_max_expr->n_args, &e->args, &e->nargs)
			   ? e
			   : NULL;
	case PG_QUERY__NODE__NODE_ROW_EXPR:
		return no(c, "row values are", n->row_expr->location);
	case PG_QUERY__NODE__NODE_A_ARRAY_EXPR:
		return sql_convert_array(c, n->a_array_expr);
	case PG_QUERY__NODE__NODE_A_INDIRECTION:
		return sql_convert_indirection(c, n->a_indirection);
	case PG_QUERY__NODE__NODE_COLLATE_CLAUSE:
		if (!sql_convert_collation(c, n->collate_clause) ||
		    (e = sql_convert_node(c, AST_COLLATE, n->collate_clause->location, 1)) == NULL ||
		    (e->args[0] = sql_convert_expr(c, n->collate_clause->arg)) == NULL)
			return NULL;
		e->text = sql_convert_str(
		    c, sql_convert_word(n->collate_clause->collname[n->collate_clause->n_collname - 1]));
		return e->text ? e : NULL;
	case PG_QUERY__NODE__NODE_GROUPING_SET:
		return no(c, "grouping sets are", n->grouping_set->location);
	case PG_QUERY__NODE__NODE_GROUPING_FUNC:
		if ((e = sql_convert_node(c, AST_FUNC, n->grouping_func->location, 0)) == NULL)
			return NULL;
		e->text = "grouping";
		return sql_convert_exprs(
			   c, n->grouping_func->args, n->grouping_func->n_args, &e->args, &e->nargs)
			   ? e
			   : NULL;
	case PG_QUERY__NODE__NODE_CURRENT_OF_EXPR:
		return no(c, "WHERE CURRENT OF is", -1);
	case PG_QUERY__NODE__NODE_XML_EXPR:
		return no(c, "XML is", -1);
	case PG_QUERY__NODE__NODE_MULTI_ASSIGN_REF:
		return no(c, "SET (a, b) = ... is", -1);
	default:
		return no(c, "this kind of expression is", -1);
	}
}

struct ast_expr *
sql_convert_expr(struct sql_convert *c, const PgQuery__Node *n)
{
	if (n == NULL)
		return no(c, "an empty expression is", -1);
	if (++c->depth > SQL_DEPTH_MAX) {
		cat_error(c->err, "54001", "stack depth limit exceeded");
		snprintf(
		    c->err->hint, sizeof c->err->hint, "An expression may be nested %d deep.", SQL_DEPTH_MAX);
		return NULL;
	}
	if (c->deepest < c->depth)
		c->deepest = c->depth;
	struct ast_expr *e = convert(c, n);
	c->depth--;
	return e;
}
