/* tatp.c -- TATP's population and options: subscribers of a telephone network, by the rules of its
 * specification. */
#include "tatp.h"

#include <bench/mix.h>

#include <string.h>

struct tatp_params bench_tatp_params = { .subscribers = 100000 };

/* Get-subscriber, get-access, get-new-destination, update-subscriber, update-location, insert and
 * delete call forwarding. */
const unsigned bench_tatp_percent[TATP_KINDS] = { 35, 35, 10, 2, 14, 2, 2 };

/* ---- the population -------------------------------------------------------------------------- */

static void
number_of(char out[TATP_NUMBER], int64_t id)
{
	memset(out, 0, TATP_NUMBER);
	for (unsigned i = TATP_NUMBER - 1; i-- > 0; id /= 10)
		out[i] = (char)('0' + id % 10);
}

static void
letters(char *out, unsigned n, struct nam_rng *r, char first, unsigned many)
{
	for (unsigned i = 0; i < n; i++)
		out[i] = (char)(first + (int)nam_rng_below(r, many));
}

/* From 1 to 4 of the types, each as often: a set of bits. */
static unsigned
some_types(struct nam_rng *r)
{
	unsigned want = 1 + (unsigned)nam_rng_below(r, TATP_TYPES), have = 0, set = 0;
	while (have < want) {
		unsigned type = (unsigned)nam_rng_below(r, TATP_TYPES);
		have += (set >> type & 1) == 0;
		set |= 1u << type;
	}
	return set;
}

void
bench_tatp_rows(struct tatp_rows *out, int64_t id)
{
	struct nam_rng r;
	nam_rng_init(&r, (uint64_t)id);
	memset(out, 0, sizeof *out);
	struct tatp_subscriber *s = &out->subscriber;
	s->id = out->number.id = id;
	number_of(s->number, id);
	memcpy(out->number.number, s->number, TATP_NUMBER);
	s->bits = (uint16_t)nam_rng_below(&r, 1u << TATP_BITS);
	for (unsigned i = 0; i < TATP_BITS; i++) {
		s->hex[i] = (uint8_t)nam_rng_below(&r, 16);
		s->byte2[i] = (uint8_t)nam_rng_below(&r, 256);
	}
	s->msc = (uint32_t)nam_rng_next(&r);
	s->vlr = (uint32_t)nam_rng_next(&r);
	out->count[TATP_SUBSCRIBER] = out->count[TATP_NUMBERS] = 1;
	unsigned access = some_types(&r), facility = some_types(&r);
	for (unsigned type = 1; type <= TATP_TYPES; type++) {
		if (access >> (type - 1) & 1) {
			struct tatp_access *a = &out->access[out->count[TATP_ACCESS]++];
			*a = (struct tatp_access){ .id = id,
				.type = type,
				.data1 = (uint8_t)nam_rng_below(&r, 256),
				.data2 = (uint8_t)nam_rng_below(&r, 256) };
			letters(a->data3, sizeof a->data3, &r, 'A', 26);
			letters(a->data4, sizeof a->data4, &r, 'A', 26);
		}
		if ((facility >> (type - 1) & 1) == 0)
			continue;
		struct tatp_facility *f = &out->facility[out->count[TATP_FACILITY]++];
		*f = (struct tatp_facility){ .id = id,
			.type = type,
			.active = nam_rng_below(&r, 100) < 85,
			.error = (uint8_t)nam_rng_below(&r, 256),
			.data_a = (uint8_t)nam_rng_below(&r, 256) };
		letters(f->data_b, sizeof f->data_b, &r, 'A', 26);
		/* 0 to 3 forwardings, each number as often, with different starts. */
		unsigned want = (unsigned)nam_rng_below(&r, TATP_STARTS + 1), starts = 0, have = 0;
		while (have < want) {
			unsigned start = (unsigned)nam_rng_below(&r, TATP_STARTS);
			if (starts >> start & 1)
				continue;
			starts |= 1u << start;
			have++;
			struct tatp_forward *w = &out->forward[out->count[TATP_FORWARD]++];
			*w = (struct tatp_forward){ .id = id,
				.type = (int32_t)type,
				.start = (int32_t)start * 8,
				.end = (uint8_t)(start * 8 + 1 + nam_rng_below(&r, 8)) };
			letters(w->to, sizeof w->to, &r, '0', 10);
		}
	}
}

