/*
 * twopc_sim.c -- two-phase commit in virtual time: the baselines of the NAM paper's figure 6.
 *
 * The machines are those of the paper's section 4.3: some with clients, one with each RM, one with
 * the TM. A session has a thread on each machine that it needs: its client's, its TM's, one of
 * each RM, which serves both.
 */
#include "twopc.h"

#include <stdlib.h>
#include <string.h>

enum { WARM_NS = 5000000, DRAIN_NS = 1000000000, SETTLE_NS = 200000000 };

struct world;

struct session {
	struct world *w;
	struct tpcw_twopc_session *s;
	unsigned client, tm, rm[TXN_TWOPC_RMS_MAX]; /* their threads */
	struct side {
		struct session *of;
		unsigned rm, thread;
	} rm_side[TXN_TWOPC_RMS_MAX];
};

struct world {
	struct tpcw_twopc_point *p;
	struct tpcw_twopc run;
	struct net_sim *sim;
	struct net_sim_mail *mail;
	struct session *session;
	uint64_t until;
	nam_status status;
};

/* ---- messages ---- */

static void
send_from(struct session *s, unsigned from, unsigned to, const void *bytes, uint32_t len)
{
	unsigned thread = to == TXN_TWOPC_CLIENT ? s->client
			  : to == TXN_TWOPC_TM   ? s->tm
						 : s->rm[to - TXN_TWOPC_RM];
	nam_status st = net_sim_mail_send(s->w->mail, from, thread, bytes, len);
	if (st != NAM_OK)
		s->w->status = st;
}

static void
client_sends(void *arg, unsigned to, const void *bytes, uint32_t len)
{
	struct session *s = arg;
	send_from(s, s->client, to, bytes, len);
}

static void
tm_sends(void *arg, unsigned to, const void *bytes, uint32_t len)
{
	struct session *s = arg;
	send_from(s, s->tm, to, bytes, len);
}

static void
rm_sends(void *arg, unsigned to, const void *bytes, uint32_t len)
{
	struct side *side = arg;
	send_from(side->of, side->thread, to, bytes, len);
}

static void
client_takes(void *arg, const void *bytes, uint32_t len)
{
	struct session *s = arg;
	tpcw_twopc_took(&s->w->run, txn_twopc_client_take(s->s->client, bytes, len));
}

static void
tm_takes(void *arg, const void *bytes, uint32_t len)
{
	struct session *s = arg;
	tpcw_twopc_took(&s->w->run, txn_twopc_tm_take(s->s->tm, bytes, len));
}

static void
rm_takes(void *arg, const void *bytes, uint32_t len)
{
	struct side *side = arg;
	struct tpcw_twopc *run = &side->of->w->run;
	const struct txn_twopc_wire wire = { rm_sends, side };
	tpcw_twopc_took(run, txn_twopc_rm_take(run->rm[side->rm], side->rm, &wire, bytes, len));
}

static struct session *
session_of(struct tpcw_twopc_session *s)
{
	struct world *w = (struct world *)(void *)((char *)s->run - offsetof(struct world, run));
	return &w->session[s->number];
}

static uint64_t
now_ns(struct tpcw_twopc_session *s)
{
	struct session *at = session_of(s);
	return net_sim_mail_now_ns(at->w->mail, at->client);
}

static void
work(struct tpcw_twopc_session *s)
{
	struct session *at = session_of(s);
	net_sim_mail_work(at->w->mail, at->client, at->w->p->work_ns);
}

/* ---- the run ---- */

static nam_status
session_open(struct world *w, unsigned i)
{
	struct session *s = &w->session[i];
	struct tpcw_twopc_point *p = w->p;
	const struct txn_twopc_wire client = { client_sends, s }, tm = { tm_sends, s };
	*s = (struct session){ .w = w, .s = &w->run.session[i] };
	*s->s = (struct tpcw_twopc_session){ .run = &w->run, .number = i };
	nam_status st = net_sim_mail_thread(w->mail, i % p->compute, client_takes, s, &s->client);
	if (st == NAM_OK)
		st = net_sim_mail_thread(w->mail, p->compute + p->storage, tm_takes, s, &s->tm);
	for (unsigned r = 0; st == NAM_OK && r < p->storage; r++) {
		struct side *side = &s->rm_side[r];
		*side = (struct side){ .of = s, .rm = r };
		st = net_sim_mail_thread(w->mail, p->compute + r, rm_takes, side, &side->thread);
		s->rm[r] = side->thread;
	}
	return st == NAM_OK ? tpcw_twopc_session_open(s->s, &client, &tm) : st;
}

static bool
time_over(void *arg)
{
	struct world *w = arg;
	return w->status != NAM_OK || net_sim_now_ns(w->sim) >= w->until;
}

/* Every client has stopped, and no transaction is open. */
static bool
drained(void *arg)
{
	struct world *w = arg;
	bool all = true;
	for (unsigned i = 0; all && i < w->run.sessions; i++)
		all = w->run.session[i].over && txn_twopc_tm_open_count(w->run.session[i].tm) == 0;
	return all || time_over(arg);
}

