/*
 * sim_txn.c -- many seeds of mixed transactions: 10 clients, 3 storage nodes, torn and reordered
 * READs, late verbs, processes that stall, and some that die and are recovered by the others.
 *
 *	sim_txn [--seed N | --seeds A-B] [--twice] [--verbose] [--trace]
 *	        [--load NAME]                  mixed, lists, fork, once, churn, checkout, long,
 *                                             tiny, drops: only that one
 *	sim_txn --minutes N                    fresh seeds from the clock until the time is up
 *	sim_txn --seed N --history FILE        what the clients saw, for `namdb check`
 *	sim_txn --storm ...                    each process is struck in the middle of a commit
 *	                                       (storm.c)
 *	sim_txn --idle ...                     visitors that stall while they are idle (life.c)
 *	sim_txn --tight ...                    those and others with little memory (life.c)
 *	sim_txn --rush ...                     tables that are dropped all the time (drops.c)
 *	sim_txn --twins | --twin NAME ...      of a build with NAM_TWINS (twins.c): until that fault
 *	                                       is caught
 *
 * One seed decides everything, so a failing one plays again exactly. Exit 1: a wrong answer, a lost
 * one, or the naive readers were not fooled.
 */
#include "sim_txn.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	PAUSE_NS = 20000000,     /* at most; well below a lease */
	SETTLED_NS = 1600000000, /* time enough to recover a dead recoverer, and to free the
				  * slot of an idle owner: ten leases */
	DRIFT_PPM = 50000,
};

static bool trace, verbose, storm;
static bool idles, rush, tight; /* a part of life, and only that */
static unsigned lanes;          /* that give out commit ids; 0: as the seed says */
static const char *history;     /* file for it, or NULL */
static enum load only = LOADS;  /* each run has this one; LOADS: as its seed says */

void
run_bad(struct run *r, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	printf("  ");
	vprintf(fmt, ap);
	printf("\n");
	va_end(ap);
	r->bad = true;
}

/* The life of a cluster: tables and processes that come and go, clocks that differ, code that takes
 * time. */
static void
live(struct shape *s, struct nam_rng *d)
{
	if (only == LOADS && nam_rng_below(d, 5) == 0)
		s->loads |= 1u << DROPS;
	if (nam_rng_below(d, 4) == 0 && !s->lose)
		s->visits = 1 + (unsigned)nam_rng_below(d, VISITS_MAX);
	if (nam_rng_below(d, 4) == 0) {
		s->turn_ns = 20 + (unsigned)nam_rng_below(d, 500);
		s->read_ps = (unsigned)nam_rng_below(d, 3000);
		if (nam_rng_below(d, 2))
			s->mapped = (unsigned)nam_rng_below(d, 1u << PROCS_MAX);
	}
	s->clocks = nam_rng_below(d, 4) == 0;
	s->hints = nam_rng_below(d, 3) == 0 && !s->lose;
	s->use = nam_rng_below(d, 2);
	if (nam_rng_below(d, 6) == 0 && !s->lose)
		s->alone = 1 + (unsigned)nam_rng_below(d, 3);
	if (rush)
		*s = (struct shape){ .procs = 2 + (unsigned)nam_rng_below(d, 3),
			.workers = 1,
			.slots = 2,
			.keys = s->keys,
			.txns = s->txns,
			.iso = 3,
			.vector = 65536,
			.tear = s->tear,
			.reorder = s->reorder,
			.pause = 2000 + (uint32_t)nam_rng_below(d, 18000),
			.pause_ns = 15000000,
			.loads = 1u << DROPS,
			.rush = true };
	if (tight)
		*s = (struct shape){ .procs = 2,
			.workers = 1,
			.slots = s->slots,
			.keys = s->keys,
			.txns = s->txns,
			.iso = s->iso,
			.vector = 65536,
			.tear = s->tear,
			.reorder = s->reorder,
			.pause_ns = s->pause_ns,
			.loads = 1u << MIXED | 1u << TINY,
			.visits = VISITS_MAX,
			.tight = true };
	if (idles) { /* a short vector, and only visitors that stall while they are idle */
		*s = (struct shape){ .procs = 2,
			.workers = 1,
			.slots = s->slots,
			.keys = s->keys,
			.txns = s->txns,
			.iso = s->iso,
			.vector = 64,
			.tear = s->tear,
			.reorder = s->reorder,
			.pause_ns = s->pause_ns,
			.loads = 1u << MIXED,
			.visits = VISITS_MAX,
			.idles = true };
	}
}

