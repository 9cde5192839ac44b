/*
 * join_tables.c -- two tables of a compute node in this process, joined by its workers at one
 * snapshot; beside DuckDB.
 *
 * cold: each run reads the tables' blocks. kept: it reads the columns that a scan before it has
 * decoded (catalog/pages.h), and only compares them with the blocks' words.
 */
#include "duckdb.h"
#include "join_tables.h"

#include <base/clock.h>
#include <bench/jobs.h>
#include <catalog/pages.h>

#include <stdlib.h>
#include <string.h>

enum {
	CHUNK = 4096, /* tuples that a worker loads in a turn */
	LOAD = 64,    /* of a transaction */
	PARTS = 1024,
	HEAP = 64 << 10, /* of tuples on their way to the writer */
	STACK = 1 << 20,
	WORDS = OLAP_WIDTH_MAX / 8,
	WORKERS = 32
};
enum side { R, S };
static const char *const table_name[] = { "r", "s" };

struct bench {
	const struct join_tables *o;
	unsigned words; /* of a tuple */
	struct bench_embedded nodes;
	struct cn *cn;
	struct peer_duckdb *duckdb;
	struct cn_session *session;
	struct join_draw draw;
	/* what the workers do together */
	enum side loads;
	atomic_ullong next;
	_Atomic nam_status status;
	bool raw;
	struct join_sums sums;
	/* of the first worker, for the others */
	struct {
		atomic_int ready; /* 1: the fields are set; -1: there is no join */
		tso_cid snapshot;
		net_addr job, board;
		uint64_t *part[2];
		unsigned parts[2];
	} lead;
};

struct turn {
	struct bench *b;
	struct bench_job job;
	unsigned worker;
};

static void
failed(struct bench *b, nam_status st)
{
	nam_status none = NAM_OK;
	if (st != NAM_OK)
		atomic_compare_exchange_strong(&b->status, &none, st);
}

/* Runs fn on every worker; the first status that is not NAM_OK. */
static nam_status
together(struct bench *b, void (*fn)(const struct cn_place *pl, void *arg))
{
	static struct bench_jobs jobs = BENCH_JOBS;
	struct turn turn[WORKERS];
	atomic_store(&b->status, NAM_OK);
	for (unsigned i = 0; i < b->o->workers; i++) {
		turn[i] = (struct turn){ .b = b, .worker = i };
		turn[i].job = (struct bench_job){ .run = fn, .arg = &turn[i] };
		nam_status st = bench_job_start(b->cn, &jobs, i, &turn[i].job);
		failed(b, st);
	}
	bench_jobs_wait(&jobs, 0);
	return atomic_load(&b->status);
}

/* ---- loading -------------------------------------------------------------------------- */

static nam_status
load_some(const struct cn_place *pl, const struct bench *b, uint64_t first, unsigned n, uint64_t *tuple,
    struct nam_arena *arena)
{
	const struct cat_table *tab;
	struct txn *t;
	struct txn_put put[LOAD];
	union cat_val v[WORDS];
	static const bool null[WORDS];
	bool keyed = b->loads == R;
	(keyed ? bench_join_fill_r : bench_join_fill_s)(&b->draw, first, n, tuple);
	nam_status st = txn_begin(pl->txn, TXN_REPEATABLE_READ, &t);
	if (st != NAM_OK)
		return st;
	st = cat_find(pl->cat, t, table_name[b->loads], &tab);
	for (unsigned i = 0; st == NAM_OK && i < n; i++) {
		struct cat_str bytes, key = { 0 };
		put[i] = (struct txn_put){ .table = (struct txn_table *)(uintptr_t)&tab->store };
		for (unsigned w = 0; w < b->words; w++)
			v[w].i = (int64_t)tuple[i * b->words + w];
		st = cat_row_encode(tab, t, v, null, &bytes, arena);
		if (st == NAM_OK && keyed)
			st = cat_key_encode(tab, v, &key, &put[i].hash, arena);
		put[i].key = key.p;
		put[i].key_len = key.len;
		put[i].bytes = bytes.p;
		put[i].len = bytes.len;
	}
	if (st == NAM_OK)
		st = txn_insert(t, put, n);
	if (st == NAM_OK)
		return txn_commit(t, NULL);
	txn_abort(t);
	return st;
}

