/* ring_test.c -- messages in a ring: at every place, in every order of words, and bytes that must
 * not pass for a message. */
#include <base/rng.h>
#include <net/region_format.h>
#include <net/ring/ring.h>
#include <net/sim/sim.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { BYTES = NET_RING_MIN, MOST = BYTES / 2 - NET_RING_FRAME };

struct pair {
	_Alignas(8) char ring[BYTES], mirror[BYTES];
	struct net_ring_out out;
	struct net_ring_in in;
};

/* Both ends at that position, the ring empty. */
static void
pair_at(struct pair *p, uint64_t pos, uint32_t number, uint64_t seed)
{
	memset(p->ring, 0, sizeof p->ring);
	memset(p->mirror, 0x33, sizeof p->mirror);
	p->out = (struct net_ring_out){
		.mirror = p->mirror, .bytes = BYTES, .pos = pos, .number = number, .seed = seed
	};
	p->in = (struct net_ring_in){
		.ring = p->ring, .bytes = BYTES, .pos = pos, .number = number, .seed = seed
	};
}

static void
arrive(struct pair *p, const struct net_ring_run *run, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		memcpy(p->ring + run[i].at, p->mirror + run[i].at, run[i].len);
}

static bool
is_empty(const struct pair *p)
{
	for (unsigned i = 0; i < BYTES; i++)
		if (p->ring[i] != 0)
			return false;
	return true;
}

static const uint32_t lengths[] = { 0, 1, 7, 8, 9, 16, 63, 100, 1000, 1999, MOST - 8, MOST - 1, MOST };
enum { LENGTHS = sizeof lengths / sizeof *lengths };

static void
every_place(void **state)
{
	(void)state;
	struct pair p;
	char from[MOST], into[MOST];
	for (uint32_t at = 0; at < BYTES; at += 8)
		for (unsigned k = 0; k < LENGTHS; k++) {
			uint32_t len = lengths[k];
			struct net_ring_run run[2];
			struct net_ring_message m;
			pair_at(&p, 5 * BYTES + at, 0xffffffu + k, 77);
			for (uint32_t i = 0; i < len; i++)
				from[i] = (char)(at / 8 + i * 7 + k);
			uint64_t after = net_ring_after(&p.out, len);
			unsigned n =
			    net_ring_put(&p.out, NET_RING_EVENT, 0x1234567800000000u + at, from, len, run);
			/* A second message, so that there is an end to respect. */
			assert_int_equal(p.out.pos, after);
			bool wraps = at + net_ring_whole(len) > BYTES;
			assert_int_equal(n, wraps ? 2 : 1);
			assert_int_equal(after, 5 * BYTES + (wraps ? BYTES : at) + net_ring_whole(len));
			assert_int_equal(net_ring_take(&p.in, into, MOST, &m), NET_RING_NOTHING);
			arrive(&p, run, n);
			/* Too long for the reader's room. */
			if (len > 0) {
				struct net_ring_in in = p.in;
				struct pair before = p;
				assert_int_equal(net_ring_take(&in, into, len - 1, &m), NET_RING_ODD);
				memcpy(p.ring, before.ring, sizeof p.ring);
			}
			memset(into, 0, sizeof into);
			assert_int_equal(net_ring_take(&p.in, into, MOST, &m), NET_RING_WHOLE);
			assert_int_equal(m.len, len);
			assert_int_equal(m.flags, NET_RING_EVENT);
			assert_int_equal(m.about, 0x1234567800000000u + at);
			assert_memory_equal(into, from, len);
			assert_int_equal(p.in.pos, p.out.pos);
			assert_true(is_empty(&p));
			assert_int_equal(net_ring_take(&p.in, into, MOST, &m), NET_RING_NOTHING);
		}
}

/* A reader that trusts head and seal without the checksum: shows why every word must be proved. */
static bool
naive_take(const struct pair *p, uint64_t pos, uint32_t len)
{
	uint64_t head, seal;
	memcpy(&head, p->ring + pos % BYTES, 8);
	memcpy(&seal, p->ring + pos % BYTES + net_ring_whole(len) - 8, 8);
	return head != 0 && seal != 0;
}

