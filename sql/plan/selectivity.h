/* selectivity.h -- how many rows will be left: shares of rows for which conditions are true,
 * distinct values. Inside of sql. */
#ifndef NAM_SQL_SELECTIVITY_H
#define NAM_SQL_SELECTIVITY_H

#include <sql/plan/bind/bind.h>

/* Rows of table k, as last seen or analyzed, its conditions aside. */
double sql_sel_rows(struct bind *b, unsigned k);
/* Share of rows for which all of e[0..n) are true, 0 < share <= 1. */
double sql_sel_all(struct bind *b, struct sql_expr *const *e, unsigned n);
/* Share of the pairs for which l = r, two expressions over different tables. */
double sql_sel_join(struct bind *b, const struct sql_expr *l, const struct sql_expr *r);
/* How many different values e has; 0 = unknown. */
double sql_sel_distinct(struct bind *b, const struct sql_expr *e);
/* Groups that so many rows make by the values of e[0..n). */
double sql_sel_groups(struct bind *b, struct sql_expr *const *e, unsigned n, double rows);

#endif
