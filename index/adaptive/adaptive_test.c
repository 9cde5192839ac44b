/*
 * adaptive_test.c -- clients that choose between READs and messages, and a storage node with one
 * core, in virtual time.
 */
#include <index/adaptive.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

/* A busy node: runs of READs, of random lengths from [0, N), [N, 2N), ...; then the way back. */
static void
back_off(void **state)
{
	(void)state;
	enum { N = 16, CLIENTS = 200 };
	unsigned first_runs[N] = { 0 };
	for (unsigned c = 0; c < CLIENTS; c++) {
		struct idx_adaptive a;
		const struct idx_adaptive_config cfg = {
			.rounds = N, .busy_permille = 800, .probe = UINT32_MAX
		};
		idx_adaptive_init(&a, &cfg, c);
		/* Messages are faster here, as long as the node is not busy. */
		idx_adaptive_done(&a, IDX_WAY_READS, 8000);
		idx_adaptive_done(&a, IDX_WAY_MESSAGE, 3000);
		assert_int_equal(idx_adaptive_choose(&a), IDX_WAY_MESSAGE);
		for (uint64_t beat = 1; beat <= 10; beat++) {
			uint64_t run = 0;
			idx_adaptive_heard(&a, beat, 950);
			while (idx_adaptive_choose(&a) == IDX_WAY_READS)
				run++;
			assert_true(run >= (beat - 1) * N && run < beat * N);
			if (beat == 1)
				first_runs[run]++;
			/* No news: it stays with messages; the same heartbeat again is none. */
			idx_adaptive_heard(&a, beat, 950);
			assert_int_equal(idx_adaptive_choose(&a), IDX_WAY_MESSAGE);
		}
		idx_adaptive_heard(&a, 11, 790);
		assert_int_equal(idx_adaptive_choose(&a), IDX_WAY_MESSAGE);
		assert_int_equal(a.busy, 0);
		/* And the back-off begins from the front. */
		uint64_t run = 0;
		idx_adaptive_heard(&a, 12, 1000);
		while (idx_adaptive_choose(&a) == IDX_WAY_READS)
			run++;
		assert_true(run < N);
	}
	/* The clients do not come back at once. */
	for (unsigned i = 0; i < N; i++)
		assert_true(first_runs[i] > 0 && first_runs[i] < CLIENTS / 4);
}

/* A heartbeat that comes while searches by READs are left does not add to them twice. */
static void
news_meanwhile(void **state)
{
	(void)state;
	struct idx_adaptive a;
	const struct idx_adaptive_config cfg = { .rounds = 4 };
	idx_adaptive_init(&a, &cfg, 1);
	for (uint64_t beat = 1; beat < 1000; beat++) {
		idx_adaptive_heard(&a, beat, 1000);
		idx_adaptive_choose(&a);
		/* busy and left grow together, by N at most. */
		assert_true(a.left < (uint64_t)a.busy * 4);
		assert_true(a.busy <= beat);
	}
	assert_true(a.busy > 100);
}

static void
the_faster_way(void **state)
{
	(void)state;
	for (unsigned faster = 0; faster < IDX_WAYS; faster++) {
		struct idx_adaptive a;
		idx_adaptive_init(&a, NULL, 3);
		for (unsigned i = 0; i < 10000; i++) {
			enum idx_way way = idx_adaptive_choose(&a);
			idx_adaptive_done(&a, way, way == faster ? 3000 : 5000);
		}
		/* It learns both, and tries the other way one time in 64. */
		assert_in_range(a.taken[1 - faster], 10000 / 64 - 2, 10000 / 64 + 2);
		/* The times change: so does the way. */
		uint64_t was = a.taken[faster];
		for (unsigned i = 0; i < 10000; i++) {
			enum idx_way way = idx_adaptive_choose(&a);
			idx_adaptive_done(&a, way, way == faster ? 9000 : 5000);
		}
		assert_true(a.taken[faster] - was < 400);
	}
}

/* ---- clients and a node ---------------------------------------------------------------- */

struct result {
	double searches_per_s, busy, by_reads;
};

enum choice { ADAPT, ALWAYS_READS, ALWAYS_MESSAGES };

/*
 * Each client makes a search, thinks, and so on. A message takes 4 us and 2 us of the node's core,
 * which serves one at a time. READs take 10 us, and 0.4 us of the node's link each. Heartbeats
 * tell how busy the core was in the last 10 ms.
 */
