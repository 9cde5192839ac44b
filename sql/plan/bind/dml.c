/* dml.c -- INSERT, UPDATE, DELETE: the value of each column of the new row. */
#include <sql/common/guess_relation.h>
#include <sql/plan/bind/bind.h>

#include <stdio.h>
#include <stdlib.h>

bool
sql_bind_target(struct bind *b, const struct ast_table *t)
{
	if (!sql_bind_add_table(b, t))
		return false;
	b->from.lo = 0;
	b->from.hi = 1;
	b->plan->tab = b->from.table[0]->tab;
	b->plan->target = b->from.table[0];
	b->plan->arena_base = b->plan->arenas;
	b->plan->arenas += 3;
	if (b->plan->tab->system)
		return sql_bind_fail(
		    b, t->position, "42501", "permission denied for table %s", cat_local(b->plan->tab->path));
	return true;
}

static bool
returns(struct bind *b, const struct ast_expr *e, const char *name, unsigned *n)
{
	struct sql_column *to = &b->plan->column[*n];
	struct sql_expr *x = e ? sql_bind_expr_as(b, e, CAT_TEXT) : NULL;
	if (x == NULL || (x = sql_expr_default_type(b->a, x, b->err)) == NULL)
		return false;
	if (name == NULL)
		name = sql_bind_name_of(b, e);
	b->plan->returning[(*n)++] = x;
	to->type = x->type;
	to->typmod = x->typmod;
	to->domain = x->domain;
	sql_bind_origin(b, e, to);
	snprintf(to->name, sizeof to->name, "%s", name);
	return true;
}

bool
sql_bind_returning(struct bind *b, const struct ast_stmt *st)
{
	if (st->returnings == 0)
		return true;
	struct sql_plan *p = b->plan;
	unsigned cap = 0, n = 0;
	for (unsigned i = 0; i < st->returnings; i++)
		cap += st->returning[i].e->kind == AST_STAR ? b->from.width : 1;
	p->returning = sql_bind_take(b, cap * sizeof *p->returning);
	p->column = sql_bind_take(b, cap * sizeof *p->column);
	if (p->returning == NULL || p->column == NULL)
		return false;
	b->agg.not_in = "RETURNING";
	for (unsigned i = 0; i < st->returnings; i++) {
		const struct ast_target *t = &st->returning[i];
		if (t->e->kind != AST_STAR) {
			if (!returns(b, t->e, t->name, &n))
				return false;
			continue;
		}
		bool any = false;
		for (unsigned k = b->from.lo; k < b->from.hi; k++) {
			if (t->e->qual && (strcmp(t->e->qual, b->from.table[k]->alias) != 0 ||
					      !sql_bind_in_schema(b->from.table[k], t->e->schema)))
				continue;
			any = true;
			p->reads_target |= b->from.table[k] == p->target;
			for (unsigned c = 0; c < b->from.table[k]->tab->columns; c++)
				if (!returns(b, sql_bind_ast_column(b, k, c, t->e->position), NULL, &n))
					return false;
		}
		if (!any)
			return sql_bind_fail(b, t->e->position, "42P01",
			    "missing FROM-clause entry for table \"%s\"", t->e->qual);
	}
	p->columns = n;
	return true;
}

static bool
column_of(struct bind *b, const char *name, int position, unsigned *out)
{
	const struct cat_table *t = b->plan->tab;
	for (unsigned c = 0; c < t->columns; c++)
		if (strcmp(t->column[c].name, name) == 0) {
			*out = c;
			return true;
		}
	sql_bind_fail(b, position, "42703", "column \"%s\" of relation \"%s\" does not exist", name,
	    cat_local(t->path));
	sql_guess_in_table(t, name, b->err);
	return false;
}

/* INSERT (a, b): which column each value goes to. */
static uint16_t *
targets(struct bind *b, const struct ast_stmt *st, unsigned *n)
{
	const struct cat_table *t = b->plan->tab;
	*n = st->nnames ? st->nnames : t->columns;
	uint16_t *map = sql_bind_take(b, *n * sizeof *map);
	uint8_t *seen = sql_bind_take(b, t->columns);
	if (map == NULL || seen == NULL)
		return NULL;
	for (unsigned i = 0; i < *n; i++) {
		unsigned c = i;
		if (st->nnames && !column_of(b, st->names[i], st->name_at[i], &c))
			return NULL;
		if (seen[c]++) {
			sql_bind_fail(b, st->name_at[i], "42701", "column \"%s\" specified more than once",
			    t->column[c].name);
			return NULL;
		}
		map[i] = (uint16_t)c;
	}
	return map;
}

