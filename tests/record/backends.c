/* backends.c -- namdb through its library, PostgreSQL through libpq, which is loaded only when it
 * is asked for. */
#include "record.h"

#include <dlfcn.h>
#include <namdb.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void
answer_reset(struct answer *a)
{
	for (size_t i = 0; i < a->rows * 2; i++)
		free(a->cell[i]);
	a->rows = 0;
	memcpy(a->state, "00000", 6);
	a->message[0] = 0;
}

void
answer_row(struct answer *a, const char *first, const char *second)
{
	if (a->rows == a->cap) {
		a->cap = a->cap ? a->cap * 2 : 16;
		a->cell = realloc(a->cell, a->cap * 2 * sizeof *a->cell);
		if (a->cell == NULL)
			abort();
	}
	a->cell[a->rows * 2] = strdup(first ? first : "");
	a->cell[a->rows * 2 + 1] = strdup(second ? second : "");
	a->rows++;
}

void
answer_error(struct answer *a, const char *state, const char *message)
{
	snprintf(a->state, sizeof a->state, "%s", state && *state ? state : "08006");
	snprintf(a->message, sizeof a->message, "%s", message ? message : "");
}

bool
answer_is_over(const struct answer *a)
{
	return strncmp(a->state, "08", 2) == 0 || strncmp(a->state, "57", 2) == 0 ||
	       strncmp(a->state, "58", 2) == 0;
}

/* ---- namdb ---- */

static void *
open_namdb(const char *where, struct answer *out)
{
	namdb *db = NULL;
	if (namdb_open(where, &db) == NAMDB_OK)
		return db;
	answer_error(out, db ? namdb_sqlstate(db) : "53200", db ? namdb_message(db) : "no memory");
	namdb_close(db);
	return NULL;
}

static void
run_namdb(void *conn, const char *sql, struct answer *out)
{
	namdb *db = conn;
	namdb_stmt *st = NULL;
	int rc = namdb_prepare(db, sql, &st);
	answer_reset(out);
	if (rc == NAMDB_OK) {
		while ((rc = namdb_step(st)) == NAMDB_ROW)
			answer_row(out, namdb_column_text(st, 0), namdb_column_text(st, 1));
	}
	if (rc == NAMDB_ERROR || rc == NAMDB_MISUSE)
		answer_error(out, namdb_sqlstate(db), namdb_message(db));
	namdb_finalize(st);
}

static void
close_namdb(void *conn)
{
	namdb_close(conn);
}

const struct backend backend_namdb = { NULL, open_namdb, run_namdb, close_namdb };

/* ---- PostgreSQL ---- */

static struct {
	void *(*connectdb)(const char *);
	int (*status)(const void *);
	char *(*error)(const void *);
	void *(*exec)(void *, const char *);
	int (*result)(const void *);
	char *(*field)(const void *, int);
	int (*ntuples)(const void *), (*nfields)(const void *);
	char *(*value)(const void *, int, int);
	void (*clear)(void *), (*finish)(void *);
	bool ready;
} pq;
static pthread_once_t pq_once = PTHREAD_ONCE_INIT;

static void
load_libpq(void)
{
	void *lib = dlopen("libpq.so.5", RTLD_NOW);
	const struct {
		const char *name;
		void *at;
	} wanted[] = {
		{ "PQconnectdb", &pq.connectdb },
		{ "PQstatus", &pq.status },
		{ "PQerrorMessage", &pq.error },
		{ "PQexec", &pq.exec },
		{ "PQresultStatus", &pq.result },
		{ "PQresultErrorField", &pq.field },
		{ "PQntuples", &pq.ntuples },
		{ "PQnfields", &pq.nfields },
		{ "PQgetvalue", &pq.value },
		{ "PQclear", &pq.clear },
		{ "PQfinish", &pq.finish },
	};
	pq.ready = lib != NULL;
	for (size_t i = 0; i < sizeof wanted / sizeof wanted[0] && pq.ready; i++) {
		void *f = dlsym(lib, wanted[i].name);
		memcpy(wanted[i].at, &f, sizeof f);
		pq.ready = f != NULL;
	}
}

static void *
open_postgres(const char *where, struct answer *out)
{
	pthread_once(&pq_once, load_libpq);
	if (!pq.ready) {
		answer_error(out, "58P01", "there is no libpq.so.5");
		return NULL;
	}
	void *conn = pq.connectdb(where);
	if (conn != NULL && pq.status(conn) == 0)
		return conn;
	answer_error(out, "08001", conn ? pq.error(conn) : "no memory");
	if (conn != NULL)
		pq.finish(conn);
	return NULL;
}

static void
run_postgres(void *conn, const char *sql, struct answer *out)
{
	enum { COMMAND_OK = 1, TUPLES_OK = 2, SQLSTATE = 'C' };
	void *r = pq.exec(conn, sql);
	int how = pq.result(r);
	answer_reset(out);
	if (how == TUPLES_OK) {
		for (int i = 0; i < pq.ntuples(r); i++)
			answer_row(out, pq.value(r, i, 0), pq.nfields(r) > 1 ? pq.value(r, i, 1) : "");
	} else if (how != COMMAND_OK) {
		answer_error(out, pq.field(r, SQLSTATE), pq.error(conn));
	}
	pq.clear(r);
}

static void
close_postgres(void *conn)
{
	pq.finish(conn);
}

const struct backend backend_postgres = { "SET deadlock_timeout = '20ms'", open_postgres, run_postgres,
	close_postgres };