static struct result
play(unsigned clients, uint64_t think_ns, enum choice choice)
{
	enum {
		BEAT_NS = 10000000,
		BEATS = 60,
		SERVE_NS = 2000,
		WIRE_NS = 4000,
		READS_NS = 10000,
		LINK_NS = 400
	};
	struct idx_adaptive *a = calloc(clients, sizeof *a);
	uint64_t *at = calloc(clients, sizeof *at), core_free = 0, link_free = 0, used = 0, used_all = 0;
	uint64_t done = 0, beat = 0, next_beat = BEAT_NS, reads = 0;
	uint32_t load = 0;
	for (unsigned c = 0; c < clients; c++) {
		idx_adaptive_init(&a[c], NULL, c + 1);
		at[c] = 97 * c;
	}
	while (beat < BEATS) {
		unsigned c = 0;
		for (unsigned i = 1; i < clients; i++)
			c = at[i] < at[c] ? i : c;
		uint64_t now = at[c], end;
		if (now >= next_beat) {
			load = (uint32_t)(used * 1000 / BEAT_NS);
			used_all += beat >= BEATS / 2 ? used : 0;
			used = 0;
			next_beat += BEAT_NS;
			beat++;
			continue;
		}
		if (idx_adaptive_due(&a[c], now + 1))
			idx_adaptive_heard(&a[c], beat, load);
		enum idx_way way = choice == ADAPT          ? idx_adaptive_choose(&a[c])
				   : choice == ALWAYS_READS ? IDX_WAY_READS
							    : IDX_WAY_MESSAGE;
		if (way == IDX_WAY_MESSAGE) {
			core_free = (core_free > now ? core_free : now) + SERVE_NS;
			used += SERVE_NS;
			end = core_free + WIRE_NS;
		} else {
			link_free = (link_free > now ? link_free : now) + LINK_NS;
			end = link_free + READS_NS;
			reads += beat >= BEATS / 2;
		}
		idx_adaptive_done(&a[c], way, end - now);
		done += beat >= BEATS / 2;
		at[c] = end + think_ns;
	}
	free(a);
	free(at);
	const double seconds = (double)BEAT_NS * (BEATS / 2) / 1e9;
	return (struct result){ (double)done / seconds, (double)used_all / 1e9 / seconds,
		(double)reads / (double)done };
}

static void
a_cluster(void **state)
{
	(void)state;
	/* Few clients: the node is idle, messages are faster, and nearly all searches take
	 * them. */
	struct result few = play(2, 20000, ADAPT);
	print_message("2 clients: %.0f searches/s, %.2f busy, %.3f by READs\n", few.searches_per_s, few.busy,
	    few.by_reads);
	assert_true(few.by_reads < 0.05);
	assert_true(few.searches_per_s > 0.97 * play(2, 20000, ALWAYS_MESSAGES).searches_per_s);
	/* Many: the core is full; READs take the rest. Better than either way alone. */
	struct result many = play(64, 0, ADAPT), by_reads = play(64, 0, ALWAYS_READS),
		      by_messages = play(64, 0, ALWAYS_MESSAGES);
	print_message("64 clients: %.0f searches/s, %.2f busy, %.3f by READs; only READs %.0f, "
		      "only messages %.0f\n",
	    many.searches_per_s, many.busy, many.by_reads, by_reads.searches_per_s,
	    by_messages.searches_per_s);
	assert_true(many.searches_per_s > 0.98 * by_reads.searches_per_s);
	assert_true(many.searches_per_s > 3 * by_messages.searches_per_s);
	assert_true(many.by_reads > 0.5 && many.by_reads < 0.999);
	/* Between: the node has as much to do as it can. */
	struct result some = play(12, 10000, ADAPT);
	print_message("12 clients: %.0f searches/s, %.2f busy, %.3f by READs; only READs %.0f, "
		      "only messages %.0f\n",
	    some.searches_per_s, some.busy, some.by_reads, play(12, 10000, ALWAYS_READS).searches_per_s,
	    play(12, 10000, ALWAYS_MESSAGES).searches_per_s);
	assert_true(some.searches_per_s > play(12, 10000, ALWAYS_READS).searches_per_s);
	assert_true(some.searches_per_s > 0.95 * play(12, 10000, ALWAYS_MESSAGES).searches_per_s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(back_off),
		cmocka_unit_test(news_meanwhile),
		cmocka_unit_test(the_faster_way),
		cmocka_unit_test(a_cluster),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
