/* rule.c -- DEFAULT and CHECK in PostgreSQL's words: the catalog keeps what the user wrote;
 * PostgreSQL shows constants with the types that they have become. Simple expressions are said so;
 * a text with any other is shown as it is kept. */
#include <sql/session/session_internal.h>
#include <sql/system/system.h>

#include <stdio.h>
#include <strings.h>

struct rule {
	const struct sql_system *s;
	const struct cat_table *t;
	char *to;
	size_t room, at;
	bool full; /* not pretty: parentheses around every operator */
	bool gave_up;
};

static void
add(struct rule *w, const char *text)
{
	size_t n = strlen(text);
	if (n >= w->room - w->at) {
		w->gave_up = true;
		return;
	}
	memcpy(w->to + w->at, text, n + 1);
	w->at += n;
}

static const struct cat_column *
column_of(const struct rule *w, const struct ast_expr *e)
{
	for (unsigned c = 0; e->kind == AST_COLUMN && c < w->t->columns; c++)
		if (strcmp(w->t->column[c].name, e->text) == 0)
			return &w->t->column[c];
	return NULL;
}

/* The type of e where it is compared, as far as this file says it. UNKNOWN = a constant, or more
 * than it says. */
static enum cat_type
type_of(const struct rule *w, const struct ast_expr *e)
{
	const struct cat_column *c = column_of(w, e);
	if (c != NULL)
		return c->type;
	if (e->kind == AST_OP && e->nargs == 2 && strchr("+-*/%", e->text[0]) != NULL && e->text[1] == 0) {
		enum cat_type l = type_of(w, e->args[0]), r = type_of(w, e->args[1]);
		return l == r || r == CAT_UNKNOWN ? l : l == CAT_UNKNOWN ? r : CAT_UNKNOWN;
	}
	if (e->kind == AST_FUNC && e->nargs == 1 &&
	    (strcmp(e->text, "length") == 0 || strcmp(e->text, "char_length") == 0))
		return CAT_INT4;
	if (e->kind == AST_FUNC && e->nargs == 1 &&
	    (strcmp(e->text, "lower") == 0 || strcmp(e->text, "upper") == 0))
		return CAT_TEXT;
	return CAT_UNKNOWN;
}

static void
literal(struct rule *w, const char *text)
{
	add(w, "'");
	for (const char *p = text; *p; p++) {
		char two[3] = { *p, *p == '\'' ? '\'' : 0, 0 };
		add(w, two);
	}
	add(w, "'");
}

/* What a constant's type is called beside a value. */
static void
as_type(struct rule *w, enum cat_type t, int32_t typmod)
{
	add(w, "::");
	add(w, t == CAT_BPCHAR ? "bpchar" : cat_type_said(t, typmod));
}

/* A constant that has become one of type t; UNKNOWN: as it is. to: a column's value. */
static void
constant(struct rule *w, const struct ast_expr *e, enum cat_type t, int32_t typmod, bool to)
{
	char digits[24];
	if (e->kind == AST_BOOL) {
		add(w, e->i ? "true" : "false");
		return;
	}
	if (e->kind == AST_NULL) {
		add(w, "NULL");
		if (t != CAT_UNKNOWN)
			as_type(w, t, typmod);
		return;
	}
	if (e->kind == AST_STRING) {
		w->gave_up |= t == CAT_UNKNOWN || strlen(e->text) != e->len;
		literal(w, e->text);
		as_type(w, t, typmod);
		return;
	}
	snprintf(digits, sizeof digits, "%lld", (long long)e->i);
	/* where its value alone is stored, or the other side has its type, it keeps its form */
	bool widens = t == CAT_FLOAT8 || t == CAT_FLOAT4 || (t == CAT_NUMERIC && e->kind == AST_INT);
	add(w, widens && !to && w->full ? "(" : "");
	add(w, e->kind == AST_INT ? digits : e->text);
	add(w, widens && !to && w->full ? ")" : "");
	if (widens && !to)
		as_type(w, t == CAT_FLOAT4 ? CAT_FLOAT8 : t, -1);
}

static bool
is_constant(const struct ast_expr *e)
{
	return e->kind == AST_INT || e->kind == AST_NUMBER || e->kind == AST_STRING || e->kind == AST_BOOL ||
	       e->kind == AST_NULL;
}

