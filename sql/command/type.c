/* type.c -- types that users make, as definitions use them: which they are, and that they stay. */
#include <sql/command/command.h>
#include <sql/common/user_type.h>

bool
sql_column_type(struct sql_session *s, enum cat_type type, const struct ast_named *named, enum cat_type *out,
    struct cat_err *err)
{
	*out = type;
	return cat_type_element(type) != CAT_NAMED || sql_type_named(s->cfg.cat, s->t, type, named->name,
							  named->schema, named->position, out, NULL, err);
}

/* Locks the type's row, so that a DROP TYPE elsewhere waits and then sees what uses it. */
bool
sql_type_use(struct sql_session *s, uint32_t id, struct cat_err *err)
{
	for (unsigned tries = 0;; tries++) {
		const struct cat_table *type;
		if (!sql_type_of_id(s->cfg.cat, s->t, id, &type, err))
			return false;
		if (type == NULL)
			return cat_error(
			    err, "42704", "type \"%s\" does not exist", cat_type_word(cat_type_enum(id)));
		nam_status st = cat_type_use(s->cfg.cat, s->t, type);
		/* Another transaction has changed or dropped it: look again. */
		if (st == NAM_CONFLICT && s->iso == TXN_READ_COMMITTED && tries < SQL_RETRIES &&
		    (st = txn_statement(s->t)) == NAM_OK)
			continue;
		return st == NAM_OK || sql_status(err, st, NULL);
	}
}

bool
sql_types_use(struct sql_session *s, const struct cat_table *def, struct cat_err *err)
{
	for (unsigned i = 0; i < def->columns; i++) {
		uint32_t id = cat_type_id(def->column[i].type);
		bool again = false;
		for (unsigned k = 0; k < i && !again; k++)
			again = cat_type_id(def->column[k].type) == id;
		if (id != 0 && !again && !sql_type_use(s, id, err))
			return false;
	}
	return true;
}
