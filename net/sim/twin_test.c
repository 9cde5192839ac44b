/*
 * twin_test.c -- proof that the suite and the simulator detect errors: providers and protocols,
 * each broken in one place.
 *
 * A provider twin stands between the front end and the simulated wire, and manages staging as
 * verbs.c must: WRITEs are copied into staging, READs are copied out of it. The sound twin passes
 * the whole suite; each broken one has to fail it.
 *
 * A protocol twin is a small log: a writer writes entries and then the head, readers READ the head
 * and the entries below it. The sound twin is never caught; each broken one has to be.
 *
 * How many seeds that took is printed. twin_test N: up to so many seeds instead.
 */
#include <net/conformance/conformance_sim.h>
#include <net/provider.h>
#include <net/sim/sim_internal.h>

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { SOUND_SEEDS = 3, SEEDS = 20 };
static uint64_t seeds_max = SEEDS;

static struct net_sim_config
wild(uint64_t seed)
{
	return (struct net_sim_config){ .seed = seed, .tear_permille = 300, .reorder_permille = 300 };
}

/* ---- providers --------------------------------------------------------------- */

enum flaw {
	SOUND,
	GIVES_BACK_AT_POST,    /* staging is free again when the verb has been handed over */
	TRUSTS_ANY_COMPLETION, /* a completion frees the oldest staging, whichever verb it was of */
	DONE_AT_POST,          /* a WRITE counts as complete when it has been handed over */
	FORGETS_FENCES,
	FLAWS
};
static const char *const flaw_name[FLAWS] = { "sound", "staging given back at post",
	"staging given back by another's completion", "a WRITE done at post", "fences forgotten" };
static enum flaw flaw;

/* A piece of staging. Free pieces are a stack: the piece given back last is taken first. */
struct piece {
	struct piece *next;
	size_t cap;
	char *bytes;
};

struct twin;

/* A verb on the wire, on behalf of the caller's. */
struct flight {
	struct twin *twin;
	struct flight *next, *younger; /* all there are; those out, in the order posted */
	struct net_op op, *caller_op;
	struct net_batch b, *caller_b;
	struct piece *piece; /* as posted; NULL = none */
	bool out, gave;
};

struct twin {
	void *inner; /* the wire's own */
	struct net_endpoint *ep;
	struct flight *all, *oldest, **youngest;
	struct piece *free, *every[4096];
	unsigned pieces;
};

static void *
get(size_t size)
{
	void *p = calloc(1, size);
	if (p == NULL)
		abort();
	return p;
}

static struct piece *
piece_take(struct twin *t, size_t len)
{
	struct piece *p = t->free;
	if (p == NULL) {
		p = get(sizeof *p);
		assert_true(t->pieces < sizeof t->every / sizeof *t->every);
		t->every[t->pieces++] = p;
	} else {
		t->free = p->next;
	}
	if (p->cap < len) {
		/* Bytes in the old piece may still be on the wire: it stays until the end,
		 * unused. */
		struct piece *old = get(sizeof *old);
		*old = *p;
		assert_true(t->pieces < sizeof t->every / sizeof *t->every);
		t->every[t->pieces++] = old;
		p->cap = len < 64 ? 64 : len;
		p->bytes = get(p->cap);
	}
	return p;
}

static void
piece_give(struct twin *t, struct piece *p)
{
	p->next = t->free;
	t->free = p;
}

static void
flight_gives(struct flight *f)
{
	if (f->piece != NULL && !f->gave)
		piece_give(f->twin, f->piece);
	f->gave = true;
}

/* Takes it out of the list of flights that are out. */
static void
flight_over(struct flight *f)
{
	struct twin *t = f->twin;
	struct flight **at = &t->oldest;
	while (*at != f)
		at = &(*at)->younger;
	if ((*at = f->younger) == NULL)
		t->youngest = at;
	f->out = false;
}

static void
flight_done(struct net_batch *b)
{
	struct flight *f = b->tag;
	struct twin *t = f->twin;
	nam_status st = (nam_status)f->op.status;
	if (f->op.code == NET_READ && f->piece != NULL && st == NAM_OK)
		memcpy(f->caller_op->buf, f->piece->bytes, f->op.len);
	if (flaw == TRUSTS_ANY_COMPLETION) {
		struct flight *first = t->oldest;
		while (first != NULL && (first->gave || first->piece == NULL))
			first = first->younger;
		if (first != NULL)
			flight_gives(first);
	} else {
		flight_gives(f);
	}
	flight_over(f);
	if (f->caller_b != NULL) {
		f->caller_op->seen = f->op.seen;
		net_op_done(t->ep, f->caller_b, f->caller_op, st);
	}
}

