/* duckdb.c -- the part of DuckDB's C interface that two queries need. */
#include "duckdb.h"

#include <base/clock.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As DuckDB's C interface documents them. */
struct result {
	uint64_t old[3];
	void *columns;
	char *message;
	void *data;
};
enum { BIGINT = 5, VECTOR = 2048 };

struct peer_duckdb {
	void *lib, *db, *con;
	char version[64];
	int (*open)(const char *path, void **db);
	int (*connect)(void *db, void **con);
	void (*close)(void **db);
	void (*disconnect)(void **con);
	int (*query)(void *con, const char *sql, struct result *out);
	const char *(*result_error)(struct result *r);
	void (*destroy_result)(struct result *r);
	int64_t (*value_int64)(struct result *r, uint64_t column, uint64_t row);
	char *(*value_varchar)(struct result *r, uint64_t column, uint64_t row);
	bool (*value_is_null)(struct result *r, uint64_t column, uint64_t row);
	uint64_t (*row_count)(struct result *r), (*column_count)(struct result *r);
	void (*free)(void *p);
	const char *(*library_version)(void);
	void *(*create_logical_type)(int type);
	void (*destroy_logical_type)(void **type);
	void *(*create_data_chunk)(void **types, uint64_t columns);
	void (*destroy_data_chunk)(void **chunk);
	void *(*data_chunk_get_vector)(void *chunk, uint64_t column);
	void *(*vector_get_data)(void *vector);
	void (*data_chunk_set_size)(void *chunk, uint64_t size);
	void (*data_chunk_reset)(void *chunk);
	int (*appender_create)(void *con, const char *schema, const char *table, void **out);
	int (*append_data_chunk)(void *appender, void *chunk);
	int (*appender_destroy)(void **appender);
};

/* Where the library may be. */
static void *
library(void)
{
	static const char *const place[] = {
		"build/duckdb/node_modules/@duckdb/node-bindings-linux-x64/libduckdb.so",
		"build/duckdb/node_modules/@duckdb/node-bindings-linux-arm64/libduckdb.so", "libduckdb.so"
	};
	const char *given = getenv("NAMDB_DUCKDB");
	void *lib = given != NULL ? dlopen(given, RTLD_NOW | RTLD_LOCAL) : NULL;
	for (unsigned i = 0; given == NULL && lib == NULL && i < sizeof place / sizeof place[0]; i++)
		lib = dlopen(place[i], RTLD_NOW | RTLD_LOCAL);
	return lib;
}

static bool
names(struct peer_duckdb *d)
{
	const struct {
		const char *name;
		void *at;
	} want[] = { { "open", &d->open }, { "connect", &d->connect }, { "close", &d->close },
		{ "disconnect", &d->disconnect }, { "query", &d->query },
		{ "result_error", &d->result_error }, { "destroy_result", &d->destroy_result },
		{ "value_int64", &d->value_int64 }, { "value_varchar", &d->value_varchar },
		{ "value_is_null", &d->value_is_null }, { "row_count", &d->row_count },
		{ "column_count", &d->column_count }, { "free", &d->free },
		{ "library_version", &d->library_version },
		{ "create_logical_type", &d->create_logical_type },
		{ "destroy_logical_type", &d->destroy_logical_type },
		{ "create_data_chunk", &d->create_data_chunk },
		{ "destroy_data_chunk", &d->destroy_data_chunk },
		{ "data_chunk_get_vector", &d->data_chunk_get_vector },
		{ "vector_get_data", &d->vector_get_data },
		{ "data_chunk_set_size", &d->data_chunk_set_size },
		{ "data_chunk_reset", &d->data_chunk_reset }, { "appender_create", &d->appender_create },
		{ "append_data_chunk", &d->append_data_chunk },
		{ "appender_destroy", &d->appender_destroy } };
	for (unsigned i = 0; i < sizeof want / sizeof want[0]; i++) {
		char name[64];
		snprintf(name, sizeof name, "duckdb_%s", want[i].name);
		void *f = dlsym(d->lib, name);
		if (f == NULL)
			return false;
		memcpy(want[i].at, &f, sizeof f);
	}
	return true;
}

