/* client.c -- YCSB by transactions: the table, its clients, and the check at the end. */
#include "tree.h"

#include <bench/tables.h>

#include <stdlib.h>
#include <string.h>

enum {
	STEPS_ALL = 1 << 20, /* of all clients */
	STEPS_MIN = 1 << 12, /* of each */
	ARENA = 64 << 10,
	ROW_MAX = 8 + YCSB_VALUE_MAX,
	CHECKED = 10000,
	LEAF = 8,
};

struct ycsb_params bench_ycsb_params = { .workload = 2,
	.records = 1000000,
	.pick = YCSB_PICKS,
	.set = YCSB_LINEAR,
	.value = 8,
	.batch = 1,
	.path = &bench_ycsb_tree,
	.cache = IDX_TREE_LEARNED,
	.fill = 90,
	.seed = 1 };

/* ---- steps ----------------------------------------------------------------------------------- */

nam_status
bench_ycsb_draw_all(struct ycsb_params *p, unsigned clients)
{
	unsigned each = STEPS_ALL / clients;
	each = (each > STEPS_MIN ? each : STEPS_MIN) / YCSB_PIPELINE * YCSB_PIPELINE;
	struct ycsb_drawing d;
	bench_draw_init(&d, &p->keys, p->workload, p->pick, atomic_load(&p->items.there));
	p->clients = 0;
	p->steps = calloc(clients, sizeof *p->steps);
	for (unsigned i = 0; p->steps != NULL && i < clients; i++) {
		struct nam_rng r;
		nam_rng_init(&r, p->seed + i * UINT64_C(7919));
		p->steps[i] = (struct ycsb_steps){ .step = malloc(each * sizeof(struct ycsb_step)),
			.n = each,
			.latest = p->pick == YCSB_LATEST };
		if (p->steps[i].step == NULL)
			return NAM_NOMEM;
		p->clients++;
		bench_draw(&d, &r, p->steps[i].step, each);
	}
	return p->steps != NULL ? NAM_OK : NAM_NOMEM;
}

void
bench_ycsb_undraw(struct ycsb_params *p)
{
	for (unsigned i = 0; p->steps != NULL && i < p->clients; i++)
		free(p->steps[i].step);
	free(p->steps);
	p->steps = NULL;
}

/* ---- the table ------------------------------------------------------------------------------- */

static struct bench_table
table_of(struct ycsb_side *s)
{
	return (struct bench_table){ &s->table, 8 + s->p->value, 8 };
}

static uint64_t
bytes(const void *params)
{
	const struct ycsb_params *p = params;
	/* blocks of two versions, both indexes; and what the workers keep at hand */
	uint64_t each = p->bare ? 60 : 260 + 2 * (uint64_t)p->value;
	return p->records * each + (UINT64_C(1) << 30);
}

static size_t
entries(const void *params)
{
	const struct ycsb_params *p = params;
	return p->bare ? 1 : p->records * 2;
}

static void
begin(void *side, const struct bench_sim *p, unsigned machine, struct net_counts *counts)
{
	struct ycsb_side *s = side;
	*s = (struct ycsb_side){ .p = &bench_ycsb_params, .counts = counts, .clients = p->clients };
	s->p->seed = p->seed;
	if (machine == 0 || s->p->path == NULL)
		return;
	s->path = calloc(1, s->p->path->size);
	if (s->path != NULL && s->p->path->join(s->path, s->p->first) != NAM_OK) {
		free(s->path);
		s->path = NULL; /* its clients say so */
	}
}

static unsigned
tables(void *side, struct txn_table *out[BENCH_SIM_TABLES])
{
	struct ycsb_side *s = side;
	out[0] = &s->table;
	return s->p->bare ? 0 : 1;
}

/* A model's points have the same keys, and a set of steps each. */
static nam_status
on_model(struct ycsb_side *s)
{
	struct ycsb_params *p = s->p;
	struct nam_err err;
	nam_status st = NAM_OK;
	if (p->keys.n == 0 &&
	    (st = bench_keys_open(&p->keys, p->set, p->records, p->seed, p->keys_file, &err)) != NAM_OK) {
		fprintf(stderr, "namdb bench: %s\n", err.text);
		return st;
	}
	bench_items_init(&p->items, p->records);
	bench_ycsb_undraw(p);
	return bench_ycsb_draw_all(p, s->clients);
}

