/* names.c -- what the columns of queries are called that are not bound yet. */
#include <catalog/catalog.h>
#include <sql/plan/bind/scope.h>
#include <sql/system/system.h>

#include <stdio.h>

/* Queries in each other whose names are asked for. */
enum { DEEP_MAX = 150 };

void *
sql_bind_passing(struct bind *b, size_t n)
{
	void *p = nam_arena_zero(b->scratch ? b->scratch : b->a, n ? n : 1);
	if (p == NULL)
		cat_error(b->err, "53200", "out of memory");
	return p;
}

static bool
put(struct bind *b, struct bind_names *to, const char *name)
{
	b->nest.nodes++;
	if (to->n == to->cap) {
		unsigned cap = to->cap ? to->cap * 2 : 8;
		const char **more = sql_bind_passing(b, cap * sizeof *more);
		if (more == NULL)
			return false;
		if (to->n > 0)
			memcpy(more, to->name, to->n * sizeof *more);
		to->name = more;
		to->cap = cap;
	}
	to->name[to->n++] = name;
	return true;
}

static bool
put_all(struct bind *b, struct bind_names *to, const struct bind_names *from)
{
	for (unsigned i = 0; i < from->n; i++)
		if (!put(b, to, from->name[i]))
			return false;
	return true;
}

static bool
put_columns(struct bind *b, struct bind_names *to, const struct sql_column *column, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (!put(b, to, column[i].name))
			return false;
	return true;
}

/* ---- items of FROM -------------------------------------------------------------------- */

static bool
of_function(struct bind *b, const struct ast_table *t, struct bind_names *out)
{
	const struct sql_set_function *f = sql_set_function(t->func->text);
	unsigned own =
	    f == NULL || f->array != NULL || strcmp(t->func->text, "unnest") != 0 ? 1 : t->func->nargs;
	for (unsigned k = 0; k < own; k++) {
		bool alias = own == 1 && strcmp(t->alias, t->name) != 0;
		if (!put(b, out, f != NULL && f->column ? f->column : alias ? t->alias : t->func->text))
			return false;
	}
	return !t->ordinality || put(b, out, "ordinality");
}

/* The first `renames` names are others. */
static void
rename_(struct bind_names *to, const char *const *rename, unsigned renames)
{
	for (unsigned i = 0; i < renames && i < to->n; i++)
		to->name[i] = rename[i];
}

/* A name of WITH in queries that are not bound. True if it is one. */
static bool
of_scopes(const struct bind_seen *at, const struct ast_table *t, struct bind_names *out, bool *ok)
{
	for (const struct bind_scope *s = at->in; s != NULL; s = s->out) {
		const struct ast_with *w = s->q->with;
		for (unsigned k = s->ctes; k-- > 0;) {
			const struct ast_cte *c = &w->cte[k];
			if (strcmp(c->name, t->name) != 0)
				continue;
			struct bind_scope inside = *s;
			inside.lo = inside.hi = 0;
			inside.ctes = w->recursive ? w->n : k;
			struct bind_seen there = *at;
			there.in = &inside;
			there.deep++;
			*ok = c->q == NULL || put_all(at->b, out, sql_bind_query_names(&there, c->q));
			rename_(out, c->rename, c->renames);
			return true;
		}
	}
	return false;
}

/* A name of WITH in the binder's query, or around it. */
static bool
of_binders(const struct bind_seen *at, const struct ast_table *t, struct bind_names *out, bool *ok)
{
	const struct bind_cte *c = at->cte;
	while (c != NULL && strcmp(c->name, t->name) != 0)
		c = c->next;
	if (c == NULL)
		return false;
	if (c->later == NULL) {
		*ok = put_columns(at->b, out, c->column, c->column ? c->columns : 0);
		return true;
	}
	struct bind_seen there = { .b = at->b, .cte = c->next, .deep = at->deep + 1 };
	*ok = put_all(at->b, out, sql_bind_query_names(&there, c->later->q));
	rename_(out, c->later->rename, c->later->renames);
	return true;
}

/* A relation that the catalog does not have: its columns are those of an item that no query
 * uses. */
