/* rings_test.c -- message rings with bad peers: invalid bytes, dead and stopped peers, no room
 * left; and the cost of idling. */
#include <base/clock.h>
#include <net/handshake.h>
#include <net/remote_internal.h>
#include <net/ring/channel.h>
#include <storage_node/test_node.h>

#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <cmocka.h>

/* ---- a storage node in a process of its own, and clients --------------------------- */

static const struct net_service echo = { .id = NET_SERVICE_ECHO, .name = "echo", .fn = net_echo };

struct daemon {
	pid_t pid;
	char address[128];
};

/* NAMDB_TEST_RDMA names an address of an RDMA device here: tests/rdma_vm has one. */
static const char *
rdma(void)
{
	const char *at = getenv("NAMDB_TEST_RDMA");
	return at != NULL && *at != '\0' ? at : NULL;
}

/* This program once more, in another role: neither libibverbs nor a thread sanitizer survives a
 * fork beside threads. */
static pid_t
be(const char *what, char *a, char *b, char *c, char *d)
{
	char self[] = "rings_test", role[16];
	snprintf(role, sizeof role, "%s", what);
	char *argv[] = { self, role, a, b, c, d, NULL };
	pid_t pid;
	assert_int_equal(posix_spawn(&pid, "/proc/self/exe", NULL, NULL, argv, environ), 0);
	return pid;
}

/* A storage node, at the device if there is one, so that it serves every fabric. */
static int
daemon_main(uint64_t ring_bytes, unsigned shards, int tell, const char *run_dir)
{
	struct sn_region *r;
	struct sn_server *s;
	struct nam_err err;
	char listen[64], line[128] = "";
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that fails also ends its nodes */
	const struct sn_region_config rc = { .id = 1, .size = 128 << 20, .numa = -1 };
	const struct sn_serve_config vc = {
		.service = &echo, .services = 1, .ring_bytes = ring_bytes, .shards = shards
	};
	snprintf(listen, sizeof listen, "%s:0", rdma() != NULL ? rdma() : "127.0.0.1");
	const struct sn_server_config sc = { .listen = listen, .run_dir = run_dir, .rdma = rdma() };
	if (sn_region_open(&r, &rc, &err) != NAM_OK || sn_region_serve(r, &vc, &err) != NAM_OK ||
	    sn_server_open(&s, r, &sc, &err) != NAM_OK) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	snprintf(line, sizeof line, "%s", sn_server_address(s));
	if (write(tell, line, sizeof line) != (ssize_t)sizeof line)
		return 1;
	return sn_server_run(s, &err) != NAM_OK;
}

static void
daemon_start(struct daemon *d, uint64_t ring_bytes, unsigned shards)
{
	int out[2];
	char bytes[24], count[16], fd[16], dir[96];
	assert_int_equal(pipe(out), 0);
	snprintf(bytes, sizeof bytes, "%llu", (unsigned long long)ring_bytes);
	snprintf(count, sizeof count, "%u", shards);
	snprintf(fd, sizeof fd, "%d", out[1]);
	snprintf(dir, sizeof dir, "%s", test_run_dir());
	d->pid = be("daemon", bytes, count, fd, dir);
	close(out[1]); /* one that dies is an end of file */
	assert_int_equal(read(out[0], d->address, sizeof d->address), (ssize_t)sizeof d->address);
	close(out[0]);
}

static void
daemon_end(struct daemon *d)
{
	kill(d->pid, SIGKILL);
	assert_int_equal(waitpid(d->pid, NULL, 0), d->pid);
}

enum { FABRICS = 2 };

/* If a device executes the node's atomics, no peer maps its memory (V1). */
static enum net_kind
fabric(unsigned i)
{
	return i == 1 ? NET_TCP : rdma() != NULL ? NET_VERBS : NET_SHM;
}

struct peer {
	struct net *n;
	struct net_worker *w;
};

static nam_status
peer_try(struct peer *p, const struct daemon *d, enum net_kind kind)
{
	struct nam_err err;
	const struct net_config cfg = { .storage = d->address, .fabric = kind, .connect_ms = 10000 };
	p->n = NULL;
	p->w = NULL;
	nam_status st = net_open(&p->n, &cfg, &err);
	if (st == NAM_OK)
		st = net_worker_open(p->n, &p->w, &err);
	if (st != NAM_OK)
		fprintf(stderr, "%s\n", err.text);
	return st;
}

