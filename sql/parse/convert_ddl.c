/* convert_ddl.c -- CREATE TABLE and DROP TABLE to sql's tree. */
#include <sql/parse/convert.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

/* WITH of a PRIMARY KEY: namdb's own parameter, and those of PostgreSQL's btree. */
static bool key_options(struct sql_convert *c, PgQuery__Node *const *list, size_t n, struct ast_stmt *st);

static bool
key(struct sql_convert *c, const PgQuery__Constraint *k, struct ast_stmt *st, const char *only)
{
	if (st->has_key) {
		cat_error(c->err, "42P16", "multiple primary keys for table \"%.63s\" are not allowed",
		    st->table.name);
		c->err->position = k->location + 1;
		return false;
	}
	if (k->deferrable)
		return sql_convert_no(c, "DEFERRABLE constraints are", k->location);
	if (k->conname != NULL && k->conname[0] && (st->key_name = sql_convert_str(c, k->conname)) == NULL)
		return false;
	if (k->n_including > 0)
		return sql_convert_no(c, "INCLUDE in a primary key is", k->location);
	if (!key_options(c, k->options, k->n_options, st))
		return false;
	st->has_key = true;
	st->nnames = only ? 1 : (unsigned)k->n_keys;
	st->names = sql_convert_take(c, st->nnames * sizeof *st->names);
	if (st->names == NULL)
		return false;
	for (unsigned i = 0; i < st->nnames; i++)
		if ((st->names[i] = only ? only : sql_convert_str(c, sql_convert_word(k->keys[i]))) == NULL)
			return false;
	return true;
}

bool
sql_convert_check(
    struct sql_convert *c, const PgQuery__Constraint *k, struct ast_stmt *st, const char *column)
{
	if (st->checks == st->check_cap) {
		unsigned cap = st->check_cap ? st->check_cap * 2 : 8;
		struct ast_check *more = sql_convert_take(c, cap * sizeof *more);
		if (more == NULL)
			return false;
		if (st->checks > 0)
			memcpy(more, st->check, st->checks * sizeof *more);
		st->check = more;
		st->check_cap = cap;
	}
	struct ast_check *to = &st->check[st->checks];
	*to = (struct ast_check){ .column = column, .position = k->location + 1 };
	if (k->conname != NULL && k->conname[0] && (to->name = sql_convert_str(c, k->conname)) == NULL)
		return false;
	if ((to->e = sql_convert_expr(c, k->raw_expr)) == NULL ||
	    (to->text = sql_convert_text(c, k->raw_expr)) == NULL)
		return false;
	st->checks++;
	return true;
}

static bool
dflt(struct sql_convert *c, const PgQuery__Constraint *k, struct ast_stmt *st, struct ast_column *col)
{
	if (col->dflt != NULL) {
		cat_error(c->err, "42601",
		    "multiple default values specified for column \"%.63s\" of table \"%.63s\"", col->name,
		    st->table.name);
		c->err->position = k->location + 1;
		return false;
	}
	return (col->dflt = sql_convert_expr(c, k->raw_expr)) != NULL &&
	       (col->dflt_text = sql_convert_text(c, k->raw_expr)) != NULL;
}

static bool
whole(struct sql_convert *c, const PgQuery__DefElem *d, int64_t *out)
{
	const PgQuery__Node *n = d->arg;
	if (n != NULL && n->node_case == PG_QUERY__NODE__NODE_INTEGER) {
		*out = n->integer->ival;
		return true;
	}
	if (n != NULL && n->node_case == PG_QUERY__NODE__NODE_FLOAT) {
		union cat_val v;
		struct cat_str s = { n->float_->fval, (uint32_t)strlen(n->float_->fval) };
		if (!cat_value_in(CAT_INT8, -1, s, &v, c->arena, c->err))
			return false;
		*out = v.i;
		return true;
	}
	return cat_error(c->err, "42601", "%.63s requires a numeric value", d->defname);
}

