/* order.c -- what the wire promises about order and concurrency, and code that relies on more. */
#include <net/conformance/conformance_internal.h>

#include <stdlib.h>
#include <string.h>

enum { WORDS = 32, STEPS = 300, BIG = 2048 };

static bool
all_are(const uint64_t *w, unsigned n, uint64_t v)
{
	for (unsigned i = 0; i < n; i++)
		if (w[i] != v)
			return false;
	return true;
}

static void
set_all(uint64_t *w, unsigned n, uint64_t v)
{
	for (unsigned i = 0; i < n; i++)
		w[i] = v;
}

/* ---- atomics under contention ---------------------------------------------- */

enum { COUNTERS_CO = 10, COUNTERS_N = 60 };

static void
contended_co(struct job *j)
{
	atomic_uchar *taken = j->fix->data;
	for (unsigned i = 0; i < COUNTERS_N; i++) {
		uint64_t seen = 0, was, expect = 0;
		CHECK(j->fix, net_faa1(j->w, at(1, 0), 1, &seen, NULL) == NAM_OK);
		CHECK(j->fix, seen < NET_CONF_WORKERS * COUNTERS_CO * COUNTERS_N);
		if (seen < NET_CONF_WORKERS * COUNTERS_CO * COUNTERS_N)
			CHECK(j->fix, atomic_fetch_add(&taken[seen], 1) == 0);
		for (;; expect = was) {
			nam_status st = net_cas1(j->w, at(1, 8), expect, expect + 1, &was, NULL);
			CHECK(j->fix, st == NAM_OK);
			if (st != NAM_OK || was == expect)
				break;
			nam_co_yield();
		}
	}
}

static void
contended(struct fixture *fix)
{
	fix->data = calloc(NET_CONF_WORKERS * COUNTERS_CO * COUNTERS_N, 1);
	net_conf_start(fix, 0, NET_CONF_WORKERS, COUNTERS_CO, 0, contended_co);
}

static void
contended_check(struct job *j)
{
	uint64_t sum[2] = { 0 };
	CHECK(j->fix, net_read1(j->w, at(1, 0), sum, 16, NULL) == NAM_OK);
	CHECK(j->fix, sum[0] == NET_CONF_WORKERS * COUNTERS_CO * COUNTERS_N && sum[1] == sum[0]);
}

static void
contended_after(struct fixture *fix)
{
	net_conf_start(fix, 0, 1, 1, 0, contended_check);
	CHECK(fix, fix->env->run(fix->env->arg, fix->w, 1));
}

/* ---- one queue pair: WRITE or atomic, then READ or atomic ------------------- */

static void
own_writes_co(struct job *j)
{
	struct net_worker *w = j->w;
	uint64_t a[BIG / 8], got[BIG / 8], got2[BIG / 8], word;
	struct net_op op[8], op2[8];
	struct net_batch b, b2;
	net_addr x = at(1, j->id * 4096);
	net_batch_init(&b, w, op, 8, NULL);
	net_batch_init(&b2, w, op2, 8, NULL);
	for (uint64_t i = 1; i <= STEPS; i++) {
		unsigned n = i % 3 == 0 ? BIG / 8 : WORDS;
		/* one doorbell */
		set_all(a, n, i);
		net_write(&b, x, a, n * 8);
		net_read(&b, x, got, n * 8);
		CHECK(j->fix, net_run(&b) == NAM_OK);
		CHECK(j->fix, all_are(got, n, i));
		net_cas(&b, x, i, i + 1000);
		net_read(&b, x, got, 16);
		CHECK(j->fix, net_run(&b) == NAM_OK);
		CHECK(j->fix, op[0].seen == i && got[0] == i + 1000 && got[1] == i);
		net_faa(&b, x, 5);
		net_cas(&b, x, i + 1005, 7);
		net_cas(&b, x, i + 1005, 8);
		net_read(&b, x, &word, 8);
		CHECK(j->fix, net_run(&b) == NAM_OK);
		CHECK(j->fix, op[0].seen == i + 1000 && op[1].seen == i + 1005 && op[2].seen == 7);
		CHECK(j->fix, word == 7);
		set_all(a, n, 2 * i);
		net_write(&b, x, a, n * 8);
		net_faa(&b, net_plus(x, 8 * (n - 1)), 1);
		CHECK(j->fix, net_run(&b) == NAM_OK);
		CHECK(j->fix, op[1].seen == 2 * i);

		/* two batches, neither waited for before both are posted */
		set_all(a, n, 3 * i);
		net_write(&b, x, a, n * 8);
		net_post(&b);
		net_read(&b2, x, got, n * 8);
		net_faa(&b2, net_plus(x, 8), 1);
		net_post(&b2);
		CHECK(j->fix, net_wait(&b2) == NAM_OK);
		CHECK(j->fix, net_wait(&b) == NAM_OK);
		/* READ then atomic is not ordered: the second word may be either. */
		CHECK(j->fix, got[0] == 3 * i && all_are(got + 2, n - 2, 3 * i));
		CHECK(j->fix, op2[1].seen == 3 * i);

		/* the later of two overlapping WRITEs stays */
		set_all(a, n, 4 * i);
		set_all(got2, n, 5 * i);
		net_write(&b, x, a, n * 8);
		net_write(&b, x, got2, n * 8);
		net_write(&b, net_plus(x, 8), a, 8);
		net_post(&b);
		net_read(&b2, x, got, n * 8);
		CHECK(j->fix, net_run(&b2) == NAM_OK);
		CHECK(j->fix, net_wait(&b) == NAM_OK);
		CHECK(j->fix, got[0] == 5 * i && got[1] == 4 * i && all_are(got + 2, n - 2, 5 * i));
	}
}

