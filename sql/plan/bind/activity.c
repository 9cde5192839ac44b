/* activity.c -- PostgreSQL's statistics views in FROM: what the sessions of this process do
 * (pg_stat_activity), what they did (pg_stat_database), what this one has open (pg_cursors).
 *
 * Their rows are made when a statement that names one is bound, so a plan of such a statement
 * serves one run (momentary). Other processes of the cluster have sessions of their own, which are
 * not shown here. */
#include <sql/common/error.h>
#include <sql/common/rights.h>
#include <sql/plan/bind/bind.h>

#include <string.h>

enum { DATABASE_OID = 16383 }; /* system.c's */
#define DATABASE "namdb"

#define COLUMN(n, t)                                                                                         \
	{                                                                                                    \
		.name = n, .type = CAT_##t, .typmod = -1                                                     \
	}

static const struct sql_column activity_columns[] = { COLUMN("datid", INT8), COLUMN("datname", TEXT),
	COLUMN("pid", INT4), COLUMN("leader_pid", INT4), COLUMN("usesysid", INT8), COLUMN("usename", TEXT),
	COLUMN("application_name", TEXT), COLUMN("client_addr", TEXT), COLUMN("client_hostname", TEXT),
	COLUMN("client_port", INT4), COLUMN("backend_start", TIMESTAMPTZ), COLUMN("xact_start", TIMESTAMPTZ),
	COLUMN("query_start", TIMESTAMPTZ), COLUMN("state_change", TIMESTAMPTZ),
	COLUMN("wait_event_type", TEXT), COLUMN("wait_event", TEXT), COLUMN("state", TEXT),
	COLUMN("backend_xid", INT8), COLUMN("backend_xmin", INT8), COLUMN("query_id", INT8),
	COLUMN("query", TEXT), COLUMN("backend_type", TEXT) };

static const struct sql_column database_columns[] = { COLUMN("datid", INT8), COLUMN("datname", TEXT),
	COLUMN("numbackends", INT4), COLUMN("xact_commit", INT8), COLUMN("xact_rollback", INT8) };

static const struct sql_column cursors_columns[] = { COLUMN("name", TEXT), COLUMN("statement", TEXT),
	COLUMN("is_holdable", BOOL), COLUMN("is_binary", BOOL), COLUMN("is_scrollable", BOOL),
	COLUMN("creation_time", TIMESTAMPTZ) };

struct rows {
	struct bind_rows out;
	bool ok;
	unsigned sessions;
};

static bool
put(struct rows *r, int64_t i)
{
	return sql_bind_put(&r->out, (struct cat_datum){ .v.i = i });
}

static bool
when(struct rows *r, int64_t us)
{
	return sql_bind_put(&r->out, (struct cat_datum){ .v.i = us, .null = us == 0 });
}

static bool
none(struct rows *r)
{
	return sql_bind_put(&r->out, (struct cat_datum){ .null = true, .v.s = { "", 0 } });
}

static bool
nones(struct rows *r, unsigned n)
{
	bool ok = true;
	while (ok && n-- > 0)
		ok = none(r);
	return ok;
}

/* Of a text that does not last. */
static bool
copied(struct rows *r, const char *s, size_t len)
{
	char *copy = nam_arena_str(r->out.b->a, s, len);
	return copy != NULL ? sql_bind_put_text(&r->out, copy)
			    : cat_error(r->out.b->err, "53200", "out of memory");
}

static bool
words(struct rows *r, const char *s)
{
	return copied(r, s, strlen(s));
}

static bool
session_row(void *arg, const struct sql_activity *a)
{
	struct rows *r = arg;
	const struct sql_who *who = r->out.b->in->who;
	bool idle = strncmp(a->state, "idle", 4) == 0;
	if (who != NULL && !who->super && strcmp(who->name, a->user) != 0) /* another role's */
		return r->ok = put(r, DATABASE_OID) && sql_bind_put_text(&r->out, DATABASE) &&
			       put(r, a->pid) && none(r) && none(r) && words(r, a->user) &&
			       words(r, a->application) && nones(r, 11) &&
			       sql_bind_put_text(&r->out, "<insufficient privilege>") && none(r);
	r->ok = put(r, DATABASE_OID) && sql_bind_put_text(&r->out, DATABASE) && put(r, a->pid) && none(r) &&
		none(r) && words(r, a->user) && words(r, a->application) &&
		(a->client[0] != 0 ? words(r, a->client) : none(r)) && none(r) && put(r, a->port) &&
		when(r, a->began_us) && when(r, a->xact_us) && when(r, a->query_us) && when(r, a->state_us) &&
		(idle ? sql_bind_put_text(&r->out, "Client") && sql_bind_put_text(&r->out, "ClientRead")
		      : none(r) && none(r)) &&
		sql_bind_put_text(&r->out, a->state) && none(r) && none(r) && none(r) && words(r, a->query) &&
		sql_bind_put_text(&r->out, "client backend");
	return r->ok;
}

static bool
count_session(void *arg, const struct sql_activity *a)
{
	struct rows *r = arg;
	(void)a;
	r->sessions++;
	return true;
}

static bool
cursor_row(void *arg, const struct sql_cursor_shown *c)
{
	struct rows *r = arg;
	return r->ok = words(r, c->name) && copied(r, c->text, c->len) && put(r, c->hold) && put(r, false) &&
		       put(r, c->scroll) && when(r, c->made_us);
}

static bool
cursors_rows(struct rows *r)
{
	const struct sql_bind_in *in = r->out.b->in;
	r->ok = true;
	if (in->cursors != NULL)
		in->cursors(in->session, cursor_row, r);
	return r->ok;
}

static bool
activity_rows(struct rows *r)
{
	const struct sql_peers *peers = r->out.b->in->peers;
	r->ok = true;
	if (peers == NULL)
		return true;
	peers->each(peers->arg, session_row, r);
	return r->ok;
}

static bool
database_rows(struct rows *r)
{
	const struct sql_peers *peers = r->out.b->in->peers;
	struct sql_stats sum;
	if (peers == NULL)
		return true;
	peers->totals(peers->arg, &sum);
	peers->each(peers->arg, count_session, r);
	return put(r, DATABASE_OID) && sql_bind_put_text(&r->out, DATABASE) && put(r, r->sessions) &&
	       put(r, (int64_t)sum.commits) && put(r, (int64_t)sum.rollbacks);
}

#define VIEW(view, part)                                                                                     \
	{                                                                                                    \
		view, part##_columns, sizeof part##_columns / sizeof *part##_columns, part##_rows            \
	}

static const struct view {
	const char *name;
	const struct sql_column *column;
	unsigned columns;
	bool (*rows)(struct rows *r);
} views[] = { VIEW("pg_stat_activity", activity), VIEW("pg_stat_database", database),
	VIEW("pg_cursors", cursors) };

bool
sql_bind_add_activity(struct bind *b, const struct ast_table *t, bool *ok)
{
	const struct view *is = NULL;
	for (unsigned i = 0; i < sizeof views / sizeof *views && is == NULL; i++)
		is = strcmp(views[i].name, t->name) == 0 ? &views[i] : NULL;
	if (is == NULL || b->in->cat == NULL)
		return false;
	struct rows r = { .out = { .b = b, .column = is->column, .cols = is->columns } };
	b->plan->momentary = true;
	*ok = sql_bind_only_read(b, t) && is->rows(&r) && sql_bind_add_rows(&r.out, t);
	return true;
}
