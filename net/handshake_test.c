/* handshake_test.c -- proofs, verdicts, and the messages a user gets when the other side is not as
 * it should be. */
#include <base/clock.h>
#include <base/log.h>
#include <net/handshake.h>
#include <net/net.h>
#include <net/remote.h>
#include <net/secret.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static const struct net_shake node_side = {
	.layout = 1, .cluster = 2, .secret = "abc", .secret_len = 3, .region = 4, .incarnation = 5, .size = 6
};

static void
verdicts(void **state)
{
	(void)state;
	const struct net_hello good = { .magic = NET_WIRE_MAGIC,
		.version = NET_WIRE_VERSION,
		.role = NET_ROLE_SHM,
		.layout = 1,
		.cluster = 2,
		.identity = 7 };
	struct net_welcome w, again;
	struct net_hello h = good;
	net_shake_welcome(&node_side, &h, &w);
	assert_int_equal(w.verdict, NET_YES);
	assert_int_equal(w.region, 4);
	net_shake_welcome(&node_side, &h, &again);
	assert_memory_not_equal(w.nonce, again.nonce, sizeof w.nonce);
	h.version++;
	net_shake_welcome(&node_side, &h, &w);
	assert_int_equal(w.verdict, NET_NO_VERSION);
	h = good;
	h.layout++;
	net_shake_welcome(&node_side, &h, &w);
	assert_int_equal(w.verdict, NET_NO_LAYOUT);
	h = good;
	h.cluster++;
	net_shake_welcome(&node_side, &h, &w);
	assert_int_equal(w.verdict, NET_NO_CLUSTER);
	for (h = good, h.role = 0; h.role < NET_ROLES + 2; h.role += h.role == 0 ? NET_ROLES : 1) {
		net_shake_welcome(&node_side, &h, &w);
		assert_int_equal(w.verdict, NET_NO_ROLE);
	}
	for (h = good, h.identity = 0; h.identity < UINT64_C(4) << NET_IDENTITY_BITS;
	     h.identity += UINT64_C(1) << NET_IDENTITY_BITS) {
		net_shake_welcome(&node_side, &h, &w);
		assert_int_equal(w.verdict, NET_NO_IDENTITY);
	}
}

static void
proofs(void **state)
{
	(void)state;
	struct net_hello h = { .magic = NET_WIRE_MAGIC,
		.version = NET_WIRE_VERSION,
		.role = NET_ROLE_SHM,
		.layout = 1,
		.cluster = 2 };
	struct net_welcome w;
	struct net_proof p;
	net_shake_welcome(&node_side, &h, &w);
	net_shake_prove(&node_side, &h, &w, &p);
	assert_true(net_shake_proven(&node_side, &h, &w, &p));
	/* any bit of the handshake, or of the proof */
	h.nonce[3] ^= 1;
	assert_false(net_shake_proven(&node_side, &h, &w, &p));
	h.nonce[3] ^= 1;
	h.identity ^= 1;
	assert_false(net_shake_proven(&node_side, &h, &w, &p));
	h.identity ^= 1;
	h.word ^= 1;
	assert_false(net_shake_proven(&node_side, &h, &w, &p));
	h.word ^= 1;
	h.role = NET_ROLE_WORKER;
	assert_false(net_shake_proven(&node_side, &h, &w, &p));
	h.role = NET_ROLE_SHM;
	w.nonce[0] ^= 1;
	assert_false(net_shake_proven(&node_side, &h, &w, &p));
	w.nonce[0] ^= 1;
	p.mac[31] ^= 1;
	assert_false(net_shake_proven(&node_side, &h, &w, &p));
	p.mac[31] ^= 1;
	assert_true(net_shake_proven(&node_side, &h, &w, &p));
	struct net_shake other = node_side;
	other.secret = "abd";
	assert_false(net_shake_proven(&other, &h, &w, &p));
	other.secret_len = 0;
	other.secret = NULL;
	assert_false(net_shake_proven(&other, &h, &w, &p));
	/* the node's own proof sent back is not a peer's */
	struct net_grant g = { .verdict = NET_YES };
	net_shake_seal(&node_side, &h, &w, &g);
	memcpy(p.mac, g.mac, sizeof p.mac);
	assert_false(net_shake_proven(&node_side, &h, &w, &p));
	/* it covers every bit of the grant, and of the handshake before it */
	struct net_grant again = g;
	again.shm[5] ^= 1;
	net_shake_seal(&node_side, &h, &w, &again);
	assert_memory_not_equal(again.mac, g.mac, sizeof g.mac);
	again = g;
	again.verdict = NET_NO_MORE;
	net_shake_seal(&node_side, &h, &w, &again);
	assert_memory_not_equal(again.mac, g.mac, sizeof g.mac);
	h.nonce[0] ^= 1;
	again = g;
	net_shake_seal(&node_side, &h, &w, &again);
	assert_memory_not_equal(again.mac, g.mac, sizeof g.mac);
}

