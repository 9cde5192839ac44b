/* convert_lock.c -- SELECT ... FOR UPDATE, FOR SHARE and their like. */
#include <sql/parse/convert.h>

static const char *
words(PgQuery__LockClauseStrength s)
{
	switch (s) {
	case PG_QUERY__LOCK_CLAUSE_STRENGTH__LCS_FORKEYSHARE:
		return "FOR KEY SHARE";
	case PG_QUERY__LOCK_CLAUSE_STRENGTH__LCS_FORSHARE:
		return "FOR SHARE";
	case PG_QUERY__LOCK_CLAUSE_STRENGTH__LCS_FORNOKEYUPDATE:
		return "FOR NO KEY UPDATE";
	default:
		return "FOR UPDATE";
	}
}

static bool
refused(struct sql_convert *c, const char *what, const char *why)
{
	return cat_error(c->err, "0A000", "%s %s", what, why);
}

static bool fits(struct sql_convert *c, const struct ast_select *q, const char *what);

/* One more clause for a query; without names it also holds for the queries in its FROM. */
static bool
add(struct sql_convert *c, struct ast_select *q, const struct ast_lock *l)
{
	struct ast_lock *more = sql_convert_take(c, (q->locks + 1) * sizeof *more);
	if (more == NULL)
		return false;
	if (q->locks > 0)
		memcpy(more, q->lock, q->locks * sizeof *more);
	more[q->locks++] = *l;
	q->lock = more;
	struct ast_lock inner = { .what = l->what, .wait = l->wait };
	for (unsigned k = 0; k < q->tables; k++) {
		bool named = l->ofs == 0;
		for (unsigned i = 0; i < l->ofs; i++)
			named |= strcmp(l->of[i], q->table[k].alias) == 0;
		/* made just now */
		struct ast_select *sub = (struct ast_select *)(uintptr_t)q->table[k].sub;
		if (named && sub != NULL && sub->rows == 0 &&
		    (!fits(c, sub, l->what) || !add(c, sub, &inner)))
			return false;
	}
	return true;
}

/* What a look at the query alone tells; the rest is the binder's. */
static bool
fits(struct sql_convert *c, const struct ast_select *q, const char *what)
{
	if (q->sets > 0)
		return refused(c, what, "is not allowed with UNION/INTERSECT/EXCEPT");
	if (q->rows > 0)
		return refused(c, what, "cannot be applied to VALUES");
	if (q->distinct || q->ons > 0)
		return refused(c, what, "is not allowed with DISTINCT clause");
	if (q->groups > 0)
		return refused(c, what, "is not allowed with GROUP BY clause");
	return true;
}

bool
sql_convert_locks(struct sql_convert *c, const PgQuery__SelectStmt *s, struct ast_select *q, bool series)
{
	for (size_t i = 0; i < s->n_locking_clause; i++) {
		const PgQuery__LockingClause *k = s->locking_clause[i]->locking_clause;
		struct ast_lock l = { .what = words(k->strength), .ofs = (unsigned)k->n_locked_rels };
		l.wait = k->wait_policy == PG_QUERY__LOCK_WAIT_POLICY__LockWaitError  ? AST_LOCK_NOWAIT
			 : k->wait_policy == PG_QUERY__LOCK_WAIT_POLICY__LockWaitSkip ? AST_LOCK_SKIP
										      : AST_LOCK_WAIT;
		if (s->n_group_clause > 0)
			return refused(c, l.what, "is not allowed with GROUP BY clause");
		if (!fits(c, q, l.what))
			return false;
		if (series)
			return refused(
			    c, l.what, "is not allowed with set-returning functions in the target list");
		l.of = sql_convert_take(c, l.ofs * sizeof *l.of);
		l.of_at = sql_convert_take(c, l.ofs * sizeof *l.of_at);
		if (l.of == NULL || l.of_at == NULL)
			return false;
		for (unsigned n = 0; n < l.ofs; n++) {
			const PgQuery__RangeVar *r = k->locked_rels[n]->range_var;
			l.of_at[n] = r->location >= 0 ? r->location + 1 : 0;
			if (r->schemaname != NULL && r->schemaname[0]) {
				cat_error(
				    c->err, "42601", "%s must specify unqualified relation names", l.what);
				c->err->position = l.of_at[n];
				return false;
			}
			if ((l.of[n] = sql_convert_str(c, r->relname)) == NULL)
				return false;
			bool there = false;
			for (unsigned t = 0; t < q->tables; t++)
				there |= strcmp(l.of[n], q->table[t].alias) == 0;
			if (there)
				continue;
			cat_error(c->err, "42P01", "relation \"%s\" in %s clause not found in FROM clause",
			    l.of[n], l.what);
			c->err->position = l.of_at[n];
			return false;
		}
		if (!add(c, q, &l))
			return false;
	}
	return true;
}
