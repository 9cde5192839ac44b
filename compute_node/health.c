/* health.c -- whether the process can serve a client, asked of its workers: each reads a role, as
 * a client that comes in makes it do. */
#include <base/clock.h>
#include <compute_node/cn_internal.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	WAIT_MS = 2000,
	PROBES_MAX = 256, /* that have not ended: workers that hang get no more */
};

static _Atomic unsigned probes;

/* One question to all workers. Each holds it, so that one that answers late still finds it. */
struct question {
	pthread_mutex_t lock;
	pthread_cond_t answered;
	struct cn *cn;
	unsigned refs, open;
	bool serves;
	char why[400];
};

static void
drop(struct question *q)
{
	pthread_mutex_lock(&q->lock);
	bool last = --q->refs == 0;
	pthread_mutex_unlock(&q->lock);
	if (!last)
		return;
	pthread_mutex_destroy(&q->lock);
	pthread_cond_destroy(&q->answered);
	free(q);
}

static void
probe(const struct cn_place *place, void *arg)
{
	struct question *q = arg;
	struct cat_role role;
	struct cat_err err = { 0 };
	bool found;
	const uint64_t until = net_now_ns(place->net) + WAIT_MS * UINT64_C(1000000);
	bool ok = cn_enter_by(q->cn, place, CAT_FIRST_ROLE, false, NULL, until, &role, &found, &err);
	pthread_mutex_lock(&q->lock);
	q->open--;
	q->serves |= ok;
	if (!ok && q->why[0] == 0)
		snprintf(q->why, sizeof q->why, "%s", err.detail[0] != 0 ? err.detail : err.text);
	pthread_cond_signal(&q->answered);
	pthread_mutex_unlock(&q->lock);
	drop(q);
	atomic_fetch_sub(&probes, 1);
}

static struct question *
new_question(struct cn *cn)
{
	struct question *q = calloc(1, sizeof *q);
	pthread_condattr_t by_clock;
	if (q == NULL)
		return NULL;
	pthread_condattr_init(&by_clock);
	pthread_condattr_setclock(&by_clock, CLOCK_MONOTONIC);
	pthread_mutex_init(&q->lock, NULL);
	pthread_cond_init(&q->answered, &by_clock);
	pthread_condattr_destroy(&by_clock);
	q->cn = cn;
	q->refs = 1;
	return q;
}

bool
cn_serves(struct cn *cn, char *why, size_t max)
{
	if (net_membership(cn->net) == NET_FENCED) {
		snprintf(why, max, "%s", net_membership_why(cn->net));
		return false;
	}
	struct question *q = new_question(cn);
	if (q == NULL) {
		snprintf(why, max, "out of memory");
		return false;
	}
	pthread_mutex_lock(&q->lock);
	for (unsigned i = 0; i < cn->workers && atomic_load(&probes) < PROBES_MAX; i++) {
		q->refs++;
		q->open++;
		atomic_fetch_add(&probes, 1);
		if (cn_start(cn, i, probe, q, 0) != NAM_OK) {
			atomic_fetch_sub(&probes, 1);
			q->refs--;
			q->open--;
		}
	}
	struct timespec until;
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += WAIT_MS / 1000;
	while (q->open > 0 && !q->serves && pthread_cond_timedwait(&q->answered, &q->lock, &until) == 0)
		continue;
	bool serves = q->serves;
	snprintf(why, max, "%s", q->why[0] != 0 ? q->why : "no worker answers: a storage node may hang");
	pthread_mutex_unlock(&q->lock);
	drop(q);
	return serves;
}
