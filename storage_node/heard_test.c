/*
 * heard_test.c -- the news that a process hears about others, and the question before it is fenced,
 * on real nodes.
 *
 * Processes that die, stop or give up are this program again in another role. What must hold: a
 * hint needs the message of all nodes for NET_LEFT_NS; only a pidfd proves a death; a process that
 * answers that it lives is not fenced; one that gives up survives and touches no region any more.
 */
#include <base/clock.h>
#include <base/log.h>
#include <net/handshake.h>
#include <net/local.h>
#include <net/provider.h>
#include <net/remote.h>
#include <storage_node/fenced.h>
#include <storage_node/test_node.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

#include <cmocka.h>

enum { NODES = 2, ROOM = 4 << 20, AREA = 1 << 20, FINE = 42 };
#define MS UINT64_C(1000000)

static const char secret[] = "tell me, and me only";
static struct test_node node[NODES];
static char storage[300];

static void
nap_ms(unsigned ms)
{
	struct timespec ts = { ms / 1000, (long)(ms % 1000) * 1000000 };
	nanosleep(&ts, NULL);
}

static int
up(void **state)
{
	(void)state;
	storage[0] = '\0';
	for (unsigned i = 0; i < NODES; i++) {
		const struct sn_server_config sc = { .secret = secret, .secret_len = sizeof secret };
		test_node_start(&node[i], i + 1, ROOM, &sc);
		snprintf(storage + strlen(storage), sizeof storage - strlen(storage), "%s%s",
		    i > 0 ? "," : "", sn_server_address(node[i].server));
	}
	return 0;
}

static int
down(void **state)
{
	(void)state;
	for (unsigned i = 0; i < NODES; i++)
		test_node_stop(&node[i]);
	return 0;
}

static struct net_config
config(const char *at, enum net_kind kind)
{
	return (struct net_config){ .storage = at,
		.fabric = kind,
		.connect_ms = 10000,
		.secret = secret,
		.secret_len = sizeof secret };
}

/* ---- the observer ------------------------------------------------------------------- */

struct observer {
	struct net *net;
	struct net_worker *w;
};

static struct observer
observe(void)
{
	struct observer o;
	const struct net_config nc = config(storage, NET_TCP);
	test_net_open(&nc, &o.net, &o.w);
	return o;
}

static void
leave(struct observer *o)
{
	test_net_close(o->net, o->w);
}

/* Until the net has heard it, or the time is up. Returns how long it took. */
static uint64_t
until_heard(struct observer *o, uint64_t identity, enum net_heard what, unsigned ms)
{
	uint64_t from = nam_clock_ns();
	while (net_heard_of(o->w, identity) != what) {
		if (nam_clock_ns() - from > ms * MS)
			return UINT64_MAX;
		struct timespec ts = { 0, 200000 };
		nanosleep(&ts, NULL);
	}
	return nam_clock_ns() - from;
}

static bool
stays(struct observer *o, uint64_t identity, enum net_heard what, unsigned ms)
{
	for (uint64_t from = nam_clock_ns(); nam_clock_ns() - from < ms * MS;) {
		if (net_heard_of(o->w, identity) != what)
			return false;
		struct timespec ts = { 0, 200000 };
		nanosleep(&ts, NULL);
	}
	return true;
}

/* A peer by hand. path: of a UNIX socket, NULL: by TCP. */
static int
come_as(unsigned at, enum net_role role, uint64_t identity, const char *path)
{
	char host[112], port[16];
	struct net_welcome welcome;
	struct net_grant grant;
	struct nam_err err = { 0 };
	uint64_t until = nam_clock_ns() + 20000 * MS;
	const struct net_shake me = { .layout = net_layout(),
		.cluster = net_cluster_hash(NULL),
		.secret = secret,
		.secret_len = sizeof secret,
		.identity = identity };
	int fd;
	assert_int_equal(
	    net_split_address(sn_server_address(node[at].server), host, sizeof host, port, sizeof port, &err),
	    NAM_OK);
	if (path == NULL)
		assert_int_equal(net_dial(host, port, "test", until, &fd, &err), NAM_OK);
	else
		assert_int_equal(net_dial_unix(path, "test", until, &fd, &err), NAM_OK);
	nam_status st = net_shake_hands(fd, &me, role, "test", until, &welcome, &grant, NULL, &err);
	if (st != NAM_OK)
		fprintf(stderr, "%s\n", err.text);
	assert_int_equal(st, NAM_OK);
	assert_int_equal(fcntl(fd, F_SETFL, 0), 0); /* it may block */
	return fd;
}

/* ---- hints --------------------------------------------------------------------------- */

