/* cuts_model.c -- what must be there after a cut (cuts.h). */
#include "cuts.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void
cut_wrong(struct cut_model *m, const char *fmt, ...)
{
	va_list ap;
	if (m->wrong[0] != 0)
		return;
	va_start(ap, fmt);
	vsnprintf(m->wrong, sizeof m->wrong, fmt, ap);
	va_end(ap);
}

unsigned
cut_body_len(uint32_t id)
{
	uint32_t dice = id * 2654435761U >> 8;
	return dice % 8 == 0 ? 3000 + dice / 8 % (CUT_BODY - 3000) : 10 + dice / 8 % 150;
}

void
cut_body(uint32_t id, char *out)
{
	unsigned n = cut_body_len(id);
	uint64_t x = id * 0x9e3779b97f4a7c15ULL + 1;
	for (unsigned i = 0; i < n; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		out[i] = (char)('a' + x % 26);
	}
	out[n] = 0;
}

/* ---- which transactions are there ---- */

static bool
is_in(const bool *here, uint32_t id)
{
	return id == 0 || (id < CUT_TXNS && here[id]);
}

static void
judge_one(struct cut_model *m, uint32_t id, bool here)
{
	const struct cut_txn *t = &m->txn[id];
	static const char *const state[] = { "open", "asked", "acknowledged", "undone", "there before",
		"lost before" };
	bool must = t->state == CUT_HERE || (t->state == CUT_ACKED && t->sync) || (t->shown && t->sync);
	bool may = t->state == CUT_ASKED || t->state == CUT_ACKED || t->state == CUT_HERE;
	if (must && !here)
		cut_wrong(m, "transaction %u is not there: it was %s, sync %d%s", id, state[t->state],
		    t->sync, t->shown ? ", shown" : "");
	if (!may && here)
		cut_wrong(m, "transaction %u is there: it was %s", id, state[t->state]);
}

/* What is there is closed under "has read", and in the order of answers. */
static void
judge_order(struct cut_model *m, const bool *here)
{
	uint64_t last = 0;
	uint32_t by = 0;
	for (uint32_t id = 1; id < m->next; id++) {
		const struct cut_txn *t = &m->txn[id];
		for (unsigned i = 0; here[id] && i < t->reads; i++)
			if (!is_in(here, t->read[i]))
				cut_wrong(m, "transaction %u is there, and has read %u, which is not", id,
				    t->read[i]);
		for (unsigned i = 0; here[id] && i < t->writes; i++)
			if (!is_in(here, t->write[i].over))
				cut_wrong(m,
				    "transaction %u is there, and has replaced a version of %u, which is not",
				    id, t->write[i].over);
		if (here[id] && t->asked > last && t->state != CUT_HERE) {
			last = t->asked;
			by = id;
		}
	}
	/* An answer comes when the log has the record: what is asked for later lies behind. */
	for (uint32_t id = 1; id < m->next; id++)
		if (m->txn[id].state == CUT_ACKED && !here[id] && m->txn[id].told < last)
			cut_wrong(m,
			    "transaction %u is there, and %u is not, which had been answered before it began "
			    "to commit",
			    by, id);
}

/* ---- rows ---- */

/* The version of a row that no transaction there has replaced: its writer, 0 = the first one.
 * *many: how many there are. */
static uint32_t
last_of(const struct cut_model *m, const bool *here, enum cut_table table, unsigned key, bool first,
    unsigned *many, unsigned *writes, int64_t *sum)
{
	static bool over[CUT_TXNS];
	uint32_t found = 0;
	memset(over, 0, sizeof over);
	*many = *writes = 0;
	*sum = 0;
	for (int pass = 0; pass < 2; pass++) {
		if (pass == 1 && first && !over[0])
			*many = 1;
		for (uint32_t id = 1; id < m->next; id++)
			for (unsigned i = 0; here[id] && i < m->txn[id].writes; i++) {
				const struct cut_write *w = &m->txn[id].write[i];
				if (w->table != table || w->key != key)
					continue;
				if (pass == 0) {
					over[w->over] = true;
					*writes += 1;
					*sum += w->delta;
				} else if (!w->deletes && !over[id]) {
					found = id;
					*many += 1;
				}
			}
	}
	return found;
}

