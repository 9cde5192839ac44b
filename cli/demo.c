/* demo.c -- `namdb demo`: storage nodes as child processes, sample data, and the shell on them. */
#include "cli.h"
#include "demo.h"
#include "shell.h"

#include <base/number.h>
#include <base/rng.h>
#include <net/secret.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char usage[] =
    "usage: namdb demo [options]\n"
    "Starts a small cluster on this machine, loads sample data, and opens the SQL shell on it.\n"
    "The data lives only as long as this command, unless --data says where it is kept.\n"
    "\n"
    "  --data DIR          keep the database in this directory; the next demo with it goes on there\n"
    "  --empty             no sample data\n"
    "  --nodes N           storage nodes (default 3)\n"
    "  --size S            memory of each (default 256m)\n"
    "  --workers N         worker threads of the shell (default 1)\n"
    "  --fabric F          shm or tcp (default shm)\n" SHELL_USAGE;

enum { NODES_MAX = 16, START_MS = 20000, STOP_MS = 5000 };

struct demo {
	char dir[PATH_MAX]; /* secret, sockets, what the nodes say; ours alone */
	char secret_path[PATH_MAX + 16];
	unsigned nodes, workers;
	const char *data; /* directory of the database; NULL = none */
	pid_t pid[NODES_MAX];
	char storage[NODES_MAX * 32];
	char cluster[40];
};

static int
complain(int code, const char *what)
{
	fprintf(stderr, "namdb demo: %s\n", what);
	return code;
}

static void
nap(long ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000 };
	nanosleep(&t, NULL);
}

