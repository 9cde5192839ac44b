/*
 * client.c -- a client of `namdb bench oracle`: commits all the time, takes a snapshot every
 * 10 ms; the victim is paused once, or idle, slow or dead.
 *
 * Both schemes run equal transactions: each inserts one row of a table without a key, so no client
 * waits for a lock, and no transaction fails because of an old snapshot. The schemes differ in the
 * source of commit ids, and in the treatment of a client that has stopped.
 */
#include "oracle.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
	ROW = 64,
	LONG_COMMIT = 100,   /* rows: long enough for a signal to find the victim in the middle of
			      * it */
	ROW_BYTES = 512,     /* of storage for one row, with its log */
	REST_NS = 150000000, /* longer than an owner needs to be known as idle */
	LATE_NS = 50000000,  /* what is offered and not taken for so long is not made up for */
	SETTLE_NS = 1000000,

	/* Of one client that commits as fast as it can: what memory is reckoned for. Seen on two
	 * cores: 160,000 over shm, 156,000 of the model cx6. */
	RATE_MOST = 200000,
	TURN_NS = 100000, /* a client that commits rarely: between two looks for its turn */
};

/* ---- the run ---- */

static double
seconds(const struct oracle_params *p)
{
	return p->before_s + p->pause_s + p->after_s + 1;
}

static unsigned
commits_most(const struct oracle_params *p)
{
	return (unsigned)(seconds(p) * (p->rate != 0 ? p->rate : RATE_MOST)) + 1;
}

uint64_t
bench_oracle_bytes(const struct oracle_params *p)
{
	uint64_t rows = (uint64_t)commits_most(p) * p->clients * ROW_BYTES;
	return (UINT64_C(128) << 20) + (rows >> 20 << 20); /* whole extents */
}

static size_t
run_bytes(unsigned clients, unsigned commits, unsigned looks)
{
	return sizeof(struct oracle_run) +
	       clients * (commits * sizeof(struct oracle_commit) + looks * sizeof(struct oracle_look));
}

