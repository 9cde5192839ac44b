/*
 * join_model.h -- for tests of joins: two relations, a join by several processes of a simulated
 * cluster, and the same answer by nested loops.
 *
 * An answer is the number of pairs and the sum of a hash of each, so neither order nor who gave a
 * pair matters.
 */
#ifndef NAM_OLAP_JOIN_MODEL_H
#define NAM_OLAP_JOIN_MODEL_H

#include "olap_test.h"

#include <base/hash.h>
#include <olap/job_format.h>

struct answer {
	uint64_t pairs, sum;
};

struct world {
	/* given */
	uint64_t seed, bytes;
	unsigned n[2], keys, heavy[2]; /* heavy: the first so many tuples have key 5 */
	uint32_t width[2];
	unsigned participants, delay_permille; /* of verbs */
	/* when process 1 is said to have left; when it stalls; for how long */
	uint64_t rumour_ns, freeze_ns, stall_ns;
	uint64_t cancel_ns; /* 0 = never */
	unsigned who;       /* dies with its verb number `crash`; 0 = none does */
	uint64_t crash;
	struct olap_join join;
	nam_status (*sink)(void *arg, const struct olap_pairs *pairs); /* NULL: the model's own */
	uint64_t sink_pairs;
	bool long_keys; /* the key is the first two words */
	bool called;    /* helpers find the job on the board */
	bool fed[2];    /* the join gets this side in parts, from its participants' own memory */
	/* made */
	struct cluster c;
	uint64_t *tuple[2];
	struct olap_source source[2];
	struct olap_job *data; /* of the relations */
	net_addr at;
	bool made, done, told, over[T_PROCESSES], came[T_PROCESSES];
	atomic_bool cancel;
	uint64_t before, loaded[T_PROCESSES];
	/* the answer */
	nam_status ended;
	uint64_t took_ns;
	struct answer got;
	unsigned split, morsels;
};

static inline uint64_t *
world_tuple(const struct world *x, unsigned side, unsigned i)
{
	return x->tuple[side] + (size_t)i * x->width[side] / 8;
}

/* What a pair adds. NULL: no partner. Each word of both tuples counts. */
static inline uint64_t
pair_hash(const struct world *x, const uint64_t *l, const uint64_t *r)
{
	uint64_t h = 1;
	for (unsigned k = 0; l != NULL && k < x->width[0] / 8; k++)
		h = nam_mix(h + l[k]);
	h = nam_mix(h + 77);
	for (unsigned k = 0; r != NULL && k < x->width[1] / 8; k++)
		h = nam_mix(h + r[k]);
	return h;
}

static inline void
add(struct world *x, struct answer *a, const uint64_t *l, const uint64_t *r)
{
	a->pairs++;
	a->sum += pair_hash(x, l, r);
}

/* By nested loops. */
static inline struct answer
naive(struct world *x)
{
	struct answer a = { 0 };
	enum olap_kind kind = x->join.kind;
	bool *met = calloc(x->n[1] + 1, 1);
	for (unsigned i = 0; i < x->n[0]; i++) {
		const uint64_t *l = world_tuple(x, 0, i);
		bool any = false;
		for (unsigned k = 0; k < x->n[1]; k++) {
			const uint64_t *r = world_tuple(x, 1, k);
			if (l[0] != r[0] || (x->long_keys && l[1] != r[1]))
				continue;
			any = met[k] = true;
			if (kind != OLAP_SEMI && kind != OLAP_ANTI)
				add(x, &a, l, r);
		}
		if ((!any && (kind == OLAP_LEFT || kind == OLAP_FULL || kind == OLAP_ANTI)) ||
		    (any && kind == OLAP_SEMI))
			add(x, &a, l, NULL);
	}
	for (unsigned k = 0; k < x->n[1] && (kind == OLAP_RIGHT || kind == OLAP_FULL); k++)
		if (!met[k])
			add(x, &a, NULL, world_tuple(x, 1, k));
	free(met);
	return a;
}

