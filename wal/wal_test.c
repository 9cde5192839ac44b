/* wal_test.c -- the log: order, positions, cuts of power, damage, want of space. */
#include "wal_internal.h"

#include <base/hash.h>
#include <base/rng.h>
#include <base/rounds.h>
#include <wal/testing/faulty.h>
#include <wal/testing/scene.h>

#include <inttypes.h>
#include <lz4.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SECOND_EACH = 8 };
#define SEEDS nam_rounds(4, 2, 1)

static struct wal *
open_log(struct wal_dir *d)
{
	struct wal_config cfg;
	struct nam_err err;
	struct wal *w = NULL;
	wal_scene_config(&cfg, d);
	if (wal_open(&w, &cfg, &err) != NAM_OK)
		fail_msg("%s", err.text);
	return w;
}

static void
rest(struct wal *w)
{
	while (wal_step(w))
		continue;
}

static struct wal_state
state_of(const struct wal *w)
{
	struct wal_state st;
	wal_state(w, &st);
	return st;
}

static uint32_t
begin(struct wal *w, uint64_t cluster)
{
	uint32_t life = 0;
	assert_int_equal(wal_begin(w, cluster, &life), NAM_OK);
	rest(w); /* its first segments */
	return life;
}

static void
append_text(struct wal *w, uint32_t life, const char *text)
{
	uint64_t end;
	assert_int_equal(wal_append(w, life, text, (uint32_t)strlen(text), false, &end), NAM_OK);
}

/* A log whose life 1 has been filled and published, and whose process has ended. */
static struct wal_dir *
played(struct wal_scene *s, uint64_t seed)
{
	struct wal_dir *d = wal_faulty_open(seed);
	wal_scene_play_whole(s, seed, d);
	wal_faulty_end(d);
	assert_string_equal(s->broken, "");
	return d;
}

static void
a_record_comes_back(void **state)
{
	(void)state;
	struct wal_dir *d = wal_faulty_open(1);
	struct wal *w = open_log(d);
	struct wal_state st = state_of(w);
	char out[64];
	uint32_t got;
	uint64_t next, end;
	struct nam_err err;
	assert_int_equal(st.published, 0);
	assert_int_equal(st.cluster, 0);
	assert_int_equal(wal_read(w, 0, out, sizeof out, &got, &next, &err), NAM_ABSENT);
	assert_int_equal(wal_append(w, 1, "x", 1, false, &end), NAM_REFUSED);
	uint32_t life = begin(w, 9);
	assert_int_equal(life, 1);
	append_text(w, life, "one");
	append_text(w, life, "");
	append_text(w, life, "twelve bytes");
	st = state_of(w);
	assert_int_equal(st.received, 16 + 8 + 24);
	assert_int_equal(st.flushed, 0);
	rest(w);
	assert_int_equal(state_of(w).flushed, 48);
	assert_int_equal(state_of(w).published, 0);
	assert_int_equal(wal_publish(w, life + 1), NAM_REFUSED);
	assert_int_equal(wal_publish(w, life), NAM_OK);
	rest(w);
	assert_int_equal(state_of(w).published, life);
	assert_int_equal(wal_read(w, 0, out, sizeof out, &got, &next, &err), NAM_ABSENT);
	wal_close(w);
	wal_faulty_cut(d);
	w = open_log(d);
	st = state_of(w);
	assert_int_equal(st.published, life);
	assert_int_equal(st.cluster, 9);
	assert_int_equal(st.end, 48);
	assert_int_equal(wal_read(w, 0, out, 15, &got, &next, &err), NAM_INVALID);
	assert_int_equal(wal_read(w, 0, out, 40, &got, &next, &err), NAM_OK);
	assert_int_equal(got, 24);
	assert_memory_equal(out, "\3\0\0\0\0\0\0\0one\0\0\0\0\0\0\0\0\0\0\0\0\0", 24);
	assert_int_equal(wal_read(w, 24, out, 40, &got, &next, &err), NAM_OK);
	assert_int_equal(got, 24);
	assert_memory_equal(out, "\14\0\0\0\0\0\0\0twelve bytes\0\0\0\0", 24);
	assert_int_equal(wal_read(w, 48, out, 40, &got, &next, &err), NAM_OK);
	assert_int_equal(got, 0);
	assert_int_equal(wal_read(w, 8, out, 40, &got, &next, &err), NAM_INVALID);
	assert_int_equal(wal_read(w, 56, out, 40, &got, &next, &err), NAM_INVALID);
	/* The second life is written; the first can be read until then. */
	assert_int_equal(begin(w, 10), 2);
	assert_int_equal(wal_read(w, 16, out, 40, &got, &next, &err), NAM_OK);
	assert_int_equal(got, 32);
	wal_close(w);
	wal_faulty_close(d);
}

