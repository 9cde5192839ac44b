/*
 * bodies.h -- the items of the bodies that a log has, out of whatever records they come in
 * (txn/logged_format.h).
 *
 * A body may be as long as the database, so none is put together in memory. An item is given on as
 * soon as its bytes are there, and what nobody wants of it is left out.
 */
#ifndef NAM_CATALOG_BODIES_H
#define NAM_CATALOG_BODIES_H

#include <base/status.h>
#include <txn/logged_format.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cat_bodies_want {
	/* The items of bodies that are whole. Of a row of a user's table no bytes but the CID of a
	 * kept one. */
	CAT_BODIES_WHOLE,
	/* Rows of users' tables, as they come; bodies that are not whole are known. */
	CAT_BODIES_ROWS,
};

struct cat_open_body;

/* bytes: of the item, as many as are wanted. stays: they lie in the record. */
typedef nam_status cat_item_fn(void *arg, const struct txn_logged *head, const struct txn_logged_item *item,
    const char *bytes, bool stays);

struct cat_bodies {
	enum cat_bodies_want want;
	bool cut; /* the log's begin was cut off */
	cat_item_fn *item;
	void *arg;
	const uint64_t *torn; /* of ROWS: what cat_bodies_torn has given */
	size_t torns;
	uint64_t orphan; /* the greatest CID of a body without a first part */
	/* ours */
	struct cat_open_body *body;
	size_t n, cap;
};

/* The record with that number, which is of no attempt that was undone. NAM_CORRUPT, NAM_NOMEM, or
 * what item has returned. */
nam_status cat_bodies_take(
    struct cat_bodies *b, uint64_t number, const struct txn_logged *head, const char *bytes, uint32_t len);
/* At the log's end: the numbers of the first records of bodies whose last part it does not have,
 * rising. Gives *out (free). NAM_NOMEM. */
nam_status cat_bodies_torn(const struct cat_bodies *b, uint64_t **out, size_t *n);
/* Frees what is open. */
void cat_bodies_clear(struct cat_bodies *b);

#endif