static nam_status
prepare(void *side, const struct cn_place *pl)
{
	struct ycsb_side *s = side;
	const struct bench_table t = table_of(s);
	nam_status st = s->clients > 0 ? on_model(s) : NAM_OK;
	bench_items_init(&s->p->items, s->p->records);
	if (st == NAM_OK && !s->p->bare)
		st = bench_tables_make(pl, &t, 1);
	if (st == NAM_OK && !s->p->bare)
		st = txn_table_reserve(pl->txn, &s->table, s->p->records);
	if (st == NAM_OK && s->p->path != NULL) {
		s->p->first = s->path = calloc(1, s->p->path->size);
		st = s->path != NULL ? s->p->path->make(s->path, pl, s->p) : NAM_NOMEM;
	}
	return st;
}

/* The value of a key where there are no records: a word that is neither 0 nor all ones. */
static uint64_t
bare_value(uint64_t key)
{
	return nam_mix(key) >> 1 | 1;
}

/* Where the records of these keys lie. Each of them exists. */
static nam_status
places(struct ycsb_side *s, const struct cn_place *pl, const uint64_t *key, uint64_t *at, unsigned n)
{
	struct txn_get get[BENCH_LOAD_BATCH];
	struct nam_arena a;
	struct txn *t;
	nam_status st = txn_begin(pl->txn, TXN_REPEATABLE_READ, &t);
	if (st != NAM_OK)
		return st;
	nam_arena_init(&a, ARENA);
	for (unsigned i = 0; i < n; i++)
		get[i] = bench_get(&s->table, &key[i], 8);
	st = txn_get(t, get, n, &a);
	for (unsigned i = 0; st == NAM_OK && i < n; i++) {
		st = get[i].status;
		at[i] = get[i].row.at.bits;
	}
	txn_abort(t);
	nam_arena_fini(&a);
	return st;
}

/* Looks keys up, so that what the path caches is there. Few loaded leaves have fewer than LEAF. */
static nam_status
warm_path(struct ycsb_side *s, const struct cn_place *pl, const uint64_t *key, unsigned n)
{
	uint64_t some[BENCH_LOAD_BATCH / LEAF], at[BENCH_LOAD_BATCH / LEAF];
	unsigned k = 0;
	_Static_assert(BENCH_LOAD_BATCH / LEAF <= (int)YCSB_BATCH_MAX, "one lookup");
	for (unsigned i = 0; i < n; i += LEAF)
		some[k++] = key[i];
	return s->p->path->find(s->path, pl, some, at, k, NULL);
}

/* All records: inserts them, and enters them in the path; or reads them. */
static nam_status
every(struct ycsb_side *s, const struct cn_place *pl, bool insert)
{
	const struct bench_table t = table_of(s);
	const struct ycsb_path *path = s->p->path;
	char *row = malloc((size_t)BENCH_LOAD_BATCH * t.row);
	nam_status st = row != NULL ? NAM_OK : NAM_NOMEM;
	for (uint64_t i = 0; st == NAM_OK && i < s->p->records;) {
		uint64_t key[BENCH_LOAD_BATCH], at[BENCH_LOAD_BATCH];
		unsigned n = 0;
		for (; n < BENCH_LOAD_BATCH && i < s->p->records; n++, i++) {
			key[n] = bench_keys_at(&s->p->keys, i);
			memcpy(row + (size_t)n * t.row, &key[n], 8);
			if (insert)
				bench_value_fill(row + (size_t)n * t.row + 8, s->p->value, key[n], 0);
		}
		for (unsigned k = 0; s->p->bare && k < n; k++)
			at[k] = bare_value(key[k]);
		if (insert && !s->p->bare)
			st = bench_tables_load(pl, &t, row, n);
		if (st == NAM_OK && !s->p->bare)
			st = places(s, pl, key, at, n);
		if (st == NAM_OK && insert && path != NULL)
			st = path->load(s->path, pl, key, at, n);
		if (st == NAM_OK && !insert && path != NULL)
			st = warm_path(s, pl, key, n);
		bench_progress(
		    "%s records %3d %%", insert ? "loading" : "reading", (int)(i * 100 / s->p->records));
	}
	if (st == NAM_OK && insert && path != NULL)
		st = path->load(s->path, pl, NULL, NULL, 0);
	bench_progress_end(NULL);
	free(row);
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
	nam_status st = every(side, pl, true); /* which also reads them */
	return st == NAM_OK && ((struct ycsb_side *)side)->p->path != NULL ? warm(side, pl) : st;
}

