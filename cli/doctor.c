/*
 * doctor.c -- `namdb doctor`: can this machine serve and use namdb, also over RDMA, and if not,
 * what fixes it?
 *
 * Looks at devices and limits, then tries: a small storage node of its own on each
 * address with a device, and a queue pair to it, whose first acts are a READ and a
 * compare-and-swap with a known answer (net/provider/verbs.c: self_test). At last it measures the
 * constants that plans go by.
 */
#include "doctor.h"

#include <base/rng.h>
#include <base/status.h>
#include <net/net.h>
#include <net/provider/rdma.h>
#include <storage_node/sn.h>

#include <errno.h>
#include <getopt.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static const char usage[] =
    "usage: namdb doctor [--storage LIST] [options]\n"
    "Checks this machine's RDMA devices and limits, tries each device, and prints how to mend what is "
    "wrong.\n"
    "Then it measures what plans go by: the costs of this processor and, if the storage nodes answer, of\n"
    "the network.\n"
    "\n"
    "  --storage LIST      storage nodes, comma-separated (default $NAMDB_STORAGE, else 127.0.0.1:7411)\n"
    "  --secret-file F     shared secret (default $NAMDB_SECRET_FILE, else ~/.namdb/secret)\n"
    "  --json              print one JSON object\n"
    "  --help              this text\n"
    "\n"
    "Exit code 0: no problem was found (a machine without RDMA devices has none: shm and tcp need no\n"
    "device; storage nodes that do not answer are one if --storage names them); 1: a problem was found; 2: "
    "bad\n"
    "usage.\n";

enum { LINES = 64, GIDS = 16 };

/* What was found wrong, or worth knowing, and the command for it. */
struct finding {
	bool problem;
	char what[200], fix[200];
};
static struct finding finding[LINES];
static unsigned findings;

static void __attribute__((format(printf, 3, 4))) say(bool problem, const char *fix, const char *fmt, ...)
{
	if (findings == LINES)
		return;
	struct finding *f = &finding[findings++];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(f->what, sizeof f->what, fmt, ap);
	va_end(ap);
	snprintf(f->fix, sizeof f->fix, "%s", fix);
	f->problem = problem;
}

struct port {
	unsigned number;
	const char *state, *link;
	unsigned mtu, mtu_max;
	char netdev[32];
	unsigned gids;
	struct {
		unsigned index;
		char text[48], type[8];
	} gid[GIDS];
};

struct device {
	char name[64], transport[8], atomics[8], firmware[64];
	unsigned rd_out, rd_in, wr_max, inline_max, ports;
	bool imm;
	struct port port[4];
};

static struct device device[16];
static unsigned devices;

/* What an address of ours with a device answered when it was tried. */
static struct trial {
	char address[48];
	bool good;
	char said[256];
} trial[8];
static unsigned trials;

/* ---- devices --------------------------------------------------------------------- */

static unsigned
inline_max(struct ibv_context *ctx)
{
	struct ibv_pd *pd = ibv_alloc_pd(ctx);
	struct ibv_cq *cq = ibv_create_cq(ctx, 4, NULL, NULL, 0);
	unsigned best = 0;
	for (unsigned want = 1024; pd != NULL && cq != NULL && want >= 16 && best == 0; want -= 16) {
		struct ibv_qp_init_attr a = { .send_cq = cq,
			.recv_cq = cq,
			.qp_type = IBV_QPT_RC,
			.cap = { .max_send_wr = 4,
			    .max_recv_wr = 1,
			    .max_send_sge = 1,
			    .max_recv_sge = 1,
			    .max_inline_data = want } };
		struct ibv_qp *qp = ibv_create_qp(pd, &a);
		if (qp == NULL)
			continue;
		best = a.cap.max_inline_data;
		ibv_destroy_qp(qp);
	}
	if (cq != NULL)
		ibv_destroy_cq(cq);
	if (pd != NULL)
		ibv_dealloc_pd(pd);
	return best;
}

static void
read_line(const char *path, char *out, size_t room)
{
	FILE *f = fopen(path, "r");
	out[0] = '\0';
	if (f == NULL)
		return;
	if (fgets(out, (int)room, f) != NULL)
		out[strcspn(out, "\n")] = '\0';
	fclose(f);
}

