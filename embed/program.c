/* program.c -- finds the programs of namdb: beside a file, in a bin near it, or in PATH. */
#include "embed_internal.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PLACES = 3 };

static bool
runs(const char *path)
{
	struct stat sb;
	return stat(path, &sb) == 0 && S_ISREG(sb.st_mode) && access(path, X_OK) == 0;
}

/* In one of the first n of these places, seen from the directory in which that file really lies. */
static bool
near(char out[PATH_MAX], const char *file, const char *name, unsigned n)
{
	static const char *const at[] = { "", "../bin/", "../../bin/" };
	char whole[PATH_MAX], *slash;
	if (realpath(file, whole) == NULL || (slash = strrchr(whole, '/')) == NULL)
		return false;
	slash[1] = 0;
	for (unsigned i = 0; i < n && i < PLACES; i++)
		if (snprintf(out, PATH_MAX, "%s%s%s", whole, at[i], name) < PATH_MAX && runs(out))
			return true;
	return false;
}

/* The file that the code at that address is from. Of dladdr the name may be relative to a directory
 * that the process has left. */
static bool
file_of(char out[PATH_MAX], const void *at)
{
	char line[PATH_MAX + 200];
	Dl_info lib;
	bool found = false;
	FILE *f = at != NULL ? fopen("/proc/self/maps", "re") : NULL;
	while (f != NULL && !found && fgets(line, sizeof line, f) != NULL) {
		uintptr_t from, to;
		const char *path = strchr(line, '/');
		found = path != NULL && sscanf(line, "%" SCNxPTR "-%" SCNxPTR, &from, &to) == 2 &&
			(uintptr_t)at >= from && (uintptr_t)at < to;
		if (found)
			snprintf(out, PATH_MAX, "%.*s", (int)strcspn(path, "\n"), path);
	}
	if (f != NULL)
		fclose(f);
	if (!found && at != NULL && dladdr(at, &lib) != 0 && lib.dli_fname != NULL) {
		snprintf(out, PATH_MAX, "%s", lib.dli_fname);
		found = true;
	}
	return found;
}

static bool
in_path(char out[PATH_MAX], const char *name)
{
	const char *list = getenv("PATH");
	while (list != NULL && *list != 0) {
		size_t n = strcspn(list, ":");
		/* An empty item is the current directory, which this does not search. */
		if (n > 0 && snprintf(out, PATH_MAX, "%.*s/%s", (int)n, list, name) < PATH_MAX && runs(out))
			return true;
		list += n + (list[n] == ':');
	}
	return false;
}

bool
emb_beside(char out[PATH_MAX], const char *name)
{
	return near(out, "/proc/self/exe", name, 1) || in_path(out, name);
}

nam_status
emb_program(char out[PATH_MAX], void (*beside)(void), struct nam_err *err)
{
	union {
		void (*fn)(void);
		void *at;
	} of = { .fn = beside };
	char file[PATH_MAX];
	const char *named = getenv("NAMDB_PROGRAM");
	if (named != NULL && named[0] != 0) {
		if (strlen(named) < PATH_MAX && runs(named)) {
			strcpy(out, named);
			return NAM_OK;
		}
		return nam_fail(
		    err, NAM_ABSENT, "NAMDB_PROGRAM is %.200s, which is no program that can be run", named);
	}
	if (file_of(file, of.at) && near(out, file, "namdb", PLACES))
		return NAM_OK;
	if (in_path(out, "namdb"))
		return NAM_OK;
	return nam_fail(err, NAM_ABSENT,
	    "the program namdb, which starts storage nodes, is neither beside this %s nor in PATH: say where "
	    "it "
	    "is in NAMDB_PROGRAM",
	    beside == NULL ? "program" : "program or library");
}