/* The machine with the greatest share of a resource; where two are alike, the first of these. */
static void
busiest(struct tpcw_twopc_point *p)
{
	const struct net_sim_mail_use *use[3] = { &p->tm, &p->rm, &p->client };
	static const char *const name[3] = { "transaction manager", "resource manager", "client" };
	p->share = -1;
	for (unsigned i = 0; i < 3; i++) {
		double share;
		const char *limit = net_sim_mail_limit(use[i], &share);
		if (share > p->share) {
			p->machine = name[i];
			p->limit = limit;
			p->share = share;
		}
	}
}

static void
look(struct world *w, uint64_t commits)
{
	struct tpcw_twopc_point *p = w->p;
	double per = commits != 0 ? (double)commits : 1, most = -1;
	uint64_t messages = 0, in = 0, out = 0;
	for (unsigned m = 0; m <= p->compute + p->storage; m++) {
		struct net_sim_mail_use u;
		double share;
		net_sim_mail_use(w->mail, m, &u);
		net_sim_mail_limit(&u, &share);
		messages += u.messages;
		in += u.bytes_in;
		out += u.bytes_out;
		if (m == 0)
			p->client = u;
		else if (m == p->compute + p->storage)
			p->tm = u;
		else if (m >= p->compute && share > most) {
			p->rm = u;
			most = share;
		}
	}
	p->messages = (double)messages / per;
	p->bytes_in = (double)in / per;
	p->bytes_out = (double)out / per;
	busiest(p);
}

/* Plays until that time, or until the predicate says so. False: nothing could happen any more. */
static bool
play(struct world *w, uint64_t ns, bool (*until)(void *arg))
{
	w->until = net_sim_now_ns(w->sim) + ns;
	return net_sim_run(w->sim, until, w);
}

static nam_status
measure(struct world *w, struct nam_err *err)
{
	struct tpcw_twopc_point *p = w->p;
	struct bench_slice sum = { 0 };
	for (unsigned i = 0; i < w->run.sessions; i++)
		tpcw_twopc_begin(&w->run.session[i]);
	bool alive = play(w, WARM_NS, time_over);
	net_sim_mail_begin(w->mail);
	atomic_store(&w->run.counting, true);
	uint64_t from = net_sim_now_ns(w->sim);
	alive = alive && play(w, (uint64_t)(p->seconds * 1e9), time_over);
	atomic_store(&w->run.counting, false);
	double seconds = (double)(net_sim_now_ns(w->sim) - from) / 1e9;
	for (unsigned i = 0; i < w->run.sessions; i++)
		bench_slice_add(&sum, &w->run.session[i].slice);
	look(w, sum.commits);
	p->rate = (double)sum.commits / seconds;
	p->p50_us = (double)nam_hist_quantile(&sum.latency_ns, 0.5) / 1e3;
	p->p99_us = (double)nam_hist_quantile(&sum.latency_ns, 0.99) / 1e3;
	p->aborts = (double)sum.aborts / (sum.commits != 0 ? (double)sum.commits : 1);
	atomic_store(&w->run.stop, true);
	alive = alive && play(w, DRAIN_NS, drained);
	if (w->status == NAM_OK && (!alive || net_sim_now_ns(w->sim) >= w->until))
		return nam_fail(err, NAM_CORRUPT, "a client waits for a message that does not come");
	/* no RM acknowledges an abort: the last of them may still be under way */
	play(w, SETTLE_NS, time_over);
	return w->status;
}

nam_status
tpcw_twopc_sim(struct tpcw_twopc_point *p, struct nam_err *err)
{
	struct world *w = calloc(1, sizeof *w);
	if (w == NULL)
		return nam_fail(err, NAM_NOMEM, "no memory");
	/* its one node is not used */
	const struct net_sim_config cfg = {
		.seed = p->tpcw->seed, .nodes = 1, .region_bytes = 1 << 20, .model = p->model
	};
	w->p = p;
	w->run.now_ns = now_ns;
	w->run.work = work;
	err->text[0] = 0;
	nam_status st = net_sim_open(&w->sim, &cfg);
	if (st == NAM_OK)
		st = net_sim_mail_open(&w->mail, w->sim, p->stack, p->compute + p->storage + 1);
	if (st == NAM_OK)
		st = tpcw_twopc_open(&w->run, p->tpcw, p->storage, p->clients);
	w->session = calloc(p->clients, sizeof *w->session);
	if (st == NAM_OK && w->session == NULL)
		st = NAM_NOMEM;
	for (unsigned i = 0; st == NAM_OK && i < p->clients; i++)
		st = session_open(w, i);
	if (st == NAM_OK)
		st = measure(w, err);
	if (st == NAM_OK)
		p->bad = atomic_load(&w->run.bad) + tpcw_twopc_check(&w->run);
	else if (err->text[0] == 0)
		nam_fail(err, st, "%s", nam_status_text(st));
	tpcw_twopc_close(&w->run);
	net_sim_mail_close(w->mail);
	net_sim_close(w->sim);
	free(w->session);
	free(w);
	return st;
}
