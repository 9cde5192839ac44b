/* session.c -- a session: a coroutine on its worker, and a baton between it and the thread that
 * calls. */
#include <base/assert.h>
#include <base/clock.h>
#include <compute_node/cn_internal.h>

#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * One of the two runs, never both: the holder of the baton may touch the session.
 * The caller hands it over with a request; the coroutine hands it back with
 * an event: a call of the sink for the caller to make, or the end. So results are never
 * copied, the worker never waits for a slow reader, and a reader may block.
 */
enum baton { CALLER, COROUTINE, COROUTINE_CALLER_SLEEPS };
enum request { REQ_OPEN, REQ_EXEC, REQ_PREPARE, REQ_RUN, REQ_FORGET, REQ_CLOSE };
enum event {
	EV_BEGIN,
	EV_ROWS,
	EV_DONE,
	EV_NOTICE,
	EV_COPY_IN,
	EV_COPY_BEGIN,
	EV_COPY_OUT,
	EV_PROGRESS,
	EV_END
};
enum { SPINS = 2000, TURN_NS = 1000000 };

struct cn_session {
	struct cn *cn;                 /* i */
	const char *user;              /* baton  of REQ_OPEN; NULL = the first role */
	struct nam_co *co;             /* i  once open */
	struct sql_session *sql;       /* baton */
	_Atomic uint32_t baton;        /* a  enum baton */
	_Atomic int cancel;            /* a */
	_Atomic int ends;              /* a  every statement is cancelled */
	atomic_bool posted;            /* a  the caller is done with co */
	struct sql_progress scan;      /* a  the coroutine stores */
	void (*look)(void *arg);       /* the caller's  NULL = none */
	void *look_arg;                /* the caller's */
	unsigned look_ms;              /* the caller's */
	enum request request;          /* baton */
	const char *text;              /* baton */
	size_t len;                    /* baton */
	const struct sql_sink *sink;   /* baton */
	struct cat_err *err;           /* baton */
	nam_status status;             /* baton  of REQ_OPEN */
	struct sql_stmt *stmt;         /* baton  of REQ_PREPARE, REQ_RUN, REQ_FORGET */
	const struct cat_datum *param; /* baton */
	unsigned params;               /* baton */
	bool running;                  /* the caller's  between cn_run and the last cn_next */
	bool ok;                       /* baton  of REQ_EXEC, REQ_PREPARE, REQ_RUN */
	char state;                    /* baton */
	struct net_counts counts;      /* baton */
	enum event event;              /* baton */
	bool answer;                   /* baton  what the sink said */
	bool cut;                      /* the coroutine's the process was fenced during a
				        * statement */
	bool doubt;                    /* the coroutine's  likewise, and it may have committed */
	union {                        /* baton  arguments of the event */
		struct {
			const struct sql_column *col;
			unsigned n;
		} begin;
		const struct sql_batch_view *rows;
		struct {
			const char *tag;
			uint64_t rows;
		} done;
		struct {
			const char *severity, *sqlstate, *text;
		} notice;
		struct {
			const char *bytes;
			size_t len;
		} copy;
		struct {
			bool out;
			unsigned columns;
		} copying;
		struct {
			uint64_t bytes, total, rows;
		} progress;
	};
};

/* pause: of a wait, at most; NULL = no limit. */
static void
futex(_Atomic uint32_t *word, int op, uint32_t value, const struct timespec *pause)
{
	syscall(SYS_futex, word, op | FUTEX_PRIVATE_FLAG, value, pause, NULL, 0);
}

/* ---- the coroutine's side -------------------------------------------------------- */

/* Gives the baton to the caller. The session may be gone when this returns, after the last
 * event. */
static void
give(struct cn_session *s)
{
	if (atomic_exchange_explicit(&s->baton, CALLER, memory_order_acq_rel) == COROUTINE_CALLER_SLEEPS)
		futex(&s->baton, FUTEX_WAKE, 1, NULL);
}

static void
take(struct cn_session *s)
{
	while (atomic_load_explicit(&s->baton, memory_order_acquire) == CALLER)
		nam_co_park();
}

static bool
emit(struct cn_session *s, enum event e)
{
	s->event = e;
	s->answer = true;
	give(s);
	take(s);
	return s->answer;
}

static bool
on_begin(void *arg, const struct sql_column *col, unsigned n)
{
	struct cn_session *s = arg;
	s->begin.col = col;
	s->begin.n = n;
	return s->sink->begin == NULL || emit(s, EV_BEGIN);
}

static bool
on_rows(void *arg, const struct sql_batch_view *b)
{
	struct cn_session *s = arg;
	s->rows = b;
	return s->sink->rows == NULL || emit(s, EV_ROWS);
}