/* The version that the one of `who` has replaced. */
static uint32_t
replaced_by(const struct cut_model *m, uint32_t who, unsigned account)
{
	for (unsigned i = 0; i < m->txn[who].writes; i++)
		if (m->txn[who].write[i].table == CUT_ACC && m->txn[who].write[i].key == account)
			return m->txn[who].write[i].over;
	return 0;
}

static void
judge_rows(struct cut_model *m, const bool *here, const struct cut_seen *s)
{
	int64_t all = 0;
	for (unsigned k = 0; k < CUT_ACCS; k++) {
		unsigned many, writes;
		int64_t sum;
		uint32_t who = last_of(m, here, CUT_ACC, k, true, &many, &writes, &sum);
		if (!s->acc[k].there)
			cut_wrong(m, "account %u is gone", k);
		else if (many != 1 || s->acc[k].who != who || s->acc[k].n != writes || s->acc[k].bal != sum)
			cut_wrong(m,
			    "account %u is of %lld, version %lld, balance %lld; it should be of %u, version "
			    "%u, balance "
			    "%lld (%u last ones)",
			    k, (long long)s->acc[k].who, (long long)s->acc[k].n, (long long)s->acc[k].bal,
			    who, writes, (long long)sum, many);
		else if (s->acc[k].prev != replaced_by(m, who, k))
			cut_wrong(m, "account %u of %u came behind %lld, and says %lld", k, who,
			    (long long)replaced_by(m, who, k), (long long)s->acc[k].prev);
		all += s->acc[k].bal;
	}
	if (all != 0)
		cut_wrong(m, "balances sum up to %lld", (long long)all);
	for (unsigned k = 0; k < CUT_ITEMS; k++) {
		unsigned many, writes;
		int64_t sum;
		uint32_t who = last_of(m, here, CUT_ITEM, k, false, &many, &writes, &sum);
		if (many > 1 || s->item[k].there != (many == 1) || (many == 1 && s->item[k].id != who))
			cut_wrong(m, "item %u is of %lld (there: %d), and should be of %u (%u last ones)", k,
			    (long long)s->item[k].id, s->item[k].there, who, many);
		else if (many == 1 && !s->item[k].body_right)
			cut_wrong(m, "item %u of %u has another text", k, who);
	}
}

static void
judge_children(struct cut_model *m, const bool *here, const struct cut_seen *s)
{
	for (unsigned i = 0; i < s->children; i++) {
		int64_t id = s->child[i].id, k = s->child[i].k;
		if (id <= 0 || id >= m->next || !here[id] || m->txn[id].child != (unsigned)k + 1)
			cut_wrong(m, "a child of %lld, which refers to item %lld, should not be there",
			    (long long)id, (long long)k);
		else if (k < 0 || k >= CUT_ITEMS || !s->item[k].there)
			cut_wrong(m, "the child of %lld refers to item %lld, which is not there",
			    (long long)id, (long long)k);
	}
}

static void
judge_tables(struct cut_model *m, const bool *here, const struct cut_seen *s)
{
	static unsigned gone[CUT_TXNS], emptied[CUT_TXNS], wide[CUT_TXNS], shown[CUT_TXNS];
	memset(gone, 0, sizeof gone);
	memset(emptied, 0, sizeof emptied);
	memset(wide, 0, sizeof wide);
	memset(shown, 0, sizeof shown);
	for (uint32_t id = 1; id < m->next; id++)
		if (here[id]) {
			gone[m->txn[id].dropped]++;
			emptied[m->txn[id].emptied]++;
			wide[m->txn[id].widened]++;
		}
	for (unsigned i = 0; i < s->tables; i++) {
		uint32_t made = s->table[i].made;
		if (made == 0 || made >= m->next || !here[made] || m->txn[made].made != made) {
			cut_wrong(m, "table d%u should not be there", made);
			continue;
		}
		unsigned rows = emptied[made] > 0 ? 0 : CUT_ROWS;
		shown[made]++;
		if (s->table[i].rows != rows || s->table[i].by_index != rows ||
		    s->table[i].columns != 2 + wide[made])
			cut_wrong(m,
			    "table d%u has %u rows (%u by its index), %u columns; %u rows and %u columns are "
			    "right",
			    made, s->table[i].rows, s->table[i].by_index, s->table[i].columns, rows,
			    2 + wide[made]);
	}
	for (uint32_t id = 1; id < m->next; id++)
		if (here[id] && m->txn[id].made == id && shown[id] != (gone[id] == 0))
			cut_wrong(m, "table d%u is there %u times, and was dropped %u times", id, shown[id],
			    gone[id]);
	if (s->strange > 0)
		cut_wrong(m, "%u relations are there that should not be", s->strange);
}