static void
twin_post(struct net_endpoint *ep, struct net_batch *b, struct net_op *op)
{
	struct twin *t = ep->priv;
	uint8_t flags = op->flags;
	if (flaw == FORGETS_FENCES)
		flags &= (uint8_t)~NET_FENCE;
	struct net_op send = *op;
	send.flags = flags;
	if (flags & NET_QUIET) {
		ep->priv = t->inner;
		net_sim_provider.post(ep, NULL, &send); /* copies */
		ep->priv = t;
		return;
	}
	struct flight *f = t->all;
	while (f != NULL && f->out)
		f = f->next;
	if (f == NULL) {
		f = get(sizeof *f);
		f->next = t->all;
		t->all = f;
	}
	*f = (struct flight){
		.twin = t, .next = f->next, .op = send, .caller_op = op, .caller_b = b, .out = true
	};
	bool bytes = op->code <= NET_WRITE_IMM && op->len != 0 && (flags & NET_INLINE) == 0;
	if (bytes) {
		f->piece = piece_take(t, op->len);
		f->op.buf = f->piece->bytes;
		if (op->code != NET_READ)
			memcpy(f->piece->bytes, op->buf, op->len);
	}
	net_batch_init(&f->b, ep->w, &f->op, 1, NULL);
	f->b.n = f->b.pending = 1;
	f->b.tag = f;
	f->b.done = flight_done;
	if (t->oldest == NULL)
		t->youngest = &t->oldest;
	*t->youngest = f;
	t->youngest = &f->younger;
	ep->priv = t->inner;
	net_sim_provider.post(ep, &f->b, &f->op);
	ep->priv = t;
	if (flaw == GIVES_BACK_AT_POST)
		flight_gives(f);
	if (flaw == DONE_AT_POST && (op->code == NET_WRITE || op->code == NET_WRITE_IMM)) {
		f->caller_b = NULL;
		net_op_done(ep, b, op, NAM_OK);
	}
}

static nam_status
twin_open(struct net_endpoint *ep, struct nam_err *err)
{
	struct twin *t = get(sizeof *t);
	nam_status st = net_sim_provider.open(ep, err);
	t->inner = ep->priv;
	t->ep = ep;
	ep->priv = t;
	return st;
}

static void
twin_close(struct net_endpoint *ep)
{
	struct twin *t = ep->priv;
	ep->priv = t->inner;
	net_sim_provider.close(ep); /* from now on no verb on the wire uses our memory */
	while (t->all != NULL) {
		struct flight *f = t->all;
		t->all = f->next;
		free(f);
	}
	for (unsigned i = 0; i < t->pieces; i++) {
		free(t->every[i]->bytes);
		free(t->every[i]);
	}
	free(t);
}

static const struct net_provider twin_provider = {
	.kind = NET_SIM,
	.open = twin_open,
	.close = twin_close,
	.post = twin_post,
};

static void
put_between(struct net *n)
{
	for (unsigned i = 0; i < n->count; i++)
		n->node[i]->p = &twin_provider;
}

/* The suite's complaints about a twin are expected, and not shown. */
static int
hush(int keep)
{
	fflush(stderr);
	if (keep >= 0) {
		dup2(keep, 2);
		close(keep);
		return -1;
	}
	int before = dup(2), nowhere = open("/dev/null", O_WRONLY);
	dup2(nowhere, 2);
	close(nowhere);
	return before;
}

static int
suite(uint64_t seed)
{
	struct sim_world w = { .cfg = wild(seed), .attached = put_between };
	/* It copies at post, as it may, so a use of the buffer too early changes nothing here. */
	const struct net_conf_env env = sim_world_env(&w, flaw_name[flaw], false);
	return net_conformance(&env);
}