static struct shape
shape_of(uint64_t seed)
{
	struct nam_rng d;
	nam_rng_init(&d, nam_mix(seed) ^ 0x5ea50);
	struct shape s = {
		.procs = 2 + (unsigned)nam_rng_below(&d, 3),
		.workers = 1 + (nam_rng_below(&d, 3) == 0),
		.slots = 2 + (unsigned)nam_rng_below(&d, 3),
		.keys = ACCOUNTS + 2 + (unsigned)nam_rng_below(&d, KEYS_MAX - ACCOUNTS - 1),
		.txns = 20 + (unsigned)nam_rng_below(&d, 50),
		.vector = nam_rng_below(&d, 4) == 0 ? 64
			  : nam_rng_below(&d, 2)    ? 256
						    : 65536,
		.tear = (uint32_t)nam_rng_below(&d, 1000),
		.reorder = (uint32_t)nam_rng_below(&d, 1000),
	};
	struct nam_rng e;
	nam_rng_init(&e, nam_mix(seed) ^ 0x11fe);
	unsigned iso = (unsigned)nam_rng_below(&d, 8);
	s.iso = iso < 3 ? iso : 3;
	s.hot = nam_rng_below(&d, 2);
	/* Faults that need no recovery: half of the runs are late now and then, half stand
	 * still. */
	s.delay = nam_rng_below(&d, 2) ? 1 + (uint32_t)nam_rng_below(&d, 200) : 0;
	s.pause_ns = PAUSE_NS;
	s.pause = nam_rng_below(&d, 2) ? 100 + (uint32_t)nam_rng_below(&d, 2000) : 0;
	s.neighbours = nam_rng_below(&d, 2);
	s.crash = nam_rng_below(&d, 2) ? 500 + (uint32_t)nam_rng_below(&d, 20000) : 0;
	s.stall = nam_rng_below(&d, 6) == 0;
	s.breaks = nam_rng_below(&d, 6) == 0 ? 1 + (unsigned)nam_rng_below(&d, 3) : 0;
	s.loads = 1u << MIXED;
	for (unsigned i = 1; i < DROPS; i++)
		s.loads |= nam_rng_below(&d, i < LONG ? 4 : 8) == 0 ? 1u << i : 0;
	if (s.loads != 1 && nam_rng_below(&d, 3) == 0)
		s.loads &= ~1u;
	if (only != LOADS)
		s.loads = 1u << only;
	s.hot = s.hot || (s.loads >> LONG & 1);
	s.lists = s.iso < 3 ? (enum hist_iso)s.iso : nam_rng_below(&d, 2) ? HIST_RR : HIST_SER;
	/* If a node is lost, no process can be fenced, and so none recovered. So a lost node is a
	 * fault by itself. */
	s.lose = nam_rng_below(&d, 10) == 0;
	if (s.lose) {
		s.stall = s.neighbours = false;
		s.breaks = s.crash = 0;
	}
	live(&s, &e);
	struct nam_rng f;
	nam_rng_init(&f, nam_mix(seed) ^ 0x04de4);
	s.ordered = (s.loads >> TINY & 1) == 0 && nam_rng_below(&f, 4) == 0;
	return s;
}

struct filling {
	struct run *run;
	struct hist_txn *h;
	struct txn *t;
};

static nam_status
fill_one(void *arg, uint64_t key, int64_t balance)
{
	struct filling *f = arg;
	struct run *r = f->run;
	struct row row;
	uint64_t value = ++r->next_value << 4;
	uint32_t len = row_make(&row, key, value, balance, NULL);
	struct txn_put put = row_put(&r->place[0].table[KEYED], &row, len);
	hist_add(f->h, (struct hist_op){ .kind = HIST_WRITE,
			   .table = KEYED,
			   .id = key,
			   .value = value,
			   .aux = balance,
			   .snap = txn_snapshot(f->t),
			   .asked = f->h->began });
	return txn_insert(f->t, &put, 1);
}

/* The accounts, half of the other keys, and what the loads need. */
static bool
fill(struct run *r)
{
	struct place *p = &r->place[0];
	struct hist_txn *h = hist_begin(r->hist, 0, 99, HIST_RR);
	struct txn *t;
	if (txn_begin(p->tw[0], TXN_REPEATABLE_READ, &t) != NAM_OK)
		return false;
	nam_status st = NAM_OK;
	struct filling f = { r, h, t };
	for (uint64_t k = 0; st == NAM_OK && k < r->shape.keys; k += k < ACCOUNTS ? 1 : 2)
		st = fill_one(&f, k, k < ACCOUNTS ? BALANCE : 0);
	if (st == NAM_OK)
		st = loads_fill(r, fill_one, &f);
	tso_cid cid = 0;
	txn_set_cluster_visible(t, true);
	h->everywhere = true;
	if (st == NAM_OK)
		st = txn_commit(t, &cid);
	hist_end(r->hist, h, st == NAM_OK ? HIST_COMMITTED : HIST_ABORTED, cid);
	return st == NAM_OK;
}

