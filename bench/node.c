/* node.c -- a storage node as a process of its own, for as long as its parent lives: its CPU time
 * is known, and it does not die with a client. */
#include <bench/node.h>
#include <net/provider/rdma.h>
#include <net/secret.h>
#include <storage_node/sn.h>

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void
be_node(const struct bench_node *n, pid_t parent, int tell)
{
	struct sn_region *r;
	struct sn_server *s;
	struct nam_err err;
	char line[BENCH_NODE_ADDRESS] = "", host[48] = "127.0.0.1", listen[64];
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGINT, SIG_IGN);
	if (getppid() != parent)
		_exit(1);
	const struct sn_region_config rc = { .id = 1, .size = n->bytes, .cluster = n->cluster, .numa = -1 };
	const struct sn_serve_config vc = {
		.service = n->service, .services = n->services, .ring_bytes = 16 << 20
	};
	nam_status st = n->fabric == NET_VERBS ? net_rdma_address(NULL, host, &err) : NAM_OK;
	snprintf(listen, sizeof listen, strchr(host, ':') ? "[%s]:0" : "%s:0", host);
	const struct sn_server_config sc = { .listen = listen,
		.cluster = n->cluster,
		.secret = n->secret,
		.secret_len = NET_SECRET_LEN,
		.rdma = n->fabric == NET_VERBS ? NULL : "off" };
	if (st == NAM_OK)
		st = sn_region_open(&r, &rc, &err);
	if (st == NAM_OK && n->services > 0)
		st = sn_region_serve(r, &vc, &err);
	if (st == NAM_OK)
		st = sn_server_open(&s, r, &sc, &err);
	if (st == NAM_OK)
		snprintf(line, sizeof line, "%s", sn_server_address(s));
	else
		fprintf(stderr, "namdb bench: %s\n", err.text);
	if (write(tell, line, sizeof line) == (ssize_t)sizeof line && st == NAM_OK)
		sn_server_run(s, &err);
	_exit(st == NAM_OK ? 0 : 1);
}

nam_status
bench_node_start(
    const struct bench_node *n, pid_t *pid, char address[BENCH_NODE_ADDRESS], struct nam_err *err)
{
	int tell[2];
	pid_t self = getpid();
	*pid = 0;
	if (pipe(tell) != 0)
		return nam_fail(err, NAM_IO, "no pipe: %m");
	fflush(NULL);
	pid_t child = fork();
	if (child == 0) {
		close(tell[0]);
		be_node(n, self, tell[1]);
	}
	close(tell[1]);
	if (child < 0) {
		close(tell[0]);
		return nam_fail(err, NAM_IO, "no process for a storage node: %m");
	}
	*pid = child;
	ssize_t got = read(tell[0], address, BENCH_NODE_ADDRESS);
	close(tell[0]);
	if (got != BENCH_NODE_ADDRESS || address[0] == '\0')
		return nam_fail(err, NAM_IO, "the storage node did not start");
	return NAM_OK;
}

void
bench_node_stop(pid_t pid)
{
	if (pid != 0) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
}
