/* conformance.c -- the suite of conformance.h: its bench, and what each operation must do by
 * itself. */
#include <base/hash.h>
#include <net/conformance/conformance_internal.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the bench -------------------------------------------------------------- */

void
net_conf_complain(struct fixture *fix, int line, const char *what)
{
	if (atomic_fetch_add(&fix->failed, 1) < 5)
		fprintf(stderr, "conformance: %s, %s (seed %llu): line %d: %s\n", fix->env->name, fix->test,
		    (unsigned long long)fix->env->seed, line, what);
}

static void *
thread(void *arg)
{
	net_worker_run(arg, NULL, NULL);
	return NULL;
}

bool
net_conf_run_threads(void *arg, struct net_worker **w, unsigned n)
{
	pthread_t t[NET_CONF_WORKERS];
	(void)arg;
	for (unsigned i = 0; i < n; i++)
		if (pthread_create(&t[i], NULL, thread, w[i]) != 0)
			abort();
	for (unsigned i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	return true;
}

struct launch {
	struct job job;
	void (*fn)(struct job *);
};

static void
launch(void *arg)
{
	struct launch l = *(struct launch *)arg;
	free(arg);
	l.fn(&l.job);
}

void
net_conf_start(
    struct fixture *fix, unsigned first, unsigned n, unsigned each, unsigned id, void (*fn)(struct job *))
{
	for (unsigned i = first; i < first + n; i++)
		for (unsigned k = 0; k < each; k++) {
			struct launch *l = malloc(sizeof *l);
			if (l == NULL)
				abort();
			*l = (struct launch){ .job = { .fix = fix, .w = fix->w[i], .id = id++ }, .fn = fn };
			if (nam_co_start(net_worker_sched(fix->w[i]), launch, l, 0) == NULL)
				abort();
		}
}

int
net_conf_run_test(const struct net_conf_env *env, const struct net_conf_test *t)
{
	struct fixture fix = { .env = env, .test = t->name };
	fix.nets = t->workers < NET_CONF_NETS ? t->workers : NET_CONF_NETS;
	nam_status st = env->open(env->arg, t->nodes, fix.nets, fix.net);
	CHECK(&fix, st == NAM_OK);
	if (st != NAM_OK)
		return 1;
	for (; fix.workers < t->workers; fix.workers++) {
		struct nam_err err = { 0 };
		st = net_worker_open(fix.net[fix.workers % fix.nets], &fix.w[fix.workers], &err);
		CHECK(&fix, st == NAM_OK);
		if (st != NAM_OK) {
			fprintf(stderr, "conformance: %s\n", err.text);
			goto out;
		}
	}
	t->prepare(&fix);
	bool ended = env->run(env->arg, fix.w, fix.workers);
	CHECK(&fix, ended);
	if (!ended)
		abort(); /* coroutines are stuck in memory that would be freed */
	if (t->after != NULL)
		t->after(&fix);
out:
	for (unsigned i = 0; i < fix.workers; i++)
		net_worker_close(fix.w[i]);
	env->close(env->arg, fix.net, fix.nets);
	free(fix.data);
	return fix.failed;
}

/* ---- bytes ------------------------------------------------------------------ */

enum { GUARD = 24, LONGEST = 1 << 20 };

static void
fill(unsigned char *p, size_t n, uint64_t seed)
{
	for (size_t i = 0; i < n; i++)
		p[i] = (unsigned char)((i + 1) * (2 * seed + 1) >> 3);
}

static void
sizes_co(struct job *j)
{
	static const uint32_t size[] = { 0, 1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 24, 31, 33, 63, 64, 65,
		100, 128, 255, 257, 1000, 1024, 4095, 4096, 4097, 65536, 100001, LONGEST };
	static const unsigned skew[] = { 0, 1, 4, 7, 8, 61 };
	unsigned char *from = malloc(LONGEST + 64), *back = malloc(LONGEST + 256);
	unsigned char *want = malloc(LONGEST + 256);
	for (unsigned s = 0; s < sizeof size / sizeof *size; s++) {
		for (unsigned k = 0; k < sizeof skew / sizeof *skew; k++) {
			uint32_t len = size[s], whole = len + 2 * GUARD;
			net_addr base = at(1, 64 + skew[k]);
			unsigned char *src = from + (skew[k] * 3 + s) % 16,
				      *dst = back + (skew[k] + 5 * s) % 16;
			fill(want, whole, 77 + s);
			CHECK(j->fix, net_write1(j->w, base, want, whole, NULL) == NAM_OK);
			fill(src, len, 1000 * s + k);
			memcpy(want + GUARD, src, len);
			nam_status st = net_write1(j->w, net_plus(base, GUARD), src, len, NULL);
			CHECK(j->fix, st == NAM_OK || (len == 0 && st == NAM_INVALID));
			memset(back, 0x5a, LONGEST + 256);
			CHECK(j->fix, net_read1(j->w, base, dst, whole, NULL) == NAM_OK);
			CHECK(j->fix, memcmp(dst, want, whole) == 0);
			CHECK(j->fix, dst[whole] == 0x5a);
			CHECK(j->fix, dst == back || dst[-1] == 0x5a);
			memset(dst, 0x5a, whole);
			st = net_read1(j->w, net_plus(base, GUARD), dst + GUARD, len, NULL);
			CHECK(j->fix, st == NAM_OK || (len == 0 && st == NAM_INVALID));
			CHECK(j->fix, memcmp(dst + GUARD, want + GUARD, len) == 0);
			CHECK(j->fix, dst[GUARD - 1] == 0x5a && dst[GUARD + len] == 0x5a);
		}
	}
	/* The last byte of a region, and not beyond. */
	uint64_t end = net_node_of(net_worker_net(j->w), 1)->size;
	unsigned char byte = 7;
	CHECK(j->fix, end >= NET_CONF_REGION);
	CHECK(j->fix, net_write1(j->w, net_at(1, end - 1), &byte, 1, NULL) == NAM_OK);
	CHECK(j->fix, net_read1(j->w, net_at(1, end - 1), back, 1, NULL) == NAM_OK && back[0] == 7);
	CHECK(j->fix, net_read1(j->w, net_at(1, end - 1), back, 2, NULL) == NAM_INVALID);
	free(from);
	free(back);
	free(want);
}

static void
sizes(struct fixture *fix)
{
	net_conf_start(fix, 0, 1, 1, 0, sizes_co);
}

/* Short operations over the end of a page: of every length, and beginning at every distance from
 * it. */
static void
pages_co(struct job *j)
{
	enum { PAGE = 4096, SHORT = 72 };
	unsigned char around[2 * SHORT], back[2 * SHORT], part[SHORT];
	net_addr base = at(1, 2 * PAGE - SHORT);
	for (unsigned from = 0; from <= SHORT; from++)
		for (unsigned len = 1; len <= SHORT; len += from % 8 == 0 ? 1 : 5) {
			fill(around, sizeof around, 100 * from + len);
			CHECK(j->fix, net_write1(j->w, base, around, sizeof around, NULL) == NAM_OK);
			CHECK(j->fix, net_read1(j->w, net_plus(base, from), part, len, NULL) == NAM_OK);
			CHECK(j->fix, memcmp(part, around + from, len) == 0);
			fill(part, len, 7 * from + len);
			memcpy(around + from, part, len);
			CHECK(j->fix, net_write1(j->w, net_plus(base, from), part, len, NULL) == NAM_OK);
			CHECK(j->fix, net_read1(j->w, base, back, sizeof back, NULL) == NAM_OK);
			CHECK(j->fix, memcmp(back, around, sizeof back) == 0);
		}
}

static void
pages(struct fixture *fix)
{
	net_conf_start(fix, 0, 1, 1, 0, pages_co);
}

/* WRITE_IMM moves bytes like a WRITE. */
static void
immediate_co(struct job *j)
{
	uint64_t v = 99, back = 0;
	struct net_op op[2];
	struct net_batch b;
	net_batch_init(&b, j->w, op, 2, NULL);
	net_op_add(&b, NET_WRITE_IMM, at(1, 0), &v, 8)->arg = 5;
	net_read(&b, at(1, 0), &back, 8);
	CHECK(j->fix, net_run(&b) == NAM_OK);
	CHECK(j->fix, back == 99);
}

static void
immediate(struct fixture *fix)
{
	net_conf_start(fix, 0, 1, 1, 0, immediate_co);
}

/* ---- words ------------------------------------------------------------------ */

static void
atomics_co(struct job *j)
{
	struct net_worker *w = j->w;
	uint64_t seen = 1, word;
	CHECK(j->fix, net_cas1(w, at(1, 8), 0, 5, &seen, NULL) == NAM_OK && seen == 0);
	CHECK(j->fix, net_cas1(w, at(1, 8), 4, 6, &seen, NULL) == NAM_OK && seen == 5);
	CHECK(j->fix, net_read1(w, at(1, 8), &word, 8, NULL) == NAM_OK && word == 5);
	CHECK(j->fix, net_cas1(w, at(1, 8), 5, UINT64_MAX, &seen, NULL) == NAM_OK && seen == 5);
	CHECK(j->fix, net_faa1(w, at(1, 8), 3, &seen, NULL) == NAM_OK && seen == UINT64_MAX);
	CHECK(j->fix, net_faa1(w, at(1, 8), 0, &seen, NULL) == NAM_OK && seen == 2);
	CHECK(j->fix, net_faa1(w, at(1, 8), (uint64_t)-1, NULL, NULL) == NAM_OK);
	CHECK(j->fix, net_read1(w, at(1, 8), &word, 8, NULL) == NAM_OK && word == 1);
	CHECK(j->fix, net_read1(w, at(1, 0), &word, 8, NULL) == NAM_OK && word == 0);
	CHECK(j->fix, net_read1(w, at(1, 16), &word, 8, NULL) == NAM_OK && word == 0);
	word = 9;
	CHECK(j->fix, net_write1(w, at(1, 8), &word, 8, NULL) == NAM_OK);
	CHECK(j->fix, net_cas1(w, at(1, 8), 9, 9, &seen, NULL) == NAM_OK && seen == 9);
}

static void
atomics(struct fixture *fix)
{
	net_conf_start(fix, 0, 1, 1, 0, atomics_co);
}

/* ---- batches ---------------------------------------------------------------- */

static void
batches_co(struct job *j)
{
	enum { N = 30 };
	struct net_op op[N];
	struct net_batch b;
	uint64_t v[N], back[N];
	net_batch_init(&b, j->w, op, N, NULL);
	CHECK(j->fix, net_run(&b) == NAM_OK); /* nothing to do is done at once */
	for (unsigned round = 0; round < 20; round++) {
		for (unsigned i = 0; i < N; i++) {
			v[i] = round * 1000 + i;
			CHECK(j->fix, net_write(&b, at(1 + i % 3, 8 * i), &v[i], 8) == &op[i]);
		}
		CHECK(j->fix, net_write(&b, at(1, 0), &v[0], 8) == NULL);
		CHECK(j->fix, net_cas(&b, at(1, 0), 1, 2) == NULL);
		CHECK(j->fix, net_faa(&b, at(1, 0), 1) == NULL);
		CHECK(j->fix, b.n == N);
		CHECK(j->fix, net_run(&b) == NAM_OK);
		CHECK(j->fix, b.n == 0 && b.status == NAM_OK);
		for (unsigned i = 0; i < N; i++)
			net_read(&b, at(1 + i % 3, 8 * i), &back[i], 8);
		net_post(&b);
		CHECK(j->fix, net_wait(&b) == NAM_OK);
		CHECK(j->fix, memcmp(v, back, sizeof v) == 0);
		for (unsigned i = 0; i < N; i++)
			net_faa(&b, at(1 + i % 3, 8 * i), i);
		CHECK(j->fix, net_run(&b) == NAM_OK);
		for (unsigned i = 0; i < N; i++) {
			CHECK(j->fix, op[i].seen == v[i] && op[i].status == NAM_OK);
			net_cas(&b, at(1 + i % 3, 8 * i), v[i] + i, 0);
		}
		CHECK(j->fix, net_run(&b) == NAM_OK);
		for (unsigned i = 0; i < N; i++)
			CHECK(j->fix, op[i].seen == v[i] + i);
	}
}

static void
batches(struct fixture *fix)
{
	net_conf_start(fix, 0, 1, 1, 0, batches_co);
}

static void
quiet_co(struct job *j)
{
	struct net_worker *w = j->w;
	struct net_op op[12];
	struct net_batch b;
	unsigned char buf[NET_INLINE_MAX], back[NET_INLINE_MAX], want[NET_INLINE_MAX];
	uint64_t word;
	net_batch_init(&b, w, op, 12, NULL);
	for (unsigned round = 0; round < 100; round++) {
		/* A READ behind it sees the last unsignaled WRITE. */
		for (unsigned i = 0; i < 8; i++) {
			memset(buf, (int)(round + i), sizeof buf);
			net_write(&b, at(1, 4), buf, sizeof buf)->flags = NET_QUIET | NET_INLINE;
			net_post(&b);
			memset(buf, 0xee, sizeof buf);
			CHECK(j->fix, net_wait(&b) == NAM_OK);
		}
		net_cas(&b, at(1, 128), round, round + 1)->flags = NET_QUIET;
		net_read(&b, at(1, 4), back, sizeof back);
		net_read(&b, at(1, 128), &word, 8);
		CHECK(j->fix, net_run(&b) == NAM_OK);
		memset(want, (int)(round + 7), sizeof want);
		CHECK(j->fix, memcmp(back, want, sizeof back) == 0);
		CHECK(j->fix, word == round + 1);

		/* INLINE frees the buffer at post. */
		memset(buf, (int)round, sizeof buf);
		memset(want, (int)round, sizeof want);
		net_write(&b, at(1, 256), buf, sizeof buf)->flags = NET_INLINE;
		net_write(&b, at(2, 256), buf, 3)->flags = NET_INLINE;
		net_post(&b);
		memset(buf, 0xee, sizeof buf);
		CHECK(j->fix, net_wait(&b) == NAM_OK);
		CHECK(j->fix, net_read1(w, at(1, 256), back, sizeof back, NULL) == NAM_OK);
		CHECK(j->fix, memcmp(back, want, sizeof back) == 0);
		CHECK(j->fix, net_read1(w, at(2, 256), back, 3, NULL) == NAM_OK);
		CHECK(j->fix, memcmp(back, want, 3) == 0);
	}
	char big[NET_INLINE_MAX + 1] = { 0 };
	net_write(&b, at(1, 0), big, sizeof big)->flags = NET_INLINE;
	CHECK(j->fix, net_run(&b) == NAM_INVALID);
	net_write(&b, at(1, 0), big, 8)->flags = NET_QUIET;
	CHECK(j->fix, net_run(&b) == NAM_INVALID);
	net_read(&b, at(1, 4), back, 4);
	CHECK(j->fix, net_run(&b) == NAM_OK && back[0] != 0);
}

static void
quiet(struct fixture *fix)
{
	net_conf_start(fix, 0, 1, 1, 0, quiet_co);
}

/* ---- refusals --------------------------------------------------------------- */

static void
bad_ops_co(struct job *j)
{
	struct net_worker *w = j->w;
	uint64_t size = net_node_of(net_worker_net(w), 1)->size, word = 1, other = 2, back[2];
	char buf[64] = { 0 };
	const struct net_op bad[] = {
		{ .code = NET_READ, .at = net_at(1, size), .buf = buf, .len = 1 },
		{ .code = NET_READ, .at = net_at(1, size - 63), .buf = buf, .len = 64 },
		{ .code = NET_WRITE, .at = net_at(1, size - 7), .buf = buf, .len = 8 },
		{ .code = NET_WRITE, .at = net_at(1, (UINT64_C(1) << 48) - 1), .buf = buf, .len = 8 },
		{ .code = NET_READ, .at = net_at(1, NET_EXTENT), .buf = buf, .len = UINT32_MAX },
		{ .code = NET_CAS, .at = at(1, 4), .len = 8 },
		{ .code = NET_FAA, .at = at(1, 1), .len = 8 },
		{ .code = NET_FAA, .at = at(1, 0), .len = 4 },
		{ .code = NET_CAS, .at = net_at(1, size), .len = 8 },
		{ .code = NET_FAA, .at = net_at(1, size - 4), .len = 8 },
		{ .code = NET_CODES, .at = at(1, 0), .buf = buf, .len = 8 },
		{ .code = 255, .at = at(1, 0), .buf = buf, .len = 8 },
	};
	for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct net_op op[6];
		struct net_batch b;
		struct net_counts c = { 0 };
		net_batch_init(&b, w, op, 6, &c);
		word = 10 + i;
		other = 1000;
		net_write(&b, at(1, 64), &word, 8);
		net_write(&b, at(2, 64), &word, 8);
		op[b.n++] = bad[i];
		net_write(&b, at(1, 128), &other, 8);
		net_cas(&b, at(1, 136), 0, 1);
		net_write(&b, at(2, 128), &word, 8);
		CHECK(j->fix, net_run(&b) == NAM_INVALID);
		CHECK(j->fix, b.status == NAM_INVALID);
		CHECK(j->fix, op[0].status == NAM_OK && op[1].status == NAM_OK);
		CHECK(j->fix, op[2].status == NAM_INVALID);
		CHECK(j->fix, op[3].status == NAM_CANCELLED && op[4].status == NAM_CANCELLED);
		CHECK(j->fix, op[5].status == NAM_OK);
		CHECK(j->fix, net_counts_verbs(&c) == 3);
		for (unsigned r = 1; r <= 2; r++) {
			CHECK(j->fix, net_read1(w, at(r, 64), &back[0], 8, NULL) == NAM_OK);
			CHECK(j->fix, net_read1(w, at(r, 128), back, 16, NULL) == NAM_OK || r == 2);
			CHECK(j->fix, back[0] == (r == 1 ? 0 : word) && back[1] == 0);
			CHECK(
			    j->fix, net_read1(w, at(r, 64), &back[0], 8, NULL) == NAM_OK && back[0] == word);
		}
	}
	static const unsigned nowhere[] = { 0, 3, 63, 64, 5000, 65535 };
	for (unsigned i = 0; i < sizeof nowhere / sizeof *nowhere; i++) {
		struct net_op op[2];
		struct net_batch b;
		net_batch_init(&b, w, op, 2, NULL);
		net_faa(&b, at(nowhere[i], 0), 1);
		net_read(&b, at(2, 64), back, 8);
		CHECK(j->fix, net_run(&b) == NAM_INVALID);
		CHECK(j->fix, op[0].status == NAM_INVALID && op[1].status == NAM_OK && back[0] == word);
		CHECK(j->fix, net_node_of(net_worker_net(w), nowhere[i]) == NULL);
		CHECK(j->fix, net_extent_give(w, at(nowhere[i], 0)) != NAM_OK);
	}
	CHECK(j->fix, net_read1(w, net_at(0, 0), back, 8, NULL) == NAM_INVALID);
}

