/*
 * cuts_disks.c -- the disks of sim_cuts: each is that of a storage node which has a copy of the
 * log, with faults and cuts of its own.
 *
 * After a cut of the whole cluster one disk of several may be lost for good: it is empty in the
 * next life; or its node is started without it, an operator has told the other nodes that its copy
 * is lost, and it comes back a life later, empty or with what it had. Then the node that has gone
 * on may be started with an empty directory by mistake: so the old copy is the only one there, and
 * must not be taken for the database.
 */
#include "cuts_run.h"

#include <base/hash.h>
#include <wal/remote/host.h>
#include <wal/testing/faulty.h>

enum { SEGMENT = CUT_SEGMENT, LOST_STEPS = 50, MORE_STEPS = 12 };
/* In the extent of the log's line: so large that most commits fit, so small that they wrap. */
enum { RINGS_AT = 4096, RING_BYTES = 4096 };

static uint64_t
sim_clock(void *arg)
{
	return net_sim_now_ns(((struct cut_run *)arg)->c.sim);
}

/* A disk that takes its time: the flusher's next step begins when the last one has ended. */
static bool
slow_idle(void *arg)
{
	struct cut_disk *d = arg;
	struct cut_run *r = d->run;
	uint64_t now = net_sim_now_ns(r->c.sim);
	if (now < d->ready)
		return true;
	bool did = d->service.idle(d->service.arg);
	if (did && r->shape.disk_ns > 0)
		d->ready = now + nam_rng_below(&d->dice, r->shape.disk_ns);
	return did;
}

static nam_status
handle(void *arg, struct net_request *rq)
{
	struct cut_disk *d = arg;
	return d->service.fn(d->service.arg, rq);
}

/* An operator says that the copy on that node is lost for good. */
static void
say_lost(struct cut_disk *d, unsigned region)
{
	struct wal_rq rq = { .what = WAL_LOST, .arg = region };
	uint64_t answer[sizeof(struct wal_report) / 8];
	struct net_request request = {
		.len = sizeof rq, .bytes = &rq, .answer = answer, .answer_max = sizeof answer
	};
	if (d->line->published == 0 || !wal_ids_have(d->line->copies.copy, region))
		return;
	if (d->service.fn(d->service.arg, &request) != NAM_OK)
		cluster_bad(&d->run->c, "a lost copy cannot be told of");
	for (unsigned i = 0; i < LOST_STEPS && !wal_ids_have(d->line->copies.lost, region); i++)
		d->service.idle(d->service.arg);
	d->run->lost_said++;
	if (wal_ids_have(d->line->copies.lost, region))
		return;
	d->run->over = wal_faulty_stopped(d->dir) || d->run->shape.fail_sync != 0;
	if (!d->run->over)
		cluster_bad(&d->run->c, "the manifest does not say that a copy is lost");
}

bool
cut_disk_serve(struct cut_disk *d)
{
	struct cut_run *r = d->run;
	struct nam_err err;
	struct net_super *super = net_sim_memory(r->c.sim, d->region);
	super->log = super->bump;
	super->bump += NET_EXTENT;
	d->line = (struct wal_line *)(void *)((char *)super + super->log);
	const struct wal_host_config cfg = {
		.log = { .dir = d->dir,
		    .node = d->region,
		    .segment_bytes = SEGMENT,
		    .buffer_bytes = 1 << 20,
		    .plain = r->shape.plain,
		    .clock = sim_clock,
		    .clock_arg = r },
		.line = d->line,
		.line_at = net_at(d->region, super->log),
		.rings = r->shape.rings ? (char *)super + super->log + RINGS_AT : NULL,
		.rings_at = net_at(d->region, super->log + RINGS_AT),
		.rings_bytes = NET_EXTENT - RINGS_AT,
		.ring_bytes = RING_BYTES,
		.rings_any = true,
	};
	nam_status st = wal_host_open(&d->host, &cfg, &err);
	if (st != NAM_OK) {
		d->line = NULL;
		/* A cut, or a failing disk, while a cut is repaired. */
		r->over = wal_faulty_stopped(d->dir) || r->shape.fail_sync != 0;
		if (!r->over)
			printf("  the log cannot be opened: %s\n", err.text);
		return false;
	}
	wal_host_service(d->host, &d->service);
	struct net_service *served = &r->c.log[d->region];
	*served = d->service;
	served->fn = handle;
	served->idle = slow_idle;
	served->arg = d;
	return true;
}

bool
cut_disks_serve(struct cluster *c)
{
	struct cut_run *r = c->arg;
	for (unsigned i = 0; i < r->disks; i++)
		if (!r->disk[i].absent && !cut_disk_serve(&r->disk[i]))
			return false;
	for (unsigned i = 0; i < r->disks; i++)
		for (unsigned k = 0; k < r->disks && !r->over; k++)
			if ((r->disk[k].absent || r->disk[k].emptied) && i != k && !r->disk[i].absent)
				say_lost(&r->disk[i], r->disk[k].region);
	return !r->over;
}

unsigned
cut_first_region(uint64_t seed, unsigned disks)
{
	return 1 + (disks == 1 && nam_mix(seed ^ 0x2d) % 3 == 0);
}