static bool
of_other(struct bind *b, const struct ast_table *t, struct bind_names *out)
{
	const struct sql_relation *is =
	    sql_relation_find(t->information ? SQL_IN_INFORMATION : SQL_IN_CATALOG, t->name);
	if (is != NULL) {
		struct sql_column *column;
		unsigned n;
		return sql_relation_columns(is, &column, &n, b->a, b->err) && put_columns(b, out, column, n);
	}
	struct bind *alone = sql_bind_child(b, t->position);
	if (alone == NULL)
		return false;
	alone->nest.cte = NULL;
	if (!sql_bind_add_table(alone, t) || alone->from.tables == 0)
		return false;
	const struct cat_table *tab = alone->from.table[alone->from.tables - 1]->tab;
	for (unsigned c = 0; c < tab->columns; c++)
		if (!put(b, out, tab->column[c].name))
			return false;
	return true;
}

static bool
of_relation(const struct bind_seen *at, const struct ast_table *t, struct bind_names *out)
{
	struct bind *b = at->b;
	bool ok;
	if (!t->schema && (of_scopes(at, t, out, &ok) || of_binders(at, t, out, &ok)))
		return ok;
	const struct cat_table *tab = NULL;
	struct cat_err keep = *b->err;
	if (sql_bind_lookup(b, t, &tab) && tab != NULL && !t->system) {
		for (unsigned c = 0; c < tab->columns; c++)
			if (!put(b, out, tab->column[c].name))
				return false;
	} else {
		of_other(b, t, out); /* what is wrong with it, its binder says */
	}
	*b->err = keep;
	return true;
}

/* Item k of the innermost query there. */
static bool
of_item(const struct bind_seen *at, unsigned k, struct bind_names *out)
{
	const struct ast_table *t = &at->in->q->table[k];
	struct bind_names own = { 0 };
	struct bind_scope here = *at->in;
	here.lo = 0;
	here.hi = t->lateral ? k : 0;
	struct bind_seen inside = *at;
	inside.in = &here;
	inside.deep++;
	bool ok = t->sub    ? put_all(at->b, &own, sql_bind_query_names(&inside, t->sub))
		  : t->func ? of_function(at->b, t, &own)
			    : of_relation(at, t, &own);
	if (!ok)
		return false;
	rename_(&own, t->rename, t->renames);
	return put_all(at->b, out, &own);
}

static bool
is_in(const struct bind_names *names, const char *name)
{
	for (unsigned i = 0; i < names->n; i++)
		if (strcmp(names->name[i], name) == 0)
			return true;
	return false;
}

/* The names of one side of a join that it did not merge: each merged name is gone once. */
static bool
put_rest(
    struct bind *b, struct bind_names *out, const struct bind_names *side, const struct bind_names *merged)
{
	for (unsigned i = 0; i < side->n; i++) {
		bool gone = is_in(merged, side->name[i]);
		for (unsigned k = 0; gone && k < i; k++)
			gone = strcmp(side->name[k], side->name[i]) != 0;
		if (!gone && !put(b, out, side->name[i]))
			return false;
	}
	return true;
}

bool
sql_bind_star_names(
    const struct bind_seen *at, unsigned first, unsigned last, unsigned joins, struct bind_names *out)
{
	const struct bind_scope *s = at->in;
	if (first == last)
		return of_item(at, first, out);
	const struct ast_join *j = NULL;
	for (unsigned k = 0; k < joins && j == NULL; k++)
		if (s->q->join[k].first == first && s->q->join[k].last == last)
			j = &s->q->join[k];
	if (j == NULL)
		return true;
	struct bind_names left = { 0 }, right = { 0 }, merged = { 0 }, all = { 0 };
	if (!sql_bind_star_names(at, first, j->mid - 1, joins, &left) ||
	    !sql_bind_star_names(at, j->mid, last, joins, &right))
		return false;
	for (unsigned k = 0; k < j->usings; k++)
		if (!put(at->b, &merged, j->using_[k]))
			return false;
	for (unsigned k = 0; j->natural && k < left.n; k++)
		if (is_in(&right, left.name[k]) && !put(at->b, &merged, left.name[k]))
			return false;
	if (!put_all(at->b, &all, &merged) || !put_rest(at->b, &all, &left, &merged) ||
	    !put_rest(at->b, &all, &right, &merged))
		return false;
	rename_(&all, j->rename, j->renames);
	return put_all(at->b, out, &all);
}