static void
bad_ops(struct fixture *fix)
{
	net_conf_start(fix, 0, 1, 1, 0, bad_ops_co);
}

static void
lost_co(struct job *j)
{
	struct net_worker *w = j->w;
	struct net *n = net_worker_net(w);
	struct net_op op[4];
	struct net_batch b;
	uint64_t v = 5, back = 0;
	net_batch_init(&b, w, op, 4, NULL);
	net_write(&b, at(1, 0), &v, 8);
	net_write(&b, at(2, 0), &v, 8);
	net_post(&b);
	net_declare_lost(n, 1);
	nam_status st = net_wait(&b); /* it was on its way: either status is right */
	CHECK(j->fix, st == NAM_OK || st == NAM_GONE);
	CHECK(j->fix, op[1].status == NAM_OK);
	CHECK(j->fix, net_node_of(n, 1)->lost && !net_node_of(n, 2)->lost);
	for (unsigned i = 0; i < 3; i++) {
		net_read(&b, at(1, 0), &back, 8);
		net_read(&b, at(2, 0), &back, 8);
		net_faa(&b, at(1, 8), 1);
		CHECK(j->fix, net_run(&b) == NAM_GONE);
		CHECK(j->fix, op[0].status == NAM_GONE && op[2].status == NAM_GONE);
		CHECK(j->fix, op[1].status == NAM_OK && back == 5);
	}
	CHECK(j->fix, net_read1(w, at(1, 0), &back, 8, NULL) == NAM_GONE);
	CHECK(j->fix, net_cas1(w, at(1, 0), 0, 1, NULL, NULL) == NAM_GONE);
	net_addr e;
	CHECK(j->fix, net_extent_take(w, 1, 1, &e) == NAM_GONE);
	CHECK(j->fix, net_direct(w, at(1, 0), 8) == NULL);
	const net_addr both[] = { at(2, 0), at(1, 0) };
	uint64_t two[2];
	CHECK(j->fix, net_read_mapped(w, both, 2, 8, two, NULL) == NAM_UNSUPPORTED);
}

