/* servers.c -- a storage node and a compute node as processes of the program namdb; a
 * folder with their socket, secret and logs. */
#include "servers.h"

#include <base/clock.h>
#include <bench/bench.h>

#include <embed/embed.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { START_MS = 30000, LOOK_MS = 20, SECRET_BYTES = 32 };

static bool
complain(const struct bench_namdb *n, const char *what)
{
	fprintf(stderr, "namdb bench: %s; the logs are in %s\n", what, n->dir);
	return false;
}

/* Runs namdb with the words, which end with NULL; its stderr goes to dir/log. It dies with
 * this process. 0 = it did not start. */
static pid_t
start(const struct bench_namdb *n, const char *log, char *const *word)
{
	char path[80];
	pid_t self = getpid();
	snprintf(path, sizeof path, "%s/%s", n->dir, log);
	int out = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (out < 0)
		return 0;
	pid_t pid = fork();
	if (pid == 0) {
		int in = open("/dev/null", O_RDONLY | O_CLOEXEC);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != self || dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0)
			_exit(127);
		execv(n->program, word);
		_exit(127);
	}
	close(out);
	return pid < 0 ? 0 : pid;
}

/* Waits until the log ends with "ready"; copies the address behind " at " in it. */
static bool
wait_ready(const struct bench_namdb *n, pid_t pid, const char *log, char *address, size_t max)
{
	char path[80], text[4096];
	snprintf(path, sizeof path, "%s/%s", n->dir, log);
	for (unsigned waited = 0; waited < START_MS; waited += LOOK_MS) {
		int fd = open(path, O_RDONLY | O_CLOEXEC);
		ssize_t got = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
		if (fd >= 0)
			close(fd);
		text[got > 0 ? got : 0] = 0;
		const char *at = strstr(text, " at ");
		if (strstr(text, "\nready\n") != NULL && at != NULL) {
			snprintf(address, max, "%.*s", (int)strcspn(at + 4, " \n,"), at + 4);
			return true;
		}
		if (waitpid(pid, NULL, WNOHANG) == pid)
			return false;
		usleep(LOOK_MS * 1000);
	}
	return false;
}

static bool
write_secret(const char *path)
{
	unsigned char bytes[SECRET_BYTES];
	char text[2 * SECRET_BYTES + 2];
	if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
		return false;
	for (unsigned i = 0; i < SECRET_BYTES; i++)
		snprintf(text + 2 * i, 3, "%02x", bytes[i]);
	text[2 * SECRET_BYTES] = '\n';
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	bool ok = fd >= 0 && write(fd, text, sizeof text - 1) == (ssize_t)sizeof text - 1;
	if (fd >= 0)
		close(fd);
	return ok;
}

double
bench_namdb_cpu(const struct bench_namdb *n)
{
	const pid_t pid[] = { n->storage, n->compute };
	double ticks = 0;
	for (unsigned i = 0; i < sizeof pid / sizeof *pid; i++) {
		char path[40], line[1024];
		unsigned long user, sys;
		snprintf(path, sizeof path, "/proc/%d/stat", (int)pid[i]);
		FILE *f = fopen(path, "r");
		const char *at = f != NULL && fgets(line, sizeof line, f) != NULL ? strrchr(line, ')') : NULL;
		if (at != NULL &&
		    sscanf(at + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &sys) == 2)
			ticks += (double)(user + sys);
		if (f != NULL)
			fclose(f);
	}
	return ticks / (double)sysconf(_SC_CLK_TCK);
}

static int
by_time(const void *x, const void *y)
{
	double a = *(const double *)x, b = *(const double *)y;
	return (a > b) - (a < b);
}

double
bench_sync_us(void)
{
	enum { TIMES = 201, PAGE = 4096 };
	static char page[PAGE];
	double us[TIMES], median = -1;
	char path[] = BENCH_DISK "/namdb-sync-XXXXXX";
	int fd = mkstemp(path), n = 0;
	if (fd < 0)
		return -1;
	unlink(path);
	/* A file that is there already, as a log's segment is. */
	bool ok = posix_fallocate(fd, 0, TIMES * PAGE) == 0 && fsync(fd) == 0;
	for (; ok && n < TIMES; n++) {
		uint64_t begin = nam_clock_ns();
		ok = pwrite(fd, page, PAGE, (off_t)n * PAGE) == PAGE && fdatasync(fd) == 0;
		us[n] = (double)(nam_clock_ns() - begin) / 1000;
	}
	if (ok) {
		qsort(us, TIMES, sizeof *us, by_time);
		median = us[TIMES / 2];
	}
	close(fd);
	return median;
}

bool
bench_namdb_start(struct bench_namdb *n, uint64_t bytes, unsigned workers, bool durable)
{
	char secret[80], size[24], threads[12], storage[64], address[64];
	struct nam_err err;
	*n = (struct bench_namdb){ .at = { .name = "namdb", .user = "bench", .database = "bench" } };
	if (emb_program(n->program, (void (*)(void))bench_pgbench, &err) != NAM_OK) {
		fprintf(stderr, "namdb bench: %s\n", err.text);
		return false;
	}
	snprintf(n->dir, sizeof n->dir, "/tmp/namdb-pgbench-XXXXXX");
	if (mkdtemp(n->dir) == NULL) {
		n->dir[0] = 0;
		fprintf(stderr, "namdb bench: no temporary folder: %s\n", strerror(errno));
		return false;
	}
	snprintf(secret, sizeof secret, "%s/secret", n->dir);
	snprintf(size, sizeof size, "%llu", (unsigned long long)bytes);
	snprintf(threads, sizeof threads, "%u", workers);
	if (!write_secret(secret))
		return complain(n, "no secret could be written");
	snprintf(n->data, sizeof n->data, BENCH_DISK "/namdb-pgbench-XXXXXX");
	if (!durable || mkdtemp(n->data) == NULL)
		n->data[0] = 0;
	if (durable && n->data[0] == 0)
		return complain(n, "no folder could be made in " BENCH_DISK);
	n->storage = start(n, "storage",
	    (char *[]){ "namdb", "storage", "--id", "1", "--size", size, "--listen", "127.0.0.1:0",
		"--secret-file", secret, durable ? "--data" : NULL, n->data, NULL });
	if (n->storage == 0 || !wait_ready(n, n->storage, "storage", storage, sizeof storage))
		return complain(n, "the storage node did not start");
	char *const word[] = { "namdb", "compute", "--storage", storage, "--fabric", "shm", "--secret-file",
		secret, "--pg", "127.0.0.1:0", "--pg-socket", n->dir, workers ? "--workers" : NULL, threads,
		NULL };
	n->compute = start(n, "compute", word);
	if (n->compute == 0 || !wait_ready(n, n->compute, "compute", address, sizeof address))
		return complain(n, "the compute node did not start");
	const char *port = strrchr(address, ':');
	snprintf(n->at.port, sizeof n->at.port, "%s", port ? port + 1 : "0");
	snprintf(n->at.folder, sizeof n->at.folder, "%s", n->dir);
	return true;
}

static int
remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st;
	(void)kind;
	(void)at;
	remove(path);
	return 0;
}

static void
end(pid_t pid)
{
	if (pid <= 0)
		return;
	kill(pid, SIGTERM);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		continue;
}

void
bench_namdb_stop(struct bench_namdb *n)
{
	end(n->compute);
	end(n->storage);
	if (n->dir[0] != 0)
		nftw(n->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	if (n->data[0] != 0)
		nftw(n->data, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	*n = (struct bench_namdb){ 0 };
}
