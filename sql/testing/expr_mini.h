/*
 * expr_mini.h -- for tests: a small reader of expressions, so that a table of cases reads like SQL.
 *
 * Knows literals, calls, operators, ::, CASE, IN, IS NULL, AND/OR/NOT with PostgreSQL's precedence.
 * mode 0 leaves constants to folding, 1 turns them into columns, 2 into parameters:
 * one case then walks three ways through the code.
 */
#ifndef NAM_SQL_EXPR_MINI_H
#define NAM_SQL_EXPR_MINI_H

#include <sql/expr/expr.h>

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MINI_CONST, MINI_COLUMN, MINI_PARAM, MINI_HOLES = 64, MINI_ROWS = 5 };

struct mini {
	const char *at;
	int mode;
	struct nam_arena *a;
	struct cat_err *err;
	struct cat_datum hole[MINI_HOLES]; /* columns or parameters */
	unsigned holes;
};

static struct sql_expr *mini_expr(struct mini *m, int level);

static void
mini_space(struct mini *m)
{
	while (*m->at == ' ' || *m->at == '\n' || *m->at == '\t')
		m->at++;
}

static bool
mini_take(struct mini *m, const char *w)
{
	mini_space(m);
	size_t n = strlen(w);
	if (strncasecmp(m->at, w, n) != 0 ||
	    (isalpha((unsigned char)w[0]) && (isalnum((unsigned char)m->at[n]) || m->at[n] == '_')))
		return false;
	m->at += n;
	return true;
}

static struct sql_expr *
mini_syntax(struct mini *m)
{
	cat_error(m->err, "42601", "mini: syntax error at \"%.20s\"", m->at);
	return NULL;
}

/* A constant of known type becomes what the mode wants. */
static struct sql_expr *
mini_hole(struct mini *m, struct sql_expr *e)
{
	if (e == NULL || m->mode == MINI_CONST || e->kind != SQL_CONST || e->type == CAT_UNKNOWN ||
	    m->holes == MINI_HOLES)
		return e;
	m->hole[m->holes] = e->value;
	m->hole[m->holes].type = e->type;
	unsigned k = m->holes++;
	return m->mode == MINI_COLUMN ? sql_expr_column(m->a, k, e->type, e->typmod, 0)
				      : sql_expr_param(m->a, k, e->type, 0);
}

static bool
mini_type(struct mini *m, enum cat_type *t, int32_t *typmod)
{
	static const struct {
		const char *name;
		enum cat_type t;
	} types[] = { { "double precision", CAT_FLOAT8 }, { "int4", CAT_INT4 }, { "int8", CAT_INT8 },
		{ "integer", CAT_INT4 }, { "int", CAT_INT4 }, { "bigint", CAT_INT8 },
		{ "float8", CAT_FLOAT8 }, { "numeric", CAT_NUMERIC }, { "text", CAT_TEXT },
		{ "varchar", CAT_TEXT }, { "boolean", CAT_BOOL }, { "bool", CAT_BOOL }, { "date", CAT_DATE },
		{ "timestamp", CAT_TIMESTAMP } };
	*typmod = -1;
	for (unsigned k = 0; k < sizeof types / sizeof *types; k++) {
		const char *was = m->at;
		if (!mini_take(m, types[k].name))
			continue;
		*t = types[k].t;
		mini_space(m);
		if (*m->at == '(' && (*t == CAT_NUMERIC || *t == CAT_TEXT)) {
			char *end;
			long a = strtol(m->at + 1, &end, 10), b = 0;
			if (*end == ',')
				b = strtol(end + 1, &end, 10);
			if (*end != ')') {
				m->at = was;
				return false;
			}
			m->at = end + 1;
			*typmod = *t == CAT_TEXT ? (int32_t)a : (int32_t)(a << 16 | (b & 0xffff));
		}
		return true;
	}
	return false;
}

static struct sql_expr *
mini_string(struct mini *m)
{
	struct cat_datum d = { .type = CAT_UNKNOWN };
	char *p = nam_arena_take(m->a, strlen(m->at)), *q = p;
	for (m->at++; *m->at; m->at++) {
		if (*m->at == '\'' && *++m->at != '\'')
			break;
		*q++ = *m->at;
	}
	d.v.s = (struct cat_str){ p, (uint32_t)(q - p) };
	return sql_expr_const(m->a, d, 0);
}