/* True if this value may go to an identity column. *dflt: its default goes there instead. */
static bool
identity(struct bind *b, const struct ast_stmt *st, unsigned c, bool *dflt)
{
	const struct cat_column *col = &b->plan->tab->column[c];
	*dflt = col->identity != 0 && st->overriding == 'u';
	if (col->identity != 'a' || st->overriding != 0)
		return true;
	sql_bind_fail(b, 0, "428C9", "cannot insert a non-DEFAULT value into column \"%s\"", col->name);
	snprintf(b->err->detail, sizeof b->err->detail,
	    "Column \"%s\" is an identity column defined as GENERATED ALWAYS.", col->name);
	snprintf(b->err->hint, sizeof b->err->hint, "Use OVERRIDING SYSTEM VALUE to override.");
	return false;
}

static bool
value_count(struct bind *b, const struct ast_stmt *st, unsigned have, unsigned want, int position)
{
	if (have > want)
		return sql_bind_fail(b, position, "42601", "INSERT has more expressions than target columns");
	if (have < want && st->nnames)
		return sql_bind_fail(b, position, "42601", "INSERT has more target columns than expressions");
	return true;
}

struct sql_expr *
sql_bind_assigned(struct bind *b, struct sql_expr *x, unsigned c, int position)
{
	const struct cat_column *col = &b->plan->tab->column[c];
	sql_bind_fix_param_as(b, x, col->type, col->typmod, col->domain);
	if (x == NULL)
		return NULL;
	enum cat_type is = x->type;
	uint32_t of = x->domain;
	struct sql_expr *e = sql_expr_assign(b->a, x, col->type, col->typmod, col->name, position, b->err);
	sql_bind_learn(b, x);
	if (e == NULL && col->domain != 0 && strcmp(b->err->sqlstate, "42804") == 0)
		sql_bind_not_assigned(b, col, is);
	if (e == NULL && b->err->position == 0)
		b->err->position = position;
	return e == NULL || col->domain == 0 || of == col->domain ? e : sql_bind_in_domain(b, e, col->domain);
}

bool
sql_bind_set_columns(struct bind *b, const struct ast_target *set, unsigned n, struct sql_sets *out)
{
	const struct cat_table *tab = b->plan->tab;
	out->sets = n;
	out->set = sql_bind_take(b, n * sizeof *out->set);
	out->value = sql_bind_take(b, n * sizeof *out->value);
	if (out->set == NULL || out->value == NULL)
		return false;
	for (unsigned i = 0; i < n; i++) {
		unsigned c;
		if (sql_system_column(set[i].name))
			return sql_bind_fail(b, set[i].position, "0A000",
			    "cannot assign to system column \"%s\"", set[i].name);
		if (!column_of(b, set[i].name, set[i].position, &c))
			return false;
		for (unsigned k = 0; k < i; k++)
			if (out->set[k] == c)
				return sql_bind_fail(b, set[i].position, "42601",
				    "multiple assignments to same column \"%s\"", set[i].name);
		out->set[i] = (uint16_t)c;
		for (unsigned k = 0; k < tab->keys; k++)
			if (tab->key[k] == c)
				out->key = cat_is_hashed(tab);
	}
	return true;
}

/* SET a = x, ...: the columns, and what they become. */
static bool
sets_of(struct bind *b, const struct ast_target *set, unsigned n, struct sql_sets *out)
{
	if (!sql_bind_set_columns(b, set, n, out))
		return false;
	b->agg.not_in = "UPDATE";
	for (unsigned i = 0; i < n; i++) {
		if (set[i].e->kind != AST_DEFAULT && b->plan->tab->column[out->set[i]].identity == 'a') {
			const char *name = b->plan->tab->column[out->set[i]].name;
			sql_bind_fail(b, 0, "428C9", "column \"%s\" can only be updated to DEFAULT", name);
			snprintf(b->err->detail, sizeof b->err->detail,
			    "Column \"%s\" is an identity column defined as GENERATED ALWAYS.", name);
			return false;
		}
		if (set[i].e->kind == AST_DEFAULT)
			out->value[i] = b->plan->rules ? b->plan->rules->dflt[out->set[i]] : NULL;
		else if ((out->value[i] = sql_bind_expr(b, set[i].e)) == NULL)
			return false;
	}
	for (unsigned i = 0; i < n; i++) {
		int at = set[i].e->position;
		if (set[i].e->kind != AST_DEFAULT &&
		    (out->value[i] = sql_bind_assigned(b, out->value[i], out->set[i], at)) == NULL)
			return false;
	}
	return true;
}

