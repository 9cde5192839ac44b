/*
 * asked.c -- for which relation a query asks a system catalog: the rows of others need not be made.
 *
 * If WHERE, or ON of a join that does not keep the catalog's unmatched rows, demands that the
 * catalog's column is equal to a constant, a row with another value comes into no answer: whatever
 * joined with it is left out as well, or becomes a row whose column is NULL, and the condition is
 * not true of that one either. So the conditions stay, and this only saves work. The column may be
 * equal to another table's column, for which WHERE in its turn demands the constant.
 */
#include <sql/common/error.h>
#include <sql/plan/bind/bind.h>
#include <sql/system/system.h>

#include <stdlib.h>
#include <string.h>

enum { DEEP = 16, HOPS = 4, STEPS = 4096 };

static const struct {
	const char *catalog, *column;
} asked_by[] = {
	{ "pg_class", "oid" },
	{ "pg_attribute", "attrelid" },
	{ "pg_attrdef", "adrelid" },
	{ "pg_index", "indrelid" },
	{ "pg_index", "indexrelid" },
	{ "pg_constraint", "conrelid" },
	{ "pg_sequence", "seqrelid" },
};

struct asked {
	const struct ast_select *q;
	const struct sql_system *s;
	unsigned k;     /* the catalog's place in FROM */
	unsigned steps; /* conditions that may still be looked at */
};

/* The oid that a constant stands for. */
static bool
constant(struct asked *x, const struct ast_expr *e, uint32_t *oid)
{
	struct sql_found found;
	bool ok;
	enum cat_type as = CAT_OID;
	while (e->kind == AST_CAST && e->nargs == 1) {
		if (e->type != CAT_OID && e->type != CAT_REGCLASS && e->type != CAT_INT4 &&
		    e->type != CAT_INT8)
			return false;
		as = e->type;
		e = e->args[0];
	}
	if (e->kind == AST_INT && e->i >= 0 && e->i <= UINT32_MAX) {
		*oid = (uint32_t)e->i;
		return true;
	}
	if (e->kind != AST_STRING || e->len == 0)
		return false;
	if (strspn(e->text, "0123456789") == e->len && e->len < 11) {
		unsigned long long n = strtoull(e->text, NULL, 10);
		*oid = (uint32_t)n;
		return n <= UINT32_MAX;
	}
	/* A name that is none is told where the condition is bound. */
	struct cat_err unused = { 0 };
	struct sql_system s = *x->s;
	s.err = &unused;
	return as == CAT_REGCLASS &&
	       sql_system_named(&s, (struct cat_str){ e->text, e->len }, &found, oid, &ok);
}

static const char *
alias_of(const struct ast_table *t)
{
	return t->alias != NULL ? t->alias : t->name;
}

/* Does e name that column of table k of FROM? A name without a table is only taken for the
 * catalog's own. */
static bool
names(struct asked *x, const struct ast_expr *e, unsigned k, const char *column)
{
	const char *alias = alias_of(&x->q->table[k]);
	/* Within (a JOIN b) AS j a table is known by j, and by j's names of columns. */
	for (unsigned j = 0; j < x->q->joins; j++)
		if (x->q->join[j].alias != NULL && x->q->join[j].first <= k && k <= x->q->join[j].last)
			return false;
	if (e->kind != AST_COLUMN || e->schema != NULL || strcmp(e->text, column) != 0)
		return false;
	return e->qual != NULL ? alias != NULL && strcmp(e->qual, alias) == 0 : k == x->k;
}

static bool equal_in(struct asked *x, const struct ast_expr *where, unsigned k, const char *column,
    unsigned deep, unsigned hops, uint32_t *oid);

/* other is equal to the column that is asked for. */
static bool
told_by(struct asked *x, const struct ast_expr *other, unsigned hops, uint32_t *oid)
{
	if (constant(x, other, oid))
		return true;
	if (other->kind != AST_COLUMN || other->qual == NULL || hops == 0)
		return false;
	for (unsigned k = 0; k < x->q->tables; k++)
		if (names(x, other, k, other->text))
			return equal_in(x, x->q->where, k, other->text, DEEP, hops - 1, oid);
	return false;
}

/* Does the condition demand that the column is equal to a constant? */
static bool
equal_in(struct asked *x, const struct ast_expr *where, unsigned k, const char *column, unsigned deep,
    unsigned hops, uint32_t *oid)
{
	if (where == NULL || deep == 0 || x->steps == 0)
		return false;
	x->steps--;
	if (where->kind == AST_AND) {
		for (unsigned i = 0; i < where->nargs; i++)
			if (equal_in(x, where->args[i], k, column, deep - 1, hops, oid))
				return true;
		return false;
	}
	if (where->kind != AST_OP || where->nargs != 2 || strcmp(where->text, "=") != 0)
		return false;
	for (unsigned i = 0; i < 2; i++)
		if (names(x, where->args[i], k, column) && told_by(x, where->args[1 - i], hops, oid))
			return true;
	return false;
}

/* Rows of FROM's table k without a partner come into no answer of the join. */
static bool
leaves_out(const struct ast_join *j, unsigned k)
{
	if (k < j->first || k > j->last || j->alias != NULL)
		return false;
	return j->kind == AST_JOIN_INNER || (j->kind == AST_JOIN_LEFT && k >= j->mid) ||
	       (j->kind == AST_JOIN_RIGHT && k < j->mid);
}

/* A catalog that has no rows here, and whose absence leaves nothing of FROM. It is written with its
 * schema: a name alone may be a temporary table's. */
static bool
is_void(const struct ast_select *q, unsigned k)
{
	const struct sql_relation *is =
	    q->table[k].system && !q->table[k].information && q->table[k].name != NULL
		? sql_relation_find(SQL_IN_CATALOG, q->table[k].name)
		: NULL;
	if (is == NULL || is->rows != NULL || is->view != NULL)
		return false;
	for (unsigned i = 0; i < q->joins; i++) {
		const struct ast_join *j = &q->join[i];
		bool right = k >= j->mid;
		if (k >= j->first && k <= j->last && j->kind != AST_JOIN_INNER &&
		    j->kind != (right ? AST_JOIN_RIGHT : AST_JOIN_LEFT))
			return false;
	}
	return true;
}

bool
sql_bind_asked(
    struct bind *b, const struct ast_table *t, const struct sql_system *s, const char *catalog, uint32_t *oid)
{
	struct asked x = { b->from.of, s, b->from.item, STEPS };
	if (x.q == NULL || x.k >= x.q->tables || &x.q->table[x.k] != t || t->renames > 0)
		return false;
	*oid = 0; /* no relation has that number */
	for (unsigned k = 0; k < x.q->tables; k++)
		if (is_void(x.q, k))
			return true;
	for (unsigned c = 0; c < sizeof asked_by / sizeof *asked_by; c++) {
		if (strcmp(asked_by[c].catalog, catalog) != 0)
			continue;
		if (equal_in(&x, x.q->where, x.k, asked_by[c].column, DEEP, HOPS, oid))
			return true;
		for (unsigned j = 0; j < x.q->joins; j++)
			if (leaves_out(&x.q->join[j], x.k) &&
			    equal_in(&x, x.q->join[j].on, x.k, asked_by[c].column, DEEP, HOPS, oid))
				return true;
	}
	return false;
}