void
cut_r_is(struct cut_model *m, int64_t number)
{
	m->r[0] = number;
	m->rs = 1;
}

void
cut_r_shows(struct cut_model *m, int64_t number)
{
	unsigned n = 1;
	const int64_t before = m->r[0];
	m->r[0] = number;
	/* A setval without an answer has set it back: where it was may still be what the log has.
	 */
	if (before > number && m->rs < CUT_UNSURE)
		m->r[m->rs++] = before;
	for (unsigned i = 1; i < m->rs; i++)
		if (m->r[i] > number)
			m->r[n++] = m->r[i];
	m->rs = n;
}

static void
judge_numbers(struct cut_model *m, const struct cut_seen *s)
{
	if (s->q <= m->q_high)
		cut_wrong(
		    m, "q gives out %lld, and had given out %lld", (long long)s->q, (long long)m->q_high);
	bool right = m->rs == 0; /* not known */
	for (unsigned i = 0; i < m->rs; i++)
		right = right || (s->r > m->r[i] && s->r <= m->r[i] + CUT_AHEAD);
	if (!right)
		cut_wrong(m, "r gives out %lld, and should go on behind %lld, or one of %u others",
		    (long long)s->r, (long long)m->r[0], m->rs - 1);
}

static void
settle(struct cut_model *m, const bool *here)
{
	for (uint32_t id = 1; id < m->next; id++) {
		struct cut_txn *t = &m->txn[id];
		if (t->state == CUT_HERE || t->state == CUT_LOST)
			continue;
		m->acked += t->state == CUT_ACKED;
		m->lost_off += t->state == CUT_ACKED && !here[id];
		m->unknown_here += t->state == CUT_ASKED && here[id];
		m->unknown_lost += t->state == CUT_ASKED && !here[id];
		m->undone += t->state == CUT_UNDONE;
		t->state = here[id] ? CUT_HERE : CUT_LOST;
	}
}

bool
cut_judge(struct cut_model *m, const struct cut_seen *s)
{
	static bool here[CUT_TXNS];
	memset(here, 0, sizeof here);
	for (unsigned i = 0; i < s->dones; i++)
		if (s->done[i] == 0 || s->done[i] >= m->next)
			cut_wrong(m, "a transaction %u is there that has never been", s->done[i]);
		else if (here[s->done[i]])
			cut_wrong(m, "transaction %u is there twice", s->done[i]);
		else
			here[s->done[i]] = true;
	for (uint32_t id = 1; id < m->next; id++)
		judge_one(m, id, here[id]);
	judge_order(m, here);
	judge_rows(m, here, s);
	judge_children(m, here, s);
	judge_tables(m, here, s);
	judge_numbers(m, s);
	m->judged++;
	if (m->wrong[0] != 0 && getenv("CUTS_DUMP") != NULL)
		for (uint32_t id = 1; id < m->next; id++) {
			const struct cut_txn *t = &m->txn[id];
			printf("    %u: state %d, here %d, sync %d, asked %llu told %llu:", id, t->state,
			    here[id], t->sync, (unsigned long long)t->asked, (unsigned long long)t->told);
			for (unsigned i = 0; i < t->writes; i++)
				printf(" %s %u over %u%s", t->write[i].table == CUT_ACC ? "acc" : "item",
				    t->write[i].key, t->write[i].over,
				    t->write[i].deletes ? " (deleted)" : "");
			printf("\n");
		}
	if (m->wrong[0] != 0)
		return false;
	settle(m, here);
	m->q_high = s->q;
	cut_r_is(m, s->r);
	return true;
}