static void
peer_close(struct peer *p)
{
	net_worker_close(p->w);
	net_close(p->n);
}

struct one {
	struct peer *p;
	uint32_t cap; /* of the answer; 0 = as much as it has */
	nam_status st;
	bool over;
};

static void
one_co(void *arg)
{
	struct one *o = arg;
	char from[300], *back = malloc(o->cap > sizeof from ? o->cap : sizeof from);
	uint32_t got;
	assert_non_null(back);
	memset(from, 'a', sizeof from);
	o->st = net_call(o->p->w, 1, NET_SERVICE_ECHO, from, sizeof from, back,
	    o->cap != 0 ? o->cap : (uint32_t)sizeof from, &got);
	if (o->st == NAM_OK && (got != sizeof from || memcmp(from, back, sizeof from) != 0))
		o->st = NAM_CORRUPT;
	free(back);
	o->over = true;
}

static nam_status
call_for(struct peer *p, uint32_t cap)
{
	struct one o = { .p = p, .cap = cap };
	nam_co_start(net_worker_sched(p->w), one_co, &o, 0);
	net_worker_run(p->w, NULL, NULL);
	assert_true(o.over);
	return o.st;
}

/* One echo. */
static nam_status
call(struct peer *p)
{
	return call_for(p, 0);
}

static nam_status
channel(struct peer *p, enum net_mode mode, uint32_t timeout_ms)
{
	const struct net_call_config cfg = { .mode = mode, .timeout_ms = timeout_ms };
	struct nam_err err;
	return net_call_open(p->w, 1, NET_SERVICE_ECHO, &cfg, &err);
}

static void
sleep_ms(unsigned ms)
{
	struct timespec ts = { ms / 1000, (long)(ms % 1000) * 1000000 };
	nanosleep(&ts, NULL);
}

/* A WRITE that is no message, at a place of the request ring. */
struct scrawl {
	struct net_worker *w;
	uint64_t at, bytes[4];
	uint32_t len;
};

static void
scrawl_co(void *arg)
{
	struct scrawl *s = arg;
	struct net_channel *ch = s->w->channels;
	struct net_op op[1];
	struct net_batch b;
	net_batch_init(&b, s->w, op, 1, NULL);
	struct net_op *o = net_write(&b, net_plus(ch->ring, s->at), s->bytes, s->len);
	o->code = NET_WRITE_IMM;
	o->arg = ch->number;
	assert_int_equal(net_run(&b), NAM_OK);
	if (ch->ops->bell != NULL)
		ch->ops->bell(ch);
}

static void
scrawl(struct peer *p, uint64_t at, const uint64_t *words, uint32_t len)
{
	struct scrawl s = { .w = p->w, .at = at, .len = len };
	memcpy(s.bytes, words, len);
	nam_co_start(net_worker_sched(p->w), scrawl_co, &s, 0);
	net_worker_run(p->w, NULL, NULL);
}

/* ---- invalid bytes ------------------------------------------------------------------ */

/* One client's ring holds no message: it loses its connection, within its timeout; the other is
 * not affected. */
static void
rubbish_over(enum net_kind kind)
{
	struct daemon d;
	struct peer bad[4], good;
	daemon_start(&d, 4 << 20, 1);
	assert_int_equal(peer_try(&good, &d, kind), NAM_OK);
	assert_int_equal(call(&good), NAM_OK);
	/* no mark; a length beyond the ring; another number; a sound head and a seal around
	 * nothing */
	const uint64_t rubbish[][4] = { { 0x1111 }, { NET_RING_MARK << 56 | 0x800000 },
		{ NET_RING_MARK << 56 | 7 << 24 }, { NET_RING_MARK << 56 | 8, 1, 2, 3 } };
	for (unsigned i = 0; i < 4; i++) {
		assert_int_equal(peer_try(&bad[i], &d, kind), NAM_OK);
		assert_int_equal(channel(&bad[i], i % 2 == 0 ? NET_POLLING : NET_EVENTS, 20000), NAM_OK);
		if (i >= 2) /* behind sound ones */
			assert_int_equal(call(&bad[i]), NAM_OK);
		uint64_t words[4];
		memcpy(words, rubbish[i], sizeof words);
		if (i == 3) /* sound except the seal */
			words[0] |= (uint64_t)bad[i].w->channels->out.number << 24;
		scrawl(&bad[i], bad[i].w->channels->out.pos, words, i == 3 ? 32 : 8);
	}
	uint64_t from = nam_clock_ns();
	while (nam_clock_ns() - from < 1000000000) {
		assert_int_equal(call(&good), NAM_OK);
		sleep_ms(20);
	}
	for (unsigned i = 0; i < 4; i++) {
		/* Its next request lies behind, or over, the invalid bytes. */
		assert_int_equal(call(&bad[i]), NAM_GONE);
		assert_int_equal(channel(&bad[i], NET_POLLING, 0), NAM_OK);
		assert_int_equal(call(&bad[i]), NAM_OK);
		peer_close(&bad[i]);
	}
	assert_true(nam_clock_ns() - from < 15000000000); /* their timeout is 20 s */
	peer_close(&good);
	daemon_end(&d);
}

