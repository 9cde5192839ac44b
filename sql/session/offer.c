/* offer.c -- a statement as bytes for a helper of another process, and back. */
#include <base/hash.h>
#include <sql/session/offer.h>

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#define MAGIC UINT64_C(0x324c50484c515300) /* "\0SQLHPL2" */

struct sql_offer_top {
	uint64_t magic, print;
	uint64_t snapshot, number, host, cores[SQL_OFFER_CORES / 64];
	int64_t now_us;
	uint32_t workers, most, fragment, statement, explained;
	uint32_t params, hints, parts;
};

/* Changes when a struct that goes as it is, or what numbers in it mean, does. */
static uint64_t
fingerprint(void)
{
	const uint64_t is[] = { sizeof(struct sql_offer_top), sizeof(struct sql_settings),
		sizeof(struct sql_who), sizeof(struct sql_costs), sizeof(struct sql_helped), SQL_NODES,
		SQL_KEPT, SQL_STREAM_WIDTH };
	return nam_hash(is, sizeof is, 1);
}

/* ---- this process ---------------------------------------------------------------------- */

static uint64_t host;
static pthread_once_t host_once = PTHREAD_ONCE_INIT;

static void
find_host(void)
{
	char id[64] = { 0 };
	FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");
	if (f == NULL)
		return;
	size_t n = fread(id, 1, sizeof id, f);
	fclose(f);
	host = nam_hash(id, n, 2);
}

static void
own_cores(uint64_t cores[SQL_OFFER_CORES / 64])
{
	cpu_set_t set;
	memset(cores, 0, SQL_OFFER_CORES / 8);
	if (sched_getaffinity(0, sizeof set, &set) != 0)
		return;
	for (unsigned i = 0; i < SQL_OFFER_CORES; i++)
		if (CPU_ISSET(i, &set))
			cores[i / 64] |= UINT64_C(1) << i % 64;
}

void
sql_offer_here(struct sql_offer *o)
{
	pthread_once(&host_once, find_host);
	o->host = host;
	own_cores(o->cores);
}

unsigned
sql_offer_room(const struct sql_offer *o, unsigned workers, unsigned others)
{
	uint64_t mine[SQL_OFFER_CORES / 64];
	unsigned alone = 0, shared = 0;
	pthread_once(&host_once, find_host);
	own_cores(mine);
	for (unsigned i = 0; i < SQL_OFFER_CORES / 64; i++) {
		bool same = host != 0 && host == o->host;
		uint64_t theirs = same ? o->cores[i] : 0;
		alone += (unsigned)__builtin_popcountll(mine[i] & ~theirs);
		shared += (unsigned)__builtin_popcountll(mine[i] & theirs);
	}
	unsigned room = alone + (shared > o->workers ? shared - o->workers : 0);
	if (alone + shared == 0)
		room = workers; /* the system does not say */
	else if (host == o->host)
		room = room > others ? room - others : 0;
	room = room < workers ? room : workers;
	return room < o->most ? room : o->most;
}

/* ---- as bytes ------------------------------------------------------------------------- */

static bool
put_datum(struct sql_bytes *w, const struct cat_datum *d)
{
	uint32_t type = (uint32_t)d->type;
	uint8_t null = d->null;
	if (!sql_bytes_put(w, &type, sizeof type) || !sql_bytes_put(w, &null, sizeof null))
		return false;
	if (null)
		return true;
	return cat_type_is_str(d->type) ? sql_bytes_put_str(w, d->v.s) : sql_bytes_put(w, &d->v.i, 8);
}

static bool
get_datum(struct sql_bytes_in *c, struct cat_datum *d)
{
	uint32_t type;
	uint8_t null;
	if (!sql_bytes_get(c, &type, sizeof type) || !sql_bytes_get(c, &null, sizeof null))
		return false;
	*d = (struct cat_datum){ .type = (enum cat_type)type, .null = null != 0 };
	if (null)
		return true;
	return cat_type_is_str(d->type) ? sql_bytes_get_str(c, &d->v.s) : sql_bytes_get(c, &d->v.i, 8);
}

