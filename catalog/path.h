/*
 * path.h -- a relation's path: what the catalog knows it by.
 *
 * The path of a relation of schema public is its name. That of any other is "schema.name". A name
 * of public that holds a dot has one more before it, so each path has one meaning; a schema's name
 * holds no dot. The path of a schema itself is "schema.". Paths are compared byte by byte.
 */
#ifndef NAM_CATALOG_PATH_H
#define NAM_CATALOG_PATH_H

#include <stdbool.h>

enum { CAT_NAME_MAX = 63, CAT_PATH_MAX = 2 * CAT_NAME_MAX + 1 };

/* The schema of paths that name none. */
#define CAT_PUBLIC_SCHEMA "public"

/* The path of a name in a schema. Both are cut to CAT_NAME_MAX bytes. name "": the schema's own. */
void cat_path(const char *schema, const char *name, char out[CAT_PATH_MAX + 1]);
/* The name in its schema: a part of path. */
const char *cat_local(const char *path);
void cat_schema_of(const char *path, char out[CAT_NAME_MAX + 1]);
/* True if it is a relation's path of schema public. */
bool cat_in_public(const char *path);
/* It lies in the schema of a session's temporary relations. */
bool cat_is_temporary(const char *path);
/* The path of another name in the schema of path. */
void cat_beside(const char *path, const char *name, char out[CAT_PATH_MAX + 1]);
bool cat_same_schema(const char *a, const char *b);

#endif
