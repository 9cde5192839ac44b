/* convert_domain.c -- CREATE and ALTER DOMAIN to sql's tree. DROP DOMAIN: convert_ddl.c. */
#include <sql/parse/convert.h>

#include <string.h>

/* A domain's name, perhaps with public before it. */
static bool
name_of(struct sql_convert *c, PgQuery__Node *const *word, size_t n, struct ast_stmt *st)
{
	const char *schema = n == 2 ? sql_convert_word(word[0]) : NULL;
	if (n == 0 || n > 2 || (schema != NULL && strcmp(schema, "public") != 0))
		return sql_convert_no(c, "types in schemas other than public are", -1);
	st->table.in = schema != NULL ? "public" : NULL;
	return (st->table.name = sql_convert_str(c, sql_convert_word(word[n - 1]))) != NULL;
}

static bool
not_for(struct sql_convert *c, const char *what, int location)
{
	cat_error(c->err, "42601", "%s constraints not possible for domains", what);
	c->err->position = location + 1;
	return false;
}

static bool
check(struct sql_convert *c, const PgQuery__Constraint *k, struct ast_stmt *st)
{
	if (k->is_no_inherit) {
		cat_error(c->err, "42P17", "check constraints for domains cannot be marked NO INHERIT");
		c->err->position = k->location + 1;
		return false;
	}
	if (!sql_convert_check(c, k, st, NULL))
		return false;
	st->check[st->checks - 1].not_valid = k->skip_validation;
	return true;
}

/* nulls: 'n' NOT NULL, 'y' NULL has been said; 0 neither. */
static bool
constraint(struct sql_convert *c, const PgQuery__Constraint *k, struct ast_stmt *st, char *nulls)
{
	struct ast_column *col = st->column;
	switch (k->contype) {
	case PG_QUERY__CONSTR_TYPE__CONSTR_DEFAULT:
		if (col->dflt != NULL) {
			cat_error(c->err, "42601", "multiple default expressions");
			c->err->position = k->location + 1;
			return false;
		}
		return (col->dflt = sql_convert_expr(c, k->raw_expr)) != NULL &&
		       (col->dflt_text = sql_convert_text(c, k->raw_expr)) != NULL;
	case PG_QUERY__CONSTR_TYPE__CONSTR_NOTNULL:
	case PG_QUERY__CONSTR_TYPE__CONSTR_NULL: {
		char said = k->contype == PG_QUERY__CONSTR_TYPE__CONSTR_NULL ? 'y' : 'n';
		if (*nulls != 0 && *nulls != said) {
			cat_error(c->err, "42601", "conflicting NULL/NOT NULL constraints");
			c->err->position = k->location + 1;
			return false;
		}
		*nulls = said;
		col->not_null = said == 'n';
		return true;
	}
	case PG_QUERY__CONSTR_TYPE__CONSTR_CHECK:
		return check(c, k, st);
	case PG_QUERY__CONSTR_TYPE__CONSTR_UNIQUE:
		return not_for(c, "unique", k->location);
	case PG_QUERY__CONSTR_TYPE__CONSTR_PRIMARY:
		return not_for(c, "primary key", k->location);
	case PG_QUERY__CONSTR_TYPE__CONSTR_EXCLUSION:
		return not_for(c, "exclusion", k->location);
	case PG_QUERY__CONSTR_TYPE__CONSTR_FOREIGN:
		return not_for(c, "foreign key", k->location);
	default:
		cat_error(c->err, "0A000", "specifying constraint deferrability not supported for domains");
		c->err->position = k->location + 1;
		return false;
	}
}

static bool
create(struct sql_convert *c, const PgQuery__CreateDomainStmt *s, struct ast_stmt *st)
{
	char nulls = 0;
	st->kind = AST_CREATE_DOMAIN;
	if (!name_of(c, s->domainname, s->n_domainname, st) ||
	    (st->column = sql_convert_take(c, sizeof *st->column)) == NULL)
		return false;
	st->columns = 1;
	struct ast_column *col = st->column;
	col->name = "value";
	col->position = s->type_name->location + 1;
	if (!sql_convert_type(c, s->type_name, &col->type, &col->typmod, &col->named) ||
	    !sql_convert_collated(c, s->coll_clause, col->type))
		return false;
	for (size_t i = 0; i < s->n_constraints; i++)
		if (s->constraints[i]->node_case == PG_QUERY__NODE__NODE_CONSTRAINT &&
		    !constraint(c, s->constraints[i]->constraint, st, &nulls))
			return false;
	return true;
}

