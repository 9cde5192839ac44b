/* job.c -- a job begins, is joined, stops, and ends; jobs whose owner has died are found on the
 * board. */
#include <olap/olap_internal.h>

#include <stdlib.h>
#include <string.h>

enum { LOOK = 64 }; /* places of the board in one READ */

#define FIELD(head, f) olap_in(head, offsetof(struct olap_head, f))

/* ---- the board ---- */

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

static net_addr
board_place(net_addr board, unsigned i)
{
	return net_plus(board, i * sizeof(struct olap_board_place));
}

/* A free place of the board becomes this process's. */
static nam_status
take_place(struct net_worker *w, net_addr board, uint64_t identity, net_addr *out)
{
	struct olap_board_place look[LOOK];
	unsigned from = (unsigned)nam_rng_below(net_rng(w), OLAP_BOARD / LOOK);
	for (unsigned k = 0; k < OLAP_BOARD / LOOK; k++) {
		unsigned first = (from + k) % (OLAP_BOARD / LOOK) * LOOK;
		nam_status st = net_read1(w, board_place(board, first), look, sizeof look, NULL);
		for (unsigned i = 0; st == NAM_OK && i < LOOK; i++) {
			uint64_t seen = 1;
			if (look[i].identity != 0)
				continue;
			*out = board_place(board, first + i);
			st = net_cas1(w, *out, 0, identity, &seen, NULL);
			if (st == NAM_OK && seen == 0)
				return NAM_OK;
		}
		if (st != NAM_OK)
			return st;
	}
	return NAM_FULL;
}

/* The head's memory goes back, then the place is free. */
static nam_status
leave_board(struct net_worker *w, net_addr place, net_addr head)
{
	uint64_t none = 0;
	nam_status st =
	    net_write1(w, net_plus(place, offsetof(struct olap_board_place, head)), &none, 8, NULL);
	if (st == NAM_OK && head.bits != 0)
		st = net_extent_give(w, head);
	return st == NAM_OK ? net_write1(w, place, &none, 8, NULL) : st;
}

/* ---- participants ---- */

nam_status
olap_fence_if_dead(struct net_worker *w, uint64_t identity, bool late, bool *dead)
{
	*dead = false;
	if (identity == net_identity(net_worker_net(w)))
		return NAM_OK;
	bool heard = net_heard_of(w, identity) != NET_UNHEARD;
	if (!heard && !late)
		return NAM_OK;
	nam_status st = net_fence_process(w, identity, heard ? 0 : OLAP_GRACE_NS, NULL);
	*dead = st == NAM_OK;
	/* It lives, or it must not be killed. */
	return st == NAM_BUSY || st == NAM_UNSUPPORTED ? NAM_OK : st;
}

bool
olap_is_late(struct net_worker *w, struct olap_lease *l, uint64_t news)
{
	uint64_t now = net_now_ns(w);
	bool late = l->since != 0 && news == l->news && now - l->since > OLAP_LEASE_NS;
	if (l->since == 0 || news != l->news || late)
		*l = (struct olap_lease){ now, news };
	return late;
}

nam_status
olap_others_out(struct net_worker *w, net_addr head, unsigned mine)
{
	struct olap_line place[OLAP_PLACES];
	struct net_backoff pause = { .base_ns = 20000, .cap_ns = 2000000, .yields = 100, .hold = 4 };
	struct olap_lease lease = { 0 };
	uint64_t out = 0;
	for (;;) {
		bool late = olap_is_late(w, &lease, out);
		nam_status st = net_read1(w, FIELD(head, place), place, sizeof place, NULL);
		bool wait = false;
		out = 0;
		for (unsigned i = 0; st == NAM_OK && i < OLAP_PLACES; i++) {
			uint64_t word = place[i].word, seen = word;
			out += (word & 255) != OLAP_IN;
			bool dead = word == OLAP_NOBODY;
			if (i == mine || (word & 255) == OLAP_WENT || (word & 255) == OLAP_DEAD)
				continue;
			if (!dead)
				st = olap_fence_if_dead(w, word >> 8, late, &dead);
			if (st == NAM_OK && dead)
				st = net_cas1(w, FIELD(head, place[i]), word,
				    olap_place_word(word >> 8, OLAP_DEAD), &seen, NULL);
			wait |= !dead || (st == NAM_OK && seen != word);
		}
		if (st != NAM_OK || !wait)
			return st;
		net_back_off(w, &pause);
	}
}

