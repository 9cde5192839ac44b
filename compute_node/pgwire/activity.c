/* activity.c -- what each session does, for pg_stat_activity; how long statements take; the log of
 * slow ones. */
#include "pgwire_internal.h"

#include <base/clock.h>
#include <base/log.h>

#include <stdio.h>
#include <string.h>

enum { PG_EPOCH_S = 946684800, LOGGED = 800, COPIES = 1000 };

static void
put(_Atomic uint64_t *to, uint64_t v)
{
	atomic_store_explicit(to, v, memory_order_release);
}

static uint64_t
get(const _Atomic uint64_t *from)
{
	return atomic_load_explicit(from, memory_order_acquire);
}

/* Each word is written with release order and read with acquire order: a reader that sees a word of
 * a later turn also sees that `turn` has moved. */
static void
open_turn(struct cn_pg_activity *a)
{
	atomic_store_explicit(&a->turn, a->turn + 1, memory_order_relaxed);
}

static void
close_turn(struct cn_pg_activity *a)
{
	put(&a->turn, a->turn + 1);
}

/* The text, or as much of it as fits, and a 0. A letter is not cut in two. */
static void
put_text(_Atomic uint64_t *to, unsigned words, const char *text, size_t len)
{
	if (len > words * 8 - 1) {
		len = words * 8 - 1;
		while (len > 0 && ((unsigned char)text[len] & 0xc0) == 0x80)
			len--;
	}
	size_t at = 0;
	for (; at + 8 <= len; at += 8) {
		uint64_t w;
		memcpy(&w, text + at, 8);
		put(to++, w);
	}
	uint64_t last = 0;
	memcpy(&last, text + at, len - at);
	put(to, last);
}

static void
get_text(const _Atomic uint64_t *from, unsigned words, char *to)
{
	for (unsigned i = 0; i < words; i++) {
		uint64_t w = get(&from[i]);
		memcpy(to + 8 * i, &w, 8);
		if (memchr(&w, 0, 8) != NULL)
			return;
	}
	to[words * 8 - 1] = 0;
}

/* ---- the session's side ---------------------------------------------------------------- */

static void
set_state(struct cn_pg_activity *a, enum cn_pg_state state, uint64_t now_us)
{
	put(&a->state, state);
	put(&a->state_us, now_us);
}

void
cn_pg_activity_begin(struct cn_pg_conn *c)
{
	struct cn_pg_activity *a = &c->now;
	uint64_t now = (uint64_t)nam_clock_wall_us();
	sql_stat_add(&c->at->stats.began, 1);
	open_turn(a);
	put(&a->began_us, now);
	set_state(a, CN_PG_WAITS, now);
	close_turn(a);
}

bool
cn_pg_activity_began(const struct cn_pg_conn *c)
{
	return get(&c->now.state) != CN_PG_OFF;
}

void
cn_pg_activity_name(struct cn_pg_conn *c, const char *application)
{
	const char *name = application ? application : "";
	open_turn(&c->now);
	put_text(c->now.name, CN_PG_NAME_WORDS, name, strlen(name));
	close_turn(&c->now);
}

void
cn_pg_activity_run(struct cn_pg_conn *c, const char *text, size_t len)
{
	struct cn_pg_activity *a = &c->now;
	uint64_t now = (uint64_t)nam_clock_wall_us();
	c->began_ns = nam_clock_ns();
	c->running = text;
	c->running_len = len;
	open_turn(a);
	if (c->block_ns == 0) {
		c->block_ns = c->began_ns;
		put(&a->xact_us, now);
	}
	put(&a->query_us, now);
	set_state(a, CN_PG_ACTIVE, now);
	put_text(a->text, CN_PG_TEXT_WORDS, text, len);
	close_turn(a);
}

static void
add_time(struct cn_pg_times *t, uint64_t ns)
{
	uint64_t us = ns / 1000;
	unsigned k = us <= 1 ? 0 : 64 - (unsigned)__builtin_clzll(us - 1);
	sql_stat_add(&t->bucket[k < CN_PG_BUCKETS - 1 ? k : CN_PG_BUCKETS - 1], 1);
	sql_stat_add(&t->sum_us, us);
}

