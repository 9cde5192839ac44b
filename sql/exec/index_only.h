/* index_only.h -- rows that come out of an index's keys. For exec/index.c. */
#ifndef NAM_SQL_INDEX_ONLY_H
#define NAM_SQL_INDEX_ONLY_H

#include <sql/exec/state.h>

/* Fills o->run->told if sql_index_only(o). False: no memory. */
bool sql_index_told_room(struct sql_exec *x, struct sql_op_index *o);
/* The batch of rows that have keys: row[0..rows). */
bool sql_index_decode(struct sql_exec *x, struct sql_op_index *o, const struct txn_row *row, unsigned rows);

#endif