/* The words of a message come one by one in any order: it is whole with the last, not before. */
static void
every_order(void **state)
{
	(void)state;
	struct nam_rng rng;
	struct pair p;
	unsigned fooled = 0;
	nam_rng_init(&rng, 4711);
	for (unsigned round = 0; round < 3000; round++) {
		uint64_t from[20], into[20], pos = BYTES + 8 * nam_rng_below(&rng, BYTES / 8);
		uint32_t len = (uint32_t)nam_rng_below(&rng, sizeof from + 1), order[32], words;
		struct net_ring_run run[2];
		struct net_ring_message m;
		for (unsigned i = 0; i < 20; i++)
			from[i] = nam_rng_below(&rng, 3) == 0 ? 0 : nam_rng_next(&rng);
		pair_at(&p, pos, round, 99);
		unsigned n = net_ring_put(&p.out, 0, nam_rng_below(&rng, 2), from, len, run);
		if (n == 2) { /* WRITEs come in order: the end of the lap first */
			arrive(&p, run, 1);
			assert_int_equal(net_ring_take(&p.in, into, sizeof into, &m), NET_RING_NOTHING);
		}
		uint32_t at = run[n - 1].at, left = 0;
		words = run[n - 1].len / 8;
		for (uint32_t i = 0; i < words; i++) {
			uint64_t w;
			memcpy(&w, p.mirror + at + 8 * i, 8);
			uint32_t k = (uint32_t)nam_rng_below(&rng, i + 1);
			order[i] = order[k];
			order[k] = i;
			left += w != 0;
		}
		for (uint32_t i = 0; i < words; i++) {
			uint64_t w;
			memcpy(&w, p.mirror + at + 8 * order[i], 8);
			memcpy(p.ring + at + 8 * order[i], &w, 8);
			left -= w != 0;
			if (left != 0)
				fooled += naive_take(&p, at, len);
			enum net_ring_sight s = net_ring_take(&p.in, into, sizeof into, &m);
			if (left == 0) { /* a word that is zero is there from the beginning */
				assert_int_equal(s, NET_RING_WHOLE);
				break;
			}
			assert_int_not_equal(s, NET_RING_WHOLE);
		}
		assert_int_equal(m.len, len);
		assert_memory_equal(into, from, len);
	}
	assert_true(fooled > 1000);
}

/* All other bytes are no message: bytes of an earlier lap, of another ring, and any one changed
 * bit. */
static void
nothing_else(void **state)
{
	(void)state;
	struct pair p, q;
	char from[200], into[MOST];
	struct net_ring_run run[2], other[2];
	struct net_ring_message m;
	memset(from, 7, sizeof from);
	/* The same message one lap later, and in a ring of another seed, and with another
	 * number. */
	for (unsigned k = 0; k < 3; k++) {
		pair_at(&p, k == 0 ? BYTES : 0, k == 1, 5 + (k == 2));
		pair_at(&q, 0, 0, 5);
		net_ring_put(&q.out, 0, 1, from, sizeof from, other);
		memcpy(p.ring, q.mirror, other[0].len);
		assert_int_equal(net_ring_take(&p.in, into, MOST, &m), NET_RING_ODD);
	}
	/* Every bit counts. */
	pair_at(&p, 0, 0, 5);
	net_ring_put(&p.out, 0, 1, from, sizeof from, run);
	for (uint32_t bit = 0; bit < 8 * run[0].len; bit++) {
		struct net_ring_in in = p.in;
		memset(p.ring, 0, sizeof p.ring);
		arrive(&p, run, 1);
		p.ring[bit / 8] = (char)(p.ring[bit / 8] ^ 1 << bit % 8);
		assert_int_not_equal(net_ring_take(&in, into, MOST, &m), NET_RING_WHOLE);
		assert_int_equal(in.pos, 0);
	}
	/* Random bytes. */
	struct nam_rng rng;
	nam_rng_init(&rng, 3);
	for (unsigned i = 0; i < 200000; i++) {
		uint64_t pos = 8 * nam_rng_below(&rng, BYTES / 8), head = nam_rng_next(&rng);
		if (i % 2 == 0) /* nearly sound */
			head = NET_RING_MARK << 56 | nam_rng_below(&rng, 4) << 48 |
			       nam_rng_below(&rng, 2) << 24 | nam_rng_below(&rng, 2 * BYTES);
		pair_at(&p, pos, 0, nam_rng_next(&rng));
		for (unsigned k = 0; k < BYTES / 8; k++)
			((uint64_t *)(void *)p.ring)[k] = i % 4 == 0 ? head : head * k;
		memcpy(p.ring + pos, &head, 8);
		assert_int_not_equal(net_ring_take(&p.in, into, MOST, &m), NET_RING_WHOLE);
	}
	/* A wrap at the beginning of a lap, and a second wrap after a first. */
	uint64_t wrap = NET_RING_MARK << 56 | (uint64_t)NET_RING_WRAP << 48;
	pair_at(&p, 0, 0, 1);
	memcpy(p.ring, &wrap, 8);
	assert_int_equal(net_ring_take(&p.in, into, MOST, &m), NET_RING_ODD);
	pair_at(&p, 8, 0, 1);
	memcpy(p.ring, &wrap, 8);
	memcpy(p.ring + 8, &wrap, 8);
	assert_int_equal(net_ring_take(&p.in, into, MOST, &m), NET_RING_ODD);
}