static void
look_at_gids(struct ibv_context *ctx, const struct device *d, struct port *p)
{
	struct ibv_gid_entry entry[64];
	ssize_t n = ibv_query_gid_table(ctx, entry, 64, 0);
	for (ssize_t i = 0; i < n && p->gids < GIDS; i++) {
		if (entry[i].port_num != p->number)
			continue;
		const uint8_t *g = entry[i].gid.raw;
		static const uint8_t v4[12] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff };
		char *text = p->gid[p->gids].text;
		if (memcmp(g, v4, sizeof v4) == 0)
			snprintf(text, 48, "%u.%u.%u.%u", g[12], g[13], g[14], g[15]);
		else
			snprintf(text, 48,
			    "%02x%02x:%02x%02x:%02x%02x:%02x%02x:%02x%02x:%02x%02x:%02x%02x:%02x%02x", g[0],
			    g[1], g[2], g[3], g[4], g[5], g[6], g[7], g[8], g[9], g[10], g[11], g[12], g[13],
			    g[14], g[15]);
		p->gid[p->gids].index = entry[i].gid_index;
		snprintf(p->gid[p->gids].type, sizeof p->gid->type, "%s",
		    entry[i].gid_type == IBV_GID_TYPE_ROCE_V2   ? "RoCEv2"
		    : entry[i].gid_type == IBV_GID_TYPE_ROCE_V1 ? "RoCEv1"
								: "IB");
		p->gids++;
	}
	char path[160];
	snprintf(
	    path, sizeof path, "/sys/class/infiniband/%s/ports/%u/gid_attrs/ndevs/0", d->name, p->number);
	read_line(path, p->netdev, sizeof p->netdev);
}

static void
look_at_port(struct ibv_context *ctx, const struct device *d, struct port *p)
{
	struct ibv_port_attr a;
	if (ibv_query_port(ctx, (uint8_t)p->number, &a) != 0) {
		say(true, "look at dmesg", "%s port %u does not answer", d->name, p->number);
		return;
	}
	p->state = ibv_port_state_str(a.state);
	p->link = a.link_layer == IBV_LINK_LAYER_ETHERNET ? "Ethernet" : "InfiniBand";
	p->mtu = 128u << a.active_mtu;
	p->mtu_max = 128u << a.max_mtu;
	look_at_gids(ctx, d, p);
	char fix[160];
	const char *netdev = p->netdev[0] != '\0' ? p->netdev : "INTERFACE";
	if (a.state != IBV_PORT_ACTIVE) {
		snprintf(fix, sizeof fix, "ip link set %s up", netdev);
		say(true, fix, "%s port %u is not active (%s)", d->name, p->number, p->state);
	} else if (p->mtu < 4096 && strcmp(d->transport, "iWARP") != 0) {
		snprintf(fix, sizeof fix, "ip link set %s mtu 9000, on both ends and the switch", netdev);
		say(false, fix, "%s port %u sends %u bytes at a time; 4096 carries long READs faster",
		    d->name, p->number, p->mtu);
	}
	bool v4 = false;
	for (unsigned i = 0; i < p->gids; i++)
		v4 |= strchr(p->gid[i].text, '.') != NULL;
	if (a.state == IBV_PORT_ACTIVE && a.link_layer == IBV_LINK_LAYER_ETHERNET && p->gids == 0) {
		snprintf(fix, sizeof fix, "ip addr add ADDRESS/BITS dev %s", netdev);
		say(true, fix, "%s port %u has no GID: its interface has no address", d->name, p->number);
	} else if (a.state == IBV_PORT_ACTIVE && a.link_layer == IBV_LINK_LAYER_ETHERNET && !v4) {
		snprintf(fix, sizeof fix, "ip addr add ADDRESS/BITS dev %s", netdev);
		say(false, fix, "%s port %u has no IPv4 address", d->name, p->number);
	}
}