static void say(struct rule *w, const struct ast_expr *e, bool inside);

/* A varchar where a text is wanted. */
static void
as_text(struct rule *w, const struct ast_expr *e)
{
	const struct cat_column *c = column_of(w, e);
	bool deep = c != NULL && c->domain != 0; /* it is made a value of the base type */
	bool casts = deep || (c != NULL && cat_type_is_varchar(c->type, c->typmod));
	add(w, casts && w->full ? "(" : "");
	say(w, e, false);
	add(w, casts && w->full ? ")" : "");
	if (casts && deep && !cat_type_is_varchar(c->type, c->typmod))
		as_type(w, c->type, -1);
	else
		add(w, casts ? "::text" : "");
}

/* 0: no sign of arithmetic. */
static int
priority(const struct ast_expr *e)
{
	if (e->kind != AST_OP || e->nargs != 2 || e->text[1] != 0)
		return 0;
	return strchr("*/%", e->text[0]) ? 2 : strchr("+-", e->text[0]) ? 1 : 0;
}

/* Side k of operator e, whose sides have the type t. */
static void
side(struct rule *w, const struct ast_expr *of, unsigned k, enum cat_type t)
{
	const struct ast_expr *e = of->args[k];
	int mine = priority(e), its = priority(of);
	bool bare = its > 0 && (mine > its || (mine == its && k == 0));
	if (is_constant(e))
		constant(w, e, t, -1, false);
	else if (e->kind == AST_COLUMN)
		as_text(w, e);
	else
		say(w, e, !bare);
}

static void
operator(struct rule *w, const struct ast_expr *e)
{
	enum cat_type l = type_of(w, e->args[0]), r = type_of(w, e->args[1]), t = l != CAT_UNKNOWN ? l : r;
	w->gave_up |= t == CAT_UNKNOWN || (l != r && l != CAT_UNKNOWN && r != CAT_UNKNOWN);
	side(w, e, 0, t);
	add(w, " ");
	add(w, e->text);
	add(w, " ");
	side(w, e, 1, t);
}

/* x = ANY (ARRAY[...]) */
static void
in_list(struct rule *w, const struct ast_expr *e)
{
	const struct cat_column *c = column_of(w, e->args[0]);
	bool varchar = c != NULL && cat_type_is_varchar(c->type, c->typmod);
	w->gave_up |= c == NULL || e->nargs < 3;
	if (w->gave_up)
		return;
	as_text(w, e->args[0]);
	add(w, e->negate ? " <> ALL (" : " = ANY (");
	add(w, varchar && w->full ? "(ARRAY[" : "ARRAY[");
	for (unsigned k = 1; k < e->nargs; k++) {
		w->gave_up |= !is_constant(e->args[k]);
		add(w, k > 1 ? ", " : "");
		constant(w, e->args[k], c->type, varchar ? CAT_VARCHAR : -1, false);
	}
	add(w, !varchar ? "])" : w->full ? "])::text[])" : "]::text[])");
}

static void
joined(struct rule *w, const struct ast_expr *e, const char *word, bool inside)
{
	bool around = inside || w->full;
	add(w, around ? "(" : "");
	for (unsigned k = 0; k < e->nargs; k++) {
		add(w, k ? word : "");
		say(w, e->args[k],
		    (e->args[k]->kind == AST_OR && e->kind == AST_AND) || e->args[k]->kind == AST_IN);
	}
	add(w, around ? ")" : "");
}

/* A sequence's name as an identifier, with its schema where search_path does not lead to it. */
static void
sequence(struct rule *w, const struct ast_expr *x)
{
	char schema[CAT_NAME_MAX + 1], name[CAT_NAME_MAX + 1], path[CAT_PATH_MAX + 1];
	const char *said = NULL;
	if (sql_path_parse((struct cat_str){ x->text, x->len }, schema, name)) {
		cat_path(schema[0] ? schema : CAT_PUBLIC_SCHEMA, name, path);
		said = schema[0] ? sql_system_path_said(w->s, path) : sql_system_ident(w->s, name);
	}
	literal(w, said ? said : x->text);
	add(w, "::regclass");
}

