/* tatp_check.c -- after a run of TATP: do the rows keep the specification's rules, and are there as
 * many as the commits left? From outside, by scans. */
#include "tatp.h"

#include <bench/tables.h>

#include <stdlib.h>
#include <string.h>

/* What was found of a subscriber. */
struct found {
	uint8_t rows, numbers;
	uint8_t access, facility; /* a bit for each type */
	uint16_t forward;         /* a bit for each type and start */
};

struct census {
	unsigned subscribers;
	struct found *of; /* by id */
	uint64_t rows[TATP_TABLES];
	uint64_t strangers; /* rows of a subscriber that there is not */
	uint64_t twice, bad;
};

static struct found *
of(struct census *c, int64_t id)
{
	if (id >= 1 && id <= (int64_t)c->subscribers)
		return &c->of[id];
	c->strangers++;
	return NULL;
}

static bool
within(int64_t v, int64_t low, int64_t high)
{
	return v >= low && v <= high;
}

static bool
is_number(const char *number, int64_t id)
{
	char want[32];
	snprintf(want, sizeof want, "%015lld", (long long)id);
	return memcmp(number, want, TATP_NUMBER) == 0;
}

static bool
all_in(const char *s, unsigned n, char low, char high)
{
	for (unsigned i = 0; i < n; i++)
		if (s[i] < low || s[i] > high)
			return false;
	return true;
}

static void
see_subscriber(void *arg, const void *row)
{
	struct census *c = arg;
	const struct tatp_subscriber *s = row;
	struct found *f = of(c, s->id);
	c->rows[TATP_SUBSCRIBER]++;
	if (f == NULL)
		return;
	c->twice += f->rows++ != 0;
	bool good = is_number(s->number, s->id) && s->bits >> TATP_BITS == 0;
	for (unsigned i = 0; i < TATP_BITS; i++)
		good &= s->hex[i] < 16;
	c->bad += !good;
}

static void
see_number(void *arg, const void *row)
{
	struct census *c = arg;
	const struct tatp_number *n = row;
	struct found *f = of(c, n->id);
	c->rows[TATP_NUMBERS]++;
	if (f == NULL)
		return;
	c->twice += f->numbers++ != 0;
	c->bad += !is_number(n->number, n->id);
}

static void
see_access(void *arg, const void *row)
{
	struct census *c = arg;
	const struct tatp_access *a = row;
	struct found *f = of(c, a->id);
	c->rows[TATP_ACCESS]++;
	if (f == NULL)
		return;
	if (!within(a->type, 1, TATP_TYPES) || !all_in(a->data3, sizeof a->data3, 'A', 'Z') ||
	    !all_in(a->data4, sizeof a->data4, 'A', 'Z')) {
		c->bad++;
		return;
	}
	c->twice += f->access >> a->type & 1;
	f->access = (uint8_t)(f->access | 1u << a->type);
}

static void
see_facility(void *arg, const void *row)
{
	struct census *c = arg;
	const struct tatp_facility *a = row;
	struct found *f = of(c, a->id);
	c->rows[TATP_FACILITY]++;
	if (f == NULL)
		return;
	if (!within(a->type, 1, TATP_TYPES) || a->active > 1 ||
	    !all_in(a->data_b, sizeof a->data_b, 'A', 'Z')) {
		c->bad++;
		return;
	}
	c->twice += f->facility >> a->type & 1;
	f->facility = (uint8_t)(f->facility | 1u << a->type);
}

/* After the facilities. */
static void
see_forward(void *arg, const void *row)
{
	struct census *c = arg;
	const struct tatp_forward *a = row;
	struct found *f = of(c, a->id);
	c->rows[TATP_FORWARD]++;
	if (f == NULL)
		return;
	if (!within(a->type, 1, TATP_TYPES) || !within(a->start, 0, 16) || a->start % 8 != 0 ||
	    !within(a->end, a->start + 1, a->start + 8) || !all_in(a->to, sizeof a->to, '0', '9')) {
		c->bad++;
		return;
	}
	unsigned bit = (unsigned)((a->type - 1) * TATP_STARTS + a->start / 8);
	c->twice += f->forward >> bit & 1;
	f->forward = (uint16_t)(f->forward | 1u << bit);
	c->strangers += (f->facility >> a->type & 1) == 0; /* the foreign key */
}

uint64_t
bench_tatp_check(void *const *side, unsigned machines, const struct cn_place *pl)
{
	static void (*const see[TATP_TABLES])(void *arg, const void *row) = { see_subscriber, see_number,
		see_access, see_facility, see_forward };
	struct tatp_side *s = side[0];
	struct bench_table all[TATP_TABLES];
	struct census c = { .subscribers = s->p->subscribers,
		.of = calloc((size_t)s->p->subscribers + 1, sizeof *c.of) };
	struct txn *t;
	uint64_t bad = 0, missing = 0, lone = 0, rows = 0;
	int64_t forwards = (int64_t)s->loaded[TATP_FORWARD];
	if (c.of == NULL || bench_tables_begin(pl, &t) != NAM_OK) {
		free(c.of);
		return bench_complain("cannot begin", 1);
	}
	bench_tatp_tables(s, all);
	for (unsigned i = 0; i < machines; i++)
		forwards += atomic_load(&((struct tatp_side *)side[i])->forwards);
	for (unsigned i = 0; i < TATP_TABLES; i++) {
		bad += bench_tables_each(t, all[i].at, see[i], &c);
		uint64_t want = i == TATP_FORWARD ? (uint64_t)forwards : s->loaded[i];
		missing += c.rows[i] > want ? c.rows[i] - want : want - c.rows[i];
		rows += c.rows[i];
	}
	for (unsigned id = 1; id <= c.subscribers; id++)
		lone += c.of[id].rows != 1 || c.of[id].numbers != 1 || c.of[id].access == 0 ||
			c.of[id].facility == 0;
	bad += bench_complain("rows missing or too many", missing);
	bad += bench_complain("rows without the row that they refer to", c.strangers);
	bad += bench_complain("keys that are there twice", c.twice);
	bad += bench_complain("values that cannot be", c.bad);
	bad += bench_complain("subscribers without all their rows", lone);
	bad += bench_complain("records still locked", bench_tables_locked(t, all, TATP_TABLES));
	fprintf(stderr, "check: %llu rows, %llu forwardings: %s\n", (unsigned long long)rows,
	    (unsigned long long)c.rows[TATP_FORWARD], bad ? "WRONG" : "all holds");
	txn_commit(t, NULL);
	free(c.of);
	return bad;
}