static void
own_writes(struct fixture *fix)
{
	net_conf_start(fix, 0, 2, 4, 0, own_writes_co);
}

/* ---- fences ----------------------------------------------------------------- */

static void
fences_co(struct job *j)
{
	struct net_worker *w = j->w;
	uint64_t a[BIG / 8], got[BIG / 8], seen2;
	struct net_op op[8], op2[8];
	struct net_batch b, b2;
	net_addr x = at(1, j->id * 4096);
	uint64_t now = 0;
	net_batch_init(&b, w, op, 8, NULL);
	net_batch_init(&b2, w, op2, 8, NULL);
	for (uint64_t i = 1; i <= STEPS; i++) {
		unsigned n = i % 2 == 0 ? BIG / 8 : WORDS;
		if (i % 2 == 0) {
			set_all(a, n, now);
			CHECK(j->fix, net_write1(w, x, a, n * 8, NULL) == NAM_OK);
		}
		/* READ, then WRITE that must not pass it */
		set_all(a, n, i);
		net_read(&b, x, got, n * 8);
		net_write(&b, x, a, n * 8)->flags = NET_FENCE;
		CHECK(j->fix, net_run(&b) == NAM_OK);
		CHECK(j->fix, all_are(got, n, now));
		now = i;
		/* READ, then an atomic, in the next batch */
		net_read(&b, x, got, n * 8);
		net_post(&b);
		net_faa(&b2, x, 100000)->flags = NET_FENCE;
		net_cas(&b2, x, i + 100000, i);
		net_post(&b2);
		CHECK(j->fix, net_wait(&b) == NAM_OK);
		CHECK(j->fix, net_wait(&b2) == NAM_OK);
		CHECK(j->fix, all_are(got, n, now));
		CHECK(j->fix, op2[0].seen == i && op2[1].seen == i + 100000);
		/* a fenced op behind a fenced op */
		net_read(&b, x, got, 8 * n);
		net_read(&b, x, &seen2, 8)->flags = NET_FENCE;
		net_write(&b, x, a, 8)->flags = NET_FENCE;
		net_faa(&b, x, 0)->flags = NET_FENCE;
		CHECK(j->fix, net_run(&b) == NAM_OK);
		CHECK(j->fix, seen2 == now && op[3].seen == a[0] && all_are(got, n, now));
	}
}

static void
fences(struct fixture *fix)
{
	net_conf_start(fix, 0, 1, 3, 0, fences_co);
}

/* ---- publishing: data, then a word; readers poll the word ------------------- */

enum { PUBLISHED = 250, SELF_PROOFS = 1000, FLAG = 8192 };

