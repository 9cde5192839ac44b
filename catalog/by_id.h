/* by_id.h -- definitions by their numbers. */
#ifndef NAM_CATALOG_BY_ID_H
#define NAM_CATALOG_BY_ID_H

#include <catalog/catalog.h>

/* The definition of that number, an index's entry too; *out NULL = t sees none. */
nam_status cat_of_id(struct cat *c, struct txn *t, uint32_t id, const struct cat_table **out);

#endif