static void
left_needs_all(void **state)
{
	(void)state;
	struct observer o = observe();
	int a = come_as(0, NET_ROLE_CONTROL, 77, NULL), more = come_as(0, NET_ROLE_WORKER, 77, NULL);
	int b = come_as(1, NET_ROLE_CONTROL, 77, NULL);
	assert_true(stays(&o, 77, NET_UNHEARD, 120));
	close(a);
	close(b);
	/* One connection at one of two nodes: no hint. */
	assert_true(stays(&o, 77, NET_UNHEARD, 200));
	b = come_as(1, NET_ROLE_CONTROL, 77, NULL);
	close(more);
	assert_true(stays(&o, 77, NET_UNHEARD, 200));
	uint64_t from = nam_clock_ns();
	close(b);
	assert_int_not_equal(until_heard(&o, 77, NET_LEFT, 5000), UINT64_MAX);
	assert_true(nam_clock_ns() - from >= NET_LEFT_NS);
	/* It is only a hint: a process that comes back is there. */
	a = come_as(0, NET_ROLE_CONTROL, 77, NULL);
	assert_int_not_equal(until_heard(&o, 77, NET_UNHEARD, 5000), UINT64_MAX);
	close(a);
	assert_int_not_equal(until_heard(&o, 77, NET_LEFT, 5000), UINT64_MAX);
	leave(&o);
}

static void
back_in_time(void **state)
{
	(void)state;
	struct observer o = observe();
	int fd[NODES];
	for (unsigned i = 0; i < NODES; i++)
		fd[i] = come_as(i, NET_ROLE_CONTROL, 78, NULL);
	assert_true(stays(&o, 78, NET_UNHEARD, 50));
	unsigned quick = 0;
	for (unsigned turn = 0; turn < 20; turn++) {
		uint64_t from = nam_clock_ns();
		for (unsigned i = 0; i < NODES; i++)
			close(fd[i]);
		bool early = !stays(&o, 78, NET_UNHEARD, 10);
		fd[turn % NODES] = come_as(turn % NODES, NET_ROLE_CONTROL, 78, NULL);
		/* On a machine that is busy with other work it may have been away for too long. */
		bool late = nam_clock_ns() - from > NET_LEFT_NS / 2;
		assert_false(early && !late);
		assert_true(stays(&o, 78, NET_UNHEARD, 80) || late);
		quick += !late;
		fd[1 - turn % NODES] = come_as(1 - turn % NODES, NET_ROLE_CONTROL, 78, NULL);
	}
	assert_true(quick > 0);
	for (unsigned i = 0; i < NODES; i++)
		close(fd[i]);
	assert_int_not_equal(until_heard(&o, 78, NET_LEFT, 5000), UINT64_MAX);
	leave(&o);
}

/* A process that joins later asks: about one that left before, one that is there, and an identity
 * that never existed. */
static void
late_observer(void **state)
{
	(void)state;
	int fd = come_as(1, NET_ROLE_CONTROL, 79, NULL);
	struct observer o = observe();
	assert_true(stays(&o, 79, NET_UNHEARD, 150));
	assert_int_not_equal(until_heard(&o, 12345, NET_LEFT, 5000), UINT64_MAX);
	close(fd);
	assert_int_not_equal(until_heard(&o, 79, NET_LEFT, 5000), UINT64_MAX);
	/* It hears no news of itself. */
	assert_true(stays(&o, net_identity(o.net), NET_UNHEARD, 100));
	/* More of them than the table holds: each is answered nevertheless when it is asked
	 * about. */
	for (uint64_t i = 0; i < 6000; i++)
		net_heard_of(o.w, 100000 + i);
	assert_int_not_equal(until_heard(&o, 100000, NET_LEFT, 5000), UINT64_MAX);
	assert_int_not_equal(until_heard(&o, 105999, NET_LEFT, 5000), UINT64_MAX);
	leave(&o);
}

struct sleeper {
	struct observer *o;
	uint64_t slept_ns, news;
	atomic_bool sleeps;
};

static void
sleep_co(void *arg)
{
	struct sleeper *s = arg;
	uint64_t from = nam_clock_ns();
	atomic_store(&s->sleeps, true);
	net_sleep_or_news(s->o->w, 20000 * MS, &s->news);
	s->slept_ns = nam_clock_ns() - from;
}

static void *
leaver(void *arg)
{
	(void)arg;
	nap_ms(50);
	close(come_as(0, NET_ROLE_CONTROL, 80, NULL));
	return NULL;
}

/* No process has to look often: news end the sleep. */
static void
roused(void **state)
{
	(void)state;
	struct observer o = observe();
	struct sleeper s = { .o = &o };
	pthread_t t;
	int keep = come_as(1, NET_ROLE_CONTROL, 80, NULL);
	assert_int_not_equal(net_heard_of(o.w, 80), NET_LEFT);
	close(keep);
	assert_int_equal(pthread_create(&t, NULL, leaver, NULL), 0);
	test_in_coroutine(o.w, sleep_co, &s);
	pthread_join(t, NULL);
	assert_true(s.slept_ns < 10000 * MS);
	assert_true(s.news > 0);
	/* Without news the sleep lasts as long as asked for; news that came before end it at
	 * once. */
	assert_int_not_equal(until_heard(&o, 80, NET_LEFT, 5000), UINT64_MAX);
	s.news = 0;
	test_in_coroutine(o.w, sleep_co, &s);
	assert_true(s.slept_ns < 1000 * MS);
	leave(&o);
}

