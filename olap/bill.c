/* bill.c -- a job's extents: taken, listed before they are used, given back as a whole (A1, A5). */
#include <base/fault.h>
#include <olap/job.h>

#include <stdlib.h>
#include <string.h>

enum { ALL = BILL_WORDS * 8, PARTS = 6 };

bool
olap_extent_sound(struct net_worker *w, uint64_t at)
{
	const struct net_node_info *node = net_node_of(net_worker_net(w), (unsigned)(at >> 48));
	uint64_t off = net_offset_of((net_addr){ at });
	return node != NULL && off >= NET_EXTENT && off % NET_EXTENT == 0 && off <= node->size - NET_EXTENT;
}

/* The bill's extent number i. */
static nam_status
bill_extent(struct olap_job *job, unsigned i, net_addr *out)
{
	struct net_worker *w = job->w;
	net_addr word = olap_in(job->at, offsetof(struct olap_head, bills) + 8u * i);
	uint64_t seen = job->bills[i];
	nam_status st = NAM_OK;
	if (seen == 0)
		st = net_read1(w, word, &seen, 8, &job->counts);
	if (st == NAM_OK && seen == 0) {
		net_addr fresh = { 0 };
		const struct net *n = net_worker_net(w);
		unsigned nodes = net_node_count(n);
		st = NAM_FULL;
		for (unsigned k = 0; k < nodes && st == NAM_FULL; k++)
			st = net_extent_take(w, net_node(n, (job->turn + k) % nodes)->region, 1, &fresh);
		if (st == NAM_OK)
			st = net_cas1(w, word, 0, fresh.bits, &seen, &job->counts);
		if (st == NAM_OK && seen != 0)
			st = net_extent_give(w, fresh);
		else if (st == NAM_OK)
			seen = fresh.bits;
	}
	if (st == NAM_OK && !olap_extent_sound(w, seen))
		st = NAM_CORRUPT;
	if (st != NAM_OK)
		return st;
	job->bills[i] = seen;
	*out = (net_addr){ seen };
	return NAM_OK;
}

/* Takes up to BILL_TAKE extents of several nodes, as many of each: those of one node in a row. */
static nam_status
take(struct olap_job *job, net_addr *out, unsigned *got)
{
	const struct net *net = net_worker_net(job->w);
	unsigned nodes = net_node_count(net), parts = nodes < PARTS ? nodes : PARTS;
	nam_status st = NAM_OK;
	*got = 0;
	/* Nodes that are full are passed by. */
	for (unsigned k = 0; k < nodes && *got < BILL_TAKE && (st == NAM_OK || st == NAM_FULL); k++) {
		unsigned region = net_node(net, job->turn++ % nodes)->region, n = BILL_TAKE / parts, more;
		st = net_extents_take(job->w, region, n, false, out + *got, &more);
		*got += more;
	}
	return *got > 0 ? NAM_OK : st == NAM_OK ? NAM_FULL : st;
}

/* Takes a line of extents and lists them. */
static nam_status
refill(struct olap_job *job)
{
	struct net_worker *w = job->w;
	unsigned got = 0;
	uint64_t base = 0, line[BILL_TAKE];
	net_addr some[BILL_TAKE], bill = { 0 };
	nam_status st = take(job, some, &got);
	if (st != NAM_OK)
		return st;
	st = net_faa1(w, olap_in(job->at, offsetof(struct olap_head, bill)), BILL_LINE, &base, &job->counts);
	if (st == NAM_OK && base / BILL_WORDS >= OLAP_BILLS)
		st = NAM_FULL;
	if (st == NAM_OK)
		st = bill_extent(job, (unsigned)(base / BILL_WORDS), &bill);
	for (unsigned i = 0; i < got; i++)
		line[i] = some[i].bits;
	if (st == NAM_OK && !nam_fault(OLAP_UNLISTED))
		st = net_write1(w, net_plus(bill, base % BILL_WORDS * 8), line, got * 8, &job->counts);
	if (st != NAM_OK) {
		net_extents_give(w, got, some);
		return st;
	}
	/* Used in turn, so that writers keep all nodes busy. */
	unsigned nodes = net_node_count(net_worker_net(w)), parts = nodes < PARTS ? nodes : PARTS;
	unsigned each = BILL_TAKE / parts;
	for (unsigned i = 0; i < each; i++)
		for (unsigned k = i; k < got; k += each)
			job->stock[job->stocked++] = some[k];
	return NAM_OK;
}

nam_status
olap_extent(struct olap_job *job, net_addr *out)
{
	nam_status st = job->stocked > 0 ? NAM_OK : refill(job);
	if (st == NAM_OK)
		*out = job->stock[--job->stocked];
	return st;
}

/* One extent of the bill: a line's words are emptied, then its extents go back. */
static nam_status
pay(struct net_worker *w, net_addr bill, uint64_t words, uint64_t *all, struct net_counts *acct)
{
	static const uint64_t zeros[BILL_LINE];
	nam_status worst = net_read1(w, bill, all, (uint32_t)(words * 8), acct);
	for (uint64_t at = 0; worst == NAM_OK && at < words; at += BILL_LINE) {
		net_addr back[BILL_LINE];
		unsigned n = 0;
		for (unsigned i = 0; i < BILL_LINE; i++)
			if (olap_extent_sound(w, all[at + i]))
				back[n++].bits = all[at + i];
		if (n == 0)
			continue;
		worst = net_write1(w, net_plus(bill, at * 8), zeros, sizeof zeros, acct);
		if (worst == NAM_OK)
			worst = net_extents_give(w, n, back);
	}
	return worst;
}

nam_status
olap_bill_pay(struct net_worker *w, net_addr head, struct net_counts *acct)
{
	uint64_t bills[OLAP_BILLS], words = 0, none = 0;
	uint64_t *all = malloc(ALL);
	nam_status st = all != NULL ? NAM_OK : NAM_NOMEM;
	if (st == NAM_OK)
		st = net_read1(w, olap_in(head, offsetof(struct olap_head, bill)), &words, 8, acct);
	if (st == NAM_OK)
		st =
		    net_read1(w, olap_in(head, offsetof(struct olap_head, bills)), bills, sizeof bills, acct);
	for (unsigned i = 0; st == NAM_OK && i < OLAP_BILLS; i++) {
		uint64_t base = (uint64_t)i * BILL_WORDS, n = words > base ? words - base : 0;
		if (!olap_extent_sound(w, bills[i]))
			continue;
		st = pay(w, (net_addr){ bills[i] }, n < BILL_WORDS ? n : BILL_WORDS, all, acct);
		if (st == NAM_OK)
			st = net_write1(
			    w, olap_in(head, offsetof(struct olap_head, bills) + 8u * i), &none, 8, acct);
		if (st == NAM_OK)
			st = net_extent_give(w, (net_addr){ bills[i] });
	}
	free(all);
	return st;
}