bool
place_attach(struct run *r, struct place *p)
{
	unsigned number = p >= r->place && p < r->place + PROCS_MAX ? (unsigned)(p - r->place) : PROCS_MAX;
	bool ok = net_sim_attach(r->sim, &p->net) == NAM_OK;
	struct nam_rng d;
	nam_rng_init(&d, nam_mix(r->seed) ^ nam_mix(net_identity(p->net)));
	if (ok && r->shape.clocks)
		net_sim_clock(
		    p->net, (int32_t)nam_rng_below(&d, 2 * DRIFT_PPM) - DRIFT_PPM, nam_rng_next(&d) >> 14);
	if (ok && (number < PROCS_MAX ? r->shape.mapped >> number & 1
				      : r->shape.mapped != 0 && nam_rng_below(&d, 2)))
		net_sim_map(p->net);
	for (unsigned k = 0; ok && k < r->shape.workers; k++)
		ok = net_worker_open(p->net, &p->w[k], NULL) == NAM_OK;
	return ok;
}

void
place_detach(struct run *r, struct place *p)
{
	for (unsigned k = 0; k < r->shape.workers; k++)
		net_worker_close(p->w[k]);
	net_close(p->net);
}

/* first: also makes the tables. */
nam_status
place_open(struct run *r, struct place *p, bool first)
{
	struct txn_config cfg = { .vector = r->shape.vector,
		.lanes = r->shape.lanes,
		.ptr_cache_entries = 1024,
		.lease_ms = SIM_LEASE_MS };
	struct nam_err err;
	cfg.bystander = p == &r->place[0] && r->shape.bystander;
	nam_status st = txn_db_open(p->w[0], &cfg, &p->db, &err);
	if (st == NAM_OK && r->shape.workers > 1 && (net_identity(p->net) & 1) != 0)
		tso_share_claims(txn_db_oracle(p->db));
	if (st == NAM_OK && (net_identity(p->net) & 2) != 0)
		txn_collect_at_once(p->db);
	for (unsigned k = 0; st == NAM_OK && k < r->shape.workers; k++)
		st = txn_worker_open(p->db, p->w[k], &p->tw[k]);
	for (unsigned k = 0; k < 2 && st == NAM_OK; k++) {
		p->table[k] = (struct txn_table){ .id = 1 + k,
			.slots = (uint16_t)r->shape.slots,
			.row_max = sizeof(struct row),
			.has_key = k == KEYED,
			.same_key = row_same_key,
			.blobs = row_blobs };
		if (k == KEYED)
			order_table(r, &p->table[k]);
		if (first)
			st = txn_table_create(p->tw[0], &p->table[k]);
		p->table[k].anchor = r->place[0].table[k].anchor;
		if (st == NAM_OK)
			st = txn_table_open(p->db, &p->table[k]);
	}
	if (st == NAM_OK)
		txn_on_orphan(p->db, drops_listed, p);
	return st;
}

void
place_close(struct run *r, struct place *p)
{
	if (p->db == NULL)
		return;
	for (unsigned k = r->shape.workers; k-- > 0;) {
		struct txn_stats st;
		if (p->tw[k] == NULL)
			continue;
		txn_worker_stats(p->tw[k], &st);
		r->settled.recovered += st.recovered;
		r->settled.finished += st.finished;
		r->settled.undone += st.undone;
		r->settled.doubtful += st.doubtful;
		txn_worker_close(p->tw[k]);
	}
	for (unsigned k = 0; k < 2; k++)
		txn_table_close(p->db, &p->table[k]);
	drops_close(r, p);
	txn_db_close(p->w[0], p->db);
}

static bool
open_all(struct run *r)
{
	for (unsigned i = 0; i < r->shape.procs; i++) {
		nam_status st = place_open(r, &r->place[i], i == 0);
		if (st != NAM_OK) {
			run_bad(r, "open: %s", nam_status_name(st));
			return false;
		}
	}
	return true;
}

/* The process that leaves last and sweeps before: process 0, or another live one if process 0
 * left. */
static unsigned
last_of(const struct run *r)
{
	unsigned last = r->shape.bystander ? r->shape.procs - 1 : 0;
	while (last > 0 && r->place[last].buried)
		last--;
	return last;
}

static void
close_all(struct run *r)
{
	unsigned last = last_of(r);
	for (unsigned n = r->shape.procs; n-- > 0;) {
		unsigned i = (last + n) % r->shape.procs;
		struct place *p = &r->place[i];
		if (i == last && r->lost == 0)
			audit_sweep(r, p);
		place_close(r, p);
	}
}

/* How many have died so far. Their coroutines come to their ends, and touch nothing. */
static unsigned
bury(struct run *r)
{
	unsigned dead = 0;
	for (unsigned i = 0; i < r->shape.procs; i++) {
		struct place *p = &r->place[i];
		if (!net_sim_crashed(p->net))
			continue;
		if (!p->buried)
			net_sim_bury(r->sim, p->net);
		p->buried = true;
		dead++;
	}
	return dead;
}

