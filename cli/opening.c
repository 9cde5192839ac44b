/* opening.c -- opens a compute node, and looks for signals meanwhile: a restore may take long. */
#include "opening.h"

#include <net/secret.h>

#include <pthread.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LOOK_MS = 20 };

struct watch {
	sigset_t ends;
	struct cn_opening *opening;
	atomic_bool done;
	atomic_int signal; /* 0 = none */
};

static void *
look_for_signals(void *arg)
{
	struct watch *w = arg;
	const struct timespec every = { .tv_nsec = LOOK_MS * 1000000L };
	while (!atomic_load(&w->done)) {
		int sig = sigtimedwait(&w->ends, NULL, &every);
		if (sig <= 0)
			continue;
		/* A second one: something does not stop, as when a node hangs. To end here is as
		 * to be killed. */
		if (atomic_load(&w->signal) != 0)
			_exit(1);
		atomic_store(&w->signal, sig);
		atomic_store(&w->opening->stop, true);
	}
	return NULL;
}

nam_status
cli_open(struct cn **out, struct cn_config *cfg, const char *secret_file, const sigset_t *ends, int *signal,
    struct nam_err *err)
{
	struct cn_opening own = { 0 };
	struct watch w = { .ends = *ends, .opening = cfg->opening != NULL ? cfg->opening : &own };
	uint8_t secret[NET_SECRET_LEN];
	pthread_t watcher;
	*signal = 0;
	nam_status st = net_secret_load(secret_file, secret, &cfg->secret_len, err);
	if (st == NAM_OK && pthread_create(&watcher, NULL, look_for_signals, &w) != 0)
		st = nam_fail(
		    err, NAM_NOMEM, "cannot start a thread: raise the limit on processes (ulimit -u)");
	if (st == NAM_OK) {
		struct cn_opening *was = cfg->opening;
		cfg->secret = secret;
		cfg->opening = w.opening;
		st = cn_open(out, cfg, err);
		cfg->opening = was;
		cfg->secret = NULL;
		atomic_store(&w.done, true);
		pthread_join(watcher, NULL);
		*signal = atomic_load(&w.signal);
	}
	explicit_bzero(secret, sizeof secret);
	return st;
}