static void
look_at_devices(void)
{
	int n = 0;
	struct ibv_device **list = ibv_get_device_list(&n);
	for (int i = 0; list != NULL && i < n && devices < sizeof device / sizeof *device; i++) {
		struct device *d = &device[devices++];
		snprintf(d->name, sizeof d->name, "%s", ibv_get_device_name(list[i]));
		struct ibv_context *ctx = ibv_open_device(list[i]);
		struct ibv_device_attr a;
		struct net_rdma_caps caps;
		if (ctx == NULL || ibv_query_device(ctx, &a) != 0 || !net_rdma_caps(ctx, &caps)) {
			say(true, "chmod 666 /dev/infiniband/uverbs* (or a udev rule), then look at dmesg",
			    "%s cannot be opened: %s", d->name, strerror(errno));
			if (ctx != NULL)
				ibv_close_device(ctx);
			continue;
		}
		snprintf(d->transport, sizeof d->transport, "%s", caps.early_writes ? "iWARP" : "IB");
		snprintf(d->firmware, sizeof d->firmware, "%.63s", a.fw_ver);
		snprintf(d->atomics, sizeof d->atomics, "%s",
		    a.atomic_cap == IBV_ATOMIC_NONE  ? "none"
		    : a.atomic_cap == IBV_ATOMIC_HCA ? "HCA"
						     : "global");
		d->rd_out = caps.rd_out;
		d->rd_in = caps.rd_in;
		d->wr_max = caps.wr_max;
		d->imm = caps.imm;
		d->inline_max = inline_max(ctx);
		if (a.atomic_cap == IBV_ATOMIC_NONE)
			say(false, "nothing: it works, but slower",
			    "%s has no atomics: compute nodes send them as messages, and the CPU "
			    "of the storage node executes them",
			    d->name);
		if (caps.rd_in < 16)
			say(false, "nothing: it works, but slower",
			    "%s takes only %u READs or atomics at once from one queue pair", d->name,
			    caps.rd_in);
		for (unsigned p = 1; p <= a.phys_port_cnt && d->ports < 4; p++) {
			d->port[d->ports] = (struct port){ .number = p, .state = "?", .link = "?" };
			look_at_port(ctx, d, &d->port[d->ports++]);
		}
		ibv_close_device(ctx);
	}
	if (list != NULL)
		ibv_free_device_list(list);
	if (devices == 0)
		say(false,
		    "modprobe rdma_rxe && rdma link add rxe0 type rxe netdev INTERFACE (a software device, "
		    "slow)",
		    "no RDMA device: shared memory on one host and tcp between hosts will be used");
	if (devices > 0) {
		struct rdma_event_channel *ch = net_rdma_channel();
		if (ch == NULL)
			say(true, "modprobe rdma_ucm; chmod 666 /dev/infiniband/rdma_cm",
			    "the connection manager cannot be reached: %s", strerror(errno));
		else
			rdma_destroy_event_channel(ch);
	}
}

/* ---- limits ------------------------------------------------------------------------ */

static long
meminfo(const char *key)
{
	char line[128];
	long value = -1;
	FILE *f = fopen("/proc/meminfo", "r");
	while (f != NULL && value < 0 && fgets(line, sizeof line, f) != NULL)
		if (strncmp(line, key, strlen(key)) == 0 && line[strlen(key)] == ':')
			value = strtol(line + strlen(key) + 1, NULL, 10);
	if (f != NULL)
		fclose(f);
	return value;
}

static struct rlimit memlock, files;
static long huge_total, huge_free;

static void
look_at_limits(void)
{
	getrlimit(RLIMIT_MEMLOCK, &memlock);
	getrlimit(RLIMIT_NOFILE, &files);
	huge_total = meminfo("HugePages_Total");
	huge_free = meminfo("HugePages_Free");
	if (devices > 0 && memlock.rlim_cur != RLIM_INFINITY && memlock.rlim_cur < (UINT64_C(1) << 30))
		say(geteuid() != 0,
		    "ulimit -l unlimited; for good: '* - memlock unlimited' in "
		    "/etc/security/limits.d/namdb.conf, or "
		    "LimitMEMLOCK=infinity in the unit",
		    "a process may lock only %llu KiB of memory; a storage node locks its whole region",
		    (unsigned long long)(memlock.rlim_cur >> 10));
	if (files.rlim_max != RLIM_INFINITY && files.rlim_max < 4096)
		say(false, "ulimit -n 65536",
		    "a process may open only %llu files; a storage node needs one for each connection",
		    (unsigned long long)files.rlim_max);
	if (huge_total <= 0)
		say(false, "sysctl vm.nr_hugepages=N, N times 2 MiB",
		    "no huge pages are reserved; storage nodes use small pages, and random READs are slower");
}

/* ---- trying ------------------------------------------------------------------------ */

static void *
serve(void *server)
{
	struct nam_err err;
	(void)sn_server_run(server, &err);
	return NULL;
}