static void
main_co(void *arg)
{
	struct run *r = arg;
	struct client client[CLIENTS];
	struct net_worker *w = r->place[0].w[0];
	if (!open_all(r) || !fill(r) || (r->shape.neighbours && !neighbours_take(r))) {
		run_bad(r, "the cluster did not come up");
		return;
	}
	net_sim_faults(r->sim, true);
	/* Not process 0, which judges at the end. Some come to their end before. */
	for (unsigned i = 1; i < r->shape.procs && r->shape.crash != 0; i++) {
		struct net *n = r->place[i].net;
		net_sim_crash_at(r->sim, n, net_sim_verbs(n) + 1 + nam_rng_below(net_rng(w), r->shape.crash));
	}
	r->clients_left = CLIENTS;
	r->committed_ns = net_sim_now_ns(r->sim);
	for (unsigned i = 0; i < CLIENTS; i++) {
		client[i] = (struct client){ .run = r,
			.number = i,
			.process = i < CLIENTS_SURE ? 0 : 1 + i % (r->shape.procs - 1),
			.worker = i / r->shape.procs % r->shape.workers };
		struct net_worker *cw = r->place[client[i].process].w[client[i].worker];
		r->place[client[i].process].clients++;
		nam_co_start(net_worker_sched(cw), client_main, &client[i], 256 << 10);
	}
	nam_co_start(net_worker_sched(w), naive_main, r, 128 << 10);
	if (r->shape.neighbours)
		neighbours_start(r);
	trouble_start(r);
	loads_hog(r);
	if (r->shape.storm)
		storm_start(r);
	if (r->shape.visits > 0)
		life_start(r);
	while (r->clients_left > 0 || !r->trouble_ended || (r->visiting > 0 && !r->bad)) {
		net_sleep(w, 100000);
		trouble_look(r);
		bury(r);
	}
	trouble_look(r);
	unsigned clients = 0;
	for (unsigned i = 0; i < CLIENTS; i++)
		clients += r->committed_by[i] > 0;
	if ((r->committed < COMMITTED_LEAST || clients < CLIENTS_SURE) && !r->bad)
		run_bad(r, "only %u transactions of %u clients committed: no proof", r->committed, clients);
	r->naive_stop = true;
	while (!r->naive_ended) {
		net_sleep(w, 100000);
		bury(r);
	}
	if (r->shape.neighbours)
		neighbours_end(r, w);
	if (r->shape.storm)
		storm_end(r);
	net_sim_faults(r->sim, false);
	/* No pause was as long as a lease, and it lives: so no process may have fenced it, however
	 * long its code ran. */
	for (unsigned i = 0; i < r->shape.procs && !r->shape.storm; i++)
		if (!r->place[i].troubled && !net_sim_crashed(r->place[i].net) &&
		    net_sim_shut(r->place[i].net))
			run_bad(r, "process %u has been fenced without a fault", i);
	/* No process dies from here on: live ones do what follows, and would wait for a dead
	 * one. */
	for (unsigned i = 1; i < r->shape.procs; i++)
		net_sim_crash_at(r->sim, r->place[i].net, 0);
	net_sleep(w, 2 * r->shape.pause_ns); /* all processes go on, all marks have landed */
	r->deaths = bury(r);
	/* A dead visitor is recovered, and its death is counted, before the last process sweeps.
	 * And tables that a visitor left behind are found. */
	if (r->deaths > 0 || r->shape.visits > 0)
		net_sleep(w, SETTLED_NS);
	loads_let(r);
	for (unsigned i = 0; i < r->shape.procs; i++)
		if (!r->place[i].buried)
			client_read_all(r, i);
	close_all(r);
	r->complete = true;
}

struct total {
	struct hist_figures hist;
	struct naive naive[2];
	struct net_sim_stats sim;
	uint64_t late_runs, paused_runs, dead_runs, recovered, finished, undone, doubtful;
	struct roamed roamed;
	struct audited audited[2]; /* of runs without a death; of the others */
	struct troubles trouble;
	struct worked worked;
	struct used used;
	uint64_t done[2][32];
};

/* Adds up structures that are counters and nothing else. */
static void
add_all(void *to, const void *from, size_t bytes)
{
	uint64_t *into = to;
	const uint64_t *what = from;
	for (size_t i = 0; i < bytes / sizeof *into; i++)
		into[i] += what[i];
}

/* A run of some seconds is too long, for example because a lock stays and a transaction waits for
 * it. That is also a judgement. */
static bool
is_over(void *arg)
{
	const struct run *r = arg;
	return r->complete || net_sim_now_ns(r->sim) > UINT64_C(20000000000);
}

