/*
 * smallbank.c -- SmallBank: six short transactions on two tables of balances, nine in ten of them
 * on a few hot accounts.
 *
 * The mix and the hot set are those of FORD and SMART-DTX. Money is whole cents. A payment that the
 * account cannot bear is refused: it changes nothing, and counts neither as a commit nor as an
 * abort.
 */
#include "smallbank.h"

#include <bench/mix.h>
#include <bench/tables.h>

#include <stdlib.h>
#include <string.h>

enum {
	DEPOSIT = 130,
	PAYMENT = 500,
	SAVING = 2020,
	CHECK = 500,
	PENALTY = 100,
	ROWS_MAX = 3, /* of a transaction */
};

const char *const bench_bank_names[BANK_KINDS] = { "Amalgamate", "Balance", "DepositChecking", "SendPayment",
	"TransactSavings", "WriteCheck" };
const unsigned bench_bank_percent[BANK_KINDS] = { 15, 15, 15, 25, 15, 15 };

struct bank_params bench_bank_params = { .accounts = 100000, .hot = 4000, .hot_percent = 90 };

void
bench_bank_draw(struct bank_order *o, struct nam_rng *r, const struct bank_params *p)
{
	unsigned dice = (unsigned)nam_rng_below(r, 100), what = 0;
	while (dice >= bench_bank_percent[what])
		dice -= bench_bank_percent[what++];
	o->what = (enum bank_what)what;
	unsigned among = nam_rng_below(r, 100) < p->hot_percent ? p->hot : p->accounts;
	o->account[0] = (int64_t)nam_rng_below(r, among);
	do
		o->account[1] = (int64_t)nam_rng_below(r, among);
	while (o->account[1] == o->account[0]);
}

/* ---- tables ---------------------------------------------------------------------------------- */

static void
both(struct bank_side *s, struct bench_table out[2])
{
	out[0] = (struct bench_table){ &s->savings, sizeof(struct bank_account), 8 };
	out[1] = (struct bench_table){ &s->checking, sizeof(struct bank_account), 8 };
}

static uint64_t
bytes(const void *params)
{
	const struct bank_params *p = params;
	/* blocks of two versions, index, archives; and what the workers keep at hand */
	return (uint64_t)p->accounts * 2 * 400 + (UINT64_C(1) << 30);
}

static size_t
entries(const void *params)
{
	return (size_t)((const struct bank_params *)params)->accounts * 4;
}

static void
begin(void *side, const struct bench_sim *p, unsigned machine, struct net_counts *counts)
{
	(void)machine;
	*(struct bank_side *)side =
	    (struct bank_side){ .p = &bench_bank_params, .counts = counts, .seed = p->seed };
}

static unsigned
tables(void *side, struct txn_table *out[BENCH_SIM_TABLES])
{
	struct bank_side *s = side;
	out[0] = &s->savings;
	out[1] = &s->checking;
	return 2;
}

static nam_status
prepare(void *side, const struct cn_place *pl)
{
	struct bench_table t[2];
	both(side, t);
	return bench_tables_make(pl, t, 2);
}

static nam_status
every(struct bank_side *s, const struct cn_place *pl, bool insert)
{
	struct bench_table t[2];
	both(s, t);
	nam_status st = NAM_OK;
	for (unsigned i = 0; st == NAM_OK && i < s->p->accounts;) {
		struct bank_account row[BENCH_LOAD_BATCH];
		unsigned n = 0;
		for (; n < BENCH_LOAD_BATCH && i < s->p->accounts; n++, i++)
			row[n] = (struct bank_account){ .id = i, .cents = BANK_CENTS };
		for (unsigned k = 0; st == NAM_OK && k < 2; k++)
			st = insert ? bench_tables_load(pl, &t[k], row, n)
				    : bench_tables_warm(pl, &t[k], row, sizeof *row, n);
		bench_progress("%s accounts %3d %%", insert ? "loading" : "reading",
		    (int)((uint64_t)i * 100 / s->p->accounts));
	}
	bench_progress_end(NULL);
	return st;
}

