/* path.h -- names of relations as statements write them: search_path, schemas, rights on them.
 * Inside of sql. */
#ifndef NAM_SQL_PATH_H
#define NAM_SQL_PATH_H

#include <sql/common/rights.h>

/* What a lookup of a name depends on. */
struct sql_looking {
	struct cat *cat;
	struct txn *t;
	const char *search;        /* the text of search_path; NULL = public */
	const struct sql_who *who; /* NULL = no right is checked */
	const char *alias;         /* the search_path that tells what pg_temp is; NULL = search */
};

/* True if the text is a list of names. */
bool sql_search_ok(const char *text);
/* The next name of a search_path, and the rest of the text. "$user" is the role's name. False: the
 * end. */
bool sql_search_next(const char **text, const struct sql_who *who, char out[CAT_NAME_MAX + 1]);
/* A search_path as names are looked up: a session's temporary schema, "" = none, comes first unless
 * the text says where (pg_temp); those of other sessions are left out. In out, which has room for
 * SQL_SEARCH_MAX bytes. */
const char *sql_search_with(const char *text, const char *temp, char *out, size_t max);
/* The schemas of a search_path that there are and that the role may use, public and those of the
 * system included, in arena
 * memory. False: *err. */
bool sql_search_schemas(const struct sql_looking *in, bool temp, const char ***out, unsigned *n,
    struct nam_arena *arena, struct cat_err *err);

/* The relation (or index) of that name; schema NULL: the first of search_path. *out NULL: there is
 * none. False: 42501 (no USAGE on the schema), or *err from below. */
bool sql_path_find(const struct sql_looking *in, const char *schema, const char *name,
    const struct cat_table **out, struct cat_err *err);
/* The path of a relation that is to be made. False: 3F000. */
bool sql_path_new(const struct sql_looking *in, const char *schema, const char *name,
    char out[CAT_PATH_MAX + 1], struct cat_err *err);
/* The schema of that name. public and those of the system have no definition. False: 3F000. */
bool sql_schema_find(const struct sql_looking *in, const char *name, const struct cat_table **out,
    bool missing_ok, struct cat_err *err);

/* As sql_schema_find, where the schema is a part of a relation's name: pg_temp is one there. */
bool sql_schema_of_names(const struct sql_looking *in, const char *name, const struct cat_table **out,
    bool missing_ok, struct cat_err *err);

/* The name of the session's temporary schema, which pg_temp stands for. NULL: it has none. */
const char *sql_temp_schema(const struct sql_looking *in, char out[CAT_NAME_MAX + 1]);
/* True for the path of a temporary relation, and for the name of a schema of such. */
bool sql_path_is_temp(const char *path);
bool sql_schema_is_temp(const char *name);
/* The path of a relation that is not there: no relation has it, and messages show what was
 * written. */
void sql_path_nowhere(const char *schema, const char *name, char out[CAT_PATH_MAX + 1]);
bool sql_path_is_nowhere(const char *path);
/* A path in a message: "name", or "schema.name" outside of public and of temporary schemas. */
const char *sql_path_shown(const char *path);
/* The parts of "schema"."name" or name, unquoted and folded; schema "" = none. False: it is no such
 * name. */
bool sql_path_parse(struct cat_str text, char schema[CAT_NAME_MAX + 1], char name[CAT_NAME_MAX + 1]);

/* A name as SQL, in quotes. No memory: NULL; likewise below. */
const char *sql_quote_name(const char *name, struct nam_arena *arena);
/* The relation in SQL, whatever search_path is. */
const char *sql_path_text(const char *path, struct nam_arena *arena);
/* nextval of a sequence, as defaults are kept. */
const char *sql_nextval_text(const char *path, struct nam_arena *arena);

#endif
