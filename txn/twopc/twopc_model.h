/*
 * twopc_model.h -- for tests: sessions of two-phase commit whose messages come in any order, and
 * what must hold whatever the order is.
 *
 * The records are counters in pairs, whose two halves lie where their keys say. A transaction
 * reads a pair, adds one to both, and inserts a record that says so. So: both halves of a pair
 * that was read are alike (a snapshot); each counter is the number of commits of its pair (no
 * update is lost); each commit has its record, and no other has (all or nothing).
 */
#ifndef NAM_TXN_TWOPC_MODEL_H
#define NAM_TXN_TWOPC_MODEL_H

#include <base/rng.h>
#include <txn/twopc/twopc.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MODEL_SESSIONS = 6, MODEL_RMS = 3, MODEL_PAIRS = 3, MODEL_COMMITS = 60, MODEL_LETTERS = 4096 };

struct model_letter {
	unsigned session, to;
	uint32_t len;
	void *bytes;
};

struct model;

struct model_session {
	struct model *m;
	unsigned number, pair;
	struct txn_twopc_client *client;
	struct txn_twopc_tm *tm;
	enum { MODEL_READ, MODEL_COMMIT, MODEL_SNAPSHOT } step;
	unsigned commits, tries;
	bool over;
};

struct model {
	struct nam_rng rng;
	struct txn_twopc_clock *clock;
	struct txn_twopc_rm *rm[MODEL_RMS];
	struct model_session session[MODEL_SESSIONS];
	struct model_letter letter[MODEL_LETTERS];
	unsigned letters;
	uint64_t commits[MODEL_PAIRS], aborts, records;
	char broken[200]; /* the first thing that does not hold */
};

static void
model_break(struct model *m, const char *what, uint64_t a, uint64_t b)
{
	if (m->broken[0] == 0)
		snprintf(m->broken, sizeof m->broken, "%s: %llu and %llu", what, (unsigned long long)a,
		    (unsigned long long)b);
}

static void
model_send(void *arg, unsigned to, const void *bytes, uint32_t len)
{
	struct model_session *s = arg;
	struct model *m = s->m;
	if (m->letters == MODEL_LETTERS) {
		model_break(m, "letters without end", m->letters, 0);
		return;
	}
	struct model_letter *l = &m->letter[m->letters++];
	*l = (struct model_letter){ .session = s->number, .to = to, .len = len, .bytes = malloc(len) };
	memcpy(l->bytes, bytes, len);
}

static void
model_next(struct model_session *s)
{
	if (s->commits == MODEL_COMMITS || s->tries++ == 100 * MODEL_COMMITS) {
		s->over = true;
		return;
	}
	s->pair = (unsigned)nam_rng_below(&s->m->rng, MODEL_PAIRS);
	const uint64_t key[2] = { s->pair, s->pair + 1000 };
	s->step = MODEL_READ;
	txn_twopc_read(s->client, key, 2);
}

static void
model_write(struct model_session *s)
{
	uint64_t value[2] = { 0 };
	for (unsigned i = 0; i < 2; i++) {
		uint32_t len;
		const void *record = txn_twopc_record(s->client, i, &len);
		if (len != sizeof value[i])
			model_break(s->m, "a record's length", len, sizeof value[i]);
		else
			memcpy(&value[i], record, len);
	}
	if (value[0] != value[1])
		model_break(s->m, "a pair of one snapshot", value[0], value[1]);
	for (unsigned i = 0; i < 2; i++) {
		uint64_t more = value[i] + 1;
		txn_twopc_update(s->client, i, &more, sizeof more);
	}
	uint64_t key = UINT64_C(1) << 32 | s->number << 24 | s->commits;
	txn_twopc_insert(s->client, key, &s->pair, sizeof s->pair);
	s->step = MODEL_COMMIT;
	txn_twopc_commit(s->client);
}

static void
model_done(void *arg, nam_status st)
{
	struct model_session *s = arg;
	if (st == NAM_OK && s->step == MODEL_READ) {
		model_write(s);
	} else if (st == NAM_CONFLICT && s->step == MODEL_READ) {
		s->m->aborts++;
		s->step = MODEL_SNAPSHOT;
		txn_twopc_snapshot(s->client);
	} else {
		if (st == NAM_OK && s->step == MODEL_COMMIT) {
			s->m->commits[s->pair]++;
			s->commits++;
		} else if (st == NAM_CONFLICT) {
			s->m->aborts++;
		} else if (st != NAM_OK) {
			model_break(s->m, "a status", st, s->step);
		}
		model_next(s);
	}
}