static nam_status
warm(void *side, const struct cn_place *pl)
{
	return every(side, pl, false);
}

static nam_status
load(void *side, const struct cn_place *pl)
{
	nam_status st = every(side, pl, true);
	return st == NAM_OK ? warm(side, pl) : st;
}

static void
drop(void *side, const struct cn_place *pl)
{
	struct bench_table t[2];
	both(side, t);
	bench_tables_drop(pl, t, 2);
}

/* ---- transactions ---------------------------------------------------------------------------- */

/* Which rows a transaction reads, and which of them it changes. The account is order.account[of].
 */
static const struct {
	unsigned rows;
	struct {
		bool checking, change;
		unsigned of;
	} row[ROWS_MAX];
} plan[BANK_KINDS] = {
	[BANK_AMALGAMATE] = { 3, { { false, true, 0 }, { true, true, 0 }, { true, true, 1 } } },
	[BANK_BALANCE] = { 2, { { false, false, 0 }, { true, false, 0 } } },
	[BANK_DEPOSIT] = { 1, { { true, true, 0 } } },
	[BANK_SEND] = { 2, { { true, true, 0 }, { true, true, 1 } } },
	[BANK_TRANSACT] = { 1, { { false, true, 0 } } },
	[BANK_CHECK] = { 2, { { false, false, 0 }, { true, true, 0 } } },
};

/* What the transaction makes of the balances that it read. False: it is refused. */
static bool
balances(enum bank_what what, int64_t cents[ROWS_MAX])
{
	switch (what) {
	case BANK_AMALGAMATE:
		cents[2] += cents[0] + cents[1];
		cents[0] = cents[1] = 0;
		return true;
	case BANK_DEPOSIT:
		cents[0] += DEPOSIT;
		return true;
	case BANK_SEND:
		cents[0] -= PAYMENT;
		cents[1] += PAYMENT;
		return cents[0] >= 0;
	case BANK_TRANSACT:
		cents[0] += SAVING;
		return true;
	case BANK_CHECK:
		cents[1] -= cents[0] + cents[1] < CHECK ? CHECK + PENALTY : CHECK;
		return true;
	default:
		return true;
	}
}

/* What changes each row it reads needs no snapshot (txn_begin_latest). A refusal comes from one
 * balance, so it is right at the moment when that was READ. */
static bool
changes_all(enum bank_what what)
{
	bool all = true;
	for (unsigned i = 0; i < plan[what].rows; i++)
		all = all && plan[what].row[i].change;
	return all;
}

/* One attempt. *refused: it ended, and changed nothing. *change: what the bank owes more than
 * before. */
static nam_status
attempt(struct bank_side *s, const struct cn_place *pl, const struct bank_order *o, struct nam_arena *a,
    struct net_counts *counts, bool *refused, int64_t *change)
{
	struct txn *t;
	struct txn_get get[ROWS_MAX];
	int64_t cents[ROWS_MAX];
	unsigned n = plan[o->what].rows;
	for (unsigned i = 0; i < n; i++) {
		struct txn_table *table = plan[o->what].row[i].checking ? &s->checking : &s->savings;
		get[i] = bench_get(table, &o->account[plan[o->what].row[i].of], 8);
		txn_expect(pl->txn, table, get[i].hash, false);
	}
	enum txn_iso iso = s->p->serializable ? TXN_SERIALIZABLE : TXN_REPEATABLE_READ;
	bool latest = !s->p->serializable && changes_all(o->what);
	nam_status st = latest ? txn_begin_latest(pl->txn, NULL, &t) : txn_begin(pl->txn, iso, &t);
	if (st != NAM_OK)
		return st;
	txn_set_counts_sink(t, counts);
	*change = 0;
	st = txn_get(t, get, n, a);
	for (unsigned i = 0; st == NAM_OK && i < n; i++) {
		/* every account exists */
		st = get[i].status == NAM_ABSENT ? NAM_CORRUPT : get[i].status;
		if (st == NAM_OK) {
			cents[i] = ((const struct bank_account *)get[i].row.bytes)->cents;
			*change -= cents[i];
		}
	}
	*refused = st == NAM_OK && !balances(o->what, cents);
	for (unsigned i = 0; st == NAM_OK && i < n; i++) {
		*change += cents[i];
		if (*refused || !plan[o->what].row[i].change)
			continue;
		void *row;
		st = txn_edit(t, get[i].table, &get[i].row, &row);
		if (st == NAM_OK)
			((struct bank_account *)row)->cents = cents[i];
	}
	if (st == NAM_OK && !*refused)
		return txn_commit(t, NULL);
	txn_abort(t);
	*change = 0;
	return st;
}

