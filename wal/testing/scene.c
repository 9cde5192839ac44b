/* scene.c -- what a process was told, and what a later one finds. */
#include <base/hash.h>
#include <base/rng.h>
#include <wal/testing/scene.h>
#include <wal/wal_format.h>

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEGMENT = 128 << 10, BUFFER = 64 << 10, RESERVE = 16 << 10 };

uint32_t
wal_scene_record(uint32_t life, unsigned number, char *out)
{
	uint64_t mix = nam_mix((uint64_t)life << 32 | number);
	uint32_t len = (uint32_t)(mix % 300);
	if (mix >> 32 & 1)
		len += (uint32_t)(mix >> 40) % 2000;
	if ((mix >> 33) % 64 == 0)
		len = (uint32_t)(mix >> 40) % WAL_SCENE_LONGEST;
	/* Half of them are worth compressing. */
	for (uint32_t i = 0; i < len; i++)
		out[i] = (char)((mix >> 34 & 1) != 0 ? mix >> i % 8 * 8 : nam_mix(mix + i));
	return len;
}

void
wal_scene_config(struct wal_config *cfg, struct wal_dir *d)
{
	*cfg = (struct wal_config){
		.dir = d,
		.node = WAL_SCENE_NODE,
		.segment_bytes = SEGMENT,
		.buffer_bytes = BUFFER,
		.reserve_bytes = RESERVE,
	};
}

static void __attribute__((format(printf, 2, 3))) wrong(struct wal_scene *s, const char *fmt, ...)
{
	va_list ap;
	if (s->broken[0] != 0)
		return;
	int n = snprintf(s->broken, sizeof s->broken, "seed %" PRIu64 ": ", s->seed);
	va_start(ap, fmt);
	vsnprintf(s->broken + n, sizeof s->broken - (size_t)n, fmt, ap);
	va_end(ap);
}

/* Remembers what the log tells. */
static void
hear(struct wal_scene *s)
{
	struct wal_state st;
	wal_state(s->w, &st);
	if (st.life == 0)
		return;
	struct wal_scene_life *l = &s->life[st.life];
	if (st.received != l->received)
		wrong(s, "the log says it has received %" PRIu64 ", not %" PRIu64, st.received, l->received);
	if (st.flushed < l->flushed || st.flushed > st.received)
		wrong(s, "flushed went from %" PRIu64 " to %" PRIu64, l->flushed, st.flushed);
	l->flushed = st.flushed;
	if (st.published != s->published && (st.published != st.life || !l->asked))
		wrong(s, "the log says life %u was published, and nothing asked for it", st.published);
	s->published = st.published;
	if (st.published == st.life) {
		if (st.begin < l->begin)
			wrong(s, "begin went from %" PRIu64 " to %" PRIu64, l->begin, st.begin);
		l->begin = st.begin;
	}
}

static bool
scene_step(struct wal_scene *s)
{
	bool did = wal_step(s->w);
	hear(s);
	return did;
}

/* False: the log is broken. */
static bool
well(struct wal_scene *s)
{
	struct wal_state st;
	wal_state(s->w, &st);
	return st.condition != WAL_BROKEN && s->broken[0] == 0;
}

static bool
append_one(struct wal_scene *s, uint32_t life)
{
	char bytes[WAL_SCENE_LONGEST];
	struct wal_scene_life *l = &s->life[life];
	uint32_t len = wal_scene_record(life, l->records, bytes);
	uint64_t end;
	nam_status st;
	while ((st = wal_append(s->w, life, bytes, len, false, &end)) == NAM_BUSY)
		if (!scene_step(s)) {
			wrong(s, "the log is busy, and has nothing to do");
			return false;
		}
	if (st == NAM_IO && !well(s))
		return false;
	if (st != NAM_OK) {
		wrong(s, "a record of %u bytes: %s", len, nam_status_name(st));
		return false;
	}
	if (end != l->received + 8 + (len + 7) / 8 * 8)
		wrong(s, "the record's end is %" PRIu64 " behind %" PRIu64, end, l->received);
	l->received = end;
	l->records++;
	return true;
}

/* Bursts of records, and steps between them. */
static bool
fill(struct wal_scene *s, struct nam_rng *dice, uint32_t life, uint64_t bytes)
{
	uint64_t to = s->life[life].received + bytes;
	while (s->life[life].received < to) {
		unsigned burst = 1 + (unsigned)nam_rng_below(dice, 24),
			 steps = (unsigned)nam_rng_below(dice, 4);
		while (burst-- != 0 && s->life[life].received < to)
			if (!append_one(s, life))
				return false;
		while (steps-- != 0)
			scene_step(s);
		if (!well(s))
			return false;
	}
	return true;
}