struct peer_duckdb *
peer_duckdb_open(unsigned threads, const char **why)
{
	struct peer_duckdb *d = calloc(1, sizeof *d);
	char sql[64];
	*why = "no memory";
	if (d == NULL)
		return NULL;
	*why = "its library is not there; npm install --prefix build/duckdb "
	       "@duckdb/node-bindings-linux-x64@1.5.6-r.1, or name the file in NAMDB_DUCKDB";
	if ((d->lib = library()) == NULL) {
		free(d);
		return NULL;
	}
	*why = "its library has not the functions that are wanted; take version 1.5.6";
	bool ok = names(d);
	if (ok) {
		*why = "its database does not open";
		ok = d->open(NULL, &d->db) == 0 && d->connect(d->db, &d->con) == 0;
	}
	snprintf(sql, sizeof sql, "SET threads = %u", threads);
	if (!ok || !peer_duckdb_ask(d, sql, NULL, 0)) {
		peer_duckdb_close(d);
		return NULL;
	}
	snprintf(d->version, sizeof d->version, "%s", d->library_version());
	return d;
}

void
peer_duckdb_close(struct peer_duckdb *d)
{
	if (d == NULL)
		return;
	if (d->con != NULL)
		d->disconnect(&d->con);
	if (d->db != NULL)
		d->close(&d->db);
	/* The library stays: its threads may not have ended yet. */
	free(d);
}

const char *
peer_duckdb_version(const struct peer_duckdb *d)
{
	return d->version;
}

bool
peer_duckdb_ask(struct peer_duckdb *d, const char *sql, int64_t *out, unsigned n)
{
	struct result r;
	memset(&r, 0, sizeof r);
	bool ok = d->query(d->con, sql, &r) == 0;
	if (!ok)
		fprintf(stderr, "namdb bench: duckdb: %s\n", d->result_error(&r));
	for (unsigned i = 0; ok && i < n; i++)
		out[i] = d->value_int64(&r, i, 0);
	d->destroy_result(&r);
	return ok;
}

bool
peer_duckdb_rows(struct peer_duckdb *d, const char *sql,
    void (*value)(void *arg, unsigned column, unsigned columns, const char *text), void *arg, uint64_t *ns)
{
	struct result r;
	memset(&r, 0, sizeof r);
	uint64_t t0 = nam_clock_ns();
	bool ok = d->query(d->con, sql, &r) == 0;
	*ns = nam_clock_ns() - t0;
	if (!ok)
		fprintf(stderr, "namdb bench: duckdb: %s\n", d->result_error(&r));
	uint64_t rows = ok ? d->row_count(&r) : 0, columns = ok ? d->column_count(&r) : 0;
	for (uint64_t i = 0; i < rows; i++)
		for (uint64_t c = 0; c < columns; c++) {
			char *text = d->value_is_null(&r, c, i) ? NULL : d->value_varchar(&r, c, i);
			value(arg, (unsigned)c, (unsigned)columns, text);
			d->free(text);
		}
	d->destroy_result(&r);
	return ok;
}

bool
peer_duckdb_load(struct peer_duckdb *d, const char *table, unsigned columns, uint64_t tuples,
    void (*fill)(const void *arg, uint64_t first, unsigned n, void *tuples), const void *arg)
{
	char sql[4096];
	int at = snprintf(sql, sizeof sql, "CREATE TABLE %s (k BIGINT", table);
	for (unsigned i = 1; i < columns; i++)
		at += snprintf(sql + at, sizeof sql - (size_t)at, ", p%u BIGINT", i);
	snprintf(sql + at, sizeof sql - (size_t)at, ")");
	void *type[128], *chunk = NULL, *appender = NULL;
	uint64_t *t = malloc((size_t)VECTOR * columns * 8);
	if (columns > 128 || t == NULL || !peer_duckdb_ask(d, sql, NULL, 0)) {
		free(t);
		return false;
	}
	for (unsigned i = 0; i < columns; i++)
		type[i] = d->create_logical_type(BIGINT);
	chunk = d->create_data_chunk(type, columns);
	bool ok = d->appender_create(d->con, NULL, table, &appender) == 0;
	for (uint64_t row = 0; ok && row < tuples; row += VECTOR) {
		unsigned n = tuples - row < VECTOR ? (unsigned)(tuples - row) : VECTOR;
		fill(arg, row, n, t);
		d->data_chunk_reset(chunk);
		for (unsigned c = 0; c < columns; c++) {
			int64_t *v = d->vector_get_data(d->data_chunk_get_vector(chunk, c));
			for (unsigned i = 0; i < n; i++)
				v[i] = (int64_t)t[(size_t)i * columns + c];
		}
		d->data_chunk_set_size(chunk, n);
		ok = d->append_data_chunk(appender, chunk) == 0;
	}
	if (appender != NULL)
		ok &= d->appender_destroy(&appender) == 0;
	d->destroy_data_chunk(&chunk);
	for (unsigned i = 0; i < columns; i++)
		d->destroy_logical_type(&type[i]);
	free(t);
	return ok;
}