unsigned
sql_bind_unit(const struct bind_scope *s, unsigned k)
{
	unsigned last = k;
	for (unsigned j = 0; j < s->joins; j++)
		if (s->q->join[j].first == k && s->q->join[j].last > last && s->q->join[j].last < s->hi)
			last = s->q->join[j].last;
	return last;
}

/* True if items first..last are inside of a join with an alias, other than `but`. */
static bool
is_hidden(const struct bind_scope *s, unsigned first, unsigned last, const struct ast_join *but)
{
	for (unsigned k = 0; k < s->joins; k++) {
		const struct ast_join *j = &s->q->join[k];
		if (j != but && j->alias != NULL && j->first <= first && j->last >= last && j->last < s->hi &&
		    (but == NULL || j->first != first || j->last != last || j > but))
			return true;
	}
	return false;
}

static bool
in_schema(struct bind *b, const struct ast_table *t, const char *schema)
{
	char its[CAT_NAME_MAX + 1];
	const struct cat_table *tab = NULL;
	if (schema == NULL || t->sub != NULL || t->func != NULL || t->alias != t->name)
		return schema == NULL;
	if (t->in != NULL)
		return strcmp(t->in, schema) == 0;
	struct cat_err keep = *b->err;
	bool found = sql_bind_lookup(b, t, &tab) && tab != NULL;
	*b->err = keep;
	if (found)
		cat_schema_of(tab->path, its);
	return found && strcmp(its, schema) == 0;
}

bool
sql_bind_named_item(const struct bind_seen *at, const char *schema, const char *name, unsigned *first,
    unsigned *last, const struct ast_join **using_)
{
	const struct bind_scope *s = at->in;
	*using_ = NULL;
	for (unsigned k = s->lo; k < s->hi; k++) {
		const struct ast_table *t = &s->q->table[k];
		if (strcmp(t->alias, name) != 0 || is_hidden(s, k, k, NULL) || !in_schema(at->b, t, schema))
			continue;
		*first = *last = k;
		return true;
	}
	for (unsigned k = 0; k < s->joins && schema == NULL; k++) {
		const struct ast_join *j = &s->q->join[k];
		bool own = j->alias != NULL && strcmp(j->alias, name) == 0;
		bool of_using = !own && j->using_alias != NULL && strcmp(j->using_alias, name) == 0;
		if ((!own && !of_using) || j->first < s->lo || j->last >= s->hi ||
		    is_hidden(s, j->first, j->last, own ? j : NULL))
			continue;
		*first = j->first;
		*last = j->last;
		*using_ = of_using ? j : NULL;
		return true;
	}
	return false;
}

/* ---- select lists --------------------------------------------------------------------- */

/* name.* of a query around the place: the nearest that has an item of that name. */
static bool
of_named(const struct bind_seen *at, const struct ast_expr *star, struct bind_names *out)
{
	struct bind *b = at->b;
	struct bind_seen there = *at;
	for (; there.in != NULL; there.in = there.in->out) {
		unsigned first, last;
		const struct ast_join *using_;
		if (!sql_bind_named_item(&there, star->schema, star->qual, &first, &last, &using_))
			continue;
		for (unsigned k = 0; using_ != NULL && k < using_->usings; k++)
			if (!put(b, out, using_->using_[k]))
				return false;
		return using_ != NULL || sql_bind_star_names(&there, first, last, there.in->joins, out);
	}
	for (const struct bind *x = b; x != NULL; x = x->around.up)
		for (unsigned k = x->from.lo; k < x->from.hi; k++) {
			const struct bind_table *t = x->from.table[k];
			if (t->within || t->joined || strcmp(t->alias, star->qual) != 0)
				continue;
			for (unsigned c = 0; c < t->tab->columns; c++)
				if (!put(b, out, sql_bind_column_name(t, c)))
					return false;
			return true;
		}
	return true;
}

