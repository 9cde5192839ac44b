/* json.h -- what json and jsonb share: kernels that find parts of a text. Inside of expr. */
#ifndef NAM_SQL_EXPR_JSON_H
#define NAM_SQL_EXPR_JSON_H

#include <sql/expr/functions.h>

/* json.c */
sql_row_fn sql_json_member, sql_json_member_text, sql_json_element, sql_json_element_text, sql_json_path,
    sql_json_path_text, sql_json_names, sql_json_names_text, sql_json_typeof, sql_json_length;
/* True if the first argument is jsonb, or all escapes of it are characters. */
bool sql_json_readable(struct sql_row *r);

/* json_make.c: a text as a string of json, with its quotes; an array, with that between its
 * elements. */
bool sql_json_put_string(struct sql_writer *w, struct cat_str s);
bool sql_json_put_array(struct sql_writer *w, enum cat_type type, struct cat_str array, const char *between);

/* jsonb.c: casts. */
extern const struct sql_fn sql_fn_jsonb_to_number, sql_fn_jsonb_to_bool;

#endif