/* A reader that stalls costs the node nothing, and others hear as before; it hears that it has
 * missed messages. */
static void
stuck_reader(void **state)
{
	(void)state;
	struct observer o = observe();
	int stuck = come_as(0, NET_ROLE_CONTROL, 81, sn_server_socket(node[0].server));
	for (unsigned i = 0; i < 800; i++)
		close(come_as(0, NET_ROLE_CONTROL, 1000 + i, NULL));
	int fd = come_as(0, NET_ROLE_CONTROL, 82, NULL);
	assert_true(stays(&o, 82, NET_UNHEARD, 80));
	close(fd);
	assert_int_not_equal(until_heard(&o, 82, NET_LEFT, 5000), UINT64_MAX);
	/* It reads again: whole messages, and FORGET behind those that came. */
	unsigned got = 0;
	bool forget = false;
	for (;;) {
		struct net_news n;
		struct pollfd p = { .fd = stuck, .events = POLLIN };
		if (poll(&p, 1, forget ? 100 : 5000) != 1)
			break;
		assert_int_equal(recv(stuck, &n, sizeof n, MSG_WAITALL), sizeof n);
		assert_int_equal(n.magic, NET_NEWS_MAGIC);
		forget |= n.kind == NET_NEWS_FORGET;
		got++;
	}
	assert_true(forget);
	assert_true(got < 1600);
	/* And its questions are answered again. */
	struct net_news who = { .magic = NET_NEWS_MAGIC, .kind = NET_NEWS_WHO, .identity = 82 };
	assert_int_equal(send(stuck, &who, sizeof who, 0), sizeof who);
	assert_int_equal(recv(stuck, &who, sizeof who, MSG_WAITALL), sizeof who);
	assert_int_equal(who.kind, NET_NEWS_LEFT);
	close(stuck);
	leave(&o);
}

/* A message that makes no sense ends that connection, and no other. */
static void
bad_news(void **state)
{
	(void)state;
	struct observer o = observe();
	const struct net_news bad[] = {
		{ .magic = 1, .kind = NET_NEWS_WHO, .identity = 5 },
		{ .magic = NET_NEWS_MAGIC, .kind = NET_NEWS_WHO },
		{ .magic = NET_NEWS_MAGIC, .kind = NET_NEWS_WHO, .identity = UINT64_MAX },
		{ .magic = NET_NEWS_MAGIC, .kind = NET_NEWS_LEFT, .identity = 5 },
		{ .magic = NET_NEWS_MAGIC, .kind = NET_NEWS_LIVES },
		{ .magic = NET_NEWS_MAGIC, .kind = 99 },
	};
	for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
		int fd = come_as(0, NET_ROLE_CONTROL, 83, NULL);
		char sink;
		/* In two pieces, as a wire may bring it. */
		assert_int_equal(send(fd, &bad[i], 7, MSG_NOSIGNAL), 7);
		nap_ms(2);
		send(fd, (const char *)&bad[i] + 7, sizeof bad[i] - 7, MSG_NOSIGNAL);
		struct pollfd p = { .fd = fd, .events = POLLIN };
		assert_int_equal(poll(&p, 1, 20000), 1);
		assert_int_equal(recv(fd, &sink, 1, 0), 0);
		close(fd);
	}
	assert_int_equal(atomic_load(&net_node(o.net, 0)->lost), false);
	leave(&o);
}

/* ---- processes of their own ------------------------------------------------------------ */

struct child {
	pid_t pid;
	int fd;
	uint64_t identity;
};

static struct child
spawn(const char *role, enum net_kind kind)
{
	int fd[2];
	char out[16], n[16];
	assert_int_equal(pipe(fd), 0);
	snprintf(out, sizeof out, "%d", fd[1]);
	snprintf(n, sizeof n, "%d", (int)kind);
	fflush(NULL);
	struct child c = { .pid = fork(), .fd = fd[0] };
	assert_true(c.pid >= 0);
	if (c.pid == 0) {
		close(fd[0]);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execl("/proc/self/exe", "heard_test", role, out, storage, n, (char *)NULL);
		_exit(9);
	}
	close(fd[1]);
	struct pollfd p = { .fd = c.fd, .events = POLLIN };
	assert_int_equal(poll(&p, 1, 40000), 1);
	assert_int_equal(read(c.fd, &c.identity, sizeof c.identity), sizeof c.identity);
	return c;
}

static int
reap(struct child *c)
{
	int status = -1;
	assert_int_equal(waitpid(c->pid, &status, 0), c->pid);
	close(c->fd);
	return status;
}

static struct net *the_net;
static struct net_worker *first;
static atomic_uint asked, busy, was_wrong, gone;
static enum net_answer_life says;
static pthread_t first_thread;

static enum net_answer_life
on_asked(void *arg)
{
	if (arg != &says || !pthread_equal(pthread_self(), first_thread))
		atomic_store(&was_wrong, 1);
	atomic_fetch_add(&asked, 1);
	return says;
}