/* The published life is written by this process, then another one is begun: it can be read. */
static void
a_life_of_this_process_can_be_read(void **state)
{
	(void)state;
	struct wal_dir *d = wal_faulty_open(2);
	struct wal *w = open_log(d);
	char out[64];
	uint32_t got, life = begin(w, 9), other;
	uint64_t next;
	struct nam_err err;
	assert_int_equal(wal_begin(w, 0, &other), NAM_INVALID);
	assert_int_equal(wal_publish(w, life), NAM_OK);
	append_text(w, life, "kept");
	/* What was promised is done first. */
	assert_int_equal(wal_begin(w, 9, &other), NAM_BUSY);
	rest(w);
	append_text(w, life, "also");
	assert_int_equal(wal_begin(w, 9, &other), NAM_BUSY);
	rest(w);
	assert_int_equal(wal_begin(w, 9, &other), NAM_OK);
	rest(w);
	assert_int_equal(wal_read(w, 0, out, sizeof out, &got, &next, &err), NAM_OK);
	assert_int_equal(got, 32);
	append_text(w, other, "given up");
	rest(w);
	assert_int_equal(begin(w, 9), 3);
	rest(w);
	assert_int_equal(state_of(w).published, life);
	wal_close(w);
	/* No file of life 2 is left, and its number is not given out again. */
	uint64_t size;
	assert_null(wal_faulty_bytes(d, "log-00000002-00000000", &size));
	wal_faulty_cut(d);
	w = open_log(d);
	rest(w);
	assert_int_equal(begin(w, 9), 4);
	wal_close(w);
	wal_faulty_close(d);
}

static void
the_buffer_can_be_full(void **state)
{
	(void)state;
	struct wal_dir *d = wal_faulty_open(3);
	struct wal *w = open_log(d);
	static char bytes[WAL_RECORD_MAX + 1];
	uint32_t life;
	uint64_t end;
	assert_int_equal(wal_begin(w, 9, &life), NAM_OK);
	assert_int_equal(wal_append(w, life, bytes, WAL_RECORD_MAX + 1, false, &end), NAM_INVALID);
	assert_int_equal(wal_append(w, life, bytes, 64 << 10, false, &end), NAM_INVALID);
	/* There is no segment yet. */
	assert_int_equal(wal_append(w, life, bytes, 1000, false, &end), NAM_BUSY);
	rest(w);
	for (unsigned i = 0; i < 63; i++)
		assert_int_equal(wal_append(w, life, bytes, 1016, false, &end), NAM_OK);
	assert_int_equal(wal_append(w, life, bytes, 1024, false, &end), NAM_BUSY);
	assert_int_equal(wal_append(w, life, bytes, 1016, false, &end), NAM_OK);
	assert_int_equal(wal_append(w, life, bytes, 0, false, &end), NAM_BUSY);
	assert_true(wal_step(w));
	assert_int_equal(wal_append(w, life, bytes, 1016, false, &end), NAM_OK);
	rest(w);
	assert_int_equal(state_of(w).flushed, 65 << 10);
	wal_close(w);
	wal_faulty_close(d);
}

/* Large records, each in a block of its own or in one of many, in segments of the least size. */
static void
large_records(void **state)
{
	(void)state;
	struct wal_dir *d = wal_faulty_open(4);
	struct wal_config cfg = { .dir = d, .node = 3, .segment_bytes = 3 << 20, .buffer_bytes = 4 << 20 };
	struct wal *w;
	struct nam_err err;
	char *bytes = malloc(WAL_RECORD_MAX), *out = malloc(WAL_RECORD_MAX + 8);
	uint64_t end, next = 0;
	uint32_t life, got;
	assert_int_equal(wal_open(&w, &cfg, &err), NAM_OK);
	life = begin(w, 9);
	for (unsigned i = 0; i < 12; i++) {
		nam_status st;
		for (uint32_t k = 0; k < WAL_RECORD_MAX; k++)
			bytes[k] = (char)(i % 2 != 0 ? i : nam_mix(i + k));
		while ((st = wal_append(w, life, bytes, WAL_RECORD_MAX - i, false, &end)) == NAM_BUSY)
			assert_true(wal_step(w));
		assert_int_equal(st, NAM_OK);
	}
	wal_publish(w, life);
	rest(w);
	wal_close(w);
	assert_int_equal(wal_open(&w, &cfg, &err), NAM_OK);
	for (unsigned i = 0; i < 12; i++) {
		assert_int_equal(wal_read(w, next, out, WAL_RECORD_MAX + 8, &got, &next, &err), NAM_OK);
		assert_int_equal(got, 8 + (WAL_RECORD_MAX - i + 7) / 8 * 8);
		for (uint32_t k = 0; k < WAL_RECORD_MAX - i; k++)
			if (out[8 + k] != (char)(i % 2 != 0 ? i : nam_mix(i + k)))
				fail_msg("record %u differs at %u", i, k);
	}
	assert_int_equal(wal_read(w, next, out, WAL_RECORD_MAX + 8, &got, &next, &err), NAM_OK);
	assert_int_equal(got, 0);
	wal_close(w);
	free(bytes);
	free(out);
	wal_faulty_close(d);
}

/* ---- the format, read by the header wal_format.h alone ------------------------------------ */

static uint64_t
word(const char *p, unsigned at)
{
	uint64_t v;
	memcpy(&v, p + at, 8);
	return v;
}
static uint32_t
half_word(const char *p, unsigned at)
{
	uint32_t v;
	memcpy(&v, p + at, 4);
	return v;
}

/* One block's records are those of the life from *number on. Bytes of the block, 0 = none is here.
 */