static bool
sequence(struct sql_convert *c, PgQuery__Node *const *list, size_t n, struct ast_seq *q)
{
	int32_t typmod;
	struct ast_named named;
	for (size_t i = 0; i < n; i++) {
		const PgQuery__DefElem *d = list[i]->def_elem;
		const char *name = d->defname;
		if (strcmp(name, "as") == 0) {
			if (!sql_convert_type(c, d->arg->type_name, &q->type, &typmod, &named))
				return false;
			if (!cat_type_is_int(q->type))
				return cat_error(
				    c->err, "22023", "sequence type must be smallint, integer, or bigint");
		} else if (strcmp(name, "increment") == 0) {
			if (!whole(c, d, &q->step))
				return false;
			if (q->step == 0)
				return cat_error(c->err, "22023", "INCREMENT must not be zero");
		} else if (strcmp(name, "start") == 0) {
			if (!whole(c, d, &q->start))
				return false;
			q->has_start = true;
		} else if (strcmp(name, "minvalue") == 0) {
			if (d->arg != NULL && !whole(c, d, &q->min))
				return false;
			q->has_min = d->arg != NULL;
		} else if (strcmp(name, "maxvalue") == 0) {
			if (d->arg != NULL && !whole(c, d, &q->max))
				return false;
			q->has_max = d->arg != NULL;
		} else if (strcmp(name, "cache") == 0) {
			if (!whole(c, d, &q->cache))
				return false;
			if (q->cache <= 0)
				return cat_error(c->err, "22023", "CACHE (%lld) must be greater than zero",
				    (long long)q->cache);
		} else if (strcmp(name, "cycle") == 0) {
			q->cycle = d->arg != NULL && d->arg->node_case == PG_QUERY__NODE__NODE_BOOLEAN &&
				   d->arg->boolean->boolval;
		} else if (strcmp(name, "owned_by") == 0 && d->arg != NULL &&
			   d->arg->node_case == PG_QUERY__NODE__NODE_LIST) {
			const PgQuery__List *l = d->arg->list;
			const char *none = l->n_items == 1 ? sql_convert_word(l->items[0]) : NULL;
			if (none != NULL && strcmp(none, "none") == 0)
				continue;
			if (l->n_items == 1) {
				cat_error(c->err, "42601", "invalid OWNED BY option");
				snprintf(c->err->hint, sizeof c->err->hint,
				    "Specify OWNED BY table.column or OWNED BY NONE.");
				return false;
			}
			q->owner = sql_convert_str(c, sql_convert_word(l->items[l->n_items - 2]));
			q->owner_column = sql_convert_str(c, sql_convert_word(l->items[l->n_items - 1]));
			if (l->n_items > 2 && (q->owner_in = sql_convert_str(
						   c, sql_convert_word(l->items[l->n_items - 3]))) == NULL)
				return false;
			if (q->owner == NULL || q->owner_column == NULL)
				return false;
		} else {
			return sql_convert_no(c, "this option of a sequence is", d->location);
		}
	}
	return true;
}

static bool
create_sequence(struct sql_convert *c, const PgQuery__CreateSeqStmt *s, struct ast_stmt *st)
{
	st->kind = AST_CREATE_SEQUENCE;
	st->if_exists = s->if_not_exists;
	return sql_convert_range(c, s->sequence, &st->table) &&
	       (st->seq = sql_convert_take(c, sizeof *st->seq)) != NULL &&
	       sequence(c, s->options, s->n_options, st->seq);
}

static bool
identity(struct sql_convert *c, const PgQuery__Constraint *k, struct ast_stmt *st, struct ast_column *col)
{
	if (col == NULL)
		return sql_convert_no(c, "this kind of constraint is", k->location);
	if (col->identity != 0) {
		cat_error(c->err, "42601",
		    "multiple identity specifications for column \"%.63s\" of table \"%.63s\"", col->name,
		    st->table.name);
		c->err->position = k->location + 1;
		return false;
	}
	if (col->seq != NULL)
		return cat_error(c->err, "42601",
		    "both default and identity specified for column \"%.63s\" of table \"%.63s\"", col->name,
		    st->table.name);
	if (!cat_type_is_int(col->type))
		return cat_error(
		    c->err, "22023", "identity column type must be smallint, integer, or bigint");
	col->identity = k->generated_when[0] == 'a' ? 'a' : 'd';
	col->not_null = true;
	if ((col->seq = sql_convert_take(c, sizeof *col->seq)) == NULL ||
	    !sequence(c, k->options, k->n_options, col->seq))
		return false;
	col->seq->type = col->type;
	return true;
}

/* serial, bigserial: a type with a sequence. */
static bool
serial(struct sql_convert *c, const PgQuery__TypeName *t, struct ast_column *col)
{
	const char *w = t->n_names == 1 ? sql_convert_word(t->names[0]) : NULL;
	if (w == NULL || t->n_array_bounds > 0)
		return true;
	if (strcmp(w, "serial") == 0 || strcmp(w, "serial4") == 0)
		col->type = CAT_INT4;
	else if (strcmp(w, "smallserial") == 0 || strcmp(w, "serial2") == 0)
		col->type = CAT_INT2;
	else if (strcmp(w, "bigserial") == 0 || strcmp(w, "serial8") == 0)
		col->type = CAT_INT8;
	else
		return true;
	col->typmod = -1;
	col->not_null = true;
	if ((col->seq = sql_convert_take(c, sizeof *col->seq)) == NULL)
		return false;
	col->seq->type = col->type;
	return true;
}

