/*
 * or.c -- conditions that follow from an OR as a whole.
 *
 * (a AND b) OR (a AND c) is a AND (b OR c), also where NULLs are: so a becomes a condition of its
 * own, which may be the key of a join or go down to a scan. If every branch has conditions on table
 * t alone, the OR of those is true for all rows of t that matter: t's scan also evaluates it, if it
 * cannot fail.
 */
#include <sql/expr/functions.h>
#include <sql/plan/bind/bind.h>

/* Larger ORs stay as they are: each pair of parts is compared. */
enum { NODES_MOST = 1500 };

struct branch {
	const struct ast_expr **part;
	unsigned parts;
	unsigned met; /* take_out: the part that it is about */
};

/* Nodes of e, counted as often as they are said; stops at NODES_MOST. */
static unsigned
size_of(const struct ast_expr *e)
{
	unsigned n = 1;
	for (unsigned k = 0; e != NULL && k < e->nargs && n < NODES_MOST; k++)
		n += size_of(e->args[k]);
	return n;
}

/*
 * True if one of the branches has several parts. Else the branches share nothing, or are equal.
 */
static bool
some_and(const struct ast_expr *e)
{
	bool is = e->kind == AST_AND;
	for (unsigned k = 0; e->kind == AST_OR && k < e->nargs && !is; k++)
		is = some_and(e->args[k]);
	return is;
}

/* One binding serves for several: no query, no call that may answer otherwise the next time. */
bool
sql_bind_may_share(const struct ast_expr *e)
{
	switch (e->kind) {
	case AST_SUB:
	case AST_FUNC:
	case AST_WINDOW:
	case AST_STAR:
	case AST_DEFAULT:
	case AST_PARAM: /* its type may come from where it stands */
		return false;
	default:
		break;
	}
	for (unsigned k = 0; k < e->nargs; k++)
		if (!sql_bind_may_share(e->args[k]))
			return false;
	return true;
}

/* How many parts e consists of, under ANDs (or branches, under ORs). */
static unsigned
count(const struct ast_expr *e, enum ast_kind kind)
{
	unsigned n = 0;
	for (unsigned k = 0; e->kind == kind && k < e->nargs; k++)
		n += count(e->args[k], kind);
	return e->kind == kind ? n : 1;
}

static void
take_parts(struct branch *to, const struct ast_expr *e)
{
	if (e->kind != AST_AND)
		to->part[to->parts++] = e;
	for (unsigned k = 0; e->kind == AST_AND && k < e->nargs; k++)
		take_parts(to, e->args[k]);
}

static bool
take_branches(struct bind *b, struct branch *to, unsigned *n, const struct ast_expr *e)
{
	if (e->kind != AST_OR) {
		struct branch *br = &to[(*n)++];
		if ((br->part = sql_bind_take(b, count(e, AST_AND) * sizeof *br->part)) == NULL)
			return false;
		take_parts(br, e);
		return true;
	}
	for (unsigned k = 0; k < e->nargs; k++)
		if (!take_branches(b, to, n, e->args[k]))
			return false;
	return true;
}

/* True if x and y are equal, or one is the other's equality written the other way round. */
static bool
says_same(struct bind *b, const struct ast_expr *x, const struct ast_expr *y)
{
	if (sql_bind_same(b, x, y))
		return true;
	bool eq = x->kind == AST_OP && y->kind == AST_OP && x->nargs == 2 && y->nargs == 2 &&
		  strcmp(x->text, "=") == 0 && strcmp(y->text, "=") == 0;
	return eq && sql_bind_same(b, x->args[0], y->args[1]) && sql_bind_same(b, x->args[1], y->args[0]);
}

/* The part of the branch that equals e; of->parts = none. */
static unsigned
said_in(struct bind *b, const struct branch *of, const struct ast_expr *e)
{
	unsigned k = 0;
	while (k < of->parts && !says_same(b, of->part[k], e))
		k++;
	return k;
}

/*
 * True if all branches have that condition of the first one. *out: then it is taken out of them,
 * unless it is the only condition of one of them.
 */
static bool
take_out(struct bind *b, struct branch *br, unsigned n, unsigned part, bool *out)
{
	*out = true;
	for (unsigned i = 0; i < n; i++) {
		br[i].met = said_in(b, &br[i], br[0].part[part]);
		if (br[i].met == br[i].parts)
			return *out = false;
		*out &= br[i].parts > 1;
	}
	for (unsigned i = 0; *out && i < n; i++) {
		br[i].parts--;
		for (unsigned k = br[i].met; k < br[i].parts; k++)
			br[i].part[k] = br[i].part[k + 1];
	}
	return true;
}