static bool
begin(struct wal_scene *s, uint32_t want)
{
	uint32_t life;
	nam_status st;
	hear(s);
	while ((st = wal_begin(s->w, WAL_SCENE_CLUSTER - 1 + want, &life)) == NAM_BUSY)
		if (!scene_step(s)) {
			wrong(s, "wal_begin waits, and there is nothing to do");
			return false;
		}
	if (st == NAM_IO && !well(s))
		return false;
	if (st != NAM_OK || life != want)
		wrong(s, "wal_begin: %s, life %u instead of %u", nam_status_name(st), life, want);
	return s->broken[0] == 0;
}

static bool
publish(struct wal_scene *s, uint32_t life)
{
	s->life[life].asked = true;
	s->life[life].promised = s->life[life].received;
	return wal_publish(s->w, life) == NAM_OK;
}

/* Before some record of those that there are, behind the last cut. */
static bool
cut(struct wal_scene *s, struct nam_rng *dice, uint32_t life)
{
	char bytes[WAL_SCENE_LONGEST];
	struct wal_scene_life *l = &s->life[life];
	if (s->whole)
		return true;
	unsigned least = l->cuts != 0 ? l->cut[l->cuts - 1].record : 0;
	struct wal_scene_cut *c = &l->cut[l->cuts++];
	*c = (struct wal_scene_cut){ .record = least + 1 + (unsigned)nam_rng_below(dice, l->records - least),
		.promised = l->received };
	for (unsigned i = 0; i < c->record; i++)
		c->position += 8 + (wal_scene_record(life, i, bytes) + 7) / 8 * 8;
	nam_status st = wal_cut(s->w, life, c->position);
	if (st != NAM_OK && (st != NAM_IO || well(s)))
		wrong(s, "wal_cut at %" PRIu64 ": %s", c->position, nam_status_name(st));
	return st == NAM_OK;
}

static void
script(struct wal_scene *s)
{
	struct nam_rng dice;
	nam_rng_init(&dice, s->seed);
	if (!begin(s, 1) || !fill(s, &dice, 1, 200000) || !publish(s, 1) || !fill(s, &dice, 1, 50000))
		return;
	if (!cut(s, &dice, 1) || !fill(s, &dice, 1, 100000) || !cut(s, &dice, 1) || !fill(s, &dice, 1, 50000))
		return;
	if (!begin(s, 2) || !fill(s, &dice, 2, 150000))
		return;
	if (!begin(s, 3) || !fill(s, &dice, 3, 250000) || !publish(s, 3))
		return;
	unsigned steps = (unsigned)nam_rng_below(&dice, 100);
	while (steps-- != 0)
		scene_step(s);
	if (!fill(s, &dice, 3, 120000) || !cut(s, &dice, 3) || !fill(s, &dice, 3, 180000) ||
	    !cut(s, &dice, 3))
		return;
	while (scene_step(s))
		continue;
	if (!well(s))
		return;
	if (!s->whole && s->life[3].begin != s->life[3].cut[1].position)
		wrong(s, "nothing is left to do, and life 3 begins at %" PRIu64, s->life[3].begin);
	if (s->published != 3 || s->life[3].flushed != s->life[3].received)
		wrong(s, "nothing is left to do; life %u is published, %" PRIu64 " of %" PRIu64 " flushed",
		    s->published, s->life[3].flushed, s->life[3].received);
}

static void
play(struct wal_scene *s, uint64_t seed, struct wal_dir *d, bool whole)
{
	struct nam_err err;
	memset(s, 0, sizeof *s);
	s->seed = seed;
	s->whole = whole;
	wal_scene_config(&s->cfg, d);
	nam_status st = wal_open(&s->w, &s->cfg, &err);
	if (st != NAM_OK && st != NAM_IO)
		wrong(s, "wal_open: %s", err.text);
	if (st != NAM_OK)
		return;
	script(s);
	wal_close(s->w);
	s->w = NULL;
}

void
wal_scene_play(struct wal_scene *s, uint64_t seed, struct wal_dir *d)
{
	play(s, seed, d, false);
}

void
wal_scene_play_whole(struct wal_scene *s, uint64_t seed, struct wal_dir *d)
{
	play(s, seed, d, true);
}

/* The records of a piece that was read. */
static void
compare(struct wal_scene *s, uint32_t life, unsigned *number, const char *bytes, uint32_t len)
{
	char want[WAL_SCENE_LONGEST];
	uint32_t at = 0;
	while (at < len && s->broken[0] == 0) {
		struct wal_record_head head;
		memcpy(&head, bytes + at, sizeof head);
		uint32_t n = wal_scene_record(life, *number, want);
		if (*number >= s->life[life].records)
			wrong(s, "life %u has a record %u that it never received", life, *number);
		else if (head.bytes != n || head.flags != 0 || memcmp(bytes + at + 8, want, n) != 0)
			wrong(s, "life %u: record %u has %u bytes, and is not the one that was received",
			    life, *number, head.bytes);
		at += 8 + (n + 7) / 8 * 8;
		++*number;
	}
	if (at != len && s->broken[0] == 0)
		wrong(s, "life %u: %u bytes were read, records have %u", life, len, at);
}