/* ---- other listeners ---------------------------------------------------------- */

struct stranger {
	int listener;
	const char *says; /* NULL = nothing */
	size_t len;
	const char *more; /* sent after the proof; NULL = nothing */
	size_t more_len;
	bool silent; /* only then is the wait short: an answer may take as long as a busy machine
		      * needs */
	bool hangs_up;
};

static void *
stranger_main(void *arg)
{
	struct stranger *s = arg;
	char sink[64];
	int fd = accept(s->listener, NULL, NULL);
	if (recv(fd, sink, sizeof sink, MSG_WAITALL) == sizeof sink && s->says != NULL)
		send(fd, s->says, s->len, MSG_NOSIGNAL);
	if (s->more != NULL && recv(fd, sink, sizeof(struct net_proof), MSG_WAITALL) > 0)
		send(fd, s->more, s->more_len, MSG_NOSIGNAL);
	if (!s->hangs_up)
		while (recv(fd, sink, sizeof sink, 0) > 0)
			;
	close(fd);
	return NULL;
}

static nam_status
meet(struct stranger *s, char *said)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof at;
	char address[64];
	s->listener = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(bind(s->listener, (struct sockaddr *)&at, sizeof at), 0);
	assert_int_equal(listen(s->listener, 1), 0);
	getsockname(s->listener, (struct sockaddr *)&at, &len);
	snprintf(address, sizeof address, "127.0.0.1:%u", ntohs(at.sin_port));
	pthread_t t;
	assert_int_equal(pthread_create(&t, NULL, stranger_main, s), 0);
	struct net *net;
	struct nam_err err = { 0 };
	struct net_config nc = { .storage = address, .connect_ms = s->silent ? 150 : 5000 };
	nam_status st = net_open(&net, &nc, &err);
	strcpy(said, err.text);
	assert_non_null(strstr(said, address)); /* which node */
	pthread_join(t, NULL);
	close(s->listener);
	return st;
}

static void
strangers(void **state)
{
	(void)state;
	char said[512];
	struct stranger http = { .says = "HTTP/1.1 400 Bad Request\r\n\r\n", .len = 28, .hangs_up = true };
	assert_int_equal(meet(&http, said), NAM_REFUSED);
	assert_non_null(strstr(said, "is not a namdb storage node"));
	struct stranger silent = { .silent = true };
	assert_int_equal(meet(&silent, said), NAM_GONE);
	assert_non_null(strstr(said, "does not answer in time"));
	struct stranger rude = { .hangs_up = true };
	assert_int_equal(meet(&rude, said), NAM_REFUSED);
	assert_non_null(strstr(said, "closed the connection"));
	/* a future version: only 16 bytes can be understood (W1) */
	struct {
		uint64_t magic;
		uint32_t version, verdict;
	} future = { NET_WIRE_MAGIC, NET_WIRE_VERSION + 1, NET_NO_VERSION };
	struct stranger newer = { .says = (char *)&future, .len = sizeof future, .hangs_up = true };
	assert_int_equal(meet(&newer, said), NAM_REFUSED);
	assert_non_null(strstr(said, "another version"));
	/* a listener that says yes to everything and knows no secret */
	struct net_welcome fake = {
		.magic = NET_WIRE_MAGIC, .version = NET_WIRE_VERSION, .region = 1, .size = 1 << 20
	};
	const struct net_grant yes = { .verdict = NET_YES }, shut = { .verdict = NET_NO_MORE };
	struct stranger liar = {
		.says = (char *)&fake, .len = sizeof fake, .more = (const char *)&yes, .more_len = sizeof yes
	};
	assert_int_equal(meet(&liar, said), NAM_REFUSED);
	assert_non_null(strstr(said, "another secret"));
	/* its verdict that this process is fenced is not believed */
	liar.more = (const char *)&shut;
	assert_int_equal(meet(&liar, said), NAM_REFUSED);
	assert_non_null(strstr(said, "another secret"));
	/* a node of version 4 reports so in its first 16 bytes; and so does ours to its peers, see
	 * server_test */
	future.version = 4;
	assert_int_equal(meet(&newer, said), NAM_REFUSED);
	assert_non_null(strstr(said, "another version"));
}

