/*
 * learned_twin_test.c -- proof that the judge of learned_model.h detects errors: the training
 * built again, broken in one place, must be caught.
 *
 * This file contains the room's sources once more, and so has their fault points (base/fault.h) in
 * every build.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* clang-format off */
#include "train.c"
#include "sub.c"
/* clang-format on */

#include <index/learned/learned_model.h>

/* Asks a sub-model for each of its fences, for their neighbours, and for keys between them. */
static void
ask(const struct model_leaves *l, const struct idx_sub *s, struct nam_rng *r, struct model_sum *sum)
{
	unsigned last = l->words - 1;
	for (uint64_t i = model_covers(l, s->base, 0); i < l->n; i++) {
		if (!s->last && idx_words_order(l->f[i].key, s->end, l->words) >= 0)
			return;
		for (unsigned k = 0; k < 4; k++) {
			uint64_t key[IDX_LKEY_WORDS];
			struct idx_guess g;
			memcpy(key, l->f[i].key, sizeof key);
			key[last] += k == 3 ? nam_rng_next(r) >> nam_rng_below(r, 64) : k - UINT64_C(1);
			if (idx_words_order(key, s->base, l->words) < 0 ||
			    (!s->last && idx_words_order(key, s->end, l->words) >= 0))
				continue;
			idx_sub_guess(s, key, &g);
			model_judge(l, key, &g, sum);
		}
	}
}

/* Guesses that missed a leaf, of all sets of keys. */
static uint64_t
missed(enum nam_fault fault)
{
	struct idx_sub *s = malloc(sizeof *s);
	struct model_sum sum = { 0 };
	nam_fault_on = fault;
	for (unsigned kind = 0; kind < KEYS_KINDS; kind++) {
		struct model_leaves l;
		struct nam_rng r;
		uint64_t n = 100000, base[IDX_LKEY_WORDS] = { 0 };
		uint64_t *keys = model_make(kind, 1, &n);
		model_build(&l, keys, n, model_words(kind), 12, MIXED);
		struct idx_fences source = model_source(&l);
		nam_rng_init(&r, 2);
		do {
			assert_int_equal(idx_sub_train(s, l.words, &source, base, NULL), NAM_OK);
			ask(&l, s, &r, &sum);
			memcpy(base, s->end, 8 * l.words);
		} while (!s->last);
		free(l.f);
		free(keys);
	}
	free(s);
	nam_fault_on = NAM_FAULT_NONE;
	assert_true(sum.lookups > 100000);
	return sum.missed;
}

static void
the_sound_one_is_not_caught(void **state)
{
	(void)state;
	assert_int_equal(missed(NAM_FAULT_NONE), 0);
}

static void
twins_are_caught(void **state)
{
	(void)state;
	static const enum nam_fault want[] = { NAM_FAULT_PRESENT_KEYS, NAM_FAULT_STEP_NEAREST };
	for (unsigned i = 0; i < sizeof want / sizeof *want; i++) {
		uint64_t n = missed(want[i]);
		print_message(
		    "fault %s: %llu guesses missed a leaf\n", nam_fault_name[want[i]], (unsigned long long)n);
		assert_true(n > 0);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_sound_one_is_not_caught),
		cmocka_unit_test(twins_are_caught),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