/* The simulated fabric and the processes on it. */
static bool
run_open(struct run *r)
{
	struct net_sim_config cfg = { .seed = r->seed,
		.nodes = NODES,
		.region_bytes = (r->shape.loads >> TINY & 1) ? 4 << 20 : 32 << 20,
		.tear_permille = r->shape.tear,
		.reorder_permille = r->shape.reorder,
		.delay_permille = r->shape.delay,
		.pause_ppm = r->shape.pause,
		.pause_ns = r->shape.pause_ns,
		.sheltered = r->shape.storm,
		.hints = r->shape.hints,
		.turn_ns = r->shape.turn_ns,
		.post_ns = r->shape.turn_ns / 2,
		.read_cpu_ps = r->shape.read_ps,
		.fence_kills = r->shape.storm,
		.trace = trace };
	if (net_sim_open(&r->sim, &cfg) != NAM_OK)
		return false;
	net_sim_faults(r->sim, false);
	order_host(r, cfg.region_bytes);
	for (unsigned i = 0; i < r->shape.procs; i++)
		if (!place_attach(r, &r->place[i]))
			return false;
	if (r->shape.neighbours && !neighbours_attach(r))
		return false;
	return true;
}

/* Adds the run's figures to those of all. */
static void
count(const struct run *r, struct total *total)
{
	struct hist_figures f;
	hist_figures(r->hist, &f);
	struct net_sim_stats st;
	net_sim_stats(r->sim, &st);
	add_all(&total->hist, &f, sizeof f);
	add_all(&total->roamed, &r->roamed, sizeof r->roamed);
	add_all(&total->trouble, &r->trouble, sizeof r->trouble);
	add_all(&total->worked, &r->worked, sizeof r->worked);
	add_all(&total->used, &r->used, sizeof r->used);
	net_sim_stats_add(&total->sim, &st);
	total->late_runs += st.delays > 0;
	total->paused_runs += st.pauses > 0;
	total->dead_runs += r->settled.recovered > 0;
	total->recovered += r->settled.recovered;
	total->finished += r->settled.finished;
	total->undone += r->settled.undone;
	total->doubtful += r->settled.doubtful;
	bool deaths = false;
	for (unsigned i = 0; i < r->shape.procs; i++)
		deaths = deaths || r->place[i].buried;
	uint64_t *sum = (uint64_t *)&total->audited[deaths];
	for (size_t i = 0; i < sizeof r->audited / sizeof *sum; i++)
		sum[i] += ((const uint64_t *)&r->audited)[i];
	for (unsigned i = 0; i < 32; i++) {
		total->done[0][i] += r->done[0][i];
		total->done[1][i] += r->done[1][i];
	}
}

static void
say_shape(const struct run *r, uint64_t hash)
{
	printf("%s: seed %lu (%u processes of %u, %u slots, vector %u, %u lanes, %u keys, level %u, tear %u, "
	       "reorder %u, late %u, pauses %u, crashes %u%s%s%s%s), virtual %.1f ms, hash %016lx\n",
	    r->bad ? "FAILED" : "ok", r->seed, r->shape.procs, r->shape.workers, r->shape.slots,
	    r->shape.vector, r->shape.lanes, r->shape.keys, r->shape.iso, r->shape.tear, r->shape.reorder,
	    r->shape.delay, r->shape.pause, r->shape.crash, r->shape.hot ? ", hot" : "",
	    r->shape.stall ? ", stalls" : "", r->shape.breaks ? ", breaks" : "",
	    r->shape.lose ? ", loses a node" : "", (double)net_sim_now_ns(r->sim) / 1e6, hash);
	printf("    %u visitors, mapped %x, a turn %u ns, a byte %u ps, one worker's breaks %u%s%s%s\n",
	    r->shape.visits, r->shape.mapped, r->shape.turn_ns, r->shape.read_ps, r->shape.alone,
	    r->shape.clocks ? ", clocks" : "", r->shape.hints ? ", hints" : "",
	    r->shape.loads >> DROPS & 1 ? ", drops" : "");
}

/* Half of the runs have one word that gives out commit ids, the others 2 to 16. */
static unsigned
lanes_of(uint64_t seed)
{
	struct nam_rng d;
	nam_rng_init(&d, nam_mix(seed) ^ 0x1a4e5);
	unsigned dice = (unsigned)nam_rng_below(&d, 8);
	return lanes != 0 ? lanes : dice < 4 ? 1 : 2u << (dice - 4);
}

