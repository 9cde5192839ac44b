/* nic_test.c -- the model of RNICs: each of its numbers is the limit where it should be. What is
 * expected is worked out here by hand, not by nic.c. */
#include <net/conformance/conformance_sim.h>
#include <net/region_format.h>
#include <net/ring/service.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { REGION = 8 << 20, THREADS_MAX = 16 };

/* A machine on which only what a test sets takes time. */
static const struct net_sim_model plain = { .name = "test",
	.wire_ns = 1000,
	.ports = 1,
	.port_ps = 100,
	.mtu = 4096,
	.message_ps = 1000,
	.inline_max = 1 << 30,
	.contexts = 1024,
	.requests = 1 << 20,
	.cores = 1000 };

struct load {
	const struct net_sim_model *model;
	enum net_code code;
	uint32_t size;
	unsigned processes, threads, window; /* of each process; of each thread */
	unsigned hot;                        /* so many of 8 threads' operations go to one word */
	uint64_t for_ns;
};

static unsigned idle_nodes;

struct run {
	const struct load *l;
	uint64_t begin, end, ops, cold_ops, latency;
	struct net_sim_use node, process;
};

struct place {
	struct run *r;
	struct net_sim *s;
	struct net *n;
	struct net_worker *w;
	unsigned i;
	uint64_t bursts, burst_ns;
};

static void
client(void *arg)
{
	struct place *p = arg;
	const struct load *l = p->r->l;
	char *buf = calloc(1, l->size);
	bool hot = p->i % 8 < l->hot;
	while (net_now_ns(p->w) < p->r->end) {
		/* of the cold ones none shares the bits of the hot one's address */
		uint64_t off = hot ? 0
				   : nam_rng_below(net_rng(p->w), 1024) * 4096 +
					 8 * (1 + nam_rng_below(net_rng(p->w), 511));
		net_addr at = net_at(1, NET_EXTENT + off);
		struct net_op op;
		struct net_batch b;
		uint64_t from = net_now_ns(p->w);
		net_batch_init(&b, p->w, &op, 1, NULL);
		if (l->code == NET_FAA)
			net_faa(&b, at, 1);
		else
			net_op_add(&b, l->code, at, buf, l->size);
		assert_int_equal(net_run(&b), NAM_OK);
		uint64_t now = net_now_ns(p->w);
		if (now < p->r->begin || now > p->r->end)
			continue;
		p->r->ops++;
		p->r->cold_ops += !hot;
		p->r->latency += now - from;
	}
	free(buf);
}

static void
watch(void *arg)
{
	struct place *p = arg;
	net_sleep(p->w, p->r->begin - net_now_ns(p->w));
	net_sim_use_begin(p->s);
	net_sleep(p->w, p->r->end - net_now_ns(p->w));
	net_sim_use_node(p->s, 1, &p->r->node);
	net_sim_use_process(p->n, &p->r->process);
}

/* Operations a second. */
static double
play(const struct load *l, struct run *r)
{
	struct net_sim *s;
	struct net *n[THREADS_MAX];
	struct place p[THREADS_MAX];
	const struct net_sim_config cfg = {
		.seed = 3, .nodes = 1 + idle_nodes, .region_bytes = REGION, .model = l->model
	};
	*r = (struct run){ .l = l };
	assert_true(l->processes * l->threads <= THREADS_MAX);
	assert_int_equal(net_sim_open(&s, &cfg), NAM_OK);
	r->begin = net_sim_now_ns(s) + l->for_ns / 4;
	r->end = r->begin + l->for_ns;
	unsigned k = 0;
	for (unsigned i = 0; i < l->processes; i++) {
		assert_int_equal(net_sim_attach(s, &n[i]), NAM_OK);
		for (unsigned t = 0; t < l->threads; t++, k++) {
			p[k] = (struct place){ .r = r, .s = s, .n = n[i], .i = k };
			assert_int_equal(net_worker_open(n[i], &p[k].w, NULL), NAM_OK);
		}
	}
	assert_non_null(nam_co_start(net_worker_sched(p[0].w), watch, &p[0], 0));
	for (unsigned i = 0; i < k; i++)
		for (unsigned m = 0; m < l->window; m++)
			assert_non_null(nam_co_start(net_worker_sched(p[i].w), client, &p[i], 0));
	assert_true(net_sim_run(s, NULL, NULL));
	while (k-- > 0)
		net_worker_close(p[k].w);
	for (unsigned i = 0; i < l->processes; i++)
		net_close(n[i]);
	net_sim_close(s);
	return (double)r->ops * 1e9 / (double)l->for_ns;
}