static uint64_t
block_by_hand(const char *file, uint64_t at, uint32_t life, uint32_t segment, uint64_t *position,
    unsigned *number, unsigned *packed)
{
	static char raw[4 << 20], want[WAL_SCENE_LONGEST];
	const char *b = file + at, *records = b + 64;
	if (word(b, 0) == 0)
		return 0;
	assert_memory_equal(b, "NWALBLK1", 8);
	assert_int_equal(word(b, 8), 76 + life);
	assert_int_equal(half_word(b, 16), life);
	assert_int_equal(half_word(b, 20), segment);
	assert_int_equal(word(b, 24), *position);
	assert_int_equal(half_word(b, 32), at);
	uint32_t flags = half_word(b, 36), bytes = half_word(b, 40), stored = half_word(b, 44);
	assert_int_equal(word(b, 48), 0);
	assert_int_equal(word(b, 56), nam_hash(b, 56, nam_hash(b + 64, stored, 0)));
	if (flags == 1) {
		assert_int_equal(LZ4_decompress_safe(records, raw, (int)stored, sizeof raw), bytes);
		records = raw;
		++*packed;
	} else {
		assert_int_equal(flags, 0);
		assert_int_equal(stored, bytes);
	}
	uint32_t off = 0;
	while (off < bytes) {
		uint32_t len = wal_scene_record(life, (*number)++, want);
		assert_int_equal(half_word(records, off), len);
		assert_int_equal(half_word(records, off + 4), 0);
		assert_memory_equal(records + off + 8, want, len);
		for (uint32_t i = len; i % 8 != 0; i++)
			assert_int_equal(records[off + 8 + i], 0);
		off += 8 + (len + 7) / 8 * 8;
	}
	assert_int_equal(off, bytes);
	*position += bytes;
	return (64 + stored + 4095) / 4096 * 4096;
}

static void
the_format_is_as_its_header_says(void **state)
{
	(void)state;
	static struct wal_scene s;
	struct wal_dir *d = played(&s, 11);
	uint64_t size, position = 0;
	unsigned number = 0, packed = 0, blocks = 0;
	const char *m = wal_faulty_bytes(d, "manifest", &size);
	assert_int_equal(size, 4096);
	assert_memory_equal(m, "NWALMAN1", 8);
	assert_int_equal(half_word(m, 8), 3);
	assert_int_equal(half_word(m, 12), WAL_SCENE_NODE);
	assert_int_equal(word(m, 16), WAL_SCENE_CLUSTER + 2);
	assert_int_equal(half_word(m, 24), 3);
	assert_int_equal(half_word(m, 28), 3);
	assert_in_range(word(m, 32), 250000, 400000);
	for (unsigned at = 40; at < 248; at += 8)
		if (at != 56 && (at < 64 || at > 80) && at != 104 && at != 112)
			assert_int_equal(word(m, at), 0);
	/* What copies say: the database has the number of its first cluster; the only copy; the
	 * life before. */
	assert_int_equal(word(m, 72), WAL_SCENE_CLUSTER);
	assert_int_equal(word(m, 80), WAL_SCENE_NODE);
	assert_int_equal(word(m, 104), WAL_SCENE_CLUSTER);
	assert_int_equal(word(m, 112), 1);
	assert_int_equal(half_word(m, 60), 2);
	assert_int_equal(word(m, 64), s.life[3].promised);
	assert_int_equal(word(m, 248), nam_hash(m, 248, 0));
	for (uint32_t segment = 0;; segment++) {
		char name[64];
		snprintf(name, sizeof name, "log-00000003-%08x", segment);
		const char *f = wal_faulty_bytes(d, name, &size);
		assert_non_null(f);
		assert_int_equal(size, 128 << 10);
		if (word(f, 0) == 0)
			break;
		assert_memory_equal(f, "NWALSEG1", 8);
		assert_int_equal(half_word(f, 8), 3);
		assert_int_equal(half_word(f, 12), WAL_SCENE_NODE);
		assert_int_equal(word(f, 16), WAL_SCENE_CLUSTER + 2);
		assert_int_equal(half_word(f, 24), 3);
		assert_int_equal(half_word(f, 28), segment);
		assert_int_equal(word(f, 32), position);
		assert_int_equal(word(f, 40), nam_hash(f, 40, 0));
		uint64_t at = 4096, n;
		for (; at < size && (n = block_by_hand(f, at, 3, segment, &position, &number, &packed)) != 0;
		     at += n)
			blocks++;
		for (; at < size; at++)
			assert_int_equal(f[at], 0);
	}
	assert_int_equal(number, s.life[3].records);
	assert_int_equal(position, s.life[3].received);
	assert_in_range(packed, 1, blocks - 1);
	/* Of the lives before nothing is left. */
	assert_null(wal_faulty_bytes(d, "log-00000001-00000000", &size));
	assert_null(wal_faulty_bytes(d, "log-00000002-00000000", &size));
	wal_faulty_close(d);
}

/* ---- cuts of power ------------------------------------------------------------------------- */

static void
no_error(const struct wal_scene *s, uint64_t at, uint64_t second)
{
	if (s->broken[0] != 0)
		fail_msg("cut at call %" PRIu64 ", then at %" PRIu64 ": %s", at, second, s->broken);
}

/* The power goes again at each call while the next process opens the log and clears up. */
static unsigned
cut_again(struct wal_scene *s, struct wal_dir *d, uint64_t at, const struct wal_scene_found *first)
{
	unsigned cuts = 0;
	for (uint64_t second = 1;; second++, cuts++) {
		struct wal_dir *d2 = wal_faulty_copy(d, at * 1000 + second);
		struct wal_scene_found found;
		wal_faulty_stop_at(d2, second);
		wal_scene_rest(d2);
		bool stopped = wal_faulty_stopped(d2);
		wal_faulty_cut(d2);
		wal_scene_check(s, d2, false, &found);
		no_error(s, at, second);
		assert_int_equal(found.published, first->published);
		assert_int_equal(found.end, first->end);
		wal_faulty_close(d2);
		if (!stopped)
			return cuts;
	}
}