/* Alternates one doorbell, two posts, and quiet ones: WRITE then WRITE is in order in each case. */
static void
publish_co(struct job *j)
{
	struct net_worker *w = j->w;
	uint64_t data[2][WORDS], flag[2];
	struct net_op op[2][4];
	struct net_batch b[2];
	for (unsigned k = 0; k < 2; k++)
		net_batch_init(&b[k], w, op[k], 4, NULL);
	for (uint64_t i = 1; i <= PUBLISHED; i++) {
		set_all(data[0], WORDS, i);
		flag[0] = i;
		net_write(&b[0], at(1, 0), data[0], sizeof data[0]);
		if (i % 3 == 0) {
			net_write(&b[0], at(1, FLAG), &flag[0], 8);
			CHECK(j->fix, net_run(&b[0]) == NAM_OK);
		} else if (i % 3 == 1) {
			net_post(&b[0]);
			net_write(&b[1], at(1, FLAG), &flag[0], 8)->flags = NET_INLINE | NET_QUIET;
			CHECK(j->fix, net_run(&b[1]) == NAM_OK);
			CHECK(j->fix, net_wait(&b[0]) == NAM_OK);
		} else {
			net_cas(&b[0], at(1, FLAG), i - 1, i);
			CHECK(j->fix, net_run(&b[0]) == NAM_OK);
		}
		nam_co_yield();
	}
}

/* Waits for the word, then READs the data: sees them, or newer ones. */
static void
careful_co(struct job *j)
{
	uint64_t data[WORDS], flag = 0, end = deadline(j->w);
	while (flag < PUBLISHED && net_now_ns(j->w) < end) {
		CHECK(j->fix, net_read1(j->w, at(1, FLAG), &flag, 8, NULL) == NAM_OK);
		CHECK(j->fix, net_read1(j->w, at(1, 0), data, sizeof data, NULL) == NAM_OK);
		for (unsigned i = 0; i < WORDS; i++)
			CHECK(j->fix, data[i] >= flag);
		nam_co_yield();
	}
	CHECK(j->fix, flag == PUBLISHED);
}

/* Both READs in one doorbell, the second fenced: equally safe. */
static void
fenced_co(struct job *j)
{
	uint64_t data[WORDS], flag = 0, end = deadline(j->w);
	struct net_op op[2];
	struct net_batch b;
	net_batch_init(&b, j->w, op, 2, NULL);
	while (flag < PUBLISHED && net_now_ns(j->w) < end) {
		net_read(&b, at(1, FLAG), &flag, 8);
		net_read(&b, at(1, 0), data, sizeof data)->flags = NET_FENCE;
		CHECK(j->fix, net_run(&b) == NAM_OK);
		for (unsigned i = 0; i < WORDS; i++)
			CHECK(j->fix, data[i] >= flag);
		nam_co_yield();
	}
	CHECK(j->fix, flag == PUBLISHED);
}

static void
publishing(struct fixture *fix)
{
	net_conf_start(fix, 0, 1, 1, 0, publish_co);
	net_conf_start(fix, 1, 1, 2, 1, careful_co);
	net_conf_start(fix, 2, 1, 2, 3, fenced_co);
}

static void
must_be_fooled(struct fixture *fix)
{
	if (fix->env->breaks)
		CHECK(fix, atomic_load(&fix->fooled) > 0);
}

/* The wrong twin: no fence, so the flag proves nothing about the data. */
static void
naive_co(struct job *j)
{
	uint64_t data[WORDS], flag = 0, end = deadline(j->w);
	struct net_op op[2];
	struct net_batch b;
	net_batch_init(&b, j->w, op, 2, NULL);
	while (flag < PUBLISHED && net_now_ns(j->w) < end) {
		net_read(&b, at(1, FLAG), &flag, 8);
		net_read(&b, at(1, 0), data, sizeof data);
		CHECK(j->fix, net_run(&b) == NAM_OK);
		for (unsigned i = 0; i < WORDS; i++)
			if (data[i] < flag) {
				atomic_fetch_add(&j->fix->fooled, 1);
				break;
			}
		nam_co_yield();
	}
}

static void
publishing_naive(struct fixture *fix)
{
	net_conf_start(fix, 0, 1, 1, 0, publish_co);
	net_conf_start(fix, 1, 2, 20, 1, naive_co);
}

/* ---- tearing ---------------------------------------------------------------- */