static struct sql_expr *
mini_number(struct mini *m)
{
	const char *p = m->at;
	bool whole = true;
	while (isdigit((unsigned char)*m->at) || *m->at == '.' ||
	       ((*m->at | 32) == 'e' &&
		   (isdigit((unsigned char)m->at[1]) ||
		       ((m->at[1] == '-' || m->at[1] == '+') && isdigit((unsigned char)m->at[2]))))) {
		if (!isdigit((unsigned char)*m->at))
			whole = false;
		if ((*m->at | 32) == 'e')
			m->at++;
		m->at++;
	}
	struct cat_str s = { p, (uint32_t)(m->at - p) };
	struct cat_datum d = { .type = CAT_INT4 };
	if (whole && cat_value_in(CAT_INT4, -1, s, &d.v, m->a, m->err))
		return mini_hole(m, sql_expr_const(m->a, d, 0));
	d.type = CAT_INT8;
	if (whole && cat_value_in(CAT_INT8, -1, s, &d.v, m->a, m->err))
		return mini_hole(m, sql_expr_const(m->a, d, 0));
	d.type = CAT_NUMERIC;
	if (!cat_value_in(CAT_NUMERIC, -1, s, &d.v, m->a, m->err))
		return NULL;
	return mini_hole(m, sql_expr_const(m->a, d, 0));
}

static struct sql_expr *
mini_primary(struct mini *m)
{
	struct cat_datum d = { .type = CAT_BOOL };
	enum cat_type t;
	int32_t typmod;
	mini_space(m);
	if (*m->at == '\'')
		return mini_string(m);
	if (isdigit((unsigned char)*m->at) || (*m->at == '.' && isdigit((unsigned char)m->at[1])))
		return mini_number(m);
	if (mini_take(m, "(")) {
		struct sql_expr *e = mini_expr(m, 0);
		return e == NULL || mini_take(m, ")") ? e : mini_syntax(m);
	}
	if (mini_take(m, "true") || mini_take(m, "false")) {
		d.v.i = (m->at[-2] | 32) == 'u';
		return mini_hole(m, sql_expr_const(m->a, d, 0));
	}
	if (mini_take(m, "null")) {
		d.type = CAT_UNKNOWN;
		d.null = true;
		return sql_expr_const(m->a, d, 0);
	}
	struct sql_expr *args[MINI_HOLES];
	unsigned n = 0;
	if (mini_take(m, "case")) {
		while (mini_take(m, "when")) {
			if ((args[n++] = mini_expr(m, 0)) == NULL)
				return NULL;
			if (!mini_take(m, "then"))
				return mini_syntax(m);
			if ((args[n++] = mini_expr(m, 0)) == NULL)
				return NULL;
		}
		if (mini_take(m, "else")) {
			if ((args[n++] = mini_expr(m, 0)) == NULL)
				return NULL;
		} else {
			args[n++] =
			    sql_expr_const(m->a, (struct cat_datum){ .type = CAT_UNKNOWN, .null = true }, 0);
		}
		return mini_take(m, "end") ? sql_expr_make(m->a, SQL_CASE, args, n, false, 0, m->err)
					   : mini_syntax(m);
	}
	const char *was = m->at;
	if (mini_type(m, &t, &typmod)) {
		mini_space(m);
		if (*m->at == '\'') {
			struct sql_expr *e = mini_string(m);
			return mini_hole(m, sql_expr_cast(m->a, e, t, typmod, 0, m->err));
		}
		m->at = was;
	}
	char name[64];
	size_t len = 0;
	while ((isalnum((unsigned char)*m->at) || *m->at == '_') && len < sizeof name - 1)
		name[len++] = (char)tolower((unsigned char)*m->at++);
	name[len] = 0;
	if (len == 0 || !mini_take(m, "("))
		return mini_syntax(m);
	while (!mini_take(m, ")")) {
		if ((n > 0 && !mini_take(m, ",")) || n == MINI_HOLES)
			return mini_syntax(m);
		if ((args[n++] = mini_expr(m, 0)) == NULL)
			return NULL;
	}
	return sql_expr_func(m->a, name, args, n, 0, m->err);
}

static struct sql_expr *
mini_postfix(struct mini *m)
{
	struct sql_expr *e = mini_primary(m);
	while (e != NULL && mini_take(m, "::")) {
		enum cat_type t;
		int32_t typmod;
		if (!mini_type(m, &t, &typmod))
			return mini_syntax(m);
		e = mini_hole(m, sql_expr_cast(m->a, e, t, typmod, 0, m->err));
	}
	return e;
}

static struct sql_expr *
mini_in(struct mini *m, struct sql_expr *e, bool negate)
{
	struct sql_expr *args[MINI_HOLES] = { e };
	unsigned n = 1;
	if (!mini_take(m, "("))
		return mini_syntax(m);
	do {
		if (n == MINI_HOLES)
			return mini_syntax(m);
		if ((args[n++] = mini_expr(m, 0)) == NULL)
			return NULL;
	} while (mini_take(m, ","));
	return mini_take(m, ")") ? sql_expr_make(m->a, SQL_IN, args, n, negate, 0, m->err) : mini_syntax(m);
}

/* Levels: 0 OR, 1 AND, 2 NOT, 3 IS, 4 comparison, 5 LIKE and IN, 6 other operators, 7 + -, 8 * / %,
 * 9 ^, 10 prefix - */