static void
a_cut_at_each_call(void **state)
{
	(void)state;
	static struct wal_scene s;
	unsigned cuts = 0, second = 0, lives[4] = { 0 };
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		bool stopped = true;
		for (uint64_t at = 1; stopped; at++) {
			struct wal_scene_found found;
			struct wal_dir *d = wal_faulty_open(seed * 100000 + at);
			wal_faulty_stop_at(d, at);
			wal_scene_play(&s, seed, d);
			no_error(&s, at, 0);
			stopped = wal_faulty_stopped(d);
			wal_faulty_cut(d);
			wal_scene_check(&s, d, false, &found);
			no_error(&s, at, 0);
			lives[found.published]++;
			cuts++;
			if (at % SECOND_EACH == seed)
				second += cut_again(&s, d, at, &found);
			wal_faulty_close(d);
		}
	}
	printf("%u cuts, %u second ones; published: none %u, life 1 %u, life 3 %u\n", cuts, second, lives[0],
	    lives[1], lives[3]);
	assert_true(lives[0] > 0 && lives[1] > 0 && lives[3] > 0 && lives[2] == 0);
}

/* A process ends at each call; what the next one has read stays, though the power goes then. */
static void
an_end_at_each_call(void **state)
{
	(void)state;
	static struct wal_scene s;
	bool stopped = true;
	for (uint64_t at = 1; stopped; at++) {
		struct wal_scene_found first, found;
		struct wal_dir *d = wal_faulty_open(at);
		wal_faulty_stop_at(d, at);
		wal_scene_play(&s, 21, d);
		stopped = wal_faulty_stopped(d);
		wal_faulty_end(d);
		wal_scene_check(&s, d, false, &first);
		no_error(&s, at, 0);
		wal_faulty_cut(d);
		wal_scene_check(&s, d, false, &found);
		no_error(&s, at, 1);
		assert_int_equal(found.published, first.published);
		assert_int_equal(found.end, first.end);
		wal_faulty_close(d);
	}
}

/* ---- damage -------------------------------------------------------------------------------- */

/* Segments before the begin are gone; the manifest says so, and a flip in any of the others is told
 * or harmless. */
static void
a_life_with_its_begin_cut_off(void **state)
{
	(void)state;
	static struct wal_scene s;
	uint64_t size;
	unsigned shortened = 0;
	for (uint64_t seed = 51; seed < 60; seed++) {
		struct wal_dir *d = wal_faulty_open(seed);
		struct wal_scene_found found;
		char name[64];
		wal_scene_play(&s, seed, d);
		wal_faulty_end(d);
		no_error(&s, seed, 0);
		const char *m = wal_faulty_bytes(d, "manifest", &size);
		uint64_t begin = s.life[3].cut[1].position, first = half_word(m, 56);
		assert_int_equal(word(m, 40), begin);
		shortened += first > 0;
		for (unsigned k = 0; k <= first; k++) {
			snprintf(name, sizeof name, "log-00000003-%08x", k);
			assert_int_equal(wal_faulty_bytes(d, name, &size) != NULL, k == first);
		}
		const char *f = wal_faulty_bytes(d, name, &size);
		assert_int_equal(word(f, 32), word(m, 48));
		assert_true(word(m, 48) <= begin);
		snprintf(name, sizeof name, "log-00000003-%08x", (unsigned)first + 1);
		f = wal_faulty_bytes(d, name, &size);
		assert_true(f == NULL || word(f, 0) == 0 || word(f, 32) > begin);
		wal_scene_check(&s, d, false, &found);
		no_error(&s, seed, 1);
		assert_int_equal(found.begin, begin);
		assert_int_equal(found.end, s.life[3].received);
		wal_faulty_close(d);
	}
	assert_true(shortened > 2);
}

/* A position that no record has yet, another life's, one that has been cut off. */
static void
cuts_that_are_not(void **state)
{
	(void)state;
	struct wal_dir *d = wal_faulty_open(61);
	struct wal *w = open_log(d);
	char out[64];
	uint32_t got;
	uint64_t next;
	struct nam_err err;
	assert_int_equal(wal_cut(w, 1, 0), NAM_REFUSED);
	uint32_t life = begin(w, 9);
	append_text(w, life, "one");
	append_text(w, life, "two");
	assert_int_equal(wal_cut(w, life, 33), NAM_INVALID);
	assert_int_equal(wal_cut(w, life + 1, 16), NAM_REFUSED);
	/* It is not the database yet. */
	assert_int_equal(wal_cut(w, life, 16), NAM_OK);
	rest(w);
	assert_int_equal(state_of(w).begin, 0);
	assert_int_equal(wal_publish(w, life), NAM_OK);
	rest(w);
	assert_int_equal(state_of(w).begin, 16);
	assert_int_equal(wal_cut(w, life, 0), NAM_OK);
	assert_int_equal(wal_cut(w, life, 32), NAM_OK);
	rest(w);
	assert_int_equal(state_of(w).begin, 32);
	append_text(w, life, "3");
	rest(w);
	wal_close(w);
	w = open_log(d);
	assert_int_equal(state_of(w).begin, 32);
	assert_int_equal(wal_read(w, 0, out, sizeof out, &got, &next, &err), NAM_OK);
	assert_int_equal(got, 16);
	assert_int_equal(next, 48);
	assert_memory_equal(out, "\1\0\0\0\0\0\0\0003\0\0\0\0\0\0\0", 16);
	/* The next life begins at its begin. */
	life = begin(w, 9);
	append_text(w, life, "4");
	assert_int_equal(wal_publish(w, life), NAM_OK);
	rest(w);
	assert_int_equal(state_of(w).begin, 0);
	wal_close(w);
	w = open_log(d);
	assert_int_equal(wal_read(w, 0, out, sizeof out, &got, &next, &err), NAM_OK);
	assert_memory_equal(out, "\1\0\0\0\0\0\0\0004\0\0\0\0\0\0\0", 16);
	wal_close(w);
	wal_faulty_close(d);
}