/* A private directory with a fresh secret. */
static bool
make_dir(struct demo *d)
{
	const char *tmp = getenv("TMPDIR");
	if (tmp == NULL || tmp[0] == 0)
		tmp = "/tmp";
	if ((size_t)snprintf(d->dir, sizeof d->dir, "%s/namdb-demo-XXXXXX", tmp) >= sizeof d->dir ||
	    mkdtemp(d->dir) == NULL) {
		fprintf(stderr, "namdb demo: cannot make a directory in %s: %s; set TMPDIR\n", tmp,
		    strerror(errno));
		d->dir[0] = 0;
		return false;
	}
	unsigned char dice[32];
	char hex[2 * sizeof dice + 2];
	nam_random_bytes(dice, sizeof dice);
	for (size_t i = 0; i < sizeof dice; i++)
		snprintf(hex + 2 * i, 3, "%02x", dice[i]);
	snprintf(d->secret_path, sizeof d->secret_path, "%s/secret", d->dir);
	int fd = open(d->secret_path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
	bool ok = fd >= 0 && write(fd, hex, 2 * sizeof dice) == (ssize_t)(2 * sizeof dice);
	if (fd >= 0)
		close(fd);
	explicit_bzero(dice, sizeof dice);
	explicit_bzero(hex, sizeof hex);
	if (!ok)
		fprintf(stderr, "namdb demo: cannot write %s: %s\n", d->secret_path, strerror(errno));
	return ok;
}

static void
remove_dir(struct demo *d)
{
	if (d->dir[0] == 0)
		return;
	DIR *dir = opendir(d->dir);
	for (struct dirent *e; dir != NULL && (e = readdir(dir)) != NULL;)
		if (e->d_name[0] != '.')
			unlinkat(dirfd(dir), e->d_name, 0);
	if (dir != NULL)
		closedir(dir);
	rmdir(d->dir);
}

/* The child: becomes a storage node. Only returns by ending. */
static _Noreturn void
become_storage(struct demo *d, unsigned id, const char *size, pid_t parent)
{
	char number[16], log[PATH_MAX + 32];
	sigset_t none;
	snprintf(number, sizeof number, "%u", id);
	snprintf(log, sizeof log, "%s/node-%u.log", d->dir, id);
	prctl(PR_SET_PDEATHSIG, SIGTERM); /* no parent, no node */
	if (getppid() != parent)
		_exit(1);
	setpgid(0, 0); /* ^C at the shell is not for it */
	signal(SIGPIPE, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	int null = open("/dev/null", O_RDWR), out = open(log, O_CREAT | O_WRONLY | O_APPEND, 0600);
	if (null < 0 || out < 0)
		_exit(1);
	dup2(null, 0);
	dup2(null, 1);
	dup2(out, 2);
	setenv("NAMDB_RUN", d->dir, 1);
	/* NULL: the end of the arguments. */
	const char *keeps = id == 1 && d->data != NULL ? "--data" : NULL;
	execl("/proc/self/exe", "namdb", "storage", "--id", number, "--size", size, "--listen", "127.0.0.1:0",
	    "--cluster", d->cluster, "--secret-file", d->secret_path, keeps, d->data, (char *)NULL);
	_exit(127);
}

/* Waits until node i has said where it listens; adds that to d->storage. */
static bool
await_node(struct demo *d, unsigned i)
{
	char log[PATH_MAX + 32], said[4096] = "";
	snprintf(log, sizeof log, "%s/node-%u.log", d->dir, i + 1);
	for (int waited = 0; waited < START_MS; waited += 5) {
		int status, fd = open(log, O_RDONLY | O_CLOEXEC);
		ssize_t n = fd >= 0 ? read(fd, said, sizeof said - 1) : 0;
		if (fd >= 0)
			close(fd);
		said[n > 0 ? n : 0] = 0;
		const char *at = strstr(said, " at 127.0.0.1:");
		if (at != NULL && strstr(at, "\nready\n") != NULL) {
			size_t have = strlen(d->storage);
			at += 4;
			snprintf(d->storage + have, sizeof d->storage - have, "%s%.*s", have ? "," : "",
			    (int)strcspn(at, " ,\n"), at);
			return true;
		}
		if (waitpid(d->pid[i], &status, WNOHANG) == d->pid[i]) {
			d->pid[i] = 0;
			break;
		}
		nap(5);
	}
	size_t n = strcspn(said, "\n");
	fprintf(stderr, "namdb demo: storage node %u did not start: %.*s\n", i + 1, (int)n,
	    n ? said : "it said nothing");
	return false;
}

static bool
start_nodes(struct demo *d, unsigned nodes, const char *size)
{
	pid_t self = getpid();
	snprintf(d->cluster, sizeof d->cluster, "demo-%ld", (long)self);
	fflush(NULL);
	for (; d->nodes < nodes; d->nodes++) {
		pid_t pid = fork();
		if (pid == 0)
			become_storage(d, d->nodes + 1, size, self);
		if (pid < 0) {
			fprintf(stderr, "namdb demo: cannot start a process: %s\n", strerror(errno));
			return false;
		}
		d->pid[d->nodes] = pid;
	}
	for (unsigned i = 0; i < nodes; i++)
		if (!await_node(d, i))
			return false;
	return true;
}

static void
stop_nodes(struct demo *d)
{
	for (unsigned i = 0; i < d->nodes; i++)
		if (d->pid[i] > 0)
			kill(d->pid[i], SIGTERM);
	unsigned left = d->nodes;
	for (int waited = 0; left > 0; waited += 5) {
		left = 0;
		for (unsigned i = 0; i < d->nodes; i++) {
			if (d->pid[i] <= 0)
				continue;
			if (waitpid(d->pid[i], NULL, WNOHANG) != 0) {
				d->pid[i] = 0;
				continue;
			}
			left++;
			if (waited >= STOP_MS)
				kill(d->pid[i], SIGKILL);
		}
		if (left > 0)
			nap(5);
	}
}

static int
run(struct demo *d, const struct shell_args *args, enum net_kind fabric, bool empty)
{
	struct shell_args mine = *args;
	struct nam_err err;
	struct cn *cn;
	struct cn_config cfg = {
		.storage = d->storage,
		.fabric = fabric,
		.cluster = d->cluster,
		.workers = d->workers,
		.measure = true,
		.statement_max = args->opt.statement_max,
	};
	uint8_t secret[NET_SECRET_LEN];
	if (net_secret_load(d->secret_path, secret, &cfg.secret_len, &err) != NAM_OK)
		return complain(1, err.text);
	cfg.secret = secret;
	nam_status st = cn_open(&cn, &cfg, &err);
	explicit_bzero(secret, sizeof secret);
	if (st != NAM_OK)
		return complain(1, err.text);
	shell_signals_open();
	char *about =
	    shell_about(cn, NULL, d->storage, d->cluster, d->secret_path, fabric == NET_TCP ? "tcp" : NULL);
	mine.opt.about = about;
	int code = 1;
	/* A database that was kept is there already. */
	empty = empty || (d->data != NULL && demo_has_tables(cn));
	if (!empty && !demo_load(cn, args->opt.quiet))
		cn_close(cn);
	else
		code = shell_run(cn, &mine,
		    empty ? "namdb " NAMDB_VERSION "; \\? for help.\n\n"
			  : "namdb " NAMDB_VERSION "; \\? for help. Try:\n"
			    "  \\d\n"
			    "  SELECT city, count(*) FROM customers GROUP BY city ORDER BY 2 DESC;\n"
			    "  \\conninfo, for the command that opens a second shell\n\n");
	free(about);
	return code;
}

int
cli_demo(int argc, char **argv)
{
	static const struct option known[] = {
		SHELL_LONG,
		{ "data", required_argument, NULL, 'D' },
		{ "empty", no_argument, NULL, 'e' },
		{ "nodes", required_argument, NULL, 'n' },
		{ "size", required_argument, NULL, 's' },
		{ "workers", required_argument, NULL, 'w' },
		{ "fabric", required_argument, NULL, 'k' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	static struct shell_args args;
	static struct demo demo = { .workers = 1 };
	enum net_kind fabric = NET_SHM;
	const char *size = "256m", *bad;
	unsigned nodes = 3;
	bool empty = false;
	uint64_t n;
	char line[200];
	optind = 0;
	opterr = 0;
	for (int o; (o = getopt_long(argc, argv, ":" SHELL_SHORT, known, NULL)) != -1;) {
		if (shell_option(&args, o, optarg, &bad)) {
			if (bad != NULL)
				return complain(2, bad);
			continue;
		}
		switch (o) {
		case 'D':
			demo.data = optarg;
			break;
		case 'e':
			empty = true;
			break;
		case 'n':
			if (!nam_number(optarg, 1, NODES_MAX, &n))
				return complain(2, "--nodes is a number from 1 to 16");
			nodes = (unsigned)n;
			break;
		case 's':
			if (!nam_size(optarg, 16 << 20, UINT64_C(1) << 47, &n))
				return complain(2, "--size is a size of at least 16m, such as 256m or 1g");
			size = optarg;
			break;
		case 'w':
			if (!nam_number(optarg, 1, 62, &n))
				return complain(2, "--workers is a number from 1 to 62");
			demo.workers = (unsigned)n;
			break;
		case 'k':
			if (!net_kind_parse(optarg, &fabric) || (fabric != NET_SHM && fabric != NET_TCP))
				return complain(2, "--fabric is shm or tcp");
			break;
		case 'h':
			fputs(usage, stdout);
			return 0;
		default:
			snprintf(line, sizeof line, "%s; see namdb demo --help", cli_bad_option(o, argv));
			return complain(2, line);
		}
	}
	while (optind < argc && shell_assign(&args, argv[optind]))
		optind++;
	if (optind < argc) {
		snprintf(line, sizeof line, "unexpected argument %.60s; see namdb demo --help", argv[optind]);
		return complain(2, line);
	}
	/* Blocked until the shell is there: a signal now waits, and nothing is left behind. */
	shell_signals_block();
	int code = 1;
	if (make_dir(&demo) && start_nodes(&demo, nodes, size)) {
		if (!args.opt.quiet)
			fprintf(stderr,
			    "namdb demo: %u storage nodes of %s on this machine over %s; the data %s%s\n",
			    nodes, size, net_kind_name(fabric),
			    demo.data != NULL ? "is kept in " : "lives only as long as this process",
			    demo.data != NULL ? demo.data : "");
		code = run(&demo, &args, fabric, empty);
	}
	stop_nodes(&demo);
	remove_dir(&demo);
	return code;
}