static bool
constraint(struct sql_convert *c, const PgQuery__Constraint *k, struct ast_stmt *st, struct ast_column *col)
{
	switch (k->contype) {
	case PG_QUERY__CONSTR_TYPE__CONSTR_PRIMARY:
		return key(c, k, st, col ? col->name : NULL);
	case PG_QUERY__CONSTR_TYPE__CONSTR_NULL:
		if (col == NULL || !col->not_null)
			return true;
		cat_error(c->err, "42601",
		    "conflicting NULL/NOT NULL declarations for column \"%.63s\" of table \"%.63s\"",
		    col->name, st->table.name);
		c->err->position = k->location + 1;
		return false;
	case PG_QUERY__CONSTR_TYPE__CONSTR_NOTNULL:
		if (col != NULL)
			col->not_null = true;
		return true;
	case PG_QUERY__CONSTR_TYPE__CONSTR_DEFAULT:
		return col ? dflt(c, k, st, col)
			   : sql_convert_no(c, "this kind of constraint is", k->location);
	case PG_QUERY__CONSTR_TYPE__CONSTR_UNIQUE:
		return sql_convert_unique(c, k, st, col ? col->name : NULL);
	case PG_QUERY__CONSTR_TYPE__CONSTR_CHECK:
		return sql_convert_check(c, k, st, col ? col->name : NULL);
	case PG_QUERY__CONSTR_TYPE__CONSTR_FOREIGN:
		return sql_convert_foreign(c, k, st, col ? col->name : NULL);
	case PG_QUERY__CONSTR_TYPE__CONSTR_ATTR_NOT_DEFERRABLE:
	case PG_QUERY__CONSTR_TYPE__CONSTR_ATTR_IMMEDIATE:
		return true; /* as it is anyway */
	case PG_QUERY__CONSTR_TYPE__CONSTR_ATTR_DEFERRABLE:
	case PG_QUERY__CONSTR_TYPE__CONSTR_ATTR_DEFERRED:
		return sql_convert_no(c, "deferrable constraints are", k->location);
	case PG_QUERY__CONSTR_TYPE__CONSTR_IDENTITY:
		return identity(c, k, st, col);
	case PG_QUERY__CONSTR_TYPE__CONSTR_GENERATED:
		return sql_convert_no(c, "generated columns are", k->location);
	default:
		return sql_convert_no(c, "this kind of constraint is", k->location);
	}
}

/* COLLATE beside a column's type. */
bool
sql_convert_collated(struct sql_convert *c, const PgQuery__CollateClause *k, enum cat_type type)
{
	if (k == NULL)
		return true;
	if (!sql_convert_collation(c, k))
		return false;
	if (cat_type_category(cat_type_element(type)) == 'S')
		return true;
	if (cat_type_element(type) == CAT_NAMED)
		return sql_convert_no(c, "COLLATE of such a type is", k->location);
	cat_error(c->err, "42804", "collations are not supported by type %s", cat_type_name(type));
	c->err->position = k->location + 1;
	return false;
}

/* COMPRESSION of a column: namdb compresses nothing, so the method has only to be one. */
static bool
compression(struct sql_convert *c, const char *method, enum cat_type type)
{
	static const enum cat_type fixed[] = { CAT_BOOL, CAT_INT2, CAT_INT4, CAT_INT8, CAT_FLOAT4, CAT_FLOAT8,
		CAT_DATE, CAT_TIME, CAT_TIMESTAMP, CAT_TIMESTAMPTZ, CAT_INTERVAL, CAT_UUID, CAT_NAME,
		CAT_OID };
	for (unsigned i = 0; i < sizeof fixed / sizeof *fixed; i++)
		if (type == fixed[i])
			return cat_error(c->err, "0A000", "column data type %s does not support compression",
			    cat_type_name(type));
	return strcmp(method, "default") == 0 || strcmp(method, "pglz") == 0 || strcmp(method, "lz4") == 0 ||
	       cat_error(c->err, "22023", "invalid compression method \"%.63s\"", method);
}

static bool
element(struct sql_convert *c, const PgQuery__Node *n, struct ast_stmt *st)
{
	if (n->node_case == PG_QUERY__NODE__NODE_CONSTRAINT)
		return constraint(c, n->constraint, st, NULL);
	if (n->node_case != PG_QUERY__NODE__NODE_COLUMN_DEF)
		return sql_convert_no(c, "LIKE in CREATE TABLE is", -1);
	const PgQuery__ColumnDef *d = n->column_def;
	struct ast_column *col = &st->column[st->columns++];
	col->position = d->location + 1;
	if ((col->name = sql_convert_str(c, d->colname)) == NULL)
		return false;
	if (d->type_name == NULL)
		return sql_convert_no(c, "a column without a type is", d->location);
	if (!serial(c, d->type_name, col) ||
	    (col->seq == NULL && !sql_convert_type(c, d->type_name, &col->type, &col->typmod, &col->named)) ||
	    !sql_convert_collated(c, d->coll_clause, col->type))
		return false;
	if (d->compression != NULL && d->compression[0] != 0 && !compression(c, d->compression, col->type))
		return false;
	for (size_t i = 0; i < d->n_constraints; i++)
		if (d->constraints[i]->node_case == PG_QUERY__NODE__NODE_CONSTRAINT &&
		    !constraint(c, d->constraints[i]->constraint, st, col))
			return false;
	if (col->seq != NULL && col->dflt != NULL) {
		if (col->identity)
			return cat_error(c->err, "42601",
			    "both default and identity specified for column \"%.63s\" of table \"%.63s\"",
			    col->name, st->table.name);
		return cat_error(c->err, "42601",
		    "multiple default values specified for column \"%.63s\" of table \"%.63s\"", col->name,
		    st->table.name);
	}
	return true;
}