/* ---- loading ---- */

static inline nam_status
load_side(struct world *x, unsigned side)
{
	struct olap_phase ph;
	struct olap_writer *wr;
	uint32_t m;
	nam_status st = olap_writer_open(x->data, x->width[side], 0, 4096, &wr);
	assert_int_equal(st, NAM_OK);
	assert_int_equal(olap_phase_begin(&ph, x->data, side, 1), NAM_OK);
	assert_int_equal(olap_take(&ph, &m), NAM_OK);
	if (x->n[side] > 0)
		st = olap_write(wr, x->tuple[side], x->n[side]);
	assert_int_equal(st, NAM_OK);
	assert_int_equal(olap_publish(&ph, wr, NULL, 0), NAM_OK);
	assert_int_equal(olap_settle(&ph), NAM_OK);
	olap_phase_source(&ph, x->width[side], 0, &x->source[side]);
	olap_phase_end(&ph);
	olap_writer_close(wr);
	return st;
}

/* By the last process, which never dies. */
static inline void
load(void *arg)
{
	struct world *x = arg;
	struct net_worker *w = x->c.w[T_PROCESSES - 1];
	assert_int_equal(olap_board_make(w, &x->c.board), NAM_OK);
	assert_int_equal(olap_job_make(w, x->c.board, "", 0, &x->data), NAM_OK);
	load_side(x, 0);
	load_side(x, 1);
}

static inline void
world_open(struct world *x)
{
	struct nam_rng dice;
	nam_rng_init(&dice, x->seed);
	cluster_open(&x->c, x->seed, 2, x->bytes != 0 ? x->bytes : 16 << 20, T_PROCESSES, x->delay_permille);
	for (unsigned s = 0; s < 2; s++) {
		x->tuple[s] = malloc((size_t)(x->n[s] + 1) * x->width[s]);
		for (unsigned i = 0; i < x->n[s]; i++) {
			uint64_t *t = world_tuple(x, s, i);
			t[0] = i < x->heavy[s] ? 5 : nam_rng_below(&dice, x->keys) * 977;
			for (unsigned k = 1; k < x->width[s] / 8; k++)
				t[k] = k == 1 && x->long_keys ? nam_rng_below(&dice, 4) : nam_rng_next(&dice);
		}
	}
	cluster_run(&x->c, T_PROCESSES - 1, load, x);
	x->before = cluster_free(&x->c);
	x->made = x->done = x->told = false;
	memset(x->over, 0, sizeof x->over);
	atomic_store(&x->cancel, false);
	x->got = (struct answer){ 0 };
	x->split = x->morsels = 0;
	x->ended = NAM_UNSURE;
	for (unsigned i = 0; i < x->participants; i++)
		x->loaded[i] = net_sim_verbs(x->c.net[i]);
	if (x->crash != 0)
		net_sim_crash_at(x->c.sim, x->c.net[x->who], x->loaded[x->who] + x->crash);
}

/* ---- the join ---- */

struct part {
	struct world *x;
	struct answer mine;
};

static inline nam_status
sink(void *arg, const struct olap_pairs *p)
{
	struct part *me = arg;
	for (unsigned i = 0; i < p->n; i++)
		add(me->x, &me->mine, p->left[i], p->right[i]);
	return NAM_OK;
}

static inline void
collect(void *arg, const void *result, uint32_t len)
{
	struct answer *sum = arg, one;
	assert_int_equal(len, sizeof one);
	memcpy(&one, result, sizeof one);
	sum->pairs += one.pairs;
	sum->sum += one.sum;
}

static inline bool
same_second(const void *l, const void *r)
{
	return ((const uint64_t *)l)[1] == ((const uint64_t *)r)[1];
}

enum { FED = 97 }; /* tuples of a part */
struct fed {
	const struct world *x;
	unsigned side;
};