static bool
on_done(void *arg, const char *tag, uint64_t rows)
{
	struct cn_session *s = arg;
	/* Verbs of a fenced process have no effect. So a success that they seem to show is not
	 * reported. */
	if (net_membership(s->cn->net) == NET_FENCED) {
		s->cut = true;
		s->doubt = sql_session_state(s->sql) == 'I' && strncmp(tag, "SELECT", 6) != 0;
		return false;
	}
	s->done.tag = tag;
	s->done.rows = rows;
	/* Behind the answer there is no scan: a caller that looks must not see that one again. */
	atomic_store_explicit(&s->scan.all, 0, memory_order_relaxed);
	return s->sink->done == NULL || emit(s, EV_DONE);
}

static void
on_notice(void *arg, const char *severity, const char *sqlstate, const char *text)
{
	struct cn_session *s = arg;
	s->notice.severity = severity;
	s->notice.sqlstate = sqlstate;
	s->notice.text = text;
	if (s->sink->notice != NULL)
		emit(s, EV_NOTICE);
}

static bool
on_copy_in(void *arg, const char **bytes, size_t *len)
{
	struct cn_session *s = arg;
	*len = 0;
	if (s->sink->copy_in == NULL)
		return true;
	bool ok = emit(s, EV_COPY_IN);
	*bytes = s->copy.bytes;
	*len = s->copy.len;
	return ok;
}

static bool
on_copy_begin(void *arg, bool out, unsigned columns)
{
	struct cn_session *s = arg;
	s->copying.out = out;
	s->copying.columns = columns;
	return s->sink->copy_begin == NULL || emit(s, EV_COPY_BEGIN);
}

static bool
on_copy_out(void *arg, const char *bytes, size_t len)
{
	struct cn_session *s = arg;
	s->copy.bytes = bytes;
	s->copy.len = len;
	return s->sink->copy_out == NULL || emit(s, EV_COPY_OUT);
}

static void
on_progress(void *arg, uint64_t bytes, uint64_t total, uint64_t rows)
{
	struct cn_session *s = arg;
	s->progress.bytes = bytes;
	s->progress.total = total;
	s->progress.rows = rows;
	if (s->sink->progress != NULL)
		emit(s, EV_PROGRESS);
}

static bool
serve(struct cn_session *s, const struct sql_sink *sink)
{
	switch (s->request) {
	case REQ_EXEC:
		return sql_execute(s->sql, s->text, s->len, sink, s->err);
	case REQ_PREPARE:
		return sql_prepare(s->sql, s->text, s->len, NULL, 0, &s->stmt, s->err);
	case REQ_RUN:
		return sql_run(s->sql, s->stmt, s->param, s->params, sink, s->err);
	case REQ_FORGET:
		sql_stmt_close(s->stmt);
		return true;
	case REQ_OPEN:
	case REQ_CLOSE:
		break;
	}
	return false;
}

/* Looks for the session's role. False: s->err says why there will be no session. user: where its
 * name stays. */
static bool
enter(struct cn_session *s, const struct cn_place *place, char user[CAT_NAME_MAX + 1],
    struct sql_session_config *cfg)
{
	struct cat_role role;
	bool found;
	if (!cn_enter(s->cn, place, s->user, false, &s->cancel, &role, &found, s->err) ||
	    cn_refuse(s->user, &role, found, s->err))
		return false;
	snprintf(user, CAT_NAME_MAX + 1, "%s", role.name);
	cfg->user = user;
	cfg->role_id = role.id;
	cfg->plain_user = !role.super;
	return true;
}

static void
session_main(const struct cn_place *place, void *arg)
{
	struct cn_session *s = arg;
	char user[CAT_NAME_MAX + 1] = "";
	struct sql_session_config cfg = {
		.tw = place->txn,
		.cat = place->cat,
		.parser = place->parser,
		.cancel = &s->cancel,
		.crew = cn_crew(s->cn, place->worker),
		.progress = &s->scan,
		/* Other sessions' queries may have work here that their sessions wait for. */
		.turn_ns = cn_workers(s->cn) > 1 ? TURN_NS : 0,
	};
	const struct sql_sink sink = {
		.arg = s,
		.begin = on_begin,
		.rows = on_rows,
		.done = on_done,
		.notice = on_notice,
		.copy_in = on_copy_in,
		.copy_begin = on_copy_begin,
		.copy_out = on_copy_out,
		.progress = on_progress,
	};
	s->co = nam_co_self();
	s->status = s->user == NULL || enter(s, place, user, &cfg) ? NAM_OK : NAM_REFUSED;
	if (s->status == NAM_OK)
		s->status = sql_session_open(&cfg, &s->sql);
	bool open = s->status == NAM_OK;
	s->state = open ? sql_session_state(s->sql) : 'I';
	s->event = EV_END;
	give(s);
	while (open) {
		take(s);
		if (s->request != REQ_CLOSE) {
			s->cut = false;
			s->ok = serve(s, &sink);
			if (!s->ok && s->request != REQ_FORGET)
				cn_reason(s->cn, place, s->cut, s->doubt, s->err);
			s->state = sql_session_state(s->sql);
			sql_session_counts(s->sql, &s->counts);
		} else {
			/* The caller may still be inside nam_co_post, which needs a living
			 * coroutine. */
			while (!atomic_load_explicit(&s->posted, memory_order_acquire))
				nam_co_yield();
			sql_session_close(s->sql);
			open = false;
		}
		s->event = EV_END;
		give(s);
	}
}

