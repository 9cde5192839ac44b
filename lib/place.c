/* place.c -- "memory:...", "dir:..." or "host:port,...": what the string means, and one compute
 * node for all handles with equal strings. */
#include "lib_internal.h"

#include <base/number.h>
#include <index/tree.h>
#include <net/local.h>
#include <net/secret.h>
#include <storage_node/sn.h>

#include <embed/embed.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NODES_MAX = 16, WHERE_MAX = 3 * PATH_MAX };

struct lib_place {
	struct lib_place *next; /* with `all` */
	unsigned refs;          /* with `all` */
	char *key;              /* "" = of one handle only */
	struct cn *cn;
	struct emb_node *node; /* of a directory; NULL = another place */
	struct sn_region *region[NODES_MAX];
	struct idx_tree_host *trees[NODES_MAX]; /* their services */
	pthread_mutex_t end_lock;               /* also held while a handle's end_fn is called */
	bool ended;                             /* with end_lock */
	char why[512];                          /* likewise */
	struct namdb *watch;                    /* likewise: handles whose end_fn is to be called */
};

static pthread_mutex_t all_lock = PTHREAD_MUTEX_INITIALIZER; /* also held while one opens or
							      * closes */
static struct lib_place *all;

/* ---- fork -------------------------------------------------------------------------------- */

static _Atomic unsigned forks;
static pthread_once_t fork_once = PTHREAD_ONCE_INIT;

/* In the child, which has none of the threads that the parent's compute nodes need. */
static void
forked(void)
{
	atomic_fetch_add_explicit(&forks, 1, memory_order_relaxed);
	pthread_mutex_init(&all_lock, NULL); /* as it may have been held */
	all = NULL;
}

static void
fork_watch(void)
{
	pthread_atfork(NULL, NULL, forked);
}

unsigned
lib_process(void)
{
	return atomic_load_explicit(&forks, memory_order_relaxed);
}

/* ---- the end ------------------------------------------------------------------------------ */

static _Thread_local bool telling;

bool
lib_telling(void)
{
	return telling;
}

/* With end_lock. */
static void
tell(struct lib_place *p, struct namdb *db)
{
	void (*fn)(void *, const char *) = db->end_fn;
	db->end_fn = NULL;
	telling = true;
	fn(db->end_arg, p->why);
	telling = false;
}

/* cn's thread. */
static void
ended(void *arg, const char *why)
{
	struct lib_place *p = arg;
	pthread_mutex_lock(&p->end_lock);
	p->ended = true;
	snprintf(p->why, sizeof p->why, "%s", why);
	for (struct namdb *db; (db = p->watch) != NULL;) {
		p->watch = db->watch_next;
		tell(p, db);
	}
	pthread_mutex_unlock(&p->end_lock);
}

void
lib_place_watch(struct lib_place *p, struct namdb *db, void (*fn)(void *arg, const char *why), void *arg)
{
	pthread_mutex_lock(&p->end_lock);
	for (struct namdb **link = &p->watch; *link != NULL; link = &(*link)->watch_next)
		if (*link == db) {
			*link = db->watch_next;
			break;
		}
	db->end_fn = fn;
	db->end_arg = arg;
	if (fn != NULL && p->ended) {
		tell(p, db);
	} else if (fn != NULL) {
		db->watch_next = p->watch;
		p->watch = db;
	}
	pthread_mutex_unlock(&p->end_lock);
}

/* ---- what the string means ---------------------------------------------------------------- */

enum kind { MEMORY, DIRECTORY, NODES };

struct wish {
	char text[WHERE_MAX];
	enum kind kind;
	const char *name;    /* memory:NAME, the directory's path, or the list of nodes */
	const char *options; /* as they were written; "" = none */
	uint64_t size;
	unsigned nodes, workers, idle_s;
	uint32_t connect_ms, lease_ms;
	enum net_kind fabric;
	const char *cluster, *secret, *user;
};

