/*
 * turn.c -- transactions of one process that are about to change the same record come one after the
 * other.
 *
 * Under snapshot isolation the second of two that overlap has a conflict, and does all its work
 * again. Each takes a turn before its snapshot, so that the snapshot covers the one before it. The
 * process has a table of places; a key's hash tells its place, where turns stand in the order of
 * their coming. A turn of several keys stands at their places in rising order, so no circle of
 * waits can close.
 *
 * Turns are a hint: the commit decides, as ever. What has waited for long goes on without: the
 * collector wakes it.
 */
#include "txn_internal.h"

#include <stdlib.h>

enum {
	PLACES = 1024,
	MOST_NS = 1000000,
};

struct txn_turn_place {
	_Alignas(64) atomic_flag busy; /* guards the list, for some instructions */
	struct txn_turn_wait *first, *last;
};

nam_status
txn_turns_open(struct txn_db *db)
{
	db->turns = aligned_alloc(64, PLACES * sizeof *db->turns);
	if (db->turns == NULL)
		return NAM_NOMEM;
	for (unsigned i = 0; i < PLACES; i++)
		db->turns[i] = (struct txn_turn_place){ .busy = ATOMIC_FLAG_INIT };
	return NAM_OK;
}

void
txn_turns_close(struct txn_db *db)
{
	free(db->turns);
	db->turns = NULL;
}

static void
hold(struct txn_turn_place *p)
{
	while (atomic_flag_test_and_set_explicit(&p->busy, memory_order_acquire))
		;
}

static void
let_go(struct txn_turn_place *p)
{
	atomic_flag_clear_explicit(&p->busy, memory_order_release);
}

/* The turn's places, rising, each once. */
static void
arrange(struct txn_turn *turn)
{
	turn->held = turn->places = 0;
	for (unsigned i = 0; i < turn->n; i++) {
		unsigned place = (unsigned)(nam_mix(turn->hash[i]) % PLACES), k = turn->places;
		for (; k > 0 && turn->wait[k - 1].place > place; k--)
			;
		if (k > 0 && turn->wait[k - 1].place == place)
			continue;
		for (unsigned j = turn->places++; j > k; j--)
			turn->wait[j].place = turn->wait[j - 1].place;
		turn->wait[k].place = place;
	}
}

static void
line_up(struct txn_turn_place *p, struct txn_turn_wait *w, struct txn_worker *tw)
{
	w->next = NULL;
	w->co = nam_co_self();
	w->tw = tw;
	hold(p);
	atomic_store_explicit(&w->first, p->first == NULL, memory_order_relaxed);
	if (p->first == NULL)
		p->first = w;
	else
		p->last->next = w;
	p->last = w;
	let_go(p);
}

/* The wait's coroutine cannot end before it has had the place's list itself. */
static void
call_up(struct txn_turn_wait *w, const struct txn_worker *tw)
{
	atomic_store_explicit(&w->first, true, memory_order_release);
	if (w->tw == tw)
		nam_co_wake(w->co);
	else
		nam_co_post(w->co);
}

/* Out of the line, from any place in it. */
static void
step_out(struct txn_turn_place *p, struct txn_turn_wait *w)
{
	struct txn_turn_wait *before = NULL;
	hold(p);
	for (struct txn_turn_wait *x = p->first; x != w; x = x->next)
		before = x;
	if (before != NULL)
		before->next = w->next;
	else
		p->first = w->next;
	if (p->last == w)
		p->last = before;
	if (before == NULL && w->next != NULL)
		call_up(w->next, w->tw);
	let_go(p);
}

/* False: it has waited for long. */
static bool
await(struct txn_worker *tw, struct txn_turn_wait *w)
{
	if (atomic_load_explicit(&w->first, memory_order_acquire))
		return true;
	w->until_ns = net_now_ns(tw->w) + MOST_NS;
	w->above = &tw->turn_waits;
	w->below = tw->turn_waits;
	if (w->below != NULL)
		w->below->above = &w->below;
	tw->turn_waits = w;
	bool first;
	while (!(first = atomic_load_explicit(&w->first, memory_order_acquire)) &&
	       net_now_ns(tw->w) < w->until_ns)
		nam_co_park();
	*w->above = w->below;
	if (w->below != NULL)
		w->below->above = w->above;
	return first;
}

void
txn_turns_expire(struct txn_worker *tw)
{
	uint64_t now = tw->turn_waits != NULL ? net_now_ns(tw->w) : 0;
	for (struct txn_turn_wait *w = tw->turn_waits; w != NULL; w = w->below)
		if (now >= w->until_ns)
			nam_co_wake(w->co);
}

void
txn_turn_take(struct txn_worker *tw, struct txn_turn *turn)
{
	NAM_ASSERT(turn->n <= TXN_TURN_KEYS);
	arrange(turn);
	for (; turn->held < turn->places; turn->held++) {
		struct txn_turn_wait *w = &turn->wait[turn->held];
		struct txn_turn_place *p = &tw->db->turns[w->place];
		line_up(p, w, tw);
		if (!await(tw, w)) {
			step_out(p, w);
			return;
		}
	}
}

void
txn_turn_leave(struct txn_worker *tw, struct txn_turn *turn)
{
	while (turn->held > 0) {
		struct txn_turn_wait *w = &turn->wait[--turn->held];
		step_out(&tw->db->turns[w->place], w);
	}
}