static void
rubbish(void **state)
{
	(void)state;
	for (unsigned i = 0; i < FABRICS; i++)
		rubbish_over(fabric(i));
}

/* Connections of that role that ask for nonsense, send nothing, or send too much. */
static void
bad_hellos(void **state)
{
	(void)state;
	struct test_node t;
	struct peer good;
	struct daemon d = { 0 };
	const struct sn_serve_config hosting = { .service = &echo, .services = 1, .ring_bytes = 1 << 20 };
	test_node_start_serving(&t, 1, 16 << 20, NULL, &hosting);
	snprintf(d.address, sizeof d.address, "%s", sn_server_address(t.server));
	assert_int_equal(peer_try(&good, &d, NET_TCP), NAM_OK);
	const struct net_ring_hello fine = { .magic = NET_RING_MAGIC,
		.way = NET_RING_STREAM,
		.service = 1,
		.want = { 4096, 4096, 8192, 8192 } };
	enum { HELLOS = 15, SOUND = 9 }; /* from SOUND on only what follows makes no sense */
	for (unsigned i = 0; i < HELLOS; i++) {
		struct net_ring_hello h = fine;
		struct net_grant grant;
		struct net_ring_offer offer;
		struct nam_err err;
		int fd;
		h.magic += i == 0;
		h.way += i == 1 ? 77 : 0;
		h.service += i == 2 ? 65536 : 0;
		h.want.request_most += i == 3 ? 8 : 0;
		h.want.request_most *= i == 4 ? 1024 : 1;
		h.want.response_most *= i == 5 ? 0 : 1;
		h.want.response_least /= i == 6 ? 2 : 1;
		h.want.response_least *= i == 8 ? 4 : 1;
		assert_int_equal(
		    net_remote_connect(good.n->node[0], NET_ROLE_RINGS, &fd, &grant, &err), NAM_OK);
		uint64_t until = nam_clock_ns() + UINT64_C(10000000000);
		nam_status st =
		    net_exchange(fd, &h, i == 7 ? 5 : sizeof h, &offer, sizeof offer, "node", until, &err);
		assert_int_equal(st, i >= SOUND ? NAM_OK : NAM_REFUSED);
		if (i >= SOUND) { /* bytes that are no word; rings it has, has not, may not have */
			const struct net_ring_want wide = { 4096, 4096, 16384, 8192 };
			char say[40] = { "?\0\4\3\3\4"[i - SOUND] };
			memcpy(say + 1, &fine.want, sizeof fine.want);
			if (i == SOUND + 4)
				say[1] = NET_RING_GIVE;
			if (i == SOUND + 5) {
				say[0] = NET_RING_GIVE;
				say[1] = NET_RING_WANT;
				memcpy(say + 2, &wide, sizeof wide);
			}
			size_t len = i == SOUND + 3 ? 1 : i == SOUND + 4 ? 2 : i == SOUND + 5 ? 18 : 17;
			assert_int_equal(offer.status, NAM_OK);
			if (i != SOUND + 3) /* that one only gives its rings back */
				assert_int_equal(
				    net_exchange(fd, say, len, &offer, 1, "node", until, &err), NAM_REFUSED);
		}
		close(fd);
		assert_int_equal(call(&good), NAM_OK);
	}
	peer_close(&good);
	test_node_stop(&t);
}