/* PostgreSQL's storage parameters: they are checked, and then there is nothing they could be said
 * to. */
static const struct storage {
	const char *name;
	char kind; /* b: boolean, i: integer, f: number */
	double least, most;
} storage[] = {
	{ "fillfactor", 'i', 10, 100 },
	{ "toast_tuple_target", 'i', 128, 8160 },
	{ "parallel_workers", 'i', 0, 1024 },
	{ "user_catalog_table", 'b', 0, 0 },
	{ "vacuum_truncate", 'b', 0, 0 },
	{ "autovacuum_enabled", 'b', 0, 0 },
	{ "autovacuum_vacuum_threshold", 'i', 0, INT32_MAX },
	{ "autovacuum_vacuum_insert_threshold", 'i', -1, INT32_MAX },
	{ "autovacuum_analyze_threshold", 'i', 0, INT32_MAX },
	{ "autovacuum_vacuum_cost_limit", 'i', 1, 10000 },
	{ "autovacuum_vacuum_cost_delay", 'f', 0, 100 },
	{ "autovacuum_freeze_min_age", 'i', 0, 1000000000 },
	{ "autovacuum_freeze_max_age", 'i', 100000, 2000000000 },
	{ "autovacuum_freeze_table_age", 'i', 0, 2000000000 },
	{ "autovacuum_multixact_freeze_min_age", 'i', 0, 1000000000 },
	{ "autovacuum_multixact_freeze_max_age", 'i', 10000, 2000000000 },
	{ "autovacuum_multixact_freeze_table_age", 'i', 0, 2000000000 },
	{ "log_autovacuum_min_duration", 'i', -1, INT32_MAX },
	{ "autovacuum_vacuum_scale_factor", 'f', 0, 100 },
	{ "autovacuum_vacuum_insert_scale_factor", 'f', 0, 100 },
	{ "autovacuum_analyze_scale_factor", 'f', 0, 100 },
};

/* What the parameter is said to be, as text; NULL: only its name stands there, which is true. */
static const char *
said(struct sql_convert *c, const PgQuery__DefElem *d)
{
	const PgQuery__Node *a = d->arg;
	if (a == NULL)
		return NULL;
	if (a->node_case == PG_QUERY__NODE__NODE_INTEGER)
		return nam_arena_printf(c->arena, "%d", a->integer->ival);
	if (a->node_case == PG_QUERY__NODE__NODE_FLOAT)
		return a->float_->fval;
	if (a->node_case == PG_QUERY__NODE__NODE_BOOLEAN)
		return a->boolean->boolval ? "true" : "false";
	if (a->node_case == PG_QUERY__NODE__NODE_TYPE_NAME && a->type_name->n_names > 0)
		return sql_convert_word(a->type_name->names[a->type_name->n_names - 1]);
	return sql_convert_word(a);
}

static bool
stored(struct sql_convert *c, const struct storage *p, const char *value)
{
	struct cat_str s = { value ? value : "true", value ? (uint32_t)strlen(value) : 4 };
	enum cat_type type = p->kind == 'b' ? CAT_BOOL : CAT_FLOAT8;
	union cat_val v;
	if (!cat_value_in(type, -1, s, &v, c->arena, NULL))
		return cat_error(c->err, "22023", "invalid value for %s option \"%s\": %.60s",
		    p->kind == 'b'   ? "boolean"
		    : p->kind == 'i' ? "integer"
				     : "floating point",
		    p->name, s.p);
	double x = p->kind == 'i' ? rint(v.f) : v.f;
	return p->kind == 'b' || (x >= p->least && x <= p->most) ||
	       cat_error(c->err, "22023", "value %.60s out of bounds for option \"%s\"", s.p, p->name);
}

enum ast_key_kind
sql_key_kind(const char *value)
{
	return strcasecmp(value, "hash") == 0                                         ? AST_KEY_HASH
	       : strcasecmp(value, "ordered") == 0 || strcasecmp(value, "btree") == 0 ? AST_KEY_ORDERED
										      : AST_KEY_UNSAID;
}

/* primary_key = hash | ordered. The second is PostgreSQL's btree. */
static bool
key_kind(struct sql_convert *c, const char *value, struct ast_stmt *st)
{
	enum ast_key_kind kind = value == NULL ? AST_KEY_UNSAID : sql_key_kind(value);
	if (kind == AST_KEY_UNSAID) {
		cat_error(c->err, "22023", "invalid value for enum option \"primary_key\": %.60s",
		    value != NULL ? value : "true");
		snprintf(c->err->detail, sizeof c->err->detail, "Valid values are \"hash\" and \"ordered\".");
		return false;
	}
	if (st->key_kind != AST_KEY_UNSAID && st->key_kind != kind)
		return cat_error(c->err, "22023", "parameter \"primary_key\" specified more than once");
	st->key_kind = kind;
	return true;
}

