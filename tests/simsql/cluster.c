/* cluster.c -- the simulated cluster's life, and its sessions. */
#include "cluster.h"

#include <base/co.h>
#include <net/net.h>
#include <net/region_format.h>

#include <stdarg.h>

enum { STACK = 1 << 20, VECTOR = 4096 };

bool
cluster_seeds(int argc, char **argv, int *i, uint64_t *first, uint64_t *last)
{
	bool one = strcmp(argv[*i], "--seed") == 0;
	char *rest;
	if ((!one && strcmp(argv[*i], "--seeds") != 0) || *i + 1 == argc)
		return false;
	*first = *last = strtoull(argv[++*i], &rest, 10);
	if (!one && *rest == '-')
		*last = strtoull(rest + 1, &rest, 10);
	return *rest == 0 && *last >= *first;
}

void
cluster_bad(struct cluster *c, const char *fmt, ...)
{
	va_list ap;
	c->bad = true;
	va_start(ap, fmt);
	printf("  ");
	vprintf(fmt, ap);
	printf("\n");
	va_end(ap);
}

bool
cluster_join(struct cluster *c, unsigned p, bool bystander)
{
	struct place *at = &c->place[p];
	struct txn_config cfg = {
		.vector = VECTOR, .ptr_cache_entries = 1024, .bystander = bystander, .lease_ms = 100
	};
	struct nam_err err = { 0 };
	nam_status st = txn_db_open(at->w, &cfg, &at->db, &err);
	if (st == NAM_OK && !c->unguarded)
		sql_guard_helpers(at->db);
	if (st == NAM_OK)
		st = txn_worker_open(at->db, at->w, &at->tw);
	if (st == NAM_OK)
		st = cat_open(at->tw, &at->cat);
	if (st != NAM_OK)
		cluster_bad(c, "process %u cannot join: %s %s", p, nam_status_text(st), err.text);
	return st == NAM_OK;
}

unsigned
cluster_bury(struct cluster *c)
{
	unsigned dead = 0;
	for (unsigned p = 0; p < c->procs; p++) {
		struct place *at = &c->place[p];
		if (!net_sim_crashed(at->net))
			continue;
		if (!at->buried)
			net_sim_bury(c->sim, at->net);
		at->buried = true;
		dead++;
	}
	return dead;
}

bool
cluster_start(struct cluster *c, unsigned p, void (*fn)(void *arg), void *arg)
{
	return nam_co_start(net_worker_sched(c->place[p].w), fn, arg, STACK) != NULL;
}

bool
cluster_wait(struct cluster *c, const bool *flag, uint64_t ns)
{
	struct net_worker *w = c->place[0].w;
	for (uint64_t until = net_now_ns(w) + ns; !*flag && net_now_ns(w) < until;)
		net_sleep(w, 50000);
	return *flag;
}

static void
main_co(void *arg)
{
	struct cluster *c = arg;
	c->body(c);
	/* No process dies from here on: closing does their work. */
	for (unsigned p = 0; p < c->procs; p++)
		net_sim_crash_at(c->sim, c->place[p].net, 0);
	cluster_bury(c);
	for (unsigned p = c->procs; p-- > 0;) {
		struct place *at = &c->place[p];
		if (at->tw != NULL)
			txn_worker_close(at->tw);
		cat_close(at->cat);
		if (at->db != NULL)
			txn_db_close(at->w, at->db);
	}
	c->ended = true;
}

bool
cluster_host(struct cluster *c, unsigned r)
{
	const struct net_super *super = net_sim_memory(c->sim, r);
	struct net_service *all = c->services[r];
	unsigned n = IDX_TREE_SERVICES;
	c->tree_host[r] = idx_tree_host_open(r, net_sim_memory(c->sim, r), super->size);
	if (c->tree_host[r] == NULL)
		return false;
	idx_tree_host_services(c->tree_host[r], all);
	if (c->log[r].fn != NULL)
		all[n++] = c->log[r];
	if (c->reset[r].fn != NULL)
		all[n++] = c->reset[r];
	return net_sim_serve(c->sim, r, all, n) == NAM_OK;
}