enum { TORN_BYTES = 1024, TORN_WRITES = 400, TORN_END = 4096 };

static uint64_t
twice(uint32_t v)
{
	return (uint64_t)v << 32 | v;
}

static void
tear_writer_co(struct job *j)
{
	uint64_t a[TORN_BYTES / 8];
	for (uint32_t i = 1; i <= TORN_WRITES; i++) {
		set_all(a, TORN_BYTES / 8, twice(i));
		/* Odd ends: the words between them are still never cut. */
		uint32_t skip = i % 3 == 0 ? 8 * (i % 5) + 3 : 0, cut = i % 7 == 0 ? 5 : 0;
		if (skip != 0 || cut != 0)
			net_write1(j->w, at(1, 2048 + skip), (char *)a + skip, TORN_BYTES - skip - cut, NULL);
		CHECK(j->fix, net_write1(j->w, at(1, 0), a, TORN_BYTES, NULL) == NAM_OK);
		nam_co_yield();
	}
	uint64_t one = 1;
	CHECK(j->fix, net_faa1(j->w, at(1, TORN_END), one, NULL, NULL) == NAM_OK);
}

static void
tear_reader_co(struct job *j)
{
	char got[TORN_BYTES + 16];
	uint64_t over = 0, w, first, end = deadline(j->w);
	while (over == 0 && net_now_ns(j->w) < end) {
		uint32_t skip = (uint32_t)nam_rng_below(net_rng(j->w), 12);
		uint32_t len = TORN_BYTES - skip - (uint32_t)nam_rng_below(net_rng(j->w), 12);
		uint64_t base = nam_rng_below(net_rng(j->w), 4) == 0 ? 2048 : 0;
		char *into = got + nam_rng_below(net_rng(j->w), 8);
		CHECK(j->fix, net_read1(j->w, at(1, base + skip), into, len, NULL) == NAM_OK);
		bool mixed = false;
		memcpy(&first, into + (8 - skip % 8) % 8, 8);
		for (uint32_t o = (8 - skip % 8) % 8; o + 8 <= len; o += 8) {
			/* Words at the odd ends may hold two WRITEs. */
			uint32_t word = (skip + o) / 8;
			memcpy(&w, into + o, 8);
			if (base == 0 || (word > 5 && word < TORN_BYTES / 8 - 1))
				CHECK(j->fix, w >> 32 == (w & UINT32_MAX));
			mixed |= w != first;
		}
		if (mixed && base == 0)
			atomic_fetch_add(&j->fix->fooled, 1);
		CHECK(j->fix, net_read1(j->w, at(1, TORN_END), &over, 8, NULL) == NAM_OK);
		nam_co_yield();
	}
	CHECK(j->fix, over != 0);
}

static void
tearing(struct fixture *fix)
{
	net_conf_start(fix, 0, 1, 1, 0, tear_writer_co);
	net_conf_start(fix, 1, 2, 4, 1, tear_reader_co);
}

/* ---- wrong twins of one queue pair ------------------------------------------ */

/* Uses a WRITE's buffer again before the batch is done. */
static void
hasty_buffer_co(struct job *j)
{
	uint64_t a[WORDS], got[WORDS];
	struct net_op op[1];
	struct net_batch b;
	net_batch_init(&b, j->w, op, 1, NULL);
	for (uint64_t i = 1; i <= 50; i++) {
		set_all(a, WORDS, i);
		net_write(&b, at(1, 0), a, sizeof a);
		net_post(&b);
		set_all(a, WORDS, UINT64_MAX);
		CHECK(j->fix, net_wait(&b) == NAM_OK);
		CHECK(j->fix, net_read1(j->w, at(1, 0), got, sizeof got, NULL) == NAM_OK);
		if (!all_are(got, WORDS, i))
			atomic_fetch_add(&j->fix->fooled, 1);
	}
}

static void
hasty_buffer(struct fixture *fix)
{
	net_conf_start(fix, 0, 1, 1, 0, hasty_buffer_co);
}

