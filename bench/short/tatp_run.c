/* tatp_run.c -- TATP's seven transactions. One that finds no row, as the specification expects of
 * many, is refused: it counts neither as a commit nor as an abort. */
#include "tatp.h"

#include <string.h>

enum { ROWS_MAX = 1 + TATP_STARTS };

struct run {
	struct tatp_side *s;
	const struct tatp_order *o;
	struct txn *t;
	struct nam_arena *a;
	struct txn_get get[ROWS_MAX];
	struct tatp_facility facility; /* keys */
	struct tatp_forward forward[TATP_STARTS];
	struct tatp_access access;
	bool refused;
	int forwards; /* inserted, less deleted */
};

/* Reads n rows. must: the first of them exists. */
static nam_status
read_rows(struct run *r, unsigned n, bool must)
{
	nam_status st = txn_get(r->t, r->get, n, r->a);
	for (unsigned i = 0; st == NAM_OK && i < n; i++)
		if (r->get[i].status != NAM_ABSENT)
			st = r->get[i].status;
	if (st == NAM_OK && must && r->get[0].status == NAM_ABSENT)
		st = NAM_CORRUPT;
	return st;
}

static struct txn_get
subscriber(struct run *r, const int64_t *id)
{
	return bench_get(&r->s->table[TATP_SUBSCRIBER], id, 8);
}

static struct txn_get
facility(struct run *r, int64_t id)
{
	r->facility = (struct tatp_facility){ .id = id, .type = r->o->type };
	return bench_get(&r->s->table[TATP_FACILITY], &r->facility, 16);
}

static struct txn_get
forward(struct run *r, int64_t id, int start)
{
	struct tatp_forward *f = &r->forward[start / 8];
	*f = (struct tatp_forward){ .id = id, .type = r->o->type, .start = start };
	return bench_get(&r->s->table[TATP_FORWARD], f, 16);
}

/* The subscriber's id by its number. */
static nam_status
by_number(struct run *r, int64_t *id)
{
	r->get[0] = bench_get(&r->s->table[TATP_NUMBERS], r->o->number, TATP_NUMBER);
	nam_status st = read_rows(r, 1, true);
	*id = st == NAM_OK ? ((const struct tatp_number *)r->get[0].row.bytes)->id : 0;
	return st;
}

static nam_status
get_access(struct run *r)
{
	r->access = (struct tatp_access){ .id = r->o->id, .type = r->o->type };
	r->get[0] = bench_get(&r->s->table[TATP_ACCESS], &r->access, 16);
	nam_status st = read_rows(r, 1, false);
	r->refused = st == NAM_OK && r->get[0].status == NAM_ABSENT;
	return st;
}

static nam_status
get_destination(struct run *r)
{
	unsigned n = 0;
	r->get[n++] = facility(r, r->o->id);
	for (int start = 0; start <= r->o->start; start += 8)
		r->get[n++] = forward(r, r->o->id, start);
	nam_status st = read_rows(r, n, false);
	if (st != NAM_OK)
		return st;
	r->refused = true;
	if (r->get[0].status == NAM_ABSENT || !((const struct tatp_facility *)r->get[0].row.bytes)->active)
		return NAM_OK;
	for (unsigned i = 1; i < n; i++)
		if (r->get[i].status == NAM_OK &&
		    ((const struct tatp_forward *)r->get[i].row.bytes)->end > r->o->end)
			r->refused = false;
	return NAM_OK;
}

static nam_status
update_subscriber(struct run *r)
{
	void *row;
	r->get[0] = subscriber(r, &r->o->id);
	r->get[1] = facility(r, r->o->id);
	nam_status st = read_rows(r, 2, true);
	if (st != NAM_OK || (r->refused = r->get[1].status == NAM_ABSENT))
		return st;
	if ((st = txn_edit(r->t, r->get[0].table, &r->get[0].row, &row)) != NAM_OK)
		return st;
	struct tatp_subscriber *s = row;
	s->bits = (uint16_t)((s->bits & ~1u) | (r->o->value & 1));
	if ((st = txn_edit(r->t, r->get[1].table, &r->get[1].row, &row)) != NAM_OK)
		return st;
	((struct tatp_facility *)row)->data_a = (uint8_t)(r->o->value >> 8);
	return NAM_OK;
}

