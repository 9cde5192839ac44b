/*
 * real.c -- the clients of `namdb bench oracle` as processes beside a storage node's, one of
 * them stopped by SIGSTOP, or killed.
 *
 * At a claim, and at rest, the victim stops or kills itself, so that the moment is met exactly. In
 * the middle of a commit it is stopped from here, again and again until it was in the middle of
 * one.
 */
#include "oracle.h"

#include <base/clock.h>
#include <base/log.h>
#include <bench/node.h>
#include <net/secret.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { JOIN_S = 30, HEART_NICE = -10 };

struct processes {
	struct oracle_run *r;
	pid_t node, client[ORACLE_CLIENTS_MAX]; /* 0 = none, or gone */
};

static void
stop_self(struct oracle_place *p)
{
	raise(p->run->what == ORACLE_DEAD ? SIGKILL : SIGSTOP);
}

static bool
is_over(void *arg)
{
	const struct oracle_place *p = arg;
	return atomic_load(&p->run->client[p->i].ended);
}

static void
be_client(struct oracle_run *r, unsigned i, const struct net_config *cfg, pid_t parent)
{
	struct oracle_client *c = &r->client[i];
	struct net *net;
	struct oracle_place p = { .run = r, .i = i };
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGINT, SIG_IGN);
	if (getppid() != parent)
		_exit(1);
	/* The heart is in this thread. As in a compute node, it gets a higher priority than threads
	 * that compute, if the system allows it. */
	(void)setpriority(PRIO_PROCESS, 0, HEART_NICE);
	if (r->what != ORACLE_AT_COMMIT)
		p.stand_still = stop_self;
	nam_status st = net_open(&net, cfg, &p.err);
	if (st == NAM_OK)
		st = net_worker_open(net, &p.w, &p.err);
	if (st == NAM_OK && nam_co_start(net_worker_sched(p.w), bench_oracle_client, &p, 0) == NULL)
		st = nam_fail(&p.err, NAM_NOMEM, "no memory for a stack");
	if (st == NAM_OK)
		net_worker_run(p.w, is_over, &p);
	else
		atomic_store(&c->status, (int)st);
	if (p.err.text[0] != 0)
		fprintf(stderr, "namdb bench: client %u: %s\n", i, p.err.text);
	atomic_store(&c->ready, true);
	atomic_store(&c->ended, true);
	_exit(0); /* the cluster ends with the run, so this slot need not be freed */
}

static void
nap(uint64_t ns)
{
	struct timespec t = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };
	while (nanosleep(&t, &t) != 0 && errno == EINTR && !atomic_load(&bench_oracle_stop))
		;
}

/* Waits until the victim is stopped. False if it is gone. */
static bool
wait_stopped(struct processes *p)
{
	int how;
	pid_t *victim = &p->client[ORACLE_VICTIM];
	while (waitpid(*victim, &how, WUNTRACED) < 0)
		if (errno != EINTR)
			return false;
	if (WIFSTOPPED(how))
		return true;
	*victim = 0;
	return false;
}

static bool
stop_in_commit(struct processes *p)
{
	struct oracle_run *r = p->r;
	struct oracle_client *c = &r->client[ORACLE_VICTIM];
	uint64_t now = nam_clock_ns(), at = bench_oracle_pause_at(r);
	nap(at > now ? at - now : 0);
	while (nam_clock_ns() < bench_oracle_end(r)) {
		while (!atomic_load(&c->committing) && !atomic_load(&c->ended))
			;
		kill(p->client[ORACLE_VICTIM], SIGSTOP);
		if (!wait_stopped(p))
			return false;
		if (atomic_load(&c->committing)) {
			atomic_store(&r->stopped_ns, nam_clock_ns());
			return true;
		}
		kill(p->client[ORACLE_VICTIM], SIGCONT);
	}
	return false;
}

/* The pause, and the rest of the run. A victim that dies in it was fenced, or killed itself: do not
 * wait for it. */
static void
play(struct processes *p)
{
	struct oracle_run *r = p->r;
	bool stops = r->what < ORACLE_MOMENTS;
	if (stops && (r->what == ORACLE_AT_COMMIT ? stop_in_commit(p) : wait_stopped(p))) {
		nap((uint64_t)(r->p.pause_s * 1e9));
		kill(p->client[ORACLE_VICTIM], SIGCONT);
		if (r->what == ORACLE_AT_COMMIT && kill(p->client[ORACLE_VICTIM], 0) == 0)
			atomic_store(&r->resumed_ns, nam_clock_ns());
	}
	for (bool all = false; !all && !atomic_load(&bench_oracle_stop);) {
		all = true;
		for (unsigned i = 0; i < r->p.clients; i++) {
			if (p->client[i] != 0 && waitpid(p->client[i], NULL, WNOHANG) == p->client[i])
				p->client[i] = 0;
			/* A client that died of something else did not report its end. */
			if (p->client[i] == 0 && !atomic_load(&r->client[i].ended)) {
				atomic_store(&r->client[i].status, (int)NAM_GONE);
				atomic_store(&r->client[i].ended, true);
			}
			all &= p->client[i] == 0;
		}
		nap(10000000);
	}
}

static nam_status
wait_ready(struct processes *p, struct nam_err *err)
{
	struct oracle_run *r = p->r;
	uint64_t until = nam_clock_ns() + JOIN_S * UINT64_C(1000000000);
	while (!bench_oracle_all(r, false) && nam_clock_ns() < until && !atomic_load(&bench_oracle_stop))
		nap(1000000);
	for (unsigned i = 0; i < r->p.clients; i++)
		if (!atomic_load(&r->client[i].ready) || atomic_load(&r->client[i].status) != NAM_OK)
			return nam_fail(err, NAM_GONE, "client %u did not join the cluster", i);
	return NAM_OK;
}

nam_status
bench_oracle_real(struct oracle_run *r, struct nam_err *err)
{
	unsigned char secret[NET_SECRET_LEN];
	char address[BENCH_NODE_ADDRESS];
	struct processes p = { .r = r };
	pid_t self = getpid();
	nam_random_bytes(secret, sizeof secret);
	nam_log_level_set(NAM_LOG_ERROR); /* the paused client is meant to be fenced */
	const struct bench_node node = {
		.fabric = r->p.common.fabric, .secret = secret, .bytes = bench_oracle_bytes(&r->p)
	};
	const struct net_config cfg = { .storage = address,
		.fabric = r->p.common.fabric,
		.secret = secret,
		.secret_len = sizeof secret };
	nam_status st = bench_node_start(&node, &p.node, address, err);
	for (unsigned i = 0; st == NAM_OK && i < r->p.clients; i++) {
		p.client[i] = fork();
		if (p.client[i] == 0)
			be_client(r, i, &cfg, self);
		if (p.client[i] < 0) {
			p.client[i] = 0;
			st = nam_fail(err, NAM_IO, "no process for a client: %m");
		}
	}
	if (st == NAM_OK)
		st = wait_ready(&p, err);
	if (st == NAM_OK) {
		atomic_store(&r->begin_ns, nam_clock_ns());
		play(&p);
	}
	for (unsigned i = 0; i < r->p.clients; i++)
		if (p.client[i] != 0) {
			kill(p.client[i], SIGKILL);
			waitpid(p.client[i], NULL, 0);
		}
	bench_node_stop(p.node);
	explicit_bzero(secret, sizeof secret);
	return st;
}