static struct ast_alter *
action(struct sql_convert *c, struct ast_stmt *st, enum ast_alter_kind kind)
{
	st->kind = AST_ALTER_DOMAIN;
	if ((st->alter = sql_convert_take(c, sizeof *st->alter)) == NULL)
		return NULL;
	st->alters = 1;
	st->alter->kind = kind;
	return st->alter;
}

static bool
alter(struct sql_convert *c, const PgQuery__AlterDomainStmt *s, struct ast_stmt *st)
{
	static const struct {
		char subtype;
		enum ast_alter_kind kind;
	} all[] = { { 'T', AST_SET_DEFAULT }, { 'N', AST_DROP_NOT_NULL }, { 'O', AST_SET_NOT_NULL },
		{ 'C', AST_ADD_CHECK }, { 'X', AST_DROP_CONSTRAINT }, { 'V', AST_VALIDATE } };
	unsigned k = 0, n = sizeof all / sizeof *all;
	while (k < n && all[k].subtype != s->subtype[0])
		k++;
	if (k == n)
		return sql_convert_no(c, "this kind of ALTER DOMAIN is", -1);
	struct ast_alter *to = action(c, st, all[k].kind);
	if (to == NULL || !name_of(c, s->type_name, s->n_type_name, st))
		return false;
	to->if_exists = s->missing_ok;
	to->cascade = s->behavior == PG_QUERY__DROP_BEHAVIOR__DROP_CASCADE;
	if (s->name != NULL && s->name[0] && (to->name = sql_convert_str(c, s->name)) == NULL)
		return false;
	if (to->kind == AST_SET_DEFAULT)
		return s->def == NULL || ((to->e = sql_convert_expr(c, s->def)) != NULL &&
					     (to->text = sql_convert_text(c, s->def)) != NULL);
	if (to->kind != AST_ADD_CHECK)
		return true;
	const PgQuery__Constraint *q = s->def->constraint;
	struct ast_column none = { 0 };
	char nulls = 0;
	st->column = &none;
	bool ok = constraint(c, q, st, &nulls);
	st->column = NULL;
	if (!ok || q->contype == PG_QUERY__CONSTR_TYPE__CONSTR_CHECK)
		return ok;
	return sql_convert_no(c, "adding such a constraint to a domain is", q->location);
}

bool
sql_convert_rename_domain(struct sql_convert *c, const PgQuery__RenameStmt *s, struct ast_stmt *st)
{
	bool one = s->rename_type == PG_QUERY__OBJECT_TYPE__OBJECT_DOMCONSTRAINT;
	struct ast_alter *to = action(c, st, one ? AST_RENAME_CONSTRAINT : AST_RENAME_TABLE);
	const PgQuery__Node *n = s->object;
	if (to == NULL)
		return false;
	bool type = n->node_case == PG_QUERY__NODE__NODE_TYPE_NAME;
	if (!type && n->node_case != PG_QUERY__NODE__NODE_LIST)
		return sql_convert_no(c, "this kind of name is", -1);
	return name_of(c, type ? n->type_name->names : n->list->items,
		   type ? n->type_name->n_names : n->list->n_items, st) &&
	       (!one || (to->name = sql_convert_str(c, s->subname)) != NULL) &&
	       (to->to = sql_convert_str(c, s->newname)) != NULL;
}

bool
sql_convert_domain_owner(struct sql_convert *c, const PgQuery__AlterOwnerStmt *s, struct ast_stmt *st)
{
	if (s->object->node_case != PG_QUERY__NODE__NODE_LIST)
		return sql_convert_no(c, "this kind of name is", -1);
	if (!sql_convert_owner(c, s->newowner, st))
		return false;
	return action(c, st, AST_SET_OWNER) != NULL &&
	       name_of(c, s->object->list->items, s->object->list->n_items, st);
}

bool
sql_convert_domain(struct sql_convert *c, const PgQuery__Node *n, struct ast_stmt *st)
{
	if (n->node_case == PG_QUERY__NODE__NODE_CREATE_DOMAIN_STMT)
		return create(c, n->create_domain_stmt, st);
	return alter(c, n->alter_domain_stmt, st);
}
