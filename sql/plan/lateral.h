/* lateral.h -- a FROM item that speaks of the items before it: run anew for each of their rows. Inside of sql. */
#ifndef NAM_SQL_LATERAL_H
#define NAM_SQL_LATERAL_H

#include <sql/plan/sub.h>

struct sql_lateral {
	struct sql_sub *sub; /* its plan, what it needs of the row beside it, and where that goes */

	/* one execution */
	struct cat_vec *need; /* per slot, over the child's batch */
	unsigned rows;        /* of the child's batch; at: the one whose partners are looked for */
	unsigned batch, next; /* rows of the partners' batch, the next one of it */
	bool open, any;       /* is the plan open for that row; has a partner come out? */
};

#endif