static void
drop(void *side, const struct cn_place *pl)
{
	struct ycsb_side *s = side;
	const struct bench_table t = table_of(s);
	if (s->path != NULL)
		s->p->path->leave(s->path, pl, true);
	free(s->path);
	s->path = NULL;
	if (!s->p->bare)
		bench_tables_drop(pl, &t, 1);
}

/* ---- a client -------------------------------------------------------------------------------- */

struct client {
	struct ycsb_side *s;
	const struct cn_place *pl;
	const struct ycsb_steps *steps;
	struct net_counts *counts;
	struct bench_slice *out;
	struct nam_arena arena;
	uint64_t strange; /* values that belong to another key, records that are missing */
};

static uint64_t
key_of(struct client *c, const struct ycsb_step *step)
{
	struct ycsb_params *p = c->s->p;
	return c->steps->latest ? bench_keys_item(&p->keys, bench_items_before(&p->items, step->at))
				: step->at;
}

/* A new record may be newer than the snapshot; a loaded one must be there. */
static void
judge(struct client *c, uint64_t key, const struct txn_get *g)
{
	uint32_t value = c->s->p->value;
	if (g->status == NAM_ABSENT && key % (1 << YCSB_KEY_SHIFT) != 0)
		c->out->refused++;
	else if (g->status != NAM_OK || g->row.len != 8 + value ||
		 !bench_value_good((const char *)g->row.bytes + 8, value, key))
		c->strange++;
}

static nam_status
judge_bare(struct client *c, const uint64_t *key, const uint64_t *at, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		c->strange += at[i] != bare_value(key[i]);
	return NAM_OK;
}

/* n keys by one transaction. at: where the path says that they are, or NULL. */
static nam_status
get_all(struct client *c, const uint64_t *key, const uint64_t *at, unsigned n, struct txn **t,
    struct txn_get *get)
{
	net_addr where[YCSB_SCAN_MAX];
	for (unsigned i = 0; i < n; i++) {
		get[i].table = &c->s->table;
		get[i].key = &key[i];
		get[i].key_len = 8;
		get[i].hash = nam_hash(&key[i], 8, c->s->table.id);
		if (at != NULL)
			where[i].bits = at[i];
		else
			txn_expect(c->pl->txn, &c->s->table, get[i].hash, false);
	}
	nam_status st = txn_begin(c->pl->txn, TXN_REPEATABLE_READ, t);
	if (st != NAM_OK)
		return st;
	txn_set_counts_sink(*t, c->counts);
	st = at != NULL ? txn_get_at(*t, get, where, n, &c->arena) : txn_get(*t, get, n, &c->arena);
	for (unsigned i = 0; st == NAM_OK && i < n; i++) {
		st = get[i].status == NAM_ABSENT ? NAM_OK : get[i].status;
		if (st == NAM_OK && get[i].status == NAM_OK && at != NULL && at[i] != get[i].row.at.bits)
			c->strange++;
	}
	if (st != NAM_OK)
		txn_abort(*t);
	return st;
}

static nam_status
find(struct client *c, const uint64_t *key, uint64_t *at, unsigned n)
{
	const struct ycsb_path *path = c->s->p->path;
	return path != NULL ? path->find(c->s->path, c->pl, key, at, n, c->counts) : NAM_OK;
}

static nam_status
do_reads(struct client *c, const struct ycsb_step *step, unsigned n)
{
	uint64_t key[YCSB_BATCH_MAX], at[YCSB_BATCH_MAX];
	struct txn_get get[YCSB_BATCH_MAX];
	struct txn *t;
	for (unsigned i = 0; i < n; i++)
		key[i] = key_of(c, &step[i]);
	nam_status st = find(c, key, at, n);
	if (c->s->p->bare)
		return st == NAM_OK ? judge_bare(c, key, at, n) : st;
	if (st == NAM_OK)
		st = get_all(c, key, c->s->p->path != NULL ? at : NULL, n, &t, get);
	if (st != NAM_OK)
		return st;
	for (unsigned i = 0; i < n; i++)
		judge(c, key[i], &get[i]);
	return txn_commit(t, NULL);
}