/*
 * Works in the memory of all nodes as long as its verbs succeed. A word there holds a number other
 * than 0 before the work begins, so a READ that succeeds and shows 0 has not shown the node's
 * memory.
 */
static void
hammer_co(void *arg)
{
	struct net_worker *w = arg;
	char buf[4096];
	memset(buf, 0x5a, sizeof buf);
	for (;;) {
		for (unsigned r = 1; r <= NODES; r++) {
			uint64_t word[3] = { 0 }, seen = 0;
			struct net_op op[4];
			struct net_batch b;
			net_batch_init(&b, w, op, 4, NULL);
			net_write(&b, net_at(r, AREA + 4096), buf, sizeof buf);
			net_faa(&b, net_at(r, AREA), 1);
			net_read(&b, net_at(r, AREA), &word[0], 8);
			net_read(&b, net_at(r, AREA + 8192 + 64), &word[1], 8);
			nam_status st = net_run(&b);
			if (st == NAM_OK && (op[1].seen == 0 || word[0] == 0))
				atomic_store(&was_wrong, 2);
			if (st == NAM_OK)
				st = net_read1(w, net_at(r, AREA), &word[2], 8, NULL);
			if (st == NAM_OK && word[2] == 0)
				atomic_store(&was_wrong, 3);
			if (st == NAM_OK)
				st = net_cas1(w, net_at(r, AREA), 0, 1, &seen, NULL);
			if (st == NAM_OK && seen == 0)
				atomic_store(&was_wrong, 4);
			const uint64_t *p = st == NAM_OK ? net_direct(w, net_at(r, AREA), 8) : NULL;
			if (p != NULL && __atomic_load_n(p, __ATOMIC_RELAXED) == 0 && net_direct_stands(w))
				atomic_store(&was_wrong, 5);
			if (st == NAM_GONE) {
				atomic_fetch_add(&gone, 1);
				return;
			}
			if (st != NAM_OK)
				atomic_store(&was_wrong, 6);
		}
		atomic_fetch_add(&busy, 1);
		nam_co_yield();
	}
}

static void *
hammer_thread(void *arg)
{
	struct net_worker *w = arg;
	nam_co_start(net_worker_sched(w), hammer_co, w, 0);
	net_worker_run(w, NULL, NULL);
	return NULL;
}

static atomic_bool stop_heart;

static bool
is_over(void *arg)
{
	(void)arg;
	return atomic_load(&stop_heart);
}

static void *
heart_thread(void *arg)
{
	struct nam_err err;
	(void)arg;
	first_thread = pthread_self();
	if (net_worker_open(the_net, &first, &err) != NAM_OK)
		_exit(4);
	atomic_fetch_add(&busy, 1);
	net_worker_run(first, is_over, NULL);
	return NULL;
}

/* role: "lives", "gives-up", "mute" (it has no answering function), "deaf" (the thread that would
 * answer does not run). */
static void
victim_main(const char *role, int out, const char *at, enum net_kind kind)
{
	enum { THREADS = 2 };
	struct nam_err err = { 0 };
	struct net_worker *w[THREADS];
	pthread_t heart, thread[THREADS];
	storage[0] = '\0';
	strncat(storage, at, sizeof storage - 1);
	nam_log_level_set(NAM_LOG_ERROR);
	const struct net_config nc = config(storage, kind);
	if (net_open(&the_net, &nc, &err) != NAM_OK || net_node(the_net, 0)->kind != kind)
		_exit(2);
	says = strcmp(role, "gives-up") == 0 ? NET_GIVEN_UP : NET_LIVES;
	pthread_create(&heart, NULL, heart_thread, NULL);
	while (atomic_load(&busy) == 0)
		nap_ms(1);
	if (strcmp(role, "deaf") == 0) {
		atomic_store(&stop_heart, true);
		net_worker_rouse(first);
		pthread_join(heart, NULL);
	}
	if (strcmp(role, "mute") != 0)
		net_on_asked(the_net, on_asked, &says);
	for (unsigned i = 0; i < THREADS; i++) {
		if (net_worker_open(the_net, &w[i], &err) != NAM_OK)
			_exit(3);
		pthread_create(&thread[i], NULL, hammer_thread, w[i]);
	}
	while (atomic_load(&busy) < 10)
		nap_ms(1);
	uint64_t me = net_identity(the_net);
	if (write(out, &me, sizeof me) != sizeof me)
		_exit(3);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	/* The work has ended with errors: why? */
	for (unsigned i = 0; i < 20000 && net_membership(the_net) != NET_FENCED; i++)
		nap_ms(1);
	const char *why = net_membership_why(the_net);
	if (atomic_load(&was_wrong) != 0)
		_exit(50 + (int)atomic_load(&was_wrong));
	if (atomic_load(&gone) != THREADS || net_membership(the_net) != NET_FENCED)
		_exit(5);
	if (strcmp(role, "gives-up") == 0 &&
	    (atomic_load(&asked) == 0 || strstr(why, "given itself up") == NULL))
		_exit(6);
	if (strcmp(role, "gives-up") != 0 && strstr(why, "was silent") == NULL)
		_exit(7);
	/* And this is final, at all nodes at once if it has given itself up. */
	uint64_t word;
	struct net_worker *more;
	if (strcmp(role, "gives-up") == 0 &&
	    (net_read1(w[0], net_at(1, AREA), &word, 8, NULL) != NAM_GONE ||
		net_direct(w[0], net_at(1, AREA), 8) != NULL ||
		net_worker_open(the_net, &more, &err) != NAM_REFUSED ||
		(kind == NET_TCP && net_worker_reconnect(w[0], 1, &err) != NAM_REFUSED)))
		_exit(8);
	for (unsigned i = 0; i < THREADS; i++)
		net_worker_close(w[i]);
	atomic_store(&stop_heart, true);
	net_worker_rouse(first);
	if (strcmp(role, "deaf") != 0)
		pthread_join(heart, NULL);
	net_worker_close(first);
	net_close(the_net);
	_exit(FINE);
}