/* A cut that has no space refuses no record, and is made when there is some. */
static void
no_space_for_a_cut(void **state)
{
	(void)state;
	struct wal_dir *d = wal_faulty_open(62);
	struct wal *w = open_log(d);
	uint64_t size;
	uint32_t life = begin(w, 9);
	append_text(w, life, "one");
	append_text(w, life, "two");
	assert_int_equal(wal_publish(w, life), NAM_OK);
	rest(w);
	wal_faulty_room(d, state_of(w).files);
	assert_int_equal(wal_cut(w, life, 16), NAM_OK);
	for (unsigned i = 0; i < 100; i++)
		rest(w);
	assert_int_equal(state_of(w).begin, 0);
	assert_int_equal(state_of(w).condition, WAL_WELL);
	assert_true(state_of(w).cut_lacks);
	append_text(w, life, "three");
	rest(w);
	assert_int_equal(state_of(w).flushed, state_of(w).received);
	wal_faulty_room(d, UINT64_MAX);
	for (unsigned i = 0; i < 100; i++)
		rest(w);
	assert_int_equal(state_of(w).begin, 16);
	assert_false(state_of(w).cut_lacks);
	assert_non_null(wal_faulty_bytes(d, "manifest", &size));
	wal_close(w);
	wal_faulty_close(d);
}

/* Segments that were cut off go, though records wait at each step. */
static void
swept_under_load(void **state)
{
	(void)state;
	struct wal_dir *d = wal_faulty_open(63);
	struct wal *w = open_log(d);
	char bytes[3000];
	uint64_t end = 0, most = 0;
	uint32_t life = begin(w, 9);
	memset(bytes, 7, sizeof bytes);
	for (unsigned i = 0; i < sizeof bytes; i++)
		bytes[i] = (char)nam_mix(i);
	assert_int_equal(wal_publish(w, life), NAM_OK);
	for (unsigned i = 1; i <= 6000; i++) {
		nam_status st;
		while ((st = wal_append(w, life, bytes, sizeof bytes, false, &end)) == NAM_BUSY)
			wal_step(w);
		assert_int_equal(st, NAM_OK);
		wal_step(w);
		if (i % 100 == 0)
			assert_int_equal(wal_cut(w, life, end), NAM_OK);
		if (state_of(w).files > most)
			most = state_of(w).files;
	}
	printf("%llu segments at most\n", (unsigned long long)(most / (128 << 10)));
	assert_true(most < 16 * (128 << 10));
	wal_close(w);
	wal_faulty_close(d);
}

/* Where the last block of the life begins: its segment, place, position. */
static void
last_block(struct wal_dir *d, uint32_t life, uint32_t *segment, uint64_t *at, uint64_t *position)
{
	char name[64];
	uint64_t size;
	const char *f;
	for (uint32_t k = 0;; k++) {
		snprintf(name, sizeof name, "log-%08x-%08x", life, k);
		if ((f = wal_faulty_bytes(d, name, &size)) == NULL || word(f, 0) == 0)
			return;
		for (uint64_t p = 4096; p < size && word(f, (unsigned)p) != 0;
		     p += (64 + half_word(f, (unsigned)p + 44) + 4095) / 4096 * 4096) {
			*segment = k;
			*at = p;
			*position = word(f, (unsigned)p + 24);
		}
	}
}

static void
a_flip_of_each_sector(void **state)
{
	(void)state;
	static struct wal_scene s;
	struct nam_rng dice;
	unsigned corrupt = 0, harmless = 0, cut = 0;
	struct wal_dir *d = played(&s, 31);
	uint32_t last_segment = 0;
	uint64_t last_at = 0, last_position = 0, size, life_end = s.life[3].received;
	nam_rng_init(&dice, 31);
	last_block(d, 3, &last_segment, &last_at, &last_position);
	for (int k = -1;; k++) {
		char name[64] = "manifest";
		if (k >= 0)
			snprintf(name, sizeof name, "log-00000003-%08x", (unsigned)k);
		char *f = wal_faulty_bytes(d, name, &size);
		if (f == NULL)
			break;
		for (uint64_t at = 0; at < size; at += 512) {
			struct wal_scene_found found;
			uint64_t byte = at + nam_rng_below(&dice, at == 0 ? 40 : 512);
			char flip = (char)(1u << nam_rng_below(&dice, 8));
			f[byte] ^= flip;
			wal_scene_check(&s, d, true, &found);
			f[byte] ^= flip;
			no_error(&s, byte, 0);
			bool in_last = k == (int)last_segment && byte >= last_at;
			if (found.st == NAM_CORRUPT) {
				corrupt++;
				assert_non_null(strstr(found.text, name));
			} else if (found.end == life_end)
				harmless++;
			else {
				/* Nothing tells it from a block that was under way. */
				assert_true(in_last && found.end == last_position);
				cut++;
			}
		}
	}
	printf("%u flips are refused, %u harmless, %u cut the last block off\n", corrupt, harmless, cut);
	assert_true(corrupt > 400 && harmless > 100 && cut > 0);
	wal_faulty_close(d);
}