static void
function(struct rule *w, const struct ast_expr *e)
{
	bool draws = strcmp(e->text, "nextval") == 0;
	w->gave_up |= e->agg != NULL || e->star || e->distinct;
	add(w, e->text);
	add(w, "(");
	for (unsigned k = 0; k < e->nargs; k++) {
		const struct ast_expr *x = e->args[k];
		add(w, k ? ", " : "");
		w->gave_up |= x->kind == AST_STRING && !draws;
		if (draws && x->kind == AST_STRING)
			sequence(w, x);
		else if (is_constant(x))
			constant(w, x, CAT_UNKNOWN, -1, false);
		else
			as_text(w, x);
	}
	add(w, ")");
}

/* inside: beside an operator, where an operator has parentheses. */
static void
say(struct rule *w, const struct ast_expr *e, bool inside)
{
	switch (e->kind) {
	case AST_COLUMN: {
		if (w->t->kind == CAT_DOMAIN) {
			add(w, "VALUE");
			break;
		}
		const char *name = sql_system_ident(w->s, e->text);
		w->gave_up |= name == NULL;
		add(w, name ? name : "");
		break;
	}
	case AST_AND:
		joined(w, e, " AND ", inside);
		break;
	case AST_OR:
		joined(w, e, " OR ", inside);
		break;
	case AST_NOT:
		add(w, w->full ? "(NOT " : "NOT ");
		say(w, e->args[0],
		    e->args[0]->kind == AST_AND || e->args[0]->kind == AST_OR || e->args[0]->kind == AST_IN);
		add(w, w->full ? ")" : "");
		break;
	case AST_IS_NULL:
		add(w, w->full ? "(" : "");
		say(w, e->args[0], true);
		add(w, e->negate ? " IS NOT NULL" : " IS NULL");
		add(w, w->full ? ")" : "");
		break;
	case AST_IN:
		add(w, inside || w->full ? "(" : "");
		in_list(w, e);
		add(w, inside || w->full ? ")" : "");
		break;
	case AST_OP:
		w->gave_up |= e->nargs != 2;
		if (w->gave_up)
			break;
		add(w, inside || w->full ? "(" : "");
		operator(w, e);
		add(w, inside || w->full ? ")" : "");
		break;
	case AST_FUNC:
		function(w, e);
		break;
	default:
		w->gave_up |= !is_constant(e);
		if (!w->gave_up)
			constant(w, e, CAT_UNKNOWN, -1, false);
	}
}

/* Words of SQL that are no functions; the tree has functions in their place. */
static const char *
sql_word(const char *text)
{
	static const char *const words[] = { "CURRENT_TIMESTAMP", "CURRENT_DATE", "CURRENT_USER",
		"SESSION_USER", "CURRENT_ROLE", "LOCALTIMESTAMP", "LOCALTIME", "CURRENT_CATALOG",
		"CURRENT_SCHEMA" };
	for (unsigned k = 0; k < sizeof words / sizeof *words; k++)
		if (strcasecmp(text, words[k]) == 0)
			return words[k];
	return NULL;
}

const char *
sql_rule_said(struct sql_session *s, const struct sql_system *sys, const struct cat_table *t,
    const char *text, bool pretty)
{
	const char *word = sql_word(text);
	struct sql_parsed *p;
	struct cat_err why;
	if (word != NULL)
		return word;
	size_t n = strlen(text);
	struct rule w = { .s = sys, .t = t, .room = 8 * n + 200, .full = !pretty };
	char *whole = nam_arena_printf(sys->a, "SELECT %s", text);
	w.to = nam_arena_zero(sys->a, w.room);
	if (whole == NULL || w.to == NULL)
		return text;
	if (!sql_parse(s->cfg.parser, whole, n + 7, &p, &why))
		return text;
	const struct ast_select *q = p->stmts == 1 ? p->stmt[0]->select : NULL;
	const struct ast_expr *e = q && q->targets == 1 ? q->target[0].e : NULL;
	const struct cat_column *of = NULL;
	for (unsigned c = 0; c < t->columns; c++)
		if (t->column[c].dflt == text || (t->column[c].dflt && strcmp(t->column[c].dflt, text) == 0))
			of = &t->column[c];
	if (e == NULL)
		w.gave_up = true;
	else if (of != NULL && is_constant(e))
		constant(&w, e, of->type, of->typmod, true);
	else
		say(&w, e, false);
	sql_parsed_drop(p);
	return w.gave_up ? text : w.to;
}