static struct ast_expr *
several(struct bind *b, enum ast_kind kind, const struct ast_expr *const *part, unsigned n, int position)
{
	if (n == 1)
		return (struct ast_expr *)part[0];
	struct ast_expr *e = sql_bind_take(b, sizeof *e);
	struct ast_expr **args = sql_bind_take(b, n * sizeof *args);
	if (e == NULL || args == NULL)
		return NULL;
	memcpy(args, part, n * sizeof *part);
	e->args = args;
	e->kind = kind;
	e->typmod = -1;
	e->nargs = n;
	e->position = position;
	return e;
}

const struct ast_expr *
sql_bind_or_common(struct bind *b, const struct ast_expr *e)
{
	if (!some_and(e) || size_of(e) >= NODES_MOST)
		return e;
	unsigned n = 0, nodes = b->nest.nodes, commons = 0, branches = count(e, AST_OR);
	struct branch *br = sql_bind_take(b, branches * sizeof *br);
	const struct ast_expr **rest = sql_bind_take(b, branches * sizeof *rest);
	if (br == NULL || rest == NULL || !take_branches(b, br, &n, e))
		return NULL;
	if (n < 2)
		return e;
	/* Not on the stack: conditions nest. */
	const struct ast_expr **common = sql_bind_take(b, (br[0].parts + 1) * sizeof *common);
	if (common == NULL)
		return NULL;
	bool out, changed = false;
	for (unsigned k = 0; k < br[0].parts; k += !out) {
		const struct ast_expr *p = br[0].part[k];
		out = false;
		if (sql_bind_may_share(p) && take_out(b, br, n, k, &out)) {
			common[commons++] = p;
			changed |= out;
		}
	}
	b->nest.nodes = nodes; /* what was compared is bounded by the size */
	for (unsigned k = 0; k < commons; k++)
		if (!sql_bind_conds(b, common[k]))
			return NULL;
	if (!changed)
		return e;
	for (unsigned i = 0; i < n; i++)
		if ((rest[i] = several(b, AST_AND, br[i].part, br[i].parts, e->position)) == NULL)
			return NULL;
	return several(b, AST_OR, rest, n, e->position);
}

/*
 * ---- what the branches say of one table
 * --------------------------------------------------------
 */

/* Comparisons of columns and constants, however they are joined. */
static bool
cannot_fail(const struct sql_expr *e)
{
	switch (e->kind) {
	case SQL_CONST:
	case SQL_COLUMN:
	case SQL_PARAM:
	case SQL_OUTER:
		return true;
	case SQL_CALL:
		if (!(e->fn->flags & SQL_FN_OP) || strpbrk(e->fn->name, "=<>") != e->fn->name ||
		    e->fn->ret != CAT_BOOL)
			return false;
		break;
	case SQL_AND:
	case SQL_OR:
	case SQL_NOT:
	case SQL_IS_NULL:
	case SQL_IN:
		break;
	default:
		return false;
	}
	for (unsigned k = 0; k < e->nargs; k++)
		if (!cannot_fail(e->args[k]))
			return false;
	return true;
}

/* The conjuncts of e over that table alone, as one condition. *out NULL = there is none. */
static bool
alone(struct bind *b, struct sql_expr *e, unsigned table, struct sql_expr **out)
{
	struct sql_expr **part = e->kind == SQL_AND ? e->args : &e;
	unsigned parts = e->kind == SQL_AND ? e->nargs : 1, n = 0;
	struct sql_expr **take = sql_bind_take(b, parts * sizeof *take);
	if (take == NULL)
		return false;
	for (unsigned k = 0; k < parts; k++) {
		struct sql_set of = sql_bind_tables_of(b, part[k]), one = sql_set_one(table);
		if (sql_set_equal(&of, &one) && cannot_fail(part[k]))
			take[n++] = part[k];
	}
	*out = NULL;
	if (n == 1)
		*out = take[0];
	else if (n > 1 && (*out = sql_expr_make(b->a, SQL_AND, take, n, false, 0, b->err)) == NULL)
		return false;
	return true;
}

bool
sql_bind_or_parts(struct bind *b, struct sql_expr *e, const struct sql_set *tables)
{
	bool on = b->where.home > 0 && (b->where.home - 1) % 3 == 2;
	if (e->kind != SQL_OR || e->nargs > NODES_MOST || !sql_set_is_many(tables) || on)
		return true;
	unsigned all = b->from.tables;
	const struct sql_set of = *tables; /* conditions move when they become more */
	for (unsigned table = sql_set_first(&of, all); table < all; table = sql_set_next(&of, table, all)) {
		struct sql_expr **way = sql_bind_take(b, e->nargs * sizeof *way);
		unsigned n = 0;
		if (way == NULL)
			return false;
		for (; n < e->nargs; n++) {
			if (!alone(b, e->args[n], table, &way[n]))
				return false;
			if (way[n] == NULL)
				break;
		}
		if (n < e->nargs)
			continue;
		struct bind_cond *c = sql_bind_cond_add(b);
		if (c == NULL || (c->e = sql_expr_make(b->a, SQL_OR, way, n, false, 0, b->err)) == NULL)
			return false;
		c->mask = sql_set_one(table);
	}
	return true;
}
