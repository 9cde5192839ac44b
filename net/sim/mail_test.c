/* mail_test.c -- two-sided messages in virtual time: each number of a stack is the limit where it
 * should be. What is expected is worked out here by hand, not by mail.c. */
#include <net/sim/mail.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { THREADS_MAX = 64, ALL_BYTES = 1 << 16 };

/* Machines on which only what a test sets takes time. */
static const struct net_sim_model plain = { .name = "test",
	.wire_ns = 1000,
	.ports = 1,
	.port_ps = 100,
	.mtu = 4096,
	.message_ps = 1000,
	.inline_max = 256,
	.dma_ns = 300,
	.contexts = 1024,
	.requests = 1 << 20,
	.cores = 1000 };
static const struct net_sim_stack sockets = { .name = "test",
	.sockets = true,
	.send_ns = 1000,
	.take_ns = 2000,
	.wire_ns = 5000,
	.port_ps = 1,
	.mtu = 1 << 30,
	.cores = 8,
	.hardware = 16,
	.shared_permille = 2000 };
static const struct net_sim_stack verbs = { .name = "test",
	.send_ns = 100,
	.take_ns = 200,
	.turn_ns = 50,
	.cores = 4,
	.hardware = 8,
	.shared_permille = 1500,
	.latency_ns = 2000000,
	.slice_ns = 500000,
	.tick_ns = 100000 };

/* Pairs of threads that send one message to and fro, on machines in a row: 0 asks 1, or 1 and 2
 * in turn. */
struct play {
	struct net_sim *sim;
	struct net_sim_mail *mail;
	uint32_t bytes;
	unsigned pairs, hops;
	uint64_t work_ns, until, rounds;
	struct actor {
		struct play *p;
		unsigned self, next;
		bool asks;
	} actor[3 * THREADS_MAX];
};

static char anything[ALL_BYTES];

static void
take(void *arg, const void *bytes, uint32_t len)
{
	struct actor *a = arg;
	assert_memory_equal(bytes, anything, len);
	a->p->rounds += a->asks;
	if (!a->asks)
		net_sim_mail_work(a->p->mail, a->self, a->p->work_ns);
	net_sim_mail_send(a->p->mail, a->self, a->next, anything, a->p->bytes);
}

static bool
over(void *arg)
{
	struct play *p = arg;
	return net_sim_now_ns(p->sim) >= p->until;
}

/* A message goes round in each pair for so long. Rounds a second; use: of the second machine. */
static double
play(const struct net_sim_stack *k, unsigned pairs, unsigned hops, uint32_t bytes, uint64_t work_ns,
    uint64_t ns, struct net_sim_mail_use *use)
{
	struct play *p = calloc(1, sizeof *p);
	const struct net_sim_config cfg = { .seed = 1, .nodes = 1, .region_bytes = 1 << 20, .model = &plain };
	p->bytes = bytes;
	p->work_ns = work_ns;
	assert_int_equal(net_sim_open(&p->sim, &cfg), NAM_OK);
	assert_int_equal(net_sim_mail_open(&p->mail, p->sim, k, hops), NAM_OK);
	for (unsigned i = 0; i < pairs; i++)
		for (unsigned h = 0; h < hops; h++) {
			struct actor *a = &p->actor[i * hops + h];
			*a = (struct actor){ .p = p, .asks = h == 0 };
			assert_int_equal(net_sim_mail_thread(p->mail, h, take, a, &a->self), NAM_OK);
			a->next = i * hops + (h + 1) % hops;
		}
	for (unsigned i = 0; i < pairs; i++)
		net_sim_mail_send(p->mail, i * hops, i * hops + 1, anything, bytes);
	p->until = net_sim_now_ns(p->sim) + ns / 10;
	assert_true(net_sim_run(p->sim, over, p));
	net_sim_mail_begin(p->mail);
	p->rounds = 0;
	p->until += ns;
	assert_true(net_sim_run(p->sim, over, p));
	net_sim_mail_use(p->mail, 1, use);
	double rate = (double)p->rounds * 1e9 / (double)ns;
	net_sim_mail_close(p->mail);
	net_sim_close(p->sim);
	free(p);
	return rate;
}

static void
near(double is, double wanted, double by)
{
	if (is < wanted * (1 - by) || is > wanted * (1 + by))
		fail_msg("%g, not %g", is, wanted);
}

static void
test_sockets(void **state)
{
	(void)state;
	struct net_sim_mail_use u;
	/* send, wire, take, work: to and fro */
	near(play(&sockets, 1, 2, 8, 500, 10000000, &u), 1e9 / (2 * 8000 + 500), 0.01);
	near(u.stack, 3.0 / 16.5, 0.02);
	/* the stack of each machine takes a message and sends one, one after the other */
	near(play(&sockets, 40, 2, 8, 500, 10000000, &u), 1e9 / 3000, 0.01);
	near(u.stack, 1, 0.01);
	double share;
	assert_string_equal(net_sim_mail_limit(&u, &share), "the kernel's network stack");
	/* a message of three windows costs three */
	struct net_sim_stack k = sockets;
	k.window = 1000;
	near(play(&k, 40, 2, 3000, 0, 10000000, &u), 1e9 / 9000, 0.01);
	/* the port: 1,000 bytes and a header of 100 for each packet of 500 */
	k = sockets;
	k.port_ps = 10000;
	k.mtu = 500;
	k.header = 100;
	near(play(&k, 40, 2, 1000, 0, 10000000, &u), 1e9 / 12000, 0.01);
	assert_string_equal(net_sim_mail_limit(&u, &share), "port in");
	/* the hardware threads, whatever their siblings do: 16 of them, 100 us each */
	near(play(&sockets, 40, 2, 8, 100000, 100000000, &u), 16 * 1e9 / 100000, 0.02);
	near(u.work, 1, 0.02);
	assert_string_equal(net_sim_mail_limit(&u, &share), "cores");
}

