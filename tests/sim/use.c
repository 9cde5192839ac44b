/*
 * use.c -- can free memory be taken? When all processes have left and the audit has counted the
 * free memory, a process joins and takes memory in every size until there is no more; gives it
 * back; and takes it again in another size.
 *
 * The audit names the owner of each byte. That is not enough: memory in a list from which no
 * process takes, or in pieces that are too small for any request, counts as free and is lost.
 */
#include "sim_txn.h"

#include <net/region_format.h>

#include <stdlib.h>
#include <string.h>

/* By then the collector has given back what a transaction took in vain, and the process has been
 * idle for long. */
#define GIVEN_NS UINT64_C(2500000000)

enum {
	ROUNDS = 2,
	SLACK = 12, /* extents: the process's log, ledgers' pages, ends of lists */
	ROWS_A_STEP = 16,
	LONGEST = 300000,
};

static struct {
	struct run *run;
	struct place place;
	unsigned char bytes[LONGEST];
	uint64_t free; /* extents, as the audit counts them */
	uint64_t until;
	bool ended;
} it;

/* As many values of that length as there are. */
static uint64_t
take_values(struct txn *t, struct txn_table *table, uint32_t len)
{
	uint64_t n = 0;
	struct txn_blob blob;
	nam_status st;
	while ((st = txn_blob_put(t, table, it.bytes, len, &blob)) == NAM_OK)
		n++;
	if (st != NAM_FULL)
		run_bad(it.run, "use: a value of %u bytes: %s", len, nam_status_name(st));
	return n;
}

static uint64_t
take_rows(struct txn *t, struct txn_table *table)
{
	uint64_t n = 0;
	nam_status st = NAM_OK;
	while (st == NAM_OK) {
		struct row row[ROWS_A_STEP];
		struct txn_put p[ROWS_A_STEP];
		for (unsigned i = 0; i < ROWS_A_STEP; i++) {
			uint64_t id = ++it.run->next_id;
			uint32_t len = row_make(&row[i], id, id, 0, NULL);
			p[i] = row_put(table, &row[i], len);
		}
		st = txn_insert(t, p, ROWS_A_STEP);
		n += st == NAM_OK ? ROWS_A_STEP : 0;
	}
	if (st != NAM_FULL)
		run_bad(it.run, "use: a row: %s", nam_status_name(st));
	return n;
}

/* What it takes with one transaction, which then gives it back: in bytes, with what goes beside
 * them. */
static uint64_t
take(unsigned table, uint32_t len)
{
	struct place *p = &it.place;
	struct txn *t;
	nam_status st = txn_begin(p->tw[0], TXN_REPEATABLE_READ, &t);
	if (st != NAM_OK) {
		run_bad(it.run, "use: begin: %s", nam_status_name(st));
		return 0;
	}
	uint64_t n;
	if (len == 0)
		n = take_rows(t, &p->table[table]) * block_bytes(it.run);
	else
		n = take_values(t, &p->table[table], len) *
		    (len <= NET_EXTENT / 2 ? audit_room(len)
					   : (len + NET_EXTENT - 1) / NET_EXTENT * NET_EXTENT);
	txn_abort(t);
	net_sleep(p->w[0], GIVEN_NS);
	return n;
}

static void
use_main(void *arg)
{
	struct run *r = arg;
	/* 0: rows, last of all: extents of blocks stay with their table. */
	static const uint32_t len[] = { 30000, 200, 5000, LONGEST, 70000, 0 };
	nam_status st = place_open(r, &it.place, false);
	if (st != NAM_OK)
		run_bad(r, "use: no process can join any more: %s", nam_status_name(st));
	for (unsigned round = 0; round < ROUNDS && !r->bad; round++)
		for (unsigned i = 0; i < sizeof len / sizeof *len && !r->bad; i++) {
			unsigned table = (round + i) % 2;
			if (len[i] == 0 && round + 1 < ROUNDS)
				continue;
			uint64_t got = take(table, len[i]), right = it.free * NET_EXTENT;
			r->used.tries++;
			r->used.bytes += got;
			r->used.free += right;
			/* A sixteenth is what heads of extents, and the roots of long values,
			 * take. */
			if (got + SLACK * NET_EXTENT + right / 16 < right)
				run_bad(r,
				    "use: %lu KiB are free, and of %s%u bytes only %lu KiB can be had (table "
				    "%u, round %u)",
				    right >> 10, len[i] ? "values of " : "rows, ",
				    len[i] ? len[i] : block_bytes(r), got >> 10, table, round);
		}
	place_close(r, &it.place);
	it.ended = true;
}

static bool
is_over(void *arg)
{
	const struct run *r = arg;
	return it.ended || net_sim_now_ns(r->sim) > it.until;
}

void
use_memory(struct run *r)
{
	memset(&it.place, 0, sizeof it.place);
	it.run = r;
	it.ended = false;
	it.until = net_sim_now_ns(r->sim) + UINT64_C(60000000000);
	it.free = r->audited.extents_free;
	r->shape.clocks = false;
	r->shape.mapped = 0;
	if (!place_attach(r, &it.place)) {
		run_bad(r, "use: no process");
		return;
	}
	nam_co_start(net_worker_sched(it.place.w[0]), use_main, r, 256 << 10);
	if (!net_sim_run(r->sim, is_over, r) || !it.ended)
		run_bad(r, "use: it does not come to its end");
	else
		(void)net_sim_run(r->sim, NULL, NULL);
	if (it.ended)
		place_detach(r, &it.place);
}