/* Another process still reaches the node. */
static void
lost_other(struct job *j)
{
	uint64_t v = 1;
	for (unsigned i = 0; i < 50; i++)
		CHECK(j->fix, net_write1(j->w, at(1, 64), &v, 8, NULL) == NAM_OK);
}

static void
lost(struct fixture *fix)
{
	net_conf_start(fix, 0, 1, 1, 0, lost_co);
	net_conf_start(fix, 1, 1, 1, 1, lost_other);
}

/* ---- figures ---------------------------------------------------------------- */

static void
count_done(struct net_batch *b)
{
	nam_co_wake(b->tag);
}

static void
counters_co(struct job *j)
{
	struct net_worker *w = j->w;
	struct net_counts before, one, all, c = { 0 };
	struct net_op op[8];
	struct net_batch b;
	char buf[256] = { 0 };
	net_worker_counts(w, 0, &before);
	CHECK(j->fix, net_counts_verbs(&before) == 0 && before.round_trips == 0);
	net_batch_init(&b, w, op, 8, &c);
	net_read(&b, at(1, 0), buf, 100);
	net_read(&b, at(1, 0), buf + 128, 28);
	net_write(&b, at(2, 0), buf, 60);
	net_cas(&b, at(1, 0), 0, 0);
	net_faa(&b, at(2, 64), 0);
	net_write(&b, at(2, 0), buf, 4)->flags = NET_QUIET | NET_INLINE;
	net_cas(&b, at(2, 72), 0, 0);
	CHECK(j->fix, net_run(&b) == NAM_OK);
	CHECK(j->fix, c.verbs[NET_READ] == 2 && c.verbs[NET_WRITE] == 2 && c.verbs[NET_WRITE_IMM] == 0);
	CHECK(j->fix, c.verbs[NET_CAS] == 2 && c.verbs[NET_FAA] == 1 && net_counts_verbs(&c) == 7);
	CHECK(j->fix, c.bytes_in == 128 + 3 * 8);
	CHECK(j->fix, c.bytes_out == 64 + 2 * 16 + 8);
	CHECK(j->fix, c.doorbells == 2 && c.round_trips == 1);
	net_worker_counts(w, 0, &all);
	CHECK(j->fix, memcmp(&all, &c, sizeof c) == 0);
	net_worker_counts(w, 1, &one);
	CHECK(j->fix, one.verbs[NET_READ] == 2 && one.verbs[NET_CAS] == 1 && one.doorbells == 1);
	CHECK(j->fix, one.bytes_in == 136 && one.bytes_out == 16);
	net_worker_counts(w, 2, &one);
	CHECK(j->fix, one.verbs[NET_WRITE] == 2 && one.verbs[NET_CAS] == 1 && one.verbs[NET_FAA] == 1);
	CHECK(j->fix, one.bytes_in == 16 && one.bytes_out == 64 + 16 + 8);
	net_worker_counts(w, 7, &one);
	CHECK(j->fix, net_counts_verbs(&one) == 0);

	/* Operations that are not sent are not counted; a post without a waiter is no round
	 * trip. */
	CHECK(j->fix, net_run(&b) == NAM_OK);
	CHECK(j->fix, c.doorbells == 2 && c.round_trips == 1);
	net_read(&b, at(1, 0), buf, 8);
	b.tag = nam_co_self();
	net_post_then(&b, count_done);
	while (b.posted)
		nam_co_park();
	CHECK(j->fix, c.doorbells == 3 && c.round_trips == 1 && c.bytes_in == 128 + 3 * 8 + 8);
	/* The shorthands count the same. */
	memset(&c, 0, sizeof c);
	uint64_t seen;
	CHECK(j->fix, net_read1(w, at(1, 0), buf, 10, &c) == NAM_OK);
	CHECK(j->fix, net_write1(w, at(1, 0), buf, 20, &c) == NAM_OK);
	CHECK(j->fix, net_cas1(w, at(1, 0), 0, 0, &seen, &c) == NAM_OK);
	CHECK(j->fix, net_faa1(w, at(1, 0), 0, &seen, &c) == NAM_OK);
	CHECK(j->fix, c.doorbells == 4 && c.round_trips == 4 && net_counts_verbs(&c) == 4);
	CHECK(j->fix, c.bytes_in == 10 + 16 && c.bytes_out == 20 + 24);
	net_worker_counts(w, 0, &all);
	CHECK(j->fix, all.round_trips == 5 && all.doorbells == 7);
}

