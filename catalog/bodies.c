/* bodies.c -- cuts the bodies of a log into their items (bodies.h). */
#include "bodies.h"

#include <catalog/catalog_internal.h>

#include <stdlib.h>
#include <string.h>

enum { BYTES_FIRST = 1 << 12 };

struct bytes {
	char *p;
	uint64_t n, cap;
};

/* A body of several parts, as far as it has been read. The log receives each part once (wal_msg.h,
 * Q5). */
struct cat_open_body {
	uint64_t lock, check; /* its name */
	uint64_t first;       /* number of its first record */
	uint32_t parts;
	bool torn;
	uint64_t skip;        /* bytes to come that nobody wants */
	struct bytes begun;   /* of an item that goes on in the next part */
	struct bytes waiting; /* of WHOLE: items, as far as they are wanted; pad: bytes of one */
};

static bool
add(struct bytes *b, const void *bytes, uint64_t n)
{
	if (n > b->cap - b->n) {
		uint64_t cap = b->cap > 0 ? 2 * b->cap : BYTES_FIRST;
		while (cap - b->n < n)
			cap *= 2;
		char *more = realloc(b->p, cap);
		if (more == NULL)
			return false;
		b->p = more;
		b->cap = cap;
	}
	if (n > 0)
		memcpy(b->p + b->n, bytes, n);
	b->n += n;
	return true;
}

static void
let_go(struct cat_open_body *o)
{
	free(o->begun.p);
	free(o->waiting.p);
}

static void
forget(struct cat_bodies *b, struct cat_open_body *o)
{
	let_go(o);
	*o = b->body[--b->n];
}

void
cat_bodies_clear(struct cat_bodies *b)
{
	for (size_t i = 0; i < b->n; i++)
		let_go(&b->body[i]);
	free(b->body);
	b->body = NULL;
	b->n = b->cap = 0;
	b->orphan = 0;
}

/* ---- items ---- */

static bool
is_users_row(const struct txn_logged_item *item)
{
	return (item->kind == TXN_LOGGED_ROW || item->kind == TXN_LOGGED_KEPT_ROW) &&
	       item->table >= CAT_FIRST_ID;
}

/* Bytes of an item that are wanted. */
static uint32_t
wanted(const struct cat_bodies *b, const struct txn_logged_item *item)
{
	bool row = is_users_row(item);
	if (b->want == CAT_BODIES_ROWS)
		return row ? item->len : 0;
	if (!row)
		return item->len;
	return item->kind == TXN_LOGGED_KEPT_ROW && item->len >= sizeof(uint64_t) ? sizeof(uint64_t) : 0;
}

/* The bytes that are wanted of an item are there. */
static nam_status
give(const struct cat_bodies *b, struct cat_open_body *o, const struct txn_logged *head,
    const struct txn_logged_item *item, const char *bytes, bool stays)
{
	bool whole = head->part == 0 && (head->flags & TXN_LOGGED_LAST);
	if (b->want == CAT_BODIES_ROWS)
		return is_users_row(item) && !o->torn ? b->item(b->arg, head, item, bytes, stays) : NAM_OK;
	if (whole)
		return b->item(b->arg, head, item, bytes, stays);
	struct txn_logged_item waits = *item;
	waits.pad = wanted(b, item);
	return add(&o->waiting, &waits, sizeof waits) && add(&o->waiting, bytes, waits.pad) ? NAM_OK
											    : NAM_NOMEM;
}

/* Goes on with the item that has begun, and says how many of the bytes were its. */
static nam_status
go_on(struct cat_bodies *b, struct cat_open_body *o, const struct txn_logged *head, const char *bytes,
    uint64_t n, uint64_t *used)
{
	struct txn_logged_item item;
	struct bytes *begun = &o->begun;
	uint64_t want = begun->n < sizeof item ? sizeof item - begun->n : 0;
	*used = want < n ? want : n;
	if (!add(begun, bytes, *used))
		return NAM_NOMEM;
	if (begun->n < sizeof item)
		return NAM_OK;
	memcpy(&item, begun->p, sizeof item);
	want = sizeof item + wanted(b, &item) - begun->n;
	want = want < n - *used ? want : n - *used;
	if (!add(begun, bytes + *used, want))
		return NAM_NOMEM;
	*used += want;
	if (begun->n < sizeof item + wanted(b, &item))
		return NAM_OK;
	nam_status st = item.at == 0 ? NAM_CORRUPT : give(b, o, head, &item, begun->p + sizeof item, false);
	o->skip = (((uint64_t)item.len + 7) & ~UINT64_C(7)) - wanted(b, &item);
	begun->n = 0;
	return st;
}

