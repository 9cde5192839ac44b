/* shell.h -- the SQL shell's parts: shell.c runs statements, shell_input.c reads, shell_meta.c
 * knows \commands. */
#ifndef NAM_CLI_SHELL_H
#define NAM_CLI_SHELL_H

#include <compute_node/cn.h>
#include <compute_node/print.h>
#include <compute_node/split.h>

#include <setjmp.h>
#include <signal.h>

struct shell_options {
	enum cn_print_form form; /* of results */
	const char *null;        /* the text that stands for NULL; NULL = the empty text */
	bool quiet;              /* no command tags, no banner */
	bool verbose;            /* what each statement cost on the fabric, on stderr */
	bool stop_on_error;      /* a script ends at its first error */
	size_t statement_max;
	const char *user;  /* the role that the session is of; NULL = the first one */
	const char *about; /* for \conninfo; borrowed */
	/* Opens a compute node like the first one; NULL = there is no way to. */
	nam_status (*again)(void *arg, struct cn **out, struct nam_err *err);
	void *again_arg; /* of both */
	/* True if the storage node that the shell has joined will never answer again; NULL = that
	 * is not known. */
	bool (*gone)(void *arg);
};

/* Where text comes from: a file, a pipe, a terminal. */
struct source {
	int fd;
	bool terminal; /* lines through the line editor */
	bool eof, broken;
	bool line_start;  /* the next byte begins a line */
	const char *name; /* of a file, for errors; NULL = none is said */
	unsigned line;    /* of the next byte, from 1 */
	char *buf;
	size_t at, len, cap;
	struct source *outer; /* \i, \copy */
};

struct shell {
	struct shell_options opt;
	struct cn *cn;
	struct cn_session *session;
	struct cn_print *print;
	struct source *source;  /* the source that is being read; NULL = -c */
	struct nam_arena arena; /* of one batch being printed */
	FILE *out;              /* answers */
	FILE *copy_to;          /* \copy ... TO; NULL = out */
	bool out_pipe, expanded, no_pager;
	enum cn_print_form form; /* but for \x */
	char *null;              /* the text that stands for NULL */
	bool timing, failed, quit, editing;
	bool lost;          /* it ends because its process has no place in the cluster any more */
	bool rows_shown;    /* the running statement has returned rows */
	bool copying;       /* it reads COPY's input, and has not met the end */
	bool copied_out;    /* it has written a COPY's data */
	uint64_t paged_ns;  /* time in which a pager showed its answer */
	unsigned line;      /* of the source: where the statement, or the command, that runs
			     * begins */
	unsigned stmt_line; /* where the statement typed so far begins */
	bool progress_shown;
	uint64_t bar_ns; /* of the statement's time: the bar is drawn again then */
	bool bar_shown;  /* the bar is on the screen */
	bool bar_off;    /* the running statement's output has begun: no bar any more */
	uint64_t progress_bytes, progress_rows;
	uint64_t started; /* the running statement, by the clock */
	char *stmt;
	size_t stmt_len, stmt_cap;
	char *last; /* the statement before: \g, \e */
	size_t last_len, last_cap;
	bool stmt_over; /* the statement is longer than allowed: its text is not kept */
	struct cn_split split;
	unsigned depth; /* of \i */
};

/* Signals: block before threads are started (so that they go to this thread), open when ready. */
void shell_signals_block(void);
void shell_signals_open(void);
/* The session that ^C cancels; NULL = none. */
void shell_running(struct cn_session *s);
/* Call it between statements: if ^Z was typed, stops the program. Returns when it is continued. */
void shell_rest(struct shell *sh);
/* True if a signal asked the program to end. */
bool shell_ended(void);

struct shell *shell_open(struct cn *cn, const struct shell_options *opt, struct nam_err *err);
void shell_close(struct shell *sh);
/* Each returns true if every statement succeeded. */
bool shell_string(struct shell *sh, const char *text);
bool shell_file(struct shell *sh, const char *path);
bool shell_stdin(struct shell *sh, const char *banner);