static struct olap_job *
job_new(struct net_worker *w, net_addr at)
{
	struct olap_job *job = calloc(1, sizeof *job);
	if (job != NULL) {
		job->w = w;
		job->at = at;
		job->identity = net_identity(net_worker_net(w));
	}
	return job;
}

nam_status
olap_job_make(struct net_worker *w, net_addr board, const void *plan, uint32_t len, struct olap_job **out)
{
	const struct net *n = net_worker_net(w);
	NAM_ASSERT(len <= OLAP_PLAN);
	struct olap_job *job = job_new(w, (net_addr){ 0 });
	struct olap_head *head = calloc(1, sizeof *head);
	nam_status st =
	    job != NULL && head != NULL ? take_place(w, board, job->identity, &job->board) : NAM_NOMEM;
	if (st != NAM_OK)
		goto out;
	/* Nodes are taken in turn, and jobs begin with different ones. */
	job->turn = (unsigned)nam_rng_below(net_rng(w), net_node_count(n));
	st = NAM_FULL;
	for (unsigned i = 0; i < net_node_count(n) && st == NAM_FULL; i++)
		st =
		    net_extent_take(w, net_node(n, (job->turn + i) % net_node_count(n))->region, 1, &job->at);
	if (st != NAM_OK) {
		leave_board(w, job->board, (net_addr){ 0 });
		goto out;
	}
	job->plan_len = head->plan_len = len;
	memcpy(job->plan, plan, len);
	memcpy(head->plan, plan, len);
	head->magic = OLAP_MAGIC;
	head->owner = job->identity;
	head->board = job->board.bits;
	head->place[0].word = olap_place_word(job->identity, OLAP_IN);
	st = net_write1(w, job->at, head, sizeof *head, &job->counts);
	if (st == NAM_OK)
		st = net_write1(w, net_plus(job->board, offsetof(struct olap_board_place, head)),
		    &job->at.bits, 8, &job->counts);
	if (st == NAM_OK)
		*out = job;
out:
	free(head);
	if (st != NAM_OK)
		free(job);
	return st;
}

nam_status
olap_job_join(struct net_worker *w, net_addr at, struct olap_job **out)
{
	struct olap_job *job = job_new(w, at);
	struct olap_line place[OLAP_PLACES];
	uint64_t what[3], seen, plan_len = 0; /* magic, owner, the plan's length */
	nam_status st = job != NULL ? NAM_OK : NAM_NOMEM;
	if (st == NAM_OK)
		st = net_read1(w, at, what, sizeof what, &job->counts);
	if (st == NAM_OK && (what[0] != OLAP_MAGIC || what[2] > OLAP_PLAN))
		st = NAM_GONE;
	if (st == NAM_OK) {
		plan_len = what[2];
		st = net_read1(w, FIELD(at, plan), job->plan, (uint32_t)(plan_len + 7) & ~7u, &job->counts);
	}
	if (st == NAM_OK)
		st = net_read1(w, FIELD(at, place), place, sizeof place, &job->counts);
	for (unsigned i = 0; st == NAM_OK; i++) {
		if (i == OLAP_PLACES) {
			st = NAM_FULL;
			break;
		}
		if (place[i].word != OLAP_NOBODY)
			continue;
		st = net_cas1(w, FIELD(at, place[i]), OLAP_NOBODY, olap_place_word(job->identity, OLAP_IN),
		    &seen, &job->counts);
		if (st == NAM_OK && seen == OLAP_NOBODY) {
			job->place = i;
			job->turn = i;
			job->plan_len = (uint32_t)plan_len;
			*out = job;
			break;
		}
		if (st == NAM_OK && (seen & 255) == OLAP_DEAD)
			st = NAM_GONE; /* the job is ending */
	}
	if (st != NAM_OK)
		free(job);
	return st;
}

net_addr
olap_job_at(const struct olap_job *job)
{
	return job->at;
}

const void *
olap_job_plan(const struct olap_job *job, uint32_t *len)
{
	*len = job->plan_len;
	return job->plan;
}

struct net_worker *
olap_job_worker(const struct olap_job *job)
{
	return job->w;
}