/* An update writes without having looked, a read-modify-write looks. Here both read the record,
 * because a version is written where the one before it lies. */
static nam_status
do_write(struct client *c, const struct ycsb_step *step)
{
	uint64_t key = key_of(c, step), at;
	struct txn_get get;
	struct txn *t;
	void *row;
	nam_status st = find(c, &key, &at, 1);
	if (st == NAM_OK)
		st = get_all(c, &key, c->s->p->path != NULL ? &at : NULL, 1, &t, &get);
	if (st != NAM_OK)
		return st;
	judge(c, key, &get);
	if (get.status == NAM_ABSENT)
		return txn_commit(t, NULL);
	st = txn_edit(t, &c->s->table, &get.row, &row);
	if (st != NAM_OK) {
		txn_abort(t);
		return st;
	}
	bench_value_fill(
	    (char *)row + 8, c->s->p->value, key, bench_value_version((const char *)row + 8) + 1);
	return txn_commit(t, NULL);
}

/* The record first, then its entry: until then no lookup finds it. */
static nam_status
do_insert(struct client *c)
{
	struct ycsb_params *p = c->s->p;
	const struct bench_table table = table_of(c->s);
	uint64_t item = bench_items_take(&p->items), row[ROW_MAX / 8], at;
	if (item - p->records >= bench_keys_room(&p->keys)) {
		if (item - p->records == bench_keys_room(&p->keys))
			fprintf(stderr, "namdb bench: ycsb: all new keys are in; give more --records\n");
		return NAM_FULL;
	}
	row[0] = bench_keys_item(&p->keys, item);
	bench_value_fill(row + 1, p->value, row[0], 0);
	struct txn_put put = bench_put(&c->s->table, row, table.row, 8);
	nam_status st = p->bare ? NAM_OK : NAM_CONFLICT;
	while (st == NAM_CONFLICT) {
		struct txn *t;
		if ((st = txn_begin(c->pl->txn, TXN_REPEATABLE_READ, &t)) != NAM_OK)
			break;
		txn_set_counts_sink(t, c->counts);
		if ((st = txn_insert(t, &put, 1)) == NAM_OK)
			st = txn_commit(t, NULL);
		else
			txn_abort(t);
		c->out->aborts += st == NAM_CONFLICT;
	}
	at = bare_value(row[0]);
	if (st == NAM_OK && p->path != NULL && !p->bare)
		st = places(c->s, c->pl, row, &at, 1);
	if (st == NAM_OK && p->path != NULL)
		st = p->path->add(c->s->path, c->pl, row[0], at, c->counts);
	if (st == NAM_OK)
		bench_items_done(&p->items, item);
	return st;
}

static nam_status
do_scan(struct client *c, const struct ycsb_step *step)
{
	uint64_t key[YCSB_SCAN_MAX], at[YCSB_SCAN_MAX], low = key_of(c, step);
	struct txn_get get[YCSB_SCAN_MAX];
	struct txn *t;
	unsigned n = step->len;
	nam_status st = c->s->p->path->scan(c->s->path, c->pl, low, key, at, &n, c->counts);
	if (st != NAM_OK)
		return st;
	for (unsigned i = 0; i < n; i++)
		c->strange += key[i] < (i > 0 ? key[i - 1] + 1 : low);
	c->strange += n == 0; /* the lowest key is itself there */
	if (c->s->p->bare)
		return judge_bare(c, key, at, n);
	st = get_all(c, key, at, n, &t, get);
	if (st != NAM_OK)
		return st;
	for (unsigned i = 0; i < n; i++)
		judge(c, key[i], &get[i]);
	return txn_commit(t, NULL);
}

static nam_status
do_step(struct client *c, const struct ycsb_step *step, unsigned n)
{
	switch (step->op) {
	case YCSB_INSERT:
		return do_insert(c);
	case YCSB_SCAN:
		return do_scan(c, step);
	case YCSB_READ:
		return do_reads(c, step, n);
	default:
		return do_write(c, step);
	}
}