static void
assert_near(double v, double want, double part)
{
	if (v < want * (1 - part) || v > want * (1 + part))
		fail_msg("%g is not within %g %% of %g", v, 100 * part, want);
}

/* One at a time: the sum of the parts. */
static void
latency(void **state)
{
	(void)state;
	struct net_sim_model m = plain;
	struct load l = { &m, NET_READ, 8, 1, 1, 1, 0, 1000000 };
	struct run r;
	/* two flights, two RNICs of 1 ns, 8 bytes of 100 ps: each step ends at a whole ns */
	play(&l, &r);
	assert_near((double)r.latency / (double)r.ops, 2003, 0.002);
	m.dma_ns = 300; /* the node's memory is read */
	m.post_ns = 200;
	m.poll_ns = 50;
	play(&l, &r);
	assert_near((double)r.latency / (double)r.ops, 2003 + 300 + 200 + 50, 0.002);
	l.code = NET_WRITE; /* short: in the work request itself */
	play(&l, &r);
	assert_near((double)r.latency / (double)r.ops, 2003 + 200 + 50, 0.002);
	m.inline_max = 256;
	l.size = 1000; /* long: read from the poster's memory; 1,000 bytes of 100 ps */
	play(&l, &r);
	assert_near((double)r.latency / (double)r.ops, 2002 + 300 + 100 + 200 + 50, 0.002);
}

/* Many bytes: a port carries 1 byte in port_ps, each way; its packets' headers count. */
static void
bandwidth(void **state)
{
	(void)state;
	struct net_sim_model m = plain;
	struct load l = { &m, NET_READ, 8192, 4, 2, 8, 0, 1000000 };
	struct run r;
	assert_near(play(&l, &r), 1e12 / (8192 * 100), 0.02);
	assert_true(r.node.out > 0.97 && r.node.out <= 1.01 && r.node.in < 0.1);
	assert_near((double)r.node.bytes_out, (double)r.ops * 8192, 0.02);
	m.header = 410; /* two packets of 4,096 */
	assert_near(play(&l, &r), 1e12 / ((8192 + 2 * 410) * 100), 0.02);
	m.header = 0;
	l.code = NET_WRITE;
	assert_near(play(&l, &r), 1e12 / (8192 * 100), 0.02);
	assert_true(r.node.in > 0.97 && r.node.in <= 1.01 && r.node.out < 0.1);
	/* one client machine: its own port is full, not the node's two */
	m.ports = 2;
	l.code = NET_READ;
	assert_near(play(&l, &r), 2e12 / (8192 * 100), 0.02);
	idle_nodes = 1; /* both ports of a node are used, however many nodes there are */
	assert_near(play(&l, &r), 2e12 / (8192 * 100), 0.02);
	idle_nodes = 0;
	l.processes = 1;
	m.ports = 1;
	assert_near(play(&l, &r), 1e12 / (8192 * 100), 0.02);
	assert_true(r.process.in > 0.97 && r.process.in <= 1.01);
}

static void
messages(void **state)
{
	(void)state;
	struct net_sim_model m = plain;
	struct load l = { &m, NET_READ, 8, 4, 2, 8, 0, 200000 };
	struct run r;
	m.message_ps = 50000;
	assert_near(play(&l, &r), 1e12 / 50000, 0.02);
	assert_true(r.node.rnic > 0.97 && r.node.rnic <= 1.01 && r.node.misses <= 8);
	assert_near((double)r.node.messages, (double)r.ops, 0.05);
	/* Contexts of 4 of 8 queue pairs: most messages miss, and each miss costs as much again. */
	m.contexts = 4;
	m.message_ps = m.miss_ps = 500000;
	l.window = 1; /* so that each comes in its turn */
	l.for_ns = 2000000;
	double rate = play(&l, &r);
	assert_near(rate, 0.5e12 / 500000, 0.05);
	assert_true(r.node.misses > r.node.messages * 9 / 10);
	l.window = 8;
	l.for_ns = 200000;
	/* Of 16 requests that are out at each client, 4 fit. */
	m.contexts = 1024;
	m.requests = 4;
	m.message_ps = 1000;
	rate = play(&l, &r);
	m.requests = 16;
	assert_true(rate < 0.5 * play(&l, &r));
}

