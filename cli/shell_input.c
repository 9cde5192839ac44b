/* shell_input.c -- where the shell's text comes from: files and pipes in bounded pieces, terminals
 * through libedit. */
#include "cli.h"
#include "shell.h"

#include <editline/readline.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

sigjmp_buf shell_jump;
volatile sig_atomic_t shell_reading;
volatile sig_atomic_t shell_interrupted;
static volatile sig_atomic_t ended;
static volatile sig_atomic_t stopping;      /* ^Z: shell_rest does it */
static volatile sig_atomic_t at_terminal;   /* a user types */
static struct cn_session *volatile running; /* what ^C cancels */
static char history_path[4096];
static struct termios terminal_was; /* to be put back at the end, whatever was interrupted */
static bool terminal_known;

/* ---- signals -------------------------------------------------------------------- */

void
shell_running(struct cn_session *s)
{
	running = s;
	/* A signal that came just before has found no session. */
	if (s != NULL && ended)
		cn_session_ends(s);
}

static void
on_signal(int sig)
{
	shell_interrupted = 1;
	if (sig != SIGINT) {
		ended = 1;
		cli_end_soon();
	}
	struct cn_session *s = running;
	if (s != NULL && sig != SIGINT)
		cn_session_ends(s);
	else if (s != NULL)
		cn_cancel(s);
	if (shell_reading) {
		shell_reading = 0;
		siglongjmp(shell_jump, 1);
	}
}

/*
 * A script runs on until its transaction ends; at a terminal the statement that runs is cancelled.
 */
static void
on_stop(int sig)
{
	(void)sig;
	stopping = 1;
	if (!at_terminal)
		return;
	struct cn_session *s = running;
	if (s != NULL) {
		shell_interrupted = 1;
		cn_cancel(s);
	}
	if (shell_reading) {
		shell_reading = 0;
		siglongjmp(shell_jump, 1);
	}
}

static void
signal_set(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGHUP);
	sigaddset(set, SIGTSTP);
	/* The line editor's handlers of these write to the terminal: no thread but the one that
	 * reads lines. */
	sigaddset(set, SIGCONT);
	sigaddset(set, SIGWINCH);
}

void
shell_signals_block(void)
{
	sigset_t set;
	signal_set(&set);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
}

void
shell_signals_open(void)
{
	struct sigaction on = { .sa_handler = on_signal };
	sigset_t set;
	sigaction(SIGINT, &on, NULL);
	sigaction(SIGTERM, &on, NULL);
	sigaction(SIGHUP, &on, NULL);
	/* A parent that started the shell with ^Z ignored wants it ignored. */
	if (sigaction(SIGTSTP, NULL, &on) == 0 && on.sa_handler != SIG_IGN) {
		on = (struct sigaction){ .sa_handler = on_stop };
		sigaction(SIGTSTP, &on, NULL);
	}
	signal_set(&set);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

void
shell_input_leave(void)
{
	if (!ended && !stopping && !shell_interrupted)
		return;
	shell_reading = 0;
	siglongjmp(shell_jump, 1);
}

bool
shell_input_wait(int fd, int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L };
	sigset_t set, was;
	int n;
	signal_set(&set);
	do {
		/* Between the look at what signals have said and the wait none of them may come. */
		pthread_sigmask(SIG_BLOCK, &set, &was);
		shell_input_leave();
		n = ppoll(&p, 1, ms >= 0 ? &t : NULL, &was);
		int why = errno;
		pthread_sigmask(SIG_SETMASK, &was, NULL);
		errno = why;
	} while (n < 0 && errno == EINTR);
	return n > 0;
}

bool
shell_ended(void)
{
	return ended;
}

/*
 * ^Z. If a process stalls in a transaction for longer than a lease, others fence it, because they
 * need its locks; on this host it would be killed. So the shell first rolls back and lets its owner
 * slot become idle, and then stops.
 */
