/* service.c -- message rings and services, on every provider: what service.h promises
 * (conformance.h). */
#include <net/conformance/conformance_internal.h>
#include <net/ring/ring_format.h>
#include <net/ring/service.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- services ------------------------------------------------------------------ */

enum { COUNT = 10, SAY = 11, STALL = 12, BLOW = 13, CHORE = 14, NOBODY = 99 };

/* How many requests this node has had, and the sum of their bytes. */
static nam_status
count_fn(void *arg, struct net_request *rq)
{
	static atomic_uint_fast64_t served;
	uint64_t out[2] = { atomic_fetch_add(&served, 1), 0 };
	const unsigned char *p = rq->bytes;
	(void)arg;
	for (uint32_t i = 0; i < rq->len; i++)
		out[1] = out[1] * 31 + p[i];
	if (rq->answer_max < sizeof out)
		return NAM_FULL;
	memcpy(rq->answer, out, sizeof out);
	rq->answer_len = sizeof out;
	return NAM_OK;
}

/* Answers with the status that the request holds. */
static nam_status
say_fn(void *arg, struct net_request *rq)
{
	uint32_t st;
	(void)arg;
	if (rq->len != sizeof st)
		return NAM_INVALID;
	memcpy(&st, rq->bytes, sizeof st);
	return (nam_status)st;
}

/* Keeps its shard for so many milliseconds. */
static nam_status
stall_fn(void *arg, struct net_request *rq)
{
	uint32_t ms;
	(void)arg;
	if (rq->len != sizeof ms)
		return NAM_INVALID;
	memcpy(&ms, rq->bytes, sizeof ms);
	struct timespec nap = { ms / 1000, (long)(ms % 1000) * 1000000 };
	nanosleep(&nap, NULL);
	return NAM_OK;
}

/* Makes a long answer of a short request: as many bytes as the request says. */
static nam_status
blow_fn(void *arg, struct net_request *rq)
{
	uint32_t n;
	(void)arg;
	if (rq->len != sizeof n)
		return NAM_INVALID;
	memcpy(&n, rq->bytes, sizeof n);
	if (n > rq->answer_max)
		return NAM_FULL;
	for (uint32_t i = 0; i < n; i++)
		((unsigned char *)rq->answer)[i] = (unsigned char)(n + i);
	rq->answer_len = n;
	return NAM_OK;
}

/* Work for the idle hook: as many pieces as the last request asked for. The answer: pieces left,
 * pieces done, and calls that found nothing to do. */
struct chores {
	atomic_uint_fast64_t left, done, idle;
};
static struct chores chores;

static nam_status
chore_fn(void *arg, struct net_request *rq)
{
	struct chores *c = arg;
	uint64_t more, out[3];
	if (rq->len != sizeof more || rq->answer_max < sizeof out)
		return NAM_INVALID;
	memcpy(&more, rq->bytes, sizeof more);
	out[0] = atomic_fetch_add(&c->left, more) + more;
	out[1] = atomic_load(&c->done);
	out[2] = atomic_load(&c->idle);
	memcpy(rq->answer, out, sizeof out);
	rq->answer_len = sizeof out;
	return NAM_OK;
}

static bool
chore_idle(void *arg)
{
	struct chores *c = arg;
	bool any = atomic_load(&c->left) > 0;
	if (any)
		atomic_fetch_sub(&c->left, 1);
	atomic_fetch_add(any ? &c->done : &c->idle, 1);
	return any;
}

const struct net_service net_conf_service[NET_CONF_SERVICES] = {
	{ .id = NET_SERVICE_ECHO, .name = "echo", .fn = net_echo },
	{ .id = COUNT, .name = "count", .fn = count_fn },
	{ .id = SAY, .name = "say", .fn = say_fn },
	{ .id = STALL, .name = "stall", .fn = stall_fn },
	{ .id = BLOW, .name = "blow", .fn = blow_fn },
	{ .id = CHORE, .name = "chore", .fn = chore_fn, .arg = &chores, .idle = chore_idle },
};