/* A hot word is slow, and does not make others slow. */
static void
atomics(void **state)
{
	(void)state;
	struct net_sim_model m = plain;
	struct load l = { &m, NET_FAA, 8, 4, 2, 8, 0, 400000 };
	struct run r;
	m.atomic_ps = 40000;
	m.address_ns = 400;
	assert_near(play(&l, &r), 1e12 / 40000, 0.02);
	assert_true(r.node.atomics > 0.97 && r.node.address < 0.5);
	l.hot = 8;
	assert_near(play(&l, &r), 1e9 / 400, 0.02);
	assert_true(r.node.address > 0.97 && r.node.atomics < 0.2);
	l.hot = 4;
	play(&l, &r);
	assert_near((double)(r.ops - r.cold_ops) * 1e9 / (double)l.for_ns, 1e9 / 400, 0.02);
	assert_true((double)r.cold_ops * 1e9 / (double)l.for_ns > 0.5e12 / 40000);
}

/* Eight threads on four cores do what four do. */
static void
cores(void **state)
{
	(void)state;
	struct net_sim_model m = plain;
	struct load l = { &m, NET_READ, 8, 1, 4, 16, 0, 400000 };
	struct run r;
	m.post_ns = 400;
	m.poll_ns = 100;
	m.cores = 4;
	double four = play(&l, &r);
	assert_near(four, 4e9 / 500, 0.03);
	assert_true(r.process.core > 0.97);
	l.threads = 8;
	assert_near(play(&l, &r), four, 0.03);
}

/*
 * A thread that posts many verbs in one turn gives them to its RNIC one by one. Verbs of other
 * threads pass in between: they do not wait for what is posted later.
 */
static void
burst(void *arg)
{
	struct place *p = arg;
	struct net_op op[64];
	struct net_batch b;
	uint64_t word;
	for (uint64_t from; (from = net_now_ns(p->w)) < p->r->end;) {
		net_batch_init(&b, p->w, op, 64, NULL);
		for (unsigned i = 0; i < 64; i++)
			net_read(&b, net_at(1, NET_EXTENT), &word, 8);
		assert_int_equal(net_run(&b), NAM_OK);
		p->bursts++;
		p->burst_ns += net_now_ns(p->w) - from;
	}
}

static void
order(void **state)
{
	(void)state;
	struct net_sim_model m = plain;
	const struct load l = { &m, NET_READ, 8, 1, 2, 1, 0, 2000000 };
	struct run r = { .l = &l };
	struct net_sim *s;
	struct net *n;
	struct place p[2];
	const struct net_sim_config cfg = { .seed = 3, .nodes = 1, .region_bytes = REGION, .model = &m };
	m.post_ns = 500;     /* a burst takes 32 us */
	m.doorbell_ns = 300; /* once for its 64 verbs, once for each of the other thread's */
	m.poll_ns = 50;
	assert_int_equal(net_sim_open(&s, &cfg), NAM_OK);
	assert_int_equal(net_sim_attach(s, &n), NAM_OK);
	r.begin = net_sim_now_ns(s) + 100000;
	r.end = r.begin + l.for_ns;
	for (unsigned i = 0; i < 2; i++) {
		p[i] = (struct place){ .r = &r, .s = s, .n = n, .i = i };
		assert_int_equal(net_worker_open(n, &p[i].w, NULL), NAM_OK);
	}
	assert_non_null(nam_co_start(net_worker_sched(p[0].w), burst, &p[0], 0));
	assert_non_null(nam_co_start(net_worker_sched(p[1].w), client, &p[1], 0));
	assert_true(net_sim_run(s, NULL, NULL));
	assert_near((double)r.latency / (double)r.ops, 2003 + 500 + 300 + 50, 0.01);
	assert_near((double)p[0].burst_ns / (double)p[0].bursts, 64 * 500 + 300 + 64 * 50, 0.003);
	for (unsigned i = 0; i < 2; i++)
		net_worker_close(p[i].w);
	net_close(n);
	net_sim_close(s);
}