/* ---- over the simulated wire ---------------------------------------------------------- */

enum { MESSAGES = 400, AT = NET_EXTENT };

struct flow {
	struct net_sim *sim;
	struct net_worker *w;
	struct pair p;
	uint64_t taken;
	unsigned fooled;
	bool over;
};

static uint32_t
flow_message(uint64_t i, unsigned char *into)
{
	uint32_t len = (uint32_t)(40 + i * 37 % 400);
	for (uint32_t k = 0; k < len; k++)
		into[k] = (unsigned char)(1 + (i + k) % 255);
	return len;
}

/* WRITEs message after message, waits for the reader only, never for the WRITE. */
static void
flow_writer(void *arg)
{
	struct flow *f = arg;
	unsigned char from[BYTES];
	struct net_op op[2];
	struct net_batch b;
	net_batch_init(&b, f->w, op, 2, NULL);
	for (uint64_t i = 0; i < MESSAGES; i++) {
		struct net_ring_run run[2];
		unsigned n = net_ring_put(&f->p.out, 0, 0, from, flow_message(i, from), run);
		for (unsigned k = 0; k < n; k++)
			net_write(&b, net_at(1, AT + run[k].at), f->p.mirror + run[k].at, run[k].len);
		assert_int_equal(net_run(&b), NAM_OK);
		while (f->taken <= i)
			net_sleep(f->w, 100);
	}
	f->over = true;
}

/* Looks at the ring as a polling shard does, beside a reader that trusts head and seal. */
static void
flow_reader(void *arg)
{
	struct flow *f = arg;
	unsigned char want[BYTES], got[BYTES];
	char *ring = (char *)net_sim_memory(f->sim, 1) + AT;
	f->p.in.ring = ring;
	while (!f->over) {
		struct net_ring_message m;
		uint32_t len = flow_message(f->taken, want);
		memcpy(f->p.ring, ring, BYTES);
		uint32_t at = (uint32_t)(f->p.in.pos % BYTES);
		if (at + net_ring_whole(len) <= BYTES && naive_take(&f->p, at, len))
			f->fooled += memcmp(f->p.ring + at + 16, want, len) != 0;
		if (net_ring_take(&f->p.in, got, sizeof got, &m) == NET_RING_WHOLE) {
			assert_int_equal(m.len, len);
			assert_memory_equal(got, want, len);
			f->taken++;
		}
		net_sleep(f->w, 30);
	}
}

