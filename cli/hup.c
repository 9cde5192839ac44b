/* hup.c -- what daemons read again on SIGHUP: the level of the log. */
#include "cli.h"

#include <base/log.h>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *level_file; /* of --log-level; NULL = it was a word */

static bool
take_word(const char *word)
{
	static const char *const name[] = { "error", "warn", "info", "debug" };
	for (unsigned i = 0; i < sizeof name / sizeof *name; i++)
		if (strcmp(word, name[i]) == 0) {
			nam_log_level_set((enum nam_log_level)i);
			return true;
		}
	return false;
}

static bool
take_file(void)
{
	char word[32];
	int fd = open(level_file, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, word, sizeof word - 1) : -1;
	if (fd >= 0)
		close(fd);
	if (n < 0)
		return false;
	word[n] = 0;
	word[strcspn(word, " \t\r\n")] = 0;
	return take_word(word);
}

bool
cli_log_level(const char *word_or_file)
{
	level_file = strchr(word_or_file, '/') != NULL ? word_or_file : NULL;
	return level_file != NULL ? take_file() : take_word(word_or_file);
}

void
cli_log_level_again(void)
{
	if (level_file != NULL && !take_file())
		nam_log(NAM_LOG_ERROR,
		    "SIGHUP: %.200s has no level (error, warn, info, debug): it stays as it was", level_file);
}

static void *
wait_for_hup(void *arg)
{
	sigset_t set;
	int sig;
	(void)arg;
	sigemptyset(&set);
	sigaddset(&set, SIGHUP);
	while (sigwait(&set, &sig) == 0) {
		cli_log_level_again();
		nam_log(NAM_LOG_INFO, "SIGHUP: the log's level is read again");
	}
	return NULL;
}

void
cli_hup_block(void)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
}

bool
cli_hup_open(void)
{
	pthread_t thread;
	if (pthread_create(&thread, NULL, wait_for_hup, NULL) != 0)
		return false;
	pthread_detach(thread);
	return true;
}