void
shell_rest(struct shell *sh)
{
	static const char back[] = "ROLLBACK";
	enum { REST_MS = 5000 };
	if (!stopping)
		return;
	if (cn_session_state(sh->session) != 'I') {
		if (!at_terminal) {
			if (stopping == 1)
				fprintf(
				    stderr, "namdb: a transaction is open; the shell stops when it ends\n");
			stopping = 2;
			return;
		}
		struct sql_sink nothing = { 0 };
		struct cat_err err = { 0 };
		cn_exec(sh->session, back, sizeof back - 1, &nothing, &err);
		fprintf(stderr,
		    "WARNING:  the transaction was rolled back: other processes cannot wait for a "
		    "stopped shell\n");
	}
	if (!cn_rest(sh->cn, REST_MS))
		fprintf(stderr, "namdb: the shell is still busy; the cluster fences it if it is stopped "
				"for longer than the lease\n");
	fflush(NULL);
	if (terminal_known)
		tcsetattr(0, TCSADRAIN, &terminal_was);
	stopping = 0;
	struct sigaction ours, plain = { .sa_handler = SIG_DFL };
	sigaction(SIGTSTP, &plain, &ours);
	sigaction(SIGCONT, &plain, NULL); /* the line editor's, left behind by a jump; it
					   * sets its own again */
	raise(SIGTSTP);
	sigaction(SIGTSTP, &ours, NULL);
}

/* ---- sources -------------------------------------------------------------------- */

void
source_init(struct source *src, int fd, bool terminal)
{
	*src = (struct source){ .fd = fd, .terminal = terminal, .line_start = true, .line = 1 };
}

void
source_fini(struct source *src)
{
	free(src->buf);
}

/* Makes room for more bytes behind those not yet used. */
static bool
make_room(struct source *src, size_t more)
{
	if (src->at > 0) {
		memmove(src->buf, src->buf + src->at, src->len - src->at);
		src->len -= src->at;
		src->at = 0;
	}
	if (src->len + more <= src->cap)
		return true;
	char *buf = realloc(src->buf, src->len + more);
	if (buf == NULL)
		return false;
	src->buf = buf;
	src->cap = src->len + more;
	return true;
}

/* One line from the terminal into the buffer. */
static bool
edit_line(struct source *src, const char *prompt, bool complete)
{
	char *volatile line = NULL;
	struct termios raw;
	/* The editor shows the prompt before it leaves line mode: ^D typed in between would be
	 * lost. */
	if (tcgetattr(src->fd, &raw) == 0) {
		raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
		tcsetattr(src->fd, TCSADRAIN, &raw);
	}
	if (sigsetjmp(shell_jump, 1) != 0) {
		shell_keys_reset();
		shell_keys_paste(false);
		fputc('\n', stdout);
		return false; /* interrupted; the caller looks */
	}
	shell_complete_key(complete);
	at_terminal = 1;
	bool begun = shell_keys_begin();
	shell_keys_paste(true);
	shell_reading = 1;
	if (begun && !ended && !stopping)
		line = readline(prompt);
	shell_reading = 0;
	clearerr(stdout); /* what the editor could not show is no answer */
	shell_keys_paste(false);
	if (line == NULL && stopping)
		return false;
	if (line == NULL) {
		src->eof = true;
		return false;
	}
	const char *past = NULL;
	size_t n = strlen(line), more = 0;
	bool glued = false;
	shell_keys_past(&past, &more, &glued);
	bool ok = make_room(src, n + 1 + more);
	if (ok) {
		memcpy(src->buf + src->len, line, n);
		src->len += n;
		if (!glued)
			src->buf[src->len++] = '\n';
		if (more > 0)
			memcpy(src->buf + src->len, past, more);
		src->len += more;
	}
	shell_keys_past_done();
	free(line);
	return ok;
}

/* Reads more. False at the end, after an error, or ^C. */
static bool
fill(struct shell *sh, struct source *src, const char *prompt)
{
	if (src->eof)
		return false;
	if (src->terminal)
		return edit_line(src, prompt, !sh->copying); /* a COPY's columns are separated by
							      * tabs */
	if (!make_room(src, SOURCE_PIECE)) {
		src->eof = src->broken = true;
		return false;
	}
	ssize_t n;
	if (sigsetjmp(shell_jump, 1) != 0)
		return false;
	shell_reading = 1;
	if (ended || shell_interrupted) {
		shell_reading = 0;
		return false;
	}
	do {
		shell_rest(sh);
		n = read(src->fd, src->buf + src->len, SOURCE_PIECE);
	} while (n < 0 && errno == EINTR);
	shell_reading = 0;
	if (n <= 0) {
		src->eof = true;
		src->broken = n < 0;
		return false;
	}
	src->len += (size_t)n;
	return true;
}