static void
counters(struct fixture *fix)
{
	struct net *n = fix->net[0];
	CHECK(fix, net_node_count(n) == 2);
	for (unsigned i = 0; i < 2 && i < net_node_count(n); i++) {
		const struct net_node_info *info = net_node(n, i);
		CHECK(fix, info->region == i + 1 && info->kind == fix->env->kind);
		CHECK(fix, info->incarnation != 0 && !info->lost && info->name[0] != 0);
		CHECK(fix, net_node_of(n, i + 1) == info);
	}
	CHECK(fix, net_node(n, 2) == NULL);
	net_conf_start(fix, 0, 1, 1, 0, counters_co);
}

/* ---- time ------------------------------------------------------------------- */

/* The step is longer than a busy machine keeps a thread waiting between two looks at the clock. */
enum { SLEEPERS = 20, STEP_NS = 30000000 };

struct bedroom {
	uint64_t dawn;
	unsigned woken;
};

static void
sleep_co(struct job *j)
{
	struct net_worker *w = j->w;
	struct bedroom *room = j->fix->data;
	uint64_t from = net_now_ns(w), up = room->dawn - (uint64_t)j->id * STEP_NS;
	uint64_t ns = up > from ? up - from : 0;
	net_sleep(w, ns);
	uint64_t to = net_now_ns(w);
	CHECK(j->fix, to >= from + ns);
	CHECK(j->fix, to < from + ns + UINT64_C(5000000000));
	/* The later id sleeps less. */
	CHECK(j->fix, room->woken == SLEEPERS - 1 - j->id);
	room->woken++;
	net_sleep(w, 0);
}