struct fencer {
	struct observer *o;
	uint64_t whom, grace_ns, took_ns;
	nam_status status;
	struct nam_err err;
};

static void
fence_co(void *arg)
{
	struct fencer *f = arg;
	uint64_t from = nam_clock_ns();
	f->status = net_fence_process(f->o->w, f->whom, f->grace_ns, &f->err);
	f->took_ns = nam_clock_ns() - from;
}

static struct fencer
fence(struct observer *o, uint64_t whom, unsigned grace_ms)
{
	struct fencer f = { .o = o, .whom = whom, .grace_ns = grace_ms * MS };
	test_in_coroutine(o->w, fence_co, &f);
	return f;
}

/* ---- deaths ---------------------------------------------------------------------------- */

static void
dies_over(enum net_kind kind)
{
	uint64_t worst = 0, fenced = 0;
	for (unsigned turn = 0; turn < 10; turn++) {
		struct observer o = observe();
		struct child c = spawn("lives", kind);
		assert_true(stays(&o, c.identity, NET_UNHEARD, 20));
		uint64_t from = nam_clock_ns();
		kill(c.pid, SIGKILL);
		assert_int_not_equal(until_heard(&o, c.identity, NET_DEAD, 5000), UINT64_MAX);
		uint64_t took = nam_clock_ns() - from;
		worst = took > worst ? took : worst;
		struct fencer f = fence(&o, c.identity, 0);
		assert_int_equal(f.status, NAM_OK);
		fenced = f.took_ns > fenced ? f.took_ns : fenced;
		assert_int_equal(WTERMSIG(reap(&c)), SIGKILL);
		/* A process that asks later hears it as well. */
		struct observer late = observe();
		assert_int_not_equal(until_heard(&late, c.identity, NET_DEAD, 5000), UINT64_MAX);
		leave(&late);
		leave(&o);
	}
	printf("dead over %s: told after %.1f ms, fenced in %.1f ms at worst\n", net_kind_name(kind),
	    (double)worst / 1e6, (double)fenced / 1e6);
}

static void
told_dead(void **state)
{
	(void)state;
	dies_over(NET_TCP);
	dies_over(NET_SHM);
}

/* One that only closes its connections has left, and its process has not died. */
static void
closed_is_not_dead(void **state)
{
	(void)state;
	const enum net_kind kind[] = { NET_TCP, NET_SHM };
	struct observer o = observe();
	for (unsigned i = 0; i < 2; i++) {
		struct net *n;
		struct nam_err err = { 0 };
		const struct net_config nc = config(storage, kind[i]);
		assert_int_equal(net_open(&n, &nc, &err), NAM_OK);
		uint64_t it = net_identity(n);
		assert_true(stays(&o, it, NET_UNHEARD, 80));
		net_close(n);
		assert_int_not_equal(until_heard(&o, it, NET_LEFT, 5000), UINT64_MAX);
		assert_true(stays(&o, it, NET_LEFT, 100));
	}
	leave(&o);
}

/* A control connection that breaks, on the way, is replaced by the process itself: it stays a
 * member, and hears news. */
static void
broken_control(void **state)
{
	(void)state;
#ifdef __SANITIZE_THREAD__
	skip(); /* it looks for the descriptors behind the monitor's back */
#endif
	struct observer o = observe();
	struct net *n;
	struct nam_err err = { 0 };
	const struct net_config nc = config(storage, NET_TCP);
	assert_int_equal(net_open(&n, &nc, &err), NAM_OK);
	uint64_t it = net_identity(n);
	assert_true(stays(&o, it, NET_UNHEARD, 50));
	for (unsigned i = 0; i < NODES; i++) {
		shutdown(n->node[i]->life_fd, SHUT_RDWR);
		shutdown(n->node[i]->control_fd, SHUT_RDWR);
	}
	/* It may have been away for long on a busy machine; it comes back. */
	nap_ms(100);
	assert_int_not_equal(until_heard(&o, it, NET_UNHEARD, 5000), UINT64_MAX);
	assert_true(stays(&o, it, NET_UNHEARD, 150));
	for (unsigned i = 0; i < 5000 && net_membership(n) != NET_MEMBER; i++)
		nap_ms(1);
	assert_int_equal(net_membership(n), NET_MEMBER);
	net_close(n);
	assert_int_not_equal(until_heard(&o, it, NET_LEFT, 5000), UINT64_MAX);
	leave(&o);
}

