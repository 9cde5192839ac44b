/* shell_edit.c -- statements through an editor, and files through COPY. */
#include "shell.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* ---- \e ------------------------------------------------------------------------- */

/* A file's text, 0-terminated; NULL = errno says why not. */
static char *
read_all(const char *path, size_t max, size_t *len)
{
	FILE *f = fopen(path, "re");
	if (f == NULL)
		return NULL;
	char *text = malloc(max + 2);
	size_t n = text != NULL ? fread(text, 1, max + 1, f) : 0;
	if (text != NULL && (ferror(f) || n > max)) {
		errno = n > max ? EFBIG : EIO;
		free(text);
		text = NULL;
	}
	fclose(f);
	if (text == NULL)
		return NULL;
	text[n] = 0;
	*len = n;
	return text;
}

static bool
edit(const char *path)
{
	const char *editor = getenv("EDITOR");
	if (editor == NULL || editor[0] == 0)
		editor = getenv("VISUAL");
	if (editor == NULL || editor[0] == 0)
		editor = "vi";
	size_t room = strlen(editor) + 4 * strlen(path) + 8;
	char *command = malloc(room);
	if (command == NULL)
		return false;
	size_t n = (size_t)snprintf(command, room, "%s '", editor);
	for (const char *p = path; *p; p++) {
		if (*p == '\'')
			n += (size_t)sprintf(command + n, "'\\'");
		command[n++] = *p;
	}
	command[n++] = '\'';
	command[n] = 0;
	fflush(stdout);
	int rc = system(command);
	if (rc != 0)
		fprintf(stderr, "namdb: the editor failed: %s\n", command);
	free(command);
	return rc == 0;
}

bool
shell_edit(struct shell *sh, const char *file, const char *text, size_t len, char **out, size_t *out_len)
{
	char temp[] = "/tmp/namdb.edit.XXXXXX";
	const char *path = file;
	if (file == NULL || file[0] == 0) {
		int fd = mkstemp(temp);
		if (fd < 0 || write(fd, text, len) != (ssize_t)len ||
		    (len > 0 && text[len - 1] != '\n' && write(fd, "\n", 1) != 1)) {
			shell_say(sh, "%s: %s", temp, strerror(errno));
			if (fd >= 0) {
				close(fd);
				unlink(temp);
			}
			return false;
		}
		close(fd);
		path = temp;
	}
	bool ok = edit(path);
	if (ok && (*out = read_all(path, sh->opt.statement_max, out_len)) == NULL) {
		shell_say(sh, "%s: %s", path, strerror(errno));
		ok = false;
	}
	if (path == temp)
		unlink(temp);
	return ok;
}

/* ---- \copy ---------------------------------------------------------------------- */

/* Behind a word, a string in quotes, a name in double quotes, or something in parentheses. */
static const char *
skip(const char *p)
{
	unsigned depth = 0;
	do {
		if (*p == '\'' || *p == '"') {
			char q = *p++;
			while (*p && *p != q)
				p++;
			p += *p != 0;
		} else {
			depth += *p == '(';
			depth -= *p == ')' && depth > 0;
			p++;
		}
	} while (*p && (depth > 0 || !isspace((unsigned char)*p)));
	return p;
}

static const char *
blanks(const char *p)
{
	while (isspace((unsigned char)*p))
		p++;
	return p;
}

bool
shell_copy(struct shell *sh, const char *arg)
{
	const char *p = arg, *word = NULL, *end = NULL;
	while (*(p = blanks(p))) {
		end = skip(p);
		if ((end - p == 4 && strncasecmp(p, "from", 4) == 0) ||
		    (end - p == 2 && strncasecmp(p, "to", 2) == 0)) {
			word = p;
			break;
		}
		p = end;
	}
	const char *name = word != NULL ? blanks(end) : "", *rest = *name ? skip(name) : name;
	if (*name == 0 || word == arg) {
		shell_say(sh, "usage: \\copy TABLE [(COLUMNS)] | (QUERY) FROM | TO FILE [OPTIONS]");
		return false;
	}
	bool from = word[0] == 'f' || word[0] == 'F';
	size_t room = strlen(arg) + 64, len = (size_t)(rest - name);
	char *text = malloc(room), *path = strndup(name, len);
	bool ok = text != NULL && path != NULL, quoted = len >= 2 && name[0] == '\'' && name[len - 1] == '\'';
	struct source src, *outer = sh->source;
	int fd = -1;
	if (ok && quoted) {
		memmove(path, path + 1, len - 2);
		path[len - 2] = 0;
	}
	bool same = ok && !quoted && strcasecmp(path, "stdin") == 0;
	if (ok && !from) {
		bool own = !quoted && (strcasecmp(path, "stdout") == 0 || strcasecmp(path, "pstdout") == 0);
		snprintf(text, room, "COPY %.*sTO STDOUT%s", (int)(word - arg), arg, rest);
		if (own) {
			sh->copy_to = stdout;
		} else if ((sh->copy_to = fopen(path, "we")) == NULL) {
			shell_say(sh, "%s: %s", path, strerror(errno));
			ok = false;
		}
	} else if (ok) {
		snprintf(text, room, "COPY %.*sFROM STDIN%s", (int)(word - arg), arg, rest);
		if (!same) {
			bool own = !quoted && strcasecmp(path, "pstdin") == 0;
			fd = own ? dup(0) : open(path, O_RDONLY | O_CLOEXEC);
			if (fd < 0) {
				shell_say(sh, "%s: %s", path, strerror(errno));
				ok = false;
			}
		}
	}
	if (ok) {
		if (fd >= 0) {
			source_init(&src, fd, false);
			src.outer = outer;
			sh->source = &src; // cppcheck-suppress autoVariables -- put back below
		}
		ok = shell_exec(sh, text, strlen(text));
		if (fd >= 0) {
			sh->source = outer;
			source_fini(&src);
		}
	}
	if (fd >= 0)
		close(fd);
	if (sh->copy_to != NULL && sh->copy_to != stdout &&
	    (ferror(sh->copy_to) | fclose(sh->copy_to)) != 0) {
		shell_say(sh, "cannot write to %s", path);
		ok = false;
	}
	sh->copy_to = NULL;
	free(text);
	free(path);
	return ok;
}
