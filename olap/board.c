/* board.c -- where processes find jobs: those that ask for help, and those whose owner has died. */
#include <olap/job.h>

#include <stdlib.h>
#include <string.h>

enum { LOOK = 64 }; /* places of the board in one READ */

net_addr
olap_board_place_at(net_addr board, unsigned i)
{
	return net_plus(board, i * sizeof(struct olap_board_place));
}

/* Boards are extents. */
net_addr
olap_board_of(net_addr place)
{
	return (net_addr){ place.bits & ~(uint64_t)(NET_EXTENT - 1) };
}

net_addr
olap_door(net_addr place)
{
	return net_plus(place, offsetof(struct olap_board_place, door));
}

nam_status
olap_board_make(struct net_worker *w, net_addr *board)
{
	const struct net *n = net_worker_net(w);
	nam_status st = NAM_FULL;
	for (unsigned i = 0; i < net_node_count(n) && st == NAM_FULL; i++)
		st = net_extent_take(w, net_node(n, i)->region, 1, board);
	return st;
}

nam_status
olap_board_drop(struct net_worker *w, net_addr board)
{
	return net_extent_give(w, board);
}

nam_status
olap_board_take(struct net_worker *w, net_addr board, uint64_t identity, net_addr *out)
{
	struct olap_board_place look[LOOK];
	unsigned from = (unsigned)nam_rng_below(net_rng(w), OLAP_BOARD / LOOK);
	for (unsigned k = 0; k < OLAP_BOARD / LOOK; k++) {
		unsigned first = (from + k) % (OLAP_BOARD / LOOK) * LOOK;
		nam_status st = net_read1(w, olap_board_place_at(board, first), look, sizeof look, NULL);
		for (unsigned i = first == 0; st == NAM_OK && i < LOOK; i++) {
			uint64_t seen = 1;
			if (look[i].identity != 0)
				continue;
			*out = olap_board_place_at(board, first + i);
			st = net_cas1(w, *out, 0, identity, &seen, NULL);
			if (st == NAM_OK && seen == 0)
				return NAM_OK;
		}
		if (st != NAM_OK)
			return st;
	}
	return NAM_FULL;
}

nam_status
olap_board_name(struct net_worker *w, net_addr place, net_addr head, uint64_t maker, struct net_counts *acct)
{
	const struct olap_board_place p = { .head = head.bits, .door = OLAP_SHUT, .maker = maker };
	size_t from = offsetof(struct olap_board_place, head);
	return net_write1(
	    w, net_plus(place, from), (const char *)&p + from, (uint32_t)(sizeof p - from), acct);
}

nam_status
olap_board_leave(struct net_worker *w, net_addr place, net_addr head)
{
	struct net_op op[2];
	struct net_batch b;
	uint64_t none = 0;
	nam_status st =
	    net_write1(w, net_plus(place, offsetof(struct olap_board_place, head)), &none, 8, NULL);
	if (st == NAM_OK && head.bits != 0)
		st = net_extent_give(w, head);
	if (st != NAM_OK)
		return st;
	/* One connection: a place that is free names no maker. */
	net_batch_init(&b, w, op, 2, NULL);
	net_write(&b, net_plus(place, offsetof(struct olap_board_place, maker)), &none, sizeof none);
	net_write(&b, place, &none, sizeof none);
	return net_run(&b);
}

nam_status
olap_door_shut(struct net_worker *w, net_addr place)
{
	struct net_backoff pause = { .base_ns = 5000, .cap_ns = 500000, .yields = 100, .hold = 4 };
	struct olap_lease lease = { 0 };
	uint64_t was = OLAP_OPEN;
	for (;;) {
		uint64_t seen = was;
		nam_status st = net_cas1(w, olap_door(place), was, OLAP_SHUT, &seen, NULL);
		if (st != NAM_OK || seen == was || seen == OLAP_SHUT)
			return st;
		/* A process enters: it is through soon, or it is dead. */
		bool dead = false, late = olap_is_late(w, &lease, seen);
		was = OLAP_OPEN;
		if ((seen & 255) == OLAP_ENTERED) {
			if ((st = olap_fence_if_dead(w, seen >> 8, late, &dead)) != NAM_OK)
				return st;
			if (dead)
				was = seen;
		}
		if (!dead)
			net_back_off(w, &pause);
	}
}

/* ---- what is on it ---- */

/* Calls each(arg, place, what it READ) for all places, many with a READ. */
static nam_status
look_at_all(struct net_worker *w, net_addr board,
    nam_status (*each)(void *arg, unsigned i, const struct olap_board_place *p), void *arg)
{
	struct olap_board_place *all = malloc(OLAP_BOARD * sizeof *all);
	nam_status st = all != NULL ? net_read1(w, board, all, OLAP_BOARD * sizeof *all, NULL) : NAM_NOMEM;
	for (unsigned i = 1; st == NAM_OK && i < OLAP_BOARD; i++)
		if (all[i].identity != 0)
			st = each(arg, i, &all[i]);
	free(all);
	return st;
}

nam_status
olap_board_calls(struct net_worker *w, net_addr board, uint64_t *calls)
{
	return net_read1(w, board, calls, sizeof *calls, NULL);
}

struct offers {
	uint64_t me;
	unsigned *place, max, n;
};

static nam_status
add_offer(void *arg, unsigned i, const struct olap_board_place *p)
{
	struct offers *o = arg;
	if (p->identity != o->me && p->door != OLAP_SHUT && o->n < o->max)
		o->place[o->n++] = i;
	return NAM_OK;
}