static struct sql_expr *
mini_expr(struct mini *m, int level)
{
	static const char *const ops[][8] = { [4] = { "<=", ">=", "<>", "!=", "<", ">", "=" },
		[6] = { "||", "!~~*", "!~~", "~~*", "~~", "&", "#" },
		[7] = { "+", "-" },
		[8] = { "*", "/", "%" },
		[9] = { "^" } };
	struct sql_expr *e, *args[2];
	if (level == 2) {
		if (!mini_take(m, "not"))
			return mini_expr(m, 3);
		e = mini_expr(m, 2);
		return e ? sql_expr_make(m->a, SQL_NOT, &e, 1, false, 0, m->err) : NULL;
	}
	if (level == 10) {
		if (mini_take(m, "-")) {
			e = mini_expr(m, 10);
			return e ? sql_expr_op(m->a, "-", NULL, e, 0, m->err) : NULL;
		}
		if (mini_take(m, "+")) {
			e = mini_expr(m, 10);
			return e ? sql_expr_op(m->a, "+", NULL, e, 0, m->err) : NULL;
		}
		return mini_postfix(m);
	}
	e = mini_expr(m, level + 1);
	while (e != NULL) {
		if (level <= 1) {
			if (!mini_take(m, level == 0 ? "or" : "and"))
				return e;
			args[0] = e;
			if ((args[1] = mini_expr(m, level + 1)) == NULL)
				return NULL;
			e = sql_expr_make(m->a, level == 0 ? SQL_OR : SQL_AND, args, 2, false, 0, m->err);
			continue;
		}
		if (level == 3) {
			if (!mini_take(m, "is"))
				return e;
			bool negate = mini_take(m, "not");
			if (!mini_take(m, "null"))
				return mini_syntax(m);
			e = sql_expr_make(m->a, SQL_IS_NULL, &e, 1, negate, 0, m->err);
			continue;
		}
		const char *op = NULL;
		if (level == 5) {
			bool negate = mini_take(m, "not");
			if (mini_take(m, "in")) {
				e = mini_in(m, e, negate);
				continue;
			}
			if (mini_take(m, "like"))
				op = negate ? "!~~" : "~~";
			else if (mini_take(m, "ilike"))
				op = negate ? "!~~*" : "~~*";
		} else {
			for (int k = 0; k < 8 && ops[level][k] && op == NULL; k++)
				if (mini_take(m, ops[level][k]))
					op = ops[level][k];
		}
		if (op == NULL)
			return e;
		struct sql_expr *r = mini_expr(m, level + 1);
		if (r == NULL)
			return NULL;
		e = sql_expr_op(m->a, op, e, r, 0, m->err);
	}
	return NULL;
}

/* Reads and evaluates text: *out is a text value, or NULL. On false *err is set. */
static bool
mini_eval(const char *text, int mode, struct nam_arena *a, struct cat_datum *out, struct cat_err *err)
{
	struct mini m = { .at = text, .mode = mode, .a = a, .err = err };
	struct sql_env env = { .param = m.hole, .now_us = 0, .arena = a, .err = err };
	memset(err, 0, sizeof *err);
	*out = (struct cat_datum){ 0 };
	struct sql_expr *e = mini_expr(&m, 0);
	if (e == NULL)
		return false;
	mini_space(&m);
	if (*m.at) {
		mini_syntax(&m);
		return false;
	}
	if ((e = sql_expr_default_type(a, e, err)) == NULL)
		return false;
	env.params = m.holes;
	struct cat_datum d;
	if (mode != MINI_COLUMN) {
		if (!sql_eval_one(e, &env, &d))
			return false;
	} else {
		/* rows 0 and 3 are the case, 2 is NULL everywhere, 1 and 4 are not looked at */
		static const uint16_t sel[] = { 0, 2, 3 };
		struct cat_vec col[MINI_HOLES], v;
		for (unsigned k = 0; k < m.holes; k++) {
			if (!cat_vec_take(&col[k], m.hole[k].type, MINI_ROWS, a))
				return false;
			for (unsigned r = 0; r < MINI_ROWS; r++) {
				union cat_val x = m.hole[k].v;
				if (r == 2 && !cat_type_is_str(m.hole[k].type))
					x.i = INT64_MIN; /* garbage that must not matter */
				cat_vec_set(&col[k], r, x, r == 2 || m.hole[k].null);
			}
		}
		struct sql_batch b = { .col = col, .cols = m.holes, .n = MINI_ROWS };
		if (!sql_eval(e, &b, sel, 3, &env, &v))
			return false;
		d = (struct cat_datum){ .type = v.type, .null = v.null[0], .v = cat_vec_at(&v, 0) };
		if (v.type != e->type || v.null[0] != v.null[3] ||
		    (!d.null && cat_value_cmp(v.type, d.v, cat_vec_at(&v, 3)) != 0))
			return cat_error(err, "XX001", "rows that are alike gave different results");
		if (v.null[2] > 1)
			return cat_error(err, "XX001", "a null byte is %d", v.null[2]);
	}
	if (d.type != e->type)
		return cat_error(
		    err, "XX001", "result is %s, not %s", cat_type_name(d.type), cat_type_name(e->type));
	*out = d;
	return true;
}

#endif