/* ---- the mix --------------------------------------------------------------------------------- */

/* The specification's A for a population of that size. */
static uint64_t
spread_of(unsigned subscribers)
{
	return subscribers <= 1000000 ? 65535 : subscribers <= 10000000 ? 1048575 : 2097151;
}

void
bench_tatp_draw(struct tatp_order *o, struct nam_rng *r, const struct tatp_params *p)
{
	unsigned dice = (unsigned)nam_rng_below(r, 100), what = 0;
	while (dice >= bench_tatp_percent[what])
		dice -= bench_tatp_percent[what++];
	o->what = (enum tatp_what)what;
	uint64_t a = nam_rng_below(r, spread_of(p->subscribers) + 1);
	uint64_t b = 1 + nam_rng_below(r, p->subscribers);
	o->id = (int64_t)((a | b) % p->subscribers + 1);
	number_of(o->number, o->id);
	o->type = 1 + (int)nam_rng_below(r, TATP_TYPES);
	o->start = 8 * (int)nam_rng_below(r, TATP_STARTS);
	/* A question's end is any hour; that of a new forwarding is up to 8 hours after its
	 * start. */
	o->end = o->what == TATP_INSERT_FORWARD ? o->start + 1 + (int)nam_rng_below(r, 8)
						: 1 + (int)nam_rng_below(r, 24);
	o->value = (uint32_t)nam_rng_next(r);
	letters(o->to, sizeof o->to, r, '0', 10);
}

/* ---- tables ---------------------------------------------------------------------------------- */

static const uint32_t row_bytes[TATP_TABLES] = { sizeof(struct tatp_subscriber), sizeof(struct tatp_number),
	sizeof(struct tatp_access), sizeof(struct tatp_facility), sizeof(struct tatp_forward) };

void
bench_tatp_tables(struct tatp_side *s, struct bench_table out[TATP_TABLES])
{
	for (unsigned i = 0; i < TATP_TABLES; i++)
		out[i] = (struct bench_table){ &s->table[i], row_bytes[i], i == TATP_SUBSCRIBER ? 8 : 16 };
}

static uint64_t
bytes(const void *params)
{
	/* some ten rows of two versions each, and what the workers keep at hand */
	return (uint64_t)((const struct tatp_params *)params)->subscribers * 3000 + (UINT64_C(1) << 30);
}

static size_t
entries(const void *params)
{
	return (size_t)((const struct tatp_params *)params)->subscribers * 22;
}

static void
begin(void *side, const struct bench_sim *p, unsigned machine, struct net_counts *counts)
{
	(void)machine;
	*(struct tatp_side *)side =
	    (struct tatp_side){ .p = &bench_tatp_params, .counts = counts, .seed = p->seed };
}

static unsigned
tables(void *side, struct txn_table *out[BENCH_SIM_TABLES])
{
	struct tatp_side *s = side;
	for (unsigned i = 0; i < TATP_TABLES; i++)
		out[i] = &s->table[i];
	return TATP_TABLES;
}

static nam_status
prepare(void *side, const struct cn_place *pl)
{
	struct bench_table t[TATP_TABLES];
	bench_tatp_tables(side, t);
	return bench_tables_make(pl, t, TATP_TABLES);
}

/* Rows of one table that wait until a batch is full. */
struct waiting {
	unsigned n;
	char row[BENCH_LOAD_BATCH * sizeof(struct tatp_subscriber)];
};