static void
a_flip_behind_the_back(void **state)
{
	(void)state;
	static struct wal_scene s;
	struct wal_dir *d = played(&s, 32);
	struct wal *w = open_log(d);
	static char out[WAL_SCENE_LONGEST + 8];
	uint64_t size, next = 0;
	uint32_t got;
	struct nam_err err;
	nam_status st;
	wal_faulty_bytes(d, "log-00000003-00000001", &size)[4096 + 100] ^= 1;
	while ((st = wal_read(w, next, out, sizeof out, &got, &next, &err)) == NAM_OK && got != 0)
		continue;
	assert_int_equal(st, NAM_CORRUPT);
	assert_non_null(strstr(err.text, "log-00000003-00000001 is damaged at offset 4096"));
	wal_close(w);
	wal_faulty_close(d);
}

static void
a_missing_file(void **state)
{
	(void)state;
	static struct wal_scene s;
	static const char *const names[] = { "log-00000003-00000000", "log-00000003-00000001", "manifest" };
	for (unsigned i = 0; i < 3; i++) {
		struct wal_dir *d = played(&s, 33);
		struct wal_scene_found found;
		struct nam_err err;
		assert_int_equal(d->ops->remove(d, names[i], &err), NAM_OK);
		assert_int_equal(d->ops->sync_dir(d, &err), NAM_OK);
		wal_scene_check(&s, d, true, &found);
		assert_int_equal(found.st, NAM_CORRUPT);
		assert_non_null(strstr(found.text, names[i]));
		assert_non_null(strstr(found.text, "missing"));
		wal_faulty_close(d);
	}
}

/* The last block but one is lost, and the last one is there: damage, not an end. */
static void
a_hole_is_no_end(void **state)
{
	(void)state;
	struct wal_dir *d = wal_faulty_open(34);
	struct wal *w = open_log(d);
	struct nam_err err;
	struct wal_config cfg;
	uint64_t size;
	uint32_t life = begin(w, 9);
	wal_publish(w, life);
	rest(w);
	for (unsigned i = 0; i < 3; i++) {
		append_text(w, life, "a block of its own");
		rest(w);
	}
	wal_close(w);
	wal_scene_config(&cfg, d);
	char *f = wal_faulty_bytes(d, "log-00000001-00000000", &size);
	memset(f + 2 * 4096, 0, 4096);
	assert_int_equal(wal_open(&w, &cfg, &err), NAM_CORRUPT);
	assert_non_null(strstr(err.text, "log-00000001-00000000 is damaged at offset 8192"));
	memset(f + 3 * 4096, 0, 4096);
	assert_int_equal(wal_open(&w, &cfg, &err), NAM_OK);
	assert_int_equal(state_of(w).end, 32);
	wal_close(w);
	/* Another version, another node. */
	f = wal_faulty_bytes(d, "manifest", &size);
	f[8] = 4;
	uint64_t check = nam_hash(f, 248, 0);
	memcpy(f + 248, &check, 8);
	assert_int_equal(wal_open(&w, &cfg, &err), NAM_REFUSED);
	f[8] = 3;
	check = nam_hash(f, 248, 0);
	memcpy(f + 248, &check, 8);
	cfg.node = 4;
	assert_int_equal(wal_open(&w, &cfg, &err), NAM_REFUSED);
	assert_non_null(strstr(err.text, "storage node 3"));
	wal_faulty_close(d);
}

/* ---- copies on several nodes ---- */

static void
publish_and_rest(struct wal *w, uint32_t life, const struct wal_copies *copies)
{
	assert_int_equal(copies != NULL ? wal_publish_as(w, life, copies) : wal_publish(w, life), NAM_OK);
	rest(w);
	assert_int_equal(state_of(w).published, life);
}

static void
a_manifest_tells_of_copies(void **state)
{
	(void)state;
	struct wal_dir *d = wal_faulty_open(51);
	struct wal *w = open_log(d);
	struct wal_copies is, as = {
		.database = 77, .copy = { 2, WAL_SCENE_NODE, 5 }, .former = { { .cluster = 8, .life = 4 } }
	};
	uint32_t life;
	assert_int_equal(wal_lost(w, 5), NAM_ABSENT);
	/* The copies of a log give a life one number. */
	assert_int_equal(wal_begin_from(w, 9, 6, &life), NAM_OK);
	assert_int_equal(life, 6);
	assert_int_equal(state_of(w).lives, 6);
	assert_int_equal(wal_begin_from(w, 9, 6, &life), NAM_OK);
	assert_int_equal(life, 7);
	publish_and_rest(w, life, &as);
	wal_copies_now(w, &is);
	assert_memory_equal(&is, &as, sizeof is);
	/* Nodes that are lost. */
	assert_int_equal(wal_lost(w, WAL_SCENE_NODE), NAM_REFUSED);
	assert_int_equal(wal_lost(w, 0), NAM_REFUSED);
	assert_int_equal(wal_lost(w, 5), NAM_OK);
	assert_int_equal(wal_lost(w, 5), NAM_OK);
	assert_int_equal(wal_lost(w, 2), NAM_BUSY);
	rest(w);
	assert_int_equal(wal_lost(w, 5), NAM_OK);
	rest(w);
	/* A node without a copy, and one more than there is room for. */
	for (unsigned node = 6; node <= 8; node++) {
		assert_int_equal(wal_lost(w, node), NAM_OK);
		rest(w);
	}
	as.lost[0] = 5;
	as.lost[1] = 8;
	as.lost[2] = 7;
	wal_copies_now(w, &is);
	assert_memory_equal(&is, &as, sizeof is);
	wal_close(w);
	wal_faulty_cut(d);
	w = open_log(d);
	wal_copies_now(w, &is);
	assert_memory_equal(&is, &as, sizeof is);
	/* The next life of this node alone. */
	publish_and_rest(w, begin(w, 10), NULL);
	wal_close(w);
	wal_faulty_cut(d);
	w = open_log(d);
	wal_copies_now(w, &is);
	const struct wal_copies alone = { .database = 77,
		.copy = { WAL_SCENE_NODE },
		.former = { { .cluster = 9, .life = 7 }, { .cluster = 8, .life = 4 } } };
	assert_memory_equal(&is, &alone, sizeof is);
	assert_int_equal(state_of(w).published, 8);
	wal_close(w);
	wal_faulty_close(d);
}