/* True: the trusting reader took a message that had not come whole. */
static bool
flow_run(uint32_t tear_permille)
{
	const struct net_sim_config cfg = {
		.seed = 21, .nodes = 1, .region_bytes = 4 * NET_EXTENT, .tear_permille = tear_permille
	};
	struct flow *f = calloc(1, sizeof *f);
	struct net *n;
	assert_int_equal(net_sim_open(&f->sim, &cfg), NAM_OK);
	assert_int_equal(net_sim_attach(f->sim, &n), NAM_OK);
	assert_int_equal(net_worker_open(n, &f->w, NULL), NAM_OK);
	pair_at(&f->p, 0, 0, 12);
	nam_co_start(net_worker_sched(f->w), flow_writer, f, 0);
	nam_co_start(net_worker_sched(f->w), flow_reader, f, 0);
	assert_true(net_sim_run(f->sim, NULL, NULL));
	assert_int_equal(f->taken, MESSAGES);
	bool fooled = f->fooled != 0;
	net_worker_close(f->w);
	net_close(n);
	net_sim_close(f->sim);
	free(f);
	return fooled;
}

static void
torn(void **state)
{
	(void)state;
	assert_true(flow_run(1000));
	assert_false(flow_run(0)); /* it is the tearing that fools it */
}

/* A node whose process stalls: calls end with their timeout; when it goes on, a new channel
 * works. */
static void
paused_co(void *arg)
{
	struct flow *f = arg;
	struct nam_err err;
	char back[8];
	uint32_t got = 9;
	const struct net_call_config cfg = { .timeout_ms = 5 };
	assert_int_equal(net_call_open(f->w, 1, NET_SERVICE_ECHO, &cfg, &err), NAM_OK);
	assert_int_equal(net_call(f->w, 1, NET_SERVICE_ECHO, "abc", 3, back, 8, &got), NAM_OK);
	assert_int_equal(got, 3);
	net_sim_pause(f->sim, 1, true);
	uint64_t from = net_now_ns(f->w);
	assert_int_equal(net_call(f->w, 1, NET_SERVICE_ECHO, "abc", 3, back, 8, &got), NAM_GONE);
	assert_in_range(net_now_ns(f->w) - from, 5000000, 5100000);
	assert_int_equal(net_call(f->w, 1, NET_SERVICE_ECHO, "abc", 3, back, 8, &got), NAM_GONE);
	/* Its memory is unchanged. */
	uint64_t word;
	assert_int_equal(net_read1(f->w, net_at(1, 0), &word, 8, NULL), NAM_OK);
	net_sim_pause(f->sim, 1, false);
	assert_int_equal(net_call_open(f->w, 1, NET_SERVICE_ECHO, &cfg, &err), NAM_OK);
	assert_int_equal(net_call(f->w, 1, NET_SERVICE_ECHO, "abcd", 4, back, 8, &got), NAM_OK);
	assert_int_equal(got, 4);
	f->over = true;
}

static void
paused(void **state)
{
	(void)state;
	static const struct net_service echo = { .id = NET_SERVICE_ECHO, .name = "echo", .fn = net_echo };
	const struct net_sim_config cfg = { .seed = 5, .nodes = 1, .region_bytes = 8 * NET_EXTENT };
	struct flow f = { 0 };
	struct net *n;
	assert_int_equal(net_sim_open(&f.sim, &cfg), NAM_OK);
	assert_int_equal(net_sim_serve(f.sim, 2, &echo, 1), NAM_INVALID);
	assert_int_equal(net_sim_attach(f.sim, &n), NAM_OK);
	assert_int_equal(net_worker_open(n, &f.w, NULL), NAM_OK);
	struct nam_err err;
	assert_int_equal(net_call_open(f.w, 1, NET_SERVICE_ECHO, NULL, &err), NAM_UNSUPPORTED);
	assert_int_equal(net_sim_serve(f.sim, 1, &echo, 1), NAM_OK);
	nam_co_start(net_worker_sched(f.w), paused_co, &f, 0);
	assert_true(net_sim_run(f.sim, NULL, NULL));
	assert_true(f.over);
	net_worker_close(f.w);
	net_close(n);
	net_sim_close(f.sim);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_place),
		cmocka_unit_test(every_order),
		cmocka_unit_test(nothing_else),
		cmocka_unit_test(torn),
		cmocka_unit_test(paused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
