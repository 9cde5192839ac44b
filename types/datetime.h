/*
 * datetime.h -- dates, times of day, timestamps: text in and out, parts, truncation.
 *
 * Proleptic Gregorian calendar, as PostgreSQL: dates from 4714-11-24 BC to 5874897-12-31,
 * timestamps up to 294276-12-31. Errors: 22007 not a date, 22008 a field or the whole is out of
 * range, 22023 no such part. Nothing here reads a clock: 'now', 'today' and the like are 22007. Any
 * thread.
 */
#ifndef NAM_CATALOG_DATETIME_H
#define NAM_CATALOG_DATETIME_H

#include <types/value.h>

#define CAT_US_PER_DAY INT64_C(86400000000)
enum { CAT_DATETIME_CHARS = 64 }; /* longest output and more */

static inline bool
cat_time_infinite(int64_t v)
{
	return v == INT64_MAX || v == INT64_MIN;
}

/* Days since 2000-01-01 of a date; year 0 is 1 BC. month may be any of 1..12. */
int64_t cat_days(int64_t year, int month, int day);
void cat_civil(int64_t days, int64_t *year, int *month, int *day);

bool cat_date_in(struct cat_str text, int64_t *days, struct cat_err *err);
bool cat_timestamp_in(struct cat_str text, int64_t *us, struct cat_err *err);
/* UTC; a zone in the text is an offset from it, no zone is UTC. 22009: no such offset. */
bool cat_timestamptz_in(struct cat_str text, int64_t *us, struct cat_err *err);
/* Microseconds since midnight, up to 24:00; a date and a zone in the text mean nothing. */
bool cat_time_in(struct cat_str text, int64_t *us, struct cat_err *err);
/*
 * Any of the four, and now, today and their kin: *now is the instant, NULL: there is no clock, and
 * *clock says whether one is asked for (then: false).
 */
bool cat_moment_in(enum cat_type type, struct cat_str text, const int64_t *now, int64_t *out, bool *clock,
    struct cat_err *err);
/* Writes at most CAT_DATETIME_CHARS, no 0 at the end; returns how many. */
unsigned cat_date_out(int64_t days, char *to);
unsigned cat_timestamp_out(int64_t us, char *to);
unsigned cat_timestamptz_out(int64_t us, char *to);
unsigned cat_time_out(int64_t us, char *to);

/* 22008 when a date has no timestamp, and infinities stay infinite. */
bool cat_date_to_timestamp(int64_t days, int64_t *us, struct cat_err *err);
int64_t cat_timestamp_to_date(int64_t us);
bool cat_date_valid(int64_t days); /* in range, or infinite */
bool cat_timestamp_valid(int64_t us);

/* extract(part from value): value / 10^scale; inf -1 or 1: that infinity; null: an infinity has no
 * such part. */
struct cat_part {
	__int128 value;
	unsigned scale;
	int inf;
	bool null;
};
bool cat_extract(
    enum cat_type type, int64_t v, struct cat_str part, struct cat_part *out, struct cat_err *err);
struct cat_interval;
bool cat_extract_interval(
    struct cat_interval v, struct cat_str part, struct cat_part *out, struct cat_err *err);
bool cat_interval_trunc(
    struct cat_str part, struct cat_interval v, struct cat_interval *out, struct cat_err *err);
/* type: CAT_TIMESTAMP or CAT_TIMESTAMPTZ, for the words of an error */
bool cat_date_trunc(enum cat_type type, struct cat_str part, int64_t us, int64_t *out, struct cat_err *err);
/* True if the part is longer than an hour, so that a zone's clock decides where it begins. */
bool cat_date_part_is_long(struct cat_str part);

/* types/zone.c: is it the name of a zone that PostgreSQL has and namdb has not (CET, Europe/Paris)?
 * Is it POSIX's letters and digits (CET-1)? */
bool cat_zone_is_name(struct cat_str s);
bool cat_zone_is_posix(struct cat_str s);

#endif
