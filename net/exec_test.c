/* exec_test.c -- copies to and from shared memory never tear an aligned word, at any alignment and
 * length. */
#include <base/rng.h>
#include <net/exec.h>

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { WORDS = 64 };
static _Alignas(64) uint64_t region[WORDS];
static atomic_bool stop;

/* Every word always holds one byte value, eight times. */
static void *
flip(void *arg)
{
	(void)arg;
	struct nam_rng dice;
	nam_rng_init(&dice, 1);
	uint64_t one[WORDS];
	while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
		uint64_t v = nam_rng_below(&dice, 256) * UINT64_C(0x0101010101010101);
		for (unsigned i = 0; i < WORDS; i++)
			one[i] = v;
		/* at an odd place of the source, and in the region from a word's start */
		char source[sizeof one + 8];
		unsigned from = (unsigned)nam_rng_below(&dice, 8);
		memcpy(source + from, one, sizeof one);
		unsigned first = (unsigned)nam_rng_below(&dice, WORDS),
			 n = (unsigned)nam_rng_below(&dice, WORDS - first) + 1;
		net_copy_in(region + first, source + from, n * 8);
	}
	return NULL;
}

static void
no_torn_words(void **state)
{
	(void)state;
	struct nam_rng dice;
	nam_rng_init(&dice, 2);
	pthread_t t;
	assert_int_equal(pthread_create(&t, NULL, flip, NULL), 0);
	unsigned torn = 0, naive = 0;
	for (unsigned round = 0; round < 100000; round++) {
		char into[sizeof region + 8];
		unsigned to = (unsigned)nam_rng_below(&dice, 8);
		unsigned off = (unsigned)nam_rng_below(&dice, sizeof region);
		unsigned len = (unsigned)nam_rng_below(&dice, sizeof region - off) + 1;
		if (round % 4 == 0) { /* short ones: where memcpy loads overlapping pieces */
			off &= ~7u;
			len = 8 + len % 9;
			if (off + len > sizeof region)
				continue;
		}
		net_copy_out(into + to, (char *)region + off, len);
		for (unsigned at = (off + 7) & ~7u; at + 8 <= off + len; at += 8) {
			uint64_t v;
			memcpy(&v, into + to + (at - off), 8);
			torn += v != (v & 255) * UINT64_C(0x0101010101010101);
		}
#if !NET_EXEC_WORDS
		/* The naive twin: what plain memcpy would have read. Shows that this test can
		 * see. */
		memcpy(into + to, (char *)region + off, len);
		for (unsigned at = (off + 7) & ~7u; at + 8 <= off + len; at += 8) {
			uint64_t v;
			memcpy(&v, into + to + (at - off), 8);
			naive += v != (v & 255) * UINT64_C(0x0101010101010101);
		}
#endif
		if (round % 1024 == 0)
			sched_yield();
	}
	atomic_store(&stop, true);
	pthread_join(t, NULL);
	print_message("torn words: %u; memcpy's: %u\n", torn, naive);
	assert_int_equal(torn, 0);
}

/* Copies are copies: compared with memcpy at every alignment, edges untouched. */
static void
exact(void **state)
{
	(void)state;
	static _Alignas(8) char shared[128], mine[128], want[128];
	for (unsigned at = 0; at < 16; at++)
		for (unsigned from = 0; from < 16; from++)
			for (unsigned len = 0; len < 80; len++) {
				for (unsigned i = 0; i < sizeof mine; i++) {
					mine[i] = (char)(i + 1);
					shared[i] = want[i] = (char)~i;
				}
				memcpy(want + at, mine + from, len);
				net_copy_in(shared + at, mine + from, len);
				assert_memory_equal(shared, want, sizeof want);
				memcpy(want, mine, sizeof want);
				memcpy(want + from, shared + at, len);
				net_copy_out(mine + from, shared + at, len);
				assert_memory_equal(mine, want, sizeof want);
			}
}

/* Of whole lines a copy past the caches is one too; of other bytes it says no, and touches none. */
static void
streams(void **state)
{
	(void)state;
	static _Alignas(64) char shared[512], mine[512], want[512];
	for (unsigned i = 0; i < sizeof mine; i++) {
		mine[i] = (char)(i * 7 + 1);
		shared[i] = want[i] = (char)~i;
	}
	if (net_copy_stream(shared + 64, mine + 128, 192)) {
		net_fence_streams();
		memcpy(want + 64, mine + 128, 192);
	}
	assert_memory_equal(shared, want, sizeof want);
	assert_false(net_copy_stream(shared + 8, mine, 64));
	assert_false(net_copy_stream(shared, mine + 16, 64));
	assert_false(net_copy_stream(shared, mine, 72));
	assert_memory_equal(shared, want, sizeof want);
}

static void
atomics(void **state)
{
	(void)state;
	uint64_t word = 5;
	assert_int_equal(net_exec_cas(&word, 4, 9), 5);
	assert_int_equal(word, 5);
	assert_int_equal(net_exec_cas(&word, 5, 9), 5);
	assert_int_equal(word, 9);
	assert_int_equal(net_exec_faa(&word, UINT64_MAX), 9);
	assert_int_equal(word, 8);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exact),
		cmocka_unit_test(streams),
		cmocka_unit_test(atomics),
		cmocka_unit_test(no_torn_words),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