const struct net_counts *
olap_job_counts(const struct olap_job *job)
{
	return &job->counts;
}

void
olap_job_spend(struct olap_job *job, void (*spend)(void *arg, enum olap_work what, uint64_t n), void *arg)
{
	job->spend = spend;
	job->spend_arg = arg;
}

void
olap_job_watch(struct olap_job *job, const atomic_bool *cancelled)
{
	job->cancelled = cancelled;
}

void
olap_job_stop(struct olap_job *job, nam_status why)
{
	NAM_ASSERT(why != NAM_OK);
	if (job->stopped == NAM_OK)
		job->stopped = why;
	net_cas1(job->w, FIELD(job->at, stop), 0, why, NULL, &job->counts);
}

nam_status
olap_job_stopped(struct olap_job *job)
{
	if (job->stopped == NAM_OK && job->cancelled != NULL &&
	    atomic_load_explicit(job->cancelled, memory_order_relaxed))
		olap_job_stop(job, NAM_CANCELLED);
	return job->stopped;
}

nam_status
olap_job_pause(struct olap_job *job)
{
	uint64_t stop = 0;
	nam_co_yield();
	nam_status st = olap_job_stopped(job);
	if (st == NAM_OK)
		st = net_read1(job->w, FIELD(job->at, stop), &stop, 8, &job->counts);
	if (st == NAM_OK && stop != 0)
		st = job->stopped = stop < NAM_STATUS_COUNT ? (nam_status)stop : NAM_CORRUPT;
	return st;
}

void
olap_job_leave(struct olap_job *job)
{
	net_cas1(job->w, FIELD(job->at, place[job->place]), olap_place_word(job->identity, OLAP_IN),
	    olap_place_word(job->identity, OLAP_WENT), NULL, &job->counts);
	free(job);
}

nam_status
olap_job_end(struct olap_job *job)
{
	nam_status st = olap_others_out(job->w, job->at, job->place);
	if (st == NAM_OK)
		st = olap_bill_pay(job->w, job->at, &job->counts);
	if (st == NAM_OK)
		st = leave_board(job->w, job->board, job->at);
	free(job);
	return st;
}

/* ---- jobs without an owner ---- */

/* The job at this place of the board is of a process that is fenced. */
static nam_status
collect(struct net_worker *w, net_addr place, uint64_t owner, bool *mine)
{
	uint64_t seen, at, me = net_identity(net_worker_net(w)), magic = 0;
	nam_status st = net_cas1(w, place, owner, me, &seen, NULL);
	*mine = st == NAM_OK && seen == owner;
	if (!*mine)
		return st;
	st = net_read1(w, net_plus(place, offsetof(struct olap_board_place, head)), &at, 8, NULL);
	if (st != NAM_OK)
		return st;
	net_addr head = { at };
	if (at != 0 && !olap_extent_sound(w, at))
		return NAM_CORRUPT;
	if (at != 0)
		st = net_read1(w, head, &magic, 8, NULL);
	if (st == NAM_OK && magic == OLAP_MAGIC) {
		st = net_cas1(w, FIELD(head, stop), 0, NAM_GONE, NULL, NULL);
		if (st == NAM_OK)
			st = olap_others_out(w, head, OLAP_PLACES);
		if (st == NAM_OK)
			st = olap_bill_pay(w, head, NULL);
	}
	return st == NAM_OK ? leave_board(w, place, head) : st;
}

nam_status
olap_board_sweep(struct net_worker *w, net_addr board, unsigned *jobs)
{
	struct olap_board_place look[LOOK];
	nam_status worst = NAM_OK;
	*jobs = 0;
	for (unsigned first = 0; first < OLAP_BOARD; first += LOOK) {
		nam_status st = net_read1(w, board_place(board, first), look, sizeof look, NULL);
		if (st != NAM_OK)
			return st;
		for (unsigned i = 0; i < LOOK; i++) {
			bool dead = false, mine = false;
			if (look[i].identity != 0)
				st = olap_fence_if_dead(w, look[i].identity, false, &dead);
			if (st == NAM_OK && dead)
				st = collect(w, board_place(board, first + i), look[i].identity, &mine);
			*jobs += mine && st == NAM_OK;
			if (st != NAM_OK)
				worst = st;
			st = NAM_OK;
		}
	}
	return worst;
}