static void
sleeping(struct fixture *fix)
{
	struct bedroom *room = calloc(1, sizeof *room);
	fix->data = room;
	room->dawn = net_now_ns(fix->w[0]) + SLEEPERS * (uint64_t)STEP_NS + 200000000;
	net_conf_start(fix, 0, 1, SLEEPERS, 0, sleep_co);
}

/* ---- what several coroutines asked for, sent as one ------------------------- */

enum { ASKERS = 50, ASKS = 10 };

struct pool {
	struct net_worker *w;
	struct nam_co *waiting[ASKERS];
	uint64_t *into[ASKERS];
	struct nam_co *flying[ASKERS];
	unsigned n, out, sent, got;
	struct net_op op[ASKERS];
	struct net_batch b;
};

static void
pool_done(struct net_batch *b)
{
	struct pool *p = b->tag;
	for (unsigned i = 0; i < p->out; i++)
		nam_co_wake(p->flying[i]);
	p->got += p->out;
	p->out = 0;
}

static void
pool_hook(void *arg)
{
	struct pool *p = arg;
	if (p->n == 0 || p->out != 0)
		return;
	net_batch_init(&p->b, p->w, p->op, ASKERS, NULL);
	for (unsigned i = 0; i < p->n; i++) {
		net_read(&p->b, at(1, 0), p->into[i], 8);
		p->flying[i] = p->waiting[i];
	}
	p->out = p->n;
	p->n = 0;
	p->sent++;
	p->b.tag = p;
	net_post_then(&p->b, pool_done);
}