static bool
run_seed(uint64_t seed, struct total *total, uint64_t *hash)
{
	struct run *r = calloc(1, sizeof *r);
	if (r == NULL)
		return false;
	r->seed = seed;
	r->shape = storm ? storm_shape(seed) : shape_of(seed);
	r->shape.lanes = lanes_of(seed);
	r->hist = hist_open();
	r->next_id = 1000;
	if (!run_open(r))
		return false;
	nam_co_start(net_worker_sched(r->place[0].w[0]), main_co, r, 256 << 10);
	if (!net_sim_run(r->sim, is_over, r) || (r->complete && !net_sim_run(r->sim, NULL, NULL)))
		run_bad(r, "all processes wait and nothing can happen any more");
	if (!r->complete)
		run_bad(r, "the run did not come to its end");
	struct hist_bank bank = {
		.table = KEYED, .first = 0, .last = ACCOUNTS - 1, .total = (int64_t)ACCOUNTS * BALANCE
	};
	/* A run cut short is judged as far as it came. */
	if (!hist_judge(r->hist, &bank, stdout))
		r->bad = true;
	if (history != NULL) {
		FILE *f = fopen(history, "w");
		if (f != NULL)
			hist_write(r->hist, r->shape.iso == 3 ? HIST_RC : (enum hist_iso)r->shape.iso, f);
		if (f == NULL || fclose(f) != 0)
			run_bad(r, "%s: %s", history, strerror(errno));
	}
	loads_judge(r);
	if (r->complete)
		outside_judge(r);
	if (r->complete && !r->bad && r->lost == 0)
		audit(r);
	/* Where there is little: to fill much takes long. */
	if (r->complete && !r->bad && r->lost == 0 && (r->shape.loads >> TINY & 1) && r->shape.use)
		use_memory(r);
	naive_judge(r, total->naive);
	count(r, total);
	*hash = net_sim_trace_hash(r->sim);
	if (r->bad || verbose)
		say_shape(r, *hash);
	bool good = !r->bad, over = r->complete && good;
	if (over) { /* else coroutines may be parked in there for ever: leave them */
		for (unsigned i = 0; i < r->shape.procs; i++)
			place_detach(r, &r->place[i]);
		if (r->shape.visits > 0)
			life_close();
		if (r->shape.neighbours)
			neighbours_close();
		net_sim_close(r->sim);
		order_unhost(r);
	}
	hist_close(r->hist);
	loads_close(r);
	free(r->answer);
	if (over)
		free(r);
	return good;
}

static void
summary(uint64_t first, uint64_t last, uint64_t failed, const struct total *t, double seconds)
{
	printf("seeds %lu-%lu: %lu failed, %.1f s\n", first, last, failed, seconds);
	printf("  %zu transactions (%zu committed, %zu not), %zu point reads and %zu scanned rows judged, "
	       "%zu writes, %zu versions of %zu objects\n",
	    t->hist.txns, t->hist.committed, t->hist.aborted, t->hist.reads - t->hist.items, t->hist.items,
	    t->hist.writes, t->hist.versions, t->hist.objects);
	printf("  %lu verbs, %lu READs torn, %lu WRITEs torn, %lu READs reordered\n", t->sim.verbs,
	    t->sim.reads_torn, t->sim.writes_torn, t->sim.reads_reordered);
	printf("  %lu verbs and completions late in %lu runs, %lu pauses of up to %d ms in %lu runs\n",
	    t->sim.delays, t->late_runs, t->sim.pauses, PAUSE_NS / 1000000, t->paused_runs);
	printf("  neighbours: connections broken %lu times, parted %lu times, made again %lu times; %lu "
	       "additions sure, "
	       "%lu unknown, of which %lu had been made\n",
	    t->sim.breaks, t->sim.parts, t->sim.reconnects, t->roamed.sure, t->roamed.unknown,
	    t->roamed.landed - t->roamed.sure);
	printf("  %lu fences (%lu connections ended; %lu times verbs executed until the end), %lu processes "
	       "died, "
	       "%lu verbs executed late, %lu WRITEs in part\n",
	    t->roamed.fences, t->sim.fences, t->roamed.moved, t->sim.crashes, t->sim.late,
	    t->sim.half_writes);
	printf("  %lu owners that died in %lu runs were recovered: %lu transactions finished, %lu undone "
	       "(%lu with their "
	       "commit line there); of those without an answer %zu took place, %zu did not\n",
	    t->recovered, t->dead_runs, t->finished, t->undone, t->doubtful, t->hist.found, t->hist.lost);
	const struct troubles *e = &t->trouble;
	printf("  clients' processes: %lu stalled for longer than a lease, connections broken %lu times, "
	       "cut "
	       "%lu times; %lu found out and ended, %lu times one went on; answers: %lu gone, %lu unsure "
	       "(%lu after a stall)\n",
	    e->stalls, e->breaks, e->parts, e->ended, e->went_on, e->gone, e->unsure, e->stall_unsure);
	printf(
	    "  %lu storage nodes lost, %lu of them the home node, %lu transactions committed behind that\n",
	    e->nodes, e->homes, e->after);
	printf("  %lu visitors (%lu left, %lu died, %lu stalled while idle, %lu looks for "
	       "notes), one worker's connections broken %lu times, "
	       "%lu rumours, %lu clocks jumped; asked before they were fenced %lu, of which %lu "
	       "gave up; %lu tables made and %lu dropped, "
	       "%lu statements on them\n",
	    e->visits, e->exits, e->visitors_dead, e->idle_stalls, e->notes, e->alone, e->rumours, e->jumps,
	    t->sim.asked, t->sim.gave_up, t->worked.made, t->worked.dropped, t->worked.temp_statements);
	const struct worked *did = &t->worked;
	printf("  runs with each load (transactions):");
	for (unsigned i = 0; i < LOADS; i++)
		printf(" %s %lu (%lu)", load_name[i], did->runs[i], did->committed[i]);
	printf("\n  %lu appends and %lu reads of lists, %lu glances at pairs, %lu unique inserts won and %lu "
	       "refused, "
	       "%lu orders, books checked %lu times, %lu answers that memory is used up and %lu rows "
	       "inserted later, %lu ranges by the ordered index\n",
	    did->appends, did->lists, did->glances, did->won, did->refused, did->orders, did->books,
	    did->full, did->after_full, did->ranges);
	for (unsigned k = 0; k < 2; k++) {
		const struct audited *a = &t->audited[k];
		printf(
		    "  memory at the end%s: %lu rows; free %lu blocks, %lu KiB; lost %lu "
		    "blocks, "
		    "%lu KiB of archives and blobs, %lu KiB of indexes (and %lu KiB left behind by resizes), "
		    "%lu extents; %lu entries lead nowhere\n",
		    k ? ", of runs with deaths" : "", a->rows, a->blocks_listed, a->bytes_listed >> 10,
		    a->blocks_left, a->bytes_left >> 10, a->index_left >> 10, a->index_behind >> 10,
		    a->extents_left, a->entries);
	}
	for (unsigned k = 0; k < 2; k++) {
		printf("  %s:", k ? "transactions" : "statements");
		for (unsigned i = 0; i < NAM_STATUS_COUNT; i++)
			if (t->done[k][i])
				printf(" %lu %s", t->done[k][i], nam_status_name((nam_status)i));
		printf("\n");
	}
	if (t->used.tries > 0)
		printf("  memory that was free, taken in every size %lu times: %lu %% of it could be had\n",
		    t->used.tries, t->used.bytes * 100 / t->used.free);
	static const char *const reader[] = { "slot by slot, newest whole one", "word not locked" };
	for (unsigned k = 0; k < 2; k++)
		printf("  naive reader (%s): %lu reads, %lu wrong versions, %lu torn, %lu found nothing\n",
		    reader[k], t->naive[k].reads, t->naive[k].wrong, t->naive[k].torn, t->naive[k].lost);
}