/* Trusts a WRITE not to pass the READ before it. */
static void
hasty_write_co(struct job *j)
{
	uint64_t a[WORDS], got[WORDS];
	struct net_op op[2];
	struct net_batch b;
	net_batch_init(&b, j->w, op, 2, NULL);
	for (uint64_t i = 1; i <= 200; i++) {
		set_all(a, WORDS, i);
		net_read(&b, at(1, 0), got, sizeof got);
		net_write(&b, at(1, 0), a, sizeof a);
		CHECK(j->fix, net_run(&b) == NAM_OK);
		if (!all_are(got, WORDS, i - 1))
			atomic_fetch_add(&j->fix->fooled, 1);
	}
}

static void
hasty_write(struct fixture *fix)
{
	net_conf_start(fix, 0, 1, 1, 0, hasty_write_co);
}

/* Believes that one WRITE shows its bytes in order, so that its last word proves the rest. */
static void
self_proof_writer_co(struct job *j)
{
	uint64_t a[WORDS];
	for (uint64_t i = 1; i <= SELF_PROOFS; i++) {
		set_all(a, WORDS, i);
		CHECK(j->fix, net_write1(j->w, at(1, 0), a, sizeof a, NULL) == NAM_OK);
	}
}

static void
self_proof_reader_co(struct job *j)
{
	uint64_t got[WORDS], seen = 0, end = deadline(j->w);
	while (seen < SELF_PROOFS && net_now_ns(j->w) < end) {
		/* An atomic and its completion, and still the WRITE that it saw may be under
		 * way. */
		CHECK(j->fix, net_faa1(j->w, at(1, 8 * (WORDS - 1)), 0, &seen, NULL) == NAM_OK);
		CHECK(j->fix, net_read1(j->w, at(1, 0), got, sizeof got, NULL) == NAM_OK);
		for (unsigned i = 0; i < WORDS; i++)
			if (got[i] < seen) {
				atomic_fetch_add(&j->fix->fooled, 1);
				break;
			}
		nam_co_yield();
	}
	CHECK(j->fix, seen == SELF_PROOFS);
}

static void
self_proof(struct fixture *fix)
{
	net_conf_start(fix, 0, 1, 1, 0, self_proof_writer_co);
	net_conf_start(fix, 1, 2, 6, 1, self_proof_reader_co);
}

/* Two nodes are two queue pairs: a word seen at one proves nothing about the other. */
static void
two_nodes_writer_co(struct job *j)
{
	uint64_t a;
	struct net_op op[2];
	struct net_batch b;
	net_batch_init(&b, j->w, op, 2, NULL);
	for (a = 1; a <= PUBLISHED; a++) {
		net_write(&b, at(1, 0), &a, 8);
		net_write(&b, at(2, 0), &a, 8);
		CHECK(j->fix, net_run(&b) == NAM_OK);
	}
}

static void
two_nodes_reader_co(struct job *j)
{
	uint64_t first = 0, second = 0, end = deadline(j->w);
	struct net_op op[2];
	struct net_batch b;
	net_batch_init(&b, j->w, op, 2, NULL);
	while (second < PUBLISHED && net_now_ns(j->w) < end) {
		CHECK(j->fix, net_read1(j->w, at(2, 0), &second, 8, NULL) == NAM_OK);
		CHECK(j->fix, net_read1(j->w, at(1, 0), &first, 8, NULL) == NAM_OK);
		/* The writer waits for both, so it is never further ahead than one. */
		CHECK(j->fix, first + 1 >= second);
		net_read(&b, at(2, 0), &second, 8);
		net_read(&b, at(1, 0), &first, 8);
		CHECK(j->fix, net_run(&b) == NAM_OK);
		if (first < second)
			atomic_fetch_add(&j->fix->fooled, 1);
		nam_co_yield();
	}
	CHECK(j->fix, second == PUBLISHED);
}

static void
two_nodes(struct fixture *fix)
{
	net_conf_start(fix, 0, 1, 1, 0, two_nodes_writer_co);
	net_conf_start(fix, 1, 2, 3, 1, two_nodes_reader_co);
}

/* ---- completion --------------------------------------------------------------- */

enum { DONE_WRITES = 250 };

/* A completed WRITE is seen by every verb that starts later, wherever its poster learns of the
 * completion. */