static void
client(
    void *side, const struct cn_place *pl, unsigned number, struct bench_slice *out, const atomic_bool *stop)
{
	struct ycsb_side *s = side;
	const struct ycsb_steps *steps = &s->p->steps[number];
	struct client c = { .s = s, .pl = pl, .steps = steps, .counts = &s->counts[number], .out = out };
	nam_arena_init(&c.arena, ARENA);
	nam_status st = s->p->path != NULL && s->path == NULL ? NAM_NOMEM : NAM_OK;
	if (s->clients > 0 && s->path != NULL && !s->begun) { /* a model has one thread */
		s->p->path->counts(s->path, NULL, &s->before);
		s->begun = true;
	}
	/* closed loop: the next begins when the last has been answered */
	uint64_t ended = net_now_ns(pl->net);
	/* a client of another round begins elsewhere */
	unsigned i = out->round * 977 % steps->n;
	while (st == NAM_OK && !atomic_load_explicit(stop, memory_order_relaxed)) {
		unsigned n = 1;
		while (steps->step[i].op == YCSB_READ && n < s->p->batch && i + n < steps->n &&
		       steps->step[i + n].op == YCSB_READ)
			n++;
		uint64_t began = ended;
		nam_arena_reset(&c.arena);
		while ((st = do_step(&c, &steps->step[i], n)) == NAM_CONFLICT) {
			out->aborts++;
			nam_arena_reset(&c.arena);
		}
		ended = net_now_ns(pl->net);
		/* What a processor would fetch by itself, but for the other clients between. */
		for (unsigned k = 0; k < s->p->batch; k += 4)
			__builtin_prefetch(&steps->step[i + n + k]);
		if (st == NAM_OK) {
			out->commits += n;
			nam_hist_add_many(&out->latency_ns, ended - began, n);
		}
		i = i + n < steps->n ? i + n : 0;
	}
	if (st != NAM_OK)
		fprintf(stderr, "namdb bench: ycsb: %s\n", nam_status_text(st));
	if (c.strange != 0)
		bench_complain("records that are missing, or have another's value", c.strange);
	out->errors += (st != NAM_OK) + c.strange;
	nam_arena_fini(&c.arena);
}

/* ---- the check: from outside, by scans ------------------------------------------------------- */

struct census {
	uint32_t value;
	uint64_t rows, fresh, strange;
};

static void
count(void *arg, const void *row)
{
	struct census *c = arg;
	uint64_t key;
	memcpy(&key, row, 8);
	c->rows++;
	c->fresh += key % (1 << YCSB_KEY_SHIFT) != 0;
	c->strange += !bench_value_good((const char *)row + 8, c->value, key);
}

/* The index has an entry for each key: some of them are looked up. */
static uint64_t
check_path(struct ycsb_side *s, const struct cn_place *pl, uint64_t items)
{
	struct ycsb_params *p = s->p;
	struct ycsb_path_counts c;
	uint64_t bad = 0;
	if (p->path == NULL)
		return 0;
	for (uint64_t k = 0; k < CHECKED; k++) {
		uint64_t key = bench_keys_item(&p->keys, items * k / CHECKED), at = 0;
		nam_status st = p->path->find(s->path, pl, &key, &at, 1, NULL);
		bad += st != NAM_OK || at == 0 || (p->bare && at != bare_value(key));
	}
	bad = bench_complain("keys that the index has not, or wrong", bad);
	if (p->path->counts(s->path, pl, &c) != NAM_OK || c.entries != items)
		bad += bench_complain("entries of the index are too many or too few", 1);
	return bad;
}

/* What the paths of all machines have done since their clients began: of the point that `more`
 * prints. */
static struct ycsb_path_counts seen;

static void
count_paths(void *const *side, unsigned machines)
{
	seen = (struct ycsb_path_counts){ 0 };
	for (unsigned k = 0; k < machines; k++) {
		const struct ycsb_side *s = side[k];
		struct ycsb_path_counts c;
		if (s->path == NULL || s->p->path->counts(s->path, NULL, &c) != NAM_OK)
			continue;
		seen.lookups += c.lookups - s->before.lookups;
		seen.index_reads += c.index_reads - s->before.index_reads;
		seen.fallbacks += c.fallbacks - s->before.fallbacks;
		if (c.cache_bytes > seen.cache_bytes) {
			seen.cache_bytes = c.cache_bytes;
			seen.table_bytes = c.table_bytes;
		}
	}
}

