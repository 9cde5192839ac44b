/* scope.h -- queries that are not bound yet, seen from inside: for scope.c and names.c alone. */
#ifndef NAM_SQL_BIND_SCOPE_H
#define NAM_SQL_BIND_SCOPE_H

#include <sql/plan/bind/bind.h>

/* Nodes that one statement may look at; trees share what they repeat. */
enum { BIND_NODES_LOOK = 1500000 };

/* A query around the place that one looks from. */
struct bind_scope {
	const struct bind_scope *out; /* NULL: the binder's query is the next one around it */
	const struct ast_select *q;
	unsigned lo, hi; /* the items of FROM that are seen there */
	unsigned joins;  /* so many joins are made: their aliases hide names inside of them */
	unsigned ctes;   /* so many names of its WITH are seen */
};

/* Where one looks from: inside of queries that are not bound, which stand in the text of a
 * binder's query. */
struct bind_seen {
	struct bind *b;
	const struct bind_cte *cte;  /* the names of WITH that b's query sees */
	const struct bind_scope *in; /* the innermost one; NULL = b's own text */
	unsigned deep;
};

/* Names of columns, in their order. */
struct bind_names {
	const char **name;
	unsigned n, cap;
};

/* Names that have been found already, by query. */
struct bind_named {
	struct bind_named *next;
	const struct ast_select *q;
	struct bind_names names;
	bool done;
};

/* Memory that is gone when the plan is made. */
void *sql_bind_passing(struct bind *b, size_t n);
/* The columns of a query's answer. None if it cannot be bound, which its binder will say. */
const struct bind_names *sql_bind_query_names(const struct bind_seen *at, const struct ast_select *q);
/* The columns of FROM's items first..last of the innermost query there, as `*` has them. */
bool sql_bind_star_names(
    const struct bind_seen *at, unsigned first, unsigned last, unsigned joins, struct bind_names *out);
/* The last item of the join (or of the item alone) that begins at item k. */
unsigned sql_bind_unit(const struct bind_scope *s, unsigned k);
/* FigureColname of an expression at that place. */
const char *sql_bind_name_at(const struct bind_seen *at, const struct ast_expr *e);
/* True if an item, a join, or a USING clause that is seen in the innermost query there has that
 * name. *first, *last: its items; *using_: the join whose USING clause it is, or NULL. */
bool sql_bind_named_item(const struct bind_seen *at, const char *schema, const char *name, unsigned *first,
    unsigned *last, const struct ast_join **using_);

#endif