static void
an_old_manifest_has_one_copy(void **state)
{
	(void)state;
	struct wal_dir *d = wal_faulty_open(52);
	struct wal *w = open_log(d);
	struct wal_copies is;
	uint64_t size;
	publish_and_rest(w, begin(w, 9), NULL);
	publish_and_rest(w, begin(w, 10), NULL);
	wal_close(w);
	wal_faulty_cut(d);
	char *f = wal_faulty_bytes(d, "manifest", &size);
	f[8] = 2;
	memset(f + 72, 0, 248 - 72);
	uint64_t check = nam_hash(f, 248, 0);
	memcpy(f + 248, &check, 8);
	w = open_log(d);
	wal_copies_now(w, &is);
	const struct wal_copies one = { .database = 10, .copy = { WAL_SCENE_NODE } };
	assert_memory_equal(&is, &one, sizeof is);
	publish_and_rest(w, begin(w, 11), NULL);
	wal_copies_now(w, &is);
	assert_int_equal(is.database, 10);
	assert_int_equal(is.former[0].cluster, 10);
	assert_int_equal(is.former[0].life, 2);
	wal_close(w);
	wal_faulty_close(d);
}

/* ---- failures ------------------------------------------------------------------------------ */

static void
a_failed_sync_is_the_end(void **state)
{
	(void)state;
	static struct wal_scene s;
	for (uint64_t n = 1;; n++) {
		struct wal_dir *d = wal_faulty_open(n);
		struct wal_scene_found found;
		struct nam_err why;
		uint32_t life;
		uint64_t end;
		wal_faulty_fail_sync(d, n);
		wal_scene_play(&s, 41, d);
		no_error(&s, n, 0);
		bool through = s.life[3].asked && s.life[3].flushed == s.life[3].received;
		wal_faulty_cut(d);
		wal_scene_check(&s, d, false, &found);
		no_error(&s, n, 0);
		wal_faulty_close(d);
		if (through)
			break;
		if (n > 4)
			continue;
		/* Nothing moves any more. */
		d = wal_faulty_open(n);
		struct wal *w = open_log(d);
		life = begin(w, 9);
		rest(w);
		append_text(w, life, "lost");
		wal_faulty_fail_sync(d, 1);
		rest(w);
		assert_int_equal(state_of(w).condition, WAL_BROKEN);
		assert_int_equal(state_of(w).flushed, 0);
		assert_false(wal_step(w));
		assert_int_equal(wal_append(w, life, "x", 1, true, &end), NAM_IO);
		assert_int_equal(wal_publish(w, life), NAM_IO);
		assert_int_equal(wal_begin(w, 9, &life), NAM_IO);
		wal_why(w, &why);
		assert_non_null(strstr(why.text, "log-00000001-00000000"));
		wal_close(w);
		wal_faulty_close(d);
	}
}

static void
no_space(void **state)
{
	(void)state;
	struct wal_dir *d = wal_faulty_open(51);
	struct wal *w = open_log(d);
	static char bytes[1000];
	struct nam_err why;
	uint64_t end = 0, room;
	uint32_t life = begin(w, 9);
	wal_publish(w, life);
	wal_faulty_room(d, 300000); /* two segments */
	nam_status st;
	while ((st = wal_append(w, life, bytes, sizeof bytes, false, &end)) == NAM_OK || st == NAM_BUSY)
		if (st == NAM_BUSY && !wal_step(w))
			assert_int_equal(state_of(w).condition, WAL_SPACE);
	assert_int_equal(st, NAM_FULL);
	assert_int_equal(state_of(w).condition, WAL_SPACE);
	rest(w);
	assert_int_equal(state_of(w).flushed, end);
	wal_why(w, &why);
	assert_int_equal(why.status, NAM_FULL);
	assert_string_not_equal(why.text, "");
	/* What is kept back takes records with `spare`, each flushed by itself. */
	room = 0;
	while ((st = wal_append(w, life, bytes, sizeof bytes, true, &end)) == NAM_OK) {
		rest(w);
		assert_int_equal(state_of(w).flushed, end);
		room += 4096;
	}
	assert_int_equal(st, NAM_FULL);
	assert_true(room >= (16 << 10));
	assert_false(wal_step(w));
	/* Room is made. */
	wal_faulty_room(d, UINT64_MAX);
	assert_true(wal_step(w));
	rest(w);
	assert_int_equal(state_of(w).condition, WAL_WELL);
	assert_int_equal(wal_append(w, life, bytes, sizeof bytes, false, &end), NAM_OK);
	rest(w);
	assert_int_equal(state_of(w).flushed, end);
	wal_close(w);
	wal_faulty_cut(d);
	w = open_log(d);
	assert_int_equal(state_of(w).end, end);
	wal_close(w);
	wal_faulty_close(d);
}