/* ---- help ------------------------------------------------------------------------ */

static void
fill(unsigned char *p, uint32_t n, uint64_t seed)
{
	for (uint32_t i = 0; i < n; i++)
		p[i] = (unsigned char)((i + 1) * (2 * seed + 1) >> 3);
}

/* One echo of n bytes, checked. */
static void
echo_once(struct job *j, unsigned region, unsigned char *from, unsigned char *back, uint32_t n, uint64_t seed)
{
	uint32_t got = 12345;
	fill(from, n, seed);
	memset(back, 0x5a, n + 8);
	CHECK(j->fix, net_call(j->w, region, NET_SERVICE_ECHO, from, n, back, n, &got) == NAM_OK);
	CHECK(j->fix, got == n && memcmp(from, back, n) == 0);
	CHECK(j->fix, back[n] == 0x5a && back[n + 7] == 0x5a);
}

static void
open_with(struct job *j, unsigned region, enum net_mode mode, uint32_t request, uint32_t response)
{
	struct nam_err err = { 0 };
	const struct net_call_config cfg = {
		.mode = mode, .request_bytes = request, .response_bytes = response
	};
	nam_status st = net_call_open(j->w, region, NET_SERVICE_ECHO, &cfg, &err);
	CHECK(j->fix, st == NAM_OK);
	if (st != NAM_OK)
		fprintf(stderr, "conformance: %s\n", err.text);
}

