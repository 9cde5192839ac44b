/*
 * dml_from.c -- UPDATE ... FROM and DELETE ... USING: a query that finds the rows to change and
 * their new values.
 *
 * The query is SELECT key, new values, columns of RETURNING FROM list, target WHERE
 * ..., so joins are planned as everywhere. The batch that the change itself works
 * on is wide: the target's columns, those of the list's tables, then the new values.
 */
#include <sql/plan/bind/bind.h>

#include <stdio.h>

/* What the query answers: target columns, and where each goes in the wide batch. */
struct query {
	struct ast_select q;
	unsigned cap;
	uint16_t *into;
	unsigned *wide;
};

static bool
ask_for(struct bind *b, struct query *k, struct ast_expr *e, unsigned into, unsigned wide)
{
	if (e == NULL)
		return false;
	if (k->q.targets == CAT_COLUMNS_MAX)
		return sql_bind_fail(
		    b, e->position, "54011", "target lists can have at most %d entries", CAT_COLUMNS_MAX);
	k->into[k->q.targets] = (uint16_t)into;
	k->wide[k->q.targets] = wide;
	k->q.target[k->q.targets++] =
	    (struct ast_target){ .e = e, .name = "?column?", .position = e->position };
	return true;
}

static struct ast_expr *
column(struct bind *b, unsigned table, unsigned c)
{
	struct ast_expr *e = sql_bind_take(b, sizeof *e);
	if (e != NULL)
		*e = (struct ast_expr){ .kind = AST_COLUMN,
			.typmod = -1,
			.qual = b->from.table[table]->alias,
			.text = sql_bind_column_name(b->from.table[table], c) };
	return e;
}

static bool
set_columns(struct bind *b, const struct ast_stmt *st, struct query *k)
{
	struct sql_sets *s = &b->plan->sets;
	if (!sql_bind_set_columns(b, st->set, st->sets, s))
		return false;
	for (unsigned i = 0; i < st->sets; i++) {
		if (st->set[i].e->kind == AST_DEFAULT) {
			s->value[i] = b->plan->rules ? b->plan->rules->dflt[s->set[i]] : NULL;
			continue;
		}
		if (sql_bind_has_agg(b, st->set[i].e)) {
			b->agg.not_in = "UPDATE";
			if (sql_bind_expr(b, st->set[i].e) != NULL)
				sql_bind_fail(b, st->set[i].e->position, "42803",
				    "aggregate functions are not allowed in UPDATE");
			return sql_bind_where_first(b, st, true);
		}
		if (!ask_for(b, k, st->set[i].e, s->set[i], b->from.width + i))
			return false;
	}
	return true;
}

static bool
answers(struct bind *b, struct query *k, unsigned assigned, struct sql_from *f)
{
	struct sql_plan *p = b->plan;
	struct bind *sub = sql_bind_child(b, 0);
	if (sub == NULL)
		return false;
	sub->answer.where_first = true;
	sub->answer.into = p->tab;
	sub->answer.into_map = k->into;
	sub->answer.into_maps = assigned;
	if ((p->root = sql_bind_child_select(b, sub, &k->q)) == NULL)
		return false;
	f->cols = k->q.targets;
	f->wide = k->wide;
	f->type = sql_bind_take(b, f->cols * sizeof *f->type);
	if (f->type == NULL)
		return false;
	struct sql_sets *s = &p->sets;
	for (unsigned i = 0; i < f->cols; i++) {
		f->type[i] = sub->answer.column[i].type;
		if (k->wide[i] < b->from.width)
			continue;
		unsigned set = k->wide[i] - b->from.width;
		struct sql_expr *e = sql_expr_column(
		    b->a, k->wide[i], sub->answer.column[i].type, sub->answer.column[i].typmod, 0);
		if (e == NULL ||
		    (s->value[set] = sql_bind_assigned(b, e, s->set[set], k->q.target[i].position)) == NULL)
			return false;
	}
	return true;
}

bool
sql_bind_dml_from(struct bind *b, const struct ast_stmt *st)
{
	struct sql_plan *p = b->plan;
	struct sql_from *f = sql_bind_take(b, sizeof *f);
	struct query k = { .q = *st->from };
	if (f == NULL || !sql_bind_target(b, &st->table) ||
	    (st->kind == AST_UPDATE && !sql_bind_rules(b, p->tab, &p->rules)))
		return false;
	if (p->tab->keys == 0)
		return sql_bind_fail(b, st->table.position, "0A000",
		    "%s on a table without a primary key is not supported yet",
		    st->kind == AST_UPDATE ? "UPDATE ... FROM" : "DELETE ... USING");
	for (unsigned i = 0; i < st->from->tables; i++)
		if (!sql_bind_add_table(b, &st->from->table[i]))
			return false;
	for (unsigned c = 0; c < p->tab->columns; c++)
		if (b->from.table[0]->used[c]) {
			snprintf(b->err->hint, sizeof b->err->hint,
			    "There is an entry for table \"%s\", but it cannot be referenced from this part "
			    "of the query.",
			    b->from.table[0]->alias);
			return sql_bind_fail(b, st->table.position, "42P10",
			    "invalid reference to FROM-clause entry for table \"%s\"",
			    b->from.table[0]->alias);
		}
	b->from.hi = b->from.tables;
	if (!sql_bind_returning(b, st))
		return sql_bind_where_first(b, st, false);
	/* The target comes last: so the list's joins stay where they are, and do not see it. */
	k.q.table = sql_bind_take(b, b->from.tables * sizeof *k.q.table);
	k.cap = p->tab->keys + st->sets + b->from.width;
	k.q.target = sql_bind_take(b, k.cap * sizeof *k.q.target);
	k.into = sql_bind_take(b, k.cap * sizeof *k.into);
	k.wide = sql_bind_take(b, k.cap * sizeof *k.wide);
	if (k.q.table == NULL || k.q.target == NULL || k.into == NULL || k.wide == NULL)
		return false;
	memcpy(k.q.table, st->from->table, st->from->tables * sizeof *k.q.table);
	k.q.table[k.q.tables++] = st->table;
	k.q.where = st->where;
	for (unsigned i = 0; i < p->tab->keys; i++)
		if (!ask_for(b, &k, column(b, 0, p->tab->key[i]), p->tab->key[i], p->tab->key[i]))
			return false;
	if (!set_columns(b, st, &k))
		return false;
	unsigned assigned = k.q.targets;
	for (unsigned t = 1; t < b->from.tables; t++)
		for (unsigned c = 0; c < b->from.table[t]->tab->columns; c++)
			if (b->from.table[t]->used[c] &&
			    !ask_for(b, &k, column(b, t, c), 0, b->from.table[t]->base + c))
				return false;
	f->width = b->from.width + st->sets;
	p->from = f;
	return answers(b, &k, assigned, f);
}