static nam_status
update_location(struct run *r)
{
	void *row;
	int64_t id;
	nam_status st = by_number(r, &id);
	if (st != NAM_OK)
		return st;
	r->get[0] = subscriber(r, &id);
	if ((st = read_rows(r, 1, true)) != NAM_OK ||
	    (st = txn_edit(r->t, r->get[0].table, &r->get[0].row, &row)) != NAM_OK)
		return st;
	((struct tatp_subscriber *)row)->vlr = r->o->value;
	return NAM_OK;
}

static nam_status
insert_forward(struct run *r)
{
	int64_t id;
	nam_status st = by_number(r, &id);
	if (st != NAM_OK)
		return st;
	/* The foreign key: the facility exists. */
	r->get[0] = facility(r, id);
	st = read_rows(r, 1, false);
	if (st != NAM_OK || (r->refused = r->get[0].status == NAM_ABSENT))
		return st;
	struct tatp_forward row = {
		.id = id, .type = r->o->type, .start = r->o->start, .end = (uint8_t)r->o->end
	};
	memcpy(row.to, r->o->to, sizeof row.to);
	struct txn_put put = bench_put(&r->s->table[TATP_FORWARD], &row, sizeof row, 16);
	st = txn_insert(r->t, &put, 1);
	r->forwards = 1;
	return st;
}

static nam_status
delete_forward(struct run *r)
{
	int64_t id;
	nam_status st = by_number(r, &id);
	if (st != NAM_OK)
		return st;
	r->get[0] = forward(r, id, r->o->start);
	st = read_rows(r, 1, false);
	if (st != NAM_OK || (r->refused = r->get[0].status == NAM_ABSENT))
		return st;
	r->forwards = -1;
	return txn_delete(r->t, r->get[0].table, &r->get[0].row);
}

static nam_status
body(struct run *r)
{
	switch (r->o->what) {
	case TATP_GET_SUBSCRIBER:
		r->get[0] = subscriber(r, &r->o->id);
		return read_rows(r, 1, true);
	case TATP_GET_ACCESS:
		return get_access(r);
	case TATP_GET_DESTINATION:
		return get_destination(r);
	case TATP_UPDATE_SUBSCRIBER:
		return update_subscriber(r);
	case TATP_UPDATE_LOCATION:
		return update_location(r);
	case TATP_INSERT_FORWARD:
		return insert_forward(r);
	default:
		return delete_forward(r);
	}
}

/* One attempt. */
static nam_status
attempt(struct run *r, const struct cn_place *pl, struct net_counts *counts)
{
	nam_status st = txn_begin(pl->txn, TXN_REPEATABLE_READ, &r->t);
	if (st != NAM_OK)
		return st;
	txn_set_counts_sink(r->t, counts);
	r->refused = false;
	r->forwards = 0;
	st = body(r);
	if (st == NAM_OK && !r->refused)
		st = txn_commit(r->t, NULL);
	else
		txn_abort(r->t);
	if (st == NAM_DUPLICATE) { /* the primary key */
		r->refused = true;
		st = NAM_OK;
	}
	if (st != NAM_OK || r->refused)
		r->forwards = 0;
	return st;
}

void
bench_tatp_client(
    void *side, const struct cn_place *pl, unsigned number, struct bench_slice *out, const atomic_bool *stop)
{
	struct tatp_side *s = side;
	struct nam_arena a;
	struct nam_rng dice;
	struct tatp_order o;
	struct run r = { .s = s, .o = &o, .a = &a };
	nam_arena_init(&a, 32 << 10);
	nam_rng_init(&dice, s->seed + number * 7919u + out->round * UINT64_C(104729));
	int64_t forwards = 0;
	nam_status st = NAM_OK;
	uint64_t ended = net_now_ns(pl->net);
	while (st == NAM_OK && !atomic_load_explicit(stop, memory_order_relaxed)) {
		bench_tatp_draw(&o, &dice, s->p);
		uint64_t began = ended; /* closed loop: the next begins when the last has been
					 * answered */
		nam_arena_reset(&a);
		while ((st = attempt(&r, pl, &s->counts[number])) == NAM_CONFLICT) {
			out->aborts++;
			nam_arena_reset(&a);
		}
		ended = net_now_ns(pl->net);
		if (st == NAM_OK && r.refused) {
			out->refused++;
		} else if (st == NAM_OK) {
			forwards += r.forwards;
			out->commits++;
			nam_hist_add(&out->latency_ns, ended - began);
		}
	}
	if (st != NAM_OK) {
		out->errors++;
		fprintf(stderr, "namdb bench: TATP: %s\n", nam_status_text(st));
	}
	atomic_fetch_add(&s->forwards, forwards);
	nam_arena_fini(&a);
}