static void
load_main(const struct cn_place *pl, void *arg)
{
	struct turn *me = arg;
	struct bench *b = me->b;
	uint64_t first, all = b->o->rows[b->loads];
	uint64_t *tuple = malloc(sizeof *tuple * LOAD * b->words);
	struct nam_arena arena;
	nam_arena_init(&arena, 0);
	nam_status st = tuple != NULL ? NAM_OK : NAM_NOMEM;
	while (st == NAM_OK && (first = atomic_fetch_add(&b->next, CHUNK)) < all) {
		uint64_t end = first + CHUNK < all ? first + CHUNK : all;
		if (me->worker == 0)
			bench_progress("loading %s: %3d %%", table_name[b->loads], (int)(first * 100 / all));
		for (; st == NAM_OK && first < end; first += LOAD) {
			nam_arena_reset(&arena);
			unsigned n = end - first < LOAD ? (unsigned)(end - first) : LOAD;
			/* A conflict is one with the collector, or with an index that grows. */
			do
				st = load_some(pl, b, first, n, tuple, &arena);
			while (st == NAM_CONFLICT);
		}
	}
	nam_arena_fini(&arena);
	free(tuple);
	failed(b, st);
}

static bool
ask(struct bench *b, const char *sql)
{
	static const struct sql_sink silent;
	struct cat_err err = { 0 };
	bool ok = cn_exec(b->session, sql, strlen(sql), &silent, &err);
	if (!ok)
		fprintf(stderr, "namdb bench: %s: %s\n", err.sqlstate, err.text);
	return ok;
}

static bool
load(struct bench *b, enum side side)
{
	char sql[4096];
	size_t n = (size_t)snprintf(sql, sizeof sql, "CREATE TABLE %s (k bigint %s", table_name[side],
	    side == R ? "PRIMARY KEY" : "NOT NULL");
	for (unsigned w = 1; w < b->words; w++)
		n += (size_t)snprintf(sql + n, sizeof sql - n, ", p%u bigint NOT NULL", w);
	snprintf(sql + n, sizeof sql - n, ")");
	if (!ask(b, sql))
		return false;
	b->loads = side;
	atomic_store(&b->next, 0);
	nam_status st = together(b, load_main);
	bench_progress_end("loaded %s: %u rows", table_name[side], b->o->rows[side]);
	if (st != NAM_OK)
		fprintf(stderr, "namdb bench: loading ended: %s\n", nam_status_text(st));
	if (st != NAM_OK || b->duckdb == NULL)
		return st == NAM_OK;
	snprintf(sql, sizeof sql, "DROP TABLE IF EXISTS %s", table_name[side]);
	return peer_duckdb_ask(b->duckdb, sql, NULL, 0) &&
	       peer_duckdb_load(b->duckdb, table_name[side], b->words, b->o->rows[side],
		   side == R ? bench_join_fill_r : bench_join_fill_s, &b->draw);
}

/* ---- the join ------------------------------------------------------------------------- */

/* A table as a side of the join. */
struct feed {
	struct cat_scan *scan;
	const uint64_t *part;
	unsigned words;
	struct nam_arena arena;
	uint64_t *heap;
	uint16_t want[WORDS]; /* the scan's */
};

static nam_status
feed_part(void *arg, uint32_t number, struct olap_writer *to)
{
	struct feed *f = arg;
	struct cat_vec col[WORDS];
	const uint16_t *sel;
	unsigned n, kept, most = HEAP / (8 * f->words);
	cat_scan_part(f->scan, f->part[number], number > 0 ? f->part[number - 1] : 0);
	for (;;) {
		nam_arena_reset(&f->arena);
		nam_status st = cat_scan_next(f->scan, col, &n, &sel, &kept, &f->arena);
		if (st != NAM_OK || n == 0)
			return st;
		for (unsigned from = 0, some; from < kept; from += some) {
			some = kept - from < most ? kept - from : most;
			for (unsigned w = 0; w < f->words; w++)
				for (unsigned i = 0; i < some; i++)
					f->heap[i * f->words + w] =
					    (uint64_t)col[w].i[sel != NULL ? sel[from + i] : from + i];
			if ((st = olap_write(to, f->heap, some)) != NAM_OK)
				return st;
		}
	}
}

/* Pairs of 8 + 8 bytes: the usual case, without a loop over words. */
static nam_status
sink_fast(void *arg, const struct olap_pairs *p)
{
	struct join_sums *s = arg;
	for (unsigned i = 0; i < p->n; i++) {
		s->left += ((const uint64_t *)p->left[i])[1];
		s->right += ((const uint64_t *)p->right[i])[1];
	}
	s->pairs += p->n;
	return NAM_OK;
}

struct wide {
	struct join_sums sums;
	unsigned words;
};

static nam_status
sink_wide(void *arg, const struct olap_pairs *p)
{
	struct wide *s = arg;
	for (unsigned i = 0; i < p->n; i++)
		for (unsigned w = 1; w < s->words; w++) {
			s->sums.left += ((const uint64_t *)p->left[i])[w];
			s->sums.right += ((const uint64_t *)p->right[i])[w];
		}
	s->sums.pairs += p->n;
	return NAM_OK;
}