static bool
option(struct wish *w, char *item, struct nam_err *err)
{
	static const char *const kinds[] = { "memory:", "a directory", "storage nodes" };
	const bool memory = w->kind == MEMORY, dir = w->kind == DIRECTORY, nodes = w->kind == NODES;
	char *value = strchr(item, '=');
	uint64_t n;
	if (value == NULL) {
		nam_fail(err, NAM_INVALID, "option \"%.60s\" has no value: write name=value", item);
		return false;
	}
	*value++ = 0;
	if (strcmp(item, "size") == 0 && !nodes && nam_size(value, 1 << 20, UINT64_C(1) << 45, &n)) {
		w->size = n;
	} else if (strcmp(item, "nodes") == 0 && memory && nam_number(value, 1, NODES_MAX, &n)) {
		w->nodes = (unsigned)n;
	} else if (strcmp(item, "workers") == 0 && nam_number(value, 1, 126, &n)) {
		w->workers = (unsigned)n;
	} else if (strcmp(item, "idle_s") == 0 && dir && nam_number(value, 1, 86400, &n)) {
		w->idle_s = (unsigned)n;
	} else if (strcmp(item, "connect_ms") == 0 && !memory && nam_number(value, 1, 3600000, &n)) {
		w->connect_ms = (uint32_t)n;
	} else if (strcmp(item, "lease_ms") == 0 && !memory && nam_number(value, 20, 3600000, &n)) {
		w->lease_ms = (uint32_t)n;
	} else if (strcmp(item, "fabric") == 0 && !memory && net_kind_parse(value, &w->fabric)) {
		;
	} else if (strcmp(item, "cluster") == 0 && nodes) {
		w->cluster = value;
	} else if (strcmp(item, "secret") == 0 && nodes) {
		w->secret = value;
	} else if (strcmp(item, "user") == 0 && value[0] != 0 && strlen(value) <= CAT_NAME_MAX) {
		w->user = value;
	} else {
		nam_fail(err, NAM_INVALID,
		    "option %.60s=%.60s is not known for %s, or its value makes no sense", item, value,
		    kinds[w->kind]);
		return false;
	}
	return true;
}

static int
hex(char c)
{
	return c >= '0' && c <= '9'   ? c - '0'
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
	       : c >= 'A' && c <= 'F' ? c - 'A' + 10
				      : -1;
}

/* %3F and the like, in place. */
static bool
decode(char *text, struct nam_err *err)
{
	char *out = text;
	for (const char *in = text; *in != 0; in++) {
		if (*in != '%') {
			*out++ = *in;
			continue;
		}
		int high = hex(in[1]), low = high < 0 ? -1 : hex(in[2]);
		if (low < 0 || high + low == 0) {
			nam_fail(err, NAM_INVALID,
			    "\"%.60s\": in dir:PATH a %% stands before two hexadecimal digits; write %%25 "
			    "for the "
			    "character itself",
			    in);
			return false;
		}
		*out++ = (char)(high * 16 + low);
		in += 2;
	}
	*out = 0;
	return true;
}

/* Which kind of place it is, and its name. */
static bool
kind_of(struct wish *w, char *at, struct nam_err *err)
{
	if (strncmp(at, "namdb://", 8) == 0)
		at += 8;
	w->kind = NODES;
	w->name = at;
	if (strncmp(at, "memory:", 7) == 0) {
		w->kind = MEMORY;
		w->name = at + 7;
		w->size = 256 << 20;
	} else if (strncmp(at, "dir:", 4) == 0) {
		w->kind = DIRECTORY;
		w->name = at + 4;
		if (!decode(at + 4, err))
			return false;
	} else if (at[0] == '.' || at[0] == '/') {
		w->kind = DIRECTORY;
	} else if (strchr(at, ':') == NULL) {
		nam_fail(err, NAM_INVALID,
		    "\"%.60s\" is not a place: \"memory:\", \"dir:PATH\", or \"host:port,...\" of storage "
		    "nodes",
		    at);
		return false;
	}
	if (w->kind == DIRECTORY && w->name[0] == 0) {
		nam_fail(err, NAM_INVALID, "dir: wants the path of a directory, such as dir:/home/me/my.db");
		return false;
	}
	return true;
}