static void
hooks_co(struct job *j)
{
	struct pool *p = j->fix->data;
	for (unsigned i = 0; i < ASKS; i++) {
		uint64_t v = 1;
		p->waiting[p->n] = nam_co_self();
		p->into[p->n++] = &v;
		while (v == 1)
			nam_co_park();
		CHECK(j->fix, v == 0);
	}
}

static void
hooks(struct fixture *fix)
{
	struct pool *p = calloc(1, sizeof *p);
	fix->data = p;
	p->w = fix->w[0];
	net_worker_on_idle(fix->w[0], pool_hook, p);
	net_conf_start(fix, 0, 1, ASKERS, 0, hooks_co);
}

static void
hooks_after(struct fixture *fix)
{
	const struct pool *p = fix->data;
	CHECK(fix, p->got == ASKERS * ASKS);
	CHECK(fix, p->sent < ASKERS * ASKS / 4);
}

struct chain {
	unsigned left;
	struct nam_co *co;
	struct net_op op[2];
	uint64_t buf;
};

static void
chain_done(struct net_batch *b)
{
	struct chain *c = b->tag;
	if (b->status != NAM_OK || --c->left == 0) {
		nam_co_wake(c->co);
		return;
	}
	net_faa(b, at(1, 0), 1);
	net_read(b, at(2, 0), &c->buf, 8);
	net_post_then(b, chain_done);
}

static void
chains_co(struct job *j)
{
	struct chain c = { .left = 100, .co = nam_co_self() };
	struct net_batch b;
	net_batch_init(&b, j->w, c.op, 2, NULL);
	b.tag = &c;
	net_faa(&b, at(1, 0), 1);
	net_post_then(&b, chain_done);
	while (c.left > 0 && b.status == NAM_OK)
		nam_co_park();
	CHECK(j->fix, b.status == NAM_OK);
	uint64_t sum;
	CHECK(j->fix, net_read1(j->w, at(1, 0), &sum, 8, NULL) == NAM_OK && sum >= 100);
	CHECK(j->fix, sum <= 300);
	/* A failure is reported there as well. */
	c.left = 1;
	net_faa(&b, at(1, 4), 1);
	net_post_then(&b, chain_done);
	while (b.posted)
		nam_co_park();
	CHECK(j->fix, b.status == NAM_INVALID);
}

static void
chains(struct fixture *fix)
{
	net_conf_start(fix, 0, 1, 3, 0, chains_co);
}

/* ---- extents ---------------------------------------------------------------- */

/* N4: the depth of the stack, by its top. */
static uint64_t
given_back(struct net_worker *w)
{
	struct net_free top = { .depth = 0 };
	uint64_t head = 0;
	nam_status st = net_read1(w, net_at(1, offsetof(struct net_super, free_head)), &head, 8, NULL);
	if (st == NAM_OK && (head & UINT32_MAX) != 0)
		st = net_read1(w, net_at(1, (head & UINT32_MAX) * NET_EXTENT), &top, sizeof top, NULL);
	return st == NAM_OK ? top.depth : UINT64_MAX;
}

