/* check.c -- `namdb check`: judges recorded histories. Knows nothing of the database; see
 * check/README.md. */
#include "cli.h"

#include <base/number.h>
#include <check/check.h>

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
    "usage: namdb check [options] FILE...\n"
    "Judges histories: could an isolation level have shown the clients what they saw?\n"
    "FILE - is standard input.\n"
    "\n"
    "  --level L           read-committed, snapshot, session-snapshot, strong-snapshot,\n"
    "                      serializable, session-serializable or strict-serializable\n"
    "                      (default: what the file's first line says, else snapshot).\n"
    "                      session-: a session sees at least what it saw before; strong, strict:\n"
    "                      a transaction sees what had committed, by the clock, before it began\n"
    "  --witnesses N       anomalies shown in full (default 8)\n"
    "  --partial           judge a file that was cut off as far as it goes\n"
    "  --json              print one JSON object for each file\n"
    "  --help              this text\n"
    "\n"
    "A history is JSON, one object a line: a header, the transactions, their number.\n"
    "\n"
    "  {\"history\":1,\"model\":\"list-append\",\"level\":\"snapshot\"}\n"
    "  {\"id\":1,\"session\":0,\"begin\":1,\"end\":5,\"status\":\"ok\",\"ops\":[[\"append\",\"x\",1]]}\n"
    "  {\"id\":2,\"session\":1,\"begin\":2,\"end\":6,\"status\":\"ok\",\"ops\":[[\"r\",\"x\",[1]]]}\n"
    "  {\"end\":2}\n"
    "\n"
    "  model         operations (a key is a number or a text, a value a whole number)\n"
    "  list-append   [\"append\",KEY,VALUE] [\"r\",KEY,[VALUE,...]]\n"
    "  register      [\"w\",KEY,VALUE] [\"r\",KEY,VALUE] [\"l\",KEY,VALUE]; null: absent; l: locked\n"
    "  bank          [\"add\",ACCOUNT,AMOUNT] [\"r\",ACCOUNT,BALANCE]; first line: \"total\":SUM\n"
    "  set           [\"add\",SET,VALUE] [\"r\",SET,[VALUE,...]]\n"
    "\n"
    "  A value is written once to its key. begin and end: one clock for all, any unit.\n"
    "  status: ok, it committed; fail, it was rolled back; info, the client does not know: such a\n"
    "  record needs no end, and a later one with the same id replaces it.\n"
    "  start_ts, commit_ts: snapshot and commit as the server numbers them; the judge also\n"
    "  checks them. A read may have its own snapshot as fourth element.\n"
    "  process: its sessions know of each other. level: of this transaction alone.\n"
    "  final: true; its reads come after everything else. note: any text.\n"
    "  check/README.md says more, and which anomalies there are.\n"
    "\n"
    "Exit code 0: no anomaly; 1: an anomaly, printed with the transactions that show it;\n"
    "2: bad usage, or a file is no history (FILE:LINE:COLUMN on standard error).\n";

static int
misuse(const char *what)
{
	fprintf(stderr, "namdb check: %s; see namdb check --help\n", what);
	return 2;
}

/* All that can be read. NULL = errno says why. */
static char *
slurp(int fd, size_t *len)
{
	size_t cap = 1 << 16;
	char *buf = malloc(cap);
	*len = 0;
	for (ssize_t got = 1; buf != NULL && got != 0;) {
		if (*len == cap) {
			char *more = realloc(buf, cap *= 2);
			if (more == NULL) {
				free(buf);
				errno = ENOMEM;
				return NULL;
			}
			buf = more;
		}
		got = read(fd, buf + *len, cap - *len);
		if (got < 0 && errno != EINTR) {
			int e = errno;
			free(buf);
			errno = e;
			return NULL;
		}
		*len += got > 0 ? (size_t)got : 0;
		got = got < 0 ? 1 : got;
	}
	return buf;
}

static int
judge(const char *name, const struct chk_options *opt, bool json)
{
	bool in = strcmp(name, "-") == 0;
	int fd = in ? STDIN_FILENO : open(name, O_RDONLY | O_CLOEXEC);
	size_t len = 0;
	char *bytes = fd < 0 ? NULL : slurp(fd, &len);
	if (bytes == NULL) {
		fprintf(stderr, "namdb check: %s: %s\n", name, strerror(errno));
		if (fd >= 0 && !in)
			close(fd);
		return 2;
	}
	if (!in)
		close(fd);
	struct chk *c = chk_open();
	enum chk_verdict v = CHK_BAD_INPUT;
	if (c == NULL) {
		fputs("namdb check: not enough memory\n", stderr);
	} else {
		v = chk_judge(c, in ? "standard input" : name, bytes, len, opt);
		if (json)
			chk_print_json(c, stdout);
		else
			chk_print(c, v == CHK_BAD_INPUT ? stderr : stdout);
	}
	chk_close(c);
	free(bytes);
	return v == CHK_CLEAN ? 0 : v == CHK_ANOMALY ? 1 : 2;
}

int
cli_check(int argc, char **argv)
{
	static const struct option known[] = {
		{ "level", required_argument, NULL, 'l' },
		{ "witnesses", required_argument, NULL, 'w' },
		{ "partial", no_argument, NULL, 'p' },
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	struct chk_options opt = { .level = CHK_UNSAID };
	bool json = false;
	char line[300];
	uint64_t n;
	optind = 0;
	opterr = 0;
	for (int o; (o = getopt_long(argc, argv, ":", known, NULL)) != -1;)
		switch (o) {
		case 'l':
			if (!chk_level_parse(optarg, &opt.level)) {
				snprintf(line, sizeof line, "there is no level \"%.60s\"", optarg);
				return misuse(line);
			}
			break;
		case 'w':
			if (!nam_number(optarg, 1, 1000, &n))
				return misuse("--witnesses is a number from 1 to 1000");
			opt.witnesses = (unsigned)n;
			break;
		case 'p':
			opt.partial = true;
			break;
		case 'j':
			json = true;
			break;
		case 'h':
			fputs(usage, stdout);
			return 0;
		default:
			return misuse(cli_bad_option(o, argv));
		}
	if (optind == argc)
		return misuse("which history?");
	int code = 0;
	for (; optind < argc; optind++) {
		int got = judge(argv[optind], &opt, json);
		code = got > code ? got : code;
	}
	return code;
}