/* ---- the caller's side ------------------------------------------------------------ */

static void
await(struct cn_session *s)
{
	for (int i = 0; i < SPINS; i++) {
		if (atomic_load_explicit(&s->baton, memory_order_acquire) == CALLER)
			return;
#if defined(__x86_64__) || defined(__i386__)
		__builtin_ia32_pause();
#elif defined(__aarch64__)
		__asm__ volatile("yield");
#endif
	}
	for (;;) {
		uint32_t now = COROUTINE;
		if (!atomic_compare_exchange_strong_explicit(&s->baton, &now, COROUTINE_CALLER_SLEEPS,
			memory_order_acq_rel, memory_order_acquire) &&
		    now == CALLER)
			return;
		const struct timespec pause = { s->look_ms / 1000, s->look_ms % 1000 * 1000000L };
		futex(&s->baton, FUTEX_WAIT, COROUTINE_CALLER_SLEEPS, s->look != NULL ? &pause : NULL);
		if (s->look != NULL)
			s->look(s->look_arg);
	}
}

/* Hands the baton over and waits for it. */
static void
turn(struct cn_session *s)
{
	atomic_store_explicit(&s->baton, COROUTINE, memory_order_release);
	nam_co_post(s->co);
	atomic_store_explicit(&s->posted, true, memory_order_release);
	await(s);
}

static nam_status
open_session(struct cn *cn, unsigned worker, const char *user, struct cn_session **out, struct cat_err *err)
{
	struct cn_session *s = calloc(1, sizeof *s);
	if (s == NULL)
		return NAM_NOMEM;
	s->cn = cn;
	s->user = user;
	s->err = err;
	s->request = REQ_OPEN;
	atomic_store(&s->baton, COROUTINE);
	if (worker == UINT_MAX)
		worker = atomic_fetch_add_explicit(&cn->next, 1, memory_order_relaxed);
	nam_status st = cn_start(cn, worker % cn->workers, session_main, s, CN_STACK);
	if (st == NAM_OK) {
		await(s);
		st = s->status;
	}
	if (st != NAM_OK) {
		free(s);
		return st;
	}
	atomic_fetch_add(&cn->sessions, 1);
	*out = s;
	return NAM_OK;
}

nam_status
cn_session_open(struct cn *cn, unsigned worker, struct cn_session **out)
{
	return open_session(cn, worker, NULL, out, NULL);
}

bool
cn_session_open_as(
    struct cn *cn, unsigned worker, const char *user, struct cn_session **out, struct cat_err *err)
{
	*err = (struct cat_err){ 0 };
	nam_status st = open_session(cn, worker, user, out, err);
	if (st != NAM_OK && err->sqlstate[0] == 0)
		cat_error(err, st == NAM_NOMEM ? "53200" : "58030", "cannot open a session: %s",
		    nam_status_text(st));
	return st == NAM_OK;
}

void
cn_session_close(struct cn_session *s)
{
	if (s == NULL)
		return;
	s->request = REQ_CLOSE;
	atomic_store_explicit(&s->posted, false, memory_order_relaxed);
	turn(s);
	atomic_fetch_sub(&s->cn->sessions, 1);
	free(s);
}

char
cn_session_state(const struct cn_session *s)
{
	return s->state;
}

void
cn_session_counts(struct cn_session *s, struct net_counts *out)
{
	*out = s->counts;
}

void
cn_session_watch(struct cn_session *s, unsigned ms, void (*look)(void *arg), void *arg)
{
	s->look_ms = ms;
	s->look = look;
	s->look_arg = arg;
}

void
cn_session_progress(const struct cn_session *s, uint64_t *done, uint64_t *all)
{
	*done = atomic_load_explicit(&s->scan.done, memory_order_relaxed);
	*all = atomic_load_explicit(&s->scan.all, memory_order_relaxed);
	if (*done > *all) /* a guess, or of another scan */
		*done = *all;
}

void
cn_cancel(struct cn_session *s)
{
	int none = SQL_CANCEL_NONE; /* a session that ends stays one */
	atomic_compare_exchange_strong(&s->cancel, &none, SQL_CANCEL_STATEMENT);
}