/* The number of the first record that is there. */
static unsigned
record_at(struct wal_scene *s, const struct wal_scene_found *found)
{
	const struct wal_scene_life *l = &s->life[found->published];
	if (found->begin == 0)
		return 0;
	for (unsigned i = 0; i < l->cuts; i++) {
		if (l->cut[i].position != found->begin)
			continue;
		if (found->end < l->cut[i].promised)
			wrong(s,
			    "life %u begins at %" PRIu64 ", ends at %" PRIu64 ", and was to have %" PRIu64,
			    found->published, found->begin, found->end, l->cut[i].promised);
		return l->cut[i].record;
	}
	wrong(s, "life %u begins at %" PRIu64 ", where nothing was cut off", found->published, found->begin);
	return 0;
}

static void
read_all(struct wal_scene *s, struct wal *w, bool allowed, struct wal_scene_found *out)
{
	static char bytes[WAL_SCENE_LONGEST + 4096];
	struct nam_err err;
	struct nam_rng dice;
	uint64_t position = out->begin, next;
	unsigned number = record_at(s, out);
	uint32_t got;
	nam_rng_init(&dice, s->seed);
	for (;;) {
		uint32_t cap = WAL_SCENE_LONGEST + 8 + (uint32_t)nam_rng_below(&dice, 4080);
		nam_status st = wal_read(w, position, bytes, cap, &got, &next, &err);
		if (st == NAM_CORRUPT && allowed) {
			out->st = st;
			return;
		}
		if (st != NAM_OK) {
			wrong(s, "wal_read at %" PRIu64 ": %s", position, err.text);
			return;
		}
		if (got == 0)
			break;
		if (got > cap || next != position + got)
			wrong(s, "wal_read gave %u of %u bytes, then says %" PRIu64, got, cap, next);
		compare(s, out->published, &number, bytes, got);
		position = next;
		if (s->broken[0] != 0)
			return;
	}
	if (position != out->end)
		wrong(s, "the records end at %" PRIu64 ", the log says %" PRIu64, position, out->end);
}

void
wal_scene_check(struct wal_scene *s, struct wal_dir *d, bool allowed, struct wal_scene_found *out)
{
	struct wal_config cfg;
	struct wal_state st;
	struct wal *w;
	struct nam_err err;
	memset(out, 0, sizeof *out);
	wal_scene_config(&cfg, d);
	out->st = wal_open(&w, &cfg, &err);
	if (out->st != NAM_OK) {
		snprintf(out->text, sizeof out->text, "%s", err.text);
		if (out->st != NAM_CORRUPT || !allowed)
			wrong(s, "the log cannot be opened: %s", err.text);
		return;
	}
	wal_state(w, &st);
	out->published = st.published;
	out->begin = st.begin;
	out->end = st.end;
	bool other = st.published != s->published;
	if (st.published > WAL_SCENE_LIVES || (other && !s->life[st.published].asked) ||
	    (other && st.published < s->published))
		wrong(s, "life %u is published, the process was told %u", st.published, s->published);
	else if (st.published != 0 && st.cluster != WAL_SCENE_CLUSTER - 1 + st.published)
		wrong(s, "the cluster is %" PRIu64, st.cluster);
	else if (st.published != 0)
		read_all(s, w, allowed, out);
	if (!allowed && s->broken[0] == 0 && out->end < s->life[st.published].promised)
		wrong(s, "life %u is published, ends at %" PRIu64 ", and was to have %" PRIu64, st.published,
		    out->end, s->life[st.published].promised);
	if (s->broken[0] == 0 && out->begin < s->life[st.published].begin)
		wrong(s, "life %u begins at %" PRIu64 ", and the process was told %" PRIu64, st.published,
		    out->begin, s->life[st.published].begin);
	if (!allowed && s->broken[0] == 0 && out->end < s->life[st.published].flushed)
		wrong(s, "life %u ends at %" PRIu64 ", and %" PRIu64 " was flushed", st.published, out->end,
		    s->life[st.published].flushed);
	wal_close(w);
}

void
wal_scene_rest(struct wal_dir *d)
{
	struct wal_config cfg;
	struct nam_err err;
	struct wal *w;
	wal_scene_config(&cfg, d);
	if (wal_open(&w, &cfg, &err) != NAM_OK)
		return;
	while (wal_step(w))
		continue;
	wal_close(w);
}