/* Columns and members of a model's report; for the machine that caches most. */
static void
more(const struct bench_sim_point *at, const struct bench_sim *p)
{
	double lookups = seen.lookups > 0 ? (double)seen.lookups : 1;
	if (at == NULL)
		printf("%6s %9s %9s  ", "reads", "fallbacks", "cached B");
	else if (p->json)
		printf("\"throughput_ops\": %.0f, \"index_reads_per_lookup\": %.4f, \"fallbacks_per_op\": "
		       "%.5f, \"cache_bytes\": %llu, "
		       "\"table_bytes\": %llu, ",
		    (double)at->sum.commits / at->seconds, (double)seen.index_reads / lookups,
		    (double)seen.fallbacks / lookups, (unsigned long long)seen.cache_bytes,
		    (unsigned long long)seen.table_bytes);
	else
		printf("%6.3f %9.5f %9llu  ", (double)seen.index_reads / lookups,
		    (double)seen.fallbacks / lookups,
		    (unsigned long long)(seen.cache_bytes + seen.table_bytes));
}

static uint64_t
check(void *const *side, unsigned machines, const struct cn_place *pl)
{
	struct ycsb_side *s = side[0];
	const struct bench_table table = table_of(s);
	struct census c = { .value = s->p->value };
	count_paths(side, machines);
	uint64_t want = atomic_load(&s->p->items.next), bad = check_path(s, pl, want);
	struct txn *t;
	/* the last inserts are in the next snapshot, but perhaps not in this one */
	for (unsigned look = 0; !s->p->bare && look < 100 && c.rows != want; look++) {
		if (look > 0)
			net_sleep(pl->net, 1000000);
		if (txn_begin(pl->txn, TXN_REPEATABLE_READ, &t) != NAM_OK)
			return bench_complain("cannot begin", 1);
		c = (struct census){ .value = s->p->value };
		uint64_t unread = bench_tables_each(t, &s->table, count, &c);
		bad += unread;
		if (c.rows == want || unread != 0 || look == 99)
			bad += bench_complain("records still locked", bench_tables_locked(t, &table, 1));
		txn_commit(t, NULL);
	}
	if (s->p->bare)
		c = (struct census){ .rows = want, .fresh = want - s->p->records };
	bad += bench_complain("values that belong to another key", c.strange);
	bad += bench_complain("records missing or too many", c.rows > want ? c.rows - want : want - c.rows);
	bad += bench_complain("loaded records are gone", c.rows - c.fresh != s->p->records);
	fprintf(stderr, "check: %llu records, %llu of them new: %s\n", (unsigned long long)c.rows,
	    (unsigned long long)c.fresh, bad ? "WRONG" : "all holds");
	/* On a model there is no other end. */
	for (unsigned k = 0; s->clients > 0 && k < machines; k++) {
		struct ycsb_side *other = side[k];
		if (other->path != NULL)
			s->p->path->leave(other->path, pl, false);
		free(other->path);
		other->path = NULL;
	}
	return bad;
}

/* ---- the storage nodes of a model ------------------------------------------------------------ */

static struct bench_tree_hosts hosts;

static nam_status
host(const void *params, struct net_sim *sim, unsigned nodes, uint64_t region)
{
	const struct ycsb_params *p = params;
	return p->path != NULL ? bench_tree_host_sim(&hosts, sim, nodes, region) : NAM_OK;
}

static void
unhost(const void *params)
{
	(void)params;
	bench_tree_unhost(&hosts);
}

const struct bench_sim_user bench_ycsb_user = { .bench = "ycsb",
	.params = &bench_ycsb_params,
	.side_size = sizeof(struct ycsb_side),
	.usage = bench_ycsb_sim_usage,
	.take = bench_ycsb_take,
	.fits = bench_ycsb_fits,
	.bytes = bytes,
	.entries = entries,
	.host = host,
	.unhost = unhost,
	.begin = begin,
	.tables = tables,
	.prepare = prepare,
	.load = load,
	.warm = warm,
	.client = client,
	.check = check,
	.drop = drop,
	.published = bench_ycsb_published,
	.more = more };