/* ---- no room, and nothing leaks --------------------------------------------------------- */

enum { CROWD = 70, CALLS = 10 };

struct lengthy {
	struct peer *p;
	nam_status st;
};

static void
lengthy_co(void *arg)
{
	struct lengthy *l = arg;
	static char from[20000], back[20000];
	l->st = net_call(l->p->w, 1, NET_SERVICE_ECHO, from, sizeof from, back, sizeof back, NULL);
}

/* Sends half a message, and then nothing any more. A message before it has needed large rings. */
static int
half_main(const char *address, enum net_kind kind, int ready)
{
	struct daemon d = { 0 };
	struct peer mine;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	snprintf(d.address, sizeof d.address, "%s", address);
	if (peer_try(&mine, &d, kind) != NAM_OK || channel(&mine, NET_POLLING, 0) != NAM_OK ||
	    call(&mine) != NAM_OK)
		return write(ready, "!", 1) != 1;
	struct lengthy l = { .p = &mine, .st = NAM_BUSY };
	nam_co_start(net_worker_sched(mine.w), lengthy_co, &l, 0);
	net_worker_run(mine.w, NULL, NULL);
	if (l.st != NAM_OK)
		return write(ready, "?", 1) != 1;
	struct net_channel *ch = mine.w->channels;
	const uint64_t half = NET_RING_MARK << 56 | (uint64_t)ch->out.number << 24 | 100;
	scrawl(&mine, ch->out.pos, &half, 8);
	if (write(ready, "x", 1) != 1)
		return 1;
	for (;;)
		pause();
}

struct crowd {
	struct peer *p;
	unsigned calls, peers;
	atomic_uint *content;
	nam_status st;
};

/* Calls until all have had as many calls as they want: one that did nothing would not hear that it
 * is asked. Then it closes. */
static void *
crowd_main(void *arg)
{
	struct crowd *c = arg;
	while (atomic_load(c->content) < c->peers && (c->st = call(c->p)) == NAM_OK)
		if (++c->calls == CALLS)
			atomic_fetch_add(c->content, 1);
	if (c->st != NAM_OK)
		atomic_store(c->content, c->peers);
	peer_close(c->p);
	return NULL;
}