static void
addresses(void **state)
{
	(void)state;
	char host[16], port[8];
	struct nam_err err;
	const char *const bad[] = { "", ":", "h", "h:", ":1", "h:x", "h:1x", "h:65536", "h:-1", "h: 1",
		"[::1:5", "[]:5", "[::1]x:5", "averyveryverylonghostname:1", "h:000000000001" };
	for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_int_equal(
		    net_split_address(bad[i], host, sizeof host, port, sizeof port, &err), NAM_INVALID);
	assert_int_equal(
	    net_split_address("10.0.0.1:7411", host, sizeof host, port, sizeof port, &err), NAM_OK);
	assert_string_equal(host, "10.0.0.1");
	assert_string_equal(port, "7411");
	assert_int_equal(net_split_address("[::1]:0", host, sizeof host, port, sizeof port, &err), NAM_OK);
	assert_string_equal(host, "::1");
	struct net *net;
	struct net_config nc = { .storage = " , " };
	assert_int_equal(net_open(&net, &nc, &err), NAM_INVALID);
	nc.fabric = NET_SIM;
	assert_int_equal(net_open(&net, &nc, &err), NAM_INVALID);
}

/* ---- the secret ------------------------------------------------------------------ */

static void
put_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");
	fputs(text, f);
	fclose(f);
	chmod(path, 0600);
}

static void
secrets(void **state)
{
	(void)state;
	char dir[] = "/tmp/namdb-secret-XXXXXX", path[64], own[64];
	uint8_t a[NET_SECRET_LEN], b[NET_SECRET_LEN];
	size_t len = 0;
	struct nam_err err;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof path, "%s/s", dir);
	snprintf(own, sizeof own, "%s/.namdb/secret", dir);
	unsetenv("NAMDB_SECRET_FILE");
	setenv("HOME", dir, 1);

	assert_int_equal(net_secret_load(path, a, &len, &err), NAM_INVALID);
	assert_non_null(strstr(err.text, "there is no secret file"));
	put_file(path, " \n");
	assert_int_equal(net_secret_load(path, a, &len, &err), NAM_INVALID);
	assert_int_equal(net_secret_load(dir, a, &len, &err), NAM_INVALID);
	/* fewer than 128 bits, however they are written */
	const char *const weak[] = { "one", "fifteen letters", "0123456789abcdef0123456789ABCDE",
		"fifteen letters         \n\n" };
	for (unsigned i = 0; i < sizeof weak / sizeof *weak; i++) {
		put_file(path, weak[i]);
		assert_int_equal(net_secret_load(path, a, &len, &err), NAM_INVALID);
		assert_non_null(strstr(err.text, "too short"));
		assert_non_null(strstr(err.text, "/dev/urandom"));
	}
	put_file(path, "0123456789abcdef0123456789ABCDEF");
	assert_int_equal(net_secret_load(path, a, &len, &err), NAM_OK);
	put_file(path, "one secret, long");
	/* a secret that other users may read or change is refused; the message says what to do */
	const mode_t open_to[] = { 0640, 0604, 0644, 0620, 0602 };
	for (unsigned i = 0; i < sizeof open_to / sizeof *open_to; i++) {
		chmod(path, open_to[i]);
		assert_int_equal(net_secret_load(path, a, &len, &err), NAM_INVALID);
		assert_non_null(strstr(err.text, "chmod 600 "));
	}
	chmod(path, 0400);
	assert_int_equal(net_secret_load(path, a, &len, &err), NAM_OK);
	assert_int_equal(len, NET_SECRET_LEN);
	chmod(path, 0600);
	put_file(path, "one secret, long\r\n");
	assert_int_equal(net_secret_load(path, b, &len, &err), NAM_OK);
	assert_memory_equal(a, b, sizeof a);
	put_file(path, "two secrets, long");
	setenv("NAMDB_SECRET_FILE", path, 1);
	assert_int_equal(net_secret_load(NULL, b, &len, &err), NAM_OK);
	assert_memory_not_equal(a, b, sizeof a);
	unsetenv("NAMDB_SECRET_FILE");
	/* made on first use, the same ever after, readable by its owner only */
	assert_int_equal(net_secret_load(NULL, a, &len, &err), NAM_OK);
	assert_int_equal(net_secret_load(NULL, b, &len, &err), NAM_OK);
	assert_memory_equal(a, b, sizeof a);
	struct stat sb;
	assert_int_equal(stat(own, &sb), 0);
	assert_int_equal(sb.st_mode & 0777, 0600);
	unlink(own);
	unlink(path);
	snprintf(own, sizeof own, "%s/.namdb", dir);
	assert_int_equal(rmdir(own), 0); /* no other file was left there */
	assert_int_equal(rmdir(dir), 0);
}

int
main(void)
{
	nam_log_level_set(NAM_LOG_ERROR);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(verdicts),
		cmocka_unit_test(proofs),
		cmocka_unit_test(strangers),
		cmocka_unit_test(addresses),
		cmocka_unit_test(secrets),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