/* WHERE in one piece; what it consists of is in b->where. */
static bool
condition(struct bind *b, const struct ast_expr *where, struct sql_expr **out)
{
	b->agg.not_in = "WHERE";
	if (where != NULL && !sql_bind_conds(b, where))
		return false;
	struct sql_expr **e = sql_bind_take(b, (b->where.conds + 1) * sizeof *e);
	if (e == NULL)
		return false;
	for (unsigned i = 0; i < b->where.conds; i++)
		e[i] = b->where.cond[i].e;
	if (b->where.conds > 0)
		*out = b->where.conds == 1
			   ? e[0]
			   : sql_expr_make(b->a, SQL_AND, e, b->where.conds, false, 0, b->err);
	return b->where.conds == 0 || *out != NULL;
}

/* True if these columns, in any order, are just the ones that ON CONFLICT names. */
static bool
names_all(const struct cat_table *tab, const struct ast_conflict *q, const uint16_t *key, unsigned keys)
{
	bool same = keys > 0;
	for (unsigned i = 0; same && i < q->names; i++) {
		same = false;
		for (unsigned k = 0; k < keys && !same; k++)
			same = strcmp(q->name[i], tab->column[key[k]].name) == 0;
	}
	for (unsigned k = 0; same && k < keys; k++) {
		same = false;
		for (unsigned i = 0; i < q->names && !same; i++)
			same = strcmp(q->name[i], tab->column[key[k]].name) == 0;
	}
	return same;
}

/* What ON CONFLICT is about: the constraint or the columns it names, or all there are. */
static bool
arbiter(struct bind *b, const struct ast_conflict *q, struct sql_conflict *to)
{
	const struct cat_table *tab = b->plan->tab;
	char name[CAT_NAME_MAX + 8];
	bool any = q->constraint == NULL && q->names == 0;
	for (unsigned i = 0; i < q->names; i++) {
		unsigned c = 0;
		if (!sql_bind_find_column(b, NULL, q->name[i], q->position, &(unsigned){ 0 }, &c)) {
			sql_guess_in_table(tab, q->name[i], b->err);
			return false;
		}
	}
	if (tab->keys > 0 &&
	    (any || (q->constraint != NULL ? strcmp(cat_key_name(tab, name), q->constraint) == 0
					   : names_all(tab, q, tab->key, tab->keys))))
		to->arbiter[to->arbiters++] = sql_primary_key(tab);
	for (unsigned i = 0; i < tab->indexes && (to->arbiters == 0 || any || q->names > 0); i++) {
		const struct cat_index *ix = &tab->index[i];
		uint16_t key[CAT_KEY_MAX];
		for (unsigned k = 0; k < ix->keys; k++)
			key[k] = ix->key[k].column;
		if (ix->unique && ix->valid && !ix->primary &&
		    (any || (q->constraint != NULL ? ix->constraint && strcmp(ix->name, q->constraint) == 0
						   : names_all(tab, q, key, ix->keys))))
			to->arbiter[to->arbiters++] = (int)i;
	}
	if (to->arbiters > 0 || any)
		return true;
	if (q->constraint != NULL)
		return sql_bind_fail(b, 0, "42704", "constraint \"%s\" for table \"%s\" does not exist",
		    q->constraint, cat_local(tab->path));
	return sql_bind_fail(b, 0, "42P10",
	    "there is no unique or exclusion constraint matching the ON CONFLICT specification");
}

/* Both rows side by side: the one that is there, then the one that was to be inserted. */
static bool
conflict(struct bind *b, const struct ast_stmt *st)
{
	const struct ast_conflict *q = st->conflict;
	struct sql_conflict *to;
	if (q == NULL)
		return true;
	b->from.lo = 0;
	b->from.hi = 1;
	if ((to = sql_bind_take(b, sizeof *to)) == NULL || !arbiter(b, q, to))
		return false;
	b->plan->conflict = to;
	if (!(to->update = q->update))
		return true;
	struct ast_table *excluded = sql_bind_take(b, sizeof *excluded);
	if (excluded == NULL)
		return false;
	*excluded = st->table;
	excluded->alias = "excluded";
	excluded->schema = true;
	if (!sql_bind_add_table(b, excluded))
		return false;
	b->from.hi = 2;
	bool ok = sets_of(b, q->set, q->sets, &to->sets) && condition(b, q->where, &to->where);
	b->from.hi = 1;
	return ok;
}

/* Row r of VALUES. All expressions come before the first is given its column's type. */
static bool
row_of(struct bind *b, const struct ast_stmt *st, unsigned r, const uint16_t *map, struct sql_expr **value)
{
	const struct ast_select *q = st->select;
	struct ast_expr *const *e = q->values + (size_t)r * q->cols;
	struct sql_expr **x = sql_bind_take(b, (q->cols + 1) * sizeof *x);
	if (x == NULL)
		return false;
	for (unsigned i = 0; i < q->cols; i++) {
		bool dflt = e[i]->kind == AST_DEFAULT;
		if (!dflt && !identity(b, st, map[i], &dflt))
			return false;
		if (!dflt && (x[i] = sql_bind_expr(b, e[i])) == NULL)
			return false;
	}
	for (unsigned i = 0; i < q->cols; i++)
		if (x[i] != NULL &&
		    (value[map[i]] = sql_bind_assigned(b, x[i], map[i], e[i]->position)) == NULL)
			return false;
	return true;
}