bool
source_piece(struct shell *sh, struct source *src, const char *prompt, const char **p, size_t *n)
{
	if (src->at == src->len && !fill(sh, src, prompt))
		return false;
	const char *from = src->buf + src->at;
	size_t have = src->len - src->at;
	const char *end = memchr(from, '\n', have);
	*p = from;
	*n = end != NULL ? (size_t)(end - from) + 1 : have;
	src->at += *n;
	src->line_start = end != NULL;
	src->line += end != NULL;
	return true;
}

/* Does a line \. begin here? 1 yes (*skip: its bytes), 0 no, -1 more bytes are needed to tell. */
static int
end_mark(const char *p, size_t n, bool eof, size_t *skip)
{
	static const char *const mark[] = { "\\.\n", "\\.\r\n" };
	for (int i = 0; i < 2; i++) {
		size_t len = strlen(mark[i]), k = n < len ? n : len;
		if (memcmp(p, mark[i], k) != 0)
			continue;
		if (k == len || (eof && k >= 2)) {
			*skip = k;
			return 1;
		}
		if (!eof)
			return -1;
	}
	return 0;
}

bool
source_copy(struct shell *sh, struct source *src, const char **p, size_t *n)
{
	*p = "";
	*n = 0;
	for (;;) {
		const char *from = src->buf + src->at;
		size_t have = src->len - src->at, i = 0;
		bool start = src->line_start, wait = false;
		while (i < have) {
			size_t skip = 0;
			int mark = start ? end_mark(from + i, have - i, src->eof, &skip) : 0;
			if (mark > 0) {
				/* All before it first; the mark itself when nothing is left before
				 * it. */
				if (i > 0)
					break;
				src->at += skip;
				src->line_start = true;
				src->line++;
				return true;
			}
			if (mark < 0) {
				wait = true;
				break;
			}
			const char *nl = memchr(from + i, '\n', have - i);
			start = nl != NULL;
			i = nl != NULL ? (size_t)(nl - from) + 1 : have;
		}
		if (i > 0) {
			*p = from;
			*n = i;
			src->at += i;
			src->line_start = from[i - 1] == '\n';
			for (const char *nl = from; (nl = memchr(nl, '\n', i - (size_t)(nl - from))) != NULL;
			     nl++)
				src->line++;
			return true;
		}
		if (!wait && src->eof)
			return !src->broken;
		if (!fill(sh, src, ">> ") && !src->eof)
			return false; /* ^C */
	}
}

/* ---- history -------------------------------------------------------------------- */

void
shell_history_open(struct shell *sh)
{
	const char *home = getenv("HOME");
	terminal_known = tcgetattr(0, &terminal_was) == 0;
	rl_readline_name = (char *)(uintptr_t) "namdb";
	shell_keys_open();
	rl_initialize();
	shell_complete_open(sh);
	using_history();
	stifle_history(1000);
	if (home == NULL || (size_t)snprintf(history_path, sizeof history_path, "%s/.namdb_history", home) >=
				sizeof history_path)
		history_path[0] = 0;
	if (history_path[0])
		read_history(history_path);
}

void
shell_history_add(const char *text, size_t len)
{
	while (len > 0 && (text[len - 1] == '\n' || text[len - 1] == ' '))
		len--;
	if (len == 0 || len > 64 << 10)
		return;
	char *copy = strndup(text, len);
	if (copy != NULL)
		add_history(copy);
	free(copy);
}

void
shell_history_close(void)
{
	shell_complete_close();
	if (terminal_known)
		tcsetattr(0, TCSADRAIN, &terminal_was);
	if (!history_path[0])
		return;
	mode_t old = umask(077); /* statements may hold secrets */
	write_history(history_path);
	umask(old);
}