void
cn_ending(struct cn *cn)
{
	txn_ending(cn->db, nam_clock_ns() + CN_ENDING_NS);
}

void
cn_session_ends(struct cn_session *s)
{
	atomic_store(&s->ends, SQL_CANCEL_ENDS);
	cn_ending(s->cn);
	atomic_store_explicit(&s->cancel, SQL_CANCEL_ENDS, memory_order_relaxed);
}

/* Makes the call the coroutine asked for. */
static void
deliver(struct cn_session *s, const struct sql_sink *k)
{
	switch (s->event) {
	case EV_BEGIN:
		s->answer = k->begin(k->arg, s->begin.col, s->begin.n);
		break;
	case EV_ROWS:
		s->answer = k->rows(k->arg, s->rows);
		break;
	case EV_DONE:
		s->answer = k->done(k->arg, s->done.tag, s->done.rows);
		break;
	case EV_NOTICE:
		k->notice(k->arg, s->notice.severity, s->notice.sqlstate, s->notice.text);
		break;
	case EV_COPY_IN:
		s->copy.bytes = "";
		s->copy.len = 0;
		s->answer = k->copy_in(k->arg, &s->copy.bytes, &s->copy.len);
		break;
	case EV_COPY_BEGIN:
		s->answer = k->copy_begin(k->arg, s->copying.out, s->copying.columns);
		break;
	case EV_COPY_OUT:
		s->answer = k->copy_out(k->arg, s->copy.bytes, s->copy.len);
		break;
	case EV_PROGRESS:
		k->progress(k->arg, s->progress.bytes, s->progress.total, s->progress.rows);
		break;
	case EV_END:
		break;
	}
}

bool
cn_exec(struct cn_session *s, const char *text, size_t len, const struct sql_sink *sink, struct cat_err *err)
{
	s->request = REQ_EXEC;
	s->text = text;
	s->len = len;
	s->sink = sink;
	s->err = err;
	atomic_store_explicit(&s->cancel, atomic_load(&s->ends), memory_order_relaxed);
	for (turn(s); s->event != EV_END; turn(s))
		deliver(s, sink);
	return s->ok;
}

/* ---- prepared statements, and rows that are pulled ---------------------------------- */

bool
cn_prepare(struct cn_session *s, const char *text, size_t len, struct sql_stmt **out, struct cat_err *err)
{
	static const struct sql_sink none;
	NAM_ASSERT(!s->running);
	s->request = REQ_PREPARE;
	s->text = text;
	s->len = len;
	s->sink = &none;
	s->err = err;
	s->stmt = NULL;
	atomic_store_explicit(&s->cancel, atomic_load(&s->ends), memory_order_relaxed);
	turn(s);
	*out = s->stmt;
	return s->ok;
}

void
cn_forget(struct cn_session *s, struct sql_stmt *st)
{
	NAM_ASSERT(!s->running);
	s->request = REQ_FORGET;
	s->stmt = st;
	turn(s);
}

void
cn_run(struct cn_session *s, struct sql_stmt *st, const struct cat_datum *param, unsigned n,
    const struct sql_sink *sink, struct cat_err *err)
{
	NAM_ASSERT(!s->running && sink->rows != NULL);
	s->request = REQ_RUN;
	s->stmt = st;
	s->param = param;
	s->params = n;
	s->sink = sink;
	s->err = err;
	s->running = true;
	atomic_store_explicit(&s->cancel, atomic_load(&s->ends), memory_order_relaxed);
}

enum cn_next
cn_next(struct cn_session *s, const struct sql_batch_view **rows)
{
	NAM_ASSERT(s->running);
	for (turn(s); s->event != EV_END; turn(s)) {
		if (s->event == EV_ROWS) {
			*rows = s->rows;
			s->answer = true;
			return CN_ROWS;
		}
		deliver(s, s->sink);
	}
	s->running = false;
	return s->ok ? CN_DONE : CN_FAILED;
}

enum cn_next
cn_stop(struct cn_session *s)
{
	const struct sql_batch_view *rows;
	enum cn_next n = CN_DONE;
	bool begun = s->event == EV_ROWS;
	if (!s->running)
		return CN_DONE;
	/* In a block a statement that is cut short would fail it: there the rest is read and
	 * dropped. */
	if (begun && s->state == 'I')
		s->answer = false;
	while (begun && s->running)
		if (s->answer) {
			n = cn_next(s, &rows);
		} else {
			for (turn(s); s->event != EV_END; turn(s))
				if (s->event == EV_ROWS)
					s->answer = false;
				else
					deliver(s, s->sink);
			s->running = false;
		}
	s->running = false;
	return n;
}