static void
done_writer_co(struct job *j)
{
	uint64_t a[BIG / 8];
	for (uint64_t i = 1; i <= DONE_WRITES; i++) {
		set_all(a, BIG / 8, i);
		CHECK(j->fix, net_write1(j->w, at(1, 0), a, sizeof a, NULL) == NAM_OK);
		CHECK(j->fix, net_write1(j->w, at(2, 0), &i, 8, NULL) == NAM_OK);
		nam_co_yield();
	}
}

static void
done_reader_co(struct job *j)
{
	uint64_t got[BIG / 8], done = 0, end = deadline(j->w);
	while (done < DONE_WRITES && net_now_ns(j->w) < end) {
		CHECK(j->fix, net_read1(j->w, at(2, 0), &done, 8, NULL) == NAM_OK);
		CHECK(j->fix, net_read1(j->w, at(1, 0), got, sizeof got, NULL) == NAM_OK);
		for (unsigned i = 0; i < BIG / 8; i++)
			if (got[i] < done) {
				CHECK(j->fix, got[i] >= done);
				break;
			}
		nam_co_yield();
	}
	CHECK(j->fix, done == DONE_WRITES);
}

static void
done_writes(struct fixture *fix)
{
	net_conf_start(fix, 0, 1, 1, 0, done_writer_co);
	net_conf_start(fix, 1, 2, 3, 1, done_reader_co);
}

/* ---- a crowd ---------------------------------------------------------------- */

enum { CROWD = 200, CROWD_ROUNDS = 15, CROWD_BYTES = 192 };

/* Each has memory of its own on three nodes and always two batches under way. */
static void
crowd_co(struct job *j)
{
	struct net_worker *w = j->w;
	uint64_t mine = (uint64_t)j->id * 512, total = 0;
	char a[2][CROWD_BYTES], got[2][3][CROWD_BYTES];
	struct net_op op[2][8];
	struct net_batch b[2];
	for (unsigned k = 0; k < 2; k++)
		net_batch_init(&b[k], w, op[k], 8, NULL);
	for (unsigned i = 0; i < CROWD_ROUNDS; i++) {
		for (unsigned k = 0; k < 2; k++) {
			memset(a[k], (int)(i * 7 + k + j->id), CROWD_BYTES);
			for (unsigned r = 1; r <= 3; r++) {
				net_write(&b[k], at(r, mine + k * CROWD_BYTES + 3), a[k], CROWD_BYTES);
				net_read(
				    &b[k], at(r, mine + k * CROWD_BYTES + 3), got[k][r - 1], CROWD_BYTES);
			}
			net_faa(&b[k], at(2, mine + 488), j->id);
			net_post(&b[k]);
		}
		for (unsigned k = 0; k < 2; k++) {
			CHECK(j->fix, net_wait(&b[k]) == NAM_OK);
			for (unsigned r = 0; r < 3; r++)
				CHECK(j->fix, memcmp(got[k][r], a[k], CROWD_BYTES) == 0);
			total += j->id;
		}
		CHECK(j->fix, op[0][6].seen == total - 2 * (uint64_t)j->id);
		CHECK(j->fix, op[1][6].seen == total - (uint64_t)j->id);
	}
}

static void
crowd(struct fixture *fix)
{
	net_conf_start(fix, 0, 2, CROWD, 0, crowd_co);
}

const struct net_conf_test net_conf_order_tests[] = {
	{ "atomics, contended", 1, NET_CONF_WORKERS, contended, contended_after },
	{ "own WRITEs and atomics are seen", 1, 2, own_writes, NULL },
	{ "fences", 1, 1, fences, NULL },
	{ "publish by a later WRITE", 1, 3, publishing, NULL },
	{ "wrong twin: READs prove each other", 1, 3, publishing_naive, must_be_fooled },
	{ "words are never torn", 1, 3, tearing, must_be_fooled },
	{ "wrong twin: buffer used again at once", 1, 1, hasty_buffer, must_be_fooled },
	{ "wrong twin: WRITE behind a READ", 1, 1, hasty_write, must_be_fooled },
	{ "wrong twin: a WRITE proves itself", 1, 3, self_proof, must_be_fooled },
	{ "wrong twin: order between nodes", 2, 3, two_nodes, must_be_fooled },
	{ "a WRITE that is done is seen by all", 2, 3, done_writes, NULL },
	{ "a crowd of coroutines", 3, 2, crowd, NULL },
	{ 0 },
};
