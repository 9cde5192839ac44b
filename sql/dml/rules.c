/* rules.c -- CHECK constraints over the rows that are about to be written. */
#include <sql/dml/dml.h>

/* A NULL where none may be, in row k: that is what the statement fails with then. */
static bool
has_hole(const struct cat_table *tab, const struct sql_batch *b, unsigned k)
{
	for (unsigned c = 0; c < tab->columns; c++) {
		bool must = tab->column[c].not_null;
		for (unsigned i = 0; i < tab->keys; i++)
			must |= tab->key[i] == c;
		if (must && b->col[c].null[k])
			return true;
	}
	return false;
}

static bool
violated(struct sql_exec *x, const struct cat_table *tab, const struct sql_batch *b, unsigned k,
    const char *name, struct nam_arena *arena)
{
	union cat_val *v = nam_arena_take(arena, tab->columns * sizeof *v);
	bool *null = nam_arena_take(arena, tab->columns * sizeof *null);
	cat_error(x->err, "23514", "new row for relation \"%s\" violates check constraint \"%s\"",
	    cat_local(tab->path), name);
	cat_error_about(x->err, cat_local(tab->path), NULL, name);
	for (unsigned c = 0; v != NULL && null != NULL && c < tab->columns; c++) {
		null[c] = b->col[c].null[k];
		v[c] = cat_vec_at(&b->col[c], k);
	}
	if (v != NULL && null != NULL)
		sql_quote_row(x, tab, v, null, arena);
	return false;
}

bool
sql_check_rows(struct sql_exec *x, const struct cat_table *tab, const struct sql_batch *b,
    const uint16_t *sel, unsigned n, struct nam_arena *arena)
{
	const struct sql_rules *r = x->rules;
	unsigned first = n, which = 0;
	if (r == NULL || r->checks == 0)
		return true;
	if (sel == NULL)
		sel = sql_ident();
	/* Rows from a NULL that must not be on are never looked at. */
	for (unsigned i = 0; i < n; i++)
		if (has_hole(tab, b, sel[i]))
			n = first = i;
	x->env.arena = arena;
	for (unsigned i = 0; i < r->checks && n > 0; i++) {
		struct cat_vec v;
		if (!sql_eval(r->check[i], b, sel, n, &x->env, &v))
			return false;
		for (unsigned k = 0; k < first; k++)
			if (!v.null[sel[k]] && !v.i[sel[k]]) {
				first = k;
				which = i;
			}
	}
	if (first >= n)
		return true;
	x->bad_row = sel[first];
	return violated(x, tab, b, sel[first], tab->check[which].name, arena);
}
