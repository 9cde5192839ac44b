/*
 * agg.c -- groups of a relation and their aggregates: gathered in the cache, overflowed into remote
 * partitions, finished partition by partition.
 *
 * A tuple becomes a group of its own: its key, and for each aggregate the word that one tuple alone
 * would give. Two groups of one key become one. So what leaves a full table, what never saw a
 * table, and what a partition holds are the same kind of tuples.
 */
#include "groups.h"

#include <stdlib.h>
#include <string.h>

enum {
	BUFFERS = 8 << 20, /* bytes of all write buffers */
	MORSELS = 1024,
	BATCH = 256,      /* tuples that become groups at once */
	PAYS = 4,         /* a table pays if it takes so many tuples for each group */
	DIRECT = 1 << 20, /* tuples that pass by it, when it has not */
	LEAST_BITS = 10,
	PASS_IN = 0, /* phases */
	PASS_FINISH = 1
};

struct run {
	struct olap_job *job;
	struct olap_agg *a;
	struct olap_rel in, part;
	struct olap_reader *reader;
	struct olap_memory memory;
	struct olap_groups groups;
	struct olap_writer *wr;
	unsigned bits;       /* of partitions */
	unsigned table_bits; /* of the table in the cache */
	uint32_t window, group;
	uint64_t taken, direct; /* tuples since the table was empty; that are to pass by it */
	unsigned slot_bits;     /* of a table of groups, as the partition before needed it */
	bool as_is;             /* a tuple is a group as it stands */
	uint64_t batch[BATCH * (OLAP_KEY_WORDS + OLAP_AGGREGATES)];
};

/* ---- tuples become groups ------------------------------------------------------- */

/* n tuples, at most BATCH, into r->batch; or they are there already. */
static const uint64_t *
as_groups(struct run *r, const char *t, uint32_t n)
{
	const struct olap_agg *a = r->a;
	uint64_t *to = r->batch;
	if (r->as_is)
		return (const uint64_t *)(const void *)t;
	for (uint32_t i = 0; i < n; i++, t += r->in.width) {
		const uint64_t *from = (const uint64_t *)(const void *)t;
		for (unsigned k = 0; k < r->groups.keys; k++)
			*to++ = from[k];
		if (r->groups.keys > 1 && from[0] == GROUPS_EMPTY)
			to[-(int)r->groups.keys] = ~GROUPS_EMPTY;
		for (unsigned k = 0; k < a->aggregates; k++)
			*to++ = a->aggregate[k].op == OLAP_COUNT ? 1 : from[a->aggregate[k].word];
	}
	return r->batch;
}

static enum olap_work
group_work(const struct run *r)
{
	return olap_groups_far(&r->groups) ? OLAP_GROUP_FAR : OLAP_GROUP;
}

/* All groups of the table go to their partitions; it is empty afterwards. */
static nam_status
spill(struct run *r)
{
	struct olap_groups *g = &r->groups;
	nam_status st = NAM_OK;
	if (g->odd)
		st = olap_write(r->wr, g->odd_slot, 1);
	for (size_t i = 0; st == NAM_OK && i < (size_t)1 << g->bits; i++)
		if (g->slot[i * g->words] != GROUPS_EMPTY)
			st = olap_write(r->wr, g->slot + i * g->words, 1);
	olap_spent(r->job, OLAP_PARTITION, g->n);
	r->taken = 0;
	return st == NAM_OK ? olap_groups_clear(g, &r->memory, r->table_bits, 0) : st;
}

/* The table is full. It grows, or its groups leave; if it has not paid, tuples pass by for a
 * while. */
static nam_status
full(struct run *r)
{
	if (r->a->algorithm == OLAP_CLASSIC_AGG)
		return olap_groups_grow(&r->groups, &r->memory);
	r->direct = r->taken < (uint64_t)PAYS * r->groups.most ? DIRECT : 0;
	r->a->did.spills++;
	return spill(r);
}

/* A window's tuples. */
static nam_status
take_in(struct run *r, const char *t, uint32_t n)
{
	nam_status st = NAM_OK;
	while (st == NAM_OK && n > 0) {
		/* Tuples that are groups already need no batches. */
		uint32_t some = r->as_is || n < BATCH ? n : BATCH;
		if (r->direct > 0) {
			st = olap_write(r->wr, as_groups(r, t, some), some);
			olap_spent(r->job, OLAP_PARTITION, some);
			r->a->did.direct += some;
			r->direct = r->direct > some ? r->direct - some : 0;
			t += (size_t)some * r->in.width;
			n -= some;
			continue;
		}
		const uint64_t *g = as_groups(r, t, some);
		olap_spent(r->job, group_work(r), some);
		for (uint32_t done = 0; st == NAM_OK && done < some;) {
			size_t k =
			    olap_groups_add(&r->groups, g + (size_t)done * r->groups.words, some - done);
			done += (uint32_t)k;
			r->taken += k;
			if (done < some)
				st = full(r);
		}
		t += (size_t)some * r->in.width;
		n -= some;
	}
	return st;
}