/* Did every fault, load and naive reader show up in many seeds? Else they prove nothing. */
static unsigned
blind(uint64_t first, uint64_t last, const struct total *total)
{
	unsigned failed = 0;
	const struct net_sim_stats *st = &total->sim;
	if (last - first >= 99 && !storm && !idles && !rush && !tight &&
	    (st->delays == 0 || st->pauses == 0 || st->breaks == 0 || st->parts == 0 || st->reconnects == 0 ||
		st->crashes == 0 || total->roamed.moved == 0 || total->trouble.stalls == 0 ||
		total->trouble.breaks == 0 || total->trouble.parts == 0 || total->trouble.ended == 0 ||
		total->trouble.nodes == 0 ||
		((total->trouble.homes == 0 || total->trouble.went_on == 0) && last - first >= 399) ||
		total->trouble.gone == 0 || total->finished == 0 || total->undone == 0 ||
		total->trouble.visits == 0 || total->trouble.visitors_dead == 0 ||
		total->trouble.idle_stalls == 0 || total->trouble.notes == 0 || total->trouble.alone == 0 ||
		total->trouble.jumps == 0 || total->trouble.rumours == 0 || total->worked.dropped == 0 ||
		(only == LOADS && total->used.tries == 0))) {
		printf("FAILED: a fault never fired\n");
		failed++;
	}
	bool idle = false;
	for (unsigned i = 0; i < LOADS; i++)
		idle = idle || (total->worked.committed[i] == 0 && (only == LOADS || only == i));
	if (last - first >= 99 && !storm && !idles && !rush && !tight &&
	    (idle || (only == LOADS && (total->worked.refused == 0 || total->worked.orders == 0)))) {
		printf("FAILED: a load did nothing\n");
		failed++;
	}
	if (last - first >= 99 && !storm && !idles && !rush && !tight && only == LOADS &&
	    (total->naive[0].wrong == 0 || total->naive[1].wrong + total->naive[1].torn == 0)) {
		printf("FAILED: a reader without the directory's proof was never fooled, so this test proves "
		       "nothing\n");
		failed++;
	}
	return failed;
}

static int
usage(void)
{
	fprintf(stderr, "usage: sim_txn [--seed N | --seeds A-B] [--load NAME] [--minutes N] [--twice] "
			"[--storm | --idle | --tight | --rush] [--lanes N] "
			"[--verbose] [--trace]\n"
			"       sim_txn --seed N --history FILE\n");
	return 2;
}

static void
say_again(uint64_t seed)
{
	const char *mode = storm   ? " --storm"
			   : idles ? " --idle"
			   : rush  ? " --rush"
			   : tight ? " --tight"
				   : "";
	const char *twin = twin_chosen();
	char some[32] = "";
	if (lanes != 0)
		snprintf(some, sizeof some, " --lanes %u", lanes);
	printf("first failing seed: %lu; play it again with: sim_txn%s%s%s%s --seed %lu\n", seed, mode, some,
	    twin ? " --twin " : "", twin ? twin : "", seed);
}