nam_status
olap_board_offers(struct net_worker *w, net_addr board, unsigned *place, unsigned max, unsigned *n)
{
	struct offers o = { net_identity(net_worker_net(w)), place, max, 0 };
	nam_status st = look_at_all(w, board, add_offer, &o);
	*n = o.n;
	return st;
}

struct owners {
	uint64_t *owner;
	unsigned max, n;
};

static nam_status
add_identity(struct owners *o, uint64_t identity)
{
	for (unsigned k = 0; k < o->n; k++)
		if (o->owner[k] == identity)
			return NAM_OK;
	if (o->n == o->max)
		return NAM_FULL;
	o->owner[o->n++] = identity;
	return NAM_OK;
}

static nam_status
add_owner(void *arg, unsigned i, const struct olap_board_place *p)
{
	(void)i;
	nam_status st = add_identity(arg, p->identity);
	return st == NAM_OK && p->maker != 0 ? add_identity(arg, p->maker) : st;
}

nam_status
olap_board_owners(struct net_worker *w, net_addr board, uint64_t *owner, unsigned max, unsigned *n)
{
	struct owners o = { owner, max, 0 };
	nam_status st = look_at_all(w, board, add_owner, &o);
	*n = o.n;
	return st;
}

/* ---- jobs without an owner ---- */

/* The job at this place is of a process that is fenced, or is collected by this one. */
static nam_status
collect(struct net_worker *w, net_addr place, uint64_t owner, bool *mine)
{
	uint64_t seen, at, me = net_identity(net_worker_net(w)), what[2] = { 0 }; /* magic, owner */
	nam_status st = net_cas1(w, place, owner, me, &seen, NULL);
	*mine = st == NAM_OK && seen == owner;
	if (!*mine)
		return st;
	if ((st = olap_door_shut(w, place)) != NAM_OK)
		return st;
	st = net_read1(w, net_plus(place, offsetof(struct olap_board_place, head)), &at, 8, NULL);
	if (st != NAM_OK)
		return st;
	net_addr head = { at };
	if (at != 0 && !olap_extent_sound(w, at))
		return NAM_CORRUPT;
	if (at != 0)
		st = net_read1(w, head, what, sizeof what, NULL);
	if (st == NAM_OK && what[0] == OLAP_MAGIC) {
		st = net_cas1(w, OLAP_FIELD(head, stop), 0, NAM_GONE, NULL, NULL);
		if (st == NAM_OK)
			st = net_cas1(w, OLAP_FIELD(head, place[0]), olap_place_word(what[1], OLAP_IN),
			    olap_place_word(what[1], OLAP_DEAD), NULL, NULL);
		if (st == NAM_OK)
			st = olap_others_out(w, head, OLAP_PLACES);
		if (st == NAM_OK)
			st = olap_bill_pay(w, head, NULL);
	}
	return st == NAM_OK ? olap_board_leave(w, place, head) : st;
}

struct sweep {
	struct net_worker *w;
	net_addr board;
	const uint64_t *known; /* to be dead; NULL: those that a storage node has reported */
	unsigned n, jobs;
	nam_status worst;
};

static bool
is_known(const struct sweep *s, uint64_t identity)
{
	bool is = false;
	for (unsigned k = 0; k < s->n; k++)
		is |= s->known[k] == identity;
	return is;
}

/* A job of a dead maker which a process that lives collects: *yes = this one, since a call that has
 * failed. NAM_BUSY: another one. */
static nam_status
is_mine(const struct sweep *s, unsigned i, const struct olap_board_place *p, bool *yes)
{
	net_addr at = net_plus(olap_board_place_at(s->board, i), offsetof(struct olap_board_place, maker));
	uint64_t maker = 0;
	if (p->identity != net_identity(net_worker_net(s->w)))
		return NAM_BUSY;
	/* Not all of *p may be of one moment: this process may have a new job there. */
	nam_status st = net_read1(s->w, at, &maker, sizeof maker, NULL);
	*yes = st == NAM_OK && maker == p->maker;
	return st;
}

static nam_status
sweep_place(void *arg, unsigned i, const struct olap_board_place *p)
{
	struct sweep *s = arg;
	bool dead = is_known(s, p->identity), mine = false;
	nam_status st = NAM_OK;
	if (s->known == NULL)
		st = olap_fence_if_dead(s->w, p->identity, false, &dead);
	else if (!dead && p->maker != 0 && is_known(s, p->maker))
		st = is_mine(s, i, p, &dead);
	if (st == NAM_OK && dead)
		st = collect(s->w, olap_board_place_at(s->board, i), p->identity, &mine);
	s->jobs += mine && st == NAM_OK;
	if (st != NAM_OK)
		s->worst = st;
	return NAM_OK;
}

nam_status
olap_board_sweep(struct net_worker *w, net_addr board, unsigned *jobs)
{
	struct sweep s = { .w = w, .board = board };
	nam_status st = look_at_all(w, board, sweep_place, &s);
	*jobs = s.jobs;
	return st != NAM_OK ? st : s.worst;
}

nam_status
olap_board_collect(struct net_worker *w, net_addr board, const uint64_t *dead, unsigned n, unsigned *jobs)
{
	struct sweep s = { .w = w, .board = board, .known = dead, .n = n };
	nam_status st = look_at_all(w, board, sweep_place, &s);
	*jobs = s.jobs;
	return st != NAM_OK ? st : s.worst;
}