static bool
understand(struct wish *w, const char *where, struct nam_err *err)
{
	if (where == NULL || strlen(where) >= sizeof w->text) {
		nam_fail(err, NAM_INVALID,
		    "say where: \"memory:\", \"dir:PATH\", or \"host:port,...\" of storage nodes");
		return false;
	}
	*w = (struct wish){ .nodes = 1, .workers = 1, .fabric = NET_AUTO, .options = "" };
	memcpy(w->text, where, strlen(where) + 1);
	const char *written = strchr(where, '?');
	char *at = w->text, *options = strchr(at, '?');
	if (written != NULL) {
		w->options = written + 1;
		*options++ = 0;
	}
	if (!kind_of(w, at, err))
		return false;
	for (char *rest, *item = options; item != NULL && *item != 0; item = rest) {
		if ((rest = strchr(item, '&')) != NULL)
			*rest++ = 0;
		if (!option(w, item, err))
			return false;
	}
	return true;
}

static void
release(struct lib_place *p)
{
	if (p->cn != NULL)
		cn_close(p->cn);
	for (unsigned i = 0; i < NODES_MAX; i++)
		if (p->region[i] != NULL) {
			sn_region_close(p->region[i]);
			idx_tree_host_close(p->trees[i]);
		}
	pthread_mutex_destroy(&p->end_lock);
	free(p->node);
	free(p->key);
	free(p);
}

/* A storage node in this process, with the services that any storage node has. */
static nam_status
node_open(struct lib_place *p, unsigned i, uint64_t size, struct nam_err *err)
{
	struct net_service service[IDX_TREE_SERVICES];
	const struct sn_region_config rc = { .id = i + 1, .size = size, .numa = -1, .embedded = true };
	const struct sn_serve_config vc = {
		.service = service, .services = IDX_TREE_SERVICES, .unpinned = true
	};
	nam_status st = sn_region_open(&p->region[i], &rc, err);
	if (st != NAM_OK)
		return st;
	p->trees[i] = idx_tree_host_open(i + 1, sn_local(p->region[i])->base, sn_region_size(p->region[i]));
	if (p->trees[i] == NULL)
		return nam_fail(err, NAM_NOMEM, "no memory for the services of trees");
	idx_tree_host_services(p->trees[i], service);
	return sn_region_serve(p->region[i], &vc, err);
}

/* The threads that start now take no signals: they are the program's. */
static void
block_signals(sigset_t *was)
{
	sigset_t every;
	sigfillset(&every);
	pthread_sigmask(SIG_SETMASK, &every, was);
}

/* Storage nodes, wherever they are; the secret stays in memory no longer than it takes. */
static nam_status
join_nodes(struct lib_place *p, const struct wish *w, const char *storage, const char *secret_file,
    const char *gone_hint, struct nam_err *err)
{
	uint8_t secret[NET_SECRET_LEN];
	struct cn_config cfg = { .workers = w->workers,
		.fabric = w->fabric,
		.measure = true,
		.secret = secret,
		.storage = storage,
		.cluster = w->cluster,
		.connect_ms = w->connect_ms,
		.gone_hint = gone_hint,
		.txn.lease_ms = w->lease_ms };
	nam_status st = net_secret_load(secret_file, secret, &cfg.secret_len, err);
	if (st == NAM_OK)
		st = cn_open(&p->cn, &cfg, err);
	explicit_bzero(secret, sizeof secret);
	return st;
}

static nam_status
open_memory(struct lib_place *p, const struct wish *w, struct nam_err *err)
{
	struct net_local *local[NODES_MAX + 1] = { NULL };
	struct cn_config cfg = {
		.workers = w->workers, .fabric = w->fabric, .measure = true, .local = local
	};
	nam_status st = NAM_OK;
	for (unsigned i = 0; st == NAM_OK && i < w->nodes; i++) {
		st = node_open(p, i, w->size, err);
		if (st == NAM_OK)
			local[i] = sn_local(p->region[i]);
	}
	return st == NAM_OK ? cn_open(&p->cn, &cfg, err) : st;
}

struct joining {
	struct lib_place *p;
	const struct wish *w;
};

static nam_status
join_node(void *arg, const struct emb_node *node, struct nam_err *err)
{
	const struct joining *j = arg;
	char hint[PATH_MAX + 200];
	sigset_t was;
	block_signals(&was);
	emb_hint(node, hint, sizeof hint);
	nam_status st = join_nodes(j->p, j->w, node->address, node->secret, hint, err);
	pthread_sigmask(SIG_SETMASK, &was, NULL);
	if (st == NAM_OK)
		*j->p->node = *node;
	return st;
}