static void
collect(void *arg, const void *result, uint32_t len)
{
	struct join_sums *sum = arg, one;
	if (len != sizeof one)
		return;
	memcpy(&one, result, sizeof one);
	sum->pairs += one.pairs;
	sum->left += one.left;
	sum->right += one.right;
}

static nam_status
feed_open(const struct cn_place *pl, struct txn *t, struct bench *b, enum side side, struct feed *f)
{
	static const uint16_t none[1];
	const struct cat_table *tab;
	*f = (struct feed){ .part = b->lead.part[side], .words = b->words };
	nam_arena_init(&f->arena, 0);
	for (unsigned w = 0; b->words > 1 && w < b->words; w++)
		f->want[w] = (uint16_t)w;
	f->heap = malloc(HEAP + 8 * WORDS);
	nam_status st = f->heap != NULL ? cat_find(pl->cat, t, table_name[side], &tab) : NAM_NOMEM;
	if (st != NAM_OK)
		return st;
	return cat_scan_open_parts(
	    pl->cat, t, tab, b->words > 1 ? f->want : none, b->words, b->raw, &f->scan);
}

static void
feed_close(struct feed *f)
{
	if (f->scan != NULL)
		cat_scan_close(f->scan);
	if (f->heap != NULL)
		nam_arena_fini(&f->arena);
	free(f->heap);
}

static nam_status
take_part(const struct cn_place *pl, struct bench *b, struct txn *t, struct olap_job *job, bool leads)
{
	struct wide wide = { .words = b->words };
	struct feed f[2] = { 0 };
	struct olap_phase ph;
	struct olap_join j = { .kind = OLAP_INNER,
		.algorithm = b->o->algorithm,
		.bits = b->o->bits,
		.workers = b->o->workers,
		.memory = (size_t)4 << 30,
		.sink = b->words == 2 ? sink_fast : sink_wide,
		.arg = &wide,
		.result = &wide.sums,
		.result_len = sizeof wide.sums };
	nam_status st = NAM_OK;
	/* Left is S, right is R. */
	for (unsigned i = 0; st == NAM_OK && i < 2; i++) {
		enum side side = i == 0 ? S : R;
		st = feed_open(pl, t, b, side, &f[i]);
		j.feed[i] = (struct olap_feed){ .parts = b->lead.parts[side],
			.width = b->words * 8,
			.tuples = b->o->rows[side],
			.part = feed_part,
			.arg = &f[i] };
	}
	if (st != NAM_OK)
		olap_job_stop(job, st);
	else
		st = olap_join_run(job, &j, &ph);
	if (st == NAM_OK) {
		if (leads) {
			b->sums = (struct join_sums){ 0 };
			st = olap_phase_results(&ph, collect, &b->sums);
		}
		olap_phase_end(&ph);
	}
	feed_close(&f[0]);
	feed_close(&f[1]);
	return st;
}

static nam_status
lead(const struct cn_place *pl, struct bench *b)
{
	struct txn *t;
	struct olap_job *job = NULL;
	nam_status st = txn_begin(pl->txn, TXN_REPEATABLE_READ, &t);
	if (st != NAM_OK)
		return st;
	for (unsigned i = 0; st == NAM_OK && i < 2; i++) {
		const struct cat_table *tab;
		st = cat_find(pl->cat, t, table_name[i], &tab);
		while (st == NAM_OK && (st = cat_parts(pl->cat, t, tab, PARTS, &b->lead.part[i],
					    &b->lead.parts[i])) == NAM_BUSY)
			st = NAM_OK;
	}
	if (st == NAM_OK)
		st = olap_board_make(pl->net, &b->lead.board);
	if (st == NAM_OK)
		st = olap_job_make(pl->net, b->lead.board, "", 0, &job);
	if (st == NAM_OK) {
		b->lead.snapshot = txn_snapshot(t);
		b->lead.job = olap_job_at(job);
		atomic_store(&b->lead.ready, 1);
		st = take_part(pl, b, t, job, true);
		nam_status end = olap_job_end(job);
		st = st == NAM_OK ? end : st;
	}
	if (b->lead.board.bits != 0)
		(void)olap_board_drop(pl->net, b->lead.board);
	for (unsigned i = 0; i < 2; i++)
		free(b->lead.part[i]);
	txn_abort(t);
	return st;
}