/* A storage node of one MiB at that address, and a queue pair to it. */
static void
try_address(const char *address)
{
	struct trial *t = &trial[trials++];
	snprintf(t->address, sizeof t->address, "%s", address);
	uint8_t secret[32];
	nam_random_bytes(secret, sizeof secret);
	char listen[64];
	snprintf(listen, sizeof listen, strchr(address, ':') != NULL ? "[%s]:0" : "%s:0", address);
	struct sn_region *region = NULL;
	struct sn_server *server = NULL;
	struct net *net = NULL;
	struct net_worker *w = NULL;
	struct nam_err err = { 0 };
	pthread_t thread;
	const struct sn_region_config rc = { .id = 1, .size = 1 << 20, .huge = SN_HUGE_OFF, .numa = -1 };
	const struct sn_server_config sc = { .listen = listen,
		.secret = secret,
		.secret_len = sizeof secret,
		.no_shm = true,
		.rdma = address };
	nam_status st = sn_region_open(&region, &rc, &err);
	if (st == NAM_OK)
		st = sn_server_open(&server, region, &sc, &err);
	bool running = st == NAM_OK && pthread_create(&thread, NULL, serve, server) == 0;
	char words[160] = "";
	if (running) {
		sn_server_rdma(server, words);
		const struct net_config nc = { .storage = sn_server_address(server),
			.fabric = NET_VERBS,
			.secret = secret,
			.secret_len = sizeof secret };
		if ((st = net_open(&net, &nc, &err)) == NAM_OK)
			st = net_worker_open(net, &w, &err);
		if (w != NULL)
			net_worker_close(w);
		if (net != NULL)
			net_close(net);
		sn_server_stop(server);
		pthread_join(thread, NULL);
	}
	if (server != NULL)
		sn_server_close(server);
	if (region != NULL)
		sn_region_close(region);
	explicit_bzero(secret, sizeof secret);
	t->good = running && st == NAM_OK;
	snprintf(t->said, sizeof t->said, "%.255s", t->good ? words : err.text);
	if (!t->good)
		say(true, "see the message; then dmesg, the firewall (RoCEv2: UDP port 4791), rping",
		    "%s: %.150s", address, err.text);
}

static void
try_addresses(void)
{
	for (unsigned d = 0; d < devices; d++)
		for (unsigned p = 0; p < device[d].ports; p++)
			for (unsigned g = 0; g < device[d].port[p].gids && trials < 8; g++) {
				const char *text = device[d].port[p].gid[g].text;
				char found[48];
				struct nam_err err;
				bool seen = strncmp(text, "fe80", 4) == 0;
				for (unsigned i = 0; i < trials; i++)
					seen |= strcmp(trial[i].address, text) == 0;
				if (!seen && strchr(text, '.') != NULL &&
				    net_rdma_address(text, found, &err) == NAM_OK)
					try_address(found);
			}
	/* iWARP's GIDs are no addresses: ask for any. */
	char any[48];
	struct nam_err err;
	if (devices > 0 && trials == 0) {
		if (net_rdma_address(NULL, any, &err) == NAM_OK)
			try_address(any);
		else
			say(true, "ip addr add ADDRESS/BITS dev INTERFACE", "%s", err.text);
	}
}

/* ---- telling ------------------------------------------------------------------------ */

static void
member(const char *name, const char *value, const char *end)
{
	printf("\"%s\": ", name);
	cli_json_text(value);
	fputs(end, stdout);
}

static void
print_json(unsigned problems)
{
	printf("{\"ok\": %s, \"devices\": [", problems == 0 ? "true" : "false");
	for (unsigned i = 0; i < devices; i++) {
		const struct device *d = &device[i];
		printf("%s{", i > 0 ? ", " : "");
		member("name", d->name, ", ");
		member("transport", d->transport, ", ");
		member("firmware", d->firmware, ", ");
		member("atomic_cap", d->atomics, ", ");
		printf("\"write_with_imm\": %s, \"max_rd_atomic\": %u, \"max_init_rd_atomic\": %u, "
		       "\"max_wr\": %u, "
		       "\"inline_bytes\": %u, \"ports\": [",
		    d->imm ? "true" : "false", d->rd_in, d->rd_out, d->wr_max, d->inline_max);
		for (unsigned j = 0; j < d->ports; j++) {
			const struct port *p = &d->port[j];
			printf("%s{\"port\": %u, ", j > 0 ? ", " : "", p->number);
			member("state", p->state, ", ");
			member("link", p->link, ", ");
			member("interface", p->netdev, ", ");
			printf("\"mtu_bytes\": %u, \"mtu_max_bytes\": %u, \"gids\": [", p->mtu, p->mtu_max);
			for (unsigned g = 0; g < p->gids; g++) {
				printf("%s{\"index\": %u, ", g > 0 ? ", " : "", p->gid[g].index);
				member("gid", p->gid[g].text, ", ");
				member("type", p->gid[g].type, "}");
			}
			fputs("]}", stdout);
		}
		fputs("]}", stdout);
	}
	fputs("], \"tried\": [", stdout);
	for (unsigned i = 0; i < trials; i++) {
		fputs(i > 0 ? ", {" : "{", stdout);
		member("address", trial[i].address, ", ");
		printf("\"ok\": %s, ", trial[i].good ? "true" : "false");
		member("said", trial[i].said, "}");
	}
	printf("], \"memlock_kib\": %lld, \"huge_pages_total\": %ld, \"huge_pages_free\": %ld, \"costs\": ",
	    memlock.rlim_cur == RLIM_INFINITY ? -1LL : (long long)(memlock.rlim_cur >> 10), huge_total,
	    huge_free);
	doctor_costs_json();
	fputs(", \"findings\": [", stdout);
	for (unsigned i = 0; i < findings; i++) {
		printf("%s{\"problem\": %s, ", i > 0 ? ", " : "", finding[i].problem ? "true" : "false");
		member("what", finding[i].what, ", ");
		member("fix", finding[i].fix, "}");
	}
	puts("]}");
}

