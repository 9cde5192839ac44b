/* convert_foreign.c -- REFERENCES and FOREIGN KEY to sql's tree. */
#include <sql/parse/convert.h>

#include <string.h>

/* Room for one more foreign key of the statement. */
static struct ast_foreign *
more(struct sql_convert *c, struct ast_stmt *st)
{
	if (st->foreigns == st->foreign_cap) {
		unsigned cap = st->foreign_cap ? 2 * st->foreign_cap : 4;
		struct ast_foreign *all = sql_convert_take(c, cap * sizeof *all);
		if (all == NULL)
			return NULL;
		if (st->foreigns > 0)
			memcpy(all, st->foreign, st->foreigns * sizeof *all);
		st->foreign = all;
		st->foreign_cap = cap;
	}
	struct ast_foreign *k = &st->foreign[st->foreigns++];
	*k = (struct ast_foreign){ 0 };
	return k;
}

static bool
names(struct sql_convert *c, PgQuery__Node *const *list, size_t n, const char ***out, unsigned *count)
{
	*count = (unsigned)n;
	if ((*out = sql_convert_take(c, (n + 1) * sizeof **out)) == NULL)
		return false;
	for (size_t i = 0; i < n; i++)
		if (((*out)[i] = sql_convert_str(c, sql_convert_word(list[i]))) == NULL)
			return false;
	return true;
}

/* What libpg_query writes for an action is what the catalog writes. */
static char
action(const char *word)
{
	return word != NULL && word[0] != 0 ? word[0] : 'a';
}

bool
sql_convert_foreign(
    struct sql_convert *c, const PgQuery__Constraint *k, struct ast_stmt *st, const char *beside)
{
	char match = action(k->fk_matchtype);
	if (match == 'f')
		return sql_convert_no(c, "MATCH FULL is", k->location);
	if (match == 'p') {
		cat_error(c->err, "0A000", "MATCH PARTIAL not yet implemented");
		c->err->position = k->location + 1;
		return false;
	}
	if (k->deferrable || k->initdeferred)
		return sql_convert_no(c, "deferrable constraints are", k->location);
	if (k->skip_validation)
		return sql_convert_no(c, "NOT VALID is", k->location);
	if (k->n_fk_del_set_cols > 0)
		return sql_convert_no(c, "a list of columns behind ON DELETE SET is", k->location);
	struct ast_foreign *to = more(c, st);
	if (to == NULL || !sql_convert_range(c, k->pktable, &to->table))
		return false;
	to->on_delete = action(k->fk_del_action);
	to->on_update = action(k->fk_upd_action);
	if (k->conname != NULL && k->conname[0] && (to->name = sql_convert_str(c, k->conname)) == NULL)
		return false;
	if (!names(c, k->fk_attrs, k->n_fk_attrs, &to->column, &to->columns) ||
	    !names(c, k->pk_attrs, k->n_pk_attrs, &to->refers, &to->refs))
		return false;
	if (beside != NULL) {
		to->column[0] = beside;
		to->columns = 1;
	}
	return true;
}