/* Does a body once for each mode. */
#define IN_BOTH_MODES(name, each)                                                                            \
	static void name##_polling(struct job *j)                                                            \
	{                                                                                                    \
		name(j, NET_POLLING);                                                                        \
	}                                                                                                    \
	static void name##_events(struct job *j)                                                             \
	{                                                                                                    \
		name(j, NET_EVENTS);                                                                         \
	}                                                                                                    \
	static void name##_in_polling(struct fixture *fix)                                                   \
	{                                                                                                    \
		net_conf_start(fix, 0, fix->workers, each, 0, name##_polling);                               \
	}                                                                                                    \
	static void name##_in_events(struct fixture *fix)                                                    \
	{                                                                                                    \
		net_conf_start(fix, 0, fix->workers, each, 0, name##_events);                                \
	}

/* ---- sizes ------------------------------------------------------------------------- */

static void
sizes(struct job *j, enum net_mode mode)
{
	enum { ROOM = 64 << 10 };
	unsigned char *from = malloc(ROOM), *back = malloc(ROOM);
	open_with(j, 1, mode, 0, 0);
	uint64_t begin = net_now_ns(j->w);
	uint32_t most = 0, most_back = 0;
	CHECK(j->fix, net_call_max(j->w, 1, NET_SERVICE_ECHO, &most, &most_back) == NAM_OK);
	CHECK(j->fix, most == most_back && most >= 32000 && most < ROOM - 8);
	for (uint32_t n = 0; n < 140; n++)
		echo_once(j, 1, from, back, n, n);
	for (uint32_t n = 255; n <= most; n = 3 * n + 1)
		echo_once(j, 1, from, back, n, n);
	for (uint32_t n = most - 9; n <= most; n++)
		echo_once(j, 1, from, back, n, n);
	/* A caller that misses the announcement of an answer finds the answer when its timeout is
	 * over. */
	CHECK(j->fix, net_now_ns(j->w) - begin < UINT64_C(60000000000));
	free(from);
	free(back);
}
IN_BOTH_MODES(sizes, 1)

/* A small ring: many laps, and messages that end at every place of it. */
static void
laps(struct job *j, enum net_mode mode)
{
	unsigned char from[2048], back[2056];
	open_with(j, 1, mode, NET_RING_MIN, NET_RING_MIN);
	for (uint64_t i = 0; i < 1500; i++) {
		uint32_t most = i % 10 == 0 ? 2024 : 180;
		echo_once(j, 1, from, back, (uint32_t)nam_rng_below(net_rng(j->w), most + 1), i);
	}
}
IN_BOTH_MODES(laps, 1)

/* ---- many calls ------------------------------------------------------------------------ */

/* More calls out than rings hold, on two nodes: they wait, none is lost, each gets its own answer,
 * in order. */
static void
crowded(struct job *j, enum net_mode mode)
{
	enum { OUT = 12, ROUNDS = 12 };
	struct net_call c[OUT];
	unsigned char from[OUT][700], back[OUT][700];
	uint64_t last = 0;
	for (unsigned r = 1; r <= 2; r++)
		open_with(j, r, mode, NET_RING_MIN, NET_RING_MIN);
	for (unsigned i = 0; i < ROUNDS; i++) {
		for (unsigned k = 0; k < OUT; k++) {
			uint32_t n = (uint32_t)nam_rng_below(net_rng(j->w), sizeof from[k] + 1);
			fill(from[k], n, 1000 * j->id + OUT * i + k);
			bool counts = k % 4 == 0;
			c[k] = (struct net_call){ .region = 1 + k % 2,
				.service = counts ? COUNT : NET_SERVICE_ECHO,
				.request = from[k],
				.len = n,
				.answer = back[k],
				.cap = counts ? 16 : sizeof back[k] };
			net_call_start(j->w, &c[k]);
		}
		for (unsigned k = 0; k < OUT; k++) {
			CHECK(j->fix, net_call_wait(&c[k]) == NAM_OK);
			if (k % 4 != 0) {
				CHECK(
				    j->fix, c[k].got == c[k].len && memcmp(from[k], back[k], c[k].len) == 0);
				continue;
			}
			uint64_t out[2], sum = 0;
			CHECK(j->fix, c[k].got == 16);
			memcpy(out, back[k], 16);
			for (uint32_t b = 0; b < c[k].len; b++)
				sum = sum * 31 + from[k][b];
			CHECK(j->fix, out[1] == sum);
			/* in the order started */
			CHECK(j->fix, out[0] > last || (i == 0 && k == 0));
			last = out[0];
		}
	}
}
IN_BOTH_MODES(crowded, 8)

/* Answers much longer than their requests: the response ring is full first. */
static void
blown(struct job *j, enum net_mode mode)
{
	enum { OUT = 6, MOST = 2024 };
	struct net_call c[OUT];
	uint32_t n[OUT];
	unsigned char back[OUT][MOST];
	open_with(j, 1, mode, NET_RING_MIN, NET_RING_MIN);
	for (unsigned i = 0; i < 40; i++) {
		for (unsigned k = 0; k < OUT; k++) {
			n[k] = (uint32_t)nam_rng_below(net_rng(j->w), MOST + 1);
			c[k] = (struct net_call){ .region = 1,
				.service = BLOW,
				.request = &n[k],
				.len = 4,
				.answer = back[k],
				.cap = MOST };
			net_call_start(j->w, &c[k]);
		}
		for (unsigned k = 0; k < OUT; k++) {
			bool right = net_call_wait(&c[k]) == NAM_OK && c[k].got == n[k];
			for (uint32_t b = 0; b < n[k]; b++)
				right &= back[k][b] == (unsigned char)(n[k] + b);
			CHECK(j->fix, right);
		}
	}
}
IN_BOTH_MODES(blown, 2)

/* Requests much longer than their answers: the request ring is full first. */
static void
pushed(struct job *j, enum net_mode mode)
{
	enum { OUT = 6, MOST = 2024 };
	struct net_call c[OUT];
	unsigned char from[OUT][MOST];
	uint64_t back[OUT][2];
	open_with(j, 1, mode, NET_RING_MIN, NET_RING_MIN);
	for (unsigned i = 0; i < 40; i++) {
		for (unsigned k = 0; k < OUT; k++) {
			uint32_t n = (uint32_t)nam_rng_below(net_rng(j->w), MOST + 1);
			fill(from[k], n, 100 * i + 10 * k + j->id);
			c[k] = (struct net_call){ .region = 1,
				.service = COUNT,
				.request = from[k],
				.len = n,
				.answer = back[k],
				.cap = 16 };
			net_call_start(j->w, &c[k]);
		}
		for (unsigned k = 0; k < OUT; k++) {
			uint64_t sum = 0;
			for (uint32_t b = 0; b < c[k].len; b++)
				sum = sum * 31 + from[k][b];
			CHECK(j->fix, net_call_wait(&c[k]) == NAM_OK && c[k].got == 16 && back[k][1] == sum);
		}
	}
}
IN_BOTH_MODES(pushed, 2)

/* ---- what goes wrong ------------------------------------------------------------------------ */

static void
refusals_co(struct job *j)
{
	struct net_worker *w = j->w;
	static char big[NET_RING_MAX];
	char small[8];
	uint32_t got, most = 0, most_back = 0, n;
	struct nam_err err = { 0 };
	CHECK(j->fix, net_call_max(w, 1, NET_SERVICE_ECHO, &most, &most_back) == NAM_ABSENT);
	const struct net_call_config bad[] = { { .request_bytes = 5000 }, { .request_bytes = 2048 },
		{ .response_bytes = NET_RING_MAX * 2 }, { .response_bytes = 8193 } };
	for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++)
		CHECK(j->fix, net_call_open(w, 1, 1, &bad[i], &err) == NAM_INVALID);
	CHECK(j->fix, net_call_open(w, 7, 1, NULL, &err) == NAM_INVALID);
	CHECK(j->fix, net_call_open(w, 1, 65536, NULL, &err) == NAM_INVALID);
	CHECK(j->fix, net_call(w, 9, NET_SERVICE_ECHO, "x", 1, small, 1, &got) == NAM_INVALID);

	open_with(j, 1, NET_POLLING, 8192, NET_RING_MIN);
	CHECK(j->fix, net_call_max(w, 1, NET_SERVICE_ECHO, &most, &most_back) == NAM_OK);
	CHECK(j->fix, most == 8192 / 2 - 24 && most_back == 4096 / 2 - 24);
	CHECK(
	    j->fix, net_call(w, 1, NET_SERVICE_ECHO, big, most + 1, big, 8, &got) == NAM_INVALID && got == 0);
	CHECK(j->fix,
	    net_call(w, 1, NET_SERVICE_ECHO, big, 8, big, most_back + 1, &got) == NAM_INVALID && got == 0);
	CHECK(j->fix, net_call(w, 1, NOBODY, "x", 1, small, 1, &got) == NAM_UNSUPPORTED && got == 0);
	/* The caller's room is too small for the answer, or there is none at all. */
	CHECK(
	    j->fix, net_call(w, 1, NET_SERVICE_ECHO, "123456789", 9, small, 8, &got) == NAM_FULL && got == 0);
	CHECK(j->fix, net_call(w, 1, NET_SERVICE_ECHO, "1", 1, NULL, 0, &got) == NAM_FULL && got == 0);
	/* A handler's status goes to the caller, except two that mean something else. */
	for (n = 0; n < NAM_STATUS_COUNT; n++)
		CHECK(j->fix,
		    net_call(w, 1, SAY, &n, 4, NULL, 0, NULL) == (n == NAM_GONE ? NAM_IO : (nam_status)n));
	n = 60000;
	CHECK(j->fix, net_call(w, 1, SAY, &n, 4, NULL, 0, NULL) == NAM_IO);
	/* And the channel still works. */
	CHECK(j->fix, net_call(w, 1, NET_SERVICE_ECHO, "12345678", 8, small, 8, &got) == NAM_OK && got == 8);
	CHECK(j->fix, net_call(w, 1, NET_SERVICE_ECHO, NULL, 0, NULL, 0, &got) == NAM_OK && got == 0);
}

static void
refusals(struct fixture *fix)
{
	net_conf_start(fix, 0, 1, 1, 0, refusals_co);
}

/* Polling and events in turn, while others have calls out. */
static void
switching_co(struct job *j)
{
	unsigned char from[200], back[208];
	for (uint64_t i = 0; i < 120; i++) {
		if (i % 7 == j->id % 7)
			open_with(
			    j, 1, nam_rng_below(net_rng(j->w), 2) != 0 ? NET_EVENTS : NET_POLLING, 0, 0);
		echo_once(j, 1, from, back, (uint32_t)nam_rng_below(net_rng(j->w), 200), i);
		if (i % 31 == 0)
			net_sleep(j->w, 2000000); /* both sides have gone to sleep */
	}
}

static void
switching(struct fixture *fix)
{
	net_conf_start(fix, 0, 2, 3, 0, switching_co);
}

/* The node is declared lost with calls out: each ends, none hangs, and later calls fail at once. */
static void
lost_co(struct job *j)
{
	enum { OUT = 20 };
	struct net_call c[OUT];
	char back[OUT][64];
	struct nam_err err;
	const struct net_call_config cfg = { .timeout_ms = 300 };
	CHECK(j->fix, net_call_open(j->w, 1, NET_SERVICE_ECHO, &cfg, &err) == NAM_OK);
	CHECK(j->fix, net_call(j->w, 1, NET_SERVICE_ECHO, "x", 1, back[0], 1, NULL) == NAM_OK);
	for (unsigned i = 0; i < OUT; i++) {
		c[i] = (struct net_call){ .region = 1,
			.service = NET_SERVICE_ECHO,
			.request = "abc",
			.len = 3,
			.answer = back[i],
			.cap = 64 };
		net_call_start(j->w, &c[i]);
		if (i == OUT / 2) {
			nam_co_yield();
			net_declare_lost(net_worker_net(j->w), 1);
		}
	}
	for (unsigned i = 0; i < OUT; i++) {
		nam_status st = net_call_wait(&c[i]);
		CHECK(j->fix, st == NAM_OK || st == NAM_GONE);
		CHECK(j->fix, st == NAM_GONE || i <= OUT / 2);
		CHECK(
		    j->fix, st == NAM_GONE ? c[i].got == 0 : c[i].got == 3 && memcmp(back[i], "abc", 3) == 0);
	}
	CHECK(j->fix, net_call(j->w, 1, NET_SERVICE_ECHO, "x", 1, back[0], 1, NULL) == NAM_GONE);
	CHECK(j->fix, net_call_open(j->w, 1, NET_SERVICE_ECHO, &cfg, &err) == NAM_GONE);
	CHECK(j->fix, net_call(j->w, 2, NET_SERVICE_ECHO, "x", 1, back[0], 1, NULL) == NAM_OK);
}

static void
lost(struct fixture *fix)
{
	net_conf_start(fix, 0, 1, 1, 0, lost_co);
}

/* A service that does not come back: the call ends with its timeout, and a new channel works once
 * the shard is free. */
static void
stall_co(struct job *j)
{
	struct nam_err err;
	const struct net_call_config hasty = { .timeout_ms = 60 }, calm = { .timeout_ms = 10000 };
	uint32_t ms = 400;
	char back[8];
	if (j->fix->env->kind == NET_SIM)
		return; /* handlers take no time there; net/sim/sim_test.c pauses the node
			 * instead */
	CHECK(j->fix, net_call_open(j->w, 1, STALL, &hasty, &err) == NAM_OK);
	uint64_t from = net_now_ns(j->w);
	CHECK(j->fix, net_call(j->w, 1, STALL, &ms, 4, NULL, 0, NULL) == NAM_GONE);
	CHECK(j->fix, net_now_ns(j->w) - from < 380000000);
	CHECK(j->fix, net_call(j->w, 1, NET_SERVICE_ECHO, "x", 1, back, 1, NULL) == NAM_GONE);
	/* One-sided verbs do not need the shard. */
	uint64_t word;
	CHECK(j->fix, net_read1(j->w, net_at(1, 0), &word, 8, NULL) == NAM_OK);
	CHECK(j->fix, net_call_open(j->w, 1, NET_SERVICE_ECHO, &calm, &err) == NAM_OK);
	CHECK(j->fix, net_call(j->w, 1, NET_SERVICE_ECHO, "x", 1, back, 1, NULL) == NAM_OK);
}

static void
stalled(struct fixture *fix)
{
	net_conf_start(fix, 0, 1, 1, 0, stall_co);
}

/* The idle hook does what a request left to it, while other requests are answered, and without any;
 * then it is not called again until a request comes. */
static void
chores_co(struct job *j)
{
	enum { PIECES = 300 };
	unsigned char from[200], back[208];
	uint64_t pieces = PIECES, none = 0, was[3], is[3];
	uint32_t got = 0;
	open_with(j, 1, NET_EVENTS, 0, 0);
	CHECK(j->fix, net_call(j->w, 1, CHORE, &none, 8, was, sizeof was, &got) == NAM_OK);
	CHECK(j->fix, got == sizeof was && was[0] == 0);
	CHECK(j->fix, net_call(j->w, 1, CHORE, &pieces, 8, is, sizeof is, &got) == NAM_OK);
	CHECK(j->fix, is[0] == PIECES && is[1] == was[1]);
	for (uint64_t i = 0; i < 5; i++)
		echo_once(j, 1, from, back, 100, i);
	uint64_t until = net_now_ns(j->w) + UINT64_C(20000000000);
	while (is[0] != 0 && net_now_ns(j->w) < until) {
		net_sleep(j->w, 1000000);
		CHECK(j->fix, net_call(j->w, 1, CHORE, &none, 8, is, sizeof is, &got) == NAM_OK);
	}
	CHECK(j->fix, is[0] == 0 && is[1] == was[1] + PIECES);
	/* Without requests, in event mode, the shard sleeps. A few calls belong to the requests
	 * themselves, and to a sleep that is interrupted. */
	net_sleep(j->w, 50000000);
	CHECK(j->fix, net_call(j->w, 1, CHORE, &none, 8, was, sizeof was, &got) == NAM_OK);
	net_sleep(j->w, 300000000);
	CHECK(j->fix, net_call(j->w, 1, CHORE, &none, 8, is, sizeof is, &got) == NAM_OK);
	CHECK(j->fix, is[2] > was[2] && is[2] < was[2] + 50);
}

static void
chores_left(struct fixture *fix)
{
	net_conf_start(fix, 0, 1, 1, 0, chores_co);
}

/* ---- all
 * --------------------------------------------------------------------------------------- */

static const struct net_conf_test tests[] = {
	{ "messages: sizes, polling", 1, 1, sizes_in_polling, NULL },
	{ "messages: sizes, events", 1, 1, sizes_in_events, NULL },
	{ "messages: laps of a small ring, polling", 1, 2, laps_in_polling, NULL },
	{ "messages: laps of a small ring, events", 1, 2, laps_in_events, NULL },
	{ "messages: more calls than fit, polling", 2, 2, crowded_in_polling, NULL },
	{ "messages: more calls than fit, events", 2, 2, crowded_in_events, NULL },
	{ "messages: long answers, polling", 1, 2, blown_in_polling, NULL },
	{ "messages: long answers, events", 1, 2, blown_in_events, NULL },
	{ "messages: long requests, polling", 1, 2, pushed_in_polling, NULL },
	{ "messages: long requests, events", 1, 2, pushed_in_events, NULL },
	{ "messages: refusals", 1, 1, refusals, NULL },
	{ "messages: modes in turn", 1, 2, switching, NULL },
	{ "messages: a node declared lost", 2, 1, lost, NULL },
	{ "messages: a service that stalls", 1, 1, stalled, NULL },
	{ "messages: work for the idle hook", 1, 1, chores_left, NULL },
};

int
net_conformance_services(const struct net_conf_env *env)
{
	int failed = 0;
	for (unsigned i = 0; i < sizeof tests / sizeof *tests; i++)
		failed += net_conf_run_test(env, &tests[i]);
	return failed;
}
