/* startup.c -- a session begins: the first message, settings, BackendKeyData. */
#include "pgwire_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum cn_pg_first
cn_pg_first(const char *body, size_t n)
{
	struct cn_pg_reader r = cn_pg_reader(body, n);
	uint32_t code = cn_pg_get32(&r);
	if (r.bad)
		return CN_PG_WANTS_NOTHING;
	if (code == CN_PG_SSL || code == CN_PG_GSSENC)
		return !cn_pg_whole(&r)    ? CN_PG_WANTS_NOTHING
		       : code == CN_PG_SSL ? CN_PG_WANTS_TLS
					   : CN_PG_WANTS_GSS;
	if (code == CN_PG_CANCEL)
		return r.end - r.p == 8 ? CN_PG_WANTS_CANCEL : CN_PG_WANTS_NOTHING;
	return code >> 16 == CN_PG_V3 >> 16 ? CN_PG_WANTS_SESSION : CN_PG_WANTS_OLD;
}

static void
status(struct cn_pg_conn *c, const char *name, const char *value)
{
	cn_pg_begin(&c->out, 'S');
	cn_pg_puts(&c->out, name);
	cn_pg_puts(&c->out, value);
	cn_pg_end(&c->out);
}

/* Those that SET may change, in the order of told. */
static const char *const changing[] = { "application_name", "client_encoding",
	"default_transaction_read_only", "TimeZone", "is_superuser", "session_authorization" };
enum { CHANGING = sizeof changing / sizeof *changing };
_Static_assert(
    CHANGING == sizeof((struct cn_pg_conn *)NULL)->told / sizeof((struct cn_pg_conn *)NULL)->told[0],
    "told has one of each");

static uint64_t
milliseconds(struct cn_pg_conn *c, const char *name)
{
	char buf[64], *unit;
	const char *v = sql_session_setting(c->sql, name, buf, sizeof buf);
	if (v == NULL)
		return 0;
	uint64_t n = strtoull(v, &unit, 10);
	return strcmp(unit, "min") == 0 ? n * 60000 : strcmp(unit, "s") == 0 ? n * 1000 : n;
}

void
cn_pg_tell_settings(struct cn_pg_conn *c)
{
	char buf[64];
	c->look = false;
	c->idle_ms = milliseconds(c, "idle_session_timeout");
	c->idle_block_ms = milliseconds(c, "idle_in_transaction_session_timeout");
	const char *slow = sql_session_setting(c->sql, "log_min_duration_statement", buf, sizeof buf);
	c->log_slow = slow != NULL && slow[0] != '-';
	c->log_slow_ms = c->log_slow ? (uint32_t)milliseconds(c, "log_min_duration_statement") : 0;
	cn_pg_activity_name(c, sql_session_setting(c->sql, "application_name", buf, sizeof buf));
	for (unsigned i = 0; i < CHANGING; i++) {
		const char *v = sql_session_setting(c->sql, changing[i], buf, sizeof buf);
		if (v == NULL || strcmp(v, c->told[i]) == 0)
			continue;
		snprintf(c->told[i], sizeof c->told[i], "%s", v);
		status(c, changing[i], c->told[i]);
	}
}

/* A setting of the first message. One that namdb cannot have is told by ParameterStatus, and by a
 * warning; a wrong one ends the session. */
static bool
set(struct cn_pg_conn *c, const char *name, const char *value)
{
	struct cat_err err;
	if (sql_session_set(c->sql, name, value, &err))
		return true;
	if (strcmp(err.sqlstate, "0A000") == 0) {
		cn_pg_notice(c, "WARNING", "0A000", err.text);
		return true;
	}
	cn_pg_error(c, "FATAL", &err);
	c->over = true;
	return false;
}

/* The words of "options": -c name=value, --name=value; a backslash makes a blank part of a word. */
static bool
set_options(struct cn_pg_conn *c, const char *p)
{
	char word[256];
	bool name_follows = false;
	while (*p != 0) {
		size_t n = 0;
		p += strspn(p, " \t\n");
		for (; *p != 0 && strchr(" \t\n", *p) == NULL; p++) {
			if (*p == '\\' && p[1] != 0)
				p++;
			if (n + 1 < sizeof word)
				word[n++] = *p;
		}
		word[n] = 0;
		char *at = word;
		if (n == 0)
			continue;
		if (!name_follows && strcmp(word, "-c") == 0) {
			name_follows = true;
			continue;
		}
		if (!name_follows && (strncmp(word, "-c", 2) == 0 || strncmp(word, "--", 2) == 0))
			at += 2;
		else if (!name_follows)
			at = NULL;
		name_follows = false;
		char *equals = at ? strchr(at, '=') : NULL;
		if (equals == NULL) {
			cn_pg_fatal(
			    c, "42601", "invalid command-line argument for server process: %.60s", word);
			return false;
		}
		*equals = 0;
		for (char *q = at; *q != 0; q++)
			*q = *q == '-' ? '_' : *q;
		if (!set(c, at, equals + 1))
			return false;
	}
	return true;
}