/* Calls of an echo service, one after the other. */
static void
caller(void *arg)
{
	struct place *p = arg;
	char ask[8] = "echo", got[8];
	uint32_t len;
	while (net_now_ns(p->w) < p->r->end) {
		uint64_t from = net_now_ns(p->w);
		assert_int_equal(
		    net_call(p->w, 1, NET_SERVICE_ECHO, ask, sizeof ask, got, sizeof got, &len), NAM_OK);
		if (net_now_ns(p->w) >= p->r->begin && net_now_ns(p->w) <= p->r->end) {
			p->r->ops++;
			p->r->latency += net_now_ns(p->w) - from;
		}
	}
	if (p->r->node.core == 0)
		net_sim_use_node(p->s, 1, &p->r->node);
}

static void
begin_use(void *arg)
{
	struct place *p = arg;
	net_sleep(p->w, p->r->begin - net_now_ns(p->w));
	net_sim_use_begin(p->s);
}

/* Threads with `each` calls out; a request costs serve_ns of one of two shards. */
static void
calls(uint32_t serve_ns, unsigned threads, unsigned each, struct run *r)
{
	struct net_sim_model m = plain;
	const struct net_sim_config cfg = { .seed = 3, .nodes = 1, .region_bytes = REGION, .model = &m };
	static const struct net_service echo = { .id = NET_SERVICE_ECHO, .name = "echo", .fn = net_echo };
	struct net_sim *s;
	struct net *n;
	struct place p[THREADS_MAX];
	m.shards = 2;
	m.serve_ns = serve_ns;
	memset(r, 0, sizeof *r);
	assert_int_equal(net_sim_open(&s, &cfg), NAM_OK);
	assert_int_equal(net_sim_serve(s, 1, &echo, 1), NAM_OK);
	assert_int_equal(net_sim_attach(s, &n), NAM_OK);
	r->begin = net_sim_now_ns(s) + 100000;
	r->end = r->begin + 1000000;
	for (unsigned i = 0; i < threads; i++) {
		p[i] = (struct place){ .r = r, .s = s, .n = n, .i = i };
		assert_int_equal(net_worker_open(n, &p[i].w, NULL), NAM_OK);
		for (unsigned k = 0; k < each; k++)
			assert_non_null(nam_co_start(net_worker_sched(p[i].w), caller, &p[i], 0));
	}
	assert_non_null(nam_co_start(net_worker_sched(p[0].w), begin_use, &p[0], 0));
	assert_true(net_sim_run(s, NULL, NULL));
	for (unsigned i = 0; i < threads; i++)
		net_worker_close(p[i].w);
	net_close(n);
	net_sim_close(s);
}

/* Two shards serve two requests at a time, however they come; a lone one takes its time once. */
static void
shards(void **state)
{
	(void)state;
	struct run slow, fast, many, batches;
	calls(2500, 1, 1, &slow);
	calls(500, 1, 1, &fast);
	assert_near(
	    (double)slow.latency / (double)slow.ops - (double)fast.latency / (double)fast.ops, 2000, 0.02);
	calls(2500, 16, 1, &many);
	assert_near((double)many.ops, 2 * 1000000.0 / 2500, 0.03);
	assert_true(many.node.core > 0.97 && many.node.core < 1.03);
	calls(2500, 4, 8, &batches);
	assert_near((double)batches.ops, 2 * 1000000.0 / 2500, 0.03);
	assert_true(batches.node.core > 0.97 && slow.node.core < 0.3);
}

/* Same seed, same run; no model, no figures. */
static void
repeats(void **state)
{
	(void)state;
	struct load l = { net_sim_model_find("fdr4x"), NET_WRITE, 1024, 2, 3, 4, 2, 200000 };
	struct run a, b;
	assert_non_null(l.model);
	play(&l, &a);
	play(&l, &b);
	assert_int_equal(a.ops, b.ops);
	assert_int_equal(a.latency, b.latency);
	assert_int_equal(a.node.bytes_in, b.node.bytes_in);
	l.model = NULL;
	play(&l, &a);
	assert_true(a.ops > 0 && a.node.messages == 0 && a.node.in == 0);
	assert_null(net_sim_model_find("fdr"));
	assert_null(net_sim_model_at(1000));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(latency),
		cmocka_unit_test(bandwidth),
		cmocka_unit_test(messages),
		cmocka_unit_test(atomics),
		cmocka_unit_test(cores),
		cmocka_unit_test(order),
		cmocka_unit_test(shards),
		cmocka_unit_test(repeats),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