/* ---- shell.c */
/* Runs text (one or more statements) and prints the answers. */
bool shell_exec(struct shell *sh, const char *text, size_t len);
/* Call it after a statement that failed. True if the process has lost its place in the cluster, or
 * the cluster is gone. At a terminal the shell connects again, else it ends; either way the old
 * session is gone. */
bool shell_lost(struct shell *sh);
/* Runs all of a source. */
bool shell_source(struct shell *sh, struct source *src);
/*
 * ERROR, LINE, caret, DETAIL, HINT. text: the statement that began at sh->line, or NULL. sh NULL:
 * no file is read.
 */
void shell_error(struct shell *sh, const struct cat_err *err, const char *text, size_t len);
/* Prints a complaint of the shell's own, a line on stderr, behind the file and line that are
 * read. */
void shell_say(struct shell *sh, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* What a column of this type holds, for printing. */
enum cn_kind shell_kind(enum cat_type t);
/* Runs the statement typed so far, or else the last one. */
bool shell_go(struct shell *sh);
/* Forgets the statement typed so far. */
void shell_forget(struct shell *sh);
/* Handles text as if it were typed. */
bool shell_typed(struct shell *sh, const char *text, size_t len);

/* ---- shell_out.c */
/* Sends answers to a file or |program; NULL = stdout. */
bool shell_out(struct shell *sh, const char *where);
/* cn_print_end, through $PAGER at a terminal where the answer is longer than the screen. */
void shell_print_end(struct shell *sh, bool footer);

/* ---- shell_bar.c: how far a long statement is, on a terminal */
/* Around a statement; off: its answer is at its end. */
void shell_bar_open(struct shell *sh);
void shell_bar_close(struct shell *sh);
/* Before anything else is written: erases the bar. for_good: it does not come back. */
void shell_bar_erase(struct shell *sh, bool for_good);

/* ---- shell_pset.c */
/* \pset and \x: how answers look. */
bool shell_pset(struct shell *sh, const char *arg);
bool shell_expanded(struct shell *sh, const char *arg);
/* Sets the printer to the form of sh->form and sh->expanded. */
void shell_look(struct shell *sh);
/*
 * Sets *on by a word, on or off; no word toggles it. False if it is another word; the user has been
 * told.
 */
bool shell_switch(struct shell *sh, const char *what, const char *text, bool *on);
/* The next word of a command's line, out of single quotes, in place; *rest: behind it. */
char *shell_word(char *text, char **rest);
bool shell_form(const char *name, enum cn_print_form *out);

/* ---- shell_edit.c */
/* Text through $EDITOR; the caller frees *out. file NULL or "" = a temporary file. */
bool shell_edit(
    struct shell *sh, const char *file, const char *text, size_t len, char **out, size_t *out_len);
/* Runs \copy. arg: the text after it. */
bool shell_copy(struct shell *sh, const char *arg);

/* ---- shell_input.c */
enum { SOURCE_PIECE = 64 << 10 };
void source_init(struct source *src, int fd, bool terminal);
void source_fini(struct source *src);
/* The next bytes, up to the end of a line or SOURCE_PIECE. False at the end. Valid until the next
 * call. */
bool source_piece(struct shell *sh, struct source *src, const char *prompt, const char **p, size_t *n);
/* COPY's input: bytes up to a line that is \. or the end. *n == 0: no more. */
bool source_copy(struct shell *sh, struct source *src, const char **p, size_t *n);
void shell_history_open(struct shell *sh);
void shell_history_add(const char *text, size_t len);
void shell_history_close(void);

/* If a signal came while no input was read, leaves the reader now. */
void shell_input_leave(void);
/* Waits until fd has bytes, ms at most, -1 = as long as it takes; leaves the input at a signal.
 * True if bytes came. */
bool shell_input_wait(int fd, int ms);

/* ---- shell_keys.c: bytes of the terminal, before the editor has them */
void shell_keys_open(void);
/* Asks the terminal to mark pasted text; off: no longer. */
void shell_keys_paste(bool on);
/* Call it before a line is edited: gives the pasted text that is its beginning. False if there is
 * no memory. */
bool shell_keys_begin(void);
/*
 * After the line was edited: true if pasted text follows it, past the editor. glued: no line end in
 * between.
 */
bool shell_keys_past(const char **p, size_t *n, bool *glued);
void shell_keys_past_done(void);
/* Call it after a jump: forgets text that was typed ahead or pasted. */
void shell_keys_reset(void);

/* ---- shell_complete.c: the tab key, after shell_history_open. on: the key completes, else it is a
 * tab. */
void shell_complete_open(struct shell *sh);
void shell_complete_key(bool on);
void shell_complete_close(void);

/* ^C while reading: the reader is left by a jump. Set only around a blocking read. */
extern sigjmp_buf shell_jump;
extern volatile sig_atomic_t shell_reading;
/* ^C since this was last cleared. */
extern volatile sig_atomic_t shell_interrupted;

/* ---- shell_meta.c */
/* Runs a line that begins with a backslash, without its end. False if it failed. */
bool shell_meta(struct shell *sh, const char *line, size_t len);

/* ---- shell_main.c: what `namdb sql` and `namdb demo` share */
enum { SHELL_ACTIONS = 256 };
struct shell_args {
	struct shell_options opt;
	struct {
		bool file;
		const char *text;
	} action[SHELL_ACTIONS]; /* -c and -f, in order */
	unsigned actions;
};
/* Options of both commands. shell_option: true if o is one of them (*bad: its value is wrong). */
#define SHELL_SHORT "c:f:U:vq"
#define SHELL_LONG                                                                                           \
	{ "command", required_argument, NULL, 'c' }, { "file", required_argument, NULL, 'f' },               \
	    { "user", required_argument, NULL, 'U' }, { "verbose", no_argument, NULL, 'v' },                 \
	    { "quiet", no_argument, NULL, 'q' }, { "csv", no_argument, NULL, 1001 },                         \
	    { "format", required_argument, NULL, 1004 }, { "null", required_argument, NULL, 1005 },          \
	    { "max-statement", required_argument, NULL, 1002 },                                              \
	{                                                                                                    \
		"stop-on-error", no_argument, NULL, 1003                                                     \
	}
#define SHELL_USAGE                                                                                          \
	"  -c, --command SQL   run SQL and exit; may be given several times\n"                               \
	"  -f, --file F        run statements from a file (-: standard input)\n"                             \
	"  -U, --user NAME     role to act as, which must be there (default namdb, a superuser)\n"           \
	"  --format F          results as aligned, csv, json or markdown (default aligned)\n"                \
	"  --csv               the same as --format csv\n"                                                   \
	"  --null TEXT         what stands for NULL (default: nothing)\n"                                    \
	"  -v, --verbose       print what each statement cost on the fabric\n"                               \
	"  -q, --quiet         results only: no command tags, no banner\n"                                   \
	"  --stop-on-error     end a script at its first error (default: go on, and exit with code 1)\n"     \
	"  --max-statement S   longest statement (default 1m)\n"                                             \
	"  --help              this text\n"
bool shell_option(struct shell_args *a, int o, const char *value, const char **bad);
/* NAME=VALUE, as behind psql's -v. True if text is one. */
bool shell_assign(struct shell_args *a, const char *text);
/*
 * For \conninfo: the shell's connection, and the command that opens another shell there,
 * from any directory. dir: of the database, absolute; NULL = the storage nodes are named instead.
 * secret_file, cluster NULL = as a process without options finds them. Freed by the caller; NULL =
 * no memory.
 */
char *shell_about(struct cn *cn, const char *dir, const char *storage, const char *cluster,
    const char *secret_file, const char *fabric);
/* Runs the actions of args on an open compute node, and closes it. Returns the exit code. */
int shell_run(struct cn *cn, const struct shell_args *a, const char *banner);

#endif