static nam_status
follow(const struct cn_place *pl, struct bench *b)
{
	struct net_backoff pause = { .base_ns = 2000, .cap_ns = 20000 };
	struct olap_job *job;
	struct txn *t;
	while (atomic_load(&b->lead.ready) == 0)
		net_back_off(pl->net, &pause);
	if (atomic_load(&b->lead.ready) < 0)
		return NAM_OK; /* the first worker says why */
	nam_status st = txn_begin_at(pl->txn, b->lead.snapshot, NULL, &t);
	if (st != NAM_OK)
		return st;
	st = olap_job_join(pl->net, b->lead.job, &job);
	if (st == NAM_OK) {
		st = take_part(pl, b, t, job, false);
		olap_job_leave(job);
	}
	txn_abort(t);
	return st == NAM_GONE ? NAM_OK : st; /* it was over before this worker came */
}

static void
join_main(const struct cn_place *pl, void *arg)
{
	struct turn *me = arg;
	nam_status st = me->worker == 0 ? lead(pl, me->b) : follow(pl, me->b);
	if (me->worker == 0 && atomic_load(&me->b->lead.ready) == 0)
		atomic_store(&me->b->lead.ready, -1);
	failed(me->b, st);
}

static bool
same(const struct join_sums *a, const struct join_sums *b)
{
	return a->pairs == b->pairs && a->left == b->left && a->right == b->right;
}

static bool
join_once(struct bench *b, bool raw, const struct join_sums *want, double *seconds)
{
	uint64_t began = nam_clock_ns();
	memset(&b->lead, 0, sizeof b->lead);
	b->raw = raw;
	nam_status st = together(b, join_main);
	*seconds = (double)(nam_clock_ns() - began) / 1e9;
	if (st != NAM_OK)
		fprintf(stderr, "namdb bench: the join ended: %s\n", nam_status_text(st));
	else if (!same(&b->sums, want))
		fprintf(stderr, "namdb bench: wrong answer: %llu pairs, expected %llu\n",
		    (unsigned long long)b->sums.pairs, (unsigned long long)want->pairs);
	return st == NAM_OK && same(&b->sums, want);
}

/* ---- a point ---------------------------------------------------------------------------- */

struct point {
	double cold[BENCH_RUNS_MAX], kept[BENCH_RUNS_MAX], duckdb[BENCH_RUNS_MAX];
	double cold_ratio[BENCH_RUNS_MAX], kept_ratio[BENCH_RUNS_MAX];
	struct join_sums want;
	unsigned bad, duckdb_bad;
};

static void
question(const struct bench *b, char *sql, size_t size)
{
	char left[2048] = "0", right[2048] = "0";
	size_t l = 1, r = 1;
	for (unsigned w = 1; w < b->words; w++) {
		l += (size_t)snprintf(left + l, sizeof left - l, " + s.p%u", w);
		r += (size_t)snprintf(right + r, sizeof right - r, " + r.p%u", w);
	}
	snprintf(sql, size, "SELECT count(*), sum(%s)::BIGINT, sum(%s)::BIGINT FROM s JOIN r USING (k)", left,
	    right);
}

static bool
measure(struct bench *b, struct point *p)
{
	unsigned runs = b->o->common->runs;
	char sql[5000];
	double s;
	if (!load(b, S))
		return false;
	p->want = bench_join_expected(&b->draw, b->o->rows[S]);
	question(b, sql, sizeof sql);
	p->bad += !join_once(b, true, &p->want, &s);  /* pages of memory are touched */
	p->bad += !join_once(b, false, &p->want, &s); /* columns are kept */
	for (unsigned k = 0; k < runs && p->bad == 0; k++) {
		p->bad += !join_once(b, true, &p->want, &p->cold[k]);
		p->bad += !join_once(b, false, &p->want, &p->kept[k]);
		fprintf(
		    stderr, "run %u of %u: cold %.3f s, kept %.3f s", k + 1, runs, p->cold[k], p->kept[k]);
		if (b->duckdb != NULL) {
			int64_t got[3];
			uint64_t began = nam_clock_ns();
			bool ok = peer_duckdb_ask(b->duckdb, sql, got, 3);
			p->duckdb[k] = (double)(nam_clock_ns() - began) / 1e9;
			const struct join_sums sums = { (uint64_t)got[0], (uint64_t)got[1],
				(uint64_t)got[2] };
			p->duckdb_bad += !ok || !same(&sums, &p->want);
			p->cold_ratio[k] = p->duckdb[k] / p->cold[k];
			p->kept_ratio[k] = p->duckdb[k] / p->kept[k];
			fprintf(stderr, ", duckdb %.3f s", p->duckdb[k]);
		}
		fputc('\n', stderr);
	}
	return ask(b, "DROP TABLE s");
}