static inline nam_status
feed(void *arg, uint32_t part, struct olap_writer *to)
{
	const struct fed *f = arg;
	const struct world *x = f->x;
	unsigned first = part * FED, n = x->n[f->side] - first;
	return olap_write(to, world_tuple(x, f->side, first), n < FED ? n : FED);
}

static inline nam_status
take_part(struct world *x, struct olap_job *job, struct answer *got)
{
	struct part me = { .x = x };
	struct olap_phase ph;
	struct olap_join j = x->join;
	struct fed f[2] = { { x, 0 }, { x, 1 } };
	for (unsigned s = 0; s < 2; s++)
		if (x->fed[s])
			j.feed[s] = (struct olap_feed){ .parts = (x->n[s] + FED - 1) / FED,
				.width = x->width[s],
				.tuples = x->n[s] / (x->seed % 2 == 0 ? 1 : 3), /* an estimate */
				.part = feed,
				.arg = &f[s] };
	j.left = x->source[0];
	j.right = x->source[1];
	if (x->long_keys)
		j.same = same_second;
	j.sink = x->sink != NULL ? x->sink : sink;
	j.arg = x->sink != NULL ? (void *)&x->sink_pairs : &me;
	j.result = &me.mine;
	j.result_len = sizeof me.mine;
	olap_job_watch(job, &x->cancel);
	nam_status st = olap_join_run(job, &j, &ph);
	x->split += j.did.split;
	x->morsels += j.did.morsels;
	if (st != NAM_OK)
		return st;
	struct answer sum = { 0 };
	st = olap_phase_results(&ph, collect, &sum);
	olap_phase_end(&ph);
	*got = sum;
	return st;
}

static inline void
make(void *arg)
{
	struct world *x = arg;
	struct olap_job *job;
	uint64_t began = net_now_ns(x->c.w[0]);
	nam_status st = olap_job_make(x->c.w[0], x->c.board, "", 0, &job);
	if (st == NAM_OK) {
		x->at = olap_job_at(job);
		x->made = true;
		if (x->called && (st = olap_job_offer(job)) != NAM_OK)
			olap_job_stop(job, st);
		x->ended = take_part(x, job, &x->got);
		st = olap_job_end(job);
		x->took_ns = net_now_ns(x->c.w[0]) - began;
	}
	if (x->ended == NAM_UNSURE)
		x->ended = st;
	if (!net_sim_crashed(x->c.net[0]))
		assert_int_equal(st, NAM_OK);
	x->over[0] = true;
}

struct helper {
	struct world *x;
	unsigned number;
};

/* The process is fenced, or a ghost. */
static inline bool
over_for(struct net_worker *w)
{
	struct net *n = net_worker_net(w);
	return net_sim_shut(n) || net_sim_crashed(n);
}

/* By the board, some time after the offer. Until the maker has ended or died. */
static inline nam_status
answer_call(struct world *x, struct net_worker *w, struct olap_job **job)
{
	nam_status st = NAM_GONE;
	uint64_t calls = 0;
	unsigned place, n = 0;
	bool stuck = false;
	while (n == 0 && !x->over[0] && !net_sim_crashed(x->c.net[0])) {
		net_sleep(w, 1000 + nam_rng_below(net_rng(w), 20000));
		if ((st = olap_board_calls(w, x->c.board, &calls)) == NAM_OK && calls != 0)
			st = olap_board_offers(w, x->c.board, &place, 1, &n);
		if (st != NAM_OK)
			return st;
	}
	if (n == 0)
		return NAM_GONE;
	while ((st = olap_job_enter(w, x->c.board, place, job, &stuck)) == NAM_BUSY && !over_for(w))
		net_sleep(w, 1000);
	while (stuck && !over_for(w) && olap_door_leave(w, x->c.board, place) != NAM_OK)
		net_sleep(w, 1000);
	if (st != NAM_OK)
		return st;
	net_sleep(w, nam_rng_below(net_rng(w), 100000));
	if ((st = olap_job_come(*job)) != NAM_OK)
		olap_job_leave(*job);
	return st;
}