static bool
key_options(struct sql_convert *c, PgQuery__Node *const *list, size_t n, struct ast_stmt *st)
{
	static const struct storage of_btree[] = { { "fillfactor", 'i', 10, 100 },
		{ "deduplicate_items", 'b', 0, 0 } };
	for (size_t i = 0; i < n; i++) {
		const PgQuery__DefElem *d = list[i]->def_elem;
		unsigned k = 0;
		if (strcmp(d->defname, "primary_key") == 0) {
			if (!key_kind(c, said(c, d), st))
				return false;
			continue;
		}
		while (k < sizeof of_btree / sizeof *of_btree && strcmp(of_btree[k].name, d->defname) != 0)
			k++;
		if (k == sizeof of_btree / sizeof *of_btree)
			return cat_error(c->err, "22023", "unrecognized parameter \"%.63s\"", d->defname);
		if (!stored(c, &of_btree[k], said(c, d)))
			return false;
	}
	return true;
}

static bool
option(struct sql_convert *c, const PgQuery__DefElem *d, struct ast_stmt *st)
{
	const char *value = said(c, d);
	union cat_val v = { 0 };
	struct cat_str s = { value ? value : "", value ? (uint32_t)strlen(value) : 0 };
	if (strcmp(d->defname, "oids") == 0)
		return (value != NULL && cat_value_in(CAT_BOOL, -1, s, &v, c->arena, NULL) && !v.i) ||
		       cat_error(c->err, "0A000", "tables declared WITH OIDS are not supported");
	if (strcmp(d->defname, "versions") == 0) {
		if (!cat_value_in(CAT_INT4, -1, s, &v, c->arena, NULL) || v.i < 2 || v.i > 8)
			return cat_error(c->err, "22023", "value of \"versions\" must be between 2 and 8");
		st->versions = (unsigned)v.i;
		return true;
	}
	const char *name = d->defname;
	if (strcmp(name, "primary_key") == 0)
		return key_kind(c, value, st);
	if (d->defnamespace != NULL && strcmp(d->defnamespace, "toast") == 0)
		return strncmp(name, "autovacuum_", 11) == 0 ||
		       cat_error(c->err, "22023", "unrecognized parameter \"%.63s\"", name);
	for (unsigned k = 0; k < sizeof storage / sizeof *storage; k++)
		if (strcmp(storage[k].name, name) == 0)
			return stored(c, &storage[k], value);
	return cat_error(c->err, "22023", "unrecognized parameter \"%.63s\"", name);
}

bool
sql_convert_table_options(struct sql_convert *c, PgQuery__Node *const *list, size_t n, struct ast_stmt *st)
{
	for (size_t i = 0; i < n; i++) {
		const PgQuery__DefElem *d = list[i]->def_elem;
		for (size_t k = 0; k < i; k++)
			if (strcmp(list[k]->def_elem->defname, d->defname) == 0)
				return cat_error(c->err, "22023",
				    "parameter \"%.63s\" specified more than once", d->defname);
		if (!option(c, d, st))
			return false;
	}
	return true;
}

static bool
create(struct sql_convert *c, const PgQuery__CreateStmt *s, struct ast_stmt *st)
{
	st->kind = AST_CREATE_TABLE;
	st->if_exists = s->if_not_exists;
	if (!sql_convert_range(c, s->relation, &st->table))
		return false;
	if (s->n_inh_relations > 0 || s->partbound != NULL)
		return sql_convert_no(c, "inheritance is", -1);
	if (s->partspec != NULL)
		return sql_convert_no(c, "partitions are", -1);
	if (s->of_typename != NULL)
		return sql_convert_no(c, "typed tables are", -1);
	if (!sql_convert_on_commit(c, s->oncommit, st))
		return false;
	if (s->tablespacename != NULL && s->tablespacename[0])
		return sql_convert_no(c, "tablespaces are", -1);
	if (s->access_method != NULL && s->access_method[0])
		return sql_convert_no(c, "access methods are", -1);
	if ((st->column = sql_convert_take(c, s->n_table_elts * sizeof *st->column)) == NULL)
		return false;
	for (size_t i = 0; i < s->n_table_elts; i++)
		if (!element(c, s->table_elts[i], st))
			return false;
	return sql_convert_table_options(c, s->options, s->n_options, st);
}