/* Peers that go on give their rings back when they are asked: all have their turns. */
static void
take_turns(struct peer *p, unsigned n)
{
	struct crowd c[CROWD + 1] = { 0 };
	pthread_t thread[CROWD + 1];
	atomic_uint content = 0;
	for (unsigned i = 0; i < n; i++) {
		c[i].p = &p[i];
		c[i].peers = n;
		c[i].content = &content;
		assert_int_equal(pthread_create(&thread[i], NULL, crowd_main, &c[i]), 0);
	}
	for (unsigned i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
	for (unsigned i = 0; i < n; i++) {
		assert_int_equal(c[i].st, NAM_OK);
		assert_true(c[i].calls >= CALLS);
	}
}

/*
 * 256 KiB hold 64 rings of the least size. Peers that need the longest messages take all of it,
 * and are stopped: they do not give it back, and a late one waits as long as its timeout says. A
 * peer that is killed in the middle makes room. Then more peers call than there is room for.
 */
static void
room_over(enum net_kind kind, unsigned fit)
{
	struct daemon d;
	struct peer p[CROWD + 1];
	daemon_start(&d, 256 << 10, 3);
	struct peer *late = &p[CROWD];
	assert_int_equal(peer_try(late, &d, kind), NAM_OK);
	/* Children take all the room, write half a message and are killed. */
	int ready[2];
	pid_t child[4];
	assert_int_equal(pipe(ready), 0);
	char which[16], fd[16], none[] = "", byte;
	snprintf(which, sizeof which, "%d", kind);
	snprintf(fd, sizeof fd, "%d", ready[1]);
	for (unsigned i = 0; i < fit; i++) {
		child[i] = be("half", d.address, which, fd, none);
		assert_int_equal(read(ready[0], &byte, 1), 1);
		assert_int_equal(byte, 'x');
	}
	close(ready[1]);
	assert_int_equal(channel(late, NET_POLLING, 200), NAM_OK);
	assert_int_equal(call(late), NAM_CROWDED);
	assert_int_equal(call(late), NAM_CROWDED);
	for (unsigned i = 0; i < fit; i++) {
		kill(child[i], i % 2 == 0 ? SIGKILL : SIGTERM);
		assert_int_equal(waitpid(child[i], NULL, 0), child[i]);
	}
	/* Rings rest for two seconds before they are used again, from when the node sees that
	 * their client has gone. */
	uint64_t from = nam_clock_ns();
	nam_status st;
	while ((st = call(late)) == NAM_CROWDED && nam_clock_ns() - from < 20000000000)
		;
	assert_int_equal(st, NAM_OK);
	for (unsigned i = 0; i < CROWD; i++) {
		assert_int_equal(peer_try(&p[i], &d, kind), NAM_OK);
		if (i % 3 == 0)
			assert_int_equal(channel(&p[i], NET_EVENTS, 0), NAM_OK);
	}
	peer_close(late);
	assert_int_equal(peer_try(late, &d, kind), NAM_OK);
	take_turns(p, CROWD + 1);
	close(ready[0]);
	daemon_end(&d);
}

static void
room(void **state)
{
	(void)state;
	for (unsigned i = 0; i < FABRICS; i++)
		room_over(fabric(i), fabric(i) == NET_SHM ? 2 : 4);
}

/* ---- stopped and dead --------------------------------------------------------------------- */

static void
stop(const struct daemon *d)
{
	int how;
	assert_int_equal(kill(d->pid, SIGSTOP), 0);
	assert_int_equal(waitpid(d->pid, &how, WUNTRACED), d->pid);
	assert_true(WIFSTOPPED(how));
}

static void *
kill_soon(void *arg)
{
	sleep_ms(100);
	kill(*(const pid_t *)arg, SIGKILL);
	return NULL;
}

static void
stopped_over(enum net_kind kind, enum net_mode mode)
{
	struct daemon d;
	struct peer p, idle;
	daemon_start(&d, 1 << 20, 1);
	assert_int_equal(peer_try(&p, &d, kind), NAM_OK);
	assert_int_equal(peer_try(&idle, &d, kind), NAM_OK);
	assert_int_equal(channel(&p, mode, 200), NAM_OK);
	assert_int_equal(call(&p), NAM_OK);
	/* Stopped: its timeout ends it. */
	stop(&d);
	uint64_t from = nam_clock_ns();
	assert_int_equal(call(&p), NAM_GONE);
	assert_in_range(nam_clock_ns() - from, 190000000, 2000000000);
	assert_int_equal(call(&p), NAM_GONE);
	assert_int_equal(kill(d.pid, SIGCONT), 0);
	if (kind == NET_SHM) { /* over tcp the verbs themselves were stopped, and the node
			        * may count as lost */
		assert_int_equal(channel(&p, mode, 2000), NAM_OK);
		assert_int_equal(call(&p), NAM_OK);
	}
	assert_int_equal(channel(&idle, mode, 20000), NAM_OK);
	assert_int_equal(call(&idle), NAM_OK);
	/* Dead: known at once, by waiting and by later callers. */
	stop(&d);
	pthread_t killer;
	assert_int_equal(pthread_create(&killer, NULL, kill_soon, &d.pid), 0);
	from = nam_clock_ns();
	assert_int_equal(call(&idle), NAM_GONE);
	assert_true(nam_clock_ns() - from < 5000000000);
	assert_int_equal(call(&idle), NAM_GONE);
	assert_int_not_equal(channel(&idle, mode, 100), NAM_OK);
	pthread_join(killer, NULL);
	assert_int_equal(waitpid(d.pid, NULL, 0), d.pid);
	peer_close(&p);
	peer_close(&idle);
}

static void
stopped(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2 * FABRICS; i++)
		stopped_over(fabric(i / 2), i % 2 == 0 ? NET_POLLING : NET_EVENTS);
}

/* ---- what idling costs ---------------------------------------------------------------------- */

static uint64_t
cpu_ticks(pid_t pid)
{
	char path[64], line[1024];
	unsigned long user, sys;
	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	FILE *f = fopen(path, "r");
	assert_non_null(f);
	assert_non_null(fgets(line, sizeof line, f));
	fclose(f);
	assert_int_equal(sscanf(strrchr(line, ')') + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu",
			     &user, &sys),
	    2);
	return user + sys;
}

/* A sanitizer makes all work some times slower. */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { SLOWER = 5 };
#else
enum { SLOWER = 1 };
#endif
enum { SECONDS = 2 };