struct oracle_run *
bench_oracle_run_new(const struct oracle_params *p, enum tso_scheme scheme, enum oracle_case what)
{
	unsigned commits = commits_most(p), looks = (unsigned)(seconds(p) * 1e3 / p->look_ms) + 1;
	struct oracle_run *r = mmap(NULL, run_bytes(p->clients, commits, looks), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (r == MAP_FAILED)
		return NULL;
	r->p = *p;
	r->scheme = scheme;
	r->what = what;
	r->commits_max = commits;
	r->looks_max = looks;
	char *at = (char *)(r + 1);
	for (unsigned i = 0; i < p->clients; i++) {
		r->client[i].commit = (void *)at;
		at += commits * sizeof(struct oracle_commit);
		r->client[i].look = (void *)at;
		at += looks * sizeof(struct oracle_look);
	}
	return r;
}

void
bench_oracle_run_free(struct oracle_run *r)
{
	munmap(r, run_bytes(r->p.clients, r->commits_max, r->looks_max));
}

uint64_t
bench_oracle_pause_at(const struct oracle_run *r)
{
	return atomic_load(&r->begin_ns) + (uint64_t)(r->p.before_s * 1e9);
}

uint64_t
bench_oracle_end(const struct oracle_run *r)
{
	return bench_oracle_pause_at(r) + (uint64_t)((r->p.pause_s + r->p.after_s) * 1e9);
}

bool
bench_oracle_all(const struct oracle_run *r, bool ended)
{
	for (unsigned i = 0; i < r->p.clients; i++)
		if (!atomic_load(ended ? &r->client[i].ended : &r->client[i].ready))
			return false;
	return true;
}

/* ---- what it does ---- */

static bool
goes_on(const struct oracle_place *p)
{
	return net_now_ns(p->w) < bench_oracle_end(p->run) &&
	       atomic_load(&p->run->client[p->i].status) == NAM_OK;
}

static void
fails(struct oracle_place *p, nam_status st)
{
	atomic_store(&p->run->client[p->i].status, (int)st);
}

static bool
is_due(const struct oracle_place *p)
{
	return p->i == ORACLE_VICTIM && atomic_load(&p->run->stopped_ns) == 0 &&
	       net_now_ns(p->w) >= bench_oracle_pause_at(p->run);
}

static nam_status
insert(struct oracle_place *p, tso_cid *cid)
{
	struct oracle_client *c = &p->run->client[p->i];
	struct txn *t;
	uint64_t row[ROW / 8] = { p->i, atomic_load(&c->commits) };
	struct txn_put put[LONG_COMMIT];
	unsigned rows =
	    p->run->what == ORACLE_AT_COMMIT && p->stand_still == NULL && is_due(p) ? LONG_COMMIT : 1;
	for (unsigned i = 0; i < rows; i++)
		put[i] = (struct txn_put){ .table = &p->table, .bytes = row, .len = sizeof row };
	nam_status st = txn_begin(p->tw, TXN_READ_COMMITTED, &t);
	if (st != NAM_OK)
		return st;
	if ((st = txn_insert(t, put, rows)) != NAM_OK) {
		txn_abort(t);
		return st;
	}
	atomic_store(&c->committing, true);
	st = txn_commit(t, cid);
	atomic_store(&c->committing, false);
	return st;
}

static void
stand_still(struct oracle_place *p)
{
	struct oracle_run *r = p->run;
	if (atomic_load(&r->stopped_ns) == 0)
		atomic_store(&r->stopped_ns, net_now_ns(p->w));
	p->stand_still(p);
	if (r->what != ORACLE_DEAD) /* else a simulator that puts its coroutines away */
		atomic_store(&r->resumed_ns, net_now_ns(p->w));
}

static void
takes_long(struct oracle_place *p)
{
	net_sleep(p->w, p->run->p.open_ms * UINT64_C(1000000));
}

/* Between claim and mark: where one client has all others wait. */
static nam_status
with_claim(struct oracle_place *p, void (*meanwhile)(struct oracle_place *p), tso_cid *cid)
{
	struct tso_worker *o = txn_worker_tso(p->tw);
	struct tso_pin pin;
	struct tso_claim claim;
	nam_status st = tso_snapshot(o, &pin, NULL);
	if (st == NAM_OK) {
		tso_claim_start(o, &claim, 0, NULL);
		if ((st = tso_claim_wait(o, &claim)) == NAM_OK) {
			meanwhile(p);
			tso_mark_wait(o, &claim, 0);
			*cid = claim.cid;
		}
		tso_unpin(o, &pin);
	}
	return st;
}

/* True once for every ORACLE_RARELY commits of client 0. */
static bool
has_its_turn(struct oracle_place *p)
{
	unsigned n = atomic_load(&p->run->client[0].commits);
	if (n - p->seen < ORACLE_RARELY)
		return false;
	p->seen = n;
	return true;
}

static void
commits(void *arg)
{
	struct oracle_place *p = arg;
	struct oracle_run *r = p->run;
	struct oracle_client *c = &r->client[p->i];
	uint64_t step = r->p.rate != 0 ? UINT64_C(1000000000) / r->p.rate : 0;
	for (uint64_t next = net_now_ns(p->w) + nam_rng_below(net_rng(p->w), step + 1); goes_on(p);
	     next += step) {
		uint64_t now = net_now_ns(p->w);
		if (step != 0 && now < next)
			net_sleep(p->w, next - now);
		else if (now > next + LATE_NS)
			next = now;
		tso_cid cid;
		nam_status st = NAM_OK;
		if ((r->what == ORACLE_AT_CLAIM || r->what == ORACLE_DEAD) && is_due(p) &&
		    (st = with_claim(p, stand_still, &cid)) != NAM_OK)
			fails(p, st);
		if (p->rests || (p->rarely && !has_its_turn(p))) {
			net_sleep(p->w, p->rests ? SETTLE_NS : TURN_NS);
			continue;
		}
		unsigned n = atomic_load(&c->commits);
		if (n >= r->commits_max)
			st = NAM_FULL;
		else if (p->rarely && r->what == ORACLE_SLOW)
			st = with_claim(p, takes_long, &cid);
		else
			st = insert(p, &cid);
		if (st != NAM_OK) {
			fails(p, st);
			break;
		}
		c->commit[n] = (struct oracle_commit){ cid, net_now_ns(p->w) };
		atomic_store(&c->commits, n + 1);
	}
	p->left--;
}

static void
looks(void *arg)
{
	struct oracle_place *p = arg;
	struct oracle_run *r = p->run;
	struct oracle_client *c = &r->client[p->i];
	uint64_t look_ns = r->p.look_ms * UINT64_C(1000000);
	while (goes_on(p)) {
		unsigned n = atomic_load(&c->looks);
		struct tso_pin pin;
		uint64_t asked = net_now_ns(p->w);
		nam_status st = n < r->looks_max ? tso_snapshot(txn_worker_tso(p->tw), &pin, NULL) : NAM_FULL;
		if (st != NAM_OK) {
			fails(p, st);
			break;
		}
		uint64_t got = net_now_ns(p->w);
		c->look[n] = (struct oracle_look){ pin.at, asked, got };
		atomic_store(&c->looks, n + 1);
		tso_unpin(txn_worker_tso(p->tw), &pin);
		if (got < asked + look_ns)
			net_sleep(p->w, asked + look_ns - got);
	}
	p->left--;
}

/* The victim takes no snapshots: it watches its own commits. */
static void
waits_for_its_moment(void *arg)
{
	struct oracle_place *p = arg;
	struct oracle_run *r = p->run;
	while (goes_on(p) && !is_due(p))
		net_sleep(p->w, SETTLE_NS);
	if (r->what == ORACLE_AT_COMMIT && p->stand_still != NULL) {
		while (goes_on(p) && !atomic_load(&r->client[p->i].committing))
			net_sleep(p->w, 100);
		if (goes_on(p))
			stand_still(p);
	} else if (r->what >= ORACLE_NONE && r->what != ORACLE_DEAD && goes_on(p)) {
		p->rests = r->what == ORACLE_IDLE;
		p->rarely = r->what == ORACLE_RARE || r->what == ORACLE_SLOW;
		atomic_store(&r->stopped_ns, net_now_ns(p->w));
		net_sleep(p->w, (uint64_t)(r->p.pause_s * 1e9));
		atomic_store(&r->resumed_ns, net_now_ns(p->w));
		p->rests = p->rarely = false;
	} else if (r->what == ORACLE_AT_REST && goes_on(p)) {
		p->rests = true;
		atomic_store(&r->stopped_ns, net_now_ns(p->w));
		net_sleep(p->w, REST_NS);
		stand_still(p);
		p->rests = false;
	}
	p->left--;
}

static nam_status
joins(struct oracle_place *p)
{
	struct oracle_run *r = p->run;
	/* Under the paper's scheme no client is fenced: a paused client comes back. */
	const struct txn_config cfg = { .vector = 16 << 20,
		.scheme = r->scheme,
		.clients = r->p.clients,
		.ptr_cache_entries = 4096,
		.lease_ms = r->p.lease_ms,
		.bystander = r->scheme == TSO_PREASSIGNED };
	nam_status st = txn_db_open(p->w, &cfg, &p->db, &p->err);
	if (st == NAM_OK && (st = txn_worker_open(p->db, p->w, &p->tw)) != NAM_OK)
		return nam_fail(&p->err, st, "cannot open a transaction worker: %s", nam_status_text(st));
	if (st != NAM_OK)
		return st;
	p->table = (struct txn_table){ .id = 1, .row_max = ROW };
	if (p->i == 0 && (st = txn_table_create(p->tw, &p->table)) == NAM_OK)
		atomic_store(&r->table, p->table.anchor.bits);
	while (st == NAM_OK && (p->table.anchor.bits = atomic_load(&r->table)) == 0)
		net_sleep(p->w, SETTLE_NS);
	if (st == NAM_OK)
		st = txn_table_open(p->db, &p->table);
	if (st != NAM_OK)
		return nam_fail(&p->err, st, "cannot make the table: %s", nam_status_text(st));
	return st;
}

void
bench_oracle_client(void *arg)
{
	struct oracle_place *p = arg;
	struct oracle_run *r = p->run;
	struct oracle_client *c = &r->client[p->i];
	nam_status st = joins(p);
	if (st != NAM_OK)
		fails(p, st);
	atomic_store(&c->ready, true);
	while (st == NAM_OK && atomic_load(&r->begin_ns) == 0)
		net_sleep(p->w, SETTLE_NS);
	if (st == NAM_OK) {
		struct nam_sched *s = net_worker_sched(p->w);
		void (*second)(void *) = p->i == ORACLE_VICTIM ? waits_for_its_moment : looks;
		p->left = (nam_co_start(s, commits, p, 0) != NULL) + (nam_co_start(s, second, p, 0) != NULL);
		if (p->left < 2)
			fails(p, NAM_NOMEM);
		while (p->left > 0)
			net_sleep(p->w, SETTLE_NS);
	}
	p->over = true;
	atomic_store(&c->ended, true);
}

void
bench_oracle_client_close(struct oracle_place *p)
{
	if (p->tw != NULL)
		txn_worker_close(p->tw);
	if (p->table.view != NULL)
		txn_table_close(p->db, &p->table);
	if (p->db != NULL)
		txn_db_close(p->w, p->db);
}