/* The manifest needs a page: without it the life is published later. */
static void
no_space_for_a_manifest(void **state)
{
	(void)state;
	struct wal_dir *d = wal_faulty_open(52);
	struct wal *w = open_log(d);
	uint32_t life = begin(w, 9);
	uint64_t end;
	append_text(w, life, "flushed");
	wal_faulty_room(d, 1);
	assert_int_equal(wal_publish(w, life), NAM_OK);
	rest(w);
	assert_int_equal(state_of(w).condition, WAL_SPACE);
	assert_int_equal(state_of(w).published, 0);
	assert_int_equal(state_of(w).flushed, 16);
	assert_int_equal(wal_append(w, life, "x", 1, false, &end), NAM_FULL);
	assert_int_equal(wal_append(w, life, "x", 1, true, &end), NAM_OK);
	wal_faulty_room(d, UINT64_MAX);
	rest(w);
	assert_int_equal(state_of(w).condition, WAL_WELL);
	assert_int_equal(state_of(w).published, life);
	wal_close(w);
	wal_faulty_close(d);
}

static bool
sum_sizes(void *arg, const char *name)
{
	uint64_t size, *at = arg;
	wal_faulty_bytes((struct wal_dir *)at[0], name, &size);
	at[1] += size;
	return true;
}

/* state.files is what the files take, also when pieces failed and lives were given up. */
static void
files_are_counted(void **state)
{
	(void)state;
	struct wal_dir *d = wal_faulty_open(53);
	struct wal *w = open_log(d);
	struct nam_err err;
	uint32_t life;
	for (unsigned i = 0; i < 12; i++) {
		uint64_t sum[2] = { (uint64_t)(uintptr_t)d, 0 };
		wal_faulty_room(d, i % 2 == 0 ? UINT64_MAX : 4096 + (uint64_t)i * 30000);
		assert_int_equal(wal_begin(w, 9, &life), NAM_OK);
		rest(w);
		assert_int_equal(d->ops->list(d, sum_sizes, sum, &err), NAM_OK);
		assert_int_equal(state_of(w).files, sum[1]);
		if (i % 3 == 0) {
			wal_close(w);
			wal_faulty_end(d);
			w = open_log(d);
			assert_int_equal(state_of(w).files, sum[1]);
		}
	}
	wal_close(w);
	wal_faulty_close(d);
}

/* What was received can be flushed, though the disk is full at any moment. */
static void
what_was_received_fits(void **state)
{
	(void)state;
	static char bytes[WAL_SCENE_LONGEST];
	for (uint64_t seed = 1; seed <= 300; seed++) {
		struct wal_dir *d = wal_faulty_open(seed);
		struct wal_config cfg;
		struct nam_err err;
		struct nam_rng dice;
		struct wal *w;
		uint64_t end = 0;
		nam_rng_init(&dice, seed);
		wal_scene_config(&cfg, d);
		cfg.plain = seed % 2 != 0;
		assert_int_equal(wal_open(&w, &cfg, &err), NAM_OK);
		uint32_t life = begin(w, 9);
		wal_faulty_room(d, 150000 + nam_rng_below(&dice, 700000));
		for (unsigned stuck = 0; stuck < 40;) {
			uint32_t len = (uint32_t)nam_rng_below(
			    &dice, nam_rng_below(&dice, 4) == 0 ? WAL_SCENE_LONGEST : 2000);
			bool spare = nam_rng_below(&dice, 16) == 0;
			unsigned steps = (unsigned)nam_rng_below(&dice, 3);
			for (uint32_t i = 0; i < len; i++)
				bytes[i] = (char)nam_mix(i);
			if (wal_append(w, life, bytes, len, spare, &end) == NAM_OK)
				stuck = 0;
			else
				stuck++;
			while (steps-- != 0)
				wal_step(w);
		}
		rest(w);
		assert_int_equal(state_of(w).condition, WAL_SPACE);
		if (state_of(w).flushed != end)
			fail_msg("seed %" PRIu64 ": %" PRIu64 " was received, %" PRIu64 " is flushed", seed,
			    end, state_of(w).flushed);
		wal_close(w);
		wal_faulty_close(d);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_record_comes_back),
		cmocka_unit_test(a_life_of_this_process_can_be_read),
		cmocka_unit_test(the_buffer_can_be_full),
		cmocka_unit_test(large_records),
		cmocka_unit_test(the_format_is_as_its_header_says),
		cmocka_unit_test(a_cut_at_each_call),
		cmocka_unit_test(an_end_at_each_call),
		cmocka_unit_test(a_life_with_its_begin_cut_off),
		cmocka_unit_test(cuts_that_are_not),
		cmocka_unit_test(no_space_for_a_cut),
		cmocka_unit_test(swept_under_load),
		cmocka_unit_test(a_flip_of_each_sector),
		cmocka_unit_test(a_flip_behind_the_back),
		cmocka_unit_test(a_missing_file),
		cmocka_unit_test(a_hole_is_no_end),
		cmocka_unit_test(a_manifest_tells_of_copies),
		cmocka_unit_test(an_old_manifest_has_one_copy),
		cmocka_unit_test(a_failed_sync_is_the_end),
		cmocka_unit_test(no_space),
		cmocka_unit_test(no_space_for_a_manifest),
		cmocka_unit_test(files_are_counted),
		cmocka_unit_test(what_was_received_fits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