static void
model_open(struct model *m, uint64_t seed)
{
	const uint64_t zero = 0;
	memset(m, 0, sizeof *m);
	nam_rng_init(&m->rng, seed);
	bool good = txn_twopc_clock_open(&m->clock) == NAM_OK;
	for (unsigned r = 0; r < MODEL_RMS; r++)
		good &= txn_twopc_rm_open(&m->rm[r], 8) == NAM_OK;
	for (unsigned i = 0; i < 2 * MODEL_PAIRS; i++) {
		uint64_t key = i / 2 + i % 2 * 1000;
		struct txn_twopc_rm *rm = m->rm[txn_twopc_home(key, MODEL_RMS)];
		good &= txn_twopc_rm_load(rm, key, &zero, sizeof zero) == NAM_OK;
	}
	for (unsigned i = 0; i < MODEL_SESSIONS; i++) {
		struct model_session *s = &m->session[i];
		const struct txn_twopc_wire wire = { model_send, s };
		s->m = m;
		s->number = i;
		good &= txn_twopc_client_open(&s->client, i, MODEL_RMS, &wire, model_done, s) == NAM_OK;
		good &= txn_twopc_tm_open(&s->tm, m->clock, MODEL_RMS, &wire) == NAM_OK;
	}
	if (!good)
		model_break(m, "opening", 0, 0);
}

static nam_status
model_deliver(struct model *m, const struct model_letter *l)
{
	struct model_session *s = &m->session[l->session];
	const struct txn_twopc_wire wire = { model_send, s };
	if (l->to == TXN_TWOPC_CLIENT)
		return txn_twopc_client_take(s->client, l->bytes, l->len);
	if (l->to == TXN_TWOPC_TM)
		return txn_twopc_tm_take(s->tm, l->bytes, l->len);
	unsigned r = l->to - (unsigned)TXN_TWOPC_RM;
	return txn_twopc_rm_take(m->rm[r], r, &wire, l->bytes, l->len);
}

/* One letter, any of those under way. False: none is. */
static bool
model_step(struct model *m)
{
	if (m->letters == 0)
		return false;
	unsigned i = (unsigned)nam_rng_below(&m->rng, m->letters);
	struct model_letter l = m->letter[i];
	m->letter[i] = m->letter[--m->letters];
	nam_status st = model_deliver(m, &l);
	if (st != NAM_OK)
		model_break(m, "a letter is refused", st, *(const uint8_t *)l.bytes);
	free(l.bytes);
	return true;
}

static void
model_seen(void *arg, const struct txn_twopc_seen *r)
{
	struct model *m = arg;
	uint64_t value = 0;
	if (r->locked || r->cid == 0)
		model_break(m, "locked at the end", r->key, r->cid);
	if (r->key >> 32 != 0) {
		m->records++;
		return;
	}
	memcpy(&value, r->record, r->len < sizeof value ? r->len : sizeof value);
	if (value != m->commits[r->key % 1000])
		model_break(m, "a counter, and the commits", value, m->commits[r->key % 1000]);
}

/* Plays to the end and looks. */
static void
model_run(struct model *m)
{
	uint64_t commits = 0;
	for (unsigned i = 0; i < MODEL_SESSIONS; i++)
		model_next(&m->session[i]);
	while (m->broken[0] == 0 && model_step(m))
		continue;
	if (m->broken[0] != 0)
		return;
	for (unsigned i = 0; i < MODEL_SESSIONS; i++) {
		const struct model_session *s = &m->session[i];
		if (!s->over || txn_twopc_tm_open_count(s->tm) != 0)
			model_break(m, "a session has not ended", i, txn_twopc_tm_open_count(s->tm));
	}
	for (unsigned r = 0; r < MODEL_RMS; r++)
		txn_twopc_rm_walk(m->rm[r], model_seen, m);
	for (unsigned i = 0; i < MODEL_PAIRS; i++)
		commits += m->commits[i];
	if (m->records != commits)
		model_break(m, "records inserted, and commits", m->records, commits);
	if (commits < MODEL_COMMITS)
		model_break(m, "too few commits to prove anything", commits, MODEL_COMMITS);
}

static void
model_close(struct model *m)
{
	while (m->letters > 0)
		free(m->letter[--m->letters].bytes);
	for (unsigned i = 0; i < MODEL_SESSIONS; i++) {
		txn_twopc_client_close(m->session[i].client);
		txn_twopc_tm_close(m->session[i].tm);
	}
	for (unsigned r = 0; r < MODEL_RMS; r++)
		txn_twopc_rm_close(m->rm[r]);
	txn_twopc_clock_close(m->clock);
}

#endif
