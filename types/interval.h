/*
 * interval.h -- spans of time: months, days and microseconds, each with a sign of its own.
 *
 * In memory a cat_str of CAT_INTERVAL_BYTES that points to a struct cat_interval, not necessarily
 * aligned. A month is 30 days and a day 24 hours when two are compared. Text as PostgreSQL's
 * IntervalStyle postgres. Any thread.
 */
#ifndef NAM_CATALOG_INTERVAL_H
#define NAM_CATALOG_INTERVAL_H

#include <types/value.h>

#include <string.h>

struct cat_interval {
	int64_t us;
	int32_t days, months;
};
enum {
	CAT_INTERVAL_BYTES = 16,
	CAT_INTERVAL_CHARS = 96,
	/* typmod: which fields were named (interval day to second): PostgreSQL's bits */
	CAT_FIELD_MONTH = 1 << 1,
	CAT_FIELD_YEAR = 1 << 2,
	CAT_FIELD_DAY = 1 << 3,
	CAT_FIELD_HOUR = 1 << 10,
	CAT_FIELD_MINUTE = 1 << 11,
	CAT_FIELD_SECOND = 1 << 12,
	CAT_FIELD_ALL = 0x7fff,
};
_Static_assert(sizeof(struct cat_interval) == CAT_INTERVAL_BYTES, "an interval is row format");

static inline struct cat_interval
cat_interval_load(struct cat_str s)
{
	struct cat_interval v = { 0, 0, 0 };
	if (s.len == CAT_INTERVAL_BYTES)
		memcpy(&v, s.p, sizeof v);
	return v;
}
bool cat_interval_store(
    struct cat_interval v, struct cat_str *out, struct nam_arena *arena, struct cat_err *err);

/* 22007 no interval, 22015 a field does not fit. fields -1 = all. */
bool cat_interval_in(struct cat_str text, int32_t fields, struct cat_interval *out, struct cat_err *err);
/* Writes at most CAT_INTERVAL_CHARS. */
unsigned cat_interval_out(struct cat_interval v, char *to);
/* What is below the fields of a typmod goes. */
struct cat_interval cat_interval_fit(struct cat_interval v, int32_t fields);
/* In microseconds: what is compared and hashed. */
__int128 cat_interval_span(struct cat_interval v);

/* 22008 when a field of the result does not fit. */
bool cat_interval_add(
    struct cat_interval a, struct cat_interval b, struct cat_interval *out, struct cat_err *err);
bool cat_interval_negate(struct cat_interval a, struct cat_interval *out, struct cat_err *err);
/* a * by, or a / by, which is not 0 then. */
bool cat_interval_scale(
    struct cat_interval a, double by, bool divide, struct cat_interval *out, struct cat_err *err);
/* Whole months, then days, then microseconds later; 22008 out of range; infinities stay. */
bool cat_timestamp_add(int64_t us, struct cat_interval by, int64_t *out, struct cat_err *err);
/* a - b as days and microseconds. */
bool cat_timestamp_diff(int64_t a, int64_t b, struct cat_interval *out, struct cat_err *err);
/* a - b as years, months and days of the calendar. */
bool cat_timestamp_age(int64_t a, int64_t b, struct cat_interval *out, struct cat_err *err);
/* 24 hours are a day; 30 days are a month. */
bool cat_interval_justify(struct cat_interval *v, bool hours, bool days, struct cat_err *err);

#endif