/* ---- asked ------------------------------------------------------------------------------ */

static void
prepare_area(struct observer *o)
{
	(void)o;
	for (unsigned i = 0; i < NODES; i++) {
		char *base = sn_local(node[i].region)->base;
		__atomic_store_n((uint64_t *)(void *)(base + AREA), 1, __ATOMIC_SEQ_CST);
	}
}

static uint64_t
counter(unsigned i)
{
	char *base = sn_local(node[i].region)->base;
	return __atomic_load_n((uint64_t *)(void *)(base + AREA), __ATOMIC_SEQ_CST);
}

static void
asked_over(enum net_kind kind)
{
	struct observer o = observe();
	prepare_area(&o);
	/* It lives, and is not fenced; again and again. */
	struct child c = spawn("lives", kind);
	for (unsigned i = 0; i < 3; i++) {
		struct fencer f = fence(&o, c.identity, 10000);
		assert_int_equal(f.status, NAM_BUSY);
		assert_true(f.took_ns < 9000 * MS);
		uint64_t was[NODES];
		for (unsigned k = 0; k < NODES; k++)
			was[k] = counter(k);
		for (unsigned k = 0; k < NODES; k++) {
			for (unsigned ms = 0; ms < 5000 && counter(k) == was[k]; ms++)
				nap_ms(1);
			assert_true(counter(k) > was[k]);
		}
	}
	/* It stalls: it does not answer, and is fenced when the grace is over, not before. */
	int status;
	kill(c.pid, SIGSTOP);
	assert_int_equal(waitpid(c.pid, &status, WUNTRACED), c.pid); /* all threads, at once */
	assert_true(WIFSTOPPED(status));
	struct fencer f = fence(&o, c.identity, 300);
	assert_int_equal(f.status, NAM_OK);
	assert_true(f.took_ns >= 300 * MS && f.took_ns < 5000 * MS);
	uint64_t was = counter(0);
	kill(c.pid, SIGCONT);
	status = reap(&c);
	if (kind == NET_SHM)
		assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	else
		assert_int_equal(status, FINE << 8);
	assert_int_equal(counter(0), was);

	/* It gives up: it survives, and touches no region any more. */
	for (unsigned turn = 0; turn < 5; turn++) {
		c = spawn("gives-up", kind);
		f = fence(&o, c.identity, 10000);
		if (f.status != NAM_OK)
			fprintf(stderr, "%s\n", f.err.text);
		assert_int_equal(f.status, NAM_OK);
		assert_true(f.took_ns < 9000 * MS);
		uint64_t is[NODES];
		for (unsigned k = 0; k < NODES; k++)
			is[k] = counter(k);
		status = reap(&c);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), FINE);
		for (unsigned k = 0; k < NODES; k++)
			assert_int_equal(counter(k), is[k]);
	}
	/* It has no answering function, or the thread that would answer does not run: the same as
	 * silence. */
	const char *const silent[] = { "mute", "deaf" };
	for (unsigned i = 0; i < 2; i++) {
		c = spawn(silent[i], kind);
		f = fence(&o, c.identity, 200);
		assert_int_equal(f.status, NAM_OK);
		assert_true(f.took_ns >= 200 * MS);
		status = reap(&c);
		if (kind == NET_SHM)
			assert_true(WIFSIGNALED(status));
		else
			assert_int_equal(status, FINE << 8);
	}
	/* It has no connection: the node does not wait for an answer. */
	f = fence(&o, c.identity, 10000);
	assert_int_equal(f.status, NAM_OK);
	assert_true(f.took_ns < 5000 * MS);
	f = fence(&o, 4711, 10000);
	assert_int_equal(f.status, NAM_OK);
	assert_true(f.took_ns < 5000 * MS);
	leave(&o);
}

static void
asked_tcp(void **state)
{
	(void)state;
	asked_over(NET_TCP);
}

static void
asked_shm(void **state)
{
	(void)state;
	asked_over(NET_SHM);
}