static void
test_verbs(void **state)
{
	(void)state;
	struct net_sim_mail_use u;
	/* to and fro: post, RNIC, wire, RNIC, RECEIVE and turn; a short message needs no DMA */
	near(play(&verbs, 1, 2, 8, 0, 10000000, &u), 1e9 / (2 * (100 + 1 + 1000 + 1 + 250)), 0.01);
	near(play(&verbs, 1, 2, 1000, 0, 10000000, &u), 1e9 / (2 * (100 + 1 + 300 + 1000 + 100 + 1 + 250)),
	    0.01);
	/* of eight threads two share a core, and each is slower */
	double alone = play(&verbs, 4, 2, 8, 10000, 10000000, &u);
	assert_true(u.crowd == 0.5);
	double together = play(&verbs, 8, 2, 8, 10000, 10000000, &u);
	assert_true(u.crowd == 1.0);
	near(alone, 4 * 1e9 / (2704 + 10000), 0.01);
	near(together, 8 * 1e9 / (2004 + 1.5 * 10700), 0.01);
}

/* Threads that poll get slices, with or without a message; threads that sleep do not need them. */
static void
test_crowd(void **state)
{
	(void)state;
	struct net_sim_stack k = verbs;
	struct net_sim_mail_use u;
	double share;
	k.cores = k.hardware = 8;
	k.balance_ns = 2500000;
	/* one thread a hardware thread, then two: on both machines, so each pair has a quarter
	 * of the time */
	double one = play(&k, 8, 2, 8, 0, 200000000, &u);
	assert_string_equal(net_sim_mail_limit(&u, &share), "latency");
	assert_true(u.wait_us < 1);
	double two = play(&k, 16, 2, 8, 0, 200000000, &u);
	near(two / one, 16 / 8 * 0.25, 0.15);
	assert_string_equal(net_sim_mail_limit(&u, &share), "threads that poll, to a hardware thread");
	near(share, 2, 0.001);
	/* three machines in a row: an eighth */
	one = play(&k, 8, 3, 8, 0, 200000000, &u);
	two = play(&k, 16, 3, 8, 0, 200000000, &u);
	near(two / one, 16 / 8 * 0.125, 0.2);
	/* a machine alone that is full goes on at its rate: work is done in each thread's slice */
	one = play(&k, 8, 2, 8, 100000, 200000000, &u);
	near(u.work, 0.97, 0.03);
	/* sleepers: twice as many do twice as much, as long as the stack is not full */
	struct net_sim_stack s = sockets;
	s.send_ns = s.take_ns = 10;
	one = play(&s, 16, 2, 8, 0, 10000000, &u);
	two = play(&s, 32, 2, 8, 0, 10000000, &u);
	near(two / one, 2, 0.01);
}

static void
test_known(void **state)
{
	(void)state;
	for (unsigned i = 0; net_sim_model_at(i) != NULL; i++)
		assert_non_null(net_sim_stack_find(net_sim_model_at(i)->name, "verbs"));
	assert_non_null(net_sim_stack_find("fdr4x", "ipoib"));
	assert_non_null(net_sim_stack_find("fdr4x", "ipoeth"));
	assert_null(net_sim_stack_find("cx6", "ipoib"));
	/* one way, 8 bytes: figure 2 of the NAM paper has 30 and 20 us */
	const struct net_sim_stack *k = net_sim_stack_find("fdr4x", "ipoeth");
	near(k->send_ns + k->take_ns + k->wire_ns + (8 + k->header) * k->port_ps / 1000.0, 30000, 0.03);
	k = net_sim_stack_find("fdr4x", "ipoib");
	near(k->send_ns + k->take_ns + k->wire_ns + (8 + k->header) * k->port_ps / 1000.0, 20000, 0.03);
}

/* Closing with letters under way and in queues; same seed, same run. */
static void
test_again(void **state)
{
	(void)state;
	struct net_sim_mail_use a, b;
	double x = play(&verbs, 30, 3, 500, 700, 5000000, &a), y = play(&verbs, 30, 3, 500, 700, 5000000, &b);
	assert_true(x == y && x > 0);
	assert_memory_equal(&a, &b, sizeof a);
}

int
main(void)
{
	for (unsigned i = 0; i < sizeof anything; i++)
		anything[i] = (char)(i * 7);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sockets),
		cmocka_unit_test(test_verbs),
		cmocka_unit_test(test_crowd),
		cmocka_unit_test(test_known),
		cmocka_unit_test(test_again),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
