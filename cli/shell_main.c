/* shell_main.c -- options that `namdb sql` and `namdb demo` share, and running a shell with
 * them. */
#include "cli.h"
#include "shell.h"

#include <base/number.h>

#include <langinfo.h>
#include <limits.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

bool
shell_option(struct shell_args *a, int o, const char *value, const char **bad)
{
	uint64_t n;
	*bad = NULL;
	switch (o) {
	case 'c':
	case 'f':
		if (a->actions == SHELL_ACTIONS) {
			*bad = "too many -c and -f; put the statements into a file";
			return true;
		}
		a->action[a->actions].file = o == 'f';
		a->action[a->actions++].text = value;
		return true;
	case 'U':
		a->opt.user = value;
		return true;
	case 'v':
		a->opt.verbose = true;
		return true;
	case 'q':
		a->opt.quiet = true;
		return true;
	case 1001:
		a->opt.form = CN_CSV;
		return true;
	case 1004:
		if (!shell_form(value, &a->opt.form))
			*bad = "--format is aligned, csv, json or markdown";
		return true;
	case 1005:
		a->opt.null = value;
		return true;
	case 1002:
		if (!nam_size(value, 1024, UINT64_C(1) << 30, &n)) {
			*bad = "--max-statement is a size from 1k to 1g";
			return true;
		}
		a->opt.statement_max = n;
		return true;
	case 1003:
		a->opt.stop_on_error = true;
		return true;
	default:
		return false;
	}
}

bool
shell_assign(struct shell_args *a, const char *text)
{
	static const char name[] = "ON_ERROR_STOP=";
	if (strncmp(text, name, strlen(name)) != 0)
		return false;
	text += strlen(name);
	a->opt.stop_on_error = strcmp(text, "0") != 0 && strcasecmp(text, "off") != 0 && text[0] != 0;
	a->opt.verbose = false; /* -v NAME=VALUE is what psql has for it */
	return true;
}

/* How another process finds the storage nodes. */
static void
add_cluster(FILE *out, const char *storage, const char *cluster, const char *secret_file)
{
	fputs(" --storage", out);
	cli_shell_word(out, storage);
	if (cluster != NULL) {
		fputs(" --cluster", out);
		cli_shell_word(out, cluster);
	}
	if (secret_file == NULL)
		secret_file = getenv("NAMDB_SECRET_FILE");
	if (secret_file != NULL && secret_file[0] != 0) {
		char *whole = realpath(secret_file, NULL);
		fputs(" --secret-file", out);
		cli_shell_word(out, whole ? whole : secret_file);
		free(whole);
	}
}

char *
shell_about(struct cn *cn, const char *dir, const char *storage, const char *cluster, const char *secret_file,
    const char *fabric)
{
	char *text = NULL, program[PATH_MAX];
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	if (out == NULL)
		return NULL;
	unsigned nodes = 0;
	while (net_node(cn_net(cn), nodes) != NULL)
		nodes++;
	if (dir != NULL)
		fprintf(out, "Connected to the database in the directory");
	else
		fprintf(out, "Connected to cluster \"%s\"", cluster ? cluster : "namdb");
	if (dir != NULL)
		cli_shell_word(out, dir);
	fprintf(out, ", %u storage node%s, over %s.\nTo open another shell on it:\n ", nodes,
	    nodes == 1 ? "" : "s", net_kind_name(net_node(cn_net(cn), 0)->kind));
	ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
	program[n > 0 ? n : 0] = 0;
	cli_shell_word(out, n > 0 && access(program, X_OK) == 0 ? program : "namdb");
	fputs(" sql", out);
	if (dir != NULL)
		cli_shell_word(out, dir);
	else
		add_cluster(out, storage, cluster, secret_file);
	if (fabric != NULL) {
		fputs(" --fabric", out);
		cli_shell_word(out, fabric);
	}
	if (fclose(out) != 0) {
		free(text);
		return NULL;
	}
	return text;
}

int
shell_run(struct cn *cn, const struct shell_args *a, const char *banner)
{
	struct nam_err err;
	bool ok = true;
	/* Widths of characters need a locale that knows UTF-8. */
	if (setlocale(LC_CTYPE, "") == NULL || strcmp(nl_langinfo(CODESET), "UTF-8") != 0)
		setlocale(LC_CTYPE, "C.UTF-8");
	struct shell *sh = shell_open(cn, &a->opt, &err);
	if (sh == NULL) {
		fprintf(stderr, "namdb: %s\n", err.text);
		cn_close(cn);
		return 1;
	}
	for (unsigned i = 0; i < a->actions && !sh->quit && !shell_ended(); i++) {
		ok &= a->action[i].file ? shell_file(sh, a->action[i].text)
					: shell_string(sh, a->action[i].text);
		if (!ok && a->opt.stop_on_error)
			break;
	}
	if (a->actions == 0)
		ok = shell_stdin(sh, banner);
	ok = ok && !sh->failed && !sh->lost;
	shell_close(sh);
	if (fflush(stdout) != 0 || ferror(stdout))
		ok = false;
	return ok && !shell_ended() ? 0 : 1;
}