bool
sql_bind_insert(struct bind *b, const struct ast_stmt *st)
{
	struct sql_plan *p = b->plan;
	if (!sql_bind_target(b, &st->table) || !sql_bind_rules(b, p->tab, &p->rules))
		return false;
	unsigned n;
	uint16_t *map = targets(b, st, &n);
	if (map == NULL)
		return false;
	const struct ast_select *q = st->select;
	unsigned columns = p->tab->columns;
	b->agg.not_in = "VALUES";
	if (q->rows > 0 && q->orders == 0 && q->limit == NULL && q->offset == NULL) {
		if (!value_count(b, st, q->cols, n, q->cols ? q->values[q->cols > n ? n : 0]->position : 0))
			return false;
		p->rows = q->rows;
		p->value = sql_bind_take(b, (size_t)p->rows * columns * sizeof *p->value);
		if (p->value == NULL)
			return false;
		b->from.hi = 0; /* values see no columns */
		for (unsigned r = 0; p->rules != NULL && r < q->rows; r++)
			memcpy(p->value + (size_t)r * columns, p->rules->dflt, columns * sizeof *p->value);
		for (unsigned r = 0; r < q->rows; r++)
			if (!row_of(b, st, r, map, p->value + (size_t)r * columns))
				return false;
		b->from.hi = 1;
		return conflict(b, st) && sql_bind_returning(b, st);
	}
	/* INSERT ... SELECT: a query of its own, and one row of expressions over its answer */
	struct bind *sub = sql_bind_child(b, 0);
	if (sub == NULL)
		return false;
	sub->answer.into = p->tab;
	sub->answer.into_map = map;
	sub->answer.into_maps = n;
	if ((p->root = sql_bind_select(sub, q, false)) == NULL)
		return false;
	unsigned cols = p->columns;
	if (!value_count(b, st, cols, n, 0))
		return false;
	p->value = sql_bind_take(b, columns * sizeof *p->value);
	if (p->value == NULL)
		return false;
	if (p->rules != NULL)
		memcpy(p->value, p->rules->dflt, columns * sizeof *p->value);
	for (unsigned i = 0; i < cols; i++) {
		bool dflt;
		if (!identity(b, st, map[i], &dflt))
			return false;
		if (dflt)
			continue;
		struct sql_expr *x = sql_expr_column(b->a, i, p->column[i].type, p->column[i].typmod, 0);
		if (x != NULL)
			x->domain = p->column[i].domain;
		if (x == NULL || (x = sql_bind_assigned(b, x, map[i], 0)) == NULL)
			return false;
		p->value[map[i]] = x;
	}
	p->rows = 1;
	p->columns = 0;
	p->column = NULL;
	return conflict(b, st) && sql_bind_returning(b, st);
}

bool
sql_bind_where_first(struct bind *b, const struct ast_stmt *st, bool set)
{
	struct cat_err keep = *b->err;
	*b->err = (struct cat_err){ 0 };
	struct sql_expr *where;
	if (condition(b, st->where, &where) && (!set || sql_bind_returning(b, st)))
		*b->err = keep;
	return false;
}

/* The rows that an UPDATE or DELETE means, by the condition that is bound. */
static bool
victims(struct bind *b, bool all_columns)
{
	if (all_columns)
		memset(b->from.table[0]->used, 1, b->plan->tab->columns);
	if ((b->plan->root = sql_plan_from(b)) == NULL)
		return false;
	struct sql_access *a = sql_node_access(b->plan->root);
	if (a != NULL) /* else WHERE is true of no row */
		a->identify = true;
	return true;
}

bool
sql_bind_update(struct bind *b, const struct ast_stmt *st)
{
	if (st->from != NULL)
		return sql_bind_dml_from(b, st);
	/* SET comes last: so PostgreSQL gives types to parameters */
	return sql_bind_target(b, &st->table) && sql_bind_rules(b, b->plan->tab, &b->plan->rules) &&
	       condition(b, st->where, &b->plan->recheck) && sql_bind_returning(b, st) &&
	       sets_of(b, st->set, st->sets, &b->plan->sets) && victims(b, true);
}

bool
sql_bind_delete(struct bind *b, const struct ast_stmt *st)
{
	if (st->from != NULL)
		return sql_bind_dml_from(b, st);
	return sql_bind_target(b, &st->table) && condition(b, st->where, &b->plan->recheck) &&
	       sql_bind_returning(b, st) && victims(b, false);
}