static void
print_text(unsigned problems)
{
	for (unsigned i = 0; i < devices; i++) {
		const struct device *d = &device[i];
		printf("device %s: %s, firmware %s\n"
		       "  atomics %s, WRITE_WITH_IMM %s, inline %u bytes, %u work requests\n"
		       "  READs and atomics at once on a queue pair: %u out, %u in\n",
		    d->name, d->transport, d->firmware[0] != '\0' ? d->firmware : "unknown", d->atomics,
		    d->imm ? "yes" : "no", d->inline_max, d->wr_max, d->rd_out, d->rd_in);
		for (unsigned j = 0; j < d->ports; j++) {
			const struct port *p = &d->port[j];
			printf("  port %u: %s, %s, interface %s, MTU %u of %u\n", p->number, p->state,
			    p->link, p->netdev[0] != '\0' ? p->netdev : "unknown", p->mtu, p->mtu_max);
			for (unsigned g = 0; g < p->gids; g++)
				printf(
				    "    GID %u: %s (%s)\n", p->gid[g].index, p->gid[g].text, p->gid[g].type);
		}
	}
	for (unsigned i = 0; i < trials; i++)
		printf("tried %s: %s%s\n", trial[i].address, trial[i].good ? "works: " : "", trial[i].said);
	if (memlock.rlim_cur == RLIM_INFINITY)
		puts("locked memory: no limit");
	else
		printf("locked memory: %llu KiB\n", (unsigned long long)(memlock.rlim_cur >> 10));
	printf("huge pages of 2 MiB: %ld, %ld free\n", huge_total, huge_free);
	doctor_costs_text();
	for (unsigned i = 0; i < findings; i++)
		printf("%s: %s\n  mend: %s\n", finding[i].problem ? "problem" : "note", finding[i].what,
		    finding[i].fix);
	if (problems == 0)
		puts("nothing is wrong");
	else
		printf("%u problem%s\n", problems, problems == 1 ? "" : "s");
}

int
cli_doctor(int argc, char **argv)
{
	static const struct option known[] = { { "json", no_argument, NULL, 'j' },
		{ "storage", required_argument, NULL, 's' }, { "secret-file", required_argument, NULL, 'p' },
		{ "help", no_argument, NULL, 'h' }, { 0 } };
	const char *storage = NULL, *secret_file = NULL;
	bool json = false;
	optind = 0; /* GNU: start over */
	opterr = 0;
	for (int o; (o = getopt_long(argc, argv, ":", known, NULL)) != -1;) {
		switch (o) {
		case 'h':
			fputs(usage, stdout);
			return 0;
		case 'j':
			json = true;
			break;
		case 's':
			storage = optarg;
			break;
		case 'p':
			secret_file = optarg;
			break;
		default:
			fprintf(
			    stderr, "namdb doctor: %s; see namdb doctor --help\n", cli_bad_option(o, argv));
			return 2;
		}
	}
	if (optind < argc) {
		fprintf(stderr, "namdb doctor: it takes options only; see namdb doctor --help\n");
		return 2;
	}
	look_at_devices();
	look_at_limits();
	try_addresses();
	if (!doctor_costs_measure(storage ? storage : cli_storage_list(), secret_file) && storage != NULL)
		say(true, "namdb storage --help; then namdb status --storage LIST", "%.190s",
		    doctor_costs_said());
	unsigned problems = 0;
	for (unsigned i = 0; i < findings; i++)
		problems += finding[i].problem;
	if (json)
		print_json(problems);
	else
		print_text(problems);
	return problems == 0 ? 0 : 1;
}