void *
sql_offer_put(const struct sql_offer *o, size_t most, struct nam_arena *a, uint32_t *n)
{
	struct sql_bytes w = { .arena = a };
	struct sql_offer_top top = { .magic = MAGIC,
		.print = fingerprint(),
		.snapshot = o->snapshot,
		.number = o->number,
		.host = o->host,
		.now_us = o->now_us,
		.workers = o->workers,
		.most = o->most,
		.fragment = o->fragment,
		.statement = o->statement,
		.explained = o->explained,
		.params = o->params,
		.hints = o->hints,
		.parts = o->parts };
	memcpy(top.cores, o->cores, sizeof top.cores);
	bool ok =
	    sql_bytes_put(&w, &top, sizeof top) && sql_bytes_put(&w, &o->settings, sizeof o->settings) &&
	    sql_bytes_put(&w, &o->login, sizeof o->login) && sql_bytes_put(&w, &o->costs, sizeof o->costs) &&
	    sql_bytes_put_str(&w, o->user) && sql_bytes_put_str(&w, o->text);
	for (unsigned i = 0; ok && i < o->params; i++) {
		uint32_t type = (uint32_t)o->types[i];
		ok = sql_bytes_put(&w, &type, sizeof type) && put_datum(&w, &o->param[i]);
	}
	for (unsigned i = 0; ok && i < o->hints; i++)
		ok = sql_bytes_put(&w, &o->hint[i].table, 4) && sql_bytes_put(&w, &o->hint[i].rows, 8);
	ok = ok && sql_bytes_put(&w, o->part, o->parts * sizeof *o->part);
	*n = (uint32_t)w.n;
	return ok && w.n <= most ? w.p : NULL;
}

static bool
get_arrays(struct sql_offer *o, struct sql_bytes_in *c, struct nam_arena *a)
{
	size_t left = (size_t)(c->end - c->at);
	if (o->params > left || o->hints > left || o->parts > left / 8)
		return false;
	o->types = nam_arena_zero(a, (o->params + 1) * sizeof *o->types);
	o->param = nam_arena_zero(a, (o->params + 1) * sizeof *o->param);
	o->hint = nam_arena_zero(a, (o->hints + 1) * sizeof *o->hint);
	o->part = nam_arena_zero(a, (o->parts + 1) * sizeof *o->part);
	bool ok = o->types != NULL && o->param != NULL && o->hint != NULL && o->part != NULL;
	for (unsigned i = 0; ok && i < o->params; i++) {
		uint32_t type;
		ok = sql_bytes_get(c, &type, sizeof type) && get_datum(c, &o->param[i]);
		o->types[i] = (enum cat_type)(ok ? type : 0);
	}
	for (unsigned i = 0; ok && i < o->hints; i++)
		ok = sql_bytes_get(c, &o->hint[i].table, 4) && sql_bytes_get(c, &o->hint[i].rows, 8);
	return ok && sql_bytes_get(c, o->part, o->parts * sizeof *o->part);
}

bool
sql_offer_get(struct sql_offer *o, const void *bytes, uint32_t n, struct nam_arena *a)
{
	struct sql_bytes_in c = { bytes, (const char *)bytes + n };
	struct sql_offer_top top;
	*o = (struct sql_offer){ 0 };
	if (!sql_bytes_get(&c, &top, sizeof top) || top.magic != MAGIC || top.print != fingerprint())
		return false;
	o->snapshot = top.snapshot;
	o->number = top.number;
	o->host = top.host;
	o->now_us = top.now_us;
	memcpy(o->cores, top.cores, sizeof o->cores);
	o->workers = top.workers;
	o->most = top.most;
	o->fragment = top.fragment;
	o->statement = top.statement;
	o->explained = top.explained != 0;
	o->params = top.params;
	o->hints = top.hints;
	o->parts = top.parts;
	return sql_bytes_get(&c, &o->settings, sizeof o->settings) &&
	       sql_bytes_get(&c, &o->login, sizeof o->login) &&
	       sql_bytes_get(&c, &o->costs, sizeof o->costs) && sql_bytes_get_str(&c, &o->user) &&
	       sql_bytes_get_str(&c, &o->text) && get_arrays(o, &c, a);
}