static void
extents_co(struct job *j)
{
	struct net_worker *w = j->w;
	uint64_t size = net_node_of(net_worker_net(w), 1)->size;
	unsigned count = (unsigned)(size / NET_EXTENT), n = 0;
	unsigned char *owned = calloc(count, 1);
	char *page = malloc(NET_EXTENT);
	static const char zeros[NET_EXTENT];
	net_addr e;
	CHECK(j->fix, net_extent_take(w, 9, 1, &e) == NAM_INVALID);
	CHECK(j->fix, net_extent_take(w, 1, 3, &e) == NAM_OK && net_offset_of(e) == NET_EXTENT);
	for (unsigned i = 0; i < 3; i++)
		CHECK(j->fix, net_extent_give(w, net_plus(e, i * NET_EXTENT)) == NAM_OK);
	CHECK(j->fix, net_extent_give(w, net_at(1, 0)) == NAM_INVALID);
	CHECK(j->fix, net_extent_give(w, net_at(1, NET_EXTENT + 8)) == NAM_INVALID);
	CHECK(j->fix, net_extent_give(w, net_at(1, size)) == NAM_INVALID);
	for (unsigned round = 0; round < 2; round++) {
		nam_status st;
		for (n = 0; (st = net_extent_take(w, 1, 1, &e)) == NAM_OK && n <= count; n++) {
			uint64_t k = net_offset_of(e) / NET_EXTENT;
			CHECK(j->fix, net_region_of(e) == 1 && net_offset_of(e) % NET_EXTENT == 0);
			CHECK(j->fix, k > 0 && k < count && owned[k] == round);
			if (k < count)
				owned[k]++;
			memset(page, 1, NET_EXTENT);
			CHECK(j->fix, net_read1(w, e, page, NET_EXTENT, NULL) == NAM_OK);
			CHECK(j->fix, memcmp(page, zeros, NET_EXTENT) == 0);
			memset(page, 0xab, NET_EXTENT);
			CHECK(j->fix, net_write1(w, e, page, NET_EXTENT, NULL) == NAM_OK);
		}
		CHECK(j->fix, st == NAM_FULL);
		CHECK(j->fix, n == count - 1);
		CHECK(j->fix, net_extent_take(w, 1, 2, &e) == NAM_FULL);
		for (unsigned k = 1; k < count && round == 0; k++)
			CHECK(j->fix, net_extent_give(w, net_at(1, k * NET_EXTENT)) == NAM_OK);
	}
	/* Every second one is given back, by threes: no two are adjacent, and all of them can be
	 * taken at once. */
	unsigned half = count / 2, got, most = 0;
	unsigned kept = net_reserve_most(net_node_of(net_worker_net(w), 1));
	/* A broken provider may give more than there is: room for that as well. */
	net_addr *many = calloc(count + kept, sizeof *many);
	for (unsigned k = 1; k < count; k += 2)
		many[most++] = net_at(1, k * NET_EXTENT);
	for (unsigned k = 0; k < most; k += 3)
		CHECK(j->fix, net_extents_give(w, most - k < 3 ? most - k : 3, many + k) == NAM_OK);
	CHECK(j->fix, given_back(w) == most && most == half);
	CHECK(j->fix, net_extent_take(w, 1, 2, &e) == NAM_FULL);
	CHECK(j->fix, net_extents_take(w, 1, most + 1, false, many, &got) == NAM_FULL && got == most);
	memset(owned, 0, count);
	for (unsigned i = 0; i < got; i++) {
		uint64_t k = net_offset_of(many[i]) / NET_EXTENT;
		CHECK(j->fix, k < count && k % 2 == 1 && owned[k]++ == 0);
	}
	CHECK(j->fix, given_back(w) == 0);
	net_addr wrong[2] = { many[0], net_at(9, NET_EXTENT) };
	CHECK(j->fix, net_extents_give(w, got, many) == NAM_OK && given_back(w) == got);
	CHECK(j->fix, net_extents_take(w, 1, 2, true, many, &got) == NAM_OK && got == 2);
	for (unsigned i = 0; i < 2; i++)
		CHECK(j->fix, net_read1(w, many[i], page, NET_EXTENT, NULL) == NAM_OK &&
				  memcmp(page, zeros, NET_EXTENT) == 0);
	CHECK(j->fix, net_extents_give(w, 1, wrong + 1) == NAM_INVALID);
	CHECK(j->fix, net_extents_take(w, 9, 1, true, many, &got) == NAM_INVALID && got == 0);
	/* The reserve: ordinary takers do not get it, and extents given back fill it first. */
	CHECK(j->fix, kept > 0 && net_reserve_take(w, 9, &e) == NAM_INVALID);
	CHECK(j->fix, net_reserve_take(w, 1, &e) == NAM_FULL);
	for (unsigned i = 0; i < 2; i++) /* once for a region */
		CHECK(j->fix, net_reserve_fill(w, 1) == NAM_OK && given_back(w) == half - 2 - kept);
	CHECK(j->fix, net_extents_take(w, 1, count, false, many, &got) == NAM_FULL && got == half - 2 - kept);
	for (unsigned i = 0; i < kept; i++) {
		CHECK(j->fix, net_reserve_take(w, 1, &many[got + i]) == NAM_OK);
		CHECK(j->fix, net_read1(w, many[got + i], page, NET_EXTENT, NULL) == NAM_OK &&
				  memcmp(page, zeros, NET_EXTENT) == 0);
	}
	CHECK(j->fix, net_reserve_take(w, 1, &e) == NAM_FULL);
	CHECK(j->fix, net_extents_give(w, kept, many) == NAM_OK && given_back(w) == 0);
	CHECK(j->fix, net_extent_take(w, 1, 1, &e) == NAM_FULL && net_reserve_take(w, 1, &e) == NAM_OK);
	CHECK(j->fix, net_extents_give(w, 2, many + kept) == NAM_OK && given_back(w) == 1);
	free(many);
	free(owned);
	free(page);
}

static void
extents(struct fixture *fix)
{
	net_conf_start(fix, 0, 1, 1, 0, extents_co);
}

/* All coroutines take and give; an extent never has two owners, and reads as zeros when it is
 * taken. */
static void
extents_contended_co(struct job *j)
{
	net_addr mine[4];
	unsigned n = 0, got;
	uint64_t me = j->id + 1, seen, back;
	for (unsigned i = 0; i < 60; i++) {
		unsigned k = 1 + (unsigned)nam_rng_below(net_rng(j->w), 3);
		if (n < 4 && (n == 0 || nam_rng_below(net_rng(j->w), 2) == 0)) {
			k = k < 4 - n ? k : 4 - n;
			nam_status st = net_extents_take(j->w, 1, k, true, mine + n, &got);
			CHECK(j->fix, st == NAM_OK && got == k);
			for (unsigned m = 0; m < got; m++, n++) {
				st = net_cas1(j->w, net_plus(mine[n], 64), 0, me, &seen, NULL);
				CHECK(j->fix, st == NAM_OK && seen == 0);
			}
			continue;
		}
		k = k < n ? k : n;
		n -= k;
		for (unsigned m = n; m < n + k; m++)
			CHECK(j->fix,
			    net_read1(j->w, net_plus(mine[m], 64), &back, 8, NULL) == NAM_OK && back == me);
		CHECK(j->fix, net_extents_give(j->w, k, mine + n) == NAM_OK);
	}
}