bool
cluster_open(
    struct cluster *c, const struct net_sim_config *cfg, unsigned procs, bool (*before)(struct cluster *c))
{
	c->procs = procs;
	nam_status st = net_sim_open(&c->sim, cfg);
	if (st == NAM_OK && before != NULL && !before(c)) {
		c->bad = true;
		return false;
	}
	for (unsigned r = 1; st == NAM_OK && r <= cfg->nodes; r++)
		if (!cluster_host(c, r))
			st = NAM_NOMEM;
	if (st != NAM_OK) {
		cluster_bad(c, "no memory for the simulator");
		return false;
	}
	net_sim_faults(c->sim, !c->faults_later);
	for (unsigned p = 0; p < procs; p++)
		if (net_sim_attach(c->sim, &c->place[p].net) != NAM_OK ||
		    net_worker_open(c->place[p].net, &c->place[p].w, NULL) != NAM_OK) {
			cluster_bad(c, "no memory for process %u", p);
			return false;
		}
	return true;
}

bool
cluster_run(struct cluster *c, const struct net_sim_config *cfg, unsigned procs)
{
	if (!cluster_open(c, cfg, procs, NULL))
		return false;
	if (!cluster_start(c, 0, main_co, c) || !net_sim_run(c->sim, NULL, NULL) || !c->ended) {
		cluster_bad(c, "a session waits and nothing can happen any more");
		return false; /* its coroutines are parked in there: left as they are */
	}
	c->hash = net_sim_trace_hash(c->sim);
	net_sim_stats(c->sim, &c->stats);
	for (unsigned p = 0; p < procs; p++) {
		net_worker_close(c->place[p].w);
		net_close(c->place[p].net);
	}
	net_sim_close(c->sim);
	for (unsigned r = 1; r <= cfg->nodes; r++)
		idx_tree_host_close(c->tree_host[r]);
	return !c->bad;
}

bool
speaker_open(struct speaker *s, struct cluster *c, unsigned p)
{
	memset(s, 0, sizeof *s);
	s->c = c;
	s->p = p;
	struct sql_session_config cfg = { .tw = c->place[p].tw, .cat = c->place[p].cat, .parser = c->parser };
	nam_status st = sql_session_open(&cfg, &s->sql);
	if (st != NAM_OK)
		cluster_bad(c, "no session in process %u: %s", p, nam_status_text(st));
	return st == NAM_OK;
}

void
speaker_close(struct speaker *s)
{
	if (s->sql != NULL)
		sql_session_close(s->sql);
	free(s->t.text);
	memset(s, 0, sizeof *s);
}

const char *
speaker_ask(struct speaker *s, const char *text)
{
	struct sql_sink sink = test_client_sink(&s->t);
	test_client_begin(&s->t);
	return test_client_end(&s->t, sql_execute(s->sql, text, strlen(text), &sink, &s->t.err));
}

const char *
answer_error(const char *answer)
{
	const char *e = strncmp(answer, "ERROR ", 6) == 0 ? answer : strstr(answer, " ERROR ");
	return e == NULL ? NULL : strstr(e, "ERROR ") + 6;
}

void
catalog_judge(struct speaker *s)
{
	static const char *const none[] = {
		"SELECT count(*) FROM nam_columns WHERE table_id NOT IN (SELECT id FROM nam_tables)",
		"SELECT count(*) FROM nam_extras WHERE table_id NOT IN (SELECT id FROM nam_tables)",
		("SELECT count(*) FROM nam_tables t "
		 "WHERE columns <> (SELECT count(*) FROM nam_columns WHERE table_id = t.id)"),
	};
	bool names = s->t.names;
	s->t.names = false;
	for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
		const char *a = speaker_ask(s, none[i]);
		if (strcmp(a, "0; SELECT 1") != 0)
			cluster_bad(s->c, "%s: %s", none[i], a);
	}
	s->t.names = names;
}
