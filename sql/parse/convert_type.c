/* convert_type.c -- CREATE TYPE ... AS ENUM, ALTER TYPE, DROP TYPE. */
#include <sql/parse/convert.h>

#include <string.h>

/* The last of the parts of a type's name; only public is a schema. */
static const char *
name_of(struct sql_convert *c, PgQuery__Node *const *part, size_t parts)
{
	const char *schema = parts == 2 ? sql_convert_word(part[0]) : NULL;
	if (parts == 0 || parts > 2 || (schema != NULL && strcmp(schema, "public") != 0)) {
		sql_convert_no(c, "types in schemas other than public are", -1);
		return NULL;
	}
	return sql_convert_str(c, sql_convert_word(part[parts - 1]));
}

static bool
create(struct sql_convert *c, const PgQuery__CreateEnumStmt *s, struct ast_stmt *st)
{
	st->kind = AST_CREATE_ENUM;
	st->nnames = (unsigned)s->n_vals;
	if ((st->table.name = name_of(c, s->type_name, s->n_type_name)) == NULL ||
	    (st->names = sql_convert_take(c, s->n_vals * sizeof *st->names)) == NULL)
		return false;
	for (unsigned i = 0; i < st->nnames; i++)
		if ((st->names[i] = sql_convert_str(c, sql_convert_word(s->vals[i]))) == NULL)
			return false;
	return true;
}

static bool
alter(struct sql_convert *c, const PgQuery__AlterEnumStmt *s, struct ast_stmt *st)
{
	struct ast_enum *e = &st->label;
	st->kind = AST_ALTER_ENUM;
	st->if_exists = s->skip_if_new_val_exists;
	st->table.name = name_of(c, s->type_name, s->n_type_name);
	e->rename = s->old_val != NULL && s->old_val[0] != 0;
	e->name = sql_convert_str(c, s->new_val ? s->new_val : "");
	if (e->rename)
		e->beside = sql_convert_str(c, s->old_val);
	else if (s->new_val_neighbor != NULL && s->new_val_neighbor[0] != 0)
		e->beside = sql_convert_str(c, s->new_val_neighbor);
	e->after = s->new_val_is_after;
	/* libpg_query tells no label from an empty one; without a neighbour after is true */
	if (e->beside == NULL && !e->after)
		return sql_convert_no(c, "RENAME VALUE and BEFORE of an empty label are", -1);
	return st->table.name != NULL && e->name != NULL;
}

static bool
drop(struct sql_convert *c, const PgQuery__DropStmt *s, struct ast_stmt *st)
{
	st->kind = AST_DROP_TYPE;
	st->cascade = s->behavior == PG_QUERY__DROP_BEHAVIOR__DROP_CASCADE;
	st->if_exists = s->missing_ok;
	st->nnames = (unsigned)s->n_objects;
	if ((st->names = sql_convert_take(c, st->nnames * sizeof *st->names)) == NULL)
		return false;
	for (unsigned i = 0; i < st->nnames; i++) {
		const PgQuery__Node *n = s->objects[i];
		if (n->node_case != PG_QUERY__NODE__NODE_TYPE_NAME)
			return sql_convert_no(c, "this kind of name is", -1);
		const PgQuery__TypeName *t = n->type_name;
		const char *schema = t->n_names == 2 ? sql_convert_word(t->names[0]) : NULL;
		const char *name = t->n_names ? sql_convert_word(t->names[t->n_names - 1]) : NULL;
		bool own = schema != NULL && strcmp(schema, "public") == 0;
		enum cat_type is = name != NULL && !own ? cat_type_find(name) : CAT_UNKNOWN;
		if (is != CAT_UNKNOWN)
			return cat_error(c->err, "2BP01",
			    "cannot drop type %s because it is required by the database system",
			    cat_type_said(is, strcmp(name, "varchar") == 0 ? CAT_VARCHAR : -1));
		if ((st->names[i] = name_of(c, t->names, t->n_names)) == NULL)
			return false;
	}
	return true;
}

static bool
rename_(struct sql_convert *c, const PgQuery__RenameStmt *s, struct ast_stmt *st)
{
	const PgQuery__Node *n = s->object;
	st->kind = AST_RENAME_TYPE;
	if (n == NULL || n->node_case != PG_QUERY__NODE__NODE_LIST)
		return sql_convert_no(c, "this kind of name is", -1);
	st->table.name = name_of(c, n->list->items, n->list->n_items);
	st->var = sql_convert_str(c, s->newname);
	return st->table.name != NULL && st->var != NULL;
}

static bool
owner(struct sql_convert *c, const PgQuery__AlterOwnerStmt *s, struct ast_stmt *st)
{
	const PgQuery__Node *n = s->object;
	if (s->object_type == PG_QUERY__OBJECT_TYPE__OBJECT_DOMAIN)
		return sql_convert_domain_owner(c, s, st);
	if (s->object_type != PG_QUERY__OBJECT_TYPE__OBJECT_TYPE || n == NULL ||
	    n->node_case != PG_QUERY__NODE__NODE_LIST)
		return sql_convert_no(c, "ALTER ... OWNER TO of this kind of object is", -1);
	st->owned = AST_OWNED_TYPE;
	st->table.name = name_of(c, n->list->items, n->list->n_items);
	return st->table.name != NULL && sql_convert_owner(c, s->newowner, st);
}

bool
sql_convert_own_type(struct sql_convert *c, const PgQuery__Node *n, struct ast_stmt *st)
{
	switch (n->node_case) {
	case PG_QUERY__NODE__NODE_CREATE_ENUM_STMT:
		return create(c, n->create_enum_stmt, st);
	case PG_QUERY__NODE__NODE_ALTER_ENUM_STMT:
		return alter(c, n->alter_enum_stmt, st);
	case PG_QUERY__NODE__NODE_CREATE_DOMAIN_STMT:
	case PG_QUERY__NODE__NODE_ALTER_DOMAIN_STMT:
		return sql_convert_domain(c, n, st);
	case PG_QUERY__NODE__NODE_DROP_STMT:
		return drop(c, n->drop_stmt, st);
	case PG_QUERY__NODE__NODE_RENAME_STMT:
		return rename_(c, n->rename_stmt, st);
	case PG_QUERY__NODE__NODE_TYPE_NAME: /* COMMENT ON TYPE */
		st->var = "type";
		st->nnames = 1;
		return (st->names = sql_convert_take(c, sizeof *st->names)) != NULL &&
		       (st->names[0] = name_of(c, n->type_name->names, n->type_name->n_names)) != NULL;
	default:
		return n->alter_owner_stmt->object_type == PG_QUERY__OBJECT_TYPE__OBJECT_SCHEMA
			   ? sql_convert_schema_owner(c, n->alter_owner_stmt, st)
			   : owner(c, n->alter_owner_stmt, st);
	}
}
