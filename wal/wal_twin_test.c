/*
 * wal_twin_test.c -- proof that the scenes detect errors: the log built again, broken in one place,
 * must be caught.
 *
 * Its target has the room's sources once more (CMakeLists.txt), so they have their fault points
 * (base/fault.h) in every build.
 */
#include <base/fault.h>
#include <wal/testing/faulty.h>
#include <wal/testing/scene.h>
#include <wal/wal_format.h>

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct wal_scene s;

/* The power goes at a call. */
static void
cut_scene(uint64_t seed, uint64_t at)
{
	struct wal_scene_found found;
	struct wal_dir *d = wal_faulty_open(seed * 100000 + at);
	wal_faulty_stop_at(d, at);
	wal_scene_play(&s, seed, d);
	wal_faulty_cut(d);
	if (s.broken[0] == 0)
		wal_scene_check(&s, d, false, &found);
	wal_faulty_close(d);
}

/* The process ends at a call, another one reads, and the power goes. */
static void
end_scene(uint64_t seed, uint64_t at)
{
	struct wal_scene_found first = { 0 }, found = { 0 };
	struct wal_dir *d = wal_faulty_open(seed * 100000 + at);
	wal_faulty_stop_at(d, at);
	wal_scene_play(&s, seed, d);
	wal_faulty_end(d);
	if (s.broken[0] == 0)
		wal_scene_check(&s, d, false, &first);
	wal_faulty_cut(d);
	if (s.broken[0] == 0)
		wal_scene_check(&s, d, false, &found);
	if (s.broken[0] == 0 && (first.published != found.published || first.end != found.end))
		snprintf(s.broken, sizeof s.broken,
		    "seed %" PRIu64 ": life %u ended at %" PRIu64 ", and after a cut life %u at %" PRIu64,
		    seed, first.published, first.end, found.published, found.end);
	wal_faulty_close(d);
}

/* Bytes of the block that begins there, 0 = none does. */
static uint64_t
block_bytes(const char *file, uint64_t size, uint64_t at)
{
	struct wal_block_head head;
	if (at + sizeof head > size)
		return 0;
	memcpy(&head, file + at, sizeof head);
	return head.magic == WAL_BLOCK_MAGIC
		   ? (sizeof head + head.stored + WAL_PAGE - 1) / WAL_PAGE * WAL_PAGE
		   : 0;
}

/* The last segment that has blocks; *end: behind them. */
static char *
last_segment(struct wal_dir *d, uint64_t *size, uint64_t *end)
{
	char *last = NULL;
	for (unsigned k = 0;; k++) { /* the first ones may have been cut off */
		char name[WAL_FILE_NAME + 1];
		uint64_t bytes, n;
		snprintf(name, sizeof name, "log-%08x-%08x", 3u, k);
		char *f = wal_faulty_bytes(d, name, &bytes);
		if (f == NULL && last == NULL && k < 64)
			continue;
		if (f == NULL || block_bytes(f, bytes, WAL_PAGE) == 0)
			return last;
		last = f;
		*size = bytes;
		for (*end = WAL_PAGE; (n = block_bytes(f, bytes, *end)) != 0; *end += n)
			continue;
	}
}

/* The first block of the last segment is found once more behind the last one. */
static void
stale_scene(uint64_t seed, uint64_t at)
{
	struct wal_scene_found found;
	struct wal_dir *d = wal_faulty_open(seed);
	uint64_t size = 0, end = 0;
	(void)at;
	wal_scene_play(&s, seed, d);
	wal_faulty_end(d);
	char *f = last_segment(d, &size, &end);
	if (s.broken[0] == 0 && f != NULL) {
		uint64_t n = block_bytes(f, size, WAL_PAGE);
		if (end + n <= size)
			memcpy(f + end, f + WAL_PAGE, n);
		wal_scene_check(&s, d, false, &found);
	}
	wal_faulty_close(d);
}

/* A byte of the first block of the last segment is another one. */
static void
damage_scene(uint64_t seed, uint64_t at)
{
	struct wal_scene_found found;
	struct wal_dir *d = wal_faulty_open(seed);
	uint64_t size = 0, end = 0;
	(void)at;
	wal_scene_play_whole(&s, seed, d); /* a cut would make the manifest say where it ends */
	wal_faulty_end(d);
	char *f = last_segment(d, &size, &end);
	if (s.broken[0] == 0 && f != NULL && end > WAL_PAGE + block_bytes(f, size, WAL_PAGE)) {
		f[WAL_PAGE + 100] ^= 4;
		wal_scene_check(&s, d, true, &found);
		if (s.broken[0] == 0 && found.st == NAM_OK && found.end < s.life[3].flushed)
			snprintf(s.broken, sizeof s.broken,
			    "seed %" PRIu64 ": the log was cut off at %" PRIu64
			    ", before blocks that are valid",
			    seed, found.end);
	}
	wal_faulty_close(d);
}

/* The seed in which an error was noticed, 0 = none. stride 0: the scene is played once a seed. */
static uint64_t
caught(
    enum nam_fault fault, void (*scene)(uint64_t, uint64_t), uint64_t seeds, uint64_t calls, uint64_t stride)
{
	uint64_t seed = 0;
	nam_fault_on = fault;
	s.broken[0] = 0;
	while (s.broken[0] == 0 && ++seed <= seeds)
		for (uint64_t at = 1 + seed % (stride + 1); s.broken[0] == 0 && at <= calls; at += stride + 1)
			scene(seed, at);
	nam_fault_on = NAM_FAULT_NONE;
	return s.broken[0] != 0 ? seed : 0;
}

static const struct twin {
	enum nam_fault fault;
	void (*scene)(uint64_t, uint64_t);
	uint64_t seeds, calls;
} twins[] = {
	{ NAM_FAULT_WAL_UNSYNCED, cut_scene, 20, 150 },
	{ NAM_FAULT_WAL_TWO_BLOCKS, cut_scene, 40, 150 },
	{ NAM_FAULT_WAL_MANIFEST_UNSYNCED, cut_scene, 40, 150 },
	{ NAM_FAULT_WAL_PUBLISH_EARLY, cut_scene, 40, 150 },
	{ NAM_FAULT_WAL_CUT_EARLY, cut_scene, 40, 200 },
	{ NAM_FAULT_WAL_READ_UNSYNCED, end_scene, 40, 150 },
	{ NAM_FAULT_WAL_MISPLACED, stale_scene, 20, 1 },
	{ NAM_FAULT_WAL_CUT_ANYWHERE, damage_scene, 20, 1 },
};

static void
the_sound_one_is_not_caught(void **state)
{
	(void)state;
	for (unsigned i = 0; i < sizeof twins / sizeof twins[0]; i++)
		if (caught(NAM_FAULT_NONE, twins[i].scene, 4, twins[i].calls, twins[i].calls > 1 ? 3 : 0) !=
		    0)
			fail_msg("%s", s.broken);
}

static void
twins_are_caught(void **state)
{
	(void)state;
	for (unsigned i = 0; i < sizeof twins / sizeof twins[0]; i++) {
		const struct twin *t = &twins[i];
		uint64_t seed = caught(t->fault, t->scene, t->seeds, t->calls, 0);
		printf("fault %s: %s\n", nam_fault_name[t->fault], s.broken);
		assert_true(seed != 0);
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