static void
client(
    void *side, const struct cn_place *pl, unsigned number, struct bench_slice *out, const atomic_bool *stop)
{
	struct bank_side *s = side;
	struct nam_arena a;
	struct nam_rng r;
	nam_arena_init(&a, 32 << 10);
	nam_rng_init(&r, s->seed + number * 7919u + out->round * UINT64_C(104729));
	int64_t sum = 0, change = 0;
	nam_status st = NAM_OK;
	uint64_t ended = net_now_ns(pl->net);
	while (st == NAM_OK && !atomic_load_explicit(stop, memory_order_relaxed)) {
		struct bank_order o;
		bool refused = false;
		bench_bank_draw(&o, &r, s->p);
		uint64_t began = ended; /* closed loop: the next begins when the last has been
					 * answered */
		nam_arena_reset(&a);
		while ((st = attempt(s, pl, &o, &a, &s->counts[number], &refused, &change)) == NAM_CONFLICT) {
			out->aborts++;
			nam_arena_reset(&a);
		}
		ended = net_now_ns(pl->net);
		if (st == NAM_OK && refused) {
			out->refused++;
		} else if (st == NAM_OK) {
			sum += change;
			out->commits++;
			nam_hist_add(&out->latency_ns, ended - began);
		}
	}
	if (st != NAM_OK) {
		out->errors++;
		fprintf(stderr, "namdb bench: SmallBank: %s\n", nam_status_text(st));
	}
	atomic_fetch_add(&s->change, sum);
	nam_arena_fini(&a);
}

/* ---- the check: from outside, by scans ------------------------------------------------------- */

struct census {
	const struct bank_params *p;
	unsigned char *seen; /* of each account */
	uint64_t strange, rows;
	int64_t cents;
};

static void
count(void *arg, const void *row)
{
	struct census *c = arg;
	const struct bank_account *a = row;
	c->rows++;
	c->cents += a->cents;
	if (a->id < 0 || a->id >= (int64_t)c->p->accounts || c->seen[a->id]++ != 0)
		c->strange++;
}

static uint64_t
check(void *const *side, unsigned machines, const struct cn_place *pl)
{
	struct bank_side *s = side[0];
	struct bench_table all[2];
	struct txn *t;
	uint64_t bad = 0, rows = 0;
	int64_t cents = 0, want = (int64_t)s->p->accounts * 2 * BANK_CENTS;
	both(s, all);
	for (unsigned i = 0; i < machines; i++)
		want += atomic_load(&((struct bank_side *)side[i])->change);
	if (bench_tables_begin(pl, &t) != NAM_OK)
		return bench_complain("cannot begin", 1);
	for (unsigned i = 0; i < 2; i++) {
		struct census c = { .p = s->p, .seen = calloc(s->p->accounts, 1) };
		if (c.seen == NULL) {
			bad += bench_complain("out of memory", 1);
			break;
		}
		bad += bench_tables_each(t, all[i].at, count, &c);
		bad += bench_complain("accounts that are twice, or none", c.strange);
		bad += bench_complain("accounts missing or too many",
		    c.rows > s->p->accounts ? c.rows - s->p->accounts : s->p->accounts - c.rows);
		rows += c.rows;
		cents += c.cents;
		free(c.seen);
	}
	bad += bench_complain("the money is not what was there and what the commits changed", cents != want);
	bad += bench_complain("records still locked", bench_tables_locked(t, all, 2));
	fprintf(stderr, "check: %llu accounts, %lld cents, %lld expected: %s\n", (unsigned long long)rows,
	    (long long)cents, (long long)want, bad ? "WRONG" : "all holds");
	txn_commit(t, NULL);
	return bad;
}