/* Some function of the library, beside which the program is looked for. */
static void
here(void)
{
}

static nam_status
open_directory(struct lib_place *p, const struct wish *w, struct nam_err *err)
{
	char program[PATH_MAX];
	struct joining j = { p, w };
	struct emb_config cfg = { .path = w->name, .size = w->size, .idle_s = w->idle_s };
	if ((p->node = calloc(1, sizeof *p->node)) == NULL)
		return nam_fail(err, NAM_NOMEM, "out of memory");
	/* Its absence matters only if no node serves. */
	struct nam_err none;
	if (emb_program(program, here, &none) == NAM_OK)
		cfg.program = program;
	return emb_join(&cfg, join_node, &j, err);
}

static nam_status
open_up(struct lib_place *p, const struct wish *w, struct nam_err *err)
{
	sigset_t was;
	nam_status st;
	if (w->kind == DIRECTORY) {
		/* It may wait for another process: ^C ends the program meanwhile. */
		st = open_directory(p, w, err);
	} else {
		block_signals(&was);
		st = w->kind == MEMORY ? open_memory(p, w, err)
				       : join_nodes(p, w, w->name, w->secret, NULL, err);
		pthread_sigmask(SIG_SETMASK, &was, NULL);
	}
	if (st == NAM_OK)
		cn_on_end(p->cn, ended, p);
	return st;
}

/* Handles with equal keys share a place; "" = with no other. False: err says why. */
static bool
make_key(char *key, size_t size, const struct wish *w, const char *where, struct nam_err *err)
{
	char path[PATH_MAX];
	key[0] = 0;
	/* memory:NAME is found by its name alone; options of later handles are ignored. */
	if (w->kind == MEMORY && w->name[0] != 0) {
		snprintf(key, size, "memory:%s", w->name);
	} else if (w->kind == NODES) {
		snprintf(key, size, "%s", where);
	} else if (w->kind == DIRECTORY) {
		if (!emb_find(path, w->name, err))
			return false;
		snprintf(key, size, "dir:%s?%s", path, w->options);
	}
	return true;
}

/* A fenced compute node stays fenced, and what was in a storage node that has ended is gone: their
 * handles say so, and new handles open a new node. */
static bool
usable(struct lib_place *p)
{
	return net_membership(cn_net(p->cn)) != NET_FENCED && (p->node == NULL || emb_serves(p->node));
}

struct lib_place *
lib_place_open(const char *where, char user[CAT_NAME_MAX + 1], struct nam_err *err)
{
	struct wish w;
	char key[WHERE_MAX + PATH_MAX];
	if (!understand(&w, where, err) || !make_key(key, sizeof key, &w, where, err))
		return NULL;
	snprintf(user, CAT_NAME_MAX + 1, "%s", w.user ? w.user : "");
	pthread_once(&fork_once, fork_watch);
	pthread_mutex_lock(&all_lock);
	for (struct lib_place *p = all; p != NULL && key[0] != 0; p = p->next)
		if (strcmp(p->key, key) == 0 && usable(p)) {
			p->refs++;
			pthread_mutex_unlock(&all_lock);
			return p;
		}
	struct lib_place *p = calloc(1, sizeof *p);
	if (p == NULL || (p->key = strdup(key)) == NULL) {
		free(p);
		p = NULL;
		nam_fail(err, NAM_NOMEM, "out of memory");
	} else if (pthread_mutex_init(&p->end_lock, NULL) != 0 || open_up(p, &w, err) != NAM_OK) {
		release(p);
		p = NULL;
	} else {
		p->refs = 1;
		p->next = all;
		all = p;
	}
	pthread_mutex_unlock(&all_lock);
	return p;
}

void
lib_place_close(struct lib_place *p)
{
	pthread_mutex_lock(&all_lock);
	if (--p->refs == 0) {
		struct lib_place **link = &all;
		while (*link != p)
			link = &(*link)->next;
		*link = p->next;
		if (usable(p))
			(void)cn_last_checkpoint(p->cn, 0, NULL, NULL);
		release(p);
	}
	pthread_mutex_unlock(&all_lock);
}

struct cn *
lib_place_cn(struct lib_place *p)
{
	return p->cn;
}
