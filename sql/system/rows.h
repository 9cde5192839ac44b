/* rows.h -- how a relation's rows are put together: column by column; the first failure ends it. */
#ifndef NAM_SQL_SYSTEM_ROWS_H
#define NAM_SQL_SYSTEM_ROWS_H

#include <sql/system/system.h>

#include <string.h>

struct sql_rows {
	const struct sql_system *in;
	bool (*put)(void *arg, struct cat_datum d);
	void *arg;
	unsigned cols, at; /* of a row */
	bool failed;
};

static inline void
row_put(struct sql_rows *r, struct cat_datum d)
{
	r->failed = r->failed || !r->put(r->arg, d);
	r->at = r->at + 1 == r->cols ? 0 : r->at + 1;
}
static inline void
row_int(struct sql_rows *r, int64_t i)
{
	row_put(r, (struct cat_datum){ .v.i = i });
}
static inline void
row_real(struct sql_rows *r, double f)
{
	row_put(r, (struct cat_datum){ .v.f = f });
}
static inline void
row_null(struct sql_rows *r, unsigned n)
{
	for (unsigned k = 0; k < n; k++)
		row_put(r, (struct cat_datum){ .null = true, .v.s = { "", 0 } });
}
/* Of n columns, each that number; false and 0 alike. */
static inline void
row_ints(struct sql_rows *r, unsigned n, int64_t i)
{
	for (unsigned k = 0; k < n; k++)
		row_int(r, i);
}
/* A text that lasts; NULL is NULL. */
static inline void
row_text(struct sql_rows *r, const char *s)
{
	if (s == NULL)
		row_null(r, 1);
	else
		row_put(r, (struct cat_datum){ .v.s = { s, (uint32_t)strlen(s) } });
}
/* One that does not. */
static inline void
row_copy(struct sql_rows *r, const char *s)
{
	const char *copy = s ? nam_arena_str(r->in->a, s, strlen(s)) : NULL;
	if (s != NULL && copy == NULL)
		r->failed = !cat_error(r->in->err, "53200", "out of memory");
	else
		row_text(r, copy);
}
static inline void
row_char(struct sql_rows *r, char c)
{
	static const char all[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	const char *at = c ? strchr(all, c) : NULL;
	row_put(r, (struct cat_datum){ .v.s = { at ? at : "", at != NULL } });
}
/* A regproc that is none. */
static inline void
row_no_regs(struct sql_rows *r, unsigned n)
{
	for (unsigned k = 0; k < n; k++)
		row_put(r, (struct cat_datum){ .v.s = { "\0\0\0\0", CAT_OID_BYTES } });
}
/* Of an array type: n numbers, its lower bound. */
void sql_row_array(struct sql_rows *r, enum cat_type elem, int lower, const int64_t *v, unsigned n);

/* The access control list of a relation, as texts of PostgreSQL's aclitem; NULL = it has none. */
void sql_row_acl(struct sql_rows *r, const struct cat_table *t);
/* acl.c: information_schema.table_privileges. */
bool sql_privilege_rows(struct sql_rows *r);
/* Of a schema that every role may use; makes: some may make relations in it. */
void sql_row_schema_acl(struct sql_rows *r, bool makes);

/* True if no ordered index has the primary key: the index of that name is the table's hash. */
static inline bool
sql_key_by_hash(const struct cat_table *t)
{
	return t->kind == CAT_TABLE && t->keys > 0 && cat_key_order(t) < 0;
}
/* Constraints of a table: kind p, c, f or u; number k among those of its kind. */
struct sql_constraint {
	char kind;
	unsigned k;
	uint32_t oid, index;
	const char *name;
};
/* The n-th. False: there are no more. buf: for the name. */
bool sql_constraint_at(
    const struct cat_table *t, unsigned n, struct sql_constraint *out, char buf[CAT_NAME_MAX + 8]);
/* The number of the table or domain whose constraint has that oid, without bits that did not
 * fit. */
uint32_t sql_constraint_of(uint32_t oid);
/* domain.c: rows of pg_type; the oid of a column's type, which may be a domain. */
bool sql_domain_rows(struct sql_rows *r);
uint32_t sql_oid_of_type(const struct cat_column *c);
/* Types that users have made. */
bool sql_system_types(const struct sql_system *s, const struct cat_table ***list, unsigned *n);
/* The oid of the default of column c. */
uint32_t sql_oid_of_default(const struct cat_table *t, unsigned c);

/* By theme; each ends with a NULL name. */
extern const struct sql_relation sql_relations_class[], sql_relations_constraint[], sql_relations_type[],
    sql_relations_function[], sql_relations_role[], sql_relations_empty[], sql_relations_view[],
    sql_relations_information[];

#endif
