/* relation_test.c -- relations: each tuple that is written is read once, in its partition, whatever
 * the width, the fan-out and who writes; the memory goes back. */
#include "olap_test.h"

struct load {
	struct cluster *c;
	unsigned process, tuples;
	uint32_t width, window;
	unsigned bits;
	net_addr at; /* of the job; the maker sets it */
	bool made;
	nam_status ended;
	struct olap_source source;
};

enum { PER_MORSEL = 100 };

/* Tuple i: its key is some number, the next word is i, the others follow from both. */
static void
tuple_of(uint64_t i, uint32_t width, uint64_t *t)
{
	t[0] = (i % 7 == 0 ? 7 : i) * UINT64_C(0x123456789abcdf1);
	for (uint32_t k = 1; k < width / 8; k++)
		t[k] = i + (k - 1) * 1000003;
}

/* A participant writes what it takes. */
static void
write_part(struct load *l, struct olap_job *job)
{
	struct olap_phase ph;
	struct olap_writer *wr;
	uint32_t m;
	assert_int_equal(olap_writer_open(job, l->width, l->bits, l->window, &wr), NAM_OK);
	nam_status st = olap_phase_begin(&ph, job, 0, (l->tuples + PER_MORSEL - 1) / PER_MORSEL);
	do {
		while ((st = olap_take(&ph, &m)) == NAM_OK) {
			uint64_t t[PER_MORSEL * OLAP_WIDTH_MAX / 8];
			unsigned n = 0;
			for (unsigned i = m * PER_MORSEL; i < (m + 1) * PER_MORSEL && i < l->tuples; i++)
				tuple_of(i, l->width, t + (size_t)n++ * l->width / 8);
			if ((st = olap_write(wr, t, n)) != NAM_OK)
				break;
		}
		if (st == NAM_ABSENT)
			st = olap_publish(&ph, wr, NULL, 0);
		if (st == NAM_OK)
			st = olap_settle(&ph);
	} while (st == NAM_BUSY);
	l->ended = st;
	if (st != NAM_OK)
		olap_job_stop(job, st);
	else
		olap_phase_source(&ph, l->width, l->bits, &l->source);
	olap_phase_end(&ph);
	olap_writer_close(wr);
}

/* Each tuple once, whole, in its partition. */
static void
read_all(struct load *l, struct olap_job *job)
{
	struct olap_rel rel;
	struct olap_reader *r;
	uint8_t *seen = calloc(l->tuples + 1, 1);
	uint64_t sum = 0;
	assert_int_equal(olap_rel_load(job, &l->source, &rel), NAM_OK);
	assert_int_equal(olap_reader_open(job, &r), NAM_OK);
	for (unsigned p = 0; p < 1u << l->bits; p++) {
		const void *at;
		uint32_t n;
		uint64_t there = 0;
		olap_reader_begin(r, &rel, rel.start[p], rel.start[p + 1] - rel.start[p]);
		nam_status st;
		while ((st = olap_reader_next(r, &at, &n)) == NAM_OK)
			for (uint32_t i = 0; i < n; i++, there++) {
				uint64_t want[OLAP_WIDTH_MAX / 8];
				const uint64_t *t = (const void *)((const char *)at + (size_t)i * l->width);
				uint64_t id = t[1];
				assert_true(id < l->tuples);
				tuple_of(id, l->width, want);
				assert_memory_equal(t, want, l->width);
				assert_int_equal(l->bits == 0 ? 0 : olap_hash(t[0]) >> (64 - l->bits), p);
				assert_int_equal(seen[id]++, 0);
			}
		assert_int_equal(st, NAM_ABSENT);
		assert_int_equal(there, rel.count[p]);
		sum += there;
	}
	assert_int_equal(sum, l->tuples);
	assert_int_equal(rel.tuples, l->tuples);
	olap_reader_close(r);
	olap_rel_free(&rel);
	free(seen);
}

static void
helper(void *arg)
{
	struct load *first = arg, l = *first;
	struct olap_job *job;
	l.process = first->process; /* set before the start */
	while (!first->made)
		net_sleep(first->c->w[1], 1000);
	assert_int_equal(olap_job_join(first->c->w[1], first->at, &job), NAM_OK);
	write_part(&l, job);
	assert_int_equal(l.ended, NAM_OK);
	olap_job_leave(job);
}

static void
maker(void *arg)
{
	struct load *l = arg;
	struct olap_job *job;
	struct net_worker *w = l->c->w[0];
	assert_int_equal(olap_board_make(w, &l->c->board), NAM_OK);
	assert_int_equal(olap_job_make(w, l->c->board, "plan", 5, &job), NAM_OK);
	uint32_t len;
	assert_string_equal(olap_job_plan(job, &len), "plan");
	assert_int_equal(len, 5);
	l->at = olap_job_at(job);
	l->made = true;
	write_part(l, job);
	if (l->ended == NAM_OK)
		read_all(l, job);
	assert_int_equal(olap_job_end(job), NAM_OK);
	assert_int_equal(olap_board_drop(w, l->c->board), NAM_OK);
}