static bool
drop(struct sql_convert *c, const PgQuery__DropStmt *s, struct ast_stmt *st)
{
	if (s->remove_type == PG_QUERY__OBJECT_TYPE__OBJECT_SCHEMA)
		return sql_convert_drop_schema(c, s, st);
	st->kind = AST_DROP_TABLE;
	if (s->remove_type == PG_QUERY__OBJECT_TYPE__OBJECT_SEQUENCE)
		st->kind = AST_DROP_SEQUENCE;
	else if (s->remove_type == PG_QUERY__OBJECT_TYPE__OBJECT_VIEW)
		st->kind = AST_DROP_VIEW;
	else if (s->remove_type == PG_QUERY__OBJECT_TYPE__OBJECT_INDEX)
		st->kind = AST_DROP_INDEX;
	else if (s->remove_type == PG_QUERY__OBJECT_TYPE__OBJECT_DOMAIN)
		st->kind = AST_DROP_DOMAIN;
	else if (s->remove_type != PG_QUERY__OBJECT_TYPE__OBJECT_TABLE)
		return sql_convert_no(c, "DROP of this kind of object is", -1);
	st->concurrently = s->concurrent;
	st->cascade = s->behavior == PG_QUERY__DROP_BEHAVIOR__DROP_CASCADE;
	st->if_exists = s->missing_ok;
	st->nnames = (unsigned)s->n_objects;
	if ((st->names = sql_convert_take(c, st->nnames * sizeof *st->names)) == NULL ||
	    (st->name_in = sql_convert_take(c, st->nnames * sizeof *st->name_in)) == NULL)
		return false;
	for (unsigned i = 0; i < st->nnames; i++) {
		const PgQuery__Node *n = s->objects[i];
		bool type = n->node_case == PG_QUERY__NODE__NODE_TYPE_NAME;
		if (!type && n->node_case != PG_QUERY__NODE__NODE_LIST)
			return sql_convert_no(c, "this kind of name is", -1);
		PgQuery__Node **word = type ? n->type_name->names : n->list->items;
		size_t words = type ? n->type_name->n_names : n->list->n_items;
		const char *schema = words == 2 ? sql_convert_word(word[0]) : NULL;
		if (words == 0 || words > 2)
			return sql_convert_no(c, "names of other databases are", -1);
		if (type && schema != NULL && strcmp(schema, "public") != 0)
			return sql_convert_no(c, "types in schemas other than public are", -1);
		if (schema != NULL && (st->name_in[i] = sql_convert_str(c, schema)) == NULL)
			return false;
		if ((st->names[i] = sql_convert_str(c, sql_convert_word(word[words - 1]))) == NULL)
			return false;
	}
	return true;
}

static bool
create_view(struct sql_convert *c, const PgQuery__ViewStmt *s, struct ast_stmt *st)
{
	st->kind = AST_CREATE_VIEW;
	st->replace = s->replace;
	if (s->with_check_option > PG_QUERY__VIEW_CHECK_OPTION__NO_CHECK_OPTION)
		return sql_convert_no(c, "WITH CHECK OPTION is", -1);
	if (s->n_options > 0)
		return sql_convert_no(c, "options of a view are", -1);
	if (s->query->node_case != PG_QUERY__NODE__NODE_SELECT_STMT)
		return sql_convert_no(c, "this kind of view is", -1);
	if (sql_convert_into_of(s->query->select_stmt) != NULL)
		return cat_error(c->err, "0A000", "views must not contain SELECT INTO");
	st->nnames = (unsigned)s->n_aliases;
	if (!sql_convert_range(c, s->view, &st->table) ||
	    (st->names = sql_convert_take(c, st->nnames * sizeof *st->names)) == NULL)
		return false;
	for (unsigned i = 0; i < st->nnames; i++)
		if ((st->names[i] = sql_convert_str(c, sql_convert_word(s->aliases[i]))) == NULL)
			return false;
	return (st->select = sql_convert_select(c, s->query->select_stmt)) != NULL &&
	       (st->text = sql_convert_query_text(c, s->query)) != NULL;
}

static bool
set_options(struct sql_convert *c, const PgQuery__Node *list, struct ast_stmt *st)
{
	if (!sql_convert_table_options(c, list->list->items, list->list->n_items, st))
		return false;
	return st->versions == 0 || sql_convert_no(c, "changing \"versions\" is", -1);
}

/* Names of parameters; those that are not known are none that is set. */
static bool
reset_options(struct sql_convert *c, const PgQuery__Node *list, struct ast_stmt *st)
{
	for (size_t i = 0; i < list->list->n_items; i++) {
		const PgQuery__DefElem *d = list->list->items[i]->def_elem;
		if (d->arg != NULL)
			return cat_error(c->err, "42601", "RESET must not include values for parameters");
		if (strcmp(d->defname, "versions") == 0)
			return sql_convert_no(c, "changing \"versions\" is", -1);
		if (strcmp(d->defname, "primary_key") == 0)
			st->key_kind = AST_KEY_DEFAULT;
	}
	return true;
}