static bool
of_list(const struct bind_seen *at, const struct ast_select *q, struct bind_names *out)
{
	const struct bind_scope here = { at->in, q, 0, q->tables, q->joins, q->with ? q->with->n : 0 };
	struct bind_seen there = *at;
	there.in = &here;
	if (q->sets > 0)
		return put_all(at->b, out, sql_bind_query_names(&there, q->set[0].q));
	for (unsigned c = 0; q->rows > 0 && c < q->cols; c++) {
		char *text = nam_arena_printf(at->b->a, "column%u", c + 1);
		if (text == NULL || !put(at->b, out, text))
			return false;
	}
	for (unsigned i = 0; i < q->targets; i++) {
		const struct ast_target *t = &q->target[i];
		bool ok = true;
		if (t->e->kind != AST_STAR)
			ok = put(at->b, out, t->name ? t->name : sql_bind_name_at(&there, t->e));
		else if (t->e->qual != NULL)
			ok = of_named(&there, t->e, out);
		else
			for (unsigned k = 0; ok && k < q->tables; k = sql_bind_unit(&here, k) + 1)
				ok = sql_bind_star_names(&there, k, sql_bind_unit(&here, k), q->joins, out);
		if (!ok)
			return false;
	}
	return true;
}

const struct bind_names *
sql_bind_query_names(const struct bind_seen *at, const struct ast_select *q)
{
	static const struct bind_names none;
	struct bind *b = at->b;
	for (const struct bind_named *n = b->plan->names_of; n != NULL; n = n->next)
		if (n->q == q)
			return &n->names; /* of itself while it is looked for: none */
	struct bind_named *n = sql_bind_passing(b, sizeof *n);
	if (n == NULL || at->deep > DEEP_MAX || b->nest.nodes > BIND_NODES_LOOK)
		return &none;
	n->q = q;
	n->next = b->plan->names_of;
	b->plan->names_of = n;
	struct bind_seen deeper = *at;
	deeper.deep++;
	struct bind_names names = { 0 };
	n->done = of_list(&deeper, q, &names);
	if (n->done)
		n->names = names;
	return &n->names;
}

/* ---- expressions ---------------------------------------------------------------------- */

/* strength 2: a name of its own; 1: what stands in for one; 0: none. A cast and a CASE give way to
 * a 2 inside of them. at NULL: subqueries have no names. */
static const char *
name_in(const struct bind_seen *at, const struct ast_expr *e, int *strength)
{
	const char *inner;
	*strength = 2;
	switch (e->kind) {
	case AST_FUNC:
		return e->qual ? e->qual : e->text;
	case AST_COLUMN:
	case AST_WINDOW:
		return e->text;
	case AST_CASE:
		if (e->text != NULL) {
			*strength = *e->text == '?' ? 0 : 2; /* IS DISTINCT FROM */
			return e->text;
		}
		inner = name_in(at, e->args[e->nargs - 1], strength);
		if (*strength == 2)
			return inner;
		*strength = 1;
		return "case";
	case AST_COALESCE:
		*strength = e->text && *e->text == '?' ? 0 : 2; /* IS TRUE */
		return e->text ? e->text : "coalesce";
	case AST_ARRAY:
		return "array";
	case AST_COLLATE:
	case AST_INDEX:
		return name_in(at, e->args[0], strength);
	case AST_SUB:
		if (e->sub == AST_SUB_EXISTS)
			return "exists";
		if (e->sub == AST_SUB_ARRAY)
			return "array";
		if (e->sub == AST_SUB_SCALAR && at != NULL) {
			const struct bind_names *of = sql_bind_query_names(at, e->select);
			if (of->n > 0)
				return of->name[0];
		}
		*strength = 0;
		return "?column?";
	case AST_CAST:
		inner = name_in(at, e->args[0], strength);
		if (*strength == 2)
			return inner;
		*strength = 1;
		return e->text ? e->text : cat_type_word(e->type);
	default:
		*strength = 0;
		return "?column?";
	}
}

const char *
sql_bind_name_at(const struct bind_seen *at, const struct ast_expr *e)
{
	int strength;
	return name_in(at, e, &strength);
}

const char *
sql_bind_name_of(struct bind *b, const struct ast_expr *e)
{
	const struct bind_seen at = { .b = b, .cte = b->nest.cte };
	return sql_bind_name_at(&at, e);
}
