/*
 * records.h -- reads all records of a log's directory, one after the other: for tests that judge
 * them.
 */
#ifndef NAM_WAL_TESTING_RECORDS_H
#define NAM_WAL_TESTING_RECORDS_H

#include <wal/wal.h>
#include <wal/wal_format.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* Calls fn for each record, in order; `passes` times. Returns where the log begins. */
static inline uint64_t
each_record(struct wal_dir *dir, unsigned passes,
    void (*fn)(void *arg, unsigned pass, uint64_t position, const char *bytes, uint32_t len), void *arg)
{
	static char buf[WAL_RECORD_MAX + 64];
	struct wal *w;
	struct nam_err err;
	struct wal_state is;
	const struct wal_config cfg = { .dir = dir, .segment_bytes = 1 << 20 };
	if (wal_open(&w, &cfg, &err) != NAM_OK)
		fail_msg("%s", err.text);
	wal_state(w, &is);
	for (unsigned pass = 0; pass < passes; pass++) {
		uint64_t next = 0;
		for (uint32_t got = 1; got > 0;) {
			const uint64_t at = next;
			assert_int_equal(wal_read(w, at, buf, sizeof buf, &got, &next, &err), NAM_OK);
			for (uint32_t i = 0; i < got;) {
				struct wal_record_head rec;
				memcpy(&rec, buf + i, sizeof rec);
				fn(arg, pass, at + i, buf + i + sizeof rec, rec.bytes);
				i += (uint32_t)sizeof rec + ((rec.bytes + 7) & ~7u);
			}
		}
	}
	wal_close(w);
	return is.begin;
}

#endif