static bool
alter_one(struct sql_convert *c, const PgQuery__AlterTableCmd *k, struct ast_stmt *st)
{
	struct ast_alter *to = &st->alter[st->alters++];
	to->if_exists = k->missing_ok;
	to->cascade = k->behavior == PG_QUERY__DROP_BEHAVIOR__DROP_CASCADE;
	if (k->name != NULL && k->name[0] && (to->name = sql_convert_str(c, k->name)) == NULL)
		return false;
	switch (k->subtype) {
	case PG_QUERY__ALTER_TABLE_TYPE__AT_ColumnDefault:
		to->kind = AST_SET_DEFAULT;
		return k->def == NULL || ((to->e = sql_convert_expr(c, k->def)) != NULL &&
					     (to->text = sql_convert_text(c, k->def)) != NULL);
	case PG_QUERY__ALTER_TABLE_TYPE__AT_SetNotNull:
		to->kind = AST_SET_NOT_NULL;
		return true;
	case PG_QUERY__ALTER_TABLE_TYPE__AT_DropNotNull:
		to->kind = AST_DROP_NOT_NULL;
		return true;
	case PG_QUERY__ALTER_TABLE_TYPE__AT_AddConstraint:
		if (k->def->constraint->contype == PG_QUERY__CONSTR_TYPE__CONSTR_PRIMARY) {
			to->kind = AST_ADD_KEY;
			if (k->def->constraint->indexname != NULL && k->def->constraint->indexname[0])
				return sql_convert_no(c, "ADD PRIMARY KEY USING INDEX is", -1);
			return key(c, k->def->constraint, st, NULL);
		}
		if (k->def->constraint->contype == PG_QUERY__CONSTR_TYPE__CONSTR_UNIQUE) {
			to->kind = AST_ADD_UNIQUE;
			to->index = st->indexes;
			return sql_convert_unique(c, k->def->constraint, st, NULL);
		}
		if (k->def->constraint->contype == PG_QUERY__CONSTR_TYPE__CONSTR_FOREIGN) {
			to->kind = AST_ADD_FOREIGN;
			to->index = st->foreigns;
			return sql_convert_foreign(c, k->def->constraint, st, NULL);
		}
		to->kind = AST_ADD_CHECK;
		to->index = st->checks;
		if (k->def->constraint->contype != PG_QUERY__CONSTR_TYPE__CONSTR_CHECK)
			return constraint(c, k->def->constraint, st, NULL);
		if (k->def->constraint->skip_validation)
			return sql_convert_no(c, "NOT VALID is", -1);
		return sql_convert_check(c, k->def->constraint, st, NULL);
	case PG_QUERY__ALTER_TABLE_TYPE__AT_DropConstraint:
		to->kind = AST_DROP_CONSTRAINT;
		return true;
	case PG_QUERY__ALTER_TABLE_TYPE__AT_AddColumn:
		to->kind = AST_ADD_COLUMN;
		to->index = st->columns;
		return element(c, k->def, st);
	case PG_QUERY__ALTER_TABLE_TYPE__AT_DropColumn:
		to->kind = AST_DROP_COLUMN;
		return true;
	case PG_QUERY__ALTER_TABLE_TYPE__AT_AlterColumnType: {
		const PgQuery__ColumnDef *d = k->def->column_def;
		to->kind = AST_ALTER_TYPE;
		return sql_convert_type(c, d->type_name, &to->type, &to->typmod, &to->named) &&
		       sql_convert_collated(c, d->coll_clause, to->type) &&
		       (d->raw_default == NULL || (to->e = sql_convert_expr(c, d->raw_default)) != NULL);
	}
	case PG_QUERY__ALTER_TABLE_TYPE__AT_SetRelOptions:
		to->kind = AST_SET_OPTIONS;
		return set_options(c, k->def, st);
	case PG_QUERY__ALTER_TABLE_TYPE__AT_ResetRelOptions:
		to->kind = AST_SET_OPTIONS;
		return reset_options(c, k->def, st);
	default:
		return sql_convert_no(c, "this kind of ALTER TABLE is", -1);
	}
}

static bool
alter(struct sql_convert *c, const PgQuery__AlterTableStmt *s, struct ast_stmt *st)
{
	st->kind = AST_ALTER_TABLE;
	st->if_exists = s->missing_ok;
	const PgQuery__AlterTableCmd *first = s->n_cmds == 1 ? s->cmds[0]->alter_table_cmd : NULL;
	if (first != NULL && first->subtype == PG_QUERY__ALTER_TABLE_TYPE__AT_ChangeOwner &&
	    s->objtype != PG_QUERY__OBJECT_TYPE__OBJECT_INDEX) {
		st->owned = s->objtype == PG_QUERY__OBJECT_TYPE__OBJECT_VIEW       ? AST_OWNED_VIEW
			    : s->objtype == PG_QUERY__OBJECT_TYPE__OBJECT_SEQUENCE ? AST_OWNED_SEQUENCE
										   : AST_OWNED_TABLE;
		return sql_convert_range(c, s->relation, &st->table) &&
		       sql_convert_owner(c, first->newowner, st);
	}
	if (s->objtype != PG_QUERY__OBJECT_TYPE__OBJECT_TABLE)
		return sql_convert_no(c, "ALTER of anything but tables is", -1);
	if (!sql_convert_range(c, s->relation, &st->table) ||
	    (st->alter = sql_convert_take(c, s->n_cmds * sizeof *st->alter)) == NULL ||
	    (st->column = sql_convert_take(c, s->n_cmds * sizeof *st->column)) == NULL)
		return false;
	for (size_t i = 0; i < s->n_cmds; i++)
		if (!alter_one(c, s->cmds[i]->alter_table_cmd, st))
			return false;
	return true;
}

