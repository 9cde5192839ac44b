/* job.c -- a job begins, is joined, stops, and ends. */
#include <olap/job.h>

#include <stdlib.h>
#include <string.h>

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
		nam_status st = net_read1(w, OLAP_FIELD(head, place), place, sizeof place, NULL);
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
				st = net_cas1(w, OLAP_FIELD(head, place[i]), word,
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
		job->state = OLAP_IN;
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
	    job != NULL && head != NULL ? olap_board_take(w, board, job->identity, &job->board) : NAM_NOMEM;
	if (st != NAM_OK)
		goto out;
	/* Nodes are taken in turn, and jobs begin with different ones. */
	job->turn = (unsigned)nam_rng_below(net_rng(w), net_node_count(n));
	st = NAM_FULL;
	for (unsigned i = 0; i < net_node_count(n) && st == NAM_FULL; i++)
		st =
		    net_extent_take(w, net_node(n, (job->turn + i) % net_node_count(n))->region, 1, &job->at);
	if (st != NAM_OK) {
		olap_board_leave(w, job->board, (net_addr){ 0 });
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
		st = olap_board_name(w, job->board, job->at, job->identity, &job->counts);
	if (st == NAM_OK)
		*out = job;
out:
	free(head);
	if (st != NAM_OK)
		free(job);
	return st;
}

/* Takes a place of the job whose head is at `at`. */
static nam_status
join(struct net_worker *w, net_addr at, enum olap_state state, struct olap_job **out)
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
		st = net_read1(
		    w, OLAP_FIELD(at, plan), job->plan, (uint32_t)(plan_len + 7) & ~7u, &job->counts);
	}
	if (st == NAM_OK)
		st = net_read1(w, OLAP_FIELD(at, place), place, sizeof place, &job->counts);
	for (unsigned i = 0; st == NAM_OK; i++) {
		if (i == OLAP_PLACES) {
			st = NAM_FULL;
			break;
		}
		if (place[i].word != OLAP_NOBODY)
			continue;
		st = net_cas1(w, OLAP_FIELD(at, place[i]), OLAP_NOBODY, olap_place_word(job->identity, state),
		    &seen, &job->counts);
		if (st == NAM_OK && seen == OLAP_NOBODY) {
			job->place = i;
			job->state = state;
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

nam_status
olap_job_join(struct net_worker *w, net_addr at, struct olap_job **out)
{
	return join(w, at, OLAP_IN, out);
}

/* ---- help from processes that the maker does not know ---- */

nam_status
olap_job_offer(struct olap_job *job)
{
	struct net_op op[2];
	struct net_batch b;
	uint64_t open = OLAP_OPEN;
	net_batch_init(&b, job->w, op, 2, &job->counts);
	/* One node, one connection: a process that sees the call sees the door open. */
	job->offered = true;
	net_write(&b, net_plus(job->board, offsetof(struct olap_board_place, door)), &open, sizeof open);
	net_faa(&b, olap_board_of(job->board), 1);
	return net_run(&b);
}

nam_status
olap_door_leave(struct net_worker *w, net_addr board, unsigned place)
{
	uint64_t me = net_identity(net_worker_net(w)) << 8 | OLAP_ENTERED;
	return net_cas1(w, olap_door(olap_board_place_at(board, place)), me, OLAP_OPEN, NULL, NULL);
}

nam_status
olap_job_enter(struct net_worker *w, net_addr board, unsigned place, struct olap_job **out, bool *stuck)
{
	net_addr at = olap_board_place_at(board, place);
	uint64_t me = net_identity(net_worker_net(w)) << 8 | OLAP_ENTERED, seen;
	struct olap_board_place p;
	*stuck = false;
	nam_status st = net_cas1(w, olap_door(at), OLAP_OPEN, me, &seen, NULL);
	if (st == NAM_OK && seen != OLAP_OPEN)
		return seen == OLAP_SHUT ? NAM_GONE : NAM_BUSY;
	if (st == NAM_OK)
		st = net_read1(w, at, &p, sizeof p, NULL); /* A6: behind the CAS */
	if (st == NAM_OK && !olap_extent_sound(w, p.head))
		st = NAM_CORRUPT;
	if (st == NAM_OK)
		st = join(w, (net_addr){ p.head }, OLAP_NEAR, out);
	/* After a CAS in doubt as well: the door may name this process. */
	*stuck = olap_door_leave(w, board, place) != NAM_OK;
	return st;
}

nam_status
olap_job_come(struct olap_job *job)
{
	uint64_t near = olap_place_word(job->identity, OLAP_NEAR), seen = 0;
	nam_status st = net_cas1(job->w, OLAP_FIELD(job->at, place[job->place]), near,
	    olap_place_word(job->identity, OLAP_IN), &seen, &job->counts);
	if (st != NAM_OK || seen != near)
		return st != NAM_OK ? st : NAM_GONE;
	job->state = OLAP_IN;
	return NAM_OK;
}

nam_status
olap_job_ends(struct olap_job *job)
{
	uint64_t stop = 0;
	nam_status st = olap_job_stopped(job);
	if (st == NAM_OK)
		st = net_read1(job->w, OLAP_FIELD(job->at, stop), &stop, 8, &job->counts);
	if (st == NAM_OK && stop != 0)
		st = job->stopped = stop < NAM_STATUS_COUNT ? (nam_status)stop : NAM_CORRUPT;
	return st;
}

nam_status
olap_job_others(struct olap_job *job, unsigned *there, unsigned *came)
{
	struct olap_line place[OLAP_PLACES];
	*there = *came = 0;
	nam_status st = net_read1(job->w, OLAP_FIELD(job->at, place), place, sizeof place, &job->counts);
	for (unsigned i = 1; st == NAM_OK && i < OLAP_PLACES; i++) {
		unsigned state = place[i].word & 255;
		*there += state == OLAP_IN || state == OLAP_NEAR;
		*came += state == OLAP_IN || state == OLAP_WENT;
	}
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
	net_cas1(job->w, OLAP_FIELD(job->at, stop), 0, why, NULL, &job->counts);
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
	nam_co_yield();
	return olap_job_ends(job);
}

nam_status
olap_job_try_leave(struct olap_job *job)
{
	nam_status st = net_cas1(job->w, OLAP_FIELD(job->at, place[job->place]),
	    olap_place_word(job->identity, job->state), olap_place_word(job->identity, OLAP_WENT), NULL,
	    &job->counts);
	if (st == NAM_OK)
		free(job);
	return st;
}

void
olap_job_leave(struct olap_job *job)
{
	if (olap_job_try_leave(job) != NAM_OK)
		free(job);
}

nam_status
olap_job_end(struct olap_job *job)
{
	nam_status st = job->offered ? olap_door_shut(job->w, job->board) : NAM_OK;
	if (st == NAM_OK)
		st = olap_others_out(job->w, job->at, job->place);
	if (st == NAM_OK)
		st = olap_bill_pay(job->w, job->at, &job->counts);
	if (st == NAM_OK)
		st = olap_board_leave(job->w, job->board, job->at);
	free(job);
	return st;
}