static void
providers(void **state)
{
	(void)state;
	flaw = SOUND;
	for (uint64_t seed = 1; seed <= SOUND_SEEDS; seed++)
		assert_int_equal(suite(seed), 0);
	for (flaw = SOUND + 1; flaw < FLAWS; flaw++) {
		uint64_t seed = 1;
		int keep = hush(-1), complaints = 0;
		while (seed <= seeds_max && (complaints = suite(seed)) == 0)
			seed++;
		hush(keep);
		printf("provider, %s: %s with seed %llu, %d checks failed\n", flaw_name[flaw],
		    complaints > 0 ? "caught" : "NOT CAUGHT up to", (unsigned long long)seed, complaints);
		assert_true(complaints > 0);
	}
	flaw = SOUND;
}

/* ---- a protocol ---------------------------------------------------------------- */

/*
 * The log. One writer, entries of WORDS words that all say their number, in places of their own, on
 * two nodes in turn; the head of each node is behind its youngest entry. Entries leave without
 * being waited for, BUFFERS of them at most, each with the head behind it in the same doorbell:
 * WRITEs of one queue pair are executed in order, so the head never covers an entry that has not
 * landed.
 *
 * A reader READs the head, and an entry that it is sure of: one below the head. Both go in one
 * doorbell, the entry with a fence. It is sure of no other, so it READs the entry that comes next
 * by the head it knows, and believes it only if the head that came with it is above. Only the fence
 * makes that correct.
 */
enum { ENTRIES = 150, WORDS = 24, BUFFERS = 4, READERS = 4, NODES = 2 };

enum protocol {
	LOG_SOUND,
	LOG_REUSES_AT_POST,        /* the next entry is made in the buffer of the last */
	LOG_TRUSTS_ANY_COMPLETION, /* any batch that is done frees the oldest buffer */
	LOG_NO_FENCE,              /* the READ of the head proves that of the entry, unordered */
	LOG_ENTRY_FIRST,           /* the entry is READ before the head, fenced: proves nothing */
	LOG_TWO_HEADS,             /* the head is READ before and after, without a fence: a version
				    * check */
	LOGS
};
static const char *const log_name[LOGS] = { "sound", "a buffer used again at post",
	"a buffer used again after another's completion", "one READ trusts the order of another",
	"an entry READ before its proof", "a version READ before and after, unordered" };

struct log {
	enum protocol kind;
	struct net_worker *w[2];
	uint64_t wrong, believed, finished;
};

static net_addr
head_at(uint64_t i)
{
	return net_at(1 + i % NODES, NET_EXTENT);
}

static net_addr
entry_at(uint64_t i)
{
	return net_at(1 + i % NODES, NET_EXTENT + 4096 + i * WORDS * 8);
}

struct sending {
	struct log *log;
	struct net_batch b;
	struct net_op op[2];
	uint64_t head, *bytes; /* bytes: one of the writer's buffers */
	bool out;
};

struct writer {
	uint64_t buffer[BUFFERS][WORDS];
	struct sending send[BUFFERS];
	bool taken[BUFFERS]; /* by an entry on its way */
	uint64_t age[BUFFERS];
};

static void
sent(struct net_batch *b)
{
	struct sending *s = b->tag;
	s->out = false;
}

/* A buffer for entry i, or NULL: all are on their way, as far as this writer knows. */
static uint64_t *
buffer_for(struct log *log, struct writer *wr, uint64_t i, struct sending **out)
{
	struct sending *s = NULL;
	unsigned free_sends = 0, k = 0, oldest = 0;
	for (unsigned j = 0; j < BUFFERS; j++)
		if (!wr->send[j].out) {
			s = &wr->send[j];
			free_sends++;
		}
	if (s == NULL)
		return NULL;
	*out = s;
	switch (log->kind) {
	case LOG_REUSES_AT_POST:
		break; /* always the first */
	case LOG_TRUSTS_ANY_COMPLETION:
		for (unsigned j = 1; j < BUFFERS; j++)
			if (wr->age[j] < wr->age[oldest])
				oldest = j;
		k = oldest;
		break;
	default:
		k = (unsigned)(s - wr->send); /* its batch is done, so no verb reads it any more */
	}
	wr->age[k] = i + 1;
	return wr->buffer[k];
}