/* ---- the phase of all tuples -------------------------------------------------------- */

static void
choose(struct run *r)
{
	const struct olap_agg *a = r->a;
	unsigned workers = a->workers > 0 ? a->workers : 1;
	size_t cache = a->cache != 0 ? a->cache : OLAP_CACHE, slot = r->groups.words * 8;
	uint64_t groups = a->groups != 0 && a->groups < r->in.tuples ? a->groups : r->in.tuples;
	r->table_bits = 1;
	while ((slot << (r->table_bits + 1)) <= cache)
		r->table_bits++;
	r->bits = a->bits;
	if (r->bits == 0) {
		while (1u << r->bits < 4 * workers)
			r->bits++;
		/* A partition's table is half full. */
		while (a->algorithm == OLAP_RDMA_AGG && groups * slot * 2 >> r->bits > cache &&
		       (UINT64_C(2) << r->bits) * OLAP_BUFFER <= BUFFERS)
			r->bits++;
	}
	r->bits = r->bits < OLAP_BITS_MAX ? r->bits : OLAP_BITS_MAX;
	/* How much overflows is not known: a window is what few groups need, or what all tuples
	 * do. */
	uint64_t share = (a->groups != 0 ? groups : r->in.tuples) * slot / ((uint64_t)workers << r->bits) / 4;
	for (r->window = 4096; r->window < NET_EXTENT && r->window < share;)
		r->window *= 2;
	r->group = (r->in.windows + MORSELS - 1) / MORSELS;
	r->group = r->group > 0 ? r->group : 1;
	r->a->did.bits = r->bits;
}

static nam_status
in_round(struct run *r, struct olap_phase *ph)
{
	uint32_t m, n;
	const void *t;
	nam_status st = olap_writer_open(r->job, r->groups.words * 8, r->bits, r->window, &r->wr);
	if (st == NAM_OK)
		st = olap_groups_clear(&r->groups, &r->memory, r->table_bits, 0);
	r->taken = r->direct = 0;
	while (st == NAM_OK && (st = olap_take(ph, &m)) == NAM_OK) {
		uint32_t first = m * r->group, left = r->in.windows - first;
		olap_reader_begin(r->reader, &r->in, first, left < r->group ? left : r->group);
		while ((st = olap_reader_next(r->reader, &t, &n)) == NAM_OK)
			if ((st = take_in(r, t, n)) != NAM_OK)
				break;
		st = st == NAM_ABSENT ? NAM_OK : st;
		r->a->did.morsels++;
	}
	if (st == NAM_ABSENT)
		st = spill(r);
	if (st == NAM_OK)
		st = olap_publish(ph, r->wr, NULL, 0);
	olap_writer_close(r->wr);
	r->wr = NULL;
	return st;
}

static nam_status
pass_in(struct run *r)
{
	struct olap_phase ph;
	struct olap_source s;
	nam_status st = olap_phase_begin(&ph, r->job, PASS_IN, (r->in.windows + r->group - 1) / r->group);
	if (st != NAM_OK)
		return st;
	do
		if ((st = in_round(r, &ph)) == NAM_OK)
			st = olap_settle(&ph);
	while (st == NAM_BUSY);
	if (st == NAM_OK && ph.outs > OLAP_SOURCES)
		st = NAM_FULL;
	if (st == NAM_OK) {
		olap_phase_source(&ph, r->groups.words * 8, r->bits, &s);
		st = olap_rel_load(r->job, &s, &r->part);
	}
	olap_phase_end(&ph);
	return st;
}

/* ---- the phase of partitions ---------------------------------------------------------- */

static nam_status
give_groups(struct run *r)
{
	struct olap_groups *g = &r->groups;
	struct olap_agg *a = r->a;
	unsigned n = 0;
	nam_status st = g->odd ? a->sink(a->arg, g->odd_slot, 1) : NAM_OK;
	for (size_t i = 0; st == NAM_OK && i < (size_t)1 << g->bits; i++) {
		const uint64_t *s = g->slot + i * g->words;
		if (s[0] == GROUPS_EMPTY)
			continue;
		uint64_t *to = r->batch + (size_t)n * g->words;
		for (unsigned k = 0; k < g->words; k++)
			to[k] = s[k];
		if (++n == BATCH) {
			st = a->sink(a->arg, r->batch, n);
			n = 0;
		}
	}
	return st == NAM_OK && n > 0 ? a->sink(a->arg, r->batch, n) : st;
}

