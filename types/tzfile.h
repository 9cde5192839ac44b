/*
 * tzfile.h -- time zones by name (Europe/Paris): the system's TZif files (RFC 8536).
 *
 * A zone is read once and stays for ever. Any thread; the first use of a zone reads a file.
 */
#ifndef NAM_TYPES_TZFILE_H
#define NAM_TYPES_TZFILE_H

#include <types/value.h>

struct cat_zone;

/* NULL: no file of that name, or one that makes no sense. Upper and lower case are alike. */
const struct cat_zone *cat_zone_find(struct cat_str name);
/* Of an instant, microseconds since 2000-01-01 UTC: the zone's clock. */
int64_t cat_zone_local(const struct cat_zone *z, int64_t utc);
/* The instant at which the zone's clock shows that. Of a time that it skips: what the clock of
 * before would have shown; of one that it shows twice: the second one, as PostgreSQL. */
int64_t cat_zone_utc(const struct cat_zone *z, int64_t local);
/* From the bytes of a file, for tests. NULL: they make no sense. Free it with free(). */
struct cat_zone *cat_zone_read(const unsigned char *p, size_t n);

#endif