static inline void
help(void *arg)
{
	struct helper *h = arg;
	struct world *x = h->x;
	struct net_worker *w = x->c.w[h->number];
	struct olap_job *job;
	struct answer got = { 0 };
	while (!x->called && !x->made && !net_sim_crashed(x->c.net[0]))
		net_sleep(w, 100);
	nam_status st = x->called ? answer_call(x, w, &job)
			: x->made ? olap_job_join(w, x->at, &job)
				  : NAM_GONE;
	if (st == NAM_OK) {
		x->came[h->number] = true;
		st = take_part(x, job, &got);
		olap_job_leave(job);
	}
	x->over[h->number] = true;
}

static inline void
watch(void *arg)
{
	struct world *x = arg;
	struct net_worker *w = x->c.w[T_PROCESSES - 1];
	net_sleep(w, x->cancel_ns + x->rumour_ns + x->freeze_ns);
	if (x->rumour_ns != 0)
		net_sim_rumour(x->c.sim, x->c.net[1], 1000000);
	else if (x->freeze_ns != 0)
		net_sim_freeze(x->c.sim, x->c.net[1], x->stall_ns);
	else
		atomic_store(&x->cancel, true);
}

static inline bool
all_over(void *arg)
{
	struct world *x = arg;
	return cluster_over(&x->c, x->participants, x->over, &x->told);
}

static inline void
sweep(void *arg)
{
	struct world *x = arg;
	unsigned jobs = 0;
	/* News of a death need a moment. */
	for (unsigned i = 0; i < 100 && jobs == 0; i++) {
		assert_int_equal(olap_board_sweep(x->c.w[T_PROCESSES - 1], x->c.board, &jobs), NAM_OK);
		net_sleep(x->c.w[T_PROCESSES - 1], 1000000);
	}
	x->done = true;
}

static inline bool
is_done(void *arg)
{
	return ((struct world *)arg)->done;
}

static inline void
world_run(struct world *x)
{
	struct helper h[T_PROCESSES];
	struct cluster *c = &x->c;
	assert_true(x->participants < T_PROCESSES);
	for (unsigned i = 1; i < x->participants; i++) {
		h[i] = (struct helper){ x, i };
		assert_non_null(nam_co_start(net_worker_sched(c->w[i]), help, &h[i], 512 << 10));
	}
	assert_non_null(nam_co_start(net_worker_sched(c->w[0]), make, x, 512 << 10));
	if (x->cancel_ns + x->rumour_ns + x->freeze_ns != 0)
		assert_non_null(nam_co_start(net_worker_sched(c->w[T_PROCESSES - 1]), watch, x, 512 << 10));
	assert_true(net_sim_run(c->sim, all_over, x));
	if (net_sim_crashed(c->net[0])) {
		assert_non_null(nam_co_start(net_worker_sched(c->w[T_PROCESSES - 1]), sweep, x, 512 << 10));
		assert_true(net_sim_run(c->sim, is_done, x));
	}
	nam_status ended = x->ended;
	struct answer got = x->got;
	for (unsigned i = 0; i < x->participants; i++)
		if (net_sim_crashed(c->net[i]))
			net_sim_bury(c->sim, c->net[i]);
	assert_true(net_sim_run(c->sim, NULL, NULL));
	if (!net_sim_crashed(c->net[0])) {
		x->ended = ended;
		x->got = got;
	}
}

static inline void
end_data(void *arg)
{
	struct world *x = arg;
	assert_int_equal(olap_job_end(x->data), NAM_OK);
	assert_int_equal(olap_board_drop(x->c.w[T_PROCESSES - 1], x->c.board), NAM_OK);
}

static inline void
world_close(struct world *x)
{
	cluster_run(&x->c, T_PROCESSES - 1, end_data, x);
	cluster_close(&x->c);
	free(x->tuple[0]);
	free(x->tuple[1]);
}

#endif