static bool
rename_(struct sql_convert *c, const PgQuery__RenameStmt *s, struct ast_stmt *st)
{
	if (s->rename_type == PG_QUERY__OBJECT_TYPE__OBJECT_DOMAIN ||
	    s->rename_type == PG_QUERY__OBJECT_TYPE__OBJECT_DOMCONSTRAINT)
		return sql_convert_rename_domain(c, s, st);
	if (s->rename_type == PG_QUERY__OBJECT_TYPE__OBJECT_INDEX) {
		st->kind = AST_RENAME_INDEX;
		st->if_exists = s->missing_ok;
		st->nnames = 2;
		if (!sql_convert_range(c, s->relation, &st->table) ||
		    (st->names = sql_convert_take(c, 2 * sizeof *st->names)) == NULL ||
		    (st->name_in = sql_convert_take(c, 2 * sizeof *st->name_in)) == NULL)
			return false;
		st->names[0] = st->table.name;
		st->name_in[0] = st->table.in;
		return (st->names[1] = sql_convert_str(c, s->newname)) != NULL;
	}
	st->kind = AST_ALTER_TABLE;
	st->if_exists = s->missing_ok;
	if (s->rename_type == PG_QUERY__OBJECT_TYPE__OBJECT_SCHEMA)
		return sql_convert_no(c, "renaming a schema is", -1);
	bool view = s->rename_type == PG_QUERY__OBJECT_TYPE__OBJECT_VIEW;
	bool sequence = s->rename_type == PG_QUERY__OBJECT_TYPE__OBJECT_SEQUENCE;
	bool table = s->rename_type == PG_QUERY__OBJECT_TYPE__OBJECT_TABLE || view || sequence;
	if (!table && (s->rename_type != PG_QUERY__OBJECT_TYPE__OBJECT_COLUMN ||
			  s->relation_type != PG_QUERY__OBJECT_TYPE__OBJECT_TABLE))
		return sql_convert_no(c, "renaming anything but tables and their columns is", -1);
	if (!sql_convert_range(c, s->relation, &st->table) ||
	    (st->alter = sql_convert_take(c, sizeof *st->alter)) == NULL)
		return false;
	struct ast_alter *to = &st->alter[st->alters++];
	to->kind = table ? AST_RENAME_TABLE : AST_RENAME_COLUMN;
	to->renames = view ? AST_RENAMES_VIEW : sequence ? AST_RENAMES_SEQUENCE : AST_RENAMES_ANY;
	return (table || (to->name = sql_convert_str(c, s->subname)) != NULL) &&
	       (to->to = sql_convert_str(c, s->newname)) != NULL;
}

bool
sql_convert_ddl(struct sql_convert *c, const PgQuery__Node *n, struct ast_stmt *st)
{
	bool drops = n->node_case == PG_QUERY__NODE__NODE_DROP_STMT;
	if ((drops && n->drop_stmt->remove_type == PG_QUERY__OBJECT_TYPE__OBJECT_TYPE) ||
	    (n->node_case == PG_QUERY__NODE__NODE_RENAME_STMT &&
		n->rename_stmt->rename_type == PG_QUERY__OBJECT_TYPE__OBJECT_TYPE))
		return sql_convert_own_type(c, n, st);
	if (n->node_case == PG_QUERY__NODE__NODE_CREATE_STMT)
		return create(c, n->create_stmt, st);
	if (n->node_case == PG_QUERY__NODE__NODE_CREATE_SEQ_STMT)
		return create_sequence(c, n->create_seq_stmt, st);
	if (n->node_case == PG_QUERY__NODE__NODE_CREATE_TABLE_AS_STMT)
		return sql_convert_create_as(c, n->create_table_as_stmt, st);
	if (n->node_case == PG_QUERY__NODE__NODE_ALTER_TABLE_STMT)
		return alter(c, n->alter_table_stmt, st);
	if (n->node_case == PG_QUERY__NODE__NODE_RENAME_STMT)
		return rename_(c, n->rename_stmt, st);
	if (n->node_case == PG_QUERY__NODE__NODE_VIEW_STMT)
		return create_view(c, n->view_stmt, st);
	return drop(c, n->drop_stmt, st);
}