static void
written_is_read(void **state)
{
	(void)state;
	const struct {
		unsigned tuples, bits;
		uint32_t width, window;
	} want[] = { { 5000, 0, 16, 0 }, { 5000, 4, 16, 4096 }, { 20000, 3, 16, 8192 }, { 3000, 5, 24, 4096 },
		{ 700, 2, 1024, 0 }, { 0, 3, 16, 4096 }, { 1, 6, 16, 4096 }, { 9000, 2, 40, 0 } };
	for (unsigned i = 0; i < sizeof want / sizeof want[0]; i++)
		for (unsigned helpers = 0; helpers < 2; helpers++) {
			struct cluster c;
			cluster_open(&c, i + 1, 2, 16 << 20, 2, 0);
			uint64_t before = cluster_free(&c);
			struct load l = { .c = &c,
				.tuples = want[i].tuples,
				.bits = want[i].bits,
				.width = want[i].width,
				.window = want[i].window };
			if (helpers > 0)
				assert_non_null(
				    nam_co_start(net_worker_sched(c.w[1]), helper, &l, 512 << 10));
			cluster_run(&c, 0, maker, &l);
			assert_int_equal(l.ended, NAM_OK);
			assert_int_equal(cluster_free(&c), before);
			cluster_close(&c);
		}
}

/* The regions fill up in the middle: the job ends with NAM_FULL, and its extents go back. */
static void
full_regions(void **state)
{
	(void)state;
	struct cluster c;
	cluster_open(&c, 9, 2, 2 << 20, 1, 0);
	uint64_t before = cluster_free(&c);
	struct load l = { .c = &c, .tuples = 300000, .bits = 4, .width = 16 };
	cluster_run(&c, 0, maker, &l);
	assert_int_equal(l.ended, NAM_FULL);
	assert_int_equal(cluster_free(&c), before);
	cluster_close(&c);
}

/*
 * What writing costs: a WRITE for each full buffer, and one for each partition's rest; a FETCH_ADD
 * for each morsel, one for the end of the queue, and one for each line of the bill. Buffers share
 * doorbells, and few of them are waited for.
 */
static void
budget(void *arg)
{
	struct load *l = arg;
	struct net_worker *w = l->c->w[0];
	struct olap_job *job;
	struct olap_writer *wr;
	struct olap_phase ph;
	uint32_t m, morsels = 8, buffers = 0, per = OLAP_BUFFER / 16, count[16] = { 0 };
	assert_int_equal(olap_board_make(w, &l->c->board), NAM_OK);
	assert_int_equal(olap_job_make(w, l->c->board, "", 0, &job), NAM_OK);
	assert_int_equal(olap_writer_open(job, 16, 4, 0, &wr), NAM_OK);
	assert_int_equal(olap_phase_begin(&ph, job, 0, morsels), NAM_OK);
	struct net_counts before = *olap_job_counts(job);
	while (olap_take(&ph, &m) == NAM_OK)
		for (uint64_t i = m * 8000; i < (m + 1) * 8000u; i++) {
			uint64_t t[2];
			tuple_of(i, 16, t);
			count[olap_hash(t[0]) >> 60]++;
			assert_int_equal(olap_write(wr, t, 1), NAM_OK);
		}
	assert_int_equal(olap_publish(&ph, wr, NULL, 0), NAM_OK);
	struct net_counts after = *olap_job_counts(job);
	for (unsigned p = 0; p < 16; p++)
		buffers += (count[p] + per - 1) / per;
	/* One line of the bill; the directory, which has room for all windows. */
	assert_int_equal(after.verbs[NET_WRITE] - before.verbs[NET_WRITE], buffers + 2);
	assert_int_equal(after.verbs[NET_FAA] - before.verbs[NET_FAA], morsels + 1 + 1);
	assert_int_equal(after.verbs[NET_CAS] - before.verbs[NET_CAS], 1 + 1); /* bill, output */
	assert_true(after.doorbells - before.doorbells < buffers / 2);
	assert_true(after.round_trips - before.round_trips < buffers / 4);
	olap_phase_end(&ph);
	olap_writer_close(wr);
	assert_int_equal(olap_job_end(job), NAM_OK);
}

static void
what_writing_costs(void **state)
{
	(void)state;
	struct cluster c;
	cluster_open(&c, 3, 2, 16 << 20, 1, 0);
	struct load l = { .c = &c };
	cluster_run(&c, 0, budget, &l);
	cluster_close(&c);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(written_is_read),
		cmocka_unit_test(full_regions),
		cmocka_unit_test(what_writing_costs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