/* An answer to another question, of another process, or too late does not count. */
static void
false_answers(void **state)
{
	(void)state;
	struct observer o = observe();
	int fd = come_as(0, NET_ROLE_CONTROL, 90, NULL), other = come_as(0, NET_ROLE_CONTROL, 91, NULL);
	pthread_t t;
	(void)t;
	const struct net_shake me = { .layout = net_layout(),
		.cluster = net_cluster_hash(NULL),
		.secret = secret,
		.secret_len = sizeof secret,
		.identity = 92,
		.word = 90 | UINT64_C(600) << NET_ASK_GRACE_SHIFT };
	char host[112], port[16];
	struct nam_err err;
	int asker;
	struct net_welcome welcome;
	struct net_grant grant;
	struct net_hello hello = { .magic = NET_WIRE_MAGIC,
		.version = NET_WIRE_VERSION,
		.role = NET_ROLE_ASK,
		.layout = me.layout,
		.cluster = me.cluster,
		.identity = me.identity,
		.word = me.word };
	struct net_proof proof;
	assert_int_equal(
	    net_split_address(sn_server_address(node[0].server), host, sizeof host, port, sizeof port, &err),
	    NAM_OK);
	assert_int_equal(net_dial(host, port, "test", nam_clock_ns() + 5000 * MS, &asker, &err), NAM_OK);
	assert_int_equal(send(asker, &hello, sizeof hello, 0), sizeof hello);
	struct pollfd p = { .fd = asker, .events = POLLIN };
	assert_int_equal(poll(&p, 1, 5000), 1);
	assert_int_equal(recv(asker, &welcome, sizeof welcome, 0), sizeof welcome);
	net_shake_prove(&me, &hello, &welcome, &proof);
	assert_int_equal(send(asker, &proof, sizeof proof, 0), sizeof proof);
	struct net_news n;
	do
		assert_int_equal(recv(fd, &n, sizeof n, MSG_WAITALL), sizeof n);
	while (n.kind != NET_NEWS_ASK);
	assert_int_equal(n.grace_ms, 600);
	n.kind = NET_NEWS_LIVES;
	send(other, &n, sizeof n, 0); /* not its to answer */
	n.nonce ^= 1;
	send(fd, &n, sizeof n, 0); /* another question */
	assert_int_equal(poll(&p, 1, 200), 0);
	assert_int_equal(poll(&p, 1, 5000), 1);
	assert_int_equal(recv(asker, &grant, sizeof grant, 0), sizeof grant);
	assert_int_equal(grant.verdict, NET_YES);
	n.nonce ^= 1;
	send(fd, &n, sizeof n, 0); /* too late; harmless */
	/* W5: it has not been fenced. */
	assert_int_equal(sn_fenced_find(sn_region_fenced(node[0].region), 90), 0);
	struct net_news who = { .magic = NET_NEWS_MAGIC, .kind = NET_NEWS_WHO, .identity = 90 };
	assert_int_equal(send(other, &who, sizeof who, 0), sizeof who);
	do
		assert_int_equal(recv(other, &n, sizeof n, MSG_WAITALL), sizeof n);
	while (n.identity != 90 || n.kind != NET_NEWS_BACK);
	close(asker);
	close(fd);
	close(other);
	leave(&o);
}

/* ---- fork --------------------------------------------------------------------------------- */

static void
read_co(void *arg)
{
	nam_status *st = arg;
	uint64_t word;
	*st = net_read1(first, net_at(1, 0), &word, 8, NULL);
}

/* In the child no call works, and no call of it reaches the parent's connections or the node's
 * memory. */
static void
forked_over(enum net_kind kind)
{
	const struct net_config nc = config(storage, kind);
	test_net_open(&nc, &the_net, &first);
	char *look = (char *)(uintptr_t)net_direct(first, net_at(1, AREA), 8);
	nam_status st = NAM_IO;
	test_in_coroutine(first, read_co, &st);
	assert_int_equal(st, NAM_OK);
	fflush(NULL);
	pid_t pid = fork();
	if (pid == 0) {
		struct net_worker *w;
		struct nam_err err;
		if (net_membership(the_net) != NET_FENCED)
			_exit(2);
		if (strstr(net_membership_why(the_net), "forked") == NULL)
			_exit(3);
		test_in_coroutine(first, read_co, &st);
		if (st != NAM_GONE)
			_exit(4);
		if (net_worker_open(the_net, &w, &err) != NAM_REFUSED ||
		    strstr(err.text, "open the cluster again") == NULL)
			_exit(5);
		if (look != NULL)
			memset(look, 0x77, 4096); /* a stray pointer */
		test_net_close(the_net, first);
		/* It may join the cluster with a net of its own. */
		test_net_open(&nc, &the_net, &first);
		test_in_coroutine(first, read_co, &st);
		test_net_close(the_net, first);
		_exit(st == NAM_OK ? FINE : 6);
	}
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), FINE);
	test_in_coroutine(first, read_co, &st);
	assert_int_equal(st, NAM_OK);
	assert_int_equal(net_membership(the_net), NET_MEMBER);
	assert_string_equal(net_membership_why(the_net), "");
	assert_int_not_equal(((char *)sn_local(node[0].region)->base)[AREA], 0x77);
	test_net_close(the_net, first);
}

static void
forked(void **state)
{
	(void)state;
#ifdef __SANITIZE_THREAD__
	skip(); /* the sanitizer supports no threads in a child of a process with threads */
#endif
	forked_over(NET_TCP);
	forked_over(NET_SHM);
}

