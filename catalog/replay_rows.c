/*
 * replay_rows.c -- reads the log once more, for the bytes of its rows.
 *
 * The published life does not change, so its records come as they came before: each has the same
 * number again, and what was found out by then holds.
 */
#include "replay_internal.h"

#include <base/fault.h>
#include <wal/remote/log.h>

#include <stdlib.h>
#include <string.h>

enum { BATCH = 2 << 20, ROWS_FIRST = 4096, ARENA = 64 << 10 };

static nam_status
find_row(void *arg, const struct txn_logged *head, const struct txn_logged_item *item, const char *bytes,
    bool stays)
{
	struct cat_batch *b = ((struct cat_replay *)arg)->batch;
	struct cat_batch_row row = {
		.bytes = bytes, .at = item->at, .cid = head->cid, .table = item->table, .len = item->len
	};
	if (!stays && item->len > 0 && (row.bytes = nam_arena_copy(&b->arena, bytes, item->len)) == NULL)
		return NAM_NOMEM;
	if (item->kind == TXN_LOGGED_KEPT_ROW) {
		if (item->len < sizeof row.cid)
			return NAM_CORRUPT;
		memcpy(&row.cid, row.bytes, sizeof row.cid);
		row.bytes += sizeof row.cid;
		row.len -= (uint32_t)sizeof row.cid;
	}
	if (b->rows == b->cap) {
		size_t cap = b->cap > 0 ? 2 * b->cap : ROWS_FIRST;
		struct cat_batch_row *more = realloc(b->row, cap * sizeof *more);
		if (more == NULL)
			return NAM_NOMEM;
		b->row = more;
		b->cap = cap;
	}
	b->row[b->rows++] = row;
	return NAM_OK;
}

static nam_status
find_rows(struct cat_replay *r, const struct txn_logged *head, const char *bytes, uint32_t len)
{
	if ((head->kind != TXN_LOGGED_COMMIT && head->kind != TXN_LOGGED_KEPT) || cat_replay_undone(r, head))
		return NAM_OK;
	return cat_bodies_take(&r->again, r->again_records, head, bytes, len);
}

nam_status
cat_replay_again(struct cat_replay *r)
{
	nam_status st = cat_bodies_torn(&r->bodies, &r->torn, &r->torns);
	cat_bodies_clear(&r->bodies);
	r->again = (struct cat_bodies){ .want = CAT_BODIES_ROWS,
		.cut = r->begin > 0,
		.item = find_row,
		.arg = r,
		.torn = r->torn,
		.torns = r->torns };
	return st;
}

nam_status
cat_batch_open(struct cat_batch *b, const struct cat_replay *r, struct net_worker *w)
{
	uint32_t record;
	*b = (struct cat_batch){ 0 };
	nam_arena_init(&b->arena, ARENA);
	nam_status st = wal_log_read_wide(w, r->region, true);
	if (st == NAM_OK)
		st = wal_log_most(w, r->region, &record, &b->answer);
	if (st == NAM_OK && (b->bytes = malloc((size_t)BATCH + b->answer)) == NULL)
		st = NAM_NOMEM;
	return st;
}

void
cat_batch_close(struct cat_batch *b, const struct cat_replay *r, struct net_worker *w)
{
	/* Fails if another coroutine reads: that one does it. */
	(void)wal_log_read_wide(w, r->region, false);
	nam_arena_fini(&b->arena);
	free(b->bytes);
	free(b->row);
}

nam_status
cat_replay_next(struct cat_replay *r, struct net_worker *w, struct cat_batch *b, bool *end)
{
	nam_status st = NAM_OK;
	b->rows = 0;
	nam_arena_reset(&b->arena);
	r->batch = b;
	for (size_t used = 0; st == NAM_OK && !r->over && used < BATCH;) {
		const char *records;
		uint32_t n;
		st = wal_log_read(
		    w, r->region, r->position, b->bytes + used, b->answer, &records, &n, &r->position);
		if (st != NAM_OK)
			break;
		r->over = n == 0;
		used = (size_t)(records + n - b->bytes + 7) & ~(size_t)7;
		st = cat_replay_each(r, find_rows, records, n, &r->again_records);
	}
	*end = r->over && b->rows == 0;
	return st;
}