static void
extents_contended(struct fixture *fix)
{
	net_conf_start(fix, 0, 3, 6, 0, extents_contended_co);
}

/* ---- mapped memory ---------------------------------------------------------- */

static void
direct_co(struct job *j)
{
	struct net_worker *w = j->w;
	const uint64_t *p = net_direct(w, at(1, 0), 64);
	if (j->fix->env->kind != NET_SHM) {
		CHECK(j->fix, p == NULL);
		return;
	}
	CHECK(j->fix, p != NULL);
	if (p == NULL)
		return;
	for (uint64_t i = 1; i < 100; i++) {
		CHECK(j->fix, net_write1(w, at(1, 8), &i, 8, NULL) == NAM_OK);
		CHECK(j->fix, __atomic_load_n(&p[1], __ATOMIC_RELAXED) == i);
		CHECK(j->fix, net_faa1(w, at(1, 8), 1000, NULL, NULL) == NAM_OK);
		CHECK(j->fix, __atomic_load_n(&p[1], __ATOMIC_RELAXED) == i + 1000);
	}
	uint64_t size = net_node_of(net_worker_net(w), 1)->size;
	CHECK(j->fix, net_direct(w, net_at(1, size - 8), 8) != NULL);
	CHECK(j->fix, net_direct(w, net_at(1, size - 8), 9) == NULL);
	CHECK(j->fix, net_direct(w, net_at(1, 8), SIZE_MAX) == NULL);
	CHECK(j->fix, net_direct(w, net_at(3, 0), 8) == NULL);
	CHECK(j->fix, net_direct(w, net_at(0, 0), 8) == NULL);
}

static void
direct(struct fixture *fix)
{
	net_conf_start(fix, 0, 1, 1, 0, direct_co);
}

/* READs in place are counted as a batch of them. */
static void
mapped_co(struct job *j)
{
	enum { N = NET_MAPPED_MAX, WORDS = 6 };
	struct net_worker *w = j->w;
	struct net_counts plain = { 0 }, here = { 0 };
	struct net_op op[N];
	struct net_batch b;
	uint64_t want[N][WORDS], got[N][WORDS];
	net_addr where[N];
	uint64_t size = net_node_of(net_worker_net(w), 2)->size, v[WORDS];
	net_batch_init(&b, w, op, N, &plain);
	for (unsigned i = 0; i < N; i++) {
		where[i] = at(1 + i % 2, 4096 + 8 * i * WORDS);
		for (unsigned k = 0; k < WORDS; k++)
			v[k] = nam_mix(1 + i * WORDS + k);
		CHECK(j->fix, net_write1(w, where[i], v, sizeof v, NULL) == NAM_OK);
		net_read(&b, where[i], want[i], sizeof want[i]);
	}
	CHECK(j->fix, net_run(&b) == NAM_OK);
	nam_status st = net_read_mapped(w, where, N, sizeof got[0], got, &here);
	if (j->fix->env->kind != NET_SHM) {
		CHECK(j->fix, st == NAM_UNSUPPORTED && net_counts_verbs(&here) == 0);
		return;
	}
	CHECK(j->fix, st == NAM_OK && memcmp(want, got, sizeof got) == 0);
	CHECK(j->fix, memcmp(&plain, &here, sizeof here) == 0);
	CHECK(j->fix, net_read_mapped(w, where, 0, 8, got, &here) == NAM_OK);
	const net_addr bad[] = { net_at(2, size - 8), net_at(2, size), net_at(3, 0), net_at(0, 0),
		net_at(1, (UINT64_C(1) << 48) - 8) };
	for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
		where[1] = bad[i];
		CHECK(j->fix, net_read_mapped(w, where, 2, 16, got, &here) == NAM_UNSUPPORTED);
	}
	CHECK(j->fix, memcmp(&plain, &here, sizeof here) == 0);
}

static void
mapped(struct fixture *fix)
{
	net_conf_start(fix, 0, 1, 1, 0, mapped_co);
}

/* ---- all -------------------------------------------------------------------- */

static const struct net_conf_test tests[] = {
	{ "sizes and alignments", 1, 1, sizes, NULL },
	{ "ends of pages", 1, 1, pages, NULL },
	{ "WRITE with immediate", 1, 1, immediate, NULL },
	{ "compare-and-swap, fetch-and-add", 1, 1, atomics, NULL },
	{ "batches over nodes", 3, 1, batches, NULL },
	{ "unsignaled and inline", 2, 1, quiet, NULL },
	{ "bad operations", 2, 1, bad_ops, NULL },
	{ "a node declared lost", 2, 2, lost, NULL },
	{ "counters", 2, 1, counters, NULL },
	{ "sleep", 1, 1, sleeping, NULL },
	{ "idle hooks", 1, 1, hooks, hooks_after },
	{ "post and then", 2, 1, chains, NULL },
	{ "extents", 1, 1, extents, NULL },
	{ "extents, contended", 1, 3, extents_contended, NULL },
	{ "net_direct", 1, 1, direct, NULL },
	{ "net_read_mapped", 2, 1, mapped, NULL },
};

int
net_conformance(const struct net_conf_env *env)
{
	int failed = 0;
	for (unsigned i = 0; i < sizeof tests / sizeof *tests; i++)
		failed += net_conf_run_test(env, &tests[i]);
	for (const struct net_conf_test *t = net_conf_order_tests; t->name != NULL; t++)
		failed += net_conf_run_test(env, t);
	return failed;
}