/* Clients in event mode, after one request each, cost the node less than a twentieth of a core. */
static void
idle(void **state)
{
	(void)state;
	for (unsigned k = 0; k < FABRICS; k++) {
		struct daemon d;
		struct peer p[4];
		daemon_start(&d, 1 << 20, 1);
		for (unsigned i = 0; i < 4; i++) {
			assert_int_equal(peer_try(&p[i], &d, fabric(k)), NAM_OK);
			/* One was polling before. */
			assert_int_equal(channel(&p[i], i == 0 ? NET_POLLING : NET_EVENTS, 0), NAM_OK);
			assert_int_equal(call(&p[i]), NAM_OK);
		}
		assert_int_equal(channel(&p[0], NET_EVENTS, 0), NAM_OK);
		assert_int_equal(call(&p[0]), NAM_OK);
		/* Work may still be under way; a tick is a hundredth of a second, and one more is
		 * within the error. */
		sleep_ms(200);
		uint64_t before = cpu_ticks(d.pid), per_second = (uint64_t)sysconf(_SC_CLK_TCK);
		sleep_ms(SECONDS * 1000);
		uint64_t used = cpu_ticks(d.pid) - before, all = SECONDS * per_second;
		print_message("idle, event mode, 4 clients, %s: %.1f %% of a core\n",
		    net_kind_name(fabric(k)), 100.0 * (double)used / (double)all);
		assert_true(used * 20 < all * SLOWER);
		for (unsigned i = 0; i < 4; i++)
			peer_close(&p[i]);
		daemon_end(&d);
	}
}

static void
rest_co(void *arg)
{
	net_sleep(((struct peer *)arg)->w, 1000000);
}

/* What was posted has been seen to end. */
static bool
answers(struct peer *p, uint32_t bytes)
{
	nam_co_start(net_worker_sched(p->w), rest_co, p, 0);
	net_worker_run(p->w, NULL, NULL);
	return net_call_answers(p->w, 1, NET_SERVICE_ECHO, bytes);
}

/* Answers may become longer, and short again; not beyond what a node has memory for. */
static void
longer(void **state)
{
	(void)state;
	for (unsigned k = 0; k < FABRICS; k++) {
		struct daemon d;
		struct peer p;
		uint32_t request, answer, plain;
		daemon_start(&d, 1 << 20, 1);
		assert_int_equal(peer_try(&p, &d, fabric(k)), NAM_OK);
		assert_false(answers(&p, 128 << 10)); /* no channel */
		assert_int_equal(channel(&p, NET_EVENTS, 0), NAM_OK);
		assert_int_equal(call(&p), NAM_OK);
		assert_int_equal(net_call_max(p.w, 1, NET_SERVICE_ECHO, &request, &plain), NAM_OK);
		assert_int_equal(call_for(&p, plain + 8), NAM_INVALID);
		assert_false(answers(&p, 1 << 20));
		for (unsigned i = 0; i < 3; i++) {
			assert_true(answers(&p, 128 << 10));
			assert_false(answers(&p, 128 << 10));
			assert_int_equal(net_call_max(p.w, 1, NET_SERVICE_ECHO, &request, &answer), NAM_OK);
			assert_true(answer > plain);
			assert_int_equal(call(&p), NAM_OK);
			assert_int_equal(call_for(&p, answer), NAM_OK);
			assert_true(answers(&p, 0));
			assert_int_equal(call_for(&p, answer), NAM_INVALID);
			assert_int_equal(call(&p), NAM_OK);
		}
		peer_close(&p);
		daemon_end(&d);
	}
}

int
main(int argc, char **argv)
{
	if (argc == 6 && strcmp(argv[1], "daemon") == 0)
		return daemon_main(
		    strtoull(argv[2], NULL, 10), (unsigned)atoi(argv[3]), atoi(argv[4]), argv[5]);
	if (argc == 6 && strcmp(argv[1], "half") == 0)
		return half_main(argv[2], (enum net_kind)atoi(argv[3]), atoi(argv[4]));
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rubbish),
		cmocka_unit_test(bad_hellos),
		cmocka_unit_test(room),
		cmocka_unit_test(stopped),
		cmocka_unit_test(idle),
		cmocka_unit_test(longer),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