/* ---- options --------------------------------------------------------------------------------- */

static const struct bench_published published[] = {
	{ "SMART-DTX", "4.63 M/s, P50 137 us: 1 compute, 96 threads x 8 coroutines",
	    "ConnectX-6 200 Gb/s, 2 memory nodes" },
	{ "FORD", "2.12 M/s at its best, 0.80 M/s with more threads",
	    "as SMART's authors ran it, ConnectX-6 200 Gb/s" },
	{ "Motor", "1.2-1.56 M/s, P50 43-54 us, P99 94-124 us: 40 threads",
	    "the testbed of Tigon's authors; 10 M accounts" },
	{ "DrTM+H", "90.4 M/s on 16 nodes, 5.6 M/s a node",
	    "ConnectX-4; data and transactions on the same nodes" },
	{ 0 },
};

enum { ACCOUNTS_MAX = 100000000 };

static bool
take(void *params, int letter, char *v)
{
	struct bank_params *p = params;
	unsigned n;
	switch (letter) {
	case 'A':
		return bench_take_numbers(v, 2, ACCOUNTS_MAX, &p->accounts, 1, &n);
	case 'H':
		return bench_take_numbers(v, 2, ACCOUNTS_MAX, &p->hot, 1, &n);
	case 'P':
		return bench_take_numbers(v, 0, 100, &p->hot_percent, 1, &n);
	case 'I':
		p->serializable = strcmp(v, "serializable") == 0;
		return p->serializable || strcmp(v, "snapshot") == 0;
	default:
		return false;
	}
}

static const char *
fits(const void *params)
{
	const struct bank_params *p = params;
	return p->hot > p->accounts ? "there are fewer accounts than hot ones (--accounts, --hot)" : NULL;
}

static void
usage(FILE *to)
{
	fprintf(to,
	    "usage: namdb bench smallbank [options]\n"
	    "SmallBank: six short transactions on two tables of balances, most of them on hot accounts.\n"
	    "  --accounts N     accounts (default 100000; Motor: 10000000)\n"
	    "  --hot N          hot ones of them (default 4000; Motor: 400000)\n"
	    "  --hot-percent P  of the transactions are on hot accounts (default 90)\n"
	    "  --isolation L    snapshot or serializable (default snapshot)\n");
	bench_mix_usage(to);
}

const struct bench_sim_user bench_bank_user = { .bench = "smallbank",
	.params = &bench_bank_params,
	.side_size = sizeof(struct bank_side),
	.usage = usage,
	.take = take,
	.fits = fits,
	.bytes = bytes,
	.entries = entries,
	.begin = begin,
	.tables = tables,
	.prepare = prepare,
	.load = load,
	.warm = warm,
	.client = client,
	.check = check,
	.drop = drop,
	.published = published,
	.more = bench_mix_more };

int
bench_smallbank(int argc, char **argv)
{
	static const struct option own[] = { { "accounts", 1, NULL, 'A' }, { "hot", 1, NULL, 'H' },
		{ "hot-percent", 1, NULL, 'P' }, { "isolation", 1, NULL, 'I' }, { 0 } };
	return bench_mix_main(argc, argv, own, &bench_bank_params, &bench_bank_user);
}