/* Faults of a life: each of one disk. */
void
cut_disks_begin(struct cut_run *r)
{
	const struct cut_shape *s = &r->shape;
	for (unsigned i = 0; i < r->disks; i++) {
		struct cut_disk *d = &r->disk[i];
		r->mistaken = r->mistaken || d->own != NULL;
		d->run = r;
		d->region = i + cut_first_region(r->seed, r->disks);
		d->host = NULL;
		d->line = NULL;
		d->ready = 0;
		nam_rng_init(&d->dice, (r->seed ^ r->number) + 77 * i);
		wal_faulty_stop_at(d->dir, i == s->ill ? s->cut_call : 0);
		wal_faulty_fail_sync(d->dir, i == s->ill ? s->fail_sync : 0);
	}
}

bool
cut_disks_stopped(const struct cut_run *r)
{
	for (unsigned i = 0; i < r->disks; i++)
		if (wal_faulty_stopped(r->disk[i].dir))
			return true;
	return false;
}

void
cut_disks_room(struct cut_run *r)
{
	struct wal_dir *d = r->disk[r->shape.ill].dir;
	wal_faulty_room(d, wal_faulty_used(d) + r->shape.room);
}

/* A life that was used is published on all its copies. Has that disk the last one of these, if the
 * other one's last may not have been used? */
static bool
has_last_used(const struct wal_line *l, unsigned region, const struct wal_line *other)
{
	return l->published >= other->published ||
	       (wal_ids_have(other->copies.copy, region) && l->published == other->copies.former[0].life);
}

/* Would the database be there without that disk? *same: it has the same life as the others. */
static bool
can_lose(const struct cut_run *r, unsigned lost, bool *same)
{
	const struct cut_disk *x = &r->disk[lost];
	bool can = false;
	*same = !cut_disks_stopped(r);
	for (unsigned i = 0; i < r->disks; i++) {
		const struct wal_line *l = r->disk[i].line;
		if (i == lost)
			continue;
		if (l == NULL || x->line == NULL || l->published == 0)
			return false;
		can = can || has_last_used(l, r->disk[i].region, x->line);
		*same = *same && l->published == x->line->published;
	}
	return can;
}

/* The next life begins with an empty directory in the place of d's, beside an old copy. */
static void
mistake(struct cut_run *r, struct cut_disk *d, const struct cut_disk *old)
{
	if (!old->absent || old->emptied || d->line == NULL || !r->judged)
		return;
	struct wal_dir *empty = wal_faulty_open(r->seed * 10 + r->number + 2000);
	if (empty == NULL)
		return;
	if (r->shape.power || cut_disks_stopped(r))
		wal_faulty_cut(d->dir);
	else
		wal_faulty_end(d->dir);
	d->own = d->dir;
	d->dir = empty;
}

static void
lose_one(struct cut_run *r)
{
	struct nam_rng dice;
	nam_rng_init(&dice, nam_mix(r->seed * 31 + r->number) ^ 0xd15c);
	unsigned lost = (unsigned)nam_rng_below(&dice, r->disks);
	bool loses = nam_rng_below(&dice, 3) == 0, kept = nam_rng_below(&dice, 3) == 0, same;
	bool absent = nam_rng_below(&dice, 3) != 0;
	/* A disk that was missing is there again, as it is. */
	bool any = false;
	for (unsigned i = 0; i < r->disks; i++)
		any = any || r->disk[i].absent;
	loses = loses && !any && can_lose(r, lost, &same);
	if (r->disks == 2 && r->number + 2 < CUT_LIVES)
		for (unsigned i = 0; i < 2; i++)
			mistake(r, &r->disk[i], &r->disk[1 - i]);
	for (unsigned i = 0; i < r->disks; i++) {
		r->disk[i].absent = false;
		if (r->disk[i].line != NULL && r->disk[i].line->published != 0)
			r->disk[i].emptied = false;
	}
	if (!loses)
		return;
	r->disk[lost].absent = absent;
	if (absent && kept && same)
		return;
	r->disk[lost].emptied = true;
	r->disks_lost++;
	wal_faulty_close(r->disk[lost].dir);
	r->disk[lost].dir = wal_faulty_open(r->seed * 10 + r->number + 1000);
}

/* The cluster has ended. */
void
cut_disks_end(struct cut_run *r)
{
	const struct cut_shape *s = &r->shape;
	bool power = s->power || cut_disks_stopped(r);
	/* With several disks each is cut at a moment of its own. */
	for (unsigned i = 0; i < r->disks && r->disks > 1; i++) {
		struct cut_disk *d = &r->disk[i];
		uint64_t more =
		    d->host != NULL && !wal_faulty_stopped(d->dir) ? nam_rng_below(&d->dice, MORE_STEPS) : 0;
		while (more-- > 0 && d->service.idle(d->service.arg))
			;
	}
	bool last = r->number == CUT_LIVES;
	bool mistaken = r->mistaken;
	for (unsigned i = 0; i < r->disks; i++) {
		struct cut_disk *d = &r->disk[i];
		if (d->own == NULL)
			continue;
		wal_faulty_close(d->dir);
		d->dir = d->own;
		d->own = NULL;
	}
	if (r->disks > 1 && !last && !mistaken)
		lose_one(r);
	for (unsigned i = 0; i < r->disks; i++) {
		if (power)
			wal_faulty_cut(r->disk[i].dir);
		else
			wal_faulty_end(r->disk[i].dir);
		wal_faulty_room(r->disk[i].dir, UINT64_MAX);
	}
}