/* The items of a part. */
static nam_status
cut(struct cat_bodies *b, struct cat_open_body *o, const struct txn_logged *head, const char *bytes,
    uint64_t n)
{
	struct txn_logged_item item;
	nam_status st = NAM_OK;
	for (uint64_t at = 0; st == NAM_OK && at < n;) {
		uint64_t used = o->skip < n - at ? o->skip : n - at;
		o->skip -= used;
		at += used;
		if (at == n)
			break;
		if (o->begun.n == 0 && n - at >= sizeof item) {
			memcpy(&item, bytes + at, sizeof item);
			if (wanted(b, &item) <= n - at - sizeof item) {
				at += sizeof item;
				st = item.at == 0 ? NAM_CORRUPT : give(b, o, head, &item, bytes + at, true);
				o->skip = ((uint64_t)item.len + 7) & ~UINT64_C(7);
				continue;
			}
		}
		st = go_on(b, o, head, bytes + at, n - at, &used);
		at += used;
	}
	return st;
}

/* The last part was there. */
static nam_status
end(const struct cat_bodies *b, const struct cat_open_body *o, const struct txn_logged *head)
{
	struct txn_logged_item item;
	nam_status st = o->skip > 0 || o->begun.n > 0 ? NAM_CORRUPT : NAM_OK;
	for (uint64_t at = 0; st == NAM_OK && at < o->waiting.n;) {
		memcpy(&item, o->waiting.p + at, sizeof item);
		at += sizeof item;
		st = b->item(b->arg, head, &item, o->waiting.p + at, false);
		at += item.pad;
	}
	return st;
}

/* ---- bodies ---- */

static struct cat_open_body *
body_that_is(const struct cat_bodies *b, const struct txn_logged *head)
{
	for (size_t i = 0; i < b->n; i++)
		if (b->body[i].lock == head->lock && b->body[i].check == head->check)
			return &b->body[i];
	return NULL;
}

static int
by_number(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

static struct cat_open_body *
body_new(struct cat_bodies *b, uint64_t number, const struct txn_logged *head)
{
	if (b->n == b->cap) {
		size_t cap = b->cap > 0 ? 2 * b->cap : 16;
		struct cat_open_body *more = realloc(b->body, cap * sizeof *more);
		if (more == NULL)
			return NULL;
		b->body = more;
		b->cap = cap;
	}
	b->body[b->n] = (struct cat_open_body){ .lock = head->lock,
		.check = head->check,
		.first = number,
		.torn =
		    b->torns > 0 && bsearch(&number, b->torn, b->torns, sizeof number, by_number) != NULL };
	return &b->body[b->n++];
}

nam_status
cat_bodies_take(
    struct cat_bodies *b, uint64_t number, const struct txn_logged *head, const char *bytes, uint32_t len)
{
	bool last = (head->flags & TXN_LOGGED_LAST) != 0;
	if (last && head->part == 0) {
		struct cat_open_body alone = { 0 };
		nam_status st = cut(b, &alone, head, bytes, len);
		st = st == NAM_OK ? end(b, &alone, head) : st;
		let_go(&alone);
		return st;
	}
	struct cat_open_body *o = body_that_is(b, head);
	if (o == NULL && head->part > 0 && b->cut) {
		/* J9: its first part has been cut off, so a checkpoint has kept what it wrote. */
		b->orphan = head->cid > b->orphan ? head->cid : b->orphan;
		return NAM_OK;
	}
	if (o == NULL && (o = body_new(b, number, head)) == NULL)
		return NAM_NOMEM;
	if (head->part < o->parts)
		return NAM_OK;
	if (head->part > o->parts)
		return NAM_CORRUPT;
	o->parts++;
	nam_status st = cut(b, o, head, bytes, len);
	if (!last || st != NAM_OK)
		return st;
	st = end(b, o, head);
	forget(b, o);
	return st;
}

nam_status
cat_bodies_torn(const struct cat_bodies *b, uint64_t **out, size_t *n)
{
	*out = NULL;
	*n = b->n;
	if (b->n == 0)
		return NAM_OK;
	if ((*out = calloc(b->n, sizeof **out)) == NULL)
		return NAM_NOMEM;
	for (size_t i = 0; i < b->n; i++)
		(*out)[i] = b->body[i].first;
	qsort(*out, b->n, sizeof **out, by_number);
	return NAM_OK;
}