static void
write_co(void *arg)
{
	struct log *log = arg;
	struct writer *wr = get(sizeof *wr);
	for (uint64_t i = 0; i < ENTRIES; i++) {
		struct sending *s;
		uint64_t *bytes;
		while ((bytes = buffer_for(log, wr, i, &s)) == NULL)
			net_sleep(log->w[0], 100);
		for (unsigned k = 0; k < WORDS; k++)
			bytes[k] = i + 1;
		s->head = i + 1;
		s->out = true;
		net_batch_init(&s->b, log->w[0], s->op, 2, NULL);
		s->b.tag = s;
		net_write(&s->b, entry_at(i), bytes, WORDS * 8);
		net_write(&s->b, head_at(i), &s->head, 8);
		net_post_then(&s->b, sent);
		if (nam_rng_below(net_rng(log->w[0]), 4) == 0)
			net_sleep(log->w[0], nam_rng_below(net_rng(log->w[0]), 4000));
	}
	for (unsigned j = 0; j < BUFFERS; j++)
		while (wr->send[j].out)
			net_sleep(log->w[0], 100);
	free(wr);
}

static void
read_co(void *arg)
{
	struct log *log = arg;
	struct net_worker *w = log->w[1];
	struct net_op op[3];
	struct net_batch b;
	uint64_t next = 0, rounds = 0;
	net_batch_init(&b, w, op, 3, NULL);
	while (next < ENTRIES && ++rounds < 100000) {
		uint64_t head = 0, again = 0, got[WORDS] = { 0 };
		if (log->kind == LOG_ENTRY_FIRST) {
			net_read(&b, entry_at(next), got, sizeof got);
			net_read(&b, head_at(next), &head, 8)->flags = NET_FENCE;
		} else {
			net_read(&b, head_at(next), &head, 8);
			net_read(&b, entry_at(next), got, sizeof got)->flags =
			    log->kind < LOG_NO_FENCE ? NET_FENCE : 0;
		}
		if (log->kind == LOG_TWO_HEADS)
			net_read(&b, head_at(next), &again, 8);
		if (net_run(&b) != NAM_OK) {
			log->wrong++;
			break;
		}
		if (head <= next || (log->kind == LOG_TWO_HEADS && again < head))
			continue;
		log->believed++;
		for (unsigned k = 0; k < WORDS; k++)
			if (got[k] != next + 1) {
				log->wrong++;
				break;
			}
		next++;
	}
	log->finished += next == ENTRIES;
}

/* How many entries a reader believed that had not landed. */
static uint64_t
play_log(enum protocol kind, uint64_t seed)
{
	struct net_sim *s;
	struct net *n[2];
	struct log log = { .kind = kind };
	struct net_sim_config cfg = wild(seed);
	cfg.nodes = NODES;
	cfg.region_bytes = 1 << 20;
	assert_int_equal(net_sim_open(&s, &cfg), NAM_OK);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(net_sim_attach(s, &n[i]), NAM_OK);
		assert_int_equal(net_worker_open(n[i], &log.w[i], NULL), NAM_OK);
	}
	assert_non_null(nam_co_start(net_worker_sched(log.w[0]), write_co, &log, 0));
	for (unsigned i = 0; i < READERS; i++)
		assert_non_null(nam_co_start(net_worker_sched(log.w[1]), read_co, &log, 0));
	assert_true(net_sim_run(s, NULL, NULL));
	assert_int_equal(log.finished, READERS);
	assert_int_equal(log.believed, READERS * ENTRIES);
	for (unsigned i = 0; i < 2; i++) {
		net_worker_close(log.w[i]);
		net_close(n[i]);
	}
	net_sim_close(s);
	return log.wrong;
}

static void
protocols(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 20 * SOUND_SEEDS; seed++)
		assert_int_equal(play_log(LOG_SOUND, seed), 0);
	for (enum protocol kind = LOG_SOUND + 1; kind < LOGS; kind++) {
		uint64_t seed = 1, wrong = 0;
		while (seed <= seeds_max && (wrong = play_log(kind, seed)) == 0)
			seed++;
		printf("protocol, %s: %s with seed %llu, %llu of %u entries wrong\n", log_name[kind],
		    wrong > 0 ? "caught" : "NOT CAUGHT up to", (unsigned long long)seed,
		    (unsigned long long)wrong, READERS * ENTRIES);
		assert_true(wrong > 0);
	}
}

int
main(int argc, char **argv)
{
	if (argc == 2)
		seeds_max = strtoull(argv[1], NULL, 10);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(providers),
		cmocka_unit_test(protocols),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