static nam_status
pass_on(struct tatp_side *s, const struct cn_place *pl, const struct bench_table *t, struct waiting *w,
    bool insert)
{
	nam_status st = w->n == 0 ? NAM_OK
			: insert  ? bench_tables_load(pl, t, w->row, w->n)
				  : bench_tables_warm(pl, t, w->row, t->row, w->n);
	if (insert)
		s->loaded[t->at - s->table] += w->n;
	w->n = 0;
	return st;
}

static nam_status
every(struct tatp_side *s, const struct cn_place *pl, bool insert)
{
	struct bench_table t[TATP_TABLES];
	static _Thread_local struct waiting w[TATP_TABLES];
	nam_status st = NAM_OK;
	bench_tatp_tables(s, t);
	for (unsigned i = 0; i < TATP_TABLES; i++)
		w[i].n = 0;
	for (int64_t id = 1; st == NAM_OK && id <= (int64_t)s->p->subscribers; id++) {
		struct tatp_rows r;
		bench_tatp_rows(&r, id);
		const void *row[TATP_TABLES] = { &r.subscriber, &r.number, r.access, r.facility, r.forward };
		for (unsigned i = 0; i < TATP_TABLES; i++)
			for (unsigned k = 0; st == NAM_OK && k < r.count[i]; k++) {
				memcpy(w[i].row + (size_t)w[i].n++ * t[i].row,
				    (const char *)row[i] + (size_t)k * t[i].row, t[i].row);
				if (w[i].n == BENCH_LOAD_BATCH)
					st = pass_on(s, pl, &t[i], &w[i], insert);
			}
		bench_progress("%s subscribers %3d %%", insert ? "loading" : "reading",
		    (int)((uint64_t)id * 100 / s->p->subscribers));
	}
	for (unsigned i = 0; st == NAM_OK && i < TATP_TABLES; i++)
		st = pass_on(s, pl, &t[i], &w[i], insert);
	bench_progress_end(NULL);
	return st;
}

static nam_status
warm(void *side, const struct cn_place *pl)
{
	return every(side, pl, false);
}

static nam_status
load(void *side, const struct cn_place *pl)
{
	nam_status st = every(side, pl, true);
	return st == NAM_OK ? warm(side, pl) : st;
}

static void
drop(void *side, const struct cn_place *pl)
{
	struct bench_table t[TATP_TABLES];
	bench_tatp_tables(side, t);
	bench_tables_drop(pl, t, TATP_TABLES);
}

/* ---- options --------------------------------------------------------------------------------- */

static const struct bench_published published[] = {
	{ "SMART-DTX", "6.70 M/s, P50 37 us: 1 compute blade, 80 threads",
	    "ConnectX-6 200 Gb/s, 2 memory nodes" },
	{ "FaRM", "140 M/s on 90 machines", "90 machines; data and transactions on the same ones" },
	{ 0 },
};

static bool
take(void *params, int letter, char *v)
{
	struct tatp_params *p = params;
	unsigned n;
	return letter == 'N' && bench_take_numbers(v, 1, 100000000, &p->subscribers, 1, &n);
}

static void
usage(FILE *to)
{
	fprintf(to,
	    "usage: namdb bench tatp [options]\n"
	    "TATP: seven short transactions on the subscribers of a telephone network, four in five only "
	    "read.\n"
	    "  --subscribers N  subscribers (default 100000; Motor: 2000000)\n");
	bench_mix_usage(to);
}

const struct bench_sim_user bench_tatp_user = { .bench = "tatp",
	.params = &bench_tatp_params,
	.side_size = sizeof(struct tatp_side),
	.usage = usage,
	.take = take,
	.bytes = bytes,
	.entries = entries,
	.begin = begin,
	.tables = tables,
	.prepare = prepare,
	.load = load,
	.warm = warm,
	.client = bench_tatp_client,
	.check = bench_tatp_check,
	.drop = drop,
	.published = published,
	.more = bench_mix_more };

int
bench_tatp(int argc, char **argv)
{
	static const struct option own[] = { { "subscribers", 1, NULL, 'N' }, { 0 } };
	return bench_mix_main(argc, argv, own, &bench_tatp_params, &bench_tatp_user);
}
