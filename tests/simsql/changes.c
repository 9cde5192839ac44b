/* changes.c -- judges answers about tables that come, change and go. Knows nothing of the database
 * but its answers. */
#include "changes.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((format(printf, 2, 3))) static void
wrong(struct model *m, const char *fmt, ...)
{
	va_list ap;
	if (m->wrong[0] != 0)
		return;
	va_start(ap, fmt);
	vsnprintf(m->wrong, sizeof m->wrong, fmt, ap);
	va_end(ap);
}

void
model_since(const struct model *m, struct since *s)
{
	s->at = m->now;
	for (unsigned i = 1; i <= m->tags; i++)
		s->counted[i] = m->tag[i].counted;
}

void
life_came(struct model *m, struct life *l, enum outcome how)
{
	m->now++;
	if (how == DONE)
		l->there = m->now;
	l->never = how == REFUSED;
}

void
life_went(struct model *m, struct life *l, enum outcome how)
{
	m->now++;
	if (how == DONE && l->gone == 0)
		l->gone = m->now;
	if (how != UNKNOWN)
		l->going--;
}

/* True if it had been answered before the snapshot, and no session can have dropped it. */
static bool
must_show(const struct life *l, const struct since *s)
{
	return l->there != 0 && l->there <= s->at && l->gone == 0 && l->going == 0;
}

/* It was asked for, and its end had not been answered before the snapshot. */
static bool
may_show(const struct life *l, const struct since *s)
{
	return l->begun != 0 && !l->never && (l->gone == 0 || l->gone > s->at);
}

struct header {
	unsigned columns, id, tag, n;
	unsigned mark[64]; /* by column; 0 = it is none */
	bool bad;
};

static const char *
read_header(const char *a, struct header *h)
{
	memset(h, 0, sizeof *h);
	h->id = h->tag = h->n = 64;
	while (h->columns < 64) {
		size_t len = strcspn(a, "|:");
		unsigned k = h->columns++;
		if (len == 2 && memcmp(a, "id", 2) == 0)
			h->id = k;
		else if (len == 3 && memcmp(a, "tag", 3) == 0)
			h->tag = k;
		else if (len == 1 && *a == 'n')
			h->n = k;
		else if (*a == 'c')
			h->mark[k] = (unsigned)strtoul(a + 1, NULL, 10);
		a += len;
		if (*a != '|')
			break;
		a++;
	}
	h->bad = *a != ':' || h->id == 64 || h->tag == 64 || h->n == 64;
	return h->bad ? a : a + 1;
}

/* The values of a row; NULL = there are no more. */
static const char *
read_row(const char *a, const struct header *h, long long *v)
{
	for (unsigned k = 0; k < h->columns; k++) {
		char *end;
		v[k] = strtoll(a, &end, 10);
		if (end == a || *end != (k + 1 < h->columns ? '|' : ';'))
			return NULL;
		a = end + 1;
	}
	return a;
}

static void
judge_columns(struct model *m, const struct header *h, unsigned tag, const struct since *since)
{
	bool shown[MARKS_MAX] = { false };
	for (unsigned k = 0; k < h->columns; k++)
		if (h->mark[k] != 0 && h->mark[k] <= m->marks)
			shown[h->mark[k]] = true;
	for (unsigned i = 1; i <= m->marks; i++) {
		const struct mark *c = &m->mark[i];
		if (shown[i] && (c->tag != tag || !may_show(&c->life, since)))
			wrong(m, "table %u shows column c%u, which it cannot have", tag, i);
		if (!shown[i] && c->tag == tag && must_show(&c->life, since))
			wrong(m, "table %u does not show its column c%u", tag, i);
	}
}

/* No table of that name was seen, or only table `tag`. */
static void
judge_absent(struct model *m, unsigned name, unsigned tag, const struct since *since)
{
	for (unsigned i = 1; i <= m->tags; i++)
		if (i != tag && m->tag[i].name == name && must_show(&m->tag[i].life, since))
			wrong(m, "t%u is not table %u, which was made, and which was not dropped", name, i);
}

static void
judge_rows(struct model *m, unsigned tag, const bool *shown, const struct since *since)
{
	for (unsigned i = 1; i <= m->rows; i++) {
		const struct planted *r = &m->row[i];
		if (shown[i] && !may_show(&r->life, since))
			wrong(m, "table %u shows row %u, which cannot be there", tag, i);
		if (shown[i] && r->tag != 0 && r->tag != tag)
			wrong(m, "row %u is in table %u, and was put into %u", i, tag, r->tag);
		if (!shown[i] && r->tag == tag && must_show(&r->life, since))
			wrong(m, "table %u has lost row %u", tag, i);
	}
}

unsigned
model_judge(struct model *m, unsigned name, const struct since *since, const char *answer)
{
	static bool shown[ROWS_MAX];
	struct header h;
	long long v[64], tag = 0, count = -1;
	m->answers++;
	if (answer == NULL) {
		judge_absent(m, name, 0, since);
		return 0;
	}
	const char *a = read_header(answer, &h);
	if (h.bad)
		wrong(m, "t%u: columns cannot be read: %.200s", name, answer);
	memset(shown, 0, sizeof shown);
	for (const char *next; !h.bad && *a != ' ' && *a != 0; a = next) {
		if ((next = read_row(a, &h, v)) == NULL) {
			wrong(m, "t%u: a row cannot be read: %.200s", name, a);
			return 0;
		}
		m->shown++;
		if (tag == 0)
			tag = v[h.tag];
		if (v[h.tag] != tag)
			wrong(m, "t%u shows rows of table %lld and of %lld", name, tag, v[h.tag]);
		for (unsigned k = 0; k < h.columns; k++)
			if (h.mark[k] != 0 && v[k] != (long long)h.mark[k])
				wrong(m, "table %lld: column c%u shows %lld in row %lld", tag, h.mark[k],
				    v[k], v[h.id]);
		if (v[h.id] == 0)
			count = v[h.n];
		else if (v[h.id] < 0 || v[h.id] > m->rows || shown[v[h.id]])
			wrong(m, "table %lld: a row %lld twice, or that was never made", tag, v[h.id]);
		else
			shown[v[h.id]] = true;
	}
	if (tag <= 0 || tag > m->tags || m->tag[tag].name != name || !may_show(&m->tag[tag].life, since)) {
		wrong(m, "t%u shows table %lld, which cannot be there", name, tag);
		return 0;
	}
	const struct tag *t = &m->tag[tag];
	uint32_t least = t->life.begun > since->at ? 0 : since->counted[tag];
	if (count < (long long)least || count > (long long)t->counting)
		wrong(m, "table %lld counts %lld, must be %u to %u", tag, count, least, t->counting);
	judge_absent(m, name, (unsigned)tag, since);
	judge_columns(m, &h, (unsigned)tag, since);
	judge_rows(m, (unsigned)tag, shown, since);
	return (unsigned)tag;
}