/* ---- the report -------------------------------------------------------------------------- */

static void
metrics(const struct bench *b, const struct point *p, double selectivity, struct bench_metrics *m)
{
	unsigned runs = b->o->common->runs;
	bench_metric(m, "selectivity", selectivity);
	bench_metric(m, "cold_s", bench_median(p->cold, runs));
	bench_metric(m, "kept_s", bench_median(p->kept, runs));
	bench_metric(m, "pairs", (double)p->want.pairs);
	if (b->duckdb != NULL) {
		bench_metric(m, "peer_duckdb_s", bench_median(p->duckdb, runs));
		bench_metric(m, "cold_duckdb_ratio", bench_median(p->cold_ratio, runs));
		bench_metric(m, "kept_duckdb_ratio", bench_median(p->kept_ratio, runs));
		bench_metric(m, "peer_duckdb_errors", p->duckdb_bad);
	}
	bench_metric(m, "check_errors", p->bad);
}

static void
report(const struct bench *b, const struct point *p)
{
	const struct join_tables *o = b->o;
	bool json = o->common->json, list = json && o->points > 1;
	const char *algorithm = o->algorithm == OLAP_RRJ ? "rrj" : "rdma-ghj";
	if (json)
		printf("{\"bench\": \"join\", \"provider\": \"shm\", \"params\": {\"from\": \"tables\", "
		       "\"rows\": "
		       "[%u, %u], \"payload\": %u, \"skew\": %g, \"algorithm\": \"%s\", \"workers\": %u, "
		       "\"runs\": %u, \"seed\": %llu}, %s",
		    o->rows[R], o->rows[S], o->payload, o->skew, algorithm, o->workers, o->common->runs,
		    (unsigned long long)o->seed, list ? "\"points\": [" : "");
	else
		printf("join of tables %u x %u, 8 + %u bytes, skew %g, %s, %u worker%s, median of %u\n",
		    o->rows[R], o->rows[S], o->payload, o->skew, algorithm, o->workers,
		    o->workers > 1 ? "s" : "", o->common->runs);
	for (unsigned i = 0; i < o->points; i++) {
		struct bench_metrics m = { .json = json, .comma = "" };
		if (json)
			printf("%s%s\"metrics\": {", i > 0 ? ", " : "", list ? "{" : "");
		metrics(b, &p[i], o->selectivity[i], &m);
		printf("%s", list ? "}}" : json ? "}" : "");
	}
	printf("%s", list ? "]}\n" : json ? "}\n" : "");
	fflush(stdout);
}

int
bench_join_tables(const struct join_tables *o)
{
	static struct bench b;
	struct nam_err err = { 0 };
	const char *why;
	b = (struct bench){ .o = o, .words = 1 + o->payload / 8 };
	b.draw = (struct join_draw){ o->seed, o->rows[R], 0, o->skew, 8 + o->payload };
	/* A row's block, its versions and its index entry; and both sides as tuples. */
	uint64_t bytes = ((uint64_t)o->rows[R] + o->rows[S]) * (128 + 5 * (UINT64_C(8) + o->payload));
	struct point *p = calloc(o->points, sizeof *p);
	bool ok = p != NULL;
	if (ok && bench_embedded_open(&b.nodes, (bytes + (UINT64_C(512) << 20)) / BENCH_EMBEDDED_NODES,
		      o->common->cluster, &err) == NAM_OK) {
		const struct cn_config cfg = { .local = b.nodes.local, .workers = o->workers };
		ok = cn_open(&b.cn, &cfg, &err) == NAM_OK && cn_session_open(b.cn, 0, &b.session) == NAM_OK;
	} else {
		ok = false;
	}
	if (!ok)
		fprintf(stderr, "namdb bench: %s\n", err.text);
	if (ok && o->peer && (b.duckdb = peer_duckdb_open(o->workers, &why)) == NULL)
		fprintf(stderr, "namdb bench: duckdb is skipped: %s\n", why);
	ok = ok && load(&b, R);
	for (unsigned i = 0; ok && i < o->points; i++) {
		b.draw.selectivity = o->selectivity[i];
		ok = measure(&b, &p[i]);
	}
	if (ok)
		report(&b, p);
	for (unsigned i = 0; ok && i < o->points; i++)
		ok = p[i].bad + p[i].duckdb_bad == 0;
	if (b.session != NULL)
		cn_session_close(b.session);
	if (b.cn != NULL)
		cn_close(b.cn);
	bench_embedded_close(&b.nodes);
	peer_duckdb_close(b.duckdb);
	free(p);
	return ok ? 0 : 1;
}