/* A process with a child that lives on: others hear of its death nevertheless. */
static void
parent_main(int out, const char *at, enum net_kind kind)
{
	struct net *n;
	struct net_worker *w;
	struct nam_err err;
	const struct net_config nc = config(at, kind);
	if (net_open(&n, &nc, &err) != NAM_OK || net_worker_open(n, &w, &err) != NAM_OK)
		_exit(2);
	uint64_t me = net_identity(n);
	pid_t pid = fork();
	if (pid == 0) {
		close(out);
		nap_ms(4000);
		_exit(0);
	}
	if (write(out, &me, sizeof me) != sizeof me)
		_exit(3);
	pause();
}

static void
child_lives_on(void **state)
{
	(void)state;
	const enum net_kind kind[] = { NET_TCP, NET_SHM };
	for (unsigned i = 0; i < 2; i++) {
		struct observer o = observe();
		struct child c = spawn("parent", kind[i]);
		assert_true(stays(&o, c.identity, NET_UNHEARD, 20));
		kill(c.pid, SIGKILL);
		assert_int_not_equal(until_heard(&o, c.identity, NET_DEAD, 2000), UINT64_MAX);
		reap(&c);
		/* And no connection of it is open at any node. */
		for (unsigned k = 0; k < NODES; k++) {
			struct net_news n = {
				.magic = NET_NEWS_MAGIC, .kind = NET_NEWS_WHO, .identity = c.identity
			};
			struct sn_server_counts now;
			for (unsigned ms = 0; ms < 1000; ms++, nap_ms(1)) {
				sn_server_counts(node[k].server, &now);
				if (now.peers <= 3)
					break;
			}
			assert_true(now.peers <= 3); /* the observer's: control, worker, life */
			(void)n;
		}
		leave(&o);
	}
}

/* ---- identities ------------------------------------------------------------------------------ */

/* A fresh identity that is fenced already, by chance, is replaced by another draw. */
static void
drawn_anew(void **state)
{
	(void)state;
	struct net *n;
	struct nam_err err = { 0 };
	const struct net_config nc = config(storage, NET_TCP);
	assert_int_not_equal(sn_fenced_add(sn_region_fenced(node[1].region), 555), 0);
	net_next_identity = 555;
	assert_int_equal(net_open(&n, &nc, &err), NAM_OK);
	assert_int_equal(net_next_identity, 0);
	assert_int_not_equal(net_identity(n), 555);
	net_close(n);
	net_next_identity = 556;
	assert_int_equal(net_open(&n, &nc, &err), NAM_OK);
	assert_int_equal(net_identity(n), 556);
	net_close(n);
}

/* A million of them, each found, none found that was not added, and quickly. */
static void
many_fenced(void **state)
{
	(void)state;
	enum { N = 1 << 20 };
	struct sn_fenced *s = sn_region_fenced(node[0].region);
	uint64_t from = nam_clock_ns();
	for (uint64_t i = 1; i <= N; i++)
		assert_int_equal(sn_fenced_add(s, i * 0x9e37 & 0xffffffffff), i);
	for (uint64_t i = 1; i <= N; i++)
		assert_int_equal(sn_fenced_find(s, i * 0x9e37 & 0xffffffffff), i);
	for (uint64_t i = 1; i <= N; i++)
		assert_int_equal(sn_fenced_find(s, i * 0x9e37 + 1), 0);
	assert_int_equal(sn_fenced_add(s, 0x9e37), 1);
	assert_int_equal(sn_fenced_count(s), N);
	assert_true(nam_clock_ns() - from < 90000 * MS); /* one after the other it would take
							  * hours */
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(left_needs_all, up, down),
		cmocka_unit_test_setup_teardown(back_in_time, up, down),
		cmocka_unit_test_setup_teardown(late_observer, up, down),
		cmocka_unit_test_setup_teardown(roused, up, down),
		cmocka_unit_test_setup_teardown(stuck_reader, up, down),
		cmocka_unit_test_setup_teardown(bad_news, up, down),
		cmocka_unit_test_setup_teardown(told_dead, up, down),
		cmocka_unit_test_setup_teardown(closed_is_not_dead, up, down),
		cmocka_unit_test_setup_teardown(broken_control, up, down),
		cmocka_unit_test_setup_teardown(asked_tcp, up, down),
		cmocka_unit_test_setup_teardown(asked_shm, up, down),
		cmocka_unit_test_setup_teardown(false_answers, up, down),
		cmocka_unit_test_setup_teardown(forked, up, down),
		cmocka_unit_test_setup_teardown(child_lives_on, up, down),
		cmocka_unit_test_setup_teardown(drawn_anew, up, down),
		cmocka_unit_test_setup_teardown(many_fenced, up, down),
	};
	nam_log_level_set(NAM_LOG_ERROR);
	if (argc == 5 && strcmp(argv[1], "parent") == 0)
		parent_main(atoi(argv[2]), argv[3], (enum net_kind)atoi(argv[4]));
	if (argc == 5)
		victim_main(argv[1], atoi(argv[2]), argv[3], (enum net_kind)atoi(argv[4]));
	if (argc == 2)
		cmocka_set_test_filter(argv[1]);
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	rmdir(test_run_dir());
	return failed;
}