/* Names of the first message that are no settings, or those that are. *unknown: options of the
 * protocol, none of which is known. */
static bool
settings(struct cn_pg_conn *c, struct cn_pg_reader r, bool apply, unsigned *unknown)
{
	const char *name, *value;
	*unknown = 0;
	while (cn_pg_next_pair(&r, &name, &value)) {
		if (strcmp(name, "user") == 0) {
			snprintf(c->user, sizeof c->user, "%s", value);
		} else if (strcmp(name, "database") == 0) {
			snprintf(c->database, sizeof c->database, "%s", value);
		} else if (strcmp(name, "replication") == 0) {
			if (strcasecmp(value, "false") != 0 && strcasecmp(value, "off") != 0 &&
			    strcasecmp(value, "no") != 0 && strcmp(value, "0") != 0) {
				cn_pg_fatal(c, "0A000", "replication connections are not supported");
				return false;
			}
		} else if (strncmp(name, "_pq_.", 5) == 0) {
			++*unknown;
		} else if (!apply) {
			continue;
		} else if (strcmp(name, "options") == 0 ? !set_options(c, value) : !set(c, name, value)) {
			return false;
		}
	}
	if (!cn_pg_whole(&r)) {
		cn_pg_fatal(c, "08P01", "invalid startup packet layout: expected terminator as last byte");
		return false;
	}
	if (c->user[0] == 0) {
		cn_pg_fatal(c, "28000", "no PostgreSQL user name specified in startup packet");
		return false;
	}
	if (c->database[0] == 0)
		memcpy(c->database, c->user, sizeof c->database);
	return true;
}

/* NegotiateProtocolVersion: 3.0 is the newest, and no option is known. */
static void
negotiate(struct cn_pg_conn *c, struct cn_pg_reader r, unsigned unknown)
{
	const char *name, *value;
	cn_pg_begin(&c->out, 'v');
	cn_pg_put32(&c->out, 0);
	cn_pg_put32(&c->out, unknown);
	while (cn_pg_next_pair(&r, &name, &value))
		if (strncmp(name, "_pq_.", 5) == 0)
			cn_pg_puts(&c->out, name);
	cn_pg_end(&c->out);
}

/* A statement computes for so long before the other sessions of its worker get a turn. */
enum { TURN_NS = 200000 };

static bool
open_session(struct cn_pg_conn *c)
{
	const struct sql_session_config cfg = { .tw = c->place->txn,
		.cat = c->place->cat,
		.parser = c->place->parser,
		.cancel = &c->cancel,
		.turn_ns = TURN_NS,
		.crew = cn_crew(c->pg->cn, c->place->worker),
		.user = c->user,
		.pid = (int32_t)c->pid,
		.peers = &c->pg->peers,
		.stats = &c->at->stats.sql,
		.log_slow = c->pg->cfg.log_slow,
		.log_slow_ms = c->pg->cfg.log_slow_ms,
		.plain_user = !c->super,
		.role_id = c->role_id,
		.no_files = true };
	if (sql_session_open(&cfg, &c->sql) == NAM_OK)
		return true;
	cn_pg_fatal(c, "53200", "out of memory");
	return false;
}

bool
cn_pg_begin_session(struct cn_pg_conn *c, const char *body, size_t n)
{
	static const char *const fixed[] = { "DateStyle", "in_hot_standby", "integer_datetimes",
		"IntervalStyle", "server_encoding", "server_version", "standard_conforming_strings" };
	struct cn_pg_reader r = cn_pg_reader(body, n);
	uint32_t version = cn_pg_get32(&r);
	unsigned unknown;
	char buf[64];
	if (!settings(c, r, false, &unknown))
		return false;
	if (version > CN_PG_V3 || unknown > 0)
		negotiate(c, r, unknown);
	if (c->full) {
		cn_pg_fatal(c, "53300", "sorry, too many clients already");
		return false;
	}
	if (c->pg->cfg.require_tls && c->tls == NULL && c->port >= 0) {
		struct cat_err err = { 0 };
		cat_error(&err, "28000", "host \"%s\", user \"%s\": connections without TLS are refused",
		    c->peer, c->user);
		snprintf(err.hint, sizeof err.hint, "Connect with sslmode=require.");
		cn_pg_error(c, "FATAL", &err);
		c->over = true;
		return false;
	}
	if (!cn_pg_authenticate(c) || !open_session(c) || !settings(c, r, true, &unknown))
		return false;
	cn_pg_activity_begin(c);
	cn_pg_tell_settings(c);
	for (unsigned i = 0; i < sizeof fixed / sizeof *fixed; i++) {
		const char *v = sql_session_setting(c->sql, fixed[i], buf, sizeof buf);
		if (v != NULL)
			status(c, fixed[i], v);
	}
	cn_pg_begin(&c->out, 'K');
	cn_pg_put32(&c->out, c->pid);
	cn_pg_put32(&c->out, c->key);
	cn_pg_end(&c->out);
	cn_pg_ready(c);
	return true;
}