/* One partition. */
static nam_status
finish(void *arg, uint32_t p)
{
	struct run *r = arg;
	const void *t;
	uint32_t n;
	nam_status st;
	if (r->part.count[p] == 0)
		return NAM_OK;
	if ((st = olap_groups_clear(&r->groups, &r->memory, r->slot_bits, r->bits)) != NAM_OK)
		return st;
	olap_reader_begin(r->reader, &r->part, r->part.start[p], r->part.start[p + 1] - r->part.start[p]);
	while ((st = olap_reader_next(r->reader, &t, &n)) == NAM_OK) {
		const uint64_t *g = t;
		for (uint32_t done = 0; st == NAM_OK && done < n;) {
			done += (uint32_t)olap_groups_add(
			    &r->groups, g + (size_t)done * r->groups.words, n - done);
			if (done < n)
				st = olap_groups_grow(&r->groups, &r->memory);
		}
		olap_spent(r->job, group_work(r), n);
		if (st == NAM_OK)
			st = olap_job_stopped(r->job);
		if (st != NAM_OK)
			return st;
	}
	r->slot_bits = r->groups.bits;
	if (r->groups.n * 4 < r->groups.most && r->slot_bits > LEAST_BITS)
		r->slot_bits--;
	return st == NAM_ABSENT ? give_groups(r) : st;
}

static nam_status
pass_finish(struct run *r, struct olap_phase *ph)
{
	struct olap_agg *a = r->a;
	nam_status st = olap_phase_begin(ph, r->job, PASS_FINISH, 1u << r->bits);
	r->slot_bits = LEAST_BITS;
	return st == NAM_OK ? olap_phase_run(ph, finish, r, a->result, a->result_len, &a->did.morsels) : st;
}

static nam_status
begin(struct run *r)
{
	const struct olap_agg *a = r->a;
	nam_status st = olap_reader_open(r->job, &r->reader);
	if (st == NAM_OK)
		st = olap_rel_load(r->job, &a->in, &r->in);
	if (st != NAM_OK)
		return st;
	r->groups.keys = a->keys > 0 ? a->keys : 1;
	r->groups.words = r->groups.keys + a->aggregates;
	if (r->groups.keys > OLAP_KEY_WORDS || r->groups.keys * 8 > r->in.width)
		return NAM_INVALID;
	r->as_is = r->groups.keys == 1 && r->in.width == r->groups.words * 8;
	for (unsigned k = 0; k < a->aggregates; k++) {
		const struct olap_aggregate *g = &a->aggregate[k];
		if (g->op != OLAP_COUNT && (g->word + 1) * 8 > r->in.width)
			return NAM_INVALID;
		r->groups.op[k] = g->op;
		r->as_is &= g->op != OLAP_COUNT && g->word == k + 1;
	}
	choose(r);
	return NAM_OK;
}

nam_status
olap_agg_run(struct olap_job *job, struct olap_agg *a, struct olap_phase *out)
{
	struct run *r = calloc(1, sizeof *r);
	NAM_ASSERT(a->aggregates <= OLAP_AGGREGATES && a->result_len <= OLAP_RESULT);
	*out = (struct olap_phase){ 0 };
	memset(&a->did, 0, sizeof a->did);
	if (r == NULL) {
		olap_job_stop(job, NAM_NOMEM);
		return NAM_NOMEM;
	}
	r->job = job;
	r->a = a;
	r->memory.limit = a->memory != 0 ? a->memory : OLAP_MEMORY;
	uint64_t began = net_now_ns(job->w), scanned;
	nam_status st = begin(r);
	if (st == NAM_OK)
		st = pass_in(r);
	scanned = net_now_ns(job->w);
	if (st == NAM_OK)
		st = pass_finish(r, out);
	a->did.scan_ns = scanned - began;
	a->did.finish_ns = net_now_ns(job->w) - scanned;
	if (st != NAM_OK) {
		olap_job_stop(job, st);
		olap_phase_end(out);
	}
	olap_reader_close(r->reader);
	olap_groups_free(&r->groups);
	olap_rel_free(&r->in);
	olap_rel_free(&r->part);
	free(r);
	return st;
}