/* One line: what would begin another is a blank. */
static void
log_slow(struct cn_pg_conn *c, uint64_t ns)
{
	char text[LOGGED + 1];
	size_t n = c->running_len < LOGGED ? c->running_len : LOGGED;
	for (size_t i = 0; i < n; i++)
		text[i] = c->running[i] >= 0 && c->running[i] < ' ' ? ' ' : c->running[i];
	text[n] = 0;
	sql_stat_add(&c->at->stats.slow, 1);
	nam_log(NAM_LOG_ERROR, "[%u] %s LOG:  duration: %.3f ms  statement: %s%s", c->pid, c->user,
	    (double)ns / 1e6, text, n < c->running_len ? "..." : "");
}

void
cn_pg_activity_ran(struct cn_pg_conn *c)
{
	uint64_t ns = nam_clock_ns() - c->began_ns;
	add_time(&c->at->stats.statements, ns);
	if (c->log_slow && ns >= c->log_slow_ms * UINT64_C(1000000))
		log_slow(c, ns);
	c->running = NULL;
}

void
cn_pg_activity_wait(struct cn_pg_conn *c)
{
	struct cn_pg_activity *a = &c->now;
	char state = sql_session_state(c->sql);
	if (c->began_ns == 0)
		return; /* it ran nothing */
	uint64_t ns = nam_clock_ns() - c->began_ns;
	open_turn(a);
	set_state(a,
	    state == 'I'   ? CN_PG_WAITS
	    : state == 'T' ? CN_PG_WAITS_IN_BLOCK
			   : CN_PG_WAITS_FAILED,
	    get(&a->query_us) + ns / 1000);
	if (state == 'I')
		put(&a->xact_us, 0);
	close_turn(a);
	if (state == 'I' && c->block_ns != 0) {
		add_time(&c->at->stats.blocks, c->began_ns + ns - c->block_ns);
		c->block_ns = 0;
	}
	c->began_ns = 0;
}

/* ---- the readers' side ----------------------------------------------------------------- */

static int64_t
pg_time(uint64_t us)
{
	return us == 0 ? 0 : (int64_t)us - INT64_C(1000000) * PG_EPOCH_S;
}

/* False: the session has not begun, or it writes on and on. */
static bool
copy_activity(const struct cn_pg_conn *c, struct sql_activity *out)
{
	static const char *const words[] = { [CN_PG_ACTIVE] = "active",
		[CN_PG_WAITS] = "idle",
		[CN_PG_WAITS_IN_BLOCK] = "idle in transaction",
		[CN_PG_WAITS_FAILED] = "idle in transaction (aborted)" };
	const struct cn_pg_activity *a = &c->now;
	for (unsigned tries = 0; tries < COPIES; tries++) {
		uint64_t turn = get(&a->turn);
		if (turn % 2 != 0)
			continue;
		uint64_t state = get(&a->state);
		out->began_us = pg_time(get(&a->began_us));
		out->xact_us = pg_time(get(&a->xact_us));
		out->query_us = pg_time(get(&a->query_us));
		out->state_us = pg_time(get(&a->state_us));
		get_text(a->name, CN_PG_NAME_WORDS, out->application);
		get_text(a->text, CN_PG_TEXT_WORDS, out->query);
		if (atomic_load_explicit(&a->turn, memory_order_relaxed) != turn)
			continue;
		out->state = words[state];
		return state != CN_PG_OFF;
	}
	return false;
}

static void
each(void *arg, bool (*fn)(void *to, const struct sql_activity *a), void *to)
{
	struct cn_pg *pg = arg;
	bool more = true;
	pthread_mutex_lock(&pg->lock);
	for (struct cn_pg_conn *c = pg->first; c != NULL && more; c = c->next) {
		struct sql_activity a = { .pid = (int32_t)c->pid, .port = c->port };
		if (!copy_activity(c, &a))
			continue;
		/* Set before the session began. */
		snprintf(a.user, sizeof a.user, "%s", c->user);
		snprintf(a.client, sizeof a.client, "%s", c->peer);
		more = fn(to, &a);
	}
	pthread_mutex_unlock(&pg->lock);
}

static void
totals(void *arg, struct sql_stats *out)
{
	struct cn_pg *pg = arg;
	*out = (struct sql_stats){ 0 };
	for (unsigned i = 0; i < pg->workers; i++) {
		struct sql_stats *s = &pg->worker[i].stats.sql;
		sql_stat_add(&out->commits, get(&s->commits));
		sql_stat_add(&out->rollbacks, get(&s->rollbacks));
		sql_stat_add(&out->retries, get(&s->retries));
	}
}

void
cn_pg_peers_init(struct cn_pg *pg)
{
	pg->peers = (struct sql_peers){ .arg = pg, .each = each, .signal = cn_pg_signal, .totals = totals };
}