static bool
take_lanes(const char *arg)
{
	char *rest;
	unsigned long n = strtoul(arg, &rest, 10);
	lanes = (unsigned)n;
	return *rest == 0 && n > 0 && n <= TSO_LANES && (n & (n - 1)) == 0;
}

static bool
take_seed(const char *arg, uint64_t *seed)
{
	char *rest;
	*seed = strtoull(arg, &rest, 10);
	return *rest == 0;
}

int
main(int argc, char **argv)
{
	uint64_t first = 1, last = 1000, minutes = 0;
	bool twice = false;
	for (int i = 1; i < argc; i++) {
		char *rest;
		if (strcmp(argv[i], "--trace") == 0) {
			trace = true;
		} else if (strcmp(argv[i], "--verbose") == 0) {
			verbose = true;
		} else if (strcmp(argv[i], "--twice") == 0) {
			twice = true;
		} else if (strcmp(argv[i], "--storm") == 0) {
			storm = true;
		} else if (strcmp(argv[i], "--idle") == 0) {
			idles = true;
		} else if (strcmp(argv[i], "--rush") == 0) {
			rush = true;
		} else if (strcmp(argv[i], "--tight") == 0) {
			tight = true;
		} else if (strcmp(argv[i], "--twins") == 0) {
			return twin_list();
		} else if (strcmp(argv[i], "--twin") == 0 && i + 1 < argc && twin_choose(argv[i + 1])) {
			i++;
		} else if (strcmp(argv[i], "--load") == 0 && i + 1 < argc) {
			i++;
			for (only = 0; only < LOADS && strcmp(argv[i], load_name[only]) != 0; only++)
				;
			if (only == LOADS)
				goto usage;
		} else if (strcmp(argv[i], "--lanes") == 0 && i + 1 < argc && take_lanes(argv[i + 1])) {
			i++;
		} else if (strcmp(argv[i], "--history") == 0 && i + 1 < argc) {
			history = argv[++i];
		} else if (strcmp(argv[i], "--seed") == 0 && i + 1 < argc) {
			if (!take_seed(argv[++i], &first))
				goto usage;
			last = first;
		} else if (strcmp(argv[i], "--seeds") == 0 && i + 1 < argc) {
			first = strtoull(argv[++i], &rest, 10);
			if (*rest != '-')
				goto usage;
			last = strtoull(rest + 1, &rest, 10);
			if (*rest != 0 || last < first)
				goto usage;
		} else if (strcmp(argv[i], "--minutes") == 0 && i + 1 < argc) {
			if (!take_seed(argv[++i], &minutes) || minutes == 0 || minutes > 100000)
				goto usage;
		} else {
			goto usage;
		}
	}
	if (history != NULL && first != last)
		goto usage; /* a history is of one run */
	struct timespec a, b;
	if (minutes > 0) { /* fresh seeds, from the clock */
		clock_gettime(CLOCK_REALTIME, &a);
		first = nam_mix((uint64_t)a.tv_sec * 1000000000 + (uint64_t)a.tv_nsec) >> 16;
		last = UINT64_MAX;
		printf("sim_txn: seeds from %lu on, for %lu minutes\n", first, minutes);
	} else {
		printf("sim_txn: seeds %lu-%lu\n", first, last);
	}
	fflush(stdout);
	struct total total = { 0 };
	uint64_t failed = 0, first_failed = 0;
	uint64_t told = 0;
	clock_gettime(CLOCK_MONOTONIC, &a);
	for (uint64_t seed = first; seed <= last; seed++) {
		uint64_t hash, again;
		bool good = run_seed(seed, &total, &hash);
		struct total other = { 0 };
		if (good && twice && (!run_seed(seed, &other, &again) || hash != again)) {
			printf("FAILED: seed %lu played again differs: %016lx, %016lx\n", seed, hash, again);
			good = false;
		}
		if (!good && failed++ == 0)
			first_failed = seed;
		fflush(stdout);
		if (failed == (twin_chosen() ? 1 : 10))
			break;
		clock_gettime(CLOCK_MONOTONIC, &b);
		uint64_t gone = (uint64_t)(b.tv_sec - a.tv_sec) / 60;
		if (minutes > 0 && gone > told) {
			told = gone;
			printf("%lu minutes: %lu seeds, %zu committed, %lu failed\n", gone, seed - first + 1,
			    total.hist.committed, failed);
			fflush(stdout);
		}
		if (minutes > 0 && gone >= minutes)
			last = seed;
	}
	clock_gettime(CLOCK_MONOTONIC, &b);
	summary(first, last, failed, &total,
	    (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) / 1e9);
	if (failed > 0)
		say_again(first_failed);
	failed += blind(first, last, &total);
	printf("sim_txn: seeds %lu-%lu: %s\n", first, last, failed > 0 ? "FAILED" : "ok");
	return failed > 0;
usage:
	return usage();
}
